"""How Lua writes values and matches text: for messages that a Lua program would have composed."""

from __future__ import annotations

import re
from typing import Any

from strided.torch7.arguments import lua_type
from strided.torch7.rounding import Pattern
from strided.torch7.tensor import TensorBase

_NUMBER = Pattern("%.14g")
_CLASSES = {
    "a": "A-Za-z",
    "c": r"\x00-\x1f\x7f",
    "d": "0-9",
    "l": "a-z",
    "p": r"!-/:-@\[-`{-~",
    "s": r"\s",
    "u": "A-Z",
    "w": "A-Za-z0-9",
    "x": "0-9A-Fa-f",
    "z": r"\x00",
}


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


def expression(pattern: str) -> re.Pattern[str]:
    """A Lua pattern as a regular expression. `%b` and `%f` are not known.

    >>> bool(expression("^a%d+$").search("a12")), bool(expression("x-y").search("xxy"))
    (True, True)
    """
    parts: list[str] = []
    i, inside = 0, False
    while i < len(pattern):
        letter = pattern[i]
        if letter == "%" and i + 1 < len(pattern):
            i += 1
            parts.append(_escaped(pattern[i], inside))
        elif inside:
            inside = letter != "]"
            parts.append(letter if letter in "]^-" else re.escape(letter))
        elif letter == "[":
            inside = True
            parts.append(letter)
        elif letter == "-" and parts:
            parts.append("*?")
        elif (letter == "^" and i == 0) or (letter == "$" and i == len(pattern) - 1) or letter in ".*+?()":
            parts.append(letter)
        else:
            parts.append(re.escape(letter))
        i += 1
    return re.compile("".join(parts), re.DOTALL)


def _escaped(letter: str, inside: bool) -> str:
    """What `%` and a letter stand for, inside or outside of brackets."""
    members = _CLASSES.get(letter.lower())
    if members is None or (letter.isupper() and inside):
        return re.escape(letter)
    return members if inside else f"[{'^' if letter.isupper() else ''}{members}]"
