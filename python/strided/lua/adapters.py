"""Python functions as Lua calls them: arguments are unwrapped, results encoded, and exceptions returned as text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from inspect import CO_VARARGS
from types import FunctionType
from typing import Any

from strided import memory
from strided.lua.errors import LuaError, ScriptStopped, in_words_of_lua
from strided.lua.values import CODES, Reference, Values

__all__ = ["Adapters", "silent"]

_ERROR, _RERAISE = CODES["error"], CODES["reraise"]
_SELF = (None, CODES["self"])
_PLAIN = frozenset({float, bool, type(None)})

#: Tensors of at least this many bytes count towards the next garbage collection.
LARGE = 1 << 16
#: The fewest bytes of new tensors between two collections.
INTERVAL = 1 << 27


def silent(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a function: where it returns None, Lua gets no value, which differs from nil."""
    least, most = _argument_counts(function)

    def call(*args: Any) -> Any:
        result = function(*args[:most], *[None] * (least - len(args)))
        return () if result is None else result

    return call


def _argument_counts(function: Callable[..., Any]) -> tuple[int, int]:
    """How many positional arguments a Python function needs, and how many it accepts."""
    if isinstance(function, type) and isinstance(function.__init__, FunctionType):  # type: ignore[misc]
        least, most = _argument_counts(function.__init__)  # type: ignore[misc]
        return least - 1, most - 1
    if not isinstance(function, FunctionType):
        return 0, sys.maxsize
    code = function.__code__
    least = code.co_argcount - len(function.__defaults__ or ())
    return least, sys.maxsize if code.co_flags & CO_VARARGS else code.co_argcount


class _WrongSelf(TypeError):
    """A method was called on an object of another class."""


def _is_about_self(error: BaseException) -> bool:
    """Whether a method may have raised an error for a wrong `self`: it is one of Python, and not one of a front end."""
    return isinstance(error, (AttributeError, TypeError)) and not isinstance(error, RuntimeError)


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
        refuse: Callable[..., Exception] | None = None,
        strict: bool = False,
        foreign: bool = False,
    ) -> Callable[..., Any]:
        """A function for Lua. `name` is what its errors call it. Errors of a foreign function keep their words.

        A script chooses the first argument of a method like any other: `x.size(5)`. `refuse(value, name, owner)` gives
        the error about one that is not of the class `owner`. A strict method checks it; others accept what works.
        """
        codes, packed = self.values.codes, self.values.packed
        least, most = _argument_counts(function)

        def call(*args: Any) -> Any:
            values = [
                arg.value if (kind := arg.__class__) is Reference else packed(arg) if kind is bytes else arg
                for arg in args
            ]
            try:
                if not least <= len(values) <= most:  # a missing argument is nil, and one too many is ignored
                    values = values[:most] + [None] * (least - len(values))
                if strict and (not values or values[0].__class__ is not owner):
                    raise _WrongSelf
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
                if refuse is not None and _is_about_self(error) and not (values and values[0].__class__ is owner):
                    return self.failure(refuse(values[0] if values else None, name, owner), name)
                return self.failure(error, name, None if foreign else values)

        return call

    def adapt_callable(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of the user, which gets exactly what the script passes."""
        name = getattr(function, "__name__", type(function).__name__)
        return self.adapt(lambda *args: function(*args), name, foreign=True)

    def _weigh(self, nbytes: int) -> bool | None:
        """Counts a new tensor; says whether garbage should be collected now, which is when tensors have doubled."""
        self._made += nbytes
        if self._made < self._due:
            return None
        self._made = 0
        self._due = max(INTERVAL, memory.stats()["in_use"] // 2)
        return True

    def failure(self, error: BaseException, name: str, arguments: Sequence[Any] | None = None) -> tuple[Any, ...]:
        """What a call that failed returns: a text and, for an error about one argument, its number and the reason.

        With the arguments of the call, an error of Python gets the words of Lua.
        """
        if isinstance(error, LuaError) and error._serial is not None:
            return error.args[0].encode(errors="surrogateescape"), _RERAISE, error._serial
        if isinstance(error, ScriptStopped):
            return b"the script was stopped", _ERROR
        if not isinstance(error, Exception):
            self.interruption = error
            return b"interrupted", _ERROR
        self.last_error = error
        text = (in_words_of_lua(error, arguments) if arguments is not None else None) or str(error)
        data = (text or type(error).__name__).encode("utf-8", "surrogatepass")
        argument: tuple[int, str] | None = getattr(error, "argument", None)
        if argument is not None and f"'{name}'" in text:
            return data, _ERROR, argument[0], argument[1].encode("utf-8", "surrogatepass")
        return data, _ERROR
