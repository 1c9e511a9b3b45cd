"""Products of vectors and matrices."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import strided as st
from strided.torch7.calls.arguments import counted
from strided.torch7.calls.elements import is_integral
from strided.torch7.calls.forms import BadArgument, Form, Operation, Row
from strided.torch7.calls.results import Core, deliver
from strided.torch7.errors import TorchError, TorchIndexError
from strided.torch7.tensor.classes import Tensor
from strided.torch7.tensor.geometry import different_counts, ndim, size_text


def dot(t: Tensor, src: Tensor) -> Any:
    a, b = t._tensor, src._tensor
    if a.numel() != b.numel():
        raise different_counts(("tensor", "src"), (a, b))
    if is_integral(a.dtype):
        # C multiplies as int, or as long. The sum of a run has the type of the elements, the sum of all is a long.
        wide = st.int64 if a.dtype == st.int64 else st.int32
        products = st.mul(a.to(wide).reshape(-1), b.to(wide).reshape(-1))
        return sum(products[start:stop].sum().to(a.dtype).item() for start, stop in _runs(a, b))
    return a.reshape(-1).dot(b.reshape(-1)).item()


def _runs(a: st.Tensor, b: st.Tensor) -> Iterable[tuple[int, int]]:
    """The parts of two tensors, in row-major order, in which the elements of each are equally spaced in memory."""
    count = a.numel()
    edges = {count, *(start for core in (a, b) for start in range(0, count, max(1, _run_length(core))))}
    return pairwise(sorted(edges))


def _run_length(core: st.Tensor) -> int:
    if core.is_contiguous():
        return core.numel()
    length, dim = core.size(-1), core.dim() - 1
    while dim and core.stride(dim - 1) == core.stride(dim) * core.size(dim):
        dim -= 1
        length *= core.size(dim)
    return int(length)


# What must agree, in the words of Torch7. `t` is what a product is added to, or None. Torch7 does not resize the result of a
# product: it must have the right sizes.


def _mismatch(**cores: st.Tensor) -> TorchError:
    return TorchError("size mismatch, " + ", ".join(f"{name}: {size_text(core)}" for name, core in cores.items()))


def check_mv(t: st.Tensor | None, mat: st.Tensor, vec: st.Tensor) -> None:
    if mat.size(1) != vec.size(0):
        raise TorchError(f"size mismatch, {size_text(mat)}, {size_text(vec)}")
    if t is None:
        return
    if ndim(t) != 1:
        raise TorchError(f"vector expected, got t: {ndim(t)}D")
    if t.size(0) != mat.size(0):
        raise _mismatch(t=t, mat=mat)


def check_mm(t: st.Tensor | None, m1: st.Tensor, m2: st.Tensor) -> None:
    if m1.size(1) != m2.size(0):
        raise _mismatch(m1=m1, m2=m2)
    if t is None:
        return
    if ndim(t) != 2:
        raise TorchError(f"matrix expected, got {ndim(t)}D tensor for t")
    if tuple(t.shape) != (m1.size(0), m2.size(1)):
        raise _mismatch(t=t, m1=m1, m2=m2)


def _check_ger(t: st.Tensor | None, vec1: st.Tensor, vec2: st.Tensor) -> None:
    if t is None:
        return
    if ndim(t) != 2:
        raise TorchError(f"expected matrix, got {ndim(t)}D tensor for t")
    if tuple(t.shape) != (vec1.size(0), vec2.size(0)):
        raise _mismatch(t=t, vec1=vec1, vec2=vec2)


def _check_batches(a: st.Tensor, b: st.Tensor) -> None:
    if a.size(0) != b.size(0):
        raise BadArgument(2, f"equal number of batches expected, got {a.size(0)}, {b.size(0)}")
    if a.size(2) != b.size(1):
        sizes = f"batch1: {a.size(1)}x{a.size(2)}, batch2: {b.size(1)}x{b.size(2)}"
        raise BadArgument(2, f"wrong matrix size, {sizes}")


def _check_output(t: st.Tensor, shape: tuple[int, ...]) -> None:
    for d, size in enumerate(shape):
        if d >= ndim(t):
            raise BadArgument(2, f"dimension {counted(d)} out of range of {ndim(t)}D tensor", TorchIndexError)
        if t.size(d) != size:
            raise BadArgument(1, "output tensor of incorrect size")


def _check_bmm(t: st.Tensor | None, a: st.Tensor, b: st.Tensor) -> None:
    _check_batches(a, b)
    if t is not None:
        _check_output(t, (a.size(0), a.size(1), b.size(2)))


def _check_addbmm(t: st.Tensor, a: st.Tensor, b: st.Tensor) -> None:
    _check_batches(a, b)
    _check_output(t, (a.size(1), b.size(2)))


def _product(op: Core, check: Any) -> Operation:
    """`r = a * b`."""

    def run(r: Tensor | None, a: Tensor, b: Tensor) -> Tensor:
        check(None if r is None else r._tensor, a._tensor, b._tensor)
        return deliver(r, op(a._tensor, b._tensor))

    return Operation(run, op, product=True)


def _sum(op: Core, check: Any) -> Operation:
    """`r = beta * t + alpha * a * b`."""

    def run(r: Tensor | None, beta: Any, t: Tensor, alpha: Any, a: Tensor, b: Tensor) -> Tensor:
        core = t._tensor
        try:
            values = op(core, a._tensor, b._tensor, beta=beta, alpha=alpha)
        except st.ShapeError:
            check(core, a._tensor, b._tensor)
            raise
        if values.shape != core.shape:  # the core repeats `t` to the sizes of the product
            check(core, a._tensor, b._tensor)
        return deliver(r, values)

    return Operation(run, op, product=True, in_place="{2}, {4}, {5}, beta={1}, alpha={3}")


def _match(r: Tensor | None, m1: Tensor, m2: Tensor, gain: Any) -> Tensor:
    for number, m in enumerate((m1, m2), 2):
        if not m._tensor.numel():
            raise BadArgument(number, "dimension 1 out of range of 0D tensor", TorchIndexError)
    a, b = (m._tensor.reshape(m._tensor.size(0), -1) for m in (m1, m2))
    if a.size(1) != b.size(1):
        raise BadArgument(3, "m1 and m2 must have the same inner vector dim")
    squares = st.sub(a.unsqueeze(1), b.unsqueeze(0)).square()
    return deliver(r, squares.sum(2, dtype=a.dtype).mul_(gain))


def _sum_row(name: str, op: Core, check: Any, dims: tuple[int, int, int], doc: str, example: str) -> Row:
    """The row of a product that is added to something. The forms of the method are of their own, to be unambiguous."""
    t, a, b = (f"~{d}D" for d in dims)
    run = _sum(op, check)
    method = (
        Form(f"self{t} :1 first{t} real=1 T{a} T{b}", run),
        Form(f"self{t} real first{t} real T{a} T{b}", run),
    )
    return Row(name, doc, example, (Form(f"new real=1 T{t} real=1 T{a} T{b}", run),), method)


_M = ">>> m = torch.Tensor([[1, 2], [3, 4]])\n>>> v = torch.Tensor([1, 1])\n"

ROWS: list[Row] = [
    Row(
        "dot",
        "The sum of the products of the elements of two tensors.",
        ">>> torch.Tensor([1, 2]).dot(torch.Tensor([3, 4]))\n11.0",
        (Form("T T", dot),),
    ),
    Row(
        "mv",
        "The product of a matrix and a vector.",
        f"{_M}>>> torch.mv(m, v).totable()\n[3.0, 7.0]",
        (Form("dst T~2D T~1D", _product(st.mv, check_mv)),),
    ),
    Row(
        "mm",
        "The product of two matrices.",
        f"{_M}>>> torch.mm(m, m).totable()\n[[7.0, 10.0], [15.0, 22.0]]",
        (Form("dst T~2D T~2D", _product(st.mm, check_mm)),),
    ),
    Row(
        "bmm",
        "The products of the matrices of two batches, pair by pair.",
        ">>> torch.bmm(torch.ones(5, 2, 3), torch.ones(5, 3, 4)).size().totable()\n[5, 2, 4]",
        (Form("dst T~3D T~3D", _product(st.bmm, _check_bmm)),),
    ),
    Row(
        "ger",
        "The outer product of two vectors.",
        ">>> torch.ger(torch.Tensor([1, 2]), torch.Tensor([3, 4])).totable()\n[[3.0, 4.0], [6.0, 8.0]]",
        (Form("dst T~1D T~1D", _product(st.ger, _check_ger)),),
    ),
    _sum_row(
        "addmv",
        st.addmv,
        check_mv,
        (1, 2, 1),
        "A vector times a number, plus the product of a matrix and a vector times a number.",
        f"{_M}>>> torch.addmv(v, m, v).totable()\n[4.0, 8.0]",
    ),
    _sum_row(
        "addmm",
        st.addmm,
        check_mm,
        (2, 2, 2),
        "A matrix times a number, plus the product of two matrices times a number.",
        f"{_M}>>> torch.addmm(10, m, m, m).totable()\n[[17.0, 30.0], [45.0, 62.0]]",
    ),
    _sum_row(
        "addr",
        st.addr,
        _check_ger,
        (2, 1, 1),
        "A matrix times a number, plus the outer product of two vectors times a number.",
        f"{_M}>>> m.addr(2, v, v).totable()\n[[3.0, 4.0], [5.0, 6.0]]",
    ),
    _sum_row(
        "addbmm",
        st.addbmm,
        _check_addbmm,
        (2, 3, 3),
        "A matrix times a number, plus the sum of the products of the matrices of two batches.",
        ">>> torch.addbmm(torch.ones(2, 2), torch.ones(3, 2, 1), torch.ones(3, 1, 2)).sum()\n16.0",
    ),
    _sum_row(
        "baddbmm",
        st.baddbmm,
        _check_bmm,
        (3, 3, 3),
        "A batch times a number, plus the products of the matrices of two batches.",
        ">>> torch.baddbmm(torch.ones(3, 2, 2), torch.ones(3, 2, 1), torch.ones(3, 1, 2)).sum()\n24.0",
    ),
    Row(
        "match",
        "The squared distances between the rows of two matrices, times a number.",
        f"{_M}>>> torch.match(m, m, 0.5).totable()\n[[0.0, 4.0], [4.0, 0.0]]",
        (Form("dst T T real=1", _match),),
    ),
]
