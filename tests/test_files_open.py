"""Open files: entries, outlines, mapping, writing tensor by tensor; and how files are replaced."""

import io
import os
import signal
import subprocess
import sys
import threading

import file_cases
import numpy as np
import pytest

import strided as st
from strided import files
from strided.files._formats import ROWS

TENSORS = {"a": st.arange(6).view(2, 3), "b": st.ones(4, dtype=st.float16), "c": st.tensor(2.5)}
#: The formats of files with several tensors.
FORMATS = [name for name in file_cases.WRITTEN if ROWS[name].write is None and not ROWS[name].holds_one]


@pytest.fixture(params=FORMATS)
def saved(request, tmp_path):
    path = tmp_path / f"x.{request.param}"
    st.save(TENSORS, path)
    return path


# Entries


def test_an_open_file_lists_its_tensors(saved):
    with files.open(saved) as file:
        assert file.path == str(saved) and file.size == saved.stat().st_size
        assert file.format == saved.suffix[1:]
        assert file.names == list(file) == ["a", "b", "c"] and len(file) == 3 and "a" in file and "d" not in file
        entry = file["a"]
        assert (entry.kind, entry.dtype, entry.shape, entry.stride) == ("tensor", st.int64, (2, 3), (3, 1))
        assert (entry.numel, entry.nbytes, entry.stored, entry.byte_order) == (6, 48, "plain", "little")
        assert entry.load().equal(TENSORS["a"])
    with pytest.raises(ValueError, match="closed"):
        entry.load()


def test_the_error_about_a_wrong_name_lists_close_ones():
    file = io.BytesIO()
    st.save({"layer.weight": st.ones(1), "layer.bias": st.ones(1)}, file)
    file.seek(0)
    with pytest.raises(KeyError, match=r"'layer\.wieght' is not in the file; close to it are 'layer\.weight'"):
        files.open(file)["layer.wieght"]


def test_one_tensor_is_loaded_without_the_rest_of_its_storage():
    file = io.BytesIO()
    x = st.arange(100_000)
    with pytest.warns(UserWarning, match="'all', 'few' overlap in memory; other readers see 'storage.0'"):
        st.save({"all": x, "few": x[10:13]}, file)
    file.seek(0)
    few = files.open(file)["few"]
    assert few.storage == files.open(io.BytesIO(file.getvalue()))["all"].storage
    loaded = few.load()
    assert loaded.tolist() == [10, 11, 12] and len(loaded.storage()) == 3
    with pytest.raises(st.FormatError, match=r"needs 800000 bytes, and max_bytes leaves \d+"):
        files.open(io.BytesIO(file.getvalue()), max_bytes=10_000)["all"].load()


def test_the_outline_shows_every_kind_of_value():
    obj = {"list": [1, 2.5, None, True], "text": "x" * 100, "bytes": b"abc", "tuple": (st.ones(2),), "again": None}
    obj["again"] = obj["list"]
    file = io.BytesIO()
    st.save(obj, file)
    file.seek(0)
    rows = list(files.open(file).outline())
    assert [(row.depth, row.key, row.kind) for row in rows] == [
        (0, "", "dict"),
        (1, "list", "list"),
        (2, "0", "int"),
        (2, "1", "float"),
        (2, "2", "None"),
        (2, "3", "bool"),
        (1, "text", "str"),
        (1, "bytes", "bytes"),
        (1, "tuple", "tuple"),
        (2, "0", "tensor"),
        (1, "again", "reference"),
    ]
    assert rows[-1].text == "list" and rows[9].entry.name == "tuple.0" and len(rows[6].text) < 70


# Sources


@pytest.mark.parametrize("make", [str, os.fsencode, lambda path: path], ids=["str", "bytes", "path"])
def test_paths_of_every_kind_are_taken(saved, make):
    assert st.load(make(saved))["a"].equal(TENSORS["a"])
    st.save(TENSORS, make(saved))


class OnlyReadAndSeek:
    """What fsspec gives: a file without a descriptor."""

    def __init__(self, data):
        self.file = io.BytesIO(data)

    def read(self, size=-1):
        return self.file.read(min(size, 7) if size >= 0 else size)  # fewer bytes than wanted

    def seek(self, position, whence=0):
        return self.file.seek(position, whence)

    def tell(self):
        return self.file.tell()


class OnlyRead:
    def __init__(self, data):
        self.file = io.BytesIO(data)

    def read(self, size):
        return self.file.read(min(size, 100))


def test_file_objects_of_every_kind_are_read(saved):
    data = saved.read_bytes()
    for file in (OnlyReadAndSeek(data), OnlyRead(data), io.BytesIO(data), memoryview(data), bytearray(data)):
        loaded = st.load(file)
        assert all(loaded[name].equal(x) if x.dim() else loaded[name].item() == 2.5 for name, x in TENSORS.items())
    with open(saved, "rb") as file:
        assert st.load(file)["a"].equal(TENSORS["a"]) and file.read() == b""


def test_an_exception_of_a_file_object_is_raised(saved):
    class Broken(OnlyReadAndSeek):
        def read(self, size=-1):
            raise ConnectionError("gone")

    with pytest.raises(ConnectionError, match="gone"):
        st.load(Broken(saved.read_bytes()))

    class Full(io.RawIOBase):
        def write(self, data):
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        st.save(TENSORS, Full())


def test_a_file_that_writes_little_at_once_gets_all_bytes():
    class Slow(io.RawIOBase):
        data = b""

        def write(self, data):
            self.data += bytes(data[:5])
            return len(data[:5])

    slow, file = Slow(), io.BytesIO()
    st.save(TENSORS, slow)
    st.save(TENSORS, file)
    assert slow.data == file.getvalue()


def test_unknown_content_and_missing_files_are_told(tmp_path):
    with pytest.raises(FileNotFoundError):
        st.load(tmp_path / "missing")
    (tmp_path / "empty").touch()
    with pytest.raises(st.FormatError, match=r"load: .*empty: byte 0: the file is empty"):
        st.load(tmp_path / "empty")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(
        st.FormatError, match="no known format: the file begins with the bytes 68 65 6c 6c 6f"
    ) as caught:
        st.load(tmp_path / "text")
    assert caught.value.file == str(tmp_path / "text") and caught.value.offset is None
    with pytest.raises(ValueError, match="load: format is 'xyz', wanted"):
        st.load(tmp_path / "text", format="xyz")
    with pytest.raises(ValueError, match="load: map_location is 'tpu'"):
        st.load(tmp_path / "text", map_location="tpu")
    with pytest.raises(TypeError, match="load: f is float"):
        st.load(3.5)


# Mapping


def test_tensors_are_mapped_where_the_format_allows_it(saved):
    loaded = st.load(saved, mmap=True)
    for name in ("a", "b"):
        mapped = loaded[name].storage().filename
        assert (
            mapped == (None if saved.suffix == ".t7" and name == "a" and mapped is None else str(saved))
            or saved.suffix == ".t7"
        )
        assert loaded[name].equal(TENSORS[name])


def test_a_mapped_tensor_is_private_read_only_or_shared(tmp_path):
    path = tmp_path / "x.safetensors"
    st.save({"x": st.zeros(5)}, path)
    before = path.read_bytes()
    private = st.load(path, mmap="c")["x"]
    private[0] = 1
    assert path.read_bytes() == before and st.load(path)["x"][0].item() == 0
    readonly = st.load(path, mmap="r")["x"]
    with pytest.raises(st.StorageError, match="read-only"):
        readonly[0] = 1
    shared = st.load(path, mmap="r+")["x"]
    shared[1] = 7
    shared.storage().flush()
    assert st.load(path)["x"].tolist() == [0, 7, 0, 0, 0] and readonly[1].item() == 7
    with pytest.raises(ValueError, match="mmap is 'w'"):
        st.load(path, mmap="w")


def test_what_cannot_be_mapped_is_copied_and_says_why(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(4, dtype=">i4"))
    entry = files.open(path, mmap=True).entries[0]
    assert (entry.mappable, entry.reason) == (False, "big-endian")
    assert entry.load().tolist() == [0, 1, 2, 3] and entry.load().storage().filename is None


def test_a_large_sparse_file_opens_at_once(tmp_path):
    path = tmp_path / "large.npy"
    x = st.open_memmap(path, "w+", st.float32, (1 << 20, 2500))
    assert path.stat().st_size > 10**10
    x[1000, 7] = 3
    assert st.load(path, mmap="r")[1000, 5:9].tolist() == [0, 0, 3, 0]
    del x


def test_open_memmap_is_that_of_numpy(tmp_path):
    path = tmp_path / "x.npy"
    x = st.open_memmap(path, "w+", st.int16, (2, 3), fortran_order=True)
    x.copy_(st.arange(6).view(2, 3))
    x.storage().flush()
    assert np.array_equal(np.load(path), np.arange(6).reshape(2, 3)) and np.load(path).flags.f_contiguous
    y = st.open_memmap(path)
    y[0, 0] = 50
    y.storage().flush()
    assert np.load(path)[0, 0] == 50
    np.save(path, np.arange(3, dtype=">f8"))
    with pytest.raises(st.FormatError, match=r"open_memmap: .*cannot be mapped: big-endian"):
        st.open_memmap(path, "r")
    with pytest.raises(ValueError, match="mode is 'x'"):
        st.open_memmap(path, "x")
    with pytest.raises(ValueError, match="needs a shape"):
        st.open_memmap(path, "w+")


# Writing tensor by tensor


@pytest.mark.parametrize("format", FORMATS)
def test_entries_are_written_to_another_format(saved, format, tmp_path):
    path = tmp_path / "y"
    calls = []
    with files.open(saved) as file:
        items = {e.name: e.to(st.float32) if e.name != "b" else e for e in file.entries}
        files.write(path, items, format=format, progress=lambda done, total: calls.append((done, total)))
    loaded = st.load(path)
    assert loaded["a"].dtype is st.float32 and loaded["a"].equal(TENSORS["a"].float())
    assert loaded["b"].dtype is st.float16 and loaded["b"].equal(TENSORS["b"]) and loaded["c"].item() == 2.5
    assert calls[-1] == (calls[-1][1],) * 2 and [done for done, _ in calls] == sorted(done for done, _ in calls)


def test_one_tensor_at_a_time_is_in_memory(tmp_path):
    source, target = tmp_path / "x.safetensors", tmp_path / "y.npz"
    st.save({f"x{i}": st.full((1_000_000,), i, dtype=st.float32) for i in range(40)}, source)
    code = f"""
import resource
import strided as st
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with st.files.open({str(source)!r}) as file:
    st.files.write({str(target)!r}, {{e.name: e.to(st.float64) for e in file.entries}}, fsync=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 64 * 1024  # KB; all tensors together are 320 MB
    assert st.load(target, mmap=True)["x39"][-1].item() == 39


def test_only_tensors_are_written_by_name(tmp_path):
    with pytest.raises(TypeError, match=r"write: items\['a'\] is list, wanted a tensor"):
        files.write(tmp_path / "x", {"a": [1]})
    with pytest.raises(st.FormatError, match=r"a \.npy file holds one tensor, got 2"):
        files.write(tmp_path / "x.npy", {"a": st.ones(1), "b": st.ones(1)})
    files.write(tmp_path / "x.npy", {"a": st.ones(1)})
    assert st.load(tmp_path / "x.npy").tolist() == [1.0]


def test_formats_are_known_by_their_suffixes():
    names = ["x.npy", "x.NPZ", "x.t7", "x.safetensors", "x", "x.pt", "dir.zarr"]
    assert [files.format_of(name) for name in names] == ["npy", "npz", "t7", "safetensors", "safetensors", "pt", "zarr"]
    with pytest.raises(st.FormatError, match="read, not written"):
        st.save(st.ones(1), "x.pt")


# Replacing files


def test_a_failed_save_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "x.t7"
    st.save({"a": 1}, path)
    before = path.read_bytes()
    with pytest.raises(st.FormatError):
        st.save({"a": st.ones(100_000), "b": st.zeros(2, dtype=st.bfloat16)}, path)
    with pytest.raises(KeyError, match="stop"), files.open(path):
        files.write(tmp_path / "y", {"a": st.ones(10)}, progress=lambda done, total: {}["stop"])
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["x.t7"]


def test_a_full_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / "x"
    st.save(st.ones(3), path)
    code = f"""
import resource, signal
import strided as st
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
try:
    st.save(st.ones(1_000_000), {str(path)!r})
except OSError as error:
    print(error.errno)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "27"  # EFBIG
    assert st.load(path).tolist() == [1, 1, 1] and os.listdir(tmp_path) == ["x"]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_process_leaves_the_old_file(tmp_path):
    path = tmp_path / "x"
    st.save(st.ones(3), path)
    code = f"""
import strided as st
x = st.zeros(5_000_000)
def wait(done, total):
    print("writing", flush=True)
    import time
    time.sleep(60)
st.files.write({str(path)!r}, {{"x": x, "y": x}}, progress=wait)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "writing\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert st.load(path).tolist() == [1, 1, 1]


def test_readers_never_see_half_a_file(tmp_path):
    path = tmp_path / "x"
    st.save(st.zeros(50_000), path)
    done = threading.Event()
    loads, failures = [0, 0], []

    def read(reader):
        while not done.is_set() and not failures:
            try:
                x = st.load(path)
                assert x.min().item() == x.max().item(), "mixed"
            except BaseException as error:
                failures.append(error)
            loads[reader] += 1

    readers = [threading.Thread(target=read, args=(reader,)) for reader in range(2)]
    for reader in readers:
        reader.start()
    count = 0
    while (count < 500 or min(loads) < 100) and not failures:
        count += 1
        st.save(st.full((50_000,), float(count)), path, fsync=False)
    done.set()
    for reader in readers:
        reader.join()
    assert not failures


def test_links_and_permissions_are_kept(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    st.save(st.ones(1), real)
    real.chmod(0o640)
    link.symlink_to(real)
    st.save(st.zeros(1), link)
    assert link.is_symlink() and st.load(real).tolist() == [0] and real.stat().st_mode & 0o777 == 0o640
    st.save(st.ones(1), os.devnull)
    with pytest.raises((OSError, ValueError)):
        st.save(st.ones(1), tmp_path)
    with pytest.raises(FileNotFoundError):
        st.save(st.ones(1), tmp_path / "missing" / "x")


# zarr


def test_zarr_arrays_and_groups(tmp_path):
    zarr = pytest.importorskip("zarr")
    st.save({"a": st.arange(6).view(2, 3), "g": {"b": st.ones(2)}}, tmp_path / "x.zarr")
    group = zarr.open(tmp_path / "x.zarr", mode="r")
    assert np.array_equal(group["a"][...], [[0, 1, 2], [3, 4, 5]]) and group["g/b"].shape == (2,)
    loaded = st.load(tmp_path / "x.zarr")
    assert loaded["a"].tolist() == [[0, 1, 2], [3, 4, 5]] and loaded["g"]["b"].tolist() == [1, 1]
    assert files.open(tmp_path / "x.zarr").names == ["a", "g.b"]
    zarr.save_array(tmp_path / "y.zarr", np.arange(3, dtype="float32"))
    assert st.load(tmp_path / "y.zarr").tolist() == [0, 1, 2]
    with pytest.raises(st.FormatError, match="bfloat16, which zarr does not have"):
        st.save(st.ones(2, dtype=st.bfloat16), tmp_path / "z.zarr")
    assert not (tmp_path / "z.zarr").exists()


def test_zarr_keeps_metadata_and_the_old_folder_if_writing_fails(tmp_path):
    zarr = pytest.importorskip("zarr")
    path = tmp_path / "x.zarr"
    st.save({"a": st.ones(2)}, path, metadata={"author": "someone"})
    assert dict(zarr.open(path, mode="r").attrs) == {"author": "someone"}
    assert files.open(path).metadata == {"author": "someone"}
    with pytest.raises(st.FormatError, match=r"g\.b is list; zarr holds tensors and dicts of them"):
        st.save({"a": st.zeros(2), "g": {"b": [1]}}, path)
    assert st.load(path)["a"].tolist() == [1, 1]
    st.save(st.tensor(5.0), path)  # an array in the place of a group
    assert st.load(path).item() == 5
    assert [item.name for item in tmp_path.iterdir()] == ["x.zarr"]


@pytest.mark.parametrize(
    ("suffix", "option"),
    [
        ("npy", {"compress": True}),
        ("t7", {"compress": True}),
        ("npz", {"encoding": "ascii"}),
        ("safetensors", {"long_size": 4}),
        ("npz", {"byte_order": "big"}),
        ("npz", {"metadata": {"a": "b"}}),
    ],
    ids=str,
)
def test_an_argument_for_another_format_is_refused(tmp_path, suffix, option):
    (name,) = option
    with pytest.raises(ValueError, match=f"save: {name} is for .* files, and the format is {suffix}"):
        st.save([st.ones(2)] if suffix != "npy" else st.ones(2), tmp_path / f"x.{suffix}", **option)
    assert not list(tmp_path.iterdir())
