"""The methods of tensors that tables of rows describe. `wrap.install` adds them; `rows.pyi` lists them for editors."""

from __future__ import annotations

from strided.torch7.tensor.base import TensorMethods


class Rows(TensorMethods):
    """Maths, random numbers and other functions that Torch7 declares as data."""

    __slots__ = ()
