"""`resize` and `set`, which change what a tensor views. Also the arguments of constructors, which are those of `set`."""

from __future__ import annotations

from typing import Any, Self

import strided as st
from strided._dialect.lua import MISSING
from strided.torch7.calls.arguments import integer, is_long_storage, is_number, position, same_type
from strided.torch7.errors import TorchError, TorchTypeError, bad_argument
from strided.torch7.tensor.base import TensorMethods
from strided.torch7.tensor.geometry import NO_DIMS, complete, has_storage, over_storage, resize_to, shape_of
from strided.torch7.types import STORAGES


class Resizing(TensorMethods):
    """Methods that change the sizes or the storage of the tensor itself, and return it."""

    __slots__ = ()

    def resize(self, *sizes: Any) -> Self:
        """Changes the sizes: numbers, or a `LongStorage`. The storage grows if it is too short, and never shrinks.

        >>> from strided import torch7 as torch
        >>> x = torch.range(1, 6)
        >>> x.resize(2, 3) is x, x.totable()
        (True, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        """
        if sizes == self._tensor.shape:
            return self
        found, strides = read_sizes(sizes, 2, "resize", False)
        if strides is None:
            resize_to(self, found)
        else:
            self._tensor = _with_strides(self._tensor, found, strides)
        return self

    def resizeAs(self, tensor: Any = MISSING) -> Self:
        """Changes the sizes to those of another tensor of the same type.

        >>> from strided import torch7 as torch
        >>> torch.Tensor().resizeAs(torch.Tensor(2, 3)).size().totable()
        [2, 3]
        """
        resize_to(self, shape_of(same_type(self, tensor, 2, "resizeAs")))
        return self

    def set(self, *args: Any) -> Self:
        """Views other memory: that of a tensor, or of a storage from an offset, with sizes and strides.

        >>> from strided import torch7 as torch
        >>> s = torch.IntStorage([1, 2, 3, 4])
        >>> torch.IntTensor().set(s, 2, 3).totable(), torch.IntTensor().set(s, 1, 2, 2, 2, 1).totable()
        ([2, 3, 4], [[1, 2], [3, 4]])
        """
        self._tensor = view_from_arguments(type(self), args, 2, "set")
        return self


def _with_strides(core: st.Tensor, sizes: list[int], strides: list[int]) -> st.Tensor:
    shape, complete_strides = complete(sizes, strides)
    if not has_storage(core):
        return over_storage(st.Storage(0, dtype=core.dtype), 0, shape, complete_strides)
    return over_storage(core.storage(), core.storage_offset(), shape, complete_strides)


def view_from_arguments(cls: Any, args: tuple[Any, ...], first: int, name: str | None) -> st.Tensor:
    """The core tensor that the arguments of `set` or of a constructor describe. `first` is the number of the first."""
    dtype = cls._dtype
    if not args:
        return st.empty(NO_DIMS, dtype=dtype)
    source = args[0]
    if type(source) is cls:
        return _view_of(source._tensor)
    if type(source) is STORAGES[dtype]:
        return _over(source._storage, args[1:], first + 1, name)
    if is_long_storage(source) or (is_number(source) and not isinstance(source, str)):
        return _new_memory(dtype, *read_sizes(args, first, name, False))
    text = f"expecting number or {cls._typename} or {cls._typename.replace('Tensor', 'Storage')}"
    raise bad_argument(first, name, text, TorchTypeError)


def _view_of(core: st.Tensor) -> st.Tensor:
    return core.as_strided(core.shape, core.stride(), core.storage_offset())


def _new_memory(dtype: st.dtype, sizes: list[int], strides: list[int] | None) -> st.Tensor:
    """New memory with these sizes."""
    shape, found = complete(sizes, strides)
    if not shape:
        return st.empty(NO_DIMS, dtype=dtype)
    if strides is None:
        return st.zeros(shape, dtype=dtype)
    return over_storage(st.Storage(0, dtype=dtype), 0, shape, found)


def _over(storage: st.Storage, args: tuple[Any, ...], first: int, name: str | None) -> st.Tensor:
    """A view of a storage: of all of it, or from an offset with sizes and strides."""
    if not args:
        return over_storage(storage, 0, (storage.size(),) if storage.size() else (), (1,) if storage.size() else ())
    offset = position(args[0], first, name)
    sizes, strides = read_sizes(args[1:], first + 1, name, True)
    if offset < 0:
        raise TorchError("Tensor: invalid storage offset")
    return over_storage(storage, offset, *complete(sizes, strides))


def read_sizes(
    args: tuple[Any, ...], first: int, name: str | None, with_strides: bool
) -> tuple[list[int], list[int] | None]:
    """Sizes, and strides if there are any: numbers or two `LongStorage`s. Numbers `with_strides` are size, stride, size, …"""
    if args and is_long_storage(args[0]):
        sizes: list[int] = args[0]._storage.tolist()
        if len(args) < 2 or args[1] is None:
            return sizes, None
        if not is_long_storage(args[1]):
            raise bad_argument(first + 1, name, "torch.LongStorage expected", TorchTypeError)
        strides: list[int] = args[1]._storage.tolist()
        if len(strides) != len(sizes):
            raise bad_argument(first + 1, name, "provided stride and size are inconsistent")
        return sizes, strides
    numbers = [integer(value, first + i, name) for i, value in enumerate(args)]
    if not with_strides:
        return numbers, None
    sizes, strides = numbers[::2], numbers[1::2]
    return sizes, strides + [-1] * (len(sizes) - len(strides))
