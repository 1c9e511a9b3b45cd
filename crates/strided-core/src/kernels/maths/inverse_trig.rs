//! asin, acos, atan and atan2.

use super::double_double::{DoubleDouble, dd, fast_two_sum, two_sum};
use super::vector_float::{VectorFloat, pick};

/// `(large, asin(s))` such that asin(|x|) is asin(s), or pi/2 - 2 asin(s) where `large`.
#[inline(always)]
fn asin_reduced<T: VectorFloat>(x: T) -> (bool, DoubleDouble<T>) {
    let y = x.abs();
    let large = y > T::HALF;
    let z = pick(large, (T::ONE - y) * T::HALF, y * y);
    let root = dd(z, T::ZERO).sqrt();
    let s = dd(pick(large, root.hi, y), pick(large, root.lo, T::ZERO));
    (large, dd(s.hi, (s.hi * z).fma(T::asin_poly(z), s.lo)))
}

#[inline(always)]
pub fn asin<T: VectorFloat>(x: T) -> T {
    let (large, s) = asin_reduced(x);
    let base = fast_two_sum(T::HALF_PI[0], -(s.hi + s.hi));
    let complement = base.hi + (base.lo + (T::HALF_PI[1] - (s.lo + s.lo)));
    pick(large, complement, s.value()).copysign(x)
}

#[inline(always)]
pub fn acos<T: VectorFloat>(x: T) -> T {
    let (large, s) = asin_reduced(x);
    // pi/2 - asin(x) for small x; 2 asin(s) near 1; pi - 2 asin(s) near -1.
    let times = pick(large, T::TWO, -T::ONE).flip(x);
    let base = pick(large, pick(x > T::ZERO, T::ZERO, T::TWO), T::ONE);
    let v = fast_two_sum(T::HALF_PI[0] * base, s.hi * times);
    v.hi + (v.lo + s.lo.fma(times, T::HALF_PI[1] * base))
}

/// The angle of (b, a), a and b >= 0 and not both 0, in [0, pi/2].
#[inline(always)]
fn angle<T: VectorFloat>(a: T, b: T) -> DoubleDouble<T> {
    let steep = a > b * T::of(2.414_213_562);
    let middle = a > b * T::of(0.414_213_562);
    // tan(angle - base): -b/a, (a - b)/(a + b) or a/b.
    let (minus, plus) = (two_sum(a, -b), two_sum(a, b));
    let base = pick(steep, T::ONE, pick(middle, T::HALF, T::ZERO));
    let n = pick(steep, -b, pick(middle, minus.hi, a));
    let d = pick(steep, a, pick(middle, plus.hi, b));
    let inner = middle & !steep;
    let n = dd(n, pick(inner, minus.lo, T::ZERO));
    let d = dd(d, pick(inner, plus.lo, T::ZERO));
    let q = n.div(d);
    let z = q.hi * q.hi;
    let tail = (q.hi * z).fma(T::atan_poly(z), q.lo);
    let s = fast_two_sum(T::HALF_PI[0] * base, q.hi);
    dd(s.hi, s.lo + T::HALF_PI[1].fma(base, tail))
}

#[inline(always)]
pub fn atan<T: VectorFloat>(x: T) -> T {
    angle(x.abs().at_most(T::SAFE), T::ONE).value().copysign(x)
}

/// Arguments whose quotient may overflow or underflow.
#[inline(always)]
pub fn rare_atan2<T: VectorFloat>(y: T, x: T) -> bool {
    let outside = |v: T| (v.abs() > T::SAFE) | ((v.abs() < T::ONE / T::SAFE) & (v != T::ZERO));
    outside(y) | outside(x)
}

#[inline(always)]
pub fn atan2<T: VectorFloat>(y: T, x: T) -> T {
    let (a, b) = (y.abs(), x.abs());
    let r = angle(a, pick((a == T::ZERO) & (b == T::ZERO), T::ONE, b));
    // The left half plane, to which x = -0 belongs: pi - r.
    let is_left = T::ONE.copysign(x) < T::ZERO;
    let base = pick(is_left, T::TWO, T::ZERO);
    let sign = pick(is_left, -T::ONE, T::ONE);
    let s = fast_two_sum(T::HALF_PI[0] * base, r.hi * sign);
    (s.hi + (s.lo + r.lo.fma(sign, T::HALF_PI[1] * base))).copysign(y)
}
