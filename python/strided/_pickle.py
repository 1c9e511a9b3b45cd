"""Pickling and deep copies of tensors and storages.

A pickle contains memory and views of it. A tensor refers to the storage of its bytes (dtype uint8), which is a separate
object in the pickle, so that tensors which share memory share it again after loading, whatever their dtypes. A small view
of a large storage is the exception: only the span of the view is written, and sharing is lost.

Shared memory is written in the same way, except by multiprocessing, which sends a handle: see `_processes`.

Memory of a GPU is copied to the CPU, and written together with the device. Loading copies it to that device again, and is a
DeviceError where there is none.
"""

from __future__ import annotations

import copy
import sys
from pickle import PickleBuffer

from strided._strided import (
    ByteStorage,
    DeviceError,
    OutOfMemoryError,
    Storage,
    Tensor,
    as_strided,
    dtype,
    uint8,
)

TYPE_CHECKING = False  # typing is slow to import; the checker reads this name as True
if TYPE_CHECKING:
    from typing import Any

#: Storages of up to this many bytes are always written in full.
MAX_WHOLE_BYTES = 1 << 20

#: The largest alignment, in bytes, that an element needs.
ALIGNMENT = 8


# Pickling


def reduce_tensor(x: Tensor, protocol: int) -> tuple[Any, ...]:
    """Implements `Tensor.__reduce_ex__`."""
    layout, bytes_each = x.layout, x.element_size()
    memory: Any = x.storage().view(uint8)
    offset = layout.offset
    if memory.nbytes > MAX_WHOLE_BYTES and 2 * layout.span * bytes_each < memory.nbytes:
        low, high = layout.bounds or (offset, offset - 1)
        start, stop = low * bytes_each, (high + 1) * bytes_each
        if x.is_cpu:
            memory = _part(memory, start, stop)
        else:
            memory = as_strided(memory, (stop - start,), (1,), start).clone().storage()
        offset -= low
    parts = (type(x), memory, x.dtype, tuple(x.shape), x.stride(), offset)
    state = x.__getstate__()  # the attributes of a subclass
    return (load_tensor, parts) if state is None else (load_tensor, parts, state)


def reduce_storage(s: Storage, protocol: int) -> tuple[Any, ...]:
    """Implements `Storage.__reduce_ex__`."""
    if s.dtype is not uint8:
        return load_storage, (s.view(uint8), s.dtype)
    if s.is_gpu:
        return load_on_device, (s.cpu(), str(s.device))
    if s.is_shared():
        return load_storage, (_part(s, 0, s.nbytes), uint8)
    return _reduce_bytes(memoryview(s), protocol)


class _Part:
    """A range of a storage of bytes, which is pickled as a storage."""

    def __init__(self, memory: Storage, start: int, stop: int) -> None:
        self.memory, self.start, self.stop = memory, start, stop

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _reduce_bytes(memoryview(self.memory)[self.start : self.stop], protocol)


class SharedPart(_Part):
    """A range of shared memory. It is a separate class because picklers dispatch on the class."""


def _part(memory: Storage, start: int, stop: int) -> _Part:
    return (SharedPart if memory.is_shared() else _Part)(memory, start, stop)


def _reduce_bytes(memory: memoryview, protocol: int) -> tuple[Any, ...]:
    content = PickleBuffer(memory) if protocol >= 5 else memory.tobytes()
    return load_bytes, (content, memory.readonly or protocol < 5, sys.byteorder)


# Loading: the names of these functions are written into pickles, and must not change


def load_bytes(content: Any, as_bytes: bool, byteorder: str) -> Storage:
    """Returns a storage of bytes: a copy of an in-band buffer, or a view of an out-of-band one.

    An in-band buffer is loaded as `bytes` if `as_bytes`, otherwise as a `bytearray`. An out-of-band buffer of the same
    class cannot be distinguished from it and is copied too; any other buffer is shared.
    """
    if byteorder != sys.byteorder:
        raise ValueError(f"pickle: written on a {byteorder}-endian machine, and this one is {sys.byteorder}-endian")
    storage = ByteStorage(PickleBuffer(content).raw())
    in_band = type(content) is (bytes if as_bytes else bytearray)
    return storage.clone() if in_band or storage.data_ptr() % ALIGNMENT else storage


def load_storage(memory: Storage, type_: dtype) -> Storage:
    return memory.view(type_)


def load_on_device(memory: Storage, place: str) -> Storage:
    try:
        return memory.to(device=place)
    except OutOfMemoryError:
        raise
    except DeviceError as error:
        reason = str(error).removeprefix("to: ")
        advice = "pickle x.cpu(), or use strided.save and strided.load, which has map_location"
        raise DeviceError(f"pickle: the storage was on {place}: {reason}; {advice}") from None


def load_tensor(
    cls: type[Tensor], memory: Any, type_: dtype, shape: tuple[int, ...], stride: tuple[int, ...], offset: int
) -> Tensor:
    if isinstance(memory, tuple):  # a range, sent as the whole storage and a start
        memory, start = memory
        offset += start // type_.itemsize
    x = as_strided(memory.view(type_), shape, stride, offset)
    return x if cls is Tensor else Tensor.__new__(cls, x, dtype=type_)


# Deep copies: `copy.deepcopy` records copies in the memo, which keeps them alive


def deepcopy_tensor(x: Tensor, memo: dict[int, Any]) -> Tensor:
    """Implements `Tensor.__deepcopy__`."""
    memory = copy.deepcopy(x.storage().view(uint8), memo)
    layout = x.layout
    made = load_tensor(type(x), memory, x.dtype, layout.shape, layout.stride, layout.offset)
    state = x.__getstate__()
    if state is not None:
        memo[id(x)] = made  # the state may refer to the tensor
        _set_state(made, copy.deepcopy(state, memo))
    return made


def deepcopy_storage(s: Storage, memo: dict[int, Any]) -> Storage:
    """Implements `Storage.__deepcopy__`."""
    return s.clone() if s.dtype is uint8 else copy.deepcopy(s.view(uint8), memo).view(s.dtype)


def _set_state(x: Tensor, state: Any) -> None:
    """Sets the attributes of a subclass that `__getstate__` returned, as pickle does."""
    if hasattr(x, "__setstate__"):
        x.__setstate__(state)
        return
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    for name, value in {**(attributes or {}), **(slots or {})}.items():
        setattr(x, name, value)
