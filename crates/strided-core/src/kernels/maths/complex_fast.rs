//! The fast bodies of complex functions, in vectors of real parts and of imaginary parts. They use the double-double results
//! from which the real functions are rounded; complex64 is computed in float64.
//!
//! The real part of the result is NaN where a fast body leaves the argument to the exact body in `complex_exact.rs`:
//! infinities, huge angles, magnitudes whose squares or exponentials overflow. A NaN and not a test of the argument, since
//! intermediate results decide it too: `z ** w` is the exponential of a product.

use super::double_double::{DoubleDouble, dd, fast_two_sum, two_product};
use super::exp::{ExpPair, exp_unscaled};
use super::vector_float::{VectorFloat, pick};
use super::{inverse_trig, log, roots, trig};
use num_complex::Complex;

/// Beyond this, an exponential or the square of its half may overflow.
const MAX_EXPONENT: f64 = 690.0;

/// `x + iy` if `valid`, else NaN in the real part.
#[inline(always)]
fn valid_or_nan<T: VectorFloat>(valid: bool, x: T, y: T) -> Complex<T> {
    Complex::new(pick(valid, x, T::NAN), y)
}

/// `a b` with little more than one rounding. The low parts may be some percent of the high ones.
#[inline(always)]
fn rounded_product<T: VectorFloat>(a: DoubleDouble<T>, b: DoubleDouble<T>) -> T {
    a.hi.fma(b.hi, a.hi.fma(b.lo, a.lo * b.value()))
}

/// `a a + b`.
#[inline(always)]
fn square_plus<T: VectorFloat>(a: DoubleDouble<T>, b: T) -> T {
    a.hi.fma(a.hi, (a.hi + a.value()).fma(a.lo, b))
}

/// Whether the fast bodies serve e^(exponent + i angle).
#[inline(always)]
fn in_range<T: VectorFloat>(exponent: T, angle: T) -> bool {
    (exponent.abs() < T::of(MAX_EXPONENT)) & (angle.abs() < T::TRIG_MAX)
}

#[inline(always)]
pub fn exp<T: VectorFloat>(z: Complex<T>) -> Complex<T> {
    let (sin, cos) = trig::sin_cos(z.im);
    let (m, power) = exp_unscaled(z.re);
    let m = m.mul_power(power);
    valid_or_nan(
        in_range(z.re, z.im),
        rounded_product(m, cos),
        pick(z.im == T::ZERO, z.im, rounded_product(m, sin)),
    )
}

/// Whether the square of the larger part neither overflows nor underflows.
#[inline(always)]
fn square_in_range<T: VectorFloat>(z: Complex<T>) -> bool {
    !roots::rare_hypot(z.re, z.im)
}

#[inline(always)]
pub fn log<T: VectorFloat>(z: Complex<T>) -> Complex<T> {
    let (a, b) = (z.re.abs(), z.im.abs());
    let (high, low) = (pick(a > b, a, b), pick(a > b, b, a));
    let (h, l) = (two_product(high, high), two_product(low, low));
    let s = fast_two_sum(h.hi, l.hi);
    // Half the logarithm of |z|^2, whose low part matters where |z| is near 1.
    let size = log::log_dd(s.hi, dd(s.lo + (h.lo + l.lo), T::ZERO), T::ZERO).value() * T::HALF;
    let valid = !inverse_trig::rare_atan2(z.im, z.re) & (s.hi > T::ZERO);
    valid_or_nan(valid, size, inverse_trig::atan2(z.im, z.re))
}

/// The square root of |re| + i |im|, and the magnitude: `(larger part, smaller part, |z|)`, none of them negative.
#[inline(always)]
fn root<T: VectorFloat>(z: Complex<T>) -> (T, T, T) {
    let (a, b) = (z.re.abs(), z.im.abs());
    let size = a.fma(a, b * b).sqrt();
    let large = ((a + size) * T::HALF).sqrt();
    (large, pick(b == T::ZERO, T::ZERO, b / (large + large)), size)
}

#[inline(always)]
pub fn sqrt<T: VectorFloat>(z: Complex<T>) -> Complex<T> {
    let (large, small, size) = root(z);
    let is_right = z.re >= T::ZERO;
    valid_or_nan(
        square_in_range(z) & (size >= T::ZERO),
        pick(is_right, large, small),
        pick(is_right, small, large).copysign(z.im),
    )
}

/// The conjugate of the square root, divided by |z|.
#[inline(always)]
pub fn rsqrt<T: VectorFloat>(z: Complex<T>) -> Complex<T> {
    let (large, small, size) = root(z);
    let (large, small) = (large / size, small / size);
    let is_right = z.re >= T::ZERO;
    let valid = square_in_range(z) & (size > T::ZERO);
    valid_or_nan(valid, pick(is_right, large, small), pick(is_right, small, large).copysign(-z.im))
}

/// sinh(x + iy) = sinh x cos y + i cosh x sin y, or with `is_cosh` cosh(x + iy) = cosh x cos y + i sinh x sin y.
#[inline(always)]
fn hyperbolic<T: VectorFloat>(x: T, y: T, is_cosh: bool) -> Complex<T> {
    let (sinh, cosh) = ExpPair::new(x).hyperbolic();
    let (sin, cos) = trig::sin_cos(y);
    let (re, im) = if is_cosh {
        (rounded_product(cosh, cos), rounded_product(sinh, sin))
    } else {
        (rounded_product(sinh, cos), rounded_product(cosh, sin))
    };
    // The sign of a zero is the product of the signs of its factors.
    let (x_is_zero, y_is_zero) = (x == T::ZERO, y == T::ZERO);
    let re = if is_cosh { re } else { pick(x_is_zero, x * cos.hi, re) };
    let im = if is_cosh { pick(x_is_zero | y_is_zero, x * sin.hi, im) } else { pick(y_is_zero, y, im) };
    valid_or_nan(in_range(x, y), re, im)
}

#[inline(always)]
pub fn sinh<T: VectorFloat>(z: Complex<T>) -> Complex<T> {
    hyperbolic(z.re, z.im, false)
}

#[inline(always)]
pub fn cosh<T: VectorFloat>(z: Complex<T>) -> Complex<T> {
    hyperbolic(z.re, z.im, true)
}

/// Swaps the parts, as in `complex_exact.rs`. The NaN that marks an invalid result stays in the real part.
#[inline(always)]
fn swap_parts<T: VectorFloat>(z: Complex<T>) -> Complex<T> {
    Complex::new(pick(z.re.is_nan(), z.re, z.im), z.re)
}

#[inline(always)]
pub fn sin<T: VectorFloat>(z: Complex<T>) -> Complex<T> {
    swap_parts(hyperbolic(z.im, z.re, false))
}

#[inline(always)]
pub fn cos<T: VectorFloat>(z: Complex<T>) -> Complex<T> {
    hyperbolic(-z.im, z.re, true)
}

/// `(sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y)`: nothing cancels.
#[inline(always)]
fn tangent<T: VectorFloat>(x: T, y: T) -> Complex<T> {
    // Squares of larger exponentials overflow.
    let limited = x.abs().at_most(T::of(MAX_EXPONENT * 0.5));
    let (sinh, cosh) = ExpPair::new(limited.copysign(x)).hyperbolic();
    let (sin, cos) = trig::sin_cos(y);
    let d = square_plus(sinh, square_plus(cos, T::ZERO));
    let re = pick(x == T::ZERO, x, rounded_product(sinh, cosh) / d);
    let im = pick(y == T::ZERO, y, rounded_product(sin, cos) / d);
    // From 22 on, the real part differs from 1 by less than half an ULP.
    valid_or_nan(in_range(x + x, y), pick(limited > T::of(22.0), T::ONE.copysign(x), re), im)
}

#[inline(always)]
pub fn tanh<T: VectorFloat>(z: Complex<T>) -> Complex<T> {
    tangent(z.re, z.im)
}

#[inline(always)]
pub fn tan<T: VectorFloat>(z: Complex<T>) -> Complex<T> {
    swap_parts(tangent(z.im, z.re))
}

/// With z = 2 (a + ib): `e^a (cosh a cos^2 b + sinh a sin^2 b) + i sin b cos b`, divided by `2 (sinh^2 a + cos^2 b)`. The sum
/// may cancel, but its terms are never larger than the magnitude of the result.
#[inline(always)]
pub fn sigmoid<T: VectorFloat>(z: Complex<T>) -> Complex<T> {
    let pair = ExpPair::new(z.re * T::HALF);
    let (sinh, cosh) = pair.hyperbolic();
    let (sin, cos) = trig::sin_cos(z.im * T::HALF);
    let square = square_plus(cos, T::ZERO);
    let d = square_plus(sinh, square);
    let half = T::HALF / d;
    let sum = cosh.hi.fma(square, cosh.lo * square);
    let sum = sinh.value().fma(square_plus(sin, T::ZERO), sum);
    let re = pair.exp() * sum * half;
    let im = pick(z.im == T::ZERO, z.im, rounded_product(sin, cos) * half);
    valid_or_nan(in_range(z.re, z.im), pick(z.re > T::of(40.0), T::ONE, re), im)
}

/// Small integer exponents, which the exact body computes by products.
#[inline(always)]
pub fn rare_pow<T: VectorFloat>(_z: Complex<T>, w: Complex<T>) -> bool {
    (w.im == T::ZERO) & (w.re.trunc() == w.re) & (w.re.abs() <= T::of(100.0))
}

/// z^w = e^(w log z), unless z is 0 or both are real.
#[inline(always)]
pub fn pow<T: VectorFloat>(z: Complex<T>, w: Complex<T>) -> Complex<T> {
    let l = log(z);
    let y = exp(Complex::new(w.re * l.re - w.im * l.im, w.re * l.im + w.im * l.re));
    let real = (z.im == T::ZERO) & (w.im == T::ZERO) & (z.re > T::ZERO);
    valid_or_nan(!real, y.re, y.im)
}

/// |z|, if its square is in range.
#[inline(always)]
pub fn abs<T: VectorFloat>(z: Complex<T>) -> T {
    pick(square_in_range(z), roots::hypot(z.re, z.im), T::NAN)
}

/// The angle of z, if its parts are in range.
#[inline(always)]
pub fn angle<T: VectorFloat>(z: Complex<T>) -> T {
    pick(inverse_trig::rare_atan2(z.im, z.re), T::NAN, inverse_trig::atan2(z.im, z.re))
}
