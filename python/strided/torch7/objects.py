"""Objects of the front end in files: what the core writes for them, and what is made of what it reads."""

from __future__ import annotations

from typing import Any

import strided as st
from strided.files import Record
from strided.torch7.conversion import from_strided
from strided.torch7.errors import TorchError
from strided.torch7.generator import Generator
from strided.torch7.held import Held
from strided.torch7.storage import Storage
from strided.torch7.types import wrap_storage


def unwrapped(obj: Any) -> Any:
    """What the core writes for an object of the front end; None for others."""
    if isinstance(obj, Held):
        return obj._tensor
    if isinstance(obj, Storage):
        return obj._storage
    if isinstance(obj, Generator):
        return Record("torch.Generator", bytes(obj._engine.state()))
    return None


class Hooks:
    """Makes objects of the front end of what a file has."""

    tensor = staticmethod(from_strided)
    storage = staticmethod(wrap_storage)

    @staticmethod
    def record(name: str, version: str | None) -> Generator | None:
        return Generator() if name == "torch.Generator" else None

    @staticmethod
    def set_state(generator: Generator, state: bytes) -> None:
        try:
            generator._engine.set_state(state)
        except ValueError:
            raise TorchError("Invalid RNG state") from None


def char_storage(data: bytes) -> Storage:
    """The bytes in a CharStorage of their own."""
    found: Storage = wrap_storage(st.frombuffer(data, dtype=st.int8).clone().storage() if data else st.CharStorage(0))
    return found
