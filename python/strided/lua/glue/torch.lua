-- What Torch7 has in Lua besides its classes and functions: defaults, pointers, and small helpers.

local glue = ...
local host, env, luat = glue.host, glue.environment, glue.luat
local format, gsub, match = string.format, string.gsub, string.match
local error, ipairs, pairs, pcall, rawget, rawset = error, ipairs, pairs, pcall, rawget, rawset
local setmetatable, tonumber, type = setmetatable, tonumber, type

local find_module = glue.adapt(glue.raw.find_module, 0)

-- The default tensor type: `torch.Tensor` and `torch.Storage` are the classes of that type.
local function set_default(torch, name)
   torch.Tensor = luat.getconstructortable(name)
   torch.Storage = luat.getconstructortable((gsub(name, 'Tensor$', 'Storage')))
end

-- `torch.split(result, x, ...)` empties and fills the table `result`; Python gets an empty list in its place.
local function result_tables(torch)
   for _, name in ipairs {'split', 'chunk'} do
      local f = torch[name]
      local function with_result(first, ...)
         if type(first) ~= 'table' then
            local made = f(first, ...)
            return made
         end
         local made = f({}, ...)
         for key in pairs(first) do
            first[key] = nil
         end
         for i = 1, #made do
            first[i] = made[i]
         end
         return first
      end
      torch[name] = with_result
   end
end

-- Sets a field that a library does not have. The script may have put something else in its place.
local function default(library, name, value)
   if type(library) == 'table' and rawget(library, name) == nil then
      rawset(library, name, value)
   end
end

function glue.extend_torch(torch)
   local set = glue.objects.setdefaulttensortype
   function torch.setdefaulttensortype(name)
      set(name)
      set_default(torch, name)
   end
   set_default(torch, torch.getdefaulttensortype())
   result_tables(torch)

   torch.setmetatable, torch.getmetatable = luat.setmetatable, luat.getmetatable

   -- The log of a command line replaces `print`.
   local command_line = luat.getmetatable('torch.CmdLine')
   if command_line then
      local log = command_line.log
      command_line.log = function(...)
         env.print = log(...)
      end
   end

   local numbers, last = setmetatable({}, {__mode = 'k'}), 0
   local has_addresses = pcall(format, '%p', numbers) -- in LuaJIT, and from Lua 5.4 on

   local function number_of(object)
      if has_addresses then
         return tonumber(match(format('%p', object), '%x+$'), 16)
      elseif not numbers[object] then
         last = last + 1
         numbers[object] = last
      end
      return numbers[object]
   end

   -- A number that identifies an object while it lives.
   function torch.pointer(object)
      if glue.references[object] then
         return glue.objects.pointer(object)
      end
      local kind = type(object)
      if kind == 'table' or kind == 'function' or kind == 'thread' or kind == 'string' then
         return number_of(object)
      end
      error('Torch object, table, thread, cdata or function expected', 2)
   end

   -- Has no effect: the memory of tensors is always counted for the garbage collector.
   function torch.setheaptracking(enabled)
      if type(enabled) ~= 'boolean' then
         error("bad argument #1 to 'setheaptracking' (boolean expected, got boolean)", 2) -- luaT's own words
      end
      torch._heaptracking = enabled
   end
   torch._heaptracking = true
   function torch.updatethreadlocals() end
   function torch.updateerrorhandlers() end

   -- The folder of a package; Torch itself is here, and has none.
   function torch.packageLuaPath(name)
      if not name or name == 'torch' then
         return 'torch'
      end
      local path = find_module(name, glue.package.path)
      return path and match(path, '^(.*)[/\\]') or nil
   end

   function torch.isatty(file)
      return glue.is_stream and glue.is_stream[file] ~= nil and host.isatty(glue.is_stream[file]) or false
   end

   function torch.include(package, file)
      return env.dofile(torch.packageLuaPath(package) .. '/' .. file)
   end
   default(env, 'include', rawget(env, 'dofile'))
   default(rawget(env, 'table'), 'unpack', rawget(env, 'unpack'))
   local text = rawget(env, 'string')
   default(text, 'gfind', type(text) == 'table' and rawget(text, 'gmatch'))

   glue.extend_pointers(torch)
   glue.extend_files(torch)
end
