//! Products of matrices, and distances of rows.

pub use crate::kernels::matmul::{MULTIPLY_ADDS_PER_ELEMENT, multiply_adds};

use super::not_computed;
use crate::error::Result;
use crate::kernels::matmul;
use crate::opencl;
use crate::scalar::Scalar;
use crate::storage::Device;
use crate::tensor::Tensor;

by_device! {
    /// `out = alpha * a @ b + beta * out`, for matrices in the last two dims.
    fn multiply(out: &Tensor, a: &Tensor, b: &Tensor, alpha: Scalar, beta: Scalar) -> Result<()>, on out.device() => matmul::multiply, gpu opencl::products::multiply;

    /// The p-norms of the differences of rows of `a` and columns of `b`.
    fn distances(out: &Tensor, a: &Tensor, b: &Tensor, p: f64) -> Result<()>, on out.device() => matmul::distances;
}
