"""The rows of the op table by name."""

from typing import NamedTuple

import strided as st


class OpRow(NamedTuple):
    """One elementwise operation, in the order of `_ops()`."""

    name: str
    arity: int
    #: The class of dtypes that it accepts.
    accepts: str
    #: The rule for the dtype of its result.
    result: str
    #: `+`, or `-x` and `abs` for unary ones; empty if there is none.
    operator: str
    doc: str
    #: The parameters after the operands, with their defaults.
    keywords: list[tuple[str, str]]
    #: The name and its aliases.
    names: list[str]


OPS = {row.name: row for row in (OpRow(*fields) for fields in st._strided._ops())}
