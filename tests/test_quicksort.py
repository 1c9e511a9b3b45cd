"""Torch7's quicksort and quickselect: where they leave equal elements and NaNs, as Torch7 printed it."""

import json
from pathlib import Path

import pytest

import strided as st
from strided._strided import _torch_select, _torch_sort

# Indices count from 1. `smallest` is `topk(x, k)`, which is unsorted, and `kth` is `kthvalue(x, k)`.
CASES = json.loads((Path(__file__).parent / "data/torch7_order.json").read_text())
DTYPES = {"Byte": st.uint8, "Int": st.int32, "Float": st.float32, "Double": st.float64, "nan": st.float64}


def line_of(case):
    numbers = [float("nan") if value is None else value for value in case["x"]]
    return st.tensor(numbers, dtype=DTYPES[case["dtype"]])


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['dtype']} {len(case['x'])}")
def test_indices_are_those_of_torch7(case):
    x, k = line_of(case), case["k"]
    for descending, name in ((False, "ascending"), (True, "descending")):
        values, indices = _torch_sort(x, 0, descending)
        assert (indices + 1).tolist() == case[name]
        st.testing.assert_equal(values, x[indices])
    values, indices = _torch_select(x, k - 1, 0)
    assert (indices[:k] + 1).tolist() == case["smallest"]
    assert (indices[k - 1] + 1).tolist() == case["kth"][0]
    st.testing.assert_equal(values, x[indices])


def test_lines_of_any_dim_and_layout_are_sorted_apart():
    case = next(case for case in CASES if len(case["x"]) == 60 and case["dtype"] == "Int")
    x = line_of(case)
    for lines, dim in ((st.stack([x, x.flip(0), x], 1), 0), (st.stack([x, x.flip(0), x]), 1)):
        values, indices = _torch_sort(lines, dim)
        assert values.shape == indices.shape == lines.shape
        for at in (0, 2):
            assert (indices.select(1 - dim, at) + 1).tolist() == case["ascending"]
        assert values.select(1 - dim, 1).tolist() == sorted(case["x"])
    assert x.tolist() == case["x"]


def test_a_long_line_of_equal_elements_takes_no_quadratic_time():
    # Two million comparisons a pass: a pivot that is always at an end would need 2e10 of them.
    values, indices = _torch_sort(st.ones(200_000), 0)
    assert indices.sort().values.equal(st.arange(200_000))
    assert values.min() == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _torch_select(st.zeros(3), 3, 0), "k is 3, wanted less than 3"),
        (lambda: _torch_select(st.zeros(3), -1, 0), "k is -1, wanted 0 or more"),
        (lambda: _torch_select(st.zeros(0), 0, 0), "k is 0, wanted less than 0"),
        (lambda: _torch_sort(st.zeros(3), 1), "dim 1 is outside"),
        (lambda: _torch_sort(st.zeros(3, dtype=st.bool), 0), "input is bool"),
        (lambda: _torch_sort(st.zeros(3, dtype=st.float16), 0), "input is float16"),
        (lambda: _torch_sort(st.zeros(3, dtype=st.complex64), 0), "input is complex64"),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises((ValueError, IndexError, TypeError), match=message):
        call()


def test_empty_lines_have_no_indices():
    assert _torch_sort(st.zeros(0, 3), 0)[1].shape == (0, 3)
    assert _torch_sort(st.tensor(5), 0)[0].tolist() == 5
