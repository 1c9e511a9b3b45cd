"""Products of matrices and vectors against NumPy in higher precision, in every dtype and layout."""

import itertools
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from strategies import COMPLEX, DTYPES, FLOATS, INTS, fresh, memory_dtype, shared, to_memory, to_values, values_of

import strided as st

NUMBERS = DTYPES[1:]
EPSILON = {
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
    "float32": 2.0**-24,
    "float64": 2.0**-53,
    "complex64": 2.0**-24,
    "complex128": 2.0**-53,
}
#: The precision in which a dtype is computed.
COMPUTED = EPSILON | {"float16": 2.0**-24, "bfloat16": 2.0**-24}
RANDOM = np.random.default_rng(15)


def values(name, shape, random=RANDOM):
    """Values of a dtype, as memory. Integers cover the whole range, so that products wrap."""
    if name in INTS:
        info = np.iinfo(name)
        return random.integers(info.min, info.max, shape, dtype=name, endpoint=True)
    drawn = random.standard_normal(shape)
    if name in COMPLEX:
        drawn = drawn + 1j * random.standard_normal(shape)
    return to_memory(drawn, name)


def exact(memory, name):
    """Values in the precision of the model: objects for integers, else longdouble."""
    array = to_values(memory, name)
    if name in INTS:
        return array.astype(object)
    return array.astype(np.clongdouble if name in COMPLEX else np.longdouble)


def wrapped(model, name):
    """Python's ints, wrapped to a dtype."""
    bits = 8 * np.dtype(name).itemsize
    low = 0 if name.startswith("u") else -(1 << (bits - 1))
    flat = [(int(v) - low) % (1 << bits) + low for v in np.asarray(model, dtype=object).reshape(-1)]
    return np.array(flat, dtype=name).reshape(np.shape(model))


def check(got, model, magnitude, terms, name):
    """Compares with a model; errors are bounded by the number of terms and the sum of their magnitudes."""
    assert got.dtype.name == name
    assert tuple(got.shape) == np.shape(model)
    if name in INTS:
        assert values_of(got).tolist() == wrapped(model, name).tolist()
        return
    result = values_of(got).astype(np.clongdouble if name in COMPLEX else np.longdouble)
    bound = (2 * terms + 8) * COMPUTED[name] * np.abs(magnitude) + 2 * EPSILON[name] * np.abs(model) + 1e-30
    if name == "float16":
        bound = bound + 2.0**-24
    assert (np.abs(result - model) <= bound).all(), f"{np.max(np.abs(result - model) / bound)} times the bound"


def product_model(a, b, name):
    a, b = exact(a, name), exact(b, name)
    return np.matmul(a, b), np.matmul(np.abs(a), np.abs(b))


def strided_matrix(name, memory, layout):
    """A tensor with these values and strides of a kind."""
    rows, columns = memory.shape[-2:]
    lead = memory.shape[:-2]
    dtype = memory_dtype(name)
    array = {
        "dense": lambda: np.zeros((*lead, rows, columns), dtype),
        "transposed": lambda: np.zeros((*lead, columns, rows), dtype).swapaxes(-1, -2),
        "stepped": lambda: np.zeros((*lead, 2 * rows, 3 * columns), dtype)[..., ::2, 1::3],
        "reversed": lambda: np.zeros((*lead, rows, columns), dtype)[..., ::-1, ::-1],
        "offset": lambda: np.zeros((*lead, rows + 2, columns + 3), dtype)[..., 1 : rows + 1, 2 : columns + 2],
    }[layout]()
    array[...] = memory
    return shared(array, name)


LAYOUTS = ["dense", "transposed", "stepped", "reversed", "offset"]
SIZES = [(1, 1, 1), (3, 4, 5), (17, 33, 9), (1, 40, 7), (40, 7, 1), (1, 70, 1), (70, 3, 66), (5, 300, 6)]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_mm_in_every_dtype_and_size(name, sizes):
    m, k, n = sizes
    a, b = values(name, (m, k)), values(name, (k, n))
    model, magnitude = product_model(a, b, name)
    check(fresh(a, name).mm(fresh(b, name)), model, magnitude, k, name)


@pytest.mark.parametrize(
    "name", ["uint8", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
)
@pytest.mark.parametrize("layouts", list(itertools.product(LAYOUTS, LAYOUTS)), ids="-".join)
def test_mm_reads_operands_of_any_strides(name, layouts):
    for m, k, n in [(6, 11, 9), (1, 20, 13), (13, 20, 1)]:
        a, b = values(name, (m, k)), values(name, (k, n))
        model, magnitude = product_model(a, b, name)
        x, y = strided_matrix(name, a, layouts[0]), strided_matrix(name, b, layouts[1])
        check(x @ y, model, magnitude, k, name)
        for layout in LAYOUTS:
            out = strided_matrix(name, np.ones((m, n), memory_dtype(name)), layout)
            assert st.mm(x, y, out=out) is out, layout
            check(out, model, magnitude, k, name)


def test_expanded_operands_are_multiplied():
    row, column = st.arange(5.0).view(1, 5), st.arange(4.0).view(4, 1)
    x, y = row.expand(3, 5), column.expand(4, 5).t()
    assert (x @ y).tolist() == (x.numpy() @ y.numpy()).tolist()


RANKS = [
    ((4,), (4,)),
    ((4,), (4, 3)),
    ((3, 4), (4,)),
    ((2, 3, 4), (4,)),
    ((4,), (2, 4, 3)),
    ((2, 3, 4), (4, 5)),
    ((3, 4), (2, 4, 5)),
    ((2, 3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (6, 4, 5)),
    ((7, 1, 2, 3, 4), (1, 5, 2, 4, 2)),
    ((1, 1, 1, 1, 1, 1, 2, 3, 4), (2, 4, 3)),
    ((0, 4), (4, 3)),
    ((3, 0), (0, 4)),
    ((2, 3, 0), (0, 4)),
    ((0, 3, 4), (4, 2)),
    ((0,), (0,)),
    ((3, 0), (0,)),
]


@pytest.mark.parametrize("name", ["int32", "float32", "float16", "complex128"])
@pytest.mark.parametrize("shapes", RANKS, ids=str)
def test_matmul_broadcasts_batches_of_every_rank(name, shapes):
    a, b = values(name, shapes[0]), values(name, shapes[1])
    model, magnitude = product_model(a, b, name)
    for got in (st.matmul(fresh(a, name), fresh(b, name)), fresh(a, name) @ fresh(b, name)):
        check(got, model, magnitude, shapes[0][-1], name)


def test_a_batch_with_permuted_dims_is_multiplied():
    a, b = values("float64", (3, 5, 2, 4)), values("float64", (4, 3, 6, 5))
    x, y = st.tensor(a).permute(1, 0, 2, 3), st.tensor(b).permute(3, 1, 0, 2)
    model, magnitude = product_model(a.transpose(1, 0, 2, 3), b.transpose(3, 1, 0, 2), "float64")
    check(x @ y, model, magnitude, 4, "float64")


@pytest.mark.parametrize("name", ["int64", "float32", "float64", "bfloat16"])
def test_large_products_are_cut_into_blocks(name):
    a, b = values(name, (300, 257)), values(name, (257, 510))
    model, magnitude = product_model(a, b, name) if name not in INTS else (a.astype(name) @ b.astype(name), None)
    check(fresh(a, name) @ fresh(b, name), model, magnitude, 257, name)


@pytest.mark.parametrize("name", ["int32", "float32", "float64", "complex64", "float16"])
def test_the_bits_do_not_depend_on_the_number_of_threads(name):
    random = np.random.default_rng(3)
    cases = [((500, 300), (300, 400)), ((40, 64, 64), (40, 64, 64)), ((2000, 300), (300,)), ((200_000,), (200_000,))]
    before = st.get_num_threads()
    try:
        for shapes in cases:
            x, y = (fresh(values(name, shape, random), name) for shape in shapes)
            results = []
            for threads in (1, 2, 7):
                st.set_num_threads(threads)
                results.append(values_of(x @ y).tobytes())
            assert results[0] == results[1] == results[2]
    finally:
        st.set_num_threads(before)


@pytest.mark.parametrize("name", ["uint16", "float32", "float64", "complex128", "bfloat16"])
def test_dot_of_long_vectors(name):
    for length, step in [(1, 1), (7, 1), (100, -1), (70_000, 1), (200_003, 2)]:
        a, b = values(name, length), values(name, length)
        x, y = fresh(a[::step], name), shared(b[::step], name)
        if name in INTS:
            model, magnitude = np.sum(exact(a[::step], name) * exact(b[::step], name)), None
        else:
            model, magnitude = product_model(a[::step], b[::step], name)
        check(x.dot(y), model, magnitude, length, name)


def test_vdot_conjugates_the_first_vector():
    a, b = values("complex64", 30), values("complex64", 30)
    np.testing.assert_allclose(st.vdot(st.tensor(a), st.tensor(b)).item(), np.vdot(a, b), rtol=1e-5)
    assert st.vdot(st.tensor([1, 2]), st.tensor([3, 4])).item() == 11


def test_mixed_dtypes_are_promoted():
    x, y = st.ones(2, 3, dtype=st.int32), st.full((3, 2), 0.5, dtype=st.float64)
    assert (x @ y).dtype is st.float64
    assert (x @ y).tolist() == [[1.5, 1.5], [1.5, 1.5]]
    half, other = st.ones(2, 2, dtype=st.float16), st.ones(2, 2, dtype=st.bfloat16)
    assert (half @ other).dtype is st.float32


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_are_rounded_once(name):
    k = 5000
    a = to_memory(np.ones((1, k)), name)
    assert (fresh(a, name) @ fresh(a.T.copy(), name)).item() == values_of(st.tensor([float(k)]).to(getattr(st, name)))[
        0
    ]


def test_bools_are_refused():
    x = st.ones(2, 2, dtype=st.bool)
    for call in (lambda: x @ x, lambda: x.mm(x), lambda: st.einsum("ij,jk", x, x)):
        with pytest.raises(st.DTypeError, match="bool, wanted a number"):
            call()


def test_the_operator_takes_arrays_and_leaves_other_objects_alone():
    x = st.arange(4.0).view(2, 2)
    array = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    assert isinstance(x @ array, st.Tensor)
    assert (x @ array).tolist() == (x.numpy() @ array).tolist()
    for other in (2.0, "text", None):
        with pytest.raises(TypeError):
            operator.matmul(x, other)
        with pytest.raises(TypeError):
            operator.matmul(other, x)

    class Other:
        def __rmatmul__(self, left):
            return "mine"

    assert x @ Other() == "mine"


def test_matmul_assignment_binds_a_new_tensor():
    x = y = st.arange(4.0).view(2, 2)
    x @= st.ones(2, 3)
    assert x.shape == (2, 3)
    assert y.tolist() == [[0.0, 1.0], [2.0, 3.0]]


@pytest.mark.parametrize("name", ["int32", "float32", "float64", "complex64"])
def test_an_out_that_overlaps_an_operand_gets_the_product(name):
    a = values(name, (6, 6))
    x = fresh(a, name)
    model, magnitude = product_model(a, a, name)
    check(st.mm(x, x, out=x), model, magnitude, 6, name)
    for part in (lambda t: t[1:5, 1:5], lambda t: t[:4, :4].t(), lambda t: t.flip(0)[:4, 2:]):
        x = fresh(a, name)
        model, magnitude = product_model(a[:4, :4], a[:4, :4].T, name)
        out = part(x)
        st.mm(x[:4, :4], x[:4, :4].t(), out=out)
        check(out, model, magnitude, 4, name)


def test_outputs():
    x = st.ones(2, 3)
    out = st.empty(0)
    assert st.mm(x, x.t(), out=out) is out
    assert out.tolist() == [[3.0, 3.0], [3.0, 3.0]]
    wide = st.zeros(2, 2, dtype=st.float64)
    assert st.mm(x, x.t(), out=wide).tolist() == [[3.0, 3.0], [3.0, 3.0]]
    with pytest.raises(st.ShapeError, match="mm: out has shape 3x3, wanted 2x2"):
        st.mm(x, x.t(), out=st.zeros(3, 3))
    with pytest.raises(st.DTypeError, match="float32 result cannot be stored into int64"):
        st.mm(x, x.t(), out=st.zeros(2, 2, dtype=st.int64))
    with pytest.raises(st.ShapeError, match="share memory"):
        st.mm(x, x.t(), out=st.zeros(2, 1).expand(2, 2))


ADDED = {
    "addmm": (((5, 6), (6, 7)), (5, 7), lambda a, b: a @ b),
    "addmv": (((5, 6), (6,)), (5,), lambda a, b: a @ b),
    "addr": (((5,), (7,)), (5, 7), np.multiply.outer),
    "baddbmm": (((3, 5, 6), (3, 6, 7)), (3, 5, 7), lambda a, b: a @ b),
    "addbmm": (((3, 5, 6), (3, 6, 7)), (5, 7), lambda a, b: (a @ b).sum(0)),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("op", ADDED)
@pytest.mark.parametrize("factors", [(None, None), (2, 3), (0, 1), (1, 0), (0, 0)], ids=str)
def test_products_that_are_added(op, name, factors):
    shapes, shape, model_of = ADDED[op]
    a, b, c = (values(name, s) for s in (*shapes, shape))
    words = {word: factor for word, factor in zip(("beta", "alpha"), factors, strict=True) if factor is not None}
    beta, alpha = (1 if factor is None else factor for factor in factors)
    x, y, z = exact(a, name), exact(b, name), exact(c, name)
    model = beta * z + alpha * model_of(x, y)
    magnitude = abs(beta) * np.abs(z) + abs(alpha) * model_of(np.abs(x), np.abs(y))
    tensors = [fresh(memory, name) for memory in (c, a, b)]
    check(getattr(st, op)(*tensors, **words), model, magnitude, 30, name)
    check(getattr(tensors[0], op)(*tensors[1:], **words), model, magnitude, 30, name)
    out = fresh(np.zeros(shape, memory_dtype(name)), name)
    assert getattr(st, op)(*tensors, **words, out=out) is out
    check(out, model, magnitude, 30, name)
    assert getattr(tensors[0], op + "_")(*tensors[1:], **words) is tensors[0]
    check(tensors[0], model, magnitude, 30, name)


@pytest.mark.parametrize("op", ADDED)
def test_a_beta_of_0_ignores_the_input(op):
    shapes, shape, model_of = ADDED[op]
    a, b = (values("float32", s) for s in shapes)
    got = getattr(st.full(shape, float("nan")), op + "_")(st.tensor(a), st.tensor(b), beta=0)
    np.testing.assert_allclose(got.numpy(), model_of(a, b), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op", ADDED)
def test_sums_of_nothing_are_beta_times_the_input(op):
    shapes, shape, _ = ADDED[op]
    if op == "addr":
        return
    empty = [tuple(0 if size == 6 else size for size in s) for s in shapes]
    x = st.ones(shape)
    assert (getattr(x, op)(*map(st.zeros, empty), beta=3) == 3).all()
    assert (getattr(x, op)(*map(st.zeros, empty), beta=0) == 0).all()


def test_the_input_of_addmm_is_broadcast():
    a, b = st.ones(2, 3), st.ones(3, 4)
    assert st.addmm(st.arange(4.0), a, b).tolist() == [[3.0, 4.0, 5.0, 6.0]] * 2
    assert st.addmm(st.tensor(1.0), a, b).tolist() == [[4.0] * 4] * 2
    with pytest.raises(st.ShapeError, match="addmm"):
        st.addmm(st.ones(3), a, b)
    with pytest.raises(st.ShapeError, match="addmm_"):
        st.arange(4.0).addmm_(a, b)


def test_the_operands_of_addmm_may_be_its_output():
    a = values("float64", (4, 4))
    x = st.tensor(a)
    np.testing.assert_allclose(x.addmm_(x, x.t(), beta=2, alpha=-1).numpy(), 2 * a - a @ a.T)


def test_factors_must_fit_the_dtype():
    x = st.ones(2, 2, dtype=st.int64)
    with pytest.raises(st.DTypeError, match="addmm: alpha is a float"):
        x.addmm(x, x, alpha=0.5)
    with pytest.raises(st.DTypeError, match="addmm: beta is complex"):
        x.double().addmm(x, x, beta=1j)
    with pytest.raises(OverflowError, match="addmm"):
        x.to(st.uint8).addmm(x.to(st.uint8), x.to(st.uint8), beta=300)
    z = x.to(st.complex128)
    assert z.addmm(z, z, beta=1j, alpha=2).tolist() == [[4 + 1j] * 2] * 2


@pytest.mark.parametrize("name", DTYPES)
def test_outer_products(name):
    a, b = (np.array([True, False, True]),) * 2 if name == "bool" else (values(name, 5), values(name, 7))
    x, y = fresh(a, name), fresh(b, name)
    wanted = x[:, None] * y
    for got in (x.outer(y), st.ger(x, y), st.outer(x, y, out=st.empty(0, dtype=x.dtype))):
        assert values_of(got).tobytes() == values_of(wanted).tobytes()


@pytest.mark.parametrize(
    "shapes", [((3,), (4,)), ((2, 3), (4, 5)), ((2, 3), (4,)), ((2,), (3, 4, 2)), ((), (2, 2)), ((2, 0), (3, 2))]
)
def test_kron(shapes):
    a, b = (values("int32", shape) // 100_000 for shape in shapes)
    got = st.kron(st.tensor(a), st.tensor(b))
    assert got.shape == np.kron(a, b).shape
    assert got.tolist() == np.kron(a, b).tolist()


@pytest.mark.parametrize(
    "shapes", [((3,), (3,)), ((2, 3), (3,)), ((2, 3), (4, 3)), ((2, 4, 3), (5, 3)), ((), (2, 2)), ((2, 0), (3, 0))]
)
def test_inner(shapes):
    a, b = (values("float64", shape) for shape in shapes)
    got = st.inner(st.tensor(a), st.tensor(b))
    assert got.shape == np.inner(a, b).shape
    np.testing.assert_allclose(got.numpy(), np.inner(a, b), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "shapes",
    [[(2, 30), (30, 4)], [(2, 30), (30, 4), (4, 50)], [(9,), (9, 4), (4, 50), (50,)], [(3, 1), (1, 0), (0, 2)]],
)
@pytest.mark.parametrize("name", ["int64", "float64", "float16"])
def test_multi_dot(shapes, name):
    arrays = [values(name, shape) // 7 if name in INTS else values(name, shape) for shape in shapes]
    wanted = np.linalg.multi_dot([to_values(a, name).astype(object if name in INTS else np.float64) for a in arrays])
    got = st.multi_dot([fresh(a, name) for a in arrays])
    assert got.dtype.name == name
    assert got.shape == np.shape(wanted)
    if name in INTS:
        assert got.tolist() == wrapped(wanted, name).tolist()
    else:
        scale = np.max(np.abs(wanted), initial=1.0)
        np.testing.assert_allclose(
            got.numpy().astype(float), wanted, atol=2e-3 * scale if name == "float16" else 1e-12 * scale
        )
    if all(len(shape) == 2 for shape in shapes):
        assert values_of(st.chain_matmul(*[fresh(a, name) for a in arrays])).tobytes() == values_of(got).tobytes()


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0, 3.0, float("inf")])
def test_cdist(name, p):
    a, b = values(name, (2, 1, 9, 5)), values(name, (3, 30, 5))
    x, y = (to_values(v, name).astype(np.float64) for v in (a, b))
    wanted = np.linalg.norm((x[..., :, None, :] - y[..., None, :, :]), ord=None, axis=-1) if p == 2.0 else None
    if wanted is None:
        differences = np.abs(x[..., :, None, :] - y[..., None, :, :])
        wanted = {
            0.0: lambda: (differences != 0).sum(-1).astype(float),
            float("inf"): lambda: differences.max(-1),
        }.get(p, lambda: (differences**p).sum(-1) ** (1 / p))()
    got = st.cdist(fresh(a, name), fresh(b, name), p)
    assert got.dtype.name == name
    np.testing.assert_allclose(
        values_of(got).astype(float), wanted, rtol=max(40 * COMPUTED[name], 2 * EPSILON[name]), atol=1e-7
    )


def test_cdist_of_close_rows_keeps_its_digits():
    x = st.full((30, 2), 1000.0)
    y = x.clone()
    y[:, 0] += 0.0009765625
    assert st.cdist(x, y).max().item() == 0.0009765625


@given(m=hs.integers(0, 40), n=hs.integers(0, 40), k=hs.integers(0, 40), data=hs.data())
@settings(max_examples=150, deadline=None)
def test_products_of_views(m, n, k, data):
    name = data.draw(hs.sampled_from(["int16", "float32", "complex128"]))
    layouts = [data.draw(hs.sampled_from(LAYOUTS)) for _ in range(3)]
    a, b = values(name, (m, k)), values(name, (k, n))
    model, magnitude = product_model(a, b, name) if k else (np.zeros((m, n), object if name in INTS else float),) * 2
    out = strided_matrix(name, np.zeros((m, n), memory_dtype(name)), layouts[2])
    if m * n:
        st.mm(strided_matrix(name, a, layouts[0]), strided_matrix(name, b, layouts[1]), out=out)
        check(out, model, magnitude, k, name)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: st.ones(2, 3) @ st.ones(4, 5),
            "matmul: other is of shape 4x5, wanted 3 rows, as input of shape 2x3 has columns",
        ),
        (lambda: st.ones(3) @ st.ones(4), "matmul: other is of shape 4, wanted 3 rows, as input has 3 elements"),
        (lambda: st.tensor(1.0) @ st.ones(4), "matmul: input is a tensor without dims, wanted at least 1 dim"),
        (lambda: st.ones(2, 2, 3) @ st.ones(3, 3, 2), "matmul: shapes 2 and 3 do not broadcast"),
        (lambda: st.ones(2).mm(st.ones(2, 2)), "mm: input is of shape 2, wanted 2 dims"),
        (lambda: st.ones(2, 2).mm(st.ones(3, 2)), "mm: mat2 is of shape 3x2, wanted 2 rows"),
        (lambda: st.ones(2, 2, 2).bmm(st.ones(3, 2, 2)), "bmm: mat2 is of shape 3x2x2, wanted 2 matrices"),
        (lambda: st.ones(2, 2).mv(st.ones(2, 2)), "mv: vec is of shape 2x2, wanted 1 dim"),
        (lambda: st.ones(2).dot(st.ones(2, 2)), "dot: tensor is of shape 2x2, wanted 1 dim"),
        (lambda: st.ones(2).dot(st.ones(3)), "dot: tensor is of shape 3, wanted 2 rows"),
        (lambda: st.multi_dot([st.ones(2, 2)]), "multi_dot: tensors is a list of 1, wanted at least 2 matrices"),
        (
            lambda: st.multi_dot([st.ones(2, 2), st.ones(3, 2)]),
            r"multi_dot: tensors\[1\] is of shape 3x2, wanted 2 rows",
        ),
        (lambda: st.cdist(st.ones(2, 3), st.ones(2, 4)), "cdist: x2 is of shape 2x4, wanted 3 columns"),
    ],
)
def test_shapes_that_do_not_fit(call, message):
    with pytest.raises(st.ShapeError, match=message):
        call()


def test_uint64_and_a_signed_integer_have_no_product():
    with pytest.raises(st.DTypeError, match="no dtype holds both"):
        st.ones(2, 2, dtype=st.uint64) @ st.ones(2, 2, dtype=st.int8)


def test_an_output_beyond_the_address_space_is_refused():
    huge = st.zeros(1, 1).expand(2**40, 1)
    with pytest.raises(st.ShapeError, match="exceeds the address space"):
        huge @ huge.t()
    with pytest.raises(st.ShapeError, match="exceeds the address space"):
        st.kron(huge, huge)
