"""Reductions and softmax on devices: against models in more precision, and against the CPU.

A program is compiled for each operation and dtype, which takes most of the time. So a few pairs are tested always, and all of them
if slow tests are wanted.
"""

import math
import os
import subprocess
import sys

import gpu_devices
import numpy as np
import pytest
from gpu_devices import on_gpu
from reduction_models import (
    DIMS,
    SHAPES,
    assert_near,
    axes_of,
    bits,
    eps,
    finite,
    moderate,
    near_one,
    of_all,
    of_any,
    of_count_nonzero,
    of_logsumexp,
    of_mean,
    of_nanmean,
    of_nansum,
    of_norm,
    of_prod,
    of_std,
    of_sum,
    of_var,
    own_shape,
    tensor_of,
    with_nan,
)
from strategies import COMPLEX, DTYPES, FLOATS, ordinary, values_of

import strided as st

pytestmark = gpu_devices.needs_gpu

#: Name -> values that suit it, its model, and whether it takes complex numbers.
OPS = {
    "sum": (finite, of_sum, True),
    "nansum": (with_nan, of_nansum, False),
    "prod": (near_one, of_prod, True),
    "mean": (finite, of_mean, True),
    "nanmean": (with_nan, of_nanmean, False),
    "all": (finite, of_all, True),
    "any": (finite, of_any, True),
    "count_nonzero": (finite, of_count_nonzero, True),
    "var": (moderate, of_var, True),
    "std": (moderate, of_std, True),
    "norm": (moderate, of_norm, True),
    "logsumexp": (moderate, of_logsumexp, False),
}
EXTREMES = {
    "amax": lambda x, dim: (x.amax(dim),),
    "amin": lambda x, dim: (x.amin(dim),),
    "argmax": lambda x, dim: (x.argmax(dim),),
    "argmin": lambda x, dim: (x.argmin(dim),),
    "aminmax": lambda x, dim: tuple(x.aminmax(dim=dim)),
    "max": lambda x, dim: tuple(x.max(dim)) if dim is not None else (),
    "min": lambda x, dim: tuple(x.min(dim)) if dim is not None else (x.min(),),
}
#: Whether the device is to compute without double, as `test_as_on_gpus` asks for.
SINGLE = os.environ.get("STRIDED_OPENCL_AS_GPU") == "single"
without_double = pytest.mark.skipif(SINGLE, reason="the device has no double")
NORMS = (0, 1, 3, 0.5, math.inf, -math.inf)
REAL = [name for name in DTYPES if name not in COMPLEX]


def some(pairs, always):
    """The parameters of a test: all but some of them are slow."""

    def marks(pair):
        slow = [] if pair in always else [pytest.mark.slow]
        return [*slow, without_double] if pair[1] in ("float64", "complex128") else slow

    return [pytest.param(*pair, marks=marks(pair)) for pair in pairs]


def model_of(op, *arguments):
    """The result and its bounds. Without double, variances are computed in float32."""
    result, wanted, allowed = OPS[op][1](*arguments)
    if SINGLE and op in ("var", "std", "norm"):
        allowed = allowed * 2.0**29
    return result, wanted, allowed


def cases(rank):
    return [dims for dims in DIMS[rank] if rank < 9 or not isinstance(dims, tuple) or len(dims) < 9]


MATRIX = some(
    [(op, name) for op, (_, _, complex_too) in OPS.items() for name in (DTYPES if complex_too else REAL)],
    {
        ("sum", "float32"), ("sum", "complex64"), ("mean", "bfloat16"), ("var", "float32"),
        ("logsumexp", "float32"),
    },
)  # fmt: skip


@pytest.mark.parametrize(("op", "name"), MATRIX)
def test_matrix(op, name):
    data = OPS[op][0]
    for layout in SHAPES:
        host = tensor_of(layout, data(name, own_shape(layout), 1), name)
        x, values = on_gpu(host), values_of(host)
        for dims in cases(values.ndim) if values.size < 10_000 else (None, 1, (0, 2)):
            axis = axes_of(values, dims)
            for keep in (False, True):
                got = getattr(x, op)(dim=dims, keepdim=keep)
                assert got.device == x.device
                assert_near(got.cpu(), model_of(op, values, name, axis, keep), f"{layout} {dims} {keep}")
                # Into a strided output: the same bits.
                whole = st.zeros((*got.shape, 2), dtype=got.dtype, device="gpu:0")
                out = whole[..., 1]
                assert getattr(st, op)(x, dim=dims, keepdim=keep, out=out) is out
                assert bits(whole.cpu()[..., 1]) == bits(got.cpu()), (layout, dims, keep)


@pytest.mark.parametrize(
    ("op", "name"),
    some([(op, name) for op in EXTREMES for name in REAL], {("argmax", "float32"), ("max", "float32")}),
)
def test_extremes(op, name):
    function = EXTREMES[op]
    for layout in SHAPES:
        host = tensor_of(layout, ordinary(name, own_shape(layout), 3), name)
        x = on_gpu(host)
        for dims in cases(host.dim()) if host.numel() < 10_000 else (None, 1):
            if isinstance(dims, tuple) and op in ("argmax", "argmin", "max", "min", "aminmax"):
                continue
            try:
                wanted = function(host, dims)
            except (ValueError, RuntimeError) as error:  # no terms
                with pytest.raises(type(error)):
                    function(x, dims)
                continue
            for got, expected in zip(function(x, dims), wanted, strict=True):
                assert got.dtype is expected.dtype
                np.testing.assert_array_equal(values_of(got.cpu()), values_of(expected), f"{layout} {dims}")


@pytest.mark.parametrize(("p", "name"), some([(p, name) for p in NORMS for name in DTYPES], {(3, "float32")}))
def test_norms(p, name):
    for layout in ("dense", "column-major", "size 0"):
        host = tensor_of(layout, moderate(name, own_shape(layout), 1), name)
        x, values = on_gpu(host), values_of(host)
        for dims in (None, 0, 1):
            if abs(p) == math.inf and values.size == 0:
                continue
            assert_near(x.norm(p, dims).cpu(), of_norm(values, name, axes_of(values, dims), False, p), (layout, dims))


def test_special_values():
    inf, nan = math.inf, math.nan
    for values in (
        [inf, 1.0],
        [inf, -inf],
        [nan, 1.0],
        [-inf, -1.0],
        [-inf, -inf],
        [-0.0, -0.0],
        [],
    ):
        x = st.tensor(values, dtype=st.float32)
        g = x.gpu()
        for op in ("sum", "var", "logsumexp"):
            np.testing.assert_equal(getattr(g, op)().item(), getattr(x, op)().item(), f"{op} {values}")
    assert math.copysign(1, st.tensor([-0.0] * 40).gpu().sum().item()) == -1
    assert math.copysign(1, st.zeros(0).gpu().sum().item()) == 1


def test_ties_and_nan():
    values = np.zeros((50, 300), np.float32)
    values[:, 77] = values[:, 200] = 1
    x = st.from_numpy(values).gpu()
    assert x.argmax().item() == 77
    assert x.argmax(1).cpu().tolist() == [77] * 50
    assert x.max(0).indices.cpu().tolist() == [0] * 300
    values[3, 250] = values[4, 20] = np.nan
    x = st.from_numpy(values).gpu()
    assert x.argmax().item() == 3 * 300 + 250
    assert x.t().argmax().item() == 20 * 50 + 4
    assert x.max(1).indices.cpu().tolist()[2:6] == [77, 250, 20, 77]
    assert math.isnan(x.max(1).values.cpu()[4].item())


SIZES = {
    "long": (1_000_000,),
    "square": (1000, 1000),
    "wide": (3, 100_000),
    "tall": (100_000, 3),
    "slice": (500, 500, 7),
}


@pytest.mark.parametrize("size", SIZES)
def test_large(size):
    shape = SIZES[size]
    memory = moderate("float32", shape, 5)
    values = memory
    x = st.from_numpy(memory).gpu()
    if size == "slice":
        x, values = x[..., 1:6:2], memory[..., 1:6:2]
    for dims in (None, *range(x.dim())):
        axis = axes_of(values, dims)
        for op in ("sum", "var", "logsumexp"):
            got = getattr(x, op)(dims) if dims is not None else getattr(x, op)()
            again = getattr(x, op)(dims) if dims is not None else getattr(x, op)()
            assert bits(got.cpu()) == bits(again.cpu())
            assert_near(got.cpu(), model_of(op, values, "float32", axis, False), (op, dims))
        assert (values_of(x.argmax(dims).cpu()) == values.argmax(axis)).all()


def test_sum_is_as_exact_as_pairwise_summation():
    values = np.full(2_000_003, 0.1, np.float32)
    got = st.from_numpy(values).gpu().sum().item()
    assert abs(got - values.astype(np.float64).sum()) <= 0.02


@without_double
def test_out_of_another_dtype():
    x = st.arange(12, dtype=st.float32).view(3, 4)
    out = st.zeros(4, dtype=st.float64, device="gpu:0")
    st.sum(x.gpu(), 0, out=out)
    assert out.cpu().tolist() == x.sum(0).tolist()
    with pytest.raises(st.DeviceError):
        st.sum(x.gpu(), 0, out=st.zeros(4))


def test_output_that_is_the_input():
    x = st.arange(12, dtype=st.float32).view(3, 4).gpu()
    st.sum(x, 0, out=x[0])
    assert x.cpu()[0].tolist() == [12, 15, 18, 21]


def test_many_loops():
    """More loops than a kernel has: nothing folds in a transposed tensor whose every second dim is reduced."""
    host = st.arange(2**18, dtype=st.float32).view((2,) * 18).permute(*range(17, -1, -1))
    x, dims = on_gpu(host), tuple(range(0, 18, 2))
    assert (x.sum(dims).cpu() == host.sum(dims)).all()
    out = st.zeros((2,) * 9, device="gpu:0").permute(*range(8, -1, -1))
    assert (st.sum(x, dims, out=out).cpu() == host.sum(dims)).all()


def of_softmax(values, name, axis, log):
    """The differences from the largest element are rounded, the exponentials have an error, and so has their sum."""
    wide = values.astype(np.longdouble)
    logarithms = wide - wide.max(axis, keepdims=True)
    logarithms -= np.log(np.exp(logarithms).sum(axis, keepdims=True))
    unit = eps(name) * (16 + 2 * np.abs(logarithms))
    return (name, logarithms, unit) if log else (name, np.exp(logarithms), unit * np.exp(logarithms))


@pytest.mark.parametrize(
    ("op", "name"),
    some([(op, name) for op in ("softmax", "log_softmax") for name in FLOATS], {("softmax", "float32")}),
)
def test_softmax(op, name):
    for layout in SHAPES:
        host = tensor_of(layout, moderate(name, own_shape(layout), 1), name)
        x, values = on_gpu(host), values_of(host)
        for dim in range(-1, max(values.ndim - 1, 0)):
            if values.size == 0:
                assert getattr(x, op)(dim).shape == host.shape
                continue
            axes = dim if values.ndim else ()
            got = getattr(x, op)(dim)
            assert_near(got.cpu(), of_softmax(values, name, axes, op == "log_softmax"), f"{layout} {dim}")
            out = st.zeros_like(x)
            getattr(st, op)(x, dim, out=out)
            assert bits(out.cpu()) == bits(got.cpu())
    special = st.tensor([[1, math.inf], [math.nan, 1], [-math.inf, 0], [-math.inf, -math.inf]]).to(getattr(st, name))
    np.testing.assert_array_equal(values_of(getattr(special.gpu(), op)(1).cpu()), values_of(getattr(special, op)(1)))
    x = special.gpu()
    getattr(st, op)(x, 1, out=x)
    np.testing.assert_array_equal(values_of(x.cpu()), values_of(getattr(special, op)(1)))


def test_what_is_refused():
    x = st.ones(3, 4, dtype=st.complex128).gpu()
    with pytest.raises(st.DeviceError, match=r"logsumexp: not available on gpu:0 for complex.*; .*\.cpu\(\)"):
        x.logsumexp(0)
    with pytest.raises(ValueError, match="max"):
        st.ones(0, 3).gpu().amax(0)
    with pytest.raises(TypeError):
        x.amax(0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["double", "single"])
def test_as_on_gpus(kind):
    """What is chosen for GPUs, on PoCL: one lane, and neighbouring work items with neighbouring terms; and without double."""
    environment = os.environ | {"STRIDED_OPENCL_AS_GPU": kind, "STRIDED_SLOW": ""}
    arguments = ["-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-4000:]
