"""A model of tensors and storages for the tests of printing, which does not depend on the engine."""

import numpy as np

from strided.display import Options, text

PLAIN = Options(linewidth=80)  # whatever the terminal that runs the tests

NAMES = {
    "bool": "Bool",
    "int8": "Char",
    "uint8": "Byte",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "uint64": "UInt64",
    "float16": "Half",
    "float32": "Float",
    "float64": "Double",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}
DTYPES = {name: np.dtype(dtype) for dtype, name in NAMES.items()}


class TensorModel:
    """The part of a tensor, or of a storage, that printing uses. Counts the elements that are read."""

    def __init__(self, array, suffix="Tensor"):
        self.array = np.asarray(array)
        self.suffix = suffix
        self.reads = [0]

    def _view(self, array):
        view = TensorModel(array)
        view.reads = self.reads
        return view

    @property
    def shape(self):
        return self.array.shape

    def type(self):
        return f"strided.{NAMES[self.array.dtype.name]}{self.suffix}"

    def tolist(self):
        self.reads[0] += self.array.size
        return self.array.tolist()

    def narrow(self, dim, start, length):
        assert 0 <= start <= start + length <= self.shape[dim]
        return self._view(self.array[(slice(None),) * dim + (slice(start, start + length),)])

    def select(self, dim, index):
        assert 0 <= index < self.shape[dim]
        return self._view(self.array[(slice(None),) * dim + (index,)])

    def __len__(self):
        return len(self.array)

    def __getitem__(self, index):
        self.reads[0] += 1
        return self.array[index].item()


def lines(array, options=PLAIN, **more):
    """The printed lines, the last of them without the type: `3x4`."""
    *grid, last = text.tensor(TensorModel(array), options=options, **more).split("\n")
    assert last.startswith("[strided.") and last.endswith("]")
    return [*grid, last.partition(" of size ")[2].removesuffix("]")]
