"""Named tuples returned by functions with two results; each class is named after its function.

>>> import strided
>>> result = strided.tensor([[1, 5], [7, 2]]).max(dim=1)
>>> result.values.tolist(), result.indices.tolist()
([5, 7], [1, 0])
"""

from typing import Any, NamedTuple

from strided._strided import Tensor

__all__ = [
    "aminmax",
    "cummax",
    "cummin",
    "histogram",
    "kthvalue",
    "max",
    "median",
    "min",
    "mode",
    "nanmedian",
    "sort",
    "std_mean",
    "topk",
    "var_mean",
]


class aminmax(NamedTuple):
    """The smallest and the largest elements.

    >>> import strided
    >>> strided.tensor([3, 1, 2]).aminmax().max.item()
    3
    """

    min: Tensor
    max: Tensor


class cummax(NamedTuple):
    """Running maxima and their indices.

    >>> import strided
    >>> strided.tensor([1, 5, 2]).cummax(0).values.tolist()
    [1, 5, 5]
    """

    values: Tensor
    indices: Tensor


class cummin(NamedTuple):
    """Running minima and their indices.

    >>> import strided
    >>> strided.tensor([1, 5, 2]).cummin(0).indices.tolist()
    [0, 0, 0]
    """

    values: Tensor
    indices: Tensor


class histogram(NamedTuple):
    """A histogram and the edges of its bins.

    >>> import strided
    >>> strided.tensor([1.0, 2.0, 1.0]).histogram(2).hist.tolist()
    [2.0, 1.0]
    """

    hist: Tensor
    bin_edges: Tensor


class kthvalue(NamedTuple):
    """The elements of a rank and their indices.

    >>> import strided
    >>> strided.tensor([3, 1, 2]).kthvalue(2).values.item()
    2
    """

    values: Tensor
    indices: Tensor


class max(NamedTuple):
    """The largest elements and their indices.

    >>> import strided
    >>> strided.tensor([3, 1, 2]).max(dim=0).indices.item()
    0
    """

    values: Tensor
    indices: Tensor


class median(NamedTuple):
    """Medians and their indices.

    >>> import strided
    >>> strided.tensor([3, 1, 2]).median(dim=0).indices.item()
    2
    """

    values: Tensor
    indices: Tensor


class min(NamedTuple):
    """The smallest elements and their indices.

    >>> import strided
    >>> strided.tensor([3, 1, 2]).min(dim=0).indices.item()
    1
    """

    values: Tensor
    indices: Tensor


class mode(NamedTuple):
    """The most frequent elements and their indices.

    >>> import strided
    >>> strided.tensor([3, 1, 3]).mode().values.item()
    3
    """

    values: Tensor
    indices: Tensor


class nanmedian(NamedTuple):
    """Medians of the elements that are not NaN, and their indices.

    >>> import strided
    >>> strided.tensor([3.0, 1.0, 2.0]).nanmedian(dim=0).values.item()
    2.0
    """

    values: Tensor
    indices: Tensor


class sort(NamedTuple):
    """Elements in order and their indices.

    >>> import strided
    >>> strided.tensor([3, 1, 2]).sort().indices.tolist()
    [1, 2, 0]
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


class topk(NamedTuple):
    """The first elements of an order and their indices.

    >>> import strided
    >>> strided.tensor([3, 1, 2]).topk(2).values.tolist()
    [3, 2]
    """

    values: Tensor
    indices: Tensor


class var_mean(NamedTuple):
    """Variances and means.

    >>> import strided
    >>> strided.tensor([1.0, 2.0, 3.0]).var_mean().mean.item()
    2.0
    """

    var: Tensor
    mean: Tensor


def __dir__() -> list[str]:
    return __all__


def _text(result: Any) -> str:
    from strided.display.text import named_tuple

    return named_tuple(result)


for _name in __all__:
    globals()[_name].__repr__ = _text
