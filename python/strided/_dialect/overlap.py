"""Operations on tensors that share memory, one element after the other in row-major order, as Torch7 and Lab run them.

The core reads all operands before it writes, and refuses to write into a tensor that overlaps itself. A loop in C reads an
element when its turn comes, so that it may read what it has written, and the last write to an element stays. `write` and
`each` do the same, slower, and are called only where the result would differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import strided as st
from strided import _strided

#: `write(x, values)`: copies elements, which are expanded and cast; the tensors may overlap in any way.
write = _strided._copy_in_order
#: `each(function, x, *others)`: calls a function with each element of a tensor, as a view without dims, and those of others.
each = _strided._each_in_order


def compute(op: Callable[..., Any], out: st.Tensor, *operands: Any) -> None:
    """Runs an elementwise operation into a tensor that overlaps itself."""
    in_place = getattr(st.Tensor, f"{getattr(op, '__name__', '')}_", None)
    if in_place is not None and operands[0] is out:
        each(in_place, out, *operands[1:])
    else:
        each(lambda element, *values: op(*values, out=element), out, *operands)


def apply(operation: Callable[[st.Tensor, st.Tensor], Any], x: st.Tensor, y: st.Tensor) -> None:
    """Applies an in-place operation, or `copy_`, to the elements of two tensors that have as many, paired in row-major order."""
    if not reads_what_it_writes(x, y):
        operation(x, y.reshape(x.shape))
    elif operation is st.Tensor.copy_ and x.shape == y.shape:
        write(x, y)
    else:
        each(operation, x, y)


def reads_what_it_writes(x: st.Tensor, y: st.Tensor) -> bool:
    """Whether an element of y may be an element of x at an earlier position."""
    if x.numel() < 2 or x.storage() is not y.storage() or x.is_set_to(y):
        return False
    (low, high), (first, last) = x.layout.bounds or (0, -1), y.layout.bounds or (0, -1)
    if low > last or first > high:
        return False
    ahead = x.stride() == y.stride() and x.shape == y.shape and x.storage_offset() <= y.storage_offset()
    return not (ahead and _ascends(x))


def _ascends(x: st.Tensor) -> bool:
    """Whether each element in row-major order has a higher address than the one before it."""
    reach = 0
    for extent, stride in zip(reversed(x.shape), reversed(x.stride()), strict=True):
        if extent > 1 and stride <= reach:
            return False
        reach += (extent - 1) * stride
    return True
