"""Reductions: sums, products, extremes, moments and norms, of all elements or along a dim.

Of all elements the result is a number; along a dim it is a tensor in which that dim has the size 1. Means, variances and
norms of whole numbers are exact as numbers, and truncated to the type in tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import strided as st
from strided.torch7.calls.arguments import counted, one_based
from strided.torch7.calls.elements import is_integral
from strided.torch7.calls.forms import BadArgument, Form, Row, Run
from strided.torch7.calls.results import Core, deliver
from strided.torch7.errors import TorchIndexError, TorchValueError
from strided.torch7.tensor.classes import Tensor
from strided.torch7.tensor.geometry import different_counts, ndim

#: dtype -> the dtype in which Torch7 sums its elements; whole numbers are summed as int64 by the core itself.
_SUM_TYPES = {st.float16: st.float32, st.float32: st.float64}


def check_dim(core: st.Tensor, dim: int, number: int, text: str = "dimension {} out of range") -> None:
    """Refuses a dim, counted from 0, that a tensor does not have."""
    if not 0 <= dim < core.ndim or not core.numel():
        raise BadArgument(number, text.format(counted(dim)), TorchIndexError)


def _not_empty(core: st.Tensor, text: str) -> None:
    if not core.numel():
        raise BadArgument(1, text)


# Sums and products


def _total(op: Core) -> Run:
    def run(t: Tensor) -> Any:
        core = t._tensor
        wide = _SUM_TYPES.get(core.dtype)
        return (op(core) if wide is None else op(core, dtype=wide)).item()

    return run


def _along(op: Core) -> Run:
    def run(r: Tensor | None, t: Tensor, dim: int) -> Tensor:
        check_dim(t._tensor, dim, 2)
        return deliver(r, op(t._tensor, dim, True))

    return run


def _in_type(op: Core) -> Core:
    """The reduction of integer tensors, which wraps in their dtype."""
    return lambda core, dim, keepdim: op(core, dim, keepdim, dtype=core.dtype)


#: Up to this many terms or factors are taken one after the other.
_FEW = 256


def _in_order(op: Core, step: Callable[..., Any], core: st.Tensor, dim: int) -> st.Tensor:
    """The sums or products along a dim, in the order of Torch7, which shows in the last digit: the core has another."""
    first, *rest = (core.narrow(dim, at, 1) for at in range(min(core.size(dim), _FEW + 1)))
    if len(rest) >= _FEW:
        return op(core, dim, True, dtype=core.dtype)
    result = first.clone()
    for slice_ in rest:
        step(result, slice_)
    return result


def _wide(core: st.Tensor, dim: int) -> bool:
    """Whether Torch7 computes along a dim with doubles, and not with the floats of the tensor: if they are adjacent."""
    return core.dtype == st.float32 and core.stride(dim) == 1


def _product(core: st.Tensor, dim: int, keepdim: bool) -> st.Tensor:
    factors = core.to(st.float64) if _wide(core, dim) else core
    return _in_order(st.prod, st.Tensor.mul_, factors, dim).to(core.dtype)


def _sums(core: st.Tensor, dim: int, keepdim: bool) -> st.Tensor:
    if core.dtype != st.float32:
        return st.sum(core, dim, keepdim)
    if _wide(core, dim):
        return st.sum(core, dim, keepdim, dtype=st.float64).to(st.float32)
    return _in_order(st.sum, st.Tensor.add_, core, dim)


def _scan(op: Core) -> Run:
    def run(r: Tensor | None, t: Tensor, dim: int) -> Tensor:
        core = t._tensor
        check_dim(core, dim, 2)
        return deliver(r, op(core, dim, dtype=core.dtype))

    return run


# Extremes


def _extreme(op: Core) -> Run:
    def run(t: Tensor) -> Any:
        _not_empty(t._tensor, "tensor must have one dimension")
        return op(t._tensor).item()

    return run


def _extreme_along(op: Any) -> Run:
    def run(r: Tensor | None, i: Tensor | None, t: Tensor, dim: int) -> tuple[Tensor, Tensor]:
        check_dim(t._tensor, dim, 2)
        values, indices = op(t._tensor, dim, True)
        return deliver(r, values), deliver(i, one_based(indices))

    return run


# Moments and norms


def _floats(core: st.Tensor) -> st.Tensor:
    """Whole numbers, halves and single floats as float64, in which Torch7 computes."""
    return core if core.dtype == st.float64 else core.to(st.float64)


def _mean(t: Tensor) -> float:
    _not_empty(t._tensor, "empty Tensor")
    return float(_floats(t._tensor).mean().item())


def _mean_along(r: Tensor | None, t: Tensor, dim: int) -> Tensor:
    core = t._tensor
    check_dim(core, dim, 2, "invalid dimension {}")
    if core.dtype == st.float32:
        return deliver(r, _sums(core, dim, True).div_(core.size(dim)))
    return deliver(r, _floats(core).mean(dim, True).to(core.dtype))


def _spread(op: Core) -> Run:
    def run(t: Tensor, biased: bool) -> float:
        _not_empty(t._tensor, "empty Tensor")
        return float(op(_floats(t._tensor), correction=0 if biased else 1).item())

    return run


def _spread_along(op: Core) -> Run:
    def run(r: Tensor | None, t: Tensor, dim: int, biased: bool) -> Tensor:
        core = t._tensor
        check_dim(core, dim, 3, "invalid dimension {}")
        wide = op(_floats(core), dim, correction=0 if biased else 1, keepdim=True)
        return deliver(r, wide.to(core.dtype))

    return run


def _norms(core: st.Tensor, p: float, *dims: Any) -> st.Tensor:
    """The p-norm in float64. Torch7 takes the root by the power 1 / p, which for an infinite p gives 1 in any case."""
    wide = _floats(core).norm(float(p), *dims)
    return st.ones_like(wide) if math.isinf(p) else wide


def _norm(t: Tensor, p: float) -> float:
    return float(_norms(t._tensor, p).item()) if t._tensor.numel() else 0.0


def _norm_along(r: Tensor | None, t: Tensor, p: float, dim: int) -> Tensor:
    core = t._tensor
    check_dim(core, dim, 3, "invalid dimension {}")
    return deliver(r, _norms(core, p, dim, True).to(core.dtype))


def _renorm(r: Tensor | None, t: Tensor, p: float, dim: int, limit: float) -> Tensor:
    core = t._tensor
    check_dim(core, dim, 3, "invalid dimension {}")
    if not p > 0:
        raise BadArgument(2, "non-positive-norm not supported")
    if ndim(core) < 2:
        raise BadArgument(1, f"need at least 2 dimensions, got {ndim(core)} dimensions")
    wide = _floats(core) if is_integral(core.dtype) else core
    return deliver(r, st.renorm(wide, float(p), dim, float(limit)).to(core.dtype))


def _dist(t: Tensor, src: Tensor, p: float) -> float:
    a, b = t._tensor, src._tensor
    if a.numel() != b.numel():
        raise different_counts(("tensor", "src"), (a, b))
    if a.numel() and (p == 0 or math.isinf(p)):  # Torch7 has no limits: (Σ |d| ** p) ** (1 / p)
        return math.inf if p == 0 and a.numel() > 1 else 1.0
    if not a.numel():
        return 0.0
    found = st.dist(_floats(a), _floats(b).reshape(a.shape), float(p))
    return float((found.to(st.float32) if a.dtype == st.float32 else found).item())


def _trace(t: Tensor) -> Any:
    core = t._tensor
    if ndim(core) != 2:
        raise BadArgument(1, "expected a matrix")
    return core.diagonal().sum(dtype=_SUM_TYPES.get(core.dtype)).item()


# Truth values


def _truth(op: Core) -> Run:
    def run(t: Tensor) -> bool:
        _not_empty(t._tensor, "empty Tensor")
        return bool(op(t._tensor).item())

    return run


# Histograms


def _range(core: st.Tensor, low: float, high: float) -> tuple[float, float]:
    """The bounds of a histogram: those of the elements unless they are given."""
    if low == high:
        _not_empty(core, "tensor must have one dimension")
        low, high = core.min().item(), core.max().item()
    return (low - 1, high + 1) if low == high else (low, high)


def _counts(core: st.Tensor, bins: int, low: float, high: float) -> st.Tensor:
    """How many elements lie in each of `bins` equal parts of a range; the upper bound belongs to the last."""
    if bins <= 0:
        raise BadArgument(3, f"invalid number of bins {bins}", TorchValueError)
    x = core.reshape(-1)
    x = _floats(x[(x >= low) & (x <= high)])
    places = x.sub(low).div_(high - low).mul_(bins).to(st.int64).clamp_(max=bins - 1)
    return st.bincount(places, minlength=bins).to(core.dtype)


def _histc(r: Tensor | None, t: Tensor, bins: int, low: float, high: float) -> Tensor:
    core = t._tensor
    return deliver(r, _counts(core, bins, *_range(core, low, high)))


def _bhistc(r: Tensor | None, t: Tensor, bins: int, low: float, high: float) -> Tensor:
    core = t._tensor
    if ndim(core) > 2:
        raise BadArgument(2, f"invalid dimension {ndim(core)}, the input must be a 2d tensor")
    check_dim(core, 1, 2, "invalid dimension {}")
    bounds = _range(core, low, high)
    return deliver(r, st.stack([_counts(row, bins, *bounds) for row in core]))


_BIASED = "With a third argument of True, divided by the number of elements instead of one less."
_X = ">>> x = torch.Tensor([[1, 2, 3], [4, 5, 9]])\n"

ROWS: list[Row] = [
    *(
        Row(
            name,
            f"The {'product' if name == 'prod' else name} of all elements, or along a dim.",
            f"{_X}>>> x.{name}()\n{total}\n>>> x.{name}(2).totable()\n{along}",
            (Form("T", _total(op)), Form("new T index", _along(line), _along(integral))),
        )
        for name, op, line, integral, total, along in (
            ("sum", st.sum, _sums, _in_type(st.sum), 24.0, [[6.0], [18.0]]),
            ("prod", st.prod, _product, _product, 1080.0, [[6.0], [180.0]]),
        )
    ),
    *(
        Row(
            name,
            f"The running {word} along a dim, the first one unless another is given.",
            f">>> torch.{name}(torch.Tensor([1, 2, 3, 4])).totable()\n{result}",
            (Form("new T index=1", _scan(op)),),
        )
        for name, op, word, result in (
            ("cumsum", st.cumsum, "sum", [1.0, 3.0, 6.0, 10.0]),
            ("cumprod", st.cumprod, "product", [1.0, 2.0, 6.0, 24.0]),
        )
    ),
    *(
        Row(
            name,
            f"The {word} element, or the {word} ones along a dim and their indices.",
            f"{_X}>>> x.{name}()\n{total}\n>>> values, indices = x.{name}(2)\n>>> indices.totable()\n{indices}",
            (Form("T", _extreme(op)), Form("new newLong T index", _extreme_along(op))),
        )
        for name, op, word, total, indices in (
            ("max", st.max, "largest", 9.0, [[3], [3]]),
            ("min", st.min, "smallest", 1.0, [[1], [1]]),
        )
    ),
    Row(
        "mean",
        "The mean of all elements, or along a dim.",
        f"{_X}>>> x.mean()\n4.0\n>>> x.mean(1).totable()\n[[2.5, 3.5, 6.0]]",
        (Form("T", _mean), Form("new T index", _mean_along)),
    ),
    *(
        Row(
            name,
            f"The {word} of all elements, or along a dim. {_BIASED}",
            f">>> torch.{name}(torch.Tensor([1, 3]))\n{result}\n>>> torch.{name}(torch.Tensor([1, 3]), True)\n1.0",
            (
                Form("T boolean=False", _spread(op)),
                Form("new T index boolean=False", _spread_along(op)),
            ),
        )
        for name, op, word, result in (
            ("var", st.var, "variance", 2.0),
            ("std", st.std, "standard deviation", 1.4142135623730951),
        )
    ),
    Row(
        "norm",
        "The p-norm of all elements, 2 unless given, or along a dim.",
        ">>> x = torch.Tensor([[3, 4], [6, 8]])\n>>> x.norm(1)\n21.0\n>>> x.norm(2, 2).totable()\n[[5.0], [10.0]]",
        (Form("T real=2", _norm), Form("new T real index", _norm_along)),
    ),
    Row(
        "renorm",
        "Scales down the slices along a dim whose p-norm is above a limit: `renorm(p, dim, limit)`.",
        ">>> torch.renorm(torch.ones(2, 4), 1, 1, 2).sum(2).round().totable()\n[[2.0], [2.0]]",
        (Form("dst src real index real", _renorm),),
    ),
    Row(
        "dist",
        "The p-norm of the difference of two tensors.",
        ">>> torch.dist(torch.Tensor([1, 2]), torch.Tensor([4, 6]))\n5.0",
        (Form("T T real=2", _dist),),
    ),
    Row(
        "trace",
        "The sum of the main diagonal of a matrix.",
        ">>> torch.trace(torch.Tensor([[1, 2], [3, 4]]))\n5.0",
        (Form("T", _trace),),
    ),
    *(
        Row(
            name,
            f"Whether {word} is not zero.",
            f">>> torch.ByteTensor([1, 0]).{name}()\n{result}",
            (Form("T", _truth(op)),),
        )
        for name, op, word, result in (
            ("all", st.all, "every element", False),
            ("any", st.any, "any element", True),
        )
    ),
    Row(
        "histc",
        "A histogram: how many elements lie in each of `n` (100 by default) equal parts of their range, or of a given one.",
        ">>> torch.histc(torch.Tensor([1, 2, 1]), 4, 0, 3).totable()\n[0.0, 2.0, 1.0, 0.0]",
        (Form("new T long=100 double=0 double=0", _histc),),
    ),
    Row(
        "bhistc",
        "A histogram of each row of a matrix.",
        ">>> torch.bhistc(torch.Tensor([[1, 2, 1], [0, 0, 2]]), 3, 0, 3).totable()\n[[0.0, 2.0, 1.0], [2.0, 0.0, 1.0]]",
        (Form("new T long=100 double=0 double=0", _bhistc),),
    ),
]
