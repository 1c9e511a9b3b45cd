"""What scripts print, on Python's streams."""

from __future__ import annotations

import sys

__all__ = ["flush", "isatty", "write"]


def write(number: int, data: str | bytes) -> None:
    """Writes to `sys.stdout` (1) or `sys.stderr` (2). Bytes that are not UTF-8 pass through if the stream has bytes."""
    stream = sys.stdout if number == 1 else sys.stderr
    if stream is None:  # a program without a console
        return
    if isinstance(data, str):
        try:
            stream.write(data)
            return
        except UnicodeEncodeError:
            data = data.encode("utf-8", "surrogatepass")
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(data.decode("utf-8", "backslashreplace"))
    else:
        stream.flush()
        buffer.write(data)
        buffer.flush()


def flush(number: int) -> None:
    """Flushes one of the streams."""
    stream = sys.stdout if number == 1 else sys.stderr
    if stream is not None:
        stream.flush()


def isatty(number: int) -> bool:
    """Whether one of the streams is a terminal."""
    stream = sys.stdout if number == 1 else sys.stderr
    return stream is not None and stream.isatty()
