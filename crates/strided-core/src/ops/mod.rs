//! Rules: the dtype, shape and device of a result, and when an operation is refused. `backend` runs the kernel.
//!
//! Results are row-major, whatever the layouts of the operands: strides that follow from the shape alone are easier to
//! reason about than strides that imitate an operand.

pub mod calculus;
pub mod combine;
mod compose;
pub mod contract;
pub mod convolve;
pub mod copy;
pub mod covariance;
pub mod create;
pub mod diagonal;
pub mod elementwise;
mod equation;
pub mod geometry;
pub mod index;
pub mod join;
pub mod matmul;
pub mod mersenne;
mod operand;
pub mod output;
pub mod pad;
pub mod random;
pub mod rearrange;
pub mod reduce;
pub mod scan;
pub mod search;
pub mod sort;
pub mod statistics;
pub mod table;
pub mod unique;
pub mod work;

pub use operand::{Operand, OwnedOperand};
pub use output::{Out, OutPair};
