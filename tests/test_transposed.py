"""Transposed and reversed operands, which are read in tiles, and large results, which are written by non-temporal stores."""

from pathlib import Path

import numpy as np
import pytest
from strategies import DTYPES, is_same, memory_dtype, memory_of, random_memory, shared

import strided as st

#: Sizes around blocks and tiles.
PLANES = [(5, 3), (64, 64), (65, 257), (130, 1025), (1031, 66), (9, 4000), (4000, 9), (20_000, 3), (3, 20_000)]
#: Ratios of the sides of planes that are written by non-temporal stores.
LARGE = [1.0, 1.5]


def large_plane(name, ratio):
    """A shape with a few more bytes than half of the last-level cache, where non-temporal stores begin."""
    caches = Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")
    largest = max((int(cache.read_text().strip().rstrip("K")) << 10 for cache in caches), default=16 << 20)
    elements = min(largest, 64 << 20) / 2 / memory_dtype(name).itemsize
    rows = int((elements / ratio) ** 0.5) + 50
    return rows, int(elements / rows) + 50


def pair(name, shape):
    """An array, and a tensor on its memory."""
    memory = random_memory(name, shape)
    return memory, shared(memory, name)


def assert_holds(x, memory):
    assert is_same(memory_of(x), memory)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("shape", PLANES)
def test_copies_of_transposed_planes(name, shape):
    memory, x = pair(name, shape)
    for view, wanted in [
        (x.t(), memory.T),
        (x.t().flip(0), memory.T[::-1]),
        (x.t().flip(1), memory.T[:, ::-1]),
        (x.flip(1), memory[:, ::-1]),
        (x.flip(0, 1).t(), memory[::-1, ::-1].T),
        (x[:, 1:].t()[::2], memory[:, 1:].T[::2]),
    ]:
        assert_holds(view.contiguous(), wanted)


@pytest.mark.parametrize("length", [*range(70), 1000, 4099, 300_001])
@pytest.mark.parametrize("name", ["uint8", "float16", "int32", "float64", "complex128"])
def test_copies_of_reversed_vectors(name, length):
    memory, x = pair(name, (length + 2,))
    assert_holds(x.flip(0).clone(), memory[::-1])
    assert_holds(x[1:-1].flip(0).clone(), memory[1:-1][::-1])
    out = st.empty(2 * length + 4, dtype=x.dtype)[::2]  # into a strided output
    assert_holds(out.copy_(x.flip(0)), memory[::-1])
    memory[:] = memory[::-1].copy()
    y = x.clone()
    assert_holds(y.copy_(y.flip(0)), memory[::-1])  # onto itself


@pytest.mark.parametrize("shape", PLANES)
@pytest.mark.parametrize("name", ["float32", "int16", "float64"])
def test_operations_with_transposed_operands(name, shape):
    check_transposed_operands(name, shape)


@pytest.mark.slow  # one of them takes as long as a thousand other tests
@pytest.mark.parametrize("ratio", LARGE)
@pytest.mark.parametrize("name", ["float32", "int16", "float64"])
def test_operations_with_large_transposed_operands(name, ratio):
    check_transposed_operands(name, large_plane(name, ratio))


def check_transposed_operands(name, shape):
    a, b, c = (np.random.default_rng(seed).integers(-99, 99, shape).astype(name) for seed in range(3))
    x, y, z = map(st.from_numpy, (a, b.T.copy(), c.T.copy()))
    cases = [
        (x + y.t(), a + b),
        (y.t() - x, b - a),
        (x.flip(1) + y.t(), a[:, ::-1] + b),
        (x + y.t().flip(0), a + b[::-1]),
        (x * x.flip(0, 1), a * a[::-1, ::-1]),
        (st.addcmul(x, y.t(), z.t(), value=2), a + (2 * b * c).astype(name)),
        (st.where(y.t() > 0, x, z.t()), np.where(b > 0, a, c)),
        (st.lerp(x.double(), y.t().double(), z.t().double()), a + np.float64(c) * (np.float64(b) - a)),
        (x.double() + y.t(), np.float64(a) + b),
        # All operands are transposed: only the result is written in tiles.
        (y.t() + z.t(), b + c),
        (y.t() * 2, b * np.array(2, name)),
        (y.t() - x[0], b - a[0]),
        (y.t() - x[:, :1], b - a[:, :1]),
        (y.t() + z.t().flip(0), b + c[::-1]),
        (y[1:].t() < z[:-1].t(), b[:, 1:] < c[:, :-1]),
        (y.t() + z.double().t(), b + np.float64(c)),
        (st.addcmul(y.t(), z.t(), y.t(), value=2), b + (2 * c * b).astype(name)),
        (st.sub(y.t(), z.t(), out=st.empty(shape, dtype=x.dtype)), b - c),
    ]
    for got, wanted in cases:
        np.testing.assert_array_equal(got.numpy(), wanted)


@pytest.mark.parametrize("name", ["uint8", "float16", "float32", "complex64", "complex128"])
@pytest.mark.parametrize("ratio", LARGE)
def test_large_copies(name, ratio):
    memory, x = pair(name, large_plane(name, ratio))
    assert_holds(x.t().contiguous(), memory.T)
    assert_holds(x.flip(1).clone(), memory[:, ::-1])
    assert_holds(x.reshape(-1).flip(0).clone(), memory.reshape(-1)[::-1])


def test_reversed_operands_of_another_dtype():
    a = np.random.default_rng(1).standard_normal(5000).astype(np.float16)
    x, y = st.from_numpy(a), st.arange(5000)
    wanted = a[::-1] + np.arange(5000).astype(np.float16)  # operands are cast to the common dtype first
    np.testing.assert_array_equal((x.flip(0) + y).numpy(), wanted)
    np.testing.assert_array_equal((y.flip(0) * 2.0).numpy(), np.arange(5000)[::-1] * np.float32(2))


def test_values_of_every_half():
    bits = np.arange(1 << 16, dtype=np.uint16)
    halves = bits.view(np.float16)
    wide = st.from_numpy(halves).float().numpy()
    numbers = ~np.isnan(halves)
    np.testing.assert_array_equal(wide[numbers].view(np.uint32), halves[numbers].astype(np.float32).view(np.uint32))
    # NaNs keep their sign and payload, and become quiet.
    left = bits[~numbers].astype(np.uint32)
    nans = (left << 13 & 0x7FFFFF) | 0x7FC00000 | left >> 15 << 31
    np.testing.assert_array_equal(wide[~numbers].view(np.uint32), nans)
    back = st.from_numpy(wide).half().numpy().view(np.uint16)
    np.testing.assert_array_equal(back, np.where(numbers, bits, bits | 0x200))


def test_floats_around_every_half():
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    halves = np.sort(halves[~np.isnan(halves)].astype(np.float32))
    middles = ((halves[1:].astype(np.float64) + halves[:-1]) / 2).astype(np.float32)
    steps = np.array([-1, 0, 1], np.int32)
    near = (np.concatenate([halves, middles]).view(np.int32)[:, None] + steps).view(np.float32).ravel()
    near = near[~np.isnan(near)]
    with np.errstate(over="ignore"):
        wanted = near.astype(np.float16)
    assert_holds(st.from_numpy(near).half(), wanted)


@pytest.mark.parametrize("shape", [(70, 67), (67, 70), (301, 515)])
def test_transposed_operands_of_several_dtypes(shape):
    rng = np.random.default_rng(4)
    a, b, c = rng.random(shape), rng.integers(-9, 9, shape[::-1]).astype(np.int8), rng.random(shape[::-1])
    x, y, z = map(st.from_numpy, (a, b, c))
    np.testing.assert_array_equal(st.addcmul(x, y.t(), z.t()).numpy(), a + b.T * c.T)
    np.testing.assert_array_equal(st.addcmul(x, z.t(), y.t().flip(0)).numpy(), a + c.T * b.T[::-1])
    np.testing.assert_array_equal(st.where((y > 0).t(), x, z.t()).numpy(), np.where(b.T > 0, a, c.T))
