"""The operators of tensors: `x + y`, `x - y`, `-x`, `x * y`, `x / n`, `x % n`; a number may stand on the left of + - *.

They always return new tensors. `*` of two tensors is the product of linear algebra: of vectors a number, of a matrix and a
vector, or of two matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import strided as st
from strided.torch7.calls.arguments import is_number, number, object_error, type_error
from strided.torch7.calls.elements import CASTS, element
from strided.torch7.calls.results import Core, match_shapes
from strided.torch7.errors import TorchError, TorchTypeError, bad_argument
from strided.torch7.maths.elementwise import float_remainder
from strided.torch7.maths.linear import check_mm, check_mv, dot
from strided.torch7.tensor.classes import Tensor
from strided.torch7.tensor.geometry import ndim
from strided.torch7.types import wrap_tensor


def _number(x: Tensor, value: Any, place: int = 1) -> Any:
    """A number as an element of the type of a tensor; `place` is 1 on the left of the operator, 2 on the right."""
    cast = CASTS.get(x._dtype)
    if cast is None:
        return number(value, place, None)
    if not is_number(value):
        if isinstance(value, str):
            return element(value, x._dtype, place, None)  # which an integer tensor of Lua takes for 0
        raise type_error(value, place, None, "number")
    return cast(value)


def _operand(x: Tensor, other: Any) -> Any:
    """The right operand: a core tensor in the shape of the left one, or a number."""
    if type(other) is not type(x):
        return _number(x, other, 2)
    core, src = x._tensor, other._tensor
    return src if core.shape == src.shape else match_shapes(("r_", "t", "src"), (core, core, src))[2]


def _binary(op: Core, read: Callable[[Tensor, Any], Any], document: str) -> Any:
    """An operator that is an operation of the core. `read` gives its other operand."""

    def operator(self: Tensor, other: Any) -> Tensor:
        return wrap_tensor(op(self._tensor, read(self, other)))

    operator.__doc__ = document
    return operator


def _neg(self: Tensor) -> Tensor:
    """`-x`."""
    return wrap_tensor(st.mul(self._tensor, CASTS[self._dtype](-1) if self._dtype in CASTS else -1))


def _mul(self: Tensor, other: Any) -> Any:
    """`x * n`, or the product of vectors and matrices."""
    if type(other) is not type(self):
        return wrap_tensor(st.mul(self._tensor, _number(self, other, 2)))
    a, b = self._tensor, other._tensor
    match ndim(a), ndim(b):
        case 1, 1:
            return _element(self._dtype, dot(self, other))
        case 2, 1:
            check_mv(None, a, b)
            return wrap_tensor(st.mv(a, b))
        case 2, 2:
            check_mm(None, a, b)
            return wrap_tensor(st.mm(a, b))
    raise TorchError(f"multiplication between {ndim(a)}D and {ndim(b)}D tensors not yet supported")


def _element(dtype: st.dtype, value: Any) -> Any:
    """A number with the precision and the range of an element."""
    return st.tensor(value).to(dtype).item() if dtype in CASTS else st.tensor(value, dtype=dtype).item()


def _divisor(x: Tensor, other: Any) -> Any:
    if not is_number(other):
        raise bad_argument(2, None, "number expected", TorchTypeError)
    return _number(x, other, 2)


def _div(self: Tensor, other: Any) -> Tensor:
    """`x / n`; whole numbers are divided towards zero."""
    op = st.trunc_divide if self._dtype in CASTS else st.div
    return wrap_tensor(op(self._tensor, _divisor(self, other)))


def _rdiv(self: Tensor, other: Any) -> Tensor:
    """`n / x` does not exist in Torch7."""
    raise object_error(other, 1, None, self._typename)


def _mod(self: Tensor, other: Any) -> Tensor:
    """`x % n`, with the sign of n."""
    op = st.remainder if self._dtype in CASTS else float_remainder
    return wrap_tensor(op(self._tensor, _divisor(self, other)))


OPERATORS: dict[str, Any] = {
    "__add__": _binary(st.add, _operand, "`x + y` of tensors with as many elements, or `x + n`."),
    "__radd__": _binary(st.add, _number, "`n + x`."),
    "__sub__": _binary(st.sub, _operand, "`x - y` of tensors with as many elements, or `x - n`."),
    "__rsub__": _binary(st.rsub, _number, "`n - x`."),
    "__neg__": _neg,
    "__mul__": _mul,
    "__rmul__": _binary(st.mul, _number, "`n * x`."),
    "__truediv__": _div,
    "__rtruediv__": _rdiv,
    "__mod__": _mod,
    "__rmod__": _rdiv,
}


def install(cls: type[Tensor]) -> None:
    """Gives a class the operators."""
    for name, function in OPERATORS.items():
        function.__name__, function.__qualname__ = name, f"{cls.__name__}.{name}"
        setattr(cls, name, function)
