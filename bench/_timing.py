"""Timing on a noisy machine: short, interleaved samples of all contenders, of which the best counts.

python bench/_timing.py     prints the facts about this machine that benchmarks report
"""

import contextlib
import gc
import itertools
import os
import platform
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

Sample = Callable[[int], float]

SAMPLE = """
def sample(count):
    loop = repeat(None, count)
    {names}
    start = clock()
    for _ in loop:
        {statement}
    return clock() - start
"""


def sampler(statement: str, names: Mapping[str, Any]) -> Sample:
    """Returns a function that runs a statement `count` times and returns the seconds."""
    # The names are local variables, so that looking them up costs the same for every library.
    local = "; ".join(f"{name} = _{name}" for name in names) or "pass"
    space = {f"_{name}": value for name, value in names.items()}
    space |= {"repeat": itertools.repeat, "clock": time.perf_counter}
    exec(SAMPLE.format(names=local, statement=statement), space)
    sample: Sample = space["sample"]
    return sample


def repeats_for(sample: Sample, seconds: float) -> int:
    """Returns the number of repeats that take about `seconds`."""
    count = 1
    # The first repeats load and warm up; the best of several is stable.
    while (taken := min(sample(count) for _ in range(5))) < seconds / 4:
        count *= 2
    return max(5, round(count * seconds / taken))


def best(
    samples: Sequence[Sample],
    rounds: int = 100,
    seconds: float = 0.001,
    repeats: int | None = None,
    pause: float = 0.0,
) -> list[float]:
    """Returns the best seconds per repeat of each sample, minus the time of an empty loop.

    A sample repeats its statement for about `seconds`, or exactly `repeats` times. Before each sample there is a pause (see
    `rest`) and one run that does not count: it wakes the library's threads and fills the caches, as in a program that
    computes all the time.

    Every round runs all samples in a random order, so that disturbances affect all of them alike, and a sample of a
    millisecond is likely to be undisturbed in some round.
    """
    samples = [sampler("pass", {}), *samples]
    counts = [repeats or repeats_for(sample, seconds) for sample in samples]
    found = [float("inf")] * len(samples)
    order = list(range(len(samples)))
    shuffle = random.Random(0).shuffle
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            shuffle(order)
            for at in order:
                if pause:
                    rest(pause)
                    samples[at](1)
                found[at] = min(found[at], samples[at](counts[at]) / counts[at])
    finally:
        if collecting:
            gc.enable()
    empty, *taken = found
    # Positive even if the empty loop was disturbed, because ratios are computed.
    return [max(seconds - empty, 1e-10) for seconds in taken]


def rest(pause: float, longest: float = 0.1) -> None:
    """Sleeps until no thread of this process is computing, but at most for `longest` seconds.

    The threads of some libraries spin for milliseconds after their work, on a CPU that the next sample needs.
    """
    end = time.perf_counter() + longest
    while True:
        start, spent = time.perf_counter(), time.process_time()
        time.sleep(pause)
        now = time.perf_counter()
        if time.process_time() - spent < 0.1 * (now - start) or now > end:
            return


def installed(name: str) -> ModuleType | None:
    """Returns a library if it is installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


def processor() -> str:
    """Returns the model of the CPU if the system reports it."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    if sys.platform == "darwin":
        sysctl = subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True)
        return sysctl.stdout.strip()
    return platform.processor() or platform.machine()


def caches() -> str:
    """Returns the caches of the first CPU if the system reports them."""
    found = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        # Some virtual machines have the folders but not all of the files.
        fields = [(index / name).read_text().strip() for name in ("level", "type", "size") if (index / name).exists()]
        if len(fields) == 3 and fields[1] != "Instruction" and fields[2].endswith("K"):
            level, amount = fields[0], int(fields[2].removesuffix("K"))
            found.append(f"L{level} {amount // 1024} MB" if amount >= 1024 else f"L{level} {amount} KB")
    return ", ".join(found) or "unknown"


def memory() -> int:
    """Returns the bytes of memory of the machine; 0 if the system does not report them."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError):
        return 0


#: The memory limit and usage of a control group, in version 2 and version 1.
CONTAINER = [
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
]


def free_memory() -> int:
    """Returns the bytes that are available to this process, or half of the memory if the system does not report them."""
    meminfo = Path("/proc/meminfo")
    bounds = [memory() // 2]
    if meminfo.exists() and (available := re.search(r"MemAvailable: *(\d+) kB", meminfo.read_text())):
        bounds = [int(available[1]) * 1024]
    for limit, usage in CONTAINER:
        if limit.exists() and usage.exists() and (bound := limit.read_text().strip()) != "max":
            bounds.append(int(bound) - int(usage.read_text()))
    return min(bounds)


def system() -> str:
    """Returns the operating system's name and version, without the name of the host."""
    name = platform.system()
    if name == "Linux":
        with contextlib.suppress(OSError, KeyError):
            name = platform.freedesktop_os_release()["PRETTY_NAME"]
    release = re.match(r"\d+(\.\d+)*", platform.release())
    return f"{name}, kernel {release[0]}" if release else name


def facts(*libraries: ModuleType | None) -> dict[str, str]:
    """Returns the facts about the machine that a reader of a table needs, by name."""
    versions = {library.__name__: library.__version__ for library in libraries if library}
    return {
        "CPU": f"{processor()}, {os.cpu_count()} CPUs",
        "caches": caches(),
        "memory": f"{memory() / 2**30:.0f} GiB",
        "system": system(),
        "Python": platform.python_version(),
        **versions,
    }


def machine(*libraries: ModuleType | None) -> str:
    """Returns one line with CPU, system, Python and the versions of the libraries."""
    versions = [f"{library.__name__} {library.__version__}" for library in libraries if library]
    system = [f"{processor()}, {os.cpu_count()} CPUs", platform.system(), f"Python {platform.python_version()}"]
    return "; ".join(system + versions)


if __name__ == "__main__":
    print("\n".join(f"{word}: {fact}" for word, fact in facts().items()))
