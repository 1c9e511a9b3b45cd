"""Random numbers: the generator against a model of Philox, distributions against their definitions, and refusals."""

import copy
import math
import os
import pickle
import subprocess
import sys
import threading
from itertools import permutations

import numpy as np
import pytest

import strided as st

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
GROUP = 64  # blocks
N = 20_000


def dtype_of(name):
    return getattr(st, name)


def numbers(x):
    """The elements as an array of float64, or of their own integers."""
    return np.array(x.double().tolist() if x.dtype.is_floating_point else x.tolist())


# The model: Philox 4x32-10 with Python's integers as NumPy arrays of uint64.


def philox(counter, key):
    """Four arrays of words for four arrays of counter words and two words of a key."""
    a, b, c, d = (np.asarray(word, dtype=np.uint64) for word in counter)
    low, high = (np.uint64(word) for word in key)
    mask = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        first, second = a * np.uint64(0xD2511F53), c * np.uint64(0xCD9E8D57)
        shift = np.uint64(32)
        a, b, c, d = (second >> shift) ^ b ^ low, second & mask, (first >> shift) ^ d ^ high, first & mask
        low, high = (low + np.uint64(0x9E3779B9)) & mask, (high + np.uint64(0xBB67AE85)) & mask
    return a, b, c, d


def words64(seed, n, offset=0, stream=0, attempt=0):
    """The first `n` words of 64 bits of a draw."""
    groups = -(-n // (2 * GROUP))
    count = np.arange(groups * GROUP, dtype=np.uint64) + np.uint64(offset)
    mask, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    rest = [np.full_like(count, stream), np.full_like(count, attempt)]
    a, b, c, d = philox([count & mask, count >> shift, *rest], [seed & 0xFFFFFFFF, seed >> 32])
    halves = np.stack([(a | b << shift).reshape(-1, GROUP), (c | d << shift).reshape(-1, GROUP)], 1)
    return halves.reshape(-1)[:n]


def words32(seed, n, offset=0, **options):
    return words64(seed, -(-n // 2), offset, **options).astype("<u8").view("<u4")[:n]


def blocks_of(n, bits):
    """The blocks that a draw of `n` words takes."""
    return -(-n * bits // 8 // (16 * GROUP)) * GROUP


def test_philox_has_the_published_vectors():
    ones = 0xFFFFFFFF
    cases = [
        ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([ones] * 4, [ones] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    ]
    for counter, key, expected in cases:
        assert [int(word) for word in philox(counter, key)] == expected
    # `random_` of 32 bits returns words: a draw with seed 0 begins with the words 0 and 1 of block 0.
    x = st.zeros(2, dtype=st.uint32).random_(generator=st.Generator(0))
    assert x.tolist() == [0x6627E8D5, 0xE169C58D]


@pytest.mark.parametrize("n", [1, 7, 64, 65, 128, 129, 1000, 100_003])
@pytest.mark.parametrize("seed", [0, 5, 2**64 - 1])
def test_draws_are_those_of_the_model(n, seed):
    g = st.Generator(seed)
    offset = 0
    x = st.rand(n, generator=g)
    np.testing.assert_array_equal(x.numpy(), (words32(seed, n) >> 8).astype(np.float32) * np.float32(2**-24))
    offset += blocks_of(n, 32)
    x = st.rand(n, generator=g, dtype=st.float64)
    np.testing.assert_array_equal(x.numpy(), (words64(seed, n, offset) >> np.uint64(11)).astype(float) * 2.0**-53)
    offset += blocks_of(n, 64)
    x = st.zeros(n, dtype=st.uint64).random_(generator=g)
    np.testing.assert_array_equal(x.numpy(), words64(seed, n, offset))
    offset += blocks_of(n, 64)
    x = st.randint(-5, 1019, (n,), generator=g)
    np.testing.assert_array_equal(x.numpy(), (words32(seed, n, offset) >> 22).astype(int) - 5)
    offset += blocks_of(n, 32)
    x = st.zeros(n).bernoulli_(0.3, generator=g)
    unit = (words64(seed, n, offset) >> np.uint64(11)).astype(float) * 2.0**-53
    np.testing.assert_array_equal(x.numpy(), unit < 0.3)


def test_rejected_words_are_replaced_by_those_of_the_next_attempts():
    n, seed = 3000, 4
    for high, bits in ((5 * 3**13, 32), (2**63 + 2**62, 64)):
        x = st.randint(high, (n,), generator=st.Generator(seed), dtype=st.uint64)
        model, expected = words32 if bits == 32 else words64, []
        attempts = [[int(word) for word in model(seed, n, attempt=attempt)] for attempt in range(40)]
        for words in zip(*attempts, strict=True):
            accepted = [word * high >> bits for word in words if word * high % 2**bits >= 2**bits % high]
            expected.append(accepted[0])
        assert x.tolist() == expected
        assert any(word * high % 2**bits < 2**bits % high for word in attempts[0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_are_those_of_box_and_muller(dtype):
    n, seed = 5000, 11
    x = st.randn(n, generator=st.Generator(seed), dtype=dtype_of(dtype)).numpy()
    per_group = 256 if dtype == "float32" else 128
    total = -(-n // per_group) * per_group
    if dtype == "float32":
        unit = (words32(seed, total).astype(float) + 0.5) * 2.0**-32
    else:
        unit = ((words64(seed, total) >> np.uint64(12)).astype(float) + 0.5) * 2.0**-52
    first, second = unit.reshape(-1, 2, per_group // 2).transpose(1, 0, 2)
    length, angle = np.sqrt(-2 * np.log(first)), 2 * np.pi * second
    expected = np.stack([length * np.cos(angle), length * np.sin(angle)], 1).reshape(-1)[:n]
    tolerance = 1e-7 if dtype == "float32" else 1e-14
    np.testing.assert_allclose(x, expected, rtol=tolerance, atol=tolerance)


# One function for each way to draw: of a generator and a tensor to fill.
FILLS = {
    "uniform_": lambda x, g: x.uniform_(-2, 3, generator=g),
    "normal_": lambda x, g: x.normal_(1, 2, generator=g),
    "log_normal_": lambda x, g: x.log_normal_(0, 0.5, generator=g),
    "exponential_": lambda x, g: x.exponential_(2, generator=g),
    "cauchy_": lambda x, g: x.cauchy_(1, 2, generator=g),
    "geometric_": lambda x, g: x.geometric_(0.2, generator=g),
    "bernoulli_": lambda x, g: x.bernoulli_(0.4, generator=g),
    "bernoulli_ of a tensor": lambda x, g: x.bernoulli_(st.linspace(0, 1, x.shape[-1]), generator=g),
    "random_": lambda x, g: x.random_(3, 100, generator=g),
    "random_ without bounds": lambda x, g: x.random_(generator=g),
}
LAYOUTS = {
    "transposed": lambda d: st.zeros(30, 50, 70, dtype=d).permute(2, 0, 1),
    "reversed": lambda d: st.zeros(70, 30, 50, dtype=d).flip(0, 2),
    "stepped": lambda d: st.zeros(140, 30, 151, dtype=d)[::2, :, 1::3],
    "rank 9": lambda d: st.zeros(70, 5, 1, 6, 5, 1, 5, 2, 1, dtype=d).view(70, 30, 50),
}


@pytest.mark.parametrize("name", FILLS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_any_layout_and_number_of_threads_gives_the_same_numbers(name, dtype):
    fill, dtype = FILLS[name], dtype_of(dtype)
    before = st.get_num_threads()
    expected = fill(st.zeros(70, 30, 50, dtype=dtype), st.Generator(3))
    try:
        for threads in (1, 2, 5):
            st.set_num_threads(threads)
            assert fill(st.zeros(70, 30, 50, dtype=dtype), st.Generator(3)).equal(expected), threads
            for layout, make in LAYOUTS.items():
                x = make(dtype)
                assert x.shape == expected.shape, layout
                assert fill(x, st.Generator(3)).equal(expected), (layout, threads)
    finally:
        st.set_num_threads(before)


def test_permutations_and_samples_do_not_depend_on_threads():
    before = st.get_num_threads()
    weights = st.rand(40, 500, generator=st.Generator(1))

    def draw():
        g = st.Generator(2)
        rates = weights * 30
        return (
            st.randperm(300_000, generator=g),
            weights.multinomial(100, generator=g),
            weights.multinomial(3000, replacement=True, generator=g),
            st.poisson(rates, generator=g),
        )

    try:
        st.set_num_threads(1)
        expected = draw()
        st.set_num_threads(4)
        assert all(x.equal(y) for x, y in zip(draw(), expected, strict=True))
    finally:
        st.set_num_threads(before)


def test_an_element_depends_on_its_index_and_not_on_the_size_of_the_draw():
    for dtype in FLOATS:
        whole = st.randn(1000, generator=st.Generator(8), dtype=dtype_of(dtype))
        assert st.randn(300, generator=st.Generator(8), dtype=dtype_of(dtype)).equal(whole[:300]), dtype


@pytest.mark.parametrize("level", st._strided._cpu_levels())
def test_every_instruction_set_gives_the_same_bits(level):
    code = (
        "import strided as st, hashlib, numpy\n"
        "g = st.Generator(5); h = hashlib.sha256()\n"
        "for d in (st.float32, st.float64):\n"
        "    for f in ('uniform_', 'normal_', 'log_normal_', 'exponential_', 'cauchy_'):\n"
        "        h.update(getattr(st.zeros(5000, dtype=d), f)(generator=g).numpy().tobytes())\n"
        "    h.update(st.zeros(5000, dtype=d).geometric_(0.1, generator=g).numpy().tobytes())\n"
        "    h.update(st.poisson(st.rand(5000, generator=g, dtype=d) * 40, generator=g).numpy().tobytes())\n"
        "h.update(st.randint(1000, (5000,), generator=g).numpy().tobytes())\n"
        "h.update(st.randperm(50000, generator=g).numpy().tobytes())\n"
        "h.update(st.rand(900, generator=g).multinomial(300, generator=g).numpy().tobytes())\n"
        "print(h.hexdigest())"
    )
    outputs = []
    for environment in ({"STRIDED_CPU": level}, {"STRIDED_KERNELS": "reference"}, {}):
        run = subprocess.run(
            [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, check=True
        )
        outputs.append(run.stdout)
    assert outputs[0] == outputs[1] == outputs[2] != b""


# The generator


def test_a_generator_has_a_seed():
    assert st.Generator().initial_seed() == st.Generator("cpu").initial_seed() == 67280421310721
    assert st.Generator(device="cpu").initial_seed() == st.Generator(st.device("cpu")).initial_seed()
    assert st.Generator(5).initial_seed() == st.Generator(seed=5).initial_seed() == 5
    assert st.Generator(-1).initial_seed() == 2**64 - 1
    assert st.Generator().manual_seed(np.int64(9)).initial_seed() == 9
    g = st.Generator()
    assert g.manual_seed(4) is g
    assert g.device == st.device("cpu")
    seeds = {g.seed() for _ in range(20)}
    assert len(seeds) == 20 and g.initial_seed() in seeds
    for wrong, error in ((2**64, OverflowError), (1.5, TypeError), ("x", ValueError), ([1], TypeError)):
        with pytest.raises(error):
            st.Generator(wrong)
    with pytest.raises(TypeError, match="manual_seed: seed must be an int, got str"):
        g.manual_seed("1")
    assert st.Generator(device="cuda").device == "cpu"  # the state is on the host, whichever device draws the numbers
    with pytest.raises(ValueError, match="device is 'tpu'"):
        st.Generator(device="tpu")


def test_the_default_generator():
    state = st.get_rng_state()
    try:
        assert st.manual_seed(7) is st.default_generator
        x = st.rand(5)
        assert st.initial_seed() == st.default_generator.initial_seed() == 7
        assert x.equal(st.rand(5, generator=st.Generator(7)))
        assert not st.rand(5).equal(x)
        st.default_generator.manual_seed(7)
        assert st.rand(5).equal(x)
        assert st.seed() == st.initial_seed() != 7
    finally:
        st.set_rng_state(state)


def test_a_new_process_has_another_seed():
    code = "import strided; print(strided.initial_seed())"
    seeds = {subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(seeds) == 2


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_a_copy_goes_on_from_the_same_state(duplicate):
    g = st.Generator(3).split(2)[1]
    st.rand(1000, generator=g)
    h = duplicate(g)
    assert h is not g and h.initial_seed() == g.initial_seed()
    assert st.randn(50, generator=h).equal(st.randn(50, generator=g))
    st.rand(1, generator=g)
    assert not st.randn(50, generator=h).equal(st.randn(50, generator=g))
    default = duplicate(st.default_generator)
    assert default is not st.default_generator
    state = st.get_rng_state()
    st.rand(3, generator=default)
    assert st.get_rng_state().equal(state)


def test_states_are_saved_and_restored():
    g = st.Generator(3)
    st.rand(77, generator=g)
    state = g.get_state()
    assert state.dtype == st.uint8 and state.dim() == 1
    x = st.randn(9, generator=g)
    g.set_state(state)
    assert st.randn(9, generator=g).equal(x)
    spread = st.zeros(64, dtype=st.uint8)[::2]
    spread.copy_(state)
    g.set_state(spread)
    assert st.randn(9, generator=g).equal(x)


def test_wrong_states_are_refused_and_change_nothing():
    g = st.Generator(3)
    state = g.get_state()
    for wrong, error in (
        (state[:-1], st.ShapeError),
        (state.view(2, 16), st.ShapeError),
        (st.zeros(0, dtype=st.uint8), st.ShapeError),
        (state.int(), st.DTypeError),
        (st.zeros(32, dtype=st.uint8), st.ArgumentError),
        (state.numpy(), TypeError),
        (b"123", TypeError),
    ):
        with pytest.raises(error, match="set_state"):
            g.set_state(wrong)
        assert g.get_state().equal(state)
    with pytest.raises(st.ArgumentError, match="set_rng_state: new_state is not a state"):
        st.set_rng_state(st.zeros(32, dtype=st.uint8))
    with pytest.raises(ValueError, match="new_state is 3 bytes"):
        g.__setstate__(b"123")


def test_split_generators_differ():
    g = st.Generator(5)
    several = [*g.split(50), *g.spawn(50), *g.split(1)[0].split(20), g]
    draws = {tuple(st.rand(4, generator=h).tolist()) for h in several}
    assert len(draws) == len(several)
    again = [*st.Generator(5).split(100)]
    assert [h.initial_seed() for h in again] == [h.initial_seed() for h in several[:100]]
    assert g.split(0) == ()
    with pytest.raises(ValueError, match="split: n is -1"):
        g.split(-1)


def test_draws_of_several_threads_never_overlap():
    g = st.Generator(5)
    drawn, sizes = [], [1, 5, 300, 50_000]

    def draw():
        for size in sizes * 3:
            drawn.append(st.zeros(size, dtype=st.uint64).random_(generator=g).tolist())

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = [word for words in drawn for word in words]
    assert len(together) == 4 * 3 * sum(sizes) == len(set(together))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_a_copy_of_the_state():
    code = (
        "import os, strided as st\n"
        "st.manual_seed(3); a, b = os.pipe(); pid = os.fork()\n"
        "x = str(st.rand(3).tolist())\n"
        "if pid == 0: os.write(b, x.encode()); os._exit(0)\n"
        "os.waitpid(pid, 0); print(os.read(a, 1000).decode() == x)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "True"


def test_a_failing_call_draws_nothing():
    g = st.Generator(5)
    state = g.get_state()
    readonly = st.from_numpy(np.frombuffer(b"\0" * 16, dtype=np.float32))
    for call in (
        lambda: st.zeros(3).uniform_(2, 1, generator=g),
        lambda: readonly.normal_(generator=g),
        lambda: st.zeros(1).expand(5).normal_(generator=g),
        lambda: st.rand(3, generator=g, out=st.zeros(4)),
        lambda: st.randperm(3, generator=g, out=st.zeros(4, dtype=st.int64)),
        lambda: st.tensor([0.5, 2.0]).bernoulli(generator=g),
        lambda: st.tensor([0.5]).bernoulli(generator=g, out=st.zeros(4)),
        lambda: st.tensor([0.5]).multinomial(1, generator=g, out=st.zeros(4, dtype=st.int64)),
        lambda: st.tensor([0.5]).multinomial(2, generator=g),
        lambda: st.normal(st.zeros(2), 1.0, generator=g, out=st.zeros(4)),
        lambda: st.poisson(st.tensor([-1.0]), generator=g),
    ):
        with pytest.raises(ValueError):
            call()
        assert g.get_state().equal(state)


# Distributions


def kolmogorov_smirnov(values, cumulative):
    """The largest distance of the empirical distribution from a distribution function, times the root of the number. It is
    above 1.95 for one of 1000 seeds."""
    values = np.sort(np.asarray(values, dtype=float))
    n = len(values)
    expected = np.array([cumulative(value) for value in values])
    above, below = np.arange(1, n + 1) / n - expected, expected - np.arange(n) / n
    return max(above.max(), below.max()) * math.sqrt(n)


def chi_square(counts, probabilities):
    """How many standard deviations the statistic is above its mean, the degrees of freedom."""
    counts, probabilities = np.asarray(counts, dtype=float), np.asarray(probabilities, dtype=float)
    expected = counts.sum() * probabilities / probabilities.sum()
    degrees = len(counts) - 1
    return (((counts - expected) ** 2 / expected).sum() - degrees) / math.sqrt(2 * degrees)


def phi(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


CONTINUOUS = {
    "uniform_": ((-2, 3), lambda x: min(max((x + 2) / 5, 0), 1)),
    "normal_": ((1, 2), lambda x: phi((x - 1) / 2)),
    "log_normal_": ((0.5, 0.7), lambda x: phi((math.log(x) - 0.5) / 0.7)),
    "exponential_": ((1.5,), lambda x: 1 - math.exp(-1.5 * x)),
    "cauchy_": ((1, 2), lambda x: 0.5 + math.atan((x - 1) / 2) / math.pi),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_distributions(name, dtype):
    parameters, cumulative = CONTINUOUS[name]
    for seed in range(3):
        x = getattr(st.zeros(N, dtype=dtype_of(dtype)), name)(*parameters, generator=st.Generator(seed))
        assert kolmogorov_smirnov(x.numpy(), cumulative) < 1.95


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_halves_are_rounded(name, dtype):
    parameters, _ = CONTINUOUS[name]
    wide = getattr(st.zeros(N), name)(*parameters, generator=st.Generator(0))
    half = getattr(st.zeros(N, dtype=dtype_of(dtype)), name)(*parameters, generator=st.Generator(0))
    if name != "uniform_":  # which uses fewer bits
        assert half.equal(wide.to(dtype_of(dtype)))
    assert abs(np.median(numbers(half)) - np.median(wide.numpy())) < 0.05


def test_pairs_of_normal_numbers_are_independent():
    x = st.randn(256 * 400, generator=st.Generator(2)).numpy().reshape(-1, 2, 128)
    first, second = x[:, 0].ravel(), x[:, 1].ravel()
    for f in (lambda v: v, lambda v: v * v, abs):
        assert abs(np.corrcoef(f(first), f(second))[0, 1]) < 4 / math.sqrt(first.size)
    assert abs(np.corrcoef(x.ravel()[:-1], x.ravel()[1:])[0, 1]) < 4 / math.sqrt(x.size)
    assert kolmogorov_smirnov(first[:N] + second[:N], lambda v: phi(v / math.sqrt(2))) < 1.95


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers(dtype):
    z = st.randn(N, dtype=dtype_of(dtype), generator=st.Generator(1)).numpy()
    for part in (z.real, z.imag):
        assert kolmogorov_smirnov(part, lambda x: phi(x * math.sqrt(2))) < 1.95
    z = st.rand(N, dtype=dtype_of(dtype), generator=st.Generator(1)).numpy()
    for part in (z.real, z.imag):
        assert kolmogorov_smirnov(part, lambda x: x) < 1.95
    assert abs(np.corrcoef(z.real, z.imag)[0, 1]) < 0.03


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, "bool"])
def test_integers_have_equal_probabilities(dtype):
    high = 2 if dtype == "bool" else 7
    x = st.randint(high, (N,), dtype=dtype_of(dtype), generator=st.Generator(0))
    assert x.dtype == dtype_of(dtype)
    counts = np.bincount(numbers(x).astype(int), minlength=high)
    assert len(counts) == high and chi_square(counts, np.ones(high)) < 4


@pytest.mark.parametrize("low, high", [(-3, 4), (0, 100_000), (-(2**40), 2**41 + 5), (0, 2**32 - 1), (-5, 3 * 2**30)])
def test_large_ranges_are_uniform(low, high):
    x = st.randint(low, high, (N,), generator=st.Generator(0)).numpy()
    assert x.min() >= low and x.max() < high
    # Randomised within each integer, so that the distribution is continuous.
    x = x + st.rand(N, generator=st.Generator(1), dtype=st.float64).numpy()
    assert kolmogorov_smirnov(x, lambda v: (v - low) / (high - low)) < 1.95


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, "bool"])
def test_random_without_bounds_reaches_the_whole_range(dtype):
    x = numbers(st.zeros(N, dtype=dtype_of(dtype)).random_(generator=st.Generator(0)))
    if dtype in FLOATS:
        last = 2 ** BITS[dtype]
    else:
        last = 1 if dtype == "bool" else np.iinfo(dtype).max
    assert x.min() >= 0 and x.max() <= last
    assert x.max() > 0.99 * last
    shifted = (x.astype(float) + st.rand(N, generator=st.Generator(1), dtype=st.float64).numpy()) / (float(last) + 1)
    assert kolmogorov_smirnov(shifted, lambda v: min(v, 1)) < 1.95


def test_random_takes_one_bound_or_two():
    g = st.Generator(0)
    assert set(st.zeros(200).random_(3, generator=g).tolist()) == {0, 1, 2}
    assert set(st.zeros(200).random_(-1, 2, generator=g).tolist()) == {-1, 0, 1}
    assert set(st.zeros(200, dtype=st.int8).random_(to=2, generator=g).tolist()) == {0, 1}
    assert set(st.zeros(200, dtype=st.int8).random_(**{"from": 5, "to": 7}, generator=g).tolist()) == {5, 6}
    x = st.randint(-128, 128, (5000,), dtype=st.int8, generator=g)
    assert (x.min().item(), x.max().item()) == (-128, 127)
    x = st.randint(2**63, 2**64 - 1, (100,), dtype=st.uint64, generator=g)
    assert x.min().item() >= 2**63


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_upper_bound_is_never_returned(dtype):
    d = dtype_of(dtype)
    x = st.rand(300_000, dtype=d, generator=st.Generator(0))
    largest = 1 - 2.0 ** -BITS[dtype]
    values = numbers(x)
    assert values.min() >= 0 and values.max() <= largest
    if dtype in ("float16", "bfloat16"):
        assert (values.min(), values.max()) == (0, largest)
    for low, high in ((0, 1), (1, 2), (1, 1.01), (-1, 1), (1000, 1001), (3, 3), (-7, -6.9), (0, 1e-7)):
        bounds = numbers(st.tensor([low, high], dtype=d))
        values = numbers(st.zeros(100_000, dtype=d).uniform_(low, high, generator=st.Generator(1)))
        assert values.min() >= bounds[0]
        assert values.max() < bounds[1] or bounds[0] == bounds[1] == values.max()


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, "bool"])
def test_bernoulli(dtype):
    d = dtype_of(dtype)
    for p in (0.0, 0.25, 0.9, 1.0):
        x = numbers(st.zeros(N, dtype=d).bernoulli_(p, generator=st.Generator(2))).astype(int)
        counts = np.bincount(x, minlength=2)
        assert len(counts) == 2
        assert abs(counts[1] - p * N) <= 4 * math.sqrt(N * p * (1 - p))
    p = st.linspace(0, 1, 5).expand(4000, 5)
    x = numbers(st.ones(4000, 5, dtype=d).bernoulli_(p[0], generator=st.Generator(2))).astype(int)
    means = x.mean(0)
    assert means[0] == 0 and means[4] == 1 and abs(means - [0, 0.25, 0.5, 0.75, 1]).max() < 0.04


@pytest.mark.parametrize("dtype", FLOATS)
def test_bernoulli_of_probabilities(dtype):
    p = st.rand(200, 300, generator=st.Generator(1), dtype=dtype_of(dtype))
    x = p.bernoulli(generator=st.Generator(2))
    assert x.dtype == p.dtype and x.shape == p.shape
    assert st.bernoulli(p.t(), generator=st.Generator(2)).shape == (300, 200)
    rows = st.bernoulli(p.t().contiguous().t(), generator=st.Generator(2))
    assert rows.equal(x)
    difference = numbers(x) - numbers(p)
    assert abs(difference.mean()) < 4 * math.sqrt(1 / 6 / p.numel())
    out = st.zeros(200, 300, dtype=dtype_of(dtype))
    assert st.bernoulli(p, generator=st.Generator(2), out=out) is out and out.equal(x)
    assert st.bernoulli(p, generator=st.Generator(2), out=p) is p and p.equal(x)
    y = st.bernoulli(p, 0.5, generator=st.Generator(3))
    assert y.dtype == p.dtype and abs(numbers(y).mean() - 0.5) < 0.02


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_geometric(dtype):
    for p in (0.2, 0.7):
        x = numbers(st.zeros(N, dtype=dtype_of(dtype)).geometric_(p, generator=st.Generator(3))).astype(int)
        assert x.min() == 1
        cells = np.minimum(x, 12)
        probabilities = [p * (1 - p) ** k for k in range(11)] + [(1 - p) ** 11]
        if dtype == "bfloat16" or min(probabilities) * N < 5:
            cells, probabilities = np.minimum(x, 6), [*probabilities[:5], (1 - p) ** 5]
        assert chi_square(np.bincount(cells)[1:], probabilities) < 4
    x = st.zeros(N, dtype=st.int8).geometric_(1e-5, generator=st.Generator(3))
    assert x.max().item() == 127 and x.min().item() >= 1


@pytest.mark.parametrize("rate", [0.0, 0.3, 4.0, 9.99, 10.0, 30.0, 300.0, 1e6])
def test_poisson(rate):
    x = st.poisson(st.full((N,), rate, dtype=st.float64), generator=st.Generator(1)).numpy()
    assert (x == np.floor(x)).all() and x.min() >= 0
    if rate == 0:
        assert x.max() == 0
        return
    assert abs(x.mean() - rate) < 4 * math.sqrt(rate / N)
    assert abs(x.var() / rate - 1) < 4 * math.sqrt((2 + 1 / rate) / N)
    if rate < 1000:
        low, high = max(0, int(rate - 2 * math.sqrt(rate))), int(rate + 2 * math.sqrt(rate)) + 1
        exact = [math.exp(k * math.log(rate) - rate - math.lgamma(k + 1)) for k in range(high + 1)]
        cells = np.clip(x, low, high).astype(int) - low
        probabilities = exact[low:high]
        probabilities[0] += sum(exact[:low])
        probabilities.append(1 - sum(exact[:high]))
        assert chi_square(np.bincount(cells, minlength=high - low + 1), probabilities) < 4


@pytest.mark.parametrize("dtype", FLOATS)
def test_poisson_has_the_dtype_and_shape_of_its_rates(dtype):
    rates = st.tensor([[1.0, 20.0, 0.0], [3.0, 0.0, 60.0]], dtype=dtype_of(dtype))
    x = st.poisson(rates.t(), generator=st.Generator(0))
    assert x.dtype == rates.dtype and x.shape == (3, 2)
    assert x.equal(st.poisson(rates.t().contiguous(), generator=st.Generator(0)))
    assert (x == x.round()).all().item() and x[2, 0].item() == 0 == x[1, 1].item()


@pytest.mark.parametrize("n", [0, 1, 2, 100, 8192, 8193, 500_000])
def test_randperm_is_a_permutation(n):
    x = st.randperm(n, generator=st.Generator(1))
    assert x.dtype == st.int64
    np.testing.assert_array_equal(np.sort(x.numpy()), np.arange(n))
    if n > 2:
        assert not x.equal(st.arange(n)) and not x.equal(st.randperm(n, generator=st.Generator(2)))


def test_all_permutations_have_the_same_probability():
    g = st.Generator(1)
    index = {p: i for i, p in enumerate(permutations(range(4)))}
    counts = np.bincount([index[tuple(st.randperm(4, generator=g).tolist())] for _ in range(24 * 200)])
    assert len(counts) == 24 and chi_square(counts, np.ones(24)) < 4


def test_large_permutations_are_unbiased():
    n = 400_000
    for seed in range(2):
        x = st.randperm(n, generator=st.Generator(seed)).numpy()
        # Where values come from, in a table of places: 64 by 64 cells, each with n / 4096 elements.
        cells = np.bincount((np.arange(n) * 64 // n) * 64 + x * 64 // n, minlength=4096)
        assert chi_square(cells, np.ones(4096)) < 4
        # Neighbours are in either order with the same probability.
        rises = (x[1:] > x[:-1]).sum()
        assert abs(rises - n / 2) < 4 * math.sqrt(n / 12)
        assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 4 / math.sqrt(n)
        assert (x == np.arange(n)).sum() < 10


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_randperm_has_every_dtype(dtype):
    x = st.randperm(100, dtype=dtype_of(dtype), generator=st.Generator(1))
    assert x.dtype == dtype_of(dtype)
    np.testing.assert_array_equal(numbers(x), st.randperm(100, generator=st.Generator(1)).numpy())
    out = st.zeros(200, dtype=dtype_of(dtype))[::2]
    assert st.randperm(100, out=out, generator=st.Generator(1)) is out and out.equal(x)


@pytest.mark.parametrize("dtype", FLOATS)
def test_multinomial_with_replacement(dtype):
    weights = st.tensor([0.0, 1.0, 2.0, 0.0, 5.0, 0.0], dtype=dtype_of(dtype))
    x = weights.multinomial(N, replacement=True, generator=st.Generator(1))
    assert x.dtype == st.int64 and x.shape == (N,)
    counts = np.bincount(x.numpy(), minlength=6)
    assert counts[0] == counts[3] == counts[5] == 0
    assert chi_square(counts[[1, 2, 4]], [1, 2, 5]) < 4
    rows = st.stack([weights, weights.flip(0)]).multinomial(N, True, generator=st.Generator(1))
    assert rows.shape == (2, N)
    assert chi_square(np.bincount(rows[1].numpy(), minlength=6)[[1, 3, 4]], [5, 2, 1]) < 4
    assert not rows[0].equal(5 - rows[1])


def test_multinomial_without_replacement_is_sequential_sampling():
    weights = [1.0, 2.0, 0.0, 4.0]
    table = st.tensor(weights).expand(N, 4)
    x = table.multinomial(2, generator=st.Generator(1)).numpy()
    assert (x[:, 0] != x[:, 1]).all()
    counts, probabilities = [], []
    for a, b in permutations([0, 1, 3], 2):
        counts.append(((x[:, 0] == a) & (x[:, 1] == b)).sum())
        probabilities.append(weights[a] / 7 * weights[b] / (7 - weights[a]))
    assert sum(counts) == N and chi_square(counts, probabilities) < 4
    all_of_them = st.rand(50, 20, generator=st.Generator(2)).multinomial(20, generator=st.Generator(3)).numpy()
    np.testing.assert_array_equal(np.sort(all_of_them, 1), np.tile(np.arange(20), (50, 1)))


def test_multinomial_writes_to_out():
    weights = st.rand(6, 5, generator=st.Generator(0))
    expected = weights.multinomial(3, generator=st.Generator(1))
    for out in (st.zeros(6, 3, dtype=st.int64), st.empty(0, dtype=st.int64), st.zeros(3, 6, dtype=st.int64).t()):
        assert st.multinomial(weights, 3, generator=st.Generator(1), out=out) is out
        assert out.equal(expected)
    assert st.zeros(0, 5).multinomial(3).shape == (0, 3)
    stepped = st.zeros(5, 12).t()[::2].copy_(weights)
    assert stepped.multinomial(3, generator=st.Generator(1)).equal(expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_normal_with_tensors(dtype):
    d = dtype_of(dtype)
    z = st.randn(2, 3, generator=st.Generator(4), dtype=d)
    mean, std = st.tensor([[1.0], [10.0]], dtype=d), st.tensor([0.0, 1.0, 2.0], dtype=d)
    assert st.normal(mean, std, generator=st.Generator(4)).equal(z * std + mean)
    assert st.normal(1.0, std.expand(2, 3), generator=st.Generator(4)).equal(z * std + 1.0)
    assert st.normal(mean.expand(2, 3), generator=st.Generator(4)).equal(z + mean)
    x = st.normal(mean.expand(2, 3), 0.0, generator=st.Generator(4))
    assert x.equal(mean.expand(2, 3)) and x.dtype == d
    out = st.zeros(3, 2, dtype=d).t()
    assert st.normal(mean, std, generator=st.Generator(4), out=out) is out
    assert out.equal(z * std + mean)


def test_normal_with_numbers():
    expected = st.zeros(2, 3).normal_(1, 2, generator=st.Generator(4))
    assert st.normal(1, 2, (2, 3), generator=st.Generator(4)).equal(expected)
    assert st.normal(mean=1.0, std=2.0, size=(2, 3), generator=st.Generator(4)).equal(expected)
    assert st.normal(0.0, 1.0, (3,), dtype=st.float64).dtype == st.float64
    with pytest.raises(TypeError, match="normal: argument 'size' is missing"):
        st.normal(0.0, 1.0)
    with pytest.raises(ValueError, match="normal: size is for two numbers"):
        st.normal(st.zeros(2), 1.0, (2,))


# Forms


@pytest.mark.parametrize("name", ["rand", "randn"])
def test_sizes_dtypes_and_outputs(name):
    function = getattr(st, name)
    expected = function(2, 3, generator=st.Generator(0))
    assert expected.dtype == st.float32 and expected.shape == (2, 3)
    for x in (
        function((2, 3), generator=st.Generator(0)),
        function(size=(2, 3), generator=st.Generator(0)),
        function([2, 3], generator=st.Generator(0), device="cpu", requires_grad=False),
        function(2, 3, generator=st.Generator(0), out=st.zeros(2, 3)),
        function(2, 3, generator=st.Generator(0), out=st.zeros(0)),
        function(2, 3, generator=st.Generator(0), out=st.zeros(3, 2).t()),
        getattr(st, name + "_like")(st.zeros(2, 3), generator=st.Generator(0)),
        getattr(st, name + "_like")(st.zeros(2, 3).int(), generator=st.Generator(0), dtype=st.float32),
    ):
        assert x.equal(expected)
    assert function(()).shape == () and function(0, 4).shape == (0, 4)
    for dtype in [*FLOATS, "complex64", "complex128"]:
        assert function(3, dtype=dtype_of(dtype)).dtype == dtype_of(dtype), dtype
        assert getattr(st, name + "_like")(st.zeros(3, dtype=dtype_of(dtype))).dtype == dtype_of(dtype), dtype
    for dtype in [*INTEGERS, "bool"]:
        with pytest.raises(st.DTypeError, match=f"{name}: dtype is {dtype}, wanted a floating or complex dtype"):
            function(3, dtype=dtype_of(dtype))
    with pytest.raises(ValueError, match="no autograd"):
        function(3, requires_grad=True)
    with pytest.raises(TypeError, match=f"{name}: generator must be a Generator, got int"):
        function(3, generator=5)
    with pytest.raises(st.ShapeError):
        function(2, -1)


def test_forms_of_randint():
    expected = st.randint(0, 9, (4,), generator=st.Generator(0))
    for x in (
        st.randint(9, (4,), generator=st.Generator(0)),
        st.randint(9, size=(4,), generator=st.Generator(0)),
        st.randint(high=9, size=(4,), generator=st.Generator(0)),
        st.randint(low=0, high=9, size=(4,), generator=st.Generator(0)),
        st.randint(9, [4], generator=st.Generator(0), out=st.zeros(8, dtype=st.int64)[::2]),
        st.randint_like(st.zeros(4).long(), 9, generator=st.Generator(0)),
        st.randint_like(st.zeros(4), 0, 9, generator=st.Generator(0), dtype=st.int64),
    ):
        assert x.dtype == st.int64 and x.equal(expected)
    assert st.randint_like(st.zeros(4), 9).dtype == st.float32
    with pytest.raises(TypeError, match="randint: argument 'size' is missing"):
        st.randint(5)
    with pytest.raises(TypeError, match="randint: high must be an int"):
        st.randint("5", (2,))


def test_default_dtype_is_respected():
    st.set_default_dtype(st.float64)
    try:
        assert st.rand(2).dtype == st.randn(2).dtype == st.normal(0.0, 1.0, (2,)).dtype == st.float64
    finally:
        st.set_default_dtype(st.float32)


WRONG = [
    (lambda x: x.uniform_(2, 1), "uniform_: to is 1.0, wanted at least from, which is 2.0"),
    (lambda x: x.uniform_(0, math.inf), "uniform_: to is inf, wanted a finite number"),
    (lambda x: x.uniform_(-3e38, 3e38), "uniform_: to - from is inf, wanted a finite number of the dtype"),
    (lambda x: x.normal_(0, -1), "normal_: std is -1.0, wanted 0 or more"),
    (lambda x: x.normal_(math.nan), "normal_: mean is nan, wanted a finite number"),
    (lambda x: x.log_normal_(0, -1), "log_normal_: std is -1.0, wanted 0 or more"),
    (lambda x: x.exponential_(0), "exponential_: lambd is 0.0, wanted a number above 0"),
    (lambda x: x.cauchy_(0, 0), "cauchy_: sigma is 0.0, wanted a number above 0"),
    (lambda x: x.geometric_(0), "geometric_: p is 0.0, wanted a number between 0 and 1"),
    (lambda x: x.geometric_(1), "geometric_: p is 1.0, wanted a number between 0 and 1"),
    (lambda x: x.bernoulli_(-0.1), "bernoulli_: p is -0.1, wanted a number from 0 to 1"),
    (lambda x: x.bernoulli_(math.nan), "bernoulli_: p is nan, wanted a number from 0 to 1"),
    (lambda x: x.bernoulli_(st.tensor([0.5, 0.5, 1.5])), "bernoulli_: p is a tensor with 1.5, wanted probabilities"),
    (lambda x: x.random_(3, 3), "random_: high is 3, wanted more than low, which is 3"),
    (lambda x: x.random_(0), "random_: high is 0, wanted more than low, which is 0"),
    (lambda x: x.random_(2**25), "random_: high - 1 is 33554431, wanted -16777216 to 16777216"),
    (lambda x: st.randint(4, 4, (3,), out=x), "randint: high is 4, wanted more than low, which is 4"),
    (lambda x: st.randint(256, (3,), dtype=st.int8), "randint: high - 1 is 255, wanted -128 to 127"),
    (lambda x: st.randint(-1, 5, (3,), dtype=st.uint8), "randint: low is -1, wanted 0 to 255"),
    (lambda x: st.normal(st.zeros(3), -1.0, out=x), "normal: std is -1.0, wanted 0 or more"),
    (lambda x: st.normal(0.0, st.tensor([1.0, -2.0, 1.0]), out=x), "normal: std is a tensor with -2.0"),
    (lambda x: st.bernoulli(st.tensor([0.1, -0.1, 0.5]), out=x), "bernoulli: input is a tensor with -0.1"),
    (lambda x: st.poisson(st.tensor([-1.0])), "poisson: input is a tensor with -1.0, wanted finite rates"),
    (lambda x: st.poisson(st.tensor([math.inf])), "poisson: input is a tensor with inf, wanted finite rates"),
    (lambda x: st.tensor([1.0, 2.0]).multinomial(3), "multinomial: num_samples is 3, wanted at most 2"),
    (lambda x: st.tensor([1.0, 0.0]).multinomial(2), "multinomial: num_samples is 2, wanted at most 1"),
    (lambda x: st.tensor([1.0, 2.0]).multinomial(0), "multinomial: num_samples is 0, wanted 1 or more"),
    (
        lambda x: st.tensor([1.0, -2.0]).multinomial(1),
        "multinomial: input is a tensor with -2.0, wanted finite weights",
    ),
    (lambda x: st.tensor([1.0, math.nan]).multinomial(1, True), "multinomial: input is a tensor with nan"),
    (lambda x: st.tensor([[1.0], [0.0]]).multinomial(1, True), "multinomial: input is weights whose sum is 0.0"),
    (lambda x: st.zeros(1, 0).multinomial(1, True), "multinomial: input is weights whose sum is 0.0"),
    (lambda x: st.zeros(2, 2, 2).multinomial(1), "multinomial: got a tensor of rank 3, wanted 1 or 2"),
    (lambda x: st.randperm(-1), "randperm: n is -1, wanted 0 or more"),
    (
        lambda x: st.randperm(300, dtype=st.uint8),
        "randperm: n is 300, wanted no more than the integers that uint8 holds",
    ),
]


@pytest.mark.parametrize("call, message", WRONG)
def test_wrong_arguments_are_refused_and_change_nothing(call, message):
    x = st.tensor([1.5, 2.5, 3.5])
    with pytest.raises(ValueError) as caught:
        call(x)
    assert str(caught.value).startswith(message)
    assert x.tolist() == [1.5, 2.5, 3.5]


@pytest.mark.parametrize(
    "call",
    [
        lambda: st.zeros(2, dtype=st.int64).uniform_(),
        lambda: st.zeros(2, dtype=st.int64).normal_(),
        lambda: st.zeros(2, dtype=st.int64).exponential_(),
        lambda: st.zeros(2, dtype=st.complex64).exponential_(),
        lambda: st.zeros(2, dtype=st.int64).cauchy_(),
        lambda: st.zeros(2, dtype=st.int64).log_normal_(),
        lambda: st.zeros(2, dtype=st.bool).geometric_(0.5),
        lambda: st.zeros(2, dtype=st.complex64).bernoulli_(),
        lambda: st.zeros(2, dtype=st.complex64).bernoulli_(st.tensor([0.5, 0.5])),
        lambda: st.zeros(2, dtype=st.complex64).random_(),
        lambda: st.zeros(2, dtype=st.int64).bernoulli(),
        lambda: st.poisson(st.zeros(2, dtype=st.int64)),
        lambda: st.zeros(2, dtype=st.int64).multinomial(1),
        lambda: st.normal(st.zeros(2, dtype=st.int64), 1.0),
        lambda: st.randperm(3, dtype=st.bool),
        lambda: st.tensor([1.0]).multinomial(1, out=st.zeros(1, dtype=st.bool)),
        lambda: st.rand(2, out=st.zeros(2, dtype=st.int64)),
    ],
)
def test_dtypes_that_make_no_sense_are_refused(call):
    with pytest.raises(st.DTypeError):
        call()


def test_an_output_that_overlaps_itself_is_refused():
    x = st.zeros(3).expand(4, 3)
    for fill in FILLS.values():
        with pytest.raises(ValueError, match="share memory"):
            fill(x, st.Generator(0))
    assert x.tolist() == [[0.0] * 3] * 4


def test_empty_tensors_and_scalars():
    for fill in FILLS.values():
        assert fill(st.zeros(3, 0), st.Generator(0)).shape == (3, 0)
    x = st.zeros(()).uniform_(generator=st.Generator(0))
    assert x.item() == st.rand(1, generator=st.Generator(0)).item()
    assert st.poisson(st.zeros(0)).shape == st.zeros(0).bernoulli().shape == (0,)


def test_huge_sizes_are_refused():
    for call in (
        lambda: st.rand(2**62, 2**62),
        lambda: st.randn(2**61),
        lambda: st.randperm(2**63 - 1),
        lambda: st.randint(5, (2**62,)),
        lambda: st.tensor([1.0]).multinomial(2**62, True),
    ):
        with pytest.raises((ValueError, MemoryError)):
            call()
    with pytest.raises(OverflowError):
        st.randint(2**70, (2,))
    with pytest.raises(OverflowError):
        st.manual_seed(2**64)
