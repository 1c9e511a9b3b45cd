"""Storages on mapped files: what is shared, what is refused, and that nothing is left behind."""

import copy
import errno
import gc
import mmap
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import strided as st

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


@pytest.fixture
def path(tmp_path):
    """A file with 0 … 11 as int32."""
    name = tmp_path / "numbers"
    np.arange(12, dtype="i4").tofile(name)
    return name


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def maps(name):
    return pathlib.Path("/proc/self/maps").read_text().count(str(name))


def content(path):
    return np.fromfile(path, "i4").tolist()


# Private, shared and read-only


def test_private_writes_stay_here(path):
    s = st.IntStorage.from_file(path)
    s[3] = -1
    assert s.tolist() == [0, 1, 2, -1, *range(4, 12)] and content(path) == list(range(12))
    assert s.is_mapped and not s.is_shared() and not s.readonly and not s.owns_memory
    assert s.filename == str(path)
    with pytest.raises(st.StorageError, match="privately"):
        s.flush()


def test_shared_writes_reach_the_file_and_other_maps(path):
    s = st.IntStorage.from_file(path, shared=True)
    x, other = st.IntTensor(s).view(3, 4), st.from_file(path, True, dtype=st.int32)
    x[1] = 7
    assert other.tolist() == [0, 1, 2, 3, 7, 7, 7, 7, 8, 9, 10, 11]
    assert s.flush() is None and content(path) == other.tolist()
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as theirs:
        assert np.frombuffer(theirs[:], "i4").tolist() == other.tolist()
    assert s.is_shared() and x.is_shared() and x.storage() is s and s.share_memory_() is s


@pytest.mark.parametrize("shared", [False, True])
def test_readonly_refuses_writing(path, shared):
    s = st.IntStorage.from_file(path, shared, readonly=True)
    x = st.IntTensor(s)
    assert s.readonly and s.is_shared() is shared and x.sum().item() == 66
    for write in (lambda: s.fill_(0), lambda: x.add_(1), lambda: x.__setitem__(0, 1), lambda: x.resize_(99)):
        with pytest.raises(st.StorageError, match="read-only"):
            write()
    with pytest.raises(ValueError, match="read-only"):
        x.numpy()[0] = 1
    assert st.IntStorage.from_file(path, True, readonly=True).flush() is None
    assert content(path) == list(range(12))


def test_readonly_needs_no_right_to_write(path):
    os.chmod(path, 0o400)
    assert st.IntStorage.from_file(path, readonly=True).size() == 12
    assert st.IntStorage.from_file(path).fill_(1).tolist() == [1] * 12
    if os.geteuid() == 0:
        pytest.skip("root may write anything")
    with pytest.raises(PermissionError) as caught:
        st.IntStorage.from_file(path, True)
    assert caught.value.filename == str(path)


@linux
def test_a_file_system_that_is_read_only():
    with pytest.raises(OSError) as caught:
        st.ByteStorage.from_file("/proc/version", True)
    assert caught.value.errno in (errno.EACCES, errno.EROFS, errno.EPERM, errno.EIO)


@pytest.mark.parametrize("form", [str, os.fsencode, pathlib.Path])
def test_paths_of_every_kind(path, form):
    assert st.IntStorage.from_file(form(path)).size() == 12


def test_the_path_survives_another_directory(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    s = st.IntStorage.from_file(path.name)
    monkeypatch.chdir("/")
    assert s.filename == str(path)


def test_names_that_are_not_unicode(tmp_path):
    name = os.path.join(os.fsencode(tmp_path), b"caf\xe9")
    try:
        with open(name, "wb") as file:
            file.write(b"abcd")
    except OSError:
        pytest.skip("this file system knows no such names")
    s = st.ByteStorage.from_file(name)
    assert bytes(memoryview(s)) == b"abcd" and os.fsencode(s.filename) == name
    with pytest.raises(FileNotFoundError) as caught:
        st.ByteStorage.from_file(name + b"x")
    assert os.fsencode(caught.value.filename) == name + b"x"


def test_dtypes(path):
    assert st.Storage.from_file(path).dtype is st.float32
    assert st.Storage.from_file(path, dtype=st.int32).tolist() == list(range(12))
    assert st.ShortStorage.from_file(path).size() == 24
    assert st.from_file(path).dtype is st.float32
    assert st.DoubleStorage.from_file(path, dtype="int64").dtype is st.int64
    for name in ("bool", "bfloat16", "complex128"):
        s = st.Storage.from_file(path, dtype=name)
        assert s.nbytes == 48 and s.dtype.name == name


# Sizes and offsets


def test_size_counts_elements_and_offset_bytes(path):
    assert st.IntStorage.from_file(path, False, 3).tolist() == [0, 1, 2]
    assert st.IntStorage.from_file(path, False, 3, offset=8).tolist() == [2, 3, 4]
    assert st.IntStorage.from_file(path, offset=40).tolist() == [10, 11]
    assert st.IntStorage.from_file(path, offset=48).tolist() == []
    assert st.from_file(path, size=2, dtype=st.int32, offset=4).tolist() == [1, 2]


def test_offsets_far_into_a_file(tmp_path):
    name = tmp_path / "large"
    page = mmap.PAGESIZE
    values = np.arange(3 * page, dtype="i4")
    values.tofile(name)
    for at in (1, page // 4 - 1, page // 4, page // 4 + 1, 2 * page):
        assert st.IntStorage.from_file(name, True, 5, offset=4 * at).tolist() == values[at : at + 5].tolist()


def test_a_misaligned_private_map_is_a_copy(path):
    raw = path.read_bytes()
    for readonly in (False, True):
        s = st.IntStorage.from_file(path, size=4, offset=3, readonly=readonly)
        assert s.tolist() == np.frombuffer(raw[3:19], "i4").tolist()
        assert not s.is_mapped and s.readonly is readonly
    with pytest.raises(st.StorageError, match="read-only"):
        s.fill_(0)
    for readonly in (False, True):
        with pytest.raises(ValueError, match="offset is 3, wanted a multiple of 4"):
            st.IntStorage.from_file(path, True, 4, offset=3, readonly=readonly)


def test_empty_files(tmp_path):
    name = tmp_path / "empty"
    name.touch()
    for shared in (False, True):
        s = st.FloatStorage.from_file(name, shared)
        assert s.size() == 0 and s.tolist() == [] and s.is_mapped
        assert st.FloatTensor(s).sum().item() == 0
    assert s.flush() is None


def test_the_message_names_the_file_that_is_too_short(path):
    with pytest.raises(
        st.StorageError, match=r"has 48 bytes, and 13 elements of int32 from byte 0 on need 52; grow=True"
    ):
        st.IntStorage.from_file(path, size=13)
    with pytest.raises(ValueError, match="from byte 8 on need 56"):
        st.IntStorage.from_file(path, True, 12, offset=8)
    with pytest.raises(st.StorageError, match="offset 49 is beyond its end"):
        st.ByteStorage.from_file(path, offset=49)
    with pytest.raises(st.StorageError, match=r"has 46 bytes from byte 2 on, no multiple of the 4 bytes of int32"):
        st.IntStorage.from_file(path, offset=2)
    assert content(path) == list(range(12))


def test_grow_and_create(tmp_path):
    name = tmp_path / "new"
    with pytest.raises(FileNotFoundError) as caught:
        st.IntStorage.from_file(name, True, 4)
    assert caught.value.errno == errno.ENOENT and caught.value.filename == str(name)
    s = st.IntStorage.from_file(name, True, 4, create=True).fill_(3)
    assert content(name) == [3] * 4
    t = st.IntStorage.from_file(name, True, 6, grow=True)
    assert t.tolist() == [3] * 4 + [0, 0] and s.size() == 4
    assert st.IntStorage.from_file(name, True, 2, grow=True, create=True).size() == 2 and len(content(name)) == 6
    private = st.IntStorage.from_file(tmp_path / "private", False, 2, create=True).fill_(1)
    assert private.tolist() == [1, 1] and content(tmp_path / "private") == [0, 0]


def test_the_function_makes_shared_files_as_pytorch_does(tmp_path):
    name = tmp_path / "new"
    x = st.from_file(name, True, 4, dtype=st.int32).fill_(5)
    assert content(name) == [5] * 4 and x.is_shared()
    assert st.from_file(name, True, 6, dtype=st.int32).tolist() == [5] * 4 + [0] * 2
    with pytest.raises(st.StorageError, match="grow=True"):
        st.from_file(name, True, 8, dtype=st.int32, grow=False)
    for missing in ({}, {"shared": True}, {"size": 3}, {"shared": True, "size": 3, "create": False}):
        with pytest.raises(FileNotFoundError):
            st.from_file(tmp_path / "missing", **missing)
    assert not (tmp_path / "missing").exists()


# Refusals


@pytest.mark.parametrize("shared", [False, True])
def test_what_is_not_a_file_is_refused(tmp_path, shared):
    with pytest.raises(IsADirectoryError) as caught:
        st.ByteStorage.from_file(tmp_path, shared)
    assert caught.value.filename == str(tmp_path)
    with pytest.raises(NotADirectoryError):
        st.ByteStorage.from_file(__file__ + "/x", shared)
    for name in (os.devnull, "/dev/zero"):
        with pytest.raises(st.StorageError, match="no regular file"):
            st.ByteStorage.from_file(name, shared, 4)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(st.StorageError, match="no regular file"):  # opening a FIFO must not wait for a writer
        st.ByteStorage.from_file(fifo, shared, 4, create=shared, grow=shared)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (dict(size=-1), ValueError),
        (dict(size=2**61), ValueError),
        (dict(size=2**64), OverflowError),
        (dict(size=2**40, grow=True), OSError),
        (dict(size=2**60, grow=True, shared=True), (OSError, ValueError)),
        (dict(offset=-4), ValueError),
        (dict(size=1, offset=2**62), ValueError),
        (dict(size=2**60, offset=2**62, grow=True), ValueError),
        (dict(size="3"), TypeError),
        (dict(dtype="no"), TypeError),
        (dict(readonly=True, create=True, size=1), ValueError),
        (dict(readonly=True, grow=True, size=99), ValueError),
        (dict(create=True), ValueError),
    ],
)
def test_bad_arguments_change_nothing(path, given, error):
    with pytest.raises(error):
        st.IntStorage.from_file(path, **given)
    if "create" not in given:
        with pytest.raises(error):
            st.from_file(path, **{"dtype": "int32"} | given)
    assert content(path) == list(range(12))


@pytest.mark.parametrize("name", [None, 3, 1.5, ["a"]])
def test_a_path_must_be_one(name):
    with pytest.raises(TypeError):
        st.ByteStorage.from_file(name)


@pytest.mark.parametrize("name", ["a\0b", b"a\0b", ""])
def test_impossible_names(name):
    with pytest.raises((ValueError, FileNotFoundError)):
        st.ByteStorage.from_file(name)


def test_a_map_keeps_its_size(path):
    s = st.IntStorage.from_file(path, True)
    x = st.IntTensor(s)
    for resize in (lambda: s.resize_(13), lambda: s.resize_(1), lambda: x.resize_(13)):
        with pytest.raises(st.StorageError, match="keeps its size"):
            resize()
    assert x.resize_(3, 4).shape == (3, 4)
    with pytest.raises(st.StorageError, match="clone it first"):
        st.IntStorage.from_file(path).share_memory_()


# Memory


def test_two_maps_of_one_file_are_one_memory(path):
    """As NumPy on one array: everything is read before anything is written."""
    for shift in (1, 5):
        a, b = (st.from_file(path, True, dtype=st.int32) for _ in range(2))
        wanted = np.array(content(path))
        wanted[shift:] = wanted[:-shift].copy()
        a[shift:].copy_(b[:-shift])
        assert content(path) == wanted.tolist()
    wanted = np.array(content(path))
    wanted[1:] += wanted[:-1].copy()
    a[1:] += b[:-1]
    assert content(path) == wanted.tolist()


def test_copies_have_memory_of_their_own(path):
    s = st.IntStorage.from_file(path, True)
    x = st.IntTensor(s).view(3, 4)
    for made in (s.clone(), copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        assert made.fill_(0).owns_memory and not made.is_mapped
    for made in (x.clone(), copy.deepcopy(x), *(pickle.loads(pickle.dumps(x, p)) for p in range(6))):
        assert made.shape == x.shape and made.tolist() == x.tolist() and not made.is_shared()
        made.fill_(0)
    assert content(path) == list(range(12))


def test_a_file_that_is_removed_stays_mapped(path):
    s = st.IntStorage.from_file(path, True)
    os.remove(path)
    s[0] = 5
    gc.collect()
    assert s.flush() is None and s.tolist() == [5, *range(1, 12)] and not path.exists()


@linux
def test_arrays_keep_the_map(path):
    array = st.from_file(path, True, dtype=st.int32).numpy()
    gc.collect()
    assert maps(path) == 1 and array.sum() == 66
    array[0] = 9
    assert content(path)[0] == 9
    del array
    assert maps(path) == 0


@linux
def test_maps_and_descriptors_go_with_their_storages(path):
    before = descriptors()
    for n in range(20_000):
        x = st.from_file(path, bool(n & 1), dtype=st.int32, readonly=bool(n & 2))
    assert x[n % 12].item() == n % 12
    del x
    assert descriptors() == before and maps(path) == 0
    for _ in range(2000):
        with pytest.raises((OSError, ValueError)):
            st.IntStorage.from_file(path, size=99)
    assert descriptors() == before
    many = [st.IntStorage.from_file(path) for _ in range(1000)]
    assert descriptors() == before and sum(s[5] for s in many) == 5000


@linux
def test_when_there_are_no_descriptors_left(path):
    code = """
import resource, sys, strided as st
import multiprocessing.reduction, os
opened = []
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (40, hard))
try:
    while True: opened.append(os.open(sys.argv[1], os.O_RDONLY))
except OSError: pass
x = st.ones(3)
for call in (lambda: st.ByteStorage.from_file(sys.argv[1], True), x.share_memory_):
    try: call()
    except OSError as e: print(e.errno)
print(x.is_shared(), x.tolist())
os.close(opened.pop())
print(x.share_memory_().tolist())
"""
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert done.stdout.split("\n")[:4] == ["24", "24", "False [1.0, 1.0, 1.0]", "[1.0, 1.0, 1.0]"], done.stderr


def test_threads_on_one_file(path):
    import threading

    def work(n):
        for _ in range(300):
            x = st.from_file(path, True, dtype=st.int32)
            x[n] += 1
            x.storage().flush()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert content(path) == [300, 301, 302, 303, *range(4, 12)]


def test_two_processes_write_to_one_file(path):
    code = """
import sys, strided as st
x = st.from_file(sys.argv[1], True, dtype=st.int32).view(2, 6)[int(sys.argv[2])]
for _ in range(1000): x += 1
"""
    started = [subprocess.Popen([sys.executable, "-c", code, path, str(n)]) for n in range(2)]
    assert [process.wait(60) for process in started] == [0, 0]
    assert content(path) == [n + 1000 for n in range(12)]
