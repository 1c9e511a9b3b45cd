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

__all__ = ["ArgumentError", "BFloat16Storage", "BFloat16Tensor", "BoolStorage", "BoolTensor", "ByteStorage", "ByteTensor", "CharStorage", "CharTensor", "ComplexDoubleStorage", "ComplexDoubleTensor", "ComplexFloatStorage", "ComplexFloatTensor", "DTypeError", "DoubleStorage", "DoubleTensor", "FloatStorage", "FloatTensor", "HalfStorage", "HalfTensor", "IntStorage", "IntTensor", "Layout", "LongStorage", "LongTensor", "ShapeError", "ShortStorage", "ShortTensor", "Size", "Storage", "StorageError", "Tensor", "UInt16Storage", "UInt16Tensor", "UInt32Storage", "UInt32Tensor", "UInt64Storage", "UInt64Tensor", "abs", "absolute", "acos", "acosh", "add", "addcdiv", "addcmul", "all", "allclose", "amax", "amin", "aminmax", "angle", "any", "arange", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin", "as_strided", "as_tensor", "asarray", "asin", "asinh", "atan", "atan2", "atanh", "bfloat16", "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bool", "broadcast_to", "can_cast", "cdouble", "ceil", "cfloat", "chunk", "clamp", "clamp_max", "clamp_min", "clip", "clone", "complex128", "complex64", "conj", "conj_physical", "copysign", "corrcoef", "cos", "cosh", "count_nonzero", "cov", "cross", "cummax", "cummin", "cumprod", "cumsum", "cumulative_trapezoid", "deg2rad", "device", "diagonal", "diff", "digamma", "dist", "div", "divide", "double", "dtype", "empty", "empty_like", "empty_strided", "eq", "equal", "erf", "erfc", "erfinv", "exp", "exp2", "expand", "expand_as", "expm1", "eye", "fix", "flatten", "flip", "float", "float16", "float32", "float64", "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod", "fold", "frac", "from_dlpack", "from_file", "from_numpy", "frombuffer", "full", "full_like", "gcd", "ge", "get_default_dtype", "get_num_threads", "greater", "greater_equal", "gt", "half", "heaviside", "hypot", "imag", "int", "int16", "int32", "int64", "int8", "is_complex", "is_floating_point", "is_same_size", "is_set_to", "is_signed", "is_storage", "is_tensor", "isclose", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal", "lcm", "ldexp", "le", "lerp", "less", "less_equal", "lgamma", "linspace", "log", "log10", "log1p", "log2", "log_softmax", "logaddexp", "logaddexp2", "logcumsumexp", "logical_and", "logical_not", "logical_or", "logical_xor", "logit", "logspace", "logsumexp", "long", "lt", "max", "maximum", "mean", "min", "minimum", "moveaxis", "movedim", "mul", "multiply", "nan_to_num", "nanmean", "nansum", "narrow", "ne", "neg", "negative", "nextafter", "norm", "not_equal", "numel", "ones", "ones_like", "permute", "positive", "pow", "prod", "promote_types", "rad2deg", "range", "ravel", "real", "reciprocal", "relu", "remainder", "renorm", "reshape", "reshape_as", "result_type", "round", "rsqrt", "rsub", "scalar_tensor", "select", "set_default_dtype", "set_default_tensor_type", "set_num_threads", "sgn", "short", "sigmoid", "sign", "signbit", "sin", "sinc", "sinh", "softmax", "softplus", "split", "sqrt", "square", "squeeze", "std", "std_mean", "sub", "subtract", "sum", "swapaxes", "swapdims", "t", "tan", "tanh", "tensor", "tensor_split", "transpose", "trapezoid", "trapz", "true_divide", "trunc", "trunc_divide", "uint16", "uint32", "uint64", "uint8", "unbind", "unflatten", "unfold", "unsqueeze", "var", "var_mean", "view", "view_as", "view_as_complex", "view_as_real", "where", "xlogy", "zeros", "zeros_like"]

class ArgumentError(ValueError, RuntimeError):
    """An argument of the right type whose value an operation does not take."""

class BFloat16Storage(Storage):
    """A Storage of bfloat16: constructs one, and `isinstance` knows it."""

class BFloat16Tensor(Tensor):
    """A Tensor of bfloat16: constructs one, and `isinstance` knows it."""

class BoolStorage(Storage):
    """A Storage of bool: constructs one, and `isinstance` knows it."""

class BoolTensor(Tensor):
    """A Tensor of bool: constructs one, and `isinstance` knows it."""

class ByteStorage(Storage):
    """A Storage of uint8: constructs one, and `isinstance` knows it."""

class ByteTensor(Tensor):
    """A Tensor of uint8: constructs one, and `isinstance` knows it."""

class CharStorage(Storage):
    """A Storage of int8: constructs one, and `isinstance` knows it."""

class CharTensor(Tensor):
    """A Tensor of int8: constructs one, and `isinstance` knows it."""

class ComplexDoubleStorage(Storage):
    """A Storage of complex128: constructs one, and `isinstance` knows it."""

class ComplexDoubleTensor(Tensor):
    """A Tensor of complex128: constructs one, and `isinstance` knows it."""

class ComplexFloatStorage(Storage):
    """A Storage of complex64: constructs one, and `isinstance` knows it."""

class ComplexFloatTensor(Tensor):
    """A Tensor of complex64: constructs one, and `isinstance` knows it."""

class DTypeError(TypeError, RuntimeError):
    """A dtype that an operation does not take or cannot make."""

class DoubleStorage(Storage):
    """A Storage of float64: constructs one, and `isinstance` knows it."""

class DoubleTensor(Tensor):
    """A Tensor of float64: constructs one, and `isinstance` knows it."""

class FloatStorage(Storage):
    """A Storage of float32: constructs one, and `isinstance` knows it."""

class FloatTensor(Tensor):
    """A Tensor of float32: constructs one, and `isinstance` knows it."""

class HalfStorage(Storage):
    """A Storage of float16: constructs one, and `isinstance` knows it."""

class HalfTensor(Tensor):
    """A Tensor of float16: constructs one, and `isinstance` knows it."""

class IntStorage(Storage):
    """A Storage of int32: constructs one, and `isinstance` knows it."""

class IntTensor(Tensor):
    """A Tensor of int32: constructs one, and `isinstance` knows it."""

@final
class Layout:
    """Where the elements of a tensor lie in its storage: shape, strides and offset, without any data."""
    def _repr_html_(self) -> str: ...
    def _repr_svg_(self) -> str: ...
    @property
    def bounds(self) -> tuple[_Int, _Int] | None:
        """The lowest and the highest location; None without elements."""
    @overload
    def broadcast_to(self, *size: SupportsIndex) -> _Layout:
        """`expand` under NumPy's name."""
    @overload
    def broadcast_to(self, size: _Ints) -> _Layout: ...
    @overload
    def broadcast_to(self, shape: _Ints) -> _Layout: ...
    @overload
    def chunk(self, chunks: SupportsIndex, dim: SupportsIndex = 0) -> tuple[_Layout, ...]:
        """A tuple of at most `chunks` views of equal size (the last may be smaller)."""
    @overload
    def chunk(self, chunks: SupportsIndex, axis: SupportsIndex = 0) -> tuple[_Layout, ...]: ...
    @staticmethod
    def column_major(shape: _Ints) -> _Layout:
        """The layout of a shape in which the first index is the fast one, as in Fortran."""
    def compatible(self, i: SupportsIndex, other: Tensor | _Layout, j: SupportsIndex) -> _Bool:
        """Whether mode `i` of this layout and mode `j` of another may share an index: their extents are equal."""
    @overload
    def diagonal(self, offset: SupportsIndex = 0, dim1: SupportsIndex = 0, dim2: SupportsIndex = 1) -> _Layout:
        """A view of the diagonal of two dims, which becomes the last dim."""
    @overload
    def diagonal(self, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1) -> _Layout: ...
    def draw(self) -> Drawing:
        """The drawing of the layout: which cell of memory holds which element."""
    @overload
    def expand(self, *size: SupportsIndex) -> _Layout:
        """A view in which dims of extent 1 have any extent (stride 0); -1 keeps an extent, and new dims may stand in front."""
    @overload
    def expand(self, size: _Ints) -> _Layout: ...
    @overload
    def expand(self, shape: _Ints) -> _Layout: ...
    def expand_as(self, other: Tensor | _Layout) -> _Layout:
        """`expand` to the shape of another tensor."""
    def extent(self, mode: SupportsIndex) -> _Int:
        """The number of indices of a mode."""
    def flatten(self, start_dim: SupportsIndex = 0, end_dim: SupportsIndex = ...) -> _Layout:
        """Dims `start_dim` to `end_dim` as one."""
    @overload
    def flip(self, *dims: SupportsIndex) -> _Layout:
        """A view with dims backwards (negative strides); all dims if none is named."""
    @overload
    def flip(self, dims: _Ints) -> _Layout: ...
    @overload
    def fold(self, *modes: SupportsIndex) -> _Layout:
        """A view in which sequentially contiguous modes are one; without modes, all of them in order of location."""
    @overload
    def fold(self, modes: _Ints) -> _Layout: ...
    @property
    def is_column_major(self) -> _Bool:
        """Whether the elements lie next to each other, the first mode fastest."""
    @property
    def is_contiguous(self) -> _Bool:
        """Whether the elements fill their span, each location once, in any order of the modes."""
    @property
    def is_injective(self) -> _Bool:
        """Whether no two indices share a location; False also where that is too hard to decide."""
    @property
    def is_row_major(self) -> _Bool:
        """Whether the elements lie next to each other, the last mode fastest."""
    @overload
    def location(self, *indices: SupportsIndex) -> _Int:
        """The location of the element with these indices."""
    @overload
    def location(self, indices: _Sizes, /) -> _Int: ...
    def moveaxis(self, source: _Ints, destination: _Ints) -> _Layout:
        """A view with some dims moved to other places: another name for `movedim`."""
    def movedim(self, source: _Ints, destination: _Ints) -> _Layout:
        """A view with some dims moved to other places."""
    @overload
    def narrow(self, dim: SupportsIndex, start: SupportsIndex, length: SupportsIndex) -> _Layout:
        """A view of `length` indices of a dim, from `start` on."""
    @overload
    def narrow(self, axis: SupportsIndex, start: SupportsIndex, length: SupportsIndex) -> _Layout: ...
    @property
    def nmode(self) -> _Int:
        """The number of modes."""
    @property
    def offset(self) -> _Int:
        """The location of the element whose indices are all 0."""
    @overload
    def permute(self, *dims: SupportsIndex) -> _Layout:
        """A view with the dims in the given order."""
    @overload
    def permute(self, dims: _Ints) -> _Layout: ...
    @staticmethod
    def row_major(shape: _Ints) -> _Layout:
        """The layout of a shape in which the last index is the fast one, as in C."""
    @overload
    def select(self, dim: SupportsIndex, index: SupportsIndex) -> _Layout:
        """A view of one index of a dim, without that dim."""
    @overload
    def select(self, axis: SupportsIndex, index: SupportsIndex) -> _Layout: ...
    def sequentially_contiguous(self, modes: _Ints) -> _Bool:
        """Whether each of these modes begins where the one before it ends, the fast mode first: then they can be folded."""
    @property
    def shape(self) -> Size:
        """The extents of the modes, as a Size."""
    @property
    def size(self) -> _Int:
        """The number of elements: the product of the extents."""
    def slice(self, dim: SupportsIndex, start: SupportsIndex | None = None, stop: SupportsIndex | None = None, step: SupportsIndex = 1) -> _Layout:
        """Every `step`-th index of a dim from `start` up to, not including, `stop`, by Python's rules."""
    @property
    def span(self) -> _Int:
        """The highest minus the lowest location, plus one; 0 without elements."""
    @overload
    def split(self, split_size: _Ints, dim: SupportsIndex = 0) -> tuple[_Layout, ...]:
        """A tuple of views: pieces of `split_size` indices of a dim (the last may be smaller), or of the sizes in a list."""
    @overload
    def split(self, split_size: _Ints, axis: SupportsIndex = 0) -> tuple[_Layout, ...]: ...
    @overload
    def squeeze(self, dim: _Ints | None = None) -> _Layout:
        """A view without the dims of extent 1, or without those of them that are named."""
    @overload
    def squeeze(self, axis: _Ints | None = None) -> _Layout: ...
    @property
    def stride(self) -> tuple[_Int, ...]:
        """How far apart two neighbours along each mode lie, in elements."""
    def svg(self) -> str:
        """The drawing as a picture: the text of an SVG file."""
    def swapaxes(self, axis0: SupportsIndex, axis1: SupportsIndex) -> _Layout:
        """A view with two dims swapped: another name for `transpose`."""
    @overload
    def swapdims(self, dim0: SupportsIndex, dim1: SupportsIndex) -> _Layout:
        """A view with two dims swapped: another name for `transpose`."""
    @overload
    def swapdims(self, axis0: SupportsIndex, axis1: SupportsIndex) -> _Layout: ...
    def t(self) -> _Layout:
        """A matrix with its dims swapped; tensors of fewer dims as they are."""
    @overload
    def tensor_split(self, indices_or_sections: _Ints, dim: SupportsIndex = 0) -> tuple[_Layout, ...]:
        """A tuple of views: so many of nearly equal size, or cut at the given indices."""
    @overload
    def tensor_split(self, indices_or_sections: _Ints, axis: SupportsIndex = 0) -> tuple[_Layout, ...]: ...
    @overload
    def transpose(self, dim0: SupportsIndex, dim1: SupportsIndex) -> _Layout:
        """A view with two dims swapped."""
    @overload
    def transpose(self, axis0: SupportsIndex, axis1: SupportsIndex) -> _Layout: ...
    @overload
    def unbind(self, dim: SupportsIndex = 0) -> tuple[_Layout, ...]:
        """A tuple of views, one for each index of a dim."""
    @overload
    def unbind(self, axis: SupportsIndex = 0) -> tuple[_Layout, ...]: ...
    @overload
    def unflatten(self, dim: SupportsIndex, sizes: _Ints) -> _Layout:
        """A view in which one dim is several; one size may be -1."""
    @overload
    def unflatten(self, axis: SupportsIndex, sizes: _Ints) -> _Layout: ...
    def unfold(self, dim: SupportsIndex, size: SupportsIndex, step: SupportsIndex) -> _Layout:
        """A view of all windows of `size` indices of a dim, `step` apart; the window is a new last dim."""
    @overload
    def unsqueeze(self, dim: SupportsIndex) -> _Layout:
        """A view with a new dim of extent 1."""
    @overload
    def unsqueeze(self, axis: SupportsIndex) -> _Layout: ...
    @overload
    def view(self, *shape: SupportsIndex) -> _Layout:
        """The same elements in another shape; one size may be -1."""
    @overload
    def view(self, shape: _Sizes, /) -> _Layout: ...
    def view_as(self, other: Tensor | _Layout) -> _Layout:
        """The view of the same elements in the shape of another tensor."""
    def __copy__(self) -> Layout: ...
    def __deepcopy__(self, memo: Any, /) -> Layout: ...
    def __eq__(self, other: object, /) -> _Bool: ...
    def __getitem__(self, index: _Index | tuple[_Index, ...], /) -> _Layout: ...
    def __hash__(self) -> _Int: ...
    def __ne__(self, other: object, /) -> _Bool: ...
    @overload
    def __new__(cls, shape: _Ints, stride: _Ints | None = None, offset: SupportsIndex = 0) -> Self: ...
    @overload
    def __new__(cls, shape: _Ints, *, order: Literal["row", "column"], offset: SupportsIndex = 0) -> Self: ...
    def __reduce__(self) -> str | tuple[Any, ...]: ...
    def __repr__(self) -> str: ...

class LongStorage(Storage):
    """A Storage of int64: constructs one, and `isinstance` knows it."""

class LongTensor(Tensor):
    """A Tensor of int64: constructs one, and `isinstance` knows it."""

class ShapeError(ValueError, RuntimeError):
    """Sizes, strides or dims that do not fit each other."""

class ShortStorage(Storage):
    """A Storage of int16: constructs one, and `isinstance` knows it."""

class ShortTensor(Tensor):
    """A Tensor of int16: constructs one, and `isinstance` knows it."""

class Size(tuple[_Int, ...]):
    """The extents of a tensor: a tuple of ints."""
    def numel(self) -> _Int:
        """The number of elements: the product of the extents."""
    def __add__(self, other: tuple[_Int, ...], /) -> Size: ...  # type: ignore[override]
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> _Int: ...
    @overload
    def __getitem__(self, index: slice, /) -> Size: ...
    def __repr__(self) -> str: ...

class Storage:
    """A flat run of numbers of one dtype: the memory that tensors look at."""
    def _repr_html_(self) -> str:
        """The card that a notebook shows."""
    def bfloat16(self) -> Storage:
        """The storage as bfloat16."""
    def bool(self) -> Storage:
        """The storage as bool."""
    def byte(self) -> Storage:
        """The storage as uint8."""
    def cdouble(self) -> Storage:
        """The storage as complex128."""
    def cfloat(self) -> Storage:
        """The storage as complex64."""
    def char(self) -> Storage:
        """The storage as int8."""
    def clone(self) -> Storage:
        """A copy with memory of its own."""
    def copy_(self, source: _Data, non_blocking: _Bool = False) -> Storage:
        """Writes the values of a storage, a tensor, an array or a sequence of the same length, cast."""
    def data_ptr(self) -> _Int:
        """The address of the first element."""
    @property
    def device(self) -> _Device:
        """Where the memory lies."""
    def double(self) -> Storage:
        """The storage as float64."""
    @property
    def dtype(self) -> _DType:
        """The type of the elements."""
    def element_size(self) -> _Int:
        """Bytes per element."""
    @property
    def filename(self) -> str | None:
        """The full path of the mapped file, or None."""
    def fill_(self, value: _Number) -> Storage:
        """Sets every element."""
    def float(self) -> Storage:
        """The storage as float32."""
    def flush(self) -> None:
        """Waits until all that was written has reached the mapped file."""
    @overload
    @staticmethod
    def from_file(filename: _Path, shared: _Bool = False, size: SupportsIndex = 0, *, dtype: _DTypeLike | None = None, readonly: _Bool = False, create: _Bool = False, grow: _Bool = False, offset: SupportsIndex = 0) -> Storage:
        """A storage on a mapped file: the memory is the file, read when it is looked at."""
    @overload
    @staticmethod
    def from_file(filename: _Path, shared: _Bool = False, shape: _Ints = 0, *, dtype: _DTypeLike | None = None, readonly: _Bool = False, create: _Bool = False, grow: _Bool = False, offset: SupportsIndex = 0) -> Storage: ...
    def half(self) -> Storage:
        """The storage as float16."""
    def int(self) -> Storage:
        """The storage as int32."""
    @property
    def is_mapped(self) -> _Bool:
        """Whether the memory is a mapped file."""
    def is_shared(self) -> _Bool:
        """Whether other processes may see what is written: shared memory, or a file that is mapped so."""
    def long(self) -> Storage:
        """The storage as int64."""
    @property
    def nbytes(self) -> _Int:
        """Bytes of all elements."""
    def new(self, *args: Any) -> Storage:
        """A new storage of the same dtype, made as the class makes one."""
    @property
    def owns_memory(self) -> _Bool:
        """Whether the memory is the storage's own: not lent by an array or another buffer, not mapped or shared."""
    @property
    def readonly(self) -> _Bool:
        """Whether the elements can only be read."""
    def resize_(self, size: SupportsIndex) -> Storage:
        """Changes the number of elements."""
    def share_memory_(self) -> Storage:
        """Moves the memory to where other processes can share it."""
    def short(self) -> Storage:
        """The storage as int16."""
    def size(self) -> _Int:
        """The number of elements."""
    def to(self, dtype: _DTypeLike) -> Storage:
        """The storage as another dtype; itself if it has it already."""
    def tolist(self) -> list[Any]:
        """A list of Python numbers."""
    @overload
    def type(self, dtype: None = None) -> str:
        """The name of the storage's type, or the storage as another type."""
    @overload
    def type(self, dtype: _DTypeLike) -> Storage: ...
    def view(self, dtype: _DTypeLike) -> Storage:
        """The same bytes as elements of another dtype."""
    def __contains__(self, value: object, /) -> _Bool: ...
    def __copy__(self) -> Storage: ...
    def __deepcopy__(self, memo: Any, /) -> Storage: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Any: ...
    @overload
    def __getitem__(self, index: slice, /) -> Storage: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> _Int: ...
    @overload
    def __new__(cls, size: SupportsIndex = 0, /, *, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None) -> Self: ...
    @overload
    def __new__(cls, data: _Data, /, *, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None) -> Self: ...
    def __reduce_ex__(self, protocol: SupportsIndex, /) -> str | tuple[Any, ...]: ...
    def __repr__(self) -> str: ...
    def __setitem__(self, index: SupportsIndex | slice, value: _Data, /) -> None: ...
    def __sizeof__(self) -> _Int: ...
    def __buffer__(self, flags: _Int, /) -> memoryview: ...

class StorageError(ValueError, RuntimeError, BufferError):
    """Memory that is read-only, exported or someone else's, or a file that cannot be memory."""

class Tensor:
    """One way of looking at a storage: offset, shape and strides."""
    @property
    def T(self) -> Tensor:
        """A view with the dims in reverse order."""
    def _repr_html_(self) -> str:
        """The card that a notebook shows."""
    def abs(self, *, out: Tensor | None = None) -> Tensor:
        """The magnitude of each element."""
    def abs_(self) -> Tensor:
        """`abs` into the tensor itself."""
    def absolute(self, *, out: Tensor | None = None) -> Tensor:
        """The magnitude of each element."""
    def absolute_(self) -> Tensor:
        """`absolute` into the tensor itself."""
    def acos(self, *, out: Tensor | None = None) -> Tensor:
        """Inverse cosine."""
    def acos_(self) -> Tensor:
        """`acos` into the tensor itself."""
    def acosh(self, *, out: Tensor | None = None) -> Tensor:
        """Inverse hyperbolic cosine."""
    def acosh_(self) -> Tensor:
        """`acosh` into the tensor itself."""
    def add(self, other: _Operand, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
        """Sum of the operands, the second one times `alpha`."""
    def add_(self, other: _Operand, *, alpha: _Number = 1) -> Tensor:
        """`add` into the tensor itself."""
    def addcdiv(self, tensor1: _Operand, tensor2: _Operand, *, value: _Number = 1, out: Tensor | None = None) -> Tensor:
        """The first operand plus `value` times the quotient of the others."""
    def addcdiv_(self, tensor1: _Operand, tensor2: _Operand, *, value: _Number = 1) -> Tensor:
        """`addcdiv` into the tensor itself."""
    def addcmul(self, tensor1: _Operand, tensor2: _Operand, *, value: _Number = 1, out: Tensor | None = None) -> Tensor:
        """The first operand plus `value` times the product of the others."""
    def addcmul_(self, tensor1: _Operand, tensor2: _Operand, *, value: _Number = 1) -> Tensor:
        """`addcmul` into the tensor itself."""
    @overload
    def all(self, dim: _Ints | None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
        """Whether all elements differ from 0, of all or along dims; along no dims (`()`), whether each does."""
    @overload
    def all(self, axis: _Ints | None = None, keepdims: _Bool = False, *, out: Tensor | None = None) -> Tensor: ...
    def allclose(self, other: _Operand, rtol: SupportsFloat = 1e-05, atol: SupportsFloat = 1e-08, equal_nan: _Bool = False) -> _Bool:
        """Whether all elements of two tensors are close, as `isclose` says."""
    @overload
    def amax(self, dim: _Ints | None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
        """The largest element, of all or along dims; NaN if there is one."""
    @overload
    def amax(self, axis: _Ints | None = None, keepdims: _Bool = False, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def amin(self, dim: _Ints | None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
        """The smallest element, of all or along dims; NaN if there is one."""
    @overload
    def amin(self, axis: _Ints | None = None, keepdims: _Bool = False, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def aminmax(self, dim: _Ints | None = None, keepdim: _Bool = False, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.aminmax:
        """The smallest and the largest element, of all or along a dim: `(min, max)`."""
    @overload
    def aminmax(self, axis: _Ints | None = None, keepdims: _Bool = False, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.aminmax: ...
    def angle(self, *, out: Tensor | None = None) -> Tensor:
        """The angle of each number in the complex plane."""
    def angle_(self) -> Tensor:
        """`angle` into the tensor itself."""
    @overload
    def any(self, dim: _Ints | None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
        """Whether an element differs from 0, of all or along dims; along no dims (`()`), whether each does."""
    @overload
    def any(self, axis: _Ints | None = None, keepdims: _Bool = False, *, out: Tensor | None = None) -> Tensor: ...
    def arccos(self, *, out: Tensor | None = None) -> Tensor:
        """Inverse cosine."""
    def arccos_(self) -> Tensor:
        """`arccos` into the tensor itself."""
    def arccosh(self, *, out: Tensor | None = None) -> Tensor:
        """Inverse hyperbolic cosine."""
    def arccosh_(self) -> Tensor:
        """`arccosh` into the tensor itself."""
    def arcsin(self, *, out: Tensor | None = None) -> Tensor:
        """Inverse sine."""
    def arcsin_(self) -> Tensor:
        """`arcsin` into the tensor itself."""
    def arcsinh(self, *, out: Tensor | None = None) -> Tensor:
        """Inverse hyperbolic sine."""
    def arcsinh_(self) -> Tensor:
        """`arcsinh` into the tensor itself."""
    def arctan(self, *, out: Tensor | None = None) -> Tensor:
        """Inverse tangent."""
    def arctan2(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """The angle of the point whose y is the left operand and whose x is the right one."""
    def arctan2_(self, other: _Operand) -> Tensor:
        """`arctan2` into the tensor itself."""
    def arctan_(self) -> Tensor:
        """`arctan` into the tensor itself."""
    def arctanh(self, *, out: Tensor | None = None) -> Tensor:
        """Inverse hyperbolic tangent."""
    def arctanh_(self) -> Tensor:
        """`arctanh` into the tensor itself."""
    @overload
    def argmax(self, dim: SupportsIndex | None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
        """Where the largest element comes first, in row-major order or along a dim."""
    @overload
    def argmax(self, axis: SupportsIndex | None = None, keepdims: _Bool = False, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def argmin(self, dim: SupportsIndex | None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
        """Where the smallest element comes first, in row-major order or along a dim."""
    @overload
    def argmin(self, axis: SupportsIndex | None = None, keepdims: _Bool = False, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def as_strided(self, size: _Ints, stride: _Ints, storage_offset: SupportsIndex | None = None) -> Tensor:
        """A view of any shape, strides and offset that stay within the storage."""
    @overload
    def as_strided(self, shape: _Ints, strides: _Ints, storage_offset: SupportsIndex | None = None) -> Tensor: ...
    @overload
    def as_strided_(self, size: _Ints, stride: _Ints, storage_offset: SupportsIndex | None = None) -> Tensor:
        """`as_strided`, changing the tensor itself."""
    @overload
    def as_strided_(self, shape: _Ints, strides: _Ints, storage_offset: SupportsIndex | None = None) -> Tensor: ...
    def asin(self, *, out: Tensor | None = None) -> Tensor:
        """Inverse sine."""
    def asin_(self) -> Tensor:
        """`asin` into the tensor itself."""
    def asinh(self, *, out: Tensor | None = None) -> Tensor:
        """Inverse hyperbolic sine."""
    def asinh_(self) -> Tensor:
        """`asinh` into the tensor itself."""
    def astype(self, dtype: _DTypeLike, copy: _Bool = True) -> Tensor:
        """The tensor in another dtype, as a copy unless `copy=False`: NumPy's name for `to`."""
    def atan(self, *, out: Tensor | None = None) -> Tensor:
        """Inverse tangent."""
    def atan2(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """The angle of the point whose y is the left operand and whose x is the right one."""
    def atan2_(self, other: _Operand) -> Tensor:
        """`atan2` into the tensor itself."""
    def atan_(self) -> Tensor:
        """`atan` into the tensor itself."""
    def atanh(self, *, out: Tensor | None = None) -> Tensor:
        """Inverse hyperbolic tangent."""
    def atanh_(self) -> Tensor:
        """`atanh` into the tensor itself."""
    def bfloat16(self) -> Tensor:
        """The tensor as bfloat16."""
    def bitwise_and(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """The bits that both operands have."""
    def bitwise_and_(self, other: _Operand) -> Tensor:
        """`bitwise_and` into the tensor itself."""
    def bitwise_left_shift(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """The bits moved up by so many places."""
    def bitwise_left_shift_(self, other: _Operand) -> Tensor:
        """`bitwise_left_shift` into the tensor itself."""
    def bitwise_not(self, *, out: Tensor | None = None) -> Tensor:
        """Each bit turned around."""
    def bitwise_not_(self) -> Tensor:
        """`bitwise_not` into the tensor itself."""
    def bitwise_or(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """The bits that one of the operands has."""
    def bitwise_or_(self, other: _Operand) -> Tensor:
        """`bitwise_or` into the tensor itself."""
    def bitwise_right_shift(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """The bits moved down by so many places; the sign stays."""
    def bitwise_right_shift_(self, other: _Operand) -> Tensor:
        """`bitwise_right_shift` into the tensor itself."""
    def bitwise_xor(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """The bits that exactly one of the operands has."""
    def bitwise_xor_(self, other: _Operand) -> Tensor:
        """`bitwise_xor` into the tensor itself."""
    def bool(self) -> Tensor:
        """The tensor as bool: whether each element differs from 0."""
    @overload
    def broadcast_to(self, *size: SupportsIndex) -> Tensor:
        """`expand` under NumPy's name."""
    @overload
    def broadcast_to(self, size: _Ints) -> Tensor: ...
    @overload
    def broadcast_to(self, shape: _Ints) -> Tensor: ...
    def byte(self) -> Tensor:
        """The tensor as uint8."""
    def cdouble(self) -> Tensor:
        """The tensor as complex128."""
    def ceil(self, *, out: Tensor | None = None) -> Tensor:
        """Up to a whole number."""
    def ceil_(self) -> Tensor:
        """`ceil` into the tensor itself."""
    def cfloat(self) -> Tensor:
        """The tensor as complex64."""
    def char(self) -> Tensor:
        """The tensor as int8."""
    @overload
    def chunk(self, chunks: SupportsIndex, dim: SupportsIndex = 0) -> tuple[Tensor, ...]:
        """A tuple of at most `chunks` views of equal size (the last may be smaller)."""
    @overload
    def chunk(self, chunks: SupportsIndex, axis: SupportsIndex = 0) -> tuple[Tensor, ...]: ...
    def clamp(self, min: _Operand | None = None, max: _Operand | None = None, *, out: Tensor | None = None) -> Tensor:
        """Each element brought between bounds, of which one may be None; the upper one where they cross, NaN if one of the three is."""
    def clamp_(self, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
        """`clamp` into the tensor itself."""
    def clamp_max(self, max: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Each element, or the bound where it is above; NaN if one of them is."""
    def clamp_max_(self, max: _Operand) -> Tensor:
        """`clamp_max` into the tensor itself."""
    def clamp_min(self, min: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Each element, or the bound where it is below; NaN if one of them is."""
    def clamp_min_(self, min: _Operand) -> Tensor:
        """`clamp_min` into the tensor itself."""
    def clip(self, min: _Operand | None = None, max: _Operand | None = None, *, out: Tensor | None = None) -> Tensor:
        """Each element brought between bounds, of which one may be None; the upper one where they cross, NaN if one of the three is."""
    def clip_(self, min: _Operand | None = None, max: _Operand | None = None) -> Tensor:
        """`clip` into the tensor itself."""
    def clone(self) -> Tensor:
        """A row-major copy with memory of its own."""
    def conj(self) -> Tensor:
        """The complex conjugate: a copy, or the tensor itself where it is not complex."""
    def conj_physical(self, *, out: Tensor | None = None) -> Tensor:
        """The complex conjugate, written out."""
    def conj_physical_(self) -> Tensor:
        """`conj_physical` into the tensor itself."""
    def contiguous(self) -> Tensor:
        """The tensor itself if it is row-major without gaps, else such a copy."""
    def copy(self) -> Tensor:
        """A row-major copy with memory of its own: `clone` under NumPy's name."""
    def copy_(self, src: _Data, non_blocking: _Bool = False) -> Tensor:
        """Writes the values of a tensor, an array or a nested sequence into this tensor, broadcast and cast."""
    def copysign(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """The magnitude of the left operand with the sign of the right one."""
    def copysign_(self, other: _Operand) -> Tensor:
        """`copysign` into the tensor itself."""
    def corrcoef(self) -> Tensor:
        """The correlation coefficients of variables, which are rows; columns are observations."""
    def cos(self, *, out: Tensor | None = None) -> Tensor:
        """Cosine."""
    def cos_(self) -> Tensor:
        """`cos` into the tensor itself."""
    def cosh(self, *, out: Tensor | None = None) -> Tensor:
        """Hyperbolic cosine."""
    def cosh_(self) -> Tensor:
        """`cosh` into the tensor itself."""
    @overload
    def count_nonzero(self, dim: _Ints | None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
        """How many elements differ from 0."""
    @overload
    def count_nonzero(self, axis: _Ints | None = None, keepdims: _Bool = False, *, out: Tensor | None = None) -> Tensor: ...
    def cov(self, *, correction: SupportsIndex = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
        """The covariances of variables, which are rows; columns are observations."""
    def cpu(self) -> Tensor:
        """The tensor on the CPU, where it is already."""
    @overload
    def cross(self, other: Tensor, dim: SupportsIndex | None = None, *, out: Tensor | None = None) -> Tensor:
        """The cross products of vectors of three along a dim; without one, along the first dim of extent 3."""
    @overload
    def cross(self, other: Tensor, axis: SupportsIndex | None = None, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def cummax(self, dim: SupportsIndex, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.cummax:
        """The largest element along a dim up to each position, and where it is: `(values, indices)`."""
    @overload
    def cummax(self, axis: SupportsIndex, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.cummax: ...
    @overload
    def cummin(self, dim: SupportsIndex, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.cummin:
        """The smallest element along a dim up to each position, and where it is: `(values, indices)`."""
    @overload
    def cummin(self, axis: SupportsIndex, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.cummin: ...
    @overload
    def cumprod(self, dim: SupportsIndex, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
        """Products of the elements along a dim up to each of them."""
    @overload
    def cumprod(self, axis: SupportsIndex, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor: ...
    @overload
    def cumprod_(self, dim: SupportsIndex, *, dtype: _DTypeLike | None = None) -> Tensor:
        """`cumprod` in place."""
    @overload
    def cumprod_(self, axis: SupportsIndex, *, dtype: _DTypeLike | None = None) -> Tensor: ...
    @overload
    def cumsum(self, dim: SupportsIndex, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
        """Sums of the elements along a dim up to each of them."""
    @overload
    def cumsum(self, axis: SupportsIndex, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor: ...
    @overload
    def cumsum_(self, dim: SupportsIndex, *, dtype: _DTypeLike | None = None) -> Tensor:
        """`cumsum` in place."""
    @overload
    def cumsum_(self, axis: SupportsIndex, *, dtype: _DTypeLike | None = None) -> Tensor: ...
    def data_ptr(self) -> _Int:
        """The address of the first element (of the element whose indices are all 0)."""
    def deg2rad(self, *, out: Tensor | None = None) -> Tensor:
        """Degrees as radians."""
    def deg2rad_(self) -> Tensor:
        """`deg2rad` into the tensor itself."""
    @property
    def device(self) -> _Device:
        """Where the memory lies: the CPU."""
    @overload
    def diagonal(self, offset: SupportsIndex = 0, dim1: SupportsIndex = 0, dim2: SupportsIndex = 1) -> Tensor:
        """A view of the diagonal of two dims, which becomes the last dim."""
    @overload
    def diagonal(self, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1) -> Tensor: ...
    @overload
    def diff(self, n: SupportsIndex = 1, dim: SupportsIndex = -1, prepend: Tensor | None = None, append: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
        """Differences of neighbours along a dim, so many times over; of truth values, whether they differ."""
    @overload
    def diff(self, n: SupportsIndex = 1, axis: SupportsIndex = -1, prepend: Tensor | None = None, append: Tensor | None = None, *, out: Tensor | None = None) -> Tensor: ...
    def digamma(self, *, out: Tensor | None = None) -> Tensor:
        """Derivative of `lgamma`."""
    def digamma_(self) -> Tensor:
        """`digamma` into the tensor itself."""
    def dim(self) -> _Int:
        """The number of dims."""
    def dist(self, other: Tensor, p: _Number | Literal["fro"] | None = None) -> Tensor:
        """The p-norm of the difference of two tensors."""
    def div(self, other: _Operand, *, rounding_mode: Literal["floor", "trunc"] | None = None, out: Tensor | None = None) -> Tensor:
        """Left operand divided by the right one; integers give the default float, unless `rounding_mode` (`'floor'` or `'trunc'`) makes quotients whole."""
    def div_(self, other: _Operand, *, rounding_mode: Literal["floor", "trunc"] | None = None) -> Tensor:
        """`div` into the tensor itself."""
    def divide(self, other: _Operand, *, rounding_mode: Literal["floor", "trunc"] | None = None, out: Tensor | None = None) -> Tensor:
        """Left operand divided by the right one; integers give the default float, unless `rounding_mode` (`'floor'` or `'trunc'`) makes quotients whole."""
    def divide_(self, other: _Operand, *, rounding_mode: Literal["floor", "trunc"] | None = None) -> Tensor:
        """`divide` into the tensor itself."""
    def double(self) -> Tensor:
        """The tensor as float64."""
    @property
    def dtype(self) -> _DType:
        """The dtype of the elements."""
    def element_size(self) -> _Int:
        """Bytes per element."""
    def eq(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Whether the operands are equal, element by element."""
    def eq_(self, other: _Operand) -> Tensor:
        """`eq` into the tensor itself."""
    def equal(self, other: Tensor) -> _Bool:
        """Whether two tensors have the same shape and equal elements, as a bool."""
    def erf(self, *, out: Tensor | None = None) -> Tensor:
        """The error function."""
    def erf_(self) -> Tensor:
        """`erf` into the tensor itself."""
    def erfc(self, *, out: Tensor | None = None) -> Tensor:
        """One minus the error function, exact where that is small."""
    def erfc_(self) -> Tensor:
        """`erfc` into the tensor itself."""
    def erfinv(self, *, out: Tensor | None = None) -> Tensor:
        """Inverse of the error function."""
    def erfinv_(self) -> Tensor:
        """`erfinv` into the tensor itself."""
    def exp(self, *, out: Tensor | None = None) -> Tensor:
        """e to the power of each element."""
    def exp2(self, *, out: Tensor | None = None) -> Tensor:
        """Two to the power of each element."""
    def exp2_(self) -> Tensor:
        """`exp2` into the tensor itself."""
    def exp_(self) -> Tensor:
        """`exp` into the tensor itself."""
    @overload
    def expand(self, *size: SupportsIndex) -> Tensor:
        """A view in which dims of extent 1 have any extent (stride 0); -1 keeps an extent, and new dims may stand in front."""
    @overload
    def expand(self, size: _Ints) -> Tensor: ...
    @overload
    def expand(self, shape: _Ints) -> Tensor: ...
    def expand_as(self, other: Tensor | _Layout) -> Tensor:
        """`expand` to the shape of another tensor."""
    def expm1(self, *, out: Tensor | None = None) -> Tensor:
        """e to the power of each element, minus one; exact near 0."""
    def expm1_(self) -> Tensor:
        """`expm1` into the tensor itself."""
    def fill_(self, value: _Number) -> Tensor:
        """Sets every element."""
    def fix(self, *, out: Tensor | None = None) -> Tensor:
        """Toward zero to a whole number."""
    def fix_(self) -> Tensor:
        """`fix` into the tensor itself."""
    def flatten(self, start_dim: SupportsIndex = 0, end_dim: SupportsIndex = -1) -> Tensor:
        """Dims `start_dim` to `end_dim` as one: a view where the strides allow it."""
    @overload
    def flip(self, *dims: SupportsIndex) -> Tensor:
        """A view with dims backwards (negative strides); all dims if none is named."""
    @overload
    def flip(self, dims: _Ints) -> Tensor: ...
    def float(self) -> Tensor:
        """The tensor as float32."""
    def float_power(self, exponent: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Left operand to the power of the right one, in float64 or complex128."""
    def float_power_(self, exponent: _Operand) -> Tensor:
        """`float_power` into the tensor itself."""
    def floor(self, *, out: Tensor | None = None) -> Tensor:
        """Down to a whole number."""
    def floor_(self) -> Tensor:
        """`floor` into the tensor itself."""
    def floor_divide(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Quotient, down to a whole number."""
    def floor_divide_(self, other: _Operand) -> Tensor:
        """`floor_divide` into the tensor itself."""
    def fmax(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """The larger operand; one that is NaN does not count."""
    def fmax_(self, other: _Operand) -> Tensor:
        """`fmax` into the tensor itself."""
    def fmin(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """The smaller operand; one that is NaN does not count."""
    def fmin_(self, other: _Operand) -> Tensor:
        """`fmin` into the tensor itself."""
    def fmod(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """What division toward zero leaves; it has the sign of the dividend."""
    def fmod_(self, other: _Operand) -> Tensor:
        """`fmod` into the tensor itself."""
    @overload
    def fold(self, *modes: SupportsIndex) -> Tensor:
        """A view in which sequentially contiguous modes are one; without modes, all of them in order of location."""
    @overload
    def fold(self, modes: _Ints) -> Tensor: ...
    def frac(self, *, out: Tensor | None = None) -> Tensor:
        """What `trunc` takes away."""
    def frac_(self) -> Tensor:
        """`frac` into the tensor itself."""
    def gcd(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Greatest common divisor."""
    def gcd_(self, other: _Operand) -> Tensor:
        """`gcd` into the tensor itself."""
    def ge(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Whether the left operand is larger or equal."""
    def ge_(self, other: _Operand) -> Tensor:
        """`ge` into the tensor itself."""
    def greater(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Whether the left operand is larger."""
    def greater_(self, other: _Operand) -> Tensor:
        """`greater` into the tensor itself."""
    def greater_equal(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Whether the left operand is larger or equal."""
    def greater_equal_(self, other: _Operand) -> Tensor:
        """`greater_equal` into the tensor itself."""
    def gt(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Whether the left operand is larger."""
    def gt_(self, other: _Operand) -> Tensor:
        """`gt` into the tensor itself."""
    def half(self) -> Tensor:
        """The tensor as float16."""
    def heaviside(self, values: _Operand, *, out: Tensor | None = None) -> Tensor:
        """0 below 0, 1 above, and the right operand at 0."""
    def heaviside_(self, values: _Operand) -> Tensor:
        """`heaviside` into the tensor itself."""
    def hypot(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """The hypotenuse of a right triangle with these legs."""
    def hypot_(self, other: _Operand) -> Tensor:
        """`hypot` into the tensor itself."""
    @property
    def imag(self) -> Tensor:
        """The imaginary parts of a complex tensor, as a view."""
    @imag.setter
    def imag(self, value: _Data) -> None: ...
    def int(self) -> Tensor:
        """The tensor as int32."""
    def is_complex(self) -> _Bool:
        """Whether the dtype is complex."""
    def is_contiguous(self) -> _Bool:
        """Whether the elements lie next to each other in row-major order."""
    def is_floating_point(self) -> _Bool:
        """Whether the dtype is a floating one."""
    def is_same_size(self, other: Tensor) -> _Bool:
        """Whether both have the same shape."""
    def is_set_to(self, other: Tensor) -> _Bool:
        """Whether both look at the same storage with the same offset, shape and strides."""
    def is_shared(self) -> _Bool:
        """Whether other processes may see what is written: shared memory, or a file that is mapped so."""
    def is_signed(self) -> _Bool:
        """Whether the dtype has negative numbers."""
    def isclose(self, other: _Operand, rtol: SupportsFloat = 1e-05, atol: SupportsFloat = 1e-08, equal_nan: _Bool = False, *, out: Tensor | None = None) -> Tensor:
        """Whether the operands differ by at most `atol` plus `rtol` times the right one; NaN equals NaN with `equal_nan`."""
    def isclose_(self, other: _Operand, rtol: SupportsFloat = 1e-05, atol: SupportsFloat = 1e-08, equal_nan: _Bool = False) -> Tensor:
        """`isclose` into the tensor itself."""
    def isfinite(self, *, out: Tensor | None = None) -> Tensor:
        """Whether each element is neither infinite nor NaN."""
    def isfinite_(self) -> Tensor:
        """`isfinite` into the tensor itself."""
    def isinf(self, *, out: Tensor | None = None) -> Tensor:
        """Whether each element is infinite."""
    def isinf_(self) -> Tensor:
        """`isinf` into the tensor itself."""
    def isnan(self, *, out: Tensor | None = None) -> Tensor:
        """Whether each element is NaN."""
    def isnan_(self) -> Tensor:
        """`isnan` into the tensor itself."""
    def isneginf(self, *, out: Tensor | None = None) -> Tensor:
        """Whether each element is minus infinity."""
    def isneginf_(self) -> Tensor:
        """`isneginf` into the tensor itself."""
    def isposinf(self, *, out: Tensor | None = None) -> Tensor:
        """Whether each element is plus infinity."""
    def isposinf_(self) -> Tensor:
        """`isposinf` into the tensor itself."""
    def isreal(self, *, out: Tensor | None = None) -> Tensor:
        """Whether each element has no imaginary part."""
    def isreal_(self) -> Tensor:
        """`isreal` into the tensor itself."""
    def item(self, *index: SupportsIndex) -> Any:
        """The only element, or the one with these indices, as a Python number."""
    @property
    def itemsize(self) -> _Int:
        """Bytes per element."""
    @property
    def layout(self) -> _Layout:
        """Shape, strides and offset as a value of their own."""
    def lcm(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Least common multiple."""
    def lcm_(self, other: _Operand) -> Tensor:
        """`lcm` into the tensor itself."""
    def ldexp(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Left operand times two to the power of the right one."""
    def ldexp_(self, other: _Operand) -> Tensor:
        """`ldexp` into the tensor itself."""
    def le(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Whether the left operand is smaller or equal."""
    def le_(self, other: _Operand) -> Tensor:
        """`le` into the tensor itself."""
    def lerp(self, end: _Operand, weight: _Operand, *, out: Tensor | None = None) -> Tensor:
        """The point between the first two operands at a share of the way."""
    def lerp_(self, end: _Operand, weight: _Operand) -> Tensor:
        """`lerp` into the tensor itself."""
    def less(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Whether the left operand is smaller."""
    def less_(self, other: _Operand) -> Tensor:
        """`less` into the tensor itself."""
    def less_equal(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Whether the left operand is smaller or equal."""
    def less_equal_(self, other: _Operand) -> Tensor:
        """`less_equal` into the tensor itself."""
    def lgamma(self, *, out: Tensor | None = None) -> Tensor:
        """Logarithm of the magnitude of the gamma function."""
    def lgamma_(self) -> Tensor:
        """`lgamma` into the tensor itself."""
    def log(self, *, out: Tensor | None = None) -> Tensor:
        """Natural logarithm."""
    def log10(self, *, out: Tensor | None = None) -> Tensor:
        """Logarithm to the base 10."""
    def log10_(self) -> Tensor:
        """`log10` into the tensor itself."""
    def log1p(self, *, out: Tensor | None = None) -> Tensor:
        """Logarithm of one plus each element; exact near 0."""
    def log1p_(self) -> Tensor:
        """`log1p` into the tensor itself."""
    def log2(self, *, out: Tensor | None = None) -> Tensor:
        """Logarithm to the base 2."""
    def log2_(self) -> Tensor:
        """`log2` into the tensor itself."""
    def log_(self) -> Tensor:
        """`log` into the tensor itself."""
    @overload
    def log_softmax(self, dim: SupportsIndex, dtype: _DTypeLike | None = None, *, out: Tensor | None = None) -> Tensor:
        """The logarithm of `softmax`, without the exponentials that would lose it."""
    @overload
    def log_softmax(self, axis: SupportsIndex, dtype: _DTypeLike | None = None, *, out: Tensor | None = None) -> Tensor: ...
    def logaddexp(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Logarithm of the sum of both operands' exponentials; of complex numbers its principal value."""
    def logaddexp2(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Logarithm to the base 2 of the sum of two to the power of both operands; of complex numbers its principal value."""
    def logaddexp2_(self, other: _Operand) -> Tensor:
        """`logaddexp2` into the tensor itself."""
    def logaddexp_(self, other: _Operand) -> Tensor:
        """`logaddexp` into the tensor itself."""
    @overload
    def logcumsumexp(self, dim: SupportsIndex, *, out: Tensor | None = None) -> Tensor:
        """The logarithm of the sum of the exponentials of the elements along a dim up to each of them; of complex numbers its principal value."""
    @overload
    def logcumsumexp(self, axis: SupportsIndex, *, out: Tensor | None = None) -> Tensor: ...
    def logical_and(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Whether both operands differ from 0."""
    def logical_and_(self, other: _Operand) -> Tensor:
        """`logical_and` into the tensor itself."""
    def logical_not(self, *, out: Tensor | None = None) -> Tensor:
        """Whether each element is 0."""
    def logical_not_(self) -> Tensor:
        """`logical_not` into the tensor itself."""
    def logical_or(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Whether one of the operands differs from 0."""
    def logical_or_(self, other: _Operand) -> Tensor:
        """`logical_or` into the tensor itself."""
    def logical_xor(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Whether exactly one of the operands differs from 0."""
    def logical_xor_(self, other: _Operand) -> Tensor:
        """`logical_xor` into the tensor itself."""
    def logit(self, eps: SupportsFloat | None = None, *, out: Tensor | None = None) -> Tensor:
        """log(x / (1 - x)); with `eps`, of x brought between eps and 1 - eps."""
    def logit_(self, eps: SupportsFloat | None = None) -> Tensor:
        """`logit` into the tensor itself."""
    @overload
    def logsumexp(self, dim: _Ints | None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
        """Logarithm of the sum of the exponentials, of all or along dims, without overflow on the way; of complex numbers its principal value."""
    @overload
    def logsumexp(self, axis: _Ints | None = None, keepdims: _Bool = False, *, out: Tensor | None = None) -> Tensor: ...
    def long(self) -> Tensor:
        """The tensor as int64."""
    def lt(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Whether the left operand is smaller."""
    def lt_(self, other: _Operand) -> Tensor:
        """`lt` into the tensor itself."""
    @property
    def mT(self) -> Tensor:
        """A view with the last two dims swapped."""
    @overload
    def max(self, dim: None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
        """The largest element; with a dim, the largest ones along it and where they come first, `(values, indices)`; with another tensor, the larger element of each pair (`maximum`)."""
    @overload
    def max(self, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def max(self, dim: SupportsIndex, keepdim: _Bool = False, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.max: ...
    def maximum(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """The larger operand; NaN if one of them is."""
    def maximum_(self, other: _Operand) -> Tensor:
        """`maximum` into the tensor itself."""
    @overload
    def mean(self, dim: _Ints | None = None, keepdim: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
        """Mean of the elements; integers are taken as the default float."""
    @overload
    def mean(self, axis: _Ints | None = None, keepdims: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor: ...
    @overload
    def min(self, dim: None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
        """The smallest element; with a dim, the smallest ones along it and where they come first, `(values, indices)`; with another tensor, the smaller element of each pair (`minimum`)."""
    @overload
    def min(self, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def min(self, dim: SupportsIndex, keepdim: _Bool = False, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.min: ...
    def minimum(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """The smaller operand; NaN if one of them is."""
    def minimum_(self, other: _Operand) -> Tensor:
        """`minimum` into the tensor itself."""
    def moveaxis(self, source: _Ints, destination: _Ints) -> Tensor:
        """A view with some dims moved to other places: another name for `movedim`."""
    def movedim(self, source: _Ints, destination: _Ints) -> Tensor:
        """A view with some dims moved to other places."""
    def mul(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Product of the operands, element by element."""
    def mul_(self, other: _Operand) -> Tensor:
        """`mul` into the tensor itself."""
    def multiply(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Product of the operands, element by element."""
    def multiply_(self, other: _Operand) -> Tensor:
        """`multiply` into the tensor itself."""
    def nan_to_num(self, nan: SupportsFloat = 0.0, posinf: SupportsFloat | None = None, neginf: SupportsFloat | None = None, *, out: Tensor | None = None) -> Tensor:
        """Each element, or a number where it is NaN or infinite: else the largest and the lowest of the dtype."""
    def nan_to_num_(self, nan: SupportsFloat = 0.0, posinf: SupportsFloat | None = None, neginf: SupportsFloat | None = None) -> Tensor:
        """`nan_to_num` into the tensor itself."""
    @overload
    def nanmean(self, dim: _Ints | None = None, keepdim: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
        """Mean of the elements that are not NaN."""
    @overload
    def nanmean(self, axis: _Ints | None = None, keepdims: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor: ...
    @overload
    def nansum(self, dim: _Ints | None = None, keepdim: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
        """Sum of the elements that are not NaN."""
    @overload
    def nansum(self, axis: _Ints | None = None, keepdims: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor: ...
    @overload
    def narrow(self, dim: SupportsIndex, start: SupportsIndex, length: SupportsIndex) -> Tensor:
        """A view of `length` indices of a dim, from `start` on."""
    @overload
    def narrow(self, axis: SupportsIndex, start: SupportsIndex, length: SupportsIndex) -> Tensor: ...
    @property
    def nbytes(self) -> _Int:
        """Bytes of all elements."""
    @property
    def ndim(self) -> _Int:
        """The number of dims."""
    def ndimension(self) -> _Int:
        """The number of dims."""
    def ne(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Whether the operands differ, element by element."""
    def ne_(self, other: _Operand) -> Tensor:
        """`ne` into the tensor itself."""
    def neg(self, *, out: Tensor | None = None) -> Tensor:
        """Each element with its sign changed."""
    def neg_(self) -> Tensor:
        """`neg` into the tensor itself."""
    def negative(self, *, out: Tensor | None = None) -> Tensor:
        """Each element with its sign changed."""
    def negative_(self) -> Tensor:
        """`negative` into the tensor itself."""
    def nelement(self) -> _Int:
        """The number of elements."""
    def new(self, *args: Any) -> Tensor:
        """A new tensor of this tensor's type, made as its typed class makes one."""
    @overload
    def new_empty(self, *size: SupportsIndex, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
        """A new tensor of this tensor's dtype, unless one is given, whose elements may be anything."""
    @overload
    def new_empty(self, size: _Ints, *, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor: ...
    @overload
    def new_empty(self, shape: _Ints, *, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor: ...
    @overload
    def new_empty_strided(self, size: _Ints, stride: _Ints, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
        """A new tensor of any strides, of this tensor's dtype unless one is given, whose elements may be anything."""
    @overload
    def new_empty_strided(self, shape: _Ints, strides: _Ints, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor: ...
    @overload
    def new_full(self, size: _Ints, fill_value: _Number, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
        """A new tensor with every element set to one value, of this tensor's dtype unless one is given."""
    @overload
    def new_full(self, shape: _Ints, fill_value: _Number, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor: ...
    @overload
    def new_ones(self, *size: SupportsIndex, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
        """A new tensor of ones, of this tensor's dtype unless one is given."""
    @overload
    def new_ones(self, size: _Ints, *, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor: ...
    @overload
    def new_ones(self, shape: _Ints, *, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor: ...
    def new_tensor(self, data: _Data, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
        """A new tensor with the values of data, in this tensor's dtype unless one is given."""
    @overload
    def new_zeros(self, *size: SupportsIndex, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
        """A new tensor of zeros, of this tensor's dtype unless one is given."""
    @overload
    def new_zeros(self, size: _Ints, *, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor: ...
    @overload
    def new_zeros(self, shape: _Ints, *, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor: ...
    def nextafter(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """The next number of the dtype after the left operand, on the way to the right one."""
    def nextafter_(self, other: _Operand) -> Tensor:
        """`nextafter` into the tensor itself."""
    @overload
    def norm(self, p: _Number | Literal["fro"] | None = None, dim: _Ints | None = None, keepdim: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
        """The p-norm: of all elements taken as one vector, or along dims."""
    @overload
    def norm(self, p: _Number | Literal["fro"] | None = None, axis: _Ints | None = None, keepdims: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor: ...
    def not_equal(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Whether the operands differ, element by element."""
    def not_equal_(self, other: _Operand) -> Tensor:
        """`not_equal` into the tensor itself."""
    def numel(self) -> _Int:
        """The number of elements."""
    def numpy(self, force: _Bool = False) -> _NDArray:
        """A NumPy array on the same memory."""
    def owns_storage(self) -> _Bool:
        """Whether the tensor's memory is its own: not lent by an array or another buffer, not mapped or shared."""
    @overload
    def permute(self, *dims: SupportsIndex) -> Tensor:
        """A view with the dims in the given order."""
    @overload
    def permute(self, dims: _Ints) -> Tensor: ...
    def positive(self, *, out: Tensor | None = None) -> Tensor:
        """Each element as it is."""
    def positive_(self) -> Tensor:
        """`positive` into the tensor itself."""
    def pow(self, exponent: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Left operand to the power of the right one."""
    def pow_(self, exponent: _Operand) -> Tensor:
        """`pow` into the tensor itself."""
    @overload
    def prod(self, dim: _Ints | None = None, keepdim: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
        """Product of the elements, of all or along dims."""
    @overload
    def prod(self, axis: _Ints | None = None, keepdims: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor: ...
    def rad2deg(self, *, out: Tensor | None = None) -> Tensor:
        """Radians as degrees."""
    def rad2deg_(self) -> Tensor:
        """`rad2deg` into the tensor itself."""
    def ravel(self) -> Tensor:
        """All elements as one dim: a view where the strides allow it."""
    @property
    def real(self) -> Tensor:
        """The real parts: a view, the tensor itself where it is not complex."""
    @real.setter
    def real(self, value: _Data) -> None: ...
    def reciprocal(self, *, out: Tensor | None = None) -> Tensor:
        """One divided by each element."""
    def reciprocal_(self) -> Tensor:
        """`reciprocal` into the tensor itself."""
    def relu(self, *, out: Tensor | None = None) -> Tensor:
        """Each element, or 0 where it is below."""
    def relu_(self) -> Tensor:
        """`relu` into the tensor itself."""
    def remainder(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """What `floor_divide` leaves; it has the sign of the divisor."""
    def remainder_(self, other: _Operand) -> Tensor:
        """`remainder` into the tensor itself."""
    @overload
    def renorm(self, p: _Number, dim: SupportsIndex, maxnorm: _Number, *, out: Tensor | None = None) -> Tensor:
        """The tensor with every slice along a dim whose p-norm exceeds `maxnorm` scaled down to it."""
    @overload
    def renorm(self, p: _Number, axis: SupportsIndex, maxnorm: _Number, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def renorm_(self, p: _Number, dim: SupportsIndex, maxnorm: _Number) -> Tensor:
        """`renorm` in place."""
    @overload
    def renorm_(self, p: _Number, axis: SupportsIndex, maxnorm: _Number) -> Tensor: ...
    @property
    def requires_grad(self) -> _Bool:
        """Whether gradients are recorded: never."""
    @overload
    def reshape(self, *shape: SupportsIndex) -> Tensor:
        """The same elements in another shape: a view where the strides allow it, else a copy."""
    @overload
    def reshape(self, shape: _Ints) -> Tensor: ...
    def reshape_as(self, other: Tensor) -> Tensor:
        """The elements in the shape of another tensor: a view where the strides allow it."""
    @overload
    def resize_(self, *size: SupportsIndex) -> Tensor:
        """Gives the tensor another size, row-major."""
    @overload
    def resize_(self, size: _Ints) -> Tensor: ...
    def resize_as_(self, other: Tensor) -> Tensor:
        """`resize_` to the size of another tensor."""
    def round(self, *, decimals: SupportsIndex = 0, out: Tensor | None = None) -> Tensor:
        """To the nearest whole number, or number of `decimals`; the even one of two."""
    def round_(self, *, decimals: SupportsIndex = 0) -> Tensor:
        """`round` into the tensor itself."""
    def rsqrt(self, *, out: Tensor | None = None) -> Tensor:
        """One divided by the square root."""
    def rsqrt_(self) -> Tensor:
        """`rsqrt` into the tensor itself."""
    def rsub(self, other: _Operand, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
        """Right operand minus the left one times `alpha`."""
    def rsub_(self, other: _Operand, *, alpha: _Number = 1) -> Tensor:
        """`rsub` into the tensor itself."""
    @overload
    def select(self, dim: SupportsIndex, index: SupportsIndex) -> Tensor:
        """A view of one index of a dim, without that dim."""
    @overload
    def select(self, axis: SupportsIndex, index: SupportsIndex) -> Tensor: ...
    @overload
    def set_(self, source: Tensor | Storage, storage_offset: SupportsIndex = 0, size: _Ints | None = None, stride: _Ints | None = None) -> Tensor:
        """Looks at another tensor's storage in its way, or at a storage: whole, or with an offset, sizes and strides."""
    @overload
    def set_(self, source: Tensor | Storage, storage_offset: SupportsIndex = 0, shape: _Ints | None = None, strides: _Ints | None = None) -> Tensor: ...
    def sgn(self, *, out: Tensor | None = None) -> Tensor:
        """-1, 0 or 1 by the sign; of a complex number, the point of the unit circle in its direction."""
    def sgn_(self) -> Tensor:
        """`sgn` into the tensor itself."""
    @property
    def shape(self) -> Size:
        """The extents, as a Size."""
    def share_memory_(self) -> Tensor:
        """Moves the storage to memory that other processes can share; all tensors on it go with it."""
    def short(self) -> Tensor:
        """The tensor as int16."""
    def sigmoid(self, *, out: Tensor | None = None) -> Tensor:
        """1 / (1 + exp(-x))."""
    def sigmoid_(self) -> Tensor:
        """`sigmoid` into the tensor itself."""
    def sign(self, *, out: Tensor | None = None) -> Tensor:
        """-1, 0 or 1 by the sign; of a complex number, the point of the unit circle in its direction."""
    def sign_(self) -> Tensor:
        """`sign` into the tensor itself."""
    def signbit(self, *, out: Tensor | None = None) -> Tensor:
        """Whether the sign is negative, also that of a zero."""
    def signbit_(self) -> Tensor:
        """`signbit` into the tensor itself."""
    def sin(self, *, out: Tensor | None = None) -> Tensor:
        """Sine."""
    def sin_(self) -> Tensor:
        """`sin` into the tensor itself."""
    def sinc(self, *, out: Tensor | None = None) -> Tensor:
        """sin(pi x) / (pi x), and 1 at 0."""
    def sinc_(self) -> Tensor:
        """`sinc` into the tensor itself."""
    def sinh(self, *, out: Tensor | None = None) -> Tensor:
        """Hyperbolic sine."""
    def sinh_(self) -> Tensor:
        """`sinh` into the tensor itself."""
    @property
    def size(self) -> _Count:
        """The extents as a Size, or the extent of one dim."""
    @overload
    def softmax(self, dim: SupportsIndex, dtype: _DTypeLike | None = None, *, out: Tensor | None = None) -> Tensor:
        """The exponentials of the elements along a dim, divided by their sum."""
    @overload
    def softmax(self, axis: SupportsIndex, dtype: _DTypeLike | None = None, *, out: Tensor | None = None) -> Tensor: ...
    def softplus(self, beta: SupportsFloat = 1, threshold: SupportsFloat = 20, *, out: Tensor | None = None) -> Tensor:
        """log(1 + exp(beta x)) / beta; with a `beta` or `threshold` of your own, x itself where beta x is above the threshold."""
    def softplus_(self, beta: SupportsFloat = 1, threshold: SupportsFloat = 20) -> Tensor:
        """`softplus` into the tensor itself."""
    @overload
    def split(self, split_size: _Ints, dim: SupportsIndex = 0) -> tuple[Tensor, ...]:
        """A tuple of views: pieces of `split_size` indices of a dim (the last may be smaller), or of the sizes in a list."""
    @overload
    def split(self, split_size: _Ints, axis: SupportsIndex = 0) -> tuple[Tensor, ...]: ...
    def sqrt(self, *, out: Tensor | None = None) -> Tensor:
        """Square root."""
    def sqrt_(self) -> Tensor:
        """`sqrt` into the tensor itself."""
    def square(self, *, out: Tensor | None = None) -> Tensor:
        """Each element times itself."""
    def square_(self) -> Tensor:
        """`square` into the tensor itself."""
    @overload
    def squeeze(self, dim: _Ints | None = None) -> Tensor:
        """A view without the dims of extent 1, or without those of them that are named."""
    @overload
    def squeeze(self, axis: _Ints | None = None) -> Tensor: ...
    @overload
    def squeeze_(self, dim: _Ints | None = None) -> Tensor:
        """`squeeze`, changing the tensor itself."""
    @overload
    def squeeze_(self, axis: _Ints | None = None) -> Tensor: ...
    @overload
    def std(self, dim: _Ints | _Bool | None = None, unbiased: _Bool | None = None, keepdim: _Bool = False, *, correction: SupportsFloat | None = None, out: Tensor | None = None) -> Tensor:
        """Standard deviation: the square root of `var`."""
    @overload
    def std(self, axis: _Ints | _Bool | None = None, unbiased: _Bool | None = None, keepdims: _Bool = False, *, correction: SupportsFloat | None = None, out: Tensor | None = None) -> Tensor: ...
    @overload
    def std_mean(self, dim: _Ints | _Bool | None = None, unbiased: _Bool | None = None, keepdim: _Bool = False, *, correction: SupportsFloat | None = None, out: tuple[Tensor, Tensor] | None = None) -> _return_types.std_mean:
        """Standard deviation and mean in one pass: `(std, mean)`."""
    @overload
    def std_mean(self, axis: _Ints | _Bool | None = None, unbiased: _Bool | None = None, keepdims: _Bool = False, *, correction: SupportsFloat | None = None, out: tuple[Tensor, Tensor] | None = None) -> _return_types.std_mean: ...
    def storage(self) -> Storage:
        """The storage that the tensor looks at."""
    def storageOffset(self) -> _Int:
        """`storage_offset` as the oldest documents spell it."""
    def storage_offset(self) -> _Int:
        """The location of the first element in the storage, counted from 0."""
    @overload
    def stride(self, dim: None = None) -> tuple[_Int, ...]:
        """The strides as a tuple, or the stride of one dim: how far apart neighbours lie in the storage."""
    @overload
    def stride(self, dim: SupportsIndex) -> _Int: ...
    @overload
    def stride(self, *, axis: SupportsIndex) -> _Int: ...
    def sub(self, other: _Operand, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
        """Left operand minus the right one times `alpha`."""
    def sub_(self, other: _Operand, *, alpha: _Number = 1) -> Tensor:
        """`sub` into the tensor itself."""
    def subtract(self, other: _Operand, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
        """Left operand minus the right one times `alpha`."""
    def subtract_(self, other: _Operand, *, alpha: _Number = 1) -> Tensor:
        """`subtract` into the tensor itself."""
    @overload
    def sum(self, dim: _Ints | None = None, keepdim: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
        """Sum of the elements, of all or along dims."""
    @overload
    def sum(self, axis: _Ints | None = None, keepdims: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor: ...
    def swapaxes(self, axis0: SupportsIndex, axis1: SupportsIndex) -> Tensor:
        """A view with two dims swapped: another name for `transpose`."""
    @overload
    def swapdims(self, dim0: SupportsIndex, dim1: SupportsIndex) -> Tensor:
        """A view with two dims swapped: another name for `transpose`."""
    @overload
    def swapdims(self, axis0: SupportsIndex, axis1: SupportsIndex) -> Tensor: ...
    def t(self) -> Tensor:
        """A matrix with its dims swapped; tensors of fewer dims as they are."""
    def t_(self) -> Tensor:
        """`t`, changing the tensor itself."""
    def tan(self, *, out: Tensor | None = None) -> Tensor:
        """Tangent."""
    def tan_(self) -> Tensor:
        """`tan` into the tensor itself."""
    def tanh(self, *, out: Tensor | None = None) -> Tensor:
        """Hyperbolic tangent."""
    def tanh_(self) -> Tensor:
        """`tanh` into the tensor itself."""
    @overload
    def tensor_split(self, indices_or_sections: _Ints, dim: SupportsIndex = 0) -> tuple[Tensor, ...]:
        """A tuple of views: so many of nearly equal size, or cut at the given indices."""
    @overload
    def tensor_split(self, indices_or_sections: _Ints, axis: SupportsIndex = 0) -> tuple[Tensor, ...]: ...
    def to(self, target: _DTypeLike | _DeviceLike | Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, copy: _Bool = False, non_blocking: _Bool = False) -> Tensor:
        """The tensor in another dtype, or in the dtype of another tensor; itself if it has it already."""
    def tolist(self) -> Any:
        """Nested lists of Python numbers; a number for a tensor without dimension."""
    @overload
    def transpose(self, dim0: SupportsIndex, dim1: SupportsIndex) -> Tensor:
        """A view with two dims swapped."""
    @overload
    def transpose(self, axis0: SupportsIndex, axis1: SupportsIndex) -> Tensor: ...
    @overload
    def transpose_(self, dim0: SupportsIndex, dim1: SupportsIndex) -> Tensor:
        """`transpose`, changing the tensor itself."""
    @overload
    def transpose_(self, axis0: SupportsIndex, axis1: SupportsIndex) -> Tensor: ...
    def true_divide(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Left operand divided by the right one; integers give the default float."""
    def true_divide_(self, other: _Operand) -> Tensor:
        """`true_divide` into the tensor itself."""
    def trunc(self, *, out: Tensor | None = None) -> Tensor:
        """Toward zero to a whole number."""
    def trunc_(self) -> Tensor:
        """`trunc` into the tensor itself."""
    def trunc_divide(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Quotient, toward zero to a whole number."""
    def trunc_divide_(self, other: _Operand) -> Tensor:
        """`trunc_divide` into the tensor itself."""
    @overload
    def type(self, dtype: None = None, non_blocking: _Bool = False) -> str:
        """The name of the tensor's type, or the tensor as another type."""
    @overload
    def type(self, dtype: _DTypeLike, non_blocking: _Bool = False) -> Tensor: ...
    def type_as(self, other: Tensor) -> Tensor:
        """The tensor in the dtype of another one."""
    @overload
    def unbind(self, dim: SupportsIndex = 0) -> tuple[Tensor, ...]:
        """A tuple of views, one for each index of a dim."""
    @overload
    def unbind(self, axis: SupportsIndex = 0) -> tuple[Tensor, ...]: ...
    @overload
    def unflatten(self, dim: SupportsIndex, sizes: _Ints) -> Tensor:
        """A view in which one dim is several; one size may be -1."""
    @overload
    def unflatten(self, axis: SupportsIndex, sizes: _Ints) -> Tensor: ...
    def unfold(self, dim: SupportsIndex, size: SupportsIndex, step: SupportsIndex) -> Tensor:
        """A view of all windows of `size` indices of a dim, `step` apart; the window is a new last dim."""
    @overload
    def unsqueeze(self, dim: SupportsIndex) -> Tensor:
        """A view with a new dim of extent 1."""
    @overload
    def unsqueeze(self, axis: SupportsIndex) -> Tensor: ...
    @overload
    def unsqueeze_(self, dim: SupportsIndex) -> Tensor:
        """`unsqueeze`, changing the tensor itself."""
    @overload
    def unsqueeze_(self, axis: SupportsIndex) -> Tensor: ...
    @overload
    def var(self, dim: _Ints | _Bool | None = None, unbiased: _Bool | None = None, keepdim: _Bool = False, *, correction: SupportsFloat | None = None, out: Tensor | None = None) -> Tensor:
        """Variance: the squared distances from the mean, summed and divided by the number of elements minus `correction` (1 unless given; 0 where `unbiased` is False)."""
    @overload
    def var(self, axis: _Ints | _Bool | None = None, unbiased: _Bool | None = None, keepdims: _Bool = False, *, correction: SupportsFloat | None = None, out: Tensor | None = None) -> Tensor: ...
    @overload
    def var_mean(self, dim: _Ints | _Bool | None = None, unbiased: _Bool | None = None, keepdim: _Bool = False, *, correction: SupportsFloat | None = None, out: tuple[Tensor, Tensor] | None = None) -> _return_types.var_mean:
        """Variance and mean in one pass: `(var, mean)`."""
    @overload
    def var_mean(self, axis: _Ints | _Bool | None = None, unbiased: _Bool | None = None, keepdims: _Bool = False, *, correction: SupportsFloat | None = None, out: tuple[Tensor, Tensor] | None = None) -> _return_types.var_mean: ...
    @overload
    def view(self, *size: SupportsIndex) -> Tensor:
        """The same elements in another shape, as a view; one size may be -1."""
    @overload
    def view(self, size: _Sizes) -> Tensor: ...
    @overload
    def view(self, *, shape: _Sizes) -> Tensor: ...
    @overload
    def view(self, dtype: _DTypeLike) -> Tensor: ...
    def view_as(self, other: Tensor | _Layout) -> Tensor:
        """The view of the same elements in the shape of another tensor."""
    def view_as_complex(self) -> Tensor:
        """Pairs of real elements along the last dim as complex ones: a view."""
    def view_as_real(self) -> Tensor:
        """A complex tensor as a real one with a last dim of 2: a view."""
    def where(self, condition: Tensor | Buffer | _Array | _Bool, other: _Operand) -> Tensor:
        """The tensor's elements where a condition holds, those of `other` where it does not."""
    def xlogy(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Left operand times the logarithm of the right one; 0 where the left one is 0."""
    def xlogy_(self, other: _Operand) -> Tensor:
        """`xlogy` into the tensor itself."""
    def zero_(self) -> Tensor:
        """Sets every element to 0."""
    def __abs__(self) -> Tensor: ...
    def __add__(self, other: _Operand, /) -> Tensor: ...
    def __and__(self, other: _Operand, /) -> Tensor: ...
    def __array__(self, dtype: _DTypeLike | None = None, copy: _Bool | None = None) -> _NDArray: ...
    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Address, shape, strides and type of the elements in NumPy's words, for libraries that want no buffer."""
    __array_priority__: _Float
    def __bool__(self) -> _Bool: ...
    def __bytes__(self) -> bytes: ...
    def __complex__(self) -> _Complex: ...
    def __contains__(self, value: object, /) -> _Bool: ...
    def __copy__(self) -> Tensor: ...
    def __deepcopy__(self, memo: Any, /) -> Tensor: ...
    def __divmod__(self, other: _Operand, /) -> tuple[Tensor, Tensor]: ...
    def __dlpack__(self, *, stream: Any | None = None, max_version: tuple[_Int, _Int] | None = None, dl_device: tuple[_Int, _Int] | None = None, copy: _Bool | None = None) -> CapsuleType: ...
    def __dlpack_device__(self) -> tuple[_Int, _Int]: ...
    def __eq__(self, other: _Operand, /) -> Tensor: ...  # type: ignore[override]
    def __float__(self) -> _Float: ...
    def __floordiv__(self, other: _Operand, /) -> Tensor: ...
    def __format__(self, spec: str, /) -> str: ...
    def __ge__(self, other: _Operand, /) -> Tensor: ...
    def __getitem__(self, index: _Index | tuple[_Index, ...], /) -> Tensor: ...
    def __gt__(self, other: _Operand, /) -> Tensor: ...
    def __hash__(self) -> _Int: ...
    def __iadd__(self, other: _Operand, /) -> Tensor: ...
    def __iand__(self, other: _Operand, /) -> Tensor: ...
    def __ifloordiv__(self, other: _Operand, /) -> Tensor: ...
    def __ilshift__(self, other: _Operand, /) -> Tensor: ...
    def __imod__(self, other: _Operand, /) -> Tensor: ...
    def __imul__(self, other: _Operand, /) -> Tensor: ...
    def __index__(self) -> _Int: ...
    def __int__(self) -> _Int: ...
    def __invert__(self) -> Tensor: ...
    def __ior__(self, other: _Operand, /) -> Tensor: ...
    def __ipow__(self, other: _Operand, /) -> Tensor: ...
    def __irshift__(self, other: _Operand, /) -> Tensor: ...
    def __isub__(self, other: _Operand, /) -> Tensor: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __itruediv__(self, other: _Operand, /) -> Tensor: ...
    def __ixor__(self, other: _Operand, /) -> Tensor: ...
    def __le__(self, other: _Operand, /) -> Tensor: ...
    def __len__(self) -> _Int: ...
    def __lshift__(self, other: _Operand, /) -> Tensor: ...
    def __lt__(self, other: _Operand, /) -> Tensor: ...
    def __mod__(self, other: _Operand, /) -> Tensor: ...
    def __mul__(self, other: _Operand, /) -> Tensor: ...
    def __ne__(self, other: _Operand, /) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    @overload
    def __new__(cls, *size: SupportsIndex, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None) -> Self: ...
    @overload
    def __new__(cls, data: _Data, /, *, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None) -> Self: ...
    def __or__(self, other: _Operand, /) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __pow__(self, other: _Operand, /) -> Tensor: ...
    def __radd__(self, other: _Operand, /) -> Tensor: ...
    def __rand__(self, other: _Operand, /) -> Tensor: ...
    def __rdivmod__(self, other: _Operand, /) -> tuple[Tensor, Tensor]: ...
    def __reduce_ex__(self, protocol: SupportsIndex, /) -> str | tuple[Any, ...]: ...
    def __repr__(self) -> str: ...
    def __rfloordiv__(self, other: _Operand, /) -> Tensor: ...
    def __rlshift__(self, other: _Operand, /) -> Tensor: ...
    def __rmod__(self, other: _Operand, /) -> Tensor: ...
    def __rmul__(self, other: _Operand, /) -> Tensor: ...
    def __ror__(self, other: _Operand, /) -> Tensor: ...
    def __round__(self, ndigits: SupportsIndex | None = None, /) -> Tensor: ...
    def __rpow__(self, other: _Operand, /) -> Tensor: ...
    def __rrshift__(self, other: _Operand, /) -> Tensor: ...
    def __rshift__(self, other: _Operand, /) -> Tensor: ...
    def __rsub__(self, other: _Operand, /) -> Tensor: ...
    def __rtruediv__(self, other: _Operand, /) -> Tensor: ...
    def __rxor__(self, other: _Operand, /) -> Tensor: ...
    def __setitem__(self, index: _Index | tuple[_Index, ...], value: _Data, /) -> None: ...
    def __sub__(self, other: _Operand, /) -> Tensor: ...
    def __truediv__(self, other: _Operand, /) -> Tensor: ...
    def __xor__(self, other: _Operand, /) -> Tensor: ...
    def __buffer__(self, flags: _Int, /) -> memoryview: ...

class UInt16Storage(Storage):
    """A Storage of uint16: constructs one, and `isinstance` knows it."""

class UInt16Tensor(Tensor):
    """A Tensor of uint16: constructs one, and `isinstance` knows it."""

class UInt32Storage(Storage):
    """A Storage of uint32: constructs one, and `isinstance` knows it."""

class UInt32Tensor(Tensor):
    """A Tensor of uint32: constructs one, and `isinstance` knows it."""

class UInt64Storage(Storage):
    """A Storage of uint64: constructs one, and `isinstance` knows it."""

class UInt64Tensor(Tensor):
    """A Tensor of uint64: constructs one, and `isinstance` knows it."""

@final
class device:
    """Where a tensor's memory lies."""
    @property
    def index(self) -> _Int | None:
        """The number of the device among those of its type; None for the CPU."""
    @property
    def type(self) -> str:
        """`'cpu'`."""
    def __eq__(self, other: object, /) -> _Bool: ...
    def __hash__(self) -> _Int: ...
    def __ne__(self, other: object, /) -> _Bool: ...
    def __new__(cls, type: _DeviceLike | None = None) -> Self: ...
    def __reduce__(self) -> str | tuple[Any, ...]: ...
    def __repr__(self) -> str: ...
    def __str__(self) -> str: ...

@final
class dtype:
    """The type of a tensor's elements, such as `strided.float32`."""
    @property
    def is_complex(self) -> _Bool:
        """Whether its elements are complex numbers."""
    @property
    def is_floating_point(self) -> _Bool:
        """Whether it is one of the floating types."""
    @property
    def is_signed(self) -> _Bool:
        """Whether it has negative numbers."""
    @property
    def itemsize(self) -> _Int:
        """Bytes per element."""
    @property
    def name(self) -> str:
        """Its name: `'float32'`."""
    def to_real(self) -> _DType:
        """The dtype of the real part: itself, unless it is complex."""
    def __copy__(self) -> dtype: ...
    def __deepcopy__(self, memo: Any, /) -> dtype: ...
    def __new__(cls, name: _DTypeLike) -> Self: ...
    def __reduce__(self) -> str | tuple[Any, ...]: ...
    def __repr__(self) -> str: ...

bfloat16: _DType
bool: _DType
cdouble: _DType
cfloat: _DType
complex128: _DType
complex64: _DType
double: _DType
float: _DType
float16: _DType
float32: _DType
float64: _DType
half: _DType
int: _DType
int16: _DType
int32: _DType
int64: _DType
int8: _DType
long: _DType
short: _DType
uint16: _DType
uint32: _DType
uint64: _DType
uint8: _DType

def _attach_memory(descriptor: SupportsIndex) -> Storage:
    """A storage of bytes on all the shared memory behind a file descriptor."""
def _cpu_levels() -> Tensor:
    """The levels of instructions up to the one in use, the lowest first; `STRIDED_CPU` names the highest one wanted."""
def _known_memory(identity: tuple[_Int, _Int]) -> Storage | None:
    """A storage of bytes on all the shared memory of a device and a number, if it is mapped here."""
def _memory_limit(bytes: SupportsIndex | None = None) -> _Int:
    """What `strided.memory.limit` gives and sets."""
def _memory_stats() -> dict[str, _Int]:
    """What `strided.memory.stats` gives."""
def _memory_trim() -> _Int:
    """What `strided.memory.trim` does."""
def _ops() -> list[tuple[str, _Int, str, str, str, str, list[tuple[str, str]], list[str]]]:
    """The op table: (name, operands, class, rule, operator, doc) of every elementwise operation."""
def _part_of_memory(storage: Storage, start: SupportsIndex, length: SupportsIndex) -> Storage:
    """A storage on a part of the shared memory in which another one lies."""
def _repr_depth() -> _Int:
    """The number of lists, tuples, dicts and other containers whose `repr` this thread is writing."""
def _shared_handle(storage: Storage) -> tuple[Any, ...]:
    """What another process needs to find the memory of a shared storage."""
def abs(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The magnitude of each element."""
def absolute(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The magnitude of each element."""
def acos(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse cosine."""
def acosh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic cosine."""
def add(input: _Operand, other: _Operand, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """Sum of the operands, the second one times `alpha`."""
def addcdiv(input: _Operand, tensor1: _Operand, tensor2: _Operand, *, value: _Number = 1, out: Tensor | None = None) -> Tensor:
    """The first operand plus `value` times the quotient of the others."""
def addcmul(input: _Operand, tensor1: _Operand, tensor2: _Operand, *, value: _Number = 1, out: Tensor | None = None) -> Tensor:
    """The first operand plus `value` times the product of the others."""
@overload
def all(input: Tensor, dim: _Ints | None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether all elements differ from 0, of all or along dims; along no dims (`()`), whether each does."""
@overload
def all(input: Tensor, axis: _Ints | None = None, keepdims: _Bool = False, *, out: Tensor | None = None) -> Tensor: ...
def allclose(input: Tensor, other: _Operand, rtol: SupportsFloat = 1e-05, atol: SupportsFloat = 1e-08, equal_nan: _Bool = False) -> _Bool:
    """Whether all elements of two tensors are close, as `isclose` says."""
@overload
def amax(input: Tensor, dim: _Ints | None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
    """The largest element, of all or along dims; NaN if there is one."""
@overload
def amax(input: Tensor, axis: _Ints | None = None, keepdims: _Bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def amin(input: Tensor, dim: _Ints | None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
    """The smallest element, of all or along dims; NaN if there is one."""
@overload
def amin(input: Tensor, axis: _Ints | None = None, keepdims: _Bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def aminmax(input: Tensor, dim: _Ints | None = None, keepdim: _Bool = False, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.aminmax:
    """The smallest and the largest element, of all or along a dim: `(min, max)`."""
@overload
def aminmax(input: Tensor, axis: _Ints | None = None, keepdims: _Bool = False, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.aminmax: ...
def angle(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The angle of each number in the complex plane."""
@overload
def any(input: Tensor, dim: _Ints | None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether an element differs from 0, of all or along dims; along no dims (`()`), whether each does."""
@overload
def any(input: Tensor, axis: _Ints | None = None, keepdims: _Bool = False, *, out: Tensor | None = None) -> Tensor: ...
def arange(start: _Number | None = None, end: _Number | None = None, step: _Number | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None, out: Tensor | None = None) -> Tensor:
    """`start`, `start + step`, … without `end`; from 0 if only the end is given."""
def arccos(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse cosine."""
def arccosh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic cosine."""
def arcsin(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse sine."""
def arcsinh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic sine."""
def arctan(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse tangent."""
def arctan2(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point whose y is the left operand and whose x is the right one."""
def arctanh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic tangent."""
@overload
def argmax(input: Tensor, dim: SupportsIndex | None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
    """Where the largest element comes first, in row-major order or along a dim."""
@overload
def argmax(input: Tensor, axis: SupportsIndex | None = None, keepdims: _Bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def argmin(input: Tensor, dim: SupportsIndex | None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
    """Where the smallest element comes first, in row-major order or along a dim."""
@overload
def argmin(input: Tensor, axis: SupportsIndex | None = None, keepdims: _Bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def as_strided(input: Tensor | Storage, size: _Ints, stride: _Ints, storage_offset: SupportsIndex | None = None) -> Tensor:
    """A tensor of any shape, strides and offset that stay within a storage, given by itself or by a tensor on it."""
@overload
def as_strided(input: Tensor | Storage, shape: _Ints, strides: _Ints, storage_offset: SupportsIndex | None = None) -> Tensor: ...
def as_tensor(data: _Data, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None) -> Tensor:
    """A tensor with these values: the tensor itself, or on the memory of an array, where the dtype fits; else a copy."""
def asarray(obj: _Data, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, copy: _Bool | None = None) -> Tensor:
    """A tensor with these values, by the rules of the array API: `copy=True` always copies, `copy=False` never (what cannot be had without a copy is refused), and otherwise memory is shared where that is possible."""
def asin(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse sine."""
def asinh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic sine."""
def atan(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse tangent."""
def atan2(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point whose y is the left operand and whose x is the right one."""
def atanh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic tangent."""
def bitwise_and(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The bits that both operands have."""
def bitwise_left_shift(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The bits moved up by so many places."""
def bitwise_not(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Each bit turned around."""
def bitwise_or(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The bits that one of the operands has."""
def bitwise_right_shift(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The bits moved down by so many places; the sign stays."""
def bitwise_xor(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The bits that exactly one of the operands has."""
@overload
def broadcast_to(input: Tensor, *size: SupportsIndex) -> Tensor:
    """`expand` under NumPy's name."""
@overload
def broadcast_to(input: Tensor, size: _Ints) -> Tensor: ...
@overload
def broadcast_to(input: Tensor, shape: _Ints) -> Tensor: ...
def can_cast(from_: _DTypeLike, to: _DTypeLike) -> _Bool:
    """Whether a dtype may be stored into another by an in-place operation: never into a lower category."""
def ceil(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Up to a whole number."""
@overload
def chunk(input: Tensor, chunks: SupportsIndex, dim: SupportsIndex = 0) -> tuple[Tensor, ...]:
    """A tuple of at most `chunks` views of equal size (the last may be smaller)."""
@overload
def chunk(input: Tensor, chunks: SupportsIndex, axis: SupportsIndex = 0) -> tuple[Tensor, ...]: ...
def clamp(input: _Operand, min: _Operand | None = None, max: _Operand | None = None, *, out: Tensor | None = None) -> Tensor:
    """Each element brought between bounds, of which one may be None; the upper one where they cross, NaN if one of the three is."""
def clamp_max(input: _Operand, max: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Each element, or the bound where it is above; NaN if one of them is."""
def clamp_min(input: _Operand, min: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Each element, or the bound where it is below; NaN if one of them is."""
def clip(input: _Operand, min: _Operand | None = None, max: _Operand | None = None, *, out: Tensor | None = None) -> Tensor:
    """Each element brought between bounds, of which one may be None; the upper one where they cross, NaN if one of the three is."""
def clone(input: Tensor) -> Tensor:
    """A row-major copy with memory of its own."""
def conj(input: Tensor) -> Tensor:
    """The complex conjugate: a copy, or the tensor itself where it is not complex."""
def conj_physical(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The complex conjugate, written out."""
def copysign(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The magnitude of the left operand with the sign of the right one."""
def corrcoef(input: Tensor) -> Tensor:
    """The correlation coefficients of variables, which are rows; columns are observations."""
def cos(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Cosine."""
def cosh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Hyperbolic cosine."""
@overload
def count_nonzero(input: Tensor, dim: _Ints | None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
    """How many elements differ from 0."""
@overload
def count_nonzero(input: Tensor, axis: _Ints | None = None, keepdims: _Bool = False, *, out: Tensor | None = None) -> Tensor: ...
def cov(input: Tensor, *, correction: SupportsIndex = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """The covariances of variables, which are rows; columns are observations."""
@overload
def cross(input: Tensor, other: Tensor, dim: SupportsIndex | None = None, *, out: Tensor | None = None) -> Tensor:
    """The cross products of vectors of three along a dim; without one, along the first dim of extent 3."""
@overload
def cross(input: Tensor, other: Tensor, axis: SupportsIndex | None = None, *, out: Tensor | None = None) -> Tensor: ...
@overload
def cummax(input: Tensor, dim: SupportsIndex, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.cummax:
    """The largest element along a dim up to each position, and where it is: `(values, indices)`."""
@overload
def cummax(input: Tensor, axis: SupportsIndex, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.cummax: ...
@overload
def cummin(input: Tensor, dim: SupportsIndex, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.cummin:
    """The smallest element along a dim up to each position, and where it is: `(values, indices)`."""
@overload
def cummin(input: Tensor, axis: SupportsIndex, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.cummin: ...
@overload
def cumprod(input: Tensor, dim: SupportsIndex, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
    """Products of the elements along a dim up to each of them."""
@overload
def cumprod(input: Tensor, axis: SupportsIndex, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def cumsum(input: Tensor, dim: SupportsIndex, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
    """Sums of the elements along a dim up to each of them."""
@overload
def cumsum(input: Tensor, axis: SupportsIndex, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: _Number | None = None, dim: SupportsIndex = -1) -> Tensor:
    """The areas of `trapezoid` up to each point but the first."""
@overload
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: _Number | None = None, axis: SupportsIndex = -1) -> Tensor: ...
def deg2rad(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Degrees as radians."""
@overload
def diagonal(input: Tensor, offset: SupportsIndex = 0, dim1: SupportsIndex = 0, dim2: SupportsIndex = 1) -> Tensor:
    """A view of the diagonal of two dims, which becomes the last dim."""
@overload
def diagonal(input: Tensor, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1) -> Tensor: ...
@overload
def diff(input: Tensor, n: SupportsIndex = 1, dim: SupportsIndex = -1, prepend: Tensor | None = None, append: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """Differences of neighbours along a dim, so many times over; of truth values, whether they differ."""
@overload
def diff(input: Tensor, n: SupportsIndex = 1, axis: SupportsIndex = -1, prepend: Tensor | None = None, append: Tensor | None = None, *, out: Tensor | None = None) -> Tensor: ...
def digamma(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Derivative of `lgamma`."""
def dist(input: Tensor, other: Tensor, p: _Number | Literal["fro"] | None = None) -> Tensor:
    """The p-norm of the difference of two tensors."""
def div(input: _Operand, other: _Operand, *, rounding_mode: Literal["floor", "trunc"] | None = None, out: Tensor | None = None) -> Tensor:
    """Left operand divided by the right one; integers give the default float, unless `rounding_mode` (`'floor'` or `'trunc'`) makes quotients whole."""
def divide(input: _Operand, other: _Operand, *, rounding_mode: Literal["floor", "trunc"] | None = None, out: Tensor | None = None) -> Tensor:
    """Left operand divided by the right one; integers give the default float, unless `rounding_mode` (`'floor'` or `'trunc'`) makes quotients whole."""
@overload
def empty(*size: SupportsIndex, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
    """A new tensor whose elements may be anything."""
@overload
def empty(size: _Ints, *, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor: ...
@overload
def empty(shape: _Ints, *, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor: ...
def empty_like(input: Tensor, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
    """A new tensor of the size and dtype of another one, whose elements may be anything."""
@overload
def empty_strided(size: _Ints, stride: _Ints, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
    """A new tensor of any strides, whose elements may be anything."""
@overload
def empty_strided(shape: _Ints, strides: _Ints, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor: ...
def eq(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether the operands are equal, element by element."""
def equal(input: Tensor, other: Tensor) -> _Bool:
    """Whether two tensors have the same shape and equal elements, as a bool."""
def erf(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The error function."""
def erfc(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """One minus the error function, exact where that is small."""
def erfinv(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Inverse of the error function."""
def exp(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """e to the power of each element."""
def exp2(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Two to the power of each element."""
@overload
def expand(input: Tensor, *size: SupportsIndex) -> Tensor:
    """A view in which dims of extent 1 have any extent (stride 0); -1 keeps an extent, and new dims may stand in front."""
@overload
def expand(input: Tensor, size: _Ints) -> Tensor: ...
@overload
def expand(input: Tensor, shape: _Ints) -> Tensor: ...
def expand_as(input: Tensor, other: Tensor | _Layout) -> Tensor:
    """`expand` to the shape of another tensor."""
def expm1(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """e to the power of each element, minus one; exact near 0."""
def eye(n: SupportsIndex, m: SupportsIndex | None = None, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
    """The identity matrix: ones along the diagonal of `n` rows and `m` columns (as many as rows unless given)."""
def fix(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Toward zero to a whole number."""
def flatten(input: Tensor, start_dim: SupportsIndex = 0, end_dim: SupportsIndex = -1) -> Tensor:
    """Dims `start_dim` to `end_dim` as one: a view where the strides allow it."""
@overload
def flip(input: Tensor, *dims: SupportsIndex) -> Tensor:
    """A view with dims backwards (negative strides); all dims if none is named."""
@overload
def flip(input: Tensor, dims: _Ints) -> Tensor: ...
def float_power(input: _Operand, exponent: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Left operand to the power of the right one, in float64 or complex128."""
def floor(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Down to a whole number."""
def floor_divide(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Quotient, down to a whole number."""
def fmax(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The larger operand; one that is NaN does not count."""
def fmin(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The smaller operand; one that is NaN does not count."""
def fmod(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """What division toward zero leaves; it has the sign of the dividend."""
@overload
def fold(input: Tensor, *modes: SupportsIndex) -> Tensor:
    """A view in which sequentially contiguous modes are one; without modes, all of them in order of location."""
@overload
def fold(input: Tensor, modes: _Ints) -> Tensor: ...
def frac(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """What `trunc` takes away."""
def from_dlpack(ext: _Lender | CapsuleType, *, device: _DeviceLike | None = None, copy: _Bool | None = None) -> Tensor:
    """A tensor on the memory of a tensor of another library, or of a DLPack capsule; read-only where that is."""
@overload
def from_file(filename: _Path, shared: _Bool | None = None, size: SupportsIndex = 0, dtype: _DTypeLike | None = None, readonly: _Bool = False, create: _Bool | None = None, grow: _Bool | None = None, offset: SupportsIndex = 0) -> Tensor:
    """One dim over a mapped file: `Storage.from_file` as PyTorch spells it."""
@overload
def from_file(filename: _Path, shared: _Bool | None = None, shape: _Ints = 0, dtype: _DTypeLike | None = None, readonly: _Bool = False, create: _Bool | None = None, grow: _Bool | None = None, offset: SupportsIndex = 0) -> Tensor: ...
def from_numpy(ndarray: Buffer | _Array) -> Tensor:
    """A tensor on the memory of a NumPy array (or of any other buffer or array interface): what is written to one shows in the other."""
def frombuffer(buffer: Buffer, dtype: _DTypeLike | None = None, count: SupportsIndex = -1, offset: SupportsIndex = 0) -> Tensor:
    """One dim over the bytes of a buffer, read as elements of a dtype."""
@overload
def full(size: _Ints, fill_value: _Number, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None, out: Tensor | None = None) -> Tensor:
    """A new tensor with every element set to one value, whose type decides the dtype unless one is given."""
@overload
def full(shape: _Ints, fill_value: _Number, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None, out: Tensor | None = None) -> Tensor: ...
def full_like(input: Tensor, fill_value: _Number, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
    """A new tensor of the size and dtype of another one, with every element set to one value."""
def gcd(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Greatest common divisor."""
def ge(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether the left operand is larger or equal."""
def get_default_dtype() -> _DType:
    """The default dtype: of `zeros(3)`, of Python's floats, of integer division."""
def get_num_threads() -> _Int:
    """How many threads compute: as set, else `STRIDED_NUM_THREADS`, else `OMP_NUM_THREADS`, else as many as the CPUs that affinity and control groups leave to this process."""
def greater(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether the left operand is larger."""
def greater_equal(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether the left operand is larger or equal."""
def gt(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether the left operand is larger."""
def heaviside(input: _Operand, values: _Operand, *, out: Tensor | None = None) -> Tensor:
    """0 below 0, 1 above, and the right operand at 0."""
def hypot(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The hypotenuse of a right triangle with these legs."""
def imag(input: Tensor) -> Tensor:
    """The imaginary parts of a complex tensor, as a view."""
def is_complex(input: Tensor) -> _Bool:
    """Whether the dtype is complex."""
def is_floating_point(input: Tensor) -> _Bool:
    """Whether the dtype is a floating one."""
def is_same_size(input: Tensor, other: Tensor) -> _Bool:
    """Whether both have the same shape."""
def is_set_to(input: Tensor, other: Tensor) -> _Bool:
    """Whether both look at the same storage with the same offset, shape and strides."""
def is_signed(input: Tensor) -> _Bool:
    """Whether the dtype has negative numbers."""
def is_storage(obj: object) -> _Bool:
    """Whether an object is a storage, of any type."""
def is_tensor(obj: object) -> _Bool:
    """Whether an object is a tensor, of any type."""
def isclose(input: _Operand, other: _Operand, rtol: SupportsFloat = 1e-05, atol: SupportsFloat = 1e-08, equal_nan: _Bool = False, *, out: Tensor | None = None) -> Tensor:
    """Whether the operands differ by at most `atol` plus `rtol` times the right one; NaN equals NaN with `equal_nan`."""
def isfinite(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is neither infinite nor NaN."""
def isinf(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is infinite."""
def isnan(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is NaN."""
def isneginf(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is minus infinity."""
def isposinf(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is plus infinity."""
def isreal(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether each element has no imaginary part."""
def lcm(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Least common multiple."""
def ldexp(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Left operand times two to the power of the right one."""
def le(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether the left operand is smaller or equal."""
def lerp(input: _Operand, end: _Operand, weight: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The point between the first two operands at a share of the way."""
def less(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether the left operand is smaller."""
def less_equal(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether the left operand is smaller or equal."""
def lgamma(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of the magnitude of the gamma function."""
def linspace(start: _Number, end: _Number, steps: SupportsIndex, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
    """`steps` numbers evenly spaced from `start` to `end`, both of which belong to them."""
def log(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Natural logarithm."""
def log10(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Logarithm to the base 10."""
def log1p(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of one plus each element; exact near 0."""
def log2(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Logarithm to the base 2."""
@overload
def log_softmax(input: Tensor, dim: SupportsIndex, dtype: _DTypeLike | None = None, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of `softmax`, without the exponentials that would lose it."""
@overload
def log_softmax(input: Tensor, axis: SupportsIndex, dtype: _DTypeLike | None = None, *, out: Tensor | None = None) -> Tensor: ...
def logaddexp(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of the sum of both operands' exponentials; of complex numbers its principal value."""
def logaddexp2(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Logarithm to the base 2 of the sum of two to the power of both operands; of complex numbers its principal value."""
@overload
def logcumsumexp(input: Tensor, dim: SupportsIndex, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the sum of the exponentials of the elements along a dim up to each of them; of complex numbers its principal value."""
@overload
def logcumsumexp(input: Tensor, axis: SupportsIndex, *, out: Tensor | None = None) -> Tensor: ...
def logical_and(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether both operands differ from 0."""
def logical_not(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is 0."""
def logical_or(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether one of the operands differs from 0."""
def logical_xor(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether exactly one of the operands differs from 0."""
def logit(input: _Operand, eps: SupportsFloat | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(x / (1 - x)); with `eps`, of x brought between eps and 1 - eps."""
def logspace(start: _Number, end: _Number, steps: SupportsIndex, base: _Number = 10.0, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
    """`base` to the powers of `steps` exponents evenly spaced from `start` to `end`."""
@overload
def logsumexp(input: Tensor, dim: _Ints | None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of the sum of the exponentials, of all or along dims, without overflow on the way; of complex numbers its principal value."""
@overload
def logsumexp(input: Tensor, axis: _Ints | None = None, keepdims: _Bool = False, *, out: Tensor | None = None) -> Tensor: ...
def lt(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether the left operand is smaller."""
@overload
def max(input: Tensor, dim: None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
    """The largest element; with a dim, the largest ones along it and where they come first, `(values, indices)`; with another tensor, the larger element of each pair (`maximum`)."""
@overload
def max(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def max(input: Tensor, dim: SupportsIndex, keepdim: _Bool = False, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.max: ...
def maximum(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The larger operand; NaN if one of them is."""
@overload
def mean(input: Tensor, dim: _Ints | None = None, keepdim: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
    """Mean of the elements; integers are taken as the default float."""
@overload
def mean(input: Tensor, axis: _Ints | None = None, keepdims: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def min(input: Tensor, dim: None = None, keepdim: _Bool = False, *, out: Tensor | None = None) -> Tensor:
    """The smallest element; with a dim, the smallest ones along it and where they come first, `(values, indices)`; with another tensor, the smaller element of each pair (`minimum`)."""
@overload
def min(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def min(input: Tensor, dim: SupportsIndex, keepdim: _Bool = False, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.min: ...
def minimum(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The smaller operand; NaN if one of them is."""
def moveaxis(input: Tensor, source: _Ints, destination: _Ints) -> Tensor:
    """A view with some dims moved to other places: another name for `movedim`."""
def movedim(input: Tensor, source: _Ints, destination: _Ints) -> Tensor:
    """A view with some dims moved to other places."""
def mul(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Product of the operands, element by element."""
def multiply(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Product of the operands, element by element."""
def nan_to_num(input: _Operand, nan: SupportsFloat = 0.0, posinf: SupportsFloat | None = None, neginf: SupportsFloat | None = None, *, out: Tensor | None = None) -> Tensor:
    """Each element, or a number where it is NaN or infinite: else the largest and the lowest of the dtype."""
@overload
def nanmean(input: Tensor, dim: _Ints | None = None, keepdim: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
    """Mean of the elements that are not NaN."""
@overload
def nanmean(input: Tensor, axis: _Ints | None = None, keepdims: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def nansum(input: Tensor, dim: _Ints | None = None, keepdim: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
    """Sum of the elements that are not NaN."""
@overload
def nansum(input: Tensor, axis: _Ints | None = None, keepdims: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def narrow(input: Tensor, dim: SupportsIndex, start: SupportsIndex, length: SupportsIndex) -> Tensor:
    """A view of `length` indices of a dim, from `start` on."""
@overload
def narrow(input: Tensor, axis: SupportsIndex, start: SupportsIndex, length: SupportsIndex) -> Tensor: ...
def ne(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether the operands differ, element by element."""
def neg(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Each element with its sign changed."""
def negative(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Each element with its sign changed."""
def nextafter(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The next number of the dtype after the left operand, on the way to the right one."""
@overload
def norm(input: Tensor, p: _Number | Literal["fro"] | None = None, dim: _Ints | None = None, keepdim: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
    """The p-norm: of all elements taken as one vector, or along dims."""
@overload
def norm(input: Tensor, p: _Number | Literal["fro"] | None = None, axis: _Ints | None = None, keepdims: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor: ...
def not_equal(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether the operands differ, element by element."""
def numel(input: Tensor) -> _Int:
    """The number of elements."""
@overload
def ones(*size: SupportsIndex, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
    """A new tensor of ones."""
@overload
def ones(size: _Ints, *, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor: ...
@overload
def ones(shape: _Ints, *, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor: ...
def ones_like(input: Tensor, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
    """A new tensor of ones of the size and dtype of another one."""
@overload
def permute(input: Tensor, *dims: SupportsIndex) -> Tensor:
    """A view with the dims in the given order."""
@overload
def permute(input: Tensor, dims: _Ints) -> Tensor: ...
def positive(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Each element as it is."""
def pow(input: _Operand, exponent: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Left operand to the power of the right one."""
@overload
def prod(input: Tensor, dim: _Ints | None = None, keepdim: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
    """Product of the elements, of all or along dims."""
@overload
def prod(input: Tensor, axis: _Ints | None = None, keepdims: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor: ...
def promote_types(type1: _DTypeLike, type2: _DTypeLike) -> _DType:
    """The smallest dtype that holds the values of both."""
def rad2deg(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Radians as degrees."""
def range(start: _Number | None = None, end: _Number | None = None, step: _Number | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None, out: Tensor | None = None) -> Tensor:
    """`start`, `start + step`, … up to and with `end`, in the default dtype unless one is given."""
def ravel(input: Tensor) -> Tensor:
    """All elements as one dim: a view where the strides allow it."""
def real(input: Tensor) -> Tensor:
    """The real parts: a view, the tensor itself where it is not complex."""
def reciprocal(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """One divided by each element."""
def relu(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Each element, or 0 where it is below."""
def remainder(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """What `floor_divide` leaves; it has the sign of the divisor."""
@overload
def renorm(input: Tensor, p: _Number, dim: SupportsIndex, maxnorm: _Number, *, out: Tensor | None = None) -> Tensor:
    """The tensor with every slice along a dim whose p-norm exceeds `maxnorm` scaled down to it."""
@overload
def renorm(input: Tensor, p: _Number, axis: SupportsIndex, maxnorm: _Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def reshape(input: Tensor, *shape: SupportsIndex) -> Tensor:
    """The same elements in another shape: a view where the strides allow it, else a copy."""
@overload
def reshape(input: Tensor, shape: _Ints) -> Tensor: ...
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """The elements in the shape of another tensor: a view where the strides allow it."""
def result_type(tensor1: Tensor | _Number, tensor2: Tensor | _Number) -> _DType:
    """The dtype of a result of two operands."""
def round(input: _Operand, *, decimals: SupportsIndex = 0, out: Tensor | None = None) -> Tensor:
    """To the nearest whole number, or number of `decimals`; the even one of two."""
def rsqrt(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """One divided by the square root."""
def rsub(input: _Operand, other: _Operand, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """Right operand minus the left one times `alpha`."""
def scalar_tensor(s: _Number, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
    """A tensor without dimension that holds one number, in the default dtype unless one is given."""
@overload
def select(input: Tensor, dim: SupportsIndex, index: SupportsIndex) -> Tensor:
    """A view of one index of a dim, without that dim."""
@overload
def select(input: Tensor, axis: SupportsIndex, index: SupportsIndex) -> Tensor: ...
def set_default_dtype(d: _DTypeLike) -> None:
    """Sets the default dtype, a floating one."""
def set_default_tensor_type(t: _DTypeLike) -> None:
    """Sets the type that `Tensor` makes: a typed class or its name, such as `'strided.DoubleTensor'`."""
def set_num_threads(num_threads: SupportsIndex) -> None:
    """Sets how many threads compute from now on, the caller's among them."""
def sgn(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """-1, 0 or 1 by the sign; of a complex number, the point of the unit circle in its direction."""
def sigmoid(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """1 / (1 + exp(-x))."""
def sign(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """-1, 0 or 1 by the sign; of a complex number, the point of the unit circle in its direction."""
def signbit(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether the sign is negative, also that of a zero."""
def sin(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Sine."""
def sinc(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0."""
def sinh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Hyperbolic sine."""
@overload
def softmax(input: Tensor, dim: SupportsIndex, dtype: _DTypeLike | None = None, *, out: Tensor | None = None) -> Tensor:
    """The exponentials of the elements along a dim, divided by their sum."""
@overload
def softmax(input: Tensor, axis: SupportsIndex, dtype: _DTypeLike | None = None, *, out: Tensor | None = None) -> Tensor: ...
def softplus(input: _Operand, beta: SupportsFloat = 1, threshold: SupportsFloat = 20, *, out: Tensor | None = None) -> Tensor:
    """log(1 + exp(beta x)) / beta; with a `beta` or `threshold` of your own, x itself where beta x is above the threshold."""
@overload
def split(input: Tensor, split_size: _Ints, dim: SupportsIndex = 0) -> tuple[Tensor, ...]:
    """A tuple of views: pieces of `split_size` indices of a dim (the last may be smaller), or of the sizes in a list."""
@overload
def split(input: Tensor, split_size: _Ints, axis: SupportsIndex = 0) -> tuple[Tensor, ...]: ...
def sqrt(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Square root."""
def square(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Each element times itself."""
@overload
def squeeze(input: Tensor, dim: _Ints | None = None) -> Tensor:
    """A view without the dims of extent 1, or without those of them that are named."""
@overload
def squeeze(input: Tensor, axis: _Ints | None = None) -> Tensor: ...
@overload
def std(input: Tensor, dim: _Ints | _Bool | None = None, unbiased: _Bool | None = None, keepdim: _Bool = False, *, correction: SupportsFloat | None = None, out: Tensor | None = None) -> Tensor:
    """Standard deviation: the square root of `var`."""
@overload
def std(input: Tensor, axis: _Ints | _Bool | None = None, unbiased: _Bool | None = None, keepdims: _Bool = False, *, correction: SupportsFloat | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def std_mean(input: Tensor, dim: _Ints | _Bool | None = None, unbiased: _Bool | None = None, keepdim: _Bool = False, *, correction: SupportsFloat | None = None, out: tuple[Tensor, Tensor] | None = None) -> _return_types.std_mean:
    """Standard deviation and mean in one pass: `(std, mean)`."""
@overload
def std_mean(input: Tensor, axis: _Ints | _Bool | None = None, unbiased: _Bool | None = None, keepdims: _Bool = False, *, correction: SupportsFloat | None = None, out: tuple[Tensor, Tensor] | None = None) -> _return_types.std_mean: ...
def sub(input: _Operand, other: _Operand, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """Left operand minus the right one times `alpha`."""
def subtract(input: _Operand, other: _Operand, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """Left operand minus the right one times `alpha`."""
@overload
def sum(input: Tensor, dim: _Ints | None = None, keepdim: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
    """Sum of the elements, of all or along dims."""
@overload
def sum(input: Tensor, axis: _Ints | None = None, keepdims: _Bool = False, *, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor: ...
def swapaxes(input: Tensor, axis0: SupportsIndex, axis1: SupportsIndex) -> Tensor:
    """A view with two dims swapped: another name for `transpose`."""
@overload
def swapdims(input: Tensor, dim0: SupportsIndex, dim1: SupportsIndex) -> Tensor:
    """A view with two dims swapped: another name for `transpose`."""
@overload
def swapdims(input: Tensor, axis0: SupportsIndex, axis1: SupportsIndex) -> Tensor: ...
def t(input: Tensor) -> Tensor:
    """A matrix with its dims swapped; tensors of fewer dims as they are."""
def tan(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Tangent."""
def tanh(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Hyperbolic tangent."""
def tensor(data: _Data, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
    """A new tensor with the values of nested sequences, an array, a tensor or a number."""
@overload
def tensor_split(input: Tensor, indices_or_sections: _Ints, dim: SupportsIndex = 0) -> tuple[Tensor, ...]:
    """A tuple of views: so many of nearly equal size, or cut at the given indices."""
@overload
def tensor_split(input: Tensor, indices_or_sections: _Ints, axis: SupportsIndex = 0) -> tuple[Tensor, ...]: ...
@overload
def transpose(input: Tensor, dim0: SupportsIndex, dim1: SupportsIndex) -> Tensor:
    """A view with two dims swapped."""
@overload
def transpose(input: Tensor, axis0: SupportsIndex, axis1: SupportsIndex) -> Tensor: ...
@overload
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: _Number | None = None, dim: SupportsIndex = -1) -> Tensor:
    """The area under the points `y` along a dim, by trapezoids; they lie at `x`, or `dx` apart (1 without either)."""
@overload
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: _Number | None = None, axis: SupportsIndex = -1) -> Tensor: ...
@overload
def trapz(y: Tensor, x: Tensor | None = None, *, dx: _Number | None = None, dim: SupportsIndex = -1) -> Tensor:
    """`trapezoid` under its other name."""
@overload
def trapz(y: Tensor, x: Tensor | None = None, *, dx: _Number | None = None, axis: SupportsIndex = -1) -> Tensor: ...
def true_divide(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Left operand divided by the right one; integers give the default float."""
def trunc(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Toward zero to a whole number."""
def trunc_divide(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Quotient, toward zero to a whole number."""
@overload
def unbind(input: Tensor, dim: SupportsIndex = 0) -> tuple[Tensor, ...]:
    """A tuple of views, one for each index of a dim."""
@overload
def unbind(input: Tensor, axis: SupportsIndex = 0) -> tuple[Tensor, ...]: ...
@overload
def unflatten(input: Tensor, dim: SupportsIndex, sizes: _Ints) -> Tensor:
    """A view in which one dim is several; one size may be -1."""
@overload
def unflatten(input: Tensor, axis: SupportsIndex, sizes: _Ints) -> Tensor: ...
def unfold(input: Tensor, dim: SupportsIndex, size: SupportsIndex, step: SupportsIndex) -> Tensor:
    """A view of all windows of `size` indices of a dim, `step` apart; the window is a new last dim."""
@overload
def unsqueeze(input: Tensor, dim: SupportsIndex) -> Tensor:
    """A view with a new dim of extent 1."""
@overload
def unsqueeze(input: Tensor, axis: SupportsIndex) -> Tensor: ...
@overload
def var(input: Tensor, dim: _Ints | _Bool | None = None, unbiased: _Bool | None = None, keepdim: _Bool = False, *, correction: SupportsFloat | None = None, out: Tensor | None = None) -> Tensor:
    """Variance: the squared distances from the mean, summed and divided by the number of elements minus `correction` (1 unless given; 0 where `unbiased` is False)."""
@overload
def var(input: Tensor, axis: _Ints | _Bool | None = None, unbiased: _Bool | None = None, keepdims: _Bool = False, *, correction: SupportsFloat | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def var_mean(input: Tensor, dim: _Ints | _Bool | None = None, unbiased: _Bool | None = None, keepdim: _Bool = False, *, correction: SupportsFloat | None = None, out: tuple[Tensor, Tensor] | None = None) -> _return_types.var_mean:
    """Variance and mean in one pass: `(var, mean)`."""
@overload
def var_mean(input: Tensor, axis: _Ints | _Bool | None = None, unbiased: _Bool | None = None, keepdims: _Bool = False, *, correction: SupportsFloat | None = None, out: tuple[Tensor, Tensor] | None = None) -> _return_types.var_mean: ...
@overload
def view(input: Tensor, *size: SupportsIndex) -> Tensor:
    """The same elements in another shape, as a view; one size may be -1."""
@overload
def view(input: Tensor, size: _Sizes) -> Tensor: ...
@overload
def view(input: Tensor, *, shape: _Sizes) -> Tensor: ...
@overload
def view(input: Tensor, dtype: _DTypeLike) -> Tensor: ...
def view_as(input: Tensor, other: Tensor | _Layout) -> Tensor:
    """The view of the same elements in the shape of another tensor."""
def view_as_complex(input: Tensor) -> Tensor:
    """Pairs of real elements along the last dim as complex ones: a view."""
def view_as_real(input: Tensor) -> Tensor:
    """Complex elements as pairs of real ones along a new last dim: a view."""
def where(condition: Tensor | Buffer | _Array | _Bool, input: _Operand | None = None, other: _Operand | None = None, *, out: Tensor | None = None) -> Tensor:
    """Elements of `input` where a condition holds, those of `other` where it does not."""
def xlogy(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Left operand times the logarithm of the right one; 0 where the left one is 0."""
@overload
def zeros(*size: SupportsIndex, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
    """A new tensor of zeros."""
@overload
def zeros(size: _Ints, *, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor: ...
@overload
def zeros(shape: _Ints, *, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor: ...
def zeros_like(input: Tensor, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
    """A new tensor of zeros of the size and dtype of another one."""
