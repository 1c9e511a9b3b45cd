"""Calls for which there is too little memory: each returns the right result or raises MemoryError, and its operands stay as they were.

A child process creates operands, limits its address space to a little more than it uses, and runs one call after the other. A
call that ends the process is a failure. The call runs in a thread whose stack is mapped before: a stack that cannot grow would
end the process, whatever a library does.
"""

import json
import subprocess
import sys
from typing import Any

import pytest

pytest.importorskip("resource")
if not sys.platform.startswith("linux"):
    pytest.skip("the limits of other systems work differently", allow_module_level=True)

#: Calls by family: `x` and `y` are float32 vectors of 1M elements, `m` is a float32 matrix of 900x900, `i` are 1M int64 indices, `k` an
#: int32 matrix of 700x700, `b` a bool vector, `h` a bfloat16 vector, `c` a complex64 matrix of 600x600, `w` 2M float64 weights.
FAMILIES = {
    "elementwise": ["x + y", "x * 2.5", "x.exp()", "h + x", "st.where(b, x, y)", "x.lt(y)", "x.clone().add_(y)", "c * c", "x.clamp(0, 1)"],
    "casts": ["x.double()", "x.half()", "h.float()", "x.bool()", "i.int()", "x.to(st.complex64)", "m.t().contiguous()"],
    "reductions": [
        "x.sum()", "x.mean()", "m.sum(0)", "m.sum(1)", "x.max()", "m.max(1)", "m.min(0)", "x.std()", "m.var(0)", "x.norm()", "x.prod()",
        "x.argmax()", "m.logsumexp(0)", "x.aminmax()", "b.any()", "h.sum()", "m.t().std(0)", "st.std_mean(m, 1)", "x.view(4, -1).sum(1)",
        "x.view(-1, 4).sum(0)", "x.view(-1, 4).max(0)", "x.double().view(8, -1).norm(dim=1)",
    ],
    "scans": ["x.cumsum(0)", "m.cumsum(0)", "m.cumprod(1)", "m.cummax(0)", "x.cummin(0)", "m.t().cumsum(0)", "x.logcumsumexp(0)", "x.diff()"],
    "softmax": [
        "x.softmax(0)", "m.softmax(0)", "m.softmax(1)", "m.t().softmax(1)", "m.log_softmax(0)", "h.softmax(0)", "m.half().softmax(1)",
        "h.view(16, -1).t().softmax(0)", "m.bfloat16().t().softmax(1)",
    ],
    "order": [
        "x.sort()", "m.sort(0)", "m.sort(1)", "x.argsort()", "x.topk(1000)", "x.median()", "m.median(1)", "x.kthvalue(1000)", "i.mode()", "m.mode(0)",
        "x.quantile(0.3)", "m.quantile(st.tensor([0.2, 0.8]), dim=0)", "x.histc(100)", "x.histc(800_000, 0, 1)", "i.bincount()",
        "i.unique()", "i.unique(return_inverse=True, return_counts=True)", "k.unique(dim=0)", "st.searchsorted(x.sort()[0], y)", "st.isin(i, i[:1000])",
        "x.nanmedian()", "m.msort()", "st.bucketize(x, st.linspace(0, 1, 100))",
    ],
    "random": [
        "st.rand(800_000)", "st.randn(800_000)", "st.randint(9, (800_000,))", "st.randperm(800_000)", "st.multinomial(w, 10)",
        "st.multinomial(w, 1000, True)", "st.bernoulli(x)", "x.clone().normal_()", "st.multinomial(w.view(8, -1), 100)", "st.poisson(x)",
    ],
    "products": [
        "m @ m", "m.t() @ m", "m @ m.t()", "k @ k", "m @ m[0]", "m[0] @ m", "m.t() @ m[:, 0]", "c @ c", "m.double() @ m.double()", "x @ y",
        "st.einsum('ij,kj->ik', m, m)", "st.einsum('ij,jk,kl->il', m, m, m)", "st.cdist(m, m)", "st.cdist(m[:300], m[:300], 1)", "st.bmm(m.view(9, 100, 900), m.view(9, 900, 100))",
        "st.kron(m[:40, :40], m[:40, :40])", "st.tensordot(m, m, 1)", "st.addmm(m, m, m)", "st.outer(x[:1000], y[:1000])", "st.chain_matmul(m, m, m)",
        "m.cov()", "k.view(-1)[::2] @ k.view(-1)[::2]", "x[::2] @ y[::2]", "st.conv2(m[:200, :200], m[:9, :9])", "m[::2, ::2] @ m[::2, 1]",
    ],
    "indexing": [
        "x[i]", "x.index_select(0, i)", "x.gather(0, i)", "x.clone().scatter_(0, i, y)", "x.scatter_add(0, i, y)", "x[b]", "x.masked_select(b)",
        "x.masked_fill(b, 1.0)", "b.nonzero()", "m.nonzero()", "b.nonzero(as_tuple=True)", "x.take(i)", "x.index_put((i,), y)", "x.index_add(0, i, y)",
        "x.masked_scatter(b, y)", "m[k.abs() % 900]", "x.put(i, y)", "m[:, st.arange(900)]", "x.index_put((), y)",
    ],
    "join": [
        "st.cat([x, y])", "st.stack([x, y])", "x.repeat(2)", "x.repeat_interleave(2)", "x.flip(0).contiguous()", "x.roll(3)", "m.tril()", "m.rot90()",
        "m.t().flatten()", "x.split(1000)", "m.unbind()", "x.unbind()", "st.meshgrid(x[:1000], x[:1000])", "st.block_diag(m, m)", "st.combinations(x[:1000])",
        "st.cartesian_prod(x[:1000], x[:1000])", "x.unfold(0, 8, 1).contiguous()", "st.diag(x[:1000])", "x.repeat_interleave(i.abs() % 3)", "x.chunk(100_000)",
        "st.broadcast_tensors(x, y)", "st.cat([x[:1]] * 100_000)", "st.stack(list(m) * 20)",
    ],
    "objects": ["x.tolist()", "m.tolist()", "st.tensor(list(range(200_000)))", "st.tensor([[1.5] * 1000] * 1000)", "repr(x)", "str(m)", "repr([x, m])", "bytes(x)", "list(x[:100_000])",
                "pickle.dumps(x)", "copy.deepcopy(x)", "np.asarray(x).sum()", "x.numpy() + 1", "st.from_numpy(np.ones(3))", "hash(x)", "str(x.storage())"],
}  # fmt: skip

CHILD = """
import json, resource, sys, threading
calls, limits = json.loads(sys.argv[1])
import copy, pickle
import numpy as np
import strided as st
import strided.display.text, strided.return_types, strided._numpy, strided._pickle  # not a matter of memory

st.manual_seed(1)
n = 1 << 20
x, y, m = st.rand(n), st.rand(n), st.randn(900, 900)
i, k, b = st.randint(n, (n,)), st.randint(9, (700, 700), dtype=st.int32), st.rand(n) < 0.5
h, c, w = st.rand(n).bfloat16(), st.randn(600, 600, dtype=st.complex64), st.rand(2 << 20, dtype=st.float64)
operands = {"x": x, "y": y, "m": m, "i": i, "k": k, "b": b, "h": h, "c": c, "w": w}


def checksum(value):
    if isinstance(value, st.Tensor):
        # Sums of the bytes as integers, without copies: cheap, and different for different elements in most cases.
        return [list(value.shape), str(value.dtype), value.contiguous().view(-1).view(st.uint8).sum(dtype=st.int64).item() if value.size else 0]
    if isinstance(value, np.ndarray):
        return [float(value.sum())]
    if isinstance(value, (list, tuple)):
        return [len(value)] + [checksum(item) for item in list(value)[:3]]
    return [value] if isinstance(value, (int, float, str, bool)) else [len(value)] if isinstance(value, bytes) else [str(type(value))]


def size_of(value):
    if isinstance(value, (list, tuple)):
        return sum(map(size_of, list(value)[:3]))
    return value.nbytes if isinstance(value, (st.Tensor, np.ndarray)) else 0


def used():
    return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()


def unlimited():
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def run():
    # The kept blocks of the allocator would count as used memory.
    before = {name: checksum(value) for name, value in operands.items()}
    for call in calls:
        code = compile(call, call, "eval")
        scope = {**operands, "st": st, "np": np, "copy": copy, "pickle": pickle}
        if "rand" in call or "multinomial" in call or "bernoulli" in call or "normal" in call or "poisson" in call:
            st.manual_seed(7)
        result = eval(code, scope)
        wanted, size = checksum(result), size_of(result)
        del result
        # So that the result fits, or everything but the last allocations.
        for limit in sorted({*limits, *(size + limit for limit in limits)}):
            st.memory.trim()
            # Which call is next, in case it ends the process.
            print(json.dumps({"call": call, "limit": limit}), flush=True)
            st.manual_seed(7)
            resource.setrlimit(resource.RLIMIT_AS, (used() + limit, resource.RLIM_INFINITY))
            try:
                value, error = eval(code, scope), None
            except BaseException as raised:
                value, error = None, raised
            unlimited()
            if error is None:
                outcome = "right" if (found := checksum(value)) == wanted else f"{found} instead of {wanted}"
            else:
                outcome = "MemoryError" if isinstance(error, MemoryError) else repr(error)
            value = error = None
            after = {name: checksum(value) for name, value in operands.items()}
            changed = [name for name in operands if after[name] != before[name]]
            print(json.dumps({"outcome": outcome, "changed": changed}), flush=True)


threading.stack_size(64 << 20)
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""

#: Bytes that a call may use; and as many more than its result has.
LIMITS = [1 << 19, 6 << 20]
SLOW_LIMITS = [1 << 20, 3 << 20, 8 << 20, 24 << 20, 64 << 20]


def outcomes(calls: list[str], limits: list[int]) -> list[dict[str, Any]]:
    """What became of each call at each limit."""
    child = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps([calls, limits])], capture_output=True, text=True, timeout=600
    )
    lines = [json.loads(line) for line in child.stdout.splitlines()]
    assert child.returncode == 0 and len(lines) % 2 == 0 and lines[-2]["call"] == calls[-1], (
        f"exit code {child.returncode} after {lines[-1:]}: {child.stderr[-2000:]}"
    )
    return [{**call, **outcome} for call, outcome in zip(lines[::2], lines[1::2], strict=True)]


@pytest.mark.parametrize("limits", [LIMITS, pytest.param(SLOW_LIMITS, marks=pytest.mark.slow)], ids=["two", "many"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_call_without_memory_is_right_or_a_memory_error(family: str, limits: list[int]) -> None:
    found = outcomes(FAMILIES[family], limits)
    wrong = [each for each in found if each["outcome"] not in ("right", "MemoryError") or each["changed"]]
    assert wrong == []
