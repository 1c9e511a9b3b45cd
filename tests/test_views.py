"""Chains of views equal NumPy's: same shape, strides, address and values, before and after writes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from strategies import (
    COMPLEX,
    DTYPES,
    dtypes,
    expanded,
    fresh,
    memory_dtype,
    memory_of,
    random_memory,
)

import strided as st
from strided.testing import indices, shapes, slices


class Pair:
    """A tensor and an array that are the same view of equal bases."""

    def __init__(self, name, shape, seed=0):
        self.base = random_memory(name, shape, seed)
        self.array = self.base
        self.root = self.tensor = fresh(self.base, name)
        self.name = name
        self.steps = [f"{name}{shape}"]

    def step(self, text, tensor, array):
        self.tensor, self.array = tensor, array
        self.steps.append(text)
        self.check()

    def check(self):
        x, a = self.tensor, self.array
        assert x.dtype.name == self.name, self.steps
        assert tuple(x.shape) == a.shape, self.steps
        assert x.size == a.size and x.dim() == a.ndim, self.steps
        if a.size:
            offset = x.data_ptr() - self.root.data_ptr()
            assert offset == address(a) - address(self.base), self.steps
            size = x.element_size()
            for extent, mine, wanted in zip(a.shape, x.stride(), a.strides, strict=True):
                assert extent == 1 or mine * size == wanted, (self.steps, x.stride(), a.strides)
            assert x.storage_offset() * size == offset
        assert memory_of(x.clone()).tobytes() == a.tobytes(), self.steps
        assert x.is_contiguous() == bool(a.flags.c_contiguous), self.steps

    def write(self, seed):
        """Writes new values through the last view; both bases must have them at the same positions."""
        values = random_memory(self.name, self.array.shape, seed + 1)
        if not is_injective(self.array):
            before = memory_of(self.root).tobytes()
            with pytest.raises(st.ShapeError, match=r"copy_: .*share memory"):
                self.tensor.copy_(fresh(values, self.name))
            assert memory_of(self.root).tobytes() == before
            return
        self.tensor.copy_(fresh(values, self.name))
        self.array[...] = values
        assert memory_of(self.root).tobytes() == self.base.tobytes(), self.steps
        assert memory_of(self.tensor).tobytes() == self.array.tobytes(), self.steps


def address(array):
    return array.__array_interface__["data"][0]


def is_injective(array):
    """Whether no two elements share a location."""
    where = np.zeros((), np.int64)
    for extent, stride in zip(array.shape, array.strides, strict=True):
        where = where[..., None] + np.arange(extent) * stride
    return len(np.unique(where)) == where.size


def writable(array):
    array.flags.writeable = True
    return array


# Each step draws arguments for a shape and applies them to both. It returns None if it does not apply to the shape.


def index(draw, p):
    key = draw(indices(p.array.shape))
    return f"[{key}]", p.tensor[key], p.array[key]


def one_slice(draw, p):
    if p.array.ndim == 0:
        return None
    key = draw(slices(p.array.shape[0]))
    return f"[{key}]", p.tensor[key], p.array[key]


def some_dim(draw, rank):
    return draw(hs.integers(-rank, rank - 1))


def transpose(draw, p):
    if p.array.ndim == 0:
        return None
    i, j = some_dim(draw, p.array.ndim), some_dim(draw, p.array.ndim)
    method = draw(hs.sampled_from(["transpose", "swapaxes", "swapdims"]))
    return f"{method}({i}, {j})", getattr(p.tensor, method)(i, j), p.array.swapaxes(i, j)


def t(draw, p):
    if p.array.ndim > 2:
        return None
    return "t()", p.tensor.t(), p.array.T


def reversed_dims(draw, p):
    return "T", p.tensor.T, p.array.T


def permute(draw, p):
    order = draw(hs.permutations(range(p.array.ndim)))
    order = [i - p.array.ndim if draw(hs.booleans()) else i for i in order]
    return f"permute({order})", p.tensor.permute(order), p.array.transpose(order)


def movedim(draw, p):
    rank = p.array.ndim
    count = draw(hs.integers(0, rank))
    source = draw(hs.permutations(range(rank)))[:count]
    to = draw(hs.permutations(range(rank)))[:count]
    return f"movedim({source}, {to})", p.tensor.movedim(source, to), np.moveaxis(p.array, source, to)


def unsqueeze(draw, p):
    if p.array.ndim > 7:
        return None
    dim = draw(hs.integers(-p.array.ndim - 1, p.array.ndim))
    return f"unsqueeze({dim})", p.tensor.unsqueeze(dim), np.expand_dims(p.array, dim)


def squeeze(draw, p):
    if p.array.ndim and draw(hs.booleans()):
        dim = some_dim(draw, p.array.ndim)
        array = p.array.squeeze(dim) if p.array.shape[dim] == 1 else p.array
        return f"squeeze({dim})", p.tensor.squeeze(dim), array
    return "squeeze()", p.tensor.squeeze(), p.array.squeeze()


def expand(draw, p):
    if p.array.ndim > 6 or p.array.size > 500:
        return None
    lead = draw(hs.lists(hs.integers(0, 3), max_size=2))
    shape = (*lead, *(draw(hs.integers(0, 3)) if n == 1 else n for n in p.array.shape))
    asked = [
        -1 if i >= len(lead) and draw(hs.booleans()) and p.array.shape[i - len(lead)] == n else n
        for i, n in enumerate(shape)
    ]
    return f"expand({asked})", p.tensor.expand(asked), expanded(p.array, shape)


def flip(draw, p):
    dims = draw(hs.permutations(range(p.array.ndim)))[: draw(hs.integers(0, p.array.ndim))]
    key = tuple(slice(None, None, -1 if i in dims else 1) for i in range(p.array.ndim))
    return f"flip({dims})", p.tensor.flip(dims), p.array[(*key, ...)]


def narrow(draw, p):
    if p.array.ndim == 0:
        return None
    dim = some_dim(draw, p.array.ndim)
    extent = p.array.shape[dim]
    start = draw(hs.integers(0, extent))
    length = draw(hs.integers(0, extent - start))
    array = np.moveaxis(np.moveaxis(p.array, dim, 0)[start : start + length], 0, dim)
    return f"narrow({dim}, {start}, {length})", p.tensor.narrow(dim, start, length), array


def select(draw, p):
    if 0 in p.array.shape or p.array.ndim == 0:
        return None
    dim = some_dim(draw, p.array.ndim)
    at = draw(hs.integers(-p.array.shape[dim], p.array.shape[dim] - 1))
    return f"select({dim}, {at})", p.tensor.select(dim, at), np.moveaxis(p.array, dim, 0)[at, ...]


def diagonal(draw, p):
    if p.array.ndim < 2:
        return None
    i, j = draw(hs.permutations(range(p.array.ndim)))[:2]
    offset = draw(hs.integers(-3, 3))
    array = writable(np.diagonal(p.array, offset, i, j))
    return f"diagonal({offset}, {i}, {j})", p.tensor.diagonal(offset, i, j), array


def unfold(draw, p):
    if p.array.ndim == 0 or p.array.ndim > 6:
        return None
    dim = some_dim(draw, p.array.ndim)
    extent = p.array.shape[dim]
    if extent == 0:
        return None
    size, step = draw(hs.integers(1, extent)), draw(hs.integers(1, 3))
    windows = np.lib.stride_tricks.sliding_window_view(p.array, size, dim, writeable=True)
    array = np.moveaxis(np.moveaxis(windows, dim % p.array.ndim, 0)[::step], 0, dim % p.array.ndim)
    return f"unfold({dim}, {size}, {step})", p.tensor.unfold(dim, size, step), array


def factors(draw, size):
    """A shape of that many elements."""
    shape = []
    while size > 1 and len(shape) < 4:
        factor = draw(hs.sampled_from([n for n in range(1, size + 1) if size % n == 0]))
        shape.append(factor)
        size //= factor
    return [*shape, size]


def view(draw, p):
    if p.array.size == 0:
        return None
    shape = factors(draw, p.array.size)
    if draw(hs.booleans()) and shape:
        at = draw(hs.integers(0, len(shape) - 1))
        asked = [*shape[:at], -1, *shape[at + 1 :]]
    else:
        asked = shape
    try:
        array = np.reshape(p.array, shape, copy=False)
    except ValueError:
        with pytest.raises(st.ShapeError, match=r"^view: .*cannot be viewed as .* without a copy"):
            p.tensor.view(*asked)
        copy = p.tensor.reshape(asked)
        assert memory_of(copy).tobytes() == p.array.tobytes()
        assert copy.is_contiguous() and not np.shares_memory(memory_of(copy), memory_of(p.root))
        return None
    name = draw(hs.sampled_from(["view", "reshape"]))
    return f"{name}({asked})", getattr(p.tensor, name)(*asked), array


def flatten(draw, p):
    if p.array.ndim == 0:
        return None
    start, end = sorted((draw(hs.integers(0, p.array.ndim - 1)), draw(hs.integers(0, p.array.ndim - 1))))
    shape = (*p.array.shape[:start], int(np.prod(p.array.shape[start : end + 1])), *p.array.shape[end + 1 :])
    try:
        array = np.reshape(p.array, shape, copy=False)
    except ValueError:
        return None
    return f"flatten({start}, {end})", p.tensor.flatten(start, end), array


def unflatten(draw, p):
    if p.array.ndim == 0 or 0 in p.array.shape or p.array.ndim > 6:
        return None
    dim = some_dim(draw, p.array.ndim)
    sizes = factors(draw, p.array.shape[dim])
    at = dim % p.array.ndim
    shape = (*p.array.shape[:at], *sizes, *p.array.shape[at + 1 :])
    return f"unflatten({dim}, {sizes})", p.tensor.unflatten(dim, sizes), np.reshape(p.array, shape, copy=False)


def picked(draw, p, text, tensors, arrays):
    assert isinstance(tensors, tuple)
    assert [tuple(x.shape) for x in tensors] == [a.shape for a in arrays], (p.steps, text)
    if not arrays:
        return None
    at = draw(hs.integers(0, len(arrays) - 1))
    return f"{text}[{at}]", tensors[at], arrays[at]


def cut(array, at, dim):
    return np.split(array, at, dim)


def unbind(draw, p):
    if p.array.ndim == 0:
        return None
    dim = some_dim(draw, p.array.ndim)
    arrays = [np.moveaxis(p.array, dim, 0)[i, ...] for i in range(p.array.shape[dim])]
    return picked(draw, p, f"unbind({dim})", p.tensor.unbind(dim), arrays)


def split(draw, p):
    if p.array.ndim == 0:
        return None
    dim = some_dim(draw, p.array.ndim)
    extent = p.array.shape[dim]
    if draw(hs.booleans()):
        size = draw(hs.integers(1, extent + 1))
        return picked(
            draw,
            p,
            f"split({size}, {dim})",
            p.tensor.split(size, dim),
            cut(p.array, list(range(size, extent, size)), dim),
        )
    marks = sorted(draw(hs.lists(hs.integers(0, extent), max_size=3)))
    sizes = [b - a for a, b in zip([0, *marks], [*marks, extent], strict=True)]
    return picked(draw, p, f"split({sizes}, {dim})", p.tensor.split(sizes, dim), cut(p.array, marks, dim))


def chunk(draw, p):
    if p.array.ndim == 0:
        return None
    dim = some_dim(draw, p.array.ndim)
    extent = p.array.shape[dim]
    if extent == 0:
        return None
    count = draw(hs.integers(1, 4))
    size = -(-extent // count)
    return picked(
        draw,
        p,
        f"chunk({count}, {dim})",
        p.tensor.chunk(count, dim),
        cut(p.array, list(range(size, extent, size)), dim),
    )


def tensor_split(draw, p):
    if p.array.ndim == 0:
        return None
    dim = some_dim(draw, p.array.ndim)
    count = draw(hs.integers(1, 4))
    return picked(
        draw, p, f"tensor_split({count}, {dim})", p.tensor.tensor_split(count, dim), np.array_split(p.array, count, dim)
    )


def parts(draw, p):
    if p.name not in COMPLEX:
        return None
    part = draw(hs.sampled_from(["real", "imag"]))
    p.name = {"complex64": "float32", "complex128": "float64"}[p.name]
    return part, getattr(p.tensor, part), getattr(p.array, part)


def view_dtype(draw, p):
    """`view(dtype)`: with elements of the same size for any strides, of another size if the last dim is contiguous."""
    name = draw(hs.sampled_from([name for name in DTYPES if name != "bool"]))
    if p.name == "bool" and name not in ("uint8", "int8"):
        return None
    old, new = memory_dtype(p.name).itemsize, memory_dtype(name).itemsize
    if old != new:
        last_is_dense = p.array.ndim > 0 and p.array.size > 0 and p.array.strides[-1] == old and p.array.shape[-1] > 1
        if not last_is_dense:
            return None
        if new > old:
            bytes_of_last = p.array.shape[-1] * old
            others = [*p.array.strides[:-1], address(p.array) - address(p.base)]
            if bytes_of_last % new or any(s % new for s in others):
                return None
    p.name = name
    return f"view({name})", p.tensor.view(getattr(st, name)), p.array.view(memory_dtype(name))


STEPS = [
    *(
        index,
        index,
        one_slice,
        transpose,
        t,
        reversed_dims,
        permute,
        movedim,
        unsqueeze,
        squeeze,
        expand,
        flip,
        narrow,
        select,
    ),
    *(diagonal, unfold, view, view, flatten, unflatten, unbind, split, chunk, tensor_split, parts, view_dtype),
]


def walk(data, name, shape, most):
    p = Pair(name, shape, data.draw(hs.integers(0, 1000)))
    for _ in range(data.draw(hs.integers(1, most))):
        found = data.draw(hs.sampled_from(STEPS))(data.draw, p)
        if found is not None:
            p.step(*found)
    return p


@settings(max_examples=400)
@given(hs.data(), dtypes, shapes())
def test_chains_of_views(data, name, shape):
    p = walk(data, name, shape, 6)
    p.write(data.draw(hs.integers(0, 1000)))


@pytest.mark.parametrize("step", sorted(set(STEPS), key=lambda f: f.__name__), ids=lambda f: f.__name__)
def test_each_view_alone(step):
    @settings(max_examples=40)
    @given(hs.data(), dtypes, shapes(max_dims=3))
    def check(data, name, shape):
        p = Pair(name, shape, 3)
        found = step(data.draw, p)
        if found is not None:
            p.step(*found)
            p.write(5)

    check()


@pytest.mark.parametrize("name", DTYPES)
def test_views_of_every_dtype_write_through(name):
    p = Pair(name, (4, 6), 1)
    p.step("[::-2, 1::2]", p.tensor[::-2, 1::2], p.array[::-2, 1::2])
    p.step("t", p.tensor.t(), p.array.T)
    p.write(2)


@given(hs.data(), shapes(max_dims=5, min_side=1, max_side=4))
def test_permute_and_its_inverse(data, shape):
    x = st.zeros(shape)
    order = data.draw(hs.permutations(range(len(shape))))
    back = [order.index(i) for i in range(len(shape))]
    assert x.permute(order).permute(back).is_set_to(x)


@given(hs.data(), dtypes, shapes())
def test_functions_equal_methods(data, name, shape):
    p = walk(data, name, shape, 3)
    x = p.tensor
    calls = [("t",)] if x.dim() <= 2 else []
    calls += [("squeeze",), ("unsqueeze", 0), ("flip", tuple(range(x.dim()))), ("permute", tuple(range(x.dim()))[::-1])]
    calls += [("expand", (2, *x.shape))]
    if x.dim():
        calls += [("transpose", 0, -1), ("narrow", 0, 0, x.size(0)), ("movedim", 0, -1)]
    for op, *args in calls:
        assert getattr(st, op)(x, *args).is_set_to(getattr(x, op)(*args)), op


@given(hs.data(), dtypes, shapes())
def test_in_place_layout_forms(data, name, shape):
    p = walk(data, name, shape, 3)
    x = p.tensor
    calls = [("squeeze",), ("unsqueeze", data.draw(hs.integers(-x.dim() - 1, x.dim())))]
    if x.dim():
        i, j = some_dim(data.draw, x.dim()), some_dim(data.draw, x.dim())
        calls += [("transpose", i, j), ("squeeze", i)]
    if x.dim() <= 2:
        calls += [("t",)]
    op, *args = data.draw(hs.sampled_from(calls))
    wanted = getattr(x, op)(*args)
    y = x.view(x.dtype)
    assert getattr(y, f"{op}_")(*args) is y
    assert y.is_set_to(wanted)
    assert not y.is_set_to(x) or x.is_set_to(wanted)


@given(hs.data(), hs.sampled_from(["uint8", "float32", "complex128"]))
def test_as_strided_within_the_storage(data, name):
    memory = random_memory(name, (60,), 4)
    x = fresh(memory, name)
    size = data.draw(hs.lists(hs.integers(0, 4), max_size=4))
    stride = [data.draw(hs.integers(-5, 5)) for _ in size]
    offset = data.draw(hs.integers(0, 59))
    reach = [(n - 1) * s for n, s in zip(size, stride, strict=True)]
    low, high = offset + sum(min(0, r) for r in reach), offset + sum(max(0, r) for r in reach)
    if 0 in size or (low >= 0 and high < 60):
        y = x.as_strided(size, stride, offset)
        item = memory.itemsize
        a = np.lib.stride_tricks.as_strided(memory[offset:], size, [s * item for s in stride])
        assert memory_of(y.clone()).tobytes() == a.tobytes()
        assert y.stride() == tuple(stride) and y.storage_offset() == offset and tuple(y.shape) == tuple(size)
        z = x.view(x.dtype)
        assert z.as_strided_(size, stride, offset).is_set_to(y)
    else:
        with pytest.raises(
            st.ShapeError, match=f"^as_strided: locations {low} to {high} leave a storage of 60 elements"
        ):
            x.as_strided(size, stride, offset)


def test_as_strided_starts_where_the_tensor_does():
    x = st.arange(10)[3:]
    assert x.as_strided((2, 2), (2, 1)).tolist() == [[3, 4], [5, 6]]
    assert x.as_strided((2, 2), (2, 1), 0).tolist() == [[0, 1], [2, 3]]
    assert st.as_strided(x, (3,), (-1,)).tolist() == [3, 2, 1]


@given(hs.data())
def test_fold_keeps_every_location(data):
    shape = data.draw(hs.lists(hs.integers(1, 4), min_size=1, max_size=4))
    order = data.draw(hs.permutations(range(len(shape))))
    x = st.arange(int(np.prod(shape))).view(shape).permute(order)
    y = x.fold()
    assert y.dim() == 1
    assert y.data_ptr() == x.data_ptr()
    assert y.tolist() == list(range(x.numel()))


def test_views_share_one_storage_object():
    x = st.zeros(4, 6)
    assert x.storage() is x.storage()
    assert x[1:, ::2].t().storage() is x.storage()
    assert x.clone().storage() is not x.storage()


def test_an_expanded_tensor_can_be_read_but_not_written():
    x = st.tensor([1, 2, 3]).expand(4, 3)
    assert x.stride() == (0, 1)
    assert x.tolist() == [[1, 2, 3]] * 4
    everything = slice(None)
    for write in (
        lambda: x.fill_(0),
        lambda: x.zero_(),
        lambda: x.copy_(st.zeros(3)),
        lambda: x.add_(1),
        lambda: x.__setitem__(everything, 0),
    ):
        with pytest.raises(st.ShapeError, match="share memory"):
            write()
    x[0] = 7  # one row does not overlap itself
    assert x.tolist() == [[7, 7, 7]] * 4


def test_an_empty_tensor_can_be_viewed_as_any_empty_shape():
    x = st.zeros(0, 3)
    assert x.view(3, 0, 5).shape == (3, 0, 5)
    assert x.reshape(0).shape == (0,)
    with pytest.raises(st.ShapeError, match=r"^view: "):
        x.view(0, -1)


def test_view_as_real():
    x = st.tensor([[1 + 2j, 3 + 4j]], dtype=st.complex64)
    y = x.view_as_real()
    assert y.tolist() == [[[1, 2], [3, 4]]]
    y[0, 1, 1] = -4
    assert x.tolist() == [[1 + 2j, 3 - 4j]]
    assert x.real.tolist() == [[1, 3]] and x.imag.tolist() == [[2, -4]]
    x.imag.zero_()
    assert x.tolist() == [[1 + 0j, 3 + 0j]]


@pytest.mark.parametrize("name", DTYPES)
def test_the_real_part_of_a_real_tensor_is_itself(name):
    x = st.zeros(2, dtype=name)
    if name in COMPLEX:
        return
    assert x.real is x
    with pytest.raises(st.DTypeError, match=f"^imag: .*{name}"):
        x.imag
