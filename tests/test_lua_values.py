"""Values between Python and Lua: numbers, strings, tables, functions and tensors cross unharmed in both directions."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as hs

import strided as st

pytest.importorskip("lupa")

from strided import torch7
from strided.lua import Lua, LuaError

VERSIONS = ["luajit", "5.1", "5.2", "5.3", "5.4", "5.5"]
RUNTIMES = {version: Lua(version) for version in VERSIONS}
for _lua in RUNTIMES.values():
    _lua.execute("function same(...) return ... end")


@pytest.fixture(params=VERSIONS)
def each(request):
    return RUNTIMES[request.param]


numbers = hs.floats(allow_nan=False) | hs.integers(-(2**53), 2**53)
plain = hs.none() | hs.booleans() | numbers | hs.text() | hs.binary().filter(lambda data: not is_utf8(data))
tables = hs.recursive(
    numbers | hs.text() | hs.booleans(),
    lambda inner: hs.lists(inner, max_size=4) | hs.dictionaries(hs.text(), inner, min_size=1, max_size=4),
    max_leaves=20,
)


def is_utf8(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def is_same(found, sent):
    """Equal, with the sign of zero; whole floats may come back as ints."""
    if isinstance(sent, dict):
        return set(found) == set(sent) and all(is_same(found[key], value) for key, value in sent.items())
    if isinstance(sent, list):
        return len(found) == len(sent) and all(map(is_same, found, sent))
    if isinstance(sent, float):
        return found == sent and math.copysign(1, found) == math.copysign(1, sent)
    return found == sent and (found is True) == (sent is True) and (found is False) == (sent is False)


# To Lua and back


@given(value=plain, version=hs.sampled_from(VERSIONS))
def test_plain_values_come_back_as_they_were(value, version):
    assert is_same(RUNTIMES[version]["same"](value), value)


@given(value=tables, version=hs.sampled_from(VERSIONS))
def test_tables_come_back_as_they_were(value, version):
    if value == {}:
        value = []
    assert is_same(RUNTIMES[version]["same"](value), value)


def test_nan_and_infinities_cross(each):
    same = each["same"]
    assert math.isnan(same(math.nan))
    assert (same(math.inf), same(-math.inf)) == (math.inf, -math.inf)


@pytest.mark.parametrize("text", ["", "x", "héllo", "日本", "a\0b", "\U0001f600"])
def test_strings_have_the_bytes_of_utf_8(each, text):
    assert each.execute("local s = ... return #s, s", text) == (len(text.encode()), text)


def test_all_bytes_arrive_whole(each):
    data = bytes(range(256))
    assert each.execute("local s = ... return s:byte(256), s", data) == (255, data)
    assert each.eval(r'"\255"') == b"\xff"


def test_a_sign_of_zero_survives_every_way_in_and_out(each):
    zeros = each.execute(
        """
        local z = ...
        local x = torch.Tensor(2):fill(z)
        local t = torch.Tensor{z, 1}
        local function sign(v) return 1 / v end
        local seen
        x:clone():apply(function(v) seen = v end)
        return sign(z), sign(x[1]), sign(t[1]), sign(seen), z, x[2], {z}
        """,
        -0.0,
    )
    assert zeros[:4] == (-math.inf,) * 4
    assert [math.copysign(1, zero) for zero in (*zeros[4:6], zeros[6][0])] == [-1, -1, -1]


def test_ints_that_lua_cannot_hold_become_floats(each):
    assert each.execute("return ...", 2**70) == 2.0**70
    assert each.execute("return ...", 10**400) == math.inf
    assert each.execute("return ...", [-(10**400)]) == [-math.inf]


# Tables


def test_tables_with_the_keys_1_to_n_are_lists_and_others_dicts(each):
    assert each.eval("{1, 2, {3}}") == [1, 2, [3]]
    assert each.eval("{}") == []
    assert each.eval("{1, x = 2}") == {1: 1, "x": 2}
    assert each.eval("{[0] = 'a', [1] = 'b'}") == {0: "a", 1: "b"}
    assert each.eval("{[1.5] = true}") == {1.5: True}


def test_a_hole_that_lua_counts_is_none():
    assert RUNTIMES["5.1"].eval("{1, nil, 3}") == [1, None, 3]


def test_large_tables_cross_whole(each):
    values = list(range(5000))
    assert each["same"](values) == values
    assert each["same"]({str(i): [i] for i in values}) == {str(i): [i] for i in values}
    assert each.execute("local t = ... return #t, torch.Tensor(t):sum()", values) == (5000, sum(values))


def test_none_in_a_dict_is_no_entry_and_in_a_list_nil(each):
    assert each.execute("local t = ... return t.a, t.b, next(t, 'b')", {"a": None, "b": 1}) == (None, 1, None)
    assert each.execute("local t = ... return t[1], t[3]", [1, None, 3]) == (1, 3)


def test_a_table_that_contains_itself_is_refused(each):
    with pytest.raises(LuaError, match="more than 100 levels deep, or contains itself"):
        each.execute("local t = {} t[1] = t return t")
    loop = []
    loop.append(loop)
    with pytest.raises(ValueError, match="more than 100 levels deep, or contains itself"):
        each["x"] = loop
    assert each.eval("{1, {2}}") == [1, [2]]


def test_keys_without_a_python_meaning_are_refused(each):
    with pytest.raises(LuaError, match="cannot pass a table with a table as key to Python"):
        each.eval("{[{}] = 1}")
    with pytest.raises(TypeError, match="cannot pass a dict with the key None to Lua"):
        each["x"] = {None: 1}


def test_metamethods_of_a_table_do_not_run_when_it_is_copied(each):
    source = "return setmetatable({1, 2}, {__index = error, __len = error, __pairs = error, __newindex = error})"
    assert each.execute(source) == [1, 2]


# Objects


def test_tensors_in_tables_cross_by_reference(each):
    x = torch7.Tensor(2).zero()
    each.execute("local t = ... t.inner[1][1] = 5", {"inner": [x]})
    assert x[1] == 5
    found = each.execute("return {x = torch.ones(2), list = {torch.ones(3)}}")
    assert (found["x"].sum(), found["list"][0].size(1)) == (2, 3)


def test_an_object_is_itself_when_it_returns(each):
    x = torch7.Tensor(2)
    assert each["same"](x) is x
    assert each.execute("local x = ... return x:zero() == x, rawequal(x:fill(1), x)", x) == (True, True)
    assert each.execute("local x = ... return x:storage() == x:storage(), x:clone() == x", x) == (True, False)


def test_values_of_other_libraries_arrive_as_numbers(each):
    numpy = pytest.importorskip("numpy")
    assert each.execute("return ...", numpy.float32(1.5)) == 1.5
    assert each.execute("return ...", numpy.int64(3)) == 3
    assert each.execute("return ...", st.tensor(2.5).item()) == 2.5


def test_several_results_of_a_callback_are_a_tuple():
    lua = RUNTIMES["luajit"]
    got = []
    lua["take"] = lambda f: got.append(f())
    lua.execute("take(function() return 1, 'x', {2} end) take(function() end) take(function() return nil end)")
    assert got == [(1, "x", [2]), None, None]


def test_userdata_of_others_is_refused_by_its_type(each):
    with pytest.raises(LuaError, match=r"userdata|table"):
        each.execute("local x = torch.Tensor(1) x:copy(io.tmpfile and io.tmpfile() or io.stdout)")
    with pytest.raises(LuaError, match="bad argument #1 to 'copy'"):
        each.execute("local x = torch.Tensor(1) x:copy(coroutine.create(print))")


def test_any_number_of_arguments_arrives(each):
    each["count"] = lambda *args: (len(args), args[-1])
    assert each.execute("local t = {} for i = 1, 200 do t[i] = i end return count((unpack or table.unpack)(t))") == (
        200,
        200,
    )
    assert each.execute("return count(nil, 1, nil)") == (3, None)
