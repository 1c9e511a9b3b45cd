"""Makes docs/pytorch.md, which of PyTorch's names exist here and what they do differently, from the module as it is built.

    python tools/pytorch_page.py             writes the file
    python tools/pytorch_page.py --check     says in one sentence if the file is stale, and ends with exit code 1

PyTorch's names are in tools/pytorch_names.txt, the differences in tools/pytorch_remarks.toml. A new name of the module needs
no edit in either.
"""

import importlib.util
import pickle
import re
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy

import strided

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/pytorch.md"
NAMES = ROOT / "tools/pytorch_names.txt"
REMARKS = ROOT / "tools/pytorch_remarks.toml"
KINDS = ("functions", "methods", "modules")
WIDTH = 125

HEAD = """\
# PyTorch's names

```python
import strided as torch
```

gives {here} of the {all} names by which PyTorch works on tensors: functions and constants of `torch`, and methods and
attributes of `torch.Tensor`. {different} of them do something more, or something else, than in PyTorch; a star marks those, and
what it is follows. All that concerns gradients, neural networks, sparse and quantised tensors, other devices and
compilation is left out of the count. What is not here is listed without the forms in place of the same names.

This page is made by `./dev pages` from the built module and from `tools/pytorch_names.txt` and `tools/pytorch_remarks.toml`.
"""


class Topic(NamedTuple):
    """One heading of the page: PyTorch's names of a topic, by kind."""

    title: str
    names: dict[str, list[str]]


class Remark(NamedTuple):
    """How something differs, with an expression that shows it and its outcome in PyTorch."""

    names: list[str]
    text: str
    code: str
    theirs: str

    def concerns(self, kind: str, name: str) -> bool:
        return not {name, f".{name}" if kind == "methods" else f"torch.{name}"}.isdisjoint(self.names)


def main(*arguments: str) -> int:
    if arguments not in ((), ("--check",)):
        print("pytorch_page: takes only --check.", file=sys.stderr)
        return 2
    text = page()
    if not arguments:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        print("pytorch_page: docs/pytorch.md is stale; ./dev pages makes it anew.", file=sys.stderr)
        return 1
    return 0


# Reading


def topics() -> list[Topic]:
    found: list[Topic] = []
    for line in NAMES.read_text().splitlines():
        if line.startswith("["):
            found.append(Topic(line.strip("[]"), {kind: [] for kind in KINDS}))
        elif line and not line.startswith("#"):
            kind, _, names = line.partition(":")
            found[-1].names[kind] += names.split()
    return found


def remarks() -> list[Remark]:
    rows = tomllib.loads(REMARKS.read_text())["remark"]
    return [Remark(row.get("names", []), row["text"], row["code"], row["theirs"]) for row in rows]


def outcome(code: str, library: Any) -> str:
    """What an expression gives with one of the libraries as `torch`: its text, or the class of its error."""
    try:
        value = eval(code, {"torch": library, "np": numpy, "pickle": pickle})
    except Exception as error:
        return type(error).__name__
    if isinstance(value, library.Tensor):
        return repr(value.tolist())
    return repr(value).replace(f"{library.__name__}.", "")


def exists(kind: str, name: str) -> bool:
    if kind == "methods":  # neither what every object has, nor what is the metaclass's
        return any(name in vars(owner) for owner in strided.Tensor.__mro__ if owner is not object)
    return hasattr(strided, name) or (kind == "modules" and importlib.util.find_spec(f"strided.{name}") is not None)


# Writing


def page() -> str:
    differences = [(remark, ours) for remark in remarks() if (ours := outcome(remark.code, strided)) != remark.theirs]
    parts = topics()
    all_names = {(kind, name) for topic in parts for kind in KINDS for name in topic.names[kind]}
    different = {pair for pair in all_names for remark, _ in differences if remark.concerns(*pair)}
    counts = [count(topic, different) for topic in parts]
    here, starred, missing = (sum(column) for column in zip(*counts, strict=True))
    lines = [HEAD.format(here=here, all=here + missing, different=starred), "| topic | here | with a star | not here |"]
    lines.append("|---|--:|--:|--:|")
    for topic, row in zip(parts, counts, strict=True):
        lines.append(f"| [{topic.title}](#{anchor(topic.title)}) | {' | '.join(map(str, row))} |")
    lines += ["", "## What differs everywhere", ""]
    lines += [line for remark, ours in differences if not remark.names for line in bullet(remark, ours)]
    for topic in parts:
        lines += ["", f"## {topic.title}", *topic_lines(topic, different)]
        known = [(kind, name) for kind in KINDS for name in topic.names[kind] if exists(kind, name)]
        about = [found for found in differences if any(found[0].concerns(*pair) for pair in known)]
        lines += [""] * bool(about)
        for remark, ours in about:
            names = dict.fromkeys(f"`{name}`" for kind, name in known if remark.concerns(kind, name))
            text = f"{', '.join(names)}: {remark.text[0].lower()}{remark.text[1:]}"
            lines += bullet(remark._replace(text=text), ours)
    return "\n".join(lines) + "\n"


def count(topic: Topic, different: set[tuple[str, str]]) -> tuple[int, int, int]:
    found = [(kind, name) for kind in KINDS for name in topic.names[kind]]
    here = [pair for pair in found if exists(*pair)]
    return len(here), len(different.intersection(here)), len(found) - len(here)


def topic_lines(topic: Topic, different: set[tuple[str, str]]) -> Iterator[str]:
    """Paragraphs of the names that exist, and one of those that do not."""
    here, missing = (
        {kind: [name for name in topic.names[kind] if exists(kind, name) is wanted] for kind in KINDS}
        for wanted in (True, False)
    )
    both = [name for name in here["functions"] if name in here["methods"]]
    rows = [
        ("In the module and of tensors", "functions", both),
        ("In the module", "functions", [name for name in here["functions"] if name not in both]),
        ("Of tensors", "methods", [name for name in here["methods"] if name not in both]),
        ("Modules", "modules", here["modules"]),
    ]
    for title, kind, names in rows:
        yield from paragraph(title, [f"`{name}`{'*' * ((kind, name) in different)}" for name in names])
    yield from paragraph("Not here", list(missing_names(here, missing)))


def missing_names(here: dict[str, list[str]], missing: dict[str, list[str]]) -> Iterator[str]:
    """Each name once; with its owner if that of the other owner exists; without the form in place of another one."""
    names = dict.fromkeys(name for kind in KINDS for name in missing[kind])
    for name in names:
        if name.endswith("_") and not name.startswith("_") and name[:-1] in names:
            continue
        if name in here["methods"]:
            yield f"`torch.{name}`"
        elif name in here["functions"]:
            yield f"`Tensor.{name}`"
        else:
            yield f"`{name}`"


def paragraph(title: str, names: list[str]) -> list[str]:
    return ["", *wrapped(f"{title}: {', '.join(names)}.")] if names else []


def bullet(remark: Remark, ours: str) -> Iterator[str]:
    yield from wrapped(f"* {remark.text} `{remark.code}` is {quoted(ours)}, in PyTorch {quoted(remark.theirs)}.", "  ")


def quoted(text: str) -> str:
    return f"`{text}`" if not text.endswith("Error") else f"{'an' if text[0] in 'AEIO' else 'a'} {text}"


def wrapped(text: str, indent: str = "") -> list[str]:
    """Lines of a width, broken at spaces, but not at those in code."""
    glued = re.sub("`[^`]+`", lambda code: code[0].replace(" ", "\0"), text)
    lines = textwrap.wrap(glued, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


def anchor(title: str) -> str:
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c == "-")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
