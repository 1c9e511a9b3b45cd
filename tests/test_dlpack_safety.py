"""DLPack with hostile producers: every field of a capsule is checked, and everything is freed exactly once."""

import ctypes
import gc
import os
import weakref
from pathlib import Path

import numpy as np
import pytest
from dlpack_models import (
    FORMS,
    READ_ONLY,
    Callback,
    Legacy,
    Plain,
    Producer,
    Versioned,
    Watched,
    look,
    name_of,
    new_capsule,
    rename,
)
from strategies import is_same

import strided as st

# Wrong values

HOSTILE = [
    ({"ndim": -1}, "-1 dims, wanted 0 to 64"),
    ({"ndim": -(2**31)}, "dims, wanted 0 to 64"),
    ({"ndim": 2**31 - 1}, "dims, wanted 0 to 64"),
    ({"ndim": 2, "shape": None}, "the shape of 2 dims is null"),
    ({"shape": (2, -3)}, "size -3 of dim 1 is negative"),
    ({"shape": (-1, 0)}, "size -1 of dim 0 is negative"),
    ({"shape": (2**62, 2**62)}, "address space"),
    ({"shape": (2**62, 2**62), "strides": None}, "address space"),
    ({"shape": (2**63 - 1, 2), "strides": (0, 0)}, "address space"),
    ({"strides": (2**62, 1)}, "address space"),
    ({"strides": (-(2**63), 1)}, "address space"),
    ({"shape": (2**40, 2), "strides": (2**40, 1)}, "address space"),
    ({"strides": (2**57, 2**57), "bits": 64, "shape": (3, 3)}, "address space"),
    ({"strides": (-(2**50), 1)}, "address space"),
    ({"data": None}, "the address of 6 elements is null"),
    ({"data": None, "byte_offset": 64}, "the address of 6 elements is null"),
    ({"data": None, "shape": (), "strides": None}, "the address of 1 elements is null"),
    ({"byte_offset": 2**64 - 1}, "address space"),
    ({"data": 2**64 - 8}, "address space"),
    ({"device_type": 2}, "device type 2, CUDA, wanted 1, the CPU"),
    ({"device_type": 10}, "device type 10, ROCm"),
    ({"device_type": 8}, "device type 8, Metal"),
    ({"device_type": 0}, "device type 0, unknown"),
    ({"device_type": -7}, "device type -7, unknown"),
    ({"lanes": 2}, "code 0 with 32 bits and 2 lanes"),
    ({"lanes": 0}, "code 0 with 32 bits and 0 lanes"),
    ({"bits": 4}, "code 0 with 4 bits and 1 lanes"),
    ({"bits": 128}, "code 0 with 128 bits"),
    ({"code": 2, "bits": 8}, "code 2 with 8 bits"),
    ({"code": 3, "bits": 64}, "code 3 with 64 bits"),
    ({"code": 4, "bits": 32}, "code 4 with 32 bits"),
    ({"code": 6, "bits": 32}, "code 6 with 32 bits"),
    ({"code": 10, "bits": 8}, "code 10 with 8 bits"),
    ({"code": 255, "bits": 255, "lanes": 65535}, "code 255 with 255 bits and 65535 lanes"),
    ({"name": b"tensor"}, "none of DLPack"),
    ({"name": b""}, "none of DLPack"),
    ({"name": Legacy.used}, "used"),
    ({"name": Versioned.used}, "used"),
    ({"address": 3}, "pointer is no multiple of 8"),
]


@FORMS
@pytest.mark.parametrize(("lies", "text"), HOSTILE, ids=lambda part: part if isinstance(part, str) else "")
@pytest.mark.parametrize("copy", [None, True, False])
def test_wrong_values_are_refused(form, lies, text, copy):
    p = Producer(form, **lies)
    for source in (p, p.capsule):
        with pytest.raises((ValueError, RuntimeError), match=f"^from_dlpack: .*{text}"):
            st.from_dlpack(source, copy=copy)
        assert p.deleted == 0 and name_of(p.capsule) == p.name  # still usable by another consumer
    del source
    p.capsule = None
    assert p.deleted == (p.name == form.name)


def test_a_capsule_without_a_name():
    capsule = new_capsule(8, None, None)
    with pytest.raises(st.StorageError, match="none of DLPack"):
        st.from_dlpack(capsule)


@pytest.mark.parametrize("version", [(0, 9), (2, 0), (2**32 - 1, 7)])
def test_another_major_version_is_deleted_and_refused(version):
    p = Producer(major=version[0], minor=version[1], ndim=-5, device_type=77)
    with pytest.raises(BufferError, match=rf"^from_dlpack: .*version {version[0]}\.{version[1]}, wanted 1\.x"):
        st.from_dlpack(p)
    assert p.deleted == 1 and name_of(p.capsule) == Versioned.used
    p.capsule = None
    assert p.deleted == 1


def test_another_minor_version_is_fine():
    assert st.from_dlpack(Producer(minor=2**32 - 1, flags=0xFFFF_FFFF_FFFF_FFF0)).tolist() == [[0, 1, 2], [3, 4, 5]]


@FORMS
def test_wrong_values_of_unused_fields_are_ignored(form):
    far = 2**63 - 1
    assert st.from_dlpack(Producer(form, shape=(1, 6), strides=(far, 1))).tolist() == [[0, 1, 2, 3, 4, 5]]
    assert st.from_dlpack(Producer(form, shape=(0, 6), strides=(far, -far))).shape == (0, 6)
    assert st.from_dlpack(Producer(form, shape=(6, 0), data=None, strides=None)).shape == (6, 0)
    assert st.from_dlpack(Producer(form, shape=(0,), strides=(1,), data=5)).shape == (0,)
    assert st.from_dlpack(Producer(form, shape=(0,), strides=(1,), data=5), copy=False).shape == (0,)
    assert st.from_dlpack(Producer(form, shape=(), strides=None, byte_offset=8)).item() == 2
    assert st.from_dlpack(Producer(form, strides=None)).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert st.from_dlpack(Producer(form, device_id=5)).shape == (2, 3)
    p = Producer(form, deleter=None)
    assert st.from_dlpack(p).sum().item() == 15
    assert p.deleted == 0


@FORMS
def test_strides_of_all_kinds(form):
    for shape, strides, offset in [
        ((6,), (-1,), 20),
        ((2, 3), (-3, -1), 20),
        ((2, 3), (3, -1), 8),
        ((3, 2), (-2, 1), 16),
        ((4, 2), (0, 3), 4),
        ((3,), (2,), 4),
        ((2, 2, 2), (1, 1, 1), 0),
    ]:
        p = Producer(form, shape=shape, strides=strides, byte_offset=offset)
        start = np.frombuffer(p.numbers, np.int32)[offset // 4 :]
        wanted = np.lib.stride_tricks.as_strided(start, shape, [4 * s for s in strides])
        x = st.from_dlpack(p, copy=False)
        assert x.tolist() == wanted.tolist() and x.stride() == strides
        assert x.data_ptr() == ctypes.addressof(p.numbers) + offset
        assert st.from_dlpack(x).tolist() == wanted.tolist()
    p = Producer(form, shape=(6,), strides=(-1,), byte_offset=20)
    st.from_dlpack(p)[0] = 77
    assert list(p.numbers) == [0, 1, 2, 3, 4, 77]


@FORMS
@pytest.mark.parametrize("flags", [0, READ_ONLY])
def test_misaligned_memory_is_copied_or_refused(form, flags):
    if form is Legacy and flags:
        return
    lies = {"flags": flags} if flags else {}
    p = Producer(form, shape=(2, 2), strides=(2, -1), byte_offset=5, **lies)
    wanted = np.frombuffer(bytes(p.numbers)[1:21], np.int32)[[[1, 0], [3, 2]]]
    with pytest.raises(ValueError, match=r"^from_dlpack: the address is no multiple of 4.*copy is False"):
        st.from_dlpack(p, copy=False)
    assert p.deleted == 0
    for copy in (None, True):
        p = Producer(form, shape=(2, 2), strides=(2, -1), byte_offset=5, **lies)
        x = st.from_dlpack(p, copy=copy)
        assert p.deleted == 1  # the copy does not need it any more
        assert x.tolist() == wanted.tolist() and x.owns_storage()
        x.fill_(0)


def test_misaligned_arrays_of_numpy():
    for name in ("int16", "float64", "complex128"):
        a = np.frombuffer(bytearray(range(1, 200)), np.uint8)[1:193].view(name)[::-2]
        with pytest.raises(st.StorageError, match="copy"):
            st.from_dlpack(a, copy=False)
        assert is_same(st.from_dlpack(a).numpy(), a)


def test_bytes_as_bool():
    """A producer whose dtype is uint8 gives bytes; one whose dtype is bool may hold any byte."""
    p = Producer(code=1, bits=8, shape=(8,), strides=(1,))
    assert st.from_dlpack(p).dtype is st.uint8
    x = st.from_dlpack(Producer(code=6, bits=8, shape=(9,), strides=(1,)))
    assert x.dtype is st.bool and x.tolist() == [False] * 4 + [True] + [False] * 3 + [True]


# Lifetimes


@FORMS
def test_the_deleter_is_called_once_with_the_last_user(form):
    for keep in (lambda x: x, lambda x: x[1:], lambda x: x.storage(), memoryview, np.asarray, lambda x: x.__dlpack__()):
        p = Producer(form)
        x = st.from_dlpack(p)
        assert name_of(p.capsule) == form.used
        with pytest.raises(st.StorageError, match=r"^from_dlpack: .*used"):
            st.from_dlpack(p.capsule)
        held = keep(x)
        p.capsule = None
        del x
        gc.collect()
        assert p.deleted == 0
        del held
        gc.collect()
        assert p.deleted == 1


@FORMS
def test_a_copy_frees_the_original_at_once(form):
    p = Producer(form)
    x = st.from_dlpack(p, copy=True)
    assert p.deleted == 1 and x.owns_storage()
    x.resize_(100)
    p.capsule = None
    assert p.deleted == 1


@FORMS
def test_a_deleter_may_run_code_while_an_exception_passes(form):
    def busy():
        gc.collect()
        with pytest.raises(ZeroDivisionError):
            1 / 0

    p = Producer(form, during=busy)
    with pytest.raises(KeyError, match="nothing"):
        (st.from_dlpack(p), {}["nothing"])
    gc.collect()
    assert p.deleted == 1


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_capsule_exports_until_it_is_freed(version):
    def refused():
        with pytest.raises(st.StorageError, match=r"^resize_: .*exported"):
            x.resize_(10_000)

    x = st.arange(3)
    capsule = x.__dlpack__(max_version=version)
    refused()
    del capsule
    x.resize_(10_000)

    x = st.arange(3)
    capsule = x.__dlpack__(max_version=version)
    y = st.from_dlpack(capsule)
    del capsule
    gc.collect()
    refused()
    z = y[1:]
    del y
    refused()
    del z
    x.resize_(10_000)

    x = st.arange(3)
    a = np.from_dlpack(x)
    refused()
    b = a[1:]
    del a
    refused()
    del b
    gc.collect()
    x.resize_(10_000)


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_memory_outlives_the_tensor(version):
    x = st.arange(1000)
    capsule = x.__dlpack__(max_version=version)
    del x
    trash = [st.full((1000,), 7) for _ in range(50)]
    assert st.from_dlpack(capsule).sum().item() == 499500
    del trash


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_our_deleter_needs_no_interpreter(version):
    """A consumer in C calls the deleter without the GIL, though the memory may belong to a Python object."""
    a = np.arange(4.0).view(Watched)
    gone = weakref.ref(a)
    capsule = st.from_numpy(a).__dlpack__(max_version=version)
    struct = look(capsule)
    rename(capsule, struct.used)
    del a
    gc.collect()
    assert gone() is not None
    Callback(struct.deleter)(ctypes.addressof(struct))  # ctypes releases the GIL for the call
    gc.collect()
    assert gone() is None
    del capsule  # used: its destructor does nothing


@FORMS
def test_deleters_may_call_deleters(form):
    """As PyTorch does with a tensor on our memory: inside our call, with the GIL released."""
    a = np.arange(4.0).view(Watched)
    gone = weakref.ref(a)
    struct = look(st.from_numpy(a).__dlpack__())
    rename(struct.capsule, struct.used)
    del a
    p = Producer(form, during=lambda: Callback(struct.deleter)(ctypes.addressof(struct)))
    x = st.from_dlpack(p)
    assert gone() is not None
    del x
    gc.collect()
    assert p.deleted == 1 and gone() is None


def test_the_owner_of_the_memory_is_freed_with_its_last_user():
    a = np.arange(4.0).view(Watched)
    gone = weakref.ref(a)
    x = st.from_dlpack(a)
    b = np.from_dlpack(x)
    capsule = x.__dlpack__()
    del a, x
    gc.collect()
    assert gone() is not None
    del b
    gc.collect()
    assert gone() is not None
    del capsule
    gc.collect()
    assert gone() is None

    class Tensor(st.Tensor):
        pass

    t = Tensor(3)
    gone = weakref.ref(t)
    b = np.from_dlpack(t)
    del t
    gc.collect()
    assert gone() is None and b.tolist() == [0, 0, 0]  # the storage is held, not the object


def resident():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell")
def test_memory_is_stable_over_many_exchanges():
    x, a = st.zeros(1000), np.zeros(1000)
    backward, old = x.flip(0), Plain(a)

    def unused():
        x.__dlpack__()
        x.__dlpack__(max_version=(1, 0))

    def refused():
        try:
            st.from_dlpack(x, device="nowhere")
        except ValueError:
            return

    exchanges = [
        (lambda: np.from_dlpack(x), 100_000),
        (lambda: st.from_dlpack(a), 100_000),
        (lambda: st.from_dlpack(x), 100_000),
        (unused, 50_000),
        (lambda: st.from_dlpack(old), 20_000),
        (lambda: st.from_dlpack(backward), 20_000),
        (lambda: st.from_dlpack(a, copy=True), 20_000),
        (refused, 20_000),
    ]
    for exchange, count in exchanges:
        for _ in range(2000):
            exchange()
        gc.collect()
        before = resident()
        for _ in range(count):
            exchange()
        gc.collect()
        grown = resident() - before
        assert grown < 4_000_000, f"{grown} bytes more after {count} exchanges"


def test_a_tensor_beyond_its_shrunken_storage_is_not_exported():
    x = st.zeros(10)
    y = x[5:]
    x.storage().resize_(6)
    for words in ({}, {"max_version": (1, 0)}, {"copy": True}):
        with pytest.raises(ValueError, match=r"^__dlpack__: locations 5 to 9 leave a storage of 6"):
            y.__dlpack__(**words)
    x.storage().resize_(100)
