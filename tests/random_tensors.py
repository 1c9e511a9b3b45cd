"""Random tensors of every dtype and layout, each with its NumPy model and with Python source that makes it again.

All choices come from an object with the methods of `random.Random`. The fuzzer passes a seeded one, which is fast; tests
pass hypothesis's `randoms()`, which shrinks. The strategies of `strided.testing` draw elements from the whole range of a
dtype; here elements come from short lists, so that failures are easy to read and small sums are exact in every dtype.
"""

import math

import numpy as np
from strategies import COMPLEX, DTYPES, FLOATS, INTS, shared, to_memory, to_values, value_dtype

#: The first lines of every source.
PRELUDE = "import numpy as np\nimport strided as st\nfrom math import inf, nan\n"


def _any_values(name):
    """Elements to move: many different ones, with the extremes and special values of the dtype."""
    if name == "bool":
        return [False, True]
    if name in INTS:
        info = np.iinfo(name)
        return [*range(40), info.max, info.min, info.max - 1]
    if name in COMPLEX:
        return [complex(real, imag) for real in range(-3, 4) for imag in (-1, 0, 2.5)]
    return [*(number / 2 for number in range(-20, 21)), math.inf, -math.inf, math.nan, -0.0]


def _small_values(name):
    """Elements to compute with: sums and products of a few are exact in every dtype, or wrap in integers."""
    if name == "bool":
        return [False, True]
    if name in COMPLEX:
        return [complex(real, imag) for real in (-1, 0, 1, 2) for imag in (-1, 0, 1)]
    return [0, 1, 2, 3] if name.startswith("u") else [-2, -1, 0, 1, 2, 3]


ANY = {name: _any_values(name) for name in DTYPES}
SMALL = {name: _small_values(name) for name in DTYPES}
#: Elements to compare, with NaN and infinities where the dtype has them.
ORDERED = {name: [*SMALL[name], *([math.nan, math.inf, -math.inf] if name in FLOATS else [])] for name in DTYPES}


class Operand:
    """The dtype, elements and layout of a tensor. Fresh tensors and arrays are made of it; nothing changes it."""

    __slots__ = ("elements", "name", "offset", "shape", "strides")

    def __init__(self, name, elements, shape, strides=None, offset=0):
        self.name = name
        #: The elements of the whole storage, as values. Operands that have the same object share a storage.
        self.elements = rounded(elements, name) if isinstance(elements, list) else elements
        self.shape = tuple(shape)
        self.strides = dense_strides(self.shape) if strides is None else tuple(strides)
        self.offset = offset

    def on(self, base):
        """The view of a storage, which is a tensor or an array of one dim."""
        if not isinstance(base, np.ndarray):
            return base.as_strided(self.shape, self.strides, self.offset)
        if 0 in self.shape:
            return np.zeros(self.shape, base.dtype)
        width = base.itemsize
        return np.ndarray(self.shape, base.dtype, base, self.offset * width, [step * width for step in self.strides])

    def base(self):
        """A new storage with the elements, as a tensor of one dim."""
        return shared(to_memory(self.elements, self.name), self.name).clone()

    def tensor(self):
        return self.on(self.base())

    def array(self):
        """The values, as an array."""
        return self.on(self.elements.copy())

    def source_of_base(self):
        numbers = ", ".join(map(text_of_number, self.elements.tolist()))
        return f"st.tensor([{numbers}], dtype=st.{self.name})"

    def source(self, base=None):
        """Python source of the tensor, on a storage of its own or on a named one."""
        made = base or self.source_of_base()
        if (
            self.strides == dense_strides(self.shape)
            and self.offset == 0
            and self.elements.size == math.prod(self.shape)
        ):
            return made if len(self.shape) == 1 else f"{made}.view({self.shape})"
        return f"{made}.as_strided({self.shape}, {self.strides}, {self.offset})"


def text_of_number(number):
    """Source of a number; that of a complex one keeps the signs of zeros."""
    return f"complex({number.real}, {number.imag})" if isinstance(number, complex) else repr(number)


def dense_strides(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def random_shape(r, min_rank=0, max_rank=6, min_side=0, max_side=4, most=96):
    """A shape of at most `most` elements. An extent of 0 is rare, so that most tensors have elements."""
    rank = r.randint(min_rank, max_rank)
    shape, size = [], 1
    for _ in range(rank):
        extent = r.randint(max(min_side, 1), max(min(max_side, most // size), min_side, 1))
        if min_side == 0 and r.random() < 0.04:
            extent = 0
        shape.append(extent)
        size *= max(extent, 1)
    r.shuffle(shape)
    return tuple(shape)


def random_layout(r, shape, overlap):
    """Strides, an offset and the length of the storage: any order of dims, gaps, both signs, and stride 0 if `overlap`."""
    if r.random() < 0.35:
        return dense_strides(shape), 0, math.prod(shape)
    order = list(range(len(shape)))
    if r.random() < 0.7:
        r.shuffle(order)
    strides, offset, step = [0] * len(shape), r.randint(0, 2), 1
    for dim in reversed(order):
        extent = shape[dim]
        if overlap and extent > 1 and r.random() < 0.15:
            continue
        stride = step * r.choice((1, 1, 1, 2))
        step = stride * max(extent, 1) + r.choice((0, 0, 0, 1))
        strides[dim] = stride
        if r.random() < 0.25:
            strides[dim] = -stride
            offset += stride * max(extent - 1, 0)
    highest = offset + sum(stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True) if stride > 0)
    return tuple(strides), offset, max(highest, offset) + 1 + r.randint(0, 1)


def random_operand(r, name, shape, values=ANY, overlap=True):
    """An operand of a dtype and shape; `values` says which elements it may have, by dtype."""
    strides, offset, length = random_layout(r, shape, overlap)
    pool = values[name] if isinstance(values, dict) else values
    return Operand(name, r.choices(pool, k=length) if length else [], shape, strides, offset)


def random_index(r, name, shape, low, high, overlap=True):
    """An operand of indices from `low` to `high`, both included; those that the dtype does not have are left out."""
    info = np.iinfo(name)
    pool = list(range(max(low, info.min), min(high, info.max) + 1)) or [0]
    return random_operand(r, name, shape, pool, overlap)


def broadcastable(r, shape):
    """A shape that broadcasts to the given one."""
    kept = shape[r.randint(0, len(shape)) :] if r.random() < 0.4 else shape
    return tuple(1 if r.random() < 0.25 else extent for extent in kept)


def rounded(values, name):
    """Values as a tensor of the dtype would return them: bfloat16 rounds float32."""
    with np.errstate(all="ignore"):
        return to_values(to_memory(np.asarray(values, dtype=value_dtype(name)), name), name)


def window(r, operand, shape):
    """Another view of the storage of an operand, with any strides that stay inside; None if the storage is too short."""
    length = operand.elements.size
    strides = [r.choice((0, 1, 1, 2, 3, -1, -2)) if extent > 1 else 1 for extent in shape]
    reach = [stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True) if extent]
    low, high = -sum(min(n, 0) for n in reach), length - 1 - sum(max(n, 0) for n in reach)
    return Operand(operand.name, operand.elements, shape, strides, r.randint(low, high)) if low <= high else None
