//! `softmax` and `log_softmax`: functions that need two facts of a whole line before they can write a result, its
//! largest element `max` and then the sum of `exp(x - max)`.
//!
//! ```text
//! find    max
//! sum     the sum of exp(x - max)
//! write   exp(x - max) / sum, or x - (max + log(sum))
//! ```
//!
//! The sum is taken in float64, in an order that follows from positions alone: 16 sums of every 16th element of a chunk
//! (a last block of fewer than 16 elements is added to the last sums), which are added as a tree; the sums of the
//! chunks of a part of 4096 elements, one after the other; and the sums of the parts, one after the other. So lines can
//! be walked along their elements or several side by side, and their parts can be shared by threads, with the same
//! bits.
//!
//! `plan.rs` chooses how lines are visited, `pass.rs` has the loops, `exponential.rs` the arithmetic of the two float
//! types, `blocks.rs` loads and stores of incomplete blocks.

mod blocks;
mod exponential;
mod pass;
mod plan;

use super::lines::LineFunction;
use crate::dtype::DType;

/// The kernel of `softmax` for a dtype: `exp(x)`, divided by the sum of the line.
pub fn softmax(dtype: DType) -> Option<LineFunction> {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 => Some(plan::run::<f32, false>),
        DType::F64 => Some(plan::run::<f64, false>),
        _ => None,
    }
}

/// The kernel of `log_softmax` for a dtype: the logarithm of [`softmax`].
pub fn log_softmax(dtype: DType) -> Option<LineFunction> {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 => Some(plan::run::<f32, true>),
        DType::F64 => Some(plan::run::<f64, true>),
        _ => None,
    }
}
