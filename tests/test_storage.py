"""Storages against lists, `array` and NumPy."""

import array
import copy
import gc
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from strategies import CLASSES

import strided as st

every_dtype = pytest.mark.parametrize("name", CLASSES)
buffer_dtype = pytest.mark.parametrize("name", [name for name in CLASSES if name != "bfloat16"])

indices = some.integers(-12, 12)
slices = some.builds(slice, some.none() | indices, some.none() | indices, some.none() | indices.filter(bool))
numbers = some.lists(some.integers(-100, 100), max_size=9)


def class_of(name):
    return getattr(st, CLASSES[name] + "Storage")


# Making


@every_dtype
def test_a_typed_class_makes_storages_of_its_dtype(name):
    cls = class_of(name)
    s = cls(3)
    assert s.tolist() == [0, 0, 0] and len(s) == s.size() == 3
    assert s.dtype is getattr(st, name) and s.type() == f"strided.{CLASSES[name]}Storage"
    assert s.element_size() == s.dtype.itemsize and s.nbytes == 3 * s.dtype.itemsize
    assert type(s) is st.Storage and isinstance(s, cls) and isinstance(s, st.Storage)
    assert not isinstance(s, class_of("int16" if name != "int16" else "int8"))
    assert st.is_storage(s) and not st.is_tensor(s)
    assert cls([0, 1, 1]).tolist() == [0, 1, 1]
    assert cls().tolist() == [] and cls([]).size() == 0


def test_the_untyped_class_has_the_default_dtype():
    assert st.Storage(2).dtype is st.float32
    assert st.Storage([1, 2], dtype="int16").dtype is st.int16
    st.set_default_dtype(st.float64)
    try:
        assert st.Storage(2).dtype is st.float64
    finally:
        st.set_default_dtype(st.float32)
    assert str(st.Storage(1, device="cpu").device) == "cpu"


@pytest.mark.parametrize("source", [[3, 1, 4], (3, 1, 4), range(3, 6), array.array("h", [3, 1, 4]), b"\x03\x01\x04"])
def test_sequences_of_numbers(source):
    assert st.DoubleStorage(source).tolist() == [float(v) for v in source]


def test_a_storage_from_a_storage_is_a_copy():
    s = st.FloatStorage([1.5, -1.5])
    same, other = st.FloatStorage(s), st.IntStorage(s)
    s[0] = 9
    assert same.tolist() == [1.5, -1.5] and other.tolist() == [1, -1]


def test_a_storage_from_a_tensor_is_a_copy_in_row_major_order():
    x = st.arange(6).view(2, 3).t()
    assert st.LongStorage(x).tolist() == [0, 3, 1, 4, 2, 5]
    whole = st.arange(3)
    st.LongStorage(whole)[0] = 7
    assert whole.tolist() == [0, 1, 2]


@buffer_dtype
def test_a_buffer_of_the_same_dtype_is_shared(name):
    a = np.array([1, 0, 1, 1], dtype=name)
    s = class_of(name)(a)
    assert not s.owns_memory and s.data_ptr() == a.ctypes.data
    a[1] = 1
    s[0] = 0
    assert s.tolist() == a.tolist() == [0, 1, 1, 1]
    other = class_of("float64" if name != "float64" else "int64")(a)
    a[:] = 0
    assert other.tolist() == [0, 1, 1, 1] and other.owns_memory


def test_buffers_of_other_forms():
    a = np.arange(6, dtype="f4").reshape(2, 3)
    flat = st.FloatStorage(a)
    flat[5] = 50
    assert a[1, 2] == 50
    assert st.FloatStorage(a.T).tolist() == a.T.ravel().tolist()  # a copy: not row-major
    assert st.FloatStorage(a[0, ::2]).tolist() == [0, 2]
    assert st.FloatStorage(np.float32(2).reshape(())).tolist() == [2]
    assert st.FloatStorage(np.int64(2)).size() == 2  # an int is a size
    misaligned = np.frombuffer(b"x" + np.arange(3, dtype="f8").tobytes(), dtype="f8", offset=1)
    assert st.DoubleStorage(misaligned).tolist() == [0, 1, 2]  # not aligned: a copy
    text = bytearray(b"abc")
    st.ByteStorage(text)[0] = ord("x")
    assert text == b"xbc"


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ((-1,), ValueError),
        ((2**62,), (ValueError, MemoryError)),
        ((2**70,), OverflowError),
        ((1, 2), TypeError),
        (([[1, 2], [3, 4]],), ValueError),
        (([1, [2]],), ValueError),
        (("abc",), TypeError),
        ((None,), TypeError),
        ((2.5,), TypeError),
        (({1: 2},), TypeError),
        (([1, "a"],), TypeError),
        (([300],), OverflowError),
    ],
)
def test_invalid_constructor_arguments(wrong, error):
    with pytest.raises(error, match=r"Storage|int"):
        st.ByteStorage(*wrong)


def test_storages_cannot_be_subclassed():
    class Mine(st.FloatStorage):
        pass

    with pytest.raises(TypeError, match="hold a storage"):
        Mine(3)


def test_new_makes_one_of_the_same_dtype():
    s = st.ShortStorage(1)
    assert s.new([1, 2]).type() == "strided.ShortStorage" and s.new(3).tolist() == [0, 0, 0] and s.new().size() == 0


# Identity


def test_one_object_per_storage_and_dtype():
    x = st.zeros(3, 4)
    s = x.storage()
    assert s is x.storage() is x[1].storage() is x.t().storage()
    assert s is not x.view(st.int32).storage() is x.view(st.int32).storage()
    assert s is not x.clone().storage()
    made = st.FloatStorage([1, 2])
    assert st.FloatTensor(made).storage() is made is st.as_strided(made, (1,), (1,)).storage()
    assert s == s and s != made and len({s, made, x.storage()}) == 2


def test_the_identity_table_keeps_no_storage_alive():
    x = st.zeros(3)
    gone = weakref.ref(x.storage())
    assert gone() is None
    s = x.storage()
    gone = weakref.ref(s)
    assert gone() is x.storage()
    del s
    assert gone() is None and x.storage() is x.storage()


def test_an_object_that_is_being_freed_is_not_returned_again():
    x = st.zeros(3)
    seen = []
    s = x.storage()
    dead = weakref.ref(s, lambda _: seen.append(x.storage()))  # runs while the old object is being freed
    del s
    assert dead() is None and seen[0] is x.storage() and seen[0].tolist() == [0, 0, 0]
    again = x.storage()
    del seen[:]
    gc.collect()
    assert x.storage() is again


def test_identity_while_garbage_is_collected_and_threads_run():
    shared = [st.zeros(4) for _ in range(4)]
    faults = []
    before = gc.get_threshold()

    def ask():
        for i in range(2000):
            x = shared[i % 4]
            a = x.storage()
            cycle = [st.zeros(2).storage()]
            cycle.append(cycle)
            if a is not x[1:].storage() or a.size() != 4:
                faults.append(i)

    gc.set_threshold(5)
    try:
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.set_threshold(*before)
    assert not faults


# Elements


@given(numbers, indices)
def test_an_index_reads_and_writes_as_in_a_list(values, i):
    s = st.LongStorage(values)
    try:
        wanted = values[i]
    except IndexError:
        with pytest.raises(IndexError, match=f"index {i} is outside a storage of {len(values)} elements"):
            s[i]
        with pytest.raises(IndexError):
            s[i] = 1
        assert s.tolist() == values
        return
    assert s[i] == wanted and type(s[i]) is int
    s[i] = values[i] = 7
    assert s.tolist() == values


@given(numbers, slices, some.data())
def test_slices_read_copies_and_write_through(values, part, data):
    s = st.LongStorage(values)
    read = s[part]
    assert read.tolist() == values[part] and read.dtype is st.int64
    read.fill_(-1)
    assert s.tolist() == values
    size = len(values[part])
    new = data.draw(some.lists(some.integers(-9, 9), min_size=size, max_size=size))
    model = np.array(values, dtype="i8")
    model[part] = new
    for form in (list, tuple, st.LongStorage, st.FloatStorage, st.tensor, lambda v: np.array(v, dtype="i2")):
        written = s.clone()
        written[part] = form(new)
        assert written.tolist() == model.tolist()
    model[part] = 5
    for number in (5, 5.0, np.int16(5), st.tensor(5)):
        written = s.clone()
        written[part] = number
        assert written.tolist() == model.tolist()
    with pytest.raises(ValueError, match=f"got {size + 1} elements, wanted {size}"):
        s[part] = [0] * (size + 1)
    assert s.tolist() == values


def test_a_slice_may_be_written_from_the_storage_itself():
    s = st.IntStorage(range(6))
    s[1:] = st.IntTensor(s)[:-1]
    assert s.tolist() == [0, 0, 1, 2, 3, 4]
    s[:] = st.IntTensor(s).flip(0)
    assert s.tolist() == [4, 3, 2, 1, 0, 0]


@pytest.mark.parametrize("key", ["a", 1.0, None, ..., (), (0, 1), (slice(1),), True, [0]])
def test_wrong_keys(key):
    s = st.FloatStorage(3)
    with pytest.raises(TypeError, match="index"):
        s[key]
    with pytest.raises(TypeError, match="index"):
        s[key] = 1
    with pytest.raises(TypeError, match="cannot be deleted"):
        del s[0]


def test_a_value_that_changes_the_storage_while_it_is_read():
    class Shrinks:
        def __float__(self):
            s.resize_(1)
            return 2.0

    s = st.FloatStorage(4)
    with pytest.raises(IndexError):
        s[3] = Shrinks()
    assert s.tolist() == [0]
    s.resize_(4)
    with pytest.raises(ValueError):
        s[:] = [Shrinks()] * 4
    assert s.tolist() == [0]


def test_storage_and_tensor_see_each_other():
    x = st.zeros(2, 3)
    s = x.storage()
    s[x.layout.location(1, 2)] = 8
    x[0, 1] = 4
    assert x[1, 2].item() == 8 and s.tolist() == [0, 4, 0, 0, 0, 8]


def test_iteration_and_membership():
    s = st.ShortStorage([5, 6, 7])
    assert list(s) == [5, 6, 7] and list(reversed(s)) == [7, 6, 5] and sum(s) == 18
    assert 6 in s and 6.0 in s and 8 not in s and 6.5 not in s
    assert float("nan") not in st.FloatStorage([float("nan")])
    assert st.zeros(st.LongStorage([2, 3])).shape == (2, 3)
    assert st.tensor([s, s]).tolist() == [[5, 6, 7], [5, 6, 7]]
    assert st.tensor(st.BFloat16Storage([1, 2])).dtype is st.bfloat16
    with pytest.raises(TypeError):
        "a" in s
    walk = iter(s)
    next(walk)
    s.resize_(1)
    assert list(walk) == []


@every_dtype
def test_fill_and_copy(name):
    s = class_of(name)(3)
    assert s.fill_(1) is s and s.tolist() == [1, 1, 1]
    assert s.copy_([0, 1, 0]) is s and s.tolist() == [0, 1, 0]
    for source in (class_of(name)([1, 0, 1]), st.FloatStorage([1, 0, 1]), st.tensor([[1, 0, 1]]), np.array([1, 0, 1])):
        assert s.fill_(0).copy_(source).tolist() == [1, 0, 1], source
    for wrong in ([1, 2], [], [1, 2, 3, 4], st.FloatStorage(2), st.zeros(4)):
        with pytest.raises(ValueError, match="copy_: got"):
            s.copy_(wrong)
    for wrong in (3, "abc", None, [1, 2, "a"]):
        with pytest.raises(TypeError):
            s.copy_(wrong)
    with pytest.raises(TypeError, match="fill_"):
        s.fill_("a")
    assert s.tolist() == [1, 0, 1]


def test_numbers_that_do_not_fit():
    s = st.ByteStorage([1, 2])
    for act in (lambda: s.fill_(256), lambda: s.__setitem__(0, -1), lambda: s.__setitem__(slice(None), 300)):
        with pytest.raises(OverflowError, match="does not fit uint8"):
            act()
    assert s.tolist() == [1, 2]


# Conversions

CONVERSIONS = {
    "bool": "bool", "byte": "uint8", "char": "int8", "short": "int16", "int": "int32", "long": "int64",
    "half": "float16", "bfloat16": "bfloat16", "float": "float32", "double": "float64", "cfloat": "complex64",
    "cdouble": "complex128",
}  # fmt: skip


@pytest.mark.parametrize("method", CONVERSIONS)
def test_conversions(method):
    s = st.DoubleStorage([0, 1, 2.5])
    made = getattr(s, method)()
    name = CONVERSIONS[method]
    assert made.dtype is getattr(st, name)
    assert made.tolist() == st.tensor([0, 1, 2.5]).to(name).tolist()
    assert made.tolist() == s.to(name).tolist() == s.type(f"torch.{CLASSES[name]}Storage").tolist()
    assert getattr(made, method)() is made is made.to(made.dtype)
    made.fill_(0)
    assert (s.tolist() == [0, 0, 0]) == (name == "float64")
    with pytest.raises(TypeError, match="no dtype"):
        s.to("float31")


def test_the_same_bytes_as_another_dtype():
    s = st.FloatStorage([1, -2])
    bits = s.view(st.int32)
    assert bits.tolist() == np.array([1, -2], "f4").view("i4").tolist() and bits.view("float32") is s
    bits[0] = 0
    assert s.tolist() == [0, -2]
    assert st.ByteStorage(range(5)).view(st.int32).size() == 1  # the fifth byte is not a whole element


def test_copies():
    s = st.IntStorage([1, 2])
    for made in (s.clone(), copy.copy(s), copy.deepcopy(s)):
        assert made is not s and made.dtype is s.dtype and made.tolist() == [1, 2]
        made[0] = 9
    assert s.tolist() == [1, 2]


def test_size_of():
    small, large = st.FloatStorage(1), st.FloatStorage(100_000)
    assert sys.getsizeof(large) - sys.getsizeof(small) == 4 * (100_000 - 1)
    assert sys.getsizeof(st.FloatStorage(np.zeros(100_000, "f4"))) < 200


# Resizing


@given(numbers, some.lists(some.integers(0, 3000), max_size=5))
def test_resize_keeps_the_common_prefix(values, sizes):
    s = st.LongStorage(values)
    model = list(values)
    for size in sizes:
        assert s.resize_(size) is s
        model = model[:size] + [0] * (size - len(model))
        assert s.tolist() == model


def test_tensors_notice_a_shrunken_storage():
    x = st.arange(10)
    x.storage().resize_(4)
    with pytest.raises(ValueError, match="leave a storage of 4 elements"):
        x.sum()
    assert x[:4].tolist() == [0, 1, 2, 3]


def test_exported_or_foreign_memory_is_not_resized():
    s = st.FloatStorage([1, 2, 3])
    view = memoryview(s)
    array_ = np.asarray(s)
    with pytest.raises(st.StorageError, match=r"resize_: .* exported"):
        s.resize_(5)
    with pytest.raises(BufferError):
        s.resize_(1)
    del array_
    view.release()
    assert s.resize_(2).tolist() == [1, 2]
    lent = st.FloatStorage(np.zeros(3, "f4"))
    with pytest.raises(st.StorageError, match="belongs to someone else"):
        lent.resize_(4)
    with pytest.raises(ValueError, match="negative"):
        s.resize_(-1)
    with pytest.raises((ValueError, MemoryError)):
        s.resize_(2**58)
    with pytest.raises(TypeError, match="resize_: size must be an int, got float"):
        s.resize_(2.0)
    assert s.tolist() == [1, 2] and lent.tolist() == [0, 0, 0]


def test_resizing_against_use():
    s = st.LongStorage(1000)
    x = st.as_strided(s, (1000,), (1,))
    stop = threading.Event()
    faults = []

    def use(act):
        while not stop.is_set():
            try:
                act()
            except (ValueError, IndexError):
                pass  # the storage was too short at that moment
            except BaseException as error:
                faults.append(error)
                return

    def check_prefix():
        assert set(s[:500].tolist()) <= {0}

    acts = [
        lambda: x.sum(),
        lambda: x.fill_(0),
        lambda: s[-1],
        lambda: s.fill_(0),
        lambda: s.__setitem__(slice(None, None, 2), 0),
        lambda: s.clone().tolist(),
        lambda: bytes(memoryview(s)[:8]),
        check_prefix,
    ]
    threads = [threading.Thread(target=use, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    resized = 0
    while resized < 500 and not faults:
        try:
            s.resize_(500 + resized * 7919 % 70_000)
            resized += 1
        except st.StorageError:  # a buffer was exported
            time.sleep(0)
    stop.set()
    for thread in threads:
        thread.join()
    assert not faults


# Buffers


@buffer_dtype
def test_a_storage_is_a_buffer(name):
    s = class_of(name)([1, 0, 1])
    view = memoryview(s)
    assert view.shape == (3,) and view.itemsize == s.element_size() and view.nbytes == s.nbytes and not view.readonly
    a = np.asarray(s)
    assert a.dtype == name and a.tolist() == [1, 0, 1]
    a[1] = 1
    assert s.tolist() == [1, 1, 1] and bytes(s) == a.tobytes()
    assert memoryview(class_of(name)()).shape == (0,)


def test_bfloat16_has_no_buffer_format():
    with pytest.raises(BufferError, match=r"view\(uint16\)"):
        memoryview(st.BFloat16Storage(2))
    assert bytes(st.BFloat16Storage([1]).view("uint16")) == b"\x80\x3f"


def test_read_only_memory_is_respected():
    s = st.ByteStorage(b"abc")
    assert s.readonly and memoryview(s).readonly and not st.ByteStorage(bytearray(b"abc")).readonly
    for act in (
        lambda: s.fill_(0),
        lambda: s.copy_([1, 2, 3]),
        lambda: s.__setitem__(0, 1),
        lambda: s.__setitem__(slice(1), 1),
        lambda: s.resize_(1),
    ):
        with pytest.raises(st.StorageError, match="read-only"):
            act()
    assert bytes(s) == b"abc" and not s.clone().readonly


# Text


def test_text():
    assert repr(st.LongStorage([4, 5, 6])) == " 4\n 5\n 6\n[strided.LongStorage of size 3]"
    assert str(st.FloatStorage()) == "[strided.FloatStorage of size 0]"
    assert len(repr(st.FloatStorage(10_000)).splitlines()) < 20
