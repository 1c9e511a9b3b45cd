"""The Lua runtime: running source code, globals, modules, output, classes, errors, sessions, threads."""

import contextlib
import gc
import io
import threading
import weakref

import pytest

import strided as st

pytest.importorskip("lupa")

from strided import dmlab, torch7
from strided.lua import Lua, LuaError, LuaFunction

VERSIONS = ["luajit", "5.1", "5.2", "5.3", "5.4", "5.5"]


@pytest.fixture(params=VERSIONS)
def each(request):
    """A runtime of each version."""
    return Lua(request.param)


@pytest.fixture
def lua():
    return Lua()


def printed(lua, source, *args):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        lua.execute(source, *args)
    return text.getvalue()


# Running


def test_every_version_runs_both_libraries(each):
    result = each.execute(
        """
        require 'torch'
        local tensor = require 'dmlab.system.tensor'
        local random = require 'dmlab.system.sys_random'
        local x = torch.range(1, 12):view(3, 4)
        x[{{2, 3}, {}}] = -1
        local z = tensor.DoubleTensor{{1, 2}, {3, 4}}
        z:add(1):mul{2, 3}
        random:seed(1)
        return x:sum(), #x:size(), tostring(x[1]), z(2, 1):val(), z == z:clone(), x == x:clone(), x.foo, type(x)
        """
    )
    assert result[0] == 10 - 8
    assert result[1:] == (2, " 1\n 2\n 3\n 4\n[torch.DoubleTensor of size 4]\n", 8, True, False, None, "userdata")


def test_every_version_has_operators_and_open_classes(each):
    result = each.execute(
        """
        local x = torch.Tensor{1, 2}
        function torch.DoubleTensor:twice() return self * 2 end
        function torch.DoubleTensor.__concat(a, b) return 'joined' end
        local sum = (x + x - 1) * 3 / 2
        return (-sum)[2], x:twice()[2], x .. 'a', getmetatable(x) == torch.getmetatable('torch.DoubleTensor')
        """
    )
    assert result == (-4.5, 4, "joined", True)


def test_the_version_is_the_one_that_was_asked_for(each):
    name = each.eval("jit and 'luajit' or _VERSION:match('%d.%d')")
    assert name == each.version


def test_an_unknown_version_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"version is '5\.0', wanted one of 'luajit', '5\.1'"):
        Lua("5.0")


def test_execute_returns_what_the_chunk_returns(lua):
    assert lua.execute("x = 1") is None
    assert lua.execute("return 1") == 1
    assert lua.execute("return 1, nil, 'a'") == (1, None, "a")
    assert lua.execute("local a, b = ... return b, a", 1, "x") == ("x", 1)


def test_eval_is_one_expression(lua):
    assert lua.eval("1 + 1 -- two") == 2
    with pytest.raises(LuaError, match=r"eval:1: .*near '<eof>'"):
        lua.eval("1 +")


def test_dofile_passes_arguments_and_finds_modules_beside_the_script(lua, tmp_path):
    (tmp_path / "common").mkdir()
    (tmp_path / "common/helper.lua").write_text("return {double = function(x) return 2 * x end}")
    script = tmp_path / "main.lua"
    script.write_text(
        "#!/usr/bin/env lua\nlocal h = require 'common.helper'\nreturn h.double(...), arg[1], #arg, arg[0]"
    )
    assert lua.dofile(script, 21, "x") == (42, 21, 2, str(script))


def test_modules_are_found_under_path_and_init_files_too(tmp_path):
    (tmp_path / "one.lua").write_text("return 1")
    (tmp_path / "two").mkdir()
    (tmp_path / "two/init.lua").write_text("return {name = ...}")
    lua = Lua(path=tmp_path)
    assert lua.execute("return require 'one', require('two').name, require 'two' == require 'two'") == (1, "two", True)


def test_a_module_that_does_not_exist_lists_where_it_was_sought(lua):
    with pytest.raises(LuaError, match=r"module 'nothing\.here' not found:\n\tno field package\.preload"):
        lua.execute("require 'nothing.here'")


def test_other_modules_of_lab_name_those_that_exist(lua):
    with pytest.raises(LuaError, match=r"dmlab\.system\.game' is part of the game; .*random, sys_random, tensor"):
        lua.execute("require 'dmlab.system.game'")


def test_module_of_lua_5_1_makes_globals(tmp_path):
    (tmp_path / "old.lua").write_text("module('old', package.seeall) function hello() return type(print) end")
    lua = Lua(path=[tmp_path])
    assert lua.execute("require 'old' return old.hello()") == "function"


# Globals


def test_globals_are_read_set_and_removed(each):
    each["a"] = 3
    assert each.eval("a + 1") == 4
    each.execute("b = {1, {x = 'y'}}")
    assert each["b"] == [1, {"x": "y"}]
    each["a"] = None
    assert each["a"] is None


def test_python_functions_are_called_and_lua_functions_come_back(lua):
    lua["f"] = lambda *args: (args, len(args))
    assert lua.execute("local t, n = f(1, 'x', nil) return t[2], n") == ("x", 3)
    g = lua.eval("function(a, b) return b, a end")
    assert isinstance(g, LuaFunction)
    assert g(1, 2) == (2, 1)
    lua["g"] = g
    assert lua.eval("g")(3, 4) == (4, 3)
    assert lua.eval("g") == g


def test_a_tensor_of_the_top_level_arrives_as_one_of_the_dialect_and_shares_memory(lua):
    x = st.arange(6, dtype=st.float64).view(2, 3)
    lua["x"] = x
    lua.execute("x[2][3] = 50")
    assert x[1, 2].item() == 50
    assert isinstance(lua["x"], torch7.DoubleTensor)
    assert lua["x"].strided().storage() is x.storage()
    lab = Lua(dialect="dmlab")
    lab["z"] = x
    assert lab.eval("z(2, 3):val()") == 50
    assert isinstance(lab["z"], dmlab.DoubleTensor)


def test_objects_without_a_meaning_in_lua_are_refused_by_name(lua):
    with pytest.raises(TypeError, match="cannot pass an object of type object to Lua"):
        lua["x"] = object()
    with pytest.raises(LuaError, match="cannot pass an object of type object"):
        lua["f"] = object
        lua.execute("return f()")


def test_python_true_gives_lupas_table():
    lua = Lua(python=True)
    assert lua.eval("python.builtins.len('four')") == 4
    assert Lua().eval("python") is None


# Output


def test_print_and_io_write_go_to_stdout_in_order(each):
    text = printed(
        each, "print(1, nil, 'x') io.write('a', 2) io.stdout:write('b\\n') print() print(torch.Tensor(1):zero())"
    )
    assert text == "1\tnil\tx\na2b\n\n 0\n[torch.DoubleTensor of size 1]\n\n"


def test_output_that_is_not_utf_8_reaches_a_stream_of_bytes(lua, capfdbinary):
    lua.execute(r"print('before') io.write('\255\n') print('after')")
    assert capfdbinary.readouterr().out == b"before\n\xff\nafter\n"


def test_io_output_redirects_io_write_but_not_print(lua, tmp_path):
    text = printed(
        lua, "io.output(...) io.write('file') print('screen') io.close() io.output(io.stdout)", str(tmp_path / "f")
    )
    assert (text, (tmp_path / "f").read_text()) == ("screen\n", "file")


def test_print_uses_the_tostring_of_the_script(lua):
    assert printed(lua, "tostring = function() return 'mine' end print(1)") == "mine\n"


def test_a_broken_stdout_is_an_error_of_lua(lua):
    class Broken(io.StringIO):
        def write(self, text):
            raise OSError("no room")

    with contextlib.redirect_stdout(Broken()):
        assert lua.execute("return pcall(print, 1)") == (False, "no room")


# Errors


def test_errors_have_a_message_and_a_traceback_of_the_script(lua):
    with pytest.raises(LuaError) as caught:
        lua.execute("local function inner() error('bad') end\ninner()", name="level")
    assert str(caught.value) == "level:1: bad"
    assert caught.value.traceback.splitlines()[0] == "stack traceback:"
    assert "level:2: in main chunk" in caught.value.traceback
    assert "strided.glue" not in caught.value.traceback


def test_errors_of_the_libraries_are_strings_in_lua(each):
    assert (
        each.execute("local ok, e = pcall(function() local y = torch.Tensor(2):narrow(3, 1, 1) end) return type(e)")
        == "string"
    )
    assert each.execute("local ok, e = pcall(torch.Tensor, 'a') return type(e)") == "string"


def test_the_function_is_named_as_the_script_called_it(lua):
    source = "local x = torch.Tensor(3) local f = x.narrow local ok, e = pcall(function() {} end) return e"
    wanted = {
        "local y = x:narrow(2, 1, 1)": "bad argument #1 to 'narrow' (out of range)",
        "local y = x.narrow(x, 2, 1, 1)": "bad argument #2 to 'narrow' (out of range)",
        "local y = f(x, 2, 1, 1)": "bad argument #2 to 'f' (out of range)",
    }
    for call, message in wanted.items():
        assert lua.execute(source.replace("{}", call)).endswith(message), call


def test_an_exception_of_a_python_function_is_a_string_in_lua_and_the_cause_in_python(lua):
    def fail():
        raise KeyError("what")

    lua["fail"] = fail
    assert lua.execute("return pcall(fail)") == (False, "'what'")
    with pytest.raises(LuaError) as caught:
        lua.execute("fail()")
    assert isinstance(caught.value.__cause__, KeyError)


def test_error_values_pass_through_python_unchanged(each):
    source = "local x, t = torch.Tensor(2), {} local ok, e = pcall(x.apply, x, function() error(t) end) return e == t"
    assert each.execute(source) is True


def test_an_error_that_is_no_string_is_described(lua):
    with pytest.raises(LuaError, match=r"^table: 0x"):
        lua.execute("error({})")
    with pytest.raises(LuaError, match=r"^described$"):
        lua.execute("error(setmetatable({}, {__tostring = function() return 'described' end}))")


def test_exits_and_interrupts_are_not_caught_by_a_script(lua):
    with pytest.raises(SystemExit) as caught:
        lua.execute("pcall(os.exit, 3)")
    assert caught.value.code == 3

    def interrupt():
        raise KeyboardInterrupt

    lua["interrupt"] = interrupt
    with pytest.raises(KeyboardInterrupt):
        lua.execute("pcall(interrupt)")


# Classes


def test_classes_inherit_and_construct(each):
    result = each.execute(
        """
        local Animal = torch.class('Animal')
        function Animal:__init(name) self.name = name end
        function Animal:speak() return self.name .. ' speaks' end
        local Dog, parent = torch.class('Dog', 'Animal')
        function Dog:__init(name) parent.__init(self, name) self.tricks = {} end
        function Dog.__add__(a, b) return a.name .. '+' .. b.name end
        local d = _G.Dog('Rex')
        return d:speak(), torch.type(d), torch.isTypeOf(d, 'Animal'), torch.isTypeOf(d, 'Ani'), d + d, tostring(d),
               parent == torch.getmetatable('Animal'), torch.typename({}) == nil
        """
    )
    assert result == ("Rex speaks", "Dog", True, False, "Rex+Rex", "Dog", True, True)


def test_methods_of_tensors_can_be_replaced(lua):
    result = lua.execute(
        """
        local old = torch.DoubleTensor.sum
        function torch.DoubleTensor:sum() return 'replaced' end
        local x, y = torch.ones(2), torch.ones(2):float()
        return x:sum(), y:sum(), old(x)
        """
    )
    assert result == ("replaced", 2, 2)


def test_a_metamethod_can_be_added_to_a_class_of_lab(each):
    result = each.execute(
        """
        local tensor = require 'dmlab.system.tensor'
        local z = tensor.DoubleTensor(3)
        getmetatable(z).__len = function() return 'length' end
        getmetatable(z).double_size = function(self) return 2 * self:size() end
        return #z, z:double_size()
        """
    )
    assert result == ("length", 6)


def test_a_parent_that_does_not_exist_is_an_error(lua):
    with pytest.raises(LuaError, match="invalid parent class name Nothing"):
        lua.execute("torch.class('A', 'Nothing')")
    with pytest.raises(LuaError, match="nothing is an invalid module name"):
        lua.execute("torch.class('nothing.A')")


def test_the_default_tensor_type_changes_the_constructor(lua):
    result = lua.execute(
        "torch.setdefaulttensortype('torch.FloatTensor') return torch.Tensor(2):type(), torch.Storage(2):type()"
    )
    assert result == ("torch.FloatTensor", "torch.FloatStorage")


def test_split_fills_the_table_of_the_caller(lua):
    assert lua.execute(
        "local t = {1, 2, 3, 4, 5, key = 6} local r = torch.split(t, torch.range(1, 4), 3) return r == t, #t, t.key, t[2][1]"
    ) == (True, 2, None, 4)


# Sessions


def test_runtimes_have_their_own_random_numbers_and_default_type():
    a, b = Lua(), Lua()
    for lua in (a, b):
        lua.execute("torch.manualSeed(1)")
    a.execute("torch.rand(10) torch.setdefaulttensortype('torch.FloatTensor')")
    assert b.eval("torch.rand(1)[1]") == pytest.approx(torch7_first_number())
    assert b.eval("torch.getdefaulttensortype()") == "torch.DoubleTensor"
    assert torch7.getdefaulttensortype() == "torch.DoubleTensor"


def torch7_first_number():
    with torch7.Session().activate():
        torch7.manualSeed(1)
        return torch7.rand(1)[1]


def test_a_python_function_runs_in_the_sessions_outside(lua):
    lua["lua_rules"] = lambda: torch7.current().lua
    assert lua.eval("lua_rules()") is False


# Threads, coroutines and memory


def test_threads_take_turns(lua):
    lua.execute("n = 0 function count() for i = 1, 2000 do local m = n + 1 torch.Tensor(1) n = m end end")
    count = lua["count"]
    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lua["n"] == 8000


def test_callbacks_work_in_coroutines(each):
    lua = each
    lua["call"] = lambda f, x: f(x) + 1
    result = lua.execute(
        """
        local kept = {}
        local function work(k)
           local x = torch.range(1, 3)
           x:apply(function(v) coroutine.wrap(function() x:narrow(1, 1, 1):apply(function(w) return w end) end)() return v * k end)
           coroutine.yield(x:sum())
           return call(function(v) return v * k end, 10)
        end
        local a, b = coroutine.wrap(work), coroutine.wrap(work)
        return a(2), b(3), a(2), b(3)
        """
    )
    assert result == (12, 18, 21, 31)


def test_a_function_kept_from_a_dead_coroutine_can_be_called(each):
    kept = []
    each["keep"] = kept.append
    each.execute(
        "coroutine.wrap(function() local n = 41 keep(function() return n + 1 end) end)() collectgarbage() collectgarbage()"
    )
    assert kept[0]() == 42
    each["run"] = lambda: kept[0]()
    assert each.execute("return coroutine.wrap(function() return run() end)()") == 42


def test_a_yield_across_python_is_an_error_of_lua(lua):
    source = "local co = coroutine.wrap(function() torch.Tensor(1):apply(function() coroutine.yield(1) end) end) co()"
    with pytest.raises(LuaError, match="yield across"):
        lua.execute(source)


def test_endless_recursion_through_python_is_an_error(each):
    with pytest.raises(LuaError, match="overflow"):
        each.execute("local x = torch.Tensor(1) local function f() x:apply(f) end f()")
    assert each.eval("1") == 1


def test_endless_recursion_in_lua_is_an_error(each):
    with pytest.raises(LuaError, match="stack overflow"):
        each.execute("local function f() return 1 + f() end f()")


def test_large_tensors_are_freed_while_a_script_runs(lua):
    before = st.memory.stats()["in_use"]
    lua["in_use"] = lambda: st.memory.stats()["in_use"] - before
    most = lua.execute(
        """
        local most = 0
        for i = 1, 200 do
           local x = torch.DoubleTensor(1000, 1000):zero()
           most = math.max(most, in_use())
        end
        return most
        """
    )
    assert most < 100 * 8_000_000


def test_functions_that_python_dropped_are_collected(lua):
    lua.execute("alive = setmetatable({}, {__mode = 'k'})")
    lua.execute(
        "local x = torch.Tensor(1) for i = 1, 1000 do local f = function(v) return i end alive[f] = true x:apply(f) end"
    )
    gc.collect()
    lua.execute("collectgarbage() collectgarbage()")
    assert (
        lua.execute("collectgarbage() collectgarbage() local n = 0 for _ in pairs(alive) do n = n + 1 end return n")
        < 300
    )


def test_a_runtime_is_freed_with_its_last_reference():
    def make():
        lua = Lua()
        lua["f"] = lambda: lua.version  # a cycle through Lua
        lua.execute("torch.Tensor(2)")
        return weakref.ref(lua)

    seen = make()
    gc.collect()
    assert seen() is None


def test_a_script_that_breaks_the_globals_does_not_break_the_runtime(each):
    each.execute("local m = {__index = function() error('no') end} debug = setmetatable({}, m) setmetatable(_G, m)")
    with pytest.raises(LuaError):
        each.eval("undefined")
    assert each.eval("1 + 1") == 2


def test_errors_in_finalisers_do_not_reach_python(each):
    source = """
    for i = 1, 100 do
       if newproxy then getmetatable(newproxy(true)).__gc = function() error('x') end
       else setmetatable({}, {__gc = function() error('x') end}) end
    end
    """
    each.execute(source)
    for _ in range(20):
        each.execute("collectgarbage() return torch.Tensor(3)")


# Pointers


def test_pointers_read_and_write_the_tensor(lua):
    result = lua.execute(
        """
        local x = torch.IntTensor{{1, 2}, {3, 4}}
        local p = torch.data(x)
        p[3] = 40
        local s = torch.IntStorage(2, torch.data(x, true))
        s[1] = 10
        local c = torch.cdata(x)
        return x:totable(), c.nDimension, tonumber(c.size[1]), tonumber(c.stride[0]), c.storage.data[3]
        """
    )
    assert result == ([[10, 2], [3, 40]], 2, 2, 2, 40)


@pytest.mark.parametrize("version", VERSIONS[1:])
def test_versions_without_ffi_say_so(version):
    with pytest.raises(LuaError, match=f"raw pointers need the FFI of LuaJIT, which Lua {version} does not have"):
        Lua(version).execute("torch.data(torch.Tensor(2))")
