"""Products of matrices and contractions: the time of strided relative to the best of NumPy and PyTorch.

    ./dev bench contraction                         builds for release first; writes bench/results/contraction.md
    python bench/contraction.py --rows '512'        measures the built module; writes into bench/results/local
    python bench/contraction.py --quick             tiny sizes, to see that it runs

`A` and `B` are square matrices, `v` is a vector, `wide` has twice the side of `A`, `batch1` and `batch2` are 256 matrices, `T`
and `U` have four equal dims and `N` two of those. The machine column of square products is the ratio to the time of the same
multiply-adds in registers, on all threads: its inverse is the share of the peak.
"""

import argparse
import sys
from collections.abc import Sequence

import _book as book
import _compare as compare
from _book import Book
from _operands import Job

SIDE = 2048
PEERS = ("numpy", "torch")
AIM = 1.0
#: The aim of products from this side on.
LARGE, LARGE_AIM = 512, 1.1
SIDES = (8, 32, 128, 512, 1024, 2048)
#: How the peak of multiply-adds of a dtype is measured.
PEAKS = {"float32": "single", "float64": "double"}
CONTRACTIONS = ("abcd,cedf->abef", "aebf,dfce->abcd", "abij,cdij->acbd")


def jobs(side: int = SIDE) -> list[Job]:
    """Returns all rows, for matrices of at most this side."""
    rows = Book(side * side)
    for each in sorted({min(each, side) for each in SIDES}):
        aim = LARGE_AIM if each >= LARGE else AIM
        for dtype, like in PEAKS.items():
            name = f"{each}x{each} @ {each}x{each}"
            words = {"dtypes": (dtype,), "work": each**3, "like": like}
            rows.add("Matrices", name, "A @ B", ours="A @ B", size=each * each, aim=aim, **words)
    matrices(rows, min(side, 1024))
    batches(rows, min(side, 64))
    other_dtypes(rows, min(side, 512))
    contractions(rows, 24 if side == SIDE else 4)
    small(rows)
    return [job if job.row.aim else job._replace(row=job.row._replace(aim=AIM)) for job in rows.jobs]


def matrices(rows: Book, side: int) -> None:
    group = f"Matrices of {side}x{side}"
    size = side * side
    rows.add(group, "A.t() @ B", "A.T @ B", size=size, aim=LARGE_AIM)
    rows.add(group, "A @ B.t()", "A @ B.T", size=size, aim=LARGE_AIM)
    rows.add(group, "wide[::2, ::2] @ B", "wide[::2, ::2] @ B", size=size, aim=LARGE_AIM)
    rows.add(
        group,
        "addmm",
        "1.5 * A + A @ B",
        ours="st.addmm(A, A, B, beta=1.5)",
        torch="torch.addmm(A, A, B, beta=1.5)",
        size=size,
    )
    rows.add(group, "A @ v", "A @ v", size=4 * size)
    rows.add(group, "A.t() @ v", "A.T @ v", size=4 * size)
    rows.add(group, "dot", "x @ y", ours="x.dot(y)", size=size)
    numpy = "np.linalg.norm(A[:, None] - B[None], axis=-1)"
    rows.add(
        group, "cdist of 128 rows", numpy, ours="st.cdist(A, B)", torch="torch.cdist(A, B)", size=min(side, 128) ** 2
    )


def batches(rows: Book, side: int) -> None:
    for each in sorted({min(side, 32), side}):
        name = f"256 products of {each}x{each}"
        rows.add("Batches", name, "batch1 @ batch2", ours="batch1 @ batch2", size=each * each)


def other_dtypes(rows: Book, side: int) -> None:
    group = f"Other dtypes, {side}x{side}"
    dtypes = ("float16", "bfloat16", "int32", "int64", "complex64", "complex128")
    rows.add(group, "A @ B, {}", "A @ B", ours="A @ B", size=side * side, dtypes=dtypes)


def contractions(rows: Book, extent: int) -> None:
    group = f"Contractions of dims of {extent}"

    def add(equation: str, operands: str, dtypes: Sequence[str] = book.FLOATS) -> None:
        numpy = f"np.einsum('{equation}', {operands}, optimize=True)"
        words = {"ours": f"st.einsum('{equation}', {operands})", "torch": f"torch.einsum('{equation}', {operands})"}
        rows.add(group, equation, numpy, **words, size=extent**4, dtypes=dtypes)

    for equation in CONTRACTIONS:
        add(equation, "T, U")
    add("abcd,ea->ebcd", "T, N")
    add("jk,ijkl->il", "N, T")
    add("ijkl,ijkl->", "T, U")
    add("ijij->", "T")
    add("qij,qjk->qik", "T[0], U[0]")
    add("i,j->ij", "T[0, 0, 0], U[0, 0, 0]")
    add("ij,jk,kl,lm->im", "N, N, N, N")


def small(rows: Book) -> None:
    group = "Small calls"
    rows.add(group, "8x8 @ 8x8", "A @ B", ours="A @ B", size=64)
    rows.add(group, "dot of 8", "x.dot(y)", ours="x.dot(y)", size=8)
    rows.add(group, "8x8 @ 8", "A @ v", ours="A @ v", size=64)
    words = {"ours": "st.einsum('ij,jk->ik', A, B)", "torch": "torch.einsum('ij,jk->ik', A, B)"}
    rows.add(group, "einsum of 8x8", "np.einsum('ij,jk->ik', A, B)", **words, size=64)


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    return book.arguments(__doc__, SIDE * SIDE, argv)


def main(argv: Sequence[str] | None = None) -> int:
    args = arguments(argv)
    modules = compare.libraries(args.threads)
    wanted = jobs(12 if args.quick else SIDE)
    return book.publish(book.found("contraction", wanted, args, modules, PEERS), args)


if __name__ == "__main__":
    sys.exit(main())
