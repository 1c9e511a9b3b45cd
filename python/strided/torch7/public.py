"""Puts the public names together: classes, functions, and the rows that are both methods and functions."""

from __future__ import annotations

from typing import Any

from strided.torch7 import errors, serialization, structure
from strided.torch7.conversion import from_strided
from strided.torch7.functions import FUNCTIONS
from strided.torch7.maths import install_maths
from strided.torch7.session import Session, current
from strided.torch7.storage import Storage
from strided.torch7.tensor import Tensor
from strided.torch7.types import CLASSES, STORAGES
from strided.torch7.views import chunk, split
from strided.torch7.wrap import install


def _generic(name: str) -> Any:
    """The method of `Tensor` for a method that each class has: it calls that of the class of the tensor."""

    def method(self: Any, *args: Any) -> Any:
        return getattr(type(self), name)(self, *args)

    method.__name__, method.__qualname__, method.__module__ = name, f"Tensor.{name}", "strided.torch7"
    method.__doc__ = getattr(CLASSES[next(iter(CLASSES))], name).__doc__
    return method


def assemble() -> dict[str, Any]:
    """All public names of the front end. The methods of the rows are added to the tensor classes on the way."""
    classes: list[Any] = [Tensor, *CLASSES.values(), Storage, *STORAGES.values()]
    others: list[Any] = [Session, current, from_strided, chunk, split]
    others += [*serialization.FUNCTIONS, *serialization.CLASSES]
    others += [errors.TorchError, errors.TorchIndexError, errors.TorchTypeError, errors.TorchValueError]
    for value in others:
        value.__module__ = "strided.torch7"  # where users find it, and where pickles look for it
    names: dict[str, Any] = {value.__name__: value for value in (*classes, *others)}
    names.update(FUNCTIONS)
    install(structure.ROWS, names)
    install_maths(names)
    names["nonzero"] = structure.explain_nonzero(names["nonzero"])
    for cls in CLASSES.values():
        for name in vars(cls):
            if not name.startswith("_") and not hasattr(Tensor, name):
                setattr(Tensor, name, _generic(name))
    return names
