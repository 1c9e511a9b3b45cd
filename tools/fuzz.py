"""Runs random cases of a family of operations against their models until the time is over or a case differs.

    ./dev fuzz indexing --minutes 5             builds first
    python tools/fuzz.py indexing --seed 7      the same cases again, with the built module

A family is a function of a module of tests/, whose argument has the methods of `random.Random`. It returns a case, which has
a `label`, and a method `check` that returns whether the call was accepted, and raises AssertionError with a program that
shows the difference. The tool ends a case that takes longer than a minute, or 4 GB of memory.
"""

import argparse
import faulthandler
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol

TESTS = Path(__file__).resolve().parent.parent / "tests"

#: Name -> module of tests/, whose own `FAMILIES` has the function. Every format of files is a family.
FAMILIES = {
    "indexing": "index_cases",
    **dict.fromkeys(re.findall(r"^def (\w+)_file\(r\)", (TESTS / "file_cases.py").read_text(), re.M), "file_cases"),
    **dict.fromkeys(("zarr", "index"), "folder_cases"),
    "kill": "kill_cases",
    "gpu": "gpu_cases",
}

#: Seconds between two lines of progress.
INTERVAL = 10.0

#: Seconds that a case may take, and bytes of memory beyond those that the process has at its beginning.
MAX_SECONDS = 60
MAX_MEMORY = 4 << 30


class Case(Protocol):
    label: str

    def check(self) -> bool: ...


def case_of(make: Callable[[random.Random], Case], seed: int, number: int) -> Case:
    """Returns a case that depends on the seed and its number alone, so that it can be made again without those before."""
    return make(random.Random(f"{seed} {number}"))


def limit_memory() -> None:
    """Makes allocations of this process fail beyond the limit, where the system has such a limit."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError):
        return
    limit = pages * resource.getpagesize() + MAX_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def fuzz(
    make: Callable[[random.Random], Case],
    seed: int,
    first: int,
    is_over: Callable[[int], bool],
    is_limited: bool = False,
) -> int:
    """Runs the cases of a seed, from the number `first` on. Returns 1 if one of them differs from its model, else 0."""
    start = shown = time.monotonic()
    labels: Counter[str] = Counter()
    accepted = done = 0
    while not is_over(done):
        if is_limited:
            faulthandler.dump_traceback_later(MAX_SECONDS, exit=True)
        case = case_of(make, seed, first + done)
        try:
            accepted += case.check()
        except Exception as error:
            text = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
            print(f"after {done} cases without a difference, {case.label}:\n\n{text}\n")
            print(f"The case again: --seed {seed} --first {first + done} --cases 1")
            return 1
        done += 1
        labels[case.label] += 1
        now = time.monotonic()
        if now - shown > INTERVAL:
            shown = now
            print(f"{done} cases, {done / (now - start):.0f} per second", flush=True)
    print(", ".join(f"{label} {count}" for label, count in labels.most_common()))
    seconds = time.monotonic() - start
    print(f"seed {seed}: {done} cases in {seconds:.0f} s, of which both refused {done - accepted}: no difference")
    return 0


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", choices=FAMILIES, help="the family of operations")
    parser.add_argument("--minutes", type=float, default=1.0, help="how long, 1 unless given")
    parser.add_argument("--cases", type=int, help="how many cases, instead of how long")
    parser.add_argument("--seed", type=int, help="the seed of all cases, random unless given")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None, is_limited: bool = False) -> int:
    args = arguments(argv)
    sys.path.insert(0, str(TESTS))
    make = import_module(FAMILIES[args.name]).FAMILIES[args.name]
    seed = int.from_bytes(os.urandom(4), "little") if args.seed is None else args.seed
    if is_limited:
        print(f"seed {seed}", flush=True)  # for the case that a crash ends the process
        faulthandler.enable()
        limit_memory()
    end = time.monotonic() + 60 * args.minutes
    if args.cases is None:
        return fuzz(make, seed, args.first, lambda done: time.monotonic() > end, is_limited)
    return fuzz(make, seed, args.first, lambda done: done >= args.cases, is_limited)


if __name__ == "__main__":
    code = main(is_limited=True)
    faulthandler.cancel_dump_traceback_later()
    sys.exit(code)
