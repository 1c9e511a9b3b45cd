-- A limit on time: a hook asks Python after some instructions whether the script must stop. From then on it
-- raises an error at every instruction, so that no `pcall` can go on.

local glue = ...
local host, env = glue.host, glue.environment
local error, pcall, xpcall = error, pcall, xpcall
local sethook, create, resume = debug.sethook, coroutine.create, coroutine.resume

-- Python answers after how many instructions to ask again, or nil. It raises an error if the stack is full.
local must_stop = host.must_stop

local COUNT = 100
local MESSAGE = 'the script was stopped'

local stopped = false
local count = COUNT
local hook

local function stop()
   stopped = true
   sethook(hook, '', 1)
   error(MESSAGE, 0)
end

function hook()
   local next_count = not stopped and must_stop()
   if not next_count then
      stop()
   elseif next_count ~= count then
      count = next_count
      sethook(hook, '', count)
   end
end

-- At the end of a full stack the hook itself fails. A function that catches its own endless recursion would stay there for
-- ever; it is stopped on its way back, where there is room again.
local function checked(ok, ...)
   if not ok and (stopped or not must_stop()) then
      stop()
   end
   return ok, ...
end

function env.pcall(...)
   return checked(pcall(...))
end

-- A message handler runs inside the hook that raised the error, where no hook can stop it.
function env.xpcall(f, handler, ...)
   return checked(xpcall(f, function(...)
      if stopped then
         return ...
      end
      return handler(...)
   end, ...))
end

-- Python calls these two around every run; `sethook` without arguments comes first, because this function would be stopped.
function glue.arm()
   stopped, count = false, COUNT
   sethook(hook, '', COUNT)
end

glue.sethook = sethook

if glue.jit then
   glue.jit.off()
   glue.own('jit').on = function()
      error('jit.on: hooks do not run in compiled code, so this runtime interprets', 2)
   end
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

   local visible = glue.own('coroutine')
   visible.create = hooked
   function visible.wrap(f)
      local co = hooked(f)
      return function(...)
         return pass(resume(co, ...))
      end
   end
end

-- A script must not take the hook away, nor run code where no hook runs: in a finaliser.
if env.debug then
   glue.own('debug').sethook = function()
      error('debug.sethook: the hook of this runtime enforces its time limit', 2)
   end
end
env.newproxy = nil
