"""Conversion of tensors to NumPy arrays. NumPy is imported when the first array is made."""

from strided._strided import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy


def to_numpy(x: Tensor) -> "numpy.ndarray[Any, Any]":
    """Returns an array on the memory of the tensor. The array holds a buffer, which keeps the storage from being resized."""
    import numpy

    array: numpy.ndarray[Any, Any] = numpy.asarray(memoryview(x))
    return array


def to_array(x: Tensor, dtype: "Any" = None, copy: bool | None = None) -> "numpy.ndarray[Any, Any]":
    """Implements `Tensor.__array__`, which ``numpy.asarray(x, dtype, copy=copy)`` calls."""
    array = to_numpy(x)
    if copy is False and dtype is not None and dtype != array.dtype:
        raise ValueError(f"__array__: {x.dtype} as {dtype} needs a copy")
    if copy:
        return array.astype(dtype or array.dtype, copy=True)
    return array if dtype is None else array.astype(dtype, copy=False)


def to_bytes(x: Tensor) -> bytes:
    """Returns the bytes of the elements in row-major order, also for bfloat16, which has no buffer format."""
    return memoryview(x.view("uint16") if x.dtype.name == "bfloat16" else x).tobytes()


def to_complex(x: Tensor) -> complex:
    """Returns the only element as a complex number."""
    return complex(x.item())
