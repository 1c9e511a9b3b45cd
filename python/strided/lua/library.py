"""Describes the front ends to Lua: which functions, classes, methods and operators there are. Nothing is implemented here."""

from __future__ import annotations

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
    [
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
        "set",
        "clone",
        "contiguous",
        "resize",
        "resizeAs",
        "narrow",
        "sub",
        "select",
        "transpose",
        "t",
        "unfold",
        "index",
        "indexCopy",
        "indexAdd",
        "indexFill",
        "maskedSelect",
        "maskedCopy",
        "maskedFill",
        "copy",
        "isContiguous",
        "isSameSizeAs",
        "isSetTo",
        "isSize",
        "apply",
        "map",
        "map2",
    ]
)

#: Operators of Torch7's tensors: the name of the event, and the function. Functions of Python's own modules would not say
#: how many arguments they take.
TORCH_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "mod": lambda a, b: a % b,
    "unm": lambda a: -a,
}


def encoded(table: dict[str, Any]) -> Description:
    """A table with its names as Lua has them."""
    return {name.encode(): value for name, value in table.items()}


class _Class:
    """Describes one class. `refuse` gives the error about a method that is called on something else."""

    #: Names of methods that work on objects of the class only. Lab's methods look for themselves.
    strict: frozenset[str] = frozenset()

    def __init__(self, cls: Any, name: str, adapters: Adapters, refuse: Callable[..., Exception]) -> None:
        self.cls = cls
        self.name = name
        self._adapters = adapters
        self._refuse = refuse

    def adapt(self, function: Callable[..., Any], name: str, strict: bool = False) -> Callable[..., Any]:
        """A method or an operator. A strict one works on objects of this class only."""
        return self._adapters.adapt(function, name, self.cls, self._refuse, strict)

    def methods(self, is_silent: Callable[[str], bool]) -> Description:
        """The public functions of the class."""
        found = {}
        for name in dir(self.cls):
            value = getattr(self.cls, name)
            if name.startswith("_") or name in PYTHON_ONLY or name == "new" or not callable(value):
                continue
            found[name] = self.adapt(silent(value) if is_silent(name) else value, name, name in self.strict)
        return encoded(found)

    def describe(
        self,
        operators: dict[str, Callable[..., Any]],
        is_silent: Callable[[str], bool] = SILENT.__contains__,
        **more: Any,
    ) -> Description:
        """The class, with a new code if it has none. All operators but those of two operands are strict."""
        codes = self._adapters.values.codes
        events = {key: self.adapt(value, f"__{key}", key not in TORCH_OPERATORS) for key, value in operators.items()}
        return encoded(
            {
                "code": codes.setdefault(self.cls, len(codes) + 1),
                "name": self.name.encode(),
                "constructor": self._adapters.adapt(getattr(self.cls, "_for_lua", self.cls), self.name),
                "methods": self.methods(is_silent),
                "operators": encoded(events),
                **more,
            }
        )


# Torch7


def _length(value: Any) -> int:
    return len(value)


def _text(value: Any) -> str:
    return str(value)


def _get(value: Any, key: Any) -> Any:
    return value[key]


def _set(value: Any, key: Any, item: Any) -> None:
    value[key] = item


def _torch_text(value: Any) -> str:
    """The printed text with its last line end, which Python leaves out."""
    return f"{value}\n"


def _item(value: Any, name: Any) -> Any:
    """What a collection such as a test suite has under a name."""
    try:
        return value[name]
    except (AttributeError, KeyError):
        return None


def _bad_self(value: Any, name: str, owner: Any) -> Exception:
    from strided.torch7.calls.arguments import object_error

    return object_error(value, 1, name, owner._typename)


def _torch_class(cls: Any, adapters: Adapters, length: Callable[..., Any]) -> Description:
    """A class of tensors or storages."""
    made = _Class(cls, cls._typename, adapters, _bad_self)
    made.strict = STRICT
    operators = (TORCH_OPERATORS if hasattr(cls, "__add__") else {}) | {"len": length, "tostring": _torch_text}
    get, set = made.adapt(_get, "__index", True), made.adapt(_set, "__newindex", True)
    return made.describe(operators, get=get, set=set)


def _torch_tool(cls: Any, adapters: Adapters) -> Description:
    """Another class, such as the tester. Its methods return nothing where Python returns None."""
    made = _Class(cls, cls._typename, adapters, _bad_self)
    more: dict[str, Any] = {"calls": True}
    parent: str | None = getattr(cls.__base__, "_typename", None)
    if parent is not None:
        more["parent"] = parent.encode()
    if hasattr(cls, "__setitem__"):  # scripts read and set items like fields
        more |= {"named": True, "get": made.adapt(_item, "__index"), "set": made.adapt(cls.__setitem__, "__newindex")}
    shown: dict[str, Callable[..., Any]] = {"tostring": _text} if "__repr__" in vars(cls) else {}
    return made.describe(shown, lambda name: True, **more)


def describe_torch(adapters: Adapters) -> Description:
    """The module `torch`."""
    from strided import torch7
    from strided.torch7.files.serialization import PARTS
    from strided.torch7.types import CLASSES, STORAGES

    classes = [_torch_class(cls, adapters, cls.size) for cls in CLASSES.values()]
    classes += [_torch_class(cls, adapters, _length) for cls in STORAGES.values()]
    functions, tools = {}, []
    for name in torch7.__all__:
        value = getattr(torch7, name)
        if name in PYTHON_ONLY or name in ABOUT_LUA or not callable(value):
            continue
        if not isinstance(value, type):
            functions[name] = adapters.adapt(silent(value) if name in SILENT else value, name)
        elif getattr(value, "_typename", "") == f"torch.{name}" and value not in adapters.values.codes:
            tools.append(value)
    tools.sort(key=lambda cls: len(cls.__mro__))  # a class comes after its parent
    classes += [_torch_tool(cls, adapters) for cls in tools]
    objects = {name: adapters.adapt(getattr(torch7, name), name) for name in UNNAMED}
    objects |= {part.__name__: adapters.adapt(part, part.__name__) for part in PARTS}
    return encoded({"functions": encoded(functions), "classes": classes, "objects": encoded(objects)})


# Lab


def _lab_equal(a: Any, b: Any = None, *_: Any) -> bool:
    return bool(a == b)


def _lab_text(z: Any, *_: Any) -> str:
    """The printed text with its last line end, which Python leaves out."""
    text: str = z._tostring()
    return text


def _wrong_receiver(value: Any, name: str, owner: Any) -> Exception:
    from strided.dmlab._methods import _wrong_receiver

    return _wrong_receiver(owner._type_name, name, value)


def describe_lab(adapters: Adapters) -> Description:
    """The modules below `dmlab.system`."""
    from strided import dmlab
    from strided.dmlab.tensor import TensorBase

    classes = []
    for name in dmlab.__all__:
        cls = getattr(dmlab, name)
        if isinstance(cls, type) and issubclass(cls, TensorBase) and name != "Tensor":
            operators = {"eq": _lab_equal, "tostring": _lab_text, "call": vars(cls)["__call__"]}
            classes.append(_Class(cls, name, adapters, _wrong_receiver).describe(operators, lambda name: False))
    view = _Class(dmlab.RandomView, "RandomView", adapters, _wrong_receiver)
    random = view.describe({}, lambda name: name == "seed")
    del random[b"constructor"]
    classes.append(random)
    return encoded({"classes": classes, "random": adapters.adapt(lambda: dmlab.random, "random")})
