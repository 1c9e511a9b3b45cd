"""Distances between numbers: absolute, and in units in the last place (ULP)."""

from __future__ import annotations

import strided as st
from strided import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The distance between a NaN and a number, greater than that of any two numbers.
FAR = 2**64 - 1

_BITS = {2: st.int16, 4: st.int32, 8: st.int64}


def ulp_distance(a: Any, b: Any) -> Any:
    """Returns the distance of `a` and `b` in ULP: the number of steps from one representable number to the next.

    0.0 and -0.0 are the same number, infinity is one step above the largest finite number, and two NaNs are 0 apart. The
    distance from a NaN to a number is 2**64 - 1, greater than that of any two numbers. The distance of complex numbers is
    the greater one of their parts; that of integers is the difference.

    Tensors must have the same dtype; they are broadcast, and the result is a tensor of uint64. A number is converted to the
    dtype of the other argument if that is a tensor. Two Python numbers are compared as float64, and the result is an int.

    >>> import strided
    >>> from strided.testing import ulp_distance
    >>> ulp_distance(1.0, 1.0000000000000004)
    2
    >>> x = strided.tensor([1.0, -1.0, 0.0])
    >>> ulp_distance(x, strided.tensor([1.0000001, -1.0, -0.0])).tolist()
    [1, 0, 0]
    >>> ulp_distance(x.half(), 1.001).tolist()
    [1, 30721, 15361]
    """
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        return _between_numbers(a, b)
    x = a if isinstance(a, Tensor) else st.tensor(a, dtype=b.dtype)
    y = b if isinstance(b, Tensor) else st.tensor(b, dtype=x.dtype)
    if x.dtype is not y.dtype:
        raise st.DTypeError(f"ulp_distance: the dtypes are {x.dtype.name} and {y.dtype.name}, wanted one")
    return steps(x, y)


def _between_numbers(a: Any, b: Any) -> int:
    for number in (a, b):
        if not isinstance(number, (int, float, complex)):
            raise TypeError(f"ulp_distance: wanted tensors or numbers, got {type(number).__name__}")
    if isinstance(a, int) and isinstance(b, int):
        return abs(a - b)
    wide = st.complex128 if isinstance(a, complex) or isinstance(b, complex) else st.float64
    distance: int = steps(st.tensor(a, dtype=wide), st.tensor(b, dtype=wide)).item()
    return distance


def steps(x: Tensor, y: Tensor) -> Tensor:
    """`ulp_distance` of two tensors of one dtype."""
    if x.dtype.is_complex:
        real, imag = steps(x.real, y.real), steps(x.imag, y.imag)
        return _choose(real > imag, real, imag)
    if not x.dtype.is_floating_point:
        return difference(x, y)
    found = difference(_rank(x), _rank(y))
    nan_x, nan_y = x != x, y != y
    found = _choose(nan_x * nan_y, 0, found)
    return _choose(nan_x != nan_y, FAR, found)


def difference(x: Tensor, y: Tensor) -> Tensor:
    """Returns the distance of integers as uint64, which can represent it for every dtype."""
    if x.dtype is not st.uint64:
        x, y = x.to(st.int64), y.to(st.int64)
    # Subtraction wraps, but greater minus smaller is right when its bits are read as unsigned.
    up, down = (x - y).view(st.uint64), (y - x).view(st.uint64)
    return _choose(x > y, up, down)


def _rank(x: Tensor) -> Tensor:
    """Returns the rank of each float among all floats of its dtype, where 0 has rank 0."""
    bits = x.view(_BITS[x.dtype.itemsize]).to(st.int64)
    lowest = -(2 ** (8 * x.dtype.itemsize - 1))
    # Floats are sign and magnitude: as an integer, -m reads as lowest + m, and its rank is -m.
    return _choose(bits < 0, lowest - bits, bits)


def _choose(where: Tensor, yes: Tensor | int, no: Tensor | int) -> Tensor:
    """Selects `yes` where the condition holds and `no` elsewhere; both are integers of one dtype."""
    dtype = (yes if isinstance(yes, Tensor) else no).dtype  # type: ignore[union-attr]
    return where.to(dtype) * yes + (where == False).to(dtype) * no  # noqa: E712


def same_signs(x: Tensor, y: Tensor) -> Tensor:
    """Returns whether the sign bits agree: for numbers that compare equal, whether their zeros have the same sign."""
    if x.dtype.is_complex:
        return same_signs(x.real, y.real) * same_signs(x.imag, y.imag)
    bits = _BITS[x.dtype.itemsize]
    return (x.view(bits) < 0) == (y.view(bits) < 0)


def wide(x: Tensor) -> Tensor:
    return x.to(st.complex128 if x.dtype.is_complex else st.float64)


def off_by(x: Tensor, y: Tensor) -> Tensor:
    """Returns the absolute difference as float64."""
    if x.dtype in (st.int64, st.uint64):
        return difference(x, y).to(st.float64)
    return abs(wide(x) - wide(y))


def is_finite(x: Tensor) -> Tensor:
    return x - x == 0 if x.dtype is not st.bool else x == x
