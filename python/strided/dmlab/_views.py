"""Views: methods that give another tensor on the same memory."""

from __future__ import annotations

from ._errors import LabIndexError, LabTypeError, LabValueError, Refusal
from ._methods import Row
from ._reading import as_table, read_count, read_dim, read_index
from ._types import is_without_shape, wrap_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    import strided as st

    from .tensor import TensorBase


def _select(x: TensorBase, dim: object = None, index: object = None) -> TensorBase:
    core = x._tensor
    at = read_dim(core, dim)
    return wrap_like(x, _select_index(core, at, read_index(core, at, index)))


def _select_index(core: st.Tensor, dim: int, index: int) -> st.Tensor:
    """One index of a dim. Of a single dim an extent of 1 is left."""
    return core.select(dim, index) if core.ndim > 1 else core.narrow(dim, index, 1)


def _call(x: TensorBase, *index: object) -> TensorBase:
    core = x._tensor
    for position in index:
        if is_without_shape(core):
            raise Refusal(LabIndexError)
        core = _select_index(core, 0, read_index(core, 0, position, bits=32))
    return wrap_like(x, core)


def _narrow(x: TensorBase, dim: object = None, index: object = None, size: object = None) -> TensorBase:
    core = x._tensor
    at = read_dim(core, dim)
    first, count = read_index(core, at, index), read_count(size)
    if first + count > core.size(at):
        raise Refusal(LabIndexError)
    return wrap_like(x, core.narrow(at, first, count))


def _transpose(x: TensorBase, dim1: object = None, dim2: object = None) -> TensorBase:
    core = x._tensor
    return wrap_like(x, core.transpose(read_dim(core, dim1), read_dim(core, dim2)))


def _reverse(x: TensorBase, dim: object = None) -> TensorBase:
    core = x._tensor
    return wrap_like(x, core.flip(read_dim(core, dim)))


def _reshape(x: TensorBase, *shapes: object) -> TensorBase:
    core = x._tensor
    table = as_table(shapes[-1]) if shapes else None
    if table is None:
        raise Refusal(LabTypeError)
    shape = [read_count(extent) for extent in table]
    count = 1
    for extent in shape:
        count *= extent
    if not shape or count != core.numel() or not _has_constant_distance(core):
        raise Refusal(LabValueError)
    return wrap_like(x, core.view(shape))


def _has_constant_distance(core: st.Tensor) -> bool:
    """Whether the elements in row-major order are equally spaced in memory. Lab looks at the strides of extents of 1, too."""
    if is_without_shape(core):
        return False
    shape, strides = core.shape, core.stride()
    distance = strides[-1]
    for extent, stride in zip(reversed(shape[1:]), reversed(strides[:-1]), strict=True):
        distance *= extent
        if stride != distance:
            return False
    return bool(strides[-1])


ROWS = (
    Row(
        "select",
        "(dim: int, index: int) -> Self",
        _select,
        """A view of one index of a dim, without that dim. Of a single dim an extent of 1 is left.

        >>> lab.DoubleTensor([[1, 2], [3, 4], [5, 6]]).select(2, 1).val()
        [1.0, 3.0, 5.0]
        """,
        "Must contain 1 based dim, index, received: {}, {}",
    ),
    Row(
        "narrow",
        "(dim: int, index: int, size: int) -> Self",
        _narrow,
        """A view of `size` indices of a dim, from `index` on.

        >>> lab.DoubleTensor([[1, 2], [3, 4], [5, 6]]).narrow(1, 2, 2).val()
        [[3.0, 4.0], [5.0, 6.0]]
        """,
        "Must contain 1 based dim, index, size received: {}, {}, {}",
    ),
    Row(
        "transpose",
        "(dim1: int, dim2: int) -> Self",
        _transpose,
        """A view with two dims exchanged.

        >>> lab.DoubleTensor([[1, 2], [3, 4], [5, 6]]).transpose(1, 2).val()
        [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]
        """,
        "Must contain 1 based indexes, received: {}, {}",
    ),
    Row(
        "reverse",
        "(dim: int) -> Self",
        _reverse,
        """A view with the indices of a dim in the opposite order.

        >>> lab.DoubleTensor([[1, 2], [3, 4], [5, 6]]).reverse(1).val()
        [[5.0, 6.0], [3.0, 4.0], [1.0, 2.0]]
        """,
        "Must contain 1 based dim received: {}",
    ),
    Row(
        "reshape",
        "(shape: Sequence[int]) -> Self",
        _reshape,
        """A view with another shape. Neighbouring elements must lie at one distance in memory, which may be negative.

        >>> lab.DoubleTensor([[1, 2], [3, 4], [5, 6]]).reshape([2, 3]).val()
        [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
        """,
        "Must be called on a contiguous tensor with a matching element count.",
    ),
    Row(
        "__call",
        "(*index: int) -> Self",
        _call,
        """A view of one index of the first dim, of that of the next one, and so on. An element has the shape [1].

        >>> z = lab.DoubleTensor([[1, 2], [3, 4], [5, 6]])
        >>> z(2).val(), z(2, 1).val()
        ([3.0, 4.0], 3.0)
        """,
        "Invalid Index!",
    ),
)
