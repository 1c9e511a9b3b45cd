"""sum: shapes, dtypes, accuracy, and bits, which depend on the terms and their order alone."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as hs
from strategies import (
    COMPLEX,
    DTYPES,
    FLOATS,
    INTS,
    LAYOUTS,
    assert_same,
    fresh,
    laid_out,
    memory_of,
    ordinary,
    to_memory,
    to_values,
    values_of,
)

import strided as st
from strided.testing import shapes

SIZES = (1, 2, 31, 32, 33, 63, 64, 65, 1000, 1023, 1024, 1025, 2048, 5000, 100_000, 262_145)


def result_of(name):
    return "int64" if name == "bool" or (name in INTS and name != "uint64") else name


def finite(name, shape, seed=0):
    """Ordinary values without infinities, as memory."""
    memory = ordinary(name, shape, seed)
    if name in FLOATS:
        values = to_values(memory, name)
        return to_memory(np.where(np.isfinite(values), values, 1), name)
    return memory


def exact(values, name, axis=None, keepdims=False):
    """The sum of whole numbers in the result's dtype."""
    return values.astype(result_of(name)).sum(axis=axis, keepdims=keepdims, dtype=result_of(name))


def assert_accurate(got, values, name, axis, keepdims=False):
    """Within the bound of a pairwise sum with 32 lanes, plus one rounding into the result's dtype."""
    wide = np.complex128 if name in COMPLEX else np.float64
    wanted = values.astype(wide).sum(axis=axis, keepdims=keepdims)
    size = np.abs(values.astype(wide)).sum(axis=axis, keepdims=keepdims)
    count = max(values.size // max(wanted.size, 1), 1)
    steps = 40 + math.log2(count)
    compute = {"float16": 2.0**-24, "bfloat16": 2.0**-24, "float32": 2.0**-24, "complex64": 2.0**-24}.get(
        name, 2.0**-53
    )
    result = {"float16": 2.0**-11, "bfloat16": 2.0**-8}.get(name, 0)
    tiny = 2.0**-24 if name == "float16" else 0
    assert got.shape == wanted.shape
    overflows = ~np.isfinite(to_values(to_memory(wanted, name), name))
    assert (overflows == ~np.isfinite(got)).all()
    got, wanted = np.where(overflows, 0, got), np.where(overflows, 0, wanted)
    assert (np.abs(got.astype(wide) - wanted) <= steps * compute * size + result * np.abs(wanted) + tiny).all()


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_all_elements(name, layout):
    shape = LAYOUTS[layout][0]
    own = (1, shape[1]) if layout == "stride 0" else shape
    x = laid_out(layout, finite(name, own, 1), name)
    values = values_of(x)
    total = x.sum()
    assert total.shape == () and total.dtype.name == result_of(name)
    if name in INTS or name == "bool":
        assert total.item() == int(exact(values, name))
    else:
        assert_accurate(values_of(total), values, name, None)
    assert st.sum(x).item() == total.item()


@pytest.mark.parametrize("name", DTYPES)
def test_dims(name):
    for layout in ("dense", "column-major", "rank 9", "negative", "size 0"):
        shape = LAYOUTS[layout][0]
        x = laid_out(layout, finite(name, shape, 1), name)
        values = values_of(x)
        rank = len(shape)
        for dims in (0, -1, (0,), (rank - 1, 0), tuple(range(rank)), (-rank,)):
            for keep in (False, True):
                got = x.sum(dims, keepdim=keep)
                assert tuple(got.shape) == values.sum(axis=dims, keepdims=keep).shape, (layout, dims)
                if name in INTS or name == "bool":
                    assert got.tolist() == exact(values, name, dims, keep).tolist(), (layout, dims)
                else:
                    assert_accurate(values_of(got), values, name, dims, keep)


@given(hs.data(), shapes(max_dims=5))
def test_any_dims_of_any_shape(data, shape):
    a = np.random.default_rng(1).integers(-100, 100, shape)
    order = data.draw(hs.permutations(range(len(shape))))
    key = tuple(slice(None, None, data.draw(hs.sampled_from([1, -1]))) for _ in shape)
    a = a.transpose(order)[(*key, ...)]
    x = st.from_numpy(a)
    dims = data.draw(hs.sets(hs.integers(0, len(shape) - 1), min_size=1)) if shape else set()
    keep = data.draw(hs.booleans())
    if dims:
        assert x.sum(tuple(dims), keep).tolist() == a.sum(axis=tuple(dims), keepdims=keep).tolist()
    assert x.sum(keepdim=keep).tolist() == a.sum(keepdims=keep).tolist()


def test_dims_of_one_element():
    x = st.arange(6.0)
    assert x.view(1, 6).sum(0).tolist() == x.tolist()
    assert x.view(6, 1).sum(1).tolist() == x.tolist()
    assert x.view(2, 1, 3).sum(1, True).tolist() == x.view(2, 1, 3).tolist()
    assert x.view(1, 6).sum((0,), dtype=st.int32).tolist() == [0, 1, 2, 3, 4, 5]
    assert x[:1].sum(0).item() == 0 and x[1:2].sum().item() == 1
    assert x.view(1, 1, 6)[:, :, :1].sum((0, 1)).tolist() == [0]


def test_names_of_the_arguments():
    x = st.arange(6).view(2, 3)
    assert x.sum(dim=1).tolist() == x.sum(axis=1).tolist() == x.sum([1]).tolist() == st.sum(x, 1).tolist() == [3, 12]
    assert (
        x.sum(1, True).tolist()
        == x.sum(1, keepdims=True).tolist()
        == st.sum(x, dim=1, keepdim=True).tolist()
        == [[3], [12]]
    )
    assert x.sum(dim=None).item() == 15
    assert x.sum(0, dtype="float32").dtype is st.float32
    assert st.tensor(7).sum(0).item() == st.tensor(7).sum(-1).item() == 7
    assert x.sum(dim=None, keepdim=True).shape == (1, 1)


@pytest.mark.parametrize("name", DTYPES)
def test_an_empty_sum_is_zero(name):
    for shape, dims, wanted in (
        ((0,), None, 0),
        ((3, 0), 1, [0, 0, 0]),
        ((3, 0), 0, []),
        ((0, 2), 0, [0, 0]),
        ((2, 0, 2), (0, 1), [0, 0]),
    ):
        got = st.zeros(shape, dtype=name).sum(dims)
        assert got.tolist() == wanted and got.dtype.name == result_of(name)
        if name in FLOATS:
            assert not np.signbit(values_of(got)).any()


@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.parametrize("source", DTYPES)
def test_dtype(source, target):
    """Elements are cast first, then summed in that dtype (halves as float32)."""
    values = [1, 0, 1, 1, 0] if source == "bool" else [1, 2, 3, 100, 27] * 3
    x = st.tensor(values, dtype=source)
    got = x.sum(dtype=target)
    assert got.dtype.name == target
    if target == "bool":
        assert got.item() is True
    else:
        wanted = sum(values)
        if target in INTS:
            width = 8 * np.dtype(target).itemsize
            wanted = (
                (wanted + 2 ** (width - 1)) % 2**width - 2 ** (width - 1)
                if target.startswith("i")
                else wanted % 2**width
            )
        assert got.item() == (
            to_values(to_memory(np.float64(wanted), target), target).item() if target in FLOATS else wanted
        )


def test_small_integers_do_not_overflow():
    assert st.full((1000,), 255, dtype=st.uint8).sum().item() == 255_000
    assert st.full((1000,), -128, dtype=st.int8).sum().item() == -128_000
    assert st.ones(100_000, dtype=st.bool).sum().item() == 100_000
    assert st.full((3,), 2**32 - 1, dtype=st.uint32).sum().item() == 3 * (2**32 - 1)
    assert st.full((2,), 2**63, dtype=st.uint64).sum().item() == 0, "uint64 wraps in its own dtype"
    assert st.full((2,), 2**62).sum().item() == -(2**63), "int64 wraps"


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_are_summed_as_float32(name):
    x = st.ones(60_000, dtype=name)
    wanted = to_values(to_memory(np.float32(60_000), name), name).item()
    assert x.sum().item() == wanted
    assert x.view(300, 200).sum(0).tolist() == [300.0] * 200
    small = st.full((4096,), 2.0**-12, dtype=name)
    assert small.sum().item() == 1.0
    big = st.tensor([60000.0, 60000.0, -60000.0, -60000.0], dtype=name)
    assert big.sum().item() == 0.0


def test_out():
    x = st.arange(6.0).view(2, 3)
    out = st.zeros(3)
    assert st.sum(x, 0, out=out) is out and out.tolist() == [3, 5, 7]
    assert x.sum(0, out=st.zeros(6)[::2]).tolist() == [3, 5, 7]
    double = st.zeros(3, dtype=st.float64)
    x.sum(0, out=double)
    assert double.tolist() == [3, 5, 7]
    kept = st.zeros(1, 3)
    x.sum(0, True, out=kept)
    assert kept.tolist() == [[3, 5, 7]]
    x.sum(0, out=x[1])  # the output overlaps the input
    assert x.tolist() == [[0, 1, 2], [3, 5, 7]]
    with pytest.raises(st.ShapeError, match=r"^sum: out has shape 2, wanted 3"):
        x.sum(0, out=st.zeros(2))
    with pytest.raises(st.DTypeError, match=r"^sum: .*float32.*int64"):
        x.sum(0, out=st.zeros(3, dtype=st.int64))
    with pytest.raises(st.ShapeError, match=r"^sum: .*share memory"):
        x.sum(0, out=st.zeros(1).expand(3))
    with pytest.raises(TypeError, match=r"^sum: out must be a Tensor"):
        x.sum(0, out=[0, 0, 0])


@pytest.mark.parametrize("name", [*FLOATS, *COMPLEX])
@pytest.mark.parametrize("n", SIZES)
def test_accuracy(name, n):
    random = np.random.default_rng(n)
    values = random.standard_normal(n).astype(np.float32)
    if name in COMPLEX:
        values = values + 1j * random.standard_normal(n)
    memory = to_memory(values, name)
    assert_accurate(values_of(fresh(memory, name).sum()), to_values(memory, name), name, None)


@pytest.mark.parametrize("n", SIZES)
def test_accuracy_against_fsum(n):
    values = np.random.default_rng(n).standard_normal(n) * 2.0 ** np.random.default_rng(n + 1).integers(-40, 40, n)
    got = st.from_numpy(values).sum().item()
    wanted = math.fsum(values)
    assert abs(got - wanted) <= (40 + math.log2(n)) * 2.0**-53 * math.fsum(abs(values))


def bits(x):
    return memory_of(x).tobytes()


@pytest.mark.parametrize("name", [*FLOATS, *COMPLEX])
@pytest.mark.parametrize("n", SIZES[:-2])
def test_a_view_has_the_bits_of_its_copy(name, n):
    x = fresh(finite(name, (3 * n,), n), name)
    grid = fresh(finite(name, (4, n), n), name)
    for view in (
        x[:n],
        x[::3],
        x[1::2],
        x[::-1],
        x[::-2],
        x[5:],
        grid[1],
        grid.t()[:, 2],
        grid[:, : n // 2],
        grid[::-1, ::-1],
    ):
        assert bits(view.sum()) == bits(view.contiguous().clone().sum()), (view.shape, view.stride())
    for dim in (0, 1):
        for view in (grid, grid.t(), grid[:, ::2], grid[::-1], grid.t()[::-1]):
            assert bits(view.sum(dim)) == bits(view.clone().sum(dim)), (dim, view.shape, view.stride())


@pytest.mark.parametrize("n", SIZES[:-2])
def test_one_column_has_the_bits_of_the_whole(n):
    """A sum along a dim has the bits of the sum of each line alone."""
    grid = fresh(finite("float32", (n, 37), n), "float32")
    whole = grid.sum(0)
    for j in (0, 1, 31, 32, 36):
        assert bits(grid[:, j].sum()) == bits(whole[j].clone())
    rows = grid.t().contiguous().sum(1)
    assert bits(rows) == bits(whole)
    for width in (1, 2, 31, 32, 33):
        assert bits(grid[:, :width].sum(0)) == bits(whole[:width])


def lanes_in_halves(terms):
    """The documented sum of at most 1024 terms: in 32 lanes, which are then merged pairwise."""
    lanes = np.full(32, -0.0, terms.dtype)
    for j, term in enumerate(terms):
        lanes[j % 32] += term
    while lanes.size > 1:
        lanes = lanes[: lanes.size // 2] + lanes[lanes.size // 2 :]
    return lanes[0]


@pytest.mark.parametrize("name", ["float32", "float64"])
@pytest.mark.parametrize("n", [*range(1, 70), 95, 100, 127, 500, 1000, 1023, 1024])
def test_lines_of_any_length(name, n):
    terms = np.random.default_rng(n).standard_normal((5, n)).astype(name)
    x = fresh(terms, name)
    wanted = np.array([lanes_in_halves(line) for line in terms])
    for sums in (x.sum(1), x.t().contiguous().sum(0), x[:, ::-1].contiguous()[:, ::-1].sum(1)):
        assert bits(sums) == wanted.tobytes()
    if name == "float32":
        assert bits(x.half().sum(1, dtype=st.float32)) == bits(x.half().float().sum(1))
    assert bits(x.amax(1)) == terms.max(1).tobytes()


def test_several_dims_have_the_bits_of_one():
    x = fresh(finite("float32", (7, 40, 50), 3), "float32")
    assert bits(x.sum((1, 2))) == bits(x.view(7, 2000).sum(1))
    assert bits(x.sum()) == bits(x.view(-1).sum())
    assert bits(x.sum((0, 1))) == bits(x.view(280, 50).sum(0))


def test_the_bits_do_not_depend_on_the_kernels():
    """The reference kernels return the same bits, for any number of threads."""
    code = (
        "import strided as st\n"
        "x = (st.arange(300_001, dtype=st.float64) * 0.7310585786).float()\n"
        "print(x.sum().view(st.int32).item(), x[::-3].sum().view(st.int32).item(), x[:300_000].view(300, 1000).sum(0).sum().view(st.int32).item())"
    )
    found = set()
    for extra in ({}, {"STRIDED_KERNELS": "reference"}, {"STRIDED_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "1"}):
        done = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, **extra}, capture_output=True, text=True, check=True
        )
        found.add(done.stdout)
    assert len(found) == 1, found


def test_signs_of_zero():
    assert math.copysign(1, st.tensor([-0.0, -0.0]).sum().item()) == -1
    assert math.copysign(1, st.tensor([-0.0, 0.0]).sum().item()) == 1
    assert math.copysign(1, st.tensor([-0.0]).sum().item()) == -1
    assert math.copysign(1, st.full((100,), -0.0).sum().item()) == -1
    assert math.copysign(1, st.full((2000, 3), -0.0).sum(0)[1].item()) == -1
    assert math.copysign(1, st.zeros(0).sum().item()) == 1


@pytest.mark.parametrize("name", FLOATS)
def test_infinities_and_nan(name):
    inf, nan = math.inf, math.nan
    for values, wanted in (
        ([1, inf], inf),
        ([1, -inf, 2], -inf),
        ([inf, -inf], nan),
        ([nan, 1], nan),
        ([inf, nan], nan),
    ):
        got = st.tensor(values, dtype=name).sum().item()
        assert got == wanted or (math.isnan(got) and math.isnan(wanted))
        for n in (40, 2000):
            x = st.ones(n, dtype=name)
            x[n // 2 : n // 2 + len(values)] = st.tensor(values)
            got = x.sum().item()
            assert got == wanted or (math.isnan(got) and math.isnan(wanted))


#: NaN of each dtype: quiet, positive, without a payload.
ONE_NAN = {"float16": 0x7E00, "bfloat16": 0x7FC0, "float32": 0x7FC00000, "float64": 0x7FF8 << 48}


@pytest.mark.parametrize("name", [*FLOATS, *COMPLEX])
@pytest.mark.parametrize("shape", [(5,), (40,), (3, 2), (2, 3), (70, 70), (1100, 3), (3, 1100)])
def test_one_nan_is_the_result_of_all(name, shape):
    """Which of two NaNs an addition returns depends on the instruction; results do not."""
    part = {"complex64": "float32", "complex128": "float64"}.get(name, name)
    one, ones = ONE_NAN[part], to_memory(np.ones(1), part)
    unsigned = f"uint{8 * ones.itemsize}"
    sign = 1 << (8 * ones.itemsize - 1)
    random = np.random.default_rng(len(shape))
    shape = (*shape[:-1], shape[-1] * (1 + (name in COMPLEX)))
    marks = random.choice(np.array([one | 1, one | 5 | sign, one | sign, one], unsigned), shape)
    nans = st.from_numpy(np.where(random.random(shape) < 0.6, marks, ones.view(unsigned))).view(name)
    infinities = fresh(to_memory(random.choice([np.inf, -np.inf], shape), part), part).view(name)
    for op in ("sum", "mean", "prod", "norm", "var", "std", "logsumexp", "nansum"):
        if op == "nansum" and name in COMPLEX:
            continue
        seen = 0
        for x in (nans, nans.flip(0), nans.flip(0).clone(), nans.t().contiguous(), nans.t(), infinities):
            for dim in [None, *range(x.dim())]:
                got = np.frombuffer(memory_of(getattr(x, op)(dim=dim).contiguous()).tobytes(), unsigned)
                found = got[np.isnan(to_values(got if part == "bfloat16" else got.view(part), part))]
                assert (found == one).all(), (op, dim, set(found.tolist()))
                seen += len(found)
        assert seen


@pytest.mark.parametrize(
    ("args", "error", "text"),
    [
        ((2,), IndexError, "dim 2 is outside -2 to 1"),
        ((-3,), IndexError, "dim -3 is outside -2 to 1"),
        (((0, 5),), IndexError, "dim 5"),
        (((0, 0),), ValueError, "dim 0 is named more than once"),
        (((0, -2),), ValueError, "dim 0 is named more than once"),
        (("a",), TypeError, "dim must be"),
        ((1.0,), TypeError, "dim must be"),
    ],
)
def test_wrong_dims(args, error, text):
    with pytest.raises(error, match=f"^sum: {text}"):
        st.zeros(2, 3).sum(*args)


def test_the_sum_of_a_large_tensor():
    n = 3_000_001
    x = st.arange(n)
    assert x.sum().item() == n * (n - 1) // 2
    assert x.float().double().sum().item() == float(n * (n - 1) // 2)
    assert_same(x[: n - 1].view(3, 1_000_000).sum(1), np.arange(n - 1).reshape(3, -1).sum(1), "int64")
