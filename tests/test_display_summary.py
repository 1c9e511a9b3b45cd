"""The text of large tensors: what is left out, and that it is never read."""

from math import prod

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from display_models import PLAIN, TensorModel, lines
from hypothesis import given
from hypothesis import strategies as some

from strided.display import Options, text


def test_a_long_vector_shows_its_ends():
    assert lines(np.arange(1001) * 1.5) == [
        "    0.0000",
        "    1.5000",
        "    3.0000",
        "       ...",
        " 1497.0000",
        " 1498.5000",
        " 1500.0000",
        "1001",
    ]
    assert len(lines(np.arange(1000))) == 1001


def test_a_large_matrix_shows_its_corners():
    assert lines(np.arange(10000).reshape(100, 100)) == [
        "    0     1     2  ...    97    98    99",
        "  100   101   102  ...   197   198   199",
        "  200   201   202  ...   297   298   299",
        "  ...",
        " 9700  9701  9702  ...  9797  9798  9799",
        " 9800  9801  9802  ...  9897  9898  9899",
        " 9900  9901  9902  ...  9997  9998  9999",
        "100x100",
    ]


def test_only_dims_that_are_long_are_cut():
    assert lines(np.arange(14).reshape(7, 2), Options(threshold=5, edgeitems=1)) == [
        "  0   1",
        " ...",
        " 12  13",
        "7x2",
    ]
    assert lines(np.arange(6).reshape(2, 3), Options(threshold=5, edgeitems=1)) == [" 0  ...  2", " 3  ...  5", "2x3"]


def test_many_slices_are_left_out_too():
    grid = lines(np.zeros((10, 10, 20)))
    assert [line for line in grid if line.startswith(("(", "..."))] == [
        "(0,.,.) = ",
        "(1,.,.) = ",
        "(2,.,.) = ",
        "...",
        "(7,.,.) = ",
        "(8,.,.) = ",
        "(9,.,.) = ",
    ]


def test_each_outer_dim_shows_its_ends_while_that_is_short():
    grid = lines(np.zeros((5, 5, 2, 2)), Options(threshold=99, edgeitems=2))
    titles = [line for line in grid if line.startswith(("(", "..."))]
    assert titles[:7] == [
        "(0,0,.,.) = ",
        "(0,1,.,.) = ",
        "...",
        "(0,3,.,.) = ",
        "(0,4,.,.) = ",
        "(1,0,.,.) = ",
        "(1,1,.,.) = ",
    ]
    assert titles.count("...") == 5  # one in each of four rows of slices, and one for the row left out
    assert titles[-1] == "(4,4,.,.) = "


def test_blocks_of_a_summary_name_their_columns():
    array = np.arange(400).reshape(20, 20) * 1000.5
    assert lines(array, Options(linewidth=30, edgeitems=2, threshold=5)) == [
        "Columns 0 to 17",
        "100000 *",
        "  0.0000  0.0100  ...",
        "  0.2001  0.2101  ...",
        "     ...",
        "  3.6018  3.6118  ...",
        "  3.8019  3.8119  ...",
        "",
        "Columns 18 to 19",
        "100000 *",
        "  0.1801  0.1901",
        "  0.3802  0.3902",
        "     ...",
        "  3.7819  3.7919",
        "  3.9820  3.9920",
        "20x20",
    ]


@pytest.mark.parametrize(
    ("shape", "shown"),
    [
        ((10**9,), 6),
        ((10**5, 10**4), 36),
        ((10**9, 2), 12),
        ((1000, 1000, 1000), 216),
        ((100, 100, 100, 100), 216),
        ((2,) * 30, 24),
    ],
)
def test_only_what_is_shown_is_read(shape, shown):
    huge = TensorModel(np.broadcast_to(np.float32(1.5), shape))
    printed = text.tensor(huge, options=PLAIN)
    assert huge.reads == [shown]
    assert printed.count("1.5000") == shown


@given(
    arrays.array_shapes(min_dims=1, max_dims=5, max_side=9),
    some.integers(0, 200),
    some.integers(1, 4),
    some.sampled_from([1, 17, 80]),
)
def test_each_number_that_is_read_is_shown_once(shape, threshold, edgeitems, linewidth):
    array = np.arange(prod(shape)).reshape(shape) + 1000
    model = TensorModel(array)
    options = Options(threshold=threshold, edgeitems=edgeitems, linewidth=linewidth)
    *grid, _ = text.tensor(model, options=options).split("\n")
    numbers = [
        word for line in grid if line[-1:] != "=" and "to" not in line for word in line.split() if word.isdigit()
    ]
    assert len(numbers) == len(set(numbers)) == model.reads[0]
    assert {"1000", str(999 + prod(shape))} <= set(numbers)
    if prod(shape) <= threshold:
        assert len(numbers) == prod(shape)


def test_a_long_storage_shows_its_ends():
    storage = TensorModel(np.arange(2000), "Storage")
    printed = text.storage(storage)
    assert printed.split("\n")[2:5] == ["    2", "  ...", " 1997"]
    assert storage.reads == [6]
