"""Pickling and deep copies: values, sharing, and how much is written."""

import copy
import mmap
import multiprocessing
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import strided as st
from strided import _pickle

DTYPES = [
    "bool",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
every_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)
LARGE = 2 * _pickle.MAX_WHOLE_BYTES  # elements of float32: eight times the bytes that are always written in full


def round_trip(x, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(x, protocol))


def same(x, y):
    return type(x) is type(y) and x.dtype is y.dtype and x.layout == y.layout and x.tolist() == y.tolist()


# Values


@every_protocol
@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype(name, protocol):
    x = st.tensor([[0, 1, 1], [1, 0, 1]], dtype=name)
    assert same(round_trip(x, protocol), x)
    s = round_trip(x.storage(), protocol)
    assert s.dtype is x.dtype and s.tolist() == x.storage().tolist()
    assert round_trip(x.dtype, protocol) is x.dtype


@every_protocol
@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.t(),
        lambda x: x.flip(0, 1),
        lambda x: x[::-2, 1:],
        lambda x: x[2, 3],
        lambda x: x[1:1],
        lambda x: x[0].expand(3, 4),
        lambda x: x.unfold(0, 2, 1),
        lambda x: x.view(st.int32),
        lambda x: st.zeros(0, 3),
        lambda x: st.tensor(2.5),
    ],
)
def test_every_kind_of_view(view, protocol):
    x = view(st.arange(12).view(3, 4))
    assert same(round_trip(x, protocol), x)


@every_protocol
def test_the_other_values(protocol):
    x = st.zeros(2, 3)
    for value in (x.shape, x.layout, st.Size([]), x.device, x.size):
        made = round_trip(value, protocol)
        assert made == value
        assert type(made) is (int if value is x.size or isinstance(value, int) else type(value))


@given(some.lists(some.floats(width=32), max_size=20), some.sampled_from(PROTOCOLS))
def test_bits_survive(values, protocol):
    x = st.tensor(values, dtype=st.float32)
    assert round_trip(x, protocol).view(st.int32).tolist() == x.view(st.int32).tolist()


def test_in_another_process():
    x = st.arange(6).view(2, 3).t()
    code = "import pickle, sys; x = pickle.load(sys.stdin.buffer); print(x.tolist(), x.stride(), x.type())"
    out = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(x), capture_output=True, check=True)
    assert out.stdout.decode().strip() == f"{x.tolist()} (1, 3) strided.LongTensor"
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert same(pool.apply(st.Tensor.t, (x,)), x.t())


# Sharing


@every_protocol
def test_sharing_survives(protocol):
    x = st.zeros(2, 3)
    y, row, bits, storage = round_trip((x, x[1], x.view(st.int32), x.storage()), protocol)
    assert y.storage() is row.storage() is storage
    y[1, 0] = 1
    assert row.tolist() == [1, 0, 0] and bits[1, 0].item() == 0x3F800000 and storage[3] == 1
    assert x[1, 0].item() == 0
    z = st.zeros(2, dtype=st.complex64)
    whole, part = round_trip((z, st.imag(z)), protocol)
    part[1] = 5
    assert whole.tolist() == [0, 5j]


def test_a_large_storage_is_written_once():
    x = st.zeros(LARGE)
    assert len(pickle.dumps((x, x[1:], x.view(-1, 2)))) < 4 * LARGE + 1000


@pytest.mark.parametrize("protocol", [2, 5])
def test_a_small_view_of_a_large_storage_writes_its_span(protocol):
    x = st.arange(LARGE, dtype=st.float32)
    for part in (x[1000:1010], x[1010:1000:-3], x[5], x[7:7], x.view(-1, 4)[3:5, ::2], x[10:12].view(st.uint8)):
        written = pickle.dumps(part, protocol)
        made = pickle.loads(written)
        assert len(written) < 1000 and made.storage().nbytes < 200
        assert made.tolist() == part.tolist() and made.stride() == part.stride() and made.shape == part.shape
    half = x[: LARGE // 2]
    assert round_trip(half, protocol).storage().size() == LARGE
    assert round_trip(x[: LARGE // 2 - 1], protocol).storage().size() == LARGE // 2 - 1


def test_a_small_storage_is_written_whole():
    x = st.arange(1000)
    assert round_trip(x[3]).storage().size() == 1000


# Out of band


def out_of_band(x):
    buffers = []
    return pickle.dumps(x, protocol=5, buffer_callback=buffers.append), buffers


def test_out_of_band_nothing_is_copied():
    x = st.zeros(LARGE)
    data, buffers = out_of_band((x, x[1:]))
    assert len(data) < 1000 and len(buffers) == 1 and buffers[0].raw().nbytes == 4 * LARGE
    y, rest = pickle.loads(data, buffers=buffers)
    y[1] = 5
    assert x[1].item() == 5 == rest[0].item() and y.data_ptr() == x.data_ptr()


def test_out_of_band_buffers_hold_the_span_too():
    x = st.arange(LARGE)
    data, buffers = out_of_band(x[10:20])
    assert [buffer.raw().nbytes for buffer in buffers] == [80]
    assert pickle.loads(data, buffers=buffers).tolist() == list(range(10, 20))


def test_the_buffer_holds_the_storage_in_place():
    x = st.zeros(4)
    data, buffers = out_of_band(x)
    with pytest.raises(st.StorageError):
        x.storage().resize_(8)
    y = pickle.loads(data, buffers=buffers)
    del buffers
    with pytest.raises(st.StorageError):
        x.storage().resize_(8)
    del y
    assert x.storage().resize_(8).size() == 8


@pytest.mark.parametrize(
    "form", [memoryview, lambda b: memoryview(bytearray(b)), lambda b: np.frombuffer(bytearray(b), "i2")]
)
def test_buffers_of_many_kinds_are_shared(form):
    x = st.arange(4)
    data, buffers = out_of_band(x)
    brought = [form(buffer.raw()) for buffer in buffers]
    y = pickle.loads(data, buffers=brought)
    y[0] = 77
    assert y.tolist() == [77, 1, 2, 3] and not y.storage().owns_memory
    assert memoryview(brought[0]).cast("B")[0] == 77


def test_read_only_buffers_give_read_only_storages():
    x = st.arange(4)
    data, buffers = out_of_band(x)
    mapped = mmap.mmap(-1, 32)
    mapped[:] = buffers[0].raw()
    for brought in (bytes(buffers[0].raw()), memoryview(bytes(buffers[0].raw())), memoryview(mapped).toreadonly()):
        y = pickle.loads(data, buffers=[brought])
        assert y.tolist() == [0, 1, 2, 3] and y.storage().readonly
        with pytest.raises(st.StorageError, match="read-only"):
            y.fill_(0)
    frozen = np.arange(4)
    frozen.flags.writeable = False
    data, buffers = out_of_band(st.from_numpy(frozen))
    assert pickle.loads(data, buffers=buffers).storage().readonly


def test_a_misaligned_buffer_is_copied():
    data, buffers = out_of_band(st.arange(4))
    shifted = memoryview(bytearray(b"x" + bytes(buffers[0].raw())))[1:]
    y = pickle.loads(data, buffers=[shifted])
    y[0] = 5
    assert y.tolist() == [5, 1, 2, 3] and shifted[0] == 0


@every_protocol
def test_memory_loaded_in_band_is_not_shared(protocol):
    frozen = np.arange(4)
    frozen.flags.writeable = False
    for x in (st.arange(4), st.from_numpy(frozen)):
        y = round_trip(x, protocol)
        assert y.storage().owns_memory and not y.storage().readonly and y.data_ptr() % 64 == 0
        y.storage().resize_(6)
        assert y.fill_(1).tolist() == [1, 1, 1, 1]


# What cannot be loaded


def test_bytes_of_another_machine_are_refused():
    other = "big" if sys.byteorder == "little" else "little"
    with pytest.raises(ValueError, match=f"{other}-endian"):
        _pickle.load_bytes(b"1234", True, other)


@pytest.mark.parametrize(
    ("shape", "stride", "offset"),
    [((5,), (1,), 0), ((2,), (1,), 3), ((2,), (-1,), 0), ((2**60,), (2**60,), 0), ((2,), (), 0)],
)
def test_a_forged_layout_is_refused(shape, stride, offset):
    with pytest.raises(ValueError, match="as_strided"):
        _pickle.load_tensor(st.Tensor, st.ByteStorage(4), st.uint8, shape, stride, offset)


# Copies


def test_copy_is_a_new_handle():
    x = st.zeros(2, 3).t()
    y = copy.copy(x)
    assert y is not x and y.is_set_to(x)
    y.t_()
    assert x.shape == (3, 2)


def test_deepcopy_keeps_the_sharing():
    x = st.arange(12).view(3, 4)
    things = {"x": x, "row": x[1], "back": x.flip(0), "bits": x.view(st.int32), "storage": x.storage(), "round_trip": x}
    made = copy.deepcopy(things)
    assert made["x"] is made["round_trip"] and made["x"].storage() is made["row"].storage() is made["storage"]
    assert all(same(made[name], things[name]) for name in ("x", "row", "back", "bits"))
    made["x"][1, 0] = -1
    assert made["row"][0].item() == made["back"][1, 0].item() == made["storage"][4] == -1
    assert x[1, 0].item() == 4


@pytest.mark.parametrize("name", DTYPES)
def test_deepcopy_of_every_dtype(name):
    x = st.tensor([[0, 1], [1, 1]], dtype=name).t()
    y = copy.deepcopy(x)
    assert same(x, y) and y.storage() is not x.storage()
    s = x.storage()
    assert copy.deepcopy([s, s])[0].tolist() == s.tolist()


# Subclasses made in Python


class Named(st.Tensor):
    """A tensor with attributes."""


class Slotted(st.FloatTensor):
    __slots__ = ("label",)


@every_protocol
def test_subclasses_and_their_attributes(protocol):
    x = Named([1, 2])
    x.label, x.other = "a", st.zeros(1)
    y = round_trip(x, protocol)
    assert type(y) is Named and y.tolist() == [1, 2] and y.label == "a" and y.other.tolist() == [0]
    if protocol >= 2:
        z = Slotted([3])
        z.label = "b"
        assert round_trip(z, protocol).label == "b"


def test_deepcopy_of_subclasses():
    x = Named([1, 2])
    x.itself, x.rest = x, [x[1:]]
    y = copy.deepcopy(x)
    assert type(y) is Named and y.itself is y and y.rest[0].storage() is y.storage()
    z = Slotted([3])
    z.label = ["b"]
    made = copy.deepcopy(z)
    assert type(made) is Slotted and made.label == ["b"] and made.label is not z.label
