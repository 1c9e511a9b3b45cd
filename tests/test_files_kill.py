"""Processes that are killed while they save: the file or folder is the old one or the new one, whole.

`./dev test --slow` kills 200 times for each kind; the default is a handful.
"""

import os
import random
import signal

import kill_cases
import pytest


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
@pytest.mark.parametrize("kills", [4, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", kill_cases.KINDS)
def test_a_killed_process_leaves_the_old_object_or_the_new_one(kind, kills):
    if "zarr" in kind:
        pytest.importorskip("zarr")
    case = kill_cases.KillCase(random.Random(os.urandom(8)))
    case.label = kind
    assert case.check(kills)
    assert case.report["kills"] >= kills
    assert case.report["interrupted"] > 0 and case.report["changed"] > 0


def test_a_torn_object_is_noticed():
    a, b = kill_cases.saved_object("npz", 3), kill_cases.saved_object("npz", 4)
    assert kill_cases.number_of(a) == 3
    with pytest.raises(AssertionError, match="parts of several objects"):
        kill_cases.number_of({"a": a["a"], "b": b["b"]})
