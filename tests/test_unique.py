"""Distinct elements: `unique`, `unique_consecutive` and `isin`, against plain definitions, in every dtype and layout."""

import hypothesis.strategies as hs
import numpy as np
import pytest
from hypothesis import given
from strategies import COMPLEX, DTYPES, FLOATS, LAYOUTS, fresh, laid_out, memory_of, to_memory, values_of

import strided as st

REAL = [name for name in DTYPES if name not in COMPLEX]
NAN = float("nan")


def few(name, shape, seed=0):
    """Few different values, with NaNs and both zeros, as memory."""
    random = np.random.default_rng([seed, DTYPES.index(name)])
    if name == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if name in FLOATS:
        return to_memory(random.choice([0.0, -0.0, 1.5, -2.0, NAN, np.inf, -np.inf], shape), name)
    if name in COMPLEX:
        return (
            random.choice([0.0, -0.0, 1.0, NAN], shape, p=[0.3, 0.3, 0.3, 0.1])
            + 1j * random.choice([0.0, -0.0, 2.0], shape)
        ).astype(name)
    return random.integers(100 if name.startswith("u") else -3, 105 if name.startswith("u") else 3, shape).astype(name)


def key(value):
    """The place of a value in the order: NaN is the largest."""
    if isinstance(value, complex):
        return (*key(value.real), *key(value.imag))
    return (1, 0) if value != value else (0, value)


def model(values, consecutive):
    """Distinct values, the inverse and the counts, as lists. Each NaN is distinct."""
    at = list(range(len(values)))
    if not consecutive:
        at.sort(key=lambda i: key(values[i]))
    distinct, inverse, counts = [], [0] * len(values), []
    for i in at:
        if not distinct or values[distinct[-1]] != values[i]:
            distinct.append(i)
            counts.append(0)
        inverse[i] = len(distinct) - 1
        counts[-1] += 1
    return distinct, inverse, counts


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("function", ["unique", "unique_consecutive"])
def test_distinct_elements_in_every_dtype_and_layout(function, name, layout):
    shape = LAYOUTS[layout][0]
    own = (1, shape[1]) if layout == "stride 0" else shape
    x = laid_out(layout, few(name, own, 1), name)
    memory, values = memory_of(x).ravel(), values_of(x).ravel().tolist()
    distinct, inverse, counts = model(values, function == "unique_consecutive")
    for call in (getattr(x, function), lambda **keywords: getattr(st, function)(x, **keywords)):
        got = call()
        assert got.dtype is x.dtype and tuple(got.shape) == (len(distinct),)
        assert memory_of(got).tobytes() == memory[distinct].tobytes()
        got, back, number = call(return_inverse=True, return_counts=True)
        assert memory_of(got).tobytes() == memory[distinct].tobytes()
        assert back.shape == x.shape and back.flatten().tolist() == inverse
        assert number.tolist() == counts and number.dtype is back.dtype is st.int64
        assert call(return_counts=True)[1].tolist() == counts
        assert call(return_inverse=True)[1].tolist() == back.tolist()


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("layout", ["dense", "column-major", "negative", "stride 0", "size 1", "rank 9"])
@pytest.mark.parametrize("function", ["unique", "unique_consecutive"])
def test_distinct_slices(function, name, layout):
    shape = LAYOUTS[layout][0]
    own = (1, shape[1]) if layout == "stride 0" else shape
    random = np.random.default_rng(3)
    for dim in range(len(shape)):
        memory = np.broadcast_to(few(name, own, 2), shape)
        memory = np.take(memory, np.sort(random.integers(0, shape[dim], shape[dim])), dim)  # some slices repeat
        x = laid_out(layout, memory if layout != "stride 0" else memory[:1], name)
        if layout == "stride 0" and x.stride()[0]:
            continue
        memory, values = np.moveaxis(memory_of(x), dim, 0), np.moveaxis(values_of(x), dim, 0)
        rows = values.reshape(shape[dim], -1).tolist()
        at = list(range(len(rows)))
        if function == "unique":
            at.sort(key=lambda i: [key(value) for value in rows[i]])
        distinct, inverse, counts = [], [0] * len(rows), []
        for i in at:
            if not distinct or any(a != b for a, b in zip(rows[distinct[-1]], rows[i], strict=True)):
                distinct.append(i)
                counts.append(0)
            inverse[i] = len(distinct) - 1
            counts[-1] += 1
        got, back, number = getattr(x, function)(return_inverse=True, return_counts=True, dim=dim - len(shape))
        assert got.is_contiguous() and got.dtype is x.dtype
        wanted = np.ascontiguousarray(np.moveaxis(memory[distinct], 0, dim))
        assert tuple(got.shape) == wanted.shape and memory_of(got).tobytes() == wanted.tobytes()
        assert back.tolist() == inverse and number.tolist() == counts


def test_long_inputs_and_threads():
    random = np.random.default_rng(0)
    before = st.get_num_threads()
    for array in (
        random.integers(-50, 50, 200_003),
        random.integers(-(2**62), 2**62, 100_003),
        np.round(random.standard_normal(150_001), 2).astype(np.float32),
        np.zeros(100_000, np.uint8),
    ):
        x = st.from_numpy(array)
        wanted, inverse, counts = np.unique(array, return_inverse=True, return_counts=True)
        for threads in (1, 2, 7):
            st.set_num_threads(threads)
            try:
                got = x.unique(return_inverse=True, return_counts=True)
                assert (got[0].numpy() == wanted).all() and (got[1].numpy() == inverse).all()
                assert (got[2].numpy() == counts).all() and (x.unique().numpy() == wanted).all()
                assert st.isin(x, st.from_numpy(wanted[::2].copy())).tolist() == np.isin(array, wanted[::2]).tolist()
            finally:
                st.set_num_threads(before)


def test_edges_of_unique():
    got = st.tensor(3).unique(return_inverse=True, return_counts=True)
    assert [part.tolist() for part in got] == [[3], 0, [1]]
    got = st.zeros(0, 2).unique(return_inverse=True, return_counts=True, dim=0)
    assert tuple(got[0].shape) == (0, 2) and got[1].tolist() == got[2].tolist() == []
    got = st.zeros(0).unique_consecutive(return_inverse=True, return_counts=True)
    assert [part.tolist() for part in got] == [[], [], []]
    with pytest.raises(ValueError, match="slice"):
        st.zeros(2, 0).unique(dim=0)
    with pytest.raises(IndexError):
        st.zeros(2).unique(dim=1)
    with pytest.raises(IndexError):
        st.tensor(1).unique(dim=0)
    assert type(st.tensor([1]).unique(return_counts=True)) is tuple
    assert st.tensor([3, 1, 3]).unique(False).tolist() == [1, 3]


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_isin_in_every_dtype_and_layout(name, layout):
    shape = LAYOUTS[layout][0]
    x = laid_out(layout, few(name, (1, shape[1]) if layout == "stride 0" else shape, 1), name)
    values = values_of(x)
    for size in (0, 1, 3, 20):
        tests = fresh(few(name, (size,), 7), name)
        among = values_of(tests).tolist()
        wanted = [any(value == other for other in among) for value in values.ravel().tolist()]
        got = st.isin(x, tests)
        assert got.dtype is st.bool and got.shape == x.shape and got.flatten().tolist() == wanted
        assert st.isin(x, tests, invert=True, assume_unique=True).flatten().tolist() == [not found for found in wanted]
        assert st.isin(x, tests.view(-1, 1)).flatten().tolist() == wanted


@given(hs.lists(hs.integers(-5, 300)), hs.lists(hs.floats(-5, 300)))
def test_isin_promotes(left, right):
    right = [round(value * 2) / 2 for value in right]
    got = st.isin(st.tensor(left, dtype=st.int64), st.tensor(right, dtype=st.float64))
    assert got.tolist() == [value in right for value in left]
    got = st.isin(st.tensor(right, dtype=st.float64), st.tensor(left, dtype=st.int64))
    assert got.tolist() == [value in left for value in right]


def test_isin_with_numbers():
    x = st.tensor([1, 2, 44], dtype=st.uint8)
    assert st.isin(x, 2).tolist() == [False, True, False]
    assert st.isin(x, 300).tolist() == st.isin(x, -1).tolist() == st.isin(x, 1.5).tolist() == [False] * 3
    assert st.isin(2, x).item() is True and st.isin(3.5, x).item() is False and st.isin(2, x).shape == ()
    assert st.isin(st.tensor([2**63], dtype=st.uint64), 2**63).tolist() == [True]
    assert st.isin(st.tensor([NAN, 1.0]), NAN).tolist() == [False, False]
    assert st.isin(st.tensor([1, 2]), [2, 5]).tolist() == [False, True]
    with pytest.raises((TypeError, RuntimeError)):
        st.isin(st.tensor([1], dtype=st.uint64), st.tensor([1], dtype=st.int8))
