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
      host = {},
   }

   -- With a memory limit, lupa must not fail to allocate while it holds Python's lock, so the limit is lifted for each call.
   if options.memory then
      local lift, restore = python.as_function(host.lift), python.as_function(host.restore)
      local function restoring(...)
         restore()
         return ...
      end
      function glue.as_function(f)
         f = python.as_function(f)
         return function(...)
            lift()
            return restoring(f(...))
         end
      end
      glue.lift, glue.restore = lift, restore
      if newproxy then -- newer versions collect garbage before they give up
         collectgarbage('setpause', 120)
      end
   end
   for name, f in pairs(host) do
      glue.host[name] = glue.as_function(f)
   end
   return glue
end
