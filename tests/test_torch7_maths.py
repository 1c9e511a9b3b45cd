"""Rules of Torch7's maths in Python that recordings do not show: all types, memory that overlaps, results, messages."""

import doctest

import numpy as np
import pytest

import strided as st
from strided import torch7 as torch
from strided.torch7 import public, types
from strided.torch7.calls import forms, matching

CLASSES = list(types.CLASSES.values())
WHOLE = [torch.ByteTensor, torch.CharTensor, torch.ShortTensor, torch.IntTensor, torch.LongTensor]
FLOATS = [torch.HalfTensor, torch.FloatTensor, torch.DoubleTensor]
ROWS = [row for module in public.MODULES for row in module.ROWS]


def array(x):
    return x.strided().numpy()


# Names


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_is_a_function_and_a_method_of_every_class(row):
    assert getattr(torch, row.name).__name__ == row.name and row.name in torch.__all__
    for cls in CLASSES:
        method = getattr(cls, row.name)
        assert method.__name__ == row.name and method.__qualname__ == f"{cls.__name__}.{row.name}"
        assert row.doc in method.__doc__


@pytest.mark.parametrize("name", sorted(torch.__all__))
def test_documented_examples_run(name):
    value = getattr(torch, name)
    if value.__doc__ is None or ">>>" not in value.__doc__:
        pytest.skip("its documentation has no example")
    test = doctest.DocTestParser().get_doctest(value.__doc__, {}, name, None, 0)
    runner = doctest.DocTestRunner()
    text = []
    runner.run(test, out=text.append)
    assert runner.failures == 0, "".join(text)


# All types compute; Torch7 has most mathematical functions for float and double alone


@pytest.mark.parametrize("cls", WHOLE, ids=lambda cls: cls.__name__)
def test_functions_of_whole_numbers_are_truncated_to_the_type(cls):
    x = cls([0, 1, 4, 9, 10])
    assert torch.sqrt(x).type() == x.type()
    np.testing.assert_array_equal(array(torch.sqrt(x)), np.sqrt([0, 1, 4, 9, 10]).astype(int))
    np.testing.assert_array_equal(array(torch.log1p(x)), np.log1p([0, 1, 4, 9, 10]).astype(int))
    np.testing.assert_array_equal(array(torch.pow(cls([2, 3, 5]), 2)), [4, 9, 25])
    assert x.floor() is x and x.totable() == [0, 1, 4, 9, 10]


@pytest.mark.parametrize("cls", WHOLE, ids=lambda cls: cls.__name__)
def test_means_of_whole_numbers_are_exact_numbers_and_truncated_tensors(cls):
    x = cls([[1, 2], [4, 8]])
    assert x.mean() == 3.75 and x.mean(1).totable() == [[2, 5]]
    assert x.var() == pytest.approx(np.var([1, 2, 4, 8], ddof=1)) and x.std(2).totable() == [[0], [2]]
    assert x.norm() == pytest.approx(np.sqrt(85)) and x.dist(cls([[1, 2], [4, 4]])) == 4


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_random_numbers_fill_every_type(cls):
    torch.manualSeed(4)
    x = cls(2000).uniform(0, 100)
    assert 45 < array(x.double()).mean() < 55
    assert torch.randn(3, x.type()).type() == x.type()


def test_halves_compute_as_halves():
    x = torch.HalfTensor([1, 2048])
    assert x.add(1).totable() == [2, 2048]  # 2049 is not a half
    assert x.sum() == 2050 and torch.sqrt(torch.HalfTensor([2])).totable() == [float(np.sqrt(np.float16(2)))]


@pytest.mark.parametrize("cls", FLOATS, ids=lambda cls: cls.__name__)
def test_halves_of_numbers_are_rounded_away_from_zero(cls):
    values = [0.5, 1.5, 2.5, -0.5, -2.5, 0.25, -0.75, float("inf"), float("-inf")]
    assert torch.round(cls(values)).totable() == [1, 2, 3, -1, -3, 0, -1, float("inf"), float("-inf")]
    assert np.isnan(torch.round(cls([float("nan")]))[1])
    below = np.nextafter(0.5, 0) if cls is torch.DoubleTensor else 0.25
    assert torch.round(cls([below]))[1] == 0


# Casts of numbers


@pytest.mark.parametrize("cls", WHOLE, ids=lambda cls: cls.__name__)
def test_numbers_are_cast_as_c_casts_them(cls):
    bits = 8 * cls(1).elementSize()
    low = 0 if cls is torch.ByteTensor else -(1 << (bits - 1))
    high = low + (1 << bits) - 1
    x = cls([1])
    assert x.fill(2.9)[1] == 2 and x.fill(high)[1] == high
    if bits < 32:
        assert x.fill(high + 1)[1] == low
    assert x.fill(float("nan"))[1] == (low if bits >= 32 else 0)
    assert x.fill(0).add(-1)[1] == (high if low == 0 else -1)


def test_numbers_of_other_libraries_are_numbers():
    x = torch.IntTensor([1, 2])
    assert x.add(np.int64(3)).totable() == [4, 5] and torch.ones(2).mul(np.float32(0.5)).totable() == [0.5, 0.5]
    with pytest.raises(torch.TorchError, match="invalid arguments: IntTensor boolean "):
        x.add(True)


# Results


def test_a_result_is_resized_and_keeps_its_strides_if_it_fits():
    r, x = torch.zeros(3, 2).t(), torch.ones(2, 3)
    assert torch.add(r, x, 1) is r and r.stride().totable() == [1, 2] and r.sum() == 12
    assert torch.add(r, torch.ones(4), 1).size().totable() == [4]


def test_range_keeps_the_sizes_of_a_result_with_as_many_elements():
    x = torch.zeros(2, 3)
    assert x.range(1, 6) is x and x.totable() == [[1, 2, 3], [4, 5, 6]]
    assert x.linspace(1, 2, 2).totable() == [1, 2]


def test_a_function_of_a_class_takes_a_result_of_another_type():
    x, index = torch.Tensor([0, 7]), torch.LongTensor()
    assert torch.DoubleTensor.nonzero(index, x) is index and index.totable() == [[2]]
    mask = torch.ByteTensor()
    assert torch.DoubleTensor.gt(mask, x, 1) is mask and mask.totable() == [0, 1]


def test_operators_return_new_tensors():
    x = torch.Tensor([1, 2])
    for y in (x + 1, 1 + x, x - 1, 3 - x, x * 2, 2 * x, x / 2, x % 2, -x, x + x, x - x):
        assert y is not x and isinstance(y, torch.DoubleTensor)
    assert x.totable() == [1, 2] and x * x == 5
    with pytest.raises(TypeError, match="number expected, got string"):
        x + "a"
    with pytest.raises(torch.TorchError, match="multiplication between 1D and 2D tensors not yet supported"):
        x * torch.ones(2, 2)


# Memory that overlaps: one element after the other is written, in row-major order. Elsewhere such a write is an error


def test_an_operation_visits_every_element_of_an_expanded_tensor():
    x = torch.Tensor([[1], [2], [3]])
    y = x.expand(3, 4)
    assert y.add(1) is y and x.totable() == [[5], [6], [7]]
    y.mul(2)
    assert x.totable() == [[80], [96], [112]]
    y.fill(0).add(torch.range(1, 12).resize(3, 4))
    assert x.totable() == [[10], [26], [42]]


@pytest.mark.parametrize("shape, strides", [((4, 3), (1, 1)), ((3, 3), (0, 2)), ((2, 2, 2), (1, 0, 1))])
def test_overlapping_writes_equal_a_loop(shape, strides):
    storage = torch.range(1, 8).storage()
    x = torch.Tensor(storage, 1, torch.LongStorage(list(shape)), torch.LongStorage(list(strides)))
    values = np.arange(np.prod(shape), dtype=float).reshape(shape) + 2
    expected = np.arange(1.0, 9)
    for place in np.ndindex(*shape):
        location = int(np.dot(place, strides))
        expected[location] = expected[location] * values[place] + 0
    x.cmul(torch.Tensor(values.tolist()))
    assert storage.totable() == expected.tolist()


def test_scattered_elements_that_share_memory_keep_the_last_value():
    x = torch.zeros(2, 1)
    y = x.expand(2, 3)
    assert y.scatter(2, torch.LongTensor([[1, 3], [2, 1]]), torch.Tensor([[5, 6, 0], [7, 8, 0]])) is y
    assert x.totable() == [[6], [8]]
    y.scatter(2, torch.LongTensor([[2]] * 2), 4)
    assert x.totable() == [[4], [4]]
    with pytest.raises(IndexError, match="Invalid index in scatter"):
        y.scatter(2, torch.LongTensor([[4]] * 2), 4)


def test_random_numbers_fill_a_tensor_that_overlaps_itself():
    torch.manualSeed(3)
    drawn = torch.Tensor(2, 3).uniform()
    torch.manualSeed(3)
    x = torch.zeros(2, 1)
    x.expand(2, 3).uniform()
    assert x.totable() == [[row[-1]] for row in drawn.totable()]


# Against NumPy


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_reductions_equal_numpy(cls):
    values = np.array([[3, 1, 2, 2], [5, 0, 7, 1], [4, 4, 1, 6]])
    x = cls(values.tolist())
    for dim in (1, 2):
        numpy_dim = dim - 1
        np.testing.assert_array_equal(array(x.sum(dim)), values.sum(numpy_dim, keepdims=True))
        np.testing.assert_array_equal(array(x.cumsum(dim)), values.cumsum(numpy_dim))
        largest, index = x.max(dim)
        np.testing.assert_array_equal(array(largest), values.max(numpy_dim, keepdims=True))
        np.testing.assert_array_equal(array(index), values.argmax(numpy_dim).reshape(largest.size().totable()) + 1)
        ordered, order = x.sort(dim, True)
        np.testing.assert_array_equal(array(ordered), -np.sort(-values, numpy_dim))
        np.testing.assert_array_equal(np.take_along_axis(values, array(order) - 1, numpy_dim), array(ordered))
    assert x.sum() == values.sum() and x.max() == 7 and x.min() == 0
    assert isinstance(x.sum(), int if cls in WHOLE else float)


def test_products_equal_numpy():
    rng = np.random.default_rng(5)
    a, b, t = rng.normal(size=(4, 3)), rng.normal(size=(3, 5)), rng.normal(size=(4, 5))
    x, y, z = (torch.Tensor(values.tolist()) for values in (a, b, t))
    np.testing.assert_allclose(array(torch.mm(x, y)), a @ b, rtol=1e-13)
    np.testing.assert_allclose(array(torch.addmm(2, z, 3, x, y)), 2 * t + 3 * (a @ b), rtol=1e-13)
    np.testing.assert_allclose(array(z.clone().addmm(0.5, x, y)), t + 0.5 * (a @ b), rtol=1e-13)
    np.testing.assert_allclose(array(torch.match(x, x)), ((a[:, None] - a[None]) ** 2).sum(-1), atol=1e-13)
    np.testing.assert_allclose(array(torch.ger(x.select(2, 1), y.select(1, 1))), np.outer(a[:, 0], b[0]), rtol=1e-14)


def test_convolutions_equal_sums_of_shifted_images():
    rng = np.random.default_rng(6)
    image, kernel = rng.integers(0, 9, (6, 7)), rng.integers(0, 9, (3, 2))
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 2))
    x, k = torch.Tensor(image.tolist()), torch.Tensor(kernel.tolist())
    np.testing.assert_array_equal(array(torch.xcorr2(x, k)), (windows * kernel).sum((-1, -2)))
    np.testing.assert_array_equal(array(torch.conv2(x, k)), (windows * kernel[::-1, ::-1]).sum((-1, -2)))


def test_histograms_equal_numpy():
    values = np.random.default_rng(7).normal(size=(3, 200))
    x = torch.Tensor(values.tolist())
    np.testing.assert_array_equal(array(torch.histc(x, 20, -2, 2)), np.histogram(values, 20, (-2, 2))[0])
    rows = [np.histogram(row, 8, (values.min(), values.max()))[0] for row in values]
    np.testing.assert_array_equal(array(torch.bhistc(x, 8)), rows)


# Matching


def test_messages_name_all_forms_of_a_function():
    with pytest.raises(TypeError) as raised:
        torch.FloatTensor(2).add("a", None, [], torch.IntTensor(), len, object())
    assert str(raised.value) == (
        "invalid arguments: FloatTensor string nil table IntTensor ??? userdata \n"
        "expected arguments: *FloatTensor* [FloatTensor] float | *FloatTensor* [FloatTensor] [float] FloatTensor"
    )
    with pytest.raises(torch.TorchError, match=r"^invalid arguments: no arguments provided\nexpected arguments: "):
        torch.add()
    with pytest.raises(torch.TorchError, match=r"expected arguments: \[\*ByteTensor\*\] ByteTensor unsigned char"):
        torch.mul(torch.ByteTensor(), "a")


def test_optional_arguments_are_tried_in_the_order_of_torch7():
    argument = forms.Argument
    words = [argument("T", "v0"), argument("T", None), argument("real", "1"), argument("T", None)]
    assert list(matching._choices_of_optional(words)) == [[1, 3], [0, 1, 3], [1, 2, 3], [0, 1, 2, 3]]


def test_a_type_name_as_the_last_argument_decides_the_type():
    assert torch.zeros(2, "torch.IntTensor").type() == "torch.IntTensor"
    assert torch.range(1, 3, "torch.ByteTensor").totable() == [1, 2, 3]
    with torch.Session().activate():
        torch.setdefaulttensortype("torch.FloatTensor")
        assert torch.zeros(2).type() == torch.rand(2).type() == "torch.FloatTensor"
    assert torch.zeros(2).type() == "torch.DoubleTensor"


def test_sizes_and_dims_must_be_ints():
    for call in (lambda: torch.zeros(2.0), lambda: torch.ones(2).sum(1.0), lambda: torch.eye(2.5)):
        with pytest.raises(TypeError, match="number expected, got float"):
            call()
    with torch.Session(lua=True).activate():
        assert torch.zeros(2.7).size().totable() == [2] and torch.ones(2, 3).sum(1.9).totable() == [[2, 2, 2]]
        assert torch.ones(2).add("0x10").totable() == [17, 17]


def test_errors_of_arguments_count_them_as_lua_does():
    x = torch.Tensor(2, 2)
    for call, text in (
        (lambda: x.sum(3), "bad argument #1 to 'sum' (dimension 3 out of range)"),
        (lambda: torch.sum(x, 3), "bad argument #2 to '?' (dimension 3 out of range)"),
        (lambda: torch.Tensor().max(), "calling 'max' on bad self (tensor must have one dimension)"),
        (lambda: torch.setRNGState(torch.ByteTensor(2)), "bad argument #1 to 'setRNGState' (RNG state is wrong size)"),
    ):
        with pytest.raises(torch.TorchError) as raised:
            call()
        assert str(raised.value) == text


def test_nothing_changes_when_a_call_fails():
    x, r = torch.range(1, 6).resize(2, 3), torch.zeros(7)
    for call in (
        lambda: torch.add(r, x, torch.ones(4)),
        lambda: x.addcmul(torch.ones(6), torch.ones(5)),
        lambda: torch.cat(r, [x, torch.ones(3, 3)], 2),
        lambda: torch.mm(r, x, x),
        lambda: x.gather(1, torch.LongTensor([[3, 1, 1]])),
        lambda: x.scatter(1, torch.LongTensor([[1, 0, 1]]), 5),
        lambda: torch.conv2(r, x, torch.ones(3, 3)),
        lambda: x.normal(0, -1),
        lambda: torch.IntTensor([1]).div(0),
    ):
        with pytest.raises((torch.TorchError, ZeroDivisionError)):
            call()
    assert x.totable() == [[1, 2, 3], [4, 5, 6]] and r.totable() == [0] * 7


def test_large_tensors_share_the_work_with_the_core():
    x = torch.range(1, 100000)
    assert x.sum() == 100000 * 100001 / 2 and torch.sqrt(x).strided().dtype == st.float64
