"""Conversion of files: to another format or other dtypes, without losing anything silently."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any, NamedTuple

from strided._strided import _Document, dtype
from strided.files._arguments import name_of, target_of
from strided.files._file import Entry, File, open
from strided.files._formats import format_of, row_of
from strided.files._whole import write


class LeftOut(NamedTuple):
    """Something that a new file does not have.

    `kind` is 'value' for a value that is no tensor, 'sharing' for tensors that no longer share memory, 'change' for a tensor
    whose dtype or shape the format lacks, 'overlap' for tensors that other readers do not see under their names since they
    overlap in memory, and 'metadata'.

    >>> strided.files.LeftOut("value", ["epoch"], "int 3").names
    ['epoch']
    """

    kind: str
    names: list[str]
    text: str


class Conversion(NamedTuple):
    """What `convert` has done: the dtypes of the tensors, their bytes, and what the new file does not have.

    >>> strided.files.Conversion({"w": "float16"}, 24, []).left_out
    []
    """

    tensors: dict[str, str]
    nbytes: int
    left_out: list[LeftOut]


class LossError(ValueError):
    """A conversion would leave out values that are no tensors; `left_out` lists them.

    >>> raise strided.files.LossError("out.npz", [strided.files.LeftOut("value", ["epoch"], "int 3")])
    Traceback (most recent call last):
        ...
    strided.files.LossError: convert: out.npz cannot have these values: epoch (int 3); drop_values=True leaves them out
    """

    __module__ = "strided.files"

    def __init__(self, target: str, left_out: list[LeftOut]) -> None:
        values = ", ".join(f"{', '.join(loss.names)} ({loss.text})" for loss in left_out)
        super().__init__(f"convert: {target} cannot have these values: {values}; drop_values=True leaves them out")
        self.left_out = left_out


def convert(
    source: Any,
    target: Any,
    *,
    format: str | None = None,
    select: Iterable[str] | None = None,
    dtype: dtype | Callable[[Entry], dtype | None] | None = None,
    drop_values: bool = False,
    fsync: bool = True,
    progress: Callable[[int, int], object] | None = None,
    compress: bool = False,
    encoding: str | None = None,
    long_size: int | None = None,
    byte_order: str | None = None,
) -> Conversion:
    """Writes the object of a file to a file of another format, with its values, names, nesting and sharing.

    `source` is what `open` takes, or an open file. `select` chooses tensors by their names; values are not selected. `dtype`
    casts tensors of its kind (floating, integer, complex), or is a function that returns the dtype for an entry, or None.

    Values that the format cannot have raise LossError before anything is written, unless `drop_values` is True. The result
    lists what the new file does not have. Memory stays below that of the largest storage. The other arguments are those of
    `write`.

    >>> import io
    >>> f, g = io.BytesIO(), io.BytesIO()
    >>> strided.save({"w": strided.ones(2, 3), "epoch": 3}, f)
    >>> _ = f.seek(0)
    >>> strided.files.convert(f, g, format="npz", dtype=strided.float16, drop_values=True)
    Conversion(tensors={'w': 'float16'}, nbytes=12, left_out=[LeftOut(kind='value', names=['epoch'], text='int 3')])
    """
    format = format_of(target) if format is None else format
    options: dict[str, Any] = {"compress": compress, "encoding": encoding, "long_size": long_size}
    options |= {"byte_order": byte_order}
    row = row_of("convert", format, options)
    with nullcontext(source) if isinstance(source, File) else open(source, mmap="r", op="convert") as file:
        positions = None if select is None else [file[name]._index for name in select]
        chosen = file.entries if positions is None else [file.entries[at] for at in positions]
        entries = [_cast(entry, dtype) for entry in chosen]
        content = file._content()
        left_out = [LeftOut(*loss) for loss in content.left_out(format, name_of(target), positions)]
        values = [loss for loss in left_out if loss.kind == "value"]
        if values and not drop_values:
            raise LossError(name_of(target) or format, values)
        metadata: dict[str, str] | None = file.metadata or None
        if metadata and "metadata" not in row.options:
            left_out.append(LeftOut("metadata", sorted(metadata), "metadata"))
            metadata = None
        total = sum(entry.nbytes or 0 for entry in entries)
        if isinstance(content, _Document) and row.write is None:
            callback = None if progress is None else lambda done: progress(min(done, total), total)
            options |= {"metadata": metadata, "format": format, "fsync": fsync, "progress": callback}
            casts = {entry._index: entry._cast for entry in entries if entry._cast is not None}
            with target_of(target, "convert") as opened:
                _, overlaps = content.convert("convert", opened, name_of(target), positions, casts, options)
            left_out += [LeftOut("overlap", names, f"other readers see {entry!r}") for entry, names in overlaps]
        else:
            items = {entry.name: entry for entry in entries}
            write(target, items, format=format, metadata=metadata, fsync=fsync, progress=progress, **options)
    return Conversion({entry.name: entry.dtype_name for entry in entries}, total, left_out)


def _cast(entry: Entry, wanted: dtype | Callable[[Entry], dtype | None] | None) -> Entry:
    if wanted is None or entry.dtype is None:
        return entry
    if isinstance(wanted, dtype):
        to = wanted if kind_of(entry.dtype) == kind_of(wanted) else None
    else:
        to = wanted(entry)
    return entry if to is None or to == entry.dtype else entry.to(to)


def kind_of(dtype: dtype) -> str:
    """Returns 'floating', 'complex' or 'integer'; bool counts as the last.

    >>> kind_of(strided.bfloat16)
    'floating'
    """
    if dtype.is_complex:
        return "complex"
    return "floating" if dtype.is_floating_point else "integer"
