"""What a script cannot do: run, recurse or allocate for ever, and in a sandbox reach files, processes, memory or Python."""

import inspect
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest

pytest.importorskip("lupa")

from strided import torch7
from strided.lua import Lua, LuaError, LuaMemoryError, LuaTimeoutError

VERSIONS = ["luajit", "5.1", "5.2", "5.3", "5.4", "5.5"]

#: Scripts that do not end by themselves.
ENDLESS = {
    "loop": "while true do end",
    "tail calls": "local function f() return f() end f()",
    "pcall": "while true do pcall(function() while true do end end) end",
    "pcall in pcall": "local function f() while true do pcall(f) end end f()",
    "message handler": "while true do xpcall(function() while true do end end, function() while true do end end) end",
    "recursion": "local function f() return 1 + f() end while true do pcall(f) end",
    "coroutine": "while true do local co = coroutine.create(function() while true do end end) coroutine.resume(co) end",
    "wrap": "while true do pcall(coroutine.wrap(function() while true do pcall(error) end end)) end",
    "strings": "while true do local s = string.rep('x', 100000) end",
    "tables": "local t = {} while true do t[#t + 1] = {} if #t > 100000 then t = {} end end",
    "callback": "local x = torch.zeros(9) while true do pcall(x.apply, x, function() while true do end end) end",
    "many callbacks": "local x = torch.zeros(9) while true do x:apply(function(v) return v + 1 end) end",
    "pattern": "while true do string.gsub('aaaa', 'a', function() while true do end end) end",
    "sort": "while true do pcall(table.sort, {3, 2, 1}, function() while true do end end) end",
    "metamethod": "local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) while true do pcall(function() return t[1] end) end",
    "tostring": "local t = setmetatable({}, {__tostring = function() while true do end end}) while true do pcall(tostring, t) end",
    "error value": "error(setmetatable({}, {__tostring = function() while true do end end}))",
}


@pytest.fixture(scope="module", params=VERSIONS)
def timed_runtime(request):
    """The runtime of all endless scripts: it goes on after each of them."""
    lua = Lua(request.param, timeout=0.1)
    lua.execute("require 'torch'")
    return lua


@pytest.mark.parametrize("script", ENDLESS.values(), ids=ENDLESS)
def test_a_script_that_does_not_end_is_stopped_and_the_runtime_goes_on(timed_runtime, script):
    lua = timed_runtime
    with pytest.raises(LuaTimeoutError, match=r"the script ran longer than timeout=0\.1 s"):
        lua.execute(script)
    assert lua.execute("local f = coroutine.wrap(function(x) return x + 1 end) return f(1), pcall(error, 'e', 0)") == (
        2,
        False,
        "e",
    )


def test_a_script_in_time_is_not_stopped():
    assert Lua(timeout=60).eval("torch.range(1, 10):sum()") == 55


def test_every_call_has_its_own_time():
    lua = Lua(timeout=0.5)
    lua.execute("function nap(t) local start = clock() while clock() < start + t do end end", name="nap")
    lua["clock"] = time.monotonic
    for _ in range(4):
        lua["nap"](0.2)


@pytest.mark.parametrize("version", VERSIONS)
def test_finalisers_cannot_run_for_ever(version):
    lua = Lua(version, timeout=0.2)
    forever = "function() while true do end end"
    source = (
        f"pcall(function() getmetatable(newproxy(true)).__gc = {forever} end)"
        f" pcall(function() setmetatable({{}}, {{__gc = {forever}}}) end)"
        f" torch.DoubleTensor.__gc = {forever} torch.Tensor(2) collectgarbage() collectgarbage()"
    )
    lua.execute(source)


def test_the_hook_cannot_be_taken_away():
    for attempt in ("debug.sethook()", "jit.on()", "require('jit').on()", "require('debug').sethook()"):
        with pytest.raises(LuaTimeoutError):
            Lua(timeout=0.1).execute(f"pcall(function() {attempt} end) while true do end")


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_ctrl_c_is_prompt_in_an_interpreted_runtime():
    lua = Lua(jit=False)
    lua["started"] = lambda: threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            lua.execute("started() while true do pcall(error) end")
    finally:
        signal.signal(signal.SIGINT, before)
    assert lua.eval("1") == 1


# Memory

HUNGRY = {
    "tables": "local t = {} for i = 1, 1e9 do t[i] = {} end",
    "a string": "local s = 'x' while true do s = s .. s end",
    "rep": "return #string.rep('x', 1e9)",
    "caught": "local t = {} while true do local ok, e = pcall(function() while true do t[#t + 1] = ('x'):rep(999) .. #t end end)"
    " if #t > 100 then error(e, 0) end end",
    "printed tensors": "local x, t = torch.zeros(50, 50), {} while true do x[1][1] = #t t[#t + 1] = tostring(x) end",
    "tables of numbers": "local x, t = torch.zeros(99, 99), {} while true do t[#t + 1] = x:totable() end",
    "tensors": "local t = {} while true do t[#t + 1] = torch.zeros(2) end",
    "callbacks": "local t, x = {}, torch.zeros(9) while true do x:apply(function() t[#t + 1] = {} end) end",
    "functions": "local t, x = {}, torch.zeros(1) while true do local f = function() end x:apply(f) t[#t + 1] = f end",
    "coroutines": "local t = {} while true do t[#t + 1] = coroutine.create(function() end) end",
}


@pytest.fixture(scope="module", params=VERSIONS)
def bounded_runtime(request):
    """The runtime of all scripts that allocate for ever."""
    lua = Lua(request.param, memory=4_000_000)
    lua.execute("require 'torch'")
    return lua


@pytest.mark.parametrize("script", HUNGRY.values(), ids=HUNGRY)
def test_a_script_that_allocates_for_ever_is_stopped_and_the_runtime_goes_on(bounded_runtime, script):
    lua = bounded_runtime
    with pytest.raises(LuaMemoryError):
        lua.execute(script)
    with pytest.raises(LuaMemoryError):
        lua["s"] = "x" * 8_000_000
    lua["s"] = "x" * 1_000_000
    assert lua.eval("#s") == 1_000_000
    lua["s"] = None


def test_the_libraries_do_not_count_as_memory_of_the_script():
    assert Lua(memory=1_000_000).eval("torch.Tensor(2, 3):dim()") == 2


@pytest.mark.parametrize(
    "wrong", [{"timeout": 0}, {"memory": 1000}, {"root": "."}, {"sandbox": True, "python": True}, {"dialect": "x"}]
)
def test_limits_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="Lua: "):
        Lua(**wrong)


def with_frames_left(count, function):
    """Calls a function where Python's stack has room for a number of calls."""

    def descend(depth):
        return function() if depth <= 0 else descend(depth - 1)

    with suppress(RecursionError, LuaError):  # of the code before or after the script
        descend(sys.getrecursionlimit() - len(inspect.stack(0)) - count)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_call_that_finds_the_stack_of_python_full_raises_a_text_and_leaves_the_limits(version):
    lua = Lua(version, memory=4_000_000)
    lua.execute("""
        x, full, wrong = torch.zeros(3), 0, {}
        function attempt()
           local ok, message = pcall(x.narrow, x, 1, 1, 1)
           if not ok then
              full = full + 1
              if type(message) ~= 'string' then wrong[#wrong + 1] = type(message) end
              if pcall(string.rep, 'x', 8000000) then wrong[#wrong + 1] = 'unlimited' end
           end
        end
    """)
    attempt = lua["attempt"]
    for count in range(1, 60):
        with_frames_left(count, attempt)
    assert lua["full"] > 0
    assert lua["wrong"] == []


def test_loading_a_library_adds_to_the_limits_once():
    lua = Lua(memory=2_000_000)
    lua.execute("require 'torch'")
    limit = lua._limit
    with pytest.raises(LuaMemoryError):
        lua.execute("for i = 1, 3 do package.loaded.torch = nil pcall(require, 'torch') end return ('x'):rep(8000000)")
    assert lua._limit == limit


def test_a_library_that_cannot_be_loaded_adds_nothing_to_the_limits(monkeypatch):
    monkeypatch.setattr("strided.lua.library.describe_torch", lambda adapters: {b"functions": {}})
    lua = Lua(memory=2_000_000)
    limit = lua._limit
    with pytest.raises(LuaMemoryError):
        lua.execute("pcall(require, 'torch') return ('x'):rep(8000000)")
    assert lua._limit == limit


# Sandbox


@pytest.fixture(params=VERSIONS)
def box(request):
    return Lua(request.param, sandbox=True)


#: Expressions that a sandbox answers with nil or an error.
REMOVED = [
    *("ffi", "debug", "io", "jit", "python", "getfenv", "setfenv", "newproxy", "module"),
    *("os.execute", "os.remove", "os.rename", "os.getenv", "os.exit", "os.tmpname", "os.setlocale"),
    *("package.loadlib", "package.cpath", "package.searchpath", "string.dump", "('').dump"),
    *("require 'ffi'", "require 'io'", "require 'debug'", "require 'jit'", "require 'python'", "require 'jit.util'"),
    *(
        "require 'string.buffer'",
        "require 'table.new'",
        "package.loaded.io",
        "package.loaded.debug",
        "package.loaded.ffi",
    ),
    *("package.preload.ffi", "load('\\27Lua')", "load('\\27LJ')", "loadstring('\\27Lua')", "loadfile('/etc/passwd')"),
    *("dofile('/etc/passwd')", "require '/etc/passwd'", "io and io.open", "torch.ByteStorage('/etc/passwd')"),
    *("torch.ByteStorage(8, 4096)", "torch.data(torch.Tensor(2))", "torch.Tensor(2):data()", "torch.Tensor(2):cdata()"),
    *("torch.Tensor(2).__class__", "torch.rand.__globals__", "torch.Tensor(2)._tensor", "torch.Tensor(2).strided"),
]


@pytest.mark.parametrize("expression", REMOVED)
def test_a_sandbox_has_no(box, expression):
    found = box.execute(f"local ok, value = pcall(function() return {expression} end) return ok and value or nil")
    assert found is None


def test_what_is_left_in_a_sandbox_works(box):
    assert box.eval("type(os.time()) .. type(os.clock()) .. type(os.date())") == "numbernumberstring"
    assert box.execute("return load('return 1 + 1')(), ('x'):rep(3), torch.range(1, 3):sum()") == (2, "xxx", 6)
    assert box.execute("local z = require 'dmlab.system.tensor'.DoubleTensor{1, 2} return z:sum()") == 3
    assert box.execute("return pcall(string.find, 'abc', 'b')") == (True, 2, 2)


def test_nothing_in_a_sandbox_leads_to_another_environment(box):
    """Walks over everything that a script can reach, and looks for tables and functions that must not be there."""
    found = box.execute(
        """
        local seen, queue, bad = {}, {_G, torch, require 'dmlab.system.tensor', torch.Tensor(2), ''}, {}
        local names = {io = 1, debug = 1, ffi = 1, jit = 1, loadlib = 1, dump = 1, execute = 1, getregistry = 1, sethook = 1}
        while #queue > 0 do
           local value = table.remove(queue)
           if value ~= nil and not seen[value] then
              seen[value] = true
              if type(value) == 'table' then
                 for k, v in next, value do
                    if names[k] then bad[#bad + 1] = k end
                    queue[#queue + 1] = v
                    queue[#queue + 1] = k
                 end
              end
              queue[#queue + 1] = getmetatable(value)
           end
        end
        return bad
        """
    )
    assert found == []


def test_a_sandbox_without_root_has_no_files(box, tmp_path):
    (tmp_path / "data.bin").write_bytes(b"12345678")
    name = str(tmp_path / "data.bin")
    with pytest.raises(LuaError):
        box.execute("require 'dmlab.system.tensor'.ByteTensor{file = {name = ...}}", name)
    with pytest.raises(LuaError):
        box.execute("torch.ByteStorage(...)", name)
    with pytest.raises(LuaError, match="this sandbox has no files"):
        box.execute("dofile(...)", name)


@pytest.mark.parametrize("version", VERSIONS)
def test_files_below_the_root_can_be_read_and_no_others(version, tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "helper.lua").write_text("return 'found'")
    (root / "data.bin").write_bytes(bytes([1, 2, 3]))
    (tmp_path / "secret.lua").write_text("return 'secret'")
    (root / "link.lua").symlink_to(tmp_path / "secret.lua")
    lua = Lua(version, sandbox=True, root=root)
    lua.execute("package.path = '?.lua;../?.lua;/?.lua'")
    assert lua.execute("return require 'helper', dofile('helper.lua')") == ("found", "found")
    assert lua.execute("return require 'dmlab.system.tensor'.ByteTensor{file = {name = 'data.bin'}}:sum()") == 6
    for name in ("../secret.lua", str(tmp_path / "secret.lua"), "link.lua"):
        with pytest.raises(LuaError, match="outside of the root"):
            lua.execute("dofile(...)", name)
    for module in ("secret", "../secret", "link"):
        with pytest.raises(LuaError, match="not found"):
            lua.execute("require(...)", module)


def test_patterns_are_limited_in_a_sandbox(box):
    with pytest.raises(LuaError, match=r"string\.find: the pattern has 66 items, and a sandbox accepts at most 32"):
        box.execute("return string.find(('a'):rep(33), ('a?'):rep(33) .. ('a'):rep(33))")
    with pytest.raises(LuaError, match=r"string\.gsub: the subject has 1048577 bytes"):
        box.execute("return (('a'):rep(1024 * 1024 + 1)):gsub('a', 'b')")
    with pytest.raises(
        LuaError, match=r"string\.match: the pattern has 1001 bytes, and a sandbox accepts at most 1000"
    ):
        box.execute("return string.match('a', ('['):rep(1001))")
    with pytest.raises(LuaError, match=r"string\.match: the pattern has 66 items"):
        box.execute("return torch.isTypeOf(torch.Tensor(), ('a?'):rep(33) .. ('a'):rep(33))")
    assert box.eval("torch.isTypeOf(torch.Tensor(), 'torch%..*Tensor')") is True
    assert box.execute("return string.find(('a'):rep(2000000) .. 'b', 'b', 1, true)") == (2000001, 2000001)
    assert box.execute("return ('x=1, y=2'):gsub('(%w+)=(%w+)', '%2=%1')") == ("1=x, 2=y", 2)


def test_a_script_in_a_sandbox_cannot_end_the_program(box, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["program", "-secret"])
    for call, code in (("parse({'-help'})", 0), ("parse({'surplus'})", 1), ("error('wrong')", 1)):
        with pytest.raises(LuaError, match=f"CmdLine: the script ends with exit code {code}"):
            box.execute(f"torch.CmdLine():{call}")
    assert "Usage: [options]" in capsys.readouterr().out
    assert box.execute("return torch.CmdLine():parse()") in ([], {})
    with pytest.raises(SystemExit) as caught:  # a script without a sandbox is the program
        Lua().execute("torch.CmdLine():parse({'-help'})")
    assert caught.value.code == 0


def test_a_script_in_a_sandbox_does_not_change_the_number_of_threads(box):
    before = torch7.getnumthreads()
    box.execute("torch.setnumthreads(...)", before + 3)
    assert torch7.getnumthreads() == before


def test_python_attributes_are_out_of_reach_even_through_the_debugger():
    lua = Lua()
    lua["f"] = lambda: None
    found = lua.execute(
        """
        local raw = {}
        local function collect(f, depth)
           for i = 1, 60 do
              local name, value = debug.getupvalue(f, i)
              if not name then break end
              if type(value) == 'userdata' then raw[#raw + 1] = value end
              if type(value) == 'function' and depth < 4 then collect(value, depth + 1) end
           end
        end
        collect(f, 0)
        for _, value in pairs(debug.getregistry()) do
           if type(value) == 'userdata' then raw[#raw + 1] = value end
        end
        local reached = 0
        for _, value in ipairs(raw) do
           for _, name in ipairs {'__globals__', '__class__', 'value', '__init__', 'obj'} do
              local ok, inner = pcall(function() return value[name] end)
              if ok and inner ~= nil then reached = reached + 1 end
           end
        end
        return reached, #raw > 0
        """
    )
    assert found == (0, True)


def test_a_failing_sandbox_leaves_the_session_of_python_alone():
    lua = Lua(sandbox=True)
    with pytest.raises(LuaError):
        lua.execute("torch.setdefaulttensortype('torch.FloatTensor') error('x')")
    assert torch7.Tensor(1).type() == "torch.DoubleTensor"


# Crashes: these run in another process, because a crash would end it

HOSTILE = {
    "globals": "setmetatable(_G, {__index = error, __newindex = error}) debug = nil",
    "environment": "pcall(setfenv, 0, {}) pcall(function() getfenv(0).debug = 1 end)",
    "tostring": "tostring = nil type = nil pairs = nil error = nil string = nil print(1)",
    "string methods": "for k in pairs(string) do string[k] = function() error('x') end end for k in pairs(table) do table[k] = nil end",
    "metatable of strings": "getmetatable('').__index = function() error('x') end",
    "class tables": "for k in pairs(getmetatable(torch.Tensor(1))) do getmetatable(torch.Tensor(1))[k] = nil end",
    "class fields": "local m = torch.getmetatable('torch.DoubleTensor') m.__index = 5 m.__tostring = {} m.__gc = 1",
    "dead coroutines": "for i = 1, 300 do coroutine.wrap(function() torch.Tensor(1):apply(function() end) keep(function() end) end)() end"
    " collectgarbage() collectgarbage()",
    "kept exceptions": "for i = 1, 50 do coroutine.wrap(function() attempt(function() error('x') end) end)() end"
    " collectgarbage() collectgarbage()",
    "yields": "for i = 1, 99 do pcall(coroutine.wrap(function() torch.Tensor(9):apply(coroutine.yield) end)) end",
    "depth": "local x = torch.Tensor(1) local function f() x:apply(f) end for i = 1, 5 do pcall(f) end",
    "coroutine depth": "local function f() coroutine.wrap(f)() end pcall(f)",
    "callbacks in coroutines": "local x = torch.Tensor(1) local function f() coroutine.wrap(function() x:apply(f) end)() end pcall(f)",
    "resizing while it is applied": "local x = torch.zeros(9) pcall(x.apply, x, function() x:resize(1000000) x:storage():resize(1) end)",
    "huge sizes": "pcall(torch.Tensor, 2^40, 2^40) pcall(torch.Tensor, -5) pcall(torch.zeros, 2^62) pcall(torch.range, 1, 1e300)",
    "odd arguments": "for k, f in pairs(torch) do if type(f) == 'function' and k ~= 'include' then"
    " pcall(f) pcall(f, nil) pcall(f, {}) pcall(f, print, 1) pcall(f, '\\255') end end",
    "odd methods": "local x = torch.range(1, 6) for k, f in pairs(getmetatable(x)) do if type(f) == 'function' then"
    " pcall(f, x:clone(), 0/0, -1e300, {}) pcall(f, x:clone(), {{}}, '') pcall(f, x:clone(), x, x, x) end end",
    "finalisers": "if newproxy then for i = 1, 99 do getmetatable(newproxy(true)).__gc = function() error({}) end end"
    " else for i = 1, 99 do setmetatable({}, {__gc = function() error({}) end}) end end collectgarbage() torch.Tensor(9)",
}

RUNNER = """
import json, os, sys
os.chdir(sys.argv[2])
from strided.lua import Lua, LuaError
for name, script in json.load(sys.stdin).items():
    lua = Lua(sys.argv[1])
    kept = []
    lua["keep"] = kept.append
    errors = []
    def attempt(f):
        try:
            f()
        except LuaError as error:
            errors.append(error)
    lua["attempt"] = attempt
    lua.execute("torch.Tensor(1)")
    for _ in range(3):
        try:
            lua.execute(script)
        except LuaError:
            pass
    for f in kept:
        f()
    kept.clear()
    errors.clear()
    for _ in range(5):
        assert lua.execute("return ...", 7) == 7
        lua._runtime.gccollect()
    print("\\n" + name, flush=True)
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_no_script_ends_the_process(version, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, version, str(tmp_path)],
        input=json.dumps(HOSTILE),
        capture_output=True,
        text=True,
        timeout=300,
    )
    survived = [line for line in done.stdout.splitlines() if line in HOSTILE]
    assert survived == list(HOSTILE), done.stderr[-2000:]


# What would hang or crash a runtime with limits, in another process

FOREVER = "function() while true do end end"

LIMITED = {
    "finaliser of a type": f"local m = {{__gc = {FOREVER}}} torch.metatype('M', m) torch.setmetatable({{}}, 'M')",
    "finaliser of a class": f"local C = torch.class('C') C.__gc = {FOREVER} _G.C()",
    "finaliser of a parent": f"local C = torch.class('C') C.__gc = {FOREVER} torch.class('D', 'C')",
    "finaliser that comes later": f"local m = {{__gc = false}} setmetatable({{}}, m) m.__gc = {FOREVER}",
    "global that is set while torch loads": f"setmetatable(_G, {{__newindex = {FOREVER}}}) require 'torch'",
    "library that is read while torch loads": f"table = setmetatable({{}}, {{__index = {FOREVER}}}) require 'torch'",
    "error while torch loads": "setmetatable(_G, {__newindex = error}) pcall(require, 'torch') while true do end",
    "torch that loads again": "while true do package.loaded.torch = nil pcall(require, 'torch') end",
    "torch that does not load": "while true do package.loaded.torch = nil string = nil pcall(require, 'torch') end",
    "pattern of a tester": "torch.Tester():assertErrorPattern(function() error(('a'):rep(40), 0) end, '(a*)*b')",
    "pattern of a type": "torch.class(('a'):rep(33)) torch.isTypeOf(_G[('a'):rep(33)](), ('a?'):rep(33) .. ('a'):rep(33))",
    "pattern of brackets": "pcall(string.find, 'a', ('['):rep(1e6))",
    "name of a class": "pcall(torch.class, ('a'):rep(1e6) .. '.')",
    "gsub in gsub": "local function f() string.gsub('a', 'a', f) end f()",
    "gsub in gsub in coroutines": "local function f() coroutine.wrap(function() string.gsub('a', 'a', f) end)() end f()",
    "tests that run themselves": "local t = torch.Tester() for i = 1, 3 do t:add(function() t:run() end, 'x' .. i) end t:run()",
    "end of the program": "torch.CmdLine():error('wrong')",
}

LIMITED_RUNNER = """
import json, sys
from strided.lua import Lua, LuaError
for name, script in json.load(sys.stdin).items():
    lua = Lua(sys.argv[1], sandbox=True, timeout=0.1, memory=20_000_000)
    try:
        lua.execute(script)
    except LuaError:
        pass
    lua._runtime.gccollect()
    assert lua.execute("collectgarbage() return ...", 7) == 7
    print("\\n" + name, flush=True)
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_no_script_hangs_or_ends_the_process_of_a_sandbox(version):
    done = run_scripts(LIMITED_RUNNER, LIMITED, version)
    assert [line for line in done if line in LIMITED] == list(LIMITED), done


def run_scripts(runner, scripts, *arguments):
    """The lines that a program prints which reads scripts, also if it does not end."""
    process = subprocess.Popen(
        [sys.executable, "-c", runner, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        return process.communicate(json.dumps(scripts), timeout=300)[0].splitlines()
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0].splitlines()
