"""A layout drawn as a picture: the elements above, the memory below; an element and its cell have the same colour.

The colour is a function of the location. Gaps (cells within the span that store no element) are hatched, cells outside of
the span are grey, and a badge counts the elements that share a cell. An arc above the memory shows, for each dim, one step
from the first element. The picture has a light background of its own, so that it looks the same in every theme.
"""

from __future__ import annotations

from html import escape
from itertools import product

from .cells import MAX_LABELS, Cells, ends, planes
from .drawing import index_text, number_text

TYPE_CHECKING = False  # typing is slow to import; the checker reads this name as True
if TYPE_CHECKING:
    from strided._strided import Layout, Tensor

    from .cells import Cell

__all__ = ["Canvas", "picture"]

# Lengths are in pixels.
CONTENT_WIDTH = 712
MIN_WIDTH = 420
MARGIN = 24
CELL_HEIGHT = 38
MAX_CELLS = 72
MAX_IN_A_ROW = 12
MAX_PLANES = 4
EDGE = 3
INK, FAINT, GROUND, LINE, GREY = "#1f2937", "#6b7280", "#ffffff", "#d1d5db", "#f0f1f4"
# Light tones of equal brightness, on which dark text is legible.
TONES = ((255, 214, 165), (253, 235, 150), (198, 234, 170), (160, 228, 214), (166, 208, 250), (200, 190, 250))


def picture(x: Tensor | Layout | Cells) -> str:
    """Returns the picture of a layout, or of a tensor with its numbers, as the text of an SVG file.

    >>> import strided as st
    >>> text = picture(st.arange(6).view(2, 3).t())
    >>> text.startswith("<svg") and "stride 3" in text
    True
    """
    canvas = Canvas(x if isinstance(x, Cells) else Cells(x))
    canvas.title()
    canvas.elements()
    canvas.memory()
    return canvas.finish()


class Canvas:
    """Collects the parts of a picture, from top to bottom.

    >>> import strided as st
    >>> canvas = Canvas(Cells(st.Layout((2, 3))))
    >>> canvas.colour(0) == canvas.colour(5)
    False
    """

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self.layout = cells.layout
        self.parts: list[str] = []
        self.y: float = MARGIN
        self.right: float = MIN_WIDTH - MARGIN  # the right edge of all parts so far
        self.strip = cells.strip(MAX_CELLS)
        self.drawn = [piece for piece in self.strip if not isinstance(piece, int)]
        labels = [line for cell in self.drawn for line in self._lines(cell)]
        labels += [number_text(cells.value(cell.location)) for cell in self.drawn]
        self.width = min(max([50, *(9 * len(label) + 12 for label in labels)]), 230)

    def colour(self, location: int) -> str:
        """Returns the colour of a location, interpolated along the tones from the lowest to the highest location."""
        low, high = self.cells.bounds or (0, 0)
        along = (location - low) / max(high - low, 1) * (len(TONES) - 1)
        first = min(int(along), len(TONES) - 2)
        mixed = [round(a + (b - a) * (along - first)) for a, b in zip(TONES[first], TONES[first + 1], strict=True)]
        return "#{:02x}{:02x}{:02x}".format(*mixed)

    def title(self) -> None:
        """Adds shape, strides and offset."""
        shape = " × ".join(map(str, self.layout.shape)) or "()"
        stride = ", ".join(map(str, self.layout.stride)) or "none"
        self._text(MARGIN, self.y + 6, f"shape {shape}", 16, INK, "start", bold=True)
        self._text(MARGIN, self.y + 25, f"strides {stride}  ·  offset {self.layout.offset}", 12, FAINT, "start")
        self.y += 48

    def elements(self) -> None:
        """Adds the grid: each element with the location of its cell, and its value if it has one."""
        if self.layout.size == 0:
            self._text(MARGIN, self.y + 14, "no elements", 13, FAINT, "start")
            self.y += 40
            return
        missing = max(2 - self.layout.nmode, 0)
        shape = (1,) * missing + tuple(self.layout.shape)
        rows, columns = (ends(extent, MAX_IN_A_ROW, EDGE) for extent in shape[-2:])
        shown, more = planes(shape, MAX_PLANES)
        top = self.y + 18
        left = self._axes(top)
        wide = min(self.width, CONTENT_WIDTH // len(columns))
        x = left
        for outer in shown:
            if x > left and x + wide * len(columns) > MARGIN + CONTENT_WIDTH:
                x, top = left, top + CELL_HEIGHT * len(rows) + 40
            if outer:
                self._text(x + 2, top + CELL_HEIGHT * len(rows) + 16, f"{index_text(outer)},·,·", 11, FAINT, "start")
            for (i, row), (j, column) in product(enumerate(rows), enumerate(columns)):
                if row is None or column is None:
                    self._text(x + (j + 0.5) * wide, top + (i + 0.5) * CELL_HEIGHT + 4, "⋯", 14, FAINT)
                else:
                    self._element((*outer, row, column)[missing:], x + j * wide, top + i * CELL_HEIGHT, wide)
            x += wide * len(columns) + 24
        if more:
            self._text(left, top + CELL_HEIGHT * len(rows) + 34, f"and {more} more", 12, FAINT, "start")
        self.y = top + CELL_HEIGHT * len(rows) + (16 if shape[:-2] else 0) + (18 if more else 12)

    def memory(self) -> None:
        """Adds the row of cells, wrapped at the width of the picture."""
        self.y += 14
        self._text(MARGIN, self.y, "memory", 13, FAINT, "start")
        if not self.strip:
            self._text(MARGIN + 64, self.y, "no cells", 13, FAINT, "start")
        per_row = CONTENT_WIDTH // self.width
        height = CELL_HEIGHT + 14 * (max([1, *(len(self._lines(cell)) for cell in self.drawn)]) - 1)
        for first in range(0, len(self.strip), per_row):
            row = self.strip[first : first + per_row]
            left_edges: dict[int, float] = {
                c.location: MARGIN + at * self.width for at, c in enumerate(row) if not isinstance(c, int)
            }
            self.y += 22 + self._arcs(left_edges, self.y + 22)
            for at, cell in enumerate(row):
                self._cell(cell, MARGIN + at * self.width, self.y, height)
            self.y += height
            if self.cells.bounds and self.layout.offset in left_edges:
                middle = left_edges[self.layout.offset] + self.width / 2
                self.parts.append(f'<path d="M{middle:g} {self.y + 3:g}l5 8h-10z" fill="{INK}"/>')
                self._text(middle, self.y + 23, f"offset {self.layout.offset}", 11, INK)
                self.y += 22
        self.y += 20
        self._legend()

    def finish(self) -> str:
        """Returns the file: patterns, background and parts."""
        width, height = round(self.right + MARGIN), round(self.y + MARGIN)
        label = escape(f"Drawing of {self.layout}", quote=True)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-label="{label}" font-family="system-ui, Helvetica, Arial, sans-serif">'
            f'<defs><pattern id="strided-gap" width="7" height="7" patternUnits="userSpaceOnUse" '
            f'patternTransform="rotate(45)"><rect width="7" height="7" fill="{GROUND}"/>'
            f'<path d="M0 0v7" stroke="{LINE}" stroke-width="3"/></pattern></defs>'
            f'<rect width="{width}" height="{height}" rx="10" fill="{GROUND}" stroke="{LINE}"/>\n'
            + "\n".join(self.parts)
            + "\n</svg>\n"
        )

    def _text(
        self, x: float, y: float, text: str, size: int, fill: str, anchor: str = "middle", bold: bool = False
    ) -> None:
        weight = ' font-weight="600"' if bold else ""
        length = len(text) * size * 0.55
        self.right = max(self.right, x + {"start": length, "middle": length / 2, "end": 0}[anchor])
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}" text-anchor="{anchor}"{weight}>{escape(text)}</text>'
        )

    def _box(self, x: float, y: float, width: float, height: float, fill: str, facts: str) -> None:
        self.right = max(self.right, x + width)
        self.parts.append(
            f'<rect x="{x + 1.5:g}" y="{y + 1.5:g}" width="{width - 3:g}" height="{height - 3:g}" rx="4" '
            f'fill="{fill}" stroke="{LINE if fill.startswith("url") else "none"}" {facts}/>'
        )

    def _axes(self, top: float) -> float:
        """Labels the dims, those of the grid at its sides. Returns the left side of the grid."""
        names = [f"dim {dim}, stride {stride}" for dim, stride in enumerate(self.layout.stride)]
        left: float = MARGIN
        if len(names) > 1:
            left += 6.2 * len(names[-2]) + 20
            self._text(left - 8, top + CELL_HEIGHT / 2 + 4, f"{names[-2]} ↓", 11, FAINT, "end")
        if names:
            self._text(left + 2, top - 7, "  ·  ".join([f"{names[-1]} →", *names[:-2]]), 11, FAINT, "start")
        return left

    def _element(self, index: tuple[int, ...], x: float, y: float, wide: float) -> None:
        location = self.layout.location(index)
        self._box(
            x, y, wide, CELL_HEIGHT, self.colour(location), f'data-element="{index_text(index)}" data-at="{location}"'
        )
        value = number_text(self.cells.value(location))
        if not value:
            self._text(x + wide / 2, y + CELL_HEIGHT / 2 + 5, str(location), 14, INK)
            return
        self._text(x + wide / 2, y + CELL_HEIGHT / 2 + 2, value, 14, INK)
        self._text(x + wide / 2, y + CELL_HEIGHT - 6, f"@{location}", 9, FAINT)

    def _cell(self, cell: Cell | int, x: float, y: float, height: float) -> None:
        middle = x + self.width / 2
        if isinstance(cell, int):
            self._text(middle, y + height / 2, "⋯", 16, FAINT)
            self._text(middle, y + height / 2 + 14, f"{cell}", 10, FAINT)
            return
        fill = {"gap": "url(#strided-gap)", "outside": GREY}.get(cell.part) or self.colour(cell.location)
        names = " ".join(map(index_text, cell.indices))
        self._box(
            x,
            y,
            self.width,
            height,
            fill,
            f'data-cell="{cell.location}" data-holds="{names}" data-count="{cell.count}"',
        )
        self._text(middle, y - 4, str(cell.location), 10, FAINT)
        lines = self._lines(cell)
        value = number_text(self.cells.value(cell.location))
        base = y + (height - 14 * (len(lines) - 1)) / 2 + (1 if value and cell.count else 5)
        for at, line in enumerate(lines):
            self._text(middle, base + 14 * at, line, 13, INK)
        if value:
            self._text(
                middle, y + height - 6 if cell.count else y + height / 2 + 4, value, 9 if cell.count else 11, FAINT
            )
        if cell.count > 1:
            self.parts.append(f'<circle cx="{x + self.width - 5:g}" cy="{y + 4:g}" r="9" fill="{INK}"/>')
            self._text(x + self.width - 5, y + 7.5, cell.times()[1:] if cell.count < 100 else "99+", 9, GROUND)

    def _lines(self, cell: Cell) -> list[str]:
        """The elements in a cell, one to a line; if there are many, only the first one."""
        names = [index_text(index) for index in cell.indices]
        if not cell.exact:
            return [*names[:1], "?"]
        return [names[0], "…"] if cell.count > MAX_LABELS else names

    def _arcs(self, left_edges: dict[int, float], y: float) -> int:
        """Adds, for each dim, an arc of one step from the first element if both ends are in this row of cells.

        `left_edges` has the x coordinate of each location in the row. Returns the height of the arcs.
        """
        offset = self.layout.offset
        steps: dict[int, list[str]] = {}
        for dim, (extent, stride) in enumerate(zip(self.layout.shape, self.layout.stride, strict=True)):
            if self.layout.size and extent > 1 and stride and offset in left_edges and offset + stride in left_edges:
                steps.setdefault(stride, []).append(f"dim {dim}")
        ordered = sorted(steps, key=abs)
        tall = 28 * len(ordered)
        low = y + tall - 15
        labels = []
        for level, stride in enumerate(ordered, 1):
            start, end = (left_edges[location] + self.width / 2 for location in (offset, offset + stride))
            rise = 28 * level - 16
            bend = low - rise * 4 / 3  # a cubic Bézier curve reaches three quarters of the height of its control points
            self.parts.append(
                f'<path d="M{start:g} {low:g}C{start:g} {bend:g} {end:g} {bend:g} {end:g} {low:g}" fill="none" '
                f'stroke="{FAINT}" stroke-width="1.3"/><path d="M{end:g} {low + 3:g}l-3.5 -7h7z" fill="{FAINT}"/>'
            )
            labels.append(((start + end) / 2, low - rise - 4, f"{', '.join(steps[stride])}: {stride:+}"))
        for x, high, label in labels:  # drawn after all arcs, each on a patch of background
            half = 2.8 * len(label) + 2
            x = max(x, MARGIN + half)
            self.parts.append(
                f'<rect x="{x - half:g}" y="{high - 9:g}" width="{2 * half:g}" height="12" fill="{GROUND}"/>'
            )
            self._text(x, high, label, 10, INK)
        return tall

    def _legend(self) -> None:
        notes = []
        if any(cell.part == "gap" for cell in self.drawn):
            notes.append(("url(#strided-gap)", "gap: no element here"))
        if any(cell.part == "outside" for cell in self.drawn):
            notes.append((GREY, "outside of the view"))
        if any(cell.count > 1 for cell in self.drawn):
            notes.append((INK, "badge: number of elements that share the cell"))
        hidden = sum(piece for piece in self.strip if isinstance(piece, int))
        if hidden:
            notes.append(("", f"⋯ {hidden} cells are not drawn"))
        x: float = MARGIN
        for fill, note in notes:
            if fill:
                self._box(x, self.y - 10, 15, 15, fill, "")
                x += 20
            self._text(x, self.y + 2, note, 11, FAINT, "start")
            x += 6.2 * len(note) + 22
        self.y += 4 if notes else -16


def __dir__() -> list[str]:
    return __all__
