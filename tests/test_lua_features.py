"""The feature list through Lua: `lua_features.lua` has a function for each row."""

from pathlib import Path

import pytest

pytest.importorskip("lupa")

from test_torch7_features import ELSEWHERE, ROWS

from strided.lua import Lua

PROGRAM = Path(__file__).with_name("lua_features.lua")


#: Rows about raw pointers, which need the FFI of LuaJIT.
POINTERS = {"LUA-012", "T7-147", "T7-148", "T7-150", "T7-151"}


@pytest.fixture(scope="module")
def lua():
    runtime = Lua()
    runtime.dofile(PROGRAM)
    return runtime


@pytest.mark.parametrize("row", sorted({*ROWS, *(f"LUA-{n:03d}" for n in range(1, 16))} - {"X-010"}))
def test_a_row_of_the_feature_list_holds_in_lua(row, lua):
    assert lua["check"](row) is None


def test_every_function_of_the_program_is_a_row(lua):
    rows = {*ROWS, *ELSEWHERE, *(f"LUA-{n:03d}" for n in range(1, 16))}
    assert set(lua["names"]()) <= rows


@pytest.mark.parametrize("row", ["T0-001", "T7-007", "T7-011", "X-005", "X-008", "X-009", "X-011"])
def test_a_row_that_python_tests_elsewhere_holds_in_lua(row, lua):
    assert lua["check"](row) is None


@pytest.mark.parametrize("version", ["5.1", "5.2", "5.3", "5.4", "5.5"])
def test_the_rows_hold_in_other_versions_of_lua_but_for_raw_pointers(version):
    runtime = Lua(version=version)
    runtime.dofile(PROGRAM)
    failed = {row: found for row in runtime["names"]() if (found := runtime["check"](row)) is not None}
    assert set(failed) == POINTERS
    assert all("raw pointers need the FFI of LuaJIT" in text for text in failed.values())
