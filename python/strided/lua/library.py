"""Describes the front ends to Lua: which functions, classes, methods and operators there are. Nothing is implemented here."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from strided.lua.adapters import Adapters

__all__ = ["describe_lab", "describe_torch"]

Description = dict[bytes, Any]

#: Public names that are for Python only.
PYTHON_ONLY = frozenset({"strided", "numpy", "from_strided", "current"})
#: Functions about Lua objects, which Lua's own `classes.lua` has.
ABOUT_LUA = frozenset({"class", "type", "typename", "isTypeOf", "isTensor", "isStorage", "isequal", "pointer"})

#: Operators of Torch7's tensors: the name of the event, and the function.
TORCH_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "mod": operator.mod,
    "unm": operator.neg,
}


def _bytes(table: dict[str, Any]) -> Description:
    return {name.encode(): value for name, value in table.items()}


def _methods(cls: type, adapters: Adapters, skip: frozenset[str] = PYTHON_ONLY) -> Description:
    """The public functions of a class."""
    names = [name for name in dir(cls) if not name.startswith("_") and name not in skip]
    found = {name: getattr(cls, name) for name in names}
    return _bytes({name: adapters.adapt(value, name) for name, value in found.items() if callable(value)})


def _class(
    cls: type, code: int, name: str, adapters: Adapters, operators: dict[str, Callable[..., Any]], **more: Any
) -> Description:
    return _bytes(
        {
            "code": code,
            "name": name.encode(),
            "constructor": adapters.adapt(cls, name),
            "methods": _methods(cls, adapters, PYTHON_ONLY | {"new"}),
            "operators": _bytes({key: adapters.adapt(value, key) for key, value in operators.items()}),
            **more,
        }
    )


# Torch7


def _torch_text(value: Any) -> str:
    """The printed text with its last line end, which Python leaves out."""
    return f"{value}\n"


def describe_torch(adapters: Adapters) -> Description:
    """The module `torch`."""
    from strided import torch7
    from strided.torch7.types import CLASSES, STORAGES

    codes = adapters.values.codes
    functions = {}
    for name in torch7.__all__:
        value = getattr(torch7, name)
        if callable(value) and not isinstance(value, type) and name not in PYTHON_ONLY | ABOUT_LUA:
            functions[name] = adapters.adapt(value, name)

    getting = {
        "get": adapters.adapt(operator.getitem, "__index"),
        "set": adapters.adapt(operator.setitem, "__newindex"),
    }
    classes = []
    for cls in (*CLASSES.values(), *STORAGES.values()):
        is_tensor = cls in CLASSES.values()
        operators = dict(TORCH_OPERATORS) if is_tensor else {}
        operators["len"] = cls.size if is_tensor else len
        operators["tostring"] = _torch_text
        code = codes.setdefault(cls, len(codes) + 1)
        classes.append(_class(cls, code, f"torch.{cls.__name__}", adapters, operators, **getting))
    for name in torch7.__all__:
        cls = getattr(torch7, name)
        if isinstance(cls, type) and getattr(cls, "_lua_class", None):
            code = codes.setdefault(cls, len(codes) + 1)
            classes.append(_class(cls, code, f"torch.{name}", adapters, {}, calls=True))
    objects = {name: adapters.adapt(getattr(torch7, name), name) for name in ("isequal", "pointer")}
    return _bytes({"functions": _bytes(functions), "classes": classes, "objects": _bytes(objects)})


# Lab


def describe_lab(adapters: Adapters) -> Description:
    """The modules below `dmlab.system`."""
    from strided import dmlab
    from strided.dmlab.tensor import TensorBase

    codes = adapters.values.codes
    operators: dict[str, Callable[..., Any]] = {"eq": operator.eq, "tostring": TensorBase._tostring}
    classes = []
    for name in dmlab.__all__:
        cls = getattr(dmlab, name)
        if isinstance(cls, type) and issubclass(cls, TensorBase) and name != "Tensor":
            code = codes.setdefault(cls, len(codes) + 1)
            call = {"call": vars(cls)["__call__"]}
            classes.append(_class(cls, code, name, adapters, operators | call))
    code = codes.setdefault(dmlab.RandomView, len(codes) + 1)
    random = _class(dmlab.RandomView, code, "RandomView", adapters, {})
    del random[b"constructor"]
    classes.append(random)
    return _bytes({"classes": classes, "random": adapters.adapt(lambda: dmlab.random, "random")})
