"""Files on the disk and in memory."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
from typing import Any

import strided as st
from strided._dialect.lua import MISSING
from strided.torch7.calls.arguments import string, type_error
from strided.torch7.errors import TorchError, bad_argument
from strided.torch7.files.file import File
from strided.torch7.files.hooks import char_storage
from strided.torch7.session import current
from strided.torch7.tensor.storage import Storage


def _byte_order(name: str, order: str, doc: str) -> Any:
    """The method of a DiskFile that sets the order of bytes."""

    def method(self: Any) -> Any:
        self._opened(f"{order}EndianEncoding")
        self._order = order
        return self

    method.__name__, method.__qualname__ = f"{name}EndianEncoding", f"DiskFile.{name}EndianEncoding"
    example = f">>> torch.DiskFile('/dev/null', 'w').{method.__name__}().isWritable()\nTrue"
    method.__doc__ = f"{doc}\n\n>>> from strided import torch7 as torch\n{example}\n"
    return method


class DiskFile(File):
    """A file on the disk, for reading ('r'), writing ('w') or both ('rw'). Numbers are text until `binary` is called.

    >>> import os, tempfile
    >>> from strided import torch7 as torch
    >>> name = tempfile.mkstemp()[1]
    >>> f = torch.DiskFile(name, "w")
    >>> f.writeDouble(0.1)
    >>> _ = f.close()
    >>> f = torch.DiskFile(name)
    >>> f.readString("*l")
    '0.10000000000000001'
    >>> _ = f.close()
    >>> os.remove(name)
    """

    __slots__ = ("_name",)
    _typename = "torch.DiskFile"

    def __init__(self, name: str = MISSING, mode: str | None = "r", quiet: bool | None = False) -> None:
        self._file = None
        self._name = os.fsdecode(name) if isinstance(name, os.PathLike) else string(name, 1, None)
        mode = _checked_mode("r" if mode is None else string(mode, 2, None))
        if quiet is not None and not isinstance(quiet, bool):
            raise type_error(quiet, 3, None, "boolean")
        try:
            self._open(_open_file(current().resolve(self._name), mode), mode, bool(quiet))
        except OSError as error:
            self._open(None, mode, bool(quiet))
            if not quiet:
                raise TorchError(f"cannot open <{self._name}> in mode {self._mode()}") from error

    @classmethod
    def _for_lua(cls, *args: Any) -> DiskFile | None:
        """A new file, or None if it cannot be opened quietly."""
        file = cls(*args)
        return None if file._file is None else file

    nativeEndianEncoding = _byte_order("native", sys.byteorder, "Binary numbers have the byte order of the machine.")
    littleEndianEncoding = _byte_order("little", "little", "Binary numbers have their lowest byte first.")
    bigEndianEncoding = _byte_order("big", "big", "Binary numbers have their highest byte first.")

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
        self._opened("noBuffer")
        return self

    def __repr__(self) -> str:
        state = "closed" if self._file is None else "open"
        return f"torch.DiskFile on <{self._name}> [status: {state} -- mode {self._mode()}]"


def _checked_mode(mode: str) -> str:
    if mode not in ("r", "w", "rw"):
        raise bad_argument(2, None, "file mode should be 'r','w' or 'rw'")
    return mode


def _open_file(path: str, mode: str) -> Any:
    if mode == "w" and os.path.isfile(path) and os.access(path, os.W_OK):
        return _open_anew(os.path.realpath(path))
    if mode != "rw":
        return open(path, mode + "b")
    return open(path, "r+b" if os.path.exists(path) else "w+b")


def _open_anew(path: str) -> Any:
    """Replaces an old file by a new one: a storage may have mapped the old one, which must not become shorter."""
    permissions = stat.S_IMODE(os.stat(path).st_mode)
    with contextlib.suppress(OSError):  # where a folder cannot be written to, the file is shortened
        os.unlink(path)
    return open(path, "wb", opener=lambda name, flags: os.open(name, flags, permissions))


class MemoryFile(File):
    """A file in memory: new, or with the bytes of a CharStorage, whose last one is a zero that ends them.

    >>> from strided import torch7 as torch
    >>> f = torch.MemoryFile()
    >>> f.writeInt(12)
    >>> f.storage().totable()
    [49, 50, 10, 0]
    """

    __slots__ = ()
    _typename = "torch.MemoryFile"

    def __init__(self, storage: Any = None, mode: Any = None) -> None:
        self._file = None
        data = b"\0"
        if isinstance(storage, Storage) and storage._dtype is st.int8:
            data = bytes(memoryview(storage._storage.view(st.uint8)))
            if not data.endswith(b"\0"):
                raise bad_argument(1, None, "provided CharStorage must be terminated by 0")
            mode = "rw" if mode is None else string(mode, 2, None)
        else:  # the mode is the only argument
            mode = "rw" if storage is None else string(storage, 1, None)
        self._open(io.BytesIO(data[:-1]), _checked_mode(mode))

    def _seek(self, file: Any, place: int) -> None:
        if place > len(file.getbuffer()):
            self._failed(f"unable to seek at position {place}")
        else:
            file.seek(place)

    def storage(self) -> Storage:
        """The bytes of the file and a zero, in a CharStorage of its own.

        >>> from strided import torch7 as torch
        >>> torch.MemoryFile().storage().totable()
        [0]
        """
        return char_storage(self._opened("storage").getvalue() + b"\0")

    def __repr__(self) -> str:
        return f"torch.MemoryFile [status: {'closed' if self._file is None else 'open'} -- mode: {self._mode()}]"
