"""What the Torch7 front end remembers between calls: the default tensor type and the random numbers."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from strided._dialect.session import SessionBase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Session(SessionBase):
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

    __slots__ = ("default_type", "foreign_memory", "generator", "owns_process", "where")

    def __init__(self, lua: bool = False) -> None:
        super().__init__(lua, str)
        #: The element type of `torch.Tensor`, such as "Double".
        self.default_type = "Double"
        #: Made by `random` when it is first needed.
        self.generator: Any = None
        #: Where a Lua program is, for the messages of its tests: a function that returns the text. Set by its runtime.
        self.where: Callable[[], str] | None = None
        #: Whether a storage may be made over any address; false in a sandbox.
        self.foreign_memory = True
        #: Whether a program may end the process, read its command line, and set its number of threads.
        self.owns_process = True


_active: ContextVar[Session] = ContextVar("torch7_session", default=Session())  # noqa: B039  # shared on purpose
Session._active = _active


def current() -> Session:
    """The active session.

    >>> from strided import torch7 as torch
    >>> torch.current().default_type
    'Double'
    """
    return _active.get()
