-- An image pyramid with Torch7's tensors: each level is half as large, blurred before it is sampled.
--
--    strided lua examples/torch7_pyramid.lua -size 32 -levels 4
--
-- The picture is made here: a bright disc on a dark ground. A level is computed with windows (`unfold`), which use no memory.
-- The levels are shown as text, and put together again from the differences that each step has lost.

require 'torch'

local cmd = torch.CmdLine()
cmd:text('An image pyramid of a disc.')
cmd:option('-size', 32, 'rows and columns of the picture')
cmd:option('-levels', 4, 'levels of the pyramid')
local options = cmd:parse(arg or {})

local SHADES = ' .:-=+*#%@'

-- A bright disc on a dark ground, with soft edges.
local function disc(size)
   local line = torch.range(1, size):add(-(size + 1) / 2):div(size / 2)
   local x = line:view(1, size):expand(size, size)
   local y = line:view(size, 1):expand(size, size)
   return torch.cmul(x, x):add(torch.cmul(y, y)):sqrt():mul(-8):add(5):clamp(0, 1)
end

-- The 4x4 kernel whose rows and columns are 1 3 3 1, divided by their sum.
local line = torch.Tensor{1, 3, 3, 1}
local kernel = torch.ger(line, line):div(64)

-- The image with its border repeated once on each side.
local function padded(image)
   local rows, columns = image:size(1), image:size(2)
   local larger = torch.Tensor(rows + 2, columns + 2)
   larger[{{2, rows + 1}, {2, columns + 1}}] = image
   larger[1], larger[rows + 2] = larger[2]:clone(), larger[rows + 1]:clone()
   larger[{{}, 1}] = larger[{{}, 2}]:clone()
   larger[{{}, columns + 2}] = larger[{{}, columns + 1}]:clone()
   return larger
end

-- The next level: every window of 4x4, two apart, weighted by the kernel.
local function half(image)
   local windows = padded(image):unfold(1, 4, 2):unfold(2, 4, 2)
   local rows, columns = windows:size(1), windows:size(2)
   return (windows:contiguous():view(rows * columns, 16) * kernel:view(16)):view(rows, columns)
end

-- Each element four times: a view with strides of 0, then a copy.
local function twice(image)
   local rows, columns = image:size(1), image:size(2)
   return image:view(rows, 1, columns, 1):expand(rows, 2, columns, 2):contiguous():view(2 * rows, 2 * columns)
end

local function show(image)
   local shades = torch.mul(image, #SHADES - 1):add(0.5):floor()
   for i = 1, shades:size(1) do
      local row = {}
      shades[i]:apply(function(shade)
         row[#row + 1] = SHADES:sub(shade + 1, shade + 1):rep(2)
      end)
      print(table.concat(row))
   end
end

local levels, lost = {disc(options.size)}, {}
for i = 2, options.levels do
   levels[i] = half(levels[i - 1])
   lost[i - 1] = levels[i - 1] - twice(levels[i])
end
for i, image in ipairs(levels) do
   print(('level %d: %s, mean %.4f'):format(i, table.concat(image:size():totable(), 'x'), image:mean()))
   show(image)
end

local image = levels[#levels]
for i = #lost, 1, -1 do
   image = twice(image) + lost[i]
end
print(('put together again: largest difference %g'):format((image - levels[1]):abs():max()))
