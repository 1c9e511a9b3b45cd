"""`x[…]` and `x[…] = …`: indices, ranges, positions in a `LongStorage`, and masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import strided as st
from strided.torch7.calls.arguments import (
    entries,
    is_long_storage,
    is_number,
    is_table,
    number_of,
    position,
    refuse,
    table_place,
    type_error,
    wrap_index,
)
from strided.torch7.calls.elements import as_element, element
from strided.torch7.errors import TorchError, TorchTypeError, TorchValueError, bad_argument, out_of_range
from strided.torch7.session import current
from strided.torch7.tensor.base import TensorMethods
from strided.torch7.tensor.copying import copy_into, fill
from strided.torch7.tensor.geometry import ndim
from strided.torch7.tensor.index_methods import masked_copy, masked_fill, masked_select
from strided.torch7.types import CLASSES


class Brackets(TensorMethods):
    """Reading and writing with brackets."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        core, kind = self._tensor, type(key)
        if kind is list:
            found, done = _walk(core, key, self)
            return found.item() if done else self._with(found)
        if kind is int or (kind is not tuple and is_number(key)):
            return _slice(self, key)
        if kind is tuple and len(key) == core.dim() and set(map(type, key)) == {int} and min(key) > 0:
            try:
                return core.item(*[position(index, 2, None) for index in key])
            except IndexError:
                pass  # the reason follows
        if is_table(key):
            found, done = _walk(core, key, self)
            return found.item() if done else self._with(found)
        if is_long_storage(key):
            return _element(core, key).item()
        if kind is CLASSES[st.uint8]:
            return self._with(masked_select(core, key._tensor))
        if current().lua:
            return None
        raise _not_an_index(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        core, kind = self._tensor, type(key)
        if kind is int and key > 0 and core.dim() == 1 and type(value) in (int, float):
            try:
                core[position(key, 2, None)] = as_element(value, self._dtype)
                return
            except IndexError:
                pass  # the reason follows
        if kind is int or (kind is not list and kind is not tuple and is_number(key)):
            _assign_slice(self, key, value)
        elif kind is list or is_table(key):
            target, done = _walk(core, key, self)
            if done:
                target.fill_(element(value, self._dtype, 3, None))
            else:
                _assign(self, target, value)
        elif is_long_storage(key):
            number = element(value, self._dtype, 3, None)  # Torch7 looks at the value first
            _element(core, key).fill_(number)
        elif kind is CLASSES[st.uint8]:
            _assign_masked(self, key._tensor, value)
        else:
            raise _not_an_index(self, key)


def _not_an_index(self: Any, key: Any, is_entry: bool = False) -> TorchError:
    """The error about a key, or an entry of a table, that is none of the kinds of Torch7."""
    if isinstance(key, slice):
        written = "x[…, [first, last], …]" if is_entry else "x[[[first, last]]]"
        hint = f"write {written}, both included, in place of a slice"
    elif isinstance(key, (set, frozenset)):
        hint = "write a list in place of a set, which has no order"
    elif isinstance(key, Brackets):
        hint = "x.index(dim, indices) copies chosen slices; a mask is a ByteTensor"
    else:
        hint = f"got {type(key).__name__}"
    return refuse(f"the class {self._typename} cannot be indexed", hint, TorchTypeError)


def _slice(self: Any, key: Any) -> Any:
    """The slice or the number at an index of the first dim."""
    core = self._tensor
    place = position(key, 2, None)
    extent = len(core)
    if not extent:
        raise bad_argument(1, None, "empty tensor")
    place = wrap_index(place, extent)
    if not 0 <= place < extent:
        raise out_of_range(2, None, key)
    return core.item(place) if core.dim() == 1 else self._with(core.select(0, place))


def _element(core: st.Tensor, key: Any) -> st.Tensor:
    """The element at the position that a `LongStorage` names."""
    indices: list[int] = key._storage.tolist()
    if len(indices) != ndim(core):
        raise bad_argument(2, None, "invalid size", TorchValueError)
    for index in indices:
        place = position(index, 2, None)
        extent = core.size(0)
        place = wrap_index(place, extent)
        if not 0 <= place < extent:
            raise out_of_range(2, None, index, "index out of bound")
        core = core.select(0, place)
    return core


# Tables


def _walk(core: st.Tensor, key: Any, self: Any) -> tuple[st.Tensor, bool]:
    """The view that a table of indices and ranges describes, and whether it is one element."""
    given = key if type(key) is list else entries(key)
    if len(given) > ndim(core):
        raise bad_argument(2, None, "too many indices provided", TorchValueError)
    d = 0
    for entry in given:
        kind = type(entry)
        if kind is int or (kind is not list and is_number(entry)):
            core = core.select(d, table_place(entry, core.size(d), "index out of bound"))
        elif kind is list or is_table(entry):
            if entry:
                core = _range(core, d, entry if kind is list else entries(entry))
            d += 1
        elif entry is None or current().lua:
            break
        else:
            raise _not_an_index(self, entry, is_entry=True)
    return core, core.dim() == 0


def _range(core: st.Tensor, d: int, bounds: Sequence[Any]) -> st.Tensor:
    """A range `[first, last]`; `[first]` is one index, `[]` are all."""
    extent = core.size(d)
    start, stop = 0, extent - 1
    if bounds and (type(bounds[0]) is int or is_number(bounds[0])):
        start = stop = table_place(bounds[0], extent, "start index out of bound")
    if len(bounds) > 1 and (type(bounds[1]) is int or is_number(bounds[1])):
        stop = table_place(bounds[1], extent, "end index out of bound")
    if stop < start:
        raise bad_argument(2, None, "end index must be greater or equal to start index", TorchValueError)
    return core.narrow(d, start, stop - start + 1)


# Assignment


def _assign_slice(self: Any, key: Any, value: Any) -> None:
    core: st.Tensor = self._tensor
    place = position(key, 2, None)
    if not ndim(core):
        raise bad_argument(1, None, "empty tensor")
    extent = core.size(0)
    place = wrap_index(place, extent)
    single = core.dim() == 1 and is_number(value)
    if not (is_number(value) or isinstance(value, Brackets)):
        raise type_error(value, 3, None, "torch.*Tensor")
    if not 0 <= place < extent:
        raise out_of_range(2 if single else 3, None, key)
    _assign(self, core.select(0, place) if single else core.narrow(0, place, 1), value)


def _assign(self: Any, target: st.Tensor, value: Any) -> None:
    """Fills a region with a number, or copies a tensor into it."""
    if type(value) is int or type(value) is float:
        fill(target, as_element(value, self._dtype))
    elif isinstance(value, Brackets):
        copy_into(target, value._tensor)
    elif is_number(value):
        fill(target, as_element(number_of(value), self._dtype))
    else:
        raise type_error(value, 3, None, "torch.*Tensor")


def _assign_masked(self: Any, mask: st.Tensor, value: Any) -> None:
    if is_number(value):
        masked_fill(self._tensor, mask, number_of(value))
    elif type(value) is type(self):
        masked_copy(self._tensor, mask, value._tensor)
    else:
        raise TorchTypeError(f"number or {self._typename} expected")
