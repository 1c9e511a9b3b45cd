//! Outputs: what an `out` must be like, and how a result is written to it.

use super::copy;
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::Layout;
use crate::tensor::{Tensor, conflict};

/// Refuses an `out` of another shape or a lower category than the result, or whose elements overlap.
pub fn check(out: &Tensor, result: DType, wanted: &Layout) -> Result<()> {
    check_named("out", out, result, wanted)
}

/// [`check`] for an output of another name.
pub fn check_named(name: &'static str, out: &Tensor, result: DType, wanted: &Layout) -> Result<()> {
    check_shape(name, out, wanted)?;
    check_category(out, result)?;
    check_memory(out)?;
    out.check_writable()
}

/// Refuses an output in read-only memory.
fn check_memory(out: &Tensor) -> Result<()> {
    if out.storage().is_readonly() { Err(Error::new("", Problem::ReadOnly)) } else { Ok(()) }
}

/// Whether an output takes the shape of the result: it has no elements.
pub fn takes_any_shape(out: &Tensor) -> bool {
    out.size() == 0
}

/// The tensor that a result is to be written to: the output, in the shape of the result if it takes any. Refuses an output that
/// cannot hold the result. Nothing is changed: `Tensor::grow_storage` makes the storage long enough.
pub fn target(name: &'static str, out: &Tensor, result: DType, wanted: &Layout) -> Result<Tensor> {
    if !takes_any_shape(out) {
        check_named(name, out, result, wanted)?;
        return Ok(out.clone());
    }
    check_category(out, result)?;
    check_memory(out)?;
    let target = out.resized(&wanted.shape())?;
    target.check_growth()?;
    Ok(target)
}

/// Refuses an output of another shape than the result.
pub fn check_shape(name: &'static str, out: &Tensor, wanted: &Layout) -> Result<()> {
    if !out.layout().same_shape(wanted) {
        let (got, wanted) = (out.layout().shape_text(), wanted.shape_text());
        return Err(Error::new("", Problem::OutShape { out: name, got, wanted }));
    }
    Ok(())
}

/// Refuses an `out` of a lower category than the result.
pub fn check_category(out: &Tensor, result: DType) -> Result<()> {
    if result.category() > out.dtype().category() {
        return Err(Error::new("", Problem::LowerCategory { result, output: out.dtype() }));
    }
    Ok(())
}

/// Refuses an `out` for indices that is not int64.
pub fn check_indices(argument: &'static str, out: &Tensor) -> Result<()> {
    if out.dtype() != DType::I64 {
        return Err(Error::new("", Problem::WrongDType { argument, got: out.dtype(), wanted: "int64" }));
    }
    Ok(())
}

/// Refuses two outputs that share memory.
pub fn check_disjoint(first: &Tensor, second: &Tensor) -> Result<()> {
    if conflict(first, second) || first.is_set_to(second) {
        return Err(Error::argument("", "out", "two tensors that share memory", "two that do not"));
    }
    Ok(())
}

/// Writes a result into `out`, or returns it if there is none.
pub fn deliver(result: Tensor, out: Option<&Tensor>) -> Result<Option<Tensor>> {
    let dtype = result.dtype();
    deliver_as(dtype, result, out)
}

/// [`deliver`] for a result that was computed in another dtype than `dtype`, the one it should have.
pub fn deliver_as(dtype: DType, result: Tensor, out: Option<&Tensor>) -> Result<Option<Tensor>> {
    match out {
        Some(out) => {
            check(out, dtype, result.layout())?;
            copy::copy(out, &result).map(|()| None)
        }
        None if dtype == result.dtype() => Ok(Some(result)),
        None => copy::to_dtype(&result, dtype).map(Some),
    }
}
