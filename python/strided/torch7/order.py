"""Order: sorting, the smallest and largest elements, medians and modes, along a dim."""

from __future__ import annotations

import strided as st
from strided.torch7.arguments import counted, one_based
from strided.torch7.errors import TorchIndexError
from strided.torch7.geometry import ndim
from strided.torch7.reduce import checked
from strided.torch7.results import deliver, row_major
from strided.torch7.tensor import TensorBase
from strided.torch7.wrap import BadArgument, Form, Row

Pair = tuple[TensorBase, TensorBase]
_Result = TensorBase | None


def _delivered(r: _Result, i: _Result, values: st.Tensor, indices: st.Tensor) -> Pair:
    return deliver(r, values), deliver(i, one_based(indices))


def _sort(r: _Result, i: _Result, t: TensorBase, dim: int, descending: bool) -> Pair:
    core = t._tensor
    if not 0 <= dim < ndim(core):
        raise BadArgument(2, f"invalid dimension {counted(dim)}", TorchIndexError)
    return _delivered(r, i, *st.sort(core, dim, bool(descending), stable=True))


def _topk(r: _Result, i: _Result, t: TensorBase, k: int, dim: int, largest: bool, ordered: bool) -> Pair:
    core = t._tensor
    checked(core, dim, 3, "dim not in range")
    if not 0 < k <= core.shape[dim]:
        raise BadArgument(2, "k not in range for dimension", TorchIndexError)
    values, indices = st.topk(core, k, dim, bool(largest))
    return _delivered(r, i, values.clone(), indices.clone())


def _kthvalue(r: _Result, i: _Result, t: TensorBase, k: int, dim: int) -> Pair:
    core = t._tensor
    checked(core, dim, 3, "dimension out of range")
    if not 0 < k <= core.shape[dim]:
        raise BadArgument(2, "selected index out of range", TorchIndexError)
    return _delivered(r, i, *map(row_major, st.kthvalue(core, k, dim, True)))


def _median(r: _Result, i: _Result, t: TensorBase, dim: int) -> Pair:
    core = t._tensor
    checked(core, dim, 3, "dimension out of range")
    return _kthvalue(r, i, t, (core.shape[dim] + 1) // 2, dim)


def _mode(r: _Result, i: _Result, t: TensorBase, dim: int) -> Pair:
    core = t._tensor
    checked(core, dim, 3, "dimension out of range")
    return _delivered(r, i, *map(row_major, st.mode(core, dim, True)))


_RESULTS = "new newLong T"

ROWS: list[Row] = [
    Row(
        "sort",
        "The elements along a dim, the last one unless given, in ascending order, or in descending order: `sort(dim, True)`;"
        " and their indices.",
        ">>> values, indices = torch.sort(torch.Tensor([3, 1, 2]))\n>>> values.totable(), indices.totable()\n"
        "([1.0, 2.0, 3.0], [2, 3, 1])",
        (Form(f"{_RESULTS} index=last boolean=False", _sort, True),),
    ),
    Row(
        "topk",
        "The k smallest elements along a dim, or the largest ones: `topk(k, dim, True)`; in order if the fourth argument is"
        " true; and their indices.",
        ">>> values, indices = torch.topk(torch.Tensor([3, 1, 2]), 2, 1, True, True)\n>>> values.totable()\n[3.0, 2.0]",
        (Form(f"{_RESULTS} long=1 index=last boolean=False boolean=False", _topk, True),),
    ),
    Row(
        "kthvalue",
        "The k-th smallest element along a dim, and its index.",
        ">>> value, index = torch.kthvalue(torch.Tensor([3, 1, 2]), 2)\n>>> value.totable(), index.totable()\n([2.0], [3])",
        (Form(f"{_RESULTS} long index=last", _kthvalue, True),),
    ),
    Row(
        "median",
        "The element in the middle along a dim, the lower one of two, and its index.",
        ">>> value, index = torch.median(torch.Tensor([3, 1, 2, 9]))\n>>> value.totable(), index.totable()\n([2.0], [3])",
        (Form(f"{_RESULTS} index=last", _median, True),),
    ),
    Row(
        "mode",
        "The most frequent element along a dim, and its last index.",
        ">>> value, index = torch.mode(torch.Tensor([3, 1, 3, 2]))\n>>> value.totable(), index.totable()\n([3.0], [3])",
        (Form(f"{_RESULTS} index=last", _mode, True),),
    ),
]
