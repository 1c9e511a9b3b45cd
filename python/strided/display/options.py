"""Print options: digits, how much of a large tensor is shown, the width of a line."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # typing is slow to import; the checker reads this name as True
if TYPE_CHECKING:
    from types import EllipsisType
    from typing import Any

__all__ = ["Options", "get_printoptions", "printoptions", "set_printoptions"]

FIELDS = ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")

PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": None},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": None},
    "full": {"precision": 4, "threshold": float("inf"), "edgeitems": 3, "linewidth": None},
}

PLAIN_WIDTH = 80  # of a line that is not written to a terminal: files, pipes, notebooks, tests
MAX_DIGITS = 100


class Options:
    """One set of options. It is immutable by convention: `set_printoptions` replaces it.

    * `precision`: digits after the point;
    * `threshold`: a tensor with more elements than this is summarised (`inf`: never);
    * `edgeitems`: the number of elements that a summary shows at each end of each dim;
    * `linewidth`: columns beyond this many characters continue in another block. `None` is the width of the terminal, or
      80 if the output is not a terminal;
    * `sci_mode`: whether floats are written as `1.0000e+05`. `None` chooses by the numbers.

    >>> Options(precision=2)
    Options(precision=2, threshold=1000, edgeitems=3, linewidth=None, sci_mode=None)
    """

    __slots__ = FIELDS

    precision: int
    threshold: float
    edgeitems: int
    linewidth: int | None
    sci_mode: bool | None

    def __init__(
        self,
        precision: int = 4,
        threshold: float = 1000,
        edgeitems: int = 3,
        linewidth: int | None = None,
        sci_mode: bool | None = None,
    ) -> None:
        self.precision = _whole("precision", precision, 0, MAX_DIGITS)
        self.threshold = threshold if threshold == float("inf") else _whole("threshold", threshold, 0)
        self.edgeitems = _whole("edgeitems", edgeitems, 1)
        self.linewidth = None if linewidth is None else _whole("linewidth", linewidth, 1)
        if sci_mode is not None and type(sci_mode) is not bool:
            raise TypeError(f"printoptions: sci_mode is True, False or None, not {sci_mode!r}")
        self.sci_mode = sci_mode

    def __repr__(self) -> str:
        return f"Options({', '.join(f'{name}={value!r}' for name, value in self.fields().items())})"

    def fields(self) -> dict[str, Any]:
        """Returns the options by name, as `Options(**fields)` takes them."""
        return {name: getattr(self, name) for name in FIELDS}

    def width(self) -> int:
        """Returns the characters to a line. It is looked up at each call, because a terminal may be resized."""
        return self.linewidth or _terminal_width()


def _whole(name: str, value: Any, least: int, most: float = float("inf")) -> int:
    if type(value) is not int:
        raise TypeError(f"printoptions: {name} is an int, not {value!r}")
    if not least <= value <= most:
        limits = f"at least {least}" if most == float("inf") else f"{least} to {most}"
        raise ValueError(f"printoptions: {name} is {limits}, not {value}")
    return value


def _terminal_width() -> int:
    try:
        if sys.stdout.isatty():
            return os.get_terminal_size(sys.stdout.fileno()).columns or PLAIN_WIDTH
    except (AttributeError, OSError, ValueError):
        pass  # stdout is None, closed, or not a real file
    return PLAIN_WIDTH


current = Options()


def set_printoptions(
    precision: int | EllipsisType = ...,
    threshold: float | EllipsisType = ...,
    edgeitems: int | EllipsisType = ...,
    linewidth: int | EllipsisType | None = ...,
    sci_mode: bool | EllipsisType | None = ...,
    profile: str | None = None,
    *,
    suppress: bool | None = None,
) -> None:
    """Sets how tensors are printed from now on. Options that are not given keep their values (see `Options`).

    A `profile` ("default", "short" or "full") sets all options but `sci_mode`; other arguments override it. NumPy's
    `suppress=True` means `sci_mode=False`, and `suppress=False` means `sci_mode=None`.

    >>> import strided as st
    >>> st.set_printoptions(precision=2)
    >>> st.tensor([0.5, 2.25])
     0.50
     2.25
    [strided.FloatTensor of size 2]
    >>> st.set_printoptions(profile="default")
    """
    global current
    given = dict(zip(FIELDS, (precision, threshold, edgeitems, linewidth, sci_mode), strict=True))
    changes = {name: value for name, value in given.items() if value is not ...}
    if suppress is not None:
        if sci_mode is not ... or type(suppress) is not bool:
            raise TypeError(f"printoptions: suppress is True or False, without sci_mode; not {suppress!r}")
        changes["sci_mode"] = False if suppress else None
    if profile is not None:
        changes = _profile(profile) | changes
    current = Options(**current.fields() | changes)


def _profile(name: str) -> dict[str, Any]:
    if name not in PROFILES:
        raise ValueError(f"printoptions: profile is one of {', '.join(PROFILES)}, not {name!r}")
    return PROFILES[name]


def get_printoptions() -> dict[str, Any]:
    """Returns the current options by name: `set_printoptions(**get_printoptions())` changes nothing.

    >>> import strided as st
    >>> st.get_printoptions()["edgeitems"]
    3
    """
    return current.fields()


class printoptions:
    """Sets print options for the length of a `with` block. The arguments are those of `set_printoptions`.

    >>> import strided as st
    >>> with st.printoptions(precision=1):
    ...     print(st.tensor([0.5, 2.25]))
     0.5
     2.2
    [strided.FloatTensor of size 2]
    """

    def __init__(self, *changes: Any, **named: Any) -> None:
        self.changes, self.named = changes, named
        self.before: list[Options] = []  # a stack, because one object may be entered again within its own block

    def __enter__(self) -> Options:
        before = current
        set_printoptions(*self.changes, **self.named)
        self.before.append(before)
        return current

    def __exit__(self, *_: object) -> None:
        global current
        current = self.before.pop()


def __dir__() -> list[str]:
    return __all__
