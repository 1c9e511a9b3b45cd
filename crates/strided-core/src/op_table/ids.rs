//! The ids of operations that are not elementwise. Rules name them, and the tables below the boundary know which code computes
//! them.

/// A reduction: many terms become one result, or a pair of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    Sum,
    /// The sum of the terms that are not NaN.
    NanSum,
    Prod,
    Mean,
    Max,
    Min,
    /// The smallest and the largest term.
    MinMax,
    /// The largest term and the position of its first occurrence.
    ArgMax,
    /// The smallest term and the position of its first occurrence.
    ArgMin,
    All,
    Any,
    CountNonzero,
    CountNan,
    /// Variance and mean.
    Var,
    /// Standard deviation and mean.
    Std,
    LogSumExp,
    /// The square root of the sum of squares.
    Norm2,
}

impl ReduceOp {
    /// Whether zero terms have a result.
    pub fn has_identity(self) -> bool {
        !matches!(
            self,
            ReduceOp::Max | ReduceOp::Min | ReduceOp::MinMax | ReduceOp::ArgMax | ReduceOp::ArgMin
        )
    }
}

/// A function from lines along a dim to lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineOp {
    CumSum,
    CumProd,
    /// The largest element up to each, and its position.
    CumMax,
    /// The smallest element up to each, and its position.
    CumMin,
    LogCumSumExp,
    Softmax,
    LogSoftmax,
}
