-- The globals of scripts. They are a table of their own, because lupa reads `debug.traceback` from the real globals outside
-- of any protected call: a script that replaced it, or gave the globals a metatable, could abort the process.

local glue = ...
local G = _G
local error, ipairs, loadstring, next, pairs, pcall, rawget, rawset = error, ipairs, loadstring or load, next, pairs, pcall, rawget, rawset
local getmetatable, select, setfenv, setmetatable, tostring, type = getmetatable, select, setfenv, setmetatable, tostring, type
local getfenv, stock_load, newproxy = getfenv, load, newproxy
local concat, gmatch, gsub, match, sub = table.concat, string.gmatch, string.gsub, string.match, string.sub
local package = package

local env = {}
for name, value in next, G do
   env[name] = value
end
env._G = env
env.python = glue.python -- nil unless the caller asked for it
glue.environment = env
package.loaded._G = env
package.loaded.python = glue.python
glue.package = package -- what scripts see

-- Gives scripts a copy of a library, and returns it: what they or we change there is not what our own files use.
local function own(name)
   local copy = {}
   for key, value in next, env[name] do
      copy[key] = value
   end
   env[name], package.loaded[name] = copy, copy
   return copy
end
glue.own = own

-- Loading source code

-- Like Lua's `load` of a string. `environment` is that of the chunk.
local load_text
if setfenv then
   function load_text(source, name, mode, environment)
      if sub(source, 1, 1) == '\27' and (glue.sandbox or mode == 't') then
         return nil, 'attempt to load chunk with wrong mode'
      end
      local f, message = loadstring(source, name)
      if f then
         setfenv(f, environment)
      end
      return f, message
   end
else
   function load_text(source, name, mode, environment)
      return stock_load(source, name, glue.sandbox and 't' or mode, environment)
   end
end

local function pieces(read)
   local list, piece = {}, read()
   while type(piece) == 'string' and piece ~= '' do
      list[#list + 1] = piece
      piece = read()
   end
   if piece ~= nil and type(piece) ~= 'string' then
      error('reader function must return a string', 0)
   end
   return concat(list)
end

local function load_any(chunk, name, mode, ...)
   local environment = env
   if select('#', ...) > 0 then
      environment = (...)
   end
   if type(chunk) == 'function' then
      local ok, source = pcall(pieces, chunk)
      if not ok then
         return nil, source
      end
      return load_text(source, name or '=(load)', mode, environment)
   elseif type(chunk) ~= 'string' then
      error("bad argument #1 to 'load' (function expected, got " .. type(chunk) .. ")", 3)
   end
   return load_text(chunk, name or chunk, mode, environment)
end

function env.load(...)
   local f, message = load_any(...)
   return f, message
end

if env.loadstring then
   function env.loadstring(source, name)
      if type(source) ~= 'string' and type(source) ~= 'number' then
         error("bad argument #1 to 'loadstring' (string expected, got " .. type(source) .. ")", 2)
      end
      source = tostring(source)
      return load_text(source, name or source, nil, env)
   end
end

-- A file as source: Python reads it, so that a sandbox has one place that knows which files there are.
local read_file = glue.adapt(glue.raw.read_source, 0)

local function load_file(path, mode, environment)
   local ok, source = pcall(read_file, path)
   if not ok then
      return nil, source
   end
   source = gsub(source, '^#[^\n]*', '', 1) -- the line of a Unix script that names its interpreter
   return load_text(source, '@' .. path, mode, environment)
end

function env.loadfile(path, mode, ...)
   if type(path) ~= 'string' then
      error("bad argument #1 to 'loadfile' (string expected, got " .. type(path) .. ")", 2)
   end
   local environment = env
   if select('#', ...) > 0 then
      environment = (...)
   end
   local f, message = load_file(path, mode, environment)
   return f, message
end

function env.dofile(path)
   if type(path) ~= 'string' then
      error("bad argument #1 to 'dofile' (string expected, got " .. type(path) .. ")", 2)
   end
   local f, message = load_file(path, nil, env)
   if not f then
      error(message, 0)
   end
   return f()
end

-- Modules

local loaded, preload = package.loaded, package.preload
local searchers_name = package.searchers and 'searchers' or 'loaders'

local function search_preload(name)
   local f = preload[name]
   if f == nil then
      return "\n\tno field package.preload['" .. name .. "']"
   end
   return f, ':preload:'
end

local find_module = glue.adapt(glue.raw.find_module, 0)

local function search_path(name)
   local template = rawget(glue.package, 'path')
   if type(template) ~= 'string' then
      error("'package.path' must be a string", 0)
   end
   local path, tried = find_module(name, template)
   if not path then
      return tried
   end
   local f, message = load_file(path, nil, env)
   if not f then
      error("error loading module '" .. name .. "' from file '" .. path .. "':\n\t" .. message, 0)
   end
   return f, path
end

local searchers = {search_preload, search_path}
if not glue.sandbox then
   for i = 3, #package[searchers_name] do
      searchers[i] = package[searchers_name][i] -- of C libraries
   end
end
package[searchers_name] = searchers

function env.require(name)
   if type(name) ~= 'string' then
      error("bad argument #1 to 'require' (string expected, got " .. type(name) .. ")", 2)
   end
   if loaded[name] ~= nil then
      return loaded[name]
   end
   local messages = {}
   for _, search in ipairs(package[searchers_name]) do
      local found, extra = search(name)
      if type(found) == 'function' then
         local result = found(name, extra)
         if result ~= nil then
            loaded[name] = result
         elseif loaded[name] == nil then
            loaded[name] = true
         end
         return loaded[name]
      elseif type(found) == 'string' then
         messages[#messages + 1] = found
      end
   end
   error("module '" .. name .. "' not found:" .. concat(messages), 2)
end

-- Lua 5.1 has `module` and environments of functions.
if setfenv then
   local function at_path(name)
      local at = env
      for part in gmatch(name, '[^.]+') do
         local inner = rawget(at, part)
         if inner == nil then
            inner = {}
            at[part] = inner
         elseif type(inner) ~= 'table' then
            error("name conflict for module '" .. name .. "'", 3)
         end
         at = inner
      end
      return at
   end

   function env.module(name, ...)
      local m = loaded[name]
      if type(m) ~= 'table' then
         m = at_path(name)
         loaded[name] = m
      end
      if m._NAME == nil then
         m._M, m._NAME, m._PACKAGE = m, name, match(name, '^(.*%.)') or ''
      end
      setfenv(2, m)
      for i = 1, select('#', ...) do
         select(i, ...)(m)
      end
   end

   function package.seeall(m)
      local meta = getmetatable(m)
      if not meta then
         meta = {}
         setmetatable(m, meta)
      end
      meta.__index = env
   end

   local function visible(environment)
      return environment == G and env or environment
   end

   function env.getfenv(f)
      if f == nil then
         f = 1
      end
      if f == 0 then
         return env
      end
      return visible(getfenv(type(f) == 'number' and f + 1 or f))
   end

   function env.setfenv(f, environment)
      if f == 0 then
         error("'setfenv' cannot change the environment of a thread here", 2)
      end
      setfenv(type(f) == 'number' and f + 1 or f, environment)
      return f == 0 and nil or f
   end
end

-- `os.exit` ends the Python program: its buffers are flushed, and its handlers run.
local exit = glue.adapt(glue.raw.exit, 0)
own('os').exit = function(code)
   exit(code)
end

-- LuaJIT does not limit how deep coroutines resume each other, and each level takes some of the stack of C.
if glue.jit then
   local create, resume = coroutine.create, coroutine.resume
   local MAX_DEPTH = 190
   local depth = 0

   local function leave(...)
      depth = depth - 1
      return ...
   end

   local function limited(co, ...)
      if depth >= MAX_DEPTH then
         return false, 'C stack overflow'
      end
      depth = depth + 1
      return leave(resume(co, ...))
   end

   local function pass(ok, ...)
      if not ok then
         local value = ...
         error(value, type(value) == 'string' and 2 or 0)
      end
      return ...
   end

   local visible = own('coroutine')
   function visible.resume(co, ...)
      if type(co) ~= 'thread' then
         return resume(co) -- which raises the error
      end
      return limited(co, ...)
   end
   function visible.wrap(f)
      local co = create(f)
      return function(...)
         return pass(limited(co, ...))
      end
   end
   function glue.begin()
      depth = 0
   end
end

-- Finalisers. An error in one would unwind through whatever happens to allocate memory, such as lupa; sandboxes have none.

local function quiet(finaliser)
   return function(...)
      pcall(finaliser, ...)
   end
end

-- `setmetatable` for scripts and for their classes. An error is at `level`, which counts from here.
local attach

if newproxy then
   attach = setmetatable -- a finaliser of a table is not called
   function env.newproxy(source)
      if source ~= true then
         return newproxy(source)
      end
      local proxy = newproxy(true)
      setmetatable(getmetatable(proxy), {
         __newindex = function(meta, key, value)
            if key == '__gc' and type(value) == 'function' then
               value = quiet(value)
            end
            rawset(meta, key, value)
         end,
      })
      return proxy
   end
else
   local wrapped = setmetatable({}, {__mode = 'k'})
   function attach(t, meta, level)
      local finaliser
      if type(meta) == 'table' then
         finaliser = rawget(meta, '__gc')
      end
      -- Lua marks the object for finalisation if the field is there, and reads it later: `false` may become a function.
      if finaliser ~= nil and glue.limited then
         error("bad argument #2 to 'setmetatable' (a script with limits cannot have finalisers: __gc)", level)
      elseif type(finaliser) == 'function' and not wrapped[finaliser] then
         finaliser = quiet(finaliser)
         wrapped[finaliser] = true
         rawset(meta, '__gc', finaliser)
      end
      return setmetatable(t, meta)
   end
   function env.setmetatable(t, meta)
      local made = attach(t, meta, 3)
      return made
   end
end

glue.attach = attach
glue.load_text = load_text
