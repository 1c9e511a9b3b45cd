"""Argument matching: which form of a function (which of its overloads) a call means, and the error if it means none.

Torch7 has a generator that writes C code from the forms of a function. The code tries the forms in order, and within a
form every choice of optional arguments, and calls the first that fits. This file does the same with Python code. A call
is looked up by the types of its arguments. The first call with certain types searches the forms, and generates and
compiles the function that later calls with these types find. Where a form is an operation of the core, that function
calls it directly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import strided as st
from strided._dialect.lua import LIMITS
from strided.torch7.calls.arguments import INDEX_BASE, integer, is_number, number_of, position, sizes_of
from strided.torch7.calls.dispatch import by_default_type, compiled, dispatcher
from strided.torch7.calls.elements import CASTS, is_integral
from strided.torch7.calls.forms import (
    NUMBERS,
    Argument,
    BadArgument,
    Form,
    Operation,
    Row,
    Run,
    category,
    describe_types,
    parse,
    usage,
)
from strided.torch7.calls.results import new_tensor
from strided.torch7.errors import TorchError, TorchTypeError, bad_argument
from strided.torch7.maths.generator import default_generator
from strided.torch7.tensor.classes import Tensor
from strided.torch7.tensor.geometry import ndim
from strided.torch7.types import CLASSES, DTYPES

_new: Any = object.__new__
#: Sizes that a function gets as positional parameters; those after them are packed into a tuple.
_SIZES = 4


def _test(argument: Argument, kinds: Sequence[str], cls: type[Tensor]) -> str | None:
    """The condition under which an argument accepts a value of the type `kinds[0]`: a format string of source text, empty if
    it always does, None if it never does."""
    kind, first = argument.kind, kinds[0] if kinds else ""
    if kind in NUMBERS:
        return {"number": "", "string": "is_number({0})"}.get(first)
    if kind == "sizes":
        return "" if list(kinds) == ["LongStorage"] or all(name == "number" for name in kinds) else None
    if kind == "V|F":
        return '{0}[:1] in ("V", "F")' if first == "string" else None
    if kind == "{T}":
        return "{0}" if first == "table" else None
    if kind in ("boolean", "Generator"):
        return "" if first == kind else None
    if first != (cls.__name__ if kind == "T" else f"{kind}Tensor"):
        return None
    # A tensor without elements has no dims in Torch7, and one in the core.
    dims = {None: "", 1: "{0}._tensor.ndim == 1 and {0}._tensor.numel()"}
    return dims.get(argument.dims, f"{{0}}._tensor.ndim == {argument.dims}")


def _tensors(values: Any, cls: type[Tensor]) -> list[st.Tensor]:
    """The core tensors in a list, or in a Lua table that arrived as a dict."""
    if isinstance(values, dict):
        values = [values[key] for key in range(1, len(values) + 1) if key in values]
    if not all(isinstance(value, cls) for value in values):
        raise TorchTypeError(f"expected {cls.__name__} in tensor array")
    return [value._tensor for value in values]


class _Choice(NamedTuple):
    """A form with a choice of its optional arguments, whose types fit a call.

    `places` has the position of each argument in the call, or -1 if the call leaves it out. `tests` are conditions that the
    values must satisfy as well.
    """

    run: Run
    words: list[Argument]
    places: list[int]
    tests: list[str]


class _Writer:
    """Generates the function that reads the arguments of a call and runs a form, as Torch7's generator does in C."""

    def __init__(self, cls: type[Tensor], kinds: tuple[type, ...]) -> None:
        dtype = cls._dtype
        self.cls, self.kinds = cls, kinds
        self.integral = is_integral(dtype)
        self.names: dict[str, Any] = {
            "cls": cls,
            "new": _new,
            "new_tensor": new_tensor,
            "uint8": st.uint8,
            "T": cls,
            "Byte": CLASSES[st.uint8],
            "ShapeError": st.ShapeError,
            "generator": default_generator,
            "ndim": ndim,
            "is_number": is_number,
            "plain": number_of,
            "real": CASTS.get(dtype),
            "accreal": CASTS[st.int64],
            "integer": integer,
            "position": position,
            "sizes": sizes_of,
            "tensors": lambda values: _tensors(values, cls),
        }

    def write(self, name: str, choices: list[_Choice], arity: int, error: Callable[[Sequence[type]], Exception]) -> Run:
        """Returns the function that gets the arguments of a call, runs the first choice whose tests hold, and returns its
        result. It ignores more arguments, up to `arity`."""
        names = [f"a{place}" for place in range(len(self.kinds))]
        ignored = [f"a{place}=None" for place in range(len(self.kinds), arity)]
        lines = [f"def call({', '.join(names + ignored)}):"]
        for number, choice in enumerate(choices):
            self.names[f"run{number}"] = choice.run
            lines.append(f"    if {' and '.join(choice.tests) or 'True'}:")
            lines += [f"        {line}" for line in self._statements(choice, number)]
        if choices[-1].tests:
            self.names["error"], self.names["kinds"] = error, self.kinds
            lines.append("    raise error(kinds)")
        title = f"{name}({', '.join(kind.__name__ for kind in self.kinds)}) of {self.cls.__name__}"
        call: Run = compiled("\n".join(lines), "call", title, self.names)
        return call

    def _statements(self, choice: _Choice, number: int) -> list[str]:
        values = [self._value(word, place) for word, place in zip(choice.words, choice.places, strict=True)]
        lines = []
        # The defaults of other arguments may refer to the first and to the third one, as `v0` and `v2`.
        for place in (0, 2):
            if place < len(values) and any(f"v{place}" in value for value in values):
                if values[place] == "None":  # an operand that is the result by default: a tensor without elements
                    values[place] = "new_tensor(cls, ())"
                lines.append(f"v{place} = {values[place]}")
                values[place] = f"v{place}"
        general = f"return run{number}({', '.join(values)})"
        if isinstance(choice.run, Operation):
            lines += self._written_out(choice, choice.run, values, number, general)
        return [*lines, general]

    def _written_out(self, choice: _Choice, run: Operation, values: list[str], number: int, general: str) -> list[str]:
        """The statements that call the core directly instead of `run`; an empty list if the call is not one of the common
        ones, which `Operation` lists."""
        cores = [
            f"{value}._tensor" if word.kind == "T" else value for word, value in zip(choice.words, values, strict=True)
        ]
        optional = [word.default not in (None, "v0") for word in choice.words]
        given = [n for n, place in enumerate(choice.places) if n and (place >= 0 or not optional[n])]
        tensors = [n for n in given if choice.words[n].kind == "T"]
        operands = ", ".join(cores[n] for n in given)
        if run.arguments:
            operands = run.arguments.format(*cores)
        elif any(optional[n] for n in given):
            return []
        if values[0] == "None" and not run.arguments:
            self.names[f"op{number}"], kind = run.op, choice.words[0].kind
            cast = ".view(uint8)" if kind == "Byte" else ""  # truth values as bytes
            body = [f"x = new({kind})", f"x._tensor = op{number}({operands}){cast}", "return x"]
        elif values[0] == values[tensors[0]] and run.in_place is not None:
            self.names[f"in_place{number}"] = run.in_place
            body = [f"in_place{number}({operands})", f"return {values[0]}"]
        elif not run.product:
            self.names[f"op{number}"] = run.op
            test = f"{values[0]}._tensor.shape == {cores[tensors[0]]}.shape"
            body = [f"if {test}:", f"    op{number}({operands}, out={values[0]}._tensor)", f"    return {values[0]}"]
        else:
            return []
        shapes = [
            f"if {cores[tensors[0]]}.shape != {cores[n]}.shape: {general}" for n in tensors[1:] if not run.product
        ]
        return [*shapes, "try:", *(f"    {line}" for line in body), "except ShapeError: pass"]

    def _value(self, argument: Argument, place: int) -> str:
        """The expression that reads one argument, or makes it if the call leaves it out."""
        if place < 0:
            default = str(argument.default)
            if default == "last":
                return "ndim(v2._tensor) - 1"  # in those forms, two results come before the operand
            return f"position({default}, 0, None)" if argument.kind == "index" else default
        value, kind = f"a{place}", self.kinds[place]
        match argument.kind:
            case "real" if self.integral:
                low, high = LIMITS[self.cls._dtype]
                fits = f"{value} if {low} <= {value} <= {high} else " if kind is int else ""
                return f"({fits}real({value}))"
            case "accreal" if self.integral:
                return f"accreal({value})"
            case "real" | "accreal" | "double" | "param":
                return value if kind in (int, float) else f"plain({value})"
            case "long" | "int":
                return value if kind is int else f"integer({value}, {place + 1}, None)"
            case "index":
                return f"{value} - {INDEX_BASE}" if kind is int else f"position({value}, {place + 1}, None)"
            case "sizes":
                rest = "".join(f"a{later}, " for later in range(place, len(self.kinds)))
                plain = all(later is int for later in self.kinds[place:])
                return f"({rest})" if plain else f"sizes(({rest}), {place + 1}, None)"
            case "{T}":
                return f"tensors({value})"
            case "V|F":
                return f"{value}[:1]"
        return value


class Matcher:
    """The forms of a function for one tensor class, and the calls that were seen before."""

    __slots__ = ("arity", "calls", "cls", "forms", "method", "name")

    def __init__(self, name: str, cls: type[Tensor], forms: tuple[Form, ...], method: bool, arity: int) -> None:
        self.name, self.cls, self.forms, self.method, self.arity = name, cls, forms, method, arity
        self.calls: dict[tuple[type, ...], Run] = {}

    def _parsed(self) -> Iterator[tuple[Run, list[Argument]]]:
        integral = is_integral(self.cls._dtype)
        for form in self.forms:
            run = form.integral_run if integral and form.integral_run else form.run
            yield run, [parse(word, self.method) for word in form.words.split()]

    def usage(self) -> str:
        """The forms as an error message lists them."""
        return " | ".join(
            " ".join(usage(word, self.cls) for word in words if not word.hidden) for _, words in self._parsed()
        )

    def error(self, kinds: Sequence[type]) -> TorchTypeError:
        """The error about arguments of types that fit no form."""
        return TorchTypeError(f"invalid arguments: {describe_types(kinds)}\nexpected arguments: {self.usage()}")

    def find(self, kinds: tuple[type, ...]) -> Run:
        """Returns the function that runs a call with arguments of these types."""
        call = self.calls.get(kinds)
        if call is None:
            choices = list(self._choices([category(kind) for kind in kinds]))
            if not choices:
                raise self.error(kinds)
            title = f"method {self.name}" if self.method else self.name
            call = self.calls[kinds] = _Writer(self.cls, kinds).write(title, choices, self.arity, self.error)
        return call

    def _choices(self, names: list[str]) -> Iterator[_Choice]:
        """The choices that fit the types of a call, up to the first one that fits all values."""
        for run, words in self._parsed():
            for present in _choices_of_optional(words):
                tests = self._tests(words, present, names)
                if tests is None:
                    continue
                places = [present.index(number) if number in present else -1 for number in range(len(words))]
                yield _Choice(run, words, places, tests)
                if not tests:
                    return

    def _tests(self, words: list[Argument], present: Sequence[int], names: list[str]) -> list[str] | None:
        """The conditions on values if the types fit, else None."""
        rest = bool(words) and words[-1].kind == "sizes"
        if len(names) < len(present) or (len(names) > len(present) and not rest):
            return None
        tests = [_test(words[number], names[place:], self.cls) for place, number in enumerate(present)]
        if any(test is None for test in tests):
            return None
        return [test.format(f"a{place}") for place, test in enumerate(tests) if test]


def _choices_of_optional(words: list[Argument]) -> Iterable[list[int]]:
    """For each choice of optional arguments, the numbers of all arguments that are present.

    The choices are in Torch7's order: the first one has no optional arguments, and the first of them varies fastest.
    """
    optional = [number for number, word in enumerate(words) if word.default is not None and not word.hidden]
    for bits in range(1 << len(optional)):
        given = {number for bit, number in enumerate(optional) if bits >> bit & 1}
        yield [number for number, word in enumerate(words) if word.default is None or number in given]


@cache
def _arity(forms: tuple[Form, ...]) -> int:
    """The number of arguments of the longest form."""
    words = [[word for word in form.words.split() if word != "cls" and word[0] != ":"] for form in forms]
    return max(sum(_SIZES if word == "sizes" else 1 for word in form) for form in words)


def _document(row: Row, method: bool) -> str:
    """The documentation of a function or method: what it does, its arguments, and an example."""
    matcher = Matcher(row.name, CLASSES[st.float64], row.method or row.forms if method else row.forms, method, 0)
    usage = matcher.usage().replace("DoubleTensor", "Tensor").replace("double", "number")
    arguments = f"Arguments: `{usage}`" if usage else "No arguments"
    notes = f"{arguments}; stars mark what is returned, brackets what may be left out."
    return f"{row.doc}\n\n{notes}\n\n>>> from strided import torch7 as torch\n{row.example}\n"


def _with_name(function: Any, name: str, qualname: str, document: str) -> Any:
    function.__name__, function.__qualname__, function.__module__ = name, qualname, "strided.torch7"
    function.__doc__ = document
    return function


def method_of(cls: type[Tensor], row: Row, document: str) -> Run:
    """The method of a class that a row describes."""
    forms, name = row.method or row.forms, row.name
    matcher = Matcher(name, cls, forms, True, _arity(forms))

    def to_error(problem: BadArgument) -> TorchError:
        return bad_argument(problem.number, name, problem.text, problem.kind)

    method = dispatcher(matcher.arity, lambda args: (matcher.find(tuple(map(type, args))), args, True), to_error)
    return _with_name(method, name, f"{cls.__name__}.{name}", document)  # type: ignore[no-any-return]


def _dispatch(args: tuple[Any, ...]) -> tuple[type[Tensor] | None, tuple[Any, ...], bool]:
    """Returns the class that a function is looked up for, None for the default type; the arguments without the name of a
    type; and whether the types of the arguments alone decide, so that the result may be cached."""
    for value in args[:2]:
        if isinstance(value, Tensor):
            return CLASSES[value._dtype], args, True
    if args and isinstance(args[0], list | tuple | dict):
        first = next(iter(args[0].values() if isinstance(args[0], dict) else args[0]), None)
        return CLASSES[first._dtype] if isinstance(first, Tensor) else None, args, False
    if args and isinstance(args[-1], str):
        name = args[-1].removeprefix("torch.").removesuffix("Tensor")
        if args[-1] == f"torch.{name}Tensor" and name in DTYPES:
            return CLASSES[DTYPES[name]], args[:-1], False
        return None, args, False
    return None, args, True


def function_of(row: Row, dispatched: bool = True) -> Run:
    """The function of the module that a row describes: it works for all classes.

    Torch7 dispatches a function by the types of its arguments, after which Lua no longer knows its name: error messages do
    not have it. Those of functions that are not `dispatched` do.
    """
    arity = _arity(row.forms)
    matchers = {cls: Matcher(row.name, cls, row.forms, False, arity) for cls in CLASSES.values()}

    def find(args: tuple[Any, ...]) -> tuple[Run, tuple[Any, ...], bool]:
        cls, rest, is_cacheable = _dispatch(args)
        kinds = tuple(map(type, rest))
        if cls is not None:
            return matchers[cls].find(kinds), rest, is_cacheable
        return (
            by_default_type(max(arity, len(rest)), lambda name: matchers[CLASSES[DTYPES[name]]].find(kinds)),
            rest,
            is_cacheable,
        )

    def to_error(problem: BadArgument) -> TorchError:
        if dispatched:
            return bad_argument(problem.number, None, problem.text, problem.kind)
        return problem.kind(f"bad argument #{problem.number} to '{row.name}' ({problem.text})")

    function = dispatcher(arity, find, to_error)
    return _with_name(function, row.name, row.name, _document(row, False))  # type: ignore[no-any-return]


def install(rows: Iterable[Row], namespace: dict[str, Any]) -> None:
    """Gives every tensor class the methods of rows, and a namespace their functions."""
    for row in rows:
        document = _document(row, True)
        for cls in CLASSES.values():
            setattr(cls, row.name, method_of(cls, row, document))
        namespace[row.name] = function_of(row)
