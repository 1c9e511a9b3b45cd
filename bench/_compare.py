"""Rows of large work in several libraries: best times, ratios to the best peer and to the machine, a table."""

import argparse
import ctypes
import json
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import _timing as timing


class Row(NamedTuple):
    """One job in each library's spellings. Ours is to take at most `aim` times as long as the best peer."""

    name: str
    strided: str
    numpy: tuple[str, ...] = ()
    torch: tuple[str, ...] = ()
    others: tuple[tuple[str, str], ...] = ()  # (library, spelling)
    aim: float | None = None
    #: Bytes that have to be read and written; with them, how close the row comes to the machine.
    moved: int = 0
    #: What the machine is asked for: "copy" or "write".
    like: str = "copy"
    #: At most so many times the machine's own time.
    limit: float | None = None
    #: Said under the table when the row misses.
    note: str = ""

    def spellings(self) -> list[tuple[str, str]]:
        peers = [("numpy", s) for s in self.numpy] + [("torch", s) for s in self.torch] + list(self.others)
        return [("strided", self.strided), *peers]


class Result(NamedTuple):
    row: Row
    seconds: dict[str, float]  # library -> best
    machine: float | None  # seconds that the machine itself takes for the bytes

    @property
    def peer(self) -> tuple[str, float] | None:
        peers = {name: seconds for name, seconds in self.seconds.items() if name != "strided"}
        return min(peers.items(), key=lambda item: item[1]) if peers else None

    @property
    def ratio(self) -> float | None:
        return self.seconds["strided"] / self.peer[1] if self.peer else None

    @property
    def misses(self) -> bool:
        late = self.row.aim is not None and self.ratio is not None and self.ratio > self.row.aim
        slow = self.row.limit is not None and self.machine is not None
        return late or (slow and self.seconds["strided"] > self.row.limit * self.machine)


class Limits(NamedTuple):
    """Seconds per byte that the machine needs with all its CPUs, by the C library's own functions."""

    copy: float
    write: float


def machine_limits(threads: int, size: int = 40_000_000, rounds: int = 60) -> Limits:
    """How fast memory can be copied and written here: memcpy and memset, a part per thread.

    The bytes of a copy are counted twice, since they are read and written.
    """
    libc = ctypes.CDLL(None)
    for function in (libc.memcpy, libc.memset):
        function.argtypes = [
            ctypes.c_void_p,
            ctypes.c_void_p if function is libc.memcpy else ctypes.c_int,
            ctypes.c_size_t,
        ]
    source, target = ctypes.create_string_buffer(size), ctypes.create_string_buffer(size)
    a, b, part = ctypes.addressof(source), ctypes.addressof(target), size // threads
    copied = best_of_threads(threads, rounds, lambda i: libc.memcpy(b + i * part, a + i * part, part))
    written = best_of_threads(threads, rounds, lambda i: libc.memset(b + i * part, 1, part))
    return Limits(copied / (2 * part * threads), written / (part * threads))


def best_of_threads(threads: int, rounds: int, work: Callable[[int], object]) -> float:
    """The best time from the first thread's start to the last one's end."""
    gate, times = threading.Barrier(threads), [[(0.0, 0.0)] * threads for _ in range(rounds)]

    def live(i: int) -> None:
        for turn in range(rounds):
            gate.wait()
            start = time.perf_counter()
            work(i)
            times[turn][i] = (start, time.perf_counter())

    crew = [threading.Thread(target=live, args=(i,)) for i in range(threads)]
    for member in crew:
        member.start()
    for member in crew:
        member.join()
    return min(max(end for _, end in turn) - min(start for start, _ in turn) for turn in times)


def measure(
    rows: Sequence[Row], spaces: Mapping[str, Mapping[str, Any]], limits: Limits | None, rounds: int
) -> list[Result]:
    """Times the rows in the libraries for which there is a name space. The fastest spelling of a peer counts."""
    results = []
    for row in rows:
        present = [(library, spelling) for library, spelling in row.spellings() if library in spaces]
        samples = [timing.sampler(spelling, spaces[library]) for library, spelling in present]
        found: dict[str, float] = {}
        for (library, _), taken in zip(present, timing.best(samples, rounds, turns=1, pause=0.004), strict=True):
            found[library] = min(taken, found.get(library, float("inf")))
        machine = row.moved * getattr(limits, row.like) if limits and row.moved else None
        results.append(Result(row, found, machine))
        print(line(results[-1]), flush=True)
    return results


HEAD = f"{'row':<34}{'ms':>9}  {'best peer':>9} {'':<7}{'ratio':>6}{'aim':>6}{'machine':>9}"


def line(result: Result) -> str:
    row, own = result.row, result.seconds["strided"]
    name, seconds = result.peer or ("", float("nan"))
    ratio = f"{result.ratio:6.2f}" if result.ratio else f"{'':6}"
    aim = f"{row.aim:6.2f}" if row.aim else f"{'':6}"
    machine = f"{own / result.machine:8.2f}x" if result.machine else f"{'':9}"
    miss = "  <- misses" if result.misses else ""
    return f"{row.name:<34}{own * 1e3:9.3f}  {seconds * 1e3:9.3f} {name:<7}{ratio}{aim}{machine}{miss}"


def options(description: str, rounds: int) -> argparse.Namespace:
    """The command line that every benchmark of large work has."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=rounds, help="rounds per row; the best one counts")
    parser.add_argument("--threads", type=int, default=2, help="threads of every library that can have them")
    parser.add_argument("--only", default="", help="only rows whose name contains this")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    return parser.parse_args()


def libraries(threads: int, *extra: str) -> dict[str, Any]:
    """The libraries that are installed, with so many threads each."""
    found = {name: timing.installed(name) for name in ("strided", "numpy", "torch", *extra)}
    for name in ("strided", "torch"):
        if module := found[name]:
            module.set_num_threads(threads)
    return {name: module for name, module in found.items() if module}


def report(title: str, rows: Sequence[Row], spaces: Mapping[str, Mapping[str, Any]], args: argparse.Namespace) -> int:
    """Measures and prints; gives 0, so that a benchmark never fails a build."""
    modules = [sys.modules[name] for name in spaces]
    limits = machine_limits(args.threads)
    print(f"{title}, {args.threads} threads; {timing.machine(*modules)}")
    print(
        f"the machine copies {2 / limits.copy / 1e9 / 2:.1f} GB/s (read + written), writes {1e-9 / limits.write:.1f} GB/s"
    )
    print(HEAD)
    wanted = [row for row in rows if args.only in row.name]
    results = measure(wanted, spaces, limits, args.rounds)
    for result in results:
        if result.misses and result.row.note:
            print(f"{result.row.name}: {result.row.note}")
    if args.json:
        rows_json = [{"row": r.row.name, "aim": r.row.aim, "seconds": r.seconds, "machine": r.machine} for r in results]
        args.json.write_text(json.dumps(rows_json, indent=1) + "\n")
    return 0
