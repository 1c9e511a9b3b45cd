//! New tensors: `full`, `eye`, `empty_strided`, `arange`, `linspace`, `logspace`.

use super::copy;
use crate::backend::{generate, items as item};
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::{Layout, MAX_SPAN};
use crate::scalar::Scalar;
use crate::storage::{Device, Fill};
use crate::tensor::Tensor;

/// A new tensor with every element set to a number.
pub fn full(device: Device, shape: &[isize], value: Scalar, dtype: DType) -> Result<Tensor> {
    item::check_fits(value, dtype)?;
    let out = Tensor::new_on(device, shape, dtype, Fill::Uninitialized)?;
    copy::fill(&out, value)?;
    Ok(out)
}

/// `steps` evenly spaced numbers from `start` to `end`, both included; one dimension. Integer results are the exact
/// values, truncated. (PyTorch steps in float64 and truncates that, which makes `linspace(22, -16, 7)` contain 2
/// instead of 3.)
///
/// ```
/// use strided_core::{DType, Device, Scalar, ops::{copy, create}};
/// let x = create::linspace(Device::Cpu, Scalar::Int(-1), Scalar::Int(1), 5, DType::F32).unwrap();
/// assert_eq!(copy::item(&x, &[3]).unwrap(), Scalar::Float(0.5));
/// ```
pub fn linspace(device: Device, start: Scalar, end: Scalar, steps: isize, dtype: DType) -> Result<Tensor> {
    let steps = check_steps(steps, &[start, end], dtype)?;
    if dtype.is_int() {
        return generate::int_linspace(
            device,
            steps,
            dtype,
            truncated(start, dtype)?,
            truncated(end, dtype)?,
        );
    }
    copy::in_dtype(&evenly_spaced(device, start, end, steps, dtype.is_complex())?, dtype)
}

/// Powers of a base whose exponents are those of [`linspace`].
pub fn logspace(
    device: Device,
    start: Scalar,
    end: Scalar,
    steps: isize,
    base: f64,
    dtype: DType,
) -> Result<Tensor> {
    let steps = check_steps(steps, &[start, end], dtype)?;
    if dtype.is_int() {
        let truncate = |value| truncated(value, dtype).map(Scalar::Int);
        let exponents = evenly_spaced(device, truncate(start)?, truncate(end)?, steps, false)?;
        return copy::in_dtype(&generate::int_powers(base, &exponents, dtype)?, dtype);
    }
    let exponents = evenly_spaced(device, start, end, steps, dtype.is_complex())?;
    copy::in_dtype(&generate::powers(base, &exponents)?, dtype)
}

/// The number of steps. Refuses a negative one, and end points that the dtype cannot hold.
fn check_steps(steps: isize, ends: &[Scalar], dtype: DType) -> Result<usize> {
    if steps < 0 {
        return Err(Error::argument("steps", steps, "0 or more"));
    }
    if dtype == DType::Bool {
        return Err(Error::dtype("dtype", dtype, "an integer, floating or complex dtype"));
    }
    for &value in ends {
        item::check_fits(value, dtype)?;
    }
    Ok(steps as usize)
}

/// A number truncated to an integer of the dtype.
fn truncated(value: Scalar, dtype: DType) -> Result<i128> {
    match copy::single_item(&full(Device::Cpu, &[], value, dtype)?)? {
        Scalar::Int(value) => Ok(value),
        other => unreachable!("{other:?} of an integer dtype"),
    }
}

/// Evenly spaced numbers in float64, or in complex128, whose parts are computed separately.
fn evenly_spaced(device: Device, start: Scalar, end: Scalar, steps: usize, complex: bool) -> Result<Tensor> {
    let parts = |value: Scalar| match value {
        Scalar::Complex(v) => (v.re, v.im),
        other => (other.real(), 0.0),
    };
    let (start, end) = (parts(start), parts(end));
    if !complex {
        return generate::linspace(device, steps, start.0, end.0);
    }
    let out = Tensor::new_on(device, &[steps as isize], DType::C128, Fill::Uninitialized)?;
    copy::copy(&out.part(0)?, &generate::linspace(device, steps, start.0, end.0)?)?;
    copy::copy(&out.part(1)?, &generate::linspace(device, steps, start.1, end.1)?)?;
    Ok(out)
}

/// Writes ones along the diagonal of a matrix, and zeros elsewhere.
pub fn fill_eye(out: &Tensor) -> Result<()> {
    out.check_writable()?;
    generate::eye(out)
}

/// An uninitialised tensor of any strides with memory of its own.
pub fn empty_strided(device: Device, shape: &[isize], stride: &[isize], dtype: DType) -> Result<Tensor> {
    let low = Layout::strided(shape, stride, 0)?.bounds().map_or(0, |(low, _)| low);
    Tensor::with_new_memory(device, Layout::strided(shape, stride, -low)?, dtype, Fill::Uninitialized)
}

/// Whether a range includes its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RangeEnd {
    /// `arange`
    Excluded,
    /// `range`
    Included,
}

/// `start`, `start + step`, … up to `end`, one dimension.
pub fn range(
    device: Device,
    start: Scalar,
    end: Scalar,
    step: Scalar,
    dtype: DType,
    rule: RangeEnd,
) -> Result<Tensor> {
    let count = count(start, end, step, rule)?;
    if dtype.is_complex() || dtype == DType::Bool {
        return Err(Error::dtype("dtype", dtype, "an integer or floating dtype"));
    }
    // Floats are computed in float64 and then rounded once, so that a long range does not drift from its end.
    let compute = if dtype.is_float() { DType::F64 } else { dtype };
    // The step of a descending range of unsigned integers wraps: only the end points must fit.
    if matches!(step, Scalar::Huge(_)) {
        item::check_fits(step, compute)?;
    }
    let (first, stride) = (item::ScalarBytes::new(start, compute)?, item::ScalarBytes::cast(step, compute));
    if let (Scalar::Int(first), Scalar::Int(step), true) = (start, step, count > 0) {
        item::check_fits(Scalar::Int(first + step * (count as i128 - 1)), dtype)?;
    }
    let made = if dtype == DType::F32 { dtype } else { compute };
    copy::in_dtype(&generate::range(device, count, made, first, stride)?, dtype)
}

fn count(start: Scalar, end: Scalar, step: Scalar, rule: RangeEnd) -> Result<usize> {
    let wrong = |argument: &'static str, got: String, wanted: &str| {
        Err(Error::new(Problem::Argument { argument, got, wanted: wanted.into() }))
    };
    let count = if let (Scalar::Int(start), Scalar::Int(end), Scalar::Int(step)) = (start, end, step) {
        if step == 0 {
            return wrong("step", "0".into(), "a number other than 0");
        }
        let width = (end - start) * step.signum();
        let step = step.abs();
        match rule {
            RangeEnd::Excluded => (width + step - 1).max(0) / step,
            RangeEnd::Included => (width / step + 1) * (width >= 0) as i128,
        }
    } else {
        let (start, end, step) = (start.real(), end.real(), step.real());
        if step == 0.0 || !step.is_finite() {
            return wrong("step", step.to_string(), "a finite number other than 0");
        }
        if !start.is_finite() || !end.is_finite() {
            return wrong("range", format!("from {start} to {end}"), "finite ends");
        }
        let steps = (end - start) / step;
        let count = if rule == RangeEnd::Excluded { steps.ceil() } else { steps.floor() + 1.0 };
        count.clamp(0.0, 1e30) as i128
    };
    if count > MAX_SPAN as i128 {
        return wrong("range", format!("{count} elements"), "fewer");
    }
    Ok(count as usize)
}
