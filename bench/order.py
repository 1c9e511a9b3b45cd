"""Sorting, selection and counting, 2M and 10M elements: the time of strided relative to the best of NumPy and PyTorch.

    ./dev bench order                           builds for release first; writes bench/results/order.md
    python bench/order.py --rows 'sort|topk'    measures the built module; writes into bench/results/local
    python bench/order.py --quick               tiny sizes, to see that it runs

Floats have a normal distribution, integers are from -1000 to 999. `M` is a square matrix. NumPy has no function that returns
the elements in order and their indices: there, `argsort` and an index count.
"""

import argparse
import sys
from collections.abc import Sequence

import _book as book
import _compare as compare
from _book import Book
from _operands import Job, side

SIZE = 10_000_000
SMALL = 8
PEERS = ("numpy", "torch")
DTYPES = ("float32", "int64")
AIM = 1.0


def jobs(size: int) -> list[Job]:
    """Returns all rows, for operands of `size` elements and of a fifth of them."""
    fifth, whole = Book(max(size // 5, 1)), Book(size)
    for rows in (fifth, whole):
        long_lines(rows)
    matrices(whole)
    counting(whole)
    small(whole)
    return [job._replace(row=job.row._replace(aim=AIM)) for job in fifth.jobs + whole.jobs]


def long_lines(rows: Book) -> None:
    count = rows.size
    group = f"One line of {count} elements"

    def add(name: str, numpy: str | Sequence[str], ours: str, torch: str | Sequence[str] | None = None) -> None:
        rows.add(group, name, numpy, ours=ours, torch=torch, jax="", dtypes=DTYPES)

    numpy = ("x[np.argsort(x)]", "x[np.argsort(x, kind='stable')]")
    add("sort", numpy, "x.sort().values", ("x.sort().values", "x.sort(stable=True).values"))
    add("argsort", "np.argsort(x, kind='stable')", "x.argsort()", "x.argsort(stable=True)")
    add("msort", "np.sort(x)", "x.msort()")
    k = min(100, count)
    add(f"topk({k})", f"np.sort(np.partition(x, {count - k})[{count - k}:])[::-1]", f"x.topk({k}).values")
    add("unique", "np.unique(x)", "x.unique()")
    middle, third = (count - 1) // 2, count // 3
    add("median", f"np.partition(x, {middle})[{middle}]", "x.median()")
    add("kthvalue", f"np.partition(x, {third})[{third}]", f"x.kthvalue({third + 1}).values")


def matrices(rows: Book) -> None:
    extent = side(rows.size)
    group = f"Matrices of {extent}x{extent}"
    for dim in (0, 1):
        numpy = f"np.take_along_axis(M, np.argsort(M, {dim}), {dim})"
        rows.add(group, f"M.sort({dim})", numpy, ours=f"M.sort({dim}).values", jax="", dtypes=DTYPES)
    middle = (extent - 1) // 2
    numpy = f"np.partition(M, {middle}, 1)[:, {middle}]"
    rows.add(group, "M.median(1)", numpy, ours="M.median(1).values", jax="", dtypes=DTYPES)


def counting(rows: Book) -> None:
    numpy = "np.histogram(x, 100, (-3, 3))[0].astype(x.dtype)"
    rows.add("Counting", "x.histc(100, -3, 3)", numpy, jax="", dtypes=["float32"])
    rows.add("Counting", "at.flatten().bincount()", "np.bincount(at.ravel())", jax="", dtypes=["int64"])


def small(rows: Book) -> None:
    group = f"Small calls, {SMALL} elements"
    rows.add(group, "sort", "x[np.argsort(x)]", ours="x.sort().values", jax="", dtypes=DTYPES, size=SMALL)
    rows.add(group, "msort", "np.sort(x)", ours="x.msort()", jax="", dtypes=DTYPES, size=SMALL)
    rows.add(group, "median", "np.partition(x, 3)[3]", ours="x.median()", jax="", dtypes=DTYPES, size=SMALL)


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    return book.arguments(__doc__, SIZE, argv)


def main(argv: Sequence[str] | None = None) -> int:
    args = arguments(argv)
    modules = compare.libraries(args.threads)
    return book.publish(book.found("order", jobs(args.size), args, modules, PEERS), args)


if __name__ == "__main__":
    sys.exit(main())
