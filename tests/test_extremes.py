"""Maxima and minima, and their positions: amax, amin, aminmax, max, min, argmax, argmin."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as hs
from reduction_models import DIMS, EXTREMES, PERMUTED, SHAPES, axes_of, bits, finite, own_shape, tensor_of
from strategies import COMPLEX, DTYPES, FLOATS, INTS, fresh, memory_of, ordinary, to_memory, to_values, values_of

import strided as st
from strided import return_types
from strided.testing import shapes

REAL = [name for name in DTYPES if name not in COMPLEX]
PAIRS = {"max": (np.max, np.argmax), "min": (np.min, np.argmin)}
WHERE = {"argmax": np.argmax, "argmin": np.argmin}
NAMES = list(EXTREMES)
INF, NAN = math.inf, math.nan


def assert_is(got, wanted, name, context=""):
    """Checks dtype and values; 0.0 equals -0.0, and all NaNs are equal."""
    values = values_of(got)
    assert got.dtype.name == name and values.shape == np.shape(wanted), (context, got.dtype, values.shape)
    assert ((values == wanted) | ((values != values) & (wanted != wanted))).all(), (context, values, wanted)


def results(op, x, dim, keep=False):
    """All results of a reduction along a dim, or of all elements."""
    found = getattr(x, op)(dim=dim, keepdim=keep)
    return found if isinstance(found, tuple) else (found,)


def cases(layout, name):
    """A tensor with NaN and ties, its values, and the dims that have elements to reduce."""
    x = tensor_of(layout, ordinary(name, own_shape(layout), 1), name)
    values = values_of(x)
    for dims in DIMS[values.ndim]:
        axis = axes_of(values, dims)
        if values.size or not np.zeros(values.shape).sum(axis=axis).size:
            yield x, values, dims, axis


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("layout", SHAPES)
def test_values(layout, name):
    for x, values, dims, axis in cases(layout, name):
        for keep in (False, True):
            low, high = (f(values, axis=axis, keepdims=keep) for f in (np.min, np.max))
            context = f"{dims} {keep}"
            assert_is(x.amax(dims, keep), high, name, context)
            assert_is(st.amin(x, dims, keepdim=keep), low, name, context)
            both = x.aminmax(dim=dims, keepdim=keep)
            assert_is(both.min, low, name, context)
            assert_is(both.max, high, name, context)
            out = st.zeros((*np.shape(high), 2), dtype=name)[..., 1]
            assert x.amax(dims, keep, out=out) is out
            assert_is(out, high, name, context)
    if values.size:
        assert_is(x.max(), values.max(), name)
        assert_is(st.min(x), values.min(), name)


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("layout", SHAPES)
def test_positions(layout, name):
    for x, values, dims, axis in cases(layout, name):
        if isinstance(dims, tuple):
            continue
        for keep in (False, True):
            for op, function in WHERE.items():
                wanted = function(values, axis=axis, keepdims=keep)
                got = getattr(x, op)(dims, keep)
                assert_is(got, wanted, "int64", f"{op} {dims} {keep}")
                out = st.zeros((*np.shape(wanted), 2), dtype=st.int64)[..., 1]
                assert getattr(st, op)(x, axis=dims, keepdims=keep, out=out) is out
                assert bits(out) == bits(got)
            if dims is None:
                continue
            for op, (best, position) in PAIRS.items():
                found = getattr(x, op)(dims, keepdim=keep)
                assert_is(found.values, best(values, axis=axis, keepdims=keep), name, f"{op} {dims} {keep}")
                assert_is(found.indices, position(values, axis=axis, keepdims=keep), "int64", f"{op} {dims} {keep}")


@given(hs.data(), shapes(min_side=1, max_dims=5))
def test_any_dims_of_any_shape(data, shape):
    array = np.random.default_rng(1).integers(-3, 3, shape)
    order = data.draw(hs.permutations(range(len(shape))))
    key = tuple(slice(None, None, data.draw(hs.sampled_from([1, -1, 2]))) for _ in shape)
    array = array.transpose(order)[(*key, ...)]
    x = st.from_numpy(array)
    keep = data.draw(hs.booleans())
    assert x.argmax(keepdim=keep).tolist() == array.argmax(keepdims=keep).tolist()
    assert x.argmin(keepdim=keep).tolist() == array.argmin(keepdims=keep).tolist()
    if shape:
        dim = data.draw(hs.integers(-len(shape), len(shape) - 1))
        assert x.argmin(dim, keep).tolist() == array.argmin(axis=dim, keepdims=keep).tolist()
        dims = tuple(data.draw(hs.sets(hs.integers(0, len(shape) - 1), min_size=1)))
        assert x.amax(dims, keep).tolist() == array.max(axis=dims, keepdims=keep).tolist()
        assert x.aminmax(dim=dims, keepdim=keep).min.tolist() == array.min(axis=dims, keepdims=keep).tolist()


SIZES = (1, 2, 31, 32, 33, 1023, 1024, 1025, 65535, 65536, 65537, 131071, 131072, 131073)


@pytest.mark.parametrize("name", ["bool", "uint8", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("n", SIZES)
def test_the_first_of_ties(name, n):
    """At every position of the largest element and of its first repetition."""
    places = sorted({0, n // 3, n // 2, n - 1, max(n - 33, 0), min(1024, n - 1)})
    for first in places:
        for columns in (1, 3, 20) if n < 2000 else (1,):
            base = st.zeros(n, columns, dtype=name)
            for again in [p for p in places if p >= first]:
                base[again] = 1
            for x, dim in ((base, 0), (base.t(), 1), (base.t().contiguous(), 1)):
                assert x.argmax(dim).tolist() == [first] * columns
                assert (1 - x.to(st.int64)).argmin(dim).tolist() == [first] * columns
                found = x.max(dim)
                assert found.indices.tolist() == [first] * columns and found.values.all().item()
            assert base.argmax().item() == first * columns
        assert st.zeros(n, dtype=name).argmax().item() == st.ones(n, dtype=name).argmin().item() == 0


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("n", [1, 2, 31, 33, 1023, 1025, 70_000])
def test_nan_is_the_largest_and_the_smallest(name, n):
    for first in {0, n // 2, n - 1}:
        x = st.full((n,), INF, dtype=name)
        x[n // 4] = -INF
        x[first] = NAN
        x[n - 1] = NAN
        grid = x.view(n, 1).expand(n, 20).contiguous()
        for op in ("amax", "amin", "max", "min"):
            assert math.isnan(getattr(x, op)().item())
        for op in ("argmax", "argmin"):
            assert getattr(x, op)().item() == getattr(x, op)(0).item() == first
            assert getattr(grid, op)(0).tolist() == [first] * 20
            assert getattr(grid, op)().item() == first * 20
        for op in ("max", "min"):
            found = getattr(grid, op)(0)
            assert np.isnan(values_of(found.values)).all() and found.indices.tolist() == [first] * 20
        assert all(math.isnan(part.item()) for part in x.aminmax())
        assert all(np.isnan(values_of(part)).all() for part in grid.aminmax(dim=0))


def test_nan_as_pytorch_does():
    x = st.tensor([[1.0, NAN], [2.0, 3.0]])
    low, high = x.aminmax(dim=1)
    assert math.isnan(low[0].item()) and math.isnan(high[0].item()) and (low[1].item(), high[1].item()) == (2, 3)
    assert st.tensor([1.0, NAN, 2.0, NAN]).max(0).indices.item() == 1
    assert st.tensor([1.0, NAN, 2.0, NAN]).min(0).indices.item() == 1
    negative = fresh(np.array([0xFFC00000, 0], dtype=np.uint32).view(np.float32), "float32")
    assert math.isnan(negative.amax().item()) and negative.argmax().item() == 0


@pytest.mark.parametrize("name", FLOATS)
def test_infinities(name):
    x = st.tensor([-INF, 5.0, INF, -7.0, INF, -INF], dtype=name)
    assert (x.amax().item(), x.amin().item()) == (INF, -INF)
    assert (x.argmax().item(), x.argmin().item()) == (2, 0)
    for n in (1, 5, 40, 3000):
        assert st.full((n,), -INF, dtype=name).amax().item() == -INF
        assert st.full((n,), INF, dtype=name).amin().item() == INF
        assert st.full((n,), -INF, dtype=name).argmax().item() == 0
        assert st.full((n, 20), INF, dtype=name).argmin(0).tolist() == [0] * 20
        assert st.full((n, 20), -INF, dtype=name).amax(0).tolist() == [-INF] * 20


@pytest.mark.parametrize("name", INTS)
def test_the_limits_of_integers(name):
    low, high = int(np.iinfo(name).min), int(np.iinfo(name).max)
    for n in (1, 33, 1500):
        for value in (low, high):
            x = st.full((n, 17), value, dtype=name)
            assert x.amax().item() == x.amin().item() == value
            assert x.amax(0).tolist() == x.amin(0).tolist() == [value] * 17
            assert x.argmax(0).tolist() == x.argmin(0).tolist() == [0] * 17
    x = st.tensor([low, high, low, high], dtype=name)
    assert (x.argmax().item(), x.argmin().item()) == (1, 0)
    assert [part.item() for part in x.aminmax()] == [low, high]


def test_truth_values():
    """PyTorch has no argmax of bools; False is less than True."""
    x = st.tensor([[False, True], [True, True]])
    assert x.amax(0).tolist() == [True, True] and x.amin(0).tolist() == [False, True]
    assert x.argmax().item() == 1 and x.argmin(1).tolist() == [0, 0]
    assert x.max().item() is True and x.min(0).values.dtype is st.bool


@pytest.mark.parametrize("op", NAMES)
def test_an_empty_reduction_has_no_extreme(op):
    for shape, dim, text in (((0,), None, "0"), ((3, 0), None, "3x0"), ((3, 0), 1, "3x0"), ((0, 2), 0, "0x2")):
        x = st.zeros(shape)
        message = rf"^{op}: cannot reduce zero elements: {op} has no identity \(shape {text}\)$"
        with pytest.raises(st.ShapeError, match=message):
            getattr(x, op)() if dim is None else getattr(x, op)(dim=dim)
    for part in results(op, st.zeros(3, 0), 0) + results(op, st.zeros(2, 0, 0), 1):
        assert part.numel() == 0
    assert all(part.shape == (1, 0) for part in results(op, st.zeros(3, 0), 0, True))
    whole = op.startswith("arg")
    out = st.full((2,), 7, dtype=st.int64 if whole else st.float32)
    if op in ("aminmax", "max", "min"):
        pair = (out, st.full((2,), 7, dtype=st.float32 if op == "aminmax" else st.int64))
        with pytest.raises(st.ShapeError):
            getattr(st.zeros(0, 2), op)(dim=0, out=pair)
        assert pair[1].tolist() == [7, 7]
    else:
        with pytest.raises(st.ShapeError):
            getattr(st.zeros(0, 2), op)(dim=0, out=out)
    assert out.tolist() == [7, 7]


@pytest.mark.parametrize("op", NAMES)
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers_have_no_order(op, name):
    x = st.ones(2, 2, dtype=name)
    for call in (lambda: getattr(x, op)(), lambda: getattr(x, op)(dim=0)):
        with pytest.raises(st.DTypeError, match=f"^{op}: input is {name}, wanted a real dtype"):
            call()


@pytest.mark.parametrize("op", NAMES)
@pytest.mark.parametrize(
    ("dim", "error", "text"),
    [
        (2, IndexError, "dim 2 is outside -2 to 1"),
        (-3, IndexError, "dim -3 is outside -2 to 1"),
        ("a", TypeError, "dim must be"),
        (1.5, TypeError, "dim must be"),
        ((0, 5), (IndexError, TypeError), "dim"),
        ((0, 0), (ValueError, TypeError), "dim"),
    ],
)
def test_wrong_dims(op, dim, error, text):
    with pytest.raises(error, match=f"^{op}: {text}"):
        getattr(st.zeros(2, 3), op)(dim=dim)


def test_one_dim_only():
    """PyTorch takes one dim for these; a tuple is a TypeError."""
    for op in ("max", "min", "argmax", "argmin"):
        for dims in ((0, 1), (0,), ()):
            with pytest.raises(TypeError, match=f"^{op}: dim must be an int"):
                getattr(st.ones(2, 3), op)(dims)


def test_a_tensor_without_dimension():
    x = st.tensor(3.0)
    for op in NAMES:
        for dim in (0, -1):
            for keep in (False, True):
                assert all(part.shape == () for part in results(op, x, dim, keep))
    assert x.argmax().item() == x.max(0).indices.item() == 0 and x.max(-1).values.item() == 3
    with pytest.raises(IndexError, match=r"^max: dim 1"):
        x.max(1)


# Results with names


def test_named_results():
    x = st.tensor([[1, 5], [7, 2]])
    found = x.max(0)
    assert isinstance(found, tuple) and type(found) is return_types.max
    assert found._fields == ("values", "indices") and type(x.min(dim=1)) is return_types.min
    assert found.values is found[0] and found.indices is found[1]
    values, indices = st.max(x, 1)
    assert (values.tolist(), indices.tolist(), indices.dtype) == ([5, 7], [1, 0], st.int64)
    both = st.aminmax(x)
    assert type(both) is return_types.aminmax and (both.min.item(), both.max.item()) == (1, 7)
    assert repr(found).startswith("strided.return_types.max(\n  values=")
    for kept in (x.max(-1, True), x.max(1, keepdims=True), x.max(axis=1, keepdim=True)):
        assert kept.values.tolist() == [[5], [7]] and kept.indices.tolist() == [[1], [0]]


@pytest.mark.parametrize(
    "make",
    [lambda x: x.max(0), lambda x: x.min(0), lambda x: x.aminmax(), lambda x: x.var_mean(), lambda x: x.std_mean(0)],
)
def test_results_can_be_pickled_and_copied(make):
    found = make(st.arange(6.0).view(2, 3))
    for other in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert type(other) is type(found)
        assert [bits(part) for part in other] == [bits(part) for part in found]


def test_out_of_two_results():
    x = st.tensor([[1.0, 5.0], [7.0, 2.0]])
    values, indices = st.zeros(4)[::2], st.zeros(2, dtype=st.int64)
    found = st.max(x, 0, out=(values, indices))
    assert found.values is values and found.indices is indices and type(found) is return_types.max
    assert (values.tolist(), indices.tolist()) == ([7, 5], [1, 0])
    low, high = st.zeros(()), st.zeros((), dtype=st.float64)
    st.aminmax(x, out=(low, high))
    assert (low.item(), high.item()) == (1, 7)
    kept = st.zeros(2, 1), st.zeros(2, 1, dtype=st.int64)
    assert x.min(1, keepdim=True, out=kept).indices.tolist() == [[0], [1]]


@pytest.mark.parametrize("op", ["max", "min"])
def test_wrong_outs_are_untouched(op):
    x = st.tensor([[1.0, 5.0], [7.0, 2.0]])

    def outs(values=(2,), indices=(2,), dtypes=(st.float32, st.int64)):
        return st.full(values, 7, dtype=dtypes[0]), st.full(indices, 7, dtype=dtypes[1])

    for pair, error, text in (
        (outs(values=(3,)), st.ShapeError, r"out\[0\] has shape 3, wanted 2"),
        (outs(indices=(2, 1)), st.ShapeError, r"out\[1\] has shape 2x1, wanted 2"),
        (outs(dtypes=(st.int64, st.int64)), st.DTypeError, "a float32 result cannot be stored into int64"),
        (outs(dtypes=(st.float32, st.bool)), st.DTypeError, "a int64 result cannot be stored into bool"),
    ):
        before = [bits(part) for part in pair]
        with pytest.raises(error, match=f"^{op}: {text}"):
            getattr(x, op)(0, out=pair)
        assert [bits(part) for part in pair] == before
    for wrong in (st.zeros(2), (st.zeros(2),), [*outs()], (st.zeros(2), 1), (*outs(), 1), ()):
        with pytest.raises(TypeError, match=f"^{op}: out must be a tuple of two Tensors"):
            getattr(x, op)(0, out=wrong)
    with pytest.raises(TypeError, match=f"^{op}: out must be a Tensor"):
        getattr(x, op)(out=outs())


@pytest.mark.parametrize("op", ["max", "min"])
def test_outs_may_be_parts_of_the_input(op):
    for part in (lambda x: x[0], lambda x: x[3], lambda x: x[:, 1], lambda x: x.view(-1)[1:5]):
        for dim in (0, 1):
            x = fresh(finite("int64", (4, 4), 2), "int64")
            wanted = getattr(x.clone(), op)(dim)
            values = part(x)
            found = getattr(x, op)(dim, out=(values, st.zeros(4, dtype=st.int64)))
            assert bits(*found) == bits(*wanted)
            x = fresh(finite("int64", (4, 4), 2), "int64")
            found = getattr(x, op)(dim, out=(st.zeros(4, dtype=st.int64), part(x)))
            assert bits(*found) == bits(*wanted)


def test_outs_that_share_memory_are_refused():
    """PyTorch: a ValueError. One result would be written over the other."""
    x = st.tensor([[1.0, 5.0], [7.0, 2.0]])
    memory = st.full((3,), 9.0)
    for op in ("aminmax", "var_mean", "std_mean"):
        for pair in ((memory[:2], memory[:2]), (memory[:2], memory[1:])):
            with pytest.raises(ValueError, match=f"^{op}: "):
                getattr(x, op)(dim=0, out=pair)
            assert memory.tolist() == [9, 9, 9]


# Pairs of tensors


def test_the_larger_of_two():
    x = st.tensor([1.0, 5.0, NAN, -0.5])
    y = st.tensor([3.0, NAN, 1.0, -1.0])
    for op, other in (("max", "maximum"), ("min", "minimum")):
        wanted = bits(getattr(st, other)(x, y))
        assert bits(getattr(x, op)(y)) == bits(getattr(st, op)(x, other=y)) == wanted
        out = st.zeros(4)
        assert getattr(x, op)(y, out=out) is out and bits(out) == wanted
        with pytest.raises(st.ShapeError, match="do not broadcast"):
            getattr(x, op)(st.zeros(3))
    got = st.max(st.tensor([1, 5]), st.tensor([[3.0], [7.0]]))
    assert got.tolist() == [[3, 5], [7, 7]] and got.dtype is st.float32
    for wrong in (3.0, "a", [1.0]):
        with pytest.raises(TypeError, match=r"^max: dim must be an int or a Tensor"):
            x.max(wrong)


@pytest.mark.parametrize("op", ["max", "min"])
def test_pairs_have_no_keepdim(op):
    """PyTorch: a TypeError. There is no dim to keep."""
    with pytest.raises(TypeError, match=f"^{op}"):
        getattr(st.ones(2), op)(st.ones(2), keepdim=True)


# Laws


@pytest.mark.parametrize("name", REAL)
def test_laws(name):
    x = tensor_of(PERMUTED, finite(name, SHAPES[PERMUTED], 3), name)
    values = values_of(x)
    for dim in range(3):
        found = x.max(dim)
        assert bits(found.indices) == bits(x.argmax(dim))
        picked = np.take_along_axis(values, np.expand_dims(found.indices.numpy(), dim), dim).squeeze(dim)
        assert_is(found.values, picked, name)
        assert_is(x.amax(dim), picked, name)
        assert_is(x.aminmax(dim=dim).min, values_of(x.min(dim).values), name)
        assert bits(x.double().neg().argmin(dim)) == bits(x.double().argmax(dim))
    assert_is(x.amax(), to_values(to_memory(values.max(), name), name), name)
    assert values[np.unravel_index(x.argmax().item(), values.shape)] == values.max()


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("op", ["max", "min"])
def test_the_value_is_the_element_at_its_index(op, name):
    """Including the sign of zero: PyTorch returns 0.0 and 0 for [0.0, -0.0], and -0.0 and 0 for [-0.0, 0.0]."""
    for values in ([0.0, -0.0], [-0.0, 0.0], [0.0] * 40 + [-0.0] * 40, [-0.0] * 1500 + [0.0] * 1500):
        x = st.tensor(values, dtype=name)
        found = getattr(x, op)(0)
        assert found.indices.item() == 0
        assert bits(found.values) == bits(x[:1]), values[0]
        columns = getattr(x.view(-1, 1).expand(-1, 20).contiguous(), op)(0)
        assert bits(columns.values[:1]) == bits(x[:1]), values[0]


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 10, 16, 31, 32, 33])
def test_few_terms_of_many_outputs(name, n):
    """Adjacent outputs, for every order of their terms: ties, NaN and zeros of both signs."""
    random = np.random.default_rng(n)
    choice = [0, 1, 1, 2] if name in INTS or name == "bool" else [-INF, -1.5, -0.0, 0.0, 1, 1, INF] + [NAN] * (n < 9)
    for width in (16, 17, 40, 300):
        memory = to_memory(random.choice(choice, (width, 2 * n)), name)
        x = fresh(memory, name)
        for view in (x[:, :n], x[:, ::2], x[:, n:].t().contiguous().t(), x[:, n - 1 :: -1], x[::-1, :n].contiguous()):
            values = values_of(view.contiguous())
            rows = np.arange(width)
            for op, (best, where) in PAIRS.items():
                places = where(values, axis=1)
                found = getattr(view, op)(1)
                assert_is(found.indices, places, "int64", (op, n, width, view.stride()))
                assert_is(found.values, best(values, axis=1), name)
                assert memory_of(found.values).tobytes() == memory_of(view.contiguous())[rows, places].tobytes()
                assert_is(getattr(view.t(), f"arg{op}")(0), places, "int64")


@pytest.mark.parametrize("shape", [(1_000_000, 3), (3, 1_000_000), (200_000, 5)])
@pytest.mark.parametrize("name", ["float32", "int8"])
def test_long_and_wide(shape, name):
    x = fresh(ordinary(name, shape, 1), name)
    values = values_of(x)
    for dim in (0, 1):
        assert_is(x.amax(dim), values.max(axis=dim), name)
        found = x.min(dim)
        assert_is(found.values, values.min(axis=dim), name)
        assert_is(found.indices, values.argmin(axis=dim), "int64")
        assert_is(x.argmax(dim), values.argmax(axis=dim), "int64")
    assert x.argmin().item() == values.argmin()
    assert memory_of(x).shape == shape


def test_positions_are_int64():
    out = st.full((1,), 7.0)
    for call in (lambda: st.zeros(5, 1).argmax(0, out=out), lambda: st.zeros(5, 1).max(0, out=(st.zeros(1), out))):
        with pytest.raises(st.DTypeError, match="int64"):
            call()
    assert out.tolist() == [7.0]
