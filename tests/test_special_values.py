"""The special cases that the array API standard lists, for real and complex numbers, as tables.

Every line is one of the standard's sentences: what the operands are, and what the result is. `any` number stands for all kinds
of them, and a class of numbers for a few of its members.
"""

import math
from itertools import product

import numpy as np
import pytest

import strided as st

INF, NAN, PI = math.inf, math.nan, math.pi
POSITIVE = (5e-324, 1e-40, 0.25, 1.0, 2.0, 3.0, 700.0, 1e30)
NUMBERS = {
    "nan": (NAN,),
    "+0": (0.0,),
    "-0": (-0.0,),
    "0": (0.0, -0.0),
    "+inf": (INF,),
    "-inf": (-INF,),
    "inf": (INF, -INF),
    "positive": POSITIVE,
    "negative": tuple(-x for x in POSITIVE),
    "finite": (*POSITIVE, 0.0, -0.0, *(-x for x in POSITIVE)),
    "nonzero": (*POSITIVE, *(-x for x in POSITIVE)),
    "number": (*POSITIVE, 0.0, -0.0, *(-x for x in POSITIVE), INF, -INF),
    "any": (*POSITIVE, 0.0, -0.0, *(-x for x in POSITIVE), INF, -INF, NAN),
    "above 0": (*POSITIVE, INF),
    "below 0": (*(-x for x in POSITIVE), -INF),
    "above 1": (1.5, 2.0, 1e30, INF),
    "below -1": (-1.5, -2.0, -1e30, -INF),
    "below 1": (0.5, 0.0, -0.0, -3.0, -INF),
    "within 1": (0.25, -0.5, 1e-40, 0.0, -0.0),
    "beyond 1": (1.5, -2.0, 1e30, -1e30),
    "odd": (1.0, 3.0, 7.0),
    "even": (2.0, 6.0, 0.5, 1e30),  # or not an integer
    "negative odd": (-1.0, -3.0, -7.0),
    "negative even": (-2.0, -6.0, -0.5, -1e30),
    "fraction": (0.5, 2.5, -1.5, 1e-3),
}


def kinds(word):
    return NUMBERS[word] if word in NUMBERS else (float(word),)


REAL = """
acos: nan -> nan | above 1 -> nan | below -1 -> nan | 1 -> +0
acosh: nan -> nan | below 1 -> nan | 1 -> +0 | +inf -> +inf
asin: nan -> nan | above 1 -> nan | below -1 -> nan | +0 -> +0 | -0 -> -0
asinh: nan -> nan | +0 -> +0 | -0 -> -0 | +inf -> +inf | -inf -> -inf
atan: nan -> nan | +0 -> +0 | -0 -> -0 | +inf -> pi/2 | -inf -> -pi/2
atan2: nan, any -> nan | any, nan -> nan | positive, 0 -> pi/2 | +0, positive -> +0 | +0, +0 -> +0 | +0, -0 -> pi
atan2: +0, negative -> pi | -0, positive -> -0 | -0, +0 -> -0 | -0, -0 -> -pi | -0, negative -> -pi | negative, 0 -> -pi/2
atan2: positive, +inf -> +0 | positive, -inf -> pi | negative, +inf -> -0 | negative, -inf -> -pi | +inf, finite -> pi/2
atan2: -inf, finite -> -pi/2 | +inf, +inf -> pi/4 | +inf, -inf -> 3pi/4 | -inf, +inf -> -pi/4 | -inf, -inf -> -3pi/4
atanh: nan -> nan | above 1 -> nan | below -1 -> nan | -1 -> -inf | 1 -> +inf | +0 -> +0 | -0 -> -0
ceil: +inf -> +inf | -inf -> -inf | +0 -> +0 | -0 -> -0 | nan -> nan | 3 -> 3 | -0.5 -> -0
floor: +inf -> +inf | -inf -> -inf | +0 -> +0 | -0 -> -0 | nan -> nan | 3 -> 3 | 0.5 -> +0
trunc: +inf -> +inf | -inf -> -inf | +0 -> +0 | -0 -> -0 | nan -> nan | -3 -> -3 | -0.5 -> -0
cos: nan -> nan | 0 -> 1 | inf -> nan
cosh: nan -> nan | 0 -> 1 | inf -> +inf
exp: nan -> nan | 0 -> 1 | +inf -> +inf | -inf -> +0
expm1: nan -> nan | +0 -> +0 | -0 -> -0 | +inf -> +inf | -inf -> -1
hypot: inf, any -> +inf | any, inf -> +inf | nan, finite -> nan | finite, nan -> nan | 0, 0 -> +0
log: nan -> nan | below 0 -> nan | 0 -> -inf | 1 -> +0 | +inf -> +inf
log2: nan -> nan | below 0 -> nan | 0 -> -inf | 1 -> +0 | +inf -> +inf
log10: nan -> nan | below 0 -> nan | 0 -> -inf | 1 -> +0 | +inf -> +inf
log1p: nan -> nan | below -1 -> nan | -1 -> -inf | -0 -> -0 | +0 -> +0 | +inf -> +inf
logaddexp: nan, any -> nan | any, nan -> nan | +inf, number -> +inf | number, +inf -> +inf
maximum: nan, any -> nan | any, nan -> nan | +inf, number -> +inf | finite, -inf -> first
minimum: nan, any -> nan | any, nan -> nan | number, -inf -> -inf | finite, +inf -> first
add: nan, any -> nan | any, nan -> nan | +inf, -inf -> nan | -inf, +inf -> nan | +inf, finite -> +inf | finite, -inf -> -inf
add: -0, -0 -> -0 | -0, +0 -> +0 | +0, -0 -> +0 | +0, +0 -> +0
mul: nan, any -> nan | any, nan -> nan | inf, 0 -> nan | 0, inf -> nan | positive, -inf -> -inf | -0, positive -> -0
div: nan, any -> nan | any, nan -> nan | inf, inf -> nan | 0, 0 -> nan | +0, positive -> +0 | -0, positive -> -0
div: +0, negative -> -0 | -0, negative -> +0 | positive, +0 -> +inf | positive, -0 -> -inf | negative, +0 -> -inf
div: negative, -0 -> +inf | +inf, positive -> +inf | +inf, negative -> -inf | positive, +inf -> +0 | positive, -inf -> -0
floor_divide: nan, any -> nan | any, nan -> nan | 0, 0 -> nan | +0, positive -> +0 | -0, positive -> -0
floor_divide: +0, negative -> -0 | -0, negative -> +0 | positive, +0 -> +inf | positive, -0 -> -inf
remainder: nan, any -> nan | any, nan -> nan | inf, any -> nan | any, 0 -> nan | +0, positive -> +0 | -0, positive -> +0
remainder: +0, negative -> -0 | -0, negative -> -0
pow: number, 0 -> 1 | nan, 0 -> 1 | nan, nonzero -> nan | beyond 1, +inf -> +inf | beyond 1, -inf -> +0 | 1, number -> 1
pow: -1, inf -> 1 | within 1, +inf -> +0 | 0.5, -inf -> +inf | -0.5, -inf -> +inf | +inf, above 0 -> +inf | +inf, below 0 -> +0
pow: -inf, odd -> -inf | -inf, even -> +inf | -inf, negative odd -> -0 | -inf, negative even -> +0 | +0, above 0 -> +0
pow: +0, below 0 -> +inf | -0, odd -> -0 | -0, even -> +0 | -0, negative odd -> -inf | -0, negative even -> +inf
pow: negative, fraction -> nan | nonzero, nan -> own pow
reciprocal: nan -> nan | +0 -> +inf | -0 -> -inf | +inf -> +0 | -inf -> -0
sign: nan -> nan | 0 -> +0 | positive -> 1 | negative -> -1 | +inf -> 1 | -inf -> -1
signbit: +0 -> false | -0 -> true | +inf -> false | -inf -> true | positive -> false | negative -> true
copysign: nan, any -> nan | +inf, -0 -> -inf | +0, negative -> -0 | 1, -inf -> -1 | -2, positive -> 2
sin: nan -> nan | +0 -> +0 | -0 -> -0 | inf -> nan
sinh: nan -> nan | +0 -> +0 | -0 -> -0 | +inf -> +inf | -inf -> -inf
sqrt: nan -> nan | below 0 -> nan | +0 -> +0 | -0 -> -0 | +inf -> +inf
tan: nan -> nan | +0 -> +0 | -0 -> -0 | inf -> nan
tanh: nan -> nan | +0 -> +0 | -0 -> -0 | +inf -> 1 | -inf -> -1
abs: nan -> nan | 0 -> +0 | inf -> +inf
isfinite: inf -> false | nan -> false | finite -> true
isinf: inf -> true | finite -> false | nan -> false
isnan: nan -> true | number -> false
"""  # fmt: skip

# Parts of operands and of results; `?` before a number leaves its sign open. Operands with a signed imaginary part are
# tested conjugated too: f(conj z) = conj f(z). A multiple of cos(b) + i sin(b) in the standard is tested for two angles.
COMPLEX = """
acos: 0, +0 -> pi/2, -0 | 0, nan -> pi/2, nan | finite, +inf -> pi/2, -inf | nonzero, nan -> nan, nan
acos: -inf, positive -> pi, -inf | +inf, positive -> +0, -inf | -inf, +inf -> 3pi/4, -inf | +inf, +inf -> pi/4, -inf
acos: inf, nan -> nan, ?inf | nan, finite -> nan, nan | nan, +inf -> nan, -inf | nan, nan -> nan, nan
acosh: 0, +0 -> +0, pi/2 | finite, +inf -> +inf, pi/2 | nonzero, nan -> nan, nan | 0, nan -> nan, ?pi/2
acosh: -inf, positive -> +inf, pi | +inf, positive -> +inf, +0 | -inf, +inf -> +inf, 3pi/4 | +inf, +inf -> +inf, pi/4
acosh: inf, nan -> +inf, nan | nan, finite -> nan, nan | nan, +inf -> +inf, nan | nan, nan -> nan, nan
asinh: +0, +0 -> +0, +0 | positive, +inf -> +inf, pi/2 | finite, nan -> nan, nan | +inf, positive -> +inf, +0
asinh: +inf, +inf -> +inf, pi/4 | +inf, nan -> +inf, nan | nan, +0 -> nan, +0 | nan, nonzero -> nan, nan
asinh: nan, +inf -> ?inf, nan | nan, nan -> nan, nan
atanh: +0, +0 -> +0, +0 | +0, nan -> +0, nan | 1, +0 -> +inf, +0 | positive, +inf -> +0, pi/2 | nonzero, nan -> nan, nan
atanh: +inf, positive -> +0, pi/2 | +inf, +inf -> +0, pi/2 | +inf, nan -> +0, nan | nan, finite -> nan, nan
atanh: nan, +inf -> ?0, pi/2 | nan, nan -> nan, nan
cosh: +0, +0 -> 1, +0 | +0, +inf -> nan, ?0 | +0, nan -> nan, ?0 | nonzero, +inf -> nan, nan | nonzero, nan -> nan, nan
cosh: +inf, +0 -> +inf, +0 | +inf, 0.5 -> +inf, +inf | +inf, 2 -> -inf, +inf | +inf, +inf -> ?inf, nan | +inf, nan -> ?inf, nan
cosh: nan, 0 -> nan, ?0 | nan, nonzero -> nan, nan | nan, inf -> nan, nan | nan, nan -> nan, nan
exp: 0, +0 -> 1, +0 | finite, +inf -> nan, nan | finite, nan -> nan, nan | +inf, +0 -> +inf, +0 | -inf, 0.5 -> +0, +0
exp: -inf, 2 -> -0, +0 | +inf, 0.5 -> +inf, +inf | +inf, 2 -> -inf, +inf | -inf, +inf -> ?0, ?0 | +inf, +inf -> ?inf, nan
exp: -inf, nan -> ?0, ?0 | +inf, nan -> ?inf, nan | nan, +0 -> nan, +0 | nan, nonzero -> nan, nan | nan, nan -> nan, nan
expm1: 0, +0 -> ?0, +0 | finite, +inf -> nan, nan | finite, nan -> nan, nan | +inf, +0 -> +inf, +0 | -inf, 0.5 -> -1, +0
expm1: +inf, 0.5 -> +inf, +inf | +inf, 2 -> -inf, +inf | -inf, +inf -> -1, ?0 | +inf, +inf -> ?inf, nan | -inf, nan -> -1, ?0
expm1: +inf, nan -> ?inf, nan | nan, +0 -> nan, +0 | nan, nonzero -> nan, nan | nan, nan -> nan, nan
log: -0, +0 -> -inf, pi | +0, +0 -> -inf, +0 | finite, +inf -> +inf, pi/2 | finite, nan -> nan, nan
log: -inf, positive -> +inf, pi | +inf, positive -> +inf, +0 | -inf, +inf -> +inf, 3pi/4 | +inf, +inf -> +inf, pi/4
log: inf, nan -> +inf, nan | nan, finite -> nan, nan | nan, +inf -> +inf, nan | nan, nan -> nan, nan
log1p: -1, +0 -> -inf, +0 | finite, +inf -> +inf, pi/2 | finite, nan -> nan, nan | -inf, positive -> +inf, pi
log1p: +inf, positive -> +inf, +0 | -inf, +inf -> +inf, 3pi/4 | +inf, +inf -> +inf, pi/4 | inf, nan -> +inf, nan
log1p: nan, finite -> nan, nan | nan, +inf -> +inf, nan | nan, nan -> nan, nan
log2: -0, +0 -> -inf, pi/ln2 | +0, +0 -> -inf, +0 | finite, +inf -> +inf, pi/2/ln2 | finite, nan -> nan, nan
log2: -inf, +inf -> +inf, 3pi/4/ln2 | inf, nan -> +inf, nan | nan, finite -> nan, nan | nan, +inf -> +inf, nan
log10: -0, +0 -> -inf, pi/ln10 | +0, +0 -> -inf, +0 | finite, +inf -> +inf, pi/2/ln10 | finite, nan -> nan, nan
log10: +inf, +inf -> +inf, pi/4/ln10 | inf, nan -> +inf, nan | nan, finite -> nan, nan | nan, +inf -> +inf, nan
sinh: +0, +0 -> +0, +0 | +0, +inf -> ?0, nan | +0, nan -> ?0, nan | positive, +inf -> nan, nan | positive, nan -> nan, nan
sinh: +inf, +0 -> +inf, +0 | +inf, 0.5 -> +inf, +inf | +inf, 2 -> -inf, +inf | +inf, +inf -> ?inf, nan | +inf, nan -> ?inf, nan
sinh: nan, +0 -> nan, +0 | nan, nonzero -> nan, nan | nan, nan -> nan, nan
sqrt: 0, +0 -> +0, +0 | any, +inf -> +inf, +inf | finite, nan -> nan, nan | -inf, positive -> +0, +inf
sqrt: +inf, positive -> +inf, +0 | -inf, nan -> nan, ?inf | +inf, nan -> +inf, nan | nan, finite -> nan, nan | nan, nan -> nan, nan
tanh: +0, +0 -> +0, +0 | nonzero, +inf -> nan, nan | +0, +inf -> +0, nan | nonzero, nan -> nan, nan | +0, nan -> +0, nan
tanh: +inf, 0.5 -> 1, +0 | +inf, 2 -> 1, -0 | +inf, +inf -> 1, ?0 | +inf, nan -> 1, ?0 | nan, +0 -> nan, +0
tanh: nan, nonzero -> nan, nan | nan, nan -> nan, nan
"""  # fmt: skip
# Functions that the standard does not have, in the same form.
OWN = """
rsqrt: 0, +0 -> +inf, -0 | 4, +0 -> 0.5, -0 | -4, +0 -> +0, -0.5 | +inf, positive -> +0, -0 | -inf, positive -> +0, -0
rsqrt: any, +inf -> +0, -0 | inf, nan -> +0, ?0 | finite, nan -> nan, nan | nan, finite -> nan, nan | nan, nan -> nan, nan
sigmoid: 0, +0 -> 0.5, +0 | +inf, 0.5 -> 1, +0 | +inf, 4 -> 1, -0 | +inf, +inf -> 1, ?0 | +inf, nan -> 1, ?0
sigmoid: -inf, 0.5 -> +0, +0 | -inf, 2 -> -0, +0 | -inf, +inf -> ?0, ?0 | -inf, nan -> ?0, ?0 | finite, +inf -> nan, nan
sigmoid: finite, nan -> nan, nan | nan, +0 -> nan, +0 | nan, nonzero -> nan, nan | nan, nan -> nan, nan
sinc: 0, 0 -> 1, ?0 | 0, +inf -> +inf, ?0 | 0.25, +inf -> +inf, -inf | 1.25, +inf -> -inf, +inf | any, nan -> nan, nan
sinc: nan, any -> nan, nan | inf, finite -> nan, nan | inf, inf -> nan, nan
"""  # fmt: skip
# The standard defines these by f(z) = -i g(i z).
ROTATED = {"sin": "sinh", "tan": "tanh", "asin": "asinh", "atan": "atanh"}


def sentences(text):
    """Yields (function, operands, results) of every sentence."""
    for line in filter(None, text.splitlines()):
        op, rest = line.split(": ")
        for sentence in rest.split(" | "):
            operands, results = sentence.split(" -> ")
            yield op, tuple(operands.split(", ")), tuple(results.split(", "))


def value(word):
    """The float that a word such as `+pi/2` means."""
    named = {"pi": PI, "pi/2": PI / 2, "pi/4": PI / 4, "3pi/4": 3 * PI / 4, "true": 1.0, "false": 0.0}
    for base, name in ((math.log(2), "/ln2"), (math.log(10), "/ln10")):
        if word.endswith(name):
            return value(word.removesuffix(name)) / base
    if word.startswith("-") and word[1:] in named:
        return -named[word[1:]]
    return named[word] if word in named else float(word)


def agrees(got, word, dtype):
    """Whether a number is the one the word means: zeros and infinities with their signs, angles up to rounding."""
    open_sign = word.startswith("?")
    wanted = value(word.lstrip("?"))
    if math.isnan(wanted):
        return math.isnan(got)
    if open_sign:
        got, wanted = abs(got), abs(wanted)
    if wanted == 0 or math.isinf(wanted):
        return got == wanted and math.copysign(1, got) == math.copysign(1, wanted)
    return abs(got - wanted) <= 2 * np.finfo(dtype).eps * abs(wanted)


def columns(cases, dtype):
    """One array per operand; numbers that the dtype cannot represent are left out."""
    with np.errstate(all="ignore"):
        arrays = [np.array(column, dtype) for column in zip(*cases, strict=True)]
    kept = np.ones(len(cases), bool)
    for column, array in zip(zip(*cases, strict=True), arrays, strict=True):
        for i, (exact, rounded) in enumerate(zip(column, array, strict=True)):
            kept[i] &= bool(np.isfinite(rounded)) == math.isfinite(exact) and (rounded == 0) == (exact == 0)
    return [array[kept] for array in arrays]


def padded(array):
    """The operands among ordinary numbers, so that a block has only one special lane."""
    around = np.full(3 * len(array) + 40, 0.75, array.dtype)
    around[1 : 1 + 3 * len(array) : 3] = array
    return around


def spoken(op, operands, results, dtype):
    """Faults of one sentence about real numbers."""
    arrays = columns(list(product(*map(kinds, operands))), dtype)
    if results == ("own pow",):  # 1 to the power of NaN is 1 here, as in C and NumPy; the standard asks for NaN or 1
        results = ("nan",)
        arrays = [array[arrays[0] != 1] for array in arrays]
    got = getattr(st, op)(*(st.tensor(padded(array)) for array in arrays)).numpy()[1 : 1 + 3 * len(arrays[0]) : 3]
    for i, number in enumerate(got):
        args = [float(array[i]) for array in arrays]
        word = str(args[0]) if results == ("first",) else results[0]
        if not agrees(float(number), word, dtype):
            yield f"{op}{tuple(args)} = {number}, not {word} ({dtype})"


@pytest.mark.parametrize("op", sorted({op for op, _, _ in sentences(REAL)}))
def test_real_special_cases(op):
    wrong = []
    for dtype in ("float32", "float64"):
        for name, operands, results in sentences(REAL):
            if name == op:
                wrong += spoken(op, operands, results, dtype)
    assert not wrong, "\n".join(wrong)


def mirrored(operands, results):
    """A sentence, and the one about the conjugate."""
    flip = {"+0": "-0", "-0": "+0", "+inf": "-inf", "-inf": "+inf", "positive": "negative"}
    yield operands, results
    (a, b), (u, v) = operands, results
    if b in flip or b.replace(".", "").isdigit():
        back = flip.get(v) or (v if v == "nan" or v[0] == "?" else v[1:] if v[0] == "-" else "-" + v)
        yield (a, flip.get(b) or "-" + b), (u, back)


def at(op, a, b, dtype):
    """The function at points, as pairs of parts."""
    z = np.empty(len(a), dtype)
    z.real, z.imag = a, b
    got = getattr(st, op)(st.tensor(padded(z))).numpy()[1 : 1 + 3 * len(z) : 3]
    return list(zip(got.real.tolist(), got.imag.tolist(), strict=True))


@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("op", sorted({op for op, _, _ in sentences(COMPLEX + OWN)}))
def test_complex_special_cases(op, rotated):
    name = next((circular for circular, g in ROTATED.items() if g == op), None)
    if rotated and name is None:
        pytest.skip("there is no circular function of this hyperbolic one")
    wrong = []
    for dtype, part in (("complex64", "float32"), ("complex128", "float64")):
        for about, operands, results in sentences(COMPLEX + OWN):
            if about != op:
                continue
            for (first, second), words in mirrored(operands, results):
                a, b = columns(list(product(kinds(first), kinds(second))), part)
                # f(a + ib) = -i g(ia - b): so f at (b, -a), times i, is g at (a, b).
                got = [(-y, x) for x, y in at(name, b, -a, dtype)] if rotated else at(op, a, b, dtype)
                for i, parts in enumerate(got):
                    if not all(agrees(number, word, part) for number, word in zip(parts, words, strict=True)):
                        called = f"{name}, rotated" if rotated else op
                        wrong.append(f"{called}({a[i]}, {b[i]}) = {parts}, not {words} ({dtype})")
    assert not wrong, "\n".join(wrong[:20])


def test_the_sign_of_a_complex_zero_is_0():
    zeros = np.array([complex(a, b) for a in (0.0, -0.0) for b in (0.0, -0.0)])
    for name in ("complex64", "complex128"):
        got = st.tensor(zeros.astype(name)).sign().numpy()
        assert not got.any() and not np.signbit(got.real).any() and not np.signbit(got.imag).any()
