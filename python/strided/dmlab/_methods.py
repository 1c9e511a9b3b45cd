"""Methods declared as rows: what a row holds, and the function that checks the receiver, calls the body and words refusals."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from inspect import CO_VARARGS, cleandoc
from typing import Any

from strided._dialect.lua import MISSING

from ._errors import LabError, LabTypeError, Refusal, describe
from ._types import require_valid
from .session import current

_PARAMETER = re.compile(r"(\w+):")


@dataclass(frozen=True, slots=True)
class Row:
    """A method of Lab's tensors.

    `run` takes the tensor and the arguments, and raises `Refusal` for arguments that Lab refuses. `usage` is the
    text of that error: each `{}` in it shows an argument, and `{type}` the type of the tensor.
    """

    name: str
    signature: str
    run: Callable[..., Any]
    doc: str
    usage: str = ""

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters."""
        return _PARAMETER.findall(self.signature.partition("->")[0])

    @property
    def accepts_extra_arguments(self) -> bool:
        """Whether `run` takes more arguments than there are parameters. Lab counts them, or reads the last ones."""
        return bool(self.run.__code__.co_flags & CO_VARARGS)


def example(text: str) -> str:
    """The document of a method: indentation is removed, and the example imports the front end."""
    head, mark, code = cleandoc(text).partition(">>> ")
    return f"{head}>>> from strided import dmlab as lab\n{mark}{code}\n"


#: Names of Lab -> names of Python, where these differ.
PYTHON_NAMES = {"__call": "__call__"}


def make_method(cls: Any, type_name: str, row: Row, holds_tensor: bool) -> Callable[..., Any]:
    """The method of a class that a row declares. Where a receiver holds a tensor, its memory must not be gone."""
    name, run = row.name, row.run
    most = len(row.parameters) if "*" not in row.signature else 1 << 30

    def method(self: Any = MISSING, *args: Any, **named: Any) -> Any:
        if not isinstance(self, cls):
            raise _wrong_receiver(type_name, name, self)
        # What is owned is always there.
        if holds_tensor and not self._tensor.owns_storage():
            require_valid(self._tensor, name)
        if named or len(args) > most:
            args = _arranged(row, args, named)
        try:
            return run(self, *args)
        except Refusal as refusal:
            error = _refusal_error(type_name, row, refusal, args)
        raise error

    method.__name__ = PYTHON_NAMES.get(name, name)
    method.__qualname__ = f"{cls.__name__}.{method.__name__}"
    method.__module__ = cls.__module__
    method.__doc__ = example(row.doc)
    method.__signature__ = _signature(row)  # type: ignore[attr-defined]
    return method


def _arranged(row: Row, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of a call in the order of the parameters. Lua has no keywords, and ignores surplus arguments."""
    name, parameters = row.name, row.parameters
    if not named and current().lua:
        return args if row.accepts_extra_arguments else args[: len(parameters)]
    if len(args) > len(parameters):
        raise LabTypeError(f"{name}: takes {len(parameters)} arguments, got {len(args)}")
    given = dict(zip(parameters, args, strict=False))
    for key, value in named.items():
        if key not in parameters:
            raise LabTypeError(f"{name}: has no parameter {key!r}; it has {', '.join(parameters) or 'none'}")
        if key in given:
            raise LabTypeError(f"{name}: argument {key!r} was passed twice")
        given[key] = value
    last = max((parameters.index(key) for key in given), default=-1)
    return tuple(given.get(key) for key in parameters[: last + 1])


def _refusal_error(type_name: str, row: Row, refusal: Refusal, args: tuple[Any, ...]) -> LabError:
    text = refusal.text
    if text is None:
        shown = [*map(describe, args), *[describe(MISSING)] * len(row.parameters)]
        text = row.usage.format(*shown, type=type_name)
    text = f"[{type_name}.{row.name}] - {text}"
    return refusal.kind(f"{text}; {refusal.hint}" if refusal.hint and not current().lua else text)


def _wrong_receiver(type_name: str, name: str, receiver: object) -> LabTypeError:
    return LabTypeError(
        f"First argument must be an object of type: '{type_name}'\n"
        f"Did you forget to use ':' when calling '{name}'?\nArgument received: '{describe(receiver)}'"
    )


def _signature(row: Row) -> inspect.Signature:
    """The signature that `help` shows."""
    names: dict[str, Any] = {}
    head, _, result = row.signature.partition(" -> ")
    exec(f"from __future__ import annotations\ndef function(self, {head[1:-1]}) -> {result}: ...", names)
    return inspect.signature(names["function"])
