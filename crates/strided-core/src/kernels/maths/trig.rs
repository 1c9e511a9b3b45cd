//! sin, cos, tan, and sinc.

use super::double_double::{DoubleDouble, dd, two_product, two_sum};
use super::vector_float::{VectorFloat, pick};

/// Arguments whose reduction needs more digits of pi than three numbers hold.
#[inline(always)]
pub fn rare<T: VectorFloat>(x: T) -> bool {
    x.abs() > T::TRIG_MAX
}

/// `(shifted, r)` with `x = n pi/2 + r`, n = shifted - SHIFT, |r| <= pi/4.
#[inline(always)]
fn reduce<T: VectorFloat>(x: T) -> (T, DoubleDouble<T>) {
    let shifted = x.fma(T::TWO_OVER_PI[0], T::SHIFT);
    let n = shifted - T::SHIFT;
    // Exact: x and n pi/2 are multiples of an ULP of pi/2, and their difference has few bits.
    let first = (-n).fma(T::HALF_PI[0], x);
    // May cancel, near multiples of pi/2: computed in double-double.
    let p = two_product(n, T::HALF_PI[1]);
    let r = two_sum(first, -p.hi);
    (shifted, dd(r.hi, (-n).fma(T::HALF_PI[2], r.lo - p.lo)))
}

/// sin(r) for |r| <= pi/4.
#[inline(always)]
fn sine<T: VectorFloat>(r: DoubleDouble<T>) -> DoubleDouble<T> {
    let z = r.hi * r.hi;
    let lo = (z * T::HALF).fma(-r.lo, r.lo);
    dd(r.hi, (r.hi * z).fma(T::sin_poly(z), lo))
}

/// cos(r) for |r| <= pi/4.
#[inline(always)]
fn cosine<T: VectorFloat>(r: DoubleDouble<T>) -> DoubleDouble<T> {
    let z = r.hi * r.hi;
    let error = r.hi.fma(r.hi, -z);
    let half = z * T::HALF;
    let one = T::ONE - half;
    let lo = (T::ONE - one) - half;
    let tail = r.hi.fma(-r.lo, (z * z).fma(T::cos_poly(z), error * -T::HALF));
    dd(one, lo + tail)
}

/// sin(r) and cos(r) for |r| <= pi/4.
#[inline(always)]
pub fn sin_cos_reduced<T: VectorFloat>(r: DoubleDouble<T>) -> (DoubleDouble<T>, DoubleDouble<T>) {
    (sine(r), cosine(r))
}

/// sin(n pi/2 + r), n = shifted - SHIFT.
#[inline(always)]
fn quadrant<T: VectorFloat>(shifted: T, r: DoubleDouble<T>) -> DoubleDouble<T> {
    let (s, c) = sin_cos_reduced(r);
    let odd = T::odd(shifted);
    let sign = T::bit(shifted, 1);
    dd(pick(odd, c.hi, s.hi).flip(sign), pick(odd, c.lo, s.lo).flip(sign))
}

/// sin(x) and cos(x). For x = -0 the high part of the sine is -0.
#[inline(always)]
pub fn sin_cos<T: VectorFloat>(x: T) -> (DoubleDouble<T>, DoubleDouble<T>) {
    let (shifted, r) = reduce(x);
    (quadrant(shifted, r), quadrant(shifted + T::ONE, r))
}

#[inline(always)]
pub fn sin<T: VectorFloat>(x: T) -> T {
    let (shifted, r) = reduce(x);
    pick(x == T::ZERO, x, quadrant(shifted, r).value())
}

#[inline(always)]
pub fn cos<T: VectorFloat>(x: T) -> T {
    let (shifted, r) = reduce(x);
    quadrant(shifted + T::ONE, r).value()
}

#[inline(always)]
pub fn tan<T: VectorFloat>(x: T) -> T {
    let (shifted, r) = reduce(x);
    let (s, c) = (sine(r).normalize(), cosine(r).normalize());
    let odd = T::odd(shifted);
    let n = dd(pick(odd, c.hi, s.hi), pick(odd, c.lo, s.lo));
    let d = dd(pick(odd, s.hi, c.hi), pick(odd, s.lo, c.lo));
    pick(x == T::ZERO, x, n.div(d).value().flip(T::bit(shifted, 0)))
}

/// pi v.
#[inline(always)]
pub fn times_pi<T: VectorFloat>(v: T) -> DoubleDouble<T> {
    let p = two_product(v, T::PI[0]);
    dd(p.hi, v.fma(T::PI[1], p.lo))
}

/// Arguments too large to be split into half integers and a rest by adding SHIFT.
#[inline(always)]
pub fn rare_sinc<T: VectorFloat>(x: T) -> bool {
    x.abs() * T::of(16.0) > T::SHIFT
}

/// sin(pi x) / (pi x), and 1 at 0.
#[inline(always)]
pub fn sinc<T: VectorFloat>(x: T) -> T {
    let x = x.abs();
    let shifted = (x + x) + T::SHIFT;
    let n = shifted - T::SHIFT;
    let f = x - n * T::HALF;
    let y = quadrant(shifted, times_pi(f)).normalize().div(times_pi(x)).value();
    // Near 0 the double-double quotient underflows.
    pick(x < T::EPSILON, T::ONE, y)
}
