"""Tensors as NumPy arrays. NumPy is imported when the first array is asked for."""

from strided._strided import Tensor


def to_numpy(x: Tensor):
    """An array on the memory of the tensor, held by its buffer for as long as the array lives."""
    import numpy

    return numpy.asarray(memoryview(x))


def to_array(x: Tensor, dtype=None, copy=None):
    """What ``numpy.asarray(x, dtype, copy=copy)`` asks of a tensor."""
    array = to_numpy(x)
    if copy is False and dtype is not None and dtype != array.dtype:
        raise ValueError(f"__array__: {x.dtype} as {dtype} needs a copy")
    if copy:
        return array.astype(dtype or array.dtype, copy=True)
    return array if dtype is None else array.astype(dtype, copy=False)


def to_bytes(x: Tensor) -> bytes:
    """The bytes of the elements in row-major order, also where the dtype has no buffer format."""
    bits = x.view(_BITS[x.itemsize]) if x.dtype.name == "bfloat16" else x
    return memoryview(bits).tobytes()


def to_complex(x: Tensor) -> complex:
    return complex(x.item())


_BITS = {2: "uint16"}
