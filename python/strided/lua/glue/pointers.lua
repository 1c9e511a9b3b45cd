-- Raw pointers: `x:data()`, `x:cdata()` and `torch.data`, where Lua has an FFI and the script may use it.

local glue = ...
local luat = glue.luat
local error, ipairs, pairs, pcall, rawset, tonumber, tostring = error, ipairs, pairs, pcall, rawset, tonumber, tostring
local gsub, match = string.gsub, string.match
local has_ffi, ffi = false, nil
if not glue.sandbox then
   has_ffi, ffi = pcall(require, 'ffi') -- now, because a script may replace `require`
end

local C_TYPES = {
   Byte = 'unsigned char', Char = 'char', Short = 'short', Int = 'int', Long = 'long', Float = 'float', Double = 'double',
   Half = 'THHalf',
}

local COMMON = [[
typedef struct THAllocator {
   void *(*malloc)(void *, ptrdiff_t);
   void *(*realloc)(void *, void *, ptrdiff_t);
   void (*free)(void *, void *);
} THAllocator;
typedef struct { unsigned short x; } __THHalf;
typedef __THHalf THHalf;
]]

local STRUCTURES = [[
typedef struct THRealStorage {
   real *data;
   ptrdiff_t size;
   int refcount;
   char flag;
   THAllocator *allocator;
   void *allocatorContext;
} THRealStorage;
typedef struct THRealTensor {
   long *size;
   long *stride;
   int nDimension;
   THRealStorage *storage;
   ptrdiff_t storageOffset;
   int refcount;
   char flag;
} THRealTensor;
]]

-- What scripts get instead, with the reason.
local function refuse(torch, reason)
   local function refused()
      error(reason, 2)
   end
   torch.data, torch.cdata = refused, refused
   for Real in pairs(C_TYPES) do
      for _, kind in ipairs {'Tensor', 'Storage'} do
         local class = luat.getmetatable('torch.' .. Real .. kind)
         rawset(class, 'data', refused)
         rawset(class, 'cdata', refused)
      end
   end
end

local function provide(torch, ffi)
   local cast = ffi.cast

   -- The address in a pointer of the script, as a number for Python.
   function glue.address(value)
      local name = match(tostring(ffi.typeof(value)), '^ctype<(.*)>$')
      if name == 'int64_t' or name == 'uint64_t' then
         return tonumber(value)
      end
      local ok, address = pcall(cast, 'intptr_t', value)
      return ok and tonumber(address) or nil
   end

   local function pointing(class, method, ctype)
      local address = class[method]
      rawset(class, method, function(self)
         local number = address(self, true)
         return number and cast(ctype, number)
      end)
   end

   if not pcall(ffi.typeof, 'THDoubleTensor') then
      ffi.cdef(COMMON)
      for Real, real in pairs(C_TYPES) do
         ffi.cdef((gsub(gsub(STRUCTURES, 'Real', Real), 'real ', real .. ' ')))
      end
   end
   for Real, real in pairs(C_TYPES) do
      for _, kind in ipairs {'Tensor', 'Storage'} do
         local class = luat.getmetatable('torch.' .. Real .. kind)
         pointing(class, 'data', ffi.typeof(real .. '*'))
         pointing(class, 'cdata', ffi.typeof('TH' .. Real .. kind .. '*'))
      end
   end

   for _, name in ipairs {'data', 'cdata'} do
      torch[name] = function(object, as_number)
         local pointer = object and object[name](object)
         if as_number then
            return cast('intptr_t', pointer)
         end
         return pointer
      end
   end
end

function glue.extend_pointers(torch)
   if glue.sandbox then
      return refuse(torch, 'raw pointers are not available in a sandbox')
   end
   if not has_ffi then
      return refuse(torch, 'raw pointers need the FFI of LuaJIT, which ' .. _VERSION .. ' does not have')
   end
   provide(torch, ffi)
end
