"""`quantile` and `nanquantile` against NumPy and a plain definition."""

import math

import hypothesis.strategies as hs
import numpy as np
import pytest
from hypothesis import given
from strategies import FLOATS, LAYOUTS, laid_out, to_memory, values_of

import strided as st

NAN = float("nan")
METHODS = ["linear", "lower", "higher", "midpoint", "nearest"]


def model(values, q, method, ignore_nan):
    """The quantile of a list of floats, whose rank is a product in their type."""
    kind = values.dtype.type
    numbers = np.sort(values[~np.isnan(values)])
    if (len(numbers) < len(values) and not ignore_nan) or not len(numbers):
        return NAN
    rank = kind(q) * kind(len(numbers) - 1)
    low, high = numbers[math.floor(rank)], numbers[math.ceil(rank)]
    if method in ("lower", "higher"):
        return low if method == "lower" else high
    if method == "nearest":
        return numbers[round(float(rank))]
    weight = kind(0.5) if method == "midpoint" else rank - np.floor(rank)
    return low + weight * (high - low) if weight < 0.5 else high - (high - low) * (1 - weight)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "size 0"])
def test_quantiles_in_every_layout(name, layout):
    shape = LAYOUTS[layout][0]
    random = np.random.default_rng(1)
    own = (1, shape[1]) if layout == "stride 0" else shape
    numbers = random.integers(-100, 100, own) / 8
    holes = np.where(random.random(own) < 0.02, NAN, numbers)
    compute = np.float64 if name == "float64" else np.float32
    qs = [0.0, 0.1, 0.25, 0.5, 0.9, 1.0]
    for source in (numbers, holes):
        x = laid_out(layout, to_memory(source, name), name)
        values = values_of(x).astype(compute)
        for function, ignore_nan in (("quantile", False), ("nanquantile", True)):
            for method in METHODS:
                for dim in (None, *range(-len(shape), len(shape))):
                    lines = values.reshape(1, -1) if dim is None else np.moveaxis(values, dim, -1)
                    rest = () if dim is None else lines.shape[:-1]
                    lines = lines.reshape(-1, lines.shape[-1])
                    q = st.tensor(qs).to(name)
                    wanted = [
                        [model(line, at, method, ignore_nan) for line in lines] for at in values_of(q).astype(compute)
                    ]
                    wanted = values_of(st.tensor(np.array(wanted, compute)).to(name)).reshape(len(qs), *rest)
                    got = getattr(x, function)(q, dim, interpolation=method)
                    assert got.dtype is x.dtype and got.shape == wanted.shape and got.is_contiguous()
                    np.testing.assert_allclose(values_of(got), wanted, rtol=0 if name == "float64" else 1e-6)
                    kept = getattr(st, function)(x, q, dim, keepdim=True, interpolation=method)
                    ones = [1 if dim is None or at == dim % len(shape) else n for at, n in enumerate(shape)]
                    assert list(kept.shape) == [len(qs), *ones]
                    assert np.array_equal(values_of(kept).ravel(), values_of(got).ravel(), equal_nan=True)
                    one = getattr(x, function)(0.5, dim, interpolation=method)
                    assert one.shape == wanted.shape[1:]
                    assert np.array_equal(values_of(one), values_of(got)[3], equal_nan=True)


@given(hs.lists(hs.floats(-1e6, 1e6), min_size=1, max_size=30), hs.floats(0, 1))
def test_quantiles_equal_numpys(numbers, q):
    x = st.tensor(numbers, dtype=st.float64)
    for method in METHODS:
        wanted = np.quantile(np.array(numbers), q, method=method)
        assert x.quantile(q, interpolation=method).item() == pytest.approx(wanted, rel=1e-12, abs=1e-9)


def test_rank_0_and_no_q():
    assert st.tensor(5.0).quantile(0.3).item() == 5 and st.tensor(5.0).quantile(0.3, 0, keepdim=True).shape == ()
    assert st.tensor(5.0).quantile(st.tensor([0.3, 1.0]), 0).tolist() == [5, 5]
    assert st.ones(3).quantile(st.empty(0)).tolist() == []
    assert math.isnan(st.tensor([NAN, NAN]).nanquantile(0.5).item())
    assert st.tensor([1.0, 2.0]).quantile([0.5]).tolist() == [1.5]


def test_outputs():
    x = st.tensor([3.0, 1.0, 2.0])
    for out in (st.empty(0), st.empty(2), st.empty(2, dtype=st.float64)):
        assert st.quantile(x, st.tensor([0.0, 1.0]), out=out) is out and out.tolist() == [1, 3]
    out = x[:2]
    st.quantile(x, st.tensor([0.0, 1.0]), out=out)
    assert x.tolist() == [1, 3, 2]


def test_wrong_quantiles():
    x, out = st.tensor([1.0, 2.0]), st.full((), 7.0)
    for call in (
        lambda: st.quantile(x, 1.5, out=out),
        lambda: st.quantile(x, -0.1, out=out),
        lambda: st.quantile(x, NAN, out=out),
        lambda: st.nanquantile(x, st.tensor([0.5, 2.0]), out=out),
        lambda: st.quantile(x, st.tensor([[0.5]]), out=out),
        lambda: st.quantile(x, st.tensor(0.5, dtype=st.float64), out=out),
        lambda: st.quantile(x, 0.5, interpolation="cubic", out=out),
        lambda: st.quantile(x, 0.5, interpolation=1, out=out),
        lambda: st.quantile(x, 0.5, 1, out=out),
        lambda: st.quantile(st.tensor([1, 2]), 0.5, out=out),
        lambda: st.quantile(st.tensor([1j]), 0.5, out=out),
        lambda: st.quantile(st.zeros(0), 0.5, out=out),
        lambda: st.quantile(st.zeros(3, 0), 0.5, 0, out=out),
        lambda: st.quantile(x, st.tensor([0.5, 0.5]), out=out),
        lambda: st.quantile(x, 0.5, out=st.empty((), dtype=st.int64)),
    ):
        with pytest.raises((ValueError, TypeError, IndexError)):
            call()
        assert out.item() == 7
