"""Torch7's .t7 files: those that the real Torch7 wrote, and hand-written ones of what those lack."""

import io
import json
import math
import struct
from pathlib import Path

import numpy as np
import pytest

import strided as st
from strided.files import Function, Record, Table

DATA = Path(__file__).parent / "data/t7"
MANIFEST = json.loads((DATA / "manifest.json").read_text())
ENTRIES = {entry["name"]: entry for entry in MANIFEST["entries"] if "holds" in entry}
FILES = [
    pytest.param(DATA / file, entry["holds"], encoding, id=file)
    for entry in ENTRIES.values()
    for encoding, file in entry["files"].items()
]
TYPES = {
    "Byte": st.uint8,
    "Char": st.int8,
    "Short": st.int16,
    "Int": st.int32,
    "Long": st.int64,
    "Half": st.float16,
    "Float": st.float32,
    "Double": st.float64,
}


def dtype_of(type_name):
    return TYPES[type_name.removeprefix("torch.").removesuffix("Tensor").removesuffix("Storage")]


def numbers(values):
    return [float(value) if isinstance(value, str) else value for value in values]


def same(a, b):
    return len(a) == len(b) and all(x == y or (math.isnan(x) and math.isnan(y)) for x, y in zip(a, b, strict=True))


def check(value, holds):
    """Compares a loaded value with what the manifest says."""
    kind = holds["kind"]
    if kind == "tensor":
        assert isinstance(value, st.Tensor) and value.dtype is dtype_of(holds["type"])
        if holds["dim"] == 0:
            assert tuple(value.shape) == (0,)
            return
        assert list(value.shape) == holds["size"] and list(value.stride()) == holds["stride"]
        assert value.storage_offset() == holds["storageOffset"] - 1
        assert same(value.reshape(-1).tolist(), numbers(holds["values"]))
        assert same(value.storage().tolist(), numbers(holds["storage"]))
    elif kind == "storage":
        assert isinstance(value, st.Storage) and value.dtype is dtype_of(holds["type"])
        assert same(value.tolist(), numbers(holds["values"]))
    elif kind == "number":
        assert value == float(holds["value"])
        assert isinstance(value, int) == (float(holds["value"]).is_integer())
    elif kind == "string":
        data = holds["value"].encode("latin-1")
        assert value == data or value == data.decode()
        assert isinstance(value, str) == is_utf8(data)
    elif kind == "boolean":
        assert value is holds["value"]
    elif kind == "nil":
        assert value is None
    elif kind == "list":
        assert isinstance(value, list) and len(value) == len(holds["items"])
        for item, wanted in zip(value, holds["items"], strict=True):
            check(item, wanted)
    elif kind == "table":
        assert isinstance(value, dict) and len(value) == len(holds["items"])
        for key, wanted in holds["items"]:
            check(value[key["value"]], wanted)
    else:
        raise AssertionError(kind)


def is_utf8(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize(("path", "holds", "encoding"), FILES)
def test_a_file_of_torch7_has_the_values_of_the_manifest(path, holds, encoding):
    value = st.load(path)
    if "items" in holds and path.stem.startswith("table_cycle"):
        assert value["self"] is value and value["name"] == "cycle"
        return
    check(value, holds)


@pytest.mark.parametrize(("path", "holds", "encoding"), FILES)
def test_a_file_of_torch7_is_written_again_byte_for_byte(path, holds, encoding):
    file = io.BytesIO()
    st.save(st.load(path), file, format="t7", encoding=encoding)
    if holds["kind"] != "table":  # the order of a table's items is that of Lua's hashes; it is kept here too
        assert file.getvalue() == path.read_bytes()
    else:
        assert sorted(file.getvalue()) == sorted(path.read_bytes())


def test_the_manifest_is_covered():
    assert len(FILES) >= 80
    assert {entry["holds"]["kind"] for entry in ENTRIES.values()} >= {"tensor", "storage", "list", "number", "string"}


@pytest.mark.parametrize("name", ["shared_storage", "storage_and_tensor"])
@pytest.mark.parametrize("encoding", ["ascii", "binary"])
def test_tensors_that_share_a_storage_share_it_again(name, encoding):
    value = st.load(DATA / ENTRIES[name]["files"][encoding])
    if name == "shared_storage":
        value["a"][0] = 77
        assert value["whole"][0].item() == 77 and value["a"].storage() is value["b"].storage()
    else:
        assert value[1].storage() is value[0]


# Encodings


@pytest.mark.parametrize("long_size", [4, 8])
@pytest.mark.parametrize("byte_order", ["little", "big"])
def test_the_encoding_of_a_binary_file_is_found_out(long_size, byte_order):
    obj = {
        "x": st.arange(6, dtype=st.float32).view(2, 3).t(),
        "long": st.tensor([1, -2, 2**31 - 1]),
        "short": st.tensor([-300, 300], dtype=st.int16),
        "text": "hello",
        "list": [1, 2.5, True],
    }
    file = io.BytesIO()
    st.save(obj, file, format="t7", long_size=long_size, byte_order=byte_order)
    file.seek(0)
    opened = st.files.open(file)
    assert opened.details == {"encoding": "binary", "long_size": long_size, "byte_order": byte_order}
    loaded = opened.load()
    assert loaded["x"].equal(obj["x"]) and loaded["x"].stride() == (1, 3)
    assert loaded["long"].tolist() == obj["long"].tolist() and loaded["short"].tolist() == [-300, 300]
    assert (loaded["text"], loaded["list"]) == ("hello", [1, 2.5, True])


def test_the_encoding_can_be_given():
    file = io.BytesIO()
    st.save(None, file, format="t7", byte_order="big")
    for order in ("little", "big"):
        file.seek(0)
        assert st.files.open(file, byte_order=order).details["byte_order"] == order
    file.seek(0)
    with pytest.raises(st.FormatError, match="load: byte 0"):
        st.load(file, format="t7", encoding="ascii")


def test_a_long_that_needs_8_bytes_is_refused_in_a_file_of_4():
    with pytest.raises(st.FormatError, match=r"save: 4294967296 does not fit a long of 4 bytes"):
        st.save(st.tensor([2**32]), io.BytesIO(), format="t7", long_size=4)


# Hand-written objects


def integer(value):
    return struct.pack("<i", value)


def text(value):
    data = value.encode() if isinstance(value, str) else value
    return integer(len(data)) + data


def number(value):
    return integer(1) + struct.pack("<d", value)


def string(value):
    return integer(2) + text(value)


def table(index, *pairs):
    return integer(3) + integer(index) + integer(len(pairs) // 2) + b"".join(pairs)


def torch_object(index, class_name, body, version="V 1"):
    return integer(4) + integer(index) + (text(version) if version else b"") + text(class_name) + body


def storage(index, class_name, data, count, **options):
    return torch_object(index, class_name, struct.pack("<q", count) + data, **options)


def tensor(index, class_name, sizes, strides, offset, storage_object, **options):
    longs = struct.pack(f"<{2 * len(sizes) + 1}q", *sizes, *strides, offset)
    return torch_object(index, class_name, integer(len(sizes)) + longs + storage_object, **options)


FLOATS = struct.pack("<6f", 0, 1, 2, 3, 4, 5)


def load(data, **options):
    return st.load(io.BytesIO(data), **options)


@pytest.mark.parametrize(
    ("name", "dtype", "data"),
    [
        ("Cuda", st.float32, FLOATS),
        ("CudaHalf", st.float16, np.arange(6, dtype=np.float16).tobytes()),
        ("CudaDouble", st.float64, np.arange(6, dtype=np.float64).tobytes()),
        ("CudaLong", st.int64, np.arange(6, dtype=np.int64).tobytes()),
        ("CudaByte", st.uint8, bytes(range(6))),
    ],
)
def test_tensors_of_cuda_are_tensors_of_the_cpu(name, dtype, data):
    x = load(tensor(1, f"torch.{name}Tensor", [2, 3], [3, 1], 1, storage(2, f"torch.{name}Storage", data, 6)))
    assert x.dtype is dtype and x.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_objects_from_before_versions_are_read():
    inner = storage(2, "torch.FloatStorage", FLOATS, 6, version=None)
    x = load(tensor(1, "torch.FloatTensor", [6], [1], 1, inner, version=None))
    assert x.tolist() == [0, 1, 2, 3, 4, 5]


def linear(index=1):
    weight = tensor(
        index + 2, "torch.FloatTensor", [2, 3], [3, 1], 1, storage(index + 3, "torch.FloatStorage", FLOATS, 6)
    )
    fields = table(index + 1, string("weight"), weight, string("train"), integer(5) + integer(1))
    return torch_object(index, "nn.Linear", fields)


def test_an_object_of_an_unknown_class_is_a_record_and_survives():
    data = linear()
    record = load(data)
    assert isinstance(record, Record) and record.class_name == "nn.Linear" and record["train"] is True
    assert record["weight"].tolist() == [[0, 1, 2], [3, 4, 5]]
    file = io.BytesIO()
    st.save(record, file, format="t7")
    assert file.getvalue() == data


def test_a_generator_is_a_record_of_bytes():
    state = bytes(range(256)) * 19 + bytes(184)
    data = table(1, number(1), torch_object(2, "torch.Generator", state), number(2), string("after"))
    generator, after = load(data)
    assert (generator.class_name, generator.fields, after) == ("torch.Generator", state, "after")
    for encoding in ("binary", "ascii"):
        file = io.BytesIO()
        st.save([generator, "after"], file, format="t7", encoding=encoding)
        assert encoding == "ascii" or file.getvalue() == data
        file.seek(0)
        assert st.load(file)[0].fields == state


def test_the_names_of_a_model_have_the_indices_of_the_file():
    modules = table(3, number(1), linear(4), number(2), linear(10))
    model = torch_object(1, "nn.Sequential", table(2, string("modules"), modules))
    opened = st.files.open(io.BytesIO(model))
    assert opened.names == ["modules.1.weight", "modules.2.weight"]
    rows = [(row.depth, row.key, row.kind, row.text) for row in opened.outline()]
    assert rows[:4] == [
        (0, "", "record", "nn.Sequential"),
        (1, "modules", "list", "2 items"),
        (2, "1", "record", "nn.Linear"),
        (3, "weight", "tensor", ""),
    ]


@pytest.mark.parametrize("name", ["tds.Hash", "tds.Vec", "my.Own"])
def test_a_class_with_a_format_of_its_own_is_named(name):
    data = table(1, string("x"), torch_object(2, name, struct.pack("<q", 7) + number(1)))
    with pytest.raises(
        st.FormatError, match=f"byte 29: objects of the class {name} are written in a format of their own"
    ):
        load(data)


@pytest.mark.parametrize("kind", [6, 7, 8])
def test_functions_are_kept_and_never_run(kind):
    index = b"" if kind == 6 else integer(1)
    data = integer(kind) + index + text(b"\x1bLJ\x02...") + table(2, number(1), string("upvalue"))
    function = load(data)
    assert isinstance(function, Function) and function.kind == kind
    assert function.bytecode == b"\x1bLJ\x02..." and function.upvalues == ["upvalue"]
    if kind != 6:
        file = io.BytesIO()
        st.save(function, file, format="t7")
        assert file.getvalue() == data


def test_the_same_object_twice_is_one_object():
    x, shared = st.ones(2), ["item"]
    file = io.BytesIO()
    st.save([x, x, shared, {"again": shared}], file, format="t7")
    file.seek(0)
    a, b, one, other = st.load(file)
    assert a is b and other["again"] is one


def test_cycles_survive():
    obj = {"list": []}
    obj["list"].append(obj)
    for encoding in ("binary", "ascii"):
        file = io.BytesIO()
        st.save(obj, file, format="t7", encoding=encoding)
        file.seek(0)
        loaded = st.load(file)
        assert loaded["list"][0] is loaded


def test_keys_that_no_dict_can_have_make_a_table():
    data = table(1, table(2), number(1), string("k"), number(2))
    loaded = load(data)
    assert isinstance(loaded, Table) and list(loaded.items()) == [([], 1), ("k", 2)]
    clash = load(table(1, number(1), string("one"), integer(5) + integer(1), string("yes")))
    assert list(clash.items()) == [(1, "one"), (True, "yes")]
    file = io.BytesIO()
    st.save(loaded, file, format="t7")
    assert file.getvalue() == data


@pytest.mark.parametrize("value", [0.5, -0.0, 2.0**60, math.inf, 7, -3, True, False, None, "text", b"\xff\x00", [], {}])
@pytest.mark.parametrize("encoding", ["binary", "ascii"])
def test_values_survive(value, encoding):
    file = io.BytesIO()
    st.save(value, file, format="t7", encoding=encoding)
    file.seek(0)
    loaded = st.load(file, format="t7")
    assert loaded == ([] if value == {} else value) and (value != 0 or str(loaded) == str(value))


def test_ascii_numbers_are_exact():
    bits = np.random.default_rng(5).integers(0, 2**64, 2000, dtype=np.uint64)
    doubles = st.tensor(bits.view(np.float64))
    floats = st.tensor(bits.view(np.uint32).view(np.float32))
    halves = st.tensor(bits.view(np.uint16)[:4000].view(np.float16))
    for x in (doubles, floats, halves, doubles.view(st.int64), floats.view(st.int32)):
        file = io.BytesIO()
        st.save(x, file, format="t7", encoding="ascii")
        file.seek(0)
        loaded = st.load(file)
        assert np.array_equal(loaded.numpy(), x.numpy(), equal_nan=x.dtype.is_floating_point)


# What the format cannot hold


def test_views_that_torch7_lacks_become_the_nearest_that_it_has():
    file = io.BytesIO()
    x = st.arange(6).view(2, 3)
    st.save([x.flip(1), st.tensor(3.5), st.zeros(3, 0), x.expand(2, 2, 3), st.tensor([True, False])], file, format="t7")
    file.seek(0)
    flipped, scalar, empty, expanded, flags = st.load(file)
    assert flipped.tolist() == [[2, 1, 0], [5, 4, 3]] and flipped.is_contiguous()
    assert tuple(scalar.shape) == (1,) and scalar.item() == 3.5
    assert tuple(empty.shape) == (0,)
    assert expanded.stride() == (0, 3, 1) and expanded.equal(x.expand(2, 2, 3))
    assert flags.dtype is st.uint8 and flags.tolist() == [1, 0]


@pytest.mark.parametrize(
    "dtype", [st.bfloat16, st.complex64, st.complex128, st.uint16, st.uint32, st.uint64], ids=lambda d: d.name
)
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(
        st.FormatError, match=rf"save: \"a.1\" is {dtype.name}, which a .t7 file cannot hold; convert it \(--dtype\)"
    ):
        st.save({"a": [1, st.zeros(2, dtype=dtype)]}, io.BytesIO(), format="t7")


def test_items_that_are_none_are_left_out():
    file = io.BytesIO()
    st.save([1, None, 3], file, format="t7")
    file.seek(0)
    assert st.load(file) == {1: 1, 3: 3}


def test_numbers_beyond_lua_are_refused():
    with pytest.raises(st.FormatError, match="9007199254740993 does not fit a number of Lua"):
        st.save(2**53 + 1, io.BytesIO(), format="t7")
