"""Makes python/strided/_strided.pyi, the types of the native module, from the module as it is built.

    python tools/stubs.py             writes the file
    python tools/stubs.py --check     says in one sentence if the file is stale, and ends with exit code 1

Names, parameters, defaults and documents are asked of the module. Their types are not in it: the tables below give them,
by the name of a parameter and by the name of what returns. A name without a type is an error that says where it is
missing, so the stubs are complete or there are none.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from inspect import Parameter
from pathlib import Path
from typing import Any

from strided import _strided as native

STUBS = Path(__file__).resolve().parent.parent / "python/strided/_strided.pyi"

# `int`, `float` and `bool` are dtypes in this module and methods of its classes; `dtype` and `device` are properties too.
# So everything is written with names that nothing in the module has.
HEADER = '''\
"""Types of the native module. Made by tools/stubs.py from the built module: `./dev stubs` makes it anew."""

import builtins
from collections.abc import Iterator, Sequence
from os import PathLike
from types import EllipsisType
from typing import Any, Literal, Protocol, SupportsFloat, SupportsIndex, TypeAlias, final, overload

import numpy
from strided import return_types as _return_types
from strided.display.drawing import Drawing
from typing_extensions import Buffer, CapsuleType, Self

_Bool: TypeAlias = builtins.bool
_Complex: TypeAlias = builtins.complex
_DType: TypeAlias = dtype
_Device: TypeAlias = device
_Float: TypeAlias = builtins.float
_Int: TypeAlias = builtins.int
_Layout: TypeAlias = Layout
_NDArray: TypeAlias = numpy.ndarray[Any, Any]

class _Named(Protocol):
    """Something with a name, such as a dtype of NumPy."""

    @property
    def name(self) -> str: ...

class _Array(Protocol):
    """Something that is an array to NumPy."""

    def __array__(self) -> Any: ...

class _Lender(Protocol):
    """Something that lends its memory through DLPack."""

    def __dlpack__(self) -> CapsuleType: ...

_DTypeLike: TypeAlias = dtype | str | type[Any] | _Named
_DeviceLike: TypeAlias = device | str
_Index: TypeAlias = SupportsIndex | slice | EllipsisType | None
_Ints: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
_Number: TypeAlias = builtins.complex | SupportsFloat | SupportsIndex
_Sizes: TypeAlias = Sequence[SupportsIndex]
_Path: TypeAlias = str | bytes | PathLike[str] | PathLike[bytes]
_Nested: TypeAlias = _Number | Sequence["_Nested"]
_Data: TypeAlias = Tensor | Storage | Buffer | _Array | _Nested
_Operand: TypeAlias = Tensor | Buffer | _Array | _Number

class _Count(builtins.int):
    """The number of elements of a tensor; called, it gives the extents."""

    @overload
    def __call__(self, dim: None = None) -> Size: ...
    @overload
    def __call__(self, dim: SupportsIndex) -> _Int: ...
'''

PARAMETERS = {
    "alpha": "_Number",
    "append": "Tensor",
    "args": "Any",
    "atol": "SupportsFloat",
    "aweights": "Tensor",
    "base": "_Number",
    "beta": "SupportsFloat",
    "buffer": "Buffer",
    "bytes": "SupportsIndex",
    "chunks": "SupportsIndex",
    "condition": "Tensor | Buffer | _Array | _Bool",
    "copy": "_Bool",
    "correction": "SupportsIndex",
    "count": "SupportsIndex",
    "create": "_Bool",
    "d": "_DTypeLike",
    "data": "_Data",
    "decimals": "SupportsIndex",
    "descriptor": "SupportsIndex",
    "destination": "_Ints",
    "device": "_DeviceLike",
    "dim": "SupportsIndex",
    "dim0": "SupportsIndex",
    "dim1": "SupportsIndex",
    "dim2": "SupportsIndex",
    "dims": "_Ints",
    "dl_device": "tuple[_Int, _Int]",
    "dtype": "_DTypeLike",
    "dx": "_Number",
    "end": "_Number",
    "end_dim": "SupportsIndex",
    "eps": "SupportsFloat",
    "equal_nan": "_Bool",
    "ext": "_Lender | CapsuleType",
    "extents": "_Ints",
    "filename": "_Path",
    "fill_value": "_Number",
    "force": "_Bool",
    "from_": "_DTypeLike",
    "fweights": "Tensor",
    "grow": "_Bool",
    "index": "_Ints",
    "indices": "_Ints",
    "i": "SupportsIndex",
    "indices_or_sections": "_Ints",
    "identity": "tuple[_Int, _Int]",
    "input": "Tensor",
    "j": "SupportsIndex",
    "keepdim": "_Bool",
    "length": "SupportsIndex",
    "max_version": "tuple[_Int, _Int]",
    "maxnorm": "_Number",
    "memo": "Any",
    "max": "_Operand",
    "min": "_Operand",
    "mode": "SupportsIndex",
    "m": "SupportsIndex",
    "modes": "_Ints",
    "n": "SupportsIndex",
    "name": "_DTypeLike",
    "nan": "SupportsFloat",
    "ndarray": "Buffer | _Array",
    "ndigits": "SupportsIndex",
    "neginf": "SupportsFloat",
    "non_blocking": "_Bool",
    "num_threads": "SupportsIndex",
    "obj": "object",
    "offset": "SupportsIndex",
    "order": 'Literal["row", "column"]',
    "other": "Tensor",
    "out": "Tensor",
    "p": "_Number",
    "posinf": "SupportsFloat",
    "prepend": "Tensor",
    "readonly": "_Bool",
    "requires_grad": "Literal[False]",
    "rounding_mode": 'Literal["floor", "trunc"]',
    "rtol": "SupportsFloat",
    "s": "_Number",
    "shape": "_Ints",
    "shared": "_Bool",
    "size": "_Ints",
    "sizes": "_Ints",
    "source": "Tensor | Storage",
    "split_size": "_Ints",
    "src": "_Data",
    "start": "SupportsIndex",
    "start_dim": "SupportsIndex",
    "step": "SupportsIndex",
    "steps": "SupportsIndex",
    "stop": "SupportsIndex",
    "storage": "Storage",
    "storage_offset": "SupportsIndex",
    "stream": "Any",
    "stride": "_Ints",
    "t": "_DTypeLike",
    "target": "_DTypeLike | _DeviceLike | Tensor",
    "tensor1": "Tensor | _Number",
    "tensor2": "Tensor | _Number",
    "threshold": "SupportsFloat",
    "to": "_DTypeLike",
    "type": "_DeviceLike",
    "type1": "_DTypeLike",
    "type2": "_DTypeLike",
    "value": "_Number",
    "x": "Tensor",
    "y": "Tensor",
    "unbiased": "_Bool",
}

# Where one name means different things: "owner.name" or "name", then the parameter.
SPECIAL = {
    ("as_strided", "input"): "Tensor | Storage",
    ("cummax", "out"): "tuple[Tensor, Tensor]",
    ("cummin", "out"): "tuple[Tensor, Tensor]",
    ("allclose", "other"): "_Operand",
    ("where", "input"): "_Operand",
    ("where", "other"): "_Operand",
    ("Layout.slice", "start"): "SupportsIndex",
    ("Layout.compatible", "other"): "Tensor | _Layout",
    ("expand_as", "other"): "Tensor | _Layout",
    ("view_as", "other"): "Tensor | _Layout",
    ("Storage.copy_", "source"): "_Data",
    ("Storage.resize_", "size"): "SupportsIndex",
    ("Storage.from_file", "size"): "SupportsIndex",
    ("from_file", "size"): "SupportsIndex",
    ("arange", "start"): "_Number",
    ("asarray", "obj"): "_Data",
    ("linspace", "start"): "_Number",
    ("logspace", "start"): "_Number",
    ("arange", "step"): "_Number",
    ("range", "start"): "_Number",
    ("range", "step"): "_Number",
    ("squeeze", "dim"): "_Ints",
    ("squeeze_", "dim"): "_Ints",
    **{
        (name, "dim"): "_Ints"
        for name in (
            *("sum", "nansum", "prod", "mean", "nanmean", "amax", "amin", "aminmax", "all", "any", "count_nonzero"),
            *("norm", "logsumexp"),
        )
    },
    **{(name, "dim"): "_Ints | _Bool" for name in ("var", "std", "var_mean", "std_mean")},
    **{(name, "out"): "tuple[Tensor, Tensor]" for name in ("aminmax", "var_mean", "std_mean")},
    **{(name, "p"): '_Number | Literal["fro"]' for name in ("norm", "dist")},
    **{(name, "correction"): "SupportsFloat" for name in ("var", "std", "var_mean", "std_mean")},
    ("movedim", "source"): "_Ints",
    ("moveaxis", "source"): "_Ints",
    ("select", "index"): "SupportsIndex",
    ("unfold", "size"): "SupportsIndex",
}
for row in native._ops():
    names = [form for name in row[-1] for form in (name, f"{name}_")]
    words = ("input", "other", "exponent", "values", "end", "weight", "tensor1", "tensor2")
    SPECIAL |= {(name, word): "_Operand" for name in names for word in words}

# NumPy's words, which are accepted for ours.
WORDS = {
    "dim": "axis",
    "dim0": "axis0",
    "dim1": "axis1",
    "dim2": "axis2",
    "keepdim": "keepdims",
    "size": "shape",
    "stride": "strides",
}
WITHOUT_WORDS = {"resize_", "slice", "unfold"}

VIEWS = "tuple[…, ...]"  # `…` is the class whose method it is
RETURNS = {
    "__array__": "_NDArray",
    "__bytes__": "bytes",
    "__complex__": "_Complex",
    "__dlpack__": "CapsuleType",
    "__dlpack_device__": "tuple[_Int, _Int]",
    "allclose": "_Bool",
    "can_cast": "_Bool",
    "chunk": VIEWS,
    "aminmax": "_return_types.aminmax",
    "cummax": "_return_types.cummax",
    "cummin": "_return_types.cummin",
    "data_ptr": "_Int",
    "equal": "_Bool",
    "std_mean": "_return_types.std_mean",
    "var_mean": "_return_types.var_mean",
    "dim": "_Int",
    "element_size": "_Int",
    "get_default_dtype": "_DType",
    "is_complex": "_Bool",
    "is_contiguous": "_Bool",
    "is_floating_point": "_Bool",
    "is_same_size": "_Bool",
    "is_set_to": "_Bool",
    "is_shared": "_Bool",
    "is_signed": "_Bool",
    "is_storage": "_Bool",
    "is_tensor": "_Bool",
    "item": "Any",
    "ndimension": "_Int",
    "nelement": "_Int",
    "numel": "_Int",
    "numpy": "_NDArray",
    "owns_storage": "_Bool",
    "promote_types": "_DType",
    "result_type": "_DType",
    "set_default_dtype": "None",
    "set_default_tensor_type": "None",
    "split": VIEWS,
    "storage": "Storage",
    "storageOffset": "_Int",
    "storage_offset": "_Int",
    "tensor_split": VIEWS,
    "to_real": "_DType",
    "tolist": "Any",
    "unbind": VIEWS,
    "_repr_html_": "str",
    "_repr_svg_": "str",
    "Layout.compatible": "_Bool",
    "Layout.draw": "Drawing",
    "Layout.extent": "_Int",
    "Layout.sequentially_contiguous": "_Bool",
    "Layout.svg": "str",
    "Storage.flush": "None",
    "Storage.from_file": "Storage",
    "Storage.size": "_Int",
    "Storage.tolist": "list[Any]",
    "_attach_memory": "Storage",
    "_known_memory": "Storage | None",
    "_part_of_memory": "Storage",
    "_shared_handle": "tuple[Any, ...]",
    "_memory_limit": "_Int",
    "_memory_stats": "dict[str, _Int]",
    "_memory_trim": "_Int",
    "_repr_depth": "_Int",
    "get_num_threads": "_Int",
    "set_num_threads": "None",
    "_ops": "list[tuple[str, _Int, str, str, str, str, list[tuple[str, str]], list[str]]]",
}

PROPERTIES = {
    "T": "Tensor",
    "__array_interface__": "dict[str, Any]",
    "device": "_Device",
    "dtype": "_DType",
    "filename": "str | None",
    "imag": "Tensor",
    "index": "_Int | None",
    "is_complex": "_Bool",
    "is_floating_point": "_Bool",
    "is_mapped": "_Bool",
    "is_signed": "_Bool",
    "itemsize": "_Int",
    "layout": "_Layout",
    "mT": "Tensor",
    "name": "str",
    "nbytes": "_Int",
    "ndim": "_Int",
    "owns_memory": "_Bool",
    "readonly": "_Bool",
    "real": "Tensor",
    "requires_grad": "_Bool",
    "shape": "Size",
    "size": "_Count",
    "type": "str",
    "Layout.bounds": "tuple[_Int, _Int] | None",
    "Layout.is_column_major": "_Bool",
    "Layout.is_contiguous": "_Bool",
    "Layout.is_injective": "_Bool",
    "Layout.is_row_major": "_Bool",
    "Layout.nmode": "_Int",
    "Layout.offset": "_Int",
    "Layout.size": "_Int",
    "Layout.span": "_Int",
    "Layout.stride": "tuple[_Int, ...]",
}

# Properties that can be assigned to.
SETTABLE = {"Tensor.real", "Tensor.imag"}

# Whole signatures, for what one line cannot say: (parameters after the first, result), several for overloads.
SIGNATURES = {
    "Layout.__getitem__": [("index: _Index | tuple[_Index, ...], /", "_Layout")],
    "Layout.location": [("*indices: SupportsIndex", "_Int"), ("indices: _Sizes, /", "_Int")],
    "Layout.view": [("*shape: SupportsIndex", "_Layout"), ("shape: _Sizes, /", "_Layout")],
    "Layout.__new__": [
        ("shape: _Ints, stride: _Ints | None = None, offset: SupportsIndex = 0", "Self"),
        ('shape: _Ints, *, order: Literal["row", "column"], offset: SupportsIndex = 0', "Self"),
    ],
    "Size.__add__": [("other: tuple[_Int, ...], /", "Size")],
    "Size.__getitem__": [("index: SupportsIndex, /", "_Int"), ("index: slice, /", "Size")],
    "Storage.__getitem__": [("index: SupportsIndex, /", "Any"), ("index: slice, /", "Storage")],
    "Storage.__new__": [
        ("size: SupportsIndex = 0, /, *, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None", "Self"),
        ("data: _Data, /, *, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None", "Self"),
    ],
    "Storage.__iter__": [("", "Iterator[Any]")],
    "Storage.__setitem__": [("index: SupportsIndex | slice, value: _Data, /", "None")],
    "Storage.type": [("dtype: None = None", "str"), ("dtype: _DTypeLike", "Storage")],
    "Storage.view": [("dtype: _DTypeLike", "Storage")],
    "Tensor.__new__": [
        ("*size: SupportsIndex, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None", "Self"),
        ("data: _Data, /, *, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None", "Self"),
    ],
    **{
        name: [
            ("dim: None = None, keepdim: _Bool = False, *, out: Tensor | None = None", "Tensor"),
            ("other: Tensor, *, out: Tensor | None = None", "Tensor"),
            (
                "dim: SupportsIndex, keepdim: _Bool = False, *, out: tuple[Tensor, Tensor] | None = None",
                f"_return_types.{name}",
            ),
        ]
        for name in ("max", "min")
    },
    "stride": [("dim: None = None", "tuple[_Int, ...]"), ("dim: SupportsIndex", "_Int"), ("*, axis: SupportsIndex", "_Int")],
    "type": [("dtype: None = None, non_blocking: _Bool = False", "str"), ("dtype: _DTypeLike, non_blocking: _Bool = False", "Tensor")],
    "view": [
        ("*size: SupportsIndex", "Tensor"),
        ("size: _Sizes", "Tensor"),
        ("*, shape: _Sizes", "Tensor"),
        ("dtype: _DTypeLike", "Tensor"),
    ],
}  # fmt: skip

# Python's protocols: parameters after self, and the result; `…` stands for the class.
PROTOCOLS = {
    "__abs__": ("", "Tensor"),
    "__bool__": ("", "_Bool"),
    "__contains__": ("value: object, /", "_Bool"),
    "__copy__": ("", "…"),
    "__deepcopy__": ("memo: Any, /", "…"),
    "__eq__": ("other: object, /", "_Bool"),
    "__float__": ("", "_Float"),
    "__format__": ("spec: str, /", "str"),
    "__getitem__": ("index: _Index | tuple[_Index, ...], /", "Tensor"),
    "__hash__": ("", "_Int"),
    "__index__": ("", "_Int"),
    "__int__": ("", "_Int"),
    "__iter__": ("", "Iterator[Tensor]"),
    "__len__": ("", "_Int"),
    "__ne__": ("other: object, /", "_Bool"),
    "__divmod__": ("other: _Operand, /", "tuple[Tensor, Tensor]"),
    "__rdivmod__": ("other: _Operand, /", "tuple[Tensor, Tensor]"),
    "__invert__": ("", "Tensor"),
    "__neg__": ("", "Tensor"),
    "__pos__": ("", "Tensor"),
    "__reduce__": ("", "str | tuple[Any, ...]"),
    "__reduce_ex__": ("protocol: SupportsIndex, /", "str | tuple[Any, ...]"),
    "__repr__": ("", "str"),
    "__round__": ("ndigits: SupportsIndex | None = None, /", "Tensor"),
    "__setitem__": ("index: _Index | tuple[_Index, ...], value: _Data, /", "None"),
    "__sizeof__": ("", "_Int"),
    "__str__": ("", "str"),
}
OPERATORS = {
    f"__{form}{name}__"
    for form in ("", "r", "i")
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift")
}
COMPARISONS = {"__lt__", "__le__", "__gt__", "__ge__"}
# `__delitem__` is there only to refuse; the buffer's methods are visible from Python 3.12 on, and are written by hand.
NOT_SHOWN = {"__buffer__", "__delitem__", "__doc__", "__module__", "__release_buffer__", "__slots__", "__weakref__", "__dict__"}  # fmt: skip
BUFFERS = {"Tensor", "Storage"}
STATIC = {"classmethod_descriptor", "staticmethod"}
SUBCLASSABLE = 1 << 10  # Py_TPFLAGS_BASETYPE


class Missing(Exception):
    """A name for which the tables have no type."""


def main(*arguments: str) -> int:
    if arguments not in ((), ("--check",)):
        print("stubs: takes only --check.", file=sys.stderr)
        return 2
    try:
        text = module()
    except Missing as missing:
        print(f"stubs: {missing}; add it to the tables of tools/stubs.py.", file=sys.stderr)
        return 1
    if not arguments:
        STUBS.write_text(text)
    elif not STUBS.exists() or STUBS.read_text() != text:
        print("stubs: python/strided/_strided.pyi is stale; ./dev stubs makes it anew.", file=sys.stderr)
        return 1
    return 0


def module() -> str:
    """The whole file: classes, then constants, then functions, each in the order of the alphabet."""
    names = sorted(name for name in vars(native) if not name.startswith("__"))
    public = ", ".join(f'"{name}"' for name in sorted(native.__all__))
    classes = [class_lines(name, value) for name in names if isinstance(value := getattr(native, name), type)]
    constants = [f"{name}: _DType" for name in names if isinstance(getattr(native, name), native.dtype)]
    functions = [callable_lines(name, value, "") for name in names if inspect.isbuiltin(value := getattr(native, name))]
    parts = [[HEADER, f"__all__ = [{public}]"], *classes, constants, [line for lines in functions for line in lines]]
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def class_lines(name: str, value: type) -> list[str]:
    bases = [base.__name__ for base in value.__bases__ if base is not object]
    bases = ["tuple[_Int, ...]" if base == "tuple" else base for base in bases]
    body = document(value)
    if type(value) is type:  # a typed class adds nothing to what it derives from
        members = {key: member for key, member in vars(value).items() if key not in NOT_SHOWN}
        for key in sorted(members, key=lambda key: (key.startswith("__"), key)):
            body += member_lines(name, key, members[key])
        if name in BUFFERS:
            body.append("def __buffer__(self, flags: _Int, /) -> memoryview: ...")
    head = f"class {name}({', '.join(bases)}):" if bases else f"class {name}:"
    final = [] if value.__flags__ & SUBCLASSABLE else ["@final"]
    return [*final, head, *(f"    {line}" for line in body or ["..."])]


def member_lines(owner: str, name: str, member: Any) -> list[str]:
    full = f"{owner}.{name}"
    if inspect.isgetsetdescriptor(member) or type(member).__name__ == "size_descriptor":
        result = PROPERTIES.get(full) or PROPERTIES.get(name)
        if not result:
            raise Missing(f"the property {full} has no type")
        lines = ["@property", *defined(f"def {name}(self) -> {result}:", document(member))]
        if full in SETTABLE:
            lines += [f"@{name}.setter", f"def {name}(self, value: _Data) -> None: ..."]
        return lines
    if full in SIGNATURES:
        return callable_lines(name, member, owner)
    if name == "__new__":
        return constructor_lines(owner, name)
    if name in PROTOCOLS or name in OPERATORS | COMPARISONS:
        return protocol_lines(owner, name)
    if isinstance(member, float):
        return [f"{name}: _Float"]
    if callable(member) or type(member).__name__ in STATIC:
        return callable_lines(name, member, owner)
    raise Missing(f"{full}, a {type(member).__name__}, has no type")


def protocol_lines(owner: str, name: str) -> list[str]:
    if name in OPERATORS or (owner == "Tensor" and name in COMPARISONS):
        return [f"def {name}(self, other: _Operand, /) -> Tensor: ..."]
    if name in COMPARISONS:
        return []  # the other side of having `==`
    parameters, result = PROTOCOLS[name]
    head = f"def {name}({', '.join(filter(None, ['self', parameters]))}) -> "
    if owner == "Tensor" and name in ("__eq__", "__ne__"):
        return [head.replace("object", "_Operand") + "Tensor: ...  # type: ignore[override]"]
    return [f"{head}{result.replace('…', owner)}: ..."]


def constructor_lines(owner: str, name: str) -> list[str]:
    """`__new__` of a class, whose parameters are those of the class."""
    try:
        parameters = list(inspect.signature(getattr(native, owner)).parameters.values())
    except ValueError:
        return []
    written = ["cls", *written_parameters(f"{owner}.{name}", parameters)]
    return [f"def {name}({', '.join(written)}) -> Self: ..."]


def callable_lines(name: str, value: Any, owner: str) -> list[str]:
    """A function or method: one definition, or one for each way to call it."""
    full = f"{owner}.{name}" if owner else name
    static = name != "__new__" and type(value).__name__ in STATIC
    receiver = [] if static or not owner else ["cls" if name == "__new__" else "self"]
    if ways := SIGNATURES.get(full) or SIGNATURES.get(name):
        first = receiver or ["input: Tensor"]
        written = [(", ".join(filter(None, [*first, parameters])), result) for parameters, result in ways]
    else:
        parameters = signature(full, getattr(getattr(native, owner), name) if owner else value)
        result = result_type(owner, name)
        written = [
            (", ".join(receiver + written_parameters(full, way)), result) for way in ways_to_call(name, parameters)
        ]
    lines: list[str] = []
    for at, (arguments, result) in enumerate(written):
        lines += ["@overload"] if len(written) > 1 else []
        lines += ["@staticmethod"] if static else []
        body = document(value) if at == 0 and not name.startswith("__") else []
        ignore = "  # type: ignore[override]" if full == "Size.__add__" else ""
        lines += defined(f"def {name}({arguments}) -> {result}:", body, ignore)
    return lines


def signature(full: str, value: Any) -> list[Parameter]:
    try:
        return [parameter for parameter in inspect.signature(value).parameters.values() if parameter.name != "self"]
    except ValueError:
        raise Missing(f"{full} has no signature") from None


def ways_to_call(name: str, parameters: list[Parameter]) -> Iterator[list[Parameter]]:
    """As written; with `*size` as one sequence; and with NumPy's words."""
    yield parameters
    rest = [p for p in parameters if p.kind is Parameter.VAR_POSITIONAL and p.name not in ("args", "index")]
    if rest:
        parameters = [p.replace(kind=Parameter.POSITIONAL_OR_KEYWORD) if p in rest else p for p in parameters]
        yield parameters
    if name in WITHOUT_WORDS:
        return
    words = [p.replace(name=WORDS.get(p.name, p.name)) for p in parameters]
    if words != parameters:
        yield words


def written_parameters(full: str, parameters: list[Parameter]) -> list[str]:
    written = [written_parameter(full, parameter) for parameter in parameters]
    kinds = [parameter.kind for parameter in parameters]
    if Parameter.KEYWORD_ONLY in kinds and Parameter.VAR_POSITIONAL not in kinds:
        written.insert(kinds.index(Parameter.KEYWORD_ONLY), "*")
    if Parameter.POSITIONAL_ONLY in kinds:
        written.insert(len(kinds) - kinds[::-1].index(Parameter.POSITIONAL_ONLY), "/")
    return written


def written_parameter(full: str, parameter: Parameter) -> str:
    name = parameter.name
    word = next((ours for ours, theirs in WORDS.items() if theirs == name and name not in PARAMETERS), name)
    short = full.rpartition(".")[2]
    annotation = SPECIAL.get((full, word)) or SPECIAL.get((short, word)) or PARAMETERS.get(word)
    if not annotation:
        raise Missing(f"the parameter {name} of {full} has no type")
    if parameter.kind is Parameter.VAR_POSITIONAL:
        return f"*{name}: {'Any' if annotation == 'Any' else 'SupportsIndex'}"
    if parameter.default is Parameter.empty:
        return f"{name}: {annotation}"
    optional = " | None" if parameter.default is None else ""
    default = "..." if parameter.default is ... else repr(parameter.default)
    return f"{name}: {annotation}{optional} = {default}"


def result_type(owner: str, name: str) -> str:
    own = {"": "Tensor", "Layout": "_Layout", "dtype": "_DType", "device": "_Device"}.get(owner, owner)
    return (RETURNS.get(f"{owner}.{name}") or RETURNS.get(name) or "…").replace("…", own)


def defined(head: str, body: list[str], ignore: str = "") -> list[str]:
    return [f"{head}{ignore}", *(f"    {line}" for line in body)] if body else [f"{head} ...{ignore}"]


def document(value: Any) -> list[str]:
    """The first sentence of a document, as a document."""
    value = value.__func__ if isinstance(value, staticmethod) else value
    text = inspect.cleandoc(value.__doc__ or "")
    text = re.sub(r"\A\w+\(.*\)\n--\n\n", "", text)  # a signature that Python did not take away
    paragraph = " ".join(text.partition("\n\n")[0].split())
    sentence = re.match(r".+?[.](?=\s|$)|.+", paragraph)
    if not sentence:
        return []
    return ['"""' + sentence[0].replace("\\", "\\\\") + '"""']


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
