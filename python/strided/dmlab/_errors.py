"""The exceptions of the Lab front end, whose texts are Lab's own, and how Lab shows an argument in them."""

from __future__ import annotations

import math
import types

from strided._dialect.lua import MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

#: What stands before the name of a class of tensors wherever Lab prints it.
TYPE_PREFIX: Final = "deepmind.lab.tensor."


class LabError(RuntimeError):
    """An error whose text is that of DeepMind Lab.

    A subclass says what a Python program expects: `LabError`s are also IndexErrors, TypeErrors or ValueErrors.

    >>> from strided import dmlab as lab
    >>> try:
    ...     lab.DoubleTensor(2, 3).select(1, 5)
    ... except IndexError as error:
    ...     print(isinstance(error, lab.LabError), error)
    True [deepmind.lab.tensor.DoubleTensor.select] - Must contain 1 based dim, index, received: 1, 5
    """


class LabIndexError(LabError, IndexError):
    """A dim or an index that does not exist, as a LabError.

    >>> from strided import dmlab as lab
    >>> try:
    ...     lab.DoubleTensor(2, 3)(3)
    ... except lab.LabIndexError as error:
    ...     print(error)
    [deepmind.lab.tensor.DoubleTensor.__call] - Invalid Index!
    """


class LabTypeError(LabError, TypeError):
    """An argument of the wrong type, as a LabError.

    >>> from strided import dmlab as lab
    >>> try:
    ...     lab.DoubleTensor(2).cadd(3)
    ... except lab.LabTypeError as error:
    ...     print(error)
    [deepmind.lab.tensor.DoubleTensor.cadd] - Must call with same sized tensor, received: 3
    """


class LabValueError(LabError, ValueError):
    """An argument with a value that is not accepted, as a LabError.

    >>> from strided import dmlab as lab
    >>> try:
    ...     lab.DoubleTensor(2).clamp(1, 0)
    ... except lab.LabValueError as error:
    ...     print(error)
    [deepmind.lab.tensor.DoubleTensor.clamp] - Arg1 (min value) must not exceed Arg2 (max value).
    """


class LabZeroDivisionError(LabError, ZeroDivisionError):
    """A division of integers by zero, which ends a process that runs Lab, as a LabError.

    >>> from strided import dmlab as lab
    >>> try:
    ...     lab.ByteTensor([1, 2]).cdiv(lab.ByteTensor([1, 0]))
    ... except lab.LabZeroDivisionError as error:
    ...     print(error)
    [deepmind.lab.tensor.ByteTensor.cdiv] - division of an integer by zero
    """


for _error in (LabError, LabIndexError, LabTypeError, LabValueError, LabZeroDivisionError):
    _error.__module__ = "strided.dmlab"


class Refusal(Exception):
    """Raised by the body of a method whose arguments are refused; the method adds its name and the text of its row.

    `text` replaces the text of the row, as it is. `hint` is for Python programs: it follows the text.
    """

    def __init__(self, kind: type[LabError], text: str | None = None, hint: str = "") -> None:
        super().__init__(text)
        self.kind, self.text, self.hint = kind, text, hint


def number_text(value: float) -> str:
    """A number as C++ prints it: six digits, and the sign bit of a NaN."""
    if value != value:
        return "-nan" if math.copysign(1.0, value) < 0 else "nan"
    return f"{value:g}"


def describe(value: object) -> str:
    """An argument as Lab shows it in a message."""
    if value is MISSING:
        return "(none)"
    if value is None:
        return "(nil)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return number_text(float(value) if abs(value) < 1 << 1023 else math.inf)
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, (list, tuple, dict)):
        return "(table)"
    if callable(value) and not hasattr(type(value), "_type_name"):
        # C++ prints the address of a C function as a bool, which is false for functions of Lua.
        return f"function [{int(getattr(value, 'is_c', isinstance(value, types.BuiltinFunctionType)))}]"
    tostring = getattr(type(value), "_tostring", None)
    return f"user pointer: [{hex(id(value))}]" + (tostring(value) if tostring else "")
