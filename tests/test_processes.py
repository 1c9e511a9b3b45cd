"""Shared memory, and tensors in other processes: forked, spawned, and from a fork server."""

import copy
import gc
import multiprocessing as mp
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import shared_memory
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest

import strided as st
from strided import _pickle

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts in /proc and /dev/shm"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),  # forks with threads are what is tested
]

METHODS = ["fork", "spawn", "forkserver"]
every_method = pytest.mark.parametrize("method", METHODS)
LARGE = 2 * _pickle.MAX_WHOLE_BYTES


@pytest.fixture(scope="module", params=METHODS)
def pool(request):
    """A process that was started before anything was shared: it has only what is sent to it."""
    with mp.get_context(request.param).Pool(1) as made:
        yield made


@pytest.fixture(autouse=True)
def no_shared_memory_is_left():
    """Files that a test creates in /dev/shm are removed. Other processes may remove theirs a little later, so it waits."""
    before = set(os.listdir("/dev/shm"))
    yield
    for _ in range(3000):
        left = set(os.listdir("/dev/shm")) - before
        if not left:
            return
        time.sleep(0.01)
    pytest.fail(f"left in /dev/shm: {sorted(left)}")


def descriptors():
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


# In one process


def test_sharing_keeps_identity_values_and_views():
    x = st.arange(6).view(2, 3)
    storage, row, bits = x.storage(), x[1], x.view(st.int32)
    before = x.data_ptr()
    assert not x.is_shared() and x.share_memory_() is x and storage.share_memory_() is storage
    assert x.storage() is storage is row.storage() and x.data_ptr() != before and x.data_ptr() % 64 == 0
    assert x.is_shared() and row.is_shared() and bits.is_shared() and storage.is_shared()
    row.fill_(7)
    assert x.tolist() == [[0, 1, 2], [7, 7, 7]] and bits[1, 0].item() == 7
    assert not storage.is_mapped and storage.filename is None and not storage.owns_memory and not storage.readonly
    with pytest.raises(st.StorageError, match="keeps its size"):
        storage.resize_(99)
    with pytest.raises(st.StorageError, match="not in a file"):
        storage.flush()


@pytest.mark.parametrize("size", [0, 1, 16, 1000, 16384, 16385, 300_000])
def test_sharing_at_every_size(size):
    x = st.arange(size)
    y = x.clone().share_memory_()
    assert y.is_shared() and (y == x).sum().item() == size and y.storage().size() == size
    assert copy.deepcopy(y).storage().owns_memory and y.clone().storage().owns_memory


def test_foreign_or_exported_memory_is_not_moved():
    array = np.zeros(3)
    for x in (st.from_numpy(array), st.frombuffer(b"abcd", dtype=st.uint8)):
        with pytest.raises(st.StorageError, match=r"share_memory_: .*clone it first"):
            x.share_memory_()
        assert x.clone().share_memory_().is_shared()
    x = st.zeros(3)
    view = memoryview(x)
    with pytest.raises(st.StorageError, match=r"share_memory_: .*1 view"):
        x.share_memory_()
    view.release()
    with memoryview(x.share_memory_()) as view:
        assert x.share_memory_() is x
        view[0] = 4
    assert x[0].item() == 4


def test_small_tensors_share_a_descriptor():
    before = descriptors()
    many = [st.full((n % 50,), n).share_memory_() for n in range(3000)]
    assert descriptors() - before <= 4
    assert all((x == n).sum().item() == n % 50 for n, x in enumerate(many))
    del many
    assert descriptors() == before
    for _ in range(10_000):
        st.zeros(3).share_memory_()
    assert descriptors() == before


def test_threads_share_while_others_compute():
    for _ in range(20):
        x, sums = st.ones(100_000), []
        jobs = [threading.Thread(target=lambda x, sums: sums.append(x.sum().item()), args=(x, sums)) for _ in range(3)]
        jobs += [threading.Thread(target=x.share_memory_) for _ in range(3)]
        for job in jobs:
            job.start()
        for job in jobs:
            job.join()
        assert sums == [100_000] * 3 and x.is_shared()


@pytest.mark.parametrize("protocol", range(6))
def test_plain_pickles_hold_the_bytes(protocol):
    x = st.arange(LARGE).share_memory_()
    y, s, few = pickle.loads(pickle.dumps((x, x.storage(), x[3:5]), protocol))
    assert y.storage() is s and not y.is_shared() and y.storage().owns_memory
    assert (y == x).sum().item() == LARGE and few.tolist() == [3, 4] and few.storage().size() == 2


# Forked


def forked(work):
    """Runs `work` in a forked child; returns its exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_fork_shares_what_was_shared_before():
    shared, own = st.zeros(3).share_memory_(), st.zeros(3)

    def work():
        shared[0] = 1
        own[0] = 1

    assert forked(work) == 0 and shared.tolist() == [1, 0, 0] and own.tolist() == [0, 0, 0]


def test_memory_shared_after_a_fork_is_separate_in_parent_and_child():
    first = st.zeros(3).share_memory_()
    ready, go = os.pipe(), os.pipe()

    def work():
        mine = [st.full((50,), 1).share_memory_() for _ in range(200)]
        os.write(ready[1], b".")
        os.read(go[0], 1)
        first[1] = sum((x == 1).sum().item() for x in mine)

    thread = threading.Thread(target=lambda: codes.append(forked(work)))
    codes = []
    thread.start()
    os.read(ready[0], 1)
    ours = [st.full((50,), 2).share_memory_() for _ in range(200)]
    os.write(go[1], b".")
    thread.join()
    for end in (*ready, *go):
        os.close(end)
    assert codes == [0] and first[1].item() == 200 * 50 and all((x == 2).sum().item() == 50 for x in ours)


def test_forks_while_threads_share():
    stop = threading.Event()

    def work():
        while not stop.is_set():
            x = st.ones(40_000)
            x.share_memory_()
            x.sum()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            assert forked(lambda: st.ones(10).share_memory_().add_(1)) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


# Sent


def add_one(x):
    x += 1
    return x.is_shared()


def look(*things):
    x, row, bits, storage = things
    x[0, 0] = 5
    same = x.storage() is row.storage() is storage and bits.view(st.float32).storage() is storage
    return same, row.tolist(), bits[0, 0].item(), storage.size()


def identity(x):
    return x


def make_shared(n):
    return st.arange(n).share_memory_()


def count_descriptors():
    return descriptors()


class Named(st.Tensor):
    pass


def test_a_shared_tensor_is_the_same_memory(pool):
    for size in (0, 3, LARGE):
        x = st.zeros(size).share_memory_()
        assert pool.apply(add_one, (x,)) is True
        assert (x == 1).sum().item() == size


def test_a_plain_tensor_is_a_copy(pool):
    x = st.zeros(3)
    assert pool.apply(add_one, (x,)) is False and x.tolist() == [0, 0, 0]
    assert pool.apply(identity, (x[1:],)).tolist() == [0, 0]


@pytest.mark.parametrize("rows", [2, LARGE])
def test_what_shares_memory_arrives_sharing_it(pool, rows):
    x = st.zeros(rows, 2).share_memory_()
    assert pool.apply(look, (x, x[0], x.view(st.int32), x.storage())) == (True, [5, 0], 0x40A00000, 2 * rows)
    assert x[0].tolist() == [5, 0]


def test_a_tensor_that_returns_is_the_same_memory(pool):
    x = st.arange(10).share_memory_()
    y = pool.apply(identity, (x[2:],))
    assert y.data_ptr() == x[2:].data_ptr() and y.tolist() == list(range(2, 10))
    z = pool.apply(make_shared, (5,))
    assert z.is_shared() and z.tolist() == [0, 1, 2, 3, 4]
    assert pool.apply(add_one, (z,)) and z.tolist() == [1, 2, 3, 4, 5]


def test_small_parts_of_large_memory(pool):
    x = st.zeros(LARGE).share_memory_()
    a, b, c = pool.apply(identity, ((x[3:5], x[4:9:2], x.storage()),))
    assert a.storage() is b.storage() is c and c.size() == LARGE and c.data_ptr() == x.data_ptr()
    a[1] = 8
    assert b[0].item() == 8 == x[4].item()
    assert pool.apply(add_one, (x.view(st.int32)[7:8],)) and x.view(st.int32)[7].item() == 1
    named = Named(x[10:12])
    back = pool.apply(identity, (named,))
    assert type(back) is Named and back.data_ptr() == x[10:].data_ptr()


def test_a_mapped_file_is_sent_by_name(pool, tmp_path):
    name = tmp_path / "numbers"
    x = st.from_file(name, True, 10, dtype=st.int64).view(2, 5)
    assert pool.apply(add_one, (x[1],)) is True and np.fromfile(name, "i8").tolist() == [0] * 5 + [1] * 5
    private = st.from_file(name, dtype=st.int64)
    assert pool.apply(add_one, (private,)) is False
    reader = st.from_file(name, True, dtype=st.int64, readonly=True)
    with pytest.raises(st.StorageError, match="read-only"):
        pool.apply(add_one, (reader,))
    os.rename(name, tmp_path / "old")
    with pytest.raises(FileNotFoundError):
        ForkingPickler.loads(ForkingPickler.dumps(x))
    name.write_bytes(bytes(80))
    with pytest.raises(st.StorageError, match="another file"):
        ForkingPickler.loads(ForkingPickler.dumps(x))


def test_many_messages_leave_no_descriptors(pool):
    tensors = [st.full((3,), n).share_memory_() for n in range(1000)]
    assert pool.apply(len, (tensors,)) == 1000
    here, there = descriptors(), pool.apply(count_descriptors)
    for n in range(200):
        x = st.zeros(3 if n % 2 else 20_000).share_memory_()
        assert pool.apply(add_one, (x,))
    del x
    assert pool.apply(len, (tensors,)) == 1000
    assert abs(descriptors() - here) <= 2 and abs(pool.apply(count_descriptors) - there) <= 2
    assert pool.map(add_one, tensors) == [True] * 1000 and tensors[7].tolist() == [8, 8, 8]
    assert abs(descriptors() - here) <= 2


def test_pending_messages_need_no_descriptors():
    small, large = st.ones(3).share_memory_(), st.ones(50_000).share_memory_()
    ForkingPickler.loads(ForkingPickler.dumps(small))  # starts the server thread
    before = descriptors()
    messages = [bytes(ForkingPickler.dumps([small, large[n:]])) for n in range(1000)]
    address = large.data_ptr()
    del small, large
    assert descriptors() <= before + 1 and max(map(len, messages)) < 1500
    for n, message in enumerate(messages):
        x, y = ForkingPickler.loads(message)
        assert y.data_ptr() == address + 4 * n and x.sum().item() == 3
    del x, y
    assert descriptors() <= before - 1  # all messages have arrived, so the memory is freed
    with pytest.raises(st.StorageError, match="let go"):
        ForkingPickler.loads(messages[0])


def test_other_values_can_be_sent(pool):
    x = st.zeros(2, 3)
    for value in (x.shape, x.layout, x.dtype, x.device, x.t().layout, st.Size([])):
        assert pool.apply(identity, (value,)) == value
    s = pool.apply(identity, (st.LongStorage([1, 2]),))
    assert s.tolist() == [1, 2] and s.dtype is st.int64 and not s.is_shared()
    for name in ("bool", "uint16", "bfloat16", "complex128"):
        y = st.tensor([0, 1], dtype=name)
        assert pool.apply(identity, (y,)).tolist() == y.tolist()
        assert pool.apply(identity, (y.share_memory_(),)).data_ptr() == y.data_ptr()


def write_and_answer(x, queue):
    x[0] = os.getpid()
    queue.put(x[1:])


@every_method
def test_arguments_of_a_process_and_queues(method):
    context = mp.get_context(method)
    x, queue = st.zeros(4, dtype=st.int64).share_memory_(), context.Queue()
    child = context.Process(target=write_and_answer, args=(x, queue))
    child.start()
    child.join()  # the memory is mapped here already, so the sender need not exist any more
    rest = queue.get()
    assert x[0].item() == child.pid and child.exitcode == 0
    rest[0] = 6
    assert x[1].item() == 6


def make_and_leave(queue):
    queue.put(st.zeros(4).share_memory_())


def test_memory_whose_sender_is_gone():
    context = mp.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=make_and_leave, args=(queue,))
    child.start()
    child.join()
    with pytest.raises(st.StorageError, match="process that sent"):
        queue.get()


def test_a_pipe_and_an_executor():
    ours, theirs = mp.Pipe()
    x = st.zeros(2).share_memory_()
    ours.send([x, x])
    a, b = theirs.recv()
    assert a is b and a.data_ptr() == x.data_ptr()
    with ProcessPoolExecutor(1, mp_context=mp.get_context("spawn")) as executor:
        assert executor.submit(add_one, x).result() and x.tolist() == [1, 1]


def wait_forever(x, queue):
    mine = st.ones(1000).share_memory_()
    queue.put(int(x.sum().item() + mine.sum().item()))
    signal.pause()


@every_method
def test_a_killed_child_leaves_no_memory(method):
    context = mp.get_context(method)
    x, queue = st.ones(100_000).share_memory_(), context.Queue()
    child = context.Process(target=wait_forever, args=(x, queue))
    child.start()
    assert queue.get() == 101_000
    child.kill()
    child.join()
    assert x.add_(1).sum().item() == 200_000


@pytest.mark.parametrize("end", ["", "raise SystemError('on purpose')", "os._exit(3)", "os.kill(os.getpid(), 9)"])
def test_a_process_leaves_no_memory_and_no_warnings_at_its_end(end):
    code = f"""
import multiprocessing as mp, os, strided as st
def work(x): x += 1
if __name__ == "__main__":
    x, y = st.zeros(10).share_memory_(), st.zeros(10**6).share_memory_()
    with mp.get_context("fork").Pool(2) as pool: pool.map(work, [x, y])
    assert x.tolist() == [1] * 10
    {end}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "resource_tracker" not in done.stderr and ("Error" in done.stderr) == ("raise" in end), done.stderr


def test_importing_does_not_import_multiprocessing():
    code = "import strided, sys; strided.zeros(3).storage(); print('multiprocessing' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_a_forged_handle_is_refused():
    x = st.zeros(3).share_memory_()
    for start, length in ((-1, 2), (0, -1), (1 << 20, 1), (0, (1 << 20) + 1), (2**62, 2**62)):
        with pytest.raises(ValueError):
            st._strided._part_of_memory(x.storage(), start, length)
    read, write = os.pipe()
    for descriptor in (-1, 10**6, 2**40, read):
        with pytest.raises((ValueError, OSError)):
            st._strided._attach_memory(descriptor)
    os.close(read)
    os.close(write)
    for storage in (st.zeros(3).storage(), None):
        with pytest.raises(ValueError, match="not in shared memory"):
            st._strided._shared_handle(storage)


# Python's own shared memory


def test_shared_memory_of_python():
    """Python owns the buffer and refuses to close it while a tensor uses it."""
    block = shared_memory.SharedMemory(create=True, size=64)
    try:
        x = st.frombuffer(block.buf, dtype=st.float32, count=16)
        x.fill_(3)
        second = shared_memory.SharedMemory(block.name)
        assert np.frombuffer(second.buf, "f4", 16).tolist() == [3] * 16
        second.close()
        with pytest.raises(BufferError):
            block.close()
        del x
        block.close()
    finally:
        block.unlink()
