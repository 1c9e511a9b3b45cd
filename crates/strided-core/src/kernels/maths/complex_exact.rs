//! The exact bodies of complex functions: complex128, and complex64 through it. Scalar, with the special values of C99's Annex G.
//!
//! Trigonometric functions follow from hyperbolic ones by swapping the parts of argument and result, and the other way round:
//! `f(swap_parts(z)) = swap_parts(g(z))` for the pairs sin/sinh, tan/tanh, asin/asinh and atan/atanh.

use super::double_double::{DoubleDouble, two_sum};
use super::exact::double as real;
use crate::scalar::{Field, Float};
use num_complex::Complex;
use std::f64::consts::{FRAC_PI_2, LN_2, PI};

type C = Complex<f64>;

/// Squares of numbers between 1/SAFE and SAFE neither overflow nor underflow.
const SAFE: f64 = 1e150;
/// Beyond this, z^2 + 1 rounds to z^2.
const LARGE: f64 = 1e18;

/// `i conj(z)`.
fn swap_parts(z: C) -> C {
    C::new(z.im, z.re)
}

pub fn exp(z: C) -> C {
    let C { re: x, im: y } = z;
    if y == 0.0 {
        return C::new(real::exp(x), y);
    }
    if x == f64::NEG_INFINITY && !y.is_finite() {
        return C::new(0.0, 0.0);
    }
    if x == f64::INFINITY && !y.is_finite() {
        return C::new(f64::INFINITY, f64::NAN);
    }
    times_exp(x, 0.0, C::new(real::cos(y), real::sin(y)))
}

/// `e^x 2^n w`, in steps where e^x overflows but the product may not.
fn times_exp(x: f64, n: f64, w: C) -> C {
    if x > 700.0 && x < 1500.0 {
        let k = (x / LN_2).floor();
        let rest = real::exp((-k).mul_add(LN_2, x) - k * 2.319_046_813_846_299_6e-17);
        return times_power(rest, k + n, w);
    }
    let e = real::exp(x).scale(n);
    C::new(product(e, w.re), product(e, w.im))
}

/// `rest 2^n w` for an integer n and moderate w. The product is computed 2^100 times as large and scaled down in the end, so
/// that a subnormal result is rounded once.
fn times_power(rest: f64, n: f64, w: C) -> C {
    let part = |x: f64| (x.scale(100.0) * rest).scale(n - 100.0);
    C::new(part(w.re), part(w.im))
}

/// `a b`, where infinity times 0 is 0 with the sign of b: a is an exponential, and infinite only by overflow.
fn product(a: f64, b: f64) -> f64 {
    if b == 0.0 { b } else { a * b }
}

/// log |z|, accurate near |z| = 1.
fn log_size(x: f64, y: f64) -> f64 {
    let (x, y) = (x.abs().max(y.abs()), x.abs().min(y.abs()));
    if x > SAFE {
        return real::log(real::hypot(x * 0.5, y * 0.5)) + LN_2;
    }
    if x < 1.0 / SAFE {
        return real::log(real::hypot(x * 2f64.powi(600), y * 2f64.powi(600))) - 600.0 * LN_2;
    }
    if (0.5..3.0).contains(&x) {
        let (xx, yy) = (x * x, y * y);
        if (0.3..4.0).contains(&(xx + yy)) {
            // x^2 + y^2 - 1, with the rounding errors of the squares and sums.
            let (ex, ey) = (x.mul_add(x, -xx), y.mul_add(y, -yy));
            let s = two_sum(xx, -1.0);
            let t = two_sum(s.hi, yy);
            return 0.5 * real::log1p(t.hi + (s.lo + t.lo + ex + ey));
        }
    }
    real::log(real::hypot(x, y))
}

pub fn log(z: C) -> C {
    let arg = real::atan2(z.im, z.re);
    if z.re.is_infinite() || z.im.is_infinite() {
        return C::new(f64::INFINITY, arg);
    }
    if z.re == 0.0 && z.im == 0.0 {
        return C::new(f64::NEG_INFINITY, arg);
    }
    if z.re.is_nan() || z.im.is_nan() {
        return C::new(f64::NAN, f64::NAN);
    }
    C::new(log_size(z.re, z.im), arg)
}

/// `[hi, lo]`: a number as an unevaluated sum. The rounding error of a large angle or exponent matters.
type HiLo = [f64; 2];

fn times_ln2(y: f64) -> HiLo {
    let angle = y * LN_2;
    [angle, y.mul_add(LN_2, -angle) + y * 2.319_046_813_846_299_6e-17]
}

fn times_pi(y: f64) -> HiLo {
    let angle = y * PI;
    [angle, y.mul_add(PI, -angle) + y * 1.224_646_799_147_353_2e-16]
}

/// e^(i (y + rest)).
fn phase([y, rest]: HiLo) -> C {
    let (s, c) = (real::sin(y), real::cos(y));
    if rest.abs() < 1e-9 {
        return C::new(rest.mul_add(-s, c), rest.mul_add(c, s));
    }
    C::new(c, s) * C::new(real::cos(rest), real::sin(rest))
}

/// 2^z.
pub fn exp2(z: C) -> C {
    let size = real::exp2(z.re);
    if z.im == 0.0 {
        return C::new(size, z.im);
    }
    if !z.im.is_finite() {
        return exp(z);
    }
    let w = phase(times_ln2(z.im));
    if !z.re.is_finite() {
        return C::new(product(size, w.re), product(size, w.im));
    }
    let whole = z.re.trunc();
    times_power(real::exp2(z.re - whole), whole, w)
}

/// z 2^w. Exact if w is an integer.
pub fn ldexp(z: C, w: C) -> C {
    if w.im == 0.0 {
        return C::new(real::ldexp(z.re, w.re), real::ldexp(z.im, w.re));
    }
    if !w.re.is_finite() {
        return z * exp2(w);
    }
    let scaled = |z: C, n: f64| C::new(z.re.scale(n), z.im.scale(n));
    // The product is scaled, so that its parts neither overflow nor are subnormal where the result is not.
    let spare = match z.re.abs().max(z.im.abs()) {
        size if size > 1e300 => 4.0,
        size if size < 1e-280 => -100.0,
        _ => 0.0,
    };
    let whole = w.re.trunc();
    scaled(scaled(z, -spare) * exp2(C::new(w.re - whole, w.im)), whole + spare)
}

/// e^z - 1, accurate near 0.
pub fn expm1(z: C) -> C {
    if z.im == 0.0 {
        return C::new(real::expm1(z.re), z.im);
    }
    let half = real::sin(z.im / 2.0);
    let e = exp(z);
    if z.re.abs() > 1.0 || !e.re.is_finite() {
        return C::new(e.re - 1.0, e.im);
    }
    C::new(real::expm1(z.re) * real::cos(z.im) - 2.0 * half * half, e.im)
}

/// log(1 + z), accurate near 0.
pub fn log1p(z: C) -> C {
    let C { re: x, im: y } = z;
    if x.abs() > 0.5 || y.abs() > 0.5 || x.is_nan() || y.is_nan() {
        return log(C::new(1.0 + x, y));
    }
    C::new(real::log1p(x * (2.0 + x) + y * y) / 2.0, real::atan2(y, 1.0 + x))
}

/// The principal value of log(e^(iy) + e^(x + iv)) for x <= 0, accurate where the sum is near 0.
fn log_of_sum(y: HiLo, x: f64, v: HiLo) -> C {
    let (first, size) = (phase(y), real::exp(x));
    if size == 0.0 {
        return C::new(0.0, real::atan2(first.im, first.re));
    }
    // The sum is the first term times 1 + e^(x + id), d = v - y.
    let DoubleDouble { hi: d, lo } = two_sum(v[0], -y[0]);
    let rest = lo + (v[1] - y[1]);
    let (w, half) = if d.is_finite() {
        (phase([d, rest]), phase([d * 0.5, rest * 0.5]).re)
    } else {
        let w = phase(v) * first.conj();
        (w, (w.re * 0.5 + 0.5).max(0.0).sqrt())
    };
    let factor = C::new(real::expm1(x).mul_add(w.re, 2.0 * half * half), size * w.im);
    let sum = first * factor;
    let re = if x < -1.0 { 0.5 * real::log1p(size * (2.0 * w.re + size)) } else { log(factor).re };
    C::new(re, real::atan2(sum.im, sum.re))
}

/// log_base(base^a + base^b), given ln(base) and the product of an imaginary part with it. A term with the real part
/// -infinity is 0, whatever its angle.
fn log_of_powers(a: C, b: C, ln_base: f64, angle: fn(f64) -> HiLo) -> C {
    let (high, low) = if a.re >= b.re { (a, b) } else { (b, a) };
    let is_known = |z: C| z.re == f64::NEG_INFINITY || z.im.is_finite() && !z.re.is_nan();
    if !is_known(high) || !is_known(low) {
        return C::new(f64::NAN, f64::NAN);
    }
    if high.re == f64::NEG_INFINITY {
        return C::new(high.re, 0.0);
    }
    let difference = if high.re == low.re { 0.0 } else { (low.re - high.re) * ln_base };
    let w = log_of_sum(angle(high.im), difference, angle(low.im));
    C::new(high.re + w.re / ln_base, w.im / ln_base)
}

/// log(e^a + e^b).
pub fn logaddexp(a: C, b: C) -> C {
    log_of_powers(a, b, 1.0, |y| [y, 0.0])
}

/// log2(2^a + 2^b).
pub fn logaddexp2(a: C, b: C) -> C {
    log_of_powers(a, b, LN_2, times_ln2)
}

/// The logarithm to another base, given ln(base) and the real function, which serves real numbers.
fn log_to_base(z: C, ln_base: f64, real_log: fn(f64) -> f64) -> C {
    let w = log(z);
    let size =
        if z.im == 0.0 && z.re.is_finite() && z.re != 0.0 { real_log(z.re.abs()) } else { w.re / ln_base };
    C::new(size, w.im / ln_base)
}

pub fn log2(z: C) -> C {
    log_to_base(z, LN_2, real::log2)
}

pub fn log10(z: C) -> C {
    log_to_base(z, std::f64::consts::LN_10, real::log10)
}

pub fn sqrt(z: C) -> C {
    let C { re: x, im: y } = z;
    if x == 0.0 && y == 0.0 {
        return C::new(0.0, y);
    }
    if y.is_infinite() {
        return C::new(f64::INFINITY, y);
    }
    if x.is_nan() {
        return C::new(f64::NAN, f64::NAN);
    }
    if x.is_infinite() {
        let nan = if y.is_nan() { y } else { 0.0 };
        return if x > 0.0 {
            C::new(x, if y.is_nan() { nan } else { 0f64.copysign(y) })
        } else {
            C::new(nan.abs(), x.abs().copysign(y))
        };
    }
    if y.is_nan() {
        return C::new(y, y);
    }
    // Scaled by powers of four, so that neither hypot nor the sum overflows or underflows.
    let top = x.abs().max(y.abs());
    let shift = if top > 1e300 {
        -2
    } else if top < 1e-290 {
        120
    } else {
        0
    };
    let (sx, sy) = (x * 2f64.powi(shift), y * 2f64.powi(shift));
    let big = ((sx.abs() + real::hypot(sx, sy)) * 0.5).sqrt();
    let small = sy.abs() / (2.0 * big);
    let back = 2f64.powi(-shift / 2);
    let (big, small) = (big * back, small * back);
    if x >= 0.0 { C::new(big, small.copysign(y)) } else { C::new(small, big.copysign(y)) }
}

/// 1 / sqrt(z).
pub fn rsqrt(z: C) -> C {
    if z.im == 0.0 && z.re >= 0.0 {
        return C::new(real::rsqrt(z.re.abs()), -z.im);
    }
    let root = sqrt(z);
    if root.re.is_infinite() || root.im.is_infinite() {
        return C::new(0.0, 0f64.copysign(-root.im));
    }
    let w = C::new(1.0, 0.0).div(root);
    C::new(w.re.abs(), w.im)
}

/// 1 / (1 + e^-z) = (e^x + cos y + i sin y) / 2(cosh x + cos y). Half angles avoid cancellation near the poles, the odd
/// multiples of i pi.
pub fn sigmoid(z: C) -> C {
    let C { re: x, im: y } = z;
    if y == 0.0 {
        return C::new(real::sigmoid(x), y);
    }
    if x < -700.0 {
        return exp(z);
    }
    if x > 40.0 {
        // An infinite or NaN angle makes the result NaN, unless e^-x is 0.
        let im = if x.is_infinite() && !y.is_finite() { 0.0 } else { real::exp(-x) * real::sin(y) };
        return C::new(if im.is_nan() { im } else { 1.0 }, im);
    }
    let (s, c) = (real::sinh(x * 0.5), real::cos(y * 0.5));
    let (twice, size) = (2.0 * c * c, 4.0 * s.mul_add(s, c * c));
    let re = if x < -1.0 { real::exp(x) + real::cos(y) } else { real::expm1(x) + twice };
    C::new(re / size, real::sin(y) / size)
}

/// sin(pi z) / (pi z).
pub fn sinc(z: C) -> C {
    let C { re: x, im: y } = z;
    if x.abs() < 1e-9 && y.abs() < 1e-9 {
        return C::new(1.0, x * y * (-PI * PI / 3.0));
    }
    let (s, c) = (real::sinpi(x), real::cospi(x));
    if y == 0.0 {
        // The sign of the zero is that of y times the derivative.
        let flat = real::sinc(x);
        return C::new(flat, y * (c - flat) * x);
    }
    let sign = 1f64.copysign(y);
    if y.is_infinite() {
        return C::new(product(f64::INFINITY, c), product(f64::INFINITY, -s * sign));
    }
    let [t, rest] = times_pi(y.abs());
    let over = |sine: C| {
        let w = sine.div(z);
        C::new(w.re / PI, w.im / PI)
    };
    if t > 700.0 {
        let more = 1.0 + rest;
        return times_exp(t, -1.0, over(C::new(s * more, c * more * sign)));
    }
    let (sinh, cosh) = (real::sinh(t), real::cosh(t));
    over(C::new(s * rest.mul_add(sinh, cosh), c * rest.mul_add(cosh, sinh) * sign))
}

pub fn sinh(z: C) -> C {
    let C { re: x, im: y } = z;
    if y == 0.0 {
        return C::new(real::sinh(x), y);
    }
    if !y.is_finite() {
        // Annex G: the real part stays infinite or zero; its sign is unspecified.
        let re = if x == 0.0 || x.is_infinite() { x } else { f64::NAN };
        return C::new(re, f64::NAN);
    }
    let (s, c) = (real::sin(y), real::cos(y));
    if x.abs() > 700.0 {
        let w = times_exp(x.abs(), -1.0, C::new(c, s));
        return C::new(w.re * x.signum(), w.im);
    }
    C::new(real::sinh(x) * c, real::cosh(x) * s)
}

pub fn cosh(z: C) -> C {
    let C { re: x, im: y } = z;
    if y == 0.0 {
        // The sign of the zero is that of x y.
        return C::new(real::cosh(x), if x.is_nan() { y } else { y * x.signum() });
    }
    if !y.is_finite() {
        let re = if x.is_infinite() { f64::INFINITY } else { f64::NAN };
        return C::new(re, if x == 0.0 { x * 1f64.copysign(y) } else { f64::NAN });
    }
    let (s, c) = (real::sin(y), real::cos(y));
    if x == 0.0 {
        return C::new(c, x * s);
    }
    if x.abs() > 700.0 {
        let w = times_exp(x.abs(), -1.0, C::new(c, s));
        return C::new(w.re, w.im * x.signum());
    }
    C::new(real::cosh(x) * c, real::sinh(x) * s)
}

pub fn tanh(z: C) -> C {
    let C { re: x, im: y } = z;
    if y == 0.0 {
        return C::new(real::tanh(x), y);
    }
    if x.is_infinite() {
        let zero = if y.is_finite() { real::sin(y) * real::cos(y) } else { 1.0 };
        return C::new(1f64.copysign(x), 0f64.copysign(zero));
    }
    if !y.is_finite() || x.is_nan() {
        return C::new(if x == 0.0 { x } else { f64::NAN }, f64::NAN);
    }
    if x.abs() > 22.0 {
        // 1 + 4 i sin y cos y e^-2|x|. Multiplied by e^-|x| twice, since its square may underflow where the product does not.
        let e = real::exp(-x.abs());
        return C::new(1f64.copysign(x), 4.0 * real::sin(y) * real::cos(y) * e * e);
    }
    let t = real::tan(y);
    let s = real::sinh(x);
    let beta = t.mul_add(t, 1.0);
    let rho = s.mul_add(s, 1.0).sqrt();
    if t.is_infinite() || beta.is_infinite() {
        return C::new(rho / s, 1.0 / t);
    }
    let d = (beta * s).mul_add(s, 1.0);
    C::new(beta * rho * s / d, t / d)
}

pub fn sin(z: C) -> C {
    swap_parts(sinh(swap_parts(z)))
}

pub fn tan(z: C) -> C {
    swap_parts(tanh(swap_parts(z)))
}

pub fn cos(z: C) -> C {
    cosh(C::new(-z.im, z.re))
}

/// The parts of asin and acos of a number in the first quadrant (Hull, Fairgrieve and Tang, 1997).
struct AsinAcos {
    /// The real part of asin, computed without cancellation.
    asin: f64,
    /// The real part of acos, computed without cancellation.
    acos: f64,
    /// The magnitude of the imaginary part of both.
    size: f64,
}

fn asin_acos(x: f64, y: f64) -> AsinAcos {
    let near_real = |x: f64, size: f64| AsinAcos { asin: real::asin(x), acos: real::acos(x), size };
    if x.max(y) > LARGE {
        let (asin, acos) = (real::atan2(x, y), real::atan2(y, x));
        return AsinAcos { asin, acos, size: log_size(x, y) + LN_2 };
    }
    if y < 1e-150 || y < (x - 1.0).abs() * 1e-20 {
        // Next to the real axis, where the squares below would underflow.
        if x < 1.0 {
            return near_real(x, y / ((1.0 - x) * (1.0 + x)).sqrt());
        }
        let t = x - 1.0;
        if x > 1.0 {
            let root = (t * (x + 1.0)).sqrt();
            return AsinAcos { asin: FRAC_PI_2, acos: y / root, size: real::log1p(t + root) };
        }
        return AsinAcos { asin: FRAC_PI_2 - y.sqrt(), acos: y.sqrt(), size: y.sqrt() };
    }
    let (r, s) = (real::hypot(x + 1.0, y), real::hypot(x - 1.0, y));
    let a = 0.5 * (r + s);
    let b = x / a;
    let (mut asin, mut acos) = (0.0, 0.0);
    if b <= 0.6417 {
        (asin, acos) = (real::asin(b), real::acos(b));
    } else {
        let root = if x <= 1.0 {
            (0.5 * (a + x) * (y * y / (r + (x + 1.0)) + (s + (1.0 - x)))).sqrt()
        } else {
            y * (0.5 * ((a + x) / (r + (x + 1.0)) + (a + x) / (s + (x - 1.0)))).sqrt()
        };
        asin += real::atan2(x, root);
        acos += real::atan2(root, x);
    }
    let size = if a <= 1.5 {
        let less = if x < 1.0 {
            0.5 * (y * y / (r + (x + 1.0)) + y * y / (s + (1.0 - x)))
        } else {
            0.5 * (y * y / (r + (x + 1.0)) + (s + (x - 1.0)))
        };
        real::log1p(less + (less * (a + 1.0)).sqrt())
    } else {
        real::log(a + ((a - 1.0) * (a + 1.0)).sqrt())
    };
    AsinAcos { asin, acos, size }
}

pub fn asin(z: C) -> C {
    let C { re: x, im: y } = z;
    if x.is_nan() || y.is_nan() {
        return if x.is_infinite() || y.is_infinite() {
            if x.is_infinite() { C::new(f64::NAN, x) } else { C::new(f64::NAN, y) }
        } else if x == 0.0 {
            z
        } else {
            C::new(f64::NAN, f64::NAN)
        };
    }
    if x.is_infinite() || y.is_infinite() {
        return C::new(real::atan2(x.abs(), y.abs()).copysign(x), f64::INFINITY.copysign(y));
    }
    let w = asin_acos(x.abs(), y.abs());
    C::new(w.asin.copysign(x), w.size.copysign(y))
}

pub fn acos(z: C) -> C {
    let C { re: x, im: y } = z;
    if x.is_nan() || y.is_nan() {
        return if x.is_infinite() {
            C::new(f64::NAN, f64::NEG_INFINITY)
        } else if y.is_infinite() {
            C::new(f64::NAN, -y)
        } else if x == 0.0 {
            C::new(FRAC_PI_2, f64::NAN)
        } else {
            C::new(f64::NAN, f64::NAN)
        };
    }
    let back = |w: f64| if x.is_sign_negative() { PI - w } else { w };
    if x.is_infinite() || y.is_infinite() {
        return C::new(real::atan2(y.abs(), x), -f64::INFINITY.copysign(y));
    }
    let w = asin_acos(x.abs(), y.abs());
    C::new(back(w.acos), -w.size.copysign(y))
}

pub fn asinh(z: C) -> C {
    swap_parts(asin(swap_parts(z)))
}

pub fn acosh(z: C) -> C {
    let w = acos(z);
    if w.re.is_nan() {
        return C::new(w.im.abs(), w.re);
    }
    if w.im.is_nan() {
        return C::new(w.im, if z.re == 0.0 { w.re } else { w.im });
    }
    C::new(w.im.abs(), w.re.copysign(z.im))
}

pub fn atanh(z: C) -> C {
    let C { re: x, im: y } = z;
    let quarter = FRAC_PI_2.copysign(y);
    if x.is_nan() || y.is_nan() {
        if x.is_infinite() || x == 0.0 {
            return C::new(0f64.copysign(x), f64::NAN);
        }
        return if y.is_infinite() { C::new(0f64.copysign(x), quarter) } else { C::new(f64::NAN, f64::NAN) };
    }
    if x.is_infinite() || y.is_infinite() {
        return C::new(0f64.copysign(x), quarter);
    }
    let (a, b) = (x.abs(), y.abs());
    if a.max(b) > LARGE {
        // x / |z|^2, in steps that do not overflow.
        let h = real::hypot(a * 0.5, b * 0.5);
        return C::new((a / h / h * 0.25).copysign(x), quarter);
    }
    if a == 1.0 && b < 1e-150 {
        let re = if b == 0.0 { f64::INFINITY } else { 0.5 * (LN_2 - real::log(b)) };
        return C::new(re.copysign(x), if b == 0.0 { y } else { (PI / 4.0).copysign(y) });
    }
    let (less, more) = (1.0 - a, 1.0 + a);
    let re = 0.25 * real::log1p(4.0 * a / less.mul_add(less, b * b));
    let im = 0.5 * real::atan2(2.0 * b, less.mul_add(more, -(b * b)));
    C::new(re.copysign(x), im.copysign(y))
}

pub fn atan(z: C) -> C {
    swap_parts(atanh(swap_parts(z)))
}

pub fn pow(z: C, w: C) -> C {
    if w.re == 0.0 && w.im == 0.0 {
        return C::new(1.0, 0.0);
    }
    if z.re == 0.0 && z.im == 0.0 {
        return if w.re > 0.0 { C::new(0.0, 0.0) } else { C::new(f64::NAN, f64::NAN) };
    }
    if w.im == 0.0 && w.re.fract() == 0.0 && w.re.abs() <= 100.0 {
        return power(z, w.re as i32);
    }
    if z.im == 0.0 && w.im == 0.0 && z.re > 0.0 {
        return C::new(real::pow(z.re, w.re), 0.0);
    }
    exp(w * log(z))
}

/// Integer powers by repeated squaring. Exact where the products are.
fn power(z: C, n: i32) -> C {
    let (mut bits, mut square, mut out) = (n.unsigned_abs(), z, None::<C>);
    while bits > 0 {
        if bits & 1 == 1 {
            out = Some(out.map_or(square, |v| v * square));
        }
        square *= square;
        bits >>= 1;
    }
    let v = out.unwrap_or(C::new(1.0, 0.0));
    if n < 0 { C::new(1.0, 0.0) / v } else { v }
}

/// complex64, computed in complex128.
pub mod single {
    use num_complex::Complex;

    #[inline(always)]
    pub fn widen(z: Complex<f32>) -> Complex<f64> {
        Complex::new(z.re.into(), z.im.into())
    }

    #[inline(always)]
    pub fn narrow(z: Complex<f64>) -> Complex<f32> {
        Complex::new(z.re as f32, z.im as f32)
    }

    macro_rules! via_complex128 {
        ($args:tt $($name:ident)*) => { $(via_complex128! { @one $args $name })* };
        (@one ($($z:ident),+) $name:ident) => {
            pub fn $name($($z: Complex<f32>),+) -> Complex<f32> {
                narrow(super::$name($(widen($z)),+))
            }
        };
    }
    via_complex128! { (z)
        exp exp2 expm1 log log1p log2 log10 sqrt rsqrt sin cos tan sinc sinh cosh tanh sigmoid
        asin acos atan asinh acosh atanh
    }
    via_complex128! { (z, w) pow ldexp logaddexp logaddexp2 }
}
