"""The buffer protocol, both ways: the memory is shared, and held exactly as long as a view of it exists."""

import array
import ctypes
import gc
import hashlib
import mmap
import resource
import sys
import weakref

import numpy as np
import pytest
from strategies import DTYPES, LAYOUTS, laid_out, memory_of, ordinary

import strided as st

FORMATS = {
    "bool": "?",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": np.dtype(np.uint64).char,
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": np.dtype(np.int64).char,
    "float16": "e",
    "float32": "f",
    "float64": "d",
    "complex64": "Zf",
    "complex128": "Zd",
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_tensor_is_a_buffer(name, layout):
    shape = LAYOUTS[layout][0]
    own = (1, shape[1]) if layout == "stride 0" else shape
    x = laid_out(layout, ordinary(name, own, 1), name)
    view = memoryview(x)
    assert view.format == FORMATS[name]
    assert view.itemsize == x.element_size() and view.ndim == x.dim() and view.shape == tuple(x.shape)
    assert view.nbytes == x.nbytes
    if x.size:
        for extent, mine, its in zip(x.shape, x.stride(), view.strides, strict=True):
            assert extent <= 1 or mine * x.element_size() == its
    assert not view.readonly
    assert view.c_contiguous == x.is_contiguous()
    a = np.asarray(view)
    assert a.dtype.name == name and a.shape == tuple(x.shape)
    assert a.tobytes() == view.tobytes() == bytes(x)
    assert x.numpy().tobytes() == a.tobytes()
    if x.size:
        assert a.__array_interface__["data"][0] == x.data_ptr()


@pytest.mark.parametrize("name", FORMATS)
def test_numpy_and_back(name):
    x = st.zeros(2, 3, dtype=name)
    a = x.numpy()
    assert type(a) is np.ndarray and a.dtype.name == name
    a[1, 2] = 1
    assert x[1, 2].item() == 1
    x[0, 0] = 1
    assert a[0, 0] == 1
    y = st.from_numpy(a)
    assert y.data_ptr() == x.data_ptr() and not y.owns_storage() and x.owns_storage()
    y.zero_()
    assert not a.any()


def test_array_protocol():
    x = st.arange(6).view(2, 3)
    assert np.asarray(x).ctypes.data == x.data_ptr()
    assert np.array(x).ctypes.data != x.data_ptr()
    assert np.asarray(x, dtype=np.float32).dtype == np.float32
    assert np.array(x, copy=False).ctypes.data == x.data_ptr()
    with pytest.raises(ValueError):
        np.array(x, dtype=np.float32, copy=False)
    assert np.stack([x, x]).tolist() == [x.tolist(), x.tolist()]


def test_bfloat16_has_no_format():
    x = st.tensor([1.5, 2.5], dtype=st.bfloat16)
    for export in (memoryview, np.asarray, lambda x: x.numpy(), bytearray):
        with pytest.raises(BufferError, match=r"bfloat16.*view\(uint16\)"):
            export(x)
    assert x.view(st.uint16).numpy().tolist() == [0x3FC0, 0x4020]
    assert bytes(x) == np.array([0x3FC0, 0x4020], np.uint16).tobytes()
    assert np.asarray(x.float()).tolist() == [1.5, 2.5]
    x.resize_(10)  # there is no export


def test_requests_that_strides_forbid():
    """A consumer that does not support strides gets no buffer of a tensor that needs them."""
    x = st.arange(6).view(2, 3).t()
    with pytest.raises((BufferError, TypeError)):
        ctypes.c_char.from_buffer(x)
    with pytest.raises((BufferError, ValueError)):
        hashlib.sha256(x)
    dense = st.arange(6)
    assert hashlib.sha256(dense).digest() == hashlib.sha256(bytes(dense)).digest()
    assert bytes(memoryview(x)) == np.arange(6).reshape(2, 3).T.tobytes()


# Sources


def test_bytes_are_shared_and_read_only():
    x = st.as_tensor(b"\x01\x02\x03")
    assert x.dtype is st.uint8 and x.tolist() == [1, 2, 3]
    for write in (
        lambda: x.fill_(0),
        lambda: x.__setitem__(0, 1),
        lambda: x.add_(1),
        lambda: x.copy_(x.clone()),
        lambda: x[1:].zero_(),
        lambda: st.add(x, x, out=x),
        lambda: x.t().neg_(),
    ):
        with pytest.raises(st.StorageError, match="read-only"):
            write()
    assert x.tolist() == [1, 2, 3]
    assert (x + 1).tolist() == [2, 3, 4]
    assert memoryview(x).readonly
    assert not x.numpy().flags.writeable
    with pytest.raises((BufferError, TypeError)):
        ctypes.c_char.from_buffer(x)


def test_a_read_only_array():
    a = np.arange(3)
    a.flags.writeable = False
    x = st.from_numpy(a)
    with pytest.raises(st.StorageError, match=r"^fill_: .*read-only"):
        x.fill_(0)
    with pytest.raises(st.StorageError, match=r"^resize_: "):
        x.resize_(10)
    assert a.tolist() == [0, 1, 2] and x.shape == (3,)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (bytearray(b"\x01\x02"), "uint8"),
        (memoryview(bytearray(b"\x01\x02")), "uint8"),
        (array.array("b", [1, 2]), "int8"),
        (array.array("H", [1, 2]), "uint16"),
        (array.array("i", [1, 2]), "int32"),
        (array.array("q", [1, 2]), "int64"),
        (array.array("L", [1, 2]), "uint64"),
        (array.array("f", [1, 2]), "float32"),
        (array.array("d", [1, 2]), "float64"),
        ((ctypes.c_int32 * 2)(1, 2), "int32"),
        ((ctypes.c_double * 2)(1, 2), "float64"),
        ((ctypes.c_uint8 * 2)(1, 2), "uint8"),
    ],
)
def test_python_s_own_buffers(source, name):
    x = st.as_tensor(source)
    assert x.dtype.name == name and x.tolist() == [1, 2] and not x.owns_storage()
    x[1] = 7
    assert source[1] == 7
    source[0] = 5
    assert x[0].item() == 5


def test_ctypes_of_two_dims():
    grid = ((ctypes.c_int16 * 3) * 2)((1, 2, 3), (4, 5, 6))
    x = st.as_tensor(grid)
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]]
    x[1, 2] = -1
    assert grid[1][2] == -1


def test_an_anonymous_map():
    with mmap.mmap(-1, 4096) as area:
        x = st.as_tensor(area)
        x.fill_(3)
        assert area[:3] == b"\x03\x03\x03"
        with pytest.raises(BufferError):
            area.close()
        del x
        gc.collect()


@pytest.mark.parametrize("name", FORMATS)
def test_odd_strides_of_arrays(name):
    a = ordinary(name, (5, 6), 1)
    views = [
        a[::-1],
        a[:, ::-2],
        a.T,
        np.broadcast_to(a[:1], (4, 6)),
        a[2:2],
        a[2, 3, ...],
        a[None, :, None],
        a[4:0:-3, ::5],
    ]
    for view in views:
        x = st.from_numpy(view)
        assert tuple(x.shape) == view.shape
        assert memory_of(x.clone()).tobytes() == view.tobytes()
        if view.size:
            assert x.data_ptr() == view.__array_interface__["data"][0]


def test_a_memoryview_cast_to_two_dims():
    view = memoryview(bytearray(range(24))).cast("i", (2, 3))
    x = st.as_tensor(view)
    assert x.dtype is st.int32 and x.shape == (2, 3) and x.stride() == (3, 1)
    assert x.tolist() == view.tolist()


@pytest.mark.parametrize("code", ["P", "0s", "u", "w"])
def test_formats_without_a_dtype(code):
    try:
        source = array.array(code) if code in "uw" else memoryview(bytearray(8)).cast("P")
    except (ValueError, DeprecationWarning):
        return
    with pytest.raises(TypeError, match="format"):
        st.from_numpy(source)


# Lifetimes


def exported_refuses(x, release):
    with pytest.raises(st.StorageError, match=r"^resize_: .*exported"):
        x.resize_(10_000)
    assert x.shape == (3,)
    release()
    gc.collect()
    x.resize_(10_000)
    assert x.shape == (10_000,) and x[:3].tolist() == [0, 1, 2]


def test_resize_waits_for_a_memoryview():
    x = st.arange(3)
    view = memoryview(x)
    exported_refuses(x, view.release)


def test_resize_waits_for_an_array():
    x = st.arange(3)
    held = [x.numpy()]
    exported_refuses(x, held.clear)


def test_resize_waits_for_the_last_of_many():
    x = st.arange(3)
    views = [memoryview(x), memoryview(x[1:]), x.numpy(), x.flip(0).numpy()[::-1], st.from_numpy(x.numpy())]
    while len(views) > 1:
        views.pop()
        gc.collect()
        with pytest.raises(BufferError):
            x.resize_(10_000)
    exported_refuses(x, views.clear)


def test_a_smaller_size_needs_no_new_memory():
    x = st.arange(6)
    view = memoryview(x)
    x.resize_(2, 3)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    view.release()


def test_memory_outlives_the_tensor():
    x = st.arange(1000)
    view, a = memoryview(x), x.numpy()
    del x
    gc.collect()
    trash = [st.full((1000,), 7) for _ in range(50)]
    assert view[999] == 999 and a.sum() == 499500
    del trash


class Exporter(np.ndarray):
    """An array that supports weak references."""


def test_an_exporter_is_freed_exactly_once_and_not_before():
    for keep in (
        lambda x: x,
        lambda x: x[1:],
        lambda x: x.view(2, 2),
        lambda x: memoryview(x),
        lambda x: x.numpy(),
        lambda x: x.storage(),
    ):
        a = np.arange(4.0).view(Exporter)
        gone = weakref.ref(a)
        count = sys.getrefcount(a)
        x = st.from_numpy(a)
        assert sys.getrefcount(a) > count
        held = keep(x)
        del x, a
        gc.collect()
        assert gone() is not None, "someone still looks"
        del held
        gc.collect()
        assert gone() is None


def test_a_bytearray_is_locked_while_it_is_shared():
    data = bytearray(8)
    x = st.frombuffer(data, dtype=st.int32)
    with pytest.raises(BufferError):
        data.append(1)
    y = x[1:]
    del x
    with pytest.raises(BufferError):
        data.append(1)
    del y
    gc.collect()
    data.append(1)


def test_a_refused_buffer_is_released():
    data = bytearray(9)
    for bad in (
        lambda: st.frombuffer(data, dtype=st.int32),
        lambda: st.frombuffer(data, dtype=st.int32, offset=100),
        lambda: st.from_numpy(np.frombuffer(data, np.uint8)[1:9].view(np.float64)),
        lambda: st.zeros(2) + np.frombuffer(data, np.uint8),
    ):
        with pytest.raises(ValueError):
            bad()
    gc.collect()
    data.append(1)


def test_reference_counts_do_not_creep():
    a, x = np.arange(8.0), st.arange(8.0)
    dtype = st.float64
    before = [sys.getrefcount(o) for o in (a, x, dtype, st.Tensor, None, True)]
    for _ in range(100):
        st.from_numpy(a)
        st.tensor(a)
        x.numpy()
        memoryview(x).release()
        x + a
        bytes(x)
        x.tolist()
        x.to(dtype)
        x[1:3]
        x.sum()
        x.shape
        x.layout
    gc.collect()
    after = [sys.getrefcount(o) for o in (a, x, dtype, st.Tensor, None, True)]
    assert after[:3] == before[:3]
    assert abs(after[3] - before[3]) < 5
    assert abs(after[4] - before[4]) < 50 and abs(after[5] - before[5]) < 50


def test_memory_is_stable_over_many_exchanges():
    a, x = np.zeros(1000), st.zeros(1000)

    def exchange(count):
        for _ in range(count):
            y = st.from_numpy(a)
            b = x.numpy()
            memoryview(y).release()
            z = y + 1
            z[1:].clone()
            del b

    exchange(5000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    exchange(100_000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 20_000, f"{grown} kB more after 10^5 exchanges"


@pytest.mark.parametrize("name", DTYPES)
def test_bytes(name):
    memory = ordinary(name, (4, 3), 1)
    x = laid_out("dense", np.zeros((), "uint8"), name)[:3, :4].t()
    x.copy_(st.from_numpy(memory).view(st.bfloat16) if name == "bfloat16" else st.from_numpy(memory))
    assert bytes(x) == memory.tobytes()
    assert bytes(x.flip(0)) == memory[::-1].tobytes()
    assert bytes(st.zeros(0, dtype=name)) == b""
