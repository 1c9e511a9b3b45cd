"""Dtypes, layouts and values for tests, each with its NumPy model. Strategies without NumPy are in `strided.testing`.

NumPy has no bfloat16. Its *memory* is modelled by uint16 (the bits), its *values* by float32; for every other
dtype memory and values are the same array.
"""

import numpy as np

import strided as st
from strided import testing

#: Torch's name for each dtype, as in FloatTensor and FloatStorage.
CLASSES = {
    "bool": "Bool",
    "uint8": "Byte",
    "uint16": "UInt16",
    "uint32": "UInt32",
    "uint64": "UInt64",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "float32": "Float",
    "float64": "Double",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}
DTYPES = [
    "bool",
    *("uint8", "uint16", "uint32", "uint64"),
    *("int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64"),
    *("complex64", "complex128"),
]
INTS = DTYPES[1:9]
FLOATS = DTYPES[9:13]
COMPLEX = DTYPES[13:]

dtypes = testing.dtypes().map(lambda dtype: dtype.name)


def memory_dtype(name):
    """The NumPy dtype of the elements as they are stored."""
    return np.dtype(np.uint16 if name == "bfloat16" else name)


def value_dtype(name):
    """The NumPy dtype that holds the elements' values."""
    return np.dtype(np.float32 if name == "bfloat16" else name)


def to_bfloat16(values):
    """Real values as the bits of bfloat16, rounded once to the nearest, ties to even."""
    values = np.asarray(values)
    if values.dtype.kind in "iu":
        values = _odd_float64(values)
    with np.errstate(all="ignore"):
        single = values.astype(np.float32)
        bits = single.view(np.uint32).copy()
        if values.dtype == np.float64:  # round to odd first, so that rounding again is exact
            inexact = np.isfinite(values) & (single.astype(np.float64) != values)
            too_far = inexact & (np.abs(single.astype(np.float64)) > np.abs(values))
            bits -= too_far.astype(np.uint32)
            bits |= inexact.astype(np.uint32)
    is_nan = (bits & 0x7FFFFFFF) > 0x7F800000
    rounded = (bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16
    quiet = (bits >> 16) | 0x40
    return np.where(is_nan, quiet, rounded).astype(np.uint16)


def _odd_float64(ints):
    """Integers as float64, rounded to odd."""
    magnitude = np.array([abs(int(v)) for v in ints.flat], dtype=np.uint64).reshape(ints.shape)
    wide = magnitude >> np.uint64(53) != 0
    low = magnitude & np.uint64(0x7FF)
    sticky = (magnitude & ~np.uint64(0x7FF)) | ((low != 0).astype(np.uint64) << np.uint64(11))
    return np.where(wide, sticky, magnitude).astype(np.float64) * np.where(ints < 0, -1.0, 1.0)


def from_bfloat16(bits):
    """The values of bfloat16's bits, as float32."""
    return (np.asarray(bits).astype(np.uint32) << 16).view(np.float32)


def to_memory(values, name):
    """Values as they are stored in a dtype; they are rounded, never wrapped."""
    with np.errstate(all="ignore"):
        return to_bfloat16(values) if name == "bfloat16" else np.asarray(values).astype(name)


def to_values(memory, name):
    return from_bfloat16(memory) if name == "bfloat16" else memory


def shared(memory, name):
    """A tensor on the memory of an array."""
    x = st.from_numpy(memory)
    return x.view(st.bfloat16) if name == "bfloat16" else x


def fresh(memory, name):
    """A tensor with memory of its own."""
    return shared(memory, name).clone()


def memory_of(x):
    """An array on the memory of a tensor."""
    return (x.view(st.uint16) if x.dtype is st.bfloat16 else x).numpy()


def values_of(x):
    """The values of a tensor, as an array."""
    return to_values(memory_of(x), x.dtype.name)


def is_same(got, wanted):
    """Whether two arrays are equal bit for bit, all NaNs being equal."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return False
    if got.dtype.kind == "c":
        return is_same(got.real, wanted.real) and is_same(got.imag, wanted.imag)
    if got.dtype.kind != "f":
        return bool((got == wanted).all())
    return bool(((got == wanted) & (np.signbit(got) == np.signbit(wanted)) | np.isnan(got) & np.isnan(wanted)).all())


def assert_same(x, wanted, name, context=""):
    """Checks that a tensor has this dtype, this shape and exactly these values (bfloat16's as float32).

    NumPy compares, because `assert_equal` uses the operations under test; it only describes the difference.
    """
    wanted = np.asarray(wanted, dtype=value_dtype(name))
    if x.dtype.name == name and is_same(values_of(x), wanted):
        return
    testing.assert_equal(x, fresh(to_memory(wanted, name), name), msg=lambda message: f"{context}: {message}")
    raise AssertionError(f"{context}: got {values_of(x).tolist()}, wanted {wanted.tolist()}")


# The ten layouts of the test matrix (operation x dtype x layout x form): name -> (shape, maker). A maker returns an
# array with the strides of the layout; values are assigned afterwards, so that the elements are known whatever the strides.

SHAPE = (7, 37)
RANK_9 = (2, 1, 2, 1, 2, 3, 1, 2, 2)

LAYOUTS = {
    "dense": (SHAPE, lambda dtype: np.zeros(SHAPE, dtype)),
    "column-major": (SHAPE, lambda dtype: np.zeros(SHAPE[::-1], dtype).T),
    "offset": (SHAPE, lambda dtype: np.zeros((9, 40), dtype)[1:8, 2:39]),
    "step 2": (SHAPE, lambda dtype: np.zeros((14, 74), dtype)[::2, 1::2]),
    "negative": (SHAPE, lambda dtype: np.zeros(SHAPE, dtype)[::-1, ::-1]),
    "stride 0": (SHAPE, lambda dtype: expanded(np.zeros((1, 37), dtype), SHAPE)),
    "size 1": ((1, 1), lambda dtype: np.zeros((3, 3), dtype)[1:2, 2:3]),
    "size 0": ((3, 0), lambda dtype: np.zeros((3, 4), dtype)[:, 4:]),
    "0-d": ((), lambda dtype: np.zeros((3, 3), dtype)[1, 2, ...]),
    "rank 9": (RANK_9, lambda dtype: np.zeros(RANK_9[::-1], dtype).transpose(*range(8, -1, -1))[..., ::-1]),
}


def expanded(array, shape):
    """A writable `broadcast_to`."""
    lead = len(shape) - array.ndim
    strides = [0] * lead + [
        0 if n == 1 and m != 1 else s for n, m, s in zip(array.shape, shape[lead:], array.strides, strict=True)
    ]
    return np.lib.stride_tricks.as_strided(array, shape, strides)


def laid_out(layout, memory, name):
    """A tensor of a layout, on an array of its own, with the given memory (broadcast)."""
    array = LAYOUTS[layout][1](memory_dtype(name))
    array[...] = np.broadcast_to(memory, array.shape)
    return shared(array, name)


def ordinary(name, shape, seed=0):
    """Values of a dtype that exercise its whole range, as memory."""
    random = np.random.default_rng([seed, DTYPES.index(name)])
    if name == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if name in INTS:
        info = np.iinfo(name)
        values = random.integers(info.min, info.max, shape, dtype=name, endpoint=True)
        return _mixed_in(values, [0, 1, info.min, info.max, info.max // 2], random)
    real = name.replace("complex128", "float64").replace("complex64", "float32")
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]
    if name in COMPLEX:  # small whole numbers: products are exact, fused or not
        parts = random.integers(-40, 40, (*shape, 2)).astype(real)
        return parts.view(name)[..., 0]
    with np.errstate(over="ignore"):
        values = (random.standard_normal(shape) * 2.0 ** random.integers(-18, 15, shape)).astype(value_dtype(real))
    return to_memory(_mixed_in(values, special, random), name)


def _mixed_in(values, special, random):
    """Replaces about a third of the values by special ones."""
    chosen = np.array(special, dtype=values.dtype)[random.integers(0, len(special), values.shape)]
    return np.where(random.random(values.shape) < 0.3, chosen, values)


def random_memory(name, shape, seed=0):
    """Any bits at all (but 0 and 1 for bool), as memory."""
    random = np.random.default_rng([seed, 7])
    if name == "bool":
        return random.integers(0, 2, shape).astype(bool)
    dtype = memory_dtype(name)
    return np.frombuffer(random.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape).copy()
