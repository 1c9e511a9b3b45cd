"""Files of the Torch7 front end: save, load, serialize, DiskFile and MemoryFile."""

import os
from pathlib import Path

import pytest

import strided as st
from strided import torch7 as torch

DATA = Path(__file__).parent / "data/t7"
NAMES = sorted(path.name.removesuffix(".binary.t7") for path in DATA.glob("*.binary.t7"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mode", ["ascii", "binary"])
def test_what_torch7_wrote_is_serialized_to_the_same_bytes(name, mode):
    path = DATA / f"{name}.{mode}.t7"
    loaded = torch.load(path, mode)
    data = torch.serialize(loaded, mode)
    if name.startswith(("shared", "table_map")):  # tables, whose order is Lua's
        assert sorted(data) == sorted(path.read_bytes())
    else:
        assert data == path.read_bytes()


def test_a_file_has_tensors_and_storages_of_torch7(tmp_path):
    path = tmp_path / "x.t7"
    x = torch.range(1, 6).resize(2, 3)
    torch.save(path, {"x": x, "s": x.storage(), "list": [x, 1, "two", True]})
    loaded = torch.load(path)
    assert type(loaded["x"]) is torch.DoubleTensor and type(loaded["s"]) is torch.DoubleStorage
    assert loaded["list"][0] is loaded["x"] and loaded["list"][1:] == [1, "two", True]
    loaded["s"][1] = 50
    assert loaded["x"][1][1] == 50
    assert isinstance(st.load(path)["x"], st.Tensor)


@pytest.mark.parametrize("mode", [None, "binary", "ascii"])
def test_without_references_an_object_is_written_each_time(tmp_path, mode):
    x = torch.Tensor([1, 2])
    path = tmp_path / "x.t7"
    torch.save(path, [x, x], mode, False)
    a, b = torch.load(path, mode or "binary", False)
    a[1] = 7
    assert b[1] == 1
    cycle = []
    cycle.append(cycle)
    with pytest.raises(torch.TorchError, match="contains itself"):
        torch.save(path, cycle, mode, False)


def test_files_of_machines_with_short_longs_are_read(tmp_path):
    path = tmp_path / "x.t7"
    st.save(st.tensor([1, -2]), path, long_size=4)
    assert torch.load(path, "b32").totable() == torch.load(path).totable() == [1, -2]
    with pytest.raises(torch.TorchError):
        torch.load(path, "b64")


def test_an_empty_tensor_has_no_storage_again(tmp_path):
    path = tmp_path / "x.t7"
    torch.save(path, torch.FloatTensor())
    loaded = torch.load(path)
    assert loaded.dim() == 0 and loaded.storage() is None and type(loaded) is torch.FloatTensor


def test_a_generator_goes_on_where_it_was():
    g = torch.Generator()
    torch.manualSeed(g, 123)
    torch.random(g)
    other = torch.deserialize(torch.serialize(g))
    assert [torch.random(g) for _ in range(5)] == [torch.random(other) for _ in range(5)]


def test_storages_take_what_strings_take():
    obj = [6, "a"]
    s = torch.serializeToStorage(obj)
    assert type(s) is torch.CharStorage and bytes(x & 255 for x in s.totable()) == torch.serialize(obj)
    assert torch.deserializeFromStorage(s) == torch.deserialize(torch.serialize(obj)) == obj
    assert torch.deserialize(torch.serialize(obj, "ascii"), "ascii") == obj


def test_errors_are_those_of_torch7(tmp_path):
    with pytest.raises(torch.TorchError, match=r"cannot open <.*missing> in mode r "):
        torch.load(tmp_path / "missing")
    with pytest.raises(torch.TorchError, match=r"cannot open <.*x> in mode  w"):
        torch.save(tmp_path / "no" / "x", 1)
    with pytest.raises(torch.TorchError, match='"binary" or "ascii" \\(or nil\\) expected for mode'):
        torch.save(tmp_path / "x", 1, "text")
    with pytest.raises(torch.TorchError, match=r"true or false \(or nil\) expected for referenced"):
        torch.load(tmp_path / "x", "ascii", 3)
    with pytest.raises(torch.TorchError, match="Unwritable object <userdata>"):
        torch.serialize({1, 2})
    with pytest.raises(torch.TorchError, match="byte 0"):
        torch.deserialize(b"\x63\x00\x00\x00")


# DiskFile and MemoryFile


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("kind", ["disk", "memory"])
def test_numbers_strings_and_objects_follow_each_other(tmp_path, kind, binary):
    path = tmp_path / "x"
    f = torch.DiskFile(path, "w") if kind == "disk" else torch.MemoryFile()
    f = f.binary() if binary else f.ascii()
    x = torch.IntTensor([1, 2])
    (
        f.writeByte(65),
        f.writeChar(-5),
        f.writeShort(-300),
        f.writeInt(7),
        f.writeLong(2**40),
        f.writeFloat(0.1),
        f.writeDouble(0.1),
    )
    f.writeInt(torch.IntStorage([1, 2, 3]))
    f.writeObject(x), f.writeObject([x, "text"]), f.writeBool(True)
    if kind == "disk":
        f.close()
        f = torch.DiskFile(path, "r")
        f = f.binary() if binary else f.ascii()
    else:
        f.seek(1)
    assert [f.readByte(), f.readChar(), f.readShort(), f.readInt(), f.readLong()] == [65, -5, -300, 7, 2**40]
    assert abs(f.readFloat() - 0.1) < 1e-8 and f.readDouble() == 0.1
    assert f.readInt(3).totable() == [1, 2, 3]
    y = f.readObject()
    again, text = f.readObject()
    assert again is y and y.totable() == [1, 2] and text == "text" and f.readBool() is True


def test_text_is_that_of_torch7(tmp_path):
    f = torch.MemoryFile()
    f.writeDouble(torch.DoubleStorage([0.1, float("inf"), 1e100])), f.writeFloat(0.1), f.writeInt(-3)
    assert bytes(
        f.storage().totable()
    ) == b"0.10000000000000001 inf 1.0000000000000000e+100\n0.100000001\n-3\n\0".replace(
        b"1.0000000000000000e+100", b"1e+100"
    )
    f = torch.MemoryFile().noAutoSpacing()
    f.writeInt(torch.IntStorage([1, 2]))
    assert f.storage().string() == "12\0"


def test_a_quiet_file_remembers_its_errors():
    f = torch.MemoryFile().quiet()
    assert f.readInt() == 0 and f.hasError() and not f.clearError().hasError()
    assert f.readInt(5).size() == 0
    with pytest.raises(torch.TorchError, match="read error: read 0 blocks instead of 1"):
        f.pedantic().readInt()


def test_byte_orders_and_long_sizes(tmp_path):
    path = tmp_path / "x"
    f = torch.DiskFile(path, "w").binary().bigEndianEncoding().longSize(4)
    f.writeShort(1), f.writeLong(2), f.writeObject(torch.LongTensor([7]))
    f.close()
    assert path.read_bytes()[:6] == b"\0\1\0\0\0\2"
    f = torch.DiskFile(path).binary().bigEndianEncoding().longSize(4)
    assert (f.readShort(), f.readLong(), f.readObject().totable()) == (1, 2, [7])


def test_reading_and_writing_one_file(tmp_path):
    path = tmp_path / "x"
    f = torch.DiskFile(path, "rw")
    f.writeObject([1])
    end = f.position()
    assert f.seek(1).readObject() == [1] and f.position() == end
    f.writeString("line\nrest")
    assert f.seek(end).readString("*l") == "line" and f.readString("*a") == "rest"
    f.close()
    assert repr(f) == f"torch.DiskFile on <{path}> [status: closed -- mode rw]" and os.path.getsize(path) == end + 8


def test_closed_and_one_way_files_refuse(tmp_path):
    f = torch.MemoryFile("w")
    with pytest.raises(torch.TorchError, match="attempt to read in a write-only file"):
        f.readInt()
    with pytest.raises(torch.TorchError, match="attempt to write in a read-only file"):
        torch.MemoryFile("r").writeInt(1)
    f.close()
    with pytest.raises(torch.TorchError, match="attempt to use a closed file"):
        f.writeInt(1)
    with pytest.raises(torch.TorchError, match="file mode should be 'r','w' or 'rw'"):
        torch.DiskFile(tmp_path / "x", "a")
    with pytest.raises(torch.TorchError, match="position has to be greater than 0!"):
        torch.MemoryFile().seek(0)
