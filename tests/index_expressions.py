"""Random keys for `x[key]`, of all kinds of entries, each as Python source, as a key for strided and as one for NumPy.

`random_key` takes an object with the methods of `random.Random`; `keys` is the strategy for hypothesis.
"""

import numpy as np
from hypothesis import strategies as hs
from random_tensors import Operand, broadcastable, random_index, random_operand, random_shape
from strategies import INTS

#: The integer dtypes of index tensors; a uint8 tensor is a mask.
TENSOR_INDEX = [name for name in INTS if name != "uint8"]


class Entry:
    """One entry of a key: how it is written, what strided gets, what NumPy gets."""

    __slots__ = ("kind", "model", "ours", "text")

    def __init__(self, kind, text, ours, model):
        self.kind, self.text, self.ours, self.model = kind, text, ours, model


class Key:
    """Entries, and whether they are passed as a tuple."""

    def __init__(self, entries, bare=False, spoilt=False):
        self.entries = entries
        self.bare = bare
        self.spoilt = spoilt

    @property
    def text(self):
        if self.bare:
            return self.entries[0].text
        return "(" + "".join(f"{entry.text}, " for entry in self.entries) + ")"

    @property
    def ours(self):
        entries = tuple(entry.ours for entry in self.entries)
        return entries[0] if self.bare else entries

    @property
    def model(self):
        return tuple(entry.model for entry in self.entries)

    @property
    def is_basic(self):
        """Whether the key gives a view."""
        return all(entry.kind in ("int", "slice", "ellipsis", "newaxis") for entry in self.entries)

    def __repr__(self):
        return f"x[{self.text}]"


def plain(kind, value):
    return Entry(kind, repr(value) if value is not ... else "...", value, value)


def of_operand(kind, operand, form):
    """An entry for an array of indices or a mask: a tensor, a NumPy array or nested lists."""
    array = operand.array()
    if array.ndim == 0 and kind == "index":
        kind, model = "int", int(array)
    else:
        model = array.astype(bool) if kind == "mask" else array
    if form == "tensor":
        return Entry(kind, operand.source(), operand.tensor(), model)
    if form == "array":
        dtype = array.dtype
        return Entry(kind, f"np.array({array.tolist()}, np.{dtype}).reshape({array.shape})", array, model)
    # Extents after one of 0 are lost in a list, and a list of nothing has no dtype.
    lists = array.tolist()
    if array.ndim == 0:
        return Entry(kind, repr(lists), lists, lists)
    return Entry(kind, repr(lists), lists, np.array(lists, model.dtype if array.size else np.int64))


def int_entry(r, extent):
    at = r.randint(-extent, extent - 1)
    form = r.choice(("int", "int", "int", "tensor", "scalar"))
    if form == "tensor":
        name = r.choice([name for name in TENSOR_INDEX if np.iinfo(name).min <= at <= np.iinfo(name).max])
        operand = random_operand(r, name, (), [at])
        return Entry("int", operand.source(), operand.tensor(), at)
    if form == "scalar":
        return Entry("int", f"np.int32({at})", np.int32(at), at)
    return plain("int", at)


def slice_entry(r, extent):
    def bound():
        return None if r.random() < 0.4 else r.randint(-extent - 2, extent + 2)

    return plain("slice", slice(bound(), bound(), r.choice((None, None, 1, 2, 3, -1, -2, -3))))


def index_entry(r, extent, shape):
    """Indices of a shape; they are in range if there is something to index."""
    form = r.choice(("tensor", "tensor", "array", "list"))
    name = r.choice(TENSOR_INDEX if form == "tensor" else INTS)
    if extent == 0 and 0 not in shape:
        shape = (0,)
    low = 0 if r.random() < 0.5 else -extent
    return of_operand("index", random_index(r, name, shape, low, extent - 1), form)


def mask_entry(r, shape, count):
    """A mask of a shape with `count` true elements, or with fewer if it is smaller."""
    form = r.choice(("tensor", "tensor", "array", "list", "byte"))
    size = int(np.prod(shape))
    chosen = set(r.sample(range(size), min(count, size)))
    true = 1 if form != "byte" else r.choice((1, 2, 255))
    values = [true if at in chosen else 0 for at in range(size)]
    name = "uint8" if form == "byte" else "bool"
    return of_operand("mask", Operand(name, values, shape), "tensor" if form == "byte" else form)


def truth_entry(r):
    """A mask of rank 0: a Python bool, or a tensor or array of one."""
    value = r.random() < 0.75
    form = r.choice(("bool", "bool", "tensor", "array"))
    if form == "bool":
        return Entry("mask", repr(value), value, value)
    return of_operand("mask", Operand("bool", [value], ()), form)


def _entries(r, shape, common, masks):
    """Entries for all of these dims. The indices of a mask are a vector as long as the last extent of `common`."""
    made, dim = [], 0
    while dim < len(shape):
        extent = shape[dim]
        if r.random() < 0.1:  # an entry without a dim
            made.append(truth_entry(r) if r.random() < 0.3 else plain("newaxis", None))
        chance = r.random()
        if chance < 0.23 and extent:
            made.append(int_entry(r, extent))
        elif chance < 0.45:
            made.append(slice_entry(r, extent))
        elif chance < 0.78 or not masks:
            made.append(index_entry(r, extent, broadcastable(r, common)))
        else:
            rank = r.randint(1, min(3, len(shape) - dim))
            made.append(mask_entry(r, shape[dim : dim + rank], common[-1] if common else 1))
            dim += rank - 1
        dim += 1
    if r.random() < 0.05:
        made.append(plain("newaxis", None))
    return made


def random_key(r, shape, wrong=0.07, side=3, most=8):
    """A key for a tensor of a shape. Most are valid; whether one is, NumPy decides. Index arrays have at most `most` elements."""
    rank = len(shape)
    common = random_shape(r, 0, 3, 0, side, most)
    masks = r.random() < 0.3
    if masks:
        common = common[-1:]
    explicit = r.randint(min(rank, 1), rank) if r.random() < 0.8 else rank
    if r.random() < 0.35:
        left = r.randint(0, explicit)
        entries = _entries(r, shape[:left], common, masks)
        entries.append(plain("ellipsis", ...))
        entries += _entries(r, shape[rank - (explicit - left) :], common, masks)
    else:
        entries = _entries(r, shape[:explicit], common, masks)
    if rank == 0 and r.random() < 0.5:
        entries.append(truth_entry(r))
    spoilt = r.random() < wrong
    if spoilt:
        spoil(r, entries, shape)
    return Key(entries, bare=len(entries) == 1 and r.random() < 0.6, spoilt=spoilt)


def spoil(r, entries, shape):
    """Makes a key wrong, most probably."""
    kind = r.choice(("range", "mask", "many", "ellipsis", "shape", "float"))
    at = r.randint(0, len(entries))
    if kind == "range":
        beyond = r.choice((5, -6, 2**31, -(2**31) - 1, 2**63 - 1, -(2**63)))
        array = r.random() < 0.6
        index = Operand("int64", [0, beyond] if array else [beyond], (2,) if array else ())
        entry = of_operand("index", index, r.choice(("tensor", "array", "list"))) if array else plain("int", beyond)
    elif kind == "mask":
        entry = mask_entry(r, random_shape(r, 1, 2, 1, 6), 2)
    elif kind == "many":
        entries += [slice_entry(r, 3) for _ in range(len(shape) + 1)]
        return
    elif kind == "ellipsis":
        entries += [plain("ellipsis", ...), plain("ellipsis", ...)]
        return
    elif kind == "float":
        entry = of_operand("float", Operand("float32", [0, 1], (2,)), r.choice(("tensor", "array")))
    else:
        entry = of_operand("index", Operand("int64", [0] * 7, (7,)), "tensor")
        entries.append(of_operand("index", Operand("int64", [0] * 5, (5,)), "tensor"))
    entries[at : at + 1] = [entry]


def keys(shape, wrong=0.07):
    """The strategy of keys for a shape."""
    return hs.randoms(use_true_random=False).map(lambda r: random_key(r, shape, wrong))
