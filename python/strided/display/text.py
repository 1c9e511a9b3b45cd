"""Tensors and storages as text, as Torch prints them: a grid of numbers above a line with type and size.

    (0,.,.) =
       0   1   2
       3   4   5

    (1,.,.) =
       6   7   8
       9  10  11
    [strided.LongTensor of size 2x2x3]

A grid is one `%` template with a conversion for each number that is shown, filled in one operation.
"""

from __future__ import annotations

from math import prod

from strided._strided import StorageError, _repr_depth
from strided._strided import Tensor as NativeTensor

from . import options as settings
from .numerals import by_format, choose

TYPE_CHECKING = False  # typing is slow to import; the checker reads this name as True
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Protocol

    from .numerals import Style
    from .options import Options

    class Tensor(Protocol):
        """The part of a tensor's interface that printing uses."""

        @property
        def shape(self) -> tuple[int, ...]: ...
        def type(self) -> str: ...
        def tolist(self) -> Any: ...
        def narrow(self, dim: int, start: int, length: int, /) -> Tensor: ...
        def select(self, dim: int, index: int, /) -> Tensor: ...

    class Storage(Protocol):
        """The part of a storage's interface that printing uses."""

        def __len__(self) -> int: ...
        def __getitem__(self, index: int, /) -> Any: ...
        def tolist(self) -> list[Any]: ...
        def type(self) -> str: ...

    Matrix = list[list[Any]]  # rows of the elements that are shown

__all__ = ["corners", "format", "named_tuple", "storage", "tensor"]

DOTS = "..."  # stands for the slices that a summary leaves out
GAP = " " + DOTS  # stands for rows and columns; the space is the one that numbers have for a sign
INDENT = "  "  # of a tensor inside a list or another container, for each level


def tensor(x: Tensor, *, prefix: str = "strided.", base: int = 0, options: Options | None = None) -> str:
    """Returns the text of a tensor, for `repr` and `str`.

    A vector has one element to a line and a matrix one row. For higher ranks, the matrices of the last two dims are shown
    in row-major order of their leading indices. A tensor of rank 0 shows one number over `of size ()`, and a tensor without
    elements shows no grid. Inside a list or another container the text starts on a new line and is indented.

    `prefix` replaces the module in the type's name. `base` is the first index of slices and columns. Base 1 reproduces
    Torch7's `tostring`: its notation of integers, inf and NaN, its order of slices (the first index runs fastest), its
    final newline, and no `sci_mode`.

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
    scalable = x.shape != ()  # a scale on a line of its own would be odd above a single number
    text = _compose(x, lambda values: choose(values, options, base == 1, scalable), prefix, base, options)
    return text if base == 1 else _in_container(text)


def storage(s: Storage, *, prefix: str = "strided.", base: int = 0, options: Options | None = None) -> str:
    """Returns the text of a storage: one value to a line.

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
    text = f"{grid}[{_name(s, prefix)} of size {length}]{_ending(base)}"
    return text if base == 1 else _in_container(text)


def format(x: Tensor, spec: str, *, prefix: str = "strided.", base: int = 0, options: Options | None = None) -> str:
    """Returns the text of `format(x, spec)` and of f-strings.

    The spec applies to numbers. A tensor with one element is formatted as its number; in a larger tensor every number of
    the grid is. Without a spec, a tensor of rank 0 gives its number and any other tensor its `str`.

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
    except StorageError:
        raise
    except (ValueError, OverflowError) as error:
        raise ValueError(f"format: spec {spec!r} does not suit {_name(x, prefix)}: {error}") from None


def named_tuple(result: Any) -> str:
    """Returns the text of a tuple from `strided.return_types`: each field on lines of its own.

    >>> import strided as st
    >>> st.tensor([[1, 5], [7, 2]]).max(dim=1)
    strided.return_types.max(
      values=
         5
         7
        [strided.LongTensor of size 2],
      indices=
         1
         0
        [strided.LongTensor of size 2])
    """
    depth = _repr_depth()
    options = settings.current
    lines = []
    for name, part in zip(result._fields, result, strict=True):
        text = _compose(part, lambda values: choose(values, options), "strided.", 0, options)
        lines.append(f"{name}=\n{_indented(text, 1)}")
    fields = _indented(",\n".join(lines), depth + 1)
    return f"strided.return_types.{type(result).__name__}(\n{fields})"


def _in_container(text: str) -> str:
    """Indents text that Python writes inside a list, a tuple or a dict, starting on a new line; returns other text as it is."""
    depth = _repr_depth()
    return "\n" + _indented(text, depth) if depth and "\n" in text else text


def _indented(text: str, depth: int) -> str:
    return "\n".join(INDENT * depth + line if line else line for line in text.split("\n"))


def _compose(x: Tensor, style_of: Callable[[Sequence[Any]], Style], prefix: str, base: int, options: Options) -> str:
    shape, name = x.shape, _name(x, prefix)
    rank = len(shape)
    if isinstance(x, NativeTensor) and x.is_gpu and prod(shape) <= options.threshold:
        x = x.cpu()  # one transfer; of a summary each corner is one
    if base == 1 and shape in ((), (0,)):  # Torch7 has one empty tensor, and no tensor of rank 0
        return f"[{name} with no dimension]\n"
    # With an edge as long as the longest dim, all elements are shown.
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
    return f"{grid}[{name} of size {size}]{_ending(base)}"


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
    """Returns the tensor itself if all of `dim` is shown, otherwise views of its first and last `edge` indices."""
    extent = x.shape[dim]
    if extent <= 2 * edge:
        return [x]
    return [x.narrow(dim, 0, edge), x.narrow(dim, extent - edge, edge)]


def _with_gap(parts: list[str], extent: int, edge: int, gap: str) -> list[str]:
    return parts if extent <= 2 * edge else [*parts[:edge], gap, *parts[edge:]]


def _fill(template: str, values: Sequence[Any], convert: Callable[[Any], Any] | None) -> str:
    return template % tuple(map(convert, values) if convert else values)


def _column(values: Sequence[Any], extent: int, edge: int, style: Style) -> str:
    """One number to a line: the grid of vectors, storages and single numbers."""
    hole, width, scale, convert = style
    lines = "".join(_with_gap([hole + "\n"] * len(values), extent, edge, GAP.rjust(width or 0) + "\n"))
    grid = _fill(lines, values, convert)
    return f"{scale:g} *\n{grid}" if scale else grid


def _matrices(x: Tensor, style_of: Callable[[Sequence[Any]], Style], edge: int, base: int, options: Options) -> str:
    """The grid of a matrix, or of all slices of a tensor of higher rank."""
    *outer, rows, columns = x.shape
    indices = _slice_indices(outer, edge, min(rows, 2 * edge) * min(columns, 2 * edge), base == 1, options)
    shown = [index for index in indices if index is not None]
    matrices = [corners(_slice(x, index), edge) for index in shown]
    style = style_of([value for matrix in matrices for row in matrix for value in row])
    template, fillings = _template(rows, columns, edge, style, " " if outer else "", base, options.width())
    remaining = iter(matrices)
    parts = []
    for index in indices:
        if index is None:
            parts.append(DOTS + "\n")
            continue
        matrix = next(remaining)
        title = "(" + "".join(f"{i + base}," for i in index) + ".,.) = \n" if outer else ""
        values = [value for filling in fillings for row in matrix for value in row[filling]]
        parts.append(title + _fill(template, values, style[3]))
    return "\n".join(parts)


def _slice_indices(
    outer: Sequence[int], edge: int, matrix_size: int, first_fastest: bool, options: Options
) -> list[Sequence[int] | None]:
    """The leading indices of the slices that are shown, in the order of printing; None stands for those left out.

    A summary shows the slices at both ends of every outer dim. Where those are still too many to read (64 of
    2x2x2x2x2x2x100x100), it takes the outer dims as one long dim and shows both ends of that.
    """
    fastest_first = outer if first_fastest else outer[::-1]
    indices: list[Sequence[int] | None] = []
    expected = 0
    for position in _slice_positions(fastest_first, edge, matrix_size, options):
        if position != expected:
            indices.append(None)
        expected = position + 1
        index = []
        for extent in fastest_first:
            position, i = divmod(position, extent)
            index.append(i)
        indices.append(index if first_fastest else index[::-1])
    return indices


def _slice_positions(fastest_first: Sequence[int], edge: int, matrix_size: int, options: Options) -> Sequence[int]:
    """The positions of the shown slices in the order of printing, whose dims are listed with the fastest one first."""
    ends = [range(n) if n <= 2 * edge else (*range(edge), *range(n - edge, n)) for n in fastest_first]
    total = prod(fastest_first)
    if prod(map(len, ends)) * matrix_size > options.threshold and total > 2 * options.edgeitems:
        return (*range(options.edgeitems), *range(total - options.edgeitems, total))
    positions = [0]
    step = 1
    for extent, shown in zip(fastest_first, ends, strict=True):
        positions = [position + step * i for i in shown for position in positions]
        step *= extent
    return positions


def _slice(x: Tensor, index: Iterable[int]) -> Tensor:
    for i in index:
        x = x.select(0, i)
    return x


def corners(x: Tensor, edge: int) -> Matrix:
    """The elements of a matrix that are shown, and no others: all, those of two halves, or those of four corners.

    >>> import strided as st
    >>> corners(st.arange(20).view(4, 5), 1)
    [[0, 4], [15, 19]]
    """
    rows: Matrix = []
    for band in _ends(x, 0, edge):
        left, *right = [end.tolist() for end in _ends(band, 1, edge)]
        rows += [a + b for a, b in zip(left, *right, strict=True)] if right else left
    return rows


def _template(
    rows: int, columns: int, edge: int, style: Style, indent: str, base: int, linewidth: int
) -> tuple[str, list[slice]]:
    """Returns the template of one matrix and, for each block of columns, the slice of a shown row that fills it."""
    hole, width, _, _ = style
    cut = columns > 2 * edge
    # The column at which each cell starts, and the end of the last one. A gap is one cell: 0 1 2 [3 ... 96] 97 98 99.
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
    """The template of a block of columns: a heading if there are several blocks, the scale if there is one, and the rows."""
    _, width, scale, _ = style
    lines = [indent + heading] if heading else []
    if scale:
        lines.append(f"{indent}{scale:g} *")
        indent += " "
    row = indent + " ".join(cells)
    lines += _with_gap([row] * min(rows, 2 * edge), rows, edge, indent + GAP.rjust(width or 0))
    return "\n".join(lines) + "\n"


def __dir__() -> list[str]:
    return __all__
