"""Values: reading and writing all elements, what a tensor is, conversions, and text."""

from __future__ import annotations

from collections.abc import Callable

import strided as st

from . import _printing
from ._errors import LabTypeError, LabValueError, Refusal
from ._methods import Row
from ._reading import ELEMENTS, as_table, is_userdata, read_table, read_table_shape
from ._types import DTYPES, TYPE_NAMES, is_without_shape, shape_of, without_shape, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .tensor import TensorBase


def _val(x: TensorBase, *values: object) -> Any:
    core = x._tensor
    if core.ndim == 1 and core.size(0) == 1:
        if len(values) == 1:
            element = ELEMENTS[core.dtype](values[0])
            if element is None:
                raise Refusal(LabTypeError, "Failed to assign value.")
            core.fill_(element)
        return core.item(0)
    if len(values) == 1:
        core.copy_(_read_values(core, values[0]))
    return core.tolist()


def _read_values(core: st.Tensor, value: object) -> st.Tensor:
    """The numbers of a table of the shape of a tensor."""
    if is_userdata(value):
        raise Refusal(LabTypeError, "Shape must match tensor shape.")
    table = as_table(value)
    shape = None if table is None else read_table_shape(table)
    if table is None or shape is None:
        raise Refusal(LabTypeError, "Failed read table shape.")
    if shape != shape_of(core):
        raise Refusal(LabValueError, "Shape must match tensor shape.")
    values = read_table(table, shape, core.dtype)
    if values is None:
        raise Refusal(LabValueError, "Failed to read values from tables")
    return values


def _conversion(dtype: st.dtype | None) -> Callable[[TensorBase], TensorBase]:
    """A compact copy in another dtype, or in the same one for None."""

    def convert(x: TensorBase) -> TensorBase:
        core = x._tensor
        target = dtype or core.dtype
        if is_without_shape(core):
            return wrap(without_shape(target))
        return wrap(core.clone() if target == core.dtype else core.to(target))

    return convert


def tostring(x: TensorBase, limit: object = None) -> str:
    """The text of a tensor, with its last line end."""
    if limit is None:
        return _printing.text(x._tensor)
    count = ELEMENTS[st.int32](limit)
    if count is None:
        raise Refusal(LabTypeError)
    return _printing.text(x._tensor, x._tensor.numel() if count < 0 else int(count))


def _conversion_row(name: str, short: str) -> Row:
    return Row(
        name,
        f"() -> {short}Tensor",
        _conversion(DTYPES[short]),
        f"""A compact copy, of the class `{short}Tensor`. Fractions are cut off, and integers wrap.

        >>> lab.DoubleTensor([1.5, 2.5]).{name}().type()
        '{TYPE_NAMES[DTYPES[short]]}'
        """,
    )


ROWS = (
    Row(
        "val",
        "(value: Any = ...) -> Any",
        _val,
        """The value of a tensor of shape [1], or the values of another one as nested lists. An argument is written first.

        >>> z = lab.DoubleTensor([[1, 2], [3, 4]])
        >>> z(1, 2).val(9), z.val(), z.val([[5, 6], [7, 8]])
        (9.0, [[1.0, 9.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]])
        """,
    ),
    Row(
        "size",
        "() -> int",
        lambda x: x._tensor.numel(),
        """The number of elements.

        >>> lab.DoubleTensor(2, 3).size()
        6
        """,
    ),
    Row(
        "shape",
        "() -> list[int]",
        lambda x: shape_of(x._tensor),
        """The extents.

        >>> lab.DoubleTensor(2, 3).shape()
        [2, 3]
        """,
    ),
    Row(
        "type",
        "() -> str",
        lambda x: TYPE_NAMES[x._tensor.dtype],
        """The name that Lab gives the type of a tensor.

        >>> lab.ByteTensor(1).type()
        'deepmind.lab.tensor.ByteTensor'
        """,
    ),
    Row(
        "ownsStorage",
        "() -> bool",
        lambda x: x._tensor.owns_storage(),
        """Whether the memory lasts as long as the tensor. Otherwise its owner may take it back at any time.

        >>> import strided as st
        >>> borrowed, handle = st.borrow(st.zeros(2))
        >>> lab.FloatTensor(2).ownsStorage(), lab.from_strided(borrowed).ownsStorage()
        (True, False)
        """,
    ),
    Row(
        "clone",
        "() -> Self",
        _conversion(None),
        """A compact copy.

        >>> z = lab.DoubleTensor([1, 2])
        >>> z.clone().fill(0).val(), z.val()
        ([0.0, 0.0], [1.0, 2.0])
        """,
    ),
    *(_conversion_row(short.lower(), short) for short in DTYPES),
    Row(
        "tostring",
        "(limit: int | None = None) -> str",
        tostring,
        """The text of a tensor. One with more than `limit` elements, by default 1024, is shortened; -1 shows all of it.

        >>> print(lab.Int32Tensor(range=[12]).tostring(10))
        [deepmind.lab.tensor.Int32Tensor]
        Shape: [12]
        [ 1,  2,  3, ..., 10, 11, 12]
        """,
        "Invalid number of elements passed to function.",
    ),
)
