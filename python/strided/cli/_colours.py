"""Numbers as colours: the scale of heat maps and pictures.

Numbers of both signs get red below 0 and blue above, and white at 0; numbers of one sign go from white to blue. NaN and
infinities are yellow. It is the scale of the cards in notebooks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strided import Tensor

LEVELS = 255  # of colours; one more is for what is not finite
NOT_FINITE = LEVELS + 1
WHITE, BLUE, RED, YELLOW = (255, 255, 255), (20, 70, 190), (190, 30, 30), (240, 180, 20)
Colour = tuple[int, int, int]


class Scale:
    """The levels of the elements of a tensor, from 0 to 255, or 256 for what is not finite, and the colours of levels.

    >>> import strided as st
    >>> scale = Scale(st.tensor([-1.0, 0.0, 1.0, float("nan")]))
    >>> scale.levels.tolist(), scale.low, scale.high
    ([0, 128, 255, 256], -1.0, 1.0)
    """

    def __init__(self, x: Tensor) -> None:
        import strided as st

        numbers = magnitudes(x)
        is_finite = numbers.isfinite()
        finite = numbers[is_finite]
        self.low = finite.min().item() if finite.numel() else 0.0
        self.high = finite.max().item() if finite.numel() else 0.0
        self.is_signed = self.low < 0 < self.high
        start = -max(-self.low, self.high) if self.is_signed else self.low
        # Halves: the difference of two large numbers may overflow.
        width = max(-self.low, self.high) if self.is_signed else self.high / 2 - self.low / 2
        shares = (numbers / 2 - start / 2) / width if width else st.zeros_like(numbers)
        levels = (shares * LEVELS).round().to(st.int64)
        self.levels = st.where(is_finite, levels, NOT_FINITE)
        self.not_finite = numbers.numel() - finite.numel()

    def palette(self) -> list[Colour]:
        """The colour of each level."""
        if not self.is_signed:
            return [_mixed(WHITE, BLUE, level / LEVELS) for level in range(LEVELS + 1)] + [YELLOW]
        half = LEVELS / 2
        signed = [_mixed(WHITE, BLUE if level > half else RED, abs(level - half) / half) for level in range(LEVELS + 1)]
        return [*signed, YELLOW]

    def legend(self) -> str:
        """The range of the numbers, for people."""
        rest = f", {self.not_finite} not finite" if self.not_finite else ""
        return f"{self.low:.6g} to {self.high:.6g}{rest}"


def magnitudes(x: Tensor) -> Tensor:
    """The numbers of a tensor as float64; the absolute values of complex ones."""
    import strided as st

    return (x.abs() if x.is_complex() else x).to(st.float64)


def _mixed(first: Colour, second: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue
