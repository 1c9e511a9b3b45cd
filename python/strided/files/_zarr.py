"""Arrays and groups of zarr, read without the zarr package: it would look up codecs that a folder names, and bounds nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import strided
from strided._strided import dtype
from strided.files._arguments import fault
from strided.files._file import EntryFacts, TensorsOnly
from strided.files._replace import folder_identity, is_temporary
from strided.files._zarr_chunks import load_array
from strided.files._zarr_inflate import Refusal
from strided.files._zarr_metadata import Array, damage, identity_of, marker_of, read_node

#: How often a folder is read again that was replaced while it was read.
_TRIES = 20


class ZarrContent(TensorsOnly):
    """The arrays of a group, by their paths, or one array."""

    def __init__(self, path: str, op: str) -> None:
        self._path, self._op = path, op
        try:
            import numpy  # noqa: F401
        except ImportError:
            raise ImportError(f"{op}: folders of zarr need NumPy: pip install zarr") from None
        self._open()

    def _open(self) -> None:
        for _ in range(_TRIES):
            try:
                self._read()
            except Refusal as refusal:
                if not self._is_replaced():
                    raise fault(self._op, self._path, str(refusal)) from None
            else:
                if not self._is_replaced():
                    return
        raise self._replaced()

    def _read(self) -> None:
        self._marker, self._folder = "", folder_identity(self._path)
        self._identity: tuple[int, ...] = ()
        root = read_node(self._path, (), None)
        if root is None:
            raise Refusal("is a folder, and no array or group of zarr")
        self._version = root.version
        self._marker, self._identity = marker_of(root.version, root.array is not None), root.identity
        self._is_array = root.array is not None
        try:
            self._metadata = {key: str(value) for key, value in root.attributes.items()}
        except RecursionError:
            raise Refusal("the attributes are nested too deeply") from None
        with damage():
            arrays = [root.array] if root.array is not None else list(self._members())
        self._arrays = [(".".join(array.path) or "tensor", array) for array in arrays]
        self._arrays.sort(key=lambda pair: pair[0])

    def _members(self) -> Iterator[Array]:
        """All arrays below the root. A folder without metadata is not part of it."""
        status = os.stat(self._path)
        pending: list[tuple[str, tuple[str, ...], frozenset[tuple[int, int]]]]
        pending = [(self._path, (), frozenset({(status.st_dev, status.st_ino)}))]
        while pending:
            folder, path, above = pending.pop()
            with os.scandir(folder) as items:
                names = sorted(item.name for item in items if item.is_dir() and not is_temporary(item.name))
            for name in names:
                try:
                    name.encode()
                except UnicodeEncodeError:
                    raise Refusal(f"the name {name!a} is not UTF-8") from None
                inside, inner = os.path.join(folder, name), (*path, name)
                node = read_node(inside, inner, self._version)
                if node is None:
                    continue
                if node.array is not None:
                    yield node.array
                    continue
                status = os.stat(inside)
                if (own := (status.st_dev, status.st_ino)) in above:
                    raise Refusal(f"{'/'.join(inner)!r} is a link to a folder that it is in")
                pending.append((inside, inner, above | {own}))

    def _is_replaced(self) -> bool:
        """Whether another folder has taken the place of the one that was read."""
        if not self._marker:
            return self._folder != folder_identity(self._path)
        try:
            return identity_of(os.stat(os.path.join(self._path, self._marker))) != self._identity
        except OSError:
            return True

    def _replaced(self) -> Exception:
        return fault(self._op, self._path, "the folder was replaced while it was read")

    def format(self) -> str:
        return "zarr"

    def details(self) -> dict[str, str | int]:
        return {"version": self._version}

    def metadata(self) -> dict[str, str]:
        return self._metadata

    def names(self) -> list[str]:
        return [name for name, _ in self._arrays]

    def entry(self, index: int) -> EntryFacts:
        _, array = self._arrays[index]
        known = None if array.native is None else dtype(array.dtype_name)
        stride: list[int] = []
        count = 1
        for extent in reversed(array.shape):
            stride.insert(0, count)
            count *= extent
        nbytes = None if array.itemsize is None else count * array.itemsize
        reason = array.problem or "in chunks"
        return EntryFacts(
            kind="tensor",
            dtype=known,
            dtype_name=array.dtype_name,
            shape=array.shape,
            stride=tuple(stride),
            offset=0,
            nbytes=nbytes,
            storage=index,
            stored="chunks",
            position=None,
            byte_order="little",
            reason=reason,
        )

    def load(self, max_bytes: int | None, hooks: Any) -> Any:
        for _ in range(_TRIES):
            try:
                loaded = self._load_all(max_bytes)
            except strided.FormatError:
                if not self._is_replaced():
                    raise
            else:
                if not self._is_replaced():
                    return loaded
            if self._op != "load":  # the entries of an open file are those of the old folder
                break
            self._open()
        raise self._replaced()

    def _load_all(self, max_bytes: int | None) -> Any:
        if self._is_array:
            return self._load(0, max_bytes, set())
        loaded: dict[str, Any] = {}
        seen: set[tuple[int, ...]] = set()
        for i, (_, array) in enumerate(self._arrays):
            x = self._load(i, max_bytes, seen)
            max_bytes = None if max_bytes is None else max_bytes - x.nbytes
            inside = loaded
            for folder in array.path[:-1]:
                inside = inside.setdefault(folder, {})
            inside[array.path[-1]] = x
        return loaded

    def load_entry(self, index: int, max_bytes: int | None) -> Any:
        try:
            loaded = self._load(index, max_bytes, set())
        except strided.FormatError:
            if self._is_replaced():
                raise self._replaced() from None
            raise
        if self._is_replaced():
            raise self._replaced()
        return loaded

    def _load(self, index: int, max_bytes: int | None, seen: set[tuple[int, ...]]) -> Any:
        name, array = self._arrays[index]
        try:
            return strided.from_numpy(load_array(array, max_bytes, seen))
        except Refusal as refusal:
            raise fault("load", self._path, f"{name!r} {refusal}") from None

    def outline(self) -> list[tuple[int, str, str, str, int | None]]:
        if self._is_array:
            return [(0, "", "tensor", "", 0)]
        rows: list[tuple[int, str, str, str, int | None]] = [(0, "", "dict", f"{len(self._arrays)} items", None)]
        rows += [(1, name, "tensor", "", i) for i, (name, _) in enumerate(self._arrays)]
        return rows
