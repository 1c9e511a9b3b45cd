"""Torch7 in Python: its tensors, storages and functions, with its names, its defaults and its indices from 1.

>>> from strided import torch7 as torch
>>> x = torch.range(1, 6).resize(2, 3)
>>> _ = x.narrow(2, 2, 2).fill(0)
>>> x
 1  0  0
 4  0  0
[torch.DoubleTensor of size 2x3]
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
from strided.torch7.maths import install_maths as _install_maths
from strided.torch7.session import Session, current
from strided.torch7.storage import Storage
from strided.torch7.tensor import Tensor
from strided.torch7.types import CLASSES as _CLASSES
from strided.torch7.types import STORAGES as _STORAGES
from strided.torch7.views import chunk, split

#: Everything else that is public.
_OTHERS = (
    *(Tensor, *_CLASSES.values(), Storage, *_STORAGES.values()),
    *(TorchError, TorchIndexError, TorchTypeError, TorchValueError, Session, current, from_strided, chunk, split),
)

_names = {value.__name__: value for value in _OTHERS}
_names.update(_FUNCTIONS)
_wrap.install(_structure.ROWS, _names)
_install_maths(_names)
_names["nonzero"] = _structure.explain_nonzero(_names["nonzero"])
globals().update(_names)

__all__ = sorted(_names)


def __dir__() -> list[str]:
    return __all__
