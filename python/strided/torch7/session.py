"""What the Torch7 front end remembers between calls: the default tensor type and the random numbers.

The module has one session; every Lua runtime has another. `current()` is the active one. It is a context variable, so
that runtimes in several threads do not disturb each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Session:
    """The state of one user of the front end.

    `lua` selects the rules of a Lua program: a size or an index may be a float, which is truncated, and errors have no
    hints for Python programmers.

    >>> from strided import torch7 as torch
    >>> with torch.Session().activate():
    ...     torch.setdefaulttensortype("torch.FloatTensor")
    ...     torch.Tensor().type()
    'torch.FloatTensor'
    >>> torch.Tensor().type()
    'torch.DoubleTensor'
    """

    __slots__ = ("default_type", "foreign_memory", "generator", "lua", "owns_process", "resolve", "where")

    def __init__(self, lua: bool = False) -> None:
        self.lua = lua
        #: The element type of `torch.Tensor`, such as "Double".
        self.default_type = "Double"
        #: Made by `random` when it is first needed.
        self.generator: Any = None
        #: Where a Lua program is, for the messages of its tests: a function that returns the text. Set by its runtime.
        self.where: Callable[[], str] | None = None
        #: Turns the name of a file into the path that is opened. It raises an OSError to refuse one.
        self.resolve: Callable[[str], str] = str
        #: Whether a storage may be made over any address. A sandbox has no use for that.
        self.foreign_memory = True
        #: Whether a program may end the process, read its command line, and set its number of threads.
        self.owns_process = True

    @contextmanager
    def activate(self) -> Iterator[Session]:
        """Makes this session the current one within a `with` statement.

        >>> from strided import torch7 as torch
        >>> with torch.Session().activate() as session:
        ...     torch.current() is session
        True
        """
        token = _active.set(self)
        try:
            yield self
        finally:
            _active.reset(token)


_active: ContextVar[Session] = ContextVar("torch7_session", default=Session())  # noqa: B039  # shared on purpose


def current() -> Session:
    """The active session.

    >>> from strided import torch7 as torch
    >>> torch.current().default_type
    'Double'
    """
    return _active.get()
