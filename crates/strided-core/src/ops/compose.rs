//! Short forms of the steps that composed operations (`calculus`, `geometry`, `covariance`) are made of.

use super::elementwise::{OpArg, apply};
use super::reduce;
use super::table::Op;
use crate::error::Result;
use crate::layout::Layout;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Applies an operation to two tensors.
pub(super) fn of_tensors(op: Op, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    apply(op, &[OpArg::Tensor(a), OpArg::Tensor(b)])
}

/// Applies an operation to a tensor and a number.
pub(super) fn with_number(op: Op, a: &Tensor, number: f64) -> Result<Tensor> {
    apply(op, &[OpArg::Tensor(a), OpArg::Scalar(Scalar::Float(number))])
}

/// The sum along a dim.
pub(super) fn sum(x: &Tensor, dim: isize) -> Result<Tensor> {
    let request = reduce::ReduceRequest { dims: Some(&[dim]), ..Default::default() };
    Ok(reduce::run(&reduce::SUM, x, &request, None)?.expect("no output was passed"))
}

/// A view of a tensor with a layout derived from its own.
pub(super) fn view(x: &Tensor, layout: Result<Layout>) -> Result<Tensor> {
    Ok(x.with_layout(layout?))
}

pub(super) fn extent(x: &Tensor, dim: usize) -> isize {
    x.layout().modes()[dim].extent
}
