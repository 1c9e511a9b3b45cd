"""torch.save, torch.load and their relatives in Lua: identity, cycles, classes of a script, functions."""

import shutil
from pathlib import Path

import pytest

import strided as st

pytest.importorskip("lupa")

from strided.lua import Lua, LuaError

DATA = Path(__file__).parent / "data/t7"
NAMES = sorted(path.name for path in DATA.glob("*.t7"))


@pytest.fixture
def lua():
    return Lua()


@pytest.fixture(scope="module")
def shared_runtime():
    """For tests that leave nothing behind."""
    return Lua()


@pytest.mark.parametrize("name", NAMES)
def test_what_torch7_wrote_is_written_again_byte_for_byte(shared_runtime, name, tmp_path):
    mode = name.split(".")[1]
    shutil.copy(DATA / name, tmp_path / "in.t7")
    shared_runtime.execute(f"torch.save('{tmp_path}/out.t7', torch.load('{tmp_path}/in.t7', '{mode}'), '{mode}')")
    read, wrote = (tmp_path / "in.t7").read_bytes(), (tmp_path / "out.t7").read_bytes()
    in_lua_order = name.startswith(("shared", "table_map", "table_cycle", "table_list_with_hole"))
    assert sorted(wrote) == sorted(read) if in_lua_order else wrote == read


def test_tables_keep_their_identity(lua):
    assert lua.eval(
        """(function()
            local inner, x = {1}, torch.Tensor(3)
            local t = {inner, inner, x, x:narrow(1, 2, 1), key = x}
            t.self = t
            local u = torch.deserialize(torch.serialize(t))
            u[3]:fill(7)
            return u[1] == u[2] and u.self == u and u[4][1] == 7 and torch.pointer(u.key) == torch.pointer(u[3])
        end)()"""
    )


def test_several_objects_of_one_file_refer_to_each_other(lua):
    assert lua.eval(
        """(function()
            local f, t = torch.MemoryFile(), {1, 2}
            f:writeObject(t)
            f:writeObject({t})
            f:seek(1)
            local a = f:readObject()
            return f:readObject()[1] == a
        end)()"""
    )


def test_objects_of_classes_are_stored_with_their_fields(lua):
    lua.execute(
        """
        local A = torch.class('A')
        function A:__init(n) self.n = n; self.x = torch.Tensor(2):fill(n) end
        function A:sum() return self.x:sum() + self.n end
        local B = torch.class('B')
        function B:write(file) file:writeInt(5); file:writeObject('own') end
        function B:read(file, version) self.got = {file:readInt(), file:readObject(), version} end
        """
    )
    assert lua.eval("torch.deserialize(torch.serialize(A(3))):sum()") == 9
    got = lua.eval("torch.deserialize(torch.serialize(B())).got")
    assert list(got) == [5, "own", 1]


def test_functions_are_stored_with_what_they_share(lua):
    assert lua.eval(
        """(function()
            local count = 10
            local t = {up = function() count = count + 1; return count end, get = function() return count end}
            local u = torch.deserialize(torch.serialize(t))
            u.up()
            return u.get() == (debug.upvaluejoin and 11 or u.get()) and t.get() == 10
        end)()"""
    )


def test_python_reads_what_lua_writes(lua, tmp_path):
    path = tmp_path / "x.t7"
    lua.execute(f"torch.save('{path}', {{weight = torch.FloatTensor{{1, 2}}, n = {{1, 2, 3}}}}, 'ascii')")
    loaded = st.load(path)
    assert loaded["weight"].tolist() == [1, 2] and loaded["n"] == [1, 2, 3]


def test_errors_are_those_of_torch7(lua, tmp_path):
    for code, message in [
        ("torch.load('/no/such/file')", "cannot open </no/such/file> in mode r "),
        ("torch.serialize(coroutine.create(print))", "Unwritable object <thread> at"),
        ("torch.save('x', 1, 'text')", '"binary" or "ascii"'),
        ("torch.deserialize('\\99\\0\\0\\0')", "unknown object"),
        ("torch.deserialize('\\4\\0\\0\\0\\1\\0\\0\\0\\3\\0\\0\\0V 1\\2\\0\\0\\0xy')", "unknown Torch class <xy>"),
        ("torch.MemoryFile():readInt()", "read error: read 0 blocks instead of 1"),
    ]:
        with pytest.raises(LuaError) as caught:
            lua.execute(code)
        assert message in str(caught.value)


def test_a_sandbox_loads_no_functions():
    data = Lua().eval("torch.serialize(function() return 1 end)")
    data = data if isinstance(data, bytes) else data.encode()
    sandbox = Lua(sandbox=True)
    with pytest.raises(LuaError, match="functions in files are not available here"):
        sandbox.execute("torch.deserialize(...)", data)
    with pytest.raises(LuaError, match="Unwritable object <function>"):
        sandbox.execute("torch.serialize(function() end)")
