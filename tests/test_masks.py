"""Functions of masks: `masked_*`, `nonzero`, `argwhere` and `where` with one argument, compared with plain definitions.

Random calls of each are in test_gather_scatter.py.
"""

import indexing_models as models
import numpy as np
import pytest
from strategies import DTYPES, LAYOUTS, assert_same, fresh, laid_out, memory_of, ordinary, random_memory, values_of

import strided as st


def own_shape(layout):
    shape = LAYOUTS[layout][0]
    return (1, shape[1]) if layout == "stride 0" else shape


def masks_for(shape, seed=0):
    """Masks that broadcast to a shape: bool and uint8, dense and not, with none, some and all elements true."""
    random = np.random.default_rng(seed)
    for share in (0.0, 0.4, 1.0):
        mask = random.random(shape) < share
        yield st.tensor(mask)
        yield st.tensor(mask).to(st.uint8) * 3
    yield laid_out("step 2", mask, "bool") if shape == LAYOUTS["step 2"][0] else st.tensor(mask)
    for dim in range(len(shape)):
        yield st.tensor(random.random(shape[dim:]) < 0.5)
        yield st.tensor(random.random((*shape[:dim], 1, *shape[dim + 1 :])) < 0.5)
    yield st.tensor(True)
    yield st.tensor(False)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_masked_select_in_every_dtype_and_layout(name, layout):
    x = laid_out(layout, random_memory(name, own_shape(layout), 1), name)
    a = memory_of(x).copy()
    for mask in masks_for(a.shape):
        wanted = np.broadcast_to(a, np.broadcast_shapes(a.shape, tuple(mask.shape)))
        wanted = wanted[np.broadcast_to(values_of(mask) != 0, wanted.shape)]
        out = st.empty(0, dtype=x.dtype)
        assert st.masked_select(x, mask, out=out) is out
        for got in (st.masked_select(x, mask), x.masked_select(mask), out):
            assert got.dtype is x.dtype and tuple(got.shape) == wanted.shape
            assert memory_of(got).tobytes() == wanted.tobytes()


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_masked_fill_and_masked_scatter_in_every_dtype_and_layout(name, layout):
    shape = LAYOUTS[layout][0]
    x = laid_out(layout, random_memory(name, own_shape(layout), 1), name)
    a = memory_of(x).copy()
    one = memory_of(st.ones((), dtype=name)).item()
    source = random_memory(name, (a.size + 3,), 2)
    for mask in masks_for(shape):
        m = np.broadcast_to(values_of(mask) != 0, shape)
        filled = np.where(m, np.asarray(one, a.dtype), a)
        placed = a.copy()
        placed[m] = source[: np.count_nonzero(m)]
        for value in (1, True, st.ones((), dtype=name)):
            for got in (st.masked_fill(x, mask, value), x.masked_fill(mask, value)):
                assert memory_of(got).tobytes() == filled.tobytes()
        src = fresh(source, name)
        for function in ("masked_scatter", "masked_copy"):
            for got in (getattr(st, function)(x, mask, src), getattr(x, function)(mask, src)):
                assert memory_of(got).tobytes() == placed.tobytes()
        if layout == "stride 0":
            continue
        y = laid_out(layout, a, name)
        assert y.masked_fill_(mask, 1) is y
        assert memory_of(y).tobytes() == filled.tobytes()
        for function in ("masked_scatter_", "masked_copy_"):
            y = laid_out(layout, a, name)
            assert getattr(y, function)(mask, src) is y
            assert memory_of(y).tobytes() == placed.tobytes()


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_nonzero_in_every_dtype_and_layout(name, layout):
    """NaN and both parts of a complex number count, -0.0 does not."""
    memory = ordinary(name, own_shape(layout), 1)
    if name in ("complex64", "complex128"):
        memory = memory.copy()
        memory.real[memory.real % 3 == 0] = 0
        memory.imag[memory.imag % 2 == 0] = -0.0
    x = laid_out(layout, memory, name)
    a = values_of(x).copy()
    wanted = np.argwhere(a)
    assert wanted.tolist() == models.nonzero(a).tolist()
    for got in (st.nonzero(x), x.nonzero(), st.argwhere(x), x.argwhere(), st.nonzero(x, as_tuple=False)):
        assert_same(got, wanted, "int64")
        assert tuple(got.shape) == (len(wanted), a.ndim)
    out = st.empty(0, dtype=st.int64)
    assert st.nonzero(x, out=out) is out
    assert_same(out, wanted, "int64")
    columns = models.nonzero(a, as_tuple=True)
    for got in (st.nonzero(x, as_tuple=True), x.nonzero(as_tuple=True), st.where(x)):
        assert isinstance(got, tuple) and len(got) == len(columns) == max(a.ndim, 1)
        for one, column in zip(got, columns, strict=True):
            assert_same(one, column, "int64")
    if a.ndim:
        assert memory_of(x[st.where(x)]).tobytes() == memory_of(x)[np.nonzero(a)].tobytes()


def test_nonzero_of_rank_0():
    assert tuple(st.tensor(3).nonzero().shape) == (1, 0)
    assert tuple(st.tensor(0).nonzero().shape) == (0, 0)
    assert [found.tolist() for found in st.tensor(3).nonzero(as_tuple=True)] == [[0]]
    assert [found.tolist() for found in st.where(st.tensor(0.0))] == [[]]
    assert tuple(st.argwhere(st.tensor(1.0)).shape) == (1, 0)
    assert tuple(st.zeros(0, 3).nonzero().shape) == (0, 2)
    assert [tuple(found.shape) for found in st.where(st.zeros(3, 0))] == [(0,), (0,)]


@pytest.mark.parametrize("n", [1, 63, 64, 65, 4095, 4097, 100_003])
def test_long_masks(n):
    """Lengths around those of vector registers and of the parts of threads; the same for every number of threads."""
    random = np.random.default_rng(n)
    before = st.get_num_threads()
    for share in (0.0, 0.001, 0.5, 0.999, 1.0):
        mask = random.random(n) < share
        values = random.standard_normal(n).astype(np.float32)
        m, x = st.from_numpy(mask), st.from_numpy(values)
        for threads in (1, 2, 7):
            st.set_num_threads(threads)
            try:
                assert (values_of(x.masked_select(m)) == values[mask]).all()
                assert x.masked_select(m).size == np.count_nonzero(mask)
                assert (values_of(m.nonzero()[:, 0]) == np.flatnonzero(mask)).all()
                assert values_of(m.nonzero()).shape == (np.count_nonzero(mask), 1)
                assert (values_of(x.masked_fill(m, 5)) == np.where(mask, 5, values)).all()
                wanted = np.zeros(n, np.float32)
                wanted[mask] = values[: np.count_nonzero(mask)]
                assert (values_of(st.zeros(n).masked_scatter_(m, x)) == wanted).all()
            finally:
                st.set_num_threads(before)


def test_masked_functions_broadcast():
    x = st.tensor([1.0, 2.0, 3.0])
    column = st.tensor([[True], [False]])
    assert x.masked_select(column).tolist() == [1, 2, 3]
    assert x.masked_fill(column, 0).tolist() == [[0, 0, 0], [1, 2, 3]]
    assert x.masked_scatter(column, st.tensor([7.0, 8.0, 9.0])).tolist() == [[7, 8, 9], [1, 2, 3]]
    for call in (
        lambda: x.masked_fill_(column, 0),
        lambda: x.masked_scatter_(column, st.ones(3)),
        lambda: x.masked_fill_(st.ones(2, dtype=st.bool), 0),
        lambda: x.masked_fill(st.ones(2, dtype=st.bool), 0),
        lambda: x.masked_select(st.ones(4, dtype=st.bool)),
        lambda: x.masked_scatter(st.ones(2, dtype=st.bool), st.ones(3)),
    ):
        with pytest.raises(ValueError, match="mask"):
            call()
    assert x.tolist() == [1, 2, 3]


def test_a_source_with_too_few_elements_is_refused():
    x = st.zeros(4)
    mask = st.tensor([True, True, False, True])
    for call in (x.masked_scatter_, x.masked_copy_, x.masked_scatter):
        with pytest.raises((ValueError, RuntimeError), match="source") as caught:
            call(mask, st.ones(2))
        assert "2" in str(caught.value) and "3" in str(caught.value)
    assert x.tolist() == [0, 0, 0, 0]
    assert x.masked_scatter_(mask, st.arange(1.0, 9.0).view(2, 4)).tolist() == [1, 2, 0, 3]


@pytest.mark.parametrize("dtype", ["float32", "int64", "int8", "complex64"])
def test_masks_of_other_dtypes_are_refused(dtype):
    x, mask = st.zeros(2), st.ones(2, dtype=dtype)
    for call in (
        lambda: x.masked_select(mask),
        lambda: x.masked_fill(mask, 1),
        lambda: x.masked_fill_(mask, 1),
        lambda: x.masked_scatter_(mask, x),
    ):
        with pytest.raises((TypeError, RuntimeError), match="mask"):
            call()
    assert x.tolist() == [0, 0]


def test_the_value_of_masked_fill():
    x = st.zeros(3, dtype=st.uint8)
    mask = st.tensor([True, False, True])
    with pytest.raises(OverflowError):
        x.masked_fill_(mask, 256)
    with pytest.raises((ValueError, TypeError)):
        x.masked_fill_(mask, st.ones(2))
    with pytest.raises(OverflowError):
        x.masked_fill_(mask, 1j)
    assert x.tolist() == [0, 0, 0]
    assert x.masked_fill_(mask, st.tensor(7)).tolist() == [7, 0, 7]


def test_masks_and_sources_that_share_the_storage_of_the_target():
    m = st.tensor([True, False, True])
    assert m.masked_fill_(m, False).tolist() == [False, False, False]
    m = st.tensor([True, False, False, True])
    assert m.masked_fill_(m.flip(0), False).tolist() == [False, False, False, False]
    b = st.tensor([1, 0, 5], dtype=st.uint8)
    assert b.masked_fill_(b, 9).tolist() == [9, 0, 9]
    x = st.arange(5)
    assert x.masked_scatter_(x > 0, x).tolist() == [0, 0, 1, 2, 3]
    x = st.arange(5)
    assert x.masked_scatter_(st.tensor([True] * 5), x.flip(0)).tolist() == [4, 3, 2, 1, 0]
    m = st.tensor([True, False, True, True])
    assert m.masked_scatter_(m, m).tolist() == [True, False, False, True]
    x = st.arange(5)
    out = x[:3]
    st.masked_select(x, st.tensor([False, True, False, True, True]), out=out)
    assert x.tolist() == [1, 3, 4, 3, 4]


def test_an_expanded_target_is_refused():
    x = st.zeros(1, 3).expand(2, 3)
    mask = st.ones(2, 3, dtype=st.bool)
    for call in (lambda: x.masked_fill_(mask, 1), lambda: x.masked_scatter_(mask, st.ones(6))):
        with pytest.raises(ValueError, match="share memory"):
            call()
    assert x.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_out_of_another_shape_is_refused():
    x, mask = st.arange(3.0), st.tensor([True, False, True])
    out = st.full((3,), 5.0)
    with pytest.raises(ValueError, match="out"):
        st.masked_select(x, mask, out=out)
    assert out.tolist() == [5, 5, 5]


def test_bools_of_any_byte_are_masks():
    bits = st.tensor([0, 1, 2, 255, 128], dtype=st.uint8)
    mask = bits.view(st.bool)
    x = st.arange(5)
    assert x.masked_select(mask).tolist() == [1, 2, 3, 4]
    assert x[mask].tolist() == [1, 2, 3, 4]
    assert mask.nonzero().tolist() == [[1], [2], [3], [4]]
    assert x.masked_fill(mask, 9).tolist() == [0, 9, 9, 9, 9]
