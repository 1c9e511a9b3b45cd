"""Pictures as PNG files, by the zlib of the standard library."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strided import Tensor

SIGNATURE = b"\x89PNG\r\n\x1a\n"
TRUECOLOUR = 2  # the type of pictures with three bytes for each pixel


def png_bytes(pixels: Tensor) -> bytes:
    """The PNG of a uint8 tensor of the shape height x width x 3.

    >>> import strided as st
    >>> png_bytes(st.zeros(2, 2, 3, dtype=st.uint8))[:4]
    b'\\x89PNG'
    """
    import strided as st

    height, width, _ = pixels.shape
    # Each row begins with the number of its filter: 0, none.
    rows = st.zeros(height, 1 + 3 * width, dtype=st.uint8)
    rows[:, 1:].copy_(pixels.reshape(height, 3 * width))
    header = struct.pack(">IIBBBBB", width, height, 8, TRUECOLOUR, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(memoryview(rows).cast("B"))), (b"IEND", b"")]
    return SIGNATURE + b"".join(map(_chunk, *zip(*chunks, strict=True)))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))


def write_png(path: str, pixels: Tensor) -> None:
    """Writes a PNG file, whole or not at all."""
    temporary = Path(f"{path}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(png_bytes(pixels))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
