"""How Lua writes values and reads numbers: for messages that a Lua program would have composed."""

from __future__ import annotations

import re
from typing import Any

from strided.torch7.arguments import lua_type
from strided.torch7.rounding import Pattern
from strided.torch7.tensor import TensorBase

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
    return f"{value}\n" if isinstance(value, TensorBase) else str(value)


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
