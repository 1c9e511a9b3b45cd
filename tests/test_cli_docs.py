"""The section on the command in docs/files.md: every command prints what the document says."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from cli_runs import run
from test_cli_show import read_png

ROOT = Path(__file__).resolve().parent.parent
SECTION = (ROOT / "docs/files.md").read_text(encoding="utf-8").partition("\n## The command\n")[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """A folder with the files of the examples."""
    folder = tmp_path_factory.mktemp("documented")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(re.search(r"```python\n(.*?)```", SECTION, re.DOTALL)[1], {})
        yield folder


def documented():
    """The commands of the section, with their output, in order."""
    for block in re.findall(r"```console\n(.*?)```", SECTION, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield command, shown


def test_the_section_has_an_example_of_every_command_that_reads_files():
    commands = [command.split()[1] for command, _ in documented()]
    assert {"info", "show", "stats", "diff", "convert", "layout", "doctor"} <= set(commands)


def test_commands_print_what_the_document_says():
    for command, shown in documented():
        done = run(*shlex.split(command)[1:])
        assert done.err == "", command
        assert doctest.OutputChecker().check_output(shown, done.out, FLAGS), f"{command}\n{done.out}"


def test_the_picture_is_the_one_that_the_command_writes(folder):
    run("show", "surface.npy", "--image", "fresh.png")
    kept = (ROOT / "docs/pictures/surface.png").read_bytes()
    assert (read_png((folder / "fresh.png").read_bytes()) == read_png(kept)).all()
