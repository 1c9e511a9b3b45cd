"""The maths functions and the tools: the modules with their rows, and what is not a row."""

from __future__ import annotations

from typing import Any

from strided.torch7 import (
    cmdline,
    conv,
    elementwise,
    indexed,
    linear,
    making,
    operators,
    order,
    random_numbers,
    reduce,
    tester,
    timer,
)
from strided.torch7.tensor import TensorBase
from strided.torch7.wrap import function_of, install

#: Their rows are methods of all tensor classes and functions of the module.
MODULES = (making, elementwise, reduce, order, linear, indexed, conv, random_numbers)


def install_maths(names: dict[str, Any]) -> None:
    """Adds the methods and operators to the tensor classes, and functions and other classes to a table of names."""
    operators.install(TensorBase)
    for module in MODULES:
        install(module.ROWS, names)
    names.update((row.name, function_of(row, dispatched=False)) for row in random_numbers.GENERATOR_ROWS)
    for item in (*random_numbers.PUBLIC, *timer.PUBLIC, *cmdline.PUBLIC, *tester.PUBLIC):
        item.__module__ = "strided.torch7"
        names[item.__name__] = item
