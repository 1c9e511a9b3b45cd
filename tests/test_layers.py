"""The layer check of `./dev lint`, fed with made-up crates."""

from pathlib import Path

import pytest

import layers


@pytest.fixture
def faults(tmp_path):
    """Write {path under crates: text} and give the sentences of the checker."""

    def of(files):
        for path, text in files.items():
            file = tmp_path / "crates" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return layers.check(tmp_path)

    return of


CORE = "strided-core/src/"


def test_this_repository_is_in_order():
    assert layers.check(Path(__file__).resolve().parent.parent) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tensor.rs", "use crate::{dtype::DType, layout::{Layout, Extent}};"),
        ("ops/add.rs", "use crate::kernels::run; use super::rule;"),
        ("kernels/copy.rs", "use super::ops;"),  # a submodule of kernels that happens to have that name
        ("layout/mod.rs", "fn f() -> crate::error::Error { todo!() }"),
        ("lib.rs", "pub use ops::add; use crate::io::t7;"),
        ("dtype.rs", '// crate::ops, pyo3 and unsafe { } in a comment\nconst S: &str = "crate::ops::add \\" ffi";'),
        ("dtype.rs", "const S: &str = r#\"crate::ops \" ffi\"#; const Q: char = '\"'; fn f<'a>(x: &'a u8) {}"),
        ("dtype.rs", "#[cfg(test)]\nmod tests {\n    use crate::ops::{add};\n}\n"),
        ("dtype/tests.rs", "use crate::ops::add;"),
        ("kernels/fill.rs", "// SAFETY: `Pinned` checked the bounds.\nunsafe { write(p) }"),
        ("kernels/fill.rs", "unsafe fn fill(p: *mut u8) {}"),
        ("nest.rs", "// SAFETY: the first line of a comment\n// that\n// is\n// long.\nlet x =\n    unsafe { y };"),
        ("storage.rs", "#[unsafe(no_mangle)]\nfn f() {}"),
        ("kernels/long.rs", "\n" * 690 + "#[cfg(test)]\nmod tests {" + "\n" * 100 + "}\n"),
    ],
)
def test_good(faults, path, text):
    assert faults({CORE + path: text}) == []


@pytest.mark.parametrize(
    ("path", "text", "line", "sentence"),
    [
        ("dtype.rs", "\nuse crate::ops::add;", 2, "dtype (room 0) must not use ops (room 4)"),
        (
            "layout.rs",
            "use crate::{\n  dtype::DType,\n  nest::{Nest}};",
            3,
            "layout (room 1) must not use nest (room 2)",
        ),
        ("nest.rs", "fn f() {\n  crate::kernels::run() }", 2, "nest (room 2) must not use kernels (room 3)"),
        ("layout/fold.rs", "use super::super::nest::Nest;", 1, "layout (room 1) must not use nest (room 2)"),
        ("alloc.rs", "use super::io;", 1, "alloc (room 1) must not use io (room 4)"),
        ("error.rs", "use crate::*;", 1, "crate::* hides which rooms are used"),
        ("shape.rs", "", 1, "shape has no room number"),
        ("dtype.rs", "\n\nuse pyo3::prelude::*;", 3, "says pyo3"),
        ("storage.rs", "use std::ffi::c_void;", 1, "says ffi"),
        ("ops/add.rs", "// SAFETY: no.\nunsafe { x }", 2, "ops must not contain unsafe code"),
        ("layout.rs", "unsafe fn f() {}", 1, "layout must not contain unsafe code"),
        ("tensor.rs", "unsafe fn f() {}", 1, "no unsafe fn"),
        ("tensor.rs", "unsafe { x }", 1, "unsafe { without a SAFETY comment"),
        ("storage.rs", "// SAFETY: far\n\n\n\nunsafe impl Send for S {}", 5, "unsafe impl without a SAFETY"),
        ("kernels/fill.rs", "#[cfg(test)]\nmod tests {\n unsafe { x } }", 3, "without a SAFETY comment"),
        ("kernels/long.rs", "\n" * 701, 1, "701 lines, more than 700"),
    ],
)
def test_bad(faults, path, text, line, sentence):
    (found,) = faults({CORE + path: text})
    assert found.startswith(f"crates/{CORE}{path}:{line}: ")
    assert sentence in found


def test_names_at_the_root_do_not_hide_their_room(faults):
    found = faults(
        {
            CORE + "lib.rs": "mod tensor; mod ops; mod layout;\npub use tensor::{Tensor, Handle as H};",
            CORE + "tensor.rs": "",
            CORE + "ops/mod.rs": "#[macro_export]\nmacro_rules! op_table { () => {} }",
            CORE + "layout.rs": "use crate::Tensor;\ncrate::op_table!();\n",
        }
    )
    assert [sentence.split(": ", 1)[1] for sentence in found] == [
        "layout (room 1) must not use tensor (room 2) (through Tensor)",
        "layout (room 1) must not use ops (room 4) (through op_table)",
    ]


def test_the_binding_has_no_rooms_but_explains_unsafe_code(faults):
    text = "use crate::ops; use pyo3::ffi;\nunsafe fn f() {}\nfn g() { unsafe { f() } }"
    found = faults({"strided-py/src/slots.rs": text})
    assert [sentence.split(": ")[0] for sentence in found] == ["crates/strided-py/src/slots.rs:3"]
