"""The test matrix: rows of the op table x dtype x layout x form, bit for bit against NumPy."""

import operator

import numpy as np
import op_rows
import pytest
from hypothesis import given
from hypothesis import strategies as hs
from strategies import (
    COMPLEX,
    DTYPES,
    FLOATS,
    INTS,
    LAYOUTS,
    assert_same,
    dtypes,
    fresh,
    laid_out,
    memory_of,
    ordinary,
    shared,
    to_memory,
    to_values,
    values_of,
)

import strided as st
from strided.testing import broadcastable_shapes, shapes

# The rows that NumPy computes in the same type; test_elementwise.py has the others.
EXACT = ["add", "sub", "mul", "div", "neg", "abs", "eq", "ne", "lt", "le", "gt", "ge"]
OPS = {name: op_rows.OPS[name] for name in EXACT}
BINARY = [name for name, row in OPS.items() if row.arity == 2]
UNARY = [name for name, row in OPS.items() if row.arity == 1]
COMPARISONS = [name for name, row in OPS.items() if row.result == "bool"]

NUMPY = {
    "sub": "subtract",
    "mul": "multiply",
    "div": "true_divide",
    "neg": "negative",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "-x": operator.neg,
    "abs": operator.abs,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
IN_PLACE = {"+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv}

# Rounded by us and by NumPy, but possibly in different directions: bounds in ULP of the larger part.
ULPS = {("div", "complex64"): 4, ("div", "complex128"): 4, ("abs", "complex64"): 1, ("abs", "complex128"): 1}


def category(name):
    return 0 if name == "bool" else 1 if name in INTS else 2 if name in FLOATS else 3


def takes(op, name):
    """Whether an operation's class contains a dtype."""
    return {"any": True, "field": True, "num": name != "bool", "real": name not in COMPLEX}[OPS[op].accepts]


def operand_dtype(op, common):
    """The dtype the operation works in: integers divide as the default float."""
    return "float32" if OPS[op].accepts == "field" and category(common) < 2 else common


def result_dtype(op, common):
    rule, worked = OPS[op].result, operand_dtype(op, common)
    if rule == "bool":
        return "bool"
    if rule == "part":
        return {"complex64": "float32", "complex128": "float64"}.get(worked, worked)
    return worked


def in_dtype(values, name):
    """Values in a dtype; those of halves as float32, in which they are computed."""
    found = to_values(to_memory(values, name), name)
    return found.astype(np.float32) if name == "float16" else found


def expected(op, common, *operands):
    """The values of an operation on values that are to be computed in the common dtype."""
    worked = operand_dtype(op, common)
    function = getattr(np, NUMPY.get(op, op))
    with np.errstate(all="ignore"):
        found = function(*(in_dtype(v, worked) for v in operands))
        name = result_dtype(op, common)
        return to_values(to_memory(found, name), name)


def assert_matches(x, op, common, wanted, context=""):
    name = result_dtype(op, common)
    ulps = ULPS.get((op, operand_dtype(op, common)))
    if ulps is None:
        assert_same(x, wanted, name, f"{op} {common} {context}")
        return
    got = values_of(x)
    assert (x.dtype.name, got.shape) == (name, wanted.shape), context
    with np.errstate(all="ignore"):
        finite = np.isfinite(wanted)
        size = np.maximum(np.abs(wanted.real), np.abs(wanted.imag))
        allowed = ulps * np.spacing(size[finite])
        assert (np.abs(got - wanted)[finite] <= allowed).all(), context
        assert not np.isfinite(got[~finite]).any(), context


def arguments(op, name, layout, right="dense"):
    """Tensors of a layout for an operation, and their values."""
    shape = LAYOUTS[layout][0]
    own = (1, shape[1]) if layout == "stride 0" else shape
    tensors = [laid_out(layout, ordinary(name, own, 1), name)]
    if op in BINARY:
        memory = ordinary(name, shape, 2)
        tensors.append(laid_out(right, memory, name) if LAYOUTS[right][0] == shape else fresh(memory, name))
    return tensors, [values_of(x).copy() for x in tensors]


CASES = [(op, name) for op in OPS for name in DTYPES]
GOOD = [(op, name) for op, name in CASES if takes(op, name)]
REFUSED = [(op, name) for op, name in CASES if not takes(op, name)]


def test_the_table_is_the_module():
    for op, row in OPS.items():
        for function in (getattr(st, op), getattr(st.Tensor, op)):
            assert " ".join(row.doc.split()) in " ".join(function.__doc__.split())  # lines may break elsewhere
        assert hasattr(st.Tensor, f"{op}_")


@pytest.mark.parametrize(("op", "name"), GOOD)
def test_new(op, name):
    for layout in LAYOUTS:
        for right in ("dense", "column-major", "negative", "step 2"):
            tensors, values = arguments(op, name, layout, right)
            wanted = expected(op, name, *values)
            context = f"{layout}, {right}"
            assert_matches(getattr(st, op)(*tensors), op, name, wanted, f"function: {context}")
            assert_matches(getattr(tensors[0], op)(*tensors[1:]), op, name, wanted, f"method: {context}")
            if op in UNARY:
                break


def test_every_row_has_its_operator():
    assert sorted(OPS[op].operator for op in EXACT) == sorted(OPERATORS)


@pytest.mark.parametrize(("op", "name"), GOOD)
def test_operator(op, name):
    function = OPERATORS[OPS[op].operator]
    for layout in LAYOUTS:
        tensors, values = arguments(op, name, layout)
        assert_matches(function(*tensors), op, name, expected(op, name, *values), layout)


@pytest.mark.parametrize(("op", "name"), GOOD)
def test_out(op, name):
    result = result_dtype(op, name)
    for layout in LAYOUTS:
        tensors, values = arguments(op, name, layout)
        wanted = expected(op, name, *values)
        for out_layout in ("dense", "column-major", "negative", "step 2", "offset", layout):
            shape = LAYOUTS[out_layout][0]
            if shape != wanted.shape:
                continue
            out = laid_out(out_layout, np.zeros((), "uint8"), result)
            if out_layout == "stride 0":
                with pytest.raises(st.ShapeError, match=f"^{op}: .*share memory"):
                    getattr(st, op)(*tensors, out=out)
                assert not memory_of(out).any(), (layout, out_layout)
                continue
            assert getattr(st, op)(*tensors, out=out) is out, (layout, out_layout)
            assert_matches(out, op, name, wanted, f"{layout} into {out_layout}")


# Integers do not divide in place, see below.
IN_PLACE_CASES = [(op, name) for op, name in GOOD if category(result_dtype(op, name)) <= category(name)]


@pytest.mark.parametrize(("op", "name"), IN_PLACE_CASES)
def test_in_place(op, name):
    for layout in LAYOUTS:
        tensors, values = arguments(op, name, layout)
        x = tensors[0]
        if layout == "stride 0":
            before = memory_of(x).copy()
            with pytest.raises(st.ShapeError, match=f"^{op}_?: .*share memory"):
                getattr(x, f"{op}_")(*tensors[1:])
            assert memory_of(x).tobytes() == before.tobytes(), layout
            continue
        pointer = x.data_ptr()
        assert getattr(x, f"{op}_")(*tensors[1:]) is x, layout
        assert x.data_ptr() == pointer, layout
        found = expected(op, name, *values)
        if result_dtype(op, name) == name:
            assert_matches(x, op, name, found, layout)
        elif name not in COMPLEX:  # a comparison, or the magnitude, in the tensor's own dtype
            assert_same(x, to_values(to_memory(found, name), name), name, f"{op}_ {layout}")
        else:
            assert np.allclose(values_of(x), found, equal_nan=True), layout


@pytest.mark.parametrize(("op", "name"), [(op, name) for op, name in IN_PLACE_CASES if OPS[op].operator in IN_PLACE])
def test_in_place_operator(op, name):
    for layout in set(LAYOUTS) - {"stride 0"}:
        tensors, values = arguments(op, name, layout)
        x = IN_PLACE[OPS[op].operator](*tensors)
        assert x is tensors[0], layout
        assert_matches(x, op, name, expected(op, name, *values), layout)


@pytest.mark.parametrize(("op", "name"), [(op, name) for op, name in GOOD if result_dtype(op, name) == name])
def test_overlapping_out(op, name):
    """The result in an output that overlaps an operand is as if all operands were read first."""
    shape = (6, 6)
    cases = {
        "shifted down": (lambda x: x[1:], lambda x: x[:-1]),
        "shifted up": (lambda x: x[:-1], lambda x: x[1:]),
        "shifted by one": (lambda x: x.reshape(36)[1:], lambda x: x.reshape(36)[:-1]),
        "transposed": (lambda x: x, lambda x: x.T),
        "backwards": (lambda x: x, lambda x: x[::-1, ::-1]),
        "every other": (lambda x: x.reshape(36)[::2], lambda x: x.reshape(36)[:18]),
        "a row": (lambda x: x, lambda x: x[2]),
    }
    for case, (to, of) in cases.items():
        memory = ordinary(name, shape, 5)
        x = fresh(memory, name)
        base = values_of(fresh(memory, name))
        out, operand = to(x), of(x)
        if op in BINARY:
            other = fresh(ordinary(name, tuple(out.shape), 6), name)
            if operand.shape != out.shape:
                wanted = expected(op, name, np.broadcast_to(of(base), to(base).shape), values_of(other))
            else:
                wanted = expected(op, name, of(base), values_of(other))
            getattr(st, op)(operand, other, out=out)
        else:
            if operand.shape != out.shape:
                continue
            wanted = expected(op, name, of(base))
            getattr(st, op)(operand, out=out)
        assert_matches(out, op, name, wanted, case)


@pytest.mark.parametrize("op", [op for op in BINARY if op in ("add", "sub", "mul")])
def test_a_tensor_with_its_own_transpose_in_place(op):
    x = st.arange(900, dtype=st.float32).view(30, 30)
    a = x.numpy().copy()
    getattr(x, f"{op}_")(x.t())
    assert_same(x, expected(op, "float32", a, a.T), "float32")


@pytest.mark.parametrize(("op", "name"), REFUSED)
def test_refused(op, name):
    tensors, _ = arguments(op, name, "dense")
    before = [memory_of(x).copy() for x in tensors]
    forms = [getattr(st, op), getattr(st.Tensor, op), getattr(st.Tensor, f"{op}_"), OPERATORS[OPS[op].operator]]
    for call in forms:
        with pytest.raises(st.DTypeError, match=f"^{op}_?: .*{name}"):
            call(*tensors)
    assert all(memory_of(x).tobytes() == b.tobytes() for x, b in zip(tensors, before, strict=True))


@pytest.mark.parametrize("name", ["bool", *INTS])
def test_integers_do_not_divide_in_place(name):
    x = fresh(ordinary(name, (5,), 1), name)
    before = x.tolist()
    for divide in (lambda: x.div_(x), lambda: operator.itruediv(x, 2), lambda: st.div(x, x, out=x)):
        with pytest.raises(st.DTypeError, match=f"^div_?: .*float32.*{name}"):
            divide()
    assert x.tolist() == before


def test_bool_adds_by_or_and_multiplies_by_and():
    x, y = st.tensor([True, True, False, False]), st.tensor([True, False, True, False])
    assert (x + y).tolist() == [True, True, True, False]
    assert (x * y).tolist() == [True, False, False, False]
    assert abs(x).tolist() == x.tolist()


@pytest.mark.parametrize("name", INTS)
def test_integers_wrap(name):
    low, high = np.iinfo(name).min, np.iinfo(name).max
    x = st.tensor([low, high], dtype=name)
    assert (x + 1).tolist() == [low + 1, low]
    assert (x - 1).tolist() == [high, high - 1]
    assert (x * x).tolist() == [low * low % (high - low + 1), 1 if low else high * high % (high + 1)]
    if low:
        assert (-x).tolist() == [low, -high]
        assert abs(x).tolist() == [low, high]
    else:
        assert (-x).tolist() == [0, 1]


LARGE = (3, 70_001)


@pytest.mark.parametrize(
    ("op", "name"), [(op, name) for op, name in GOOD if name in ("uint8", "int64", "bfloat16", "float32")]
)
def test_large(op, name):
    """Large enough for threads, with sizes that leave a tail."""
    a, b = ordinary(name, LARGE, 1), ordinary(name, LARGE, 2)
    operands = [fresh(a, name), fresh(np.ascontiguousarray(b.T), name).t()][: OPS[op].arity]
    wanted = expected(op, name, *[values_of(x) for x in operands])
    assert_matches(getattr(st, op)(*operands), op, name, wanted)


# Python's numbers are weak: they raise the category, never the width.

NUMBERS = [True, 3, 0.1, 2.5 + 1j]


def with_number(name, number):
    level = {bool: 0, int: 1, float: 2, complex: 3}[type(number)]
    if level <= category(name):
        return name
    if level == 1:
        return "int64"
    if level == 2:
        return "float32"
    return "complex128" if name == "float64" else "complex64"


@pytest.mark.parametrize(("op", "name"), [(op, name) for op, name in CASES if op in BINARY])
def test_with_python_numbers(op, name):
    function = OPERATORS[OPS[op].operator]
    memory = ordinary(name, (5, 9), 3)
    x, values = fresh(memory, name), to_values(memory, name)
    for number in NUMBERS:
        common = with_number(name, number)
        if not takes(op, common):
            mirrored = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}.get(op, op)  # Python turns 1 < x into x > 1
            for call, left, right, called in (
                (function, x, number, op),
                (function, number, x, mirrored),
                (getattr(st, op), number, x, op),
            ):
                with pytest.raises(st.DTypeError, match=f"^{called}: "):
                    call(left, right)
            continue
        right = np.full(values.shape, number)
        if op == "mul" and common in COMPLEX and not np.isfinite(values).all():
            continue
        tolerant = common in COMPLEX and op in ("mul", "div")
        for got, wanted in (
            (function(x, number), expected(op, common, values, right)),
            (getattr(x, op)(number), expected(op, common, values, right)),
            (getattr(st, op)(x, number), expected(op, common, values, right)),
            (function(number, x), expected(op, common, right, values)),
            (getattr(st, op)(number, x), expected(op, common, right, values)),
        ):
            if tolerant:
                assert got.dtype.name == result_dtype(op, common)
                ok = np.isfinite(wanted) & np.isfinite(values)
                assert np.allclose(values_of(got)[ok], wanted[ok], rtol=1e-6), (number, got, wanted)
            else:
                assert_matches(got, op, common, wanted, f"with {number}")


def test_numpy_scalars_and_tensors_without_dimension_count_fully():
    x = st.zeros(2, dtype=st.float32)
    assert (x + np.float64(1)).dtype is st.float64
    assert (np.float64(1) + x).dtype is st.float64
    assert (x + st.tensor(1.0, dtype=st.float64)).dtype is st.float64
    assert (st.zeros(2, dtype=st.uint8) + np.int64(1)).dtype is st.int64
    assert (st.zeros(2, dtype=st.uint8) + np.int64(300)).tolist() == [300, 300]
    assert (st.zeros(2, dtype=st.uint8) + st.tensor(300)).tolist() == [300, 300]
    assert (st.zeros(2, dtype=st.float16) + np.float32(1)).dtype is st.float32


# Promotion, written out by hand: rows and columns in the order of DTYPES; '!' is refused.

SHORT = dict(
    b="bool", B="uint8", H="uint16", I="uint32", Q="uint64", c="int8", h="int16", i="int32", q="int64",
    e="float16", t="bfloat16", f="float32", d="float64", F="complex64", D="complex128",
)  # fmt: skip
TABLE = """
b B H I Q c h i q e t f d F D
B B H I Q h h i q e t f d F D
H H H I Q i i i q e t f d F D
I I I I Q q q q q e t f d F D
Q Q Q Q Q ! ! ! ! e t f d F D
c h i q ! c h i q e t f d F D
h h i q ! h h i q e t f d F D
i i i q ! i i i q e t f d F D
q q q q ! q q q q e t f d F D
e e e e e e e e e e f f d F D
t t t t t t t t t f t f d F D
f f f f f f f f f f f f d F D
d d d d d d d d d d d d d D D
F F F F F F F F F F F F D F D
D D D D D D D D D D D D D D D
"""
PROMOTED = {
    (left, right): SHORT.get(letter)
    for left, line in zip(DTYPES, TABLE.strip().splitlines(), strict=True)
    for right, letter in zip(DTYPES, line.split(), strict=True)
}
PAIRS = list(PROMOTED)


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_promotion(left, right):
    wanted = PROMOTED[left, right]
    assert PROMOTED[right, left] == wanted, "the table is symmetric"
    x, y = fresh(ordinary(left, (3, 11), 1), left), fresh(ordinary(right, (3, 11), 2), right)
    if wanted is None:
        for op in BINARY:
            if OPS[op].accepts == "field":  # computed as floats, it needs no integer dtype
                a, b = values_of(x), values_of(y)
                assert_matches(getattr(x, op)(y), op, "int64", expected(op, "int64", a, b), f"{left} {right}")
                continue
            with pytest.raises(st.DTypeError, match=f"^{op}: .*{left}.*{right}"):
                getattr(x, op)(y)
        with pytest.raises(st.DTypeError):
            st.promote_types(left, right)
        return
    assert st.promote_types(left, right).name == wanted
    assert st.result_type(x, y).name == wanted
    for op in BINARY:
        if not takes(op, wanted):
            with pytest.raises(st.DTypeError, match=f"^{op}: "):
                getattr(x, op)(y)
            continue
        a, b = values_of(x), values_of(y)
        if wanted in COMPLEX and op in ("mul", "div"):
            a = np.where(np.isfinite(a), a, 1).astype(a.dtype)
            b = np.where(np.isfinite(b) & (b != 0), b, 1).astype(b.dtype)
            got = getattr(fresh(to_memory(a, left), left), op)(fresh(to_memory(b, right), right))
            assert got.dtype.name == wanted
            model = expected(op, wanted, a, b)
            error = np.abs(values_of(got) - model)
            rtol = 1e-6 if wanted == "complex64" else 1e-14
            size = np.abs(b.astype(wanted))
            assert (error <= rtol * np.abs(a.astype(wanted)) * np.maximum(size, 1 / size)).all()
        else:
            assert_matches(getattr(x, op)(y), op, wanted, expected(op, wanted, a, b), f"{left} {right}")


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_in_place_keeps_the_dtype_or_refuses(left, right):
    common = PROMOTED[left, right]
    x, y = fresh(ordinary(left, (13,), 1), left), fresh(ordinary(right, (13,), 2), right)
    a, b = values_of(x).copy(), values_of(y)
    if common is None or category(common) > category(left):
        before = memory_of(x).copy()
        with pytest.raises(st.DTypeError, match=r"^add_?: "):
            x += y
        assert memory_of(x).tobytes() == before.tobytes()
        return
    x += y
    with np.errstate(all="ignore"):
        # The result in the common dtype, then cast into the tensor's.
        total = in_dtype(a, common) + in_dtype(b, common)
    if left == common or category(left) != 2:
        assert_same(x, to_values(to_memory(total, left), left), left)
    else:
        once, twice = to_memory(total, left), to_memory(to_values(to_memory(total, common), common), left)
        got = values_of(x)
        for i in range(13):
            options = [to_values(once, left)[i], to_values(twice, left)[i]]
            assert got[i] in options or (np.isnan(got[i]) and np.isnan(options[0]))


@pytest.mark.parametrize("op", COMPARISONS)
@pytest.mark.parametrize("name", INTS)
def test_comparing_with_any_int_is_right(op, name):
    low, high = int(np.iinfo(name).min), int(np.iinfo(name).max)
    values = [low, low + 1, 0, 1, high - 1, high]
    x = st.tensor(values, dtype=name)
    function = OPERATORS[OPS[op].operator]
    for number in (low - 1, high + 1, -1, -(2**63) - 1, 2**63, 2**64, -(2**70), 10**400, -(10**400), *values):
        assert function(x, number).tolist() == [function(v, number) for v in values], number
        assert function(number, x).tolist() == [function(number, v) for v in values], number


@pytest.mark.parametrize("op", COMPARISONS)
@pytest.mark.parametrize("name", FLOATS)
def test_comparing_floats_with_huge_ints_is_right(op, name):
    values = [-np.inf, -3.0, 0.0, 3.0, np.inf, np.nan]
    x = st.tensor(values, dtype=name)
    function = OPERATORS[OPS[op].operator]
    for number in (10**30, 10**400, -(10**400)):
        assert function(x, number).tolist() == [function(v, number) for v in values], number


@given(hs.data())
def test_broadcasting(data):
    name = data.draw(dtypes)
    shape = data.draw(shapes(max_dims=5, max_side=4))
    op = data.draw(hs.sampled_from([op for op in BINARY if takes(op, name) and (op, name) not in ULPS]))
    a, b = (ordinary(name, data.draw(broadcastable_shapes(shape)), seed) for seed in (1, 2))
    order = data.draw(hs.permutations(range(b.ndim)))
    b = np.ascontiguousarray(b.transpose(order)).transpose(np.argsort(order)) if b.ndim else b
    x, y = fresh(a, name), shared(b, name)
    assert_matches(getattr(x, op)(y), op, name, expected(op, name, to_values(a, name), to_values(b, name)))


@pytest.mark.parametrize("default", ["float64", "float16", "bfloat16"])
def test_the_default_float_decides_integer_division(default, default_dtype):
    st.set_default_dtype(default)
    assert (st.tensor([1, 2]) / st.tensor([3, 3])).dtype.name == default
    assert (st.tensor([1, 2]) + 0.5).dtype.name == default
    assert (st.zeros(2, dtype=st.float32) + 0.5).dtype is st.float32
