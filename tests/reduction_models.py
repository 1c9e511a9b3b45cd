"""Models of the reductions: the expected results, in Python ints, in longdouble, or in NumPy's own dtype.

A model returns the result's dtype, the expected values, and the error that is allowed before the result is rounded
into its dtype. The error of a sum of n terms is at most (log2 n + 8) eps sum|x|: runs of at most 32 terms are added
one by one, their sums pairwise.
"""

import math

import numpy as np
from strategies import (
    COMPLEX,
    FLOATS,
    INTS,
    LAYOUTS,
    laid_out,
    memory_dtype,
    ordinary,
    shared,
    to_memory,
    to_values,
    values_of,
)

import strided as st

REAL = {"complex64": "float32", "complex128": "float64"}
EPS = {"float64": 2.0**-52, "complex128": 2.0**-52}  # all others are computed in float32
#: Half an ULP relative to the value, and half the smallest subnormal.
HALF_ULP = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
SMALLEST = {"float16": 2.0**-25, "bfloat16": 2.0**-134, "float32": 2.0**-150, "float64": 0.0}

#: The layouts of the test matrix, and a permuted one that is large enough for threads.
PERMUTED = "permuted 40x50x60"
SHAPES = {layout: shape for layout, (shape, _) in LAYOUTS.items()} | {PERMUTED: (60, 40, 50)}

DIMS = {
    0: (None, 0, -1),
    2: (None, 0, 1, -1, (0,), (1, 0), (-1, -2)),
    3: (None, 0, 1, -1, (0, 2), (1, -1)),
    9: (None, 0, 5, -1, (0, 2, 4), (8, 5, 1), tuple(range(9))),
}


def eps(name):
    return EPS.get(name, 2.0**-23)


def summed(name):
    """The dtype of a sum."""
    return "int64" if name == "bool" or (name in INTS and name != "uint64") else name


def divided(name):
    """The dtype of a mean: that of integers is the default float."""
    return name if name in FLOATS or name in COMPLEX else "float32"


def tensor_of(layout, memory, name):
    if layout != PERMUTED:
        return laid_out(layout, memory, name)
    array = np.zeros((40, 50, 60), memory_dtype(name)).transpose(2, 0, 1)
    array[...] = memory
    return shared(array, name)


def own_shape(layout):
    """The shape of the elements that a layout has in memory."""
    shape = SHAPES[layout]
    return (1, shape[1]) if layout == "stride 0" else shape


def finite(name, shape, seed=0):
    """Ordinary values without infinities and NaN, as memory."""
    memory = ordinary(name, shape, seed)
    if name in FLOATS:
        values = to_values(memory, name)
        return to_memory(np.where(np.isfinite(values), values, 1), name)
    return memory


def near_one(name, shape, seed=0):
    """Values whose products stay in range, as memory."""
    if name == "bool" or name in INTS:
        return ordinary(name, shape, seed)
    random = np.random.default_rng(seed)
    values = random.choice([-1, 1], shape) * random.uniform(0.99, 1.01, shape)
    return to_memory(values * (np.exp(1j * random.uniform(0, 6, shape)) if name in COMPLEX else 1), name)


def moderate(name, shape, seed=0):
    """Numbers around 3, as memory."""
    random = np.random.default_rng(seed)
    if name == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if name in INTS:
        return random.integers(0, 100, shape).astype(name)
    values = random.standard_normal(shape) * 4 + 3
    return to_memory(values + 1j * random.standard_normal(shape) if name in COMPLEX else values, name)


def with_nan(name, shape, seed=0):
    """Moderate numbers, about a third of them NaN where the dtype has NaN, as memory."""
    memory = moderate(name, shape, seed)
    if name in FLOATS:
        where = np.random.default_rng(seed + 1).random(shape) < 0.3
        return to_memory(np.where(where, np.nan, to_values(memory, name)), name)
    return memory


def wide(values):
    return np.asarray(values).astype(np.clongdouble if np.asarray(values).dtype.kind == "c" else np.longdouble)


def axes_of(values, dims):
    return None if values.ndim == 0 or dims is None else dims


def count(values, axis):
    """The number of terms of each result."""
    if axis is None:
        return values.size
    return math.prod(values.shape[a] for a in ((axis,) if isinstance(axis, int) else axis))


def pairwise(values, axis, keep, name):
    """The error bound of a sum."""
    n = count(values, axis)
    return (math.log2(max(n, 1)) + 8) * eps(name) * np.abs(wide(values)).sum(axis=axis, keepdims=keep)


def of_sum(values, name, axis, keep):
    result = summed(name)
    if result in ("int64", "uint64"):
        return result, values.astype(result).sum(axis=axis, keepdims=keep, dtype=result), None
    return result, wide(values).sum(axis=axis, keepdims=keep), pairwise(values, axis, keep, name)


def of_nansum(values, name, axis, keep):
    return of_sum(np.where(np.isnan(values), 0, values).astype(values.dtype), name, axis, keep)


def of_prod(values, name, axis, keep):
    result = summed(name)
    if result in ("int64", "uint64"):
        return result, values.astype(result).prod(axis=axis, keepdims=keep, dtype=result), None
    wanted = wide(values).prod(axis=axis, keepdims=keep)
    # Each multiplication rounds once; a complex one by at most sqrt(5) / 2 eps.
    steps = max(count(values, axis) - 1, 0) * (math.sqrt(5) if name in COMPLEX else 1)
    return result, wanted, (math.exp(steps * eps(name) / 2) - 1) * 1.001 * np.abs(wanted)


def _mean(sums, absolute, n, name, terms):
    with np.errstate(all="ignore"):
        wanted = sums / n
        result = divided(name)
        # Integers are rounded to float32 before they are added; the division rounds, twice if it is complex.
        unit = eps(result)
        allowed = (np.log2(np.maximum(terms, 1)) + 8 + 0.5) * unit * absolute / n + 2 * unit * np.abs(wanted)
        return result, wanted, allowed


def of_mean(values, name, axis, keep):
    n = count(values, axis)
    sums = wide(values).sum(axis=axis, keepdims=keep)
    return _mean(sums, np.abs(wide(values)).sum(axis=axis, keepdims=keep), np.longdouble(n), name, n)


def of_nanmean(values, name, axis, keep):
    there = ~np.isnan(values)
    kept = np.where(there, wide(values), 0)
    n = there.sum(axis=axis, keepdims=keep).astype(np.longdouble)
    sums = kept.sum(axis=axis, keepdims=keep)
    return _mean(sums, np.abs(kept).sum(axis=axis, keepdims=keep), n, name, count(values, axis))


def of_all(values, name, axis, keep):
    return "bool", (values != 0).all(axis=axis, keepdims=keep), None


def of_any(values, name, axis, keep):
    return "bool", (values != 0).any(axis=axis, keepdims=keep), None


def of_count_nonzero(values, name, axis, keep):
    return "int64", (values != 0).sum(axis=axis, keepdims=keep, dtype=np.int64), None


def of_var(values, name, axis, keep, correction=1, root=False):
    """Sums in float64 whatever the dtype: condition number k, error (log2 n + 8) eps64 (1 + k) of the variance."""
    result = divided(name)
    real = REAL.get(result, result)
    x = wide(values)
    n = count(values, axis)
    with np.errstate(all="ignore"):
        middle = x.sum(axis=axis, keepdims=True) / np.longdouble(n)
        squares = (np.abs(x - middle) ** 2).sum(axis=axis, keepdims=keep)
        wanted = squares / np.longdouble(max(n - correction, 0))
        size = (np.abs(x) ** 2).sum(axis=axis, keepdims=keep)
        condition = np.sqrt(size / np.where(squares > 0, squares, 1))
        relative = (math.log2(max(n, 1)) + 8) * EPS["float64"] * (1 + condition)
        if name in COMPLEX:  # the sum of two rounded variances
            relative = relative + 2 * eps(name)
        if root:
            wanted = np.sqrt(wanted)
        return real, wanted, relative * np.abs(wanted) + np.where(squares > 0, 0, EPS["float64"] * np.sqrt(size))


def of_std(values, name, axis, keep, correction=1):
    return of_var(values, name, axis, keep, correction, root=True)


def of_norm(values, name, axis, keep, p=2):
    result = divided(name)
    real = REAL.get(result, result)
    unit = eps(result)
    if name not in FLOATS and name not in COMPLEX:
        values = values.astype(np.float32)
    size = np.abs(wide(values))
    steps = math.log2(max(count(values, axis), 1)) + 8
    if p == 0:
        return real, (values != 0).sum(axis=axis, keepdims=keep).astype(np.longdouble), 0 * unit
    if abs(p) == math.inf:
        wanted = (size.max if p > 0 else size.min)(axis=axis, keepdims=keep)
        return real, wanted, (unit if name in COMPLEX else 0) * wanted
    if p == 1:
        return real, size.sum(axis=axis, keepdims=keep), (steps + 1) * unit * size.sum(axis=axis, keepdims=keep)
    with np.errstate(all="ignore"):
        total = (size ** np.longdouble(p)).sum(axis=axis, keepdims=keep)
        wanted = total ** (1 / np.longdouble(p))
        if p == 2:  # squares are added in float64
            return real, wanted, (steps + 2) * EPS["float64"] * wanted
        # Powers have an error of 2 ulp or more, and the exponent of the root is rounded, too.
        inner = steps + 4 + 2 * abs(p)
        power = np.abs(np.log(np.where(total > 0, total, 1)))
        return real, wanted, (inner / abs(p) + power / abs(p) + 4) * unit * wanted


def of_logsumexp(values, name, axis, keep):
    result = divided(name)
    unit = eps(result)
    if name not in FLOATS and name not in COMPLEX:
        values = values.astype(np.float32)
    x = wide(values)
    n = count(values, axis)
    with np.errstate(all="ignore"):
        if n == 0:
            return result, x.sum(axis=axis, keepdims=keep) - np.inf, 0.0
        top = x.real.max(axis=axis, keepdims=True)
        powers = np.exp(x - top)
        sums = powers.sum(axis=axis, keepdims=True)
        # Terms with different angles may cancel.
        lost = np.abs(powers).sum(axis=axis, keepdims=True) / np.abs(sums)
        shape = x.real.max(axis=axis, keepdims=keep).shape
        wanted, lost = (np.log(sums) + top).reshape(shape), lost.reshape(shape)
        # The relative error of the sum is an absolute error of its logarithm; log and adding the maximum round as well.
        return result, wanted, (math.log2(n) + 12) * unit * lost + 2 * unit * (np.abs(wanted) + np.log(n))


#: Name -> values that suit it, its model, and whether it takes complex numbers.
OPS = {
    "sum": (finite, of_sum, True),
    "nansum": (with_nan, of_nansum, False),
    "prod": (near_one, of_prod, True),
    "mean": (finite, of_mean, True),
    "nanmean": (with_nan, of_nanmean, False),
    "all": (finite, of_all, True),
    "any": (finite, of_any, True),
    "count_nonzero": (finite, of_count_nonzero, True),
    "var": (moderate, of_var, True),
    "std": (moderate, of_std, True),
    "norm": (moderate, of_norm, True),
    "logsumexp": (moderate, of_logsumexp, True),
}
#: The others, each as a function with one result.
EXTREMES = {
    "amax": lambda x, dim: x.amax(dim),
    "amin": lambda x, dim: x.amin(dim),
    "argmax": lambda x, dim: x.argmax(dim),
    "argmin": lambda x, dim: x.argmin(dim),
    "aminmax": lambda x, dim: x.aminmax(dim=dim).max,
    "max": lambda x, dim: x.max(dim).indices if dim is not None else x.max(),
    "min": lambda x, dim: x.min(dim).values if dim is not None else x.min(),
}
NORMS = {f"norm {p}": lambda x, dim, p=p: x.norm(p, dim) for p in (0, 1, 3, 0.5, math.inf, -math.inf)}
MEANS = {
    "var_mean": lambda x, dim: x.var_mean(dim).mean,
    "std_mean": lambda x, dim: x.std_mean(dim).std,
}
ALL = {op: lambda x, dim, op=op: getattr(x, op)(dim=dim) for op in OPS} | EXTREMES | NORMS | MEANS


def bits(*tensors):
    """The bytes of tensors, in row-major order."""
    found = (x.contiguous() for x in tensors)
    return b"".join(values_of(x.view(st.uint16) if x.dtype is st.bfloat16 else x).tobytes() for x in found)


def assert_near(got, model, context=""):
    """Checks dtype, shape, and values: within `allowed` of the expected ones, then rounded once into the dtype."""
    result, wanted, allowed = model
    wanted = np.asarray(wanted)
    assert got.dtype.name == result, (context, got.dtype, result)
    values = values_of(got)
    assert values.shape == wanted.shape, (context, values.shape, wanted.shape)
    if allowed is None:
        assert (values == wanted).all(), (context, values, wanted)
        return
    with np.errstate(all="ignore"):
        real = REAL.get(result, result)
        to = np.complex128 if result in COMPLEX else np.float64
        rounded = to_values(to_memory(wanted.astype(to), result), result)
        plain = np.isfinite(rounded)
        same = (values == rounded) | (np.isnan(values) & np.isnan(rounded))
        assert (plain | same).all(), (context, values, rounded)
        # Half an ulp of the value before rounding, which may itself be off by `allowed`.
        limit = allowed + 1.0001 * HALF_ULP[real] * (np.abs(wanted) + allowed) + SMALLEST[real]
        parts = 2 if result in COMPLEX else 1
        error = np.abs(wide(values) - wanted)
        good = (error <= parts * limit) | ~plain
    assert good.all(), (context, values[~good], wanted[~good], error[~good], np.broadcast_to(limit, good.shape)[~good])
