"""Tensors, storages and layouts as cards in a notebook: a head with type and size, and below it numbers or a heat map.

A card is one piece of HTML with inline styles and no script. Its colours are translucent, so it suits light and dark themes.
Of a tensor of any size at most some thousand elements are read: they are sampled evenly through strided views.
"""

from __future__ import annotations

from html import escape
from math import isfinite, prod

from . import options as settings
from .cells import planes
from .numerals import bytes_text, choose
from .text import corners

TYPE_CHECKING = False  # typing is slow to import; the checker reads this name as True
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from strided._strided import Layout, Storage, Tensor

    from .options import Options

__all__ = ["Tint", "card", "contents", "layout", "storage", "tensor"]

MAX_NUMBERS = 2000  # shown as a table, whatever the threshold of the print options
MAX_PLANES = 4
SIDE, SMALL_SIDE = 48, 28  # samples along a dim of a single heat map, and of one of several
LONG_SIDE = 512  # samples of a vector's heat map
LEVELS = 24

EDGE = "rgba(128,128,128,.35)"
NEGATIVE, POSITIVE, NOT_FINITE = "220,60,50", "40,110,230", "240,180,20"  # red, green, blue
CARD = (
    f"display:inline-block;max-width:100%;overflow-x:auto;box-sizing:border-box;padding:10px 14px;border:1px solid {EDGE};"
    "border-radius:8px;font:13px/1.5 system-ui,sans-serif"
)
FAINT = "opacity:.7;font-size:12px"
CELL = "padding:1px 7px;text-align:right;white-space:pre;border:0;font:12px/1.6 ui-monospace,monospace"


def tensor(x: Tensor) -> str:
    """Returns the card of a tensor.

    A tensor with no more elements than the threshold of the print options is shown as a table of numbers, a larger one as a
    heat map and the numbers at its corners. For higher ranks the first matrices are shown. Complex numbers are coloured by
    magnitude.

    >>> import strided as st
    >>> "<b>FloatTensor</b> 2 × 3" in tensor(st.zeros(2, 3))
    True
    """
    facts = [x.dtype.name, f"strides {x.stride()}", f"offset {x.storage_offset()}", bytes_text(x.nbytes), str(x.device)]
    shown = x.cpu() if x.is_gpu and x.numel() <= MAX_NUMBERS else x  # one transfer; samples are one each
    name, shape = x.type().partition(".")[2], " × ".join(map(str, x.shape)) or "()"
    return card(name, shape, facts, contents(shown, settings.current))


def storage(s: Storage) -> str:
    """Returns the card of a storage: its elements in one row.

    >>> import strided as st
    >>> "<b>LongStorage</b> 3" in storage(st.LongStorage([4, 5, 6]))
    True
    """
    from strided._strided import as_strided

    owner = ["own memory" if s.owns_memory else "memory of another object", *(["read-only"] if s.readonly else [])]
    facts = [s.dtype.name, bytes_text(s.nbytes), str(s.device), *owner]
    elements = as_strided(s, (len(s),), (1,))
    return card(s.type().partition(".")[2], str(len(s)), facts, contents(elements, settings.current))


def layout(x: Layout) -> str:
    """Returns the card of a layout: its drawing.

    >>> import strided as st
    >>> "<svg" in layout(st.Layout((2, 3)))
    True
    """
    from .svg import picture

    words = ("is_row_major", "is_column_major", "is_contiguous", "is_injective")
    facts = [f"span {x.span}", *(word for word in words if getattr(x, word))]
    return card("Layout", " × ".join(map(str, x.shape)) or "()", facts, picture(x))


def card(name: str, shape: str, facts: Iterable[str], body: str) -> str:
    """Returns a frame with a head, a line of facts, and a body that is HTML already.

    >>> "<b>Size</b> &lt;3&gt;" in card("Size", "<3>", ["one", "two"], "")
    True
    """
    head = f"<b>{escape(name)}</b> {escape(shape)}"
    return (
        f'<div style="{CARD}"><div>{head}</div><div style="{FAINT}">{escape(" · ".join(facts))}</div>'
        f'<div style="margin-top:8px">{body}</div></div>'
    )


def contents(x: Tensor, options: Options) -> str:
    """Returns the body of a card: numbers, or a heat map and some of the numbers.

    >>> import strided as st
    >>> contents(st.zeros(0), settings.Options())
    'no elements'
    """
    shape = x.shape
    size = prod(shape)
    if size == 0:
        return "no elements"
    if not shape:
        return f'<span style="{CELL}">{escape(_numbers([[[x.tolist()]]], options)[0][0][0].strip())}</span>'
    if len(shape) == 1:
        x = x.unsqueeze(0)
    shown, more = planes(x.shape, MAX_PLANES)
    matrices = [x[outer] if outer else x for outer in shown]
    whole = size <= min(options.threshold, MAX_NUMBERS)
    if whole:
        parts, legend = _tables(matrices, max(x.shape[-2:]), options), ""
    else:
        parts, legend = _heat_maps(matrices)
        parts[0] += _tables(matrices[:1], options.edgeitems, options)[0]
    titles = [f'<div style="{FAINT}">({",".join(map(str, outer))},.,.)</div>' if outer else "" for outer in shown]
    block = '<div style="display:inline-block;vertical-align:top;margin:0 14px 6px 0">'
    body = "".join(f"{block}{title}{part}</div>" for title, part in zip(titles, parts, strict=True))
    rest = f'<div style="{FAINT}">and {more} more</div>' if more else ""
    return legend + body + rest


# Numbers


def _tables(matrices: Sequence[Tensor], edge: int, options: Options) -> list[str]:
    """Tables of all elements, or of those within `edge` of the corners, each number on its colour."""
    values = [corners(matrix, edge) for matrix in matrices]
    numbers = _numbers(values, options)
    tint = Tint(_flat(values), 0.45)  # weak enough to leave the number legible
    scale = choose(_flat(values), options)[2]
    factor = f'<div style="{FAINT}">{scale:g} ×</div>' if scale else ""
    tables = []
    for matrix, rows, texts in zip(matrices, values, numbers, strict=True):
        height, width = matrix.shape
        lines = []
        for row, line in zip(rows, texts, strict=True):
            cells = [
                f'<td style="{CELL};background:{tint(v)}">{escape(t)}</td>' for v, t in zip(row, line, strict=True)
            ]
            lines.append(f"<tr>{''.join(_gapped(cells, width, edge, f'<td style={CELL!r}>…</td>'))}</tr>")
        body = "".join(_gapped(lines, height, edge, f"<tr><td style={CELL!r}>⋮</td></tr>"))
        tables.append(
            f'{factor}<table style="border-collapse:collapse;border:0;margin:0;color:inherit"><tbody>{body}</tbody></table>'
        )
    return tables


def _gapped(parts: list[str], extent: int, edge: int, gap: str) -> list[str]:
    return parts if extent <= 2 * edge else [*parts[:edge], gap, *parts[edge:]]


def _flat(matrices: Sequence[Sequence[Sequence[Any]]]) -> list[Any]:
    return [value for rows in matrices for row in rows for value in row]


def _numbers(matrices: Sequence[Sequence[Sequence[Any]]], options: Options) -> list[list[list[str]]]:
    """The elements as text, all in one notation; True and False are a full and an empty square."""
    values = _flat(matrices)
    if type(values[0]) is bool:
        return [[["■" if value else "□" for value in row] for row in rows] for rows in matrices]
    hole, _, _, convert = choose(values, options, scalable=len(values) > 1)
    return [[[hole % (convert(value) if convert else value) for value in row] for row in rows] for rows in matrices]


# Heat maps


class Tint:
    """The colour scale of some numbers.

    With both signs present a colour gets stronger away from 0; otherwise, away from the end that is closer to 0.

    >>> tint = Tint([-1.0, 0.0, 2.0])
    >>> tint(0.0), tint(2.0), tint(-1.0), tint(float("nan"))
    ('transparent', 'rgba(40,110,230,.80)', 'rgba(220,60,50,.40)', 'rgba(240,180,20,.80)')
    """

    def __init__(self, values: Iterable[Any], strength: float = 0.8) -> None:
        self.strength = strength
        magnitudes = [_real(value) for value in values]
        finite = list(filter(isfinite, magnitudes))
        self.not_finite = len(magnitudes) - len(finite)
        self.low, self.high = min(finite, default=0.0), max(finite, default=0.0)
        near = self.high if self.high < 0 else self.low if self.low > 0 else 0.0
        self.near = (
            0.0 if near == (self.low if near < 0 else self.high) else near
        )  # if all are equal, they still get a colour
        # Differences of halves: that of two large numbers may overflow.
        self.reach = max(abs(self.low / 2 - self.near / 2), abs(self.high / 2 - self.near / 2))

    def __call__(self, value: Any) -> str:
        number = _real(value)
        if not isfinite(number):
            return self._colour(NOT_FINITE, 1)
        level = round(abs(number / 2 - self.near / 2) / self.reach * LEVELS) if self.reach else 0
        return self._colour(NEGATIVE if number < 0 else POSITIVE, level / LEVELS)

    def _colour(self, tone: str, level: float) -> str:
        alpha = f"{level * self.strength:.2f}"
        return "transparent" if alpha == "0.00" else f"rgba({tone},{alpha.lstrip('0')})"

    def legend(self) -> str:
        """Returns HTML that shows the range of colours and their values."""
        middle = "transparent," if self.low < 0 < self.high else ""
        bar = f"linear-gradient(90deg,{self(self.low)},{middle}{self(self.high)})"
        swatch = f'<span style="display:inline-block;width:90px;height:9px;margin:0 6px;border:1px solid {EDGE};background:{bar}"></span>'
        rest = f" · {self.not_finite} NaN or infinite, in yellow" if self.not_finite else ""
        return f"{self.low:.4g}{swatch}{self.high:.4g}{rest}"


def _real(value: Any) -> float:
    """The real number that decides the colour of an element: the magnitude of a complex one."""
    if type(value) is complex:
        return abs(complex(value.real / 2, value.imag / 2)) * 2 if isfinite(value.real + value.imag) else float("nan")
    return float(value)


def _heat_maps(matrices: Sequence[Tensor]) -> tuple[list[str], str]:
    """Returns a heat map of each matrix, all with one colour scale, and a legend."""
    height, width = matrices[0].shape
    side = SIDE if len(matrices) == 1 else SMALL_SIDE
    down, right = -(-height // side), -(-width // (LONG_SIDE if height == 1 else side))
    samples = [matrix[::down, ::right].tolist() for matrix in matrices]
    values = _flat(samples)
    tint = Tint(values)
    every = "" if down == right == 1 else f" · {len(values)} elements sampled, every {down} × {right}"
    # The longer side has six pixels to a sample; the shorter one is in proportion, but at least 24 pixels.
    pixels = [max(round(6 * side * extent / max(height, width)), 24) for extent in (height, width)]
    maps = [_heat_map(rows, tint, *pixels) for rows in samples]
    return maps, f'<div style="{FAINT}">{tint.legend()}{every}</div>'


def _heat_map(rows: Sequence[Sequence[Any]], tint: Tint, height: int, width: int) -> str:
    """An SVG with one path per colour: a rectangle for each run of cells of that colour in a row."""
    paths: dict[str, list[str]] = {}
    for y, row in enumerate(rows):
        colours = list(map(tint, row))
        first = 0
        for x in range(1, len(row) + 1):
            if x == len(row) or colours[x] != colours[first]:
                if colours[first] != "transparent":
                    paths.setdefault(colours[first], []).append(f"M{first} {y}h{x - first}v1H{first}z")
                first = x
    pieces = "".join(f'<path fill="{colour}" d="{"".join(path)}"/>' for colour, path in paths.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {len(rows[0])} {len(rows)}" width="{width}" '
        f'height="{height}" preserveAspectRatio="none" shape-rendering="crispEdges" '
        f'style="display:block;margin-bottom:6px;border:1px solid {EDGE}">{pieces}</svg>'
    )


def __dir__() -> list[str]:
    return __all__
