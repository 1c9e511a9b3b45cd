"""Casts of numbers to element types, as Torch7's C code makes them on x86.

Lua has one type of number, and the generated C code of Torch7 casts it to the element type of the tensor. Numbers for
tensors of floats are left to the core, which rounds them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import strided as st
from strided.torch7.arguments import number_of

_BITS = {st.uint8: 8, st.int8: 8, st.int16: 16, st.int32: 32, st.int64: 64}


def is_integral(dtype: st.dtype) -> bool:
    """Whether the elements of a dtype are whole numbers."""
    return dtype in _BITS


def _carried(value: float, bits: int) -> int:
    """A number as a signed integer: truncated, and the smallest one if it does not fit."""
    low = -(1 << (bits - 1))
    whole = low if value - value != 0 else int(value)
    return whole if low <= whole < -low else low


def _caster(dtype: st.dtype) -> Callable[[Any], int]:
    bits = _BITS[dtype]
    carrier = max(bits, 32)
    low = 0 if dtype == st.uint8 else -(1 << (bits - 1))

    def cast(value: Any) -> int:
        return (_carried(number_of(value), carrier) - low) % (1 << bits) + low

    return cast


#: dtype -> the cast of a number to an element of it, for the dtypes of whole numbers.
CASTS: dict[st.dtype, Callable[[Any], int]] = {dtype: _caster(dtype) for dtype in _BITS}

#: dtype -> the smallest and the largest element, for the same dtypes.
LIMITS: dict[st.dtype, tuple[int, int]] = {
    dtype: (0, 255) if dtype == st.uint8 else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    for dtype, bits in _BITS.items()
}
