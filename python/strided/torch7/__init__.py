"""Torch7 in Python: its tensors, storages and functions, with its names, its defaults and its indices from 1.

>>> from strided import torch7 as torch
>>> x = torch.Tensor(2, 3).fill(1)
"""

from strided.torch7.errors import TorchError
from strided.torch7.session import Session, current
from strided.torch7.storage import Storage
from strided.torch7.tensor import Tensor
from strided.torch7.types import CLASSES as _CLASSES
from strided.torch7.types import STORAGES as _STORAGES

globals().update({cls.__name__: cls for cls in (*_CLASSES.values(), *_STORAGES.values())})

__all__ = ["Session", "Storage", "Tensor", "TorchError", "current"]
