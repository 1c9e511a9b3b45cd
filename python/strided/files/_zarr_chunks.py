"""The chunks of a zarr array: which files they are, and the array that they make up."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from strided.files._zarr_codecs import elements_of
from strided.files._zarr_inflate import Refusal
from strided.files._zarr_metadata import Array, damage, read_file

#: The most bytes that one byte on the disk may stand for, as in deflated data, and the least that a file takes there.
MAX_RATIO = 1032
MIN_FILE_BYTES = 4096
#: Chunks of an array from this number of bytes on are decoded by several threads; and how many at most, as each needs memory.
THREADED = 1 << 22
THREADS = 8


class Chunk(NamedTuple):
    """The file of a chunk."""

    place: tuple[int, ...]
    path: str
    size: int
    identity: tuple[int, ...]


def _chunk(place: tuple[int, ...], path: str) -> Chunk:
    status = os.stat(path)
    return Chunk(place, path, status.st_size, (status.st_dev, status.st_ino))


def chunks_of(array: Array) -> list[Chunk]:
    """Lists the files of chunks. It takes as long as there are files, however many the shape has room for."""
    if 0 in array.shape:
        return []
    counts = [-(-extent // size) for extent, size in zip(array.shape, array.chunk, strict=True)]
    if not counts:
        path = os.path.join(array.folder, "c" if array.has_prefix else "0")
        return [_chunk((), path)] if os.path.lexists(path) else []
    if array.separator == "/":
        root = os.path.join(array.folder, "c") if array.has_prefix else array.folder
        return list(_nested(root, counts, ()))
    found = []
    with os.scandir(array.folder) as items:
        for item in items:
            words = item.name.split(".")
            if array.has_prefix and words.pop(0) != "c":
                continue
            place = _place(words, counts)
            if place is not None:
                found.append(_chunk(place, item.path))
    return found


def _nested(folder: str, counts: list[int], above: tuple[int, ...]) -> Iterator[Chunk]:
    try:
        items = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return
    for item in items:
        place = _place([item.name], counts[len(above) : len(above) + 1])
        if place is None:
            continue
        if len(above) + 1 < len(counts):
            yield from _nested(item.path, counts, above + place)
        else:
            yield _chunk(above + place, item.path)


def _place(words: list[str], counts: list[int]) -> tuple[int, ...] | None:
    """Returns the numbers of a key, if it is that of a chunk of the array."""
    if len(words) != len(counts):
        return None
    for word in words:
        if not (word.isascii() and word.isdigit()) or len(word) > 19 or (word[0] == "0" and word != "0"):
            return None
    place = tuple(map(int, words))
    return place if all(i < n for i, n in zip(place, counts, strict=True)) else None


def _bytes_on_disk(array: Array, chunks: list[Chunk], seen: set[tuple[int, ...]]) -> int:
    """Returns the bytes of the files of an array. One that was counted before, under another name, has none."""
    total = 0
    for identity, size in [(array.identity, array.size), *((chunk.identity, chunk.size) for chunk in chunks)]:
        total += 0 if identity in seen else max(size, MIN_FILE_BYTES)
        seen.add(identity)
    return total


def load_array(array: Array, max_bytes: int | None, seen: set[tuple[int, ...]]) -> Any:
    """Decodes an array of numbers, which must be in proportion to its files, or within `max_bytes`.

    `seen` are the files of arrays that were loaded before, so that links do not multiply what a folder stands for.
    """
    import numpy

    if array.problem or array.chain is None:
        raise Refusal(array.problem)
    nbytes = math.prod(array.shape) * array.native.itemsize
    if max_bytes is not None and nbytes > max_bytes:
        raise Refusal(f"needs {nbytes} bytes, and max_bytes leaves {max_bytes}")
    with damage():
        chunks = chunks_of(array)
    stored = _bytes_on_disk(array, chunks, seen)
    if max_bytes is None and nbytes > stored * MAX_RATIO:
        raise Refusal(
            f"needs {nbytes} bytes, out of proportion to the {stored} of its files; max_bytes={nbytes} loads it"
        )
    counts = [-(-extent // size) for extent, size in zip(array.shape, array.chunk, strict=True)]
    if len(chunks) == math.prod(counts):
        whole = numpy.empty(array.shape, array.native)
    else:
        whole = numpy.full(array.shape, array.fill, array.native)
    chunks.sort()
    if nbytes < THREADED or len(chunks) < 2:
        for chunk in chunks:
            _load_chunk(array, chunk, whole, max_bytes)
        return whole
    with ThreadPoolExecutor(min(THREADS, os.cpu_count() or 1)) as pool:
        try:
            for _ in pool.map(lambda chunk: _load_chunk(array, chunk, whole, max_bytes), chunks):
                pass
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return whole


def _load_chunk(array: Array, chunk: Chunk, whole: Any, max_bytes: int | None) -> None:
    assert array.chain is not None
    key = os.path.relpath(chunk.path, array.folder).replace(os.sep, "/")
    expected = math.prod(array.chunk) * array.stored.itemsize
    if expected > max(max(chunk.size, MIN_FILE_BYTES) * MAX_RATIO, max_bytes or 0):
        reason = f"needs {expected} bytes, out of proportion to its {chunk.size}; max_bytes={expected} loads it"
        raise Refusal(f"chunk {key} {reason}")
    try:
        file = read_file(chunk.path, chunk.size if array.chain.has_shards else array.chain.size.limit)
        if file is None:
            raise Refusal("was removed while it was read")
        decoded = array.chain.decode(file.data)
    except Refusal as refusal:
        raise Refusal(f"chunk {key}: {refusal}") from None
    order: Any = "F" if array.is_column_major else "C"
    elements = elements_of(decoded, array.stored).reshape(array.chunk, order=order)
    into, part = [], []
    for i, size, extent in zip(chunk.place, array.chunk, array.shape, strict=True):
        into.append(slice(i * size, min((i + 1) * size, extent)))
        part.append(slice(0, min(size, extent - i * size)))
    whole[tuple(into)] = elements[tuple(part)]
