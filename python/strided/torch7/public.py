"""Puts the public names together: classes, functions, and the rows that are both methods and functions."""

from __future__ import annotations

from typing import Any

from strided.torch7 import errors
from strided.torch7.calls.matching import function_of, install
from strided.torch7.files import serialization
from strided.torch7.functions import FUNCTIONS
from strided.torch7.maths import conv, elementwise, gather, linear, making, order, random_numbers, reduce
from strided.torch7.session import Session, current
from strided.torch7.tensor import operators
from strided.torch7.tensor import typed as typed
from strided.torch7.tensor.classes import Tensor
from strided.torch7.tensor.conversion import from_strided
from strided.torch7.tensor.storage import Storage
from strided.torch7.tensor.views import chunk, split
from strided.torch7.tools import cmdline, tester, timer
from strided.torch7.types import CLASSES, STORAGES

#: The modules whose rows are methods of all tensor classes and functions of the module.
MODULES = (making, elementwise, reduce, order, linear, gather, conv, random_numbers)


def _generic(name: str) -> Any:
    """The method of `Tensor` for a method that each class has: it calls that of the class of the tensor."""

    def method(self: Any, *args: Any) -> Any:
        return getattr(type(self), name)(self, *args)

    method.__name__, method.__qualname__, method.__module__ = name, f"Tensor.{name}", "strided.torch7"
    method.__doc__ = getattr(CLASSES[next(iter(CLASSES))], name).__doc__
    return method


def assemble() -> dict[str, Any]:
    """All public names of the front end. The methods of the rows are added to the tensor classes on the way."""
    named: list[Any] = [Tensor, *CLASSES.values(), Storage, *STORAGES.values(), Session, current, from_strided, chunk]
    named += [split, errors.TorchError, errors.TorchIndexError, errors.TorchTypeError, errors.TorchValueError]
    named += [*serialization.FUNCTIONS, *serialization.CLASSES, *random_numbers.PUBLIC]
    named += [timer.Timer, cmdline.CmdLine, tester.Tester, tester.TestSuite]
    for value in named:
        value.__module__ = "strided.torch7"  # where users find it, and where pickles look for it
    names: dict[str, Any] = {value.__name__: value for value in named} | FUNCTIONS
    operators.install(Tensor)
    for module in MODULES:
        install(module.ROWS, names)
    names["nonzero"] = gather.explain_nonzero(names["nonzero"])
    names.update((row.name, function_of(row, dispatched=False)) for row in random_numbers.GENERATOR_ROWS)
    for name in {name for cls in CLASSES.values() for name in vars(cls)}:
        if not name.startswith("_") and not hasattr(Tensor, name):
            setattr(Tensor, name, _generic(name))
    return names
