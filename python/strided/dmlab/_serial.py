"""Operations between tensors that share memory, element by element in row-major order, as Lab runs them.

The core reads all operands before it writes. Lab reads an element when its turn comes, so that it may read what it has
written. Where that makes a difference, the operation runs in pieces which read nothing that they write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import strided as st

#: An in-place operation of the core with another tensor.
InPlace = Callable[[st.Tensor, st.Tensor], object]


def apply(x: st.Tensor, y: st.Tensor, operation: InPlace) -> None:
    """Applies an operation to elements of two tensors that have the same number of them, in row-major order."""
    if not _may_overlap(x, y):
        operation(x, y.reshape(x.shape))
        return
    memory, written, read = _locations(x, y)
    pieces = list(_pieces(written, read))
    if len(pieces) == 1:
        operation(x, y.reshape(x.shape))
        return
    for first, end in pieces:
        places = written[first:end]
        piece = memory.take(places)
        operation(piece, memory.take(read[first:end]))
        memory.put_(places, piece)


def _may_overlap(x: st.Tensor, y: st.Tensor) -> bool:
    """Whether elements of one tensor may be elements at other positions of the other."""
    if x.numel() < 2 or x.storage() is not y.storage() or x.is_set_to(y):
        return False
    (low, high), (first, last) = _bounds(x), _bounds(y)
    return low <= last and first <= high


def _bounds(x: st.Tensor) -> tuple[int, int]:
    """The lowest and the highest location of a tensor that has elements."""
    bounds = x.layout.bounds
    assert bounds is not None
    return bounds


def _locations(x: st.Tensor, y: st.Tensor) -> tuple[st.Tensor, st.Tensor, st.Tensor]:
    """The memory that two tensors share, as one dim, and the places of their elements in it, in row-major order."""
    (low, high), (first, last) = _bounds(x), _bounds(y)
    start, span = min(low, first), max(high, last) - min(low, first) + 1
    places = st.arange(span)
    memory = st.as_strided(x.storage(), (span,), (1,), start)
    written, read = (places.as_strided(t.shape, t.stride(), t.storage_offset() - start).reshape(-1) for t in (x, y))
    return memory, written, read


def _pieces(written: st.Tensor, read: st.Tensor) -> Iterator[tuple[int, int]]:
    """Ranges of positions, in order. No position reads what an earlier one of its range has written."""
    count = written.numel()
    writer = st.full((int(max(written.max().item(), read.max().item())) + 1,), count, dtype=st.int64)
    writer.put_(written, st.arange(count))
    writers = writer.take(read)
    first = 0
    for position in (writers < st.arange(count)).nonzero().reshape(-1).tolist():
        if first <= writers[position].item():
            yield first, position
            first = position
    yield first, count
