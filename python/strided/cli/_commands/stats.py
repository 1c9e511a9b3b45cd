"""`strided stats`: minimum, maximum, mean, standard deviation and a histogram of each tensor."""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING, Any

from strided.cli import _output as output
from strided.cli._colours import magnitudes
from strided.cli._failure import Failure
from strided.cli._target import add_select_option, as_tensor, blocks, open_file, select_entries, shape_text, split

if TYPE_CHECKING:
    from collections.abc import Callable

    from strided import Tensor

EXAMPLES = """
  strided stats model.safetensors
  strided stats weights.npz --select 'conv*' --bins 20
  strided stats weights.npz:conv1.weight --json
"""
BARS, ASCII_BARS = " ▁▂▃▄▅▆▇█", " .:-=+*#%@"
COLUMNS = ["name", "dtype", "shape", "min", "max", "mean", "std", "zero", "nan", "inf", "histogram"]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE[:NAME]")
    add_select_option(parser)
    parser.add_argument("--bins", type=int, default=16, help="bins of the histogram (16)")
    output.add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    if not 1 <= options.bins <= 1000:
        raise Failure(f"--bins is {options.bins}, wanted 1 to 1000")
    path, name = split(options.file)
    with output.progress(options, "reading") as advance, open_file(path) as file:
        chosen = select_entries(file.entries, [name] if name is not None else options.select)
        total, done = sum(entry.numel for entry in chosen), 0
        found: list[dict[str, Any]] = []
        for entry in chosen:
            facts = {"name": entry.name, "dtype": entry.dtype_name, "shape": entry.shape}
            if entry.dtype is not None:
                facts |= statistics(as_tensor(entry), options.bins, output.part_of(advance, done, total))
            found.append(facts)
            done += entry.numel
    if options.json:
        output.print_json({"file": path, "tensors": found})
    else:
        rows = [_row(facts) for facts in found]
        output.print_table(options, COLUMNS, rows, right=COLUMNS[3:-1])
    return 0


def statistics(x: Tensor, bins: int, advance: Callable[[int], object] = lambda _: None) -> dict[str, Any]:
    """The facts about the elements of a tensor; min, max, mean, std and the histogram are those of finite ones.

    Complex numbers count by their absolute values. The standard deviation is that of a sample (n - 1). Elements are read
    in blocks, twice: the second time for the histogram, whose range is known only then.

    >>> import strided as st
    >>> statistics(st.tensor([1.0, 2.0, 0.0, float("nan")]), 2)["histogram"]
    [1, 2]
    """
    count = zeros = nans = 0
    low, high, mean, squares = math.inf, -math.inf, 0.0, 0.0
    finite_count = 0
    for block in blocks(x):
        numbers = magnitudes(block)
        finite = numbers[numbers.isfinite()]
        count += numbers.numel()
        nans += int(numbers.isnan().sum().item())
        zeros += int((numbers == 0).sum().item())
        if n := finite.numel():
            low, high = min(low, finite.min().item()), max(high, finite.max().item())
            # The means and squared deviations of two parts, joined by Chan's formula.
            part = finite.mean().item()
            deviations = (finite - part).square().sum().item()
            delta, joined = part - mean, finite_count + n
            mean += delta * (n / joined)
            squares += deviations + delta * delta * (finite_count * (n / joined))
            finite_count = joined
        advance(count // 2)
    has_any = finite_count > 0
    return {
        "min": low if has_any else None,
        "max": high if has_any else None,
        "mean": mean if has_any else None,
        "std": math.sqrt(squares / (finite_count - 1)) if finite_count > 1 else None,
        "zero": zeros,
        "nan": nans,
        "inf": count - finite_count - nans,
        "histogram": _histogram(x, low, high, bins, lambda n: advance((count + n) // 2)) if has_any else None,
    }


def _histogram(x: Tensor, low: float, high: float, bins: int, advance: Callable[[int], object]) -> list[int]:
    import strided as st

    counts = st.zeros(bins, dtype=st.float64)
    done = 0
    for block in blocks(x):
        numbers = magnitudes(block)
        finite = numbers[numbers.isfinite()]
        if low == high:
            counts[bins // 2] += finite.numel()
        elif finite.numel():
            # Shares of the range: its width may be beyond the largest number.
            shares = (finite / 2 - low / 2) / (high / 2 - low / 2)
            counts += shares.histc(bins, 0, 1)
        done += numbers.numel()
        advance(done)
    return [int(number) for number in counts.tolist()]


def _row(facts: dict[str, Any]) -> list[str]:
    start = [facts["name"], facts["dtype"], shape_text(facts["shape"])]
    if "min" not in facts:
        return [*start, *[""] * 7, "strided has no such dtype"]
    numbers = ["" if facts[key] is None else f"{facts[key]:.5g}" for key in ("min", "max", "mean", "std")]
    return [*start, *numbers, *(f"{facts[key]:,}" for key in ("zero", "nan", "inf")), bars(facts["histogram"])]


def bars(histogram: list[int] | None) -> str:
    """A histogram as one character for each bin."""
    if not histogram:
        return ""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    ramp = BARS if encoding.lower().startswith("utf") else ASCII_BARS
    most = max(histogram)
    # A bin with few elements differs from an empty one.
    return "".join(ramp[-(-number * (len(ramp) - 1) // most)] for number in histogram)
