"""Where the results of operations go: into a new tensor, or into one that is resized and may overlap itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import strided as st
from strided._dialect import overlap
from strided.torch7.tensor.classes import Tensor
from strided.torch7.tensor.copying import store
from strided.torch7.tensor.geometry import NO_DIMS, complete, different_counts, resize_to, shape_of
from strided.torch7.types import CLASSES

_new: Any = object.__new__
Core = Callable[..., st.Tensor]


def match_shapes(names: Sequence[str], cores: Sequence[st.Tensor]) -> list[st.Tensor]:
    """Operands in the shape of the first one. Torch7 pairs elements by their order: only their number must agree."""
    first = cores[0]
    if any(core.numel() != first.numel() for core in cores):
        raise different_counts(names, cores)
    return [core if core.shape == first.shape else core.reshape(first.shape) for core in cores]


def row_major(values: st.Tensor) -> st.Tensor:
    """The same elements, in a tensor of at least one dim whose strides are those of a new tensor."""
    shape, strides = complete(values.shape or (1,), None)
    return values if values.stride() == strides else values.contiguous().as_strided(shape, strides)


def deliver(result: Tensor | None, values: st.Tensor) -> Tensor:
    """The result of an operation: a tensor that holds the values, or the given one after they were written to it."""
    if not values.ndim:
        values = values.view(1)
    if result is None:
        new: Tensor = _new(CLASSES[values.dtype])
        new._tensor = values if values.numel() else st.empty(0, dtype=values.dtype)
        return new
    if result._tensor.shape != values.shape or not values.numel():
        resize_to(result, shape_of(values))
    store(result._tensor, values)
    return result


def new_tensor(cls: type[Tensor], sizes: Sequence[int]) -> Tensor:
    """A new tensor of these sizes, up to the first one that is not positive. Its elements may be anything."""
    new: Tensor = _new(cls)
    shape = sizes if sizes and min(sizes) > 0 else complete(sizes, None)[0] or NO_DIMS
    new._tensor = st.empty(shape, dtype=cls._dtype)
    return new


def compute(op: Core, result: Tensor | None, first: Tensor, *rest: Any) -> Tensor:
    """Runs an elementwise operation of the core, whose result has the sizes and the type of its first operand."""
    core = first._tensor
    if result is None:
        new: Tensor = _new(type(first))
        new._tensor = op(core, *rest)
        return new
    if result is not first:
        resize_to(result, shape_of(core))
    try:
        op(core, *rest, out=result._tensor)
    except st.ShapeError:
        if result._tensor.layout.is_injective:
            raise
        overlap.compute(op, result._tensor, core, *rest)
    return result
