"""The feature list through Lua: `lua_features.lua` has a function for each row."""

from pathlib import Path

import pytest

pytest.importorskip("lupa")

from test_torch7_features import ELSEWHERE, ROWS

from strided.lua import Lua

PROGRAM = Path(__file__).with_name("lua_features.lua")


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
