//! Vector mathematics: blocks of float32 and float64, at most 1 ULP from the true result, the special functions of float64 at
//! most 4 (tests/test_elementwise.py looks at hostile arguments).
//!
//! [`rows`] holds the functions, each with a fast body (branch-free code that the compiler vectorises, for CPUs with
//! FMA) and an exact one (scalar). The fast bodies are generic over the two floats: an algorithm is written once.

mod arc;
mod complex;
mod divide;
mod exact;
mod exp;
mod light;
mod log;
mod plane;
mod real;
pub mod rows;
mod single;
mod special;
mod tables;
mod trig;
mod two;
