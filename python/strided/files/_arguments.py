"""What a user gives for a file: a path, a file object or a buffer; and the errors about it."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager

from strided._strided import FormatError, _default_max_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]

#: Bytes that are read at a time from a file that cannot seek.
READ_BYTES = 1 << 24


def path_of(f: Any) -> str | None:
    """Returns the path that an argument is, or None for a file object or a buffer."""
    return os.fsdecode(f) if isinstance(f, (str, bytes, os.PathLike)) else None


def name_of(f: Any) -> str:
    """Returns the name of a file for messages; empty if it has none."""
    path = path_of(f)
    if path is not None:
        return path
    name = getattr(f, "name", "")
    return name if isinstance(name, str) else ""


def source_of(f: Any, op: str, max_bytes: int | None = None, wanted: int | None = None) -> Any:
    """Returns what the native module reads from: a path, a buffer, or a file object with its start and its length.

    A pipe or a device has no length: it is read to its end, or up to the `wanted` bytes. More than `max_bytes`, or half of
    the memory, are an error.
    """
    path = path_of(f)
    if path is not None:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "rb", buffering=0) as pipe:  # such as /dev/stdin; a folder is an error
                return _read_all(pipe, op, path, max_bytes, wanted)
        return path
    if isinstance(f, io.BytesIO):
        return f.getbuffer()[f.tell() :]
    if hasattr(f, "read"):
        return _file_source(f, op, max_bytes, wanted)
    try:
        return memoryview(f).cast("B")
    except TypeError:
        raise TypeError(f"{op}: f is {type(f).__name__}, wanted a path, a file object or bytes") from None


def _file_source(f: Any, op: str, max_bytes: int | None, wanted: int | None) -> Any:
    if isinstance(f, io.TextIOBase):
        raise TypeError(f"{op}: f is a file of text; open it with mode 'rb'")
    if hasattr(f, "seek") and (not hasattr(f, "seekable") or f.seekable()):
        start = f.tell()
        end = f.seek(0, os.SEEK_END)
        f.seek(start)
        return f, start, max((f.tell() if end is None else end) - start, 0)
    return _read_all(f, op, name_of(f), max_bytes, wanted)


def _read_all(f: Any, op: str, name: str, max_bytes: int | None, wanted: int | None) -> bytearray:
    """The bytes of a file that has no length."""
    limit = _default_max_bytes() if max_bytes is None else max_bytes
    read = bytearray()
    while wanted is None or len(read) < wanted:
        piece = f.read(READ_BYTES if wanted is None else min(READ_BYTES, wanted - len(read)))
        if not piece:
            break
        if len(read) + len(piece) > limit:
            raise fault(op, name, f"has no length, and more than {limit} bytes; max_bytes= sets another limit")
        read += piece
    return read


def position_of(f: Any) -> int | None:
    """Returns the position of a file object that can seek, else None."""
    is_file = path_of(f) is None and hasattr(f, "seek") and hasattr(f, "tell")
    return f.tell() if is_file and (not hasattr(f, "seekable") or f.seekable()) else None


@contextmanager
def target_of(f: Any, op: str) -> Iterator[Any]:
    """Yields what the native module writes to: a path or a file object."""
    path = path_of(f)
    if path is not None:
        if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
            # A pipe may wait for its reader. Python's own file does that without its lock, and can be interrupted.
            with open(path, "wb", buffering=0) as pipe:
                yield pipe
        else:
            yield path
        return
    if isinstance(f, io.TextIOBase):
        raise TypeError(f"{op}: f is a file of text; open it with mode 'wb'")
    yield f
    if not isinstance(f, io.BytesIO) and hasattr(f, "flush"):
        f.flush()


def fault(op: str, file: str, reason: str) -> FormatError:
    """Returns an error like those of the native module."""
    error = FormatError(f"{op}: {file}: {reason}" if file else f"{op}: {reason}")
    vars(error).update(file=file, offset=None, reason=reason)
    return error
