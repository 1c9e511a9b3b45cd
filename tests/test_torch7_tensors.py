"""Torch7 tensors from Python: constructors, sizes, storages, views, copies; compared with NumPy where NumPy has a word for it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import strided as st
from strided import torch7 as torch

TYPES = {
    "Byte": np.uint8,
    "Char": np.int8,
    "Short": np.int16,
    "Int": np.int32,
    "Long": np.int64,
    "Half": np.float16,
    "Float": np.float32,
    "Double": np.float64,
}


def counting(*sizes):
    """A tensor and an array with the numbers from 1."""
    x = torch.range(1, math.prod(sizes)).resize(*sizes)
    return x, np.arange(1.0, math.prod(sizes) + 1).reshape(sizes)


def same(x, array):
    """Whether a tensor has the elements, the sizes and the strides of a view of an array."""
    strides = [stride // array.itemsize for stride in array.strides]
    return x.totable() == array.tolist() and x.size().totable() == list(array.shape) and x.stride().totable() == strides


@pytest.fixture(autouse=True)
def session():
    """A test may change the default type."""
    with torch.Session().activate():
        yield


# Constructors


@pytest.mark.parametrize("name", TYPES)
def test_every_class_makes_tensors_of_its_type(name):
    cls = getattr(torch, f"{name}Tensor")
    for x in (cls(), cls(2, 3), cls([[1, 2], [3, 4]]), cls(torch.LongStorage([2, 3])) if name != "Long" else cls(2)):
        assert type(x) is cls and isinstance(x, torch.Tensor)
        assert x.type() == f"torch.{name}Tensor" and x.elementSize() == np.dtype(TYPES[name]).itemsize
        assert x.numpy().dtype == TYPES[name]
    assert cls(3).storage().type() == f"torch.{name}Storage"


def test_sizes_may_be_many():
    assert torch.Tensor(*[1] * 12).dim() == 12
    assert torch.Tensor(torch.LongStorage([4, 5, 6, 2, 7, 3])).size().totable() == [4, 5, 6, 2, 7, 3]


def test_a_tensor_without_elements_has_no_dims_and_no_storage():
    for x in (torch.Tensor(), torch.Tensor([]), torch.Tensor(0), torch.Tensor(0, 3)):
        assert (x.dim(), x.nElement(), x.storage(), x.size().totable(), len(x)) == (0, 0, None, [], 0)
    empty = torch.DoubleStorage()
    assert torch.Tensor(empty).storage() == empty


def test_a_long_storage_is_sizes_except_for_long_tensors():
    sizes = torch.LongStorage([2, 3])
    assert torch.FloatTensor(sizes).size().totable() == [2, 3]
    assert torch.LongTensor(sizes).totable() == [2, 3] and torch.LongTensor(sizes).storage() == sizes


def test_strides_may_be_given_and_negative_ones_are_computed():
    x = torch.Tensor(torch.LongStorage([4]), torch.LongStorage([0])).zero()
    x[1] = 1
    assert x.totable() == [1, 1, 1, 1] and x.storage().size() == 1
    y = torch.Tensor(torch.LongStorage([2, 3]), torch.LongStorage([-1, -1]))
    assert y.stride().totable() == [3, 1]


def test_a_tensor_shares_the_storage_it_is_made_of():
    s = torch.Storage(10).fill(1)
    x = torch.Tensor(s, 1, torch.LongStorage([2, 5]))
    x.zero()
    assert s.totable() == [0] * 10
    s[6] = 7
    assert x[2, 1] == 7
    y = torch.Tensor(x)
    y[1, 1] = 5
    assert x[1][1] == 5 and y is not x and y.storage() == x.storage()


def test_the_default_type_holds_where_tensor_was_imported_by_name():
    from strided.torch7 import Storage, Tensor

    assert type(Tensor(2)) is torch.DoubleTensor
    torch.setdefaulttensortype("torch.FloatTensor")
    assert type(Tensor(2)) is torch.FloatTensor and type(Storage(2)) is torch.FloatStorage
    assert torch.getdefaulttensortype() == "torch.FloatTensor"
    assert torch.DoubleTensor(2).real().type() == "torch.FloatTensor"
    with pytest.raises(torch.TorchError, match=r"<torch\.NoTensor> is not a string describing a torch object"):
        torch.setdefaulttensortype("torch.NoTensor")
    assert torch.getdefaulttensortype() == "torch.FloatTensor"


def test_each_session_has_its_default_type():
    with torch.Session().activate():
        torch.setdefaulttensortype("torch.IntTensor")
        assert torch.Tensor().type() == "torch.IntTensor"
    assert torch.Tensor().type() == "torch.DoubleTensor"


@pytest.mark.parametrize("name", ["Byte", "Char", "Short", "Int", "Long"])
@pytest.mark.parametrize("value", [300, -1, 2.9, -2.9, 70000, 3e9, 2.0**40])
def test_numbers_wrap_as_a_cast_from_float64(name, value):
    cls = getattr(torch, f"{name}Tensor")
    expected = st.tensor([float(value)], dtype=st.float64).to(cls([0]).strided().dtype).tolist()
    x = cls([0, 0])
    x[1] = value
    assert cls([value]).totable() == expected == [x[1]] == [cls(1).fill(value)[1]]
    storage = getattr(torch, f"{name}Storage")
    assert storage([value]).totable() == expected == [storage(1).fill(value)[1]]


def test_longs_are_exact():
    assert torch.LongTensor([2**62 + 1]).totable() == [2**62 + 1]
    x = torch.LongTensor(1)
    x[1] = 2**53 + 1
    assert x[1] == 2**53 + 1


def test_lists_must_be_regular():
    for table, text in (
        ([[1, 2], 3], "invalid tensor definition"),
        ([[1, 2], [3]], "invalid tensor sizes"),
        ([1, "a"], r"invalid element \(not a number\)"),
        ([[]], r"invalid element \(not a number\)"),
        ([1, None], r"invalid element \(not a number\)"),
        ([[[1]], [2]], "invalid tensor definition"),
        ([[[1]], [[2], [3]]], "invalid tensor sizes"),
        ([1, True], r"invalid element \(not a number\)"),
    ):
        with pytest.raises(torch.TorchError, match=text):
            torch.Tensor(table)


def test_arrays_are_copied():
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    x = torch.FloatTensor(array)
    array[0, 0] = 9
    assert x.totable() == [[0, 1, 2], [3, 4, 5]] and x.type() == "torch.FloatTensor"


# Sizes and views against NumPy


def views_of(x, array, steps):
    """Applies view operations to both."""
    for step, first, second, third in steps:
        rank = x.dim()
        d = first % rank
        extent = array.shape[d]
        if step == "narrow":
            start = second % extent
            length = 1 + third % (extent - start)
            x = x.narrow(d + 1, start + 1, length)
            array = array[(slice(None),) * d + (slice(start, start + length),)]
        elif step == "select" and rank > 1:
            x, array = x.select(d + 1, second % extent + 1), array[(slice(None),) * d + (second % extent,)]
        elif step == "transpose":
            x, array = x.transpose(d + 1, second % rank + 1), np.swapaxes(array, d, second % rank)
        elif step == "unfold" and rank < 5:
            size = 1 + second % extent
            x = x.unfold(d + 1, size, 1 + third % 3)
            windows = np.lib.stride_tricks.sliding_window_view(array, size, axis=d, writeable=True)
            array = windows[(slice(None),) * d + (slice(None, None, 1 + third % 3),)]
        elif step == "index":
            index = second % extent + 1
            lead = [[]] * d
            x, array = x[[*lead, [index, index]]], array[(slice(None),) * d + (slice(index - 1, index),)]
        elif step == "sub":
            start = second % array.shape[0]
            x, array = x.sub(start + 1, -1), array[start:]
    return x, array


STEPS = some.lists(
    some.tuples(
        some.sampled_from(["narrow", "select", "transpose", "unfold", "index", "sub"]),
        *[some.integers(0, 20)] * 3,
    ),
    max_size=6,
)


@given(some.lists(some.integers(1, 4), min_size=1, max_size=4), STEPS)
def test_views_are_those_of_numpy(sizes, steps):
    base, array = counting(*sizes)
    x, view = views_of(base, array, steps)
    assert x.totable() == view.tolist() and x.size().totable() == list(view.shape)
    assert x.storage() == base.storage()
    # Strides of dims of size 1 have no meaning.
    strides = [stride // 8 for stride in view.strides]
    assert [s for s, n in zip(x.stride().totable(), view.shape, strict=True) if n > 1] == [
        s for s, n in zip(strides, view.shape, strict=True) if n > 1
    ]
    assert x.storage()[x.storageOffset()] == view.flat[0]
    assert x.isContiguous() == view.flags.c_contiguous
    clone = x.clone()
    assert clone.isContiguous() and clone.totable() == view.tolist()
    assert clone.storage() != base.storage() and clone.storage().size() == view.size


@given(some.lists(some.integers(1, 4), min_size=1, max_size=4), STEPS)
def test_an_element_lies_where_offset_and_strides_say(sizes, steps):
    x, _ = views_of(*counting(*sizes), steps)
    for index in np.ndindex(*x.size().totable()):
        place = x.storageOffset() + sum(i * x.stride(d + 1) for d, i in enumerate(index))
        position = [i + 1 for i in index]
        assert x.storage()[place] == x[position] == x[tuple(position)] == x[torch.LongStorage(position)]


@given(some.lists(some.integers(1, 4), min_size=1, max_size=3), STEPS, some.integers(0, 100))
def test_writes_through_a_view_reach_the_storage(sizes, steps, seed):
    base, array = counting(*sizes)
    x, view = views_of(base, array, steps)
    if not x.strided().layout.is_injective:
        return
    values = np.random.default_rng(seed).integers(-9, 9, view.shape).astype(float)
    target, mirror = base.clone(), array.copy()
    copied, mirrored = views_of(target, mirror, steps)
    copied.copy(torch.Tensor(values))
    mirrored[...] = values
    assert target.totable() == mirror.tolist()


def test_resize_keeps_the_storage_and_grows_it_when_needed():
    x, _ = counting(3, 4)
    storage = x.storage()
    assert x.resize(2, 2).totable() == [[1, 2], [3, 4]] and storage.size() == 12
    assert x.resize(20) is x and storage.size() == 20 and x.storage() == storage
    y = x.narrow(1, 5, 4)
    assert y.resize(3, 2).storageOffset() == 5
    turned = counting(3, 4)[0].t()
    assert turned.resize(4, 3).stride().totable() == [1, 4]  # nothing changes
    assert turned.resize(12).totable() == list(range(1, 13))


def test_a_view_larger_than_its_storage_makes_the_storage_grow():
    s = torch.DoubleStorage([1, 2, 3])
    assert torch.Tensor(s, 2, 5).nElement() == 5 and s.size() == 6


@given(some.lists(some.integers(1, 5), min_size=1, max_size=4), some.lists(some.integers(1, 3), min_size=0, max_size=2))
def test_repeat_is_tile(sizes, leading):
    x, array = counting(*sizes)
    repeats = [*leading, *[2] * len(sizes)]
    assert x.repeatTensor(*repeats).totable() == np.tile(array, repeats).tolist()
    result = torch.Tensor()
    assert result.repeatTensor(x, torch.LongStorage(repeats)) is result
    assert result.totable() == np.tile(array, repeats).tolist()


def test_split_and_chunk_cover_a_dim():
    x, array = counting(5, 3)
    for parts in (x.split(2), torch.split(x, 2, 1), torch.split([1, 2], x, 2)):
        assert [part.totable() for part in parts] == [array[:2].tolist(), array[2:4].tolist(), array[4:].tolist()]
        assert all(part.storage() == x.storage() for part in parts)
    given_list = ["old"]
    assert torch.split(given_list, x, 4) is given_list and len(given_list) == 2
    assert [part.size(2) for part in x.chunk(2, 2)] == [2, 1]


def test_expand_uses_no_memory_and_writes_reach_the_original():
    x = torch.Tensor([[1], [2]])
    y = x.expand(2, 1000)
    assert y.storage() == x.storage() and y.stride().totable() == [1, 0]
    assert y.fill(5) is y and x.totable() == [[5], [5]]
    assert x.expandAs(torch.Tensor(2, 3)).size().totable() == [2, 3]
    result = torch.Tensor()
    assert result.expand(x, 2, 4) is result and result.storage() == x.storage()


def test_type_conversion_gives_the_same_tensor_or_a_copy():
    x = torch.Tensor([3.14, -3.14])
    assert x.type("torch.DoubleTensor") is x and x.double() is x
    assert x.int().totable() == [3, -3] and x.int().type() == "torch.IntTensor"
    assert x.typeAs(torch.ByteTensor()).type() == "torch.ByteTensor"
    with pytest.raises(torch.TorchError, match="attempt to index a nil value"):
        x.type("torch.NoTensor")


# Copies


@pytest.mark.parametrize("to", TYPES)
@pytest.mark.parametrize("source", TYPES)
def test_copy_casts_and_pairs_elements_by_their_order(source, to):
    x = getattr(torch, f"{source}Tensor")([[1, 2, 3], [100, 5, 6]])
    y = getattr(torch, f"{to}Tensor")(6)
    assert y.copy(x) is y and y.totable() == [1, 2, 3, 100, 5, 6]


def test_copy_needs_as_many_elements():
    x = torch.Tensor(3, 3).zero()
    with pytest.raises(torch.TorchError, match=r"expected tensor \[3 x 3\] and src \[2\] .* got 9 and 2 elements"):
        x.copy(torch.Tensor(2))
    assert x.totable() == np.zeros((3, 3)).tolist()
