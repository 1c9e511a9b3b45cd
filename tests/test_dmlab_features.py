"""The documented features of Lab's tensors: types, construction, values, views, arithmetic, order and equality."""

import math

import numpy as np
import pytest

import strided as st
from strided import dmlab as lab

TYPES = {
    "ByteTensor": ("byte", np.uint8),
    "CharTensor": ("char", np.int8),
    "Int16Tensor": ("int16", np.int16),
    "Int32Tensor": ("int32", np.int32),
    "Int64Tensor": ("int64", np.int64),
    "FloatTensor": ("float", np.float32),
    "DoubleTensor": ("double", np.float64),
}
EACH = pytest.mark.parametrize("name", TYPES)


def table(*shape):
    """Numbers 1, 2, … as nested lists of a shape."""
    return np.arange(1, math.prod(shape) + 1).reshape(shape).tolist()


@EACH
def test_a_type_has_a_class_a_conversion_and_a_name(name):
    z = getattr(lab, name)(2, 3)
    method, dtype = TYPES[name]
    assert z.val() == [[0, 0, 0], [0, 0, 0]]
    assert z.type() == f"deepmind.lab.tensor.{name}"
    assert z.numpy().dtype == dtype
    converted = getattr(lab.DoubleTensor([1.5, 2]), method)()
    assert isinstance(converted, getattr(lab, name))
    assert converted.val() == np.array([1.5, 2]).astype(dtype).tolist()
    assert {type(value) for value in converted.val()} == {int if dtype(1).dtype.kind in "iu" else float}


def test_tensor_is_the_double_tensor():
    assert lab.Tensor is lab.DoubleTensor


@EACH
def test_conversion_to_the_own_type_makes_a_compact_copy(name):
    z = getattr(lab, name)(table(3, 4)).transpose(1, 2).narrow(1, 2, 2)
    for copy in (getattr(z, TYPES[name][0])(), z.clone()):
        assert copy == z
        assert copy.strided().is_contiguous()
        assert copy.ownsStorage()
        copy.fill(0)
    assert z.val() == [[2, 6, 10], [3, 7, 11]]


def test_conversions_wrap_integers_and_cut_fractions():
    assert lab.Int32Tensor([256, 257, -1, 300]).byte().val() == [0, 1, 255, 44]
    assert lab.DoubleTensor([-1.9, 1.9]).int64().val() == [-1, 1]
    assert lab.DoubleTensor([math.nan, math.inf]).int32().val() == [-(2**31)] * 2


@pytest.mark.parametrize("shape", [(1,), (5,), (2, 3), (2, 1, 3), (1, 1, 1, 2)])
def test_tables_imply_a_shape(shape):
    z = lab.Int32Tensor(table(*shape))
    assert z.shape() == list(shape)
    assert z.size() == math.prod(shape)
    assert z.strided().tolist() == table(*shape)


def test_what_a_longer_row_has_too_much_is_ignored():
    assert lab.DoubleTensor([[1, 2], [3, 4, 5]]).val() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("bad", [[[1, 2], [3]], [[1, 2], 3], [1, "x"], [1, None], [[]], [1, [2]], [[[1]], [2]], [True]])
def test_other_tables_are_refused(bad):
    with pytest.raises(lab.LabError, match=r"^\[Tensor.CreateFromTableValues\] Failed to read table in to Tensor.$"):
        lab.DoubleTensor(bad)


def test_tables_have_at_most_twenty_dims():
    def nested(depth):
        return [nested(depth - 1)] if depth else 7

    assert lab.ByteTensor(nested(20)).shape() == [1] * 20
    with pytest.raises(lab.LabError, match="Failed to read table"):
        lab.ByteTensor(nested(21))


@pytest.mark.parametrize(
    ("value", "stored"),
    [(256, 0), (511, 255), (1.9, 1), (2**40 + 3, 3), (math.inf, None), (math.nan, None), (-1, None), (-0.5, 0)],
)
def test_a_byte_wraps_through_int64_and_refuses_negative_numbers(value, stored):
    if stored is None:
        with pytest.raises(lab.LabError, match="Failed to read table"):
            lab.ByteTensor([value])
    else:
        assert lab.ByteTensor([value]).val() == stored


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 2**40 + 3, 1e10, math.nan, math.inf, -1e300, 2**70])
def test_an_int32_wraps_through_int64(value):
    fits = math.isfinite(value) and -(2**63) <= int(value) < 2**63
    wide = int(value) if fits else -(2**63)
    assert lab.Int32Tensor([value]).val() == (wide + 2**31) % 2**32 - 2**31
    z = lab.Int32Tensor([0])
    assert z.val(value) == z.val() == lab.Int32Tensor([value]).val()


def test_python_integers_are_exact_in_an_int64_tensor():
    assert lab.Int64Tensor([2**53 + 1, -(2**63), 2**63 - 1]).val() == [2**53 + 1, -(2**63), 2**63 - 1]


@pytest.mark.parametrize(
    ("bounds", "values"),
    [
        ([5], [1, 2, 3, 4, 5]),
        ([3, 5], [3, 4, 5]),
        ([1, 2, 0.5], [1, 1.5, 2]),
        ([1, 2.75, 1], [1, 2]),
        ([7, 3, -1], [7, 6, 5, 4, 3]),
        ([3, 14, 3], [3, 6, 9, 12]),
    ],
)
def test_a_range_includes_its_end(bounds, values):
    assert lab.DoubleTensor(range=bounds).val() == values
    assert lab.DoubleTensor({"range": bounds}).val() == values


def test_a_range_is_accumulated_in_the_element_type():
    for tensor, number in ((lab.DoubleTensor, np.float64), (lab.FloatTensor, np.float32)):
        expected, sum_ = [], number(0)
        for _ in range(1001):
            expected.append(float(sum_))
            sum_ = number(sum_ + number(0.1))
        steps = len(tensor(range=[0, 100, 0.1]).val())
        assert tensor(range=[0, 100, 0.1]).val() == expected[:steps]
        assert steps in (1000, 1001)
    assert lab.FloatTensor(range=[3e8, 3e8 + 1, 0.5]).size() == 1


def test_a_range_of_integers_divides_as_c_does():
    assert lab.Int64Tensor(range=[5, 4, 3]).val() == 5  # -1 / 3 is 0
    assert lab.Int32Tensor(range=[10, 1, -4]).val() == [10, 6, 2]
    assert lab.CharTensor(range=[-128, 127]).val() == list(range(-128, 128))
    with pytest.raises(ValueError, match="Invalid Tensor range"):
        lab.DoubleTensor(range=[5, 4, 3])


def test_a_file_is_read_in_the_byte_order_of_the_machine(tmp_path):
    numbers = np.arange(64.0)
    path = tmp_path / "data.bin"
    path.write_bytes(numbers.tobytes() + b"xyz")

    def read(**fields):
        return lab.DoubleTensor(file={"name": str(path), **fields}).val()

    assert read() == numbers.tolist()
    assert read(numElements=10) == numbers[:10].tolist()
    assert read(byteOffset=40 * 8) == numbers[40:].tolist()
    assert read(byteOffset=40 * 8, numElements=6) == numbers[40:46].tolist()
    assert read(byteOffset=512 + 3) == []
    assert lab.ByteTensor(file={"name": path, "byteOffset": 512}).val() == list(b"xyz")
    assert lab.ByteTensor(file={"name": path}).ownsStorage()


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "Field 'name' must exist and be a string."),
        ({"name": 5}, "Field 'name' must exist and be a string."),
        ({"name": "missing"}, "Failed to open file, name: missing"),
        ({"name": "."}, "Failed to open file, name: ."),
        ({"name": "a", "byteOffset": -1}, "'byteOffset' must be a non-negative integral value."),
        ({"name": "a", "byteOffset": "1"}, "'byteOffset' must be a non-negative integral value."),
        ({"name": "a", "numElements": -1}, "'numElements' must be a non-negative integral value."),
        (
            {"name": "a", "byteOffset": 5},
            "Must supply 'byteOffset' within file size, name: a, offset: 5, file size: 4",
        ),
        (
            {"name": "a", "byteOffset": 1, "numElements": 2},
            "Attempted to read past end of file, name: a, numElements: 2, max numElements: 1, offset: 1, file size: 4",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(fields, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_bytes(b"1234")
    with pytest.raises(lab.LabError) as caught:
        lab.Int16Tensor(file=fields)
    assert str(caught.value) == f"[Tensor.CreateFromFile] {text}"


def test_values_are_read_and_written():
    z = lab.Int64Tensor(table(2, 2))
    assert z(1, 2).val() == 2
    assert z(1, 2).val(9) == 9
    assert z(2).val([7, 8]) == [7, 8]
    assert z.val([[5, 6], [7, 8]]) == z.val() == [[5, 6], [7, 8]]
    assert lab.DoubleTensor([[7]]).val() == [[7]]
    assert lab.DoubleTensor().val() == []


@pytest.mark.parametrize("bad", [[[1, 1], [1, 1]], [1, 2, 3], 5, None, [[1, 2], [3, "x"], [5, 6]]])
def test_values_of_another_shape_change_nothing(bad):
    z = lab.DoubleTensor(table(3, 2))
    with pytest.raises(lab.LabError, match=r"\[deepmind.lab.tensor.DoubleTensor.val\] - "):
        z.val(bad)
    assert z.val() == table(3, 2)


def test_views_share_memory():
    z = lab.DoubleTensor(table(3, 4))
    views = [z.transpose(1, 2), z.select(2, 2), z(3), z.narrow(1, 2, 2), z.reverse(1), z.reshape([2, 6]), z()]
    z.mul(10)
    assert [view.sum() for view in views] == [780, 180, 420, 680, 780, 780, 780]
    for view in views:
        view.fill(0)
    assert z.sum() == 0


def test_turns_of_a_matrix():
    z = lab.DoubleTensor(table(3, 4))
    matrix = np.array(table(3, 4))
    assert z.reverse(1).reverse(2).val() == np.rot90(matrix, 2).tolist()
    assert z.transpose(1, 2).reverse(2).val() == np.rot90(matrix, -1).tolist()
    assert z.transpose(1, 2).reverse(1).val() == np.rot90(matrix).tolist()


def test_an_element_has_the_shape_1():
    z = lab.DoubleTensor(table(3, 4))
    assert z(3, 1).shape() == [1]
    assert z(3, 1, 1).val() == z(3).select(1, 1).val() == 9
    with pytest.raises(lab.LabError, match="Invalid Index!"):
        z(3, 1, 2)


def test_a_narrowed_dim_may_be_empty():
    z = lab.DoubleTensor(table(3, 4)).narrow(1, 1, 0)
    assert (z.shape(), z.size(), z.val(), z.sum()) == ([0, 4], 0, [], 0)
    assert str(z) == "[deepmind.lab.tensor.DoubleTensor]\nShape: [0, 4] Empty"
    assert z.reshape([2, 0]).val() == [[], []]


@pytest.mark.parametrize("make", [lambda: lab.Int32Tensor(), lambda: lab.Int32Tensor([]), lambda: lab.Int32Tensor({})])
def test_a_tensor_without_a_shape_has_no_element(make):
    z = make()
    assert (z.shape(), z.size(), z.val(), z.sum(), z.product()) == ([], 0, [], 0, 1)
    assert z == make() == z.clone() == z.int32() == z.double().int32()
    assert z != lab.Int32Tensor([1]).narrow(1, 1, 0)
    assert z.add(1).copy(lab.Int32Tensor([1]).narrow(1, 1, 0)) is z
    assert z.apply(lambda value: 1 / 0) is z
    for use in (
        lambda: z(1),
        lambda: z.select(1, 1),
        lambda: z.transpose(1, 1),
        lambda: z.reverse(1),
        lambda: z.reshape([]),
        lambda: z.reshape([0]),
        lambda: z.add([]),
        lambda: z.mmul(z),
        lambda: z.shuffle(lab.random),
    ):
        with pytest.raises(lab.LabError):
            use()


def test_reshape_wants_elements_at_one_distance():
    z = lab.DoubleTensor(table(3, 4))
    assert z.reverse(1).reverse(2).reshape([12]).val() == list(range(12, 0, -1))
    assert z.select(2, 2).reshape([3, 1]).val() == [[2], [6], [10]]
    assert z.narrow(1, 2, 2).reshape([8]).val() == list(range(5, 13))
    for view in (z.transpose(1, 2), z.narrow(2, 1, 3), z.reverse(1), z.reverse(2), z.narrow(2, 1, 1)):
        with pytest.raises(ValueError, match="Must be called on a contiguous tensor with a matching element count"):
            view.reshape([view.size()])


@pytest.mark.parametrize(
    ("method", "expected"),
    [("floor", np.floor), ("ceil", np.ceil), ("round", lambda a: np.copysign(np.floor(abs(a) + 0.5), a))],
)
@pytest.mark.parametrize("name", ["FloatTensor", "DoubleTensor"])
def test_rounding(method, expected, name):
    values = [-2.5, -2.25, -1.75, -0.5, -0.25, -0.0, 0.0, 0.25, 0.5, 1.0, 1.5, 2.5, 1e6 + 0.5, math.inf, -math.inf]
    z = getattr(lab, name)(values)
    assert getattr(z, method)() is z
    model = expected(np.array(values, TYPES[name][1]))
    assert z.val() == model.tolist()
    assert np.signbit(z.numpy()).tolist() == np.signbit(model).tolist()


def test_rounding_is_exact_next_to_a_half_and_keeps_nans():
    below = math.nextafter(0.5, 0)
    z = lab.DoubleTensor([below, -below, 2.0**52 + 1, -math.nan, math.nan]).round()
    assert z.val()[:3] == [0, 0, 2**52 + 1]
    assert str(z).splitlines()[-1] == "[         0,         -0, 4.5036e+15,       -nan,        nan]"


def test_rounding_leaves_integers():
    z = lab.Int64Tensor([2**53 + 1, -3])
    assert z.floor().ceil().round().val() == [2**53 + 1, -3]


def test_clamp():
    def clamped(*bounds, values=(-500, 25, 500)):
        return lab.DoubleTensor(list(values)).clamp(*bounds).val()

    assert clamped(0, 255) == [0, 25, 255]
    assert clamped(0) == clamped(0, None) == [0, 25, 500]
    assert clamped(None, 255) == [-500, 25, 255]
    assert clamped() == clamped(None, None) == [-500, 25, 500]
    assert clamped(7, 7) == [7, 7, 7]
    assert str(clamped(0, 1, values=[math.nan])) == "nan"
    assert clamped(0, values=[math.nan]) == 0  # std::max(0, nan)
    for bounds in ((255, 0), (math.inf,), (None, -math.inf)):
        with pytest.raises(ValueError, match="must not exceed"):
            clamped(*bounds)


@pytest.mark.parametrize(
    ("method", "operation"), [("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide)]
)
@EACH
def test_arithmetic_with_numbers_is_double_arithmetic(method, operation, name):
    dtype = TYPES[name][1]
    numbers = np.array(table(3, 4), dtype)
    for operand in (2.5, [1, 2.5, 3, 0.1]):
        z = getattr(lab, name)(numbers.tolist())
        assert getattr(z, method)(operand) is z
        wide = operation(numbers.astype(np.float64), np.array(operand, np.float64))
        if dtype == np.uint8:  # NumPy leaves casts of negative numbers to the machine
            wide = np.trunc(wide) % 256
        assert z.val() == wide.astype(dtype).tolist()


def test_numbers_of_a_list_go_with_the_last_dim():
    z = lab.DoubleTensor(table(3, 4))
    assert z.transpose(1, 2).fill([10, 20, 30]).shape() == [4, 3]
    assert z.val() == [[10] * 4, [20] * 4, [30] * 4]
    with pytest.raises(lab.LabError, match=r"matches last dimension received: \(table\)$"):
        z.add([1, 2, 3])
    assert z.val() == [[10] * 4, [20] * 4, [30] * 4]


@pytest.mark.parametrize(
    ("method", "operation"),
    [
        ("cadd", np.add),
        ("csub", np.subtract),
        ("cmul", np.multiply),
        ("cdiv", lambda x, y: x / y if x.dtype.kind == "f" else (x / y).astype(x.dtype)),
        ("copy", lambda x, y: y),
    ],
)
@EACH
def test_components_are_paired_in_row_major_order(method, operation, name):
    dtype = TYPES[name][1]
    x, y = np.arange(13, 25, dtype=dtype).reshape(3, 4), np.arange(1, 13, dtype=dtype).reshape(2, 6)
    z = getattr(lab, name)(x.tolist())
    other = getattr(lab, name)(y.T.tolist()).transpose(1, 2)
    assert getattr(z, method)(other) is z
    assert z.val() == operation(x, y.reshape(3, 4)).tolist()


def test_bytes_wrap():
    assert lab.ByteTensor([5]).csub(lab.ByteTensor([10])).val() == 251
    assert lab.CharTensor([100]).cadd(lab.CharTensor([100])).val() == -56
    assert lab.ByteTensor([[100, 100]]).mmul(lab.ByteTensor([[2], [2]])).val() == [[144]]
    assert lab.Int32Tensor([-(2**31)]).cdiv(lab.Int32Tensor([-1])).val() == -(2**31)


@pytest.mark.parametrize("method", ["cadd", "csub", "cmul", "cdiv", "copy", "dot"])
def test_another_type_or_size_is_refused(method):
    z = lab.ByteTensor([[1, 2], [3, 4]])
    for other in (lab.Int32Tensor([[1, 2], [3, 4]]), lab.ByteTensor([1, 2, 3]), 3, None, [1, 2, 3, 4], z.strided()):
        with pytest.raises(lab.LabError, match="Must call with same sized tensor, received: "):
            getattr(z, method)(other)
    assert z.val() == [[1, 2], [3, 4]]


def test_division_of_integers_by_zero_is_an_error_that_changes_nothing():
    z = lab.Int32Tensor([5, 6])
    with pytest.raises(ZeroDivisionError, match=r"cdiv\] - division of an integer by zero"):
        z.cdiv(lab.Int32Tensor([1, 0]))
    assert z.val() == [5, 6]
    assert lab.DoubleTensor([1, -1]).cdiv(lab.DoubleTensor([0, 0])).val() == [math.inf, -math.inf]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("Byte", 0), ("Char", 0), ("Int16", 0), ("Int32", -(2**31)), ("Int64", -(2**63))],
)
def test_a_division_of_integers_by_the_number_zero_is_that_of_lab_on_x86(name, wanted):
    """Lab computes `*val /= rhs` with a double `rhs`: no trap. The numbers are those of the program that gcc makes of it."""
    z = getattr(lab, f"{name}Tensor")([[1, 0], [7, 100]])
    assert z.clone().div(0).val() == [[wanted] * 2] * 2
    assert z.div([1, 0]).val() == [[1, wanted], [7, wanted]]


@pytest.mark.parametrize("name", ["cadd", "csub", "cmul", "copy"])
@pytest.mark.parametrize(("to", "source"), [((2, 6), (1, 6)), ((1, 6), (2, 6)), ((3, 4), (1, 4)), ((1, 7), (1, 7))])
def test_overlapping_operands_are_visited_in_order(name, to, source):
    """The model is a loop over the elements, as Lab has it."""
    memory = np.arange(1, 8)
    model = memory.copy()
    operation = {"cadd": int.__add__, "csub": int.__sub__, "cmul": int.__mul__, "copy": lambda a, b: b}[name]
    for i in range(to[1]):
        at, other = to[0] - 1 + i, source[0] - 1 + i
        model[at] = operation(int(model[at]), int(model[other]))
    z = lab.Int64Tensor(memory.tolist())
    getattr(z.narrow(1, *to), name)(z.narrow(1, *source))
    assert z.val() == model.tolist()


def test_copies_between_a_matrix_and_its_transpose_or_reverse_are_visited_in_order():
    rows = table(3, 3)
    model = np.array(rows)
    for i in range(3):
        for j in range(3):
            model[i, j] = model[j, i]
    z = lab.Int64Tensor(rows)
    z.copy(z.transpose(1, 2))
    assert z.val() == model.tolist()
    line = lab.Int64Tensor([1, 2, 3, 4, 5])
    line.copy(line.reverse(1))
    assert line.val() == [5, 4, 3, 4, 5]


def test_sums_are_accumulated_one_after_the_other_in_double_precision():
    numbers = np.random.default_rng(5).standard_normal(1000)
    sum_, squares, product = 0.0, 0.0, 1.0
    for number in numbers.tolist():
        sum_ += number
        squares += number * number
        product *= 1 + number / 8
    z = lab.DoubleTensor(numbers.tolist())
    assert (z.sum(), z.lengthSquared(), z.dot(z)) == (sum_, squares, squares)
    assert z.reshape([10, 100]).sum() == sum_
    assert z.div(8).add(1).product() == pytest.approx(product, rel=1e-12)
    assert math.copysign(1, lab.DoubleTensor([-0.0]).sum()) == 1
    assert lab.ByteTensor([255, 255]).lengthSquared() == 130050
    assert isinstance(lab.ByteTensor([1]).sum(), float)


def test_a_product_is_accumulated_one_factor_after_the_other():
    factors = (1 + np.random.default_rng(6).standard_normal(700) / 100).tolist()
    product = 1.0
    for factor in factors:
        product *= factor
    assert lab.DoubleTensor(factors).product() == product


def test_matrix_products():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    z, y = lab.DoubleTensor(a.tolist()), lab.DoubleTensor(b.tolist())
    assert z.mmul(y).val() == (a @ b).tolist()
    assert y.transpose(1, 2).mmul(z.transpose(1, 2)).val() == (a @ b).T.tolist()
    for left, right, text in (
        (z, lab.DoubleTensor(3), "RHS is not a matrix"),
        (lab.DoubleTensor(3), z, "LHS is not a matrix"),
        (z, z, "Incorrect matrix dimensions"),
        (
            z,
            lab.FloatTensor(3, 2),
            "Must contain 1 RHS tensor of type deepmind.lab.tensor.DoubleTensor, received: user ",
        ),
    ):
        with pytest.raises(lab.LabError, match=text):
            left.mmul(right)


def test_equality_is_that_of_type_shape_and_values():
    z = lab.DoubleTensor(table(2, 3))
    assert z == lab.DoubleTensor(table(2, 3))
    assert z == lab.DoubleTensor(np.array(table(2, 3)).T.tolist()).transpose(1, 2)
    assert z.transpose(1, 2) == z.clone().transpose(1, 2)
    assert z != lab.FloatTensor(table(2, 3))
    assert z != lab.DoubleTensor(table(3, 2))
    assert z != z.clone().add(1)
    assert z != table(2, 3)
    nan = lab.DoubleTensor([math.nan])
    assert nan == nan and nan != lab.DoubleTensor([math.nan])


def test_apply_stores_numbers_and_leaves_the_rest():
    assert lab.DoubleTensor([1, 2]).apply(lambda v: "x").val() == [1, 2]
    assert lab.DoubleTensor([1, 2]).apply(lambda v: None).val() == [1, 2]
    assert lab.DoubleTensor([1, 2]).apply(lambda v: True).val() == [1, 2]
    assert lab.DoubleTensor([1, 2]).apply(lambda v: (v + 1, False)).val() == [2, 3]
    assert lab.ByteTensor([1, 2]).apply(lambda v: v + 300).val() == [45, 46]
    assert lab.ByteTensor([1, 2]).apply(lambda v: v / 2).val() == [0, 1]
    assert lab.ByteTensor([1, 2]).apply(lambda v: -v).val() == [1, 2]
    seen = []
    lab.Int64Tensor(table(2, 2)).transpose(1, 2).apply(seen.append)
    assert seen == [1, 3, 2, 4] and {type(value) for value in seen} == {int}


def test_apply_indexed_counts_from_one():
    seen = []
    z = lab.DoubleTensor(table(2, 3)).applyIndexed(
        lambda v, index: seen.append(index) or v + 10 * index[0] + 100 * index[1]
    )
    assert seen == [[1, 1], [1, 2], [1, 3], [2, 1], [2, 2], [2, 3]]
    assert z.val() == [[111, 212, 313], [124, 225, 326]]


# The numbers below were printed by a C++ program with std::mt19937_64 and the distributions of libstdc++ 12.
def test_random_numbers_are_those_of_the_cpp_library():
    draw = lab.random
    draw.seed(3)
    assert [draw.uniformInt(1, 6) for _ in range(3)] == [4, 2, 4]
    draw.seed(5)
    assert [draw.discreteDistribution([1, 2, 3, 0, 4]) for _ in range(8)] == [5, 1, 2, 5, 1, 1, 2, 5]
    draw.seed("5")
    assert [draw.uniformReal(-2, 5) for _ in range(3)] == [
        2.7114543277999967,
        -1.7305377243462465,
        -0.42298010136497899,
    ]
    draw.seed(5)
    expected = [-0.22414013166430599, 0.70485751467662028, 0.39036230534716554]
    assert [draw.normalDistribution(0, 1) for _ in range(3)] == pytest.approx(expected, rel=1e-15)
    draw.seed(123456789012345)
    assert draw.uniformInt(0, 10**12) == 257742159960
    assert lab.RandomView(lab.Session()).uniformInt(1, 100) == 79
    mixed = lab.RandomView(lab.Session(mixer_seed=9))
    mixed.seed(7)
    assert mixed.uniformInt(1, 1000) == 871


@pytest.mark.parametrize(
    ("method", "args", "text"),
    [
        ("seed", (-1,), "Argument is not a valid seed value."),
        ("seed", ("1x",), "Argument is not a valid seed value."),
        ("seed", (2**64,), "Argument is not a valid seed value."),
        ("seed", (math.nan,), "Argument is not a valid seed value."),
        ("seed", (), "Argument is not a valid seed value."),
        ("uniformInt", (6, 1), "Arguments do not form a valid range."),
        ("uniformInt", (-1, 1), "Arguments do not form a valid range."),
        ("uniformInt", (1,), "Arguments do not form a valid range."),
        ("uniformReal", (0, math.inf), "Arguments do not form a valid range."),
        ("uniformReal", (1, 0), "Arguments do not form a valid range."),
        ("normalDistribution", (1,), "Invalid arguments - 2 numbers expected.."),
        ("discreteDistribution", ([],), "Invalid arguments - non empty list of numeric weights expected."),
        ("discreteDistribution", (["a"],), "Invalid arguments - non empty list of numeric weights expected."),
    ],
)
def test_random_numbers_refuse_other_arguments(method, args, text):
    lab.random.seed(1)
    with pytest.raises(lab.LabError) as caught:
        getattr(lab.random, method)(*args)
    assert str(caught.value) == f"[deepmind.lab.RandomView.{method}] - {text}"
    assert lab.random.uniformInt(1, 6) == 1  # nothing was drawn


def test_shuffle_changes_a_view_in_place():
    z = lab.Int64Tensor(range=[10]).reshape([5, 2])
    lab.random.seed(1)
    column = z.select(2, 1)
    assert column.shuffle(lab.random) is column
    assert z.val() == [[5, 2], [7, 4], [3, 6], [9, 8], [1, 10]]
    for use in (lambda: z.shuffle(lab.random), lambda: column.shuffle(), lambda: column.shuffle(5)):
        with pytest.raises(lab.LabError, match="Must call on a rank-1 Tensor with random number generator, received: "):
            use()


def test_sessions_have_their_own_random_numbers():
    lab.random.seed(1)
    with lab.Session().activate():
        lab.random.seed(99)
        lab.random.uniformInt(1, 6)
    assert lab.random.uniformReal(0, 1) == st._strided._LabGenerator(1).uniform_real(0, 1)
