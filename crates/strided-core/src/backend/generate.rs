//! Numbers that follow from their position.

use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::generate;
use crate::kernels::item::ScalarBytes;
use crate::storage::{Device, not_on_host};
use crate::tensor::Tensor;

by_device! {
    /// Writes ones along the diagonal of a matrix, and zeros elsewhere.
    fn eye(out: &Tensor) -> Result<()>, on out.device() => generate::eye;

    /// `base` to the power of each exponent, in float64 or complex128.
    fn powers(base: f64, exponents: &Tensor) -> Result<Tensor>, on exponents.device() => generate::powers;

    /// The same, truncated to integers of a dtype.
    fn int_powers(base: f64, exponents: &Tensor, dtype: DType) -> Result<Tensor>, on exponents.device() => generate::int_powers;
}

/// `n` numbers from `start` on, in steps of `step`.
pub fn range(
    device: Device,
    n: usize,
    dtype: DType,
    start: ScalarBytes,
    step: ScalarBytes,
) -> Result<Tensor> {
    match device {
        Device::Cpu => generate::range(n, dtype, start, step),
        device => Err(not_on_host(device)),
    }
}

/// `n` evenly spaced float64 numbers, both ends included.
pub fn linspace(device: Device, n: usize, start: f64, end: f64) -> Result<Tensor> {
    match device {
        Device::Cpu => generate::linspace(n, start, end),
        device => Err(not_on_host(device)),
    }
}

/// `n` evenly spaced integers, truncated from exact values.
pub fn int_linspace(device: Device, n: usize, dtype: DType, start: i128, end: i128) -> Result<Tensor> {
    match device {
        Device::Cpu => generate::int_linspace(n, dtype, start, end),
        device => Err(not_on_host(device)),
    }
}
