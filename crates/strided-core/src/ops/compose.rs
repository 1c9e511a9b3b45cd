//! Short forms of the steps that composed operations (`calculus`, `geometry`, `covariance`) are made of, and their checks.

use super::elementwise::apply;
use super::operand::Operand;
use super::output::Out;
use super::reduce;
use super::table::Op;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Applies an operation to two tensors.
pub(super) fn of_tensors(op: Op, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    apply(op, &[Operand::Tensor(a), Operand::Tensor(b)])
}

/// Applies an operation to a tensor and a number.
pub(super) fn with_number(op: Op, a: &Tensor, number: f64) -> Result<Tensor> {
    apply(op, &[Operand::Tensor(a), Operand::Scalar(Scalar::Float(number))])
}

/// The sum along a dim.
pub(super) fn sum(x: &Tensor, dim: isize) -> Result<Tensor> {
    let request = reduce::ReduceRequest { dims: Some(&[dim]), ..Default::default() };
    reduce::reduce(&reduce::SUM, x, &request, Out::New)
}

/// A view of a tensor with a layout derived from its own.
pub(super) fn view(x: &Tensor, layout: Result<Layout>) -> Result<Tensor> {
    Ok(x.with_layout(layout?))
}

pub(super) fn extent(x: &Tensor, dim: usize) -> isize {
    x.layout().modes()[dim].extent
}

/// What a tensor is, in the message of an error.
pub(super) fn of_shape(x: &Tensor) -> String {
    format!("of shape {}", x.layout().shape_text())
}

/// Refuses an argument that is not floating.
pub(super) fn check_floating(argument: &'static str, got: DType) -> Result<()> {
    if got.is_float() {
        return Ok(());
    }
    Err(Error::dtype(argument, got, "a floating dtype"))
}
