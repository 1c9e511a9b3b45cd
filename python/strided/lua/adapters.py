"""Python functions as Lua calls them: arguments are unwrapped, results encoded, and exceptions returned as text."""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import CO_VARARGS
from typing import Any

from strided import memory
from strided.lua.errors import LuaError
from strided.lua.values import CODES, Reference, Values

__all__ = ["Adapters", "silent"]

_ERROR, _RERAISE = CODES["error"], CODES["reraise"]
_SELF = (None, CODES["self"])
_PLAIN = frozenset({float, bool, type(None)})

#: A tensor with this many bytes counts for when garbage is collected.
LARGE = 1 << 16
#: The fewest bytes of new tensors between two collections.
INTERVAL = 1 << 27


def silent(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that returns nothing in Lua, which is not the same as nil."""

    def call(*args: Any) -> tuple[()]:
        function(*args)
        return ()

    return call


def _most_arguments(function: Callable[..., Any]) -> int:
    """How many positional arguments a Python function accepts."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_flags & CO_VARARGS:
        return sys.maxsize
    return int(code.co_argcount)


class Adapters:
    """Adapts functions for one runtime."""

    def __init__(self, values: Values) -> None:
        self.values = values
        #: The exception behind the last error text, and one that ends the script whatever it catches.
        self.last_error: Exception | None = None
        self.interruption: BaseException | None = None
        self._made = 0
        self._due = INTERVAL

    def adapt(
        self,
        function: Callable[..., Any],
        name: str,
        owner: type | None = None,
        refuse: Callable[..., Any] | None = None,
    ) -> Callable[..., Any]:
        """A function for Lua. `name` is what its errors call it.

        A method with an `owner` is called on objects of that class only; `refuse(value, name, owner)` gives the error
        about others, which a script may pass because it chooses the first argument of a method like any other.
        """
        codes = self.values.codes
        most = _most_arguments(function)

        def call(*args: Any) -> Any:
            try:
                values = [arg.value if arg.__class__ is Reference else arg for arg in args]
                if len(values) > most:  # a function of Lua ignores what it does not know
                    del values[most:]
                if refuse is not None and (not values or values[0].__class__ is not owner):
                    raise refuse(values[0] if values else None, name, owner)
                result = function(*values)
                kind = result.__class__
                if kind in _PLAIN:
                    return result
                code = codes.get(kind)
                if code is None:
                    return self.values.result(result)
                if values and result is values[0]:
                    return _SELF
                core = getattr(result, "_tensor", None)
                if core is not None and core.nbytes >= LARGE:
                    return Reference(result), code, self._weigh(core.nbytes)
                return Reference(result), code
            except BaseException as error:
                return self.failure(error, name)

        return call

    def _weigh(self, nbytes: int) -> bool | None:
        """Counts a new tensor; says whether garbage should be collected now, which is when tensors have doubled."""
        self._made += nbytes
        if self._made < self._due:
            return None
        self._made = 0
        self._due = max(INTERVAL, memory.stats()["in_use"] // 2)
        return True

    def failure(self, error: BaseException, name: str) -> tuple[Any, ...]:
        """What a call that failed returns: a text and, for an error about one argument, its number and the reason."""
        if isinstance(error, LuaError) and error._serial is not None:
            return error.args[0].encode(errors="surrogateescape"), _RERAISE, error._serial
        if not isinstance(error, Exception):
            self.interruption = error
            return b"interrupted", _ERROR
        self.last_error = error
        text = str(error) or type(error).__name__
        data = text.encode("utf-8", "surrogatepass")
        argument: tuple[int, str] | None = getattr(error, "argument", None)
        if argument is not None and f"'{name}'" in text:
            return data, _ERROR, argument[0], argument[1].encode("utf-8", "surrogatepass")
        return data, _ERROR
