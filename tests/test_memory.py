"""The allocator: its cache, its limit, and requests that fail."""

import gc
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import strided as st

LARGE = 3_000_000  # bytes; mapped, and cached after use
MEDIUM = 100_000  # bytes; cached after use


@pytest.fixture(autouse=True)
def default_limit():
    before = st.memory.limit()
    gc.collect()
    st.memory.trim()
    yield
    st.memory.limit(before)


def run(code, **env):
    """The output of a separate Python process."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], env=os.environ | env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.mark.parametrize("size", [MEDIUM, LARGE])
def test_a_block_is_used_again(size):
    x = st.empty(size, dtype=st.uint8)
    address, before = x.data_ptr(), st.memory.stats()
    del x
    kept = st.memory.stats()
    assert kept["cached"] > 0 and kept["in_use"] < before["in_use"] and kept["blocks"] == before["blocks"] - 1
    again = st.empty(size, dtype=st.uint8)
    assert again.data_ptr() == address
    assert st.memory.stats()["hits"] == before["hits"] + 1
    assert st.memory.stats()["in_use"] == before["in_use"]


@pytest.mark.parametrize("size", [10, 5000, MEDIUM, LARGE])
def test_zeros_are_zero_in_a_block_that_was_used(size):
    for _ in range(3):
        st.ones(size, dtype=st.uint8)
        assert not st.zeros(size, dtype=st.uint8).numpy().any()


def test_peak_and_counts():
    before = st.memory.stats()
    tensors = [st.empty(LARGE, dtype=st.uint8) for _ in range(5)]
    during = st.memory.stats()
    assert during["blocks"] == before["blocks"] + 5
    assert during["in_use"] >= before["in_use"] + 5 * LARGE and during["peak"] >= during["in_use"]
    del tensors
    assert st.memory.stats()["in_use"] == before["in_use"]


def test_trim_frees_all_cached_blocks_and_counts_them():
    del_me = [st.empty(LARGE, dtype=st.uint8) for _ in range(3)]
    del del_me
    assert st.memory.trim() == 3
    assert st.memory.stats()["cached"] == st.memory.stats()["cached_blocks"] == 0


def test_the_limit_holds():
    assert st.memory.limit(2 * LARGE + 1_000_000) == 2 * LARGE + 1_000_000
    tensors = [st.empty(LARGE, dtype=st.uint8) for _ in range(5)]
    addresses = [x.data_ptr() for x in tensors]
    while tensors:
        del tensors[0]
    stats = st.memory.stats()
    assert stats["cached"] <= stats["limit"] and stats["cached_blocks"] == 2
    # The oldest went first; the newest is the first to be used again.
    assert st.empty(LARGE, dtype=st.uint8).data_ptr() == addresses[-1]
    st.memory.limit(0)
    assert st.memory.stats()["cached"] == 0
    st.empty(LARGE, dtype=st.uint8)
    assert st.memory.stats()["cached"] == 0


@pytest.mark.parametrize(
    "bad, error", [(-1, ValueError), ("much", TypeError), (1.5, TypeError), (2**70, OverflowError)]
)
def test_a_bad_limit_changes_nothing(bad, error):
    before = st.memory.limit()
    with pytest.raises(error) as raised:
        st.memory.limit(bad)
    assert "_memory_limit" not in str(raised.value)  # the name of the native function is internal
    assert st.memory.limit() == before


@linux
def test_thousands_of_large_tensors_stay_within_the_limit():
    limit = st.memory.limit(50_000_000)
    before = resident()
    sizes = np.random.default_rng(0).integers(70_000, 8_000_000, 2000)
    for i, size in enumerate(sizes.tolist()):
        x = st.empty(size, dtype=st.uint8)
        x[:: 4096 if i % 10 else 1] = 1  # touches every page
    del x
    assert st.memory.stats()["cached"] <= limit
    # One block is in use at a time; the allowance is for huge pages and for the system allocator.
    assert resident() - before < limit + 30_000_000


@linux
def test_fresh_zeros_take_no_memory_before_they_are_touched():
    before = resident()
    x = st.zeros(400_000_000, dtype=st.uint8)
    assert resident() - before < 50_000_000
    x[-1] = 1
    assert x[::1_000_000].sum().item() == 0 and x[-1].item() == 1


def test_after_a_request_that_cannot_be_met_everything_works():
    x = st.arange(5)
    for shape in [(2**45,), (2**20, 2**20, 2**5)]:
        with pytest.raises(MemoryError, match="bytes"):
            st.empty(shape, dtype=st.uint8)
    with pytest.raises(MemoryError):
        st.zeros(2**50)
    with pytest.raises(MemoryError):
        x.expand(2**47, 5).clone()
    with pytest.raises(MemoryError):
        x.resize_(2**50)
    assert x.tolist() == [0, 1, 2, 3, 4] and (x + x).tolist() == [0, 2, 4, 6, 8]


@linux
def test_when_the_system_refuses_memory_the_cache_is_freed_first():
    print_out = run(
        """
        import resource
        import strided as st
        st.memory.limit(10**9)
        kept = [st.ones(100_000_000, dtype=st.uint8) for _ in range(4)]
        del kept
        assert st.memory.stats()["cached"] >= 400_000_000
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 150_000_000,) * 2)
        x = st.ones(300_000_000, dtype=st.uint8)   # fits only without the cache
        assert st.memory.stats()["cached"] == 0
        try:
            st.ones(900_000_000, dtype=st.uint8)
        except MemoryError as error:
            print(error)
        print(int(x[12345]), st.arange(3).tolist())
        """
    )
    assert print_out.splitlines() == ["ones: cannot allocate 900000000 bytes", "1 [0, 1, 2]"]


def test_debug_fills_new_and_freed_memory():
    out = run(
        """
        import ctypes
        import strided as st
        for size in (10, 5000, 100_000, 3_000_000):
            x = st.empty(size, dtype=st.uint8)
            assert x.eq(255).sum().item() == size
            assert st.zeros(size, dtype=st.uint8).sum().item() == 0
            del x
        assert (st.empty(4) != st.empty(4)).sum().item() == 4   # NaN
        x = st.ones(100_000, dtype=st.uint8)
        address = x.data_ptr()
        del x                                                   # cached, so that the address is still valid
        print(set(ctypes.string_at(address, 100_000)))
        """,
        STRIDED_DEBUG="1",
    )
    assert out == "{221}\n"


def test_large_blocks_are_aligned_for_huge_pages():
    x = st.empty(LARGE, dtype=st.uint8)
    assert x.data_ptr() % 64 == 0 and (sys.platform != "linux" or x.data_ptr() % (2 << 20) == 0)


def test_threads_allocate_and_free_blocks():
    from concurrent.futures import ThreadPoolExecutor

    def work(seed):
        for i in range(200):
            x = st.full((40_000 + 1000 * (i % 7),), seed + i)
            assert x.sum().item() == (seed + i) * x.size
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
