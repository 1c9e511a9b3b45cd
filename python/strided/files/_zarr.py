"""Arrays and groups of zarr, through the zarr package."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import Any

import strided
from strided._strided import Storage, Tensor, dtype
from strided.files._arguments import fault, path_of
from strided.files._file import Described, Entry

#: dtypes that zarr has no name for.
LACKING = ("bfloat16",)


def _package(op: str) -> Any:
    try:
        import zarr
    except ImportError:
        raise ImportError(f"{op}: folders of zarr need the package zarr: pip install zarr") from None
    return zarr


#: Files that a folder of zarr has one of, in versions 3 and 2.
_MARKERS = ("zarr.json", ".zarray", ".zgroup")


class ZarrContent:
    """The arrays of a group, by their paths, or one array."""

    def __init__(self, path: str, op: str) -> None:
        if not any(os.path.exists(os.path.join(path, name)) for name in _MARKERS):
            raise fault(op, path, "is a folder, and no array or group of zarr")
        zarr = _package(op)
        try:
            self._root = zarr.open(path, mode="r")
        except Exception as error:
            raise fault(op, path, f"a folder that zarr does not open: {error}") from None
        self._path = path
        self._is_array = isinstance(self._root, zarr.Array)
        self._arrays: list[tuple[str, Any]] = [("tensor", self._root)] if self._is_array else []
        if not self._is_array:
            members = self._root.members(max_depth=None)
            self._arrays = [(name.replace("/", "."), item) for name, item in members if isinstance(item, zarr.Array)]
            self._arrays.sort(key=lambda pair: pair[0])

    def format(self) -> str:
        return "zarr"

    def details(self) -> dict[str, str | int]:
        return {"version": int(self._root.metadata.zarr_format)}

    def metadata(self) -> dict[str, str]:
        return {str(key): str(value) for key, value in self._root.attrs.asdict().items()}

    def names(self) -> list[str]:
        return [name for name, _ in self._arrays]

    def first_names(self) -> list[int | None]:
        return [None] * len(self.names())

    def values(self) -> list[tuple[str, str, Any]]:
        return []

    def left_out(self, format: str, target: str, select: list[int] | None) -> list[tuple[str, list[str], str]]:
        return []

    def entry(self, index: int) -> Described:
        _, array = self._arrays[index]
        name = str(array.dtype)
        known = _dtype_of(name)
        shape = tuple(array.shape)
        stride: list[int] = []
        count = 1
        for extent in reversed(shape):
            stride.insert(0, count)
            count *= extent
        nbytes = count * array.dtype.itemsize
        reason = "in chunks" if known is not None else f"strided has no dtype {name}"
        return ("tensor", known, name, shape, tuple(stride), 0, nbytes, index, "chunks", None, "little", reason)

    def load(self, max_bytes: int | None, hooks: Any) -> Any:
        tensors = []
        for i in range(len(self._arrays)):
            x = self.load_entry(i, max_bytes)
            max_bytes = None if max_bytes is None else max_bytes - x.nbytes
            tensors.append(x)
        if self._is_array:
            return tensors[0]
        loaded: dict[str, Any] = {}
        for (_, array), x in zip(self._arrays, tensors, strict=True):
            *folders, name = array.path.split("/")
            inside = loaded
            for folder in folders:
                inside = inside.setdefault(folder, {})
            inside[name] = x
        return loaded

    def load_entry(self, index: int, max_bytes: int | None) -> Any:
        name, array = self._arrays[index]
        if _dtype_of(str(array.dtype)) is None:
            raise fault("load", self._path, f"{name!r} has the dtype {array.dtype}, which strided does not have")
        nbytes = array.dtype.itemsize * array.size
        if max_bytes is not None and nbytes > max_bytes:
            raise fault("load", self._path, f"{name!r} needs {nbytes} bytes, and max_bytes leaves {max_bytes}")
        return strided.from_numpy(array[...]) if array.ndim else strided.tensor(array[...])

    def outline(self) -> list[tuple[int, str, str, str, int | None]]:
        if self._is_array:
            return [(0, "", "tensor", "", 0)]
        rows: list[tuple[int, str, str, str, int | None]] = [(0, "", "dict", f"{len(self._arrays)} items", None)]
        rows += [(1, name, "tensor", "", i) for i, (name, _) in enumerate(self._arrays)]
        return rows


def _dtype_of(name: str) -> dtype | None:
    found = getattr(strided, name, None)
    return found if isinstance(found, dtype) else None


def save_zarr(
    obj: Any,
    f: Any,
    op: str,
    metadata: dict[str, str] | None = None,
    progress: Callable[[int], object] | None = None,
) -> None:
    """Writes a tensor as an array, or a dict as a group. The folder takes its place when it is complete.

    Entries of open files are loaded one after the other. `progress` is called with the bytes that were written.
    """
    zarr = _package(op)
    path = path_of(f)
    if path is None:
        raise TypeError(f"{op}: zarr is written to a folder; f must be its path")
    temporary, old = f"{path}.{os.getpid()}.tmp", f"{path}.{os.getpid()}.old"
    try:
        _Writer(zarr, path, op, progress).write(temporary, obj, metadata or {})
        _replace(temporary, path, old)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _replace(new: str, path: str, old: str) -> None:
    """Puts a folder in the place of another. Not atomic: a reader in between finds no folder."""
    if not os.path.lexists(path):
        os.rename(new, path)
        return
    os.rename(path, old)
    try:
        os.rename(new, path)
    except OSError:
        os.rename(old, path)
        raise
    if os.path.isdir(old):
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.remove(old)


class _Writer:
    """Writes arrays and groups below a folder."""

    def __init__(self, zarr: Any, path: str, op: str, progress: Callable[[int], object] | None) -> None:
        self._zarr, self._path, self._op, self._progress = zarr, path, op, progress
        self._written = 0

    def write(self, store: str, obj: Any, metadata: dict[str, str]) -> None:
        if isinstance(obj, (Tensor, Storage, Entry)):
            root = self._zarr.create_array(store, data=self._array(obj, "the tensor"))
        else:
            root = self._zarr.open_group(store, mode="w")
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
                if not isinstance(key, str) or not key or "/" in key:
                    raise self._fault(f"{key!r} is no name that zarr takes")
                if isinstance(value, (Tensor, Storage, Entry)):
                    group.create_array(key, data=self._array(value, f"{prefix}{key}"))
                else:
                    pending.append((group.create_group(key), value, f"{prefix}{key}."))

    def _array(self, item: Tensor | Storage | Entry, name: str) -> Any:
        x = item._load_tensor() if isinstance(item, Entry) else item
        x = x if isinstance(x, Tensor) else Tensor(x, dtype=x.dtype)
        if str(x.dtype).removeprefix("strided.") in LACKING:
            raise self._fault(f"{name} is bfloat16, which zarr does not have; convert it (--dtype)")
        if self._progress is not None:
            self._progress(self._written)
        self._written += x.nbytes
        return x.contiguous().numpy()

    def _fault(self, reason: str) -> Exception:
        return fault(self._op, self._path, reason)
