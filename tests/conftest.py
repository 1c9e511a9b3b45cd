"""Shared by all tests: hypothesis without deadlines, samples of the tests, what was skipped, and fixtures that restore defaults."""

import gc
import hashlib
import itertools
import os
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import strided as st

# Compiled programs of devices are kept in the folder of builds.
_TARGET = Path(__file__).resolve().parent.parent / "target"
os.environ.setdefault("STRIDED_OPENCL_CACHE", str(_TARGET / "opencl"))
os.environ.setdefault("POCL_CACHE_DIR", str(_TARGET / "pocl"))

settings.register_profile("strided", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("strided")


@pytest.fixture
def default_dtype():
    """A test that uses this may change the default dtype; it is restored afterwards."""
    before = st.get_default_dtype()
    yield
    st.set_default_dtype(before)


def pytest_addoption(parser):
    parser.addoption("--sample", type=int, metavar="N", help="run N of the tests, chosen by the seed of the sample")
    parser.addoption("--sample-seed", default="", metavar="TEXT", help="the seed of the sample")


@pytest.hookimpl(trylast=True)  # after -k and -m, so that the sample is one of what they leave
def pytest_collection_modifyitems(config, items):
    """Leaves out the tests marked `slow`, unless STRIDED_SLOW is set, and those that are not in the sample."""
    chosen = set(items)
    if not os.environ.get("STRIDED_SLOW"):
        chosen = {item for item in items if not item.get_closest_marker("slow")}
    if config.getoption("sample") is not None:
        candidates = [item for item in items if item in chosen]
        chosen = sample(candidates, config.getoption("sample"), config.getoption("sample_seed"))
    left_out = [item for item in items if item not in chosen]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item in chosen]


def sample(items, count, seed):
    """The set of `count` tests: one case of each test function, then a second one of each, and so on. Which ones depends on the
    seed and on the names of the tests alone, so that all processes of a run choose the same ones.
    """

    def rank(name):
        return hashlib.sha256(f"{seed} {name}".encode()).digest()

    cases = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    shuffled = [sorted(cases[name], key=lambda item: rank(item.nodeid)) for name in sorted(cases, key=rank)]
    rounds = itertools.chain.from_iterable(itertools.zip_longest(*shuffled))
    return set(itertools.islice(filter(None, rounds), count))


def pytest_collection_finish():
    """Thousands of collected tests are a large heap: exclude it from the garbage collections of tests."""
    gc.collect()
    gc.freeze()


#: Programs for devices that the processes of a run have compiled, and loaded from disk.
_programs = [0, 0]


def pytest_sessionfinish(session):
    """A worker sends its numbers of programs to the main process."""
    _programs[:] = map(sum, zip(_programs, st._strided._gpu_programs(), strict=True))
    if output := getattr(session.config, "workeroutput", None):
        output["programs"] = _programs


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """The main process adds up what the workers have sent."""
    _programs[:] = map(sum, zip(_programs, getattr(node, "workeroutput", {}).get("programs", (0, 0)), strict=True))


def pytest_terminal_summary(terminalreporter):
    """One line with all that was skipped, so that a run without an optional library does not look like a complete one."""
    on_devices = sum("test_gpu_" in report.nodeid for report in terminalreporter.getreports("passed"))
    if on_devices:
        compiled, loaded = _programs
        terminalreporter.write_line(
            f"on devices: {on_devices} tests; programs: {compiled} compiled, {loaded} loaded from disk"
        )
    skipped = terminalreporter.getreports("skipped")
    if skipped:
        counts = sorted(Counter(map(skip_reason, skipped)).items(), key=lambda item: (-item[1], item[0]))
        terminalreporter.write_line("skipped: " + "; ".join(f"{count} {reason}" for reason, count in counts))


def skip_reason(report):
    """Why a test, or a file of tests, was skipped."""
    _, _, text = report.longrepr
    reason = re.sub(r"could not import '([\w.]+)'.*", r"no \1", text.removeprefix("Skipped: "), flags=re.DOTALL)
    return f"{reason} (a whole file)" if report.when == "collect" else reason
