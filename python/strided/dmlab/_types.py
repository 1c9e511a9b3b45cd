"""The seven element types of Lab, the classes that stand for them, and tensors without a shape.

Lab knows tensors of shape [], which have no element. The core has none: there, a tensor without dims has one element. A
tensor of shape [] is held as a core tensor of extent 0 and stride 0, which no other tensor of Lab is.
"""

from __future__ import annotations

import sys

import strided as st
from strided._dialect import lua

from ._errors import TYPE_PREFIX, LabError, LabTypeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .tensor import TensorBase

#: Name of a class without "Tensor" -> dtype.
DTYPES: dict[str, st.dtype] = {
    "Byte": st.uint8,
    "Char": st.int8,
    "Int16": st.int16,
    "Int32": st.int32,
    "Int64": st.int64,
    "Float": st.float32,
    "Double": st.float64,
}
#: dtype -> the name that Lab gives its tensors.
TYPE_NAMES: dict[st.dtype, str] = {dtype: f"{TYPE_PREFIX}{name}Tensor" for name, dtype in DTYPES.items()}
#: dtype -> its lowest and its highest finite number.
LIMITS: dict[st.dtype, tuple[float, float]] = {
    **lua.LIMITS,
    st.float32: (2.0**104 - 2.0**128, 2.0**128 - 2.0**104),
    st.float64: (-sys.float_info.max, sys.float_info.max),
}

#: dtype -> class; filled by `tensor`.
CLASSES: dict[st.dtype, type[TensorBase]] = {}

_new: Any = object.__new__


def wrap(core: st.Tensor) -> TensorBase:
    """A Lab tensor that holds a core tensor, which must have a dtype of Lab and at least one dim."""
    x: TensorBase = _new(CLASSES[core.dtype])
    x._tensor = core
    return x


def wrap_like(x: TensorBase, core: st.Tensor) -> TensorBase:
    """A Lab tensor of the type of another one, that holds a core tensor of the same dtype."""
    y: TensorBase = _new(x._base)
    y._tensor = core
    return y


def without_shape(dtype: st.dtype) -> st.Tensor:
    """The core tensor that stands for shape []."""
    return st.empty(0, dtype=dtype).as_strided((0,), (0,))


def is_without_shape(core: st.Tensor) -> bool:
    """Whether a core tensor stands for shape []."""
    return core.ndim == 1 and core.stride(0) == 0 and core.size(0) == 0


def shape_of(core: st.Tensor) -> list[int]:
    """The shape that Lab sees."""
    return [] if is_without_shape(core) else list(core.shape)


def is_valid(core: st.Tensor) -> bool:
    """Whether the memory of a tensor has not been taken back by its owner."""
    if core.owns_storage():
        return True
    try:
        core.data_ptr()
    except st.StorageError:
        return False
    return True


def require_valid(core: st.Tensor, method: str) -> None:
    """Raises Lab's error if the memory of a tensor has been taken back."""
    if not is_valid(core):
        name = TYPE_NAMES[core.dtype]
        raise LabError(f"Trying to access invalidated object of type: '{name}' with method '{method}'.")


def from_strided(tensor: st.Tensor) -> TensorBase:
    """A Lab tensor on the memory of a `strided.Tensor`.

    The class follows from the dtype. A tensor without dims becomes one of shape [1]. A borrowed tensor stays borrowed:
    once its owner has invalidated the memory, every use of the Lab tensor is an error.

    >>> import strided as st
    >>> from strided import dmlab as lab
    >>> x = st.zeros(2, 2, dtype=st.uint8)
    >>> z = lab.from_strided(x)
    >>> z(1).fill(7).ownsStorage()
    True
    >>> x.tolist()
    [[7, 7], [0, 0]]
    """
    if not isinstance(tensor, st.Tensor):
        raise LabTypeError(f"from_strided: tensor must be a strided.Tensor, got {type(tensor).__name__}")
    if tensor.dtype not in CLASSES:
        known = ", ".join(dtype.name for dtype in TYPE_NAMES)
        raise LabTypeError(f"from_strided: Lab has no tensor of {tensor.dtype.name}; it has tensors of {known}")
    return wrap(tensor if tensor.ndim else tensor.unsqueeze(0))


from_strided.__module__ = "strided.dmlab"
