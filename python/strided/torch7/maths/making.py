"""Tensors made from sizes, numbers and other tensors: zeros, ranges, diagonals, tensors joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import strided as st
from strided.torch7.calls.arguments import counted
from strided.torch7.calls.elements import is_integral
from strided.torch7.calls.forms import BadArgument, Form, Row, Run
from strided.torch7.calls.results import Core, deliver, new_tensor
from strided.torch7.errors import TorchError, TorchIndexError, TorchValueError
from strided.torch7.maths.reduce import check_dim
from strided.torch7.tensor.classes import Tensor
from strided.torch7.tensor.copying import store
from strided.torch7.tensor.geometry import different_counts, ndim, resize_to, shape_of, size_text
from strided.torch7.types import wrap_tensor


def fill(r: Tensor, value: Any) -> Tensor:
    """Sets all elements."""
    core = r._tensor
    try:
        core.fill_(value)
    except st.ShapeError:
        store(core, st.tensor(value, dtype=core.dtype).expand(core.shape))
    return r


def _filled(value: int) -> Run:
    def run(r: Tensor | None, cls: type[Tensor], sizes: Sequence[int]) -> Tensor:
        if r is None:
            r = new_tensor(cls, sizes)
            r._tensor.fill_(value)
            return r
        resize_to(r, sizes)
        return fill(r, value)

    return run


def _reshape(r: Tensor | None, t: Tensor, sizes: Sequence[int]) -> Tensor:
    core = t._tensor
    if r is None:
        r = new_tensor(type(t), sizes)
    else:
        resize_to(r, sizes)
    if r._tensor.numel() != core.numel():
        raise different_counts(("tensor", "src"), (r._tensor, core))
    store(r._tensor, core.reshape(r._tensor.shape))
    return r


# Ranges


def _spaced(r: Tensor | None, values: st.Tensor) -> Tensor:
    """Writes a range: the result keeps its sizes if it has the right number of elements."""
    if r is None:
        return deliver(None, values)
    if r._tensor.numel() != values.numel():
        resize_to(r, values.shape)
    store(r._tensor, values.reshape(r._tensor.shape))
    return r


def _range(r: Tensor | None, cls: type[Tensor], low: Any, high: Any, step: Any) -> Tensor:
    dtype = cls._dtype
    if not (step > 0 or step < 0):
        raise BadArgument(3, "step must be a non-null number", TorchValueError)
    if not ((step > 0 and high >= low) or (step < 0 and high <= low)):
        raise BadArgument(2, "upper bound and larger bound incoherent with step sign", TorchValueError)
    if is_integral(dtype):
        # C divides towards zero, and the quotient is not negative.
        places = st.arange((high - low) // step + 1)
        return _spaced(r, places.mul_(step).add_(low).to(dtype))
    places = st.arange(int((high - low) / step + 1), dtype=st.float64)
    return _spaced(r, places.mul_(step).add_(low).to(dtype))


def _linspace_values(cls: type[Tensor], low: Any, high: Any, n: int) -> st.Tensor:
    if not (n > 1 or (n == 1 and low == high)):
        raise BadArgument(3, "invalid number of points", TorchValueError)
    dtype = st.float64 if is_integral(cls._dtype) else cls._dtype
    if n == 1:
        return st.full((1,), low, dtype=dtype)
    return st.arange(n, dtype=dtype).mul_(high - low).div_(n - 1).add_(low)


def _linspace(r: Tensor | None, cls: type[Tensor], low: Any, high: Any, n: int) -> Tensor:
    return _spaced(r, _linspace_values(cls, low, high, n).to(cls._dtype))


def _logspace(r: Tensor | None, cls: type[Tensor], low: Any, high: Any, n: int) -> Tensor:
    return _spaced(r, st.pow(10.0, _linspace_values(cls, low, high, n)).to(cls._dtype))


# Matrices


def _eye(r: Tensor | None, cls: type[Tensor], n: int, m: int) -> Tensor:
    if n <= 0:
        raise BadArgument(1, "invalid argument", TorchValueError)
    return deliver(r, st.eye(n, m if m > 0 else n, dtype=cls._dtype))


def _diag(r: Tensor | None, t: Tensor, k: int) -> Tensor:
    core = t._tensor
    if ndim(core) not in (1, 2):
        raise BadArgument(1, "matrix or a vector expected")
    values = st.diag(core, k)
    if not values.numel():
        raise BadArgument(2, "dimension 1 out of range of 0D tensor", TorchIndexError)
    return deliver(r, values)


def _triangle(op: Core) -> Run:
    def run(r: Tensor | None, t: Tensor, k: int) -> Tensor:
        if ndim(t._tensor) != 2:
            raise BadArgument(1, "expected a matrix")
        return deliver(r, op(t._tensor, k))

    return run


def _cross(r: Tensor | None, a: Tensor, b: Tensor, dim: int) -> Tensor:
    x, y = a._tensor, b._tensor
    if ndim(x) != ndim(y):
        raise TorchError(f"inconsistent tensor dimension {ndim(x)}D, {ndim(y)}D")
    if x.shape != y.shape:
        raise TorchError(f"inconsistent tensor sizes {size_text(x)}, {size_text(y)}")
    if dim < 0:
        dim = next((d for d, size in enumerate(shape_of(x)) if size == 3), -1)
        if dim < 0:
            raise TorchError(f"no dimension of size 3 in a: {size_text(x)}")
    check_dim(x, dim, 3)
    if x.size(dim) != 3:
        raise BadArgument(3, f"dimension {counted(dim)} does not have size 3")
    return deliver(r, st.cross(x, y, dim))


# Joining


def _check_joinable(shapes: Sequence[tuple[int, ...]], dim: int, rank: int) -> None:
    """Refuses tensors whose sizes differ in another dim than the one along which they are joined."""
    for d in range(rank):
        sizes = {shape[d] if d < len(shape) else 1 for shape in shapes}
        if d != dim and len(sizes) > 1:
            raise TorchError("inconsistent tensor sizes")


def _cat(r: Tensor | None, tensors: Sequence[st.Tensor], dim: int) -> Tensor:
    """Joins tensors; those without elements are passed over, and missing dims have the size 1."""
    rank = max(dim + 1, *(ndim(core) for core in tensors), 0)
    if counted(dim) == -1:
        dim = max(rank - 1, 0)
    if dim < 0:
        raise BadArgument(4, f"invalid dimension {counted(dim)}", TorchIndexError)
    parts = [core for core in tensors if core.numel()]
    _check_joinable([tuple(core.shape) for core in parts], dim, rank)
    if not parts:
        return deliver(None, tensors[0]) if r is None else r
    return deliver(r, st.cat([core.reshape(*core.shape, *[1] * (rank - core.ndim)) for core in parts], dim))


def _cat_two(r: Tensor | None, a: Tensor, b: Tensor, dim: int) -> Tensor:
    return _cat(r, (a._tensor, b._tensor), dim)


# Squeezing


def _squeeze(result: Tensor | None, x: Tensor) -> Any:
    core = x._tensor
    view = core.squeeze()
    return _squeezed(result, view if view.dim() else view.view(1), True)


def _squeeze_dim(result: Tensor | None, x: Tensor, dim: int) -> Any:
    core = x._tensor
    rank = ndim(core)
    if not 0 <= dim < rank:
        raise BadArgument(2, "dimension out of range", TorchIndexError)
    if core.size(dim) != 1 or rank == 1:
        return _squeezed(result, core.as_strided(core.shape, core.stride()), rank == 1)
    return _squeezed(result, core.select(dim, 0), False)


def _squeezed(result: Tensor | None, view: st.Tensor, number_if_single: bool) -> Any:
    """The view, or the number in it if it is the only one."""
    if result is not None:
        result._tensor = view
    if number_if_single and view.numel() == 1 and view.dim() == 1:
        return view.item()
    return wrap_tensor(view) if result is None else result


# Questions


def _numel(t: Tensor) -> int:
    return t._tensor.numel()


def _equal(a: Tensor, b: Tensor) -> bool:
    return shape_of(a._tensor) == shape_of(b._tensor) and bool(st.equal(a._tensor, b._tensor))


ROWS: list[Row] = [
    Row(
        "zero", "Sets all elements to 0.", ">>> torch.Tensor(2).zero().totable()\n[0.0, 0.0]", (Form("self :0", fill),)
    ),
    Row(
        "fill",
        "Sets all elements to a number.",
        ">>> torch.Tensor(2).fill(3).totable()\n[3.0, 3.0]",
        (Form("self real", fill),),
    ),
    *(
        Row(
            name,
            f"A tensor of the given sizes, filled with {value}.",
            f">>> torch.{name}(2, 2).totable()\n[[{value}.0, {value}.0], [{value}.0, {value}.0]]",
            (Form("dst cls sizes", _filled(value)),),
        )
        for name, value in (("zeros", 0), ("ones", 1))
    ),
    Row(
        "reshape",
        "A copy with other sizes and the same number of elements.",
        ">>> torch.reshape(torch.range(1, 4), 2, 2).totable()\n[[1.0, 2.0], [3.0, 4.0]]",
        (Form("new T sizes", _reshape),),
    ),
    Row(
        "squeeze",
        "A view without dims of size 1, or without one of them. A single element is returned as a number.",
        ">>> torch.IntTensor([[1], [2]]).squeeze().totable()\n[1, 2]",
        (Form("new T", _squeeze), Form("new T index", _squeeze_dim)),
    ),
    Row(
        "range",
        "The numbers from the first to the second, which is included, in steps of 1 or of the third.",
        ">>> torch.range(2, 5).totable()\n[2.0, 3.0, 4.0, 5.0]\n>>> torch.range(1, 0, -0.5).totable()\n[1.0, 0.5, 0.0]",
        (Form("dst cls accreal accreal accreal=1", _range),),
    ),
    Row(
        "linspace",
        "`n` numbers (100 by default), equally spaced from the first argument to the second.",
        ">>> torch.linspace(1, 2, 5).totable()\n[1.0, 1.25, 1.5, 1.75, 2.0]",
        (Form("dst cls real real long=100", _linspace),),
    ),
    Row(
        "logspace",
        "`n` powers of ten, whose exponents are equally spaced from the first argument to the second.",
        ">>> torch.logspace(0, 2, 3).totable()\n[1.0, 10.0, 100.0]",
        (Form("dst cls real real long=100", _logspace),),
    ),
    Row(
        "eye",
        "A matrix with ones on the main diagonal and zeros elsewhere.",
        ">>> torch.eye(2, 3).totable()\n[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]",
        (Form("dst cls long long=0", _eye),),
    ),
    Row(
        "diag",
        "A diagonal of a matrix, or a matrix with the elements of a vector on a diagonal.",
        ">>> torch.diag(torch.Tensor([[1, 2], [3, 4]])).totable()\n[1.0, 4.0]",
        (Form("new T long=0", _diag),),
    ),
    *(
        Row(
            name,
            f"A copy of a matrix with zeros {side} a diagonal.",
            f">>> torch.{name}(torch.ones(2, 2)).totable()\n{result}",
            (Form("new T int=0", _triangle(op)),),
        )
        for name, op, side, result in (
            ("tril", st.tril, "above", [[1.0, 0.0], [1.0, 1.0]]),
            ("triu", st.triu, "below", [[1.0, 1.0], [0.0, 1.0]]),
        )
    ),
    Row(
        "cross",
        "The cross products of vectors along a dim of size 3, the first such dim unless given.",
        ">>> torch.cross(torch.Tensor([1, 0, 0]), torch.Tensor([0, 1, 0])).totable()\n[0.0, 0.0, 1.0]",
        (Form("new T T index=0", _cross),),
    ),
    Row(
        "cat",
        "Joins two tensors, or a list of tensors, along a dim, the last one unless given.",
        ">>> torch.cat(torch.Tensor([1]), torch.Tensor([2, 3])).totable()\n[1.0, 2.0, 3.0]\n"
        ">>> torch.cat([torch.ones(1, 2), torch.zeros(1, 2)], 1).totable()\n[[1.0, 1.0], [0.0, 0.0]]",
        (Form("new T T index=-1", _cat_two), Form("new {T} index=-1", _cat)),
    ),
    Row("numel", "The number of elements.", ">>> torch.numel(torch.Tensor(2, 3))\n6", (Form("T", _numel),)),
    Row(
        "equal",
        "Whether two tensors have the same sizes and the same elements.",
        ">>> torch.equal(torch.ones(2), torch.ones(2))\nTrue",
        (Form("T T", _equal),),
    ),
]
