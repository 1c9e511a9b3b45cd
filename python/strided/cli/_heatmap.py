"""Heat maps in a terminal: coloured half blocks, or characters where there is no colour."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from strided.cli._colours import LEVELS, NOT_FINITE, Colour, Scale

if TYPE_CHECKING:
    from strided import Tensor

RAMP = " .:-=+*#%@"  # from the lowest number to the highest one
UPPER_HALF = "▀"
RESET = "\x1b[0m"


def heat_map(x: Tensor, width: int, height: int, colour: bool) -> Iterator[str]:
    """The lines of a heat map of a matrix, and a legend. Large matrices are sampled.

    >>> import strided as st
    >>> print("\\n".join(heat_map(st.arange(20).view(2, 10), 40, 20, colour=False)))
      ..::--==
    ++**##%%@@
    0 to 19; denser is larger
    """
    rows, columns = x.shape
    down, right = -(-rows // height), -(-columns // width)
    scale = Scale(x[::down, ::right])
    levels = scale.levels.tolist()
    yield from _blocks(levels, scale.palette()) if colour else map(_characters, levels)
    every = f"; every {down} x {right} elements one" if down * right > 1 else ""
    yield f"{scale.legend()}{'' if colour else '; denser is larger'}{every}"


def _characters(row: list[int]) -> str:
    return "".join("?" if level == NOT_FINITE else RAMP[level * len(RAMP) // (LEVELS + 1)] for level in row)


def _blocks(levels: list[list[int]], palette: list[Colour]) -> Iterator[str]:
    """Two rows of elements in each line: the upper halves of characters, and what is behind them."""
    for at in range(0, len(levels), 2):
        upper = levels[at]
        lower = levels[at + 1] if at + 1 < len(levels) else None
        cells = []
        for column, level in enumerate(upper):
            behind = "" if lower is None else f"\x1b[48;2;{_code(palette[lower[column]])}m"
            cells.append(f"\x1b[38;2;{_code(palette[level])}m{behind}{UPPER_HALF}")
        yield "".join(cells) + RESET


def _code(colour: Colour) -> str:
    return ";".join(map(str, colour))
