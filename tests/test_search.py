"""`searchsorted` and `bucketize` against Python's bisect, and `histc`, `histogram` and `bincount` against NumPy."""

import bisect

import hypothesis.strategies as hs
import numpy as np
import pytest
from hypothesis import given
from strategies import COMPLEX, DTYPES, FLOATS, INTS, LAYOUTS, fresh, laid_out, memory_of, ordinary, values_of

import strided as st

REAL = [name for name in DTYPES if name not in COMPLEX]
NAN = float("nan")


def keys(values):
    """Python numbers in the order of the values: NaN is above infinity, both zeros are equal."""
    return [(1, 0) if value != value else (0, value) for value in np.asarray(values).ravel().tolist()]


def found(sequence, values, right):
    function = bisect.bisect_right if right else bisect.bisect_left
    return [function(keys(sequence), key) for key in keys(values)]


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_searchsorted_in_every_dtype_and_layout(name, layout):
    shape = LAYOUTS[layout][0]
    x = laid_out(layout, ordinary(name, (1, shape[1]) if layout == "stride 0" else shape, 1), name)
    values = values_of(x)
    for n in (0, 1, 2, 50):
        boundaries = fresh(ordinary(name, (n,), 8), name).msort()
        for right in (False, True):
            wanted = found(values_of(boundaries), values, right)
            for got in (
                st.searchsorted(boundaries, x, right=right),
                st.searchsorted(boundaries, x, side="right" if right else "left"),
                st.bucketize(x, boundaries, right=right),
            ):
                assert got.dtype is st.int64 and got.shape == x.shape and got.flatten().tolist() == wanted
            got = st.searchsorted(boundaries, x, right=right, out_int32=True)
            assert got.dtype is st.int32 and got.flatten().tolist() == wanted
    if len(shape) == 2:
        # A sequence for each row, in any layout, sorted by a sorter.
        sequence = laid_out("negative", ordinary(name, (7, 37), 9), name)[: shape[0]]
        sorter = sequence.argsort(-1)
        sorted_rows = sequence.sort(-1).values
        for right in (False, True):
            wanted = [found(a, b, right) for a, b in zip(values_of(sorted_rows), values, strict=True)]
            assert st.searchsorted(sorted_rows, x, right=right).tolist() == wanted
            assert st.searchsorted(sequence, x, right=right, sorter=sorter).tolist() == wanted


@given(hs.lists(hs.integers(-20, 20)), hs.lists(hs.floats(-25, 25)), hs.booleans())
def test_searchsorted_promotes(sequence, values, right):
    sequence.sort()
    got = st.searchsorted(st.tensor(sequence, dtype=st.int64), st.tensor(values, dtype=st.float64), right=right)
    assert got.tolist() == found(sequence, values, right)


def test_numbers():
    x = st.tensor([1, 3, 5], dtype=st.uint8)
    assert st.searchsorted(x, 3).item() == 1 and st.searchsorted(x, 3.5).item() == 2
    assert st.searchsorted(x, 300).item() == 3 and st.searchsorted(x, -1).item() == 0
    assert st.bucketize(2.5, x).item() == 1 and st.bucketize([0, 9], x).tolist() == [0, 3]
    assert st.searchsorted(st.tensor([2**63], dtype=st.uint64), 2**63 + 1).item() == 1
    assert st.searchsorted(st.tensor([1.0, NAN]), NAN).item() == 1


def test_long_searches_give_the_same_for_every_number_of_threads():
    random = np.random.default_rng(0)
    sequence = np.sort(random.standard_normal(1000).astype(np.float32))
    values = random.standard_normal(100_001).astype(np.float32)
    before = st.get_num_threads()
    for threads in (1, 2, 7):
        st.set_num_threads(threads)
        try:
            got = st.searchsorted(st.from_numpy(sequence), st.from_numpy(values))
            assert (got.numpy() == np.searchsorted(sequence, values)).all()
        finally:
            st.set_num_threads(before)


def test_wrong_searches():
    x, out = st.tensor([1.0, 2.0]), st.full((3,), 7, dtype=st.int64)
    for call in (
        lambda: st.searchsorted(x, x, side="left", right=True, out=out),
        lambda: st.searchsorted(x, x, side="middle", out=out),
        lambda: st.searchsorted(x.view(1, 2), x, out=out),
        lambda: st.searchsorted(x.view(2, 1), x.view(1, 2), out=out),
        lambda: st.searchsorted(st.tensor(1.0), x, out=out),
        lambda: st.searchsorted(x, x, sorter=st.tensor([0, 2]), out=out),
        lambda: st.searchsorted(x, x, sorter=st.tensor([0, -1]), out=out),
        lambda: st.searchsorted(x, x, sorter=st.tensor([0]), out=out),
        lambda: st.searchsorted(x, x, sorter=x, out=out),
        lambda: st.searchsorted(x, x, out=out),
        lambda: st.searchsorted(st.tensor([1], dtype=st.uint64), st.tensor([1], dtype=st.int8), out=out),
        lambda: st.searchsorted(st.tensor([1j]), x, out=out),
        lambda: st.searchsorted(x, st.tensor([1j]), out=out),
        lambda: st.bucketize(x, x.view(1, 2), out=out),
        lambda: st.bucketize(1j, x, out=out),
    ):
        with pytest.raises((ValueError, TypeError, IndexError)):
            call()
        assert out.tolist() == [7, 7, 7]
    out = st.empty(0, dtype=st.int64)
    assert st.searchsorted(x, x, out=out) is out and out.tolist() == [0, 1]
    out = st.empty(2, dtype=st.int32)
    assert st.bucketize(x, x, out=out, out_int32=True, right=True) is out and out.tolist() == [1, 2]


# Histograms


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_histc_and_histogram_in_every_layout(name, layout):
    shape = LAYOUTS[layout][0]
    random = np.random.default_rng(3)
    own = (1, shape[1]) if layout == "stride 0" else shape
    # Quarters are exact in every dtype, and so are the edges of these bins.
    numbers = random.integers(-40, 40, own) / 4
    x = (
        fresh(numbers.astype(np.float32), "float32").to(name)
        if layout == "0-d"
        else laid_out(layout, memory_of(st.tensor(numbers).to(name)), name)
    )
    values = values_of(x).astype(np.float64)
    wanted, edges = np.histogram(values, 8, (-4.0, 4.0))
    for got in (x.histc(8, -4, 4), st.histc(x, bins=8, min=-4.0, max=4.0)):
        assert got.dtype is x.dtype and values_of(got).tolist() == wanted.tolist()
    hist, bin_edges = x.histogram(8, range=(-4.0, 4.0))
    assert hist.dtype is bin_edges.dtype is x.dtype
    assert values_of(hist).tolist() == wanted.tolist() and values_of(bin_edges).tolist() == edges.tolist()
    edges = [-4.0, -3.5, 0.0, 0.25, 9.0]
    given = st.tensor(edges).to(name)
    wanted = np.histogram(values, edges)[0]
    got = st.histogram(x, given)
    assert values_of(got.hist).tolist() == wanted.tolist() and got.bin_edges.tolist() == edges
    weight = (
        laid_out(layout, memory_of(st.ones(own).to(name) * 2), name) if layout != "0-d" else st.tensor(2.0).to(name)
    )
    got = st.histogram(x, given, weight=weight)
    assert values_of(got.hist).tolist() == (2 * wanted).tolist()
    if wanted.sum() and name in ("float32", "float64"):
        got = values_of(x.histogram(given, density=True).hist)
        np.testing.assert_allclose(got, np.histogram(values, edges, density=True)[0], rtol=1e-6)


@given(hs.lists(hs.floats(-100, 100, width=32), min_size=1, max_size=50), hs.integers(1, 20))
def test_every_element_is_counted_once(numbers, bins):
    x = st.tensor(numbers, dtype=st.float32)
    assert x.histc(bins).sum().item() == len(numbers)
    hist, edges = x.histogram(bins)
    assert hist.sum().item() == len(numbers) and edges.size == bins + 1
    wanted = np.histogram(np.array(numbers, np.float32), edges.numpy())[0]
    assert hist.tolist() == wanted.tolist()


def test_ranges_of_histograms():
    x = st.tensor([2.0, 2.0])
    assert x.histc(4).tolist() == [0, 0, 2, 0] and st.zeros(0).histc(3).tolist() == [0, 0, 0]
    assert x.histogram(4).bin_edges.tolist() == [1.5, 1.75, 2, 2.25, 2.5]
    assert st.zeros(0).histogram(2).bin_edges.tolist() == [0, 0.5, 1]
    assert st.tensor([1.0, NAN, 9.0]).histc(2, 0, 3).tolist() == [1, 0]
    assert st.tensor([1.0, NAN, 3.0]).histogram(st.tensor([0.0, 2.0, 3.0])).hist.tolist() == [1, 1]
    assert st.arange(100_000.0).histc(4).tolist() == [25_000] * 4
    # More bins than threads count in memory of their own.
    assert st.arange(100_000.0, dtype=st.float64).histc(20_000, 0, 100_000).tolist() == [5] * 20_000
    assert type(x.histogram(2)) is st.return_types.histogram


def test_wrong_histograms():
    x = st.tensor([1.0, 2.0])
    out = st.full((2,), 7.0)
    for call in (
        lambda: x.histc(0),
        lambda: x.histc(-1),
        lambda: st.histc(x, 2, 3, 1, out=out),
        lambda: st.tensor([1.0, NAN]).histc(2),
        lambda: st.tensor([1.0, float("inf")]).histc(2),
        lambda: st.histc(x, 3, out=out),
        lambda: st.tensor([1, 2]).histc(2),
        lambda: st.tensor([1j]).histc(2),
        lambda: x.histogram(0),
        lambda: x.histogram(2.5),
        lambda: x.histogram(st.tensor([3.0, 1.0])),
        lambda: x.histogram(st.tensor([1.0, NAN])),
        lambda: x.histogram(st.tensor([1.0])),
        lambda: x.histogram(st.tensor([1, 2])),
        lambda: x.histogram(st.tensor([1.0, 2.0]), range=(0.0, 1.0)),
        lambda: x.histogram(2, range=(3.0, 1.0)),
        lambda: x.histogram(2, range=(3.0,)),
        lambda: x.histogram(2, range=(0.0, NAN)),
        lambda: x.histogram(2, weight=st.ones(3)),
        lambda: x.histogram(2, weight=st.tensor([1j, 1j])),
        lambda: st.tensor([1, 2]).histogram(2),
        lambda: st.histogram(x, 2, out=(out, st.empty(2))),
    ):
        with pytest.raises((ValueError, TypeError)):
            call()
        assert out.tolist() == [7, 7]
    with pytest.raises((MemoryError, OverflowError, ValueError)):
        x.histc(2**62)
    hist, edges = st.empty(2), st.empty(3)
    got = st.histogram(x, 2, out=(hist, edges))
    assert got.hist is hist and got.bin_edges is edges and hist.tolist() == [1, 1] and edges.tolist() == [1, 1.5, 2]


@pytest.mark.parametrize("name", INTS)
@pytest.mark.parametrize("n", [0, 1, 100, 70_001])
def test_bincount(name, n):
    random = np.random.default_rng(n)
    array = random.integers(0, 100, 2 * n).astype(name)[::2]
    x = st.from_numpy(array)
    before = st.get_num_threads()
    for minlength in (0, 5, 200):
        wanted = np.bincount(array.astype(np.int64), minlength=minlength)
        for threads in (1, 2, 7):
            st.set_num_threads(threads)
            try:
                got = x.bincount(minlength=minlength)
            finally:
                st.set_num_threads(before)
            assert got.dtype is st.int64 and got.tolist() == wanted.tolist()
    for dtype, result in (("float64", "float64"), ("float32", "float32"), ("int16", "float64"), ("float16", "float64")):
        weights = random.integers(-4, 5, n).astype(dtype)
        got = st.bincount(x, st.from_numpy(weights))
        assert got.dtype.name == result, dtype
        assert got.tolist() == np.bincount(array.astype(np.int64), weights.astype(np.float64)).tolist(), dtype


def test_bincount_with_many_bins():
    x = st.tensor([200_000, 0, 200_000])
    got = x.bincount()
    assert got.size == 200_001 and got[200_000].item() == 2 and got.sum().item() == 3


def test_wrong_bincounts():
    x = st.tensor([1, 2])
    for call in (
        lambda: st.tensor([1, -1]).bincount(),
        lambda: x.bincount(minlength=-1),
        lambda: x.view(1, 2).bincount(),
        lambda: st.tensor(1).bincount(),
        lambda: x.bincount(st.ones(3)),
        lambda: x.bincount(st.tensor([1j, 1j])),
        lambda: st.tensor([1.0]).bincount(),
        lambda: st.tensor([True]).bincount(),
    ):
        with pytest.raises((ValueError, TypeError)):
            call()
    for largest in (2**62, 2**63 - 1):
        with pytest.raises((MemoryError, OverflowError, ValueError)):
            st.tensor([largest]).bincount()
    with pytest.raises((MemoryError, OverflowError, ValueError)):
        st.tensor([2**64 - 1], dtype=st.uint64).bincount()
