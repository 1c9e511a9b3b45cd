"""Runs Lua scripts that were written for Torch7 or for DeepMind Lab, on the tensors of this package.

It needs the package lupa, which `pip install 'strided[lua]'` installs.

>>> from strided.lua import Lua
>>> lua = Lua()
>>> lua.execute('''
...    require 'torch'
...    x = torch.Tensor{{1, 2}, {3, 4}}
...    print(x * 2)
... ''')
 2  4
 6  8
[torch.DoubleTensor of size 2x2]
<BLANKLINE>
>>> lua["x"].strided().sum(0).tolist()
[4.0, 6.0]
"""

from strided.lua.errors import LuaError, LuaMemoryError, LuaTimeoutError
from strided.lua.functions import LuaFunction
from strided.lua.runtime import Lua

__all__ = ["Lua", "LuaError", "LuaFunction", "LuaMemoryError", "LuaTimeoutError"]


def __dir__() -> list[str]:
    return __all__
