"""A layout drawn as text: each element with its memory cell, and each memory cell with the elements stored in it.

Layout(shape=(2, 2), stride=(6, 2), offset=1)

elements, labelled by memory cell
  1  3
  7  9

memory cells, labelled by element
    0     1     2     3     4     5     6     7     8     9
 ┌─────┬─────┬─────┬─────┬─────┬─────┬─────┬─────┬─────┬─────┐
 │     │ 0,0 │  ·  │ 0,1 │  ·  │  ·  │  ·  │ 1,0 │  ·  │ 1,1 │
 └─────┴─────┴─────┴─────┴─────┴─────┴─────┴─────┴─────┴─────┘
"""

from __future__ import annotations

from itertools import zip_longest

from . import options as settings
from .cells import MAX_LABELS, Cells, ends, planes

TYPE_CHECKING = False  # typing is slow to import; the checker reads this name as True
if TYPE_CHECKING:
    from typing import Any

    from strided._strided import Layout, Tensor

    from .cells import Cell

__all__ = ["Drawing", "draw", "index_text", "names_in", "number_text"]

GAP = "·"  # a cell that holds no element, between cells that do
DOTS = "..."
MAX_CELLS = 64
MAX_IN_A_ROW = 12
MAX_PLANES = 4


class Drawing:
    """A drawing of a layout or a tensor: text when printed, a picture in a notebook.

    >>> import strided as st
    >>> print(Drawing(st.tensor([10, 20, 30])[::2]))
    Layout(shape=(2,), stride=(2,), offset=0)
    <BLANKLINE>
    elements, labelled by memory cell
      0  2
    <BLANKLINE>
    memory cells, labelled by element
       0    1    2
     ┌────┬────┬────┐
     │ 0  │ ·  │ 1  │
     │ 10 │ 20 │ 30 │
     └────┴────┴────┘
    """

    def __init__(self, x: Tensor | Layout) -> None:
        self.cells = Cells(x)

    def __str__(self) -> str:
        width = settings.current.width()
        layout = self.cells.layout
        text = f"{layout}\n\nelements, labelled by memory cell\n{_elements(layout, width)}\n"
        return f"{text}\nmemory cells, labelled by element\n{_memory(self.cells, width)}"

    __repr__ = __str__

    def svg(self) -> str:
        """Returns the picture as the text of an SVG file.

        >>> import strided as st
        >>> st.draw(st.zeros(2, 3)).svg().startswith("<svg")
        True
        """
        from .svg import picture

        return picture(self.cells)

    def _repr_svg_(self) -> str:
        return self.svg()


def draw(x: Tensor | Layout) -> Drawing:
    """Draws which memory cell stores which element; for a tensor, with the numbers.

    The result prints as text and shows as a picture in a notebook. `draw(x).svg()` returns the text of an SVG file.

    >>> import strided as st
    >>> st.draw(st.tensor([1.5, 2.5]).expand(2, 2))
    Layout(shape=(2, 2), stride=(0, 1), offset=0)
    <BLANKLINE>
    elements, labelled by memory cell
      0  1
      0  1
    <BLANKLINE>
    memory cells, labelled by element
        0     1
     ┌─────┬─────┐
     │ 0,0 │ 0,1 │
     │ 1,0 │ 1,1 │
     │ 1.5 │ 2.5 │
     └─────┴─────┘
    """
    return Drawing(x)


def index_text(index: tuple[int, ...]) -> str:
    """Returns the label of an element.

    >>> index_text((0, 2)), index_text(())
    ('0,2', '()')
    """
    return ",".join(map(str, index)) or "()"


def number_text(value: Any) -> str:
    """Returns a short text of a number, with at most the precision of the print options.

    >>> number_text(1 / 3), number_text(2**40), number_text(True), number_text(None)
    ('0.3333', '1099511627776', 'True', '')
    """
    if value is None:
        return ""
    if isinstance(value, int):
        return str(value)
    return f"{value:.{settings.current.precision or 1}g}"


def _elements(layout: Layout, width: int) -> str:
    """The grid of elements; for higher ranks, the first matrices side by side."""
    if layout.size == 0:
        return "  none"
    shape = (1,) * (2 - layout.nmode) + tuple(layout.shape)
    edge = settings.current.edgeitems
    rows, columns = (ends(extent, MAX_IN_A_ROW, edge) for extent in shape[-2:])
    shown, more = planes(shape, MAX_PLANES)
    digits = max(len(str(bound)) for bound in layout.bounds or ())
    blocks = []
    for outer in shown:
        lines = [f"({','.join(map(str, outer))},.,.)"] if outer else []
        for row in rows:
            labels = [_location_text(layout, outer, row, column, digits) for column in columns]
            lines.append("  " + "  ".join(labels))
        blocks.append(lines)
    if more:
        blocks.append([f"{more} more"])
    return "\n\n".join(_side_by_side(blocks, width))


def _location_text(layout: Layout, outer: tuple[int, ...], row: int | None, column: int | None, digits: int) -> str:
    if row is None or column is None:
        return DOTS[:digits].rjust(digits)
    return str(layout.location((*outer, row, column)[len(outer) + 2 - layout.nmode :])).rjust(digits)


def _side_by_side(blocks: list[list[str]], width: int) -> list[str]:
    """Joins as many blocks of lines side by side as the width allows; the others follow below."""
    parts = []
    while blocks:
        taken = [blocks.pop(0)]
        total = max(map(len, taken[0]))
        while blocks and total + 3 + max(map(len, blocks[0])) <= width:
            total += 3 + max(map(len, blocks[0]))
            taken.append(blocks.pop(0))
        widths = [max(map(len, block)) for block in taken]
        rows = zip_longest(*taken, fillvalue="")
        lines = ["   ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        parts.append("\n".join(lines))
    return parts


def _memory(cells: Cells, width: int) -> str:
    """The row of cells, wrapped at the width."""
    pieces = cells.strip(MAX_CELLS)
    if not pieces:
        return "  none"
    heads = ["" if isinstance(piece, int) else str(piece.location) for piece in pieces]
    names = [[DOTS, f"{piece} cells"] if isinstance(piece, int) else names_in(piece) for piece in pieces]
    values = ["" if isinstance(piece, int) else number_text(cells.value(piece.location)) for piece in pieces]
    inner = max(len(text) for texts in (heads, values, *names) for text in texts)
    per_line = max((width - 2) // (inner + 3), 1)
    lines = []
    for first in range(0, len(pieces), per_line):
        part = slice(first, first + per_line)
        rows = [*zip_longest(*names[part], fillvalue=""), *([values[part]] if any(values) else [])]
        bars = ["─" * (inner + 2)] * len(pieces[part])
        lines.append(" " + "".join(f" {head:^{inner + 2}}" for head in heads[part]).rstrip())
        lines.append(f" ┌{'┬'.join(bars)}┐")
        lines += [f" │{'│'.join(f' {text:^{inner}} ' for text in row)}│" for row in rows]
        lines.append(f" └{'┴'.join(bars)}┘")
    return "\n".join(lines)


def names_in(cell: Cell) -> list[str]:
    """The elements in a cell, one to a line; if there are many, the first one and their count.

    >>> import strided as st
    >>> names_in(Cells(st.Layout((1,)).expand(9)).at(0))
    ['0', '*9']
    """
    if cell.count > MAX_LABELS or not cell.exact:
        return [index_text(cell.indices[0]) if cell.indices else "?", cell.times()]
    return [index_text(index) for index in cell.indices] or [GAP if cell.part == "gap" else ""]


def __dir__() -> list[str]:
    return __all__
