"""Storages: flat sequences of numbers, counted from 1."""

from __future__ import annotations

import strided as st
from strided.torch7.types import DTYPES, STORAGES


class Storage:
    """A flat sequence of numbers: the memory of tensors. `Storage(...)` makes one of the default type."""

    __slots__ = ("__weakref__", "_storage")
    _storage: st.Storage


StorageBase = Storage


def _make_classes() -> None:
    for name, dtype in DTYPES.items():
        STORAGES[dtype] = type(f"{name}Storage", (StorageBase,), {"__slots__": (), "__module__": "strided.torch7"})


_make_classes()
