"""strided: the tensor of Torch as a library of its own.

A storage is a flat sequence of numbers. A tensor is a view of a storage: an offset, a shape and strides. Everything
else is an operation on those two.

>>> import strided as st
>>> x = st.arange(12).view(3, 4)
>>> x.t()[1:3]
  1   5   9
  2   6  10
[strided.LongTensor of size 2x3]

`from strided import *` does not import names of Python's builtins, such as `sum`, `max`, `range` and `bool`: those stay
Python's own, and the functions are reached as `strided.sum`.
"""

import builtins as _builtins

from strided import _strided
from strided._strided import *  # noqa: F403

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from strided import dmlab as dmlab
    from strided import files as files
    from strided import gpu as gpu
    from strided import lua as lua
    from strided import memory as memory
    from strided import return_types as return_types
    from strided import testing as testing
    from strided import torch7 as torch7
    from strided.display import get_printoptions as get_printoptions
    from strided.display import printoptions as printoptions
    from strided.display import set_printoptions as set_printoptions
    from strided.display.drawing import draw as draw
    from strided.display.explain import explain as explain
    from strided.files import fromfile as fromfile
    from strided.files import load as load
    from strided.files import open_memmap as open_memmap
    from strided.files import save as save

    cuda = gpu

#: Functions that are loaded when they are first used, so that importing strided stays light.
_LATER = {
    "draw": "strided.display.drawing",
    "explain": "strided.display.explain",
    "fromfile": "strided.files",
    "get_printoptions": "strided.display",
    "load": "strided.files",
    "open_memmap": "strided.files",
    "printoptions": "strided.display",
    "save": "strided.files",
    "set_printoptions": "strided.display",
}
#: Submodules that are imported in the same way.
_MODULES = {"cuda", "dmlab", "files", "gpu", "lua", "memory", "return_types", "testing", "torch7"}

__all__ = [name for name in (*_strided.__all__, *_LATER) if name not in vars(_builtins)]


def __getattr__(name: str) -> object:
    if name not in _LATER and name not in _MODULES:
        raise AttributeError(f"module 'strided' has no attribute '{name}'")
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"strided.{name}")
    value = getattr(import_module(_LATER[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    special = (name for name in globals() if name.startswith("__"))
    return sorted({*_strided.__all__, *_LATER, *_MODULES, *special})
