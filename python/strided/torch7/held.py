"""What tensors and storages have in common, and what every tensor class has: a tensor of the core."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import strided as st
from strided.torch7.errors import TorchError

_new: Any = object.__new__


class Counted:
    """Objects whose references a program may count by hand, as in Torch7."""

    __slots__ = ("__weakref__", "_retained")
    #: How often `retain` was called. Absent until then.
    _retained: int

    def retain(self) -> None:
        """Adds a reference by hand. Python's own count keeps the object alive in any case.

        >>> from strided import torch7 as torch
        >>> x = torch.Tensor(2)
        >>> x.retain()
        >>> x.free()
        """
        self._retained = getattr(self, "_retained", 0) + 1

    def free(self) -> None:
        """Takes back one `retain`. Without one it is an error: the object is still in use.

        >>> from strided import torch7 as torch
        >>> torch.Tensor(2).free()
        Traceback (most recent call last):
        strided.torch7.TorchError: free: there was no retain() that this could take back
        """
        if getattr(self, "_retained", 0) <= 0:
            raise TorchError("free: there was no retain() that this could take back")
        self._retained -= 1


class Held(Counted):
    """Holds a tensor of the core. Methods that change the layout of a Torch7 tensor replace it."""

    __slots__ = ("_tensor",)
    _tensor: st.Tensor
    #: The dtype of the elements, and the name of the class in Torch7. `Tensor` itself has neither.
    _dtype: ClassVar[st.dtype]
    _typename: ClassVar[str]

    def _with(self, core: st.Tensor) -> Self:
        """A tensor of the same class that holds another tensor of the core."""
        x: Self = _new(type(self))
        x._tensor = core
        return x
