"""Operation maths: arithmetic with numbers and tensors, mathematical functions, comparisons.

As functions they return new tensors, as methods they change the tensor. All of them work for all types: whole numbers go
through float64 where Torch7 has no function for them, and the result is truncated to the type.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import strided as st
from strided._dialect import overlap
from strided.torch7.calls.forms import BadArgument, Form, Operation, Row, Run
from strided.torch7.calls.results import Core, compute, match_shapes
from strided.torch7.errors import TorchError
from strided.torch7.tensor.classes import Tensor
from strided.torch7.tensor.geometry import resize_to, shape_of
from strided.torch7.types import wrap_tensor

# Operations of the core by the names that Torch7 uses for their operands


def scalar(op: Core) -> Operation:
    """The operation on a tensor and numbers: `r = op(t, value)`."""

    def run(r: Tensor | None, t: Tensor, *values: Any) -> Tensor:
        return compute(op, r, t, *values)

    return Operation(run, op)


def binary(op: Core, *names: str) -> Operation:
    """The operation on two tensors with as many elements: `r = op(t, src)`."""
    labels = names or ("r_", "t", "src")

    def run(r: Tensor | None, t: Tensor, src: Tensor) -> Tensor:
        a, b = t._tensor, src._tensor
        if a.shape != b.shape:
            b = match_shapes(labels, (a, a, b))[2]
        return compute(op, r, t, b)

    return Operation(run, op)


def through_double(op: Core) -> Core:
    """The operation in float64, cast back to the dtype of the first tensor."""

    def cast(*operands: Any, out: st.Tensor | None = None) -> st.Tensor:
        dtype = next(x.dtype for x in operands if isinstance(x, st.Tensor))
        wide = op(*(x.to(st.float64) if isinstance(x, st.Tensor) else x for x in operands))
        return wide.to(dtype) if out is None else out.copy_(wide)

    return cast


def _composed(op: Core) -> Core:
    """An operation that is made of several has `out=` too."""

    def run(*operands: Any, out: st.Tensor | None = None) -> st.Tensor:
        result = op(*operands)
        return result if out is None else out.copy_(result)

    return run


def _scaled(op: Core) -> Operation:
    """`r = op(t, src, alpha=value)`: the sum or the difference of a tensor and a multiple of another."""

    def with_factor(a: st.Tensor, b: st.Tensor, value: Any, out: st.Tensor | None = None) -> st.Tensor:
        return op(a, b, alpha=value, out=out)

    def run(r: Tensor | None, t: Tensor, value: Any, src: Tensor) -> Tensor:
        a, b = t._tensor, src._tensor
        if a.shape != b.shape:
            b = match_shapes(("r_", "t", "src"), (a, a, b))[2]
        return compute(op, r, t, b) if value == 1 else compute(with_factor, r, t, b, value)

    return Operation(run, op)


def _accumulated(op: Core) -> Run:
    """`r = t + value * op(src1, src2)`."""

    def with_factor(a: st.Tensor, b: st.Tensor, c: st.Tensor, value: Any, out: st.Tensor | None = None) -> st.Tensor:
        return op(a, b, c, value=value, out=out)

    def run(r: Tensor | None, t: Tensor, value: Any, src1: Tensor, src2: Tensor) -> Tensor:
        cores = match_shapes(("r_", "src1", "src2"), (t._tensor, src1._tensor, src2._tensor))
        return compute(with_factor, r, t, *cores[1:], value)

    return run


def _added_quotient(a: st.Tensor, b: st.Tensor, c: st.Tensor, *, value: int, out: st.Tensor | None = None) -> st.Tensor:
    """`addcdiv` of whole numbers: C multiplies, then divides towards zero."""
    return st.add(a, st.trunc_divide(st.mul(b, value), c), out=out)


# Rules that differ from the core's


@_composed
def float_remainder(t: st.Tensor, value: Any) -> st.Tensor:
    """`t - value * floor(t / value)`, and NaN for 0. C rounds the quotient to the type and the rest as double."""
    divisor = value if isinstance(value, st.Tensor) else st.tensor(value, dtype=t.dtype)
    multiple = st.div(t, divisor).to(st.float64).floor_().mul_(divisor)
    rest = st.sub(t.to(st.float64), multiple, out=multiple).to(t.dtype)
    return st.where(divisor == 0, float("nan"), rest)


@_composed
def _clamp(t: st.Tensor, low: Any, high: Any) -> st.Tensor:
    """The lower bound wins where an element is below it, also if it is above the upper bound."""
    if low <= high:
        return t.clamp(low, high)
    return st.where(t < low, st.full_like(t, low), st.full_like(t, high))


@_composed
def _round(t: st.Tensor) -> st.Tensor:
    """Halves are rounded away from zero."""
    whole = t.trunc()
    rest = st.sub(t, whole)  # NaN for infinities
    return st.where(rest == rest, whole + rest.mul_(2).trunc_(), whole)


@_composed
def _rsqrt(t: st.Tensor) -> st.Tensor:
    """C rounds the root, too."""
    return t.sqrt().reciprocal_()


def _larger(a: st.Tensor, b: Any) -> st.Tensor:
    return st.where(a > b, a, b)


def _smaller(a: st.Tensor, b: Any) -> st.Tensor:
    return st.where(a < b, a, b)


_UNSIGNED = {st.int8: st.uint8, st.int16: st.uint16, st.int32: st.uint32, st.int64: st.uint64}


@_composed
def _left_shift(t: st.Tensor, value: Any) -> st.Tensor:
    return t.bitwise_left_shift(value)


@_composed
def _right_shift(t: st.Tensor, value: Any) -> st.Tensor:
    """C shifts the bits as those of an unsigned number."""
    unsigned = _UNSIGNED.get(t.dtype)
    if unsigned is None:
        return t.bitwise_right_shift(value)
    bits = value.view(unsigned) if isinstance(value, st.Tensor) else value % (1 << 8 * t.element_size())
    return t.view(unsigned).bitwise_right_shift(bits).view(t.dtype)


@_composed
def _times_power_of_two(t: st.Tensor, value: Any) -> st.Tensor:
    return t.mul(st.exp2(value) if isinstance(value, st.Tensor) else 2.0**value)


@_composed
def _by_power_of_two(t: st.Tensor, value: Any) -> st.Tensor:
    return t.div(st.exp2(value) if isinstance(value, st.Tensor) else 2.0**value)


def _integers_only(name: str) -> Run:
    """The error of bitwise operations on floats."""

    def run(*operands: Any) -> Any:
        raise TorchError(f"{name} is only supported for integer type tensors")

    return run


#: Exponents for which Torch7 has a formula of its own.
_POWERS: dict[float, Core] = {
    1: lambda t: t.clone(),
    2: lambda t: t.mul(t),
    3: lambda t: t.mul(t).mul_(t),
    0.5: st.sqrt,
    -0.5: _rsqrt,
    -1: st.reciprocal,
    -2: lambda t: t.mul(t).reciprocal_(),
}


@_composed
def _pow(t: st.Tensor, value: Any) -> st.Tensor:
    formula = _POWERS.get(value)
    return formula(t) if formula else t.pow(value)


@_composed
def _power_of(value: Any, t: st.Tensor) -> st.Tensor:
    return st.pow(value, t)


@_composed
def _lerp(a: st.Tensor, b: st.Tensor, weight: Any) -> st.Tensor:
    return st.sub(b, a).mul_(weight).add_(a)


def _run_lerp(op: Core) -> Run:
    def run(r: Tensor | None, a: Tensor, b: Tensor, weight: Any) -> Tensor:
        x, y = a._tensor, b._tensor
        if x.numel() != y.numel():
            raise BadArgument(2, "sizes do not match")
        return compute(op, r, a, y.reshape(x.shape), weight)

    return run


def _run_power_of(op: Core) -> Run:
    def reversed_operands(t: st.Tensor, value: Any, out: st.Tensor | None = None) -> st.Tensor:
        return op(value, t, out=out)

    return lambda r, value, t: compute(reversed_operands, r, t, value)


def _on_numbers(op: Core) -> Run:
    """The operation on numbers, with the precision of a type."""

    def run(cls: type[Tensor], *values: Any) -> float:
        tensors = [st.tensor(float(value), dtype=cls._dtype) for value in values]
        result: float = op(*tensors).item()
        return result

    return run


def _on_integers(op: Core) -> Run:
    def run(cls: type[Tensor], *values: Any) -> int:
        wide = op(*(st.tensor(float(value), dtype=st.float64) for value in values))
        return int(wide.to(cls._dtype).item())

    return run


# Comparisons


def _compared(op: Core) -> Operation:
    """1 where a comparison holds, 0 elsewhere: as bytes, or in the type of a tensor that the caller passes."""

    def run(r: Tensor | None, a: Tensor, b: Any) -> Tensor:
        left, right = a._tensor, b
        if isinstance(b, Tensor):
            right = b._tensor
            if left.shape != right.shape:
                right = match_shapes(("r_", "ta", "tb"), (left, left, right))[2]
        if r is None:
            return wrap_tensor(op(left, right).view(st.uint8))
        resize_to(r, shape_of(left))
        try:
            op(left, right, out=r._tensor)
        except st.ShapeError:
            overlap.compute(op, r._tensor, left, right)
        return r

    return Operation(run, op)


# Rows

_SCALAR = "dst src real"
_TENSOR = "dst src T"


def _pair(name: str, op: Core, integral: Core, doc: str, values: str, number: int, result: str) -> list[Row]:
    """The rows of an operation with a number and with a tensor, whose name begins with c; its result for some values."""
    kind, _, listed = values.partition("(")
    numbers = [number] * (listed.count(",") + 1)
    example = f">>> torch.{name}(torch.{values}, {number}).totable()\n{result}"
    each = f">>> torch.c{name}(torch.{values}, torch.{kind}({numbers})).totable()\n{result}"
    form, form_each = Form(_SCALAR, scalar(op), scalar(integral)), Form(_TENSOR, binary(op), binary(integral))
    other = "the element of another tensor"
    return [Row(name, doc.format("a number"), example, (form,)), Row(f"c{name}", doc.format(other), each, (form_each,))]


def _bitwise(name: str, op: Core, word: str, result: int) -> list[Row]:
    doc = f"Bitwise {word} of each element and {{}}; for whole numbers only."
    rows = _pair(name, op, op, doc, "IntTensor([12])", 10, f"[{result}]")
    return [row._replace(forms=(row.forms[0]._replace(run=_integers_only(row.name)),)) for row in rows]


def _unary(name: str, op: Core, doc: str, integral: Core | None = None, numbers: bool = True) -> Row:
    inner = integral or through_double(op)
    forms = [Form("dst src", scalar(op), scalar(inner))]
    if numbers:
        forms.append(Form("cls real", _on_numbers(op), _on_integers(op)))
    example = f">>> x = torch.Tensor([0.25, 0.75])\n>>> y = torch.{name}(x)\n>>> x.{name}() is x\nTrue"
    return Row(name, f"{doc} As a method, in place.", example, tuple(forms))


_TRUNCATED = "whole numbers are divided towards zero"
_FMOD = "The remainder of a division of each element by {}, with the sign of the element."
_REMAINDER = "The remainder of a division of each element by {}, with the sign of the divisor."
_LEFT = "Multiplies each element by two to the power of {}."
_RIGHT = "Divides each element by two to the power of {}; whole numbers lose their last bits."
_copied = _composed(lambda t: t.clone())

ARITHMETIC: list[Row] = [
    Row(
        "add",
        "Adds a number, or a tensor times a number: `x.add(value)`, `x.add(y)`, `x.add(value, y)`.",
        ">>> torch.add(torch.Tensor([1, 2]), 10).totable()\n[11.0, 12.0]\n"
        ">>> torch.Tensor([1, 2]).add(2, torch.Tensor([1, 1])).totable()\n[3.0, 4.0]",
        (Form(_SCALAR, scalar(st.add)), Form("dst src real=1 T", _scaled(st.add))),
    ),
    Row(
        "csub",
        "Subtracts a number, or a tensor times a number.",
        ">>> torch.csub(torch.Tensor([1, 2]), torch.Tensor([1, 1])).totable()\n[0.0, 1.0]",
        (Form(_SCALAR, scalar(st.sub)), Form("dst src real=1 T", _scaled(st.sub))),
    ),
    *_pair("mul", st.mul, st.mul, "Multiplies each element by {}.", "Tensor([1, 2])", 3, "[3.0, 6.0]"),
    *_pair(
        "div",
        st.div,
        st.trunc_divide,
        f"Divides each element by {{}}; {_TRUNCATED}.",
        "IntTensor([-7, 7])",
        2,
        "[-3, 3]",
    ),
    *_pair("fmod", st.fmod, st.fmod, _FMOD, "Tensor([-7, 7])", 4, "[-3.0, 3.0]"),
    *_pair("mod", st.fmod, st.fmod, f"Another name of `fmod`. {_FMOD}", "Tensor([-7, 7])", 4, "[-3.0, 3.0]"),
    *_pair("remainder", float_remainder, st.remainder, _REMAINDER, "Tensor([-7, 7])", 4, "[1.0, 3.0]"),
    *_pair("lshift", _times_power_of_two, _left_shift, _LEFT, "IntTensor([3])", 4, "[48]"),
    *_pair("rshift", _by_power_of_two, _right_shift, _RIGHT, "IntTensor([50])", 4, "[3]"),
    *_bitwise("bitand", st.bitwise_and, "and", 8),
    *_bitwise("bitor", st.bitwise_or, "or", 14),
    *_bitwise("bitxor", st.bitwise_xor, "exclusive or", 6),
    Row(
        "clamp",
        "Moves each element into the range between two numbers.",
        ">>> torch.clamp(torch.Tensor([-3, 1, 9]), 0, 5).totable()\n[0.0, 1.0, 5.0]",
        (Form("dst src real real", scalar(_clamp)),),
    ),
    Row(
        "cpow",
        "Raises each element to the power of the element of another tensor.",
        ">>> torch.cpow(torch.Tensor([2, 3]), torch.Tensor([3, 2])).totable()\n[8.0, 9.0]",
        (Form(_TENSOR, binary(st.pow), binary(through_double(st.pow))),),
    ),
    Row(
        "addcmul",
        "Adds the product of two tensors times a number.",
        ">>> torch.addcmul(torch.Tensor([1]), 2, torch.Tensor([3]), torch.Tensor([4])).totable()\n[25.0]",
        (Form("dst src real=1 T T", _accumulated(st.addcmul)),),
    ),
    Row(
        "addcdiv",
        "Adds the quotient of two tensors times a number.",
        ">>> torch.addcdiv(torch.Tensor([1]), 2, torch.Tensor([3]), torch.Tensor([4])).totable()\n[2.5]",
        (Form("dst src real=1 T T", _accumulated(st.addcdiv), _accumulated(_added_quotient)),),
    ),
    *(
        Row(
            name,
            f"The {word} one of each element and a number, or the element of another tensor.",
            f">>> torch.{name}(torch.Tensor([1, 5]), 3).totable()\n{result}",
            (
                Form("new src T", binary(_composed(op), "r", "t", "src")),
                Form("new src real", scalar(_composed(op))),
            ),
        )
        for name, op, word, result in (
            ("cmax", _larger, "larger", [3.0, 5.0]),
            ("cmin", _smaller, "smaller", [1.0, 3.0]),
        )
    ),
]

FUNCTIONS: list[Row] = [
    _unary("log", st.log, "The natural logarithm."),
    _unary("log1p", st.log1p, "The logarithm of one plus each element."),
    _unary("exp", st.exp, "The exponential function."),
    _unary("cos", st.cos, "The cosine."),
    _unary("acos", st.acos, "The inverse of the cosine."),
    _unary("cosh", st.cosh, "The hyperbolic cosine."),
    _unary("sin", st.sin, "The sine."),
    _unary("asin", st.asin, "The inverse of the sine."),
    _unary("sinh", st.sinh, "The hyperbolic sine."),
    _unary("tan", st.tan, "The tangent."),
    _unary("atan", st.atan, "The inverse of the tangent."),
    _unary("tanh", st.tanh, "The hyperbolic tangent."),
    _unary("sqrt", st.sqrt, "The square root."),
    _unary("rsqrt", _rsqrt, "One divided by the square root."),
    _unary("round", _round, "The nearest whole number; halves are rounded away from zero.", _copied),
    _unary("ceil", st.ceil, "The smallest whole number that is not smaller.", _copied),
    _unary("floor", st.floor, "The largest whole number that is not larger.", _copied),
    _unary("trunc", st.trunc, "The whole part.", _copied),
    _unary("frac", st.frac, "The part after the decimal point."),
    _unary("abs", st.abs, "The absolute value.", st.abs),
    _unary("sigmoid", st.sigmoid, "The logistic function: `1 / (1 + exp(-x))`."),
    _unary("neg", st.neg, "The negative of each element.", st.neg, numbers=False),
    _unary("cinv", st.reciprocal, "One divided by each element.", numbers=False),
    _unary("sign", st.sign, "-1, 0 or 1.", st.sign, numbers=False),
    Row(
        "pow",
        "Raises each element to a power, or a number to the power of each element.",
        ">>> torch.pow(torch.Tensor([2, 3]), 2).totable()\n[4.0, 9.0]\n"
        ">>> torch.pow(2, torch.Tensor([2, 3])).totable()\n[4.0, 8.0]\n>>> torch.pow(2, 3)\n8.0",
        (
            Form(_SCALAR, scalar(_pow), scalar(through_double(_pow))),
            Form("dst real src", _run_power_of(_power_of), _run_power_of(through_double(_power_of))),
            Form("cls real real", _on_numbers(st.pow), _on_integers(st.pow)),
        ),
    ),
    Row(
        "atan2",
        "The angle of the point whose y is each element and whose x is that of another tensor.",
        ">>> torch.atan2(0, -1)\n3.141592653589793",
        (
            Form(_TENSOR, binary(st.atan2, "r_", "tx", "ty"), binary(through_double(st.atan2), "r_", "tx", "ty")),
            Form("cls real real", _on_numbers(st.atan2), _on_integers(st.atan2)),
        ),
    ),
    Row(
        "lerp",
        "Interpolates: `a + weight * (b - a)`.",
        ">>> torch.lerp(torch.Tensor([1]), torch.Tensor([3]), 0.25).totable()\n[1.5]\n>>> torch.lerp(1, 3, 0.25)\n1.5",
        (
            Form("dst src T real", _run_lerp(_lerp), _run_lerp(through_double(_lerp))),
            Form("cls real real real", _on_numbers(_lerp), _on_integers(_lerp)),
        ),
    ),
]

_COMPARISONS: tuple[tuple[str, Core, str, Callable[[Any, Any], bool]], ...] = (
    ("lt", st.lt, "less than", operator.lt),
    ("gt", st.gt, "greater than", operator.gt),
    ("le", st.le, "less than or equal to", operator.le),
    ("ge", st.ge, "greater than or equal to", operator.ge),
    ("eq", st.eq, "equal to", operator.eq),
    ("ne", st.ne, "different from", operator.ne),
)

COMPARISONS: list[Row] = [
    Row(
        name,
        f"1 where an element is {words} a number, or the element of another tensor: a ByteTensor.",
        f">>> torch.{name}(torch.Tensor([1, 2, 3]), 2).totable()\n{[int(holds(value, 2)) for value in (1, 2, 3)]}",
        (
            Form("newByte T real", _compared(op)),
            Form("self T real", _compared(op)),
            Form("newByte T T", _compared(op)),
            Form("self T T", _compared(op)),
        ),
    )
    for name, op, words, holds in _COMPARISONS
]

ROWS: list[Row] = [*ARITHMETIC, *FUNCTIONS, *COMPARISONS]
