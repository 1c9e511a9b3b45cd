"""``x.size`` without a call: an int, the number of elements, that can also be called."""

from strided._strided import Size


class Count(int):
    """The number of elements of a tensor. Calling it returns the extents, as ``x.size()`` does.

    >>> import strided
    >>> count = strided.zeros(3, 4).size
    >>> count, count(), count(1)
    (12, strided.Size([3, 4]), 4)
    """

    _shape: Size

    def __new__(cls, shape: Size) -> "Count":
        count = super().__new__(cls, shape.numel())
        count._shape = shape
        return count

    def __call__(self, dim: int | None = None) -> Size | int:
        return self._shape if dim is None else self._shape[dim]

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (int(self),)
