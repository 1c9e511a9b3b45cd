"""`repr`, `str` and `format` of tensors of all dtypes and layouts."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import strided as st


@pytest.fixture(autouse=True)
def plain_options():
    with st.printoptions(profile="default", linewidth=80, sci_mode=None):
        yield


def test_a_matrix():
    x = st.arange(12).reshape(3, 4)
    printed = "  0   1   2   3\n  4   5   6   7\n  8   9  10  11\n[strided.LongTensor of size 3x4]"
    assert repr(x) == str(x) == f"{x}" == printed


def test_a_vector():
    x = st.zeros(5)
    assert repr(x) == " 0\n 0\n 0\n 0\n 0\n[strided.FloatTensor of size 5]"
    x.narrow(0, 1, 3).fill_(1)
    assert repr(x) == " 0\n 1\n 1\n 1\n 0\n[strided.FloatTensor of size 5]"


def test_slices_of_a_tensor_of_rank_3():
    assert repr(st.arange(12).reshape(2, 2, 3)) == (
        "(0,.,.) = \n   0   1   2\n   3   4   5\n\n"
        "(1,.,.) = \n   6   7   8\n   9  10  11\n"
        "[strided.LongTensor of size 2x2x3]"
    )


@pytest.mark.parametrize(
    ("values", "dtype", "printed"),
    [
        ([True, False], st.bool, "  True\n False\n[strided.BoolTensor of size 2]"),
        ([0, 255], st.uint8, "   0\n 255\n[strided.ByteTensor of size 2]"),
        ([-128, 127], st.int8, "-128\n 127\n[strided.CharTensor of size 2]"),
        ([2**64 - 1], st.uint64, " 18446744073709551615\n[strided.UInt64Tensor of size 1]"),
        ([-(2**63)], st.int64, "-9223372036854775808\n[strided.LongTensor of size 1]"),
        ([0.5, 2.25], st.float16, " 0.5000\n 2.2500\n[strided.HalfTensor of size 2]"),
        ([0.5, 2.25], st.bfloat16, " 0.5000\n 2.2500\n[strided.BFloat16Tensor of size 2]"),
        ([0.1, 0.2], st.float32, " 0.1000\n 0.2000\n[strided.FloatTensor of size 2]"),
        ([1e-300, 1.5], st.float64, " 1.0000e-300\n  1.5000e+00\n[strided.DoubleTensor of size 2]"),
        (
            [0.5 + 2j, 10.5 - 3j],
            st.complex64,
            "  0.5000+2.0000j\n 10.5000-3.0000j\n[strided.ComplexFloatTensor of size 2]",
        ),
        ([1 + 2j], st.complex128, " 1+2j\n[strided.ComplexDoubleTensor of size 1]"),
        ([1.5, float("-inf"), float("nan")], st.float32, " 1.5000\n   -inf\n    nan\n[strided.FloatTensor of size 3]"),
    ],
)
def test_every_kind_of_number(values, dtype, printed):
    assert repr(st.tensor(values, dtype=dtype)) == printed


def test_a_view_prints_its_own_elements():
    x = st.arange(6).reshape(2, 3)
    assert repr(x.t()) == " 0  3\n 1  4\n 2  5\n[strided.LongTensor of size 3x2]"
    assert repr(x[1, ::-1]) == " 5\n 4\n 3\n[strided.LongTensor of size 3]"
    assert repr(st.tensor([7]).expand(2, 2)) == " 7  7\n 7  7\n[strided.LongTensor of size 2x2]"


def test_tensors_of_rank_0_and_without_elements():
    assert repr(st.tensor(3.5)) == " 3.5000\n[strided.FloatTensor of size ()]"
    assert repr(st.zeros(0)) == "[strided.FloatTensor of size 0]"
    assert repr(st.zeros(3, 0)) == "[strided.FloatTensor of size 3x0]"


def test_a_huge_view_prints_at_once():
    x = st.tensor([1.5]).expand(10**5, 10**6, 10**6)
    assert repr(x).count("1.5000") == 6**3


def test_a_summary_of_a_view_with_negative_strides():
    x = st.arange(2000).flip(0)
    assert repr(x).split("\n")[:4] == [" 1999", " 1998", " 1997", "  ..."]
    corners = repr(st.arange(10000).reshape(100, 100).t()).split("\n")
    assert corners[0] == "    0   100   200  ...  9700  9800  9900"


def test_storages():
    assert repr(st.LongStorage([4, 5, 6])) == " 4\n 5\n 6\n[strided.LongStorage of size 3]"
    assert repr(st.FloatStorage(0)) == "[strided.FloatStorage of size 0]"
    assert repr(st.arange(2000).storage()).split("\n")[2:5] == ["    2", "  ...", " 1997"]


GRID = " 0\n 1\n[strided.LongTensor of size 2]"
INDENTED = "\n   0\n   1\n  [strided.LongTensor of size 2]"


def test_a_tensor_in_a_container_starts_on_a_new_line_and_is_indented():
    x = st.arange(2)
    assert repr([x, x]) == f"[{INDENTED}, {INDENTED}]"
    assert repr((x,)) == f"({INDENTED},)"
    assert repr(x.view(1, 2).unbind(1)[0]) == " 0\n[strided.LongTensor of size 1]"
    assert repr({"x": x}) == f"{{'x': {INDENTED}}}"
    assert repr([x.storage()]) == "[" + INDENTED.replace("LongTensor", "LongStorage") + "]"
    assert repr([[x], 3]) == "[[" + INDENTED.replace("\n", "\n  ") + "], 3]"
    assert repr([st.zeros(0)]) == "[[strided.FloatTensor of size 0]]"  # one line needs no break
    assert repr(x) == GRID


def test_a_container_of_tensors_keeps_their_columns():
    x = st.arange(24).view(2, 3, 4)
    lines = repr([x]).split("\n")
    assert lines[0] == "[" and lines[-1].endswith("]]")
    assert [line[2:] if line else line for line in lines[1:]] == [
        *repr(x).split("\n")[:-1],
        repr(x).split("\n")[-1] + "]",
    ]


def test_a_failed_repr_in_a_container_does_not_indent_later_ones():
    class Fails:
        def __repr__(self):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        repr([[st.arange(2), Fails()]])
    assert repr(st.arange(2)) == GRID


def test_only_the_thread_that_writes_a_container_indents():
    x = st.arange(2)

    class Elsewhere:
        def __repr__(self):
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(repr, x).result()

    assert repr([Elsewhere()]) == f"[{GRID}]"


PAIR = """strided.return_types.max(
  values=
     5
     7
    [strided.LongTensor of size 2],
  indices=
     1
     0
    [strided.LongTensor of size 2])"""


def test_a_pair_has_its_parts_on_lines_of_their_own():
    pair = st.tensor([[1, 5], [7, 2]]).max(1)
    assert repr(pair) == str(pair) == PAIR
    assert repr([pair]) == "[" + PAIR.replace("\n", "\n  ") + "]"


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (lambda x: x.min(0), ["values", "indices"]),
        (lambda x: x.cummax(0), ["values", "indices"]),
        (lambda x: x.cummin(0), ["values", "indices"]),
        (lambda x: x.aminmax(), ["min", "max"]),
        (lambda x: st.std_mean(x), ["std", "mean"]),
        (lambda x: st.var_mean(x), ["var", "mean"]),
    ],
)
def test_every_pair_names_its_class_and_its_parts(function, names):
    pair = function(st.tensor([3.0, 1.0, 2.0]))
    first, *lines = repr(pair).split("\n")
    assert first == f"strided.return_types.{type(pair).__name__}("
    assert [line.strip("= ") for line in lines if line.endswith("=")] == names
    assert [line for line in lines if line.startswith("    ")] == [
        *(f"    {line}" for line in f"{pair[0]!r},".split("\n")),
        *(f"    {line}" for line in f"{pair[1]!r})".split("\n")),
    ]


def test_format():
    assert f"{st.tensor(2.5):.3f}" == "2.500"
    assert f"{st.tensor(2.5)}" == "2.5"
    assert f"{st.tensor([[0.5, 10.0]]):.1f}" == "  0.5  10.0\n[strided.FloatTensor of size 1x2]"
    with pytest.raises(ValueError, match=r"^format: spec 'q' does not suit strided\.FloatTensor: "):
        f"{st.zeros(3):q}"


def test_printoptions_reach_repr():
    with st.printoptions(precision=1, threshold=5, edgeitems=1):
        assert repr(st.tensor([0.5, 1.5, 2.5, 3.5, 4.5, 5.25])) == " 0.5\n ...\n 5.2\n[strided.FloatTensor of size 6]"
    assert repr(st.tensor([0.5])) == " 0.5000\n[strided.FloatTensor of size 1]"
