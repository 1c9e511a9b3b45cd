"""`x[key]` and `x[key] = values` with index tensors, masks and lists, compared with NumPy."""

import itertools
import random

import index_cases
import indexing_models as models
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from index_expressions import keys
from strategies import DTYPES, INTS, LAYOUTS, fresh, is_same, laid_out, memory_of, random_memory, values_of

import strided as st
from strided.testing import broadcastable_shapes, shapes, tensors

randoms = hs.randoms(use_true_random=False)


def numpy_of(x):
    """A copy of a tensor's values."""
    return values_of(x).copy()


# Random keys


@settings(max_examples=300)
@given(randoms)
def test_reading_with_any_key(r):
    index_cases.read_case(r).check()


@settings(max_examples=300)
@given(randoms)
def test_writing_with_any_key(r):
    index_cases.write_case(r).check()


@given(randoms)
def test_writing_with_an_index_in_the_same_storage(r):
    index_cases.own_index_case(r).check()


@pytest.mark.parametrize("seed", range(8))
def test_many_random_cases(seed):
    """The fuzzer's cases, without shrinking; `./dev fuzz indexing` runs more. Some are refused, but fewer than are accepted."""
    r = random.Random(seed)
    accepted = sum(index_cases.random_case(r).check() for _ in range(500))
    assert 0 < 500 - accepted < accepted


@settings(max_examples=150)
@given(hs.data(), shapes(max_dims=4))
def test_any_tensor_of_the_testing_strategies(data, shape):
    x = data.draw(tensors(shape=shape))
    key = data.draw(keys(shape, wrong=0))
    a = numpy_of(x)
    try:
        wanted = models.read(a, key.model)
    except IndexError:
        with pytest.raises(IndexError):
            x[key.ours]
        return
    got = x[key.ours]
    assert is_same(values_of(got), wanted)
    y = x.clone()
    values = data.draw(tensors(dtype=x.dtype, shape=data.draw(broadcastable_shapes(wanted.shape))))
    y[key.ours] = values
    assert is_same(values_of(y), models.write(a, key.model, numpy_of(values)))


# Each kind of key, on every dtype and layout

KEYS = {
    "one index": lambda n: np.array([n - 1, 0, -1, 0]),
    "matrix of indices": lambda n: np.array([[0, n - 1], [-n, 0], [0, 0]]),
    "no index": lambda n: np.array([], np.int64),
    "no indices of two dims": lambda n: np.zeros((2, 0), np.int64),
    "one index of two dims": lambda n: np.zeros((1, 1), np.int64),
}


def extents(shape):
    return [(dim, extent) for dim, extent in enumerate(shape) if extent]


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_index_arrays_in_each_dim(name, layout):
    shape = LAYOUTS[layout][0]
    x = laid_out(layout, random_memory(name, (1, shape[1]) if layout == "stride 0" else shape, 1), name)
    a = memory_of(x).copy()
    for dim, extent in extents(shape):
        for kind, make in KEYS.items():
            index = make(extent)
            key = (slice(None),) * dim + (index,)
            wanted = a[key]
            for form in (st.tensor(index), index, index.astype(np.int16)):
                got = x[(*key[:-1], form)]
                assert tuple(got.shape) == wanted.shape, (dim, kind)
                assert memory_of(got).tobytes() == wanted.tobytes(), (dim, kind)
                assert got.is_contiguous()


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "stride 0"])
def test_index_arrays_in_each_dim_are_written(name, layout):
    shape = LAYOUTS[layout][0]
    for dim, extent in extents(shape):
        for kind, make in KEYS.items():
            x = laid_out(layout, random_memory(name, shape, 1), name)
            a = memory_of(x).copy()
            key = (slice(None),) * dim + (make(extent),)
            values = random_memory(name, a[key].shape, 2)
            wanted = models.write(a, key, values)
            x[key] = fresh(values, name)
            assert memory_of(x).tobytes() == wanted.tobytes(), (dim, kind)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_masks_of_every_rank(name, layout):
    shape = LAYOUTS[layout][0]
    x = laid_out(layout, random_memory(name, (1, shape[1]) if layout == "stride 0" else shape, 1), name)
    a = memory_of(x).copy()
    for rank in range(len(shape) + 1):
        for seed, share in itertools.product(range(2), (0.0, 0.5, 1.0)):
            mask = np.random.default_rng(seed).random(shape[:rank]) < share
            wanted = a[mask]
            for form in (st.tensor(mask), st.tensor(mask).to(st.uint8) * 7 if rank else st.tensor(mask), mask):
                got = x[form]
                assert tuple(got.shape) == wanted.shape
                assert memory_of(got).tobytes() == wanted.tobytes()
                assert got.is_contiguous()
            if layout == "stride 0":
                continue
            y = laid_out(layout, a, name)
            values = random_memory(name, wanted.shape, 3)
            y[st.tensor(mask)] = fresh(values, name)
            assert memory_of(y).tobytes() == models.write(a, (mask,), values).tobytes()


@pytest.mark.parametrize("name", INTS)
def test_indices_of_every_integer_dtype(name):
    x = st.arange(200)
    index = st.tensor([3, 0, 127, 3], dtype=getattr(st, name))
    if name == "uint8":  # as a tensor it is a mask, as an array it has indices
        with pytest.raises(IndexError):
            x[index]
    else:
        assert x[index].tolist() == [3, 0, 127, 3]
    assert x[index.numpy()].tolist() == [3, 0, 127, 3]
    if not name.startswith("u"):
        assert x[st.tensor([-1, -100], dtype=getattr(st, name))].tolist() == [199, 100]


@pytest.mark.parametrize("layout", ["step 2", "negative", "column-major", "stride 0", "offset"])
def test_the_layout_of_the_index_does_not_matter(layout):
    index = laid_out(layout, np.arange(37 if layout == "stride 0" else 7 * 37).reshape(-1, 37) % 11 - 5, "int64")
    mask = index > 0
    x = st.arange(33).view(11, 3)
    a = numpy_of(x)
    assert x[index].tolist() == a[values_of(index)].tolist()
    assert x[:, index % 3].tolist() == a[:, values_of(index) % 3].tolist()
    y = st.arange(7 * 37 * 2).view(7, 37, 2)
    assert y[mask].tolist() == numpy_of(y)[values_of(mask)].tolist()


# Where dims of the result are placed

PLACED = [
    (0, slice(None), [1, 2]),
    (slice(None), [0], None, [1]),
    (slice(None), [0, 1], [1, 0]),
    ([0, 1], slice(None), [1, 0]),
    ([0, 1], ..., [1, 0]),
    (slice(None), [0, 1], ..., [1, 0]),
    (slice(None), [0, 1], ..., 0, [1, 0]),
    (slice(None), slice(None), [0, 1], ..., [1, 0]),
    (None, [0, 1], None),
    (..., [[0], [1]], [0, 1]),
    ([[0], [1]], ..., [0, 1]),
    ([0, 1], 0),
    (0, [0, 1]),
    (0, ..., [0, 1]),
    (slice(None), 0, [0, 1]),
    (slice(None), 0, slice(None), [0, 1]),
    (slice(None), [0, 1], slice(None), 0),
    ([0, 1], None, 0),
    (True, [0, 1]),
    ([0, 1], True),
    (True, slice(None), [0, 1]),
    (slice(None), True, [0, 1]),
    (slice(None), True, 0, [0, 1]),
    (True, 0, 1),
    (0, True),
    (None, True, None),
    (..., True),
    (True, ..., True),
    (np.array([True, False]), slice(None), [0, 1]),
    (np.array([True, True]), slice(None), [0, 1]),
    (slice(None), np.array([[True, False, True, False]] * 3), 0),
    (np.array([[True, False, True]] * 2), ..., [0, 1, 2, 3]),
]


@pytest.mark.parametrize("key", PLACED, ids=str)
def test_dims_are_placed_as_in_numpy(key):
    a = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    x = st.tensor(a)
    wanted = a[key]
    as_tensors = tuple(st.tensor(k) if isinstance(k, (list, np.ndarray)) else k for k in key)
    for form in (key, as_tensors):
        got = x[form]
        assert tuple(got.shape) == wanted.shape
        assert got.tolist() == wanted.tolist()
        y = x.clone()
        y[form] = -st.arange(wanted.size).view(wanted.shape)
        b = a.copy()
        b[key] = -np.arange(wanted.size).reshape(wanted.shape)
        assert y.tolist() == b.tolist()


def test_an_ellipsis_without_dims_does_not_separate_indices():
    x = st.arange(24).view(2, 3, 4)
    assert tuple(x[:, [0, 1], ..., [1, 2]].shape) == (2, 2)
    assert tuple(x[[0, 1], ..., [1, 2]].shape) == (2, 3)


# Rank 0, masks of rank 0, empty tensors and empty indices


def test_keys_of_rank_0():
    x = st.tensor(5.0)
    assert x[...].item() == 5 and x[...].shape == () and x[...].data_ptr() == x.data_ptr()
    assert x[()].shape == ()
    assert x[None].tolist() == [5]
    assert x[True].tolist() == [5]
    assert tuple(x[False].shape) == (0,)
    assert x[st.tensor(True)].tolist() == [5]
    assert x[np.array(False)].tolist() == []
    assert x[..., True].tolist() == [5]
    assert x[True, None].tolist() == [[5]]
    assert x[x == 5].tolist() == [5]
    x[...] = 6
    assert x.item() == 6
    x[False] = 7
    assert x.item() == 6
    x[True] = 8
    assert x.item() == 8
    x[x == 8] = st.tensor([9.0])
    assert x.item() == 9
    for key in (0, slice(None), [0], st.tensor([0]), (True, 0), st.tensor([True])):
        with pytest.raises(IndexError):
            x[key]


def test_python_bools_and_masks_of_rank_0():
    x = st.arange(6).view(2, 3)
    for true in (True, st.tensor(True), np.array(True), np.True_):
        assert x[true].tolist() == [[[0, 1, 2], [3, 4, 5]]]
        assert tuple(x[:, true].shape) == (2, 1, 3)
    for false in (False, st.tensor(False), np.array(False), np.False_):
        assert tuple(x[false].shape) == (0, 2, 3)
        assert tuple(x[0, false].shape) == (0, 3)
    x[False] = 9
    assert x.sum().item() == 15
    x[True] = st.zeros(1, 2, 3)
    assert x.sum().item() == 0


@pytest.mark.parametrize("empty", [[], [[]], st.zeros(0, dtype=st.int64), np.zeros((2, 0), int), st.zeros(3, 0).long()])
def test_empty_indices(empty):
    x = st.arange(12).view(3, 4)
    a = numpy_of(x)
    model = np.array(empty, int) if isinstance(empty, list) else np.asarray(empty)
    for at in ((), (slice(None),), (0,)):
        assert tuple(x[(*at, empty)].shape) == a[(*at, model)].shape
        x[(*at, empty)] = 7
        x[(*at, empty)] = st.zeros(a[(*at, model)].shape)
        x[(*at, empty)] = st.zeros(1)
    assert x.tolist() == a.tolist()


def test_empty_masks():
    x = st.zeros(0)
    assert tuple(x[st.zeros(0, dtype=st.bool)].shape) == (0,)
    assert tuple(st.zeros(0, 3)[st.zeros(0, dtype=st.bool)].shape) == (0, 3)
    assert tuple(st.zeros(2, 0)[st.zeros(2, 0, dtype=st.bool)].shape) == (0,)
    assert tuple(st.zeros(2, 0)[st.zeros(2, dtype=st.uint8)].shape) == (0, 0)
    x[st.zeros(0, dtype=st.bool)] = 1
    assert x.tolist() == []


def test_a_tensor_without_elements_has_no_valid_index():
    for x in (st.zeros(0), st.zeros(0, 3), st.zeros(2, 0)[0]):
        with pytest.raises(IndexError):
            x[[0]]
        with pytest.raises(IndexError):
            x[st.tensor([-1])] = 1
    assert tuple(st.zeros(2, 0)[[1, 1, 0]].shape) == (3, 0)
    with pytest.raises(IndexError):
        st.zeros(2, 0)[[2]]


# Bytes: a tensor of uint8 is a mask, an array or list is not


def test_byte_tensors_are_masks_without_a_warning(recwarn):
    x = st.tensor([10.0, 11.0, 12.0])
    mask = st.tensor([0, 255, 1], dtype=st.uint8)
    assert x[mask].tolist() == [11, 12]
    x[mask] = st.tensor([1.0, 2.0])
    assert x.tolist() == [10, 1, 2]
    x[st.tensor([1, 0, 0], dtype=st.uint8)] = -1
    assert x.tolist() == [-1, 1, 2]
    y = st.arange(6).view(2, 3)
    assert y[st.tensor([[1, 0, 1], [0, 2, 0]], dtype=st.uint8)].tolist() == [0, 2, 4]
    assert y[:, mask].tolist() == [[1, 2], [4, 5]]
    assert y[st.tensor(1, dtype=st.uint8)].tolist() == [y.tolist()]
    assert tuple(y[st.tensor(0, dtype=st.uint8)].shape) == (0, 2, 3)
    assert not recwarn.list


def test_byte_arrays_are_indices():
    x = st.tensor([10, 11, 12])
    assert x[np.array([0, 2, 1, 0], np.uint8)].tolist() == [10, 12, 11, 10]
    assert x[[0, 2, 1, 0]].tolist() == [10, 12, 11, 10]


# Views and copies


def test_keys_of_ints_and_slices_give_views():
    x = st.arange(24).view(2, 3, 4)
    for key in (0, (1, -1), (..., 0), (None, slice(None, None, -1)), st.tensor(1), (st.tensor(-1), np.int64(2)), ()):
        y = x[key]
        assert y.storage() is x.storage(), key
        before = y.clone()
        y.add_(1)
        assert x[key].tolist() == (before + 1).tolist()


def test_other_keys_give_copies_in_row_major_order():
    x = st.arange(24).view(2, 3, 4)
    before = x.tolist()
    mask = x > 5
    for key in ([0], [0, 1], True, mask, (0, [0, 1]), (..., [1]), (slice(None), [2, 0]), st.tensor([1]), ([0], 0, 0)):
        y = x[key]
        assert y.storage() is not x.storage(), key
        assert y.is_contiguous(), key
        y.fill_(-1)
        assert x.tolist() == before, key
    assert x.permute(2, 0, 1)[[0, 1]].is_contiguous()
    assert x.permute(2, 0, 1)[:, [0, 1]].is_contiguous()
    assert x.permute(2, 1, 0)[..., [0, 1], [1, 0]].is_contiguous()


# Repeated indices, overlap


def test_of_repeated_indices_the_last_counts():
    x = st.zeros(4)
    x[[1, 2, 1, 1]] = st.tensor([1.0, 2.0, 3.0, 4.0])
    assert x.tolist() == [0, 4, 2, 0]
    x = st.zeros(3, 2)
    x[[0, 0, 2], [1, 1, 0]] = st.tensor([1.0, 2.0, 3.0])
    assert x.tolist() == [[0, 2], [0, 0], [3, 0]]
    column_major = st.tensor([[0, 1], [1, 0]]).t()
    x = st.zeros(2)
    x[column_major] = st.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.tolist() == [4, 3]


def test_the_last_counts_in_large_assignments():
    n = 300_000
    index = st.from_numpy(np.random.default_rng(1).integers(-1000, 1000, n))
    values = st.arange(n)
    for threads in (1, 2, 7):
        before = st.get_num_threads()
        st.set_num_threads(threads)
        try:
            x = st.zeros(1000, dtype=st.int64)
            x[index] = values
            y = st.zeros(1000, 3, dtype=st.int64)
            y[index] = values[:, None] + st.tensor([0, n, 2 * n])
        finally:
            st.set_num_threads(before)
        wanted = np.zeros(1000, np.int64)
        wanted[values_of(index)] = np.arange(n)
        assert values_of(x).tolist() == wanted.tolist()
        assert values_of(y).tolist() == (wanted[:, None] + [0, n, 2 * n]).tolist()


def test_values_that_share_the_storage_of_the_target():
    x = st.arange(6)
    x[[0, 1, 2, 3, 4]] = x[1:]
    assert x.tolist() == [1, 2, 3, 4, 5, 5]
    x = st.arange(6)
    x[[5, 4, 3, 2, 1, 0]] = x
    assert x.tolist() == [5, 4, 3, 2, 1, 0]
    x = st.arange(6)
    x[st.tensor([False, True, True, True, True, True])] = x[:-1]
    assert x.tolist() == [0, 0, 1, 2, 3, 4]
    x = st.arange(9).view(3, 3)
    x[[0, 1, 2]] = x.t()
    assert x.tolist() == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]
    x = st.arange(4)
    x[[0, 1, 2, 3]] = x[2]
    assert x.tolist() == [2, 2, 2, 2]


def test_indices_that_share_the_storage_of_the_target():
    i = st.tensor([1, 2, 0, 3])
    i[i] = 3
    assert i.tolist() == [3, 3, 3, 3]
    i = st.tensor([3, 2, 1, 0])
    i[i] = i
    assert i.tolist() == [0, 1, 2, 3]
    i = st.tensor([2, 0, 1])
    i[i] = 10**12
    assert i.tolist() == [10**12] * 3
    i = st.arange(100_000).flip(0).contiguous()
    i[i] = 10**12
    assert (i == 10**12).all().item()
    m = st.tensor([True, False, True])
    m[m] = False
    assert m.tolist() == [False, False, False]
    m = st.tensor([True, False, True])
    m[m.flip(0)] = st.tensor([False, True])
    assert m.tolist() == [False, False, True]
    b = st.tensor([1, 0, 1], dtype=st.uint8)
    b[b] = 0
    assert b.tolist() == [0, 0, 0]


def test_bits_of_another_dtype_as_index():
    base = st.arange(8)
    x = base.view(st.float64)
    x[base] = st.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    assert x.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]


# Values


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", ["bool", "uint8", "int32", "float16", "bfloat16", "float64", "complex64"])
def test_values_are_cast_as_copy_does(source, target):
    values = fresh(random_memory(source, (6,), 5), source)
    key = st.tensor([5, 0, 3, 2, 4, 1])
    x = st.zeros(6, dtype=target)
    x[key] = values
    wanted = st.zeros(6, dtype=target).copy_(values)
    assert memory_of(x[key]).tobytes() == memory_of(wanted).tobytes()
    y = st.zeros(6, dtype=target)
    y[st.tensor([True] * 6)] = values
    assert memory_of(y).tobytes() == memory_of(wanted).tobytes()
    z = st.zeros(2, 6, dtype=target)
    z[:, key] = values
    assert memory_of(z[1, key]).tobytes() == memory_of(wanted).tobytes()


def test_numbers_are_range_checked():
    mask = st.tensor([True, False, True])
    for key in ([0, 2], mask, (True,), st.tensor([0, -1])):
        x = st.zeros(3, dtype=st.uint8)
        for number in (256, -1, 256.0, 10**30, [256] * 2 if key is mask else 300):
            with pytest.raises(OverflowError):
                x[key] = number
        with pytest.raises(ValueError):
            x[key] = float("nan")
        with pytest.raises(OverflowError):
            x[key] = 1j
        assert x.tolist() == [0, 0, 0]
        x[key] = 255.9
        assert x[key].min().item() == 255
    y = st.zeros(3, dtype=st.bool)
    y[[0, 1]] = 2
    assert y.tolist() == [True, True, False]


@pytest.mark.parametrize("key", [[0, 1], (slice(None), [0, 2, 1]), np.array([True, False, True]), True, (0, [1, 2])])
def test_values_of_every_kind(key):
    a = np.zeros((3, 4), np.float32)
    shape = a[key].shape
    number = np.arange(np.prod(shape)).reshape(shape)
    for value in (number.tolist(), number.astype(np.int16), st.tensor(number), number[..., :1].tolist(), 7, 2.5, True):
        x = st.zeros(3, 4)
        x[key] = value
        b = a.copy()
        b[key] = np.asarray(value)
        assert x.tolist() == b.tolist()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ([0, 1], st.zeros(3)),
        ([0, 1], st.zeros(3, 4)),
        ([0, 1], [1, 2, 3]),
        ([0, 1, 2], st.zeros(2, 3, 4)),
        (st.tensor([True, True, False]), st.zeros(3, 4)),
        (st.tensor([True, True, False]), st.zeros(2, 3)),
        (st.zeros(3, 4, dtype=st.bool), st.zeros(2)),
        ((slice(None), [0, 1]), st.zeros(2, 2)),
        (True, st.zeros(2, 3, 4)),
        ([], st.zeros(2, 4)),
        ([[0, 1]], st.zeros(2, 2, 4)),
        ((0, [0, 1]), st.zeros(0)),
    ],
    ids=str,
)
def test_values_that_do_not_broadcast_are_refused(key, value):
    x = st.arange(12.0).view(3, 4)
    before = x.tolist()
    with pytest.raises(ValueError) as caught:
        x[key] = value
    assert isinstance(caught.value, st.ShapeError) or not isinstance(value, st.Tensor)
    # The message has both shapes, as in "values of shape 3 … 2x4".
    if isinstance(value, st.Tensor):
        assert "x".join(map(str, value.shape)) in str(caught.value)
    assert x.tolist() == before


def test_leading_dims_of_extent_1_are_dropped_from_values():
    x = st.zeros(3, 4)
    x[[0, 2]] = st.ones(1, 1, 2, 4)
    x[:, [1]] = np.full((1, 3, 1), 2)
    assert x.tolist() == [[1, 2, 1, 1], [0, 2, 0, 0], [1, 2, 1, 1]]


def test_an_expanded_target_is_refused():
    x = st.zeros(1, 3).expand(2, 3)
    for key in ([0, 1], (slice(None), [0]), st.tensor([True, False]), True):
        with pytest.raises(ValueError, match="share memory"):
            x[key] = 1
    assert x.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_a_read_only_target_is_refused():
    array = np.arange(4)
    array.flags.writeable = False
    x = st.asarray(array)
    assert x[[1, 2]].tolist() == [1, 2]
    with pytest.raises((ValueError, RuntimeError, BufferError, TypeError), match="read-only"):
        x[[1, 2]] = 5
    assert array.tolist() == [0, 1, 2, 3]


def test_augmented_assignment():
    x = st.arange(4)
    x[[0, 0, 1]] += 10
    assert x.tolist() == [10, 11, 2, 3]
    x[x > 5] -= 5
    assert x.tolist() == [5, 6, 2, 3]
    x[x == 2] *= 2
    assert x.tolist() == [5, 6, 4, 3]


# Refused keys

X = st.arange(24).view(2, 3, 4)

WRONG = {
    "out of range": [[2], (0, [3]), (..., [0, 4]), (slice(None), [-4]), st.tensor([-3]), (0, 0, st.tensor([[0], [9]]))],
    "extremes": [
        st.tensor([2**63 - 1]),
        st.tensor([-(2**63)]),
        st.tensor([2**64 - 1], dtype=st.uint64),
        np.array([2**63], np.uint64),
        [2**63 - 1],
        (slice(None), st.tensor([0, -(2**63)])),
        st.tensor([2**31], dtype=st.uint32),
    ],
    "mask": [
        st.ones(3, dtype=st.bool),
        st.ones(2, 4, dtype=st.bool),
        st.ones(2, 3, 4, 1, dtype=st.bool),
        [True, False, True],
        st.ones(2, 3, 5, dtype=st.uint8),
        (0, st.ones(2, dtype=st.bool)),
        st.ones(1, dtype=st.bool),
        st.ones(0, dtype=st.bool),
    ],
    "not broadcastable": [
        ([0, 1], [0, 1, 2]),
        ([0, 1], slice(None), [0, 1, 2]),
        (st.tensor([True, True]), [0, 1, 2]),
        (False, [0, 1]),
        ([], [0, 1]),
    ],
    "too many": [([0], [0], [0], [0]), (0, 0, 0, [0]), (..., st.ones(2, 3, 4, dtype=st.bool), 0), (0, 0, 0, 0, True)],
    "ellipsis": [(..., [0], ...)],
}


@pytest.mark.parametrize(
    ("kind", "key"), [(kind, key) for kind, all_keys in WRONG.items() for key in all_keys], ids=str
)
def test_wrong_keys_raise_index_errors_and_change_nothing(kind, key):
    x = X.clone()
    for value in (1, st.tensor([1]), [1]):
        with pytest.raises(IndexError):
            x[key] = value
    with pytest.raises(IndexError):
        x[key]
    assert x.tolist() == X.tolist()


@pytest.mark.parametrize(
    "key",
    [st.tensor([0.0]), st.tensor(0.5), np.array([1.0]), [0.5], ["a"], [None], st.tensor([1j]), {0}, [[0, 1], [0]]],
)
def test_keys_that_are_no_indices_are_refused(key):
    x = X.clone()
    with pytest.raises((TypeError, IndexError, ValueError)):
        x[key]
    with pytest.raises((TypeError, IndexError, ValueError)):
        x[key] = 1
    assert x.tolist() == X.tolist()


@pytest.mark.parametrize(
    ("key", "parts"),
    [
        ([0, 7], ("7", "dim 0", "2")),
        ((0, [1, -9]), ("-9", "dim 1", "3")),
        ((..., st.tensor([4])), ("4", "dim 2", "4")),
        ((None, slice(None), [[5, 0]]), ("5", "dim 1", "3")),
        ((0, ..., [0, 99, 100]), ("dim 2", "4")),
        (st.tensor([-(2**63)]), (str(-(2**63)), "dim 0", "2")),
    ],
)
def test_messages_name_the_index_the_dim_and_its_extent(key, parts):
    for act in (lambda: X[key], lambda: X.clone().__setitem__(key, 0)):
        with pytest.raises(IndexError) as caught:
            act()
        for part in parts:
            assert part in str(caught.value)


@pytest.mark.parametrize(
    ("key", "parts"),
    [
        (st.ones(3, dtype=st.bool), ("mask", "3", "2")),
        ((slice(None), st.ones(3, 5, dtype=st.bool)), ("mask", "3x5", "3x4")),
        (([0, 1], [0, 1, 2]), ("broadcast", "2", "3")),
    ],
)
def test_messages_name_the_shapes(key, parts):
    with pytest.raises(IndexError) as caught:
        X[key]
    for part in parts:
        assert part in str(caught.value)


# What users try first


def test_the_first_minute():
    x = st.tensor([[1.0, 5.0], [4.0, 2.0]])
    assert x[x > 3].tolist() == [5, 4]
    assert x[[0, 1]].tolist() == x.tolist()
    assert x[[1, 0]].tolist() == [[4, 2], [1, 5]]
    assert x[[0, 1], [1, 0]].tolist() == [5, 4]
    x[x > 3] = 0
    assert x.tolist() == [[1, 0], [0, 2]]
    x[:, [0]] = st.tensor([[8.0], [9.0]])
    assert x.tolist() == [[8, 0], [9, 2]]
    order = st.tensor([2, 0, 1])
    assert st.eye(3)[order].argmax(1).tolist() == [2, 0, 1]
    assert x[st.tensor(1)].tolist() == [9, 2]
    assert x[st.tensor(1), st.tensor(0)].item() == 9


def test_lists_of_tensors_and_numpy_integers_are_indices():
    x = st.tensor([10, 11, 12])
    assert x[[st.tensor(2), 0]].tolist() == [12, 10]
    assert x[[np.int8(2), np.uint8(0)]].tolist() == [12, 10]
    assert x[[np.True_, False, True]].tolist() == [10, 12]
    assert x[(2, 1, 0),].tolist() == [12, 11, 10]
    assert x[[(0, 1), [2, 2]]].tolist() == [[10, 11], [12, 12]]


def test_rank_9():
    shape = (2, 1, 2, 1, 2, 3, 1, 2, 2)
    a = np.arange(np.prod(shape)).reshape(shape)
    x = st.tensor(a)
    for key in (
        (0, slice(None), [1, 0], ..., [0, 1]),
        (..., np.array([[True, False], [False, True]])),
        ([0, 1], [0, 0], [0, 1], [0, 0], [1, 1], [2, 0], [0, 0], [1, 0], [1, 1]),
        (a % 3 == 0,),
        (slice(None, None, -1), [0], None, 1, ..., [[0], [1]]),
    ):
        assert x[key].tolist() == a[key].tolist()
        y, b = x.clone(), a.copy()
        y[key] = -1
        b[key] = -1
        assert y.tolist() == b.tolist()


@pytest.mark.parametrize("n", [31, 1000, 70_000])
@pytest.mark.parametrize("name", ["uint8", "int16", "float32", "complex64", "complex128"])
def test_long_masks_and_indices(n, name):
    """Lengths around those of vector registers and of the parts of threads."""
    for length in (n - 1, n, n + 1):
        memory = random_memory(name, (length, 3), 2)
        x = fresh(memory, name)
        random = np.random.default_rng(length)
        for share in (0.01, 0.5, 0.99):
            mask = random.random((length, 3)) < share
            assert memory_of(x[st.from_numpy(mask)]).tobytes() == memory[mask].tobytes()
            assert memory_of(x[st.from_numpy(mask[:, 1])]).tobytes() == memory[mask[:, 1]].tobytes()
            y, b = x.clone(), memory.copy()
            values = random_memory(name, (int(mask.sum()),), 3)
            y[st.from_numpy(mask)] = fresh(values, name)
            b[mask] = values
            assert memory_of(y).tobytes() == b.tobytes()
        index = random.integers(-length, length, (2, length))
        assert memory_of(x[st.from_numpy(index)]).tobytes() == memory[index].tobytes()
        assert memory_of(x.t()[:, st.from_numpy(index)]).tobytes() == memory.T[:, index].tobytes()
        assert (
            memory_of(x[st.from_numpy(index), st.tensor([[0], [2]])]).tobytes() == memory[index, [[0], [2]]].tobytes()
        )
        y = x.clone()
        values = random_memory(name, index.shape, 4)
        y[st.from_numpy(index), 1] = fresh(values, name)
        assert memory_of(y).tobytes() == models.write(memory, (index, 1), values).tobytes()


def test_tensors_that_are_larger_than_memory():
    """Expanded tensors may have any number of elements; results that do not fit are refused before any work."""
    n = 2**58
    x, m = st.ones(1).expand(n), st.ones(1, 1).expand(4, n // 4)
    ends = st.tensor([0, -1, n - 1])
    for got in (x[ends], x.take(ends), x[[0, 5, -n]], m[0][[1, 2, 3]], m.take(ends), m[:, [0, n // 4 - 1, 2]][3]):
        assert got.tolist() == [1, 1, 1]
    assert x.gather(0, ends[::2]).tolist() == x.index_select(0, ends[::2]).tolist() == [1, 1]
    assert tuple(m[[]].shape) == (0, n // 4)
    for beyond in ([n], [-n - 1], st.tensor([2**63 - 1])):
        with pytest.raises(IndexError, match=str(n)):
            x[beyond]
    for call in (
        lambda: m[[0, 1, 2]],
        lambda: m[True],
        lambda: m[st.tensor([True, False, True, True])],
        lambda: m.index_select(0, st.tensor([0, 1, 2])),
        lambda: x.index_fill(0, ends[:1], 1),
        lambda: x.scatter(0, ends[:1], 1.0),
        lambda: x.put(ends, st.ones(3)),
        lambda: st.zeros(3, 2**40, 0)[st.zeros(2**40, 0).long()],
    ):
        with pytest.raises((MemoryError, ValueError)):
            call()
