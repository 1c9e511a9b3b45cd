"""Views: other tensors on the same storage."""

from __future__ import annotations

import math
from typing import Any, Self

import strided as st
from strided._dialect.lua import MISSING, lua_type
from strided.torch7.calls.arguments import (
    counted,
    integer,
    is_long_storage,
    is_number,
    need_method,
    number_of,
    position,
    refuse,
    torch_type,
    without_nils,
    wrap_index,
)
from strided.torch7.calls.elements import long_element
from strided.torch7.errors import TorchError, TorchTypeError, TorchValueError, bad_argument, out_of_range
from strided.torch7.session import current
from strided.torch7.tensor.base import TensorMethods
from strided.torch7.tensor.geometry import complete, empty_on, has_storage, ndim, over_storage, shape_of


class Views(TensorMethods):
    """Methods that return a view of the tensor."""

    __slots__ = ()

    def narrow(self, dim: int = MISSING, index: int = MISSING, size: int = MISSING) -> Self:
        """A view of `size` indices of a dim, the first of which is `index`.

        >>> from strided import torch7 as torch
        >>> x = torch.IntTensor(5).zero()
        >>> _ = x.narrow(1, 2, 3).fill(1)
        >>> x.totable()
        [0, 1, 1, 1, 0]
        """
        d, first, length = position(dim, 2, "narrow"), position(index, 3, "narrow"), integer(size, 4, "narrow")
        core = self._tensor
        if not 0 <= d < ndim(core):
            raise out_of_range(2, "narrow", dim)
        extent = core.size(d)
        if not 0 <= first < extent:
            raise out_of_range(3, "narrow", index)
        if not 0 < length <= extent - first:
            raise bad_argument(4, "narrow", "out of range", TorchValueError)
        return self._with(core.narrow(d, first, length))

    def select(self, dim: int = MISSING, index: int = MISSING) -> Any:
        """A view of one index of a dim, without that dim. For a tensor of one dim, the number at the index.

        >>> from strided import torch7 as torch
        >>> torch.IntTensor([[1, 2], [3, 4]]).select(2, 1).totable()
        [1, 3]
        """
        d, place = position(dim, 2, "select"), position(index, 3, "select")
        core = self._tensor
        rank = ndim(core)
        if rank > 1:
            if not 0 <= d < rank:
                raise out_of_range(2, "select", dim)
            if not 0 <= place < core.size(d):
                raise out_of_range(3, "select", index)
            return self._with(core.select(d, place))
        if rank == 0:
            raise bad_argument(1, "select", "empty Tensor")
        if not 0 <= place < core.numel():
            raise out_of_range(2, "select", index)  # Torch7 names this argument
        return core.item(place)

    def sub(self, *ranges: int) -> Self:
        """A view of a range of each of the first dims: `sub(first1, last1, first2, last2, …)`, both ends included.

        Negative numbers count from the end: -1 is the last index.

        >>> from strided import torch7 as torch
        >>> torch.IntTensor([[1, 2, 3], [4, 5, 6]]).sub(2, 2, -2, -1).totable()
        [[5, 6]]
        """
        core = self._tensor
        rank = ndim(core)
        bounds = []
        given = ranges if len(ranges) >= 2 else ranges + (MISSING,) * (2 - len(ranges))
        for d in range((len(given) + 1) // 2):
            argument = 2 * d + 2
            last = given[2 * d + 1] if 2 * d + 1 < len(given) else MISSING
            start, stop = position(given[2 * d], argument, "sub"), position(last, argument + 1, "sub")
            if d >= rank:
                raise bad_argument(argument, "sub", "invalid dimension", TorchValueError)
            extent = core.size(d)
            start, stop = wrap_index(start, extent), wrap_index(stop, extent)
            if not 0 <= start < extent:
                raise out_of_range(argument, "sub", given[2 * d])
            if not 0 <= stop < extent:
                raise out_of_range(argument + 1, "sub", last)
            if stop < start:
                raise bad_argument(argument + 1, "sub", "end smaller than beginning", TorchValueError)
            bounds.append((d, start, stop - start + 1))
        for d, start, length in bounds:
            core = core.narrow(d, start, length)
        return self._with(core)

    def transpose(self, dim1: int = MISSING, dim2: int = MISSING) -> Self:
        """A view with two dims exchanged.

        >>> from strided import torch7 as torch
        >>> torch.Tensor(2, 3, 4).transpose(1, 3).size().totable()
        [4, 3, 2]
        """
        first, second = position(dim1, 2, "transpose"), position(dim2, 3, "transpose")
        core = self._tensor
        rank = ndim(core)
        if not 0 <= first < rank:
            raise out_of_range(1, "transpose", dim1)  # Torch7 counts these from the first dim
        if not 0 <= second < rank:
            raise out_of_range(2, "transpose", dim2)
        return self._with(core.transpose(first, second))

    def t(self) -> Self:
        """A view of a matrix with its dims exchanged.

        >>> from strided import torch7 as torch
        >>> torch.IntTensor([[1, 2], [3, 4]]).t().totable()
        [[1, 3], [2, 4]]
        """
        core = self._tensor
        if ndim(core) != 2:
            raise bad_argument(1, "t", "Tensor must have 2 dimensions", TorchValueError)
        return self._with(core.transpose(0, 1))

    def permute(self, *dims: int) -> Self:
        """A view with the dims in another order; every dim is named once.

        >>> from strided import torch7 as torch
        >>> torch.Tensor(2, 3, 4).permute(2, 3, 1).size().totable()
        [3, 4, 2]
        """
        core = self._tensor
        rank = ndim(core)
        if len(without_nils(dims)) != rank:
            raise TorchValueError("Invalid permutation")
        if set(map(type, dims)) != {int}:
            wrong = next((dim for dim in dims if not isinstance(dim, (int, float))), None)
            if wrong is not None:
                raise TorchTypeError(f"attempt to compare number with {lua_type(wrong)}")
        order = [position(dim, i + 2, "permute") for i, dim in enumerate(dims[:rank])]
        places = list(range(rank))
        if sorted(order) != places:
            raise TorchValueError("Invalid permutation")
        return self if order == places else self._with(core.permute(order))

    def unfold(self, dim: int = MISSING, size: int = MISSING, step: int = MISSING) -> Self:
        """A view of all windows of `size` indices of a dim, `step` apart. The new last dim runs through a window.

        >>> from strided import torch7 as torch
        >>> torch.range(1, 4).unfold(1, 2, 1).totable()
        [[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]]
        """
        d, length, distance = position(dim, 2, "unfold"), integer(size, 3, "unfold"), integer(step, 4, "unfold")
        core = self._tensor
        rank = ndim(core)
        if not rank:
            raise bad_argument(1, "unfold", "cannot unfold an empty tensor")
        if not 0 <= d < rank:
            raise out_of_range(2, "unfold", dim)
        if not 0 < length <= core.size(d):
            raise bad_argument(3, "unfold", "out of range", TorchValueError)
        if distance <= 0:
            raise bad_argument(4, "unfold", "invalid step", TorchValueError)
        return self._with(core.unfold(d, length, distance))

    def view(self, *args: Any) -> Self:
        """A view with other sizes, of a contiguous tensor: numbers or a `LongStorage`; a size of -1 is inferred.

        With a tensor before the sizes, `result.view(x, …)`, the result becomes the view of `x`.

        >>> from strided import torch7 as torch
        >>> torch.range(1, 4).view(2, -1).totable()
        [[1.0, 2.0], [3.0, 4.0]]
        """
        core = self._tensor
        if args and type(args[0]) is int and core.is_contiguous() and (args[0] > 0 or core.numel()):
            try:
                return self._with(core.view(*args))
            except (ValueError, TypeError):
                pass  # the reason follows
        result, source, sizes = self._result_and_sizes(args)
        core = source._tensor
        sizes = _specified(sizes, core.numel())
        if not core.is_contiguous():
            raise TorchValueError("expecting a contiguous tensor")
        shape, strides = complete(sizes, None)
        _need_storage(source, result)
        if (math.prod(shape) if shape else 0) != core.numel():
            given, wanted = ("x".join(map(str, list_)) for list_ in (shape_of(core), sizes))
            raise TorchValueError(f"Wrong size for view. Input size: {given}. Output size: {wanted}")
        return self._set(result, source, core.as_strided(shape, strides) if shape else core)

    def _result_and_sizes(self, args: tuple[Any, ...]) -> tuple[Any, Any, list[int]]:
        """The result, or None for a new one; the tensor; and the sizes, which follow it."""
        given = isinstance(args[0], Views) if args else False
        sizes = without_nils(args[1:] if given else args)
        if sizes and is_long_storage(sizes[0]) and (given or len(sizes) == 1):
            found: list[int] = sizes[0]._storage.tolist()
        elif sizes and is_number(sizes[0]) and not isinstance(sizes[0], str):
            wrong = next((i for i, size in enumerate(sizes) if not is_number(size)), None)
            if wrong is not None:
                raise refuse(f"element at index {counted(wrong)} is not a number", kind=TorchTypeError)
            found = [integer(size, i + 2 + given, "view") for i, size in enumerate(sizes)]
        else:
            raise TorchTypeError(VIEW_FORMS)
        return (self, args[0], found) if given else (None, self, found)

    def viewAs(self, *args: Any) -> Self:
        """A view with the sizes of another tensor: `x.viewAs(template)` or `result.viewAs(x, template)`.

        >>> from strided import torch7 as torch
        >>> torch.range(1, 4).viewAs(torch.Tensor(2, 2)).totable()
        [[1.0, 2.0], [3.0, 4.0]]
        """
        if len(args) >= 2 and args[1] is not None:
            if not isinstance(args[1], Views):
                text = "expecting (torch.Tensor, torch.Tensor, torch.LongStorage) or (torch.Tensor, torch.LongStorage)"
                raise TorchTypeError(text)
            return self.view(args[0], args[1].size())  # type: ignore[attr-defined]
        template: Any = args[0] if args else None
        need_method(template, "size", "template")
        return self.view(*_sizes_as_arguments(template))

    def expand(self, *args: Any) -> Self:
        """A view in which dims of size 1 get any size, by a stride of 0. No memory is used.

        With a tensor before the sizes, `result.expand(x, …)`, the result becomes the view of `x`.

        >>> from strided import torch7 as torch
        >>> torch.IntTensor([[1], [2]]).expand(2, 3).totable()
        [[1, 1, 1], [2, 2, 2]]
        """
        result, source, sizes = self._operands(args, "expand")
        core = source._tensor
        if len(sizes) != ndim(core):
            raise TorchValueError("the number of dimensions provided must equal tensor:dim()")
        strides = list(core.stride())
        for d, size in enumerate(sizes):
            if core.size(d) == 1:
                strides[d] = 0
            elif core.size(d) != size:
                raise TorchValueError("incorrect size: only supporting singleton expansion (size=1)")
        _need_storage(source, result)
        if not sizes:
            return self._set(result, source, core)
        if min(sizes) > 0:
            return self._set(result, source, core.as_strided(sizes, strides))
        shape, kept = complete(sizes, strides)
        return self._set(result, source, over_storage(core.storage(), core.storage_offset(), shape, kept))

    def _set(self, result: Any, source: Any, view: st.Tensor) -> Self:
        """The view as a new tensor, or as the new content of `result`."""
        if result is None:
            return self._with(view)
        if type(result) is not type(source):
            raise set_error(result)
        core = source._tensor
        result._tensor = (
            view if view.numel() or not has_storage(core) else empty_on(core.storage(), core.storage_offset())
        )
        found: Self = result
        return found

    def expandAs(self, *args: Any) -> Self:
        """`expand` to the sizes of another tensor: `x.expandAs(template)` or `result.expandAs(x, template)`.

        >>> from strided import torch7 as torch
        >>> torch.IntTensor([[1], [2]]).expandAs(torch.Tensor(2, 3)).size().totable()
        [2, 3]
        """
        given = len(args) >= 2 and args[1] is not None
        template: Any = args[1] if given else args[0] if args else None
        need_method(template, "size", "template" if given else "tensor")
        sizes = _sizes_as_arguments(template)
        return self.expand(args[0], *sizes) if given else self.expand(*sizes)

    def _operands(self, args: tuple[Any, ...], name: str) -> tuple[Any, Any, list[int]]:
        """The result, or None for a new one; the tensor; and sizes as numbers or as a `LongStorage`."""
        if args and set(map(type, args)) == {int}:
            return None, self, list(args)
        first = args[0] if args else None
        given = isinstance(first, str) or not (is_number(first) or is_long_storage(first))
        if given:
            need_method(first, "isContiguous" if name == "repeatTensor" else "dim", "tensor")
        sizes = without_nils(args[1:] if given else args)
        if sizes and is_long_storage(sizes[0]):
            found: list[int] = sizes[0]._storage.tolist()
        else:
            found = [long_element(size, 3, None) for size in sizes]  # Torch7 writes them into a LongStorage
        return (self, first, found) if given else (None, self, found)

    def split(self, size: int = MISSING, dim: int = 1) -> list[Any]:
        """Views of `size` indices of a dim, in a list; the last one may be smaller.

        >>> from strided import torch7 as torch
        >>> [part.totable() for part in torch.IntTensor([1, 2, 3]).split(2)]
        [[1, 2], [3]]
        """
        return _split([], self, size, dim)

    def chunk(self, n: int = MISSING, dim: int = 1) -> list[Any]:
        """At most `n` views along a dim, in a list: all of one size, the last one may be smaller.

        >>> from strided import torch7 as torch
        >>> [part.totable() for part in torch.IntTensor([1, 2, 3]).chunk(2)]
        [[1, 2], [3]]
        """
        return _chunk([], self, n, dim)


VIEW_FORMS = (
    "torch.view, expected (torch.Tensor, torch.Tensor, number [, number ]*) or\n"
    " (torch.Tensor, torch.Tensor, torch.LongStorage) or\n"
    " (torch.Tensor, torch.LongStorage)\n"
    " or (torch.Tensor, number [, number ]*)"
)


def _sizes_as_arguments(template: Any) -> tuple[Any, ...]:
    """The sizes of a tensor as numbers, or as a `LongStorage` if it has none or is not a tensor."""
    return (isinstance(template, Views) and shape_of(template._tensor)) or (template.size(),)


def _specified(sizes: list[int], count: int) -> list[int]:
    """Sizes with the one that is -1 computed from the number of elements."""
    if sizes.count(-1) > 1:
        raise TorchValueError("Only one of torch.view dimensions can be -1.")
    if -1 not in sizes:
        return sizes
    covered = -math.prod(sizes)
    if covered == 0 or count % covered:
        raise TorchValueError("The number of covered elements is not a multiple of all elements.")
    return [count // covered if size == -1 else size for size in sizes]


def _need_storage(source: Any, result: Any) -> None:
    """Raises the error of `set` about a tensor that has no storage."""
    if not has_storage(source._tensor):
        raise set_error(source if result is None else result)


def set_error(x: Any) -> TorchError:
    """The error of `set` about an argument that is nothing to view."""
    text = f"expecting number or {x._typename} or {x._typename.replace('Tensor', 'Storage')}"
    return bad_argument(2, "set", text, TorchTypeError)


def _split(result: list[Any], tensor: Any, size: Any, dim: Any) -> list[Any]:
    """Fills a list with views of `size` indices along a dim."""
    extent = _extent(tensor, dim, "attempt to compare number with userdata")
    if not is_number(size):
        got = lua_type(None if size is MISSING else size)
        raise refuse(f"bad argument #1 to 'min' (number expected, got {got})", "split needs a size", TorchTypeError)
    length = number_of(size)
    if not isinstance(length, int) and not current().lua and length != math.inf:
        integer(size, 2, "split")
    result.clear()
    start: int | float = 0
    while start < extent:
        part = min(length, extent - start)
        result.append(tensor.narrow(dim, counted(int(start)), int(part)))
        start += part
    return result


def _extent(tensor: Any, dim: Any, problem: str) -> int:
    """The size of a dim. Torch7 computes with the sizes of all dims if the dim is no number, and fails."""
    extent = tensor.size(dim)
    if not isinstance(extent, int):
        raise refuse(problem, "the dim is a number", TorchTypeError)
    return extent


def _chunk(result: list[Any], tensor: Any, n: Any, dim: Any) -> list[Any]:
    extent = _extent(tensor, dim, f"both torch.LongStorage and {torch_type(n) or '(null)'} have no division operator")
    if not is_number(n):
        got = lua_type(None if n is MISSING else n)
        raise refuse(f"attempt to perform arithmetic on local 'nChunk' (a {got} value)", "", TorchTypeError)
    parts = number_of(n)
    return _split(result, tensor, math.ceil(extent / parts) if parts else math.inf, dim)


def split(*args: Any) -> list[Any]:
    """Views of `size` indices of a dim, in a list: `split([result,] tensor, size [, dim])`.

    >>> from strided import torch7 as torch
    >>> [part.totable() for part in torch.split(torch.IntTensor([1, 2, 3]), 2)]
    [[1, 2], [3]]
    """
    result, (tensor, size, dim) = _parts_of(args)
    return _split(result, tensor, size, dim)


def chunk(*args: Any) -> list[Any]:
    """At most `n` views along a dim, in a list: `chunk([result,] tensor, n [, dim])`.

    >>> from strided import torch7 as torch
    >>> [part.totable() for part in torch.chunk(torch.IntTensor([1, 2, 3]), 2)]
    [[1, 2], [3]]
    """
    result, (tensor, n, dim) = _parts_of(args)
    return _chunk(result, tensor, n, dim)


def _parts_of(args: tuple[Any, ...]) -> tuple[list[Any], tuple[Any, Any, Any]]:
    """The list to fill, and the tensor, number and dim after it."""
    result, rest = (args[0], args[1:]) if args and isinstance(args[0], list) else ([], args)
    tensor, argument, dim = (*rest, MISSING, MISSING, MISSING)[:3]
    need_method(tensor, "size", "tensor")
    return result, (tensor, argument, 1 if dim is MISSING or dim is None else dim)
