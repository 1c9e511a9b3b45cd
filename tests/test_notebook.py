"""Notebook cards: well-formed, escaped, correct, and cheap because they read few elements."""

from html.parser import HTMLParser
from math import inf, nan, prod
from xml.etree import ElementTree

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import strided as st
from strided.display import Options, notebook

DTYPES = ["bool", "uint8", "int64", "float16", "float32", "float64", "complex64", "complex128"]


def parse(html):
    """The tree of a card; the entities of HTML that it uses are those of XML."""
    assert "<script" not in html and "style" in html
    return ElementTree.fromstring(html)


def texts(html):
    found = []
    parser = HTMLParser()
    parser.handle_data = found.append
    parser.feed(html)
    return "".join(found)


def cells(html):
    """The texts of the table cells."""
    return [(node.text or "").strip() for node in parse(html).iter("td")]


class Counting:
    """A NumPy array as a tensor that counts the elements that are read."""

    def __init__(self, array, reads=None):
        self.array, self.reads = array, [0] if reads is None else reads

    shape = property(lambda self: self.array.shape)

    def tolist(self):
        self.reads[0] += self.array.size
        return self.array.tolist()

    def narrow(self, dim, start, length):
        return self[(slice(None),) * dim + (slice(start, start + length),)]

    def unsqueeze(self, dim):
        return Counting(np.expand_dims(self.array, dim), self.reads)

    def __getitem__(self, key):
        return Counting(self.array[key], self.reads)


@given(
    arrays.arrays(
        some.sampled_from(DTYPES), arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5), elements={}
    )
)
def test_every_tensor_has_a_well_formed_card(array):
    x = st.from_numpy(array)
    html = x._repr_html_()
    head = texts(html)
    assert x.type().removeprefix("strided.") in head and x.dtype.name in head and f"offset {x.storage_offset()}" in head
    parse(html)
    parse(x.storage()._repr_html_())
    parse(x.layout._repr_html_())


@pytest.mark.parametrize("shape", [(10**7,), (2500, 4000), (10, 1000, 1000), (3000, 1, 3000), (1, 10**7), (10**7, 1)])
def test_few_elements_of_a_large_tensor_are_read(shape):
    x = Counting(np.broadcast_to(np.float32(1.5), shape))
    parse(f"<div style=''>{notebook.contents(x, Options())}</div>")
    assert 0 < x.reads[0] < 5000
    x.reads[0] = 0
    notebook.contents(x, Options(threshold=inf))
    assert x.reads[0] < 5000


def test_a_small_tensor_shows_all_its_numbers():
    assert cells(st.tensor([[1.5, -2.0], [0.25, 10.0]])._repr_html_()) == ["1.5000", "-2.0000", "0.2500", "10.0000"]
    assert cells(st.arange(3)._repr_html_()) == ["0", "1", "2"]
    assert cells(st.tensor([True, False])._repr_html_()) == ["■", "□"]
    assert cells(st.tensor([1 + 2j])._repr_html_()) == ["1+2j"]
    assert cells(st.LongStorage([4, 5])._repr_html_()) == ["4", "5"]
    assert texts(st.tensor(2.5)._repr_html_()).endswith("2.5000")
    assert texts(st.zeros(0, 3)._repr_html_()).endswith("no elements")


def test_a_common_scale_is_shown_above_the_table():
    html = st.tensor([[0.001, 0.002]])._repr_html_()
    assert cells(html) == ["1.0000", "2.0000"] and "0.001 ×" in texts(html)


def test_print_options_are_obeyed():
    x = st.arange(100.0).view(10, 10) / 7
    assert len(cells(x._repr_html_())) == 100
    with st.printoptions(precision=1, threshold=10, edgeitems=1):
        html = x._repr_html_()
        # two rows of two numbers with dots between, and a row of dots
        assert cells(html) == ["0.0", "…", "1.3", "⋮", "12.9", "…", "14.1"]
        assert len(list(parse(html).iter("{http://www.w3.org/2000/svg}svg"))) == 1


def area(svg):
    """The number of coloured cells of a heat map; its paths have one rectangle per run of cells."""
    runs = [run for path in svg.iter("{http://www.w3.org/2000/svg}path") for run in path.get("d").split("M")[1:]]
    return sum(int(run.split("h")[1].split("v")[0]) for run in runs)


def test_a_heat_map_colours_each_sample():
    x = st.zeros(40, 40)
    x[:10] = -1
    x[20:, :7] = 2
    (svg,) = parse(x._repr_html_()).iter("{http://www.w3.org/2000/svg}svg")
    fills = {path.get("fill") for path in svg}
    assert len(fills) == 2 and area(svg) == 10 * 40 + 20 * 7  # zeros are transparent between two signs
    assert "-1" in texts(x._repr_html_()) and "2" in texts(x._repr_html_())


@given(some.lists(some.floats(), min_size=1))
def test_tints(values):
    tint = notebook.Tint(values)
    for value in values:
        colour = tint(value)
        if value != value or abs(value) == inf:
            assert notebook.NOT_FINITE in colour
        elif value < 0:
            assert notebook.POSITIVE not in colour
        else:
            assert notebook.NEGATIVE not in colour


def test_tints_grow_with_the_distance():
    def strength(colour):
        return 0 if colour == "transparent" else float(colour.rpartition(",")[2].rstrip(")"))

    for values in ([0, 1, 2, 3], [5, 6, 7], [-1, -2, -3], [0.0, 1e308], [True], [3.0, 3.0]):
        tint = notebook.Tint(values)
        strengths = [strength(tint(value)) for value in values]
        assert strengths == sorted(strengths) and strengths[-1] == 0.8
    mixed = notebook.Tint([-4, 0, 2])
    assert [strength(mixed(value)) for value in (-4, 0, 2)] == [0.8, 0, 0.4]


def test_nan_and_infinities_are_counted():
    x = st.zeros(40, 40)
    x[3, 4], x[4, 5] = nan, -inf
    assert "2 NaN or infinite" in texts(x._repr_html_())


def test_higher_ranks_show_the_first_matrices():
    html = st.zeros(9, 2, 2)._repr_html_()
    assert "(0,.,.)" in texts(html) and "(3,.,.)" in texts(html) and "and 5 more" in texts(html)
    assert len(cells(html)) == 4 * 4


def test_the_header_shows_type_shape_and_layout():
    x = st.zeros(4, 5, dtype=st.float64)[1:, ::2]
    assert "DoubleTensor 3 × 3float64 · strides (5, 2) · offset 5 · 72 B · cpu" in texts(x._repr_html_())
    lent = st.frombuffer(b"abc", dtype=st.uint8).storage()
    assert "memory of another object · read-only" in texts(lent._repr_html_())


def test_what_is_written_is_escaped():
    html = notebook.card("<script>", "&", ['"<'], "")
    assert "<script>" not in html and "&lt;script&gt;" in html and "&amp;" in html


def test_cards_are_short():
    assert len(st.zeros(2500, 4000)._repr_html_()) < 20_000
    noise = np.random.default_rng(0).normal(size=(4, 500, 500))
    assert prod(noise.shape) == 10**6 and len(st.from_numpy(noise)._repr_html_()) < 150_000
