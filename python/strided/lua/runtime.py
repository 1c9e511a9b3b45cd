"""The Lua runtime: runs scripts, and exchanges values with them."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from importlib.resources import files as resources
from typing import Any, cast

import strided as st
from strided.lua import library, output
from strided.lua.adapters import Adapters
from strided.lua.errors import LuaError, LuaMemoryError, LuaTimeoutError, ScriptStopped
from strided.lua.files import Files, template_of
from strided.lua.functions import LuaFunction
from strided.lua.library import encoded
from strided.lua.values import CODES, MARKERS, VALUES_PER_CALL, Reference, Values, take, text_of
from strided.lua.versions import backend

__all__ = ["Lua"]

#: The Lua files, in the order in which they are loaded; some only if they are asked for.
GLUE = (
    "values",
    "calls",
    "environment",
    "events",
    "output",
    "classes",
    "pointers",
    "file",
    "torch",
    "library",
    "entries",
)
#: Calls of Lua by Python by Lua by …; each level takes some of the stack of C.
MAX_DEPTH = 100
#: The least that `memory` may be: below, Lua's own libraries hardly fit.
LEAST_MEMORY = 1_000_000

#: The most that loading a front end may take besides the limits of a script: seconds, and bytes of Lua's values.
LOADING_TIME, LOADING_MEMORY = 60.0, 100_000_000

#: Seconds that should pass between two questions of the hook.
TICK = 0.001

#: Numbers of functions that `entries.lua` provides.
RUN, EVALUATE, GET, SET, NAMES, LOAD, WHERE, IS_C, LINE, WRITE = range(-1, -11, -1)


class _Values(Values):
    """Knows the functions of a runtime, and what a tensor of the top level becomes in it."""

    def __init__(self, lua: Lua, opens: bool) -> None:
        super().__init__(opens)
        self._lua = lua

    def adopt(self, value: Any) -> tuple[Any, int | None]:
        if isinstance(value, LuaFunction) and value._lua is self._lua:
            return value._handle, CODES["handle"]
        dialect = _dialect_of(value, self._lua.dialect)
        if dialect:
            self._lua._load(dialect)
            if isinstance(value, st.Tensor):
                value = _module(dialect).from_strided(value)
            if type(value) in self.codes:
                return Reference(value), self.codes[type(value)]
        return super().adopt(value)


class _Writer:
    """A stream that writes with the `io.write` of a script."""

    def __init__(self, lua: Lua) -> None:
        self._lua = lua

    def write(self, text: str) -> None:
        self._lua._call(WRITE, (text,))

    def flush(self) -> None:
        """Does nothing: the script decides where its text goes."""


def _module(dialect: str) -> Any:
    from importlib import import_module

    return import_module(f"strided.{dialect}")


def _dialect_of(value: Any, default: str) -> str | None:
    """The front end that an object belongs to."""
    if isinstance(value, st.Tensor):
        return default
    for name in ("torch7", "dmlab"):
        if type(value).__module__.startswith(f"strided.{name}"):
            return name
    return None


class Lua:
    """A Lua runtime in which Torch7's and Lab's tensors exist.

    * `version`: `"luajit"`, or `"5.1"` to `"5.5"`.
    * `path`: folders in which `require` looks for modules, besides the folder of a script that `dofile` runs.
    * `dialect`: what a `strided.Tensor` becomes in Lua, `"torch7"` or `"dmlab"`.
    * `timeout`: seconds after which a call from Python is ended. Turns the JIT compiler off: compiled code has no hooks.
    * `memory`: bytes that Lua's own values may take. Tensors do not count.
    * `sandbox`: removes files outside of the folder `root`, processes, bytecode, the debugger, the FFI. It keeps honest scripts
      from accidents, and is no protection against hostile ones, which can still hang or crash the process.
    * `jit=False`: turns the JIT compiler off, so that Ctrl-C takes effect immediately.
    * `python=True`: adds lupa's table `python`, with which a script can do anything.

    A runtime has its own random numbers and default tensor type. It runs one thread at a time; others wait.

    >>> from strided.lua import Lua
    >>> lua = Lua()
    >>> lua.execute("x = torch.range(1, 6):view(2, 3)")
    >>> lua["x"].sum(), lua.eval("x:t():size(1)")
    (21.0, 3)
    >>> lua["twice"] = lambda x: 2 * x
    >>> lua.eval("twice(21)")
    42
    """

    def __init__(
        self,
        version: str = "luajit",
        *,
        path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
        dialect: str = "torch7",
        timeout: float | None = None,
        memory: int | None = None,
        sandbox: bool = False,
        root: str | os.PathLike[str] | None = None,
        jit: bool = True,
        python: bool = False,
    ) -> None:
        if dialect not in ("torch7", "dmlab"):
            raise ValueError(f"Lua: dialect is {dialect!r}, wanted 'torch7' or 'dmlab'")
        if timeout is not None and not timeout > 0:
            raise ValueError(f"Lua: timeout is {timeout!r}, wanted a number of seconds above 0")
        if memory is not None and memory < LEAST_MEMORY:
            raise ValueError(f"Lua: memory is {memory!r}, wanted at least {LEAST_MEMORY} bytes")
        if sandbox and python:
            raise ValueError("Lua: a sandbox cannot have python=True, which gives scripts everything")
        if root is not None and not sandbox:
            raise ValueError("Lua: root is for sandbox=True; without it, scripts may open all files")
        self.version = version
        self.dialect = dialect
        self._lupa = backend(version)
        self._timeout = timeout
        self._deadline = float("inf")
        self._expired = False
        self._asked = self._loading = 0.0
        self._hooked = timeout is not None or not jit
        self._lock = threading.RLock()
        self._depth = 0
        self._handles: dict[int, int] = {}
        self._released: list[int] = []
        self._dispatchers: list[Any] = []
        self._loaded: set[str] = set()
        self._described: set[str] = set()
        self._streams: list[Any] = []
        folders = [path] if isinstance(path, (str, os.PathLike)) else path
        self._files = Files(folders, sandbox, root)
        self._values = _Values(self, python)
        self._adapters = Adapters(self._values)
        self._make_sessions(sandbox)
        self._start(memory, sandbox, python)

    # Starting

    def _make_sessions(self, sandbox: bool) -> None:
        from strided.dmlab import session as lab
        from strided.torch7 import session as torch

        in_torch, in_lab = torch.Session(lua=True), lab.Session(lua=True, resolve=self._files.resolve)
        in_torch.resolve = self._files.resolve
        in_torch.foreign_memory = in_torch.owns_process = not sandbox
        in_torch.where = lambda: cast(str, self._call(WHERE, ()))
        self._sessions: list[Any] = [in_torch, in_lab]
        self._currents: list[Any] = [torch.current, lab.current]
        self._outer: list[Any] = []  # the sessions outside of Lua, which functions of the user see

    def _start(self, memory: int | None, sandbox: bool, python: bool) -> None:
        """Makes the lupa runtime, and loads the Lua files into it."""
        options: dict[str, Any] = {"encoding": None, "unpack_returned_tuples": True}
        if memory is not None:
            options["max_memory"] = 0
        if not python:
            options |= {"attribute_handlers": (_refuse, _refuse), "register_eval": False, "register_builtins": False}
        self._runtime = runtime = self._lupa.LuaRuntime(**options)
        self._memory = memory
        self._limit = 1 << 62
        prepare = runtime.execute(_source("start"), name=b"=strided.glue")
        glue = prepare(
            runtime.table_from(encoded(self._host()), recursive=False),
            runtime.table_from(encoded(dict(CODES))),
            runtime.table_from(encoded({name: self._lupa.as_attrgetter(value) for name, value in MARKERS.items()})),
            runtime.table_from(
                {b"sandbox": sandbox, b"memory": memory is not None, b"hooked": self._hooked, b"python": python}
            ),
        )
        names = [*GLUE]
        if self._hooked:
            names.append("limits")
        if sandbox:
            names.append("sandbox")
        for name in names:
            chunk = runtime.compile(_source(name), name=b"=strided.glue")
            chunk(glue)
        self._dispatch = glue[b"call"]
        self._release = glue[b"release"]
        if self._hooked:
            self._arm, self._sethook = glue[b"arm"], glue[b"sethook"]
        self._add_folders(self._files.folders)
        if memory is not None:
            self._limit = runtime.get_memory_used(total=True) + memory

    def _host(self) -> dict[str, Any]:
        """The Python functions that the Lua files use."""
        adapt = self._adapters.adapt
        return {
            "feed": self._values.feed,
            "take": take,
            "text": lambda data: Reference(text_of(data)),
            "callback": lambda handle: Reference(LuaFunction(self, handle)),
            "dropped": self._take_dropped,
            "with_dispatcher": self._with_dispatcher,
            "bind": self._bind,
            "must_stop": self._must_stop,
            "interrupted": self._interrupted,
            "lift": self._lift,
            "restore": self._restore,
            "redirect": self._redirect,
            "end_redirection": self._end_redirection,
            "exit": adapt(_exit, "exit"),
            "write": adapt(output.write, "write"),
            "flush": adapt(output.flush, "flush"),
            "isatty": adapt(output.isatty, "isatty"),
            "read_source": adapt(self._files.read_source, "read_source"),
            "find_module": adapt(self._files.find_module, "find_module"),
            "end_loading": self._end_loading,
            "describe_torch": lambda: self._describe("torch7", library.describe_torch),
            "describe_lab": lambda: self._describe("dmlab", library.describe_lab),
        }

    def _describe(self, dialect: str, describe: Any) -> Any:
        """The description of a front end. Loading it does not count as time and memory of the script, the first time."""
        if dialect not in self._described:
            self._described.add(dialect)
            self._loading = time.monotonic()
            self._used = self._runtime.get_memory_used() or 0
            self._deadline += LOADING_TIME
            self._limit += LOADING_MEMORY
        described = self._runtime.table_from(describe(self._adapters), recursive=True)
        self._loaded.add(dialect)
        return described

    def _end_loading(self, loaded: bool) -> None:
        """Sets the limits back, and adds what loading took. A front end that was not loaded adds nothing."""
        if self._loading:
            used = (self._runtime.get_memory_used() or 0) - self._used
            self._deadline += (time.monotonic() - self._loading if loaded else 0) - LOADING_TIME
            self._limit += (max(used, 0) if loaded else 0) - LOADING_MEMORY
            self._loading = 0.0

    def _load(self, dialect: str) -> None:
        """Makes the classes of a front end known to Lua."""
        if dialect not in self._loaded:
            self._call(LOAD, (dialect,))

    def _add_folders(self, folders: Sequence[str]) -> None:
        if folders:
            source = "package.path = ... .. ';' .. package.path"
            self._call(RUN, (source, "=path", template_of(folders)))

    # Calls from Lua

    def _with_dispatcher(self, dispatch: Any, function: Any, *args: Any) -> Any:
        """Calls a function that may call Lua functions: `dispatch` runs them on the coroutine that is running now."""
        self._dispatchers.append(dispatch)
        del dispatch  # it must not outlive the coroutine, in a traceback for example
        try:
            return function(*args)
        finally:
            self._dispatchers.pop()

    def _bind(self, reference: Reference) -> Any:
        """A function of the user for Lua. It runs in the sessions outside of Lua."""
        adapted = self._adapters.adapt_callable(reference.value)

        def call(*args: Any) -> Any:
            with self._suspended():
                return adapted(*args)

        return call

    def _redirect(self) -> None:
        self._streams.append(sys.stdout)
        sys.stdout = cast(Any, _Writer(self))

    def _end_redirection(self) -> None:
        sys.stdout = self._streams.pop()

    def _suspended(self) -> ExitStack:
        stack = ExitStack()
        for session in self._outer:
            stack.enter_context(session.activate())
        return stack

    def _must_stop(self) -> int | None:
        """What the hook asks: after how many instructions it asks again, or None to stop the script.

        Python handles signals while this runs, so that Ctrl-C is prompt. A script whose instructions take long, because
        they call C functions that do, is asked more often.
        """
        try:
            now = time.monotonic()
            passed, self._asked = now - self._asked, now
            if self._adapters.interruption is None and now < self._deadline:
                return 10 if passed > 10 * TICK else 100 if passed > TICK else 1000
            self._expired = self._adapters.interruption is None
        except BaseException as error:
            self._adapters.interruption = error
        return None

    def _interrupted(self, error: object) -> bytes:
        """Takes an exception that entered Lua as it was, at the first instruction of a function, and returns its text.

        It is a KeyboardInterrupt of a signal, which ends the script, or a RecursionError.
        """
        if isinstance(error, BaseException):
            return cast(bytes, self._adapters.failure(error, "")[0])
        return b"stack overflow"

    def _make_room(self) -> None:
        """Before a call under a memory limit: collects garbage if the last call has used most of it.

        Functions that Python held are garbage in the second pass, and what they referred to in the third.
        """
        if self._runtime.get_memory_used(total=True) > self._limit // 2:
            for _ in range(3):
                self._runtime.gccollect()
                self._drop_handles()

    def _lift(self) -> None:
        self._runtime.set_max_memory(0)

    def _restore(self) -> None:
        self._runtime.set_max_memory(self._limit, total=True)

    # Calls of Lua

    def _call(self, handle: int, args: tuple[Any, ...]) -> Any:
        """Calls a function that Lua knows by a number."""
        with self._lock:
            if self._depth:
                return self._nested_call(handle, args)
            with ExitStack() as stack:
                self._outer = [current() for current in self._currents]
                for session in self._sessions:
                    stack.enter_context(session.activate())
                return self._outermost_call(handle, args)

    def _outermost_call(self, handle: int, args: tuple[Any, ...]) -> Any:
        adapters = self._adapters
        adapters.last_error = adapters.interruption = None
        self._expired = False
        cursor, plain = self._arguments(args)
        self._depth = 1
        try:
            if self._memory is not None:
                self._lift()
            self._drop_handles()
            if self._memory is not None:
                self._make_room()
            if self._hooked:
                self._asked = time.monotonic()
                self._deadline = self._asked + self._timeout if self._timeout else float("inf")
                self._sethook()
                self._arm()
            outcome = self._dispatch(True, handle, cursor, len(args), *plain)
        except self._lupa.LuaError as error:
            outcome = (False, _message(error).encode(), b"", None)
        finally:
            self._depth = 0
            self._end_loading(False)
            while self._streams:
                self._end_redirection()
            if self._hooked:
                self._sethook()
        if adapters.interruption is not None:
            raise adapters.interruption
        return self._outcome(outcome, outermost=True)

    def _nested_call(self, handle: int, args: tuple[Any, ...]) -> Any:
        if self._depth >= MAX_DEPTH:
            raise LuaError("C stack overflow")
        cursor, plain = self._arguments(args)
        call = self._dispatchers[-1] if self._dispatchers else self._dispatch
        self._depth += 1
        try:
            outcome = call(False, handle, cursor, len(args), *plain)
        except self._lupa.LuaError as error:
            raise LuaError(_message(error)) from None
        finally:
            call = None  # the function of a coroutine must not outlive it in a traceback
            self._depth -= 1
        if self._timeout and time.monotonic() >= self._deadline:  # Python has taken the time, where no hook asks
            self._expired = True
            raise ScriptStopped
        return self._outcome(outcome, outermost=False)

    def _arguments(self, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        """Arguments for `glue.call`: a cursor, or plain values."""
        encoded = [self._values.encode(arg) for arg in args]
        if all(code is None for _, code in encoded):
            return None, tuple(value for value, _ in encoded)
        return self._values.cursor(list(args)), ()

    def _outcome(self, outcome: Any, outermost: bool) -> Any:
        """The result of a call, or its error."""
        if outcome.__class__ is not tuple:
            outcome = (outcome,)
        if outcome[0]:
            values = [value.value if value.__class__ is Reference else value for value in outcome[1:]]
            return None if not values else values[0] if len(values) == 1 else tuple(values)
        message, trace = (cast(bytes, part).decode("utf-8", "surrogateescape") for part in outcome[1:3])
        if not outermost:
            if self._expired or self._adapters.interruption is not None:
                raise ScriptStopped
            raise LuaError._kept(message, *outcome[3:])
        raise self._error(message, _script_part(trace)) from self._cause(message)

    def _error(self, message: str, trace: str) -> LuaError:
        if self._expired:
            return LuaTimeoutError(f"the script ran longer than timeout={self._timeout} s", trace)
        if "not enough memory" in message:
            return LuaMemoryError(message, trace)
        return LuaError(message, trace)

    def _cause(self, message: str) -> Exception | None:
        """The exception of a Python function whose text the message is."""
        last = self._adapters.last_error
        self._adapters.last_error = None
        return last if last is not None and str(last) and message.endswith(str(last)) else None

    def _dropped(self) -> list[int]:
        """Handles of functions that Python does not hold any more."""
        released, self._released = self._released, []
        return [handle for handle in set(released) if handle not in self._handles]

    def _is_c(self, handle: int) -> bool:
        return bool(self._call(IS_C, (handle,)))

    def _drop_handles(self) -> None:
        if self._released:
            dropped = self._dropped()
            for start in range(0, len(dropped), VALUES_PER_CALL):
                self._release(*dropped[start : start + VALUES_PER_CALL])

    def _take_dropped(self) -> tuple[int, ...]:
        """Some of those handles, for Lua to release while it runs."""
        dropped = self._dropped()
        self._released += dropped[VALUES_PER_CALL:]
        return tuple(dropped[:VALUES_PER_CALL])

    # What users call

    def execute(self, source: str | bytes, *args: Any, name: str = "script") -> Any:
        """Runs a piece of Lua, with `...` being `args`. The result is what it returns, several values as a tuple.

        `name` is the name of the piece in error messages.

        >>> from strided.lua import Lua
        >>> Lua().execute("local a, b = ...; return a + b, a * b", 3, 4)
        (7, 12)
        """
        return self._call(RUN, (source, f"={name}", *args))

    def eval(self, expression: str | bytes) -> Any:
        """The value of a Lua expression.

        >>> from strided.lua import Lua
        >>> Lua().eval("#'four' + 1")
        5
        """
        return self._call(EVALUATE, (expression,))

    def dofile(self, path: str | os.PathLike[str], *args: Any) -> Any:
        """Runs a script, with `...` and the global `arg` being `args`. Modules beside it can be required.

        >>> import os, tempfile
        >>> from strided.lua import Lua
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "sum.lua")
        ...     with open(path, "w") as file:
        ...         _ = file.write("local a, b = ... return a + b + #arg")
        ...     Lua().dofile(path, 1, 2)
        5
        """
        name = os.fspath(path)
        with open(name, "rb") as file:
            source = file.read()
        if source.startswith(b"#"):
            source = b"--" + source
        self["arg"] = {0: name} | dict(enumerate(args, 1))
        folder = os.path.dirname(name) or "."
        if folder not in self._files.folders:
            self._files.folders.append(folder)
            self._add_folders([self._files.absolute(folder)])
        return self._call(RUN, (source, f"@{name}", *args))

    def names(self, path: str = "") -> list[str]:
        """The names of the globals, or of what is in `path`, such as `"torch"` or an object.

        >>> from strided.lua import Lua
        >>> "narrow" in Lua().names("torch.DoubleTensor")
        True
        """
        return sorted(set(self._call(NAMES, (path,))))

    def __getitem__(self, name: str) -> Any:
        """A global. Tables are copied into lists and dicts; a name that is not set gives None."""
        return self._call(GET, (name,))

    def __setitem__(self, name: str, value: Any) -> None:
        """Sets a global. Lists and dicts are copied into tables."""
        self._call(SET, (name, value))

    def __repr__(self) -> str:
        return f"<Lua {self.version}>"


def _script_part(trace: str) -> str:
    """A traceback without the functions of this package."""
    lines = [line for line in trace.strip("\n").split("\n") if "strided.glue" not in line]
    while lines and lines[-1].endswith(("in function 'xpcall'", "in function 'pcall'")):
        lines.pop()
    return "\n".join(lines)


def _exit(code: Any = None) -> None:
    """Ends the program as Lua's `os.exit` does: true is success, false is failure."""
    raise SystemExit({None: 0, True: 0, False: 1}.get(code, code))


def _message(error: Exception) -> str:
    """The text of an error of lupa, without its traceback; it has none if memory ran out."""
    return str(error).partition("\nstack traceback:")[0] or "not enough memory"


def _refuse(*args: Any) -> None:
    raise AttributeError("Python objects have no attributes here")


def _source(name: str) -> bytes:
    return resources("strided.lua").joinpath("glue", f"{name}.lua").read_bytes()
