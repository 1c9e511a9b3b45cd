"""Creation functions: linspace, logspace, eye, empty_strided, scalar_tensor, the new_* methods, and their `out=`."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from strategies import COMPLEX, DTYPES, FLOATS, INTS

import strided as st

#: Binary digits of each float's significand.
DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
MIN_EXPONENT = {"float16": -24, "bfloat16": -133, "float32": -149, "float64": -1074}
NUMBERS = [name for name in DTYPES if name != "bool"]

finite = hs.floats(allow_nan=False, allow_infinity=False)


def exact_linspace(start, end, steps):
    """The definition of linspace, in fractions."""
    start, end = Fraction(start), Fraction(end)
    if steps == 1:
        return [start]
    return [start + (end - start) * i / (steps - 1) for i in range(steps)]


def spacing(value, name):
    """The distance between neighbours of a dtype around an exact value: one unit in its last place."""
    exponent = math.frexp(float(value))[1] if value else MIN_EXPONENT[name]
    return Fraction(2) ** max(exponent - DIGITS[name], MIN_EXPONENT[name])


# linspace


@given(finite, finite, hs.integers(2, 200))
@settings(max_examples=300)
def test_linspace_is_within_one_ulp(start, end, steps):
    got = st.linspace(start, end, steps, dtype=st.float64).tolist()
    assert got[0] == start and got[-1] == end
    # Near a zero crossing, start and i * step cancel: there the error is bounded relative to the larger end.
    floor = max(abs(Fraction(start)), abs(Fraction(end))) / 2**90
    for value, exact in zip(got, exact_linspace(start, end, steps), strict=True):
        assert abs(Fraction(value) - exact) <= max(spacing(exact, "float64"), floor)


@pytest.mark.parametrize("name", FLOATS)
@given(hs.integers(-2000, 2000), hs.integers(-2000, 2000), hs.integers(2, 5000))
@settings(max_examples=60)
def test_linspace_of_every_float_dtype_is_rounded_once(name, start, end, steps):
    start, end = Fraction(start, 16), Fraction(end, 16)
    got = st.linspace(float(start), float(end), steps, dtype=name).tolist()
    for i in {0, 1, steps // 3, steps // 2, steps - 2, steps - 1}:
        exact = start + (end - start) * i / (steps - 1)
        # Half an ulp, and a small allowance for the computation in float64.
        assert abs(Fraction(got[i]) - exact) <= spacing(exact, name) * Fraction(500_001, 1_000_000)
        if exact == 0:
            assert got[i] == 0


@given(finite, finite, hs.integers(2, 100))
def test_exchanging_the_ends_reverses_linspace(start, end, steps):
    there = st.linspace(start, end, steps, dtype=st.float64).tolist()
    back = st.linspace(end, start, steps, dtype=st.float64).tolist()
    if steps % 2:  # each half is computed from its own end
        middle = steps // 2
        assert there[middle] == pytest.approx(back[middle], rel=1e-15, abs=max(abs(start), abs(end)) * 2.0**-88)
        del there[middle], back[middle]
    assert there == back[::-1]


@pytest.mark.parametrize("steps", [3, 49, 99, 103, 10_001, 200_001])
@pytest.mark.parametrize("name", FLOATS)
def test_the_middle_of_a_symmetric_linspace_is_zero(steps, name):
    x = st.linspace(-1, 1, steps, dtype=name)
    assert x[steps // 2].item() == 0
    assert (x + x.flip(0)).abs().sum().item() == 0


@pytest.mark.parametrize("steps", [1000, 4096, 4097, 100_000])
def test_long_linspaces_are_close_to_those_of_numpy(steps):
    for start, end in ((0, 1), (-3.5, 11.25), (1e-3, 1e3), (7, -7)):
        wanted = np.linspace(start, end, steps)
        np.testing.assert_allclose(
            st.linspace(start, end, steps, dtype=st.float64).numpy(), wanted, rtol=1e-14, atol=1e-14
        )
        assert np.array_equal(st.linspace(start, end, steps).numpy()[[0, -1]], np.float32([start, end]))


@pytest.mark.parametrize("name", INTS)
@given(hs.data())
@settings(max_examples=60)
def test_linspace_of_integers_is_exact_and_truncated(name, data):
    info = np.iinfo(name)
    values = hs.integers(int(info.min), int(info.max))
    start, end, steps = data.draw(values), data.draw(values), data.draw(hs.integers(1, 300))
    got = st.linspace(start, end, steps, dtype=name)
    assert got.dtype.name == name
    assert got.tolist() == [math.trunc(value) for value in exact_linspace(start, end, steps)]


def test_the_ends_of_an_integer_linspace_are_truncated_first():
    assert st.linspace(0.5, 3.9, 4, dtype=st.int64).tolist() == [0, 1, 2, 3]
    assert st.linspace(-0.5, -3.9, 4, dtype=st.int8).tolist() == [0, -1, -2, -3]
    assert st.linspace(True, 5, 3, dtype=st.uint8).tolist() == [1, 3, 5]


@pytest.mark.parametrize("name", COMPLEX)
def test_linspace_of_complex_numbers(name):
    x = st.linspace(1 - 2j, 3 + 4j, 7, dtype=name)
    np.testing.assert_allclose(x.numpy(), np.linspace(1 - 2j, 3 + 4j, 7), rtol=1e-6)
    assert st.linspace(0, 1j, 2).dtype is st.complex64
    assert st.linspace(0, 1j, 3).tolist() == [0, 0.5j, 1j]


@pytest.mark.parametrize("make", [st.linspace, st.logspace])
def test_zero_one_and_invalid_steps(make):
    for name in NUMBERS:
        assert make(2, 5, 0, dtype=name).shape == (0,)
        one = make(2, 5, 1, dtype=name).tolist()
        assert one == ([2] if make is st.linspace else [100])
    with pytest.raises(ValueError, match=rf"^{make.__name__}: steps is -1, wanted 0 or more"):
        make(0, 1, -1)
    with pytest.raises(TypeError, match=rf"^{make.__name__}: steps must be an int, got float"):
        make(0, 1, 2.5)
    with pytest.raises(TypeError, match=rf"^{make.__name__}: argument 'steps' is missing"):
        make(0, 1)
    with pytest.raises(TypeError, match=rf"^{make.__name__}: dtype is bool, wanted"):
        make(0, 1, 2, dtype=bool)
    with pytest.raises((MemoryError, ValueError), match=rf"^{make.__name__}: "):
        make(0, 1, 2**62)
    with pytest.raises(OverflowError, match=rf"^{make.__name__}: 300 does not fit uint8"):
        make(0, 300, 3, dtype=st.uint8)
    with pytest.raises(OverflowError, match=rf"^{make.__name__}: .* does not fit float32"):
        make(0, 1j, 3, dtype=st.float32)


def test_linspace_to_infinity_keeps_its_ends():
    x = st.linspace(0, math.inf, 5).tolist()
    assert x[0] == 0 and x[-1] == math.inf
    x = st.linspace(math.nan, 1, 3).tolist()
    assert math.isnan(x[0]) and x[-1] == 1
    assert st.linspace(-1.7e308, 1.7e308, 5, dtype=st.float64).tolist() == [-1.7e308, -0.85e308, 0, 0.85e308, 1.7e308]
    assert st.linspace(0, 4 * 5e-324, 5, dtype=st.float64).tolist() == [i * 5e-324 for i in range(5)]


# logspace


@given(hs.floats(-30, 30), hs.floats(-30, 30), hs.integers(1, 50), hs.sampled_from([2.0, 10.0, math.e, 0.5, 1.0]))
def test_logspace_is_close_to_that_of_numpy(start, end, steps, base):
    wanted = np.logspace(start, end, steps, base=base)
    np.testing.assert_allclose(st.logspace(start, end, steps, base, dtype=st.float64).numpy(), wanted, rtol=1e-13)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(st.logspace(start, end, steps, base).numpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("base", [2, 3, 7, 10, -3])
def test_logspace_of_integers_is_exact(base):
    last = int(math.log(2**63) / math.log(abs(base)) - 1e-9)
    assert st.logspace(0, last, last + 1, base, dtype=st.int64).tolist() == [base**i for i in range(last + 1)]
    if base > 0:
        assert st.logspace(0, last, last + 1, base, dtype=st.uint64).tolist() == [base**i for i in range(last + 1)]
    assert st.logspace(0, 3, 4, base, dtype=st.int16).tolist() == [base**i for i in range(4)]


def test_logspace_of_other_dtypes():
    assert st.logspace(0, 2, 3, dtype=st.float16).tolist() == [1, 10, 100]
    assert st.logspace(-2, 0, 3, dtype=st.int32).tolist() == [0, 0, 1]
    assert st.logspace(0, 1, 3, 4.0, dtype=st.uint8).tolist() == [1, 2, 4]
    with np.errstate(all="ignore"):
        wanted = np.power(complex(2.5), np.linspace(0, 1 + 1j, 5))
    np.testing.assert_allclose(st.logspace(0, 1 + 1j, 5, 2.5, dtype=st.complex128).numpy(), wanted, rtol=1e-13)
    wanted = np.power(complex(-2.5), np.linspace(0, 1 + 1j, 5))
    np.testing.assert_allclose(st.logspace(0, 1 + 1j, 5, -2.5, dtype=st.complex128).numpy(), wanted, rtol=1e-13)
    assert st.logspace(0, 1, 2, 0.0, dtype=st.complex64).tolist() == [1, 0]
    assert all(math.isnan(value) for value in st.logspace(0.25, 0.75, 3, -2.0).tolist())
    with pytest.raises(TypeError, match="base must be a real number, got complex"):
        st.logspace(0, 1, 3, 1j)


# eye, empty_strided, scalar_tensor


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("shape", [(3,), (2, 4), (4, 2), (0,), (0, 3), (3, 0), (1, 1)])
def test_eye_equals_that_of_numpy(name, shape):
    x = st.eye(*shape, dtype=name)
    assert (x.dtype.name == name and np.array_equal(x.float().numpy(), np.eye(*shape))) or x.is_complex()
    assert x.tolist() == np.eye(*shape).tolist()


def test_invalid_sizes_of_eye():
    with pytest.raises(ValueError, match=r"^eye: size -1 of dim 0 is negative"):
        st.eye(-1)
    with pytest.raises(ValueError, match=r"^eye: size -2 of dim 1 is negative"):
        st.eye(3, -2)
    with pytest.raises(ValueError, match=r"^eye: .*exceeds the address space"):
        st.eye(2**40)
    with pytest.raises(TypeError, match=r"^eye: n must be an int, got float"):
        st.eye(2.0)


@given(hs.lists(hs.tuples(hs.integers(0, 4), hs.integers(-9, 9)), max_size=4))
def test_empty_strided_allocates_exactly_the_span(modes):
    shape, stride = tuple(m[0] for m in modes), tuple(m[1] for m in modes)
    for x in (st.empty_strided(shape, stride), st.zeros(1).new_empty_strided(shape, stride)):
        assert x.shape == shape and x.stride() == stride and x.dtype is st.float32
        locations = [sum(i * s for i, s in zip(index, stride, strict=True)) for index in np.ndindex(shape)]
        if locations:
            assert len(x.storage()) == max(locations) - min(locations) + 1
            assert x.storage_offset() == -min(locations)
        x.clone()
        if len(set(locations)) == len(locations):
            assert x.fill_(3).sum().item() == 3 * len(locations)


def test_invalid_arguments_of_empty_strided():
    with pytest.raises(ValueError, match=r"^empty_strided: got 1 strides, wanted 2"):
        st.empty_strided((2, 3), (1,))
    with pytest.raises(ValueError, match=r"^empty_strided: size -2"):
        st.empty_strided((-2,), (1,))
    with pytest.raises(ValueError, match=r"^empty_strided: .*address space"):
        st.empty_strided((3, 3), (2**62, 1))
    with pytest.raises(MemoryError):
        st.empty_strided((2,), (2**55,))
    with pytest.raises(OverflowError):
        st.empty_strided((2,), (2**70,))


def test_scalar_tensor():
    for value, dtype in ((3, st.float32), (2.5, st.float32), (True, st.float32), (1j, st.complex64)):
        x = st.scalar_tensor(value)
        assert x.shape == () and x.dtype is dtype and x.item() == value, dtype
    assert st.scalar_tensor(3, dtype=st.int8).dtype is st.int8
    with pytest.raises(OverflowError):
        st.scalar_tensor(300, dtype=st.uint8)


# new_*


@pytest.mark.parametrize("name", DTYPES)
def test_new_tensors_of_the_same_dtype(name):
    x = st.ones(2, dtype=name)
    for make in (x.new_empty, x.new_zeros, x.new_ones):
        for size in ((2, 3), ((2, 3),), ([2, 3],), (st.Size([2, 3]),)):
            assert make(*size).shape == (2, 3) and make(*size).dtype is x.dtype
        assert make(size=(2, 3)).shape == make(shape=(2, 3)).shape == (2, 3)
        assert make(2, dtype=st.int16).dtype is st.int16
        assert make(()).shape == ()
        with pytest.raises(ValueError, match="negative"):
            make(-1)
        with pytest.raises(TypeError, match="argument 'size' is missing"):
            make()
        with pytest.raises(ValueError, match="autograd"):
            make(2, requires_grad=True)
    assert x.new_zeros(2, 2).tolist() == [[0, 0], [0, 0]]
    assert x.new_ones(2, 2).tolist() == [[1, 1], [1, 1]]
    assert x.new_full((2,), 1).tolist() == [1, 1] and x.new_full((2,), 1).dtype is x.dtype
    assert x.new_full((2,), 7, dtype=st.int32).tolist() == [7, 7]
    made = x.new_tensor([0, 1])
    assert made.tolist() == [0, 1] and made.dtype is x.dtype
    assert x.new_tensor(x).data_ptr() != x.data_ptr()
    assert x.new_tensor(np.arange(2), dtype=st.float64).dtype is st.float64


# out=

MAKERS = {
    "zeros": lambda **words: st.zeros(2, 3, **words),
    "ones": lambda **words: st.ones(2, 3, **words),
    "full": lambda **words: st.full((2, 3), 2, **words),
    "eye": lambda **words: st.eye(2, 3, **words),
    "arange": lambda **words: st.arange(6, **words),
    "range": lambda **words: st.range(0, 5, **words),
    "linspace": lambda **words: st.linspace(0, 10, 6, **words),
    "logspace": lambda **words: st.logspace(0, 1, 6, 2, **words),
}


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("name", NUMBERS)
def test_out_receives_the_result_whatever_its_strides(maker, name):
    make = MAKERS[maker]
    if maker in ("arange", "range") and name in COMPLEX:
        with pytest.raises(TypeError, match=rf"^{maker}: dtype is {name}"):
            make(out=st.zeros(6, dtype=name))
        assert make(out=st.zeros(6, dtype=name), dtype=st.float32).tolist() == [0, 1, 2, 3, 4, 5]
        return
    new = make(dtype=name)
    memory = st.zeros(*new.shape, 2, dtype=name)
    for out in (st.ones(*new.shape, dtype=name), memory.select(-1, 1), st.ones(*new.shape, dtype=name).flip(0)):
        assert make(out=out) is out and out.dtype is new.dtype
        assert out.tolist() == new.tolist()
    assert memory.select(-1, 0).tolist() == st.zeros(*new.shape, dtype=name).tolist()


@pytest.mark.parametrize("maker", MAKERS)
def test_an_out_that_does_not_fit(maker):
    make = MAKERS[maker]
    wrong = st.ones(7)
    with pytest.raises(ValueError, match=rf"^{maker}: out has shape 7, wanted"):
        make(out=wrong)
    assert wrong.tolist() == [1] * 7
    assert make(out=st.zeros(0)).tolist() == make().tolist()  # an out without elements is resized
    shape = make().shape
    whole = st.ones(shape, dtype=st.int32)
    with pytest.raises(TypeError, match=rf"^{maker}: a float32 result cannot be stored into int32"):
        make(out=whole, dtype=st.float32)
    assert whole.tolist() == st.ones(shape).tolist()
    assert make(out=st.ones(shape, dtype=st.float64), dtype=st.int32).tolist() == make(dtype=st.int32).tolist()
    with pytest.raises(ValueError, match="share memory"):
        make(out=st.zeros(1).expand(shape))
    fixed = st.frombuffer(bytes(24)).view(shape)
    with pytest.raises(st.StorageError, match=rf"^{maker}: the memory is read-only"):
        make(out=fixed)
    with pytest.raises(TypeError, match=rf"^{maker}: out must be a Tensor, got ndarray"):
        make(out=np.zeros(shape))


def test_a_value_is_cast_to_the_dtype_that_was_asked_for():
    out = st.zeros(2, dtype=st.float64)
    assert st.full((2,), 2.7, dtype=st.int32, out=out).tolist() == [2, 2]
    assert st.full((2,), 2.7, out=out).tolist() == [2.7, 2.7]
    assert st.linspace(0, 0.1, 2, dtype=st.float16, out=out).tolist() == [0, float(np.float16(0.1))]
    with pytest.raises(OverflowError, match="300 does not fit uint8"):
        st.full((2,), 300, dtype=st.uint8, out=out)


def test_empty_into_out():
    out = st.ones(2, 3)
    assert st.empty(2, 3, out=out) is out
    with pytest.raises(ValueError, match="out has shape 2x3, wanted 3x2"):
        st.empty(3, 2, out=out)
    with pytest.raises(TypeError, match="a float32 result cannot be stored into int64"):
        st.full((2,), 1.5, out=st.zeros(2, dtype=st.int64))
