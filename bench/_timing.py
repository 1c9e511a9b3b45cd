"""Timing that survives a noisy machine: short samples of all contenders by turns, and the best of many.

    python bench/timing.py

names the machine on which benchmarks would run.
"""

import gc
import itertools
import os
import platform
import random
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

    A sample has as many turns as take about `seconds`, or exactly `turns`. Before each there is a pause: the threads of
    some libraries spin for milliseconds after their work, on a CPU that the next one wants.

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
                    time.sleep(pause)
                found[at] = min(found[at], samples[at](counts[at]) / counts[at])
    finally:
        if collecting:
            gc.enable()
    empty, *taken = found
    return [max(seconds - empty, 0.0) for seconds in taken]


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


def machine(*libraries: ModuleType | None) -> str:
    """One line: CPU, system, Python and the versions of the libraries."""
    versions = [f"{library.__name__} {library.__version__}" for library in libraries if library]
    system = [f"{processor()}, {os.cpu_count()} CPUs", platform.system(), f"Python {platform.python_version()}"]
    return "; ".join(system + versions)


if __name__ == "__main__":
    print(machine())
