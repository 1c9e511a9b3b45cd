"""`strided diff`: what differs between two files, and by how much."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from strided.cli import _output as output
from strided.cli._failure import Failure
from strided.cli._target import (
    add_select_option,
    as_tensor,
    blocks,
    find,
    matches,
    open_file,
    select_entries,
    shape_text,
    split,
)

if TYPE_CHECKING:
    from strided import Tensor
    from strided.files import Entry, File

EXAMPLES = """
  strided diff before.safetensors after.safetensors
  strided diff model.t7 model.safetensors --ulp 2
  strided diff a.npz:weight b.npz:weight --rtol 1e-5 --atol 1e-8

exit code: 0 if nothing differs, 1 if something does, 2 if a file cannot be read
"""
MISSING = object()  # no value
MOST_CHARACTERS = 40  # of a value that is shown
COLUMNS = ["name", "difference", "elements", "largest", "ulp"]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="A[:NAME]")
    parser.add_argument("second", metavar="B[:NAME]")
    add_select_option(parser)
    parser.add_argument(
        "--ulp",
        type=int,
        default=0,
        help="floats that differ by at most this many units in the last place are equal (0)",
    )
    parser.add_argument(
        "--rtol", type=float, default=0.0, help="as are numbers at most so far apart, relative to the second one (0)"
    )
    parser.add_argument("--atol", type=float, default=0.0, help="or absolutely (0)")
    output.add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    for name in ("ulp", "rtol", "atol"):
        if not getattr(options, name) >= 0:
            raise Failure(f"--{name} is {getattr(options, name)}, wanted 0 or more")
    (first_path, first_name), (second_path, second_name) = split(options.first), split(options.second)
    with (
        output.progress(options, "comparing") as advance,
        open_file(first_path) as first,
        open_file(second_path) as second,
    ):
        paths = (first_path, second_path)
        pairs = _pairs(options, (first, first_name), (second, second_name))
        values = [] if first_name is not None or second_name is not None else _value_pairs(options, first, second)
        total, done = sum(a.numel for _, a, b in pairs if a and b), 0
        found: list[dict[str, Any]] = []
        for name, a, b in pairs:
            part = output.part_of(advance, done, total)
            found += _differences(options, name, a, b, paths, part)
            done += a.numel if a and b else 0
        found += [fact for name, left, right in values if (fact := _value_difference(name, left, right, paths))]
    unknown = [name for name, a, b in pairs if a and b and a.dtype is None and a.dtype_name == b.dtype_name]
    compared = len(pairs) - len(unknown)
    if options.json:
        facts = {"equal": not found, "compared": compared, "values": len(values), "not_compared": unknown}
        output.print_json(facts | {"differences": found})
        return 1 if found else 0
    if found:
        output.print_table(options, COLUMNS, [_row(fact) for fact in found], right=COLUMNS[2:])
    else:
        counts = [_count(compared, "tensor")] + ([_count(len(values), "value")] if values else [])
        print(f"{' and '.join(counts)}, no difference")
    if unknown:
        print(f"not compared, because strided has no such dtype: {', '.join(unknown)}")
    return 1 if found else 0


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


Pair = tuple[str, "Entry | None", "Entry | None"]


def _pairs(options: argparse.Namespace, first: tuple[File, str | None], second: tuple[File, str | None]) -> list[Pair]:
    """The tensors to compare: those of one name, or the two that were named."""
    (a, a_name), (b, b_name) = first, second
    if b_name is not None and a_name is None:
        # The file for which the name was given comes first: if that has no such tensor, the error is about it.
        right = find(b, b_name)
        return [(right.name, find(a, b_name), right)]
    if a_name is not None:
        left = find(a, a_name)
        return [(left.name, left, find(b, b_name if b_name is not None else a_name))]
    if options.select:
        union = {entry.name: entry for entry in (*b.entries, *a.entries)}
        names = [entry.name for entry in select_entries(union.values(), options.select)]
    else:
        names = list(dict.fromkeys((*a.names, *b.names)))
    if not options.select and a.names != b.names and len(a) == len(b) == 1:
        return [(a.names[0], a.entries[0], b.entries[0])]  # nameless tensors get the names of their formats
    first_entries, second_entries = ({entry.name: entry for entry in file.entries} for file in (a, b))
    return [(name, first_entries.get(name), second_entries.get(name)) for name in names]


def _value_pairs(options: argparse.Namespace, first: File, second: File) -> list[tuple[str, Any, Any]]:
    """The values that are no tensors, by their names; MISSING where a file has none."""
    a, b = first.plain_values, second.plain_values
    names = dict.fromkeys((*a, *b))
    return [(name, a.get(name, MISSING), b.get(name, MISSING)) for name in names if matches(name, options.select)]


def _value_difference(name: str, a: Any, b: Any, paths: tuple[str, str]) -> dict[str, Any] | None:
    if a is MISSING or b is MISSING:
        text = f"{_short(b if a is MISSING else a)}, only in {paths[1] if a is MISSING else paths[0]}"
        return {"name": name, "kind": "missing", "text": text}
    if is_equal(a, b):
        return None
    return {"name": name, "kind": "value", "text": f"{_short(a)} and {_short(b)}"}


def is_equal(a: Any, b: Any) -> bool:
    """Whether two values of files are equal: NaNs are, 1 and 1.0 are, 1 and True are not.

    >>> is_equal(float("nan"), float("nan")), is_equal(1, 1.0), is_equal(1, True)
    (True, True, False)
    """
    if isinstance(a, bool) != isinstance(b, bool):
        return False
    if isinstance(a, complex) and isinstance(b, complex):
        return is_equal(a.real, b.real) and is_equal(a.imag, b.imag)
    return bool(a == b) or bool(a != a and b != b)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


def _differences(
    options: argparse.Namespace,
    name: str,
    a: Entry | None,
    b: Entry | None,
    paths: tuple[str, str],
    advance: Callable[[int], object],
) -> Iterator[dict[str, Any]]:
    if a is None or b is None:
        yield {"name": name, "kind": "missing", "text": f"only in {paths[0] if b is None else paths[1]}"}
        return
    if a.shape != b.shape:
        yield {"name": name, "kind": "shape", "text": f"shape {shape_text(a.shape)} and {shape_text(b.shape)}"}
    if a.dtype_name != b.dtype_name:
        yield {"name": name, "kind": "dtype", "text": f"dtype {a.dtype_name} and {b.dtype_name}"}
    if a.shape != b.shape or a.dtype is None or b.dtype is None:
        return
    facts = compare(as_tensor(a), as_tensor(b), options.ulp, options.rtol, options.atol, advance)
    if facts["elements"]:
        yield {"name": name, "kind": "values", "text": "values"} | facts


def compare(
    a: Tensor,
    b: Tensor,
    ulp: int = 0,
    rtol: float = 0.0,
    atol: float = 0.0,
    advance: Callable[[int], object] = lambda _: None,
) -> dict[str, Any]:
    """How many elements differ, the largest difference, and for floats of one dtype the largest one in ULP.

    NaNs are equal. A difference with a NaN on one side only is infinite.

    >>> import strided as st
    >>> compare(st.tensor([1.0, 2.0, 3.0]), st.tensor([1.0, 2.0, 4.0]))
    {'elements': 1, 'of': 3, 'largest': 1.0, 'ulp': 4194304}
    """
    is_floating = a.dtype == b.dtype and a.is_floating_point()
    done, elements, largest, most_ulp = 0, 0, 0.0, 0
    for left, right in zip(blocks(a), blocks(b), strict=True):
        done += left.numel()
        advance(done)
        differs = _differs(left, right, ulp if is_floating else 0, rtol, atol)
        count = int(differs.sum().item())
        if not count:
            continue
        elements += count
        left, right = left[differs], right[differs]
        largest = max(largest, _largest_distance(left, right))
        if is_floating:
            from strided.testing import ulp_distance

            numbers = ~(left.isnan() | right.isnan())
            if numbers.any():
                most_ulp = max(most_ulp, ulp_distance(left[numbers], right[numbers]).max().item())
    facts = {"elements": elements, "of": a.numel(), "largest": largest}
    return facts | ({"ulp": most_ulp} if is_floating else {})


def _differs(a: Tensor, b: Tensor, ulp: int, rtol: float, atol: float) -> Tensor:
    from strided.testing import ulp_distance

    differs = a != b
    if a.is_floating_point() or a.is_complex() or b.is_floating_point() or b.is_complex():
        differs &= ~(a.isnan() & b.isnan())
    if ulp:
        differs &= (ulp_distance(a, b) > ulp) | a.isnan() | b.isnan()
    if rtol or atol:
        differs &= ~a.isclose(b, rtol=rtol, atol=atol)
    return differs


def _largest_distance(a: Tensor, b: Tensor) -> float:
    """The largest absolute difference; exact for integers up to 2**53 apart."""
    import strided as st

    if a.is_complex() or b.is_complex():
        distance = (a.to(st.complex128) - b.to(st.complex128)).abs()
    elif st.uint64 in (a.dtype, b.dtype):
        distance = (
            (st.maximum(a, b) - st.minimum(a, b)).to(st.float64)
            if a.dtype == b.dtype
            else (a.double() - b.double()).abs()
        )
    elif not (a.is_floating_point() or b.is_floating_point()):
        distance = (a.to(st.int64) - b.to(st.int64)).to(st.float64).abs()
    else:
        distance = (a.to(st.float64) - b.to(st.float64)).abs()
    return float("inf") if distance.isnan().any() else distance.max().item()


def _row(fact: dict[str, Any]) -> list[str]:
    if "elements" not in fact:
        return [fact["name"], fact["text"], "", "", ""]
    ulp = f"{fact['ulp']:,}" if "ulp" in fact else ""
    return [fact["name"], fact["text"], f"{fact['elements']:,} of {fact['of']:,}", f"{fact['largest']:.6g}", ulp]
