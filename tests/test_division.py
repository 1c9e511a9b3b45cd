"""Integer and float division and remainders, and powers with small exponents, compared with exact results.

Integers are divided as floats where floats represent them exactly.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from strategies import INTS

import strided as st


def edges(name):
    """Numbers near the limits of the dtype and of the integers that floats represent exactly."""
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
    # A block that contains a large number takes a slower path. Blocks of the first order mix large and small numbers,
    # those of the second do not.
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


def floats(name):
    """Dividends and divisors of all sizes, near multiples of each other, and special ones."""
    rng = np.random.default_rng(11)
    info = np.finfo(name)
    b = (rng.standard_normal(3000) * 2.0 ** rng.integers(-20, 20, 3000)).astype(name)
    near = (b * rng.integers(-1000, 1000, 3000)).astype(name)
    a = np.concatenate([near, np.nextafter(near, np.array(9e9, name)), np.nextafter(near, -near), b * b])
    bits = info.nmant
    # Quotients with about as many bits as the mantissa.
    long = (b * 2.0 ** rng.uniform(bits - 4, bits + 4, 3000)).astype(name)
    a, b = np.concatenate([a, long]), np.tile(b, 5)
    limits = [0.0, -0.0, 1.0, -3.0, np.inf, -np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal, 1e30, -1e-30]
    pairs = np.array([(x, y) for x in limits for y in limits], name)
    return np.concatenate([a, pairs[:, 0]]), np.concatenate([b, pairs[:, 1]])


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_remainders_of_floats_are_exact(name):
    a, b = floats(name)
    x, y = st.from_numpy(a), st.from_numpy(b)
    fmod, remainder, quotient = (f(x, y).numpy() for f in (st.fmod, st.remainder, st.floor_divide))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(fmod, np.fmod(a, b))
        np.testing.assert_array_equal(np.signbit(fmod), np.signbit(np.fmod(a, b)))
    usual = np.isfinite(a) & np.isfinite(b) & (b != 0)
    eps = Fraction(float(np.finfo(name).eps))
    for u, v, left, whole in zip(*(side[usual].tolist() for side in (a, b, remainder, quotient)), strict=True):
        exact, floor = Fraction(u) % Fraction(v), Fraction(u) // Fraction(v)
        half_ulp = max(abs(exact) * eps, Fraction(float(np.finfo(name).smallest_subnormal))) / 2
        assert abs(Fraction(left) - exact) <= half_ulp, (u, v)
        assert math.copysign(1, left) == math.copysign(1, v), (u, v)
        if abs(floor) < 2 / eps:
            assert whole == floor, (u, v)
        elif abs(floor) <= int(np.finfo(name).max):
            assert abs(Fraction(whole) - floor) <= abs(floor) * eps, (u, v)
        else:
            assert math.isinf(whole)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("number", [2, 3, -1, 0.5, 2.0])
def test_powers_with_small_exponents(name, number):
    rng = np.random.default_rng(3)
    limits = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e30, -1e-30, 1e-45]
    x = st.tensor([*(rng.standard_normal(5000) * 100).tolist(), *limits], dtype=getattr(st, name))
    got, values = (x**number).double().numpy(), x.double().numpy()
    with np.errstate(all="ignore"):
        wide = np.power(values.astype(np.longdouble), np.longdouble(number)).astype(np.float64)
    wanted = st.tensor(wide).to(x.dtype).double().numpy()
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
    np.testing.assert_array_equal(np.signbit(got), np.signbit(wanted))
    ulp = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}[name]
    np.testing.assert_allclose(got, wanted, rtol=ulp, atol=1e-45 if name != "float64" else 5e-324)
    for other in (x.clone().pow_(number), st.pow(x, number), st.pow(x, number, out=st.empty_like(x))):
        np.testing.assert_array_equal(other.double().numpy(), got)
    np.testing.assert_array_equal((x.flip(0) ** number).double().numpy(), got[::-1])
