"""The class `Tensor`. `typed` makes a subclass for each element type.

A tensor holds a tensor of the core in `_tensor`. Methods that change the layout, such as `resize` and `set`, replace it.
The methods come from the mixins, one for each theme, and from the rows of the maths modules.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import strided as st
from strided._dialect.lua import nested_values
from strided.torch7.calls.arguments import entries, is_number, is_table, number_of, torch_type
from strided.torch7.calls.elements import tensor_of_numbers
from strided.torch7.errors import TorchError, TorchTypeError, TorchValueError
from strided.torch7.session import current
from strided.torch7.tensor.brackets import Brackets
from strided.torch7.tensor.callbacks import Callbacks
from strided.torch7.tensor.conversion import Conversion, from_strided
from strided.torch7.tensor.copying import Copying
from strided.torch7.tensor.display import tensor_text
from strided.torch7.tensor.geometry import NO_DIMS
from strided.torch7.tensor.index_methods import IndexMethods
from strided.torch7.tensor.query import Query
from strided.torch7.tensor.resizing import Resizing, view_from_arguments
from strided.torch7.tensor.rows import Rows
from strided.torch7.tensor.views import Views
from strided.torch7.types import CLASSES, DTYPES


class Tensor(Query, Conversion, Views, Resizing, Copying, IndexMethods, Callbacks, Brackets, Rows):
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
            self._tensor = view_from_arguments(cls, args, 1, None)
        return self

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


# Tables of numbers


def _from_table(table: Any, dtype: st.dtype) -> st.Tensor:
    """A tensor from nested lists of numbers, or from an array."""
    if not is_table(table):
        made = st.tensor(table).to(dtype)
        return made if made.dim() else made.view(1)
    shape = _shape_of(table)
    if not shape:
        return st.empty(NO_DIMS, dtype=dtype)
    values = nested_values(entries(table), shape, entries)
    if values is None:
        raise _definition_error(table, shape)
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
