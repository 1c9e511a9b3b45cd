"""The Lua programs in `examples/` and the command that runs them."""

import argparse
import contextlib
import io
import re
import signal
import sys
from pathlib import Path

import pytest

pytest.importorskip("lupa")

from strided.cli._commands import lua as command
from strided.lua import Lua, prompt

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"


@pytest.fixture
def run(capsys, monkeypatch):
    """Runs `strided lua` with some words; gives the exit code and what was printed."""
    monkeypatch.setattr(signal, "signal", lambda *args: None)  # the process of the tests keeps its handlers

    def run(*words, typed=""):
        parser = argparse.ArgumentParser()
        command.arguments(parser)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed.encode())))
        code = command.run(parser.parse_args([str(word) for word in words]))
        return code, *capsys.readouterr()

    return run


# Examples


def test_the_pyramid_is_put_together_again(run):
    code, out, _ = run(EXAMPLES / "torch7_pyramid.lua", "-size", "16", "-levels", "3")
    assert code == 0
    assert re.findall(r"level (\d): (\w+)", out) == [("1", "16x16"), ("2", "8x8"), ("3", "4x4")]
    assert float(re.search(r"largest difference (\S+)", out)[1]) < 1e-15


def test_the_maze_has_a_way_to_every_room(run):
    code, out, _ = run(EXAMPLES / "dmlab_maze.lua", "3")
    lines = [line for line in out.splitlines() if line.startswith("*")]
    free = {(i, j) for i, line in enumerate(lines) for j, cell in enumerate(line) if cell != "*"}
    reached, border = set(), [(1, 1)]
    while border:
        i, j = border.pop()
        if (i, j) in free - reached:
            reached.add((i, j))
            border += [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)]
    assert code == 0
    assert reached == free
    assert {(i, j) for i in range(1, 10, 2) for j in range(1, 24, 2)} <= free
    assert "44x100x3, 13200 bytes" in out
    assert "comes first: true" in out


def test_the_training_learns_all_points(run):
    code, out, _ = run(EXAMPLES / "torch7_training.lua")
    losses = [float(loss) for loss in re.findall(r"loss ([\d.]+)", out)]
    assert code == 0
    assert losses == sorted(losses, reverse=True)
    assert out.rstrip().endswith("100% right")


# The command


def test_code_and_scripts_run_with_their_arguments(run, tmp_path):
    script = tmp_path / "script.lua"
    script.write_text("print(x, arg[0] == ..., #arg, select(2, ...))")
    assert run("-e", "x = 5", script, script, "--flag", "a") == (0, "5\ttrue\t3\t--flag\ta\n", "")
    assert run("-", "word", typed="print(arg[0], ...)") == (0, "-\tword\n", "")


def test_an_error_has_exit_code_1_and_a_traceback(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("script.lua").write_text("local function f() error('bad') end\nprint('before') f()")
    code, out, err = run("script.lua")
    assert (code, out) == (1, "before\n")
    assert err.startswith("strided lua: script.lua:1: bad\nstack traceback:\n")
    assert "in main chunk" in err


def test_os_exit_gives_the_exit_code(run):
    for source, code in {"os.exit()": 0, "os.exit(3)": 3, "os.exit(false)": 1, "os.exit(true)": 0}.items():
        with pytest.raises(SystemExit) as caught:
            run("-e", source)
        assert caught.value.code == code


def test_options_reach_the_runtime(run, tmp_path):
    (tmp_path / "mine.lua").write_text("return 'found'")
    assert run("--path", tmp_path, "-e", "print(require 'mine')")[1] == "found\n"
    assert run("--lua", "5.3", "-e", "print(_VERSION)")[1] == "Lua 5.3\n"
    assert run("--sandbox", "-e", "print(io, os.execute)")[1] == "nil\tnil\n"
    assert "longer than timeout=0.1 s" in run("--timeout", "0.1", "-e", "while true do end")[2]
    assert "not enough memory" in run("--memory", "2000000", "-e", "return ('x'):rep(1e8)")[2]


# The prompt


def test_the_prompt_prints_values_and_goes_on_after_errors(run, monkeypatch, tmp_path):
    monkeypatch.setattr(prompt, "HISTORY", str(tmp_path / "history"))
    typed = (
        "x = torch.range(1, 3)\nx:sum()\n= 1, 'a'\nfor i = 1, 2 do\nprint(i)\nend\nnil + 1\nx:narrow(2, 1, 1)\n2 *\n3\n"
    )
    code, out, _ = run(typed=typed)
    assert code == 0
    answers = [line.lstrip("> ") for line in out.splitlines()[1:]]
    assert answers == [
        "6",
        "1\ta",
        "1",
        "2",
        "stdin:1: attempt to perform arithmetic on a nil value",
        "stdin:1: bad argument #1 to 'narrow' (out of range)",
        "stdin:1: unexpected symbol near '2'",
        "3",
        "",
    ]


def test_names_are_completed():
    lua = Lua()
    lua.execute("x = torch.Tensor(2) t = {first = {second = 1}}")
    assert prompt.completions(lua, "print(to") == ["tonumber", "torch", "tostring"]
    assert prompt.completions(lua, "torch.Double") == ["torch.DoubleStorage", "torch.DoubleTensor"]
    assert prompt.completions(lua, "y = x:narr") == ["x:narrow"]
    assert prompt.completions(lua, "t.first.") == ["t.first.second"]
    assert prompt.completions(lua, "undefined.name.x") == []
    with contextlib.redirect_stdout(io.StringIO()) as out:
        prompt.completions(lua, "print(1).")
    assert out.getvalue() == ""
