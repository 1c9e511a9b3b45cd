-- Describes values as the recorded cases do; everything is asked in Lua, through the methods that a script would use.

local function plain(number)
   if number ~= number then return 'nan' end
   if number == math.huge then return 'inf' end
   if number == -math.huge then return '-inf' end
   return number
end

local function numbers(storage)
   local list = {}
   for i = 1, #storage do list[i] = plain(storage[i]) end
   return list
end

local function elements(x)
   local list = {}
   if x:dim() > 0 then
      local flat = x:isContiguous() and x or x:clone()
      flat = flat:view(flat:nElement())
      for i = 1, flat:size(1) do list[i] = plain(flat[i]) end
   end
   return list
end

local torch_kind = {}

function torch_kind.tensor(x)
   local storage = x:storage()
   return {
      kind = 'tensor', type = x:type(), dim = x:dim(), size = numbers(x:size()), stride = numbers(x:stride()),
      storageOffset = x:storageOffset(), nElement = x:nElement(), isContiguous = x:isContiguous(),
      storageSize = storage and storage:size(), storage = storage and numbers(storage),
      values = elements(x), printed = tostring(x),
   }
end

function torch_kind.storage(s)
   return {kind = 'storage', type = s:type(), size = s:size(), values = numbers(s), printed = tostring(s)}
end

function describe_torch(value)
   if torch.isTensor(value) then
      return torch_kind.tensor(value)
   elseif torch.isStorage(value) then
      return torch_kind.storage(value)
   elseif type(value) == 'table' then
      local items = {}
      for i = 1, #value do items[i] = describe_torch(value[i]) end
      return {kind = 'list', items = items}
   elseif type(value) == 'number' then
      return {kind = 'number', value = plain(value)}
   end
   return {kind = type(value), value = value}
end

local function plain_table(value)
   if type(value) ~= 'table' then
      return type(value) == 'number' and plain(value) or value
   end
   local copy = {}
   for key, item in pairs(value) do copy[key] = plain_table(item) end
   return copy
end

function describe_lab(value)
   if type(value) == 'userdata' and value.ownsStorage then
      local ok, name = pcall(value.type, value)
      if not ok then
         return {kind = 'invalid', error = name}
      end
      return {
         kind = 'tensor', type = name, shape = value:shape(), size = value:size(), ownsStorage = value:ownsStorage(),
         tostring = tostring(value), val = plain_table(value:val()),
      }
   elseif type(value) == 'number' then
      return {kind = 'number', value = plain(value)}
   end
   return {kind = type(value), value = plain_table(value)}
end

-- Whether two values view the same storage.
function shares(a, b)
   local function storage(value)
      return torch.isStorage(value) and value or torch.isTensor(value) and value:storage() or nil
   end
   local p, q = storage(a), storage(b)
   return p ~= nil and q ~= nil and p == q
end

-- Evaluates an expression; not as a tail call, of which LuaJIT forgets the function's name.
function evaluate(expression)
   local f, message = (loadstring or load)('local function pack(...) return {n = select("#", ...), ...} end local results = pack('
      .. expression .. ') return results', '=call')
   if not f then error(message) end
   return f()
end
