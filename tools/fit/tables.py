"""Generates kernels/maths/tables.rs: the polynomials and constants of the vector functions, for float32 and float64.

python tools/fit/tables.py            writes the file, formatted; takes a few minutes
python tools/fit/tables.py --check    fails if the file differs from what would be written
"""

import subprocess
import sys
from pathlib import Path

import mpmath
from mpmath import asin, atan, atanh, cos, exp, log, mp, mpf, pi, sin, sqrt
from remez import Function, Number, fit, rounded

ROOT = Path(__file__).resolve().parents[2]
TABLES = ROOT / "crates/strided-core/src/kernels/maths/tables.rs"

LN2 = log(2)
HALF_LN2 = LN2 / 2 * mpf("1.005")
Z_LOG = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2 * mpf("1.001")
Z_TRIG = (pi / 4) ** 2 * mpf("1.002")
Z_ATAN = mpmath.tan(pi / 8) ** 2 * mpf("1.001")
MIDDLE = mpf("3.75")  # the argument of erfc that its polynomial maps to 0


def precise(f: Function) -> Function:
    """The function evaluated with 90 digits, since its differences cancel."""

    def g(v: Number) -> Number:
        with mp.workdps(90):
            return +f(mpf(v))

    return g


def erfc_scaled(t: Number) -> Number:
    a = MIDDLE * (1 + t) / (1 - t)
    with mp.workdps(50):
        return (1 + 2 * a) * exp(a * a) * mpmath.erfc(a)


def erfc_argument(a: str) -> Number:
    return (mpf(a) - MIDDLE) / (mpf(a) + MIDDLE)


def erfinv_of(v: Number) -> Number:
    """erfinv(x)/x at sqrt(-log(1 - x^2)) = v, by Newton's method on log(erfc), which is smooth."""
    v = mpf(v)
    with mp.workdps(80):
        x = sqrt(-mpmath.expm1(-v * v))
        rest = exp(-v * v) / (1 + x)  # 1 - x
        y = v * mpf("0.88")
        for _ in range(60):
            c = mpmath.erfc(y)
            step = (log(c) - log(rest)) * c * sqrt(pi) / 2 * exp(y * y)
            y += step
            if abs(step) < mpf(10) ** -40 * y:
                break
        return y / x


def lgamma_rest(w: Number) -> Number:
    x = 1 / sqrt(w)
    return (mpmath.loggamma(x) - (x - mpf(1) / 2) * log(x) + x - log(2 * pi) / 2) / sqrt(w)


def digamma_rest(w: Number) -> Number:
    return (log(1 / sqrt(w)) - sqrt(w) / 2 - mpmath.psi(0, 1 / sqrt(w))) / w


def weight_of(power: int, digits: int, scale: int = 1) -> Function:
    """The weight of a polynomial that enters the result multiplied by z^power, kept above 0 at z = 0."""
    return lambda z: z**power / scale + mpf(10) ** -digits


TINY = mpf(10) ** -12
# name: (description, f, low, high, weight, number of coefficients for f32, for f64)
FITS = {
    "EXP_POLY": ("`(e^r - 1 - r - r^2/2) / r^3` on |r| <= ln(2)/2, error relative to e^r - 1.",
        precise(lambda r: (exp(r) - 1 - r - r * r / 2) / r**3), -HALF_LN2, HALF_LN2, lambda r: abs(r**3 / mpmath.expm1(r)), 5, 10),
    "EXP2_POLY": ("`(2^f - 1 - f ln(2)) / f^2` on |f| <= 1/2, error relative to 2^f.",
        precise(lambda f: (exp(f * LN2) - 1 - f * LN2) / f**2), mpf("-0.501"), mpf("0.501"), lambda f: f * f * exp(-f * LN2) + mpf(10) ** -9, 5, 10),
    "LOG_POLY": ("`(2 atanh(s)/s - 2) / z`, z = s^2, s = f/(2+f), 1+f in [sqrt(1/2), sqrt(2)], error relative to the logarithm.",
        precise(lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z), TINY, Z_LOG, weight_of(1, 9, 2), 4, 7),
    "LOG_TAIL_POLY": ("`(2 atanh(s)/s - 2 - 2z/3) / z^2`: the same without its first term, for double-double logarithms.",
        precise(lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2 - 2 * z / 3) / z**2), TINY, Z_LOG, weight_of(2, 12, 2), 3, 8),
    "SIN_POLY": ("`(sin(r)/r - 1) / z`, z = r^2, |r| <= pi/4, relative error.",
        precise(lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z), TINY, Z_TRIG, weight_of(1, 9), 3, 6),
    "COS_POLY": ("`(cos(r) - 1 + z/2) / z^2`, z = r^2, |r| <= pi/4.",
        precise(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2), TINY, Z_TRIG, weight_of(2, 9), 3, 6),
    "ASIN_POLY": ("`(asin(s)/s - 1) / z`, z = s^2 <= 1/4, relative error.",
        precise(lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z), TINY, mpf("0.2501"), weight_of(1, 9), 6, 13),
    "ATAN_POLY": ("`(atan(s)/s - 1) / z`, z = s^2, |s| <= tan(pi/8), relative error.",
        precise(lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z), TINY, Z_ATAN, weight_of(1, 9), 5, 11),
    "ERF_POLY": ("`erf(x)/x - 1`, z = x^2 <= 1.",
        precise(lambda z: mpmath.erf(sqrt(z)) / sqrt(z) - 1), TINY, mpf("1.001"), lambda z: mpf(1), 8, 14),
    "ERFC_POLY": ("`(1 + 2a) e^(a^2) erfc(a)` for a >= 0.47, t = (a - 3.75) / (a + 3.75), relative error.",
        precise(erfc_scaled), erfc_argument("0.47"), None, lambda t: 1 / erfc_scaled(t), 11, 23),
}  # fmt: skip

# Polynomials in one dtype: float32 if the name ends with _f32, else float64. Those that are "enough for float32" serve
# float32 functions that are computed in float64.
ONE_DTYPE = {
    "log_direct_f32": ("`(log(1 + f) - f + f^2/2) / f^3`, 1 + f in [sqrt(1/2), sqrt(2)]. In float32 a division would cost more than this longer polynomial.",
        precise(lambda f: (mpmath.log1p(f) - f + f * f / 2) / f**3), sqrt(mpf("0.5")) - mpf("1.0001"), sqrt(2) - mpf("0.9999"),
        lambda f: abs(f**3 / mpmath.log1p(f)), 9),
    "tanh_small_f32": ("`(tanh(x)/x - 1) / z`, z = x^2 <= 1, relative error.",
        precise(lambda z: (mpmath.tanh(sqrt(z)) / sqrt(z) - 1) / z), TINY, mpf("1.002"),
        lambda z: z * sqrt(z) / mpmath.tanh(sqrt(z)) + mpf(10) ** -9, 8),
    "tanh_reduced": ("`(tanh(r)/r - 1) / z`, z = r^2, |r| <= 0.192, relative error: for float64.",
        precise(lambda z: (mpmath.tanh(sqrt(z)) / sqrt(z) - 1) / z), TINY, mpf("0.192") ** 2, weight_of(1, 9), 7),
    "log_single": ("`(2 atanh(s)/s - 2) / z`, z = s^2, as `log_poly`: enough for float32 and its powers.",
        precise(lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z), TINY, Z_LOG, weight_of(1, 9, 2), 5),
    "exp_single": ("`e^r` on |r| <= ln(2)/2: enough for float32.",
        precise(exp), -HALF_LN2, HALF_LN2, lambda r: exp(-r), 8),
    "log1p_single": ("`log(1 + x)/x` on [0, 1], relative error: enough for float32.",
        precise(lambda x: mpmath.log1p(x) / x), TINY, mpf("1.0001"), lambda x: x / mpmath.log1p(x), 13),
    "erfc_single": ("`(1 + 2a) e^(a^2) erfc(a)` for 0 <= a <= 11, t = (a - 3.75) / (a + 3.75): enough for float32.",
        precise(erfc_scaled), erfc_argument("0"), erfc_argument("11"), lambda t: 1 / erfc_scaled(t), 13),
    "erfinv_middle": ("`erfinv(x)/x`, w = -log(1 - x^2) in [0, 5], in w - 2.5: enough for float32.",
        lambda u: erfinv_of(sqrt(mpf(u) + mpf("2.5"))), mpf("-2.49999999"), mpf("2.51"), lambda u: mpf(1), 12),
    "erfinv_direct": ("`erfinv(x)/x` likewise, in w - 1.25: for float64.",
        lambda u: erfinv_of(sqrt(mpf(u) + mpf("1.25"))), mpf("-1.24999999"), mpf("3.76"), lambda u: mpf(1), 23),
    "erfinv_tail_single": ("`erfinv(x)/x`, w = -log(1 - x^2) in [5, 16.7], in sqrt(w) - 3: enough for float32.",
        lambda u: erfinv_of(mpf(u) + 3), mpf("-0.77"), mpf("1.08"), lambda u: mpf(1), 11),
    "erfinv_tail": ("`erfinv(x)/x`, w = -log(1 - x^2) in [5, 37.5], in sqrt(w) - 4: enough for a step of Halley's method to follow.",
        lambda u: erfinv_of(mpf(u) + 4), mpf("-1.77"), mpf("2.13"), lambda u: mpf(1), 12),
    "lgamma_series": ("`x (lgamma(x) - (x - 1/2) log x + x - log(2 pi)/2)`, w = 1/x^2, x >= 8.",
        precise(lgamma_rest), mpf(10) ** -8, mpf(1) / 63, lambda w: mpf(1), 7),
    "digamma_series": ("`x^2 (log x - 1/(2x) - digamma(x))`, w = 1/x^2, x >= 8.",
        precise(digamma_rest), mpf(10) ** -8, mpf(1) / 63, lambda w: mpf(1), 7),
}  # fmt: skip

# Evaluated in one chain: the terms cancel at 1, and two chains would round too often.
ONE_CHAIN = {"ERF_POLY", "tanh_small_f32"}
# Evaluated with the constant term last, so that it is rounded once.
FIRST_LAST = {"erfinv_direct"}

# name: (description, value, whether the first number has spare low bits)
CONSTANTS = {
    "LN2": ("ln(2)", LN2, True),
    "LN2_FULL": ("ln(2)", LN2, False),
    "LOG2_E": ("log2(e)", 1 / LN2, False),
    "LOG10_2": ("log10(2)", log(2) / log(10), True),
    "LOG10_E": ("log10(e)", 1 / log(10), False),
    "HALF_PI": ("pi/2", pi / 2, False),
    "TWO_THIRDS": ("2/3", mpf(2) / 3, False),
    "PI": ("pi", pi, False),
    "TWO_OVER_PI": ("2/pi", 2 / pi, False),
}


def show(value: Number) -> str:
    return repr(float(value))


def chain(c: list[str], variable: str, dtype: str) -> str:
    """Horner's method, unrolled: the compiler does not always unroll a loop over a table, and then vectorises nothing."""
    return f"({c[-1]}_{dtype})" + "".join(f".mul_add({variable}, {v})" for v in reversed(c[:-1]))


def polynomial(c: list[str], dtype: str, name: str) -> str:
    """Even and odd terms in two chains, from four coefficients on: half the latency for one more product."""
    if len(c) < 4 or name in ONE_CHAIN:
        return chain(c, "x", dtype)
    if name in FIRST_LAST:
        return f"{polynomial(c[1:], dtype, '')}.mul_add(x, {c[0]})"
    even, odd = chain(c[::2], "y", dtype), chain(c[1::2], "y", dtype)
    return f"let y = x * x; let even = {even}; let odd = {odd}; odd.mul_add(x, even)"


def expansion(value: Number, short: bool, dtype: str) -> str:
    """The value as a sum of three numbers. If short, the first has spare low bits: its product with an integer is exact."""
    out, rest = [], value
    for i in range(3):
        if i == 0 and short:
            keep = (24 - 9) if dtype == "f32" else (53 - 12)
            q = mpf(2) ** (keep - 1 - int(mpmath.floor(mpmath.log(rest, 2))))
            part = mpmath.nint(rest * q) / q
        else:
            part = rounded(rest, dtype)
        out.append(show(part))
        rest -= part
    return ", ".join(out)


def as_power(error: Number) -> str:
    return f"2^{float(mpmath.log(error, 2)):.1f}"


def table(dtype: str) -> str:
    out = [f"\nimpl Tables for {dtype} {{"]
    for name, (_, f, low, high, weight, n32, n64) in FITS.items():
        if high is None:  # up to where erfc underflows
            high = erfc_argument("11" if dtype == "f32" else "27.5")
        c, error = fit(f, low, high, n32 if dtype == "f32" else n64, weight, dtype)
        print(f"{dtype} {name}: {as_power(error)}", file=sys.stderr)
        body = polynomial([show(v) for v in c], dtype, name)
        out += [
            f"/// Error {as_power(error)}.",
            "#[inline(always)]",
            f"fn {name.lower()}(x: {dtype}) -> {dtype} {{ {body} }}",
        ]
    for name, (_, value, short) in CONSTANTS.items():
        out.append(f"const {name}: [{dtype}; 3] = [{expansion(value, short, dtype)}];")
    return "\n".join([*out, "}"])


def one_dtype(name: str) -> str:
    what, f, low, high, weight, count = ONE_DTYPE[name]
    dtype = "f32" if name.endswith("_f32") else "f64"
    c, error = fit(f, low, high, count, weight, dtype, points=200)
    print(f"{name}: {as_power(error)}", file=sys.stderr)
    body = polynomial([show(v) for v in c], dtype, name)
    return (
        f"\n/// {what} Error {as_power(error)}.\n#[inline(always)]\npub fn {name}(x: {dtype}) -> {dtype} {{ {body} }}"
    )


HEAD = """\
//! Polynomials and constants of the vector functions. Generated by tools/fit/tables.py: do not edit.
#![allow(clippy::excessive_precision, clippy::approx_constant, clippy::unreadable_literal)]

/// Minimax polynomials; constants as unevaluated sums of three numbers, each the rounded rest of those before.
pub trait Tables: Sized + 'static {"""


def trait() -> str:
    out = [HEAD]
    for name, (what, *_) in FITS.items():
        out += [f"    /// {what}", f"    fn {name.lower()}(x: Self) -> Self;"]
    for name, (what, _, short) in CONSTANTS.items():
        remark = (
            ". The first number has spare low bits, so that its products with small integers are exact."
            if short
            else "."
        )
        out += [f"    /// {what}{remark}", f"    const {name}: [Self; 3];"]
    return "\n".join([*out, "}"])


def main() -> int:
    text = "\n".join([trait(), *map(table, ("f32", "f64")), *map(one_dtype, ONE_DTYPE)]) + "\n"
    rustfmt = ["rustfmt", "--edition", "2024", "--config-path", str(ROOT / "rustfmt.toml")]
    done = subprocess.run(rustfmt, input=text, stdout=subprocess.PIPE, text=True, check=True)
    if sys.argv[1:] == ["--check"]:
        same = done.stdout == TABLES.read_text()
        print(f"{TABLES.name} {'is' if same else 'is not'} up to date")
        return int(not same)
    TABLES.write_text(done.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
