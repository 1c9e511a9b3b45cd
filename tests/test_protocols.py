"""Python's protocols: len, iter, in, bool, numbers, hash, copy, format, isinstance, and operands of NumPy."""

import copy
import gc
import math
import operator
import re
import subprocess
import sys
import weakref

import numpy as np
import pytest
from strategies import DTYPES, FLOATS, INTS

import strided as st


def test_len():
    assert len(st.zeros(3, 4)) == 3 and len(st.zeros(0)) == 0 and len(st.zeros(0, 5)) == 0
    with pytest.raises(TypeError):
        len(st.tensor(1))


def test_iter():
    x = st.arange(6).view(3, 2)
    rows = list(x)
    assert [row.tolist() for row in rows] == [[0, 1], [2, 3], [4, 5]]
    rows[1].zero_()
    assert x.tolist() == [[0, 1], [0, 0], [4, 5]], "rows are views"
    assert [e.item() for e in st.arange(3)] == [0, 1, 2]
    assert list(st.zeros(0)) == [] and len(list(st.zeros(2, 0))) == 2
    a, b, c = x
    assert c.tolist() == [4, 5] and isinstance(a, st.Tensor) and b.shape == (2,)
    with pytest.raises(TypeError):
        iter(st.tensor(1))
    assert [row.tolist() for row in reversed(x)] == [[4, 5], [0, 0], [0, 1]]


def test_an_iterator_outlives_a_resize():
    x = st.arange(10)
    it = iter(x)
    next(it)
    x.resize_(3)
    assert [e.item() for e in it] == [1, 2]


def test_in():
    x = st.tensor([[1.5, 2], [3, math.nan]])
    assert 1.5 in x and 2 in x and 4 not in x and math.nan not in x
    assert st.tensor(3) in x and np.float32(1.5) in x and True not in st.tensor([0, 2])
    assert 1 not in st.zeros(0)
    assert 300 not in st.zeros(3, dtype=st.uint8) and 10**30 not in st.arange(3)
    assert 1j not in st.arange(3) and 1j in st.tensor([1j])


@pytest.mark.parametrize("name", DTYPES)
def test_bool(name):
    assert bool(st.ones(1, dtype=name)) is True and bool(st.zeros(1, 1, dtype=name)) is False
    assert bool(st.tensor(1, dtype=name)) is True
    for shape in ((2,), (0,), (1, 2)):
        with pytest.raises(ValueError, match=r"^bool: .*shape"):
            bool(st.zeros(shape, dtype=name))


def test_bool_of_nan_and_negative_zero():
    assert bool(st.tensor(math.nan)) is True and bool(st.tensor(-0.0)) is False
    assert bool(st.tensor(1j)) is True and bool(st.tensor(0j)) is False


@pytest.mark.parametrize("name", DTYPES)
def test_numbers(name):
    x = st.ones(1, 1, dtype=name)
    item = x.item()
    kind = bool if name == "bool" else int if name in INTS else float if name in FLOATS else complex
    assert type(item) is kind and item == 1
    assert complex(x) == 1
    if kind is complex:
        for convert in (float, int):
            with pytest.raises(TypeError):
                convert(x)
    else:
        assert float(x) == 1.0 and type(float(x)) is float
        assert int(x) == 1 and type(int(x)) is int
    if name in INTS:
        assert operator.index(x) == 1 and [10, 11][x] == 11 and list(range(3))[: x[0, 0]] == [0]
        assert hex(st.tensor(255, dtype=name) if name in ("uint8", "int64") else x) in ("0xff", "0x1")
    else:
        with pytest.raises(TypeError):
            operator.index(x)
    for convert in (float, int, complex):
        with pytest.raises(ValueError):
            convert(st.zeros(2, dtype=name))


def test_numbers_at_the_edges():
    assert st.tensor(2**63, dtype=st.uint64).item() == 2**63
    assert int(st.tensor(-1.9)) == -1
    assert operator.index(st.tensor(-(2**63))) == -(2**63)
    with pytest.raises(OverflowError):
        int(st.tensor(math.inf))
    with pytest.raises(ValueError):
        int(st.tensor(math.nan))
    assert round(float(st.tensor(2.5))) == 2
    assert math.isclose(math.sqrt(st.tensor(2.0)), math.sqrt(2))


def test_hash_is_identity():
    x, y = st.zeros(2), st.zeros(2)
    assert hash(x) == hash(x) and {x: 1, y: 2}[x] == 1 and len({x, y, x}) == 2
    z = x.view(2)
    assert len({x, z}) == 2
    before = hash(x)
    x.fill_(5).resize_(100)
    assert hash(x) == before


def test_equality_is_by_element():
    x = st.tensor([1, 2, 3])
    assert (x == st.tensor([1, 0, 3])).tolist() == [True, False, True]
    assert (x != 2).tolist() == [True, False, True]
    assert (x == np.array([1, 2, 4])).tolist() == [True, True, False]
    assert (x == "abc") is False and (x != "abc") is True
    assert (x == None) is False and (x != None) is True  # noqa: E711
    assert (st.tensor([math.nan]) == st.tensor([math.nan])).tolist() == [False]


def test_copy():
    x = st.arange(6).view(2, 3)[:, 1:]
    y = copy.copy(x)
    assert y is not x and y.is_set_to(x)
    y.fill_(9)
    assert x.tolist() == [[9, 9], [9, 9]]
    y.t_()
    assert y.stride() != x.stride(), "only the memory is shared"


def test_clone_is_row_major_and_shares_no_memory():
    x = st.arange(6).view(2, 3).t()
    for y in (x.clone(), st.clone(x), x.copy()):
        assert y.is_contiguous() and y.tolist() == x.tolist() and y.data_ptr() != x.data_ptr()
    assert x.contiguous() is not x and x.t().contiguous().data_ptr() == x.data_ptr()
    row_major = st.zeros(2, 3)
    assert row_major.contiguous() is row_major


def test_format():
    assert f"{st.tensor(1.5):.3f}" == "1.500" and f"{st.tensor([7]):04d}" == "0007"
    x = st.arange(3)
    assert f"{x}" == str(x) == repr(x)
    with pytest.raises(ValueError):
        format(st.tensor(1.5), "d")


def test_size_is_an_int_and_a_call():
    x = st.zeros(3, 4)
    assert x.size == 12 and isinstance(x.size, int) and x.size + 1 == 13 and f"{x.size}" == "12"
    assert x.size() == (3, 4) and isinstance(x.size(), st.Size) and x.size(0) == 3 and x.size(-1) == 4
    assert x.size(dim=1) == 4 and x.size(None) == (3, 4)
    count = x.size
    x.resize_(2, 2)
    assert count == 12 and x.size == 4 and x.size() == (2, 2)
    assert st.Tensor.size(x) == (2, 2) and st.Tensor.size(x, 0) == 2
    assert st.tensor(1).size == 1 and st.tensor(1).size() == ()
    assert {12: "a"}[st.zeros(12).size] == "a" and list(range(20))[st.zeros(3).size] == 3
    with pytest.raises(IndexError):
        x.size(2)
    with pytest.raises(IndexError):
        st.zeros(3, 4).size(-3)


def test_size_as_a_method_of_others():
    sizes = [*map(st.Tensor.size, [st.zeros(1), st.zeros(2, 3)])]
    assert sizes == [(1,), (2, 3)]
    get = operator.methodcaller("size", 0)
    assert get(st.zeros(5, 2)) == 5
    assert operator.attrgetter("size")(st.zeros(5, 2)) == 10


def test_the_class_size():
    size = st.Size([4, 4, 3, 2])
    assert isinstance(size, tuple) and size == (4, 4, 3, 2) and size.numel() == 96
    assert repr(size) == "strided.Size([4, 4, 3, 2])" and st.Size([]).numel() == 1
    assert size[1:] == (4, 3, 2) and isinstance(size[1:], st.Size) and size[-1] == 2
    assert size + (1,) == (4, 4, 3, 2, 1) and isinstance(size + (1,), st.Size)
    assert hash(size) == hash((4, 4, 3, 2)) and {size: 1}[(4, 4, 3, 2)] == 1
    a, *rest = size
    assert a == 4 and rest == [4, 3, 2]
    for bad in (["a"], [1.5], [None]):
        with pytest.raises(TypeError):
            st.Tensor(st.Size(bad))


def test_a_size_is_indexed_as_a_tuple_is():
    for items in ((), (5,), (4, 7, 2**40, 0)):
        size = st.Size(items)
        keys = [*range(-5, 5), True, np.int8(-1), 10**30, -(2**63), "a", 1.0, None, (0,)]
        keys += [slice(a, b, step) for a in (None, -2, 1, 9) for b in (None, -1, 3) for step in (None, -1, 2)]
        for key in [*keys, slice("a"), slice(None, None, 0)]:
            try:
                wanted = items[key]
            except (IndexError, TypeError, ValueError) as error:
                with pytest.raises(type(error), match=re.escape(str(error))):
                    size[key]
            else:
                assert size[key] == wanted and type(size[key]) is (st.Size if isinstance(key, slice) else int)


def test_properties():
    x = st.zeros(2, 3, dtype=st.float64)
    assert (x.ndim, x.itemsize, x.nbytes, x.element_size(), x.numel(), x.nelement()) == (2, 8, 48, 8, 6, 6)
    assert x.dim() == x.ndimension() == 2
    assert x.T.shape == (3, 2) and x.mT.shape == (3, 2) and st.zeros(2, 3, 4).mT.shape == (2, 4, 3)
    assert str(x.device) == "cpu" and x.device == "cpu" and x.device != "cuda"
    assert x.is_floating_point() and x.is_signed() and not x.is_complex()
    assert st.is_tensor(x) and not st.is_tensor([1]) and not st.is_tensor(x.storage())
    assert st.is_storage(x.storage()) and not st.is_storage(x)
    assert x.is_same_size(st.zeros(2, 3)) and not x.is_same_size(x.t())
    assert x.is_set_to(x.view(2, 3)) and not x.is_set_to(x.clone())
    assert x.storageOffset() == x.storage_offset() == 0 and x[1].storage_offset() == 3
    for name in ("shape", "dtype", "ndim", "T", "size"):
        with pytest.raises(AttributeError):
            setattr(x, name, 1)


def test_subclasses():
    class Mine(st.Tensor):
        def twice(self):
            return self + self

    x = Mine([[1, 2], [3, 4]])
    assert type(x) is Mine and isinstance(x, st.Tensor) and isinstance(x, st.FloatTensor)
    x.color = "red"
    assert x.color == "red"
    assert type(x.twice()) is st.Tensor and type(x[0]) is st.Tensor and type(x.t()) is st.Tensor
    assert x.twice().tolist() == [[2, 4], [6, 8]]
    assert x.add_(1) is x and type(x) is Mine and x.color == "red"
    assert (1 + x).tolist() == [[3, 4], [5, 6]]
    assert st.is_tensor(x) and st.add(x, x).shape == (2, 2)

    class Whole(st.LongTensor):
        pass

    y = Whole([1, 2])
    assert type(y) is Whole and y.dtype is st.int64 and isinstance(y, st.LongTensor)

    class WithInit(st.Tensor):
        def __init__(self, *args):
            self.args = args

        def __add__(self, other):
            return "mine"

        __radd__ = __add__

    z = WithInit(2, 3)
    assert z.args == (2, 3) and z.shape == (2, 3) and z + 1 == "mine" and 1 + z == "mine"
    assert st.zeros(2, 3) + z == "mine", "a subclass that overrides is asked first"


def test_subclasses_are_collected():
    class Mine(st.Tensor):
        pass

    gone = []
    for _ in range(100):
        x = Mine(10)
        x.me = x  # a cycle
        gone.append(weakref.ref(x))
    del x
    gc.collect()
    assert sum(ref() is not None for ref in gone) == 0


def test_weakrefs():
    x = st.zeros(2)
    calls = []
    ref = weakref.ref(x, calls.append)
    assert ref() is x and weakref.getweakrefcount(x) == 1
    table = weakref.WeakValueDictionary({1: x})
    assert table[1] is x
    del x
    gc.collect()
    assert ref() is None and calls == [ref] and len(table) == 0
    again = [st.zeros(2) for _ in range(50)]  # recycled objects must not inherit weak references
    assert all(weakref.getweakrefcount(y) == 0 for y in again)


def test_numpy_operands_on_both_sides():
    x, a = st.tensor([1.0, 2.0, 3.0]), np.array([10, 20, 30], np.float32)
    for op, values in (
        (operator.add, [11, 22, 33]),
        (operator.sub, [-9, -18, -27]),
        (operator.mul, [10, 40, 90]),
        (operator.lt, [True, True, True]),
        (operator.ge, [False, False, False]),
        (operator.eq, [False, False, False]),
    ):
        found = op(x, a)
        assert type(found) is st.Tensor and found.tolist() == values
        swapped = op(a, x)
        assert type(swapped) is st.Tensor and swapped.tolist() == op(a, x.numpy()).tolist()
    assert (a / x).tolist() == [10, 10, 10] and type(a / x) is st.Tensor
    assert (np.float64(2) * x).dtype is st.float64 and type(np.float64(2) * x) is st.Tensor
    assert (x - np.arange(6.0).reshape(2, 3)).shape == (2, 3)
    assert (np.arange(6).reshape(2, 3) - x).tolist() == [[-1, -1, -1], [2, 2, 2]]
    assert st.Tensor.__array_priority__ > 0
    y = x.clone()
    y += a
    assert type(y) is st.Tensor and y.tolist() == [11, 22, 33]
    y.copy_(a)
    assert y.tolist() == [10, 20, 30]


def test_numpy_takes_tensors():
    x = st.arange(6).view(2, 3)
    assert np.add(x.numpy(), 1).tolist() == [[1, 2, 3], [4, 5, 6]]
    assert np.concatenate([x, x]).shape == (4, 3)
    a = np.zeros((2, 3))
    a[...] = x
    assert a.tolist() == x.tolist()
    assert np.array_equal(x, np.arange(6).reshape(2, 3))


def test_dtype_objects():
    assert [getattr(st, name).name for name in DTYPES] == DTYPES
    assert st.dtype("float32") is st.float32 and repr(st.float32) == "strided.float32"
    assert st.float32.itemsize == 4 and st.float32.is_floating_point and not st.int8.is_floating_point
    assert st.complex64.is_complex and st.complex64.to_real() is st.float32
    assert st.uint8.is_signed is False and st.int8.is_signed is True
    assert copy.copy(st.float32) is copy.deepcopy(st.float32) is st.float32
    assert len({getattr(st, name) for name in DTYPES}) == 15
    assert st.float32 != st.float64 and st.float32 == st.float
    assert st.is_floating_point(st.zeros(1)) and st.is_complex(st.tensor(1j))


def test_everything_public_is_documented():
    for name in dir(st):
        thing = getattr(st, name)
        if not name.startswith("_") and callable(thing):
            assert thing.__doc__, name
    for name in dir(st.Tensor):
        if not name.startswith("_"):
            assert getattr(st.Tensor, name).__doc__, name


def run(code):
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_import_is_light():
    code = (
        "import sys; before = set(sys.modules); import time; t = time.perf_counter()\n"
        "import strided\n"
        "t = time.perf_counter() - t\n"
        "print(f'{t * 1000:.2f}', *sorted(set(sys.modules) - before))"
    )
    milliseconds, *modules = run(code)
    print(f"import strided: {milliseconds} ms, {len(modules)} modules")
    heavy = {
        "numpy",
        "typing",
        "enum",
        "dataclasses",
        "re",
        "collections",
        "functools",
        "inspect",
        "ctypes",
        "pickle",
        "copy",
    }
    assert not heavy & set(modules), modules


def test_numpy_is_imported_when_it_is_first_used():
    code = (
        "import sys, strided as st\n"
        "x = st.arange(3); x + 1; x.tolist(); repr(x); x[1:]; x.sum(); memoryview(x); bytes(x); st.frombuffer(b'abcd', dtype='int8')\n"
        "print('numpy' in sys.modules); x.numpy(); print('numpy' in sys.modules)"
    )
    assert run(code) == ["False", "True"]
