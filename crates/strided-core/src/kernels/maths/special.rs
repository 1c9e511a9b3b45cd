//! erf, erfc, erfinv, lgamma and digamma.

use super::double_double::{DoubleDouble, dd, two_product, two_sum};
use super::exp::exp_dd;
use super::log::{log, log_precise, log_rough};
use super::tables::{
    Tables, digamma_series, erfc_single, erfinv_direct, erfinv_middle, erfinv_tail, erfinv_tail_single,
    lgamma_series,
};
use super::trig::{sin_cos_reduced, times_pi};
use super::vector_float::{VectorFloat, pick};
use super::via_f64;

/// The argument of the polynomial of erfc: maps [0, inf) to [-1, 1).
#[inline(always)]
fn erfc_argument<T: VectorFloat>(a: T) -> T {
    let k = T::of(3.75);
    (a - k) / (a + k)
}

/// `(e, p)` with erfc(a) = e p for 0.47 <= a <= 28: e^-a^2, and `poly`, the value of the polynomial, over 1 + 2a. Callers use
/// the product in a fused multiply-add.
#[inline(always)]
fn erfc_parts<T: VectorFloat>(a: T, poly: T) -> (T, T) {
    (exp_dd(two_product(a, a).neg()), poly / ((a + a) + T::ONE))
}

/// Limits an argument of erfc to 28: beyond, erfc is 0, and up to there no intermediate overflows.
#[inline(always)]
fn limit_erfc<T: VectorFloat>(a: T) -> T {
    a.at_most(T::of(28.0))
}

/// erf(a) for |a| <= 1.
#[inline(always)]
fn erf_small<T: VectorFloat>(a: T) -> T {
    a.fma(T::erf_poly(a * a), a)
}

#[inline(always)]
pub fn erfc<T: VectorFloat>(x: T) -> T {
    T::of(if T::SINGLE { erfc_via_f64(x.widen()) } else { erfc_double(x.widen()) })
}

/// erfc for float32, computed in float64: a polynomial in float32 would lose two ULP.
#[inline(always)]
fn erfc_via_f64(x: f64) -> f64 {
    let a = x.abs().at_most(11.0);
    // One division yields both the argument of the polynomial and the factor of its value.
    let (n, d) = (a + a + 1.0, a + 3.75);
    let inverse = 1.0 / (n * d);
    let p = erfc_single((a - 3.75) * n * inverse) * (d * inverse);
    let y = via_f64::exp(-(a * a)) * p;
    pick(x < 0.0, 2.0 - y, y)
}

#[inline(always)]
fn erfc_double(x: f64) -> f64 {
    let a = limit_erfc(x.abs());
    let (e, p) = erfc_parts(a, f64::erfc_poly(erfc_argument(a)));
    let far = pick(x < 0.0, (-e).fma(p, 2.0), e * p);
    let y = pick(a < 0.5, 1.0 - erf_small(x), far);
    pick(x.is_nan(), x, y)
}

#[inline(always)]
pub fn erf<T: VectorFloat>(x: T) -> T {
    let a = x.abs();
    let far = limit_erfc(a);
    let (e, p) = erfc_parts(far, T::erfc_poly(erfc_argument(far)));
    pick(a < T::ONE, erf_small(a), (-e).fma(p, T::ONE)).copysign(x)
}

/// From here on, near its poles, erfinv needs other polynomials: -log(1 - x^2) is 4.99 here.
const ERFINV_MAX: f64 = 0.9966;

#[inline(always)]
pub fn rare_erfinv<T: VectorFloat>(x: T) -> bool {
    x.is_beyond(T::of(ERFINV_MAX))
}

/// erfinv of a number whose magnitude is below [`ERFINV_MAX`].
#[inline(always)]
pub fn erfinv<T: VectorFloat>(x: T) -> T {
    let x = x.widen();
    let u = (-x).fma(x, 1.0);
    let slope =
        if T::SINGLE { erfinv_middle(-2.5 - via_f64::ln(u)) } else { erfinv_direct(-1.25 - log_rough(u)) };
    T::of(x * slope)
}

/// erfinv of the other numbers.
#[inline(always)]
pub fn erfinv_edges<T: VectorFloat>(x: T) -> T {
    let x = x.widen();
    let a = x.abs();
    let v = (-log((1.0 - a) * (1.0 + a))).at_most(if T::SINGLE { 16.7 } else { 37.5 }).sqrt();
    let y =
        if T::SINGLE { a * erfinv_tail_single(v - 3.0) } else { erfinv_halley(a, a * erfinv_tail(v - 4.0)) };
    let y = pick(a < 1.0, y, pick(a == 1.0, f64::INFINITY, f64::NAN));
    T::of(y.copysign(x))
}

/// One step of Halley's method from y, an approximation of erfinv(a): it triples the number of right bits.
#[inline(always)]
fn erfinv_halley(a: f64, y: f64) -> f64 {
    let (e, p) = erfc_parts(y, f64::erfc_poly(erfc_argument(y)));
    // Near 1, erfc is more precise than erf, and 1 - a is exact.
    let residue = e.fma(p, -(1.0 - a));
    // erf' = 2/sqrt(pi) e^-y^2.
    let step = residue * (std::f64::consts::PI.sqrt() * 0.5) / e;
    y + step / (1.0 - y * step)
}

/// Negative arguments, which need the reflection formula, and those near 0 and infinity.
#[inline(always)]
pub fn rare_gamma<T: VectorFloat>(x: T) -> bool {
    !((x > T::of(NEAR_ZERO)) & (x < T::of(HUGE)))
}

/// Below this, the pole at 0 is all that remains of lgamma and digamma in double precision.
const NEAR_ZERO: f64 = 1e-30;
/// Beyond this, the first terms of their asymptotic series are enough.
const HUGE: f64 = 1e300;

/// sin(pi a) and cos(pi a) of a number a >= 0, up to a common sign.
struct SinCosPi {
    sin: DoubleDouble<f64>,
    cos: DoubleDouble<f64>,
    /// Whether a is an integer.
    whole: bool,
}

#[inline(always)]
fn sin_cos_pi(a: f64) -> SinCosPi {
    let part = a - a.trunc();
    // Both differences are exact. Above 1/4, the sine is the cosine of what is left to 1/2.
    let half = pick(part > 0.5, 1.0 - part, part);
    let steep = half > 0.25;
    let (s, c) = sin_cos_reduced(times_pi(pick(steep, 0.5 - half, half)));
    let sin = dd(pick(steep, c.hi, s.hi), pick(steep, c.lo, s.lo));
    let cos = dd(pick(steep, s.hi, c.hi), pick(steep, s.lo, c.lo));
    let cos_sign = 0.5 - part;
    SinCosPi {
        sin: sin.normalize(),
        cos: dd(cos.hi.flip(cos_sign), cos.lo.flip(cos_sign)).normalize(),
        whole: part == 0.0,
    }
}

/// log(y) of a double-double, with more precision than a float64.
#[inline(always)]
fn log_dd(y: DoubleDouble<f64>) -> DoubleDouble<f64> {
    let l = log_precise(y.hi);
    dd(l.hi, l.lo + y.lo / y.hi)
}

/// The recurrence gamma(x) = gamma(x + 8) / (x (x+1) … (x+7)), which moves small arguments to where the asymptotic series
/// converges. With u = x^2 + 7x the factors pair up: their product is a b, a = u (u + 6), b = (u + 10) (u + 12).
struct GammaShift {
    /// Whether the argument was small, so that the recurrence is used.
    low: bool,
    /// x + 8, or x.
    y: DoubleDouble<f64>,
    u: DoubleDouble<f64>,
    a: DoubleDouble<f64>,
    b: DoubleDouble<f64>,
}

#[inline(always)]
fn shift_up(x: f64) -> GammaShift {
    let low = x < 8.0;
    let y = two_sum(x, pick(low, 8.0, 0.0));
    let u = two_product(x, x).add(two_product(x, 7.0)).normalize();
    let a = u.mul(u.add_scalar(6.0).normalize()).normalize();
    let b = u.add_scalar(10.0).normalize().mul(u.add_scalar(12.0).normalize()).normalize();
    GammaShift { low, y, u, a, b }
}

/// As [`rare_gamma`]; float32 also near the zeros 1 and 2, where a float64 sum has too few bits left.
#[inline(always)]
pub fn rare_lgamma<T: VectorFloat>(x: T) -> bool {
    let near = |v: T| (x - v).abs() < T::of(NEAR_ROOT);
    rare_gamma(x) | (T::SINGLE & (near(T::ONE) | near(T::TWO)))
}

/// The distance from 1 and 2 up to which four terms of a series are enough for float32.
const NEAR_ROOT: f64 = 1.0 / 1024.0;

/// log |gamma(x)| in float64, of a positive number that is not rare. Near the zeros 1 and 2 the error is absolute, and far
/// below an ULP of 1.
#[inline(always)]
pub fn lgamma<T: VectorFloat>(x: T) -> DoubleDouble<f64> {
    let x = x.widen();
    if T::SINGLE { dd(lgamma_single(x), 0.0) } else { lgamma_double(x) }
}

/// log |gamma(x)| of any number, given that of its magnitude: gamma(x) gamma(-x) = -pi / (x sin(pi x)).
#[inline(always)]
pub fn lgamma_all<T: VectorFloat>(x: T, v: DoubleDouble<f64>) -> T {
    let x = x.widen();
    let a = x.abs();
    let SinCosPi { sin, whole, .. } = sin_cos_pi(a);
    let reflected = if T::SINGLE {
        log(f64::PI[0] / (a * sin.hi)) - v.hi
    } else {
        const LOG_PI: DoubleDouble<f64> = DoubleDouble { hi: 1.1447298858494002, lo: 1.0265951162707826e-17 };
        let p = log_dd(sin.mul_scalar(a).normalize());
        LOG_PI.add(p.neg()).normalize().add(v.neg()).value()
    };
    // Infinite at the poles; huge numbers are all integers.
    let below = pick(whole | (a > HUGE), f64::INFINITY, reflected);
    let above = pick(x > HUGE, x * (log(x) - 1.0), near_root::<T>(x, v.value()));
    T::of(pick(a < NEAR_ZERO, -log(a), pick(x < 0.0, below, above)))
}

/// lgamma of float32 next to 1 and 2, by the first terms of its series there; elsewhere `v`.
#[inline(always)]
fn near_root<T: VectorFloat>(x: f64, v: f64) -> f64 {
    if !T::SINGLE {
        return v;
    }
    // The coefficients at 1: -gamma, zeta(2)/2, -zeta(3)/3, zeta(4)/4. At 2 those of log(1 + t) are added.
    const ONE: [f64; 4] =
        [-0.5772156649015329, 0.8224670334241132, -0.40068563438653143, 0.27058080842778454];
    const TWO: [f64; 4] = [ONE[0] + 1.0, ONE[1] - 0.5, ONE[2] + 1.0 / 3.0, ONE[3] - 0.25];
    let first = x < 1.5;
    let t = x - pick(first, 1.0, 2.0);
    let term = |i: usize| pick(first, ONE[i], TWO[i]);
    let near = term(3).fma(t, term(2)).fma(t, term(1)).fma(t, term(0)) * t;
    pick((t.abs() < NEAR_ROOT) & (t != 0.0), near, v)
}

/// The formula of [`lgamma_double`] without double-double arithmetic.
#[inline(always)]
fn lgamma_single(x: f64) -> f64 {
    let low = x < 8.0;
    let y = x + pick(low, 8.0, 0.0);
    let u = x * (x + 7.0);
    let p = pick(low, u * (u + 6.0) * ((u + 10.0) * (u + 12.0)), 1.0);
    let inverse = 1.0 / y;
    let rest = lgamma_series(inverse * inverse).fma(inverse, 0.918_938_533_204_672_8);
    let s = (y - 0.5).fma(log(y), rest - y) - log(p);
    pick((x == 1.0) | (x == 2.0), 0.0, s)
}

#[inline(always)]
fn lgamma_double(x: f64) -> DoubleDouble<f64> {
    let GammaShift { low, y, a, b, .. } = shift_up(x);
    let p = a.mul(b).normalize();
    let p = log_dd(dd(pick(low, p.hi, 1.0), pick(low, p.lo, 0.0)));
    // (y - 1/2) log y - y + log(2 pi)/2 + series - log p.
    let main = y.add_scalar(-0.5).normalize().mul(log_dd(y)).normalize();
    let inverse = 1.0 / y.hi;
    let rest = lgamma_series(inverse * inverse) * inverse;
    const HALF_LOG_TWO_PI: DoubleDouble<f64> =
        DoubleDouble { hi: 0.918_938_533_204_672_8, lo: -3.878_294_158_067_242e-17 };
    let s = main.add(y.neg()).normalize().add(HALF_LOG_TWO_PI).normalize();
    let s = s.add_scalar(rest).normalize().add(p.neg());
    let root = (x == 1.0) | (x == 2.0);
    dd(pick(root, 0.0, s.hi), pick(root, 0.0, s.lo))
}

/// digamma, the derivative of log gamma, in float64, of a positive number that is not rare. Near its zero, 1.4616…, the error
/// is absolute.
#[inline(always)]
pub fn digamma<T: VectorFloat>(x: T) -> DoubleDouble<f64> {
    let x = x.widen();
    if T::SINGLE { dd(digamma_single(x), 0.0) } else { digamma_double(x) }
}

/// digamma of any number, given that of its magnitude a: psi(-a) = psi(a) + 1/a + pi cot(pi a).
#[inline(always)]
pub fn digamma_all<T: VectorFloat>(x: T, v: DoubleDouble<f64>) -> T {
    let x = x.widen();
    let a = x.abs();
    let SinCosPi { sin, cos, whole } = sin_cos_pi(a);
    let reflected = if T::SINGLE {
        v.hi + (1.0 / a + f64::PI[0] * cos.hi / sin.hi)
    } else {
        const PI: DoubleDouble<f64> = DoubleDouble { hi: f64::PI[0], lo: f64::PI[1] };
        let cot = cos.div(sin).normalize().mul(PI).normalize();
        dd(1.0, 0.0).div(dd(a, 0.0)).add(cot).normalize().add(v).value()
    };
    let below = pick(whole, f64::NAN, reflected);
    let above = pick(x > HUGE, log(x), v.value());
    T::of(pick(a < NEAR_ZERO, -1.0 / x, pick(x < 0.0, below, above)))
}

/// The formula of [`digamma_double`] without double-double arithmetic.
#[inline(always)]
fn digamma_single(x: f64) -> f64 {
    let low = x < 8.0;
    let y = x + pick(low, 8.0, 0.0);
    let u = x * (x + 7.0);
    let (a, b) = (u * (u + 6.0), (u + 10.0) * (u + 12.0));
    let n = (u + u + 6.0).fma(b, (u + u + 22.0) * a);
    let steps = pick(low, (x + x + 7.0) * n / (a * b), 0.0);
    let inverse = 1.0 / y;
    let w = inverse * inverse;
    (log(y) - steps) - inverse.fma(0.5, w * digamma_series(w))
}

#[inline(always)]
fn digamma_double(x: f64) -> DoubleDouble<f64> {
    let GammaShift { low, y, u, a, b } = shift_up(x);
    // The sum of 1/(x + i), i < 8: (2x + 7) (1/u + 1/(u+6) + 1/(u+10) + 1/(u+12)).
    let double = dd(u.hi + u.hi, u.lo + u.lo);
    let n =
        double.add_scalar(6.0).normalize().mul(b).add(double.add_scalar(22.0).normalize().mul(a)).normalize();
    let steps = two_sum(x + x, 7.0).mul(n).normalize().div(a.mul(b).normalize()).normalize();
    let inverse = 1.0 / y.hi;
    let w = inverse * inverse;
    // log y - 1/(2y) - series - steps; 1/(2y) is a double-double.
    let half = dd(1.0, 0.0).div(y).mul_power(-0.5);
    let s = log_dd(y).add(half).normalize().add(dd(pick(low, -steps.hi, 0.0), pick(low, -steps.lo, 0.0)));
    s.normalize().add_scalar(-(w * digamma_series(w)))
}
