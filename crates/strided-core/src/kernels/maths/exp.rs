//! e^x and functions that are made of exponentials: 2^x, ldexp, expm1, the hyperbolic functions, sigmoid.

use super::double_double::{DoubleDouble, dd, fast_two_sum};
use super::tables::{Tables, tanh_reduced, tanh_small_f32};
use super::vector_float::{VectorFloat, pick};
use super::via_f64;
use crate::scalar::Float;

/// `(shifted, r)` with `e^x = 2^n e^r`, n = shifted - SHIFT, |r| <= ln(2)/2.
#[inline(always)]
fn reduce<T: VectorFloat>(x: DoubleDouble<T>) -> (T, DoubleDouble<T>) {
    let shifted = x.hi.fma(T::LOG2_E[0], T::SHIFT);
    let n = shifted - T::SHIFT;
    // Exact: x and n ln2 are multiples of an ULP of ln2, and their difference has few bits.
    let r = (-n).fma(T::LN2_FULL[0], x.hi);
    let lo = (-n).fma(T::LN2_FULL[1], x.lo);
    (shifted, dd(r, lo))
}

/// e^x for x <= 0: as a double-double, which is right above 2^LOW_EXPONENT; and rounded, down to subnormal numbers.
#[inline(always)]
pub fn exp_nonpositive<T: VectorFloat>(x: DoubleDouble<T>) -> (DoubleDouble<T>, T) {
    let (shifted, r) = reduce(x);
    let m = one_plus(expm1_reduced(r.hi, r.lo)).normalize();
    (m.mul_power(T::power(shifted.at_least(T::SHIFT + T::LOW_EXPONENT))), scaled(m.hi, shifted))
}

/// `e^(r + lo) - 1` for |r| <= ln(2)/2, precise enough for a 1 to be added.
#[inline(always)]
fn expm1_reduced<T: VectorFloat>(r: T, lo: T) -> DoubleDouble<T> {
    let sum = r + lo;
    dd(r, (sum * sum).fma(T::exp_poly(sum).fma(sum, T::HALF), lo))
}

/// [`expm1_reduced`] with r^2/2 as a double-double: precise enough where no 1 is added.
#[inline(always)]
fn expm1_reduced_precise<T: VectorFloat>(r: T, lo: T) -> DoubleDouble<T> {
    let sum = r + lo;
    let square = sum * sum;
    let error = sum.fma(sum, -square);
    let s = fast_two_sum(r, square * T::HALF);
    let cube = (square * sum).fma(T::exp_poly(sum), error.fma(T::HALF, lo));
    dd(s.hi, s.lo + cube)
}

/// `1 + p`.
#[inline(always)]
fn one_plus<T: VectorFloat>(p: DoubleDouble<T>) -> DoubleDouble<T> {
    let s = fast_two_sum(T::ONE, p.hi);
    dd(s.hi, s.lo + p.lo)
}

/// e^x as a double-double and the power of two to multiply it by. The low part may be some percent of the high one.
#[inline(always)]
pub fn exp_unscaled<T: VectorFloat>(x: T) -> (DoubleDouble<T>, T) {
    let (shifted, r) = reduce(dd(x, T::ZERO));
    (one_plus(expm1_reduced(r.hi, r.lo)), T::power(shifted))
}

/// `m 2^n` rounded once, also where it is subnormal; n = shifted - SHIFT.
#[inline(always)]
fn scaled<T: VectorFloat>(m: T, shifted: T) -> T {
    let low = shifted < T::SHIFT + T::LOW_EXPONENT;
    let up = T::of(100.0);
    let back = T::of(1.0 / (1u128 << 100) as f64);
    m.scale(pick(low, shifted + up, shifted)) * pick(low, back, T::ONE)
}

#[inline(always)]
pub fn exp<T: VectorFloat>(x: T) -> T {
    exp_dd(dd(x, T::ZERO))
}

/// e^x of a double-double with a small low part.
#[inline(always)]
pub fn exp_dd<T: VectorFloat>(x: DoubleDouble<T>) -> T {
    let (shifted, r) = reduce(dd(x.hi.at_least(T::EXP_MIN).at_most(T::EXP_MAX), x.lo));
    let y = scaled(one_plus(expm1_reduced(r.hi, r.lo)).value(), shifted);
    // NaN, and infinity above EXP_MAX.
    pick(x.hi <= T::EXP_MAX, y, x.hi + T::INFINITY)
}

/// `(m, shifted)` with `2^x = 2^n m`, n = shifted - SHIFT.
#[inline(always)]
fn exp2_parts<T: VectorFloat>(x: T) -> (T, T) {
    let shifted = x + T::SHIFT;
    let f = x - (shifted - T::SHIFT);
    (f.fma(f.fma(T::exp2_poly(f), T::LN2_FULL[0]), T::ONE), shifted)
}

/// 2^x where it is a normal number.
#[inline(always)]
pub fn exp2<T: VectorFloat>(x: T) -> T {
    let (m, shifted) = exp2_parts(x);
    m.scale(shifted)
}

#[inline(always)]
pub fn rare_exp2<T: VectorFloat>(x: T) -> bool {
    x.is_beyond(-T::LOW_EXPONENT)
}

/// 2^x of any number.
#[inline(always)]
pub fn exp2_edges<T: VectorFloat>(x: T) -> T {
    let (m, shifted) = exp2_parts(x.at_least(T::EXP2_MIN).at_most(T::EXP2_MAX));
    pick(x < T::EXP2_MAX, scaled(m, shifted), x + T::INFINITY)
}

/// 2^x for |x| < 1.
#[inline(always)]
fn exp2_dd<T: VectorFloat>(x: T) -> DoubleDouble<T> {
    let shifted = x + T::SHIFT;
    let f = x - (shifted - T::SHIFT);
    let r = dd(f, T::ZERO).mul(dd(T::LN2_FULL[0], T::LN2_FULL[1]));
    one_plus(expm1_reduced(r.hi, r.lo)).mul_power(T::power(shifted))
}

/// a 2^b. Scaling by the whole part of b is exact, and the product with the rest is rounded once.
#[inline(always)]
pub fn ldexp<T: VectorFloat + Float>(a: T, b: T) -> T {
    let whole = VectorFloat::trunc(b);
    let part = b - whole;
    let y = if T::SINGLE {
        let y = a.widen() * via_f64::exp(part.widen() * std::f64::consts::LN_2);
        VectorFloat::of(Float::scale(y, whole.widen()))
    } else {
        let power = exp2_dd(part);
        // Scaled up before the product and down after it, so that no intermediate overflows or is subnormal.
        let up = b > VectorFloat::ZERO;
        let base = pick(up, Float::scale(a, whole), a);
        let rounded = base * power.hi;
        // The low part would change the sign of a zero, and infinity times a low part of 0 is NaN.
        let single = (rounded == VectorFloat::ZERO) | rounded.is_beyond(VectorFloat::INFINITY);
        let y = pick(single, rounded, base.fma(power.hi, base * power.lo));
        pick(up, y, Float::scale(y, whole))
    };
    let infinite = VectorFloat::abs(b) == VectorFloat::INFINITY;
    pick(infinite, a * b.at_least(VectorFloat::ZERO), y)
}

/// `(e^x - 1) / 2` for x up to EXP_MAX: halved, so that no intermediate overflows.
#[inline(always)]
fn half_expm1<T: VectorFloat>(x: T) -> DoubleDouble<T> {
    let (shifted, r) = reduce(dd(x, T::ZERO));
    let p = expm1_reduced_precise(r.hi, r.lo);
    let power = T::power(shifted - T::ONE);
    let base = fast_two_sum(power, -T::HALF);
    // |power p| < |base| unless base is 0.
    let s = fast_two_sum(base.hi, power * p.hi);
    dd(s.hi, s.lo + power.fma(p.lo, base.lo))
}

#[inline(always)]
pub fn expm1<T: VectorFloat>(x: T) -> T {
    let y = half_expm1(x.at_least(T::of(-50.0)).at_most(T::EXP_MAX)).value() * T::TWO;
    let y = pick(x <= T::EXP_MAX, y, x + T::INFINITY);
    pick(x.abs() < T::EPSILON, x, y)
}

#[inline(always)]
pub fn tanh<T: VectorFloat>(x: T) -> T {
    if T::SINGLE {
        // The conversions to float64 and back cancel.
        return T::of(tanh_single(x.widen() as f32) as f64);
    }
    T::of(tanh_double(x.widen()))
}

/// tanh in float64. With e^(2a) = 2^n (1 + t) / (1 - t), t = tanh(r), tanh(a) is `((2^n - 1) + (2^n + 1) t) / ((2^n + 1) + (2^n - 1) t)`: one
/// division, and where n is 0 that is t itself.
#[inline(always)]
fn tanh_double(x: f64) -> f64 {
    let a = x.abs().at_most(f64::TANH_ONE);
    // Rounded down a little, so that r > -0.16: then the numerator is at least half of 2^n - 1, and their difference is exact.
    let shifted = (a - 0.0175).fma(2.0 * f64::LOG2_E[0], f64::SHIFT);
    let n = shifted - f64::SHIFT;
    let r = (-n).fma(0.5 * f64::LN2_FULL[0], a);
    let z = r * r;
    // t = r + rest, and rest is at most a percent of t.
    let rest = (r * z).fma(tanh_reduced(z), n * (-0.5 * f64::LN2_FULL[1]));
    let power = f64::power(shifted);
    let (less, more) = (power - 1.0, power + 1.0);
    let top = more.fma(r, less);
    let top_lo = more.fma(rest, more.fma(r, less - top));
    let t = r + rest;
    let d = less.fma(t, more);
    // From 2^53 on, adding 1 to the power is lost in rounding. The last term restores the difference between numerator and
    // denominator, which are nearly equal then.
    let d_lo = less.fma(t, more - d) + (2.0 - (more - less));
    dd(top, top_lo).div(dd(d, d_lo)).value().copysign(x)
}

/// A factor of numerator and denominator, chosen so that their sum is just below 2, where relative errors are smallest.
const PADE_SCALE: f32 = 1.6875;

/// tanh in float32, without double-double arithmetic. Up to 1 a polynomial; beyond, `1 - 2 / (e^(2x) + 1)`, where at most a
/// quarter of the quotient's error enters the result.
#[inline(always)]
fn tanh_single(x: f32) -> f32 {
    let a = x.abs().at_most(f32::TANH_ONE);
    let z = a * a;
    let small = (a * z).fma(tanh_small_f32(z), a);
    let shifted = a.fma(2.0 * f32::LOG2_E[0], f32::SHIFT);
    let power = f32::power(shifted);
    let r = (f32::SHIFT - shifted).fma(0.5 * f32::LN2_FULL[0], a);
    // e^(2a) = 2^n (d + w) / (d - w): w/d is Padé's approximation of tanh(r), with an error of 2^-28 for |r| <= ln(2)/4.
    let z = r * r;
    let d = z.fma(0.4 * PADE_SCALE, PADE_SCALE);
    let w = z.fma(PADE_SCALE / 15.0, PADE_SCALE) * r;
    let large = 1.0 + 2.0 * (w - d) / (power + 1.0).fma(d, (power - 1.0) * w);
    pick(a < 1.0, small, large).copysign(x)
}

/// The logistic function, 1 / (1 + e^-x), where the factor 2^n of the exponential is a normal number.
#[inline(always)]
pub fn sigmoid<T: VectorFloat>(x: T) -> T {
    let (shifted, r) = reduce(dd(-x, T::ZERO));
    let p = expm1_reduced(r.hi, r.lo).value();
    // 1 + 2^n + 2^n p, the first sum as a double-double.
    let power = T::power(shifted);
    let base = fast_two_sum(power.at_least(T::ONE), power.at_most(T::ONE));
    let d = power.fma(p, base.hi);
    let rest = power.fma(p, base.hi - d) + base.lo;
    let q = T::ONE / d;
    q.fma((-q).fma(rest, (-q).fma(d, T::ONE)), q)
}

#[inline(always)]
pub fn rare_sigmoid<T: VectorFloat>(x: T) -> bool {
    x.is_beyond(-T::LOW_EXPONENT * T::LN2_FULL[0])
}

/// The logistic function far from 0.
#[inline(always)]
pub fn sigmoid_edges<T: VectorFloat>(x: T) -> T {
    pick(x > T::ZERO, T::ONE, exp(x))
}

/// e^|x| = `2^n (1 + p)` and e^-|x| = `2^-n (1 - g)`.
pub struct ExpPair<T> {
    x: T,
    shifted: T,
    p: DoubleDouble<T>,
    g: DoubleDouble<T>,
}

impl<T: VectorFloat> ExpPair<T> {
    /// The exponentials of |x|, which is limited to SINH_MAX.
    #[inline(always)]
    pub fn new(x: T) -> Self {
        let (shifted, r) = reduce(dd(x.abs().at_most(T::SINH_MAX), T::ZERO));
        let p = expm1_reduced_precise(r.hi, r.lo).normalize();
        ExpPair { x, shifted, p, g: p.div(one_plus(p)) }
    }

    /// `2^-n (e^|x| - sign e^-|x|)`: 2 2^-n sinh(|x|) where `sign` is 1, 2 2^-n cosh(x) where it is -1.
    #[inline(always)]
    fn difference(&self, sign: T) -> DoubleDouble<T> {
        // With c = 2^-2n and M = 1 + p: M - c / M = (1 - c) + p + c g.
        let n = self.shifted - T::SHIFT;
        let c = T::power((T::SHIFT - (n + n)).at_least(T::SHIFT + T::LOW_EXPONENT));
        let (p, g) = (self.p, self.g.mul_power(c * sign));
        let base = fast_two_sum(T::ONE, -(c * sign));
        let s = fast_two_sum(base.hi, p.hi);
        let s2 = fast_two_sum(s.hi, g.hi);
        dd(s2.hi, s2.lo + (s.lo + (base.lo + (p.lo + g.lo))))
    }

    /// sinh and cosh, where 2^n is a normal number.
    #[inline(always)]
    pub fn hyperbolic(&self) -> (DoubleDouble<T>, DoubleDouble<T>) {
        let power = T::power(self.shifted - T::ONE);
        let sinh = self.difference(T::ONE).mul_power(power.copysign(self.x));
        (sinh, self.difference(-T::ONE).mul_power(power))
    }

    /// e^x, where 2^n and 2^-n are normal numbers.
    #[inline(always)]
    pub fn exp(&self) -> T {
        let positive = self.x > T::ZERO;
        let m = one_plus(dd(pick(positive, self.p.hi, -self.g.hi), pick(positive, self.p.lo, -self.g.lo)));
        let power = T::power(pick(positive, self.shifted, T::SHIFT + (T::SHIFT - self.shifted)));
        m.value() * power
    }
}

/// sinh(|x|) where `sign` is 1, cosh(x) where it is -1.
#[inline(always)]
fn hyperbolic<T: VectorFloat>(x: T, sign: T) -> T {
    let pair = ExpPair::new(x);
    // Halved before scaling, which would overflow in the last binade.
    let big = (pair.difference(sign).value() * T::HALF).scale(pair.shifted);
    pick(x.abs() <= T::SINH_MAX, big, x.abs() + T::INFINITY)
}

#[inline(always)]
pub fn sinh<T: VectorFloat>(x: T) -> T {
    pick(x.abs() < T::EPSILON, x, hyperbolic(x, T::ONE).copysign(x))
}

#[inline(always)]
pub fn cosh<T: VectorFloat>(x: T) -> T {
    hyperbolic(x, -T::ONE)
}
