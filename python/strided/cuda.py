"""PyTorch's name of `strided.gpu`: the same module."""

import sys

from strided import gpu

sys.modules[__name__] = gpu
