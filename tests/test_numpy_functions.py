"""NumPy's functions return tensors when they are called with tensors, and NumPy understands our dtypes."""

import numpy as np
import pytest
from reduction_models import EXTREMES, OPS

import strided as st

X = np.array([[3.0, -1.5, 2.0], [0.5, 4.0, -2.0]])


def tensor(dtype=st.float64):
    return st.tensor(X, dtype=dtype)


UNARY = ["sin", "exp", "sqrt", "absolute", "negative", "floor", "rint", "isnan", "sign", "square", "arctan", "cbrt"]
BINARY = ["add", "subtract", "multiply", "divide", "maximum", "power", "greater", "arctan2", "hypot", "float_power"]


@pytest.mark.parametrize("name", UNARY)
def test_universal_functions_of_one_operand(name):
    with np.errstate(invalid="ignore"):
        wanted = getattr(np, name)(np.abs(X))
        got = getattr(np, name)(st.tensor(np.abs(X)))
    assert type(got) is st.Tensor
    np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-15)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("swap", [False, True])
def test_universal_functions_of_two_operands(name, swap):
    for other in (np.abs(X) + 1, 2.0, st.tensor(np.abs(X) + 1)):
        operands = (other, tensor().abs()) if swap else (tensor().abs(), other)
        got = getattr(np, name)(*operands)
        assert type(got) is st.Tensor
        wanted = getattr(np, name)(*(np.asarray(operand) for operand in operands))
        np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-15)


def test_arrays_and_tensors_make_tensors_in_either_order():
    array = np.ones(3)
    assert type(array + tensor()) is type(tensor() + array) is st.Tensor
    assert type(array < tensor()) is st.Tensor
    np.testing.assert_array_equal((array - tensor()).numpy(), 1 - X)


def test_in_place_operators_of_arrays_keep_the_array():
    array = np.ones((2, 3))
    same = array
    same += tensor()
    assert same is array
    np.testing.assert_array_equal(array, X + 1)


def test_outputs_are_written_and_returned():
    out = st.empty(2, 3, dtype=st.float64)
    assert np.add(tensor(), 1, out=out) is out
    np.testing.assert_array_equal(out.numpy(), X + 1)
    array = np.empty((2, 3))
    assert np.add(tensor(), 1, out=array) is array
    np.testing.assert_array_equal(array, X + 1)
    assert np.add(tensor(), 1, where=X > 0, out=out) is out


REDUCTIONS = [name for name, row in st._strided._numpy_names() if row in OPS or row in EXTREMES]


@pytest.mark.parametrize("name", [*REDUCTIONS, "median", "ptp", "linalg.norm"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_reductions(name, axis):
    function = np.linalg.norm if name == "linalg.norm" else getattr(np, name)
    got = function(tensor(), axis=axis)
    if name == "linalg.norm" and axis is None:
        assert float(got) == pytest.approx(float(function(X)))
        return
    assert isinstance(got, st.Tensor | int)
    np.testing.assert_allclose(np.asarray(got), function(X, axis=axis), rtol=1e-14)


def test_arguments_by_position_and_numpys_own_keywords():
    np.testing.assert_allclose(np.sum(tensor(), 0, None, None, True).numpy(), X.sum(0, keepdims=True))
    np.testing.assert_allclose(np.std(tensor(), 1, ddof=1).numpy(), X.std(1, ddof=1))
    np.testing.assert_allclose(np.sum(tensor(), axis=1, initial=10.0).numpy(), X.sum(1, initial=10.0))
    np.testing.assert_allclose(np.mean(tensor(), axis=(0, 1)).item(), X.mean())
    np.testing.assert_allclose(np.max(tensor(), axis=1, keepdims=True).numpy(), X.max(1, keepdims=True))
    np.testing.assert_array_equal(np.cumsum(tensor()).numpy(), np.cumsum(X))
    np.testing.assert_array_equal(np.cumsum(tensor(), axis=1).numpy(), np.cumsum(X, axis=1))


@pytest.mark.parametrize("name, axis", [("add", 0), ("add", None), ("multiply", 1), ("maximum", 0), ("logical_and", 1)])
def test_reduce_methods_of_universal_functions(name, axis):
    ufunc = getattr(np, name)
    got = ufunc.reduce(tensor(), axis=axis)
    assert type(got) is st.Tensor
    np.testing.assert_allclose(got.numpy(), ufunc.reduce(X, axis=axis), rtol=1e-15)


def test_other_methods_of_universal_functions():
    np.testing.assert_array_equal(np.add.accumulate(tensor(), axis=1).numpy(), np.add.accumulate(X, axis=1))
    np.testing.assert_array_equal(np.subtract.outer(tensor()[0], tensor()[1]).numpy(), np.subtract.outer(X[0], X[1]))
    quotient, remainder = np.divmod(tensor(), 2.0)
    assert type(quotient) is type(remainder) is st.Tensor
    fraction, whole = np.modf(tensor())
    np.testing.assert_array_equal((fraction + whole).numpy(), X)


def test_all_other_functions_convert_both_ways():
    x = tensor()
    np.testing.assert_array_equal(np.concatenate([x, x], axis=1).numpy(), np.concatenate([X, X], axis=1))
    np.testing.assert_array_equal(np.where(x > 0, x, 0.0).numpy(), np.where(X > 0, X, 0.0))
    u, s, vt = np.linalg.svd(x)
    assert type(u) is type(s) is type(vt) is st.Tensor
    result = np.linalg.svd(x)
    assert type(result.S) is st.Tensor
    assert np.shape(x) == (2, 3) and np.ndim(x) == 2
    assert np.array_equal(x, X) is True
    assert type(np.array_split(x, 2)[0]) is st.Tensor


def test_views_of_numpy_share_the_memory_of_the_tensor():
    x = tensor()
    np.transpose(x)[0, 0] = 99
    assert x[0, 0].item() == 99


def test_bfloat16_is_converted_as_float32():
    got = np.ptp(tensor(st.bfloat16), axis=0)
    assert got.dtype == st.float32 and got.shape == (3,)
    assert np.concatenate([tensor(st.bfloat16), tensor(st.bfloat16)]).dtype == st.bfloat16
    assert np.sin(tensor(st.bfloat16)).dtype == st.bfloat16


def test_unknown_array_types_are_left_to_themselves():
    class Other:
        def __array_function__(self, function, types, args, kwargs):
            return "theirs"

    assert np.concatenate([tensor(), Other()]) == "theirs"


def test_numpy_understands_our_dtypes():
    for dtype in (st.bool, st.uint8, st.int64, st.float16, st.float32, st.complex128):
        assert np.dtype(dtype) == np.dtype(dtype.name), dtype
        assert np.zeros(2, dtype=dtype).dtype == np.dtype(dtype.name), dtype
        assert dtype == np.dtype(dtype.name) and np.dtype(dtype.name) == dtype, dtype
    assert st.float32 == np.float32 and np.float32 == st.float32
    assert st.float32 != np.float64 and st.float32 != np.dtype("int32") and st.int64 != "int64"
    assert st.float32 != 3 and st.float32 != np.zeros(2)
    with pytest.raises((TypeError, AttributeError)):
        np.dtype(st.bfloat16)
    assert len({st.float32, st.float64, st.float}) == 2


@pytest.mark.parametrize(
    "shapes", [((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4))]
)
@pytest.mark.parametrize("name", ["float64", "float32", "int64", "complex64"])
def test_products_of_arrays_and_tensors_are_tensors(shapes, name):
    a, b = (np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(name) for shape in shapes)
    x, y = st.tensor(a), st.tensor(b)
    for product in (a @ y, x @ b, x @ y, np.matmul(a, y), np.matmul(x, b), np.matmul(x, y), np.matmul(x, b.tolist())):
        assert isinstance(product, st.Tensor)
        np.testing.assert_array_equal(np.asarray(product), a @ b)
    out = st.empty(0, dtype=name)
    assert np.matmul(a, y, out=out) is out
    np.testing.assert_array_equal(out.numpy(), a @ b)
    array = np.zeros_like(a @ b)
    assert np.matmul(a, y, out=array) is array
    np.testing.assert_array_equal(array, a @ b)


def test_an_array_times_a_tensor_in_place_is_the_array():
    a = np.eye(2)
    before = a
    a @= st.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=st.float64)
    assert a is before and a.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float64", "int8", "bool", "complex128"])
def test_arrays_like_a_tensor_have_its_dtype(name):
    x = st.zeros(2, 3, dtype=name)
    for result, value in [
        (np.ones_like(x), 1), (np.zeros_like(x), 0), (np.full_like(x, 1), 1), (np.full_like(x, fill_value=1), 1),
        (np.ones_like(x, order="F"), 1), (np.full_like(x, np.ones(3)), 1), (np.ones_like(a=x, subok=False), 1),
    ]:  # fmt: skip
        assert isinstance(result, st.Tensor) and result.dtype == x.dtype and result.shape == (2, 3)
        assert (result.to(st.complex128) == value).all()
    assert np.empty_like(x).dtype == x.dtype and np.empty_like(x).shape == (2, 3)
    assert np.ones_like(x, shape=(4,)).dtype == x.dtype and np.ones_like(x, shape=4).shape == (4,)


def test_arrays_like_a_tensor_of_another_dtype():
    x = st.zeros(2, dtype=st.bfloat16)
    for dtype in (np.float64, "float64", float, "float", st.float64):
        assert np.ones_like(x, dtype=dtype).dtype == st.float64, dtype
    assert np.ones_like(st.zeros(2), dtype=st.bfloat16).dtype == st.bfloat16
    assert np.ones_like(np.zeros(2)).dtype == np.float64
