"""An `out` without elements takes the shape of the result; one with elements must have it."""

import numpy as np
import pytest

import strided as st

x = st.tensor([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])

ONE = {
    "add": lambda out: st.add(x, 1, out=out),
    "mul by a row": lambda out: st.mul(x, x[0], out=out),
    "clamp": lambda out: st.clamp(x, min=2, out=out),
    "where": lambda out: st.where(x > 2, x, 0, out=out),
    "maximum of a pair": lambda out: st.max(x, x.flip(1), out=out),
    "sum": lambda out: st.sum(x, 1, out=out),
    "mean": lambda out: x.mean(0, True, out=out),
    "norm": lambda out: st.norm(x, 2, 1, out=out),
    "var": lambda out: st.var(x, 1, out=out),
    "cumsum": lambda out: st.cumsum(x, 1, out=out),
    "softmax": lambda out: st.softmax(x, 1, out=out),
    "diff": lambda out: st.diff(x, out=out),
    "renorm": lambda out: st.renorm(x, 2, 0, 1, out=out),
    "zeros": lambda out: st.zeros(2, 3, out=out),
    "full": lambda out: st.full((2, 2), 7.0, out=out),
    "eye": lambda out: st.eye(3, out=out),
    "arange": lambda out: st.arange(5, out=out),
    "linspace": lambda out: st.linspace(0, 1, 4, out=out),
}


@pytest.mark.parametrize("call", ONE.values(), ids=ONE)
@pytest.mark.parametrize("empty", [lambda: st.empty(0), lambda: st.empty(3, 0), lambda: st.zeros(4)[:0]])
def test_an_output_without_elements_is_resized(call, empty):
    wanted = call(None)
    out = empty()
    assert call(out) is out
    assert out.shape == wanted.shape
    np.testing.assert_array_equal(out.numpy(), wanted.numpy())


PAIRS = {
    "max": lambda out: st.max(x, 1, out=out),
    "aminmax": lambda out: st.aminmax(x, dim=0, out=out),
    "cummin": lambda out: st.cummin(x, 1, out=out),
    "var_mean": lambda out: st.var_mean(x, 0, out=out),
}


@pytest.mark.parametrize("call", PAIRS.values(), ids=PAIRS)
def test_both_outputs_of_a_pair_are_resized(call):
    wanted = call(None)
    out = (st.empty(0, dtype=wanted[0].dtype), st.empty(0, dtype=wanted[1].dtype))
    results = call(out)
    assert results[0] is out[0] and results[1] is out[1]
    for got, right in zip(out, wanted, strict=True):
        np.testing.assert_array_equal(got.numpy(), right.numpy())


@pytest.mark.parametrize("call", ONE.values(), ids=ONE)
def test_an_output_with_elements_and_another_shape_is_refused(call):
    out = st.ones(7, 5)
    with pytest.raises(st.ShapeError, match="out"):
        call(out)
    assert out.shape == (7, 5) and bool(out.all())


def test_a_lower_category_is_refused_before_the_output_is_resized():
    out = st.empty(0, dtype=st.int32)
    with pytest.raises(st.DTypeError, match="cannot be stored"):
        st.add(x, 1, out=out)
    assert out.shape == (0,)


def test_an_output_on_the_memory_of_an_operand_reads_it_first():
    base = st.arange(6.0)
    out = base[:0]
    st.add(base, base, out=out)
    assert out.tolist() == [0, 2, 4, 6, 8, 10]


def test_exported_memory_keeps_its_size():
    out = st.empty(0)
    view = memoryview(out)
    with pytest.raises(st.StorageError):
        st.add(x, 1, out=out)
    view.release()
    assert out.shape == (0,)


def test_in_place_never_changes_a_shape():
    empty = st.empty(0)
    with pytest.raises(st.ShapeError):
        empty.add_(st.zeros(3))
    assert empty.add_(1).shape == (0,)
