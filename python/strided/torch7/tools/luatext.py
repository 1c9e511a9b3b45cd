"""How Lua writes values and reads numbers.

`string.format` of LuaJIT rounds a tie away from zero, where C and Python round it to an even digit.
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from strided._dialect.lua import lua_type

_DECIMALS = re.compile(r"%(\d*(?:\.(\d+))?([efg]))")


class Pattern:
    """A format for numbers, such as `%9.4f`.

    >>> Pattern("%.4f")(0.03125), Pattern("%.4e")(-10000.5), Pattern("%4d")(7.0)
    ('0.0313', '-1.0001e+04', '   7')
    """

    __slots__ = ("_digits", "_is_fixed", "_may_tie", "_spec", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        match = _DECIMALS.fullmatch(text)
        self._may_tie = match is not None
        spec, decimals, kind = match.groups() if match else ("", None, "d")
        self._spec, self._is_fixed = spec, kind == "f"
        self._digits = int(decimals or 6) - (kind == "g")  # after the point, in fixed or in scientific notation

    def __call__(self, value: float) -> str:
        if not self._may_tie:
            return self._text % value
        if self._is_fixed:
            # A tie is an odd multiple of half the last decimal, and a float only if the powers of five cancel.
            if value * 2.0 ** (self._digits + 1) % 2 == 1:
                with localcontext(rounding=ROUND_HALF_UP):
                    return format(Decimal(value), self._spec)
        elif _is_scientific_tie(value, self._digits):
            value = math.nextafter(value, math.copysign(math.inf, value))
        return self._text % value


def _is_scientific_tie(value: float, digits: int) -> bool:
    """Whether a number has one significant digit more than is shown, and that is a 5."""
    text = f"{value:.{digits + 1}e}"
    return text.partition("e")[0].endswith("5") and Decimal(text) == Decimal(value)


_NUMBER = Pattern("%.14g")


def text_of(value: Any) -> str:
    """A value as `tostring` of Lua writes it.

    >>> text_of(0.1), text_of(2.0), text_of(True), text_of(None)
    ('0.1', '2', 'true', 'nil')
    """
    match lua_type(value):
        case "nil":
            return "nil"
        case "boolean":
            return "true" if value else "false"
        case "number":
            return number_text(value)
        case "string":
            return value if isinstance(value, str) else value.decode("latin-1")
        case "table" | "function" as kind:
            return f"{kind}: {id(value):#014x}"
    return f"{value}\n" if getattr(value, "_typename", "").endswith("Tensor") else str(value)


def number_text(value: float) -> str:
    """A number with 14 digits, as Lua writes it."""
    if isinstance(value, int):
        return str(value) if abs(value) < 10**15 else _NUMBER(value)
    return _NUMBER(value) if value == value else "nan"


def number_in(text: str) -> int | float | None:
    """The number that a text spells, or None: `tonumber` of Lua."""
    stripped = text.strip()
    try:
        if stripped.lower().lstrip("+-").startswith("0x"):
            return int(stripped, 16)
        if not re.fullmatch(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|nan)", stripped):
            return None
        found = float(stripped)
    except ValueError:
        return None
    return int(stripped) if re.fullmatch(r"[+-]?\d+", stripped) else found
