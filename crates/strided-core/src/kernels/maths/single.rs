//! Bodies of float32 alone: short formulas that are exact enough for 24 bits, in one word where float64 takes two.

use super::real::{Real, pick};
use super::tables::{Tables, half_coth_f32, tanh_small_f32};
use super::two::{quick_sum, two};

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

/// The logistic function: `q = e / (1 + e)` of `e = e^-|x|`, or `1 - q`.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    let a = x.abs().at_most(-f32::EXP_MIN);
    let shifted = a.fma(-f32::LOG2_E[0], f32::SHIFT);
    let n = f32::SHIFT - shifted;
    let r = n.fma(f32::LN2_FULL[1], n.fma(f32::LN2_FULL[0], -a));
    // e = 2^-n (d + h) / (d - h), h = r/2, d = h coth(h): h is exact, so the sum and the difference are known in two words.
    let h = 0.5 * r;
    let z = r * r;
    let d = z.fma(half_coth_f32(z), 1.0);
    let (up, down) = (quick_sum(d, h), quick_sum(d, -h));
    let held = shifted.at_least(f32::SHIFT + f32::LOW_EXPONENT);
    let power = f32::power(held);
    let sum = power.fma(up.hi, down.hi);
    let rest = power.fma(up.hi, down.hi - sum) + power.fma(up.lo, down.lo);
    let q = up.div(two(sum, rest)).value() * power;
    // What `held` holds back makes q subnormal, rounded once.
    pick(x < 0.0, q * f32::power(f32::SHIFT + (shifted - held)), 1.0 - q)
}
