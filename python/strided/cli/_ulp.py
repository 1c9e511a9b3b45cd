"""Differences between tensors of one dtype, counted in units in the last place."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strided import Tensor, dtype


def ulp_distances(a: Tensor, b: Tensor) -> Tensor:
    """How many numbers of their floating dtype are between elements, plus one: 0 for equal ones, as uint64.

    Both zeros are equal. A NaN is as far from every number as its bits are.

    >>> import strided as st
    >>> a = st.tensor([1.0, -0.0, 0.0])
    >>> b = st.tensor([1.0000001, 0.0, -1e-45])
    >>> ulp_distances(a, b).tolist()
    [1, 0, 1]
    """
    import strided as st

    first, second = _ordered(a), _ordered(b)
    return st.maximum(first, second) - st.minimum(first, second)


def _ordered(x: Tensor) -> Tensor:
    """The bits of floats as unsigned integers in the order of the floats. Both zeros are 2**63."""
    import strided as st

    bits = x.contiguous().view(_signed(x.dtype)).to(st.int64)
    sign = 1 << (8 * x.dtype.itemsize - 1)
    # The magnitude of a negative number, below the middle; -2**63, which is -0.0, is in the middle too.
    magnitude = bits & (sign - 1)
    offset = st.where(bits < 0, -magnitude, magnitude)
    return offset.view(st.uint64) ^ (1 << 63)


def _signed(floating: dtype) -> dtype:
    import strided as st

    return {2: st.int16, 4: st.int32, 8: st.int64}[floating.itemsize]
