"""What benchmarks that write a page share: rows for several dtypes, each measured in a process of its own, and the options."""

import argparse
import json
import multiprocessing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import _compare as compare
import _markdown as markdown
import _timing as timing
from _compare import Row
from _operands import OWN_FLOAT32, Job, side, spaces

RESULTS = Path(__file__).resolve().parent / "results"
FLOATS = ("float32", "float64")


class Book:
    """Collects rows: spellings are given once, for a row per dtype."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.jobs: list[Job] = []

    def add(
        self,
        group: str,
        name: str,
        numpy: str | Sequence[str] = (),
        *,
        ours: str = "",
        torch: str | Sequence[str] | None = None,
        jax: str | None = None,
        numexpr: str = "",
        own: str = "",
        machine: str = "",
        dtypes: Iterable[str] = FLOATS,
        passes: float = 0.0,
        to: str = "",
        work: int = 0,
        size: int = 0,
        **rest: Any,
    ) -> None:
        """Adds a row for each dtype, whose name replaces {} in the row's name or is appended to it.

        By default `ours` is the name itself, `torch` is the same as `ours`, and `jax` is NumPy's spelling with another
        prefix; "" means that a library cannot do it. `passes` is how often memory of the operand's dtype is read or
        written; `to` is the dtype of a result that is written in addition. `work` is the number of multiply-adds instead.
        """
        numpy, ours = (numpy,) if isinstance(numpy, str) else tuple(numpy), ours or name
        torch = (ours if torch is None else torch) or ()
        if jax is None:
            jax = numpy[0].replace("np.", "jnp.") if numpy else ""
        others = [("jax", jax), ("numexpr", numexpr), (OWN_FLOAT32, own), ("machine", machine)]
        count = size or (side(self.size) ** 2 if "M" in name else self.size)
        for dtype in dtypes:
            row = Row(
                name.format(dtype) if "{}" in name else f"{name}, {dtype}",
                ours,
                numpy,
                (torch,) if isinstance(torch, str) else tuple(torch),
                tuple((library, spelling) for library, spelling in others if spelling),
                moved=work or round(count * (passes * width(dtype) + (width(to) if to else 0))),
                group=group,
                short=bool(size),
                **rest,
            )
            self.jobs.append(Job(row, dtype, size or self.size))


def width(dtype: str) -> int:
    """Returns the bytes of an element."""
    return 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize


def found(
    name: str, wanted: Sequence[Job], args: argparse.Namespace, modules: Mapping[str, Any], peers: Sequence[str]
) -> markdown.Found:
    """Measures the rows that the options select, and prints each."""
    limits = compare.machine_limits(args.threads, *((100_000, 3) if args.quick else ()))
    facts = timing.facts(*modules.values())
    print("; ".join(f"{word} {fact}" for word, fact in facts.items()))
    print(f"{args.size} elements, {args.threads} threads, best of {args.rounds} interleaved rounds")
    wanted = [job for job in wanted if args.rows.search(f"{job.row.group}: {job.row.name}")]
    return markdown.Found(
        name=name,
        facts=facts,
        date=datetime.now(UTC).date().isoformat(),
        size=args.size,
        threads=args.threads,
        rounds=args.rounds,
        quick=args.quick,
        peers=[peer for peer in peers if peer in modules],
        results=compare.shown(measured(wanted, limits, args, peers)),
    )


def publish(found: markdown.Found, args: argparse.Namespace) -> int:
    """Writes the page, and the figures if they are asked for. Returns 0, so that a benchmark never fails a build."""
    for path in markdown.write(found, args.out):
        print(f"wrote {path}")
    if args.json:
        args.json.write_text(json.dumps(markdown.as_json(found), indent=1) + "\n")
    return 0


def measured(
    wanted: Sequence[Job], limits: compare.Limits, args: argparse.Namespace, peers: Sequence[str]
) -> Iterator[compare.Result]:
    """Times the rows one after the other, each in a process of its own.

    In a process that has run other rows, a peer may or may not reuse memory that one of them freed: NumPy's `exp` of 10M
    float32 took 4.7 ms or 8.6 ms. In a process of its own, every row writes into fresh memory, as a user's first call does.
    """
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["strided", *peers])
    with processes.Pool(1, maxtasksperchild=None if args.quick else 1) as pool:  # times of a quick run say nothing
        yield from pool.imap(partial(_measure, limits=limits, args=args, peers=peers), wanted)


def _measure(job: Job, limits: compare.Limits, args: argparse.Namespace, peers: Sequence[str]) -> compare.Result:
    modules = compare.libraries(args.threads, *peers)
    operands = spaces(job, modules, compare.Crew(args.threads))
    return compare.measure_row(job.row, operands, limits, args.rounds, args.pause)


def arguments(description: str, default_size: int, argv: Sequence[str] | None) -> argparse.Namespace:
    """Reads the command line of a benchmark that writes a page."""
    parser = compare.parser(description, rounds=60)
    parser.add_argument("--size", type=int, help=f"elements of the large operands, {default_size} unless given")
    parser.add_argument("--quick", action="store_true", help="tiny sizes and two rounds, to see that it runs")
    parser.add_argument("--out", type=Path, help="the folder for the page and the plots")
    args = parser.parse_args(argv)
    full = args.size is None and not args.quick and not args.rows.pattern
    if args.size is not None and args.size < 1:
        parser.error("--size must be at least 1")
    args.size = args.size or (2000 if args.quick else default_size)
    args.rounds = 2 if args.quick and args.rounds == parser.get_default("rounds") else args.rounds
    if args.rounds < 1 or args.threads < 1:
        parser.error("--rounds and --threads must be at least 1")
    # Only complete runs are published; git ignores the folder of all others.
    args.out = args.out or (RESULTS if full else RESULTS / "local")
    args.pause = 0.0 if args.quick else 0.004
    return args
