"""DeepMind Lab's own tests of its tensors, unchanged: the Lua chunks of `deepmind/tensor/lua_tensor_test.cc`.

The sources are not part of this repository. `STRIDED_LAB_SOURCES` names a folder with a copy of Lab's repository, in which
the chunks are read; the tests are skipped without it:

    STRIDED_LAB_SOURCES=~/lab ./dev test tests/external/test_lab.py

The C++ around the chunks is in the table below: arguments, results, and what an error must say.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import strided as st

pytest.importorskip("lupa", reason="strided.lua needs lupa")

from strided.lua import Lua, LuaError  # after the check

FOLDER = os.environ.get("STRIDED_LAB_SOURCES")
CHUNK = re.compile(r'^constexpr char (\w+)\[\] = R"\((.*?)\)";', re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Expected:
    """What the C++ test passes to a chunk, and what it checks."""

    #: Whether the chunk takes the path of a folder with files of numbers.
    takes_path: bool = False
    #: What the message of an error must contain. Without an entry, the chunk must run.
    error: tuple[str, ...] = ()
    #: Checks the results: none unless given.
    check: Callable[..., Any] = lambda *results: results == ()


def increases(result):
    return result["DoubleTensor"].val() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


def share(x, y):
    return x.strided().storage() is y.strided().storage()


PATH = Expected(takes_path=True)
TABLE = {
    "kLuaTensorCreate": Expected(check=increases),
    "kInvalidLuaTensorRange": Expected(error=("Invalid Tensor range.",)),
    "kClone": Expected(check=lambda x, y: not share(x, y) and x == y),
    "kSum": Expected(check=lambda total: total == 10),
    "kProduct": Expected(check=lambda product: product == 24),
    "kLengthSquared": Expected(check=lambda squares: squares == 1 + 4 + 9 + 16),
    "kDotProduct": Expected(check=lambda dot: dot == -1 + 4 - 9 + 16),
    "kTranspose": Expected(check=share),
    "kSelect": Expected(check=share),
    "kNarrow": Expected(check=share),
    "kTestToString": Expected(check=lambda x, y: x.val() == list(b"123") and y.size() == 0),
    "kMMulOpLHSNonMatrix": Expected(error=("LHS is not a matrix",)),
    "kMMulOpRHSNonMatrix": Expected(error=("RHS is not a matrix",)),
    "kMMulOpIncompatibleDims": Expected(error=("Incorrect matrix dimensions",)),
    "kMMulOpIncompatibleType": Expected(error=("Must contain 1 RHS tensor of type deepmind.lab.tensor.FloatTensor",)),
    "kLoadWholeFile": PATH,
    "kLoadStartFile": PATH,
    "kLoadEndFile": PATH,
    "kLoadMiddleFile": PATH,
    "kBadFileName": Expected(takes_path=True, error=("bad_file.bin",)),
    "kBadNumElements": Expected(takes_path=True, error=("numElements", "65")),
    "kBadNumElementsOffset": Expected(takes_path=True, error=("numElements", "63")),
    "kBadNumElementsNegative": Expected(takes_path=True, error=("numElements",)),
    "kBadByteOffset": Expected(takes_path=True, error=("byteOffset",)),
    "kBadByteOffsetNegative": Expected(takes_path=True, error=("byteOffset",)),
    "kClampErrorMaxMin": Expected(error=("must not exceed",)),
    "kClampTypeMismatch": Expected(error=("TypeMismatch",)),
}
#: Chunks that must run, without arguments and results.
PLAIN = [
    *("kLuaTensorRange", "kValueOps", "kShape", "kReverse", "kApply", "kApplyIndexed", "kFill", "kFillTable", "kVal"),
    *("kScalarOp", "kScalarOpTable", "kComponentOp", "kConvertOp", "kRoundingOps", "kShuffle", "kReshape"),
    *("kValTableRead", "kValTableWrite", "kNumElements", "kClamp"),
]
TABLE |= {name: Expected() for name in PLAIN}
#: The chunk that returns functions, which take a borrowed tensor.
BORROWING = "kTestValid"


def read_chunks():
    """Name and text of each chunk."""
    path = Path(FOLDER).expanduser() / "deepmind/tensor/lua_tensor_test.cc"
    return dict(CHUNK.findall(path.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def chunks():
    if not FOLDER:
        pytest.skip("STRIDED_LAB_SOURCES names no folder with DeepMind Lab's sources")
    return read_chunks()


@pytest.fixture(params=["luajit", "5.1"])
def lua(request):
    return Lua(version=request.param, dialect="dmlab")


def run(lua, source, folder, *arguments):
    """The results of a chunk, which is run as a file, since only files have arguments."""
    path = folder / "chunk.lua"
    path.write_text(source, encoding="utf-8")
    results = lua.dofile(path, *arguments)
    return results if isinstance(results, tuple) else () if results is None else (results,)


@pytest.fixture
def numbers(tmp_path):
    """The path of files with the numbers from 0 to 63, as Lab's tests write it: with a slash at its end."""
    for name, dtype in (("bytes", "u1"), ("doubles", "f8"), ("int64s", "i8"), ("floats", "f4")):
        (tmp_path / f"{name}.bin").write_bytes(np.arange(64, dtype=dtype).tobytes())
    return f"{tmp_path}/"


@pytest.mark.parametrize("name", TABLE)
def test_a_chunk_of_labs_tests(name, chunks, lua, numbers, tmp_path):
    expected = TABLE[name]
    arguments = (numbers,) if expected.takes_path else ()
    if expected.error:
        with pytest.raises(LuaError) as caught:
            run(lua, chunks[name], tmp_path, *arguments)
        assert [text for text in expected.error if text not in str(caught.value)] == []
    else:
        assert expected.check(*run(lua, chunks[name], tmp_path, *arguments))


def test_a_borrowed_tensor_is_invalid_once_its_memory_is_taken_back(chunks, lua, tmp_path):
    (api,) = run(lua, chunks[BORROWING], tmp_path)
    tensor, handle = st.borrow(st.full((2, 2), 10, dtype=st.float64))
    assert api["readTensor"](tensor) is None
    handle.invalidate()
    assert api["testValid"]() is True
    with pytest.raises(LuaError, match="invalid"):
        api["testInvalid"]()


def test_the_table_has_every_chunk(chunks):
    assert set(chunks) == {*TABLE, BORROWING}
    assert len(chunks) == 48
    assert sum(expected.takes_path for expected in TABLE.values()) == 10
