"""Layouts as values: every rule against NumPy's strides, or against a naive list of locations."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as some

import strided as st
from strided import Layout
from strided.testing import shapes

full_shapes = shapes(min_dims=1, min_side=1, max_side=4)


@some.composite
def layouts(draw):
    """Any strides, overlaps and zeros included."""
    sizes = draw(shapes(max_side=4))
    strides = draw(some.lists(some.integers(-7, 7), min_size=len(sizes), max_size=len(sizes)))
    return Layout(sizes, strides, draw(some.integers(-9, 99)))


@some.composite
def arrays(draw):
    """A NumPy view of 0, 1, 2, …, so that its values are its locations; and the layout of the same view."""
    shape = draw(full_shapes)
    array, layout = np.arange(math.prod(shape)).reshape(shape), Layout(shape)
    for _ in range(draw(some.integers(0, 2))):
        order = draw(some.permutations(range(array.ndim)))
        array, layout = array.transpose(order), layout.permute(order)
        key = tuple(slice(None, None, draw(some.sampled_from([1, -1, 2, -2]))) for _ in array.shape)
        array, layout = array[key], layout[key]
    return array, layout


def locations(layout):
    """The locations of the elements in row-major order, by definition."""
    steps = (range(extent) for extent in layout.shape)
    return [
        layout.offset + sum(i * stride for i, stride in zip(index, layout.stride, strict=True))
        for index in itertools.product(*steps)
    ]


def same(layout, array):
    return tuple(layout.shape) == array.shape and locations(layout) == array.ravel().tolist()


# The value


def test_constructors():
    assert Layout((2, 3, 4)) == Layout.row_major((2, 3, 4)) == Layout([2, 3, 4], [12, 4, 1], 0)
    assert Layout((2, 3, 4), order="column") == Layout.column_major((2, 3, 4)) == Layout((2, 3, 4), (1, 2, 6))
    assert Layout((2, 3), offset=5).offset == 5 and Layout(4) == Layout((4,)) and Layout(()).size == 1
    assert Layout(shape=st.Size([2]), stride=st.LongStorage([3])) == Layout((2,), (3,))
    assert st.zeros(4, 5).t()[1:].layout == Layout((4, 4), (1, 5), 1).permute(0, 1)


def test_properties():
    x = Layout((3, 2), (10, -1), 1)
    assert (x.nmode, x.shape, x.stride, x.offset, x.size, x.span, x.bounds) == (2, (3, 2), (10, -1), 1, 6, 22, (0, 21))
    assert type(x.shape) is st.Size and type(x.stride) is tuple
    none = Layout((3, 0))
    assert (none.size, none.span, none.bounds) == (0, 0, None)
    assert (Layout(()).nmode, Layout(()).span, Layout(()).bounds) == (0, 1, (0, 0))


@given(layouts())
def test_properties_follow_from_the_locations(x):
    where = locations(x)
    assert x.size == len(where) == math.prod(x.shape)
    assert x.span == (max(where) - min(where) + 1 if where else 0)
    assert x.bounds == ((min(where), max(where)) if where else None)
    assert x.is_injective == (len(set(where)) == len(where))
    assert x.is_contiguous == (x.is_injective and x.span == x.size)
    first = x.offset if where else 0
    assert x.is_row_major == (where == list(range(first, first + x.size)))
    reversed_modes = locations(x.permute(list(range(x.nmode))[::-1]))
    assert x.is_column_major == (reversed_modes == list(range(first, first + x.size)))
    for index, location in zip(itertools.product(*map(range, x.shape)), where, strict=True):
        assert x.location(*index) == x.location(index) == location
    assert [x.extent(i) for i in range(x.nmode)] == list(x.shape)


@given(layouts(), layouts())
def test_equality_and_hash(x, y):
    parts = [(z.shape, z.stride, z.offset) for z in (x, y)]
    assert (x == y) == (parts[0] == parts[1]) and (x != y) == (parts[0] != parts[1])
    other = Layout(x.shape, x.stride, x.offset)
    assert other == x and hash(other) == hash(x) and len({x, other}) == 1
    assert x != parts[0] and x != None  # noqa: E711
    assert eval(repr(x)) == x
    assert copy.copy(x) is copy.deepcopy(x) is x
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(x, protocol)) == x


def test_text():
    assert repr(Layout((2, 3))) == "Layout(shape=(2, 3), stride=(3, 1), offset=0)"
    assert repr(Layout(3)) == "Layout(shape=(3,), stride=(1,), offset=0)"
    assert repr(Layout(())) == "Layout(shape=(), stride=(), offset=0)"


def test_a_layout_is_immutable():
    x = Layout((2, 3))
    for name in ("shape", "stride", "offset", "anything"):
        with pytest.raises(AttributeError):
            setattr(x, name, 1)


# Predicates and folding


def test_compatible():
    a, b = Layout((2, 3)), st.zeros(3, 2).layout
    assert a.compatible(0, b, 1) and a.compatible(-1, b, 0) and not a.compatible(0, b, 0)
    with pytest.raises(IndexError, match="compatible: mode 2"):
        a.compatible(2, b, 0)


def test_sequentially_contiguous_and_fold():
    x = Layout((4, 5, 6))
    assert (
        x.sequentially_contiguous((2, 1, 0)) and x.sequentially_contiguous((2, 1)) and x.sequentially_contiguous((1,))
    )
    assert not x.sequentially_contiguous((1, 2)) and not x.sequentially_contiguous((2, 0))
    assert x.fold((2, 1)) == x.fold(2, 1) == Layout((4, 30)) and x.fold() == Layout(120)
    assert x.flip().fold() == Layout(120, -1, 119)
    assert Layout((4, 1, 6), (6, 77, 1)).fold() == Layout(24)  # the stride of an extent of 1 has no effect
    with pytest.raises(ValueError, match=r"fold: modes \[1, 2\] are not sequentially contiguous"):
        x.fold((1, 2))
    with pytest.raises(ValueError, match="fold"):
        x.flip(0).fold()


@given(layouts(), some.data())
def test_folding_keeps_the_locations(x, data):
    modes = data.draw(some.lists(some.integers(0, max(x.nmode - 1, 0)), unique=True, min_size=1)) if x.nmode else []
    assume(modes)
    if not x.sequentially_contiguous(modes):
        with pytest.raises(ValueError, match="fold"):
            x.fold(modes)
        return
    folded = x.fold(modes)
    assert sorted(locations(folded)) == sorted(locations(x))
    assert folded.nmode == x.nmode - len(modes) + 1
    if x.size:
        first = min(modes)
        assert folded.shape[first] == math.prod(x.shape[mode] for mode in modes)
        sizes = [x.shape[mode] for mode in reversed(modes)]
        assert sorted(locations(folded.unflatten(first, sizes))) == sorted(locations(x))


def test_unflatten():
    assert Layout((2, 12)).unflatten(1, (3, -1)) == Layout((2, 3, 4))
    with pytest.raises(ValueError, match="unflatten"):
        Layout((2, 12)).unflatten(1, (5, -1))


# The rules of views, under the names they have on tensors


@given(arrays(), some.data())
def test_rules_against_numpy(both, data):
    a, x = both
    assert same(x, a)
    dim = data.draw(some.integers(-a.ndim, a.ndim - 1))
    other = data.draw(some.integers(-a.ndim, a.ndim - 1))
    extent = a.shape[dim]
    start = data.draw(some.integers(0, extent))
    length = data.draw(some.integers(0, extent - start))
    assert same(x.narrow(dim, start, length), a.take(range(start, start + length), dim))
    assert same(x.transpose(dim, other), a.swapaxes(dim, other)) and x.transpose(dim, other) == x.swapaxes(dim, other)
    assert same(x.movedim(dim, other), np.moveaxis(a, dim, other))
    assert same(x.unsqueeze(dim), np.expand_dims(a, dim))
    assert same(x.squeeze(), a.squeeze())
    assert same(x.flip(dim), np.flip(a, dim)) and same(x.flip(), np.flip(a))
    assert same(x.expand(2, *x.shape), np.broadcast_to(a, (2, *a.shape)))
    assert all(same(p, q) for p, q in zip(x.unbind(dim), np.moveaxis(a, dim, 0), strict=True))
    pieces = data.draw(some.integers(1, 3))
    assert all(same(p, q) for p, q in zip(x.tensor_split(pieces, dim), np.array_split(a, pieces, dim), strict=True))
    wanted = np.split(a, range(pieces, extent, pieces), dim)
    assert all(same(p, q) for p, q in zip(x.split(pieces, dim), wanted, strict=True))
    step = data.draw(some.sampled_from([-2, -1, 1, 3]))
    key = (slice(None),) * (dim % a.ndim) + (slice(start, None, step),)
    assert same(x.slice(dim, start, step=step), a[key]) and x.slice(dim, start, None, step) == x[key]
    if extent:
        index = data.draw(some.integers(-extent, extent - 1))
        assert same(x.select(dim, index), a.take(index, dim))
        size = data.draw(some.integers(1, extent))
        assert same(x.unfold(dim, size, 1), np.lib.stride_tricks.sliding_window_view(a, size, dim))
    if dim % a.ndim != other % a.ndim:
        k = data.draw(some.integers(-4, 4))
        assert same(x.diagonal(k, dim, other), a.diagonal(k, dim, other))
    if a.ndim <= 2:
        assert same(x.t(), a.T)
    if x.is_row_major:
        assert same(x.view(-1), a.ravel()) and same(x.flatten(), a.ravel()) and x.view(x.shape) == x.view(*x.shape)


@given(arrays(), some.data())
def test_a_tensor_has_the_layout_that_its_layout_becomes(both, data):
    a, x = both
    t = st.as_strided(st.LongStorage(range(max(x.bounds[1] + 1, 1) if x.bounds else 1)), x.shape, x.stride, x.offset)
    assert t.layout == x
    keys = some.sampled_from([0, -1, None, ..., slice(None), slice(1, None), slice(None, None, -1)])
    key = tuple(data.draw(some.lists(keys, max_size=a.ndim + 1)))
    try:
        wanted = t[key].layout
    except IndexError as error:
        with pytest.raises(IndexError) as refused:
            x[key]
        assert str(refused.value) == str(error)
    except ValueError as error:
        with pytest.raises(ValueError, match="index") as refused:
            x[key]
        assert str(refused.value) == str(error)
    else:
        assert x[key] == wanted


def test_rules_have_the_arguments_that_tensors_have():
    x = Layout((2, 3, 4))
    assert x.narrow(axis=1, start=0, length=2) == x.narrow(1, 0, 2)
    assert x.permute((2, 0, 1)) == x.permute(2, 0, 1) == x.permute(dims=(2, 0, 1))
    assert x.split([1, 2], dim=1) == x.tensor_split([1], 1) and len(x.chunk(2, -1)) == 2
    assert x.expand_as(Layout((5, 2, 3, 4))) == x.expand(5, 2, 3, 4) == x.expand_as(st.zeros(5, 2, 3, 4))
    assert x.view_as(Layout((6, 4))) == x.view(6, 4) == x.flatten(0, 1)
    assert st.zeros(2, 3).view_as(Layout((6,))).shape == (6,)
    assert x.narrow.__doc__ == st.Tensor.narrow.__doc__


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (lambda x: x.narrow(1, 3, 4), ValueError, "narrow: start 3 + length 4 exceeds extent 5 of dim 1 (shape 2x5)"),
        (lambda x: x.select(0, 2), IndexError, "select: index 2 is outside dim 0 with extent 2 (shape 2x5)"),
        (lambda x: x.location(0, 5), IndexError, "location: index 5 is outside dim 1 with extent 5 (shape 2x5)"),
        (lambda x: x.location(1), ValueError, "location: got 1 indices, wanted 2"),
        (lambda x: x.location(1, "a"), TypeError, "location: indices must be an int, got str"),
        (lambda x: x.extent(2), IndexError, "extent: mode 2 is outside -2 to 1 (rank 2)"),
        (lambda x: x.fold(9), IndexError, "fold: mode 9 is outside -2 to 1 (rank 2)"),
        (lambda x: x.fold(1, -1), ValueError, "fold: mode 1 is named more than once"),
        (lambda x: x.sequentially_contiguous((0, 2)), IndexError, "sequentially_contiguous: mode 2 is outside -2 to 1"),
        (lambda x: x.extent("a"), TypeError, "extent: mode must be an int, got str"),
        (lambda x: x.permute(0, 0), ValueError, "permute: dim 0 is named more than once"),
        (lambda x: x.permute(), TypeError, "permute: argument 'dims' is missing"),
        (lambda x: x.t().view(10), ValueError, "view: shape 5x2 with strides [1, 5] cannot be viewed as 10"),
        (lambda x: x.t().flatten(), ValueError, "flatten: shape 5x2 with strides [1, 5] cannot be viewed as 10"),
        (lambda x: x.view(3, -1), ValueError, "view: shape 3x-1 has another number of elements than 2x5"),
        (lambda x: x.expand(3, 5), ValueError, "expand: shape 2x5 does not expand to 3x5"),
        (lambda x: x.slice(0, 0, 1, 0), ValueError, "slice: step is 0, wanted another number"),
        (lambda x: x[0, 0, 0], IndexError, "index: 3 indices for 2 dims (shape 2x5)"),
        (lambda x: x["a"], TypeError, "index: an index must be an int, a slice, ... or None, got str"),
        (lambda x: x.split(0), ValueError, "split: size is 0, wanted a positive number"),
        (lambda x: x.narrow(1, 3), TypeError, "narrow: argument 'length' is missing"),
        (lambda x: x.narrow(0, 0, 1, depth=2), TypeError, "narrow: unknown argument 'depth'"),
        (lambda x: Layout((2, 3), (1,)), ValueError, "Layout: got 1 strides, wanted 2"),
        (lambda x: Layout((-1,)), ValueError, "Layout: size -1 of dim 0 is negative"),
        (lambda x: Layout((2**40, 2**40)), ValueError, "Layout: shape 1099511627776x1099511627776 exceeds"),
        (lambda x: Layout((3,), (2**62,)), ValueError, "Layout: shape 3 exceeds the address space"),
        (lambda x: Layout("ab"), TypeError, "Layout: shape must be an int or a sequence of ints, got str"),
        (lambda x: Layout((2,), order="diagonal"), ValueError, "Layout: order is 'diagonal', wanted 'row' or 'column'"),
        (lambda x: Layout((2,), (1,), order="column"), ValueError, "Layout: order is for a layout without strides"),
    ],
)
def test_refusals_name_the_operation(act, error, text):
    x = Layout((2, 5))
    with pytest.raises(error) as refused:
        act(x)
    assert str(refused.value).startswith(text)
    assert x == Layout((2, 5))
