"""Functions that Torch7 declares with its maths, but which only move elements: `fill`, `reshape`, `gather`, …"""

from __future__ import annotations

from typing import Any

import strided as st
from strided.torch7 import serial
from strided.torch7.arguments import counted, one_based, zero_based
from strided.torch7.copying import copy_into, fill
from strided.torch7.errors import TorchIndexError, TorchTypeError, TorchValueError, with_hint
from strided.torch7.geometry import complete, different_counts, ndim, resize_to, shape_of, size_text
from strided.torch7.tensor import TensorBase
from strided.torch7.types import wrap_tensor
from strided.torch7.wrap import BadArgument, Form, Row


def _fill(x: TensorBase, value: float) -> TensorBase:
    fill(x._tensor, value)
    return x


def _zero(x: TensorBase) -> TensorBase:
    fill(x._tensor, 0)
    return x


def _reshape(result: TensorBase, x: TensorBase, sizes: list[int]) -> TensorBase:
    core = x._tensor
    shape, _ = complete(sizes, None)
    if not shape:
        count = 0
    else:
        count = st.Layout(shape).size
    if count != core.numel():
        wanted = st.empty(0).as_strided((0,), (1,)) if not shape else st.empty(1).expand(*shape)
        raise different_counts(("tensor", "src"), (wanted, core))
    source = core.clone() if result is x else core
    resize_to(result, shape)
    copy_into(result._tensor, source)
    return result


# Elements along a dim, by their indices


def _check_lines(dim: int, name: str, **tensors: st.Tensor) -> None:
    """Tensors must agree in all sizes but that of the dim."""
    (first, *rest) = tensors.values()
    rank = ndim(first)
    if not 0 <= dim < rank:
        text = f"dimension {counted(dim)} out of range of {ndim(tensors['index'])}D tensor"
        raise BadArgument(2, text, TorchIndexError)
    for d in range(rank):
        if d != dim and any(other.size(d) != first.size(d) for other in rest):
            texts = [f"{label} {size_text(core)}" for label, core in tensors.items()]
            listed = f"{', '.join(texts[:-1])} and {texts[-1]}"
            raise TorchValueError(f"Expected {listed} to have the same size in dimension {dim}")


def _places(index: st.Tensor, extent: int, name: str) -> st.Tensor:
    places = zero_based(index)
    low, high = places.aminmax()
    if low.item() < 0 or high.item() >= extent:
        raise TorchIndexError(f"Invalid index in {name}")
    return places


def _gather(result: TensorBase, x: TensorBase, dim: int, index: TensorBase) -> TensorBase:
    source, indices = x._tensor, index._tensor
    rank = ndim(source)
    if ndim(indices) != rank:
        raise BadArgument(2, "Input tensor must have same dimensions as output tensor", TorchValueError)
    if dim >= rank:
        raise BadArgument(3, "Index dimension is out of bounds", TorchIndexError)
    _check_lines(dim, "gather", tensor=indices, src=source, index=indices)
    values = source.gather(dim, _places(indices, source.size(dim), "gather"))
    resize_to(result, values.shape)
    copy_into(result._tensor, values)
    return result


def _scatter(x: TensorBase, dim: int, index: TensorBase, source: Any) -> TensorBase:
    core, indices = x._tensor, index._tensor
    rank = ndim(core)
    if dim >= rank:
        raise BadArgument(2, "Index dimension is out of bounds", TorchIndexError)
    if ndim(indices) != rank:
        raise BadArgument(3, "Index tensor must have same dimensions as output tensor", TorchValueError)
    values = source._tensor if isinstance(source, TensorBase) else None
    if values is None:
        _check_lines(dim, "scatter", tensor=core, index=indices)
    else:
        if ndim(values) != rank:
            raise BadArgument(4, "Input tensor must have same dimensions as output tensor", TorchValueError)
        _check_lines(dim, "scatter", tensor=core, src=values, index=indices)
        if values.size(dim) < indices.size(dim):
            raise TorchValueError(f"scatter: src {size_text(values)} has fewer elements along the dim than index")
        values = values.narrow(dim, 0, indices.size(dim))
    places = _places(indices, core.size(dim), "scatter")
    target = core.clone() if serial.overlaps_itself(core) else core
    target.scatter_(dim, places, source if values is None else values)
    if target is not core:
        serial.write(core, target)
    return x


# Dims of size 1


def _squeeze(result: TensorBase | None, x: TensorBase) -> Any:
    core = x._tensor
    kept = [(extent, stride) for extent, stride in zip(shape_of(core), core.stride(), strict=False) if extent != 1]
    shape, strides = zip(*(kept or [(1, 1)]), strict=True)
    return _squeezed(result, core.as_strided(shape, strides) if ndim(core) else core, True)


def _squeeze_dim(result: TensorBase | None, x: TensorBase, dim: int) -> Any:
    core = x._tensor
    rank = ndim(core)
    if not 0 <= dim < rank:
        raise BadArgument(2, "dimension out of range", TorchIndexError)
    if core.size(dim) != 1 or rank == 1:
        return _squeezed(result, core.as_strided(core.shape, core.stride()), rank == 1)
    return _squeezed(result, core.select(dim, 0), False)


def _squeezed(result: TensorBase | None, view: st.Tensor, number_if_single: bool) -> Any:
    """The view, or the number in it if it is the only one."""
    if result is not None:
        result._tensor = view
    if number_if_single and view.numel() == 1 and view.dim() == 1:
        return view.item()
    return wrap_tensor(view) if result is None else result


def _nonzero(result: TensorBase, x: TensorBase) -> TensorBase:
    places = one_based(x._tensor.nonzero())
    resize_to(result, places.shape)
    copy_into(result._tensor, places)
    return result


ROWS = (
    Row(
        "fill",
        "Sets every element to a number, and returns the tensor.",
        ">>> from strided import torch7 as torch\n>>> torch.IntTensor(2).fill(7).totable()\n[7, 7]",
        (Form("self real", _fill),),
    ),
    Row(
        "zero",
        "Sets every element to 0, and returns the tensor.",
        ">>> from strided import torch7 as torch\n>>> torch.IntTensor(2).zero().totable()\n[0, 0]",
        (Form("self", _zero),),
    ),
    Row(
        "reshape",
        "A copy with other sizes: numbers or a `LongStorage`. A result may come first: `reshape(result, x, …)`.",
        ">>> from strided import torch7 as torch\n"
        ">>> torch.reshape(torch.range(1, 4), 2, 2).totable()\n[[1.0, 2.0], [3.0, 4.0]]",
        (Form("new T sizes", _reshape),),
    ),
    Row(
        "gather",
        "The elements along a dim that a `LongTensor` of indices chooses; the result has the sizes of the indices.",
        ">>> from strided import torch7 as torch\n"
        ">>> torch.IntTensor([[1, 2], [3, 4]]).gather(2, torch.LongTensor([[2], [1]])).totable()\n[[2], [3]]",
        (Form("new T index Long", _gather),),
    ),
    Row(
        "scatter",
        "Writes a number, or the elements of a tensor, at the indices along a dim that a `LongTensor` holds.",
        ">>> from strided import torch7 as torch\n"
        ">>> torch.IntTensor(2, 2).zero().scatter(2, torch.LongTensor([[2], [1]]), 7).totable()\n[[0, 7], [7, 0]]",
        (Form("self index Long T", _scatter), Form("self index Long real", _scatter)),
    ),
    Row(
        "squeeze",
        "A view without dims of size 1, or without one of them. A single element is returned as a number.",
        ">>> from strided import torch7 as torch\n>>> torch.IntTensor([[1], [2]]).squeeze().totable()\n[1, 2]",
        (Form("new T", _squeeze, lazy=True), Form("new T index", _squeeze_dim, lazy=True)),
    ),
    Row(
        "nonzero",
        "The indices of all elements that are not 0, as a `LongTensor` with one row for each.",
        ">>> from strided import torch7 as torch\n>>> torch.IntTensor([7, 0, 8]).nonzero().totable()\n[[1], [3]]",
        (Form("newLong T", _nonzero),),
    ),
)


def explain_nonzero(function: Any) -> Any:
    """The function `nonzero` with a hint: a result decides the type for which it is looked up."""

    def nonzero(*args: Any) -> Any:
        try:
            return function(*args)
        except TorchTypeError as error:
            if len(args) == 2 and all(isinstance(value, TensorBase) for value in args):
                hint = f"write {type(args[1]).__name__}.nonzero(result, x) to store the indices in a tensor"
                raise TorchTypeError(with_hint(str(error), hint)) from None
            raise

    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(nonzero, name, getattr(function, name))
    return nonzero
