"""Calls every operation on operands that end, or begin, at a guard page. `test_cpu_levels.py` runs this script.

An access beyond a tensor crashes the process; the last line of the output then names the call. The results must
equal those of the same operands in ordinary memory.
"""

import ctypes
import mmap
import os
import sys

import reduction_models
from op_rows import OPS
from strategies import DTYPES, memory_of, ordinary

import strided as st

PAGE = mmap.PAGESIZE
CAPACITY = 8 * PAGE
LENGTHS = (1, 2, 3, 5, 8, 13, 17, 31, 32, 33, 47, 63, 65, 100, 129)
REDUCTIONS = [*reduction_models.OPS, *reduction_models.EXTREMES, *reduction_models.MEANS]
SCANS = ["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "softmax", "log_softmax", "diff"]

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class GuardedPages:
    """Writable pages between two guard pages."""

    def __init__(self):
        start = libc.mmap(
            None, CAPACITY + 2 * PAGE, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0
        )
        for outside in (start, start + PAGE + CAPACITY):
            assert libc.mprotect(outside, PAGE, 0) == 0
        self.first = start + PAGE

    def bytes_at(self, size, at_end):
        return (ctypes.c_char * size).from_address(self.first + (CAPACITY - size if at_end else 0))

    def tensor(self, memory, name, at_end):
        """A tensor with these elements that starts, or ends, at a guard page."""
        target = self.bytes_at(memory.nbytes, at_end)
        target[:] = memory.tobytes()
        return st.frombuffer(target, dtype=getattr(st, name)).view(memory.shape)


def bits(results):
    return [memory_of(x).tobytes() for x in (results if isinstance(results, tuple) else (results,))]


def outcome(call, operands):
    try:
        return bits(call(*operands))
    except Exception as error:
        return str(error)


def compare(call, tensors, clones, *labels):
    """Exits unless the call returns the same, or raises the same error, for the tensors and for their clones."""
    os.write(1, f"{labels}\n".encode())  # unbuffered: a crash must not lose it
    if outcome(call, tensors) != outcome(call, clones):
        sys.exit("differ")


def reversed_operands(call):
    return lambda *x: call(*[e.flip(0) for e in x])


def check_elementwise(regions, name, n, at_end):
    """Every operation of the table, every cast from `name`, and copies into it, with `n` elements."""
    where = "end" if at_end else "start"
    memories = [ordinary(name, (n,), seed) for seed in range(3)]
    xs = [region.tensor(m, name, at_end) for region, m in zip(regions, memories, strict=False)]
    clones = [x.clone() for x in xs]
    for op, row in OPS.items():
        function = getattr(st, op, None)
        if function is not None and row.arity <= 3:
            operands = xs[: row.arity], clones[: row.arity]
            compare(function, *operands, op, name, n, where)
            compare(reversed_operands(function), *operands, op, name, n, "flipped", where)
    for target in DTYPES:
        compare(lambda x, t=target: x.to(getattr(st, t)), xs[:1], clones[:1], "to", target, name, n, where)
    target = regions[3].tensor(memories[2], name, at_end)
    for source in (name, "float16", "int8"):
        values = xs[0].to(getattr(st, source))
        compare(lambda to, v=values: to.copy_(v), [target], [target.clone()], "copy_", source, name, n, where)


def check_matrices(region, name, shape, at_end):
    """Reductions, scans and copies of a matrix and of its transpose."""
    x = region.tensor(ordinary(name, shape), name, at_end)
    for order, view in {"": lambda x: x, "transposed": lambda x: x.t()}.items():
        operands = [view(x)], [view(x.clone())]
        labels = (name, shape, order, "end" if at_end else "start")
        for dim in (0, 1):
            for op in REDUCTIONS + SCANS:
                compare(lambda x, f=op, d=dim: getattr(st, f)(x, dim=d), *operands, op, dim, *labels)
        for op in REDUCTIONS:
            compare(getattr(st, op), *operands, op, *labels)
        compare(lambda x: x.contiguous(), *operands, "contiguous", *labels)
        compare(lambda x: x.flip(0, 1).contiguous(), *operands, "flip", *labels)


def main():
    regions = [GuardedPages() for _ in range(4)]
    for at_end in (True, False):
        for name in DTYPES:
            for n in LENGTHS:
                check_elementwise(regions, name, n, at_end)
            for shape in [(3, 5), (5, 33), (33, 5), (9, 47), (70, 3), (2, 100)]:
                check_matrices(regions[0], name, shape, at_end)
    print("done")


if __name__ == "__main__":
    main()
