"""Files of Torch7: `torch.save` and `torch.load`, `torch.serialize`, and `DiskFile` and `MemoryFile`."""

from __future__ import annotations

import io
import math
import os
import sys
from collections.abc import Callable
from typing import Any

import strided as st
from strided._strided import _T7Reader, _T7Writer
from strided.files import FormatError, Record
from strided.torch7.arguments import is_number, lua_type, number_of
from strided.torch7.conversion import from_strided
from strided.torch7.errors import TorchError, TorchTypeError, bad_argument
from strided.torch7.generator import Generator
from strided.torch7.held import Held
from strided.torch7.session import current
from strided.torch7.storage import Storage
from strided.torch7.types import DTYPES, NAMES, STORAGES, wrap_storage

#: The types whose numbers a file reads and writes one by one.
NUMBERS = ("Byte", "Char", "Short", "Int", "Long", "Float", "Double")
#: How text has the numbers of a type. Bytes and chars are written as they are.
FORMATS = {"Short": "%d", "Int": "%d", "Long": "%d", "Half": "%.9g", "Float": "%.9g", "Double": "%.17g"}
SPACE = b" \t\n\r\v\f"


def _unwrapped(obj: Any) -> Any:
    """What the core writes for an object of the front end; None for others."""
    if isinstance(obj, Held):
        return obj._tensor
    if isinstance(obj, Storage):
        return obj._storage
    if isinstance(obj, Generator):
        return Record("torch.Generator", bytes(obj._engine.state()))
    return None


class _Hooks:
    """Makes objects of the front end of what a file has."""

    tensor = staticmethod(from_strided)
    storage = staticmethod(wrap_storage)

    @staticmethod
    def record(name: str, version: str | None) -> Generator | None:
        return Generator() if name == "torch.Generator" else None

    @staticmethod
    def set_state(generator: Generator, state: bytes) -> None:
        try:
            generator._engine.set_state(state)
        except ValueError:
            raise TorchError("Invalid RNG state") from None


class File:
    """What DiskFile and MemoryFile have in common: numbers, strings and objects are read and written at a position.

    >>> from strided import torch7 as torch
    >>> f = torch.MemoryFile()
    >>> f.writeInt(7), f.writeDouble(0.5), f.writeObject({"x": torch.Tensor([1, 2])})
    (1, 1, None)
    >>> f.seek(1).readInt(), f.readDouble(), f.readObject()["x"].totable()
    (7, 0.5, [1.0, 2.0])
    """

    __slots__ = ("__weakref__", "_file", "_flags", "_long_size", "_order", "_reader", "_writer")
    _typename = "torch.File"

    def __init__(self) -> None:
        raise TorchTypeError("no constructor available")

    def _open(self, file: Any, mode: str, quiet: bool = False) -> None:
        self._file: Any = file
        self._flags = {"quiet": quiet, "binary": False, "spacing": True, "error": False, "referenced": True}
        self._flags |= {"readable": "r" in mode, "writable": "w" in mode}
        self._long_size = 8
        self._order = "little"
        self._reader: _T7Reader | None = None
        self._writer: _T7Writer | None = None

    def _opened(self) -> Any:
        if self._file is None:
            raise bad_argument(2, None, "attempt to use a closed file")
        return self._file

    def _readable(self) -> Any:
        if not self._flags["readable"]:
            raise bad_argument(2, None, "attempt to read in a write-only file")
        return self._opened()

    def _writable(self) -> Any:
        if not self._flags["writable"]:
            raise bad_argument(2, None, "attempt to write in a read-only file")
        return self._opened()

    def _failed(self, text: str) -> None:
        """Remembers that reading or writing failed, and raises the error unless the file is quiet."""
        self._flags["error"] = True
        if not self._flags["quiet"]:
            raise TorchError(text)

    # Numbers

    def _read_numbers(self, name: str, count: int) -> st.Tensor:
        """Up to `count` numbers: fewer at the end of a quiet file."""
        file, dtype = self._readable(), DTYPES[name]
        if self._flags["binary"] or dtype.itemsize == 1:
            stored = st.int32 if name == "Long" and self._long_size == 4 else dtype
            data = _read_up_to(file, count * stored.itemsize)
            whole = len(data) // stored.itemsize
            read = st.fromfile(memoryview(data)[: whole * stored.itemsize], stored, byteorder=self._order).to(dtype)
        else:
            numbers: list[Any] = []
            while len(numbers) < count and (number := self._number(name)) is not None:
                numbers.append(number)
            read = st.tensor(numbers, dtype=dtype)
        if not self._flags["binary"] and self._flags["spacing"] and count:
            at = file.tell()
            if file.read(1) != b"\n":
                file.seek(at)
        if read.numel() != count:
            self._failed(f"read error: read {read.numel()} blocks instead of {count}")
        return read

    def _number(self, name: str) -> float | None:
        """The next number of a text, or None if there is none."""
        file = self._file
        while (byte := file.read(1)) and byte in SPACE:
            pass
        word = b""
        while byte and byte not in SPACE:
            word += byte
            byte = file.read(1)
        if byte:
            file.seek(-1, os.SEEK_CUR)
        try:
            return int(word) if name in ("Short", "Int", "Long") else float(word)
        except ValueError:
            file.seek(-len(word), os.SEEK_CUR)
            return None

    def _write_numbers(self, name: str, values: st.Tensor) -> int:
        file = self._writable()
        if self._flags["binary"] or values.element_size() == 1:
            if name == "Long" and self._long_size == 4:
                values = values.to(st.int32)
            values.tofile(file, byteorder=self._order)
        else:
            gap = " " if self._flags["spacing"] else ""
            file.write(gap.join(_text(name, value) for value in values.tolist()).encode())
        if not self._flags["binary"] and self._flags["spacing"] and values.numel():
            file.write(b"\n")
        return values.numel()

    def readBool(self) -> bool:
        """Reads an int; true if it is 1.

        >>> from strided import torch7 as torch
        >>> f = torch.MemoryFile()
        >>> f.writeBool(True)
        >>> f.seek(1).readBool()
        True
        """
        return bool(self._read_numbers("Int", 1).tolist() == [1])

    def writeBool(self, value: Any) -> None:
        """Writes 1 for true, 0 for false.

        >>> from strided import torch7 as torch
        >>> f = torch.MemoryFile()
        >>> f.writeBool(False)
        >>> f.seek(1).readInt()
        0
        """
        self._write_numbers("Int", st.tensor([0 if value is None or value is False else 1], dtype=st.int32))

    def readString(self, format: str) -> str | bytes:
        """Reads a line ('*l') or all that is left ('*a').

        >>> from strided import torch7 as torch
        >>> f = torch.MemoryFile()
        >>> f.writeString("one\\ntwo")
        7
        >>> f.seek(1).readString("*l"), f.readString("*a")
        ('one', 'two')
        """
        if not isinstance(format, str) or format[:2] not in ("*a", "*l"):
            raise bad_argument(2, "readString", "format must be '*a' or '*l'")
        file = self._readable()
        data = file.read() if format[1] == "a" else file.readline()
        if not data:
            self._failed("read error: read 0 blocks instead of 1")
        data = data.removesuffix(b"\n") if format[1] == "l" else data
        try:
            return str(data, "utf-8")
        except UnicodeDecodeError:
            return bytes(data)

    def writeString(self, text: str | bytes) -> int:
        """Writes the characters of a string, and nothing else.

        >>> from strided import torch7 as torch
        >>> torch.MemoryFile().writeString("abc")
        3
        """
        if not isinstance(text, (str, bytes)):
            raise bad_argument(2, "writeString", f"string expected, got {lua_type(text)}", TorchTypeError)
        data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        self._writable().write(data)
        return len(data)

    # Objects

    def readObject(self) -> Any:
        """Reads an object. One that was read before, and is referred to, is the same object.

        >>> from strided import torch7 as torch
        >>> f = torch.MemoryFile()
        >>> f.writeObject([1, "two"])
        >>> f.seek(1).readObject()
        [1, 'two']
        """
        file = self._readable()
        if self._reader is None:
            self._reader = _T7Reader((file, 0, None))
        position = file.tell()
        try:
            obj, end = self._reader.read(position, *self._encoding(), _Hooks)
        except FormatError as error:
            raise TorchError(str(error)) from None
        file.seek(end)
        return obj

    def writeObject(self, object: Any) -> None:
        """Writes an object: a tensor, a storage, a list, a dict, a string, a number, None, or what `readObject` returned.

        >>> from strided import torch7 as torch
        >>> f = torch.MemoryFile()
        >>> x = torch.Tensor(2)
        >>> f.writeObject([x, x])
        >>> a, b = f.seek(1).readObject()
        >>> a is b
        True
        """
        file = self._writable()
        if self._writer is None:
            self._writer = _T7Writer(_unwrapped)
        try:
            data = self._writer.write(object, *self._encoding())
        except FormatError as error:
            raise TorchError(str(error)) from None
        except TypeError as error:
            raise TorchTypeError(f"Unwritable object <{lua_type(object)}>; {error}") from None
        file.write(data)

    def _encoding(self) -> tuple[str, int, str, bool]:
        encoding = "binary" if self._flags["binary"] else "ascii"
        return encoding, self._long_size, self._order, self._flags["referenced"]

    def referenced(self, ref: bool) -> File:
        """Sets whether an object that occurs again is referred to; otherwise it is written again.

        >>> from strided import torch7 as torch
        >>> torch.MemoryFile().referenced(False).isReferenced()
        False
        """
        self._flags["referenced"] = bool(ref)
        return self

    # Position

    def seek(self, position: int) -> File:
        """Goes to a position, in bytes from 1 on.

        >>> from strided import torch7 as torch
        >>> torch.MemoryFile().seek(1).position()
        1
        """
        if not is_number(position) or number_of(position) < 1:
            raise bad_argument(2, "seek", "position has to be greater than 0!")
        self._opened().seek(int(number_of(position)) - 1)
        return self

    def seekEnd(self) -> File:
        """Goes to the end.

        >>> from strided import torch7 as torch
        >>> f = torch.MemoryFile()
        >>> f.writeString("abc")
        3
        >>> f.seek(1).seekEnd().position()
        4
        """
        self._opened().seek(0, os.SEEK_END)
        return self

    def position(self) -> int:
        """The position, in bytes from 1 on.

        >>> from strided import torch7 as torch
        >>> torch.MemoryFile().position()
        1
        """
        return int(self._opened().tell()) + 1

    def synchronize(self) -> File:
        """Hands all that was written to the system.

        >>> from strided import torch7 as torch
        >>> torch.MemoryFile().synchronize().position()
        1
        """
        self._opened().flush()
        return self

    def close(self) -> File:
        """Closes the file. Every later use is an error.

        >>> from strided import torch7 as torch
        >>> f = torch.MemoryFile()
        >>> _ = f.close()
        >>> f
        torch.MemoryFile [status: closed -- mode: rw]
        """
        self._opened().close()
        self._file = self._reader = self._writer = None
        return self

    def _mode(self) -> str:
        return ("r" if self._flags["readable"] else " ") + ("w" if self._flags["writable"] else " ")

    def longSize(self, size: int) -> File:
        """Sets the bytes of a long integer in binary: 4 or 8, or 0 for that of the machine.

        >>> from strided import torch7 as torch
        >>> f = torch.MemoryFile().binary().longSize(4)
        >>> _ = f.writeLong(7)
        >>> f.position()
        5
        """
        if size not in (0, 4, 8):
            raise bad_argument(2, None, "Invalid long size specified")
        self._long_size = int(size) or 8
        return self


def _read_up_to(file: Any, size: int) -> bytes:
    """Bytes of a file. A size that the file does not have allocates nothing."""
    if size > 1 << 20:
        at = file.tell()
        size = min(size, file.seek(0, os.SEEK_END) - at)
        file.seek(at)
    data: bytes = file.read(size)
    return data


def _text(name: str, value: float) -> str:
    if isinstance(value, float) and math.isnan(value):
        return "-nan" if math.copysign(1, value) < 0 else "nan"
    return FORMATS[name] % value


class DiskFile(File):
    """A file on the disk, for reading ('r'), writing ('w') or both ('rw'). Numbers are text until `binary` is called.

    >>> import os, tempfile
    >>> from strided import torch7 as torch
    >>> name = tempfile.mkstemp()[1]
    >>> f = torch.DiskFile(name, "w")
    >>> f.writeDouble(0.1)
    1
    >>> _ = f.close()
    >>> torch.DiskFile(name).readString("*l")
    '0.10000000000000001'
    >>> os.remove(name)
    """

    __slots__ = ("_name",)
    _typename = "torch.DiskFile"

    def __init__(self, name: str, mode: str = "r", quiet: bool = False) -> None:
        if mode not in ("r", "w", "rw"):
            raise bad_argument(3, None, "file mode should be 'r','w' or 'rw'")
        self._name = os.fsdecode(name)
        self._file = None
        try:
            self._open(_open_file(current().resolve(self._name), mode), mode, bool(quiet))
        except OSError as error:
            self._open(None, mode, bool(quiet))
            if not quiet:
                raise TorchError(f"cannot open <{self._name}> in mode {self._mode()}") from error

    def __del__(self) -> None:
        # Lua scripts leave it to the collector to close files.
        if getattr(self, "_file", None) is not None:
            self._file.close()

    def _with_order(self, order: str) -> DiskFile:
        self._opened()
        self._order = order
        return self

    def nativeEndianEncoding(self) -> DiskFile:
        """Binary numbers have the byte order of the machine.

        >>> from strided import torch7 as torch
        >>> torch.DiskFile("/dev/null", "w").nativeEndianEncoding().isWritable()
        True
        """
        return self._with_order(sys.byteorder)

    def littleEndianEncoding(self) -> DiskFile:
        """Binary numbers have their lowest byte first.

        >>> from strided import torch7 as torch
        >>> torch.DiskFile("/dev/null", "w").littleEndianEncoding().isWritable()
        True
        """
        return self._with_order("little")

    def bigEndianEncoding(self) -> DiskFile:
        """Binary numbers have their highest byte first.

        >>> from strided import torch7 as torch
        >>> torch.DiskFile("/dev/null", "w").bigEndianEncoding().isWritable()
        True
        """
        return self._with_order("big")

    def isLittleEndianCPU(self) -> bool:
        """Whether the machine has the lowest byte first.

        >>> from strided import torch7 as torch
        >>> torch.DiskFile("/dev/null", "w").isLittleEndianCPU()
        True
        """
        return sys.byteorder == "little"

    def isBigEndianCPU(self) -> bool:
        """Whether the machine has the highest byte first.

        >>> from strided import torch7 as torch
        >>> torch.DiskFile("/dev/null", "w").isBigEndianCPU()
        False
        """
        return not self.isLittleEndianCPU()

    def noBuffer(self) -> DiskFile:
        """Does nothing: what is written reaches the file with `synchronize`, `close`, or when the buffer is full.

        >>> from strided import torch7 as torch
        >>> torch.DiskFile("/dev/null", "w").noBuffer().isWritable()
        True
        """
        self._opened()
        return self

    def __repr__(self) -> str:
        state = "closed" if self._file is None else "open"
        return f"torch.DiskFile on <{self._name}> [status: {state} -- mode {self._mode()}]"


def _open_file(path: str, mode: str) -> Any:
    if mode != "rw":
        return open(path, mode + "b")
    return open(path, "r+b" if os.path.exists(path) else "w+b")


class MemoryFile(File):
    """A file in memory: new, or with the bytes of a CharStorage, whose last one is a zero that ends them.

    >>> from strided import torch7 as torch
    >>> f = torch.MemoryFile()
    >>> f.writeInt(12)
    1
    >>> f.storage().totable()
    [49, 50, 10, 0]
    """

    __slots__ = ()
    _typename = "torch.MemoryFile"

    def __init__(self, storage: Any = None, mode: Any = None) -> None:
        if isinstance(storage, str):
            storage, mode = None, storage
        mode = "rw" if mode is None else mode
        if mode not in ("r", "w", "rw"):
            raise bad_argument(3, None, "file mode should be 'r','w' or 'rw'")
        data = b""
        if storage is not None:
            if not isinstance(storage, Storage) or storage._dtype is not st.int8:
                raise bad_argument(2, None, "torch.CharStorage expected", TorchTypeError)
            data = bytes(memoryview(storage._storage.view(st.uint8)))
            if not data.endswith(b"\0"):
                raise bad_argument(2, None, "provided CharStorage must be terminated by 0")
        self._open(io.BytesIO(data[:-1]), mode)

    def storage(self) -> Storage:
        """The bytes of the file and a zero, in a CharStorage of its own.

        >>> from strided import torch7 as torch
        >>> torch.MemoryFile().storage().totable()
        [0]
        """
        return _char_storage(self._opened().getvalue() + b"\0")

    def __repr__(self) -> str:
        return f"torch.MemoryFile [status: {'closed' if self._file is None else 'open'} -- mode: {self._mode()}]"


def _char_storage(data: bytes) -> Storage:
    # A copy, because the memory of `data` cannot be resized.
    bytes_ = st.frombuffer(data, dtype=st.int8).clone().storage() if data else st.CharStorage(0)
    found: Storage = wrap_storage(bytes_)
    return found


# The methods that differ by a word only


def _flag_methods() -> None:
    """`quiet` and the like, which set a flag, and `isQuiet` and the like, which tell it."""
    setters = [
        ("binary", "binary", True, "Numbers are written as the machine has them."),
        ("ascii", "binary", False, "Numbers are written as text."),
        ("autoSpacing", "spacing", True, "Text has spaces between numbers, and a line end behind them."),
        ("noAutoSpacing", "spacing", False, "Text has numbers without spaces."),
        ("quiet", "quiet", True, "Errors of reading and writing are remembered, and not raised."),
        ("pedantic", "quiet", False, "Errors of reading and writing are raised."),
        ("clearError", "error", False, "Forgets an error."),
    ]
    getters = [
        ("isQuiet", "quiet", "errors are only remembered"),
        ("isReadable", "readable", "the file can be read"),
        ("isWritable", "writable", "the file can be written"),
        ("isBinary", "binary", "numbers are written as the machine has them"),
        ("isAutoSpacing", "spacing", "text has spaces"),
        ("hasError", "error", "reading or writing has failed"),
        ("isReferenced", "referenced", "an object that occurs again is referred to"),
    ]

    def setter(flag: str, value: bool) -> Callable[[Any], Any]:
        def method(self: Any) -> Any:
            self._flags[flag] = value
            return self

        return method

    def getter(flag: str) -> Callable[[Any], bool]:
        return lambda self: bool(self._flags[flag])

    start = ">>> from strided import torch7 as torch\n"
    shown = {flag: name for name, flag, _ in getters}
    for name, flag, value, text in setters:
        _add(name, setter(flag, value), f"{text}\n\n{start}>>> torch.MemoryFile().{name}().{shown[flag]}()\n{value}\n")
    for name, flag, text in getters:
        initial = flag in ("readable", "writable", "spacing", "referenced")
        _add(name, getter(flag), f"Whether {text}.\n\n{start}>>> torch.MemoryFile().{name}()\n{initial}\n")


def _number_methods() -> None:
    """`readInt`, `writeInt` and the like."""
    for name in NUMBERS:
        read, write = _reader(name), _writer(name)
        made = f">>> f = torch.MemoryFile()\n>>> f.write{name}(65)\n1\n"
        start = f">>> from strided import torch7 as torch\n{made}"
        text = f"Reads a number; `n` of them into a new {name}Storage; or as many as a {name}Storage has, and returns their count."
        shown = "65.0" if name in ("Float", "Double") else "65"
        _add(f"read{name}", read, f"{text}\n\n{start}>>> f.seek(1).read{name}()\n{shown}\n")
        text = f"Writes a number, or all of a {name}Storage. Returns how many."
        _add(f"write{name}", write, f"{text}\n\n{start}")


def _reader(name: str) -> Callable[..., Any]:
    dtype = DTYPES[name]

    def read(self: File, n: Any = None) -> Any:
        if n is None:
            found = self._read_numbers(name, 1).tolist()
            return found[0] if found else 0
        if is_number(n):
            numbers = self._read_numbers(name, int(number_of(n)))
            return wrap_storage(numbers.storage() if numbers.numel() else st.empty(0, dtype=dtype).storage())
        if isinstance(n, Storage) and n._dtype is dtype:
            numbers = self._read_numbers(name, n.size())
            st.as_strided(n._storage, (numbers.numel(),), (1,), 0).copy_(numbers)
            return numbers.numel()
        raise TorchTypeError(f"nothing, number, or {name}Storage expected")

    return read


def _writer(name: str) -> Callable[..., int]:
    dtype = DTYPES[name]

    def write(self: File, value: Any) -> int:
        if is_number(value):
            return self._write_numbers(name, st.tensor([number_of(value)], dtype=st.float64).to(dtype))
        if isinstance(value, Storage) and value._dtype is dtype:
            return self._write_numbers(name, st.Tensor(value._storage, dtype=dtype))
        raise TorchTypeError(f"number, or {name}Storage expected")

    return write


def _add(name: str, method: Any, doc: str) -> None:
    method.__name__, method.__qualname__, method.__doc__ = name, f"File.{name}", doc
    method.__module__ = "strided.torch7"
    setattr(File, name, method)


_flag_methods()
_number_methods()


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
    _Hooks.set_state(generator, read_chars(file, len(bytes(generator._engine.state()))))


#: What the functions above are called by Lua.
PARTS = (
    write_chars,
    read_chars,
    write_tensor,
    read_tensor,
    set_tensor,
    write_storage,
    read_storage,
    write_generator,
    read_generator,
)


# Whole objects


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
        data = _T7Writer(_unwrapped).write(object, encoding, long_size, "little", refers)
        st.frombuffer(data, dtype=st.uint8).tofile(path)
    except OSError as error:
        raise TorchError(f"cannot open <{name}> in mode  w") from error
    except FormatError as error:
        raise TorchError(str(error)) from None
    except TypeError as error:
        raise TorchTypeError(f"Unwritable object <{lua_type(object)}>; {error}") from None


def load(filename: str, mode: str | None = None, referenced: bool | None = None) -> Any:
    """Reads the object of a .t7 file. Tables with the keys 1 to n are lists, others dicts.

    `mode` is 'binary', 'ascii', or 'b32' and 'b64' for files of machines with 4- and 8-byte longs. Unless it is given, it is
    found out, as by `strided.load`.

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
            return _T7Reader(path).read(0, encoding, long_size, "little", False, _Hooks)[0]
        options: dict[str, Any] = {} if mode is None else {"encoding": encoding, "byte_order": "little"}
        if mode in ("b32", "b64"):
            options["long_size"] = long_size
        with st.files.open(path, format="t7", op="load", **options) as file:
            return file._content().load(None, _Hooks)
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
    try:
        return _char_storage(_T7Writer(_unwrapped).write(object, encoding, long_size, "little", True))
    except FormatError as error:
        raise TorchError(str(error)) from None
    except TypeError as error:
        raise TorchTypeError(f"Unwritable object <{lua_type(object)}>; {error}") from None


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
        return _T7Reader(memoryview(data)).read(0, encoding, long_size, "little", True, _Hooks)[0]
    except FormatError as error:
        raise TorchError(f"{error}") from None


FUNCTIONS = (save, load, serialize, deserialize, serializeToStorage, deserializeFromStorage)
CLASSES = (File, DiskFile, MemoryFile)
