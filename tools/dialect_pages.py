"""Writes the tables of methods into the pages of the front ends, from the front ends themselves.

    python tools/dialect_pages.py             writes the tables
    python tools/dialect_pages.py --check     says in one sentence if a page is stale, and exits with code 1

A page has a table between `<!-- table: NAME -->` and `<!-- end -->`. The row of a method has its signature and the first
sentence of its document.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from strided import dmlab, torch7

DOCS = Path(__file__).resolve().parent.parent / "docs"
MARK = re.compile(r"(<!-- table: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)

#: A page, and what each of its tables shows.
PAGES: dict[str, dict[str, Callable[[], Iterator[tuple[str, Any]]]]] = {
    "dmlab.md": {
        "methods": lambda: members(dmlab.DoubleTensor, "z"),
        "random": lambda: members(dmlab.RandomView, "random"),
    },
    "torch7.md": {
        "methods": lambda: members(torch7.DoubleTensor, "x"),
        "storages": lambda: members(torch7.CharStorage, "s"),
        "functions": lambda: functions(torch7, "torch"),
    },
}


def members(cls: type, name: str) -> Iterator[tuple[str, Any]]:
    """The public methods of a class, and the call of an object, as expressions with a name for the object."""
    for key in sorted(dir(cls)):
        value = getattr(cls, key)
        if key == "__call__":
            yield f"{name}{parameters(value)}", value
        elif not key.startswith("_") and callable(value):
            yield f"{name}.{key}{parameters(value)}", value


def functions(module: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The public functions of a module, as expressions with a name for the module."""
    for key in module.__all__:
        value = getattr(module, key)
        if not isinstance(value, type):
            yield f"{name}.{key}{parameters(value, receiver=False)}", value


def parameters(function: Callable[..., Any], receiver: bool = True) -> str:
    """The parameters of a method, without the receiver and without types. `(…)` stands for arguments of several forms."""
    found = list(inspect.signature(function).parameters.values())
    if receiver and not inspect.ismethod(function) and found[0].kind is not inspect.Parameter.VAR_POSITIONAL:
        found = found[1:]
    if found and found[0].kind is inspect.Parameter.VAR_POSITIONAL and found[0].name == "args":
        return "(…)"
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in found]
    return re.sub(r"=<no value>", "", str(inspect.Signature(plain)))


def table(rows: Iterator[tuple[str, Any]]) -> str:
    """A table of signatures and first sentences."""
    lines = ["| call | result |", "|---|---|"]
    for signature, function in rows:
        sentence = " ".join(inspect.cleandoc(function.__doc__).split("\n\n")[0].split())
        lines.append(f"| `{signature}` | {sentence} |".replace("=Ellipsis", "=..."))
    return "\n".join(lines) + "\n"


def written(page: str) -> str:
    """A page with its tables."""
    tables = PAGES[page]
    return MARK.sub(lambda match: match[1] + table(tables[match[2]]()) + match[3], (DOCS / page).read_text("utf-8"))


def main() -> None:
    for page in PAGES:
        text = written(page)
        if sys.argv[1:] != ["--check"]:
            (DOCS / page).write_text(text, encoding="utf-8")
        elif (DOCS / page).read_text("utf-8") != text:
            sys.exit(f"docs/{page} is stale: run `./dev pages`.")


if __name__ == "__main__":
    main()
