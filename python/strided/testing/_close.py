"""`assert_close` and `assert_equal`: how arguments are paired, and when elements count as close."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import strided as st
from strided import Tensor
from strided.testing import _report
from strided.testing._distance import is_finite, off_by, same_signs, steps, wide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

#: The default rtol and atol of inexact dtypes, as in PyTorch.
TOLERANCES = {
    st.float16: (1e-3, 1e-5),
    st.bfloat16: (1.6e-2, 1e-5),
    st.float32: (1.3e-6, 1e-5),
    st.float64: (1e-7, 1e-7),
    st.complex64: (1.3e-6, 1e-5),
    st.complex128: (1e-7, 1e-7),
}

#: The number of elements compared at a time, so that intermediate results stay in the cache.
COMPARED_ELEMENTS = 1 << 16


class Rule:
    """The criteria of one comparison: tolerances, and the attributes that must agree."""

    def __init__(
        self,
        operation: str,
        *,
        rtol: float | None = None,
        atol: float | None = None,
        ulp: int | None = None,
        equal_nan: bool = False,
        signed_zero: bool = False,
        allow_subclasses: bool = True,
        attributes: tuple[str, ...] = (),
        check_shape: bool = True,
        msg: str | Callable[[str], str] | None = None,
    ) -> None:
        if (rtol is None) != (atol is None):
            raise ValueError(f"{operation}: rtol is {rtol} and atol is {atol}; give both or none")
        for name, value in (("rtol", rtol), ("atol", atol), ("ulp", ulp)):
            if value is not None and not value >= 0:
                raise ValueError(f"{operation}: {name} is {value}, wanted 0 or more")
        self.operation = operation
        self.tolerances = (rtol or 0.0, atol or 0.0) if rtol is not None or ulp is not None else None
        self.ulp = ulp or 0
        self.equal_nan = equal_nan
        self.signed_zero = signed_zero
        self.allow_subclasses = allow_subclasses
        self.attributes = attributes
        self.check_shape = check_shape
        self.msg = msg

    def tolerances_for(self, *dtypes: st.dtype) -> tuple[float, float]:
        """Returns the given rtol and atol, or the greatest defaults of the dtypes."""
        if self.tolerances is not None:
            return self.tolerances
        found = [TOLERANCES[dtype] for dtype in dtypes if dtype in TOLERANCES]
        return max((rtol for rtol, _ in found), default=0.0), max((atol for _, atol in found), default=0.0)

    def fail(self, path: str, message: str) -> NoReturn:
        text = f"{self.operation}{': at ' + path if path else ''}: {message}"
        raise AssertionError(self.msg(text) if callable(self.msg) else text if self.msg is None else self.msg)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    ulp: int | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_shape: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raises AssertionError, with a message that says what differs, unless `actual` is close to `expected`.

    Elements are close if they are equal, if ``abs(actual - expected) <= atol + rtol * abs(expected)``, or if they are at
    most `ulp` steps apart (see `ulp_distance`). An infinity is close only to itself; a NaN is close to a NaN if `equal_nan`.
    The difference is computed in float64 or complex128; that of integers is exact.

    The default tolerances (rtol, atol) depend on the dtype and are PyTorch's: 1e-3, 1e-5 for float16; 1.6e-2, 1e-5 for
    bfloat16; 1.3e-6, 1e-5 for float32 and complex64; 1e-7, 1e-7 for float64 and complex128; otherwise 0. If only `ulp` is
    given, rtol and atol are 0.

    The arguments may be tensors, NumPy arrays and other buffers, numbers, and sequences and mappings of these, which are
    compared item by item. A number or nested list is converted to the dtype of the tensor it is compared with. Shapes must
    agree (or broadcast, without `check_shape`), and so must dtype, device and strides if they are checked. `msg` replaces
    the message; a function receives the message and returns another. `check_layout` has no effect: every tensor is strided.

    >>> import strided
    >>> from strided.testing import assert_close
    >>> assert_close(strided.tensor([1.0, 2.0]), [1.0, 2.000001])
    >>> assert_close({"w": strided.ones(2), "n": 3}, {"w": strided.ones(2), "n": 3})
    >>> assert_close(strided.arange(6.0).view(2, 3), [[0, 1, 2], [3, 4.5, 5]])
    Traceback (most recent call last):
        ...
    AssertionError: assert_close: 1 of 6 elements differs (16.7 %), float32 2x3
      at [1, 1]: got 4, wanted 4.5: 0.5 off, 0.111 relative, 1048576 ULP
      allowed: 1e-05 + 1.3e-06 relative
    <BLANKLINE>
      got         wanted
      0  1   2    0    1   2
      3  4*  5    3  4.5*  5
    """
    checked = {"device": check_device, "dtype": check_dtype, "stride": check_stride}
    rule = Rule(
        "assert_close",
        rtol=rtol,
        atol=atol,
        ulp=ulp,
        equal_nan=equal_nan,
        allow_subclasses=allow_subclasses,
        attributes=tuple(name for name, check in checked.items() if check),
        check_shape=check_shape,
        msg=msg,
    )
    compare(actual, expected, rule, "")


def assert_equal(
    actual: Any,
    expected: Any,
    *,
    equal_nan: bool = True,
    signed_zero: bool = True,
    check_dtype: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raises AssertionError, with a message that says what differs, unless `actual` equals `expected` exactly.

    Shape, dtype and every element must agree. NaNs are equal unless `equal_nan` is False, and 0.0 differs from -0.0 unless
    `signed_zero` is False. The arguments are those of `assert_close`.

    >>> import strided
    >>> from strided.testing import assert_equal
    >>> assert_equal(strided.arange(3) * 2, [0, 2, 4])
    >>> assert_equal(strided.zeros(2), strided.zeros(2, dtype=strided.float64))
    Traceback (most recent call last):
        ...
    AssertionError: assert_equal: the dtypes differ: got float32, wanted float64
    """
    checked = {"device": True, "dtype": check_dtype, "stride": check_stride}
    rule = Rule(
        "assert_equal",
        rtol=0.0,
        atol=0.0,
        equal_nan=equal_nan,
        signed_zero=signed_zero,
        attributes=tuple(name for name, check in checked.items() if check),
        msg=msg,
    )
    compare(actual, expected, rule, "")


# Pairing the arguments


def compare(actual: Any, expected: Any, rule: Rule, path: str) -> None:
    """Compares two values and, recursively, their items. `path` is the subscript that leads to them, as in `[0]['w']`."""
    if _is_number(actual) and _is_number(expected):
        _compare_numbers(actual, expected, rule, path)
    elif actual is None and expected is None:
        return
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        _compare_mappings(actual, expected, rule, path)
    elif _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            rule.fail(path, f"the lengths differ: got {len(actual)}, wanted {len(expected)}")
        for i, (x, y) in enumerate(zip(actual, expected, strict=True)):
            compare(x, y, rule, f"{path}[{i}]")
    else:
        _compare_tensors(*_as_tensors(actual, expected, rule, path), rule, path)


def _is_number(value: Any) -> bool:
    return type(value) in (bool, int, float, complex)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview))


def _compare_numbers(actual: Any, expected: Any, rule: Rule, path: str) -> None:
    got, wanted = type(actual), type(expected)
    if got is not wanted and "dtype" in rule.attributes:
        rule.fail(path, f"the types differ: got {got.__name__} ({actual}), wanted {wanted.__name__} ({expected})")
    if isinstance(actual, int) and isinstance(expected, int):  # may exceed every dtype
        rtol, atol = rule.tolerances_for()
        off = abs(actual - expected)
        if off and not (off <= rule.ulp or off <= atol + rtol * abs(expected)):
            rule.fail(path, f"got {actual}, wanted {expected}: {off} off")
        return
    dtype = st.complex128 if complex in (got, wanted) else st.float64
    _compare_tensors(st.tensor(actual, dtype=dtype), st.tensor(expected, dtype=dtype), rule, path)


def _compare_mappings(actual: Mapping[Any, Any], expected: Mapping[Any, Any], rule: Rule, path: str) -> None:
    missing = [key for key in expected if key not in actual]
    extra = [key for key in actual if key not in expected]
    if missing or extra:
        found = [
            f"{word} {', '.join(map(repr, keys))}" for word, keys in (("without", missing), ("with", extra)) if keys
        ]
        rule.fail(path, f"the keys differ: got a mapping {' and '.join(found)}")
    for key in expected:
        compare(actual[key], expected[key], rule, f"{path}[{key!r}]")


def _as_tensors(actual: Any, expected: Any, rule: Rule, path: str) -> tuple[Tensor, Tensor]:
    """Converts both to tensors. A number or list takes the dtype of the other argument, unless its category is higher."""
    plain = [_is_number(value) or _is_sequence(value) for value in (actual, expected)]
    for value, is_plain in zip((actual, expected), plain, strict=True):
        if not is_plain and (isinstance(value, (str, Mapping)) or value is None):
            other = expected if value is actual else actual
            at = f": at {path}" if path else ""
            raise TypeError(f"{rule.operation}{at}: cannot compare {type(value).__name__} with {type(other).__name__}")
    if not rule.allow_subclasses and type(actual) is not type(expected):
        rule.fail(path, f"the classes differ: got {type(actual).__name__}, wanted {type(expected).__name__}")
    if plain[0]:
        y = st.as_tensor(expected)
        return _like(actual, y), y
    x = st.as_tensor(actual)
    return x, _like(expected, x) if plain[1] else st.as_tensor(expected)


def _like(value: Any, other: Tensor) -> Tensor:
    natural = st.tensor(value)
    if natural.dtype is other.dtype or natural.numel() == 0:
        return natural.to(other.dtype)
    if _category(natural.dtype) > _category(other.dtype):
        return natural
    try:
        return st.tensor(value, dtype=other.dtype)
    except OverflowError:  # an int out of the dtype's range
        return natural


def _category(dtype: st.dtype) -> int:
    return 3 if dtype.is_complex else 2 if dtype.is_floating_point else 0 if dtype is st.bool else 1


# Comparing elements


def _compare_tensors(x: Tensor, y: Tensor, rule: Rule, path: str) -> None:
    shape = x.shape if x.shape == y.shape else None if rule.check_shape else _common_shape(x.shape, y.shape)
    if shape is None:
        rule.fail(path, f"the shapes differ: got {_report.size(x)}, wanted {_report.size(y)}")
    faults = _report.attributes(x, y, rule.attributes)
    rtol, atol = rule.tolerances_for(x.dtype, y.dtype)
    x, y = x.expand(shape), y.expand(shape)
    if x.dtype is not y.dtype:
        try:
            common = st.promote_types(x.dtype, y.dtype)
        except st.DTypeError:
            if faults:
                rule.fail(path, "; ".join(faults))
            raise
        x, y = x.to(common), y.to(common)
    differs = _differs(x, y, rule, rtol, atol)
    if differs is not None:
        faults.append(_report.values(x, y, differs, rule, rtol, atol))
    if faults:
        rule.fail(path, "; ".join(faults))


def _common_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    rank = max(len(a), len(b))
    pairs = [*zip((1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b), strict=True)]
    if any(m != n and 1 not in (m, n) for m, n in pairs):
        return None
    return tuple(n if m == 1 else m for m, n in pairs)


def _differs(x: Tensor, y: Tensor, rule: Rule, rtol: float, atol: float) -> Tensor | None:
    """Returns a flat tensor of bools, True where elements are not close; None if all are."""
    x, y = x.reshape(-1), y.reshape(-1)
    n = x.numel()
    differs: Tensor | None = None
    for start in range(0, n, COMPARED_ELEMENTS):
        piece = slice(start, min(start + COMPARED_ELEMENTS, n))
        close = _close(x[piece], y[piece], rule, rtol, atol)
        if close.sum().item() != close.numel():
            if differs is None:
                differs = st.zeros(n, dtype=st.bool)
            differs[piece] = close == False  # noqa: E712
    return differs


def _close(x: Tensor, y: Tensor, rule: Rule, rtol: float, atol: float) -> Tensor:
    """Returns True where elements are close. For bools, + is `or` and * is `and`."""
    inexact = x.dtype.is_floating_point or x.dtype.is_complex
    close = x == y
    if inexact and rule.signed_zero:
        close = close * same_signs(x, y)
    if inexact and rule.equal_nan:
        close = close + (x != x) * (y != y)
    if not (rtol or atol or rule.ulp) or close.sum().item() == close.numel():
        return close
    if rtol or atol:
        off, size = off_by(x, y), abs(wide(y))
        close = close + (off <= size * rtol + atol) * is_finite(off)
    if rule.ulp:
        close = close + (steps(x, y) <= rule.ulp) * is_finite(x) * is_finite(y)
    return close
