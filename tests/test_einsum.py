"""Contractions: einsum, tensordot and their paths, against NumPy."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from strategies import DTYPES, fresh, memory_of, shared, to_memory, to_values, values_of

import strided as st

RANDOM = np.random.default_rng(16)
LETTERS = "abcdeXYZ"


def small_ints(shape, dtype=np.float64, random=RANDOM):
    """Small whole numbers: sums of their products are exact in any order."""
    return random.integers(-3, 4, shape).astype(dtype)


@hs.composite
def contractions(draw):
    """An equation, and arrays with strides of their own for its operands; sums are exact."""
    extents = {letter: draw(hs.integers(0 if draw(hs.booleans()) else 1, 4)) for letter in LETTERS}
    broadcast = draw(hs.lists(hs.integers(1, 3), max_size=2))
    terms, arrays, any_dots = [], [], False
    for _ in range(draw(hs.integers(1, 5))):
        labels = draw(hs.text(LETTERS[: draw(hs.integers(1, 8))], max_size=4))
        shape = [extents[letter] for letter in labels]
        if draw(hs.booleans()):
            at = draw(hs.integers(0, len(labels)))
            count = draw(hs.integers(0, len(broadcast)))
            inner = [1 if draw(hs.booleans()) else extent for extent in broadcast[len(broadcast) - count :]]
            shape[at:at] = inner
            labels = labels[:at] + "..." + labels[at:]
            any_dots = True
        terms.append(labels)
        array = small_ints(shape, random=np.random.default_rng(draw(hs.integers(0, 1000))))
        order = draw(hs.permutations(range(len(shape))))
        stored = array.transpose(order).copy(order="C")
        array = stored.transpose(np.argsort(order))
        if draw(hs.booleans()):
            array = array[(slice(None, None, -1),) * array.ndim]
        arrays.append(array)
    equation = ",".join(terms)
    if draw(hs.booleans()):
        used = sorted(set(equation) & set(LETTERS))
        output = "".join(draw(hs.permutations(used))[: draw(hs.integers(0, len(used)))])
        if any_dots:
            at = draw(hs.integers(0, len(output)))
            output = output[:at] + "..." + output[at:]
        equation += "->" + output
    return equation, arrays


@given(contractions())
@settings(max_examples=600, deadline=None)
def test_random_expressions_equal_numpy(case):
    equation, arrays = case
    wanted = np.einsum(equation, *arrays)
    got = st.einsum(equation, *[shared(array, "float64") for array in arrays])
    assert got.shape == wanted.shape
    assert got.tolist() == wanted.tolist()


@pytest.mark.parametrize("name", [name for name in DTYPES if name != "bool"])
@pytest.mark.parametrize(
    "equation", ["ij,jk->ik", "bij,bjk->bik", "ij,ij->", "ij,kj,kl->il", "iij,j->i", "i,j->ij", "ij,jk->k"]
)
def test_every_dtype(name, equation):
    extents = {"i": 3, "j": 4, "k": 5, "l": 2, "b": 2}
    low = 0 if name.startswith("u") else -3
    arrays = [
        RANDOM.integers(low, 4, [extents[label] for label in term.strip()])
        for term in equation.split("->")[0].split(",")
    ]
    got = st.einsum(equation, *[fresh(to_memory(array, name), name) for array in arrays])
    wanted = np.einsum(equation, *arrays)
    assert got.dtype.name == name
    if name in ("uint8", "int8", "uint16", "int16"):
        wanted = wanted.astype(name)
    if name in ("float16", "bfloat16"):
        wanted = to_values(to_memory(wanted.astype(np.float64), name), name)
    assert values_of(got).tolist() == wanted.tolist()


# Contractions of the TCCG benchmark, with modes that fold and modes that do not.
TCCG = [
    "abcd,cedf->abef",
    "aebf,dfce->abcd",
    "abcd,ea->ebcd",
    "abcd,ae->ebcd",
    "adec,ebd->abc",
    "efbad,cf->abcde",
    "aebf,fdec->abcd",
    "jk,ijkl->il",
    "qij,qjk->qik",
    "ijk,ijk->ik",
    "ijkl,jl->ik",
    "abij,cdij->acbd",
]


@pytest.mark.parametrize("extent", [3, 17])
@pytest.mark.parametrize("equation", TCCG)
def test_contractions_of_many_dims(equation, extent):
    left = equation.split("->")[0].split(",")
    extents = {letter: extent - i % 3 for i, letter in enumerate(sorted(set(equation) - set("->,")))}
    if extent > 3:
        extents = {letter: size if letter in "aijq" else 4 for letter, size in extents.items()}
    arrays = [small_ints([extents[label] for label in term]) for term in left]
    wanted = np.einsum(equation, *arrays)
    for dtype in (np.float64, np.int64):
        got = st.einsum(equation, *[st.tensor(array.astype(dtype)) for array in arrays])
        assert got.is_contiguous(), dtype
        assert got.tolist() == wanted.tolist(), dtype


@pytest.mark.parametrize(
    ("equation", "view"),
    [
        ("ij->ji", lambda x: x.t()),
        ("ij", lambda x: x),
        ("ii->i", lambda x: x.diagonal()),
        ("...->...", lambda x: x),
        ("i...->...i", lambda x: x.t()),
    ],
)
def test_permutations_and_diagonals_are_views(equation, view):
    x = st.arange(9.0).view(3, 3)
    assert st.einsum(equation, x).is_set_to(view(x))


def test_a_trace_is_a_sum():
    assert st.einsum("ii", st.arange(9).view(3, 3)).item() == 12
    assert st.einsum("bii->b", st.arange(18).view(2, 3, 3)).tolist() == [12, 39]
    assert st.einsum("ij->", st.ones(2, 3, dtype=st.int8)).dtype is st.int8


def test_spaces_lists_and_sublists():
    x, y = st.arange(6.0).view(2, 3), st.arange(12.0).view(3, 4)
    wanted = (x @ y).tolist()
    assert st.einsum(" i j , j k -> i k ", x, y).tolist() == wanted
    assert st.einsum("ij,jk", [x, y]).tolist() == wanted
    assert st.einsum(x, [0, 1], y, [1, 30], [0, 30]).tolist() == wanted
    assert st.einsum(x, [0, 1], y, [1, 2]).tolist() == wanted
    assert st.einsum(x, [..., 1], y, [1, 2], [..., 2]).tolist() == wanted
    assert st.einsum("ij,jk", x.numpy(), y).tolist() == wanted


def test_empty_contractions_are_zero():
    assert st.einsum("ij,jk", st.zeros(2, 0), st.zeros(0, 3)).tolist() == [[0.0] * 3] * 2
    assert st.einsum("i,i->", st.zeros(0), st.zeros(0)).item() == 0
    assert st.einsum("ij,jk", st.zeros(0, 2), st.zeros(2, 3)).shape == (0, 3)


@pytest.mark.parametrize(
    ("equation", "shapes", "message"),
    [
        (
            "ij,jk->ik",
            [(2, 3), (4, 5)],
            r"einsum: label 'j' has extent 3 in operand 0 \('ij', shape 2x3\) and extent 4 in operand 1 \('jk', shape 4x5\)",
        ),
        ("ij,jk->ik", [(2, 1), (4, 5)], "label 'j' has extent 1 in operand 0"),
        ("ij,jk->ik", [(2, 4), (1, 5)], "label 'j' has extent 4 in operand 0 .* and extent 1 in operand 1"),
        ("ii->i", [(2, 3)], r"label 'i' has extents 2 and 3 in operand 0 \('ii', shape 2x3\)"),
        ("...i,...i->...", [(2, 3), (4, 3)], "dim -1 of '...' has extent 2 in operand 0"),
        ("ij->ik", [(2, 3)], "label 'k' of the output 'ik' is in no operand"),
        ("ij->ii", [(2, 3)], "label 'i' is repeated in the output 'ii'"),
        ("ijk->i", [(2, 3)], r"operand 0 has 2 dims \(shape 2x3\), but 'ijk' has 3 labels"),
        ("i->i", [(2, 3)], r"operand 0 has 2 dims \(shape 2x3\), but 'i' has 1 labels"),
        ("ij,jk->ik", [(2, 3)], "'ij,jk->ik' has 2 terms for 1 operands"),
        ("ij", [(2, 3), (3, 2)], "'ij' has 1 terms for 2 operands"),
    ],
)
def test_labels_that_do_not_fit(equation, shapes, message):
    with pytest.raises(st.ShapeError, match=message):
        st.einsum(equation, *map(st.zeros, shapes))


@pytest.mark.parametrize(
    "equation", ["i1->i", "i->j->k", "i....->i", "....i", "..i", "i-j", "ï->i", "i->i.", "...i...->i"]
)
def test_equations_that_are_none(equation):
    with pytest.raises(st.ArgumentError, match="einsum: equation is"):
        st.einsum(equation, st.zeros(2))


@pytest.mark.parametrize(
    "arguments", [(), ("ij",), (st.zeros(2), "i"), (st.zeros(2), [0.5]), (st.zeros(2), [60]), (3, [0])]
)
def test_arguments_that_are_no_operands(arguments):
    with pytest.raises((TypeError, ValueError)):
        st.einsum(*arguments)


def cost_of(equation, shapes, path):
    """Multiplications of a path, counted step by step."""
    terms, output = equation.split("->")[0].split(","), equation.split("->")[1]
    extents = {
        label: n for term, shape in zip(terms, shapes, strict=True) for label, n in zip(term, shape, strict=True)
    }
    left = [set(term) for term in terms]
    total = 0
    for i, j in path:
        pair = left.pop(max(i, j)), left.pop(min(i, j))
        needed = set(output).union(*left) if left else set(output)
        total += math.prod(extents[label] for label in pair[0] | pair[1])
        left.append((pair[0] | pair[1]) & needed)
    assert len(left) == 1
    return total


def all_paths(count):
    if count == 1:
        yield []
        return
    for i in range(count):
        for j in range(i + 1, count):
            for rest in all_paths(count - 1):
                yield [(i, j), *rest]


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk,kl->il", [(10, 2), (2, 10), (10, 2)]),
        ("ij,jk,kl,lm->im", [(10, 20), (20, 3), (3, 40), (40, 5)]),
        ("abc,cd,dea,be->", [(3, 4, 5), (5, 6), (6, 2, 3), (4, 2)]),
    ],
)
def test_up_to_four_operands_have_the_best_path(equation, shapes):
    path, text = st.einsum_path(equation, *map(st.zeros, shapes))
    assert path[0] == "einsum_path"
    best = min(cost_of(equation, shapes, candidate) for candidate in all_paths(len(shapes)))
    assert cost_of(equation, shapes, path[1:]) == best
    assert text.startswith(f"{equation}: {best} multiplications instead of ")


def test_the_path_of_many_operands_is_as_cheap_as_numpys():
    equation, sizes = "ab,bc,cd,de,ef,fg->ag", [7, 50, 3, 60, 2, 40, 5]
    shapes = list(itertools.pairwise(sizes))
    path, _ = st.einsum_path(equation, *map(st.zeros, shapes))
    theirs, _ = np.einsum_path(equation, *map(np.zeros, shapes), optimize="greedy")
    assert cost_of(equation, shapes, path[1:]) <= cost_of(equation, shapes, theirs[1:])


def test_a_long_chain_is_not_contracted_in_one_loop():
    x = st.ones(40, 40, dtype=st.float64)
    got = st.einsum("ab,bc,cd,de,ef->af", x, x, x, x, x)
    assert got[0, 0].item() == 40.0**4


def test_results_do_not_depend_on_the_number_of_threads():
    x, y = st.tensor(RANDOM.standard_normal((40, 30, 20, 10))), st.tensor(RANDOM.standard_normal((20, 30, 50)))
    before = st.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 7):
            st.set_num_threads(threads)
            results.append(memory_of(st.einsum("abcd,cbe->aed", x, y)).tobytes())
        assert results[0] == results[1] == results[2]
    finally:
        st.set_num_threads(before)


TENSORDOT = [
    ((2, 3, 4), (3, 4, 5), 2),
    ((2, 3, 4), (4, 5), 1),
    ((2, 3), (4, 5), 0),
    ((2, 3, 4), (4, 2, 5), ([0, 2], [1, 0])),
    ((2, 3, 4), (4, 2, 5), ([-3], [-2])),
    ((2, 3, 4), (4, 2, 5), (2, 0)),
    ((2, 3), (2, 3), ([0, 1], [0, 1])),
    ((2, 0), (0, 3), 1),
    ((3,), (3,), 1),
]


@pytest.mark.parametrize(("a", "b", "dims"), TENSORDOT)
@pytest.mark.parametrize("name", ["int16", "float64", "float16"])
def test_tensordot(a, b, dims, name):
    a, b = small_ints(a), small_ints(b)
    wanted = np.tensordot(a, b, dims)
    x, y = fresh(to_memory(a, name), name), fresh(to_memory(b, name), name)
    for got in (st.tensordot(x, y, dims), st.tensordot(x, y, dims=dims, out=st.empty(0, dtype=x.dtype))):
        assert got.shape == wanted.shape
        assert got.dtype.name == name
        assert values_of(got).tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("shapes", "dims", "message"),
    [
        (((2, 3), (4, 5)), 1, r"dim 1 of a has extent 3 \(shape 2x3\), but dim 0 of b has extent 4 \(shape 4x5\)"),
        (((2, 1), (4, 5)), 1, "dim 1 of a has extent 1"),
        (((2, 3), (3, 5)), 3, "dims is 3, wanted 0 to 2"),
        (((2, 3), (3, 5)), -1, "dims is -1, wanted 0 to 2"),
        (((2, 3), (3, 5)), ([0, 1], [0]), "dims is 2 dims of a and 1 of b, wanted as many of both"),
        (((2, 2), (2, 2)), ([0, 0], [0, 1]), "dim 0 is named more than once"),
    ],
)
def test_dims_that_do_not_fit(shapes, dims, message):
    with pytest.raises(st.ShapeError, match=f"tensordot: {message}"):
        st.tensordot(*map(st.zeros, shapes), dims)


def test_a_dim_out_of_range_is_an_index_error():
    with pytest.raises(IndexError, match="tensordot: dim 5"):
        st.tensordot(st.zeros(2, 2), st.zeros(2, 2), ([5], [0]))


def slid(x, k, full):
    """Correlation by its definition."""
    if full:
        x = np.pad(x, [(side - 1, side - 1) for side in k.shape])
    windows = np.lib.stride_tricks.sliding_window_view(x, k.shape)
    return (windows * k).sum(tuple(range(x.ndim, 2 * x.ndim)))


@pytest.mark.parametrize("mode", ["V", "F"])
@pytest.mark.parametrize("op", ["conv2", "xcorr2", "conv3", "xcorr3"])
@pytest.mark.parametrize("planes", [((), ()), ((3,), (3,)), ((3,), (2, 3))])
@pytest.mark.parametrize("name", ["int32", "float64", "float16"])
def test_convolutions_of_images_and_volumes(op, mode, planes, name):
    dims = int(op[-1])
    a, k = (
        small_ints((*planes[0], 5, 6, 7)[: len(planes[0]) + dims]),
        small_ints((*planes[1], 2, 3, 1)[: len(planes[1]) + dims]),
    )
    turned = np.flip(k, tuple(range(-dims, 0))) if op.startswith("conv") else k
    full = mode == "F"
    if not planes[0]:
        wanted = slid(a, turned, full)
    elif len(planes[1]) == 1:
        wanted = np.stack([slid(p, q, full) for p, q in zip(a, turned, strict=True)])
    else:
        wanted = np.stack([sum(slid(p, q, full) for p, q in zip(a, each, strict=True)) for each in turned])
    x, y = fresh(to_memory(a, name), name), fresh(to_memory(k, name), name)
    for got in (getattr(st, op)(x, y, mode), getattr(x, op)(y, mode, out=st.empty(0, dtype=x.dtype))):
        assert got.shape == wanted.shape
        assert values_of(got).tolist() == wanted.tolist()


def test_convolutions_that_do_not_fit():
    with pytest.raises(st.ShapeError, match="conv2: k is of shape 3x3, wanted windows of 1 to 2 in dim 0"):
        st.conv2(st.zeros(2, 4), st.zeros(3, 3))
    with pytest.raises(st.ShapeError, match="conv2: k is of shape 4x1x1, wanted 3 planes"):
        st.conv2(st.zeros(3, 2, 2), st.zeros(4, 1, 1))
    with pytest.raises(st.ShapeError, match="xcorr3: x is of shape 2x2, wanted at least 3 dims"):
        st.xcorr3(st.zeros(2, 2), st.zeros(2, 2, 2))
    with pytest.raises(st.ArgumentError, match="conv2: mode is 'S'"):
        st.conv2(st.zeros(2, 2), st.zeros(1, 1), "S")
