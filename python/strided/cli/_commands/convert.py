"""`strided convert`: writes the tensors of a file in another format or dtype, one after the other."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from strided.cli import _output as output
from strided.cli._failure import Failure
from strided.cli._target import add_select_option, open_file, selected, split
from strided.display.numerals import bytes_text

if TYPE_CHECKING:
    from strided import dtype
    from strided.files import Entry

EXAMPLES = """
  strided convert model.t7 weights.safetensors
  strided convert weights.npz small.safetensors --dtype bfloat16 --select 'conv*'
  strided convert counts.npz counts.t7 --dtype uint16:int32
  strided convert weights.safetensors weights.npz --compress
  strided convert weights.npz weights.t7 --encoding ascii

The format of OUT follows from its suffix. A tensor is read, written and forgotten before the next one, so that memory
stays below the largest tensor. OUT is complete, or as it was before.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="IN")
    parser.add_argument("target", metavar="OUT")
    parser.add_argument(
        "--dtype",
        metavar="[FROM:]TO",
        action="append",
        default=[],
        help="cast tensors of the kind of TO: floating ones for bfloat16, integers for int32; or those of dtype FROM",
    )
    add_select_option(parser)
    parser.add_argument("--format", metavar="FORMAT", help="the format of OUT, if its suffix does not say")
    parser.add_argument("--compress", action="store_true", help="deflate the tensors of a .npz file")
    parser.add_argument("--encoding", choices=["binary", "ascii"], help="the numbers of a .t7 file (binary)")
    parser.add_argument("--long-size", type=int, choices=[4, 8], help="bytes of a long integer in a .t7 file (8)")
    parser.add_argument("--byte-order", choices=["little", "big"], help="the byte order of a .t7 file (little)")
    parser.add_argument("--no-fsync", action="store_true", help="do not wait until the bytes are on the disk")
    output.add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    from strided import files

    if options.format is not None and options.format not in files.FORMATS:
        raise Failure(f"--format is {options.format}, wanted one of {', '.join(files.FORMATS)}")
    casts = [_cast(text) for text in options.dtype]
    path, name = split(options.source)
    with output.progress(options, "converting") as advance, open_file(path) as file:
        chosen = selected(file.entries, [name] if name is not None else options.select)
        if not chosen:
            raise Failure(f"there is no tensor in {path}")
        items = {entry.name: casted(entry, casts) for entry in chosen}
        format = options.format or files.format_of(options.target)
        # Only a file of the same format is known to have a place for metadata.
        metadata = file.metadata if format == file.format else {}
        files.write(
            options.target,
            items,
            format=format,
            metadata=metadata or None,
            fsync=not options.no_fsync,
            progress=advance,
            compress=options.compress,
            encoding=options.encoding,
            long_size=options.long_size,
            byte_order=options.byte_order,
        )
        left_out = sorted(file.metadata.keys() - metadata.keys())
    written = sum(entry.nbytes or 0 for entry in items.values())
    if options.json:
        dtypes = {name: entry.dtype_name for name, entry in items.items()}
        facts = {"file": options.target, "format": format, "bytes": written, "tensors": dtypes}
        output.print_json(facts | {"metadata_left_out": left_out})
    else:
        print(f"{options.target}: {len(items)} tensor{'' if len(items) == 1 else 's'} of {bytes_text(written)}")
        if left_out:
            print(f"metadata that is left out: {', '.join(left_out)}")
    return 0


Cast = tuple["dtype | None", "dtype"]


def _cast(text: str) -> Cast:
    first, colon, last = text.partition(":")
    return (_dtype(first), _dtype(last)) if colon else (None, _dtype(first))


def _dtype(name: str) -> dtype:
    import strided as st

    try:
        return st.dtype(name)
    except (TypeError, ValueError) as error:
        raise Failure(f"--dtype: {str(error).removeprefix('dtype: ')}") from None


def casted(entry: Entry, casts: list[Cast]) -> Entry:
    """The entry with the dtype that the last cast that concerns it has."""
    for origin, wanted in casts:
        if entry.dtype is not None and (entry.dtype == origin if origin else _kind(entry.dtype) == _kind(wanted)):
            entry = entry.to(wanted)
    return entry


def _kind(dtype: dtype) -> str:
    if dtype.is_complex:
        return "complex"
    return "floating" if dtype.is_floating_point else "integer"
