"""Calls every operation on operands that end, or begin, at a guard page. `test_cpu_levels.py` runs this script.

An access beyond a tensor crashes the process; the last line of the output then names the call. The results must
equal those of the same operands in ordinary memory.
"""

import ctypes
import mmap
import sys

from strategies import DTYPES, memory_of, ordinary

import strided as st

PAGE = mmap.PAGESIZE
CAPACITY = 8 * PAGE
LENGTHS = (1, 2, 3, 5, 8, 13, 17, 31, 32, 33, 47, 63, 65, 100, 129)
REDUCTIONS = [
    *["sum", "prod", "mean", "var", "std", "norm", "nansum", "nanmean", "count_nonzero", "all", "any"],
    *["amax", "amin", "aminmax", "argmax", "argmin", "max", "min"],
]
LINES = ["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "softmax", "log_softmax", "logsumexp", "diff"]

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


def compare(call, tensors, *labels):
    """Exits unless the call returns the same, or raises the same error, for clones of the tensors."""
    print(*labels)
    outcomes = []
    for operands in (tensors, [x.clone() for x in tensors]):
        try:
            outcomes.append(bits(call(*operands)))
        except Exception as error:
            outcomes.append(str(error))
    if outcomes[0] != outcomes[1]:
        sys.exit("differ")


def main():
    regions = [GuardedPages() for _ in range(4)]
    for at_end in (True, False):
        where = "end" if at_end else "start"
        for name in DTYPES:
            for n in LENGTHS:
                memories = [ordinary(name, (n,), seed) for seed in range(3)]
                xs = [region.tensor(m, name, at_end) for region, m in zip(regions, memories, strict=False)]
                for op, arity, *_ in st._strided._ops():
                    function = getattr(st, op, None)
                    if function is not None and arity <= 3:
                        compare(function, xs[:arity], op, name, n, where)
                        compare(
                            lambda *x, f=function: f(*[e.flip(0) for e in x]), xs[:arity], op, name, n, "flipped", where
                        )
                for target in DTYPES:
                    compare(lambda x, t=target: x.to(getattr(st, t)), xs[:1], "to", target, name, n, where)
                target = regions[3].tensor(memories[2], name, at_end)
                for source in (name, "float16", "int8"):
                    compare(
                        lambda to, x, s=source: to.copy_(x.to(getattr(st, s))),
                        [target, xs[0]],
                        "copy_",
                        source,
                        name,
                        n,
                    )
            for shape in [(3, 5), (5, 33), (33, 5), (9, 47), (70, 3), (2, 100)]:
                x = regions[0].tensor(ordinary(name, shape), name, at_end)
                for order, view in {"": lambda x: x, "transposed": lambda x: x.t()}.items():
                    labels = (name, shape, order, where)
                    for dim in (0, 1):
                        for op in REDUCTIONS + LINES:
                            compare(lambda x, v=view, f=op, d=dim: getattr(st, f)(v(x), dim=d), [x], op, dim, *labels)
                    for op in REDUCTIONS:
                        compare(lambda x, v=view, f=op: getattr(st, f)(v(x)), [x], op, *labels)
                    compare(lambda x, v=view: v(x).contiguous(), [x], "contiguous", *labels)
                    compare(lambda x, v=view: v(x).flip(0, 1).contiguous(), [x], "flip", *labels)
    print("done")


if __name__ == "__main__":
    main()
