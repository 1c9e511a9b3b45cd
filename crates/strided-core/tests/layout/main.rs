//! Layouts compared with a naive model that lists every location.

// `return Ok(assert!(…))` ends a case whose arguments must be refused.
#![allow(clippy::unit_arg)]

mod contiguity;
mod extreme_numbers;
mod model;
mod reshape;
mod views;
