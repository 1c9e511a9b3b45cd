"""The line about skipped tests at the end of a run."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
FILES = {
    "test_cases.py": """
        import pytest

        def test_passes():
            pass

        @pytest.mark.parametrize("case", range(3))
        def test_needs_a_library(case):
            pytest.importorskip("no_such_library")

        @pytest.mark.skipif(True, reason="no affinity here")
        def test_needs_affinity():
            pass

        @pytest.mark.xfail(reason="a known difference")
        def test_fails():
            assert False
    """,
    "test_file.py": """
        import pytest

        pytest.importorskip("no_such_library")
    """,
    "test_complete.py": """
        def test_passes():
            pass
    """,
}


def lines_about_skipped(folder, *words):
    for name, text in FILES.items():
        (folder / name).write_text(textwrap.dedent(text))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-p", "no:cacheprovider", *words]
    env = os.environ | {"PYTHONPATH": str(TESTS)}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith("skipped: ")]


def test_a_run_says_what_it_skipped(tmp_path):
    assert lines_about_skipped(tmp_path) == [
        "skipped: 3 no no_such_library; 1 no affinity here; 1 no no_such_library (a whole file)"
    ]


def test_a_complete_run_says_nothing(tmp_path):
    assert lines_about_skipped(tmp_path, "test_complete.py") == []
