//! Rules: the dtype and shape of a result, when an operation is refused, and which kernel runs.
//!
//! Results are row-major, whatever the layouts of the operands: strides that follow from the shape alone are easier to
//! reason about than strides that imitate an operand.

/// Declares a static of rows. In the harness of unit tests it is a constant: the compiler compiles all that statics refer
/// to, and so would compile every kernel for tests that use few of them.
macro_rules! row_static {
    ($(#[$doc:meta])* $name:ident: $type:ty = $value:expr) => {
        $(#[$doc])*
        #[cfg(not(test))]
        pub static $name: $type = $value;
        $(#[$doc])*
        #[cfg(test)]
        pub const $name: $type = $value;
    };
}

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
pub mod truth;
pub mod unique;
