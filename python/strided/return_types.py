"""What functions with several results return: tuples whose parts have names, called as the functions are.

>>> import strided
>>> result = strided.tensor([[1, 5], [7, 2]]).max(dim=1)
>>> result.values.tolist(), result.indices.tolist()
([5, 7], [1, 0])
"""

from typing import NamedTuple

from strided._strided import Tensor


class aminmax(NamedTuple):
    """The smallest and the largest elements."""

    min: Tensor
    max: Tensor


class max(NamedTuple):
    """The largest elements, and where they are."""

    values: Tensor
    indices: Tensor


class min(NamedTuple):
    """The smallest elements, and where they are."""

    values: Tensor
    indices: Tensor


class std_mean(NamedTuple):
    """Standard deviations and means."""

    std: Tensor
    mean: Tensor


class var_mean(NamedTuple):
    """Variances and means."""

    var: Tensor
    mean: Tensor
