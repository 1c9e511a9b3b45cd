"""The tensor classes: `Tensor`, and one subclass for each element type.

A tensor holds a tensor of the core in `_tensor`. Operations that change the layout of a Torch7 tensor, such as `resize`
and `set`, replace that core tensor or change it in place. A tensor without dims, which has no elements in Torch7, is a
core tensor of shape (0,).
"""

from __future__ import annotations

import strided as st
from strided.torch7.session import current
from strided.torch7.types import CLASSES, DTYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Tensor:
    """A view of a storage. `Tensor(...)` makes one of the default type; `isinstance` is true for every type."""

    __slots__ = ("__weakref__", "_tensor")
    _tensor: st.Tensor
    #: The dtype of a class; absent from `Tensor` itself.
    _dtype: st.dtype

    def __new__(cls, *args: Any) -> Tensor:
        if cls is Tensor:
            cls = CLASSES[DTYPES[current().default_type]]
        self = object.__new__(cls)
        self._tensor = st.empty(*args, dtype=cls._dtype) if args else st.empty(0, dtype=cls._dtype)
        return self


#: The same class, under the name that other modules of the front end use.
TensorBase = Tensor


def _make_classes() -> None:
    for name, dtype in DTYPES.items():
        content = {"__slots__": (), "__module__": "strided.torch7", "_dtype": dtype}
        CLASSES[dtype] = type(f"{name}Tensor", (Tensor,), content)


_make_classes()


def resize_to(x: Tensor, shape: tuple[int, ...]) -> None:
    """Resizes in place, as Torch7 resizes the result of an operation: nothing changes if the sizes are the same."""
    if x._tensor.shape != (shape or (0,)):
        x._tensor.resize_(shape or (0,))
