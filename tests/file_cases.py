"""Random files, whole and damaged, for `tools/fuzz.py` and the tests.

A case is a file of one format, written from a random object or a damaged copy of it. Reading it must return the object, or
raise FormatError: any other exception, a crash, or much more memory than the file has bytes is a difference.
"""

import io
import struct
import zipfile
from functools import partial

import strided as st
from strided.files._formats import ROWS

#: A damaged file may declare no more than this for its tensors.
MAX_BYTES = 1 << 22
#: Numbers that lengths, sizes and offsets are replaced by.
EXTREMES = [
    0,
    1,
    2,
    7,
    255,
    256,
    65535,
    65536,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**53,
    2**62,
    2**63 - 1,
    2**63,
    2**64 - 1,
]

DTYPES = {
    "all": sorted({value for value in vars(st._strided).values() if isinstance(value, st.dtype)}, key=str),
    "numpy": sorted(
        {value for value in vars(st._strided).values() if isinstance(value, st.dtype)} - {st.bfloat16}, key=str
    ),
    "t7": [st.uint8, st.int8, st.int16, st.int32, st.int64, st.float16, st.float32, st.float64],
}


def random_tensor(r, dtypes, flips=True):
    shape = [r.randrange(0 if r.random() < 0.1 else 1, 5) for _ in range(r.randrange(1, 4))]
    x = (
        st.arange(max(1, st.zeros(shape).numel()), dtype=st.float64)[: st.zeros(shape).numel()]
        .to(r.choice(dtypes))
        .view(shape)
    )
    views = [lambda x: x, lambda x: x.transpose(0, -1), lambda x: x[::2], lambda x: x[1:]]
    return r.choice(views + ([lambda x: x.flip(0)] if flips else []))(x)


def random_object(r, leaf, depth=0):
    """Dicts and lists of leaves, some of which occur twice."""
    kind = r.randrange(6) if depth < 4 else 0
    if kind < 3:
        return leaf(r)
    items = [random_object(r, leaf, depth + 1) for _ in range(r.randrange(4))]
    if items and r.random() < 0.2:
        items.append(items[0])
    if kind == 3:
        return items
    return {r.choice(["weight", "bias", "ü", "a.b", ""]) + str(i): item for i, item in enumerate(items)}


def scalar(r):
    values = [None, True, False, 0, -1, 2**40, 0.5, float("inf"), "text", "é" * r.randrange(5), b"\xff\x00"]
    return r.choice(values)


def nested_leaf(dtypes):
    return lambda r: random_tensor(r, dtypes) if r.random() < 0.6 else scalar(r)


# Files


def saved(obj, format, **options):
    file = io.BytesIO()
    st.save(obj, file, format=format, **options)
    return file.getvalue()


def t7_file(r):
    options = {
        "encoding": r.choice(["binary", "ascii"]),
        "long_size": r.choice([4, 8]),
        "byte_order": r.choice(["little", "big"]),
    }
    return saved(random_object(r, nested_leaf(DTYPES["t7"])), "t7", **options)


def npy_file(r):
    return saved(random_tensor(r, DTYPES["numpy"]), "npy")


def npz_file(r):
    tensors = {f"x{i}": random_tensor(r, DTYPES["numpy"]) for i in range(r.randrange(4))}
    return saved(tensors, "npz", compress=r.random() < 0.5)


def safetensors_file(r):
    return saved(random_object(r, nested_leaf(DTYPES["all"])), "safetensors")


def pt_file(r):
    """A pickle of random instructions that mostly make sense, and two storages."""
    import test_files_pt as pt

    def leaf(r):
        if r.random() < 0.5:
            offset, size = r.randrange(4), r.randrange(4)
            class_name, count = r.choice([("FloatStorage", 12), ("LongStorage", 6)])
            if r.random() < 0.2:
                return pt.op_typed_tensor(r.choice(["uint16", "uint32", "uint64"]), r.choice("01"), 48, size)
            if r.random() < 0.2:
                return pt.op_lazy_tensor(class_name, count, size, r.randrange(3), neg=r.random() < 0.5, conj=True)
            return pt.op_tensor(pt.op_storage(class_name, r.choice("01"), count), offset, [size], [1])
        return r.choice(
            [b"N", b"\x88", pt.op_int(r.randrange(-5, 500)), pt.op_text("text"), b"G" + struct.pack(">d", 0.5)]
        )

    def body(obj):
        if isinstance(obj, list):
            return b"](" + b"".join(map(body, obj)) + b"e"
        if isinstance(obj, dict):
            return pt.op_dict(ordered=True, **{key: body(value) for key, value in obj.items()})
        return obj

    storages = {"0": bytes(48), "1": bytes(range(48))}
    compression = r.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    return pt.archive(body(random_object(r, leaf)), storages, compression=compression)


#: Format -> the function above that makes a random file of it.
FILES = {name.removesuffix("_file"): make for name, make in list(globals().items()) if name.endswith("_file")}


def is_written(format):
    if ROWS[format].write is not None:
        return True
    try:
        saved(st.ones(1), format)
    except st.FormatError as error:
        assert "read, not written" in str(error)
        return False
    return True


#: The formats that are not only read.
WRITTEN = [format for format in ROWS if is_written(format)]


# Damage


def flip_bits(r, data):
    for _ in range(r.randrange(1, 4)):
        data[r.randrange(len(data))] ^= 1 << r.randrange(8)


def truncate(r, data):
    del data[r.randrange(len(data)) :]


def replace_number(r, data):
    size = r.choice([1, 2, 4, 8])
    at = r.randrange(max(1, len(data) - size))
    number = r.choice(EXTREMES) & (2 ** (8 * size) - 1)
    data[at : at + size] = number.to_bytes(size, r.choice(["little", "big"]))


def replace_digits(r, data):
    """Another number where a text has one."""
    places = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
    if places:
        at = r.choice(places)
        data[at : at + r.randrange(1, 4)] = str(r.choice([-1, *EXTREMES])).encode()


def repeat_part(r, data):
    start = r.randrange(len(data))
    end = start + r.randrange(1, 64)
    at = r.randrange(len(data))
    data[at:at] = data[start:end] * r.randrange(1, 4)


def remove_part(r, data):
    start = r.randrange(len(data))
    del data[start : start + r.randrange(1, 16)]


def random_bytes(r, data):
    at = r.randrange(len(data))
    data[at : at + r.randrange(1, 9)] = r.randbytes(r.randrange(1, 9))


DAMAGE = [flip_bits, truncate, replace_number, replace_digits, repeat_part, remove_part, random_bytes]


class FileCase:
    def __init__(self, format, r):
        self.whole = FILES[format](r)
        data = bytearray(self.whole)
        self.label = "whole"
        if r.random() < 0.95:
            for _ in range(r.choice([1, 1, 1, 2, 5])):
                damage = r.choice(DAMAGE)
                if data:
                    damage(r, data)
            self.label = damage.__name__
        self.data = bytes(data)
        self.format = format

    def check(self):
        try:
            with st.files.open(io.BytesIO(self.data), format=self.format, max_bytes=MAX_BYTES) as file:
                list(file.outline())
                for entry in file.entries:
                    repr(entry)
                file.load()
            return True
        except st.FormatError as error:
            if self.data == self.whole:
                raise AssertionError(self.program(error)) from error
            assert str(error).startswith(("open: ", "load: ")) and error.reason, self.program(error)
            return False
        except Exception as error:
            raise AssertionError(self.program(error)) from error

    def program(self, error):
        name = f"format={self.format!r}, max_bytes={MAX_BYTES}"
        return (
            "import io\nimport strided as st\n\n"
            f"data = {self.data!r}\n"
            f"st.files.open(io.BytesIO(data), {name}).load()  # {type(error).__name__}: {error}\n"
        )


#: The families of `tools/fuzz.py`.
FAMILIES = {format: partial(FileCase, format) for format in FILES}
