"""`gather`, `scatter`, `index_*`, `take`, `put` and their relatives, compared with plain definitions.

`index_cases.FUNCTIONS` has the functions and the forms of each; `indexing_models` the definitions.
"""

import os
import random
import subprocess
import sys

import index_cases
import indexing_models as models
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from random_tensors import ORDERED, SMALL, rounded
from strategies import (
    COMPLEX,
    DTYPES,
    FLOATS,
    INTS,
    LAYOUTS,
    assert_same,
    fresh,
    is_same,
    laid_out,
    memory_of,
    random_memory,
    to_memory,
    values_of,
)

import strided as st

randoms = hs.randoms(use_true_random=False)
FORMS = [(name, form) for name, (_, forms) in index_cases.FUNCTIONS.items() for form in forms]
REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_random_calls(name, form):
    accepted = sum(index_cases.function_case(random.Random(seed), name, form).check() for seed in range(150))
    assert accepted > 60


@settings(max_examples=300)
@given(randoms)
def test_calls_that_hypothesis_chooses(r):
    index_cases.function_case(r).check()


# Every dtype and layout


def values_in(pools, name, shape, seed):
    """Elements of a dtype from the short lists of `random_tensors`, as memory."""
    pool = np.array(pools[name])
    chosen = np.random.default_rng(seed).integers(0, len(pool), shape)
    return to_memory(pool[chosen], name)


def own_shape(layout):
    shape = LAYOUTS[layout][0]
    return (1, shape[1]) if layout == "stride 0" else shape


def case(layout, name, pools=SMALL):
    """A tensor of a layout, its values, and a copy in that layout that may be changed."""
    shape = LAYOUTS[layout][0]
    x = laid_out(layout, values_in(pools, name, own_shape(layout), 1), name)
    return x, values_of(x).copy(), None if layout == "stride 0" else laid_out(layout, memory_of(x), name), shape


def random_indices(shape, extent, seed=0):
    return np.random.default_rng([seed, 3]).integers(0, max(extent, 1), shape)


def dims(shape):
    """Dims along which there is something to index."""
    return [dim for dim in range(max(len(shape), 1)) if not shape or shape[dim]]


def same(got, wanted, name, *context, close=False):
    if close:
        np.testing.assert_allclose(values_of(got), wanted, rtol=4e-7 if name == "complex64" else 1e-15, atol=0)
        assert got.dtype.name == name
    else:
        assert_same(got, rounded(wanted, name), name, " ".join(map(str, context)))


def check_all_forms(function, x, y, args, wanted, name, *context, out=True, close=False, **keywords):
    """Compares function, method, in-place form and `out=` with the expected values."""
    same(getattr(st, function)(x, *args, **keywords), wanted, name, "function", *context, close=close)
    same(getattr(x, function)(*args, **keywords), wanted, name, "method", *context, close=close)
    if out:
        target = st.empty(0, dtype=x.dtype)
        assert getattr(st, function)(x, *args, **keywords, out=target) is target
        same(target, wanted, name, "out", *context, close=close)
    if y is not None:
        assert getattr(y, f"{function}_")(*args, **keywords) is y
        same(y, wanted, name, "in place", *context, close=close)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_reading_in_every_dtype_and_layout(name, layout):
    shape = LAYOUTS[layout][0]
    x = laid_out(layout, random_memory(name, own_shape(layout), 1), name)
    a = memory_of(x).copy()

    def bits(got):
        return memory_of(got).tobytes(), tuple(got.shape)

    def check(function, *args, **keywords):
        wanted = getattr(models, function)(
            a, *(values_of(v) if isinstance(v, st.Tensor) else v for v in args), **keywords
        )
        for got in (getattr(st, function)(x, *args, **keywords), getattr(x, function)(*args, **keywords)):
            assert bits(got) == (wanted.tobytes(), wanted.shape), (function, args)
            assert got.dtype is x.dtype
        out = st.empty(0, dtype=x.dtype)
        assert getattr(st, function)(x, *args, **keywords, out=out) is out
        assert bits(out) == (wanted.tobytes(), wanted.shape), (function, args)

    for dim in dims(shape):
        extent = shape[dim] if shape else 1
        vector = random_indices((5 if shape else 1,), extent)
        check("index_select", dim, st.tensor(vector))
        check("index_select", dim - max(len(shape), 1), st.tensor(vector[:1]))
        wider = (*shape[:dim], 6, *shape[dim + 1 :]) if shape else ()
        index = random_indices(wider, extent)
        check("gather", dim, st.tensor(index))
        check("gather", dim, st.tensor(index)[..., ::2] if shape and shape[-1] > 1 else st.tensor(index))
        if shape:
            check("take_along_dim", st.tensor(index - extent * (index % 2)), dim)
    flat = random_indices((3, 4) if a.size else (0,), a.size)
    check("take", st.tensor(flat - a.size * (flat % 2)))
    check("take_along_dim", st.tensor(flat).view(-1))


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_scatter_and_index_copy_in_every_dtype_and_layout(name, layout):
    shape = LAYOUTS[layout][0]
    for dim in dims(shape):
        extent = shape[dim] if shape else 1
        x, a, y, _ = case(layout, name)
        wide = (*shape[:dim], 2 * extent + 3, *shape[dim + 1 :]) if shape else ()
        index, source = random_indices(wide, extent), values_in(SMALL, name, wide, 2)
        src, values = fresh(source, name), values_of(fresh(source, name))
        i = st.tensor(index)
        check_all_forms("scatter", x, y, (dim, i, src), models.scatter(a, dim, index, values), name, layout, dim)
        x, a, y, _ = case(layout, name)
        check_all_forms("scatter", x, y, (dim, i, True), models.scatter(a, dim, index, True), name, layout, dim)
        x, a, y, _ = case(layout, name)
        check_all_forms(
            "scatter_add", x, y, (dim, i, src), models.scatter_add(a, dim, index, values), name, layout, dim
        )
        x, a, y, _ = case(layout, name)
        vector = random_indices((wide[dim] if shape else 1,), extent)
        i = st.tensor(vector)
        wanted = models.index_copy(a, dim, vector, values)
        check_all_forms("index_copy", x, y, (dim, i, src), wanted, name, layout, dim)
        x, a, y, _ = case(layout, name)
        wanted = models.index_add(a, dim, vector, values)
        check_all_forms("index_add", x, y, (dim, i, src), wanted, name, layout, dim)
        x, a, y, _ = case(layout, name)
        wanted = models.index_fill(a, dim, vector, 1)
        check_all_forms("index_fill", x, y, (dim, i, 1), wanted, name, layout, dim, out=False)


@pytest.mark.parametrize("name", [name for name in DTYPES if name != "bool"])
@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("include_self", [True, False])
def test_reductions_in_every_dtype_and_layout(name, reduce, include_self):
    extreme = reduce in ("amax", "amin")
    if extreme and name in COMPLEX:
        for call in (st.zeros(2, dtype=name).scatter_reduce, st.zeros(2, dtype=name).index_reduce):
            with pytest.raises((TypeError, RuntimeError)):
                call(0, st.tensor([0, 1]), st.zeros(2, dtype=name), reduce)
        return
    pools = ORDERED if extreme else SMALL
    for layout in LAYOUTS:
        shape = LAYOUTS[layout][0]
        for dim in dims(shape):
            extent = shape[dim] if shape else 1
            # Most elements get no value, few get several: sums and products of small numbers are exact.
            wide = (*shape[:dim], max(extent // 2, 1), *shape[dim + 1 :]) if shape else ()
            index, source = random_indices(wide, extent), values_in(pools, name, wide, 2)
            src, values = fresh(source, name), values_of(fresh(source, name))
            keywords = {"include_self": include_self}
            options = {"close": name in COMPLEX and reduce == "mean"}
            x, a, y, _ = case(layout, name, pools)
            wanted = models.scatter_reduce(a, dim, index, values, reduce, **keywords)
            args = (dim, st.tensor(index), src, reduce)
            check_all_forms("scatter_reduce", x, y, args, wanted, name, layout, dim, **keywords, **options)
            if reduce == "sum":
                continue
            x, a, y, _ = case(layout, name, pools)
            vector = random_indices((wide[dim] if shape else 1,), extent)
            wanted = models.index_reduce(a, dim, vector, values, reduce, **keywords)
            args = (dim, st.tensor(vector), src, reduce)
            check_all_forms("index_reduce", x, y, args, wanted, name, layout, dim, **keywords, **options)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("accumulate", [False, True])
def test_put_and_index_put_in_every_dtype_and_layout(name, accumulate):
    for layout in LAYOUTS:
        x, a, y, shape = case(layout, name)
        count = 9 if a.size else 0
        index = random_indices((count,), a.size)
        index -= a.size * (index % 2)
        source = values_in(SMALL, name, (count,), 2)
        src, values = fresh(source, name), values_of(fresh(source, name))
        keywords = {"accumulate": accumulate}
        wanted = models.put(a, index, values, **keywords)
        check_all_forms("put", x, y, (st.tensor(index), src), wanted, name, layout, out=False, **keywords)
        if not shape or not a.size:
            continue
        x, a, y, _ = case(layout, name)
        indices = tuple(random_indices((count,), extent, seed) - extent for seed, extent in enumerate(shape))
        wanted = models.index_put(a, indices, values, **keywords)
        args = (tuple(st.tensor(i) for i in indices), src)
        check_all_forms("index_put", x, y, args, wanted, name, layout, out=False, **keywords)
        x, a, y, _ = case(layout, name)
        wanted = models.index_put(a, indices[:1], np.broadcast_to(values[0], ()), **keywords)
        args = (args[0][:1], src[0])
        check_all_forms("index_put", x, y, args, wanted, name, layout, out=False, **keywords)


@pytest.mark.parametrize("name", INTS)
def test_index_dtypes(name):
    """Any integer dtype, uint8 too: only in `x[...]` and `index_put` it is a mask."""
    index = st.tensor([2, 0, 2], dtype=name)
    x = st.tensor([10.0, 11.0, 12.0])
    src = st.tensor([1.0, 2.0, 4.0])
    assert x.index_select(0, index).tolist() == [12, 10, 12]
    assert x.gather(0, index).tolist() == [12, 10, 12]
    assert x.take(index).tolist() == [12, 10, 12]
    assert x.take_along_dim(index, 0).tolist() == [12, 10, 12]
    assert x.scatter(0, index, src).tolist() == [2, 11, 4]
    assert x.scatter_add(0, index, src).tolist() == [12, 11, 17]
    assert x.scatter_reduce(0, index, src, "amin").tolist() == [2, 11, 1]
    assert x.index_add(0, index, src).tolist() == [12, 11, 17]
    assert x.index_copy(0, index, src).tolist() == [2, 11, 4]
    assert x.index_fill(0, index, 0).tolist() == [0, 11, 0]
    assert x.index_reduce(0, index, src, "prod").tolist() == [20, 11, 48]
    assert x.put(index, src).tolist() == [2, 11, 4]
    if name != "uint8":
        assert x.index_put((index,), src, accumulate=True).tolist() == [12, 11, 17]


@pytest.mark.parametrize("dtype", ["bool", "float32", "float16", "complex64"])
def test_other_dtypes_of_an_index_are_refused(dtype):
    index = st.zeros(2, dtype=dtype)
    x, src = st.zeros(2), st.ones(2)
    for call in CALLS.values():
        with pytest.raises((TypeError, IndexError)):
            call(x, index, src)
    assert x.tolist() == [0, 0]


#: Calls that write or read the vector x by an index of two elements. Those in NEGATIVE count from the end.
CALLS = {
    "gather": lambda x, i, s: x.gather(0, i),
    "index_select": lambda x, i, s: x.index_select(0, i),
    "scatter_": lambda x, i, s: x.scatter_(0, i, s),
    "scatter_ of a number": lambda x, i, s: x.scatter_(0, i, 1.0),
    "scatter_ add": lambda x, i, s: x.scatter_(0, i, s, reduce="add"),
    "scatter_add_": lambda x, i, s: x.scatter_add_(0, i, s),
    "scatter_reduce_": lambda x, i, s: x.scatter_reduce_(0, i, s, "prod"),
    "index_add_": lambda x, i, s: x.index_add_(0, i, s),
    "index_copy_": lambda x, i, s: x.index_copy_(0, i, s),
    "index_fill_": lambda x, i, s: x.index_fill_(0, i, 1.0),
    "index_reduce_": lambda x, i, s: x.index_reduce_(0, i, s, "amax"),
    "take": lambda x, i, s: x.take(i),
    "take_along_dim": lambda x, i, s: x.take_along_dim(i, 0),
    "put_": lambda x, i, s: x.put_(i, s),
    "put_ accumulate": lambda x, i, s: x.put_(i, s, accumulate=True),
}
NEGATIVE = {"take", "take_along_dim", "put_", "put_ accumulate", "index_put_", "x[i]", "x[i] = s"}
MORE_CALLS = CALLS | {
    "index_put_": lambda x, i, s: x.index_put_((i,), s),
    "x[i]": lambda x, i, s: x[i],
    "x[i] = s": lambda x, i, s: x.__setitem__(i, s),
}


@pytest.mark.parametrize("name", MORE_CALLS)
@pytest.mark.parametrize("bad", [2, 3, -1, -2, -3, 2**31, -(2**31), 2**63 - 1, -(2**63), 2**62, -(2**62) - 1])
def test_indices_out_of_range_raise_and_change_nothing(name, bad):
    """Also at the end of a long index, after elements that could have been written."""
    call = MORE_CALLS[name]
    allowed = name in NEGATIVE and -2 <= bad < 0
    for count in (2, 50_000):
        x, s = st.tensor([5.0, 6.0]), st.ones(count)
        index = st.zeros(count, dtype=st.int64)
        index[-1] = bad
        if allowed:
            call(x, index, s)
            continue
        with pytest.raises(IndexError) as caught:
            call(x, index, s)
        assert str(bad) in str(caught.value), caught.value
        assert "2" in str(caught.value)
        assert x.tolist() == [5, 6]
        assert index[-1].item() == bad


@pytest.mark.parametrize("name", ["gather", "index_select", "scatter_", "index_add_"])
def test_messages_name_the_operation_the_dim_and_the_extent(name):
    calls = {
        "gather": lambda x, i: x.gather(1, i.view(1, -1)),
        "index_select": lambda x, i: x.index_select(1, i),
        "scatter_": lambda x, i: x.scatter_(1, i.view(1, -1), 0.0),
        "index_add_": lambda x, i: x.index_add_(1, i, st.zeros(2, 2)),
    }
    with pytest.raises(IndexError) as caught:
        calls[name](st.zeros(2, 5), st.tensor([0, 77]))
    for part in (name.rstrip("_"), "77", "dim 1", "5"):
        assert part in str(caught.value)


@pytest.mark.parametrize("dim", [1, -2, 7, 2**62])
def test_dims_out_of_range_are_refused(dim):
    i, s = st.tensor([0, 1]), st.ones(2)
    x = st.zeros(2)
    for call in (
        lambda: x.gather(dim, i),
        lambda: x.index_select(dim, i),
        lambda: x.scatter_(dim, i, s),
        lambda: x.scatter_add_(dim, i, s),
        lambda: x.scatter_reduce_(dim, i, s, "sum"),
        lambda: x.index_add_(dim, i, s),
        lambda: x.index_copy_(dim, i, s),
        lambda: x.index_fill_(dim, i, 1),
        lambda: x.index_reduce_(dim, i, s, "prod"),
        lambda: x.take_along_dim(i, dim),
        lambda: x.select_scatter(st.tensor(1.0), dim, 0),
        lambda: x.slice_scatter(s, dim),
    ):
        with pytest.raises(IndexError):
            call()
    assert x.tolist() == [0, 0]


WRONG_SHAPES = {
    "index of another rank": (lambda x, i: x.gather(0, i[0]), "index"),
    "index larger than the tensor": (lambda x, i: x.gather(0, st.zeros(2, 4).long()), "index"),
    "index_select by a matrix": (lambda x, i: x.index_select(0, i), "index"),
    "scatter by an index of another rank": (lambda x, i: x.scatter_(0, i[0], st.ones(2, 3)), "index"),
    "scatter of a small src": (lambda x, i: x.scatter_(0, i, st.ones(1, 3)), "src"),
    "scatter of a src of another rank": (lambda x, i: x.scatter_(0, i, st.ones(3)), "src"),
    "scatter by an index larger than the tensor": (lambda x, i: x.scatter_(0, st.zeros(2, 4).long(), 1.0), "index"),
    "scatter_add of a small src": (lambda x, i: x.scatter_add_(1, i, st.ones(2, 2)), "src"),
    "scatter_reduce of a small src": (lambda x, i: x.scatter_reduce_(1, i, st.ones(2, 2), "sum"), "src"),
    "index_add of a small source": (lambda x, i: x.index_add_(0, i[0, :2], st.ones(1, 3)), "source"),
    "index_add by a matrix": (lambda x, i: x.index_add_(0, i, st.ones(2, 3)), "index"),
    "index_copy of a wide source": (lambda x, i: x.index_copy_(0, i[0, :2], st.ones(2, 4)), "source"),
    "index_copy of a source of another rank": (lambda x, i: x.index_copy_(0, i[0, :2], st.ones(2)), "source"),
    "index_reduce of a small source": (lambda x, i: x.index_reduce_(0, i[0, :2], st.ones(1, 3), "prod"), "source"),
    "index_fill by a matrix": (lambda x, i: x.index_fill_(0, i, 1.0), "index"),
    "index_fill of a vector": (lambda x, i: x.index_fill_(0, i[0, :2], st.ones(2)), "value"),
    "put of a small source": (lambda x, i: x.put_(i, st.ones(5)), "source"),
    "take_along_dim of another rank": (lambda x, i: x.take_along_dim(i[0], 0), "indices"),
    "take_along_dim that does not broadcast": (lambda x, i: x.take_along_dim(st.zeros(2, 4).long(), 0), "indices"),
    "index_put of values that do not broadcast": (lambda x, i: x.index_put_((i[0, :2],), st.ones(4)), "values"),
    "select_scatter of a wrong src": (lambda x, i: x.select_scatter(st.ones(2), 0, 0), "src"),
    "slice_scatter of a wrong src": (lambda x, i: x.slice_scatter(st.ones(1, 3), 0, 0, 2), "src"),
    "diagonal_scatter of a wrong src": (lambda x, i: x.diagonal_scatter(st.ones(3)), "src"),
}


@pytest.mark.parametrize("kind", WRONG_SHAPES)
def test_wrong_shapes_are_refused_by_the_name_of_the_argument(kind):
    call, argument = WRONG_SHAPES[kind]
    x = st.arange(6.0).view(2, 3)
    with pytest.raises((ValueError, IndexError)) as caught:
        call(x, st.zeros(2, 3, dtype=st.int64))
    assert argument in str(caught.value)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_unknown_reductions_are_refused():
    x, i, s = st.zeros(2), st.tensor([0, 1]), st.ones(2)
    for call in (
        lambda: x.scatter_(0, i, s, reduce="mean"),
        lambda: x.scatter_reduce_(0, i, s, "add"),
        lambda: x.scatter_reduce_(0, i, s, ""),
        lambda: x.index_reduce_(0, i, s, "sum"),
    ):
        with pytest.raises((ValueError, RuntimeError), match="reduce"):
            call()
    with pytest.raises(TypeError):
        x.scatter_reduce_(0, i, s)
    assert x.tolist() == [0, 0]


@pytest.mark.parametrize("call", ["scatter_", "scatter_add_", "index_copy_", "index_add_", "put_", "index_put_"])
def test_a_source_of_another_dtype_is_refused_or_cast(call):
    """PyTorch refuses it. It must never be read as the wrong dtype."""
    x, i, s = st.zeros(2, dtype=st.float64), st.tensor([0, 1]), st.tensor([1, 2], dtype=st.int16)
    args = {"put_": (i, s), "index_put_": ((i,), s)}.get(call, (0, i, s))
    try:
        getattr(x, call)(*args)
    except (TypeError, RuntimeError):
        assert x.tolist() == [0, 0]
    else:
        assert x.tolist() == [1, 2]


# Empty indices and tensors, rank 0


@pytest.mark.parametrize("name", ["float32", "int8", "complex128"])
def test_empty_indices_change_nothing(name):
    x = st.ones(2, 3, dtype=name)
    none, s = st.zeros(0, dtype=st.int64), st.zeros(0, 3, dtype=name)
    matrix = none.view(0, 3)
    assert tuple(x.index_select(0, none).shape) == (0, 3)
    assert tuple(x.gather(0, matrix).shape) == (0, 3)
    assert tuple(x.take(none).shape) == (0,)
    assert tuple(x.take_along_dim(matrix, 0).shape) == (0, 3)
    assert x.index_copy_(0, none, s) is x
    assert x.index_add_(0, none, s) is x
    assert x.index_fill_(0, none, 5) is x
    assert x.index_reduce_(0, none, s, "prod") is x
    assert x.scatter_(0, matrix, s) is x
    assert x.scatter_(0, matrix, 5) is x
    assert x.scatter_add_(0, matrix, s) is x
    assert x.scatter_reduce_(0, matrix, s, "prod", include_self=False) is x
    assert x.put_(none, s.view(-1)) is x
    assert x.index_put_((none,), s) is x
    assert (x == 1).all().item()


def test_rank_0():
    x = st.tensor(5.0)
    zero = st.tensor(0)
    assert x.index_select(0, st.tensor([0])).shape == ()
    assert x.gather(0, zero).shape == () and x.gather(-1, zero).item() == 5
    assert x.gather(0, st.tensor([0, 0])).tolist() == [5, 5]
    assert x.take(st.tensor([[0, -1]])).tolist() == [[5, 5]]
    assert x.scatter(0, zero, st.tensor(3.0)).item() == 3
    assert x.scatter_add(0, zero, st.tensor(3.0)).item() == 8
    assert x.scatter_reduce(0, zero, st.tensor(3.0), "mean").item() == 4
    assert x.index_add(0, zero, st.tensor(3.0)).item() == 8
    assert x.index_copy(0, zero, st.tensor(3.0)).item() == 3
    assert x.index_fill(0, zero, 2).item() == 2
    assert x.put(zero, st.tensor(3.0)).item() == 3
    for call in (
        lambda: x.gather(0, st.tensor(1)),
        lambda: x.index_fill_(0, st.tensor(-1), 2),
        lambda: x.take(st.tensor(1)),
        lambda: x.put_(st.tensor(-2), st.tensor(1.0)),
        lambda: x.gather(1, zero),
    ):
        with pytest.raises(IndexError):
            call()
    assert x.item() == 5


def test_single_indices_may_have_rank_0():
    x = st.arange(6).view(2, 3)
    one = st.tensor(1)
    assert x.index_select(1, one).tolist() == [[1], [4]]
    assert x.index_fill(1, one, 9).tolist() == [[0, 9, 2], [3, 9, 5]]
    assert x.index_copy(0, one, st.tensor([[7, 8, 9]])).tolist() == [[0, 1, 2], [7, 8, 9]]


# Repeats are combined in row-major order, whatever the number of threads


@pytest.fixture
def threads():
    before = st.get_num_threads()
    yield st.set_num_threads
    st.set_num_threads(before)


def bits_for_threads(threads, call):
    found = []
    for count in (1, 2, 7):
        threads(count)
        found.append(memory_of(call()).tobytes())
    return found


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "float64", "complex64", "int64", "uint8"])
@pytest.mark.parametrize("slots", [1, 13, 40_000])
def test_the_same_bits_for_every_number_of_threads(name, slots, threads):
    n = 100_000
    rng = np.random.default_rng(slots)
    index = st.from_numpy(rng.integers(0, slots, n))
    if name in INTS:
        memory = random_memory(name, (n,), 5)
    elif name in COMPLEX:
        memory = (rng.standard_normal(n) + 1j * rng.standard_normal(n)).astype(name)
    else:
        memory = to_memory(rng.standard_normal(n), name)
    src = fresh(memory, name)
    x = fresh(memory[:slots], name)
    calls = {
        "index_add": lambda: x.index_add(0, index, src, alpha=3),
        "scatter_add": lambda: x.scatter_add(0, index, src),
        "scatter": lambda: x.scatter(0, index, src),
        "scatter add": lambda: x.scatter(0, index, src, reduce="add"),
        "scatter multiply": lambda: x.scatter(0, index, src, reduce="multiply"),
        "scatter_reduce sum": lambda: x.scatter_reduce(0, index, src, "sum"),
        "scatter_reduce prod": lambda: x.scatter_reduce(0, index, src, "prod"),
        "scatter_reduce mean": lambda: x.scatter_reduce(0, index, src, "mean", include_self=False),
        "index_reduce prod": lambda: x.index_reduce(0, index, src, "prod"),
        "index_reduce mean": lambda: x.index_reduce(0, index, src, "mean"),
        "index_copy": lambda: x.index_copy(0, index, src),
        "put": lambda: x.put(index, src),
        "put accumulate": lambda: x.put(index, src, accumulate=True),
        "index_put": lambda: x.index_put((index,), src),
        "index_put accumulate": lambda: x.index_put((index,), src, accumulate=True),
    }
    for what, call in calls.items():
        one, two, seven = bits_for_threads(threads, call)
        assert one == two == seven, what
    if name not in COMPLEX:
        one, two, seven = bits_for_threads(threads, lambda: x.scatter_reduce(0, index, src, "amax"))
        assert one == two == seven
    last = values_of(x).copy()
    last[values_of(index)] = values_of(src)
    assert is_same(values_of(x.scatter(0, index, src)), last)
    assert is_same(values_of(x.index_copy(0, index, src)), last)


@pytest.mark.parametrize("name", ["float32", "float16", "int32"])
@pytest.mark.parametrize("dim", [0, 1])
def test_rows_and_columns_get_the_same_bits_for_every_number_of_threads(name, dim, threads):
    rng = np.random.default_rng(3)
    src = fresh(to_memory(rng.integers(-9, 9, (600, 400)) / (1 if name in INTS else 7), name), name)
    x = src.clone()
    index = st.from_numpy(rng.integers(0, 50, src.size(dim)))
    full = st.from_numpy(rng.integers(0, 50, (600, 400)))
    for call in (
        lambda: x.index_add(dim, index, src),
        lambda: x.index_copy(dim, index, src),
        lambda: x.index_reduce(dim, index, src, "mean"),
        lambda: x.scatter_add(dim, full, src),
        lambda: x.scatter(dim, full, src),
        lambda: x.scatter_reduce(dim, full, src, "prod"),
        lambda: x.t().scatter_add(1 - dim, full.t(), src.t()),
    ):
        one, two, seven = bits_for_threads(threads, call)
        assert one == two == seven


@pytest.mark.parametrize("name", [*INTS, *FLOATS])
def test_large_calls_equal_numpy(name):
    n = 60_000
    rng = np.random.default_rng(1)
    memory = random_memory(name, (n,), 3)
    x = fresh(memory, name)
    index = rng.integers(0, n, n)
    i = st.from_numpy(index)
    assert memory_of(x.gather(0, i)).tobytes() == memory[index].tobytes()
    assert memory_of(x.index_select(0, i)).tobytes() == memory[index].tobytes()
    assert memory_of(x.take(i.view(300, 200))).tobytes() == memory[index].tobytes()
    rows = x.view(300, 200)
    some = rng.integers(0, 200, (300, 200))
    wanted = np.take_along_axis(memory.reshape(300, 200), some, 1)
    assert memory_of(rows.gather(1, st.from_numpy(some))).tobytes() == wanted.tobytes()
    assert memory_of(rows.t().gather(0, st.from_numpy(some).t())).tobytes() == wanted.T.tobytes()
    target = st.zeros(300, 200, dtype=name)
    target.scatter_(1, st.from_numpy(some), rows)
    model = np.zeros((300, 200), memory.dtype)
    for row in range(300):
        model[row, some[row]] = memory.reshape(300, 200)[row]
    assert memory_of(target).tobytes() == model.tobytes()
    if name in INTS:
        summed = np.zeros(n, name)
        with np.errstate(over="ignore"):
            np.add.at(summed, index, memory)
        assert values_of(st.zeros(n, dtype=name).index_add_(0, i, x)).tolist() == summed.tolist()


# Overlap


def test_sources_that_share_the_storage_of_the_target():
    x = st.tensor([1.0, 2.0, 3.0, 4.0])
    x.scatter_(0, st.tensor([3, 2, 1, 0]), x)
    assert x.tolist() == [4, 3, 2, 1]
    x.scatter_add_(0, st.tensor([1, 2, 3]), x[:-1])
    assert x.tolist() == [4, 7, 5, 3]
    x.index_copy_(0, st.tensor([0, 1, 2]), x[1:])
    assert x.tolist() == [7, 5, 3, 3]
    x.index_add_(0, st.tensor([0, 0, 0, 0]), x)
    assert x.tolist() == [25, 5, 3, 3]
    x.put_(st.tensor([0, 1, 2, 3]), x.flip(0))
    assert x.tolist() == [3, 3, 5, 25]
    x.index_put_((st.tensor([1, 2, 3]),), x[:-1])
    assert x.tolist() == [3, 3, 3, 5]
    st.gather(x, 0, st.tensor([3, 0, 0, 0]), out=x)
    assert x.tolist() == [5, 3, 3, 3]
    st.index_select(x, 0, st.tensor([1, 0, 1, 1]), out=x)
    assert x.tolist() == [3, 5, 3, 3]
    y = st.arange(9.0).view(3, 3)
    y.scatter_(0, st.zeros(3, 3, dtype=st.int64), y.t())
    assert y.tolist() == [[2, 5, 8], [3, 4, 5], [6, 7, 8]]


def test_indices_that_share_the_storage_of_the_target():
    i = st.tensor([3, 1, 2, 3])
    assert i.index_fill_(0, i, 5).tolist() == [3, 5, 5, 5]
    i = st.tensor([1, 2, 3, 0])
    assert i.scatter_(0, i, 10**12).tolist() == [10**12] * 4
    i = st.tensor([1, 2, 3, 0])
    assert i.scatter_add_(0, i, i).tolist() == [1, 3, 5, 3]
    i = st.tensor([1, 2, 3, 0])
    assert i.index_add_(0, i, i, alpha=10).tolist() == [1, 12, 23, 30]
    i = st.tensor([1, 2, 3, 0])
    assert i.put_(i.flip(0), i).tolist() == [1, 0, 3, 2]
    i = st.tensor([1, 2, 3, 0])
    assert st.gather(i, 0, i, out=i).tolist() == [2, 3, 0, 1]
    i = st.tensor([1, 2, 3, 0])
    assert i.index_put_((i,), st.tensor(10**12)).tolist() == [10**12] * 4
    i = st.arange(100_000).flip(0).contiguous()
    i.scatter_(0, i, i + 10**12)
    assert i.tolist() == [10**12 + n for n in range(100_000)]


def test_an_expanded_target_is_refused():
    x = st.zeros(1, 3).expand(2, 3)
    i = st.zeros(2, 3, dtype=st.int64)
    for call in (
        lambda: x.scatter_(0, i, 1.0),
        lambda: x.scatter_add_(0, i, st.ones(2, 3)),
        lambda: x.index_fill_(1, i[0], 1.0),
        lambda: x.index_add_(0, i[0, :2], st.ones(2, 3)),
        lambda: x.index_copy_(0, i[0, :2], st.ones(2, 3)),
        lambda: x.put_(i[0], st.ones(3)),
        lambda: x.index_put_((i[0],), st.ones(3)),
        lambda: st.gather(st.ones(2, 3), 0, i, out=x),
        lambda: st.index_select(st.ones(2, 3), 0, i[0, :2], out=x),
    ):
        with pytest.raises(ValueError, match="share memory"):
            call()
    assert x.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_out_of_another_shape_or_dtype():
    x, i = st.arange(3.0), st.tensor([2, 0])
    with pytest.raises(ValueError, match="out"):
        st.gather(x, 0, i, out=st.zeros(3))
    with pytest.raises(ValueError, match="out"):
        st.index_select(x, 0, i, out=st.zeros(2, 1))
    out = st.empty(0)
    assert st.take(x, i, out=out) is out and out.tolist() == [2, 0]
    strided_out = st.zeros(4)[::-2]
    st.take(x, i, out=strided_out)
    assert strided_out.tolist() == [2, 0]


# An index that another thread changes

RACE = """
import faulthandler, sys, threading
faulthandler.enable()
faulthandler.dump_traceback_later(290, exit=True)
sys.setswitchinterval(1e-5)
import numpy as np
import strided as st

n = 40_000
array = np.zeros(n, np.int64)
index = st.from_numpy(array)
wide = array.reshape(200, 200)
matrix = st.from_numpy(wide)
mask_array = np.zeros(n, bool)
mask = st.from_numpy(mask_array)
random = np.random.default_rng(0)
poison = [random.integers(-(2**63), 2**63 - 1, n), random.integers(-9, n + 9, n), np.zeros(n, np.int64), np.full(n, 2**63 - 1)]
masks = [random.random(n) < share for share in (0.0, 0.5, 1.0)]
x, m, s = st.zeros(n), st.zeros(200, 200), st.ones(n)
jobs = [
    lambda: x.gather(0, index),
    lambda: x.index_select(0, index),
    lambda: m.index_select(0, index[:200]),
    lambda: m.index_select(1, index[:200]),
    lambda: m.gather(1, matrix % 200),
    lambda: m.gather(1, matrix),
    lambda: x.scatter_(0, index, s),
    lambda: m.scatter_(0, matrix, 1.0),
    lambda: m.scatter_add_(1, matrix, m),
    lambda: x.scatter_reduce_(0, index, s, "amax"),
    lambda: x.index_add_(0, index, s),
    lambda: m.index_add_(0, index[:200], m.clone()),
    lambda: x.index_copy_(0, index, s),
    lambda: x.index_fill_(0, index, 2.0),
    lambda: x.index_reduce_(0, index, s, "prod"),
    lambda: x.index_put_((index,), s, accumulate=True),
    lambda: x.take(index),
    lambda: x.take_along_dim(index),
    lambda: x.put_(index, s),
    lambda: x[index],
    lambda: x.__setitem__(index, 1.0),
    lambda: x.__setitem__(index, s),
    lambda: m[index[:200], index[200:400]],
    lambda: m.__setitem__((slice(None), index[:200]), 3.0),
    lambda: x[mask],
    lambda: x.__setitem__(mask, 4.0),
    lambda: x.__setitem__(mask, s[: int(mask.sum().item())]),
    lambda: x.masked_select(mask),
    lambda: x.masked_fill_(mask, 1.0),
    lambda: x.masked_scatter_(mask, s),
    lambda: mask.nonzero(),
    lambda: index.nonzero(),
    lambda: st.where(mask),
]
done = threading.Event()
written = 0

def write():
    global written
    while not done.is_set():
        array[...] = poison[written % len(poison)]
        mask_array[...] = masks[written % len(masks)]
        written += 1

def read(first):
    for number in range(first, 1200, 2):
        try:
            jobs[number % len(jobs)]()
        except (IndexError, ValueError, RuntimeError):
            pass

writer = threading.Thread(target=write)
readers = [threading.Thread(target=read, args=(first,)) for first in range(2)]
writer.start()
for reader in readers: reader.start()
for reader in readers: reader.join()
done.set()
writer.join()
assert written > 0
for value in (x, m): assert value.tolist() is not None
print("alive")
"""


@pytest.mark.parametrize("kernels", ["fast", "reference"])
def test_an_index_that_another_thread_changes_never_crashes(kernels):
    variables = {"STRIDED_KERNELS": "reference"} if kernels == "reference" else {}
    done = subprocess.run(
        [sys.executable, "-c", RACE], capture_output=True, text=True, timeout=600, env={**os.environ, **variables}
    )
    assert done.returncode == 0 and done.stdout == "alive\n", (done.returncode, done.stderr[-3000:])


# Copies with a view replaced


@pytest.mark.parametrize("name", DTYPES)
def test_copies_with_a_view_replaced(name):
    for layout in LAYOUTS:
        x, a, _, shape = case(layout, name)
        before = memory_of(x).tobytes()
        if not shape:
            with pytest.raises(IndexError):
                x.select_scatter(x, 0, 0)
            continue
        for dim in range(len(shape)):
            source = values_in(SMALL, name, (*shape[:dim], *shape[dim + 1 :]), 2)
            src = fresh(source, name)
            if shape[dim]:
                check_all_forms(
                    *("select_scatter", x, None, (src, dim, -1)),
                    *(models.select_scatter(a, values_of(src), dim, -1), name, layout, dim),
                    out=False,
                )
            count = len(range(*slice(1, None, 2).indices(shape[dim])))
            src = fresh(values_in(SMALL, name, (*shape[:dim], count, *shape[dim + 1 :]), 3), name)
            wanted = models.slice_scatter(a, values_of(src), dim, 1, None, 2)
            check_all_forms("slice_scatter", x, None, (src, dim, 1, None, 2), wanted, name, layout, dim, out=False)
        for offset in (-1, 0, 2):
            src = fresh(values_in(SMALL, name, np.diagonal(a, offset).shape, 4), name)
            wanted = models.diagonal_scatter(a, values_of(src), offset)
            check_all_forms("diagonal_scatter", x, None, (src, offset), wanted, name, layout, offset, out=False)
        assert memory_of(x).tobytes() == before, layout


@pytest.mark.parametrize("name", DTYPES)
def test_fill_diagonal(name):
    for shape in ((3, 3), (7, 3), (3, 7), (8, 3), (4, 3), (9, 1), (1, 5), (0, 3), (3, 0), (2, 2, 2), (3, 3, 3, 3)):
        for wrap in (False, True):
            for view in (lambda x: x, lambda x: x.flip(0), lambda x: x.transpose(0, 1).contiguous().transpose(0, 1)):
                x = view(fresh(values_in(SMALL, name, shape, 1), name))
                wanted = models.fill_diagonal(values_of(x).copy(), 1, wrap)
                assert x.fill_diagonal_(1, wrap=wrap) is x
                assert_same(x, wanted, name, f"{shape} {wrap}")
    a = np.zeros((10, 3), int)
    np.fill_diagonal(a, 1, wrap=True)
    assert st.zeros(10, 3, dtype=st.int64).fill_diagonal_(1, wrap=True).tolist() == a.tolist()
    for shape in ((), (3,), (2, 2, 3)):
        with pytest.raises(ValueError):
            st.zeros(shape).fill_diagonal_(1)


@pytest.mark.parametrize("indices", [(), (None,), [], [None, None], (None, None)])
@pytest.mark.parametrize("name", ["float32", "int64", "bool", "complex64", "bfloat16"])
def test_index_put_without_an_index_writes_everything(indices, name):
    row = st.tensor([1, 0, 1]).to(name)
    for values in (row, 1, st.ones(2, 3, dtype=name), row.to(st.int8)):
        x = st.ones(2, 3, dtype=name)
        assigned = x.clone()
        assigned[()] = values
        assert x.index_put(indices, values).tolist() == assigned.tolist()
        assert x.clone().index_put_(indices, values).tolist() == assigned.tolist()
        assert x.t().index_put(indices, 1).tolist() == [[1, 1]] * 3
        if name != "bool":
            added = x.index_put(indices, values, accumulate=True)
            assert added.tolist() == (x + (values if isinstance(values, int) else values.to(name))).tolist()
            assert x.clone().index_put_(indices, values, True).tolist() == added.tolist()


def test_index_put_without_an_index_refuses_other_shapes_and_takes_empty_tensors():
    x = st.zeros(2, 3)
    with pytest.raises(st.ShapeError, match="broadcast"):
        x.index_put_((), st.ones(4))
    assert not x.any()
    assert st.zeros(0, 3).index_put((), 1.0).shape == (0, 3)
    assert st.zeros(()).index_put((), 7.0).item() == 7
    assert x.index_put((st.tensor(1),), 2.0).tolist() == [[0, 0, 0], [2, 2, 2]]
