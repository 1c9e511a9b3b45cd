//! e^x and what is made of it.

use super::real::{Real, pick};
use super::tables::{Tables, tanh_reduced};
use super::two::{Two, quick_sum, two};
use super::{light, single};
use crate::scalar::Float;

/// `(shifted, r)` with `e^x = 2^n e^r`, n = shifted - SHIFT, |r| <= ln(2)/2.
#[inline(always)]
fn reduced<T: Real>(x: Two<T>) -> (T, Two<T>) {
    let shifted = x.hi.fma(T::LOG2_E[0], T::SHIFT);
    let n = shifted - T::SHIFT;
    // Exact: x and n ln2 are multiples of one ULP of ln2, and the difference is short.
    let r = (-n).fma(T::LN2_FULL[0], x.hi);
    let lo = (-n).fma(T::LN2_FULL[1], x.lo);
    (shifted, two(r, lo))
}

/// e^x for x <= 0: in two words, where it is above 2^LOW_EXPONENT; and rounded, down to subnormals.
#[inline(always)]
pub fn exp_parts<T: Real>(x: Two<T>) -> (Two<T>, T) {
    let (shifted, r) = reduced(x);
    let m = plus_one(one_more(r.hi, r.lo)).normal();
    (m.times(T::power(shifted.at_least(T::SHIFT + T::LOW_EXPONENT))), scaled(m.hi, shifted))
}

/// `e^(r + lo) - 1` for |r| <= ln(2)/2, as `r` and a smaller word: enough beside a 1 that is to be added.
#[inline(always)]
fn one_more<T: Real>(r: T, lo: T) -> Two<T> {
    let near = r + lo;
    two(r, (near * near).fma(T::exp_poly(near).fma(near, T::HALF), lo))
}

/// The same, the half square in two words: enough where no 1 is added.
#[inline(always)]
fn one_more_precise<T: Real>(r: T, lo: T) -> Two<T> {
    let near = r + lo;
    let square = near * near;
    let error = near.fma(near, -square);
    let s = quick_sum(r, square * T::HALF);
    let cube = (square * near).fma(T::exp_poly(near), error.fma(T::HALF, lo));
    two(s.hi, s.lo + cube)
}

/// `1 + p`.
#[inline(always)]
fn plus_one<T: Real>(p: Two<T>) -> Two<T> {
    let s = quick_sum(T::ONE, p.hi);
    two(s.hi, s.lo + p.lo)
}

/// e^x as a number in two words, the second up to some percent of the first, times a power of two.
#[inline(always)]
pub fn exp_words<T: Real>(x: T) -> (Two<T>, T) {
    let (shifted, r) = reduced(two(x, T::ZERO));
    (plus_one(one_more(r.hi, r.lo)), T::power(shifted))
}

/// `m 2^n` rounded once, where it is subnormal too; n = shifted - SHIFT.
#[inline(always)]
fn scaled<T: Real>(m: T, shifted: T) -> T {
    let low = shifted < T::SHIFT + T::LOW_EXPONENT;
    let up = T::of(100.0);
    let back = T::of(1.0 / (1u128 << 100) as f64);
    m.scale(pick(low, shifted + up, shifted)) * pick(low, back, T::ONE)
}

#[inline(always)]
pub fn exp<T: Real>(x: T) -> T {
    exp_two(two(x, T::ZERO))
}

/// e^x of a number in two words; |x.lo| is small.
#[inline(always)]
pub fn exp_two<T: Real>(x: Two<T>) -> T {
    let (shifted, r) = reduced(two(x.hi.at_least(T::EXP_MIN).at_most(T::EXP_MAX), x.lo));
    let y = scaled(plus_one(one_more(r.hi, r.lo)).value(), shifted);
    // NaN and beyond.
    pick(x.hi <= T::EXP_MAX, y, x.hi + T::INFINITY)
}

/// `(m, shifted)` with `2^x = 2^n m`, n = shifted - SHIFT.
#[inline(always)]
fn exp2_parts<T: Real>(x: T) -> (T, T) {
    let shifted = x + T::SHIFT;
    let f = x - (shifted - T::SHIFT);
    (f.fma(f.fma(T::exp2_poly(f), T::LN2_FULL[0]), T::ONE), shifted)
}

/// 2^x, a normal number.
#[inline(always)]
pub fn exp2<T: Real>(x: T) -> T {
    let (m, shifted) = exp2_parts(x);
    m.scale(shifted)
}

#[inline(always)]
pub fn rare_exp2<T: Real>(x: T) -> bool {
    x.is_beyond(-T::LOW_EXPONENT)
}

/// 2^x of any number.
#[inline(always)]
pub fn exp2_edges<T: Real>(x: T) -> T {
    let (m, shifted) = exp2_parts(x.at_least(T::EXP2_MIN).at_most(T::EXP2_MAX));
    pick(x < T::EXP2_MAX, scaled(m, shifted), x + T::INFINITY)
}

/// 2^x for |x| < 1, in two words.
#[inline(always)]
fn exp2_two<T: Real>(x: T) -> Two<T> {
    let shifted = x + T::SHIFT;
    let f = x - (shifted - T::SHIFT);
    let r = two(f, T::ZERO).mul(two(T::LN2_FULL[0], T::LN2_FULL[1]));
    plus_one(one_more(r.hi, r.lo)).times(T::power(shifted))
}

/// a 2^b: the whole part of b rounds nothing, and the product is rounded once.
#[inline(always)]
pub fn ldexp<T: Real + Float>(a: T, b: T) -> T {
    let whole = Real::trunc(b);
    let part = b - whole;
    let y = if T::SINGLE {
        let y = a.widen() * light::exp(part.widen() * std::f64::consts::LN_2);
        Real::of(Float::scale(y, whole.widen()))
    } else {
        let power = exp2_two(part);
        // Up before, and down behind: neither overflows too early, nor loses bits of what is subnormal on the way.
        let up = b > Real::ZERO;
        let base = pick(up, Float::scale(a, whole), a);
        let rounded = base * power.hi;
        // Signs of zeros are those of the first word, and infinity times a second word of 0 is NaN.
        let single = (rounded == Real::ZERO) | rounded.is_beyond(Real::INFINITY);
        let y = pick(single, rounded, base.fma(power.hi, base * power.lo));
        pick(up, y, Float::scale(y, whole))
    };
    let infinite = Real::abs(b) == Real::INFINITY;
    pick(infinite, a * b.at_least(Real::ZERO), y)
}

/// `(e^x - 1) / 2` for x up to EXP_MAX: half, so that nothing overflows on the way.
#[inline(always)]
fn half_expm1<T: Real>(x: T) -> Two<T> {
    let (shifted, r) = reduced(two(x, T::ZERO));
    let p = one_more_precise(r.hi, r.lo);
    let power = T::power(shifted - T::ONE);
    let base = quick_sum(power, -T::HALF);
    // |power p| < |base| unless base is 0.
    let s = quick_sum(base.hi, power * p.hi);
    two(s.hi, s.lo + power.fma(p.lo, base.lo))
}

#[inline(always)]
pub fn expm1<T: Real>(x: T) -> T {
    let y = half_expm1(x.at_least(T::of(-50.0)).at_most(T::EXP_MAX)).value() * T::TWO;
    let y = pick(x <= T::EXP_MAX, y, x + T::INFINITY);
    pick(x.abs() < T::EPSILON, x, y)
}

#[inline(always)]
pub fn tanh<T: Real>(x: T) -> T {
    if T::SINGLE {
        // The conversions cancel.
        return T::of(single::tanh(x.widen() as f32) as f64);
    }
    T::of(tanh_double(x.widen()))
}

/// With e^(2a) = 2^n (1 + t) / (1 - t), t = tanh(r), it is `((2^n - 1) + (2^n + 1) t) / ((2^n + 1) + (2^n - 1) t)`: one
/// division, and where n is 0 that is t itself.
#[inline(always)]
fn tanh_double(x: f64) -> f64 {
    let a = x.abs().at_most(f64::TANH_ONE);
    // A little down, so that r is above -0.16: then the numerator is at least half of 2^n - 1, and differs from it exactly.
    let shifted = (a - 0.0175).fma(2.0 * f64::LOG2_E[0], f64::SHIFT);
    let n = shifted - f64::SHIFT;
    let r = (-n).fma(0.5 * f64::LN2_FULL[0], a);
    let z = r * r;
    // t = r + rest, which is at most a percent of it.
    let rest = (r * z).fma(tanh_reduced(z), n * (-0.5 * f64::LN2_FULL[1]));
    let power = f64::power(shifted);
    let (less, more) = (power - 1.0, power + 1.0);
    let top = more.fma(r, less);
    let top_lo = more.fma(rest, more.fma(r, less - top));
    let t = r + rest;
    let d = less.fma(t, more);
    // From 2^53 on the power swallows a 1, or both: what numerator and denominator are apart, where they are all but the same.
    let d_lo = less.fma(t, more - d) + (2.0 - (more - less));
    two(top, top_lo).div(two(d, d_lo)).value().copysign(x)
}

/// The logistic function, 1 / (1 + e^-x), where 2^n of the exponential is a normal number.
#[inline(always)]
pub fn sigmoid<T: Real>(x: T) -> T {
    let (shifted, r) = reduced(two(-x, T::ZERO));
    let p = one_more(r.hi, r.lo).value();
    // 1 + 2^n + 2^n p: the first sum is exact but for a 1 beside a large power, or a small one beside the 1.
    let power = T::power(shifted);
    let base = quick_sum(power.at_least(T::ONE), power.at_most(T::ONE));
    let d = power.fma(p, base.hi);
    let rest = power.fma(p, base.hi - d) + base.lo;
    let q = T::ONE / d;
    q.fma((-q).fma(rest, (-q).fma(d, T::ONE)), q)
}

#[inline(always)]
pub fn rare_sigmoid<T: Real>(x: T) -> bool {
    x.is_beyond(-T::LOW_EXPONENT * T::LN2_FULL[0])
}

/// The same far from 0.
#[inline(always)]
pub fn sigmoid_edges<T: Real>(x: T) -> T {
    pick(x > T::ZERO, T::ONE, exp(x))
}

/// e^x and e^-x of a number x from 0 on: `2^n (1 + p)` and `2^-n (1 - g)`.
pub struct Powers<T> {
    x: T,
    shifted: T,
    p: Two<T>,
    g: Two<T>,
}

impl<T: Real> Powers<T> {
    /// Of |x|, up to SINH_MAX.
    #[inline(always)]
    pub fn new(x: T) -> Self {
        let (shifted, r) = reduced(two(x.abs().at_most(T::SINH_MAX), T::ZERO));
        let p = one_more_precise(r.hi, r.lo).normal();
        Powers { x, shifted, p, g: p.div(plus_one(p)) }
    }

    /// `2^-n (e^|x| -+ e^-|x|)`: twice sinh where `sign` is 1, cosh where it is -1.
    #[inline(always)]
    fn parts(&self, sign: T) -> Two<T> {
        // With c = 2^-2n: M - c / M = (1 - c) + p + c g, M = 1 + p.
        let n = self.shifted - T::SHIFT;
        let c = T::power((T::SHIFT - (n + n)).at_least(T::SHIFT + T::LOW_EXPONENT));
        let (p, g) = (self.p, self.g.times(c * sign));
        let base = quick_sum(T::ONE, -(c * sign));
        let s = quick_sum(base.hi, p.hi);
        let s2 = quick_sum(s.hi, g.hi);
        two(s2.hi, s2.lo + (s.lo + (base.lo + (p.lo + g.lo))))
    }

    /// sinh and cosh, where 2^n is a normal number.
    #[inline(always)]
    pub fn hyperbolic(&self) -> (Two<T>, Two<T>) {
        let power = T::power(self.shifted - T::ONE);
        let sinh = self.parts(T::ONE).times(power.copysign(self.x));
        (sinh, self.parts(-T::ONE).times(power))
    }

    /// e^x, where 2^n and 2^-n are normal numbers.
    #[inline(always)]
    pub fn exp(&self) -> T {
        let ahead = self.x > T::ZERO;
        let m = plus_one(two(pick(ahead, self.p.hi, -self.g.hi), pick(ahead, self.p.lo, -self.g.lo)));
        let power = T::power(pick(ahead, self.shifted, T::SHIFT + (T::SHIFT - self.shifted)));
        m.value() * power
    }
}

/// sinh where `sign` is 1, cosh where it is -1; of |x|.
#[inline(always)]
fn hyperbolic<T: Real>(x: T, sign: T) -> T {
    let powers = Powers::new(x);
    // Halved before scaling: the last binade would overflow.
    let big = (powers.parts(sign).value() * T::HALF).scale(powers.shifted);
    pick(x.abs() <= T::SINH_MAX, big, x.abs() + T::INFINITY)
}

#[inline(always)]
pub fn sinh<T: Real>(x: T) -> T {
    pick(x.abs() < T::EPSILON, x, hyperbolic(x, T::ONE).copysign(x))
}

#[inline(always)]
pub fn cosh<T: Real>(x: T) -> T {
    hyperbolic(x, -T::ONE)
}
