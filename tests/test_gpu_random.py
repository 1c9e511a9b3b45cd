"""Numbers that follow from their position, and random numbers, on devices: the bits of the CPU."""

import pytest
from gpu_devices import needs_gpu

import strided as st

pytestmark = needs_gpu

SIZES = [0, 1, 3, 127, 128, 129, 257, 1000, 20_000]


def same(function):
    """A function of a device has the same bits on a device as on the CPU."""
    expected, result = function("cpu"), function("gpu")
    assert str(result.device) == "gpu:0"
    assert result.dtype == expected.dtype and result.shape == expected.shape
    assert bits(result.cpu()) == bits(expected)


def bits(x):
    return bytes(x.contiguous().reshape(-1).view(st.uint8).tolist()) if x.numel() else b""


def drawn(draw, *, seed=3):
    """Numbers of a draw on both devices, after another draw, and the numbers that the generator gives next."""
    after = []

    def on(device):
        generator = st.Generator().manual_seed(seed)
        st.randn(5, generator=generator)
        result = draw(device, generator)
        after.append(st.rand(3, generator=generator).tolist())
        return result

    same(on)
    assert after[0] == after[1]


def test_ranges():
    for arguments in [(10,), (5, -7, -3), (0, 0), (2**40, 2**40 + 5), (-100, 28)]:
        same(lambda d, a=arguments: st.arange(*a, device=d))
    for dtype in (st.int32, st.uint8, st.int16):
        same(lambda d, t=dtype: st.arange(100, 3, -7, dtype=t, device=d))
    same(lambda d: st.arange(0.1, 50, 0.3, device=d))
    same(lambda d: st.arange(-1, 1, 1e-3, dtype=st.float64, device=d))


def test_evenly_spaced_numbers():
    for arguments in [
        (0, 1, 11),
        (-0.3, 0.3, 10_001),
        (1, 0, 1),
        (5, 5, 3),
        (1e300, -1e308, 9),
        (1e-310, 3e-305, 7),
        (0, 1, 0),
    ]:
        same(lambda d, a=arguments: st.linspace(*a, dtype=st.float64, device=d))
    same(lambda d: st.linspace(-3, 7, 5000, device=d))
    for arguments in [(22, -16, 7), (-3, 3, 7), (-(2**63), 2**63 - 1, 1000), (0, 5, 3)]:
        same(lambda d, a=arguments: st.linspace(*a, dtype=st.int64, device=d))
    same(lambda d: st.linspace(-7, 100, 50, dtype=st.int8, device=d))
    same(lambda d: st.linspace(0, 2**64 - 1, 77, dtype=st.uint64, device=d))


def test_identity_matrices():
    for shape in [(3, 3), (2, 5), (5, 2), (1, 1), (0, 4)]:
        same(lambda d, s=shape: st.eye(*s, device=d))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [st.bool, st.int16, st.float64, st.complex64, st.complex128, st.float16], ids=str)
def test_identity_matrices_of_other_sizes(dtype):
    same(lambda d: st.eye(4, 7, dtype=dtype, device=d))


@pytest.mark.parametrize("n", SIZES)
def test_integers(n):
    for low, high, dtype in [
        (0, 10, st.int64),
        (-5, 3, st.int8),
        (0, 3, st.uint8),
        (-3000, 7000, st.int16),
        (0, (1 << 24) - 1, st.int32),
        (-(2**31), 2**31, st.int32),
        (0, 3_000_000_000, st.int64),
        (0, 2**31 + 1, st.uint32),
        (-(2**63), 2**63, st.int64),
        (0, 2**64 // 3 * 2, st.uint64),
        (0, 2, st.bool),
        (0, 10, st.float32),
    ]:
        drawn(lambda d, g, a=(low, high), t=dtype: st.empty(n, dtype=t, device=d).random_(*a, generator=g))


@pytest.mark.parametrize("n", SIZES)
def test_uniform_and_bernoulli(n):
    drawn(lambda d, g: st.rand(n, generator=g, device=d))
    drawn(lambda d, g: st.rand(n, generator=g, device=d, dtype=st.float64))
    drawn(lambda d, g: st.empty(n, device=d).uniform_(-3, 1e-3, generator=g))
    drawn(lambda d, g: st.empty(n, device=d, dtype=st.float16).uniform_(1, 7, generator=g))
    for p in (0, 0.3, 1):
        drawn(lambda d, g, p=p: st.empty(n, device=d).bernoulli_(p, generator=g))
    drawn(lambda d, g: st.empty(n, device=d, dtype=st.bool).bernoulli_(0.5, generator=g))
    p = st.rand(n)
    drawn(lambda d, g: st.bernoulli(p.to(d), generator=g))


@pytest.mark.parametrize("n", SIZES)
def test_continuous_distributions(n):
    for dtype in (st.float32, st.float64):
        drawn(lambda d, g, t=dtype: st.randn(n, generator=g, device=d, dtype=t))
        drawn(lambda d, g, t=dtype: st.empty(n, device=d, dtype=t).normal_(3, 0.25, generator=g))
        drawn(lambda d, g, t=dtype: st.empty(n, device=d, dtype=t).log_normal_(1, 2, generator=g))
        drawn(lambda d, g, t=dtype: st.empty(n, device=d, dtype=t).exponential_(0.7, generator=g))
        drawn(lambda d, g, t=dtype: st.empty(n, device=d, dtype=t).cauchy_(1, 3, generator=g))
    drawn(lambda d, g: st.randn(n, generator=g, device=d, dtype=st.complex64))


@pytest.mark.parametrize("n", [0, 1, 5, 1000, 50_000])
def test_permutations(n):
    drawn(lambda d, g: st.randperm(n, generator=g, device=d))


def test_any_layout():
    def fill(device, generator, view):
        memory = st.zeros(9, 10, 11, device=device)
        view(memory).normal_(generator=generator)
        view(memory)[..., 0].uniform_(generator=generator)
        return memory

    for view in (
        lambda x: x.permute(2, 0, 1),
        lambda x: x[::2, 1::3],
        lambda x: x[::-1, :, ::-2],
        lambda x: x[3:],
        lambda x: x[:0],
        lambda x: x[4, 4, 4:5],
    ):
        drawn(lambda d, g, view=view: fill(d, g, view))


def test_default_generator():
    def draw(device):
        st.manual_seed(11)
        return st.randint(0, 100, (1000,), device=device)

    same(draw)


def test_refusals():
    x = st.zeros(3, device="gpu")
    generator = st.Generator().manual_seed(1)
    state = generator.get_state().tolist()
    with pytest.raises(ValueError):
        x.uniform_(2, 1, generator=generator)
    with pytest.raises(ValueError):
        st.bernoulli(st.full((3,), -1.0, device="gpu"), generator=generator)
    with pytest.raises(RuntimeError, match="not available on gpu:0"):
        st.poisson(x, generator=generator)
    assert generator.get_state().tolist() == state
