"""Whole objects in .t7 files and in strings: `torch.save`, `torch.load`, `torch.serialize`; and their parts, for Lua."""

from __future__ import annotations

import os
from typing import Any

import strided as st
from strided._dialect.lua import lua_type
from strided._strided import _T7Reader, _T7Writer
from strided.files import FormatError
from strided.torch7.errors import TorchError, TorchTypeError
from strided.torch7.files.diskfile import DiskFile, MemoryFile
from strided.torch7.files.file import File
from strided.torch7.files.hooks import Hooks, char_storage, unwrapped, write_object
from strided.torch7.maths.generator import Generator
from strided.torch7.session import current
from strided.torch7.tensor.storage import Storage
from strided.torch7.types import DTYPES, NAMES, STORAGES


def _checked_mode(mode: Any, referenced: Any, modes: tuple[str, ...]) -> tuple[str, int, bool]:
    """The encoding, the bytes of a long, and whether objects are referred to."""
    if mode is not None and mode not in modes:
        words = ", ".join(f'"{word}"' for word in modes[:-1])
        raise TorchError(f'{words} or "{modes[-1]}" (or nil) expected for mode')
    if referenced not in (None, True, False):
        raise TorchError("true or false (or nil) expected for referenced")
    long_size = 4 if mode == "b32" else 8
    return "ascii" if mode == "ascii" else "binary", long_size, referenced is not False


def save(filename: str, object: Any, mode: str | None = None, referenced: bool | None = None) -> None:
    """Writes an object to a .t7 file: a tensor, a storage, a list, a dict, a string, a number, None.

    `mode` is 'binary', which is the default, or 'ascii'. Tensors that share a storage share it again after loading, unless
    `referenced` is False. The file takes its place when it is complete.

    >>> import os, tempfile
    >>> from strided import torch7 as torch
    >>> name = tempfile.mkstemp()[1]
    >>> x = torch.Tensor([1, 2, 3])
    >>> torch.save(name, {"all": x, "last": x[[[2, 3]]]})
    >>> loaded = torch.load(name)
    >>> _ = loaded["last"].zero()
    >>> loaded["all"].totable()
    [1.0, 0.0, 0.0]
    >>> os.remove(name)
    """
    encoding, long_size, refers = _checked_mode(mode, referenced, ("binary", "ascii"))
    name = os.fsdecode(filename)
    try:
        path = current().resolve(name)
        data = write_object(_T7Writer(unwrapped), object, encoding, long_size, "little", refers)
        st.frombuffer(data, dtype=st.uint8).tofile(path)
    except OSError as error:
        raise TorchError(f"cannot open <{name}> in mode  w") from error


def load(filename: str, mode: str | None = None, referenced: bool | None = None) -> Any:
    """Reads the object of a .t7 file. Tables with the keys 1 to n are lists, others dicts.

    `mode` is 'binary', 'ascii', or 'b32' and 'b64' for files of machines with 4- and 8-byte longs. Unless it is given, it is
    found out, as by `strided.load`. Of a file with several objects, the first one is read.

    >>> import os, tempfile
    >>> from strided import torch7 as torch
    >>> name = tempfile.mkstemp()[1]
    >>> torch.save(name, torch.IntTensor([1, 2]), "ascii")
    >>> torch.load(name)
     1
     2
    [torch.IntTensor of size 2]
    >>> os.remove(name)
    """
    modes = ("binary", "b32", "b64", "ascii")
    encoding, long_size, refers = _checked_mode(mode, referenced, modes)
    name = os.fsdecode(filename)
    try:
        path = current().resolve(name)
        if not refers:
            return _T7Reader(path).read(0, encoding, long_size, "little", False, Hooks)[0]
        options: dict[str, Any] = {} if mode is None else {"encoding": encoding, "byte_order": "little"}
        if mode in ("b32", "b64"):
            options["long_size"] = long_size
        try:
            with st.files.open(path, format="t7", op="load", **options) as file:
                return file._content().load(None, Hooks)
        except FormatError as damaged:
            # Several objects, of which Torch7 reads the first; or no object at all.
            try:
                return _T7Reader(path).read(0, encoding, long_size, "little", True, Hooks)[0]
            except FormatError:
                raise damaged from None
    except OSError as error:
        raise TorchError(f"cannot open <{name}> in mode r ") from error
    except FormatError as error:
        raise TorchError(str(error)) from None


def serializeToStorage(object: Any, mode: str | None = None) -> Storage:
    """The bytes of an object as a .t7 file has them, in a CharStorage.

    >>> from strided import torch7 as torch
    >>> torch.serializeToStorage(7, "ascii").totable()
    [49, 10, 55, 10]
    """
    encoding, long_size, _ = _checked_mode(mode, None, ("binary", "ascii"))
    return char_storage(write_object(_T7Writer(unwrapped), object, encoding, long_size, "little", True))


def serialize(object: Any, mode: str | None = None) -> bytes:
    """The bytes of an object as a .t7 file has them.

    >>> from strided import torch7 as torch
    >>> torch.serialize("hi", "ascii")
    b'2\\n2\\nhi\\n'
    """
    return bytes(memoryview(serializeToStorage(object, mode)._storage.view(st.uint8)))


def deserializeFromStorage(storage: Storage, mode: str | None = None) -> Any:
    """The object whose bytes a CharStorage has.

    >>> from strided import torch7 as torch
    >>> torch.deserializeFromStorage(torch.serializeToStorage([1, 2]))
    [1, 2]
    """
    if not isinstance(storage, Storage):
        raise TorchTypeError(f"torch.CharStorage expected, got {lua_type(storage)}")
    return deserialize(bytes(memoryview(storage._storage.view(st.uint8))), mode)


def deserialize(str: str | bytes, mode: str | None = None) -> Any:
    """The object whose bytes `serialize` returned.

    >>> from strided import torch7 as torch
    >>> torch.deserialize(torch.serialize({"a": torch.Tensor([1])}))["a"].totable()
    [1.0]
    """
    encoding, long_size, _ = _checked_mode(mode, None, ("binary", "b32", "b64", "ascii"))
    data = str if isinstance(str, bytes) else str.encode("utf-8", "surrogateescape")
    try:
        return _T7Reader(memoryview(data)).read(0, encoding, long_size, "little", True, Hooks)[0]
    except FormatError as error:
        raise TorchError(f"{error}") from None


# Parts of objects, for programs that read and write objects themselves: Lua's


def write_chars(file: File, text: str | bytes) -> None:
    """Writes the characters of a string, and a line end in text."""
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    file._write_numbers("Char", st.frombuffer(data, dtype=st.int8) if data else st.empty(0, dtype=st.int8))


def read_chars(file: File, count: int) -> bytes:
    if count < 0:
        raise TorchError(f"a string has the length {int(count)}")
    return bytes(memoryview(file._read_numbers("Char", int(count)).view(st.uint8)))


def write_tensor(file: File, x: Any) -> Storage | None:
    """Writes the sizes, the strides and the offset of a tensor. Returns its storage, which must follow."""
    for name, numbers in (("Int", [x.dim()]), ("Long", x.size()), ("Long", x.stride()), ("Long", [x.storageOffset()])):
        values = numbers.totable() if isinstance(numbers, Storage) else numbers
        file._write_numbers(name, st.tensor(values, dtype=DTYPES[name]))
    storage: Storage | None = x.storage()
    return storage


def read_tensor(file: File) -> tuple[list[int], list[int], int]:
    """Reads the sizes, the strides and the offset of a tensor."""
    rank = file._read_numbers("Int", 1).tolist()[0]
    if rank < 0:
        raise TorchError(f"a tensor has {rank} dims")
    sizes, strides, offset = (file._read_numbers("Long", count).tolist() for count in (rank, rank, 1))
    return sizes, strides, offset[0]


def set_tensor(x: Any, storage: Storage | None, sizes: Any, strides: Any, offset: int) -> None:
    """Makes a new tensor a view of the storage that was read."""
    if storage is None:
        return
    longs: Any = STORAGES[st.int64]
    if len(sizes):
        x.set(storage, offset, longs(list(sizes)), longs(list(strides)))
    else:
        x.set(storage, offset)


def write_storage(file: File, storage: Storage) -> None:
    """Writes the size and the elements of a storage."""
    file._write_numbers("Long", st.tensor([storage.size()]))
    file._write_numbers(NAMES[storage._dtype], st.Tensor(storage._storage, dtype=storage._dtype))


def read_storage(file: File, storage: Storage) -> None:
    """Reads the elements of a storage into a new one."""
    size = file._read_numbers("Long", 1).tolist()[0]
    if size < 0:
        raise TorchError(f"a storage has the size {size}")
    read = file._read_numbers(NAMES[storage._dtype], size)
    storage.resize(read.numel())
    st.Tensor(storage._storage, dtype=storage._dtype).copy_(read)


def write_generator(file: File, generator: Generator) -> None:
    """Writes the state of a generator."""
    write_chars(file, bytes(generator._engine.state()))


def read_generator(file: File, generator: Generator) -> None:
    """Reads the state of a generator into a new one."""
    Hooks.set_state(generator, read_chars(file, len(bytes(generator._engine.state()))))


#: What the functions above are called by Lua.
PARTS: tuple[Any, ...] = (write_chars, read_chars, write_tensor, read_tensor, set_tensor, write_storage, read_storage)
PARTS += (write_generator, read_generator)


FUNCTIONS = (save, load, serialize, deserialize, serializeToStorage, deserializeFromStorage)
CLASSES = (File, DiskFile, MemoryFile)
