"""Tensors and storages as text, in the look of Torch: a grid of numbers, and under it a line with type and size.

    (0,.,.) =
       0   1   2
       3   4   5

    (1,.,.) =
       6   7   8
       9  10  11
    [strided.LongTensor of size 2x2x3]

A grid is made as one template with a hole for each number that is shown, and filled in one go.
"""

from __future__ import annotations

from math import prod

from . import options as settings
from .numerals import by_format, choose

TYPE_CHECKING = False  # typing is slow to import; the checker reads this name as True
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Protocol

    from .numerals import Style
    from .options import Options

    class Tensor(Protocol):
        """What is asked of a tensor in order to print it."""

        @property
        def shape(self) -> tuple[int, ...]: ...
        def type(self) -> str: ...
        def tolist(self) -> Any: ...
        def narrow(self, dim: int, start: int, length: int, /) -> Tensor: ...
        def select(self, dim: int, index: int, /) -> Tensor: ...

    class Storage(Protocol):
        """What is asked of a storage in order to print it."""

        def __len__(self) -> int: ...
        def __getitem__(self, index: int, /) -> Any: ...
        def tolist(self) -> list[Any]: ...
        def type(self) -> str: ...

    Matrix = list[list[Any]]  # rows of the elements that are shown

DOTS = "..."  # stand for the slices that a summary leaves out
GAP = " " + DOTS  # for its rows and columns, with the place of a sign


def tensor(x: Tensor, *, prefix: str = "strided.", base: int = 0, options: Options | None = None) -> str:
    """The text of a tensor, for `repr` and `str`.

    A vector has one element to a line, a matrix one row; of higher ranks all matrices of the last two dims are shown, the
    first index running fastest, as Torch does. Without a dim there is one number, over `of size ()`. Without an element
    there is no grid.

    `prefix` replaces the module in the type's name. `base` counts slices and columns; with base 1 the text is that of
    Torch7's `tostring`, with its ways to write integers, inf and NaN, its last newline, and no choice of `sci_mode`.

    >>> import strided as st
    >>> st.tensor([[1, -20], [300, 4]])
       1  -20
     300    4
    [strided.LongTensor of size 2x2]
    >>> st.tensor([0.001, 0.25])
     0.0010
     0.2500
    [strided.FloatTensor of size 2]
    """
    if options is None:
        options = settings.current
    scalable = x.shape != ()  # a line with a factor would be odd over a single number
    return _compose(x, lambda values: choose(values, options, base == 1, scalable), prefix, base, options)


def storage(s: Storage, *, prefix: str = "strided.", base: int = 0, options: Options | None = None) -> str:
    """The text of a storage: one value to a line.

    >>> import strided as st
    >>> st.LongStorage([4, 5, 6])
     4
     5
     6
    [strided.LongStorage of size 3]
    """
    if options is None:
        options = settings.current
    length = len(s)
    edge = options.edgeitems
    if length <= options.threshold or length <= 2 * edge:
        edge = length
        values = s.tolist()
    else:
        values = [s[i] for i in (*range(edge), *range(length - edge, length))]
    grid = _column(values, length, edge, choose(values, options, base == 1)) if values else ""
    return f"{grid}[{_name(s, prefix)} of size {length}]{_ending(base)}"


def format(x: Tensor, spec: str, *, prefix: str = "strided.", base: int = 0, options: Options | None = None) -> str:
    """The text of `format(x, spec)` and of f-strings.

    A spec is for numbers: it writes the number of a tensor with one element, and in a larger tensor every element of the
    grid. Without a spec a tensor of no dim gives its number, and any other its `str`.

    >>> import strided as st
    >>> f"{st.tensor(2.5):.3f}"
    '2.500'
    >>> print(f"{st.tensor([[0.5, 10.0]]):.1f}")
      0.5  10.0
    [strided.FloatTensor of size 1x2]
    """
    shape = x.shape
    if not spec and shape:
        return tensor(x, prefix=prefix, base=base, options=options)
    try:
        if prod(shape) == 1:
            return f"{_only_element(x):{spec}}"
        return _compose(x, lambda values: by_format(values, spec), prefix, base, options or settings.current)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"format: spec {spec!r} does not suit {_name(x, prefix)}: {error}") from None


def _compose(x: Tensor, style_of: Callable[[Sequence[Any]], Style], prefix: str, base: int, options: Options) -> str:
    shape = x.shape
    rank = len(shape)
    if base == 1 and shape in ((), (0,)):  # Torch7 has one empty tensor, and none that is a number
        return f"[{_name(x, prefix)} with no dimension]\n"
    # An edge as long as the longest dim leaves nothing out.
    edge = options.edgeitems if prod(shape) > options.threshold else max(shape, default=0)
    if 0 in shape:
        grid = ""
    elif rank == 0:
        value = x.tolist()
        grid = _column([value], 1, 1, style_of([value]))
    elif rank == 1:
        values = [value for end in _ends(x, 0, edge) for value in end.tolist()]
        grid = _column(values, shape[0], edge, style_of(values))
    else:
        grid = _matrices(x, style_of, edge, base, options)
    size = "x".join(map(str, shape)) or "()"
    return f"{grid}[{_name(x, prefix)} of size {size}]{_ending(base)}"


def _name(x: Tensor | Storage, prefix: str) -> str:
    return prefix + x.type().partition(".")[2]


def _ending(base: int) -> str:
    return "\n" if base == 1 else ""


def _only_element(x: Tensor) -> Any:
    element = x.tolist()
    while isinstance(element, list):
        element = element[0]
    return element


def _ends(x: Tensor, dim: int, edge: int) -> list[Tensor]:
    """The tensor itself if all of `dim` is shown, or else views of its first and its last `edge` indices."""
    extent = x.shape[dim]
    if extent <= 2 * edge:
        return [x]
    return [x.narrow(dim, 0, edge), x.narrow(dim, extent - edge, edge)]


def _with_gap(parts: list[str], extent: int, edge: int, gap: str) -> list[str]:
    return parts if extent <= 2 * edge else [*parts[:edge], gap, *parts[edge:]]


def _fill(template: str, values: Sequence[Any], convert: Callable[[Any], Any] | None) -> str:
    return template % tuple(map(convert, values) if convert else values)


def _column(values: Sequence[Any], extent: int, edge: int, style: Style) -> str:
    """Numbers one below the other: the grid of vectors, storages and single numbers."""
    hole, width, scale, convert = style
    lines = "".join(_with_gap([hole + "\n"] * len(values), extent, edge, GAP.rjust(width or 0) + "\n"))
    grid = _fill(lines, values, convert)
    return f"{scale:g} *\n{grid}" if scale else grid


def _matrices(x: Tensor, style_of: Callable[[Sequence[Any]], Style], edge: int, base: int, options: Options) -> str:
    """The grid of a matrix, or of all the slices of a tensor of higher rank."""
    *outer, rows, columns = x.shape
    positions = _positions(outer, edge, min(rows, 2 * edge) * min(columns, 2 * edge), options)
    indices = [_index(position, outer) for position in positions]
    matrices = [corners(_slice(x, index), edge) for index in indices]
    style = style_of([value for matrix in matrices for row in matrix for value in row])
    sheet, fillings = _sheet(rows, columns, edge, style, " " if outer else "", base, options.width())
    parts = []
    expected = 0
    for position, index, matrix in zip(positions, indices, matrices, strict=True):
        if position != expected:
            parts.append(DOTS + "\n")
        expected = position + 1
        title = "(" + "".join(f"{i + base}," for i in index) + ".,.) = \n" if outer else ""
        values = [value for filling in fillings for row in matrix for value in row[filling]]
        parts.append(title + _fill(sheet, values, style[3]))
    return "\n".join(parts)


def _positions(outer: Sequence[int], edge: int, matrix_size: int, options: Options) -> Sequence[int]:
    """Which slices are shown, counted in the order of printing.

    These are the ones at the ends of every outer dim. Where those are still too many to read, 64 in 2x2x2x2x2x2x100x100,
    the slices are taken as one long dim.
    """
    ends = [range(n) if n <= 2 * edge else (*range(edge), *range(n - edge, n)) for n in outer]
    total = prod(outer)
    if prod(map(len, ends)) * matrix_size > options.threshold and total > 2 * options.edgeitems:
        return (*range(options.edgeitems), *range(total - options.edgeitems, total))
    positions = [0]
    step = 1
    for extent, shown in zip(outer, ends, strict=True):
        positions = [position + step * i for i in shown for position in positions]
        step *= extent
    return positions


def _index(position: int, outer: Sequence[int]) -> list[int]:
    """The index of the slice at a position: (0,0), (1,0), (0,1), (1,1) for outer dims 2x2."""
    index = []
    for extent in outer:
        position, i = divmod(position, extent)
        index.append(i)
    return index


def _slice(x: Tensor, index: Iterable[int]) -> Tensor:
    for i in index:
        x = x.select(0, i)
    return x


def corners(x: Tensor, edge: int) -> Matrix:
    """The shown elements of a matrix, and no others: whole, in two halves, or in four corners.

    >>> import strided as st
    >>> corners(st.arange(20).view(4, 5), 1)
    [[0, 4], [15, 19]]
    """
    rows: Matrix = []
    for band in _ends(x, 0, edge):
        left, *right = [end.tolist() for end in _ends(band, 1, edge)]
        rows += [a + b for a, b in zip(left, *right, strict=True)] if right else left
    return rows


def _sheet(
    rows: int, columns: int, edge: int, style: Style, indent: str, base: int, linewidth: int
) -> tuple[str, list[slice]]:
    """The template of one matrix, and for each block of its columns the slice of a shown row that fills it."""
    hole, width, _, _ = style
    cut = columns > 2 * edge
    # The column at which each cell begins, and where the last one ends. A gap is one cell: 0 1 2 [3 ... 96] 97 98 99.
    starts = [*range(edge + 1), *range(columns - edge, columns + 1)] if cut else range(columns + 1)
    cells = [hole] * (len(starts) - 1)
    if cut:
        cells[edge] = GAP
    per_line = len(cells) if width is None else max((linewidth - len(indent)) // (width + 1), 1)
    templates, fillings = [], []
    for first in range(0, len(cells), per_line):
        last = min(first + per_line, len(cells))
        heading = f"Columns {starts[first] + base} to {starts[last] - 1 + base}" if per_line < len(cells) else ""
        templates.append(_block(cells[first:last], rows, edge, style, indent, heading))
        fillings.append(slice(first - (cut and first > edge), last - (cut and last > edge)))
    return "\n".join(templates), fillings


def _block(cells: list[str], rows: int, edge: int, style: Style, indent: str, heading: str) -> str:
    """The template of neighbouring columns: a heading if there are several blocks, the scale if there is one, the rows."""
    _, width, scale, _ = style
    lines = [indent + heading] if heading else []
    if scale:
        lines.append(f"{indent}{scale:g} *")
        indent += " "
    row = indent + " ".join(cells)
    lines += _with_gap([row] * min(rows, 2 * edge), rows, edge, indent + GAP.rjust(width or 0))
    return "\n".join(lines) + "\n"
