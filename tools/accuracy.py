"""Measures the errors of the mathematical functions of the built module, in ULP.

    python tools/accuracy.py [NAME ...]       at the CPU level in use; takes at most a minute
    python tools/accuracy.py --full ...       with twenty times as many arguments
    python tools/accuracy.py --write          at every CPU level, into docs/accuracy.md

Arguments come from every binade of the dtype, densely from the usual range, and from hostile places (next to zeros, poles and
limits, huge angles, multiples of pi/2, subnormal numbers). Most results are compared with NumPy's longdouble, which has 11
bits more than float64; the worst of those, and results at hostile arguments, with mpmath.
"""

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import mpmath
import numpy as np

import strided as st

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/accuracy.md"
NATIVE: Any = st._strided
Array = Any  # a NumPy array of any dtype
LONG = np.longdouble
#: Whether longdouble is precise enough to judge float64.
WIDE = np.finfo(LONG).nmant >= 63


class Function(NamedTuple):
    """A function of the op table: its true value, and the arguments to try."""

    true: Callable[..., Any]  # on numbers of mpmath
    wide: Callable[..., Any] | None = None  # on longdouble arrays
    range: tuple[float, float] = (-20.0, 20.0)
    #: Zeros, poles and other points near which errors are large.
    hot: tuple[float, ...] = ()
    #: The domain.
    low: float = -math.inf
    high: float = math.inf
    double: int = 1  # the error bound for float64, in ULP
    #: Where the result is smaller, the error is counted in ULP of this: near the zeros of a function whose error is absolute.
    floor: float = 0.0


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def wide_logit(x: Array) -> Array:
    return np.where(x < 0.25, np.log(x) - np.log1p(-x), 2 * np.arctanh(2 * x - 1))


def wide_sinc(x: Array) -> Array:
    whole = np.rint(x)
    pi = LONG(math.pi) + LONG(1.2246467991473532e-16)
    sine = np.sin(pi * (x - whole)) * np.where(np.fmod(whole, 2) == 0, 1, -1)
    return np.where(x == 0, LONG(1), sine / (pi * x))


def wide_xlogy(x: Array, y: Array) -> Array:
    return np.where(x == 0, LONG(0), x * np.log(y))


def wide_digamma(x: Array) -> Array:
    """By the recurrence up to 20, then a few terms of the asymptotic series. Not for negative numbers."""
    low = x < 20
    steps = sum(np.where(low, 1 / (x + i), LONG(0)) for i in range(20))
    y = np.where(low, x + 20, x)
    w = 1 / (y * y)
    series = LONG(0)
    for over in (-12, LONG(32760) / 691, -132, 240, -252, 120, -12):
        series = w * (series + 1 / LONG(over))
    return np.where(x > 0, np.log(y) - 1 / (2 * y) + series - steps, LONG(math.nan))


def erfinv(x: Any) -> Any:
    """mpmath.erfinv starts from float64 and may stop early: two more steps of Newton's method."""
    if abs(x) == 1:
        return x * mpmath.inf
    y = mpmath.erfinv(x)
    for _ in range(2):
        residue = mpmath.erfc(y) - (1 - x) if x > 0.5 else mpmath.erf(y) - x
        y += residue * (1 if x > 0.5 else -1) * mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(y * y)
    return y


def lgamma(x: Any) -> Any:
    if x > 1e6:
        return mpmath.loggamma(x)
    with mpmath.extraprec(200 if abs(x) < 1e3 else 60):
        return mpmath.log(abs(mpmath.gamma(x)))


def logaddexp(x: Any, y: Any) -> Any:
    if isinstance(x, mpmath.mpc):
        with mpmath.extraprec(200):
            return mpmath.log(mpmath.exp(x) + mpmath.exp(y))
    high, low = max(x, y), min(x, y)
    with mpmath.extraprec(200):
        return high + mpmath.log1p(mpmath.exp(low - high)) if high - low < 1e4 else high


def logaddexp2(x: Any, y: Any) -> Any:
    with mpmath.extraprec(60):
        ln2 = mpmath.log(2)
        return logaddexp(x * ln2, y * ln2) / ln2


def logit(x: Any) -> Any:
    with mpmath.extraprec(200):
        return mpmath.log(x / (1 - x))


def sinc(x: Any) -> Any:
    with mpmath.extraprec(60):
        return mpmath.sincpi(x)


HALVES = tuple(math.pi / 2 * n for n in (1, 2, 3, 4, 355, 710, 1e5, 1e9, 1e15, 1e22))
ANGLES = (0.0, math.pi / 4, *HALVES, 1e300)
EXPS = (0.0, 709.78, -708.4, -745.1, 88.72, -87.3, -103.9, 0.3466, -0.3466, 1.04)
LOGS = (0.0, 1.0, 0.70710678, 1.41421356, 2.0, 10.0, 1024.0)
FUNCTIONS = {
    "exp": Function(mpmath.exp, np.exp, (-100, 100), EXPS),
    "exp2": Function(lambda x: mpmath.mpf(2) ** x, np.exp2, (-150, 150), (1024, -1022, -1074, 128, -126, -149, 0.5)),
    "expm1": Function(mpmath.expm1, np.expm1, (-50, 50), (*EXPS, -37.0)),
    "log": Function(mpmath.log, np.log, (0, 4), LOGS, low=0),
    "log2": Function(lambda x: mpmath.log(x, 2), np.log2, (0, 4), LOGS, low=0),
    "log10": Function(mpmath.log10, np.log10, (0, 4), (*LOGS, 1000.0), low=0),
    "log1p": Function(mpmath.log1p, np.log1p, (-1, 4), (0.0, -1.0, -0.29, 0.4142, 1.0), low=-1),
    "sin": Function(mpmath.sin, np.sin, (-100, 100), ANGLES),
    "cos": Function(mpmath.cos, np.cos, (-100, 100), ANGLES),
    "tan": Function(mpmath.tan, np.tan, (-100, 100), ANGLES),
    "asin": Function(mpmath.asin, np.arcsin, (-1, 1), (0.0, 0.5, -0.5, 1.0, -1.0), low=-1, high=1),
    "acos": Function(mpmath.acos, np.arccos, (-1, 1), (0.0, 0.5, -0.5, 1.0, -1.0), low=-1, high=1),
    "atan": Function(mpmath.atan, np.arctan, (-10, 10), (0.0, 0.41421356, 2.41421356, 1.0, 1e16)),
    "sinh": Function(mpmath.sinh, np.sinh, (-50, 50), (*EXPS, 710.47, 89.41)),
    "cosh": Function(mpmath.cosh, np.cosh, (-50, 50), (*EXPS, 710.47, 89.41)),
    "tanh": Function(mpmath.tanh, np.tanh, (-20, 20), (0.0, 0.1733, 0.52, 20.0, 9.0)),
    "asinh": Function(mpmath.asinh, np.arcsinh, (-10, 10), (0.0, 1.0, 1e8, 1e17)),
    "acosh": Function(mpmath.acosh, np.arccosh, (1, 10), (1.0, 2.0, 1.25, 1e8, 1e17), low=1),
    "atanh": Function(mpmath.atanh, np.arctanh, (-1, 1), (0.0, 1.0, -1.0, 0.17, 0.333), low=-1, high=1),
    "softplus": Function(lambda x: mpmath.log1p(mpmath.exp(x)), lambda x: np.logaddexp(x, LONG(0)), (-50, 50), (*EXPS, -37.0, 37.0)),
    "sigmoid": Function(lambda x: 1 / (1 + mpmath.exp(-x)), sigmoid, (-50, 50), (0.0, -708.0, -745.0, -37.0, -87.3, -103.9)),
    "logit": Function(logit, wide_logit, (0, 1), (0.0, 0.5, 1.0), low=0, high=1),
    "sinc": Function(sinc, wide_sinc, (-20, 20), (0.0, 1.0, 0.5, 3.0, 1e5, 2e6)),
    "rsqrt": Function(lambda x: 1 / mpmath.sqrt(x), lambda x: 1 / np.sqrt(x), (0, 10), (0.0, 1.0, 1e-310, 1e-40), low=0),
    "sqrt": Function(mpmath.sqrt, np.sqrt, (0, 10), (0.0, 1.0, 1e-310, 1e-40), low=0),
    "abs": Function(abs, np.abs),
    "angle": Function(mpmath.arg, np.angle),
    "erf": Function(mpmath.erf, None, (-4, 4), (0.0, 1.0, -1.0, 5.9, 3.9)),
    "erfc": Function(mpmath.erfc, None, (-4, 10), (0.0, 1.0, -1.0, 26.5, 27.2, 10.05, 0.5), double=4),
    "erfinv": Function(erfinv, None, (-1, 1), (0.0, 1.0, -1.0, 0.5, 0.8), low=-1, high=1, double=4),
    "lgamma": Function(lgamma, None, (-20, 20), (1.0, 2.0, 8.0, -0.5, -2.457, -2.747), double=4, floor=1.0),
    "digamma": Function(lambda x: mpmath.psi(0, x), wide_digamma, (-20, 20), (1.0, 1.4616321449683622, 8.0, -0.504, -1.573), double=4, floor=1.0),
    "atan2": Function(mpmath.atan2, np.arctan2, (-10, 10), (0.0, 1.0)),
    "pow": Function(lambda x, y: mpmath.power(x, y), np.power, (0, 50), (1.0, 2.0, 0.5, 1 + 2**-20, 10.0), low=0),
    "hypot": Function(mpmath.hypot, np.hypot, (-10, 10), (0.0, 1.0, 3.0)),
    "logaddexp": Function(logaddexp, np.logaddexp, (-10, 10), (0.0, 1.0, -1.0), floor=1.0),
    "logaddexp2": Function(logaddexp2, np.logaddexp2, (-10, 10), (0.0, 1.0, -1.0), floor=1.0),
    "ldexp": Function(lambda x, y: x * mpmath.mpf(2) ** y, lambda x, y: x * np.exp2(y), (-10, 10), (0.0, 1.0, 0.5)),
    "xlogy": Function(lambda x, y: x * mpmath.log(y) if x else mpmath.mpf(0), wide_xlogy, (0, 10), (0.0, 1.0), low=0),
}  # fmt: skip
PEERS = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "pow": "power",
}  # fmt: skip
BINARY = {"atan2", "pow", "hypot", "logaddexp", "logaddexp2", "ldexp", "xlogy"}
COMPLEX = [
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sqrt", "pow", "sigmoid", "sinc", "rsqrt", "logaddexp"),
    *("logaddexp2", "ldexp", "abs", "angle"),
]  # fmt: skip
#: Functions that are exact for real numbers.
ONLY_COMPLEX = {"abs", "angle"}
#: Zeros and poles of complex functions. A quarter of the arguments is next to them.
COMPLEX_HOT = {"sigmoid": [1j * math.pi * n for n in (1, -1, 3, 7, -101)], "sinc": [1, -1, 2, 5, 1000]}
#: The error bound of complex functions: the distance from the true result, in ULP of its magnitude.
COMPLEX_BOUND = {"complex64": 2, "complex128": 8}
#: A power loses as many bits as the product of exponent and logarithm has before the binary point.
COMPLEX_POW_BOUND = 512
#: Bits of the mantissa, and the exponent of the smallest subnormal number.
FORMATS = {"float16": (11, -24), "bfloat16": (8, -133), "float32": (24, -149), "float64": (53, -1074)}


# Arguments


def samples(function: Function, dtype: str, count: int, seed: int) -> Array:
    """Half of them in the usual range, a quarter of every magnitude, a quarter next to the hot points at every distance."""
    rng = np.random.default_rng(seed)
    info = np.finfo(dtype)
    quarter = count // 4
    usual = rng.uniform(*function.range, 2 * quarter)
    sizes = np.ldexp(rng.uniform(1, 2, quarter), rng.integers(info.minexp - info.nmant, info.maxexp, quarter))
    sizes *= rng.choice([-1.0, 1.0], quarter)
    with np.errstate(all="ignore"):
        x = np.concatenate([usual, sizes, hot(function, dtype, quarter, rng)]).astype(dtype)
    x = x[np.isfinite(x)]
    return x[(x >= function.low) & (x <= function.high)]


def hot(function: Function, dtype: str, count: int, rng: np.random.Generator) -> Array:
    centres = rng.choice(np.array(function.hot or (0.0,)), count)
    distance = 2.0 ** rng.uniform(-np.finfo(dtype).nmant - 8, 0, count) * np.clip(np.abs(centres), 1e-3, 1e300)
    near = centres + rng.choice([-1.0, 1.0], count) * distance
    # The float64 numbers nearest to multiples of pi/2.
    angles = np.ldexp(rng.uniform(0.5, 1, count), rng.integers(1, 30, count)).round() * (np.pi / 2)
    return np.where(rng.random(count) < 0.7, near, angles if math.pi / 2 in function.hot else near)


# True results


def number(value: Any) -> Any:
    """The longdouble nearest to a number of mpmath."""
    if isinstance(value, mpmath.mpc):
        value = value.real
    if mpmath.isnan(value):
        return LONG(math.nan)
    if mpmath.isinf(value):
        return LONG(math.inf if value > 0 else -math.inf)
    mantissa, exponent = mpmath.frexp(value)  # longdouble has a wider range than float
    high = float(mantissa)
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(LONG(high) + LONG(float(mantissa - high)), int(exponent))


def true_value(function: Function, args: Iterable[Any]) -> Any:
    try:
        with mpmath.workprec(160):
            return number(function.true(*(mpmath.mpf(float(v)) for v in args)))
    except (ZeroDivisionError, ValueError, OverflowError):
        return LONG(math.nan)


def sieve(op: str, dtype: str, columns: list[Array]) -> Array | None:
    """Approximate true values, to find the arguments worth checking with mpmath: by longdouble, or for float32 by float64."""
    function = FUNCTIONS[op]
    if function.wide and WIDE:
        return wide_value(function, columns)
    if dtype == "float64":
        return None
    return np.asarray(getattr(st, op)(*(st.tensor(column.astype(np.float64)) for column in columns)).numpy(), LONG)


def wide_value(function: Function, columns: list[Array]) -> Array:
    assert function.wide
    with np.errstate(all="ignore"):
        return np.asarray(function.wide(*(column.astype(LONG) for column in columns)), LONG)


# Errors


def errors(got: Array, true: Array, dtype: str, floor: float) -> Array:
    """The error in ULP of the true result. Infinity counts as the number that would follow the largest one."""
    bits, lowest = FORMATS[dtype]
    got, true = got.astype(LONG), true.astype(LONG)
    top = LONG(2) ** (1024 if dtype == "float64" else 16 if dtype == "float16" else 128)
    held = np.clip(true, -top, top)
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(np.maximum(np.abs(held), LONG(floor)))
        ulp = np.ldexp(LONG(1), np.maximum(exponent - bits, lowest).astype(np.int32))
        off = np.abs(np.clip(got, -top, top) - held) / ulp
    off = np.where(np.isnan(got) & np.isnan(true), 0, off)
    return np.where(np.isnan(off), math.inf, off).astype(float)


class Worst(NamedTuple):
    ulp: float
    at: str


def shown(columns: list[Array], i: int) -> str:
    return ", ".join(str(column[i]) for column in columns)


def confirmed(function: Function, columns: list[Array], got: Array, guess: Array | None, dtype: str) -> Worst:
    """The largest error by mpmath, of all arguments or of those with the largest approximate errors."""
    floor = function.floor
    if guess is not None:
        off = errors(got, guess, dtype, floor)
        chosen = np.argsort(np.where(np.isnan(guess), -1, off))[-12:]
        columns, got = [column[chosen] for column in columns], got[chosen]
    true = np.array([true_value(function, args) for args in zip(*columns, strict=True)], LONG)
    # Where mpmath has no value (a pole, 0 to a negative power), tests/test_special_values.py says what is right.
    known = ~np.isnan(true) & ~np.isinf(true)
    off = np.where(known, errors(got, true, dtype, floor), -1)
    worst = int(np.argmax(off))
    return Worst(float(off[worst]), shown(columns, worst))


def larger(*worst: Worst) -> Worst:
    return max(worst, key=lambda each: each.ulp)


def measure(op: str, dtype: str, run: Callable[[list[Array]], Array | None], dense: int, hostile: int) -> Worst | None:
    """The largest error of a function from arrays to an array."""
    function = FUNCTIONS[op]
    found = []
    for count in (dense, hostile):
        columns = [samples(function, dtype, count, seed) for seed in (count, count + 1)[: 1 + (op in BINARY)]]
        if op == "pow":  # exponents of both signs
            columns[1] = np.where(np.arange(len(columns[1])) % 3 == 0, -columns[1], columns[1])
        shortest = min(map(len, columns))
        columns = [column[:shortest] for column in columns]
        guess = sieve(op, dtype, columns) if count == dense else None
        if count == dense and guess is None:
            continue
        got = run(columns)
        if got is None:
            return None
        found.append(confirmed(function, columns, got, guess, dtype))
    return larger(*found)


# Libraries


def strided_runner(op: str) -> Callable[[list[Array]], Array]:
    return lambda columns: getattr(st, op)(*map(st.tensor, columns)).numpy()


def numpy_runner(op: str) -> Callable[[list[Array]], Array | None]:
    def run(columns: list[Array]) -> Array | None:
        function = getattr(np, PEERS.get(op, op), None)
        if function is None or op in ("sinc", "ldexp"):  # a different function; integer exponents only
            return None
        with np.errstate(all="ignore"):
            return np.asarray(function(*columns))

    return run


def torch_runner(op: str) -> Callable[[list[Array]], Array | None]:
    def run(columns: list[Array]) -> Array | None:
        try:
            torch = import_module("torch")
        except ImportError:
            return None
        homes = (torch, torch.special, torch.nn.functional)
        function = next(getattr(home, op) for home in homes if hasattr(home, op))
        found: Array = function(*map(torch.from_numpy, columns)).numpy()
        return found

    return run


RUNNERS = {"strided": strided_runner, "NumPy": numpy_runner, "PyTorch": torch_runner}


def halves(op: str, dtype: str) -> Worst | None:
    """The largest error over all halves, by longdouble. Float32 results are rounded once, so that it is little above 1/2 ULP."""
    function = FUNCTIONS[op]
    if function.wide is None or not WIDE or op in BINARY | ONLY_COMPLEX:
        return None
    every = st.arange(0, 65536, dtype=st.int32).to(st.int16).view(getattr(st, dtype))
    x = every.to(st.float32).numpy()
    got = getattr(st, op)(every).to(st.float32).numpy()
    inside = np.isfinite(x) & (x >= function.low) & (x <= function.high)
    true = wide_value(function, [x[inside]])
    finite = np.isfinite(true)
    off = np.where(finite, errors(got[inside], true, dtype, function.floor), -1)
    worst = int(np.argmax(off))
    return Worst(float(off[worst]), shown([x[inside]], worst))


def complex_errors(op: str, dtype: str, count: int) -> Worst:
    """The largest distance from the true result, in ULP of its magnitude."""
    part = {"complex64": "float32", "complex128": "float64"}[dtype]
    rng = np.random.default_rng(5)
    sizes = np.ldexp(rng.uniform(-1, 1, (4, count)), rng.integers(-12, 6, (4, count)))
    sizes[:, : count // 2] = rng.uniform(-4, 4, (4, count // 2))
    a, b, c, d = sizes.astype(part)
    columns = [(a + 1j * b).astype(dtype), (c + 1j * d).astype(dtype)][: 1 + (op in BINARY)]
    if op in COMPLEX_HOT:
        some = columns[0][-count // 4 :]
        near = 2.0 ** rng.uniform(-40, 0, len(some)) * np.exp(1j * rng.uniform(0, 2 * np.pi, len(some)))
        some[:] = rng.choice(np.array(COMPLEX_HOT[op]), len(some)) + near
    got = getattr(st, op)(*map(st.tensor, columns)).numpy()
    worst = Worst(-1, "")
    for i in range(count):
        with mpmath.workprec(160):
            args = [mpmath.mpc(complex(column[i])) for column in columns]
            if op in ("expm1", "log1p"):  # those of mpmath lose bits near 0
                with mpmath.extraprec(200):
                    true = mpmath.exp(args[0]) - 1 if op == "expm1" else mpmath.log(1 + args[0])
            else:
                true = mpmath.mpc(FUNCTIONS[op].true(*args))
            size = max(abs(true), FUNCTIONS[op].floor)
            bits, lowest = FORMATS[part]
            ulp = mpmath.mpf(2) ** max(int(mpmath.frexp(size)[1]) - bits, lowest)
            off = float(abs(mpmath.mpc(complex(got[i])) - true) / ulp)
        worst = larger(worst, Worst(off, shown(columns, i)))
    return worst


# The page


def version(library: str) -> str:
    module = {"NumPy": "numpy", "PyTorch": "torch"}[library]
    return str(import_module(module).__version__).partition("+")[0]


def everything(names: list[str], dense: int, hostile: int, libraries: Iterable[str]) -> dict[str, Worst]:
    """The largest error by 'library function dtype'."""
    found: dict[str, Worst | None] = {}
    for op in names:
        for dtype in () if op in ONLY_COMPLEX else ("float32", "float64"):
            for library in libraries:
                found[f"{library} {op} {dtype}"] = measure(op, dtype, RUNNERS[library](op), dense, hostile)
        if "strided" in libraries:
            for dtype in ("float16", "bfloat16"):
                found[f"strided {op} {dtype}"] = halves(op, dtype)
            for dtype in COMPLEX_BOUND if op in COMPLEX else ():
                found[f"strided {op} {dtype}"] = complex_errors(op, dtype, hostile // 4)
    return {key: worst for key, worst in found.items() if worst}


def bound(op: str, dtype: str) -> float:
    if (op, dtype) == ("pow", "complex128"):
        return COMPLEX_POW_BOUND
    if dtype in COMPLEX_BOUND:
        return COMPLEX_BOUND[dtype]
    return {"float32": 1, "float64": FUNCTIONS[op].double}.get(dtype, 0.51)


def show(found: dict[str, Worst]) -> int:
    """Prints a line per function and dtype, and returns how many exceed their bounds."""
    exceeded = 0
    for key, worst in found.items():
        library, op, dtype = key.split()
        exceeds = library == "strided" and worst.ulp > bound(op, dtype)
        exceeded += exceeds
        remark = "  <- exceeds its bound" if exceeds else ""
        print(f"{op:<10}{dtype:<11}{worst.ulp:9.3f} of {bound(op, dtype):g}  at {worst.at}{remark}")
    return exceeded


def of_level(level: str, options: list[str]) -> dict[str, Worst]:
    """The errors at a CPU level, measured in a process of its own."""
    env = {**os.environ, "STRIDED_CPU": level}
    done = subprocess.run([sys.executable, __file__, "--json", *options], env=env, stdout=subprocess.PIPE, check=True)
    return {key: Worst(*worst) for key, worst in json.loads(done.stdout).items()}


def page(by_level: dict[str, dict[str, Worst]], peers: dict[str, Worst], counts: tuple[int, int]) -> str:
    levels = list(by_level)
    present = [name for name in ("NumPy", "PyTorch") if any(key.startswith(name) for key in peers)]

    def table(dtype: str, others: list[str]) -> Iterable[str]:
        yield "| function | bound | " + " | ".join(levels + others) + " | worst at |"
        yield "|---|---|" + "---|" * len(levels + others) + "---|"
        for op in FUNCTIONS:
            own = [by_level[level].get(f"strided {op} {dtype}") for level in levels]
            if own[0] is None:
                continue
            theirs = [peers.get(f"{name} {op} {dtype}") for name in others]
            cells = [
                f"{worst.ulp:.2f}" if worst and worst.ulp < 1e4 else ("-" if not worst else f"{worst.ulp:.0e}")
                for worst in own + theirs
            ]
            where = larger(*filter(None, own)).at
            mark = " \\*" if FUNCTIONS[op].floor else ""
            yield f"| `{op}`{mark} | {bound(op, dtype):g} | " + " | ".join(cells) + f" | {where} |"

    versions = " and ".join(f"{name} {version(name)}" for name in present)
    lines = HEAD.format(dense=f"{counts[0]:,}", hostile=f"{counts[1]:,}", peers=versions).splitlines()
    for dtype, text in TITLES.items():
        lines += ["", f"## {dtype}", "", *([text, ""] if text else [])]
        lines += table(dtype, present if dtype in ("float32", "float64") else [])
    return "\n".join(lines) + "\n"


HEAD = """# How accurate the mathematical functions are

Generated by `./dev accuracy --write`; `./dev accuracy` measures again, in less than a minute. The figures are the largest errors seen, in
ULP: the distance between the result and the true value, in units of the last place of the true value. 0.5 is the best possible.

Operations that are correctly rounded (sums, products, quotients, square roots) return the same bits on every CPU. Functions of
`kernels/maths/` need not: their fast bodies depend on the CPU level (`STRIDED_CPU` names the highest one to use: `baseline`, `avx2` or
`avx512`; any other value is ignored). They keep the bound at every level.

Method: {dense} arguments per function are compared with the C library's long double, and the worst of them with mpmath. Half of the
arguments are in the usual range of the function, a quarter of every magnitude of the dtype, subnormal numbers included, and a quarter at
every distance from its zeros, poles and limits. Float32 functions that long double lacks are compared with float64 results of this library.
{hostile} further arguments are compared with mpmath alone; for float64 functions that long double lacks there are no others. Levels that the
machine does not have are missing from the tables. Special values (zeros, infinities, NaN) are tested by `tests/test_special_values.py`. The
peers, {peers}, are measured with the same arguments.

\\* The error of `lgamma`, `digamma`, `logaddexp` and `logaddexp2` is absolute where the result is near 0: below 1 it is counted in ULP of 1."""

TITLES = {
    "float32": "",
    "float64": "",
    "float16": "All 65,536 numbers. Halves are computed in float32, and rounded once.",
    "bfloat16": "All 65,536 numbers.",
    "complex64": "The distance from the true value, in ULP of its magnitude. One part may have a larger error where it is small beside the other.",
    "complex128": "",
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures the errors of mathematical functions, in ULP.")
    parser.add_argument("names", nargs="*", help="functions to measure; all of them by default")
    parser.add_argument("--full", action="store_true", help="twenty times as many arguments")
    parser.add_argument("--write", action="store_true", help="measure at every CPU level, and write docs/accuracy.md")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in FUNCTIONS]
    if unknown:
        parser.error(f"no function {unknown[0]}; the functions are {', '.join(FUNCTIONS)}")
    dense, hostile = (20_000_000, 30_000) if args.full else (1_000_000, 1_500)
    names = args.names or list(FUNCTIONS)
    if args.write:
        options = ["--full"] if args.full else []
        by_level = {level: of_level(level, options) for level in NATIVE._cpu_levels()[::-1]}
        peers = everything(list(FUNCTIONS), dense, hostile, ("NumPy", "PyTorch"))
        PAGE.write_text(page(by_level, peers, (dense, hostile)))
        return int(sum(show(found) for found in by_level.values()) > 0)
    found = everything(names, dense, hostile, ("strided",))
    if args.json:
        print(json.dumps(found))
        return 0
    print(f"level {NATIVE._cpu_levels()[-1]}")
    return int(show(found) > 0)


if __name__ == "__main__":
    sys.exit(main())
