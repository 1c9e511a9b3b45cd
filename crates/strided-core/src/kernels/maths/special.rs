//! erf, erfc, erfinv, lgamma and digamma.

use super::exp::exp_two;
use super::light;
use super::log::{log, log_plain, log_precise};
use super::real::{Real, pick};
use super::tables::{
    Tables, digamma_series, erfc_single, erfinv_direct, erfinv_middle, erfinv_tail, erfinv_tail_single,
    lgamma_series,
};
use super::trig::{sine_cosine, times_pi};
use super::two::{Two, product, sum, two};

/// The argument of the polynomial of erfc: [0, inf) mapped to [-1, 1).
#[inline(always)]
fn erfc_argument<T: Real>(a: T) -> T {
    let k = T::of(3.75);
    (a - k) / (a + k)
}

/// `(e, p)` with erfc(a) = e p for 0.47 <= a <= 28: e^-a^2, and the value of the polynomial over 1 + 2a. Not multiplied: callers
/// fuse the product.
#[inline(always)]
fn erfc_parts<T: Real>(a: T, poly: T) -> (T, T) {
    (exp_two(product(a, a).neg()), poly / ((a + a) + T::ONE))
}

/// Beyond 28 erfc is 0, and below nothing overflows.
#[inline(always)]
fn held<T: Real>(a: T) -> T {
    a.at_most(T::of(28.0))
}

/// erf(a) for |a| <= 1.
#[inline(always)]
fn erf_near<T: Real>(a: T) -> T {
    a.fma(T::erf_poly(a * a), a)
}

#[inline(always)]
pub fn erfc<T: Real>(x: T) -> T {
    T::of(if T::SINGLE { light_erfc(x.widen()) } else { erfc_double(x.widen()) })
}

/// Near enough for float32, which loses two ULP in a polynomial of its own precision.
#[inline(always)]
fn light_erfc(x: f64) -> f64 {
    let a = x.abs().at_most(11.0);
    // One division for the argument of the polynomial and for its own.
    let (n, d) = (a + a + 1.0, a + 3.75);
    let inverse = 1.0 / (n * d);
    let p = erfc_single((a - 3.75) * n * inverse) * (d * inverse);
    let y = light::exp(-(a * a)) * p;
    pick(x < 0.0, 2.0 - y, y)
}

#[inline(always)]
fn erfc_double(x: f64) -> f64 {
    let a = held(x.abs());
    let (e, p) = erfc_parts(a, f64::erfc_poly(erfc_argument(a)));
    let far = pick(x < 0.0, (-e).fma(p, 2.0), e * p);
    let y = pick(a < 0.5, 1.0 - erf_near(x), far);
    pick(x.is_nan(), x, y)
}

#[inline(always)]
pub fn erf<T: Real>(x: T) -> T {
    let a = x.abs();
    let far = held(a);
    let (e, p) = erfc_parts(far, T::erfc_poly(erfc_argument(far)));
    pick(a < T::ONE, erf_near(a), (-e).fma(p, T::ONE)).copysign(x)
}

/// From here on erfinv is a matter of its poles: -log(1 - x^2) is 4.99.
const ERFINV_FAR: f64 = 0.9966;

#[inline(always)]
pub fn rare_erfinv<T: Real>(x: T) -> bool {
    x.is_beyond(T::of(ERFINV_FAR))
}

/// erfinv of a number below [`ERFINV_FAR`].
#[inline(always)]
pub fn erfinv<T: Real>(x: T) -> T {
    let x = x.widen();
    let u = (-x).fma(x, 1.0);
    let slope =
        if T::SINGLE { erfinv_middle(-2.5 - light::ln(u)) } else { erfinv_direct(-1.25 - log_plain(u)) };
    T::of(x * slope)
}

/// The others.
#[inline(always)]
pub fn erfinv_edges<T: Real>(x: T) -> T {
    let x = x.widen();
    let a = x.abs();
    let v = (-log((1.0 - a) * (1.0 + a))).at_most(if T::SINGLE { 16.7 } else { 37.5 }).sqrt();
    let y =
        if T::SINGLE { a * erfinv_tail_single(v - 3.0) } else { erfinv_better(a, a * erfinv_tail(v - 4.0)) };
    let y = pick(a < 1.0, y, pick(a == 1.0, f64::INFINITY, f64::NAN));
    T::of(y.copysign(x))
}

/// One step of Halley's rule from y, a near value of erfinv(a): it triples the bits.
#[inline(always)]
fn erfinv_better(a: f64, y: f64) -> f64 {
    let (e, p) = erfc_parts(y, f64::erfc_poly(erfc_argument(y)));
    // Towards 1 erfc tells more than erf, and 1 - a is exact.
    let residue = e.fma(p, -(1.0 - a));
    // erf' = 2/sqrt(pi) e^-y^2.
    let step = residue * (std::f64::consts::PI.sqrt() * 0.5) / e;
    y + step / (1.0 - y * step)
}

/// Negative arguments need a reflection, and the neighbours of 0 and of infinity their own care.
#[inline(always)]
pub fn rare_gamma<T: Real>(x: T) -> bool {
    !((x > T::of(NEAR_ZERO)) & (x < T::of(HUGE)))
}

/// Below this a pole is all there is of them, and beyond the other one their first terms.
const NEAR_ZERO: f64 = 1e-30;
const HUGE: f64 = 1e300;

/// sin(pi a) and cos(pi a) but for a sign that they share, of a number that is not negative.
struct Turn {
    sin: Two<f64>,
    cos: Two<f64>,
    /// Whether the number is whole.
    whole: bool,
}

#[inline(always)]
fn turn(a: f64) -> Turn {
    let part = a - a.trunc();
    // Exact: into [0, 1/2], and the sines of the upper half are cosines of what is left.
    let half = pick(part > 0.5, 1.0 - part, part);
    let steep = half > 0.25;
    let (s, c) = sine_cosine(times_pi(pick(steep, 0.5 - half, half)));
    let sin = two(pick(steep, c.hi, s.hi), pick(steep, c.lo, s.lo));
    let cos = two(pick(steep, s.hi, c.hi), pick(steep, s.lo, c.lo));
    let back = 0.5 - part;
    Turn { sin: sin.normal(), cos: two(cos.hi.flip(back), cos.lo.flip(back)).normal(), whole: part == 0.0 }
}

/// log(y) of a number in two words, to more than a word.
#[inline(always)]
fn log_words(y: Two<f64>) -> Two<f64> {
    let l = log_precise(y.hi);
    two(l.hi, l.lo + y.lo / y.hi)
}

/// Small arguments are raised by 8. With u = x^2 + 7x the factors pair up: x (x+1) … (x+7) = a b, a = u (u + 6), b = (u + 10) (u + 12).
struct Raised {
    low: bool,
    y: Two<f64>,
    u: Two<f64>,
    a: Two<f64>,
    b: Two<f64>,
}

#[inline(always)]
fn raised(x: f64) -> Raised {
    let low = x < 8.0;
    let y = sum(x, pick(low, 8.0, 0.0));
    let u = product(x, x).add(product(x, 7.0)).normal();
    let a = u.mul(u.add_word(6.0).normal()).normal();
    let b = u.add_word(10.0).normal().mul(u.add_word(12.0).normal()).normal();
    Raised { low, y, u, a, b }
}

/// float32 near the zeros 1 and 2 needs more bits than a plain float64 sum leaves.
#[inline(always)]
pub fn rare_lgamma<T: Real>(x: T) -> bool {
    let near = |v: T| (x - v).abs() < T::of(NEAR_ROOT);
    rare_gamma(x) | (T::SINGLE & (near(T::ONE) | near(T::TWO)))
}

/// How far from 1 and 2 four terms of a series are enough for float32.
const NEAR_ROOT: f64 = 1.0 / 1024.0;

/// log |gamma(x)| in float64, of a positive number that is not rare. Near its zeros, 1 and 2, the error is absolute: far below
/// an ULP of 1.
#[inline(always)]
pub fn lgamma<T: Real>(x: T) -> Two<f64> {
    let x = x.widen();
    if T::SINGLE { two(lgamma_single(x), 0.0) } else { lgamma_double(x) }
}

/// log |gamma(x)| of any number, given that of its magnitude: gamma(x) gamma(-x) = -pi / (x sin(pi x)).
#[inline(always)]
pub fn lgamma_all<T: Real>(x: T, v: Two<f64>) -> T {
    let x = x.widen();
    let a = x.abs();
    let Turn { sin, whole, .. } = turn(a);
    let reflected = if T::SINGLE {
        log(f64::PI[0] / (a * sin.hi)) - v.hi
    } else {
        const LOG_PI: Two<f64> = Two { hi: 1.1447298858494002, lo: 1.0265951162707826e-17 };
        let p = log_words(sin.mul_word(a).normal());
        LOG_PI.add(p.neg()).normal().add(v.neg()).value()
    };
    // At the poles, and beyond all numbers that are not whole, it is infinite.
    let below = pick(whole | (a > HUGE), f64::INFINITY, reflected);
    let above = pick(x > HUGE, x * (log(x) - 1.0), near_root::<T>(x, v.value()));
    T::of(pick(a < NEAR_ZERO, -log(a), pick(x < 0.0, below, above)))
}

/// Next to 1 and 2 the first terms of lgamma's series.
#[inline(always)]
fn near_root<T: Real>(x: f64, v: f64) -> f64 {
    if !T::SINGLE {
        return v;
    }
    // -gamma, zeta(2)/2, -zeta(3)/3, zeta(4)/4; and those of log(1 + t) more.
    const ONE: [f64; 4] =
        [-0.5772156649015329, 0.8224670334241132, -0.40068563438653143, 0.27058080842778454];
    const TWO: [f64; 4] = [ONE[0] + 1.0, ONE[1] - 0.5, ONE[2] + 1.0 / 3.0, ONE[3] - 0.25];
    let first = x < 1.5;
    let t = x - pick(first, 1.0, 2.0);
    let term = |i: usize| pick(first, ONE[i], TWO[i]);
    let near = term(3).fma(t, term(2)).fma(t, term(1)).fma(t, term(0)) * t;
    pick((t.abs() < NEAR_ROOT) & (t != 0.0), near, v)
}

/// The sum below in plain float64.
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
fn lgamma_double(x: f64) -> Two<f64> {
    let Raised { low, y, a, b, .. } = raised(x);
    let p = a.mul(b).normal();
    let p = log_words(two(pick(low, p.hi, 1.0), pick(low, p.lo, 0.0)));
    // (y - 1/2) log y - y + log(2 pi)/2 + series - log p.
    let main = y.add_word(-0.5).normal().mul(log_words(y)).normal();
    let inverse = 1.0 / y.hi;
    let rest = lgamma_series(inverse * inverse) * inverse;
    const HALF_LOG_TWO_PI: Two<f64> = Two { hi: 0.918_938_533_204_672_8, lo: -3.878_294_158_067_242e-17 };
    let s = main.add(y.neg()).normal().add(HALF_LOG_TWO_PI).normal();
    let s = s.add_word(rest).normal().add(p.neg());
    let root = (x == 1.0) | (x == 2.0);
    two(pick(root, 0.0, s.hi), pick(root, 0.0, s.lo))
}

/// The derivative of log gamma in float64, of a positive number that is not rare. Near its zero, 1.4616…, the error is absolute.
#[inline(always)]
pub fn digamma<T: Real>(x: T) -> Two<f64> {
    let x = x.widen();
    if T::SINGLE { two(digamma_single(x), 0.0) } else { digamma_double(x) }
}

/// The derivative of log gamma of any number, given that of its magnitude a: psi(-a) = psi(a) + 1/a + pi cot(pi a).
#[inline(always)]
pub fn digamma_all<T: Real>(x: T, v: Two<f64>) -> T {
    let x = x.widen();
    let a = x.abs();
    let Turn { sin, cos, whole } = turn(a);
    let reflected = if T::SINGLE {
        v.hi + (1.0 / a + f64::PI[0] * cos.hi / sin.hi)
    } else {
        const PI: Two<f64> = Two { hi: f64::PI[0], lo: f64::PI[1] };
        let cot = cos.div(sin).normal().mul(PI).normal();
        two(1.0, 0.0).div(two(a, 0.0)).add(cot).normal().add(v).value()
    };
    let below = pick(whole, f64::NAN, reflected);
    let above = pick(x > HUGE, log(x), v.value());
    T::of(pick(a < NEAR_ZERO, -1.0 / x, pick(x < 0.0, below, above)))
}

/// The sum below in plain float64.
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
fn digamma_double(x: f64) -> Two<f64> {
    let Raised { low, y, u, a, b } = raised(x);
    // The sum of 1/(x + i), i < 8: (2x + 7) (1/u + 1/(u+6) + 1/(u+10) + 1/(u+12)).
    let double = two(u.hi + u.hi, u.lo + u.lo);
    let n = double.add_word(6.0).normal().mul(b).add(double.add_word(22.0).normal().mul(a)).normal();
    let steps = sum(x + x, 7.0).mul(n).normal().div(a.mul(b).normal()).normal();
    let inverse = 1.0 / y.hi;
    let w = inverse * inverse;
    // log y - 1/(2y) - series - steps; the half inverse keeps its residue.
    let half = two(1.0, 0.0).div(y).times(-0.5);
    let s = log_words(y).add(half).normal().add(two(pick(low, -steps.hi, 0.0), pick(low, -steps.lo, 0.0)));
    s.normal().add_word(-(w * digamma_series(w)))
}
