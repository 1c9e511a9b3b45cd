"""What a user gives for a file: a path, a file object or a buffer; and the errors about it."""

from __future__ import annotations

import io
import os

from strided._strided import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]

#: Bytes that are read at a time from a file that cannot seek.
PIECE = 1 << 24


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


def source_of(f: Any, op: str) -> Any:
    """Returns what the native module reads from: a path, a buffer, or a file object with its start and its length."""
    path = path_of(f)
    if path is not None:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "rb") as pipe:  # such as /dev/stdin; a folder is an error
                return _read_all(pipe)
        return path
    if isinstance(f, io.BytesIO):
        return f.getbuffer()[f.tell() :]
    if hasattr(f, "read"):
        return _file_source(f, op)
    try:
        return memoryview(f).cast("B")
    except TypeError:
        raise TypeError(f"{op}: f is {type(f).__name__}, wanted a path, a file object or bytes") from None


def _file_source(f: Any, op: str) -> Any:
    if isinstance(f, io.TextIOBase):
        raise TypeError(f"{op}: f is a file of text; open it with mode 'rb'")
    if hasattr(f, "seek") and (not hasattr(f, "seekable") or f.seekable()):
        start = f.tell()
        end = f.seek(0, os.SEEK_END)
        f.seek(start)
        return f, start, max((f.tell() if end is None else end) - start, 0)
    return _read_all(f)


def _read_all(f: Any) -> bytes:
    pieces = []
    while piece := f.read(PIECE):
        pieces.append(piece)
    return b"".join(pieces)


def position_of(f: Any) -> int | None:
    """Returns the position of a file object that can seek, else None."""
    is_file = path_of(f) is None and hasattr(f, "seek") and hasattr(f, "tell")
    return f.tell() if is_file and (not hasattr(f, "seekable") or f.seekable()) else None


def target_of(f: Any, op: str) -> Any:
    """Returns what the native module writes to: a path or a file object."""
    path = path_of(f)
    if path is not None:
        return path
    if isinstance(f, io.TextIOBase):
        raise TypeError(f"{op}: f is a file of text; open it with mode 'wb'")
    return f


def fault(op: str, file: str, reason: str) -> FormatError:
    """Returns an error like those of the native module."""
    error = FormatError(f"{op}: {file}: {reason}" if file else f"{op}: {reason}")
    vars(error).update(file=file, offset=None, reason=reason)
    return error
