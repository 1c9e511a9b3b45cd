-- The functions that Python calls by number: to run source code, and to reach the globals.

local glue = ...
local env, functions, load_text = glue.environment, glue.functions, glue.load_text
local error, next, rawget, select, type = error, next, rawget, select, type
local find, gmatch, gsub = string.find, string.gmatch, string.gsub
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

-- An expression as a function. It is not called last in it: Lua forgets the names of functions that are, for its errors.
local function load_expression(expression, name)
   local f, message = load_text('return ' .. expression, name, mode, env)
   if f then
      f = load_text('local __results = ... return __results(' .. expression .. '\n)', name, mode, env)
   end
   return f, message
end

local function pass(...)
   return ...
end

functions[-2] = function(expression)
   local f, message = load_expression(expression, '=eval')
   if not f then
      error(message, 0)
   end
   return f(pass)
end

functions[-3] = function(name)
   return env[name]
end

functions[-4] = function(name, value)
   env[name] = value
end

-- The names in the value of `a.b.c`, for completion: those of a table and of what it inherits, or of an object's class.
functions[-5] = function(path)
   local value = env
   for part in gmatch(path, '[%w_]+') do
      value = value[part]
   end
   local names = {}
   if type(value) == 'string' then
      value = env.string
   elseif type(value) == 'userdata' then
      value = glue.getmetatable(value)
   end
   while type(value) == 'table' do
      for name in next, value do
         if type(name) == 'string' then
            names[#names + 1] = name
         end
      end
      local meta = glue.getmetatable(value)
      local index = type(meta) == 'table' and rawget(meta, '__index')
      value = type(index) == 'table' and index or meta ~= value and meta or nil
   end
   return names
end

functions[-6] = function(dialect)
   glue.load(dialect == 'dmlab' and 'lab' or 'torch')
end

-- Where a script is: the innermost of its functions, as a traceback shows it.
functions[-7] = function()
   for line in gmatch(traceback('', 2), '[^\n]+') do
      if find(line, '^\t') and not find(line, 'strided.glue', 1, true) and not find(line, '[C]', 1, true) then
         return 'stack traceback:\n' .. line
      end
   end
   return ''
end

-- Whether a function is one of C, or one of ours in its place.
functions[-8] = function(handle)
   local info = getinfo(functions[handle], 'S')
   return info.what == 'C' or info.source == '=strided.glue'
end

-- What a person types at a prompt: an expression, whose values are printed, or statements. Returns whether more lines must
-- follow.
functions[-9] = function(source)
   local f = load_expression(gsub(source, '^%s*=', ''), '=stdin')
   if f then
      f(function(...)
         if select('#', ...) > 0 then
            env.print(...)
         end
      end)
      return false
   end
   local message
   f, message = load_text(source, '=stdin', mode, env)
   if f then
      f()
   elseif find(message, "near '?<eof>'?$") then
      return true
   else
      error(message, 0)
   end
   return false
end

functions[-10] = function(text)
   env.io.write(text)
end

glue.getmetatable = env.getmetatable
