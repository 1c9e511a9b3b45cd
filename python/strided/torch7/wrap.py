"""Argument matching: which form of a function a call means, and the error if it means none.

Torch7 has a generator that writes C code from the forms of a function. The code tries the forms in order, and within a
form every choice of optional arguments, and calls the first that fits. This file does the same. A call is looked up by
the types of its arguments; the first call with certain types searches the forms and writes the function that runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import strided as st
from strided.torch7.arguments import integer, is_number, number_of, position, sizes_of
from strided.torch7.casts import CASTS, LIMITS, is_integral
from strided.torch7.errors import TorchTypeError, bad_argument
from strided.torch7.forms import NUMBERS, Argument, BadArgument, Form, Row, Run, category, described, parse, usage
from strided.torch7.generator import default_generator
from strided.torch7.geometry import ndim
from strided.torch7.session import current
from strided.torch7.tensor import TensorBase
from strided.torch7.types import CLASSES, DTYPES

__all__ = ["BadArgument", "Form", "Matcher", "Row", "Run", "function_of", "install", "maker"]


def _test(argument: Argument, kinds: Sequence[str], cls: type[TensorBase]) -> str | None:
    """The condition, as a format of source text, under which an argument takes a value of this type; None if never."""
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


def _tensors(values: Any, cls: type[TensorBase]) -> list[st.Tensor]:
    """The core tensors of a list, or of a Lua table that came as a dict."""
    if isinstance(values, dict):
        values = [values[key] for key in range(1, len(values) + 1) if key in values]
    if not all(isinstance(value, cls) for value in values):
        raise TorchTypeError(f"expected {cls.__name__} in tensor array")
    return [value._tensor for value in values]


def maker(dtype: st.dtype) -> Callable[[], TensorBase]:
    """A function that returns a new tensor without elements."""
    cls, new, empty = CLASSES[dtype], object.__new__, st.empty

    def make() -> TensorBase:
        x: TensorBase = new(cls)
        x._tensor = empty(0, dtype=dtype)
        return x

    return make


class _Choice(NamedTuple):
    """A form with a choice of its optional arguments, whose types fit a call.

    `places` has the position of each argument in the call, or -1. `tests` are conditions on values that must hold as well.
    """

    run: Run
    words: list[Argument]
    places: list[int]
    tests: list[str]


class _Writer:
    """Writes the function that reads the arguments of a call and runs a form, as Torch7's generator does in C."""

    def __init__(self, cls: type[TensorBase], kinds: tuple[type, ...]) -> None:
        dtype = cls._dtype
        self.cls, self.kinds = cls, kinds
        self.integral = is_integral(dtype)
        self.names: dict[str, Any] = {
            "cls": cls,
            "newT": maker(dtype),
            "newLong": maker(st.int64),
            "newByte": maker(st.uint8),
            "generator": default_generator,
            "ndim": ndim,
            "is_number": is_number,
            "plain": number_of,
            "real": CASTS.get(dtype),
            "accreal": CASTS[st.int64],
            "whole": integer,
            "position": position,
            "sizes": sizes_of,
            "tensors": lambda values: _tensors(values, cls),
        }

    def write(self, choices: list[_Choice], error: Callable[[Sequence[Any]], Exception]) -> Run:
        """Returns the function that gets the arguments of a call, runs the first choice whose tests hold, and returns its
        result."""
        parameters = [f"a{place}" for place in range(len(self.kinds))]
        lines = [f"def call({', '.join(parameters)}):"]
        for number, choice in enumerate(choices):
            self.names[f"run{number}"] = choice.run
            lines.append(f"    if {' and '.join(choice.tests) or 'True'}:")
            lines += [f"        {line}" for line in self._statements(choice, f"run{number}")]
        if choices[-1].tests:
            self.names["error"] = error
            lines.append(f"    raise error(({', '.join(parameters)},))")
        exec("\n".join(lines), self.names)
        call: Run = self.names["call"]
        return call

    def _statements(self, choice: _Choice, run: str) -> list[str]:
        values = [self._value(word, place) for word, place in zip(choice.words, choice.places, strict=True)]
        lines = []
        # Other arguments may refer to the first and to the third one.
        for number in (0, 2):
            if number < len(values) and any(f"v{number}" in value for value in values):
                lines.append(f"v{number} = {values[number]}")
                values[number] = f"v{number}"
        return [*lines, f"return {run}({', '.join(values)})"]

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
                return value if kind is int else f"whole({value}, {place + 1}, None)"
            case "index":
                return f"position({value}, {place + 1}, None)"
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

    __slots__ = ("calls", "cls", "forms", "method")

    def __init__(self, cls: type[TensorBase], forms: tuple[Form, ...], method: bool) -> None:
        self.cls, self.forms, self.method = cls, forms, method
        self.calls: dict[tuple[type, ...], Run] = {}

    def _parsed(self) -> Iterator[tuple[Run, list[Argument]]]:
        whole = is_integral(self.cls._dtype)
        for form in self.forms:
            run = form.whole if whole and form.whole else form.run
            yield run, [parse(word, self.method, form.lazy) for word in form.words.split()]

    def usage(self) -> str:
        """The forms as an error message lists them."""
        return " | ".join(
            " ".join(usage(word, self.cls) for word in words if not word.hidden) for _, words in self._parsed()
        )

    def error(self, arguments: Sequence[Any]) -> TorchTypeError:
        """The error about arguments that fit no form."""
        return TorchTypeError(f"invalid arguments: {described(arguments)}\nexpected arguments: {self.usage()}")

    def find(self, arguments: tuple[Any, ...]) -> Run:
        """Returns the function that runs a call, from now on found in `calls` too."""
        kinds = tuple(map(type, arguments))
        choices = list(self._choices([category(kind) for kind in kinds]))
        if not choices:
            raise self.error(arguments)
        call = _Writer(self.cls, kinds).write(choices, self.error)
        self.calls[kinds] = call
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
    """The numbers of the arguments present: none of the optional ones first, and the first of these varies fastest."""
    optional = [number for number, word in enumerate(words) if word.default is not None and not word.hidden]
    for bits in range(1 << len(optional)):
        given = {number for bit, number in enumerate(optional) if bits >> bit & 1}
        yield [number for number, word in enumerate(words) if word.default is None or number in given]


def _document(row: Row, method: bool) -> str:
    """The documentation of a function or method: what it does, its arguments, and an example."""
    matcher = Matcher(CLASSES[st.float64], row.method or row.forms if method else row.forms, method)
    usage = matcher.usage().replace("DoubleTensor", "Tensor").replace("double", "number")
    arguments = f"Arguments: `{usage}`" if usage else "No arguments"
    notes = f"{arguments}; stars mark what is returned, brackets what may be left out."
    return f"{row.doc}\n\n{notes}\n\n>>> from strided import torch7 as torch\n{row.example}\n"


def _named(function: Any, name: str, qualname: str, document: str) -> Any:
    function.__name__, function.__qualname__, function.__module__ = name, qualname, "strided.torch7"
    function.__doc__ = document
    return function


def method_of(cls: type[TensorBase], row: Row, document: str) -> Run:
    """The method of a class that a row describes."""
    matcher = Matcher(cls, row.method or row.forms, method=True)
    calls, name = matcher.calls, row.name

    def method(*args: Any) -> Any:
        call = calls.get(tuple(map(type, args))) or matcher.find(args)
        try:
            return call(*args)
        except BadArgument as problem:
            raise bad_argument(problem.number, name, problem.text, problem.kind) from None

    return _named(method, name, f"{cls.__name__}.{name}", document)  # type: ignore[no-any-return]


def _dispatch(args: tuple[Any, ...]) -> tuple[type[TensorBase] | None, tuple[Any, ...], bool]:
    """Which class a function is looked up for, None being the default; the arguments without a type name; and whether
    other arguments of the same types lead to the same class."""
    for value in args[:2]:
        if isinstance(value, TensorBase):
            return CLASSES[value._dtype], args, True
    if args and isinstance(args[0], list | tuple | dict):
        first = next(iter(args[0].values() if isinstance(args[0], dict) else args[0]), None)
        return CLASSES[first._dtype] if isinstance(first, TensorBase) else None, args, False
    if args and isinstance(args[-1], str):
        name = args[-1].removeprefix("torch.").removesuffix("Tensor")
        if args[-1] == f"torch.{name}Tensor" and name in DTYPES:
            return CLASSES[DTYPES[name]], args[:-1], False
        return None, args, False
    return None, args, True


def function_of(row: Row, dispatched: bool = True) -> Run:
    """The function of the module that a row describes: it works for all classes.

    Torch7 looks a function up by the types of its arguments, and Lua then no longer knows its name in an error; that is
    not so for functions that are not `dispatched`.
    """
    matchers: dict[type[TensorBase], Matcher] = {}
    # Calls by the types of their arguments, after the default type where it decides.
    seen: dict[Any, Run] = {}

    def look_up(args: tuple[Any, ...]) -> tuple[Run, tuple[Any, ...]]:
        kinds, default = tuple(map(type, args)), current().default_type
        cls, rest, fixed = _dispatch(args)
        owner = cls or CLASSES[DTYPES[default]]
        matcher = matchers.setdefault(owner, Matcher(owner, row.forms, method=False))
        call = matcher.calls.get(tuple(map(type, rest))) or matcher.find(rest)
        if fixed:
            seen[kinds if cls else (default, kinds)] = call
        return call, rest

    def function(*args: Any) -> Any:
        kinds = tuple(map(type, args))
        call = seen.get(kinds) or seen.get((current().default_type, kinds))
        if call is None:
            call, args = look_up(args)
        try:
            return call(*args)
        except BadArgument as problem:
            if dispatched:
                raise bad_argument(problem.number, None, problem.text, problem.kind) from None
            raise problem.kind(f"bad argument #{problem.number} to '{row.name}' ({problem.text})") from None

    return _named(function, row.name, row.name, _document(row, False))  # type: ignore[no-any-return]


def install(rows: Iterable[Row], namespace: dict[str, Any]) -> list[str]:
    """Gives every tensor class the methods of rows, and a namespace their functions. Returns the names."""
    names = []
    for row in rows:
        document = _document(row, True)
        for cls in CLASSES.values():
            setattr(cls, row.name, method_of(cls, row, document))
        namespace[row.name] = function_of(row)
        names.append(row.name)
    return names
