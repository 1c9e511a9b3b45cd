-- What a script in a sandbox may reach: the language and its libraries, without files, processes, bytecode, the debugger, the
-- FFI and machine code. This keeps honest scripts from accidents; a hostile one can still hang or crash the process.

local glue = ...
local env = glue.environment
local error, pcall, select, tostring, type = error, pcall, select, tostring, type
local find, gsub, match = string.find, string.gsub, string.match
local package = package

local MAX_SUBJECT = 1024 * 1024
local MAX_PATTERN = 1000
local MAX_ITEMS = 32
local MAX_DEPTH = 100 -- of callbacks of gsub

local REMOVED = {'debug', 'io', 'jit', 'getfenv', 'setfenv', 'newproxy', 'ffi', 'python', 'module'}
local CLOCKS = {'clock', 'time', 'date', 'difftime'}

for _, name in ipairs(REMOVED) do
   env[name] = nil
   package.loaded[name] = nil
   package.preload[name] = nil
end
for name in pairs(package.loaded) do
   if match(name, '^jit%.') or match(name, '^table%.') or match(name, '^string%.') then
      package.loaded[name] = nil
   end
end
for name in pairs(package.preload) do
   if not glue.modules[name] then
      package.preload[name] = nil
   end
end

local function copy(library, names)
   local result = {}
   for _, name in ipairs(names) do
      result[name] = library[name]
   end
   return result
end

for _, name in ipairs {'string', 'table', 'math', 'coroutine', 'bit', 'bit32', 'utf8'} do
   if env[name] then
      glue.own(name)
   end
end

env.os = copy(os, CLOCKS)
package.loaded.os = env.os
local date = os.date
function env.os.date(format, ...)
   -- C's strftime is undefined for conversions it does not know, and Lua 5.1 passes them on.
   local rest = gsub(tostring(format or ''), '%%[aAbBcdHIjmMpSUwWxXyYZ%%]', '')
   if find(rest, '%', 1, true) then
      error("bad argument #1 to 'date' (invalid conversion specifier)", 2)
   end
   return date(format, ...)
end

-- `package` without C libraries. `package.path` is read by our own searcher only, which stays below `root`.
local visible = {path = package.path, loaded = package.loaded, preload = package.preload, config = package.config}
visible.searchers = package.searchers
visible.loaders = package.loaders
glue.package = visible
env.package, package.loaded.package = visible, visible

env.string.dump = nil
getmetatable('').__index = env.string

-- Matching takes time that grows with a power of the subject's length, inside one C function where no hook runs.

local function count_items(pattern)
   local plain = gsub(gsub(pattern, '%%.', 'x'), '%[%^?%]?[^%]]*%]', 'x')
   return #(gsub(plain, '[*+?%-%(%)%^%$]', ''))
end

local function check(name, subject, pattern)
   if type(subject) == 'string' and #subject > MAX_SUBJECT then
      error('string.' .. name .. ': the subject has ' .. #subject .. ' bytes, and a sandbox matches at most ' .. MAX_SUBJECT, 3)
   end
   if type(pattern) == 'string' and #pattern > MAX_PATTERN then
      error('string.' .. name .. ': the pattern has ' .. #pattern .. ' bytes, and a sandbox accepts at most ' .. MAX_PATTERN, 3)
   end
   local items = type(pattern) == 'string' and count_items(pattern) or 0
   if items > MAX_ITEMS then
      error('string.' .. name .. ': the pattern has ' .. items .. ' items, and a sandbox accepts at most ' .. MAX_ITEMS, 3)
   end
end

-- In LuaJIT nothing limits how deep the callbacks of gsub call gsub, and each level has a buffer on the stack of C.
if glue.jit then
   local stock, begin = env.string.gsub, glue.begin
   local depth = 0

   function glue.begin()
      depth = 0
      begin()
   end

   local function leave(ok, ...)
      depth = depth - 1
      if not ok then
         error((...), 0)
      end
      return ...
   end

   function env.string.gsub(subject, pattern, replacement, ...)
      if depth >= MAX_DEPTH then
         error('C stack overflow', 0)
      elseif type(replacement) ~= 'function' and type(replacement) ~= 'table' then
         return stock(subject, pattern, replacement, ...)
      end
      depth = depth + 1
      return leave(pcall(stock, subject, pattern, replacement, ...))
   end
end

for _, name in ipairs {'find', 'match', 'gmatch', 'gsub', 'gfind'} do
   local f = env.string[name]
   if f then
      env.string[name] = function(subject, pattern, ...)
         if not (name == 'find' and select(2, ...)) then -- a plain search has no pattern
            check(name, subject, pattern)
         end
         return f(subject, pattern, ...)
      end
   end
end

glue.match = env.string.match -- for `torch.isTypeOf`, which matches patterns of scripts
