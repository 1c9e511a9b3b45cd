"""Arguments as Lab reads them from Lua: sizes, dims, indices, numbers and tables.

This is the only file that knows that dims and indices start at 1. A reader raises `Refusal` where Lab refuses a value.
Numbers of Lua are doubles. Lab converts them to int64 as C does, and that to the element type, so that they wrap.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from numbers import Real

import strided as st
from strided._dialect.lua import BITS, nested_values, to_signed, wrap

from ._errors import LabIndexError, LabTypeError, Refusal
from ._types import DTYPES, is_without_shape
from .session import current

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeGuard

#: The first index of a dim.
BASE = 1
#: Lab reads tables of tables to this depth.
MAX_RANK = 20


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is what Lua calls a number."""
    kind = type(value)
    return kind is int or kind is float or (kind is not bool and isinstance(value, Real))


def read_count(value: object, least: int = 0, bits: int = 64) -> int:
    """A size, or another count, in an integer of C. Lua truncates a float; a Python program must pass an int."""
    if isinstance(value, slice):
        raise Refusal(LabTypeError, hint="use narrow(dim, index, size) for a part of a dim")
    if not is_number(value):
        raise Refusal(LabTypeError)
    if current().lua:
        count = to_signed(value) if bits == 64 else wrap(to_signed(value), st.int32)
    elif hasattr(value, "__index__"):
        count = operator.index(value)
    else:
        raise Refusal(LabTypeError, hint=f"{value!r} is no int")
    if count < least:
        raise Refusal(LabIndexError)
    return count


def _read_position(value: object, bits: int = 64) -> int:
    """A dim or an index, from 0."""
    count = read_count(value, bits=bits)
    if count < BASE:
        raise Refusal(LabIndexError, hint=f"dims and indices start at {BASE}")
    return count - BASE


def read_dim(core: st.Tensor, value: object) -> int:
    """A dim of a tensor, from 0."""
    dim = value - BASE if type(value) is int and value >= BASE else _read_position(value)
    if dim >= core.ndim or (not dim and is_without_shape(core)):
        raise Refusal(LabIndexError)
    return dim


def read_index(core: st.Tensor, dim: int, value: object, bits: int = 64) -> int:
    """An index of a dim, from 0."""
    index = value - BASE if type(value) is int and BASE <= value < 1 << 31 else _read_position(value, bits)
    if index >= core.size(dim):
        raise Refusal(LabIndexError)
    return index


def indices(shape: Sequence[int]) -> Iterable[tuple[int, ...]]:
    """The indices of all elements of a shape, in row-major order, as a program sees them."""
    return product(*(range(BASE, extent + BASE) for extent in shape))


def read_number(value: object) -> float | None:
    """A number, or None."""
    try:
        return float(value) if is_number(value) else None
    except OverflowError:  # an int that is larger than any double, and therefore no number of Lua
        return None


def _integer_element(dtype: st.dtype) -> Callable[[object], int | None]:
    def element(value: object) -> int | None:
        if not is_number(value):
            return None
        whole = to_signed(value)
        return wrap(whole, dtype) if dtype != st.uint8 or whole >= 0 else None

    return element


#: dtype -> reads one element: a number that the core stores as it is, or None for what Lab does not accept.
ELEMENTS: dict[st.dtype, Callable[[object], int | float | None]] = {
    dtype: _integer_element(dtype) if dtype in BITS else read_number for dtype in DTYPES.values()
}


def as_table(value: object) -> Sequence[object] | None:
    """The array part of what Lua would call a table, or None. Arrays of other libraries are tables too."""
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, (int, float, str, bytes)) or hasattr(type(value), "_tensor"):
        return None
    if isinstance(value, Mapping):
        part: list[object] = []
        while len(part) + BASE in value:
            part.append(value[len(part) + BASE])
        return part
    if isinstance(value, Sequence):
        return list(value)
    values = value.tolist() if hasattr(value, "tolist") else None
    return values if isinstance(values, list) else None


def is_userdata(value: object) -> bool:
    """Whether a value is an object of Lab. Lab looks for tables in those, too, but finds nothing that it accepts."""
    return hasattr(type(value), "_type_name")


def named_part(value: object) -> list[str]:
    """The keys of a table that are strings."""
    return [key for key in value if isinstance(key, str)] if isinstance(value, Mapping) else []


def read_table_shape(table: Sequence[object]) -> list[int] | None:
    """The shape that a table of tables implies: its first entries decide."""
    shape: list[int] = []
    rows: Sequence[object] | None = table
    while rows is not None:
        if len(shape) == MAX_RANK or not rows:
            return None
        shape.append(len(rows))
        rows = as_table(rows[0])
    return shape


def read_table(table: Sequence[object], shape: Sequence[int], dtype: st.dtype) -> st.Tensor | None:
    """The values of a table of tables, as a tensor, or None if one is missing or no number. Surplus ones are ignored."""
    values = nested_values(table, shape, as_table, surplus=True)
    elements = None if values is None else read_elements(values, dtype)
    return None if elements is None else elements.view(shape)


def read_elements(values: list[Any], dtype: st.dtype) -> st.Tensor | None:
    """Numbers as a tensor of one dim, or None if one of them is not accepted."""
    if set(map(type, values)) <= {int, float}:
        try:
            return st.tensor(values, dtype=dtype)
        except (OverflowError, ValueError):
            pass  # a number wraps, or is refused
    read = ELEMENTS[dtype]
    elements = [element for value in values if (element := read(value)) is not None]
    return st.tensor(elements, dtype=dtype) if len(elements) == len(values) else None


def read_numbers(value: object) -> list[float] | None:
    """A table of numbers, or None."""
    table = as_table(value)
    if table is None:
        return None
    numbers = [number for entry in table if (number := read_number(entry)) is not None]
    return numbers if len(numbers) == len(table) else None
