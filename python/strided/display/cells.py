"""Which memory cell stores which elements of a layout: the facts behind every drawing.

A cell is the memory of one element; its location counts from the start of the storage. A cell may store no element of the
layout (a gap, or memory outside of the layout), one element, or several (of an expanded dim, or of overlapping windows).
Only the cells that are drawn are examined, so a layout may have any size.
"""

from __future__ import annotations

from itertools import islice, product
from math import prod

TYPE_CHECKING = False  # typing is slow to import; the checker reads this name as True
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from strided._strided import Layout, Tensor

__all__ = ["Cell", "Cells", "ends", "first_indices", "planes", "subject"]

MAX_LABELS = 3  # elements of one cell that are labelled one by one; beyond this a count is shown
EDGE = 8  # cells at both ends of a span that is too long to be drawn whole
MAX_TRIES = 2000  # limit on the search for the elements of one cell, which layouts with many overlaps would exceed


class Cell:
    """One cell: its location, the number of elements stored there, and the indices of the first ones.

    `part` is "element", "gap" (no element, but some before and after it) or "outside". `exact` is False if there may be
    more elements than were counted.

    >>> import strided as st
    >>> Cells(st.Layout((2, 3)).t()).at(4)
    Cell(4, count=1, indices=[(1, 1)])
    """

    __slots__ = ("count", "exact", "indices", "location", "part")

    def __init__(self, location: int, count: int, indices: list[tuple[int, ...]], exact: bool, part: str) -> None:
        self.location, self.count, self.indices, self.exact, self.part = location, count, indices, exact, part

    def __repr__(self) -> str:
        return f"Cell({self.location}, count={self.count}, indices={self.indices})"

    def times(self) -> str:
        """The mark of a shared cell: `*3`, or `*3+` if counting stopped early."""
        return f"*{self.count}{'' if self.exact else '+'}"


class Cells:
    """The cells of a layout or of a tensor. A tensor's storage adds cells outside of the layout, and values.

    >>> import strided as st
    >>> cells = Cells(st.arange(12).view(3, 4)[1:, ::2])
    >>> [cell.indices for cell in cells.strip(64)][4:8]
    [[(0, 0)], [], [(0, 1)], []]
    """

    def __init__(self, x: Tensor | Layout) -> None:
        self.layout, tensor = subject(x)
        self.storage = None if tensor is None else tensor.storage()
        shape, stride = self.layout.shape, self.layout.stride
        self.bounds: tuple[int, int] | None = self.layout.bounds
        low, high = self.bounds or (0, -1)
        self.start = min(low, 0)
        self.stop = max(high + 1, len(self.storage) if self.storage is not None else 0)
        moving = [mode for mode in range(len(shape)) if stride[mode] and shape[mode] > 1]
        self._moving = sorted(moving, key=lambda mode: -abs(stride[mode]))
        self._repeating = [mode for mode in range(len(shape)) if mode not in moving]

    def at(self, location: int) -> Cell:
        """Returns the cell at a location."""
        low, high = self.bounds or (0, -1)
        if not low <= location <= high:
            return Cell(location, 0, [], True, "outside")
        shape = self.layout.shape
        tries = [MAX_TRIES]
        found = list(self._solutions(location - low, 0, tries))
        repeats = [shape[mode] for mode in self._repeating]
        # The smallest indices overall are among the smallest repeats of each solution.
        indices = [self._index(one, other) for one in found for other in first_indices(repeats, MAX_LABELS)]
        count = len(found) * prod(repeats)
        exact = tries[0] > 0
        return Cell(location, count, sorted(indices)[:MAX_LABELS], exact, "gap" if exact and not found else "element")

    def _solutions(self, distance: int, at: int, tries: list[int]) -> Iterator[tuple[int, ...]]:
        """Yields the counts of steps along the moving modes, longest stride first, that add up to `distance`.

        The distance counts from the lowest location; `at` is the first mode still free; `tries` is a budget, in a list so
        that all levels of the recursion share it.
        """
        if at == len(self._moving):
            yield ()  # the last mode covered the remaining distance
            return
        steps = [abs(self.layout.stride[mode]) for mode in self._moving[at:]]
        extents = [self.layout.shape[mode] for mode in self._moving[at:]]
        reach = sum(step * (extent - 1) for step, extent in zip(steps[1:], extents[1:], strict=True))
        fewest = max(0, -((reach - distance) // steps[0]))
        most = min(extents[0] - 1, distance // steps[0])
        for count in range(fewest, most + 1):
            tries[0] -= 1
            if tries[0] <= 0:
                return
            for rest in self._solutions(distance - count * steps[0], at + 1, tries):
                yield (count, *rest)

    def _index(self, steps: Sequence[int], repeats: Sequence[int]) -> tuple[int, ...]:
        index = dict(zip(self._repeating, repeats, strict=True))
        for mode, count in zip(self._moving, steps, strict=True):
            backwards = self.layout.stride[mode] < 0  # the last index has the lowest location
            index[mode] = self.layout.shape[mode] - 1 - count if backwards else count
        return tuple(index[mode] for mode in range(len(index)))

    def strip(self, most: int) -> list[Cell | int]:
        """Returns the cells in memory order; an int stands for that many omitted cells.

        Up to `most` cells are shown in full. Of more, the strip shows the ends of the storage and either all elements with
        their neighbours, if they are few, or both ends of the span.
        """
        if self.stop - self.start <= most:
            return [self.at(location) for location in range(self.start, self.stop)]
        shown = {self.start, self.stop - 1}
        if self.bounds:
            low, high = self.bounds
            if high - low < most:
                shown.update(range(low, high + 1))
            elif self.layout.size <= most // 3:
                locations = [self.layout.location(index) for index in product(*map(range, self.layout.shape))]
                shown.update(location + step for location in locations for step in (-1, 0, 1))
            else:
                shown.update(range(low, low + EDGE), range(high + 1 - EDGE, high + 1))
        pieces: list[Cell | int] = []
        expected = self.start
        for location in sorted(location for location in shown if self.start <= location < self.stop):
            if location == expected + 1:
                pieces.append(self.at(expected))
            elif location != expected:
                pieces.append(location - expected)
            pieces.append(self.at(location))
            expected = location + 1
        return pieces

    def value(self, location: int) -> Any:
        """Returns the number in a cell; None for a layout, and where the storage has been shortened since."""
        if self.storage is None or not 0 <= location < len(self.storage):
            return None
        return self.storage[location]


def subject(x: object, operation: str = "draw") -> tuple[Layout, Tensor | None]:
    """Returns the layout of `x`, and `x` itself if it is a tensor.

    >>> import strided as st
    >>> subject(st.zeros(2, 3).t())[0]
    Layout(shape=(3, 2), stride=(1, 3), offset=0)
    """
    from strided._strided import Layout, Tensor

    if isinstance(x, Layout):
        return x, None
    if isinstance(x, Tensor):
        return x.layout, x
    raise TypeError(f"{operation}: x must be a Tensor or a Layout, got {type(x).__name__}")


def ends(extent: int, most: int, edge: int) -> list[int | None]:
    """The indices of a dim that are shown: all of them, or those at both ends with None in between.

    >>> ends(3, 12, 2), ends(100, 12, 2)
    ([0, 1, 2], [0, 1, None, 98, 99])
    """
    if extent <= max(most, 2 * edge + 1):
        return list(range(extent))
    return [*range(edge), None, *range(extent - edge, extent)]


def planes(shape: Sequence[int], most: int) -> tuple[list[tuple[int, ...]], int]:
    """The first leading indices (all but the last two dims) in row-major order, and the number of others.

    >>> planes((2, 3, 4, 5), 4)
    ([(0, 0), (0, 1), (0, 2), (1, 0)], 2)
    """
    first = first_indices(shape[:-2], most)
    return first, prod(shape[:-2]) - len(first)


def first_indices(shape: Sequence[int], most: int) -> list[tuple[int, ...]]:
    """The first `most` indices in row-major order.

    >>> first_indices((2, 10**9), 3)
    [(0, 0), (0, 1), (0, 2)]
    """
    # `product` stores its ranges in full, so they are cut: no index among the first ones reaches `most`.
    return list(islice(product(*(range(min(extent, most)) for extent in shape)), most))


def __dir__() -> list[str]:
    return __all__
