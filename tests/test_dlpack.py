"""DLPack, both ways: the same memory, whatever the dtype, the layout and the library."""

import gc

import numpy as np
import pytest
from dlpack_models import CODES, IS_COPIED, READ_ONLY, Legacy, Plain, Producer, Versioned, look
from hypothesis import given
from hypothesis import strategies as hs
from strategies import DTYPES, LAYOUTS, is_same, laid_out, memory_of, ordinary, shared

import strided as st
from strided.testing import indices, shapes

# Exporting


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 1), (1, 99), (2, 0)])
def test_the_struct_says_what_the_tensor_is(name, version):
    x = st.zeros(4, 5, dtype=name)[1:3, ::2].t()
    capsule = x.__dlpack__(max_version=version)
    struct = look(capsule)
    tensor = struct.tensor
    assert tensor.data + tensor.byte_offset == x.data_ptr()
    assert (tensor.device_type, tensor.device_id) == x.__dlpack_device__() == (1, 0)
    assert (tensor.ndim, tensor.shape[:2], tensor.strides[:2]) == (2, [3, 2], [2, 5])
    code = CODES[name.rstrip("0123456789")]
    assert (tensor.code, tensor.bits, tensor.lanes) == (code, 8 * x.element_size(), 1)
    if version is None or version < (1, 0):
        assert type(struct) is Legacy
    else:
        assert type(struct) is Versioned
        assert (struct.major, struct.flags) == (1, 0) and (struct.major, struct.minor) <= version


def test_strides_of_extents_of_0_and_1_are_those_of_a_row_major_tensor():
    x = st.zeros(6)[::2].view(1, 3, 1).flip(0)
    tensor = look(x.__dlpack__(copy=False)).tensor
    assert tensor.shape[:3] == [1, 3, 1] and tensor.strides[:3] == [3, 2, 1]
    empty = look(st.zeros(3, 0).flip(0).__dlpack__(copy=False)).tensor
    assert empty.data is None and empty.shape[:2] == [3, 0]
    assert look(st.tensor(5).__dlpack__()).tensor.ndim == 0


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("version", [None, (1, 0)])
def test_every_dtype_and_layout_comes_back(name, layout, version):
    shape = LAYOUTS[layout][0]
    x = laid_out(layout, ordinary(name, (1, shape[1]) if layout == "stride 0" else shape, 3), name)
    y = st.from_dlpack(x.__dlpack__(max_version=version))
    assert y.dtype is x.dtype and y.shape == x.shape
    assert memory_of(y).tobytes() == memory_of(x).tobytes()
    backward = layout in ("negative", "rank 9")
    if x.size:
        assert (y.data_ptr() != x.data_ptr()) == backward
        if not backward:
            assert [s for s, n in zip(y.stride(), y.shape, strict=True) if n > 1] == [
                s for s, n in zip(x.stride(), x.shape, strict=True) if n > 1
            ]
            with pytest.raises(st.StorageError, match="the producer made a copy, and copy is False"):
                st.from_dlpack(x.__dlpack__(max_version=(1, 0), copy=True), copy=False)
        else:
            with pytest.raises(BufferError, match=r"^__dlpack__: the strides \[.*-.*copy is False"):
                x.__dlpack__(max_version=version, copy=False)


@pytest.mark.parametrize("name", [name for name in DTYPES if name != "bfloat16"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_numpy_both_ways(name, layout):
    shape = LAYOUTS[layout][0]
    x = laid_out(layout, ordinary(name, (1, shape[1]) if layout == "stride 0" else shape, 4), name)
    theirs = x.numpy()
    a = np.from_dlpack(x)
    assert a.dtype == theirs.dtype and a.shape == theirs.shape and a.tobytes() == theirs.tobytes()
    y = st.from_dlpack(theirs)
    assert y.dtype is x.dtype and y.shape == x.shape and y.numpy().tobytes() == theirs.tobytes()
    if x.size:
        assert y.data_ptr() == x.data_ptr()
        assert (a.ctypes.data == x.data_ptr()) == (layout not in ("negative", "rank 9"))


@given(hs.sampled_from(DTYPES), shapes(), hs.data())
def test_views_travel(name, shape, data):
    memory = ordinary(name, shape, 5)
    key = data.draw(indices(shape))
    view = memory[key]
    x = shared(memory, name)[key]
    assert is_same(memory_of(st.from_dlpack(x)), view)
    if name != "bfloat16":
        assert is_same(np.from_dlpack(x), view)
        assert is_same(st.from_dlpack(view).numpy(), view)
        copy = st.from_dlpack(view, copy=True)
        assert copy.owns_storage() and is_same(copy.numpy(), view)


def test_what_is_written_shows():
    x = st.zeros(2, 3)
    a = np.from_dlpack(x)
    a[1, 2] = 7
    x[0, 0] = 5
    assert x.tolist() == a.tolist() == [[5, 0, 0], [0, 0, 7]]
    y = st.from_dlpack(a)
    y.fill_(1)
    assert x.sum().item() == 6 and not y.owns_storage()


def test_numpy_cannot_have_bfloat16():
    x = st.zeros(2, dtype=st.bfloat16)
    with pytest.raises((BufferError, RuntimeError)):
        np.from_dlpack(x)
    x.resize_(100)  # no export is left


def test_copies():
    x = st.arange(4)
    capsule = x.__dlpack__(copy=True, max_version=(1, 0))
    assert look(capsule).flags == IS_COPIED
    x.resize_(100)  # the copy was exported, not x
    y = st.from_dlpack(capsule)
    y.zero_()
    assert x[:4].tolist() == [0, 1, 2, 3]
    assert look(x.flip(0).__dlpack__(max_version=(1, 0))).flags == IS_COPIED
    for asked, address in ((True, False), (False, True), (None, True)):
        a = np.arange(3)
        z = st.from_dlpack(a, copy=asked)
        assert (z.data_ptr() == a.ctypes.data) is address and z.owns_storage() is not address
    large = st.arange(100_000).flip(0)
    assert st.from_dlpack(large).tolist() == large.tolist()


def test_read_only_memory():
    x = st.frombuffer(b"\1\2\3\4", dtype=st.uint8)
    with pytest.raises(BufferError, match=r"^__dlpack__: .*read-only.*max_version=\(1, 0\).*copy=True.*clone"):
        x.__dlpack__()
    assert look(x.__dlpack__(max_version=(1, 0))).flags == READ_ONLY
    assert look(x.__dlpack__(max_version=(1, 0), copy=True)).flags == IS_COPIED
    assert type(look(x.__dlpack__(copy=True))) is Legacy
    assert not np.from_dlpack(x).flags.writeable
    a = np.arange(3)
    a.flags.writeable = False
    y = st.from_dlpack(a)
    for write in (lambda: y.fill_(0), lambda: y[1:].add_(1), lambda: y.__setitem__(0, 5)):
        with pytest.raises(st.StorageError, match="read-only"):
            write()
    assert a.tolist() == [0, 1, 2]
    y.clone().fill_(0)
    st.from_dlpack(a, copy=True).fill_(0)
    p = Producer(flags=READ_ONLY)
    with pytest.raises(st.StorageError, match="read-only"):
        st.from_dlpack(p).fill_(0)
    assert list(p.numbers) == [*range(6)]


@pytest.mark.parametrize(
    ("words", "error", "text"),
    [
        ({"stream": 1}, ValueError, "stream must be None"),
        ({"stream": -1}, ValueError, "stream must be None"),
        ({"dl_device": (2, 0)}, BufferError, r"dl_device is \(2, 0\), CUDA, wanted \(1, 0\)"),
        ({"dl_device": (1, 1)}, ValueError, r"dl_device is \(1, 1\), CPU, wanted \(1, 0\)"),
        ({"dl_device": (2**40, -1)}, ValueError, "unknown"),
        ({"dl_device": 1}, TypeError, "dl_device must be a tuple of two ints"),
        ({"dl_device": "cpu"}, TypeError, "dl_device must be"),
        ({"max_version": 1}, TypeError, "max_version must be a tuple of two ints"),
        ({"max_version": (1,)}, TypeError, "max_version must be"),
        ({"max_version": (1, "x")}, TypeError, "max_version must be"),
        ({"max_version": (2**80, 0)}, OverflowError, "max_version"),
        ({"nonsense": 1}, TypeError, "unknown argument 'nonsense'"),
    ],
)
def test_requests_that_are_refused(words, error, text):
    x = st.zeros(2)
    with pytest.raises(error, match=f"^__dlpack__: .*{text}"):
        x.__dlpack__(**words)
    x.resize_(100)


def test_requests_that_are_fine():
    x = st.arange(3)
    for version in ((1, -5), (1, 2**40), (2**40, 2**40), [1, 0], (-1, 0)):
        assert st.from_dlpack(x.__dlpack__(max_version=version, dl_device=(1, 0), stream=None)).tolist() == [0, 1, 2]
    with pytest.raises(TypeError):
        x.__dlpack__(None)
    with pytest.raises(st.StorageError, match=r"^__dlpack__: 65 dims"):
        st.zeros(*[1] * 65).__dlpack__()
    assert st.from_dlpack(st.zeros(*[1] * 64)).dim() == 64


# Importing


def test_where_a_tensor_comes_from():
    a = np.arange(3)
    assert st.from_dlpack(Plain(a)).data_ptr() == a.ctypes.data
    assert st.from_dlpack(a, device="cpu").data_ptr() == a.ctypes.data
    assert st.from_dlpack(a, device=st.device("cpu"), copy=False).data_ptr() == a.ctypes.data
    assert st.from_dlpack(Plain(a), device="cpu", copy=False).data_ptr() == a.ctypes.data
    assert st.from_dlpack(Plain(a), copy=True).data_ptr() != a.ctypes.data
    for form in (Legacy, Versioned):
        p = Producer(form)
        assert st.from_dlpack(p).tolist() == st.from_dlpack(x=Producer(form).capsule).tolist() == [[0, 1, 2], [3, 4, 5]]
        assert p.words == {"max_version": (1, 1)}
    for words in ({"device": "cpu"}, {"copy": False}, {"copy": True}):
        p = Producer()
        st.from_dlpack(p, **words)
        asked = {"device": {"dl_device": (1, 0)}, "copy": {} if words.get("copy") else {"copy": False}}[
            next(iter(words))
        ]
        assert p.words == {"max_version": (1, 1)} | asked
    with pytest.raises(ValueError, match=r"^from_dlpack: device is 'tpu'"):
        st.from_dlpack(a, device="tpu")
    with pytest.raises(TypeError):
        st.from_dlpack(a, "cpu")


def test_producers_that_fail():
    class Raises:
        def __init__(self, error):
            self.error = error
            self.calls = 0

        def __dlpack__(self, **words):
            self.calls += 1
            raise self.error

    for error, calls in ((KeyError("x"), 1), (BufferError("no"), 1), (TypeError("never"), 2), (KeyboardInterrupt(), 1)):
        p = Raises(error)
        with pytest.raises(type(error)) as caught:
            st.from_dlpack(p)
        assert caught.value is error and p.calls == calls

    class Returns:
        def __dlpack__(self, **words):
            return 3

    with pytest.raises(TypeError, match=r"^from_dlpack: __dlpack__ of Returns returned int, wanted a capsule"):
        st.from_dlpack(Returns())

    class Broken:
        @property
        def __dlpack__(self):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        st.from_dlpack(Broken())
    for thing in (3, None, "abc", [1, 2], object()):
        with pytest.raises(AttributeError, match=r"^from_dlpack: .* has no __dlpack__"):
            st.from_dlpack(thing)


# Other libraries


def test_torch_both_ways():
    torch = pytest.importorskip("torch")
    for name in DTYPES:
        x = st.from_numpy(ordinary(name, (3, 4), 6)).view(getattr(st, name)).t()[1:]
        t = torch.from_dlpack(x)
        assert str(t.dtype) == f"torch.{name}" and t.data_ptr() == x.data_ptr(), name
        assert t.stride() == x.stride() and tuple(t.shape) == tuple(x.shape), name
        y = st.from_dlpack(t)
        assert y.dtype is x.dtype and y.data_ptr() == x.data_ptr() and y.stride() == x.stride(), name
        assert is_same(memory_of(y), memory_of(x)), name
        z = st.from_dlpack(torch.utils.dlpack.to_dlpack(t))
        assert z.data_ptr() == x.data_ptr(), name
        assert torch.utils.dlpack.from_dlpack(x.__dlpack__()).data_ptr() == x.data_ptr(), name
        assert is_same(memory_of(st.from_dlpack(torch.from_dlpack(x.flip(0)))), memory_of(x.flip(0))), name
        assert torch.from_dlpack(x, copy=True).data_ptr() != x.data_ptr(), name
    assert torch.from_dlpack(st.tensor(5)).item() == st.from_dlpack(torch.tensor(5)).item() == 5
    assert tuple(torch.from_dlpack(st.zeros(3, 0)).shape) == (3, 0) == tuple(st.from_dlpack(torch.zeros(3, 0)).shape)
    row = torch.arange(3).expand(4, 3)
    assert st.from_dlpack(row).stride() == (0, 1) == torch.from_dlpack(st.arange(3).expand(4, 3)).stride()
    x = st.zeros(3)
    t = torch.from_dlpack(x)
    t[1] = 7
    assert x.tolist() == [0, 7, 0]
    with pytest.raises(st.StorageError, match="exported"):
        x.resize_(100)
    del t
    gc.collect()
    x.resize_(100)


def test_jax_both_ways():
    jax = pytest.importorskip("jax")
    for name in ("bool", "uint8", "int8", "int16", "int32", "float16", "bfloat16", "float32", "complex64"):
        x = st.from_numpy(ordinary(name, (3, 4), 7)).view(getattr(st, name))
        y = jax.dlpack.from_dlpack(x)
        assert y.dtype.name == name and y.shape == (3, 4)
        z = st.from_dlpack(y)
        assert z.dtype is x.dtype and is_same(memory_of(z), memory_of(x))
        assert z.data_ptr() == y.unsafe_buffer_pointer()
    x = st.arange(64, dtype=st.float32)
    y = jax.dlpack.from_dlpack(x)
    assert y.unsafe_buffer_pointer() == x.data_ptr()  # ours is aligned as JAX wants it
