"""Tensors as Lab prints them: nested brackets, all numbers padded to one width, large dims shortened."""

from __future__ import annotations

import strided as st
from strided._dialect.lua import BITS

from ._errors import number_text
from ._types import TYPE_NAMES, shape_of

#: Tensors with more elements than this are shortened.
LIMIT = 1024
#: A shortened dim shows this many entries at each end.
ENDS = 3
#: Elements whose widths are measured at a time.
_MEASURED_ELEMENTS = 1 << 16


def text(core: st.Tensor, limit: int = LIMIT) -> str:
    """The text of a tensor. One that has more than `limit` elements shows the ends of its long dims."""
    shape = shape_of(core)
    count = core.numel()
    head = f"[{TYPE_NAMES[core.dtype]}]\nShape: {shape}"
    if count == 0:
        return head + " Empty\n"
    if count == 1:
        return f"{head}{_numbers(core.reshape(1))[0]}\n"
    return f"{head}\n{_block(core, 0, _width(core), count > limit)}"


def _block(core: st.Tensor, depth: int, width: int, shortened: bool) -> str:
    """A tensor in brackets, inside `depth` others."""
    extent, inner = core.shape[0], core.ndim - 1
    shown = list(range(extent))
    if shortened and extent > 2 * ENDS:
        shown[ENDS:-ENDS] = []
    if inner:
        entries = [_block(core.select(0, i), depth + 1, width, shortened) for i in shown]
        separator = "," + "\n" * inner + " " * (depth + 1)
    else:
        entries = [number.rjust(width) for number in _numbers(core if len(shown) == extent else core[shown])]
        separator = ", "
    if len(shown) < extent:
        entries.insert(ENDS, "...")
    return f"[{separator.join(entries)}]"


def _numbers(core: st.Tensor) -> list[str]:
    """The elements of one dim as text."""
    return list(map(str if core.dtype in BITS else number_text, core.tolist()))


def _width(core: st.Tensor) -> int:
    """The characters of the longest number, of all elements, shown or not."""
    if core.dtype in BITS or (core.trunc().eq(core).all() and core.abs().max() < 1e6):
        low, high = core.aminmax()  # the extremes of integers have the longest texts, except for -0
        width = max(map(len, _numbers(st.stack([low, high]))))
        return max(width, len("-0")) if low == 0 and core.signbit().any() else width
    size = core.abs()
    exponent = bool(((size >= 1e100) | ((size < 1e-99) & (size > 0))).any())
    longest = len("1.23457e-05") + exponent + bool((core < 0).any())
    width = 0
    for piece in core.reshape(-1).split(_MEASURED_ELEMENTS):
        width = max(width, *map(len, _numbers(piece)))
        if width >= longest:
            break
    return width
