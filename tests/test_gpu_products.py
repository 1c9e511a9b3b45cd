"""Products of matrices on devices, against those of the CPU: integers bit for bit, and floats where every sum is exact."""

import os
import subprocess
import sys

import pytest
from gpu_devices import needs_gpu

import strided as st

pytestmark = needs_gpu

#: Dtypes whose programs the default run compiles, and the others.
DTYPES = [st.float32, st.complex64, st.int32]
SLOW_DTYPES = [st.float64, st.complex128, st.uint8, st.int8, st.int16, st.int64, st.uint64]
ALL_DTYPES = DTYPES + [pytest.param(dtype, marks=pytest.mark.slow) for dtype in SLOW_DTYPES]

#: Extents of products: vectors, small ones, those that end inside a panel or tile, and long sums.
EXTENTS = [
    (1, 1, 1),
    (3, 4, 5),
    (1, 300, 40),
    (40, 300, 1),
    (1, 5000, 1),
    (65, 33, 70),
    (96, 64, 96),
    (61, 0, 47),
    (0, 5, 3),
    (200, 700, 300),
]


def numbers(*shape, dtype=st.float32, seed=0):
    """Small integers, whose products and sums are exact in every dtype."""
    generator = st.Generator().manual_seed(seed)
    low = 0 if dtype in (st.uint8, st.uint64) else -3
    x = st.randint(low, 4, shape, generator=generator)
    if dtype.is_complex:
        return x.to(dtype) + st.randint(low, 4, shape, generator=generator).to(dtype) * 1j
    return x.to(dtype)


def check(function, *tensors):
    """The result on a device has the bits of that on the CPU."""
    expected, result = function(*tensors), function(*(x.gpu() for x in tensors))
    assert str(result.device).startswith("gpu")
    assert result.dtype == expected.dtype and result.shape == expected.shape
    assert result.cpu().equal(expected)


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_products_of_all_extents(dtype):
    for rows, depth, columns in EXTENTS:
        check(st.matmul, numbers(rows, depth, dtype=dtype), numbers(depth, columns, dtype=dtype, seed=1))


def layouts(rows, columns):
    """A matrix in several layouts, each made of one that is row-major by a function."""
    yield (rows, columns), lambda x: x
    yield (columns, rows), lambda x: x.t()
    yield (2 * rows, 2 * columns + 1), lambda x: x[::2, 1::2]
    yield (rows, columns), lambda x: x[::-1, ::-1]
    yield (rows + 3, columns), lambda x: x[3:]
    yield (1, columns), lambda x: x.expand(rows, columns)
    yield (rows, 1), lambda x: x.expand(rows, columns)


@pytest.mark.parametrize("extents", [(37, 41, 45), (2, 3, 4), (1, 130, 9)])
def test_operands_of_any_layout(extents):
    rows, depth, columns = extents
    for left_shape, left in layouts(rows, depth):
        for right_shape, right in layouts(depth, columns):
            x, y = numbers(*left_shape), numbers(*right_shape, seed=1)
            expected = left(x) @ right(y)
            assert (left(x.gpu()) @ right(y.gpu())).cpu().equal(expected)


@pytest.mark.parametrize("extents", [(40, 30, 50), (3, 4, 5)])
def test_batches_broadcast(extents):
    rows, depth, columns = extents
    for left, right in [((4,), (4,)), ((2, 3), (3,)), ((), (5,)), ((5,), ()), ((2, 1), (1, 3)), ((0,), (1,))]:
        check(st.matmul, numbers(*left, rows, depth), numbers(*right, depth, columns, seed=1))
    x, y = numbers(3, rows, depth), numbers(depth, 3, columns, seed=1)
    check(lambda x, y: x @ y.permute(1, 0, 2), x, y)
    check(lambda x, y: st.bmm(x[::2], y.permute(1, 0, 2)[::-2]), x, y)


def test_more_batch_loops_than_a_kernel_runs():
    shape = (2,) * 10
    x, y = numbers(*shape, 3, 4), numbers(*shape, 4, 2, seed=1)
    order = [*range(9, -1, -1), 10, 11]
    check(lambda x, y: x.permute(order) @ y, x, y)


def test_vectors():
    x, v, w = numbers(50, 30), numbers(30, seed=1), numbers(50, seed=2)
    check(st.mv, x, v)
    check(st.matmul, w, x)
    check(st.dot, v, v.flip(0))
    check(lambda a, b: st.dot(a, b[::-1]), numbers(100_000), numbers(100_000, seed=1))


@pytest.mark.parametrize("extents", [(40, 30, 50), (3, 4, 5)])
def test_factors(extents):
    rows, depth, columns = extents
    a, b, c = numbers(rows, depth), numbers(depth, columns, seed=1), numbers(rows, columns, seed=2)
    for alpha, beta in [(1, 1), (2, 0), (-1, 3), (0.5, 1)]:
        check(lambda c, a, b, alpha=alpha, beta=beta: st.addmm(c, a, b, alpha=alpha, beta=beta), c, a, b)
    check(lambda c, a, b: st.addmm(c[0], a, b, beta=2), c, a, b)
    # An output is not read if beta is 0.
    nan = st.full((rows, columns), float("nan")).gpu()
    assert st.mm(a.gpu(), b.gpu(), out=nan).cpu().equal(a @ b)


def test_outputs_of_any_layout():
    a, b = numbers(40, 30), numbers(30, 50, seed=1)
    for shape, view in layouts(40, 50):
        if 1 in shape:
            continue
        memory = st.zeros(shape).gpu()
        st.matmul(a.gpu(), b.gpu(), out=view(memory))
        expected = st.zeros(shape)
        view(expected).copy_(a @ b)
        assert memory.cpu().equal(expected)
    # The output is an operand.
    square = numbers(48, 48)
    on_device = square.gpu()
    st.mm(on_device, on_device, out=on_device)
    assert on_device.cpu().equal(square @ square)


def test_halves_are_computed_in_float32():
    a, b = numbers(20, 30, dtype=st.float16), numbers(30, 40, dtype=st.float16, seed=1)
    check(st.matmul, a, b)


def test_real_numbers_are_close_and_the_same_each_time():
    generator = st.Generator().manual_seed(5)
    a, b = st.randn(130, 200, generator=generator), st.randn(200, 150, generator=generator)
    first, second = (a.gpu() @ b.gpu()).cpu(), (a.gpu() @ b.gpu()).cpu()
    assert first.equal(second)
    exact = a.double() @ b.double()
    bound = 200 * 2**-23 * (a.double().abs() @ b.double().abs())
    assert ((first.double() - exact).abs() <= bound).all()


def test_refusals():
    a = numbers(3, 4)
    with pytest.raises(RuntimeError, match="on gpu:0 and cpu"):
        a.gpu() @ a.t()
    with pytest.raises(ValueError):
        a.gpu() @ a.gpu()


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["tiled", "packed"])
def test_kernels_of_other_kinds_of_devices(kernel):
    """The kernels for GPUs on the CPU: the tests above, in a process of their own."""
    if os.environ.get("STRIDED_OPENCL_PRODUCTS"):
        pytest.skip("this is that process")
    environment = {**os.environ, "STRIDED_OPENCL_PRODUCTS": kernel, "STRIDED_SLOW": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
