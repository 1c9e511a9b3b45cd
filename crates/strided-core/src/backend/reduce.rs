//! Reductions.

pub use crate::kernels::reduce::ReductionTarget;
pub use crate::kernels::tables::reduce::TermStep;

use super::not_computed;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::reduce;
use crate::kernels::tables::reduce::ResolvedReduction;
use crate::op_table::ReduceOp;
use crate::opencl::program::Fold;
use crate::opencl::reduce as opencl;
use crate::storage::Device;
use crate::tensor::Tensor;

/// Reduces `x` into one or both results of an operation. `steps` lead from elements to terms. If `ordered`, terms are taken in
/// row-major order, as positions need it. `parameter` is the correction of a variance.
pub fn reduce(
    op: ReduceOp,
    steps: &[TermStep],
    ordered: bool,
    parameter: f64,
    x: &Tensor,
    targets: [Option<ReductionTarget>; 2],
) -> Result<()> {
    match x.device() {
        Device::Cpu => {
            let resolved = ResolvedReduction::new(op, x.dtype(), steps)?;
            reduce::run(&resolved.reduction(ordered, parameter), x, targets)
        }
        Device::Gpu(_) => opencl::Reduction { fold: Fold::Op(op), steps, ordered, parameter }.run(x, targets),
        device => Err(not_computed(device)),
    }
}

/// Reduces all of `x` to the first result, a new tensor of rank 0, if that is one call of a kernel: neither a plan nor a
/// layout of the result is needed then. `None` if it is more.
#[inline]
pub fn reduce_in_one_call(
    op: ReduceOp,
    steps: &[TermStep],
    parameter: f64,
    x: &Tensor,
    result: DType,
) -> Result<Option<Tensor>> {
    match x.device() {
        Device::Cpu => {
            let resolved = ResolvedReduction::new(op, x.dtype(), steps)?;
            let reduction = resolved.reduction(false, parameter);
            if !reduction.is_one_call(x) {
                return Ok(None);
            }
            let out = Tensor::like(x, &[], result)?;
            reduction.run_one_call(x, &out)?;
            Ok(Some(out))
        }
        Device::Gpu(_) => Ok(None),
        device => Err(not_computed(device)),
    }
}
