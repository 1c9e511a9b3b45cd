"""Lua functions that Python holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strided.lua.runtime import Lua

__all__ = ["LuaFunction"]


class LuaFunction:
    """A function of a Lua runtime. Python calls it like any other; several results are a tuple.

    >>> from strided.lua import Lua
    >>> lua = Lua()
    >>> divide = lua.eval("function(a, b) return math.floor(a / b), a % b end")
    >>> divide(17, 5)
    (3, 2)
    """

    __slots__ = ("__weakref__", "_handle", "_lua")

    def __init__(self, lua: Lua, handle: int) -> None:
        self._lua = lua
        self._handle = handle
        lua._handles[handle] = lua._handles.get(handle, 0) + 1

    def __call__(self, *args: Any) -> Any:
        return self._lua._call(self._handle, args)

    @property
    def is_c(self) -> bool:
        """Whether the function is written in C, as those of Lua's own libraries are.

        >>> from strided.lua import Lua
        >>> Lua().eval("math.sin").is_c
        True
        """
        return self._lua._is_c(self._handle)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LuaFunction):
            return NotImplemented
        return self._lua is other._lua and self._handle == other._handle

    def __hash__(self) -> int:
        return hash((id(self._lua), self._handle))

    def __repr__(self) -> str:
        return f"<Lua function {self._handle}>"

    def __del__(self) -> None:
        handles = self._lua._handles
        left = handles[self._handle] - 1
        if left:
            handles[self._handle] = left
        else:
            del handles[self._handle]
            self._lua._released.append(self._handle)
