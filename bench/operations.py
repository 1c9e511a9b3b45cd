"""Operations on 10M elements: the time of strided relative to the best of NumPy, PyTorch, JAX and numexpr in the same run.

    ./dev bench operations                          builds for release first; writes bench/results/operations.md
    python bench/operations.py --rows 'exp|sqrt'    measures the built module; writes into bench/results/local
    python bench/operations.py --quick              tiny sizes, to see that it runs

A row has operands of one dtype, a spelling for each library, and an aim: the largest ratio to the best peer. Rows that strided
does not support yet are skipped with a reason. Then come the cost per element from 10^3 to 10^8 elements, and the gain of a second
thread.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import _book as book
import _compare as compare
import _scaling as scaling
from _book import Book, width
from _operands import OWN_FLOAT32, Job, side

SIZE = 10_000_000
IN_CACHE = 30_000
PEERS = ("numpy", "torch", "jax", "numexpr")


def jobs(size: int, in_cache: int = IN_CACHE) -> list[Job]:
    """Returns all rows, for operands of `size` elements."""
    rows = Book(size)
    elementwise(rows)
    in_place(rows)
    functions(rows)
    reductions(rows)
    matrices(rows)
    integers(rows)
    halves(rows, "Halves against our own float32", aim=1.5)
    halves(rows, f"Halves in cache, {in_cache} elements, against our own float32", aim=3.0, size=in_cache)
    return rows.jobs


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


def elementwise(rows: Book) -> None:
    group = "Elementwise, into new memory"
    rows.add(group, "x + y", "x + y", numexpr="ne.evaluate('x + y')", passes=3, aim=0.5, why=MEMORY)
    numexpr = "ne.evaluate('sqrt(p)')"
    rows.add(group, "sqrt", "np.sqrt(p)", ours="p.sqrt()", numexpr=numexpr, passes=2, aim=0.5, why=MEMORY)
    rows.add(group, "clamp", "np.clip(x, -0.5, 0.5)", ours="x.clamp(-0.5, 0.5)", passes=2, aim=0.5, why=MEMORY)
    numexpr = "ne.evaluate('x < y')"
    rows.add(group, "x < y", "x < y", numexpr=numexpr, machine="crew.read(x, y)", aim=0.6, why=READING)
    chain = "2*x + 3*y*x - 1"
    rows.add(group, chain, chain, numexpr=f"ne.evaluate({chain!r})", against=("numpy",), aim=0.7)
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
        if width(target) < width(source) and source == "float32":  # mostly reads
            limit: dict[str, Any] = {"machine": "crew.read(p)", "why": READING}
        else:
            limit = {"passes": 1, "to": target, "why": MEMORY}
        rows.add("Casts", name, numpy, ours=ours, torch=torch, dtypes=[source], aim=0.5, **limit)


def in_place(rows: Book) -> None:
    # The speed of the machine is that of a NumPy pass over the raw bytes with as many threads.
    one, two = "crew(np.invert, x)", "crew(np.bitwise_xor, x, {})"
    spellings = [
        ("add_", "np.add(x, y, out=x)", "x.add_(y)", "ne.evaluate('x + y', out=x)", two.format("y")),
        ("mul_", "np.multiply(x, unit, out=x)", "x.mul_(unit)", "ne.evaluate('x * unit', out=x)", two.format("unit")),
        ("clamp_", "np.clip(x, -0.5, 0.5, out=x)", "x.clamp_(-0.5, 0.5)", "", one),
    ]
    for name, numpy, ours, numexpr, machine in spellings:
        rows.add("In place", name, numpy, ours=ours, jax="", numexpr=numexpr, machine=machine, aim=1.0, why=IN_PLACE)


def functions(rows: Book) -> None:
    for name in ("exp", "log", "sin", "cos", "tanh"):
        operand = "p" if name == "log" else "x"
        numexpr = f"ne.evaluate('{name}({operand})')"
        call, ours = f"np.{name}({operand})", f"{operand}.{name}()"
        rows.add("Functions", name, call, ours=ours, numexpr=numexpr, aim=0.5, why=WIDE)
    rows.add("Functions", "p ** y", "p ** y", numexpr="ne.evaluate('p ** y')", dtypes=["float64"], aim=0.8)


def reductions(rows: Book) -> None:
    group = "Reductions and scans"
    for name in ("sum", "max", "argmax"):
        call, numexpr = f"x.{name}()", "" if name == "argmax" else f"ne.evaluate('{name}(x)')"
        rows.add(group, name, call, ours=call, numexpr=numexpr, machine="crew.read(x)", aim=0.9, why=READING)
    rows.add(group, "std", "x.std(ddof=1)", ours="x.std()", aim=0.9)
    rows.add(group, "cumsum", "x.cumsum()", ours="x.cumsum(0)", aim=0.7)


def matrices(rows: Book) -> None:
    group = f"Matrices of {side(rows.size)}x{side(rows.size)}"
    for name, numpy in [("M.sum(0)", "M.sum(0)"), ("M.sum(1)", "M.sum(1)"), ("M.amax(1)", "M.max(1)")]:
        rows.add(group, name, numpy, machine="crew.read(M)", aim=0.8, why=READING)
    rows.add(group, "M + row", "M + row", numexpr="ne.evaluate('M + row')", passes=2, aim=0.8)
    rows.add(group, "M + col", "M + col", numexpr="ne.evaluate('M + col')", passes=2, aim=0.8)
    rows.add(group, "M + M2.t()", ("M + M2.T",), passes=3, aim=0.4, why=TILES)
    copies = "Copies of flipped views"
    rows.add(copies, "x.flip(0)", "x[::-1].copy()", ours="x.flip(0).clone()", torch="x.flip(0)", passes=2, aim=0.4)
    for dim, numpy in enumerate(("M[::-1].copy()", "M[:, ::-1].copy()")):
        name, why = f"M.flip({dim})", BACKWARDS if dim else MEMORY
        rows.add(copies, name, numpy, ours=f"{name}.clone()", torch=name, passes=2, aim=0.4, why=why)


def integers(rows: Book) -> None:
    for name in ("x + y", "x * y", "x // p"):
        numexpr = "" if "//" in name else f"ne.evaluate('{name}')"
        rows.add("Integers", name, name, numexpr=numexpr, dtypes=["int64"], aim=0.5, why=MEMORY)
    for name in ("x + y", "x * y"):
        rows.add("Integers", name, name, dtypes=["uint8"], aim=1.0)


def halves(rows: Book, group: str, aim: float, size: int = 0) -> None:
    for name, ours in [("exp", "x.exp()"), ("x + y", "x + y"), ("sum", "x.sum()")]:
        for dtype in ("float16", "bfloat16"):
            against, why = (OWN_FLOAT32,), HALVES
            rows.add(group, name, ours=ours, own=ours, dtypes=[dtype], size=size, against=against, aim=aim, why=why)


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    return book.arguments(__doc__, SIZE, argv)


def main(argv: Sequence[str] | None = None) -> int:
    args = arguments(argv)
    modules = compare.libraries(args.threads, *PEERS)
    found = book.found("operations", jobs(args.size, 300 if args.quick else IN_CACHE), args, modules, PEERS)
    study = scaling.Study(modules, args.threads, args.rounds, args.pause, args.rows)
    slopes = list(study.slopes(100 if args.quick else 1000, args.size if args.quick else 10 * args.size))
    gains = list(study.gains(args.size))
    small = list(study.small(100 if args.quick else 1000))
    return book.publish(found._replace(slopes=slopes, gains=gains, small=small), args)


if __name__ == "__main__":
    sys.exit(main())
