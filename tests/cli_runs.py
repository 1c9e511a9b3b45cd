"""Runs of the command `strided`, in this process and in others, and files to run it on."""

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

import numpy as np

from strided.cli import main


class Run(NamedTuple):
    """What a run of the command returned and printed."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


def run(*words):
    """Runs the command in this process. Its output is not a terminal."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([str(word) for word in words])
    return Run(code, out.getvalue(), err.getvalue())


def run_process(*words, **variables):
    """Runs the command in a process of its own."""
    command = [sys.executable, "-m", "strided", *map(str, words)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=os.environ | variables, timeout=120)
    return Run(done.returncode, done.stdout, done.stderr)


def run_in_terminal(*words, columns=100, **variables):
    """Runs the command in a process whose output is a terminal. Returns the code, and what the terminal got."""
    import pty

    main_end, terminal = pty.openpty()
    environment = os.environ | {"COLUMNS": str(columns), "TERM": "xterm-256color"} | variables
    command = [sys.executable, "-m", "strided", *map(str, words)]
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment) as process:
        os.close(terminal)
        got = b""
        while True:
            try:
                part = os.read(main_end, 65536)
            except OSError:  # Linux: the other end was closed
                break
            if not part:
                break
            got += part
    os.close(main_end)
    return process.returncode, got.decode()


def arrays():
    """Arrays of several dtypes and shapes, with special values."""
    generator = np.random.default_rng(5)
    return {
        "conv.weight": generator.normal(size=(4, 3, 5)).astype(np.float32),
        "conv.bias": np.zeros(4, np.float32),
        "half": np.array([1, np.nan, np.inf, -np.inf, 2], np.float16),
        "count": np.arange(10),
        "flags": np.array([True, False, True]),
        "z": np.array([3 + 4j, 0]),
        "empty": np.zeros((0, 3)),
        "one": np.float64(7),
    }


def write_npz(path, **changes):
    """Writes the arrays to a file, with changes; None leaves one out."""
    merged = {name: array for name, array in {**arrays(), **changes}.items() if array is not None}
    np.savez(path, **merged)
    return path
