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

`docs/torch7.md` tells what works and what differs from Torch7.
"""

from strided.torch7.public import assemble as _assemble

_names = _assemble()
globals().update(_names)

__all__ = sorted(_names)


def __dir__() -> list[str]:
    return __all__
