-- A small training loop with Torch7's plain tensors: a network of two layers learns which of two spirals a point is on.
--
--    strided lua examples/torch7_training.lua
--
-- No `nn` package is needed: the layers are a Torch7 class, the gradients are written out with `addmm`, and memory is used
-- again by functions that take their result as the first argument.

require 'torch'

torch.manualSeed(1)

local POINTS, HIDDEN, STEPS, RATE = 200, 24, 1500, 1

-- Points on two spirals, and 0 or 1 for which of them they are on.
local function spirals(count)
   local half = count / 2
   local angle = torch.linspace(0.3, 2.6, half):mul(math.pi)
   local x, target = torch.Tensor(count, 2), torch.zeros(count, 1)
   for class = 0, 1 do
      local turned = angle + class * math.pi
      local rows = x:narrow(1, 1 + class * half, half)
      rows:select(2, 1):copy(torch.cos(turned):cmul(angle))
      rows:select(2, 2):copy(torch.sin(turned):cmul(angle))
      target:narrow(1, 1 + class * half, half):fill(class)
   end
   return x:div(x:max()):add(torch.randn(count, 2):mul(0.02)), target
end

-- An affine layer that remembers its input, and what it needs to learn.
local Layer = torch.class('Layer')

function Layer:__init(inputs, outputs)
   self.weight = torch.randn(inputs, outputs):mul(2 / math.sqrt(inputs))
   self.bias = torch.zeros(1, outputs)
   self.output, self.gradInput, self.gradWeight = torch.Tensor(), torch.Tensor(), torch.Tensor(inputs, outputs)
end

function Layer:forward(input)
   self.input = input
   local rows = input:size(1)
   self.output:resize(rows, self.weight:size(2)):copy(self.bias:expand(rows, self.weight:size(2)))
   return self.output:addmm(input, self.weight)
end

function Layer:backward(gradOutput)
   torch.mm(self.gradWeight, self.input:t(), gradOutput)
   torch.mm(self.gradInput:resizeAs(self.input), gradOutput, self.weight:t())
   self.gradBias = gradOutput:sum(1)
   return self.gradInput
end

function Layer:update(rate)
   self.weight:add(-rate, self.gradWeight)
   self.bias:add(-rate, self.gradBias)
end

function Layer:__tostring__()
   return ('Layer(%d -> %d)'):format(self.weight:size(1), self.weight:size(2))
end

local x, target = spirals(POINTS)
local first, second = _G.Layer(2, HIDDEN), _G.Layer(HIDDEN, 1)
print(tostring(first) .. ', ' .. tostring(second))

local timer = torch.Timer()
for step = 1, STEPS do
   local hidden = torch.tanh(first:forward(x))
   local guess = torch.sigmoid(second:forward(hidden))

   local loss = -(torch.cmul(target, torch.log(guess)) + torch.cmul(1 - target, torch.log(1 - guess))):mean()
   local gradient = (guess - target):div(POINTS)
   local back = second:backward(gradient)
   first:backward(torch.cmul(back, 1 - torch.cmul(hidden, hidden)))
   first:update(RATE)
   second:update(RATE)

   if step == 1 or step % 500 == 0 then
      local right = guess:gt(0.5):eq(target:byte()):double():mean()
      print(('step %4d: loss %.4f, %3d%% right'):format(step, loss, 100 * right))
   end
end
assert(timer:time().real >= 0)
