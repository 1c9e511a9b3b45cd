//! The names of PyTorch, and those of Python, that pickles of .pt files use.

use super::document::ElementType;
use crate::dtype::DType;

/// What a name in a pickle means.
#[derive(Clone, Debug, PartialEq)]
pub enum Global {
    /// `torch._utils._rebuild_tensor` and `_rebuild_tensor_v2`: elements of the type of the storage's class.
    RebuildTensor,
    /// `torch._utils._rebuild_tensor_v3`: elements of a dtype that has no class of storages, such as `torch.uint16`.
    RebuildTypedTensor,
    /// `torch._utils._rebuild_parameter`: its first argument.
    RebuildParameter,
    /// `torch._tensor._rebuild_from_type_v2`: a tensor with attributes, which are left out.
    RebuildFromType,
    /// `torch.Tensor` and its classes that add nothing to it.
    TensorClass,
    /// `collections.OrderedDict` and `Counter`: a dict.
    OrderedDict,
    /// `collections.defaultdict`: a dict.
    DefaultDict,
    /// `builtins.list` and others that a defaultdict may call.
    Factory,
    /// `torch.Size`: a tuple.
    Size,
    /// A class of storages, such as `torch.FloatStorage`, by the name of its type.
    Storage(&'static str),
    /// `torch.device`: its name as a string.
    Device,
    /// `torch.serialization._get_layout`, such as `torch.strided`: its name as a string.
    TensorLayout,
    /// `_codecs.encode`: how old protocols write bytes.
    Encode,
    /// `builtins.set` and the like have no node here; a list stands for them.
    Set,
    Complex,
    ByteArray,
}

/// The names that are allowed.
const GLOBALS: &[(&str, Global)] = &[
    ("torch._utils _rebuild_tensor", Global::RebuildTensor),
    ("torch._utils _rebuild_tensor_v2", Global::RebuildTensor),
    ("torch._utils _rebuild_tensor_v3", Global::RebuildTypedTensor),
    ("torch._utils _rebuild_parameter", Global::RebuildParameter),
    ("torch._utils _rebuild_parameter_with_state", Global::RebuildParameter),
    ("torch._tensor _rebuild_from_type_v2", Global::RebuildFromType),
    ("torch Tensor", Global::TensorClass),
    ("torch.nn.parameter Buffer", Global::TensorClass),
    ("torch.nn.parameter Parameter", Global::TensorClass),
    ("collections OrderedDict", Global::OrderedDict),
    ("collections Counter", Global::OrderedDict),
    ("collections defaultdict", Global::DefaultDict),
    ("builtins list", Global::Factory),
    ("builtins dict", Global::Factory),
    ("builtins int", Global::Factory),
    ("builtins float", Global::Factory),
    ("torch Size", Global::Size),
    ("torch device", Global::Device),
    ("torch.serialization _get_layout", Global::TensorLayout),
    ("_codecs encode", Global::Encode),
    ("builtins set", Global::Set),
    ("builtins frozenset", Global::Set),
    ("builtins complex", Global::Complex),
    ("builtins bytearray", Global::ByteArray),
    ("torch BoolStorage", Global::Storage("bool")),
    ("torch ByteStorage", Global::Storage("uint8")),
    ("torch CharStorage", Global::Storage("int8")),
    ("torch ShortStorage", Global::Storage("int16")),
    ("torch IntStorage", Global::Storage("int32")),
    ("torch LongStorage", Global::Storage("int64")),
    ("torch HalfStorage", Global::Storage("float16")),
    ("torch BFloat16Storage", Global::Storage("bfloat16")),
    ("torch FloatStorage", Global::Storage("float32")),
    ("torch DoubleStorage", Global::Storage("float64")),
    ("torch ComplexFloatStorage", Global::Storage("complex64")),
    ("torch ComplexDoubleStorage", Global::Storage("complex128")),
    ("torch UntypedStorage", Global::Storage("uint8")),
    ("torch.storage UntypedStorage", Global::Storage("uint8")),
    ("torch QInt8Storage", Global::Storage("qint8")),
    ("torch QUInt8Storage", Global::Storage("quint8")),
    ("torch QInt32Storage", Global::Storage("qint32")),
];

/// dtypes of PyTorch that strided lacks, and the bits of their elements. Packed ones count by the byte.
const FOREIGN: &[(&str, u64)] = &[
    ("float8_e4m3fn", 8),
    ("float8_e4m3fnuz", 8),
    ("float8_e5m2", 8),
    ("float8_e5m2fnuz", 8),
    ("float8_e8m0fnu", 8),
    ("float4_e2m1fn_x2", 8),
    ("complex32", 32),
    ("bcomplex32", 32),
    ("bits8", 8),
    ("bits16", 16),
    ("bits1x8", 8),
    ("bits2x4", 8),
    ("bits4x2", 8),
    ("qint8", 8),
    ("quint8", 8),
    ("qint32", 32),
];

/// What names that are refused stand for, by their prefixes, and what to do about it.
const REFUSED: &[(&str, &str)] = &[
    ("torch._utils _rebuild_sparse_tensor", "a sparse tensor is not read; save x.to_dense()"),
    ("torch._utils _rebuild_qtensor", "a quantized tensor is not read; save x.dequantize() or x.int_repr()"),
    ("torch._utils _rebuild_nested_tensor", "a nested tensor is not read; save x.unbind()"),
    ("torch._utils _rebuild_meta_tensor", "a tensor on the meta device has no elements"),
    ("torch.nn.", "a module is code, and no code runs; save its state_dict()"),
    ("numpy", "objects of NumPy are not read; save a tensor or a number"),
];
/// Why all other names are refused, and what to do about it.
const NOT_PLAIN: &str =
    "only tensors and plain containers are read, and no code runs; save the state_dict() of a module";

/// The type of elements by PyTorch's name, without `torch.`; `None` for a name that is not a dtype.
pub fn element_type(name: &str) -> Option<ElementType> {
    let foreign = || FOREIGN.iter().find(|row| row.0 == name);
    DType::from_name(name)
        .map(ElementType::Known)
        .or_else(|| foreign().map(|row| ElementType::foreign(name, Some(row.1))))
}

/// The meaning of a name, or why it has none.
pub fn global(module: &str, name: &str) -> Result<Global, &'static str> {
    // Python 2 had another name for the module.
    let module = if module == "__builtin__" { "builtins" } else { module };
    let wanted = format!("{module} {name}");
    let found = GLOBALS.iter().find(|row| row.0 == wanted);
    found
        .map(|row| row.1.clone())
        .ok_or_else(|| REFUSED.iter().find(|row| wanted.starts_with(row.0)).map_or(NOT_PLAIN, |row| row.1))
}
