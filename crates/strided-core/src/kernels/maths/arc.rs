//! asin, acos, atan, atan2; hypot and 1/sqrt.

use super::real::{Real, pick};
use super::two::{Two, product, quick_sum, sum, two};

/// `(large, s)`: asin(|x|) = asin(s), or pi/2 - 2 asin(s) where x is large; asin(s) comes as two words.
#[inline(always)]
fn arcsine<T: Real>(x: T) -> (bool, Two<T>) {
    let y = x.abs();
    let large = y > T::HALF;
    let z = pick(large, (T::ONE - y) * T::HALF, y * y);
    let root = two(z, T::ZERO).sqrt();
    let s = two(pick(large, root.hi, y), pick(large, root.lo, T::ZERO));
    (large, two(s.hi, (s.hi * z).fma(T::asin_poly(z), s.lo)))
}

#[inline(always)]
pub fn asin<T: Real>(x: T) -> T {
    let (large, s) = arcsine(x);
    let base = quick_sum(T::HALF_PI[0], -(s.hi + s.hi));
    let far = base.hi + (base.lo + (T::HALF_PI[1] - (s.lo + s.lo)));
    pick(large, far, s.value()).copysign(x)
}

#[inline(always)]
pub fn acos<T: Real>(x: T) -> T {
    let (large, s) = arcsine(x);
    // pi/2 - asin(x) for small x; 2 asin(s) near 1; pi - 2 asin(s) near -1.
    let times = pick(large, T::TWO, -T::ONE).flip(x);
    let base = pick(large, pick(x > T::ZERO, T::ZERO, T::TWO), T::ONE);
    let v = quick_sum(T::HALF_PI[0] * base, s.hi * times);
    v.hi + (v.lo + s.lo.fma(times, T::HALF_PI[1] * base))
}

/// The angle of (b, a), a and b >= 0 and not both 0, in [0, pi/2].
#[inline(always)]
fn angle<T: Real>(a: T, b: T) -> Two<T> {
    let steep = a > b * T::of(2.414_213_562);
    let middle = a > b * T::of(0.414_213_562);
    // tan(angle - base): -b/a, (a - b)/(a + b) or a/b.
    let (minus, plus) = (sum(a, -b), sum(a, b));
    let base = pick(steep, T::ONE, pick(middle, T::HALF, T::ZERO));
    let n = pick(steep, -b, pick(middle, minus.hi, a));
    let d = pick(steep, a, pick(middle, plus.hi, b));
    let inner = middle & !steep;
    let n = two(n, pick(inner, minus.lo, T::ZERO));
    let d = two(d, pick(inner, plus.lo, T::ZERO));
    let q = n.div(d);
    let z = q.hi * q.hi;
    let tail = (q.hi * z).fma(T::atan_poly(z), q.lo);
    let s = quick_sum(T::HALF_PI[0] * base, q.hi);
    two(s.hi, s.lo + T::HALF_PI[1].fma(base, tail))
}

#[inline(always)]
pub fn atan<T: Real>(x: T) -> T {
    angle(x.abs().at_most(T::SAFE), T::ONE).value().copysign(x)
}

/// Arguments whose quotient may overflow, or lose bits.
#[inline(always)]
pub fn rare_atan2<T: Real>(y: T, x: T) -> bool {
    let outside = |v: T| (v.abs() > T::SAFE) | ((v.abs() < T::ONE / T::SAFE) & (v != T::ZERO));
    outside(y) | outside(x)
}

#[inline(always)]
pub fn atan2<T: Real>(y: T, x: T) -> T {
    let (a, b) = (y.abs(), x.abs());
    let r = angle(a, pick((a == T::ZERO) & (b == T::ZERO), T::ONE, b));
    // Behind the origin: pi - r; -0 is behind too.
    let behind = T::ONE.copysign(x) < T::ZERO;
    let base = pick(behind, T::TWO, T::ZERO);
    let one = pick(behind, -T::ONE, T::ONE);
    let s = quick_sum(T::HALF_PI[0] * base, r.hi * one);
    (s.hi + (s.lo + r.lo.fma(one, T::HALF_PI[1] * base))).copysign(y)
}

/// Arguments whose squares overflow or are lost.
#[inline(always)]
pub fn rare_hypot<T: Real>(x: T, y: T) -> bool {
    let top = pick(x.abs() > y.abs(), x.abs(), y.abs());
    !((top < T::SAFE) & ((top > T::ONE / T::SAFE) | (top == T::ZERO)))
}

#[inline(always)]
pub fn hypot<T: Real>(x: T, y: T) -> T {
    let (a, b) = (x.abs(), y.abs());
    let (high, low) = (pick(a > b, a, b), pick(a > b, b, a));
    let (h, l) = (product(high, high), product(low, low));
    let s = quick_sum(h.hi, l.hi);
    two(s.hi, s.lo + (h.lo + l.lo)).sqrt().value()
}

/// `1 - x y^2` for y near 1/sqrt(x).
#[inline(always)]
fn rsqrt_residue<T: Real>(x: T, y: T) -> T {
    (x * y).fma(-y, T::ONE)
}

/// y improved by its residue, which cubes it.
#[inline(always)]
fn rsqrt_step<T: Real>(y: T, residue: T) -> T {
    (y * residue).fma(residue.fma(T::of(0.375), T::HALF), y)
}

/// 1 / sqrt(x) of a positive normal number, from its halved exponent: CPUs take longer for a root and a division.
#[inline(always)]
pub fn rsqrt<T: Real>(x: T) -> T {
    let mut y = x.rough_rsqrt();
    y = rsqrt_step(y, rsqrt_residue(x, y));
    if !T::SINGLE {
        y = rsqrt_step(y, rsqrt_residue(x, y));
    }
    // The last residue is exact.
    let p = product(x, y);
    rsqrt_step(y, (-p.lo).fma(y, (-p.hi).fma(y, T::ONE)))
}

/// (To ask for positive normal numbers would be one instruction after the other: that is a question about bits.)
#[inline(always)]
pub fn rare_rsqrt<T: Real>(x: T) -> bool {
    !((x > T::TINY * T::TWO) & (x < T::MAX * T::HALF))
}

/// 1 / sqrt(x) of any number.
#[inline(always)]
pub fn rsqrt_edges<T: Real>(x: T) -> T {
    let y = T::ONE / x.sqrt();
    // One Newton step with the exact residue.
    let p = product(x, y);
    let residue = (-p.lo).fma(y, (-p.hi).fma(y, T::ONE));
    let better = (y * T::HALF).fma(residue, y);
    // Of 0 and infinity the residue is NaN.
    pick(residue.is_nan(), y, better)
}
