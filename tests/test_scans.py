"""Scans and softmax: against NumPy in wider types, in every layout, with the same bits for every kernel and number of threads."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as hs
from strategies import (
    COMPLEX,
    DTYPES,
    FLOATS,
    INTS,
    LAYOUTS,
    assert_same,
    fresh,
    laid_out,
    memory_of,
    ordinary,
    to_memory,
    to_values,
    values_of,
)

import strided as st
from strided.testing import shapes

REAL = [name for name in DTYPES if name not in COMPLEX]
SCANS = ["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "softmax", "log_softmax"]
#: Around chunks of 256, groups of 16 chunks, and lines that are cut.
LENGTHS = (1, 2, 15, 16, 17, 255, 256, 257, 511, 513, 4095, 4096, 4097, 5000, 16 * 256 * 3 + 77)
NAN, INF = math.nan, math.inf


def supports(scan, name):
    if scan in ("cumsum", "cumprod"):
        return True
    if scan == "logcumsumexp":
        return name in FLOATS or name in COMPLEX
    return name not in COMPLEX if scan in ("cummax", "cummin") else name in FLOATS


def first(result):
    return result[0] if isinstance(result, tuple) else result


def bits(x):
    return memory_of(x.contiguous()).tobytes()


def result_of(name):
    return "int64" if name == "bool" or (name in INTS and name != "uint64") else name


def moderate(name, shape, seed=0):
    """Finite values whose sums and products stay finite, as memory."""
    random = np.random.default_rng([seed, 5])
    if name == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if name in INTS:
        return random.integers(0, 100, shape).astype(name)
    values = random.choice([-1.0, 1.0], shape) * 2.0 ** random.uniform(-1, 1, shape)
    if name in COMPLEX:
        return (values * np.exp(1j * random.uniform(0, 6, shape))).astype(name)
    return to_memory(values, name)


def unit(name):
    """Half an ulp of 1."""
    return {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float64": 2.0**-53, "complex128": 2.0**-53}.get(name, 2.0**-24)


def wide_of(name):
    return np.clongdouble if name in COMPLEX else np.longdouble


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", DTYPES)
def test_sums_and_products(name, layout):
    shape = LAYOUTS[layout][0]
    x = laid_out(layout, moderate(name, (1, shape[1]) if layout == "stride 0" else shape, 1), name)
    values = values_of(x)
    for dim in range(-len(shape), len(shape)) or (0, -1):
        for scan, model in (("cumsum", np.cumsum), ("cumprod", np.cumprod)):
            got = getattr(x, scan)(dim)
            assert got.shape == x.shape and got.dtype.name == result_of(name) and got.is_contiguous()
            axis = dim if shape else 0
            if name in INTS or name == "bool":
                with np.errstate(over="ignore"):
                    wanted = model(values.reshape(shape or (1,)), axis=axis, dtype=result_of(name)).reshape(shape)
                assert_same(got, wanted, result_of(name))
                continue
            wanted = model(values.reshape(shape or (1,)).astype(wide_of(name)), axis=axis).reshape(shape)
            size = model(np.abs(values.reshape(shape or (1,)).astype(wide_of(name))), axis=axis).reshape(shape)
            error = np.abs(values_of(got).astype(wide_of(name)) - wanted)
            # One rounding into the result, and those of the accumulator, which is float64.
            steps = 2 * max(shape, default=1) * 2.0**-53 * (4 if name in COMPLEX else 1)
            assert (error <= 1.01 * unit(name) * np.abs(wanted) * (2 if name in COMPLEX else 1) + steps * size).all()
            assert bits(getattr(st, scan)(x, dim)) == bits(got)


@pytest.mark.parametrize("name", ["float32", "float64"])
@pytest.mark.parametrize("n", LENGTHS)
def test_accuracy_of_long_lines(name, n):
    values = np.random.default_rng(n).standard_normal(n).astype(name)
    exact = np.cumsum(values.astype(np.longdouble))
    size = np.cumsum(np.abs(values.astype(np.longdouble)))
    error = np.abs(st.from_numpy(values).cumsum(0).numpy().astype(np.longdouble) - exact)
    assert (error <= 1.01 * unit(name) * np.abs(exact) + (260 + n / 256) * 2.0**-53 * size).all()
    positive = st.from_numpy(np.abs(values)).cumsum(0).numpy()
    assert (np.diff(positive) >= 0).all(), "sums of what is not negative never fall"


@pytest.mark.parametrize("name", INTS)
@pytest.mark.parametrize("scan", ["cumsum", "cumprod"])
def test_integers_wrap(scan, name):
    """In-place forms keep their dtype; `dtype=` may be any."""
    memory = ordinary(name, (5, 700), 3)
    model = getattr(np, scan)
    for dim in (0, 1):
        with np.errstate(over="ignore"):
            wanted = model(memory, axis=dim, dtype=name)
            wide = model(memory, axis=dim, dtype=result_of(name))
            other = model(memory.astype("int16"), axis=dim, dtype="int16")
        x = fresh(memory, name)
        assert_same(getattr(x, scan)(dim), wide, result_of(name))
        assert_same(getattr(x, scan)(dim, dtype="int16"), other, "int16")
        assert getattr(x, scan + "_")(dim) is x
        assert_same(x, wanted, name)


@pytest.mark.parametrize("scan", ["cumsum", "cumprod"])
@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.parametrize("source", DTYPES)
def test_dtype(source, target, scan):
    """Elements are cast first."""
    x = st.tensor([1, 0, 1, 1] if source == "bool" else [1, 2, 3, 100, 27, 1, 2], dtype=source)
    got = getattr(x, scan)(0, dtype=target)
    assert got.dtype.name == target
    cast = x.to(target)
    assert_same(got, values_of(getattr(cast, scan)(0, dtype=target)), target)
    if target in INTS:
        with np.errstate(over="ignore"):
            assert_same(got, getattr(np, scan)(values_of(cast), dtype=target), target)
    if target == "float64":
        assert_same(got, getattr(np, scan)(values_of(cast)), target)


def test_floats_are_cut_before_they_are_summed():
    assert st.tensor([0.9, 0.9, 1.9]).cumsum(0, dtype=st.int64).tolist() == [0, 0, 1]
    assert st.tensor([0.9, 1.9, 1.9]).cumsum(0, dtype=st.int8).tolist() == [0, 1, 2]
    assert st.tensor([3, -3, 0]).cumsum(0, dtype=st.bool).tolist() == [True, True, True]
    assert st.tensor([1.0, 2.0**-12]).cumsum(0, dtype=st.float16).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("scan", ["cummax", "cummin"])
def test_extremes(scan, name, layout):
    shape = LAYOUTS[layout][0]
    x = laid_out(layout, ordinary(name, (1, shape[1]) if layout == "stride 0" else shape, 1), name)
    values = values_of(x)
    for dim in range(len(shape)) or (0,):
        got = getattr(x, scan)(dim)
        assert type(got).__name__ == scan and got.values is got[0] and got.indices is got[1]
        wanted, positions = slow_extreme(values.reshape(shape or (1,)), dim, scan == "cummax")
        # Of equal numbers the last wins, also of zeros of either sign.
        assert_same(got.values, wanted.reshape(shape), name)
        assert_same(got.indices, positions.reshape(shape), "int64")


def slow_extreme(values, axis, largest):
    lines = np.moveaxis(values, axis, -1)
    found, positions = lines.copy(), np.zeros(lines.shape, np.int64)
    for index in np.ndindex(lines.shape[:-1]):
        best, position = None, 0
        for i, v in enumerate(lines[index]):
            takes = best is None or v != v or (v >= best if largest else v <= best)
            best, position = (v, i) if takes else (best, position)
            found[index][i], positions[index][i] = best, position
    return np.moveaxis(found, -1, axis), np.moveaxis(positions, -1, axis)


@pytest.mark.parametrize("name", ["float32", "float64", "int64", "uint64", "uint8", "bool"])
@pytest.mark.parametrize("n", LENGTHS)
def test_extremes_of_long_lines(name, n):
    values = np.random.default_rng(n).integers(0, 2 if name == "bool" else 200, n).astype(name)
    if name == "uint64":
        values += np.uint64(2**63)
    for scan, largest in (("cummax", True), ("cummin", False)):
        got = getattr(st.from_numpy(values), scan)(0)
        wanted, positions = slow_extreme(values, 0, largest)
        assert_same(got.values, wanted, name)
        assert_same(got.indices, positions, "int64")


@pytest.mark.parametrize("name", ["float32", "float64", "int64"])
def test_extremes_of_lines_that_rise_and_fall(name):
    """Blocks in which no element, every element, or some elements are new extremes; in one line and in adjacent ones."""
    random = np.random.default_rng(3)
    steps = random.integers(0, 2, 3000) * 2 - 1
    lines = [np.arange(3000), -np.arange(3000), np.arange(3000) // 40, -(np.arange(3000) // 40), steps.cumsum()]
    lines += [np.where(np.arange(3000) % 100 < 50, np.arange(3000), 0), random.integers(0, 3000, 3000).cumsum() // 7]
    values = np.stack(lines).astype(name)
    if name != "int64":
        values[5, [700, 701, 2000]] = np.nan
    for scan, largest in (("cummax", True), ("cummin", False)):
        wanted, positions = slow_extreme(values, 1, largest)
        for x, dim in ((st.from_numpy(values), 1), (st.from_numpy(values.T.copy()).t(), 1)):
            got = getattr(x, scan)(dim)
            assert_same(got.values, wanted, name)
            assert_same(got.indices, positions, "int64")
        for line, want, position in zip(values, wanted, positions, strict=True):
            got = getattr(st.from_numpy(line.copy()), scan)(0)
            assert_same(got.values, want, name)
            assert_same(got.indices, position, "int64")


def test_nan_is_every_extreme_after_it():
    x = st.tensor([1.0, NAN, 2.0, NAN, 3.0])
    for scan in ("cummax", "cummin"):
        got = getattr(x, scan)(0)
        assert_same(got.values, [1, NAN, NAN, NAN, NAN], "float32")
        assert got.indices.tolist() == [0, 1, 1, 3, 3]
    long = st.zeros(20_000)
    long[7000] = NAN
    got = long.cummin(0)
    assert got.values[6999].item() == 0 and math.isnan(got.values[-1].item()) and got.indices[-1].item() == 7000


def slow_logcumsumexp(values, axis):
    return np.logaddexp.accumulate(values.astype(np.longdouble), axis=axis)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("shape", [(7,), (1000,), (20_000,), (40, 300), (300, 40), (3, 5, 7)])
def test_logcumsumexp(name, shape):
    memory = to_memory(np.random.default_rng(1).standard_normal(shape) * 20, name)
    for dim in range(len(shape)):
        got = values_of(fresh(memory, name).logcumsumexp(dim)).astype(np.longdouble)
        wanted = slow_logcumsumexp(to_values(memory, name), dim)
        # The relative error of a sum is an absolute error of its logarithm.
        bound = 1.01 * unit(name) * np.abs(wanted) + 2.0**-50 * np.sqrt(shape[dim]) + 2.0**-51 * np.abs(wanted)
        assert (np.abs(got - wanted) <= bound).all()


def test_logcumsumexp_of_infinities():
    x = [-INF, -INF, 0.0, 1.0, INF, 1.0, -INF, NAN, 1.0]
    wanted = [-INF, -INF, 0.0, math.log(1 + math.e), INF, INF, INF, NAN, NAN]
    for name in ("float32", "float64"):
        np.testing.assert_allclose(st.tensor(x, dtype=name).logcumsumexp(0).tolist(), wanted, rtol=1e-6)
    for value, rest in ((-INF, -INF), (INF, INF), (NAN, NAN)):
        line = st.full((9000,), -INF)
        line[4321] = value
        got = line.logcumsumexp(0).numpy()
        assert (got[:4321] == -INF).all()
        np.testing.assert_array_equal(got[4321:], np.full(9000 - 4321, rest))
    far = st.tensor([-1e4, 1e4, -1e4, 0.0], dtype=st.float64)
    assert far.logcumsumexp(0).tolist() == [-1e4, 1e4, 1e4, 1e4]


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("shape", [(7,), (1000,), (20_000,), (40, 300), (300, 40), (3, 5, 7)])
def test_logcumsumexp_of_complex_numbers(name, shape):
    """Real parts that grow by thousands, so that their exponentials overflow."""
    random = np.random.default_rng(1)
    steps = np.add.outer(*(np.linspace(0, 3000, n) for n in (shape[0], math.prod(shape[1:])))).reshape(shape)
    z = (random.standard_normal(shape) * 3 + steps + 1j * random.standard_normal(shape)).astype(name)
    for dim in range(len(shape)):
        got = fresh(z, name).logcumsumexp(dim)
        assert (got.dtype.name, got.shape) == (name, shape)
        lines = np.moveaxis(z, dim, -1).astype(np.clongdouble)
        found = np.moveaxis(got.numpy(), dim, -1)
        for at in {0, shape[dim] // 3, shape[dim] - 1}:
            before = lines[..., : at + 1]
            top = before.real.max(-1, keepdims=True)
            powers = np.exp(before - top)
            total = powers.sum(-1)
            wanted = np.log(total) + top[..., 0]
            lost = np.abs(powers).sum(-1) / np.abs(total)
            bound = 2.01 * np.finfo(name).eps * np.abs(wanted) + 2.0**-48 * np.sqrt(at + 1) * lost
            assert (np.abs(found[..., at] - wanted) <= bound).all()


@pytest.mark.parametrize("name", COMPLEX)
def test_logcumsumexp_of_complex_infinities(name):
    x = [complex(-INF, 1), complex(-INF, NAN), 1 + 1j, complex(-INF, 2), complex(INF, 1), 5j, complex(0, NAN), 1]
    wanted = [complex(-INF, 0), complex(-INF, 0), 1 + 1j, 1 + 1j, complex(INF, 1), complex(INF, 1)]
    for n in (1, 3000):  # across chunks
        line = st.tensor([complex(-INF, 0)] * (n - 1) + x, dtype=name)
        got = line.logcumsumexp(0).numpy()[n - 1 :]
        for number, each in zip(got[:6], wanted, strict=True):
            assert number.real == pytest.approx(each.real, rel=1e-6) and number.imag == pytest.approx(
                each.imag, rel=1e-6
            )
        assert np.isnan(got[6:].real).all() and np.isnan(got[6:].imag).all()


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (1000,), (20_000,), (40, 300), (300, 40), (2, 9, 70), (20, 9000)])
def test_softmax(name, shape):
    memory = to_memory(np.random.default_rng(1).standard_normal(shape) * 5, name)
    values = np.atleast_1d(to_values(memory, name)).astype(np.longdouble)
    for dim in range(len(shape)) or (0,):
        x = fresh(memory, name)
        above = values - values.max(axis=dim, keepdims=True)
        total = np.exp(above).sum(axis=dim, keepdims=True)
        # The rounding error of x - max becomes a relative error of its exponential.
        compute = 2.0**-53 if name == "float64" else 2.0**-24
        terms = 4 + math.sqrt(values.shape[dim] if name == "float64" else 1)
        for scan, wanted, error in (
            ("softmax", np.exp(above) / total, np.exp(above) / total * (np.abs(above) + terms) * compute),
            ("log_softmax", above - np.log(total), np.abs(above) * 2.0**-52 + terms * compute),
        ):
            got = getattr(x, scan)(dim)
            assert got.shape == x.shape and got.dtype.name == name
            off = np.abs(np.atleast_1d(values_of(got)).astype(np.longdouble) - wanted)
            tiny = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149}.get(name, 0)
            assert (off <= error * 1.5 + 1.01 * unit(name) * np.abs(wanted) + tiny).all(), scan


def test_softmax_of_infinities():
    for values, soft, log in (
        ([-INF, -INF], [NAN, NAN], [NAN, NAN]),
        ([INF, 1.0], [NAN, NAN], [NAN, NAN]),
        ([NAN, 1.0], [NAN, NAN], [NAN, NAN]),
        ([-INF, 0.0, 0.0], [0.0, 0.5, 0.5], [-INF, -math.log(2), -math.log(2)]),
    ):
        x = st.tensor(values, dtype=st.float64)
        np.testing.assert_allclose(x.softmax(0).tolist(), soft)
        np.testing.assert_allclose(x.log_softmax(0).tolist(), log)
    assert st.tensor([1000.0, 0.0]).softmax(0).tolist() == [1.0, 0.0]
    assert st.tensor([-1e30, -1e30]).softmax(0).tolist() == [0.5, 0.5]


def test_softmax_of_integers_computes_in_the_default_float():
    x = st.tensor([1, 2])
    assert x.softmax(0, dtype=st.float32).tolist() == x.float().softmax(0).tolist() == x.softmax(0, st.float32).tolist()
    for scan in ("softmax", "log_softmax"):
        assert_same(getattr(x, scan)(0), getattr(x.float(), scan)(0).numpy(), "float32")
        with pytest.raises(st.DTypeError, match=rf"^{scan}: dtype is int32, wanted a floating dtype"):
            getattr(x.float(), scan)(0, dtype=st.int32)
        with pytest.raises(st.DTypeError, match=rf"^{scan}: input is complex64"):
            getattr(st.ones(2, dtype=st.complex64), scan)(0)
    assert_same(x.logcumsumexp(0), x.float().logcumsumexp(0).numpy(), "float32")
    with pytest.raises(st.DTypeError, match=r"^cummax: input is complex64, wanted a real dtype"):
        st.ones(2, dtype=st.complex64).cummax(0)


@pytest.mark.parametrize("scan", SCANS)
@pytest.mark.parametrize("name", ["float32", "float64", "float16", "int32", "complex64"])
def test_the_bits_of_a_line_do_not_depend_on_its_layout(scan, name):
    """Contiguous, strided, reversed, alone: the bits depend on the numbers alone."""
    if not supports(scan, name):
        pytest.skip("not this dtype")
    for n, width in ((1, 3), (8, 1100), (255, 5), (700, 70), (4500, 3), (9000, 66)):
        memory = moderate(name, (n, width), n)
        columns = fresh(memory, name)
        wanted = bits(first(getattr(columns, scan)(0)))
        rows = columns.t().contiguous()
        assert bits(first(getattr(rows, scan)(1)).t()) == wanted
        assert bits(first(getattr(rows.t(), scan)(0))) == wanted
        backwards = columns.flip(0).contiguous().flip(0)
        assert n == 1 or backwards.stride()[0] < 0
        assert bits(first(getattr(backwards, scan)(0))) == wanted
        assert bits(first(getattr(rows.flip(1).contiguous().flip(1), scan)(1)).t()) == wanted
        gaps = st.zeros(n, 2, width, 3, dtype=name)[:, 1, :, 2]
        gaps.copy_(columns)
        assert bits(first(getattr(gaps, scan)(0))) == wanted
        assert bits(first(getattr(gaps.t(), scan)(1)).t()) == wanted
        for j in (0, width - 1):
            assert bits(first(getattr(columns[:, j], scan)(0))) == bits(first(getattr(columns, scan)(0))[:, j])
            assert bits(first(getattr(rows[j], scan)(0))) == bits(first(getattr(columns, scan)(0))[:, j])


@pytest.mark.parametrize("scan", SCANS)
@pytest.mark.parametrize("name", ["float32", "float64", "bfloat16", "int16"])
def test_every_width_and_length(scan, name):
    """Strips of every width, and lines that end anywhere in a block, have the bits of each line computed alone."""
    if not supports(scan, name):
        pytest.skip("not this dtype")
    shapes_ = [(n, 41) for n in (0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 100, 1000)]
    shapes_ += [(33, width) for width in range(1, 41)] + [(5000, width) for width in (1, 2, 3, 4, 5, 8, 13, 31)]
    for n, width in shapes_:
        columns = fresh(moderate(name, (n, width), n), name)
        across = getattr(columns, scan)(0)
        along = getattr(columns.t().contiguous(), scan)(1)
        alone = [getattr(columns[:, j].contiguous(), scan)(0) for j in range(width)]
        for part in range(2) if isinstance(across, tuple) else [...]:
            pick = (lambda r: r) if part is ... else (lambda r, part=part: r[part])
            wanted = np.stack([memory_of(pick(r)) for r in alone], 1).tobytes()
            assert bits(pick(across)) == bits(pick(along).t()) == wanted, (n, width)


@pytest.mark.parametrize("name", ["float32", "float64", "float16"])
@pytest.mark.parametrize("scan", ["softmax", "log_softmax"])
def test_softmax_of_special_values_anywhere(scan, name):
    """NaN, infinities, and lines of minus infinity only, in whole blocks and in tails."""
    for n in (1, 5, 16, 31, 32, 33, 100, 300, 4100, 5000):
        memory = np.random.default_rng(n).standard_normal((8, n)) * 3
        memory[1, -1], memory[2, n // 2], memory[3, 0] = NAN, INF, -INF
        memory[4], memory[5, 1:], memory[6] = -INF, -INF, NAN
        x = fresh(to_memory(memory, name), name)
        with np.errstate(invalid="ignore", divide="ignore"):
            values = values_of(x).astype(np.float64)
            above = values - values.max(axis=1, keepdims=True)
            total = np.exp(above).sum(axis=1, keepdims=True)
            wanted = np.exp(above) / total if scan == "softmax" else above - np.log(total)
        loose = {"float16": 2e-3, "float32": 1e-5}.get(name, 1e-13)
        for got in (getattr(x, scan)(1), getattr(x.t().contiguous(), scan)(0).t()):
            np.testing.assert_allclose(values_of(got.contiguous()), wanted, rtol=loose, atol=loose / 10)
        into = x.clone()
        getattr(st, scan)(into, 1, out=into)
        np.testing.assert_array_equal(values_of(into), values_of(getattr(x, scan)(1)))


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("scan", ["softmax", "log_softmax"])
def test_softmax_has_one_nan(scan, name):
    """Its sign and payload depend neither on those of the elements, nor on how lines are walked and shared by threads."""
    before = st.get_num_threads()
    nan = bits(fresh(to_memory(np.array([NAN]), name), name))
    try:
        for n, width in ((5, 3), (40, 20), (4100, 3), (400_000, 2)):
            values = np.random.default_rng(n).standard_normal((n, width))
            values[n // 2, 0], values[n - 1, 1], values[0, 1], values[-1, 2:] = NAN, -NAN, NAN, INF
            x = fresh(to_memory(values, name), name)
            for threads in (1, 2):
                st.set_num_threads(threads)
                for y in (x, x.t().contiguous().t(), x.flip(0)):
                    got = bits(getattr(y, scan)(0))
                    assert got == nan * (n * width), (n, threads)
    finally:
        st.set_num_threads(before)


@pytest.mark.parametrize("scan", SCANS)
def test_the_bits_do_not_depend_on_threads(scan):
    shapes_ = [
        ((1_200_003,), 0),
        ((600, 900), 0),
        ((600, 900), 1),
        ((3, 150_000), 1),
        ((50, 20_000), 1),
        ((8, 90_000), 0),
        ((70_001, 8), 0),
        ((9000, 61), 0),
    ]
    before = st.get_num_threads()
    try:
        for shape, dim in shapes_:
            for name in ("float32", "float16"):
                x = fresh(moderate(name, shape, 9), name)
                found = set()
                for threads in (1, 2, 5):
                    st.set_num_threads(threads)
                    result = getattr(x, scan)(dim)
                    found.add(b"".join(map(bits, result)) if isinstance(result, tuple) else bits(result))
                assert len(found) == 1, (shape, name)
    finally:
        st.set_num_threads(before)


def test_the_reference_kernels_give_the_same_bits():
    code = (
        "import strided as st\n"
        "x = (st.arange(30_001, dtype=st.float64) * 0.7310585786).sin().float()\n"
        "for y in (x, x[::-3], x[:30_000].view(300, 100), x[:30_000].view(300, 100).t()):\n"
        "    for r in (y.cumsum(0), y.cumprod(0), (y + 1).cumprod(0), *y.cummax(0), *y.cummin(-1), y.cumsum(-1)):\n"
        "        print(hash(bytes(r.contiguous())))"
    )
    found = set()
    for extra in ({}, {"STRIDED_KERNELS": "reference"}, {"STRIDED_NUM_THREADS": "1"}):
        env = {**os.environ, **extra, "PYTHONHASHSEED": "0"}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1


def test_products_survive_what_their_parts_do_not():
    """The product of each chunk is taken first; where it overflows float64, the chunk is multiplied term by term."""
    n = 40_000
    x = np.ones(n)
    x[100:130], x[300:400], x[5000:5100], x[9000:9200] = 1e-10, 1e10, 1e-9, 1e9
    x[9200:9400] = 1e-9
    for line in (x, x[::-1].copy(), np.where(np.arange(n) == 250, 0.0, x), np.where(np.arange(n) == 9000, INF, x)):
        with np.errstate(all="ignore"):
            wanted = np.cumprod(line)
        np.testing.assert_allclose(st.from_numpy(line).cumprod(0).numpy(), wanted, rtol=1e-11)
        both = st.from_numpy(np.stack([line] * 70))
        assert bits(both.cumprod(1)[3]) == bits(st.from_numpy(line).cumprod(0))
        beside = st.from_numpy(np.stack([np.ones(n), line] * 10, axis=1))  # enough for several threads
        assert bits(beside.cumprod(0)[:, 7]) == bits(st.from_numpy(line).cumprod(0))
    dip = np.r_[np.full(200, 0.1), np.ones(100), np.full(150, 0.1), np.full(150, 10.0), np.ones(8000)]
    np.testing.assert_allclose(st.from_numpy(dip).cumprod(0).numpy(), np.cumprod(dip), rtol=1e-11)
    zero = np.r_[np.full(300, 1e-5), np.full(20_000, 1e5)]
    assert (st.from_numpy(zero).cumprod(0).numpy()[100:] == 0).all()


@pytest.mark.parametrize("scan", SCANS)
def test_empty_scans(scan):
    for shape in ((0,), (3, 0), (0, 3), (2, 0, 4)):
        for dim in range(-len(shape), len(shape)):
            result = getattr(st.zeros(shape), scan)(dim)
            for got in result if isinstance(result, tuple) else (result,):
                assert got.shape == shape
    single = getattr(st.tensor(2.0), scan)(-1)
    for got in single if isinstance(single, tuple) else (single,):
        assert got.shape == ()


def test_signs_of_zero():
    for n in (1, 3, 300, 5000):
        assert np.signbit(st.full((n,), -0.0).cumsum(0).numpy()).all()
        mixed = st.full((n + 1,), -0.0)
        mixed[n] = 0.0
        assert not np.signbit(mixed.cumsum(0).numpy()[-1])


@given(hs.data(), shapes(max_dims=5))
def test_any_dim_of_any_shape(data, shape):
    if not shape:
        return
    a = np.random.default_rng(1).integers(-100, 100, shape)
    a = a.transpose(data.draw(hs.permutations(range(len(shape)))))
    a = a[tuple(slice(None, None, data.draw(hs.sampled_from([1, -1]))) for _ in shape)]
    dim = data.draw(hs.integers(0, len(shape) - 1))
    x = st.from_numpy(a)
    assert x.cumsum(dim).tolist() == a.cumsum(dim).tolist()
    assert x.cumprod(dim).tolist() == a.cumprod(dim).tolist()
    assert x.cummax(dim).values.tolist() == np.maximum.accumulate(a, dim).tolist()


@pytest.mark.parametrize("scan", SCANS)
def test_out(scan):
    indexed = scan in ("cummax", "cummin")
    x = st.tensor([[3.0, 1.0, 2.0], [0.5, 4.0, 1.0]])
    wanted = first(getattr(x, scan)(1))

    def outputs(values):
        return (values, st.zeros(values.shape, dtype=st.int64)) if indexed else values

    for out in (st.zeros(2, 3), st.zeros(2, 6)[:, ::2], st.zeros(3, 2).t(), st.zeros(2, 3).flip(1)):
        given = outputs(out)
        result = getattr(st, scan)(x, 1, out=given)
        assert first(result) is out and out.tolist() == wanted.tolist()
    double = st.zeros(2, 3, dtype=st.float64)
    getattr(st, scan)(x, 1, out=outputs(double))
    np.testing.assert_allclose(double.tolist(), wanted.tolist(), rtol=1e-6)
    # The output is the input, or overlaps it.
    own = x.clone()
    getattr(st, scan)(own, 1, out=outputs(own))
    assert own.tolist() == wanted.tolist()
    memory = st.zeros(7)
    memory[:6].copy_(x.view(6))
    getattr(st, scan)(memory[:6].view(2, 3), 1, out=outputs(memory[1:].view(2, 3)))
    assert memory[1:].view(2, 3).tolist() == wanted.tolist()
    for bad, error, text in (
        (st.full((2, 2), 7.0), st.ShapeError, r"out(\[0\])? has shape 2x2, wanted 2x3"),
        (st.full((2, 3), 7), st.DTypeError, "float32.*int64"),
        (st.full((1, 3), 7.0).expand(2, 3), st.ShapeError, "share memory"),
    ):
        with pytest.raises(error, match=rf"^{scan}: .*{text}"):
            getattr(st, scan)(x, 1, out=outputs(bad))
        assert set(np.ravel(bad.tolist())) == {7}
    with pytest.raises(TypeError, match=rf"^{scan}: out must be a"):
        getattr(st, scan)(x, 1, out=[0])


def test_two_outputs():
    x = st.tensor([3, 1, 2])
    values, indices = st.zeros(3, dtype=st.int64), st.zeros(3, dtype=st.int64)
    got = st.cummin(x, 0, out=(values, indices))
    assert got.values is values and got.indices is indices and indices.tolist() == [0, 1, 1]
    with pytest.raises(st.DTypeError, match=r"^cummin: out\[1\] is int32, wanted int64"):
        x.cummin(0, out=(values, indices.int()))
    with pytest.raises(ValueError, match=r"^cummin: out is two tensors that share memory"):
        x.cummin(0, out=(values, values))
    with pytest.raises(TypeError, match=r"^cummin: out must be a tuple of two Tensors"):
        x.cummin(0, out=values)
    with pytest.raises(TypeError, match=r"^cummin: out must be a tuple of two Tensors"):
        x.cummin(0, out=(values, indices, indices))
    x.cummin(0, out=(values, x))  # positions over the input
    assert values.tolist() == [3, 1, 1] and x.tolist() == [0, 1, 1]


@pytest.mark.parametrize("scan", ["cumsum", "cumprod"])
def test_in_place(scan):
    for name in DTYPES:
        x = fresh(moderate(name, (4, 300), 2), name)
        wanted = getattr(x, scan)(1, dtype=name)
        assert getattr(x, scan + "_")(1) is x and x.dtype.name == name, name
        assert_same(x, values_of(wanted), name)
    view = st.arange(10.0)[::-2]
    getattr(view, scan + "_")(0)
    assert view.tolist() == getattr(np, scan)([9.0, 7.0, 5.0, 3.0, 1.0]).tolist()
    with pytest.raises(TypeError, match=rf"^{scan}_: dtype is float64, and in place"):
        getattr(st.ones(2), scan + "_")(0, dtype=st.float64)
    assert getattr(st.ones(1), scan + "_")(0, dtype=st.float32).tolist() == [1.0]
    with pytest.raises(st.ShapeError, match="share memory"):
        getattr(st.ones(1).expand(3), scan + "_")(0)


@pytest.mark.parametrize("scan", SCANS)
def test_dims_out_of_range(scan):
    for shape, dim in (((2, 3), 2), ((2, 3), -3), ((), 1), ((), -2), ((0,), 1)):
        with pytest.raises(IndexError, match=rf"^{scan}: dim {dim} is outside"):
            getattr(st.zeros(shape), scan)(dim)
    with pytest.raises(TypeError, match=rf"^{scan}: argument 'dim' is missing"):
        getattr(st.zeros(2), scan)()
    with pytest.raises(TypeError, match=rf"^{scan}: dim must be an int"):
        getattr(st.zeros(2), scan)(1.5)
    assert first(getattr(st.ones(2, 3), scan)(axis=1)).tolist() == first(getattr(st.ones(2, 3), scan)(dim=-1)).tolist()


def test_results_have_names():
    got = st.tensor([1, 2]).cummax(0)
    assert got._fields == ("values", "indices") and isinstance(got, st.return_types.cummax)
    values, indices = got
    assert values.tolist() == [1, 2] and indices.tolist() == [0, 1]


@pytest.mark.parametrize("scan", SCANS)
def test_as_pytorch(scan):
    torch = pytest.importorskip("torch")
    a = np.random.default_rng(3).integers(-3, 3, (5, 400)).astype(np.float32)
    a[2, 7] = np.nan
    a[3, 9] = np.inf
    for dim in (0, 1):
        ours, theirs = getattr(st.from_numpy(a), scan)(dim), getattr(torch.from_numpy(a), scan)(dim)
        np.testing.assert_allclose(first(ours).numpy(), first(theirs).numpy(), rtol=1e-5, atol=1e-6)
        if isinstance(ours, tuple):
            assert ours.indices.tolist() == theirs.indices.tolist()
