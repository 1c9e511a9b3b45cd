"""Arithmetic: with numbers, between tensors, rounding, clamping, sums and the matrix product."""

from __future__ import annotations

from collections.abc import Callable

import strided as st
from strided._dialect import overlap
from strided._dialect.lua import BITS
from strided._strided import _accumulate_in_order

from ._errors import LabTypeError, LabValueError, LabZeroDivisionError, Refusal
from ._methods import Row
from ._reading import ELEMENTS, read_number, read_numbers
from ._types import LIMITS, is_valid, is_without_shape, wrap_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .tensor import TensorBase

#: An in-place operation of the core with another tensor.
InPlace = Callable[[st.Tensor, st.Tensor], object]

_SCALAR_USAGE = "Must call with number or an array that matches last dimension received: {}"
_COMPONENT_USAGE = "Must call with same sized tensor, received: {}"
_CLAMP_USAGE = "TypeMismatch Arg1 must be a nil or valid min value and Arg2 must nil or a valid max value."


def _operand(core: st.Tensor, value: object) -> float | st.Tensor:
    """A number, or a tensor with one for each index of the last dim, in double precision."""
    number = read_number(value)
    if number is not None:
        return number
    numbers = read_numbers(value)
    if numbers is None:
        raise Refusal(LabTypeError)
    if is_without_shape(core) or len(numbers) != core.size(-1):
        raise Refusal(LabValueError)
    return st.tensor(numbers, dtype=st.float64)


def _fill(x: TensorBase, value: object = None) -> TensorBase:
    core = x._tensor
    operand = _operand(core, value)
    if isinstance(operand, st.Tensor) or x._integral:
        core.copy_(st.as_tensor(operand, dtype=st.float64).expand(core.shape))
    else:
        core.fill_(operand)
    return x


def _scalar(operation: Callable[..., st.Tensor]) -> Callable[..., TensorBase]:
    """An operation with a number. Lab computes it in double precision and converts the result to the element type."""

    def run(x: TensorBase, value: object = None) -> TensorBase:
        core = x._tensor
        operand = _operand(core, value)
        if x._integral:
            core.copy_(operation(core.to(st.float64), operand))
        elif core.dtype == st.float64:
            operation(core, operand, out=core)
        else:  # the core would round a number to float32 first
            operation(core, st.as_tensor(operand, dtype=st.float64), out=core)
        return x

    return run


def _component(operation: InPlace) -> Callable[..., TensorBase]:
    """An operation, or a copy, between elements of two tensors, paired in row-major order whatever the shapes."""

    def run(x: TensorBase, tensor: object = None) -> TensorBase:
        overlap.apply(operation, x._tensor, _same_count(x, tensor))
        return x

    return run


def _same_type(x: TensorBase, other: Any) -> st.Tensor:
    """The core tensor of another tensor, which must be valid and have the type of the first one."""
    if not isinstance(other, x._base):
        raise Refusal(LabTypeError)
    core: st.Tensor = other._tensor
    if not (core.owns_storage() or is_valid(core)):
        raise Refusal(LabTypeError)
    return core


def _same_count(x: TensorBase, other: Any) -> st.Tensor:
    """The core tensor of another tensor of the same type, which must have as many elements."""
    core = _same_type(x, other)
    if core.numel() != x._tensor.numel():
        raise Refusal(LabValueError)
    return core


def _divide(x: st.Tensor, y: st.Tensor) -> None:
    if x.dtype not in BITS:
        x.div_(y)
        return
    try:
        x.trunc_divide_(y)
    except ZeroDivisionError:
        raise Refusal(LabZeroDivisionError, "division of an integer by zero") from None


def _rounding(operation: Callable[[st.Tensor], object]) -> Callable[..., object]:
    """A rounding, which leaves integers as they are."""

    def run(x: TensorBase, *surplus: object) -> object:
        if not x._integral:
            operation(x._tensor)
        return surplus[-1] if surplus else x  # Lab returns what was passed last

    return run


def _round_away(core: st.Tensor) -> None:
    """Rounds to the nearest integer, halves away from zero."""
    whole = core.trunc()
    core.copy_(st.where((core - whole).abs() >= 0.5, whole + core.sign(), whole))


def _clamp(x: TensorBase, minimum: object = None, maximum: object = None) -> TensorBase:
    core = x._tensor
    lowest, highest = (st.tensor(limit, dtype=core.dtype) for limit in LIMITS[core.dtype])
    low, high = _bound(core, minimum, lowest), _bound(core, maximum, highest)
    if high < low:
        raise Refusal(LabValueError, "Arg1 (min value) must not exceed Arg2 (max value).")
    if high != highest:
        core.masked_fill_(core > high, high)
    if low != lowest:
        # Like std::max, which Lab calls with the bound first if there is no upper one: then a NaN becomes the bound.
        core.masked_fill_((core > low).logical_not_() if high == highest else core < low, low)
    return x


def _bound(core: st.Tensor, value: object, default: st.Tensor) -> st.Tensor:
    """A bound in the element type."""
    if value is None:
        return default
    element = ELEMENTS[core.dtype](value)
    if element is None:
        raise Refusal(LabTypeError)
    return st.tensor(element, dtype=core.dtype)


# Sums and products are accumulated as Lab does it, one element after the other, in double precision. Those of the core are
# pairwise, and its scans go chunk by chunk: both differ in the last bits.


def _total(x: st.Tensor) -> float:
    """The sum of all elements."""
    return 0.0 + _accumulate_in_order(_doubles(x)).item(-1) if x.numel() else 0.0


def _product(x: st.Tensor) -> float:
    """The product of all elements."""
    return _accumulate_in_order(_doubles(x), True).item(-1) if x.numel() else 1.0


def _dot_product(x: st.Tensor, y: st.Tensor) -> float:
    """The sum of the products of elements, of tensors with the same number of them."""
    return _total(_doubles(x).mul_(y.reshape(-1)))


def _doubles(x: st.Tensor) -> st.Tensor:
    """The elements in one dim, in memory of their own."""
    return st.empty(x.numel(), dtype=st.float64).copy_(x.reshape(-1))


def _dot(x: TensorBase, tensor: object = None) -> float:
    return _dot_product(x._tensor, _same_count(x, tensor))


def _mmul(x: TensorBase, tensor: object = None) -> TensorBase:
    core, other = x._tensor, _same_type(x, tensor)
    try:
        return wrap_like(x, core.mm(other))
    except st.ShapeError:
        pass  # the reason follows
    for side, operand in (("LHS", core), ("RHS", other)):
        if operand.ndim != 2:
            raise Refusal(LabValueError, f"{side} is not a matrix")
    raise Refusal(LabValueError, "Incorrect matrix dimensions")


def _scalar_row(name: str, run: Callable[..., TensorBase], what: str, result: str) -> Row:
    return Row(
        name,
        "(value: float | Sequence[float]) -> Self",
        run,
        f"""{what}, in place. A list has a number for each index of the last dim.

        >>> lab.DoubleTensor([[1, 2], [3, 4]]).{name}([10, 20]).val()
        {result}
        """,
        _SCALAR_USAGE,
    )


def _component_row(name: str, operation: InPlace, what: str, result: str) -> Row:
    return Row(
        name,
        "(tensor: Self) -> Self",
        _component(operation),
        f"""{what}, in place. Elements are paired in row-major order; only their number must be equal.

        >>> lab.Int32Tensor([[7, 8], [9, 10]]).{name}(lab.Int32Tensor([1, 2, 3, 4])).val()
        {result}
        """,
        _COMPONENT_USAGE,
    )


def _rounding_row(name: str, operation: Callable[[st.Tensor], object], what: str, result: str) -> Row:
    return Row(
        name,
        "() -> Self",
        _rounding(operation),
        f"""Rounds all elements {what}, in place.

        >>> lab.DoubleTensor([-2.25, -1.75, 0.5]).{name}().val()
        {result}
        """,
    )


def _sum_row(name: str, run: Callable[..., float], what: str, result: str) -> Row:
    return Row(
        name,
        "() -> float",
        run,
        f"""{what}, in double precision.

        >>> lab.DoubleTensor([[1, 2], [3, 4]]).{name}()
        {result}
        """,
    )


ROWS = (
    _scalar_row("fill", _fill, "Sets all elements", "[[10.0, 20.0], [10.0, 20.0]]"),
    _scalar_row("add", _scalar(st.add), "Adds a number to all elements", "[[11.0, 22.0], [13.0, 24.0]]"),
    _scalar_row("sub", _scalar(st.sub), "Subtracts a number from all elements", "[[-9.0, -18.0], [-7.0, -16.0]]"),
    _scalar_row("mul", _scalar(st.mul), "Multiplies all elements by a number", "[[10.0, 40.0], [30.0, 80.0]]"),
    _scalar_row("div", _scalar(st.div), "Divides all elements by a number", "[[0.1, 0.1], [0.3, 0.2]]"),
    _component_row("copy", st.Tensor.copy_, "Copies the elements of another tensor", "[[1, 2], [3, 4]]"),
    _component_row("cadd", st.Tensor.add_, "Adds another tensor", "[[8, 10], [12, 14]]"),
    _component_row("csub", st.Tensor.sub_, "Subtracts another tensor", "[[6, 6], [6, 6]]"),
    _component_row("cmul", st.Tensor.mul_, "Multiplies by another tensor", "[[7, 16], [27, 40]]"),
    _component_row("cdiv", _divide, "Divides by another tensor", "[[7, 4], [3, 2]]"),
    _rounding_row("floor", st.Tensor.floor_, "down", "[-3.0, -2.0, 0.0]"),
    _rounding_row("ceil", st.Tensor.ceil_, "up", "[-2.0, -1.0, 1.0]"),
    _rounding_row("round", _round_away, "to the nearest integer, halves away from zero", "[-2.0, -2.0, 1.0]"),
    Row(
        "clamp",
        "(minimum: float | None = None, maximum: float | None = None) -> Self",
        _clamp,
        """Replaces elements below the minimum by it, and those above the maximum by that, in place.

        >>> lab.DoubleTensor([-5, 25, 500]).clamp(0, 255).val()
        [0.0, 25.0, 255.0]
        """,
        _CLAMP_USAGE,
    ),
    _sum_row("sum", lambda x: _total(x._tensor), "The sum of all elements", "10.0"),
    _sum_row("product", lambda x: _product(x._tensor), "The product of all elements", "24.0"),
    _sum_row(
        "lengthSquared", lambda x: _dot_product(x._tensor, x._tensor), "The sum of the squares of all elements", "30.0"
    ),
    Row(
        "dot",
        "(tensor: Self) -> float",
        _dot,
        """The sum of the products of elements, paired in row-major order, in double precision.

        >>> lab.DoubleTensor([1, 2, 3]).dot(lab.DoubleTensor([4, 5, 6]))
        32.0
        """,
        _COMPONENT_USAGE,
    ),
    Row(
        "mmul",
        "(tensor: Self) -> Self",
        _mmul,
        """The product of two matrices, as a new tensor.

        >>> lab.DoubleTensor([[1, 2], [3, 4]]).mmul(lab.DoubleTensor([[0, 1], [1, 0]])).val()
        [[2.0, 1.0], [4.0, 3.0]]
        """,
        "Must contain 1 RHS tensor of type {type}, received: {}",
    ),
)
