-- The feature list, row by row, as a Lua program sees it. A row returns true, or a list of what must be true. T0 and T7 are
-- the pages of Torch7's tensors, X are names that the pages use, LUA is what running Lua scripts adds.
--
-- `x` has the numbers from 1 in 3x4, `t` in 2x3x4, `s` is a storage of 1 to 10, `z` is 3x2 and negative.

local rows = {}
local x, t, s, z

local function fresh()
   x = torch.range(1, 12):resize(3, 4)
   t = torch.range(1, 24):resize(2, 3, 4)
   s = torch.DoubleStorage{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
   z = torch.Tensor{{-1, -2}, {-3, -4}, {-5, -6}}
end

local function longs(...)
   return torch.LongStorage{...}
end

-- Whether two values are equal; tensors and storages are compared with tables of their elements.
local function same(a, b)
   if type(a) == 'userdata' and type(b) == 'table' then
      a = a:totable()
   end
   if type(a) ~= 'table' or type(b) ~= 'table' then
      return a == b
   end
   for key, value in pairs(a) do
      if not same(value, b[key]) then
         return false
      end
   end
   return #a == #b
end

local function fails(f, text)
   local ok, message = pcall(f)
   return not ok and type(message) == 'string' and message:find(text, 1, true) ~= nil
end

local function apart(a, b)
   return same(a, b:totable()) and a:storage() ~= b:storage()
end

-- The short page

rows['T0-001'] = function()
   local copy = torch.deserialize(torch.serialize(x))
   return apart(copy, x)
end
rows['T0-002'] = function() return torch.Tensor(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1):dim() == 20 end
rows['T0-003'] = function() return same(torch.Tensor(4, 5, 6, 2):size(), {4, 5, 6, 2}) end
rows['T0-004'] = function() return torch.LongStorage(6):size() == 6 end
rows['T0-005'] = function()
   local n = torch.LongStorage(2):fill(0)
   n[1] = 4
   return same(n, {4, 0})
end
rows['T0-006'] = function() return torch.Tensor(longs(4, 5, 6, 2, 7, 3)):nElement() == 5040 end
rows['T0-007'] = function() return x:dim() == 2 end
rows['T0-008'] = function() return torch.Tensor(longs(4, 5, 6, 2, 7, 3)):nDimension() == 6 end
rows['T0-009'] = function() return x:size(1) == 3 and x:size(2) == 4 end
rows['T0-010'] = function() return same(x:size(), {3, 4}) and torch.type(x:size()) == 'torch.LongStorage' end
rows['T0-011'] = function() return tostring(longs(4, 5)) == ' 4\n 5\n[torch.LongStorage of size 2]\n' end
rows['T0-012'] = function() return same(x:storage(), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}) and x:storage() == x:storage() end
rows['T0-013'] = function() return not x:narrow(2, 1, 2):isContiguous() end
rows['T0-014'] = function() return x:storageOffset() == 1 and x[2]:storageOffset() == 5 end
rows['T0-015'] = function() return x:stride(1) == 4 and x:stride(2) == 1 end
rows['T0-016'] = function() return t[2][3][4] == 24 end
rows['T0-017'] = function()
   return t:storage()[t:storageOffset() + (2 - 1) * t:stride(1) + (3 - 1) * t:stride(2) + (4 - 1) * t:stride(3)] == 24
end
rows['T0-018'] = function()
   x:storage()[5] = 50
   return x[2][1] == 50
end
rows['T0-019'] = function() return s:size() == 10 and #s == 10 end
rows['T0-020'] = function() return tostring(torch.range(1, 4):resize(2, 2)) == ' 1  2\n 3  4\n[torch.DoubleTensor of size 2x2]\n' end
rows['T0-021'] = function() return same(x:stride(), {4, 1}) end
rows['T0-022'] = function()
   local i = 0
   return same(torch.Tensor(2, 2):apply(function() i = i + 1 return i end), {{1, 2}, {3, 4}})
end
rows['T0-023'] = function() return same(torch.Tensor(4, 5):stride(), {5, 1}) end
rows['T0-024'] = function() return same(torch.ByteTensor{255, 256}, {255, 0}) end
rows['T0-025'] = function() return same(torch.CharTensor{127, 128}, {127, -128}) end
rows['T0-026'] = function() return same(torch.ShortTensor{32768}, {-32768}) end
rows['T0-027'] = function() return same(torch.IntTensor{2147483647}, {2147483647}) end
rows['T0-028'] = function() return torch.FloatTensor{0.1}[1] ~= 0.1 and math.abs(torch.FloatTensor{0.1}[1] - 0.1) < 1e-8 end
rows['T0-029'] = function() return torch.DoubleTensor{0.1}[1] == 0.1 end
rows['T0-030'] = function() return torch.ByteTensor{200, 100}:add(1):sum() == 302 and same(torch.HalfTensor{1, 2}:mul(2), {2, 4}) end
rows['T0-031'] = function() return torch.Tensor():type() == 'torch.DoubleTensor' end
rows['T0-032'] = function()
   torch.setdefaulttensortype('torch.FloatTensor')
   local name = torch.Tensor():type()
   torch.setdefaulttensortype('torch.DoubleTensor')
   return name == 'torch.FloatTensor'
end
rows['T0-033'] = function() return x:t():storage() == x:storage() and x:resize(2, 6):storage() == x:storage() end
rows['T0-034'] = function() return same(torch.Tensor(3):zero(), {0, 0, 0}) end
rows['T0-035'] = function() return x:narrow(1, 2, 2):fill(1):sum() == 8 and same(x[3], {1, 1, 1, 1}) end
rows['T0-036'] = function() return tostring(torch.Tensor{0, 1}) == ' 0\n 1\n[torch.DoubleTensor of size 2]\n' end
rows['T0-037'] = function() return apart(torch.Tensor(x:size()):copy(x), x) end
rows['T0-038'] = function() return apart(x:clone(), x) end
rows['T0-041'] = function()
   local found = {}
   for heading in tostring(torch.Tensor(2, 1, 2, 2, 2):zero()):gmatch('%(([%d,]+),%.,%.%)') do
      found[#found + 1] = heading
   end
   return same(found, {'1,1,1', '2,1,1', '1,1,2', '2,1,2'})
end

-- The long page: constructors

rows['T7-007'] = function() return torch.LongTensor{2 ^ 40}[1] == 2 ^ 40 end
rows['T7-011'] = function()
   for _, name in ipairs{'Byte', 'Char', 'Short', 'Int', 'Long', 'Half', 'Float', 'Double'} do
      if torch[name .. 'Tensor'](2, 2):fill(3):narrow(1, 1, 1):sum() ~= 6 then
         return false
      end
   end
   return true
end
rows['T7-012'] = function() return torch.Tensor(3):nElement() == 3 end
rows['T7-013'] = function() return torch.Tensor():dim() == 0 and torch.Tensor():nElement() == 0 and torch.Tensor():storage() == nil end
rows['T7-014'] = function()
   torch.Tensor(x)[1][1] = 9
   return torch.Tensor(x:t()):isSetTo(x:t()) and x[1][1] == 9
end
rows['T7-015'] = function() return same(torch.Tensor(2, 5):size(), {2, 5}) and same(torch.Tensor(3, 0, 2):size(), {3}) end
rows['T7-016'] = function() return same(torch.Tensor(longs(3, 2), longs(1, 3)):stride(), {1, 3}) end
rows['T7-017'] = function() return fails(function() torch.Tensor(longs(3, 2), longs(1)) end, 'provided stride and size are inconsistent') end
rows['T7-018'] = function() return same(torch.Tensor(longs(3, 2), longs(-1, -1)):stride(), {2, 1}) end
rows['T7-019'] = function() return torch.Tensor(torch.LongStorage{4, 4, 3, 2}):dim() == 4 end
rows['T7-020'] = function()
   local y = torch.Tensor(longs(4), longs(0)):zero()
   y[1] = 1
   return same(y, {1, 1, 1, 1})
end
rows['T7-021'] = function() return same(torch.Tensor(longs(2), longs(-5)):stride(), {1}) end
rows['T7-022'] = function() return same(torch.LongTensor(longs(2, 3)), {2, 3}) and torch.FloatTensor(longs(2, 3)):dim() == 2 end
rows['T7-023'] = function()
   return same(torch.Tensor(s, 1, longs(2, 5)), {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}}),
      fails(function() torch.Tensor(s, 0, 2) end, 'Tensor: invalid storage offset')
end
rows['T7-024'] = function() return same(torch.Tensor(s), s:totable()) and torch.Tensor(s):storage() == s end
rows['T7-025'] = function() return same(torch.Tensor(s, 1, longs(2, 2), longs(-1, -1)):stride(), {2, 1}) end
rows['T7-026'] = function() return torch.Tensor(s, 1, longs(10)):zero():sum() == 0 and s[10] == 0 end
rows['T7-027'] = function() return same(torch.Storage(3):fill(1), {1, 1, 1}) and torch.type(torch.Storage(3)) == 'torch.DoubleStorage' end
rows['T7-028'] = function() return same(torch.LongStorage{2, 5}, {2, 5}) end
rows['T7-029'] = function() return same(torch.Tensor(s, 2, 4, 2), {2, 4, 6, 8}) and same(torch.Tensor(s, 3, 4), {3, 4, 5, 6}) end
rows['T7-030'] = function()
   return same(torch.Tensor{{1, 2, 3, 4}, {5, 6, 7, 8}}:size(), {2, 4}),
      fails(function() torch.Tensor{{1, 2}, 3} end, 'invalid tensor definition'),
      fails(function() torch.Tensor{1, 'a'} end, 'invalid element (not a number)')
end

-- Function calls, cloning, queries

rows['T7-031'] = function() return same(x:narrow(1, 1, 1), {{1, 2, 3, 4}}) end
rows['T7-032'] = function() return torch.view(x, 12):isSetTo(x:view(12)) end
rows['T7-033'] = function() return torch.add(x, 1) ~= x and x:add(1) == x and x[1][1] == 2 end
rows['T7-034'] = function()
   local y = torch.Tensor()
   return y:add(x, 1) == y and y[3][4] == 13 and torch.add(y, x, 2) == y and y[3][4] == 14
end
rows['T7-035'] = function() return x:t():clone():isContiguous() end
rows['T7-036'] = function() return x:contiguous() == x and apart(x:t():contiguous(), x:t()) end
rows['T7-037'] = function() return x:type() == 'torch.DoubleTensor' end
rows['T7-038'] = function() return x:type('torch.DoubleTensor') == x end
rows['T7-039'] = function() return same(torch.Tensor{3.14, -3.9}:type('torch.IntTensor'), {3, -3}) end
rows['T7-040'] = function() return x:typeAs(torch.ByteTensor()):type() == 'torch.ByteTensor' end
rows['T7-041'] = function() return torch.isTensor(x) and not torch.isTensor(x[1][2]) and not torch.isTensor({1}) end
rows['T7-042'] = function()
   for name, class in pairs{byte = 'Byte', char = 'Char', short = 'Short', int = 'Int', long = 'Long', float = 'Float', double = 'Double'} do
      if x[name](x):type() ~= 'torch.' .. class .. 'Tensor' then
         return false
      end
   end
   return true
end
rows['T7-045'] = function()
   return x:size(2) == 4, fails(function() local n = x:size(3) end, "bad argument #1 to 'size' (dimension 3 out of range of 2D tensor)")
end
rows['T7-047'] = function() return same(#x, {3, 4}) and torch.type(#x) == 'torch.LongStorage' end
rows['T7-050'] = function()
   return torch.Tensor():set(s, 3):storage() == s, torch.Tensor():set(s, 3):storageOffset() == 3,
      torch.Tensor(s, 1, 15):storage():size() == 15
end
rows['T7-051'] = function() return x:isContiguous() and not x:select(2, 1):isContiguous() end
rows['T7-052'] = function() return x:isSize(longs(3, 4)) and not x:isSize(longs(4, 3)) and not x:isSize(longs(12)) end
rows['T7-053'] = function() return x:isSameSizeAs(torch.Tensor(3, 4)) and not x:isSameSizeAs(torch.Tensor(4, 3)) end
rows['T7-054'] = function() return x:nElement() == 12 end
rows['T7-055'] = function() return x:t():narrow(1, 2, 2):storageOffset() == 2 end
rows['T7-056'] = function()
   return same(x[2], {5, 6, 7, 8}), same(x[-1], {9, 10, 11, 12}), fails(function() return x[4] end, '(out of range)')
end
rows['T7-057'] = function() return x[1][2] == 2 and type(x[1][2]) == 'number' end
rows['T7-058'] = function() return x[{2, 3}] == 7 end
rows['T7-059'] = function() return x[longs(2, 3)] == 7, fails(function() return x[longs(2)] end, '(invalid size)') end
rows['T7-060'] = function() return same(x[torch.le(x, 3)], {1, 2, 3}) end
rows['T7-061'] = function() return torch.le(x, 3):type() == 'torch.ByteTensor' and torch.le(x, 3):sum() == 3 end

-- References, copying, resizing

rows['T7-062'] = function() return torch.Tensor():set(s, 1, 10):isSetTo(torch.Tensor(s, 1, 10)) end
rows['T7-063'] = function()
   local y = torch.Tensor()
   return y:set(x) == y and y:storage() == x:storage(), fails(function() torch.IntTensor():set(x) end, 'expecting number or')
end
rows['T7-064'] = function() return torch.Tensor():set(x):isSetTo(x) and not x:clone():isSetTo(x) end
rows['T7-065'] = function() return same(torch.Tensor():set(s, 3, longs(2, 2), longs(4, 1)), {{3, 4}, {7, 8}}) end
rows['T7-066'] = function() return same(torch.Tensor():set(s), s:totable()) end
rows['T7-067'] = function() return same(torch.Tensor():set(s, 1, 3, 2, 2, 1), {{1, 2}, {3, 4}, {5, 6}}) end
rows['T7-068'] = function()
   return same(torch.Tensor(4, 3):copy(x)[1], {1, 2, 3}), fails(function() torch.Tensor(3, 3):copy(x) end, 'same number of elements')
end
rows['T7-069'] = function() return same(torch.CharTensor(3):copy(torch.IntTensor{65537, -1, 128}), {1, -1, -128}) end
rows['T7-070'] = function() return x:fill(3.5) == x and x:sum() == 42 end
rows['T7-071'] = function() return x:zero() == x and x:sum() == 0 end
rows['T7-072'] = function() return x:resize(20):storage():size() == 20 end
rows['T7-073'] = function() return x:resize(2, 2):storage():size() == 12 end
rows['T7-074'] = function() return x:t():resize(12):isContiguous() and same(x:t():resize(4, 3):stride(), {1, 4}) end
rows['T7-075'] = function()
   return same(torch.Tensor():resizeAs(x):size(), {3, 4}), fails(function() x:resizeAs(torch.IntTensor(2)) end, 'torch.DoubleTensor expected')
end
rows['T7-076'] = function() return x:resize(longs(2, 6)) == x and x[2][1] == 7 end
rows['T7-077'] = function() return same(x:resize(2, 6):size(), {2, 6}) end

-- Sub-tensors

rows['T7-080'] = function()
   return same(x:narrow(1, 2, 2), {{5, 6, 7, 8}, {9, 10, 11, 12}}),
      fails(function() local y = x:narrow(1, 1, 0) end, "bad argument #3 to 'narrow' (out of range)")
end
rows['T7-081'] = function() return same(x:sub(2, 3, 3, 4), {{7, 8}, {11, 12}}) end
rows['T7-082'] = function() return same(x:sub(-1, -1, 3, 4), {{11, 12}}), fails(function() x:sub(3, 2) end, 'end smaller than beginning') end
rows['T7-083'] = function() return same(x:select(1, 2), {5, 6, 7, 8}) end
rows['T7-084'] = function() return torch.range(1, 5):select(1, 3) == 3 end
rows['T7-085'] = function() return x:select(1, 2):isSetTo(x[2]) end
rows['T7-086'] = function() return same(x[{2, {2, 4}}], {6, 7, 8}) and x[{2, {2, 4}}]:storage() == x:storage() end
rows['T7-087'] = function() return same(x[{{}, 4}], {4, 8, 12}) end
rows['T7-088'] = function()
   x[{1, 3}] = 100
   return x[1][3] == 100
end
rows['T7-089'] = function()
   x[{{}, 4}] = -1
   x[{2, {2, 4}}] = 2
   return same(x, {{1, 2, 3, -1}, {5, 2, 2, 2}, {9, 10, 11, -1}})
end
rows['T7-090'] = function()
   x[{{}, 2}] = torch.range(1, 3)
   return same(x[{{}, 2}], {1, 2, 3}), fails(function() x[1] = torch.range(1, 3) end, 'same number of elements')
end
rows['T7-091'] = function()
   x[torch.lt(x, 3)] = -2
   return same(x[1], {-2, -2, 3, 4})
end
rows['T7-092'] = function()
   return same(x:index(1, torch.LongTensor{3, 1}), {{9, 10, 11, 12}, {1, 2, 3, 4}}),
      fails(function() x:index(1, torch.IntTensor{1}) end, 'torch.LongTensor expected, got torch.IntTensor')
end
rows['T7-093'] = function() return x:index(1, torch.LongTensor{1}):storage() ~= x:storage() end
rows['T7-094'] = function()
   local y, chosen = torch.Tensor(), torch.LongTensor{2}
   return y:index(x, 1, chosen) == chosen and same(y, {{5, 6, 7, 8}})
end
rows['T7-095'] = function() return x:indexCopy(2, torch.LongTensor{4, 1}, z) == z and same(x[1], {-2, 2, 3, -1}) end
rows['T7-096'] = function() return fails(function() x:indexCopy(2, torch.LongTensor{1}, z) end, 'Number of indices should be equal to source:size(dim)') end
rows['T7-097'] = function() return x:indexAdd(2, torch.LongTensor{1, 1}, z) == z and same(x[1], {-2, 2, 3, 4}) end
rows['T7-098'] = function() return fails(function() x:indexAdd(2, torch.LongTensor{1}, z) end, 'Number of indices should be equal to source:size(dim)') end
rows['T7-099'] = function() return x:indexFill(2, torch.LongTensor{4, 2}, -10) == -10 and same(x[3], {9, -10, 11, -10}) end
rows['T7-100'] = function() return same(x:gather(2, torch.LongTensor{{1}, {2}, {4}}), {{1}, {6}, {12}}) end
rows['T7-101'] = function()
   return fails(function() x:gather(1, torch.LongTensor{1, 2}) end, 'must have same dimensions'),
      fails(function() x:gather(1, torch.LongTensor{{1, 2}}) end, 'to have the same size in dimension 0')
end
rows['T7-102'] = function() return fails(function() x:gather(2, torch.LongTensor{{5}, {2}, {4}}) end, 'Invalid index in gather') end
rows['T7-103'] = function() return same(x:gather(2, torch.LongTensor{{1, 1}, {2, 2}, {4, 4}}), {{1, 1}, {6, 6}, {12, 12}}) end
rows['T7-104'] = function()
   local y = torch.Tensor(3, 1)
   return y:gather(x, 2, torch.LongTensor{{1}, {2}, {4}}) == y and y[3][1] == 12
end
rows['T7-105'] = function()
   return x:scatter(2, torch.LongTensor{{4}, {3}, {2}}, z:narrow(2, 1, 1)) == x and same(x[1], {1, 2, 3, -1})
end
rows['T7-106'] = function() return x:scatter(2, torch.LongTensor{{1}, {1}, {1}}, 1.25)[2][1] == 1.25 end
rows['T7-107'] = function() return fails(function() x:scatter(2, torch.LongTensor{{5}, {1}, {1}}, 1) end, 'Invalid index in scatter') end
rows['T7-108'] = function() return same(x:maskedSelect(x:gt(10)), {11, 12}) end
rows['T7-109'] = function()
   return x:maskedSelect(torch.ByteTensor(12):fill(1)):nElement() == 12,
      fails(function() x:maskedSelect(torch.IntTensor(3, 4)) end, 'torch.ByteTensor expected')
end
rows['T7-110'] = function()
   local y = torch.Tensor()
   y:maskedSelect(x, x:gt(10))
   return same(y, {11, 12})
end
rows['T7-111'] = function() return x:maskedCopy(x:gt(10), torch.Tensor{-1, -2}) == x and same(x[3], {9, 10, -1, -2}) end
rows['T7-112'] = function()
   return x:maskedCopy(x:gt(10), torch.Tensor{-1, -2, -3}) == x,
      fails(function() x:maskedCopy(x:gt(8), torch.Tensor{-1}) end, 'Number of elements of src < number of ones in mask')
end
rows['T7-113'] = function() return x:maskedCopy(torch.ByteTensor(12):fill(1), torch.range(12, 1, -1)) == x and x[1][1] == 12 end
rows['T7-114'] = function()
   return x:maskedFill(x:gt(10), -1) == -1 and x[3][4] == -1,
      fails(function() x:maskedFill(torch.ByteTensor{1, 0}, 1) end, 'same number of elements')
end
rows['T7-115'] = function() return same(torch.nonzero(torch.IntTensor{1, 0, 1}), {{1}, {3}}) end
rows['T7-116'] = function() return same(x:gt(11):nonzero(), {{3, 4}}) end
rows['T7-117'] = function() return fails(function() torch.nonzero(torch.LongTensor(), x) end, 'invalid arguments: LongTensor DoubleTensor') end
rows['T7-118'] = function()
   local y, double = torch.LongTensor(), x:gt(11):double()
   return double.nonzero(y, double) == y and same(y, {{3, 4}})
end

-- Expanding, views

rows['T7-119'] = function() return same(torch.range(1, 3):view(3, 1):expand(3, 2):stride(), {1, 0}) end
rows['T7-120'] = function() return fails(function() x:expand(4, 4) end, 'only supporting singleton expansion') end
rows['T7-121'] = function()
   local y = torch.Tensor()
   return y:expand(torch.Tensor{{1}}, 1, 3) == y and same(y, {{1, 1, 1}})
end
rows['T7-122'] = function()
   local y = torch.Tensor{{1}}
   return y:expand(1, 3):fill(9):sum() == 27 and same(y, {{9}})
end
rows['T7-123'] = function() return same(torch.Tensor{{1}, {2}}:expandAs(torch.Tensor(2, 3)):size(), {2, 3}) end
rows['T7-124'] = function()
   return same(torch.range(1, 2):repeatTensor(2, 2), {{1, 2, 1, 2}, {1, 2, 1, 2}}), fails(function() x:repeatTensor(2) end, 'can not be smaller')
end
rows['T7-125'] = function()
   local y = torch.Tensor()
   return y:repeatTensor(torch.range(1, 2), 2, 2) == y and same(y:size(), {2, 4})
end
rows['T7-126'] = function() return same(torch.Tensor(2, 1, 3, 1):squeeze():size(), {2, 3}) end
rows['T7-127'] = function() return same(torch.Tensor(2, 1, 3):squeeze(2):size(), {2, 3}) and torch.Tensor(2, 1):squeeze(1):dim() == 2 end
rows['T7-128'] = function()
   for _, view in ipairs{x:view(12), x:t(), x:permute(2, 1), x:unfold(1, 2, 1), x:transpose(1, 2)} do
      if view:storage() ~= x:storage() then
         return false
      end
   end
   return true
end
rows['T7-129'] = function()
   return same(x:view(longs(2, 6)), x:view(2, 6):totable()), fails(function() x:t():view(12) end, 'expecting a contiguous tensor')
end
rows['T7-130'] = function()
   return same(x:view(2, -1):size(), {2, 6}), fails(function() x:view(-1, -1) end, 'Only one of torch.view dimensions can be -1.')
end
rows['T7-131'] = function()
   local y = torch.Tensor()
   return y:view(x, 2, 6) == y and y:storage() == x:storage() and torch.view(y, x, 12) == y
end
rows['T7-132'] = function() return same(x:viewAs(torch.Tensor(2, 6)):size(), {2, 6}) end
rows['T7-133'] = function() return same(t:transpose(1, 3):size(), {4, 3, 2}) end
rows['T7-134'] = function() return same(x:t():size(), {4, 3}), fails(function() t:t() end, 'Tensor must have 2 dimensions') end
rows['T7-135'] = function() return same(t:permute(2, 3, 1):size(), {3, 4, 2}), fails(function() t:permute(1, 2) end, 'Invalid permutation') end
rows['T7-136'] = function() return same(torch.range(1, 7):unfold(1, 2, 1):narrow(1, 1, 2), {{1, 2}, {2, 3}}) end
rows['T7-137'] = function() return torch.range(1, 7):unfold(1, 2, 2):size(1) == 3 end
rows['T7-138'] = function() return same(x:unfold(2, 2, 2):size(), {3, 2, 2}) end

-- Functions of elements, tables of tensors, pointers

rows['T7-139'] = function() return x:apply(function(v) return v * 2 end) == x and x[1][2] == 4 end
rows['T7-140'] = function() return x:apply(function() end)[1][2] == 2 end
rows['T7-141'] = function() return x:apply(math.sin)[1][1] == math.sin(1) end
rows['T7-142'] = function()
   return x:map(torch.range(1, 12), function(a, b) return a - b end):abs():sum() == 0,
      fails(function() x:map(torch.IntTensor(12), math.max) end, 'expected, got')
end
rows['T7-143'] = function() return same(x:map2(x, torch.range(1, 12), function(a, b, c) return a + b + c end)[1], {3, 6, 9, 12}) end
rows['T7-144'] = function()
   local parts, columns = x:split(2), torch.split(x, 3, 2)
   return #parts == 2 and parts[2]:size(1) == 1 and columns[2]:size(2) == 1
end
rows['T7-145'] = function()
   local y = {1, 2, 3}
   return torch.split(y, x, 2, 1) == y and #y == 2 and y[1]:size(1) == 2
end
rows['T7-146'] = function() return #x:chunk(3, 2) == 2 and torch.chunk(x, 2)[2]:size(1) == 1 end
rows['T7-147'] = function()
   local p = torch.data(x)
   p[4] = 50
   return p[0] == 1 and x:data()[11] == 12 and x[2][1] == 50
end
rows['T7-148'] = function() return tonumber(torch.data(x, true)) > 0 end -- of FFI's type `intptr_t`, as in Torch7
rows['T7-150'] = function() return same(torch.DoubleStorage(3, torch.data(x, true)), {1, 2, 3}) end
rows['T7-151'] = function() return torch.cdata(x).nDimension == 2 and tonumber(torch.cdata(x, true)) > 0 end
rows['T7-153'] = function() return select('#', x:retain()) == 0 and select('#', x:free()) == 0 end
rows['T7-154'] = function() return fails(function() x:free() end, 'there was no retain()') end

-- Names that the pages use

rows['X-001'] = function()
   return torch.rand(3):nElement() == 3 and torch.randn(3):nElement() == 3 and torch.zeros(3):sum() == 0,
      x:le(3):sum() == 3 and x:lt(3):sum() == 2 and x:eq(3):sum() == 1, same(torch.Tensor{1.5}:mul(3):floor(), {4}),
      x:clone():bernoulli(0.5):nElement() == 12
end
rows['X-002'] = function()
   local values = torch.randperm(5):sort()
   return x:add(1):mul(3)[1][1] == 6, torch.ones(2):sum() == 2, same(values, {1, 2, 3, 4, 5}),
      same(torch.Tensor{-1, 2}:abs(), {1, 2}), same(torch.Tensor{1, 2}:cumsum(), {1, 3}), x:max() == 39 and x:mean() == 22.5,
      torch.Tensor{2, 3}:prod() == 6, x:ge(39):sum() == 1 and x:ne(39):sum() == 11,
      x:normal() == x and x:uniform() == x and x:random() == x
end
rows['X-003'] = function()
   local short = torch.CharStorage()
   return same(torch.IntStorage(torch.IntStorage{1, 2, 3}, 2, 2), {2, 3}), short:string('ab'):string() == 'ab',
      same(torch.DoubleStorage(2):copy(torch.DoubleStorage{1, 2}), {1, 2}), torch.DoubleStorage(2):resize(5):size() == 5
end
rows['X-004'] = function()
   return torch.getdefaulttensortype() == 'torch.DoubleTensor' and torch.type(x) == 'torch.DoubleTensor',
      torch.typename(x) == 'torch.DoubleTensor' and torch.isStorage(s) and not torch.isStorage(x)
end
rows['X-005'] = function()
   local loaded = torch.deserialize(torch.serialize({x, x[1]}, 'ascii'), 'ascii')
   loaded[1][1][1] = 99
   return loaded[2][1] == 99
end
rows['X-006'] = function()
   return (x + x - x)[1][2] == 2 and (-x)[1][1] == -1 and (x / 2)[1][1] == 0.5 and (2 * x)[1][1] == 2,
      fails(function() return x + torch.range(1, 4) end, 'same number of elements'), torch.Tensor{1, 2} * torch.Tensor{3, 4} == 11
end
rows['X-007'] = function()
   return torch.cat(x, x, 1):size(1) == 6 and torch.reshape(x, 12):nElement() == torch.numel(x), x.new{1}:type() == x:type(),
      same(x:reshape(2, 6):size(), {2, 6}) and x:elementSize() == 8 and x:gt(11):sum() == 1 and x:real() == x
end
rows['X-008'] = function()
   local tensor = require 'dmlab.system.tensor'
   local y = tensor.DoubleTensor{range = {12}}
   return same(y:reshape{2, 6}:shape(), {2, 6}), fails(function() y:reshape{5} end, 'matching element count')
end
rows['X-009'] = function()
   local tensor = require 'dmlab.system.tensor'
   local y = tensor.DoubleTensor{1, 2, 3}
   return y:sum() == 6 and y:product() == 6 and y:lengthSquared() == 14 and y:dot(y) == 14,
      same(y:applyIndexed(function(value, index) return value + index[1] end):val(), {2, 4, 6}), type(y:tostring(2)) == 'string'
end
rows['X-011'] = function()
   local random = require 'dmlab.system.sys_random'
   random:seed(7)
   local a, b = random:uniformInt(1, 6), random:uniformReal(0, 1)
   random:seed(7)
   return a == random:uniformInt(1, 6) and b == random:uniformReal(0, 1), type(random:normalDistribution(0, 1)) == 'number',
      random:discreteDistribution{0, 1} == 2
end

-- Lua

rows['LUA-001'] = function() return require 'torch' == torch and _G.torch == torch end
rows['LUA-002'] = function()
   local tensor = require 'dmlab.system.tensor'
   return type(tensor.DoubleTensor) == 'function' and require 'dmlab.system.random' ~= nil and torch.Tensor(2):dim() == 1
end
rows['LUA-003'] = function()
   local indices = torch.LongTensor()
   x.nonzero(indices, x)
   return x:narrow(1, 2, 2):size(1) == 2 and torch.nonzero(x):size(1) == 12 and indices:size(1) == 12
end
rows['LUA-004'] = function()
   local tensor = require 'dmlab.system.tensor'
   return same(torch.Tensor{{1, 2}}, {{1, 2}}) and tensor.DoubleTensor{range = {5}}:size() == 5,
      same(tensor.DoubleTensor(2, 2):fill{1, 2}:val(), {{1, 2}, {1, 2}})
end
rows['LUA-005'] = function() return same(#x, {3, 4}) and #s == 10 end
rows['LUA-006'] = function()
   x[1], x[{2, {1, 2}}], x[longs(2, 3)], x[x:eq(8)] = 0, -1, -2, -3
   return same(x, {{0, 0, 0, 0}, {-1, -1, -2, -3}, {9, 10, 11, 12}})
end
rows['LUA-007'] = function() return x.foo == nil and require('dmlab.system.tensor').DoubleTensor(2).foo == nil end
rows['LUA-008'] = function()
   local tensor = require 'dmlab.system.tensor'
   return tostring(torch.Tensor{1}) == ' 1\n[torch.DoubleTensor of size 1]\n',
      tostring(tensor.ByteTensor{1, 2}):find('[deepmind.lab.tensor.ByteTensor]\nShape: [2]\n[1, 2]', 1, true) == 1
end
rows['LUA-009'] = function()
   local ok, message = pcall(function() return x:size(7) end)
   return ok == false and type(message) == 'string'
end
rows['LUA-010'] = function()
   local tensor = require 'dmlab.system.tensor'
   return x ~= x:clone() and x == x and tensor.ByteTensor{1, 2} == tensor.ByteTensor{1, 2}
end
rows['LUA-011'] = function()
   return x:apply(function(v) if v > 11 then return 0 end end):sum() == 66,
      torch.Tensor{1, 2}:map(torch.Tensor{3, 4}, function(a, b) if a > 1 then return b end end):sum() == 5,
      torch.Tensor{1}:map2(torch.Tensor{2}, torch.Tensor{3}, function() end):sum() == 1
end
rows['LUA-012'] = function() return torch.data(x)[2] == 3 and torch.cdata(x) ~= nil end
rows['LUA-013'] = function()
   function torch.HalfTensor:__sub(other) return 'replaced' end
   function torch.DoubleTensor.twice(self) return self * 2 end
   local Parent = torch.class('FeatureParent')
   function Parent:__init(value) self.value = value end
   function Parent:get() return self.value end
   local Child, parent = torch.class('FeatureChild', 'FeatureParent')
   function Child:__init() parent.__init(self, 5) end
   return x:twice()[1][1] == 2 and torch.getmetatable('torch.DoubleTensor').twice ~= nil, FeatureChild():get() == 5,
      torch.HalfTensor{1} - torch.HalfTensor{1} == 'replaced', torch.isTypeOf(FeatureChild(), 'FeatureParent'),
      torch.Tester() ~= nil and torch.TestSuite() ~= nil
end
rows['LUA-014'] = function()
   local zero = torch.Tensor{-0.0}[1]
   return 1 / zero == -math.huge, torch.CharStorage():string('\255\0a'):string() == '\255\0a',
      torch.CharStorage():string('\195\169'):size() == 2
end
rows['LUA-015'] = function() return fails(function() require 'dmlab.system.game' end, 'random, sys_random, tensor') end

function names()
   local found = {}
   for name in pairs(rows) do
      found[#found + 1] = name
   end
   return found
end

-- The numbers of what does not hold in a row, or the error that it raised.
function check(name)
   fresh()
   local results = {pcall(rows[name])}
   if not results[1] then
      return results[2]
   end
   for i = 2, #results do
      if results[i] ~= true then
         return name .. ': statement ' .. i - 1
      end
   end
   return #results < 2 and name .. ' says nothing' or nil
end
