"""Functions over elements: `apply_`, `map_` and `map2_`, and iteration over rows."""

import fractions
import gc
import math
import os
import signal
import sys
import threading

import numpy as np
import pytest
import strategies as s
from hypothesis import given
from hypothesis import strategies as hs

import strided as st
from strided import testing


def views(x):
    """Views of a 4 x 6 tensor with strides of every kind, and of ranks 0 to 9."""
    return {
        "dense": x,
        "column-major": x.t(),
        "negative": x[::-1, ::-1],
        "step": x[::2, 1::3],
        "offset": x[1:, 2:5],
        "one row": x[2],
        "one element": x[2, 3],
        "rank 9": x[None, :, None, :2, None, None, None, None, None],
        "empty": x[:0],
    }


LAYOUTS = list(views(st.zeros(4, 6)))


def numbers(name):
    """Values of a dtype for a 4 x 6 tensor."""
    if name == "bool":
        return st.tensor([[(i * j) % 3 == 0 for j in range(6)] for i in range(4)])
    values = st.arange(24).view(4, 6)
    return values.to(getattr(st, name)) * (1 + 2j) if name in s.COMPLEX else values.to(getattr(st, name))


def flat(x):
    return [x[i].item() for i in np.ndindex(*x.shape)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", s.DTYPES)
def test_apply_gives_each_element_in_row_major_order_and_stores_the_result(name, layout):
    base = numbers(name)
    x = views(base)[layout]
    before, untouched, seen = flat(x), base.clone(), []

    def change(value):
        seen.append(value)
        return (not value) if name == "bool" else value + 1

    assert x.apply_(change) is x
    assert seen == before
    assert [type(value) for value in seen] == [type(value) for value in before]
    expected = [(not value) if name == "bool" else value + 1 for value in before]
    assert flat(x) == expected
    views(untouched)[layout].copy_(x)  # nothing but the view has changed
    assert untouched.tolist() == base.tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", s.DTYPES)
def test_map_gives_the_elements_of_both_tensors(name, layout):
    x, y = views(numbers(name))[layout], views(numbers("int16"))[layout]
    pairs, seen = list(zip(flat(x), flat(y), strict=True)), []
    assert x.map_(y, lambda a, b: seen.append((a, b))) is x
    assert seen == pairs
    assert flat(x) == [a for a, _ in pairs]


@given(x=testing.tensors("int32"), data=hs.data())
def test_map2_expands_its_tensors_as_numpy_broadcasts(x, data):
    if not x.layout.is_injective:
        x = x.clone()
    shape = tuple(x.shape)
    a, b = (np.arange(math.prod(part), dtype=np.int64).reshape(part) for part in (narrowed(data, shape) for _ in "ab"))
    expected = 3 * x.numpy().astype(np.int64) % 1000 + np.broadcast_to(a, shape) - np.broadcast_to(b, shape)
    x.map2_(st.from_numpy(a), st.from_numpy(b), lambda u, v, w: 3 * u % 1000 + v - w)
    assert x.tolist() == expected.tolist()


def narrowed(data, shape):
    """A shape that expands to a shape."""
    kept = [data.draw(hs.sampled_from([extent, 1])) for extent in shape]
    return tuple(kept[data.draw(hs.integers(0, len(kept))) :] if all(shape) else kept)


def test_a_tensor_that_does_not_expand_is_refused_before_any_call():
    x = st.zeros(2, 3)
    for other in (st.zeros(2), st.zeros(1, 2, 3), st.zeros(4, 3)):
        with pytest.raises(st.ShapeError, match=r"map_: tensor is of shape .*, wanted one that expands to 2x3"):
            x.map_(other, pytest.fail)
        with pytest.raises(st.ShapeError, match="map2_: y is of shape"):
            x.map2_(st.zeros(3), other, pytest.fail)


def test_inputs_that_share_memory_with_the_output_are_read_as_before_the_call():
    x = st.arange(5)
    assert x[1:].map_(x[:-1], lambda a, b: 10 * a + b).tolist() == [10, 21, 32, 43]
    y = st.arange(4).view(2, 2)
    assert y.map_(y.t(), lambda a, b: 10 * a + b).tolist() == [[0, 12], [21, 33]]
    z = st.arange(3)
    assert z.map_(z[1:2], lambda a, b: a + 7 * b).tolist() == [7, 8, 9]
    assert z.map2_(z, z, lambda a, b, c: a * b - c).tolist() == [42, 56, 72]


def test_an_expanded_tensor_is_refused_as_output():
    with pytest.raises(st.ShapeError, match="apply_: elements of the output share memory"):
        st.zeros(1).expand(3).apply_(pytest.fail)


def test_read_only_memory_is_refused_before_any_call():
    x = st.frombuffer(b"abcd", dtype=st.uint8)
    with pytest.raises(st.StorageError, match="apply_: the memory is read-only"):
        x.apply_(pytest.fail)
    assert st.zeros(4).map_(x, lambda a, b: b).tolist() == [97, 98, 99, 100]


RESULTS = [
    True,
    7,
    7.5,
    7 + 0j,
    st.tensor(7),
    st.tensor([[7.5]]),
    np.float32(7.5),
    np.int8(7),
    fractions.Fraction(15, 2),
]


@pytest.mark.parametrize("result", [*RESULTS, np.array(7), 300, -1, math.nan, math.inf, 2**63, 2**64, 10**400, 1j])
@pytest.mark.parametrize("name", s.DTYPES)
def test_a_result_is_written_as_fill_does(name, result):
    expected, got = st.ones(1, dtype=name), st.ones(1, dtype=name)
    try:
        expected.fill_(result)
    except (ValueError, OverflowError) as error:
        with pytest.raises(type(error)) as raised:
            got.apply_(lambda _: result)
        assert str(raised.value) == str(error).replace("fill_", "apply_")
    else:
        got.apply_(lambda _: result)
    assert s.is_same(s.values_of(got), s.values_of(expected))


@pytest.mark.parametrize("name", s.DTYPES)
def test_none_keeps_the_element(name):
    x = numbers(name)
    before = x.tolist()
    assert x.apply_(lambda _: None).tolist() == before
    calls = iter(range(24))
    x.apply_(lambda value: None if next(calls) % 2 else 1)
    assert flat(x)[1::2] == [value for row in before for value in row][1::2]
    assert flat(x)[::2] == [1] * 12


@pytest.mark.parametrize("result", ["7", [7], b"7", object()])
def test_a_result_that_is_no_number_is_refused(result):
    x = st.ones(2)
    with pytest.raises(TypeError, match="apply_: the result of callable must be a number, got"):
        x.apply_(lambda _: result)
    with pytest.raises(st.ShapeError, match="one element"):
        x.apply_(lambda _: st.zeros(2))
    assert x.tolist() == [1, 1]


def test_an_exception_ends_the_call_and_leaves_what_was_written():
    x = st.arange(6).view(2, 3)

    def change(value):
        if value == 4:
            raise LookupError("four")
        return -value

    with pytest.raises(LookupError, match=r"^four$"):
        x.apply_(change)
    assert x.tolist() == [[0, -1, -2], [-3, 4, 5]]
    x.storage().resize_(7)  # nothing is exported any more


def test_a_result_out_of_range_ends_the_call_and_leaves_what_was_written():
    x = st.zeros(3, dtype=st.uint8)
    results = iter([255.9, 256, 1])
    with pytest.raises(OverflowError, match="apply_: 256 does not fit uint8"):
        x.apply_(lambda _: next(results))
    assert x.tolist() == [255, 0, 0]


@pytest.mark.parametrize("call", ["apply_", "map_", "map2_"])
def test_the_function_must_be_callable(call):
    x = st.zeros(2)
    others = {"apply_": [], "map_": [x], "map2_": [x, x]}[call]
    with pytest.raises(TypeError, match=f"{call}: callable must be a callable, got int"):
        getattr(x, call)(*others, 3)
    with pytest.raises(TypeError, match="must be a Tensor"):
        x.map_([1, 2], pytest.fail)


def test_anything_callable_can_be_the_function():
    class Counter:
        def __init__(self):
            self.calls = 0

        def __call__(self, value):
            self.calls += 1
            return self.calls

        def method(self, value, other=10, third=0):
            return value + other + third

    counter = Counter()
    assert st.zeros(3).apply_(counter).tolist() == [1, 2, 3]
    assert st.zeros(3).apply_(counter.method).tolist() == [10, 10, 10]
    assert st.zeros(3).map2_(st.ones(3), st.ones(3), counter.method).tolist() == [2, 2, 2]
    assert st.tensor([4.0, 9.0]).apply_(math.sqrt).tolist() == [2, 3]
    assert st.tensor([2.0, 3.0]).map_(st.tensor([3, 2]), pow).tolist() == [8, 9]
    assert st.tensor([1.5]).apply_(callable=int).tolist() == [1]


def test_the_function_may_read_and_write_the_tensor():
    x = st.zeros(4)

    def running_sum(value):
        x[-1] += 1
        return x.sum().item()

    assert x.apply_(running_sum).tolist() == [1, 3, 7, 15]


@pytest.mark.parametrize("call", ["apply_", "map_", "map2_"])
def test_no_memory_can_be_resized_during_the_call(call):
    x, y = st.zeros(3), st.ones(3)
    others = {"apply_": [], "map_": [y], "map2_": [y, x]}[call]

    def resize(*_):
        for used in (x, *others):
            with pytest.raises(BufferError, match="exported"):
                used.storage().resize_(100_000)
            with pytest.raises(BufferError, match="exported"):
                used.storage().resize_(0)
            with pytest.raises(BufferError, match="exported"):
                used.share_memory_()
        return 5

    assert getattr(x, call)(*others, resize).tolist() == [5, 5, 5]
    for used in (x, *others):
        used.storage().resize_(100_000)


def test_the_call_goes_on_with_the_elements_it_began_with():
    x, y = st.arange(3), st.zeros(2, 2)
    memory = x[:]

    def change(value):
        x.set_(st.tensor([7, 7]))
        return value + 1

    assert x.apply_(change) is x
    assert x.tolist() == [7, 7]
    assert memory.tolist() == [1, 2, 3]
    y.apply_(lambda _: y.resize_(1).sum().item() + 1)
    assert y.shape == (1,)
    del memory
    x = st.zeros(2)
    st.Tensor.apply_(x, lambda value: globals().update(gone=gc.collect()) or 3)
    assert x.tolist() == [3, 3]


def test_calls_may_be_nested():
    x = st.zeros(2, 2)
    x.apply_(lambda value: x.view(4)[1:].apply_(lambda inner: inner + 1)[-1].item())
    assert x.tolist() == [[1, 4], [4, 4]]


def test_other_threads_use_the_tensor_during_the_call():
    x, inside, done, sums = st.zeros(2), threading.Event(), threading.Event(), []

    def other():
        inside.wait()
        x[1] = 40
        sums.append(x.sum().item())
        done.set()

    thread = threading.Thread(target=other)
    thread.start()

    def change(value):
        inside.set()
        done.wait()
        return value + 2

    x.apply_(change)
    thread.join()
    assert x.tolist() == [2, 42]
    assert sums == [40]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_both_processes_finish_a_call_in_which_one_forked():
    x, children = st.zeros(3), []

    def change(value):
        if not children:
            children.append(os.fork())
        return 7 if children[0] == 0 else 8

    x.apply_(change)
    if children[0] == 0:
        try:
            x.storage().resize_(100_000)
            os._exit(0 if x.tolist() == [7, 7, 7] else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0
    assert x.tolist() == [8, 8, 8]


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")
def test_a_signal_ends_a_call_of_a_function_in_c():
    class Interrupted(Exception):
        pass

    def handler(*_):
        raise Interrupted

    processes, numbers = st.full((50_000,), os.getpid(), dtype=st.int64), st.tensor(int(signal.SIGUSR1))
    old = signal.signal(signal.SIGUSR1, handler)
    try:
        with pytest.raises(Interrupted):
            processes.map_(numbers, os.kill)  # no bytecode runs, so nothing else looks for signals
    finally:
        signal.signal(signal.SIGUSR1, old)


def test_references_are_neither_lost_nor_kept():
    value, function = 12345.678, lambda *_: value
    x, y = st.zeros(50), st.ones(50)
    counts = [sys.getrefcount(thing) for thing in (value, function, x, y)]
    for _ in range(20):
        x.apply_(function)
        x.map_(y, function)
        x.map2_(y, x, function)
        with pytest.raises(TypeError):
            x.apply_(lambda: None)
        with pytest.raises(OverflowError):
            st.zeros(2, dtype=st.uint8).map_(st.tensor(1), lambda a, b: 12345)
    gc.collect()
    assert [sys.getrefcount(thing) for thing in (value, function, x, y)] == counts


def test_rows_are_iterated_in_order():
    x = st.arange(6).view(3, 2)
    assert [row.tolist() for row in x] == [[0, 1], [2, 3], [4, 5]]
    for at, row in enumerate(x):
        row.fill_(at)
    assert x.tolist() == [[0, 0], [1, 1], [2, 2]]
    assert len(x) == 3
    assert 2 in x
    assert 3 not in x
    assert [v.item() for v in st.tensor([1.5, 2.5])] == [1.5, 2.5]
