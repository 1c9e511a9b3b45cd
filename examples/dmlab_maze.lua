-- A maze and its texture, as a level script of DeepMind Lab makes them: tensors, views and random numbers.
--
--    strided lua examples/dmlab_maze.lua 7
--
-- The argument is the seed. The maze is a ByteTensor of cells, 1 for a wall, carved by a random walk that goes back when it is
-- stuck. It is printed as Lab's maps are written, and made into a texture of pixels.

local tensor = require 'dmlab.system.tensor'
local random = require 'dmlab.system.random'

local WALL, FREE = 1, 0
local PIXELS = 4 -- of the texture, for each cell
local STONE, GRASS = {96, 96, 104}, {64, 144, 72}
local STEPS = {{0, 2}, {2, 0}, {0, -2}, {-2, 0}}

-- Cells at even indices are rooms; what is between two rooms may be opened.
local function carve(rows, columns)
   local maze = tensor.ByteTensor(2 * rows + 1, 2 * columns + 1):fill(WALL)
   local path = {{2, 2}}
   maze(2, 2):val(FREE)
   while #path > 0 do
      local i, j = path[#path][1], path[#path][2]
      local moved = false
      for _, way in ipairs(tensor.Int64Tensor{range = {4}}:shuffle(random):val()) do
         local di, dj = STEPS[way][1], STEPS[way][2]
         local inside = i + di > 1 and i + di <= 2 * rows and j + dj > 1 and j + dj <= 2 * columns
         if inside and maze(i + di, j + dj):val() == WALL then
            maze(i + di / 2, j + dj / 2):val(FREE)
            maze(i + di, j + dj):val(FREE)
            path[#path + 1] = {i + di, j + dj}
            moved = true
            break
         end
      end
      if not moved then
         path[#path] = nil
      end
   end
   return maze
end

-- `*` is a wall, `P` the player, `G` the goal.
local function text(maze)
   local rows, columns = maze:shape()[1], maze:shape()[2]
   local lines = {}
   for i, cells in ipairs(maze:val()) do
      local line = {}
      for j, cell in ipairs(cells) do
         line[j] = cell == WALL and '*' or ' '
      end
      lines[i] = line
   end
   lines[2][2], lines[rows - 1][columns - 1] = 'P', 'G'
   for i, line in ipairs(lines) do
      lines[i] = table.concat(line)
   end
   return table.concat(lines, '\n')
end

-- Pixels of three bytes: walls of stone, grass in between, and a shade on the lower edge of each wall.
local function texture(maze)
   local rows, columns = maze:shape()[1], maze:shape()[2]
   local pixels = tensor.ByteTensor(rows * PIXELS, columns * PIXELS, 3):fill(GRASS)
   maze:applyIndexed(function(cell, index)
      if cell == WALL then
         local block = pixels:narrow(1, (index[1] - 1) * PIXELS + 1, PIXELS):narrow(2, (index[2] - 1) * PIXELS + 1, PIXELS)
         block:fill(STONE)
         block:select(1, PIXELS):sub(40)
      end
   end)
   return pixels
end

random:seed(tonumber(arg and arg[1]) or 7)
local maze = carve(5, 12)
print(text(maze))

local pixels = texture(maze)
local seen = pixels:reverse(1) -- OpenGL's textures begin with the lowest row; a view turns them
print(('texture: %s, %d bytes, mean %.2f'):format(table.concat(pixels:shape(), 'x'), pixels:size(), pixels:double():sum() / pixels:size()))
print(('the lowest row comes first: %s'):format(tostring(seen:select(1, 1) == pixels:select(1, pixels:shape()[1]))))
