//! Repeated rows, combinations of elements, and triangles of matrices.

pub use crate::kernels::repeat::{Combinations, RepeatEnds};
pub use crate::kernels::triangle::Triangle;

use super::not_computed;
use crate::error::Result;
use crate::kernels::{repeat, triangle};
use crate::opencl;
use crate::storage::Device;
use crate::tensor::Tensor;

by_device! {
    /// Copies each row along the middle dim of `x` to the rows of `out` up to its end.
    fn repeat_rows(out: &Tensor, x: &Tensor, ends: RepeatEnds) -> Result<()>, on out.device() => repeat::repeat_rows;

    /// Writes all combinations of elements, one in each row.
    fn combine(out: &Tensor, x: &Tensor, rule: Combinations) -> Result<()>, on out.device() => repeat::combine;

    /// Writes zeros above or below a diagonal of matrices, and the elements of `x` elsewhere, if there is one.
    fn keep_triangle(out: &Tensor, x: Option<&Tensor>, diagonal: isize, upper: bool) -> Result<()>, on out.device() => triangle::keep, gpu opencl::triangle::keep;

    /// Writes the rows (`part` 0) or columns (1) of the elements of a triangle.
    fn triangle_indices(out: &Tensor, triangle: Triangle, part: usize) -> Result<()>, on out.device() => triangle::indices, gpu opencl::triangle::indices;
}
