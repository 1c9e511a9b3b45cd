"""Functions of the module that are not maths: types, the default type, and the functional forms of methods."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import strided as st
from strided._dialect.lua import MISSING, lua_type
from strided.torch7.calls.arguments import is_number, need_method, number_of, refuse, torch_type
from strided.torch7.errors import TorchError, TorchTypeError
from strided.torch7.session import current
from strided.torch7.tensor.classes import Tensor
from strided.torch7.tensor.storage import Storage
from strided.torch7.tensor.views import VIEW_FORMS
from strided.torch7.tools.luapattern import search
from strided.torch7.types import CLASSES, NAMES


def type_(object: Any = None) -> str:
    """The name of the type of an object: of Torch7, or of Lua for other values.

    >>> from strided import torch7 as torch
    >>> torch.type(torch.Tensor()), torch.type(3), torch.type([1, 2])
    ('torch.DoubleTensor', 'number', 'table')
    """
    return torch_type(object) or lua_type(object)


def typename(object: Any = MISSING) -> str | None:
    """The name of the Torch7 type of an object, or None.

    >>> from strided import torch7 as torch
    >>> torch.typename(torch.Tensor()), torch.typename(3)
    ('torch.DoubleTensor', None)
    """
    if object is MISSING:
        raise TorchTypeError("bad argument #1 to 'typename' (value expected)")
    return torch_type(object)


def isTypeOf(object: Any, spec: Any) -> bool:
    """Whether an object is of a type: a name, a Lua pattern of names, or a class.

    >>> from strided import torch7 as torch
    >>> x = torch.Tensor()
    >>> torch.isTypeOf(x, "torch.DoubleTensor"), torch.isTypeOf(x, "torch.*Tensor"), torch.isTypeOf(x, torch.IntTensor)
    (True, True, False)
    """
    if spec is Tensor or spec is Storage:
        kind = "Tensor" if spec is Tensor else "Storage"
        spec = f"torch.{current().default_type}{kind}"
    elif not isinstance(spec, str):
        spec = getattr(spec, "_typename", None)
        if spec is None:
            raise TorchTypeError("type must be provided as [regexp] string, or factory")
    for cls in type(object).__mro__:
        name = cls.__dict__.get("_typename")
        found = search(spec, name) if isinstance(name, str) else None
        if found is not None and (found != spec or found == name):
            return True
    return False


def isTensor(object: Any = None) -> bool:
    """Whether an object is a tensor.

    >>> from strided import torch7 as torch
    >>> torch.isTensor(torch.Tensor()), torch.isTensor(3)
    (True, False)
    """
    return isinstance(object, Tensor)


def isStorage(object: Any = None) -> bool:
    """Whether an object is a storage.

    >>> from strided import torch7 as torch
    >>> torch.isStorage(torch.IntStorage()), torch.isStorage(3)
    (True, False)
    """
    return isinstance(object, Storage)


def isequal(a: Any, b: Any) -> bool:
    """Whether two objects of Torch7 are the same tensor or the same storage.

    >>> from strided import torch7 as torch
    >>> x = torch.Tensor(2)
    >>> torch.isequal(x, x), torch.isequal(x, x.clone()), torch.isequal(x.storage(), x.storage())
    (True, False, True)
    """
    return bool(a is b or (isinstance(a, Storage) and a == b))


def pointer(object: Any) -> int:
    """A number that identifies an object while it lives: for a storage, the address of its memory.

    >>> from strided import torch7 as torch
    >>> x = torch.Tensor(2)
    >>> torch.pointer(x.storage()) == torch.pointer(x.storage())
    True
    """
    if object is None or isinstance(object, (bool, int, float)):
        raise TorchTypeError("Torch object, table, thread, cdata or function expected")
    return (isinstance(object, Storage) and object._storage.data_ptr()) or id(object)


def setdefaulttensortype(name: str = MISSING) -> None:
    """Makes `Tensor` and `Storage` stand for another type; also where they were imported by name.

    >>> from strided import torch7 as torch
    >>> torch.setdefaulttensortype("torch.FloatTensor")
    >>> torch.Tensor(2).type()
    'torch.FloatTensor'
    >>> torch.setdefaulttensortype("torch.DoubleTensor")
    """
    if not isinstance(name, str):
        raise refuse("string expected", "a name such as 'torch.FloatTensor'", TorchTypeError)
    for dtype, cls in CLASSES.items():
        if cls._typename == name:
            current().default_type = NAMES[dtype]
            return
    raise TorchError(f"<{name}> is not a string describing a torch object")


def getdefaulttensortype() -> str:
    """The name of the type that `Tensor` stands for.

    >>> from strided import torch7 as torch
    >>> torch.getdefaulttensortype()
    'torch.DoubleTensor'
    """
    return f"torch.{current().default_type}Tensor"


def totable(object: Any = None) -> list[Any]:
    """The elements of a tensor or a storage as a list, nested for a tensor.

    >>> from strided import torch7 as torch
    >>> torch.totable(torch.IntTensor([[1, 2]])), torch.totable(torch.IntStorage([1, 2]))
    ([[1, 2]], [1, 2])
    """
    if not isinstance(object, (Tensor, Storage)):
        raise TorchTypeError("obj must be a Storage or a Tensor")
    return object.totable()


# The clock and the threads


def tic() -> float:
    """The time in seconds, for `toc`.

    >>> from strided import torch7 as torch
    >>> torch.toc(torch.tic()) < 60
    True
    """
    return time.time()


def toc(start: float = MISSING) -> float:
    """The seconds that have passed since `tic` returned `start`.

    >>> from strided import torch7 as torch
    >>> torch.toc(torch.tic()) >= 0
    True
    """
    return time.time() - _plain_number(start, "toc")


def setnumthreads(count: int = MISSING) -> None:
    """Sets the number of threads that operations use. Has no effect in a sandbox of Lua.

    >>> from strided import torch7 as torch
    >>> torch.setnumthreads(torch.getnumthreads())
    """
    wanted = max(int(_plain_number(count, "setnumthreads")), 1)
    if current().owns_process:
        st.set_num_threads(wanted)


def getnumthreads() -> int:
    """The number of threads that operations use.

    >>> from strided import torch7 as torch
    >>> torch.getnumthreads() >= 1
    True
    """
    return st.get_num_threads()


def getnumcores() -> int:
    """The number of processors.

    >>> from strided import torch7 as torch
    >>> torch.getnumcores() >= 1
    True
    """
    return os.cpu_count() or 1


def _plain_number(value: Any, name: str) -> int | float:
    """The one argument of a function that is not a method: Lua counts it from 1."""
    if not is_number(value):
        raise TorchTypeError(f"bad argument #1 to '{name}' (number expected, got {lua_type(value)})")
    return number_of(value)


def _functional(name: str) -> Callable[..., Any]:
    """The function `f(x, …)` for the method `x.f(…)`."""
    method = getattr(Tensor, name)

    def function(*args: Any) -> Any:
        first = args[0] if args else None
        if name == "view" and not isinstance(first, Tensor):
            raise TorchTypeError(VIEW_FORMS)
        need_method(first, name, "tensor")
        try:
            return getattr(first, name)(*args[1:])
        except TorchError as error:
            if error.argument is None or f"'{name}'" not in str(error):
                raise
            number, text = error.argument
            raise type(error)(f"bad argument #{number} to '?' ({text})") from None

    function.__name__ = function.__qualname__ = name
    function.__module__ = "strided.torch7"
    function.__doc__ = f"The function `{name}(x, …)` for the method `x.{name}(…)`. {method.__doc__}"
    return function


#: Methods that are functions of the module as well.
METHODS = (
    "cdata data expand expandAs index indexAdd indexCopy indexFill maskedCopy maskedFill maskedSelect permute repeatTensor "
    "view viewAs"
)
FUNCTIONS: dict[str, Callable[..., Any]] = {name: _functional(name) for name in METHODS.split()}
type_.__name__ = type_.__qualname__ = "type"
_types = (type_, typename, isTypeOf, isTensor, isStorage, isequal, pointer, setdefaulttensortype, getdefaulttensortype)
for _function in (*_types, totable, tic, toc, setnumthreads, getnumthreads, getnumcores):
    _function.__module__ = "strided.torch7"
    FUNCTIONS[_function.__name__] = _function
