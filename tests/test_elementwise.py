"""Every row of the op table against NumPy in a wider type: dtypes, layouts, forms, and the ULP bound of each function.

`test_matrix.py` has the rows that NumPy computes in the same type, bit for bit.
"""

import math

import mpmath
import numpy as np
import pytest
from op_rows import OPS
from strategies import (
    COMPLEX,
    DTYPES,
    FLOATS,
    INTS,
    LAYOUTS,
    fresh,
    laid_out,
    ordinary,
    to_memory,
    to_values,
    values_of,
)

import strided as st

PI = np.longdouble(math.pi) + np.longdouble(1.2246467991473532e-16)
WIDE = {"float16": "float64", "bfloat16": "float64", "float32": "float64", "float64": "longdouble"}
EXACT = {
    *["rsub", "fmod", "floor_divide", "positive", "sign", "signbit", "copysign", "square"],
    *["floor", "ceil", "trunc", "frac", "maximum", "minimum", "fmax", "fmin", "isnan", "isinf", "isfinite"],
    *["isneginf", "isposinf", "logical_and", "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or"],
    *["bitwise_xor", "bitwise_not", "bitwise_left_shift", "bitwise_right_shift", "conj_physical", "heaviside", "gcd", "lcm"],
    *["isreal", "round", "clamp_min", "clamp_max", "clamp", "relu", "nan_to_num", "nextafter", "isclose"],
}  # fmt: skip
# Several operations, each rounded as by NumPy in the same type.
STEPWISE = {"lerp", "addcmul", "addcdiv", "true_divide", "trunc_divide", "remainder", "sqrt"}
# Wider bounds, in ULP of the result, and absolute ones near a zero of the function.
ULPS = {(op, "float64"): 4 for op in ("erfc", "erfinv", "lgamma", "digamma")}
ABSOLUTE = {"lgamma": 4, "digamma": 4, "logaddexp": 1, "logaddexp2": 1}  # units of the dtype's epsilon
NEW = [
    op
    for op in OPS
    if op not in ("add", "sub", "mul", "div", "neg", "abs", "eq", "ne", "lt", "le", "gt", "ge", "reciprocal")
]


def each(function):
    """A function of Python's floats, element by element."""
    return np.vectorize(lambda *args: np.longdouble(function(*args)), otypes=["longdouble"])


def wide(number):
    """An mpmath number as a longdouble."""
    try:
        high = float(number)
    except OverflowError:
        return np.longdouble(math.inf if number > 0 else -math.inf)
    return np.longdouble(high) + (np.longdouble(float(number - high)) if math.isfinite(high) else 0)


def special(function, at_infinity, below):
    """A function of mpmath, with its values at plus and minus infinity."""

    def compute(value):
        if math.isnan(value):
            return math.nan
        if math.isinf(value):
            return at_infinity if value > 0 else below
        with mpmath.workdps(40):
            try:
                return wide(function(mpmath.mpf(float(value))))
            except (ValueError, ZeroDivisionError):
                return math.nan
            except OverflowError:  # too large for mpmath; the result is infinite
                return at_infinity if value > 0 else below

    return each(compute)


def log_gamma(x):
    return mpmath.log(abs(mpmath.gamma(x))) if x < 1e5 else mpmath.loggamma(x)


def lgamma(value):
    pole = math.isfinite(value) and value <= 0 and value == math.floor(value)
    return math.inf if pole else special(log_gamma, math.inf, math.inf)(value)


def digamma(value):
    if value == 0:
        return math.copysign(math.inf, -value)
    return special(mpmath.digamma, math.inf, math.nan)(value)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def erfinv(value):
    if not -1 <= value <= 1:
        return math.nan
    if abs(value) == 1:
        return math.copysign(math.inf, value)
    with mpmath.workdps(40):
        return wide(mpmath.erfinv(mpmath.mpf(float(value))))


def sign(x):
    if x.dtype == bool:
        return x
    return np.where(x == 0, x, x / np.abs(x)) if np.iscomplexobj(x) else np.sign(x)


def trunc_divide(a, b):
    if a.dtype.kind == "f":
        return np.trunc(a / b)
    down = a // b
    return down + ((a % b != 0) & ((a < 0) != (b < 0))).astype(a.dtype)


def logit(x):
    """Accurate everywhere, also near 0.5, where the two logarithms nearly cancel."""
    return np.where(np.abs(x - 0.5) < 0.25, 2 * np.arctanh(2 * x - 1), np.log(x) - np.log1p(-x))


def largest(name):
    """The largest number of a dtype, or of the parts of a complex one."""
    real = {"complex64": "float32", "complex128": "float64"}.get(name, name)
    return to_values(np.uint16(0x7F7F), name) if real == "bfloat16" else np.finfo(real).max


def nan_to_num(name, x):
    if name not in FLOATS and name not in COMPLEX:
        return x
    return np.nan_to_num(x, posinf=largest(name), neginf=-largest(name))


def nextafter(name, a, b):
    if name != "bfloat16":
        return np.nextafter(a, b)
    # The bits of bfloat16, read as float16, have the order of the numbers: one step is one step.
    whole = (a.view("uint32") >> 16).astype("int64")
    order = np.where(whole >= 0x8000, 0x8000 - whole, whole)
    after = order + np.where(b > a, 1, np.where(b < a, -1, 0))
    found = to_values(np.where(after < 0, 0x8000 - after, after).astype("uint16"), name)
    return np.where(np.isnan(a) | np.isnan(b), np.nan, np.where(a == b, b, found)).astype("float32")


def isclose(name, a, b):
    if name == "bool":
        return a == b
    if name in INTS:
        pairs = zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
        return np.array([abs(p - q) <= 1e-08 + 1e-05 * abs(q) for p, q in pairs], bool).reshape(a.shape)
    return np.isclose(a.astype("complex128" if name in COMPLEX else "float64"), b)


def ldexp(x, e):
    # Beyond this range the wide type cannot hold every product.
    most = 500 if x.dtype == "float64" else 3000
    return x * np.exp2(np.where(np.isinf(e), e, np.clip(e, -most, most)))


# What depends on the dtype and not on the values alone.
BY_DTYPE = {"nan_to_num": nan_to_num, "nextafter": nextafter, "isclose": isclose}
MODELS = {
    "rsub": lambda a, b: b - a,
    "pow": np.power,
    "sign": sign,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "sigmoid": sigmoid,
    "erf": special(mpmath.erf, 1.0, -1.0),
    "erfc": special(mpmath.erfc, 0.0, 2.0),
    "erfinv": each(erfinv),
    "lgamma": each(lgamma),
    "digamma": each(digamma),
    "sinc": special(mpmath.sincpi, math.nan, math.nan),
    "xlogy": lambda x, y: np.where((x == 0) & ~np.isnan(y), 0, x * np.log(y)),
    "frac": lambda x: x - np.trunc(x),
    "lerp": lambda a, b, w: np.where(np.abs(w) < 0.5, a + w * (b - a), b - (b - a) * (1 - w)),
    "addcmul": lambda a, b, c: a + b * c,
    "addcdiv": lambda a, b, c: a + b / c,
    "bitwise_not": np.invert, "bitwise_left_shift": np.left_shift, "bitwise_right_shift": np.right_shift,
    "conj_physical": np.conj,
    "angle": lambda z: np.angle(z) if np.iscomplexobj(z) else np.where(np.isnan(z), z, np.where(z < 0, z.dtype.type(PI), 0)),
    "trunc_divide": trunc_divide,
    "softplus": lambda x: np.logaddexp(x.dtype.type(0), x),
    "logit": logit,
    "round": lambda x: x if x.dtype.kind in "biu" else np.rint(x),
    "clamp_min": np.maximum, "clamp_max": np.minimum,
    "clamp": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "relu": lambda x: np.maximum(x, x.dtype.type(0)),
    "ldexp": ldexp,
    "heaviside": lambda a, b: np.where(a != a, a, np.where(a == 0, b, np.where(a > 0, a.dtype.type(1), a.dtype.type(0)))),
}  # fmt: skip


LN2 = np.longdouble(math.log(2)) + np.longdouble(2.3190468138462996e-17)


def complex_sinc(z):
    with mpmath.workdps(40):
        return np.vectorize(lambda each: complex(mpmath.sincpi(mpmath.mpc(complex(each)))), otypes=["complex128"])(z)


# What NumPy has for real numbers alone.
COMPLEX_MODELS = {
    "sinc": complex_sinc,
    "exp2": lambda z: np.exp(z * LN2),
    "ldexp": lambda z, w: z * np.exp(w * LN2),
    "logaddexp": lambda a, b: np.log(np.exp(a) + np.exp(b)),
    "logaddexp2": lambda a, b: np.log(np.exp(a * LN2) + np.exp(b * LN2)) / LN2,
}


def takes(op, name):
    return {
        "any": True, "field": True, "wide": True, "counts": True,
        "num": name != "bool",
        "real": name not in COMPLEX,
        "order": name != "bool" and name not in COMPLEX,
        "bits": name == "bool" or name in INTS,
        "int": name in INTS,
        "float": name not in COMPLEX, "floats": name not in COMPLEX,
    }[OPS[op].accepts]  # fmt: skip


def computed_in(op, name):
    """The dtype that operands are cast to."""
    if OPS[op].accepts == "wide":
        return "complex128" if name in COMPLEX else "float64"
    if OPS[op].accepts == "counts" and name == "bool":
        return "int64"
    return "float32" if OPS[op].accepts in ("field", "float", "floats") and (name == "bool" or name in INTS) else name


def result_of(op, name):
    rule, worked = OPS[op].result, computed_in(op, name)
    if rule == "part":
        worked = {"complex64": "float32", "complex128": "float64"}.get(worked, worked)
    return "bool" if rule == "bool" else worked


def suitable(op, name, values, position):
    """Operands for which an integer result exists."""
    if position == 1 and name in INTS:
        if op in ("floor_divide", "trunc_divide", "remainder", "fmod"):
            return np.where(values == 0, 1, values).astype(values.dtype)
        if op == "pow":
            return (values % 7).astype(values.dtype)
        if op.endswith("shift"):
            return (np.abs(values.astype("int64")) % (np.iinfo(name).bits - 1)).astype(values.dtype)
    if op in ("gcd", "lcm") and name in INTS:
        return (values % 11).astype(values.dtype)
    return values


def arguments(op, name, layout):
    shape = LAYOUTS[layout][0]
    tensors = []
    for position in range(OPS[op].arity):
        own = (1, shape[1]) if layout == "stride 0" and position == 0 else shape
        values = suitable(op, name, to_values(ordinary(name, own, position + 1), name), position)
        memory = to_memory(values, name)
        tensors.append(laid_out(layout, memory, name) if position == 0 else fresh(memory, name))
    return tensors, [values_of(x).copy() for x in tensors]


def model(op, name, *values):
    """The result in a wider type."""
    worked = computed_in(op, name)
    wide = WIDE.get(worked) or (values[0].dtype if worked == name else worked)
    if op in STEPWISE and worked in FLOATS:
        wide = "float64" if worked == "float64" else "float32"
    if worked in COMPLEX:
        wide = "complex128" if worked == "complex64" else "clongdouble"
    arrays = [to_values(to_memory(v, worked), worked) if worked != name else v for v in values]
    with np.errstate(all="ignore"):
        if op in BY_DTYPE:
            return BY_DTYPE[op](worked, *np.broadcast_arrays(*arrays))
        own = COMPLEX_MODELS if worked in COMPLEX else {}
        function = own.get(op) or MODELS.get(op) or getattr(np, op)
        return function(*(a.astype(wide) for a in arrays))


def assert_close(x, op, name, wanted, context):
    result = result_of(op, name)
    got = values_of(x)
    assert (x.dtype.name, got.shape) == (result, wanted.shape), context
    if result not in FLOATS and result not in COMPLEX:
        np.testing.assert_array_equal(got, wanted.astype(got.dtype), context)
        return
    with np.errstate(all="ignore"):
        if result in COMPLEX:
            good = np.isfinite(wanted.astype(got.dtype)) & np.isfinite(got)
            rtol = 3e-6 if result == "complex64" else 1e-13
            assert (np.abs(got - wanted)[good] <= rtol * np.abs(wanted[good]) + np.finfo(got.dtype).tiny).all(), context
            return
        rounded = to_values(to_memory(wanted, result), result)
        if op in EXACT or op in STEPWISE:
            same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
            assert same.all(), (context, got[~same], rounded[~same])
            return
        # Where the wide result is out of range, infinity counts as one step from the largest number.
        largest = np.isinf(rounded) & np.isfinite(wanted)
        same = (got == rounded) | (np.isnan(got) & np.isnan(rounded)) | largest
        ulp = spacing(rounded, result)
        allowed = ULPS.get((op, result), 1) * ulp
        if op in ABSOLUTE:
            allowed = np.maximum(allowed, ABSOLUTE[op] * spacing(np.ones_like(rounded), result))
        off = np.abs(got.astype(wanted.dtype) - wanted)
        good = same | (off <= allowed)
        assert good.all(), (op, name, context, got[~good][:4], wanted[~good][:4], (off / ulp)[~good][:4])


def spacing(values, name):
    """The distance to the next number of a dtype."""
    size = np.abs(values)
    if name == "bfloat16":
        return np.spacing(size.astype("float32")).astype("float64") * 2**16
    return np.spacing(size.astype(name)).astype("longdouble")


CASES = [(op, name) for op in NEW for name in DTYPES]
GOOD = [(op, name) for op, name in CASES if takes(op, name)]


@pytest.mark.parametrize(("op", "name"), GOOD)
def test_every_layout_and_form(op, name):
    result = result_of(op, name)
    for layout in LAYOUTS:
        tensors, values = arguments(op, name, layout)
        wanted = model(op, name, *values)
        assert_close(getattr(st, op)(*tensors), op, name, wanted, f"function: {layout}")
        assert_close(getattr(tensors[0], op)(*tensors[1:]), op, name, wanted, f"method: {layout}")
        out = st.empty(wanted.shape, dtype=getattr(st, result))
        assert getattr(st, op)(*tensors, out=out) is out, layout
        assert_close(out, op, name, wanted, f"out: {layout}")
        if result == name and layout != "stride 0":
            assert getattr(tensors[0], f"{op}_")(*tensors[1:]) is tensors[0], layout
            assert_close(tensors[0], op, name, wanted, f"in place: {layout}")


@pytest.mark.parametrize(("op", "name"), [(op, name) for op, name in CASES if not takes(op, name)])
def test_other_dtypes_are_refused(op, name):
    tensors, _ = arguments(op, name, "dense")
    with pytest.raises(st.DTypeError, match=f"^{op}: .*{name}"):
        getattr(st, op)(*tensors)


@pytest.mark.parametrize("op", [op for op in NEW if OPS[op].accepts in ("field", "float")])
@pytest.mark.parametrize("name", ["float32", "float64"])
def test_many_elements_and_hostile_ones(op, name):
    """Large enough for threads; every exponent of the dtype, and numbers near the poles."""
    rng = np.random.default_rng(7)
    info = np.finfo(name)
    count = 3_000 if op in MODELS and isinstance(MODELS[op], np.vectorize) else 60_000
    spread = np.ldexp(rng.uniform(-1, 1, count), rng.integers(info.minexp - 5, info.maxexp, count))
    specials = [0.0, -0.0, 1, -1, info.max, -info.max, info.tiny, -info.smallest_subnormal, np.inf, -np.inf, np.nan]
    near = np.concatenate([rng.uniform(-3, 3, count), 1 + rng.uniform(-1e-3, 1e-3, 99), rng.uniform(-100, 100, count)])
    with np.errstate(all="ignore"):
        a = np.concatenate([spread, near, specials]).astype(name)
    if op == "lgamma" or op == "digamma":  # mpmath takes long for large negative numbers
        a = np.where(np.abs(a) < 500, a, np.abs(a))
    operands = [a, *(rng.permutation(a) for _ in range(OPS[op].arity - 1))]
    got = getattr(st, op)(*(st.tensor(v) for v in operands))
    assert_close(got, op, name, model(op, name, *operands), "hostile")


LIMITS = {
    "float32": {"exp expm1": 88.72284, "sinh cosh": 89.41599, "exp2": 128.0, "exp sigmoid": -103.9721},
    "float64": {"exp expm1": 709.782712893384, "sinh cosh": 710.4758600739439, "exp2": 1024.0, "exp sigmoid": -745.1332191019412},
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITS)
def test_the_last_finite_results_and_the_first_infinite_ones(name):
    bits = {"float32": "uint32", "float64": "uint64"}[name]
    for ops, limit in LIMITS[name].items():
        middle = np.array([limit], name).view(bits)[0]
        x = np.arange(middle - 200, middle + 200, dtype=bits).view(name)
        for op in ops.split():
            assert_close(getattr(st, op)(st.tensor(x)), op, name, model(op, name, x), f"around {limit}")


@pytest.mark.parametrize("name", LIMITS)
def test_hostile_arguments_with_subnormal_results(name):
    low, high = {"float32": (-104.0, -87.0), "float64": (-746.0, -707.0)}[name]
    x = np.linspace(low, high, 400_001).astype(name)
    for op, scale in (("exp", 1), ("sigmoid", 1), ("exp2", 1 / math.log(2))):
        scaled = (x * scale).astype(name)
        assert_close(getattr(st, op)(st.tensor(scaled)), op, name, model(op, name, scaled), "subnormal")


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("number", [2, 3, -1, 0.5])
def test_hostile_bases_of_powers_with_special_rows(name, number):
    rng = np.random.default_rng(11)
    info = np.finfo(name)
    spread = np.ldexp(rng.uniform(-1, 1, 200_000), rng.integers(info.minexp - 5, info.maxexp, 200_000))
    specials = [0.0, -0.0, 1, -1, info.max, -info.max, info.tiny, -info.smallest_subnormal, np.inf, -np.inf, np.nan]
    x = np.concatenate([spread, specials]).astype(name)
    with np.errstate(all="ignore"):
        wanted = np.power(x.astype(np.longdouble), number).astype(name)
        low, high = np.nextafter(wanted, -np.inf), np.nextafter(wanted, np.inf)
    for base, some in (
        (st.tensor(x), slice(None)),
        (st.tensor(np.repeat(x, 2))[::2], slice(None)),
        (st.tensor(x[-11:]), slice(-11, None)),
    ):
        got = (base**number).numpy()
        nan = np.isnan(wanted[some])
        assert np.array_equal(np.isnan(got), nan)
        assert np.array_equal(np.signbit(got)[~nan], np.signbit(wanted[some])[~nan])
        assert np.all(((low[some] <= got) & (got <= high[some]))[~nan])


# The bounds of complex functions in units of half an epsilon of the result's magnitude, and what that is at least: results of
# logarithms have an absolute error near 0.
HOSTILE = {
    **{op: (3, 0, getattr(mpmath, op)) for op in ("exp", "log", "sin", "cos", "sinh", "cosh")},
    **{op: (6, 0, getattr(mpmath, op)) for op in ("tan", "tanh", "sqrt")},
    "abs": (2, 0, abs),
    "angle": (2, 0, mpmath.arg),
    "rsqrt": (5, 0, lambda z: 1 / mpmath.sqrt(z)),
    "sigmoid": (6, 0, lambda z: 1 / (1 + mpmath.exp(-z))),
    "sinc": (7, 0, lambda z: mpmath.sincpi(z)),
    "ldexp": (6, 0, lambda z, w: z * mpmath.power(2, w)),
    "logaddexp": (8, 1, lambda a, b: mpmath.log(mpmath.exp(a) + mpmath.exp(b))),
    "logaddexp2": (8, 1, lambda a, b: mpmath.log(mpmath.power(2, a) + mpmath.power(2, b), 2)),
}


def hostile_points(op, count, most, rng):
    """Points of every magnitude, at every distance from zeros and poles, and where exponentials overflow."""

    def points(re, im):
        return re + 1j * im

    def sizes(low, high):
        return np.ldexp(rng.uniform(-1, 1, count), rng.integers(low, high, count))

    distance = 2.0 ** rng.uniform(-50, 0, count)
    around = distance * np.exp(1j * rng.uniform(0, 2 * np.pi, count))
    steps = rng.integers(-9, 10, count)
    tall = points(rng.uniform(-6, 6, count), rng.uniform(-220, 220, count))
    wide = points(tall.imag, tall.real)
    mixed = points(sizes(-60, 9), sizes(-60, 9))
    every = points(sizes(-most, most), sizes(-most, most))
    groups = {
        **{op: [tall, wide, mixed, steps * np.pi / 2 + around] for op in ("sin", "cos", "tan")},
        **{op: [tall, wide, mixed, steps * np.pi / 2j + around] for op in ("exp", "sinh", "cosh", "tanh")},
        **{op: [every, mixed, np.exp(1j * wide.real) * (1 + distance)] for op in ("log", "abs", "angle")},
        "sqrt": [every, mixed, points(-(sizes(0, 50) ** 2), sizes(-most, -50))],
        "rsqrt": [points(sizes(-most, most), sizes(-most, most)), points(-(sizes(0, 50) ** 2), sizes(-most, -50))],
        "sigmoid": [1j * np.pi * (2 * steps + 1) + around, points(rng.uniform(-740, 740, count), sizes(-9, 30))],
        "sinc": [steps + around, tall, points(sizes(-60, 30), sizes(-60, 7))],
        "ldexp": [points(sizes(-most, most), sizes(-most, most))],
    }
    return np.concatenate([points(rng.uniform(-6, 6, count), rng.uniform(-6, 6, count)), *groups.get(op, [tall])])


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("op", HOSTILE)
def test_complex_numbers_near_zeros_and_poles(op, name):
    bound, least, true = HOSTILE[op]
    rng = np.random.default_rng(11)
    most = 100 if name == "complex64" else 1000
    with np.errstate(all="ignore"):
        z = hostile_points(op, 150, most, rng).astype(name)
    z = z[np.isfinite(z)]
    columns = [z]
    if op == "ldexp":
        columns.append((rng.uniform(-most, most, len(z)) + 1j * rng.uniform(-99, 99, len(z))).astype(name))
    elif OPS[op].arity == 2:  # half of them nearly opposite, so that exponentials cancel
        half_period = np.pi / (1 if op == "logaddexp" else math.log(2))
        opposite = z + 1j * half_period * rng.choice([-1, 1, 3], len(z)) + 2.0 ** rng.uniform(-40, 0, len(z))
        columns.append(np.where(np.arange(len(z)) % 2 == 0, opposite, rng.permutation(z)).astype(name))
    got = getattr(st, op)(*map(st.tensor, columns)).numpy()
    info = np.finfo(got.dtype)
    bound = bound if name == "complex128" else 2 if op == "angle" else 1.5
    tested = 0
    for i, number in enumerate(got):
        with mpmath.workdps(100 if op.startswith("logadd") else 60):  # exponentials may nearly cancel
            wanted = mpmath.mpc(true(*(mpmath.mpc(complex(column[i])) for column in columns)))
            size = abs(wanted)
            if not float(info.tiny) <= size <= float(info.max) / 2:
                continue
            off = abs(mpmath.mpc(complex(number)) - wanted) / (float(info.eps) / 2 * max(size, least))
        assert off <= bound, (op, [column[i] for column in columns], number, complex(wanted), float(off))
        tested += 1
    assert tested > len(z) // 3


TINY = 5e-324
EDGES = [
    *[("exp", (complex(x, y),)) for x in (-740, 709.5, 1415, 1425) for y in (TINY, 1e-310, 1.5)],
    *[("exp2", (complex(x, y),)) for x in (-1070, 1023.5, 1024.1, 2040.5) for y in (1e-300, 1.6, 2.2)],
    *[(op, (complex(x, y),)) for op in ("sin", "cos") for x in (TINY, 0.5) for y in (705, -1415, 1450)],
    *[(op, (complex(x, y),)) for op in ("sinh", "cosh") for x in (705, -1415, 1450) for y in (TINY, 0.5)],
    *[("sinc", (complex(x, y),)) for x in (0.5, 3.25) for y in (225.5, 451.0, 452.1, 460.0)],
    ("logaddexp", (1e308j, -1e308j)),
    ("logaddexp", (complex(1, 1.5e308), complex(0.5, -1.5e308))),
]


@pytest.mark.parametrize("op, args", EDGES)
def test_complex_results_at_the_edge_of_the_range(op, args):
    """Each part is finite where the exact one is representable, and infinite where it is not."""
    true = {op: function for op, (_, _, function) in HOSTILE.items()} | {
        **{name: getattr(mpmath, name) for name in ("exp", "sin", "cos", "sinh", "cosh")},
        "exp2": lambda z: mpmath.power(2, z),
    }
    got = getattr(st, op)(*(st.tensor([z], dtype=st.complex128) for z in args)).item()
    with mpmath.workdps(700):
        wanted = mpmath.mpc(true[op](*map(mpmath.mpc, args)))
        for part, exact in ((got.real, wanted.real), (got.imag, wanted.imag)):
            if abs(exact) > mpmath.mpf(2) ** 1024:
                assert part == math.copysign(math.inf, exact), (got, complex(exact))
            else:
                assert abs(part - exact) <= 8 * max(abs(exact) * 2.0**-53, TINY), (got, part, float(exact))


def test_complex_exp2_of_infinities():
    inf, nan = math.inf, math.nan
    x = st.tensor([complex(-inf, inf), complex(-inf, nan), complex(inf, 3), complex(inf, nan)], dtype=st.complex128)
    zero, zero_too, rotated, unknown = x.exp2().tolist()
    assert zero == zero_too == 0
    assert rotated == complex(-inf, inf)  # 3 ln 2 is between pi/2 and pi
    assert unknown.real == inf and math.isnan(unknown.imag)


@pytest.mark.parametrize(
    "op", [op for op in OPS if OPS[op].accepts in ("field", "float", "floats", "wide") and OPS[op].arity > 1]
)
def test_integers_computed_as_floats_need_no_dtype_in_common(op):
    """No integer dtype holds uint64 and a signed dtype; these rows convert each operand to float."""
    unsigned, signed = st.tensor([3, 2**64 - 1, 7], dtype=st.uint64), st.tensor([-2, 5, 1], dtype=st.int8)
    wanted = st.float64 if op == "float_power" else st.float32
    for a, b in ((unsigned, signed), (signed, unsigned)):
        operands = [a, b, b][: OPS[op].arity]
        got = getattr(st, op)(*operands)
        same = getattr(st, op)(*(x.to(wanted) for x in operands))
        assert got.dtype is wanted and got.isclose(same, rtol=0, atol=0, equal_nan=True).all()
        half = [*operands[:-1], st.ones(3, dtype=st.float64)]
        assert getattr(st, op)(*half).dtype is st.float64
    if OPS[op].arity == 3:
        for third in (st.ones(3, dtype=st.float64), st.ones(3, dtype=bool), 2, 2.5):
            floats = st.float64 if isinstance(third, st.Tensor) and third.dtype is st.float64 else st.float32
            assert getattr(st, op)(unsigned, signed, third).dtype is floats
    for refused in (st.add, st.eq, st.maximum, st.remainder):
        with pytest.raises(st.DTypeError, match=r"no dtype holds both uint64 and int8"):
            refused(unsigned, signed)


def test_truth_values():
    """Powers of bools are bools unless one operand is a number; squares are integers."""
    x, y = st.tensor([True, True, False, False]), st.tensor([True, False, True, False])
    assert (x**y).dtype is st.bool and (x**y).tolist() == [
        a**b == 1 for a, b in zip(x.tolist(), y.tolist(), strict=True)
    ]
    assert (
        (x**True).tolist() == x.tolist() and (x**False).tolist() == [True] * 4 and (False**y).tolist() == (~y).tolist()
    )
    assert (x**2).dtype is st.int64 and st.square(x).dtype is st.int64 and (x**2).tolist() == st.square(x).tolist()
    assert st.heaviside(x, y).dtype is st.bool and st.heaviside(x, y).tolist() == [True, True, True, False]
    with pytest.raises(st.DTypeError, match=r"^square_: "):
        x.square_()
    with pytest.raises(st.DTypeError, match=r"^clamp: "):
        x.clamp(False, True)
    assert x.tolist() == [True, True, False, False]


@pytest.mark.parametrize("op", OPS)
def test_operands_without_elements_may_have_any_address(op):
    """Foreign memory without elements may have an unreadable address: null in DLPack."""
    dtype = "int64" if OPS[op].accepts in ("int", "bits") else "float64"
    for empty in (st.from_dlpack(np.zeros((0, 3), dtype)), st.frombuffer(b"", dtype=dtype)):
        others = [empty] * (OPS[op].arity - 1)
        assert getattr(st, op)(empty, *others).shape == empty.shape
        assert getattr(st, op)(empty, *[2] * len(others)).shape == empty.shape
        if len(others) == 1:
            assert getattr(st, op)(2, empty).shape == empty.shape


@pytest.mark.parametrize("name", INTS)
@pytest.mark.parametrize("op", ["floor_divide", "trunc_divide", "remainder", "fmod"])
def test_integers_are_not_divided_by_zero(op, name):
    x = st.tensor([5, 6, 7], dtype=getattr(st, name))
    for divisor in (0, st.tensor([1, 0, 2], dtype=x.dtype), False):
        with pytest.raises(ZeroDivisionError, match=f"^{op}_?: "):
            getattr(x, op)(divisor)
        with pytest.raises(ZeroDivisionError):
            getattr(x, f"{op}_")(divisor)
    assert x.tolist() == [5, 6, 7]
    if name.startswith("int"):
        low = int(np.iinfo(name).min)
        assert (st.tensor([low], dtype=x.dtype) // -1).tolist() == [low]
        assert (st.tensor([low], dtype=x.dtype) % -1).tolist() == [0]
        with pytest.raises(ValueError, match="exponent"):
            x**-1


def test_operators_in_all_directions():
    x, y = st.tensor([7, -7, 3]), st.tensor([2, 2, 5])
    a, b = x.numpy(), y.numpy()
    for got, wanted in [
        (x // y, a // b), (x % y, a % b), (x**y, a**b), (x & y, a & b), (x | y, a | b), (x ^ y, a ^ b),
        (x << 2, a << 2), (x >> 1, a >> 1), (~x, ~a), (+x, +a), (20 // y, 20 // b), (20 % y, 20 % b), (2**y, 2**b),
        (6 & y, 6 & b), (6 | y, 6 | b), (6 ^ y, 6 ^ b), (1 << y, 1 << b), (99 >> y, 99 >> b), (x // 2, a // 2),
        (divmod(x, y)[0], a // b), (divmod(x, y)[1], a % b), (divmod(20, y)[1], 20 % b),
    ]:  # fmt: skip
        assert got.tolist() == wanted.tolist()
    z = st.tensor([7, -7, 3])
    pointer = z.data_ptr()
    for step in ("z //= 2", "z **= 2", "z %= 5", "z |= 8", "z &= 12", "z ^= 1", "z <<= 3", "z >>= 1"):
        space = {"z": z}
        exec(step, space)
        assert space["z"] is z and z.data_ptr() == pointer
    assert z.tolist() == ((((((((a // 2) ** 2) % 5) | 8) & 12) ^ 1) << 3) >> 1).tolist()
    with pytest.raises(TypeError):
        pow(x, 2, 3)


def test_other_names():
    x = st.tensor([0.25, 0.5])
    for alias, name in {"arcsin": "asin", "subtract": "sub", "divide": "div", "greater_equal": "ge"}.items():
        others = () if OPS[name].arity == 1 else (x,)
        assert getattr(st, alias)(x, *others).tolist() == getattr(st, name)(x, *others).tolist()
        assert getattr(x.clone(), alias)(*others).tolist() == getattr(x, name)(*others).tolist()
    assert st.lerp(x, end=x + 1, weight=0.5).tolist() == [0.75, 1.0]
    assert st.addcmul(x, tensor1=x, tensor2=2).tolist() == [0.75, 1.5]
