"""Random numbers, 10M elements: the time of strided relative to the best of NumPy and PyTorch.

    ./dev bench random_numbers                              builds for release first; writes bench/results/random_numbers.md
    python bench/random_numbers.py --rows 'randn|randperm'  measures the built module; writes into bench/results/local
    python bench/random_numbers.py --quick                  tiny sizes, to see that it runs

`rng` is NumPy's `Generator`; strided and PyTorch draw from their default generators. A file named random.py would hide the
module of the standard library from the scripts beside it.
"""

import argparse
import sys
from collections.abc import Sequence

import _book as book
import _compare as compare
from _book import FLOATS, Book
from _operands import Job

SIZE = 10_000_000
SMALL = 8
PEERS = ("numpy", "torch")
AIM = 1.0


def jobs(size: int) -> list[Job]:
    """Returns all rows, for tensors of `size` elements."""
    rows = Book(size)
    group = f"Tensors of {size} elements" if size != SIZE else "Tensors of 10M elements"
    for dtype in FLOATS:
        floats(rows, group, dtype, size)
    integers(rows, group, size)
    in_place(rows, "In place")
    small(rows)
    return [job._replace(row=job.row._replace(aim=AIM)) for job in rows.jobs]


def drawn(rows: Book, group: str, name: str, call: str, numpy: str, dtype: str, **rest: int) -> None:
    """Adds a row whose spelling is the same in strided and PyTorch, but for the name of the module."""
    ours, torch = call.format(lib="st"), call.format(lib="torch")
    rows.add(group, name, numpy, ours=ours, torch=torch, jax="", dtypes=[dtype], **rest)


def floats(rows: Book, group: str, dtype: str, n: int) -> None:
    for name, numpy in (("rand", "random"), ("randn", "standard_normal")):
        drawn(rows, group, name, f"{{lib}}.{name}({n}, dtype={{lib}}.{dtype})", f"rng.{numpy}({n}, '{dtype}')", dtype)


def integers(rows: Book, group: str, n: int) -> None:
    drawn(rows, group, "randint below 100", f"{{lib}}.randint(100, ({n},))", f"rng.integers(0, 100, {n})", "int64")
    numpy = f"rng.integers(0, 10**12, {n})"
    drawn(rows, group, "randint below 10**12", f"{{lib}}.randint(10**12, ({n},))", numpy, "int64")
    drawn(rows, group, "randperm", f"{{lib}}.randperm({n})", f"rng.permutation({n})", "int64")


def in_place(rows: Book, group: str) -> None:
    for name, numpy in (
        ("exponential_()", "rng.exponential(size=x.size)"),
        ("cauchy_()", "rng.standard_cauchy(x.size)"),
        ("bernoulli_(0.3)", "rng.random(x.size) < 0.3"),
    ):
        rows.add(group, f"x.{name}", numpy, jax="", dtypes=["float32"])
    rows.add(group, "poisson of p", "rng.poisson(p)", ours="st.poisson(p)", torch="torch.poisson(p)", jax="")


def small(rows: Book) -> None:
    group = f"Small calls, {SMALL} elements"
    for name, numpy in (
        ("rand", f"rng.random({SMALL}, 'float32')"),
        ("randn", f"rng.standard_normal({SMALL}, 'float32')"),
    ):
        drawn(rows, group, f"{name}({SMALL})", f"{{lib}}.{name}({SMALL})", numpy, "float32", size=SMALL)
    numpy = f"rng.integers(0, 100, {SMALL})"
    drawn(rows, group, f"randint(100, ({SMALL},))", f"{{lib}}.randint(100, ({SMALL},))", numpy, "int64", size=SMALL)
    drawn(
        rows,
        group,
        f"randperm({SMALL})",
        f"{{lib}}.randperm({SMALL})",
        f"rng.permutation({SMALL})",
        "int64",
        size=SMALL,
    )


def main(argv: Sequence[str] | None = None) -> int:
    args: argparse.Namespace = book.arguments(__doc__, SIZE, argv)
    modules = compare.libraries(args.threads)
    return book.publish(book.found("random_numbers", jobs(args.size), args, modules, PEERS), args)


if __name__ == "__main__":
    sys.exit(main())
