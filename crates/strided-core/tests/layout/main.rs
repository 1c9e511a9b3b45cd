//! Layouts against a naive model that lists every location.

// `return Ok(assert!(…))` ends a case whose arguments must be refused.
#![allow(clippy::unit_arg)]

mod garbage;
mod model;
mod reshape;
mod terms;
mod views;
