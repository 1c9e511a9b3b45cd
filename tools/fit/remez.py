"""Minimax fits on a fine grid (multi-point Remez exchange), with coefficients rounded to float32 or float64."""

import struct
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
from mpmath import mp, mpf

mp.dps = 50

Number = Any  # mpmath's, which has no types
Function = Callable[[Number], Number]
#: A point of the grid: its powers by exponent, the value of the function as "g" and the weight as "w".
Point = dict[Any, Number]


def rounded(value: Number, dtype: str) -> Number:
    """The nearest float32 or float64."""
    if dtype == "f32":
        # Rounded twice, first to float64. The result may be the second nearest, but the error is measured afterwards.
        return mpf(struct.unpack("f", struct.pack("f", float(value)))[0])
    return mpf(float(value))


def solve(points: Sequence[Point], basis: Sequence[int]) -> list[Number]:
    """The coefficients whose error at the points has one magnitude and alternating signs."""
    n = len(basis)
    a, b = mpmath.matrix(n + 1, n + 1), mpmath.matrix(n + 1, 1)
    for i, x in enumerate(points):
        for j in range(n):
            a[i, j] = x[basis[j]] * x["w"]
        a[i, n] = (-1) ** i
        b[i] = x["g"] * x["w"]
    c = mpmath.lu_solve(a, b)
    return [c[j] for j in range(n)]


def remez(grid: Sequence[Point], basis: Sequence[int], rounds: int = 12) -> list[Number]:
    """Minimax coefficients over the prepared grid."""
    n, m = len(basis), len(grid)
    at = [round(i * (m - 1) / n) for i in range(n + 1)]
    c: list[Number] = []
    for _ in range(rounds):
        c = solve([grid[i] for i in at], basis)
        error = [(sum(cj * x[b] for cj, b in zip(c, basis, strict=True)) - x["g"]) * x["w"] for x in grid]
        peaks = alternation(error, n + 1)
        if len(peaks) < n + 1 or peaks == at:
            break
        at = peaks
    return c


def alternation(error: Sequence[Number], wanted: int) -> list[int]:
    """The indices of the largest errors between sign changes. If there are more than wanted, the smallest are removed."""
    peaks: list[int] = []
    start = 0
    for i in range(1, len(error) + 1):
        if i == len(error) or (error[i] > 0) != (error[start] > 0):
            peaks.append(max(range(start, i), key=lambda j: abs(error[j])))
            start = i
    size = [abs(error[i]) for i in peaks]
    while len(peaks) > wanted:
        if len(peaks) == wanted + 1:
            out = slice(0, 1) if size[0] < size[-1] else slice(-1, None)
        else:
            k = min(range(len(peaks) - 1), key=lambda j: min(size[j], size[j + 1]))
            out = slice(k, k + 2)  # a pair, so that signs still alternate
        del peaks[out], size[out]
    return peaks


def fit(
    f: Function, low: Number, high: Number, count: int, weight: Function, dtype: str, points: int = 400
) -> tuple[list[Number], Number]:
    """The `count` coefficients that minimise the largest weighted error against f on [low, high], and that error."""
    low, high = mpf(low), mpf(high)
    grid: list[Point] = []
    for i in range(points):
        # A Chebyshev grid is dense at its ends, where errors are largest.
        v = (low + high) / 2 - (high - low) / 2 * mpmath.cos(mpmath.pi * (mpf(i) + mpf(1) / 3) / points)
        grid.append({**{k: v**k for k in range(count)}, "g": f(v), "w": weight(v)})
    fitted = remez(grid, range(count))
    candidates = [
        [rounded(c, dtype) for c in fitted],
        round_one_by_one(grid, count, dtype, divided=True),
        round_one_by_one(grid, count, dtype, divided=False),
    ]
    best = min(candidates, key=lambda c: worst(grid, c))
    return best, worst(grid, best)


def worst(grid: Sequence[Point], c: Sequence[Number]) -> Number:
    return max(abs((sum(v * x[k] for k, v in enumerate(c)) - x["g"]) * x["w"]) for x in grid)


def round_one_by_one(grid: Sequence[Point], count: int, dtype: str, divided: bool) -> list[Number]:
    """Rounds the lowest coefficient, fits the others again, and so on.

    With `divided`, the remaining function is divided by x after each step, so that the basis always starts with 1. This is needed if
    the interval contains 0: otherwise every remaining term is 0 there, and the exchange finds no alternation. It is less stable,
    so the caller tries both.
    """
    points = [dict(x) for x in grid]
    done = []
    for k in range(count):
        first, basis = (0, range(count - k)) if divided else (k, range(k, count))
        value = rounded(remez(points, basis)[0], dtype)
        done.append(value)
        for x in points:
            x["g"] -= value * x[first]
            if divided and count > 1:
                x["g"] /= x[1]
                x["w"] *= abs(x[1])
    return done
