"""How time scales with the number of elements and of threads."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import _compare as compare
import _timing as timing
from _compare import Row
from _operands import Job, spaces

#: The rows that are measured over sizes, in float32.
SUBJECTS = [
    Row("x + y", "x + y", ("x + y",), ("x + y",), (("jax", "x + y"), ("numexpr", "ne.evaluate('x + y')"))),
    Row("exp", "x.exp()", ("np.exp(x)",), ("x.exp()",), (("jax", "jnp.exp(x)"), ("numexpr", "ne.evaluate('exp(x)')"))),
    Row("sum", "x.sum()", ("x.sum()",), ("x.sum()",), (("jax", "x.sum()"), ("numexpr", "ne.evaluate('sum(x)')"))),
    Row("copy", "x.clone()", ("x.copy()",), ("x.clone()",), (("jax", "jnp.copy(x)"),)),
]

#: Rows (name, spelling, dtype) that are bound by computation, not by memory, and the gain that two threads should reach.
COMPUTED = [("exp", "x.exp()", "float32"), ("exp", "x.exp()", "float64"), ("p ** y", "p ** y", "float64")]
GAIN = 1.7

#: Up to this many elements, a sample repeats its statement.
SHORT = 100_000

#: Beyond this many elements, only a tenth of the rounds is run.
LONG = 10_000_000


class Slope(NamedTuple):
    """The seconds of one row, by library and size."""

    name: str
    times: dict[str, dict[int, float]]

    def steepness(self, library: str) -> float | None:
        """The slope of log time against log size, by least squares: 1 is a constant cost per element."""
        points = [(math.log(size), math.log(seconds)) for size, seconds in self.times[library].items() if seconds > 0]
        if len(points) < 2:
            return None
        middle = [sum(axis) / len(points) for axis in zip(*points, strict=True)]
        across = sum((x - middle[0]) ** 2 for x, _ in points)
        return sum((x - middle[0]) * (y - middle[1]) for x, y in points) / across

    def last_step(self, library: str) -> float | None:
        """The slope between the two largest sizes, where the overhead of a call is negligible."""
        largest = dict(sorted(self.times[library].items())[-2:])
        return Slope(self.name, {library: largest}).steepness(library)


class Gain(NamedTuple):
    """Seconds of one job with one thread and with all."""

    name: str
    library: str
    one: float
    all: float
    aim: float | None = None

    @property
    def ratio(self) -> float:
        return self.one / self.all if self.all else float("nan")

    @property
    def misses(self) -> bool:
        return self.aim is not None and self.ratio < self.aim


class Study(NamedTuple):
    """The libraries, the settings, and the pattern that selects measurements by name."""

    modules: Mapping[str, Any]
    threads: int
    rounds: int
    pause: float
    pattern: re.Pattern[str]

    def slopes(self, smallest: int, largest: int) -> Iterator[Slope]:
        """Measures each row at powers of ten, as far as memory allows."""
        for subject in SUBJECTS:
            if self.pattern.search(f"slope: {subject.name}"):
                times: dict[str, dict[int, float]] = {}
                for size in self._sizes(smallest, largest):
                    for library, seconds in self._at(subject, size).items():
                        times.setdefault(library, {})[size] = seconds
                yield Slope(subject.name, times)

    def _sizes(self, smallest: int, largest: int) -> Iterator[int]:
        size = smallest
        while size <= largest:
            # Two operands and a result of float32 in every library, and the arrays they are made from.
            if 4 * size * (3 * len(self.modules) + 2) > timing.free_memory() // 2:
                print(f"slope: {size} elements and more are left out: not enough memory")
                return
            yield size
            size *= 10

    def _at(self, subject: Row, size: int) -> dict[str, float]:
        row = subject._replace(name=f"slope: {subject.name}, {size}", short=size <= SHORT)
        rounds = self.rounds if size <= LONG else max(self.rounds // 10, 3)
        made = spaces(Job(row, "float32", size), self.modules)
        result = compare.measure_row(row, made, None, rounds, self.pause)
        print(compare.line(result), flush=True)
        return result.seconds

    def gains(self, size: int) -> Iterator[Gain]:
        """Measures the gain of all threads for work that is bound by computation."""
        for name, spelling, dtype in COMPUTED:
            yield from self._with_threads(f"threads: {name}, {dtype}", spelling, dtype, size, aim=GAIN)

    def small(self, size: int) -> Iterator[Gain]:
        """Measures work that is too small for a second thread."""
        yield from self._with_threads(f"small: x + y, {size} elements", "x + y", "float32", size)

    def _with_threads(
        self, name: str, spelling: str, dtype: str, size: int, aim: float | None = None
    ) -> Iterator[Gain]:
        if self.threads < 2 or not self.pattern.search(name):
            return
        made = spaces(Job(Row(name, spelling, torch=(spelling,)), dtype, size), self.modules)
        contenders = []
        for library, space in made.items():
            sample = timing.sampler(*compare.runnable(library, spelling, space))
            contenders += [_with(self.modules[library], count, sample) for count in (1, self.threads)]
        repeats = None if size <= SHORT else 1
        times = timing.best(contenders, self.rounds, repeats=repeats, pause=self.pause)
        for at, library in enumerate(made):
            self.modules[library].set_num_threads(self.threads)
            own = aim if library == "strided" else None
            gain = Gain(name.partition(": ")[2], library, times[2 * at], times[2 * at + 1], own)
            print(f"{name:<34}{gain.one * 1e3:9.4f} {gain.all * 1e3:9.4f} {library:<8}{gain.ratio:5.2f}", flush=True)
            yield gain


def _with(module: Any, threads: int, sample: timing.Sample) -> timing.Sample:
    """Returns a sample that sets the number of threads first."""

    def run(count: int) -> float:
        module.set_num_threads(threads)
        sample(1)  # a library that starts or wakes threads does so here
        return sample(count)

    return run
