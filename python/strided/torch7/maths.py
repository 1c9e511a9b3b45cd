"""The maths functions: the modules with their rows, and what is not a row."""

from __future__ import annotations

from typing import Any

from strided.torch7 import conv, elementwise, indexed, linear, making, operators, order, random, reduce
from strided.torch7.tensor import TensorBase
from strided.torch7.wrap import function_of, install

#: Their rows are methods of all tensor classes and functions of the module.
MODULES = (making, elementwise, reduce, order, linear, indexed, conv, random)


def install_maths(names: dict[str, Any]) -> None:
    """Adds the methods and operators to the tensor classes, and the functions to a table of names."""
    operators.install(TensorBase)
    for module in MODULES:
        install(module.ROWS, names)
    names.update((row.name, function_of(row, dispatched=False)) for row in random.GENERATOR_ROWS)
    for item in (random.Generator, random.multinomialAlias, random.multinomialAliasSetup):
        names[item.__name__] = item
