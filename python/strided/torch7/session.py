"""What the Torch7 front end remembers between calls: the default tensor type, the random numbers, and the clock.

The module has one session; every Lua runtime has another. `current()` is the active one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Session:
    """The state of one user of the front end.

    `lua` selects the rules of a Lua program: a size or an index may be a float, which is truncated, and errors have no
    hints for Python programmers.
    """

    __slots__ = ("default_type", "generator", "lua", "started")

    def __init__(self, lua: bool = False) -> None:
        self.lua = lua
        #: The element type of `torch.Tensor`, such as "Double".
        self.default_type = "Double"
        #: Made by `random` when it is first needed.
        self.generator: Any = None
        #: The time of the last `tic`.
        self.started = 0.0

    @contextmanager
    def activate(self) -> Iterator[Session]:
        """Makes this session the current one within a `with` statement."""
        global _current
        before, _current = _current, self
        try:
            yield self
        finally:
            _current = before


_current = Session()


def current() -> Session:
    """The active session."""
    return _current
