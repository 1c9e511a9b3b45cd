"""Reading, writing and rearranging by index, 10M elements: the time of strided relative to the best of NumPy and PyTorch.

    ./dev bench indexing                            builds for release first; writes bench/results/indexing.md
    python bench/indexing.py --rows 'gather|cat'    measures the built module; writes into bench/results/local
    python bench/indexing.py --quick                tiny sizes, to see that it runs

Indices are random, half of a mask is true. `M` is a square matrix, `thin` has 8 columns, `idx` and `part` have a fifth of the
elements. Rows that strided does not support yet are skipped with a reason.
"""

import argparse
import sys
from collections.abc import Sequence

import _book as book
import _compare as compare
from _book import Book
from _operands import Job, side

SIZE = 10_000_000
CALLED = 200_000
SMALL = 8
PEERS = ("numpy", "torch")
AIM = 1.0


def jobs(size: int, called: int = CALLED) -> list[Job]:
    """Returns all rows, for operands of `size` elements."""
    rows = Book(size)
    masks(rows)
    indices(rows)
    matrices(rows)
    rearranging(rows)
    calling(rows, called)
    small(rows)
    return [job._replace(row=job.row._replace(aim=AIM)) for job in rows.jobs]


def masks(rows: Book) -> None:
    group = "Masks"
    rows.add(group, "masked_select", ("x[mask]", "np.compress(mask, x)"), ours="x.masked_select(mask)")
    numpy = ("np.nonzero(sparse)", "np.flatnonzero(sparse)", "np.argwhere(sparse)")
    rows.add(group, "nonzero", numpy, ours="sparse.nonzero()")
    numpy = ("np.nonzero(mask)", "np.flatnonzero(mask)")
    rows.add(group, "nonzero of a mask", numpy, ours="mask.nonzero()", dtypes=["bool"])
    fills = ("np.putmask(x, mask, 1.5)", "x[mask] = 1.5", "np.copyto(x, 1.5, where=mask)")
    rows.add(group, "masked_fill_", fills, ours="x.masked_fill_(mask, 1.5)")
    rows.add(group, "x[mask] = 1.5", fills, torch=("x[mask] = 1.5", "x.masked_fill_(mask, 1.5)"))
    numpy = ("np.place(x, mask, y)", "x[mask] = y[:np.count_nonzero(mask)]")
    rows.add(group, "masked_scatter_", numpy, ours="x.masked_scatter_(mask, y)")


def indices(rows: Book) -> None:
    group = "A fifth of the elements by index"
    torch = ("x[idx]", "x.take(idx)", "x.index_select(0, idx)")
    rows.add(group, "x[idx]", ("x[idx]", "x.take(idx)"), torch=torch)
    rows.add(group, "x.take(idx)", ("x.take(idx)", "x[idx]"), torch=torch)
    torch = ("x[idx] = part", "x.put_(idx, part)", "x.scatter_(0, idx, part)")
    rows.add(group, "x[idx] = part", ("x[idx] = part", "np.put(x, idx, part)"), torch=torch)
    rows.add(group, "x.index_add_(0, idx, part)", "np.add.at(x, idx, part)")


def matrices(rows: Book) -> None:
    extent = side(rows.size)
    group = f"Matrices of {extent}x{extent}"
    rows.add(group, "M.index_select(0, lines)", ("M[lines]", "np.take(M, lines, 0)"), passes=2)
    rows.add(group, "M.index_select(1, lines)", ("M[:, lines]", "np.take(M, lines, 1)"), passes=2)
    numpy = ("thin[thin_lines]", "np.take(thin, thin_lines, 0)")
    rows.add(group, "thin.index_select(0, thin_lines)", numpy)
    for dim in (0, 1):
        rows.add(group, f"M.gather({dim}, at)", f"np.take_along_axis(M, at, {dim})")
        rows.add(group, f"M.scatter_({dim}, at, M2)", f"np.put_along_axis(M, at, M2, {dim})")
        key = "lines" if dim == 0 else "(slice(None), lines)"
        rows.add(group, f"M.index_add_({dim}, lines, M2)", f"np.add.at(M, {key}, M2)", passes=3)


def rearranging(rows: Book) -> None:
    group = "Joining and rearranging"
    rows.add(
        group, "cat of 100 pieces", "np.concatenate(pieces)", ours="st.cat(pieces)", torch="torch.cat(pieces)", passes=2
    )
    rows.add(group, "stack", "np.stack([x, y])", ours="st.stack([x, y])", torch="torch.stack([x, y])", passes=4)
    rows.add(group, "part.repeat(5)", "np.tile(part, 5)", passes=1.2)
    rows.add(group, "part.repeat_interleave(5)", "np.repeat(part, 5)", passes=1.2)
    rows.add(group, "x.roll(1000)", "np.roll(x, 1000)", passes=2)
    rows.add(group, "M.roll((5, 7), (0, 1))", "np.roll(M, (5, 7), (0, 1))", passes=2)
    torch = "torch.nn.functional.pad(M, (3, 3, 3, 3))"
    rows.add(group, "pad M by 3", "np.pad(M, 3)", ours="st.pad(M, (3, 3, 3, 3))", torch=torch, passes=2)
    rows.add(group, "M.tril()", "np.tril(M)", passes=2)
    numpy = "np.ascontiguousarray(np.lib.stride_tricks.sliding_window_view(x, 4)[::2])"
    rows.add(group, "x.unfold(0, 4, 2).contiguous()", numpy, passes=3)


def calling(rows: Book, called: int) -> None:
    group = f"Python functions, {called} elements"
    numpy = ("x[...] = np.frompyfunc(lambda v: -v, 1, 1)(x)", "x[...] = [-v for v in x.tolist()]")
    rows.add(group, "apply_", numpy, ours="x.apply_(lambda v: -v)", size=called)


def small(rows: Book) -> None:
    group = f"Small calls, {SMALL} elements"
    rows.add(group, "x[mask]", "x[mask]", torch=("x[mask]", "x.masked_select(mask)"), size=SMALL)
    rows.add(group, "x[idx]", ("x[idx]", "x.take(idx)"), torch=("x[idx]", "x.take(idx)"), size=SMALL)
    rows.add(group, "cat", "np.concatenate((x, y))", ours="st.cat((x, y))", torch="torch.cat((x, y))", size=SMALL)


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    return book.arguments(__doc__, SIZE, argv)


def main(argv: Sequence[str] | None = None) -> int:
    args = arguments(argv)
    modules = compare.libraries(args.threads)
    wanted = jobs(args.size, 50 if args.quick else CALLED)
    return book.publish(book.found("indexing", wanted, args, modules, PEERS), args)


if __name__ == "__main__":
    sys.exit(main())
