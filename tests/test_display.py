"""The text of tensors and storages, compared with recorded output of Torch7."""

import json
import os
import subprocess
import sys
from math import inf, isnan, nan
from pathlib import Path

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from display_models import DTYPES, PLAIN, TensorModel, lines
from hypothesis import given
from hypothesis import strategies as some

from strided.display import Options, text

RECORDED = json.loads((Path(__file__).parent / "data/torch7_printed.json").read_text())["cases"]


# Torch7


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: f"{case['case']}: {case['expr']}")
def test_the_text_is_that_of_torch7(case):
    name = case["type"].removeprefix("torch.").removesuffix("Tensor").removesuffix("Storage")
    values = np.array([float(value) for value in case["values"]]).astype(DTYPES[name])
    if case["kind"] == "storage":
        printed = text.storage(TensorModel(values, "Storage"), prefix="torch.", base=1, options=PLAIN)
    else:
        # A tensor without dims is Torch7's empty tensor.
        shaped = values.reshape(case["size"] or 0)
        printed = text.tensor(TensorModel(shaped), prefix="torch.", base=1, options=PLAIN)
    assert printed == case["printed"]


def test_the_records_cover_every_notation():
    printed = "\n".join(case["printed"] for case in RECORDED)
    for mark in ("e+", " *\n", "Columns", ",.,.) = ", "nan", "inf", "0000\n", "no dimension", "Storage"):
        assert mark in printed


def test_index_bases_differ_only_in_the_indices_shown():
    array = np.arange(1, 61).reshape(2, 30) / 7
    with_zero = text.tensor(TensorModel(array), options=PLAIN)
    with_one = text.tensor(TensorModel(array), base=1, options=PLAIN)
    assert "Columns 0 to 9\n" in with_zero and "Columns 20 to 29\n" in with_zero
    assert "Columns 1 to 10\n" in with_one and "Columns 21 to 30\n" in with_one

    def numbers(printed):
        return [line for line in printed.splitlines() if not line.startswith("Columns")]

    assert numbers(with_zero) == numbers(with_one)


def test_torch7_writes_long_integers_as_floats():
    assert text.tensor(TensorModel(np.array([[10**9]])), base=1) == " 1.0000e+09\n[strided.LongTensor of size 1x1]\n"


# Numbers


def test_integers_are_plain():
    assert lines([12345678901, -1]) == [" 12345678901", "          -1", "2"]
    assert lines([-(2**63)]) == ["-9223372036854775808", "1"]
    assert lines(np.array([2**64 - 1], np.uint64)) == [" 18446744073709551615", "1"]


def test_whole_floats_are_written_as_integers():
    assert lines([0.0, 1.0, -20.0]) == ["  0", "  1", "-20", "3"]
    assert lines([-0.0, 1.0]) == ["-0", " 1", "2"]
    assert lines([999999999.0]) == [" 999999999", "1"]
    assert lines([1000000000.0]) == [" 1.0000e+09", "1"]


def test_notations_of_floats():
    assert lines([0.1, 1000.0]) == ["    0.1000", " 1000.0000", "2"]
    assert lines([0.1, 10000.0]) == [" 1.0000e-01", " 1.0000e+04", "2"]
    assert lines([0.001, -0.002]) == ["0.001 *", " 1.0000", "-2.0000", "2"]
    assert lines([[0.5, 1.5], [100000.5, 7.0]]) == [" 5.0000e-01  1.5000e+00", " 1.0000e+05  7.0000e+00", "2x2"]
    assert lines([[300000.5, 100000.5]]) == ["100000 *", "  3.0000  1.0000", "1x2"]


def test_zeros_do_not_hide_that_numbers_are_far_apart():
    assert lines([0.0, 1e-9, 1.0]) == [" 0.0000e+00", " 1.0000e-09", " 1.0000e+00", "3"]


def test_rounding_up_keeps_the_columns_aligned():
    assert lines([[9.99999, 1.5], [-9.99999, 1.5]]) == [" 10.0000   1.5000", "-10.0000   1.5000", "2x2"]


def test_extreme_exponents():
    assert lines([5e-324, 0.0]) == [" 4.9407e-324", "  0.0000e+00", "2"]
    assert lines([1.7e308, 1.5]) == [" 1.7000e+308", "  1.5000e+00", "2"]
    assert lines([1.7e308, 1.6e308]) == [" 1.7000e+308", " 1.6000e+308", "2"]  # integers whose sum is infinite


def test_infinities_and_nan_are_aligned_and_do_not_choose_the_notation():
    assert lines([1.0, inf, -inf, nan]) == ["   1", " inf", "-inf", " nan", "4"]
    assert lines([[1.5, inf], [nan, -inf]]) == [" 1.5000     inf", "    nan    -inf", "2x2"]
    assert lines([0.001, nan]) == ["0.001 *", " 1.0000", "    nan", "2"]
    assert lines([nan, inf]) == [" nan", " inf", "2"]


def test_bools():
    assert lines([True, False]) == ["  True", " False", "2"]
    assert lines([[True, False], [True, True]]) == ["  True  False", "  True   True", "2x2"]
    assert lines([[True, True], [True, True]]) == [" True  True", " True  True", "2x2"]
    assert lines([False, False]) == [" False", " False", "2"]


def test_complex_numbers():
    assert lines([1 + 2j, -10 - 30j]) == ["  1 +2j", "-10-30j", "2"]
    assert lines([0.5 + 2j, 10.5 - 3j]) == ["  0.5000+2.0000j", " 10.5000-3.0000j", "2"]
    assert lines([[1e-6 + 2e-6j]]) == ["1e-06 *", "  1.0000+2.0000j", "1x1"]
    assert lines([complex(nan, -inf), 1.5 + 0j]) == ["    nan   -infj", " 1.5000+0.0000j", "2"]


def test_a_number_is_written_from_its_exact_value():
    assert lines(np.array([0.1], np.float32)) == [" 0.1000", "1"]
    assert lines(np.array([0.1], np.float16)) == ["0.01 *", " 9.9976", "1"]  # the half is 0.0999755859375


# Shapes


def test_a_single_number():
    assert lines(np.float32(3.5)) == [" 3.5000", "()"]
    assert lines(np.float64(0.001)) == [" 1.0000e-03", "()"]  # no separate line with a scale
    assert lines(np.array(-7)) == ["-7", "()"]
    assert lines(np.array(True)) == [" True", "()"]


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (2, 0, 4), (0, 10**6)])
def test_a_tensor_without_elements_prints_its_type_alone(shape):
    assert lines(np.zeros(shape)) == ["x".join(map(str, shape))]


def test_slices_are_in_row_major_order():
    array = np.arange(8).reshape(2, 2, 1, 2)
    assert lines(array) == [
        "(0,0,.,.) = ",
        "  0  1",
        "",
        "(0,1,.,.) = ",
        "  2  3",
        "",
        "(1,0,.,.) = ",
        "  4  5",
        "",
        "(1,1,.,.) = ",
        "  6  7",
        "2x2x1x2",
    ]


def titles(printed):
    return [line for line in printed.splitlines() if line.startswith("(")]


@given(arrays.array_shapes(min_dims=3, max_dims=5, max_side=4))
def test_the_order_of_slices_is_that_of_numpy(shape):
    array = np.zeros(shape)
    expected = [f"({','.join(map(str, index))},.,.) = " for index in np.ndindex(*shape[:-2])]
    assert titles(text.tensor(TensorModel(array), options=Options(threshold=inf))) == expected
    # Torch7 counts from 1, and its first index runs fastest.
    reverse = [index[::-1] for index in np.ndindex(*shape[-3::-1])]
    expected = [f"({','.join(str(i + 1) for i in index)},.,.) = " for index in reverse]
    assert titles(text.tensor(TensorModel(array), base=1, options=Options(threshold=inf))) == expected


def test_blocks_and_scale_inside_slices():
    array = np.arange(1, 13).reshape(1, 2, 6) * 100000.5
    assert lines(array, Options(linewidth=34)) == [
        "(0,.,.) = ",
        " Columns 0 to 3",
        " 1e+06 *",
        "   0.1000  0.2000  0.3000  0.4000",
        "   0.7000  0.8000  0.9000  1.0000",
        "",
        " Columns 4 to 5",
        " 1e+06 *",
        "   0.5000  0.6000",
        "   1.1000  1.2000",
        "1x2x6",
    ]


def test_a_line_holds_at_least_one_number():
    assert lines([[10, 20]], Options(linewidth=1)) == ["Columns 0 to 0", " 10", "", "Columns 1 to 1", " 20", "1x2"]


def test_the_prefix_replaces_the_module():
    assert text.tensor(TensorModel([1]), prefix="lab.") == " 1\n[lab.LongTensor of size 1]"


@given(
    arrays.arrays(
        some.sampled_from([np.float32, np.float64, np.int64, np.bool_]),
        arrays.array_shapes(min_dims=2, max_dims=2, max_side=9),
    )
)
def test_every_row_of_a_matrix_is_equally_long(array):
    *grid, _ = lines(array, Options(linewidth=10**6))
    rows = grid[1:] if grid[0].endswith(" *") else grid
    assert len(rows) == len(array) and len(set(map(len, rows))) == 1


@given(arrays.arrays(np.float64, some.integers(1, 20)), some.integers(0, 12), some.sampled_from([None, True]))
def test_printed_numbers_are_near_the_values(array, precision, sci_mode):
    *grid, _ = lines(array, Options(precision=precision, sci_mode=sci_mode))
    scale = float(grid.pop(0).removesuffix(" *")) if grid[0].endswith(" *") else 1.0
    largest = max((abs(value) for value in array.tolist() if abs(value) < inf), default=0.0)
    last_digit = 10.0**-precision * (scale if scale != 1 else max(largest, 1.0))
    for value, line in zip(array.tolist(), grid, strict=True):
        written = float(line)
        if isnan(value):
            assert isnan(written)
        elif abs(written) == inf:
            assert value == written or abs(value) > 1.7e308  # rounding up may overflow
        else:
            assert abs(written * scale - value) <= 0.500001 * last_digit


# Storages


def test_storages():
    assert text.storage(TensorModel([4, 5, -6], "Storage")) == " 4\n 5\n-6\n[strided.LongStorage of size 3]"
    assert text.storage(TensorModel(np.zeros(0), "Storage")) == "[strided.DoubleStorage of size 0]"
    assert text.storage(TensorModel([0.001], "Storage")) == "0.001 *\n 1.0000\n[strided.DoubleStorage of size 1]"


# format


def test_format_of_a_single_number():
    assert text.format(TensorModel(np.float32(2.5)), ".3f") == "2.500"
    assert text.format(TensorModel(np.float32(2.5)), "") == "2.5"
    assert text.format(TensorModel(np.array([[7]])), "04d") == "0007"
    assert text.format(TensorModel(np.array(1.5 + 2j)), ".2f") == "1.50+2.00j"


def test_format_without_a_spec_is_the_printed_tensor():
    for array in (np.array([2.5]), np.arange(6).reshape(2, 3), np.zeros(0)):
        assert text.format(TensorModel(array), "") == text.tensor(TensorModel(array))


def test_format_of_many_numbers_keeps_the_grid():
    array = np.array([[-0.5, 10.25], [100.0, nan]])
    assert text.format(TensorModel(array), ".1f") == "  -0.5   10.2\n 100.0    nan\n[strided.DoubleTensor of size 2x2]"
    assert text.format(TensorModel([1, 20]), "+d") == " +1\n+20\n[strided.LongTensor of size 2]"
    assert text.format(TensorModel([1e-9, 1.0]), "g") == " 1e-09\n     1\n[strided.DoubleTensor of size 2]"


@pytest.mark.parametrize("array", [np.float32(1), np.arange(3.0), np.arange(3000.0)])
def test_a_bad_spec_is_refused(array):
    with pytest.raises(ValueError, match=r"^format: spec '\.2q' does not suit strided\.\w+Tensor: "):
        text.format(TensorModel(array), ".2q")


# Options that change the text


def test_precision_and_sci_mode():
    assert lines([0.5, 2.25], Options(precision=2)) == [" 0.50", " 2.25", "2"]
    assert lines([0.5, 2.0], Options(precision=0)) == [" 0", " 2", "2"]
    assert lines([1.0, 2.0], Options(sci_mode=True)) == [" 1.0000e+00", " 2.0000e+00", "2"]
    assert lines([0.1, 1e6], Options(sci_mode=False)) == ["       0.1000", " 1000000.0000", "2"]
    assert lines([1, 2], Options(sci_mode=True)) == [" 1", " 2", "2"]


def test_the_first_print_imports_no_large_module():
    heavy = {"typing", "re", "enum", "dataclasses", "contextlib", "collections", "functools", "numpy"}
    script = (
        "import sys, strided; before = set(sys.modules); import strided.display.text;"
        f"print(*sorted({heavy!r} & (set(sys.modules) - before)))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
