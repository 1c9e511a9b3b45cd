"""The 225 casts against a model: exact, and defined for every value and layout."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as hs
from strategies import (
    COMPLEX,
    DTYPES,
    FLOATS,
    INTS,
    LAYOUTS,
    assert_same,
    fresh,
    laid_out,
    memory_dtype,
    memory_of,
    ordinary,
    random_memory,
    to_memory,
    to_values,
    value_dtype,
    values_of,
)

import strided as st

THROUGH_INT32 = ("int8", "int16", "int32", "uint8", "uint16")
HALVES = ("float16", "bfloat16")


def float_to_int(values, target):
    """Truncate; what does not fit int32 (or int64, for wider targets) becomes its minimum; then wrap."""
    middle = np.dtype(np.int32 if target in THROUGH_INT32 else np.int64)
    low, high = np.iinfo(middle).min, np.iinfo(middle).max
    wide = values.astype(np.float64)
    with np.errstate(all="ignore"):
        whole = np.trunc(wide)
        good = (whole >= low) & (whole < float(high) + 1 if middle == np.int64 else whole <= high)
        return np.where(good, np.where(good, whole, 0).astype(middle), middle.type(low)).astype(target)


def cast(values, source, target):
    """Values (those of bfloat16 as float32) after a cast, as memory."""
    if target == "bool":
        return values != 0
    if source in COMPLEX and target not in COMPLEX:
        values = values.real
        source = "float64" if source == "complex128" else "float32"
    with np.errstate(all="ignore"):
        if target in INTS and source in FLOATS:
            return float_to_int(values, target)
        if target == "float16" and source in INTS:
            return values.astype(np.float64).astype(np.float16)  # exact where halves do not overflow
        if target == "bfloat16":
            return to_memory(values.astype(np.uint8) if source == "bool" else values, target)
        return values.astype(target)


def interesting(name):
    """Limits, ties and special values of a dtype, at which casts may fail, as memory."""
    if name == "bool":
        return np.array([False, True])
    if name in INTS:
        info = np.iinfo(name)
        edges = [2**k + d for k in (0, 7, 8, 11, 15, 16, 24, 31, 32, 53, 62, 63) for d in (-2, -1, 0, 1, 2)]
        # ties and near-ties of the halves' rounding
        edges += [
            257,
            385,
            2049,
            2051,
            4098,
            65519,
            65520,
            2**25 + 2**17 + 1,
            2**40 + 2**32,
            2**40 + 2**32 + 1,
            2**62 + 2**54 + 1,
        ]
        edges += [-e for e in edges]
        return np.array([e for e in edges if info.min <= e <= info.max] + [info.min, info.max], dtype=name)
    edges = [
        0.0,
        0.4,
        0.5,
        0.99,
        1.0,
        1.5,
        2.5,
        127.0,
        127.9,
        128.0,
        129.5,
        255.0,
        255.9,
        256.0,
        257.0,
        300.7,
        32767.5,
        32768.0,
    ]
    edges += [
        65504.0,
        65519.99,
        65520.0,
        65535.9,
        65536.0,
        1e5,
        2.0**31 - 1,
        2.0**31,
        2.0**31 + 1,
        3e9,
        2.0**32 - 1,
        2.0**32,
        2.0**33 + 5,
    ]
    edges += [2.0**53 + 2, 2.0**63 - 1024, 2.0**63, 2.0**64, 1e19, 1e30, 1e39, 1e300, np.inf, np.nan]
    # half subnormals and their ties, bfloat16's, and float32's
    edges += [
        2.0**-14,
        2.0**-15,
        2.0**-24,
        2.0**-25,
        2.0**-25 * 1.0001,
        3 * 2.0**-25,
        1e-8,
        2.0**-126,
        2.0**-133,
        2.0**-134,
        3 * 2.0**-134,
    ]
    edges += [
        2.0**-149,
        2.0**-150,
        1e-45,
        5e-324,
        1 + 2.0**-8,
        1 + 2.0**-8 + 2.0**-40,
        1 + 3 * 2.0**-8,
        1 + 2.0**-11,
        1 + 2.0**-11 + 2.0**-40,
    ]
    with np.errstate(over="ignore"):
        values = np.array(edges + [-e for e in edges])
        if name in COMPLEX:
            part = np.float32 if name == "complex64" else np.float64
            left, right = np.meshgrid(values.astype(part), np.array([0, -0.0, 2.5, np.inf, np.nan], part))
            pairs = np.stack([left, right], -1)
            return np.ascontiguousarray(pairs).view(name)[..., 0].ravel()
        return to_memory(values, name)


@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.parametrize("source", DTYPES)
def test_casts(source, target):
    memory = interesting(source)
    wanted = to_values(cast(to_values(memory, source), source, target), target)
    x = fresh(memory, source)
    assert_same(x.to(getattr(st, target)), wanted, target, "dense")
    # with gaps, backwards, and one element at a time
    spaced = fresh(np.repeat(memory, 3), source)[1::3]
    assert_same(spaced.to(target), wanted, target, "step 3")
    assert_same(x.flip(0).to(target), wanted[::-1], target, "backwards")
    out = st.zeros(2 * len(memory), dtype=target)[::2]
    out.copy_(x)
    assert_same(out, wanted, target, "into step 2")
    # longer than every vector width
    repeated = fresh(np.tile(memory, 40), source)
    assert_same(repeated.to(target), np.tile(wanted, 40), target, "long")


@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.parametrize("source", DTYPES)
def test_casts_of_every_layout(source, target):
    for layout, (shape, _) in LAYOUTS.items():
        own = (1, shape[1]) if layout == "stride 0" else shape
        x = laid_out(layout, ordinary(source, own, 3), source)
        wanted = to_values(cast(values_of(x), source, target), target)
        y = x.to(target)
        assert_same(y, wanted, target, layout)
        assert y.is_contiguous() or source == target, layout
        assert (y is x) == (source == target), layout


@pytest.mark.parametrize("name", DTYPES)
def test_a_copy_keeps_every_bit(name):
    memory = random_memory(name, (31, 17), 8)
    x = fresh(memory, name)
    assert memory_of(x.clone()).tobytes() == memory.tobytes()
    assert memory_of(x.t().clone()).tobytes() == memory.T.tobytes()
    assert memory_of(st.zeros(31, 17, dtype=name).copy_(x)).tobytes() == memory.tobytes()


def test_every_half_to_float_and_back():
    bits = np.arange(65536, dtype=np.uint16)
    x = st.from_numpy(bits).view(st.float16)
    with np.errstate(invalid="ignore"):  # which NumPy raises for signalling NaNs on some CPUs
        wide = bits.view(np.float16).astype(np.float32)
    assert_same(x.float(), wide, "float32")
    back = x.float().half().view(st.uint16).numpy()
    is_nan = np.isnan(bits.view(np.float16))
    assert (back == bits)[~is_nan].all()
    y = st.from_numpy(bits).view(st.bfloat16)
    assert memory_of(y.float()).tobytes() == (bits.astype(np.uint32) << 16).tobytes()
    back = y.float().bfloat16().view(st.uint16).numpy()
    is_nan = (bits & 0x7FFF) > 0x7F80
    assert (back == bits)[~is_nan].all()
    assert np.isnan(y.double().numpy()[is_nan]).all()


@pytest.mark.parametrize("name", HALVES)
def test_rounding_to_halves_at_every_tie(name):
    """Halfway between every pair of neighbours, and slightly to either side."""
    bits = np.arange(0x7C00 if name == "float16" else 0x7F80, dtype=np.uint16)
    values = (bits.view(np.float16) if name == "float16" else to_values(bits, name)).astype(np.float64)
    middle = (values[:-1] + values[1:]) / 2
    even = np.where(bits[:-1] % 2 == 0, bits[:-1], bits[1:])
    for source in (st.float32, st.float64):
        x = st.from_numpy(middle).to(source)
        assert (x.to(name).view(st.uint16).numpy() == even).all(), "ties go to even"
    hair = middle * 2.0**-45  # float32 cannot hold the difference; a cast from float64 must not lose it
    assert ((st.from_numpy(middle + hair)).to(name).view(st.uint16).numpy() == bits[1:]).all()
    assert ((st.from_numpy(middle - hair)).to(name).view(st.uint16).numpy() == bits[:-1]).all()


@given(hs.floats(), hs.sampled_from(DTYPES))
def test_any_float(value, target):
    x = st.tensor([value], dtype=st.float64)
    assert_same(x.to(target), to_values(cast(np.array([value]), "float64", target), target), target)


@given(hs.integers(-(2**63), 2**63 - 1), hs.sampled_from(DTYPES))
def test_any_int(value, target):
    x = st.tensor([value])
    assert_same(x.to(target), to_values(cast(np.array([value]), "int64", target), target), target)


@given(hs.integers(0, 2**64 - 1), hs.sampled_from(DTYPES))
def test_any_unsigned_int(value, target):
    x = st.tensor([value], dtype=st.uint64)
    assert_same(x.to(target), to_values(cast(np.array([value], np.uint64), "uint64", target), target), target)


WORDS = {
    "bool": "bool",
    "byte": "uint8",
    "char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "float": "float32",
    "double": "float64",
    "cfloat": "complex64",
    "cdouble": "complex128",
}


@pytest.mark.parametrize("word", WORDS)
def test_each_conversion_has_a_method(word):
    x = st.tensor([0, 1, 2, 3], dtype=st.uint16)
    y = getattr(x, word)()
    assert y.dtype.name == WORDS[word]
    assert y.tolist() == ([False, True, True, True] if word == "bool" else [0, 1, 2, 3])
    assert getattr(y, word)() is y


def test_all_spellings_of_a_conversion():
    x = st.tensor([1.5, -2.5])
    for y in (
        x.to(st.int32),
        x.to("int32"),
        x.to(dtype=np.int32),
        x.to(np.dtype("int32")),
        x.to(st.zeros(1, dtype=st.int32)),
        x.type(st.IntTensor),
        x.type("strided.IntTensor"),
        x.type("torch.IntTensor"),
        x.type_as(st.IntTensor(1)),
        x.astype("int32"),
        x.to(st.IntTensor),
    ):
        assert y.tolist() == [1, -2] and y.type() == "strided.IntTensor"
    assert x.to(st.float32) is x and x.to("cpu") is x and x.type("strided.FloatTensor") is x
    copy = x.to(st.float32, copy=True)
    assert copy is not x and copy.data_ptr() != x.data_ptr() and copy.tolist() == x.tolist()
    assert x.astype("float32") is not x and x.astype("float32", copy=False) is x
    for bad in ("float33", "tpu", 3.5, None.__class__):
        with pytest.raises((TypeError, ValueError), match=r"^to: "):
            x.to(bad)


def test_casts_agree_with_reading_one_number():
    """`item` and `x[i] = number` have their own casts, which must agree with the kernels."""
    for name in FLOATS:
        x = fresh(interesting(name), name)
        values = to_values(interesting(name), name)
        assert np.array_equal(np.array(x.tolist()), values.astype(np.float64), equal_nan=True), name
        assert np.array_equal(
            np.array([x[i].item() for i in range(len(values))]), values.astype(np.float64), equal_nan=True
        ), name
    for target in DTYPES:
        if target in INTS:
            continue
        doubles = interesting("float64")
        whole = st.from_numpy(doubles).to(target)
        single = st.zeros(len(doubles), dtype=target)
        for i, value in enumerate(doubles.tolist()):
            single[i] = value
        assert_same(single, values_of(whole), target)


@pytest.mark.parametrize("target", INTS)
def test_a_float_written_into_an_integer_truncates_or_is_refused(target):
    """Unlike a cast of a tensor, a Python number must be in range after truncation."""
    low, high = np.iinfo(target).min, np.iinfo(target).max
    x = st.zeros(1, dtype=target)
    for value in interesting("float64").tolist():
        if math.isnan(value):
            refused = ValueError
        elif math.isinf(value) or not low <= math.trunc(value) <= high:
            refused = OverflowError
        else:
            x[0] = value
            assert x.item() == math.trunc(value)
            continue
        x[0] = 1
        with pytest.raises(refused):
            x[0] = value
        assert x.item() == 1
    y = st.zeros(1, dtype=target)
    assert y.fill_(-2.9 if target.startswith("i") else 2.9).tolist() == [-2 if target.startswith("i") else 2]


def test_a_float_above_the_range_of_int64_is_written_into_uint64():
    assert st.full((1,), 1e19, dtype=st.uint64).item() == 10**19


def test_bool_is_read_as_not_zero():
    x = st.tensor([0, 1, 2, 255], dtype=st.uint8).view(st.bool)
    assert x.tolist() == [False, True, True, True]
    assert x.int().tolist() == [0, 1, 1, 1]
    assert x.float().tolist() == [0, 1, 1, 1]
    assert x.sum().item() == 3
    assert (x == st.tensor([False, True, True, True])).tolist() == [True] * 4
    assert (x + x).tolist() == [False, True, True, True]


def test_memory_and_value_dtypes():
    assert memory_dtype("bfloat16") == np.uint16 and value_dtype("bfloat16") == np.float32
