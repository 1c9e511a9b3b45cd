"""`strided.torch7` against results recorded from Torch7: every case, translated from Lua to Python mechanically.

`tests/data/oracle_torch7.json` holds programs and what the original did: values, sizes, strides, offsets, which tensors
share a storage, printed text, error messages. Its field `how_to_read` explains a case.
"""

import json
import math
import re
from pathlib import Path

import pytest
from lua_to_python import RUNTIME, Dialect, evaluate, translate_block

from strided import torch7

RECORDED = json.loads((Path(__file__).parent / "data/oracle_torch7.json").read_text())
CASES = {case["id"]: case for case in RECORDED["cases"]}

FLOAT_SIZE = "a float is no size in Python: TypeError; Lua truncates it"
#: Case -> why it does not hold in Python.
EXCEPTIONS = {
    39: FLOAT_SIZE,
    62: "Lua words the error about a method that does not exist",
    109: "Lua answers nil for a name that does not exist; Python raises AttributeError",
}


TORCH = Dialect(modules={"torch"})


def names():
    """The global names of a case."""
    return {
        **RUNTIME,
        "torch": torch7,
        "length": lambda value: value.size() if torch7.isTensor(value) else len(value),
        "tostring": lambda value: f"{value}\n",
    }


def plain(number):
    """A number as the recording writes it."""
    if isinstance(number, float) and not math.isfinite(number):
        return "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"
    return number


def flat(table):
    return [value for item in table for value in flat(item)] if isinstance(table, list) else [plain(table)]


def describe(value, variables):
    """What a recording says about a value."""
    if torch7.isTensor(value):
        storage = value.storage()
        return {
            "kind": "tensor",
            "type": value.type(),
            "dim": value.dim(),
            "size": value.size().totable(),
            "stride": value.stride().totable(),
            "storageOffset": value.storageOffset(),
            "storageSize": None if storage is None else storage.size(),
            "storage": None if storage is None else flat(storage.totable()),
            "nElement": value.nElement(),
            "isContiguous": value.isContiguous(),
            "values": flat(value.totable()),
            "printed": f"{value}\n",
            "isSameObjectAs": sorted(name for name, other in variables.items() if other is value),
            "sharesStorageWith": sorted(name for name, other in variables.items() if shares(storage, other)),
        }
    if torch7.isStorage(value):
        values = flat(value.totable())
        return {
            "kind": "storage",
            "type": value.type(),
            "size": value.size(),
            "values": values,
            "printed": f"{value}\n",
        }
    if isinstance(value, list):
        return {"kind": "list", "items": [describe(item, variables) for item in value]}
    if value is None:
        return {"kind": "nil"}
    kinds = {bool: "boolean", int: "number", float: "number", str: "string"}
    return {"kind": kinds.get(type(value), "function"), "value": plain(value)}


def shares(storage, other):
    if torch7.isTensor(other):
        other = other.storage()
    return storage is not None and torch7.isStorage(other) and storage == other


def check(found, recorded):
    """Compares all that was recorded: the description may say more."""
    if recorded["kind"] == "list":
        assert found["kind"] == "list" and len(found["items"]) == len(recorded["items"])
        for item, expected in zip(found["items"], recorded["items"], strict=True):
            check(item, expected)
        return
    unknown = {"uninitialized"} | ({"values", "storage", "printed"} if recorded.get("values") is None else set())
    expected = {key: value for key, value in recorded.items() if key not in unknown}
    assert {key: found.get(key) for key in expected} == expected


def message(text):
    """An error message without the places in the sources of the original."""
    text = re.sub(r" at [\w./]+\.c:\d+", "", text)
    return re.sub(r"^[\w.]+:\d+: ", "", text)


@pytest.mark.parametrize("number", CASES)
def test_torch7_answers_as_recorded(number):
    if number in EXCEPTIONS:
        pytest.skip(EXCEPTIONS[number])
    case = CASES[number]
    program = names()
    known = {*program, "__builtins__"}
    exec(translate_block(case["setup"], TORCH), program)

    def variables():
        return {name: value for name, value in program.items() if name not in known and not name.startswith("_")}

    before = {name: describe(value, {}) for name, value in variables().items()}
    for name, recorded in case["inputs"].items():
        check(before[name], recorded)
    if "error" in case:
        with pytest.raises(torch7.TorchError) as raised:
            evaluate(case["expr"], TORCH, program)
        # A hint for Python programmers may follow.
        found, expected = str(raised.value), message(case["error"])
        assert found == expected or found.startswith(f"{expected}; ")
        return
    results = evaluate(case["expr"], TORCH, program)
    inputs = {name: value for name, value in variables().items() if name in case["inputs"]}
    found = [describe(value, inputs) for value in results]
    if not case["outputs"]:
        assert results == [None]
    else:
        assert len(found) == len(case["outputs"])
        for value, recorded in zip(found, case["outputs"], strict=True):
            check(value, recorded)
    after = {name: describe(value, {}) for name, value in inputs.items()}
    for name in case["inputs"]:
        if name in case["changed_inputs"]:
            check(after[name], case["changed_inputs"][name])
        elif case["inputs"][name].get("values", ()) is not None:
            assert after[name] == before[name]


PRINTED = [
    pytest.param(case, id=str(case["id"]))
    for case in json.loads((Path(__file__).parent / "data/torch7_more.json").read_text())["cases"]
    if case["group"] == "print" and case["expr"] == "tostring(x)"
]


@pytest.mark.parametrize("case", PRINTED)
def test_torch7_prints_as_recorded(case):
    program = names()
    exec(translate_block(case["setup"], TORCH), program)
    assert [str(value) for value in evaluate(case["expr"], TORCH, program)] == [case["outputs"][0]["value"]]


def test_every_exception_is_a_recorded_case():
    assert set(EXCEPTIONS) <= set(CASES)
    assert len(CASES) == RECORDED["count"] == 277
