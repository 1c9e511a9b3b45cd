"""Numbers that are written into tensors: they wrap as a cast from float64 does, where the core refuses them."""

from __future__ import annotations

import re
from typing import Any

import strided as st
from strided.torch7.arguments import integer, number
from strided.torch7.casts import CASTS, is_integral
from strided.torch7.session import current


def fitting(value: int | float, dtype: st.dtype) -> int | float:
    """A number that the core stores in `dtype` without complaint, and which stands for what Torch7 stores.

    >>> import strided as st
    >>> fitting(300, st.uint8), fitting(-1.7, st.int8), fitting(0.5, st.float32)
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


def whole(value: Any, place: int, name: str | None) -> int:
    """An argument that is written into a `LongStorage`."""
    if isinstance(value, str) and current().lua:
        return int(element(value, st.int64, place, name))
    return integer(value, place, name)


def element(value: Any, dtype: st.dtype, place: int, name: str | None) -> int | float:
    """An argument that is written into an element of `dtype`; `place` is its number.

    Torch7 reads a string for an integer with `strtol`, which returns 0 for what is not a number.
    """
    if type(value) is int or type(value) is float:
        return fitting(value, dtype)
    if isinstance(value, str) and is_integral(dtype) and current().lua:
        digits = re.match(r"\s*[-+]?(0[xX][0-9a-fA-F]+|\d+)", value)
        return fitting(int(digits[0], 0 if "x" in value.lower() else 10) if digits else 0, dtype)
    return fitting(number(value, place, name), dtype)
