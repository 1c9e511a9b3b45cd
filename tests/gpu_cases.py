"""Random short programs that run on the CPU and on a GPU: `./dev fuzz gpu`.

Elements are small integers, so that every result is exact and both devices must agree. A step that one device refuses must be
refused by the other, except by a `DeviceError`: the GPU does not have every operation.
"""

import random
import re

from gpu_devices import device_error

import strided as st

DTYPES = ("float32", "int64", "bool")
#: `a` and `b` are tensors of the program, `d` a dim, `i` an index, `n` a length, `v` a number.
STEPS = (
    "a + b", "a - b", "a * b", "a * v", "v - a", "a.maximum(b)", "a == b", "a < v", "a.neg()", "a.where(b != 0, a)",
    "a.t()", "a.flip(d)", "a.narrow(d, i, n)", "a.select(d, i)", "a.unsqueeze(d)", "a.squeeze()", "a[::2]", "a[i]", "a[..., i]",
    "a.expand(n, *a.shape)", "a.reshape(-1)", "a.contiguous()", "a.clone()", "a.view(-1)", "a.transpose(0, d)",
    "a.float()", "a.long()", "a.to(st.bool)", "a.to(b)", "st.cat([a, b], d)", "st.stack([a, a], d)",
    "a.add_(b)", "a.mul_(v)", "a.copy_(b)", "a.fill_(v)", "a.zero_()", "a.__setitem__(i, v)", "a.__setitem__(slice(None, n), b)",
    "a.sum()", "a.sum(d)", "a.amax(d)", "a.argmax()", "a.any()", "a.all(d)", "a.count_nonzero()", "a.mean()",
    "st.add(a, b, out=c)", "a.resize_(n, n)", "a.item()", "a.tolist()", "a.index_select(d, index)", "a @ b", "a.cpu() + b",
)  # fmt: skip


class Case:
    """A program of a few steps."""

    label = "program"

    def __init__(self, r: random.Random) -> None:
        self.shape = [r.choice((0, 1, 2, 3, 5)) for _ in range(r.randint(0, 3))]
        self.dtypes = [r.choice(DTYPES) for _ in range(3)]
        self.seed = r.randrange(1 << 30)
        self.steps = [
            (
                r.choice(STEPS),
                r.randrange(6),
                r.randrange(6),
                r.randint(-2, 3),
                r.randint(-2, 4),
                r.randint(0, 3),
                r.randint(-2, 3),
            )
            for _ in range(r.randint(1, 6))
        ]

    def run(self, device):
        """The result of each step: a list of dtype, shape and elements, a value, or the class of an error."""
        st.manual_seed(self.seed)
        tensors = [st.randint(-3, 4, self.shape).to(getattr(st, name)).to(device) for name in self.dtypes]
        index = st.tensor([0, 0, 1]).to(device)
        results = []
        for text, a, b, d, i, n, v in self.steps:
            names = {
                "a": tensors[a % len(tensors)],
                "b": tensors[b % len(tensors)],
                "c": tensors[-1],
                "d": d,
                "i": i,
                "n": n,
                "v": v,
            }
            try:
                value = eval(text, {"st": st, "index": index, **names})
                if isinstance(value, st.Tensor) and value.numel() < 10_000:
                    results.append((str(value.dtype), tuple(value.shape), value.tolist()))
                    tensors.append(value)
                else:
                    results.append(None if isinstance(value, st.Tensor) else value)
            except (st.DeviceError, st.OutOfMemoryError):
                return results  # the rest would differ
            except Exception as error:
                results.append(type(error).__name__)
        results.append([x.tolist() for x in tensors])
        return results

    def check(self) -> bool:
        here, there = self.run("cpu"), self.run("gpu")
        same = min(len(here), len(there))
        assert text_of(here[:same]) == text_of(there[:same]), (
            f"{self.shape} {self.dtypes}\n{self.steps}\non the CPU {here}\non the GPU {there}"
        )
        return len(here) == len(there)


def text_of(results):
    """Results as text: NaN equals NaN, and the zeros of a product may differ in their signs."""
    return re.sub(r"-0\.0(?!\d)", "0.0", repr(results))


def gpu(r):
    if error := device_error():
        raise SystemExit(error)
    return Case(r)


FAMILIES = {"gpu": gpu}
