//! The exact bodies of complex functions: complex128, and complex64 through it. Scalar, with the special values of C99's Annex G.
//!
//! Circular functions are the hyperbolic ones transposed by a quarter (or the other way round): `transposed` swaps the parts, and
//! `f(transposed(z)) = transposed(g(z))` for the pairs sin/sinh, tan/tanh, asin/asinh and atan/atanh.

use super::exact::double as real;
use crate::scalar::{Field, Float};
use num_complex::Complex;
use std::f64::consts::{FRAC_PI_2, LN_2, PI};

type C = Complex<f64>;

/// Squares of numbers between 1/SAFE and SAFE neither overflow nor vanish.
const SAFE: f64 = 1e150;
/// Beyond this, z^2 + 1 is z^2.
const LARGE: f64 = 1e18;

/// `i conj(z)`: the parts swapped.
fn transposed(z: C) -> C {
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

/// `e^x 2^twos w`, in steps where e^x overflows and the product may not.
fn times_exp(x: f64, twos: f64, w: C) -> C {
    if x > 700.0 && x < 1500.0 {
        let n = (x / LN_2).floor();
        let rest = real::exp((-n).mul_add(LN_2, x) - n * 2.319_046_813_846_299_6e-17);
        return times_power(rest, n + twos, w);
    }
    let e = real::exp(x).scale(twos);
    C::new(product(e, w.re), product(e, w.im))
}

/// `rest 2^n w` for a whole n, where w is not large. Scaling rounds once, and what is subnormal gets its digits first.
fn times_power(rest: f64, n: f64, w: C) -> C {
    let part = |x: f64| (x.scale(100.0) * rest).scale(n - 100.0);
    C::new(part(w.re), part(w.im))
}

/// `a b`, where 0 times infinity is a zero with b's sign (a is exp of something finite or a saturated one).
fn product(a: f64, b: f64) -> f64 {
    if b == 0.0 { b } else { a * b }
}

/// log |z|, to the last bits near |z| = 1 too.
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
            // x^2 + y^2 - 1 with the errors of the squares.
            let (ex, ey) = (x.mul_add(x, -xx), y.mul_add(y, -yy));
            let (s, es) = sum(xx, -1.0);
            let (t, et) = sum(s, yy);
            return 0.5 * real::log1p(t + (es + et + ex + ey));
        }
    }
    real::log(real::hypot(x, y))
}

/// `a + b` and its rounding error.
fn sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let v = s - a;
    (s, (a - (s - v)) + (b - v))
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

/// A number in two words: of a large angle, or a large power, the rounding counts.
type Words = [f64; 2];

fn times_ln2(y: f64) -> Words {
    let angle = y * LN_2;
    [angle, y.mul_add(LN_2, -angle) + y * 2.319_046_813_846_299_6e-17]
}

fn times_pi(y: f64) -> Words {
    let angle = y * PI;
    [angle, y.mul_add(PI, -angle) + y * 1.224_646_799_147_353_2e-16]
}

/// e^(iy).
fn phase([y, rest]: Words) -> C {
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

/// z 2^w: exact where w is whole.
pub fn ldexp(z: C, w: C) -> C {
    if w.im == 0.0 {
        return C::new(real::ldexp(z.re, w.re), real::ldexp(z.im, w.re));
    }
    if !w.re.is_finite() {
        return z * exp2(w);
    }
    let scaled = |z: C, n: f64| C::new(z.re.scale(n), z.im.scale(n));
    // Parts of the product may be larger than the result, or have fewer digits.
    let spare = match z.re.abs().max(z.im.abs()) {
        size if size > 1e300 => 4.0,
        size if size < 1e-280 => -100.0,
        _ => 0.0,
    };
    let whole = w.re.trunc();
    scaled(scaled(z, -spare) * exp2(C::new(w.re - whole, w.im)), whole + spare)
}

/// e^z - 1, also where that is near 0.
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

/// log(1 + z), also where z is near 0.
pub fn log1p(z: C) -> C {
    let C { re: x, im: y } = z;
    if x.abs() > 0.5 || y.abs() > 0.5 || x.is_nan() || y.is_nan() {
        return log(C::new(1.0 + x, y));
    }
    C::new(real::log1p(x * (2.0 + x) + y * y) / 2.0, real::atan2(y, 1.0 + x))
}

/// log(e^(iy) + e^(x + iv)) where x is 0 or less: the principal value, also where that sum is near 0.
fn log_of_sum(y: Words, x: f64, v: Words) -> C {
    let (own, size) = (phase(y), real::exp(x));
    if size == 0.0 {
        return C::new(0.0, real::atan2(own.im, own.re));
    }
    // 1 + e^(x + id), by which the first term is multiplied.
    let (d, rest) = sum(v[0], -y[0]);
    let rest = rest + (v[1] - y[1]);
    let (w, half) = if d.is_finite() {
        (phase([d, rest]), phase([d * 0.5, rest * 0.5]).re)
    } else {
        let w = phase(v) * own.conj();
        (w, (w.re * 0.5 + 0.5).max(0.0).sqrt())
    };
    let factor = C::new(real::expm1(x).mul_add(w.re, 2.0 * half * half), size * w.im);
    let both = own * factor;
    let re = if x < -1.0 { 0.5 * real::log1p(size * (2.0 * w.re + size)) } else { log(factor).re };
    C::new(re, real::atan2(both.im, both.re))
}

/// The logarithm of a sum of two powers, whose base has this logarithm; angles become natural ones. What is infinitely far
/// below counts as nothing, whatever its angle.
fn log_of_powers(a: C, b: C, base: f64, angle: fn(f64) -> Words) -> C {
    let (high, low) = if a.re >= b.re { (a, b) } else { (b, a) };
    let is_known = |z: C| z.re == f64::NEG_INFINITY || z.im.is_finite() && !z.re.is_nan();
    if !is_known(high) || !is_known(low) {
        return C::new(f64::NAN, f64::NAN);
    }
    if high.re == f64::NEG_INFINITY {
        return C::new(high.re, 0.0);
    }
    let apart = if high.re == low.re { 0.0 } else { (low.re - high.re) * base };
    let w = log_of_sum(angle(high.im), apart, angle(low.im));
    C::new(high.re + w.re / base, w.im / base)
}

/// log(e^a + e^b).
pub fn logaddexp(a: C, b: C) -> C {
    log_of_powers(a, b, 1.0, |y| [y, 0.0])
}

/// log2(2^a + 2^b).
pub fn logaddexp2(a: C, b: C) -> C {
    log_of_powers(a, b, LN_2, times_ln2)
}

/// The logarithm to another base, whose own logarithm is the exact parts' quotient.
fn log_to(z: C, base: f64, log_of: fn(f64) -> f64) -> C {
    let w = log(z);
    let size = if z.im == 0.0 && z.re.is_finite() && z.re != 0.0 { log_of(z.re.abs()) } else { w.re / base };
    C::new(size, w.im / base)
}

pub fn log2(z: C) -> C {
    log_to(z, LN_2, real::log2)
}

pub fn log10(z: C) -> C {
    log_to(z, std::f64::consts::LN_10, real::log10)
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
    // Scaled by powers of four, so that neither hypot nor the sum leaves the range.
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

/// 1 / (1 + e^-z) = (e^x + cos y + i sin y) / 2(cosh x + cos y), with half angles so that nothing is lost near the poles, the
/// odd multiples of i pi.
pub fn sigmoid(z: C) -> C {
    let C { re: x, im: y } = z;
    if y == 0.0 {
        return C::new(real::sigmoid(x), y);
    }
    if x < -700.0 {
        return exp(z);
    }
    if x > 40.0 {
        // Angles that there are not matter unless the power is 0.
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
        // The sign of the zero is that of the slope.
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
        // An infinite real part stays, of either sign; a zero one too.
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
        // 1 + 4 i sin y cos y e^-2|x|; in two steps, since the square of the power may vanish before the product.
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
    transposed(sinh(transposed(z)))
}

pub fn tan(z: C) -> C {
    transposed(tanh(transposed(z)))
}

pub fn cos(z: C) -> C {
    cosh(C::new(-z.im, z.re))
}

/// What asin and acos share (Hull, Fairgrieve and Tang, 1997), for the first quadrant.
struct Arc {
    /// asin and acos of the real part's share, each without cancellation.
    asin: f64,
    acos: f64,
    /// The imaginary part's size.
    size: f64,
}

fn arc(x: f64, y: f64) -> Arc {
    let whole = |x: f64, size: f64| Arc { asin: real::asin(x), acos: real::acos(x), size };
    if x.max(y) > LARGE {
        let (asin, acos) = (real::atan2(x, y), real::atan2(y, x));
        return Arc { asin, acos, size: log_size(x, y) + LN_2 };
    }
    if y < 1e-150 || y < (x - 1.0).abs() * 1e-20 {
        // Next to the real line; the squares below would vanish.
        if x < 1.0 {
            return whole(x, y / ((1.0 - x) * (1.0 + x)).sqrt());
        }
        let t = x - 1.0;
        if x > 1.0 {
            let root = (t * (x + 1.0)).sqrt();
            return Arc { asin: FRAC_PI_2, acos: y / root, size: real::log1p(t + root) };
        }
        return Arc { asin: FRAC_PI_2 - y.sqrt(), acos: y.sqrt(), size: y.sqrt() };
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
    Arc { asin, acos, size }
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
    let w = arc(x.abs(), y.abs());
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
    let w = arc(x.abs(), y.abs());
    C::new(back(w.acos), -w.size.copysign(y))
}

pub fn asinh(z: C) -> C {
    transposed(asin(transposed(z)))
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
        // x / |z|^2, the sides scaled by the larger one.
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
    transposed(atanh(transposed(z)))
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

/// Integer powers by squaring: exact where the products are.
fn power(z: C, n: i32) -> C {
    let (mut left, mut square, mut out) = (n.unsigned_abs(), z, None::<C>);
    while left > 0 {
        if left & 1 == 1 {
            out = Some(out.map_or(square, |v| v * square));
        }
        square *= square;
        left >>= 1;
    }
    let v = out.unwrap_or(C::new(1.0, 0.0));
    if n < 0 { C::new(1.0, 0.0) / v } else { v }
}

/// complex64: through complex128.
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

    macro_rules! through {
        ($args:tt $($name:ident)*) => { $(through! { @one $args $name })* };
        (@one ($($z:ident),+) $name:ident) => {
            pub fn $name($($z: Complex<f32>),+) -> Complex<f32> {
                narrow(super::$name($(widen($z)),+))
            }
        };
    }
    through! { (z)
        exp exp2 expm1 log log1p log2 log10 sqrt rsqrt sin cos tan sinc sinh cosh tanh sigmoid
        asin acos atan asinh acosh atanh
    }
    through! { (z, w) pow ldexp logaddexp logaddexp2 }
}
