"""What a front end remembers between calls. Its module has one session; every Lua runtime has another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, Self


class SessionBase:
    """The state of one user of a front end.

    The active session is a variable of the context, so that runtimes in several threads do not disturb each other.
    """

    __slots__ = ("lua", "resolve")
    _active: ClassVar[ContextVar[Any]]

    def __init__(self, lua: bool, resolve: Callable[[str], str]) -> None:
        #: Whether the rules of a Lua program hold.
        self.lua = lua
        #: Turns the name of a file into the path that is opened. It raises an OSError to refuse one.
        self.resolve = resolve

    @contextmanager
    def activate(self) -> Iterator[Self]:
        """Makes this session the current one within a `with` statement.

        >>> from strided import torch7 as torch
        >>> with torch.Session().activate() as session:
        ...     torch.current() is session
        True
        """
        token = self._active.set(self)
        try:
            yield self
        finally:
            self._active.reset(token)
