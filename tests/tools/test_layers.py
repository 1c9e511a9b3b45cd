"""The layer check of `./dev lint`, run on small crates made for the tests."""

import pytest

import layers


@pytest.fixture
def faults(tmp_path):
    """Writes {path under crates: text} and returns the sentences of the checker."""

    def of(files):
        for path, text in files.items():
            file = tmp_path / "crates" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return layers.check(tmp_path)

    return of


CORE = "strided-core/src/"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tensor.rs", "use crate::{dtype::DType, layout::{Layout, Extent}};"),
        ("ops/add.rs", "use crate::backend::map::run; use super::rule;"),
        ("kernels/copy.rs", "use super::ops;"),  # a submodule of kernels that happens to have that name
        ("layout/mod.rs", "fn f() -> crate::error::Error { todo!() }"),
        ("lib.rs", "pub use ops::add; use crate::io::t7;"),
        ("dtype.rs", '// crate::ops, pyo3 and unsafe { } in a comment\nconst S: &str = "crate::ops::add \\" ffi";'),
        ("dtype.rs", "const S: &str = r#\"crate::ops \" ffi\"#; const Q: char = '\"'; fn f<'a>(x: &'a u8) {}"),
        ("dtype.rs", "#[cfg(test)]\nmod tests {\n    use crate::ops::{add};\n}\n"),
        ("dtype/tests.rs", "use crate::ops::add;"),
        ("kernels/fill.rs", "// SAFETY: `Pinned` checked the bounds.\nunsafe { write(p) }"),
        ("kernels/fill.rs", "/// Fills.\n///\n/// # Safety\n/// `p` is writable.\nunsafe fn fill(p: *mut u8) {}"),
        ("nest.rs", "// SAFETY: the first line of a comment\n// that\n// is\n// long.\nlet x =\n    unsafe { y };"),
        ("storage.rs", "#[unsafe(no_mangle)]\nfn f() {}"),
    ],
)
def test_good(faults, path, text):
    assert faults({CORE + path: text}) == []


@pytest.mark.parametrize(
    ("path", "text", "line", "sentence"),
    [
        ("dtype.rs", "\nuse crate::ops::add;", 2, "dtype (layer 0) must not use ops (layer 5a)"),
        (
            "layout.rs",
            "use crate::{\n  dtype::DType,\n  nest::{Nest}};",
            3,
            "layout (layer 1) must not use nest (layer 2)",
        ),
        ("nest.rs", "fn f() {\n  crate::kernels::run() }", 2, "nest (layer 2) must not use kernels (layer 3a)"),
        ("layout/fold.rs", "use super::super::nest::Nest;", 1, "layout (layer 1) must not use nest (layer 2)"),
        ("alloc.rs", "use super::io;", 1, "alloc (layer 1) must not use io (layer 5b)"),
        ("error.rs", "use crate::*;", 1, "crate::* hides which modules are used"),
        ("shape.rs", "", 1, "shape has no layer"),
        ("dtype.rs", "\n\nuse pyo3::prelude::*;", 3, "says pyo3"),
        ("storage.rs", "use std::ffi::c_void;", 1, "says ffi"),
        ("ops/add.rs", "// SAFETY: no.\nunsafe { x }", 2, "ops must not contain unsafe code"),
        ("layout.rs", "/// # Safety\nunsafe fn f() {}", 2, "layout must not contain unsafe code"),
        ("tensor.rs", "/// # Safety\nunsafe fn f() {}", 2, "no unsafe fn"),
        ("tensor.rs", "unsafe { x }", 1, "unsafe { without a SAFETY comment"),
        ("storage.rs", "// SAFETY: far\n\n\n\nunsafe impl Send for S {}", 5, "unsafe impl without a SAFETY"),
        ("kernels/fill.rs", "#[cfg(test)]\nmod tests {\n unsafe { x } }", 3, "without a SAFETY comment"),
    ],
)
def test_bad(faults, path, text, line, sentence):
    (found,) = faults({CORE + path: text})
    assert found.startswith(f"crates/{CORE}{path}:{line}: ")
    assert sentence in found


def test_a_long_file_is_a_remark_and_no_fault(faults, tmp_path):
    tests = "#[cfg(test)]\nmod tests {" + "\n" * 100 + "}\n"
    assert faults({CORE + "kernels/fill.rs": "\n" * 690 + tests}) == layers.remarks(tmp_path) == []
    assert faults({CORE + "kernels/fill.rs": "\n" * 701 + tests}) == []
    (remark,) = layers.remarks(tmp_path)
    assert remark.startswith(f"crates/{CORE}kernels/fill.rs:1: 701 lines, more than 700")


def sentences(found):
    return [sentence.split(": ", 1)[1] for sentence in found]


def test_a_name_re_exported_at_the_root_belongs_to_its_module(faults):
    found = faults(
        {
            CORE + "lib.rs": "mod tensor; mod ops; mod layout;\npub use tensor::{Tensor, Handle as H};",
            CORE + "tensor.rs": "",
            CORE + "ops/mod.rs": "#[macro_export]\nmacro_rules! op_table { () => {} }",
            CORE + "layout.rs": "use crate::Tensor;\ncrate::op_table!();\nfn f(h: crate::H) {}",
        }
    )
    assert sentences(found) == [
        "layout (layer 1) must not use tensor (layer 2) (through Tensor)",
        "layout (layer 1) must not use ops (layer 5a) (through op_table)",
        "layout (layer 1) must not use tensor (layer 2) (through H)",
    ]


def test_a_path_through_an_imported_module_counts(faults):
    files = {CORE + "kernels/cast.rs": "use crate::kernels as all;\nfn f() { all::map::run() }"}
    assert sentences(faults(files)) == ["cast (layer 3a) must not use map (layer 3c)"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("map.rs", "use super::{cast, staging::Stage, generate, Kernel};"),
        ("reduce/tree.rs", "use super::groups; use super::super::where_; use crate::kernels::{maths::exp, scan};"),
        ("maths/exact.rs", "mod double {\n  use super::super::map;\n}"),  # kernels::maths::map
        ("mod.rs", "mod reduce; pub use reduce::Reducer; pub use crate::nest::Steps;"),
        ("item.rs", "use super::Steps; #[cfg(test)]\nmod tests {\n  use super::super::reduce;\n}"),
    ],
)
def test_kernels_may_use_their_own_letter_and_lower_ones(faults, path, text):
    assert faults({CORE + "kernels/" + path: text}) == []


@pytest.mark.parametrize(
    ("path", "text", "sentence"),
    [
        ("copy.rs", "use super::staging;", "copy (layer 3a) must not use staging (layer 3b)"),
        ("maths/log.rs", "use super::super::map::run;", "maths (layer 3b) must not use map (layer 3c)"),
        ("maths/log.rs", "use crate::kernels::{cast, lines::Line};", "maths (layer 3b) must not use lines (layer 3c)"),
        ("map.rs", "fn f() { super::r#where::run() }", "map (layer 3c) must not use where (layer 3d)"),
        ("map.rs", "use super::*;", "crate::kernels::* hides which modules are used"),
        ("novel.rs", "", "kernels::novel has no layer"),
    ],
)
def test_kernels_must_not_use_higher_letters(faults, path, text, sentence):
    (found,) = faults({CORE + "kernels/" + path: text})
    assert sentence in found


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (CORE + "ops/add.rs", "use crate::{dtype, kernels::map};"),
        (CORE + "io/npy.rs", "fn f() { crate::kernels::byteswap::reverse_bytes() }"),
        ("strided-py/src/api/system.rs", "use strided_core::kernels::matmul;"),
        ("strided-py/src/api/system.rs", "use strided_core::{DType, kernels::matmul};"),
    ],
)
def test_kernels_are_called_through_the_backend_alone(faults, path, text):
    (found,) = faults({path: text})
    assert found == f"crates/{path}:1: kernels are called through backend alone"


def test_rules_use_what_the_backend_re_exports(faults):
    files = {
        CORE + "backend/mod.rs": "pub mod index;",
        CORE + "backend/index.rs": "pub use crate::kernels::index::ScatterRule;",
        CORE + "kernels/index.rs": "",
        CORE
        + "ops/put.rs": "use crate::backend::index::ScatterRule;\n#[cfg(test)]\nmod tests { use crate::kernels::index; }",
        "strided-py/src/api/put.rs": "// strided_core::kernels in a comment\nuse strided_core::backend::index;",
    }
    assert faults(files) == []


def test_a_name_re_exported_by_kernels_belongs_to_its_module(faults):
    files = {
        CORE + "kernels/mod.rs": "mod reduce;\npub use reduce::Reducer;",
        CORE + "kernels/reduce.rs": "",
        CORE + "kernels/map.rs": "use super::Reducer;",
    }
    assert sentences(faults(files)) == ["map (layer 3c) must not use reduce (layer 3d) (through Reducer)"]


def test_modules_of_one_layer_do_not_use_each_other_in_a_circle(faults):
    files = {
        CORE + "scalar.rs": "use crate::dtype::DType;",
        CORE + "dtype.rs": "use crate::scalar::Scalar;",  # these two may
        CORE + "layout.rs": "",
        CORE + "alloc/mod.rs": "use crate::storage::Storage; use crate::layout::Layout;",
        CORE + "storage.rs": "use crate::alloc;\n#[cfg(test)]\nmod tests { use crate::threads; }",
        CORE + "threads.rs": "use crate::storage;",
        CORE + "kernels/scan.rs": "use super::softmax;",
        CORE + "kernels/softmax.rs": "use super::reduce;",
        CORE + "kernels/reduce.rs": "use super::scan;",
    }
    assert faults(files) == [
        "crates/strided-core/src/kernels/softmax.rs:1: import cycle: reduce uses scan uses softmax uses reduce",
        "crates/strided-core/src/storage.rs:1: import cycle: alloc uses storage uses alloc",
    ]


def test_files_of_one_folder_do_not_use_each_other_in_a_circle(faults):
    files = {
        CORE + "kernels/maths/mod.rs": "mod divide; mod functions; pub use functions::Exp;",
        CORE + "kernels/maths/functions.rs": "pub use super::divide::Fmod;\nuse super::exp;",
        CORE + "kernels/maths/divide.rs": "use super::functions::Function2;",
        CORE + "kernels/maths/exp.rs": "",
        CORE + "ops/mod.rs": "mod table; mod elementwise; mod reduce;",
        CORE + "ops/reduce.rs": "\nuse super::{copy, elementwise::{apply, OpArg}};",
        CORE
        + "ops/elementwise.rs": "fn f() { super::reduce::any() }\n#[cfg(test)]\nmod tests { use super::super::scan; }",
        CORE + "ops/scan.rs": "use super::elementwise;",
        CORE + "ops/table/mod.rs": "mod row; mod expand;\npub use expand::Op;",
        CORE + "ops/table/row.rs": "use super::Op;",  # which `expand` declares
        CORE + "ops/table/expand.rs": "use super::row::OpRow;",
        "strided-py/src/api/op_table.rs": "use super::signatures::ParamStub;",
        "strided-py/src/api/signatures.rs": "use super::op_table;",
    }
    assert faults(files) == [
        f"crates/{CORE}kernels/maths/functions.rs:1: import cycle: divide uses functions uses divide",
        f"crates/{CORE}ops/reduce.rs:2: import cycle: elementwise uses reduce uses elementwise",
        f"crates/{CORE}ops/table/row.rs:1: import cycle: expand uses row uses expand",
        "crates/strided-py/src/api/signatures.rs:1: import cycle: op_table uses signatures uses op_table",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "/// Reads.\n///\n/// # Safety\n/// `p` is valid.\n#[inline]\n// a remark\npub unsafe fn read(p: *const u8) {}",
        "impl Reader for File { unsafe fn read(p: *const u8) {} }",  # the trait states the contract
        "impl Reader\nfor File where [u8; { 1 }]: Sized {\n  fn g() {}\n  unsafe fn read(p: *const u8) {}\n}",
        "type Kernel = unsafe fn(p: *const u8);",
        "#[cfg(test)]\nmod tests { unsafe fn f() {} }",
    ],
)
def test_a_contract_is_stated_once(faults, text):
    assert faults({CORE + "kernels/fill.rs": text}) == []


@pytest.mark.parametrize(
    "text",
    [
        "/// Reads.\nunsafe fn read() {}",
        "/// # Safety\nfn safe() {}\nunsafe fn read() {}",
        "impl File {\n    unsafe fn read(p: *const u8) {}\n}",
        "trait Reader {\n    unsafe fn read(p: *const u8);\n}",
        'unsafe extern "C" fn read(p: *const u8) {}',
        "impl<F: for<'a> Fn(&'a u8)> File<F> { unsafe fn read() {} }",
    ],
)
def test_an_unsafe_function_has_a_safety_section(faults, text):
    (found,) = faults({"strided-py/src/abi/heap.rs": text})
    assert found.endswith("unsafe fn read without a # Safety section in its document")


@pytest.mark.parametrize(
    "comment",
    [
        "// SAFETY: the caller's promise.",
        "// SAFETY: as above",
        "// SAFETY: the promise of `tile`.",
        "// SAFETY: by the\n// caller's promise.",
        "// SAFETY: the caller promises it.",
        "// SAFETY: the kernel's promise.",
    ],
)
def test_a_safety_comment_names_a_fact(faults, comment):
    (found,) = faults({CORE + "kernels/fill.rs": f"fn f() {{\n    {comment}\n    unsafe {{ x }} }}"})
    assert found.startswith(f"crates/{CORE}kernels/fill.rs:2: this SAFETY comment names no fact: ")


@pytest.mark.parametrize(
    "comment",
    [
        "// SAFETY: the contract of `tile`.",
        "// SAFETY: the contract of `tile`: both extents are at least N.",
        "// SAFETY: the caller's promise\n// that `n` elements remain.",
        "// SAFETY: as above, and `n` is not zero.",
    ],
)
def test_a_safety_comment_that_names_a_fact_passes(faults, comment):
    assert faults({CORE + "kernels/fill.rs": f"fn f() {{\n    {comment}\n    unsafe {{ x }} }}"}) == []


def test_the_binding_explains_unsafe_code(faults):
    text = "use pyo3::ffi;\n/// # Safety\nunsafe fn f() {}\nfn g() { unsafe { f() } }"
    found = faults({"strided-py/src/abi/heap.rs": text})
    assert [sentence.split(": ")[0] for sentence in found] == ["crates/strided-py/src/abi/heap.rs:4"]


def test_the_binding_has_layers_and_no_cycles(faults):
    found = faults(
        {
            "strided-py/src/abi/heap.rs": "use crate::api::all;",
            "strided-py/src/convert/args.rs": "use super::index::Key; use crate::abi::heap::slot;",
            "strided-py/src/convert/index.rs": "use super::args::FromArg;",
            "strided-py/src/slots.rs": "",
        }
    )
    assert [sentence.split(": ", 1)[1] for sentence in found] == [
        "abi (layer 0) must not use api (layer 3)",
        "import cycle: args uses index uses args",
        "slots has no layer; enter it in TABLES of tools/layers.py",
    ]


@pytest.mark.parametrize(
    "code",
    [
        "let a = vec![0; n];",
        "let a = Vec::with_capacity(n);",
        "let a: Vec<usize> = (0..n)\n    .collect();",
        "let a = (0..n).collect::<Vec<usize>>();",
        "let a = b.to_vec();",
        "let a = Box::<[u8]>::new_uninit_slice(n);",
    ],
)
def test_vectors_of_kernels_are_allocated_by_functions_that_may_fail(faults, code):
    assert "try_vec" in faults({CORE + "kernels/fill.rs": f"fn f() {{ {code} }}"})[0]
    assert faults({CORE + "kernels/fill.rs": f"#[cfg(test)]\nmod tests {{ fn f() {{ {code} }} }}"}) == []
    assert faults({CORE + "kernels/fill.rs": "", CORE + "ops/fill.rs": f"fn f() {{ {code} }}"}) == []


def test_lists_of_known_length_are_no_fault(faults):
    code = "let a = vec![0, n]; let b: Dims = c.collect(); let d: Vec<u8> = try_collect(e)?;"
    assert faults({CORE + "kernels/fill.rs": f"fn f() {{ {code} }}"}) == []


@pytest.mark.parametrize(
    "code", ["A.get_or_init(py, f)", "A.get_or_try_init(py, f)?", 'intern!(py, "a")', "a.lock_py_attached(py)"]
)
def test_objects_are_made_outside_of_locks(faults, code):
    assert "abi::late" in faults({"strided-py/src/abi/errors.rs": f"fn f() {{ {code}; }}"})[0]
