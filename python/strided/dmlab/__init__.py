"""The tensors and random numbers of DeepMind Lab, as its level scripts use them. Dims and indices start at 1.

>>> from strided import dmlab as lab
>>> z = lab.DoubleTensor([[1, 2], [3, 4], [5, 6]])
>>> z.transpose(1, 2).narrow(2, 2, 2).add(10)
[deepmind.lab.tensor.DoubleTensor]
Shape: [2, 2]
[[13, 15],
 [14, 16]]
>>> z(2, 1).val()
13.0

Methods change a tensor in place and return it, except views, conversions, `clone` and `mmul`. A script that is written in
Lua runs in `strided.lua`. `from_strided` and `strided()` convert from and to tensors of the top level without a copy.
"""

from ._errors import LabError, LabIndexError, LabTypeError, LabValueError, LabZeroDivisionError
from ._random import RandomView
from ._types import from_strided
from .session import Session, current
from .tensor import (
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    Int16Tensor,
    Int32Tensor,
    Int64Tensor,
)

#: The type to use if there is no reason for another.
Tensor = DoubleTensor
#: Lab's random numbers: those of the current session.
random = RandomView()

__all__ = [
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "Int16Tensor",
    "Int32Tensor",
    "Int64Tensor",
    "Tensor",
    "random",
    "from_strided",
    "LabError",
    "LabIndexError",
    "LabTypeError",
    "LabValueError",
    "LabZeroDivisionError",
    "RandomView",
    "Session",
    "current",
]


def __dir__() -> list[str]:
    return sorted(__all__)
