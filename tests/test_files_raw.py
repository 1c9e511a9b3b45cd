"""Raw binary: fromfile and tofile."""

import io
import os

import numpy as np
import pytest

import strided as st

DTYPES = sorted({value for value in vars(st._strided).values() if isinstance(value, st.dtype)}, key=str)


@pytest.mark.parametrize("order", ["native", "little", "big"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_elements_come_back(dtype, order):
    x = st.arange(6, dtype=st.float64).to(dtype)
    file = io.BytesIO()
    x.tofile(file, byteorder=order)
    assert len(file.getvalue()) == 6 * dtype.itemsize
    file.seek(0)
    assert st.fromfile(file, dtype, byteorder=order).equal(x)


@pytest.mark.parametrize("name", ["uint8", "int16", "float32", "complex128"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_bytes_are_those_of_numpy(name, order, tmp_path):
    array = np.arange(24).astype(name).reshape(4, 6)
    path = tmp_path / "x.bin"
    x = st.tensor(array)
    for view, wanted in ((x, array), (x.t(), array.T), (x[::2, ::-1], array[::2, ::-1])):
        view.tofile(path, byteorder="little" if order == "<" else "big")
        assert path.read_bytes() == wanted.astype(array.dtype.newbyteorder(order)).tobytes()
    array.tofile(path)
    assert st.fromfile(path, x.dtype).equal(x.view(-1))


def test_large_views_are_written_in_parts(tmp_path):
    x = st.arange(3_000_000).view(1000, 3000)
    for view in (x.t(), x[:, ::2], x[:, None, ::3]):
        view.tofile(tmp_path / "x")
        assert (tmp_path / "x").read_bytes() == view.numpy().tobytes()


def test_count_and_offset_choose_a_part(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(bytes(range(20)))
    assert st.fromfile(path, st.uint8, count=3, offset=5).tolist() == [5, 6, 7]
    assert st.fromfile(path, st.uint8, offset=17).tolist() == [17, 18, 19]
    assert st.fromfile(path, st.int16, count=2, offset=1).tolist() == [0x0201, 0x0403]
    assert st.fromfile(path, st.uint8, count=0, offset=20).tolist() == []
    assert st.fromfile(os.fsencode(path)).dtype is st.float32


def test_a_file_object_is_read_from_its_position_on(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(bytes(range(10)))
    with open(path, "rb") as file:
        file.seek(2)
        assert st.fromfile(file, st.uint8, count=3).tolist() == [2, 3, 4]
        assert st.fromfile(file, st.uint8, count=2, offset=1).tolist() == [6, 7]
        assert st.fromfile(file, st.uint8).tolist() == [8, 9]
    read_end, write_end = os.pipe()
    with open(read_end, "rb") as reader:
        with open(write_end, "wb") as writer:
            st.arange(4).tofile(writer)
        assert st.fromfile(reader, st.int64).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"offset": 11}, r"offset is 11, and the file has 10 bytes"),
        ({"count": 3}, r"3 elements of float32 from byte 0 on need more than the 10 bytes"),
        ({"count": 2**61}, r"need more than the 10 bytes"),
        ({}, r"10 bytes from byte 0 on are no multiple of the 4 bytes of float32; give a count"),
        ({"offset": 8, "count": 1}, r"1 elements of float32 from byte 8 on need more than the 2 bytes"),
    ],
    ids=str,
)
def test_what_the_file_does_not_have_is_refused(tmp_path, options, message):
    path = tmp_path / "x"
    path.write_bytes(bytes(10))
    with pytest.raises(st.FormatError, match=rf"fromfile: {path}: .*{message}") as caught:
        st.fromfile(path, st.float32, **options)
    assert isinstance(caught.value, ValueError) and caught.value.file == str(path)


def test_wrong_arguments_are_refused(tmp_path):
    with pytest.raises(ValueError, match="fromfile: offset is -1, wanted 0 or more"):
        st.fromfile(io.BytesIO(b""), st.uint8, offset=-1)
    with pytest.raises(ValueError, match="fromfile: byte order is 'middle', wanted"):
        st.fromfile(io.BytesIO(b""), st.uint8, byteorder="middle")
    with pytest.raises(FileNotFoundError):
        st.fromfile(tmp_path / "missing")
    with pytest.raises(TypeError, match="fromfile: f is a file of text"):
        st.fromfile(io.StringIO("x"))
    with pytest.raises(TypeError, match="fromfile: f is int, wanted a path"):
        st.fromfile(3)
    with pytest.raises(TypeError, match="tofile: f is int, wanted a path"):
        st.ones(2).tofile(3)
