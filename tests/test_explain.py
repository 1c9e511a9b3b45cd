"""What `explain` says about costs is checked by doing each operation."""

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import strided as st
from strided.display.explain import recipe

DTYPES = [st.float32, st.int64, st.bool, st.bfloat16, st.complex128]


@some.composite
def tensors(draw):
    """A tensor with any layout over a storage that holds it."""
    shape = draw(some.lists(some.integers(0, 4), max_size=4))
    strides = [draw(some.integers(-6, 6)) for _ in shape]
    lowest = sum(min(0, (n - 1) * s) for n, s in zip(shape, strides, strict=True) if n)
    layout = st.Layout(shape, strides, draw(some.integers(0, 3)) - lowest)
    length = (layout.bounds or (0, 0))[1] + 1 + draw(some.integers(0, 5))
    base = st.zeros(max(length, layout.offset), dtype=draw(some.sampled_from(DTYPES)))
    return base.as_strided(layout.shape, layout.stride, layout.offset)


@some.composite
def made_by_views(draw):
    """A tensor that is the result of ordinary views."""
    x = st.zeros(draw(some.lists(some.integers(1, 4), min_size=1, max_size=3)))
    for _ in range(draw(some.integers(0, 4))):
        dim = draw(some.integers(0, x.ndim - 1))
        step = draw(some.integers(1, 3))
        start = draw(some.integers(0, x.shape[dim] - 1))
        x = draw(
            some.sampled_from(
                [
                    x.transpose(0, dim),
                    x.flip(dim),
                    x[(slice(None),) * dim + (slice(start, None, step),)],
                    x.unsqueeze(dim).expand([*x.shape[:dim], 2, *x.shape[dim:]]),
                ]
            )
        )
    return x


def shares(result, x):
    if isinstance(result, np.ndarray):
        return x.numel() == 0 or np.shares_memory(result, np.frombuffer(x.storage(), np.uint8))
    return result.storage() is x.storage()


@pytest.mark.parametrize("kind", [tensors, made_by_views])
def test_stated_costs_are_those_observed(kind):
    @given(kind())
    def check(x):
        for cost in st.explain(x).costs:
            if cost.outcome == "refused":
                with pytest.raises((ValueError, BufferError)):
                    eval(cost.operation)
                continue
            result = eval(cost.operation)
            assert shares(result, x) == (cost.outcome in ("free", "writes")), cost
            if cost.outcome in ("copies", "writes"):
                count = result.numel() * x.element_size()
                assert cost.amount == (f"{count} B" if count < 1000 else f"{count / 1000:.1f} kB")

    check()


@given(tensors())
def test_layouts_are_explained_as_tensors_are(x):
    said = {cost.operation: cost.outcome for cost in st.explain(x).costs}
    alone = {cost.operation: cost.outcome for cost in st.explain(x.layout).costs}
    assert alone == {operation: said[operation] for operation in alone}
    assert set(said) - set(alone) == {"x.numpy()", "x.zero_()"}


@given(some.one_of(tensors(), made_by_views()))
def test_a_recipe_makes_the_layout(x):
    for text in (recipe(x.layout), st.explain(x).recipe):
        if text is not None:
            made = eval(text, {"Layout": st.Layout})
            assert made.shape == x.shape
            for index in np.ndindex(*x.shape):
                assert made.location(index) == x.layout.location(index)


@given(some.lists(some.integers(1, 4), max_size=4), some.data())
def test_permuted_and_expanded_tensors_have_a_recipe(shape, data):
    x = st.zeros(shape).permute(data.draw(some.permutations(range(len(shape)))))
    for dim in data.draw(some.sets(some.integers(0, 3))):
        x = x.flip(dim) if dim < x.ndim else x
    assert st.explain(x).recipe
    assert st.explain(x.expand([2, *x.shape])).recipe


def test_words_for_layouts():
    x = st.arange(24).view(2, 3, 4)

    def said(y):
        return "\n".join(st.explain(y).facts)

    assert "row-major: the last" in said(x)
    assert "column-major: the first" in said(x.permute(2, 1, 0))
    assert "no gaps, but neither" in said(x.permute(1, 0, 2))
    assert "6 gaps: 4 elements in a span of 10" in said(x[0, 0].as_strided((4,), (3,)))
    assert "dim 1 runs backwards (stride -4)" in said(x.flip(1))
    assert "dim 0 repeats the same elements 5 times (stride 0)" in said(x.expand(5, 2, 3, 4))
    assert "several indices share an element" in said(st.arange(6).unfold(0, 4, 1))
    assert "no elements" in said(st.zeros(0))
    assert "12 of the 24 elements of its storage, in memory of its own" in said(x[1])
    assert "in memory of another object, read-only" in said(st.frombuffer(b"ab", dtype=st.uint8))


def test_operations_that_touch_every_element_are_not_called_free():
    x = st.zeros(1000)
    before = x.clone()
    for cost in st.explain(x).costs:
        if cost.outcome == "free":
            result = eval(cost.operation)
            assert result is not None and x.tolist() == before.tolist()
    assert {cost.operation for cost in st.explain(x).costs if cost.outcome == "writes"} == {"x.zero_()"}
    assert "x.zero_()        writes 4.0 kB, in place" in str(st.explain(x))


def test_recipes():
    x = st.arange(24).view(2, 3, 4)
    assert st.explain(x.permute(2, 0, 1)).recipe == "Layout((2, 3, 4)).permute(2, 0, 1)"
    assert st.explain(x[:, 1:, ::2].flip(2)).recipe == "Layout((2, 3, 4))[:, 1:, ::2].flip(2)"
    assert st.explain(x[1, 2, 3]).recipe == "Layout((24,))[23]"
    assert recipe(st.Layout((3, 3), (1, 1))) is None
    assert recipe(st.Layout((2, 2), (5, 3), 1)) == "Layout((2, 5))[:, 1::3]"


def test_dims_that_do_not_fold_are_named():
    cost = {cost.operation: cost for cost in st.explain(st.zeros(2, 3, 4).transpose(0, 1)).costs}["x.flatten()"]
    assert cost.because == "because dims 0 and 1 do not fold"
    assert "dims 0 to 2" in str(st.explain(st.Layout((3, 1, 4), (1, 99, 3))))


def test_an_explanation_shows_itself():
    said = st.explain(st.zeros(2, 3).t())
    assert repr(said) == str(said)
    assert "x.numpy()" in "".join(ElementTree.fromstring(said._repr_html_()).itertext())
    with pytest.raises(TypeError, match=r"^explain: x must be a Tensor or a Layout, got int$"):
        st.explain(3)
