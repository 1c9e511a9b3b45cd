"""New tensors: from sizes, from tables, from a range and from a file."""

from __future__ import annotations

import os

import strided as st
from strided._dialect.lua import BITS
from strided._strided import _accumulate_in_order

from ._errors import LabError, LabTypeError, LabValueError, Refusal
from ._reading import (
    as_table,
    is_number,
    is_userdata,
    named_part,
    read_count,
    read_elements,
    read_table,
    read_table_shape,
)
from ._types import without_shape
from .session import current

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


def create(dtype: st.dtype, args: tuple[Any, ...], named: Mapping[str, Any]) -> st.Tensor:
    """The tensor that a call of a class makes. Keywords stand for the named constructors of Lab's tables."""
    if named:
        table: Any = dict(named)
        args = (*args, table)
    elif args and (as_table(args[0]) is not None or is_userdata(args[0])):
        table = args[0]
    else:
        return from_sizes(dtype, args)
    if len(args) != 1:
        raise LabTypeError("[Tensor.Create] 'Must only pass one argument for table construction.")
    if is_userdata(table):
        raise LabTypeError("[Tensor.Create] Must supply only one named contructor.")
    names = named_part(table)
    if not names:
        return from_table(dtype, as_table(table) or ())
    if len(names) > 1:
        raise LabTypeError("[Tensor.Create] Must supply only one named contructor.")
    if names[0] not in NAMED:
        raise LabTypeError("[Tensor.Create] Named constructor must be 'range' or 'file'")
    argument = table[names[0]]
    if as_table(argument) is None and not is_userdata(argument):
        raise LabTypeError(f"[Tensor.Create] '{names[0]}' must contain a table.")
    return NAMED[names[0]](dtype, argument)


def from_sizes(dtype: st.dtype, sizes: Sequence[Any]) -> st.Tensor:
    """A tensor of zeros."""
    try:
        shape = [read_count(size, 1, bits=32) for size in sizes]
    except Refusal as refusal:
        raise error("[Tensor.CreateFromArgs] Failed to read Tensor shape.", refusal) from None
    return st.zeros(shape, dtype=dtype) if shape else without_shape(dtype)


def error(text: str, refusal: Refusal) -> LabError:
    """The error of a function. Python programs, unlike Lua scripts, also get the hint of the refusal."""
    return refusal.kind(f"{text}; {refusal.hint}" if refusal.hint and not current().lua else text)


def from_table(dtype: st.dtype, table: Sequence[object]) -> st.Tensor:
    """The numbers of a table of tables."""
    if not table:
        return without_shape(dtype)
    shape = read_table_shape(table)
    tensor = None if shape is None else read_table(table, shape, dtype)
    if tensor is None:
        raise LabValueError("[Tensor.CreateFromTableValues] Failed to read table in to Tensor.")
    return tensor


def from_range(dtype: st.dtype, argument: object) -> st.Tensor:
    """The numbers from a lower to an upper bound, both included: {upper}, {lower, upper} or {lower, upper, step}."""
    given = list(as_table(argument) or ())
    defaults: list[list[Any]] = [[1, *given, 1], [*given, 1], given]
    numbers = read_elements(defaults[len(given) - 1], dtype) if 1 <= len(given) <= 3 else None
    if numbers is None:
        raise LabTypeError("[Tensor.CreateFromRange] Failed to read Tensor range.")
    # C computes with small integers as with int32.
    lower, upper, step = numbers.to(st.int32 if dtype in BITS and dtype != st.int64 else dtype).unbind()
    if step == 0:
        raise LabValueError("[Tensor.CreateFromRange] Step size must not be zero.")
    width = upper - lower
    # C++ computes the number of steps as a double, whatever the type.
    quotient = width.trunc_divide(step) if dtype in BITS else (width / step).floor()
    steps = quotient.to(st.float64).to(st.int64).item()
    if steps < 0:
        raise LabValueError("[Tensor.CreateFromRange] Invalid Tensor range.")
    if dtype in BITS:
        return st.arange(steps + 1, dtype=st.int64).mul_(step.to(st.int64)).add_(lower.to(st.int64)).to(dtype)
    return _accumulated(lower, step, steps)


def _accumulated(lower: st.Tensor, step: st.Tensor, steps: int) -> st.Tensor:
    """`lower` and the numbers that follow it by repeated addition of `step`, where every sum is rounded to the dtype."""
    exact = st.arange(steps + 1, dtype=st.float64).mul_(step.double()).add_(lower.double())
    result = exact.to(lower.dtype)
    if lower.dtype == st.float32 and result.double().equal(exact):
        return result  # no sum was rounded
    result.fill_(step).narrow(0, 0, 1).fill_(lower)
    return _accumulate_in_order(result)


def from_file(dtype: st.dtype, argument: object) -> st.Tensor:
    """The bytes of a file, in the byte order of the machine."""
    fields = argument if isinstance(argument, dict) else {}
    name = fields.get("name")
    if not isinstance(name, (str, bytes, os.PathLike)):
        raise LabTypeError("[Tensor.CreateFromFile] Field 'name' must exist and be a string.")
    offset = _field(fields, "byteOffset", 0)
    path = os.fsdecode(name)
    try:
        path = current().resolve(path)
        with open(path, "rb", opener=_without_waiting) as file:
            size = os.fstat(file.fileno()).st_size
    except OSError as problem:
        raise LabError(f"[Tensor.CreateFromFile] Failed to open file, name: {os.fsdecode(name)}") from problem
    if offset > size:
        raise LabValueError(
            "[Tensor.CreateFromFile] Must supply 'byteOffset' within file size, "
            f"name: {os.fsdecode(name)}, offset: {offset}, file size: {size}"
        )
    max_count = (size - offset) // dtype.itemsize
    count = _field(fields, "numElements", max_count)
    if count > max_count:
        raise LabValueError(
            f"[Tensor.CreateFromFile] Attempted to read past end of file, name: {os.fsdecode(name)}, "
            f"numElements: {count}, max numElements: {max_count}, offset: {offset}, file size: {size}"
        )
    try:
        return _read(path, dtype, count, offset)
    except (OSError, ValueError) as problem:
        raise LabError(f"[Tensor.CreateFromFile] Failed to read file, name: {os.fsdecode(name)}") from problem


def _without_waiting(path: str, flags: int) -> int:
    """Opens a file, but does not wait for another process that writes into a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _field(fields: Mapping[str, object], name: str, default: int) -> int:
    """A field that is a count."""
    value = fields.get(name)
    if value is None:
        return default
    try:
        return read_count(value)
    except Refusal as refusal:
        text = f"[Tensor.CreateFromFile] '{name}' must be a non-negative integral value."
        raise error(text, refusal if is_number(value) else Refusal(LabTypeError)) from None


def _read(path: str, dtype: st.dtype, count: int, offset: int) -> st.Tensor:
    if not count:
        return st.empty(0, dtype=dtype)
    return st.fromfile(path, dtype=dtype, count=count, offset=offset)


#: The constructors that a table names.
NAMED = {"range": from_range, "file": from_file}
