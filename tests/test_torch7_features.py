"""The feature list of Torch7, row by row: what the tensor pages describe holds in `strided.torch7`.

The ids are those of the feature list: T0 and T7 are the short and the long tensor page of Torch7, X are names that the
pages use without describing them. A row is a list of Python expressions that are true, or of pairs of an expression and
the text of the error that it raises. `x` has the numbers from 1 in 3x4, `s` is a storage of 1 to 10, `t` is 2x3x4.
"""

import math
import re

import numpy as np
import pytest

import strided as st
from strided import torch7 as t7

ROWS = {
    # The short page
    "T0-002": ["t7.Tensor(*[1] * 20).dim() == 20"],
    "T0-003": ["t7.Tensor(4, 5, 6, 2).size().totable() == [4, 5, 6, 2]"],
    "T0-004": ["t7.LongStorage(6).size() == 6"],
    "T0-005": ["put(t7.LongStorage(2).fill(0), 1, 4).totable() == [4, 0]"],
    "T0-006": ["t7.Tensor(t7.LongStorage([4, 5, 6, 2, 7, 3])).nElement() == 4 * 5 * 6 * 2 * 7 * 3"],
    "T0-007": ["x.dim() == 2"],
    "T0-008": ["t7.Tensor(t7.LongStorage([4, 5, 6, 2, 7, 3])).nDimension() == 6"],
    "T0-009": ["x.size(1) == 3 and x.size(2) == 4"],
    "T0-010": ["x.size().totable() == [3, 4] and x.size().type() == 'torch.LongStorage'"],
    "T0-011": ["str(t7.LongStorage([4, 5])) == ' 4\\n 5\\n[torch.LongStorage of size 2]'"],
    "T0-012": ["x.storage().totable() == list(range(1, 13)) and x.storage() == x.storage()"],
    "T0-013": ["not x.narrow(2, 1, 2).isContiguous()"],
    "T0-014": ["x.storageOffset() == 1 and x[2].storageOffset() == 5"],
    "T0-015": ["x.stride(1) == 4 and x.stride(2) == 1"],
    "T0-016": ["t[2][3][4] == 24"],
    "T0-017": [
        "t.storage()[t.storageOffset() + (2-1)*t.stride(1) + (3-1)*t.stride(2) + (4-1)*t.stride(3)] == t[2][3][4]"
    ],
    "T0-018": ["put(x.storage(), 5, 50) and x[2][1] == 50"],
    "T0-019": ["s.size() == len(s) == 10"],
    "T0-020": ["str(t7.range(1, 4).resize(2, 2)) == ' 1  2\\n 3  4\\n[torch.DoubleTensor of size 2x2]'"],
    "T0-021": ["x.stride().totable() == [4, 1]"],
    "T0-022": ["t7.Tensor(2, 2).apply(counter()).totable() == [[1, 2], [3, 4]]"],
    "T0-023": ["t7.Tensor(4, 5).stride().totable() == [5, 1]"],
    "T0-024": ["t7.ByteTensor([255, 256]).totable() == [255, 0]"],
    "T0-025": ["t7.CharTensor([127, 128]).totable() == [127, -128]"],
    "T0-026": ["t7.ShortTensor([2**15]).totable() == [-(2**15)]"],
    "T0-027": ["t7.IntTensor([2**31 - 1]).totable() == [2**31 - 1]"],
    "T0-028": ["t7.FloatTensor([0.1]).totable() == [float(np.float32(0.1))]"],
    "T0-029": ["t7.DoubleTensor([0.1]).totable() == [0.1]"],
    "T0-030": ["t7.ByteTensor([200, 100]).add(1).sum() == 302 and t7.HalfTensor([1, 2]).mul(2).totable() == [2, 4]"],
    "T0-031": ["t7.Tensor().type() == 'torch.DoubleTensor'"],
    "T0-032": ["t7.setdefaulttensortype('torch.FloatTensor') or t7.Tensor().type() == 'torch.FloatTensor'"],
    "T0-033": ["x.t().storage() == x.resize(2, 6).storage() == x.storage()"],
    "T0-034": ["t7.Tensor(5).zero().totable() == [0] * 5"],
    "T0-035": ["x.narrow(1, 2, 2).fill(1).sum() == 8 and x.totable()[1:] == [[1] * 4] * 2"],
    "T0-036": ["str(t7.Tensor([0, 1])) == ' 0\\n 1\\n[torch.DoubleTensor of size 2]'"],
    "T0-037": ["same_but_apart(t7.Tensor(x.size()).copy(x), x)"],
    "T0-038": ["same_but_apart(x.clone(), x)"],
    "T0-041": [
        "re.findall(r'\\((.*),\\.,\\.\\)', str(t7.Tensor(2, 1, 2, 2, 2).zero())) == ['1,1,1', '2,1,1', '1,1,2', '2,1,2']"
    ],
    # The long page: constructors
    "T7-013": ["t7.Tensor().dim() == 0 and t7.Tensor().nElement() == 0 and t7.Tensor().storage() is None"],
    "T7-014": ["t7.Tensor(x.t()).isSetTo(x.t()) and put(t7.Tensor(x), (1, 1), 9)[1, 1] == x[1, 1] == 9"],
    "T7-015": ["t7.Tensor(2, 5).size().totable() == [2, 5]", "t7.Tensor(3, 0, 2).size().totable() == [3]"],
    "T7-016": ["t7.Tensor(longs(3, 2), longs(1, 3)).stride().totable() == [1, 3]"],
    "T7-017": [("t7.Tensor(longs(3, 2), longs(1))", "provided stride and size are inconsistent")],
    "T7-018": ["t7.Tensor(longs(3, 2), longs(-1, -1)).stride().totable() == [2, 1]"],
    "T7-019": ["t7.Tensor(longs(4, 4, 3, 2)).dim() == 4"],
    "T7-020": ["put(t7.Tensor(longs(4), longs(0)).zero(), 1, 1).totable() == [1] * 4"],
    "T7-021": ["t7.from_strided(st.arange(3).flip(0)).stride(1) == -1"],
    "T7-022": ["t7.LongTensor(longs(2, 3)).totable() == [2, 3] and t7.FloatTensor(longs(2, 3)).dim() == 2"],
    "T7-023": [
        "t7.Tensor(s, 1, longs(2, 5)).totable() == [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]",
        ("t7.Tensor(s, 0, 2)", "Tensor: invalid storage offset"),
    ],
    "T7-024": ["t7.Tensor(s).totable() == s.totable() and t7.Tensor(s).storage() == s"],
    "T7-025": ["t7.Tensor(s, 1, longs(2, 2), longs(-1, -1)).stride().totable() == [2, 1]"],
    "T7-026": ["t7.Tensor(s, 1, longs(10)).zero().sum() == 0 and s.totable() == [0] * 10"],
    "T7-027": ["t7.Storage(3).fill(1).totable() == [1, 1, 1] and t7.Storage(3).type() == 'torch.DoubleStorage'"],
    "T7-028": ["t7.LongStorage([2, 5]).totable() == [2, 5]"],
    "T7-029": ["t7.Tensor(s, 2, 4, 2).totable() == [2, 4, 6, 8]", "t7.Tensor(s, 3, 4).totable() == [3, 4, 5, 6]"],
    "T7-030": [
        "t7.Tensor([[1, 2, 3, 4], [5, 6, 7, 8]]).size().totable() == [2, 4]",
        ("t7.Tensor([[1, 2], 3])", "invalid tensor definition"),
        ("t7.Tensor([1, 'a'])", "invalid element (not a number)"),
    ],
    # Function calls
    "T7-031": ["x.narrow(1, 1, 1).totable() == [[1, 2, 3, 4]]"],
    "T7-032": ["t7.view(x, 12).isSetTo(x.view(12))"],
    "T7-033": ["t7.add(x, 1) is not x and x.add(1) is x and x[1, 1] == 2"],
    "T7-034": ["into(t7.Tensor(), lambda y: y.add(x, 1))[3, 4] == 13 and t7.add(y, x, 1) is y"],
    # Cloning
    "T7-035": ["x.t().clone().isContiguous()"],
    "T7-036": ["x.contiguous() is x and same_but_apart(x.t().contiguous(), x.t())"],
    "T7-037": ["x.type() == 'torch.DoubleTensor'"],
    "T7-038": ["x.type('torch.DoubleTensor') is x"],
    "T7-039": ["t7.Tensor([3.14, -3.9]).type('torch.IntTensor').totable() == [3, -3]"],
    "T7-040": ["x.typeAs(t7.ByteTensor()).type() == 'torch.ByteTensor'"],
    "T7-041": ["t7.isTensor(x) and not t7.isTensor(x[1][2]) and not t7.isTensor([1])"],
    "T7-042": ["[getattr(x, name)().type() for name in KINDS] == [f'torch.{name.title()}Tensor' for name in KINDS]"],
    # Queries
    "T7-045": ["x.size(2) == 4", ("x.size(3)", "bad argument #1 to 'size' (dimension 3 out of range of 2D tensor)")],
    "T7-047": ["len(x) == 3 and [row[1] for row in x] == [1, 5, 9]"],
    "T7-050": [
        "t7.Tensor().set(s, 3).storage() == s and t7.Tensor().set(s, 3).storageOffset() == 3",
        "t7.Tensor(s, 1, 15).storage().size() == 15",
    ],
    "T7-051": ["x.isContiguous() and not x.select(2, 1).isContiguous()"],
    "T7-052": ["x.isSize(longs(3, 4)) and not x.isSize(longs(4, 3)) and not x.isSize(longs(12))"],
    "T7-053": ["x.isSameSizeAs(t7.Tensor(3, 4)) and not x.isSameSizeAs(t7.Tensor(4, 3))"],
    "T7-054": ["x.nElement() == 12"],
    "T7-055": ["x.t().narrow(1, 2, 2).storageOffset() == 2"],
    # Elements
    "T7-056": [
        "x[2].totable() == x.select(1, 2).totable() and x[-1].totable() == [9, 10, 11, 12]",
        ("x[4]", "(out of range)"),
    ],
    "T7-057": ["x[1][2] == 2 and isinstance(x[1][2], float)"],
    "T7-058": ["x[[2, 3]] == x[2, 3] == 7"],
    "T7-059": ["x[longs(2, 3)] == 7", ("x[longs(2)]", "(invalid size)")],
    "T7-060": ["x[t7.le(x, 3)].totable() == [1, 2, 3]"],
    "T7-061": ["t7.le(x, 3).type() == 'torch.ByteTensor' and t7.le(x, 3).sum() == 3"],
    # References
    "T7-062": ["t7.Tensor().set(s, 1, 10).isSetTo(t7.Tensor(s, 1, 10))"],
    "T7-063": [
        "into(t7.Tensor(), lambda y: y.set(x)) is y and y.storage() == x.storage()",
        ("t7.IntTensor().set(x)", "expecting number or"),
    ],
    "T7-064": ["t7.Tensor().set(x).isSetTo(x) and not x.clone().isSetTo(x)"],
    "T7-065": ["t7.Tensor().set(s, 3, longs(2, 2), longs(4, 1)).totable() == [[3, 4], [7, 8]]"],
    "T7-066": ["t7.Tensor().set(s).totable() == s.totable()"],
    "T7-067": ["t7.Tensor().set(s, 1, 3, 2, 2, 1).totable() == [[1, 2], [3, 4], [5, 6]]"],
    # Copying and initialising
    "T7-068": [
        "t7.Tensor(4, 3).copy(x).totable()[0] == [1, 2, 3]",
        ("t7.Tensor(3, 3).copy(x)", "same number of elements"),
    ],
    "T7-069": ["t7.CharTensor(3).copy(t7.IntTensor([65537, -1, 128])).totable() == [1, -1, -128]"],
    "T7-070": ["x.fill(3.5) is x and x.totable() == [[3.5] * 4] * 3"],
    "T7-071": ["x.zero() is x and x.sum() == 0"],
    # Resizing
    "T7-072": ["x.resize(20).storage().size() == 20"],
    "T7-073": ["x.resize(2, 2).storage().size() == 12"],
    "T7-074": ["x.t().resize(12).isContiguous() and x.t().resize(4, 3).stride().totable() == [1, 4]"],
    "T7-075": [
        "t7.Tensor().resizeAs(x).size().totable() == [3, 4]",
        ("x.resizeAs(t7.IntTensor(2))", "torch.DoubleTensor expected"),
    ],
    "T7-076": ["x.resize(longs(2, 6)) is x and x.totable()[1][0] == 7"],
    "T7-077": ["x.resize(2, 6).size().totable() == [2, 6]"],
    # Sub-tensors
    "T7-080": [
        "x.narrow(1, 2, 2).totable() == x.totable()[1:]",
        ("x.narrow(1, 1, 0)", "bad argument #3 to 'narrow' (out of range)"),
    ],
    "T7-081": ["x.sub(2, 3, 3, 4).totable() == [[7, 8], [11, 12]]"],
    "T7-082": ["x.sub(-1, -1, 3, 4).totable() == [[11, 12]]", ("x.sub(3, 2)", "end smaller than beginning")],
    "T7-083": ["x.select(1, 2).totable() == [5, 6, 7, 8]"],
    "T7-084": ["t7.range(1, 5).select(1, 3) == 3"],
    "T7-085": ["x.select(1, 2).isSetTo(x[2])"],
    "T7-086": ["x[2, [2, 4]].totable() == [6, 7, 8] and x[2, [2, 4]].storage() == x.storage()"],
    "T7-087": ["x[[], 4].totable() == [4, 8, 12]"],
    "T7-088": ["put(x, (1, 3), 100)[1, 3] == 100"],
    "T7-089": [
        "put(x, ([], 4), -1)[[], 4].totable() == [-1] * 3 and put(x, (2, [2, 4]), 2)[2].totable() == [5, 2, 2, 2]"
    ],
    "T7-090": [
        "put(x, ([], 2), t7.range(1, 3))[[], 2].totable() == [1, 2, 3]",
        ("put(x, 1, t7.range(1, 3))", "same number of elements"),
    ],
    "T7-091": ["put(x, t7.lt(x, 3), -2)[1].totable() == [-2, -2, 3, 4]"],
    "T7-092": [
        "x.index(1, t7.LongTensor([3, 1])).totable() == [x[3].totable(), x[1].totable()]",
        ("x.index(1, t7.IntTensor([1]))", "torch.LongTensor expected, got torch.IntTensor"),
    ],
    "T7-093": [
        "x.index(1, t7.LongTensor([1])).storage() != x.storage()",
        ("x[t7.LongTensor([1])]", "x.index(dim, indices)"),
    ],
    "T7-094": ["is_index(t7.Tensor(), x)"],
    "T7-095": ["x.indexCopy(2, t7.LongTensor([4, 1]), z) is z and x[1].totable() == [-2, 2, 3, -1]"],
    "T7-096": [("x.indexCopy(2, t7.LongTensor([1]), z)", "Number of indices should be equal to source:size(dim)")],
    "T7-097": ["x.indexAdd(2, t7.LongTensor([1, 1]), z) is z and x[1].totable() == [-2, 2, 3, 4]"],
    "T7-098": [("x.indexAdd(2, t7.LongTensor([1]), z)", "Number of indices should be equal to source:size(dim)")],
    "T7-099": ["x.indexFill(2, t7.LongTensor([4, 2]), -10) == -10 and x[3].totable() == [9, -10, 11, -10]"],
    "T7-100": ["x.gather(2, t7.LongTensor([[1], [2], [4]])).totable() == [[1], [6], [12]]"],
    "T7-101": [
        ("x.gather(1, t7.LongTensor([1, 2]))", "must have same dimensions"),
        ("x.gather(1, t7.LongTensor([[1, 2]]))", "to have the same size in dimension 0"),
    ],
    "T7-102": [("x.gather(2, t7.LongTensor([[5], [2], [4]]))", "Invalid index in gather")],
    "T7-103": ["x.gather(2, t7.LongTensor([[1, 1], [2, 2], [4, 4]])).totable() == [[1, 1], [6, 6], [12, 12]]"],
    "T7-104": [
        "into(t7.Tensor(3, 1), lambda y: y.gather(x, 2, t7.LongTensor([[1], [2], [4]]))) is y and y[3, 1] == 12"
    ],
    "T7-105": [
        "x.scatter(2, t7.LongTensor([[4], [3], [2]]), z.narrow(2, 1, 1)) is x and x[1].totable() == [1, 2, 3, -1]"
    ],
    "T7-106": ["x.scatter(2, t7.LongTensor([[1], [1], [1]]), 1.25)[2, 1] == 1.25"],
    "T7-107": [("x.scatter(2, t7.LongTensor([[5], [1], [1]]), 1)", "Invalid index in scatter")],
    "T7-108": ["x.maskedSelect(x.gt(10)).totable() == [11, 12]"],
    "T7-109": [
        "x.maskedSelect(t7.ByteTensor(12).fill(1)).nElement() == 12",
        ("x.maskedSelect(t7.IntTensor(3, 4))", "torch.ByteTensor expected"),
    ],
    "T7-110": [
        "into(t7.Tensor(), lambda y: y.maskedSelect(x, x.gt(10))).type() == 'torch.ByteTensor' and y.totable() == [11, 12]"
    ],
    "T7-111": ["x.maskedCopy(x.gt(10), t7.Tensor([-1, -2])) is x and x[3].totable() == [9, 10, -1, -2]"],
    "T7-112": [
        "x.maskedCopy(x.gt(10), t7.Tensor([-1, -2, -3])) is x",
        ("x.maskedCopy(x.gt(8), t7.Tensor([-1]))", "Number of elements of src < number of ones in mask"),
    ],
    "T7-113": ["x.maskedCopy(t7.ByteTensor(12).fill(1), t7.range(12, 1, -1)) is x and x[1, 1] == 12"],
    "T7-114": [
        "x.maskedFill(x.gt(10), -1) == -1 and x[3, 4] == -1",
        ("x.maskedFill(t7.ByteTensor([1, 0]), 1)", "same number of elements"),
    ],
    "T7-115": ["t7.nonzero(t7.IntTensor([1, 0, 1])).totable() == [[1], [3]]"],
    "T7-116": ["x.gt(11).nonzero().totable() == [[3, 4]]"],
    "T7-117": [("t7.nonzero(t7.LongTensor(), x)", "nonzero(result, x)")],
    "T7-118": [
        "into(t7.LongTensor(), lambda y: type(x).nonzero(y, x.gt(11).double())) is y and y.totable() == [[3, 4]]"
    ],
    # Expanding, replicating, squeezing
    "T7-119": ["t7.range(1, 3).view(3, 1).expand(3, 2).stride().totable() == [1, 0]"],
    "T7-120": [("x.expand(4, 4)", "only supporting singleton expansion")],
    "T7-121": ["into(t7.Tensor(), lambda y: y.expand(t7.Tensor([[1]]), 1, 3)) is y and y.totable() == [[1, 1, 1]]"],
    "T7-122": ["into(t7.Tensor([[1]]), lambda y: y.expand(1, 3).fill(9)).sum() == 27 and y.totable() == [[9]]"],
    "T7-123": ["t7.Tensor([[1], [2]]).expandAs(t7.Tensor(2, 3)).size().totable() == [2, 3]"],
    "T7-124": [
        "t7.range(1, 2).repeatTensor(2, 2).totable() == [[1, 2, 1, 2]] * 2",
        ("x.repeatTensor(2)", "can not be smaller"),
    ],
    "T7-125": [
        "into(t7.Tensor(), lambda y: y.repeatTensor(t7.range(1, 2), 2, 2)) is y and y.size().totable() == [2, 4]"
    ],
    "T7-126": ["t7.Tensor(2, 1, 3, 1).squeeze().size().totable() == [2, 3]"],
    "T7-127": ["t7.Tensor(2, 1, 3).squeeze(2).size().totable() == [2, 3] and t7.Tensor(2, 1).squeeze(1).dim() == 2"],
    # Views
    "T7-128": [
        "all(v.storage() == x.storage() for v in (x.view(12), x.t(), x.permute(2, 1), x.unfold(1, 2, 1), x.transpose(1, 2)))"
    ],
    "T7-129": [
        "x.view(longs(2, 6)).totable() == x.view(2, 6).totable()",
        ("x.t().view(12)", "expecting a contiguous tensor"),
    ],
    "T7-130": [
        "x.view(2, -1).size().totable() == [2, 6]",
        ("x.view(-1, -1)", "Only one of torch.view dimensions can be -1."),
    ],
    "T7-131": [
        "into(t7.Tensor(), lambda y: y.view(x, 2, 6)) is y and y.storage() == x.storage() and t7.view(y, x, 12) is y"
    ],
    "T7-132": ["x.viewAs(t7.Tensor(2, 6)).size().totable() == [2, 6]"],
    "T7-133": ["t.transpose(1, 3).size().totable() == [4, 3, 2]"],
    "T7-134": ["x.t().size().totable() == [4, 3]", ("t.t()", "Tensor must have 2 dimensions")],
    "T7-135": ["t.permute(2, 3, 1).size().totable() == [3, 4, 2]", ("t.permute(1, 2)", "Invalid permutation")],
    "T7-136": ["t7.range(1, 7).unfold(1, 2, 1).totable()[:2] == [[1, 2], [2, 3]]"],
    "T7-137": ["t7.range(1, 7).unfold(1, 2, 2).size(1) == 3"],
    "T7-138": ["x.unfold(2, 2, 2).size().totable() == [3, 2, 2]"],
    # Functions of elements
    "T7-139": ["x.apply(lambda v: v * 2) is x and x[1, 2] == 4"],
    "T7-140": ["x.apply(lambda v: None)[1, 2] == 2"],
    "T7-141": ["x.apply(math.sin)[1, 1] == math.sin(1)"],
    "T7-142": [
        "x.map(t7.range(1, 12), lambda a, b: a - b).abs().sum() == 0",
        ("x.map(t7.IntTensor(12), max)", "expected, got"),
    ],
    "T7-143": ["x.map2(x, t7.range(1, 12), lambda a, b, c: a + b + c)[1].totable() == [3, 6, 9, 12]"],
    # Tables of tensors
    "T7-144": ["[v.size(1) for v in x.split(2)] == [2, 1] and [v.size(2) for v in t7.split(x, 3, 2)] == [3, 1]"],
    "T7-145": ["into([1, 2, 3], lambda y: t7.split(y, x, 2, 1)) is y and len(y) == 2"],
    "T7-146": ["[v.size(2) for v in x.chunk(3, 2)] == [2, 2] and [v.size(1) for v in t7.chunk(x, 2)] == [2, 1]"],
    # Pointers and references
    "T7-147": ["t7.data(x)[4] == 5 and x.data()[11] == 12"],
    "T7-148": ["t7.data(x, True) == x.strided().data_ptr()"],
    "T7-150": [
        "t7.DoubleStorage(3, x.data()).totable() == [1, 2, 3] and t7.DoubleStorage(3, x.data(True)).size() == 3"
    ],
    "T7-151": ["t7.cdata(x).contents.nDimension == 2 and t7.cdata(x, True) > 0"],
    "T7-153": ["x.retain() is None and x.free() is None"],
    "T7-154": [("x.free()", "there was no retain()")],
    # Names that the pages use without describing them
    "X-001": [
        "t7.rand(3).nElement() == t7.randn(3).nElement() == t7.zeros(3).nElement() == x.clone().bernoulli(0.5).nElement() / 4"
    ],
    "X-002": ["x.add(1).mul(3)[1, 1] == 6 and t7.ones(2).sum() == 2 and sorted(t7.randperm(5)) == [1, 2, 3, 4, 5]"],
    "X-003": [
        "t7.IntStorage(t7.IntStorage([1, 2, 3]), 2, 2).totable() == [2, 3]",
        "t7.CharStorage().string('ab').string() == 'ab'",
    ],
    "X-004": ["t7.type(x) == t7.typename(x) == 'torch.DoubleTensor' and t7.isStorage(s) and not t7.isStorage(x)"],
    "X-006": [
        "(x + x - x)[1, 2] == 2 and (-x)[1, 1] == -1 and (x / 2)[1, 1] == 0.5",
        ("x + t7.range(1, 4)", "same number of elements"),
    ],
    "X-007": [
        "t7.cat(x, x, 1).size(1) == 6 and t7.reshape(x, 12).nElement() == t7.numel(x) and x.new([1]).type() == x.type()"
    ],
    "X-010": ["t7.from_strided(x.strided()).isSetTo(x)"],
}
#: Rows that say the same as others, that say something about the whole page, or that belong to the files.
ELSEWHERE = {
    "T0-001": "files",
    "T0-039": "a heading without text",
    "T0-040": "a heading without text",
    **{f"T7-{n:03d}": "the rows of T0" for n in range(1, 12)},
    "T7-012": "new memory may hold anything",
    **{f"T7-{n:03d}": "T0-007, T0-008, T0-010, T0-012, T0-015, T0-023" for n in (43, 44, 46, 48, 49)},
    "T7-078": "T7-080, T7-081, T7-083",
    "T7-079": "T7-092",
    "T7-149": "a warning",
    "T7-152": "T7-153, T7-154",
    "X-005": "files",
    **{f"X-{n:03d}": "of the Lab front end" for n in (8, 9, 11)},
}
KINDS = ("byte", "char", "short", "int", "long", "float", "double")


def put(owner, key, value):
    owner[key] = value
    return owner


def counter():
    numbers = iter(range(1, 100))
    return lambda _: next(numbers)


def same_but_apart(x, y):
    return x.totable() == y.totable() and x.storage() != y.storage()


def is_index(y, x):
    chosen = t7.LongTensor([2])
    return y.index(x, 1, chosen) is chosen and y.totable() == [x[2].totable()]


def names():
    """The names of the expressions. `into` keeps what it changes under the name `y`."""
    found = {"t7": t7, "st": st, "np": np, "math": math, "re": re, "KINDS": KINDS, "counter": counter, "put": put}
    found |= {"same_but_apart": same_but_apart, "is_index": is_index}
    found["x"] = t7.range(1, 12).resize(3, 4)
    found["t"] = t7.range(1, 24).resize(2, 3, 4)
    found["s"] = t7.DoubleStorage(list(range(1, 11)))
    found["z"] = t7.Tensor([[-1, -2], [-3, -4], [-5, -6]])
    found["longs"] = lambda *values: t7.LongStorage(list(values))

    def into(y, act):
        found["y"] = y
        return act(y)

    found["into"] = into
    return found


@pytest.mark.parametrize("row", ROWS)
def test_a_row_of_the_feature_list_holds(row):
    for statement in ROWS[row]:
        with t7.Session().activate():
            if isinstance(statement, str):
                assert eval(statement, names()), statement
            else:
                expression, text = statement
                with pytest.raises(t7.TorchError, match=re.escape(text)):
                    eval(expression, names())


def test_every_row_is_here_or_named():
    rows = {f"T0-{n:03d}" for n in range(1, 42)} | {f"T7-{n:03d}" for n in range(1, 155)}
    rows |= {f"X-{n:03d}" for n in range(1, 12)}
    assert set(ROWS) | set(ELSEWHERE) == rows and not set(ROWS) & set(ELSEWHERE)
