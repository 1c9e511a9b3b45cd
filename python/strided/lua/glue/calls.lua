-- Calls from Lua to Python and from Python to Lua. A Python exception never enters Lua: Python returns its text with a code,
-- and the functions here raise it as a string.

local glue = ...
local host, codes = glue.host, glue.codes
local inward, spread, build = glue.inward, glue.spread, glue.build
local wrap, functions = glue.wrap, glue.functions
local select, error, pcall, xpcall, tostring, type = select, error, pcall, xpcall, tostring, type
local getinfo, traceback, collectgarbage = debug.getinfo, debug.traceback, collectgarbage
local running = coroutine.running
local unpack = unpack or table.unpack

local SELF, ERROR, RERAISE, RESULTS = codes.self, codes.error, codes.reraise, codes.results

-- Errors

-- The text of an error about an argument. Lua names the function by how it was called: `x:narrow(...)` does not count `x`
-- as an argument, `f(x, ...)` does. Level 2 is the function that the script called.
local function reword(message, number, reason)
   if not number then
      return message
   end
   local info = getinfo(2, 'n')
   local name = info and info.name
   if not name then
      return "bad argument #" .. number .. " to '?' (" .. reason .. ")"
   elseif info.namewhat ~= 'method' then
      return "bad argument #" .. number .. " to '" .. name .. "' (" .. reason .. ")"
   elseif number == 1 then
      return "calling '" .. name .. "' on bad self (" .. reason .. ")"
   end
   return "bad argument #" .. number - 1 .. " to '" .. name .. "' (" .. reason .. ")"
end

-- The level of the innermost function of the script, from a level on that counts as in the caller of this function. Functions
-- of ours may stand between the script and Python.
local function script_level(level)
   local info = getinfo(level, 'S')
   while info and info.source == '=[strided]' do
      level = level + 1
      info = getinfo(level, 'S')
   end
   return level - 1
end

-- What a Lua function raised while Python was calling it passes through Python and is raised again, unchanged. The serial
-- number tells whether it is still that error.
local raised
local serial = 0

-- From Lua to Python

-- The result of a call that is more than one value, or neither a plain value nor an object.
local function settle(value, code, a, b, c, d, e, f)
   if code == RESULTS then
      if value == 0 then
         return
      elseif value == 2 then
         return inward(a, b), inward(c, d)
      elseif value == 3 then
         return inward(a, b), inward(c, d), inward(e, f)
      end
      return unpack(build(a), 1, value)
   elseif code == RERAISE then
      if a == serial then
         value, raised = raised, nil
      end
      error(value, 0)
   end
   return inward(value, code)
end

-- Lua's collector sees small objects, whatever memory their tensors have; Python counts that and asks for a collection.
local function collect(value, code)
   local object = wrap(value, code)
   collectgarbage() -- frees objects that are not used any more
   collectgarbage() -- frees what they refer to
   return object
end

-- Python may call a Lua function only on the coroutine that is running. On the main one it knows how to.
local function dispatcher()
   local coroutine, is_main = running()
   if coroutine and not is_main then
      return glue.call
   end
end

local passed = glue.passed -- whether a function is among the arguments
local with_dispatcher, unlimited, results = glue.raw.with_dispatcher, glue.unlimited, glue.results

local function call(python, ...)
   if passed[1] then
      passed[1] = false
      local dispatch = dispatcher()
      if dispatch and unlimited then
         return unlimited(with_dispatcher, dispatch, python, ...)
      elseif dispatch then
         return results(pcall(with_dispatcher, dispatch, python, ...))
      end
   end
   if unlimited then
      return unlimited(python, ...)
   end
   return results(pcall(python, ...))
end

-- A Python function, one of `glue.raw` or of `glue.as_function`, as a Lua function. `level` is that of the position in error messages: 2 is the caller, 0 is none.
-- `calls` says that Python may call functions that it has kept from an earlier call.
local function adapt(python, level, calls)
   return function(...)
      if calls then
         passed[1] = true
      end
      local value, code, a, b, c, d, e, f = call(python, spread(true, select('#', ...), ...))
      if code == nil then
         return value
      elseif code > 0 then
         if a then
            return collect(value, code)
         end
         return wrap(value, code)
      elseif code == SELF then
         return (...)
      elseif code == ERROR then
         error(reword(value, a, b), level > 0 and script_level(level + 1) or 0)
      end
      return settle(value, code, a, b, c, d, e, f)
   end
end

-- A callable that came from Python.
function glue.callable(reference)
   return adapt(glue.as_function(host.bind(reference)), 2, true)
end

-- From Python to Lua

local trace

local function remember(value)
   local ok, text = pcall(traceback, '', 3) -- it fails if memory has run out
   trace = ok and text or ''
   return value
end

local function describe(value)
   if type(value) == 'string' then
      return value
   end
   local ok, text = pcall(tostring, value)
   return ok and type(text) == 'string' and text or type(value)
end

local function report(traced, ok, ...)
   if ok then
      return true, spread(false, select('#', ...), ...)
   end
   raised = (...)
   serial = serial + 1
   if type(raised) == 'userdata' and not glue.references[raised] then
      pcall(host.interrupted, raised) -- an exception that a signal raised, outside of all that catches exceptions
   end
   return false, describe(raised), traced and trace or '', serial, type(raised) == 'string'
end

-- Calls a function that Python knows by its handle. `cursor` has arguments that are not plain values, `n` is their number.
-- An error is kept for `settle`, or, for callers outside of Lua, described.
function glue.call(traced, handle, cursor, n, ...)
   local f = functions[handle]
   if not traced then
      if cursor then
         return report(false, pcall(f, unpack(build(cursor), 1, n)))
      end
      return report(false, pcall(f, ...))
   end
   if glue.begin then
      glue.begin()
   end
   local arguments = cursor and build(cursor) or {...}
   trace = nil
   return report(true, xpcall(function()
      return f(unpack(arguments, 1, n))
   end, remember))
end

-- A memory limit holds while Lua runs, and not while Python passes values to it or takes them.
if glue.memory then
   local limited, lift, restore = glue.call, glue.raw.lift, glue.raw.restore

   local function lifting(ok, ...)
      lift()
      if not ok then
         error((...), 0)
      end
      return ...
   end

   function glue.call(...)
      restore()
      return lifting(pcall(limited, ...))
   end
end

glue.adapt = adapt
