//! Logarithms and functions that are made of them: the inverse hyperbolic functions, logit, softplus, logaddexp, xlogy, powers.

use super::double_double::{DoubleDouble, dd, fast_two_sum, two_product, two_sum};
use super::exp::{exp_dd, exp_nonpositive};
use super::tables::log_direct_f32;
use super::vector_float::{VectorFloat, pick};
use super::via_f64;

/// `(f, k)` with `x = 2^k (1 + f)`, 1 + f in [sqrt(1/2), sqrt(2)), for any positive number.
#[inline(always)]
fn split<T: VectorFloat>(x: T) -> (T, T) {
    let low = x < T::TINY;
    let up = T::of((1u128 << 64) as f64);
    let (m, k) = (x * pick(low, up, T::ONE)).split();
    (m - T::ONE, k - pick(low, T::of(64.0), T::ZERO))
}

/// `log(1 + f) - f` for 1 + f in [sqrt(1/2), sqrt(2)).
#[inline(always)]
fn tail<T: VectorFloat>(f: T) -> T {
    if T::SINGLE {
        // A longer polynomial instead of a division. The conversions to float64 and back cancel.
        let p = T::of(log_direct_f32(f.widen() as f32) as f64);
        return (f * -T::HALF).fma(f, (f * f * f) * p);
    }
    let s = f / (T::TWO + f);
    let z = s * s;
    let half = f * T::HALF;
    // f^2/2 is rounded once where it is large, and once more in a small product.
    let rest = z.fma(T::log_poly(z), half * f);
    (-half).fma(f, s * rest)
}

/// `y`, the logarithm of x, if x is a positive finite number; else -inf, NaN or inf.
#[inline(always)]
fn with_edges<T: VectorFloat>(x: T, y: T) -> T {
    let y = pick(x < T::INFINITY, y, x);
    pick(x > T::ZERO, y, pick(x == T::ZERO, -T::INFINITY, T::NAN))
}

/// `k ln2 + f + c`, from the largest term to the smallest.
#[inline(always)]
fn assemble<T: VectorFloat>(k: T, f: T, c: T) -> DoubleDouble<T> {
    let s = fast_two_sum(k * T::LN2[0], f);
    dd(s.hi, s.lo + k.fma(T::LN2[1], c))
}

#[inline(always)]
pub fn log<T: VectorFloat>(x: T) -> T {
    let (f, k) = split(x);
    with_edges(x, assemble(k, f, tail(f)).value())
}

/// The logarithm of a positive normal number without double-double arithmetic. Near 1 its error is absolute, not relative.
#[inline(always)]
pub fn log_rough<T: VectorFloat>(x: T) -> T {
    let (m, k) = x.split();
    let f = m - T::ONE;
    k.fma(T::LN2_FULL[0], f + tail(f))
}

/// The logarithm to another base, given the logarithms of 2 and e to that base. The first number of `of_two` has few bits.
#[inline(always)]
fn log_to_base<T: VectorFloat>(x: T, of_two: [T; 3], of_e: [T; 3]) -> T {
    let (f, k) = split(x);
    let p = two_product(f, of_e[0]);
    let lo = tail(f).fma(of_e[0], f.fma(of_e[1], p.lo));
    let s = fast_two_sum(k * of_two[0], p.hi);
    with_edges(x, s.hi + (s.lo + k.fma(of_two[1], lo)))
}

#[inline(always)]
pub fn log2<T: VectorFloat>(x: T) -> T {
    log_to_base(x, [T::ONE, T::ZERO, T::ZERO], T::LOG2_E)
}

#[inline(always)]
pub fn log10<T: VectorFloat>(x: T) -> T {
    log_to_base(x, T::LOG10_2, T::LOG10_E)
}

/// `log(u + c) + extra ln2`, for positive normal u and |c| of at most a few ULP of u, or u = 1.
#[inline(always)]
pub fn log_dd<T: VectorFloat>(u: T, c: DoubleDouble<T>, extra: T) -> DoubleDouble<T> {
    let (m, k) = u.split();
    let power = T::inverse_power(k);
    let f = fast_two_sum(m - T::ONE, c.hi * power);
    let f = dd(f.hi, c.lo.fma(power, f.lo));
    // The derivative of the logarithm, 1 / (1 + f), as a series up to f^3.
    let w = T::ONE - f.hi;
    let slope = (f.hi * f.hi).fma(w, w);
    assemble(k + extra, f.hi, f.lo.fma(slope, tail(f.hi)))
}

/// `log(1 + a) + extra ln2`, where 1 + a is a normal number.
#[inline(always)]
fn log1p_dd<T: VectorFloat>(a: DoubleDouble<T>, extra: T) -> DoubleDouble<T> {
    let u = two_sum(T::ONE, a.hi);
    log_dd(u.hi, dd(u.lo + a.lo, T::ZERO), extra)
}

#[inline(always)]
pub fn log1p<T: VectorFloat>(x: T) -> T {
    let u = two_sum(T::ONE, x.at_most(T::MAX));
    let y = log_dd(u.hi, dd(u.lo, T::ZERO), T::ZERO).value();
    pick(x.abs() < T::EPSILON, x, with_edges(x + T::ONE, y))
}

/// asinh of a finite number y >= 0, in double-double arithmetic.
#[inline(always)]
fn asinh_dd<T: VectorFloat>(y: T) -> T {
    let large = y > T::ASINH_LARGE;
    // log(x + sqrt(x^2 + 1)) = log1p(x + x^2 / (1 + sqrt(x^2 + 1))); for large x, log(x) + ln2.
    let square = two_product(y, y);
    let root = square.add_scalar(T::ONE).sqrt();
    let d = fast_two_sum(T::ONE.at_least(root.hi), T::ONE.at_most(root.hi));
    let q = square.div(dd(d.hi, d.lo + root.lo));
    let a = fast_two_sum(y, q.hi);
    let a = dd(pick(large, y.at_most(T::MAX), a.hi), pick(large, T::ZERO, a.lo + q.lo));
    log1p_dd(a, pick(large, T::ONE, T::ZERO)).value()
}

#[inline(always)]
pub fn asinh<T: VectorFloat>(x: T) -> T {
    let y = x.abs();
    let v = if T::SINGLE { T::of(via_f64::asinh(y.widen())) } else { asinh_dd(y) };
    let v = pick(y < T::INFINITY, v, y);
    pick(y < T::EPSILON, x, v.copysign(x))
}

/// acosh of a finite number x >= 1, in double-double arithmetic.
#[inline(always)]
fn acosh_dd<T: VectorFloat>(x: T) -> T {
    let large = x > T::ASINH_LARGE;
    // log1p(t + sqrt(t (t + 2))), t = x - 1.
    let t = two_sum(x.at_most(T::ASINH_LARGE), -T::ONE);
    let root = t.mul(t.add_scalar(T::TWO)).sqrt();
    let a = root.add(t);
    let a = dd(pick(large, x.at_most(T::MAX), a.hi), pick(large, T::ZERO, a.lo));
    log1p_dd(a, pick(large, T::ONE, T::ZERO)).value()
}

#[inline(always)]
pub fn acosh<T: VectorFloat>(x: T) -> T {
    let v = if T::SINGLE { T::of(via_f64::acosh(x.widen())) } else { acosh_dd(x) };
    let v = pick(x < T::INFINITY, v, x);
    pick(x >= T::ONE, v, T::NAN)
}

/// atanh of a number in [0, 1), in double-double arithmetic.
#[inline(always)]
fn atanh_dd<T: VectorFloat>(y: T) -> T {
    let d = fast_two_sum(T::ONE, -y.at_most(T::ONE - T::EPSILON));
    let a = dd(y + y, T::ZERO).div(d);
    log1p_dd(a.normalize(), T::ZERO).value() * T::HALF
}

#[inline(always)]
pub fn atanh<T: VectorFloat>(x: T) -> T {
    let y = x.abs();
    let v = if T::SINGLE { T::of(via_f64::atanh(y.widen())) } else { atanh_dd(y) };
    let v = pick(y < T::ONE, v, pick(y == T::ONE, T::INFINITY, T::NAN));
    pick(y < T::EPSILON, x, v.copysign(x))
}

/// log(x / (1 - x)) of a number in [TINY, 1).
#[inline(always)]
pub fn logit<T: VectorFloat>(x: T) -> T {
    if T::SINGLE {
        return T::of(via_f64::logit(x.widen()));
    }
    let a = dd(x, T::ZERO).div(two_sum(T::ONE, -x)).normalize();
    log_dd(a.hi, dd(a.lo, T::ZERO), T::ZERO).value()
}

#[inline(always)]
pub fn rare_logit<T: VectorFloat>(x: T) -> bool {
    !((x >= T::TINY) & (x < T::ONE))
}

/// Below TINY the quotient is x itself; from 1 on it is infinite or negative.
#[inline(always)]
pub fn logit_edges<T: VectorFloat>(x: T) -> T {
    pick(x < T::ONE, log(x), pick(x == T::ONE, T::INFINITY, T::NAN))
}

/// log(1 + e^d) for d <= 0.
#[inline(always)]
fn log1p_exp<T: VectorFloat>(d: DoubleDouble<T>) -> DoubleDouble<T> {
    let (e, rounded) = exp_nonpositive(dd(d.hi.at_least(T::EXP_MIN), d.lo));
    // Where e is below an ULP of 1, all of it is in the second argument of `log_dd`.
    let u = two_sum(T::ONE, e.hi);
    let v = log_dd(u.hi, fast_two_sum(u.lo, e.lo), T::ZERO);
    // Where e^d is below an ULP of 1, log(1 + e^d) is e^d, down to subnormal numbers.
    let tiny = d.hi < T::of(-40.0);
    dd(pick(tiny, rounded, v.hi), pick(tiny, T::ZERO, v.lo))
}

/// `high + v`, rounded.
#[inline(always)]
fn add_rounded<T: VectorFloat>(high: T, v: DoubleDouble<T>) -> T {
    let s = two_sum(high, v.hi);
    s.hi + (s.lo + v.lo)
}

/// log(1 + e^x).
#[inline(always)]
pub fn softplus<T: VectorFloat>(x: T) -> T {
    let y = if T::SINGLE {
        T::of(x.widen().at_least(0.0) + via_f64::log1p_exp(-x.widen().abs()))
    } else {
        add_rounded(x.at_least(T::ZERO), log1p_exp(dd(-x.abs(), T::ZERO)))
    };
    pick(x < T::INFINITY, y, x)
}

/// log(e^a + e^b), unless one of the terms is lost beside the other.
#[inline(always)]
pub fn logaddexp<T: VectorFloat>(a: T, b: T) -> T {
    let high = pick(a > b, a, b);
    let low = pick(a > b, b, a);
    // The sum may cancel. In float32, double-double arithmetic would not be enough, so it is computed in float64.
    if T::SINGLE {
        let high = high.widen();
        return T::of(high + via_f64::log1p_exp(low.widen() - high));
    }
    add_rounded(high, log1p_exp(two_sum(low, -high)))
}

#[inline(always)]
pub fn rare_logaddexp<T: VectorFloat>(a: T, b: T) -> bool {
    (a - b).is_beyond(-T::EXP_MIN)
}

/// log2(2^a + 2^b), unless one of the terms is lost beside the other.
#[inline(always)]
pub fn logaddexp2<T: VectorFloat>(a: T, b: T) -> T {
    use std::f64::consts::{LN_2, LOG2_E};
    let high = pick(a > b, a, b);
    let low = pick(a > b, b, a);
    if T::SINGLE {
        let high = high.widen();
        return T::of(high + via_f64::log1p_exp((low.widen() - high) * LN_2) * LOG2_E);
    }
    let [ln2, log2_e] = [dd(T::LN2_FULL[0], T::LN2_FULL[1]), dd(T::LOG2_E[0], T::LOG2_E[1])];
    add_rounded(high, log1p_exp(two_sum(low, -high).mul(ln2)).mul(log2_e))
}

#[inline(always)]
pub fn rare_logaddexp2<T: VectorFloat>(a: T, b: T) -> bool {
    (a - b).is_beyond(-T::EXP2_MIN)
}

/// logaddexp and logaddexp2 where one of the terms is lost beside the other: the larger one, or NaN.
#[inline(always)]
pub fn logaddexp_edges<T: VectorFloat>(a: T, b: T) -> T {
    pick(a.is_nan() | b.is_nan(), a + b, pick(a > b, a, b) + T::ZERO)
}

/// x log(y), and 0 where x is 0, unless y is NaN.
#[inline(always)]
pub fn xlogy<T: VectorFloat>(x: T, y: T) -> T {
    // The low part of a small float32 product underflows; in float64 it does not.
    let v = if T::SINGLE { T::of(x.widen() * via_f64::ln(y.widen())) } else { xlogy_dd(x, y) };
    let inside = (y > T::ZERO) & (y < T::INFINITY) & (x.abs() < T::INFINITY);
    let v = pick(inside, v, x * with_edges(y, y - T::ONE));
    pick((x == T::ZERO) & !y.is_nan(), T::ZERO, v)
}

/// x log(y) for finite x and positive finite y, in double-double arithmetic.
#[inline(always)]
fn xlogy_dd<T: VectorFloat>(x: T, y: T) -> T {
    let (f, k) = split(y);
    let v = assemble(k, f, tail(f)).normalize();
    x.fma(v.hi, x * v.lo)
}

/// The logarithm of a positive number as a double-double, precise to about 12 bits more than T.
#[inline(always)]
pub fn log_precise<T: VectorFloat>(x: T) -> DoubleDouble<T> {
    log_unnormalized(x).normalize()
}

/// [`log_precise`], not normalized: the low part may be a few ULP of the high one.
#[inline(always)]
fn log_unnormalized<T: VectorFloat>(x: T) -> DoubleDouble<T> {
    let (f, k) = split(x);
    // 2 atanh(s) = 2s + 2/3 s^3 + s^5 (...): the smaller a term, the less precision it needs.
    let s = dd(f, T::ZERO).div(fast_two_sum(T::TWO, f));
    let z = two_product(s.hi, s.hi);
    let z = dd(z.hi, (s.hi + s.hi).fma(s.lo, z.lo));
    let cube = z.mul(s);
    let third = two_product(cube.hi, T::TWO_THIRDS[0]);
    let rest = cube.lo.fma(T::TWO_THIRDS[0], cube.hi.fma(T::TWO_THIRDS[1], third.lo));
    let rest = cube.hi.fma(z.hi * T::log_tail_poly(z.hi), rest);
    let base = fast_two_sum(k * T::LN2[0], s.hi + s.hi);
    let total = fast_two_sum(base.hi, third.hi);
    dd(total.hi, total.lo + (base.lo + (k.fma(T::LN2[1], s.lo + s.lo) + rest)))
}

/// x^y for positive finite x and |y| <= POW_MAX, in double-double arithmetic.
#[inline(always)]
fn pow_dd<T: VectorFloat>(x: T, y: T) -> T {
    let l = log_unnormalized(x).mul_scalar(y).normalize();
    // The result is 0 or infinity, and the low part may be NaN.
    let overflows = l.hi.abs() > T::of(2000.0);
    exp_dd(dd(l.hi, pick(overflows, T::ZERO, l.lo)))
}

/// Whether the sign or magnitude of the base, or a huge exponent, needs [`pow_edges`].
#[inline(always)]
pub fn rare_pow<T: VectorFloat>(x: T, y: T) -> bool {
    !((x > T::ZERO) & (x < T::INFINITY) & (y.abs() < T::POW_MAX))
}

/// x^y for positive finite x and |y| < POW_MAX; for other arguments, |x|^y as [`pow_edges`] expects it.
#[inline(always)]
pub fn pow_inside<T: VectorFloat>(x: T, y: T) -> T {
    let size = x.abs();
    if T::SINGLE { T::of(via_f64::pow(size.widen(), y.widen())) } else { pow_dd(size, y) }
}

/// x^y of any numbers, given the result of [`pow_inside`].
#[inline(always)]
pub fn pow_edges<T: VectorFloat>(x: T, y: T, v: T) -> T {
    let size = x.abs();
    // Huge exponents give 0 or infinity, depending on whether |x| is below or above 1.
    let huge = y.abs() >= T::POW_MAX;
    let grows = (size > T::ONE) == (y > T::ZERO);
    let edge = huge | (size == T::ZERO) | (size == T::INFINITY);
    let v = pick(edge, pick(grows, T::INFINITY, T::ZERO), v);
    // Numbers from 1/EPSILON on are even integers.
    let small = pick(y.abs() >= T::ONE / T::EPSILON, T::ZERO, y);
    let integer = small.trunc() == small;
    let half = small * T::HALF;
    let odd = integer & (half.trunc() != half);
    let v = pick(odd, v.copysign(x), v);
    let v = pick((x < T::ZERO) & !integer & (size < T::INFINITY), T::NAN, v);
    let v = pick(x.is_nan() | y.is_nan(), T::NAN, v);
    pick((x == T::ONE) | (y == T::ZERO) | ((x == -T::ONE) & huge), T::ONE, v)
}

/// x^3, from the square as a double-double: with two roundings the error may reach 1.2 ULP.
#[inline(always)]
pub fn cube<T: VectorFloat>(x: T) -> T {
    let square = x * x;
    let rest = x.fma(x, -square) * x;
    // Where the square overflows, the rest would cancel the infinity or is NaN.
    square.fma(x, pick(rest.abs() < T::INFINITY, rest, T::ZERO))
}
