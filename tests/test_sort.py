"""Sorting and selection: against NumPy's stable sort of keys, in every dtype and layout, with the bits of the elements kept."""

import hypothesis.strategies as hs
import numpy as np
import pytest
from hypothesis import given
from strategies import (
    COMPLEX,
    DTYPES,
    FLOATS,
    LAYOUTS,
    fresh,
    laid_out,
    memory_of,
    ordinary,
    random_memory,
    to_values,
    values_of,
)

import strided as st

REAL = [name for name in DTYPES if name not in COMPLEX]
NAN = float("nan")
#: Around the sizes at which another algorithm is used: comparisons, digits, buckets, all threads.
LENGTHS = (1, 2, 3, 16, 767, 768, 769, 1000, 4095, 4097, 16383, 16385, 65535, 65536, 65537, 140_001)


def ranks(values):
    """Integers in the order of real values: NaN is the largest, all NaNs are equal, and so are both zeros."""
    values = np.asarray(values)
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), np.array(np.inf, values.dtype), values) + values.dtype.type(0)
        return np.unique(values, return_inverse=True)[1].reshape(values.shape)
    return np.unique(values, return_inverse=True)[1].reshape(values.shape)


def order(values, axis=-1, descending=False):
    """The indices of a stable sort."""
    values = np.asarray(values)
    keys = ranks(values)
    if values.dtype.kind == "f":  # NaN is above infinity
        keys = np.where(np.isnan(values), keys.max(initial=0) + 1, keys)
    return np.argsort(-keys if descending else keys, axis=axis, kind="stable")


def bits(x):
    return memory_of(x.contiguous()).tobytes()


def check_sorted(x, got, indices, axis, descending):
    """Compares with NumPy; `axis` is that of an array of at least one dim."""
    memory, values = np.atleast_1d(memory_of(x)), np.atleast_1d(values_of(x))
    wanted = order(values, axis, descending)
    assert indices.dtype is st.int64 and indices.shape == x.shape and indices.is_contiguous()
    assert (np.atleast_1d(indices.numpy()) == wanted).all()
    assert got.dtype is x.dtype and got.shape == x.shape and got.is_contiguous()
    assert bits(got) == np.take_along_axis(memory, wanted, axis).tobytes()


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_sort_in_every_dtype_and_layout(name, layout):
    shape = LAYOUTS[layout][0]
    own = (1, shape[1]) if layout == "stride 0" else shape
    for memory in (ordinary(name, own, 1), random_memory(name, own, 2)):
        x = laid_out(layout, memory, name)
        for dim in range(-len(shape), len(shape)) or (0, -1):
            for descending in (False, True):
                axis = dim if shape else 0
                values, indices = x.sort(dim, descending)
                check_sorted(x, values, indices, axis, descending)
                assert (x.argsort(dim, descending).numpy() == indices.numpy()).all()
                assert bits(st.sort(x, dim=dim, descending=descending, stable=True).values) == bits(values)
        assert bits(x.msort()) == bits(x.sort(0).values) == bits(st.msort(x))


def patterns(n):
    """Sequences on which sorts have been slow or wrong."""
    i = np.arange(n)
    random = np.random.default_rng(n)
    return {
        "equal": np.zeros(n, int),
        "sorted": i,
        "reversed": n - i,
        "organ pipe": np.minimum(i, n - i),
        "saw": i % 7,
        "two values": i % 2,
        "random": random.integers(-(2**62), 2**62, n),
        "few": random.integers(0, 5, n),
        "outlier": np.where(i == n // 2, 2**62, random.integers(-1000, 1000, n)),
        "both ends": np.where(i % 3 == 0, -(2**62), 2**62) + i % 5,
    }


@pytest.mark.parametrize("n", LENGTHS)
def test_lengths_and_patterns(n):
    for pattern, numbers in patterns(n).items():
        for dtype in ("int64", "float32", "float64", "int16", "uint8"):
            array = numbers.astype(dtype)
            x = st.from_numpy(array)
            for descending in (False, True):
                wanted = order(array, descending=descending)
                values, indices = x.sort(descending=descending)
                assert (indices.numpy() == wanted).all(), (pattern, dtype)
                assert (values.numpy() == array[wanted]).all(), (pattern, dtype)
            assert (x.msort().numpy() == np.sort(array)).all(), (pattern, dtype)
            ascending = np.argsort(array, kind="stable")
            for k in {1, (n + 1) // 2, n}:
                value, index = x.kthvalue(k)
                assert index.item() == ascending[k - 1], (pattern, dtype, k)
                assert value.item() == array[ascending[k - 1]], dtype
            assert x.median().item() == array[ascending[(n - 1) // 2]], dtype
            k = min(n, 10)
            values, indices = x.topk(k)
            wanted = order(array, descending=True)[:k]
            assert (indices.numpy() == wanted).all(), (pattern, dtype)
            assert (values.numpy() == array[wanted]).all(), (pattern, dtype)


@pytest.mark.parametrize("n", [5, 1000, 70_000, 140_001])
@pytest.mark.parametrize("name", FLOATS)
def test_zeros_and_nans_keep_their_bits(name, n):
    """Any bits at all, of which many are zeros of both signs and NaNs with payloads."""
    random = np.random.default_rng(n)
    memory = random_memory(name, (n,), 3)
    width = memory.dtype.itemsize
    raw = memory.view(f"uint{8 * width}").copy()
    sign = 1 << (8 * width - 1)
    kind = random.integers(0, 4, n)
    raw[kind == 0] = 0
    raw[kind == 1] = sign
    exponent = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF0000000000000}[name]
    raw[kind == 2] |= np.array(exponent | 1, raw.dtype)
    memory = raw.view(memory.dtype)
    x = fresh(memory, name)
    for descending in (False, True):
        wanted = order(to_values(memory, name), descending=descending)
        values, indices = x.sort(descending=descending)
        assert (indices.numpy() == wanted).all()
        assert memory_of(values).tobytes() == memory[wanted].tobytes()
        top, at = x.topk(n // 3 + 1, largest=descending)
        assert (at.numpy() == wanted[: n // 3 + 1]).all()
        assert memory_of(top).tobytes() == memory[wanted[: n // 3 + 1]].tobytes()
        top, at = x.topk(2, largest=descending)
        assert (at.numpy() == wanted[:2]).all() and memory_of(top).tobytes() == memory[wanted[:2]].tobytes()
    ascending = order(to_values(memory, name))
    assert memory_of(x.msort()).tobytes() == memory[ascending].tobytes()
    for k in (1, n // 2 + 1, n):
        value, index = x.kthvalue(k)
        assert index.item() == ascending[k - 1]
        assert memory_of(value).tobytes() == memory[ascending[k - 1]].tobytes()


@given(hs.lists(hs.one_of(hs.floats(width=32), hs.sampled_from([0.0, -0.0, NAN, 1.0])), max_size=30), hs.booleans())
def test_sorting_equals_pythons_stable_sort(numbers, descending):
    def key(i):
        number = np.float32(numbers[i])
        return (1, 0.0) if np.isnan(number) else (0, float(number) + 0.0)

    wanted = sorted(range(len(numbers)), key=key, reverse=descending)
    if descending:  # `reverse` keeps the order of equals, too
        assert wanted == sorted(range(len(numbers)), key=lambda i: (-key(i)[0], -key(i)[1]))
    x = st.tensor(numbers, dtype=st.float32)
    values, indices = x.sort(descending=descending)
    assert indices.tolist() == wanted
    assert bits(values) == bits(x[indices]) if numbers else values.tolist() == []
    for k in range(len(numbers) + 1):
        top = x.topk(k, largest=descending)
        assert top.indices.tolist() == wanted[:k]


@pytest.mark.parametrize("shape", [(300, 700), (3, 70_001), (70_001, 3), (20_000, 8), (1, 200_000)])
def test_every_number_of_threads_gives_the_same_permutation(shape):
    random = np.random.default_rng(1)
    before = st.get_num_threads()
    for dtype in ("float32", "int64", "uint8"):
        array = (random.standard_normal(shape) * 50).astype("int64").astype(dtype)
        x = st.from_numpy(array)
        for dim in (0, 1):
            wanted = order(array, dim)
            for threads in (1, 2, 7):
                st.set_num_threads(threads)
                try:
                    values, indices = x.sort(dim)
                    assert (indices.numpy() == wanted).all(), dtype
                    assert (values.numpy() == np.sort(array, dim)).all(), dtype
                    middle = x.median(dim)
                    at = np.take(wanted, (shape[dim] - 1) // 2, dim)
                    assert (middle.indices.numpy() == at).all(), dtype
                    top = x.topk(min(3, shape[dim]), dim, largest=False)
                    assert (top.indices.numpy() == np.take(wanted, range(min(3, shape[dim])), dim)).all(), dtype
                finally:
                    st.set_num_threads(before)


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_selection_in_every_dtype_and_layout(name, layout):
    shape = LAYOUTS[layout][0]
    own = (1, shape[1]) if layout == "stride 0" else shape
    x = laid_out(layout, ordinary(name, own, 1), name)
    memory, values = np.atleast_1d(memory_of(x)), np.atleast_1d(values_of(x))
    for dim in range(-len(shape), len(shape)) or (0, -1):
        axis = dim if shape else 0
        n = memory.shape[axis]
        if n == 0:
            for call, arguments in ((x.kthvalue, (1, dim)), (x.median, (dim,)), (x.mode, (dim,)), (x.topk, (1, dim))):
                with pytest.raises((ValueError, IndexError)):
                    call(*arguments)
            continue
        wanted = order(values, axis)
        for k in {1, (n + 1) // 2, n}:
            index = np.take(wanted, [k - 1], axis)
            for keepdim in (False, True):
                got = x.kthvalue(k, dim, keepdim)
                shown = index if keepdim or not shape else index.squeeze(axis)
                shown = shown.reshape(()) if not shape else shown
                assert got.indices.tolist() == shown.tolist() and tuple(got.indices.shape) == shown.shape
                assert bits(got.values) == np.take_along_axis(memory, index, axis).tobytes()
            for largest in (False, True):
                part = np.take(order(values, axis, largest), range(k), axis)
                got = x.topk(k, dim, largest)
                assert np.atleast_1d(got.indices.numpy()).tolist() == part.tolist()
                assert bits(got.values) == np.take_along_axis(memory, part, axis).tobytes()


def median_rank(values, ignore_nan):
    nans = int(np.isnan(values).sum()) if values.dtype.kind == "f" else 0
    if ignore_nan:
        return max(len(values) - nans - 1, 0) // 2
    return len(values) - nans if nans else (len(values) - 1) // 2


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("layout", ["dense", "column-major", "negative", "0-d", "rank 9"])
@pytest.mark.parametrize("function", ["median", "nanmedian"])
def test_medians(name, layout, function):
    x = laid_out(layout, ordinary(name, LAYOUTS[layout][0], 4), name)
    memory, values = np.atleast_1d(memory_of(x)), np.atleast_1d(values_of(x))
    flat = values.ravel()
    chosen = order(flat)[median_rank(flat, function == "nanmedian")]
    for got in (getattr(st, function)(x), getattr(x, function)()):
        assert got.dtype is x.dtype and tuple(got.shape) == ()
        assert bits(got) == memory.ravel()[chosen].tobytes()
    for dim in range(x.ndim):
        got = getattr(x, function)(dim)
        lines = np.moveaxis(values, dim, -1).reshape(-1, values.shape[dim])
        wanted = [order(line)[median_rank(line, function == "nanmedian")] for line in lines]
        assert got.indices.flatten().tolist() == wanted
        kept = getattr(st, function)(x, dim, keepdim=True)
        assert kept.values.shape[dim] == 1 and bits(kept.values) == bits(got.values)
        taken = [m[i] for m, i in zip(np.moveaxis(memory, dim, -1).reshape(-1, memory.shape[dim]), wanted, strict=True)]
        assert bits(got.values) == np.array(taken, memory.dtype).tobytes()


def test_medians_of_nothing_and_of_nans():
    assert np.isnan(st.zeros(0).median().item()) and np.isnan(st.zeros(2, 0).nanmedian().item())
    with pytest.raises(ValueError):
        st.zeros(0, dtype=st.int64).median()
    assert tuple(st.zeros(3, 0).median(0).values.shape) == (0,)
    x = st.tensor([NAN, 1.0, NAN])
    assert x.median(0).indices.item() == 0 and x.nanmedian(0).indices.item() == 1
    assert st.tensor([NAN, NAN]).nanmedian(0).indices.item() == 0
    with pytest.raises(TypeError, match="keepdim"):
        x.median(keepdim=True)


@given(hs.lists(hs.integers(0, 5), min_size=1, max_size=40))
def test_mode_is_the_smallest_most_frequent_element_with_its_last_index(numbers):
    wanted = min(sorted(set(numbers)), key=lambda number: -numbers.count(number))
    got = st.tensor(numbers).mode()
    assert got.values.item() == wanted
    assert got.indices.item() == len(numbers) - 1 - numbers[::-1].index(wanted)


@pytest.mark.parametrize("name", REAL)
def test_modes_along_dims(name):
    x = laid_out("negative", ordinary(name, LAYOUTS["negative"][0], 5), name)
    memory, values = memory_of(x), values_of(x)
    for dim in (0, 1):
        got = st.mode(x, dim, keepdim=True)
        lines = np.moveaxis(values, dim, -1)
        for at, line in enumerate(lines):
            keys = np.where(np.isnan(line), np.inf, line) if line.dtype.kind == "f" else line
            groups = [
                np.flatnonzero((keys == key) & (np.isnan(line) == nan))
                if line.dtype.kind == "f"
                else np.flatnonzero(keys == key)
                for key in np.unique(keys)
                for nan in ((False, True) if line.dtype.kind == "f" else (False,))
            ]
            best = max(groups, key=len)
            assert got.indices.flatten()[at].item() == best[-1]
            assert bits(got.values.flatten()[at]) == np.moveaxis(memory, dim, -1)[at][best[-1]].tobytes()
    assert x.mode(0).values.shape == (37,) and st.mode(st.tensor(3)).indices.item() == 0


def test_named_tuples():
    for name in ("sort", "kthvalue", "topk", "median", "nanmedian", "mode"):
        arguments = {"kthvalue": (1,), "topk": (1,), "median": (0,), "nanmedian": (0,)}.get(name, ())
        result = getattr(st.tensor([3.0, 1.0]), name)(*arguments)
        assert type(result) is getattr(st.return_types, name)
        assert result._fields == ("values", "indices")


@pytest.mark.parametrize("call", ["sort", "kthvalue", "topk", "median", "nanmedian", "mode", "msort"])
def test_outputs(call):
    x = st.tensor([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])
    arguments = {"kthvalue": (2,), "topk": (2,), "median": (1,), "nanmedian": (1,)}.get(call, ())
    function = getattr(st, call)
    wanted = function(x, *arguments)
    if call == "msort":
        for out in (st.empty(0), st.empty(2, 3), st.empty(3, 2).t(), x.clone()):
            assert function(x, out=out) is out and out.tolist() == wanted.tolist()
        with pytest.raises(ValueError):
            function(x, out=st.empty(4))
        return
    shape = wanted.values.shape
    for values, indices in (
        (st.empty(0), st.empty(0, dtype=st.int64)),
        (st.empty(shape), st.empty(shape, dtype=st.int64)),
        (st.empty(shape, dtype=st.float64), st.empty(shape, dtype=st.int64)),
    ):
        got = function(x, *arguments, out=(values, indices))
        assert got.values is values and got.indices is indices
        assert values.tolist() == wanted.values.tolist() and indices.tolist() == wanted.indices.tolist()
    first, second = st.full(shape, 7.0), st.full(shape, 7, dtype=st.int64)
    for out in (
        (first, st.full(shape, 7.0)),
        (st.full(shape, 7, dtype=st.int64), second),
        (first, st.full((5, 5), 7, dtype=st.int64)),
        (st.full((5, 5), 7.0), second),
        (first, first),
    ):
        with pytest.raises((ValueError, TypeError)):
            function(x, *arguments, out=out)
        assert all((tensor == 7).all().item() for tensor in out)


def test_an_output_may_be_the_input():
    x = st.tensor([3.0, 1.0, 2.0])
    st.sort(x, out=(x, st.empty(3, dtype=st.int64)))
    assert x.tolist() == [1, 2, 3]
    x = st.arange(6).flip(0).clone()
    st.msort(x[:4], out=x[2:])
    assert x.tolist() == [5, 4, 2, 3, 4, 5]
    i = st.tensor([3, 1, 2])
    st.sort(i, out=(st.empty(3, dtype=st.int64), i))
    assert i.tolist() == [1, 2, 0]


def test_wrong_arguments():
    x = st.tensor([[1.0, 2.0, 3.0]])
    for k in (-1, 4, 2**62):
        with pytest.raises(ValueError, match="k is"):
            x.topk(k)
    for k in (0, -1, 4, -(2**62)):
        with pytest.raises(ValueError, match="k is"):
            x.kthvalue(k)
    assert x.topk(0).values.shape == (1, 0)
    for call in (x.sort, x.argsort, x.median, x.mode):
        with pytest.raises(IndexError, match="dim"):
            call(2)
    for name in COMPLEX:
        z = st.ones(3, dtype=name)
        for call in (z.sort, z.argsort, z.msort, z.median, z.mode, lambda: z.topk(1), lambda: z.kthvalue(1)):  # noqa: B023
            with pytest.raises(TypeError, match="real dtype"):
                call()
    assert x.tolist() == [[1, 2, 3]]


def test_empty_and_rank_0():
    assert st.zeros(0).sort().indices.tolist() == [] and st.zeros(0).msort().tolist() == []
    assert tuple(st.zeros(3, 0, 2).sort(1).values.shape) == (3, 0, 2)
    assert tuple(st.zeros(3, 0, 2).sort(0).indices.shape) == (3, 0, 2)
    assert st.tensor(5.0).sort().values.item() == 5 and st.tensor(5.0).argsort().item() == 0
    assert st.tensor(5).topk(1).values.item() == 5 and st.tensor(5).kthvalue(1).indices.item() == 0
    assert st.tensor(5).median().item() == 5 and st.tensor(True).msort().item() is True


def test_bools_of_any_byte_are_sorted_as_bools():
    x = st.tensor([2, 0, 255, 1, 0], dtype=st.uint8).view(st.bool)
    assert x.sort().indices.tolist() == [1, 4, 0, 2, 3] and x.msort().tolist() == [False, False, True, True, True]
