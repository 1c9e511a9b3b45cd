"""zarr: arrays that the zarr package wrote are read as it reads them; hostile folders run no code and need little memory."""

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import random
import struct
import subprocess
import sys
import threading
import zlib
from functools import cache
from pathlib import Path

import folder_cases
import numpy as np
import pytest

import strided as st
from strided.files import _replace, _zarr_chunks, _zarr_inflate

zarr = pytest.importorskip("zarr")
numcodecs = pytest.importorskip("numcodecs")

pytestmark = pytest.mark.filterwarnings("ignore:.*[Nn]umcodecs codecs are not in the Zarr version 3 spec")


def v2(folder, files=None, **changes):
    """Writes an array of version 2 by hand: JSON, and the bytes of chunks by their keys."""
    said = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i4", "compressor": None, "filters": None}
    said |= {"fill_value": 0, "order": "C"}
    said |= changes
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".zarray").write_text(json.dumps(said))
    for key, data in (files or {}).items():
        (folder / key).write_bytes(data)
    return folder


def v3(folder, files=None, **changes):
    """The same of version 3."""
    said = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4],
        "data_type": "int32",
        "fill_value": 0,
        "attributes": {},
    }
    said["chunk_grid"] = {"name": "regular", "configuration": {"chunk_shape": [4]}}
    said["chunk_key_encoding"] = {"name": "default", "configuration": {"separator": "."}}
    said["codecs"] = [{"name": "bytes", "configuration": {"endian": "little"}}]
    said |= changes
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "zarr.json").write_text(json.dumps({key: value for key, value in said.items() if value is not ...}))
    for key, data in (files or {}).items():
        (folder / key).write_bytes(data)
    return folder


FOUR = struct.pack("<4i", 1, -2, 3, 4)


# What zarr writes


@pytest.mark.parametrize("seed", range(40))
def test_whole_folders_are_read_as_zarr_reads_them(seed, tmp_path):
    case = folder_cases.random_zarr(random.Random(f"whole {seed}"))
    case.files, case.folders, case.max_bytes = dict(case.whole), [], None
    assert case.check()


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_every_dtype_survives(dtype, tmp_path):
    x = np.arange(-6, 6).reshape(3, 4).astype(dtype)
    st.save({"x": st.from_numpy(x), "s": st.from_numpy(x[0, 0])}, tmp_path / "x.zarr")
    loaded = st.load(tmp_path / "x.zarr")
    assert loaded["x"].numpy().dtype == x.dtype and np.array_equal(loaded["x"].numpy(), x)
    assert loaded["s"].shape == () and loaded["s"].numpy() == x[0, 0]
    assert np.array_equal(zarr.open(tmp_path / "x.zarr", mode="r")["x"][...], x)


def test_consolidated_metadata_are_not_used(tmp_path):
    group = zarr.create_group(tmp_path / "x", zarr_format=2)
    group.create_array("a", data=np.arange(3))
    zarr.consolidate_metadata(tmp_path / "x")
    said = json.loads((tmp_path / "x/.zmetadata").read_text())
    said["metadata"]["a/.zarray"]["filters"] = [{"id": "pickle"}]
    (tmp_path / "x/.zmetadata").write_text(json.dumps(said))
    assert st.load(tmp_path / "x")["a"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ({"data_type": "float32", "fill_value": "NaN"}, float("nan")),
        ({"data_type": "float32", "fill_value": "-Infinity"}, float("-inf")),
        ({"data_type": "float16", "fill_value": "0x3c00"}, 1.0),
        ({"data_type": "float64", "fill_value": "0x3ff0000000000000"}, 1.0),
        ({"data_type": "uint64", "fill_value": 2**64 - 1}, 2**64 - 1),
        ({"data_type": "bool", "fill_value": True}, True),
        ({"data_type": "complex64", "fill_value": [1.5, "NaN"]}, complex(1.5, float("nan"))),
    ],
)
def test_missing_chunks_have_the_fill_value(said, value, tmp_path):
    loaded = st.load(v3(tmp_path / "x", **said)).numpy()
    assert np.array_equal(loaded, np.full(4, value, loaded.dtype), equal_nan=loaded.dtype.kind in "fc")
    assert np.array_equal(zarr.open(tmp_path / "x", mode="r")[...], loaded, equal_nan=loaded.dtype.kind in "fc")


def test_members_of_groups_and_links_are_read(tmp_path):
    st.save({"g": {"a": st.arange(3)}}, tmp_path / "x.zarr")
    st.save({"b": st.arange(2)}, tmp_path / "y.zarr")
    (tmp_path / "x.zarr/linked").symlink_to(tmp_path / "y.zarr")
    assert st.files.open(tmp_path / "x.zarr").names == ["g.a", "linked.b"]
    (tmp_path / "y.zarr/back").symlink_to(tmp_path / "x.zarr")
    with pytest.raises(st.FormatError, match="a link to a folder that it is in"):
        st.load(tmp_path / "x.zarr")


# Code


class Payload:
    """Unpickling it makes a folder: the code of a hostile file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def pickled_chunk(tmp_path):
    return pickle.dumps(Payload(tmp_path / "executed"))


@pytest.mark.parametrize("where", ["filters", "compressor"])
@pytest.mark.parametrize("inside", ["array", "group"])
def test_loading_runs_no_pickle(where, inside, tmp_path, monkeypatch):
    # numcodecs 0.16.6 refuses to unpickle unless it is told to; those before it do not.
    monkeypatch.setattr(numcodecs.pickles, "ALLOW_UNSAFE_PICKLE_DECODE", True, raising=False)
    said = {"filters": [{"id": "pickle"}]} if where == "filters" else {"compressor": {"id": "pickle"}}
    folder = v2(
        tmp_path / "x" if inside == "array" else tmp_path / "x" / "member", {"0": pickled_chunk(tmp_path)}, **said
    )
    if inside == "group":
        (tmp_path / "x/.zgroup").write_text('{"zarr_format": 2}')
    with pytest.raises(st.FormatError, match="'pickle' is not among those that strided allows"):
        st.load(tmp_path / "x")
    entry = st.files.open(tmp_path / "x").entries[0]
    with pytest.raises(st.FormatError, match="'pickle'"):
        entry.load()
    assert not (tmp_path / "executed").exists()
    numcodecs.get_codec({"id": "pickle"}).decode((folder / "0").read_bytes())
    assert (tmp_path / "executed").exists()  # the payload works: zarr's own path would have run it


def shards(*inner):
    config = {"chunk_shape": [2], "codecs": list(inner), "index_codecs": [{"name": "bytes"}], "index_location": "end"}
    return {"name": "sharding_indexed", "configuration": config}


BYTES = {"name": "bytes", "configuration": {"endian": "little"}}


@pytest.mark.parametrize(
    "name", ["numcodecs.pickle", "pickle", "numcodecs.msgpack2", "numcodecs.pcodec", "os.system", "vlen-utf8"]
)
@pytest.mark.parametrize("place", ["serializer", "compressor", "filter", "shard", "nested shard", "index"])
def test_codecs_that_are_not_listed_are_named(name, place, tmp_path):
    bad = {"name": name, "configuration": {}}
    index = shards(BYTES)
    index["configuration"]["index_codecs"] = [BYTES, bad]
    codecs = {
        "serializer": [bad],
        "compressor": [BYTES, bad],
        "filter": [bad, BYTES],
        "shard": [shards(BYTES, bad)],
        "nested shard": [shards(shards(BYTES, bad))],
        "index": [index],
    }
    v3(tmp_path / "x", {"c.0": pickled_chunk(tmp_path)}, codecs=codecs[place])
    with pytest.raises(st.FormatError) as caught:
        st.load(tmp_path / "x")
    assert repr(name) in caught.value.reason and "allows" in caught.value.reason
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("dtype", ["|O", "O", "object", "|O8", [["a", "|O"]], "|V8", "i4,O"])
def test_object_dtypes_are_refused(dtype, tmp_path):
    v2(tmp_path / "x", {"0": bytes(32)}, dtype=dtype)
    with pytest.raises(st.FormatError, match="has the dtype"):
        st.load(tmp_path / "x")
    for codec in (
        {"id": "astype", "encode_dtype": dtype, "decode_dtype": "<i4"},
        {"id": "astype", "encode_dtype": "<i4", "decode_dtype": dtype},
        {"id": "delta", "dtype": dtype},
        {"id": "delta", "dtype": "<i4", "astype": dtype},
        {"id": "quantize", "digits": 1, "dtype": dtype},
        {"id": "fixedscaleoffset", "scale": 1, "offset": 0, "dtype": dtype},
    ):
        v2(tmp_path / "y", {"0": bytes(32)}, filters=[codec])
        with pytest.raises(st.FormatError, match=r"the dtype .* is none of numbers"):
            st.load(tmp_path / "y")


def test_a_folder_imports_nothing_that_it_names(tmp_path):
    v3(tmp_path / "x", codecs=[{"name": "numcodecs.zfpy"}, BYTES])
    v2(tmp_path / "y", dtype="torch7")
    code = (
        "import sys, strided as st\n"
        f"for path in ({str(tmp_path / 'x')!r}, {str(tmp_path / 'y')!r}):\n"
        "    try: st.load(path)\n    except st.FormatError: pass\n    else: raise AssertionError\n"
        "print([name for name in ('zarr', 'numcodecs', 'strided.torch7', 'pickle') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("[]", "['pickle']")  # NumPy imports pickle


def test_the_listed_codecs_decode():
    """The list of the documentation, and no other."""
    from strided.files import _zarr_codecs as codecs

    listed = set(codecs.CHECKSUMS) | set(codecs.FILTERS) | set(_zarr_inflate.COMPRESSORS)
    wanted = "blosc zstd gzip zlib lz4 bz2 lzma crc32 crc32c adler32 fletcher32 delta shuffle fixedscaleoffset quantize bitround"
    assert listed == {*wanted.split(), "packbits", "astype"}
    assert set(codecs.VERSION_3) == {"bytes", "transpose", "sharding_indexed"}
    page = Path(__file__).parent.parent.joinpath("docs/files.md").read_text(encoding="utf-8")
    for name in listed | set(codecs.VERSION_3):
        assert f"`{name}`" in page


# Memory


def peak_of(path, setup=""):
    """The growth of memory in KB, and the message, of loading a folder in a process of its own."""
    code = f"""
import resource, numpy, numcodecs
import strided as st
st.from_numpy(numpy.zeros(3))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    st.load({str(path)!r}{setup})
except st.FormatError as error:
    print(error.reason)
else:
    print("loaded")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    reason, grown = done.stdout.splitlines()
    return reason, int(grown)


@pytest.mark.parametrize("write", [v2, v3])
def test_a_shape_out_of_proportion_is_refused(write, tmp_path):
    size = 500_000_000
    grid = (
        {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [size]}}}
        if write is v3
        else {"chunks": [size]}
    )
    write(tmp_path / "x", shape=[size], fill_value=7, **grid)
    reason, grown = peak_of(tmp_path / "x")
    assert "needs 2000000000 bytes, out of proportion" in reason and "max_bytes=2000000000" in reason
    assert grown < 30_000


def test_max_bytes_allows_and_limits(tmp_path):
    size = 5_000_000
    v2(tmp_path / "x", shape=[size], chunks=[1000], dtype="|u1", fill_value=7)
    with pytest.raises(st.FormatError, match="out of proportion"):
        st.load(tmp_path / "x")
    loaded = st.load(tmp_path / "x", max_bytes=size)
    assert loaded.shape == (size,) and (loaded == 7).all()
    with pytest.raises(st.FormatError, match=f"needs {size} bytes, and max_bytes leaves {size - 1}"):
        st.load(tmp_path / "x", max_bytes=size - 1)
    st.save({"a": st.ones(100), "b": st.ones(100)}, tmp_path / "y.zarr")
    assert len(st.load(tmp_path / "y.zarr", max_bytes=800)) == 2
    with pytest.raises(st.FormatError, match="'b' needs 400 bytes, and max_bytes leaves 399"):
        st.load(tmp_path / "y.zarr", max_bytes=799)


def test_zeros_that_were_saved_are_loaded(tmp_path):
    """The writer keeps to the proportion, also for what compresses well."""
    st.save({"x": st.zeros(3000, 3001), "y": st.zeros(7_000_000, dtype=st.uint8)}, tmp_path / "x.zarr")
    loaded = st.load(tmp_path / "x.zarr")
    assert loaded["x"].shape == (3000, 3001) and not loaded["x"].any() and loaded["y"].numel() == 7_000_000


def test_links_do_not_multiply_what_a_folder_stands_for(tmp_path):
    st.save({"x0": st.zeros(2_000_000)}, tmp_path / "x.zarr")
    for i in range(1, 4):
        (tmp_path / f"x.zarr/x{i}").symlink_to("x0")
    with pytest.raises(st.FormatError, match="'x1' needs 8000000 bytes, out of proportion to the 0 of its files"):
        st.load(tmp_path / "x.zarr")
    assert len(st.load(tmp_path / "x.zarr", max_bytes=32_000_000)) == 4
    assert st.files.open(tmp_path / "x.zarr")["x3"].load().shape == (2_000_000,)
    hard = v2(
        tmp_path / "y",
        {"0": zlib.compress(bytes(4_000_000))},
        shape=[20_000_000],
        chunks=[4_000_000],
        dtype="|u1",
        compressor={"id": "zlib"},
    )
    for i in range(1, 5):
        os.link(hard / "0", hard / str(i))
    with pytest.raises(st.FormatError, match="out of proportion"):
        st.load(hard)
    assert st.load(hard, max_bytes=20_000_000).numel() == 20_000_000


def test_a_damaged_chunk_among_many_is_found_by_threads(tmp_path):
    st.save(st.ones(2000, 3000), tmp_path / "x.zarr")
    chunks = sorted((tmp_path / "x.zarr/c").rglob("0"), key=str)
    files = [path for path in chunks if path.is_file()]
    assert len(files) > 3
    files[2].write_bytes(files[2].read_bytes()[:-2])
    with pytest.raises(st.FormatError, match=r"chunk c/2/0: zstd ends too early"):
        st.load(tmp_path / "x.zarr")


BOMB = 80_000_000


def lz4_bomb():
    return struct.pack("<I", 2**31 - 1) + numcodecs.LZ4().encode(bytes(1000))[4:]


def blosc_bomb():
    data = bytearray(numcodecs.Blosc().encode(bytes(100_000)))
    data[4:8] = struct.pack("<I", 2**31 - 1)
    return bytes(data)


def zstd_stream(size):
    """A frame without a declared size, of runs of zeros."""
    blocks = b"".join((131072 << 3 | 1 << 1).to_bytes(3, "little") + b"\0" for _ in range(size // 131072))
    return bytes.fromhex("28b52ffd") + b"\x00\x58" + blocks + (1 << 3 | 1 << 1 | 1).to_bytes(3, "little") + b"\0"


BOMBS = {
    "gzip": lambda: gzip.compress(bytes(BOMB), 1),
    "gzip in two members": lambda: gzip.compress(bytes(8)) + gzip.compress(bytes(BOMB), 1),
    "zlib": lambda: zlib.compress(bytes(BOMB), 1),
    "bz2": lambda: bz2.compress(bytes(BOMB), 9),
    "lzma": lambda: lzma.compress(bytes(BOMB), preset=0),
    "zstd": lambda: numcodecs.Zstd(1).encode(bytes(BOMB)),
    "zstd without a size": lambda: zstd_stream(BOMB),
    "zstd in many frames": lambda: numcodecs.Zstd(1).encode(bytes(BOMB // 10)) * 10,
    "lz4": lz4_bomb,
    "blosc": blosc_bomb,
}


@cache
def bomb(name):
    return BOMBS[name]()


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("version", [2, 3])
def test_a_chunk_decodes_to_no_more_than_its_bytes(name, version, tmp_path):
    codec = name.split()[0]
    if version == 2:
        v2(tmp_path / "x", {"0": bomb(name)}, shape=[4000], chunks=[4000], compressor={"id": codec})
    else:
        grid = {"name": "regular", "configuration": {"chunk_shape": [4000]}}
        codecs = [BYTES, {"name": codec if codec in ("gzip", "zstd", "blosc") else f"numcodecs.{codec}"}]
        v3(tmp_path / "x", {"c.0": bomb(name)}, shape=[4000], chunk_grid=grid, codecs=codecs)
    reason, grown = peak_of(tmp_path / "x", ", max_bytes=1 << 40")
    assert "wanted" in reason or "more than 16000 bytes" in reason or "does not decode" in reason
    assert grown < 40_000


def test_a_chunk_may_be_larger_than_the_array_but_not_out_of_proportion(tmp_path):
    v2(tmp_path / "x", {"0": np.arange(1000, dtype="<i4").tobytes()}, shape=[3], chunks=[1000])
    assert st.load(tmp_path / "x", max_bytes=12).tolist() == [0, 1, 2]
    v2(tmp_path / "y", {"0": zlib.compress(b"")}, shape=[3], chunks=[2**40], compressor={"id": "zlib"})
    with pytest.raises(st.FormatError, match=r"chunk 0 needs .* out of proportion"):
        st.load(tmp_path / "y")


def test_the_dictionary_of_lzma_is_bounded(tmp_path):
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 31}]
    v2(tmp_path / "x", {"0": b"\0"}, compressor={"id": "lzma", "format": lzma.FORMAT_RAW, "filters": filters})
    with pytest.raises(st.FormatError, match="lzma: filters"):
        st.load(tmp_path / "x")
    data = lzma.compress(FOUR, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29}])
    v2(tmp_path / "y", {"0": data}, compressor={"id": "lzma"})
    with pytest.raises(st.FormatError, match=r"lzma does not decode: .*[Mm]emory"):
        st.load(tmp_path / "y")


def test_a_grid_of_many_chunks_takes_no_time(tmp_path):
    v2(tmp_path / "x", {"0": b"\1"}, shape=[4_000_000], chunks=[1], dtype="|u1")
    assert st.load(tmp_path / "x").sum().item() == 1
    v2(tmp_path / "y", shape=[2**40, 0], chunks=[1, 1])
    assert st.load(tmp_path / "y").shape == (2**40, 0)


def test_chunks_of_a_shard_may_not_lie_outside_it(tmp_path):
    def shard(*index):
        return FOUR + struct.pack("<4Q", *index)

    for index, message in [((0, 8, 8, 8), None), ((0, 8, 40, 9), "in a shard of"), ((0, 2**63, 8, 8), "in a shard of")]:
        v3(tmp_path / "x", {"c.0": shard(*index)}, codecs=[shards(BYTES)])
        if message is None:
            assert st.load(tmp_path / "x").tolist() == [1, -2, 3, 4]
        else:
            with pytest.raises(st.FormatError, match=message):
                st.load(tmp_path / "x")
    v3(tmp_path / "x", {"c.0": shard(0, 8, 2**64 - 1, 2**64 - 1)}, codecs=[shards(BYTES)], fill_value=9)
    assert st.load(tmp_path / "x").tolist() == [1, -2, 9, 9]


# Damage

DAMAGED = {
    "no node_type": {"node_type": ...},
    "another node_type": {"node_type": "code"},
    "no shape": {"shape": ...},
    "a negative shape": {"shape": [-4]},
    "a shape of floats": {"shape": [4.0]},
    "a shape of bools": {"shape": [True]},
    "a huge shape": {"shape": [2**63]},
    "a shape whose product is huge": {"shape": [2**40, 2**40]},
    "a hundred dims": {"shape": [1] * 100},
    "attributes that are a list": {"attributes": [1]},
    "another version": {"zarr_format": 4},
    "a version in words": {"zarr_format": "3"},
    "no codecs": {"codecs": []},
    "codecs that are a dict": {"codecs": {}},
    "a codec that is a number": {"codecs": [3]},
    "no array-to-bytes codec, and a transposition": {
        "codecs": [{"name": "transpose", "configuration": {"order": [1]}}]
    },
    "chunks of another rank": {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2]}}},
    "chunks of 0": {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [0]}}},
    "another grid": {"chunk_grid": {"name": "rectangular", "configuration": {}}},
    "another key encoding": {"chunk_key_encoding": {"name": "code"}},
    "a fill value out of range": {"fill_value": 2**40},
    "a fill value of text": {"fill_value": "NaN"},
    "no fill value": {"fill_value": None},
    "storage transformers": {"storage_transformers": [{"name": "x"}]},
    "an extension": {"strange": {"must_understand": True}},
    "a thousand codecs": {"codecs": [BYTES] + [{"name": "crc32c"}] * 1000},
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_metadata_are_a_format_error(name, tmp_path):
    v3(tmp_path / "x", {"c.0": FOUR}, **DAMAGED[name])
    with pytest.raises(st.FormatError) as caught:
        st.load(tmp_path / "x")
    assert caught.value.file == str(tmp_path / "x") and caught.value.reason


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"zarr_format": ' + b"9" * 5000 + b"}",
    ],
    ids=range(9),
)
@pytest.mark.parametrize("name", ["zarr.json", ".zarray", ".zgroup"])
def test_metadata_that_are_no_json_are_a_format_error(text, name, tmp_path):
    (tmp_path / name).write_bytes(text)
    with pytest.raises(st.FormatError):
        st.files.open(tmp_path)


def test_deep_attributes_are_read_or_refused(tmp_path):
    for depth in (10, 300, 500, 800, 950, 1000, 5000):
        v3(tmp_path / "x", {"c.0": FOUR}, attributes={})
        text = (tmp_path / "x/zarr.json").read_text()
        (tmp_path / "x/zarr.json").write_text(
            text.replace('"attributes": {}', '"attributes": {"a": ' + "[" * depth + "]" * depth + "}")
        )
        try:
            assert st.files.open(tmp_path / "x").metadata["a"] == "[" * depth + "]" * depth
        except st.FormatError:
            assert depth > 300


def test_a_pipe_is_not_waited_for(tmp_path):
    v3(tmp_path / "x")
    os.mkfifo(tmp_path / "x/c.0")
    with pytest.raises(st.FormatError, match=r"c\.0 is no file"):
        st.load(tmp_path / "x")
    os.mkfifo(tmp_path / "zarr.json")
    with pytest.raises(st.FormatError, match=r"zarr\.json is no file"):
        st.load(tmp_path)


def test_a_folder_in_the_place_of_a_chunk_is_a_format_error(tmp_path):
    for shape in ([], [4]):
        grid = {"name": "regular", "configuration": {"chunk_shape": shape}}
        v3(tmp_path / f"x{len(shape)}", shape=shape, chunk_grid=grid)
        (tmp_path / f"x{len(shape)}" / ".".join(["c"] + ["0"] * len(shape))).mkdir()
        with pytest.raises(st.FormatError, match="is no file"):
            st.load(tmp_path / f"x{len(shape)}")


@pytest.mark.parametrize("cut", range(0, 40, 3))
def test_a_cut_chunk_is_a_format_error(cut, tmp_path):
    for i, codec in enumerate([None, "zstd", "blosc", "zlib", "lz4", "bz2", "lzma", "gzip"]):
        array = zarr.create_array(
            tmp_path / str(i),
            data=np.arange(100),
            zarr_format=2,
            compressors=codec and numcodecs.get_codec({"id": codec}),
        )
        assert np.array_equal(st.load(tmp_path / str(i)).numpy(), array[...])
        data = (tmp_path / str(i) / "0").read_bytes()
        (tmp_path / str(i) / "0").write_bytes(data[: cut * len(data) // 40])
        with pytest.raises(st.FormatError):
            st.load(tmp_path / str(i))


def test_blosc_is_not_read_beyond_its_end(tmp_path):
    data = numcodecs.Blosc().encode(np.arange(1000, dtype="<i4"))
    v2(tmp_path / "x", {"0": data[:-3]}, shape=[1000], chunks=[1000], compressor={"id": "blosc"})
    with pytest.raises(
        st.FormatError, match=f"blosc declares {len(data)} compressed bytes, and there are {len(data) - 3}"
    ):
        st.load(tmp_path / "x")


def test_the_declared_size_of_zstd_is_that_of_all_frames():
    for size in (0, 1, 255, 256, 257, 65_535, 65_792, 70_000, 3_000_000):
        frame = bytes(
            numcodecs.Zstd(1, checksum=size % 2 == 0).encode(os.urandom(min(size, 5000)) + bytes(max(0, size - 5000)))
        )
        assert _zarr_inflate._zstd_size(memoryview(frame)) == size
        assert _zarr_inflate._zstd_size(memoryview(frame + frame)) == 2 * size
    assert _zarr_inflate._zstd_size(memoryview(zstd_stream(1 << 20))) is None


@pytest.mark.parametrize("family", ["zarr", "index"])
def test_random_damage_is_loaded_or_refused(family):
    make = getattr(folder_cases, f"random_{family}")
    accepted = [make(random.Random(f"hostile {i}")).check() for i in range(150)]
    assert 5 < sum(accepted) < 145


# Saving


def test_a_folder_that_is_not_zarr_is_not_replaced(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/precious.txt").write_text("text")
    with pytest.raises(st.FormatError, match="it is not replaced"):
        st.save(st.ones(2), tmp_path / "data", format="zarr")
    assert (tmp_path / "data/precious.txt").read_text() == "text"


@pytest.mark.parametrize("key", ["", ".", "..", "a/b", "a\\b", "a\0b", "\ud800", "zarr.json", 3])
def test_names_that_are_no_names_of_files_are_refused(key, tmp_path):
    with pytest.raises(st.FormatError, match="is no name that zarr takes"):
        st.save({key: st.ones(2)}, tmp_path / "x.zarr")
    assert not list(tmp_path.iterdir())


def test_a_linked_folder_stays_a_link(tmp_path):
    st.save(st.ones(2), tmp_path / "real.zarr")
    (tmp_path / "x.zarr").symlink_to("real.zarr")
    st.save(st.zeros(3), tmp_path / "x.zarr")
    assert (tmp_path / "x.zarr").is_symlink() and st.load(tmp_path / "real.zarr").tolist() == [0, 0, 0]


@pytest.fixture(params=["exchange", "two renames"])
def replacing(request, monkeypatch):
    if request.param == "two renames":
        monkeypatch.setattr(_replace, "_exchange", lambda new, path: False)
    return request.param


def test_the_system_exchanges_folders(tmp_path):
    (tmp_path / "a/inside").mkdir(parents=True)
    (tmp_path / "b").write_text("text")
    if not sys.platform.startswith(("linux", "darwin")) or not _replace._exchange(
        str(tmp_path / "a"), str(tmp_path / "b")
    ):
        pytest.skip("this file system does not exchange names")
    assert (tmp_path / "a").read_text() == "text" and (tmp_path / "b/inside").is_dir()
    assert not _replace._exchange(str(tmp_path / "a"), str(tmp_path / "missing"))


def test_threads_that_save_to_one_path_leave_one_object(replacing, tmp_path):
    path = tmp_path / "x.zarr"
    st.save({"a": st.full((1000,), -1), "b": st.full((1000,), -1)}, path, fsync=False)
    errors, seen, is_over = [], set(), threading.Event()

    def write(number):
        try:
            for i in range(15):
                value = number * 100 + i
                st.save({"a": st.full((1000,), value), "b": st.full((1000,), value)}, path, fsync=False)
        except BaseException as error:
            errors.append(error)

    def read():
        while not is_over.is_set():
            try:
                loaded = st.load(path)
            except (st.FormatError, FileNotFoundError) as error:
                if replacing == "exchange" and "was replaced" not in str(error):
                    errors.append(error)
                continue
            seen.add(tuple(sorted({*loaded["a"].tolist(), *loaded["b"].tolist()})))

    writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    reader = threading.Thread(target=read)
    for thread in [*writers, reader]:
        thread.start()
    for thread in writers:
        thread.join()
    is_over.set()
    reader.join()
    assert not errors, errors
    assert all(len(values) == 1 for values in seen)
    loaded = st.load(path)
    assert len({*loaded["a"].tolist(), *loaded["b"].tolist()}) == 1
    assert os.listdir(tmp_path) == ["x.zarr"]


def test_temporary_names_are_unique_and_cannot_be_guessed(tmp_path):
    names = set()
    for _ in range(5):
        with _replace.NewFolder(str(tmp_path / "x.zarr")) as new:
            names.add(os.path.basename(new.temporary))
            assert _replace.is_temporary(os.path.basename(new.temporary))
    assert len(names) == 5 and not list(tmp_path.iterdir())


def test_what_a_killed_process_left_is_removed_by_the_next_save(tmp_path):
    left = tmp_path / f".x.zarr.{os.getpid()}-{'0' * 16}.tmp"
    left.mkdir()
    (left / "zarr.json").write_text("{")
    other = tmp_path / f".y.zarr.{os.getpid()}-{'0' * 16}.tmp"
    other.mkdir()
    st.save(st.zeros(2), tmp_path / "x.zarr")
    assert not left.exists()
    with _replace.NewFolder(str(tmp_path / "x.zarr")) as writing:
        st.save(st.ones(2), tmp_path / "x.zarr")
        assert os.path.isdir(writing.temporary)  # it is locked, and so not taken for a leftover
    assert sorted(item.name for item in tmp_path.iterdir()) == [other.name, "x.zarr"]


def test_an_unfinished_replacement_is_undone(tmp_path):
    """What two renames leave if the process ends between them."""
    path = tmp_path / "x.zarr"
    for finish in (
        lambda: st.load(path).tolist(),
        lambda: st.save(st.arange(3), path),
        lambda: st.files.open(path).load(),
    ):
        st.save(st.arange(2), path)
        old = tmp_path / f".x.zarr.77-{'a' * 16}.old"
        path.rename(old)
        finish()
        assert st.load(path).tolist() in ([0, 1], [0, 1, 2])
        assert os.listdir(tmp_path) == ["x.zarr"]
    with pytest.raises(FileNotFoundError):
        st.load(tmp_path / "y.zarr")


def test_a_failed_exchange_keeps_the_old_folder(tmp_path, monkeypatch):
    path = tmp_path / "x.zarr"
    st.save(st.arange(2), path)
    monkeypatch.setattr(_replace, "_exchange", lambda new, path: False)

    def refuse(new, path):
        raise PermissionError("no")

    monkeypatch.setattr(_replace, "_rename", refuse)
    with pytest.raises(PermissionError):
        st.save(st.arange(3), path)
    assert st.load(path).tolist() == [0, 1] and os.listdir(tmp_path) == ["x.zarr"]


def test_fsync_is_that_of_all_files_and_folders(tmp_path, monkeypatch):
    synced = set()
    real = os.fsync

    def fsync(handle):
        synced.add(os.fstat(handle).st_ino)
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    st.save({"g": {"a": st.arange(3)}}, tmp_path / "x.zarr", fsync=False)
    assert not synced
    st.save({"g": {"a": st.arange(3)}}, tmp_path / "x.zarr")
    everything = [tmp_path, tmp_path / "x.zarr", *(tmp_path / "x.zarr").rglob("*")]
    assert {item.stat().st_ino for item in everything} <= synced


def test_a_folder_that_is_replaced_while_it_is_read_is_read_again(tmp_path, monkeypatch):
    path = tmp_path / "x.zarr"
    st.save({"a": st.zeros(3), "b": st.zeros(3)}, path)
    real, calls = _zarr_chunks.chunks_of, []

    def chunks_of(array):
        calls.append(array)
        if len(calls) == 2:
            st.save({"a": st.ones(4), "b": st.ones(4)}, path)
        return real(array)

    monkeypatch.setattr(_zarr_chunks, "chunks_of", chunks_of)
    loaded = st.load(path)
    assert loaded["a"].tolist() == loaded["b"].tolist() == [1] * 4 and len(calls) == 4
    file = st.files.open(path)
    st.save(st.ones(2), path)
    with pytest.raises(st.FormatError, match="the folder was replaced while it was read"):
        file["a"].load()
    with pytest.raises(st.FormatError, match="the folder was replaced while it was read"):
        file.load()


# Index files of models in several files


def index_of(folder, weight_map, **more):
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": weight_map, **more}))
    return path


STRANGE = [
    "model.safetensors.index.json",
    "a\0b",
    "\ud800",
    "\udcff",
    "missing",
    "folder",
    "zarr",
    "pipe",
    None,
    ["a"],
    {},
]


@pytest.mark.parametrize("shard", STRANGE, ids=ascii)
def test_an_index_that_names_no_safetensors_file_is_a_format_error(shard, tmp_path):
    (tmp_path / "folder").mkdir()
    st.save({"a": st.ones(2)}, tmp_path / "zarr", format="zarr")
    os.mkfifo(tmp_path / "pipe")
    path = index_of(tmp_path, {"a": shard})
    for read in (st.load, st.files.open):
        with pytest.raises(st.FormatError):
            read(path)


@pytest.mark.parametrize(
    "text", [b"", b"\xff", b"[]", b"[" * 100_000, b'{"weight_map": []}', b'{"weight_map": {"a": 1}}']
)
def test_an_index_that_is_damaged_is_a_format_error(text, tmp_path):
    path = tmp_path / "model.safetensors.index.json"
    path.write_bytes(text)
    with pytest.raises(st.FormatError):
        st.load(path)


def test_an_index_honours_max_bytes(tmp_path):
    for name in "ab":
        st.save({name: st.ones(1000)}, tmp_path / f"{name}.safetensors")
    path = index_of(tmp_path, {"a": "a.safetensors", "b": "b.safetensors"}, metadata={"deep": [[[]]], "n": 2**70})
    assert sorted(st.load(path, max_bytes=8500)) == ["a", "b"]
    with pytest.raises(st.FormatError, match=r"needs 4000 bytes, and max_bytes leaves 3\d\d\d"):
        st.load(path, max_bytes=7999)
    assert st.files.open(path).metadata == {"deep": "[[[]]]", "n": str(2**70)}


def test_a_tensor_name_with_a_surrogate_is_a_format_error(tmp_path):
    st.save({"a": st.ones(100)}, tmp_path / "a.safetensors")
    with pytest.raises(st.FormatError) as caught:
        st.load(index_of(tmp_path, {"\ud800": "a.safetensors"}))
    print(caught.value, file=io.TextIOWrapper(io.BytesIO(), "utf-8"))  # the message can be printed
