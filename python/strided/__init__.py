"""strided: the tensor of Torch as a library of its own.

A Storage is a flat run of numbers, a Tensor is one way of looking at a Storage (offset, shape, strides), and
everything else is an operation on those two.

>>> import strided as st
>>> x = st.arange(12).view(3, 4)
>>> x.t()[1:3]
 1  5  9
 2  6 10
[strided.LongTensor of size 2x3]
"""

from strided._strided import *  # noqa: F403

__version__ = "0.1.0"
