//! Which code computes a function of lines.

use crate::dtype::DType;
use crate::kernels::lines::LineFunction;
use crate::kernels::{scan, softmax};
use crate::op_table::LineOp;

/// The code for a result dtype, if the function has such results.
pub fn function(op: LineOp, result: DType) -> Option<LineFunction> {
    match op {
        LineOp::CumSum => scan::cumsum(result),
        LineOp::CumProd => scan::cumprod(result),
        LineOp::CumMax => scan::cummax(result),
        LineOp::CumMin => scan::cummin(result),
        LineOp::LogCumSumExp => scan::logcumsumexp(result),
        LineOp::Softmax => softmax::softmax(result),
        LineOp::LogSoftmax => softmax::log_softmax(result),
    }
}
