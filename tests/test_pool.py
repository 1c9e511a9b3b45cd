"""The thread pool: the number of threads, the same results for any number, and forks."""

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

import strided as st

needs_affinity = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
SHAPES = [(40_000,), (700, 900), (900, 700), (50, 60, 70), (3, 200_001), (200_001, 3), (11, 7, 5, 9, 13, 6)]


@pytest.fixture(autouse=True)
def default_threads():
    before = st.get_num_threads()
    yield
    st.set_num_threads(before)


def python(code, **env):
    return [sys.executable, "-c", textwrap.dedent(code)], os.environ | env


def printed(code, **env):
    command, env = python(code, **env)
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_number_of_threads():
    st.set_num_threads(3)
    assert st.get_num_threads() == 3
    for bad in (0, -1, 257, 2**40):
        with pytest.raises(ValueError, match="1 to 256"):
            st.set_num_threads(bad)
    with pytest.raises(TypeError):
        st.set_num_threads("two")
    assert st.get_num_threads() == 3


@pytest.mark.parametrize(
    "env, wanted",
    [
        ({"STRIDED_NUM_THREADS": "5", "OMP_NUM_THREADS": "4"}, "5"),
        ({"STRIDED_NUM_THREADS": "", "OMP_NUM_THREADS": "4"}, "4"),
        ({"STRIDED_NUM_THREADS": "many", "OMP_NUM_THREADS": ""}, None),
    ],
)
def test_the_environment_sets_the_number_of_threads(env, wanted):
    out = printed("import strided as st; print(st.get_num_threads())", **env)
    assert out == (wanted or str(len(os.sched_getaffinity(0)))) or (wanted is None and int(out) >= 1)


@needs_affinity
@pytest.mark.parametrize("threads", [2, 12])
@pytest.mark.parametrize("cpus", [1, None])
def test_waking_a_worker_does_not_change_its_affinity(threads, cpus):
    """A sleeping worker is steered away from the caller's CPU when it is woken; its affinity must be restored."""
    code = f"""
    import os
    from pathlib import Path
    def state(task):
        return Path(f"/proc/self/task/{{task}}/stat").read_text().rpartition(") ")[2][0]
    allowed = set(sorted(os.sched_getaffinity(0))[:{cpus}])
    os.sched_setaffinity(0, allowed)
    import strided as st
    st.set_num_threads({threads})
    x = st.ones(2_000_000)
    for _ in range(20):
        assert x.sum().item() == 2_000_000
        while any(state(task) != "S" for task in os.listdir("/proc/self/task") if int(task) != os.getpid()):
            os.sched_yield()
    own = [int(task) for task in os.listdir("/proc/self/task")]
    assert len(own) == {threads}, own
    assert all(os.sched_getaffinity(task) == allowed for task in own)
    """
    printed(code)


@needs_affinity
def test_affinity_is_respected():
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); import strided as st; print(st.get_num_threads())"
    assert printed(code, STRIDED_NUM_THREADS="", OMP_NUM_THREADS="") == "1"


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "complex64", "bool", "float16"])
def test_results_do_not_depend_on_the_number_of_threads(shape, dtype):
    a = (np.random.default_rng(1).standard_normal(shape) * 100).astype(dtype)
    b = (np.random.default_rng(2).standard_normal(shape) * 100).astype(dtype)
    order = tuple(np.random.default_rng(3).permutation(len(shape)).tolist())
    for threads in (1, 2, 5):
        st.set_num_threads(threads)
        x, y = st.tensor(a), st.tensor(b)
        assert np.array_equal(x.permute(order).contiguous().numpy(), a.transpose(order))
        assert np.array_equal(x.flip(0).clone().numpy(), a[::-1])
        assert np.array_equal(x.flip(-1).clone().numpy(), a[..., ::-1])
        assert np.array_equal(x.permute(order).flip(0).clone().numpy(), a.transpose(order)[::-1])
        assert np.array_equal(
            (x < y).numpy() if dtype[0] != "c" else (x == y).numpy(), a < b if dtype[0] != "c" else a == b
        )
        assert np.array_equal(x.fill_(3).numpy(), np.full(shape, 3, dtype))
        into = st.zeros(tuple(2 * n for n in shape), dtype=getattr(st, dtype))[
            tuple(slice(None, None, 2) for _ in shape)
        ]
        into.permute(order).copy_(y.permute(order))
        assert np.array_equal(into.numpy(), b)
        if dtype not in ("bool", "float16"):
            with np.errstate(over="ignore"):
                assert np.array_equal((y.permute(order) + y.permute(order).clone()).numpy(), (b + b).transpose(order))
                # Operands of mixed order: one is transposed in tiles.
                assert np.array_equal(
                    (y.permute(order).contiguous() + y.permute(order)).numpy(), (b + b).transpose(order)
                )


def test_callers_in_many_threads():
    a = np.arange(300_000.0)
    x, wrong = st.tensor(a), []
    st.set_num_threads(3)

    def work():
        for _ in range(30):
            if (x + x).sum().item() != 2 * a.sum() or not np.array_equal(x.clone().numpy(), a):
                wrong.append(1)

    crew = [threading.Thread(target=work) for _ in range(6)]
    for member in crew:
        member.start()
    for member in crew:
        member.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_a_pool_of_its_own():
    st.set_num_threads(2)
    x = st.ones(2_000_000)
    x.clone()  # the parent's pool is running
    child = os.fork()
    if child == 0:
        good = (x + x).sum().item() == 4_000_000
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert (x + x).sum().item() == 4_000_000


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not list threads")
def test_many_callers_share_the_threads_of_the_pool():
    """The number of workers does not grow with the number of Python threads that compute at once."""
    code = """
import threading
from pathlib import Path
import strided as st
st.set_num_threads(3)
x = st.ones(400_000)
def work():
    for _ in range(30):
        x.exp(), x.sum(), x.view(1000, 400).sum(0), x.cumsum(0)
callers = [threading.Thread(target=work) for _ in range(8)]
[caller.start() for caller in callers]
[caller.join() for caller in callers]
names = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]
print(names.count("strided"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert int(done.stdout) <= 2
