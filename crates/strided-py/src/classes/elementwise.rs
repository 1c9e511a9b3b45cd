//! Elementwise operations on Python objects: reads the operands, chooses the output, and runs a row of the op table.

use crate::abi::detach::{DEVICE_WORK, MIN_DETACHED_ELEMENTS, detach, detach_if_large};
use crate::abi::errors::{CallResult, Fail};
use crate::abi::refs::new_ref;
use crate::abi::tensor_object::{is_tensor, tensor_of, wrap_with};
use crate::abi::{Arg, Value};
use crate::convert::args::{FromArg, TensorArg, wrong_type};
use crate::convert::buffer::{has_buffer, import_or_copy};
use crate::convert::numbers::python_number;
use crate::convert::results::write_to_out;
use pyo3::prelude::*;
use smallvec::SmallVec;
use strided_core::backend::host_reads;
use strided_core::error::{Error, Family};
use strided_core::ops::elementwise::{
    self, KeywordValues, apply_row_into, apply_row_new, create_on_host, write_on_host,
};
use strided_core::ops::output;
use strided_core::ops::table::{Op, OpRow};
use strided_core::ops::{Operand, OwnedOperand};
use strided_core::{Device, Scalar, Tensor};

/// The largest number of operands that a row has.
pub const MAX_OPERANDS: usize = 3;

/// An operand after it was read. A tensor stays in its object, which Python code may change until the last operand is read.
enum ReadOperand<'a> {
    Object(Arg<'a>),
    Number(Scalar),
    /// A new tensor, from an array or a number of another library.
    Imported(Tensor),
}

/// The operands of one call.
struct ReadOperands<'a>(SmallVec<[ReadOperand<'a>; MAX_OPERANDS]>);

impl<'a> ReadOperands<'a> {
    /// Reads operands; `Err` is the position of the first one that is neither a tensor, a number nor an array.
    fn of(objects: &[Arg<'a>]) -> CallResult<std::result::Result<ReadOperands<'a>, usize>> {
        let mut operands = SmallVec::new();
        for (at, &object) in objects.iter().enumerate() {
            operands.push(if is_tensor(object) {
                ReadOperand::Object(object)
            } else if let Some(number) = python_number(object)? {
                ReadOperand::Number(number)
            } else if has_buffer(object) {
                ReadOperand::Imported(import_or_copy(object)?)
            } else {
                return Ok(Err(at));
            });
        }
        Ok(Ok(ReadOperands(operands)))
    }

    fn has_tensor(&self) -> bool {
        self.0.iter().any(|operand| !matches!(operand, ReadOperand::Number(_)))
    }

    /// Runs a row on these operands.
    fn apply(
        &self,
        py: Python<'a>,
        row: &'static OpRow,
        keywords: KeywordValues,
        out: Option<Arg<'a>>,
    ) -> CallResult<Value<'a>> {
        let args = self.0.iter().map(|operand| match operand {
            // SAFETY: `of` checked that it is a tensor; `apply` runs no Python code while it uses the reference.
            ReadOperand::Object(object) => Operand::Tensor(unsafe { tensor_of(*object) }),
            ReadOperand::Number(number) => Operand::Scalar(*number),
            ReadOperand::Imported(tensor) => Operand::Tensor(tensor),
        });
        let args: SmallVec<[Operand; MAX_OPERANDS]> = args.collect();
        apply(py, row, keywords, &args, out)
    }
}

/// Runs a row on its operands, into the tensor of `out` or a new one.
#[inline]
pub fn apply<'a>(
    py: Python<'a>,
    row: &'static OpRow,
    keywords: KeywordValues,
    operands: &[Operand],
    out: Option<Arg<'a>>,
) -> CallResult<Value<'a>> {
    let small = result_size(operands) < MIN_DETACHED_ELEMENTS
        && (keywords.is_empty() && row.is_plain || on_host(operands));
    let Some(out) = out else {
        return wrap_with(py, |inside| {
            if !small {
                return apply_large(py, row, keywords, operands, Err(inside));
            }
            match create_on_host(row, keywords, operands, inside) {
                Ok(()) => Ok(()),
                Err(error) => apply_elsewhere(py, error, row, keywords, operands, Err(inside)),
            }
        });
    };
    apply_into(py, row, keywords, operands, out, small)
}

fn on_host(operands: &[Operand]) -> bool {
    operands.iter().filter_map(Operand::tensor).all(|x| x.device() == Device::Cpu)
}

/// After an error of a small call, which was made for tensors on the host: the call again if a tensor is on a device. Then it is not small:
/// it waits, or compiles a program.
#[cold]
fn apply_elsewhere(
    py: Python<'_>,
    error: Error,
    row: &'static OpRow,
    keywords: KeywordValues,
    operands: &[Operand],
    target: std::result::Result<&Tensor, &mut Option<Tensor>>,
) -> CallResult<()> {
    if on_host(operands) && target.as_ref().is_ok_and(|out| out.device() == Device::Cpu)
        || error.family() != Family::Device
    {
        return Err(error.into());
    }
    apply_large(py, row, keywords, operands, target)
}

/// [`apply`] into the tensor of `out`. Out of line, so that new results do not pay for its stack frame.
#[inline(never)]
fn apply_into<'a>(
    py: Python<'a>,
    row: &'static OpRow,
    keywords: KeywordValues,
    operands: &[Operand],
    out: Arg<'a>,
    small: bool,
) -> CallResult<Value<'a>> {
    // SAFETY: callers pass an output that was read as a tensor. Neither branch uses the reference after Python code may
    // have run: `apply_large` clones it first.
    let target = unsafe { tensor_of(out) };
    let in_place = matches!(operands[0], Operand::Tensor(x) if std::ptr::eq(x, target));
    if output::takes_any_shape(target) && !in_place {
        let mut result = None;
        if small && on_host(operands) {
            create_on_host(row, keywords, operands, &mut result)?;
        } else {
            apply_large(py, row, keywords, operands, Err(&mut result))?;
        }
        let out = TensorArg::from_arg(out, "out")?;
        return write_to_out(py, out, &result.expect("made by the call above"));
    }
    if !small {
        apply_large(py, row, keywords, operands, Ok(target))?;
    } else if let Err(error) = write_on_host(row, keywords, operands, target) {
        apply_elsewhere(py, error, row, keywords, operands, Ok(target))?;
    }
    Ok(new_ref(out))
}

/// The number of elements below which no broadcast of two shapes has [`MIN_DETACHED_ELEMENTS`].
const FEW_ELEMENTS: usize = MIN_DETACHED_ELEMENTS.isqrt();

/// An upper bound on the number of elements of the result: operands of other shapes are broadcast.
#[inline]
fn result_size(operands: &[Operand]) -> usize {
    let mut size = 0usize;
    for operand in operands {
        if let Operand::Tensor(x) = operand {
            let elements = x.size();
            size = if size == 0 || elements == size { elements } else { size.saturating_mul(elements) };
        }
    }
    if size < FEW_ELEMENTS { size } else { size_of_other_shapes(operands, size) }
}

/// [`result_size`] where operands of as many elements may have other shapes: `column + row`.
#[cold]
fn size_of_other_shapes(operands: &[Operand], size: usize) -> usize {
    let mut tensors = operands.iter().filter_map(Operand::tensor);
    let Some(first) = tensors.next() else { return size };
    let others = tensors.filter(|x| !x.layout().same_shape(first.layout()));
    others.fold(size.max(first.size()), |size, x| size.saturating_mul(x.size().max(1)))
}

/// Computes detached, into an output or a new tensor. Other threads may replace the tensors of the objects meanwhile, so the
/// work is on handles of its own.
#[cold]
fn apply_large(
    py: Python<'_>,
    row: &'static OpRow,
    keywords: KeywordValues,
    operands: &[Operand],
    out: std::result::Result<&Tensor, &mut Option<Tensor>>,
) -> CallResult<()> {
    let handles: SmallVec<[OwnedOperand; MAX_OPERANDS]> =
        operands.iter().map(|operand| operand.with_handle()).collect();
    let mut out = out.cloned();
    Ok(detach(py, || {
        let args: SmallVec<[Operand; MAX_OPERANDS]> = handles.iter().map(OwnedOperand::borrow).collect();
        match &mut out {
            Ok(out) => apply_row_into(row, keywords, &args, out),
            Err(inside) => apply_row_new(row, keywords, &args, inside),
        }
    })?)
}

/// Runs a row on objects, one of which must be a tensor or an array.
pub fn call_row<'a>(
    py: Python<'a>,
    row: &'static OpRow,
    keywords: KeywordValues,
    operands: &[Arg<'a>],
    out: Option<Arg<'a>>,
) -> CallResult<Value<'a>> {
    match ReadOperands::of(operands)? {
        Ok(read) if read.has_tensor() => read.apply(py, row, keywords, out),
        Ok(_) => Err(Fail::Type("none of the operands is a Tensor".into())),
        Err(at) => Err(wrong_type(operands[at], row.argument(at), "a Tensor, an array or a number")),
    }
}

/// The operands of most calls: two tensors, or a tensor and a Python number. Reading those runs no Python code.
#[inline(always)]
pub fn plain_pair<'a>(left: Arg<'a>, right: Arg<'a>) -> CallResult<Option<[Operand<'a>; 2]>> {
    // SAFETY: only called below for objects that are tensors; callers run the row before any Python code.
    let tensor = |object| unsafe { Operand::Tensor(tensor_of(object)) };
    Ok(match (is_tensor(left), is_tensor(right)) {
        (true, true) => Some([tensor(left), tensor(right)]),
        (true, false) => python_number(right)?.map(|number| [tensor(left), Operand::Scalar(number)]),
        (false, true) => python_number(left)?.map(|number| [Operand::Scalar(number), tensor(right)]),
        (false, false) => None,
    })
}

/// Runs a row of two operands for an operator: `NotImplemented` if one of them cannot be an operand.
#[inline(always)]
pub fn operate<'a>(
    py: Python<'a>,
    row: &'static OpRow,
    left: Arg<'a>,
    right: Arg<'a>,
    out: Option<Arg<'a>>,
) -> CallResult<Value<'a>> {
    if let Some(operands) = plain_pair(left, right)? {
        return apply(py, row, &[], &operands, out);
    }
    match ReadOperands::of(&[left, right])? {
        Ok(read) => read.apply(py, row, &[], out),
        Err(_) => Ok(py.NotImplemented().into_bound(py)),
    }
}

/// Whether any element equals a number, or the element of a tensor that it is broadcast with.
pub fn contains(py: Python<'_>, x: &Tensor, value: Operand) -> CallResult<bool> {
    let operands = [Operand::Tensor(x), value];
    let any = || host_reads::any(&elementwise::apply(Op::eq, &operands)?);
    Ok(detach_if_large(py, if on_host(&operands) { result_size(&operands) } else { DEVICE_WORK }, any)?)
}
