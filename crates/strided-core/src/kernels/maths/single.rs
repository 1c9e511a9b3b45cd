//! Bodies of float32 alone: short formulas that are exact enough for 24 bits, in one word where float64 takes two.

use super::real::{Real, pick};
use super::tables::{Tables, tanh_small_f32};

/// A factor before numerator and denominator: their sum is just below 2, where relative errors are smallest.
const PADE: f32 = 1.6875;

/// tanh. Up to 1 a polynomial; beyond, `1 - 2 / (e^(2x) + 1)`, where an error of the quotient is a quarter of it or less.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let a = x.abs().at_most(f32::TANH_ONE);
    let z = a * a;
    let small = (a * z).fma(tanh_small_f32(z), a);
    let shifted = a.fma(2.0 * f32::LOG2_E[0], f32::SHIFT);
    let power = f32::power(shifted);
    let r = (f32::SHIFT - shifted).fma(0.5 * f32::LN2_FULL[0], a);
    // e^(2a) = 2^n (d + w) / (d - w): w/d is Padé's approximation of tanh(r), to 2^-28 for |r| <= ln(2)/4.
    let z = r * r;
    let d = z.fma(0.4 * PADE, PADE);
    let w = z.fma(PADE / 15.0, PADE) * r;
    let large = 1.0 + 2.0 * (w - d) / (power + 1.0).fma(d, (power - 1.0) * w);
    pick(a < 1.0, small, large).copysign(x)
}
