-- Torch7's classes: a class is a table with a name, methods and operators, which scripts may extend; `torch.class` makes new
-- ones. An operator such as `__add` finds the method `__add__` of the class or of a parent.

local glue = ...
local error, getmetatable, pairs, rawequal, rawget, rawset = error, getmetatable, pairs, rawequal, rawget, rawset
local select, setmetatable, tostring, type = select, setmetatable, tostring, type
local debug_getmetatable = debug.getmetatable
local find, gmatch, match = string.find, string.gmatch, string.match
local references, attach = glue.references, glue.attach
local G = glue.environment

local by_name, names = {}, {} -- class name -> class table, and back
local luat = {} -- the functions of Torch7's library luaT

glue.luat = luat
glue.match = match -- a sandbox replaces it by one with limits

-- The class table of a value: the metatable of a table, and what scripts see as the metatable of an object.
local function class_of(value)
   if type(value) == 'table' then
      return debug_getmetatable(value)
   elseif type(value) == 'userdata' then
      local class = glue.getmetatable(value)
      return type(class) == 'table' and class or nil
   end
end

local function typename(value)
   return names[class_of(value)]
end

local function check_string(value, number, name)
   if type(value) == 'number' then
      return tostring(value)
   elseif type(value) ~= 'string' then
      local got = value == nil and 'no value' or type(value)
      error("bad argument #" .. number .. " to '" .. name .. "' (string expected, got " .. got .. ")", 3)
   end
   return value
end

-- Operators

local NOUNS = {
   add = 'addition', sub = 'substraction', mul = 'multiplication', div = 'division', mod = 'modulo', pow = 'power',
   concat = 'concat', lt = 'less-than', le = 'less-equal',
}
local UNARY_NOUNS = {call = 'call', unm = 'negation', len = 'length'}

local defaults = {}

local function method_of(class, name)
   return class and class[name]
end

for operator, noun in pairs(NOUNS) do
   local method = '__' .. operator .. '__'
   defaults['__' .. operator] = function(a, b)
      -- If the left operand is a string, Torch7 looks in the metatable of strings, which has no operators.
      local found = type(a) ~= 'string' and method_of(class_of(a) or class_of(b), method) or nil
      if type(found) == 'function' then
         return found(a, b)
      elseif found == nil then
         error('both ' .. tostring(typename(a) or '(null)') .. ' and ' .. tostring(typename(b) or '(null)')
               .. ' have no ' .. noun .. ' operator', 0)
      end
   end
end

for operator, noun in pairs(UNARY_NOUNS) do
   local method = '__' .. operator .. '__'
   defaults['__' .. operator] = function(object, ...)
      local found = method_of(class_of(object), method)
      if type(found) == 'function' then
         if operator ~= 'call' then
            return found(object) -- Lua passes the operand twice
         end
         return found(object, ...)
      elseif found == nil then
         error(tostring(typename(object)) .. ' has no ' .. noun .. ' operator', 0)
      end
   end
end

function defaults.__tostring(object)
   local found = method_of(class_of(object), '__tostring__')
   if type(found) == 'function' then
      return found(object)
   elseif found == nil then
      return typename(object)
   end
   return found
end

function luat.isequal(a, b)
   if references[a] and references[b] then
      return glue.objects.isequal(a, b)
   end
   return type(a) == 'table' and rawequal(a, b)
end

function defaults.__eq(a, b)
   local found = method_of(class_of(a) or class_of(b), '__eq__')
   if type(found) == 'function' then
      return found(a, b)
   end
   return luat.isequal(a, b)
end

function defaults.__index(object, key)
   local class = class_of(object)
   local special = class.__index__
   if special ~= nil then
      if type(special) ~= 'function' then
         error('critical internal indexing error: __index__ is not a function', 0)
      end
      local value, found = special(object, key)
      if found then
         return value
      end
   end
   return class[key]
end

function defaults.__newindex(object, key, value)
   local special = class_of(object).__newindex__
   if special ~= nil then
      if type(special) ~= 'function' then
         error('critical internal indexing error: __newindex__ is not a function', 0)
      end
      if special(object, key, value) then
         return
      end
   end
   if type(object) ~= 'table' then
      error('the class ' .. typename(object) .. ' cannot be indexed', 0)
   end
   rawset(object, key, value)
end

-- Classes

-- The table that a class called `A.b.C` goes into, which is `A.b`, and the last part of the name.
local function home(name)
   local path, last = match(name, '^(.*)%.([^.]*)$')
   if not path then
      return G, name
   end
   local at = G
   for part in gmatch(path .. '.', '([^.]*)%.') do
      at = type(at) == 'table' and at[part] or nil
   end
   if type(at) ~= 'table' then
      error('while creating metatable ' .. name .. ': bad argument #1 (' .. path .. ' is an invalid module name)', 0)
   end
   return at, last
end

local function construct(constructor_metatable, ...)
   local new = rawget(constructor_metatable, '__new')
   if new == nil then
      error('no constructor available', 0)
   end
   return new(...)
end

local function constructor_table(class)
   local meta = {__index = class, __metatable = class}
   function meta.__newindex(_, key, value)
      rawset(class, key, value)
   end
   function meta.__call(_, ...)
      local value = construct(meta, ...)
      return value
   end
   return setmetatable({}, meta), meta
end

local constructors = {} -- class table -> metatable of its constructor table

local function check_optional(value, kind, number, what)
   if value ~= nil and type(value) ~= kind then
      error("bad argument #" .. number .. " to 'newmetatable' (" .. what .. " or nil expected)", 3)
   end
end

local function set_once(class, field, value, name, what)
   if value ~= nil then
      if rawget(class, field) ~= nil then
         error(name .. ' has been already assigned a ' .. what, 0)
      end
      rawset(class, field, value)
   end
end

function luat.newmetatable(name, parent, constructor, destructor, factory, module)
   name = check_string(name, 1, 'newmetatable')
   check_optional(parent, 'string', 2, 'parent class name')
   check_optional(constructor, 'function', 3, 'constructor function')
   check_optional(destructor, 'function', 4, 'destructor function')
   check_optional(factory, 'function', 5, 'factory function')
   check_optional(module, 'table', 6, 'module table')
   local last = match(name, '^.*%.([^.]*)$') or name
   if not module then
      module, last = home(name)
   end

   local class = by_name[name]
   if not class then
      class = {__typename = name, __version = 1}
      class.__metatable = class
      for event, default in pairs(defaults) do
         class[event] = default
      end
      by_name[name], names[class] = class, name
   end
   if parent ~= nil then
      if getmetatable(class) then
         error('class ' .. name .. ' has been already assigned a parent class\n', 0)
      elseif not by_name[parent] then
         error('bad argument #2 (invalid parent class name ' .. parent .. ')', 0)
      end
      attach(class, by_name[parent], 0)
   end
   if not glue.limited then
      set_once(class, '__gc', destructor, name, 'destructor')
   end
   set_once(class, '__factory', factory, name, 'factory')

   local constructor_of = rawget(class, '__constructor')
   if not constructor_of then
      constructor_of, constructors[class] = constructor_table(class)
      rawset(class, '__constructor', constructor_of)
   end
   if constructor ~= nil then
      set_once(constructors[class], '__new', constructor, name, 'constructor')
      rawset(class, 'new', constructor)
   end
   module[last] = constructor_of
   return class
end

function luat.setmetatable(object, name)
   if type(object) ~= 'table' then
      local got = object == nil and 'no value' or type(object)
      error("bad argument #1 to 'setmetatable' (table expected, got " .. got .. ")", 2)
   end
   local class = by_name[check_string(name, 2, 'setmetatable')]
   if not class then
      error('unknown typename ' .. name .. '\n', 0)
   end
   attach(object, class, 0)
   return name -- as Torch7 does
end

local CLASS_USAGE = '<class name> [<parent class name>] [<module table>] expected'

function luat.class(...)
   local count = select('#', ...)
   local name, second, third = ...
   local parent, module
   if type(name) ~= 'string' or count > 3 then
      error(CLASS_USAGE, 2)
   elseif count == 2 and type(second) == 'table' then
      module = second
   elseif count == 2 and type(second) == 'string' then
      parent = second
   elseif count == 3 and type(second) == 'string' and type(third) == 'table' then
      parent, module = second, third
   elseif count > 1 then
      error(CLASS_USAGE, 2)
   end

   local function factory()
      local self = {}
      luat.setmetatable(self, name)
      return self
   end
   local function constructor(...)
      local self = factory()
      if self.__init then
         self:__init(...)
      end
      return self
   end
   local class = luat.newmetatable(name, parent, constructor, nil, factory, module)
   return class, parent and by_name[parent]
end

-- Questions about classes

function luat.typename(...)
   if select('#', ...) == 0 then
      error("bad argument #1 to 'typename' (value expected)", 2)
   end
   local name = typename((...))
   if name then
      return name -- for other values, no value, which is not the same as nil
   end
end

function luat.type(object)
   return typename(object) or type(object)
end

function luat.getmetatable(name)
   local class = by_name[check_string(name, 1, 'getmetatable')]
   if class then
      return class
   end
end

function luat.getconstructortable(name)
   local class = by_name[check_string(name, 1, 'getconstructortable')]
   return class and rawget(class, '__constructor')
end

function luat.factory(name)
   local class = by_name[check_string(name, 1, 'factory')]
   return class and rawget(class, '__factory')
end

function luat.metatype(name, class)
   by_name[name], names[class] = class, name
end

function luat.version(object)
   local class = class_of(object)
   return class and rawget(class, '__version')
end

-- `spec` is a name, a pattern, or a class. A name must match as a whole.
function luat.isTypeOf(object, spec)
   if type(spec) ~= 'string' then
      local class = glue.getmetatable(spec)
      if class == nil then
         error('attempt to index a nil value', 2)
      end
      spec = class.__typename
      if type(spec) ~= 'string' then
         error('type must be provided as [regexp] string, or factory', 2)
      end
   end
   local class = class_of(object)
   while class do
      local name = class.__typename
      local found = name and glue.match(name, spec)
      if found and (found ~= spec or found == name) then
         return true
      end
      class = glue.getmetatable(class)
   end
   return false
end

local function is_kind(kind)
   local pattern = 'torch.*' .. kind
   return function(object)
      local name = typename(object)
      return name ~= nil and find(name, pattern) ~= nil
   end
end

luat.isTensor, luat.isStorage = is_kind('Tensor'), is_kind('Storage')
