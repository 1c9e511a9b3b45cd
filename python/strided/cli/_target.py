"""The files and tensors that a user names: `model.npz`, `model.npz:conv1.weight`, `--select 'conv*'`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from strided.cli._failure import Failure

if TYPE_CHECKING:
    from strided import Tensor
    from strided.files import Entry, File

CONVERTED_ELEMENTS = 1 << 20  # elements that are converted and counted at a time
MANY = 8  # the most names that a message lists


def split(target: str) -> tuple[str, str | None]:
    """The path of a file and the name of a tensor in it, from FILE or FILE:NAME. Both may contain colons.

    >>> split("weights.npz:conv1.weight")
    ('weights.npz', 'conv1.weight')
    >>> split("weights.npz")
    ('weights.npz', None)
    """
    if Path(target).exists() or ":" not in target:
        return target, None
    parts = target.split(":")
    for at in range(len(parts) - 1, 0, -1):
        path, name = ":".join(parts[:at]), ":".join(parts[at:])
        if Path(path).exists():
            return path, name
    path, _, name = target.partition(":")
    return path, name


def open_file(path: str) -> File:
    """Opens a file, whose tensors are mapped where its format allows it."""
    from strided import files

    return files.open(path, mmap="r")


def find(file: File, name: str | None) -> Entry:
    """The tensor of this name, or the only one of the file."""
    if name is not None:
        if name in file:
            return file[name]
        raise Failure(f"there is no tensor {name!r} in {file.path}{_suggestion(name, file.names)}")
    if len(file) == 1:
        return file[file.names[0]]
    if not len(file):
        raise Failure(f"there is no tensor in {file.path}")
    raise Failure(
        f"there are {len(file)} tensors in {file.path}; name one as {file.path}:NAME{_suggestion('', file.names)}"
    )


def _suggestion(name: str, names: Sequence[str]) -> str:
    """Names that a user may have meant, as the end of a sentence."""
    close = get_close_matches(name, names, 3) if name else []
    if close:
        return f"; did you mean {' or '.join(map(repr, close))}?"
    shown = ", ".join(names[:MANY])
    return f"; it has {shown}{', …' if len(names) > MANY else ''}" if names else ""


def add_select_option(parser: argparse.ArgumentParser) -> None:
    """Adds the option by which a user chooses tensors."""
    parser.add_argument(
        "--select", metavar="PATTERN", action="append", help="only tensors whose names match, such as 'conv*'"
    )


def select_entries(entries: Iterable[Entry], patterns: Sequence[str] | None) -> list[Entry]:
    """The entries whose names match one of the patterns, or all. A pattern that matches none is an error."""
    entries = list(entries)
    if not patterns:
        return entries
    names = [entry.name for entry in entries]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise Failure(f"no tensor matches {pattern!r}{_suggestion(pattern.strip('*'), names)}")
    return [entry for entry in entries if matches(entry.name, patterns)]


def matches(name: str, patterns: Sequence[str] | None) -> bool:
    """Whether a name matches one of the patterns, or there are none.

    >>> matches("conv1.weight", ["conv*"]), matches("bias", ["conv*"]), matches("bias", None)
    (True, False, True)
    """
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def as_tensor(entry: Entry) -> Tensor:
    """Loads a tensor, or a storage as a tensor of one dim."""
    from strided import Storage, as_strided

    loaded = entry.load()
    if isinstance(loaded, Storage):
        return as_strided(loaded, (len(loaded),), (1,), 0)
    tensor: Tensor = loaded
    return tensor


def blocks(x: Tensor, most: int = CONVERTED_ELEMENTS) -> Iterable[Tensor]:
    """Views that together have all elements of a tensor, in row-major order, and at most `most` elements each.

    Only the pages of a mapped file that a view spans are read.

    >>> import strided as st
    >>> [block.shape for block in blocks(st.zeros(5, 4), 8)]
    [strided.Size([2, 4]), strided.Size([2, 4]), strided.Size([1, 4])]
    """
    count = x.numel()
    if count <= most:
        if count:
            yield x
        return
    dim = next(dim for dim, extent in enumerate(x.shape) if extent > 1)
    step = max(most // (count // x.shape[dim]), 1)
    for first in range(0, x.shape[dim], step):
        yield from blocks(x.narrow(dim, first, min(step, x.shape[dim] - first)), most)


def shape_text(shape: Sequence[int]) -> str:
    """A shape for people.

    >>> shape_text((3, 4)), shape_text(())
    ('3x4', '()')
    """
    return "x".join(map(str, shape)) if shape else "()"
