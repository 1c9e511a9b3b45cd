"""How the command prints: tables, JSON and progress bars."""

import argparse
import io
import json
import threading
import time
from contextlib import contextmanager, redirect_stderr

import pytest

from strided.cli import _output as output


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self):
        return True


PLAIN, FANCY = argparse.Namespace(plain=True), argparse.Namespace(plain=False)


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until the test moves it."""
    now = [100.0]
    monkeypatch.setattr(output.time, "monotonic", lambda: now[0])
    return now


@contextmanager
def progress(options, stream):
    """The progress of some work, whose standard error is a stream."""
    with redirect_stderr(stream), output.progress(options, "writing") as advance:
        yield advance


@pytest.fixture(params=["plain", "rich"])
def terminal(request, monkeypatch):
    """A terminal, with and without rich."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if request.param == "rich":
        pytest.importorskip("rich")
    else:
        monkeypatch.setattr(output.importlib.util, "find_spec", lambda _name: None)
    return Terminal()


def test_a_progress_bar_appears_after_a_second_and_goes_away(terminal, clock):
    with progress(FANCY, terminal) as advance:
        advance(1, 4)
        assert terminal.getvalue() == ""
        clock[0] += 1.5
        advance(2, 4)
        shown = terminal.getvalue()
        assert "writing" in shown
        assert "50%" in shown
    assert len(terminal.getvalue()) > len(shown)  # what removes it


def test_a_bar_without_a_percentage_appears_while_nothing_is_known(terminal, monkeypatch):
    monkeypatch.setattr(output, "PATIENCE", 0.0)
    before = set(threading.enumerate())
    with progress(FANCY, terminal):
        for _ in range(60_000):  # until another thread shows it
            if "writing" in terminal.getvalue():
                break
            time.sleep(0.001)
    shown = terminal.getvalue()
    assert "writing" in shown
    for thread in set(threading.enumerate()) - before:
        thread.join()
    assert terminal.getvalue() == shown  # nothing more appears when the work is done


def test_short_work_shows_no_bar(terminal, clock):
    with progress(FANCY, terminal) as advance:
        for done in range(5):
            clock[0] += 0.1
            advance(done, 4)
    assert terminal.getvalue() == ""


def test_a_bar_goes_away_if_the_work_fails(terminal, clock):
    with pytest.raises(ValueError, match="broken"), progress(FANCY, terminal) as advance:
        clock[0] += 2
        advance(1, 4)
        raise ValueError("broken")
    assert "25%" in terminal.getvalue()


def test_a_pipe_and_plain_output_have_no_bar(terminal, clock):
    with progress(PLAIN, terminal) as advance:
        clock[0] += 2
        advance(1, 4)
    assert terminal.getvalue() == ""
    pipe = io.StringIO()
    with progress(FANCY, pipe) as advance:
        clock[0] += 2
        advance(1, 4)
    assert pipe.getvalue() == ""


def test_columns_are_as_wide_as_their_widest_cell(capsys):
    output.print_table(PLAIN, ["name", "bytes"], [["a", "12"], ["longer", "1,234"]], right=["bytes"])
    assert capsys.readouterr().out == "name    bytes\na          12\nlonger  1,234\n"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"shape": (2, 3)}, {"shape": [2, 3]}),
        ([float("nan"), -float("inf"), 1.5, None, True], ["nan", "-inf", 1.5, None, True]),
        ({"z": 1 - 2j}, {"z": [1.0, -2.0]}),
        ({"text": "[1, 2]\n \"'"}, {"text": "[1, 2]\n \"'"}),
        ({"bytes": b"\xff\x00a"}, {"bytes": "\\xff\x00a"}),
        ([[], {}, [[1], [2, 3]]], [[], {}, [[1], [2, 3]]]),
        (["[\n  1\n]", [1]], ["[\n  1\n]", [1]]),
    ],
)
def test_json_is_valid_and_has_the_values(value, expected, capsys):
    output.print_json(value)
    printed = capsys.readouterr().out
    assert json.loads(printed, parse_constant=lambda text: pytest.fail(f"{text} is no JSON")) == expected
