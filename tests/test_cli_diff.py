"""`strided diff` and `strided convert`."""

import os
import subprocess
import sys

import numpy as np
import pytest
from cli_runs import arrays, run, write_npz
from hypothesis import given
from hypothesis import strategies as hs

import strided as st
from strided.cli._commands.diff import compare
from strided.testing import ulp_distance


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# diff


def test_equal_files_have_exit_code_0():
    write_npz("a.npz")
    write_npz("b.npz")
    done = run("diff", "a.npz", "b.npz")
    assert (done.code, done.out) == (0, "8 tensors, no difference\n")
    assert run("diff", "a.npz", "b.npz", "--json").json == {
        "equal": True,
        "compared": 8,
        "values": 0,
        "not_compared": [],
        "differences": [],
    }


def test_differences_are_listed_and_have_exit_code_1():
    changed = arrays()["conv.weight"].copy()
    changed[0, 0, 0] = np.nextafter(changed[0, 0, 0], np.float32(9))
    write_npz("a.npz")
    write_npz(
        "b.npz",
        **{"conv.weight": changed},
        count=np.arange(10, dtype=np.int32),
        flags=np.ones((3, 1), bool),
        one=None,
        new=np.ones(2),
    )
    done = run("diff", "a.npz", "b.npz", "--json")
    assert done.code == 1
    found = {(fact["name"], fact["kind"]): fact for fact in done.json["differences"]}
    assert set(found) == {
        ("conv.weight", "values"),
        ("count", "dtype"),
        ("flags", "shape"),
        ("one", "missing"),
        ("new", "missing"),
    }
    weight = found["conv.weight", "values"]
    assert (weight["elements"], weight["of"], weight["ulp"]) == (1, 60, 1)
    assert found["one", "missing"]["text"] == "only in a.npz"
    assert found["new", "missing"]["text"] == "only in b.npz"
    shown = run("diff", "a.npz", "b.npz")
    assert shown.code == 1
    assert "shape 3 and 3x1" in shown.out
    assert "dtype int64 and int32" in shown.out


def test_differences_within_a_tolerance_are_none():
    np.save("a.npy", np.array([1.0, 2.0]))
    np.save("b.npy", np.array([1.0 + 1e-9, 2.0 + 4e-16]))
    for words, code in [
        ([], 1),
        (["--atol", "1e-8"], 0),
        (["--rtol", "1e-8"], 0),
        (["--rtol", "1e-12"], 1),
        (["--ulp", "1"], 1),
        (["--ulp", "10000000"], 0),
    ]:
        assert run("diff", "a.npy", "b.npy", *words).code == code
    assert run("diff", "a.npy", "b.npy", "--ulp", "-1").code == 2
    assert run("diff", "a.npy", "b.npy", "--atol", "nan").code == 2


def test_two_named_tensors_are_compared():
    write_npz("a.npz")
    np.savez("b.npz", other=arrays()["count"], count=np.zeros(10, int))
    assert run("diff", "a.npz:count", "b.npz:other").code == 0
    assert run("diff", "a.npz:count", "b.npz").code == 1
    assert run("diff", "a.npz:nothing", "b.npz").code == 2
    np.save("c.npy", arrays()["count"])
    assert run("diff", "a.npz:count", "c.npy:tensor").code == 0


def test_some_tensors_are_compared():
    write_npz("a.npz")
    write_npz("b.npz", count=np.zeros(10, int), new=np.ones(1))
    assert run("diff", "a.npz", "b.npz", "--select", "conv.*").out == "2 tensors, no difference\n"
    assert run("diff", "a.npz", "b.npz", "--select", "new").code == 1
    assert run("diff", "a.npz", "b.npz", "--select", "nope").code == 2


def test_nans_are_equal_and_differ_from_numbers():
    nan = float("nan")
    a, b = st.tensor([nan, nan, 1.0]), st.tensor([nan, 1.0, 1.0])
    assert compare(a, b) == {"elements": 1, "of": 3, "largest": float("inf"), "ulp": 0}
    assert compare(a, b, ulp=10**9)["elements"] == 1
    assert compare(st.tensor([complex(nan, 0)]), st.tensor([complex(0, nan)]))["elements"] == 0


@pytest.mark.parametrize(
    ("a", "b", "largest"),
    [
        (st.tensor([2**63 + 5], dtype=st.uint64), st.tensor([5], dtype=st.uint64), 2.0**63),
        (st.tensor([-5], dtype=st.int8), st.tensor([120], dtype=st.int8), 125),
        (st.tensor([250], dtype=st.uint8), st.tensor([-3], dtype=st.int16), 253),
        (st.tensor([True]), st.tensor([False]), 1),
        (st.tensor([3 + 4j]), st.tensor([0j]), 5),
        (st.tensor([1], dtype=st.int32), st.tensor([2.5]), 1.5),
    ],
)
def test_the_largest_difference_of_other_dtypes(a, b, largest):
    facts = compare(a, b)
    assert (facts["elements"], facts["largest"]) == (1, largest)
    assert "ulp" not in facts


def next_after(value, steps, dtype):
    for _ in range(abs(steps)):
        value = np.nextafter(value, dtype(np.inf if steps > 0 else -np.inf))
    return value


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@given(hs.data())
def test_ulp_distances_count_the_steps_between_numbers(dtype, data):
    bits = {np.float16: 16, np.float32: 32, np.float64: 64}[dtype]
    value = dtype(data.draw(hs.one_of(hs.floats(-5, 5, width=bits), hs.sampled_from([0.0, -0.0]))))
    steps = data.draw(hs.integers(-9, 9))
    moved = next_after(value, steps, dtype)
    distance = ulp_distance(st.tensor(np.array([value])), st.tensor(np.array([moved])))
    assert distance.tolist() == [abs(steps)]


def test_ulp_distances_between_the_ends_do_not_overflow():
    for dtype in (st.float16, st.bfloat16, st.float32, st.float64):
        a, b = (st.tensor([value], dtype=st.float64).to(dtype) for value in (float("inf"), -float("inf")))
        exponents = {st.float16: 5, st.bfloat16: 8, st.float32: 8, st.float64: 11}[dtype]
        infinite = ((1 << exponents) - 1) << (8 * dtype.itemsize - 1 - exponents)
        assert ulp_distance(a, b).tolist() == [2 * infinite], dtype


# convert


def same(path, expected):
    written = dict(np.load(path))
    assert list(written) == list(expected)
    for name, array in expected.items():
        assert written[name].dtype == array.dtype
        np.testing.assert_array_equal(written[name], array)


def test_convert_keeps_names_dtypes_and_values():
    write_npz("a.npz")
    done = run("convert", "a.npz", "b.npz")
    assert done.code == 0
    assert done.out.startswith("b.npz: 8 tensors of ")
    same("b.npz", arrays())
    assert run("diff", "a.npz", "b.npz").code == 0


def test_convert_of_some_tensors_to_another_dtype():
    write_npz("a.npz")
    assert run("convert", "a.npz", "b.npz", "--select", "conv.*", "--dtype", "float16").code == 0
    same("b.npz", {name: arrays()[name].astype(np.float16) for name in ("conv.weight", "conv.bias")})


def test_a_dtype_casts_tensors_of_its_kind():
    write_npz("a.npz")
    assert (
        run("convert", "a.npz", "b.npz", "--dtype", "float32", "--dtype", "int16", "--dtype", "float16:float64").code
        == 0
    )
    dtypes = {name: array.dtype.name for name, array in np.load("b.npz").items()}
    assert dtypes == {
        "conv.weight": "float32",
        "conv.bias": "float32",
        "half": "float32",  # the first cast made it one; the last one is for float16
        "count": "int16",
        "flags": "int16",
        "z": "complex128",
        "empty": "float32",
        "one": "float32",
    }


@pytest.mark.parametrize(
    "words",
    [["--dtype", "float99"], ["--dtype", "int8:"], ["--select", "nope"], ["--format", "xyz"]],
)
def test_bad_conversions_leave_no_file(words, folder):
    write_npz("a.npz")
    assert run("convert", "a.npz", "b.npz", *words).code == 2
    assert [path.name for path in folder.iterdir()] == ["a.npz"]


COUNT = 5  # tensors, which together are more than the limit
MEASURE = """
import resource, sys
from strided.cli import main

def data_bytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData"))

import strided.files, strided.cli._commands.convert
limit = data_bytes() + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
sys.exit(main(["convert", *sys.argv[2:]]))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the limit is one of Linux")
@pytest.mark.parametrize(
    ("source", "target", "words"),
    [
        ("a.npz", "b.safetensors", []),
        ("a.npz", "b.npz", ["--dtype", "float64"]),
        ("deflated.npz", "b.safetensors", []),
        ("deflated.npz", "b.npz", ["--dtype", "float16"]),
        ("a.safetensors", "b.t7", []),
        ("a.t7", "b.safetensors", ["--dtype", "bfloat16"]),
    ],
)
def test_convert_takes_no_more_memory_than_the_largest_tensor_and_64_megabytes(source, target, words):
    largest = 32 << 20
    tensors = {f"w{i}": np.full(largest // 4, i, np.float32) for i in range(COUNT)}
    if source.endswith(".npz"):
        (np.savez if source == "a.npz" else np.savez_compressed)(source, **tensors)
    else:
        st.save({name: st.from_numpy(array) for name, array in tensors.items()}, source, fsync=False)
    # The largest tensor is the one that is written if its dtype is wider.
    limit = largest * (2 if "float64" in words else 1) + (64 << 20)
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(limit), source, target, *words],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"STRIDED_NUM_THREADS": "1"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    extremes = {name: (x.min().item(), x.max().item()) for name, x in st.load(target).items()}
    assert extremes == {f"w{i}": (i, i) for i in range(COUNT)}
