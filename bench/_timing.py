"""Timing that survives a noisy machine: short samples of all contenders by turns, and the best of many.

    python bench/_timing.py

names the machine on which benchmarks would run.
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
    turns = repeat(None, count)
    {names}
    start = clock()
    for _ in turns:
        {statement}
    return clock() - start
"""


def sampler(statement: str, names: Mapping[str, Any]) -> Sample:
    """A function that runs a statement so many times and gives the seconds; its names are local variables."""
    # Local, so that looking them up costs the same few picoseconds for everybody.
    local = "; ".join(f"{name} = _{name}" for name in names) or "pass"
    space = {f"_{name}": value for name, value in names.items()}
    space |= {"repeat": itertools.repeat, "clock": time.perf_counter}
    exec(SAMPLE.format(names=local, statement=statement), space)
    sample: Sample = space["sample"]
    return sample


def turns_for(sample: Sample, seconds: float) -> int:
    """How many turns take about that long."""
    count = 1
    # The first turns load and warm whatever is needed; only a repeated time says anything.
    while (taken := min(sample(count) for _ in range(5))) < seconds / 4:
        count *= 2
    return max(5, round(count * seconds / taken))


def best(
    samples: Sequence[Sample],
    rounds: int = 100,
    seconds: float = 0.001,
    turns: int | None = None,
    pause: float = 0.0,
) -> list[float]:
    """The best seconds per turn of each sample, less what the loop itself takes.

    A sample has as many turns as take about `seconds`, or exactly `turns`. Before each there is a pause (see `rest`), and
    one turn that does not count: it wakes the library's threads and fills the caches, as in a program that computes all
    the time.

    Every round runs all of them, in another order each time: a busy spell of the machine hits them alike, and a
    sample of a millisecond has a good chance of slipping through between two.
    """
    samples = [sampler("pass", {}), *samples]
    counts = [turns or turns_for(sample, seconds) for sample in samples]
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
    # Never 0, whatever happened to the empty loop: there are ratios to be made.
    return [max(seconds - empty, 1e-10) for seconds in taken]


def rest(pause: float, longest: float = 0.1) -> None:
    """Sleeps until no thread of this process computes any more, but not for long where one never stops.

    The threads of some libraries spin for milliseconds after their work, on a CPU that the next sample wants.
    """
    end = time.perf_counter() + longest
    while True:
        start, spent = time.perf_counter(), time.process_time()
        time.sleep(pause)
        now = time.perf_counter()
        if time.process_time() - spent < 0.1 * (now - start) or now > end:
            return


def installed(name: str) -> ModuleType | None:
    """A library, if there is one to compare with."""
    try:
        return import_module(name)
    except ImportError:
        return None


def processor() -> str:
    """The model of the CPU, as far as the system tells."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    if sys.platform == "darwin":
        asked = subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True)
        return asked.stdout.strip()
    return platform.processor() or platform.machine()


def caches() -> str:
    """The caches that the first CPU sees, as far as the system tells."""
    found = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        # Some virtual machines have the folders and not all of the files.
        told = [(index / name).read_text().strip() for name in ("level", "type", "size") if (index / name).exists()]
        if len(told) == 3 and told[1] != "Instruction" and told[2].endswith("K"):
            level, amount = told[0], int(told[2].removesuffix("K"))
            found.append(f"L{level} {amount // 1024} MB" if amount >= 1024 else f"L{level} {amount} KB")
    return ", ".join(found) or "not told by the system"


def memory() -> int:
    """Bytes of memory that the machine has; 0 where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError):
        return 0


#: Where a container says what it may take and what it has taken, in the newer and the older way.
CONTAINER = [
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
]


def free_memory() -> int:
    """Bytes that this process may still take without harm, or half of the memory where the system does not tell."""
    meminfo = Path("/proc/meminfo")
    bounds = [memory() // 2]
    if meminfo.exists() and (told := re.search(r"MemAvailable: *(\d+) kB", meminfo.read_text())):
        bounds = [int(told[1]) * 1024]
    for most, used in CONTAINER:
        if most.exists() and used.exists() and (bound := most.read_text().strip()) != "max":
            bounds.append(int(bound) - int(used.read_text()))
    return min(bounds)


def system() -> str:
    """The operating system by name and version; nothing that a host was given as a name."""
    name = platform.system()
    if name == "Linux":
        with contextlib.suppress(OSError, KeyError):
            name = platform.freedesktop_os_release()["PRETTY_NAME"]
    release = re.match(r"\d+(\.\d+)*", platform.release())
    return f"{name}, kernel {release[0]}" if release else name


def facts(*libraries: ModuleType | None) -> dict[str, str]:
    """What a reader of a table has to know of the machine: by word."""
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
    """One line: CPU, system, Python and the versions of the libraries."""
    versions = [f"{library.__name__} {library.__version__}" for library in libraries if library]
    system = [f"{processor()}, {os.cpu_count()} CPUs", platform.system(), f"Python {platform.python_version()}"]
    return "; ".join(system + versions)


if __name__ == "__main__":
    print("\n".join(f"{word}: {fact}" for word, fact in facts().items()))
