"""The generator of random numbers, and that of the current session."""

from __future__ import annotations

from typing import Any

from strided import _strided
from strided.torch7.session import current

_Engine: Any = _strided._TorchGenerator


class Generator:
    """A source of random numbers of its own, which every function that draws takes as its first argument.

    >>> from strided import torch7 as torch
    >>> g = torch.Generator()
    >>> torch.manualSeed(g, 1)
    >>> torch.random(g, 100)
    46
    """

    __slots__ = ("__weakref__", "_engine")
    _typename = "torch.Generator"

    def __init__(self) -> None:
        self._engine = _Engine()

    def __copy__(self) -> Generator:
        other = Generator.__new__(Generator)
        other._engine = self._engine.clone()
        return other

    def __repr__(self) -> str:
        return "torch.Generator"


Generator.__module__ = "strided.torch7"


def default_generator() -> Generator:
    """The generator of the current session."""
    session = current()
    if session.generator is None:
        session.generator = Generator()
    found: Generator = session.generator
    return found
