"""Torch7's own tests, unchanged: `test/test.lua` of its repository, which has 164.

The sources are not part of this repository. `STRIDED_TORCH7_SOURCES` names a folder with a copy of Torch7's repository; the
tests are skipped without it:

    STRIDED_TORCH7_SOURCES=~/torch7 ./dev test tests/external/test_torch7.py
"""

import os
from pathlib import Path

import pytest

pytest.importorskip("lupa", reason="strided.lua needs lupa")

from strided.lua import Lua  # after the check

FOLDER = os.environ.get("STRIDED_TORCH7_SOURCES")

#: Tests that need a part of Torch7 which the front end does not have yet, by the function they call.
NEEDS = {
    "gesv": "gesv gesv_reuse",
    "trtrs": "trtrs trtrs_reuse",
    "gels": "gels_uniquely_determined gels_reuse gels_overdetermined gels_underdetermined",
    "eig": "eig eig_reuse eig_noncontig",
    "symeig": "test_symeig",
    "svd": "svd svd_reuse svd_noncontig",
    "inverse": "inverse",
    "potrf": "testCholesky potrs potri",
    "pstrf": "pstrf",
}


def loaded():
    """A runtime that has loaded the tests, which are then in the global `suite`."""
    lua = Lua()
    lua.execute("local make = torch.TestSuite; function torch.TestSuite() suite = make() return suite end")
    lua.execute((Path(FOLDER) / "test/test.lua").read_bytes(), name="test.lua")
    return lua


def names():
    """The names of all tests, each with a mark if it needs something that is missing."""
    if FOLDER is None:
        return [pytest.param("", marks=pytest.mark.skip(reason="STRIDED_TORCH7_SOURCES is not set"), id="all")]
    lua = loaded()
    missing = {name: need for need, tests in NEEDS.items() if not lua.eval(f"torch.{need}") for name in tests.split()}
    marks = {name: [pytest.mark.skip(reason=f"there is no torch.{need}")] for name, need in missing.items()}
    return [pytest.param(name, marks=marks.get(name, []), id=name) for name in sorted(vars(lua["suite"])["_tests"])]


@pytest.mark.parametrize("name", names())
def test_torch7_passes_its_own_test(name, capsys):
    lua = loaded()
    lua.execute("torch.test({...})", name)  # raises an error unless all assertions hold
    assert "Completed" in capsys.readouterr().out
