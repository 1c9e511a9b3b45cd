"""The message of a failed comparison: how many elements differ, the first one, by how much, and its surroundings."""

from __future__ import annotations

import strided as st
from strided import Tensor
from strided.testing._distance import is_finite, off_by, steps, wide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from strided.testing._close import Rule

#: The number of rows and columns that the grids show on each side of the first difference.
AROUND = 2


def size(x: Tensor) -> str:
    return "x".join(map(str, x.shape)) or "()"


def attributes(x: Tensor, y: Tensor, names: tuple[str, ...]) -> list[str]:
    """Returns one sentence for each of the named attributes in which two tensors differ."""
    texts: dict[str, Callable[[Tensor], str]] = {
        "device": lambda t: str(t.device),
        "dtype": lambda t: t.dtype.name,
        "stride": lambda t: str(t.stride()),
    }
    pairs = [(name, texts[name](x), texts[name](y)) for name in texts if name in names]
    return [f"the {name}s differ: got {got}, wanted {wanted}" for name, got, wanted in pairs if got != wanted]


def values(x: Tensor, y: Tensor, differs: Tensor, rule: Rule, rtol: float, atol: float) -> str:
    """Returns the paragraph about elements. `differs` is True, in row-major order, for those that are not close."""
    count, total = differs.sum().item(), differs.numel()
    flat_x, flat_y = x.reshape(-1), y.reshape(-1)
    first = _first(differs)
    index = _index(first, x.shape)
    pair = _pair(flat_x[first], flat_y[first])
    if x.dim() == 0:
        return "\n".join([pair, *_allowed(rule, rtol, atol)])
    lines = [
        f"{count} of {total} element{'s' * (total > 1)} {'differ' if count > 1 else 'differs'} "
        f"({100 * count / total:.3g} %), {x.dtype.name} {size(x)}",
        f"  {'first ' * (count > 1)}at {list(index)}: {pair}",
    ]
    lines += _greatest_lines(flat_x, flat_y, differs, x.shape) if count > 1 else []
    lines += _special_lines(flat_x, flat_y, differs)
    lines += _allowed(rule, rtol, atol)
    if total > 1:
        lines += ["", *_grids(x, y, differs.view(*x.shape), index)]
    return "\n".join(lines)


def _pair(a: Tensor, b: Tensor) -> str:
    """Two elements and, if it is finite, their distance."""
    text = f"got {number(a)}, wanted {number(b)}"
    off = off_by(a, b)
    if not is_finite(off).item() or off.item() == 0:
        return text
    size = abs(wide(b)).item()
    relative = f"{off.item() / size:.3g}" if size else "inf"
    ulp = f", {steps(a, b).item()} ULP" if _is_inexact(a) else ""
    return f"{text}: {_exact(off.item())} off, {relative} relative{ulp}"


def _greatest_lines(x: Tensor, y: Tensor, differs: Tensor, shape: tuple[int, ...]) -> list[str]:
    """The greatest differences among elements whose difference is finite."""
    off = off_by(x, y)
    counted = differs * is_finite(off) * (off > 0)
    if not counted.sum().item():
        return []
    relative = off / abs(wide(y))
    rows: list[tuple[str, Tensor, Callable[[Any], str]]] = [
        ("absolute", off, _exact),
        ("relative", relative, "{:.3g}".format),
    ]
    if _is_inexact(x):
        rows.append(("ULP", steps(x, y), str))
    found = []
    for word, measure, text in rows:
        at, greatest = _greatest(measure, counted)
        found.append(f"  greatest {word} difference: {text(greatest)} at {list(_index(at, shape))}")
    return found


def _special_lines(x: Tensor, y: Tensor, differs: Tensor) -> list[str]:
    """The number of differences that involve NaNs, infinities and the signs of zeros."""
    if not _is_inexact(x):
        return []
    nan_x, nan_y = x != x, y != y
    numbers = (nan_x + nan_y) == False  # noqa: E712
    infinite = (is_finite(x) * is_finite(y)) == False  # noqa: E712
    kinds = {
        "NaN where a number is wanted": nan_x * (nan_y == False),  # noqa: E712
        "a number where NaN is wanted": nan_y * (nan_x == False),  # noqa: E712
        "NaN in both, and equal_nan is False": nan_x * nan_y,
        "an infinity in only one, or of opposite sign": numbers * infinite,
        "zeros of different signs": x == y,
    }
    counts = {text: (kind * differs).sum().item() for text, kind in kinds.items()}
    return [f"  {text}: {count} of them" for text, count in counts.items() if count]


def _allowed(rule: Rule, rtol: float, atol: float) -> list[str]:
    near = " + ".join([f"{atol:g}"] * bool(atol) + [f"{rtol:g} relative"] * bool(rtol))
    either = [near] * bool(near) + [f"{rule.ulp} ULP"] * bool(rule.ulp)
    return [f"  allowed: {', or '.join(either)}"] if either else []


# Searches that do not loop over elements in Python


def _first(mask: Tensor) -> int:
    return bytes(memoryview(mask)).find(1)


def _greatest(measure: Tensor, counted: Tensor) -> tuple[int, Any]:
    """Returns position and value of the greatest element where `counted`. No such element is negative or NaN."""
    # Nonnegative floats compare as their bits do, and multiplying bits by 0 or 1 makes no NaN.
    bits = measure.view(st.uint64) * counted.to(st.uint64)
    greatest = max(memoryview(bits))
    at = _first(bits == greatest)
    return at, measure[at].item()


def _index(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    index = []
    for extent in reversed(shape):
        position, i = divmod(position, extent)
        index.append(i)
    return tuple(reversed(index))


# Writing


def number(x: Tensor) -> str:
    """Returns an element in the fewest digits that identify it in its dtype."""
    value = x.item()
    if x.dtype.is_complex:
        real, imag = number(x.real), number(x.imag)
        return f"{real}{'' if imag.startswith('-') else '+'}{imag}j"
    if not x.dtype.is_floating_point or value != value:
        return str(value)
    texts = (f"{value:.{digits}g}" for digits in range(1, 18))
    return next(text for text in texts if st.tensor(float(text), dtype=x.dtype).item() == value)


def _exact(off: float) -> str:
    return f"{off:.6g}" if off != int(off) else f"{int(off)}" if off < 1e15 else f"{off:g}"


def _is_inexact(x: Tensor) -> bool:
    return x.dtype.is_floating_point or x.dtype.is_complex


def _grids(x: Tensor, y: Tensor, differs: Tensor, index: tuple[int, ...]) -> list[str]:
    """Both tensors around one index, side by side; a star marks elements that differ."""
    lead, near = index[:-2], index[-2:]
    windows = [
        range(max(at - AROUND, 0), min(at + AROUND + 1, extent)) for at, extent in zip(near, x.shape[-2:], strict=True)
    ]
    key: tuple[Any, ...] = (*lead, *(slice(window.start, window.stop) for window in windows))
    marks = _rows(differs[key], lambda mark: "*" * mark.item())
    left, right = (_aligned(_rows(t[key], number), marks) for t in (x, y))
    part = ", ".join([*map(str, lead), *(f"{window.start}:{window.stop}" for window in windows)])
    if key == tuple(slice(0, extent) for extent in x.shape):
        heads = ("got", "wanted")
    else:
        heads = (f"got[{part}]", f"wanted[{part}]")
    width = max(len(line) for line in (*left, heads[0]))
    return [f"  {a:<{width}}    {b}".rstrip() for a, b in (heads, *zip(left, right, strict=True))]


def _rows(x: Tensor, text: Callable[[Tensor], str]) -> list[list[str]]:
    """Returns the text of each element of a vector or matrix."""
    return [[text(element) for element in row] for row in (x if x.dim() == 2 else [x])]


def _aligned(rows: list[list[str]], marks: list[list[str]]) -> list[str]:
    columns = []
    for numbers, stars in zip(zip(*rows, strict=True), zip(*marks, strict=True), strict=True):
        star_width, width = max(map(len, stars)), max(map(len, numbers))
        columns.append([f"{text:>{width}}{star.ljust(star_width)}" for text, star in zip(numbers, stars, strict=True)])
    return ["  ".join(row) for row in zip(*columns, strict=True)]
