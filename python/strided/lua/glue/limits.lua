-- A limit on time: a hook asks Python after every thousand instructions whether the script must stop. From then on it
-- raises an error at every instruction, so that no `pcall` can go on.

local glue = ...
local host, env = glue.host, glue.environment
local error, unpack = error, unpack or table.unpack
local sethook, create, resume = debug.sethook, coroutine.create, coroutine.resume
local must_stop = host.must_stop

local COUNT = 1000
local MESSAGE = 'the script was stopped'

local stopped = false

local function hook()
   if stopped or must_stop() then
      stopped = true
      sethook(hook, '', 1)
      error(MESSAGE, 0)
   end
end

-- Python calls these two around every run; `sethook` without arguments comes first, because this function would be stopped.
function glue.arm()
   stopped = false
   sethook(hook, '', COUNT)
end

glue.sethook = sethook

if glue.jit then
   glue.jit.off()
   local jit = {}
   for name, value in pairs(glue.jit) do
      jit[name] = value
   end
   function jit.on()
      error('jit.on: hooks do not run in compiled code, so this runtime interprets', 2)
   end
   env.jit, package.loaded.jit = jit, jit
else
   -- The hook of stock Lua belongs to one coroutine.
   local function hooked(f)
      local co = create(f)
      sethook(co, hook, '', COUNT)
      return co
   end

   local function pass(ok, ...)
      if not ok then
         error((...), 0)
      end
      return ...
   end

   env.coroutine = {}
   for name, value in pairs(coroutine) do
      env.coroutine[name] = value
   end
   env.coroutine.create = hooked
   function env.coroutine.wrap(f)
      local co = hooked(f)
      return function(...)
         return pass(resume(co, ...))
      end
   end
   package.loaded.coroutine = env.coroutine
end

-- A script must not take the hook away, nor run code where no hook runs: in a finaliser.
if env.debug then
   local debug = {}
   for name, value in pairs(env.debug) do
      debug[name] = value
   end
   function debug.sethook()
      error('debug.sethook: the hook of this runtime enforces its time limit', 2)
   end
   env.debug, package.loaded.debug = debug, debug
end
env.newproxy = nil
