"""Numbers as elements. Out of range, they wrap as a C cast from double does on x86; the core would refuse them.

Lua has one type of number, and the generated C code of Torch7 casts it to the element type of the tensor. The core rounds
numbers for tensors of floats.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import strided as st
from strided._dialect.lua import BITS, LIMITS, to_signed
from strided.torch7.calls.arguments import integer, number, number_of
from strided.torch7.session import current


def is_integral(dtype: st.dtype) -> bool:
    """Whether the elements of a dtype are whole numbers."""
    return dtype in BITS


def _caster(dtype: st.dtype) -> Callable[[Any], int]:
    bits, (low, high) = max(BITS[dtype], 32), LIMITS[dtype]
    count = high - low + 1
    return lambda value: (to_signed(number_of(value), bits) - low) % count + low


#: dtype -> the cast of a number to an element of it, for the dtypes of whole numbers.
CASTS: dict[st.dtype, Callable[[Any], int]] = {dtype: _caster(dtype) for dtype in BITS}


def as_element(value: int | float, dtype: st.dtype) -> int | float:
    """A number converted as C would: truncated and wrapped for whole numbers, unchanged for floats.

    >>> import strided as st
    >>> as_element(300, st.uint8), as_element(-1.7, st.int8), as_element(0.5, st.float32)
    (44, -1, 0.5)
    """
    cast = CASTS.get(dtype)
    return value if cast is None else cast(value)


def tensor_of_numbers(values: list[int | float], dtype: st.dtype) -> st.Tensor:
    """A tensor of one dim with these numbers."""
    try:
        return st.tensor(values, dtype=dtype)
    except (OverflowError, ValueError):
        return st.tensor(values, dtype=st.float64).to(dtype)


def long_element(value: Any, place: int, name: str | None) -> int:
    """An argument that is written into a `LongStorage`."""
    if isinstance(value, str) and current().lua:
        return int(element(value, st.int64, place, name))
    return integer(value, place, name)


def element(value: Any, dtype: st.dtype, place: int, name: str | None) -> int | float:
    """An argument that is written into an element of `dtype`; `place` is its number.

    Torch7 reads a string for an integer with `strtol`, which returns 0 for what is not a number.
    """
    if type(value) is int or type(value) is float:
        return as_element(value, dtype)
    if isinstance(value, str) and dtype in BITS and current().lua:
        digits = re.match(r"\s*[-+]?(0[xX][0-9a-fA-F]+|\d+)", value)
        return as_element(int(digits[0], 0 if "x" in value.lower() else 10) if digits else 0, dtype)
    return as_element(number(value, place, name), dtype)
