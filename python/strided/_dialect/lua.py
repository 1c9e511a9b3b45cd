"""Values of Lua, and how C converts its numbers: a number of Lua is a double, and integers of C wrap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import strided as st


class _Missing:
    """The type of `MISSING`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<no value>"


#: Stands for an argument that was not passed, which Lua tells from nil, Python's `None`.
MISSING: Any = _Missing()


def lua_type(value: object) -> str:
    """The name of the Lua type that a Python value stands for.

    >>> lua_type(None), lua_type(2.5), lua_type([1]), lua_type(print)
    ('nil', 'number', 'table', 'function')
    """
    if value is MISSING:
        return "no value"
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, (str, bytes)):
        return "string"
    if isinstance(value, (list, tuple, dict)):
        return "table"
    return "function" if callable(value) and not hasattr(type(value), "_typename") else "userdata"


# Integers

#: dtype -> the bits of its whole numbers.
BITS: dict[st.dtype, int] = {st.uint8: 8, st.int8: 8, st.int16: 16, st.int32: 32, st.int64: 64}
#: dtype -> its smallest and its largest whole number.
LIMITS: dict[st.dtype, tuple[int, int]] = {
    dtype: (0, 255) if dtype == st.uint8 else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    for dtype, bits in BITS.items()
}


def to_signed(value: float, bits: int = 64) -> int:
    """A number as a signed integer of C on x86: truncated, and the smallest integer if it does not fit.

    >>> to_signed(-2.5), to_signed(float("nan"), 32)
    (-2, -2147483648)
    """
    low = -(1 << (bits - 1))
    whole = low if value - value != 0 else int(value)
    return whole if low <= whole < -low else low


def wrap(whole: int, dtype: st.dtype) -> int:
    """An integer as an integer type of C holds it.

    >>> wrap(300, st.uint8), wrap(-129, st.int8)
    (44, 127)
    """
    low, high = LIMITS[dtype]
    return (whole - low) % (high - low + 1) + low


# Tables


def nested_values(
    table: Sequence[Any], shape: Sequence[int], entries: Callable[[Any], Sequence[Any] | None], surplus: bool = False
) -> list[Any] | None:
    """The values of a table of tables of a shape, in row-major order; None if it has another shape.

    `entries` gives the entries of a table, and None or nothing for what is none. With `surplus`, more entries than the
    shape has are ignored.
    """
    rows = [table]
    for depth, extent in enumerate(shape):
        if depth:
            rows = [entries(row) or () for row in chain.from_iterable(rows)]
        if any(len(row) < extent or (len(row) > extent and not surplus) for row in rows):
            return None
        if surplus:
            rows = [row[:extent] for row in rows]
    return list(chain.from_iterable(rows))
