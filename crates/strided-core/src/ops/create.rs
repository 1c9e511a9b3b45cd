//! Tensors from nothing: constant and counting ones.

use super::copy;
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::kernels::{create, item};
use crate::layout::MAX_SPAN;
use crate::scalar::Scalar;
use crate::storage::Fill;
use crate::tensor::Tensor;

/// A new tensor with every element set to a number.
pub fn full(shape: &[isize], value: Scalar, dtype: DType) -> Result<Tensor> {
    item::check_fits(value, dtype).map_err(|error| error.named("full"))?;
    let out = Tensor::new(shape, dtype, Fill::Nothing)?;
    copy::fill(&out, value)?;
    Ok(out)
}

/// Whether the end of a range belongs to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// `arange`
    Excluded,
    /// `range`
    Included,
}

/// `start`, `start + step`, … up to `end`, one dimension.
pub fn range(start: Scalar, end: Scalar, step: Scalar, dtype: DType, rule: End) -> Result<Tensor> {
    let count = count(start, end, step, rule)?;
    if dtype.is_complex() || dtype == DType::Bool {
        let (argument, wanted) = ("dtype", "an integer or floating dtype");
        return Err(Error::new("", Problem::WrongDType { argument, got: dtype, wanted }));
    }
    // Half-width floats are counted as float32 and then rounded once; a float32 counts in double, so that
    // a long range does not drift from its end.
    let compute = if dtype.is_float() { DType::F64 } else { dtype };
    // The step of a falling range of unsigned numbers wraps: only the ends must fit.
    if matches!(step, Scalar::Huge(_)) {
        item::check_fits(step, compute)?;
    }
    let (first, stride) = (item::Slot::new(start, compute)?, item::Slot::cast(step, compute));
    if let (Scalar::Int(first), Scalar::Int(step), true) = (start, step, count > 0) {
        item::check_fits(Scalar::Int(first + step * (count as i128 - 1)), dtype)?;
    }
    let out = create::range(count, compute, first, stride)?;
    if compute == dtype { Ok(out) } else { copy::to_dtype(&out, dtype) }
}

fn count(start: Scalar, end: Scalar, step: Scalar, rule: End) -> Result<usize> {
    let wrong = |argument: &'static str, got: String, wanted: &str| {
        Err(Error::new("", Problem::Argument { argument, got, wanted: wanted.into() }))
    };
    let count = if let (Scalar::Int(start), Scalar::Int(end), Scalar::Int(step)) = (start, end, step) {
        if step == 0 {
            return wrong("step", "0".into(), "anything else");
        }
        let width = (end - start) * step.signum();
        let step = step.abs();
        match rule {
            End::Excluded => (width + step - 1).max(0) / step,
            End::Included => (width / step + 1) * (width >= 0) as i128,
        }
    } else {
        let number = |v: Scalar| match v {
            Scalar::Bool(v) => v as u8 as f64,
            Scalar::Int(v) => v as f64,
            Scalar::Huge(v) | Scalar::Float(v) => v,
            Scalar::Complex(v) => v.re,
        };
        let (start, end, step) = (number(start), number(end), number(step));
        if step == 0.0 || !step.is_finite() {
            return wrong("step", step.to_string(), "a finite number other than 0");
        }
        if !start.is_finite() || !end.is_finite() {
            return wrong("range", format!("from {start} to {end}"), "finite ends");
        }
        let steps = (end - start) / step;
        let count = if rule == End::Excluded { steps.ceil() } else { steps.floor() + 1.0 };
        count.clamp(0.0, 1e30) as i128
    };
    if count > MAX_SPAN as i128 {
        return wrong("range", format!("{count} elements"), "fewer");
    }
    Ok(count as usize)
}
