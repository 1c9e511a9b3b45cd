"""Drawings of layouts show the location of each element, compared with a loop over all indices."""

import subprocess
import sys
from collections import defaultdict
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as some

import pictures
import strided as st
from strided.display import cells as facts
from strided.display.cells import Cells
from strided.display.drawing import MAX_CELLS

ROOT = Path(__file__).resolve().parent.parent


@some.composite
def layouts(draw, most=4, stride=7):
    """Any layout: gaps, overlaps, strides of 0 and below, extents of 0 and 1."""
    shape = draw(some.lists(some.integers(0, 4), max_size=most))
    strides = [draw(some.integers(-stride, stride)) for _ in shape]
    return st.Layout(shape, strides, draw(some.integers(0, 40)))


def by_brute_force(layout):
    """{location: indices in row-major order}, where a location is the offset plus the sum of index * stride."""
    found = defaultdict(list)
    for index in product(*map(range, layout.shape)):
        found[layout.offset + sum(i * s for i, s in zip(index, layout.stride, strict=True))].append(index)
    return found


def text_of(index):
    return ",".join(map(str, index)) or "()"


@given(layouts())
def test_a_cell_holds_the_elements_whose_location_it_is(layout):
    expected = by_brute_force(layout)
    cells = Cells(layout)
    for location in range(min(expected, default=0) - 2, max(expected, default=0) + 3):
        cell = cells.at(location)
        assert cell.exact
        assert cell.count == len(expected[location])
        assert cell.indices == expected[location][: facts.MAX_LABELS]


@given(layouts(), some.integers(4, 80))
def test_a_strip_leaves_out_what_it_says(layout, most):
    cells = Cells(layout)
    at = cells.start
    for piece in cells.strip(most):
        if isinstance(piece, int):
            assert piece > 1
            at += piece
        else:
            assert piece.location == at
            at += 1
    assert at == cells.stop == max(by_brute_force(layout), default=-1) + 1


@given(layouts(most=3, stride=5))
def test_the_text_names_every_element_in_its_cell(layout):
    with st.printoptions(linewidth=60):
        drawn = str(layout.draw())
    expected = by_brute_force(layout)
    assert all(len(line) <= 60 for line in drawn.splitlines()[1:])
    if len(expected) == 0 or max(expected) - min(0, min(expected)) >= MAX_CELLS:
        return
    filled = list(expected)
    columns, heads = defaultdict(list), []
    for line in drawn.partition("memory cells, labelled by element\n")[2].splitlines():
        if line.startswith(" │"):
            for head, box in zip(heads, line.split("│")[1:-1], strict=True):
                columns[int(head)].append(box.strip())
        elif not line.startswith((" ┌", " └")):
            heads = line.split()
    for location in range(min(0, min(expected)), max(expected) + 1):
        names = [text_of(index) for index in expected[location]]
        gap = ["·"] if min(filled) < location < max(filled) else []
        wanted = names if len(names) <= facts.MAX_LABELS else [names[0], f"*{len(names)}"]
        assert [text for text in columns[location] if text] == (wanted or gap)


@given(layouts(most=3, stride=5))
def test_the_picture_has_every_element_twice_in_one_colour(layout):
    root = ElementTree.fromstring(layout.svg())
    boxes = list(root.iter("{http://www.w3.org/2000/svg}rect"))
    expected = by_brute_force(layout)
    elements = {box.get("data-element"): box for box in boxes if box.get("data-element")}
    cells = {int(box.get("data-cell")): box for box in boxes if box.get("data-cell")}
    assert set(elements) <= {text_of(index) for indices in expected.values() for index in indices}
    for location, indices in list(expected.items()):
        for index in indices:
            if text_of(index) in elements:
                assert int(elements[text_of(index)].get("data-at")) == location
                if location in cells:
                    assert elements[text_of(index)].get("fill") == cells[location].get("fill")
    for location, box in cells.items():
        assert int(box.get("data-count")) == len(expected[location])
        assert box.get("data-holds") == " ".join(map(text_of, expected[location][: facts.MAX_LABELS]))


def test_few_elements_are_all_in_the_picture():
    layout = st.Layout((2, 3, 4)).permute(2, 0, 1)
    root = ElementTree.fromstring(layout.svg())
    drawn = {box.get("data-element") for box in root.iter("{http://www.w3.org/2000/svg}rect")} - {None}
    assert drawn == {text_of(index) for index in product(*map(range, layout.shape))}


def test_gaps_and_cells_outside_differ():
    parts = [cell.part for cell in Cells(st.arange(7)[1:6:2]).strip(64)]
    assert parts == ["outside", "element", "gap", "element", "gap", "element", "outside"]


def test_a_tensor_is_drawn_with_its_numbers():
    drawn = st.draw(st.tensor([1.5, 20.0, float("nan")])[::2])
    assert " │ 1.5 │ 20  │ nan │" in str(drawn)
    assert {"1.5", "20", "nan"} <= {node.text for node in ElementTree.fromstring(drawn.svg()).iter()}


def test_a_tensor_beyond_its_storage_is_drawn_without_numbers():
    x = st.arange(4)
    x.storage().resize_(2)
    assert "│ 2 │" in str(st.draw(x))


def test_large_layouts_are_summarised():
    cells = Cells(st.Layout((10**6, 10**6)))
    pieces = cells.strip(64)
    assert sum(isinstance(piece, int) for piece in pieces) == 1 and len(pieces) < 64
    assert pieces[-1].indices == [(10**6 - 1, 10**6 - 1)]
    assert f"{10**12 - 16} cells are not drawn" in st.Layout((10**6, 10**6)).svg()
    assert f"{10**12 - 16} cells" in str(st.Layout((10**6, 10**6)).draw())


def test_counting_the_elements_of_a_cell_stops_at_a_limit():
    cell = Cells(st.Layout((60,) * 6, (1,) * 6)).at(150)
    assert not cell.exact and 0 < cell.count < 60**6 and cell.times().endswith("+")
    hard = Cells(st.Layout((2,) * 40, [3 * 2**k + k for k in range(40)])).at(10**12)
    assert hard.exact or hard.part == "element"  # elements beyond the limit may exist
    assert Cells(st.Layout((1,)).expand(10**9)).at(0).count == 10**9


def test_only_tensors_and_layouts_are_drawn():
    with pytest.raises(TypeError, match=r"^draw: x must be a Tensor or a Layout, got list$"):
        st.draw([1, 2])


def test_drawings_print_as_text_and_show_as_svg():
    layout = st.Layout((2, 3))
    assert repr(layout.draw()) == str(layout.draw()) == str(st.draw(layout))
    assert layout._repr_svg_() == layout.svg() == st.draw(layout)._repr_svg_() == layout.draw().svg()


def test_the_pictures_of_the_documents_are_fresh(capsys, monkeypatch, tmp_path):
    assert pictures.main("--check") == 0
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    assert pictures.main("--check") == 1 and "stale" in capsys.readouterr().err
    assert pictures.main() == 0 and pictures.main("--check") == 0


def test_importing_strided_loads_no_drawing():
    code = "import sys, strided; print([name for name in sys.modules if name.startswith('strided.display')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
