//! Numbers that follow from their position.

use super::not_computed;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::generate;
use crate::kernels::item::ScalarBytes;
use crate::opencl;
use crate::storage::Device;
use crate::tensor::Tensor;

by_device! {
    /// Writes ones along the diagonal of a matrix, and zeros elsewhere.
    fn eye(out: &Tensor) -> Result<()>, on out.device() => generate::eye, gpu opencl::triangle::eye;

    /// `base` to the power of each exponent, in float64 or complex128.
    fn powers(base: f64, exponents: &Tensor) -> Result<Tensor>, on exponents.device() => generate::powers;

    /// [`powers`], truncated to integers of a dtype.
    fn int_powers(base: f64, exponents: &Tensor, dtype: DType) -> Result<Tensor>, on exponents.device() => generate::int_powers;
}

on_device! {
    /// `n` numbers from `start` on, in steps of `step`.
    fn range(n: usize, dtype: DType, start: ScalarBytes, step: ScalarBytes) -> Result<Tensor> => generate::range, gpu opencl::generate::range;

    /// `n` evenly spaced float64 numbers, both ends included.
    fn linspace(n: usize, start: f64, end: f64) -> Result<Tensor> => generate::linspace, gpu opencl::generate::linspace;

    /// `n` evenly spaced integers, truncated from exact values.
    fn int_linspace(n: usize, dtype: DType, start: i128, end: i128) -> Result<Tensor> => generate::int_linspace, gpu opencl::generate::int_linspace;
}
