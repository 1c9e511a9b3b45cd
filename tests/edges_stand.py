"""Calls every operation on operands that end, or begin, at a page that nobody may touch. Run by
test_cpu_levels.py: who reads or writes beyond a tensor ends this process, and the last line says in which call.

Results must be those of the same operands elsewhere.
"""

import ctypes
import mmap
import sys

from strategies import DTYPES, memory_of, ordinary

import strided as st

PAGE = mmap.PAGESIZE
ROOM = 8 * PAGE
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


class Fence:
    """Pages between two that may not be touched."""

    def __init__(self):
        start = libc.mmap(
            None, ROOM + 2 * PAGE, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0
        )
        for outside in (start, start + PAGE + ROOM):
            assert libc.mprotect(outside, PAGE, 0) == 0
        self.first = start + PAGE

    def bytes_at(self, size, at_end):
        return (ctypes.c_char * size).from_address(self.first + (ROOM - size if at_end else 0))

    def tensor(self, memory, name, at_end):
        """A tensor with these elements, at one of the edges."""
        there = self.bytes_at(memory.nbytes, at_end)
        there[:] = memory.tobytes()
        return st.frombuffer(there, dtype=getattr(st, name)).view(memory.shape)


def bits(results):
    return [memory_of(x).tobytes() for x in (results if isinstance(results, tuple) else (results,))]


def compare(call, tensors, *labels):
    """The same results there and elsewhere, or the same error."""
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
    fences = [Fence() for _ in range(4)]
    for at_end in (True, False):
        where = "end" if at_end else "start"
        for name in DTYPES:
            for n in LENGTHS:
                memories = [ordinary(name, (n,), seed) for seed in range(3)]
                xs = [fence.tensor(m, name, at_end) for fence, m in zip(fences, memories, strict=False)]
                for op, arity, *_ in st._strided._ops():
                    function = getattr(st, op, None)
                    if function is not None and arity <= 3:
                        compare(function, xs[:arity], op, name, n, where)
                        compare(
                            lambda *x, f=function: f(*[e.flip(0) for e in x]), xs[:arity], op, name, n, "flipped", where
                        )
                for target in DTYPES:
                    compare(lambda x, t=target: x.to(getattr(st, t)), xs[:1], "to", target, name, n, where)
                target = fences[3].tensor(memories[2], name, at_end)
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
                x = fences[0].tensor(ordinary(name, shape), name, at_end)
                for turned, view in {"": lambda x: x, "turned": lambda x: x.t()}.items():
                    labels = (name, shape, turned, where)
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
