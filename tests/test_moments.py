"""var, std, norm, dist and logsumexp: accuracy, corrections, and special values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as hs
from reduction_models import (
    DIMS,
    PERMUTED,
    SHAPES,
    assert_near,
    axes_of,
    bits,
    moderate,
    of_logsumexp,
    of_mean,
    of_norm,
    of_std,
    of_var,
    own_shape,
    tensor_of,
)
from strategies import COMPLEX, DTYPES, FLOATS, INTS, fresh, to_memory, to_values, values_of

import strided as st
from strided import return_types

INF, NAN = math.inf, math.nan
SPREADS = {"var": of_var, "std": of_std}
ORDERS = (0, 1, 2, 3, 0.5, -1, INF, -INF)


def same(got, wanted):
    """Whether two numbers are equal, or both NaN."""
    return got == wanted or (got != got and wanted != wanted)


# Variance


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("op", SPREADS)
def test_variance_and_mean(op, name):
    for layout, shape in SHAPES.items():
        x = tensor_of(layout, moderate(name, own_shape(layout), 1), name)
        values = values_of(x)
        for nth, dims in enumerate(DIMS[len(shape)] if layout != PERMUTED else (0, (0, 2))):
            axis = axes_of(values, dims)
            correction, keep = ((1, False), (0, True), (2.5, False))[nth % 3]
            wanted = SPREADS[op](values, name, axis, keep, correction)
            found = getattr(x, f"{op}_mean")(dims, correction=correction, keepdim=keep)
            assert type(found) is getattr(return_types, f"{op}_mean"), (layout, dims)
            assert_near(found[0], wanted, f"{layout} {dims} {correction}")
            assert_near(found.mean, of_mean(values, name, axis, keep), f"{layout} {dims}")
            alone = getattr(x, op)(dims, correction=correction, keepdim=keep)
            assert bits(alone) == bits(found[0]), "with and without the mean"
            outs = st.zeros((*alone.shape, 2), dtype=alone.dtype)[..., 0], st.zeros_like(found.mean)
            pair = getattr(st, f"{op}_mean")(x, axis=dims, ddof=correction, keepdims=keep, out=outs)
            assert pair[0] is outs[0] and pair.mean is outs[1], (layout, dims)
            assert bits(*outs) == bits(*found), (layout, dims)


@pytest.mark.parametrize("name", ["float32", "float64"])
@pytest.mark.parametrize("n", [2, 31, 33, 1023, 1024, 1025, 65537, 131073])
def test_a_large_mean_costs_no_accuracy(name, n):
    """1e8 plus small numbers: the naive formula loses all digits."""
    random = np.random.default_rng(n)
    values = (1e8 + random.integers(0, 200, n) * (8 if name == "float32" else 1 / 64)).astype(name)
    x = fresh(values, name)
    columns = fresh(np.repeat(values[:, None], 17, axis=1), name)
    for op, model in SPREADS.items():
        wanted = model(values, name, None, False)
        assert wanted[1] > 0.5
        assert wanted[2] < 1e-5 * wanted[1], "the promise is worth something"
        assert_near(getattr(x, op)(), wanted)
        assert bits(getattr(columns, op)(0)[3].clone()) == bits(getattr(x, op)())


def test_the_variance_of_equal_numbers_is_zero():
    for value in (0.1, 1e8, -3.3e-30, 7.0):
        for n in (2, 33, 1025, 70_000):
            x = st.full((n,), value)
            assert x.var().item() == 0 and x.std().item() == 0
            assert x.var_mean().mean.item() == x[0].item()


def test_float32_is_as_good_as_rounded():
    """Sums are accumulated in float64, so the only visible error is the final rounding."""
    for n in (10, 1000, 100_000):
        values = np.random.default_rng(n).standard_normal(n).astype(np.float32)
        x = st.from_numpy(values)
        exact = values.astype(np.longdouble)
        for op, wanted in (
            ("var", exact.var(ddof=1)),
            ("std", exact.std(ddof=1)),
            ("norm", np.sqrt((exact**2).sum())),
        ):
            got = np.float32(getattr(x, op)().item())
            assert abs(got - wanted) <= 0.5001 * np.spacing(np.float32(wanted)), op


#: values, correction, var, std: the results of PyTorch.
FEW = [
    ([5.0], 1, NAN, NAN),
    ([5.0], 0, 0.0, 0.0),
    ([5.0, 6.0], 2, INF, INF),
    ([5.0, 6.0], 3, INF, INF),
    ([5.0, 5.0], 3, NAN, NAN),
    ([5.0, 6.0], -1, 0.5 / 3, math.sqrt(0.5 / 3)),
    ([5.0, 6.0], 0.5, 0.5 / 1.5, math.sqrt(0.5 / 1.5)),
    ([5.0, 6.0], 1, 0.5, math.sqrt(0.5)),
    ([], 0, NAN, NAN),
    ([], 1, NAN, NAN),
    ([INF], 0, NAN, NAN),
    ([INF, 1.0], 1, NAN, NAN),
    ([NAN, 1.0], 1, NAN, NAN),
    ([5.0, 6.0], NAN, INF, INF),
]


@pytest.mark.parametrize(("values", "correction", "var", "std"), FEW)
@pytest.mark.parametrize("name", FLOATS)
def test_few_terms(name, values, correction, var, std):
    x = st.tensor(values, dtype=name)
    for op, wanted in (("var", var), ("std", std)):
        rounded = to_values(to_memory(np.float64(wanted), name), name).item()
        got = getattr(x, op)(correction=correction).item()
        assert same(got, rounded) or (name == "float64" and math.isclose(got, wanted, rel_tol=1e-15)), op
        assert same(getattr(x, f"{op}_mean")(correction=correction)[0].item(), got)
        assert same(getattr(x.view(1, -1).expand(20, -1), op)(1, correction=correction)[3].item(), got)


def test_all_spellings_of_the_correction():
    x = st.tensor([[1.0, 2.0, 4.0], [3.0, 3.0, 9.0]])
    for op in ("var", "std", "var_mean", "std_mean"):
        call = getattr(x, op)

        def first(found):
            return bits(*found) if isinstance(found, tuple) else bits(found)

        assert first(call()) == first(call(True)) == first(call(unbiased=True)) == first(call(correction=1))
        assert first(call(False)) == first(call(unbiased=False)) == first(call(correction=0)) == first(call(ddof=0))
        assert first(call(1, False)) == first(call(dim=1, unbiased=False)) == first(call(axis=1, correction=0.0))
        assert first(call(0, True, True)) == first(call(0, keepdim=True)) == first(call((0,), keepdims=True))
        assert first(call((0, 1))) == first(call(None)) == first(call(())) == first(call())
        for both in (dict(unbiased=True, correction=1), dict(unbiased=False, ddof=0)):
            with pytest.raises(TypeError, match=f"^{op}: unbiased and correction exclude each other"):
                call(**both)
        with pytest.raises(TypeError, match=f"^{op}: unbiased and correction exclude each other"):
            call(False, correction=1)
        for wrong in (dict(correction="a"), dict(correction=1j), dict(correction=[1])):
            with pytest.raises(TypeError, match=f"^{op}: {next(iter(wrong))} must be"):
                call(**wrong)


def test_complex_variance():
    x = st.tensor([5 + 1j, 2 - 3j, 1j])
    found = x.var_mean()
    assert found.var.dtype is st.float32 and found.mean.dtype is st.complex64
    assert math.isclose(found.var.item(), 35 / 3, rel_tol=1e-6) and abs(found.mean.item() - (7 - 1j) / 3) < 1e-6
    assert math.isclose(x.std(correction=0).item(), math.sqrt(70 / 9), rel_tol=1e-6)
    assert math.isnan(st.tensor([5 + 1j]).var().item()) and st.tensor([5 + 1j]).var(correction=0).item() == 0
    assert x.real.var().item() + x.imag.var().item() == pytest.approx(x.var().item(), rel=1e-6)
    assert x.to(st.complex128).std().dtype is st.float64


def test_integers_have_a_variance():
    """PyTorch refuses integers; here the result is of the default float, also for integers that float32 cannot represent."""
    x = st.tensor([2**40, 2**40 + 2, 2**40 + 4])
    assert x.var().item() == 4 and x.std().item() == 2 and x.var().dtype is st.float32
    assert st.tensor([0, 255], dtype=st.uint8).var(correction=0).item() == 127.5**2
    assert st.tensor([True, False, True, False]).std(correction=0).item() == 0.5


@pytest.mark.parametrize("op", ["var_mean", "std_mean"])
@pytest.mark.parametrize("name", FLOATS)
def test_the_mean_of_var_mean_may_be_infinite(op, name):
    """It equals that of `mean`. PyTorch returns the same means, and NaN for the variance."""
    for values, wanted in (([INF], INF), ([1.0, INF], INF), ([1.0, 2.0, -INF], -INF), ([1.0] * 3000 + [INF], INF)):
        x = st.tensor(values, dtype=name)
        found = getattr(x, op)(correction=0)
        assert math.isnan(found[0].item()) and x.mean().item() == wanted
        assert found.mean.item() == wanted, values[-2:]


@pytest.mark.parametrize("op", ["var_mean", "std_mean"])
def test_outs_of_a_complex_variance_are_untouched_if_one_is_wrong(op):
    x = st.tensor([[1 + 1j, 2], [3j, 4]])
    for wrong, (first, second) in enumerate((((3,), (2,)), ((2,), (3,)))):
        outs = st.full(first, 7.0), st.full(second, 7 + 0j)
        with pytest.raises(st.ShapeError, match=rf"^{op}: out\[{wrong}\] has shape 3, wanted 2"):
            getattr(x, op)(0, out=outs)
        assert all((out == 7).all().item() for out in outs)


def test_shifts_and_scales():
    x = fresh(moderate("float64", (1000,), 1), "float64")
    assert (x + 1024).var().item() == pytest.approx(x.var().item(), rel=1e-11)
    assert (x * 4).var().item() == 16 * x.var().item() and (x * 4).std().item() == 4 * x.std().item()
    assert x.neg().var().item() == x.var().item()


# Norms


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("name", DTYPES)
def test_norm(name, p):
    for layout, shape in SHAPES.items():
        if layout == PERMUTED and name not in ("int32", "float32", "complex64"):
            continue
        memory = moderate(name, own_shape(layout), 1)
        if p < 0:  # integers contain zeros, and 1 / 0 is infinite
            values = to_values(memory, name)
            memory = to_memory(np.where(values == 0, 1, values), name)
        x = tensor_of(layout, memory, name)
        values = values_of(x)
        for dims in DIMS[len(shape)] if layout != PERMUTED else (None, 1, (1, 2)):
            axis = axes_of(values, dims)
            if values.size == 0 and (dims != 0 or p < 0):
                continue
            keep = dims == 0
            if values.size == 0 and p == INF:
                assert x.norm(p, dims, keep).shape == (1, 0), (layout, dims)
                continue
            wanted = of_norm(values, name, axis, keep, p)
            got = x.norm(p, dims, keep)
            assert_near(got, wanted, f"{layout} {dims}")
            out = st.zeros((*got.shape, 2), dtype=got.dtype)[..., 1]
            assert st.norm(x, p=p, dim=dims, keepdim=keep, out=out) is out, (layout, dims)
            assert bits(out) == bits(got), (layout, dims)


#: values -> norms of the orders 0, 1, 2, 3, 0.5, -1, inf, -inf: the results of PyTorch.
KNOWN = [
    ([3.0, -4.0, 0.0], (2, 7, 5, 91 ** (1 / 3), (3**0.5 + 2) ** 2, 0, 4, 0)),
    ([NAN, 0.0, 1.0], (2, NAN, NAN, NAN, NAN, NAN, NAN, NAN)),
    ([INF, 0.0, 1.0], (2, INF, INF, INF, INF, 0, INF, 0)),
    ([-0.0], (0, 0, 0, 0, 0, 0, 0, 0)),
    ([-2.0], (1, 2, 2, 2, 2, 2, 2, 2)),
]


@pytest.mark.parametrize(("values", "wanted"), KNOWN)
@pytest.mark.parametrize("name", FLOATS)
def test_known_norms(name, values, wanted):
    x = st.tensor(values, dtype=name)
    rel = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 2e-6}.get(name, 1e-14)
    for p, norm in zip(ORDERS, wanted, strict=True):
        got = x.norm(p).item()
        assert same(got, norm) or math.isclose(got, norm, rel_tol=rel), p
        assert same(x.view(1, -1).expand(20, -1).norm(p, 1)[5].item(), got), p


def test_the_norm_of_an_empty_tensor():
    empty = st.zeros(0)
    assert [empty.norm(p).item() for p in (0, 1, 2, 3, 0.5)] == [0] * 5
    for p in (INF, -INF):
        message = f"^norm: cannot reduce zero elements: norm of order {p} has no identity"
        with pytest.raises(st.ShapeError, match=message):
            empty.norm(p)
        with pytest.raises(st.ShapeError, match=message):
            st.zeros(3, 0).norm(p, 1)
        assert st.zeros(3, 0).norm(p, 0).shape == (0,)


def test_huge_and_tiny_values():
    """Squares of float32 are added in float64; PyTorch returns inf and 0 here."""
    for size in (1e30, 3e38, 1e-30, 1e-44):
        for n in (1, 2, 1000):
            x = st.full((n,), size)
            wanted = min(float(np.float32(size)) * math.sqrt(n), INF)
            if wanted < 3.4e38:
                assert x.norm().item() == pytest.approx(wanted, rel=1e-7, abs=1e-45)
                assert x.norm("fro").item() == x.norm(2).item() == x.norm().item()
    assert st.tensor([3e30 + 4e30j]).norm().item() == pytest.approx(5e30)
    assert st.tensor([3e38, 3e38, 3e38]).norm().item() == INF
    assert st.tensor([1e30, -1e30]).var().item() == INF, "which float32 does not hold"
    assert st.tensor([1e30, -1e30]).std().item() == pytest.approx(math.sqrt(2) * 1e30)


def test_orders():
    x = st.tensor([[3.0, -4.0], [6.0, 8.0]])
    assert x.norm(dim=1).tolist() == x.norm("fro", 1).tolist() == x.norm(2.0, -1).tolist() == [5, 10]
    assert x.norm(p=1, dim=(0, 1)).item() == 21 and x.norm(None).item() == x.norm().item()
    assert x.norm(1, dim=0, keepdim=True).tolist() == [[9, 12]]
    assert x.norm(dtype=st.float64).dtype is st.float64 and x.norm(dtype="float16").dtype is st.float16
    assert st.tensor([3 + 4j, 0, 1]).norm(1).item() == 6 and st.tensor([3 + 4j, 0, 1]).norm(0).item() == 2
    assert st.tensor([3 + 4j, 0, 1]).norm(INF).item() == 5 and st.tensor([3 + 4j, 0]).norm(-INF).item() == 0
    for wrong in (2j, [2], b"fro"):
        with pytest.raises(TypeError, match=r"^norm: p must be a number or 'fro'"):
            x.norm(wrong)
    for wrong in ("nuc", "x"):
        with pytest.raises(st.ArgumentError, match=rf"^norm: p is '{wrong}', wanted a number or 'fro'"):
            x.norm(wrong)
    with pytest.raises(st.DTypeError, match=r"^norm: dtype is int64, wanted a floating or complex dtype"):
        x.norm(dtype=st.int64)


@pytest.mark.parametrize("p", ORDERS)
def test_outputs_of_norms(p):
    x = fresh(moderate("float32", (4, 4), 1), "float32")
    for dim in (0, 1):
        for part in (lambda y: y[1], lambda y: y[:, 2], lambda y: y.view(-1)[3:7]):
            y = x.clone()
            assert bits(y.norm(p, dim, out=part(y))) == bits(x.norm(p, dim))
    for wrong, error in ((st.full((3,), 7.0), st.ShapeError), (st.full((4,), 7), st.DTypeError)):
        with pytest.raises(error, match=r"^norm: "):
            x.norm(p, 0, out=wrong)
        assert (wrong == 7).all().item()


@pytest.mark.parametrize("p", [1, 2, 3, INF])
def test_the_norm_of_complex_numbers_in_a_real_dtype(p):
    """PyTorch refuses it. The norm of 3+4j is 5 in any dtype, never 3."""
    x = st.tensor([3 + 4j])
    try:
        got = x.norm(p, dtype=st.float64)
    except st.DTypeError:
        return
    assert got.item() == pytest.approx(5)


@pytest.mark.parametrize("name", INTS)
def test_norms_of_integers(name):
    """PyTorch refuses integers; here they are cast to the default float, so that no magnitude overflows."""
    low, high = int(np.iinfo(name).min), int(np.iinfo(name).max)
    x = st.tensor([low, high], dtype=name)
    assert x.norm(INF).item() == pytest.approx(max(-low, high), rel=1e-7)
    assert x.norm(1).item() == pytest.approx(high - low, rel=1e-7)
    assert st.tensor([3, 4], dtype=name).norm().item() == 5 and st.tensor([3, 4], dtype=name).norm(0).item() == 2


def test_dist():
    x, y = st.tensor([1.0, 2.0]), st.tensor([[4.0], [6.0]])
    difference = np.array([[-3, -2], [-5, -4]], dtype=float)
    for p in ORDERS:
        assert x.dist(y, p).item() == (x - y).norm(p).item() == st.dist(x, y, p=p).item()
    assert x.dist(y).item() == pytest.approx(np.linalg.norm(difference), rel=1e-6)
    assert st.dist(x, st.tensor([1.0, 6.0]), 0).item() == 1 and x.dist(st.tensor([1.0, 6.0]), INF).item() == 4
    assert st.tensor([1, 2]).dist(st.tensor([1.5, 6])).item() == pytest.approx(math.sqrt(16.25))
    assert st.tensor([3 + 4j]).dist(st.tensor([0.0])).item() == 5 and x.dist(x).item() == 0
    assert st.zeros(0).dist(st.zeros(0)).item() == 0
    assert x.double().dist(x).dtype is st.float64 and x.half().dist(x.half()).dtype is st.float16
    assert st.tensor([1, 2], dtype=st.uint64).dist(st.tensor([4, -2])).item() == 5
    with pytest.raises(st.ShapeError, match=r"^dist: shapes 2 and 3 do not broadcast"):
        x.dist(st.ones(3))
    with pytest.raises(st.ArgumentError, match=r"^dist: p is 'a', wanted a number or 'fro'"):
        x.dist(y, "a")
    with pytest.raises(TypeError, match=r"^dist: other must be a Tensor"):
        x.dist(1.0)


@pytest.mark.parametrize("name", INTS)
def test_the_distance_of_integers(name):
    """PyTorch refuses integers; here the difference is that of the numbers, whichever is larger."""
    low, high = int(np.iinfo(name).min), int(np.iinfo(name).max)
    for a, b in ((1, 2), (2, 1), (low, high), (high, low)):
        x, y = st.tensor([a], dtype=name), st.tensor([b], dtype=name)
        assert x.dist(y).item() == pytest.approx(abs(a - b), rel=1e-6), (a, b)


# logsumexp


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([INF, 1.0], INF),
        ([-INF, 1.0], 1.0),
        ([-INF, -INF], -INF),
        ([INF, -INF], INF),
        ([INF, INF], INF),
        ([NAN, 1.0], NAN),
        ([NAN, INF], NAN),
        ([NAN, -INF], NAN),
        ([1000.0, 1000.0], 1000 + math.log(2)),
        ([-1000.0, -1000.0], -1000 + math.log(2)),
        ([1000.0, -1000.0], 1000.0),
        ([0.0], 0.0),
        ([], -INF),
    ],
)
@pytest.mark.parametrize("name", FLOATS)
def test_logsumexp_of_special_values(name, values, wanted):
    x = st.tensor(values, dtype=name)
    rounded = to_values(to_memory(np.float64(wanted), name), name).item()
    rel = 2e-7 if name == "float32" else 1e-15
    for dim in (0, None, -1):
        got = x.logsumexp(dim).item()
        assert same(got, rounded) or math.isclose(got, rounded, rel_tol=rel)
    for n in (12, 40, 3000):  # among terms that do not change the result
        for at in (0, n // 2, n - len(values)):
            long = st.full((n,), -INF, dtype=name)
            long[at : at + len(values)] = x
            got = long.logsumexp(0).item()
            assert same(got, rounded) or math.isclose(got, rounded, rel_tol=rel)
            columns = long.view(n, 1).expand(n, 21).contiguous()
            assert all(same(column, got) for column in columns.logsumexp(0).tolist())


@pytest.mark.parametrize("name", [*FLOATS, "int64", "uint8"])
@pytest.mark.parametrize("n", [1, 31, 32, 33, 1023, 1025, 5000, 131073])
def test_logsumexp_accuracy(name, n):
    random = np.random.default_rng(n)
    for scale in (1, 30, 0.01):
        values = random.standard_normal(n) * scale
        x = fresh(to_memory(np.abs(np.round(values)) if name in INTS else values, name), name)
        assert_near(x.logsumexp(0), of_logsumexp(values_of(x), name, None, False), scale)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("n", [1, 2, 5, 10, 17, 31, 32, 33])
def test_logsumexp_of_few_terms(name, n):
    """Adjacent outputs have the same bits as each computed alone."""
    values = np.random.default_rng(n).standard_normal((2 * n, 37)) * 9
    values[0, ::5], values[-1, ::7] = -INF, INF
    x = fresh(to_memory(values, name), name)
    for columns in (x[:n], x[::2], x[:n].t().contiguous().t(), x[:n].flip(0)):
        found = columns.logsumexp(0)
        for j in range(37):
            assert bits(found[j].clone()) == bits(columns[:, j].clone().logsumexp(0))
    finite = fresh(to_memory(np.clip(values, -99, 99), name), name)
    assert_near(finite.logsumexp(0), of_logsumexp(values_of(finite), name, 0, False), 1)


def test_logsumexp_of_blocks_that_differ():
    """The largest element may come late, or the first block may be far below it: no intermediate overflows."""
    for values in (
        [0.0] * 1024 + [500.0] * 1024,
        [500.0] * 1024 + [0.0] * 1024,
        [-INF] * 1024 + [3.0],
        [-800.0] * 3000,
    ):
        x = np.array(values)
        top = x.max()
        wanted = top + math.log(np.exp(x - top).sum())
        assert st.from_numpy(x).logsumexp(0).item() == pytest.approx(wanted, rel=1e-15)
        assert st.from_numpy(x[::-1]).logsumexp(0).item() == pytest.approx(wanted, rel=1e-15)
        assert st.tensor(values).logsumexp(0).item() == pytest.approx(wanted, rel=2e-7)


@given(hs.lists(hs.floats(-700, 700), min_size=1, max_size=50), hs.floats(-100, 100))
def test_logsumexp_shifts_with_its_terms(values, shift):
    x = st.tensor(values, dtype=st.float64)
    got = x.logsumexp(0).item()
    assert max(values) <= got <= max(values) + math.log(len(values)) + 1e-12
    assert (x + shift).logsumexp(0).item() == pytest.approx(got + shift, rel=1e-12, abs=1e-10)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([complex(INF, 1), 1], complex(INF, 1)),
        ([complex(INF, 1), complex(INF, 2)], complex(INF, 1.5)),
        ([complex(-INF, 1), 1 + 2j], 1 + 2j),
        ([complex(-INF, NAN), 1 + 2j], 1 + 2j),
        ([complex(-INF, INF), complex(INF, 3)], complex(INF, 3)),
        ([complex(-INF, 1), complex(-INF, 2)], complex(-INF, 0)),
        ([complex(NAN, 1), 1], complex(NAN, NAN)),
        ([complex(1, NAN), complex(INF, 1)], complex(NAN, NAN)),
        ([complex(-1000, NAN), 1], complex(NAN, NAN)),
        ([1000 + 1j, 1000 + 1j], 1000 + math.log(2) + 1j),
        ([-1000 + 1j, -1000 + 1j], -1000 + math.log(2) + 1j),
        ([1000 + 4j, -1000 + 1j], 1000 + (4 - 2 * math.pi) * 1j),
        ([], complex(-INF, 0)),
    ],
)
@pytest.mark.parametrize("name", COMPLEX)
def test_logsumexp_of_special_complex_values(name, values, wanted):
    def check(got):
        for number, part in ((got.real, wanted.real), (got.imag, wanted.imag)):
            assert same(number, part) or math.isclose(number, part, rel_tol=1e-6 if name == "complex64" else 1e-14)

    x = st.tensor(values, dtype=name)
    check(x.logsumexp(0).item())
    if len(values) == 2:
        check(st.logaddexp(x[0], x[1]).item())
        check(st.logaddexp(x[1], x[0]).item())
        check(x.logcumsumexp(0)[1].item())
    for n in (40, 3000):
        for at in (0, n // 2, n - len(values)):
            long = st.full((n,), complex(-INF, 7), dtype=name)
            long[at : at + len(values)] = x
            check(long.logsumexp(0).item())
            check(long.view(n, 1).expand(n, 5).contiguous().logsumexp(0)[2].item())


@given(hs.lists(hs.complex_numbers(max_magnitude=700), min_size=1, max_size=50), hs.floats(-100, 100))
def test_complex_logsumexp_shifts_with_its_terms(values, shift):
    x = st.tensor(values, dtype=st.complex128)
    got = x.logsumexp(0).item()
    assert got.real <= max(v.real for v in values) + math.log(len(values)) + 1e-12 and abs(got.imag) <= math.pi
    powers = (x - got).exp().sum().item()  # 1, unless the terms cancel
    lost = (x.real - got.real).exp().sum().item()
    assert abs(powers - 1) <= 1e-10 * lost or math.isinf(lost)
    moved = (x + shift).logsumexp(0).item()
    assert math.isinf(lost) or abs(moved.real - got.real - shift) <= 1e-10 * lost
