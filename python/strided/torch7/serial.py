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
    """Copies between overlapping parts of one storage. Both have the same dtype and number of elements."""
    if x.is_contiguous() and source.is_contiguous():
        _copy_run(x.view(-1), source.view(-1))
        return
    (first, last), (low, high) = x.layout.bounds or (0, 0), source.layout.bounds or (0, 0)
    start, stop = min(first, low), max(last, high)
    # The bits of the elements are copied, as integers.
    memory = st.as_strided(x.storage(), (stop - start + 1,), (1,), start).view(_INTEGERS[x.element_size()])
    elements = memory.tolist()
    targets = locations(x)[1].add(first - start).reshape(-1).tolist()
    origins = locations(source)[1].add(low - start).reshape(-1).tolist()
    for place, origin in zip(targets, origins, strict=True):
        elements[place] = elements[origin]
    memory.copy_(st.tensor(elements, dtype=memory.dtype))


#: Bytes of an element -> a dtype of integers that holds its bits.
_INTEGERS = {1: st.uint8, 2: st.int16, 4: st.int32, 8: st.int64}


def _copy_run(x: st.Tensor, source: st.Tensor) -> None:
    """Copies between overlapping runs of adjacent elements."""
    distance, count = x.storage_offset() - source.storage_offset(), x.numel()
    if distance <= 0:
        x.copy_(source)  # no element is written before it was read
        return
    # What was written is read again: the first elements of the source repeat.
    done = min(distance, count)
    x.narrow(0, 0, done).copy_(source.narrow(0, 0, done))
    while done < count:
        more = min(done, count - done)
        x.narrow(0, done, more).copy_(x.narrow(0, 0, more))
        done += more


def apply(x: st.Tensor, function: Callable[..., Any], *others: st.Tensor) -> None:
    """Replaces each element by the result of a function of it and of the elements of other tensors."""
    memory, places = locations(x)
    columns = [other.reshape(-1).tolist() for other in others]
    for i, place in enumerate(places.reshape(-1).tolist()):
        memory[place].apply_(lambda v, i=i: function(v, *(column[i] for column in columns)))


def visit(op: Callable[..., st.Tensor], out: st.Tensor, *operands: Any) -> None:
    """Runs an elementwise operation into a tensor that overlaps itself: one element after the other, in row-major order.

    Elements at different places do not affect each other. So those that are the first at their place are computed
    together, then those that are the second, and so on.
    """
    memory, places = locations(out)
    places = places.reshape(-1)
    ordered, order = st.sort(places, stable=True)
    turns = st.empty_like(places)
    turns[order] = st.arange(len(places)) - st.searchsorted(ordered, ordered)
    flat = [locations(x) if isinstance(x, st.Tensor) else x for x in operands]
    for turn in range(int(turns.max().item()) + 1):
        chosen = (turns == turn).nonzero().view(-1)
        values = [x[0][x[1].reshape(-1)[chosen]] if isinstance(x, tuple) else x for x in flat]
        memory.index_copy_(0, places[chosen], op(*values).to(out.dtype))
