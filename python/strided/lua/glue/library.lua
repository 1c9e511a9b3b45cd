-- The libraries of Torch7 and of Lab as Lua tables, made from descriptions of the Python modules: names and functions.

local glue = ...
local host, env, luat = glue.host, glue.environment, glue.luat
local adapt, as_function = glue.adapt, glue.as_function
local error, pairs, pcall, rawget, rawset = error, pairs, pcall, rawget, rawset
local setmetatable, tonumber, type = setmetatable, tonumber, type

-- Loading a library does not count as time and memory of the script. So no code of a script may run in here: the globals are
-- read and set without their metatable.
local function loading(describe, fill)
   local function finish(ok, ...)
      host.end_loading(ok)
      if not ok then
         error((...), 0)
      end
      return ...
   end

   return function()
      return finish(pcall(function()
         return fill(describe())
      end))
   end
end

-- The functions of a description. One that is not called by its name, such as an operator, has no position in its errors.
local function adapt_all(functions, level, calls)
   local result = {}
   for name, f in pairs(functions) do
      result[name] = adapt(as_function(f), level, calls)
   end
   return result
end

-- Torch7

-- `x[key]`: methods by their names, elements and views by anything else. `class.__index__` may be replaced by a script.
local function indexing(class, get, set)
   local general, general_set = class.__index, class.__newindex

   local function special(object, key)
      if type(key) == 'string' and not tonumber(key) then
         return nil, false
      end
      return get(object, key), true
   end
   class.__index__ = special

   function class.__index(object, key)
      if class.__index__ ~= special then
         return general(object, key)
      elseif type(key) == 'string' then
         local found = class[key]
         if found ~= nil or not tonumber(key) then
            return found
         end
      end
      return get(object, key)
   end

   local function special_set(object, key, value)
      if type(key) == 'string' and not tonumber(key) then
         return false
      end
      set(object, key, value)
      return true
   end
   class.__newindex__ = special_set

   function class.__newindex(object, key, value)
      if class.__newindex__ ~= special_set or type(key) == 'string' then
         return general_set(object, key, value)
      end
      set(object, key, value)
   end
end

-- `x.name` of a collection, besides its methods.
local function by_name(class, get, set)
   function class.__index__(object, key)
      local value = get(object, key)
      return value, value ~= nil
   end

   function class.__newindex__(object, key, value)
      set(object, key, value)
      return true
   end
end

-- Tools such as the tester print with Python's `print`. If the script has replaced `io.write`, they print with that.
local function redirecting(method)
   local io = rawget(env, 'io')
   local write = type(io) == 'table' and rawget(io, 'write') or nil

   local function finish(ok, ...)
      host.end_redirection()
      if not ok then
         error((...), 0)
      end
      return ...
   end

   return function(...)
      if not env.io or env.io.write == write then
         return method(...)
      end
      host.redirect()
      return finish(pcall(method, ...))
   end
end

local function define(torch, description)
   local constructor = adapt(as_function(description.constructor), 0, description.calls)
   local class = luat.newmetatable(description.name, description.parent, constructor, nil, nil, torch)
   for name, method in pairs(adapt_all(description.methods, 2, description.calls)) do
      rawset(class, name, description.calls and redirecting(method) or method)
   end
   for name, operator in pairs(adapt_all(description.operators, 0)) do
      rawset(class, '__' .. name .. '__', operator)
   end
   if description.named then
      by_name(class, adapt(as_function(description.get), 0), adapt(as_function(description.set), 0))
   elseif description.get then
      indexing(class, adapt(as_function(description.get), 0), adapt(as_function(description.set), 0))
   end
   glue.seal(description.code, class)
   return class
end

local load_torch = loading(host.describe_torch, function(description)
   local torch = {}
   rawset(env, 'torch', torch)
   glue.objects = adapt_all(description.objects, 0) -- functions about objects that are not tables
   for name, f in pairs(adapt_all(description.functions, 2)) do
      torch[name] = f
   end
   for _, class in ipairs(description.classes) do
      define(torch, class)
   end
   for name, f in pairs(luat) do
      torch[name] = f
   end
   glue.extend_torch(torch)
   return torch
end)

-- Lab. Its classes have no parents; a script may still add methods and events to them.

local function define_lab(module, description)
   local class = adapt_all(description.methods, 0)
   for name, f in pairs(adapt_all(description.operators, 0)) do
      class['__' .. name] = f
   end
   class.__index = class
   function class.__gc() end -- Lab's has one; ours would not be called
   local notify = glue.seal(description.code, class)
   setmetatable(class, {
      __newindex = function(_, key, value)
         rawset(class, key, value)
         notify(key)
      end,
   })
   if description.constructor then
      module[description.name] = adapt(as_function(description.constructor), 0)
   end
end

local make_lab = loading(host.describe_lab, function(description)
   local tensor = {}
   for _, class in ipairs(description.classes) do
      define_lab(tensor, class)
   end
   local double = tensor.DoubleTensor
   function tensor.Tensor(...) -- the same, but not the same function, as in Lab
      local made = double(...)
      return made
   end
   return {tensor = tensor, random = adapt(as_function(description.random), 0)()}
end)

local lab

local function load_lab()
   lab = lab or make_lab()
   return lab
end

local LAB_PREFIX = 'dmlab.system.'
local lab_modules = {
   tensor = function()
      return load_lab().tensor
   end,
   sys_random = function()
      return load_lab().random
   end,
}
lab_modules.random = lab_modules.sys_random

-- Modules

local modules = {torch = load_torch}
for name, loader in pairs(lab_modules) do
   modules[LAB_PREFIX .. name] = loader
end
glue.modules = modules

local preload = package.preload
for name, loader in pairs(modules) do
   preload[name] = loader
end

-- Other modules of Lab talk to the game, which is not here.
local sub = string.sub
table.insert(package.searchers or package.loaders, function(name)
   if sub(name, 1, #LAB_PREFIX) == LAB_PREFIX then
      error("module '" .. name .. "' is part of the game; of dmlab.system there are here: random, sys_random, tensor", 0)
   end
end)

-- `torch` is there without `require`, as in Torch7's own interpreter.
setmetatable(env, {
   __index = function(_, name)
      if name == 'torch' then
         return env.require('torch')
      end
   end,
})

-- What Python needs before it can pass an object of a library to Lua.
function glue.load(library)
   if library == 'torch' then
      env.require('torch')
   else
      load_lab()
   end
end
