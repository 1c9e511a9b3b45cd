"""`apply`, `map` and `map2`: Python functions of elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import strided as st
from strided._dialect import overlap
from strided._dialect.lua import MISSING, lua_type
from strided.torch7.calls.arguments import callable_of, is_number, number_of, refuse, torch_type
from strided.torch7.calls.elements import as_element
from strided.torch7.errors import TorchError, TorchTypeError, TorchValueError
from strided.torch7.tensor.base import TensorMethods
from strided.torch7.tensor.geometry import different_counts
from strided.torch7.types import REAL_NAMES

#: dtype -> what LuaJIT calls the C type, in the error about a result that cannot be converted to it.
_C_NAMES = {**REAL_NAMES, st.int64: "int64_t", st.float16: "THHalf"}


class Callbacks(TensorMethods):
    """Methods that call a function for each element, in row-major order."""

    __slots__ = ()

    def apply(self, function: Callable[..., Any] = MISSING) -> Self:
        """Replaces each element by the result of a function of it; None leaves the element. Returns the tensor.

        >>> from strided import torch7 as torch
        >>> torch.IntTensor([1, 2, 3]).apply(lambda v: v * v if v > 1 else None).totable()
        [1, 4, 9]
        """
        core = self._tensor
        checked = _checker(_function(function, 2, "apply", core.is_contiguous()), core.dtype, core.is_contiguous())
        try:
            core.apply_(checked)
        except st.ShapeError:
            if core.layout.is_injective:
                raise
            overlap.each(lambda element: element.apply_(checked), core)
        return self

    def map(self, tensor: Any = MISSING, function: Callable[..., Any] = MISSING) -> Self:
        """Replaces each element by the result of a function of it and of the element of another tensor.

        The tensors have the same type and number of elements. Returns the tensor.

        >>> from strided import torch7 as torch
        >>> torch.IntTensor([1, 2]).map(torch.IntTensor([10, 20]), lambda a, b: a + b).totable()
        [11, 22]
        """
        self._map("map", function, (tensor,))
        return self

    def map2(self, tensor1: Any = MISSING, tensor2: Any = MISSING, function: Callable[..., Any] = MISSING) -> Self:
        """Replaces each element by the result of a function of it and of the elements of two other tensors.

        >>> from strided import torch7 as torch
        >>> x, y = torch.IntTensor([1, 2]), torch.IntTensor([10, 20])
        >>> x.map2(x, y, lambda a, b, c: a + b + c).totable()
        [12, 24]
        """
        self._map("map2", function, (tensor1, tensor2))
        return self

    def _map(self, name: str, function: Any, tensors: tuple[Any, ...]) -> None:
        core = self._tensor
        others = []
        for i, tensor in enumerate(tensors):  # Torch7 calls both functions 'map' here
            if not isinstance(tensor, Callbacks):
                raise TorchTypeError(f"bad argument #{i + 1} to 'map' (tensor expected)")
        for i, tensor in enumerate(tensors):
            if tensor._typename != self._typename:
                got = f"{self._typename} expected, got {tensor._typename}"
                raise TorchTypeError(f"bad argument #{i + 1} to 'map' ({got})")
            others.append(tensor._tensor)
        contiguous = all(other.is_contiguous() for other in (core, *others))
        if any(other.numel() != core.numel() for other in others):
            raise TorchValueError("size mismatch") if contiguous else _counts(core, others)
        checked = _checker(_function(function, len(tensors) + 2, name, contiguous), core.dtype, contiguous)
        method: Any = st.Tensor.map_ if len(others) == 1 else st.Tensor.map2_
        shaped = [other.reshape(core.shape) for other in others]
        if core.layout.is_injective:
            method(core, *shaped, checked)
        else:
            overlap.each(lambda *elements: method(*elements, checked), core, *(other.clone() for other in shaped))


def _function(function: Any, place: int, name: str, contiguous: bool) -> Any:
    """The function, or the error about something else: Lua finds it when it calls, C before."""
    if contiguous and (not callable(function) or torch_type(function)):
        kind = lua_type(None if function is MISSING else function)
        raise refuse(f"attempt to call local 'func' (a {kind} value)", "a function is needed", TorchTypeError)
    return callable_of(function, place, name)


def _counts(core: st.Tensor, others: list[st.Tensor]) -> TorchError:
    names = ("tensor", "src") if len(others) == 1 else ("tensor", "src1", "src2")
    return different_counts(names, (core, *others))


def _checker(function: Callable[..., Any], dtype: st.dtype, contiguous: bool) -> Callable[..., Any]:
    """A function whose result the core accepts. What else it may return depends on the layout, as in Torch7."""
    exact = float if dtype.is_floating_point else None

    def call(*values: Any) -> Any:
        result = function(*values)
        if result is None or type(result) is exact:
            return result
        if type(result) is int or type(result) is float:
            return as_element(result, dtype)
        return _other_result(result, dtype, contiguous)

    return call


def _other_result(result: Any, dtype: st.dtype, contiguous: bool) -> Any:
    if isinstance(result, tuple) and result:  # several results of a Lua function, of which the first one counts
        return _checker(lambda: result[0], dtype, contiguous)()
    if contiguous:
        if isinstance(result, bool):
            return as_element(1, dtype) if result else None
        if isinstance(result, str) or not is_number(result):
            kind = (torch_type(result) and "userdata") or lua_type(result)
            raise TorchTypeError(f"cannot convert '{kind}' to '{_C_NAMES[dtype]}'")
    elif not is_number(result):
        raise TorchTypeError("given function should return a number or nil")
    return as_element(number_of(result), dtype)
