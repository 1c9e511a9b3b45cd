"""The default format: nested objects, sharing, every layout; and plain safetensors, with the package and by hand."""

import io
import json
import struct
from contextlib import nullcontext

import numpy as np
import pytest
import safetensors
from hypothesis import given
from hypothesis import strategies as some
from safetensors.numpy import load as package_load
from safetensors.numpy import save as package_save

import strided as st
from strided.testing import tensors

DTYPES = [value for value in vars(st._strided).values() if isinstance(value, st.dtype)]
DTYPES = sorted(set(DTYPES), key=str)


def dumped(obj, overlaps=False, **options):
    """The bytes of a file. If tensors overlap, `save` warns that other readers do not see them."""
    file = io.BytesIO()
    with pytest.warns(UserWarning, match="overlap in memory") if overlaps else nullcontext():
        st.save(obj, file, **options)
    return file.getvalue()


def round_trip(obj, overlaps=False, **options):
    return st.load(io.BytesIO(dumped(obj, overlaps)), **options)


def header(data):
    length = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8 : 8 + length])


def same(x, y):
    bits = {1: st.uint8, 2: st.uint16, 4: st.uint32, 8: st.uint64}
    as_bits = [t.contiguous().view(-1).view(bits.get(t.element_size(), st.float64)) for t in (x, y)]
    return x.dtype is y.dtype and x.shape == y.shape and x.stride() == y.stride() and as_bits[0].equal(as_bits[1])


# Layouts and dtypes


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_survives(dtype):
    x = st.arange(6, dtype=st.float64).to(dtype).view(2, 3)
    for view in (x, x.t(), x[0, 0], x[:, :0], x[:, ::2]):
        loaded = round_trip(view)
        assert same(loaded, view) if view.numel() else (loaded.shape, loaded.dtype) == (view.shape, view.dtype)


VIEWS = {
    "transposed": lambda x: x.t(),
    "every second column": lambda x: x[:, ::2],
    "flipped": lambda x: x.flip(0, 1),
    "expanded": lambda x: x[0].expand(5, 4),
    "zero dims": lambda x: x[1, 2],
    "empty": lambda x: x[:0],
    "windows": lambda x: x.unfold(1, 2, 1),
    "diagonal": lambda x: x.diagonal(),
    "rank 9": lambda x: x.view(1, 1, 1, 1, 1, 1, 1, 3, 4),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_view_survives_with_its_strides(view):
    x = view(st.arange(12).view(3, 4))
    loaded = round_trip(x)
    assert loaded.stride() == x.stride() and loaded.tolist() == x.tolist() and loaded.dtype is x.dtype


@given(tensors())
def test_any_tensor_survives(x):
    loaded = round_trip([x])[0]
    assert loaded.shape == x.shape and loaded.dtype is x.dtype
    if x.layout.span <= max(64 * x.numel(), 8192):
        assert loaded.stride() == x.stride()
    assert bytes(loaded.contiguous().view(-1).storage().view(st.uint8).tolist()) == bytes(
        x.clone().storage().view(st.uint8).tolist()
    )


# Objects

SCALARS = some.one_of(
    some.none(),
    some.booleans(),
    some.integers(),
    some.floats(allow_nan=False),
    some.text(some.characters(codec="utf-8")),
    some.binary(),
    some.complex_numbers(allow_nan=False),
)
KEYS = some.one_of(
    some.none(), some.integers(), some.text(some.characters(codec="utf-8")), some.tuples(some.integers())
)
OBJECTS = some.recursive(
    SCALARS,
    lambda inside: some.one_of(
        some.lists(inside), some.tuples(inside, inside), some.dictionaries(KEYS, inside, max_size=4)
    ),
)


@given(OBJECTS)
def test_nested_objects_survive(obj):
    loaded = round_trip(obj)
    assert repr(loaded) == repr(obj)


def test_special_floats_survive():
    loaded = round_trip([float("nan"), float("inf"), -float("inf"), -0.0, complex(float("nan"), -0.0)])
    assert repr(loaded) == "[nan, inf, -inf, -0.0, (nan-0j)]"


def test_the_same_object_twice_is_one_object_and_cycles_survive():
    inner = [st.ones(2)]
    obj = {"a": inner, "b": inner, "tuple": (inner,)}
    obj["self"] = obj
    loaded = round_trip(obj)
    assert loaded["self"] is loaded and loaded["a"] is loaded["b"] is loaded["tuple"][0]


def test_an_object_of_another_class_is_refused_by_its_place():
    with pytest.raises(TypeError, match=r"save: obj\[\"a\"\]\[1\] is set, wanted a tensor, a storage"):
        st.save({"a": [1, {2}]}, io.BytesIO())


# Sharing


def test_views_that_overlap_share_memory_again():
    x = st.arange(10)
    a, b = round_trip((x[:6], x[4:]), overlaps=True)
    a[5] = 100
    assert b[1].item() == 100


def test_tensors_of_different_dtypes_on_one_storage_share_it_again():
    x = st.arange(4, dtype=st.float32)
    floats, words, part = round_trip([x, x.view(st.int32), x.view(st.uint8)[5:7]], overlaps=True)
    floats[1] = -1.0
    assert words[1].item() == struct.unpack("<i", struct.pack("<f", -1.0))[0] and part.storage_offset() == 5


def test_a_storage_and_its_tensors_share_memory():
    x = st.arange(4)
    storage, view = round_trip([x.storage(), x[1:3]], overlaps=True)
    storage[2] = 50
    assert view.tolist() == [1, 50] and storage.dtype is st.int64


def test_disjoint_views_of_a_storage_are_stored_apart():
    x = st.zeros(1_000_000)
    data = dumped([x[:3], x[-3:]])
    assert len(data) < 2000
    a, b = st.load(io.BytesIO(data))
    assert a.storage() is not b.storage() and len(a.storage()) == 3


def test_a_chain_of_overlaps_is_one_storage():
    x = st.arange(100)
    parts = round_trip([x[40:60], x[0:21], x[20:41], x[70:80]], overlaps=True)
    assert parts[0].storage() is parts[1].storage() is parts[2].storage() is not parts[3].storage()


# The file is a safetensors file


def test_a_dict_of_row_major_tensors_has_no_metadata_of_ours():
    data = dumped({"a": st.ones(2, 3), "b.c": st.zeros(4, dtype=st.int8)})
    assert set(header(data)) == {"a", "b.c"}


def test_a_nested_row_major_tensor_is_an_entry_under_its_path():
    x = st.arange(4.0)
    data = dumped({"a": [{"w": x}, "text"], "column": st.ones(3, 3)[:, 0]})
    entries = header(data)
    assert entries["a.0.w"] == {"dtype": "F32", "shape": [4], "data_offsets": entries["a.0.w"]["data_offsets"]}
    assert set(entries) == {"__metadata__", "a.0.w", "column"}
    assert np.array_equal(package_load(data)["a.0.w"], x.numpy())


def test_names_that_clash_are_told_apart():
    loaded = round_trip({"a": [st.ones(1)], "a.0": st.zeros(2), "storage.0": st.ones(3), "v": st.ones(4)[::2]})
    assert [x.numel() for x in (loaded["a"][0], loaded["a.0"], loaded["storage.0"], loaded["v"])] == [1, 2, 3, 2]


def test_complex128_is_written_as_pairs():
    x = st.tensor([1 + 2j, 3 - 4j], dtype=st.complex128)
    data = dumped({"z": x})
    assert header(data)["z"]["dtype"] == "F64" and header(data)["z"]["shape"] == [2, 2]
    assert st.load(io.BytesIO(data))["z"].tolist() == x.tolist()


def test_metadata_is_kept_and_ours_is_hidden():
    data = dumped([st.ones(2)], metadata={"author": "someone", "ünï": "\n"})
    assert st.files.open(io.BytesIO(data)).metadata == {"author": "someone", "ünï": "\n"}
    with pytest.raises(st.FormatError, match='the metadata "strided" is strided\'s own'):
        dumped([1], metadata={"strided": ""})


# Both ways with the package


@pytest.mark.parametrize(
    "name",
    ["bool", "uint8", "int8", "uint16", "int16", "float16", "uint32", "int32", "float32", "uint64", "int64", "float64"],
)
def test_the_package_reads_what_strided_writes_and_the_other_way(name):
    array = np.arange(6).reshape(2, 3).astype(name)
    data = dumped({"x": st.tensor(array), "y": st.tensor(array[0])})
    loaded = package_load(data)
    assert (
        loaded["x"].dtype == array.dtype
        and np.array_equal(loaded["x"], array)
        and np.array_equal(loaded["y"], array[0])
    )
    ours = st.load(io.BytesIO(package_save({"x": array, "y": array[0]})))
    assert np.array_equal(ours["x"].numpy(), array) and np.array_equal(ours["y"].numpy(), array[0])


def test_bfloat16_and_entries_without_elements_are_read_by_the_package():
    data = dumped({"h": st.ones(3, dtype=st.bfloat16), "none": st.zeros(0, 5), "scalar": st.tensor(2.5)})
    opened = safetensors.deserialize(data)
    found = {name: (entry["dtype"], entry["shape"]) for name, entry in opened}
    assert found == {"h": ("BF16", [3]), "none": ("F32", [0, 5]), "scalar": ("F32", [])}


def test_entries_are_aligned_so_that_they_can_be_mapped():
    data = dumped({"a": st.ones(3, dtype=st.uint8), "b": st.ones(2, dtype=st.float64), "c": st.ones(5, dtype=st.int16)})
    opened = st.files.open(io.BytesIO(data))
    assert opened.names == ["a", "b", "c"]
    assert all(entry.mappable for entry in opened.entries)
    assert opened["b"].position % 64 == 0


# Files by hand


def by_hand(head, data=b""):
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + data


def test_a_dtype_that_strided_lacks_is_listed_and_only_its_loading_fails():
    entries = {
        "known": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
        "f8": {"dtype": "F8_E4M3", "shape": [3], "data_offsets": [4, 7]},
        "f4": {"dtype": "F4", "shape": [4], "data_offsets": [7, 9]},
    }
    opened = st.files.open(io.BytesIO(by_hand(entries, bytes(9))))
    assert [(e.dtype, e.dtype_name, e.nbytes) for e in opened.entries] == [
        (st.float32, "float32", 4),
        (None, "F8_E4M3", 3),
        (None, "F4", 2),
    ]
    assert opened["known"].load().tolist() == [0.0]
    with pytest.raises(st.FormatError, match="a tensor has the dtype F8_E4M3, which strided does not have"):
        opened["f8"].load()


F32 = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
LIES = {
    "the header is longer than the file": (struct.pack("<Q", 1000) + b"{}", "needs 1000 bytes"),
    "the header is huge": (struct.pack("<Q", 2**62) + b"{}", "longer than 100000000"),
    "no JSON": (by_hand(b"{]"), "byte 9: wanted a name in JSON"),
    "no object": (by_hand(b"[]"), "no JSON object"),
    "not UTF-8": (by_hand(b'{"\xff": 1}'), "not UTF-8"),
    "the same name twice": (by_hand(b'{"a": 1, "a": 2}'), "occurs twice"),
    "data beyond the end": (by_hand({"a": F32}, bytes(7)), "the file has 7 bytes of data"),
    "data that belongs to no entry": (by_hand({"a": F32}, bytes(9)), "1 bytes of the file belong to no entry"),
    "entries that overlap": (by_hand({"a": F32, "b": {**F32, "data_offsets": [4, 12]}}, bytes(12)), "overlaps"),
    "a gap between entries": (by_hand({"a": {**F32, "data_offsets": [1, 9]}}, bytes(9)), "leaves a gap"),
    "offsets the wrong way round": (by_hand({"a": {**F32, "data_offsets": [8, 0]}}, bytes(8)), "data_offsets 8 and 0"),
    "a shape that needs other bytes": (by_hand({"a": {**F32, "shape": [3]}}, bytes(8)), "8 bytes for 3 elements"),
    "a shape that overflows": (by_hand({"a": {**F32, "shape": [2**62, 2**62]}}, bytes(8)), "bad shape"),
    "a negative extent": (by_hand({"a": {**F32, "shape": [-2]}}, bytes(8)), "bad shape"),
    "no dtype": (by_hand({"a": {"shape": [2], "data_offsets": [0, 8]}}, bytes(8)), "no dtype"),
    "metadata of other types": (by_hand({"__metadata__": {"a": 1}}), "no JSON object of strings"),
    "deep nesting": (by_hand(b'{"a":' * 100_000), "nested too deeply"),
}


@pytest.mark.parametrize(("data", "message"), LIES.values(), ids=LIES)
def test_a_header_that_lies_is_refused(data, message):
    with pytest.raises(st.FormatError, match=message):
        st.load(io.BytesIO(data), format="safetensors")


def nested(nodes, version=1):
    text = json.dumps({"version": version, "nodes": nodes})
    return by_hand({"__metadata__": {"strided": text}, "a": F32}, bytes(8))


NODES = {
    "a tensor outside its entry": (
        [{"tensor": "a", "shape": [3], "stride": [1], "offset": 0}],
        "reaches elements 0 to 2",
    ),
    "a negative location": ([{"tensor": "a", "shape": [2], "stride": [-1], "offset": 0}], "reaches elements -1 to 0"),
    "no such entry": ([{"tensor": "b"}], 'there is no entry "b"'),
    "no such node": ([{"list": [{"node": 1}]}], "refers to no node"),
    "a tuple that contains itself": ([{"tuple": [{"node": 0}]}], "a tuple contains itself"),
    "a key that is a list": ([{"dict": [[{"node": 1}, 1]]}, {"list": []}], "a key of a dict is a list"),
    "an unknown kind": ([{"set": [1]}], "its kind is not known"),
    "a wider dtype": ([{"tensor": "a", "dtype": "float64"}], "reaches elements 0 to 1"),
    "no nodes": ([], "has no nodes"),
    "strides that spread few elements": ([{"tensor": "a", "memory_stride": [10000]}], "spread 2 elements over 10001"),
    "strides of another rank": ([{"tensor": "a", "memory_stride": [1, 1]}], "bad node 0"),
    "strides for a part of an entry": (
        [{"tensor": "a", "shape": [1], "memory_stride": [2]}],
        "not all of its entry",
    ),
    "a record without fields": ([{"record": "nn.Linear"}], "it has no fields"),
    "a function without bytecode": ([{"function": 6, "upvalues": None}], "no bytecode"),
    "a table that is no list of pairs": ([{"table": [[1]]}], "no pair"),
}


@pytest.mark.parametrize(("nodes", "message"), NODES.values(), ids=NODES)
def test_nodes_that_lie_are_refused(nodes, message):
    with pytest.raises(st.FormatError, match=message):
        st.load(io.BytesIO(nested(nodes)))


def test_a_newer_version_is_refused():
    with pytest.raises(st.FormatError, match="version 2; a newer strided"):
        st.load(io.BytesIO(nested([1], version=2)))


# Sharded models


def test_an_index_of_several_files_is_one_file(tmp_path):
    st.save({"a": st.ones(2), "b": st.zeros(3)}, tmp_path / "1.safetensors")
    st.save({"c": st.full((4,), 7)}, tmp_path / "2.safetensors")
    index = {
        "metadata": {"total_size": 52},
        "weight_map": {"a": "1.safetensors", "c": "2.safetensors", "b": "1.safetensors"},
    }
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(json.dumps(index))
    opened = st.files.open(path)
    assert opened.names == ["a", "c", "b"] and opened.metadata == {"total_size": "52"}
    assert opened["c"].load().tolist() == [7] * 4
    assert {name: x.numel() for name, x in st.load(path).items()} == {"a": 2, "c": 4, "b": 3}


@pytest.mark.parametrize("shard", ["../1.safetensors", "/etc/passwd", "", "..", 3])
def test_an_index_cannot_name_files_elsewhere(tmp_path, shard):
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": {"a": shard}}))
    with pytest.raises(st.FormatError, match="no file beside it"):
        st.load(path)
