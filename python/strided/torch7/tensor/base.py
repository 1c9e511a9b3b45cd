"""The bases of the classes: what tensors and storages have in common, and of the mixins with the methods of tensors."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import strided as st
from strided._dialect.classes import Bridges
from strided.torch7.errors import TorchError
from strided.torch7.tensor import pointers

_new: Any = object.__new__


class TorchObject:
    """What tensors and storages have in common: an element type, and references that a program may count by hand."""

    __slots__ = ("__weakref__", "_retained")
    #: The dtype of the elements, and the name of the class in Torch7. `Tensor` and `Storage` themselves have neither.
    _dtype: ClassVar[st.dtype]
    _typename: ClassVar[str]
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

    @classmethod
    def new(cls, *args: Any) -> Self:
        """A new object of the same type, from the arguments of the class.

        >>> from strided import torch7 as torch
        >>> torch.IntTensor().new([1, 2]).type(), torch.IntStorage().new([1, 2]).type()
        ('torch.IntTensor', 'torch.IntStorage')
        """
        return cls(*args)

    def elementSize(self) -> int:
        """Bytes per element.

        >>> from strided import torch7 as torch
        >>> torch.FloatTensor().elementSize(), torch.IntStorage().elementSize()
        (4, 4)
        """
        return self._dtype.itemsize

    def data(self, asnumber: bool = False) -> Any:
        """A pointer of ctypes to the first element, or with `asnumber` its address. None if a tensor has no storage.

        The pointer is indexed from 0, and knows nothing of strides: it is for contiguous tensors.

        >>> from strided import torch7 as torch
        >>> x = torch.IntTensor([5, 6])
        >>> x.data()[1] = 7
        >>> x.totable()
        [5, 7]
        """
        return pointers.address_of(self, asnumber)

    def cdata(self, asnumber: bool = False) -> Any:
        """A copy of the C structure of the object for ctypes, or with `asnumber` the address of that copy.

        >>> from strided import torch7 as torch
        >>> c = torch.Tensor(2, 3).cdata().contents
        >>> c.nDimension, c.size[1], c.stride[0], torch.IntStorage([5, 6]).cdata().contents.size
        (2, 3, 3, 2)
        """
        return pointers.mirror_of(self, asnumber)


class TensorMethods(TorchObject, Bridges):
    """Holds a tensor of the core. Methods that change the layout of a Torch7 tensor replace it."""

    __slots__ = ("_tensor",)
    _tensor: st.Tensor

    def _with(self, core: st.Tensor) -> Self:
        """A tensor of the same class that holds another tensor of the core."""
        x: Self = _new(type(self))
        x._tensor = core
        return x
