-- Metatables of objects. Scripts see the class table (`getmetatable(x)`), whose fields they may change; the metatable itself
-- is private and looks them up, because a finaliser (`__gc`) that a script could set would run outside of all limits.

local glue = ...
local classes, templates = glue.classes, glue.templates
local error, rawget, rawset, setmetatable, type = error, rawget, rawset, setmetatable, type
local getmetatable, debug_getmetatable = getmetatable, debug.getmetatable

local BINARY = {'add', 'sub', 'mul', 'div', 'mod', 'pow', 'concat', 'eq', 'lt', 'le', 'idiv', 'band', 'bor', 'bxor', 'shl', 'shr'}
local OTHER = {'index', 'newindex', 'call', 'tostring', 'unm', 'len', 'bnot', 'pairs', 'ipairs'}

-- What Lua says of a userdata without the event. Lua adds the variable's name where it can; we cannot.
local REFUSALS = {
   concat = 'attempt to concatenate a userdata value',
   len = 'attempt to get length of a userdata value',
   call = 'attempt to call a userdata value',
   index = 'attempt to index a userdata value',
   newindex = 'attempt to index a userdata value',
   lt = 'attempt to compare two userdata values',
   le = 'attempt to compare two userdata values',
}

local events = {}
for _, list in ipairs {BINARY, OTHER} do
   for _, name in ipairs(list) do
      events['__' .. name] = name
   end
end

-- `x[key]` of a class table: a function or a table, as in any metatable.
local function follow(index, object, key)
   if type(index) == 'function' then
      return (index(object, key))
   end
   return index[key]
end

local shared = debug_getmetatable(glue.markers.list) -- lupa's, of all Python objects

if glue.newproxy then
   local newproxy = glue.newproxy
   if not glue.python then
      shared.__metatable = false
   end

   local function handler(class, event)
      if event == '__index' then
         return function(object, key)
            return follow(class.__index, object, key)
         end
      end
      return function(...)
         return class[event](...)
      end
   end

   -- Makes the private metatable of a class, with the events that the class table has; later ones are added when they are set.
   function glue.seal(code, class)
      local template = newproxy(true)
      local private = getmetatable(template)
      private.__metatable = class
      for event in pairs(events) do
         if rawget(class, event) ~= nil then
            private[event] = handler(class, event)
         end
      end
      templates[code] = template
      return function(event)
         if events[event] and private[event] == nil then
            private[event] = handler(class, event)
         end
      end
   end
else
   -- One metatable, that of lupa, serves all Python objects.
   local originals = {}
   for event in pairs(events) do
      originals[event] = shared[event]
   end

   local function install(event, name)
      local refusal = REFUSALS[name] or 'attempt to perform arithmetic on a userdata value'
      local original = originals[event]
      shared[event] = function(a, b, ...)
         local class = classes[a]
         local found = class and class[event]
         if found == nil and b ~= nil then
            class = classes[b]
            found = class and class[event]
         end
         if event == '__index' and found then
            return follow(found, a, b)
         elseif found then
            return found(a, b, ...)
         elseif class == nil and original then
            return original(a, b, ...)
         elseif event == '__eq' then
            return false
         elseif event == '__tostring' then
            return 'userdata'
         end
         error(refusal, 2)
      end
   end
   for event, name in pairs(events) do
      if name ~= 'pairs' and name ~= 'ipairs' then
         install(event, name)
      end
   end

   function glue.seal(code, class)
      templates[code] = class
      return function() end
   end

   -- Scripts see the class of an object as its metatable, and the metatable of other Python objects not at all.
   function glue.environment.getmetatable(object)
      local class = classes[object]
      if class then
         return class
      elseif debug_getmetatable(object) == shared then
         return nil
      end
      return getmetatable(object)
   end
end

glue.follow = follow
