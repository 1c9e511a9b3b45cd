"""Damaged files of every format: FormatError, with the file, the position and the reason; nothing else."""

import io
import random
import re
import struct
import subprocess
import sys

import file_cases
import numpy as np
import pytest

import strided as st

#: Files by their formats, and what tells those of one format from each other.
SMALL = {
    "t7": file_cases.saved({"x": st.arange(3.0), "y": [1, "two", True]}, "t7"),
    "t7 in ascii": file_cases.saved({"x": st.arange(3.0), "y": [1, "two", True]}, "t7", encoding="ascii"),
    "npy": file_cases.saved(st.arange(3.0), "npy"),
    "npz": file_cases.saved({"a": st.arange(3.0), "b": st.ones(2)}, "npz"),
    "npz, deflated": file_cases.saved({"a": st.arange(3.0), "b": st.ones(2)}, "npz", compress=True),
    "safetensors": file_cases.saved({"x": st.arange(3.0), "y": [1, "two", st.ones(4)[::2]]}, "safetensors"),
    "pt": file_cases.pt_file(random.Random(5)),
}


def format_of(name):
    return re.match(r"\w+", name)[0]


def test_every_format_has_a_small_file():
    assert {format_of(name) for name in SMALL} == file_cases.FILES.keys()


@pytest.mark.parametrize("name", SMALL)
def test_a_file_that_ends_early_is_refused_at_every_byte(name):
    data, format = SMALL[name], format_of(name)
    st.load(io.BytesIO(data))
    for length in range(len(data)):
        if name == "t7 in ascii" and data[length:].strip() == b"":
            continue  # only the last newline is missing
        with pytest.raises(st.FormatError) as caught:
            st.load(io.BytesIO(data[:length]), format=format)
        assert caught.value.reason and (caught.value.offset is None or 0 <= caught.value.offset <= len(data))


@pytest.mark.parametrize("name", SMALL)
def test_a_changed_byte_does_not_crash(name):
    data, format = SMALL[name], format_of(name)
    for at in range(len(data)):
        for value in (0, 0xFF, data[at] ^ 1, data[at] ^ 0x80):
            changed = data[:at] + bytes([value]) + data[at + 1 :]
            try:
                st.load(io.BytesIO(changed), format=format, max_bytes=1 << 20)
            except st.FormatError as error:
                assert error.reason


@pytest.mark.parametrize("name", file_cases.FAMILIES)
def test_random_damage_is_loaded_or_refused(name):
    accepted = [file_cases.FAMILIES[name](random.Random(f"hostile {i}")).check() for i in range(400)]
    assert 5 < sum(accepted) < 395


def integer(value):
    return struct.pack("<i", value)


WRONG_FIELDS = {
    "a string of 2 GB": integer(2) + integer(2**31 - 1) + b"x",
    "a string of a negative length": integer(2) + integer(-5),
    "a table of 2^31 items": integer(3) + integer(1) + integer(2**31 - 1) + bytes(64),
    "a storage of 2^62 elements": integer(4)
    + integer(1)
    + integer(3)
    + b"V 1"
    + integer(19)
    + b"torch.DoubleStorage"
    + struct.pack("<q", 2**62),
    "a storage of a negative size": integer(4)
    + integer(1)
    + integer(3)
    + b"V 1"
    + integer(19)
    + b"torch.DoubleStorage"
    + struct.pack("<q", -1),
    "a tensor of 10^9 dims": integer(4)
    + integer(1)
    + integer(3)
    + b"V 1"
    + integer(18)
    + b"torch.DoubleTensor"
    + integer(10**9),
    "an unknown kind": integer(99),
    "an object without a number": integer(3) + integer(0),
    "the old format of functions": integer(6) + integer(100),
}


@pytest.mark.parametrize("data", WRONG_FIELDS.values(), ids=WRONG_FIELDS)
def test_a_t7_file_with_a_wrong_field_is_refused(data):
    with pytest.raises(st.FormatError, match=r"load: byte \d+: "):
        st.load(io.BytesIO(data), format="t7", long_size=8, byte_order="little")


def test_a_t7_tensor_outside_its_storage_is_refused():
    good = file_cases.saved(st.arange(4.0), "t7")
    at = good.index(struct.pack("<q", 4))
    bad = good[:at] + struct.pack("<q", 5) + good[at + 8 :]
    with pytest.raises(st.FormatError, match="a tensor of shape 5 reaches elements 0 to 4 of 4 float32"):
        st.load(io.BytesIO(bad))


def test_deep_tables_are_no_problem():
    depth = 200_000
    data = b"".join(integer(3) + integer(i + 1) + integer(1) + integer(1) + struct.pack("<d", 1) for i in range(depth))
    loaded = st.load(io.BytesIO(data + integer(0)))
    count = 0
    while isinstance(loaded, list):
        loaded, count = loaded[0], count + 1
    assert count == depth
    empty = (
        integer(4)
        + integer(depth + 1)
        + integer(17)
        + b"torch.FloatTensor"
        + integer(0)
        + struct.pack("<q", 1)
        + integer(0)
    )
    opened = st.files.open(io.BytesIO(data + empty))
    assert len(opened.names[0]) < 100 and sum(1 for _ in opened.outline()) == depth + 1


def test_declared_lengths_allocate_nothing():
    """The memory of a process stays small whatever a file says."""
    code = """
import io, resource, struct
import strided as st
def integer(value): return struct.pack("<i", value)
cases = [
    integer(2) + integer(2**31 - 1) + b"x" * 100,
    integer(4) + integer(1) + integer(3) + b"V 1" + integer(17) + b"torch.ByteStorage" + struct.pack("<q", 2**40),
    struct.pack("<Q", 90_000_000) + b"{",
    b"\\x93NUMPY\\x02\\x00" + struct.pack("<I", 1_000_000) + b"{",
    b"\\x93NUMPY\\x01\\x00v\\x00{'descr': '|u1', 'fortran_order': False, 'shape': (1099511627776,), }" + b" " * 50 + b"\\n",
]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for data in cases:
    for format in ("t7", "safetensors", "npy", None):
        try:
            st.load(io.BytesIO(data), format=format)
        except st.FormatError:
            pass
        else:
            raise AssertionError(data[:50])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 30_000  # KB


def test_a_file_that_shrinks_while_it_is_read_is_an_error(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.zeros(1_000_000))
    with st.files.open(path) as file:
        with open(path, "r+b") as handle:
            handle.truncate(1000)
        with pytest.raises(st.FormatError, match="byte 1000: the file has become shorter while it was read"):
            file.load()
