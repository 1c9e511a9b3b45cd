"""PyTorch's .pt archives, written by hand: a pickle and storages in a zip archive."""

import collections
import io
import pickle
import struct
import zipfile

import numpy as np
import pytest

import strided as st


def op_text(text):
    data = text.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def op_int(value):
    return b"J" + struct.pack("<i", value)


def op_global(name):
    module, _, attribute = name.rpartition(".")
    return f"c{module}\n{attribute}\n".encode()


def op_storage(class_name, key, count):
    parts = op_text("storage") + op_global(f"torch.{class_name}") + op_text(key) + op_text("cpu") + op_int(count)
    return b"(" + parts + b"t" + b"Q"


def op_tuple(*items):
    return b"(" + b"".join(items) + b"t"


def op_tensor(storage, offset, size, stride):
    arguments = op_tuple(
        storage,
        op_int(offset),
        op_tuple(*map(op_int, size)),
        op_tuple(*map(op_int, stride)),
        b"\x89",
        op_global("collections.OrderedDict") + b")R",
    )
    return op_global("torch._utils._rebuild_tensor_v2") + arguments + b"R"


def op_typed_tensor(dtype, key, nbytes, size, *metadata):
    """A tensor of a dtype that has no class of storages."""
    bytes_ = op_tuple(
        op_text("storage"), op_global("torch.storage.UntypedStorage"), op_text(key), op_text("cpu"), op_int(nbytes)
    )
    arguments = op_tuple(
        bytes_ + b"Q",
        op_int(0),
        op_tuple(op_int(size)),
        op_tuple(op_int(1)),
        b"\x89",
        op_global("collections.OrderedDict") + b")R",
        op_global(f"torch.{dtype}"),
        *metadata,
    )
    return op_global("torch._utils._rebuild_tensor_v3") + arguments + b"R"


def op_lazy_tensor(class_name, count, size, stride, **bits):
    """A tensor whose numbers are computed when they are read: `x.conj()`."""
    arguments = op_tuple(
        op_storage(class_name, "0", count),
        op_int(0),
        op_tuple(op_int(size)),
        op_tuple(op_int(stride)),
        b"\x89",
        op_global("collections.OrderedDict") + b")R",
        op_dict(**{name: b"\x88" if bit else b"\x89" for name, bit in bits.items()}),
    )
    return op_global("torch._utils._rebuild_tensor_v2") + arguments + b"R"


def op_dict(ordered=False, **items):
    start = op_global("collections.OrderedDict") + b")R" if ordered else b"}"
    return start + b"(" + b"".join(op_text(key) + value for key, value in items.items()) + b"u"


def archive(
    body, storages=None, *, folder="archive", byteorder="little", protocol=2, compression=zipfile.ZIP_STORED, **more
):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as zipped:
        zipped.writestr(f"{folder}/data.pkl", b"\x80" + bytes([protocol]) + body + b".")
        if byteorder:
            zipped.writestr(f"{folder}/byteorder", byteorder)
        for key, data in (storages or {}).items():
            zipped.writestr(f"{folder}/data/{key}", data)
        zipped.writestr(f"{folder}/version", "3\n")
        for name, data in more.items():
            zipped.writestr(f"{folder}/{name}", data)
    return file.getvalue()


FLOATS = np.arange(6, dtype="<f4").tobytes()
FLOAT_STORAGE = op_storage("FloatStorage", "0", 6)


def load(data, **options):
    return st.load(io.BytesIO(data), **options)


@pytest.mark.parametrize(
    ("class_name", "dtype"),
    [
        ("Bool", st.bool), ("Byte", st.uint8), ("Char", st.int8), ("Short", st.int16), ("Int", st.int32), ("Long", st.int64),
        ("Half", st.float16), ("Float", st.float32), ("Double", st.float64),
        ("ComplexFloat", st.complex64), ("ComplexDouble", st.complex128),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("byteorder", ["little", "big", None])
def test_every_storage_class_is_read(class_name, dtype, byteorder):
    array = np.array([1, 0, 1]).astype(dtype.name)
    data = array.astype(array.dtype.newbyteorder(">")).tobytes() if byteorder == "big" else array.tobytes()
    body = op_tensor(op_storage(f"{class_name}Storage", "0", 3), 0, [3], [1])
    x = load(archive(body, {"0": data}, byteorder=byteorder))
    assert x.dtype is dtype and np.array_equal(x.numpy(), array)


def test_a_state_dict_keeps_names_strides_and_sharing():
    body = op_dict(
        ordered=True,
        **{
            "layer.weight": op_tensor(FLOAT_STORAGE, 0, [3, 2], [1, 3]),
            "layer.bias": op_tensor(FLOAT_STORAGE, 2, [2], [1]),
        },
    )
    opened = st.files.open(io.BytesIO(archive(body, {"0": FLOATS})))
    assert (opened.format, opened.names) == ("pt", ["layer.weight", "layer.bias"])
    assert opened["layer.weight"].stride == (1, 3)
    loaded = opened.load()
    loaded["layer.bias"][0] = 50
    assert loaded["layer.weight"].tolist() == [[0, 3], [1, 4], [50, 5]]


def test_containers_numbers_and_strings_are_read():
    # Protocols 2 and 5 of Python's own pickler.
    obj = {"a": [1, 2.5, None, True, (1, 2, 3, 4)], "b": "text", "c": 2**70, "d": (), "e": {}, "f": -3, "g": 1 + 2j}
    for protocol in (2, 3, 4, 5):
        pickled = pickle.dumps(obj, protocol)
        data = archive(pickled[2:-1], protocol=protocol)
        assert load(data) == obj


def test_bytes_sets_and_shared_objects_are_read():
    shared = [1]
    obj = [shared, shared, b"\xff\x00", {3}]
    for protocol in (2, 4):
        loaded = load(archive(pickle.dumps(obj, protocol)[2:-1], protocol=protocol))
        assert loaded == [[1], [1], b"\xff\x00", [3]] and loaded[0] is loaded[1]


def test_parameters_sizes_dtypes_and_devices_are_read():
    tensor = op_tensor(FLOAT_STORAGE, 0, [6], [1])
    parameter = op_global("torch._utils._rebuild_parameter") + op_tuple(tensor, b"\x88", b"}") + b"R"
    size = op_global("torch.Size") + op_tuple(op_tuple(op_int(2), op_int(3))) + b"R"
    device = op_global("torch.device") + op_tuple(op_text("cuda:0")) + b"R"
    body = op_dict(p=parameter, size=size, dtype=op_global("torch.float16"), device=device)
    loaded = load(archive(body, {"0": FLOATS}), map_location="cpu")
    assert loaded["p"].tolist() == [0, 1, 2, 3, 4, 5]
    assert (loaded["size"], loaded["dtype"], loaded["device"]) == ((2, 3), "torch.float16", "cuda:0")


@pytest.mark.parametrize("byteorder", ["little", "big"])
@pytest.mark.parametrize("name", ["uint16", "uint32", "uint64"])
def test_dtypes_without_a_storage_class_are_read(name, byteorder):
    array = np.array([1, 2, 2**16 - 1], name)
    data = array.astype(array.dtype.newbyteorder(">" if byteorder == "big" else "<")).tobytes()
    x = load(archive(op_typed_tensor(name, "0", len(data), 3), {"0": data}, byteorder=byteorder))
    assert x.dtype.name == name
    assert np.array_equal(x.numpy(), array)


def test_dtypes_that_strided_lacks_are_listed_with_their_size():
    opened = st.files.open(io.BytesIO(archive(op_typed_tensor("float8_e5m2", "0", 6, 6), {"0": bytes(6)})))
    assert (opened["tensor"].dtype, opened["tensor"].dtype_name, opened["tensor"].nbytes) == (None, "float8_e5m2", 6)
    with pytest.raises(st.FormatError, match="float8_e5m2, which strided does not have"):
        opened.load()


def test_conjugated_and_negated_tensors_have_their_numbers():
    z = np.array([1 + 2j, 3 - 4j, 5j], "<c8")
    for bits, expected in (({"conj": True}, z.conj()), ({"neg": True}, -z), ({"conj": True, "neg": True}, -z.conj())):
        x = load(archive(op_lazy_tensor("ComplexFloatStorage", 3, 3, 1, **bits), {"0": z.tobytes()}))
        assert x.tolist() == expected.tolist()
    plain = load(archive(op_lazy_tensor("ComplexFloatStorage", 3, 3, 1, conj=False), {"0": z.tobytes()}))
    assert plain.tolist() == z.tolist()


def test_a_tensor_with_attributes_is_a_tensor():
    arguments = op_tensor(FLOAT_STORAGE, 0, [6], [1])[len(op_global("torch._utils._rebuild_tensor_v2")) : -1]
    parts = op_tuple(
        op_global("torch._utils._rebuild_tensor_v2"), op_global("torch.Tensor"), arguments, op_dict(a=b"N")
    )
    body = op_global("torch._tensor._rebuild_from_type_v2") + parts + b"R"
    assert load(archive(body, {"0": FLOATS})).tolist() == [0, 1, 2, 3, 4, 5]


def test_counters_and_default_dicts_are_dicts():
    obj = {"counter": collections.Counter("aab"), "default": collections.defaultdict(list, a=[1])}
    for protocol in (2, 4):
        loaded = load(archive(pickle.dumps(obj, protocol)[2:-1], protocol=protocol))
        assert loaded == obj
        assert type(loaded["default"]) is dict


def test_the_state_of_a_dict_is_ignored():
    body = op_dict(ordered=True, a=op_int(1)) + op_dict(_metadata=op_int(2)) + b"b"
    assert load(archive(body)) == {"a": 1}


def test_deflated_archives_are_read():
    body = op_tensor(FLOAT_STORAGE, 0, [6], [1])
    x = load(archive(body, {"0": FLOATS}, compression=zipfile.ZIP_DEFLATED))
    assert x.tolist() == [0, 1, 2, 3, 4, 5]


def test_a_storage_that_is_aligned_is_mapped(tmp_path):
    path = tmp_path / "x.pt"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as zipped:
        zipped.writestr("archive/data.pkl", b"\x80\x02" + op_tensor(FLOAT_STORAGE, 0, [6], [1]) + b".")
        info = zipfile.ZipInfo("archive/data/0")
        end = file.tell() + 30 + len(info.filename) + 4
        info.extra = b"FB" + struct.pack("<H", -end % 64) + bytes(-end % 64)
        zipped.writestr(info, FLOATS)
    path.write_bytes(file.getvalue())
    with st.files.open(path, mmap="r") as opened:
        assert opened["tensor"].mappable and opened["tensor"].position % 64 == 0
        x = opened.load()
    assert x.storage().filename == str(path) and x.tolist() == [0, 1, 2, 3, 4, 5]


# Hostile pickles


class Evil:
    def __reduce__(self):
        return eval, ("open('/tmp/strided-was-here', 'w')",)


def test_a_pickle_that_calls_functions_runs_nothing():
    for protocol in (2, 4):
        data = archive(pickle.dumps([Evil()], protocol)[2:-1], protocol=protocol)
        with pytest.raises(st.FormatError, match=r"uses (builtins|__builtin__)\.eval.*no code runs"):
            load(data)


@pytest.mark.parametrize("name", ["os.system", "torch.nn.modules.linear.Linear", "builtins.getattr", "torch.load"])
def test_any_other_name_is_refused(name):
    with pytest.raises(st.FormatError, match=f"uses {name}"):
        load(archive(op_global(name) + op_tuple(op_text("x")) + b"R"))


LIES = {
    "a tensor outside its storage": (op_tensor(FLOAT_STORAGE, 4, [3], [1]), "reaches elements 4 to 6"),
    "a negative offset": (op_tensor(FLOAT_STORAGE, -1, [3], [1]), "reaches elements -1 to 1"),
    "a negative offset of no elements": (op_tensor(FLOAT_STORAGE, -1, [0], [1]), "negative offset -1"),
    "extents that overflow": (op_tensor(FLOAT_STORAGE, 0, [2**31 - 1] * 4, [2**31 - 1] * 4), "address space"),
    "a storage that is longer than its member": (
        op_tensor(op_storage("FloatStorage", "0", 7), 0, [1], [1]),
        "24 bytes",
    ),
    "a storage that does not exist": (op_tensor(op_storage("FloatStorage", "9", 1), 0, [1], [1]), "no member"),
    "a path out of the archive": (op_tensor(op_storage("FloatStorage", "../0", 1), 0, [1], [1]), "no member"),
    "a negative length": (op_tensor(op_storage("FloatStorage", "0", -1), 0, [1], [1]), "has -1 elements"),
    "a reference to nothing": (b"h\x05", "remembered no value 5"),
    "an empty stack": (b"0a", "not made"),
    "no mark": (b"t", "no mark"),
    "a list of a class": (b"]" + op_global("torch.Size") + b"a", "class or function"),
    "a tensor of numbers": (
        op_global("torch._utils._rebuild_tensor_v2") + op_tuple(op_int(1)) + b"R",
        "wrong arguments",
    ),
    "a key without a value": (b"}(" + op_int(1) + b"u", "key without a value"),
    "an extension": (b"\x82\x01", "0x82"),
    "an unfinished string": (b"X\xff\xff\xff\x7f", "needs 2147483647 bytes"),
    "a dtype that is none": (
        op_typed_tensor("uint16", "0", 24, 3).replace(op_global("torch.uint16"), op_text("torch.frob")),
        "wrong arguments",
    ),
    "a dtype beyond its bytes": (op_typed_tensor("uint16", "0", 24, 13), "reaches elements 0 to 12 of 12 uint16"),
    "a conjugate of a repeated element": (
        op_lazy_tensor("FloatStorage", 6, 2**31 - 1, 0, neg=True),
        "repeats its elements",
    ),
    "metadata that is not known": (op_lazy_tensor("FloatStorage", 6, 6, 1, frob=True), "metadata that is not known"),
    "a tensor of another class": (
        op_global("torch._tensor._rebuild_from_type_v2") + op_tuple(b"N", b"N", b"N", b"N") + b"R",
        "do not fit RebuildFromType",
    ),
    "an object of another class": (op_int(1) + b"}b}R", "calls what is no function"),
}


@pytest.mark.parametrize(("body", "message"), LIES.values(), ids=LIES)
def test_a_pickle_that_lies_is_refused(body, message):
    with pytest.raises(st.FormatError, match=message):
        load(archive(body, {"0": FLOATS}))


def test_long_arguments_cannot_be_copied_again_and_again():
    items = b"(" + b"N" * 1000 + b"l" + b"q\x00"
    calls = (op_global("builtins.set") + b"h\x00\x85R") * 1000
    with pytest.raises(st.FormatError, match="again and again"):
        load(archive(items + calls))


def test_deep_nesting_is_no_problem():
    loaded = load(archive(b"]" * 100_000 + b"a" * 99_999))
    depth = 0
    while loaded:
        loaded = loaded[0]
        depth += 1
    assert depth == 99_999


@pytest.mark.parametrize("start", [b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", bytes(257) + b"ustar" + bytes(300)])
def test_older_formats_are_refused_by_name(start):
    with pytest.raises(st.FormatError, match=r"before version 1\.6"):
        load(start)


def test_torchscript_is_refused_by_name():
    with pytest.raises(st.FormatError, match="TorchScript"):
        load(archive(b"N", **{"constants.pkl": b""}))


def test_a_dtype_that_strided_lacks_is_listed():
    opened = st.files.open(
        io.BytesIO(archive(op_tensor(op_storage("QInt8Storage", "0", 6), 0, [6], [1]), {"0": bytes(6)}))
    )
    assert opened["tensor"].dtype is None and opened["tensor"].dtype_name == "qint8"
    with pytest.raises(st.FormatError, match="qint8"):
        opened.load()
