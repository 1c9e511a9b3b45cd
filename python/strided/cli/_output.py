"""How commands print: tables, JSON and progress; with rich on a terminal where it is installed, plain otherwise."""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

PATIENCE = 1.0  # seconds before a progress bar appears
FOLDED = ("name", "difference", "notes")  # columns of tables that may take several lines
NARROWEST = 12  # characters of a line of these columns
Advance = Callable[[int, int], None]  # how much is done, and of how much


def add_output_options(parser: argparse.ArgumentParser, json_too: bool = True) -> None:
    """Adds the options by which a user chooses the form of the output."""
    parser.add_argument("--plain", action="store_true", help="no colours, boxes and progress bars")
    if json_too:
        parser.add_argument("--json", action="store_true", help="print JSON; NaN and infinities are strings")


def has_colour(options: argparse.Namespace, stream: IO[str] | None = None) -> bool:
    """Whether to print colours: on a terminal, unless the user asked for plain output."""
    stream = sys.stdout if stream is None else stream
    plain = options.plain or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return not plain and stream.isatty()


def is_fancy(options: argparse.Namespace, stream: IO[str] | None = None) -> bool:
    """Whether to print with rich: where there are colours and it is installed."""
    return has_colour(options, stream) and importlib.util.find_spec("rich") is not None


def width(options: argparse.Namespace) -> int:
    """The number of columns to print in."""
    from shutil import get_terminal_size

    return get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100


def print_json(value: object) -> None:
    """Prints a value as JSON, which has neither NaN nor infinities: they become strings.

    >>> print_json({"mean": float("nan"), "shape": (2, 3)})
    {
      "mean": "nan",
      "shape": [2, 3]
    }
    """
    text = json.dumps(_jsonable(value), indent=2, ensure_ascii=False)
    # Lists of numbers on one line: a shape is easier to read.
    print(_join_short_lists(text))


def _jsonable(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if isinstance(value, complex):
        return [_jsonable(value.real), _jsonable(value.imag)]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _join_short_lists(text: str) -> str:
    import re

    return re.sub(r"\[\s+([^][{}\"]*?)\s+\]", lambda found: f"[{' '.join(found[1].split())}]", text)


def print_table(
    options: argparse.Namespace, columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()
) -> None:
    """Prints rows in columns; those of the names in `right` are aligned to the right.

    >>> plain = argparse.Namespace(plain=True)
    >>> print_table(plain, ["name", "bytes"], [["w", "12"], ["bias", "4"]], right=["bytes"])
    name  bytes
    w        12
    bias      4
    """
    if is_fancy(options):
        _print_rich_table(columns, rows, right)
        return
    widths = [max(len(row[at]) for row in [columns, *rows]) for at in range(len(columns))]
    for row in [columns, *rows]:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for cell, width, column in zip(row, widths, columns, strict=True)
        ]
        print("  ".join(cells).rstrip())


def _print_rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    widths = [max(len(row[at]) for row in [columns, *rows]) for at in range(len(columns))]
    least = [
        min(width, NARROWEST) if column in FOLDED else width for column, width in zip(columns, widths, strict=True)
    ]
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for at, column in enumerate(columns):
        # Long names are folded where the terminal is narrow; a folded number or histogram could not be read.
        style, folds = ("cyan" if at == 0 else None), column in FOLDED
        justify: Any = "right" if column in right else "left"
        table.add_column(column, justify=justify, style=style, overflow="fold", no_wrap=not folds, min_width=least[at])
    for row in rows:
        table.add_row(*map(Text, row))
    # A table that does not fit is broken by the terminal. rich would cut off digits.
    Console(width=max(Console().width, sum(least) + 2 * len(columns) + 1)).print(table)


def print_title(options: argparse.Namespace, text: str) -> None:
    """Prints a line that stands out on a terminal."""
    print(f"\x1b[1m{text}\x1b[0m" if is_fancy(options) else text)


@contextmanager
def progress(options: argparse.Namespace, title: str) -> Iterator[Advance]:
    """A function that shows how much is done, on a terminal, if the work takes longer than a second.

    A bar without a percentage appears if the function is not called within that second, as for a large file that is
    parsed or inflated by one call.
    """
    stream = sys.stderr
    if options.plain or not stream.isatty():
        yield lambda _done, _total: None
        return
    bar: Any = _RichBar(title) if is_fancy(options, stream) else _PlainBar(title)
    lock = threading.Lock()
    start = time.monotonic()

    def advance(done: int, total: int | None) -> None:
        with lock:
            if time.monotonic() - start >= PATIENCE:
                bar.show(done, total)

    waiting = threading.Timer(PATIENCE, lambda: None if bar.is_shown else advance(0, None))
    waiting.daemon = True
    waiting.start()
    try:
        yield advance
    finally:
        waiting.cancel()
        with lock:
            bar.close()
            start = math.inf  # a timer that has begun shows nothing any more


def part_of(advance: Advance, before: int, total: int) -> Callable[[int], None]:
    """Reports the progress of a part of the work: `before` was done when it began."""
    return lambda done: advance(before + done, total)


class _PlainBar:
    """A line with a percentage, which is overwritten."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.shown = ""

    @property
    def is_shown(self) -> bool:
        return bool(self.shown)

    def show(self, done: int, total: int | None) -> None:
        text = f"{self.title} ..." if total is None else f"{self.title} {100 * done // max(total, 1):3d}%"
        if text != self.shown:
            print(f"\r{text}", end="", file=sys.stderr, flush=True)
            self.shown = text

    def close(self) -> None:
        if self.shown:
            print(f"\r{' ' * len(self.shown)}\r", end="", file=sys.stderr, flush=True)


class _RichBar:
    """The progress bar of rich."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.bar: Any = None

    @property
    def is_shown(self) -> bool:
        return self.bar is not None

    def show(self, done: int, total: int | None) -> None:
        if self.bar is None:
            from rich.console import Console
            from rich.progress import Progress

            self.bar = Progress(console=Console(stderr=True), transient=True)
            self.bar.start()
            self.task = self.bar.add_task(self.title, total=total, completed=done)
        self.bar.update(self.task, completed=done, total=total)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()
