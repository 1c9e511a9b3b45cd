"""`Tester` and `TestSuite`: unit tests with assertions about numbers, tensors and tables, and a report."""

from __future__ import annotations

import gc
import operator
import sys
import traceback
from collections.abc import Callable
from types import FunctionType
from typing import Any

from strided._dialect.classes import alias
from strided._dialect.lua import lua_type
from strided.torch7.errors import TorchError
from strided.torch7.session import current
from strided.torch7.tensor.classes import Tensor
from strided.torch7.tools.comparing import compare, compare_tensors, table_of
from strided.torch7.tools.luapattern import search
from strided.torch7.tools.luatext import text_of

_COLUMNS = 80
_FOUND = "An error was found while running tests!"


def _require(condition: object, message: str) -> None:
    """Raises an error with a message, as `assert` of Lua."""
    if not condition:
        raise TorchError(message)


def _message(arguments: tuple[Any, ...]) -> str:
    """The message of an assertion, as the first line of a report."""
    _require(len(arguments) < 2, "Unexpected arguments passed to test function")
    text = arguments[0] if arguments else None
    _require(text is None or isinstance(text, str), "message parameter must be a string")
    return f"{text}\n" if text else ""


def _tolerance_and_message(default: float, arguments: tuple[Any, ...]) -> tuple[float, str]:
    """The tolerance and the message of an assertion, in either order."""
    message: str | None = None
    tolerance: float | None = None
    for value in arguments:
        match lua_type(value):
            case "nil":
                break
            case "string":
                _require(message is None, "Unexpected string argument; already have message")
                message = f"{text_of(value)}\n"
            case "number":
                _require(tolerance is None, "Unexpected number argument; already have tolerance")
                _require(value >= 0, "tolerance cannot be negative")
                tolerance = value
            case _:
                raise TorchError("Unrecognized argument; should be a tolerance or message")
    return default if tolerance is None else tolerance, message or ""


def _try_call(function: Callable[[], Any]) -> tuple[bool, Any]:
    """Whether a function returns, and else the error: the text of Torch7 or of Lua, or the exception."""
    try:
        function()
    except Exception as error:
        is_text = isinstance(error, TorchError) or getattr(error, "is_text", False)
        return False, str(error) if is_text else error
    return True, None


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


class TestSuite:
    """A set of tests, one for each attribute that is set; none may be set twice.

    >>> from strided import torch7 as torch
    >>> suite = torch.TestSuite()
    >>> def works(): pass
    >>> suite.works = works
    """

    __test__ = False  # it is not a test of pytest
    _typename = "torch.TestSuite"

    def __init__(self) -> None:
        object.__setattr__(self, "_tests", {})

    def __getattr__(self, name: str) -> Any:
        tests: dict[str, Any] = object.__getattribute__(self, "_tests")
        if name in tests:
            return tests[name]
        raise AttributeError(f"the suite has no test {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        tests: dict[str, Any] = object.__getattribute__(self, "_tests")
        _require(name not in tests, f"Test {text_of(name)} is already defined.")
        if lua_type(value) != "function":
            _require(lua_type(value) != "table", "Nested tables of tests are not supported")
            raise TorchError("Only functions are supported as members of a TestSuite")
        tests[name] = value

    __setitem__ = __setattr__
    __getitem__ = __getattr__


def _comparison(name: str, holds: str, fails: str, compare: Callable[[Any, Any], Any], operands: str) -> Any:
    """An assertion that compares two values with an operator: `holds` is what it asserts, `fails` the opposite."""

    def method(self: Any, a: Any, b: Any, *message: Any) -> bool:
        condition = compare(a, b)
        text = f"{_message(message)}{name.upper()} failed: {text_of(a)} {fails} {text_of(b)}"
        return self._decide(condition, text)  # type: ignore[no-any-return]

    method.__name__, method.__qualname__ = f"assert{name}", f"Tester.assert{name}"
    example = f">>> from strided import torch7 as torch\n>>> torch.Tester().assert{name}({operands})\nTrue"
    method.__doc__ = (
        f"`a {holds} b`{', which for tensors means the same tensor' if name == 'eq' else ''}.\n\n{example}\n"
    )
    return method


class _Assertions:
    """The assertions of a tester. All return whether they hold."""

    _ignores_dims = True

    def _decide(self, condition: object, message: str) -> bool:
        raise NotImplementedError

    def _warn(self, message: str) -> None:
        raise NotImplementedError

    def assert_(self, condition: Any, *message: Any) -> bool:
        """The condition is true. Its name in Torch7 is `assert`, which is a word of Python.

        >>> from strided import torch7 as torch
        >>> tester = torch.Tester()
        >>> tester.add(lambda: tester.assert_(1 < 2), "numbers").run()  # doctest: +ELLIPSIS
        Running 1 test
        ...
        Completed 1 assert in 1 test with 0 failures and 0 errors
        0
        """
        text = _message(message)
        if not isinstance(condition, bool):
            self._warn(
                " :assert should only be used for boolean conditions. To check for non-nil variables, do this explicitly: "
                "Tester:assert(var ~= nil)."
            )
        holds = condition is not None and condition is not False
        return self._decide(holds, f"{text}BOOL violation condition={text_of(condition)}")

    def _equal(self, got: Any, expected: Any, negate: bool, arguments: tuple[Any, ...]) -> bool:
        tolerance, message = _tolerance_and_message(0, arguments)
        holds, text = compare(got, expected, tolerance, negate)
        return self._decide(holds, message + text)

    def assertGeneralEq(self, got: Any, expected: Any, *arguments: Any) -> bool:
        """Two values are equal within a tolerance: numbers, tensors, storages, lists and dicts of these.

        >>> from strided import torch7 as torch
        >>> tester = torch.Tester()
        >>> tester.setRethrowErrors(True)
        >>> try:
        ...     tester.eq([1, 2], [1, 3])
        ... except torch.TorchError as error:
        ...     print(error)
        At table location 2: EQ failed: 2 ~= 3
        """
        return self._equal(got, expected, False, arguments)

    def assertGeneralNe(self, got: Any, unexpected: Any, *arguments: Any) -> bool:
        """Two values differ by more than a tolerance.

        >>> from strided import torch7 as torch
        >>> torch.Tester().assertGeneralNe([1], [2])
        True
        """
        return self._equal(got, unexpected, True, arguments)

    eq, ne = alias("eq", assertGeneralEq), alias("ne", assertGeneralNe)

    assertlt = _comparison("lt", "<", ">=", operator.lt, "1, 2")
    assertgt = _comparison("gt", ">", "<=", operator.gt, "2, 1")
    assertle = _comparison("le", "<=", ">", operator.le, "1, 1")
    assertge = _comparison("ge", ">=", "<", operator.ge, "1, 1")
    asserteq = _comparison("eq", "==", "~=", operator.eq, '"a", "a"')

    def assertne(self, a: Any, b: Any, *message: Any) -> bool:
        """`a ~= b`, which for tensors means another tensor.

        >>> from strided import torch7 as torch
        >>> torch.Tester().assertne(1, 2)
        True
        """
        text = _message(message)
        if (lua_type(a) == lua_type(b) == "table") or lua_type(a) == "userdata":
            self._warn(
                " :assertne should only be used to compare basic lua objects (numbers, booleans, etc). Consider using "
                "either :assertGeneralNe or :assert(a ~= b)."
            )
        return self._decide(a != b, f"{text}NE failed: {text_of(a)} == {text_of(b)}")

    def assertalmosteq(self, a: float, b: float, *arguments: Any) -> bool:
        """Two numbers differ by no more than a tolerance, 1e-16 unless given.

        >>> from strided import torch7 as torch
        >>> torch.Tester().assertalmosteq(0.1 + 0.2, 0.3, 1e-15)
        True
        """
        tolerance, message = _tolerance_and_message(1e-16, arguments)
        text = f"ALMOST_EQ failed: {text_of(a)} ~= {text_of(b)} with tolerance={text_of(tolerance)}"
        return self._decide(abs(a - b) <= tolerance, message + text)

    def _tensors(self, a: Any, b: Any, negate: bool, arguments: tuple[Any, ...]) -> bool:
        _require(isinstance(a, Tensor), "First argument should be a Tensor")
        _require(isinstance(b, Tensor), "Second argument should be a Tensor")
        tolerance, message = _tolerance_and_message(0, arguments)
        holds, text = compare_tensors(a, b, tolerance, negate, self._ignores_dims)
        if self._ignores_dims and not negate and holds and a._tensor.shape != b._tensor.shape:
            self._warn(
                "Tensors have the same content but different dimensions. For backwards compatibility, they are considered "
                "equal, but this may change in the future. Consider using :eq to check for equality instead."
            )
        return self._decide(holds, message + text)

    def assertTensorEq(self, a: Any, b: Any, *arguments: Any) -> bool:
        """Two tensors have equal elements within a tolerance; their sizes may differ.

        >>> from strided import torch7 as torch
        >>> tester = torch.Tester()
        >>> tester.setRethrowErrors(True)
        >>> try:
        ...     tester.assertTensorEq(torch.ones(2), torch.zeros(2), 0.5)
        ... except torch.TorchError as error:
        ...     print(error)
        TensorEQ(==) violation: max diff=1, tolerance=0.5
        """
        return self._tensors(a, b, False, arguments)

    def assertTensorNe(self, a: Any, b: Any, *arguments: Any) -> bool:
        """Two tensors differ.

        >>> from strided import torch7 as torch
        >>> torch.Tester().assertTensorNe(torch.ones(2), torch.zeros(2))
        True
        """
        return self._tensors(a, b, True, arguments)

    def _tables(self, a: Any, b: Any, negate: bool, arguments: tuple[Any, ...]) -> bool:
        _require(lua_type(a) == "table", "First argument should be a Table")
        _require(lua_type(b) == "table", "Second argument should be a Table")
        return self._equal(a, b, negate, arguments)

    def assertTableEq(self, a: Any, b: Any, *arguments: Any) -> bool:
        """Two lists or dicts are equal within a tolerance.

        >>> from strided import torch7 as torch
        >>> torch.Tester().assertTableEq({"a": 1}, {"a": 1})
        True
        """
        return self._tables(a, b, False, arguments)

    def assertTableNe(self, a: Any, b: Any, *arguments: Any) -> bool:
        """Two lists or dicts differ.

        >>> from strided import torch7 as torch
        >>> torch.Tester().assertTableNe([1], [2])
        True
        """
        return self._tables(a, b, True, arguments)

    def assertErrorObj(self, f: Callable[[], Any], accepts: Callable[[Any], Any], *message: Any) -> bool:
        """A function raises an error that another function accepts.

        >>> from strided import torch7 as torch
        >>> torch.Tester().assertErrorObj(lambda: 1 / 0, lambda error: isinstance(error, ZeroDivisionError))
        True
        """
        text = _message(message)
        returned, error = _try_call(f)
        holds = not returned and bool(accepts(error))
        return self._decide(holds, f"{text}ERROR violation: err={text_of(error)}")

    def assertError(self, f: Callable[[], Any], *message: Any) -> bool:
        """A function raises an error.

        >>> from strided import torch7 as torch
        >>> torch.Tester().assertError(lambda: torch.Tensor(2).narrow(2, 1, 1))
        True
        """
        return self.assertErrorObj(f, lambda error: True, *message)

    def assertNoError(self, f: Callable[[], Any], *message: Any) -> bool:
        """A function raises no error.

        >>> from strided import torch7 as torch
        >>> torch.Tester().assertNoError(lambda: torch.Tensor(2))
        True
        """
        text = _message(message)
        returned, error = _try_call(f)
        return self._decide(returned, f"{text}ERROR violation: err={text_of(error)}")

    def assertErrorMsg(self, f: Callable[[], Any], wanted: str, *message: Any) -> bool:
        """A function raises an error with this text.

        >>> from strided import torch7 as torch
        >>> torch.Tester().assertErrorMsg(lambda: torch.ones(2).sum(2), "bad argument #1 to 'sum' (dimension 2 out of range)")
        True
        """
        return self.assertErrorObj(f, lambda error: text_of(error) == wanted, *message)

    def assertErrorPattern(self, f: Callable[[], Any], pattern: str, *message: Any) -> bool:
        """A function raises an error whose text fits a Lua pattern.

        >>> from strided import torch7 as torch
        >>> tester = torch.Tester()
        >>> tester.setRethrowErrors(True)
        >>> tester.assertErrorPattern(lambda: torch.Tensor(2).narrow(1, 3, 1), "out of range")
        True
        """
        return self.assertErrorObj(f, lambda error: search(pattern, text_of(error)) is not None, *message)


class Tester(_Assertions):
    """Runs tests and reports them.

    >>> from strided import torch7 as torch
    >>> tester, suite = torch.Tester(), torch.TestSuite()
    >>> def ones():
    ...     tester.assertTensorEq(torch.ones(2), torch.Tensor([1, 1]))
    >>> suite.ones = ones
    >>> tester.add(suite).run()  # doctest: +ELLIPSIS
    Running 1 test
    ...
    Completed 1 assert in 1 test with 0 failures and 0 errors
    0
    """

    _typename = "torch.Tester"

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.warnings: list[str] = []
        self.tests: dict[str, Callable[[], Any]] = {}
        self.disabledTests: dict[str, bool] = {}
        self.earlyAbort: Any = None
        self.rethrow: Any = None
        self.summaryOnly: Any = None
        self.countasserts = 0
        self._set_up: Callable[..., Any] | None = None
        self._tear_down: Callable[..., Any] | None = None
        self._current = ""
        self._passed: dict[str, int] = {}
        self._failed: dict[str, int] = {}
        self._broken: dict[str, int] = {}
        self._warned: dict[str, int] = {}

    def setEarlyAbort(self, early: Any) -> None:
        """Stops after the first test that fails.

        >>> from strided import torch7 as torch
        >>> torch.Tester().setEarlyAbort(True)
        """
        self.earlyAbort = early

    def setRethrowErrors(self, rethrow: Any) -> None:
        """Raises errors instead of collecting them.

        >>> from strided import torch7 as torch
        >>> tester = torch.Tester()
        >>> tester.setRethrowErrors(True)
        >>> try:
        ...     tester.eq(1, 2)
        ... except torch.TorchError as error:
        ...     print(error)
        EQ failed: 1 ~= 2
        """
        self.rethrow = rethrow

    def setSummaryOnly(self, only: Any) -> None:
        """Leaves out the messages from the report.

        >>> from strided import torch7 as torch
        >>> torch.Tester().setSummaryOnly(True)
        """
        self.summaryOnly = only

    # What assertions report

    def _decide(self, condition: object, message: str) -> bool:
        name = self._current
        if condition:
            self._passed[name] = self._passed.get(name, 0) + 1
            return True
        if self.rethrow:
            raise TorchError(message)
        self._failed[name] = self._failed.get(name, 0) + 1
        self.errors.append(self._located(message))
        return False

    def _warn(self, message: str) -> None:
        self._warned[self._current] = self._warned.get(self._current, 0) + 1
        self.warnings.append(self._located(message))

    def _located(self, message: str) -> str:
        """A message with the name of the test and the line that found it."""
        name = f"{self._current}\n" if self._current else ""
        test = self.tests.get(self._current)
        where = current().where
        place = where() if where else ""
        if isinstance(test, FunctionType):
            frames = [frame for frame in traceback.extract_stack() if frame.filename == test.__code__.co_filename]
            place = f"\t{frames[-1].filename}:{frames[-1].lineno}: in function {frames[-1].name}" if frames else ""
        return f"{name}{message}\n{place}"

    # Which tests

    def add(self, f: Any, name: str | None = None) -> Tester:
        """Adds a function as a test of a name, or all tests of a suite or a dict. `_setUp` and `_tearDown` run before and
        after every test.

        >>> from strided import torch7 as torch
        >>> tester = torch.Tester()
        >>> tester.add(lambda: None, "nothing") is tester
        True
        """
        if isinstance(f, TestSuite) or lua_type(f) == "table":
            _require(name is None, "Name parameter is forbidden for a table of tests, since its use is ambiguous")
            if not isinstance(f, TestSuite):
                self._warn("Should use TestSuite rather than plain lua table")
            tests: dict[Any, Any] = f._tests if isinstance(f, TestSuite) else table_of(f)
            for key, test in tests.items():
                _require(lua_type(test) != "table", "Nested sets of tests are not supported")
                self.add(test, key)
            return self
        _require(lua_type(f) == "function", "Only tables of functions and functions supported")
        if name == "_setUp":
            _require(not self._set_up, "Only one set-up function allowed")
            self._set_up = f
        elif name == "_tearDown":
            _require(not self._tear_down, "Only one tear-down function allowed")
            self._tear_down = f
        else:
            name = "unknown" if name is None else name
            _require(name not in self.tests, f"Test with name {name} already exists!")
            self.tests[name] = f
        return self

    def disable(self, names: Any) -> Tester:
        """Skips a test, or the tests of a list.

        >>> from strided import torch7 as torch
        >>> tester = torch.Tester().add(lambda: None, "nothing")
        >>> tester.disable("nothing") is tester
        True
        """
        names = [names] if isinstance(names, str) else names
        _require(lua_type(names) == "table", "Expecting name or list for disable")
        for name in table_of(names).values():
            _require(name in self.tests, f"Unrecognized test '{name}'")
            self.disabledTests[name] = True
        return self

    def _select(self, names: Any) -> dict[str, Callable[[], Any]]:
        """The tests whose names fit one of the patterns; all without patterns."""
        if names is None:
            return self.tests
        names = [names] if isinstance(names, str) else names
        _require(lua_type(names) == "table", "Only accept a name or table of test names (or nil for all tests)")
        chosen: dict[str, Callable[[], Any]] = {}
        for pattern in table_of(names).values():
            fitting = {name: test for name, test in self.tests.items() if search(pattern, str(name)) is not None}
            _require(fitting, f"Couldn't find test '{pattern}'")
            chosen.update(fitting)
        return chosen

    # Running

    def run(self, names: Any = None) -> int:
        """Runs the tests whose names fit a Lua pattern, or one of a list of patterns, or all tests; prints a report, and
        raises an error if a test failed.

        >>> from strided import torch7 as torch
        >>> torch.Tester().add(lambda: None, "nothing").run("noth.*")  # doctest: +ELLIPSIS
        Running 1 test
        ...
        Completed 0 asserts in 1 test with 0 failures and 0 errors
        0
        """
        tests = self._select(names)
        for counts in (self._passed, self._failed, self._broken, self._warned):
            counts.update(dict.fromkeys(tests, 0))
        self._run(tests)
        self._report(tests)
        _require(not any(self._failed[name] or self._broken[name] for name in tests), _FOUND)
        return 0

    def _run(self, tests: dict[str, Callable[[], Any]]) -> None:
        out, total = sys.stdout, str(len(tests))
        out.write(f"Running {_plural(len(tests), 'test')}\n")
        for number, (name, test) in enumerate(tests.items(), 1):
            self._current = name
            count = f"{number:>{len(total)}}/{total} "
            dots = "." * (_COLUMNS - 8 - (2 * len(total) + 2) - len(str(name)))
            line = f"{count}{name} {dots} "
            out.write(f"{line}[WAIT]")
            out.flush()
            status = self._run_one(name, test)
            out.write(f"\r{line}[{status}]")
            if status == "PASS" and self._warned[name]:
                out.write(f"\n{' ' * (_COLUMNS - 10)}[+warning]")
            out.write("\n")
            out.flush()
            if self.earlyAbort and number < len(tests) and status in ("ERROR", "FAIL"):
                out.write("Aborting on first error, not all tests have been executed\n")
                break
            gc.collect()

    def _run_one(self, name: str, test: Callable[[], Any]) -> str:
        """Runs a test, and returns the word for its outcome."""
        if self.disabledTests.get(name):
            return "SKIP"
        before = len(self.errors)
        if self._set_up:
            self._set_up(name)
        returned = True
        if self.rethrow:
            test()
        else:
            returned = self._protected(test)
        if self._tear_down:
            self._tear_down(name)
        if not returned:
            self._broken[name] = 1
            return "ERROR"
        return "PASS" if len(self.errors) == before else "FAIL"

    def _protected(self, test: Callable[[], Any]) -> bool:
        """Runs a test, and reports an error in it."""
        try:
            test()
        except Exception as error:
            lua = getattr(error, "traceback", None)
            text = f"{error}\n{lua}" if isinstance(lua, str) else traceback.format_exc()
            self.errors.append(f"{self._current}\n Function call failed\n{text}\n")
            return False
        return True

    def _report(self, tests: dict[str, Callable[[], Any]]) -> None:
        out = sys.stdout
        self.countasserts = sum(self._failed[name] + self._passed[name] for name in tests)
        failures = sum(self._failed[name] > 0 for name in tests)
        broken = sum(self._broken[name] > 0 for name in tests)
        warned = sum(self._warned[name] > 0 for name in tests) + self._warned.get("", 0)
        skipped = sum(bool(self.disabledTests.get(name)) for name in tests)
        out.write(f"Completed {_plural(self.countasserts, 'assert')} in {_plural(len(tests), 'test')}")
        out.write(f" with {_plural(failures, 'failure')} and {_plural(broken, 'error')}")
        if warned:
            out.write(f" and {_plural(warned, 'warning')}")
        if skipped:
            out.write(f" and {skipped} disabled")
        out.write("\n")
        messages = [] if self.summaryOnly else [*self.errors, *self.warnings]
        dashes = "-" * _COLUMNS
        out.write(f"{dashes}\n" if messages else "")
        for message in messages:
            out.write(f"{message}\n{dashes}\n")


setattr(Tester, "assert", Tester.assert_)
