"""Random numbers: Lab's generator, a view of the engine of the current session.

The engine is a Mersenne Twister of 64 bits with the distributions of GNU's C++ library, so that a seed gives the numbers
that Lab gives.
"""

from __future__ import annotations

import math
import re
from typing import Any

from ._errors import LabTypeError, LabValueError, Refusal
from ._methods import Row, make_method
from ._reading import is_number, read_number, read_numbers
from .session import Session, current

TYPE_NAME = "deepmind.lab.RandomView"

_WORD = 2**64
_DECIMAL = re.compile(r"\s*\+?(\d+)\s*", re.ASCII)


class RandomView:
    """Lab's random numbers. `lab.random` draws from the engine of the current session.

    >>> from strided import dmlab as lab
    >>> lab.random.seed(1)
    >>> lab.random.uniformInt(1, 6), lab.random.uniformReal(0, 1) < 1
    (1, True)
    """

    __slots__ = ("_session",)
    __module__ = "strided.dmlab"
    _type_name = TYPE_NAME

    def __init__(self, session: Session | None = None) -> None:
        self._session = session

    def _engine(self) -> Any:
        return (self._session or current()).generator

    def _mixer(self) -> int:
        return (self._session or current()).mixer_seed << 32

    def __repr__(self) -> str:
        return f"<{TYPE_NAME}>"


def _word(value: object) -> int | None:
    """A number that fits 64 bits without a sign, truncated, or None."""
    return int(value) if is_number(value) and 0 <= value < _WORD else None


def _seed(view: RandomView, *values: object) -> None:
    value = values[-1] if values else None
    word = _word(value)
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    if word is None and isinstance(text, str) and (match := _DECIMAL.fullmatch(text)):
        word = int(match[1]) if int(match[1]) < _WORD else None
    if word is None:
        raise Refusal(LabValueError)
    view._engine().seed(word ^ view._mixer())


def _uniform_int(view: RandomView, *bounds: object) -> int:
    low, high = map(_word, (None, None, *bounds)[-2:])
    if low is None or high is None or low > high:
        raise Refusal(LabValueError)
    return int(view._engine().uniform_int(low, high))


def _uniform_real(view: RandomView, *bounds: object) -> float:
    low, high = map(read_number, (None, None, *bounds)[-2:])
    if low is None or high is None or not low <= high or not math.isfinite(high - low):
        raise Refusal(LabValueError)
    return float(view._engine().uniform_real(low, high))


def _normal(view: RandomView, *parameters: object) -> float:
    mean, deviation = map(read_number, (None, None, *parameters)[-2:])
    if mean is None or deviation is None:
        raise Refusal(LabTypeError)
    return float(view._engine().normal(mean, deviation))


def _discrete(view: RandomView, *arguments: object) -> int:
    weights = read_numbers(arguments[-1]) if arguments else None
    if not weights:
        raise Refusal(LabTypeError)
    return int(view._engine().discrete(weights)) + 1


ROWS = (
    Row(
        "seed",
        "(value: int | str) -> None",
        _seed,
        """Starts the sequence of random numbers that belongs to a number, which may be given as a string.

        >>> lab.random.seed(7)
        >>> first = lab.random.uniformInt(1, 1000)
        >>> lab.random.seed("7")
        >>> lab.random.uniformInt(1, 1000) == first
        True
        """,
        "Argument is not a valid seed value.",
    ),
    Row(
        "uniformInt",
        "(low: int, high: int) -> int",
        _uniform_int,
        """An integer of a range, both ends included, all with the same probability.

        >>> lab.random.seed(1)
        >>> [lab.random.uniformInt(1, 6) for _ in range(5)]
        [1, 1, 3, 1, 3]
        """,
        "Arguments do not form a valid range.",
    ),
    Row(
        "uniformReal",
        "(low: float, high: float) -> float",
        _uniform_real,
        """A number of a range, the upper end excluded.

        >>> lab.random.seed(1)
        >>> 2 <= lab.random.uniformReal(2, 3) < 3
        True
        """,
        "Arguments do not form a valid range.",
    ),
    Row(
        "normalDistribution",
        "(mean: float, deviation: float) -> float",
        _normal,
        """A number of a normal distribution.

        >>> lab.random.seed(1)
        >>> round(lab.random.normalDistribution(100, 15))
        94
        """,
        "Invalid arguments - 2 numbers expected..",
    ),
    Row(
        "discreteDistribution",
        "(weights: Sequence[float]) -> int",
        _discrete,
        """An index, from 1, of a list of weights, with a probability that is proportional to its weight.

        >>> lab.random.seed(1)
        >>> lab.random.discreteDistribution([0, 1, 0])
        2
        """,
        "Invalid arguments - non empty list of numeric weights expected.",
    ),
)

for _row in ROWS:
    setattr(RandomView, _row.name, make_method(RandomView, TYPE_NAME, _row, False))
