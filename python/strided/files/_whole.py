"""Whole objects: save and load; and writing tensor by tensor."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from strided._strided import Storage, Tensor, _file_write, dtype
from strided.files import _places
from strided.files._arguments import fault, name_of, position_of, target_of
from strided.files._file import Entry, open
from strided.files._formats import Format, format_of, row_of

#: The most names that a warning lists.
SHOWN_NAMES = 8


def save(
    obj: Any,
    f: Any,
    format: str | None = None,
    *,
    metadata: dict[str, str] | None = None,
    fsync: bool = True,
    compress: bool = False,
    encoding: str | None = None,
    long_size: int | None = None,
    byte_order: str | None = None,
) -> None:
    """Writes an object to a file: a tensor, a storage, or dicts, lists and tuples of them, strings, numbers and None.

    `f` is a path or a file object. `format` is that of the suffix, such as .npz, unless it is given; without a suffix it is
    safetensors, in which everything survives exactly: strides, sharing, nesting, every dtype. `docs/files.md` lists the
    formats, and what they lose.

    Other readers of a .safetensors file see each tensor under its own name, in row-major order. Of several names for the
    same tensor they see the first, and the metadata has the others. Different tensors that overlap in memory are written
    together, as `storage.0` and so on, and a warning names them: save clones of them if others must read them.

    Tensors on a GPU are written as those of the CPU are; a .safetensors file notes the devices in its metadata, for
    `strided.load` with `map_location`.

    A file is replaced atomically when the new one is complete: an error, a full disk or the end of the process leaves the
    old one as it is. `fsync=False` does not wait until the bytes are on the disk. `metadata` are strings in a .safetensors
    file or attributes of a zarr folder, `compress` deflates a .npz file, `encoding` ('binary' or 'ascii'), `long_size` (8 or
    4) and `byte_order` ('little' or 'big') are for .t7 files.

    >>> import io
    >>> x = strided.arange(6).view(2, 3)
    >>> f = io.BytesIO()
    >>> strided.save({"embedding": x, "output": x, "transposed": x.clone().t()}, f)
    >>> _ = f.seek(0)
    >>> y = strided.load(f)
    >>> y["transposed"].stride(), y["output"] is y["embedding"]
    ((1, 3), True)
    """
    options: dict[str, Any] = {"metadata": metadata, "compress": compress, "encoding": encoding}
    options |= {"long_size": long_size, "byte_order": byte_order}
    row = row_of("save", format_of(f) if format is None else format, options)
    if row.name == "safetensors" and (noted := _places.note(obj)):
        options["metadata"] = {**(metadata or {}), _places.KEY: noted}
    _write("save", f, obj, row, options, fsync, None)


def load(
    f: Any,
    mmap: bool | str = False,
    *,
    map_location: Any = None,
    max_bytes: int | None = None,
    format: str | None = None,
    dtype: dtype | None = None,
    encoding: str | None = None,
    long_size: int | None = None,
    byte_order: str | None = None,
) -> Any:
    """Reads an object from a file of any format that `docs/files.md` lists.

    The format is recognised by the content. No code runs: an object that is no tensor and no plain container is an error, or
    a `strided.files.Record` in a .t7 file. `strided.files.open` has the other arguments.

    All tensors are on the CPU, whatever the file says, unless `map_location` names another place: a device, such as
    'gpu:1'; a dict from the devices that they were saved from to others; or a function of a storage and the name of the
    device that it was saved from, which returns a storage, or None to leave it on the CPU. Only .safetensors files of
    `strided.save` know that device; in all others it is 'cpu'. Tensors that share memory do so on the device, too.

    >>> import io, numpy
    >>> f = io.BytesIO()
    >>> numpy.save(f, numpy.arange(3))
    >>> _ = f.seek(0)
    >>> strided.load(f)
     0
     1
     2
    [strided.LongTensor of size 3]
    """
    mapped = _places.mapping(map_location)
    options: dict[str, Any] = {"dtype": dtype, "encoding": encoding, "long_size": long_size, "byte_order": byte_order}
    start = position_of(f)
    with open(f, format=format, mmap=mmap, max_bytes=max_bytes, op="load", **options) as file:
        loaded = file.load()
        if start is not None:
            end = file._content().end()
            if end is None:
                end = file.size or 0
            f.seek(start + end)
        noted = file.metadata.get(_places.KEY, "")
    return loaded if mapped is None else _places.moved(loaded, mapped, noted)


def write(
    f: Any,
    items: Mapping[str, Any] | Iterable[tuple[str, Any]],
    *,
    format: str | None = None,
    metadata: dict[str, str] | None = None,
    fsync: bool = True,
    progress: Callable[[int, int], object] | None = None,
    compress: bool = False,
    encoding: str | None = None,
    long_size: int | None = None,
    byte_order: str | None = None,
) -> None:
    """Writes named tensors, one after the other. Entries of open files are loaded when their turn comes, and then dropped.

    `progress` is called with the bytes that were written and those of all tensors. The other arguments are those of `save`.

    >>> import io
    >>> f, g = io.BytesIO(), io.BytesIO()
    >>> strided.save({"a": strided.ones(2), "b": strided.zeros(3)}, f)
    >>> _ = f.seek(0)
    >>> with strided.files.open(f) as file:
    ...     write(g, {entry.name: entry.to(strided.float16) for entry in file.entries}, format="npz")
    >>> _ = g.seek(0)
    >>> {name: x.dtype for name, x in strided.load(g).items()}
    {'a': strided.float16, 'b': strided.float16}
    """
    items = dict(items)
    for name, item in items.items():
        if not isinstance(item, (Tensor, Storage, Entry)):
            raise TypeError(f"write: items[{name!r}] is {type(item).__name__}, wanted a tensor, a storage or an entry")
    options: dict[str, Any] = {"metadata": metadata, "compress": compress, "encoding": encoding}
    options |= {"long_size": long_size, "byte_order": byte_order}
    row = row_of("write", format_of(f) if format is None else format, options)
    if row.holds_one and len(items) != 1:
        reason = f"a .{row.name} file holds one tensor, got {len(items)}; .npz holds several"
        raise fault("write", name_of(f), reason)
    total = sum(item.nbytes or 0 for item in items.values())
    callback = None if progress is None else lambda done: progress(min(done, total), total)
    content = next(iter(items.values())) if row.holds_one else items
    _write("write", f, content, row, options, fsync, callback)


def _write(
    op: str,
    f: Any,
    content: Any,
    row: Format,
    options: dict[str, Any],
    fsync: bool,
    progress: Callable[[int], object] | None,
) -> None:
    if row.write is not None:
        return row.write(content, f, op, options["metadata"], fsync, progress)
    with target_of(f, op) as target:
        options = {**options, "format": row.name, "fsync": fsync, "progress": progress}
        _, overlaps = _file_write(op, target, name_of(f), content, options)
    warn_of_overlaps(op, overlaps)


def warn_of_overlaps(op: str, overlaps: list[tuple[str, list[str]]]) -> None:
    """Warns of tensors that other readers of a new file do not see under their names."""
    for entry, names in overlaps:
        shown = ", ".join(map(repr, names[:SHOWN_NAMES])) + (", …" if len(names) > SHOWN_NAMES else "")
        advice = "save clones of them if others must read them"
        warnings.warn(f"{op}: {shown} overlap in memory; other readers see {entry!r} instead: {advice}", stacklevel=4)
