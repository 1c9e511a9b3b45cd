"""Small plots as SVG: lines over two logarithmic axes, and bars with a mark for each aim. They follow the light or dark theme of the reader."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

#: A colour per series, for light and dark themes. Markers differ too, for readers who cannot distinguish the colours.
LIGHT = ("#1d4ed8", "#c2410c", "#15803d", "#7e22ce", "#a16207", "#475569")
DARK = ("#60a5fa", "#fb923c", "#4ade80", "#c084fc", "#facc15", "#cbd5e1")

STYLE = """
text { font-family: system-ui, Helvetica, Arial, sans-serif; font-size: 12px; fill: %(ink)s }
.paper { fill: %(paper)s } .title { font-size: 16px; font-weight: 600 } .faint { fill: %(faint)s }
.head { fill: %(faint)s; stroke: %(paper)s; stroke-width: 4; paint-order: stroke }
.grid { stroke: %(grid)s } .even { stroke: %(faint)s; stroke-dasharray: 4 3 } .aim { stroke: %(ink)s; stroke-width: 2 }
.met { fill: %(met)s } .missed { fill: %(missed)s } .free { fill: %(free)s }
"""
GROUNDS = {
    "light": {"paper": "#ffffff", "ink": "#1f2937", "faint": "#6b7280", "grid": "#e5e7eb"}
    | {"met": "#3b82c4", "missed": "#e07b39", "free": "#9ca3af"},
    "dark": {"paper": "#0d1117", "ink": "#e5e7eb", "faint": "#9ca3af", "grid": "#2b323c"}
    | {"met": "#4f9ddb", "missed": "#f0945a", "free": "#6b7280"},
}


def _style(ground: str, colours: Sequence[str]) -> str:
    # Markers and names are filled with the colour of their series, without a stroke.
    series = [
        f".line{at} {{ stroke: {colour}; fill: none; stroke-width: 2 }} .name{at} {{ fill: {colour} }}"
        for at, colour in enumerate(colours)
    ]
    return STYLE.strip() % GROUNDS[ground] + "\n" + "\n".join(series)


def _page(width: float, height: float, title: str, under: str, body: Sequence[str]) -> str:
    """Returns a complete SVG with a background, a heading and a line below it."""
    style = f"{_style('light', LIGHT)}\n@media (prefers-color-scheme: dark) {{\n{_style('dark', DARK)}\n}}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" aria-label={quoteattr(title)}>'
    )
    lines = [head, f"<style>\n{style}\n</style>", f'<rect class="paper" width="{width:g}" height="{height:g}" rx="8"/>']
    lines += [_text(20, 28, title, "title"), _text(20, 47, under, "faint"), *body, "</svg>"]
    return "\n".join(lines) + "\n"


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{named} text-anchor="{anchor}">{escape(words)}</text>'


def _rule(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def power(exponent: int) -> str:
    """Returns a power of ten as text: 10³."""
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def duration(exponent: int) -> str:
    """Returns a power of ten of seconds in a suitable unit: -5 is 10 µs."""
    unit, base = next(
        ((unit, base) for unit, base in (("s", 0), ("ms", -3), ("µs", -6), ("ns", -9)) if exponent >= base), ("ns", -9)
    )
    return f"{10.0 ** (exponent - base):g} {unit}"


class Scale(NamedTuple):
    """Maps whole decades to a range of pixels."""

    low: int
    high: int
    start: float
    end: float

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float) -> "Scale":
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return cls(low, max(high, low + 1), start, end)

    def at(self, value: float) -> float:
        return self.start + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.start)

    def decades(self) -> list[tuple[int, float]]:
        return [(exponent, self.at(10.0**exponent)) for exponent in range(self.low, self.high + 1)]


def _marker(kind: int, x: float, y: float) -> str:
    shapes = ("M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M-3.5 -3.5h7v7h-7z", "M0 -4.5l4.5 8h-9z", "M0 -5l5 5l-5 5l-5 -5z")
    return f'<path class="name{kind}" transform="translate({x:.1f} {y:.1f})" d="{shapes[kind % len(shapes)]}"/>'


def _spread(positions: Sequence[float], gap: float) -> list[float]:
    """Moves positions so that neighbours are at least `gap` apart, in the same order."""
    order = sorted(range(len(positions)), key=lambda at: positions[at])
    moved, last = list(positions), -math.inf
    for at in order:
        last = moved[at] = max(positions[at], last + gap)
    # All move back by half of the last shift, so that a crowd stays around its middle.
    back = (max(moved) - max(positions)) / 2 if moved else 0.0
    return [position - back for position in moved]


def lines(title: str, under: str, series: Mapping[str, Mapping[int, float]], names: Sequence[str]) -> str:
    """Plots seconds against sizes, one line per name. The position in `names` decides the colour of a name."""
    width, height = 760.0, 440.0
    # Times below the resolution of the clock are drawn as 0.1 ns: the logarithm needs a positive number.
    drawn = {name: {size: max(seconds, 1e-10) for size, seconds in line.items()} for name, line in series.items()}
    across = Scale.over([size for line in drawn.values() for size in line], 78, width - 128)
    up = Scale.over([seconds for line in drawn.values() for seconds in line.values()], height - 58, 68)
    body = []
    for exponent, x in across.decades():
        body += [_rule(x, up.start, x, up.end, "grid"), _text(x, up.start + 18, power(exponent), "faint", "middle")]
    for exponent, y in up.decades():
        body += [_rule(across.start, y, across.end, y, "grid")]
        body += [_text(across.start - 8, y + 4, duration(exponent), "faint", "end")]
    body.append(_text((across.start + across.end) / 2, height - 14, "elements", "faint", "middle"))
    ends = []
    kinds = [names.index(name) % len(LIGHT) for name in drawn]
    for kind, (name, line) in zip(kinds, drawn.items(), strict=True):
        points = [(across.at(size), up.at(seconds)) for size, seconds in sorted(line.items())]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        body.append(f'<polyline class="line{kind}" data-name={quoteattr(name)} points="{path}"/>')
        body += [_marker(kind, x, y) for x, y in points]
        ends.append(points[-1])
    for kind, name, (x, _), y in zip(kinds, drawn, ends, _spread([y for _, y in ends], 15), strict=True):
        body.append(_text(x + 12, y + 4, name, f"name{kind}"))
    return _page(width, height, title, under, body)


class Bar(NamedTuple):
    """A ratio next to its aim, under the heading of its group."""

    name: str
    group: str
    ratio: float
    aim: float | None
    missed: bool


def bars(title: str, under: str, rows: Sequence[Bar]) -> str:
    """Plots a bar per ratio, from 0 to 2 or the largest aim. Longer bars are cut and end in an arrow; numbers are on the right."""
    longest = max([2.0, *(row.aim for row in rows if row.aim is not None)])
    left, right, step = 200.0, 620.0, 19.0
    width, groups = 740.0, list(dict.fromkeys(row.group for row in rows))
    top = 98.0
    height = top + step * len(rows) + 30 * len(groups) + 24

    def along(value: float) -> float:
        return left + min(value / longest, 1.0) * (right - left)

    body = _key(left)
    bottom = height - 22
    for tick in range(int(longest * 2) + 1):
        x = along(tick / 2)
        body += [_rule(x, top - 8, x, bottom, "even" if tick == 2 else "grid")]
        body += [_text(x, top - 14, f"{tick / 2:g}", "faint", "middle")]
    y = top
    for group in groups:
        y += 18
        body.append(_text(20, y, group, "head"))
        y += 12
        for row in rows:
            if row.group == group:
                body += _bar(row, left, along(row.ratio), y, row.ratio > longest)
                if row.aim is not None:
                    body.append(_rule(along(row.aim), y - 2, along(row.aim), y + 14, "aim"))
                aim = f" ({row.aim:g})" if row.aim is not None else ""
                body.append(_text(right + 22, y + 10, f"{row.ratio:.2f}{aim}"))
                y += step
    return _page(width, height, title, under, body)


def _bar(row: Bar, left: float, end: float, y: float, cut: bool) -> list[str]:
    kind = "free" if row.aim is None else "missed" if row.missed else "met"
    tip = f"h{end - left:.1f}l8 6l-8 6" if cut else f"h{end - left:.1f}v12"
    shape = f'<path class="{kind}" data-name={quoteattr(row.name)} d="M{left:.1f} {y:.1f}{tip}H{left:.1f}z"/>'
    return [_text(left - 10, y + 10, row.name, anchor="end"), shape]


def _key(left: float) -> list[str]:
    """The legend of colours and marks."""
    body, x = [], left
    for kind, words in (("met", "meets its aim"), ("missed", "misses it"), ("free", "has none")):
        body += [f'<rect class="{kind}" x="{x:.1f}" y="58" width="12" height="12"/>', _text(x + 18, 68, words)]
        x += 30 + 7 * len(words)
    return [*body, _rule(x + 4, 56, x + 4, 72, "aim"), _text(x + 12, 68, "the aim")]
