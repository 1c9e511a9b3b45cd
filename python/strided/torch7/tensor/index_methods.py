"""Elements and slices by their indices or a mask: `index`, `indexCopy`, `maskedSelect` and their relatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import strided as st
from strided._dialect import overlap
from strided.torch7.calls.arguments import counted, position, same_type, tensor_of, zero_based
from strided.torch7.calls.elements import as_element, element
from strided.torch7.errors import (
    TorchError,
    TorchIndexError,
    TorchTypeError,
    TorchValueError,
    bad_argument,
    out_of_range,
)
from strided.torch7.tensor.base import TensorMethods
from strided.torch7.tensor.copying import copy_into, fill
from strided.torch7.tensor.geometry import different_counts, ndim, resize_to


class IndexMethods(TensorMethods):
    """Methods that read or write some of the elements. What they return is what Torch7 returns."""

    __slots__ = ()

    def index(self, *args: Any) -> Any:
        """Copies of the slices of a dim that a `LongTensor` chooses: `x.index(dim, indices)`.

        `result.index(x, dim, indices)` stores them in `result`, which is resized, and returns the indices.

        >>> from strided import torch7 as torch
        >>> torch.IntTensor([[1, 2], [3, 4]]).index(1, torch.LongTensor([2, 1])).totable()
        [[3, 4], [1, 2]]
        """
        if len(args) not in (2, 3):
            name = self._typename
            raise TorchTypeError(
                f"{name}, number, torch.LongTensor | {name}, {name}, number, torch.LongTensor expected"
            )
        given = len(args) == 3
        source = same_type(self, args[0], 2, "index") if given else self._tensor
        d = position(args[-2], 2 + given, "index")
        indices = tensor_of(st.int64, args[-1], 3 + given, "index")
        _check_vector(indices, "index")
        _check_dim(d, ndim(source), "index")
        try:
            chosen = source.index_select(d, zero_based(indices))
        except IndexError:
            raise _selecting_error(source, d, "index") from None
        if not given:
            return self._with(chosen)
        resize_to(self, chosen.shape)
        copy_into(self._tensor, chosen)
        return args[-1]

    def indexCopy(self, *args: Any) -> Any:
        """Writes the slices of a tensor to the indices of a dim that a `LongTensor` chooses. Returns that tensor.

        >>> from strided import torch7 as torch
        >>> x = torch.IntTensor([1, 2, 3])
        >>> _ = x.indexCopy(1, torch.LongTensor([3, 1]), torch.IntTensor([7, 8]))
        >>> x.totable()
        [8, 2, 7]
        """
        d, places, source = self._slices("indexCopy", args)
        _write(
            self._tensor,
            "indexCopy",
            lambda x: x.index_copy_(d, places, source),
            lambda x: _by_slices(x, d, places, lambda y, i: copy_into(y, source.select(d, i))),
        )
        return args[2]

    def indexAdd(self, *args: Any) -> Any:
        """Adds the slices of a tensor to the indices of a dim that a `LongTensor` chooses. Returns that tensor.

        >>> from strided import torch7 as torch
        >>> x = torch.IntTensor([1, 2, 3])
        >>> _ = x.indexAdd(1, torch.LongTensor([1, 1]), torch.IntTensor([10, 20]))
        >>> x.totable()
        [31, 2, 3]
        """
        d, places, source = self._slices("indexAdd", args)
        _write(
            self._tensor,
            "indexAdd",
            lambda x: x.index_add_(d, places, source),
            lambda x: _by_slices(x, d, places, lambda y, i: overlap.each(st.Tensor.add_, y, source.select(d, i))),
        )
        return args[2]

    def _slices(self, name: str, args: tuple[Any, ...]) -> tuple[int, st.Tensor, st.Tensor]:
        """The dim, the indices as the core counts them, and the slices of `indexCopy` and `indexAdd`."""
        if len(args) != 3:
            raise TorchTypeError(f"{self._typename}, number, torch.LongTensor, {self._typename} expected")
        core = self._tensor
        d = position(args[0], 2, name)
        indices = tensor_of(st.int64, args[1], 3, name)
        source = same_type(self, args[2], 4, name)
        _check_vector(indices, name)
        _check_dim(d, ndim(source), name)
        if indices.numel() != source.size(d):
            raise bad_argument(4, name, "Number of indices should be equal to source:size(dim)", TorchValueError)
        rank = ndim(core)
        if rank > 1:
            if d >= rank:
                raise bad_argument(2, name, "out of range", TorchIndexError)
            if ndim(source) < 2:
                raise bad_argument(1, name, "cannot select on a vector", TorchValueError)
        elif ndim(source) != 1 or rank != 1:
            raise bad_argument(1, name, "tensor must have one dimension", TorchValueError)
        places = zero_based(indices)
        target, part = core.select(d, 0), source.select(d, 0)
        if target.numel() != part.numel():
            names = ("tensor", "src") if name == "indexCopy" else ("r_", "t", "src")
            raise different_counts(names, (target, part) if name == "indexCopy" else (target, target, part))
        if target.shape != part.shape:
            source = source.movedim(d, 0).reshape(source.size(d), *target.shape).movedim(0, d)
        return d, places, source

    def indexFill(self, *args: Any) -> Any:
        """Sets the slices of a dim that a `LongTensor` chooses to a number. Returns the number.

        >>> from strided import torch7 as torch
        >>> x = torch.IntTensor([1, 2, 3])
        >>> x.indexFill(1, torch.LongTensor([3, 1]), 7), x.totable()
        (7, [7, 2, 7])
        """
        if len(args) != 3:
            raise TorchTypeError(f"{self._typename}, number, torch.LongTensor, number expected")
        core = self._tensor
        d = position(args[0], 2, "indexFill")
        indices = tensor_of(st.int64, args[1], 3, "indexFill")
        value = element(args[2], self._dtype, 4, "indexFill")
        _check_vector(indices, "indexFill")
        _check_dim(d, ndim(core), "indexFill")
        places = zero_based(indices)
        _write(
            core,
            "indexFill",
            lambda x: x.index_fill_(d, places, value),
            lambda x: _by_slices(x, d, places, lambda y, _: fill(y, value)),
        )
        return args[2]

    def maskedSelect(self, *args: Any) -> Any:
        """The elements where a `ByteTensor` of zeros and ones is 1, in one dim: `x.maskedSelect(mask)`.

        `result.maskedSelect(x, mask)` stores them in `result`, which is resized, and returns the mask.

        >>> from strided import torch7 as torch
        >>> torch.IntTensor([1, 2, 3]).maskedSelect(torch.ByteTensor([1, 0, 1])).totable()
        [1, 3]
        """
        if len(args) not in (1, 2):
            name = self._typename
            raise TorchTypeError(f"{name}, torch.ByteTensor | {name}, {name}, torch.ByteTensor expected")
        given = len(args) == 2
        source = same_type(self, args[0], 2, "maskedSelect") if given else self._tensor
        mask = tensor_of(st.uint8, args[-1], 2 + given, "maskedSelect")
        chosen = masked_select(source, mask)
        if not given:
            return self._with(chosen)
        resize_to(self, chosen.shape)
        copy_into(self._tensor, chosen)
        return args[-1]

    def maskedCopy(self, *args: Any) -> Self:
        """Writes the elements of a tensor, one after the other, where a `ByteTensor` is 1. Returns the tensor itself.

        >>> from strided import torch7 as torch
        >>> torch.IntTensor([1, 2, 3]).maskedCopy(torch.ByteTensor([1, 0, 1]), torch.IntTensor([7, 8])).totable()
        [7, 2, 8]
        """
        if len(args) != 2:
            raise TorchTypeError(f"{self._typename}, torch.ByteTensor, {self._typename} expected")
        mask = tensor_of(st.uint8, args[0], 2, "maskedCopy")
        masked_copy(self._tensor, mask, same_type(self, args[1], 3, "maskedCopy"))
        return self

    def maskedFill(self, *args: Any) -> Any:
        """Sets the elements where a `ByteTensor` is 1 to a number. Returns the number.

        >>> from strided import torch7 as torch
        >>> x = torch.IntTensor([1, 2, 3])
        >>> x.maskedFill(torch.ByteTensor([1, 0, 1]), 7), x.totable()
        (7, [7, 2, 7])
        """
        if len(args) != 2:
            raise TorchTypeError(f"{self._typename}, torch.ByteTensor, number expected")
        mask = tensor_of(st.uint8, args[0], 2, "maskedFill")
        masked_fill(self._tensor, mask, element(args[1], self._dtype, 3, "maskedFill"))
        return args[1]


# Indices


def _check_vector(indices: st.Tensor, name: str) -> None:
    if ndim(indices) != 1:
        raise bad_argument(3, name, "Index is supposed to be a vector", TorchValueError)


def _check_dim(d: int, rank: int, name: str) -> None:
    if d < 0 and name != "index":  # Torch7 checks the other end only, and fails later
        if name == "indexFill":
            raise out_of_range(2, name, counted(d))
        raise bad_argument(4, name, "Number of indices should be equal to source:size(dim)", TorchIndexError)
    if not 0 <= d < rank:
        raise bad_argument(4, name, f"Indexing dim {counted(d)} is out of bounds of tensor", TorchIndexError)


def _selecting_error(source: st.Tensor, d: int, name: str) -> TorchError:
    """The error of `index` for an index out of range: its text depends on the path that Torch7 takes."""
    if d == 0 and source.is_contiguous():
        return TorchIndexError("index out of range")
    return _slice_error(source, name)


def _slice_error(core: st.Tensor, name: str) -> TorchError:
    return bad_argument(3 if ndim(core) > 1 else 2, name, "out of range", TorchIndexError)


def _write(core: st.Tensor, name: str, at_once: Callable[..., Any], by_slices: Callable[..., Any]) -> None:
    """Writes slices: all at once, or one after the other if the tensor overlaps itself."""
    try:
        (at_once if core.layout.is_injective else by_slices)(core)
    except IndexError:
        raise _slice_error(core, name) from None


def _by_slices(core: st.Tensor, d: int, places: st.Tensor, write: Callable[[st.Tensor, int], None]) -> None:
    """Writes one slice after the other. `write` gets a slice and the number of its index."""
    core.index_select(d, places)  # nothing is written if an index is out of range
    for i, place in enumerate(places.tolist()):
        write(core.select(d, place), i)


# Masks


def _as_bool(mask: st.Tensor) -> st.Tensor:
    if mask.numel() and int(mask.amax().item()) > 1:
        raise TorchValueError("Mask tensor can take 0 and 1 values only")
    return mask.to(st.bool)


def masked_select(source: st.Tensor, mask: st.Tensor) -> st.Tensor:
    """The elements under the ones of a mask."""
    if source.numel() != mask.numel():
        raise different_counts(("src", "mask"), (source, mask))
    return source.masked_select(_as_bool(mask).reshape(source.shape))


def masked_fill(target: st.Tensor, mask: st.Tensor, value: float) -> None:
    """Sets the elements under the ones of a mask."""
    if target.numel() != mask.numel():
        raise different_counts(("tensor", "mask"), (target, mask))
    ones = _as_bool(mask).reshape(target.shape)
    plain = as_element(value, target.dtype)
    try:
        target.masked_fill_(ones, plain)
    except st.ShapeError:
        overlap.each(lambda element, one: one and element.fill_(plain), target, ones)


def masked_copy(target: st.Tensor, mask: st.Tensor, source: st.Tensor) -> None:
    """Writes successive elements of a tensor under the ones of a mask."""
    if target.numel() != mask.numel():
        raise TorchValueError("Number of elements of destination tensor != Number of elements in mask")
    ones = _as_bool(mask).reshape(target.shape)
    if source.numel() < int(ones.count_nonzero().item()):
        raise TorchValueError("Number of elements of src < number of ones in mask")
    if not target.numel():
        return
    try:
        target.masked_scatter_(ones, source)
    except st.ShapeError:
        values = iter(source.reshape(-1))
        overlap.each(lambda element, one: one and element.copy_(next(values)), target, ones)
