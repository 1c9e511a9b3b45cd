"""The command `strided`: words, help, exit codes, pipes and completion."""

import argparse
import os
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest
from cli_runs import run, run_in_terminal, run_process, write_npz

import strided as st
from strided.cli._commands.completion import actions_of, options_of, script
from strided.cli._program import parser_of
from strided.cli._table import COMMANDS

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_words_it_explains_itself():
    for words in ((), ("--help",), ("-h",)):
        shown = run(*words)
        assert shown.code == 0
        assert all(f"  {name} " in shown.out for name in COMMANDS)
    assert run("--version").out == f"strided {st.__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(name):
    shown = run(name, "--help")
    assert shown.code == 0
    assert f"usage: strided {name}" in shown.out
    assert "examples:\n" in shown.out


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_have_arguments_that_the_command_takes(name):
    command = COMMANDS[name]
    lines = [line for line in command.load().EXAMPLES.splitlines() if line.startswith(f"  strided {name}")]
    assert lines or name == "completion"
    for line in lines:
        words = shlex.split(line.partition(" > ")[0], comments=True)
        assert isinstance(parser_of(command).parse_args(words[2:]), argparse.Namespace)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["inf"], "strided: there is no command inf; did you mean info?"),
        (["frobnicate"], "strided: there is no command frobnicate; there are info, show"),
        (["info"], "the following arguments are required"),
        (["info", "nothing.npz"], "strided info: nothing.npz: No such file or directory"),
        (["info", "x.npz", "--colour"], "unrecognized arguments: --colour"),
        (["info", "text.npz"], "strided info: "),
        (["diff", "a.npz:w", "nothing.npz"], "strided diff: "),
    ],
)
def test_what_cannot_be_done_is_said_and_has_exit_code_2(words, text, folder):
    (folder / "text.npz").write_text("no tensors here")
    done = run(*words)
    assert (done.code, done.out) == (2, "")
    assert text in done.err
    assert "Traceback" not in done.err


def test_it_runs_as_a_module_and_prints_plain_text_into_a_pipe():
    write_npz("x.npz")
    done = run_process("info", "x.npz")
    assert done.code == 0
    assert "conv.weight" in done.out
    assert "\x1b" not in done.out
    assert done.err == ""


def test_a_reader_that_leaves_early_is_no_error():
    np.savez("many.npz", **{f"tensor{i}": np.zeros(1) for i in range(2000)})
    command = f"{shlex.quote(sys.executable)} -m strided info many.npz | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("many.npz")
    assert done.stderr == ""


def test_commands_import_neither_rich_nor_numpy_for_plain_output():
    write_npz("x.npz")
    program = (
        "import sys; from strided.cli import main; code = main(['doctor']);"
        "sys.exit(code or int('rich' in sys.modules or 'numpy' in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL, timeout=120).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_gets_tables_and_colours_of_rich_unless_they_are_not_wanted():
    pytest.importorskip("rich")
    write_npz("x.npz")
    code, shown = run_in_terminal("info", "x.npz")
    assert code == 0
    assert "─" in shown
    assert "\x1b[" in shown
    assert "conv.weight" in shown
    for words, variables in ((["--plain"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"})):
        code, shown = run_in_terminal("info", "x.npz", *words, **variables)
        assert code == 0
        assert "conv.weight" in shown
        assert "\x1b" not in shown
        assert "─" not in shown


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_without_rich_gets_plain_tables(folder):
    write_npz("x.npz")
    (folder / "rich").mkdir()  # hides the package
    (folder / "sitecustomize.py").write_text(
        "import importlib.util\nfind = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'rich' else find(name, *rest)\n"
    )
    code, shown = run_in_terminal("info", "x.npz", PYTHONPATH=f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    assert code == 0
    assert "conv.weight" in shown
    assert "─" not in shown


def test_json_has_no_numbers_that_json_lacks():
    write_npz("x.npz")
    done = run("show", "x.npz:half", "--json")
    assert done.json["values"] == [1, "nan", "inf", "-inf", 2]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_all_commands_and_options(shell):
    text = run("completion", shell).out
    assert text == script(shell)
    for name in COMMANDS:
        assert name in text
        for option in options_of(name):
            word = option.option_strings[-1]
            written = (f"-l {word[2:]} " if word.startswith("--") else f"-s {word[1:]} ") if shell == "fish" else word
            assert written in text
        for action in actions_of(name):
            assert all(str(choice) in text for choice in action.choices or ())


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["strided", "sh"], ["show"]),
        (["strided", "show", "x.npz", "--im"], ["--image"]),
        (["strided", "info", "x.n"], ["x.npz"]),
        (["strided", "--v"], ["--version"]),
        (["strided", "convert", "x.npz", "y.t7", "--encoding", ""], ["binary", "ascii"]),
        (["strided", "convert", "x.npz", "y.t7", "--byte-order", "b"], ["big"]),
        (["strided", "convert", "x.npz", "--long"], ["--long-size"]),
        (["strided", "completion", "f"], ["fish"]),
    ],
)
def test_bash_completes_commands_options_and_files(words, expected):
    write_npz("x.npz")
    program = f"""
{script("bash")}
COMP_WORDS=({" ".join(map(shlex.quote, words))})
COMP_CWORD={len(words) - 1}
_strided
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == expected
    assert done.stderr == ""


def test_ctrl_c_has_its_own_exit_code(monkeypatch):
    from strided.cli._commands import doctor

    def interrupt(_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "run", interrupt)
    assert run("doctor").code == 130


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_narrow_terminal_cuts_off_no_digits():
    pytest.importorskip("rich")
    np.savez("x.npz", **{"a_rather_long_name": np.array([-0.12345, 1.625, 1e-20])})
    for columns in (120, 60, 20):
        code, got = run_in_terminal("stats", "x.npz", columns=columns)
        assert code == 0
        assert all(number in got for number in ("float64", "-0.12345", "1.625", "0.50052"))


def test_the_functions_that_a_command_calls_are_not_in_its_messages(folder):
    write_npz("x.npz")
    (folder / "damaged.npy").write_bytes(b"\x93NUMPY\x01\x00")
    for words, message in (
        (["convert", "x.npz", "x.pt"], "strided convert: x.pt: files of PyTorch are read"),
        (["info", "damaged.npy"], "strided info: damaged.npy: byte 8: the length of the header needs 2 bytes"),
        (["info", "."], "strided info: .: is a folder, and no array or group of zarr"),
        (["layout", "3,,4"], "strided layout: SHAPE is '3,,4', wanted ints"),
    ):
        done = run(*words)
        assert done.code == 2
        assert done.err.startswith(message)
