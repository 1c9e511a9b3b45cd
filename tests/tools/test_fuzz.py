"""The fuzzer: cases are found again, differences are reported as programs that run."""

import random
import subprocess
import sys

import index_cases
import indexing_models as models
import numpy as np
import pytest
from gpu_devices import needs_gpu

import fuzz


class Case:
    label = "fake"

    def __init__(self, r):
        self.number = r.randrange(100)

    def check(self):
        if self.number == 42:
            raise AssertionError("x = 42")
        return self.number % 2 == 0


def never(done):
    return False


def test_a_difference_ends_the_run(capsys):
    assert fuzz.fuzz(Case, 3, 0, never) == 1
    out = capsys.readouterr().out
    assert "x = 42" in out
    at = int(out.rpartition("--first ")[2].split()[0])
    assert fuzz.case_of(Case, 3, at).number == 42
    assert fuzz.fuzz(Case, 3, 0, lambda done: done >= at) == 0
    assert f"{at} cases" in capsys.readouterr().out
    assert fuzz.fuzz(Case, 3, at, never) == 1


def test_another_exception_is_a_difference(capsys):
    def make(r):
        case = Case(r)
        case.check = lambda: 1 // 0
        return case

    assert fuzz.fuzz(make, 0, 0, never) == 1
    assert "ZeroDivisionError" in capsys.readouterr().out


def test_unknown_families_are_refused(capsys):
    with pytest.raises(SystemExit) as caught:
        fuzz.main(["nothing"])
    assert caught.value.code == 2
    assert "indexing" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs_gpu) if name == "gpu" else name for name in fuzz.FAMILIES]
)
def test_every_family_runs(name, capsys):
    cases = {"kill": "2", "gpu": "3"}.get(name, "30")  # which start processes, and compile programs
    assert fuzz.main([name, "--cases", cases, "--seed", "1"]) == 0
    assert f"{cases} cases" in capsys.readouterr().out


def first_difference(make, tries=3000):
    for seed in range(tries):
        case = make(random.Random(seed))
        try:
            case.check()
        except index_cases.Difference as difference:
            return case, str(difference)
    raise AssertionError("no case differs")


@pytest.mark.parametrize(
    ("make", "name", "wrong"),
    [
        (index_cases.read_case, "read", lambda a, key: np.asarray(a[key]) * 0),
        (index_cases.write_case, "write", lambda a, key, values, accumulate=False: a),
        (index_cases.own_index_case, "write", lambda a, key, values, accumulate=False: a + 1),
        (lambda r: index_cases.function_case(r, "gather"), "gather", lambda a, dim, index: index.astype(a.dtype)),
        (lambda r: index_cases.function_case(r, "scatter", "in place"), "scatter", lambda a, *_, **__: a),
        (lambda r: index_cases.function_case(r, "masked_fill", "in place"), "masked_fill", lambda a, *_: a),
        (lambda r: index_cases.function_case(r, "put"), "put", models.refuse_unless),
    ],
)
def test_a_wrong_model_differs_and_the_program_runs(make, name, wrong, monkeypatch):
    monkeypatch.setattr(models, name, wrong)
    _, text = first_difference(make)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0 or "Error" in done.stderr.splitlines()[-1]
    assert "SyntaxError" not in done.stderr and "NameError" not in done.stderr


def test_the_program_of_a_case_makes_the_same_tensors():
    r = random.Random(5)
    for _ in range(300):
        case = index_cases.random_case(r)
        space = {}
        lines = case.source().splitlines()
        exec("\n".join(lines[: 3 + len(case.operands) + sum("_storage = " in line for line in lines)]), space)
        for name, operand in case.operands.items():
            assert index_cases.is_same(index_cases.values_of(space[name]), operand.array()), case.source()
            assert space[name].stride() == operand.strides or 0 in operand.shape or 1 in operand.shape
