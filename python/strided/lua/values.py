"""The Python side of values that cross between Python and Lua. `glue/values.lua` is the other side.

Python sends a value as itself if Lua has its like, else as (value, code). An object crosses in a `Reference`, which is created
anew for every crossing: lupa finds its wrappers by the address of an object, and confuses two wrappers of one object if Lua has
collected the first but not finalised it yet.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from strided.lua.errors import LuaError

__all__ = [
    "CODES",
    "Cursor",
    "MARKERS",
    "Marker",
    "Opaque",
    "Reference",
    "VALUES_PER_CALL",
    "Values",
    "take",
    "text_of",
]

#: The meanings of codes; a positive one is the number of a class.
CODES = {"self": -1, "error": -2, "reraise": -3, "results": -4, "table": -5, "handle": -6, "callable": -7}
_SELF, _RESULTS, _TABLE = CODES["self"], CODES["results"], CODES["table"]

#: Tokens that one call to `take` returns, and handles that one call releases.
VALUES_PER_CALL = 200
#: Lists in lists; one that contains itself has no depth.
MAX_DEPTH = 100

_PLAIN = frozenset({float, bool, type(None)})
_NUMBERS = frozenset({float, int, bool})
_LARGEST = 2**63
#: Packed tables that are remembered.
_MOST_PACKED = 1024


class Reference:
    """Carries one Python object into Lua and back."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Marker:
    """A token that is not a value: where a table begins or ends."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Opaque:
    """A Lua value that Python cannot use, such as a file. Functions that get one refuse it by its type."""

    __slots__ = ("kind",)

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return f"<Lua {self.kind}>"


LIST, DICT, CLOSE, CODED = Marker("list"), Marker("dict"), Marker("close"), Marker("coded")

#: What Lua knows by name: markers, the number that lupa does not pass on, and values without a Python equivalent.
MARKERS = {
    "list": LIST,
    "dict": DICT,
    "close": CLOSE,
    "coded": CODED,
    "negative_zero": Reference(-0.0),
    "userdata": Reference(Opaque("userdata")),
    "thread": Reference(Opaque("thread")),
    "cdata": Reference(Opaque("cdata")),
}


class Cursor:
    """The tokens of a table on their way to Lua."""

    __slots__ = ("at", "tokens")

    def __init__(self, tokens: list[Any]) -> None:
        self.tokens = tokens
        self.at = 0


def take(cursor: Cursor) -> tuple[Any, ...]:
    """The number of the next tokens, and the tokens."""
    chunk = cursor.tokens[cursor.at : cursor.at + VALUES_PER_CALL]
    cursor.at += VALUES_PER_CALL
    return len(chunk), *chunk


def text_of(data: bytes) -> str | bytes:
    """A Lua string: `str` if it is UTF-8, else the bytes.

    >>> text_of(b"caf\\xc3\\xa9"), text_of(b"\\xff")
    ('café', b'\\xff')
    """
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def plain_int(value: int) -> int | float:
    """An int that Lua can hold, or the nearest float."""
    if -_LARGEST <= value < _LARGEST:
        return value
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


class _Pairs:
    """A dict that is made from keys and values in turn."""

    __slots__ = ("key", "table")

    def __init__(self) -> None:
        self.table: dict[Any, Any] = {}
        self.key: Any = None

    def append(self, item: Any) -> None:
        if self.key is None:
            self.key = item
        else:
            self.table[self.key] = item
            self.key = None


class Values:
    """Converts values for one runtime."""

    def __init__(self, opens: bool) -> None:
        #: Class -> its code. Lua has a class table for each.
        self.codes: dict[type, int] = {}
        #: Whether objects of unknown classes may enter Lua as they are.
        self.opens = opens
        self._packed: dict[bytes, list[Any]] = {}  # tables that were sent as strings; programs repeat their indices
        self._open: list[Any] = []  # None, and the lists and dicts that Lua is sending, outermost first

    # From Lua

    def feed(self, first: bool, *tokens: Any) -> Reference | None:
        """Takes the next tokens of a table that Lua sends. The last ones give the table."""
        if first:
            self._open = []
        outer = self._open
        target: Any = outer.pop() if outer else None  # the innermost list or dict
        for token in tokens:
            kind = token.__class__
            if kind is Marker:
                if token is not CLOSE:
                    outer.append(target)
                    target = [] if token is LIST else _Pairs()
                    continue
                token = target if target.__class__ is list else target.table
                target = outer.pop()
                if target is None:
                    return Reference(token)
            elif kind is Reference:
                token = token.value
            elif kind is bytes:
                token = text_of(token)
            target.append(token)
        outer.append(target)
        return None

    def packed(self, data: bytes) -> list[Any]:
        """A table that Lua sent as one string: a list of numbers, or of such lists."""
        template = self._packed.get(data)
        if template is None:
            if len(self._packed) == _MOST_PACKED:
                self._packed.clear()
            template = self._packed[data] = json.loads(data)
        return [item[:] if item.__class__ is list else item for item in template]

    # To Lua

    def result(self, result: Any) -> Any:
        """What a function returns, for a Lua caller; several values as a tuple."""
        if result.__class__ is not tuple:
            value, code = self.encode(result)
            return value if code is None else (value, code)
        if len(result) in (2, 3):
            return len(result), _RESULTS, *(part for value in result for part in self.encode(value))
        if len(result) == 1:
            return self.result(result[0])
        return len(result), _RESULTS, self.cursor(list(result)) if result else None

    def encode(self, value: Any) -> tuple[Any, int | None]:
        """A value as Lua receives it, and its code."""
        kind = value.__class__
        if kind in _PLAIN:
            return value, None
        if kind is int:
            return plain_int(value), None
        code = self.codes.get(kind)
        if code is not None:
            return Reference(value), code
        return self._encode_other(value)

    def _encode_other(self, value: Any) -> tuple[Any, int | None]:
        if isinstance(value, str):
            return value.encode("utf-8", "surrogatepass"), None
        if isinstance(value, (bytes, bytearray, memoryview)):
            return bytes(value), None
        if isinstance(value, float):
            return float(value), None
        if isinstance(value, (Mapping, list, tuple)):
            return self.cursor(value), _TABLE
        return self.adopt(value)

    def adopt(self, value: Any) -> tuple[Any, int | None]:
        """A value of a class that this file does not know. A runtime extends this."""
        if hasattr(value, "__index__"):
            return plain_int(value.__index__()), None
        if hasattr(value, "__float__") and not hasattr(value, "__len__"):
            return float(value), None
        if callable(value):
            return Reference(value), CODES["callable"]
        if isinstance(value, Opaque):
            raise LuaError(f"a {value.kind} that was passed to a function of the library cannot be returned")
        if self.opens:
            return value, None
        raise TypeError(
            f"cannot pass an object of type {type(value).__name__} to Lua; tensors, storages, numbers, str, bytes, "
            "lists, dicts and callables can be passed, and others with Lua(python=True)"
        )

    def cursor(self, value: Mapping[Any, Any] | Sequence[Any]) -> Cursor:
        """The tokens of a list or dict."""
        tokens: list[Any] = []
        self._flatten(value, tokens, 1)
        return Cursor(tokens)

    def _flatten(self, value: Mapping[Any, Any] | Sequence[Any], tokens: list[Any], depth: int) -> None:
        if depth > MAX_DEPTH:
            raise ValueError(f"a list or dict is nested more than {MAX_DEPTH} levels deep, or contains itself")
        if isinstance(value, Mapping):
            tokens.append(DICT)
            for key, item in value.items():
                if item is not None:
                    tokens.append(_key(key))
                    self._append(item, tokens, depth)
        else:
            tokens.append(LIST)
            if _are_numbers(value):
                tokens.extend(value)
            else:
                for item in value:
                    self._append(item, tokens, depth)
        tokens.append(CLOSE)

    def _append(self, item: Any, tokens: list[Any], depth: int) -> None:
        if isinstance(item, (Mapping, list, tuple)):
            self._flatten(item, tokens, depth + 1)
            return
        value, code = self.encode(item)
        if code is None:
            tokens.append(value)
        else:
            tokens += (CODED, value, code)


def _are_numbers(values: Iterable[Any]) -> bool:
    """Whether Lua takes all items as they are."""
    kinds = set(map(type, values))
    if not kinds <= _NUMBERS:
        return False
    return int not in kinds or all(-_LARGEST <= value < _LARGEST for value in values if type(value) is int)


def _key(key: Any) -> Any:
    """A key of a dict as a key of a table."""
    if isinstance(key, str):
        return key.encode("utf-8", "surrogatepass")
    if isinstance(key, (bytes, bool)):
        return key
    if isinstance(key, int):
        return plain_int(key)
    if isinstance(key, float) and key == key:
        return float(key)
    raise TypeError(f"cannot pass a dict with the key {key!r} to Lua: keys are str, bytes, numbers or booleans")
