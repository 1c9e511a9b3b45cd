"""The notation of numbers: one style for all numbers of a tensor that are shown, chosen by Torch7's rules.

    whole, at most nine digits             " 12"                        as integers
    whole, with more digits                " 1.2346e+10"                (floats; integers stay plain outside Torch7)
    more than four decades apart           " 1.0000e-01"
    all below 0.1, or one of 1e5 or more   " 1.0000" below "0.001 *"    with a common scale
    any others                             " 0.5000"

A style is a tuple (hole, width, scale, convert). `hole` is the `%` conversion of one number, `width` its characters (None
where Torch7 does not align), `scale` the common factor or None. `convert` maps an element to the argument of its hole;
None means the element itself. The width includes one character for a sign.
"""

from __future__ import annotations

from math import floor, inf, isfinite, log10

TYPE_CHECKING = False  # typing is slow to import; the checker reads this name as True
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from .options import Options

    Style = tuple[str, int | None, float | None, Callable[[Any], Any] | None]

__all__ = ["by_format", "bytes_text", "choose"]

MAX_PLAIN_DIGITS = 9  # of a whole number written as an integer
MAX_DECADES = 4  # between the smallest and the largest number in fixed-point notation
MAX_DIGITS_BEFORE_POINT = 5  # without a common scale
MIN_SCALED_DIGITS = -300  # a smaller scale comes near the subnormal numbers, and dividing by it would lose digits


def choose(values: Sequence[Any], options: Options, torch7: bool = False, scalable: bool = True) -> Style:
    """Returns the style for `values`, which are all of one Python type: bool, int, float or complex.

    >>> from strided.display import Options
    >>> choose([1, -20, 300], Options())
    ('%4d', 4, None, None)
    """
    kind = type(values[0])
    if kind is bool:
        width = 1 + (len("True") if all(values) else len("False"))
        return f"%{width}s", width, None, None
    if kind is complex:
        return _complex_style(values, options, scalable)
    if torch7:
        return _torch7_style(values, options)
    if kind is int:
        width = 1 + len(str(max(max(values), -min(values))))
        return f"%{width}d", width, None, None
    return _float_style(values, options, scalable)


def by_format(values: Iterable[Any], spec: str) -> Style:
    """Returns the style in which each element is written by `format(element, spec)`.

    >>> hole, width, scale, convert = by_format([0.5, -10.0], ".1f")
    >>> hole % convert(0.5), width
    ('  0.5', 5)
    """

    def write(value: Any) -> str:
        return f"{value:{spec}}"

    width = 1 + max(len(text) - (text[:1] in ("+", "-")) for text in map(write, values))
    return f"%{width}s", width, None, write


def bytes_text(count: int) -> str:
    """Returns a number of bytes with a unit.

    >>> bytes_text(48), bytes_text(40_000_000)
    ('48 B', '40.0 MB')
    """
    if count < 1000:
        return f"{count} B"
    power = min((len(str(count)) - 1) // 3, 6)
    return f"{count / 1000**power:.1f} {'kMGTPE'[power - 1]}B"


def _float_style(values: Sequence[float], options: Options, scalable: bool) -> Style:
    magnitudes = list(map(abs, values))
    width = 0
    if not isfinite(sum(magnitudes)):
        magnitudes = list(filter(isfinite, magnitudes))
        width = len("-inf")
    least, most = _bounds(magnitudes)
    conversion, scale = _notation(magnitudes, least, most, options, scalable)
    if scale:
        least, most = least / scale, most / scale
    # The width is measured, not computed: 9.99999 is written as 10.0000, and some exponents have three digits.
    sample = "%" + conversion
    width = max(width, 1 + len(sample % most), 1 + len(sample % least))
    return f"%{width}{conversion}", width, scale, _divide_by(scale)


def _complex_style(values: Sequence[complex], options: Options, scalable: bool) -> Style:
    """One notation for both parts, each with its own width: `  1.5000 +10.0000j`."""
    magnitudes = [abs(part) for value in values for part in (value.real, value.imag) if isfinite(part)]
    conversion, scale = _notation(magnitudes, *_bounds(magnitudes), options, scalable)
    divisor = scale or 1.0
    unsigned, signed = f"%{conversion}", f"%+{conversion}"
    real_width = 1 + max(len(unsigned % abs(value.real / divisor)) for value in values)
    imag_width = max(len(signed % (value.imag / divisor)) for value in values)
    template = f"%{real_width}{conversion}%+{imag_width}{conversion}j"

    def write(value: complex) -> str:
        return template % (value.real / divisor, value.imag / divisor)

    return "%s", real_width + imag_width + 1, scale, write


def _bounds(magnitudes: Sequence[float]) -> tuple[float, float]:
    """The smallest and the largest magnitude. Zeros suit every notation: they count only if there is nothing else."""
    return min(filter(None, magnitudes), default=0.0), max(magnitudes, default=0.0)


def _notation(
    magnitudes: Sequence[float], least: float, most: float, options: Options, scalable: bool
) -> tuple[str, float | None]:
    """Returns the conversion without a width, and the scale, for finite magnitudes within these bounds."""
    whole = all(map(float.is_integer, magnitudes))
    letter, scale = _rule(whole, _digits(least), _digits(most), options.sci_mode)
    if letter == "d":
        return ".0f", None  # not "d": this conversion writes -0, and accepts inf
    if scale and not scalable:
        return f".{options.precision}e", None
    return f".{options.precision}{letter}", scale


def _torch7_style(values: Sequence[float], options: Options) -> Style:
    """Torch7's own rules: integers follow those of floats, infinity has infinitely many digits, and a NaN disables alignment."""
    if any(value != value for value in values):
        return "%f", None, None, None
    magnitudes = [abs(float(value)) for value in values]
    whole = all(magnitude.is_integer() or magnitude == inf for magnitude in magnitudes)
    low, high = _digits(min(magnitudes)), _digits(max(magnitudes))
    letter, scale = _rule(whole, low, high)
    if letter == "d":
        width = int(high) + 1
        return f"%{width}d", width, None, None
    if letter == "e":
        long_exponent = not whole and max(abs(low), abs(high)) > 99
        width = options.precision + len("-1.e+00") + long_exponent
    else:
        width = options.precision + len("-.") + (1 if scale else max(int(high), 1))
    return f"%{width}.{options.precision}{letter}", width, scale, _divide_by(scale)


def _divide_by(scale: float | None) -> Callable[[float], float] | None:
    return (lambda value: value / scale) if scale else None


def _digits(magnitude: float) -> float:
    """The number of digits before the point: 3 for 250.0, 0 for 0.5, -1 for 0.05. Zero has one digit."""
    if magnitude == 0 or magnitude == inf:
        return magnitude or 1
    return floor(log10(magnitude)) + 1


def _rule(whole: bool, low: float, high: float, sci_mode: bool | None = None) -> tuple[str, float | None]:
    """Implements the table at the top of this file, for numbers with `low` to `high` digits before the point."""
    if sci_mode is not None:
        return ("e" if sci_mode else "d" if whole else "f"), None
    if whole:
        return ("d" if high <= MAX_PLAIN_DIGITS else "e"), None
    if high - low > MAX_DECADES or high < MIN_SCALED_DIGITS:
        return "e", None
    if 0 <= high <= MAX_DIGITS_BEFORE_POINT:
        return "f", None
    return "f", 10.0 ** (high - 1)


def __dir__() -> list[str]:
    return __all__
