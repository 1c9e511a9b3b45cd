-- The first file: collects what the other ones share. They get it as `glue`, and scripts never see it.

local python = python
local error, pairs, pcall, type = error, pairs, pcall, type

return function(host, codes, markers, options)
   local interrupted = python.as_function(host.interrupted)

   -- lupa raises an exception that a Python function did not catch as an object, such as a RecursionError of the call
   -- itself. A script must not get that object: it gets the text.
   local function results(ok, ...)
      if ok then
         return ...
      end
      local value = ...
      if type(value) == 'userdata' then
         local told, text = pcall(interrupted, value)
         value = told and text or 'stack overflow'
      end
      error(value, 0)
   end

   local glue = {
      codes = codes,
      markers = markers,
      sandbox = options.sandbox,
      limited = options.sandbox or options.hooked,
      memory = options.memory,
      newproxy = newproxy,
      jit = jit,
      python = options.python and python or nil,
      as_function = python.as_function,
      results = results, -- of a `pcall` of a Python function
      getmetatable = getmetatable,
      raw = {},  -- Python's functions
      host = {}, -- the same for use in Lua; they differ under a memory limit
   }

   for name, f in pairs(host) do
      local raw = python.as_function(f)
      glue.raw[name] = raw
      glue.host[name] = function(...)
         return results(pcall(raw, ...))
      end
   end

   -- With a memory limit, lupa must not fail to allocate while it holds Python's lock, so the limit is lifted for each call,
   -- and restored whether or not the call fails.
   if options.memory then
      local lift, restore = glue.host.lift, glue.host.restore
      local function restoring(...)
         restore()
         return results(...)
      end
      function glue.unlimited(f, ...)
         lift()
         return restoring(pcall(f, ...))
      end
      for name, f in pairs(glue.raw) do
         glue.host[name] = function(...)
            return glue.unlimited(f, ...)
         end
      end
      if newproxy then -- newer versions collect garbage before they give up
         collectgarbage('setpause', 120)
      end
   end
   return glue
end
