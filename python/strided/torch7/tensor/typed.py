"""The classes of each element type: of tensors, of storages, and the methods that convert to one."""

from __future__ import annotations

from typing import Any

import strided as st
from strided._dialect.classes import make_class
from strided.torch7.tensor.classes import Tensor
from strided.torch7.tensor.rows import Rows
from strided.torch7.tensor.storage import Storage, TextStorage
from strided.torch7.types import CLASSES, ELEMENTS, STORAGES, ElementType

_EXAMPLE = ">>> from strided import torch7 as torch\n>>> torch"


def _typed(base: type[Any], name: str, kind: str, element: ElementType) -> type[Any]:
    """A class of tensors or storages of one element type."""
    example = f"{_EXAMPLE}.{name}({element.numbers}).totable()\n{element.stored}"
    doc = f"A {kind} of {element.elements}.\n\n{example}\n"
    return make_class(base, name, "strided.torch7", doc, _dtype=element.dtype, _typename=f"torch.{name}")


def _conversion(name: str, element: ElementType) -> Any:
    """The method `x.byte()` and its like."""

    def convert(self: Any) -> Any:
        return self._as(element.dtype)

    convert.__name__, convert.__qualname__, convert.__module__ = (
        name.lower(),
        f"Tensor.{name.lower()}",
        "strided.torch7",
    )
    example = f"{_EXAMPLE}.Tensor({element.numbers}).{name.lower()}().totable()\n{element.stored}"
    convert.__doc__ = f"The tensor as `torch.{name}Tensor`.\n\n{example}\n"
    return convert


for _name, _element in ELEMENTS.items():
    _texts = _element.dtype in (st.uint8, st.int8)
    CLASSES[_element.dtype] = _typed(Tensor, f"{_name}Tensor", "tensor", _element)
    STORAGES[_element.dtype] = _typed(TextStorage if _texts else Storage, f"{_name}Storage", "storage", _element)
    setattr(Rows, _name.lower(), _conversion(_name, _element))
globals().update({cls.__name__: cls for cls in (*CLASSES.values(), *STORAGES.values())})
