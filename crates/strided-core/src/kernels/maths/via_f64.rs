//! float32 functions that are computed in float64, with short polynomials: in float32 they would need double-double
//! arithmetic. A register holds half as many lanes, but a lane takes a third of the work.
//!
//! The relative error of each function is at most 2^-36.

use super::tables::{Tables, exp_single, log_single, log1p_single};
use super::vector_float::{VectorFloat, pick};

/// Below this, two terms of a series have an error of at most 2^-36; above it, 1 + x keeps enough bits of x.
const SERIES_MAX: f64 = 1.0 / 8192.0;

/// log(u) for positive normal u.
#[inline(always)]
pub fn ln(u: f64) -> f64 {
    let (m, k) = u.split();
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    k.fma(f64::LN2_FULL[0], s * z.fma(log_single(z), 2.0))
}

/// e^x for |x| < 700.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let shifted = x.fma(f64::LOG2_E[0], f64::SHIFT);
    let r = (f64::SHIFT - shifted).fma(f64::LN2_FULL[0], x);
    exp_single(r).scale(shifted)
}

/// x^y for positive finite x. Results outside the range of float32 become 0 or infinity when they are rounded to it.
#[inline(always)]
pub fn pow(x: f64, y: f64) -> f64 {
    exp((y * ln(x)).at_least(-200.0).at_most(200.0))
}

/// asinh of a positive finite number.
#[inline(always)]
pub fn asinh(y: f64) -> f64 {
    let small = (y * y * y).fma(-1.0 / 6.0, y);
    pick(y < SERIES_MAX, small, ln(y + y.fma(y, 1.0).sqrt()))
}

/// acosh of a finite number x >= 1.
#[inline(always)]
pub fn acosh(x: f64) -> f64 {
    ln(x + x.fma(x, -1.0).sqrt())
}

/// atanh of a number in [0, 1).
#[inline(always)]
pub fn atanh(y: f64) -> f64 {
    let small = (y * y * y).fma(1.0 / 3.0, y);
    pick(y < SERIES_MAX, small, 0.5 * ln((1.0 + y) / (1.0 - y)))
}

/// log(x / (1 - x)) for x in (0, 1).
#[inline(always)]
pub fn logit(x: f64) -> f64 {
    ln(x / (1.0 - x))
}

/// log(1 + e^d) for d <= 0.
#[inline(always)]
pub fn log1p_exp(d: f64) -> f64 {
    let e = exp(d.at_least(-200.0));
    e * log1p_single(e)
}
