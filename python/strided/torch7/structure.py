"""`squeeze`, which Torch7 declares with its maths, and a hint for `nonzero`."""

from __future__ import annotations

from typing import Any

import strided as st
from strided.torch7.errors import TorchIndexError, TorchTypeError, with_hint
from strided.torch7.geometry import ndim
from strided.torch7.tensor import TensorBase
from strided.torch7.types import wrap_tensor
from strided.torch7.wrap import BadArgument, Form, Row


def _squeeze(result: TensorBase | None, x: TensorBase) -> Any:
    core = x._tensor
    view = core.squeeze()
    return _squeezed(result, view if view.dim() else view.view(1), True)


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


ROWS = (
    Row(
        "squeeze",
        "A view without dims of size 1, or without one of them. A single element is returned as a number.",
        ">>> torch.IntTensor([[1], [2]]).squeeze().totable()\n[1, 2]",
        (Form("new T", _squeeze), Form("new T index", _squeeze_dim)),
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
