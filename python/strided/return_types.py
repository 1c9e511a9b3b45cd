"""What functions with several results return: tuples whose parts have names, called as the functions are.

>>> import strided
>>> result = strided.tensor([1, 5, 2]).cummax(dim=0)
>>> result.values.tolist(), result.indices.tolist()
([1, 5, 5], [0, 1, 1])
"""

from typing import NamedTuple

from strided._strided import Tensor


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
