"""Tensors joined, split and set against each other: cat, stack and their family, split, meshgrid, cartesian_prod, …

Joining moves elements, so results are compared with NumPy bit for bit.
"""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from strategies import DTYPES, LAYOUTS, assert_same, fresh, laid_out, memory_dtype, memory_of, random_memory, shared

import strided as st
from strided.testing import shapes


def same_memory(x, wanted, name):
    """Whether a tensor has this dtype and exactly these bits."""
    assert x.dtype.name == name
    got = memory_of(x)
    assert got.shape == wanted.shape and got.dtype == wanted.dtype
    assert got.tobytes() == np.ascontiguousarray(wanted).tobytes()


# cat and stack


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", DTYPES)
def test_cat_and_stack_of_every_dtype_and_layout(name, layout):
    shape = LAYOUTS[layout][0]
    parts = [random_memory(name, shape, seed) for seed in range(3)]
    x = [laid_out(layout, part, name) for part in parts]
    arrays = [memory_of(part) for part in x]
    for dim in range(-len(shape) - 1, len(shape) + 1):
        same_memory(st.stack(x, dim), np.stack(arrays, dim), name)
    for dim in range(-len(shape), len(shape)):
        same_memory(st.cat(x, dim), np.concatenate(arrays, dim), name)
    if not shape:
        with pytest.raises(RuntimeError, match=r"cat: tensors\[0\] has no dims, wanted at least 1"):
            st.cat(x)


@given(hs.data())
@settings(max_examples=150)
def test_cat_of_random_shapes(data):
    shape = list(data.draw(shapes(min_dims=1)))
    dim = data.draw(hs.integers(-len(shape), len(shape) - 1))
    arrays = []
    for count in data.draw(hs.lists(hs.integers(0, 4), min_size=1, max_size=5)):
        shape[dim] = count
        arrays.append(random_memory("int32", tuple(shape), len(arrays)))
    same_memory(st.cat([st.from_numpy(a) for a in arrays], dim), np.concatenate(arrays, dim), "int32")


def test_all_names_of_cat_and_stack():
    x = st.arange(6).view(2, 3)
    for function in (st.cat, st.concat, st.concatenate):
        assert function([x, x], axis=1).tolist() == function((x, x), dim=-1).tolist() == [[0, 1, 2] * 2, [3, 4, 5] * 2]
    assert st.row_stack([x, x]).tolist() == st.vstack([x, x]).tolist()


def test_many_pieces_on_several_threads():
    pieces = [random_memory("float32", (977,), seed) for seed in range(300)]
    same_memory(st.cat([st.from_numpy(p) for p in pieces]), np.concatenate(pieces), "float32")
    wide = [random_memory("int16", (600, 100 + i), i) for i in range(7)]
    same_memory(st.cat([st.from_numpy(p) for p in wide], 1), np.concatenate(wide, 1), "int16")
    large = [random_memory("float64", (300_000,), seed) for seed in range(9)]  # written with non-temporal stores
    same_memory(st.cat([st.from_numpy(p)[3:] for p in large]), np.concatenate([p[3:] for p in large]), "float64")


def test_vectors_without_elements_are_skipped():
    nothing, x = st.empty(0), st.arange(6).view(2, 3)
    assert st.cat([nothing, x, nothing], 1).tolist() == x.tolist()
    assert st.cat([nothing, x]).dtype is st.float32
    assert st.cat([nothing, nothing], 1).shape == (0,)
    assert st.cat([nothing]).shape == (0,)
    with pytest.raises(RuntimeError, match=r"tensors\[1\] has shape 0x2, wanted that of tensors\[0\]"):
        st.cat([x, st.empty(0, 2)])


@pytest.mark.parametrize("first", DTYPES)
def test_dtypes_are_promoted(first):
    for second in DTYPES:
        x, y = st.ones(2, dtype=first), st.zeros(1, dtype=second)
        try:
            wanted = st.promote_types(x.dtype, y.dtype)
        except TypeError:
            with pytest.raises(TypeError, match="cat: no dtype holds both"):
                st.cat([x, y])
            assert st.cat([x, y], out=st.empty(3, dtype=st.float64)).tolist() == [1, 1, 0], second
            assert st.cat([x, y], out=st.empty(0, dtype=st.float64)).tolist() == [1, 1, 0], second
            continue
        assert_same(st.cat([x, y]), [1, 1, 0], wanted.name)
        assert_same(st.stack([x[:1], y]), [[1], [0]], wanted.name)


def test_out_of_cat():
    x, y = st.arange(4).view(2, 2), st.tensor([[7, 8]])
    for out in (st.empty(3, 2, dtype=st.int64), st.empty(0, dtype=st.int64), st.empty(2, 3, dtype=st.float64).t()):
        assert st.cat([x, y], out=out) is out
        assert out.tolist() == [[0, 1], [2, 3], [7, 8]]
    out = st.empty(0, dtype=st.float16)
    assert st.stack([x, x], out=out) is out and out.shape == (2, 2, 2) and out.dtype is st.float16
    with pytest.raises(RuntimeError, match="cat: out has shape 2x2, wanted 3x2"):
        st.cat([x, y], out=st.zeros(2, 2))
    for out in (st.zeros(3, 2, dtype=st.int64), st.empty(0, dtype=st.int64)):
        with pytest.raises(TypeError, match="cat: a float32 result cannot be stored into int64"):
            st.cat([x, st.ones(1, 2)], out=out)
        assert out.sum().item() == 0
    with pytest.raises(RuntimeError, match="elements of the output share memory"):
        st.cat([x, y], out=st.zeros(2, dtype=st.int64).expand(3, 2))


def test_an_out_that_overlaps_inputs_gets_the_values_that_they_had():
    x = st.arange(8)
    assert st.cat([x[4:], x[:4]], out=x) is x
    assert x.tolist() == [4, 5, 6, 7, 0, 1, 2, 3]
    x = st.arange(8)
    st.cat([x[1:5].flip(0), x[:4]], out=x[::-1])
    assert x.tolist() == [3, 2, 1, 0, 1, 2, 3, 4]
    x = st.arange(6).view(2, 3)
    st.stack([x[1], x[0]], out=x)
    assert x.tolist() == [[3, 4, 5], [0, 1, 2]]
    x = st.arange(4)
    assert st.cat([x], out=x).tolist() == [0, 1, 2, 3]


def test_arrays_are_accepted_beside_tensors():
    x = st.arange(3)
    assert st.cat([x, np.array([7, 8]), np.array([9])[::-1]]).tolist() == [0, 1, 2, 7, 8, 9]
    assert st.stack((np.float64(1.5), st.tensor(2.0))).dtype is st.float64


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x: st.cat([]), ValueError, "cat: tensors is empty, wanted at least one tensor"),
        (lambda x: st.stack(()), ValueError, "stack: tensors is empty, wanted at least one tensor"),
        (lambda x: st.cat(x), TypeError, "cat: tensors must be a list or tuple of Tensors, got Tensor"),
        (lambda x: st.cat([x, 3]), TypeError, "cat: tensors[1] must be a Tensor or an array, got int"),
        (lambda x: st.cat([x, [1, 2]]), TypeError, "cat: tensors[1] must be a Tensor or an array, got list"),
        (lambda x: st.cat([x, x], 2), IndexError, "cat: dim 2 is outside -2 to 1 (rank 2)"),
        (lambda x: st.cat([x, x[0]]), ValueError, "cat: tensors[1] has shape 3, wanted as many dims as tensors[0] of shape 2x3"),
        (
            lambda x: st.cat([st.empty(0), x, x, x.t()], 1),
            ValueError,
            "cat: tensors[3] has shape 3x2, wanted that of tensors[1], 2x3, but for dim 1: extent 3 instead of 2 in dim 0",
        ),
        (lambda x: st.stack([x, x, x.t()]), ValueError, "stack: tensors[2] has shape 3x2, wanted 2x3, that of tensors[0]"),
        (lambda x: st.stack([x, x], 3), IndexError, "stack: dim 3 is outside -3 to 2 (rank 2)"),
        (lambda x: st.cat([st.zeros(1).expand(2**59 - 1)] * 20), ValueError, "cat: shape"),
        (lambda x: st.block_diag(x, st.zeros(1, 1, 1)), ValueError, "block_diag: tensors[1] has shape 1x1x1, wanted at most 2 dims"),
        (lambda x: st.meshgrid(x), ValueError, "meshgrid: tensors[0] has shape 2x3, wanted at most 1 dim"),
        (lambda x: st.meshgrid(), ValueError, "meshgrid: tensors is empty, wanted at least one tensor"),
        (lambda x: st.meshgrid(x[0], indexing="ji"), ValueError, "meshgrid: indexing is 'ji', wanted 'ij' or 'xy'"),
        (lambda x: st.cartesian_prod(x[0], x), ValueError, "cartesian_prod: tensors[1] has shape 2x3, wanted 1 dim"),
        (lambda x: st.combinations(x), ValueError, "combinations: got a tensor of rank 2, wanted 1"),
        (lambda x: st.combinations(x[0], -1), ValueError, "combinations: r is -1, wanted 0 or more"),
        (lambda x: x[0].vsplit(1), ValueError, "vsplit: got a tensor of rank 1, wanted at least 2"),
        (lambda x: x.dsplit(1), ValueError, "dsplit: got a tensor of rank 2, wanted at least 3"),
        (lambda x: x.hsplit(2), ValueError, "hsplit: the number of pieces is 2, wanted a divisor of 3, the extent of dim 1"),
        (lambda x: x.hsplit(0), ValueError, "hsplit: the number of pieces is 0, wanted 1 or more"),
        (lambda x: x.tensor_split(st.ones(2)), TypeError, "tensor_split: indices_or_sections must be an int, a sequence"),
        (lambda x: st.broadcast_shapes((2,), (3,)), ValueError, "broadcast_shapes: shapes 2 and 3 do not broadcast"),
        (lambda x: st.broadcast_tensors(x, x.t()), ValueError, "broadcast_tensors: shapes 2x3 and 3x2 do not broadcast"),
    ],
)  # fmt: skip
def test_errors_name_the_tensor_and_the_dim(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call(st.arange(6).view(2, 3))


class Shrinking(list):
    """A list that is emptied while it is read."""

    def __len__(self):
        return 5


def test_a_list_that_lies_about_its_length_is_no_danger():
    with pytest.raises(IndexError):
        st.cat(Shrinking([st.ones(1), st.ones(1)]))


# the functions named after an axis


STACKS = ["hstack", "vstack", "dstack", "column_stack"]


@pytest.mark.parametrize("name", STACKS)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4), (2, 1, 3, 2), (0,), (2, 0)])
def test_stacks_along_an_axis(name, shape):
    arrays = [random_memory("int64", shape, seed) for seed in range(3)]
    wanted = getattr(np, name)(arrays)
    same_memory(getattr(st, name)([st.from_numpy(a) for a in arrays]), wanted, "int64")
    out = st.empty(wanted.shape, dtype=st.int64)
    assert getattr(st, name)([st.from_numpy(a) for a in arrays], out=out) is out
    same_memory(out, wanted, "int64")


def test_stacks_of_mixed_ranks():
    x = np.arange(3)
    for name in ("vstack", "row_stack"):
        assert getattr(st, name)([st.from_numpy(x), st.zeros(2, 3, dtype=st.int64)]).shape == (3, 3)
    assert st.column_stack([st.tensor(5), st.tensor([[1, 2]])]).tolist() == [[5, 1, 2]]
    assert st.hstack([st.tensor(5), st.tensor([1, 2])]).tolist() == [5, 1, 2]


@given(hs.lists(shapes(max_dims=2, max_side=3), min_size=1, max_size=4))
def test_block_diag(blocks):
    arrays = [random_memory("int32", shape, i) for i, shape in enumerate(blocks)]
    matrices = [np.atleast_2d(a) for a in arrays]
    wanted = np.zeros(np.sum([m.shape for m in matrices], axis=0), np.int32)
    row = column = 0
    for m in matrices:
        wanted[row : row + m.shape[0], column : column + m.shape[1]] = m
        row, column = row + m.shape[0], column + m.shape[1]
    tensors = [st.from_numpy(np.asarray(a)) for a in arrays]
    same_memory(st.block_diag(*tensors), wanted, "int32")
    same_memory(st.block_diag(tensors), wanted, "int32")


def test_block_diag_promotes_and_may_be_empty():
    assert st.block_diag().shape == (1, 0)
    assert st.block_diag(st.tensor([1]), st.tensor(2.5)).tolist() == [[1, 0], [0, 2.5]]


# split


@pytest.mark.parametrize(
    "name, shape", [("hsplit", (6,)), ("hsplit", (2, 6, 3)), ("vsplit", (6, 2)), ("dsplit", (2, 3, 6))]
)
@pytest.mark.parametrize("sections", [1, 2, 3, 6, [2, 3], [], [4, 2, -1, 9], (1,)])
def test_splits_along_an_axis_are_views(name, shape, sections):
    array = np.arange(np.prod(shape)).reshape(shape)
    x = st.from_numpy(array)
    wanted = getattr(np, name)(array, sections)
    for got in (
        getattr(x, name)(sections),
        getattr(st, name)(x, sections),
        getattr(x, name)(st.tensor(sections, dtype=st.int64)),
    ):
        assert type(got) is tuple and [p.tolist() for p in got] == [w.tolist() for w in wanted]
        assert all(p.storage() is x.storage() for p in got)
    assert [p.shape for p in getattr(x.layout, name)(sections)] == [w.shape for w in wanted]


@pytest.mark.parametrize("sections", [1, 3, 4, 9, [2, 5], [7, 3], [-2], []])
@pytest.mark.parametrize("dtype", [st.int64, st.int32, st.uint8])
def test_tensor_split_by_numbers_in_a_tensor(sections, dtype):
    array = np.arange(14).reshape(7, 2)
    wanted = [p.tolist() for p in np.array_split(array, sections)]
    if isinstance(sections, int) or min(sections, default=0) >= 0 or dtype is not st.uint8:
        at = st.tensor(sections, dtype=dtype)
        assert [p.tolist() for p in st.from_numpy(array).tensor_split(at)] == wanted
    assert [p.tolist() for p in st.tensor_split(st.from_numpy(array), sections)] == wanted
    assert [p.tolist() for p in st.tensor_split(st.from_numpy(array), tensor_indices_or_sections=st.tensor([2]))] == [
        p.tolist() for p in np.array_split(array, [2])
    ]


def test_split_by_size_and_by_sizes():
    x = st.arange(10).view(5, 2)
    assert [tuple(p.shape) for p in x.split(2)] == [(2, 2), (2, 2), (1, 2)]
    assert [tuple(p.shape) for p in st.split(x, split_size_or_sections=[1, 4], dim=0)] == [(1, 2), (4, 2)]
    assert [tuple(p.shape) for p in x.split((1, 1), -1)] == [(5, 1), (5, 1)]
    assert [tuple(p.shape) for p in x.chunk(3)] == [(2, 2), (2, 2), (1, 2)]
    assert [p.tolist() for p in x.unbind(1)] == [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]
    assert st.cat(x.split(2)).tolist() == st.stack(x.unbind(1), 1).tolist() == x.tolist()


# views of several tensors


@pytest.mark.parametrize("indexing", ["ij", "xy"])
@pytest.mark.parametrize("lengths", [(3,), (2, 3), (2, 3, 4), (2, 0), (1, 1, 2, 3)])
def test_meshgrid(lengths, indexing):
    arrays = [random_memory("float64", (n,), n) for n in lengths]
    tensors = [st.from_numpy(a) for a in arrays]
    for got in (st.meshgrid(*tensors, indexing=indexing), st.meshgrid(tensors, indexing=indexing)):
        for x, wanted, source in zip(got, np.meshgrid(*arrays, indexing=indexing), tensors, strict=True):
            same_memory(x, wanted, "float64")
            assert x.storage() is source.storage()
    assert st.meshgrid(*tensors)[0].shape == lengths


def test_meshgrid_of_numbers():
    x, y = st.meshgrid(st.tensor(3), st.tensor([1, 2]))
    assert x.tolist() == [[3, 3]] and y.tolist() == [[1, 2]]


def test_broadcast_tensors_and_shapes():
    arrays = [np.zeros((3, 1)), np.ones(4), np.array(5)]
    for x, wanted in zip(st.broadcast_tensors(*map(st.from_numpy, arrays)), np.broadcast_arrays(*arrays), strict=True):
        assert x.tolist() == wanted.tolist()
    assert st.broadcast_tensors() == ()
    assert st.broadcast_shapes((3, 1), (1, 4), 1) == np.broadcast_shapes((3, 1), (1, 4), 1)
    assert st.broadcast_shapes() == () and st.broadcast_shapes(st.Size([2])) == (2,)


@given(hs.lists(shapes(max_dims=5, max_side=3), max_size=4))
def test_broadcast_shapes_of_random_shapes(all_shapes):
    try:
        wanted = np.broadcast_shapes(*all_shapes)
    except ValueError:
        with pytest.raises(ValueError, match="do not broadcast"):
            st.broadcast_shapes(*all_shapes)
    else:
        assert st.broadcast_shapes(*all_shapes) == wanted


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4), (1, 2, 3, 4), (0,)])
def test_views_of_at_least_some_dims(rank, shape):
    array = random_memory("int16", shape)
    function, model = getattr(st, f"atleast_{rank}d"), getattr(np, f"atleast_{rank}d")
    x = st.from_numpy(array)
    same_memory(function(x), model(array), "int16")
    assert function(x).storage() is x.storage()
    for got in (function(x, x), function([x, x]), function((x, array))):
        assert type(got) is tuple and [p.shape for p in got] == [model(array).shape] * 2
    assert function([x])[0].shape == model(array).shape
    assert function() == function([]) == ()


# combinations


@pytest.mark.parametrize("name", DTYPES)
def test_cartesian_prod_of_every_dtype(name):
    parts = [random_memory(name, (n,), n) for n in (2, 3, 4)]
    wanted = np.array(list(itertools.product(*parts)), memory_dtype(name))
    same_memory(st.cartesian_prod(*[shared(p, name) for p in parts]), wanted, name)


def test_cartesian_prod_promotes_and_returns_one_vector_as_it_is():
    x = st.arange(3)
    assert st.cartesian_prod(x).tolist() == [0, 1, 2]
    assert st.cartesian_prod(x, st.tensor([0.5])).tolist() == [[0, 0.5], [1, 0.5], [2, 0.5]]
    assert st.cartesian_prod(x, st.empty(0)).shape == (0, 2)


@pytest.mark.parametrize("with_replacement", [False, True])
@pytest.mark.parametrize("n, r", [(0, 2), (1, 1), (4, 1), (5, 2), (5, 3), (3, 5), (4, 4), (7, 6), (300, 2), (60, 3)])
def test_combinations(n, r, with_replacement):
    model = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    wanted = np.array(list(model(range(n), r)), np.int64).reshape(-1, r)
    got = st.combinations(st.arange(n), r, with_replacement)
    same_memory(got, wanted, "int64")


@pytest.mark.parametrize("name", DTYPES)
def test_combinations_of_every_dtype(name):
    memory = random_memory(name, (12,))
    wanted = np.array(list(itertools.combinations(memory[::-2], 2)), memory_dtype(name))
    same_memory(st.combinations(shared(memory[::-2], name)), wanted, name)


def test_combinations_of_nothing_and_too_many():
    assert st.combinations(st.arange(3), 0).shape == (0,)
    assert st.combinations(st.arange(52), 50).shape == (1326, 50)
    with pytest.raises((ValueError, MemoryError)):
        st.combinations(st.arange(10**6), 10**5)


# NumPy's functions


def test_numpy_functions_join_tensors():
    x = st.arange(6, dtype=st.bfloat16).view(2, 3)
    for function in (np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack):
        got = function([x, x])
        assert type(got) is st.Tensor and got.dtype is st.bfloat16  # NumPy has no bfloat16: it is ours
    assert np.concatenate((x, x), axis=1).shape == (2, 6)
    assert np.concatenate([x, x], axis=None).shape == (12,)
    assert np.concatenate([st.ones(2), np.zeros(1)]).tolist() == [1, 1, 0]
    out = st.empty(4, 3, dtype=st.float32)
    assert np.concatenate([x, x], out=out) is out


def test_results_are_new_tensors():
    x = fresh(random_memory("int64", (3,)), "int64")
    for y in (st.cat([x]), st.stack([x])[0], st.hstack([x]), st.block_diag(x)[0]):
        y.fill_(0)
    assert x.abs().sum().item() > 0
