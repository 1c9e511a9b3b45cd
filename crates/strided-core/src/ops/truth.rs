//! Whether any or all elements of a bool tensor are true, as an answer and not as a tensor.

use super::copy;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::reduce::truth::{AllTrue, AnyTrue};
use crate::kernels::reduce::{self, Reducer, Reduction, ReductionTarget};
use crate::layout::Dims;
use crate::scalar::{Bool, Scalar};
use crate::storage::Fill;
use crate::tensor::Tensor;

/// Returns true if any element of a bool tensor is true.
pub fn any(x: &Tensor) -> Result<bool> {
    reduced(const { &Reducer::of_lanes::<AnyTrue, Bool>() }, x)
}

/// Returns true if all elements of a bool tensor are true.
pub fn all(x: &Tensor) -> Result<bool> {
    reduced(const { &Reducer::of_lanes::<AllTrue, Bool>() }, x)
}

fn reduced(reducer: &Reducer, x: &Tensor) -> Result<bool> {
    assert!(x.dtype() == DType::Bool, "the reducers are those of bool elements");
    let out = &Tensor::new(&[], DType::Bool, Fill::Uninitialized)?;
    let ones: Dims = x.layout().modes().iter().map(|_| 1).collect();
    let keepdim_layout = &out.layout().view(&ones)?;
    let reduction = Reduction { reducer, stages: &[], ordered: false, parameter: 0.0 };
    reduce::run(&reduction, x, [Some(ReductionTarget { out, keepdim_layout }), None])?;
    Ok(copy::single_item(out)? == Scalar::Bool(true))
}
