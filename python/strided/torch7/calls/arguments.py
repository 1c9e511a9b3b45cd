"""Reads the arguments of functions that Torch7 implements in C, with the errors of Lua and of luaT.

The index base is applied here and nowhere else: `position` and `zero_based` subtract it from what a user passes,
`counted` and `one_based` add it to what a user sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import strided as st
from strided._dialect.lua import MISSING, lua_type, to_signed
from strided.torch7.errors import TorchError, TorchTypeError, bad_argument, out_of_range, with_hint
from strided.torch7.session import current
from strided.torch7.types import CLASSES, NAMES, STORAGES

#: Dims, indices and storage offsets of users count from here; those of the core from 0.
INDEX_BASE = 1


#: luaT names the type of a value that is not an object of Torch by the *number* of the argument, which it takes for
#: the code of a type of Lua: an argument number 3 is always a "number".
_TYPES_BY_NUMBER = ("nil", "boolean", "userdata", "number", "string", "table", "function", "userdata", "thread")


# Positions


def position(value: Any, number: int, name: str | None) -> int:
    """A dim or an index as the core counts it: 0 is the first."""
    if type(value) is int:
        return value - INDEX_BASE
    return integer(value, number, name) - INDEX_BASE


def table_position(value: Any, number: int, name: str | None) -> int:
    """A dim or an index in a table. A float of Lua is truncated after the base was subtracted, so that 0.5 is the first."""
    if type(value) is int:
        return value - INDEX_BASE
    plain = number_of(value)
    if isinstance(plain, int) or not current().lua:
        return position(value, number, name)
    return to_signed(plain - INDEX_BASE)


def wrap_index(place: int, extent: int) -> int:
    """A position that may have been counted from the end, as -1 is the last one."""
    return place + extent + INDEX_BASE if place < 0 else place


def table_place(value: Any, extent: int, text: str) -> int:
    """An index in a table as the core counts it, which must be one of a dim; `text` is what an error says."""
    if type(value) is int:
        place = value - INDEX_BASE if value > 0 else value + extent
    else:
        place = wrap_index(table_position(value, 2, None), extent)
    if 0 <= place < extent:
        return place
    raise out_of_range(2, None, value, text)


def counted(place: int) -> int:
    """A dim, an index or an offset of the core as users count it."""
    return place + INDEX_BASE


def zero_based(indices: st.Tensor) -> st.Tensor:
    """A tensor of indices as the core counts them."""
    return indices.sub(INDEX_BASE)


def one_based(indices: st.Tensor) -> st.Tensor:
    """A tensor of indices of the core, changed in place to what users see."""
    return indices.add_(INDEX_BASE)


# Names of types


def torch_type(value: object) -> str | None:
    """The name of the Torch type of a value, such as `torch.DoubleTensor`, or None."""
    name: str | None = getattr(type(value), "_typename", None)
    return name


def type_error(value: object, number: int, name: str | None, wanted: str, hint: str = "") -> TorchError:
    """The error of Lua about an argument of the wrong type."""
    return bad_argument(number, name, f"{wanted} expected, got {lua_type(value)}", TorchTypeError, hint)


def object_error(value: object, number: int, name: str | None, wanted: str) -> TorchError:
    """The error of luaT about an argument that is not an object of a certain class."""
    got = torch_type(value) or _TYPES_BY_NUMBER[number]
    hint = "" if torch_type(value) else f"got {type(value).__name__}" if value is not MISSING else "got no value"
    return bad_argument(number, name, f"{wanted} expected, got {got}", TorchTypeError, hint)


# Numbers


def is_number(value: object) -> bool:
    """Whether Lua would take a value for a number: an int, a float, and in Lua a string that spells one."""
    kind = type(value)
    if kind is int or kind is float:
        return True
    if kind is bool or value is None:
        return False
    if kind is str:
        return current().lua and _parsed(value) is not None
    return not isinstance(value, (bytes, list, tuple, dict)) and _is_numeric(value)


def _is_numeric(value: object) -> bool:
    """Whether an object is a number of another library, such as a NumPy scalar."""
    if torch_type(value) or isinstance(value, (st.Tensor, bool)):
        return False
    return hasattr(value, "__index__") or hasattr(value, "__float__")


def _parsed(text: Any) -> float | None:
    """The number that a string spells, as `tonumber` of Lua reads it."""
    try:
        return int(text, 16) if "x" in text.lower() else float(text)
    except ValueError:
        return None


def number_of(value: Any) -> int | float:
    """The number that a value with `is_number` stands for."""
    kind = type(value)
    if kind is int or kind is float:
        found: int | float = value
        return found
    if kind is str:
        return _parsed(value) or 0
    return int(value) if hasattr(value, "__index__") else float(value)


def number(value: Any, position_: int, name: str | None) -> int | float:
    """An argument that is a number."""
    if type(value) is float or type(value) is int:
        found: int | float = value
        return found
    if not is_number(value):
        raise type_error(value, position_, name, "number")
    return number_of(value)


def string(value: Any, position_: int, name: str | None) -> str:
    """An argument that is a string. Lua turns a number into one."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, str):
        return value
    if current().lua and is_number(value):
        return f"{value:.14g}"
    raise type_error(value, position_, name, "string")


def integer(value: Any, position_: int, name: str | None) -> int:
    """An argument that is a size, a dim or an index. Lua truncates a float; Python programmers get an error."""
    if type(value) is int:
        found: int = value
        return found
    if not is_number(value):
        raise type_error(value, position_, name, "number")
    plain = number_of(value)
    if isinstance(plain, int):
        return plain
    if not current().lua:
        raise bad_argument(position_, name, "number expected, got float", TorchTypeError, "sizes and indices are ints")
    return to_signed(plain)


# Tables


def is_table(value: object) -> bool:
    """Whether a value stands for a Lua table. A table of Lua itself may come as a dict."""
    return isinstance(value, (list, tuple, dict))


def entries(table: Any) -> Sequence[Any]:
    """The entries of a table with the keys 1, 2, …; an empty list if it is not a table."""
    if isinstance(table, dict):
        count = next(i for i in range(len(table) + 1) if i + 1 not in table)
        return [table[i + 1] for i in range(count)]
    return table if isinstance(table, (list, tuple)) else ()


def without_nils(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments up to the last that is not nil, as a function that Torch7 writes in Lua gets them with `{...}`."""
    end = len(args)
    while end and args[end - 1] is None:
        end -= 1
    return args[:end]


# Objects


def need_method(value: object, method: str, local: str) -> None:
    """Raises the error of Lua about a method call on a local variable that holds no tensor."""
    if torch_type(value) and hasattr(value, method):
        return
    if torch_type(value) or isinstance(value, (str, bytes, list, tuple, dict)):
        text = f"attempt to call method '{method}' (a nil value)"
    else:
        text = f"attempt to index local '{local}' (a {lua_type(None if value is MISSING else value)} value)"
    raise refuse(text, "a tensor is needed", TorchTypeError)


def same_type(self: Any, value: Any, position_: int, name: str) -> st.Tensor:
    """The core tensor of an argument that must have the class of `self`."""
    if type(value) is not type(self):
        raise object_error(value, position_, name, self._typename)
    core: st.Tensor = value._tensor
    return core


def tensor_of(dtype: st.dtype, value: Any, position_: int, name: str) -> st.Tensor:
    """The core tensor of an argument that must have a certain element type."""
    if type(value) is not CLASSES[dtype]:
        raise object_error(value, position_, name, f"torch.{NAMES[dtype]}Tensor")
    core: st.Tensor = value._tensor
    return core


def is_long_storage(value: object) -> bool:
    return type(value) is STORAGES[st.int64]


def callable_of(value: Any, position_: int, name: str) -> Any:
    """An argument that must be a function."""
    if not callable(value) or torch_type(value):
        raise type_error(value, position_, name, "function")
    return value


def sizes_of(args: tuple[Any, ...], first: int, name: str | None) -> list[int]:
    """Sizes that are passed as numbers, or as one `LongStorage`."""
    if len(args) == 1 and is_long_storage(args[0]):
        found: list[int] = args[0]._storage.tolist()
        return found
    return [integer(value, first + i, name) for i, value in enumerate(args)]


def refuse(text: str, hint: str = "", kind: type[TorchError] = TorchError) -> TorchError:
    """An error that is not about one argument."""
    return kind(with_hint(text, hint))
