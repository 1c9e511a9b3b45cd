//! sin, cos, tan, and sinc.

use super::real::{Real, pick};
use super::two::{Two, product, sum, two};

/// Arguments whose reduction needs more words of pi than are at hand.
#[inline(always)]
pub fn rare<T: Real>(x: T) -> bool {
    x.abs() > T::TRIG_MAX
}

/// `(shifted, r)` with `x = n pi/2 + r`, n = shifted - SHIFT, |r| <= pi/4.
#[inline(always)]
fn reduced<T: Real>(x: T) -> (T, Two<T>) {
    let shifted = x.fma(T::TWO_OVER_PI[0], T::SHIFT);
    let n = shifted - T::SHIFT;
    // The first step is exact: both sides are multiples of an ULP of pi/2, and the difference is short.
    let first = (-n).fma(T::HALF_PI[0], x);
    // The second may cancel, near multiples of pi/2: it keeps two words.
    let p = product(n, T::HALF_PI[1]);
    let r = sum(first, -p.hi);
    (shifted, two(r.hi, (-n).fma(T::HALF_PI[2], r.lo - p.lo)))
}

/// sin(r) for |r| <= pi/4.
#[inline(always)]
fn sine<T: Real>(r: Two<T>) -> Two<T> {
    let z = r.hi * r.hi;
    let lo = (z * T::HALF).fma(-r.lo, r.lo);
    two(r.hi, (r.hi * z).fma(T::sin_poly(z), lo))
}

/// cos(r) for |r| <= pi/4.
#[inline(always)]
fn cosine<T: Real>(r: Two<T>) -> Two<T> {
    let z = r.hi * r.hi;
    let error = r.hi.fma(r.hi, -z);
    let half = z * T::HALF;
    let one = T::ONE - half;
    let lo = (T::ONE - one) - half;
    let tail = r.hi.fma(-r.lo, (z * z).fma(T::cos_poly(z), error * -T::HALF));
    two(one, lo + tail)
}

/// sin(r) and cos(r) for |r| <= pi/4.
#[inline(always)]
pub fn sine_cosine<T: Real>(r: Two<T>) -> (Two<T>, Two<T>) {
    (sine(r), cosine(r))
}

/// sin(n pi/2 + r).
#[inline(always)]
fn quadrant<T: Real>(shifted: T, r: Two<T>) -> Two<T> {
    let (s, c) = sine_cosine(r);
    let odd = T::odd(shifted);
    let sign = T::bit(shifted, 1);
    two(pick(odd, c.hi, s.hi).flip(sign), pick(odd, c.lo, s.lo).flip(sign))
}

/// sin(x) and cos(x); of a zero the first word of the sine has the sign.
#[inline(always)]
pub fn both<T: Real>(x: T) -> (Two<T>, Two<T>) {
    let (shifted, r) = reduced(x);
    (quadrant(shifted, r), quadrant(shifted + T::ONE, r))
}

#[inline(always)]
pub fn sin<T: Real>(x: T) -> T {
    let (shifted, r) = reduced(x);
    pick(x == T::ZERO, x, quadrant(shifted, r).value())
}

#[inline(always)]
pub fn cos<T: Real>(x: T) -> T {
    let (shifted, r) = reduced(x);
    quadrant(shifted + T::ONE, r).value()
}

#[inline(always)]
pub fn tan<T: Real>(x: T) -> T {
    let (shifted, r) = reduced(x);
    let (s, c) = (sine(r).normal(), cosine(r).normal());
    let odd = T::odd(shifted);
    let n = two(pick(odd, c.hi, s.hi), pick(odd, c.lo, s.lo));
    let d = two(pick(odd, s.hi, c.hi), pick(odd, s.lo, c.lo));
    pick(x == T::ZERO, x, n.div(d).value().flip(T::bit(shifted, 0)))
}

#[inline(always)]
pub fn times_pi<T: Real>(v: T) -> Two<T> {
    let p = product(v, T::PI[0]);
    two(p.hi, v.fma(T::PI[1], p.lo))
}

/// Arguments for which half integers cannot be told by the shift.
#[inline(always)]
pub fn rare_sinc<T: Real>(x: T) -> bool {
    x.abs() * T::of(16.0) > T::SHIFT
}

/// sin(pi x) / (pi x), and 1 at 0.
#[inline(always)]
pub fn sinc<T: Real>(x: T) -> T {
    let x = x.abs();
    let shifted = (x + x) + T::SHIFT;
    let n = shifted - T::SHIFT;
    let f = x - n * T::HALF;
    let y = quadrant(shifted, times_pi(f)).normal().div(times_pi(x)).value();
    // Near 0 the words underflow.
    pick(x < T::EPSILON, T::ONE, y)
}
