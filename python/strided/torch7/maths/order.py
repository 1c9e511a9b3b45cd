"""Order: sorting, the smallest and largest elements, medians and modes, along a dim.

Torch7 sorts with a quicksort and selects with a quickselect of its own. They decide which of several equal elements is
meant, where a NaN ends up, and in which order an unsorted `topk` returns its elements. The core has both, for one thread.
Large tensors use the sort of the core, which is several times as fast: equal elements keep their order, and NaN is largest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import strided as st
from strided import _strided
from strided.torch7.calls.arguments import one_based
from strided.torch7.calls.forms import BadArgument, Form, Row
from strided.torch7.calls.results import deliver, row_major
from strided.torch7.errors import TorchIndexError
from strided.torch7.maths.reduce import check_dim
from strided.torch7.tensor.classes import Tensor

Pair = tuple[Tensor, Tensor]
_Result = Tensor | None
_Cores = tuple[st.Tensor, st.Tensor]

#: Tensors with more elements use the core's own sort.
_LARGE = 1 << 17


def _with_halves(op: Any) -> Callable[..., _Cores]:
    """The algorithms have no halves: those are compared as float32, which is exact."""

    def run(core: st.Tensor, *arguments: Any) -> _Cores:
        wide = core.to(st.float32) if core.dtype == st.float16 else core
        values, indices = op(wide, *arguments)
        return values.to(core.dtype), indices

    return run


_quicksort = _with_halves(_strided._torch_sort)
_quickselect = _with_halves(_strided._torch_select)


def _deliver(r: _Result, i: _Result, values: st.Tensor, indices: st.Tensor) -> Pair:
    return deliver(r, row_major(values)), deliver(i, one_based(row_major(indices)))


def _sorted(core: st.Tensor, dim: int, descending: bool = False) -> _Cores:
    """All elements of each line in order, and their indices."""
    if core.numel() > _LARGE:
        values, indices = st.sort(core, dim, descending, stable=True)
        return values, indices
    return _quicksort(core, dim, descending)


def _part(cores: _Cores, dim: int, start: int, length: int) -> _Cores:
    """Some places of each line, in memory of their own."""
    values, indices = (core.narrow(dim, start, length).clone() for core in cores)
    return values, indices


def _sort(r: _Result, i: _Result, t: Tensor, dim: int, descending: bool) -> Pair:
    check_dim(t._tensor, dim, 2, "invalid dimension {}")
    return _deliver(r, i, *_sorted(t._tensor, dim, bool(descending)))


def _smallest(core: st.Tensor, k: int, dim: int, ordered: bool) -> _Cores:
    chosen = _part(_quickselect(core, k - 1, dim), dim, 0, k)
    if not ordered or k == 1:
        return chosen
    # Torch7 sorts all but the last of them, which is the largest already.
    return _rearranged(chosen, dim, k - 1, descending=False)


def _largest(core: st.Tensor, k: int, dim: int, ordered: bool) -> _Cores:
    rest = core.size(dim) - k
    line = _quickselect(core, rest - 1, dim) if rest else (core, _counting(core, dim))
    chosen = _part(line, dim, rest, k)
    return _rearranged(chosen, dim, k, descending=True) if ordered else chosen


def _counting(core: st.Tensor, dim: int) -> st.Tensor:
    """The index of each element in its line."""
    shape = [1] * core.ndim
    shape[dim] = -1
    return st.arange(core.size(dim)).view(shape).expand(core.shape)


def _rearranged(cores: _Cores, dim: int, length: int, descending: bool) -> _Cores:
    """Sorts the first places of each line, in place."""
    values, indices = (core.narrow(dim, 0, length) for core in cores)
    ordered, order = _quicksort(values, dim, descending)
    indices.copy_(indices.gather(dim, order))
    values.copy_(ordered)
    return cores


def _topk(r: _Result, i: _Result, t: Tensor, k: int, dim: int, largest: bool, ordered: bool) -> Pair:
    core = t._tensor
    check_dim(core, dim, 3, "dim not in range")
    if not 0 < k <= core.size(dim):
        raise BadArgument(2, "k not in range for dimension", TorchIndexError)
    if core.numel() > _LARGE:
        return _deliver(r, i, *_part(st.topk(core, k, dim, bool(largest)), dim, 0, k))
    choose = _largest if largest else _smallest
    return _deliver(r, i, *choose(core, k, dim, bool(ordered)))


def _kthvalue(r: _Result, i: _Result, t: Tensor, k: int, dim: int) -> Pair:
    core = t._tensor
    check_dim(core, dim, 3, "dimension out of range")
    if not 0 < k <= core.size(dim):
        raise BadArgument(2, "selected index out of range", TorchIndexError)
    if core.numel() > _LARGE:
        return _deliver(r, i, *map(row_major, st.kthvalue(core, k, dim, True)))
    return _deliver(r, i, *_part(_quickselect(core, k - 1, dim), dim, k - 1, 1))


def _median(r: _Result, i: _Result, t: Tensor, dim: int) -> Pair:
    core = t._tensor
    check_dim(core, dim, 3, "dimension out of range")
    return _kthvalue(r, i, t, (core.size(dim) + 1) // 2, dim)


def _mode(r: _Result, i: _Result, t: Tensor, dim: int) -> Pair:
    core = t._tensor
    check_dim(core, dim, 3, "dimension out of range")
    values = row_major(st.mode(core, dim, True)[0])
    # The index is that of the last of the equal elements after sorting.
    ordered, order = _sorted(core, dim)
    place = (ordered <= values).sum(dim, True).sub_(1)
    return _deliver(r, i, values, order.gather(dim, place.clamp_(min=0)))


_RESULTS = "new newLong T"

ROWS: list[Row] = [
    Row(
        "sort",
        "The elements along a dim, the last one unless given, in ascending order, or in descending order: `sort(dim, True)`;"
        " and their indices.",
        ">>> values, indices = torch.sort(torch.Tensor([3, 1, 2]))\n>>> values.totable(), indices.totable()\n"
        "([1.0, 2.0, 3.0], [2, 3, 1])",
        (Form(f"{_RESULTS} index=last boolean=False", _sort),),
    ),
    Row(
        "topk",
        "The k smallest elements along a dim, or the largest ones: `topk(k, dim, True)`; in order if the fourth argument is"
        " true; and their indices.",
        ">>> values, indices = torch.topk(torch.Tensor([3, 1, 2]), 2, 1, True, True)\n>>> values.totable()\n[3.0, 2.0]",
        (Form(f"{_RESULTS} long=1 index=last boolean=False boolean=False", _topk),),
    ),
    Row(
        "kthvalue",
        "The k-th smallest element along a dim, and its index.",
        ">>> value, index = torch.kthvalue(torch.Tensor([3, 1, 2]), 2)\n>>> value.totable(), index.totable()\n([2.0], [3])",
        (Form(f"{_RESULTS} long index=last", _kthvalue),),
    ),
    Row(
        "median",
        "The element in the middle along a dim, the lower one of two, and its index.",
        ">>> value, index = torch.median(torch.Tensor([3, 1, 2, 9]))\n>>> value.totable(), index.totable()\n([2.0], [3])",
        (Form(f"{_RESULTS} index=last", _median),),
    ),
    Row(
        "mode",
        "The most frequent element along a dim, and its last index.",
        ">>> value, index = torch.mode(torch.Tensor([3, 1, 3, 2]))\n>>> value.totable(), index.totable()\n([3.0], [3])",
        (Form(f"{_RESULTS} index=last", _mode),),
    ),
]
