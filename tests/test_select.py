"""`clamp`, `where`, and the parts of complex numbers."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from strategies import (
    COMPLEX,
    DTYPES,
    FLOATS,
    INTS,
    LAYOUTS,
    assert_same,
    fresh,
    laid_out,
    memory_of,
    ordinary,
    random_memory,
    values_of,
)

import strided as st

NUMBERS = [*INTS, *FLOATS]


def clamped(a, low, high):
    """A bound that equals an element replaces it, which shows in the sign of zeros."""
    if low is not None:
        low = np.asarray(low, a.dtype)
        a = np.where((a > low) | (a != a), a, low)
    if high is not None:
        high = np.asarray(high, a.dtype)
        a = np.where((a < high) | (a != a), a, high)
    return a


@pytest.mark.parametrize("name", NUMBERS)
def test_clamp(name):
    for layout, (shape, _) in LAYOUTS.items():
        own = (1, shape[1]) if layout == "stride 0" else shape
        x = laid_out(layout, ordinary(name, own, 1), name)
        a = values_of(x).copy()
        low, high = (fresh(ordinary(name, shape, seed), name) for seed in (2, 3))
        bounds = [(3, None), (None, 50), (3, 50), (50, 3), (low, high), (low, None), (None, high), (low, 40), (2, high)]
        for minimum, maximum in bounds:
            values = [values_of(v) if isinstance(v, st.Tensor) else v for v in (minimum, maximum)]
            wanted = clamped(a, *values)
            for op in ("clamp", "clip"):
                assert_same(getattr(st, op)(x, minimum, maximum), wanted, name, f"{layout}")
                assert_same(getattr(x, op)(min=minimum, max=maximum), wanted, name, f"{layout}")
                if layout != "stride 0":
                    y = x.clone()
                    assert getattr(y, f"{op}_")(max=maximum, min=minimum) is y, layout
                    assert_same(y, wanted, name, f"in place: {layout}")
            out = st.empty(shape, dtype=x.dtype)
            assert st.clamp(x, minimum, maximum, out=out) is out, layout
            assert_same(out, wanted, name, f"out: {layout}")


def test_clamp_lets_nan_through():
    nan = math.nan
    x = st.tensor([nan, 1.0, 5.0])
    assert_same(x.clamp(2, 3), [nan, 2, 3], "float32")
    assert_same(x.clamp(min=nan), [nan] * 3, "float32")
    assert_same(x.clamp(0, nan), [nan] * 3, "float32")
    assert_same(x.clamp(st.tensor([0.0, nan, 0.0]), st.tensor([1.0, 1.0, nan])), [nan] * 3, "float32")
    assert_same(x.clamp_min(2), [nan, 2, 5], "float32")
    assert_same(x.clone().clamp_max_(2), [nan, 1, 2], "float32")
    assert_same(x.relu(), [nan, 1, 5], "float32")
    assert st.tensor([-2, 3]).relu_().tolist() == [0, 3]


def test_clamp_promotes_as_operators_do():
    x = st.tensor([1, 20], dtype=st.int8)
    assert x.clamp(2).dtype is st.int8
    assert x.clamp(0.5, 3).dtype is st.float32
    assert x.clamp(max=st.tensor([1.5], dtype=st.float64)).dtype is st.float64
    assert st.tensor([True, False]).clamp(0, 5).dtype is st.int64
    for call in (lambda: x.clamp_(0.5), lambda: x.clip_(max=0.5), lambda: st.clamp(x, 0, 1.5, out=x)):
        with pytest.raises(st.DTypeError, match=r"^cl.*: a float32 result cannot be stored into int8"):
            call()
    assert x.tolist() == [1, 20]


def test_clamp_refuses():
    x = st.arange(3)
    for call in (lambda: x.clamp(), lambda: st.clip(x, None, None), lambda: x.clamp_(min=None)):
        with pytest.raises(ValueError, match=r"^cl.*: min and max must not both be None"):
            call()
    with pytest.raises(TypeError, match=r"^clamp: argument 'input' is missing"):
        st.clamp(min=1)
    with pytest.raises(TypeError, match=r"^clamp: min must be a Tensor"):
        x.clamp([1, 2, 3])
    with pytest.raises(st.DTypeError, match=r"^clamp: "):
        st.tensor([1j]).clamp(0)
    with pytest.raises(st.DTypeError, match=r"^clamp: "):
        st.tensor([True]).clamp(False)
    with pytest.raises(st.ShapeError, match=r"^clamp: "):
        x.clamp(st.zeros(2))
    with pytest.raises(OverflowError, match=r"^clamp_: "):
        st.tensor([3], dtype=st.uint8).clamp_(-1, 300)


@pytest.mark.parametrize("name", DTYPES)
def test_where(name):
    for layout, (shape, _) in LAYOUTS.items():
        own = (1, shape[1]) if layout == "stride 0" else shape
        memories = [random_memory(name, s, seed) for s, seed in ((own, 1), (shape, 2))]
        x, y = laid_out(layout, memories[0], name), fresh(memories[1], name)
        mask = ordinary("bool", shape, 3)
        for condition in (fresh(mask, "bool"), laid_out(layout, ordinary("bool", own, 4), "bool")):
            chosen = values_of(condition)
            wanted = np.where(chosen, memory_of(x), memory_of(y))
            for got in (
                st.where(condition, x, y),
                x.where(condition, y),
                st.where(condition=condition, input=x, other=y),
                st.where(condition, x, y, out=st.empty(shape, dtype=x.dtype)),
            ):
                assert got.dtype.name == name, layout
                assert memory_of(got).tobytes() == wanted.tobytes(), layout
        number = True if name == "bool" else 3
        for left, right in ((x, number), (number, y)):
            got = st.where(fresh(mask, "bool"), left, right)
            values = [
                values_of(v) if isinstance(v, st.Tensor) else np.asarray(v, values_of(x).dtype) for v in (left, right)
            ]
            assert_same(got, np.where(mask, *values), name)


def test_where_broadcasts_and_promotes():
    condition = st.tensor([[True], [False]])
    x, y = st.tensor([1, 2, 3], dtype=st.int8), st.tensor(0.5, dtype=st.float16)
    got = st.where(condition, x, y)
    assert (got.dtype, got.tolist()) == (st.float16, [[1.0, 2.0, 3.0], [0.5, 0.5, 0.5]])
    assert st.where(condition, 1, 2).dtype is st.int64
    assert st.where(condition, 1, 2.5).tolist() == [[1.0], [2.5]]
    assert st.where(condition, True, False).dtype is st.bool
    assert st.where(condition, 1.0, 2j).dtype is st.complex64
    assert st.where(condition, x, 1.5).dtype is st.float32
    assert st.where(np.array([True, False, True]), x, 0).tolist() == [1, 0, 3]
    assert st.where(True, x, 0).tolist() == [1, 2, 3]
    assert st.where(st.zeros((0, 3), dtype=st.bool), x, 0).shape == (0, 3)
    # Bytes other than 1 are true as well.
    other_bytes = st.frombuffer(bytes([0, 1, 2, 255] * 20), dtype=st.bool)
    assert st.where(other_bytes, 1, 0).tolist() == [0, 1, 1, 1] * 20


def test_where_refuses():
    x = st.tensor([1.0, 2.0])
    for condition in (st.tensor([1, 0]), st.tensor([1, 0], dtype=st.uint8), x, 1):
        with pytest.raises(st.DTypeError, match=r"^where: condition is .*, wanted bool; `condition != 0` is"):
            st.where(condition, x, x)
    with pytest.raises(TypeError, match=r"^where: input and other"):
        st.where(x > 0, x)
    with pytest.raises(TypeError, match=r"^where: none of the operands"):
        st.where(True, 1, 2)
    with pytest.raises(TypeError, match=r"^where: input must be"):
        st.where(x > 0, [1.0, 2.0], x)
    with pytest.raises(st.DTypeError, match=r"^where: "):
        st.where(x > 0, x, x, out=st.zeros(2, dtype=st.int32))
    with pytest.raises(st.ShapeError, match=r"^where: "):
        st.where(x > 0, x, st.zeros(3))
    with pytest.raises(OverflowError, match=r"^where: "):
        st.where(x > 0, st.zeros(2, dtype=st.uint8), 300)
    assert x.tolist() == [1.0, 2.0]


def test_where_into_its_own_operands():
    x = st.arange(12, dtype=st.float32).view(3, 4)
    a = x.numpy().copy()
    st.where(x > 5, x, -1, out=x)
    assert x.tolist() == np.where(a > 5, a, -1).tolist()
    y = st.arange(9).view(3, 3)
    b = y.numpy().copy()
    st.where(y > 3, y.t(), y[::-1], out=y)
    assert y.tolist() == np.where(b > 3, b.T, b[::-1]).tolist()
    mask = st.tensor([True, False, True, True])
    st.where(mask[1:], mask[:-1], False, out=mask[1:])
    assert mask.tolist() == [True, False, False, True]


def test_where_large():
    random = np.random.default_rng(2)
    a, b = random.normal(size=(2, 500, 701)).astype("float32")
    assert_same(st.where(st.tensor(a > 0), st.tensor(a), st.tensor(b)), np.where(a > 0, a, b), "float32")
    assert_same(st.where(st.tensor(a > 0).t(), st.tensor(a.T.copy()), 0), np.where(a.T > 0, a.T, 0), "float32")


def test_the_reference_kernels_agree():
    """`where`, `round` and `isclose` have their own fast and reference kernels."""
    script = """
import strided as st
x = st.arange(-500, 500, dtype=st.float32) / 7
c = x > 3
print(st.where(c, x, -x).tolist(), st.where(c[::2], 1, x[::2]).tolist(), x.round(decimals=1).tolist(), x.isclose(x.round(), atol=0.1).tolist())
"""
    runs = [
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"STRIDED_KERNELS": kind},
            capture_output=True,
            text=True,
            check=True,
        )
        for kind in ("fast", "reference")
    ]
    assert runs[0].stdout == runs[1].stdout and len(runs[0].stdout) > 1000


@pytest.mark.parametrize("name", FLOATS)
def test_nextafter_steps_in_the_dtype_itself(name):
    bits = {2: "uint16", 4: "uint32", 8: "uint64"}[getattr(st, name).itemsize]
    x = st.tensor([0, 1, 100, 1000], dtype=getattr(st, bits)).view(getattr(st, name))
    assert x.nextafter(math.inf).view(getattr(st, bits)).tolist() == [1, 2, 101, 1001]
    assert x.nextafter(-math.inf).view(getattr(st, bits)).tolist() == [(1 << (8 * x.itemsize - 1)) + 1, 0, 99, 999]
    assert math.isnan(x.nextafter(math.nan)[0].item())
    assert math.copysign(1, st.tensor([0.0], dtype=name).nextafter(-0.0).item()) == -1
    top = st.tensor([math.inf], dtype=name)
    assert top.nextafter(0).nextafter(math.inf).item() == math.inf
    assert math.isfinite(top.nextafter(0).item())


def test_float_power_is_wide():
    assert st.tensor([2, 3]).float_power(2).dtype is st.float64
    assert st.tensor([2, 3]).float_power(-1).tolist() == [0.5, 1 / 3]
    assert st.ones(2, dtype=st.float16).float_power(2).dtype is st.float64
    assert st.tensor([1j]).float_power(2).dtype is st.complex128
    x = st.tensor([2.0, 3.0])
    assert x.float_power_(2) is x and x.tolist() == [4.0, 9.0]
    with pytest.raises(st.DTypeError, match=r"^float_power_: "):
        st.tensor([2]).float_power_(2)


def test_ldexp_is_exact():
    exponents = np.array([-1080, -1074, -1030, -100, 0, 3, 1000, 1023, 1024, 2000])
    for mantissa in (1.0, 1.5, -0.75, 2.0**-1060, 2.0**1000):
        got = st.ldexp(st.full((10,), mantissa, dtype=st.float64), st.tensor(exponents))
        with np.errstate(all="ignore"):
            assert got.tolist() == np.ldexp(mantissa, exponents).tolist()
    assert st.tensor([3.0]).ldexp(0.5).item() == pytest.approx(3 * math.sqrt(2), rel=1e-6)
    assert st.tensor([2, 3]).ldexp(st.tensor([1, -1])).tolist() == [4.0, 1.5]


# The parts of complex numbers


@pytest.mark.parametrize("name", COMPLEX)
def test_parts_are_views(name):
    memory = ordinary(name, (4, 6), 1)
    for view in (lambda x: x, lambda x: x.t(), lambda x: x[::2, 1:], lambda x: x[:, ::-1]):
        x = fresh(memory, name)
        y = view(x)
        part = {"complex64": "float32", "complex128": "float64"}[name]
        assert_same(st.real(y), values_of(y).real, part)
        assert_same(st.imag(y), values_of(y).imag, part)
        assert st.real(y).storage().data_ptr() == y.storage().data_ptr()
        y.real = 5
        y.imag = st.arange(y.shape[1])
        assert (values_of(y).real == 5).all()
        assert (values_of(y).imag == np.arange(y.shape[1])).all()
        pairs = y.view_as_real()
        assert pairs.shape == (*y.shape, 2)
        assert_same(pairs[..., 1], values_of(y).imag, part)
        assert pairs.view_as_complex().tolist() == y.tolist()
        pairs.zero_()
        assert not values_of(y).any()


def test_parts_of_real_tensors():
    x = st.tensor([1.5, -2.0])
    assert st.real(x) is x and x.real is x and x.conj() is x and st.conj(x) is x
    x.real = [3, 4]
    assert x.tolist() == [3.0, 4.0]
    for call in (lambda: st.imag(x), lambda: x.imag, lambda: setattr(x, "imag", 1)):
        with pytest.raises(st.DTypeError, match=r"^imag: input is float32, wanted a complex dtype"):
            call()
    with pytest.raises(TypeError, match="cannot be deleted"):
        del x.real
    with pytest.raises(TypeError, match=r"^imag: "):
        st.imag([1j])
    with pytest.raises(st.ShapeError):
        x.real = [1, 2, 3]
    assert x.tolist() == [3.0, 4.0]


def test_conj_is_a_copy():
    x = st.tensor([1 + 2j, -3j])
    y = x.conj()
    assert y.tolist() == [1 - 2j, 3j] and y.data_ptr() != x.data_ptr()
    assert st.conj(x).tolist() == y.tolist()
    assert x.isreal().tolist() == [False, False]
    assert st.isreal(st.tensor([complex(math.nan, 0), 1j])).tolist() == [True, False]


def test_view_as_complex_refuses_what_are_not_pairs():
    for x, message in (
        (st.zeros(3), "the last extent is 3, wanted 2"),
        (st.tensor(1.0), "rank 0"),
        (st.zeros(2, 2).t(), "the last stride is 2, wanted 1"),
        (st.zeros(5)[1:3], "the offset is 1"),
        (st.zeros(3, 3)[:, :2], "a stride is 3"),
        (st.zeros(2, dtype=st.float16), "input is float16"),
        (st.zeros(2, dtype=st.int32), "input is int32"),
    ):
        with pytest.raises((st.ShapeError, st.DTypeError), match=rf"^view_as_complex: .*{message}"):
            x.view_as_complex()
    with pytest.raises(st.DTypeError, match=r"^view_as_real: input is float32"):
        st.zeros(2).view_as_real()
    assert st.zeros(0, 2).view_as_complex().shape == (0,)
    assert st.tensor(1 + 2j).view_as_real().tolist() == [1.0, 2.0]


def test_other_names_and_forms():
    x = st.tensor([1.0, -2.0])
    assert st.logaddexp2(x, x).tolist() == [2.0, -1.0]
    assert x.clone().square_().tolist() == [1.0, 4.0]
    assert divmod(7, st.tensor([2, 3]))[0].tolist() == [3, 2]
    assert st.Tensor.__rdivmod__(st.tensor([2, 3]), 7)[1].tolist() == [1, 1]
    assert (x.is_floating_point(), x.is_complex(), x.is_signed()) == (True, False, True)
    for operator in ("__add__", "__radd__", "__and__", "__lt__"):
        assert getattr(x, operator)([1.0, 2.0]) is NotImplemented
    assert not hasattr(st, "isclose_nan") and not hasattr(st.Tensor, "where_")
