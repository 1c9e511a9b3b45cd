"""Arguments of a similar but wrong type, such as a float as a size, are refused with a message that says what was wanted."""

import datetime
import math

import numpy as np
import pytest

import strided as st


@pytest.mark.parametrize(
    "value",
    [
        np.datetime64("2020"),
        np.timedelta64(3, "s"),
        np.str_("ab"),
        np.bytes_(b"ab"),
        np.array(["a", "bc"]),
        np.array([b"ab"]),
        np.array(["2020"], dtype="M8[s]"),
        np.array([object()]),
        np.zeros(2, dtype=[("a", "f4")]),
        np.void(b"ab"),
    ],
    ids=lambda value: f"{type(value).__name__} of {value.dtype}",
)
def test_only_numbers_become_tensors(value):
    with pytest.raises(TypeError, match=r"cannot hold elements of NumPy's dtype"):
        st.tensor(value)


def test_dates_of_python_are_no_tensor():
    with pytest.raises(TypeError, match="a tensor cannot hold date"):
        st.tensor(datetime.date(2020, 1, 1))


def test_bytes_are_numbers():
    assert st.tensor(b"ab").tolist() == [97, 98]
    assert st.tensor(np.array([1, 2], dtype=np.uint8)).tolist() == [1, 2]
    assert st.tensor(np.uint8(7)).item() == 7


def test_an_array_of_rank_0_is_data_and_shared():
    array = np.array(3)
    x = st.LongTensor(array)
    assert x.shape == () and x.item() == 3
    array[...] = 5
    assert x.item() == 5


def test_a_numpy_integer_is_a_size():
    assert st.LongTensor(np.int64(3)).tolist() == [0, 0, 0]
    assert st.Tensor(np.uint8(2), np.int32(1)).shape == (2, 1)


@pytest.mark.parametrize("make", [st.Tensor, st.LongTensor, st.FloatTensor])
@pytest.mark.parametrize("size", [6 / 2, 2.5, 1j, math.nan])
def test_a_float_is_no_size(make, size):
    with pytest.raises(TypeError, match="size must be an int, got"):
        make(size)


@pytest.mark.parametrize("items", [[1.5], [2, None], ["3"], [[2]]])
def test_a_size_holds_ints(items):
    with pytest.raises(TypeError, match="an item of a Size must be an int"):
        st.Size(items)


def test_a_size_is_made_of_any_ints():
    assert st.Size() == () and st.Size([]) == ()
    assert st.Size(np.array([2, 3])) == (2, 3)
    assert all(type(item) is int for item in st.Size(np.array([2, 3])))
    assert st.Size(extent for extent in (4, 5)) == (4, 5)
    with pytest.raises(TypeError):
        st.Size(3)


@pytest.mark.parametrize("keepdim", [5, 1, 0, 1.0, "no", None, np.int64(1), [True]])
def test_keepdim_is_a_bool(keepdim):
    with pytest.raises(TypeError, match=r"keepdim must be a bool \(several dims are dim=\(0, 1\)\)"):
        st.zeros(2, 3).sum(0, keepdim=keepdim)


def test_two_dims_by_position_are_explained():
    with pytest.raises(TypeError, match=r"dim=\(0, 1\)"):
        st.zeros(2, 3).sum(0, 1)


@pytest.mark.parametrize("keepdim", [True, np.True_, np.array(True), st.tensor(True)], ids=repr)
def test_bools_of_other_libraries_are_bools(keepdim):
    assert st.zeros(2, 3).sum(0, keepdim=keepdim).shape == (1, 3)


INTEGERS = [st.uint8, st.int8, st.uint16, st.int16, st.uint32, st.int32, st.uint64, st.int64]


def bounds(dtype):
    info = np.iinfo(dtype.name)
    return int(info.min), int(info.max)


WRITES = {
    "fill_": lambda x, value: x.fill_(value),
    "index": lambda x, value: x.__setitem__(0, value),
    "slice": lambda x, value: x.__setitem__(slice(None), value),
    "list": lambda x, value: x.__setitem__(slice(None), [value] * 2),
    "copy_": lambda x, value: x.copy_([value] * 2),
    "full": lambda x, value: x.copy_(st.full((2,), value, dtype=x.dtype)),
    "tensor": lambda x, value: x.copy_(st.tensor([value, value], dtype=x.dtype)),
    "typed": lambda x, value: x.copy_(getattr(st, x.type().split(".")[1])([value, value])),
    "storage": lambda x, value: (x.storage().__setitem__(0, value), x.storage().__setitem__(1, value)),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_numbers_are_checked_for_range_after_truncation(dtype, write):
    low, high = bounds(dtype)
    fits = [0.9, -0.9, float(high // 2) + 0.0, True, high, low]
    if dtype.itemsize < 8:  # float64 holds these exactly
        fits += [high + 0.9, low - 0.9 if low else -0.5]
    for value in fits:
        x = st.zeros(2, dtype=dtype)
        write(x, value)
        assert x[0].item() == math.trunc(value), value
    beyond = [float(high) * 2, math.inf, -math.inf, high + 1, low - 1]
    if dtype.itemsize < 8:
        beyond += [high + 1.0, low - 1.0]
    for value in beyond:
        x = st.ones(2, dtype=dtype)
        with pytest.raises(OverflowError, match=f"does not fit {dtype.name}"):
            write(x, value)
        assert x.tolist() == [1, 1]
    x = st.ones(2, dtype=dtype)
    with pytest.raises(ValueError, match=f"cannot convert nan to {dtype.name}"):
        write(x, math.nan)
    assert x.tolist() == [1, 1]


def test_tensors_and_arrays_cast_as_documented():
    x = st.zeros(1, dtype=st.uint8)
    x[0] = st.tensor(300.5)
    assert x.item() == 44
    x.copy_(np.array([300.5]))
    assert x.item() == 44


def test_imaginary_parts_do_not_fit_real_numbers():
    with pytest.raises(OverflowError, match=r"fill_: 1j does not fit float32"):
        st.zeros(2).fill_(1j)
    with pytest.raises(OverflowError, match=r"fill_: \(1-2\.5j\) does not fit int64"):
        st.zeros(2, dtype=st.int64).fill_(1 - 2.5j)
    assert st.zeros(1).fill_(2 + 0j).item() == 2


def test_bools_take_any_number():
    assert st.zeros(3, dtype=st.bool).copy_([0.5, math.inf, 0]).tolist() == [True, True, False]


@pytest.mark.parametrize(("word", "torch", "python"), [("float", "float32", "float64"), ("int", "int32", "int64")])
def test_words_for_two_dtypes_are_refused(word, torch, python):
    wanted = f"'{word}' is {torch} in PyTorch and {python} in Python; write '{torch}' or '{python}'"
    for call in (lambda: st.zeros(1, dtype=word), lambda: st.zeros(1).to(word), lambda: st.dtype(word),
                 lambda: st.zeros(1).type(word), lambda: st.zeros(1).view(word)):  # fmt: skip
        with pytest.raises(TypeError, match=wanted):
            call()
    assert st.zeros(1, dtype=f"torch.{word}").dtype == getattr(st, word) == getattr(st, torch)
    assert st.zeros(1, dtype=f"strided.{word}").dtype == getattr(st, torch)


def test_words_for_one_dtype_mean_the_name_of_that_word():
    for word in ("bool", "half", "double", "short", "long", "cfloat", "cdouble", "float16", "uint8"):
        assert st.zeros(1, dtype=word).dtype == getattr(st, word)
    assert st.zeros(1, dtype="complex").dtype == st.complex128


def test_python_types_mean_their_own_width():
    types = {bool: st.bool, int: st.int64, float: st.float64, complex: st.complex128}
    assert {python: st.zeros(1, dtype=python).dtype for python in types} == types


@pytest.mark.parametrize("target", ["tpu", "tpu:0", "mps", "float31"])
def test_unknown_targets_are_named(target):
    with pytest.raises(
        ValueError, match=f"to: target is '{target}', wanted a dtype or a device: 'cpu', 'gpu' or 'gpu:0'"
    ):
        st.zeros(2).to(target)


def test_known_targets():
    x = st.zeros(2)
    assert x.to("cpu") is x and x.to("float64").dtype == st.float64


def test_in_compares_elements():
    x = st.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert 3 in x and 5 not in x and 3.0 in x
    assert st.tensor(4) in x and st.tensor([3, 9]) in x and st.tensor([9, 3]) not in x
    assert np.array([9.0, 4.0]) in x and [1, 9] in x
    assert math.nan not in st.tensor([math.nan])
    with pytest.raises(TypeError):
        "a" in x
