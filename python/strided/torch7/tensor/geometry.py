"""Sizes, strides and storage of a tensor, changed in place by the rules of Torch7.

A tensor without elements has no dims in Torch7; its core tensor has the shape (0,). `has_storage` tells whether it has a
storage: `Tensor()` has none, but a tensor that was set to an empty storage does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import strided as st
from strided.torch7.errors import TorchError

NO_DIMS = (0,)


def ndim(core: st.Tensor) -> int:
    """The number of dims as Torch7 counts them: none if there are no elements."""
    return core.dim() if core.numel() else 0


def shape_of(core: st.Tensor) -> tuple[int, ...]:
    """The sizes as Torch7 sees them."""
    return tuple(core.shape) if core.numel() else ()


def has_storage(core: st.Tensor) -> bool:
    """Whether a tensor has a storage. One on an empty storage is marked by the stride 0, which `empty_on` gives it."""
    return core.numel() > 0 or core.stride() != (1,) or core.storage().size() > 0


def empty_on(storage: st.Storage, offset: int) -> st.Tensor:
    """A tensor without elements that keeps a storage and an offset."""
    return st.as_strided(storage, NO_DIMS, (1,) if storage.size() else (0,), offset)


def complete(sizes: Sequence[int], strides: Sequence[int] | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes up to the first one that is not positive, and their strides; a negative stride is computed."""
    shape = tuple(sizes)
    if shape and min(shape) <= 0:
        shape = shape[: next(d for d, size in enumerate(shape) if size <= 0)]
    found, step = [], 1
    for d in range(len(shape) - 1, -1, -1):
        stride = step if strides is None or strides[d] < 0 else strides[d]
        found.append(stride)
        step = shape[d] * stride
    return shape, tuple(found[::-1])


def over_storage(storage: st.Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> st.Tensor:
    """A tensor over a storage, which grows if it is too short."""
    if not shape:
        return empty_on(storage, offset)
    needed = offset + 1
    for size, stride in zip(shape, strides, strict=True):
        needed += (size - 1) * stride
    if needed > storage.size():
        grow(storage, needed)
    return st.as_strided(storage, shape, strides, offset)


def grow(storage: st.Storage, size: int) -> None:
    """Changes the number of elements of a storage."""
    if not storage.owns_memory:
        raise TorchError("Trying to resize storage that is not resizable")
    storage.resize_(size)


def resize_to(x: Any, sizes: Sequence[int]) -> None:
    """Resizes a tensor in place: nothing changes, strides included, if it has these sizes.

    The offset and the order of the elements in the storage stay; the storage grows if it is too short.
    """
    core: st.Tensor = x._tensor
    shape = tuple(sizes)
    if shape == core.shape and core.numel():
        return
    shape, strides = complete(shape, None)
    if shape == shape_of(core):
        return
    if has_storage(core):
        x._tensor = over_storage(core.storage(), core.storage_offset(), shape, strides)
    else:
        x._tensor = st.empty(shape or NO_DIMS, dtype=core.dtype)


def size_text(core: st.Tensor) -> str:
    """Sizes as error messages write them: `[3 x 4]`."""
    return f"[{' x '.join(map(str, shape_of(core)))}]"


def different_counts(names: Sequence[str], cores: Sequence[st.Tensor]) -> TorchError:
    """The error of an operation whose tensors must have the same number of elements."""

    def join(words: Sequence[object]) -> str:
        *rest, last = map(str, words)
        return f"{', '.join(rest)} and {last}"

    tensors = join([f"{name} {size_text(core)}" for name, core in zip(names, cores, strict=True)])
    counts = join([core.numel() for core in cores])
    return TorchError(
        f"inconsistent tensor size, expected {tensors} to have the same number of elements, "
        f"but got {counts} elements respectively"
    )
