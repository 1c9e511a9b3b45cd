"""Writes into tensors whose elements share memory, in row-major order, as Torch7 does them.

The core refuses to write into a tensor that overlaps itself, and reads a source before it writes. Torch7 visits the
elements one after the other. What is written last stays, and what was written is read again. The functions below are
only called when memory overlaps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import strided as st


def locations(x: st.Tensor) -> tuple[st.Tensor, st.Tensor]:
    """The memory of a tensor as one dim, and the place of each element in it."""
    layout = x.layout
    low = layout.bounds[0] if layout.bounds else 0
    memory = st.as_strided(x.storage(), (layout.span,), (1,), low)
    places = st.arange(layout.span).as_strided(layout.shape, layout.stride, layout.offset - low)
    return memory, places


def shares_memory(x: st.Tensor, y: st.Tensor) -> bool:
    """Whether two tensors of one storage have bytes in common, or may have."""
    if x.storage() is not y.storage() or not x.numel() or not y.numel():
        return False
    (low, high), (first, last) = x.layout.bounds or (0, -1), y.layout.bounds or (0, -1)
    return low <= last and first <= high


def overlaps_itself(x: st.Tensor) -> bool:
    return not x.layout.is_injective


def fill(x: st.Tensor, value: float) -> None:
    """Sets all elements of a tensor that overlaps itself."""
    memory, places = locations(x)
    memory.index_fill_(0, places.reshape(-1), value)


def write(x: st.Tensor, values: st.Tensor) -> None:
    """Writes values, which are elsewhere, into a tensor that overlaps itself."""
    memory, places = locations(x)
    memory.put_(places.contiguous(), values.to(x.dtype).contiguous().view(x.shape))


def copy(x: st.Tensor, source: st.Tensor) -> None:
    """Copies between overlapping parts of one storage."""
    memory, places = locations(x)
    read, sources = locations(source)
    for place, origin in zip(places.reshape(-1).tolist(), sources.reshape(-1).tolist(), strict=True):
        memory[place] = read[origin]


def apply(x: st.Tensor, function: Callable[..., Any], *others: st.Tensor) -> None:
    """Replaces each element by the result of a function of it and of the elements of other tensors."""
    memory, places = locations(x)
    columns = [other.reshape(-1).tolist() for other in others]
    for i, place in enumerate(places.reshape(-1).tolist()):
        memory[place].apply_(lambda v, i=i: function(v, *(column[i] for column in columns)))
