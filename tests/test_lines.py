"""diff, trapezoid, cross, renorm and cov, against NumPy and their definitions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as hs
from strategies import COMPLEX, DTYPES, FLOATS, INTS, LAYOUTS, assert_same, fresh, laid_out, ordinary, values_of

import strided as st

NUMBERS = [name for name in DTYPES if name != "bool"]


@pytest.mark.parametrize("layout", [layout for layout in LAYOUTS if layout != "0-d"])
@pytest.mark.parametrize("name", DTYPES)
def test_diff(name, layout):
    shape = LAYOUTS[layout][0]
    x = laid_out(layout, ordinary(name, (1, shape[1]) if layout == "stride 0" else shape, 1), name)
    values = values_of(x)
    for dim in range(-len(shape), len(shape)):
        if name in ("float16", "bfloat16"):
            with np.errstate(invalid="ignore"):
                wanted = np.diff(values.astype(np.float32), axis=dim)
            assert_same(x.diff(dim=dim), values_of(st.from_numpy(wanted).to(name)), name)
            continue
        for n in (1, 2, 3, 50):
            with np.errstate(invalid="ignore", over="ignore"):
                assert_same(x.diff(n, dim), np.diff(values, n, axis=dim), name)


def test_diff_with_prepend_and_append():
    x = st.tensor([[1, 4, 9], [2, 3, 5]])
    a = x.numpy()
    for dim, before, behind in (
        (0, [[7, 7, 8]], [[1, 2, 3], [4, 5, 6]]),
        (1, [[7], [8]], [[1, 2], [3, 4]]),
        (-1, np.zeros((2, 0), int), [[1], [2]]),
    ):
        p, q = np.array(before), np.array(behind)
        for n in (1, 2, 9):
            wanted = np.diff(a, n, dim, prepend=p, append=q)
            got = x.diff(n, dim, st.from_numpy(p), append=st.from_numpy(q))
            assert_same(got, wanted, "int64")
        assert_same(st.diff(x, dim=dim, prepend=st.from_numpy(p)), np.diff(a, axis=dim, prepend=p), "int64")
    assert st.tensor([1, 2]).diff(prepend=st.tensor([0.5])).tolist() == [0.5, 1.0], "dtypes promote"
    assert st.tensor([True, False, False]).diff(prepend=st.tensor([True])).tolist() == [False, True, False]


def test_diff_of_empty_tensors_and_into_an_output():
    x = st.arange(6.0).view(2, 3)
    same = x.diff(0)
    assert same.tolist() == x.tolist() and same.data_ptr() != x.data_ptr()
    assert x.diff(7).shape == (2, 0) and st.zeros(0).diff().shape == (0,) and st.zeros(2, 0).diff(dim=0).shape == (1, 0)
    out = st.zeros(2, 2)
    assert st.diff(x, out=out) is out and out.tolist() == [[1, 1], [1, 1]]
    assert st.diff(x, out=x[:, 1:]).tolist() == [[1, 1], [1, 1]], "the output is part of the input"
    for wrong, error in ((st.zeros(2), st.ShapeError), (st.zeros(2, 2, dtype=st.int64), st.DTypeError)):
        with pytest.raises(error, match=r"^diff: "):
            st.diff(x, out=wrong)
        assert not wrong.numpy().any()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: st.tensor(1).diff(), ValueError, "diff: .*at least 1"),
        (lambda: st.ones(2).diff(-1), ValueError, "diff: n is -1, wanted 0 or more"),
        (lambda: st.ones(2).diff(dim=1), IndexError, "diff: dim 1 is outside"),
        (
            lambda: st.ones(2).diff(prepend=st.tensor(1.0)),
            ValueError,
            r"diff: prepend is of shape \(\), wanted the shape 2",
        ),
        (
            lambda: st.ones(2, 2).diff(append=st.ones(3, 1)),
            ValueError,
            "diff: append is of shape 3x1, wanted the shape 2x2 but",
        ),
        (lambda: st.ones(2).diff(prepend=[1]), TypeError, "diff: prepend must be a Tensor"),
        (lambda: st.trapezoid(st.tensor(1.0)), IndexError, "trapezoid: dim -1"),
        (lambda: st.trapezoid(st.ones(2, dtype=bool)), TypeError, "trapezoid: y is bool"),
        (lambda: st.trapezoid(st.ones(2), st.ones(2), dx=1.0), TypeError, "trapezoid: x and dx exclude"),
        (
            lambda: st.trapezoid(st.ones(2, 3), st.ones(2, 4)),
            st.ShapeError,
            "trapezoid: shapes 2x3 and 2x4 do not broadcast: extents 3 and 4 in dim 1",
        ),
        (
            lambda: st.trapezoid(st.ones(2, 3), st.ones(5, 3, 3)),
            st.ShapeError,
            "trapezoid: shapes 2x3 and 5x3x3 do not broadcast: extents 2 and 3 in dim 1",
        ),
        # The one difference of two points would broadcast, but each element of y needs a point.
        (
            lambda: st.trapezoid(st.ones(2, 5), st.ones(2)),
            st.ShapeError,
            "trapezoid: x is of shape 2, wanted 5 points, as y of shape 2x5 has in dim 1",
        ),
        (lambda: st.trapezoid(st.ones(2), dx=1j), TypeError, "trapezoid: dx must be a real number"),
        (lambda: st.cumulative_trapezoid(st.ones(2), dim=1), IndexError, "cumulative_trapezoid: dim 1"),
        (lambda: st.ones(4).cross(st.ones(4)), ValueError, "cross: input is of shape 4, wanted a dim of extent 3"),
        (
            lambda: st.ones(3, 2).cross(st.ones(3, 2), dim=1),
            ValueError,
            "cross: input is of shape 3x2, wanted extent 3 in dim 1",
        ),
        (
            lambda: st.ones(3).cross(st.ones(2, 3)),
            ValueError,
            "cross: other is of shape 2x3, wanted as many dims as input has, which is of shape 3",
        ),
        (lambda: st.ones(2, 3).cross(st.ones(2, 4)), ValueError, "cross: shapes 2x3 and 2x4 do not broadcast"),
        (lambda: st.ones(3, 4).cross(st.ones(3, 5)), ValueError, "cross: shapes"),
        (lambda: st.ones(3).cross(st.ones(3), dim=1), IndexError, "cross: dim 1"),
        (lambda: st.ones(3, dtype=bool).cross(st.ones(3, dtype=bool)), TypeError, "cross: .*bool"),
        (lambda: st.ones(3).renorm(2, 0, 1), ValueError, "renorm: .*at least 2"),
        (lambda: st.ones(2, 2).renorm(0, 0, 1), ValueError, "renorm: p is 0"),
        (lambda: st.ones(2, 2).renorm(math.nan, 0, 1), ValueError, "renorm: p is NaN"),
        (lambda: st.ones(2, 2).renorm(2, 0, -1), ValueError, "renorm: maxnorm is -1"),
        (lambda: st.ones(2, 2).renorm(2, 2, 1), IndexError, "renorm: dim 2"),
        (lambda: st.ones(2, 2, 2).cov(), ValueError, "cov: .*at most 2"),
        (lambda: st.ones(2, dtype=bool).cov(), TypeError, "cov: input is bool"),
        (lambda: st.ones(2).cov(fweights=st.ones(2)), TypeError, "cov: fweights is float32, wanted an integer"),
        (lambda: st.ones(2).cov(aweights=st.ones(2, dtype=int)), TypeError, "cov: aweights is int64, wanted a float"),
        (lambda: st.ones(2).cov(fweights=st.tensor([1, -1])), ValueError, "cov: fweights is negative somewhere"),
        (
            lambda: st.ones(2).cov(fweights=st.tensor([1])),
            ValueError,
            "cov: fweights is of shape 1, wanted the shape 2",
        ),
        (lambda: st.ones(2).cov(fweights=st.tensor([0, 0])), ValueError, "cov: the weights is a sum of 0"),
        (lambda: st.ones(2, 2, 2).corrcoef(), ValueError, "corrcoef: .*at most 2"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=f"^{text}"):
        call()


def trapezoids(y, x=None, dx=1.0, axis=-1):
    """The areas between neighbouring points, in float64 or complex128."""
    y = np.moveaxis(y.astype(np.complex128 if y.dtype.kind == "c" else np.float64), axis, -1)
    widths = dx if x is None else np.diff(x.astype(np.float64))
    return (y[..., 1:] + y[..., :-1]) * widths / 2


@pytest.mark.parametrize("name", NUMBERS)
def test_trapezoid(name):
    y = np.random.default_rng(1).integers(0, 100, (4, 5, 6)).astype("float32" if name == "bfloat16" else name)
    t = fresh(y, name) if name != "bfloat16" else st.from_numpy(y).bfloat16()
    x = np.sort(np.random.default_rng(2).integers(0, 50, 5).astype(np.float32))
    tolerance = {"float16": 2e-3, "bfloat16": 2e-2}.get(name, 1e-5)
    for dim in (0, 1, -1):
        np.testing.assert_allclose(values_of(st.trapezoid(t, dim=dim)), trapezoids(y, axis=dim).sum(-1), tolerance)
        areas = np.moveaxis(trapezoids(y, dx=0.5, axis=dim).cumsum(-1), -1, dim)
        np.testing.assert_allclose(values_of(st.cumulative_trapezoid(t, dx=0.5, dim=dim)), areas, tolerance)
    got = values_of(st.trapezoid(t, st.from_numpy(x), dim=1))
    np.testing.assert_allclose(got, trapezoids(y, x, axis=1).sum(-1), tolerance)
    assert st.trapz(t, dx=2).shape == (4, 5)


def test_trapezoid_with_points_that_broadcast():
    """Points broadcast: the same for all lines, or with further dims."""
    y = np.random.default_rng(1).standard_normal((3, 4))
    for x in (
        np.arange(4.0) ** 2,
        np.sort(np.random.default_rng(2).standard_normal((3, 4))),
        np.ones((1, 4)).cumsum(1),
    ):
        wanted = np.trapezoid(y, x) if hasattr(np, "trapezoid") else np.trapz(y, x)
        np.testing.assert_allclose(st.trapezoid(st.from_numpy(y), st.from_numpy(x)).numpy(), wanted)
    x = np.random.default_rng(3).standard_normal((2, 3, 4))
    got = st.trapezoid(st.from_numpy(y), st.from_numpy(x), dim=0).numpy()
    assert got.shape == (2, 4)
    np.testing.assert_allclose(got, (np.diff(x, axis=1) * (y[1:] + y[:-1]) / 2).sum(1))
    assert st.trapezoid(st.tensor([1.0])).item() == 0 and st.trapezoid(st.zeros(3, 0)).tolist() == [0, 0, 0]
    assert st.cumulative_trapezoid(st.tensor([1.0])).shape == (0,)
    assert st.trapezoid(st.tensor([255, 255], dtype=st.uint8)).item() == 255, "small integers do not wrap"
    inf, nan = math.inf, math.nan
    for points, area in [
        ([inf, 1], inf),
        ([1, inf, 2], inf),
        ([inf, -inf], nan),
        ([1, nan], nan),
        ([1e38, 3e38], 2e38),
    ]:
        np.testing.assert_allclose(st.trapezoid(st.tensor(points)).item(), area, 1e-6)
    assert st.trapezoid(st.tensor([6e4, 6e4], dtype=st.float16)).item() == 60000, "no sum of two halves is made"
    assert st.trapezoid(st.tensor([3, 4, 6]), dx=0.5).item() == 4.25
    assert st.trapezoid(st.tensor([1j, 3, 1j])).item() == 3 + 1j


@pytest.mark.parametrize("name", NUMBERS)
def test_cross(name):
    a, b = (np.random.default_rng(seed).integers(0, 9, (4, 3, 2)).astype("float32") for seed in (1, 2))
    x, y = st.from_numpy(a).to(name), st.from_numpy(b).to(name)
    wanted = np.cross(a, b, axis=1).astype(np.int64)
    if name in INTS:
        assert_same(x.cross(y), wanted.astype(name), name)
    else:
        assert_same(x.cross(y), wanted.astype(values_of(x).dtype), name)
    assert x.cross(y, dim=1).tolist() == st.cross(x, y, -2).tolist() == x.cross(y).tolist()
    one = st.cross(x[:1], y)
    assert one.shape == (4, 3, 2) and one[0].tolist() == x.cross(y)[0].tolist()
    out = st.zeros(4, 3, 2, dtype=name)
    assert st.cross(x, y, out=out) is out and out.tolist() == x.cross(y).tolist()
    assert st.cross(x, y, out=x) is x and x.tolist() == out.tolist(), "over the input"


def test_cross_takes_the_first_dim_of_extent_3():
    x, y = np.random.default_rng(1).standard_normal((2, 3, 3))
    got = st.from_numpy(x).cross(st.from_numpy(y))
    np.testing.assert_allclose(got.numpy(), np.cross(x, y, axis=0))
    assert st.tensor([1, 2, 3]).cross(st.tensor([1.0, 2.0, 4.0])).dtype is st.float32
    assert st.zeros(3, 0).cross(st.zeros(3, 0)).shape == (3, 0)


@pytest.mark.parametrize("name", [*FLOATS, *COMPLEX])
@pytest.mark.parametrize("p", [0.5, 1, 2, 3, math.inf])
def test_renorm(name, p):
    a = np.random.default_rng(1).standard_normal((4, 5, 6)) * 3
    x = st.from_numpy(a + 1j * a[::-1] if name in COMPLEX else a).to(name)
    before = values_of(x).astype(np.complex128 if name in COMPLEX else np.float64)
    for dim in (0, 1, -1):
        other = tuple(d for d in range(3) if d != dim % 3)
        sizes = np.abs(before)
        norms = sizes.max(other, keepdims=True) if p == math.inf else (sizes**p).sum(other, keepdims=True) ** (1 / p)
        bound = float(np.median(norms))
        got = x.renorm(p, dim, bound)
        wanted = np.where(norms > bound, before * (bound / norms), before)
        tolerance = {"float16": 2e-3, "bfloat16": 2e-2, "float64": 1e-6, "complex128": 1e-6}.get(name, 1e-5)
        assert got.dtype is x.dtype and got.shape == x.shape
        np.testing.assert_allclose(values_of(got).astype(wanted.dtype), wanted, rtol=tolerance, atol=1e-30)
        same = x.transpose(0, 2).clone().transpose(0, 2)
        # A norm is summed in memory order, which differs here: a norm equal to the bound may come out above it.
        assert same.renorm_(p, dim, bound) is same
        np.testing.assert_allclose(values_of(same), values_of(got), rtol=tolerance, atol=1e-30)


def test_renorm_of_integers_computes_in_the_default_float():
    x = st.tensor([[3, 4], [0, 1]])
    got = x.renorm(2, 0, 1)
    assert got.dtype is st.float32 and got.tolist() == x.float().renorm(2, 0, 1).tolist()


def test_renorm_keeps_lines_below_the_bound():
    x = st.tensor([[3.0, 4.0], [0.5, 0.0], [math.nan, 1.0]])
    got = x.renorm(2, 0, 1)
    assert got[1].tolist() == [0.5, 0.0] and got[2][1].item() == 1.0 and math.isnan(got[2][0].item())
    np.testing.assert_allclose(got[0].tolist(), [0.6, 0.8], rtol=1e-6)
    assert st.full((1, 2), 1e30).renorm(2, 0, 1).tolist()[0] == pytest.approx([0.5**0.5] * 2), "squares do not overflow"
    for p in (2, math.inf):
        assert st.zeros(2, 0).renorm(p, 0, 1).shape == (2, 0) and st.zeros(0, 2).renorm(p, 0, 1).shape == (0, 2)
    out = st.zeros(3, 2)
    assert st.renorm(x, 2, 0, 1, out=out) is out and out[0].tolist() == got[0].tolist()


@pytest.mark.parametrize("name", NUMBERS)
def test_cov(name):
    a = np.random.default_rng(1).integers(0, 50, (4, 30))
    x = st.from_numpy(a + 1j * a[::-1] if name in COMPLEX else a).to(name)
    values = values_of(x).astype(np.complex128 if name in COMPLEX else np.float64)
    frequency, importance = np.random.default_rng(2).integers(0, 4, 30), np.random.default_rng(3).random(30)
    f, w = st.from_numpy(frequency), st.from_numpy(importance)
    tolerance = {"float16": 2e-3, "bfloat16": 2e-2, "float64": 1e-11, "complex128": 1e-11}.get(name, 1e-4)
    wide = np.abs(np.cov(values)).max()
    for correction in (0, 1, 3):
        for ours, theirs in (
            ({}, {}),
            ({"fweights": f}, {"fweights": frequency}),
            ({"aweights": w}, {"aweights": importance}),
        ):
            got = x.cov(correction=correction, **ours)
            wanted = np.cov(values, ddof=correction, **theirs)
            assert got.shape == (4, 4) and got.dtype.name == ("float32" if name in INTS else name)
            assert np.abs(values_of(got) - wanted).max() <= tolerance * wide
        both = st.cov(x, correction=correction, fweights=f, aweights=w)
        wanted = np.cov(values, ddof=correction, fweights=frequency, aweights=importance)
        assert np.abs(values_of(both) - wanted).max() <= tolerance * wide
    single = x[1].cov()
    assert single.shape == () and abs(values_of(single) - np.cov(values[1])) <= tolerance * wide
    np.testing.assert_allclose(values_of(x.corrcoef()), np.corrcoef(values), atol=tolerance * 10)


def test_cov_of_too_few_observations():
    assert math.isnan(st.tensor(1.0).cov().item()) and math.isnan(st.tensor([1.0]).cov().item())
    assert np.isnan(st.zeros(2, 0).cov().numpy()).all() and st.zeros(0, 2).cov().shape == (0, 0)
    assert st.tensor([1.0, 2.0]).cov(correction=5).item() == math.inf
    assert st.tensor([1.0, 2.0, 3.0]).corrcoef().item() == 1 and math.isnan(st.tensor(1.0).corrcoef().item())
    constant = st.tensor([[1, 2, 3], [1, 1, 1]]).corrcoef().numpy()
    assert constant[0, 0] == 1 and np.isnan(constant[1]).all()


@pytest.mark.parametrize("name", ["float32", "float64", "complex64", "complex128"])
def test_cov_of_one_observation_with_weight(name):
    """Its distance from the mean is 0 for any weight; if the divisor is 0, too, the covariance is NaN."""
    random = np.random.default_rng(7)
    for weight in (1.0, *random.uniform(0.01, 9, 60)):
        parts = random.standard_normal((2, 3, 4))
        values = st.from_numpy(parts[0] + 1j * parts[1] if name in COMPLEX else parts[0]).to(name)
        alone = st.tensor([weight], dtype=values.real.dtype)
        among = st.tensor([0, 0, weight, 0], dtype=alone.dtype)
        for frequency in (1, 2, 4):
            for x, a, f in (
                (values[:, :1], alone, st.tensor([frequency])),
                (values, among, st.full((4,), frequency, dtype=st.int64)),
                (values.t().contiguous().t(), among, st.tensor([0, 7, frequency, 0])),
            ):
                options = [{"aweights": a, "fweights": f}] + [{"aweights": a}] * (frequency == 1)
                for given_ in options:
                    count = frequency if "fweights" in given_ else 1
                    for correction in (0, count - 1, count, count + 1):
                        got = x.cov(correction=correction, **given_).numpy()
                        assert np.isnan(got.real).all() if correction >= count else not got.any(), (weight, correction)


@given(hs.integers(1, 3), hs.integers(1, 5), hs.integers(-2, 4), hs.integers(0, 999))
def test_cov_with_weights_by_its_definition(variables, observations, correction, seed):
    """Computed in fractions, without rounding."""
    random = np.random.default_rng(seed)
    x = random.integers(-9, 9, (variables, observations))
    frequency, importance = random.integers(0, 3, observations), random.integers(0, 5, observations) / 4
    weight = [Fraction(int(f)) * Fraction(float(a)) for f, a in zip(frequency, importance, strict=True)]
    total = sum(weight)

    def call():
        f, a = st.from_numpy(frequency), st.from_numpy(importance)
        return st.from_numpy(x.astype(np.float64)).cov(correction=correction, fweights=f, aweights=a)

    if total == 0:
        with pytest.raises(ValueError, match="cov: the weights is a sum of 0"):
            call()
        return
    rows = [[Fraction(int(v)) for v in row] for row in x]
    means = [sum(w * v for w, v in zip(weight, row, strict=True)) / total for row in rows]
    squares = sum(w * Fraction(float(a)) for w, a in zip(weight, importance, strict=True))
    divisor = max(total - correction * squares / total, Fraction(0))
    got = np.atleast_2d(call().numpy())
    for i, j in np.ndindex(variables, variables):
        terms = zip(weight, rows[i], rows[j], strict=True)
        above = sum(w * (p - means[i]) * (q - means[j]) for w, p, q in terms)
        if divisor:
            assert got[i, j] == pytest.approx(float(above / divisor), rel=1e-12, abs=1e-12)
        elif all(w == 0 or p == means[i] for w, p in zip(weight, rows[i], strict=True)):
            assert math.isnan(got[i, j])
        elif i == j:
            assert got[i, j] == math.inf


@pytest.mark.parametrize("empty", [{"fweights": st.zeros(0, dtype=st.int64)}, {"aweights": st.zeros(0)}])
def test_cov_with_weights_of_zero(empty):
    for x in (st.zeros(2, 0), st.zeros(0)):
        with pytest.raises(ValueError, match="cov: the weights is a sum of 0"):
            x.cov(**empty)


@given(hs.integers(1, 4), hs.integers(2, 12), hs.integers(0, 99))
def test_laws(variables, observations, seed):
    a = np.random.default_rng(seed).integers(-9, 9, (variables, observations)).astype(np.float64)
    x = st.from_numpy(a)
    c = np.atleast_2d(x.cov().numpy())
    assert (c == c.T).all() and (np.diag(c) >= 0).all()
    assert (np.abs(np.nan_to_num(np.atleast_2d(x.corrcoef().numpy()))) <= 1).all()
    assert x.cumsum(1).diff(prepend=st.zeros(variables, 1, dtype=st.float64)).tolist() == a.tolist()
    assert st.cumulative_trapezoid(x)[:, -1].tolist() == st.trapezoid(x).tolist()


def test_as_pytorch():
    torch = pytest.importorskip("torch")
    a = np.random.default_rng(3).standard_normal((3, 5)).astype(np.float32)
    x, t = st.from_numpy(a), torch.from_numpy(a)
    for call in (
        lambda m, v: m.diff(v, n=2, dim=0),
        lambda m, v: m.trapezoid(v, dim=0),
        lambda m, v: m.cumulative_trapezoid(v, v * v),
        lambda m, v: m.renorm(v, 2, 0, 1.5),
        lambda m, v: m.cov(v),
        lambda m, v: m.corrcoef(v),
        lambda m, v: m.cross(v, v + 1),
    ):
        np.testing.assert_allclose(call(st, x).numpy(), call(torch, t).numpy(), rtol=1e-4, atol=1e-5)
