"""Compressed chunks of zarr: the size that they declare, and decompression that stops at a limit."""

from __future__ import annotations

import bz2
import lzma
import struct
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

#: The compressors that are allowed, and the classes of numcodecs for those that Python lacks.
COMPRESSORS = {"blosc": "Blosc", "zstd": "Zstd", "gzip": "", "zlib": "", "lz4": "LZ4", "bz2": "", "lzma": ""}
#: The most memory for the dictionary of LZMA; its highest preset needs 65 MB.
MAX_LZMA_MEMORY = 1 << 27


class Refusal(Exception):
    """Why a chunk is not decoded: damage, or something that is not allowed."""


class Size(NamedTuple):
    """The size of decompressed bytes: exact, or an upper limit."""

    limit: int
    is_exact: bool


def short(value: object) -> str:
    """Returns a value from a file as text, cut to a length that fits a message."""
    try:
        text = ascii(value)
    except (RecursionError, ValueError):
        return f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def class_of(name: str) -> Any:
    """Returns a class of numcodecs."""
    try:
        import numcodecs
    except ImportError:
        raise ImportError(f"load: chunks with the codec {name} need the package numcodecs: pip install zarr") from None
    return getattr(numcodecs, name)


def decompressor(name: str, config: dict[str, Any]) -> Callable[[Any, Size], Any]:
    """Returns a function that decompresses bytes. It refuses those that do not have the size that it is given."""
    if name == "lzma":
        make = _lzma_maker(config)
        return lambda data, size: _inflate(name, make, data, size, several=True)
    if name == "zlib":
        return lambda data, size: _inflate(name, zlib.decompressobj, data, size, several=False)
    if name == "gzip":
        return lambda data, size: _inflate(name, lambda: zlib.decompressobj(wbits=31), data, size, several=True)
    if name == "bz2":
        return lambda data, size: _inflate(name, bz2.BZ2Decompressor, data, size, several=True)
    codec = class_of(COMPRESSORS[name])()
    declared = {"blosc": _blosc_size, "zstd": _zstd_size, "lz4": _lz4_size}[name]

    def decode(data: Any, size: Size) -> Any:
        import numpy

        data = memoryview(data).cast("B")
        wanted = declared(data)
        if wanted is None and size.is_exact:
            wanted = size.limit  # into a buffer of this length; any other length is an error
        if wanted is None or wanted > size.limit or (size.is_exact and wanted != size.limit):
            raise Refusal(f"{name} declares {'no size' if wanted is None else f'{wanted} bytes'}, wanted {size.limit}")
        into: Any = numpy.empty(wanted, "u1")
        codec.decode(data, into)
        return into

    return decode


def _inflate(name: str, make: Callable[[], Any], data: Any, size: Size, several: bool) -> bytes:
    """Inflates one stream, or several in a row, and stops when the output exceeds the limit."""
    pieces, done = [], 0
    data = memoryview(data).cast("B")
    while True:
        stream = make()
        piece = stream.decompress(data, size.limit - done + 1)
        pieces.append(piece)
        done += len(piece)
        if done > size.limit:
            raise Refusal(f"{name} decodes to more than {size.limit} bytes")
        if not stream.eof:
            raise Refusal(f"{name} ends too early")
        data = stream.unused_data.lstrip(b"\0")
        if not data or not several:
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)
        if len(pieces) > 1 and not piece:
            raise Refusal(f"{name} has streams without bytes")


def _lzma_maker(config: dict[str, Any]) -> Callable[[], Any]:
    format, filters = config.get("format", lzma.FORMAT_XZ), config.get("filters")
    if type(format) is not int or format not in range(4):
        raise Refusal(f"lzma: format is {short(format)}")
    if format != lzma.FORMAT_RAW:
        return lambda: lzma.LZMADecompressor(format, memlimit=MAX_LZMA_MEMORY)
    if not isinstance(filters, list) or not filters or len(filters) > 4:
        raise Refusal(f"lzma: filters is {short(filters)}")
    for entry in filters:
        values = entry.values() if isinstance(entry, dict) else [None]
        if any(type(value) is not int for value in values) or entry.get("dict_size", 0) > MAX_LZMA_MEMORY:
            raise Refusal(f"lzma: filters is {short(filters)}")
    return lambda: lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=filters)


def _blosc_size(data: memoryview) -> int:
    if data.nbytes < 16:
        raise Refusal(f"blosc: {data.nbytes} bytes, and its header has 16")
    inflated, _, stored = struct.unpack_from("<III", data, 4)
    if stored != data.nbytes:  # numcodecs would read beyond the end
        raise Refusal(f"blosc declares {stored} compressed bytes, and there are {data.nbytes}")
    return int(inflated)


def _lz4_size(data: memoryview) -> int:
    if data.nbytes < 4:
        raise Refusal(f"lz4: {data.nbytes} bytes, and its header has 4")
    return int(struct.unpack_from("<I", data)[0])


def _zstd_size(data: memoryview) -> int | None:
    """Returns the size that all frames declare, or None if one does not. RFC 8878 has the format."""
    total, at, is_known = 0, 0, True
    try:
        while at < data.nbytes:
            (magic,) = struct.unpack_from("<I", data, at)
            if magic & 0xFFFFFFF0 == 0x184D2A50:  # a frame that decoders skip
                at += 8 + int(struct.unpack_from("<I", data, at + 4)[0])
                continue
            if magic != 0xFD2FB528:
                raise Refusal("zstd: no frame of zstd")
            flags = data[at + 4]
            is_single = flags >> 5 & 1
            at += 5 + (not is_single) + (0, 1, 2, 4)[flags & 3]
            width = (is_single, 2, 4, 8)[flags >> 6]
            declared = int.from_bytes(data[at : at + width], "little") + (256 if width == 2 else 0)
            is_known, total = is_known and width > 0, total + declared
            at = _after_blocks(data, at + width) + 4 * (flags >> 2 & 1)
    except (struct.error, IndexError):
        raise Refusal("zstd ends too early") from None
    if at != data.nbytes:
        raise Refusal("zstd ends too early")
    return total if is_known else None


def _after_blocks(data: memoryview, at: int) -> int:
    """Returns where the blocks of a frame of zstd end."""
    while True:
        header = data[at] | data[at + 1] << 8 | data[at + 2] << 16
        at += 3 + (1 if header >> 1 & 3 == 1 else header >> 3)
        if header & 1:
            return at
