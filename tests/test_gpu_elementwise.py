"""Elementwise operations, casts, copies and views on a GPU: the results of the CPU, bit for bit where they are rounded exactly."""

import zlib

import numpy as np
import op_rows
import pytest
from gpu_devices import needs_gpu
from hypothesis import given, settings
from hypothesis import strategies as hs
from strategies import DTYPES

import strided as st
from strided.testing import shapes, tensors

pytestmark = needs_gpu

ROWS = [row for row in op_rows.OPS.values() if getattr(st, row.name, None)]
CLASSES = {
    "any": DTYPES,
    "num": [name for name in DTYPES if name != "bool"],
    "counts": [name for name in DTYPES if name != "bool"],
    "real": [name for name in DTYPES if "complex" not in name],
    "order": [name for name in DTYPES if "complex" not in name and name != "bool"],
    "bits": [name for name in DTYPES if name == "bool" or "int" in name],
    "int": [name for name in DTYPES if "int" in name],
    "float": ["float16", "bfloat16", "float32", "float64"],
    "floats": ["float16", "bfloat16", "float32", "float64"],
    "field": ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"],
    "wide": ["float64", "complex128"],
    "select": DTYPES,
}
#: Operations of complex numbers on a GPU. Others are refused.
COMPLEX = """
abs absolute add sub subtract rsub mul multiply div divide true_divide reciprocal square addcmul addcdiv lerp neg negative positive sign
sgn conj_physical eq ne isclose where isnan isinf isfinite isreal logical_and logical_or logical_xor logical_not nan_to_num angle
"""
#: The bounds of OpenCL for float32 in ULP, of functions that are not rounded exactly; functions without a bound of its own are
#: compositions, for which the bounds of their parts are added up.
ULP = {
    "abs": 4, "absolute": 4, "acos": 4, "acosh": 4, "angle": 6, "arccos": 4, "asin": 4, "asinh": 4, "atan": 5, "atan2": 6,
    "atanh": 5, "cos": 4, "cosh": 4, "cube": 1, "digamma": 32, "erf": 16, "erfc": 16, "erfinv": 32, "exp": 3, "exp2": 3,
    "expm1": 3, "float_power": 16, "hypot": 4, "ldexp": 4, "lgamma": 64, "log": 3, "log10": 3, "log1p": 2, "log2": 3,
    "logaddexp": 8, "logaddexp2": 8, "logit": 16, "pow": 16, "rsqrt": 3, "sigmoid": 6, "sin": 4, "sinc": 8, "sinh": 4,
    "softplus": 8, "tan": 5, "tanh": 5, "xlogy": 6,
}  # fmt: skip
#: Complex quotients and signs round several times; the compiler of the CPU may fuse none of them, and that of a device neither.
ROUNDED = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
#: Rows and dtypes of a quick run: each is a program to compile.
QUICK = [("add", "float32"), ("add", "complex64"), ("bitwise_xor", "int32"), ("exp", "float32")]


def cases():
    for row in ROWS:
        for name in CLASSES[row.accepts]:
            quick = (row.name, name) in QUICK
            yield pytest.param(row, name, id=f"{row.name}-{name}", marks=[] if quick else [pytest.mark.slow])


def operand(name, k, shape=(5, 7), row=None):
    """Values of a dtype, with special ones among those of floats. Divisors are not 0."""
    seed = np.random.default_rng([k, zlib.crc32(name.encode())])
    dtype = getattr(st, name)
    if name == "bool":
        return st.tensor(seed.integers(0, 2, shape).astype(bool))
    if dtype.is_complex:
        return st.tensor(seed.normal(size=shape) + 1j * seed.normal(size=shape)).to(dtype)
    if not dtype.is_floating_point:
        low = -100 if dtype.is_signed else 0
        values = seed.integers(low, 100, shape)
        if row is not None and k:
            values = np.where(values == 0, 1, values)
            values = np.abs(values) % 9 if row.name in ("pow", "float_power") or "shift" in row.name else values
        return st.tensor(values).to(dtype)
    values = seed.normal(size=shape) * 2
    values.flat[k : k + 6] = [np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5]
    return st.tensor(values).to(dtype)


def operands(row, name):
    all_ = [operand(name, k, row=row) for k in range(row.arity)]
    if row.accepts == "select":
        all_[0] = operand("bool", 0)
    return all_


def assert_like_cpu(got, want, row, name):
    """Equal, or within the bound of the operation."""
    assert got.device.type == "gpu" and got.dtype == want.dtype and got.shape == want.shape
    got = got.cpu()
    wide = np.complex128 if want.dtype.is_complex else np.float64
    a, b = got.to(getattr(st, np.dtype(wide).name)).numpy(), want.to(getattr(st, np.dtype(wide).name)).numpy()
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if want.dtype.is_floating_point or want.dtype.is_complex:
        part = want.real.dtype.name if want.dtype.is_complex else want.dtype.name
        ulps = 8 if want.dtype.is_complex else ULP.get(row.name, 0)
        with np.errstate(all="ignore"):
            # The CPU's own result is within an ULP of the exact one. Near a root, ULPs of the result say nothing.
            bound = (ulps + 1 if ulps else 0) * ROUNDED[part] * np.maximum(np.abs(b), 0.25)
            same |= np.abs(a - b) <= bound
    assert same.all(), (row.name, name, a[~same][:4], b[~same][:4])


@pytest.mark.parametrize(("row", "name"), list(cases()))
def test_results_are_those_of_the_cpu(row, name):
    function = getattr(st, row.name)
    inputs = operands(row, name)
    try:
        want = function(*inputs)
    except (st.DTypeError, st.ArgumentError):
        pytest.skip("the CPU refuses these operands")
    device = [x.gpu() for x in inputs]
    if getattr(st, name).is_complex and row.name not in COMPLEX.split():
        with pytest.raises(st.DeviceError, match=f"not available on gpu:0 for {name}"):
            function(*device)
        return
    assert_like_cpu(function(*device), want, row, name)
    # Other strides: transposed, steps, reversed, expanded.
    views = [lambda x: x.t(), lambda x: x[::2, ::3], lambda x: x.flip(0), lambda x: x[1:2].expand(4, 7), lambda x: x[2]]
    for view in views:
        assert_like_cpu(function(*map(view, device)), function(*map(view, inputs)), row, name)
    # Into an output of other strides, and in place.
    out = st.zeros(7, 5, dtype=want.dtype, device="gpu").t()
    assert function(*device, out=out) is out
    assert_like_cpu(out, want, row, name)
    if row.name != "where" and want.dtype == inputs[0].dtype:
        changed = device[0].clone()
        getattr(changed, f"{row.name}_")(*device[1:])
        assert_like_cpu(changed, want, row, name)


@pytest.mark.parametrize(
    "name", [name if name == "float32" else pytest.param(name, marks=pytest.mark.slow) for name in DTYPES]
)
def test_scalars_and_keywords(name):
    x = operand(name, 0)
    number = 2.5 if x.dtype.is_floating_point or x.dtype.is_complex else 2 if name != "bool" else True
    d = x.gpu()
    for call in (lambda x: x + number, lambda x: number - x if name != "bool" else number | x):
        assert_like_cpu(call(d), call(x), op_rows.OPS["add"], name)
    if name != "bool":
        for call in (lambda x: st.add(x, x, alpha=3), lambda x: x.clamp(0, 5) if not x.dtype.is_complex else x * 2):
            assert_like_cpu(call(d), call(x), op_rows.OPS["add"], name)


@pytest.mark.parametrize("to", DTYPES)
@pytest.mark.parametrize("from_", DTYPES)
@pytest.mark.slow
def test_casts(from_, to):
    check_cast(from_, to)


@pytest.mark.parametrize(("from_", "to"), [("int64", "bfloat16"), ("float64", "float16")])
def test_some_casts(from_, to):
    check_cast(from_, to)


def check_cast(from_, to):
    x = operand(from_, 0)
    if x.dtype.is_floating_point:
        large = [3e9, -3e9, 1e19, -1e19, 70000.0, 65519.0, 65520.0, 1e-8, 300.7, -300.7, 0.1, -0.1]
        x = st.cat([x.reshape(-1), st.tensor(large, dtype=st.float64).to(x.dtype)])
    elif "int" in from_:
        info = np.iinfo(from_)
        x = st.cat(
            [x.reshape(-1), st.tensor(np.array([info.min, info.max, info.max // 3, info.max // 257 * 2 + 1], from_))]
        )
    want = x.to(getattr(st, to))
    for view in (lambda x: x, lambda x: x[..., ::2], lambda x: x.flip(-1)):
        got = view(x.gpu()).to(getattr(st, to)).cpu()
        assert np.array_equal(bits(got), bits(view(want))), (got, view(want))


def bits(x):
    """The bits of elements, with one NaN."""
    x = (x.float() if x.dtype == st.bfloat16 else x.view_as_real() if x.dtype.is_complex else x).numpy()
    if x.dtype.kind != "f":
        return x
    return np.where(np.isnan(x), np.array(np.nan, x.dtype), x).view(f"u{x.dtype.itemsize}")


@given(data=hs.data())
@settings(deadline=None, max_examples=60)
def test_chains_of_views_move_as_they_are(data):
    x = data.draw(tensors(dtype=st.float32, shape=shapes(max_dims=5, max_side=4)))
    d = x.gpu()
    for _ in range(data.draw(hs.integers(0, 4))):
        step = data.draw(hs.sampled_from(["t", "flip", "narrow", "step", "unsqueeze", "expand"]))
        dim = data.draw(hs.integers(0, max(x.dim() - 1, 0)))
        if step == "unsqueeze":
            x, d = x.unsqueeze(dim), d.unsqueeze(dim)
        elif x.dim() == 0:
            continue
        elif step == "t":
            x, d = x.transpose(0, dim), d.transpose(0, dim)
        elif step == "flip":
            x, d = x.flip(dim), d.flip(dim)
        elif step == "narrow" and x.size(dim) > 1:
            x, d = x.narrow(dim, 1, x.size(dim) - 1), d.narrow(dim, 1, x.size(dim) - 1)
        elif step == "step":
            index = (slice(None),) * dim + (slice(None, None, 2),)
            x, d = x[index], d[index]
        elif step == "expand" and x.size(dim) == 1:
            shape = [3 if k == dim else n for k, n in enumerate(x.shape)]
            x, d = x.expand(shape), d.expand(shape)
    assert d.layout.shape == x.layout.shape
    assert d.cpu().equal(x) or bool(x.isnan().any())
    assert (d + d).cpu().equal(x + x) or bool(x.isnan().any())
    # From the CPU into a view of a device, and back into a view of the CPU.
    if x.layout.is_injective:
        d.copy_(x + 1)
        assert d.cpu().equal(x + 1) or bool(x.isnan().any())
        y = x.clone()
        y.copy_(d)
        assert y.equal(x + 1) or bool(x.isnan().any())


@pytest.mark.parametrize("name", ["float16", *(pytest.param(name, marks=pytest.mark.slow) for name in DTYPES)])
def test_where(name):
    condition, a, b = operand("bool", 0), operand(name, 1), operand(name, 2)
    got = st.where(condition.gpu(), a.gpu(), b.gpu()[2]).cpu()
    assert np.array_equal(bits(got), bits(st.where(condition, a, b[2])))
    assert np.array_equal(bits(a.gpu().where(condition.gpu(), b.gpu()).cpu()), bits(a.where(condition, b)))


def test_ranks_above_those_of_a_kernel():
    x = st.arange(2.0**11).view([2] * 11).permute(10, 0, 9, 1, 8, 2, 7, 3, 6, 4, 5)
    assert (x.gpu() + x.gpu()[::1]).cpu().equal(x + x)
    assert x.gpu().contiguous().cpu().equal(x)


def test_other_dtypes_and_devices_together():
    x, y = st.arange(6.0).view(2, 3).gpu(), st.arange(3).gpu()
    assert (x + y).cpu().tolist() == [[0.0, 2.0, 4.0], [3.0, 5.0, 7.0]]
    for call in (lambda: x + y.cpu(), lambda: x.cpu() + y, lambda: st.add(x, x, out=st.zeros(2, 3))):
        with pytest.raises(
            st.DeviceError, match=r"the operands are on (gpu:0 and cpu|cpu and gpu:0); they must be on one device"
        ):
            call()
    with pytest.raises(st.DeviceError, match=r"sort: not available on gpu:0; copy the tensor to the CPU by \.cpu\(\)"):
        x.sort()
    with pytest.raises(ZeroDivisionError):
        y // st.zeros(3, dtype=st.int64).gpu()
