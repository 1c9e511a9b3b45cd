"""Copies, other types, and what a tensor becomes outside of Torch7."""

# mypy: disable-error-code=no-any-return
# The class of a result depends on a dtype.

from __future__ import annotations

from typing import Any, Self

import strided as st
from strided._dialect.lua import lua_type
from strided.torch7.calls.arguments import is_number, need_method, refuse
from strided.torch7.errors import TorchTypeError
from strided.torch7.session import current
from strided.torch7.tensor.base import TensorMethods
from strided.torch7.tensor.geometry import NO_DIMS, ndim
from strided.torch7.types import CLASSES, DTYPES, class_named, wrap_storage, wrap_tensor


class Conversion(TensorMethods):
    """Methods that return the elements elsewhere, or as something else."""

    __slots__ = ()

    def clone(self) -> Self:
        """A copy with a storage of its own; it is contiguous.

        >>> from strided import torch7 as torch
        >>> x = torch.Tensor([1, 2])
        >>> y = x.clone().zero()
        >>> x.totable()
        [1.0, 2.0]
        """
        core = self._tensor
        return self._with(core.clone() if core.numel() else st.empty(NO_DIMS, dtype=core.dtype))

    def contiguous(self) -> Self:
        """The tensor itself if it is contiguous, otherwise a copy that is.

        >>> from strided import torch7 as torch
        >>> x = torch.Tensor(2, 3)
        >>> x.contiguous() is x, x.t().contiguous().isContiguous()
        (True, True)
        """
        return self if self._tensor.is_contiguous() else self.clone()

    def type(self, name: Any = None) -> Any:
        """The name of the type; or with a name, the tensor as that type: itself if it has the type, else a copy.

        >>> from strided import torch7 as torch
        >>> x = torch.Tensor([3.14, -3.14])
        >>> x.type(), x.type("torch.IntTensor").totable()
        ('torch.DoubleTensor', [3, -3])
        """
        if name is None:
            return self._typename
        if not isinstance(name, (str, bytes)) and not is_number(name):
            text = f"bad argument #1 to 'getmetatable' (string expected, got {lua_type(name)})"
            raise refuse(text, "a type is named by a string", TorchTypeError)
        return self._as(class_named(name)._dtype)

    def typeAs(self, tensor: Any = None) -> Any:
        """The tensor as the type of another tensor.

        >>> from strided import torch7 as torch
        >>> torch.Tensor(2).typeAs(torch.IntTensor()).type()
        'torch.IntTensor'
        """
        need_method(tensor, "type", "tensor")
        return self.type(tensor.type())

    def real(self) -> Any:
        """The tensor as the default type.

        >>> from strided import torch7 as torch
        >>> torch.IntTensor([1]).real().type()
        'torch.DoubleTensor'
        """
        return self._as(DTYPES[current().default_type])

    def _as(self, dtype: st.dtype) -> Any:
        if dtype is self._dtype:
            return self
        core = self._tensor
        return wrap_tensor(core.to(dtype).contiguous() if core.numel() else st.empty(NO_DIMS, dtype=dtype))

    def totable(self) -> list[Any]:
        """The elements as nested lists.

        >>> from strided import torch7 as torch
        >>> torch.IntTensor([[1, 2], [3, 4]]).totable()
        [[1, 2], [3, 4]]
        """
        found: list[Any] = self._tensor.tolist()
        return found

    def strided(self) -> st.Tensor:
        """The tensor of strided underneath, which shares the memory.

        >>> from strided import torch7 as torch
        >>> torch.IntTensor([1, 2]).strided().sum().item()
        3
        """
        return self._tensor

    def numpy(self) -> Any:
        """A NumPy array that shares the memory.

        >>> from strided import torch7 as torch
        >>> torch.IntTensor([1, 2]).numpy().tolist()
        [1, 2]
        """
        return self._tensor.numpy()


def from_strided(tensor: st.Tensor | st.Storage) -> Any:
    """A Torch7 tensor that shares the memory of a tensor of strided; or a storage, for a storage.

    A tensor without dims becomes one of size 1.

    >>> import strided as st
    >>> from strided import torch7 as torch
    >>> x = st.zeros(2, dtype=st.int32)
    >>> torch.from_strided(x).fill(7).type(), x.tolist()
    ('torch.IntTensor', [7, 7])
    """
    if not isinstance(tensor, (st.Tensor, st.Storage)):
        raise TorchTypeError(f"from_strided: a strided.Tensor expected, got {type(tensor).__name__}")
    if tensor.dtype not in CLASSES:
        known = ", ".join(str(dtype) for dtype in CLASSES)
        raise TorchTypeError(f"from_strided: torch7 has no tensors of {tensor.dtype}; it has {known}")
    if isinstance(tensor, st.Storage):
        return wrap_storage(tensor)
    if tensor.dim() == 0:
        tensor = tensor.view(1)
    elif not ndim(tensor) and tuple(tensor.shape) != NO_DIMS:
        tensor = tensor.as_strided(NO_DIMS, (1,), tensor.storage_offset())
    return wrap_tensor(tensor)
