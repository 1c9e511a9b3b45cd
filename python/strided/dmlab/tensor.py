"""The classes of tensors. Their methods come from the tables of rows; what Python adds is here."""

from __future__ import annotations

import strided as st
from strided._dialect.classes import Bridges, make_class
from strided._dialect.lua import BITS

from . import _maths, _printing, _values, _views, _visits
from ._construct import create
from ._errors import LabValueError
from ._methods import PYTHON_NAMES, make_method
from ._types import CLASSES, DTYPES, TYPE_NAMES, from_strided, is_valid, require_valid, shape_of
from .session import current

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["ROWS", "TensorBase", *(f"{name}Tensor" for name in DTYPES)]

#: The rows of all methods.
ROWS = (*_views.ROWS, *_values.ROWS, *_maths.ROWS, *_visits.ROWS)


class TensorBase(Bridges):
    """What the seven classes of Lab's tensors have in common.

    >>> from strided import dmlab as lab
    >>> isinstance(lab.ByteTensor(2, 2), lab.DoubleTensor)
    False
    """

    __slots__ = ("__weakref__", "_tensor")
    _tensor: st.Tensor
    _dtype: st.dtype
    _type_name: str
    #: Whether the elements are whole numbers.
    _integral: bool
    #: The class of results: one of the seven.
    _base: type[TensorBase]

    def __new__(cls, *args: Any, **named: Any) -> TensorBase:
        self = object.__new__(cls)
        self._tensor = create(cls._dtype, args, named)
        return self

    def strided(self) -> st.Tensor:
        """The `strided.Tensor` on the same memory. That of shape [] has the shape (0,).

        >>> from strided import dmlab as lab
        >>> z = lab.DoubleTensor(2, 2)
        >>> z.strided().fill_(3).sum().item(), z.sum()
        (12.0, 12.0)
        """
        return self._tensor

    def _core(self, method: str) -> st.Tensor:
        require_valid(self._tensor, method)
        return self._tensor

    def _is_valid(self) -> bool:
        return is_valid(self._tensor)

    def _tostring(self) -> str:
        """The text with its last line end, as Lua's `tostring` gives it."""
        return _printing.text(self._core("__tostring"))

    def __repr__(self) -> str:
        return self._tostring().removesuffix("\n")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, TensorBase):
            return NotImplemented
        x, y = self._tensor, other._tensor
        if x.dtype != y.dtype:
            return False
        if current().lua:
            require_valid(x, "__eq")
        if not self._is_valid() or not other._is_valid():
            return False
        return shape_of(x) == shape_of(y) and x.equal(y)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        require_valid(self._tensor, "__bool__")
        if self._tensor.numel() != 1:
            raise LabValueError(
                f"the truth of a tensor of {self._tensor.numel()} elements is not defined; compare first"
            )
        return bool(self._tensor.item())

    def __reduce__(self) -> tuple[Any, ...]:
        return from_strided, (self._core("__reduce__"),)

    def numpy(self) -> Any:
        """A NumPy array on the same memory.

        >>> from strided import dmlab as lab
        >>> lab.ByteTensor([[1, 2], [3, 4]]).numpy().sum()
        np.uint64(10)
        """
        return self._core("numpy").numpy()


def _make_class(short: str, dtype: st.dtype) -> type[TensorBase]:
    """The class of the tensors of a dtype."""
    name = f"{short}Tensor"
    doc = f"""Lab's tensor of {dtype.name}.

    `{name}(2, 3)` has zeros, `{name}([[1, 2], [3, 4]])` the given numbers, `{name}(range=[lower, upper, step])` those
    of a range, both ends included, and `{name}(file={{"name": path, "byteOffset": 0, "numElements": 10}})` the
    bytes of a file.

    >>> from strided import dmlab as lab
    >>> lab.{name}([[1, 2], [3, 4]])
    [{TYPE_NAMES[dtype]}]
    Shape: [2, 2]
    [[1, 2],
     [3, 4]]
    >>> lab.{name}(range=[5]).size()
    5
    """
    cls = make_class(TensorBase, name, "strided.dmlab", doc, _dtype=dtype, _type_name=TYPE_NAMES[dtype])
    cls._base, cls._integral = cls, dtype in BITS
    for row in ROWS:
        setattr(cls, PYTHON_NAMES.get(row.name, row.name), make_method(cls, cls._type_name, row, True))
    return cls


CLASSES.update({dtype: _make_class(short, dtype) for short, dtype in DTYPES.items()})
globals().update({cls.__name__: cls for cls in CLASSES.values()})


def __dir__() -> list[str]:
    return __all__
