"""What a row of the tables of methods holds: one row declares one method of all seven classes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from inspect import CO_VARARGS, cleandoc
from typing import Any

_PARAMETER = re.compile(r"(\w+):")


@dataclass(frozen=True, slots=True)
class Row:
    """A method of Lab's tensors.

    `run` takes the tensor and the arguments, and raises `Refusal` for arguments that Lab refuses. `complaint` is the
    text of that error: each `{}` in it shows an argument, and `{type}` the type of the tensor.
    """

    name: str
    signature: str
    run: Callable[..., Any]
    doc: str
    complaint: str = ""

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters."""
        return _PARAMETER.findall(self.signature.partition("->")[0])

    @property
    def sees_surplus(self) -> bool:
        """Whether `run` takes more arguments than there are parameters. Lab counts them, or reads the last ones."""
        return bool(self.run.__code__.co_flags & CO_VARARGS)


def example(text: str) -> str:
    """The document of a method: indentation is removed, and the example imports the front end."""
    head, mark, code = cleandoc(text).partition(">>> ")
    return f"{head}>>> from strided import dmlab as lab\n{mark}{code}\n"
