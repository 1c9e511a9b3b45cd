"""Storages: flat sequences of numbers, which are the memory of tensors. Their elements count from 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import strided as st
from strided._dialect.lua import MISSING
from strided.torch7.calls.arguments import (
    counted,
    integer,
    is_number,
    number_of,
    object_error,
    position,
    refuse,
    torch_type,
    type_error,
)
from strided.torch7.calls.elements import element, tensor_of_numbers
from strided.torch7.errors import TorchError, TorchTypeError, bad_argument, out_of_range
from strided.torch7.session import current
from strided.torch7.tensor.base import TorchObject
from strided.torch7.tensor.conversion import from_strided
from strided.torch7.tensor.display import storage_text
from strided.torch7.tensor.geometry import grow
from strided.torch7.tensor.pointers import foreign_storage, mapped_storage
from strided.torch7.types import DTYPES, STORAGES, wrap_storage


class Storage(TorchObject):
    """A flat sequence of numbers of one type, which is the memory of tensors.

    `Storage(...)` makes a storage of the default type; `isinstance(s, Storage)` holds for all types.

    >>> from strided import torch7 as torch
    >>> s = torch.IntStorage([1, 2, 3])
    >>> s[1] = 7
    >>> s
     7
     2
     3
    [torch.IntStorage of size 3]
    """

    __slots__ = ("_storage",)
    _storage: st.Storage

    def __new__(cls, *args: Any) -> Storage:
        if cls is Storage:
            cls = STORAGES[DTYPES[current().default_type]]
        self = object.__new__(cls)
        self._storage = _make(cls, args)
        return self

    def size(self) -> int:
        """The number of elements.

        >>> from strided import torch7 as torch
        >>> torch.IntStorage([1, 2, 3]).size()
        3
        """
        return self._storage.size()

    def fill(self, value: float = MISSING) -> Storage:
        """Sets every element, and returns the storage.

        >>> from strided import torch7 as torch
        >>> torch.IntStorage(2).fill(7).totable()
        [7, 7]
        """
        self._storage.fill_(element(value, self._dtype, 2, "fill"))
        return self

    def copy(self, source: Storage = MISSING) -> Storage:
        """Writes the elements of a storage of any type, and returns this one.

        >>> from strided import torch7 as torch
        >>> torch.DoubleStorage(3).copy(torch.IntStorage([1, 2, 3])).totable()
        [1.0, 2.0, 3.0]
        """
        if not isinstance(source, Storage):
            raise type_error(source, 2, "copy", "torch.*Storage")
        mine, theirs = self._storage, source._storage
        exact = type(self) is type(source) or st.float16 in (mine.dtype, theirs.dtype)
        if theirs.size() < mine.size() or (exact and theirs.size() != mine.size()):
            # Torch7 reads past the end of a shorter source of another type.
            raise bad_argument(2, "copy", "size mismatch")
        st.as_strided(mine, (mine.size(),), (1,)).copy_(st.as_strided(theirs, (mine.size(),), (1,)))
        return self

    def resize(self, size: int = MISSING) -> Storage:
        """Changes the number of elements, and returns the storage. Elements that are added have any value.

        >>> from strided import torch7 as torch
        >>> torch.IntStorage([1, 2, 3]).resize(2).totable()
        [1, 2]
        """
        grow(self._storage, _length(integer(size, 2, "resize")))
        return self

    def totable(self) -> list[int | float]:
        """The elements as a list.

        >>> from strided import torch7 as torch
        >>> torch.IntStorage([1, 2, 3]).totable()
        [1, 2, 3]
        """
        return self._storage.tolist()

    def type(self, name: str | None = None) -> str | Storage:
        """The name of the type, or with a name the storage as that type: itself if it has the type, else a copy.

        >>> from strided import torch7 as torch
        >>> torch.IntStorage(2).type()
        'torch.IntStorage'
        """
        if name is None:
            return self._typename
        if name == self._typename:
            return self
        cls = next((cls for cls in STORAGES.values() if cls._typename == name), None)
        if cls is None:
            raise refuse("attempt to index a nil value", f"there is no type {name!r}", TorchTypeError)
        converted: Storage = wrap_storage(self._storage.to(cls._dtype))
        return converted

    # Python

    def __len__(self) -> int:
        return self._storage.size()

    def __getitem__(self, index: int) -> Any:
        if type(index) is not int and not is_number(index) and current().lua:
            return None
        return self._storage[_place(self, index)]

    def __setitem__(self, index: int, value: float) -> None:
        place = _place(self, index)
        self._storage[place] = element(value, self._dtype, 3, None)

    def __iter__(self) -> Iterator[int | float]:
        return iter(self._storage)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Storage) and self._storage is other._storage

    def __hash__(self) -> int:
        return hash(id(self._storage))

    def __str__(self) -> str:
        return storage_text(self._storage, self._typename)[:-1]

    __repr__ = __str__

    def __reduce__(self) -> tuple[Any, ...]:
        return from_strided, (self._storage,)

    def strided(self) -> st.Storage:
        """The storage of strided underneath, which shares the memory.

        >>> from strided import torch7 as torch
        >>> torch.IntStorage([1, 2]).strided().tolist()
        [1, 2]
        """
        return self._storage


class TextStorage(Storage):
    """What storages of bytes have in addition."""

    __slots__ = ()

    def string(self, text: str | bytes | float | None = None) -> Any:
        """The elements as a string; or with a string, resizes the storage to its characters, and returns the storage.

        A character is a byte: `str` is encoded in Latin-1. In Lua, strings are bytes in any case.

        >>> from strided import torch7 as torch
        >>> torch.CharStorage(5).string("hello").string()
        'hello'
        """
        bytes_ = self._storage.view(st.uint8)
        in_lua = current().lua  # where a string is bytes, and one that is UTF-8 arrives as `str`
        if isinstance(text, (int, float)) and not isinstance(text, bool):  # Lua turns a number into a string
            text = f"{text:.14g}"
        if not isinstance(text, (str, bytes)):
            content = bytes(memoryview(bytes_))
            return content if in_lua else content.decode("latin-1")
        content = text if isinstance(text, bytes) else text.encode("utf-8" if in_lua else "latin-1")
        grow(self._storage, len(content))
        self._storage.view(st.uint8).copy_(list(content))
        return self


def _place(self: Storage, index: Any) -> int:
    if not is_number(index):
        raise refuse(f"the class {self._typename} cannot be indexed", "write s[i] with an int from 1", TorchTypeError)
    place = position(index, 2, None)
    if not 0 <= place < self._storage.size():
        raise out_of_range(2, None, counted(place), "out of bounds")
    return place


def _length(size: int) -> int:
    if size < 0:
        raise TorchError("$ Torch: invalid memory size -- maybe an overflow?")
    return size


# The constructor


def _make(cls: type[Storage], args: tuple[Any, ...]) -> st.Storage:
    """A storage of the core from the arguments of a constructor."""
    first = args[0] if args else None
    dtype = cls._dtype
    if isinstance(first, (str, bytes)):
        return mapped_storage(dtype, *args)
    if isinstance(first, (list, tuple)):
        return _from_list(first, dtype)
    if torch_type(first):
        return _part(cls, *args[:3])
    if len(args) > 1 and args[1] is not None:
        return foreign_storage(dtype, integer(first, 1, None), args[1])
    return st.Storage(_length(0 if first is None else integer(first, 1, None)), dtype=dtype)


def _from_list(values: Any, dtype: st.dtype) -> st.Storage:
    wrong = next((i for i, value in enumerate(values) if not is_number(value)), None)
    if wrong is not None:
        raise refuse(f"element at index {counted(wrong)} is not a number", kind=TorchTypeError)
    if not values:
        return st.Storage(0, dtype=dtype)
    return tensor_of_numbers([number_of(value) for value in values], dtype).storage()


def _part(cls: type[Storage], source: Any, offset: Any = None, size: Any = None) -> st.Storage:
    """A range of another storage, which shares its memory."""
    if type(source) is not cls:
        raise object_error(source, 1, None, cls._typename)
    base: st.Storage = source._storage
    start = 0 if offset is None else position(offset, 2, None)
    if not 0 <= start < base.size():
        raise TorchError("offset out of bounds")
    length = base.size() - start if size is None else integer(size, 3, None)
    if not 1 <= length <= base.size() - start:
        raise TorchError("size out of bounds")
    return st.Storage(memoryview(base)[start : start + length], dtype=cls._dtype)
