"""Memory that the host cannot address: what needs no element works, everything else is a DeviceError, and nothing crashes."""

import copy
import io
import pickle
import re

import device_cases as cases
import pytest
from op_rows import OPS

import strided as st

#: What every object has and tensors define in a way of their own.
OWN_PROTOCOLS = {"__format__", "__hash__", "__reduce_ex__", "__repr__", "__sizeof__", "__str__"}
#: Slots that `test_operators` calls by their operators.
BINARY = ["+", "-", "*", "/", "//", "%", "**", "@", "<", "<=", "==", "!=", ">", ">="]
INTEGER = ["&", "|", "^", "<<", ">>"]
SLOTS = re.compile(
    r"__[ri]?(add|and|divmod|floordiv|lshift|matmul|mod|mul|or|pow|rshift|sub|truediv|xor)__|__(abs|invert|neg|pos)__"
)
#: Protocols that other libraries call; `test_numpy_functions` makes arrays of their arguments.
NUMPY = {"__array_function__", "__array_ufunc__"}


def lines(text):
    return text.strip().splitlines()


def parts(call):
    """The receiver of a call, and the name that it uses."""
    receiver, _, rest = call.partition(".")
    return receiver, re.match(r"\w+", rest)[0]


def as_function(call):
    """`x.narrow(0, 1)` as `st.narrow(x, 0, 1)`; None if there is no such function, or it is a property."""
    receiver, name = parts(call)
    # The condition comes first in `st.where`.
    has_function = name != "where" and not name.startswith("__") and is_function(getattr(st._strided, name, None))
    if receiver in ("st", "t") or f".{name}(" not in call or not has_function:
        return None
    return f"st.{name}({receiver}, {call.partition(f'.{name}(')[2]}".replace(", )", ")")


def is_function(value):
    return callable(value) and not isinstance(value, type)


def members(cls):
    hidden = set(dir(object)) - OWN_PROTOCOLS
    # Python 3.12 has names for the slots of buffers, which `memoryview` calls.
    hidden |= {"__delitem__", "__slotnames__", "__buffer__", "__release_buffer__"}
    return {name for name in dir(cls) if name not in hidden}


def elementwise():
    return {name: row for row in OPS.values() for name in (row.name, *row.names)}


def check(call, expected):
    """Makes a call with tensors on the device. A refusal names an operation and the device."""
    tensors = cases.tensors()
    names = {"st": st, **tensors, "t": tensors["x"].storage()}
    if expected == "works":
        eval(call, names)
        return
    with pytest.raises(st.DeviceError) as raised:
        eval(call, names)
    assert re.match(r"\S.*: .*\btest:0\b", str(raised.value)), str(raised.value)


CALLS = [(call, "works") for call in lines(cases.WORKS) + lines(cases.STORAGE_WORKS)]
CALLS += [(call, "refuses") for call in lines(cases.REFUSES) + lines(cases.STORAGE_REFUSES)]


@pytest.mark.parametrize(("call", "expected"), CALLS, ids=[call for call, _ in CALLS])
def test_call(call, expected):
    check(call, expected)
    if function := as_function(call):
        check(function, expected)


@pytest.mark.parametrize("name", sorted(elementwise()))
def test_elementwise_operation(name):
    row = elementwise()[name]
    operand = "j" if row.accepts in ("bits", "int") else "x"
    operands = ["k", "x", "x"] if row.accepts == "select" else [operand] * row.arity
    check(f"st.{name}({', '.join(operands)})", "refuses")
    if hasattr(st.Tensor, f"{name}_"):
        check(f"{operands[0]}.{name}_({', '.join(operands[1:])})", "refuses")


@pytest.mark.parametrize("operator", BINARY + INTEGER)
def test_operators(operator):
    number = "j" if operator in INTEGER else "x"
    for left, right in [(number, number), (number, "2"), ("2", number)]:
        if operator != "@" or left == right:
            check(f"{left} {operator} {right if operator != '@' else 'm'}", "refuses")


@pytest.mark.parametrize("call", ["-x", "+x", "~j", "abs(x)", "divmod(x, x)", "divmod(2, x)", "round(x)"])
def test_unary_operators(call):
    check(call, "refuses")


def test_the_table_has_all_functions_and_methods():
    listed = {"st": set(), "t": set(), "x": set()}
    for call, _ in CALLS:
        receiver, name = parts(call)
        listed[receiver if receiver in listed else "x"].add(name)
    by_op = set(elementwise()) | {f"{name}_" for name in elementwise()}
    operators = {name for name in dir(st.Tensor) if SLOTS.fullmatch(name)}
    assert members(st.Tensor) - by_op - operators - NUMPY == listed["x"]
    assert members(type(st.zeros(2).storage())) - {"from_file", "flush"} == listed["t"]
    functions = {
        name for name in dir(st._strided) if not name.startswith("_") and is_function(getattr(st._strided, name))
    }
    assert functions - by_op - set(lines(cases.WITHOUT_TENSORS)) == (listed["st"] | listed["x"]) & functions - by_op
    assert listed["st"] <= functions


@pytest.mark.parametrize(
    "call",
    [
        "memoryview(x)",
        "memoryview(t)",
        "pickle.dumps(x)",
        "pickle.dumps(t)",
        "st.save(x, io.BytesIO())",
        "str(st.draw(x))",
        "st.testing.assert_close(x, x)",
    ],
)
def test_functions_of_the_package(call):
    x = st._strided._unaddressable((3, 4), st.float32)
    with pytest.raises(st.DeviceError, match="test:0"):
        eval(call, {"st": st, "pickle": pickle, "io": io, "x": x, "t": x.storage()})


def test_a_layout_needs_no_memory():
    x = st._strided._unaddressable((3, 4), st.float32)
    like = st.zeros(3, 4).layout
    assert (x.layout.shape, x.layout.stride, x.layout.offset) == (like.shape, like.stride, like.offset)
    assert str(x.layout.draw()) == str(like.draw())


def test_the_device():
    x = st._strided._unaddressable((3, 4), st.float32)
    assert (str(x.device), x.device.type, x.device.index) == ("test:0", "test", 0)
    assert x.device != st.device("cpu") and x.device == x.storage().device and x.device != "cpu"
    assert hash(x.device) != hash(st.device("cpu"))
    assert x[1:].t().device == st.empty_like(x).device == x.new_empty(2).device == x.device
    assert st.zeros(2).device == st.device("cpu") == "cpu"
    with pytest.raises(st.ArgumentError, match="device is 'test:0', wanted 'cpu'"):
        st.zeros(2, device="test:0")


def test_handles_and_views_share_the_storage():
    x = st._strided._unaddressable((3, 4), st.float32)
    assert copy.copy(x).is_set_to(x) and x.view(12).storage() is x.storage()
    assert (x.storage().size(), x.storage().nbytes, x[1, 2].storage_offset()) == (12, 48, 6)
    assert x.to(x.device) is x
    with pytest.raises(st.ShapeError, match="as_strided"):
        x.as_strided((13,), (1,))


@pytest.mark.parametrize(
    "call",
    [
        "x + y",
        "y + x",
        "y.copy_(x)",
        "x.copy_(y)",
        "st.cat([x, y])",
        "x @ y.t()",
        "y[x > 0]",
        "st.add(y, y, out=x)",
        "st.sum(y, 0, out=x[0])",
        "st.cumsum(y, 0, out=x)",
        "st.matmul(y, y.t(), out=x[:, :3])",
        "st.where(y > 0, x, y)",
        "y.index_put_((st.zeros(3, dtype=st.int64),), x)",
        "y.to(x.device)",
        "x.to('cpu')",
        "x.to(y)",
        "st.tensor([1.0], device=x.device)",
        "st.einsum('ij,kj->ik', x, y)",
    ],
)
def test_operands_on_two_devices(call):
    x, y = st._strided._unaddressable((3, 4), st.float32), st.zeros(3, 4)
    with pytest.raises(st.DeviceError, match="test:0"):
        eval(call, {"st": st, "x": x, "y": y})
    assert y.equal(st.zeros(3, 4))


def test_nothing_is_written_if_an_output_is_elsewhere():
    x, y = st._strided._unaddressable((3,), st.float32), st.ones(3)
    with pytest.raises(st.DeviceError, match="add: the operands are on cpu and test:0; they must be on one device"):
        st.add(y, y, out=x)
    with pytest.raises(st.DeviceError):
        st.add(x, x, out=y)
    assert y.tolist() == [1.0, 1.0, 1.0]
