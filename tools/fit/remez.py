"""Minimax fits on a fine grid (multi-point Remez exchange), with coefficients rounded to float32 or float64.
"""
from mpmath import mp, mpf
import mpmath, struct

mp.dps = 50


def rounded(v, dtype):
    if dtype == 'f32':
        # Through a string of many digits: double rounding (f64, then f32) is rare and harmless here.
        return mpf(struct.unpack('f', struct.pack('f', float(v)))[0])
    return mpf(float(v))


def solve(xs, basis, weight, target):
    """The coefficients that equal `target` at `xs` up to an error of alternating sign."""
    n = len(basis)
    a = mpmath.matrix(n + 1, n + 1)
    b = mpmath.matrix(n + 1, 1)
    for i, x in enumerate(xs):
        for j in range(n):
            a[i, j] = x[basis[j]] * x['w']
        a[i, n] = (-1) ** i
        b[i] = x['g'] * x['w']
    c = mpmath.lu_solve(a, b)
    return [c[j] for j in range(n)]


def remez(grid, basis, rounds=12):
    """Minimax coefficients over the prepared grid, and the error reached."""
    n, m = len(basis), len(grid)
    at = [round(i * (m - 1) / n) for i in range(n + 1)]
    for _ in range(rounds):
        c = solve([grid[i] for i in at], basis, None, None)
        err = [(sum(cj * x[b] for cj, b in zip(c, basis)) - x['g']) * x['w'] for x in grid]
        peaks, start = [], 0
        for i in range(1, m + 1):
            if i == m or (err[i] > 0) != (err[start] > 0):
                peaks.append(max(range(start, i), key=lambda j: abs(err[j])))
                start = i
        worst = max(abs(err[i]) for i in peaks)
        while len(peaks) > n + 1:
            if len(peaks) == n + 2:
                peaks.pop(0 if abs(err[peaks[0]]) < abs(err[peaks[-1]]) else -1)
            else:
                k = min(range(len(peaks) - 1), key=lambda j: min(abs(err[peaks[j]]), abs(err[peaks[j + 1]])))
                del peaks[k:k + 2]
        if len(peaks) < n + 1 or peaks == at:
            break
        at = peaks
    return c, worst


def fit(f, low, high, count, weight, dtype, points=400, keep=()):
    """`count` coefficients of the polynomial nearest to f on [low, high], error times `weight` minimised.

    `keep` holds coefficients that are given. Returns the rounded coefficients and the worst weighted error.
    """
    low, high = mpf(low), mpf(high)
    grid = []
    for i in range(points):
        # A Chebyshev grid: its ends, where errors are largest, are dense.
        v = (low + high) / 2 - (high - low) / 2 * mpmath.cos(mpmath.pi * (mpf(i) + mpf(1) / 3) / points)
        x = {k: v ** k for k in range(count)}
        x['g'] = f(v)
        x['w'] = weight(v)
        grid.append(x)
    fitted, _ = remez(grid, list(range(count)))
    plans = [[rounded(c, dtype) for c in fitted], one_by_one(grid, count, dtype, keep, divided=True),
             one_by_one(grid, count, dtype, keep, divided=False)]
    if keep:
        plans = plans[1:2]
    best = min(plans, key=lambda c: worst(grid, c))
    return best, worst(grid, best)


def worst(grid, c):
    return max(abs((sum(v * x[k] for k, v in enumerate(c)) - x['g']) * x['w']) for x in grid)


def one_by_one(grid, count, dtype, keep, divided):
    """Rounds the lowest coefficient, fits the rest again, and so on.

    With `divided` what is settled is divided out, so that the basis always starts with 1: needed where 0 is inside the interval
    (else all that is left vanishes there, and the exchange finds no alternation), but less stable. The caller takes what is best.
    """
    grid = [dict(x) for x in grid]
    done = []
    for k in range(count):
        first, basis = (0, range(count - k)) if divided else (k, range(k, count))
        value = mpf(keep[k]) if k < len(keep) else rounded(remez(grid, list(basis))[0][0], dtype)
        done.append(value)
        for x in grid:
            x['g'] -= value * x[first]
            if divided and count > 1:
                x['g'] /= x[1]
                x['w'] *= abs(x[1])
    return done
