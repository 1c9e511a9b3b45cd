"""Keywords of elementwise operations: `alpha`, `value`, `decimals`, `rounding_mode`, `rtol` … in every form."""

import contextlib
import inspect
import math
import threading

import mpmath
import numpy as np
import pytest
from op_rows import OPS
from strategies import (
    COMPLEX,
    DTYPES,
    FLOATS,
    INTS,
    LAYOUTS,
    assert_same,
    fresh,
    laid_out,
    memory_of,
    ordinary,
    to_memory,
    to_values,
    values_of,
)

import strided as st

WORDS = {op: dict(row.keywords) for op, row in OPS.items() if row.keywords}
REAL = [name for name in DTYPES if name not in COMPLEX]
LINEAR = {
    "add": lambda alpha, a, b: a + alpha * b,
    "sub": lambda alpha, a, b: a - alpha * b,
    "rsub": lambda alpha, a, b: b - alpha * a,
}


def computed(values, name):
    """Values in the type that a dtype is computed in."""
    return values.astype("float32") if name in ("float16", "bfloat16") else values


def small(name, shape, seed):
    """Values whose products stay exact in every dtype."""
    random = np.random.default_rng([seed, DTYPES.index(name)])
    values = random.integers(0 if name.startswith("uint") else -9, 9, shape)
    return values + 1j * random.integers(-9, 9, shape) if name in COMPLEX else values


def test_operands_have_the_names_of_pytorch():
    x, y = st.tensor([2.0, 0.0]), st.tensor([3.0, 2.0])
    for op, name in (("pow", "exponent"), ("float_power", "exponent"), ("heaviside", "values"), ("sub", "other")):
        wanted = getattr(st, op)(x, y).tolist()
        assert getattr(st, op)(input=x, **{name: y}).tolist() == wanted
        assert getattr(x, op)(**{name: y}).tolist() == wanted
        assert getattr(x.double(), op + "_")(**{name: y}).tolist() == wanted
    assert st.lerp(input=x, end=y, weight=0.5).tolist() == [2.5, 1.0]
    assert st.where(condition=x > 1, input=x, other=y).tolist() == [2.0, 2.0]
    for name, more in (("axis", {}), ("dim", {"dx": 1.0})):
        assert st.trapezoid(y=x.view(2, 1), **{name: 0}, **more).tolist() == [1.0]


def test_keywords_and_defaults_are_those_of_pytorch():
    assert WORDS == {
        "add": {"alpha": "1"},
        "sub": {"alpha": "1"},
        "rsub": {"alpha": "1"},
        "div": {"rounding_mode": "None"},
        "softplus": {"beta": "1", "threshold": "20"},
        "logit": {"eps": "None"},
        "round": {"decimals": "0"},
        "nan_to_num": {"nan": "0.0", "posinf": "None", "neginf": "None"},
        "addcmul": {"value": "1"},
        "addcdiv": {"value": "1"},
        "isclose": {"rtol": "1e-05", "atol": "1e-08", "equal_nan": "False"},
    }
    for op, words in WORDS.items():
        for form in (getattr(st, op), getattr(st.Tensor, op), getattr(st.Tensor, f"{op}_")):
            parameters = inspect.signature(form).parameters
            assert {word: str(parameters[word].default) for word in words} == words


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("op", LINEAR)
def test_alpha(op, name):
    if name == "bool":
        return
    alphas = [2, True, *([0.5, -3] if name in FLOATS else []), *([1.5j] if name in COMPLEX else [])]
    for layout, (shape, _) in LAYOUTS.items():
        own = (1, shape[1]) if layout == "stride 0" else shape
        for alpha in alphas:
            x = laid_out(layout, to_memory(small(name, own, 1), name), name)
            y = fresh(to_memory(small(name, shape, 2), name), name)
            a, b = values_of(x).copy(), values_of(y).copy()
            wanted = LINEAR[op](computed(np.array(alpha).astype(a.dtype), name), computed(a, name), computed(b, name))
            wanted = to_values(to_memory(wanted, name), name)
            assert_same(getattr(st, op)(x, y, alpha=alpha), wanted, name, f"{layout} {alpha}")
            assert_same(getattr(x, op)(y, alpha=alpha), wanted, name, f"{layout} {alpha}")
            out = st.empty(shape, dtype=x.dtype)
            assert getattr(st, op)(x, y, alpha=alpha, out=out) is out, layout
            assert_same(out, wanted, name, f"out {layout} {alpha}")
            if layout != "stride 0":
                assert getattr(x, f"{op}_")(y, alpha=alpha) is x, layout
                assert_same(x, wanted, name, f"in place {layout} {alpha}")


@pytest.mark.parametrize("name", DTYPES)
def test_alpha_of_a_higher_category_is_refused(name):
    x = fresh(to_memory(small(name, (4,), 1), name), name)
    before = memory_of(x).copy()
    category = 0 if name == "bool" else 1 if name in INTS else 2 if name in FLOATS else 3
    for alpha in [True, 2, 0.5, 1j][category + 1 :]:
        for call in (x.add_, x.add, x.sub_ if category else x.add_):
            with pytest.raises(st.DTypeError, match=r"^\w+: alpha is .*, wanted"):
                call(x, alpha=alpha)
    if name in INTS:
        with pytest.raises(st.DTypeError, match="alpha is a float, wanted an int"):
            x.add_(x, alpha=1.0)  # also where it equals the default
        with pytest.raises(OverflowError, match=r"^add_: .*does not fit"):
            x.add_(x, alpha=2**70)
    assert memory_of(x).tobytes() == before.tobytes()


def test_alpha_takes_no_part_in_promotion():
    x, y = st.tensor([1, 2], dtype=st.int8), st.tensor([0.5, 1.5], dtype=st.float16)
    assert x.add(x, alpha=3).dtype is st.int8
    assert x.add(y, alpha=0.5).dtype is st.float16
    assert x.add(y, alpha=0.5).tolist() == [1.25, 2.75]
    assert st.add(x, 4, alpha=np.int64(3)).tolist() == [13, 14]
    assert st.add(x, 4, alpha=st.tensor(3)).tolist() == [13, 14]
    # The number is not rounded to a half first: 0.1 times 1000 is 100 and not 99.98.
    assert st.tensor([0.0], dtype=st.float16).add(st.tensor([1000.0], dtype=st.float16), alpha=0.1).tolist() == [100.0]


def test_a_keyword_that_is_not_a_number_is_refused():
    x = st.ones(2)
    for word in ("two", [1], None, st.ones(2)):
        with pytest.raises((TypeError, ValueError), match=r"^add: "):
            x.add(x, alpha=word)
    with pytest.raises(TypeError, match=r"^mul: unknown argument 'alpha'"):
        x.mul(x, alpha=2)
    with pytest.raises(TypeError, match="at most 1 positional"):
        x.add(x, 2)


def test_bool_adds_with_a_bool():
    x = st.tensor([True, False])
    assert x.add(True, alpha=False).tolist() == [True, False]
    assert x.add(True, alpha=True).tolist() == [True, True]


@pytest.mark.parametrize("name", [name for name in DTYPES if name != "bool"])
def test_value(name):
    a, b, c = (computed(to_values(to_memory(small(name, (5, 33), seed), name), name), name) for seed in (1, 2, 3))
    x, y, z = (fresh(to_memory(v, name), name) for v in (a, b, c))
    wanted = to_values(to_memory(a + a.dtype.type(3) * b * c, name), name)
    assert_same(st.addcmul(x, y, z, value=3), wanted, name)
    assert_same(x.addcmul(y, z, value=3), wanted, name)
    assert_same(x.clone().addcmul_(y, z, value=3), wanted, name)
    if name in FLOATS:
        c = np.where(c == 0, 1, c).astype(c.dtype)
        z = fresh(to_memory(c, name), name)
        wanted = to_values(to_memory(a + a.dtype.type(0.5) * b / c, name), name)
        assert_same(st.addcdiv(x, y, z, value=0.5), wanted, name)
        assert_same(st.addcdiv(x, y, z, value=0.5, out=st.empty_like(x)), wanted, name)
        assert st.addcdiv(x, 1, 2, value=4).tolist() == to_values(to_memory(a + 2, name), name).tolist()


@pytest.mark.parametrize("name", [*INTS, *FLOATS])
@pytest.mark.parametrize("mode", ["floor", "trunc"])
def test_rounding_mode(mode, name):
    a, b = (ordinary(name, (6, 41), seed) for seed in (1, 2))
    if name in INTS:
        b = np.where(b == 0, 3, b).astype(b.dtype)
    x, y = fresh(a, name), fresh(b, name)
    wanted = getattr(st, f"{mode}_divide")(x, y)  # tested in test_elementwise.py
    for got in (
        st.div(x, y, rounding_mode=mode),
        x.div(y, rounding_mode=mode),
        x.divide(y, rounding_mode=mode),
        st.div(x, y, rounding_mode=mode, out=st.empty_like(x)),
        x.clone().div_(y, rounding_mode=mode),
    ):
        assert_same(got, values_of(wanted), name)


def test_unknown_rounding_modes_are_refused():
    x = st.tensor([7, -7])
    assert x.true_divide(2).tolist() == st.true_divide(x, 2).tolist() == [3.5, -3.5]
    for call in (x.true_divide, x.true_divide_):
        with pytest.raises(TypeError, match=r"^true_divide_?: .*'rounding_mode'"):
            call(2, rounding_mode="floor")
    assert x.div(2, rounding_mode=None).tolist() == [3.5, -3.5]
    assert x.div(2, rounding_mode="trunc").tolist() == [3, -3]
    assert x.div(2, rounding_mode="floor").tolist() == [3, -4]
    for mode in ("round", ""):
        with pytest.raises(ValueError, match=r"^div: rounding_mode is '.*', wanted None, 'floor' or 'trunc'"):
            x.div(2, rounding_mode=mode)
    for mode in ("floor", "trunc"):
        with pytest.raises(ZeroDivisionError, match=r"^div_: "):
            x.div_(st.tensor([1, 0]), rounding_mode=mode)
    with pytest.raises(st.DTypeError, match=r"^div_: "):
        x.div_(2)
    assert x.tolist() == [7, -7]


@pytest.mark.parametrize("name", FLOATS)
def test_round_to_decimals(name):
    values = np.random.default_rng(3).normal(0, 1000, 999)
    a = to_values(to_memory(np.concatenate([values, [0.125, 0.375, -2.5, np.inf, -np.inf, np.nan, 0.0]]), name), name)
    x = fresh(to_memory(a, name), name)
    for decimals in (-4, -2, -1, 1, 2, 3):
        power = computed(a, name).dtype.type(10.0 ** abs(decimals))
        with np.errstate(all="ignore"):
            moved = computed(a, name) * power if decimals > 0 else computed(a, name) / power
            back = np.rint(moved) / power if decimals > 0 else np.rint(moved) * power
        wanted = to_values(to_memory(np.where(np.isfinite(moved), back, a).astype(moved.dtype), name), name)
        assert_same(st.round(x, decimals=decimals), wanted, name, f"{decimals}")
        assert_same(x[::-1].round(decimals=decimals), wanted[::-1], name, f"{decimals}")
        assert_same(round(x, decimals), wanted, name)
        assert_same(x.clone().round_(decimals=decimals), wanted, name)
    # Many decimals keep the number, very negative ones round it to zero: the result is never NaN.
    finite = fresh(to_memory(a[np.isfinite(a)], name), name)
    assert_same(finite.round(decimals=400), values_of(finite), name)
    assert not values_of(finite.round(decimals=-400)).any()


@pytest.mark.parametrize("name", ["bool", *INTS])
def test_integers_round_as_pythons_do(name):
    memory = ordinary(name, (50,), 4)
    x = fresh(memory, name)
    assert round(x).tolist() == x.tolist() == round(x, 2).tolist()
    if name == "bool":
        return
    low, high = int(np.iinfo(name).min), int(np.iinfo(name).max)
    for decimals in (-1, -2, -3, -5, -10, -19, -20, -30):
        for value, got in zip(memory.tolist(), x.round(decimals=decimals).tolist(), strict=True):
            wanted, step = round(value, decimals), 10**-decimals
            if not low <= wanted <= high:  # the nearest representable number
                wanted += step if wanted < low else -step
                assert low <= wanted <= high and abs(wanted - value) < step
            assert got == wanted, (value, decimals)
    ends = st.tensor([low, low + 1, high - 1, high], dtype=x.dtype)
    assert low <= min(ends.round(decimals=-1).tolist()) and max(ends.round(decimals=-1).tolist()) == high // 10 * 10
    assert st.tensor([15, 25, 35]).round(decimals=-1).tolist() == [20, 20, 40]
    with pytest.raises(st.DTypeError, match=r"^round: decimals is a float, wanted an int"):
        x.round(decimals=1.5)


@pytest.mark.parametrize("name", FLOATS)
def test_round_ties_to_even(name):
    x = st.tensor([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 1.4375], dtype=name)
    assert x.round().tolist() == [-2.0, -2.0, -0.0, 0.0, 2.0, 2.0, 4.0, 1.0]
    assert round(x).tolist() == x.round().tolist()


EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}


@pytest.mark.parametrize("name", FLOATS)
def test_softplus(name):
    a = to_values(to_memory(np.linspace(-30, 30, 401), name), name)
    x = fresh(to_memory(a, name), name)
    for beta, threshold in ((1, 20), (2, 20), (0.5, 3), (-1.5, 20), (1, 5)):
        got = values_of(st.softplus(x, beta=beta, threshold=threshold))
        for value, result in zip(a.tolist(), got.tolist(), strict=True):
            with mpmath.workdps(30):
                exact = float(mpmath.log1p(mpmath.exp(beta * mpmath.mpf(value))) / beta)
            linear = beta * value > threshold and (beta, threshold) != (1, 20)
            wanted = value if linear else exact
            # The argument is rounded once before: an error of some ULP where the function is steep.
            scale = abs(wanted) * (1 + abs(beta * value) * (beta * value < 0))
            assert abs(result - wanted) <= 3 * EPSILON[name] * scale + 1e-7 * (name == "float16"), (
                beta,
                threshold,
                value,
            )
    assert_same(st.softplus(x, 2, 10), values_of(x.softplus(beta=2, threshold=10)), name)
    assert_same(x.clone().softplus_(0.5), values_of(x.softplus(beta=0.5)), name)
    assert st.softplus(st.tensor([0])).dtype is st.float32


@pytest.mark.parametrize("name", FLOATS)
def test_logit(name):
    a = to_values(to_memory(np.linspace(-0.5, 1.5, 201), name), name).astype("float64")
    x = fresh(to_memory(a, name), name)
    for eps in (0.125, 0.25, 0.0):
        with np.errstate(all="ignore"):
            inside = np.clip(a, eps, 1 - eps)
            wanted = np.log(inside / (1 - inside))
        got = values_of(st.logit(x, eps)).astype("float64")
        finite = np.isfinite(wanted)
        assert (got[~finite] == wanted[~finite]).all()
        allowed = 2 * EPSILON[name] * np.maximum(np.abs(wanted[finite]), 1)
        assert (np.abs(got[finite] - wanted[finite]) <= allowed).all()
        assert_same(x.logit(eps=eps), values_of(st.logit(x, eps)), name)
        assert_same(x.clone().logit_(eps), values_of(st.logit(x, eps)), name)
    assert_same(x.logit(eps=None), values_of(x.logit()), name)
    assert math.isnan(st.logit(st.tensor([math.nan]), 0.1).item())


@pytest.mark.parametrize("name", DTYPES)
def test_nan_to_num(name):
    memory = ordinary(name, (7, 35), 3)
    if name in COMPLEX:
        memory = memory.copy()
        memory[0, :3] = [complex(math.nan, math.inf), complex(-math.inf, 2), complex(1, math.nan)]
    x = fresh(memory, name)
    a = to_values(memory, name)
    for words in ({"nan": 2.5}, {"posinf": 7}, {"nan": 1.0, "posinf": 2.0, "neginf": -3.0}, {"posinf": math.nan}):
        if name in ("bool", *INTS):
            assert_same(st.nan_to_num(x, **words), a, name)
            continue
        real = {"complex64": "float32", "complex128": "float64"}.get(name, name)
        top = float(to_values(np.uint16(0x7F7F), name)) if real == "bfloat16" else float(np.finfo(real).max)
        full = {"nan": 0.0, "posinf": top, "neginf": -top} | words

        def replaced(part, full=full):
            part = np.where(np.isnan(part), full["nan"], part)
            return np.where(part == np.inf, full["posinf"], np.where(part == -np.inf, full["neginf"], part))

        wanted = replaced(a.real) + 1j * replaced(a.imag) if name in COMPLEX else replaced(a.astype("float64"))
        if name in COMPLEX and math.isnan(full["posinf"]):
            continue
        wanted = to_values(to_memory(wanted.astype("float64") if name in FLOATS else wanted, name), name)
        assert_same(st.nan_to_num(x, **words), wanted, name, f"{words}")
        assert_same(st.nan_to_num(x.t(), **words), wanted.T, name, f"{words}")
        assert_same(x.clone().nan_to_num_(**words), wanted, name, f"{words}")
        assert_same(x.nan_to_num(full["nan"], full["posinf"], full["neginf"]), wanted, name)
    with pytest.raises(st.DTypeError, match=r"^nan_to_num: nan is a complex number"):
        x.nan_to_num(nan=1j)


def test_halves_use_their_own_largest_number():
    for dtype, top in ((st.float16, 65504.0), (st.bfloat16, 3.3895313892515355e38)):
        x = st.tensor([math.inf, -math.inf, math.nan], dtype=dtype)
        assert x.nan_to_num().tolist() == [top, -top, 0.0], dtype


@pytest.mark.parametrize("name", DTYPES)
def test_isclose(name):
    random = np.random.default_rng(5)
    b = to_values(ordinary(name, (400,), 1), name)
    with np.errstate(all="ignore"):
        a = np.where(random.random(400) < 0.5, b, (b * (1 + random.choice([1e-7, 1e-3, 1e-2], 400))).astype(b.dtype))
    a, b = a.astype(b.dtype), b.copy()
    if name in FLOATS:
        a[:5] = [np.nan, np.nan, np.inf, -np.inf, 1]
        b[:5] = [np.nan, 1, np.inf, np.inf, np.inf]
    x, y = fresh(to_memory(a, name), name), fresh(to_memory(b, name), name)
    a, b = values_of(x), values_of(y)
    for rtol, atol in ((1e-5, 1e-8), (1e-2, 0.0), (0.0, 0.5), (0.0, 0.0), (0.0, 3)):
        for equal_nan in (False, True):
            if name == "bool" or name in INTS:
                pairs = list(zip(a.tolist(), b.tolist(), strict=True))
                wanted = [abs(int(p) - int(q)) <= atol + rtol * abs(int(q)) for p, q in pairs]
            else:
                wide = "complex128" if name in COMPLEX else "float64"
                wanted = np.isclose(a.astype(wide), b.astype(wide), rtol, atol, equal_nan).tolist()
            words = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}
            assert st.isclose(x, y, **words).tolist() == wanted, words
            assert x.isclose(y, rtol, atol, equal_nan).tolist() == wanted, words
            assert x[::-1].isclose(y[::-1], **words).tolist() == wanted[::-1]
            out = st.zeros(400, dtype=st.bool)
            assert st.isclose(x, y, **words, out=out) is out and out.tolist() == wanted
            answer = x.allclose(y, **words)
            assert answer is all(wanted) and st.allclose(x, y, rtol, atol, equal_nan) is answer


def test_close_integers_are_exact():
    x, y = st.tensor([2**53 + 1, -(2**63), 2**63 - 1]), st.tensor([2**53, 2**63 - 1, 2**63 - 1])
    assert x.isclose(y, rtol=0, atol=0).tolist() == [False, False, True]
    for word in ("rtol", "atol"):
        for close in (st.isclose, st.allclose):
            with pytest.raises(ValueError, match=f"{word} is a negative number, wanted 0 or more"):
                close(x, y, **{word: -1e-9})
    assert x.isclose(y, rtol=0, atol=1).tolist() == [True, False, True]
    big = st.tensor([2**64 - 1, 0], dtype=st.uint64)
    assert big.isclose(st.tensor([2**64 - 2, 1], dtype=st.uint64), rtol=0, atol=0).tolist() == [False, False]


def test_close_to_numbers():
    x = st.tensor([250, 100], dtype=st.uint8)
    assert x.isclose(300, rtol=0, atol=60).tolist() == [True, False]
    assert x.isclose(250.001).tolist() == [True, False]
    assert st.ones(3).allclose(1) and not st.ones(3).allclose(st.tensor([1.0, 1.0, 2.0]))
    assert st.zeros(0).allclose(1)
    with pytest.raises(st.ShapeError):
        st.ones(3).allclose(st.ones(2))
    with pytest.raises(TypeError, match=r"^allclose: "):
        st.ones(3).allclose([1, 1, 1])
    with pytest.raises(st.DTypeError, match=r"^isclose: rtol is a complex number"):
        x.isclose(x, rtol=1j)


def test_large_calls_with_numbers():
    """Large enough for threads, and computed without the GIL."""
    a, b = np.random.default_rng(1).normal(size=(2, 300_001))
    x, y = st.tensor(a), st.tensor(b)
    assert_same(x.add(y, alpha=0.25), a + 0.25 * b, "float64")
    assert_same(x.nan_to_num_(posinf=1), a, "float64")
    assert x.allclose(y, atol=20) and not x.allclose(y)


def test_overlap_with_numbers():
    x = st.arange(10, dtype=st.float64)
    a = x.numpy().copy()
    x[1:].add_(x[:-1], alpha=3)
    assert x[1:].tolist() == (a[1:] + 3 * a[:-1]).tolist()
    x = st.arange(16, dtype=st.float64).view(4, 4)
    a = x.numpy().copy()
    st.addcmul(x, x.t(), 2, value=0.5, out=x)
    assert x.tolist() == (a + 0.5 * a.T * 2).tolist()


@pytest.mark.parametrize("default", ["float32", "float64"])
def test_numbers_out_of_an_integer_dtypes_range_work_where_floats_are_computed(default, default_dtype):
    st.set_default_dtype(getattr(st, default))
    bytes_, wide = st.tensor([3, 4], dtype=st.uint8), st.tensor([1.0, 2.0], dtype=st.float64)
    assert st.addcmul(wide, bytes_, 300).tolist() == [901.0, 1202.0]
    assert st.addcdiv(wide, bytes_, 1000).tolist() == [1.003, 2.004]
    assert st.clamp(bytes_, min=wide, max=-1).tolist() == [-1.0, -1.0]
    assert bytes_.float_power(-1).tolist() == [1 / 3, 1 / 4]
    if default == "float64":
        assert (bytes_ / 300).tolist() == [0.01, 4 / 300] and (300 / bytes_).tolist() == [100.0, 75.0]
    assert (bytes_ < 300).tolist() == (bytes_ > -1).tolist() == [True, True]


def test_a_divisor_that_becomes_zero_after_the_check_does_not_panic():
    """The check and the division read the divisor at different times."""
    x, divisor = st.ones(200_000, dtype=st.int32), st.ones(200_000, dtype=st.int32)
    done = threading.Event()

    def alternate():
        while not done.is_set():
            divisor.fill_(0)
            divisor.fill_(1)

    other = threading.Thread(target=alternate)
    other.start()
    try:
        for op in (st.floor_divide, st.trunc_divide, st.remainder, st.fmod):
            for _ in range(200):
                with contextlib.suppress(ZeroDivisionError):
                    op(x, divisor)
    finally:
        done.set()
        other.join()


def test_empty_tensors_may_be_divided_by_zero():
    assert (st.empty(2, 0, dtype=st.int64) // 0).shape == (2, 0)
    with pytest.raises(ZeroDivisionError):
        st.ones(2, 1, dtype=st.int64) // 0


@pytest.mark.parametrize("mode, error", [(5, TypeError), ("None", ValueError), (b"floor", TypeError)])
def test_rounding_modes_are_strings(mode, error):
    with pytest.raises(error, match="rounding_mode"):
        st.div(st.ones(2), 2, rounding_mode=mode)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda x: x.sum(0, keepdim=st.ones(3)),
            r"sum: keepdim must be a bool \(several dims are dim=\(0, 1\)\), got Tensor",
        ),
        (lambda x: x.std(0, keepdim="no"), r"std: keepdim must be a bool \(several dims are dim=\(0, 1\)\), got str"),
        (lambda x: x.amax(0, keepdim=[]), r"amax: keepdim must be a bool \(several dims are dim=\(0, 1\)\), got list"),
        (lambda x: x.renorm(int, 0, 1.0), "renorm: p must be a real number, got type"),
        (lambda x: x.logit(eps=float), "logit: eps must be a number, got type"),
    ],
)
def test_keywords_that_are_neither_bool_nor_number_are_refused(call, message):
    with pytest.raises(TypeError, match=f"^{message}$"):
        call(st.ones(3, 3))


def test_bools_of_other_types_are_accepted():
    for keep in (np.True_, st.tensor(True)):
        assert st.ones(3, 4).sum(0, keepdim=keep).shape == (1, 4)
    with pytest.raises(TypeError, match="sum: keepdim must be a bool"):
        st.ones(3, 4).sum(0, keepdim=1)
