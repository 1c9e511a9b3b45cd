//! Elementwise operations on operands as Python passed them: reads them, chooses the output, and runs a row of the op
//! table.

use crate::abi::Object;
use crate::abi::detach::{LARGE, detached, with_threads};
use crate::abi::errors::{Fail, Result};
use crate::abi::refs::again;
use crate::abi::tensor_object::{is_tensor, tensor_of, wrap_with};
use crate::convert::args::{TensorArg, python_number, wrong_type};
use crate::convert::buffer::{has_buffer, import_or_copy};
use crate::convert::results::{resize_and_copy, takes_any_shape};
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;
use strided_core::ops::elementwise::{self, KeywordValues, OpArg, run_into, run_new};
use strided_core::ops::reduce;
use strided_core::ops::table::{OPS, Op, OpRow};
use strided_core::{Scalar, Tensor};

/// The most operands a row has.
pub const MOST: usize = 3;

/// What an operand was passed as. Tensors stay in their objects until nothing can change them any more.
#[derive(Clone, Copy)]
enum Kind {
    Object(Object),
    Number(Scalar),
    /// A tensor made for this call, from an array or a number of another library.
    Made,
}

/// The operands of one call.
struct Passed {
    kinds: [Kind; MOST],
    made: [Option<Tensor>; MOST],
    count: usize,
}

impl Passed {
    /// Reads operands; the place of the first that is nothing to compute with is the error.
    fn read(py: Python<'_>, objects: &[Object]) -> Result<std::result::Result<Passed, usize>> {
        let mut passed =
            Passed { kinds: [Kind::Made; MOST], made: [const { None }; MOST], count: objects.len() };
        for (k, &object) in objects.iter().enumerate() {
            passed.kinds[k] = if is_tensor(object) {
                Kind::Object(object)
            } else if let Some(number) = python_number(py, object)? {
                Kind::Number(number)
            } else if has_buffer(object) {
                passed.made[k] = Some(import_or_copy(py, object)?);
                Kind::Made
            } else {
                return Ok(Err(k));
            };
        }
        Ok(Ok(passed))
    }

    fn has_tensor(&self) -> bool {
        self.kinds[..self.count].iter().any(|kind| !matches!(kind, Kind::Number(_)))
    }

    /// Runs a row on these operands.
    fn apply(
        &self,
        py: Python<'_>,
        row: &'static OpRow,
        given: KeywordValues,
        out: Option<Object>,
    ) -> Result<Object> {
        let mut operands = [OpArg::Scalar(Scalar::Bool(false)); MOST];
        for (k, operand) in operands[..self.count].iter_mut().enumerate() {
            *operand = match &self.kinds[k] {
                // SAFETY: `read` saw that it is a tensor; `apply` runs no Python code while it looks at it.
                Kind::Object(object) => OpArg::Tensor(unsafe { tensor_of(*object) }),
                Kind::Number(number) => OpArg::Scalar(*number),
                Kind::Made => OpArg::Tensor(self.made[k].as_ref().expect("made by read")),
            };
        }
        apply(py, row, given, &operands[..self.count], out)
    }
}

/// Runs a row on its operands, into `out` (an object) or a new object.
#[inline]
pub fn apply(
    py: Python<'_>,
    row: &'static OpRow,
    given: KeywordValues,
    operands: &[OpArg],
    out: Option<Object>,
) -> Result<Object> {
    let small = result_size(operands) < LARGE;
    let Some(object) = out else {
        return wrap_with(py, |slot| {
            if small {
                Ok(run_new(row, given, operands, slot)?)
            } else {
                apply_large(py, row, given, operands, Err(slot))
            }
        });
    };
    // SAFETY: an output was read as a tensor, and is not looked at again after Python code may have run.
    let target = unsafe { tensor_of(object) };
    let in_place = matches!(operands[0], OpArg::Tensor(x) if std::ptr::eq(x, target));
    if takes_any_shape(target) && !in_place {
        let mut result = None;
        if small {
            run_new(row, given, operands, &mut result)?;
        } else {
            apply_large(py, row, given, operands, Err(&mut result))?;
        }
        return resize_and_copy(py, TensorArg(object), &result.expect("made by the call above"));
    }
    if small {
        run_into(row, given, operands, target)?;
    } else {
        apply_large(py, row, given, operands, Ok(target))?;
    }
    Ok(again(object))
}

/// A bound on the number of elements of the result: operands of other shapes are broadcast.
#[inline]
fn result_size(operands: &[OpArg]) -> usize {
    let mut size = 0usize;
    for operand in operands {
        if let OpArg::Tensor(x) = operand {
            let own = x.size();
            size = if size == 0 || own == size { own } else { size.saturating_mul(own) };
        }
    }
    size
}

/// Other threads may run, and change the objects, meanwhile: computes with handles of its own, into an
/// output or a slot.
#[cold]
fn apply_large(
    py: Python<'_>,
    row: &'static OpRow,
    given: KeywordValues,
    operands: &[OpArg],
    out: std::result::Result<&Tensor, &mut Option<Tensor>>,
) -> Result<()> {
    let own = |operand: &OpArg| match operand {
        OpArg::Tensor(x) => Ok(Tensor::clone(x)),
        OpArg::Scalar(number) => Err(*number),
    };
    let copies: SmallVec<[std::result::Result<Tensor, Scalar>; MOST]> = operands.iter().map(own).collect();
    let mut out = out.cloned(); // given up only after the work: see `detached`
    Ok(detached(py, || {
        let borrowed = copies.iter().map(|copy| match copy {
            Ok(x) => OpArg::Tensor(x),
            Err(number) => OpArg::Scalar(*number),
        });
        let operands: SmallVec<[OpArg; MOST]> = borrowed.collect();
        match &mut out {
            Ok(out) => run_into(row, given, &operands, out),
            Err(slot) => run_new(row, given, &operands, slot),
        }
    })?)
}

/// Calls an operation with numbers on operands as Python passed them, one of which must be a tensor.
pub fn call_row(
    py: Python<'_>,
    row: &'static OpRow,
    given: KeywordValues,
    operands: &[Object],
    out: Option<Object>,
) -> Result<Object> {
    match Passed::read(py, operands)? {
        Ok(passed) if passed.has_tensor() => passed.apply(py, row, given, out),
        Ok(_) => Err(Fail::Type("none of the operands is a Tensor".into())),
        Err(at) => Err(wrong_type(py, operands[at], row.argument(at), "a Tensor, an array or a number")),
    }
}

/// What most calls have: two tensors, or a tensor and one of Python's numbers. Reading those runs no code.
#[inline(always)]
pub fn plain_pair<'a>(py: Python<'_>, left: Object, right: Object) -> Result<Option<[OpArg<'a>; 2]>> {
    // SAFETY: seen to be a tensor; callers use it before anything else runs.
    let tensor = |object| unsafe { OpArg::Tensor(tensor_of(object)) };
    Ok(match (is_tensor(left), is_tensor(right)) {
        (true, true) => Some([tensor(left), tensor(right)]),
        (true, false) => python_number(py, right)?.map(|number| [tensor(left), OpArg::Scalar(number)]),
        (false, true) => python_number(py, left)?.map(|number| [OpArg::Scalar(number), tensor(right)]),
        (false, false) => None,
    })
}

/// `left + right` for any row of two operands: `NotImplemented` where one of them is nothing to compute with.
#[inline(always)]
pub fn operate(
    py: Python<'_>,
    row: &'static OpRow,
    left: Object,
    right: Object,
    out: Option<Object>,
) -> Result<Object> {
    if let Some(operands) = plain_pair(py, left, right)? {
        return apply(py, row, &[], &operands, out);
    }
    match Passed::read(py, &[left, right])? {
        Ok(passed) => passed.apply(py, row, &[], out),
        // SAFETY: the object lives as long as the interpreter.
        Err(_) => Ok(again(unsafe { ffi::Py_NotImplemented() })),
    }
}

/// A row of two operands on two tensors, for methods that are more than a row.
pub fn of_pair(py: Python<'_>, op: Op, left: Object, right: Object, out: Option<Object>) -> Result<Object> {
    operate(py, &OPS[op as usize], left, right, out)
}

/// Whether any element equals a number, or the element of a tensor that it is broadcast with.
pub fn contains(py: Python<'_>, x: &Tensor, value: OpArg) -> Result<bool> {
    let operands = [OpArg::Tensor(x), value];
    Ok(with_threads(py, result_size(&operands), || reduce::any(&elementwise::apply(Op::eq, &operands)?))?)
}
