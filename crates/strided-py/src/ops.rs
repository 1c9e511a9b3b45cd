//! The op table as methods, in-place methods, functions and operators: generic thunks into one `run`.

use crate::args::{Args, FromArg, Object, Param, TensorArg, bind, python_number, wrong_type};
use crate::buffer::{has_buffer, import_or_copy};
use crate::call::{again, with_threads};
use crate::errors::{Fail, Result, guard};
use crate::methods::definition;
use crate::object::{is_tensor, tensor_of, wrap};
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use strided_core::op_table;
use strided_core::ops::elementwise::{Operand, run};
use strided_core::ops::table::{OPS, Op, Row};
use strided_core::{Scalar, Tensor};

/// How an operation was called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `x.add(y)`
    Method,
    /// `x.add_(y)`
    InPlace,
    /// `strided.add(x, y)`
    Function,
}

/// An operand as it was passed.
enum Passed {
    /// A tensor's object: the tensor is looked up when nothing can change it any more.
    Object(Object),
    /// A tensor made for this call, from an array or a number of another library.
    Made(Tensor),
    Number(Scalar),
}

type Few<T> = SmallVec<[T; 3]>;

impl Passed {
    /// Reads an operand; `None` if it is nothing to compute with.
    #[inline(always)]
    fn read(py: Python<'_>, object: Object) -> Result<Option<Passed>> {
        if is_tensor(object) {
            return Ok(Some(Passed::Object(object)));
        }
        if let Some(number) = python_number(py, object)? {
            // A float that is more than Python's (NumPy's float64 is one) counts fully, below.
            return Ok(Some(Passed::Number(number)));
        }
        if has_buffer(object) {
            return Ok(Some(Passed::Made(import_or_copy(py, object)?)));
        }
        Ok(None)
    }

    /// # Safety
    /// The references of [`tensor_of`] end before anything else runs.
    #[inline(always)]
    unsafe fn operand(&self) -> Operand<'_> {
        match self {
            // SAFETY: `read` saw that it is a tensor.
            Passed::Object(object) => Operand::Tensor(unsafe { tensor_of(*object) }),
            Passed::Made(tensor) => Operand::Tensor(tensor),
            Passed::Number(number) => Operand::Scalar(*number),
        }
    }

    fn size(&self) -> usize {
        match self {
            // SAFETY: `read` saw that it is a tensor.
            Passed::Object(object) => unsafe { tensor_of(*object) }.size(),
            Passed::Made(tensor) => tensor.size(),
            Passed::Number(_) => 1,
        }
    }
}

/// Runs a row on its operands, into `out` (an object) or a new object.
#[inline]
fn apply(py: Python<'_>, row: &'static Row, passed: &[Passed], out: Option<Object>) -> Result<Object> {
    let size = passed.iter().map(Passed::size).max().unwrap_or(0);
    let result = if size < crate::call::LARGE {
        // SAFETY: nothing runs between here and the end of `run`, which does not know of Python.
        let operands: Few<Operand> = passed.iter().map(|p| unsafe { p.operand() }).collect();
        // SAFETY: an output was read as a tensor.
        run(row, &operands, out.map(|object| unsafe { tensor_of(object) }))?
    } else {
        // Other threads may change the objects meanwhile: compute with handles of our own.
        // SAFETY: copied at once.
        let copies: Few<Passed> = passed.iter().map(|p| unsafe { p.operand() }).map(Passed::own).collect();
        // SAFETY: an output was read as a tensor.
        let out = out.map(|object| unsafe { tensor_of(object) }.clone());
        with_threads(py, size, || {
            // SAFETY: none of the copies is an object.
            let operands: Few<Operand> = copies.iter().map(|p| unsafe { p.operand() }).collect();
            run(row, &operands, out.as_ref())
        })?
    };
    match result {
        Some(new) => wrap(py, new),
        None => Ok(again(out.expect("without a new tensor there is an output"))),
    }
}

// SAFETY: only copies, which hold no Python object, are sent to where the interpreter is not attached.
unsafe impl Send for Passed {}
// SAFETY: as above.
unsafe impl Sync for Passed {}

impl Passed {
    fn own(operand: Operand) -> Passed {
        match operand {
            Operand::Tensor(x) => Passed::Made(x.clone()),
            Operand::Scalar(number) => Passed::Number(number),
        }
    }
}

static UNARY: [Param; 2] = [Param::new("self", &["input"], false, None), Param::new("out", &[], false, Some("None"))];
static BINARY: [Param; 3] = [
    Param::new("self", &["input"], false, None),
    Param::new("other", &[], false, None),
    Param::new("out", &[], false, Some("None")),
];

fn params(row: &Row) -> &'static [Param] {
    if row.operands.len() == 1 { &UNARY } else { &BINARY }
}

/// One call of a row in any of its forms.
#[inline(always)]
unsafe fn call<const I: usize>(form: Form, this: Object, args: *const Object, count: isize, kwnames: Object) -> Object {
    let row = &OPS[I];
    guard(row.name, null_mut(), |py| {
        let first = if form == Form::Function { None } else { Some(this) };
        // SAFETY: what the interpreter passed.
        let args = unsafe { bind(py, params(row), first, args, count, kwnames) }?;
        dispatch(py, row, form, &args)
    })
}

fn dispatch(py: Python<'_>, row: &'static Row, form: Form, args: &Args) -> Result<Object> {
    let params = params(row);
    let arity = row.operands.len();
    let mut passed: Few<Passed> = SmallVec::new();
    for (at, param) in params[..arity].iter().enumerate() {
        if args.slots[at].is_null() {
            let name = if at == 0 { "input" } else { param.name };
            return Err(Fail::Type(format!("argument '{name}' is missing")));
        }
        match Passed::read(py, args.slots[at])? {
            Some(operand) => passed.push(operand),
            None => return Err(wrong_type(py, args.slots[at], param.name, "a Tensor, an array or a number")),
        }
    }
    if passed.iter().all(|p| matches!(p, Passed::Number(_))) {
        return Err(Fail::Type("none of the operands is a Tensor".into()));
    }
    let out = match form {
        Form::InPlace => Some(args.slots[0]),
        _ if args.is_given(arity) => Option::<TensorArg>::from_arg(py, args.slots[arity], "out")?.map(|out| out.0),
        _ => None,
    };
    apply(py, row, &passed, out)
}

unsafe extern "C" fn method<const I: usize>(this: Object, args: *const Object, count: isize, kwnames: Object) -> Object {
    // SAFETY: passed on.
    unsafe { call::<I>(Form::Method, this, args, count, kwnames) }
}

unsafe extern "C" fn in_place<const I: usize>(this: Object, args: *const Object, count: isize, kwnames: Object) -> Object {
    // SAFETY: passed on.
    unsafe { call::<I>(Form::InPlace, this, args, count, kwnames) }
}

unsafe extern "C" fn function<const I: usize>(this: Object, args: *const Object, count: isize, kwnames: Object) -> Object {
    // SAFETY: passed on.
    unsafe { call::<I>(Form::Function, this, args, count, kwnames) }
}

/// `a + b`, where one of them is a tensor.
unsafe extern "C" fn binary_operator<const I: usize>(left: Object, right: Object) -> Object {
    guard(OPS[I].name, null_mut(), |py| operate(py, &OPS[I], left, right, None))
}

/// `a += b`
unsafe extern "C" fn in_place_operator<const I: usize>(left: Object, right: Object) -> Object {
    guard(OPS[I].name, null_mut(), |py| operate(py, &OPS[I], left, right, Some(left)))
}

unsafe extern "C" fn unary_operator<const I: usize>(object: Object) -> Object {
    guard(OPS[I].name, null_mut(), |py| apply(py, &OPS[I], &[Passed::Object(object)], None))
}

#[inline(always)]
fn operate(py: Python<'_>, row: &'static Row, left: Object, right: Object, out: Option<Object>) -> Result<Object> {
    match (Passed::read(py, left)?, Passed::read(py, right)?) {
        (Some(left), Some(right)) => apply(py, row, &[left, right], out),
        // SAFETY: the object lives as long as the interpreter.
        _ => Ok(again(unsafe { ffi::Py_NotImplemented() })),
    }
}

/// `tp_richcompare`: the comparisons of the table by their operators.
pub unsafe extern "C" fn compare(left: Object, right: Object, operator: c_int) -> Object {
    let row = match operator {
        ffi::Py_LT => Op::lt,
        ffi::Py_LE => Op::le,
        ffi::Py_EQ => Op::eq,
        ffi::Py_NE => Op::ne,
        ffi::Py_GT => Op::gt,
        _ => Op::ge,
    };
    let row = &OPS[row as usize];
    guard(row.name, null_mut(), |py| operate(py, row, left, right, None))
}

/// What Python needs of a row.
struct Made {
    row: &'static Row,
    method: ffi::PyCFunctionFastWithKeywords,
    in_place: ffi::PyCFunctionFastWithKeywords,
    function: ffi::PyCFunctionFastWithKeywords,
    binary: ffi::binaryfunc,
    in_place_binary: ffi::binaryfunc,
    unary: ffi::unaryfunc,
}

macro_rules! made {
    ($($name:ident ($($arg:ident),+) $class:ident => $rule:ident: $body:expr, $operator:literal, $doc:literal;)*) => {
        fn made() -> Vec<Made> {
            vec![$( {
                const I: usize = Op::$name as usize;
                Made {
                    row: &OPS[I],
                    method: method::<I>,
                    in_place: in_place::<I>,
                    function: function::<I>,
                    binary: binary_operator::<I>,
                    in_place_binary: in_place_operator::<I>,
                    unary: unary_operator::<I>,
                }
            } ),*]
        }
    };
}
op_table!(made);

/// Methods of Tensor: the plain and the in-place form of every row.
pub fn methods() -> Vec<ffi::PyMethodDef> {
    let mut all = Vec::new();
    for made in made() {
        let row = made.row;
        let other = if row.operands.len() == 1 { "" } else { ", other" };
        let dtypes = format!("Operands: {}.", row.class.words());
        let plain = format!("{0}($self{other}, *, out=None)\n--\n\n{1}\n\n{dtypes}", row.name, row.doc);
        let in_place = format!("{0}_($self{other})\n--\n\n`{0}` into the tensor itself.", row.name);
        all.push(definition(row.name, made.method, &plain));
        all.push(definition(&format!("{}_", row.name), made.in_place, &in_place));
    }
    all
}

/// Functions of the module.
pub fn functions() -> Vec<ffi::PyMethodDef> {
    let all = made().into_iter().map(|made| {
        let row = made.row;
        let other = if row.operands.len() == 1 { "" } else { ", other" };
        let doc = format!("{0}(input{other}, *, out=None)\n--\n\n{1}", row.name, row.doc);
        definition(row.name, made.function, &doc)
    });
    all.collect()
}

/// The number slots that operators fill. Comparisons are in [`compare`].
pub fn slots() -> Vec<ffi::PyType_Slot> {
    let mut slots = Vec::new();
    for made in made() {
        let (plain, in_place) = match made.row.operator {
            "+" => (ffi::Py_nb_add, ffi::Py_nb_inplace_add),
            "-" => (ffi::Py_nb_subtract, ffi::Py_nb_inplace_subtract),
            "*" => (ffi::Py_nb_multiply, ffi::Py_nb_inplace_multiply),
            "/" => (ffi::Py_nb_true_divide, ffi::Py_nb_inplace_true_divide),
            "-x" => {
                slots.push(crate::size::slot(ffi::Py_nb_negative, made.unary as *mut c_void));
                continue;
            }
            "abs" => {
                slots.push(crate::size::slot(ffi::Py_nb_absolute, made.unary as *mut c_void));
                continue;
            }
            _ => continue,
        };
        slots.push(crate::size::slot(plain, made.binary as *mut c_void));
        slots.push(crate::size::slot(in_place, made.in_place_binary as *mut c_void));
    }
    slots
}

/// The rows as Python data, for documents and tests: name, number of operands, class, rule, operator.
pub fn table(py: Python<'_>) -> Result<Object> {
    let rows: Vec<_> = OPS
        .iter()
        .map(|row| (row.name, row.operands.len(), format!("{:?}", row.class), format!("{:?}", row.rule), row.operator, row.doc))
        .collect();
    crate::call::give(py, rows)
}
