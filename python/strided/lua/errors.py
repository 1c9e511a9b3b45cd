"""Errors of Lua scripts as Python exceptions, and errors of Python in the words of Lua."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["LuaError", "LuaMemoryError", "LuaTimeoutError", "ScriptStopped", "in_words_of_lua"]


class LuaError(RuntimeError):
    """An error that a Lua script raised and did not catch.

    `str(error)` is the message as Lua words it. `error.traceback` is the stack of Lua functions. If a Python function
    that the script called raised an exception, that is `error.__cause__`.

    >>> from strided.lua import Lua, LuaError
    >>> try:
    ...     Lua().execute("local t = nil; return t.x")
    ... except LuaError as error:
    ...     print(error)
    script:1: attempt to index local 't' (a nil value)
    """

    #: The Lua functions that were running, innermost first.
    traceback: str
    #: Whether Lua raised a string, and not a table or another value, of which the message is a description.
    is_text: bool = True
    #: Which error of its runtime this is, if Lua keeps the value that was raised.
    _serial: int | None = None

    def __init__(self, message: str = "", traceback: str = "", *rest: Any) -> None:
        super().__init__(message, *rest)
        self.traceback = traceback

    @classmethod
    def _kept(cls, message: str, serial: int, is_text: bool) -> LuaError:
        """An error whose value Lua keeps, to raise it again when it comes back."""
        error = cls(message)
        error._serial, error.is_text = serial, is_text
        return error

    def __str__(self) -> str:
        return str(self.args[0])


class ScriptStopped(BaseException):
    """Ends Python functions that a script has called, after the script was stopped. No `except Exception` goes on with it."""


class LuaTimeoutError(LuaError, TimeoutError):
    """A script ran longer than `timeout`.

    >>> from strided.lua import Lua, LuaTimeoutError
    >>> try:
    ...     Lua(timeout=0.05).execute("while true do pcall(error) end")
    ... except LuaTimeoutError as error:
    ...     print(error)
    the script ran longer than timeout=0.05 s
    """


class LuaMemoryError(LuaError, MemoryError):
    """A script needed more memory than `memory`.

    >>> from strided.lua import Lua, LuaMemoryError
    >>> try:
    ...     Lua(memory=8_000_000).execute("local t = {} for i = 1, 1e9 do t[i] = {} end")
    ... except LuaMemoryError as error:
    ...     print(error)
    not enough memory
    """


#: What Python raises where the code of a front end does something with a value that it cannot do.
_PYTHON_ERRORS = (TypeError, AttributeError, LookupError, NameError, AssertionError)

#: Names of Python's types -> those of Lua; all others are userdata.
_LUA_TYPES = {
    "NoneType": "nil",
    "bool": "boolean",
    "int": "number",
    "float": "number",
    "str": "string",
    "bytes": "string",
    "list": "table",
    "tuple": "table",
    "dict": "table",
    "LuaFunction": "function",
}

#: What Python says about an operation with values of certain types, and what Lua says about the same.
_OPERATIONS = [
    (re.compile(pattern), text)
    for pattern, text in (
        (r"'[<>]=?' not supported between instances of '(\w+)' and '(\w+)'", "attempt to compare {0} with {1}"),
        (
            r"unsupported operand type\(s\) for .+: '(?:int|float)' and '(\w+)'",
            "attempt to perform arithmetic on a {0} value",
        ),
        (r"unsupported operand type\(s\) for .+: '(\w+)' and '\w+'", "attempt to perform arithmetic on a {0} value"),
        (r"bad operand type for .+: '(\w+)'", "attempt to perform arithmetic on a {0} value"),
        (r"'(\w+)' object is not callable", "attempt to call a {0} value"),
        (r"object of type '(\w+)' has no len\(\)", "attempt to get length of a {0} value"),
        (r"'(\w+)' object (?:has no attribute|is not|does not)", "attempt to index a {0} value"),
        (r"expected str, bytes or os.PathLike object, not (\w+)", "string expected, got {0}"),
    )
]


def in_words_of_lua(error: Exception, arguments: Sequence[Any]) -> str | None:
    """The text of an error of Python for a Lua program; None if it has the words of a front end or of the core.

    The functions of Torch7 that do not check their arguments are written in Lua, which words the errors.

    >>> try:
    ...     None < 1
    ... except TypeError as error:
    ...     in_words_of_lua(error, [None, 1])
    'attempt to compare nil with number'
    """
    if not isinstance(error, _PYTHON_ERRORS) or isinstance(error, RuntimeError):
        return None
    for pattern, text in _OPERATIONS:
        found = pattern.match(str(error))
        if found:
            kinds = [_LUA_TYPES.get(name, "userdata") for name in found.groups()]
            if len(kinds) == 2 and kinds[0] == kinds[1]:
                return f"attempt to compare two {kinds[0]} values"
            return text.format(*kinds)
    kinds = [_LUA_TYPES.get(type(value).__name__, "userdata") for value in arguments]
    return f"invalid arguments: {' '.join(kinds) or 'no arguments provided'}"
