"""Reading and writing by index, compared with NumPy; an assignment acts as if its source were copied first."""

import array
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from strategies import DTYPES, dtypes, fresh, memory_of, ordinary, random_memory, values_of

import strided as st
from strided.testing import broadcastable_shapes, indices, shapes


@settings(max_examples=200)
@given(hs.data(), dtypes, shapes())
def test_reading(data, name, shape):
    memory = random_memory(name, shape, 1)
    x = fresh(memory, name)
    key = data.draw(indices(shape))
    assert memory_of(x[key]).tobytes() == memory[key].tobytes()
    assert tuple(x[key].shape) == memory[key].shape


@settings(max_examples=200)
@given(hs.data(), dtypes, shapes())
def test_writing_a_broadcast_tensor(data, name, shape):
    memory = random_memory(name, shape, 1)
    x = fresh(memory, name)
    key = data.draw(indices(shape))
    values = random_memory(name, data.draw(broadcastable_shapes(memory[key].shape)), 2)
    x[key] = fresh(values, name)
    memory[key] = values
    assert memory_of(x).tobytes() == memory.tobytes()


@given(hs.data(), shapes())
def test_writing_a_number(data, shape):
    name = data.draw(hs.sampled_from([n for n in DTYPES if n != "bfloat16"]))
    memory = random_memory(name, shape, 1)
    x = fresh(memory, name)
    key = data.draw(indices(shape))
    number = data.draw(hs.sampled_from([True, 0, 7, 2.75]))
    x[key] = number
    memory[key] = number
    assert memory_of(x).tobytes() == memory.tobytes()


@given(hs.data(), shapes())
def test_writing_an_array_or_a_list(data, shape):
    a = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    x = st.from_numpy(a.copy())
    key = data.draw(indices(shape))
    values = -np.arange(a[key].size, dtype=np.int64).reshape(a[key].shape)
    kind = data.draw(hs.sampled_from(["array", "list"]))
    if kind == "list" and 0 in values.shape[:-1]:
        return  # a list cannot represent extents after one of 0
    x[key] = values if kind == "array" else values.tolist()
    a[key] = values
    assert x.tolist() == a.tolist()


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", ["uint8", "float32", "complex128", "bool"])
def test_writing_casts_freely(source, target):
    values = fresh(ordinary(source, (3, 4), 1), source)
    x = st.zeros(3, 4, dtype=target)
    x[...] = values
    assert memory_of(x).tobytes() == memory_of(values.to(target)).tobytes()
    y = st.zeros(4, 3, dtype=target).t()
    y.copy_(values)
    assert memory_of(y).tobytes() == memory_of(x).tobytes()


def sources(x):
    """Everything that may be assigned to x[...], each with the values 1, 2, 3."""
    yield [1, 2, 3]
    yield (1, 2, 3)
    yield range(1, 4)
    yield np.array([1, 2, 3], np.int16)
    yield np.array([[1, 2, 3]], np.float64)
    yield array.array("h", [1, 2, 3])
    yield b"\x01\x02\x03"
    yield bytearray(b"\x01\x02\x03")
    yield memoryview(b"\x01\x02\x03")
    yield st.tensor([1, 2, 3], dtype=st.bfloat16)
    yield [st.tensor(1), np.float32(2), 3]


@pytest.mark.parametrize("name", DTYPES)
def test_whatever_holds_numbers_can_be_written(name):
    if name == "bool":
        return
    x = st.zeros(2, 3, dtype=name)
    for source in sources(x):
        x.zero_()
        x[1] = source
        assert x.tolist() == [[0, 0, 0], [1, 2, 3]], source
        x[:, ::-1] = source
        assert x.tolist() == [[3, 2, 1], [3, 2, 1]], source


@pytest.mark.parametrize(
    "number", [np.float32(3), np.int8(3), np.array(3), np.array([3]), st.tensor(3), st.tensor([[3.0]]), True + 2]
)
def test_numbers_of_other_kinds(number):
    x = st.zeros(2, 2, dtype=st.int32)
    x[0, 1] = number
    x[1] = number
    assert x.tolist() == [[0, 3], [3, 3]]


# Overlap: the whole right side is read before anything is written.

OVERLAPS = {
    "down": (np.s_[1:], np.s_[:-1]),
    "up": (np.s_[:-1], np.s_[1:]),
    "backwards": (np.s_[:], np.s_[::-1]),
    "backwards, shifted": (np.s_[1:], np.s_[-2::-1]),
    "every other": (np.s_[::2], np.s_[: (40 + 1) // 2]),
    "spread": (np.s_[: (40 + 1) // 2], np.s_[::2]),
    "one to all": (np.s_[:], np.s_[17:18]),
    "itself": (np.s_[:], np.s_[:]),
}


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("case", OVERLAPS)
def test_overlapping_assignment(name, case):
    to, of = OVERLAPS[case]
    for shape in ((40,), (40, 3), (40, 40)):
        memory = random_memory(name, shape, 9)
        x = fresh(memory, name)
        x[to] = x[of]
        memory[to] = memory[of].copy()
        assert memory_of(x).tobytes() == memory.tobytes(), shape


@pytest.mark.parametrize("name", DTYPES)
def test_overlapping_assignment_of_a_transpose(name):
    memory = random_memory(name, (65, 65), 3)
    x = fresh(memory, name)
    x[:] = x.t()
    assert memory_of(x).tobytes() == memory.T.tobytes()
    x.copy_(x.flip(0))
    assert memory_of(x).tobytes() == memory.T[::-1].tobytes()


@given(hs.data(), dtypes, hs.integers(1, 30))
def test_overlapping_assignment_of_any_two_slices(data, name, n):
    memory = random_memory(name, (n,), 9)
    x = fresh(memory, name)
    count = data.draw(hs.integers(0, n))

    def piece():
        most = (n - 1) // max(count - 1, 1)
        step = data.draw(hs.integers(1, max(most, 1)))
        start = data.draw(hs.integers(0, n - 1 - max(count - 1, 0) * step))
        piece = [start + i * step for i in range(count)]
        return piece[::-1] if data.draw(hs.booleans()) else piece

    def through(indices):
        if not indices:
            return slice(0, 0)
        step = indices[1] - indices[0] if len(indices) > 1 else 1
        stop = indices[-1] + (1 if step > 0 else -1)
        return slice(indices[0], None if stop < 0 else stop, step)

    to, of = piece(), piece()
    x[through(to)] = x[through(of)]
    memory[to] = memory[of]
    assert memory_of(x).tobytes() == memory.tobytes()


@pytest.mark.parametrize("op", [operator.iadd, operator.isub, operator.imul])
@pytest.mark.parametrize("name", ["uint8", "int64", "float16", "bfloat16", "float32", "complex64"])
def test_overlapping_in_place_arithmetic(op, name):
    pairs = {
        "transpose": (lambda x: x, lambda x: x.T),
        "flip": (lambda x: x, lambda x: x[::-1]),
        "shift": (lambda x: x[1:], lambda x: x[:-1]),
        "other shift": (lambda x: x[:-1], lambda x: x[1:]),
        "row": (lambda x: x, lambda x: x[4]),
        "column": (lambda x: x, lambda x: x[:, 4:5]),
        "itself": (lambda x: x, lambda x: x),
    }
    for case, (to, of) in pairs.items():
        base = np.arange(81).reshape(9, 9) % 13
        name_of_memory = np.float32 if name == "bfloat16" else name
        a = base.astype(name_of_memory)
        x = st.from_numpy(a.copy()).to(getattr(st, name))
        op(to(x), of(x))
        with np.errstate(all="ignore"):
            to(a)[...] = {"iadd": np.add, "isub": np.subtract, "imul": np.multiply}[op.__name__](to(a), of(a).copy())
        assert values_of(x).tolist() == a.tolist(), case


def test_a_cast_over_the_same_bytes():
    x = st.arange(8, dtype=st.int32)
    x.view(st.float32).copy_(x)
    assert x.view(st.float32).tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    y = st.arange(8, dtype=st.int16)
    y[:] = y.view(st.uint8)[::2].flip(0)
    assert y.tolist() == [7, 6, 5, 4, 3, 2, 1, 0]
    z = st.arange(4, dtype=st.float64)
    z.view(st.float32)[:4] = z
    assert z.view(st.float32)[:4].tolist() == [0, 1, 2, 3]


def test_one_element():
    x = st.arange(12).view(3, 4)
    y = x[1, 2]
    assert y.shape == () and y.item() == 6 and y.storage_offset() == 6
    y.fill_(-1)
    assert x[1][2].item() == -1
    x[2][3] = 100
    assert x[2, 3].item() == 100
    x[-1, -1] = 5
    assert x.item(2, 3) == 5
    assert x.item((2, 3)) == 5


def test_complex_into_real_keeps_the_real_part():
    x = st.zeros(2)
    x[:] = st.tensor([1 + 2j, 3 - 4j])
    assert x.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (3, IndexError),
        (-4, IndexError),
        ((0, 4), IndexError),
        ((0, 0, 0), IndexError),
        ((..., ...), IndexError),
        (1.0, TypeError),
        ("a", TypeError),
        (slice(None, None, 0), ValueError),
        (slice("a"), TypeError),
        (2**70, (IndexError, OverflowError)),
    ],
)
def test_bad_keys(key, error):
    x = st.arange(12).view(3, 4)
    before = x.tolist()
    with pytest.raises(error):
        x[key]
    with pytest.raises(error):
        x[key] = 1
    with pytest.raises(error):
        x[key] = st.zeros(1)
    assert x.tolist() == before


@pytest.mark.parametrize(
    "value", [st.zeros(3), st.zeros(2, 4), [1, 2, 3], [[1, 2], [3]], "abcd", object(), {}, {1, 2}, None]
)
def test_bad_values(value):
    x = st.arange(12).view(3, 4)
    before = x.tolist()
    with pytest.raises((ValueError, TypeError)):
        x[:2] = value if not isinstance(value, st.Tensor) or value.dim() == 1 else value[:, :3]
    assert x.tolist() == before


def test_elements_cannot_be_deleted():
    x = st.arange(3)
    with pytest.raises(TypeError, match="delete"):
        del x[0]
    assert x.tolist() == [0, 1, 2]
