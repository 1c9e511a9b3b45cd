"""How tensors and storages are pickled and deep-copied.

What is written is memory, and ways of looking at it: a tensor refers to the storage of its bytes (dtype uint8), which
is an object of its own in the pickle. So tensors that share memory share it again, whatever their dtypes. A small view
would drag a large storage along; of that, only the span of the view is taken, and the sharing is given up.

Memory that processes share is written in the same way, except where multiprocessing sends it: see `_processes`.
"""

from __future__ import annotations

import copy
import sys
from pickle import PickleBuffer

from strided._strided import ByteStorage, Storage, Tensor, as_strided, dtype, uint8

TYPE_CHECKING = False  # typing is slow to import; the checker reads this name as True
if TYPE_CHECKING:
    from typing import Any

#: Memory of up to this many bytes is always taken whole.
WHOLE = 1 << 20

#: What the address of an element must at most be a multiple of.
ALIGNMENT = 8


# Taking apart


def reduce_tensor(x: Tensor, protocol: int) -> tuple[Any, ...]:
    """`Tensor.__reduce_ex__`"""
    layout, bytes_each = x.layout, x.element_size()
    memory: Any = x.storage().view(uint8)
    offset = layout.offset
    if memory.nbytes > WHOLE and 2 * layout.span * bytes_each < memory.nbytes:
        low, high = layout.bounds or (offset, offset - 1)
        memory = _part(memory, low * bytes_each, (high + 1) * bytes_each)
        offset -= low
    parts = (type(x), memory, x.dtype, tuple(x.shape), x.stride(), offset)
    state = x.__getstate__()  # what a subclass keeps besides
    return (load_tensor, parts) if state is None else (load_tensor, parts, state)


def reduce_storage(s: Storage, protocol: int) -> tuple[Any, ...]:
    """`Storage.__reduce_ex__`"""
    if s.dtype is not uint8:
        return load_storage, (s.view(uint8), s.dtype)
    if s.is_shared():
        return load_storage, (_part(s, 0, s.nbytes), uint8)
    return _reduce_bytes(memoryview(s), protocol)


class _Part:
    """A part of a storage of bytes, which is pickled as a storage."""

    def __init__(self, memory: Storage, start: int, stop: int) -> None:
        self.memory, self.start, self.stop = memory, start, stop

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _reduce_bytes(memoryview(self.memory)[self.start : self.stop], protocol)


class SharedPart(_Part):
    """The same of memory that processes share. It is a class of its own because picklers have rules by class."""


def _part(memory: Storage, start: int, stop: int) -> _Part:
    return (SharedPart if memory.is_shared() else _Part)(memory, start, stop)


def _reduce_bytes(memory: memoryview, protocol: int) -> tuple[Any, ...]:
    content = PickleBuffer(memory) if protocol >= 5 else memory.tobytes()
    return load_bytes, (content, memory.readonly or protocol < 5, sys.byteorder)


# Putting together: these names are written into pickles


def load_bytes(content: Any, as_bytes: bool, byteorder: str) -> Storage:
    """A storage of bytes: a copy of what was in the pickle, or on the memory that was passed beside it.

    In the pickle itself there is a `bytes` object if `as_bytes`, else a `bytearray`. A buffer beside the pickle that is
    of that same class cannot be told from it, and is copied too; anything else is shared.
    """
    if byteorder != sys.byteorder:
        raise ValueError(f"pickle: written on a {byteorder}-endian machine, and this one is {sys.byteorder}-endian")
    storage = ByteStorage(PickleBuffer(content).raw())
    in_band = type(content) is (bytes if as_bytes else bytearray)
    return storage.clone() if in_band or storage.data_ptr() % ALIGNMENT else storage


def load_storage(memory: Storage, type_: dtype) -> Storage:
    return memory.view(type_)


def load_tensor(
    cls: type[Tensor], memory: Any, type_: dtype, shape: tuple[int, ...], stride: tuple[int, ...], offset: int
) -> Tensor:
    if isinstance(memory, tuple):  # a part, which came with the whole
        memory, start = memory
        offset += start // type_.itemsize
    x = as_strided(memory.view(type_), shape, stride, offset)
    return x if cls is Tensor else Tensor.__new__(cls, x, dtype=type_)


# Deep copies: `copy.deepcopy` notes in the memo what it has copied, and keeps that alive


def deepcopy_tensor(x: Tensor, memo: dict[int, Any]) -> Tensor:
    """`Tensor.__deepcopy__`"""
    memory = copy.deepcopy(x.storage().view(uint8), memo)
    layout = x.layout
    made = load_tensor(type(x), memory, x.dtype, layout.shape, layout.stride, layout.offset)
    state = x.__getstate__()
    if state is not None:
        memo[id(x)] = made  # the state may refer to the tensor
        _set_state(made, copy.deepcopy(state, memo))
    return made


def deepcopy_storage(s: Storage, memo: dict[int, Any]) -> Storage:
    """`Storage.__deepcopy__`"""
    return s.clone() if s.dtype is uint8 else copy.deepcopy(s.view(uint8), memo).view(s.dtype)


def _set_state(x: Tensor, state: Any) -> None:
    """Gives a tensor of a subclass the attributes that `__getstate__` found, as pickle does."""
    if hasattr(x, "__setstate__"):
        x.__setstate__(state)
        return
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    for name, value in {**(attributes or {}), **(slots or {})}.items():
        setattr(x, name, value)
