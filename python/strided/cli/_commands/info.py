"""`strided info`: what is in a file. Reads headers only."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from strided.cli import _output as output
from strided.cli._target import add_select_option, open_file, select_entries, shape_text, split
from strided.display.numerals import bytes_text

if TYPE_CHECKING:
    from strided.files import Entry, File

EXAMPLES = """
  strided info model.safetensors
  strided info model.t7 --select 'modules.1.*'
  strided info weights.npz --json
"""
COLUMNS = ["name", "dtype", "shape", "stride", "bytes", "notes"]
FIELDS = [
    *("name", "kind", "dtype", "shape", "stride", "offset", "numel", "nbytes"),
    *("storage", "stored", "position", "byte_order", "mappable", "reason", "same_as"),
]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE[:NAME]")
    add_select_option(parser)
    parser.add_argument("--list", action="store_true", help="a list of names instead of a tree")
    output.add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    path, name = split(options.file)
    with output.progress(options, "reading"):
        file = open_file(path)
    with file:
        patterns = [name] if name is not None else options.select
        chosen = select_entries(file.entries, patterns)
        if options.json:
            output.print_json(_json(file, chosen))
            return 0
        output.print_title(options, _title(file, chosen))
        for key, value in file.metadata.items():
            print(f"  {key}: {value if len(value) <= 100 else value[:99] + '…'}")
        rows = _rows(file, chosen, tree=not (patterns or options.list))
        if rows:
            print()
            output.print_table(options, COLUMNS, rows, right=["bytes"])
    return 0


def _title(file: File, chosen: list[Entry]) -> str:
    details = [f"{key} {_text(value)}" for key, value in file.details.items()]
    held = sum(entry.nbytes or 0 for entry in chosen if entry.same_as is None)
    count = f"{len(chosen)} tensor{'' if len(chosen) == 1 else 's'}"
    size = [] if file.size is None else [bytes_text(file.size)]
    parts = [file.format, *details, *size, f"{count} of {bytes_text(held)}"]
    return f"{file.path}: {', '.join(parts)}"


def _text(value: object) -> str:
    return ".".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _rows(file: File, chosen: list[Entry], tree: bool) -> list[list[str]]:
    first_of: dict[int, str] = {}
    for entry in file.entries:
        first_of.setdefault(entry.storage, entry.name)
    if not tree:
        return [_row(entry.name, entry, first_of) for entry in chosen]
    rows = []
    for row in file.outline():
        label = "  " * max(row.depth - 1, 0) + row.key  # what is in the root is at the margin
        if row.entry is not None:
            rows.append(_row(label or row.entry.name, row.entry, first_of))
        elif row.depth or row.kind not in ("dict", "list"):
            rows.append([label, row.kind, "", "", "", row.text])
    return rows


def _row(label: str, entry: Entry, first_of: dict[int, str]) -> list[str]:
    size = "?" if entry.nbytes is None else f"{entry.nbytes:,}"
    stride = ",".join(map(str, entry.stride)) or "()"
    return [label, entry.dtype_name, shape_text(entry.shape), stride, size, _notes(entry, first_of)]


def _notes(entry: Entry, first_of: dict[int, str]) -> str:
    notes = ["storage"] if entry.kind == "storage" else []
    if entry.dtype is None:
        notes.append("strided has no such dtype")
    owner = first_of[entry.storage]
    if entry.same_as is not None:
        notes.append(f"the same as {entry.same_as}")
    elif owner != entry.name:
        notes.append(f"shares memory with {owner}")
    if not entry.mappable:
        notes.append(f"not mapped: {entry.reason}")
    return "; ".join(notes)


def _json(file: File, chosen: list[Entry]) -> dict[str, Any]:
    def described(entry: Entry) -> dict[str, Any]:
        return {field: getattr(entry, field) for field in FIELDS} | {"dtype": entry.dtype_name}

    return {
        "file": file.path,
        "format": file.format,
        "details": file.details,
        "metadata": file.metadata,
        "size": file.size,
        "tensors": [described(entry) for entry in chosen],
    }
