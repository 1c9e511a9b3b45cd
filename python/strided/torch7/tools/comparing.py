"""Equality within a tolerance, for `Tester`: of numbers, tensors, storages and tables, with a message if they differ."""

from __future__ import annotations

from collections import deque
from typing import Any

import strided as st
from strided._dialect.lua import lua_type
from strided.torch7.calls.arguments import torch_type
from strided.torch7.tensor.classes import Tensor
from strided.torch7.tensor.storage import Storage
from strided.torch7.tools.luatext import text_of

#: Whether the values are as wanted, and the message if they are not.
Outcome = tuple[bool, str]


def compare(got: Any, expected: Any, tolerance: float, negate: bool) -> Outcome:
    """Compares any two values. With `negate`, they must differ."""
    kinds = lua_type(got), lua_type(expected)
    if kinds[0] != kinds[1]:
        text = f"EQ failed: values have different types (first: {kinds[0]}, second: {kinds[1]})"
        return negate, "" if negate else text
    if kinds[0] == "number":
        return _compare_numbers(got, expected, tolerance, negate)
    if kinds[1] == "table":
        return _compare_tables(got, expected, tolerance, negate)
    if isinstance(got, Tensor) and isinstance(expected, Tensor):
        return compare_tensors(got, expected, tolerance, negate)
    if isinstance(got, Storage) and isinstance(expected, Storage):
        return _compare_storages(got, expected, tolerance, negate)
    return _verdict(bool(got == expected), negate, f"{text_of(got)} ({kinds[0]})", f"{text_of(expected)} ({kinds[1]})")


def _verdict(equal: bool, negate: bool, got: str, expected: str, suffix: str = "") -> Outcome:
    if equal != negate:
        return True, ""
    return False, (f"NE failed: {got} == {expected}" if negate else f"EQ failed: {got} ~= {expected}") + suffix


def _compare_numbers(got: float, expected: float, tolerance: float, negate: bool) -> Outcome:
    suffix = f" with tolerance={text_of(tolerance)}" if tolerance > 0 else ""
    return _verdict(abs(got - expected) <= tolerance, negate, text_of(got), text_of(expected), suffix)


def compare_tensors(a: Tensor, b: Tensor, tolerance: float, negate: bool, ignore_dims: bool = False) -> Outcome:
    """Compares tensors by the largest difference of their elements. Sizes must agree, or only counts."""
    x, y = a._tensor, b._tensor
    if not ignore_dims and (x.ndim if x.numel() else 0) != (y.ndim if y.numel() else 0):
        return negate, "The tensors have different dimensions"
    if x.dtype != y.dtype:
        return negate, "The tensors have different types"
    if not x.numel() and not y.numel():
        return not negate, "Both tensors are empty"
    if x.numel() != y.numel() or (not ignore_dims and x.shape != y.shape):
        return negate, "The tensors have different sizes"
    return _largest_difference(x, y.reshape(x.shape), tolerance, negate, "Tensor")


def _compare_storages(a: Storage, b: Storage, tolerance: float, negate: bool) -> Outcome:
    x, y = a._storage, b._storage
    if x.size() != y.size():
        return negate, "The storages have different sizes"
    if torch_type(a) != torch_type(b):
        return negate, "The storages have different types"
    whole = [st.as_strided(storage, (storage.size(),), (1,)) for storage in (x, y)]
    return _largest_difference(whole[0], whole[1], tolerance, negate, "Storage")


def _largest_difference(x: st.Tensor, y: st.Tensor, tolerance: float, negate: bool, what: str) -> Outcome:
    if x.dtype in (st.uint8, st.int8, st.int16):
        x, y = x.to(st.float64), y.to(st.float64)
    error = x.sub(y).abs_().max().item()
    if (error <= tolerance) != negate:
        return True, ""
    violation = f"{what}{'NE' if negate else 'EQ'}(==) violation"
    return False, f"{violation}: max diff={text_of(error)}, tolerance={text_of(tolerance)}"


def table_of(table: Any) -> dict[Any, Any]:
    """A list or a dict as the keys and values of a Lua table."""
    pairs = table.items() if isinstance(table, dict) else enumerate(table, 1)
    return {key: value for key, value in pairs if value is not None}


def _compare_tables(first: Any, second: Any, tolerance: float, negate: bool) -> Outcome:
    """Compares tables level by level, so that the difference that is reported is not deeper than it must be."""
    waiting: deque[tuple[Any, Any, str]] = deque([(first, second, "")])
    while waiting:
        left, right, place = waiting.popleft()
        ours, theirs = table_of(left), table_of(right)
        for key, value in ours.items():
            name = f"{place}.{text_of(key)}" if place else text_of(key)
            if key not in theirs:
                return negate, f"Entry {name} missing in second table (is {text_of(value)} in first)"
            if lua_type(value) == "table" and lua_type(theirs[key]) == "table":
                waiting.append((value, theirs[key], name))
                continue
            equal, message = compare(value, theirs[key], tolerance, False)
            if not equal:
                return negate, f"At table location {name}: {message}"
        for key, value in theirs.items():
            if key not in ours:
                name = f"{place}.{text_of(key)}" if place else text_of(key)
                return negate, f"Entry {name} missing in first table (is {text_of(value)} in second)"
    return not negate, "The tables are equal"
