"""Writes src/tables.rs: every polynomial of the vector functions, for float32 and float64.

    python fit/tables.py > src/tables.rs
"""
from mpmath import mp, mpf, exp, log, sin, cos, sqrt, atan, asin, pi, atanh
import mpmath, sys
from remez import fit, rounded

LN2 = log(2)
half_ln2 = LN2 / 2 * mpf('1.005')
zlog = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2 * mpf('1.001')
ztrig = (pi / 4) ** 2 * mpf('1.002')
zatan = mpmath.tan(pi / 8) ** 2 * mpf('1.001')
big = 30  # extra digits for the differences below


def wide(f):
    def g(v):
        with mp.workdps(90):
            return +f(mpf(v))
    return g

# name: (doc, f, low, high, weight, coefficients for f32, for f64)
FITS = {
    'EXP_POLY': ('`(e^r - 1 - r - r^2/2) / r^3` on |r| <= ln(2)/2, error relative to e^r - 1.',
            wide(lambda r: (exp(r) - 1 - r - r * r / 2) / r ** 3), -half_ln2, half_ln2, lambda r: abs(r ** 3 / mpmath.expm1(r)), 5, 10),
    'LOG_POLY': ('`(2 atanh(s)/s - 2) / z`, z = s^2, s = f/(2+f), 1+f in [sqrt(1/2), sqrt(2)], error relative to the logarithm.',
            wide(lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z), 0, zlog, lambda z: z / 2 + mpf(10) ** -9, 4, 7),
    'LOG_TAIL_POLY': ('`(2 atanh(s)/s - 2 - 2z/3) / z^2`: the same without its first term, for logarithms of twice the precision.',
            wide(lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2 - 2 * z / 3) / z ** 2), 0, zlog, lambda z: z ** 2 / 2 + mpf(10) ** -12, 3, 8),
    'SIN_POLY': ('`(sin(r)/r - 1) / z`, z = r^2, |r| <= pi/4, relative error.',
            wide(lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z), 0, ztrig, lambda z: z + mpf(10) ** -9, 3, 6),
    'COS_POLY': ('`(cos(r) - 1 + z/2) / z^2`, z = r^2, |r| <= pi/4.',
            wide(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z ** 2), 0, ztrig, lambda z: z ** 2 + mpf(10) ** -9, 3, 6),
    'ASIN_POLY': ('`(asin(s)/s - 1) / z`, z = s^2 <= 1/4, relative error.',
            wide(lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z), 0, mpf('0.2501'), lambda z: z + mpf(10) ** -9, 6, 13),
    'ATAN_POLY': ('`(atan(s)/s - 1) / z`, z = s^2, |s| <= tan(pi/8), relative error.',
            wide(lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z), 0, zatan, lambda z: z + mpf(10) ** -9, 5, 11),
    'ERF_POLY': ('`erf(x)/x - 1`, z = x^2 <= 1.',
            wide(lambda z: mpmath.erf(sqrt(z)) / sqrt(z) - 1), 0, mpf('1.001'), lambda z: mpf(1), 8, 14),
    'ERFC_POLY': ('`(1 + 2a) e^(a^2) erfc(a)` for a >= 0.47, t = (a - 3.75) / (a + 3.75), relative error.',
            wide(lambda t: erfcx_like(t)), -1, None, lambda t: 1 / erfcx_like(t), 11, 23),
}


def erfcx_like(t):
    a = mpf('3.75') * (1 + t) / (1 - t)
    with mp.workdps(50):
        return (1 + 2 * a) * exp(a * a) * mpmath.erfc(a)


def erfinv_of(v):
    """erfinv(x)/x at sqrt(-log(1 - x^2)) = v: Newton's rule on log(erfc), which is smooth."""
    v = mpf(v)
    with mp.workdps(80):
        x = sqrt(-mpmath.expm1(-v * v))
        rest = exp(-v * v) / (1 + x)  # 1 - x
        y = v * mpf('0.88')
        for _ in range(60):
            c = mpmath.erfc(y)
            step = (log(c) - log(rest)) * c * sqrt(pi) / 2 * exp(y * y)
            y += step
            if abs(step) < mpf(10) ** -40 * y:
                break
        return y / x


# For one dtype: float64, where float32 goes through it, or as the name says.
WIDE = {
    'log_direct_f32': ('`(log(1 + f) - f + f^2/2) / f^3`, 1 + f in [sqrt(1/2), sqrt(2)]: for float32 a division costs more.',
            wide(lambda f: (mpmath.log1p(f) - f + f * f / 2) / f ** 3), sqrt(mpf('0.5')) - mpf('1.0001'), sqrt(2) - mpf('0.9999'),
            lambda f: abs(f ** 3 / mpmath.log1p(f)), 9),
    'log_single': ('`(2 atanh(s)/s - 2) / z`, z = s^2, as `log_poly`: enough for float32 and its powers.',
            wide(lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z), mpf(10) ** -12, zlog, lambda z: z / 2 + mpf(10) ** -9, 5),
    'exp_single': ('`e^r` on |r| <= ln(2)/2: enough for float32.',
            wide(exp), -half_ln2, half_ln2, lambda r: exp(-r), 8),
    'erfc_single': ('`(1 + 2a) e^(a^2) erfc(a)` for 0.47 <= a <= 11, t = (a - 3.75) / (a + 3.75): enough for float32.',
            wide(lambda t: erfcx_like(t)), (mpf('0.47') - mpf('3.75')) / (mpf('0.47') + mpf('3.75')), mpf('7.25') / mpf('14.75'),
            lambda t: 1 / erfcx_like(t), 12),
    'erfinv_middle': ('`erfinv(x)/x`, w = -log(1 - x^2) in [0, 5], in w - 2.5; relative error.',
            lambda u: erfinv_of(sqrt(mpf(u) + mpf('2.5'))), mpf('-2.49999999'), mpf('2.51'), lambda u: mpf(1), 13),
    'erfinv_tail_single': ('`erfinv(x)/x`, w = -log(1 - x^2) in [5, 16.7], in sqrt(w) - 3: all of float32.',
            lambda u: erfinv_of(mpf(u) + 3), mpf('-0.77'), mpf('1.08'), lambda u: mpf(1), 11),
    'erfinv_tail': ('`erfinv(x)/x`, w = -log(1 - x^2) in [5, 37.5], in sqrt(w) - 4: enough for one step of Halley.',
            lambda u: erfinv_of(mpf(u) + 4), mpf('-1.77'), mpf('2.13'), lambda u: mpf(1), 12),
    'lgamma_series': ('`x (lgamma(x) - (x - 1/2) log x + x - log(2 pi)/2)`, w = 1/x^2, x >= 8.',
            wide(lambda w: (mpmath.loggamma(1 / sqrt(w)) - (1 / sqrt(w) - mpf(1) / 2) * log(1 / sqrt(w)) + 1 / sqrt(w) - log(2 * pi) / 2) / sqrt(w)),
            mpf(10) ** -8, mpf(1) / 63, lambda w: mpf(1), 7),
    'digamma_series': ('`x^2 (log x - 1/(2x) - digamma(x))`, w = 1/x^2, x >= 8.',
            wide(lambda w: (log(1 / sqrt(w)) - sqrt(w) / 2 - mpmath.psi(0, 1 / sqrt(w))) / w),
            mpf(10) ** -8, mpf(1) / 63, lambda w: mpf(1), 7),
}



def show(v):
    return repr(float(v))


def chain(c, var):
    """Horner's rule, written out: a loop over a table is not always unrolled, and then nothing is vectorised."""
    out = c[-1] if c[-1][0] != '-' else f'({c[-1]})'
    if len(c) > 1:
        out = f'({c[-1]}f0)'.replace('f0', '_TYPE_')
    for v in reversed(c[:-1]):
        out += f'.mul_add({var}, {v})'
    return out


def polynomial(c, chains=2):
    """Two chains from four coefficients on: half the latency for one more product."""
    if len(c) < 4 or chains == 1:
        return ['        ' + chain(c, 'x')]
    return ['        let y = x * x;', f'        let even = {chain(c[::2], "y")};', f'        let odd = {chain(c[1::2], "y")};',
            '        odd.mul_add(x, even)']


def table(dtype):
    print(f'impl Tables for {dtype} {{')
    for name, (doc, f, low, high, weight, n32, n64) in FITS.items():
        low = low if low != 0 else mpf(10) ** -12
        if high is None:
            # As far as erfc is not 0.
            last = mpf(11) if dtype == 'f32' else mpf('27.5')
            low, high = (mpf('0.47') - mpf('3.75')) / (mpf('0.47') + mpf('3.75')), (last - mpf('3.75')) / (last + mpf('3.75'))
        c, err = fit(f, low, high, n32 if dtype == 'f32' else n64, weight, dtype)
        print(f'{dtype} {name}: 2^{float(mpmath.log(err, 2)):.1f}', file=sys.stderr)
        print(f'    /// Error 2^{float(mpmath.log(err, 2)):.1f}.')
        print('    #[inline(always)]')
        print(f'    fn {name.lower()}(x: {dtype}) -> {dtype} {{')
        # The terms of erf cancel at 1: one chain rounds less.
        lines = polynomial([show(v) for v in c], chains=1 if name == 'ERF_POLY' else 2)
        print('\n'.join(lines).replace('_TYPE_', f'_{dtype}'))
        print('    }')
    # Constants in words: each the rounded rest of the ones before.
    for name, value, bits in WORDS:
        print(f'    const {name}: [{dtype}; 3] = [{", ".join(words(value, bits, dtype))}];')
    print('}')


def words(value, short, dtype):
    """The value as three numbers; with `short` the first has spare low bits, so that a product with an integer is exact."""
    out, rest = [], value
    for i in range(3):
        if i == 0 and short:
            keep = (24 - 9) if dtype == 'f32' else (53 - 12)
            e = int(mpmath.floor(mpmath.log(rest, 2)))
            q = mpf(2) ** (keep - 1 - e)
            w = mpmath.nint(rest * q) / q
        else:
            w = rounded(rest, dtype)
        out.append(show(w))
        rest -= w
    return out


WORDS = [('LN2', LN2, True), ('LN2_FULL', LN2, False), ('LOG2_E', 1 / LN2, False), ('LOG10_2', log(2) / log(10), True),
         ('LOG10_E', 1 / log(10), False), ('HALF_PI', pi / 2, False), ('TWO_THIRDS', mpf(2) / 3, False), ('PI', pi, False),
         ('TWO_OVER_PI', 2 / pi, False)]

print('//! Polynomials and constants of the vector functions. Written by fit/tables.py: do not edit.')
print('#![allow(clippy::excessive_precision, clippy::approx_constant, clippy::unreadable_literal)]')
print()
print('/// Minimax polynomials (lowest order first), and constants in words: each the rounded rest of the ones before.')
print('pub trait Tables: Sized + \'static {')
for name, (doc, *_) in FITS.items():
    print(f'    /// {doc}')
    print(f'    fn {name.lower()}(x: Self) -> Self;')
for name, _, short in WORDS:
    print(f'    /// {name}' + (', the first word short: its products with small integers are exact.' if short else '.'))
    print(f'    const {name}: [Self; 3];')
print('}')
for d in ('f32', 'f64'):
    print()
    table(d)

for name, (doc, f, low, high, weight, n) in WIDE.items():
    dtype = name[-3:] if name[-4:] in ('_f32', '_f64') else 'f64'
    c, err = fit(f, low, high, n, weight, dtype, points=200)
    size = float(mpmath.log(err, 2))
    print(f'{name}: 2^{size:.1f}', file=sys.stderr)
    print()
    print(f'/// {doc} Error 2^{size:.1f}.')
    print('#[inline(always)]')
    print(f'pub fn {name}(x: {dtype}) -> {dtype} {{')
    print('\n'.join(line[4:] for line in polynomial([show(v) for v in c])).replace('_TYPE_', f'_{dtype}'))
    print('}')
