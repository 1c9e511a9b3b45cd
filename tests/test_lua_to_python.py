"""The translator from Lua to Python, with which recorded cases run in Python."""

import doctest

import lua_to_python
import pytest
from lua_to_python import RUNTIME, Dialect, evaluate, translate_block

PLAIN = Dialect(modules=set())


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("1 + 2 * 3 ^ 2, (1 + 2) * 3, 7 % 4, -2 ^ 2", [19, 9, 3, -4]),
        ("1 < 2 and 'a' or 'b', nil or 5, false and 1, not nil", ["a", 5, False, True]),
        ("0 and 1, 'a' .. 'b' .. 1, #{1, 2, 3}, 1 ~= 2", [1, "ab1", 3, True]),
        ("{1, 2, x = 3}, {}, {{1}, [5] = 6}", [{1: 1, 2: 2, "x": 3}, [], {1: [1], 5: 6}]),
        ("(function(a, b) return b, a end)(1, 2)", [2, 1]),
        ("((function() return 1, 2 end)())", [1]),
        ("(function(...) return ... end)(4, 5)", [4, 5]),
        ("({10, 20, 30})[2], ({x = 1}).x, ({})[1]", [20, 1, None]),
        ("1 / 0, -1 / 0, 6 / 3, 1e3, 0x10, .5", [float("inf"), -float("inf"), 2, 1000.0, 16, 0.5]),
        ("pcall(function() local x = nil + 1 end)", [False, "unsupported operand type(s) for +: 'NoneType' and 'int'"]),
    ],
)
def test_expressions_have_the_values_of_lua(source, values):
    assert evaluate(source, PLAIN, dict(RUNTIME)) == values


@pytest.mark.parametrize(
    ("source", "name", "value"),
    [
        ("x = 0 for i = 1, 4 do x = x + i end", "x", 10),
        ("x = 0 for i = 4, 1, -2 do x = x + i end", "x", 6),
        ("x = 0 for i, v in ipairs({5, 6}) do x = x + i * v end", "x", 17),
        ("x = 0 while x < 5 do x = x + 2 end", "x", 6),
        ("x = 1 ; local function f() x = x + 1 end f() f()", "x", 3),
        ("function f() local n = 0 return function() n = n + 1 ; return n end end g = f() g() x = g()", "x", 2),
        ("if false then x = 1 elseif nil then x = 2 else x = 3 end", "x", 3),
        ("a, x = 1, 2 a, x = x, a", "x", 1),
        ("t = {1, 2} t[2] = 5 t[3] = 6 x = t", "x", [1, 5, 6]),
        ("local a, x0 = (function() return 1, 2 end)() x = x0 -- a comment", "x", 2),
    ],
)
def test_statements_do_what_they_do_in_lua(source, name, value):
    names = dict(RUNTIME)
    exec(translate_block(source, PLAIN), names)
    assert names[name] == value


def test_a_program_that_is_no_lua_is_refused():
    for source in ("x = = 1", "if x then", "x = 'a", "end"):
        with pytest.raises(SyntaxError):
            translate_block(source, PLAIN)


def test_the_examples_of_the_translator_run():
    assert doctest.testmod(lua_to_python).failed == 0
