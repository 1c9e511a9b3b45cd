"""Random folders, whole and damaged, for `tools/fuzz.py` and the tests: zarr, and models in several safetensors files.

A case is a folder that the zarr package or `strided.save` wrote, or a damaged copy of it. Reading it must return what zarr
reads, or raise FormatError.
"""

import json
import os
import random
import shutil
import tempfile
import warnings
from functools import lru_cache
from pathlib import Path

import file_cases
import numpy as np
from file_cases import DAMAGE, EXTREMES, MAX_BYTES

import strided as st

DTYPES = ["?", "i1", "u1", "<i2", ">u2", "<i4", ">i4", "<u4", "<i8", ">u8", "<f2", "<f4", ">f4", "<f8", "<c8", ">c16"]

#: What values of JSON are replaced by.
VALUES = [
    *[None, True, False, -1, 0.5, 1e308, -1e-320, "", "0", "a\0b", "\ud800", "NaN", "-Infinity", "0x7fc00000"],
    *[
        "pickle",
        "msgpack2",
        "json2",
        "vlen-utf8",
        "numcodecs.pickle",
        "no such codec",
        "|O",
        "O",
        "object",
        "<U8",
        "<M8[ns]",
    ],
    *[
        "float32",
        "<f8",
        "bool",
        "C",
        "F",
        "/",
        ".",
        "start",
        "big",
        "zstd",
        "blosc",
        "lz4",
        "bz2",
        "lzma",
        "delta",
        "transpose",
    ],
    *[[], {}, [0], [-1], [2**40] * 3, [1] * 70, [[1]], {"id": "pickle"}, {"name": "bytes"}, {"name": "numcodecs.zlib"}],
    *[{"id": "zlib"}, {"id": "lzma", "format": 3}, {"id": "delta", "dtype": "|O"}, {"id": "shuffle", "elementsize": 0}],
    *EXTREMES,
]


def random_node(r, value):
    """A container inside a value of JSON, and one of its keys; None if it has none."""
    found = []
    pending = [value]
    while pending:
        inside = pending.pop()
        items = inside.items() if isinstance(inside, dict) else enumerate(inside) if isinstance(inside, list) else ()
        for key, item in items:
            found.append((inside, key))
            pending.append(item)
    return r.choice(found) if found else None


def damage_json(r, data):
    """Changes values, adds or removes some, or nests them deeply."""
    value = json.loads(data)
    for _ in range(r.choice([1, 1, 1, 2, 4])):
        place = random_node(r, value)
        if place is None:
            break
        inside, key = place
        kind = r.randrange(6)
        if kind == 0:
            del inside[key]
        elif kind == 1 and isinstance(inside, list):
            inside.append(inside[key])
        elif kind == 2:
            inside[key] = [inside[key]]
        elif kind == 3 and (other := random_node(r, value)):
            inside[key] = json.loads(json.dumps(other[0][other[1]]))
        else:
            inside[key] = json.loads(json.dumps(r.choice(VALUES)))
    text = json.dumps(value)
    if r.random() < 0.03:
        text = text.replace("null", "[" * 5000 + "]" * 5000, 1) if "null" in text else '{"attributes":' * 3000
    return text.encode()


def read_folder(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()
    }


def write_folder(folder, files, folders=()):
    for name, data in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for name in folders:
        Path(folder, name).mkdir(parents=True, exist_ok=True)


class FolderCase:
    """Files of a folder, and what to open there."""

    def __init__(self, r, files, opened):
        self.whole, self.opened = files, opened
        self.files, self.folders, self.label = dict(files), [], "whole"
        self.max_bytes = r.choice([None, None, MAX_BYTES])
        if r.random() < 0.95:
            self.damage(r)

    def damage(self, r):
        metadata = [name for name in self.files if name.endswith((".json", ".zarray", ".zgroup", ".zattrs"))]
        for _ in range(r.choice([1, 1, 1, 2, 4])):
            name = r.choice(sorted(self.files))
            kind = r.choice(
                ["json", "json", "json", "bytes", "bytes", "bytes", "metadata", "remove", "folder", "exchange"]
            )
            self.label = kind
            try:
                if kind == "json":
                    name = r.choice(metadata)
                    self.files[name] = damage_json(r, self.files[name])
                elif kind in ("bytes", "metadata"):
                    name = r.choice(metadata) if kind == "metadata" else name
                    data = bytearray(self.files[name])
                    if data:
                        r.choice(DAMAGE)(r, data)
                    self.files[name] = bytes(data)
                elif kind == "exchange":
                    self.files[name] = self.files[r.choice(sorted(self.files))]
                elif len(self.files) > 1:
                    del self.files[name]
                    self.folders += [name] if kind == "folder" else []
            except (ValueError, KeyError, IndexError, RecursionError):
                pass  # what an earlier turn damaged or removed

    def check(self):
        with tempfile.TemporaryDirectory() as folder:
            write_folder(folder, self.files, [name for name in self.folders if name not in self.files])
            path = os.path.join(folder, self.opened)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    with st.files.open(path, max_bytes=self.max_bytes) as file:
                        list(file.outline())
                        for entry in file.entries:
                            repr(entry)
                        assert all(isinstance(value, str) for value in file.metadata.values())
                        loaded = file.load()
                        nbytes = sum(x.nbytes for x in tensors_of(loaded))
                        assert self.max_bytes is None or nbytes <= self.max_bytes
                if self.files == self.whole and not self.folders:
                    self.compare(path, loaded)
                return True
            except st.FormatError as error:
                if self.files == self.whole and not self.folders:
                    raise AssertionError(self.program(error)) from error
                assert str(error).startswith(("open: ", "load: ")) and error.reason, self.program(error)
                return False
            except FileNotFoundError as error:
                if self.opened not in self.files and self.opened not in self.folders:
                    return False
                raise AssertionError(self.program(error)) from error
            except (Exception, MemoryError) as error:
                raise AssertionError(self.program(error)) from error

    def compare(self, path, loaded):
        pass

    def program(self, error):
        return (
            "import sys, tempfile\nsys.path.insert(0, 'tests')\nimport folder_cases\nimport strided as st\n\n"
            f"files = {self.files!r}\nfolder = tempfile.mkdtemp()\n"
            f"folder_cases.write_folder(folder, files, {self.folders!r})\n"
            f"st.files.open(folder + '/{self.opened}', max_bytes={self.max_bytes}).load()  # {type(error).__name__}: {error}\n"
        )


def tensors_of(loaded):
    if isinstance(loaded, dict):
        return [x for item in loaded.values() for x in tensors_of(item)]
    return [loaded]


# zarr


def options_2(r, dtype):
    import numcodecs as n

    compressors = [None, n.Zstd(3), n.GZip(1), n.Zlib(1), n.LZ4(), n.BZ2(1), n.LZMA(preset=1)]
    compressors += [n.Blosc(cname=r.choice(["blosclz", "lz4", "lz4hc", "zlib", "zstd"]), shuffle=r.randrange(3))]
    checks = [n.CRC32(), n.Adler32(), n.Fletcher32(), n.CRC32C(), n.Shuffle(dtype.itemsize), n.Shuffle(1)]
    filters = [[], [], [r.choice(checks)], [r.choice(checks), r.choice(checks)]]
    if dtype.kind in "iu":
        filters += [[n.Delta(dtype)], [n.Delta(dtype), r.choice(checks)], [n.AsType("<i8", dtype)]]
    if dtype.kind == "f":
        filters += [[n.FixedScaleOffset(offset=1, scale=8, dtype=dtype, astype="<i4")], [n.BitRound(3)]]
        filters += [[n.Quantize(2, dtype)], [n.AsType("<f8", dtype)]]
    if dtype.kind == "b":
        filters += [[n.PackBits()]]
    options = {"zarr_format": 2, "compressors": r.choice(compressors), "filters": r.choice(filters) or None}
    separator = {"name": "v2", "separator": r.choice(["/", "."])}
    return options | {"order": r.choice("CF"), "chunk_key_encoding": separator}


def options_3(r, dtype, ndim):
    from zarr import codecs as c
    from zarr.codecs import numcodecs as n

    compressors = [c.ZstdCodec(checksum=r.random() < 0.5), c.GzipCodec(level=1), c.Crc32cCodec(), n.LZ4(), n.BZ2()]
    compressors += [c.BloscCodec(cname=r.choice(["lz4", "zstd", "zlib"]), typesize=dtype.itemsize), n.Zlib(), n.LZMA()]
    compressors += [n.CRC32(), n.Adler32(), n.Fletcher32(), n.Shuffle(), n.Zstd()]
    chosen = [r.choice(compressors) for _ in range(r.choice([0, 1, 1, 1, 2, 3]))]
    filters = [[], [], [c.TransposeCodec(order=r.sample(range(ndim), ndim))]]
    if dtype.kind in "iu":
        filters += [[n.Delta(dtype=dtype.str)]]
    if dtype.kind == "f":
        filters += [[n.FixedScaleOffset(offset=1, scale=8, dtype=dtype.str, astype="<f8")], [n.BitRound(keepbits=3)]]
    options = {"compressors": chosen or None, "filters": r.choice(filters) or None}
    keys = {"name": "default", "separator": r.choice("/.")} if r.random() < 0.7 else {"name": "v2", "separator": "."}
    # zarr 3.1 reads filters of numcodecs wrongly if the bytes are big-endian.
    endian = "little" if options["filters"] else r.choice(["little", "big"])
    return options | {"chunk_key_encoding": keys, "serializer": c.BytesCodec(endian=endian)}


def random_array(r, store, name=None):
    import zarr

    version = r.choice([2, 3])
    dtype = np.dtype(r.choice(DTYPES))
    dtype = dtype if version == 2 else dtype.newbyteorder("=")
    shape = tuple(r.randrange(0 if r.random() < 0.1 else 1, 8) for _ in range(r.randrange(4)))
    chunks = tuple(r.randrange(1, 4) for _ in shape)
    options = options_2(r, dtype) if version == 2 else options_3(r, dtype, len(shape))
    if version == 3 and shape and r.random() < 0.3:
        options["shards"] = tuple(size * r.randrange(1, 4) for size in chunks)
    values = (np.arange(max(1, np.prod(shape))) % 100)[: int(np.prod(shape))].reshape(shape).astype(dtype)
    fill = r.choice([0, 1, np.nan if dtype.kind in "fc" else 1])
    array = zarr.create_array(store, name=name, shape=shape, dtype=dtype, chunks=chunks, fill_value=fill, **options)
    if shape and r.random() < 0.5:  # some chunks are missing
        count = r.randrange(shape[0] + 1)
        array[:count] = values[:count]
    else:
        array[...] = values


class ZarrCase(FolderCase):
    def compare(self, path, loaded):
        import zarr

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            root = zarr.open(path, mode="r", use_consolidated=False)
            arrays = {"": root} if isinstance(root, zarr.Array) else dict(root.members(max_depth=None))
            for name, array in arrays.items():
                if isinstance(array, zarr.Array):
                    x = loaded
                    for key in name.split("/") if name else ():
                        x = x[key]
                    assert np.array_equal(x.numpy(), np.asarray(array[...]), equal_nan=array.dtype.kind in "fc"), (
                        self.program(ValueError(name))
                    )


#: The folders that are damaged. zarr takes longer to write one than it takes to read it.
FOLDERS = 300


@lru_cache(FOLDERS)
def zarr_files(number):
    import zarr

    r = random.Random(f"folder {number}")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = os.path.join(folder, "x")
        if r.random() < 0.7:
            while True:
                try:
                    random_array(r, path)
                    np.asarray(zarr.open(path, mode="r")[...])
                    break
                except Exception:  # codecs that zarr does not combine
                    shutil.rmtree(path, ignore_errors=True)
        else:
            version = r.choice([2, 3])
            group = zarr.create_group(path, zarr_format=version, attributes={"a": [1, None], "b": {"c": "text"}})
            group.create_array("one", data=np.arange(6.0).reshape(2, 3))
            group.create_group("inside").create_array("two", data=np.arange(5, dtype="i2"))
            if r.random() < 0.3:
                zarr.consolidate_metadata(path)
        return read_folder(folder)


def random_zarr(r):
    return ZarrCase(r, zarr_files(r.randrange(FOLDERS)), "x")


# Models in several files


def random_index(r):
    files, names = {}, {}
    for i in range(r.randrange(1, 4)):
        shard = f"model-{i}.safetensors"
        tensors = {f"x{i}.{j}": file_cases.random_tensor(r, file_cases.DTYPES["all"]) for j in range(r.randrange(1, 4))}
        files[shard] = file_cases.saved({key: x.clone() for key, x in tensors.items()}, "safetensors")
        names |= dict.fromkeys(tensors, shard)
    index = {"metadata": {"total_size": 5, "format": None}, "weight_map": names}
    if r.random() < 0.3:
        strange = [
            "model.safetensors.index.json",
            "a\0b",
            "\ud800",
            "\udcff",
            "..",
            "/dev/zero",
            "x" * 300,
            "folder",
            "a/b",
        ]
        index["weight_map"]["x0.0"] = r.choice(strange)
        files["model.safetensors.index.json"] = json.dumps(index).encode()
        case = FolderCase(r, files, "model.safetensors.index.json")
        case.whole = {}
        case.folders.append("folder")
        return case
    files["model.safetensors.index.json"] = json.dumps(index).encode()
    return FolderCase(r, files, "model.safetensors.index.json")


#: The families of `tools/fuzz.py`.
FAMILIES = {"zarr": random_zarr, "index": random_index}
