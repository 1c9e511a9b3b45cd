"""Objects of the front end in files: what the core writes for them, and what is made of what it reads."""

from __future__ import annotations

from typing import Any

import strided as st
from strided._dialect.lua import lua_type
from strided._strided import _T7Writer
from strided.files import FormatError, Record
from strided.torch7.errors import TorchError, TorchTypeError
from strided.torch7.maths.generator import Generator
from strided.torch7.tensor.base import TensorMethods
from strided.torch7.tensor.conversion import from_strided
from strided.torch7.tensor.storage import Storage
from strided.torch7.types import wrap_storage


def unwrapped(obj: Any) -> Any:
    """What the core writes for an object of the front end; None for others."""
    if isinstance(obj, TensorMethods):
        return obj._tensor
    if isinstance(obj, Storage):
        return obj._storage
    if isinstance(obj, Generator):
        return Record("torch.Generator", bytes(obj._engine.state()))
    return None


def write_object(writer: _T7Writer, obj: Any, *encoding: Any) -> Any:
    """The bytes of an object, or Torch7's error about one that cannot be written."""
    try:
        return writer.write(obj, *encoding)
    except FormatError as error:
        raise TorchError(str(error)) from None
    except TypeError as error:
        raise TorchTypeError(f"Unwritable object <{lua_type(obj)}>; {error}") from None


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
