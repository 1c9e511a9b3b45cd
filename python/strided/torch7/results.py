"""Where the results of operations go: into a new tensor, or into one that is resized and may overlap itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import strided as st
from strided.torch7 import serial
from strided.torch7.geometry import NO_DIMS, complete, different_counts, resize_to, shape_of
from strided.torch7.serial import visit as visit
from strided.torch7.tensor import TensorBase
from strided.torch7.types import CLASSES

_new: Any = object.__new__
Core = Callable[..., st.Tensor]


def fitted(names: Sequence[str], cores: Sequence[st.Tensor]) -> list[st.Tensor]:
    """Operands in the shape of the first one. Torch7 pairs elements by their order: only their number must agree."""
    first = cores[0]
    if any(core.numel() != first.numel() for core in cores):
        raise different_counts(names, cores)
    return [core if core.shape == first.shape else core.reshape(first.shape) for core in cores]


def store(core: st.Tensor, values: st.Tensor) -> None:
    """Writes values of the same shape, cast to the dtype of the target."""
    try:
        core.copy_(values)
    except st.ShapeError:
        if core.layout.is_injective:
            raise
        serial.write(core, values)


def row_major(values: st.Tensor) -> st.Tensor:
    """The same elements, in a tensor of at least one dim whose strides are those of a new tensor."""
    shape, strides = complete(values.shape or (1,), None)
    return values if values.stride() == strides else values.contiguous().as_strided(shape, strides)


def deliver(result: TensorBase | None, values: st.Tensor) -> TensorBase:
    """The result of an operation: a tensor that holds the values, or the given one after they were written to it."""
    if not values.ndim:
        values = values.view(1)
    if result is None:
        new: TensorBase = _new(CLASSES[values.dtype])
        new._tensor = values if values.numel() else st.empty(0, dtype=values.dtype)
        return new
    if result._tensor.shape != values.shape or not values.numel():
        resize_to(result, shape_of(values))
    store(result._tensor, values)
    return result


def made(cls: type[TensorBase], sizes: Sequence[int]) -> TensorBase:
    """A new tensor of these sizes, up to the first one that is not positive. Its elements may be anything."""
    new: TensorBase = _new(cls)
    shape = sizes if sizes and min(sizes) > 0 else complete(sizes, None)[0] or NO_DIMS
    new._tensor = st.empty(shape, dtype=cls._dtype)
    return new


def compute(op: Core, result: TensorBase | None, first: TensorBase, *rest: Any) -> TensorBase:
    """Runs an elementwise operation of the core, whose result has the sizes and the type of its first operand."""
    core = first._tensor
    if result is None:
        new: TensorBase = _new(type(first))
        new._tensor = op(core, *rest)
        return new
    if result is not first:
        resize_to(result, shape_of(core))
    try:
        op(core, *rest, out=result._tensor)
    except st.ShapeError:
        if result._tensor.layout.is_injective:
            raise
        visit(op, result._tensor, core, *rest)
    return result
