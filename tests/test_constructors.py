"""All constructors of tensors: the typed classes of early PyTorch, and today's functions."""

import array
import fractions
import gc
import subprocess
import sys

import numpy as np
import pytest
from strategies import CLASSES, COMPLEX, DTYPES, FLOATS, INTS, fresh, memory_dtype, memory_of, ordinary, values_of

import strided as st
from strided.testing import assert_close, assert_equal


def typed(name):
    return getattr(st, f"{CLASSES[name]}Tensor")


def storage_class(name):
    return getattr(st, f"{CLASSES[name]}Storage")


@pytest.mark.parametrize("name", DTYPES)
class TestTypedClasses:
    """Each form of the constructor works for each typed class."""

    def test_without_arguments(self, name):
        x = typed(name)()
        assert (x.shape, x.dtype.name, x.tolist()) == ((0,), name, [])

    def test_sizes(self, name):
        x = typed(name)(2, 5)
        assert (x.shape, x.dtype.name, x.stride()) == ((2, 5), name, (5, 1))
        assert not memory_of(x).any()
        assert x.type() == f"strided.{CLASSES[name]}Tensor"
        assert typed(name)(3).shape == (3,)
        assert typed(name)(2, 0, 3).shape == (2, 0, 3)

    def test_size(self, name):
        assert typed(name)(st.Size([4, 4, 3, 2])).shape == (4, 4, 3, 2)
        assert typed(name)(st.Size([])).shape == ()

    def test_tensor_of_the_class_is_shared(self, name):
        memory = ordinary(name, (3, 4), 1)
        x = fresh(memory, name)[1:, ::2]
        y = typed(name)(x)
        assert y is not x and y.is_set_to(x)
        y.zero_()
        assert not memory_of(x).any()

    def test_tensor_of_another_class_is_converted(self, name):
        other = "uint8" if name != "uint8" else "int16"
        x = st.tensor([[0, 1]], dtype=other)
        y = typed(name)(x)
        assert y.dtype.name == name and y.tolist() == [[0, 1]]
        y.zero_()
        assert x.tolist() == [[0, 1]]

    def test_sequence(self, name):
        for values in ([[0, 1, 1], [1, 0, 1]], ((0, 1, 1), (1, 0, 1)), [range(2), (1, 1)]):
            x = typed(name)(values)
            assert x.dtype.name == name and x.tolist() == [list(row) for row in values]

    def test_array_of_the_class_is_shared(self, name):
        if name == "bfloat16":
            return
        a = ordinary(name, (3, 4), 1)[:, ::-2]
        x = typed(name)(a)
        assert x.data_ptr() == a.__array_interface__["data"][0]
        x.zero_()
        assert not a.any()

    def test_array_of_another_class_is_converted(self, name):
        a = np.array([0, 1, 1], np.uint8 if name != "uint8" else np.int16)
        x = typed(name)(a)
        assert x.dtype.name == name and x.tolist() == [0, 1, 1]
        x.zero_()
        assert a.tolist() == [0, 1, 1]

    def test_storage(self, name):
        s = storage_class(name)([0, 1, 1])
        x = typed(name)(s)
        assert (x.shape, x.storage_offset(), x.tolist()) == ((3,), 0, [0, 1, 1])
        assert x.storage() is s
        x[0] = 1
        assert s[0] == 1
        other = st.ByteStorage([1, 0]) if name != "uint8" else st.CharStorage([1, 0])
        assert typed(name)(other).tolist() == [1, 0]

    def test_new(self, name):
        x = typed(name)(2, 3)
        for y, shape in ((x.new(), (0,)), (x.new(4, 5), (4, 5)), (x.new(x.size()), (2, 3)), (x.new([0, 1]), (2,))):
            assert y.dtype.name == name and y.shape == shape
        assert x.new(x).is_set_to(x)

    def test_isinstance(self, name):
        x = typed(name)(1)
        assert [n for n in DTYPES if isinstance(x, typed(n))] == [name]
        assert isinstance(x, st.Tensor) and type(x) is st.Tensor
        assert issubclass(typed(name), st.Tensor)
        assert typed(name).__name__ == f"{CLASSES[name]}Tensor"


def test_tensor_is_float_until_changed(default_dtype):
    assert st.Tensor(2).type() == "strided.FloatTensor"
    for given, wanted in (
        ("strided.DoubleTensor", "float64"),
        ("torch.FloatTensor", "float32"),
        (st.DoubleTensor, "float64"),
        ("HalfTensor", "float16"),
        (st.FloatTensor, "float32"),
    ):
        assert st.set_default_tensor_type(given) is None
        assert st.get_default_dtype().name == wanted
        assert st.Tensor(2).dtype.name == st.Tensor([1]).dtype.name == st.zeros(2).dtype.name == wanted
        assert st.tensor(1.5).dtype.name == st.full((1,), 0.5).dtype.name == st.arange(0.0, 1.0).dtype.name == wanted
        assert st.tensor(1).dtype is st.int64 and st.tensor(True).dtype is st.bool
    st.set_default_dtype(st.float64)
    assert st.tensor(1j).dtype is st.complex128
    assert st.Tensor(2).dtype is st.float64
    for bad in (st.int32, st.LongTensor, st.complex64):
        with pytest.raises(st.DTypeError, match=r"^set_default_"):
            st.set_default_dtype(bad)
    with pytest.raises(TypeError):
        st.set_default_tensor_type("strided.NoTensor")
    assert st.get_default_dtype() is st.float64


def test_changing_the_default_dtype_leaves_existing_tensors_alone(default_dtype):
    x = st.Tensor(2)
    st.set_default_tensor_type("strided.DoubleTensor")
    assert x.dtype is st.float32 and isinstance(x, st.FloatTensor) and not isinstance(x, st.DoubleTensor)


def test_arrays_are_shared_or_converted_by_typed_classes():
    a = np.array([0, 0, 1, 1, 0, 1, 1, 0, 0, 0])
    b = st.LongTensor(a)
    b[3] = 100
    assert a[3] == 100
    b = st.IntTensor(a)
    b[3] = 30000
    assert a[3] == 100


def test_one_number_makes_a_size_or_a_value():
    assert st.FloatTensor(3).shape == (3,)
    assert st.FloatTensor(np.int64(3)).shape == (3,)
    with pytest.raises(st.ShapeError, match=r"^FloatTensor: size -1"):
        st.FloatTensor(-1)


class OwnTensor(st.DoubleTensor):
    """A class that a program derives."""


@pytest.mark.parametrize("kwargs", [{}, {"device": "cpu"}])
@pytest.mark.parametrize("cls", [st.Tensor, st.LongTensor, OwnTensor, st.Storage, st.LongStorage])
def test_an_error_names_the_class_that_was_called(cls, kwargs):
    for bad, error in ((1.5, TypeError), (-1, ValueError), ([1, "a"], TypeError), (2**62, Exception)):
        with pytest.raises(error, match=rf"^{cls.__name__}: "):
            cls(bad, **kwargs)


@pytest.mark.parametrize(
    "bad", [("a",), (2, "a"), (2, 1.5), ([1], 2), (None,), (object(),), ({},), (2**70,), (2**40, 2**40)]
)
def test_bad_constructor_arguments(bad):
    with pytest.raises((TypeError, ValueError, OverflowError), match=r"^FloatTensor: "):
        st.FloatTensor(*bad)


def test_constructor_keywords():
    assert st.Tensor(2, device="cpu").shape == (2,)
    with pytest.raises(TypeError, match=r"^Tensor: .*'color'"):
        st.Tensor(2, color=1)
    with pytest.raises(ValueError, match=r"^Tensor: device is 'tpu'"):
        st.Tensor(2, device="tpu")
    with pytest.raises(ValueError, match=r"^FloatTensor: device is 'gpu:1', wanted 'cpu'"):
        st.FloatTensor(2, device="cuda:1")


# tensor, as_tensor, from_numpy


def test_tensor_infers_the_dtype():
    cases = [
        (True, "bool"),
        (1, "int64"),
        (1.5, "float32"),
        (1j, "complex64"),
        ([True, 1], "int64"),
        ([1, 2.5], "float32"),
        ([1.5, 1j], "complex64"),
        ([], "float32"),
        ([[], []], "float32"),
        (np.float64(1), "float64"),
        (np.int8(1), "int8"),
        ([np.int8(1), 1], "int8"),
        ([np.int8(1), 1.5], "float32"),
        ([np.int8(1), np.int16(1)], "int16"),
        ([np.float16(1), 2.5], "float16"),
        ([np.bool_(True), 2], "int64"),
        ([st.tensor(1.0, dtype=st.float64), 1], "float64"),
        ([st.zeros(2, dtype=st.uint8), [1, 2]], "uint8"),
        (np.zeros((2, 2), np.uint16), "uint16"),
        (array.array("d", [1, 2]), "float64"),
        (b"ab", "uint8"),
        (range(3), "int64"),
    ]
    for data, wanted in cases:
        assert st.tensor(data).dtype.name == wanted, data
        assert st.as_tensor(data).dtype.name == wanted, data


def test_nested_values():
    assert st.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert st.tensor([[[1]], [[2]]]).shape == (2, 1, 1)
    assert st.tensor([[], []]).shape == (2, 0)
    assert st.tensor([[[]]]).shape == (1, 1, 0)
    assert st.tensor([]).shape == (0,)
    assert st.tensor(7).shape == ()
    assert (
        st.tensor([np.arange(3), [3, 4, 5], st.tensor([6, 7, 8]), (9, 10, 11)]).tolist()
        == np.arange(12).reshape(4, 3).tolist()
    )
    assert st.tensor([np.float32(1.5), st.tensor(2), 3, True]).tolist() == [1.5, 2, 3, 1]
    assert st.tensor([array.array("i", [1, 2]), b"\x03\x04"]).tolist() == [[1, 2], [3, 4]]
    assert st.tensor([[st.zeros(2, 2)], [st.ones(2, 2)]]).shape == (2, 1, 2, 2)
    assert st.tensor([np.zeros((2, 0)), np.zeros((2, 0))]).shape == (2, 2, 0)
    assert st.tensor([fractions.Fraction(1, 4)]).tolist() == [0.25]
    assert st.tensor([1, 2, 3], dtype=st.float16).tolist() == [1, 2, 3]
    assert st.tensor([1.9, -1.9], dtype=st.int8).tolist() == [1, -1]


@pytest.mark.parametrize("name", DTYPES)
def test_a_list_and_back(name):
    memory = ordinary(name, (4, 5), 2)
    x = fresh(memory, name)
    again = st.tensor(x.tolist(), dtype=name)
    got, wanted = memory_of(again), memory
    if name in FLOATS or name in COMPLEX:
        x, again = x.cdouble(), again.cdouble()
        got, wanted = np.nan_to_num(again.numpy(), nan=5), np.nan_to_num(x.numpy(), nan=5)
    assert (got == wanted).all()


def test_a_user_defined_sequence():
    class Squares:
        def __len__(self):
            return 4

        def __getitem__(self, i):
            if not 0 <= i < 4:
                raise IndexError(i)
            return i * i

    assert st.tensor(Squares()).tolist() == [0, 1, 4, 9]
    assert st.tensor([Squares(), Squares()]).shape == (2, 4)


@pytest.mark.parametrize(
    "ragged",
    [
        [[1, 2], [3]],
        [[1], 2],
        [1, [2]],
        [[[1]], [2]],
        [[], [1]],
        [np.zeros(2), np.zeros(3)],
        [np.zeros(2), 1],
        [1, np.zeros(2)],
        [[1, 2], st.zeros(3)],
        [st.zeros(2, 2), st.zeros(2)],
        [[[1, 2], [3, 4]], [[1, 2]]],
    ],
)
@pytest.mark.parametrize("make", [st.tensor, st.as_tensor, st.FloatTensor, st.LongTensor])
def test_ragged(ragged, make):
    with pytest.raises(ValueError, match=r"^\w+: ragged"):
        make(ragged)


@pytest.mark.parametrize("make", [st.tensor, st.as_tensor, st.FloatTensor])
def test_a_list_that_contains_itself(make):
    loop = []
    loop.append(loop)
    with pytest.raises((RecursionError, ValueError)):
        make(loop)
    pair = [[1], [2]]
    pair[1] = pair
    with pytest.raises((RecursionError, ValueError)):
        make(pair)


def test_very_deep_lists():
    def deep(depth):
        nest = 1.0
        for _ in range(depth):
            nest = [nest]
        return nest

    assert st.tensor(deep(500)).dim() == 500
    for depth in (sys.getrecursionlimit() + 100, 100_000):
        with pytest.raises(RecursionError):
            st.tensor(deep(depth))


def test_huge_ranks():
    x = st.zeros([1] * 5000)
    assert x.dim() == 5000 and x.numel() == 1
    assert x.sum().item() == 0
    assert (x + 1).sum().item() == 1
    assert x.squeeze().shape == ()
    assert x.clone().dim() == 5000
    assert x.permute(list(range(4999, -1, -1))).dim() == 5000
    y = st.zeros(*[1] * 70, 3, dtype=st.int64)
    y[...] = st.arange(3)
    assert y.flatten().tolist() == [0, 1, 2]
    assert x[(0,) * 5000].shape == ()
    with pytest.raises(IndexError):
        x[(0,) * 5001]


@pytest.mark.parametrize("name", DTYPES)
def test_tolist(name):
    """Any bits, in tensors of up to 1 KB, which are copied first, and in larger ones."""
    random = np.random.default_rng(len(name))
    empty, small, large = [(0,), (3, 0), (0, 3), (2, 0, 3)], [(), (5,), (5, 6), (2, 1, 3), (64,)], [(1025,), (40, 50)]
    for shape in [*empty, *small, (65,), (2, 3, 4, 5), *large]:
        memory = random.integers(0, 256, (*shape, memory_dtype(name).itemsize), np.uint8)
        memory = (memory % 2).astype(bool)[..., 0] if name == "bool" else memory.view(memory_dtype(name))[..., 0]
        x = fresh(np.array(memory), name)
        views = [lambda x: x]
        if len(shape) > 1 and 0 not in shape:
            views += [lambda x: x.T, lambda x: x[..., ::-1], lambda x: x[..., ::2], lambda x: x[1:], lambda x: x[:, 0]]
        for view in views:
            assert repr(view(x).tolist()) == repr(view(values_of(x)).tolist()), shape
    assert st.zeros(1, dtype=name).expand(3, 400).tolist() == [[st.zeros(1, dtype=name).item()] * 400] * 3


@pytest.mark.parametrize("size", [100, 1000])
def test_a_collection_during_tolist_may_resize_the_tensor(size):
    """A small tensor was copied before the first list was made; the memory of a large one stays in place."""
    x, outcomes = st.arange(size).view(-1, 10), []

    def resize(phase, info):
        try:
            outcomes.append(x.resize_(100_000 + len(outcomes)).size(0))
        except st.StorageError:
            outcomes.append("refused")

    threshold, taken = gc.get_threshold(), [[] for _ in range(1000)]  # lists from a free list start no collection
    gc.callbacks.append(resize)
    try:
        gc.set_threshold(1)
        got = x.tolist()
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(resize)
    assert got == np.arange(size).reshape(-1, 10).tolist()
    if sys.version_info < (3, 12):  # later ones collect between two bytecodes
        assert taken and outcomes[0] == (100_000 if size == 100 else "refused")


def test_tolist_of_a_huge_rank():
    """It may be refused, but must not crash (Python frees the deep list)."""
    code = "import strided as st\nx = st.zeros([1] * 5000)\ntry:\n    y = x.tolist()\nexcept RecursionError:\n    pass\nprint('alive')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr[-500:]


@pytest.mark.parametrize(
    "bad", ["abc", ["a", "b"], "", [["a"]], {1: 2}, {1, 2}, object(), [object()], None, [None], iter([1]), [[1, "2"]]]
)
@pytest.mark.parametrize("make", [st.tensor, st.as_tensor, st.FloatTensor])
def test_what_holds_no_numbers_is_refused(bad, make):
    with pytest.raises(TypeError, match=r"^\w+: "):
        make(bad)


def test_generators_are_refused():
    for make in (st.tensor, st.as_tensor, st.Tensor):
        with pytest.raises(TypeError, match="generator"):
            make(i for i in range(3))


def test_integers_that_do_not_fit_are_refused():
    for data, name in (
        (256, "uint8"),
        ([0, -1], "uint8"),
        ([2**63], "int64"),
        ([-1], "uint64"),
        (2**64, "uint64"),
        ([2**31], "int32"),
    ):
        with pytest.raises(OverflowError, match=f"^tensor: .*{name}"):
            st.tensor(data, dtype=name)
    assert st.tensor([2**64 - 1], dtype=st.uint64).tolist() == [2**64 - 1]
    assert st.tensor([2**70], dtype=st.float64).tolist() == [2.0**70]
    with pytest.raises(OverflowError):
        st.tensor(2**63)


def test_tensor_copies_and_as_tensor_shares():
    x = st.arange(3)
    assert st.as_tensor(x) is x
    assert st.as_tensor(x, dtype=st.int64) is x
    assert st.as_tensor(x, dtype=st.float32).dtype is st.float32
    copy = st.tensor(x)
    copy[0] = 9
    a = np.arange(3.0)
    copy = st.tensor(a)
    copy[0] = 9
    assert x.tolist() == a.tolist() == [0, 1, 2]
    shared = st.as_tensor(a)
    shared[0] = 9
    assert a[0] == 9
    assert st.as_tensor(a, dtype=st.float32).data_ptr() != a.ctypes.data


@pytest.mark.parametrize("name", [n for n in DTYPES if n != "bfloat16"])
def test_from_numpy(name):
    a = ordinary(name, (3, 4), 1)
    x = st.from_numpy(a)
    assert x.dtype.name == name and x.data_ptr() == a.ctypes.data
    assert memory_of(x).tobytes() == a.tobytes()
    for view in (a.T, a[::-1], a[:, 1::2], a[1:1], a[1, 2:3].reshape(()), np.broadcast_to(a, (2, 3, 4))):
        y = st.from_numpy(view)
        assert tuple(y.shape) == view.shape and memory_of(y.clone()).tobytes() == view.tobytes()
    with pytest.raises(TypeError, match=r"^from_numpy: ndarray must be a NumPy array"):
        st.from_numpy([1, 2])


@pytest.mark.parametrize(
    "bad",
    [
        np.array(["a"]),
        np.array([object()]),
        np.zeros(2, ">f4"),
        np.zeros(2, "M8[s]"),
        np.zeros(2, "i4,f4"),
        np.zeros(2, "S3"),
    ],
)
def test_from_numpy_refuses_what_it_cannot_hold(bad):
    with pytest.raises((TypeError, ValueError, BufferError)):
        st.from_numpy(bad)


def test_swapped_bytes_are_converted_where_copies_are_made():
    a = np.array([1.5, 2.5], ">f8")
    assert st.tensor(a).tolist() == [1.5, 2.5]
    with pytest.raises(st.StorageError, match="byte order"):
        st.from_numpy(a)


def test_misaligned_arrays():
    raw = np.zeros(17, np.uint8)
    misaligned = raw[1:].view(np.float64)
    with pytest.raises(ValueError, match=r"^from_numpy: .*multiple of 8"):
        st.from_numpy(misaligned)
    misaligned[:] = [1.5, 2.5]
    assert st.tensor(misaligned).tolist() == [1.5, 2.5]
    assert (st.zeros(2, dtype=st.float64) + misaligned).tolist() == [1.5, 2.5]
    fields = np.zeros(3, np.dtype([("a", "u1"), ("b", "f4")]))
    fields["b"] = [1, 2, 3]
    with pytest.raises(ValueError, match=r"^from_numpy: .*stride|^from_numpy: .*multiple"):
        st.from_numpy(fields["b"])
    assert st.tensor(fields["b"]).tolist() == [1, 2, 3]


# empty, zeros, ones, full and their _like forms


@pytest.mark.parametrize("name", DTYPES)
def test_filled(name):
    for shape in ((), (3,), (2, 3), (2, 0, 3)):
        for x, value in (
            (st.zeros(shape, dtype=name), 0),
            (st.ones(shape, dtype=name), 1),
            (st.full(shape, 1, dtype=name), 1),
            (st.zeros_like(st.zeros(shape), dtype=name), 0),
            (st.ones_like(st.zeros(shape, dtype=name)), 1),
            (st.full_like(st.zeros(shape, dtype=name), 1), 1),
        ):
            assert (tuple(x.shape), x.dtype.name, x.is_contiguous()) == (shape, name, True)
            assert x.tolist() == np.full(shape, value, memory_dtype(name) if name != "bfloat16" else "f4").tolist()
        for x in (st.empty(shape, dtype=name), st.empty_like(st.zeros(shape, dtype=name))):
            assert (tuple(x.shape), x.dtype.name) == (shape, name)
            x.fill_(1)
            assert x.tolist() == st.ones(shape, dtype=name).tolist()


@pytest.mark.parametrize("make", [st.empty, st.zeros, st.ones])
def test_all_spellings_of_a_size(make):
    for x in (
        make(2, 3),
        make((2, 3)),
        make([2, 3]),
        make(st.Size([2, 3])),
        make(size=(2, 3)),
        make(shape=(2, 3)),
        make(np.array([2, 3])),
    ):
        assert x.shape == (2, 3) and x.dtype is st.float32
    assert make(np.int8(2), st.tensor(3)).shape == (2, 3)
    assert make(()).shape == () and make([]).shape == ()
    for bad in ((-1,), (2, -3), ((2, -1),)):
        with pytest.raises(st.ShapeError, match=f"^{make.__name__}: size -"):
            make(*bad)
    for bad in (("a",), (1.0,), (None,), (2, 1.5), ((1, "a"),), ((1, 2), 3), ({2},), ()):
        with pytest.raises(TypeError, match=f"^{make.__name__}: "):
            make(*bad)
    with pytest.raises(TypeError, match="given twice"):
        make(2, size=(2,))


def test_full():
    assert st.full((2,), 7).dtype is st.int64
    assert st.full((2,), 7.0).dtype is st.float32
    assert st.full((2,), True).dtype is st.bool
    assert st.full((2,), 1j).dtype is st.complex64
    assert st.full(2, 7).shape == (2,)
    assert st.full((2,), np.float64(0.5), dtype=st.float64).tolist() == [0.5, 0.5]
    assert st.full((2,), st.tensor(5)).tolist() == [5, 5]
    assert st.full(size=(2,), fill_value=1).tolist() == [1, 1]
    with pytest.raises(OverflowError, match=r"^full: 300 does not fit uint8"):
        st.full((2,), 300, dtype=st.uint8)
    with pytest.raises(OverflowError, match=r"^full_like: -1 does not fit uint8"):
        st.full_like(st.zeros(2, dtype=st.uint8), -1)
    with pytest.raises(TypeError, match=r"^full: "):
        st.full((2,), "a")
    with pytest.raises(TypeError, match=r"^full: argument 'fill_value' is missing"):
        st.full((2,))


def test_dtype_words():
    for word, wanted in (
        ("float32", st.float32),
        ("strided.float32", st.float32),
        ("torch.float32", st.float32),
        (st.float32, st.float32),
        (np.float32, st.float32),
        (np.dtype("float32"), st.float32),
        (float, st.float64),
        (int, st.int64),
        (bool, st.bool),
        (complex, st.complex128),
        (st.FloatTensor, st.float32),
        ("FloatTensor", st.float32),
        (np.bool_, st.bool),
        (np.longlong, st.int64),
        ("half", st.float16),
        ("double", st.float64),
        ("bfloat16", st.bfloat16),
        (None, st.float32),
    ):
        assert st.zeros(2, dtype=word).dtype is wanted, word
        if word is not None:
            assert st.dtype(word) is wanted
    assert st.half is st.float16 and st.float is st.float32 and st.double is st.float64 and st.long is st.int64
    assert st.int is st.int32 and st.short is st.int16
    for bad in ("float33", "", "strided.", 3, object(), [], str, np.str_, np.dtype("M8[s]"), "Tensor"):
        with pytest.raises(TypeError, match=r"^zeros: "):
            st.zeros(2, dtype=bad)


def test_device_and_requires_grad():
    x = st.zeros(2, device="cpu", requires_grad=False)
    assert x.device == st.device("cpu") and x.device.type == "cpu" and x.requires_grad is False
    assert st.tensor([1], device=st.device("cpu")).tolist() == [1]
    for make in (lambda **k: st.zeros(2, **k), lambda **k: st.tensor([1], **k), lambda **k: st.arange(3, **k)):
        with pytest.raises(ValueError, match=r"^\w+: device is 'tpu', wanted 'cpu', 'gpu'"):
            make(device="tpu")
        with pytest.raises(ValueError, match=r"^\w+: requires_grad=True"):
            make(requires_grad=True)
        with pytest.raises(TypeError, match=r"^\w+: unknown argument 'pin'"):
            make(pin=True)


# arange and range


@pytest.mark.parametrize("name", [*INTS, *FLOATS])
def test_arange_of_every_dtype(name):
    x = st.arange(3, 50, 4, dtype=name)
    assert x.dtype.name == name and x.tolist() == list(range(3, 50, 4))
    assert st.range(3, 51, 4, dtype=name).tolist() == list(range(3, 52, 4))


def test_arange():
    for args in ((5,), (2, 9), (9, 2, -1), (9, 2, -3), (0,), (3, 1), (1, 3, -1), (-5, 5, 3), (2**62, 2**62 + 3)):
        assert st.arange(*args).tolist() == list(range(*args)) and st.arange(*args).dtype is st.int64
    for args in ((0, 1, 0.25), (1.5,), (0.0, 5), (1, 0, -0.3), (0.1, 0.9, 0.2)):
        assert_close(st.arange(*args, dtype=st.float64), np.arange(*args, dtype=np.float64), rtol=1e-15, atol=1e-15)
        assert st.arange(*args).dtype is st.float32 and len(st.arange(*args)) == len(np.arange(*args))
    assert st.arange(start=1, end=4).tolist() == st.arange(1, stop=4).tolist() == [1, 2, 3]
    assert st.arange(end=3).tolist() == [0, 1, 2]
    assert st.range(0, 5).tolist() == [0, 1, 2, 3, 4, 5] and st.range(0, 5).dtype is st.float32
    assert st.range(5, 0, -2).tolist() == [5, 3, 1]
    assert st.range(0, 1, 0.5).tolist() == [0, 0.5, 1]


def test_long_ranges_do_not_drift():
    x = st.arange(0, 100_000, 0.1)
    n = len(x)
    assert n == 1_000_000
    exact = np.arange(n) * 0.1
    assert_equal(x, exact.astype(np.float32))


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ((0, 5, 0), ValueError),
        ((0, 5, 0.0), ValueError),
        ((0, float("inf")), ValueError),
        ((float("nan"),), ValueError),
        ((0, 5, float("nan")), ValueError),
        ((0, 2**62), (ValueError, MemoryError)),
        ((0, 1e300), (ValueError, MemoryError)),
        (("a",), TypeError),
        ((), TypeError),
        ((1j,), TypeError),
        ((0, 300, 1, st.uint8), OverflowError),
        ((0, 2**80, 2**79), (ValueError, OverflowError)),
        ((0, 5, 1, st.bool), TypeError),
        ((0, 5, 1, st.complex64), TypeError),
    ],
)
def test_bad_ranges(args, error):
    with pytest.raises(error, match=r"^arange: "):
        st.arange(*args)


# frombuffer


def test_frombuffer():
    data = bytearray(range(16))
    x = st.frombuffer(data, dtype=st.int16)
    assert x.tolist() == np.frombuffer(bytes(data), np.int16).tolist()
    x[0] = -1
    assert data[:2] == b"\xff\xff"
    assert st.frombuffer(data, dtype=st.uint8, count=3, offset=4).tolist() == [4, 5, 6]
    assert st.frombuffer(data, dtype=st.int32, offset=8).shape == (2,)
    assert st.frombuffer(data).dtype is st.float32
    assert st.frombuffer(b"", dtype=st.int8).shape == (0,)
    assert st.frombuffer(np.arange(4, dtype=np.float32), dtype=st.uint32)[1].item() == 0x3F800000
    assert st.frombuffer(array.array("i", [1, 2]), dtype=st.int32).tolist() == [1, 2]
    assert st.frombuffer(data, dtype=st.bfloat16).shape == (8,)
    del x


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        (dict(dtype=st.int32, offset=1), ValueError),
        (dict(dtype=st.int32, count=5), ValueError),
        (dict(dtype=st.int32, offset=17), ValueError),
        (dict(dtype=st.int32, offset=-4), ValueError),
        (dict(dtype=st.int32, offset=12, count=2), ValueError),
        (dict(dtype=st.int64, offset=4), ValueError),
        (dict(dtype=st.int32, count=2**62), ValueError),
        (dict(dtype=st.int32, count="a"), TypeError),
    ],
)
def test_bad_frombuffer(keywords, error):
    with pytest.raises(error, match=r"^frombuffer: "):
        st.frombuffer(bytearray(16), **keywords)


def test_frombuffer_of_no_buffer():
    for bad in ([1, 2], "abc", 3, None):
        with pytest.raises(TypeError):
            st.frombuffer(bad, dtype=st.int8)
    with pytest.raises(ValueError, match=r"^frombuffer: the buffer is not contiguous"):
        st.frombuffer(np.arange(6)[::2], dtype=st.int64)


def test_memory_of_the_right_kind():
    assert all(st.zeros(n, dtype=name).data_ptr() % 64 == 0 for n in (1, 7, 100, 10**6) for name in DTYPES)
