-- Objects in files: `readObject` and `writeObject` of torch.File, and what stands on them. They are written in Lua because
-- they keep the identity of tables, call the `read` and `write` methods of a script's classes, and store functions.

local glue = ...
local luat = glue.luat
local debug, error, ipairs, pairs, pcall, rawequal, tonumber, tostring, type =
   debug, error, ipairs, pairs, pcall, rawequal, tonumber, tostring, type
local concat, format, insert, match, remove = table.concat, string.format, table.insert, string.match, table.remove
local load, dump = loadstring or load, string.dump

-- The numbers of kinds of objects.
local NIL, NUMBER, STRING, TABLE, TORCH, BOOLEAN, FUNCTION, OLD_CLOSURE, CLOSURE = 0, 1, 2, 3, 4, 5, 6, 7, 8

local states = setmetatable({}, {__mode = 'k'}) -- what each file remembers of its objects

local function state_of(file)
   local state = states[file]
   if not state then
      state = {written = {}, kept = {}, count = 0, read = {}, path = {}, upvalues = {}, closures = {}}
      states[file] = state
   end
   return state
end

-- The kind of an object, or nothing if it cannot be written.
local function kind_of(object)
   local name = luat.typename(object)
   local kind = type(object)
   if object == nil then
      return NIL
   elseif name and luat.factory(name) then
      return TORCH
   elseif kind == 'table' then
      return TABLE
   elseif kind == 'number' then
      return NUMBER
   elseif kind == 'string' then
      return STRING
   elseif kind == 'boolean' then
      return BOOLEAN
   elseif kind == 'function' and not glue.limited and pcall(dump, object) then
      return CLOSURE
   end
end

local function class_method(object, name)
   local class = luat.getmetatable(luat.typename(object))
   local method = class and (class['__' .. name] or class[name])
   return type(method) == 'function' and method or nil
end

function glue.extend_files(torch)
   local parts = glue.objects -- functions of Python
   local write_object, read_object

   local function write_text(file, text)
      file:writeInt(#text)
      parts.write_chars(file, text)
   end

   local function read_text(file)
      return parts.read_chars(file, file:readInt())
   end

   -- The number of a function's upvalue, which two functions may share.
   local function upvalue_number(state, object, index)
      if not debug.upvalueid then
         return nil
      end
      local id = debug.upvalueid(object, index)
      if not state.upvalues[id] then
         state.upvalues.count = (state.upvalues.count or 0) + 1
         state.upvalues[id] = state.upvalues.count
      end
      return state.upvalues[id]
   end

   local function write_function(file, state, object, hook)
      local upvalues, index = {}, 1
      while true do
         local name, value = debug.getupvalue(object, index)
         if not name then
            break
         end
         if name == '_ENV' then
            value = nil
         end
         upvalues[index] = {name = name, id = upvalue_number(state, object, index), value = value}
         index = index + 1
      end
      write_text(file, dump(object))
      write_object(file, upvalues, nil, hook)
   end

   local function write_torch(file, state, object, hook)
      local name = luat.typename(object)
      write_text(file, 'V ' .. luat.version(object))
      write_text(file, name)
      local write = class_method(object, 'write')
      if write then
         write(object, file)
      elseif type(object) == 'table' then
         local fields = {}
         for key, value in pairs(object) do
            if kind_of(value) then
               fields[key] = value
            else
               glue.environment.print(format('$ Warning: cannot write object field <%s> of <%s> %s',
                                             tostring(key), name, concat(state.path, '.')))
            end
         end
         write_object(file, fields, name, hook)
      else
         error(format('<%s> is a non-serializable Torch object %s', name, concat(state.path, '.')), 0)
      end
   end

   local function write_table(file, object, hook)
      local size = 0
      for _ in pairs(object) do
         size = size + 1
      end
      file:writeInt(size)
      for key, value in pairs(object) do
         write_object(file, key, nil, hook)
         local is_name = type(key) == 'string' or type(key) == 'number'
         write_object(file, value, is_name and tostring(key) or nil, hook)
      end
   end

   local function write_identified(file, state, kind, original, object, hook)
      local pointer = torch.pointer(original)
      local number = state.written[pointer]
      local refers = file:isReferenced()
      if number and refers then
         file:writeInt(number)
         return
      end
      number = state.count + 1
      state.count = number
      if refers then
         state.written[pointer] = number
         insert(state.kept, original) -- no other object gets its address
      end
      file:writeInt(number)
      if kind == CLOSURE then
         write_function(file, state, object, hook)
      elseif kind == TORCH then
         write_torch(file, state, object, hook)
      else
         write_table(file, object, hook)
      end
   end

   function write_object(file, object, name, hook)
      local state = state_of(file)
      local original = object
      if hook then
         object = hook(object)
      end
      if object == nil then
         file:writeInt(NIL)
         return
      end
      insert(state.path, name or '<?>')
      local kind = kind_of(object)
      if not kind then
         error(format('Unwritable object <%s> at %s', type(object), concat(state.path, '.')), 0)
      end
      file:writeInt(kind)
      if kind == NUMBER then
         file:writeDouble(object)
      elseif kind == BOOLEAN then
         file:writeBool(object)
      elseif kind == STRING then
         write_text(file, object)
      else
         write_identified(file, state, kind, original, object, hook)
      end
      remove(state.path)
   end

   -- A function from its bytecode. One that cannot be loaded is nil, after a warning.
   local function read_bytecode(file)
      local bytecode = read_text(file)
      if glue.limited then
         error('functions in files are not available here', 0)
      end
      local loaded, problem = load(bytecode)
      if not loaded then
         glue.environment.print('Warning: Failed to load function from bytecode: ' .. tostring(problem))
      end
      return loaded
   end

   local function join_upvalues(state, loaded, upvalues)
      for index, upvalue in ipairs(upvalues) do
         if upvalue.name == '_ENV' then
            debug.setupvalue(loaded, index, glue.environment)
         else
            debug.setupvalue(loaded, index, upvalue.value)
            local other = upvalue.id and state.closures[upvalue.id]
            if debug.upvaluejoin and other then
               debug.upvaluejoin(loaded, index, other.closure, other.index)
            elseif upvalue.id then
               state.closures[upvalue.id] = {closure = loaded, index = index}
            end
         end
      end
   end

   local function read_function(file, state, kind, number)
      local loaded = read_bytecode(file)
      if number and file:isReferenced() then
         state.read[number] = loaded
      end
      local upvalues = read_object(file)
      if not loaded then
         return nil
      elseif kind == CLOSURE then
         join_upvalues(state, loaded, upvalues)
      else
         for index, upvalue in ipairs(upvalues) do
            debug.setupvalue(loaded, index, upvalue)
         end
      end
      return loaded
   end

   local function read_torch(file, state, number)
      local name = read_text(file)
      local version = tonumber(match(name, '^V (.*)$'))
      if version then
         name = read_text(file)
      end
      local factory = luat.factory(name)
      if not factory then
         error(format('unknown Torch class <%s>', tostring(name)), 0)
      end
      local object = factory(file)
      if file:isReferenced() then
         state.read[number] = object
      end
      local read = class_method(object, 'read')
      if read then
         read(object, file, version or 0)
      elseif type(object) == 'table' then
         for key, value in pairs(read_object(file)) do
            object[key] = value
         end
      else
         error(format('Cannot load object class <%s>', tostring(name)), 0)
      end
      return object
   end

   local function read_table(file, state, number)
      local object = {}
      if file:isReferenced() then
         state.read[number] = object
      end
      for _ = 1, file:readInt() do
         local key = read_object(file)
         object[key] = read_object(file)
      end
      return object
   end

   function read_object(file)
      local state = state_of(file)
      local kind = file:readInt()
      if kind == NIL then
         return nil
      elseif kind == NUMBER then
         return file:readDouble()
      elseif kind == BOOLEAN then
         return file:readBool()
      elseif kind == STRING then
         return read_text(file)
      elseif kind == FUNCTION then
         return read_function(file, state, kind)
      elseif kind ~= TABLE and kind ~= TORCH and kind ~= OLD_CLOSURE and kind ~= CLOSURE then
         error('unknown object', 0)
      end
      local number = file:readInt()
      local known = state.read[number]
      if known ~= nil and file:isReferenced() then
         return known
      elseif kind == TABLE then
         return read_table(file, state, number)
      elseif kind == TORCH then
         return read_torch(file, state, number)
      end
      return read_function(file, state, kind, number)
   end

   for _, name in ipairs {'torch.File', 'torch.DiskFile', 'torch.MemoryFile'} do
      local class = luat.getmetatable(name)
      function class.isWritableObject(_, object)
         return kind_of(object)
      end
      function class.writeObject(file, object, label, hook)
         state_of(file).path = {}
         write_object(file, object, label, hook)
      end
      function class.readObject(file)
         return read_object(file)
      end
   end

   -- Python writes tensors, storages and generators, except the storage of a tensor, which is an object itself.
   local function storable(name, write, read)
      local class = luat.getmetatable(name)
      class.__factory = class.__factory or function()
         return class.new()
      end
      class.write, class.read = write, read
   end
   for _, kind in ipairs {'Byte', 'Char', 'Short', 'Int', 'Long', 'Half', 'Float', 'Double'} do
      storable('torch.' .. kind .. 'Tensor', function(object, file)
         write_object(file, parts.write_tensor(file, object))
      end, function(object, file)
         local sizes, strides, offset = parts.read_tensor(file)
         parts.set_tensor(object, read_object(file), sizes, strides, offset)
      end)
      storable('torch.' .. kind .. 'Storage', function(object, file)
         parts.write_storage(file, object)
      end, function(object, file)
         parts.read_storage(file, object)
      end)
   end
   storable('torch.Generator', function(object, file)
      parts.write_generator(file, object)
   end, function(object, file)
      parts.read_generator(file, object)
   end)

   local function check(condition, message)
      if not condition then
         error(message, 0)
      end
   end

   function torch.save(filename, object, mode, referenced)
      check(mode == nil or mode == 'binary' or mode == 'ascii', '"binary" or "ascii" (or nil) expected for mode')
      check(referenced == nil or type(referenced) == 'boolean', 'true or false (or nil) expected for referenced')
      local file = torch.DiskFile(filename, 'w')
      file[mode or 'binary'](file)
      file:referenced(referenced ~= false)
      file:writeObject(object)
      file:close()
   end

   function torch.load(filename, mode, referenced)
      local is_known = mode == nil or mode == 'binary' or mode == 'b32' or mode == 'b64' or mode == 'ascii'
      check(is_known, '"binary", "b32", "b64" or "ascii" (or nil) expected for mode')
      check(referenced == nil or type(referenced) == 'boolean', 'true or false (or nil) expected for referenced')
      local file = torch.DiskFile(filename, 'r')
      file[mode == 'ascii' and 'ascii' or 'binary'](file)
      file:referenced(referenced ~= false)
      if mode == 'b32' or mode == 'b64' then
         file:longSize(mode == 'b32' and 4 or 8)
      end
      local object = file:readObject()
      file:close()
      return object
   end

   function torch.serializeToStorage(object, mode)
      local file = torch.MemoryFile()
      file[mode or 'binary'](file)
      file:writeObject(object)
      local storage = file:storage()
      storage:resize(storage:size() - 1) -- without the zero at its end
      file:close()
      return storage
   end

   function torch.serialize(object, mode)
      return torch.serializeToStorage(object, mode):string()
   end

   function torch.deserializeFromStorage(storage, mode)
      local source = torch.CharTensor(storage)
      local bytes = torch.CharStorage(source:size(1) + 1):fill(0)
      torch.CharTensor(bytes):narrow(1, 1, source:size(1)):copy(source)
      local file = torch.MemoryFile(bytes, 'r')
      file[mode or 'binary'](file)
      local object = file:readObject()
      file:close()
      return object
   end

   function torch.deserialize(text, mode)
      return torch.deserializeFromStorage(torch.CharStorage():string(text), mode)
   end

   torch.saveobj, torch.loadobj = torch.save, torch.load
end
