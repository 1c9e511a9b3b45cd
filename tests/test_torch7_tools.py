"""Torch7's tools: `Timer`, `CmdLine`, `Tester` and `TestSuite`, with the texts that the originals print."""

import io
import re
import time

import pytest

from strided import torch7 as torch
from strided.torch7.tools import luapattern, luatext

# Timer


def test_a_timer_counts_while_it_runs(monkeypatch):
    clocks = {"real": 100.0, "user": 10.0, "sys": 1.0}
    monkeypatch.setattr("strided.torch7.tools.timer._clocks", lambda: tuple(clocks.values()))

    def spend(real, user, sys):
        clocks.update(real=clocks["real"] + real, user=clocks["user"] + user, sys=clocks["sys"] + sys)

    timer = torch.Timer()
    assert str(timer) == "torch.Timer [status: running]"
    spend(4, 2, 1)
    assert timer.time() == {"real": 4, "user": 2, "sys": 1}
    assert timer.stop() is timer and str(timer) == "torch.Timer [status: stopped]"
    spend(8, 8, 8)
    assert timer.time() == {"real": 4, "user": 2, "sys": 1} == timer.resume().time()
    spend(3, 2, 1)
    assert timer.time() == {"real": 7, "user": 4, "sys": 2}
    assert timer.stop().reset().time() == {"real": 0.0, "user": 0.0, "sys": 0.0}


def test_the_clocks_of_a_timer_are_those_of_the_process():
    before, timer = time.time(), torch.Timer()
    while timer.time()["user"] + timer.time()["sys"] == 0:  # computes until the process has spent a tick
        pass
    assert 0 < timer.time()["real"] <= time.time() - before


# CmdLine


@pytest.fixture
def cmd():
    cmd = torch.CmdLine()
    cmd.text("Usage text")
    cmd.text()
    cmd.option("-lr", 0.1, "learning rate")
    cmd.option("-name", "foo", "a name")
    cmd.option("-flag", False, "a flag")
    cmd.argument("-in", "input file")
    return cmd


def test_options_and_arguments_are_read(cmd):
    assert cmd.parse(["x.t7"]) == {"lr": 0.1, "name": "foo", "flag": False, "in": "x.t7"}
    found = cmd.parse(["x.t7", "-lr", "1e-3", "-flag", "-name", "1"])
    assert found == {"lr": 0.001, "name": "1", "flag": True, "in": "x.t7"}
    assert cmd.parse({0: "program", 1: "-lr", 2: "5", 3: "y"})["lr"] == 5
    assert cmd.default() == {"lr": 0.1, "name": "foo", "flag": False}


def test_the_help_lists_texts_options_and_arguments(cmd, capsys):
    cmd.help()
    assert capsys.readouterr().out == (
        "Usage: [options] <in>\nUsage text\n\n  -lr   learning rate [0.1]\n  -name a name [foo]\n"
        "  -flag a flag [false]\n  <in>  input file\n"
    )
    with pytest.raises(SystemExit) as stop:
        cmd.parse({0: "program", 1: "-help"})
    assert stop.value.code == 0 and capsys.readouterr().out.startswith("Usage: program [options] <in>\n")


@pytest.mark.parametrize(
    "words, text",
    [
        ([], "not enough arguments"),
        (["a", "b"], "invalid argument: b"),
        (["a", "-lr"], "missing argument for option -lr"),
        (["a", "-lr", "fast"], "invalid type for option -lr (should be number)"),
    ],
)
def test_a_wrong_command_line_prints_the_help_and_exits(cmd, capsys, words, text):
    with pytest.raises(SystemExit) as stop:
        cmd.parse(words)
    printed = capsys.readouterr()
    assert stop.value.code == 1 and printed.err == text and "Usage: [options] <in>" in printed.out


def test_declarations_are_checked():
    with pytest.raises(torch.TorchError, match=r"^option -c has no default value$"):
        torch.CmdLine().option("-c")
    with pytest.raises(torch.TorchError, match=r"^option -c has wrong default type value$"):
        torch.CmdLine().option("-c", 1, "", "string")


def test_a_run_is_named_by_what_differs_from_the_defaults(cmd):
    assert cmd.string("exp", {"lr": 0.1, "name": "bar", "flag": True}, {}) == "exp,flag=t,name=bar"
    assert cmd.string("exp", {"lr": 0.2, "name": "bar", "flag": True}, {"name": True}) == "exp,flag=t,lr=0.2"
    assert cmd.string("exp", {"in": "x", "lr": 0.2}, {}) == "exp,in=x,lr=0.2"
    other = torch.CmdLine("*", "_")
    other.option("-a", 1)
    assert other.string("e", {"a": 2}, {}) == "e*a_2" and other.string("e", {"a": 1}, {}) == "e"


def test_a_log_goes_to_the_screen_and_to_a_file(cmd, tmp_path, capsys):
    write = cmd.log(str(tmp_path / "log"), {"lr": 0.5})
    write("x", 1.5, True)
    assert capsys.readouterr().out.splitlines()[1:] == [
        "[command line arguments]",
        "lr\t0.5",
        "[----------------------]",
        "x\t1.5\ttrue",
    ]
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[0].startswith("[program started on ") and lines[-1] == "x 1.5 true "
    stream = io.StringIO()
    cmd.silent()
    cmd.addTime("run", "%Y")
    cmd.log(stream)("y")
    assert re.fullmatch(r"\d{4}\[run\]:  y ", stream.getvalue().splitlines()[-1])
    assert capsys.readouterr().out == ""


# Tester


def report_of(test, capsys, name="one", **settings):
    """What a tester prints about one test, and whether it raised an error."""
    suite, tester = torch.TestSuite(), torch.Tester()
    setattr(suite, name, lambda: test(tester))
    tester.add(suite)
    for key, value in settings.items():
        getattr(tester, key)(value)
    try:
        tester.run()
        raised = False
    except torch.TorchError as error:
        assert str(error) == "An error was found while running tests!"
        raised = True
    return capsys.readouterr().out, raised


def test_a_report_has_a_line_for_each_test(capsys):
    text, raised = report_of(lambda t: t.assert_(True, "ok"), capsys)
    line = "1/1 one ................................................................. "
    assert not raised and text == (
        f"Running 1 test\n{line}[WAIT]\r{line}[PASS]\nCompleted 1 assert in 1 test with 0 failures and 0 errors\n"
    )


@pytest.mark.parametrize(
    "test, message",
    [
        (lambda t: t.assert_(False, "not ok"), "not ok\nBOOL violation condition=false"),
        (lambda t: t.eq(1, 2, "ne"), "ne\nEQ failed: 1 ~= 2"),
        (lambda t: t.eq(1, 2, 0.5), "EQ failed: 1 ~= 2 with tolerance=0.5"),
        (lambda t: t.eq([1, 2], [1, 3], "tables"), "tables\nAt table location 2: EQ failed: 2 ~= 3"),
        (lambda t: t.eq([1, [2, 3]], [1, [2]]), "Entry 2.2 missing in second table (is 3 in first)"),
        (lambda t: t.eq({"a": 1}, {"a": 1, "b": 2}), "Entry b missing in first table (is 2 in second)"),
        (lambda t: t.eq(torch.ones(2), torch.ones(3)), "The tensors have different sizes"),
        (lambda t: t.eq(torch.ones(2), torch.ones(1, 2)), "The tensors have different dimensions"),
        (lambda t: t.eq(torch.ones(2), torch.ones(2).int()), "The tensors have different types"),
        (
            lambda t: t.eq(torch.LongStorage([1]), torch.LongStorage([2])),
            "StorageEQ(==) violation: max diff=1, tolerance=0",
        ),
        (lambda t: t.eq("a", "b"), "EQ failed: a (string) ~= b (string)"),
        (lambda t: t.eq(1, "1"), "EQ failed: values have different types (first: number, second: string)"),
        (lambda t: t.eq(None, 1), "EQ failed: values have different types (first: nil, second: number)"),
        (lambda t: t.ne(1, 1, "same"), "same\nNE failed: 1 == 1"),
        (lambda t: t.assertlt(2, 1, "lt"), "lt\nLT failed: 2 >= 1"),
        (lambda t: t.assertgt(1, 2), "GT failed: 1 <= 2"),
        (lambda t: t.assertle(2, 1), "LE failed: 2 > 1"),
        (lambda t: t.assertge(1, 2), "GE failed: 1 < 2"),
        (lambda t: t.asserteq(1, 2), "EQ failed: 1 ~= 2"),
        (lambda t: t.assertne(1, 1), "NE failed: 1 == 1"),
        (lambda t: t.assertalmosteq(1, 1.1, 0.01), "ALMOST_EQ failed: 1 ~= 1.1 with tolerance=0.01"),
        (
            lambda t: t.assertTensorEq(torch.ones(2), torch.zeros(2), 1e-3),
            "TensorEQ(==) violation: max diff=1, tolerance=0.001",
        ),
        (
            lambda t: t.assertTensorEq(torch.ByteTensor([1]), torch.ByteTensor([3])),
            "TensorEQ(==) violation: max diff=2, tolerance=0",
        ),
        (
            lambda t: t.assertTensorNe(torch.ones(2), torch.ones(2), 1e-3),
            "TensorNE(==) violation: max diff=0, tolerance=0.001",
        ),
        (lambda t: t.assertTableNe([1], [1]), "The tables are equal"),
        (lambda t: t.assertError(lambda: None), "ERROR violation: err=nil"),
        (lambda t: t.assertNoError(lambda: torch.Tensor(2).t()), "ERROR violation: err=calling 't' on bad self"),
        (lambda t: t.assertErrorMsg(lambda: torch.Tensor(2).t(), "x"), "ERROR violation: err=calling 't' on bad self"),
        (lambda t: t.assertErrorPattern(lambda: torch.Tensor(2).t(), "^bad"), "ERROR violation: err=calling 't'"),
        (
            lambda t: t.assertErrorObj(lambda: 1 / 0, lambda error: error is None),
            "ERROR violation: err=division by zero",
        ),
    ],
)
def test_a_failure_is_reported_in_the_words_of_torch7(test, message, capsys):
    text, raised = report_of(test, capsys)
    dashes = "-" * 80
    assert (
        raised and f"[FAIL]\nCompleted 1 assert in 1 test with 1 failure and 0 errors\n{dashes}\none\n{message}" in text
    )
    assert text.endswith(f"\n{dashes}\n") and "test_torch7_tools.py:" in text


@pytest.mark.parametrize(
    "test",
    [
        lambda t: t.eq(torch.ones(2), torch.ones(2)),
        lambda t: t.eq({"a": [1, torch.ones(1)]}, {"a": [1, torch.ones(1)]}),
        lambda t: t.eq(torch.Tensor(), torch.Tensor()),
        lambda t: t.ne([1], [2]),
        lambda t: t.ne(1, "1"),
        lambda t: t.assertTableEq([1.0], [1.05], 0.1),
        lambda t: t.assertError(lambda: 1 / 0),
        lambda t: t.assertErrorPattern(lambda: torch.Tensor(2).narrow(1, 3, 1), "out of %a+%)$"),
        lambda t: t.assertErrorObj(lambda: 1 / 0, lambda error: isinstance(error, ZeroDivisionError)),
        lambda t: getattr(t, "assert")(True),
    ],
)
def test_assertions_that_hold_pass(test, capsys):
    text, raised = report_of(test, capsys)
    assert not raised and "[PASS]\nCompleted 1 assert in 1 test with 0 failures and 0 errors\n" in text


def test_an_exception_in_a_test_is_an_error(capsys):
    text, raised = report_of(lambda t: 1 / 0, capsys)
    assert raised and "[ERROR]\nCompleted 0 asserts in 1 test with 0 failures and 1 error\n" in text
    assert "one\n Function call failed\nTraceback" in text and "ZeroDivisionError" in text


def test_tensors_of_different_sizes_are_equal_with_a_warning(capsys):
    text, raised = report_of(lambda t: t.assertTensorEq(torch.ones(2), torch.ones(1, 2)), capsys)
    assert not raised and "[PASS]\n" + " " * 70 + "[+warning]\n" in text
    assert "with 0 failures and 0 errors and 1 warning\n" in text
    assert "Tensors have the same content but different dimensions." in text


def test_settings_of_a_tester(capsys):
    text, _ = report_of(lambda t: t.eq(1, 2), capsys, setSummaryOnly=True)
    assert text.endswith("with 1 failure and 0 errors\n")
    tester = torch.Tester()
    tester.setRethrowErrors(True)
    with pytest.raises(torch.TorchError, match=r"^EQ failed: 1 ~= 2$"):
        tester.eq(1, 2)


def test_tests_are_chosen_disabled_and_aborted(capsys):
    calls = []
    suite, tester = torch.TestSuite(), torch.Tester()
    for name in ("first", "second", "third"):
        suite[name] = lambda name=name: calls.append(name)
    tester.add(suite).disable("second")
    tester.add(lambda name: calls.append(f"before {name}"), "_setUp")
    tester.add(lambda name: calls.append(f"after {name}"), "_tearDown")
    tester.run(["fir.t", "sec"])
    assert calls == ["before first", "first", "after first"]
    assert (
        "[SKIP]\nCompleted 0 asserts in 2 tests with 0 failures and 0 errors and 1 disabled\n"
        in capsys.readouterr().out
    )
    tester.setEarlyAbort(True)
    tester.add(lambda: tester.eq(1, 2), "bad")
    tester.add(lambda: calls.append("never"), "last")
    with pytest.raises(torch.TorchError):
        tester.run()
    assert "never" not in calls
    assert "Aborting on first error, not all tests have been executed\n" in capsys.readouterr().out


def test_sets_of_tests_are_checked():
    suite, tester = torch.TestSuite(), torch.Tester()
    suite.a = len
    for action, text in (
        (lambda: setattr(suite, "a", len), "Test a is already defined."),
        (lambda: setattr(suite, "b", []), "Nested tables of tests are not supported"),
        (lambda: setattr(suite, "b", 3), "Only functions are supported as members of a TestSuite"),
        (lambda: tester.add(1), "Only tables of functions and functions supported"),
        (lambda: tester.add({"x": {}}), "Nested sets of tests are not supported"),
        (
            lambda: tester.add(suite, "name"),
            "Name parameter is forbidden for a table of tests, since its use is ambiguous",
        ),
        (lambda: tester.add(suite).add(suite), "Test with name a already exists!"),
        (lambda: tester.disable("nosuch"), "Unrecognized test 'nosuch'"),
        (lambda: tester.run("nosuch"), "Couldn't find test 'nosuch'"),
        (lambda: tester.eq(1, 2, -1), "tolerance cannot be negative"),
        (lambda: tester.assertTensorEq(1, 2), "First argument should be a Tensor"),
        (lambda: tester.assertTableEq([], 2), "Second argument should be a Table"),
        (lambda: tester.assertlt(1, 2, 3), "message parameter must be a string"),
    ):
        with pytest.raises(torch.TorchError) as raised:
            action()
        assert str(raised.value) == text


# Text as Lua writes it


@pytest.mark.parametrize(
    "value, text",
    [(1, "1"), (1.0, "1"), (0.1, "0.1"), (1e20, "1e+20"), (2**53, "9.007199254741e+15"), (1 / 3, "0.33333333333333")],
)
def test_numbers_are_written_with_fourteen_digits(value, text):
    assert luatext.text_of(value) == text


@pytest.mark.parametrize(
    "text, value",
    [("10", 10), (" 1.5 ", 1.5), ("0x10", 16), ("-2e3", -2000.0), ("1e", None), ("a", None), ("", None), ("1_0", None)],
)
def test_texts_are_read_as_numbers_as_lua_does(text, value):
    assert luatext.number_in(text) == value and type(luatext.number_in(text)) is type(value)


@pytest.mark.parametrize(
    "pattern, text, found",
    [
        ("^a%d+$", "a12", "a12"),
        ("a-b", "aab", "aab"),
        ("[%w_]+", "--x_1--", "x_1"),
        ("%.", "a.b", "."),
        ("[^%s]+", " ab ", "ab"),
        ("%S+", " ab ", "ab"),
        ("x$y", "x$y", "x$y"),
        ("(a)(b)", "ab", "a"),
        ("{1}", "{1}", "{1}"),
        ("%d", "x", None),
    ],
)
def test_lua_patterns_match_as_in_lua(pattern, text, found):
    assert luapattern.search(pattern, text) == found
