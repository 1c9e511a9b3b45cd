"""`strided.testing`: the distance in ULP, the comparisons and their messages, and the values that strategies draw."""

import cmath
import fractions
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as hs
from strategies import COMPLEX, DTYPES, FLOATS, INTS, fresh, is_same, memory_dtype, memory_of, ordinary, values_of

import strided as st
from strided import testing
from strided.testing import assert_close, assert_equal, ulp_distance

INF, NAN = math.inf, math.nan
FAR = 2**64 - 1


def passes(check, *args, **kwargs):
    try:
        check(*args, **kwargs)
    except AssertionError:
        return False
    return True


def message(check, *args, **kwargs):
    with pytest.raises(AssertionError) as refused:
        check(*args, **kwargs)
    return str(refused.value)


# The distance


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_neighbours_of_all_halves_are_one_apart(name):
    """Sorted by value, without -0.0, the ULP distance of two halves is the distance of their positions."""
    bits = np.arange(65536, dtype=np.uint16)
    values = values_of(fresh(bits.view(memory_dtype(name)), name))
    row = values[~np.isnan(values) & ~(np.signbit(values) & (values == 0))]
    row = np.sort(row)
    n = len(row)
    sorted_x = st.from_numpy(row).to(name)
    assert ulp_distance(sorted_x[1:], sorted_x[:-1]).tolist() == [1] * (n - 1)
    assert ulp_distance(sorted_x, -INF).tolist() == list(range(n))
    position = {value: i for i, value in enumerate(row.tolist())}
    random = np.random.default_rng(0)
    a, b = random.permutation(row), random.permutation(row)
    wanted = [abs(position[p] - position[q]) for p, q in zip(a.tolist(), b.tolist(), strict=True)]
    assert ulp_distance(st.from_numpy(a).to(name), st.from_numpy(b).to(name)).tolist() == wanted


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_distance_against_spacing(name):
    values = ordinary(name, (2000,), 4)
    values = np.abs(values[np.isfinite(values)])
    up = values + np.spacing(values)
    assert up.dtype == values.dtype
    assert ulp_distance(fresh(values, name), fresh(up, name)).tolist() == [1] * len(values)
    assert ulp_distance(fresh(up, name), fresh(values, name)).tolist() == [1] * len(values)


@given(hs.floats(allow_nan=False, allow_infinity=False), hs.integers(1, 40))
def test_distance_of_floats_against_nextafter(x, count):
    y = x
    for _ in range(count):
        y = math.nextafter(y, INF)
    assert ulp_distance(x, y) == (count if math.isfinite(y) else ulp_distance(x, sys.float_info.max) + 1)
    assert ulp_distance(abs(x), abs(x) + math.ulp(x)) == 1


def test_distance_at_the_edges():
    assert ulp_distance(0.0, -0.0) == 0 and ulp_distance(5e-324, -5e-324) == 2
    assert ulp_distance(INF, sys.float_info.max) == 1 and ulp_distance(INF, INF) == 0
    assert ulp_distance(-INF, INF) == 2 * 0x7FF0_0000_0000_0000
    assert ulp_distance(NAN, NAN) == 0 and ulp_distance(NAN, 1.0) == ulp_distance(-INF, NAN) == FAR
    assert ulp_distance(3, -(10**30)) == 10**30 + 3 and ulp_distance(True, False) == 1
    assert ulp_distance(1 + 0j, 1 + 5e-324j) == 1 and ulp_distance(1, 1.0 + 2**-52) == 1


@pytest.mark.parametrize("name", DTYPES)
def test_distance_of_every_dtype(name):
    x = fresh(ordinary(name, (6, 7), 1), name)
    y = fresh(ordinary(name, (7, 6), 2), name).t()
    got = ulp_distance(x, y)
    assert got.dtype is st.uint64 and got.shape == (6, 7)
    assert ulp_distance(y, x).tolist() == got.tolist() and ulp_distance(x, x).sum().item() == 0
    assert ulp_distance(x, y[0]).tolist()[3] == ulp_distance(x[3], y[0]).tolist()
    if name in (*INTS, "bool"):
        pairs = zip(x.reshape(-1).tolist(), y.reshape(-1).tolist(), strict=True)
        assert got.reshape(-1).tolist() == [abs(a - b) for a, b in pairs]


def test_distance_refuses():
    with pytest.raises(st.DTypeError, match="ulp_distance: the dtypes are float32 and float64, wanted one"):
        ulp_distance(st.zeros(2), st.zeros(2, dtype=st.float64))
    with pytest.raises(TypeError, match="ulp_distance: wanted tensors or numbers, got str"):
        ulp_distance("1", 2)


# Verdicts


def exactly_close(a, b, rtol, atol, equal_nan):
    """Whether two numbers are close by definition, and how far they are from the bound, without rounding."""
    if a == b or (equal_nan and a != a and b != b):
        return True, 1
    if not (math.isfinite(a) and math.isfinite(b)):
        return False, 1
    a, b, rtol, atol = map(fractions.Fraction, (a, b, rtol, atol))
    allowed = atol + rtol * abs(b)
    off = abs(a - b)
    return off <= allowed, abs(off - allowed) / max(off, allowed)


tolerances = hs.sampled_from([0.0, 1e-8, 1e-5, 1e-3, 0.1, 1.0, 100.0])


@settings(max_examples=300)
@given(hs.data(), testing.dtypes("real"), tolerances, tolerances, hs.booleans())
def test_verdict_is_the_rule(data, dtype, rtol, atol, equal_nan):
    number = testing.elements(dtype)
    a = data.draw(number)
    factor = data.draw(hs.sampled_from([1, 1 + 1e-7, 1 + 1e-4, 0.9, -1]))
    near = hs.just(st.tensor(a * factor, dtype=dtype).item() if dtype.is_floating_point else a)
    b = data.draw(near | number)
    wanted, edge = exactly_close(a, b, rtol, atol, equal_nan)
    if edge < 1e-12 or (math.isfinite(a) and math.isfinite(b) and abs(a) + abs(b) > 1e308):
        return
    x, y = st.tensor([a], dtype=dtype), st.tensor([b], dtype=dtype)
    assert passes(assert_close, x, y, rtol=rtol, atol=atol, equal_nan=equal_nan) == wanted


@settings(max_examples=200)
@given(hs.data(), hs.sampled_from(DTYPES), testing.shapes(max_dims=3))
def test_verdict_is_that_of_numpy(data, name, shape):
    """`==` of all elements and `allclose`, for tensors of any two layouts, of which some elements were changed."""
    a = ordinary(name, shape, data.draw(hs.integers(0, 99)))
    b = a.copy()
    for _ in range(data.draw(hs.integers(0, 2)) if a.size else 0):
        at = data.draw(hs.integers(0, a.size - 1))
        b.flat[at] = ordinary(name, (40,), 5)[data.draw(hs.integers(0, 39))]
    x, y = (st.as_strided(st.empty(99_999, dtype=name), *where(data, shape)).copy_(fresh(m, name)) for m in (a, b))
    u, v = values_of(fresh(a, name)), values_of(fresh(b, name))
    assert passes(assert_equal, x, y) == is_same(u, v)
    if name not in COMPLEX:
        nan = np.array_equal(u, v, equal_nan=name in FLOATS)
        assert passes(assert_equal, x, y, signed_zero=False) == nan
    with np.errstate(all="ignore"):
        close = np.allclose(u.astype("complex128"), v.astype("complex128"), rtol=1e-3, atol=1e-5, equal_nan=True)
    if name not in ("int64", "uint64"):  # NumPy rounds them
        assert passes(assert_close, x, y, rtol=1e-3, atol=1e-5, equal_nan=True) == close


def where(data, shape):
    """Shape, strides and offset of a layout that can be written to."""
    kinds = [kind for kind in testing._strategies.KINDS if kind != "stride 0"]
    layout = data.draw(testing.layouts(shape, data.draw(hs.sampled_from(kinds))))
    return layout.shape, layout.stride, layout.offset


@settings(max_examples=200)
@given(hs.data(), hs.sampled_from(DTYPES))
def test_verdict_is_that_of_pytorch(data, name):
    torch = pytest.importorskip("torch")
    if name in ("uint16", "uint32", "uint64"):
        return  # it lacks most operations on these
    a = data.draw(testing.tensors(name, shape=testing.shapes(max_dims=2), layout="dense"))
    b = a.clone()
    if b.numel():
        b.view(-1)[0] = data.draw(testing.elements(a.dtype))
    equal_nan = data.draw(hs.booleans())
    rtol, atol = torch.testing._comparison.default_tolerances(getattr(torch, name))
    # With the tolerances of the dtype, and no rounding of the differences.
    wide = getattr(torch, "float64" if name in FLOATS else "complex128" if name in COMPLEX else name)
    tensors = [torch.tensor(t.tolist(), dtype=wide).reshape(tuple(t.shape)) for t in (a, b)]
    wanted = passes(torch.testing.assert_close, *tensors, rtol=rtol, atol=atol, equal_nan=equal_nan)
    assert passes(assert_close, a, b, equal_nan=equal_nan) == wanted


def test_default_tolerances_are_those_of_pytorch():
    for name, (rtol, atol) in {
        "float16": (1e-3, 1e-5),
        "bfloat16": (1.6e-2, 1e-5),
        "float32": (1.3e-6, 1e-5),
        "float64": (1e-7, 1e-7),
        "complex64": (1.3e-6, 1e-5),
        "complex128": (1e-7, 1e-7),
        "int32": (0, 0),
        "bool": (0, 0),
    }.items():
        assert testing._close.TOLERANCES.get(getattr(st, name), (0, 0)) == (rtol, atol)
    wide, narrow = st.tensor([1.0], dtype=st.float64), st.tensor([1.001], dtype=st.float16)
    assert passes(assert_close, narrow, wide, check_dtype=False), "the wider tolerances of two dtypes"
    assert not passes(assert_close, narrow, wide)


@pytest.mark.parametrize("name", [*FLOATS, *COMPLEX])
def test_ulp_tolerance(name):
    x = st.tensor([1.0, -3.0, 0.0, INF], dtype=name)
    bits = {2: st.int16, 4: st.int32, 8: st.int64}[(x.real if name in COMPLEX else x).element_size()]
    y = x.clone()
    (y.real if name in COMPLEX else y).view(bits)[:3] += 3
    assert passes(assert_close, y, x, ulp=3) and not passes(assert_close, y, x, ulp=2)
    assert passes(assert_close, y, x, ulp=2, rtol=0.1, atol=1e-6)
    y.fill_(NAN)
    assert not passes(assert_close, y, x, ulp=10**6)


def test_an_infinity_is_close_only_to_itself():
    x = st.tensor([INF])
    assert passes(assert_close, x, x.clone()) and not passes(assert_close, x, -x)
    greatest = st.tensor([3.4028234663852886e38])
    assert not passes(assert_close, greatest, x, ulp=5) and not passes(assert_close, greatest, x, rtol=10.0, atol=0)
    assert not passes(assert_close, st.tensor([-1.7e308]).double(), st.tensor([1.7e308]).double(), rtol=1.0, atol=0)


def test_wide_integers_are_compared_exactly():
    x = st.tensor([2**62 + 1, -(2**63)])
    assert not passes(assert_close, x, st.tensor([2**62, -(2**63)]))
    assert passes(assert_close, x, st.tensor([2**62, -(2**63)]), rtol=0, atol=1)
    assert not passes(assert_close, x, st.tensor([2**62 + 1, 2**63 - 1]), rtol=0, atol=1e18)
    big = st.tensor([2**64 - 1], dtype=st.uint64)
    assert passes(assert_close, big, big - 5, ulp=5) and not passes(assert_close, big, big - 5, ulp=4)
    assert passes(assert_close, 10**40, 10**40) and not passes(assert_close, 10**40, 10**40 + 1)


def test_what_may_be_compared():
    x = st.arange(4.0)
    assert_close(x, x.numpy())
    assert_close(x.numpy(), [0, 1, 2, 3])
    assert_equal([x, (1, 2.5), {"a": None}], [x.clone(), [1, 2.5], {"a": None}])
    assert_close(x.sum(), 6)
    assert_close(st.tensor([0.1]), [0.1])
    assert_close(np.float32(3), st.tensor(3.0))
    assert_close(st.zeros(0, 3), st.zeros(0, 3))
    assert_close(st.ones(2, 3), st.ones(3), check_shape=False)
    assert not passes(assert_close, st.arange(3), [0, 1, 2.5]), "2.5 does not become 2"
    assert not passes(assert_close, st.zeros(1, dtype=st.uint8), [256])
    assert not passes(assert_close, 1, 1.0) and passes(assert_close, 1, 1.0, check_dtype=False)
    assert not passes(assert_close, st.ones(2, 3), st.ones(2), check_shape=False)
    for actual, expected in ((x, None), ("a", x), (x, {"a": x}), (object(), x), ("a", "a")):
        with pytest.raises(TypeError):
            assert_close(actual, expected)
    with pytest.raises(st.DTypeError, match="uint64"):
        assert_close(st.zeros(1, dtype=st.uint64), st.zeros(1, dtype=st.int64), check_dtype=False)
    for wrong in ({"rtol": 1.0}, {"atol": 1.0}, {"rtol": -1.0, "atol": 0.0}, {"ulp": -1}, {"rtol": NAN, "atol": 0.0}):
        with pytest.raises(ValueError, match="assert_close: "):
            assert_close(x, x, **wrong)


def test_a_subclass_may_be_refused():
    class Own(st.Tensor):
        pass

    x = st.zeros(2)
    assert_close(Own(x), x)
    assert message(assert_close, Own(x), x, allow_subclasses=False) == (
        "assert_close: the classes differ: got Own, wanted Tensor"
    )


@pytest.mark.parametrize("at", [0, 65_535, 65_536, 199_999])
def test_one_element_of_many(at):
    """Comparison in pieces misses no element; the strides of the two differ."""
    x = st.arange(200_000).float().view(400, 500)
    y = x.t().contiguous().t()
    assert_close(x, y)
    y[at // 500, at % 500] += 7
    assert f"1 of 200000 elements differs (0.0005 %), float32 400x500\n  at [{at // 500}, {at % 500}]: " in message(
        assert_close, x, y
    )


# Messages


def test_message_of_several_differences():
    x = st.arange(60.0).view(3, 4, 5)
    y = x.clone()
    y[1, 2, 3], y[1, 3, 0], y[2, 0, 0], y[2, 0, 1] = 34, 0, NAN, INF
    assert message(assert_close, x, y) == (
        "assert_close: 4 of 60 elements differ (6.67 %), float32 3x4x5\n"
        "  first at [1, 2, 3]: got 33, wanted 34: 1 off, 0.0294 relative, 262144 ULP\n"
        "  greatest absolute difference: 35 at [1, 3, 0]\n"
        "  greatest relative difference: inf at [1, 3, 0]\n"
        "  greatest ULP difference: 1108082688 at [1, 3, 0]\n"
        "  a number where NaN is wanted: 1 of them\n"
        "  an infinity in only one, or of opposite sign: 1 of them\n"
        "  allowed: 1e-05 + 1.3e-06 relative\n"
        "\n"
        "  got[1, 0:4, 1:5]    wanted[1, 0:4, 1:5]\n"
        "  21  22  23   24     21  22  23   24\n"
        "  26  27  28   29     26  27  28   29\n"
        "  31  32  33*  34     31  32  34*  34\n"
        "  36  37  38   39     36  37  38   39"
    )


def test_greatest_differences_against_numpy():
    random = np.random.default_rng(3)
    a, b = random.standard_normal((2, 50, 60))
    off = np.abs(a - b)
    text = message(assert_close, st.from_numpy(a), st.from_numpy(b), rtol=0, atol=0)
    relative = off / np.abs(b)
    for word, measure in (("absolute", f"{off.max():.6g}"), ("relative", f"{relative.max():.3g}")):
        at = (off if word == "absolute" else relative).argmax()
        assert f"  greatest {word} difference: {measure} at [{at // 60}, {at % 60}]\n" in text


@pytest.mark.parametrize(
    ("actual", "expected", "text"),
    [
        (0.5, 0.25, "got 0.5, wanted 0.25: 0.25 off, 1 relative, 4503599627370496 ULP"),
        (7, 4, "got 7, wanted 4: 3 off"),
        (True, False, "got True, wanted False: 1 off"),
        (1, 1.0, "the types differ: got int (1), wanted float (1.0)"),
        (NAN, 1.0, "got nan, wanted 1"),
        ([1, 2], [1], "the lengths differ: got 2, wanted 1"),
        ({"a": 1, "b": 2}, {"a": 1, "c": 2}, "the keys differ: got a mapping without 'c' and with 'b'"),
        ([1, {"w": [2.5]}], [1, {"w": [3.5]}], "at [1]['w'][0]: got 2.5, wanted 3.5: 1 off, 0.286 relative, 2251799813685248 ULP"),
        (st.zeros(2, 3), st.zeros(3), "the shapes differ: got 2x3, wanted 3"),
        (st.zeros(()), st.zeros(1), "the shapes differ: got (), wanted 1"),
        (st.zeros(2), st.zeros(2).int(), "the dtypes differ: got float32, wanted int32"),
        (st.tensor([0.1]), st.tensor([0.1], dtype=st.float64), "the dtypes differ: got float32, wanted float64; 1 of 1 element differs (100 %), float64 1\n  at [0]: got 0.10000000149011612, wanted 0.1: 1.49012e-09 off, 1.49e-08 relative, 107374182 ULP"),
        (st.tensor([0.0, 2.0]), st.tensor([-0.0, 2.0]), "1 of 2 elements differs (50 %), float32 2\n  at [0]: got 0, wanted -0\n  zeros of different signs: 1 of them\n\n  got      wanted\n  0*  2    -0*  2"),
        (st.tensor([True, False]), st.tensor([True, True]), "1 of 2 elements differs (50 %), bool 2\n  at [1]: got False, wanted True: 1 off, 1 relative\n\n  got             wanted\n  True  False*    True  True*"),
        (st.tensor([250], dtype=st.uint8), st.tensor([5], dtype=st.uint8), "1 of 1 element differs (100 %), uint8 1\n  at [0]: got 250, wanted 5: 245 off, 49 relative"),
    ],
)  # fmt: skip
def test_messages(actual, expected, text):
    assert message(assert_equal, actual, expected) == f"assert_equal: {text}"


def test_message_of_strides_and_tolerances():
    x = st.zeros(3, 2).t()
    assert message(assert_close, st.zeros(2, 3), x, check_stride=True) == (
        "assert_close: the strides differ: got (3, 1), wanted (1, 2)"
    )
    assert "  allowed: 0.5 + 0.25 relative, or 3 ULP" in message(assert_close, 1.0, 9.0, rtol=0.25, atol=0.5, ulp=3)
    assert "NaN in both, and equal_nan is False: 2 of them" in message(assert_close, *[st.full((2,), NAN)] * 2)


def test_msg():
    assert message(assert_close, 1, 2, msg="mine") == "mine"
    assert message(assert_equal, 1, 2, msg=lambda text: f"{text}!") == "assert_equal: got 1, wanted 2: 1 off!"


@settings(max_examples=150)
@given(hs.data(), hs.sampled_from(DTYPES))
def test_every_difference_has_a_message(data, name):
    shape = data.draw(testing.shapes(max_dims=3))
    x, y = (data.draw(testing.tensors(name, shape=shape)) for _ in range(2))
    if not passes(assert_equal, x, y):
        text = message(assert_equal, x, y)
        pairs = list(zip(values_of(x).flat, values_of(y).flat, strict=True))
        # A complex number is a NaN if one of its parts is.
        differ = sum(not is_same(a, b) and not (a != a and b != b) for a, b in pairs)
        assert text.startswith(f"assert_equal: {differ} of ") or x.dim() == 0


# Strategies

ANY = settings(max_examples=5000, phases=[Phase.generate])  # without a search for the simplest example


def test_hypothesis_is_imported_with_the_first_strategy():
    code = (
        "import sys, strided\n"
        "assert 'strided.testing' not in sys.modules\n"
        "strided.testing.assert_close(1.0, 1.0)\n"
        "assert 'hypothesis' not in sys.modules and 'numpy' not in sys.modules\n"
        "sys.modules['hypothesis'] = None\n"
        "try: strided.testing.tensors\n"
        "except ModuleNotFoundError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "strided.testing.tensors needs hypothesis; pip install strided[testing] installs it\n"
    assert {"tensors", "assert_close"} <= set(dir(testing))
    with pytest.raises(AttributeError, match="no attribute 'tensor'"):
        testing.tensor


def test_tensors_have_every_dtype():
    left = set(DTYPES)
    find(testing.tensors(), lambda x: left.discard(x.dtype.name) or not left, settings=ANY)
    for name in DTYPES:
        assert find(testing.dtypes(), lambda dtype, name=name: dtype.name == name, settings=ANY).name == name, name
        assert find(testing.tensors(name, shape=(3,)), lambda x: True, settings=ANY).dtype.name == name, name


SIGNS = {
    "dense": lambda x: x.is_contiguous() and x.numel() > 1,
    "column-major": lambda x: x.layout.is_column_major and not x.layout.is_row_major,
    "permuted": lambda x: x.layout.is_contiguous and not (x.layout.is_column_major or x.layout.is_row_major),
    "offset": lambda x: x.storage_offset() > 0 and min(x.stride(), default=0) > 0 and not x.layout.is_contiguous,
    "step 2": lambda x: x.dim() == 1 and x.stride() == (2,) and x.numel() > 1,
    "negative": lambda x: x.numel() > 1 and max(x.stride()) < 0,
    "stride 0": lambda x: 0 in x.stride() and x.numel() > 1,
    "size 1": lambda x: x.numel() == 1 and x.dim() == 2,
    "size 0": lambda x: x.numel() == 0,
    "0-d": lambda x: x.dim() == 0,
    "rank 9": lambda x: x.dim() == 9,
}


@pytest.mark.parametrize("kind", SIGNS)
def test_tensors_have_every_layout(kind):
    assert SIGNS[kind](find(testing.tensors("uint8"), SIGNS[kind], settings=ANY))
    assert find(testing.tensors("uint8", layout=kind), SIGNS[kind], settings=ANY).dtype is st.uint8


@given(testing.layouts())
def test_layouts_can_be_laid_over_memory(layout):
    assert layout.bounds is None or layout.bounds[0] >= 0


@given(hs.data(), testing.shapes(max_side=4))
def test_layouts_have_the_shape_that_was_asked_for(data, shape):
    kind = data.draw(hs.sampled_from(testing._strategies.KINDS))
    layout = data.draw(testing.layouts(shape, kind))
    assert layout.shape == shape
    assert layout.is_injective == (kind != "stride 0" or layout.size <= 1 or max(shape) == 1)
    assert data.draw(testing.tensors("int16", layout=layout)).layout == layout


@given(hs.data(), testing.shapes())
def test_broadcastable_shapes_broadcast(data, shape):
    part = data.draw(testing.broadcastable_shapes(shape))
    assert st.zeros(part).expand(shape).shape == shape == np.broadcast_shapes(part, shape)


@given(hs.data(), testing.dtypes())
def test_elements_are_exact(data, dtype):
    value = data.draw(testing.elements(dtype))
    assert is_same(np.array(st.tensor(value, dtype=dtype).item()), np.array(value))
    finite = data.draw(testing.elements(dtype, allow_nan=False, allow_infinity=False))
    assert cmath.isfinite(finite)  # the magnitude of a finite complex number may overflow


@given(hs.data(), testing.tensors("int64"))
def test_views_look_at_the_same_memory(data, x):
    view = data.draw(testing.views(x))
    assert view.storage() is x.storage()
    inner, outer = view.layout.bounds, x.layout.bounds
    assert inner is None or outer[0] <= inner[0] <= inner[1] <= outer[1]


@given(hs.data(), testing.tensors())
def test_an_index_gives_what_numpy_gives(data, x):
    key = data.draw(testing.indices(x.shape))
    assert memory_of(x[key]).tobytes() == memory_of(x)[key].tobytes()


def test_elements_that_were_asked_for():
    x = find(testing.tensors("float32", shape=(40,), elements=hs.just(2.5)), lambda x: True, settings=ANY)
    assert x.tolist() == [2.5] * 40


def test_strategies_refuse():
    for make, text in (
        (lambda: testing.dtypes("floats"), "dtypes: there is no category 'floats'"),
        (lambda: testing.layouts(kind="odd"), "layouts: there is no kind 'odd'"),
        (lambda: testing.layouts((2,), "0-d"), "layouts: there is no kind '0-d' here"),
        (lambda: testing.tensors(layout=st.Layout((2,), (-1,))), "tensors: .* location -1"),
    ):
        with pytest.raises(ValueError, match=text):
            find(make(), lambda x: True)
    with pytest.raises(TypeError, match="tensors: layout must be a Layout, a kind or a strategy of layouts, got int"):
        find(testing.tensors(layout=3), lambda x: True)
