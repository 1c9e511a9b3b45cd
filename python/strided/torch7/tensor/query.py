"""What can be asked about a tensor: sizes, strides, storage."""

from __future__ import annotations

from typing import Any, overload

import strided as st
from strided._dialect.classes import alias
from strided._dialect.lua import MISSING
from strided.torch7.calls.arguments import counted, is_long_storage, is_number, object_error, position, same_type
from strided.torch7.errors import out_of_range
from strided.torch7.tensor.base import TensorMethods
from strided.torch7.tensor.geometry import has_storage, ndim, shape_of
from strided.torch7.types import wrap_storage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from strided.torch7.tensor.typed import LongStorage


class Query(TensorMethods):
    """Methods that tell about a tensor and change nothing."""

    __slots__ = ()

    def dim(self) -> int:
        """The number of dims; a tensor without elements has none.

        >>> from strided import torch7 as torch
        >>> torch.Tensor(4, 5).dim(), torch.Tensor().dim()
        (2, 0)
        """
        core = self._tensor
        return core.dim() if core.numel() else 0

    nDimension = alias("nDimension", dim)

    @overload
    def size(self, dim: None = None) -> LongStorage: ...
    @overload
    def size(self, dim: int) -> int: ...
    def size(self, dim: int | None = None) -> int | LongStorage:
        """The size of a dim, or all sizes as a `LongStorage`.

        >>> from strided import torch7 as torch
        >>> x = torch.Tensor(4, 5)
        >>> x.size(2), x.size().totable()
        (5, [4, 5])
        """
        if dim is None or not is_number(dim):
            return _longs(list(shape_of(self._tensor)))
        return self._tensor.size(self._known_dim(dim, "size"))

    @overload
    def stride(self, dim: None = None) -> LongStorage: ...
    @overload
    def stride(self, dim: int) -> int: ...
    def stride(self, dim: int | None = None) -> int | LongStorage:
        """The distance in the storage between neighbours along a dim, or of all dims as a `LongStorage`.

        >>> from strided import torch7 as torch
        >>> x = torch.Tensor(4, 5)
        >>> x.stride(1), x.stride().totable()
        (5, [5, 1])
        """
        if dim is None or not is_number(dim):
            core = self._tensor
            return _longs(list(core.stride()) if core.numel() else [])
        return self._tensor.stride(self._known_dim(dim, "stride"))

    def _known_dim(self, dim: Any, name: str) -> int:
        place = position(dim, 2, name)
        rank = ndim(self._tensor)
        if not 0 <= place < rank:
            given = counted(place)
            raise out_of_range(2, name, given, f"dimension {given} out of range of {rank}D tensor")
        return place

    def nElement(self) -> int:
        """The number of elements.

        >>> from strided import torch7 as torch
        >>> torch.Tensor(4, 5).nElement()
        20
        """
        return self._tensor.numel()

    def storage(self) -> Any:
        """The storage, or None if there is none: `Tensor()` has none.

        >>> from strided import torch7 as torch
        >>> x = torch.IntTensor([5, 6])
        >>> x.storage()[2], torch.Tensor().storage()
        (6, None)
        """
        core = self._tensor
        return wrap_storage(core.storage()) if has_storage(core) else None

    def storageOffset(self) -> int:
        """The place of the first element in the storage, from 1.

        >>> from strided import torch7 as torch
        >>> torch.Tensor(4, 5)[2].storageOffset()
        6
        """
        return counted(self._tensor.storage_offset())

    def isContiguous(self) -> bool:
        """Whether the elements are adjacent in the storage, in row-major order.

        >>> from strided import torch7 as torch
        >>> x = torch.Tensor(4, 5)
        >>> x.isContiguous(), x.t().isContiguous()
        (True, False)
        """
        return self._tensor.is_contiguous()

    def isSize(self, sizes: Any = MISSING) -> bool:
        """Whether the sizes are those in a `LongStorage`.

        >>> from strided import torch7 as torch
        >>> torch.Tensor(4, 5).isSize(torch.LongStorage([4, 5]))
        True
        """
        if not is_long_storage(sizes):
            raise object_error(sizes, 2, "isSize", "torch.LongStorage")
        return shape_of(self._tensor) == tuple(sizes._storage.tolist())

    def isSameSizeAs(self, tensor: Any = MISSING) -> bool:
        """Whether the sizes are those of another tensor of the same type.

        >>> from strided import torch7 as torch
        >>> torch.Tensor(4, 5).isSameSizeAs(torch.Tensor(5, 4))
        False
        """
        return shape_of(self._tensor) == shape_of(same_type(self, tensor, 2, "isSameSizeAs"))

    def isSetTo(self, tensor: Any = MISSING) -> bool:
        """Whether another tensor of the same type has the same storage, offset, sizes and strides.

        >>> from strided import torch7 as torch
        >>> x = torch.Tensor(4, 5)
        >>> torch.Tensor().set(x).isSetTo(x), x.clone().isSetTo(x)
        (True, False)
        """
        mine, theirs = self._tensor, same_type(self, tensor, 2, "isSetTo")
        if not has_storage(mine) or mine.storage() is not theirs.storage():
            return False
        if mine.storage_offset() != theirs.storage_offset() or shape_of(mine) != shape_of(theirs):
            return False
        return not mine.numel() or mine.stride() == theirs.stride()

    def isTensor(self) -> bool:
        """Whether an object is a tensor: this one is. `Tensor.isTensor(object)` asks about any object.

        >>> from strided import torch7 as torch
        >>> torch.Tensor().isTensor(), torch.Tensor.isTensor(3)
        (True, False)
        """
        return isinstance(self, Query)


def _longs(values: list[int]) -> LongStorage:
    storage: Any = wrap_storage(st.tensor(values, dtype=st.int64).storage())
    found: LongStorage = storage
    return found
