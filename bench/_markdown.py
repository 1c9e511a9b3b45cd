"""The page of a benchmark: tables in Markdown, and plots next to them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import _compare as compare
import _plot as plot
from _compare import Result
from _operands import OWN_FLOAT32
from _scaling import Gain, Slope

NAMES = {"strided": "strided", "numpy": "NumPy", "torch": "PyTorch", "jax": "JAX", "numexpr": "numexpr"}


class Found(NamedTuple):
    """Everything that was measured in one run."""

    #: The benchmark's name, that of its file.
    name: str
    facts: Mapping[str, str]
    date: str
    size: int
    threads: int
    rounds: int
    quick: bool
    peers: Sequence[str]
    results: Sequence[Result]
    slopes: Sequence[Slope] = ()
    gains: Sequence[Gain] = ()
    small: Sequence[Gain] = ()


def write(found: Found, folder: Path) -> list[Path]:
    """Writes the page and its plots. Returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    files = plots(found)
    files[f"{found.name}.md"] = "\n".join(page(found, list(files)))
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files]


def plots(found: Found) -> dict[str, str]:
    """Returns the text of each plot by the name of its file."""
    under = f"float32, {found.threads} threads, {found.facts['CPU']}; lower is better"
    made = {}
    for slope in found.slopes:
        series = {NAMES[library]: times for library, times in slope.times.items()}
        if series:
            file = f"{found.name}-{slope.name.replace('x + y', 'add')}.svg"
            made[file] = plot.lines(f"Time of {slope.name}", under, series, list(NAMES.values()))
    ratios = [
        plot.Bar(result.row.name, result.row.group, result.ratio, result.row.aim, result.misses)
        for result in found.results
        if result.ratio is not None
    ]
    if ratios:
        under = f"time of strided / time of the best peer, {found.threads} threads; below 1 is faster"
        made[f"{found.name}-ratios.svg"] = plot.bars("Ratios and aims", under, ratios)
    return made


def page(found: Found, pictures: Sequence[str]) -> Iterator[str]:
    """The lines of the page."""
    yield f"# {found.name.capitalize()}\n"
    if found.quick:
        yield "A quick run, to see that it works: these figures mean nothing.\n"
    yield f"Measured on {found.date} by `bench/{found.name}.py`: {found.size} elements unless a heading says otherwise,"
    yield f"{found.threads} threads, best of {found.rounds} interleaved rounds, in ms. The ratio is the time of strided to that of the best"
    yield "peer in the same run: below 1 is faster. The machine column is the ratio to the time that the machine needs to move the"
    yield "same bytes with as many threads: by `memcpy`, or, for work that only reads or works in place, by a NumPy pass over the"
    yield "raw bytes.\n"
    yield from table(["", ""], found.facts.items(), words=2)
    measured = [result for result in found.results if not result.skipped]
    if judged := [result for result in measured if result.row.aim is not None and result.ratio is not None]:
        late = sum(result.misses for result in judged)
        yield f"{len(judged) - late} of {len(judged)} rows meet their aim.\n"
    yield from _pictures(name for name in pictures if "ratios" in name)
    for group in dict.fromkeys(result.row.group for result in measured):
        yield f"## {group}\n"
        yield from _rows([result for result in measured if result.row.group == group], found.peers)
    yield from _left_out(found.results)
    yield from _growth(found.slopes, pictures)
    yield from _threads(found)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], words: int) -> Iterator[str]:
    """Yields a table whose first `words` columns are text and the others numbers; a column "verdict" is text, too."""
    yield _line(head)
    yield _line(["---" if at < words or name == "verdict" else "---:" for at, name in enumerate(head)])
    for row in rows:
        yield _line(row)
    yield ""


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _ms(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e3:.{2 if seconds >= 1e-3 else 4}f}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def verdict(result: Result) -> str:
    """Whether a row meets its aim, or why not."""
    if result.ratio is None or result.row.aim is None:
        return ""
    return (result.row.why or "misses") if result.misses else "met"


def _rows(results: Sequence[Result], peers: Sequence[str]) -> Iterator[str]:
    shown = [peer for peer in (*peers, OWN_FLOAT32) if any(peer in result.seconds for result in results)]
    head = ["row", "strided", *(NAMES.get(peer, peer) for peer in shown), "machine", "ratio", "aim", "verdict"]
    yield from table(head, (_cells(result, shown) for result in results), words=1)


def _cells(result: Result, peers: Sequence[str]) -> list[str]:
    own = result.seconds["strided"]
    times = [_ms(result.seconds.get(library)) for library in ("strided", *peers)]
    machine = own / result.machine if result.machine else None
    aim = f"{result.row.aim:g}" if result.row.aim is not None else ""
    return [f"`{result.row.name}`", *times, _number(machine), _number(result.ratio), aim, verdict(result)]


def _left_out(results: Sequence[Result]) -> Iterator[str]:
    skipped = [(result.row.name, sentence) for result in results for sentence in result.left_out.values()]
    if skipped:
        yield "## Left out\n"
        for name, sentence in skipped:
            yield f"* `{name}`: {sentence}"
        yield ""


def _growth(slopes: Sequence[Slope], pictures: Sequence[str]) -> Iterator[str]:
    if not slopes:
        return
    yield "## Cost per element\n"
    yield "In ns per element, float32. The slope is that of log time against log size, by least squares over all sizes and"
    yield "between the two largest: 1 is a constant cost per element.\n"
    sizes = sorted({size for slope in slopes for times in slope.times.values() for size in times})
    head = ["", "", *map(plain, sizes), "slope", "last"]
    yield from table(head, _growth_rows(slopes, sizes), words=2)
    yield from _pictures(name for name in pictures if "ratios" not in name)


def plain(size: int) -> str:
    """Returns 10⁵ for a power of ten, otherwise the number itself."""
    digits = str(size)
    return plot.power(len(digits) - 1) if digits.rstrip("0") == "1" else digits


def _growth_rows(slopes: Sequence[Slope], sizes: Sequence[int]) -> Iterator[list[str]]:
    for slope in slopes:
        for library, times in slope.times.items():
            costs = [f"{times[size] / size * 1e9:.3f}" if size in times else "" for size in sizes]
            fits = [_number(slope.steepness(library)), _number(slope.last_step(library))]
            yield [f"`{slope.name}`", NAMES[library], *costs, *fits]


def _threads(found: Found) -> Iterator[str]:
    head = ["row", "", "1 thread", f"{found.threads} threads", "gain", "aim", "verdict"]
    if found.gains:
        yield f"## {found.threads} threads against one\n"
        yield "In ms, for work that is bound by computation: the gain is the time of one thread to that of all.\n"
        yield from table(head, map(_gain, found.gains), words=2)
    if found.small:
        yield "## Small sizes\n"
        yield "In ms: work that is too small to share takes as long with more threads as with one.\n"
        yield from table(head, map(_gain, found.small), words=2)


def _gain(gain: Gain) -> list[str]:
    times = [f"{gain.one * 1e3:.5f}", f"{gain.all * 1e3:.5f}"] if gain.one < 1e-4 else [_ms(gain.one), _ms(gain.all)]
    judged = ["", ""] if gain.aim is None else [f"{gain.aim:g}", "misses" if gain.misses else "met"]
    return [f"`{gain.name}`", NAMES[gain.library], *times, _number(gain.ratio), *judged]


def _pictures(names: Iterator[str]) -> Iterator[str]:
    for name in names:
        yield f"![{name.removesuffix('.svg').replace('-', ': ')}]({name})\n"


def as_json(found: Found) -> dict[str, Any]:
    """Returns the same figures for programs."""
    shared = {"machine": dict(found.facts), "date": found.date, "size": found.size, "threads": found.threads}
    slopes = [{"row": slope.name, "seconds": slope.times} for slope in found.slopes]
    gains = [gain._asdict() for gain in (*found.gains, *found.small)]
    rows = [compare.figures(result) for result in found.results]
    return shared | {"rounds": found.rounds, "rows": rows, "slopes": slopes, "gains": gains}
