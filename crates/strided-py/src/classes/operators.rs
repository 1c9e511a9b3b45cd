//! The operators of the op table as slots of Tensor: `a + b`, `a += b`, `-a`, `a < b`.

use super::elementwise::{apply, operate};
use crate::abi::Object;
use crate::abi::errors::guard;
use crate::abi::heap::slot;
use crate::abi::refs::{again, give, owned};
use crate::abi::tensor_object::tensor_of;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use strided_core::op_table;
use strided_core::ops::elementwise::OpArg;
use strided_core::ops::table::{OPS, Op};

/// `a + b`, where one of them is a tensor.
unsafe extern "C" fn binary_operator<const I: usize>(left: Object, right: Object) -> Object {
    guard(OPS[I].name, null_mut(), |py| operate(py, &OPS[I], left, right, None))
}

/// `a += b`
unsafe extern "C" fn in_place_operator<const I: usize>(left: Object, right: Object) -> Object {
    guard(OPS[I].in_place_name, null_mut(), |py| operate(py, &OPS[I], left, right, Some(left)))
}

unsafe extern "C" fn unary_operator<const I: usize>(object: Object) -> Object {
    guard(OPS[I].name, null_mut(), |py| {
        // SAFETY: called with a tensor, and nothing runs before it is used.
        let operand = OpArg::Tensor(unsafe { tensor_of(object) });
        apply(py, &OPS[I], &[], &[operand], None)
    })
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

/// How an operator calls its row. Only what is chosen here, in a constant, is compiled.
#[derive(Clone, Copy)]
enum Operator {
    None,
    Unary(ffi::unaryfunc),
    Binary { plain: ffi::binaryfunc, in_place: ffi::binaryfunc },
}

impl Operator {
    const fn of<const I: usize>() -> Operator {
        let row = &OPS[I];
        match row.operands.len() {
            _ if row.operator.is_empty() => Operator::None,
            1 => Operator::Unary(unary_operator::<I>),
            _ => Operator::Binary { plain: binary_operator::<I>, in_place: in_place_operator::<I> },
        }
    }
}

macro_rules! operators {
    ($({ $name:ident $($rest:tt)* })*) => {
        /// The operator of every row.
        static OPERATORS: &[Operator] = &[$(Operator::of::<{ Op::$name as usize }>()),*];
    };
}
op_table!(operators);

/// `a ** b`, which has a third operand that only integers of Python's own can have.
unsafe extern "C" fn power(left: Object, right: Object, modulus: Object) -> Object {
    // SAFETY: what the interpreter passed.
    unsafe {
        if modulus == ffi::Py_None() {
            binary_operator::<{ Op::pow as usize }>(left, right)
        } else {
            again(ffi::Py_NotImplemented())
        }
    }
}

/// `a **= b`
unsafe extern "C" fn in_place_power(left: Object, right: Object, _: Object) -> Object {
    // SAFETY: what the interpreter passed.
    unsafe { in_place_operator::<{ Op::pow as usize }>(left, right) }
}

/// `divmod(a, b)`
unsafe extern "C" fn quotient_and_remainder(left: Object, right: Object) -> Object {
    guard("divmod", null_mut(), |py| {
        let quotient = owned(py, operate(py, &OPS[Op::floor_divide as usize], left, right, None))?;
        // SAFETY: the object lives as long as the interpreter.
        if quotient.is(&unsafe { Bound::from_borrowed_ptr(py, ffi::Py_NotImplemented()) }) {
            return Ok(quotient.into_ptr());
        }
        let left = owned(py, operate(py, &OPS[Op::remainder as usize], left, right, None))?;
        give(py, (quotient, left))
    })
}

/// The number slots that operators fill. Comparisons are in [`compare`].
pub fn slots() -> Vec<ffi::PyType_Slot> {
    let mut slots = Vec::new();
    let mut fill = |number: c_int, function: *mut c_void| slots.push(slot(number, function));
    for (row, operator) in OPS.iter().zip(OPERATORS) {
        match operator {
            Operator::None => {}
            Operator::Unary(function) => {
                let slot = match row.operator {
                    "-x" => ffi::Py_nb_negative,
                    "+x" => ffi::Py_nb_positive,
                    "~x" => ffi::Py_nb_invert,
                    _ => ffi::Py_nb_absolute,
                };
                fill(slot, *function as *mut c_void);
            }
            Operator::Binary { plain, in_place } => {
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
    fill(ffi::Py_nb_divmod, quotient_and_remainder as *mut c_void);
    slots
}
