"""Tensors made from sizes, numbers and other tensors: zeros, ranges, diagonals, tensors joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import strided as st
from strided.torch7 import serial
from strided.torch7.arguments import counted
from strided.torch7.casts import is_integral
from strided.torch7.errors import TorchError, TorchIndexError, TorchValueError
from strided.torch7.geometry import different_counts, ndim, resize_to, shape_of, size_text
from strided.torch7.reduce import checked
from strided.torch7.results import Core, deliver, made, store
from strided.torch7.tensor import TensorBase
from strided.torch7.wrap import BadArgument, Form, Row, Run


def fill(r: TensorBase, value: Any) -> TensorBase:
    """Sets all elements."""
    core = r._tensor
    try:
        core.fill_(value)
    except st.ShapeError:
        serial.fill(core, value)
    return r


def _filled(value: int) -> Run:
    def run(r: TensorBase | None, cls: type[TensorBase], sizes: Sequence[int]) -> TensorBase:
        if r is None:
            r = made(cls, sizes)
            r._tensor.fill_(value)
            return r
        resize_to(r, sizes)
        return fill(r, value)

    return run


def _reshape(r: TensorBase | None, t: TensorBase, sizes: Sequence[int]) -> TensorBase:
    core = t._tensor
    if r is None:
        r = made(type(t), sizes)
    else:
        resize_to(r, sizes)
    if r._tensor.numel() != core.numel():
        raise different_counts(("tensor", "src"), (r._tensor, core))
    store(r._tensor, core.reshape(r._tensor.shape))
    return r


# Ranges


def _spaced(r: TensorBase | None, values: st.Tensor) -> TensorBase:
    """Writes a range: the result keeps its sizes if it has the right number of elements."""
    if r is None:
        return deliver(None, values)
    if r._tensor.numel() != values.numel():
        resize_to(r, values.shape)
    store(r._tensor, values.reshape(r._tensor.shape))
    return r


def _range(r: TensorBase | None, cls: type[TensorBase], low: Any, high: Any, step: Any) -> TensorBase:
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


def _linspace_values(cls: type[TensorBase], low: Any, high: Any, n: int) -> st.Tensor:
    if not (n > 1 or (n == 1 and low == high)):
        raise BadArgument(3, "invalid number of points", TorchValueError)
    dtype = st.float64 if is_integral(cls._dtype) else cls._dtype
    if n == 1:
        return st.full((1,), low, dtype=dtype)
    return st.arange(n, dtype=dtype).mul_(high - low).div_(n - 1).add_(low)


def _linspace(r: TensorBase | None, cls: type[TensorBase], low: Any, high: Any, n: int) -> TensorBase:
    return _spaced(r, _linspace_values(cls, low, high, n).to(cls._dtype))


def _logspace(r: TensorBase | None, cls: type[TensorBase], low: Any, high: Any, n: int) -> TensorBase:
    return _spaced(r, st.pow(10.0, _linspace_values(cls, low, high, n)).to(cls._dtype))


# Matrices


def _eye(r: TensorBase | None, cls: type[TensorBase], n: int, m: int) -> TensorBase:
    if n <= 0:
        raise BadArgument(1, "invalid argument", TorchValueError)
    return deliver(r, st.eye(n, m if m > 0 else n, dtype=cls._dtype))


def _diag(r: TensorBase | None, t: TensorBase, k: int) -> TensorBase:
    core = t._tensor
    if ndim(core) not in (1, 2):
        raise BadArgument(1, "matrix or a vector expected")
    values = st.diag(core, k)
    if not values.numel():
        raise BadArgument(2, "dimension 1 out of range of 0D tensor", TorchIndexError)
    return deliver(r, values)


def _triangle(op: Core) -> Run:
    def run(r: TensorBase | None, t: TensorBase, k: int) -> TensorBase:
        if ndim(t._tensor) != 2:
            raise BadArgument(1, "expected a matrix")
        return deliver(r, op(t._tensor, k))

    return run


def _cross(r: TensorBase | None, a: TensorBase, b: TensorBase, dim: int) -> TensorBase:
    x, y = a._tensor, b._tensor
    if ndim(x) != ndim(y):
        raise TorchError(f"inconsistent tensor dimension {ndim(x)}D, {ndim(y)}D")
    if x.shape != y.shape:
        raise TorchError(f"inconsistent tensor sizes {size_text(x)}, {size_text(y)}")
    if dim < 0:
        dim = next((d for d, size in enumerate(shape_of(x)) if size == 3), -1)
        if dim < 0:
            raise TorchError(f"no dimension of size 3 in a: {size_text(x)}")
    checked(x, dim, 3)
    if x.size(dim) != 3:
        raise BadArgument(3, f"dimension {counted(dim)} does not have size 3")
    return deliver(r, st.cross(x, y, dim))


# Joining


def _joined(shapes: Sequence[tuple[int, ...]], dim: int, rank: int) -> None:
    """Refuses tensors whose sizes differ in another dim than the one along which they are joined."""
    for d in range(rank):
        sizes = {shape[d] if d < len(shape) else 1 for shape in shapes}
        if d != dim and len(sizes) > 1:
            raise TorchError("inconsistent tensor sizes")


def _cat(r: TensorBase | None, tensors: Sequence[st.Tensor], dim: int) -> TensorBase:
    """Joins tensors; those without elements are passed over, and missing dims have the size 1."""
    rank = max(dim + 1, *(ndim(core) for core in tensors), 0)
    if counted(dim) == -1:
        dim = max(rank - 1, 0)
    if dim < 0:
        raise BadArgument(4, f"invalid dimension {counted(dim)}", TorchIndexError)
    parts = [core for core in tensors if core.numel()]
    _joined([tuple(core.shape) for core in parts], dim, rank)
    if not parts:
        return deliver(None, tensors[0]) if r is None else r
    return deliver(r, st.cat([core.reshape(*core.shape, *[1] * (rank - core.ndim)) for core in parts], dim))


def _cat_two(r: TensorBase | None, a: TensorBase, b: TensorBase, dim: int) -> TensorBase:
    return _cat(r, (a._tensor, b._tensor), dim)


# Questions


def _numel(t: TensorBase) -> int:
    return t._tensor.numel()


def _equal(a: TensorBase, b: TensorBase) -> bool:
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
    Row(
        "tril",
        "A copy of a matrix with zeros above a diagonal.",
        ">>> torch.tril(torch.ones(2, 2)).totable()\n[[1.0, 0.0], [1.0, 1.0]]",
        (Form("new T int=0", _triangle(st.tril)),),
    ),
    Row(
        "triu",
        "A copy of a matrix with zeros below a diagonal.",
        ">>> torch.triu(torch.ones(2, 2)).totable()\n[[1.0, 1.0], [0.0, 1.0]]",
        (Form("new T int=0", _triangle(st.triu)),),
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
