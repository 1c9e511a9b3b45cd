"""Sums and products in the order of the elements, as Lab accumulates them: one after the other, in double precision.

The sums of the core are pairwise, and differ in the last bits. Its scans go through a chunk of 256 elements in order, so
that a scan per chunk, which starts with the result of the chunk before, gives Lab's result.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import strided as st

#: Elements that the core scans in order.
CHUNK = 256


def _fold(x: st.Tensor, start: float, scan: Callable[[st.Tensor], st.Tensor]) -> float:
    """The last result of a scan over all elements, in row-major order."""
    carry = st.full((1,), start, dtype=st.float64)
    for piece in x.reshape(-1).to(st.float64).split(CHUNK - 1) if x.numel() else ():
        carry = scan(st.cat([carry, piece])).narrow(0, piece.numel(), 1)
    return float(carry.item())


def total(x: st.Tensor) -> float:
    """The sum of all elements."""
    return _fold(x, 0.0, lambda chunk: chunk.cumsum(0))


def product(x: st.Tensor) -> float:
    """The product of all elements."""
    return _fold(x, 1.0, lambda chunk: chunk.cumprod(0))


def dot(x: st.Tensor, y: st.Tensor) -> float:
    """The sum of the products of elements, of tensors with the same number of them."""
    return total(x.reshape(-1).to(st.float64).mul(y.reshape(-1).to(st.float64)))


def running_sum(x: st.Tensor) -> st.Tensor:
    """The sums of the first 1, 2, … elements of one dim, in place; each sum is rounded to the dtype."""
    if x.dtype == st.float64:
        for first in range(0, x.numel() - 1, CHUNK - 1):
            piece = x[first : first + CHUNK]
            piece.copy_(piece.cumsum(0))
    else:  # the core scans float32 in double precision
        for before, element in pairwise(x.unbind()):
            element.add_(before)
    return x
