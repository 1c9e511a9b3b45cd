"""Operations between tensors that share memory, element by element in row-major order, as Lab runs them.

The core reads all operands before it writes. Lab reads an element when its turn comes, so that it may read what it has
written. Where that makes a difference, a copy looks for the element that a value comes from, and other operations run in
pieces which read nothing that they write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import strided as st

#: An in-place operation of the core with another tensor.
InPlace = Callable[[st.Tensor, st.Tensor], object]


def copy(x: st.Tensor, y: st.Tensor) -> None:
    """Copies the elements of another tensor that has the same number of them, in row-major order."""
    if not _reads_what_it_writes(x, y):
        x.copy_(y.reshape(x.shape))
        return
    memory, written, read = _locations(x, y)
    writers, positions = _writers(written, read), st.arange(written.numel())
    # The position whose value is read: an earlier one, and whose value that is, until nobody has written it before.
    source = st.where(writers < positions, writers, positions)
    while not (farther := source.take(source)).equal(source):
        source = farther
    memory.put_(written, memory.take(read.take(source)))


def apply(x: st.Tensor, y: st.Tensor, operation: InPlace) -> None:
    """Applies an operation to elements of two tensors that have the same number of them, in row-major order."""
    if not _reads_what_it_writes(x, y):
        operation(x, y.reshape(x.shape))
        return
    memory, written, read = _locations(x, y)
    for first, end in _pieces(written, read):
        places = written[first:end]
        piece = memory.take(places)
        operation(piece, memory.take(read[first:end]))
        memory.put_(places, piece)


def _reads_what_it_writes(x: st.Tensor, y: st.Tensor) -> bool:
    """Whether an element of y may be an element of x at an earlier position."""
    if x.numel() < 2 or x.storage() is not y.storage() or x.is_set_to(y):
        return False
    (low, high), (first, last) = _bounds(x), _bounds(y)
    if low > last or first > high:
        return False
    ahead = x.stride() == y.stride() and x.shape == y.shape and x.storage_offset() <= y.storage_offset()
    return not (ahead and _ascends(x))


def _ascends(x: st.Tensor) -> bool:
    """Whether each element in row-major order has a higher address than the one before it."""
    reach = 0
    for extent, stride in zip(reversed(x.shape), reversed(x.stride()), strict=True):
        if extent > 1 and stride <= reach:
            return False
        reach += (extent - 1) * stride
    return True


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


def _writers(written: st.Tensor, read: st.Tensor) -> st.Tensor:
    """The position that writes what each position reads; the number of positions if none does."""
    count = written.numel()
    writer = st.full((int(max(written.max().item(), read.max().item())) + 1,), count, dtype=st.int64)
    return writer.put_(written, st.arange(count)).take(read)


def _pieces(written: st.Tensor, read: st.Tensor) -> Iterator[tuple[int, int]]:
    """Ranges of positions, in order. No position reads what an earlier one of its range has written."""
    count, first = written.numel(), 0
    writers = _writers(written, read)
    late = (writers < st.arange(count)).nonzero().reshape(-1)
    for position, writer in zip(late.tolist(), writers.take(late).tolist(), strict=True):
        if first <= writer:
            yield first, position
            first = position
    yield first, count
