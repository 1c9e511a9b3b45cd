"""What a person may choose about printed tensors: digits, how much of a large tensor is shown, the width of a line."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # typing is slow to import; the checker reads this name as True
if TYPE_CHECKING:
    from types import EllipsisType
    from typing import Any

FIELDS = ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")

PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": None},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": None},
    "full": {"precision": 4, "threshold": float("inf"), "edgeitems": 3, "linewidth": None},
}

PLAIN_WIDTH = 80  # of a line that does not go to a terminal: files, pipes, notebooks, tests
MOST_DIGITS = 100


class Options:
    """One set of choices. It is never changed: `set_printoptions` puts another in its place.

    * `precision`: digits after the point;
    * `threshold`: a tensor with more elements than this is summarised (`inf`: never);
    * `edgeitems`: how many elements a summary shows at both ends of each dim;
    * `linewidth`: columns go on in a further block beyond this many characters. `None` is the width of the terminal, and
      80 when the output is none;
    * `sci_mode`: whether floats are written as `1.0000e+05`. `None` lets the numbers decide.

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
        self.precision = _whole("precision", precision, 0, MOST_DIGITS)
        self.threshold = threshold if threshold == float("inf") else _whole("threshold", threshold, 0)
        self.edgeitems = _whole("edgeitems", edgeitems, 1)
        self.linewidth = None if linewidth is None else _whole("linewidth", linewidth, 1)
        if sci_mode is not None and type(sci_mode) is not bool:
            raise TypeError(f"printoptions: sci_mode is True, False or None, not {sci_mode!r}")
        self.sci_mode = sci_mode

    def __repr__(self) -> str:
        return f"Options({', '.join(f'{name}={value!r}' for name, value in self.fields().items())})"

    def fields(self) -> dict[str, Any]:
        """The choices by name, as `Options(**fields)` takes them."""
        return {name: getattr(self, name) for name in FIELDS}

    def width(self) -> int:
        """Characters to a line, here and now: a terminal may be resized between two prints."""
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
        pass  # stdout is None, closed, or something that only looks like a file
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
    """Choose how tensors are printed from now on; what is not named stays as it is (see `Options`).

    A `profile` ("default", "short" or "full") sets all but `sci_mode` at once; the others, if given, go on top of it.
    NumPy's `suppress=True` is `sci_mode=False`, and `suppress=False` leaves it to the numbers.

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
    """The choices in force, by name: `set_printoptions(**get_printoptions())` changes nothing.

    >>> import strided as st
    >>> st.get_printoptions()["edgeitems"]
    3
    """
    return current.fields()


class printoptions:
    """Choices for the length of a `with` block; takes what `set_printoptions` takes.

    >>> import strided as st
    >>> with st.printoptions(precision=1):
    ...     print(st.tensor([0.5, 2.25]))
     0.5
     2.2
    [strided.FloatTensor of size 2]
    """

    def __init__(self, *changes: Any, **named: Any) -> None:
        self.changes, self.named = changes, named
        self.before: list[Options] = []  # a stack: one object may be entered again inside itself

    def __enter__(self) -> Options:
        before = current
        set_printoptions(*self.changes, **self.named)
        self.before.append(before)
        return current

    def __exit__(self, *_: object) -> None:
        global current
        current = self.before.pop()
