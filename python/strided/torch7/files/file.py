"""What files have in common: numbers, strings and objects are read and written at a position."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from typing import Any

import strided as st
from strided._dialect.lua import MISSING
from strided._strided import _T7Reader, _T7Writer
from strided.files import FormatError
from strided.torch7.calls.arguments import integer, is_number, number_of, string, type_error
from strided.torch7.calls.elements import as_element
from strided.torch7.errors import TorchError, TorchTypeError, bad_argument
from strided.torch7.files.hooks import Hooks, unwrapped, write_object
from strided.torch7.tensor.storage import Storage
from strided.torch7.types import DTYPES, wrap_storage

#: The types whose numbers a file reads and writes one by one.
NUMBERS = ("Byte", "Char", "Short", "Int", "Long", "Float", "Double")
#: How text has the numbers of a type. Bytes and chars are written as they are.
FORMATS = {"Short": "%d", "Int": "%d", "Long": "%d", "Half": "%.9g", "Float": "%.9g", "Double": "%.17g"}
SPACE = b" \t\n\r\v\f"
#: What C reads as a number.
WHOLE = re.compile(rb"[+-]?\d+")
NUMBER = re.compile(
    rb"[+-]?(?:(?P<hex>0x(?:[\da-f]+\.?[\da-f]*|\.[\da-f]+)(?:p[+-]?\d+)?)|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan(?:\(\w*\))?)",
    re.IGNORECASE,
)


class File:
    """What DiskFile and MemoryFile have in common: numbers, strings and objects are read and written at a position.

    >>> from strided import torch7 as torch
    >>> f = torch.MemoryFile()
    >>> f.writeInt(7), f.writeDouble(0.5), f.writeObject({"x": torch.Tensor([1, 2])})
    (None, None, None)
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

    def __del__(self) -> None:
        """A file that nobody uses is closed, as in Torch7."""
        if getattr(self, "_file", None) is not None:
            self._file.close()

    def _opened(self, method: str) -> Any:
        """The file, unless it is closed. The error names the method that was called."""
        if self._file is None:
            raise bad_argument(1, method, "attempt to use a closed file")
        return self._file

    def _readable(self, method: str) -> Any:
        file = self._opened(method)
        if not self._flags["readable"]:
            raise bad_argument(1, method, "attempt to read in a write-only file")
        return file

    def _writable(self, method: str) -> Any:
        file = self._opened(method)
        if not self._flags["writable"]:
            raise bad_argument(1, method, "attempt to write in a read-only file")
        return file

    def _failed(self, text: str) -> None:
        """Remembers that reading or writing failed, and raises the error unless the file is quiet."""
        self._flags["error"] = True
        if not self._flags["quiet"]:
            raise TorchError(text)

    # Numbers

    def _read_numbers(self, name: str, count: int) -> st.Tensor:
        """Up to `count` numbers: fewer at the end of a quiet file."""
        file, dtype = self._readable(f"read{name}"), DTYPES[name]
        if self._flags["binary"] or dtype.itemsize == 1:
            stored = st.int32 if name == "Long" and self._long_size == 4 else dtype
            data = _read_up_to(file, count * stored.itemsize)
            whole = len(data) // stored.itemsize
            read = st.fromfile(memoryview(data[: whole * stored.itemsize]), stored, byteorder=self._order).to(dtype)
        else:
            numbers: list[float] = []
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
        """The next number of a text, or None if there is none. What follows it in the same word is left."""
        file = self._file
        while (byte := file.read(1)) and byte in SPACE:
            pass
        word = b""
        while byte and byte not in SPACE:
            word += byte
            byte = file.read(1)
        whole = name in ("Short", "Int", "Long")
        found = (WHOLE if whole else NUMBER).match(word)
        length = found.end() if found else 0
        file.seek(length - len(word) - len(byte), os.SEEK_CUR)
        if found is None:
            return None
        if whole:
            return as_element(max(-(2**63), min(int(word[:length]), 2**63 - 1)), DTYPES[name])
        if found["hex"]:
            return float.fromhex(word[:length].decode())
        return float(word[:length].partition(b"(")[0])

    def _write_numbers(self, name: str, values: st.Tensor) -> int:
        file = self._writable(f"write{name}")
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

    def readString(self, format: str = MISSING) -> str | bytes:
        """Reads a line ('*l') or all that is left ('*a').

        >>> from strided import torch7 as torch
        >>> f = torch.MemoryFile()
        >>> f.writeString("one\\ntwo")
        7
        >>> f.seek(1).readString("*l"), f.readString("*a")
        ('one', 'two')
        """
        format = string(format, 2, "readString")
        file = self._readable("readString")
        if format[:2] not in ("*a", "*l"):
            raise bad_argument(2, "readString", "format must be '*a' or '*l'")
        data = file.read() if format[1] == "a" else file.readline()
        if not data:
            self._failed("read error: read 0 blocks instead of 1")
        data = data.removesuffix(b"\n") if format[1] == "l" else data
        try:
            return str(data, "utf-8")
        except UnicodeDecodeError:
            return bytes(data)

    def writeString(self, text: str | bytes = MISSING) -> int:
        """Writes the characters of a string, and nothing else.

        >>> from strided import torch7 as torch
        >>> torch.MemoryFile().writeString("abc")
        3
        """
        if not isinstance(text, (str, bytes)):
            raise type_error(text, 2, "writeString", "string")
        data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        self._writable("writeString").write(data)
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
        file = self._readable("readInt")
        if self._reader is None:
            self._reader = _T7Reader((file, 0, None))
        position = file.tell()
        try:
            obj, end = self._reader.read(position, *self._encoding(), Hooks)
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
        file = self._writable("writeInt")
        if self._writer is None:
            self._writer = _T7Writer(unwrapped)
        file.write(write_object(self._writer, object, *self._encoding()))

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

    def seek(self, position: int = MISSING) -> File:
        """Goes to a position, in bytes from 1 on.

        >>> from strided import torch7 as torch
        >>> torch.MemoryFile().seek(1).position()
        1
        """
        place = integer(position, 2, "seek") - 1
        if place < 0:
            raise bad_argument(2, "seek", "position has to be greater than 0!")
        self._seek(self._opened("seek"), place)
        return self

    def _seek(self, file: Any, place: int) -> None:
        file.seek(place)

    def seekEnd(self) -> File:
        """Goes to the end.

        >>> from strided import torch7 as torch
        >>> f = torch.MemoryFile()
        >>> f.writeString("abc")
        3
        >>> f.seek(1).seekEnd().position()
        4
        """
        self._opened("seekEnd").seek(0, os.SEEK_END)
        return self

    def position(self) -> int:
        """The position, in bytes from 1 on.

        >>> from strided import torch7 as torch
        >>> torch.MemoryFile().position()
        1
        """
        return int(self._opened("position").tell()) + 1

    def synchronize(self) -> File:
        """Hands all that was written to the system.

        >>> from strided import torch7 as torch
        >>> torch.MemoryFile().synchronize().position()
        1
        """
        self._opened("synchronize").flush()
        return self

    def close(self) -> File:
        """Closes the file. Every later use is an error.

        >>> from strided import torch7 as torch
        >>> f = torch.MemoryFile()
        >>> _ = f.close()
        >>> f
        torch.MemoryFile [status: closed -- mode: rw]
        """
        self._opened("close").close()
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
            raise bad_argument(1, "longSize", "Invalid long size specified")
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
        made = f">>> f = torch.MemoryFile()\n>>> f.write{name}(65)\n"
        start = f">>> from strided import torch7 as torch\n{made}"
        text = f"Reads a number; `n` of them into a new {name}Storage; or as many as a {name}Storage has, and returns their count."
        shown = "65.0" if name in ("Float", "Double") else "65"
        _add(f"read{name}", read, f"{text}\n\n{start}>>> f.seek(1).read{name}()\n{shown}\n")
        text = f"Writes a number; or all of a {name}Storage, and returns their count."
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


def _writer(name: str) -> Callable[..., int | None]:
    dtype = DTYPES[name]

    def write(self: File, value: Any = MISSING) -> int | None:
        if is_number(value):
            self._write_numbers(name, st.tensor([number_of(value)], dtype=st.float64).to(dtype))
            return None
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
