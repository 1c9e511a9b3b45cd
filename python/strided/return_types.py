"""What functions with several results return: tuples whose parts have names, called as the functions are.

>>> import strided
>>> result = strided.tensor([[1, 5], [7, 2]]).max(dim=1)
>>> result.values.tolist(), result.indices.tolist()
([5, 7], [1, 0])
"""

from typing import NamedTuple

from strided._strided import Tensor


class aminmax(NamedTuple):
    """The smallest and the largest elements.

    >>> import strided
    >>> strided.tensor([3, 1, 2]).aminmax().max.item()
    3
    """

    min: Tensor
    max: Tensor


class cummax(NamedTuple):
    """The largest elements so far, and where they are.

    >>> import strided
    >>> strided.tensor([1, 5, 2]).cummax(0).values.tolist()
    [1, 5, 5]
    """

    values: Tensor
    indices: Tensor


class cummin(NamedTuple):
    """The smallest elements so far, and where they are.

    >>> import strided
    >>> strided.tensor([1, 5, 2]).cummin(0).indices.tolist()
    [0, 0, 0]
    """

    values: Tensor
    indices: Tensor


class max(NamedTuple):
    """The largest elements, and where they are.

    >>> import strided
    >>> strided.tensor([3, 1, 2]).max(dim=0).indices.item()
    0
    """

    values: Tensor
    indices: Tensor


class min(NamedTuple):
    """The smallest elements, and where they are.

    >>> import strided
    >>> strided.tensor([3, 1, 2]).min(dim=0).indices.item()
    1
    """

    values: Tensor
    indices: Tensor


class std_mean(NamedTuple):
    """Standard deviations and means.

    >>> import strided
    >>> strided.tensor([1.0, 2.0, 3.0]).std_mean().std.item()
    1.0
    """

    std: Tensor
    mean: Tensor


class var_mean(NamedTuple):
    """Variances and means.

    >>> import strided
    >>> strided.tensor([1.0, 2.0, 3.0]).var_mean().mean.item()
    2.0
    """

    var: Tensor
    mean: Tensor
