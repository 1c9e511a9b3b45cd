"""Kills processes that save over an existing file, and looks at what is left: the old object or the new one, whole.

    python tests/kill_cases.py zarr 200 7       kills 200 times, with the seed 7

A process saves objects with the numbers 1, 2, 3, ... to one path, until SIGKILL ends it at a random moment. Then the path
must hold one of them, not older than the one before.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from file_cases import WRITTEN

import strided as st
from strided.files._formats import ROWS

#: What is killed: `save` in a format, zarr on a system that cannot exchange folders, and the command `convert`.
KINDS = [*WRITTEN, "zarr without exchange", *(f"convert to {format}" for format in WRITTEN)]

COUNT = 300_000


def row_of(kind):
    return ROWS[kind.removeprefix("convert to ").split()[0]]


def saved_object(kind, number):
    if row_of(kind).holds_one:
        return st.full((COUNT,), number, dtype=st.int64)
    return {"a": st.full((COUNT,), number, dtype=st.int64), "b": st.full((1000,), number, dtype=st.float64)}


def number_of(loaded):
    """The number of a whole object; an error for any other."""
    parts = loaded if isinstance(loaded, dict) else {"a": loaded}
    if isinstance(loaded, dict) and set(parts) != {"a", "b"}:
        raise AssertionError(f"an object with {sorted(parts)}")
    values = {value for x in parts.values() for value in (x.min().item(), x.max().item())}
    if len(values) != 1 or parts["a"].shape != (COUNT,):
        raise AssertionError(f"parts of several objects: {sorted(values)}")
    return int(values.pop())


def save_until_killed(kind, path, first, ready, fsync):
    from strided.cli import main
    from strided.files import _replace

    if kind == "zarr without exchange":
        _replace._exchange = lambda new, path: False
    number = first
    sources = []
    for i in range(2):
        sources.append(path + f".{i}.source" + (".npy" if row_of(kind).holds_one else ".npz"))
        if kind.startswith("convert"):
            st.save(saved_object(kind, first + i), sources[i], fsync=False)
    os.write(ready, b"x")
    parent = os.getppid()
    while os.getppid() == parent:  # else nobody is left to kill it
        if kind.startswith("convert"):
            number = first + (number - first + 1) % 2
            main(["convert", sources[number - first], path, "--plain", *([] if fsync else ["--no-fsync"])])
        else:
            st.save(saved_object(kind, number), path, fsync=fsync)
            number += 1


def kill_once(kind, path, last, r, span):
    """Returns the number of the object after a kill."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            save_until_killed(kind, path, last + 1, write, r.random() < 0.7)
        finally:
            os._exit(3)
    os.close(write)
    os.read(read, 1)
    os.close(read)
    time.sleep(r.random() * span)
    if os.waitpid(child, os.WNOHANG)[0]:
        raise AssertionError(f"{kind}: saving failed before the kill")
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    number = number_of(st.load(path))
    if number < last or (kind.startswith("convert") and number > last + 2):
        raise AssertionError(f"object {number} after {last}")
    return number


def temporary(folder):
    """The names of files and folders that are being written, or that a killed process has left."""
    return {name for name in os.listdir(folder) if name.startswith(".")}


def kill_many(kind, kills, seed):
    """Kills so many times, and then until a kill has interrupted a save, and one came after a save."""
    r = random.Random(f"{kind} {seed}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x" + row_of(kind).suffixes[0])
        for _ in range(2):
            start = time.monotonic()
            st.save(saved_object(kind, 0), path)
            span = 3 * (time.monotonic() - start)
        done, interrupted, changed, last = 0, 0, 0, 0
        while done < kills or (not (interrupted and changed) and done < kills + 200):
            before = temporary(folder)
            number = kill_once(kind, path, last, r, span)
            interrupted += not temporary(folder) <= before
            done, changed, last = done + 1, changed + (number != last), number
        return {"kills": done, "interrupted": interrupted, "changed": changed, "left": len(os.listdir(folder)) - 1}


class KillCase:
    def __init__(self, r):
        self.label = r.choice(KINDS)
        self.seed = r.randrange(10**9)

    def check(self, kills=3):
        argv = [sys.executable, __file__, self.label, str(kills), str(self.seed)]
        done = subprocess.run(argv, capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(f"# {' '.join(map(repr, argv))}\n{done.stderr}")
        self.report = json.loads(done.stdout)
        return True


def random_kill(r):
    return KillCase(r)


#: The families of `tools/fuzz.py`.
FAMILIES = {"kill": random_kill}


if __name__ == "__main__":
    import numpy  # noqa: F401  # before the fork, so that the children need not import it
    import zarr  # noqa: F401

    print(json.dumps(kill_many(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
