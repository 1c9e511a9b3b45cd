"""Describes the front ends to Lua: which functions, classes, methods and operators there are. Nothing is implemented here."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from strided.lua.adapters import Adapters, silent

__all__ = ["describe_lab", "describe_torch"]

Description = dict[bytes, Any]

#: Public names that are for Python only.
PYTHON_ONLY = frozenset({"strided", "numpy", "from_strided", "current", "assert_"})
#: Functions about Lua objects, which Lua's own `classes.lua` has.
ABOUT_LUA = frozenset({"class", "type", "typename", "isTypeOf", "isTensor", "isStorage", "isequal", "pointer"})

#: Functions that `torch.lua` calls in its own functions, so that their errors have no position.
UNNAMED = ("isequal", "pointer", "setdefaulttensortype")
#: Functions that return nothing; Python functions return None, which is nil.
SILENT = frozenset({"manualSeed", "setRNGState", "setdefaulttensortype", "setnumthreads", "retain", "free"})

#: Methods that Torch7 implements in C by hand: they accept an object of their own class as `self`, and no other.
STRICT = frozenset(
    {
        *(
            "retain",
            "free",
            "size",
            "elementSize",
            "stride",
            "dim",
            "nDimension",
            "nElement",
            "storage",
            "storageOffset",
        ),
        *("set", "clone", "contiguous", "resize", "resizeAs", "narrow", "sub", "select", "transpose", "t", "unfold"),
        *("index", "indexCopy", "indexAdd", "indexFill", "maskedSelect", "maskedCopy", "maskedFill", "copy"),
        *("isContiguous", "isSameSizeAs", "isSetTo", "isSize", "apply", "map", "map2"),
    }
)

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


def _methods(cls: type, adapters: Adapters, refuse: Callable[..., Any] | None) -> Description:
    """The public functions of a class. Those of Torch7's tools return nothing where Python returns None."""
    found = {}
    is_tool = getattr(cls, "_typename", "").startswith("torch.") and refuse is None
    for name in dir(cls):
        value = getattr(cls, name)
        if name.startswith("_") or name in PYTHON_ONLY or name == "new" or not callable(value):
            continue
        if name in SILENT or is_tool:
            value = silent(value)
        found[name] = adapters.adapt(value, name, cls, refuse, refuse is not None and name in STRICT)
    return _bytes(found)


def _class(
    cls: type,
    name: str,
    adapters: Adapters,
    operators: dict[str, Callable[..., Any]],
    refuse: Callable[..., Any] | None = None,
    **more: Any,
) -> Description:
    """A class, with a new code if it has none."""
    codes = adapters.values.codes
    return _bytes(
        {
            "code": codes.setdefault(cls, len(codes) + 1),
            "name": name.encode(),
            "constructor": adapters.adapt(cls, name),
            "methods": _methods(cls, adapters, refuse),
            "operators": _bytes({key: adapters.adapt(value, key) for key, value in operators.items()}),
            **more,
        }
    )


# Torch7


def _torch_text(value: Any) -> str:
    """The printed text with its last line end, which Python leaves out."""
    return f"{value}\n"


def _named(cls: Any, adapters: Adapters) -> dict[str, Any]:
    """Items by name, which a script reads and sets like fields."""

    def get(value: Any, name: Any) -> Any:
        try:
            return value[name]
        except (AttributeError, KeyError):
            return None

    return {"get": adapters.adapt(get, "__index"), "set": adapters.adapt(cls.__setitem__, "__newindex"), "named": True}


def _bad_self(value: Any, name: str, owner: Any) -> Exception:
    from strided.torch7.arguments import object_error

    return object_error(value, 1, name, owner._typename)


def describe_torch(adapters: Adapters) -> Description:
    """The module `torch`."""
    from strided import torch7
    from strided.torch7.serialization import PARTS
    from strided.torch7.types import CLASSES, STORAGES

    getting = {
        "get": adapters.adapt(operator.getitem, "__index"),
        "set": adapters.adapt(operator.setitem, "__newindex"),
    }
    classes = []
    for cls in CLASSES.values():
        operators = TORCH_OPERATORS | {"len": cls.size, "tostring": _torch_text}
        classes.append(_class(cls, cls._typename, adapters, operators, _bad_self, **getting))
    for storage in STORAGES.values():
        operators = {"len": len, "tostring": _torch_text}
        classes.append(_class(storage, storage._typename, adapters, operators, _bad_self, **getting))
    functions = {}
    for name in torch7.__all__:
        value = getattr(torch7, name)
        if name in PYTHON_ONLY or name in ABOUT_LUA or not callable(value):
            continue
        if not isinstance(value, type):
            functions[name] = adapters.adapt(silent(value) if name in SILENT else value, name)
        elif getattr(value, "_typename", "") == f"torch.{name}" and value not in adapters.values.codes:
            shown: dict[str, Callable[..., Any]] = {"tostring": str} if "__repr__" in vars(value) else {}
            named = _named(value, adapters) if hasattr(value, "__setitem__") else {}
            classes.append(_class(value, f"torch.{name}", adapters, shown, calls=True, **named))
    objects = {name: adapters.adapt(getattr(torch7, name), name) for name in UNNAMED}
    objects |= {part.__name__: adapters.adapt(part, part.__name__) for part in PARTS}
    return _bytes({"functions": _bytes(functions), "classes": classes, "objects": _bytes(objects)})


# Lab


def _lab_equal(a: Any, b: Any = None, *_: Any) -> bool:
    return bool(a == b)


def _lab_text(z: Any, *_: Any) -> str:
    """The printed text with its last line end, which Python leaves out."""
    text: str = z._tostring()
    return text


def describe_lab(adapters: Adapters) -> Description:
    """The modules below `dmlab.system`."""
    from strided import dmlab
    from strided.dmlab.tensor import TensorBase

    operators: dict[str, Callable[..., Any]] = {"eq": _lab_equal, "tostring": _lab_text}
    classes = []
    for name in dmlab.__all__:
        cls = getattr(dmlab, name)
        if isinstance(cls, type) and issubclass(cls, TensorBase) and name != "Tensor":
            classes.append(_class(cls, name, adapters, operators | {"call": vars(cls)["__call__"]}))
    random = _class(dmlab.RandomView, "RandomView", adapters, {})
    del random[b"constructor"]
    random[b"methods"][b"seed"] = adapters.adapt(silent(dmlab.RandomView.seed), "seed")
    classes.append(random)
    return _bytes({"classes": classes, "random": adapters.adapt(lambda: dmlab.random, "random")})
