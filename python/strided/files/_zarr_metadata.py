"""What the JSON files of a zarr folder say: arrays and groups of versions 2 and 3. Nothing is imported or called for it."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from strided.files._zarr_codecs import Chain, extents, numeric_dtype
from strided.files._zarr_inflate import Refusal, short

#: The longest JSON file that is read.
MAX_METADATA = 1 << 24
#: Errors of the system that mean damage: what should be a file is a folder, or the other way round, a link to itself.
_DAMAGE = (errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENXIO)

#: The keys of an array of version 3. Any other must say that it need not be understood.
_KEYS_3 = {
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "codecs",
    "fill_value",
    "attributes",
    "dimension_names",
    "storage_transformers",
    "consolidated_metadata",
}
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class Array(NamedTuple):
    """An array of a folder."""

    #: Names of groups, and its own; none for a folder that is one array.
    path: tuple[str, ...]
    folder: str
    shape: tuple[int, ...]
    chunk: tuple[int, ...]
    #: What the file calls it, or NumPy for a dtype of numbers; and its bytes, if they are known.
    dtype_name: str
    itemsize: int | None
    #: The NumPy dtype of decoded chunks, and of the tensor.
    stored: Any
    native: Any
    fill: Any
    chain: Chain | None
    is_column_major: bool
    has_prefix: bool
    separator: str
    #: The bytes of its metadata, and the device and the number of their file.
    size: int
    identity: tuple[int, ...]
    #: Why it is not loaded, or an empty text.
    problem: str


class Node(NamedTuple):
    """An array or a group, with its attributes."""

    version: int
    attributes: dict[str, Any]
    array: Array | None
    #: What tells its metadata file from another under the same name.
    identity: tuple[int, ...]


@contextmanager
def damage() -> Iterator[None]:
    """Errors of the system that mean that the folder is damaged, or was removed, are refusals."""
    try:
        yield
    except OSError as error:
        if error.errno not in (*_DAMAGE, errno.ENOENT):
            raise
        name = os.path.basename(error.filename) if isinstance(error.filename, str) else ""
        raise Refusal(f"{name or 'a folder'} is not read: {error.strerror}") from None


class Identity(NamedTuple):
    """A file as `read_file` found it."""

    data: bytes
    identity: tuple[int, ...]


def identity_of(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


def read_file(path: str, limit: int) -> Identity | None:
    """Reads a plain file, or returns None if there is none. A pipe or a device is refused, and not waited for."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in _DAMAGE:
            raise Refusal(f"{os.path.basename(path)} is no file: {error.strerror}") from None
        raise
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise Refusal(f"{os.path.basename(path)} is no file")
        if status.st_size > limit:
            raise Refusal(f"{os.path.basename(path)} has {status.st_size} bytes, wanted at most {limit}")
        data = os.read(handle, status.st_size)
        while len(data) < status.st_size and (more := os.read(handle, status.st_size - len(data))):
            data += more
    finally:
        os.close(handle)
    return Identity(data, identity_of(status))


def read_node(folder: str, path: tuple[str, ...], version: int | None) -> Node | None:
    """Reads the metadata of a folder, of either version unless it is given. None if it has none."""
    try:
        if version != 2 and (file := read_file(os.path.join(folder, "zarr.json"), MAX_METADATA)):
            return _node_3(folder, path, file)
        if version != 3 and (file := read_file(os.path.join(folder, ".zarray"), MAX_METADATA)):
            return _node_2(folder, path, file, is_array=True)
        if version != 3 and (file := read_file(os.path.join(folder, ".zgroup"), MAX_METADATA)):
            return _node_2(folder, path, file, is_array=False)
    except Refusal as refusal:
        raise Refusal(f"{'/'.join(path)!r}: {refusal}" if path else str(refusal)) from None
    return None


def marker_of(version: int, is_array: bool) -> str:
    """The name of the file that a node has its metadata in."""
    return "zarr.json" if version == 3 else ".zarray" if is_array else ".zgroup"


def _json(data: bytes, name: str) -> dict[str, Any]:
    try:
        read = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Refusal(f"{name} is no JSON: {str(error)[:200]}") from None
    if not isinstance(read, dict):
        raise Refusal(f"{name} is no object of JSON")
    return read


def _attributes(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Refusal(f"the attributes are {short(value)}, wanted an object of JSON")
    return value


def _node_2(folder: str, path: tuple[str, ...], file: Identity, is_array: bool) -> Node:
    said = _json(file.data, ".zarray" if is_array else ".zgroup")
    if said.get("zarr_format") != 2:
        raise Refusal(f"zarr_format is {short(said.get('zarr_format'))}, wanted 2")
    attributes: dict[str, Any] = {}
    if not path and (beside := read_file(os.path.join(folder, ".zattrs"), MAX_METADATA)):
        attributes = _attributes(_json(beside.data, ".zattrs"))
    return Node(2, attributes, _array_2(folder, path, said, file) if is_array else None, file.identity)


def _array_2(folder: str, path: tuple[str, ...], said: dict[str, Any], file: Identity) -> Array:
    shape = extents(said.get("shape"), "shape")
    order, separator = said.get("order", "C"), said.get("dimension_separator", ".")
    if order not in ("C", "F") or separator not in (".", "/"):
        raise Refusal(f"order is {short(order)} and dimension_separator {short(separator)}")
    filters = said.get("filters") or []
    if not isinstance(filters, list):
        raise Refusal(f"filters is {short(filters)}")
    compressor = said.get("compressor")
    specs = filters if compressor is None else [*filters, compressor]
    facts = _Facts(folder, path, shape, _chunk_shape(said.get("chunks"), shape, "chunks"), file)
    return facts.array(2, said.get("dtype"), said.get("fill_value"), specs, order == "F", False, separator)


def _node_3(folder: str, path: tuple[str, ...], file: Identity) -> Node:
    said = _json(file.data, "zarr.json")
    if said.get("zarr_format") != 3:
        raise Refusal(f"zarr_format is {short(said.get('zarr_format'))}, wanted 3")
    attributes = _attributes(said.get("attributes", {}))
    kind = said.get("node_type")
    if kind not in ("array", "group"):
        raise Refusal(f"node_type is {short(kind)}, wanted 'array' or 'group'")
    return Node(3, attributes, _array_3(folder, path, said, file) if kind == "array" else None, file.identity)


def _array_3(folder: str, path: tuple[str, ...], said: dict[str, Any], file: Identity) -> Array:
    shape = extents(said.get("shape"), "shape")
    grid = _configuration(said, "chunk_grid", ("regular",))[1]
    chunk = _chunk_shape(grid.get("chunk_shape"), shape, "chunk_shape")
    name, keys = _configuration(said, "chunk_key_encoding", ("default", "v2"))
    separator = keys.get("separator", "/" if name == "default" else ".")
    if separator not in (".", "/"):
        raise Refusal(f"the separator of chunk keys is {short(separator)}")
    if said.get("storage_transformers"):
        raise Refusal("it has storage_transformers, which are not read")
    for key in said.keys() - _KEYS_3:
        if not isinstance(said[key], dict) or said[key].get("must_understand") is not False:
            raise Refusal(f"it has {short(key)}, which is not known")
    codecs = said.get("codecs")
    if not isinstance(codecs, list) or not codecs:
        raise Refusal(f"codecs is {short(codecs)}")
    facts = _Facts(folder, path, shape, chunk, file)
    return facts.array(3, said.get("data_type"), said.get("fill_value"), codecs, False, name == "default", separator)


def _configuration(said: dict[str, Any], key: str, known: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    """Returns the name and the configuration of an extension point of version 3."""
    value = said.get(key)
    name = value.get("name") if isinstance(value, dict) else value
    config = value.get("configuration", {}) if isinstance(value, dict) else {}
    if not isinstance(name, str) or name not in known or not isinstance(config, dict):
        raise Refusal(f"{key} is {short(value)}")
    return name, config


def _chunk_shape(value: object, shape: tuple[int, ...], what: str) -> tuple[int, ...]:
    chunk = extents(value, what)
    if len(chunk) != len(shape):
        raise Refusal(f"{what} is {short(value)}, and the shape has {len(shape)} dims")
    if any(size == 0 != extent for size, extent in zip(chunk, shape, strict=True)):
        raise Refusal(f"{what} is {short(value)}")
    return tuple(max(size, 1) for size in chunk)


class _Facts(NamedTuple):
    """What does not depend on the version."""

    folder: str
    path: tuple[str, ...]
    shape: tuple[int, ...]
    chunk: tuple[int, ...]
    file: Identity

    def array(
        self,
        version: int,
        dtype: object,
        fill: object,
        specs: list[Any],
        is_column_major: bool,
        has_prefix: bool,
        separator: str,
    ) -> Array:
        """Returns the array. What only loading needs is a problem of it, so that a group lists its other arrays."""
        stored = native = value = chain = None
        name, itemsize, problem = _dtype_name(dtype), _itemsize(dtype), ""
        try:
            stored = numeric_dtype(dtype)
            native = stored.newbyteorder("=")
            name, itemsize = str(native), native.itemsize
        except Refusal:
            problem = f"has the dtype {name}, which strided does not have"
        if stored is not None:
            value = _fill(fill, native, version)
            try:
                chain = Chain(self.chunk, stored, value)
                for spec in specs:
                    chain.add_2(spec) if version == 2 else chain.add_3(spec)
            except Refusal as refusal:
                problem = f"is not decoded: {refusal}"
        facts = (self.path, self.folder, self.shape, self.chunk, name, itemsize, stored, native, value, chain)
        return Array(
            *facts, is_column_major, has_prefix, separator, len(self.file.data), self.file.identity[:2], problem
        )


def _dtype_name(dtype: object) -> str:
    name = dtype.get("name") if isinstance(dtype, dict) else dtype
    return name if isinstance(name, str) and name.isascii() and name.isprintable() and len(name) <= 80 else short(name)


def _itemsize(dtype: object) -> int | None:
    """The bytes of an element of some dtypes of version 2 that are no numbers: '<U5', '|S3', '<M8[ns]'."""
    match = re.fullmatch(r"[<>|=]?([USVMm])(\d{1,6})(\[\w+\])?", dtype) if isinstance(dtype, str) else None
    return None if match is None else int(match[2]) * (4 if match[1] == "U" else 1)


def _fill(value: object, dtype: Any, version: int) -> Any:
    """Returns the fill value as an array without dims."""
    import numpy

    if value is None and version == 2:
        return numpy.zeros((), dtype)
    try:
        if dtype.kind == "c":
            if isinstance(value, list) and len(value) == 2:
                real, imaginary = (_real(part, dtype.itemsize // 2) for part in value)
                return numpy.array(complex(real, imaginary), dtype)
            return numpy.array(_real(value, dtype.itemsize // 2), dtype)
        number = _real(value, dtype.itemsize) if dtype.kind == "f" else _integer(value, dtype)
        with numpy.errstate(all="ignore"):
            return numpy.array(number, dtype)
    except (ValueError, OverflowError):
        raise Refusal(f"the fill value {short(value)} is none of {dtype}") from None


def _integer(value: object, dtype: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or (dtype.kind == "b" and value not in (0, 1)):
        raise ValueError
    return value


def _real(value: object, itemsize: int) -> float:
    """A number, one of three words, or the bits in hexadecimal."""
    if isinstance(value, str) and value in _SPECIAL:
        return _SPECIAL[value]
    if isinstance(value, str) and re.fullmatch(r"0x[0-9a-fA-F]{1,16}", value):
        code = {2: "e", 4: "f", 8: "d"}[itemsize]
        return float(struct.unpack("<" + code, int(value, 16).to_bytes(itemsize, "little"))[0])
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise ValueError
    return float(value)
