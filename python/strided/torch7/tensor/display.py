"""The printed form of tensors and storages: that of Torch7, to the last character."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import strided as st
from strided.torch7.calls.arguments import counted
from strided.torch7.tensor.geometry import shape_of
from strided.torch7.tools.luatext import Pattern

LINE_WIDTH = 80


class Format(NamedTuple):
    """How the numbers of one tensor are written: all with one format, after division by `scale`."""

    pattern: str
    scale: float
    #: The width of a column; NaN if a number is NaN: then all columns share a line.
    width: float

    @property
    def heading(self) -> str:
        """The line that tells the scale."""
        return f"{self.scale:g} *\n"

    def texts(self, values: list[float]) -> list[str]:
        pattern, scale = Pattern(self.pattern), self.scale
        if scale == 0:  # the largest number is so small that its power of ten is not a float
            values = [value and math.copysign(math.inf, value) for value in values]
        elif scale != 1:
            return [pattern(value / scale) for value in values]
        return [pattern(value) for value in values]


def _digits(magnitude: float) -> float:
    """The number of digits before the point; 0 or less for a number below 1."""
    if magnitude == 0:
        return 1
    power = math.log10(magnitude) if not math.isnan(magnitude) else magnitude
    return math.floor(power) + 1 if math.isfinite(power) else power


def format_for(values: st.Tensor) -> Format:
    """The format that Torch7 chooses for these numbers, which are float64 and at least one."""
    magnitudes = values.abs()
    low, high = _digits(magnitudes.min().item()), _digits(magnitudes.max().item())
    if bool(values.eq(values.ceil()).all()):
        return Format("%11.4e", 1, 11) if high > 9 else Format(f"%{int(high) + 1}d", 1, high + 1)
    if high - low > 4:
        wide = 12 if abs(high) > 99 or abs(low) > 99 else 11
        return Format(f"%{wide}.4e", 1, wide)
    if high > 5 or high < 0:
        return Format("%7.4f", 10.0 ** (high - 1), 7)
    width = 7 if high == 0 else high + 6
    return Format("%f" if math.isnan(width) else f"%{int(width)}.4f", 1, width)


def storage_text(storage: st.Storage, typename: str) -> str:
    """A storage as `print` shows it: an element per line, then its type and size."""
    size = storage.size()
    footer = f"[{typename} of size {size}]\n"
    if not size:
        return footer
    return _column(st.as_strided(storage, (size,), (1,)).to(st.float64)) + footer


def tensor_text(core: st.Tensor, typename: str) -> str:
    """A tensor as `print` shows it: a column, a matrix, or one matrix after the other; then its type and sizes."""
    shape = shape_of(core)
    if not shape:
        return f"[{typename} with no dimension]\n"
    values = core.to(st.float64)
    if len(shape) == 1:
        body = _column(values)
    elif len(shape) == 2:
        body = "".join(_matrix(values, format_for(values), ""))
    else:
        body = "".join(_matrices(values, format_for(values)))
    return f"{body}[{typename} of size {'x'.join(map(str, shape))}]\n"


def _column(values: st.Tensor) -> str:
    format_ = format_for(values)
    heading = format_.heading if format_.scale != 1 else ""
    return heading + "".join(f"{text}\n" for text in format_.texts(values.tolist()))


def _matrices(values: st.Tensor, format_: Format) -> Iterator[str]:
    """The matrices of the last two dims, below their leading indices, of which the first changes fastest."""
    leading = values.shape[:-2]
    for number, reverse in enumerate(product(*(range(extent) for extent in reversed(leading)))):
        place = reverse[::-1]
        yield "\n(" if number else "("
        yield "".join(f"{counted(index)}," for index in place)
        yield ".,.) = \n"
        yield from _matrix(values[place], format_, " ")


def _matrix(values: st.Tensor, format_: Format, indent: str) -> Iterator[str]:
    """The rows of a matrix; in blocks of columns if they are too long for a line."""
    columns = values.shape[1]
    room = (LINE_WIDTH - len(indent)) / (format_.width + 1)
    per_line = columns if math.isnan(room) else min(int(room), columns)
    scaled = format_.scale != 1
    margin = f"{indent} " if scaled else indent
    yield indent
    for start in range(0, columns, per_line):
        stop = min(start + per_line, columns)
        if per_line < columns:
            yield "\n" if start else ""
            yield f"Columns {counted(start)} to {stop}\n{indent}"
        if scaled:
            yield f"{format_.heading} {indent}"
        rows = (" ".join(format_.texts(row)) for row in values[:, start:stop].tolist())
        yield f"\n{margin}".join(rows)
        yield "\n"
