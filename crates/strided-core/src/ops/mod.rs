//! Rules: which dtype and shape a result has, when an operation refuses, and then which kernel runs.

pub mod calculus;
mod compose;
pub mod copy;
pub mod covariance;
pub mod create;
pub mod elementwise;
pub mod geometry;
pub mod output;
pub mod reduce;
pub mod scan;
pub mod table;
