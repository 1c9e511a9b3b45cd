//! The operators of the op table as slots of Tensor: `a + b`, `a += b`, `-a`, `a < b`.

use super::elementwise::{apply, operate};
use crate::abi::errors::CallResult;
use crate::abi::heap::slot;
use crate::abi::refs::to_py;
use crate::abi::tensor_object::cloned_tensor;
use crate::abi::{Object, Value};
use crate::convert::args::{FromArg, TensorArg};
use crate::convert::buffer::{has_buffer, import_or_copy};
use crate::convert::results::call_with_work;
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::ffi::{c_int, c_void};
use strided_core::ops::Operand;
use strided_core::ops::table::{OPS, Op, OpRow};
use strided_core::ops::{Out, matmul, work};
use strided_core::{Result, Tensor, op_table};

slots! {
    /// `a + b`
    fn binary_operator<const I: usize>(py, left: Arg, right: Arg) -> Value, OPS[I].name => {
        operate(py, &OPS[I], left, right, None)
    }

    /// `a += b`, where the first operand is a tensor.
    fn in_place_operator<const I: usize>(py, left: Arg, right: Arg) -> Value, OPS[I].in_place_name => {
        operate(py, &OPS[I], left, right, Some(left))
    }

    /// `-a`
    fn unary_operator<const I: usize>(py, x: TensorArg) -> Value, OPS[I].name => {
        apply(py, &OPS[I], &[], &[Operand::Tensor(&x)], None)
    }

    /// `tp_richcompare`: the comparisons of the op table by their operators.
    pub fn compare(py, left: Arg, right: Arg, operator: c_int) -> Value, compared(operator).name => {
        operate(py, compared(operator), left, right, None)
    }

    /// `divmod(a, b)`
    fn quotient_and_remainder(py, left: Arg, right: Arg) -> Value, "divmod" => {
        let quotient = operate(py, &OPS[Op::floor_divide as usize], left, right, None)?;
        if quotient.is(py.NotImplemented()) {
            return Ok(quotient);
        }
        let remainder = operate(py, &OPS[Op::remainder as usize], left, right, None)?;
        to_py(py, (quotient, remainder))
    }

    /// `a @ b`: `NotImplemented` if one of them is neither a tensor nor an array.
    fn matrix_product(py, left: Arg, right: Arg) -> Value, "matmul" => {
        if let [Some(left), Some(right)] = [TensorArg::read(left)?, TensorArg::read(right)?] {
            return product(py, left, right, None, matmul::matmul);
        }
        let mut operands = SmallVec::<[Tensor; 2]>::new();
        for object in [left, right] {
            operands.push(match cloned_tensor(object) {
                Some(tensor) => tensor,
                None if has_buffer(object) => import_or_copy(object)?,
                None => return Ok(py.NotImplemented().into_bound(py)),
            });
        }
        let [a, b] = [&operands[0], &operands[1]];
        call_with_work(py, [], work::product(a, b), None, |[], out| matmul::matmul(a, b, out))
    }
}

/// The row of a comparison.
#[inline]
fn compared(operator: c_int) -> &'static OpRow {
    let row = match operator {
        ffi::Py_LT => Op::lt,
        ffi::Py_LE => Op::le,
        ffi::Py_EQ => Op::eq,
        ffi::Py_NE => Op::ne,
        ffi::Py_GT => Op::gt,
        _ => Op::ge,
    };
    &OPS[row as usize]
}

/// The slots of a row's operator. Only those that this constant names are compiled.
#[derive(Clone, Copy)]
enum OperatorSlots {
    None,
    Unary(ffi::unaryfunc),
    Binary { plain: ffi::binaryfunc, in_place: ffi::binaryfunc },
}

impl OperatorSlots {
    const fn of<const I: usize>() -> OperatorSlots {
        let row = &OPS[I];
        match row.operands.len() {
            _ if row.operator.is_empty() => OperatorSlots::None,
            1 => OperatorSlots::Unary(unary_operator::<I>),
            _ => OperatorSlots::Binary { plain: binary_operator::<I>, in_place: in_place_operator::<I> },
        }
    }
}

macro_rules! operators {
    ($({ $name:ident $($rest:tt)* })*) => {
        /// The slots of every row.
        static OPERATORS: &[OperatorSlots] = &[$(OperatorSlots::of::<{ Op::$name as usize }>()),*];
    };
}
op_table!(operators);

/// `a ** b`. The third argument, of `pow(a, b, modulus)`, is only for ints.
///
/// # Safety
/// Only the interpreter calls this slot, with live objects, one of which is a tensor.
unsafe extern "C" fn power(left: Object, right: Object, modulus: Object) -> Object {
    // SAFETY: the contract above; `None` and `NotImplemented` are alive as long as the interpreter.
    unsafe {
        if modulus == ffi::Py_None() {
            binary_operator::<{ Op::pow as usize }>(left, right)
        } else {
            ffi::Py_NewRef(ffi::Py_NotImplemented())
        }
    }
}

/// `a **= b`
///
/// # Safety
/// Only the interpreter calls this slot, with live objects, the first of which is a tensor.
unsafe extern "C" fn in_place_power(left: Object, right: Object, _: Object) -> Object {
    // SAFETY: the contract above is that of the operator.
    unsafe { in_place_operator::<{ Op::pow as usize }>(left, right) }
}

/// Calls a rule that multiplies two tensors.
pub fn product<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    other: TensorArg<'a>,
    out: Option<TensorArg<'a>>,
    rule: impl FnOnce(&Tensor, &Tensor, Out) -> Result<Tensor> + Send,
) -> CallResult<Value<'a>> {
    call_with_work(py, [x, other], work::product(&x, &other), out, |[a, b], out| rule(a, b, out))
}

/// The number slots of Tensor. Comparisons have a slot of their own, [`compare`].
pub fn slots() -> Vec<ffi::PyType_Slot> {
    let mut slots = Vec::new();
    let mut fill = |number: c_int, function: *mut c_void| slots.push(slot(number, function));
    for (row, operator) in OPS.iter().zip(OPERATORS) {
        match operator {
            OperatorSlots::None => {}
            OperatorSlots::Unary(function) => {
                let slot = match row.operator {
                    "-x" => ffi::Py_nb_negative,
                    "+x" => ffi::Py_nb_positive,
                    "~x" => ffi::Py_nb_invert,
                    _ => ffi::Py_nb_absolute,
                };
                fill(slot, *function as *mut c_void);
            }
            OperatorSlots::Binary { plain, in_place } => {
                let slots = match row.operator {
                    "+" => (ffi::Py_nb_add, ffi::Py_nb_inplace_add),
                    "-" => (ffi::Py_nb_subtract, ffi::Py_nb_inplace_subtract),
                    "*" => (ffi::Py_nb_multiply, ffi::Py_nb_inplace_multiply),
                    "/" => (ffi::Py_nb_true_divide, ffi::Py_nb_inplace_true_divide),
                    "//" => (ffi::Py_nb_floor_divide, ffi::Py_nb_inplace_floor_divide),
                    "%" => (ffi::Py_nb_remainder, ffi::Py_nb_inplace_remainder),
                    "&" => (ffi::Py_nb_and, ffi::Py_nb_inplace_and),
                    "|" => (ffi::Py_nb_or, ffi::Py_nb_inplace_or),
                    "^" => (ffi::Py_nb_xor, ffi::Py_nb_inplace_xor),
                    "<<" => (ffi::Py_nb_lshift, ffi::Py_nb_inplace_lshift),
                    ">>" => (ffi::Py_nb_rshift, ffi::Py_nb_inplace_rshift),
                    _ => continue, // powers have three operands in Python, and comparisons one slot for all
                };
                fill(slots.0, *plain as *mut c_void);
                fill(slots.1, *in_place as *mut c_void);
            }
        }
    }
    fill(ffi::Py_nb_power, power as *mut c_void);
    fill(ffi::Py_nb_inplace_power, in_place_power as *mut c_void);
    fill(ffi::Py_nb_matrix_multiply, matrix_product as *mut c_void);
    fill(ffi::Py_nb_divmod, quotient_and_remainder as *mut c_void);
    slots
}
