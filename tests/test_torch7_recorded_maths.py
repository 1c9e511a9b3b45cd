"""`strided.torch7` against recorded results of Torch7's maths and random functions.

`tests/data/torch7_maths.json` holds calls of every function, for several types, and random calls with arguments of all
kinds, right and wrong. Its field `how_to_read` explains a case. The calls are translated from Lua to Python mechanically.
"""

import json
import math
from collections import defaultdict
from pathlib import Path

import pytest
from lua_to_python import RUNTIME, Dialect, evaluate, translate_block

from strided import torch7

RECORDED = json.loads((Path(__file__).parent / "data/torch7_maths.json").read_text())
TORCH = Dialect(modules={"torch"})

#: Expression -> why the recorded answer is not wanted.
EXCEPTIONS = {
    "r:addr(r:select(1,1),r:select(1,2))": "operands are parts of the result, which the original reads after it wrote them",
    "r:addr(2,r:select(1,1),r:select(1,2))": "as above",
}

#: Type -> how far results may be from the recorded ones: sums are formed in another order, functions rounded otherwise.
TOLERANCES = {"torch.FloatTensor": 5e-7, "torch.DoubleTensor": 2e-14}

BY_SETUP = defaultdict(list)
for _setup, _expression, _outcome in RECORDED["cases"]:
    BY_SETUP[_setup].append((_expression, _outcome))


def plain(number):
    if isinstance(number, float) and not math.isfinite(number):
        return "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"
    return number


def describe(value):
    """A value as the recording writes it."""
    if torch7.isTensor(value):
        elements = [plain(number) for number in value.strided().reshape(-1).tolist()]
        return {"t": value.type(), "size": value.size().totable(), "stride": value.stride().totable(), "v": elements}
    if isinstance(value, list):
        return {"l": [describe(item) for item in value]}
    if value is None:
        return {"nil": 1}
    kinds = {bool: "b", int: "n", float: "n", str: "s"}
    return {kinds.get(type(value), "u"): plain(value)}


def near(found, wanted, tolerance):
    if isinstance(found, str) or isinstance(wanted, str):
        return found == wanted
    return found == wanted or abs(found - wanted) <= tolerance * max(abs(found), abs(wanted))


def agrees(found, wanted, number_tolerance):
    """Whether a description says the same as a recorded one."""
    if found.keys() != wanted.keys():
        return False
    if "l" in found:
        pairs = zip(found["l"], wanted["l"], strict=False)
        return len(found["l"]) == len(wanted["l"]) and all(agrees(a, b, number_tolerance) for a, b in pairs)
    if "n" in found:
        return near(found["n"], wanted["n"], number_tolerance)
    if "t" not in found:
        return found == wanted
    if any(found[key] != wanted[key] for key in ("t", "size", "stride")) or len(found["v"]) != len(wanted["v"]):
        return False
    tolerance = TOLERANCES.get(found["t"], 0)
    return all(near(a, b, tolerance) for a, b in zip(found["v"], wanted["v"], strict=True))


def problem(setup, expression, outcome):
    """What is wrong with the answer to a call, or None."""
    torch7.manualSeed(123)
    program = {**RUNTIME, "torch": torch7}
    exec(setup, program)
    before = {name: describe(program[name]) for name in "xyzri" if name in program}
    try:
        results = evaluate(expression, TORCH, program)
    except torch7.TorchError as error:
        return None if str(error) == outcome.get("error") else f"raised {error!s}"
    if "error" in outcome:
        return f"did not raise {outcome['error']}"
    # Scalars of a float tensor have the precision of its type.
    tolerance = TOLERANCES["torch.FloatTensor" if "Float" in f"{setup}{expression}" else "torch.DoubleTensor"]
    wanted = outcome["results"] or [{"nil": 1}]
    found = [describe(value) for value in results]
    if len(found) != len(wanted) or not all(agrees(a, b, tolerance) for a, b in zip(found, wanted, strict=True)):
        return f"returned {found}, wanted {wanted}"
    after = outcome.get("after", {})
    for name, description in before.items():
        expected = after.get(name, description)
        if not agrees(describe(program[name]), expected, tolerance):
            return f"left {name} as {describe(program[name])}, wanted {expected}"
    return None


@pytest.mark.parametrize("number", BY_SETUP)
def test_maths_answer_as_recorded(number):
    setup = translate_block(RECORDED["setups"][number], TORCH)
    with torch7.Session(lua=True).activate():
        cases = [case for case in BY_SETUP[number] if case[0] not in EXCEPTIONS]
        problems = {expression: problem(setup, expression, outcome) for expression, outcome in cases}
    wrong = [f"{expression}: {text}" for expression, text in problems.items() if text]
    assert not wrong, "\n".join([RECORDED["setups"][number], *wrong])


def test_every_exception_is_a_recorded_case():
    assert set(EXCEPTIONS) <= {expression for _, expression, _ in RECORDED["cases"]}
    assert len(RECORDED["cases"]) > 3500
