"""The table of formats: files, which the native module reads and writes, and folders of zarr."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from strided._strided import _file_formats
from strided.files._arguments import path_of


class Format(NamedTuple):
    """A row of the table.

    `save` chooses the format by the `suffixes`. `options` are the arguments of `save` that this format takes and others refuse.
    `holds_one`: it holds one tensor and nothing else. `write` is None for what the native module writes.
    """

    name: str
    suffixes: tuple[str, ...]
    options: tuple[str, ...]
    holds_one: bool = False
    write: Callable[..., None] | None = None


def _write_zarr(*arguments: Any) -> None:
    from strided.files._zarr_write import save_zarr

    save_zarr(*arguments)


#: The format of a file object, and of a name without a suffix.
DEFAULT = "safetensors"

_NATIVE = [Format(name, tuple(suffixes), tuple(options), one) for name, suffixes, options, one in _file_formats()]
_NATIVE.sort(key=lambda row: row.name != DEFAULT)

#: The rows, the default first.
ROWS = {row.name: row for row in [*_NATIVE, Format("zarr", (".zarr",), ("metadata",), write=_write_zarr)]}

#: The formats, and the suffixes by which `save` knows them.
FORMATS = {row.name: row.suffixes for row in ROWS.values()}


def format_of(f: Any) -> str:
    """Returns the format of a file by its suffix; safetensors for a file object or a name without a suffix.

    >>> format_of("weights.npz"), format_of("weights")
    ('npz', 'safetensors')
    >>> format_of("weights.csv")
    Traceback (most recent call last):
        ...
    ValueError: weights.csv has the suffix .csv, wanted .safetensors, .strided, .npy, .npz, .t7, .pt, .pth or .zarr; format= chooses a format for any name
    """
    path = path_of(f) or ""
    suffix = os.path.splitext(path)[1].lower()
    if not suffix:
        return DEFAULT
    for name, suffixes in FORMATS.items():
        if suffix in suffixes:
            return name
    *known, last = [known for suffixes in FORMATS.values() for known in suffixes]
    wanted = f"{', '.join(known)} or {last}; format= chooses a format for any name"
    raise ValueError(f"{path} has the suffix {suffix}, wanted {wanted}")


def row_of(op: str, format: str, options: dict[str, Any]) -> Format:
    """Returns a row of the table. Refuses an unknown format, and an argument that the format does not take."""
    if format not in ROWS:
        raise ValueError(f"{op}: format is {format!r}, wanted {', '.join(map(repr, ROWS))}")
    for name, value in options.items():
        if value and name not in ROWS[format].options:
            wanted = " and ".join(f".{row.name}" for row in ROWS.values() if name in row.options)
            raise ValueError(f"{op}: {name} is for {wanted} files, and the format is {format}")
    return ROWS[format]
