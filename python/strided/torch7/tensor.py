"""The tensor classes: `Tensor`, and one subclass for each element type.

A tensor holds a tensor of the core in `_tensor`. Methods that change the layout, such as `resize` and `set`, replace it.
The methods come from the mixins, one for each theme, and from the rows of the maths modules.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import strided as st
from strided.torch7.arguments import entries, is_number, is_table, number_of, torch_type
from strided.torch7.callbacks import Callbacks
from strided.torch7.conversion import Conversion, from_strided
from strided.torch7.copying import Copying
from strided.torch7.display import tensor_text
from strided.torch7.errors import TorchError, TorchTypeError, TorchValueError
from strided.torch7.geometry import NO_DIMS, resize_to
from strided.torch7.indexing import Indexing
from strided.torch7.memory import Pointers
from strided.torch7.numbers import tensor_of_numbers
from strided.torch7.picking import Picking
from strided.torch7.query import Query
from strided.torch7.resizing import Resizing, viewed
from strided.torch7.rows import Rows
from strided.torch7.session import current
from strided.torch7.types import CLASSES, DTYPES
from strided.torch7.views import Views

__all__ = ["Tensor", "TensorBase", "resize_to"]


class Tensor(Query, Conversion, Views, Resizing, Copying, Picking, Callbacks, Indexing, Pointers, Rows):
    """Numbers of one type in any number of dims: a view of a storage. Dims and indices count from 1.

    `Tensor(...)` makes a tensor of the default type; `isinstance(x, Tensor)` holds for all types. The arguments are

    * sizes: numbers, or a `LongStorage`; then a second `LongStorage` may hold strides;
    * a list of numbers, or nested lists;
    * a tensor of the same type, whose storage is shared;
    * a storage of the same type, then an offset, then sizes and strides by turns, or as `LongStorage`s.

    >>> from strided import torch7 as torch
    >>> torch.Tensor([[1, 2], [3, 4]])
     1  2
     3  4
    [torch.DoubleTensor of size 2x2]
    """

    __slots__ = ()

    def __new__(cls, *args: Any) -> Tensor:
        if cls is Tensor:
            cls = CLASSES[DTYPES[current().default_type]]
        self = object.__new__(cls)
        first = args[0] if args else None
        if type(first) is int and first > 0 and (len(args) == 1 or (set(map(type, args)) == {int} and min(args) > 0)):
            self._tensor = st.zeros(args, dtype=cls._dtype)
            return self
        if is_table(first) or (torch_type(first) is None and hasattr(first, "__array_interface__")):
            self._tensor = _from_table(first, cls._dtype)
        else:
            self._tensor = viewed(cls, args, 1, None)
        return self

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "_dtype" in cls.__dict__:
            CLASSES.setdefault(cls._dtype, cls)

    # Python

    def __len__(self) -> int:
        return self._tensor.shape[0]

    def __iter__(self) -> Iterator[Any]:
        core = self._tensor
        if core.dim() == 1:
            return iter(core.tolist())
        return (self._with(core.select(0, place)) for place in range(core.size(0)))

    def __bool__(self) -> bool:
        core = self._tensor
        if core.numel() > 1:
            raise TorchValueError(f"a tensor of {core.numel()} elements is neither true nor false")
        return bool(core.numel() and core.view(1).item())

    def __str__(self) -> str:
        return tensor_text(self._tensor, self._typename)[:-1]

    __repr__ = __str__

    def __copy__(self) -> Tensor:
        return type(self)(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return from_strided, (self._tensor,)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._tensor.__array__(dtype, copy=copy)

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(self._tensor)

    def __dlpack__(self, **keywords: Any) -> Any:
        return self._tensor.__dlpack__(**keywords)

    def __dlpack_device__(self) -> Any:
        return self._tensor.__dlpack_device__()


#: The same class, under the name that other modules of the front end use.
TensorBase = Tensor


class ByteTensor(Tensor):
    """A tensor of unsigned integers of 8 bits.

    >>> from strided import torch7 as torch
    >>> torch.ByteTensor([255, 256]).totable()
    [255, 0]
    """

    __slots__ = ()
    _dtype = st.uint8
    _typename = "torch.ByteTensor"


class CharTensor(Tensor):
    """A tensor of signed integers of 8 bits.

    >>> from strided import torch7 as torch
    >>> torch.CharTensor([127, 128]).totable()
    [127, -128]
    """

    __slots__ = ()
    _dtype = st.int8
    _typename = "torch.CharTensor"


class ShortTensor(Tensor):
    """A tensor of signed integers of 16 bits.

    >>> from strided import torch7 as torch
    >>> torch.ShortTensor([1.5, -1.5]).totable()
    [1, -1]
    """

    __slots__ = ()
    _dtype = st.int16
    _typename = "torch.ShortTensor"


class IntTensor(Tensor):
    """A tensor of signed integers of 32 bits.

    >>> from strided import torch7 as torch
    >>> torch.IntTensor([1.5, -1.5]).totable()
    [1, -1]
    """

    __slots__ = ()
    _dtype = st.int32
    _typename = "torch.IntTensor"


class LongTensor(Tensor):
    """A tensor of signed integers of 64 bits.

    >>> from strided import torch7 as torch
    >>> torch.LongTensor([2**40]).totable()
    [1099511627776]
    """

    __slots__ = ()
    _dtype = st.int64
    _typename = "torch.LongTensor"


class HalfTensor(Tensor):
    """A tensor of floats of 16 bits.

    >>> from strided import torch7 as torch
    >>> torch.HalfTensor([0.1]).totable()
    [0.0999755859375]
    """

    __slots__ = ()
    _dtype = st.float16
    _typename = "torch.HalfTensor"


class FloatTensor(Tensor):
    """A tensor of floats of 32 bits.

    >>> from strided import torch7 as torch
    >>> torch.FloatTensor([0.1]).totable()
    [0.10000000149011612]
    """

    __slots__ = ()
    _dtype = st.float32
    _typename = "torch.FloatTensor"


class DoubleTensor(Tensor):
    """A tensor of floats of 64 bits.

    >>> from strided import torch7 as torch
    >>> torch.DoubleTensor([0.1]).totable()
    [0.1]
    """

    __slots__ = ()
    _dtype = st.float64
    _typename = "torch.DoubleTensor"


for _cls in (Tensor, *CLASSES.values()):
    _cls.__module__ = "strided.torch7"


# Tables of numbers


def _from_table(table: Any, dtype: st.dtype) -> st.Tensor:
    """A tensor from nested lists of numbers, or from an array."""
    if not is_table(table):
        made = st.tensor(table).to(dtype)
        return made if made.dim() else made.view(1)
    shape = _shape_of(table)
    if not shape:
        return st.empty(NO_DIMS, dtype=dtype)
    rows = [entries(table)]
    for extent in shape[1:]:
        rows = [entries(row) for row in chain.from_iterable(rows)]
        if any(len(row) != extent for row in rows):
            raise _definition_error(table, shape)
    values = list(chain.from_iterable(rows))
    if not set(map(type, values)) <= {int, float}:
        if not all(map(is_number, values)):
            raise _definition_error(table, shape)
        values = list(map(number_of, values))
    return tensor_of_numbers(values, dtype).view(shape)


def _shape_of(table: Any) -> list[int]:
    """The sizes that the first entries of nested tables have."""
    shape = []
    while items := entries(table):
        shape.append(len(items))
        table = items[0]
    return shape


def _definition_error(table: Any, shape: list[int]) -> TorchError:
    """The error about the first place, in row-major order, where nested tables are not a tensor of this shape."""
    if not is_table(table):
        return TorchTypeError("invalid tensor definition")
    items = entries(table)
    if len(items) != shape[0]:
        return TorchValueError("invalid tensor sizes")
    for item in items:
        if len(shape) == 1:
            if not is_number(item):
                return TorchTypeError("invalid element (not a number)")
        elif (error := _definition_error(item, shape[1:])).args != ("",):
            return error
    return TorchError("")
