"""Errors of Lua scripts as Python exceptions."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["LuaError", "LuaMemoryError", "LuaTimeoutError"]


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
