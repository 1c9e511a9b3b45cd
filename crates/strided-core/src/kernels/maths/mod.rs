//! Vector mathematics: functions of float32 and float64 within 1 ULP of the true result, special functions of float64 within
//! 4 ULP. `docs/accuracy.md` lists the errors by function, dtype and CPU level; tests/test_elementwise.py tries hostile
//! arguments.
//!
//! A function of [`functions`] has two bodies:
//!
//! * The fast body computes blocks of 8 or 16 elements. It is branch-free code, generic over the two floats, which the
//!   compiler vectorises for CPUs with fused multiply-add. It may leave out rare arguments (huge angles, poles).
//! * The exact body is scalar. It serves those arguments, CPUs without fused multiply-add, and
//!   `STRIDED_KERNELS=reference`.

mod complex_exact;
mod complex_fast;
mod divide;
pub(super) mod double_double;
mod exact;
mod exp;
mod function;
pub mod functions;
mod inverse_trig;
mod log;
mod roots;
mod special;
mod tables;
mod trig;
pub(super) mod vector_float;
mod via_f64;
