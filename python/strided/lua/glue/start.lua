-- The first file: collects what the other ones share. They get it as `glue`, and scripts never see it.

local python = python

return function(host, codes, markers, options)
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
      getmetatable = getmetatable,
      setmetatable = setmetatable,
      raw = {},  -- Python's functions
      host = {}, -- the same for use in Lua; they differ under a memory limit
   }

   for name, f in pairs(host) do
      glue.raw[name] = python.as_function(f)
      glue.host[name] = glue.raw[name]
   end

   -- With a memory limit, lupa must not fail to allocate while it holds Python's lock, so the limit is lifted for each call.
   if options.memory then
      local lift, restore = glue.raw.lift, glue.raw.restore
      local function restoring(...)
         restore()
         return ...
      end
      function glue.unlimited(f, ...)
         lift()
         return restoring(f(...))
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
