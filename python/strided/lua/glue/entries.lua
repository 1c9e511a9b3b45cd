-- The functions that Python calls by number: to run source code, and to reach the globals.

local glue = ...
local env, functions, load_text = glue.environment, glue.functions, glue.load_text
local error, pairs, type = error, pairs, type
local find, gmatch = string.find, string.gmatch
local getinfo, traceback = debug.getinfo, debug.traceback

local mode = glue.sandbox and 't' or 'bt'

local function run(source, name, ...)
   local f, message = load_text(source, name, mode, env)
   if not f then
      error(message, 0)
   end
   return f(...)
end

functions[-1] = run

functions[-2] = function(expression)
   local f, message = load_text('return ' .. expression, '=eval', mode, env)
   if not f then
      error(message, 0)
   end
   return f()
end

functions[-3] = function(name)
   return env[name]
end

functions[-4] = function(name, value)
   env[name] = value
end

-- The names in a table, for completion.
functions[-5] = function(value)
   local names = {}
   if type(value) == 'userdata' then
      value = glue.getmetatable(value)
   end
   while type(value) == 'table' do
      for name in pairs(value) do
         if type(name) == 'string' then
            names[#names + 1] = name
         end
      end
      local meta = glue.getmetatable(value)
      value = type(meta) == 'table' and (meta.__index or meta) or nil
   end
   return names
end

functions[-6] = function(dialect)
   glue.load(dialect == 'dmlab' and 'lab' or 'torch')
end

-- Where a script is: the innermost of its functions, as a traceback shows it.
functions[-7] = function()
   for line in gmatch(traceback('', 2), '[^\n]+') do
      if find(line, '^\t') and not find(line, '[strided]', 1, true) and not find(line, '[C]', 1, true) then
         return 'stack traceback:\n' .. line
      end
   end
   return ''
end

-- Whether a function is one of C, or one of ours in its place.
functions[-8] = function(handle)
   local info = getinfo(functions[handle], 'S')
   return info.what == 'C' or info.source == '=[strided]'
end

glue.getmetatable = env.getmetatable
