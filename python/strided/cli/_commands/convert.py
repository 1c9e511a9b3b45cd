"""`strided convert`: writes a file in another format or dtype, one tensor after the other."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from strided.cli import _output as output
from strided.cli._failure import Failure
from strided.cli._target import add_select_option, open_file, select_entries, split
from strided.display.numerals import bytes_text

if TYPE_CHECKING:
    from strided import dtype
    from strided.files import Entry, LeftOut, LossError

EXAMPLES = """
  strided convert model.t7 weights.safetensors
  strided convert weights.npz small.safetensors --dtype bfloat16 --select 'conv*'
  strided convert counts.npz counts.t7 --dtype uint16:int32
  strided convert weights.safetensors weights.npz --compress
  strided convert weights.npz weights.t7 --encoding ascii

The format of OUT follows from its suffix. Values that are no tensors, nesting and sharing are kept where the format can
keep them. Otherwise the values are listed, nothing is written, and the exit code is 1, unless --drop-values is given.
A tensor is read, written and forgotten before the next one, so that memory stays below the largest storage. OUT is
complete, or as it was before.
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
    parser.add_argument("--drop-values", action="store_true", help="leave out values that OUT cannot have")
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
    try:
        format = options.format or files.format_of(options.target)
    except ValueError as error:
        raise Failure(str(error).replace("format=", "--format")) from None
    with output.progress(options, "converting") as advance, open_file(path) as file:
        patterns = [name] if name is not None else options.select
        chosen = select_entries(file.entries, patterns)
        if not chosen:
            raise Failure(f"there is no tensor in {path}")
        try:
            converted = files.convert(
                file,
                options.target,
                format=format,
                select=[entry.name for entry in chosen] if patterns else None,
                dtype=lambda entry: _target_dtype(entry, casts),
                drop_values=options.drop_values,
                fsync=not options.no_fsync,
                progress=advance,
                compress=options.compress,
                encoding=options.encoding,
                long_size=options.long_size,
                byte_order=options.byte_order,
            )
        except files.LossError as error:
            return _refuse(options, path, error)
    if options.json:
        facts = {"file": options.target, "format": format, "bytes": converted.nbytes, "tensors": converted.tensors}
        output.print_json(facts | {"left_out": [loss._asdict() for loss in converted.left_out]})
    else:
        count = len(converted.tensors)
        print(f"{options.target}: {count} tensor{'' if count == 1 else 's'} of {bytes_text(converted.nbytes)}")
        for line in _lines(converted.left_out):
            print(line)
    return 0


def _refuse(options: argparse.Namespace, path: str, error: LossError) -> int:
    """Lists the values that the new file cannot have. Nothing is written."""
    if options.json:
        output.print_json({"file": None, "left_out": [loss._asdict() for loss in error.left_out]})
        return 1
    print(f"strided convert: {options.target} cannot have these values of {path}:", file=sys.stderr)
    for loss in error.left_out:
        print(f"  {', '.join(loss.names)}: {loss.text}", file=sys.stderr)
    print("nothing is written; --drop-values leaves them out", file=sys.stderr)
    return 1


def _lines(left_out: list[LeftOut]) -> Iterator[str]:
    """What the new file does not have, for people."""
    for kind, title in (("value", "values that are left out"), ("metadata", "metadata that is left out")):
        names = [name for loss in left_out if loss.kind == kind for name in loss.names]
        if names:
            yield f"{title}: {', '.join(names)}"
    for loss in left_out:
        if loss.kind == "overlap":
            yield f"{', '.join(loss.names)}: overlap in memory, {loss.text}"
        elif loss.kind in ("sharing", "change"):
            yield f"{', '.join(loss.names)}: {loss.text}"


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


def _target_dtype(entry: Entry, casts: list[Cast]) -> dtype | None:
    """The dtype that a tensor is cast to: each cast that concerns its dtype applies, in their order."""
    from strided.files._convert import kind_of

    current = entry.dtype
    for origin, wanted in casts:
        if current is not None and (current == origin if origin else kind_of(current) == kind_of(wanted)):
            current = wanted
    return current
