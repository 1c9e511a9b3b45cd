"""`strided.lua` against results recorded from Torch7 and DeepMind Lab: every case, run as the original Lua code."""

import json
import math
import os
import re
from pathlib import Path

import pytest

import strided as st

pytest.importorskip("lupa")

from strided import dmlab
from strided.lua import Lua, LuaError

HERE = Path(__file__).parent
DATA = HERE / "data"
DESCRIBE = (HERE / "lua_describe.lua").read_text()

DEFECT_OF_EQUALITY = "the recorded program has a defect: equal tensors that are both not contiguous compare as unequal"
#: Cases that must not pass as recorded, and why.
TORCH_EXCEPTIONS: dict[int, str] = {}
LAB_EXCEPTIONS = {
    271: DEFECT_OF_EQUALITY,
}


def cases(name, exceptions):
    """The recorded cases; more of the same kind can be named by a variable of the environment."""
    found = json.loads((DATA / f"oracle_{name}.json").read_text())["cases"]
    found += json.loads((DATA / f"{name}_more.json").read_text())["cases"]
    for path in filter(None, os.environ.get(f"STRIDED_ORACLE_{name.upper()}", "").split(os.pathsep)):
        found += json.loads(Path(path).read_text())["cases"]
    marks = {key: pytest.mark.xfail(reason=reason, strict=True) for key, reason in exceptions.items()}
    return [
        pytest.param(case, id=f"{case['group']}-{case['id']}", marks=[marks[case["id"]]] if case["id"] in marks else [])
        for case in found
    ]


def masked(text):
    """A message without the position in a Lua program, the line of a C file, and addresses."""
    text = re.sub(r"^[\w.]+:\d+: ", "", text)
    text = re.sub(r" at [\w/.]+\.c:\d+", "", text)
    return re.sub(r"0x(?:ADDR|[0-9a-fA-F]+)", "0xADDR", text)


def close(found, wanted, path=""):
    """Whether a description has what the record has; the first difference as an error."""
    if isinstance(wanted, dict):
        for key, value in wanted.items():
            close(found.get(key), value, f"{path}.{key}")
    elif isinstance(wanted, list) and isinstance(found, list):
        assert len(found) == len(wanted), (path, found, wanted)
        for i, (x, y) in enumerate(zip(found, wanted, strict=True)):
            close(x, y, f"{path}[{i}]")
    elif isinstance(wanted, float) and isinstance(found, float | int):
        assert math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-15), (path, found, wanted)
    else:
        assert found == wanted, (path, found, wanted)


def check(description, wanted):
    """Compares one described value with the record, where the record knows the values."""
    wanted = dict(wanted)
    if wanted.pop("uninitialized", False) or wanted.get("values", 0) is None:
        for key in ("values", "storage", "printed"):
            wanted.pop(key, None)
    for key in ("sharesStorageWith", "isSameObjectAs", "platform_dependent"):
        wanted.pop(key, None)
    if wanted["kind"] == "list":
        assert len(description["items"]) == len(wanted["items"])
        for item, expected in zip(description["items"], wanted["items"], strict=True):
            check(item, expected)
    else:
        close(description, wanted)


# Torch7

#: Defines `restore_globals`, which removes the globals that a case has made. A case that has changed one of the others, or a
#: function of a library, is an error.
RESTORE = """
local before = {}
function restore_globals()
   for name in pairs(_G) do
      if before[_G][name] == nil then _G[name] = nil end
   end
   for library, fields in pairs(before) do
      for name, value in pairs(fields) do assert(rawequal(library[name], value), name) end
      for name in pairs(library) do assert(fields[name] ~= nil, name) end
   end
end
for _, library in ipairs{_G, torch, string, table, math, io, os} do
   before[library] = {}
   for name, value in pairs(library) do before[library][name] = value end
end
"""

#: Groups of cases that change what `restore_globals` does not see: the default type, and the classes that there are.
OWN_RUNTIME = ("class", "type")


def torch_runtime():
    lua = Lua()
    lua.execute("require 'torch'\n" + DESCRIBE + RESTORE)
    return lua


@pytest.fixture(scope="module")
def shared_runtime():
    return torch_runtime()


@pytest.fixture
def lua(case, shared_runtime):
    """A runtime without globals of other cases. Making one takes longer than most cases."""
    if case["group"] in OWN_RUNTIME:
        yield torch_runtime()
    else:
        yield shared_runtime
        shared_runtime.execute("restore_globals()")


@pytest.mark.parametrize("case", cases("torch7", TORCH_EXCEPTIONS))
def test_torch7_answers_as_recorded(lua, case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some cases write files
    lua.execute(case["setup"], name="setup")
    for name, wanted in case["inputs"].items():
        check(lua.execute(f"return describe_torch({name})"), wanted)
    if "error" in case:
        with pytest.raises(LuaError) as caught:
            lua.execute("evaluate(...)", case["expr"])
        assert masked(str(caught.value)) == masked(case["error"])
        return
    lua.execute("results = evaluate(...)", case["expr"])
    assert lua.execute("return results.n") == len(case["outputs"])
    for i, wanted in enumerate(case["outputs"], 1):
        check(lua.execute(f"return describe_torch(results[{i}])"), wanted)
        check_sharing(lua, i, wanted, case["inputs"])
    for name, wanted in case["changed_inputs"].items():
        check(lua.execute(f"return describe_torch({name})"), wanted)


def check_sharing(lua, i, wanted, inputs):
    """Which inputs have the same storage as a result, and which are the same object."""
    if "sharesStorageWith" not in wanted:
        return
    shares = [name for name in inputs if lua.execute(f"return shares(results[{i}], {name})")]
    assert sorted(shares) == sorted(wanted["sharesStorageWith"])
    same = [name for name in inputs if lua.execute(f"return results[{i}] == {name}")]
    assert sorted(same) == sorted(wanted["isSameObjectAs"])


# DeepMind Lab


@pytest.fixture
def bytes_file(tmp_path, monkeypatch):
    (tmp_path / "bytes.bin").write_bytes((DATA / "oracle_bytes.bin").read_bytes())
    monkeypatch.chdir(tmp_path)


def lab_runtime():
    lua = Lua()
    lender, handle = st.borrow(st.full((2, 2), 10.0, dtype=st.float64))
    lua["__borrow"] = lambda: dmlab.from_strided(lender)
    lua["__invalidate"] = handle.invalidate
    lua.execute("tensor = require 'dmlab.system.tensor'; sys_random = require 'dmlab.system.sys_random'\n" + DESCRIBE)
    return lua


@pytest.mark.parametrize("case", cases("dmlab", LAB_EXCEPTIONS))
def test_lab_answers_as_recorded(case, bytes_file):
    lua = lab_runtime()
    lua.execute(case["setup"], name="setup")
    if "error" in case:
        with pytest.raises(LuaError) as caught:
            lua.execute("evaluate(...)", case["expr"])
        assert masked(str(caught.value)) == masked(case["error"])
    else:
        lua.execute("results = evaluate(...)", case["expr"])
        assert lua.execute("return results.n") == case["n_outputs"]
        for i, wanted in enumerate(case["outputs"], 1):
            close(lua.execute(f"return describe_lab(results[{i}])"), wanted)
    for name, wanted in case.get("after", {}).items():
        close(lua.execute(f"return describe_lab({name})"), wanted)
