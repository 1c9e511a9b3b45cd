//! The fast bodies of complex functions: vectors of real parts and of imaginary ones. What they leave to the exact ones of
//! `complex.rs` they give as NaN: infinities, huge angles, and sizes whose squares or exponentials leave the range.

use super::arc;
use super::exp::{Powers, exp_words};
use super::log;
use super::real::{Real, pick};
use super::trig;
use super::two::{Two, product, quick_sum, two};
use num_complex::Complex;

/// Beyond this an exponential, or its half's square, may leave the range.
const FAR: f64 = 690.0;

/// A number, unless this says that it does not count.
#[inline(always)]
fn known<T: Real>(is_known: bool, x: T, y: T) -> Complex<T> {
    Complex::new(pick(is_known, x, T::NAN), y)
}

/// `a b`, rounded once and a little; the second words may be some percent of the first.
#[inline(always)]
fn rounded<T: Real>(a: Two<T>, b: Two<T>) -> T {
    a.hi.fma(b.hi, a.hi.fma(b.lo, a.lo * b.value()))
}

/// `a a + b`.
#[inline(always)]
fn square_and<T: Real>(a: Two<T>, b: T) -> T {
    a.hi.fma(a.hi, (a.hi + a.value()).fma(a.lo, b))
}

/// Whether an exponential and an angle are within reach.
#[inline(always)]
fn is_near<T: Real>(size: T, angle: T) -> bool {
    (size.abs() < T::of(FAR)) & (angle.abs() < T::TRIG_MAX)
}

#[inline(always)]
pub fn exp<T: Real>(z: Complex<T>) -> Complex<T> {
    let (sin, cos) = trig::both(z.im);
    let (m, power) = exp_words(z.re);
    let m = m.times(power);
    known(is_near(z.re, z.im), rounded(m, cos), pick(z.im == T::ZERO, z.im, rounded(m, sin)))
}

/// Whether squares of the larger part neither overflow nor vanish.
#[inline(always)]
fn is_moderate<T: Real>(z: Complex<T>) -> bool {
    !arc::rare_hypot(z.re, z.im)
}

#[inline(always)]
pub fn log<T: Real>(z: Complex<T>) -> Complex<T> {
    let (a, b) = (z.re.abs(), z.im.abs());
    let (high, low) = (pick(a > b, a, b), pick(a > b, b, a));
    let (h, l) = (product(high, high), product(low, low));
    let s = quick_sum(h.hi, l.hi);
    // Half the logarithm of the square, whose second word is what counts near 1.
    let size = log::log_two(s.hi, two(s.lo + (h.lo + l.lo), T::ZERO), T::ZERO).value() * T::HALF;
    let is_known = !arc::rare_atan2(z.im, z.re) & (s.hi > T::ZERO);
    known(is_known, size, arc::atan2(z.im, z.re))
}

/// The root of the half plane with positive real parts: `(larger part, smaller part, |z|)`, none of them negative.
#[inline(always)]
fn root<T: Real>(z: Complex<T>) -> (T, T, T) {
    let (a, b) = (z.re.abs(), z.im.abs());
    let size = a.fma(a, b * b).sqrt();
    let large = ((a + size) * T::HALF).sqrt();
    (large, pick(b == T::ZERO, T::ZERO, b / (large + large)), size)
}

#[inline(always)]
pub fn sqrt<T: Real>(z: Complex<T>) -> Complex<T> {
    let (large, small, size) = root(z);
    let ahead = z.re >= T::ZERO;
    known(
        is_moderate(z) & (size >= T::ZERO),
        pick(ahead, large, small),
        pick(ahead, small, large).copysign(z.im),
    )
}

/// The root's conjugate, divided by the size.
#[inline(always)]
pub fn rsqrt<T: Real>(z: Complex<T>) -> Complex<T> {
    let (large, small, size) = root(z);
    let (large, small) = (large / size, small / size);
    let ahead = z.re >= T::ZERO;
    let is_known = is_moderate(z) & (size > T::ZERO);
    known(is_known, pick(ahead, large, small), pick(ahead, small, large).copysign(-z.im))
}

/// `(sinh x cos y, cosh x sin y)`, or with `transposed` hyperbolic functions `(cosh x cos y, sinh x sin y)`.
#[inline(always)]
fn hyperbolic<T: Real>(x: T, y: T, transposed: bool) -> Complex<T> {
    let (sinh, cosh) = Powers::new(x).hyperbolic();
    let (sin, cos) = trig::both(y);
    let (re, im) = if transposed {
        (rounded(cosh, cos), rounded(sinh, sin))
    } else {
        (rounded(sinh, cos), rounded(cosh, sin))
    };
    // Zeros keep the signs of their factors.
    let (still, flat) = (x == T::ZERO, y == T::ZERO);
    let re = if transposed { re } else { pick(still, x * cos.hi, re) };
    let im = if transposed { pick(still | flat, x * sin.hi, im) } else { pick(flat, y, im) };
    known(is_near(x, y), re, im)
}

#[inline(always)]
pub fn sinh<T: Real>(z: Complex<T>) -> Complex<T> {
    hyperbolic(z.re, z.im, false)
}

#[inline(always)]
pub fn cosh<T: Real>(z: Complex<T>) -> Complex<T> {
    hyperbolic(z.re, z.im, true)
}

/// The parts swapped: see `complex.rs`. What is unknown is so in the real part.
#[inline(always)]
fn transposed<T: Real>(z: Complex<T>) -> Complex<T> {
    Complex::new(pick(z.re.is_nan(), z.re, z.im), z.re)
}

#[inline(always)]
pub fn sin<T: Real>(z: Complex<T>) -> Complex<T> {
    transposed(hyperbolic(z.im, z.re, false))
}

#[inline(always)]
pub fn cos<T: Real>(z: Complex<T>) -> Complex<T> {
    hyperbolic(-z.im, z.re, true)
}

/// `(sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y)`: nothing cancels.
#[inline(always)]
fn tangent<T: Real>(x: T, y: T) -> Complex<T> {
    // Squares of larger ones leave the range.
    let near = x.abs().at_most(T::of(FAR * 0.5));
    let (sinh, cosh) = Powers::new(near.copysign(x)).hyperbolic();
    let (sin, cos) = trig::both(y);
    let d = square_and(sinh, square_and(cos, T::ZERO));
    let re = pick(x == T::ZERO, x, rounded(sinh, cosh) / d);
    let im = pick(y == T::ZERO, y, rounded(sin, cos) / d);
    // (From 22 on the difference from 1 is below half an ULP.)
    known(is_near(x + x, y), pick(near > T::of(22.0), T::ONE.copysign(x), re), im)
}

#[inline(always)]
pub fn tanh<T: Real>(z: Complex<T>) -> Complex<T> {
    tangent(z.re, z.im)
}

#[inline(always)]
pub fn tan<T: Real>(z: Complex<T>) -> Complex<T> {
    transposed(tangent(z.im, z.re))
}

/// With z = 2 (a + ib): `e^a (cosh a cos^2 b + sinh a sin^2 b) + i sin b cos b`, over twice `sinh^2 a + cos^2 b`. The sum may
/// cancel, but its terms are never larger than the result's size.
#[inline(always)]
pub fn sigmoid<T: Real>(z: Complex<T>) -> Complex<T> {
    let powers = Powers::new(z.re * T::HALF);
    let (sinh, cosh) = powers.hyperbolic();
    let (sin, cos) = trig::both(z.im * T::HALF);
    let square = square_and(cos, T::ZERO);
    let d = square_and(sinh, square);
    let half = T::HALF / d;
    let sum = cosh.hi.fma(square, cosh.lo * square);
    let sum = sinh.value().fma(square_and(sin, T::ZERO), sum);
    let re = powers.exp() * sum * half;
    let im = pick(z.im == T::ZERO, z.im, rounded(sin, cos) * half);
    known(is_near(z.re, z.im), pick(z.re > T::of(40.0), T::ONE, re), im)
}

/// Powers of whole numbers are products.
#[inline(always)]
pub fn rare_pow<T: Real>(_z: Complex<T>, w: Complex<T>) -> bool {
    (w.im == T::ZERO) & (w.re.trunc() == w.re) & (w.re.abs() <= T::of(100.0))
}

/// z^w = e^(w log z), unless z is 0 or the power is one of real numbers.
#[inline(always)]
pub fn pow<T: Real>(z: Complex<T>, w: Complex<T>) -> Complex<T> {
    let l = log(z);
    let y = exp(Complex::new(w.re * l.re - w.im * l.im, w.re * l.im + w.im * l.re));
    let real = (z.im == T::ZERO) & (w.im == T::ZERO) & (z.re > T::ZERO);
    known(!real, y.re, y.im)
}

/// |z| of a number whose square is in range.
#[inline(always)]
pub fn abs<T: Real>(z: Complex<T>) -> T {
    pick(is_moderate(z), arc::hypot(z.re, z.im), T::NAN)
}

/// The angle of a number whose parts are in range.
#[inline(always)]
pub fn angle<T: Real>(z: Complex<T>) -> T {
    pick(arc::rare_atan2(z.im, z.re), T::NAN, arc::atan2(z.im, z.re))
}
