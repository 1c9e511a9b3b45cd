"""What is imported or made when it is first used: by a finalizer at shutdown, and while another thread forks.

Each use runs in a process of its own, in which it is the first one.
"""

import os
import subprocess
import sys
import textwrap

import pytest

#: First uses by what they import or make: expressions of the tensor `x`, whose dtype is float32.
USES: dict[str, tuple[str, ...]] = {
    "strided.return_types": (
        "x.sort()", "x.max(0)", "x.median(0)", "st.std_mean(x)", "x.aminmax()", "x.topk(1)", "x.kthvalue(1)", "x.mode()", "x.cummax(0)",
    ),
    "strided.display.text": ("repr(x)", "str(x.storage())", "format(x)", "format(x.sum(), '.2f')"),
    "strided.display.notebook": ("x._repr_html_()", "x.storage()._repr_html_()", "x.layout._repr_html_()"),
    "strided.display.drawing": ("x.layout.draw()",),
    "strided.display.svg": ("x.layout.svg()",),
    "strided._pickle": ("pickle.dumps(x)", "copy.deepcopy(x)", "pickle.dumps(x.storage())", "copy.deepcopy(x.storage())"),
    "strided._numpy": ("x.__array__()", "x.numpy()", "bytes(x)", "complex(x[0])"),
    "strided._size": ("x.size + 1",),
    "strided._processes": ("x.share_memory_()",),
    "numpy": ("x.dtype.dtype",),
    "strided.files": ("x.tofile(io.BytesIO())",),
    "exceptions": (
        "refused(lambda: x.narrow(0, 9, 1))", "refused(lambda: x + 'a')", "refused(lambda: x.int().add_(1.5))",
        "refused(lambda: st.frombuffer(b'abcd').fill_(0))",
        "refused(lambda: x.new_zeros(2, 2) @ x)", "refused(lambda: st.FloatTensor('a'))", "refused(lambda: st.full((2,), 300, dtype=st.uint8))",
    ),
    "dtypes": ("x.dtype", "st.dtype('float64')", "st.from_dlpack(x)", "refused(lambda: st.from_dlpack(3))", "refused(lambda: st.dtype(object))"),
    "generators": ("st.default_generator.initial_seed()", "st.rand(3)", "st.Generator().seed()", "refused(lambda: st.Generator('a'))"),
    "threads": ("st.zeros(1 << 20).exp_().sum()", "st.rand(1 << 21).sort()[0]"),
}  # fmt: skip


def run(code: str, expect: int = 0) -> str:
    """The standard error of a separate Python process, whose exit code must be `expect`."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    assert done.returncode == expect, done.stderr
    assert "panicked" not in done.stderr and "internal error" not in done.stderr, done.stderr
    return done.stdout


SETUP = """
import copy, io, os, pickle, sys, threading, time
import strided as st

def refused(call):
    try:
        call()
    except (TypeError, ValueError, RuntimeError, ArithmeticError, AttributeError, ImportError):
        return
    raise AssertionError("not refused")

x = st.tensor([3.0, 1.0, 2.0])
"""


@pytest.mark.parametrize("uses", USES.values(), ids=USES)
def test_a_finalizer_may_be_the_first_user(uses: tuple[str, ...]) -> None:
    """It gets a result or an exception, such as that of an import that fails during shutdown."""
    assert "used" in run(
        SETUP
        + f"""
class Late:
    def __del__(self, st=st, x=x, copy=copy, io=io, pickle=pickle, refused=refused, write=os.write):
        for text in {uses!r}:
            try:
                eval(text)
            except Exception:
                pass
        write(1, b"used")

late = Late()
st.late = late  # cleared with the last modules
"""
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("uses", USES.values(), ids=USES)
def test_a_fork_during_the_first_use_leaves_nothing_locked(uses: tuple[str, ...]) -> None:
    """Another thread is in the middle of its first use when the process forks; then the child uses the same. The first import of
    the other thread waits until the fork has begun."""
    run(
        SETUP
        + f"""
import importlib.abc

class Slow(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if threading.current_thread() is not threading.main_thread() and not importing.is_set():
            importing.set()
            while not st._strided._pending_forks():
                time.sleep(0)

def first_use():
    try:
        use()
    finally:
        importing.set()

def use():
    for text in {uses!r}:
        eval(text)

importing = threading.Event()
sys.meta_path.insert(0, Slow())
thread = threading.Thread(target=first_use)
thread.start()
importing.wait()
pid = os.fork()
if pid == 0:
    import signal
    signal.alarm(20)
    use()
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
thread.join()
"""
    )


def test_a_daemon_thread_that_computes_at_exit_ends_with_the_process() -> None:
    run(
        SETUP
        + """
started = threading.Event()

def work():
    y = st.rand(1 << 20)
    while True:
        y.exp()
        y.sort()
        started.set()

threading.Thread(target=work, daemon=True).start()
started.wait()
"""
    )
