"""Writes arrays and groups of zarr, through the zarr package."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from strided._strided import Storage, Tensor
from strided.files._arguments import fault, path_of
from strided.files._file import Entry
from strided.files._replace import NewFolder, folder_identity

#: dtypes that zarr has no name for.
LACKING = ("bfloat16",)
#: The most bytes of a chunk. As all chunks are written, none is out of proportion to its file (`_zarr_chunks.py`).
MAX_CHUNK_BYTES = 1 << 22
#: Files that a folder of zarr has one of.
_MARKERS = ("zarr.json", ".zarray", ".zgroup")


def save_zarr(
    obj: Any,
    f: Any,
    op: str,
    metadata: dict[str, str] | None = None,
    fsync: bool = True,
    progress: Callable[[int], object] | None = None,
) -> None:
    """Writes a tensor as an array, or a dict as a group. The folder takes its place when it is complete.

    Entries of open files are loaded one after the other. `progress` is called with the bytes that were written.
    """
    try:
        import zarr
    except ImportError:
        raise ImportError(f"{op}: folders of zarr need the package zarr: pip install zarr") from None
    path = path_of(f)
    if path is None:
        raise TypeError(f"{op}: zarr is written to a folder; f must be its path")
    if _is_foreign(path):
        raise fault(op, path, "is a folder, and no array or group of zarr; it is not replaced")
    with NewFolder(path) as new:
        _Writer(zarr, path, op, progress).write(new.temporary, obj, metadata or {})
        new.commit(fsync)


def _is_foreign(path: str) -> bool:
    """Whether a path is a folder with something else in it."""
    while True:
        before = folder_identity(path)
        try:
            names = os.listdir(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        if not names or any(marker in names for marker in _MARKERS):
            return False
        if before == folder_identity(path):  # else another process has replaced it in the meantime
            return True


def chunk_shape(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Returns chunks of whole rows of at most MAX_CHUNK_BYTES bytes.

    >>> chunk_shape((3000, 1000), 4)
    (1048, 1000)
    >>> chunk_shape((2, 3000, 1000), 4)
    (1, 1048, 1000)
    """
    left = MAX_CHUNK_BYTES // itemsize
    chunk: list[int] = []
    for extent in reversed(shape):
        chunk.insert(0, max(1, min(extent, left)))
        left //= chunk[0]
    return tuple(chunk)


class _Writer:
    """Writes arrays and groups below a folder."""

    def __init__(self, zarr: Any, path: str, op: str, progress: Callable[[int], object] | None) -> None:
        self._zarr, self._path, self._op, self._progress = zarr, path, op, progress
        self._written = 0

    def write(self, folder: str, obj: Any, metadata: dict[str, str]) -> None:
        store = self._zarr.storage.LocalStore(folder)
        if isinstance(obj, (Tensor, Storage, Entry)):
            root = self._create(lambda **options: self._zarr.create_array(store, **options), obj, "the tensor")
        else:
            root = self._zarr.create_group(store)  # `open_group` with mode "w" would remove the folder, which is locked
            self._write_items(root, obj)
        root.attrs.update(metadata)

    def _write_items(self, root: Any, obj: Any) -> None:
        pending = [(root, obj, "")]
        while pending:
            group, items, prefix = pending.pop()
            if not isinstance(items, dict):
                what = f"{prefix.removesuffix('.') or 'the object'} is {type(items).__name__}"
                raise self._fault(f"{what}; zarr holds tensors and dicts of them")
            for key, value in items.items():
                if not _is_name(key):
                    raise self._fault(f"{key!a} is no name that zarr takes")
                if isinstance(value, (Tensor, Storage, Entry)):
                    self._create(
                        lambda group=group, key=key, **options: group.create_array(key, **options),
                        value,
                        f"{prefix}{key}",
                    )
                else:
                    pending.append((group.create_group(key), value, f"{prefix}{key}."))

    def _create(self, create: Callable[..., Any], item: Tensor | Storage | Entry, name: str) -> Any:
        x = item._load_tensor() if isinstance(item, Entry) else item
        x = x if isinstance(x, Tensor) else Tensor(x, dtype=x.dtype)
        if str(x.dtype).removeprefix("strided.") in LACKING:
            raise self._fault(f"{name} is bfloat16, which zarr does not have; convert it (--dtype)")
        if self._progress is not None:
            self._progress(self._written)
        self._written += x.nbytes
        # A chunk of zeros is written, too: without its file, a reader cannot tell it from one that was lost.
        chunks = chunk_shape(tuple(x.shape), x.dtype.itemsize)
        return create(data=x.cpu().contiguous().numpy(), chunks=chunks, config={"write_empty_chunks": True})

    def _fault(self, reason: str) -> Exception:
        return fault(self._op, self._path, reason)


def _is_name(key: object) -> bool:
    if not isinstance(key, str) or key in ("", ".", "..", *_MARKERS, ".zattrs", ".zmetadata"):
        return False
    return not any(mark in key for mark in "/\\\0") and not any("\ud800" <= letter <= "\udfff" for letter in key)
