-- Output: `print`, `io.write` and the files `io.stdout` and `io.stderr` write to Python's streams, in order.

local glue = ...
local env = glue.environment
local error, getmetatable, io, select, setmetatable, tostring, type = error, getmetatable, io, select, setmetatable, tostring, type
local concat = table.concat

local write_text = glue.adapt(glue.raw.write, 0)
local flush_stream = glue.adapt(glue.raw.flush, 0)

function env.print(...)
   local n = select('#', ...)
   local parts = {...}
   local tostring = env.tostring
   for i = 1, n do
      local text = tostring(parts[i])
      if type(text) ~= 'string' and type(text) ~= 'number' then
         error("'tostring' must return a string to 'print'", 2)
      end
      parts[i] = text
   end
   write_text(1, concat(parts, '\t', 1, n) .. '\n')
end

if io then
   local streams = setmetatable({}, {__mode = 'k'}) -- stream -> its number
   local methods = {}

   local function number_of(stream, name)
      local number = streams[stream]
      if not number then
         error("calling '" .. name .. "' on bad self (FILE* expected, got " .. type(stream) .. ")", 3)
      end
      return number
   end

   local function write_all(number, ...)
      local parts = {...}
      for i = 1, select('#', ...) do
         if type(parts[i]) ~= 'string' and type(parts[i]) ~= 'number' then
            local got = parts[i] == nil and 'nil' or type(parts[i])
            error("bad argument #" .. i .. " to 'write' (string expected, got " .. got .. ")", 3)
         end
      end
      write_text(number, concat(parts))
   end

   function methods:write(...)
      write_all(number_of(self, 'write'), ...)
      return self
   end

   function methods:flush()
      flush_stream(number_of(self, 'flush'))
      return true
   end

   function methods:setvbuf()
      return true
   end

   function methods:close()
      return nil, 'cannot close a standard file'
   end

   function methods:seek()
      return nil, 'Illegal seek', 29
   end

   local function unreadable()
      return nil, 'Bad file descriptor', 9
   end
   methods.read = unreadable

   function methods:lines()
      return unreadable
   end

   local function make_stream(number, name)
      local stream
      local meta = {__index = methods, __name = 'FILE*'}
      function meta.__tostring()
         return 'file (' .. name .. ')'
      end
      if glue.newproxy then
         stream = glue.newproxy(true)
         local private = getmetatable(stream)
         private.__index, private.__tostring, private.__metatable = methods, meta.__tostring, meta
      else
         stream = setmetatable({}, meta)
      end
      streams[stream] = number
      return stream
   end

   local files = glue.own('io')
   files.stdout, files.stderr = make_stream(1, 'stdout'), make_stream(2, 'stderr')
   glue.is_stream = streams

   local current = files.stdout

   function files.output(file)
      if type(file) == 'string' then
         local opened, message = io.open(file, 'w')
         if not opened then
            error(message, 2)
         end
         current = opened
      elseif streams[file] or file ~= nil and io.type(file) then
         current = file
      elseif file ~= nil then
         error("bad argument #1 to 'output' (FILE* expected, got " .. type(file) .. ")", 2)
      end
      return current
   end

   function files.write(...)
      if streams[current] then
         write_all(streams[current], ...)
         return current
      end
      return current:write(...)
   end

   function files.close(file)
      file = file or current
      return file:close()
   end

   function files.type(file)
      return streams[file] and 'file' or io.type(file)
   end
end
