"""Reductions: all names x dtypes x layouts x dims; their bits, outputs, errors, and interruption."""

import math
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as hs
from reduction_models import (
    ALL,
    DIMS,
    EXTREMES,
    MEANS,
    OPS,
    PERMUTED,
    SHAPES,
    assert_near,
    axes_of,
    bits,
    finite,
    moderate,
    of_mean,
    of_sum,
    of_var,
    own_shape,
    tensor_of,
    with_nan,
)
from strategies import COMPLEX, DTYPES, FLOATS, INTS, fresh, memory_of, to_memory, to_values, values_of

import strided as st
from strided.testing import shapes

GOOD = [(op, name) for op, (_, _, complex_too) in OPS.items() for name in DTYPES if complex_too or name not in COMPLEX]
SIZES = (1, 31, 32, 33, 1023, 1024, 1025, 65535, 65536, 65537, 131071, 131072, 131073)


@pytest.fixture
def threads():
    """A test that uses this may change the number of threads; it is restored afterwards."""
    before = st.get_num_threads()
    yield st.set_num_threads
    st.set_num_threads(before)


#: Methods with `keepdim` that sort: `test_sort.py` and `test_select.py` have their tests.
SORTED = {"kthvalue", "median", "mode", "nanmedian", "nanquantile", "quantile"}


def test_every_reduction_is_in_a_table():
    methods = {name: getattr(st.Tensor, name) for owner, name, *_ in st._strided._signatures() if owner == "Tensor"}
    found = {name for name, method in methods.items() if "keepdim" in (getattr(method, "__text_signature__", "") or "")}
    assert found == OPS.keys() | EXTREMES.keys() | MEANS.keys() | SORTED


@pytest.mark.parametrize(("op", "name"), GOOD)
def test_matrix(op, name):
    data, model, _ = OPS[op]
    for layout, shape in SHAPES.items():
        x = tensor_of(layout, data(name, own_shape(layout), 1), name)
        values = values_of(x)
        for dims in DIMS[len(shape)] if layout != PERMUTED else (None, 1, (0, 2)):
            axis = axes_of(values, dims)
            for keep in (False,) if layout == PERMUTED else (False, True):
                wanted = model(values, name, axis, keep)
                got = getattr(x, op)(dim=dims, keepdim=keep)
                assert_near(got, wanted, f"{layout} {dims} {keep}")
                # Into a strided output of the same dtype: the same bits.
                out = st.zeros((*got.shape, 2), dtype=got.dtype)[..., 1]
                assert getattr(st, op)(x, axis=dims, keepdims=keep, out=out) is out, (layout, dims)
                assert bits(out) == bits(got), (layout, dims, keep)
        assert bits(getattr(st, op)(x)) == bits(getattr(x, op)()) == bits(getattr(x, op)(dim=None)), layout


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("name", ["float32", "float64", "int64"])
def test_sizes(op, name):
    data, model, _ = OPS[op]
    for n in SIZES:
        x = fresh(data(name, (n,), n), name)
        assert_near(getattr(x, op)(), model(values_of(x), name, None, False), n)


def test_the_bounds_can_fail():
    """A running sum in float32, a variance by the difference of squares, and a half-precision sum are refused."""
    values = np.full(131_073, 0.1, np.float32)
    running = np.add.accumulate(values)[-1]
    half = np.add.accumulate(values[:3000].astype(np.float16))[-1]
    spread = np.random.default_rng(1).standard_normal(3000).astype(np.float32) + 100
    squares = np.square(spread).mean() - np.square(spread.mean())
    for wrong, model in (
        (running, of_sum(values, "float32", None, False)),
        (running / np.float32(values.size), of_mean(values, "float32", None, False)),
        (half, of_sum(values[:3000].astype(np.float16), "float16", None, False)),
        (squares, of_var(spread, "float32", None, False)),
    ):
        with pytest.raises(AssertionError):
            assert_near(st.from_numpy(np.array(wrong)), model)


LONG = {op: data if op in ("prod", "nansum") else moderate for op, (data, _, _) in OPS.items()}
LONG = {op: data for op, data in LONG.items() if op not in ("any", "std", "nanmean")}  # as all, var, and nansum


@pytest.fixture(scope="module")
def many():
    """Three million values of each kind."""
    return {data: data("float32", (3_000_000,), 1) for data in set(LONG.values())}


@pytest.mark.parametrize("op", LONG)
@pytest.mark.parametrize("shape", [(1_000_000, 3), (3, 1_000_000), (200_000, 5)])
def test_long_and_wide(op, shape, many):
    _, model, _ = OPS[op]
    x = st.from_numpy(many[LONG[op]][: math.prod(shape)].reshape(shape))
    for dim in (0, 1):
        got = getattr(x, op)(dim=dim)
        assert got.shape == (shape[1 - dim],)
        # One long column is enough; of a million short rows a sample is.
        part = x.narrow(1 - dim, 1, min(1 if shape[dim] > 5 else 2000, shape[1 - dim] - 1))
        wanted = model(values_of(part), "float32", dim, False)
        assert_near(got[1 : 1 + wanted[1].size], wanted, dim)
    if shape[1] == 5:
        assert bits(getattr(x, op)(dim=0)) == bits(getattr(x.t().contiguous(), op)(dim=1))


@given(hs.data(), shapes(max_dims=5), hs.sampled_from(list(OPS)))
def test_any_dims_of_any_shape(data, shape, op):
    make, model, _ = OPS[op]
    order = data.draw(hs.permutations(range(len(shape))))
    key = tuple(slice(None, None, data.draw(hs.sampled_from([1, -1, 2]))) for _ in shape)
    array = make("float32", shape, 1).transpose(order)[(*key, ...)]
    x = st.from_numpy(array)
    dims = tuple(data.draw(hs.sets(hs.integers(0, len(shape) - 1), min_size=1))) if shape else None
    keep = data.draw(hs.booleans())
    assert_near(getattr(x, op)(dim=dims, keepdim=keep), model(array, "float32", dims, keep))


@given(hs.data(), hs.lists(hs.sampled_from([1, 2, 3, 5, 17, 33]), min_size=1, max_size=3))
def test_elements_that_share_memory(data, shape):
    """Any strides at all: windows that overlap, steps of 0, backwards."""
    strides = [data.draw(hs.integers(-9, 9)) for _ in shape]
    spans = [stride * (n - 1) for stride, n in zip(strides, shape, strict=True)]
    start = -sum(span for span in spans if span < 0)
    base = np.random.default_rng(1).integers(-9, 9, start + sum(span for span in spans if span > 0) + 1)
    array = np.lib.stride_tricks.as_strided(base[start:], shape, [8 * stride for stride in strides])
    x = st.from_numpy(array)
    dims = tuple(data.draw(hs.sets(hs.integers(0, len(shape) - 1), min_size=1)))
    for op, function in (("sum", np.sum), ("prod", np.prod), ("amax", np.max), ("count_nonzero", np.count_nonzero)):
        assert getattr(x, op)(dim=dims).tolist() == function(array, axis=dims).tolist(), op
    assert x.argmax().item() == array.argmax() and x.argmin(dims[0]).tolist() == array.argmin(axis=dims[0]).tolist()
    assert np.allclose(x.double().var(dims, correction=0).numpy(), array.var(axis=dims), rtol=1e-12, atol=1e-12)


def test_an_empty_tuple_of_dims_reduces_none_for_all_and_any():
    """As in PyTorch and NumPy."""
    x = st.tensor([[1.0, 0.0], [-2.0, 0.0]])
    out = st.ones(2, 2, dtype=st.bool)
    for op in ("all", "any"):
        for keepdim in (False, True):
            assert getattr(x, op)((), keepdim).tolist() == [[True, False], [True, False]]
        assert getattr(st, op)(x, dim=[], out=out) is out and out.tolist() == [[True, False], [True, False]]
        assert getattr(st.tensor(3), op)(dim=()).tolist() is True


def test_an_empty_tuple_of_dims_reduces_all_for_other_reductions():
    x = st.arange(1.0, 7).view(2, 3)
    for op in OPS.keys() - {"all", "any"}:
        assert bits(getattr(x, op)(dim=())) == bits(getattr(x, op)())
        assert getattr(x, op)(dim=(), keepdim=True).shape == (1, 1)


# Bits


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("n", [1, 2, 8, 33, 100])
def test_signs_of_complex_zeros_do_not_depend_on_the_kernel(name, n):
    """Empty lanes must not be merged: 1 times -0 has an imaginary part of 0, and 0 plus -0 is 0."""
    parts = np.random.default_rng(n).choice([-0.0, 0.0, 1.0, -1.0, 2.0], (n, 80))
    x = fresh(parts.view(np.complex128).astype(name), name)
    for op in ("sum", "prod", "logsumexp"):
        whole = getattr(x, op)(0)
        for j in range(0, 40, 7):
            alone = getattr(x[:, j].clone(), op)(0)
            assert bits(alone) == bits(whole[j].clone()), (op, j, alone, whole[j])
    one = st.tensor([complex(INF, 0)], dtype=name)
    assert one.prod().item() == complex(INF, 0)


@pytest.mark.parametrize("op", ALL)
@pytest.mark.parametrize("name", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("n", [1, 3, 8, 31, 33, 100, 1500])
def test_a_view_has_the_bits_of_its_copy(op, name, n):
    run = ALL[op]
    x = fresh(moderate(name, (3 * n,), n), name)
    grid = fresh(moderate(name, (n, 37), n), name)
    for view in (x[1 : n + 1], x[::3], x[::-1], x[::-2], grid[:, 5], grid.t()[3]):
        assert bits(run(view, None)) == bits(run(view.clone(), None)), (view.shape, view.stride())
    whole = run(grid, 0)
    assert bits(run(grid.t().contiguous(), 1)) == bits(whole), "outputs side by side"
    for view in (grid, grid.t(), grid[:, ::2], grid[::-1], grid.t()[::-1], grid[:, :3], grid[:, :16]):
        for dim in (0, 1):
            assert bits(run(view, dim)) == bits(run(view.clone(), dim)), (dim, view.shape, view.stride())
    for j in (0, 15, 16, 36):
        assert bits(run(grid[:, j], 0)) == bits(run(grid[:, j : j + 1], 0)) == bits(whole[j : j + 1])


#: Few and many terms, in rows shorter than a register, of whole registers, and with a tail.
UNEVEN = [(5,), (33,), (3001,), (25, 8), (2500, 8), (1100, 3), (8, 1030), (100, 37), (9, 15), (200, 17), (140, 100)]


@pytest.mark.parametrize("op", ALL)
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_have_the_bits_of_their_float32(op, name):
    """Halves are reduced without a cast pass; casting them first gives the same result."""
    run = ALL[op]
    views = (lambda x: x, lambda x: x[::-1], lambda x: x[1:], lambda x: x[..., ::2], lambda x: x.t())
    for seed, shape in enumerate(UNEVEN):
        values = with_nan if seed % 3 == 0 else moderate
        halves = fresh(values(name, shape, seed), name)
        singles = halves.float()
        for view in views[: 4 + (len(shape) == 2)]:
            for dim in (None, *range(len(shape))):
                got = run(view(halves), dim)
                assert bits(got) == bits(run(view(singles), dim).to(got.dtype)), (shape, dim)


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "int32", "uint8"])
def test_extremes_of_neighbours_keep_the_first_nan_and_the_sign_of_zero(name):
    """Adjacent outputs have the same bits as each computed alone, with and without a NaN among them."""
    for n in (1, 2, 7, 8, 9, 33, 100, 140):
        memory = np.random.default_rng(n).integers(0, 3, (n, 41)).astype(np.float64)
        if name in FLOATS:
            memory = np.where(memory == 0, -0.0, memory - 1)
            memory[n // 2, 3] = memory[n - 1, 3] = memory[0, 40] = np.nan
        x = fresh(to_memory(memory, name), name)
        for op in ("amax", "amin"):
            whole = getattr(x, op)(0)
            for j in range(41):
                assert bits(getattr(x[:, j].clone(), op)(0)) == bits(whole[j].clone()), (op, n, j)


@pytest.mark.parametrize("op", ALL)
def test_the_bits_do_not_depend_on_the_threads(op, threads):
    run = ALL[op]
    x = fresh(moderate("float32", (300_001,), 1), "float32")
    grid = x[:300_000]
    views = [
        (x, None),
        (x[::-1], 0),
        *((grid.view(s), d) for s in ((3, 100_000), (100_000, 3), (600, 500)) for d in (0, 1)),
    ]
    found = []
    for n in (1, 2, 5):
        threads(n)
        found.append([bits(run(view, dim)) for view, dim in views])
    assert found[0] == found[1] == found[2]


#: The reference kernels round exponentials differently.
EXACT = sorted((OPS.keys() | EXTREMES.keys() | MEANS.keys()) - {"logsumexp"})
KERNELS = f"""
import math
import strided as st
x = ((st.arange(200_001, dtype=st.float64) * 0.7310585786).sin() * 7).float()
whole = (x * 1000).long()
half = x.half()
for view in (x[1:], x[::-3], x[:200_000].view(500, 400), x[:200_000].view(400, 500).t(), whole, whole[1:].view(4, -1),
             half[1:], half[:200_000].view(-1, 8), half[:200_000].view(400, 500), half.bfloat16()[:200_000].view(8, -1)):
    for op in {EXACT}:
        for dim in (None, 0, -1):
            found = getattr(view.remainder(1.5) if op == "prod" else view, op)(dim=dim)
            for part in found if isinstance(found, tuple) else [found]:
                print(op, dim, part.reshape(-1)[:5].tolist(), part.double().sum().item())
    for p in (0, 1, 2, math.inf, -math.inf):
        print(p, view.norm(p).item())
    print(view.equal(view.clone()), view.dist(view * 2).item())
"""


def test_the_bits_do_not_depend_on_the_kernels():
    """The reference kernels return the same bits, for any number of threads."""
    found = [
        subprocess.run([sys.executable, "-c", KERNELS], env={**os.environ, **extra}, capture_output=True, check=True)
        for extra in ({}, {"STRIDED_KERNELS": "reference"}, {"STRIDED_NUM_THREADS": "1"})
    ]
    first, *others = [done.stdout.decode().splitlines() for done in found]
    assert len(first) > 300
    for other in others:
        assert [pair for pair in zip(first, other, strict=True) if pair[0] != pair[1]] == []


def test_threads_of_python_at_once():
    x = fresh(moderate("float32", (400, 500), 1), "float32")
    wanted = {op: [bits(run(x, dim)) for dim in (None, 0, 1)] for op, run in ALL.items()}
    wrong = []

    def work(seed):
        names = list(ALL)
        np.random.default_rng(seed).shuffle(names)
        for op in names:
            if [bits(ALL[op](x, dim)) for dim in (None, 0, 1)] != wanted[op]:
                wrong.append(op)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


# Dtypes


@pytest.mark.parametrize("op", ["sum", "nansum", "prod", "mean", "nanmean"])
@pytest.mark.parametrize("target", DTYPES)
def test_dtype(op, target):
    """Elements are cast first, to float32 for halves, then reduced."""
    compute = "float32" if target in ("float16", "bfloat16") else target
    divides = op in ("mean", "nanmean")
    for source in DTYPES:
        x = st.tensor([True, False, True] if source == "bool" else [1, 2, 3, 100, 27, 90], dtype=source)
        ordered = op in ("nansum", "nanmean")
        if ordered and source in COMPLEX:
            with pytest.raises(st.DTypeError, match=f"^{op}: input is {source}"):
                getattr(x, op)(dtype=target)
            continue
        if (divides and (target in INTS or target == "bool")) or (ordered and target in COMPLEX):
            with pytest.raises(st.DTypeError, match=f"^{op}: .*{target}"):
                getattr(x, op)(dtype=target)
            continue
        got = getattr(x, op)(dtype=target)
        assert got.dtype.name == target, source
        wanted = getattr(x.to(getattr(st, compute)), op)(dtype=compute).to(getattr(st, target))
        assert bits(got) == bits(wanted), source


def test_integers_wrap_as_int64_and_uint64():
    for op, values in (("sum", [2**62] * 5), ("prod", [3**20, -(3**21), 7]), ("sum", [-(2**63), -1])):
        exact = sum(values) if op == "sum" else math.prod(values)
        assert getattr(st.tensor(values), op)().item() == (exact + 2**63) % 2**64 - 2**63
    for op, values in (("sum", [2**64 - 1, 5]), ("prod", [2**63 + 1, 3])):
        exact = sum(values) if op == "sum" else math.prod(values)
        got = getattr(st.tensor(values, dtype=st.uint64), op)()
        assert got.dtype is st.uint64 and got.item() == exact % 2**64
    assert st.tensor([200, 100], dtype=st.uint8).prod().item() == 20_000
    assert st.tensor([-128, 100], dtype=st.int8).prod().item() == -12_800
    assert st.tensor([100, 100, 100]).sum(dtype=st.int8).item() == 44
    assert st.tensor([100, 100]).prod(dtype=st.uint8).item() == 16


@pytest.mark.parametrize("name", INTS)
def test_integers_against_python(name):
    x = fresh(finite(name, (13, 7), 4), name)
    rows = x.tolist()
    width = 2**64
    fold = (lambda v: v % width) if name == "uint64" else (lambda v: (v + width // 2) % width - width // 2)
    assert x.sum().item() == fold(sum(map(sum, rows)))
    assert x.sum(1).tolist() == [fold(sum(row)) for row in rows]
    assert x.prod(1).tolist() == [fold(math.prod(row)) for row in rows]
    assert x.prod(0).tolist() == [fold(math.prod(column)) for column in zip(*rows, strict=True)]
    assert x.count_nonzero().item() == sum(v != 0 for row in rows for v in row)
    assert x.all(1).tolist() == [all(row) for row in rows]
    assert x.any(0).tolist() == [any(column) for column in zip(*rows, strict=True)]


def test_sums_and_products_of_truth_values():
    x = st.tensor([[True, False], [True, True]])
    assert x.sum().item() == 3 and x.sum(0).tolist() == [2, 1] and x.sum().dtype is st.int64
    assert x.prod(1).tolist() == [0, 1] and x.prod().dtype is st.int64
    assert x.sum(dtype=st.bool).item() is True and x.prod(dtype=st.bool).item() is False
    assert x.mean().item() == 0.75 and x.mean().dtype is st.float32
    assert st.tensor([0.5, 0.5]).sum(dtype=st.bool).item() is True  # cast first, as PyTorch does
    assert x.all(1).tolist() == [False, True] and x.any().item() is True


def test_the_mean_of_integers_is_the_default_float(default_dtype):
    """PyTorch refuses it; here integers are cast to the default float wherever there is a division."""
    x = st.tensor([1, 2, 4])
    for op in ("mean", "nanmean", "var", "std", "norm", "logsumexp"):
        assert getattr(x, op)().dtype is st.float32
        assert getattr(x > 1, op)().dtype is st.float32
    st.set_default_dtype(st.float64)
    for op in ("mean", "nanmean", "var", "std", "norm", "logsumexp"):
        assert getattr(x, op)().dtype is st.float64
    assert x.mean().item() == 7 / 3
    assert x.mean(dtype=st.float32).item() == np.float32(7) / np.float32(3)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_accumulate_in_float32(name):
    def rounded(value):
        return to_values(to_memory(np.float64(value), name), name).item()

    assert st.ones(60_000, dtype=name).sum().item() == rounded(60_000)
    assert st.full((60_000,), 3.0, dtype=name).mean().item() == 3.0, "the sum alone would be too large for float16"
    assert st.tensor([300.0, 300.0, 2.0**-8, 2.0**-8], dtype=name).prod().item() == rounded(90_000 * 2.0**-16)
    assert st.full((4096,), 2.0**-12, dtype=name).sum().item() == 1.0
    assert st.tensor([300.0, 400.0], dtype=name).norm().item() == 500.0
    assert st.tensor([60_000.0, -60_000.0], dtype=name).std(correction=0).item() == rounded(rounded(60_000))
    assert st.tensor([100.0, 200.0], dtype=name).logsumexp(0).item() == 200.0
    assert st.ones(70_000, dtype=name).norm(0).item() == (math.inf if name == "float16" else rounded(70_000))


# NaN, infinities, zeros, empty reductions


def is_number(got, wanted):
    return (math.isnan(got) and math.isnan(wanted)) or (
        got == wanted and math.copysign(1, got) == math.copysign(1, wanted)
    )


INF, NAN = math.inf, math.nan
#: The results of PyTorch, in the order of the columns.
SPECIAL_OPS = ("sum", "nansum", "prod", "mean", "nanmean", "norm")
SPECIAL = [
    ([1.0, NAN, 7.0, NAN], (NAN, 8.0, NAN, NAN, 4.0, NAN)),
    ([NAN, NAN], (NAN, 0.0, NAN, NAN, NAN, NAN)),
    ([1.0, INF, 7.0], (INF, INF, INF, INF, INF, INF)),
    ([-INF, INF, 7.0], (NAN, NAN, -INF, NAN, NAN, INF)),
    ([INF, 0.0], (INF, INF, NAN, INF, INF, INF)),
    ([-0.0, -0.0], (-0.0, -0.0, 0.0, -0.0, -0.0, 0.0)),
    ([-0.0], (-0.0, -0.0, -0.0, -0.0, -0.0, 0.0)),
    ([-0.0, 0.0], (0.0, 0.0, -0.0, 0.0, 0.0, 0.0)),
    ([], (0.0, 0.0, 1.0, NAN, NAN, 0.0)),
]


@pytest.mark.parametrize(("values", "wanted"), SPECIAL)
@pytest.mark.parametrize("name", FLOATS)
def test_special_values(name, values, wanted):
    x = st.tensor(values, dtype=name)
    for op, result in zip(SPECIAL_OPS, wanted, strict=True):
        assert is_number(getattr(x, op)().item(), result), op
        # Among elements that do not change the result, in lanes and blocks, and as columns.
        neutral = {"sum": -0.0, "nansum": -0.0, "prod": 1.0, "norm": 0.0}.get(op)
        if neutral is not None and values:
            for n in (40, 3000):
                long = st.full((n,), neutral, dtype=name)
                long[n // 2 : n // 2 + len(values)] = x
                assert is_number(getattr(long, op)().item(), result), (op, n)
                columns = long.view(n, 1).expand(n, 20).contiguous()
                assert is_number(getattr(columns, op)(dim=0)[7].item(), result), (op, n)


def test_truth_of_special_values():
    assert st.tensor([NAN]).any().item() is True and st.tensor([NAN, 1.0]).all().item() is True
    assert st.tensor([0.0, -0.0]).any().item() is False
    assert st.tensor([NAN, 0.0, -0.0, 1e-45]).count_nonzero().item() == 2
    assert st.tensor([0j, 1j, complex(0, -0.0), complex(NAN, 0)]).count_nonzero().item() == 2
    assert st.tensor([1j, 1]).all().item() is True and st.tensor([0j]).any().item() is False
    tiny = st.tensor([2.0**-24, 0.0], dtype=st.float16)
    assert tiny.any().item() is True and tiny.count_nonzero().item() == 1


@pytest.mark.parametrize("name", DTYPES)
def test_one_element_decides(name):
    """At every position: in a whole register, in the tail, in a row or in a column."""
    lines = [(n,) for n in (1, 2, 3, 31, 33, 67, 1023, 1025, 70_001)]
    for shape in (*lines, (9, 3), (3, 9), (40, 33), (1030, 5)):
        size = math.prod(shape)
        for position in {0, 1 % size, size // 2, size - 1}:
            array = np.zeros(shape, bool)
            array.flat[position] = True
            few = st.from_numpy(array).to(getattr(st, name))
            most = st.from_numpy(~array).to(getattr(st, name))
            for dim in (None, *range(len(shape))):
                axis = {} if dim is None else {"axis": dim}
                assert few.any(dim=dim).tolist() == array.any(**axis).tolist()
                assert most.all(dim=dim).tolist() == (~array).all(**axis).tolist()
                assert few.count_nonzero(dim=dim).tolist() == array.sum(**axis).tolist()
                assert most.count_nonzero(dim=dim).tolist() == (~array).sum(**axis).tolist()


@pytest.mark.parametrize("name", DTYPES)
def test_empty_reductions(name):
    """The identity, or NaN where 0 is divided by 0."""
    wanted = {"sum": 0, "prod": 1, "all": True, "any": False, "count_nonzero": 0, "mean": NAN, "var": NAN, "std": NAN}
    wanted["norm"] = 0
    if name not in COMPLEX:
        wanted |= {"nansum": 0, "nanmean": NAN, "logsumexp": -INF}
        assert wanted.keys() == OPS.keys()
    for op, identity in wanted.items():
        for shape, dims, result in (((0,), None, ()), ((3, 0), 1, (3,)), ((0, 2), 0, (2,)), ((2, 0, 2), (0, 1), (2,))):
            got = values_of(getattr(st.zeros(shape, dtype=name), op)(dim=dims))
            assert got.shape == result
            assert (np.isnan(got) if identity != identity else got == identity).all(), (op, shape)
        assert getattr(st.zeros(3, 0, dtype=name), op)(dim=0).shape == (0,)
        assert getattr(st.zeros(3, 0, dtype=name), op)(dim=0, keepdim=True).shape == (1, 0)


@pytest.mark.parametrize("name", FLOATS)
def test_nansum_leaves_nan_out_whatever_the_dtype(name):
    """NaN is left out before the cast, which would make it a number; PyTorch returns 3, 3 and False."""
    x = st.tensor([NAN, 1.9, 2.9], dtype=name)
    for target in INTS:
        assert x.nansum(dtype=target).item() == 3, target
    assert st.tensor([NAN, 0.0], dtype=name).nansum(dtype=st.bool).item() is False


# Outputs


@pytest.mark.parametrize("op", OPS)
def test_out_may_be_part_of_the_input(op):
    for part in (lambda x: x[0], lambda x: x[1], lambda x: x[:, 2], lambda x: x.view(-1)[1:5], lambda x: x[2].flip(0)):
        x = fresh(moderate("float32", (4, 4), 1), "float32")
        for dim in (0, 1):
            y = x.clone()
            wanted = getattr(x, op)(dim=dim)
            out = part(y)
            getattr(y, op)(dim=dim, out=out)
            assert bits(out) == bits(wanted.to(st.float32)), dim


@pytest.mark.parametrize("op", OPS)
def test_wrong_out_is_untouched(op):
    x = st.arange(1.0, 7).view(2, 3)
    call = getattr(x, op)
    for out, error, text in (
        (st.full((2,), 7.0), st.ShapeError, "out has shape 2, wanted 3"),
        (st.full((1, 3), 7.0), st.ShapeError, "out has shape 1x3, wanted 3"),
        (st.full((1,), 7.0).expand(3), st.ShapeError, ".*share memory"),
    ):
        with pytest.raises(error, match=f"^{op}: {text}"):
            call(dim=0, out=out)
        assert (memory_of(out) == 7).all()
    if op not in ("all", "any", "count_nonzero"):
        whole = st.full((3,), 7)
        with pytest.raises(st.DTypeError, match=f"^{op}: a float32 result cannot be stored into int64"):
            call(dim=0, out=whole)
        assert whole.tolist() == [7, 7, 7]
    for wrong in ([0.0] * 3, 1.0, (st.zeros(3), st.zeros(3))):
        with pytest.raises(TypeError, match=f"^{op}: out must be a Tensor"):
            call(dim=0, out=wrong)
    # A wider or a narrower output of the same kind takes the result, rounded.
    double, half = st.zeros(3, dtype=st.float64), st.zeros(3, dtype=st.float16)
    wanted = call(dim=0)
    call(dim=0, out=double)
    call(dim=0, out=half)
    assert np.allclose(double.tolist(), wanted.tolist(), rtol=1e-6)
    assert np.allclose(half.tolist(), wanted.tolist(), rtol=1e-3)


# Errors


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize(
    ("dim", "error", "text"),
    [
        (2, IndexError, "dim 2 is outside -2 to 1"),
        (-3, IndexError, "dim -3 is outside -2 to 1"),
        ((0, 5), IndexError, "dim 5"),
        (2**62, IndexError, "dim"),
        ((0, 0), ValueError, "dim 0 is named more than once"),
        ((1, -1), ValueError, "dim 1 is named more than once"),
        ("a", TypeError, "dim must be"),
        (1.0, TypeError, "dim must be"),
        ((0, "a"), TypeError, "dim must be"),
        ((0, None), TypeError, "dim must be"),
    ],
)
def test_wrong_dims(op, dim, error, text):
    out = st.full((3,), 7.0)
    with pytest.raises(error, match=f"^{op}: {text}"):
        getattr(st.zeros(2, 3), op)(dim=dim, out=out)
    assert out.tolist() == [7, 7, 7]
    assert getattr(st.ones(()), op)(dim=(0,), keepdim=True).shape == ()
    with pytest.raises(IndexError, match=f"^{op}: dim 1"):
        getattr(st.ones(()), op)(dim=1)


@pytest.mark.parametrize("op", OPS)
def test_repeated_dims_of_a_tensor_without_dimension(op):
    for dims in ((0, 0), (0, -1)):
        with pytest.raises(ValueError, match=f"^{op}: dim 0 is named more than once"):
            getattr(st.ones(()), op)(dim=dims)


@pytest.mark.parametrize("op", ["nansum", "nanmean"])
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers_that_are_refused(op, name):
    with pytest.raises(st.DTypeError, match=f"^{op}: input is {name}, wanted a real dtype"):
        getattr(st.ones(3, dtype=name), op)()


def test_names_of_the_arguments():
    x = st.arange(1.0, 7).view(2, 3)
    for op in OPS:
        wanted = bits(getattr(x, op)(dim=1, keepdim=True))
        assert bits(getattr(st, op)(x, axis=1, keepdims=True)) == bits(getattr(st, op)(input=x, dim=[1], keepdim=True))
        assert bits(getattr(x, op)(dim=-1, keepdim=True)) == wanted
        with pytest.raises(TypeError, match=f"^{op}"):
            getattr(x, op)(dimension=1)
        with pytest.raises(TypeError, match=f"^{op}"):
            getattr(x, op)(dim=1, axis=1)


# equal


@pytest.mark.parametrize("name", DTYPES)
def test_equal(name):
    for n in (0, 1, 33, 5000):
        x = fresh(finite(name, (n, 3), 1), name)
        assert x.equal(x.clone()) is True and st.equal(x, x.t().contiguous().t()) is True
        for position in (0, -1) if n else ():
            y = x.clone()
            y[position, position] = 0 if x[position, position].item() else 1
            assert x.equal(y) is False and y.equal(x) is False


@pytest.mark.parametrize("shape", [(4_500_000,), (3000, 1500), (3, 1_700_000), (1, 3_200_000)])
def test_equal_of_large_tensors_goes_by_windows(shape):
    x = st.arange(math.prod(shape), dtype=st.int32).reshape(shape)
    copies = [x.clone(), x.t().clone().t() if len(shape) == 2 else x.flip(0).clone().flip(0)]
    for y in copies:
        assert x.equal(y) is True
        for position in (0, 2**21 - 1, 2**21, math.prod(shape) - 1):
            at = np.unravel_index(position, shape)
            y[at] = -1
            assert x.equal(y) is False and y.equal(x) is False
            y[at] = position
    assert st.ones(1).expand(3_000_000).equal(st.ones(3_000_000)) is True
    with pytest.raises(st.DTypeError, match=r"^equal: no dtype"):
        st.ones(3_000_000, dtype=st.uint64).equal(st.ones(3_000_000, dtype=st.int64))


def test_equal_of_dtypes_shapes_and_special_values():
    assert st.tensor([1, 2]).equal(st.tensor([1.0, 2.0])) is True
    assert st.tensor([True]).equal(st.tensor([1])) is True
    assert st.ones(2).equal(st.ones(2, 1)) is False and st.ones(3).equal(st.ones(1)) is False
    assert st.zeros(0).equal(st.zeros(0)) is True and st.zeros(0, 3).equal(st.zeros(3, 0)) is False
    assert st.tensor(1).equal(st.tensor(1)) is True
    assert st.tensor([0.0]).equal(st.tensor([-0.0])) is True
    x = st.tensor([NAN])
    assert x.equal(x) is False
    with pytest.raises(st.DTypeError, match=r"^equal: no dtype holds both uint64 and int64"):
        st.tensor([1], dtype=st.uint64).equal(st.tensor([1]))
    assert st.ones(1).expand(4).equal(st.ones(4)) is True
    for wrong in (1, [1.0], None):
        with pytest.raises(TypeError, match=r"^equal: other must be a Tensor"):
            st.ones(1).equal(wrong)


# Interruption


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    "call",
    [
        "st.ones(1).expand(10**17).sum()",
        "st.ones(1).expand(10**15).mean()",
        "st.ones(1).expand(10**15).argmax()",
        "st.ones(1, 1).expand(10**15, 3).logsumexp(0)",
        "st.ones(16, 1).expand(16, 1 << 46).var(1)",  # many long outputs
        "st.cov(st.ones(4000, 1).expand(4000, 1 << 15))",  # many short jobs
        # These would end after seconds, with a result of more than 500 MB. They write a part of it.
        "st.set_num_threads(1); st.ones(1, dtype=st.half).expand(3 * 10**8).logcumsumexp(0)",  # window by window
        "st.set_num_threads(1); st.ones(64, 1, dtype=st.cfloat).expand(64, 1 << 20).logcumsumexp(1)",  # many long lines
    ],
)
def test_interruption(call):
    """Ctrl-C interrupts the call, and the next call works."""
    code = f"""
import os, re, signal, threading, strided as st
def interrupt():
    while not st._strided._detached_calls():  # until the call runs
        pass
    os.kill(os.getpid(), signal.SIGINT)
def peak():
    try:
        with open("/proc/self/status") as file:
            return int(re.search(r"VmHWM:\\s*(\\d+)", file.read())[1])  # kB
    except FileNotFoundError:
        return 0
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
before = peak()
threading.Thread(target=interrupt, daemon=True).start()
try:
    {call}
    print("finished")
except KeyboardInterrupt:
    if "logcumsumexp" in {call!r}:
        assert peak() - before < 500_000
    print("interrupted", st.ones(10**6).sum().item())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=300)
    assert (done.stdout, done.stderr) == (b"interrupted 1000000.0\n", b"")
