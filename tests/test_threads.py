"""Threads, forks, signals and finalizers that use the same tensors at once: no combination may crash or hang.

Each case runs in its own process, so that a crash fails one test and does not end the others. No case depends on how
fast the machine is: threads wait for each other's events, and `HANGS` is only there to end a process that hangs.
"""

import os
import subprocess
import sys

import pytest

HANGS = 300  # seconds

PRELUDE = f"""
HANGS = {HANGS}  # for children of this process, through `signal.alarm`
import faulthandler, gc, os, random, signal, sys, threading, time
faulthandler.enable()
faulthandler.dump_traceback_later(HANGS + 10, exit=True)
sys.setswitchinterval(1e-5)
import strided as st

detached_calls, pending_forks = st._strided._detached_calls, st._strided._pending_forks
EXPECTED = (ValueError, TypeError, RuntimeError, IndexError, OverflowError, BufferError, MemoryError)

def storm(jobs, total, count=8):
    '''Runs `total` jobs, chosen at random, in `count` threads. Exceptions other than the expected ones are failures.'''
    failures = []
    def work(n):
        r = random.Random(n)
        for _ in range(total // count):
            if failures:
                return
            try:
                r.choice(jobs)(r)
            except EXPECTED:
                pass
            except BaseException as e:
                failures.append(repr(e))
    run_all([(work, n) for n in range(count)])
    assert not failures, failures[:3]

def run_all(calls):
    '''Runs each (function, *arguments) in a thread.'''
    threads = [threading.Thread(target=f, args=args) for f, *args in calls]
    for t in threads: t.start()
    for t in threads: t.join()
"""


def run(code, first=""):
    """Runs code in a process of its own; `first` comes before the import of strided."""
    program = first + PRELUDE + code + "\nprint('alive')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=2 * HANGS)
    assert done.returncode == 0 and done.stdout.endswith("alive\n"), (
        done.returncode,
        done.stdout[-500:],
        done.stderr[-3000:],
    )


def test_everything_on_the_same_small_tensors():
    run("""
xs = [st.zeros(5, 7), st.arange(35, dtype=st.int64).view(5, 7), st.zeros(3, dtype=st.complex64), st.ones(0)]
def any_(r): return r.choice(xs)
jobs = [
    lambda r: any_(r).resize_(r.randrange(6), r.randrange(6)),
    lambda r: any_(r).resize_(r.randrange(2000)),
    lambda r: any_(r).add_(1),
    lambda r: any_(r) + any_(r),
    lambda r: any_(r).sum(),
    lambda r: any_(r).sum(0),
    lambda r: any_(r).tolist(),
    lambda r: repr(any_(r)),
    lambda r: any_(r)[r.randrange(3)].fill_(2),
    lambda r: any_(r).__setitem__((slice(1, None), slice(None, None, -1)), 3),
    lambda r: any_(r).__setitem__(slice(1, None), any_(r)[:-1]),
    lambda r: any_(r).t_(),
    lambda r: any_(r).unsqueeze_(0),
    lambda r: any_(r).squeeze_(),
    lambda r: any_(r).set_(any_(r)),
    lambda r: any_(r).copy_(any_(r)),
    lambda r: any_(r).clone(),
    lambda r: any_(r).view(-1)[::2].neg_(),
    lambda r: memoryview(any_(r)).tobytes(),
    lambda r: st.tensor(any_(r).tolist()),
    lambda r: [e for e in any_(r)],
    lambda r: any_(r).item(),
    lambda r: any_(r).to(st.float16),
    lambda r: any_(r).as_strided((3, 3), (2, 1)).sum(),
    lambda r: st.add(any_(r), any_(r), out=any_(r)),
    lambda r: xs.__setitem__(r.randrange(len(xs)), r.choice([st.zeros(4, 4), st.arange(9), st.ones(2, 3).t()])),
    lambda r: any_(r).storage(),
    lambda r: any_(r).layout,
    lambda r: (any_(r) < any_(r)),
    lambda r: any_(r).size(0),
    lambda r: bytes(any_(r)),
]
storm(jobs, 80_000)
""")


def test_large_tensors_while_the_gil_is_released():
    run("""
n = 400_000
xs = [st.zeros(n), st.ones(n, dtype=st.float64), st.arange(n), st.zeros(600, 700)]
def any_(r): return r.choice(xs)
jobs = [
    lambda r: any_(r).add_(1),
    lambda r: any_(r) + any_(r),
    lambda r: any_(r).sum(),
    lambda r: any_(r).resize_(r.choice([n, 10, n // 2, n * 2])),
    lambda r: any_(r).resize_(600, 700),
    lambda r: any_(r).fill_(1),
    lambda r: any_(r).copy_(any_(r)),
    lambda r: any_(r).clone(),
    lambda r: any_(r).t_(),
    lambda r: any_(r).flip(0).to(st.int16),
    lambda r: any_(r).set_(st.zeros(5, dtype=any_(r).dtype)),
    lambda r: xs.__setitem__(r.randrange(4), st.zeros(r.choice([n, 600 * 700]), dtype=r.choice([st.float32, st.int64]))),
    lambda r: st.mul(any_(r), any_(r), out=any_(r)),
    lambda r: any_(r)[::2].__iadd__(any_(r)[1::2]),
    lambda r: any_(r).tolist()[:3] if r.random() < 0.05 else None,
]
storm(jobs, 6000, count=6)
""")


def test_exports_against_resizes():
    run("""
xs = [st.zeros(1000) for _ in range(3)]
held = []
def hold(r):
    view = memoryview(r.choice(xs))
    held.append(view)
    if len(held) > 20:
        held.pop(0).release()
def look(r):
    if held:
        r.choice(held)[0]
jobs = [hold, look,
    lambda r: r.choice(xs).resize_(r.randrange(5000)),
    lambda r: r.choice(xs).fill_(r.random()),
    lambda r: held.pop().release(),
    lambda r: held.clear(),
    lambda r: xs.__setitem__(r.randrange(3), st.zeros(1000)),
    lambda r: r.choice(xs).sum(),
]
storm(jobs, 400_000)
held.clear()
gc.collect()
for x in xs: x.resize_(100_000)
""")


def test_foreign_memory_against_frees():
    run("""
import numpy as np
xs = [st.from_numpy(np.zeros(1000)) for _ in range(3)]
jobs = [
    lambda r: xs.__setitem__(r.randrange(3), st.from_numpy(np.zeros(r.randrange(1, 2000)))),
    lambda r: xs.__setitem__(r.randrange(3), st.frombuffer(bytearray(800), dtype=st.float64)),
    lambda r: r.choice(xs)[::-2].add_(1),
    lambda r: r.choice(xs) + r.choice(xs),
    lambda r: r.choice(xs).numpy().sum(),
    lambda r: r.choice(xs).resize_(10_000),
    lambda r: r.choice(xs).set_(r.choice(xs)),
    lambda r: gc.collect() if r.random() < 0.01 else None,
]
storm(jobs, 40_000)
""")


def test_many_threads_compute_the_right_numbers():
    run("""
wrong = []
def work(n):
    for i in range(200):
        x = st.full((1000 + n,), n, dtype=st.int64)
        y = (x + i) * 2 - x
        if y.sum().item() != (n + 2 * i) * (1000 + n) or x.sum().item() != n * (1000 + n):
            wrong.append((n, i))
run_all([(work, n) for n in range(16)])
assert not wrong, wrong[:5]
big = st.ones(2_000_000)
found = set()
def total():
    for _ in range(10): found.add((big + 1).sum().item())
run_all([(total,)] * 8)
assert found == {4_000_000.0}, found
""")


def test_threads_come_and_go():
    """Objects made in one thread are freed in another, and free lists survive the end of their thread."""
    run("""
import queue
q = queue.Queue(maxsize=50)
def make():
    for i in range(300): q.put(st.full((i % 50,), i, dtype=st.int64))
    q.put(None)
def take():
    while (x := q.get()) is not None:
        assert x.sum().item() % 1 == 0
        x[1:].clone()
for _ in range(10):
    run_all([(make,), (take,)])
for _ in range(300):
    run_all([(lambda: st.ones(10).sum().item(),)])
""")


FORK = """
import warnings
warnings.simplefilter("ignore")
big = st.ones(1_000_000)
assert (big + 1).sum().item() == 2_000_000
def work():
    x = st.arange(1_000_000)
    assert x.sum().item() == 499999500000
    assert (big + 1).sum().item() == 2_000_000
    y = st.zeros(10); y.resize_(1000); y.fill_(1)
    assert y.sum().item() == 1000
    assert repr(y[:2]) and y.tolist()[0] == 1

def fork_and_work():
    pid = os.fork()
    if pid == 0:
        signal.alarm(HANGS)
        try:
            work()
        except BaseException as e:
            print(repr(e), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return pid
"""


def test_fork():
    run(
        FORK
        + """
for _ in range(5):
    children = []
    for _ in range(4):
        pid = fork_and_work()
        children.append(pid)
    work()
    for pid in children:
        assert os.waitpid(pid, 0)[1] == 0
assert big.sum().item() == 1_000_000
"""
    )


def test_fork_while_other_threads_work():
    run(
        FORK
        + """
stop = False
def busy():
    x = st.ones(300_000)
    while not stop:
        x = (x + 1).clone()
        x.resize_(300_000)
threads = [threading.Thread(target=busy) for _ in range(3)]
for t in threads: t.start()
try:
    for _ in range(15):
        assert os.waitpid(fork_and_work(), 0)[1] == 0
finally:
    stop = True
    for t in threads: t.join()
work()
"""
    )


def test_multiprocessing_by_fork():
    run(
        FORK
        + """
import multiprocessing
context = multiprocessing.get_context("fork")
def job(n):
    work()
    return (big[:n] * n).sum().item()
with context.Pool(3) as pool:
    assert pool.map(job, range(12)) == [float(n * n) for n in range(12)]
work()
"""
    )


@pytest.mark.parametrize(
    "act",
    [
        "x.resize_(0)",
        "x.resize_(100_000)",
        "x.set_(st.zeros(1, dtype=x.dtype))",
        "x.fill_(9)",
        "x.tolist()",
        "repr(x)",
        "x.sum()",
        "y.clear()",
        "x + x",
        "memoryview(x)",
    ],
)
def test_finalizers_that_touch_tensors(act):
    """A garbage collection may run anywhere that objects are made: in tolist, in repr, in iteration."""
    run(
        f"""
x = st.arange(3000)
y = [st.arange(50).view(5, 10)]
depth = 0
class Cycle:
    def __init__(self): self.me = self
    def __del__(self):
        global depth
        if depth: return
        depth += 1
        try:
            {act}
        except EXPECTED:
            pass
        finally:
            depth -= 1
gc.set_threshold(5, 2, 2)
for round in range(30):
    x = st.arange(3000)
    for _ in range(20): Cycle()
    try:
        x.tolist()
    except EXPECTED: pass
    for _ in range(20): Cycle()
    try:
        repr(x)
    except EXPECTED: pass
    for _ in range(20): Cycle()
    try:
        for e in x: Cycle(); break
    except EXPECTED: pass
    try:
        st.tensor([[i, i] for i in range(300)])
        list(x.view(-1)[:500])
        x.unbind(); x.split(7); x.shape; x.stride()
        x + 1
        x.view(30, 100).tolist()
    except EXPECTED: pass
    y.append(st.zeros(3))
"""
    )


def test_tolist_against_resizes():
    run("""
x = st.arange(20_000)
def lists(r):
    found = x.tolist()
    assert all(type(v) is int for v in found[:10])
jobs = [lists, lists, lambda r: x.resize_(r.choice([20_000, 40_000, 100])), lambda r: x.fill_(r.randrange(100)), lambda r: x.set_(st.arange(20_000))]
storm(jobs, 5000)
""")


def test_interpreter_exit_with_threads_at_work():
    for _ in range(3):
        run("""
x = st.ones(500_000)
at_work = [threading.Event() for _ in range(3)]
def forever(event):
    while True:
        (x + 1).sum()
        event.set()
for event in at_work: threading.Thread(target=forever, args=(event,), daemon=True).start()
for event in at_work: event.wait()
""")


def test_fork_waits_for_work_that_gives_back_foreign_memory():
    """The last reference to an array's memory is dropped while an operation writes to it; then the process forks."""
    run("""
import weakref
import numpy as np
at_fork = []
os.register_at_fork(before=lambda: at_fork.append((detached_calls(), alive() is not None)))  # runs before our hook
n = 10_000_000
while (1, True) not in at_fork:  # until a fork begins while the addition runs, and holds the array alone
    big, array = st.ones(1).expand(n), np.zeros(n, np.float32)
    out, alive = st.from_numpy(array), weakref.ref(array)
    del array
    thread = threading.Thread(target=lambda: st.add(big, big, out=out))
    thread.start()
    while not detached_calls() and thread.is_alive(): pass
    out.set_(st.zeros(1))
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    thread.join()
    assert alive() is None
    n = min(2 * n, 80_000_000)
""")


def test_two_threads_fork_at_once():
    """A fork hook that runs after ours lets another thread fork in between; the end of that fork must not end our guard."""
    run(
        first="""
import os, threading
forking, other_fork_ended, stop = (threading.Event() for _ in range(3))
sums, guard_ended = 0, False
def before_fork():
    global guard_ended
    if threading.current_thread() is threading.main_thread() and not forking.is_set():
        forking.set()
        other_fork_ended.wait()
        while sums < 20:  # if the guard had ended, the other thread would release the interpreter while it computes
            guard_ended |= detached_calls() > 0
os.register_at_fork(before=before_fork)  # before ours: the hook that was registered last runs first
""",
        code="""
x = st.ones(10_000_000)
def fork_in_between():
    forking.wait()
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    other_fork_ended.set()
def work():
    global sums
    other_fork_ended.wait()
    while not stop.is_set():
        x.sum()
        sums += 1
threads = [threading.Thread(target=fork_in_between), threading.Thread(target=work)]
for thread in threads:
    thread.start()
pid = os.fork()
if pid == 0:
    signal.alarm(HANGS)
    x.resize_(10_000_001)
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0, "the child hung"
stop.set()
for thread in threads:
    thread.join()
assert not guard_ended
""",
    )


LONG_CALL = """
st.set_num_threads(THREADS)
length = 2_000_000
out = st.zeros(5000, dtype=st.float64)
def call():
    # No memory is read, so a call can be made as long as a test needs it.
    st.sum(st.ones(1, 1).expand(len(out), length), 1, dtype=st.float64, out=out)
def is_complete():
    return bool((out == length).all())
handled = []
def handler(*_):
    if not handled and detached_calls():  # in the middle of the call, which checks for signals after a second
        handled.append(True)
        handle()
def call_until_handled():
    global length
    while not handled:
        out.zero_()
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        call()
        length *= 1 if handled else 2
signal.signal(signal.SIGALRM, handler)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_signal_handler_forks_in_the_middle_of_a_call(threads):
    """The fork must not wait for the call that waits for the handler. Parent and child both finish the call."""
    run(
        LONG_CALL.replace("THREADS", str(threads))
        + """
children = []
def handle():
    children.append(os.fork())
    if not children[0]:
        signal.alarm(HANGS)
call_until_handled()
assert is_complete(), (children, out)
pid = os.fork()  # the count of running calls is right again
if pid == 0:
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
if not children[0]:
    st.ones(1_000_000).resize_(2_000_000)
    os._exit(0)
assert os.waitpid(children[0], 0)[1] == 0, "the child hung"
"""
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no such signals")
def test_a_signal_handler_cannot_move_the_memory_of_the_call_it_interrupts():
    run(
        LONG_CALL.replace("THREADS", "2")
        + """
refused = []
def handle():
    assert not is_complete()
    for change in (out.share_memory_, lambda: out.storage().resize_(2 * len(out))):
        try:
            change()
        except st.StorageError as error:
            refused.append(str(error))
call_until_handled()
assert len(refused) == 2 and all("in the middle of a call" in text for text in refused), refused
assert is_complete()
out.storage().resize_(10)
"""
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_resize_waits_for_a_long_call_while_a_fork_waits_for_both():
    """The call takes the GIL now and then: neither the fork nor the resize may hold it."""
    run(
        LONG_CALL.replace("THREADS", "1")
        + """
waited = False
def make_call():
    call()
    called.set()
def fork():
    while not detached_calls() and not called.is_set(): pass
    pid = os.fork()
    if pid == 0:
        signal.alarm(HANGS)
        out.storage().resize_(11)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0, "the child hung"
    forked.set()
def resize():
    global waited
    while not pending_forks() and not forked.is_set(): pass
    waited = not called.is_set()
    out.storage().resize_(10)
while not waited:  # until the resize begins during the call and the fork
    called, forked, out = threading.Event(), threading.Event(), st.zeros(5000, dtype=st.float64)
    run_all([(make_call,), (fork,), (resize,)])
    assert out.storage().size() == 10
    length *= 2
"""
    )
