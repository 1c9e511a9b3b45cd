"""Elements repeated, rolled and padded, and the triangles and diagonals of matrices.

These move elements, so results are compared with NumPy, or with a definition in plain Python, bit for bit.
"""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from strategies import DTYPES, FLOATS, INTS, LAYOUTS, laid_out, memory_dtype, memory_of, random_memory, shared
from test_join import same_memory

import strided as st
from strided.testing import shapes


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return request.param


def both(layout, name):
    """A tensor of a layout, and its memory as an array."""
    x = laid_out(layout, random_memory(name, LAYOUTS[layout][0]), name)
    return x, memory_of(x)


# repeat, tile, repeat_interleave


@pytest.mark.parametrize("name", DTYPES)
def test_repeat_and_tile_of_every_dtype_and_layout(name, layout):
    x, array = both(layout, name)
    for repeats in ((2,) * array.ndim, (1, 3) + (1,) * array.ndim, (0,) + (2,) * array.ndim):
        same_memory(x.repeat(repeats), np.tile(array, repeats), name)
        if repeats:
            same_memory(x.repeat(*repeats), np.tile(array, repeats), name)
    for repeats in ((), (3,), (2, 3), (2, 1, 2)):
        same_memory(x.tile(repeats), np.tile(array, repeats), name)
        same_memory(st.tile(x, repeats), np.tile(array, repeats), name)


@given(shapes(max_dims=3, max_side=4), hs.lists(hs.integers(0, 3), min_size=3, max_size=4))
def test_repeat_of_random_shapes(shape, repeats):
    array = random_memory("int32", shape)
    same_memory(st.from_numpy(np.asarray(array)).repeat(repeats), np.tile(array, repeats), "int32")


def test_long_repeats():
    for n, count in ((3, 70_000), (70_000, 3), (1, 200_000), (17, 9001)):
        array = random_memory("float32", (n,))
        same_memory(st.from_numpy(array).repeat(count), np.tile(array, count), "float32")
        same_memory(st.from_numpy(array).repeat_interleave(count), np.repeat(array, count), "float32")


@pytest.mark.parametrize("name", DTYPES)
def test_repeat_interleave_of_every_dtype_and_layout(name, layout):
    x, array = both(layout, name)
    same_memory(x.repeat_interleave(2), np.repeat(array, 2), name)
    same_memory(x.repeat_interleave(st.arange(x.numel()) % 3), np.repeat(array, np.arange(array.size) % 3), name)
    for dim in range(-array.ndim, array.ndim):
        counts = np.arange(array.shape[dim]) * 5 % 3
        same_memory(x.repeat_interleave(3, dim), np.repeat(array, 3, dim), name)
        same_memory(x.repeat_interleave(st.from_numpy(counts), dim), np.repeat(array, counts, dim), name)
        same_memory(st.repeat_interleave(x, st.tensor([2]), dim=dim), np.repeat(array, 2, dim), name)


@given(hs.data())
@settings(max_examples=100)
def test_repeat_interleave_by_random_counts(data):
    shape = data.draw(shapes(min_dims=1, max_dims=3))
    dim = data.draw(hs.integers(-len(shape), len(shape) - 1))
    counts = data.draw(hs.lists(hs.integers(0, 4), min_size=shape[dim], max_size=shape[dim]))
    array = random_memory("int16", shape)
    got = st.repeat_interleave(st.from_numpy(array), st.tensor(counts, dtype=st.int32), dim, output_size=sum(counts))
    same_memory(got, np.repeat(array, np.array(counts, int), dim), "int16")


def test_repeat_interleave_on_several_threads():
    counts = np.arange(50_000) * 7 % 5
    for width in (1, 2, 3):
        array = random_memory("float64", (50_000, width))
        got = st.from_numpy(array).repeat_interleave(st.from_numpy(counts), 0)
        same_memory(got, np.repeat(array, counts, 0), "float64")
    columns = random_memory("int8", (40, 9000))
    counts = counts[:9000]
    got = st.from_numpy(columns).repeat_interleave(st.from_numpy(counts), 1)
    same_memory(got, np.repeat(columns, counts, 1), "int8")


@pytest.mark.parametrize("name", INTS)
def test_repeat_interleave_of_one_argument(name):
    counts = st.tensor([2, 0, 1, 3], dtype=name)
    for got in (
        st.repeat_interleave(counts),
        st.repeat_interleave(repeats=counts),
        st.repeat_interleave(counts, output_size=6),
    ):
        assert got.tolist() == [0, 0, 2, 3, 3, 3] and got.dtype is st.int64
    assert st.repeat_interleave(counts[:0]).shape == (0,)


# roll


@pytest.mark.parametrize("name", DTYPES)
def test_roll_of_every_dtype_and_layout(name, layout):
    x, array = both(layout, name)
    for shift in (0, 1, -1, 40, 2**62, -(2**63)):
        wanted = np.roll(array, shift % max(array.size, 1))
        same_memory(x.roll(shift), wanted, name)
        for dim in range(-array.ndim, array.ndim):
            wanted = np.roll(array, shift % max(array.shape[dim], 1), dim)
            same_memory(st.roll(x, shift, dim), wanted, name)
    if array.ndim >= 2:
        same_memory(x.roll((3, -2), (0, 1)), np.roll(array, (3, -2), (0, 1)), name)
        same_memory(x.roll((3, -2), (1, 1)), np.roll(array, (3, -2), (1, 1)), name)
        same_memory(x.roll(1, (0, -1)), np.roll(array, 1, (0, -1)), name)


@given(hs.data())
def test_roll_of_random_shapes(data):
    shape = data.draw(shapes(min_dims=1))
    dims = data.draw(hs.lists(hs.integers(-len(shape), len(shape) - 1), min_size=1, max_size=5))
    shifts = data.draw(hs.lists(hs.integers(-9, 9), min_size=len(dims), max_size=len(dims)))
    array = random_memory("uint32", shape)
    same_memory(st.from_numpy(array).roll(shifts, dims), np.roll(array, shifts, dims), "uint32")


def test_long_rolls():
    array = random_memory("float32", (1_500_000,))
    same_memory(st.from_numpy(array).roll(12_345), np.roll(array, 12_345), "float32")
    array = array.reshape(1000, 1500)
    same_memory(st.from_numpy(array).roll((7, -100), (0, 1)), np.roll(array, (7, -100), (0, 1)), "float32")


# flips and rotations are views


def test_flips_and_rotations_of_every_layout(layout):
    x, array = both(layout, "int32")
    if array.ndim >= 1:
        same_memory(x.flipud(), np.flipud(array), "int32")
    if array.ndim >= 2:
        same_memory(st.fliplr(x), np.fliplr(array), "int32")
        for k in range(-5, 6):
            same_memory(x.rot90(k), np.rot90(array, k), "int32")
            for dims in itertools.permutations(range(-1, array.ndim - 1), 2):
                same_memory(st.rot90(x, k, dims), np.rot90(array, k, dims), "int32")
        assert x.rot90().storage() is x.storage()
        assert x.layout.rot90(1, (0, 1)) == x.rot90().layout


# pad


def padded(array, pad, mode, value=0):
    """The definition: an index for each element of the result, from the cropped array."""
    for dim, (before, after) in enumerate(
        reversed(list(zip(pad[::2], pad[1::2], strict=True))), array.ndim - len(pad) // 2
    ):
        array = np.take(array, range(max(-before, 0), array.shape[dim] - max(-after, 0)), dim)
        before, after = max(before, 0), max(after, 0)
        if mode == "constant":
            margins = [(0, 0)] * array.ndim
            margins[dim] = (before, after)
            array = np.pad(array, margins, constant_values=value)
            continue
        n = array.shape[dim]
        index = np.arange(-before, n + after)
        if mode == "reflect":
            index = np.where(index < 0, -index, np.where(index >= n, 2 * (n - 1) - index, index))
        elif mode == "replicate":
            index = index.clip(0, n - 1)
        else:
            index = index % n
        array = np.take(array, index, dim)
    return array


MODES = ["constant", "reflect", "replicate", "circular"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", DTYPES)
def test_pad_of_every_dtype_and_layout(name, mode, layout):
    x, array = both(layout, name)
    if array.size <= 1 and mode != "constant":
        return
    for pad in ((2, 1), (0, 3), (-1, 2), (1, -1), (2, 1, 1, 3), (-2, 1, 0, -1)):
        if len(pad) <= 2 * array.ndim and all(
            n > 3 or (mode == "constant" and n > 2) for n in array.shape[-len(pad) // 2 :]
        ):
            same_memory(st.pad(x, pad, mode), padded(array, pad, mode), name)


@pytest.mark.parametrize("mode", MODES)
@given(hs.data())
@settings(max_examples=100)
def test_pad_of_random_shapes(mode, data):
    shape = data.draw(shapes(min_dims=1, max_dims=4, min_side=1, max_side=5))
    pad = []
    for extent in reversed(shape[data.draw(hs.integers(0, len(shape) - 1)) :]):
        first = data.draw(hs.integers(-1 if extent > 1 else 0, 0))
        most = extent + first
        most = {"constant": 3, "replicate": 3, "circular": most, "reflect": most - 1}[mode]
        pad += [first or data.draw(hs.integers(0, most)), data.draw(hs.integers(0, most))]
    array = random_memory("int32", shape)
    same_memory(st.pad(st.from_numpy(array), pad, mode=mode), padded(array, pad, mode), "int32")


def test_pad_with_a_value():
    assert st.pad(st.arange(2), (1, 1), value=7).tolist() == [7, 0, 1, 7]
    assert st.pad(st.ones(1, 2), (0, 0, 1, 0), "constant", 0.5).tolist() == [[0.5, 0.5], [1, 1]]
    assert st.pad(st.empty(0, 2), (1, 0, 1, 1), value=3).tolist() == [[3, 3, 3], [3, 3, 3]]
    assert st.pad(st.empty(2, 0), (2, 1, 1, 0), value=3).tolist() == [[3] * 3] * 3
    assert st.pad(st.tensor(5), ()).item() == 5
    assert st.pad(st.arange(3), (-3, 0)).shape == (0,)
    assert st.pad(st.zeros(2, dtype=st.complex64), (0, 1), value=2j).tolist() == [0, 0, 2j]


def test_large_pads():
    array = random_memory("float32", (900, 1100))
    for mode in MODES:
        same_memory(st.pad(st.from_numpy(array), (3, 5, 7, 2), mode), padded(array, (3, 5, 7, 2), mode), "float32")


# tril and triu


def triangle(array, diagonal, upper):
    """The definition, element by element."""
    rows, columns = np.arange(array.shape[-2])[:, None], np.arange(array.shape[-1])
    kept = columns >= rows + diagonal if upper else columns <= rows + diagonal
    return np.where(kept, array, np.zeros((), array.dtype))


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("name", DTYPES)
def test_triangles_of_every_dtype_and_layout(name, upper, layout):
    x, array = both(layout, name)
    if array.ndim < 2:
        return
    function, method = ("triu", "triu_") if upper else ("tril", "tril_")
    for diagonal in (0, 1, -1, 3, -6, 30, 36, 37, 100, -(2**63), 2**63 - 1):
        wanted = triangle(array, max(min(diagonal, 200), -200), upper)
        same_memory(getattr(x, function)(diagonal), wanted, name)
        out = shared(np.ones(array.shape[::-1], memory_dtype(name)).T, name)
        assert getattr(st, function)(x, diagonal=diagonal, out=out) is out
        same_memory(out, wanted, name)
        if layout != "stride 0":
            y = laid_out(layout, array, name)
            assert getattr(y, method)(diagonal) is y
            same_memory(y, wanted, name)


@given(hs.data())
def test_triangles_of_random_batches(data):
    shape = data.draw(shapes(min_dims=2, max_dims=5))
    diagonal, upper = data.draw(hs.integers(-7, 7)), data.draw(hs.booleans())
    array = random_memory("int64", shape)
    x = st.from_numpy(array)
    wanted = triangle(array, diagonal, upper)
    same_memory(x.triu(diagonal) if upper else x.tril(diagonal), wanted, "int64")
    dims = data.draw(hs.permutations(range(len(shape))))
    array = array.transpose(dims)
    x = x.permute(*dims)
    same_memory(st.triu(x, diagonal) if upper else st.tril(x, diagonal), triangle(array, diagonal, upper), "int64")


def test_large_triangles():
    array = random_memory("float32", (3, 700, 500))
    x = st.from_numpy(array)
    for y, model in ((x, array), (x.transpose(1, 2), array.swapaxes(1, 2)), (x[..., ::2], array[..., ::2])):
        same_memory(y.tril(5), np.tril(model, 5), "float32")
        same_memory(y.clone().triu_(-5), np.triu(model, -5), "float32")
        copied = st.from_numpy(array.copy())
        copied = copied.transpose(1, 2) if y.shape == (3, 500, 700) else copied
        if copied.shape == y.shape:
            same_memory(copied.tril_(), np.tril(model), "float32")


def test_outputs_of_triangles():
    x = st.arange(9).view(3, 3)
    assert x.tril(out=x) is x and x.tolist() == [[0, 0, 0], [3, 4, 0], [6, 7, 8]]
    x = st.arange(9).view(3, 3)
    st.triu(x.t(), out=x)
    assert x.tolist() == [[0, 3, 6], [0, 4, 7], [0, 0, 8]]
    out = st.empty(0, dtype=st.float64)
    assert st.tril(st.ones(2, 2), out=out).tolist() == [[1, 0], [1, 1]]
    with pytest.raises(RuntimeError, match="tril_: elements of the output share memory"):
        st.zeros(3).expand(3, 3).tril_()
    with pytest.raises(TypeError, match="tril: a float32 result cannot be stored into int64"):
        st.tril(st.ones(2, 2), out=st.zeros(2, 2, dtype=st.int64))


@pytest.mark.parametrize("name", ["tril", "triu"])
@given(hs.integers(0, 9), hs.integers(0, 9), hs.integers(-12, 12))
def test_indices_of_triangles(name, rows, columns, offset):
    wanted = np.array(getattr(np, f"{name}_indices")(rows, offset, columns)).reshape(2, -1)
    got = getattr(st, f"{name}_indices")(rows, columns, offset)
    same_memory(got, wanted.astype(np.int64), "int64")


def test_indices_of_large_triangles_and_other_dtypes():
    for offset in (0, 100, -250):
        same_memory(st.tril_indices(500, 300, offset), np.array(np.tril_indices(500, offset, 300)), "int64")
        same_memory(st.triu_indices(300, 500, offset), np.array(np.triu_indices(300, offset, 500)), "int64")
    assert st.tril_indices(2, 2, dtype=st.int32).dtype is st.int32
    assert st.tril_indices(2**40, 2**40, -(2**40)).shape == (2, 0)
    assert st.tril_indices(2**40, 3, 2 - 2**40).tolist() == [[2**40 - 2, 2**40 - 1, 2**40 - 1], [0, 0, 1]]


# diagonals


@pytest.mark.parametrize("name", DTYPES)
def test_diagonal_matrices_of_every_dtype(name):
    memory = random_memory(name, (5,))
    x = shared(memory[::-1], name)
    for offset in (0, 1, -3):
        wanted = np.diag(memory[::-1], offset)
        same_memory(x.diag(offset), wanted, name)
        same_memory(x.diagflat(offset), wanted, name)
        same_memory(x.diag_embed(offset), wanted, name)
        same_memory(shared(wanted, name).diag(offset), memory[::-1], name)
        out = shared(np.ones(wanted.shape, memory.dtype), name)
        assert st.diag(x, offset, out=out) is out
        same_memory(out, wanted, name)
        out = shared(np.ones(5, memory.dtype), name)
        assert st.diag(shared(wanted, name), offset, out=out) is out
        same_memory(out, memory[::-1], name)


def test_diag_of_a_matrix_is_a_copy():
    x = st.ones(2, 2)
    x.diag().fill_(0)
    assert x.sum().item() == 4
    x = st.arange(4).view(2, 2)
    st.diag(x, out=x[0])
    assert x.tolist() == [[0, 3], [2, 3]]


@given(hs.data())
def test_diag_embed_of_random_shapes(data):
    shape = data.draw(shapes(min_dims=1, max_dims=3, max_side=3))
    offset = data.draw(hs.integers(-3, 3))
    dim1, dim2 = data.draw(hs.permutations(range(len(shape) + 1)))[:2]
    array = random_memory("int32", shape)
    got = st.from_numpy(array).diag_embed(offset, dim1, dim2 - len(shape) - 1)
    wanted = np.zeros(got.shape, np.int32)
    np.einsum("...ii->...i", np.moveaxis(wanted, (dim1, dim2), (-2, -1)))  # both dims have one extent
    moved = np.moveaxis(wanted, (dim1, dim2), (-2, -1))
    for i in range(shape[-1]):
        moved[..., i + max(-offset, 0), i + max(offset, 0)] = array[..., i]
    same_memory(got, wanted, "int32")
    assert got.shape[dim1] == got.shape[dim2] == shape[-1] + abs(offset)


def test_trace():
    array = np.arange(12).reshape(3, 4)
    assert st.from_numpy(array).trace().item() == st.trace(st.from_numpy(array.T)).item() == array.trace()
    assert st.ones(3, 3, dtype=st.uint8).trace().dtype is st.int64
    assert st.zeros(0, 3).trace().item() == 0
    assert st.full((2, 2), 1.5).trace().tolist() == 3.0


@pytest.mark.parametrize("increasing", [False, True])
@pytest.mark.parametrize("columns", [None, 0, 1, 2, 5])
def test_vander(columns, increasing):
    for name in ("uint8", "int64", "float64", "complex128"):
        array = np.array([1, 2, 3, 5], name)
        wanted = np.vander(array, columns, increasing)
        got = st.vander(st.from_numpy(array), columns, increasing)
        assert got.dtype.name == ("int64" if name == "uint8" else name)
        assert got.is_contiguous() and got.tolist() == wanted.tolist()
    assert st.vander(st.empty(0)).shape == (0, 0)


@pytest.mark.parametrize("name", FLOATS)
def test_vander_of_floats(name):
    got = st.vander(st.tensor([0.5, -2.0], dtype=name), N=3)
    assert got.tolist() == [[0.25, 0.5, 1.0], [4.0, -2.0, 1.0]] and got.dtype.name == name


# arguments


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x: x.repeat(2), ValueError, "repeat: repeats is [2], wanted at least 2 numbers, one for each dim"),
        (lambda x: x.repeat(2, -1), ValueError, "repeat: repeats is -1 for dim 1, wanted 0 or more"),
        (lambda x: x.repeat(), TypeError, "repeat: argument 'repeats' is missing"),
        (lambda x: x.repeat(2**62, 2**62), ValueError, "repeat: shape"),
        (lambda x: x.repeat_interleave(-1), ValueError, "repeat_interleave: repeats is -1, wanted 0 or more"),
        (lambda x: x.repeat_interleave(2**70), OverflowError, "repeat_interleave: repeats is an int beyond 64 bits"),
        (lambda x: x.repeat_interleave(2, 5), IndexError, "repeat_interleave: dim 5 is outside -2 to 1 (rank 2)"),
        (lambda x: x.repeat_interleave(st.tensor([1, 2]), 1), ValueError, "repeat_interleave: the number of repeats is 2, wanted 1 or 3, the extent of dim 1"),
        (lambda x: x.repeat_interleave(st.tensor([1, -2]), 0), ValueError, "repeat_interleave: repeats is -2 at position 1, wanted 0 or more"),
        (lambda x: x.repeat_interleave(st.tensor([1.0, 2.0]), 0), TypeError, "repeat_interleave: repeats is float32, wanted an integer dtype"),
        (lambda x: x.repeat_interleave(st.tensor([[1, 2]]), 0), ValueError, "repeat_interleave: repeats is of shape 1x2, wanted at most 1 dim"),
        (lambda x: x.repeat_interleave(2, 0, output_size=3), ValueError, "repeat_interleave: output_size is 3, wanted 4, the sum of the repeats"),
        (lambda x: x.repeat_interleave(st.tensor([2**62, 2**62]), 0), ValueError, "repeat_interleave: shape"),
        (lambda x: st.repeat_interleave(x), ValueError, "repeat_interleave: repeats is of shape 2x3, wanted at most 1 dim"),
        (lambda x: st.repeat_interleave(x, dim=0), TypeError, "repeat_interleave: argument 'repeats' is missing"),
        (lambda x: x.roll((1, 2)), ValueError, "roll: got 2 shifts without dims, wanted 1"),
        (lambda x: x.roll((1, 2), 0), ValueError, "roll: got 2 shifts, wanted 1"),
        (lambda x: x.roll(1, 2), IndexError, "roll: dim 2 is outside -2 to 1 (rank 2)"),
        (lambda x: x.rot90(1, (0, 0)), ValueError, "rot90: dim 0 is named more than once"),
        (lambda x: x.rot90(1, (0,)), ValueError, "rot90: got 1 dims, wanted 2"),
        (lambda x: x[0].fliplr(), ValueError, "fliplr: got a tensor of rank 1, wanted at least 2"),
        (lambda x: x[0, 0].flipud(), ValueError, "flipud: got a tensor of rank 0, wanted at least 1"),
        (lambda x: st.pad(x, (1, 2, 3)), ValueError, "pad: pad is 3 numbers, wanted pairs for at most 2 dims"),
        (lambda x: st.pad(x, (1,) * 6), ValueError, "pad: pad is 6 numbers, wanted pairs for at most 2 dims"),
        (lambda x: st.pad(x, (-2, -2)), ValueError, "pad: pad is -2 and -2 for dim 1, wanted to crop at most 3 indices, the extent of dim 1"),
        (lambda x: st.pad(x, (2**63 - 1, 2**63 - 1)), ValueError, "pad: shape"),
        (lambda x: st.pad(x, (-(2**63), 0)), ValueError, "pad: pad is"),
        (lambda x: st.pad(x, (3, 0), "reflect"), ValueError, "pad: pad is 3 for dim 1, wanted at most 2, since its extent is 3"),
        (lambda x: st.pad(x, (-1, 3), "circular"), ValueError, "pad: pad is 3 for dim 1, wanted at most 2, since its extent is 2"),
        (lambda x: st.pad(x[:, :0], (1, 0), "replicate"), ValueError, "pad: pad is 1 for dim 1, wanted at most 0, since its extent is 0"),
        (lambda x: st.pad(x, (1, 1), "mirror"), ValueError, "pad: mode is 'mirror', wanted 'constant', 'reflect', 'replicate' or 'circular'"),
        (lambda x: st.pad(x, (1, 1), "reflect", 1), ValueError, "pad: value is 1, wanted None: mode 'reflect' has no value"),
        (lambda x: st.pad(x.byte(), (1, 1), value=300), OverflowError, "pad: 300 does not fit uint8"),
        (lambda x: x[0].tril(), ValueError, "tril: got a tensor of rank 1, wanted at least 2"),
        (lambda x: x[0].triu_(), ValueError, "triu_: got a tensor of rank 1, wanted at least 2"),
        (lambda x: x[None].diag(), ValueError, "diag: got a tensor of rank 3, wanted 1 or 2"),
        (lambda x: x[0].diag(2**62), ValueError, "diag: shape"),
        (lambda x: x[0].diagflat(-(2**63)), ValueError, "diagflat: shape"),
        (lambda x: x[0, 0].diag_embed(), ValueError, "diag_embed: got a tensor of rank 0, wanted at least 1"),
        (lambda x: x.diag_embed(0, 1, 1), ValueError, "diag_embed: dim 1 is named more than once"),
        (lambda x: x.diag_embed(0, 3), IndexError, "diag_embed: dim 3 is outside -3 to 2 (rank 3)"),
        (lambda x: x[0].trace(), ValueError, "trace: got a tensor of rank 1, wanted 2"),
        (lambda x: st.tril_indices(-1, 2), ValueError, "tril_indices: row is -1, wanted 0 to"),
        (lambda x: st.triu_indices(2, 2**62), ValueError, "triu_indices: col is"),
        (lambda x: st.triu_indices(2**40, 2**40), ValueError, "triu_indices: shape"),
        (lambda x: st.tril_indices(2, 2, dtype=st.float32), TypeError, "tril_indices: dtype is float32, wanted an integer dtype"),
        (lambda x: st.vander(x), ValueError, "vander: got a tensor of rank 2, wanted 1"),
        (lambda x: st.vander(x[0], -1), ValueError, "vander: N is -1, wanted 0 or more"),
    ],
)  # fmt: skip
def test_errors_name_the_argument(call, error, message):
    x = st.arange(6).view(2, 3)
    with pytest.raises(error, match=re.escape(message)):
        call(x)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_numpy_functions_restructure_tensors():
    x = st.arange(6, dtype=st.bfloat16).view(2, 3)
    results = {
        (2, 6): np.tile(x, 2),
        (12,): np.repeat(x, 2),
        (2, 9): np.repeat(x, 3, axis=1),
        (2, 3): np.roll(x, 1, axis=1),
        (3, 3): np.diag(x[0]),
        (4, 4): np.diagflat(x[0], 1),
        (3, 2): np.vander(x[0], 2),
    }
    for shape, got in results.items():
        assert type(got) is st.Tensor and got.dtype is st.bfloat16 and got.shape == shape
    assert np.roll(x, 1).tolist() == x.roll(1).tolist()
    assert np.tril(x, k=-1).tolist() == [[0, 0, 0], [3, 0, 0]] and np.triu(x, 1).tolist() == [[0, 1, 2], [0, 0, 5]]


# the kernel that fills by linear index


@pytest.mark.parametrize("name", DTYPES)
def test_eye_of_every_dtype_and_layout(name):
    for shape in ((3, 3), (2, 5), (5, 2), (0, 3), (3, 0), (300, 301)):
        wanted = np.eye(*shape).astype("uint8")
        values = (st.eye(*shape, dtype=name) != 0).numpy()
        assert np.array_equal(values, wanted)
        for view in (lambda y: y.t(), lambda y: y.flip(0, 1)):
            out = view(st.full(shape if view(st.ones(1, 2)).shape == (1, 2) else shape[::-1], 1, dtype=name))
            if out.numel():
                assert st.eye(*shape, out=out) is out
                assert np.array_equal((out != 0).numpy(), wanted)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_ranges_do_not_depend_on_the_number_of_threads(threads):
    before = st.get_num_threads()
    try:
        st.set_num_threads(threads)
        assert np.array_equal(st.arange(3, 1_000_003, 2).numpy(), np.arange(3, 1_000_003, 2))
        assert np.array_equal(st.arange(0, 200_000, dtype=st.float64).numpy() * 0.5, np.arange(0, 100_000, 0.5))
        x = st.linspace(-1, 1, 400_001, dtype=st.float64)
        assert np.array_equal(x.numpy(), -x.numpy()[::-1])
        ints = st.linspace(-7, 10**9, 200_001, dtype=st.int64).numpy()
        exact = [int(-7 + (10**9 + 7) * i / 200_000) for i in (0, 1, 200_000)]
        assert ints[[0, 1, -1]].tolist() == exact and (np.diff(ints) >= 4999).all() and (np.diff(ints) <= 5001).all()
        powers = st.logspace(0, 5, 100_001, base=2, dtype=st.float64)
        assert powers[20_000].item() == 2 and powers[-1].item() == 32 and (powers.diff() > 0).all()
    finally:
        st.set_num_threads(before)
