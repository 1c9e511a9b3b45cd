"""Arrays of other libraries in every function that takes one: valid, unusual and hostile interfaces, and asarray's rules for copies."""

import array
import contextlib
import ctypes
import gc
import resource
import sys
import weakref

import numpy as np
import pytest
from strategies import DTYPES, LAYOUTS, laid_out, ordinary

import strided as st

NUMPY = [name for name in DTYPES if name != "bfloat16"]


class Offers:
    """An object with an `__array_interface__` and nothing else."""

    def __init__(self, interface, keep=None):
        self.__array_interface__ = interface
        self.keep = keep


class Converts:
    """An object with `__array__` and nothing else."""

    def __init__(self, result):
        self.result = result

    def __array__(self, dtype=None, copy=None):
        return self.result


def offer(a, **changes):
    """The interface of an array, without its buffer; a change to ``...`` leaves a field out."""
    fields = {**a.__array_interface__, **changes}
    return Offers({name: value for name, value in fields.items() if value is not ...}, a)


def item_assignment(a):
    x = st.zeros(np.shape(a.keep) if isinstance(a, Offers) else 2, dtype=st.float64)
    x[...] = a
    return x


#: Functions that convert: they copy what cannot be shared.
CONVERTING = {
    "tensor": st.tensor,
    "as_tensor": st.as_tensor,
    "asarray": st.asarray,
    "asarray copy": lambda a: st.asarray(a, copy=True),
    "new_tensor": lambda a: st.zeros(1, dtype=st.float64).new_tensor(a),
    "DoubleTensor": st.DoubleTensor,
    "nested": lambda a: st.tensor([a])[0],
    "copy_": lambda a: st.zeros(2, dtype=st.float64).copy_(st.as_tensor(a)),
    "item assignment": item_assignment,
    "DoubleStorage": st.DoubleStorage,
}
#: Functions that only share.
SHARING = {"from_numpy": st.from_numpy, "asarray no copy": lambda a: st.asarray(a, copy=False)}
ENTRIES = CONVERTING | SHARING

REFUSED = (TypeError, ValueError, OverflowError, BufferError)


# The interface of a tensor


@pytest.mark.parametrize("name", NUMPY)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_tensor_describes_itself(name, layout):
    shape = LAYOUTS[layout][0]
    own = (1, shape[1]) if layout == "stride 0" else shape
    x = laid_out(layout, ordinary(name, own, 1), name)
    fields = x.__array_interface__
    assert fields["version"] == 3 and fields["shape"] == tuple(x.shape) and type(fields["shape"]) is tuple
    assert fields["typestr"] == np.dtype(name).str
    assert (fields["strides"] is None) == x.is_contiguous()
    a = np.asarray(Offers(fields, x))  # NumPy reads the dict, not the buffer
    assert a.dtype == name and a.shape == x.shape and a.tobytes() == x.numpy().tobytes()
    if x.size:
        assert fields["data"] == (x.data_ptr(), False)
        assert a.ctypes.data == x.data_ptr()
        y = st.from_numpy(Offers(fields, x))
        assert y.data_ptr() == x.data_ptr() and y.dtype is x.dtype and y.shape == x.shape
        assert bytes(y) == bytes(x)


def test_bfloat16_has_no_interface():
    x = st.zeros(2, dtype=st.bfloat16)
    assert not hasattr(x, "__array_interface__")
    with pytest.raises(AttributeError, match=r"bfloat16.*view\(uint16\)"):
        x.__array_interface__
    x.resize_(1000)


def test_read_only_memory_says_so():
    x = st.frombuffer(b"12345678")
    assert x.__array_interface__["data"][1] is True
    assert not np.asarray(Offers(x.__array_interface__, x)).flags.writeable


def test_memory_whose_address_was_exported_stays_in_place():
    x = st.arange(3)
    interface = x.__array_interface__
    for _ in range(10):
        assert x.__array_interface__ == interface
    del interface
    gc.collect()
    with pytest.raises(st.StorageError, match=r"^resize_: .*__array_interface__"):
        x.resize_(10_000)
    with pytest.raises(st.StorageError, match="__array_interface__"):
        x.storage().resize_(10_000)
    assert x.tolist() == [0, 1, 2]
    x.resize_(2)  # fits
    view = memoryview(x)
    view.release()
    with pytest.raises(st.StorageError, match="__array_interface__"):
        x[1:].resize_(10_000)
    y = x.clone()
    y.resize_(10_000)


def test_numpy_asks_for_the_buffer_first():
    x = st.arange(3)
    np.asarray(x), np.array(x), np.add(x, 1), np.stack([x, x])
    gc.collect()
    x.resize_(1000)  # no permanent export is left


# Valid interfaces


@pytest.mark.parametrize("name", NUMPY)
def test_an_interface_is_shared(name):
    a = ordinary(name, (3, 4), 1)
    for part in (
        a,
        a.T,
        a[1:, ::2],
        a[::-1, ::-1],
        a[:0],
        a[1:2, 2],
        np.array(a[1, 2]),
        a[:, :1],
        np.broadcast_to(a[0], (3, 4)),
    ):
        x = st.from_numpy(offer(part))
        assert x.dtype.name == name and x.shape == part.shape
        assert x.numpy().tobytes() == part.tobytes()
        if part.size:
            assert x.data_ptr() == part.ctypes.data
        assert st.tensor(offer(part)).numpy().tobytes() == part.tobytes()
    x = st.from_numpy(offer(a))
    x[1, 2] = 1
    assert a[1, 2] == 1


def test_read_only_arrays_give_read_only_tensors():
    a = np.arange(3.0)
    a.flags.writeable = False
    for source in (a, offer(a), memoryview(a), Converts(a)):
        x = st.from_numpy(source)
        assert x.data_ptr() == a.ctypes.data
        for write in (lambda x=x: x.fill_(1), lambda x=x: x[1:].add_(1), lambda x=x: x.__setitem__(0, 1)):
            with pytest.raises(st.StorageError, match="read-only"):
                write()
        with pytest.raises(TypeError, match="not writable"):
            ctypes.c_char.from_buffer(x)
        assert not x.numpy().flags.writeable
        assert st.tensor(source).add_(1).tolist() == [1, 2, 3]
    assert a.tolist() == [0, 1, 2]


def test_data_may_be_a_buffer_with_an_offset():
    data = bytearray(np.arange(6, dtype=np.int32).tobytes())
    source = Offers({"shape": (2, 2), "typestr": "=i4", "data": data, "offset": 4, "version": 3})
    x = st.from_numpy(source)
    assert x.tolist() == [[1, 2], [3, 4]]
    x[0, 0] = 9
    assert data[4] == 9
    with pytest.raises(BufferError):
        data.append(1)
    del x, source
    gc.collect()
    data.append(1)
    fixed = Offers({"shape": (2,), "typestr": "|u1", "data": b"ab", "version": 3})
    with pytest.raises(st.StorageError, match="read-only"):
        st.from_numpy(fixed).zero_()
    back = Offers({"shape": (3,), "typestr": "|u1", "strides": (-1,), "data": b"abc", "offset": 2, "version": 3})
    assert st.from_numpy(back).tolist() == [99, 98, 97]


@pytest.mark.parametrize("entry", ENTRIES)
def test_objects_that_convert_themselves(entry):
    a = np.array([1.5, 2.5])
    x = ENTRIES[entry](Converts(a))
    assert (x.tolist() if isinstance(x, st.Tensor) else list(x)) == [1.5, 2.5]


@pytest.mark.parametrize("entry", ENTRIES)
def test_bad_conversions(entry):
    class Raises:
        def __array__(self, dtype=None, copy=None):
            raise KeyError("its own error")

    with pytest.raises(KeyError, match="its own error"):
        ENTRIES[entry](Raises())
    for result in (None, [1, 2], 3, Converts(np.zeros(2))):
        with pytest.raises(TypeError, match="__array__ of Converts must give an array, got"):
            ENTRIES[entry](Converts(result))


def test_attributes_that_raise():
    class Raises:
        @property
        def __array_interface__(self):
            raise RuntimeError("its own error")

    for entry in ENTRIES.values():
        with pytest.raises(RuntimeError, match="its own error"):
            entry(Raises())
    for entry in ENTRIES.values():
        with pytest.raises(REFUSED):
            entry(np.ndarray)  # a class has the attribute of its instances


def test_a_sequence_that_is_an_array_is_one():
    class Both(Offers):
        def __len__(self):
            return 5

        def __getitem__(self, index):
            raise AssertionError("nobody should look")

    a = np.arange(4.0)
    assert st.tensor(Both(a.__array_interface__, a)).tolist() == [0, 1, 2, 3]
    assert st.tensor([Both(a.__array_interface__, a)]).tolist() == [[0, 1, 2, 3]]


# Byte order


@pytest.mark.parametrize("name", NUMPY)
def test_the_byte_order_of_another_machine(name):
    a = ordinary(name, (3, 4), 1)
    swapped = a.astype(a.dtype.newbyteorder())
    for part in (slice(None), (slice(None), slice(None, None, 2)), slice(None, None, -1), (1, 2), slice(0, 0)):
        wanted, other_order = a[part], swapped[part]
        for source in (other_order, offer(np.asarray(other_order))):
            for make in (st.tensor, st.as_tensor, st.asarray, lambda a: st.asarray(a, copy=True)):
                x = make(source)
                assert x.dtype.name == name and x.numpy().tobytes() == wanted.tobytes()
    if a.itemsize > 1:
        for source in (swapped, offer(swapped)):
            with pytest.raises(st.StorageError, match=r"^from_numpy: .*byte order of another machine; copy it first"):
                st.from_numpy(source)
            with pytest.raises(ValueError, match=r"^asarray: copy is False, but .* needs a copy"):
                st.asarray(source, copy=False)


def test_swapped_bytes_as_operands_and_scalars():
    swapped = np.array([1.5, 2.5], np.dtype("d").newbyteorder())
    for entry in CONVERTING:
        x = CONVERTING[entry](swapped)
        assert (x.tolist() if isinstance(x, st.Tensor) else list(x)) == [1.5, 2.5], entry
    assert (st.zeros(2) + swapped).tolist() == (swapped + st.zeros(2)).tolist() == [1.5, 2.5]
    x = st.ones(2, dtype=st.float64)
    x *= swapped
    assert x.tolist() == [1.5, 2.5]
    assert st.full((1,), swapped[0]).tolist() == [1.5]


# Hostile interfaces

ARRAY = np.arange(4.0)
LIES = {
    "no dict": "an interface",
    "no shape": {"typestr": "<f8", "data": (ARRAY.ctypes.data, False), "version": 3},
    "no typestr": {"shape": (4,), "data": (ARRAY.ctypes.data, False), "version": 3},
    "empty": {},
}
CHANGES = {
    "shape of floats": {"shape": (4.0,)},
    "shape as a list": {"shape": [4]},
    "shape as an int": {"shape": 4},
    "negative shape": {"shape": (-4,)},
    "negative shapes": {"shape": (-2, -2)},
    "huge shape": {"shape": (2**62,)},
    "shapes that overflow": {"shape": (2**40, 2**40)},
    "shape beyond 64 bits": {"shape": (2**70,)},
    "typestr as bytes": {"typestr": b"<f8"},
    "typestr of nothing": {"typestr": ""},
    "typestr of one": {"typestr": "<"},
    "typestr without order": {"typestr": "f8"},
    "typestr with other letters": {"typestr": "é8"},
    "long double": {"typestr": "<f16"},
    "odd float": {"typestr": "<f3"},
    "text": {"typestr": "<U2"},
    "bytes": {"typestr": "|S8"},
    "objects": {"typestr": "|O8"},
    "dates": {"typestr": "<M8[ns]"},
    "spans": {"typestr": "<m8[s]"},
    "void": {"typestr": "|V8"},
    "bits": {"typestr": "|t1"},
    "complex of 8 parts": {"typestr": "<c32"},
    "too few strides": {"strides": ()},
    "too many strides": {"strides": (8, 8)},
    "strides of text": {"strides": ("8",)},
    "strides as a list": {"strides": [8]},
    "strides that overflow": {"strides": (2**62,)},
    "strides below the first address": {"strides": (-(2**61),)},
    "stride beyond 64 bits": {"strides": (2**64,)},
    "no data": {"data": ...},
    "data None": {"data": None},
    "null": {"data": (0, False)},
    "negative address": {"data": (-8, False)},
    "address beyond the machine": {"data": (2**64, False)},
    "address at the end of the world": {"data": (2**64 - 8, False)},
    "address as text": {"data": ("0x10", False)},
    "address alone": {"data": (ARRAY.ctypes.data,)},
    "address as an int": {"data": ARRAY.ctypes.data},
    "three data": {"data": (ARRAY.ctypes.data, False, 1)},
    "short buffer": {"data": b"1234567"},
    "buffer with an offset too large": {"data": bytes(32), "offset": 8},
    "buffer with a negative offset": {"data": bytes(64), "offset": -8},
    "offset of text": {"data": bytes(64), "offset": "8"},
    "offset beyond 64 bits": {"data": bytes(64), "offset": 2**80},
    "buffer and strides that leave it": {"data": bytes(32), "strides": (16,)},
    "buffer and strides that go below": {"data": bytes(32), "strides": (-8,)},
    "buffer with gaps": {"data": memoryview(bytes(128))[::2]},
    "mask": {"mask": np.ones(4, bool)},
    "version of text": {"version": "3"},
    "old version": {"version": 2},
}


def hostile():
    for name, interface in LIES.items():
        yield pytest.param(Offers(interface), id=name)
    for name, changes in CHANGES.items():
        yield pytest.param(offer(ARRAY, **changes), id=name)


@pytest.mark.parametrize("source", list(hostile()))
@pytest.mark.parametrize("entry", [*ENTRIES, "in-place add", "FloatTensor", "FloatStorage"])
def test_hostile_interfaces_are_refused(source, entry):
    entries = ENTRIES | {
        "in-place add": lambda a: st.zeros(4).add_(a),
        "FloatTensor": st.FloatTensor,
        "FloatStorage": st.FloatStorage,
    }
    before = sys.getrefcount(source)
    for _ in range(3):
        with pytest.raises(REFUSED) as caught:
            entries[entry](source)
        assert str(caught.value)
    del caught
    gc.collect()
    assert sys.getrefcount(source) == before
    assert ARRAY.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "source",
    [offer(ARRAY, shape=(0,), data=(0, False)), offer(ARRAY, shape=(3, 0), data=(0, False), strides=(2**61, 8))],
)
def test_without_elements_the_address_does_not_matter(source):
    for entry in (st.tensor, st.from_numpy, st.asarray):
        assert entry(source).tolist() == np.zeros(source.__array_interface__["shape"]).tolist()


@pytest.mark.parametrize("entry", CONVERTING)
def test_misaligned_interfaces_are_copied(entry):
    raw = np.zeros(17, np.uint8)
    misaligned = raw[1:].view(np.float64)
    misaligned[:] = [1.5, 2.5]
    x = CONVERTING[entry](offer(misaligned))
    assert (x.tolist() if isinstance(x, st.Tensor) else list(x)) == [1.5, 2.5]


@pytest.mark.parametrize("entry", SHARING)
def test_misaligned_interfaces_are_not_shared(entry):
    misaligned = np.zeros(17, np.uint8)[1:].view(np.float64)
    fields = np.zeros(3, np.dtype([("a", "u1"), ("b", "f4")]))
    for bad in (offer(misaligned), misaligned, fields["b"], offer(fields["b"])):
        with pytest.raises(ValueError, match="copy"):
            SHARING[entry](bad)


#: Arrays without a tensor's dtype.
FOREIGN = {
    "objects": np.array([object()] * 2),
    "structures": np.zeros(2, "i4,f4"),
    "dates": np.zeros(2, "M8[s]"),
    "spans": np.zeros(2, "m8[ns]"),
    "long doubles": np.zeros(2, np.longdouble),
    "complex long doubles": np.zeros(2, np.clongdouble),
    "bytes": np.zeros(2, "S3"),
    "text": np.zeros(2, "U3"),
    "void": np.zeros(2, "V5"),
    "nothing": np.zeros(2, "S0"),
    "ctypes structures": (type("Pair", (ctypes.Structure,), {"_fields_": [("a", ctypes.c_int)]}) * 2)(),
    "ctypes pointers": (ctypes.c_void_p * 2)(),
    "wide text": array.array("w" if sys.version_info >= (3, 13) else "u", "ab"),
}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("entry", ENTRIES)
def test_dtypes_of_others_are_refused(name, entry):
    if np.dtype(np.longdouble) == np.dtype(np.float64) and "long" in name:
        pytest.skip("a long double is a double here")
    source = FOREIGN[name]
    sources = [source]
    if isinstance(source, np.ndarray):
        sources += [Converts(source), offer(source, descr=...)]
    for source in sources:
        with pytest.raises(REFUSED) as caught:
            ENTRIES[entry](source)
        assert str(caught.value)
    for operate in (lambda: st.zeros(2) + FOREIGN[name], lambda: st.zeros(2).add_(FOREIGN[name])):
        with pytest.raises(REFUSED):
            operate()


def test_ctypes_arrays_are_shared():
    memory = ((ctypes.c_float * 3) * 2)()
    x = st.from_numpy(memory)
    assert x.dtype is st.float32 and x.shape == (2, 3)
    x[1, 2] = 7
    assert memory[1][2] == 7
    big = (ctypes.c_int32.__ctype_be__ * 2)(1, 2)
    assert st.tensor(big).tolist() == [1, 2]


def test_overlapping_and_huge_views():
    one = np.ones(1)
    huge = np.lib.stride_tricks.as_strided(one, (2**40,), (0,))
    x = st.from_numpy(huge)
    assert x.shape == (2**40,) and x[2**39].item() == 1
    with pytest.raises(ValueError, match="share memory"):
        x.fill_(0)
    with pytest.raises((MemoryError, ValueError)):
        st.from_numpy(np.lib.stride_tricks.as_strided(one, (2**30, 2**29), (0, 0))).clone()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes have __buffer__ from 3.12 on")
def test_a_buffer_from_a_class():
    class Lends:
        def __init__(self, view):
            self.view = view

        def __buffer__(self, flags):
            return self.view

    assert st.from_numpy(Lends(memoryview(ARRAY))).tolist() == [0, 1, 2, 3]
    for bad in (None, b"12", 3):
        with pytest.raises(TypeError):
            st.tensor(Lends(bad))


# asarray


def test_asarray_shares_where_it_can():
    a, x = np.arange(3.0), st.arange(3)
    assert st.asarray(x) is x and st.asarray(x, copy=False) is x and st.asarray(x, dtype=st.int64) is x
    assert st.asarray(a).data_ptr() == st.asarray(a, copy=False).data_ptr() == a.ctypes.data
    assert st.asarray(offer(a), copy=False).data_ptr() == a.ctypes.data
    assert st.asarray(x.storage(), copy=False).data_ptr() == x.data_ptr()
    for data in (x, a, offer(a), [0, 1, 2], x.storage()):
        copied = st.asarray(data, copy=True)
        assert copied.tolist() == [0, 1, 2] and copied.owns_storage()
        assert copied.data_ptr() not in (x.data_ptr(), a.ctypes.data)
        assert st.asarray(data, dtype="float32").dtype is st.float32
        assert st.asarray(data, dtype="float32", copy=True).tolist() == [0, 1, 2]
        with pytest.raises(ValueError, match=r"^asarray: copy is False, but \w+ to a tensor of float16 needs a copy"):
            st.asarray(data, dtype=st.float16, copy=False)
    for data in ([1, 2], 3, 2.5, True, [[]]):
        assert st.asarray(data).tolist() == data
        with pytest.raises(ValueError, match="needs a copy"):
            st.asarray(data, copy=False)
    assert st.asarray(3).dtype is st.int64 and st.asarray(3).shape == ()
    assert st.asarray(obj=[1], dtype=st.int8, device="cpu", copy=None).dtype is st.int8
    with pytest.raises(TypeError, match="a tensor cannot hold str"):
        st.asarray("text")


# Lifetimes


class Exporter(np.ndarray):
    """An array that supports weak references."""


@pytest.mark.parametrize("make", [st.from_numpy, st.as_tensor, st.asarray, st.DoubleTensor])
@pytest.mark.parametrize("wrap", [lambda a: a, lambda a: Offers(a.__array_interface__, a), Converts])
def test_an_exporter_lives_as_long_as_its_tensor(make, wrap):
    a = np.arange(4.0).view(Exporter)
    gone = weakref.ref(a)
    x = make(wrap(a))[1:]
    del a
    gc.collect()
    assert gone() is not None and x.tolist() == [1, 2, 3]
    del x
    gc.collect()
    assert gone() is None


def test_a_tensor_lives_as_long_as_who_read_its_interface():
    class Watched(st.Tensor):
        pass

    x = Watched([1, 2, 3])
    gone = weakref.ref(x)
    a = np.asarray(Offers(x.__array_interface__, x))
    y = st.from_numpy(Offers(x.__array_interface__, x))
    del x
    gc.collect()
    assert gone() is not None and a.tolist() == y.tolist() == [1, 2, 3]
    del a
    gc.collect()
    assert gone() is not None
    del y
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("entry", ["buffer", "interface", "out", "swapped"])
def test_memory_is_stable_over_many_exchanges(entry):
    a, x = np.zeros(1000), st.zeros(1000)
    swapped = np.zeros(1000, a.dtype.newbyteorder())
    bad = offer(a, shape=(-1,))

    def exchange(count):
        for _ in range(count):
            if entry == "buffer":
                st.asarray(a)
                memoryview(x).release()
                st.from_numpy(x.numpy())
            elif entry == "interface":
                st.from_numpy(offer(a))
                x.clone().__array_interface__
                with contextlib.suppress(ValueError):
                    st.from_numpy(bad)
            elif entry == "out":
                st.linspace(0, 1, 1000, out=x)
                st.arange(1000, out=x)
            else:
                st.tensor(swapped)

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    exchange(5000)
    gc.collect()
    before = resident()
    exchange(100_000 if entry != "swapped" else 20_000)
    gc.collect()
    assert resident() - before < 20_000_000


def test_reference_counts_do_not_creep():
    a, x = np.arange(8.0), st.arange(8.0)
    source = offer(a)
    fields = source.__array_interface__
    watched = (a, x, source, fields, fields["shape"], fields["data"], fields["typestr"])
    before = [sys.getrefcount(o) for o in watched]
    for _ in range(100):
        st.from_numpy(source)
        st.tensor(source)
        st.asarray(source, copy=True)
        st.DoubleStorage(source)
        st.tensor([source, source])
        x.__array_interface__
        x[...] = source
        st.linspace(0, 1, 8, out=x)
    gc.collect()
    assert [sys.getrefcount(o) for o in watched] == before
