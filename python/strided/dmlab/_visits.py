"""Methods that visit the elements one after the other: functions of a program, and the random order."""

from __future__ import annotations

from collections.abc import Callable

from strided._dialect.lua import lua_type

from ._errors import LabError, LabTypeError, LabValueError, Refusal
from ._methods import Row
from ._random import RandomView
from ._reading import ELEMENTS, indices
from ._types import shape_of
from .session import current

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .tensor import TensorBase


def _replace_each(x: TensorBase, visit: Callable[[Any], Any]) -> TensorBase:
    """Replaces each element by what a function returns, if that is a number that Lab accepts."""
    read = ELEMENTS[x._tensor.dtype]

    def result(value: object) -> int | float | None:
        returned = visit(value)
        if type(returned) is tuple:  # several results: only the first one counts
            returned = returned[0] if returned else None
        return read(returned)

    try:
        x._tensor.apply_(result)
    except (MemoryError, TimeoutError):
        raise
    except Exception as error:
        if current().lua:  # Lab puts the name of the method before the text
            text = str(error) if getattr(error, "is_text", True) else "Failed to retrieve error!"
            raise Refusal(LabError, text) from error
        raise
    return x


def _require_callable(x: TensorBase, function: Any) -> Callable[..., Any]:
    if not callable(function) and x._tensor.numel():
        raise Refusal(LabTypeError, f"attempt to call a {lua_type(function)} value")
    return function  # type: ignore[no-any-return]


def _apply(x: TensorBase, function: Any = None) -> TensorBase:
    return _replace_each(x, _require_callable(x, function))


def _apply_indexed(x: TensorBase, function: Any = None) -> TensorBase:
    call = _require_callable(x, function)
    positions = iter(indices(shape_of(x._tensor)))
    return _replace_each(x, lambda value: call(value, list(next(positions))))


def _shuffle(x: TensorBase, random: object = None) -> TensorBase:
    if not isinstance(random, RandomView):
        raise Refusal(LabTypeError)
    if len(shape_of(x._tensor)) != 1:
        raise Refusal(LabValueError)
    random._engine().shuffle(x._tensor)
    return x


ROWS = (
    Row(
        "apply",
        "(function: Callable[[Any], Any]) -> Self",
        _apply,
        """Replaces each element by what a function of it returns, in row-major order. What is no number is ignored.

        >>> lab.DoubleTensor([[1, 2], [3, 4]]).apply(lambda value: value * 10 if value > 1 else None).val()
        [[1.0, 20.0], [30.0, 40.0]]
        """,
    ),
    Row(
        "applyIndexed",
        "(function: Callable[[Any, list[int]], Any]) -> Self",
        _apply_indexed,
        """`apply` with a function that takes the index of the element, too.

        >>> lab.Int32Tensor(2, 2).applyIndexed(lambda value, index: 10 * index[0] + index[1]).val()
        [[11, 12], [21, 22]]
        """,
    ),
    Row(
        "shuffle",
        "(random: RandomView) -> Self",
        _shuffle,
        """Brings the elements of a single dim into a random order, in place.

        >>> lab.random.seed(0)
        >>> lab.Int64Tensor(range=[5]).shuffle(lab.random).val()
        [3, 2, 5, 4, 1]
        """,
        "Must call on a rank-1 Tensor with random number generator, received: {}",
    ),
)
