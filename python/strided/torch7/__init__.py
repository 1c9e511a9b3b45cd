"""Torch7 in Python: its tensors, storages and functions, with its names, its defaults and its indices from 1.

>>> from strided import torch7 as torch
>>> x = torch.range(1, 6).resize(2, 3)
>>> x.narrow(2, 2, 2).fill(0)
 0  0
 0  0
[torch.DoubleTensor of size 2x2]
>>> x[2]
 4
 0
 0
[torch.DoubleTensor of size 3]
"""

from strided.torch7 import structure as _structure
from strided.torch7 import wrap as _wrap
from strided.torch7.conversion import from_strided
from strided.torch7.errors import TorchError, TorchIndexError, TorchTypeError, TorchValueError
from strided.torch7.functions import FUNCTIONS as _FUNCTIONS
from strided.torch7.session import Session, current
from strided.torch7.storage import Storage
from strided.torch7.tensor import Tensor
from strided.torch7.types import CLASSES as _CLASSES
from strided.torch7.types import STORAGES as _STORAGES
from strided.torch7.views import chunk, split

globals().update({cls.__name__: cls for cls in (*_CLASSES.values(), *_STORAGES.values())})
globals().update(_FUNCTIONS)
_names = _wrap.install(_structure.ROWS, globals())
