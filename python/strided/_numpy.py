"""Tensors in NumPy: as arrays, and as arguments of its functions. NumPy is imported when it is first needed.

``numpy.sin(x)``, ``numpy.add(x, y)``, ``numpy.mean(x, axis=0)`` and the like return tensors. Where a row of our tables names
the NumPy function, that row computes the result, by the rules of tensors (promotion, NaN). All other functions are called
with arrays on the memory of the tensors, and the arrays they return become tensors again, views included.
"""

from strided import _strided as native
from strided._strided import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy


def to_numpy(x: Tensor) -> "numpy.ndarray[Any, Any]":
    """Returns an array on the memory of the tensor. The array holds a buffer, which keeps the storage from being resized."""
    import numpy

    array: numpy.ndarray[Any, Any] = numpy.asarray(memoryview(x))
    return array


def to_array(x: Tensor, dtype: "Any" = None, copy: bool | None = None) -> "numpy.ndarray[Any, Any]":
    """Implements `Tensor.__array__`, which ``numpy.asarray(x, dtype, copy=copy)`` calls."""
    array = to_numpy(x)
    if copy is False and dtype is not None and dtype != array.dtype:
        raise ValueError(f"__array__: {x.dtype} as {dtype} needs a copy")
    if copy:
        return array.astype(dtype or array.dtype, copy=True)
    return array if dtype is None else array.astype(dtype, copy=False)


def to_bytes(x: Tensor) -> bytes:
    """Returns the bytes of the elements in row-major order, also for bfloat16, which has no buffer format."""
    return memoryview(x.view("uint16") if x.dtype.name == "bfloat16" else x).tobytes()


def to_complex(x: Tensor) -> complex:
    """Returns the only element as a complex number."""
    return complex(x.item())


#: NumPy's methods of universal functions that are functions of ours.
_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "amax",
    "minimum": "amin",
    "logical_and": "all",
    "logical_or": "any",
}
_SCANS = {"add": "cumsum", "multiply": "cumprod"}


def array_ufunc(self: Tensor, ufunc: "Any", method: str, *inputs: "Any", **kwargs: "Any") -> "Any":
    """``Tensor.__array_ufunc__``: a universal function of NumPy, called with tensors among its operands."""
    names = {"__call__": _functions(), "reduce": _REDUCTIONS, "accumulate": _SCANS}.get(method, {})
    name = names.get(ufunc.__name__)
    options = {key: value for key, value in kwargs.items() if value is not None}
    out = options.pop("out", (None,))
    if method == "__call__":
        supported = not options
    else:
        options.setdefault("axis", 0)
        supported = options.keys() <= ({"axis", "keepdims", "dtype"} if method == "reduce" else {"axis", "dtype"})
        if kwargs.get("axis", 0) is None and method == "reduce":
            options["axis"] = None
    if name is None or not supported or len(out) != 1 or not isinstance(out[0], Tensor | None):
        return _by_conversion(getattr(ufunc, method), inputs, kwargs)
    if out[0] is not None:
        options["out"] = out[0]
    # Operations on elements take arrays and numbers as they are; a product takes tensors.
    convert = native.as_tensor if name == "matmul" else _operand
    return getattr(native, name)(*map(convert, inputs), **options)


def array_function(self: Tensor, function: "Any", types: "Any", args: "Any", kwargs: "Any") -> "Any":
    """``Tensor.__array_function__``: any other function of NumPy, called with tensors among its arguments."""
    import numpy

    if not all(issubclass(kind, Tensor | numpy.ndarray) for kind in types):
        return NotImplemented
    if function in (numpy.empty_like, numpy.full_like, numpy.ones_like, numpy.zeros_like):
        return _filled_like(function, args, kwargs)
    name = _functions().get(function.__name__)
    if name is not None and getattr(numpy, function.__name__, None) is function:
        try:
            first, options = _named_arguments(function, name, args, kwargs)
            options = {**_DEFAULTS.get(name, {}), **options}
            if _is_operand(first, name) and _takes(name, options):
                return getattr(native, name)(first, **options)
        except _NotOurs:
            pass
    return _by_conversion(function, args, kwargs)


def _filled_like(function: "Any", args: "Any", kwargs: "Any") -> "Any":
    """``numpy.ones_like`` and its relatives. The result has the dtype of the tensor, also if that is bfloat16."""
    import inspect

    signature = inspect.signature(function)
    given = dict(signature.bind(*args, **kwargs).arguments)
    like = given.pop(next(iter(signature.parameters)))
    dtype, fill_value = given.get("dtype"), given.get("fill_value")
    ours = given.keys() <= {"dtype", "fill_value"} and isinstance(fill_value, bool | int | float | complex | None)
    if isinstance(like, Tensor) and ours and (dtype is None or _is_dtype(dtype)):
        values = () if fill_value is None else (fill_value,)
        return getattr(native, function.__name__)(like, *values, dtype=dtype)
    result = _by_conversion(function, args, kwargs)
    return result.to(like.dtype) if isinstance(like, Tensor) and dtype is None else result


def _is_dtype(dtype: "Any") -> bool:
    """Whether an object is a dtype of ours."""
    try:
        native.dtype(dtype)
    except TypeError:
        return False
    return True


class _NotOurs(Exception):
    """The arguments are not those of a function of ours."""


#: Where NumPy's default is not ours.
_DEFAULTS: "dict[str, dict[str, Any]]" = {"std": {"correction": 0}, "var": {"correction": 0}}
#: NumPy's names of parameters, where they are not among the names of ours.
_PARAMETERS = {"ddof": "correction", "axis": "dim", "keepdims": "keepdim", "reps": "dims", "shift": "shifts"}
#: The same for single functions of ours.
_OWN_PARAMETERS = {
    "roll": {"axis": "dims"},
    "tril": {"k": "diagonal"},
    "triu": {"k": "diagonal"},
    "diag": {"k": "diagonal"},
    "diagflat": {"k": "offset"},
}
#: Functions of ours whose first argument is a sequence of tensors.
_SEQUENCE = frozenset({"cat", "stack", "hstack", "vstack", "dstack", "column_stack"})


def _functions() -> dict[str, str]:
    """NumPy's functions by name, and ours that compute them."""
    global _table
    if _table is None:
        _table = dict(native._numpy_names())
    return _table


_table: dict[str, str] | None = None


def _is_operand(first: "Any", name: str) -> bool:
    """Whether a first argument is a tensor, or tensors and arrays for a function that joins them."""
    import numpy

    if name not in _SEQUENCE:
        return isinstance(first, Tensor)
    return isinstance(first, list | tuple) and all(isinstance(item, Tensor | numpy.ndarray) for item in first)


def _named_arguments(function: "Any", ours: str, args: "Any", kwargs: "Any") -> "tuple[Any, dict[str, Any]]":
    """The first argument, and all others by the names of ours, without those that have NumPy's default."""
    import inspect

    import numpy

    try:
        signature = inspect.signature(function)
        bound = signature.bind(*args, **kwargs)
    except (TypeError, ValueError):
        raise _NotOurs from None
    names = iter(signature.parameters)
    first = bound.arguments.pop(next(names))
    options = {}
    for name, value in bound.arguments.items():
        default = signature.parameters[name].default
        if value is None and default is not None and default is not numpy._NoValue and ours in _SEQUENCE:
            raise _NotOurs  # `axis=None` joins the elements of all arrays
        if value is not default and value is not numpy._NoValue and value is not None:
            options[_OWN_PARAMETERS.get(ours, {}).get(name) or _PARAMETERS.get(name, name)] = value
    return first, options


def _takes(name: str, options: "dict[str, Any]") -> bool:
    """Whether a function of ours has all of these parameters, and can take these values."""
    import inspect

    parameters = list(inspect.signature(getattr(native, name)).parameters.values())[1:]
    required = {parameter.name for parameter in parameters if parameter.default is parameter.empty}
    names = {parameter.name for parameter in parameters}
    return required <= options.keys() <= names and isinstance(options.get("out"), Tensor | None)


def _operand(value: "Any") -> "Any":
    """An operand of a universal function: tensors, arrays and numbers as they are, sequences as tensors."""
    return native.as_tensor(value) if isinstance(value, list | tuple) else value


def _by_conversion(function: "Any", args: "Any", kwargs: "Any") -> "Any":
    """Calls a function with arrays in place of tensors, and returns tensors in place of arrays.

    An array that was passed in comes back as it is: ``array += tensor`` returns the array.
    """
    import numpy

    passed: dict[int, Any] = {}

    def to_arrays(value: "Any") -> "Any":
        if isinstance(value, Tensor):
            array = to_numpy(value.float() if value.dtype.name == "bfloat16" else value)
            passed[id(array)] = (array, value)
            return array
        if isinstance(value, numpy.ndarray):
            passed[id(value)] = (value, value)
        elif isinstance(value, list | tuple):
            return _rebuilt(value, map(to_arrays, value))
        elif isinstance(value, dict):
            return {key: to_arrays(item) for key, item in value.items()}
        return value

    def to_tensors(value: "Any") -> "Any":
        if id(value) in passed:
            return passed[id(value)][1]
        if isinstance(value, numpy.ndarray | numpy.generic) and value.dtype.kind in "biufc":
            return native.from_numpy(value) if isinstance(value, numpy.ndarray) else native.tensor(value)
        if isinstance(value, list | tuple):
            return _rebuilt(value, map(to_tensors, value))
        return value

    arguments = to_arrays(tuple(args))
    return to_tensors(function(*arguments, **to_arrays(kwargs)))


def _rebuilt(sequence: "Any", items: "Any") -> "Any":
    """A sequence of the same type with other items; named tuples take theirs one by one."""
    kind = type(sequence)
    return kind(*items) if hasattr(kind, "_fields") else kind(items)
