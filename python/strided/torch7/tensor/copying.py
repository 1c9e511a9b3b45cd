"""`copy` and `repeatTensor`, and the writes that other methods share. Memory may overlap; see `strided._dialect.overlap`."""

from __future__ import annotations

from typing import Any, Self

import strided as st
from strided._dialect import overlap
from strided._dialect.lua import MISSING
from strided.torch7.calls.arguments import type_error
from strided.torch7.errors import TorchValueError, bad_argument
from strided.torch7.tensor.base import TensorMethods
from strided.torch7.tensor.geometry import different_counts, ndim, resize_to, shape_of


class Copying(TensorMethods):
    """Methods that copy elements."""

    __slots__ = ()

    def copy(self, source: Any = MISSING) -> Self:
        """Writes the elements of a tensor of any type and the same number of elements, and returns this one.

        >>> from strided import torch7 as torch
        >>> torch.IntTensor(2, 2).copy(torch.Tensor([1.5, 2.5, 3.5, 4.5])).totable()
        [[1, 2], [3, 4]]
        """
        if not isinstance(source, Copying):
            raise type_error(source, 2, "copy", "torch.*Tensor")
        copy_into(self._tensor, source._tensor)
        return self

    def repeatTensor(self, *args: Any) -> Self:
        """Copies of the tensor side by side, as often along each dim as the numbers or a `LongStorage` say.

        More numbers than dims add leading dims. With a tensor before the numbers, `result.repeatTensor(x, …)`, the
        result is resized and filled.

        >>> from strided import torch7 as torch
        >>> torch.IntTensor([1, 2]).repeatTensor(2, 2).totable()
        [[1, 2, 1, 2], [1, 2, 1, 2]]
        """
        result, source, repeats = self._operands(args, "repeatTensor")  # type: ignore[attr-defined]
        core = source._tensor
        rank = ndim(core)
        if len(repeats) < rank:
            raise TorchValueError(
                "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
            )
        shape = (1,) * (len(repeats) - rank) + shape_of(core)
        result = self._with(st.empty(0, dtype=core.dtype)) if result is None else result
        if rank and all(repeat > 0 for repeat in repeats):
            tiled = core.contiguous().view(shape).repeat(*repeats)
            resize_to(result, tiled.shape)
            copy_into(result._tensor, tiled)
        elif not rank:
            resize_to(result, repeats)  # the elements may be anything
        else:
            # Torch7 unfolds the result, in which the first size that is not positive ends the sizes.
            empty = repeats[0] <= 0
            text = "cannot unfold an empty tensor" if empty else "out of range"
            raise bad_argument(1 if empty else 3, "unfold", text, TorchValueError)
        return result


def copy_into(target: st.Tensor, source: st.Tensor) -> None:
    """Copies elements in row-major order, one after the other if memory overlaps."""
    if target is source:
        return
    if target.numel() != source.numel():
        raise different_counts(("tensor", "src"), (target, source))
    if not target.numel():
        return
    if overlap.reads_what_it_writes(target, source):
        overlap.apply(st.Tensor.copy_, target, source)
    else:
        store(target, source if source.shape == target.shape else source.reshape(target.shape))


def store(target: st.Tensor, values: st.Tensor) -> None:
    """Writes values of the same shape, cast to the dtype of the target."""
    try:
        target.copy_(values)
    except st.ShapeError:
        if target.layout.is_injective:
            raise
        overlap.write(target, values)


def fill(target: st.Tensor, value: float) -> None:
    """Sets all elements to a number that fits the dtype."""
    try:
        target.fill_(value)
    except st.ShapeError:
        overlap.write(target, st.tensor(value, dtype=target.dtype))
