"""Functions that look a call up by the types of its arguments.

The first call with certain types searches for the function that runs it; later calls with the same types find that function
in a dict. The dispatchers have positional parameters, as many as a call usually has arguments, because packing and unpacking
a tuple of arguments costs as much as a small operation.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from functools import cache
from inspect import Parameter, Signature
from typing import Any

from strided.torch7.calls.forms import BadArgument, Run
from strided.torch7.errors import TorchError
from strided.torch7.session import current


class _Absent:
    """The type of a parameter that was not passed."""

    __slots__ = ()


_ABSENT = _Absent()

#: Gets the arguments of a call. Returns the function that runs it, the arguments to pass to that function, and whether all
#: arguments of the same types lead to the same function. The function accepts, and ignores, more arguments, up to `arity`.
Find = Callable[[tuple[Any, ...]], tuple[Run, tuple[Any, ...], bool]]

#: What users see: the parameters have no names.
_SIGNATURE = Signature([Parameter("args", Parameter.VAR_POSITIONAL)])

_DISPATCHER = """
def make(calls, search, to_error):
    find = calls.get
    def dispatch({absent}, /, *more):
        call = find(({types},))
        if call is None or more:
            return search(({names}, *more))
        try:
            return call({names})
        except BadArgument as problem:
            raise to_error(problem) from None
    return dispatch
"""
_BY_DEFAULT_TYPE = """
def make(calls):
    def call({ignored}):
        return calls[current().default_type]({names})
    return call
"""


def compiled(text: str, name: str, what: str, space: dict[str, Any]) -> Any:
    """A function in generated source. `what` is the name of its file. Stack traces, debuggers and `inspect.getsource` show its lines."""
    file = f"<torch7: {what}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), space)
    return space[name]


@cache
def _maker(source: str, arity: int) -> Callable[..., Run]:
    """The function `make` of a source text, for functions with `arity` parameters."""
    names = [f"a{place}" for place in range(arity)]
    text = source.format(
        absent=", ".join(f"{name}=ABSENT" for name in names),
        ignored=", ".join(f"{name}=None" for name in names),
        types=", ".join(f"type({name})" for name in names),
        names=", ".join(names),
    )
    space: dict[str, Any] = {"ABSENT": _ABSENT, "BadArgument": BadArgument, "current": current}
    made: Callable[..., Run] = compiled(
        text, "make", f"{'dispatcher' if source is _DISPATCHER else 'by default type'}, {arity} parameters", space
    )
    return made


class _Calls(dict[str, Run]):
    """Name of a default type -> the function that runs a call; it is found when it is first needed."""

    def __init__(self, find: Callable[[str], Run]) -> None:
        self.find = find

    def __missing__(self, name: str) -> Run:
        call = self[name] = self.find(name)
        return call


def by_default_type(arity: int, find: Callable[[str], Run]) -> Run:
    """A function that runs the call which `find` returns for the default type of the session."""
    return _maker(_BY_DEFAULT_TYPE, arity)(_Calls(find))


def dispatcher(arity: int, find: Find, to_error: Callable[[BadArgument], TorchError]) -> Any:
    """A function that runs the call which `find` returns. `to_error` makes the error for an argument that a call refuses."""
    calls: dict[tuple[type, ...], Run] = {}

    def search(args: tuple[Any, ...]) -> Any:
        call, given, is_cacheable = find(tuple(value for value in args if value is not _ABSENT))
        if is_cacheable and len(args) == arity:
            calls[tuple(map(type, args))] = call
        try:
            return call(*given)
        except BadArgument as problem:
            raise to_error(problem) from None

    dispatch: Any = _maker(_DISPATCHER, arity)(calls, search, to_error)
    dispatch.__signature__ = _SIGNATURE
    return dispatch
