"""Types of the native module. Made by tools/stubs.py from the built module: `./dev stubs` makes it anew."""

import builtins
from collections.abc import Iterator, Sequence
from os import PathLike
from types import EllipsisType
from typing import Any, Literal, Protocol, SupportsFloat, SupportsIndex, TypeAlias, final, overload

import numpy
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

__all__ = ["BFloat16Storage", "BFloat16Tensor", "BoolStorage", "BoolTensor", "ByteStorage", "ByteTensor", "CharStorage", "CharTensor", "ComplexDoubleStorage", "ComplexDoubleTensor", "ComplexFloatStorage", "ComplexFloatTensor", "DTypeError", "DoubleStorage", "DoubleTensor", "FloatStorage", "FloatTensor", "HalfStorage", "HalfTensor", "IntStorage", "IntTensor", "Layout", "LongStorage", "LongTensor", "ShapeError", "ShortStorage", "ShortTensor", "Size", "Storage", "StorageError", "Tensor", "UInt16Storage", "UInt16Tensor", "UInt32Storage", "UInt32Tensor", "UInt64Storage", "UInt64Tensor", "abs", "add", "arange", "as_strided", "as_tensor", "asarray", "bfloat16", "bool", "broadcast_to", "can_cast", "cdouble", "cfloat", "chunk", "clone", "complex128", "complex64", "device", "diagonal", "div", "double", "dtype", "empty", "empty_like", "empty_strided", "eq", "expand", "expand_as", "eye", "flatten", "flip", "float", "float16", "float32", "float64", "fold", "from_dlpack", "from_file", "from_numpy", "frombuffer", "full", "full_like", "ge", "get_default_dtype", "get_num_threads", "gt", "half", "imag", "int", "int16", "int32", "int64", "int8", "is_complex", "is_floating_point", "is_same_size", "is_set_to", "is_signed", "is_storage", "is_tensor", "le", "linspace", "logspace", "long", "lt", "moveaxis", "movedim", "mul", "narrow", "ne", "neg", "numel", "ones", "ones_like", "permute", "promote_types", "range", "ravel", "real", "reshape", "reshape_as", "result_type", "scalar_tensor", "select", "set_default_dtype", "set_default_tensor_type", "set_num_threads", "short", "split", "squeeze", "sub", "sum", "swapaxes", "swapdims", "t", "tensor", "tensor_split", "transpose", "uint16", "uint32", "uint64", "uint8", "unbind", "unflatten", "unfold", "unsqueeze", "view", "view_as", "view_as_real", "zeros", "zeros_like"]

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
    def add(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Sum of the operands, element by element."""
    def add_(self, other: _Operand) -> Tensor:
        """`add` into the tensor itself."""
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
    def astype(self, dtype: _DTypeLike, copy: _Bool = True) -> Tensor:
        """The tensor in another dtype, as a copy unless `copy=False`: NumPy's name for `to`."""
    def bfloat16(self) -> Tensor:
        """The tensor as bfloat16."""
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
    def cfloat(self) -> Tensor:
        """The tensor as complex64."""
    def char(self) -> Tensor:
        """The tensor as int8."""
    @overload
    def chunk(self, chunks: SupportsIndex, dim: SupportsIndex = 0) -> tuple[Tensor, ...]:
        """A tuple of at most `chunks` views of equal size (the last may be smaller)."""
    @overload
    def chunk(self, chunks: SupportsIndex, axis: SupportsIndex = 0) -> tuple[Tensor, ...]: ...
    def clone(self) -> Tensor:
        """A row-major copy with memory of its own."""
    def contiguous(self) -> Tensor:
        """The tensor itself if it is row-major without gaps, else such a copy."""
    def copy(self) -> Tensor:
        """A row-major copy with memory of its own: `clone` under NumPy's name."""
    def copy_(self, src: _Data, non_blocking: _Bool = False) -> Tensor:
        """Writes the values of a tensor, an array or a nested sequence into this tensor, broadcast and cast."""
    def cpu(self) -> Tensor:
        """The tensor on the CPU, where it is already."""
    def data_ptr(self) -> _Int:
        """The address of the first element (of the element whose indices are all 0)."""
    @property
    def device(self) -> _Device:
        """Where the memory lies: the CPU."""
    @overload
    def diagonal(self, offset: SupportsIndex = 0, dim1: SupportsIndex = 0, dim2: SupportsIndex = 1) -> Tensor:
        """A view of the diagonal of two dims, which becomes the last dim."""
    @overload
    def diagonal(self, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1) -> Tensor: ...
    def dim(self) -> _Int:
        """The number of dims."""
    def div(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Left operand divided by the right one; integers give the default float."""
    def div_(self, other: _Operand) -> Tensor:
        """`div` into the tensor itself."""
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
    @overload
    def expand(self, *size: SupportsIndex) -> Tensor:
        """A view in which dims of extent 1 have any extent (stride 0); -1 keeps an extent, and new dims may stand in front."""
    @overload
    def expand(self, size: _Ints) -> Tensor: ...
    @overload
    def expand(self, shape: _Ints) -> Tensor: ...
    def expand_as(self, other: Tensor | _Layout) -> Tensor:
        """`expand` to the shape of another tensor."""
    def fill_(self, value: _Number) -> Tensor:
        """Sets every element."""
    def flatten(self, start_dim: SupportsIndex = 0, end_dim: SupportsIndex = -1) -> Tensor:
        """Dims `start_dim` to `end_dim` as one: a view where the strides allow it."""
    @overload
    def flip(self, *dims: SupportsIndex) -> Tensor:
        """A view with dims backwards (negative strides); all dims if none is named."""
    @overload
    def flip(self, dims: _Ints) -> Tensor: ...
    def float(self) -> Tensor:
        """The tensor as float32."""
    @overload
    def fold(self, *modes: SupportsIndex) -> Tensor:
        """A view in which sequentially contiguous modes are one; without modes, all of them in order of location."""
    @overload
    def fold(self, modes: _Ints) -> Tensor: ...
    def ge(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Whether the left operand is larger or equal."""
    def ge_(self, other: _Operand) -> Tensor:
        """`ge` into the tensor itself."""
    def gt(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Whether the left operand is larger."""
    def gt_(self, other: _Operand) -> Tensor:
        """`gt` into the tensor itself."""
    def half(self) -> Tensor:
        """The tensor as float16."""
    @property
    def imag(self) -> Tensor:
        """The imaginary parts of a complex tensor, as a view."""
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
    def item(self, *index: SupportsIndex) -> Any:
        """The only element, or the one with these indices, as a Python number."""
    @property
    def itemsize(self) -> _Int:
        """Bytes per element."""
    @property
    def layout(self) -> _Layout:
        """Shape, strides and offset as a value of their own."""
    def le(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Whether the left operand is smaller or equal."""
    def le_(self, other: _Operand) -> Tensor:
        """`le` into the tensor itself."""
    def long(self) -> Tensor:
        """The tensor as int64."""
    def lt(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Whether the left operand is smaller."""
    def lt_(self, other: _Operand) -> Tensor:
        """`lt` into the tensor itself."""
    @property
    def mT(self) -> Tensor:
        """A view with the last two dims swapped."""
    def moveaxis(self, source: _Ints, destination: _Ints) -> Tensor:
        """A view with some dims moved to other places: another name for `movedim`."""
    def movedim(self, source: _Ints, destination: _Ints) -> Tensor:
        """A view with some dims moved to other places."""
    def mul(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Product of the operands, element by element."""
    def mul_(self, other: _Operand) -> Tensor:
        """`mul` into the tensor itself."""
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
    def ravel(self) -> Tensor:
        """All elements as one dim: a view where the strides allow it."""
    @property
    def real(self) -> Tensor:
        """The real parts: a view, the tensor itself where it is not complex."""
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
    @property
    def shape(self) -> Size:
        """The extents, as a Size."""
    def share_memory_(self) -> Tensor:
        """Moves the storage to memory that other processes can share; all tensors on it go with it."""
    def short(self) -> Tensor:
        """The tensor as int16."""
    @property
    def size(self) -> _Count:
        """The extents as a Size, or the extent of one dim."""
    @overload
    def split(self, split_size: _Ints, dim: SupportsIndex = 0) -> tuple[Tensor, ...]:
        """A tuple of views: pieces of `split_size` indices of a dim (the last may be smaller), or of the sizes in a list."""
    @overload
    def split(self, split_size: _Ints, axis: SupportsIndex = 0) -> tuple[Tensor, ...]: ...
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
    def sub(self, other: _Operand, *, out: Tensor | None = None) -> Tensor:
        """Left operand minus the right one."""
    def sub_(self, other: _Operand) -> Tensor:
        """`sub` into the tensor itself."""
    @overload
    def sum(self, dim: _Ints | None = None, keepdim: _Bool = False, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
        """Sum of the elements, of all or along dims."""
    @overload
    def sum(self, axis: _Ints | None = None, keepdims: _Bool = False, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor: ...
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
    def view_as_real(self) -> Tensor:
        """A complex tensor as a real one with a last dim of 2: a view."""
    def zero_(self) -> Tensor:
        """Sets every element to 0."""
    def __abs__(self) -> Tensor: ...
    def __add__(self, other: _Operand, /) -> Tensor: ...
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
    def __dlpack__(self, *, stream: Any | None = None, max_version: tuple[_Int, _Int] | None = None, dl_device: tuple[_Int, _Int] | None = None, copy: _Bool | None = None) -> CapsuleType: ...
    def __dlpack_device__(self) -> tuple[_Int, _Int]: ...
    def __eq__(self, other: _Operand, /) -> Tensor: ...  # type: ignore[override]
    def __float__(self) -> _Float: ...
    def __format__(self, spec: str, /) -> str: ...
    def __ge__(self, other: _Operand, /) -> Tensor: ...
    def __getitem__(self, index: _Index | tuple[_Index, ...], /) -> Tensor: ...
    def __gt__(self, other: _Operand, /) -> Tensor: ...
    def __hash__(self) -> _Int: ...
    def __iadd__(self, other: _Operand, /) -> Tensor: ...
    def __imul__(self, other: _Operand, /) -> Tensor: ...
    def __index__(self) -> _Int: ...
    def __int__(self) -> _Int: ...
    def __isub__(self, other: _Operand, /) -> Tensor: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __itruediv__(self, other: _Operand, /) -> Tensor: ...
    def __le__(self, other: _Operand, /) -> Tensor: ...
    def __len__(self) -> _Int: ...
    def __lt__(self, other: _Operand, /) -> Tensor: ...
    def __mul__(self, other: _Operand, /) -> Tensor: ...
    def __ne__(self, other: _Operand, /) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    @overload
    def __new__(cls, *size: SupportsIndex, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None) -> Self: ...
    @overload
    def __new__(cls, data: _Data, /, *, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None) -> Self: ...
    def __radd__(self, other: _Operand, /) -> Tensor: ...
    def __reduce_ex__(self, protocol: SupportsIndex, /) -> str | tuple[Any, ...]: ...
    def __repr__(self) -> str: ...
    def __rmul__(self, other: _Operand, /) -> Tensor: ...
    def __rsub__(self, other: _Operand, /) -> Tensor: ...
    def __rtruediv__(self, other: _Operand, /) -> Tensor: ...
    def __setitem__(self, index: _Index | tuple[_Index, ...], value: _Data, /) -> None: ...
    def __sub__(self, other: _Operand, /) -> Tensor: ...
    def __truediv__(self, other: _Operand, /) -> Tensor: ...
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
def _known_memory(identity: tuple[_Int, _Int]) -> Storage | None:
    """A storage of bytes on all the shared memory of a device and a number, if it is mapped here."""
def _memory_limit(bytes: SupportsIndex | None = None) -> _Int:
    """What `strided.memory.limit` gives and sets."""
def _memory_stats() -> dict[str, _Int]:
    """What `strided.memory.stats` gives."""
def _memory_trim() -> _Int:
    """What `strided.memory.trim` does."""
def _ops() -> list[tuple[str, _Int, str, str, str, str]]:
    """The op table: (name, operands, class, rule, operator, doc) of every elementwise operation."""
def _part_of_memory(storage: Storage, start: SupportsIndex, length: SupportsIndex) -> Storage:
    """A storage on a part of the shared memory in which another one lies."""
def _shared_handle(storage: Storage) -> tuple[Any, ...]:
    """What another process needs to find the memory of a shared storage."""
def abs(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """The magnitude of each element."""
def add(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Sum of the operands, element by element."""
def arange(start: _Number | None = None, end: _Number | None = None, step: _Number | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None, out: Tensor | None = None) -> Tensor:
    """`start`, `start + step`, … without `end`; from 0 if only the end is given."""
@overload
def as_strided(input: Tensor | Storage, size: _Ints, stride: _Ints, storage_offset: SupportsIndex | None = None) -> Tensor:
    """A tensor of any shape, strides and offset that stay within a storage, given by itself or by a tensor on it."""
@overload
def as_strided(input: Tensor | Storage, shape: _Ints, strides: _Ints, storage_offset: SupportsIndex | None = None) -> Tensor: ...
def as_tensor(data: _Data, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None) -> Tensor:
    """A tensor with these values: the tensor itself, or on the memory of an array, where the dtype fits; else a copy."""
def asarray(obj: _Data, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, copy: _Bool | None = None) -> Tensor:
    """A tensor with these values, by the rules of the array API: `copy=True` always copies, `copy=False` never (what cannot be had without a copy is refused), and otherwise memory is shared where that is possible."""
@overload
def broadcast_to(input: Tensor, *size: SupportsIndex) -> Tensor:
    """`expand` under NumPy's name."""
@overload
def broadcast_to(input: Tensor, size: _Ints) -> Tensor: ...
@overload
def broadcast_to(input: Tensor, shape: _Ints) -> Tensor: ...
def can_cast(from_: _DTypeLike, to: _DTypeLike) -> _Bool:
    """Whether a dtype may be stored into another by an in-place operation: never into a lower category."""
@overload
def chunk(input: Tensor, chunks: SupportsIndex, dim: SupportsIndex = 0) -> tuple[Tensor, ...]:
    """A tuple of at most `chunks` views of equal size (the last may be smaller)."""
@overload
def chunk(input: Tensor, chunks: SupportsIndex, axis: SupportsIndex = 0) -> tuple[Tensor, ...]: ...
def clone(input: Tensor) -> Tensor:
    """A row-major copy with memory of its own."""
@overload
def diagonal(input: Tensor, offset: SupportsIndex = 0, dim1: SupportsIndex = 0, dim2: SupportsIndex = 1) -> Tensor:
    """A view of the diagonal of two dims, which becomes the last dim."""
@overload
def diagonal(input: Tensor, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1) -> Tensor: ...
def div(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Left operand divided by the right one; integers give the default float."""
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
@overload
def expand(input: Tensor, *size: SupportsIndex) -> Tensor:
    """A view in which dims of extent 1 have any extent (stride 0); -1 keeps an extent, and new dims may stand in front."""
@overload
def expand(input: Tensor, size: _Ints) -> Tensor: ...
@overload
def expand(input: Tensor, shape: _Ints) -> Tensor: ...
def expand_as(input: Tensor, other: Tensor | _Layout) -> Tensor:
    """`expand` to the shape of another tensor."""
def eye(n: SupportsIndex, m: SupportsIndex | None = None, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
    """The identity matrix: ones along the diagonal of `n` rows and `m` columns (as many as rows unless given)."""
def flatten(input: Tensor, start_dim: SupportsIndex = 0, end_dim: SupportsIndex = -1) -> Tensor:
    """Dims `start_dim` to `end_dim` as one: a view where the strides allow it."""
@overload
def flip(input: Tensor, *dims: SupportsIndex) -> Tensor:
    """A view with dims backwards (negative strides); all dims if none is named."""
@overload
def flip(input: Tensor, dims: _Ints) -> Tensor: ...
@overload
def fold(input: Tensor, *modes: SupportsIndex) -> Tensor:
    """A view in which sequentially contiguous modes are one; without modes, all of them in order of location."""
@overload
def fold(input: Tensor, modes: _Ints) -> Tensor: ...
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
def ge(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether the left operand is larger or equal."""
def get_default_dtype() -> _DType:
    """The default dtype: of `zeros(3)`, of Python's floats, of integer division."""
def get_num_threads() -> _Int:
    """How many threads compute: as set, else `STRIDED_NUM_THREADS`, else `OMP_NUM_THREADS`, else as many as the CPUs that affinity and control groups leave to this process."""
def gt(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether the left operand is larger."""
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
def le(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether the left operand is smaller or equal."""
def linspace(start: _Number, end: _Number, steps: SupportsIndex, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
    """`steps` numbers evenly spaced from `start` to `end`, both of which belong to them."""
def logspace(start: _Number, end: _Number, steps: SupportsIndex, base: _Number = 10.0, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
    """`base` to the powers of `steps` exponents evenly spaced from `start` to `end`."""
def lt(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether the left operand is smaller."""
def moveaxis(input: Tensor, source: _Ints, destination: _Ints) -> Tensor:
    """A view with some dims moved to other places: another name for `movedim`."""
def movedim(input: Tensor, source: _Ints, destination: _Ints) -> Tensor:
    """A view with some dims moved to other places."""
def mul(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Product of the operands, element by element."""
@overload
def narrow(input: Tensor, dim: SupportsIndex, start: SupportsIndex, length: SupportsIndex) -> Tensor:
    """A view of `length` indices of a dim, from `start` on."""
@overload
def narrow(input: Tensor, axis: SupportsIndex, start: SupportsIndex, length: SupportsIndex) -> Tensor: ...
def ne(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Whether the operands differ, element by element."""
def neg(input: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Each element with its sign changed."""
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
def promote_types(type1: _DTypeLike, type2: _DTypeLike) -> _DType:
    """The smallest dtype that holds the values of both."""
def range(start: _Number | None = None, end: _Number | None = None, step: _Number | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None, out: Tensor | None = None) -> Tensor:
    """`start`, `start + step`, … up to and with `end`, in the default dtype unless one is given."""
def ravel(input: Tensor) -> Tensor:
    """All elements as one dim: a view where the strides allow it."""
def real(input: Tensor) -> Tensor:
    """The real parts: a view, the tensor itself where it is not complex."""
@overload
def reshape(input: Tensor, *shape: SupportsIndex) -> Tensor:
    """The same elements in another shape: a view where the strides allow it, else a copy."""
@overload
def reshape(input: Tensor, shape: _Ints) -> Tensor: ...
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """The elements in the shape of another tensor: a view where the strides allow it."""
def result_type(tensor1: Tensor | _Number, tensor2: Tensor | _Number) -> _DType:
    """The dtype of a result of two operands."""
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
@overload
def split(input: Tensor, split_size: _Ints, dim: SupportsIndex = 0) -> tuple[Tensor, ...]:
    """A tuple of views: pieces of `split_size` indices of a dim (the last may be smaller), or of the sizes in a list."""
@overload
def split(input: Tensor, split_size: _Ints, axis: SupportsIndex = 0) -> tuple[Tensor, ...]: ...
@overload
def squeeze(input: Tensor, dim: _Ints | None = None) -> Tensor:
    """A view without the dims of extent 1, or without those of them that are named."""
@overload
def squeeze(input: Tensor, axis: _Ints | None = None) -> Tensor: ...
def sub(input: _Operand, other: _Operand, *, out: Tensor | None = None) -> Tensor:
    """Left operand minus the right one."""
@overload
def sum(input: Tensor, dim: _Ints | None = None, keepdim: _Bool = False, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
    """Sum of the elements, of all or along dims."""
@overload
def sum(input: Tensor, axis: _Ints | None = None, keepdims: _Bool = False, dtype: _DTypeLike | None = None, out: Tensor | None = None) -> Tensor: ...
def swapaxes(input: Tensor, axis0: SupportsIndex, axis1: SupportsIndex) -> Tensor:
    """A view with two dims swapped: another name for `transpose`."""
@overload
def swapdims(input: Tensor, dim0: SupportsIndex, dim1: SupportsIndex) -> Tensor:
    """A view with two dims swapped: another name for `transpose`."""
@overload
def swapdims(input: Tensor, axis0: SupportsIndex, axis1: SupportsIndex) -> Tensor: ...
def t(input: Tensor) -> Tensor:
    """A matrix with its dims swapped; tensors of fewer dims as they are."""
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
def view_as_real(input: Tensor) -> Tensor:
    """A complex tensor as a real one with a last dim of 2: a view."""
@overload
def zeros(*size: SupportsIndex, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
    """A new tensor of zeros."""
@overload
def zeros(size: _Ints, *, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor: ...
@overload
def zeros(shape: _Ints, *, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor: ...
def zeros_like(input: Tensor, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor:
    """A new tensor of zeros of the size and dtype of another one."""
