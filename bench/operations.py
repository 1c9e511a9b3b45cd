"""Operations on 10M elements: the time of strided relative to the best of NumPy, PyTorch, JAX and numexpr in the same run.

    ./dev bench operations                          builds for release first; writes bench/results/operations.md
    python bench/operations.py --rows 'exp|sqrt'    measures the built module; writes into bench/results/local
    python bench/operations.py --quick              tiny sizes, to see that it runs

A row has operands of one dtype, a spelling for each library, and an aim: the largest ratio to the best peer. Rows that strided
does not support yet are skipped with a reason. Then come the cost per element from 10^3 to 10^8 elements, and the gain of a second
thread.
"""

import argparse
import json
import multiprocessing
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import _compare as compare
import _markdown as markdown
import _scaling as scaling
import _timing as timing
from _compare import Row
from _operands import OWN_FLOAT32, Job, side, spaces

RESULTS = Path(__file__).resolve().parent / "results"
SIZE = 10_000_000
IN_CACHE = 30_000
FLOATS = ("float32", "float64")
PEERS = ("numpy", "torch", "jax", "numexpr")


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
        torch: str | None = None,
        jax: str | None = None,
        numexpr: str = "",
        own: str = "",
        machine: str = "",
        dtypes: Iterable[str] = FLOATS,
        passes: float = 0.0,
        to: str = "",
        size: int = 0,
        **rest: Any,
    ) -> None:
        """Adds a row for each dtype, whose name replaces {} in the row's name or is appended to it.

        By default `ours` is the name itself, `torch` is the same as `ours`, and `jax` is NumPy's spelling with another
        prefix; "" means that a library cannot do it. `passes` is how often memory of the operand's dtype is read or
        written; `to` is the dtype of a result that is written in addition.
        """
        numpy, ours = (numpy,) if isinstance(numpy, str) else tuple(numpy), ours or name
        torch = ours if torch is None else torch
        if jax is None:
            jax = numpy[0].replace("np.", "jnp.") if numpy else ""
        others = [("jax", jax), ("numexpr", numexpr), (OWN_FLOAT32, own), ("machine", machine)]
        count = size or (side(self.size) ** 2 if "M" in name else self.size)
        for dtype in dtypes:
            row = Row(
                name.format(dtype) if "{}" in name else f"{name}, {dtype}",
                ours,
                numpy,
                (torch,) if torch else (),
                tuple((library, spelling) for library, spelling in others if spelling),
                moved=round(count * (passes * _width(dtype) + (_width(to) if to else 0))),
                group=group,
                short=bool(size),
                **rest,
            )
            self.jobs.append(Job(row, dtype, size or self.size))


def _width(dtype: str) -> int:
    """Returns the bytes of an element."""
    return 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize


def jobs(size: int, in_cache: int = IN_CACHE) -> list[Job]:
    """Returns all rows, for operands of `size` elements."""
    book = Book(size)
    elementwise(book)
    in_place(book)
    functions(book)
    reductions(book)
    matrices(book)
    integers(book)
    halves(book, "Halves against our own float32", aim=1.5)
    halves(book, f"Halves in cache, {in_cache} elements, against our own float32", aim=3.0, size=in_cache)
    return book.jobs


# Reasons why rows miss their aims, where they are known.
MEMORY = "bound by memory, as the peer is: see the machine's column"
IN_PLACE = f"{MEMORY}; non-temporal stores took as long"
READING = (
    "bound by reading memory, as the peer is: see the machine's column, where nothing is written; "
    "neither prefetching nor non-temporal stores made it faster"
)
WIDE = "bound by computation, in a body that is accurate to 1 ULP (docs/accuracy.md)"
HALVES = "computed in float32, with a cast of each operand in the L1 cache"
TILES = "tiles of the transposed operand are staged in scratch, and their rows are short runs of the other operand"
BACKWARDS = "a row starts and ends within a cache line, which is written twice"


def elementwise(book: Book) -> None:
    group = "Elementwise, into new memory"
    book.add(group, "x + y", "x + y", numexpr="ne.evaluate('x + y')", passes=3, aim=0.5, why=MEMORY)
    numexpr = "ne.evaluate('sqrt(p)')"
    book.add(group, "sqrt", "np.sqrt(p)", ours="p.sqrt()", numexpr=numexpr, passes=2, aim=0.5, why=MEMORY)
    book.add(group, "clamp", "np.clip(x, -0.5, 0.5)", ours="x.clamp(-0.5, 0.5)", passes=2, aim=0.5, why=MEMORY)
    numexpr = "ne.evaluate('x < y')"
    book.add(group, "x < y", "x < y", numexpr=numexpr, machine="crew.read(x, y)", aim=0.6, why=READING)
    chain = "2*x + 3*y*x - 1"
    book.add(group, chain, chain, numexpr=f"ne.evaluate({chain!r})", against=("numpy",), aim=0.7)
    for source, target in [
        ("float32", "float64"),
        ("float64", "float32"),
        ("int32", "float32"),
        ("float32", "int32"),
        ("int64", "float64"),
        ("uint8", "float32"),
        ("float32", "uint8"),
        ("float32", "float16"),
        ("float16", "float32"),
    ]:
        name, numpy = f"{{}} to {target}", f"p.astype(np.{target})"
        ours, torch = f"p.to(st.{target})", f"p.to(torch.{target})"
        if _width(target) < _width(source) and source == "float32":  # mostly reads
            limit: dict[str, Any] = {"machine": "crew.read(p)", "why": READING}
        else:
            limit = {"passes": 1, "to": target, "why": MEMORY}
        book.add("Casts", name, numpy, ours=ours, torch=torch, dtypes=[source], aim=0.5, **limit)


def in_place(book: Book) -> None:
    # The speed of the machine is that of a NumPy pass over the raw bytes with as many threads.
    one, two = "crew(np.invert, x)", "crew(np.bitwise_xor, x, {})"
    rows = [
        ("add_", "np.add(x, y, out=x)", "x.add_(y)", "ne.evaluate('x + y', out=x)", two.format("y")),
        ("mul_", "np.multiply(x, unit, out=x)", "x.mul_(unit)", "ne.evaluate('x * unit', out=x)", two.format("unit")),
        ("clamp_", "np.clip(x, -0.5, 0.5, out=x)", "x.clamp_(-0.5, 0.5)", "", one),
    ]
    for name, numpy, ours, numexpr, machine in rows:
        book.add("In place", name, numpy, ours=ours, jax="", numexpr=numexpr, machine=machine, aim=1.0, why=IN_PLACE)


def functions(book: Book) -> None:
    for name in ("exp", "log", "sin", "cos", "tanh"):
        operand = "p" if name == "log" else "x"
        numexpr = f"ne.evaluate('{name}({operand})')"
        call, ours = f"np.{name}({operand})", f"{operand}.{name}()"
        book.add("Functions", name, call, ours=ours, numexpr=numexpr, aim=0.5, why=WIDE)
    book.add("Functions", "p ** y", "p ** y", numexpr="ne.evaluate('p ** y')", dtypes=["float64"], aim=0.8)


def reductions(book: Book) -> None:
    group = "Reductions and scans"
    for name in ("sum", "max", "argmax"):
        call, numexpr = f"x.{name}()", "" if name == "argmax" else f"ne.evaluate('{name}(x)')"
        book.add(group, name, call, ours=call, numexpr=numexpr, machine="crew.read(x)", aim=0.9, why=READING)
    book.add(group, "std", "x.std(ddof=1)", ours="x.std()", aim=0.9)
    book.add(group, "cumsum", "x.cumsum()", ours="x.cumsum(0)", aim=0.7)


def matrices(book: Book) -> None:
    group = f"Matrices of {side(book.size)}x{side(book.size)}"
    for name, numpy in [("M.sum(0)", "M.sum(0)"), ("M.sum(1)", "M.sum(1)"), ("M.amax(1)", "M.max(1)")]:
        book.add(group, name, numpy, machine="crew.read(M)", aim=0.8, why=READING)
    book.add(group, "M + row", "M + row", numexpr="ne.evaluate('M + row')", passes=2, aim=0.8)
    book.add(group, "M + col", "M + col", numexpr="ne.evaluate('M + col')", passes=2, aim=0.8)
    book.add(group, "M + M2.t()", ("M + M2.T",), passes=3, aim=0.4, why=TILES)
    copies = "Copies of flipped views"
    book.add(copies, "x.flip(0)", "x[::-1].copy()", ours="x.flip(0).clone()", torch="x.flip(0)", passes=2, aim=0.4)
    for dim, numpy in enumerate(("M[::-1].copy()", "M[:, ::-1].copy()")):
        name, why = f"M.flip({dim})", BACKWARDS if dim else MEMORY
        book.add(copies, name, numpy, ours=f"{name}.clone()", torch=name, passes=2, aim=0.4, why=why)


def integers(book: Book) -> None:
    for name in ("x + y", "x * y", "x // p"):
        numexpr = "" if "//" in name else f"ne.evaluate('{name}')"
        book.add("Integers", name, name, numexpr=numexpr, dtypes=["int64"], aim=0.5, why=MEMORY)
    for name in ("x + y", "x * y"):
        book.add("Integers", name, name, dtypes=["uint8"], aim=1.0)


def halves(book: Book, group: str, aim: float, size: int = 0) -> None:
    for name, ours in [("exp", "x.exp()"), ("x + y", "x + y"), ("sum", "x.sum()")]:
        for dtype in ("float16", "bfloat16"):
            against, why = (OWN_FLOAT32,), HALVES
            book.add(group, name, ours=ours, own=ours, dtypes=[dtype], size=size, against=against, aim=aim, why=why)


def measured(wanted: Sequence[Job], limits: compare.Limits, args: argparse.Namespace) -> Iterator[compare.Result]:
    """Times the rows one after the other, each in a process of its own.

    In a process that has run other rows, a peer may or may not reuse memory that one of them freed: NumPy's `exp` of 10M
    float32 took 4.7 ms or 8.6 ms. In a process of its own, every row writes into fresh memory, as a user's first call does.
    """
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["strided", *PEERS])
    with processes.Pool(1, maxtasksperchild=None if args.quick else 1) as pool:  # times of a quick run say nothing
        yield from pool.imap(partial(_measure, limits=limits, args=args), wanted)


def _measure(job: Job, limits: compare.Limits, args: argparse.Namespace) -> compare.Result:
    modules = compare.libraries(args.threads, "jax", "numexpr")
    operands = spaces(job, modules, compare.Crew(args.threads))
    return compare.measure_row(job.row, operands, limits, args.rounds, args.pause)


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = compare.parser(__doc__, rounds=60)
    parser.add_argument("--size", type=int, help=f"elements of the large operands, {SIZE} unless given")
    parser.add_argument("--quick", action="store_true", help="tiny sizes and two rounds, to see that it runs")
    parser.add_argument("--out", type=Path, help="the folder for the page and the plots")
    args = parser.parse_args(argv)
    full = args.size is None and not args.quick and not args.rows.pattern
    if args.size is not None and args.size < 1:
        parser.error("--size must be at least 1")
    args.size = args.size or (2000 if args.quick else SIZE)
    args.rounds = 2 if args.quick and args.rounds == parser.get_default("rounds") else args.rounds
    if args.rounds < 1 or args.threads < 1:
        parser.error("--rounds and --threads must be at least 1")
    # Only complete runs are published; git ignores the folder of all others.
    args.out = args.out or (RESULTS if full else RESULTS / "local")
    args.pause = 0.0 if args.quick else 0.004
    return args


def main(argv: Sequence[str] | None = None) -> int:
    args = arguments(argv)
    modules = compare.libraries(args.threads, "jax", "numexpr")
    limits = compare.machine_limits(args.threads, *((100_000, 3) if args.quick else ()))
    facts = timing.facts(*modules.values())
    print("; ".join(f"{word} {fact}" for word, fact in facts.items()))
    print(f"{args.size} elements, {args.threads} threads, best of {args.rounds} interleaved rounds")
    in_cache = 300 if args.quick else IN_CACHE
    wanted = [job for job in jobs(args.size, in_cache) if args.rows.search(f"{job.row.group}: {job.row.name}")]
    results = compare.shown(measured(wanted, limits, args))
    study = scaling.Study(modules, args.threads, args.rounds, args.pause, args.rows)
    slopes = list(study.slopes(100 if args.quick else 1000, args.size if args.quick else 10 * args.size))
    gains = list(study.gains(args.size))
    small = list(study.small(100 if args.quick else 1000))
    found = markdown.Found(
        facts=facts,
        date=datetime.now(UTC).date().isoformat(),
        size=args.size,
        threads=args.threads,
        rounds=args.rounds,
        quick=args.quick,
        peers=[name for name in PEERS if name in modules],
        results=results,
        slopes=slopes,
        gains=gains,
        small=small,
    )
    for path in markdown.write(found, args.out):
        print(f"wrote {path}")
    if args.json:
        args.json.write_text(json.dumps(markdown.as_json(found), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
