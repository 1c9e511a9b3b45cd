//! log x, what is made of it, and powers.

use super::exp::{exp_parts, exp_two};
use super::light;
use super::real::{Real, pick};
use super::tables::log_direct_f32;
use super::two::{Two, product, quick_sum, sum, two};

/// `(f, k)` with `x = 2^k (1 + f)`, 1 + f in [sqrt(1/2), sqrt(2)), for any positive number.
#[inline(always)]
fn split<T: Real>(x: T) -> (T, T) {
    let low = x < T::TINY;
    let up = T::of((1u128 << 64) as f64);
    let (m, k) = (x * pick(low, up, T::ONE)).split();
    (m - T::ONE, k - pick(low, T::of(64.0), T::ZERO))
}

/// `log(1 + f) - f` for 1 + f in [sqrt(1/2), sqrt(2)).
#[inline(always)]
fn tail<T: Real>(f: T) -> T {
    if T::SINGLE {
        // A longer polynomial instead of a division. (The conversions cancel.)
        let p = T::of(log_direct_f32(f.widen() as f32) as f64);
        return (f * -T::HALF).fma(f, (f * f * f) * p);
    }
    let s = f / (T::TWO + f);
    let z = s * s;
    let half = f * T::HALF;
    // The half square is rounded once where it counts, and once more in a small product.
    let rest = z.fma(T::log_poly(z), half * f);
    (-half).fma(f, s * rest)
}

/// `log(x)` where x is a positive finite number; elsewhere what logarithms give: -inf, NaN, inf.
#[inline(always)]
fn outside<T: Real>(x: T, y: T) -> T {
    let y = pick(x < T::INFINITY, y, x);
    pick(x > T::ZERO, y, pick(x == T::ZERO, -T::INFINITY, T::NAN))
}

/// `k ln2 + f + c`, the largest words first.
#[inline(always)]
fn assemble<T: Real>(k: T, f: T, c: T) -> Two<T> {
    let s = quick_sum(k * T::LN2[0], f);
    two(s.hi, s.lo + k.fma(T::LN2[1], c))
}

#[inline(always)]
pub fn log<T: Real>(x: T) -> T {
    let (f, k) = split(x);
    outside(x, assemble(k, f, tail(f)).value())
}

/// The logarithm of a positive normal number, rounded more than once: the error is absolute, near 0.
#[inline(always)]
pub fn log_plain<T: Real>(x: T) -> T {
    let (m, k) = x.split();
    let f = m - T::ONE;
    k.fma(T::LN2_FULL[0], f + tail(f))
}

/// The logarithm in another base: `unit` is that of 2 (the first word short), `scale` that of e.
#[inline(always)]
fn log_in<T: Real>(x: T, unit: [T; 3], scale: [T; 3]) -> T {
    let (f, k) = split(x);
    let p = product(f, scale[0]);
    let lo = tail(f).fma(scale[0], f.fma(scale[1], p.lo));
    let s = quick_sum(k * unit[0], p.hi);
    outside(x, s.hi + (s.lo + k.fma(unit[1], lo)))
}

#[inline(always)]
pub fn log2<T: Real>(x: T) -> T {
    log_in(x, [T::ONE, T::ZERO, T::ZERO], T::LOG2_E)
}

#[inline(always)]
pub fn log10<T: Real>(x: T) -> T {
    log_in(x, T::LOG10_2, T::LOG10_E)
}

/// `log(u + c)` plus `extra` times ln2, for positive normal u and |c| of at most a few ULP of u, or u = 1.
#[inline(always)]
pub fn log_two<T: Real>(u: T, c: Two<T>, extra: T) -> Two<T> {
    let (m, k) = u.split();
    let power = T::inverse_power(k);
    let f = quick_sum(m - T::ONE, c.hi * power);
    let f = two(f.hi, c.lo.fma(power, f.lo));
    // The derivative 1 / (1 + f), to f^4.
    let w = T::ONE - f.hi;
    let slope = (f.hi * f.hi).fma(w, w);
    assemble(k + extra, f.hi, f.lo.fma(slope, tail(f.hi)))
}

/// `log(1 + a)` plus `extra` times ln2, for 1 + a a normal number.
#[inline(always)]
fn log1p_two<T: Real>(a: Two<T>, extra: T) -> Two<T> {
    let u = sum(T::ONE, a.hi);
    log_two(u.hi, two(u.lo + a.lo, T::ZERO), extra)
}

#[inline(always)]
pub fn log1p<T: Real>(x: T) -> T {
    let u = sum(T::ONE, x.at_most(T::MAX));
    let y = log_two(u.hi, two(u.lo, T::ZERO), T::ZERO).value();
    pick(x.abs() < T::EPSILON, x, outside(x + T::ONE, y))
}

/// asinh of a number from 0 on, infinity excepted.
#[inline(always)]
fn asinh_words<T: Real>(y: T) -> T {
    let large = y > T::ASINH_LARGE;
    // log(x + sqrt(x^2 + 1)) = log1p(x + x^2 / (1 + sqrt(x^2 + 1))); of large numbers log(x) + ln2.
    let square = product(y, y);
    let root = square.add_word(T::ONE).sqrt();
    let d = quick_sum(T::ONE.at_least(root.hi), T::ONE.at_most(root.hi));
    let q = square.div(two(d.hi, d.lo + root.lo));
    let a = quick_sum(y, q.hi);
    let a = two(pick(large, y.at_most(T::MAX), a.hi), pick(large, T::ZERO, a.lo + q.lo));
    log1p_two(a, pick(large, T::ONE, T::ZERO)).value()
}

#[inline(always)]
pub fn asinh<T: Real>(x: T) -> T {
    let y = x.abs();
    let v = if T::SINGLE { T::of(light::asinh(y.widen())) } else { asinh_words(y) };
    let v = pick(y < T::INFINITY, v, y);
    pick(y < T::EPSILON, x, v.copysign(x))
}

/// acosh of a number from 1 on, infinity excepted.
#[inline(always)]
fn acosh_words<T: Real>(x: T) -> T {
    let large = x > T::ASINH_LARGE;
    // log1p(t + sqrt(t (t + 2))), t = x - 1.
    let t = sum(x.at_most(T::ASINH_LARGE), -T::ONE);
    let root = t.mul(t.add_word(T::TWO)).sqrt();
    let a = root.add(t);
    let a = two(pick(large, x.at_most(T::MAX), a.hi), pick(large, T::ZERO, a.lo));
    log1p_two(a, pick(large, T::ONE, T::ZERO)).value()
}

#[inline(always)]
pub fn acosh<T: Real>(x: T) -> T {
    let v = if T::SINGLE { T::of(light::acosh(x.widen())) } else { acosh_words(x) };
    let v = pick(x < T::INFINITY, v, x);
    pick(x >= T::ONE, v, T::NAN)
}

/// atanh of a number in [0, 1).
#[inline(always)]
fn atanh_words<T: Real>(y: T) -> T {
    let d = quick_sum(T::ONE, -y.at_most(T::ONE - T::EPSILON));
    let a = two(y + y, T::ZERO).div(d);
    log1p_two(a.normal(), T::ZERO).value() * T::HALF
}

#[inline(always)]
pub fn atanh<T: Real>(x: T) -> T {
    let y = x.abs();
    let v = if T::SINGLE { T::of(light::atanh(y.widen())) } else { atanh_words(y) };
    let v = pick(y < T::ONE, v, pick(y == T::ONE, T::INFINITY, T::NAN));
    pick(y < T::EPSILON, x, v.copysign(x))
}

/// log(x / (1 - x)) of a number in [TINY, 1).
#[inline(always)]
pub fn logit<T: Real>(x: T) -> T {
    if T::SINGLE {
        return T::of(light::logit(x.widen()));
    }
    let a = two(x, T::ZERO).div(sum(T::ONE, -x)).normal();
    log_two(a.hi, two(a.lo, T::ZERO), T::ZERO).value()
}

#[inline(always)]
pub fn rare_logit<T: Real>(x: T) -> bool {
    !((x >= T::TINY) & (x < T::ONE))
}

/// Below TINY the quotient is x itself; from 1 on it is infinite or negative.
#[inline(always)]
pub fn logit_edges<T: Real>(x: T) -> T {
    pick(x < T::ONE, log(x), pick(x == T::ONE, T::INFINITY, T::NAN))
}

/// log(1 + e^d) for d <= 0, in two words.
#[inline(always)]
fn log1p_exp<T: Real>(d: Two<T>) -> Two<T> {
    let (e, rounded) = exp_parts(two(d.hi.at_least(T::EXP_MIN), d.lo));
    // Where e is below an ULP of 1, all of it is in the second argument.
    let u = sum(T::ONE, e.hi);
    let v = log_two(u.hi, quick_sum(u.lo, e.lo), T::ZERO);
    // Where e^d is less than an ULP of 1, its logarithm is itself, down to subnormals.
    let far = d.hi < T::of(-40.0);
    two(pick(far, rounded, v.hi), pick(far, T::ZERO, v.lo))
}

/// A word and two words.
#[inline(always)]
fn total<T: Real>(high: T, v: Two<T>) -> T {
    let s = sum(high, v.hi);
    s.hi + (s.lo + v.lo)
}

/// log(1 + e^x).
#[inline(always)]
pub fn softplus<T: Real>(x: T) -> T {
    let y = if T::SINGLE {
        T::of(x.widen().at_least(0.0) + light::log1p_exp(-x.widen().abs()))
    } else {
        total(x.at_least(T::ZERO), log1p_exp(two(-x.abs(), T::ZERO)))
    };
    pick(x < T::INFINITY, y, x)
}

/// log(e^a + e^b) of numbers that both count.
#[inline(always)]
pub fn logaddexp<T: Real>(a: T, b: T) -> T {
    let high = pick(a > b, a, b);
    let low = pick(a > b, b, a);
    // The sum may cancel: float32 would take more than two words of its own, and goes through float64.
    if T::SINGLE {
        let high = high.widen();
        return T::of(high + light::log1p_exp(low.widen() - high));
    }
    total(high, log1p_exp(sum(low, -high)))
}

#[inline(always)]
pub fn rare_logaddexp<T: Real>(a: T, b: T) -> bool {
    (a - b).is_beyond(-T::EXP_MIN)
}

/// log2(2^a + 2^b) of numbers that both count.
#[inline(always)]
pub fn logaddexp2<T: Real>(a: T, b: T) -> T {
    use std::f64::consts::{LN_2, LOG2_E};
    let high = pick(a > b, a, b);
    let low = pick(a > b, b, a);
    if T::SINGLE {
        let high = high.widen();
        return T::of(high + light::log1p_exp((low.widen() - high) * LN_2) * LOG2_E);
    }
    let [ln2, log2_e] = [two(T::LN2_FULL[0], T::LN2_FULL[1]), two(T::LOG2_E[0], T::LOG2_E[1])];
    total(high, log1p_exp(sum(low, -high).mul(ln2)).mul(log2_e))
}

#[inline(always)]
pub fn rare_logaddexp2<T: Real>(a: T, b: T) -> bool {
    (a - b).is_beyond(-T::EXP2_MIN)
}

/// The same of others: NaN, or the larger one.
#[inline(always)]
pub fn logaddexp_edges<T: Real>(a: T, b: T) -> T {
    pick(a.is_nan() | b.is_nan(), a + b, pick(a > b, a, b) + T::ZERO)
}

/// x log(y), and 0 where x is 0, unless y is NaN.
#[inline(always)]
pub fn xlogy<T: Real>(x: T, y: T) -> T {
    // Small float32 products would lose their second word: float64 keeps it.
    let v = if T::SINGLE { T::of(x.widen() * light::ln(y.widen())) } else { xlogy_words(x, y) };
    let inside = (y > T::ZERO) & (y < T::INFINITY) & (x.abs() < T::INFINITY);
    let v = pick(inside, v, x * outside(y, y - T::ONE));
    pick((x == T::ZERO) & !y.is_nan(), T::ZERO, v)
}

/// x log(y) for finite x and positive finite y.
#[inline(always)]
fn xlogy_words<T: Real>(x: T, y: T) -> T {
    let (f, k) = split(y);
    let v = assemble(k, f, tail(f)).normal();
    x.fma(v.hi, x * v.lo)
}

/// The logarithm to about 12 bits more than a word, for positive numbers.
#[inline(always)]
pub fn log_precise<T: Real>(x: T) -> Two<T> {
    log_unnormal(x).normal()
}

/// The same, the second word up to a few ULP of the first.
#[inline(always)]
fn log_unnormal<T: Real>(x: T) -> Two<T> {
    let (f, k) = split(x);
    // 2 atanh(s) = 2s + 2/3 s^3 + s^5 (...): two words, a word and a few bits, and less than a word.
    let s = two(f, T::ZERO).div(quick_sum(T::TWO, f));
    let z = product(s.hi, s.hi);
    let z = two(z.hi, (s.hi + s.hi).fma(s.lo, z.lo));
    let cube = z.mul(s);
    let third = product(cube.hi, T::TWO_THIRDS[0]);
    let rest = cube.lo.fma(T::TWO_THIRDS[0], cube.hi.fma(T::TWO_THIRDS[1], third.lo));
    let rest = cube.hi.fma(z.hi * T::log_tail_poly(z.hi), rest);
    let base = quick_sum(k * T::LN2[0], s.hi + s.hi);
    let total = quick_sum(base.hi, third.hi);
    two(total.hi, total.lo + (base.lo + (k.fma(T::LN2[1], s.lo + s.lo) + rest)))
}

/// x^y for positive finite x and |y| <= POW_MAX.
#[inline(always)]
fn pow_words<T: Real>(x: T, y: T) -> T {
    let l = log_unnormal(x).mul_word(y).normal();
    let far = l.hi.abs() > T::of(2000.0);
    exp_two(two(l.hi, pick(far, T::ZERO, l.lo)))
}

/// Whether the sign or the size of a base, or a huge exponent, asks for [`pow_edges`].
#[inline(always)]
pub fn rare_pow<T: Real>(x: T, y: T) -> bool {
    !((x > T::ZERO) & (x < T::INFINITY) & (y.abs() < T::POW_MAX))
}

/// x^y for positive finite x and |y| < POW_MAX; of others, what [`pow_edges`] starts from.
#[inline(always)]
pub fn pow_inside<T: Real>(x: T, y: T) -> T {
    let size = x.abs();
    if T::SINGLE { T::of(light::pow(size.widen(), y.widen())) } else { pow_words(size, y) }
}

/// x^y, given what [`pow_inside`] made of it.
#[inline(always)]
pub fn pow_edges<T: Real>(x: T, y: T, v: T) -> T {
    let size = x.abs();
    // Huge exponents: 0 or infinity, by the side of 1.
    let huge = y.abs() >= T::POW_MAX;
    let grows = (size > T::ONE) == (y > T::ZERO);
    let edge = huge | (size == T::ZERO) | (size == T::INFINITY);
    let v = pick(edge, pick(grows, T::INFINITY, T::ZERO), v);
    // Numbers beyond 1/EPSILON are even integers.
    let near = pick(y.abs() >= T::ONE / T::EPSILON, T::ZERO, y);
    let integer = near.trunc() == near;
    let half = near * T::HALF;
    let odd = integer & (half.trunc() != half);
    let v = pick(odd, v.copysign(x), v);
    let v = pick((x < T::ZERO) & !integer & (size < T::INFINITY), T::NAN, v);
    let v = pick(x.is_nan() | y.is_nan(), T::NAN, v);
    pick((x == T::ONE) | (y == T::ZERO) | ((x == -T::ONE) & huge), T::ONE, v)
}

/// x^3 by the square in two words, since two roundings may leave 1.2 ULP.
#[inline(always)]
pub fn cube<T: Real>(x: T) -> T {
    let square = x * x;
    let rest = x.fma(x, -square) * x;
    // Beyond the largest number the rest undoes it, or is NaN.
    square.fma(x, pick(rest.abs() < T::INFINITY, rest, T::ZERO))
}
