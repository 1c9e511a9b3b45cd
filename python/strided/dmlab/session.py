"""What the Lab front end remembers between calls: the random numbers, and where the names of files lead.

The module has one session; every Lua runtime has another. `current()` is the active one.

>>> from strided.dmlab.session import Session, current
>>> with Session().activate() as session:
...     print(current() is session)
True
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from strided import _strided
from strided._dialect.session import SessionBase

__all__ = ["Session", "current"]


class Session(SessionBase):
    """The state of one user of the front end.

    * `lua` selects the rules of a Lua program: a float is accepted as a size or an index, and truncated; arguments that
      a method does not know are ignored; errors have no hints for Python programs.
    * `mixer_seed` is what an environment adds to all seeds, 32 bits; Lab calls it `mixerSeed`.
    * `resolve` turns the name of a file into the path that is opened. It raises an OSError to refuse one.

    >>> session = Session(lua=True)
    >>> with session.activate():
    ...     from strided import dmlab as lab
    ...     lab.DoubleTensor(2.9).shape()
    [2]
    """

    __slots__ = ("_generator", "mixer_seed")

    def __init__(self, lua: bool = False, mixer_seed: int = 0, resolve: Callable[[str], str] = str) -> None:
        super().__init__(lua, resolve)
        self.mixer_seed = mixer_seed
        self._generator: Any = None

    @property
    def generator(self) -> Any:
        """The engine of the random numbers. It starts as C++ starts one without a seed.

        >>> Session().generator.uniform_int(1, 6) == Session().generator.uniform_int(1, 6)
        True
        """
        if self._generator is None:
            self._generator = vars(_strided)["_LabGenerator"]()
        return self._generator


_active: ContextVar[Session] = ContextVar("dmlab_session", default=Session())  # noqa: B039  # shared on purpose
Session._active = _active


def current() -> Session:
    """The active session.

    >>> current().lua
    False
    """
    return _active.get()


def __dir__() -> list[str]:
    return __all__
