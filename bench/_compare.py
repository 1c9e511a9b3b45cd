"""Benchmark rows of large work in several libraries: best times, ratios to the best peer and to the machine, and a table."""

import argparse
import ctypes
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import _timing as timing


class Row(NamedTuple):
    """One job in each library's spellings. The aim is that ours takes at most `aim` times as long as the best peer.

    A spelling of the library "machine" is not a peer: it measures how fast the machine can move the same memory.
    """

    name: str
    strided: str
    numpy: tuple[str, ...] = ()
    torch: tuple[str, ...] = ()
    others: tuple[tuple[str, str], ...] = ()  # (library, spelling)
    aim: float | None = None
    #: Bytes that must be read and written, or multiply-adds, which give the machine's time for the row.
    moved: int = 0
    #: What the machine is measured with: the fields of `Limits`.
    like: str = "copy"
    #: The largest ratio to the machine's time.
    limit: float | None = None
    #: The reason that is shown when the row misses its aim.
    why: str = ""
    #: The heading of the row.
    group: str = ""
    #: The libraries that the ratio refers to, if not all; the others are only shown.
    against: tuple[str, ...] = ()
    #: Whether the work is so short that a sample must repeat it many times.
    short: bool = False

    def spellings(self) -> list[tuple[str, str]]:
        peers = [("numpy", s) for s in self.numpy] + [("torch", s) for s in self.torch] + list(self.others)
        return [("strided", self.strided), *peers]


class Result(NamedTuple):
    row: Row
    seconds: dict[str, float]  # library -> best
    machine: float | None  # seconds that the machine needs to move the bytes
    left_out: dict[str, str]  # library -> the reason why it has no time

    @property
    def peer(self) -> tuple[str, float] | None:
        counted = self.row.against or tuple(self.seconds)
        peers = {name: seconds for name, seconds in self.seconds.items() if name in counted and name != "strided"}
        return min(peers.items(), key=lambda item: item[1]) if peers else None

    @property
    def ratio(self) -> float | None:
        return self.seconds["strided"] / self.peer[1] if self.peer and not self.skipped else None

    @property
    def skipped(self) -> bool:
        """Whether strided has no time."""
        return "strided" not in self.seconds

    @property
    def misses(self) -> bool:
        late = self.row.aim is not None and self.ratio is not None and self.ratio > self.row.aim
        if late or self.skipped or self.row.limit is None or self.machine is None:
            return late
        return self.seconds["strided"] > self.row.limit * self.machine


class Limits(NamedTuple):
    """Seconds that the machine needs with all threads: per byte, measured with functions of the C library, and per
    multiply-add of float32 and float64 in registers."""

    copy: float
    write: float
    single: float
    double: float


def machine_limits(threads: int, size: int = 40_000_000, rounds: int = 60) -> Limits:
    """Measures how fast this machine copies and writes memory: memcpy and memset, a part per thread.

    The bytes of a copy count twice, because they are read and written.
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
    multiply_adds = [seconds_per_multiply_add(threads, double, min(rounds, 20)) for double in (False, True)]
    return Limits(copied / (2 * part * threads), written / (part * threads), *multiply_adds)


def seconds_per_multiply_add(threads: int, double: bool, rounds: int) -> float:
    """Measures the peak of fused multiply-adds, in registers, on all threads."""
    from strided._strided import _multiply_adds

    count, turns = 0, 100_000

    def work(_: int) -> None:
        nonlocal count
        count = _multiply_adds(turns, double)

    return best_of_threads(threads, rounds, work) / (count * threads)


def best_of_threads(threads: int, rounds: int, work: Callable[[int], object]) -> float:
    """Returns the best time from the start of the first thread to the end of the last."""
    gate, times = threading.Barrier(threads), [[(0.0, 0.0)] * threads for _ in range(rounds)]

    def run(i: int) -> None:
        for round_ in range(rounds):
            gate.wait()
            start = time.perf_counter()
            work(i)
            times[round_][i] = (start, time.perf_counter())

    workers = [threading.Thread(target=run, args=(i,)) for i in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return min(max(end for _, end in round_) - min(start for start, _ in round_) for round_ in times)


class Crew:
    """A thread pool that runs NumPy on the raw bytes of arrays, split among the threads, to measure the speed of memory."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.pool = ThreadPoolExecutor(max(threads - 1, 1))

    def __call__(self, function: Callable[..., object], *arrays: Any) -> None:
        """Runs a function that overwrites the first of its operands."""
        self.share(lambda *parts: function(*parts, out=parts[0]), *arrays)

    def read(self, *arrays: Any) -> None:
        """Reads every byte. The maximum is computed faster than memory is read."""
        self.share(lambda *parts: [part.max() for part in parts], *arrays)

    def share(self, work: Callable[..., object], *arrays: Any) -> None:
        flat = [array.reshape(-1).view("u1") for array in arrays]
        ends = [flat[0].size * i // self.threads for i in range(self.threads + 1)]
        parts = [[array[start:end] for array in flat] for start, end in pairwise(ends)]
        futures = [self.pool.submit(work, *part) for part in parts[1:]]
        work(*parts[0])
        for future in futures:
            future.result()


def runnable(library: str, spelling: str, space: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Returns a statement that runs a spelling to completion, and the names it needs."""
    used = {name: space[name] for name in re.findall(r"[A-Za-z_]\w*", spelling) if name in space}
    if library != "jax":
        return spelling, used
    # JAX is compiled, as its documentation recommends. Its calls are asynchronous, so the result is waited for.
    arrays = {name: value for name, value in used.items() if hasattr(value, "block_until_ready")}
    names = ", ".join(arrays)
    run = sys.modules["jax"].jit(eval(f"lambda {names}: {spelling}", dict(used)))
    return f"run({names}).block_until_ready()", {"run": run, **arrays}


def measure_row(
    row: Row, spaces: Mapping[str, Mapping[str, Any]], limits: Limits | None, rounds: int, pause: float = 0.004
) -> Result:
    """Times a row in the libraries that have a name space. The fastest spelling of a peer counts.

    A library that fails is left out, with the reason. If strided fails, nothing is timed.
    """
    samples: list[tuple[str, timing.Sample]] = []
    left_out: dict[str, str] = {}
    for library, spelling in row.spellings():
        if library not in spaces or "strided" in left_out:
            continue
        try:
            sample = timing.sampler(*runnable(library, spelling, spaces[library]))
            sample(1)
            samples.append((library, sample))
        except AttributeError as error:
            left_out[library] = f"{library} has no {error.name} yet" if error.name else f"{spelling}: {error}"
        except Exception as error:
            left_out[library] = f"{spelling}: {type(error).__name__}: {error}"
    if "strided" in left_out:
        return Result(row, {}, None, left_out)
    times = timing.best([sample for _, sample in samples], rounds, repeats=None if row.short else 1, pause=pause)
    found: dict[str, float] = {}
    for (library, _), taken in zip(samples, times, strict=True):
        found[library] = min(taken, found.get(library, float("inf")))
    machine = found.pop("machine", None)
    if machine is None and limits and row.moved:
        machine = row.moved * getattr(limits, row.like)
    return Result(row, found, machine, left_out)


def measure(
    rows: Sequence[Row], spaces: Mapping[str, Mapping[str, Any]], limits: Limits | None, rounds: int
) -> Iterator[Result]:
    """Times rows that share their operands."""
    for row in rows:
        yield measure_row(row, spaces, limits, rounds)


HEAD = f"{'row':<34}{'ms':>9}  {'best peer':>9} {'':<15}{'ratio':>6}{'aim':>6}{'machine':>9}"


def line(result: Result) -> str:
    row = result.row
    if result.skipped:
        return f"{row.name:<34}  skipped: {result.left_out['strided']}"
    own = result.seconds["strided"]
    name, seconds = result.peer or ("", float("nan"))
    ratio = f"{result.ratio:6.2f}" if result.ratio else f"{'':6}"
    aim = f"{row.aim:6.2f}" if row.aim else f"{'':6}"
    machine = f"{own / result.machine:8.2f}x" if result.machine else f"{'':9}"
    miss = "  <- misses" if result.misses else ""
    return f"{row.name:<34}{own * 1e3:9.3f}  {seconds * 1e3:9.3f} {name:<15}{ratio}{aim}{machine}{miss}"


def shown(results: Iterator[Result]) -> list[Result]:
    """Returns all results, and prints each one as soon as it is measured."""
    print(HEAD)
    kept = []
    for result in results:
        print(line(result), flush=True)
        kept.append(result)
    return kept


def pattern(text: str) -> re.Pattern[str]:
    """Parses a regular expression from the command line."""
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a regular expression: {error}") from error


def parser(description: str, rounds: int) -> argparse.ArgumentParser:
    """Returns the command line that all benchmarks of large work share."""
    words = argparse.ArgumentParser(description=description.splitlines()[0])
    words.add_argument("--rounds", type=int, default=rounds, help="rounds per row; the best one counts")
    words.add_argument("--threads", type=int, default=2, help="threads of every library that has such a setting")
    words.add_argument(
        "--rows", "--only", type=pattern, default="", metavar="PATTERN", help="only rows whose name matches"
    )
    words.add_argument("--json", type=Path, help="also write the figures to this file")
    return words


def libraries(threads: int, *extra: str) -> dict[str, Any]:
    """Returns the installed libraries, each set to `threads` threads."""
    os.environ["NPROC"] = str(threads)  # JAX reads this at import, and has no function that sets the threads
    found = {name: timing.installed(name) for name in dict.fromkeys(("strided", "numpy", "torch", *extra))}
    for name in ("strided", "torch", "numexpr"):
        if module := found.get(name):
            module.set_num_threads(threads)
    if jax := found.get("jax"):
        jax.config.update("jax_enable_x64", True)
    return {name: module for name, module in found.items() if module}


def figures(result: Result) -> dict[str, Any]:
    """Returns a result as JSON."""
    row = {"row": result.row.name, "group": result.row.group, "aim": result.row.aim}
    return row | {"seconds": result.seconds, "machine": result.machine, "left out": result.left_out}


def report(title: str, rows: Sequence[Row], spaces: Mapping[str, Mapping[str, Any]], args: argparse.Namespace) -> int:
    """Measures and prints. Returns 0, so that a benchmark never fails a build."""
    modules = [sys.modules[name] for name in spaces if name in sys.modules]
    limits = machine_limits(args.threads)
    print(f"{title}, {args.threads} threads; {timing.machine(*modules)}")
    print(
        f"the machine copies {2 / limits.copy / 1e9 / 2:.1f} GB/s (read + written), writes {1e-9 / limits.write:.1f} GB/s"
    )
    wanted = [row for row in rows if args.rows.search(row.name)]
    results = shown(measure(wanted, spaces, limits, args.rounds))
    for result in results:
        if result.misses and result.row.why:
            print(f"{result.row.name}: {result.row.why}")
    if args.json:
        args.json.write_text(json.dumps([figures(result) for result in results], indent=1) + "\n")
    return 0
