"""Writes one element after the other in row-major order, which Torch7 and DeepMind Lab do where memory overlaps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as hs

import strided as st
from strided._strided import _accumulate_in_order, _copy_in_order, _each_in_order


@given(hs.data())
def test_a_copy_is_the_loop_over_the_elements(data):
    draw = data.draw
    shape = tuple(draw(hs.lists(hs.integers(0, 4), max_size=3)))

    def layout():
        strides = [draw(hs.integers(-3, 3)) for _ in shape]
        reach = [stride * max(extent - 1, 0) for stride, extent in zip(strides, shape, strict=True)]
        low = -sum(min(steps, 0) for steps in reach)
        return strides, low + draw(hs.integers(0, 3))

    memory = list(range(40))
    out, source = layout(), layout()
    expected = list(memory)
    for index in np.ndindex(*shape):
        to, origin = (
            offset + sum(i * s for i, s in zip(index, strides, strict=True)) for strides, offset in (out, source)
        )
        expected[to] = expected[origin]
    x = st.tensor(memory, dtype=draw(hs.sampled_from([st.uint8, st.float32, st.complex128])))
    _copy_in_order(x.as_strided(shape, *out), x.as_strided(shape, *source))
    assert x.real.tolist() == expected


def test_a_copy_expands_and_casts():
    x = st.zeros(2, 3, dtype=st.int32)
    _copy_in_order(x, st.tensor([1.9, -2.9, 3.0]))
    assert x.tolist() == [[1, -2, 3], [1, -2, 3]]


def test_a_large_copy_repeats_the_first_element():
    x = st.arange(200_000)
    _copy_in_order(x[1:], x[:-1])
    assert x.max() == 0


def test_a_function_visits_each_element_once_in_row_major_order():
    x = st.arange(6).view(2, 3).t()
    seen = []
    _each_in_order(
        lambda view, other, text: seen.append((view.tolist(), other.tolist(), text)), x, st.tensor([7, 8]), "a"
    )
    assert seen == [(0, 7, "a"), (3, 8, "a"), (1, 7, "a"), (4, 8, "a"), (2, 7, "a"), (5, 8, "a")]


def test_writes_to_elements_that_overlap_add_up():
    x = st.arange(1.0, 4.0).view(3, 1).expand(3, 2)
    _each_in_order(st.Tensor.add_, x, 1)
    assert x.tolist() == [[3, 3], [4, 4], [5, 5]]
    _each_in_order(lambda view: view.apply_(lambda value: value * 2), x)
    assert x.tolist() == [[12, 12], [16, 16], [20, 20]]


def test_tensors_of_other_shapes_are_paired_in_row_major_order():
    x = st.zeros(2, 3, dtype=st.int64)
    _each_in_order(st.Tensor.copy_, x, st.arange(6).view(2, 3).t())
    assert x.tolist() == [[0, 3, 1], [4, 2, 5]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 2, 255, 1000, 200_000])
def test_sums_and_products_are_accumulated_in_order(dtype, n):
    values = np.random.default_rng(n).uniform(0.5, 1.5, n).astype(dtype)
    x = st.tensor(values)
    assert _accumulate_in_order(x) is x
    sums, last = [], dtype(0)
    for value in values:
        sums.append(last := dtype(last + value))
    assert x.tolist() == [float(value) for value in sums]
    few = values[:500]  # a product of more leaves the range of numbers
    products = [1.0 * dtype(few[0])] if n else []
    for value in few[1:]:
        products.append(dtype(products[-1] * value))
    assert _accumulate_in_order(st.tensor(few), True).tolist() == [float(value) for value in products]


def test_what_cannot_be_accumulated_is_refused():
    for x in (
        st.arange(3),
        st.zeros(3, dtype=st.float16),
        st.zeros(2, 2).t(),
        st.frombuffer(bytes(8), dtype=st.float32),
    ):
        with pytest.raises((TypeError, ValueError, RuntimeError), match=r"float32 or float64|contiguous|read-only"):
            _accumulate_in_order(x)


def test_an_exception_ends_the_walk():
    x = st.zeros(4)
    with pytest.raises(ZeroDivisionError):
        _each_in_order(lambda view, i: view.fill_(1 // (2 - i.item())), x, st.arange(4))
    assert x.tolist() == [0, 1, 0, 0]


def test_a_function_may_shrink_the_storage():
    x = st.zeros(4)
    with pytest.raises(RuntimeError):
        _each_in_order(lambda view: (x.storage().resize_(1), view.fill_(1)), x)


def test_shapes_that_do_not_expand_are_refused():
    for call in (_copy_in_order, lambda x, y: _each_in_order(st.Tensor.copy_, x, y)):
        x = st.zeros(2, 2)
        with pytest.raises(ValueError, match="does not expand"):
            call(x, st.ones(3))
        assert x.sum() == 0
