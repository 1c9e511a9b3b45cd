"""Models in several safetensors files, with an index in JSON that says which tensor is where."""

from __future__ import annotations

import builtins
import json
import os
from typing import Any

from strided.files._arguments import fault
from strided.files._file import EntryFacts, File, TensorsOnly, open

#: The longest index that is read.
MAX_INDEX = 100_000_000


class ShardedContent(TensorsOnly):
    """The tensors of all files of an index, as those of one file."""

    def __init__(self, path: str, mmap: bool | str, op: str) -> None:
        weight_map, metadata = _read_index(path, op)
        folder = os.path.dirname(path)
        self._metadata = metadata
        files: dict[str, File] = {}
        self._places: list[tuple[File, int]] = []
        self._names = list(weight_map)
        for name, shard in weight_map.items():
            if shard not in files:
                beside = os.path.join(folder, shard)
                if not os.path.isfile(beside):
                    raise fault(op, path, f"the index says that {name!a} is in {shard!a}, and there is no such file")
                files[shard] = open(beside, format="safetensors", mmap=mmap, op=op)
            index = files[shard]._position(name)
            if index is None:
                raise fault(op, path, f"the index says that {shard!a} has {name!a}, and it has not")
            self._places.append((files[shard], index))
        self._count = len(files)

    def format(self) -> str:
        return "safetensors"

    def details(self) -> dict[str, str | int]:
        return {"files": self._count}

    def metadata(self) -> dict[str, str]:
        return self._metadata

    def names(self) -> list[str]:
        return self._names

    def entry(self, index: int) -> EntryFacts:
        file, inside = self._places[index]
        return file._content().entry(inside)

    def load(self, max_bytes: int | None, hooks: Any) -> dict[str, Any]:
        loaded = {}
        for i, name in enumerate(self._names):
            x = self.load_entry(i, max_bytes)
            if max_bytes is not None:
                max_bytes = max(0, max_bytes - x.nbytes)
            loaded[name] = x
        return loaded

    def load_entry(self, index: int, max_bytes: int | None) -> Any:
        file, inside = self._places[index]
        return file._content().load_entry(inside, max_bytes)

    def outline(self) -> list[tuple[int, str, str, str, int | None]]:
        rows: list[tuple[int, str, str, str, int | None]] = [(0, "", "dict", f"{len(self._names)} items", None)]
        rows += [(1, name, "tensor", "", i) for i, name in enumerate(self._names)]
        return rows


def _read_index(path: str, op: str) -> tuple[dict[str, str], dict[str, str]]:
    if os.path.exists(path) and not os.path.isfile(path):
        raise fault(op, path, "the index is no file")
    if os.path.getsize(path) > MAX_INDEX:
        raise fault(op, path, f"an index of more than {MAX_INDEX} bytes")
    with builtins.open(path, encoding="utf-8") as file:
        try:
            index = json.load(file)
        except (ValueError, RecursionError) as error:
            raise fault(op, path, f"the index is no JSON: {error}") from None
    weight_map = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(weight_map, dict):
        raise fault(op, path, "the index has no weight_map")
    for name, shard in weight_map.items():
        if not _is_file_name(shard):
            said = ascii(shard) if isinstance(shard, str) else f"a {type(shard).__name__}"
            raise fault(op, path, f"the index says that {name!a} is in {said}, which is no file beside it")
    metadata = index.get("metadata")
    try:
        return weight_map, {str(key): str(value) for key, value in metadata.items()} if isinstance(
            metadata, dict
        ) else {}
    except RecursionError:
        raise fault(op, path, "the metadata of the index are nested too deeply") from None


def _is_file_name(shard: object) -> bool:
    """Whether a value of the index can be the name of a safetensors file, and not a path or another index."""
    if not isinstance(shard, str) or shard in ("", ".", "..") or "\0" in shard or shard.endswith(".index.json"):
        return False
    try:
        os.fsencode(shard)
    except UnicodeEncodeError:
        return False
    return os.path.basename(shard) == shard
