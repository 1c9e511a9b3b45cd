"""Memory by its address: pointers of ctypes, foreign memory, and mapped files."""

from __future__ import annotations

import ctypes
import os
from typing import Any
from weakref import WeakKeyDictionary

import strided as st
from strided.torch7.calls.arguments import integer, is_number, type_error
from strided.torch7.errors import TorchError, TorchTypeError, bad_argument
from strided.torch7.session import current
from strided.torch7.tensor.geometry import has_storage, ndim

#: The C type of an element. ctypes has no half: it is read as its 16 bits.
C_TYPES: dict[st.dtype, Any] = {
    st.uint8: ctypes.c_uint8,
    st.int8: ctypes.c_int8,
    st.int16: ctypes.c_int16,
    st.int32: ctypes.c_int32,
    st.int64: ctypes.c_int64,
    st.float16: ctypes.c_uint16,
    st.float32: ctypes.c_float,
    st.float64: ctypes.c_double,
}


def address_of(x: Any, asnumber: bool) -> Any:
    """The address of the first element as a number, or as a pointer of ctypes that keeps the memory alive."""
    core = getattr(x, "_tensor", None)
    if core is not None and not has_storage(core):
        return None
    storage = x._storage if core is None else core.storage()
    address: int = (storage if core is None else core).data_ptr()
    if asnumber:
        return address
    pointer = ctypes.cast(address, ctypes.POINTER(C_TYPES[x._dtype]))
    pointer.owner = storage
    return pointer


def foreign_storage(dtype: st.dtype, size: int, pointer: Any) -> st.Storage:
    """A storage over memory of someone else, who must keep it alive: this is as unsafe as it is in Torch7.

    The address is an int or a pointer of ctypes; a pointer keeps what it refers to alive, as ctypes does.
    """
    if not current().foreign_memory:
        raise TorchError("storages over raw addresses are not available in a sandbox")
    if size < 0:
        raise TorchError("$ Torch: invalid memory size -- maybe an overflow?")
    if isinstance(pointer, (ctypes._Pointer, ctypes.Array, ctypes.c_void_p)):
        address = ctypes.cast(pointer, ctypes.c_void_p).value or 0
    elif is_number(pointer):
        address = integer(pointer, 2, None)
    else:
        raise type_error(pointer, 2, None, "number")
    if address <= 0 or address % dtype.itemsize:
        raise bad_argument(2, None, f"address {address} is no place for elements of {dtype.itemsize} bytes")
    if size == 0:
        return st.Storage(0, dtype=dtype)
    array = (C_TYPES[dtype] * size).from_address(address)
    array.owner = pointer
    return st.Storage(memoryview(array).cast("B"), dtype=st.uint8).view(dtype)


def mapped_storage(dtype: st.dtype, name: Any, shared: Any = None, size: Any = None, *_: Any) -> st.Storage:
    """A storage that is a mapped file. A shared one writes to the file, which is made and grows if a size is given."""
    if shared is not None and not isinstance(shared, bool):
        raise bad_argument(2, None, "boolean expected, got userdata", TorchTypeError)
    count = 0 if size is None else max(integer(size, 3, None), 0)
    path, writes = os.fsdecode(name), bool(shared)
    extends = writes and count > 0
    place = path
    try:
        place = current().resolve(path)
        return st.Storage.from_file(place, writes, count, dtype=dtype, create=extends, grow=extends)
    except OSError as error:
        raise TorchError(f"unable to open file <{path}> in {'read-write' if writes else 'read-only'} mode") from error
    except st.StorageError:
        needed = count * dtype.itemsize
        if os.path.isfile(place) and os.path.getsize(place) < needed:
            text = f"file <{path}> size is smaller than the required mapping size <{needed}>"
            raise TorchError(text) from None
        raise


class CStorage(ctypes.Structure):
    """`THStorage` of Torch7."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_ssize_t),
        ("refcount", ctypes.c_int),
        ("flag", ctypes.c_char),
        ("allocator", ctypes.c_void_p),
        ("allocatorContext", ctypes.c_void_p),
    ]


class CTensor(ctypes.Structure):
    """`THTensor` of Torch7."""

    _fields_ = [
        ("size", ctypes.POINTER(ctypes.c_long)),
        ("stride", ctypes.POINTER(ctypes.c_long)),
        ("nDimension", ctypes.c_int),
        ("storage", ctypes.POINTER(CStorage)),
        ("storageOffset", ctypes.c_ssize_t),
        ("refcount", ctypes.c_int),
        ("flag", ctypes.c_char),
    ]


#: The structures that were handed out, as long as the objects that they describe live.
_MIRRORS: WeakKeyDictionary[Any, ctypes.Structure] = WeakKeyDictionary()


def mirror_of(x: Any, asnumber: bool) -> Any:
    """A pointer to a C structure that describes a tensor or a storage as it is now, or its address."""
    mirror = _tensor_mirror(x._tensor) if hasattr(x, "_tensor") else _storage_mirror(x._storage)
    _MIRRORS[x] = mirror
    return ctypes.addressof(mirror) if asnumber else ctypes.pointer(mirror)


def _storage_mirror(storage: st.Storage) -> CStorage:
    return CStorage(data=storage.data_ptr(), size=storage.size(), refcount=1, flag=b"\x01")


def _tensor_mirror(core: st.Tensor) -> CTensor:
    rank = ndim(core)
    longs = ctypes.c_long * max(rank, 1)
    mirror = CTensor(nDimension=rank, storageOffset=core.storage_offset(), refcount=1, flag=b"\x01")
    mirror.size, mirror.stride = longs(*core.shape), longs(*core.stride())
    if has_storage(core):
        mirror.storage = ctypes.pointer(_storage_mirror(core.storage()))
    return mirror
