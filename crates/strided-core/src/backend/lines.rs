//! Functions from lines along a dim to lines: scans and softmax.

pub use crate::kernels::lines::LineRequest;

use super::not_computed;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::tables::lines;
use crate::op_table::LineOp;
use crate::opencl::lines as opencl;
use crate::storage::Device;

/// Writes the results, which are computed as elements of dtype `result`.
///
/// # Panics
/// If the function has no results of that dtype; rules refuse it.
pub fn compute_lines(op: LineOp, result: DType, request: &LineRequest) -> Result<()> {
    match request.out.device() {
        Device::Cpu => {
            let function = lines::function(op, result);
            function.expect("rules refuse dtypes that the function does not have")(request)
        }
        Device::Gpu(_) if matches!(op, LineOp::Softmax | LineOp::LogSoftmax) => {
            opencl::softmax(op == LineOp::LogSoftmax, result, request)
        }
        device => Err(not_computed(device)),
    }
}
