"""Every function that a Lua program can call, with arguments of the wrong kinds: an error is a string in the words of Lua."""

import random
import re

import pytest

pytest.importorskip("lupa")

from strided.lua import Lua

#: Makes values of all kinds by number, collects the functions, and calls one of them with values by their numbers.
SETUP = """
local unpack = unpack or table.unpack
local torch = require 'torch'
local tensor = require 'dmlab.system.tensor'
local random = require 'dmlab.system.sys_random'

local values = {
   function() return nil end,
   function() return 'a' end,
   function() return '2' end,
   function() return {} end,
   function() return {1, 2} end,
   function() return {a = 1} end,
   function() return {torch.Tensor(2), torch.Tensor(2)} end,
   function() return true end,
   function() return false end,
   function() return function() end end,
   function() return print end,
   function() return coroutine.create(function() end) end,
   function() return 1 end,
   function() return 2 end,
   function() return 0 end,
   function() return -1 end,
   function() return 0.5 end,
   function() return torch.Tensor() end,
   function() return torch.LongTensor{1, 2} end,
}
local selves = {
   DoubleTensor = function() return torch.Tensor(2, 2):fill(1) end,
   IntTensor = function() return torch.IntTensor(3):fill(1) end,
   ByteTensor = function() return torch.ByteTensor(2, 2):fill(1) end,
   HalfTensor = function() return torch.HalfTensor(2, 2):fill(0) end,
   LongStorage = function() return torch.LongStorage{2, 1} end,
   FloatStorage = function() return torch.FloatStorage(4):fill(0) end,
   Generator = torch.Generator,
   Timer = torch.Timer,
   Tester = torch.Tester,
   TestSuite = torch.TestSuite,
   CmdLine = torch.CmdLine,
   MemoryFile = torch.MemoryFile,
   lab = function() return tensor.DoubleTensor(2, 2) end,
   random = function() return random end,
}
local functions = {torch = torch, tensor = tensor}
for name, make in pairs(selves) do
   functions[name] = getmetatable(make())
   values[#values + 1] = make
end

function names_of(group)
   local found = {}
   for name, f in pairs(functions[group]) do
      if type(f) == 'function' or type(torch.getconstructortable('torch.' .. name)) == 'table' then
         found[#found + 1] = name
      end
   end
   return found
end

function call(group, name, with_self, ...)
   local arguments, n = {}, select('#', ...)
   for i = 1, n do
      arguments[i] = values[select(i, ...) % #values + 1]()
   end
   if with_self and selves[group] then
      n = n + 1
      table.insert(arguments, 1, selves[group]())
   end
   local ok, message = pcall(functions[group][name], unpack(arguments, 1, n))
   return ok, ok or type(message), ok or tostring(message)
end
"""
GROUPS = [
    *("torch", "DoubleTensor", "IntTensor", "ByteTensor", "HalfTensor", "LongStorage", "FloatStorage", "Generator"),
    *("Timer", "Tester", "TestSuite", "CmdLine", "MemoryFile", "tensor", "lab", "random"),
]
#: They end the program, by design, or change the machine for other tests.
LEFT_OUT = {("CmdLine", "error"), ("CmdLine", "parse"), ("torch", "setnumthreads")}

PYTHON = re.compile(
    r"Traceback|<class '|<function |<lambda>|<locals>|NoneType|LuaFunction|Opaque|Reference|BadArgument|Refusal"
    r"|object (has|is|does)|of type '|positional|keyword|unhashable|unsupported operand|not supported between"
    r"|(list|tuple|string) index|takes (exactly|at |from |\d)|expected \d|must be (str|int|float|a |an )\b.*not "
    r"|_operator|\bPython\b|__init__|self\._"
)


@pytest.mark.parametrize("version", ["luajit", "5.4"])
@pytest.mark.parametrize("group", GROUPS)
def test_an_error_about_arguments_is_a_string_in_the_words_of_lua(group, version, tmp_path, capsys):
    lua = Lua(version, sandbox=True, root=tmp_path)
    lua.execute(SETUP)
    call = lua["call"]
    for name in sorted(map(str, lua["names_of"](group))):
        if (group, name) in LEFT_OUT:
            continue
        rng = random.Random(f"{group} {name}")
        for _ in range(10):
            chosen = [rng.randrange(1000) for _ in range(rng.randrange(5))]
            ok, kind, message = call(group, name, rng.random() < 0.9, *chosen)
            assert ok or kind == "string", (name, chosen, kind)
            assert ok or not PYTHON.search(str(message)), (name, chosen, message)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("torch.Tester():assertlt(nil, nil)", "attempt to compare two nil values"),
        ("torch.Tester():assertlt(1, nil)", "attempt to compare number with nil"),
        ("torch.Tester():assertalmosteq(1, nil)", "attempt to perform arithmetic on a nil value"),
        ("torch.CmdLine():string('a', 2)", "attempt to index a number value"),
        ("torch.Tester():assertErrorObj(error, nil)", "attempt to call a nil value"),
    ],
)
def test_an_error_of_a_function_that_checks_nothing_has_the_words_of_lua(code, message):
    found = Lua().execute(f"return pcall(function() {code} end)")
    assert found[0] is False
    assert re.sub(r"^\S+:\d+: ", "", found[1]) == message


def test_errors_of_functions_of_the_user_keep_their_words():
    lua = Lua()
    lua["compare"] = lambda a, b: a < b
    assert "'<' not supported between" in lua.execute("return pcall(compare, {}, 1)")[1]


def test_the_position_of_an_error_is_that_of_the_script():
    lua = Lua()
    assert lua.execute("return pcall(function()\ntorch.Tester():assertlt(nil, 1)\nend)", name="s")[1].startswith(
        "s:2: "
    )
