"""NumPy's .npy and .npz: both ways with NumPy, and files by hand."""

import io
import struct
import zipfile
import zlib

import numpy as np
import pytest

import strided as st

NUMPY_NAMES = [
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip


def numpy_bytes(array, version=None):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=version)
    return file.getvalue()


def dumped(obj, format="npy", **options):
    file = io.BytesIO()
    st.save(obj, file, format=format, **options)
    return file.getvalue()


def load(data, **options):
    return st.load(io.BytesIO(data), **options)


SHAPES = [(), (0,), (3,), (2, 3), (2, 0, 3), (1, 2, 3, 2)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", NUMPY_NAMES)
def test_a_file_is_that_of_numpy_byte_for_byte(name, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(name)
    data = dumped(st.tensor(array))
    assert data == numpy_bytes(array, version=(1, 0))
    loaded = load(data)
    assert loaded.numpy().dtype == array.dtype and np.array_equal(loaded.numpy(), array)


def test_column_major_arrays_stay_so():
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    loaded = load(numpy_bytes(array))
    assert loaded.stride() == (1, 2) and np.array_equal(loaded.numpy(), array)
    assert dumped(loaded) == numpy_bytes(array)


def test_other_views_are_written_row_major():
    x = st.arange(24).view(4, 6)[::2, ::-1]
    assert np.array_equal(np.load(io.BytesIO(dumped(x))), x.numpy())
    large = st.arange(1_500_000).view(500, 3000)[:, ::2].permute(1, 0)
    assert np.array_equal(np.load(io.BytesIO(dumped(large))), large.numpy())


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)], ids=str)
@pytest.mark.parametrize("order", ["<", ">"])
def test_versions_and_byte_orders_are_read(version, order):
    for name in ("i2", "f8", "c8", "u4"):
        array = np.arange(5).astype(order + name)
        loaded = load(numpy_bytes(array, version))
        assert np.array_equal(loaded.numpy(), array)


def test_bfloat16_is_two_bytes_that_come_back_with_a_dtype():
    x = st.tensor([1.5, -2.0], dtype=st.bfloat16)
    data = dumped(x)
    assert b"'<V2'" in data and np.load(io.BytesIO(data)).dtype == np.dtype("V2")
    assert load(data, dtype=st.bfloat16).tolist() == [1.5, -2.0]
    with pytest.raises(st.FormatError, match="dtype <V2, which strided does not have"):
        load(data)


def test_several_arrays_follow_each_other_in_one_file():
    file = io.BytesIO()
    np.save(file, np.arange(3))
    np.save(file, np.ones(2))
    file.seek(0)
    assert st.load(file).tolist() == [0, 1, 2] and st.load(file).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("array", "name"),
    [
        (np.array(["ab", "c"]), "<U2"),
        (np.array([b"ab"]), "|S2"),
        (np.array(["2020-01-01"], dtype="datetime64[ns]"), "<M8[ns]"),
        (np.zeros(2, dtype=[("a", "<f4"), ("b", "i2")]), "struct"),
        (np.array([{}, 1], dtype=object), "|O"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_other_dtypes_are_listed_and_refused_when_loaded(array, name):
    file = io.BytesIO()
    np.save(file, array)
    opened = st.files.open(io.BytesIO(file.getvalue()))
    assert opened["tensor"].dtype is None and opened["tensor"].dtype_name == name
    with pytest.raises(st.FormatError, match="which strided does not have"):
        opened.load()


def header(text, version=1):
    length = struct.pack("<H", len(text)) if version == 1 else struct.pack("<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode()


GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n"
LIES = {
    "no magic number": (b"\x93NUMPX\x01\x00" + bytes(100), "does not begin with"),
    "a newer version": (b"\x93NUMPY\x09\x00" + bytes(100), "version 9.0"),
    "a header beyond the end": (b"\x93NUMPY\x01\x00\xff\xff{", "needs 65535 bytes"),
    "a huge header": (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{", "longer than"),
    "code in the header": (header("__import__('os').system('x')\n"), "wanted a literal"),
    "no dict": (header("(1, 2)\n"), "is no dict"),
    "another key": (header(GOOD.replace("}", "'x': 1}")) + bytes(8), "other keys"),
    "no shape": (header("{'descr': '<f4', 'fortran_order': False}\n"), "one 'shape'"),
    "two shapes": (header(GOOD.replace("}", "'shape': (1,)}")), "one 'shape'"),
    "a negative extent": (header(GOOD.replace("(2,)", "(-2,)")), "not made of extents"),
    "extents that overflow": (header(GOOD.replace("(2,)", f"({2**40}, {2**40})")), "address space"),
    "more elements than bytes": (header(GOOD) + bytes(7), "need 8 bytes, and 7 follow"),
    "deep nesting": (header("(" * 60000), "nested too deeply"),
}


@pytest.mark.parametrize(("data", "message"), LIES.values(), ids=LIES)
def test_a_header_that_lies_is_refused(data, message):
    with pytest.raises(st.FormatError, match=message):
        load(data, format="npy")


# Archives


def savez(compressed=False, **arrays):
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, **arrays)
    return file.getvalue()


@pytest.mark.parametrize("compressed", [False, True])
def test_archives_of_numpy_are_read(compressed):
    arrays = {
        "a": np.arange(6).reshape(2, 3),
        "f": np.asfortranarray(np.ones((3, 2))),
        "big": np.arange(300_000, dtype=">f8"),
        "empty": np.zeros((0, 2)),
        "ü/x": np.array(7),
    }
    loaded = load(savez(compressed, **arrays))
    assert list(loaded) == list(arrays)
    for name, array in arrays.items():
        assert np.array_equal(loaded[name].numpy(), array)


@pytest.mark.parametrize("compress", [False, True])
def test_numpy_reads_what_strided_writes(compress):
    tensors = {
        "a": st.arange(6).view(2, 3),
        "t": st.arange(6.0).view(2, 3).t(),
        "big": st.rand(400_000),
        "gaps": st.arange(1_000_000)[::2],
        "empty": st.zeros(0),
        "é": st.tensor(1.5),
    }
    data = dumped(tensors, "npz", compress=compress)
    assert zipfile.ZipFile(io.BytesIO(data)).testzip() is None
    archive = np.load(io.BytesIO(data))
    assert archive.files == list(tensors)
    for name, x in tensors.items():
        assert np.array_equal(archive[name], x.numpy())
    loaded = load(data)
    assert all(loaded[name].equal(x) for name, x in tensors.items())


def test_members_are_aligned_so_that_they_can_be_mapped():
    data = dumped({"a": st.ones(3, dtype=st.uint8), "bcd": st.ones(5), "e": st.ones(1, dtype=st.float64)}, "npz")
    opened = st.files.open(io.BytesIO(data))
    assert all(entry.mappable and entry.position % 64 == 0 for entry in opened.entries)
    deflated = st.files.open(io.BytesIO(dumped({"a": st.ones(3)}, "npz", compress=True)))
    assert (deflated["a"].stored, deflated["a"].reason) == ("deflated", "deflated")


def test_lists_have_the_names_of_numpy():
    assert list(load(dumped([st.ones(1), st.zeros(2)], "npz"))) == ["arr_0", "arr_1"]
    assert list(load(dumped(st.ones(1), "npz"))) == ["arr_0"]
    with pytest.raises(st.FormatError, match='the value of "a" is no tensor'):
        dumped({"a": [1]}, "npz")


def test_a_damaged_member_is_found():
    data = bytearray(savez(True, a=np.arange(10000)))
    at = st.files.open(io.BytesIO(bytes(data)))["a"].position
    data[at + 200] ^= 1
    with pytest.raises(st.FormatError, match=r"damaged|too early|longer"):
        load(bytes(data))


def test_a_zip_bomb_is_refused_before_memory_is_allocated():
    raw = zlib.compressobj(9, wbits=-15)
    array = numpy_bytes(np.zeros(10, dtype=np.uint8)).replace(b"(10,)", b"(10,)")
    body = raw.compress(array) + raw.flush()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", array)
    data = bytearray(file.getvalue())
    # The directory says that the member has 2 GB.
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 2**31)
    with pytest.raises(st.FormatError, match=f"{len(body)} deflated bytes cannot become 2147483648"):
        load(bytes(data))
    honest = savez(True, a=np.zeros(10_000_000))
    with pytest.raises(st.FormatError, match=r"needs 80000000 bytes, and max_bytes leaves \d+"):
        load(honest, max_bytes=1000)
    assert load(honest, max_bytes=80_001_000)["a"].numel() == 10_000_000


def test_members_that_share_bytes_are_refused():
    data = savez(a=np.ones(3), b=np.ones(3))
    directory = data.index(b"PK\x01\x02")
    second = data.index(b"PK\x01\x02", directory + 1)
    changed = bytearray(data)
    changed[second + 42 : second + 46] = changed[directory + 42 : directory + 46]
    with pytest.raises(st.FormatError, match="overlap"):
        load(bytes(changed))


def test_the_same_name_twice_is_refused():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("a.npy", numpy_bytes(np.ones(1)))
        archive.writestr("a.npy", numpy_bytes(np.ones(2)))
    with pytest.raises(st.FormatError, match=r'two members "a\.npy"'):
        load(file.getvalue())


def test_other_archives_are_refused_by_name():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("word/document.xml", "<x/>")
    with pytest.raises(st.FormatError, match="a zip archive without tensors"):
        load(file.getvalue())
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.npy", numpy_bytes(np.ones(1)))
    with pytest.raises(st.FormatError, match="compressed by method 14"):
        load(file.getvalue())


def test_archives_with_zip64_fields_are_read():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, archive.open("a.npy", "w", force_zip64=True) as member:
        member.write(numpy_bytes(np.arange(5)))
    assert load(file.getvalue())["a"].tolist() == [0, 1, 2, 3, 4]
