"""The forms of functions: how Torch7 declares its maths functions as data, and how its error messages describe them.

A function has one or more forms. A form is a list of words, one for each argument:

    dst          the result; a function may leave it out and gets a new tensor, a method works in place
    src          the first operand; a method may leave it out and works on itself
    new          the result, optional for functions and methods alike
    self         the tensor that is changed and returned
    T, T~2D      a tensor of the type at hand; with two dims
    first        a tensor, which is the first argument if it is left out
    newLong, newByte, dstLong           results of these types
    Long, Float, Double, Byte           operands of these types
    real, accreal, double, long, int    numbers: of the tensor's C type, of its sums, and of C's types
    param        a number that errors call `real`, but that is not cast to it
    index        a dim or an index, which the core counts from 0; `last` is the last dim
    boolean, Generator, sizes, V|F, {T}      a truth value, a generator, a list of sizes, an option, a list of tensors
    cls, :value  not arguments of a call: the class at hand, and a constant

`word=value` is optional and has that default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import strided as st
from strided.torch7.calls.elements import is_integral
from strided.torch7.errors import TorchError
from strided.torch7.tensor.classes import Tensor
from strided.torch7.types import NAMES, REAL_NAMES

Run = Callable[..., Any]


class Form(NamedTuple):
    """One way to call a function: the kinds of its arguments, and what runs it.

    `run` gets every argument of the form, and returns what the call returns. A result that the caller did not pass is
    None, and `run` makes it. `integral_run` replaces `run` for integer tensors.
    """

    words: str
    run: Run
    integral_run: Run | None = None


class Operation:
    """The `run` of a form by an operation of the core. The words of the form are a result, a tensor and more operands.

    `general` runs any call. For the common ones, `wrap` generates code that calls the core directly:

    * without a result, `op(*operands)`;
    * with the first tensor as the result, `in_place(*operands)`;
    * with another tensor of the same shape as the result, `op(*operands, out=result)`, unless this is a product.

    An error of the core about shapes leads to `general`, as do tensors of different shapes, unless this is a product.
    Optional operands that are left out have the same default in the core.

    `in_place` may be the argument list of the in-place call, as a format string to which the words are passed. Code is then
    generated for that call only.
    """

    __slots__ = ("arguments", "general", "in_place", "op", "product")

    def __init__(self, general: Run, op: Callable[..., st.Tensor], product: bool = False, in_place: str = "") -> None:
        self.general, self.op, self.product, self.arguments = general, op, product, in_place
        #: The method of the core that changes its tensor, which costs less than `out=`; None if there is none.
        self.in_place: Run | None = getattr(st.Tensor, f"{getattr(op, '__name__', '')}_", None)

    def __call__(self, *arguments: Any) -> Any:
        return self.general(*arguments)


class Row(NamedTuple):
    """A function and method of one name. `method` has the forms of the method if they are not those of the function."""

    name: str
    doc: str
    example: str
    forms: tuple[Form, ...]
    method: tuple[Form, ...] | None = None


class BadArgument(Exception):
    """What `run` raises about an argument: its number, counted from 1 with the tensor itself, and the text."""

    def __init__(self, number: int, text: str, kind: type[TorchError] = TorchError) -> None:
        super().__init__(number, text)
        self.number, self.text, self.kind = number, text, kind


class Argument(NamedTuple):
    """A parsed word. `default` is the text of an expression, or None if the argument is required."""

    kind: str
    default: str | None
    returned: bool = False
    dims: int | None = None
    hidden: bool = False


#: Words for numbers.
NUMBERS = ("real", "accreal", "param", "double", "long", "int", "index")
#: Words for results, and their types.
_RESULTS = {"dst": "T", "new": "T", "self": "T", "newLong": "Long", "dstLong": "Long", "newByte": "Byte"}
_OPTIONAL = {"dst", "new", "newLong", "dstLong", "newByte", "Generator"}
#: Of these, what a method must be given: it is the tensor whose method is called.
_OPTIONAL_IN_FUNCTIONS = {"dst", "dstLong"}


def parse(word: str, method: bool) -> Argument:
    """Reads a word of a form."""
    if word == "cls" or word[0] == ":":
        return Argument("hidden", word.lstrip(":"), hidden=True)
    word, _, default = word.partition("=")
    word, _, dims = word.partition("~")
    name = ("first" if method else "T") if word == "src" else word
    text: str | None = default or None
    if name == "first":
        text = "v0"
    elif name == "Generator":
        text = "generator()"
    elif name in _OPTIONAL and not (method and name in _OPTIONAL_IN_FUNCTIONS):
        text = "None"
    kind = _RESULTS.get(name, "T" if name == "first" else name)
    return Argument(kind, text, name in _RESULTS, int(dims[0]) if dims else None)


def usage(argument: Argument, cls: type[Tensor]) -> str:
    """How an error message shows an argument."""
    kind, dtype = argument.kind, cls._dtype
    tensor = {"T": NAMES[dtype], "Long": "Long", "Byte": "Byte", "Float": "Float", "Double": "Double"}.get(kind)
    if tensor is not None:
        text = f"{tensor}Tensor" + (f"~{argument.dims}D" if argument.dims else "")
    elif kind in ("real", "param"):
        text = REAL_NAMES[dtype]
    elif kind == "accreal":
        text = "long" if is_integral(dtype) else "float" if dtype == st.float16 else "double"
    else:
        fixed = {"sizes": "(LongStorage | dim1 [dim2...])", "V|F": "(V|F)", "{T}": f"{{{cls.__name__}+}}"}
        text = fixed.get(kind, kind)
    text = f"*{text}*" if argument.returned else text
    return f"[{text}]" if argument.default is not None else text


def category(kind: type) -> str:
    """What Torch7 calls the type of an argument."""
    name: str | None = getattr(kind, "_typename", None)
    if name is not None:
        return name.removeprefix("torch.")
    if kind is type(None):
        return "nil"
    if issubclass(kind, bool):
        return "boolean"
    if issubclass(kind, str | bytes):
        return "string"
    if issubclass(kind, list | tuple | dict):
        return "table"
    if (hasattr(kind, "__float__") or hasattr(kind, "__index__")) and not hasattr(kind, "__len__"):
        return "number"
    return "???" if issubclass(kind, Callable) else "userdata"  # type: ignore[arg-type]


def describe_types(kinds: Iterable[type]) -> str:
    """The types of arguments as an error message lists them."""
    text = "".join(f"{category(kind)} " for kind in kinds)
    return text[:511] or "no arguments provided"
