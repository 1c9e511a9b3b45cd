"""`strided.dmlab` against results recorded from DeepMind Lab: every case of its tensors, translated from Lua to Python."""

import json
import math
import re
import shutil
from pathlib import Path

import pytest
from lua_to_python import RUNTIME, Dialect, evaluate, translate_block

import strided as st
from strided import dmlab as lab

DATA = Path(__file__).parent / "data"
CASES = json.loads((DATA / "oracle_dmlab.json").read_text())["cases"]
LAB = Dialect(modules={"tensor"})

FACT_OF_LUA = "a fact about Lua and not about the library: "
FLOAT_INDEX = "a float is no index in Python: TypeError; Lua truncates it"
DEFECT_OF_EQUALITY = "the recorded program has a defect: equal tensors that are both not contiguous compare as unequal"
#: Cases that must not pass as recorded, and why.
EXCEPTIONS = {
    1: FACT_OF_LUA + "the names of the table that require returns",
    2: FACT_OF_LUA + "type() and getmetatable() of an object",
    42: FACT_OF_LUA + "its numbers are doubles; a Python int is exact",
    111: FACT_OF_LUA + "it words the error of #z",
    112: FACT_OF_LUA + "a name that does not exist is nil",
    115: FACT_OF_LUA + "it words the error of an assignment to a field",
    152: FLOAT_INDEX,
    271: DEFECT_OF_EQUALITY,
}


def names():
    """The global names of a case."""
    lender, handle = st.borrow(st.full((2, 2), 10.0, dtype=st.float64))
    return {
        **RUNTIME,
        "tensor": lab,
        "sys_random": lab.random,
        "tostring": lambda x: x._tostring() if isinstance(x, lab.tensor.TensorBase) else str(x),
        "__borrow": lambda: lab.from_strided(lender),
        "__invalidate": handle.invalidate,
    }


def described(value):
    """A value in the words of the record."""
    if isinstance(value, lab.tensor.TensorBase):
        try:
            type_name = value.type()
        except lab.LabError as error:
            return {"kind": "invalid", "error": str(error)}
        return {
            "kind": "tensor",
            "type": type_name,
            "shape": value.shape(),
            "size": value.size(),
            "ownsStorage": value.ownsStorage(),
            "tostring": value.tostring(),
            "val": plain(value.val()),
        }
    if value is None:
        return {"kind": "nil"}
    kind = {bool: "boolean", str: "string", list: "table"}.get(type(value), "number")
    return {"kind": kind, "value": plain(value)}


def plain(value):
    """Numbers as JSON holds them: NaN and infinities are strings."""
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def masked(text):
    """An error without the position in a Lua program, and without addresses."""
    return re.sub(r"0x[0-9a-f]+", "0xADDR", re.sub(r"^\w+:\d+: ", "", text))


@pytest.fixture(autouse=True)
def folder_with_the_file(tmp_path, monkeypatch):
    shutil.copy(DATA / "oracle_bytes.bin", tmp_path / "bytes.bin")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("case", [case for case in CASES if case["id"] not in EXCEPTIONS], ids=lambda case: case["id"])
def test_a_recorded_case(case):
    program = names()
    exec(translate_block(case["setup"], LAB), program)
    if "error" in case:
        with pytest.raises(lab.LabError) as caught:
            evaluate(case["expr"], LAB, program)
        text, hint = masked(str(caught.value)), "; dims and indices start at 1"
        assert text.removesuffix(hint) == masked(case["error"])
    else:
        assert [described(value) for value in evaluate(case["expr"], LAB, program)] == case["outputs"]
    for name, expected in case.get("after", {}).items():
        assert described(program[name]) == expected, name


def test_exceptions_are_cases():
    assert set(EXCEPTIONS) <= {case["id"] for case in CASES}
    assert len(CASES) == 218


@pytest.mark.parametrize(("number", "text"), [(133, "0, 1"), (139, "1, 0"), (167, "0")])
def test_an_index_of_zero_has_a_hint(number, text):
    case = next(case for case in CASES if case["id"] == number)
    program = names()
    exec(translate_block(case["setup"], LAB), program)
    with pytest.raises(IndexError, match=re.escape(f"{text}; dims and indices start at 1")):
        evaluate(case["expr"], LAB, program)


def test_a_session_of_lua_gives_the_recorded_answer_of_the_exceptions_about_numbers():
    with lab.Session(lua=True).activate():
        z = lab.DoubleTensor(range=[12]).reshape([3, 4])
        assert z(1.5).val() == [1, 2, 3, 4]
        with pytest.raises(lab.LabError, match=r"received: 1, 0$"):
            z.select(1, 0)
