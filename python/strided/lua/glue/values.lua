-- Values that cross between Lua and Python.
--
-- Python sends a value as (value, code). Without a code it is nil, a boolean, a number or a string; a positive code is the
-- number of a class and the value a reference to one of its objects; negative codes are listed in `codes`. Tables cross in
-- both directions as a flat sequence of tokens, some of which are markers, so that a nested table takes one call.

local glue = ...
local host, codes, markers = glue.host, glue.codes, glue.markers
local type, select, next, rawget = type, select, next, rawget
local error, setmetatable = error, setmetatable
local unpack = unpack or table.unpack
local floor = math.floor
local length = rawlen or function(t)
   return #t -- before Lua 5.2 this asks no metamethod
end

local MAX_DEPTH = 100 -- of tables in tables; a table that contains itself has no depth
local VALUES_PER_CALL = 100 -- tokens in one call: far below the limits of the C stack
local PACKED = 8      -- entries of a table that is sent as one string
local LARGEST = 1e9   -- whole number that Lua writes without an exponent

-- Objects. Where Lua has `newproxy`, an object is userdata of our own: its class decides what `#x` or `x.f = 1` mean, and
-- Lua words their errors. Elsewhere it is the userdata of lupa, whose metatable `events.lua` extends.

local references = setmetatable({}, {__mode = 'k'}) -- object -> lupa's userdata, which Python understands
local classes = setmetatable({}, {__mode = 'k'})    -- object -> class table, where objects share one metatable
local templates = {}                                -- code -> what `newproxy` copies, or the class table

glue.references, glue.classes, glue.templates = references, classes, templates

local wrap
if glue.newproxy then
   local newproxy = glue.newproxy
   function wrap(reference, code)
      local object = newproxy(templates[code])
      references[object] = reference
      return object
   end
else
   function wrap(reference, code)
      references[reference] = reference
      classes[reference] = templates[code]
      return reference
   end
end

-- Functions that Python holds: a number stands for each. Python tells when it has dropped one.

local functions = {}
local handles = setmetatable({}, {__mode = 'k'})
local last_handle = 0

glue.functions = functions
glue.passed = {false} -- whether a function went to Python with the next call

local passed = glue.passed

local function release(...)
   for i = 1, select('#', ...) do
      functions[select(i, ...)] = nil
   end
end
glue.release = release

local function handle_of(f)
   passed[1] = true
   local handle = handles[f]
   if not (handle and functions[handle]) then
      last_handle = last_handle + 1
      handle = last_handle
      if handle % 100 == 0 then
         release(host.dropped())
      end
      functions[handle], handles[f] = f, handle
   end
   return handle
end

-- From Lua to Python

local tokens, count = {}, 0 -- waiting to be sent
local first = true          -- whether nothing of this table was sent yet
local feed = host.feed

local function send(token)
   if count == VALUES_PER_CALL then
      feed(first, unpack(tokens, 1, VALUES_PER_CALL))
      first, count = false, 0
   end
   count = count + 1
   tokens[count] = token
end

-- The length of a table that becomes a list: all its keys are in 1..#t, as C functions see a table. Holes become None.
local function list_length(t)
   local n = length(t)
   for key in next, t do
      if type(key) ~= 'number' or key < 1 or key > n or key ~= floor(key) then
         return nil
      end
   end
   return n
end

local send_value

local function send_table(t, depth)
   if depth > MAX_DEPTH then
      error('table is nested more than ' .. MAX_DEPTH .. ' levels deep, or contains itself', 0)
   end
   local n = list_length(t)
   if n then
      send(markers.list)
      for i = 1, n do
         send_value(rawget(t, i), depth)
      end
   else
      send(markers.dict)
      for key, value in next, t do
         local kind = type(key)
         if kind ~= 'string' and kind ~= 'number' and kind ~= 'boolean' then
            error('cannot pass a table with a ' .. kind .. ' as key to Python', 0)
         end
         send(key)
         send_value(value, depth)
      end
   end
   send(markers.close)
end

local atom -- a value that is not a table, as Python receives it

function send_value(value, depth)
   if type(value) == 'table' then
      send_table(value, depth + 1)
   elseif type(value) == 'string' then
      send(value)
   else
      send(atom(value))
   end
end

local negative_zero, text = markers.negative_zero, host.text
local opaque = {userdata = markers.userdata, thread = markers.thread, cdata = markers.cdata}

function atom(value)
   local kind = type(value)
   if kind == 'number' then
      if value == 0 and 1 / value < 0 then
         return negative_zero -- lupa would make it the int 0
      end
      return value
   elseif kind == 'userdata' then
      return references[value] or opaque.userdata
   elseif kind == 'function' then
      return host.callback(handle_of(value))
   elseif kind == 'nil' or kind == 'boolean' then
      return value
   elseif kind == 'cdata' and glue.address then
      return glue.address(value) or opaque.cdata
   end
   return opaque[kind]
end

-- A small list of whole numbers, or of such lists, as a text that Python reads: most indices are one. All other strings
-- go through `text`, so that Python can tell. Returns nil for other tables.
local function pack(t, depth)
   local n = length(t)
   if n > PACKED then
      return nil
   end
   local entries, packed = 0, ''
   for _ in next, t do
      entries = entries + 1
   end
   if entries ~= n then
      return nil
   end
   for i = 1, n do
      local value = rawget(t, i)
      if type(value) == 'table' and depth > 0 then
         value = pack(value, depth - 1)
      elseif type(value) ~= 'number' or value % 1 ~= 0 or value == 0 or value > LARGEST or value < -LARGEST then
         return nil
      end
      if value == nil then
         return nil
      end
      packed = i == 1 and packed .. value or packed .. ',' .. value
   end
   return '[' .. packed .. ']'
end

-- `packs` says that the receiver reads packed tables.
local function outward(value, packs)
   local kind = type(value)
   if kind == 'string' then
      return text(value)
   elseif kind == 'table' then
      local packed = packs and pack(value, 1)
      if packed then
         return packed
      end
      first, count = true, 0
      send_table(value, 1)
      return feed(first, unpack(tokens, 1, count))
   end
   return atom(value)
end

-- All arguments, or results, of a call, converted.
local function spread(packs, n, value, ...)
   if n > 1 then
      if n > 30 then
         local all = {value, ...}
         for i = 1, n do
            all[i] = outward(all[i], packs)
         end
         return unpack(all, 1, n)
      end
      local reference = references[value]
      if reference then
         return reference, spread(packs, n - 1, ...)
      end
      return outward(value, packs), spread(packs, n - 1, ...)
   elseif n == 1 then
      return references[value] or outward(value, packs)
   end
end

-- From Python to Lua

local take = host.take
local inward

-- Tables are built from tokens that arrive in chunks: a stack of the tables that are still open.
local function build(cursor)
   local stack, tops, depth = {}, {}, 0
   local keys, key, result = {}, nil, nil
   local chunk, size, at = nil, 0, 0

   local function read()
      if at == size then
         chunk = {take(cursor)}
         size, at = chunk[1], 0
      end
      at = at + 1
      return chunk[at + 1]
   end

   local function put(value)
      local t = stack[depth]
      if tops[depth] then
         tops[depth] = tops[depth] + 1
         t[tops[depth]] = value
      elseif key == nil then
         key = value
      else
         t[key] = value
         key = nil
      end
   end

   repeat
      local token = read()
      if token == markers.list or token == markers.dict then
         keys[depth] = key
         key = nil
         depth = depth + 1
         stack[depth] = {}
         tops[depth] = token == markers.list and 0 or false
      elseif token == markers.close then
         result = stack[depth]
         stack[depth], tops[depth] = nil, nil
         depth = depth - 1
         key = keys[depth]
         if depth > 0 then
            put(result)
         end
      elseif token == markers.coded then
         local value = read()
         put(inward(value, read()))
      else
         put(token)
      end
   until depth == 0
   return result
end

function inward(value, code)
   if code == nil then
      return value
   elseif code > 0 then
      return wrap(value, code)
   elseif code == codes.table then
      return build(value)
   elseif code == codes.handle then
      return functions[value]
   elseif code == codes.callable then
      return glue.callable(value)
   end
   return value
end

glue.outward, glue.inward, glue.spread, glue.wrap, glue.build = outward, inward, spread, wrap, build
