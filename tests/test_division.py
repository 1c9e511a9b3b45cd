"""Quotients and remainders of integers, which go through floats where those have room: Python's own integers judge."""

import numpy as np
import pytest
from strategies import INTS

import strided as st


def edges(name):
    """Numbers around the limits of the dtype and of what floats hold."""
    info = np.iinfo(name)
    powers = [p for p in (8, 16, 24, 31, 32, 50, 51, 52, 53, 62, 63, 64) if 2**p <= 2 * int(info.max) + 2]
    around = {sign * 2**p + d for p in powers for d in range(-3, 4) for sign in (-1, 1)}
    around |= set(range(-9, 10)) | {info.max // k for k in (2, 3, 7)} | {info.min // k for k in (2, 3, 7)}
    return sorted(n for n in map(int, around) if info.min <= n <= info.max)


def wrapped(values, name):
    bits = np.iinfo(name).bits
    return np.array([v % 2**bits for v in values], np.uint64).astype(f"uint{bits}").view(name)


def truncated(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


MODELS = {
    "floor_divide": lambda a, b: a // b,
    "trunc_divide": truncated,
    "remainder": lambda a, b: a % b,
    "fmod": lambda a, b: a - truncated(a, b) * b,
}


def divide(op, x, y):
    return x.div(y, rounding_mode="trunc") if op == "trunc_divide" else getattr(st, op)(x, y)


@pytest.mark.parametrize("name", INTS)
@pytest.mark.parametrize("op", MODELS)
def test_limits(op, name):
    numbers = edges(name)
    pairs = [(a, b) for a in numbers for b in numbers if b]
    # Both with small neighbours and alone: a block with one large number takes another way for it.
    for some in (pairs, sorted(pairs, key=lambda pair: max(map(abs, pair)))):
        a, b = (np.array(side, name) for side in zip(*some, strict=True))
        wanted = wrapped([MODELS[op](*pair) for pair in some], name)
        np.testing.assert_array_equal(divide(op, st.from_numpy(a), st.from_numpy(b)).numpy(), wanted)


@pytest.mark.parametrize("name", ["int8", "uint8"])
@pytest.mark.parametrize("op", MODELS)
def test_every_pair_of_bytes(op, name):
    info = np.iinfo(name)
    a, b = np.meshgrid(np.arange(info.min, info.max + 1), [n for n in range(info.min, info.max + 1) if n])
    wanted = wrapped([MODELS[op](int(x), int(y)) for x, y in zip(a.flat, b.flat, strict=True)], name)
    x, y = (st.from_numpy(side.astype(name).ravel()) for side in (a, b))
    np.testing.assert_array_equal(divide(op, x, y).numpy(), wanted)


@pytest.mark.parametrize("name", INTS)
@pytest.mark.parametrize("op", MODELS)
def test_numbers_of_all_sizes(op, name):
    rng = np.random.default_rng(7)
    info = np.iinfo(name)
    raw = rng.integers(info.min, info.max, (2, 5000), name, endpoint=True)
    raw >>= rng.integers(0, info.bits, raw.shape, name)
    a, b = raw[0], np.where(raw[1] == 0, np.array(1, name), raw[1])
    wanted = wrapped([MODELS[op](int(x), int(y)) for x, y in zip(a, b, strict=True)], name)
    x, y = st.from_numpy(a), st.from_numpy(b)
    np.testing.assert_array_equal(divide(op, x, y).numpy(), wanted)
    np.testing.assert_array_equal(divide(op, x.flip(0), y.flip(0)).numpy(), wanted[::-1])
    np.testing.assert_array_equal(divide(op, x[::3], y[::3]).numpy(), wanted[::3])
