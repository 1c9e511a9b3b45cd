"""`gather`, `scatter` and `nonzero`: elements chosen by indices, which count from 1."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import strided as st
from strided.torch7.calls.arguments import counted, one_based, zero_based
from strided.torch7.calls.forms import BadArgument, Form, Row
from strided.torch7.calls.results import deliver
from strided.torch7.errors import TorchError, TorchIndexError, TorchTypeError, with_hint
from strided.torch7.tensor.classes import Tensor
from strided.torch7.tensor.copying import store
from strided.torch7.tensor.geometry import ndim, shape_of, size_text


def _extent(core: st.Tensor, dim: int) -> int:
    """The size of a dim, counted from 0."""
    if not 0 <= dim < ndim(core):
        raise BadArgument(2, f"dimension {counted(dim)} out of range of {ndim(core)}D tensor", TorchIndexError)
    return core.size(dim)


def _same_lines(dim: int, names: Sequence[str], cores: Sequence[st.Tensor]) -> None:
    """Refuses tensors that differ in another size than that of `dim`."""
    first = cores[0]
    for d, size in enumerate(first.shape):
        if d != dim and any(core.size(d) != size for core in cores):
            *rest, last = (f"{name} {size_text(core)}" for name, core in zip(names, cores, strict=True))
            listed = f"{', '.join(rest)} and {last}"
            raise TorchError(f"Expected {listed} to have the same size in dimension {dim}")


def _enough(name: str, core: st.Tensor, dim: int, chosen: st.Tensor) -> None:
    """Refuses a tensor that is shorter than the index along a dim: Torch7 would leave its memory."""
    if core.size(dim) < chosen.size(dim):
        raise TorchError(f"{name} {size_text(core)} has fewer elements than index {size_text(chosen)}")


def _gather(r: Tensor | None, t: Tensor, dim: int, index: Tensor) -> Tensor:
    core, chosen = t._tensor, index._tensor
    result = chosen if r is None else r._tensor
    if ndim(core) != ndim(result):
        raise BadArgument(2, "Input tensor must have same dimensions as output tensor")
    if dim >= ndim(core):
        raise BadArgument(3, "Index dimension is out of bounds", TorchIndexError)
    if ndim(core) != ndim(chosen):
        raise BadArgument(4, "Index tensor must have same dimensions as input tensor")
    length = _extent(chosen, dim)
    _same_lines(dim, ("tensor", "src", "index"), (result, core, chosen))
    _enough("tensor", result, dim, chosen)
    try:
        values = st.gather(core, dim, zero_based(chosen))
    except IndexError:
        raise TorchIndexError("Invalid index in gather") from None
    if r is None:
        return deliver(None, values)
    store(result.narrow(dim, 0, length), values)
    return r


def _scatter(t: Tensor, dim: int, index: Tensor, source: Any) -> Tensor:
    core, chosen = t._tensor, index._tensor
    if dim >= ndim(core):
        raise BadArgument(2, "Index dimension is out of bounds", TorchIndexError)
    if ndim(chosen) != ndim(core):
        raise BadArgument(3, "Index tensor must have same dimensions as output tensor")
    values = source
    if isinstance(source, Tensor):
        values = source._tensor
        if ndim(values) != ndim(core):
            raise BadArgument(4, "Input tensor must have same dimensions as output tensor")
        _extent(chosen, dim)
        _same_lines(dim, ("tensor", "src", "index"), (core, values, chosen))
        _enough("src", values, dim, chosen)
    else:
        _extent(chosen, dim)
        _same_lines(dim, ("tensor", "index"), (core, chosen))
    places = zero_based(chosen)
    try:
        core.scatter_(dim, places, values)
    except IndexError:
        raise TorchIndexError("Invalid index in scatter") from None
    except st.ShapeError:
        _scatter_in_order(core, dim, places, values)
    return t


def _scatter_in_order(core: st.Tensor, dim: int, places: st.Tensor, values: Any) -> None:
    """Scatters into a tensor that overlaps itself: what is written last stays."""
    for index in product(*map(range, places.shape)):
        target = (*index[:dim], places.item(*index), *index[dim + 1 :])
        core[target] = values.item(*index) if isinstance(values, st.Tensor) else values


def _nonzero(r: Tensor | None, t: Tensor) -> Tensor:
    core = t._tensor
    return deliver(r, one_based(core.nonzero()) if shape_of(core) else st.empty(0, dtype=st.int64))


ROWS: list[Row] = [
    Row(
        "gather",
        "The elements at the indices of a LongTensor along a dim: `result[i][j] = x[index[i][j]][j]` for the first dim.",
        ">>> x = torch.Tensor([[1, 2], [3, 4]])\n>>> torch.gather(x, 1, torch.LongTensor([[2, 1]])).totable()\n[[3.0, 2.0]]",
        (Form("new T index Long", _gather),),
    ),
    Row(
        "scatter",
        "Writes the elements of a tensor, or a number, to the indices of a LongTensor along a dim.",
        ">>> x = torch.zeros(2, 2)\n>>> x.scatter(2, torch.LongTensor([[2], [1]]), 5).totable()\n[[0.0, 5.0], [5.0, 0.0]]",
        (Form("self index Long T", _scatter), Form("self index Long real", _scatter)),
    ),
    Row(
        "nonzero",
        "The indices of all elements that are not 0: a LongTensor with a row for each.",
        ">>> torch.nonzero(torch.Tensor([[0, 3], [4, 0]])).totable()\n[[1, 2], [2, 1]]",
        (Form("newLong T", _nonzero),),
    ),
]


def explain_nonzero(function: Any) -> Any:
    """The function `nonzero` with a hint: the class is chosen by the first argument, here the result."""

    def nonzero(*args: Any) -> Any:
        try:
            return function(*args)
        except TorchTypeError as error:
            if len(args) == 2 and all(isinstance(value, Tensor) for value in args):
                hint = f"write {type(args[1]).__name__}.nonzero(result, x) to store the indices in a tensor"
                raise TorchTypeError(with_hint(str(error), hint)) from None
            raise

    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(nonzero, name, getattr(function, name))
    return nonzero
