"""Wrong arguments: the message names the operation, what it got and what it wanted, and no tensor is changed."""

import contextlib
import subprocess
import sys

import numpy as np
import pytest

import strided as st


def matrix():
    return st.arange(12, dtype=st.int64).view(3, 4)


def state(x):
    return (x.tolist(), tuple(x.shape), x.stride(), x.storage_offset(), x.dtype, x.data_ptr())


ArgumentError, ShapeError, DTypeError, StorageError = st.ArgumentError, st.ShapeError, st.DTypeError, st.StorageError

# call, exception, what the message says (a regular expression, anchored at its start)
CASES = [
    # dims
    (lambda x: x.transpose(0, 2), IndexError, r"transpose: dim 2 is outside -2 to 1 \(rank 2\)"),
    (lambda x: x.transpose(-3, 0), IndexError, r"transpose: dim -3 is outside -2 to 1"),
    (lambda x: x.size(2), IndexError, r"size: dim 2 is outside -2 to 1"),
    (lambda x: x.stride(-3), IndexError, r"stride: dim -3 is outside -2 to 1"),
    (lambda x: x.unsqueeze(4), IndexError, r"unsqueeze: dim 4 is outside -3 to 2 \(rank 2\)"),
    (lambda x: x[0, 0].unsqueeze(-2), IndexError, r"unsqueeze: dim -2 is outside -1 to 0 \(rank 0\)"),
    (lambda x: x[0, 0].select(0, 0), IndexError, r"select: dim 0 of a tensor of rank 0"),
    (lambda x: x.squeeze(2), IndexError, r"squeeze: dim 2"),
    (lambda x: x.unbind(2), IndexError, r"unbind: dim 2"),
    (lambda x: x.flip(2), IndexError, r"flip: dim 2"),
    (lambda x: x.flip(0, 0), ShapeError, r"flip: dim 0 is named more than once"),
    (lambda x: x.permute(0, 0), ShapeError, r"permute: dim 0 is named more than once"),
    (lambda x: x.permute(0), ShapeError, r"permute: got 1 dims, wanted 2"),
    (lambda x: x.movedim((0, 1), (0,)), ValueError, r"movedim: "),
    (lambda x: x.diagonal(0, 1, 1), ValueError, r"diagonal: "),
    (lambda x: x.view(3, 2, 2).t(), ShapeError, r"t: got a tensor of rank 3, wanted at most 2"),
    # indices
    (lambda x: x[3], IndexError, r"index: index 3 is outside dim 0 with extent 3 \(shape 3x4\)"),
    (lambda x: x[0, -5], IndexError, r"index: index -5 is outside dim 1 with extent 4"),
    (lambda x: x[0, 0, 0], IndexError, r"index: 3 indices for 2 dims \(shape 3x4\)"),
    (lambda x: x["a"], TypeError, r"index: an index must be .* got str"),
    (lambda x: x[1.5], TypeError, r"index: an index must be .* got float"),
    (lambda x: x.select(0, 3), IndexError, r"select: index 3 is outside dim 0 with extent 3"),
    (lambda x: x.item(), ValueError, r"item: input is a tensor of shape 3x4, wanted one element"),
    (lambda x: x.item(0, 4), IndexError, r"item: index 4 is outside dim 1 with extent 4"),
    (lambda x: x.item(0), (IndexError, ValueError), r"item: .*1.*2"),
    (lambda x: x.narrow(1, 3, 4), ShapeError, r"narrow: start 3 \+ length 4 exceeds extent 4 of dim 1 \(shape 3x4\)"),
    (lambda x: x.narrow(0, 0, -1), ValueError, r"narrow: length is -1"),
    (lambda x: x.narrow(0, 5, 0), ValueError, r"narrow: start 5"),
    # shapes
    (lambda x: x.view(5), ShapeError, r"view: shape 5 has another number of elements than 3x4"),
    (lambda x: x.view(5, -1), ShapeError, r"view: "),
    (lambda x: x.view(-1, -1), ValueError, r"view: "),
    (lambda x: x.view(-2, 6), ValueError, r"view: "),
    (
        lambda x: x.t().view(12),
        ShapeError,
        r"view: shape 4x3 with strides \[1, 4\] cannot be viewed as 12 without a copy",
    ),
    (lambda x: x.reshape(5), ShapeError, r"reshape: shape 5 has another number of elements than 3x4"),
    (lambda x: x.expand(3, 5), ShapeError, r"expand: shape 3x4 does not expand to 3x5: extent 4 cannot become 5"),
    (lambda x: x.expand(4), ShapeError, r"expand: "),
    (lambda x: x.expand(-1, 3, 4), ShapeError, r"expand: "),
    (lambda x: x.unflatten(1, (3, 2)), ShapeError, r"unflatten: "),
    (lambda x: x.flatten(1, 0), ValueError, r"flatten: "),
    (lambda x: x.unfold(0, 4, 1), ValueError, r"unfold: size is 4"),
    (lambda x: x.unfold(0, 2, 0), ValueError, r"unfold: step is 0"),
    (lambda x: x.unfold(0, -1, 1), ValueError, r"unfold: size is -1"),
    (lambda x: x.t().fold((1, 0)), ShapeError, r"fold: modes .*1.*0.* are not sequentially contiguous"),
    (lambda x: x.split(0), ValueError, r"split: "),
    (lambda x: x.split([1, 1]), ValueError, r"split: "),
    (lambda x: x.chunk(0), ValueError, r"chunk: "),
    (lambda x: x + st.zeros(5), ShapeError, r"add: shapes 3x4 and 5 do not broadcast: extents 4 and 5 in dim 1"),
    (
        lambda x: x.add_(st.zeros(2, 3, 4, dtype=st.int64)),
        ShapeError,
        r"add_: shapes 3x4 and 2x3x4 broadcast to 2x3x4, but the output has rank 2",
    ),
    (
        lambda x: x[:, :1].__imul__(x[0]),
        ShapeError,
        r"mul_: shapes 3x1 and 4 broadcast to 3x4, but the output has extent 1 in dim 1",
    ),
    (
        lambda x: st.lerp(x[0, :1], x[0], st.zeros(5)),
        ShapeError,
        r"lerp: shapes 4 and 5 do not broadcast: extents 4 and 5 in dim 0",
    ),
    (lambda x: x.copy_(st.zeros(5)), ShapeError, r"copy_: shape 5 does not expand to 3x4"),
    # memory
    (lambda x: x.as_strided((100,), (1,)), ShapeError, r"as_strided: locations 0 to 99 leave a storage of 12 elements"),
    (lambda x: x.as_strided((2,), (-1,)), ShapeError, r"as_strided: locations -1 to 0 leave a storage of 12"),
    (lambda x: x.as_strided((2,), (1,), 11), ShapeError, r"as_strided: locations 11 to 12 leave"),
    (lambda x: x.as_strided((2,), (1,), -1), ValueError, r"as_strided: (offset is -1|locations -1 to 0)"),
    (lambda x: x.as_strided((2, 2), (1,)), ValueError, r"as_strided: got 1 strides, wanted 2"),
    (lambda x: x.as_strided((-2,), (1,)), ShapeError, r"as_strided: size -2 of dim 0 is negative"),
    (lambda x: x.as_strided((2**62, 2**62), (2**62, 1)), ShapeError, r"as_strided: "),
    (lambda x: x.as_strided((2,), (2**63 - 1,)), ShapeError, r"as_strided: "),
    (lambda x: x.as_strided((2,), (-(2**63),)), ShapeError, r"as_strided: "),
    (lambda x: x.as_strided_((100,), (1,)), ShapeError, r"as_strided_: locations 0 to 99 leave"),
    (lambda x: x.set_(x, 100, (3,)), ShapeError, r"set_: locations 100 to 102 leave a storage of 12 elements"),
    (lambda x: x.set_(x, 0, (3,), (-1,)), ShapeError, r"set_: locations -2 to 0 leave"),
    (lambda x: x.set_(x, -1, (1,)), ValueError, r"set_: (offset is -1|locations -1 to -1)"),
    (lambda x: x.set_(st.zeros(3)), TypeError, r"set_: source is float32, the tensor is int64"),
    (lambda x: x.set_(3), TypeError, r"set_: source must be a Tensor or a Storage, got int"),
    (
        lambda x: x.resize_(2**40, 2**40),
        ShapeError,
        r"resize_: shape 1099511627776x1099511627776 exceeds the address space",
    ),
    (lambda x: x.resize_(-1), ShapeError, r"resize_: size -1 of dim 0 is negative"),
    (lambda x: x.resize_("a"), TypeError, r"resize_: size must be .* got str"),
    (lambda x: x.resize_(2**45), MemoryError, r"resize_: cannot allocate \d+ bytes"),
    (lambda x: st.zeros(2**45), MemoryError, r"zeros: cannot allocate \d+ bytes"),
    (
        lambda x: x.expand(2, 3, 4).fill_(0),
        ShapeError,
        r"fill_: elements of the output share memory \(shape 2x3x4, strides \[0, 4, 1\]\)",
    ),
    (lambda x: x.unfold(0, 2, 1).zero_(), ShapeError, r"zero_: elements of the output share memory"),
    (lambda x: x.as_strided((3, 3), (1, 1)).add_(1), ShapeError, r"add_?: elements of the output share memory"),
    (lambda x: st.add(x, x, out=x[0].expand(3, 4)), ShapeError, r"add: elements of the output share memory"),
    # out
    (lambda x: st.add(x, x, out=x[0]), ShapeError, r"add: out has shape 4, wanted 3x4"),
    (lambda x: st.add(x, 1.5, out=x), DTypeError, r"add: a float32 result cannot be stored into int64"),
    (lambda x: st.add(x, x, out=3), TypeError, r"add: out must be a Tensor, got int"),
    (lambda x: st.div(x, x, out=x), DTypeError, r"div: a float32 result cannot be stored into int64"),
    # dtypes and numbers
    (lambda x: x.__iadd__(1.5), DTypeError, r"add_?: a float32 result cannot be stored into int64"),
    (lambda x: x.__imul__(1j), DTypeError, r"mul_?: a complex64 result cannot be stored into int64"),
    (lambda x: x.__itruediv__(2), DTypeError, r"div_?: a float32 result cannot be stored into int64"),
    (lambda x: x.fill_(2**63), OverflowError, r"fill_: 9223372036854775808 does not fit int64"),
    (lambda x: x.fill_(1j), OverflowError, r"fill_: 1j does not fit int64"),
    (lambda x: x.fill_(1 - 2.5j), OverflowError, r"fill_: \(1-2\.5j\) does not fit int64"),
    (lambda x: x.fill_(10**30), OverflowError, r"fill_: .*does not fit int64"),
    (lambda x: x + 2**63, OverflowError, r"add: 9223372036854775808 does not fit int64"),
    (lambda x: x.byte() + 300, OverflowError, r"add: 300 does not fit uint8"),
    (lambda x: 300 - x.byte(), OverflowError, r"sub: 300 does not fit uint8"),
    (lambda x: x.byte() * -1, OverflowError, r"mul: -1 does not fit uint8"),
    (lambda x: x.byte().fill_(300), OverflowError, r"fill_: 300 does not fit uint8"),
    (lambda x: x.byte().__setitem__((0, 0), 256), OverflowError, r"index: 256 does not fit uint8"),
    (lambda x: x.byte().__setitem__(0, -1), OverflowError, r"index: -1 does not fit uint8"),
    (lambda x: x.char().add_(128), OverflowError, r"add_?: 128 does not fit int8"),
    (lambda x: x.cfloat() < 1, DTypeError, r"lt: input is complex64, wanted a real dtype"),
    (lambda x: -x.bool(), DTypeError, r"neg: input is bool"),
    (lambda x: x.bitwise_and(x.float()), DTypeError, r"bitwise_and: other is float32, wanted bool or an integer dtype"),
    (lambda x: x & 1.5, DTypeError, r"bitwise_and: other is a float, wanted bool or an integer dtype"),
    (lambda x: x.bool() % x.cfloat(), DTypeError, r"remainder: other is complex64, wanted a real number"),
    (lambda x: x.float().clamp(min=1j), DTypeError, r"clamp: min is a complex number, wanted a real number"),
    (lambda x: x.__iadd__(1.5), DTypeError, r"add_: a float32 result cannot be stored into int64"),
    (lambda x: st.add(x, "a"), TypeError, r"add: other must be a Tensor, an array or a number, got str"),
    (lambda x: x.addcmul(x, None), TypeError, r"addcmul: tensor2 must be a Tensor, an array or a number, got NoneType"),
    (lambda x: x.clip_("a"), TypeError, r"clip_: min must be a Tensor"),
    (lambda x: st.subtract(x, x, 1), TypeError, r"subtract: takes at most 2 positional arguments, got 3"),
    (lambda x: x.clip(), ArgumentError, r"clip: min and max must not both be None"),
    (lambda x: x**-1, ArgumentError, r"pow: exponent is a negative integer, wanted 0 or more"),
    (lambda x: x.pow_(st.tensor([1, -1, 1, 1])), ArgumentError, r"pow_: exponent is a negative integer"),
    (
        lambda x: x.div(2, rounding_mode="up"),
        ArgumentError,
        r"div: rounding_mode is 'up', wanted None, 'floor' or 'trunc'",
    ),
    (lambda x: x.isclose(x, atol=-1), ArgumentError, r"isclose: atol is a negative number, wanted 0 or more"),
    (lambda x: x.norm("nuc"), ArgumentError, r"norm: p is 'nuc', wanted a number or 'fro'"),
    (lambda x: x.diff(-1), ArgumentError, r"diff: n is -1, wanted 0 or more"),
    (lambda x: st.set_num_threads(-1), ArgumentError, r"set_num_threads: num_threads is -1, wanted 1 to "),
    (lambda x: x.view(4, 3).view(st.complex128), ShapeError, r"view: "),  # 3 x 8 bytes are not a multiple of 16
    (lambda x: x[:, 1:].view(st.complex128), ShapeError, r"view: "),
    (lambda x: x.t().view(st.int32), ShapeError, r"view: "),
    (lambda x: x.imag, DTypeError, r"imag: "),
    (lambda x: float(x), ValueError, r"float: .*shape 3x4"),
    (lambda x: int(x), ValueError, r"int: .*shape 3x4"),
    (lambda x: bool(x), ValueError, r"bool: .*shape 3x4"),
    (lambda x: [0][x], TypeError, r"index: only a tensor of one integer is an index, got int64 of shape 3x4"),
    (lambda x: [0][st.tensor(0.0)], TypeError, r"index: only a tensor of one integer is an index, got float32"),
    # kinds of arguments
    (lambda x: x.narrow("a", 0, 1), TypeError, r"narrow: dim must be an int, got str"),
    (lambda x: x.narrow(0, 0, 1.0), TypeError, r"narrow: length must be an int, got float"),
    (lambda x: x.narrow(0, None, 1), TypeError, r"narrow: start must be an int, got NoneType"),
    (lambda x: x.narrow(0), TypeError, r"narrow: argument 'start' is missing"),
    (lambda x: x.narrow(0, 1, 2, 3), TypeError, r"narrow: takes at most 3 arguments, got 4"),
    (lambda x: x.narrow(0, 1, width=2), TypeError, r"narrow: unknown argument 'width'"),
    (lambda x: x.narrow(0, 1, 2, dim=0), TypeError, r"narrow: argument 'dim' is given twice"),
    (lambda x: x.narrow(0, 2**63, 1), OverflowError, r"narrow: "),
    (lambda x: x.view(2**64), OverflowError, r"view: "),
    (lambda x: x.view(), TypeError, r"view: argument .* is missing"),
    (lambda x: x.view("a"), TypeError, r"view: "),
    (lambda x: x.view(3.0, 4), TypeError, r"view: .* must be .* got float"),
    (lambda x: x.expand_as([1]), TypeError, r"expand_as: other must be a Tensor.*, got list"),
    (lambda x: x.add(), TypeError, r"add: argument 'other' is missing"),
    (lambda x: x.add("a"), TypeError, r"add: (other|operand) must be a Tensor, an array or a number, got str"),
    (lambda x: x.add(x, x), (TypeError, DTypeError), r"add: takes at most 1 (positional )?argument"),
    (lambda x: x.add(1, color=2), TypeError, r"add: unknown argument 'color'"),
    (lambda x: st.add(1, 2), TypeError, r"add: none of the operands is a Tensor"),
    (lambda x: st.add(), TypeError, r"add: argument 'input' is missing"),
    (lambda x: x.add_(1, out=x), TypeError, r"add_: unknown argument 'out'"),
    (lambda x: x.fill_(), TypeError, r"fill_: argument 'value' is missing"),
    (lambda x: x.fill_("a"), TypeError, r"fill_: value must be a number, got str"),
    (lambda x: x.fill_(None), TypeError, r"fill_: value must be a number, got NoneType"),
    (lambda x: x.fill_(st.zeros(2)), ValueError, r"fill_: .*shape 2"),
    (lambda x: x.copy_("abc"), TypeError, r"copy_: .*str"),
    (lambda x: x.t(1), TypeError, r"t: takes at most 0 arguments, got 1"),
    (lambda x: x.dim(1), TypeError, r"dim: takes at most 0 arguments, got 1"),
    (lambda x: x.tolist(deep=True), TypeError, r"tolist: unknown argument 'deep'"),
    (lambda x: x.to("float33"), ValueError, r"to: target is 'float33', wanted a dtype or a device"),
    (lambda x: x.type("strided.NoTensor"), TypeError, r"type: .*NoTensor"),
    (lambda x: x.type_as(3), TypeError, r"type_as: other must be a Tensor, got int"),
    (lambda x: x.size(1.5), TypeError, r"size: dim must be an int, got float"),
    (lambda x: x.size(0, 1), TypeError, r"size: "),
    (lambda x: x.size(color=1), TypeError, r"size: .*'color'"),
    (lambda x: len(x[0, 0]), TypeError, r"len: a tensor without dimension"),
    (lambda x: iter(x[0, 0]), TypeError, r"iter: a tensor of rank 0 cannot be iterated"),
    (lambda x: x + "a", TypeError, r"unsupported operand"),
    (lambda x: x + None, TypeError, r"unsupported operand"),
    (lambda x: x < "a", TypeError, r"'<' not supported"),
    (lambda x: x.__delitem__(0), TypeError, r"index: elements of a tensor cannot be deleted"),
    (lambda x: setattr(x, "shape", (4, 3)), AttributeError, r""),
    (lambda x: setattr(x, "color", 1), AttributeError, r""),
    (lambda x: st.zeros_like([1]), TypeError, r"zeros_like: input must be a Tensor, got list"),
    (lambda x: st.Tensor.add(3, x), TypeError, r""),
    (lambda x: st.Tensor.narrow([1], 0, 0, 1), TypeError, r""),
]


@pytest.mark.parametrize(("call", "error", "text"), CASES, ids=[f"{i} {case[2]}" for i, case in enumerate(CASES)])
def test_a_wrong_argument_is_named_and_changes_nothing(call, error, text):
    x = matrix()
    before = state(x)
    with pytest.raises(error, match=r"^" + text):
        call(x)
    assert state(x) == before


def test_base_classes_of_errors():
    assert issubclass(st.ShapeError, ValueError) and issubclass(st.ShapeError, RuntimeError)
    assert issubclass(st.DTypeError, TypeError) and issubclass(st.DTypeError, RuntimeError)
    assert issubclass(st.ArgumentError, ValueError) and issubclass(st.ArgumentError, RuntimeError)
    assert not issubclass(st.ArgumentError, st.ShapeError) and not issubclass(st.ShapeError, st.ArgumentError)
    for error in (st.ArgumentError, st.ShapeError, st.DTypeError, st.StorageError):
        assert error.__module__ == "strided"
        assert repr(error("a")) == f"{error.__name__}('a')"


@pytest.mark.parametrize(
    "shape",
    [
        (2**40, 2**40),
        (2**62,),
        (2**63 - 1,),
        (2**31, 2**31, 2),
        (2**21,) * 4,
        (3, 2**62),
        (2**62, 0, 2**62),
        (0, 2**63 - 1, 3),
        [2**33] * 50,
    ],
)
def test_overflowing_shapes(shape):
    for make in (
        st.zeros,
        st.empty,
        st.ones,
        lambda s: st.full(s, 1),
        lambda s: st.Tensor(st.Size(s)),
        lambda s: st.Tensor().resize_(s),
    ):
        if 0 in shape:
            # An extent beyond the address space may be refused, even if another extent is 0.
            with contextlib.suppress(st.ShapeError):
                assert make(shape).numel() == 0
            continue
        with pytest.raises((st.ShapeError, MemoryError), match=r"^\w+: (shape|cannot allocate)"):
            make(shape)
    if 0 not in shape:
        with pytest.raises(st.ShapeError, match=r"^expand: "):
            st.zeros(1).expand(2**10, *shape, 2**40)


def test_a_huge_expanded_view_can_be_made_but_not_copied():
    x = st.ones(1).expand(2**20, 2**20)
    assert x.shape == (2**20, 2**20) and x[5, 7].item() == 1 and x.numel() == 2**40
    with pytest.raises(MemoryError, match=r"^clone: cannot allocate \d+ bytes"):
        x.clone()
    with pytest.raises(MemoryError, match=r"^add: cannot allocate \d+ bytes"):
        x + 1
    assert x[:3, :2].tolist() == [[1, 1]] * 3


def test_allocation_works_after_one_has_failed():
    for _ in range(100):
        with pytest.raises(MemoryError):
            st.zeros(2**44)
    assert st.ones(1000).sum().item() == 1000


# Arguments whose methods raise, lie, or change the tensor


class Hostile:
    """An object whose conversions call `act`, which may raise, and then return `value`."""

    def __init__(self, act, value=1):
        self.act, self.value = act, value

    def answer(self):
        self.act()
        return self.value

    def __index__(self):
        return self.answer()

    def __float__(self):
        return float(self.answer())

    def __len__(self):
        return self.answer()

    def __bool__(self):
        return bool(self.answer())


def fail():
    raise ZeroDivisionError("hostile")


@pytest.mark.parametrize(
    "call",
    [
        lambda x, e: x.narrow(0, e, 1),
        lambda x, e: x.narrow(e, 0, 1),
        lambda x, e: x[e],
        lambda x, e: x[e:],
        lambda x, e: x[::e],
        lambda x, e: x[0, e],
        lambda x, e: x.__setitem__(e, 0),
        lambda x, e: x.__setitem__((0, e), 0),
        lambda x, e: x.__setitem__((0, slice(e)), 0),
        lambda x, e: x.fill_(e),
        lambda x, e: x.__setitem__(0, [e] * 4),
        lambda x, e: x.__setitem__(0, [1, 2, e, 4]),
        lambda x, e: x.copy_([e] * 4),
        lambda x, e: x.view(e, 12),
        lambda x, e: x.view([e, 12]),
        lambda x, e: x.resize_(e, 12),
        lambda x, e: x.sum(e),
        lambda x, e: x.expand(e, 3, 4),
        lambda x, e: x.item(e, e),
        lambda x, e: x.size(e),
        lambda x, e: x.stride(e),
        lambda x, e: x.as_strided((e, 2), (1, 1)),
        lambda x, e: x.as_strided((2, 2), (e, 1), e),
        lambda x, e: x.unfold(0, e, 1),
        lambda x, e: x.split(e),
        lambda x, e: x.split([e, 2]),
        lambda x, e: st.zeros(e),
        lambda x, e: st.zeros(2, e),
        lambda x, e: st.full((2,), e),
        lambda x, e: st.tensor([e]),
        lambda x, e: st.tensor([[1, e], [2, 3]]),
        lambda x, e: st.arange(e),
        lambda x, e: st.Tensor(e, 2),
        lambda x, e: st.Tensor([e]),
        lambda x, e: x.set_(x, e, (2,)),
        lambda x, e: x.tensor_split(e),
        lambda x, e: x.permute(e, 0),
        lambda x, e: st.frombuffer(bytearray(8), count=e),
    ],
)
def test_hostile_objects_leave_tensors_valid(call):
    x = matrix()
    before = state(x)
    with pytest.raises(ZeroDivisionError, match="hostile"):
        call(x, Hostile(fail))
    assert state(x) == before
    # A result that is not an int, or out of range.
    for value in ("a", 2**80, -(2**80), 2**62):
        y = matrix()
        with contextlib.suppress(TypeError, ValueError, OverflowError, IndexError, RuntimeError, MemoryError):
            call(y, Hostile(lambda: None, value))
    # Changing the tensor while its arguments are read.
    for change in (
        lambda y: y.resize_(0),
        lambda y: y.resize_(100, 100),
        lambda y: y.t_(),
        lambda y: y.set_(st.zeros(1, dtype=st.int64)),
        lambda y: y.unsqueeze_(0),
    ):
        y = matrix()
        with contextlib.suppress(TypeError, ValueError, OverflowError, IndexError, RuntimeError):
            call(y, Hostile(lambda: change(y)))  # noqa: B023
        y.tolist()


class HostileSequence:
    def __init__(self, length, item):
        self.length, self.item = length, item

    def __len__(self):
        return self.length() if callable(self.length) else self.length

    def __getitem__(self, i):
        return self.item(i)


def test_hostile_sequences_are_refused():
    for make in (
        st.tensor,
        st.Tensor,
        st.zeros,
        lambda s: st.zeros(3).copy_(s),
        lambda s: matrix().view(s),
        lambda s: matrix().sum(s),
    ):
        with pytest.raises(ZeroDivisionError):
            make(HostileSequence(3, lambda i: fail()))
        with pytest.raises(ZeroDivisionError):
            make(HostileSequence(fail, lambda i: 1))
        with pytest.raises((IndexError, ValueError, TypeError)):
            make(HostileSequence(3, lambda i: [1, 2][i]))
        with pytest.raises((ValueError, TypeError)):
            make(HostileSequence(lambda: -1, lambda i: 1))


def test_sequences_that_change_while_they_are_read():
    class Growing(list):
        def __len__(self):
            self.append(1)
            return super().__len__()

    class Flip:
        """A number at first, a list later, with another length each time."""

        count = 0

        def __len__(self):
            Flip.count += 1
            return 2 + Flip.count % 2

        def __getitem__(self, i):
            return 1 if Flip.count % 3 else [1, 2]

    for source in (Growing([1, 2]), [Flip(), Flip()], Flip()):
        for _ in range(6):
            try:
                x = st.tensor(source)
            except (ValueError, TypeError, IndexError):
                continue
            assert x.numel() == len(np.ravel(x.tolist()))

    shrinking = [1.0] * 100

    class Shrink:
        def __float__(self):
            shrinking.clear()
            return 1.0

    shrinking[50] = Shrink()
    with pytest.raises((ValueError, IndexError)):
        st.tensor(shrinking)


@pytest.mark.parametrize("length", [2**20, 2**40, 2**60, 2**63 - 1])
@pytest.mark.parametrize(
    "call",
    [
        "st.zeros(s)",
        "st.zeros(2).view(s)",
        "st.zeros(2).sum(s)",
        "st.Tensor(s)",
        "st.tensor(s)",
        "st.zeros(2).split(s)",
        "st.zeros(2).copy_(s)",
    ],
)
def test_a_sequence_that_claims_to_be_huge(length, call):
    """Its length must not be trusted before its items are read: no abort, no allocation of gigabytes."""
    code = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
import strided as st
class S:
    def __len__(self): return {length}
    def __getitem__(self, i):
        if i > 10: raise IndexError(i)
        return 1
s = S()
try:
    {call}
except (IndexError, ValueError, TypeError, MemoryError, OverflowError) as e:
    print("refused")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr[-300:]


def test_huge_results_of_small_arguments_are_refused_without_an_abort():
    code = """
import strided as st
for call in (
    lambda: st.ones(1).expand(2**40).tolist(),
    lambda: st.ones(1).expand(2**40).clone(),
    lambda: st.ones(1).expand(2**40).unbind(),
    lambda: st.ones(1).expand(2**40).split(1),
    lambda: st.ones(1).expand(2**40).chunk(2**39),
    lambda: st.zeros(0, 3).expand(0, 3).as_strided((0, 2**40), (0, 0)).tolist(),
    lambda: st.ones(1).as_strided((2**40, 0), (0, 0)).tolist(),
    lambda: st.zeros(2**40, 0).tolist(),
    lambda: bytes(st.ones(1).expand(2**40)),
    lambda: st.zeros(3).tensor_split(2**40),
    lambda: st.ones(1).expand(2**45).double(),
):
    try:
        call()
    except (MemoryError, ValueError, OverflowError):
        pass
print("alive")
"""
    limited = "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))\n" + code
    done = subprocess.run([sys.executable, "-c", limited], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr[-300:]


def test_a_failed_write_writes_nothing():
    x = matrix()
    before = state(x)
    for write in (
        lambda: x.__setitem__(slice(None), [[1, 2, 3, 4], [1, 2, 3, "a"], [1, 2, 3, 4]]),
        lambda: x.__setitem__(slice(None), [[1, 2, 3, 4], [1, 2, 3, 2**70], [1, 2, 3, 4]]),
        lambda: x.copy_([[1, 2, 3, 4], [1, 2]]),
        lambda: x.copy_(st.zeros(5, 4)),
        lambda: x.add_(st.zeros(3, 4)),
        lambda: st.sub(x, 1.5, out=x),
    ):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            write()
    assert state(x) == before


def test_errors_are_not_swallowed_in_comparisons_and_contains():
    x = matrix()
    with pytest.raises(TypeError, match=r"^in: "):
        "a" in x
    with pytest.raises(ShapeError, match=r"^eq: "):
        x == st.zeros(7)
    assert (x == "a") is False and (x != None) is True  # noqa: E711


def test_no_keyword_is_accepted_and_ignored():
    x = st.zeros(2)
    for call in (
        lambda: x.size(dim=0, axis=1),
        lambda: st.zeros(2, dtyp="f"),
        lambda: x.to(dtypo=1),
        lambda: st.tensor([1], copy=True),
    ):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("huge", [2**63, 2**70, -(2**70)])
def test_an_index_beyond_64_bits_is_refused_and_changes_nothing(huge):
    x, y = st.arange(6), st.arange(6).view(2, 3)
    for read in (lambda: x[huge], lambda: y[1, huge]):
        with pytest.raises(IndexError, match=r"^index: "):
            read()
    for read in (lambda: x.item(huge), lambda: y.item(1, huge)):
        with pytest.raises(OverflowError, match=r"^item: "):
            read()
    with pytest.raises(IndexError, match=r"^index: "):
        x[huge] = 9
    with pytest.raises(IndexError, match=r"^index: "):
        y[0, huge] = 9
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    assert y.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_tensor_is_an_int_only_if_its_rank_is_0():
    x = st.arange(6).view(2, 3)
    assert x[st.tensor(1)].tolist() == [3, 4, 5]
    assert x[st.tensor([1])].tolist() == [[3, 4, 5]]
    with pytest.raises(TypeError, match=r"^narrow: start must be an int, got Tensor"):
        x.narrow(0, st.tensor([1, 0]), 1)


def test_endless_sequences_of_dims_are_refused():
    for dims in (range(10**12), st.zeros((), dtype=st.int64).expand(10**12)):
        with pytest.raises(ValueError, match="longer than any shape"):
            st.ones(2, 3).sum(dims)
