"""The classes of a front end: one for each element type, made from a table, and what Python asks of all of them."""

from __future__ import annotations

from types import FunctionType
from typing import Any, TypeVar

import strided as st

T = TypeVar("T")


def make_class(base: type[T], name: str, module: str, doc: str, **attributes: Any) -> type[T]:
    """A subclass without slots of its own."""
    return type(name, (base,), {"__slots__": (), "__doc__": doc, "__module__": module, **attributes})


def alias(name: str, method: Any) -> Any:
    """The same method under another name, which it knows."""
    other = FunctionType(method.__code__, method.__globals__, name, method.__defaults__, method.__closure__)
    other.__qualname__, other.__doc__ = f"{method.__qualname__.rpartition('.')[0]}.{name}", method.__doc__
    return other


class Bridges:
    """The protocols by which NumPy and others read a tensor that holds a tensor of the core."""

    __slots__ = ()
    _tensor: st.Tensor

    def _core(self, method: str) -> st.Tensor:
        """The core tensor, for a method that reads its memory."""
        return self._tensor

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._core("__array__").__array__(dtype, copy=copy)

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(self._core("__buffer__"))

    def __dlpack__(self, **keywords: Any) -> Any:
        return self._core("__dlpack__").__dlpack__(**keywords)

    def __dlpack_device__(self) -> Any:
        return self._tensor.__dlpack_device__()
