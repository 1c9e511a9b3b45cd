//! The Tensor type: its constructor, and the assembly of its slots, methods and properties.

use super::class_table::{dtype_of_class, dtype_of_subclass};
use super::dtype::Device;
use super::size::{add_size_descriptor, is_size};
use super::{operators, protocols};
use crate::abi::Object;
use crate::abi::errors::{Fail, Result, guard, type_name};
use crate::abi::heap::{Members, SUBCLASSED, check_names, forever, make_type, names, slot};
use crate::abi::refs::bound;
use crate::abi::tensor_object::{self as object, wrap, wrap_as};
use crate::convert::args::{FromArg, NoGrad, python_number, sequence_of_ints, wrong_type};
use crate::convert::buffer;
use crate::convert::values::shared_or_cast;
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use strided_core::dtype::default_float;
use strided_core::layout::Dims;
use strided_core::storage::Fill;
use strided_core::{DType, Tensor};

/// `Tensor(...)` and `FloatTensor(...)`: sizes, a Size, a storage, a tensor, an array or a sequence.
pub fn construct(py: Python<'_>, dtype: DType, args: &[Object]) -> Result<Object> {
    wrap(py, constructed(py, dtype, args)?)
}

fn constructed(py: Python<'_>, dtype: DType, args: &[Object]) -> Result<Tensor> {
    match *args {
        [] => Ok(Tensor::new(&[0], dtype, Fill::Zero)?),
        [only] if is_size(only) => {
            let sizes = sequence_of_ints(py, only)?;
            let sizes = sizes.ok_or_else(|| Fail::Type("a Size must hold ints".into()))?;
            Ok(Tensor::new(&sizes, dtype, Fill::Zero)?)
        }
        [only] if !is_one_int(only) => from_one(py, dtype, only),
        _ => {
            let sizes: Dims =
                args.iter().map(|&size| isize::from_arg(py, size, "size")).collect::<Result<_>>()?;
            Ok(Tensor::new(&sizes, dtype, Fill::Zero)?)
        }
    }
}

/// Whether a single argument is a size: an int, or a NumPy integer. An array of rank 0 is data: unlike NumPy's scalars,
/// arrays are sequences.
fn is_one_int(object: Object) -> bool {
    // SAFETY: the caller passes a living object.
    unsafe {
        ffi::PyLong_Check(object) != 0
            || !object::is_tensor(object)
                && buffer::has_buffer(object)
                && ffi::PyIndex_Check(object) != 0
                && ffi::PySequence_Check(object) == 0
    }
}

fn from_one(py: Python<'_>, dtype: DType, only: Object) -> Result<Tensor> {
    if is_text(only) {
        return Err(wrong_type(py, only, "data", "sizes, numbers, an array, a storage or a Tensor"));
    }
    if python_number(py, only)?.is_some() {
        let number = bound(py, only).str()?;
        return Err(Fail::Type(format!(
            "size must be an int, got {} {number}; use tensor({number}) for a tensor of rank 0",
            type_name(py, only)
        )));
    }
    shared_or_cast(py, only, dtype)
}

fn is_text(object: Object) -> bool {
    // SAFETY: a living object.
    unsafe { ffi::PyUnicode_Check(object) != 0 }
}

/// `tp_new`
unsafe extern "C" fn new(class: *mut ffi::PyTypeObject, args: Object, kwargs: Object) -> Object {
    guard("Tensor", null_mut(), |py| {
        let items: Vec<Bound<'_, PyAny>> = bound(py, args).try_iter()?.collect::<PyResult<_>>()?;
        let objects: Vec<Object> = items.iter().map(|item| item.as_ptr()).collect();
        let mut dtype = dtype_of_subclass(class).unwrap_or_else(default_float);
        if !kwargs.is_null() {
            for pair in bound(py, kwargs).cast_into::<pyo3::types::PyDict>().map_err(PyErr::from)?.iter() {
                let (name, value) = (pair.0.to_string(), pair.1.as_ptr());
                match name.as_str() {
                    "dtype" => dtype = DType::from_arg(py, value, "dtype")?,
                    "device" => {
                        Device::from_arg(py, value, "device")?;
                    }
                    "requires_grad" => {
                        Option::<NoGrad>::from_arg(py, value, "requires_grad")?;
                    }
                    _ => return Err(Fail::Type(format!("unknown argument '{name}'"))),
                }
            }
        }
        let tensor = constructed(py, dtype, &objects)?;
        let plain = class == object::tensor_type() || dtype_of_class(class).is_some();
        // SAFETY: `class` is a subtype of Tensor, as `tp_new` is only called for those.
        if plain { wrap(py, tensor) } else { unsafe { wrap_as(py, class, tensor) } }
    })
}

const DOC: &str = "Tensor(*args)\n--\n\n\
    One way of looking at a storage: offset, shape and strides.\n\n\
    `Tensor(3, 4)` and `Tensor(Size([3, 4]))` make one of zeros in the default type; `Tensor(sequence)`,\n\
    `Tensor(array)`, `Tensor(tensor)` and `Tensor(storage)` one of those values, on the same memory where the\n\
    dtype fits. `FloatTensor`, `LongTensor` … do the same in their type.\n\n\
    >>> strided.Tensor([[1, 2, 3, 4], [5, 6, 7, 8]])\n \
     1  2  3  4\n \
     5  6  7  8\n\
    [strided.FloatTensor of size 2x4]";

/// The signatures of what is no row: the constructor, Python's protocols, and `size`, which is an int that can be called.
pub const SIGNATURES: &[(&str, &[&str])] = &[
    (
        "__new__",
        &[
            "(*size: SupportsIndex, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None) -> Self",
            "(data: _Data, /, *, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None) -> Self",
        ],
    ),
    ("__contains__", &["(value: object, /) -> bool"]),
    ("__getitem__", &["(index: _Index | tuple[_Index, ...], /) -> Tensor"]),
    ("__setitem__", &["(index: _Index | tuple[_Index, ...], value: _Data, /) -> None"]),
    ("__iter__", &["() -> Iterator[Tensor]"]),
    ("__array_ufunc__", &["(ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any"]),
    ("__divmod__", &["(other: _Operand, /) -> tuple[Tensor, Tensor]"]),
    ("__rdivmod__", &["(other: _Operand, /) -> tuple[Tensor, Tensor]"]),
];

/// Makes the type with these methods and properties, and adds it to the module.
pub fn register(module: &Bound<'_, PyModule>, (mut methods, mut properties): Members) -> PyResult<()> {
    let py = module.py();
    if !object::tensor_type().is_null() {
        // Tensors of a first import would not be tensors for the second.
        return Err(PyImportError::new_err("strided is loaded already, and cannot be loaded a second time"));
    }
    methods.extend(protocols::methods());
    check_names("Tensor", names(&methods, &properties))?;
    methods.push(ffi::PyMethodDef::zeroed());
    // SAFETY: zero is the end of the list.
    properties.push(unsafe { std::mem::zeroed() });
    let members = vec![
        ffi::PyMemberDef {
            name: c"__weaklistoffset__".as_ptr(),
            type_code: ffi::Py_T_PYSSIZET,
            offset: object::WEAKREFS as isize,
            flags: ffi::Py_READONLY,
            doc: std::ptr::null(),
        },
        // SAFETY: the zeroed end of the list.
        unsafe { std::mem::zeroed() },
    ];
    let mut slots = vec![
        slot(ffi::Py_tp_new, new as *mut c_void),
        slot(ffi::Py_tp_dealloc, object::dealloc as *mut c_void),
        slot(ffi::Py_tp_doc, forever(DOC).as_ptr().cast_mut().cast()),
        slot(ffi::Py_tp_methods, methods.leak().as_mut_ptr().cast()),
        slot(ffi::Py_tp_getset, properties.leak().as_mut_ptr().cast()),
        slot(ffi::Py_tp_members, members.leak().as_mut_ptr().cast()),
        slot(ffi::Py_bf_getbuffer, buffer::getbuffer as *mut c_void),
        slot(ffi::Py_bf_releasebuffer, buffer::releasebuffer as *mut c_void),
    ];
    slots.extend(protocols::slots());
    slots.extend(operators::slots());
    let size = size_of::<object::TensorObject>();
    // SAFETY: the slots match their numbers, and `wrap` makes instances of that size.
    let class = unsafe { make_type(py, c"strided.Tensor", size, SUBCLASSED, None, slots)? };
    object::set_tensor_type(class.as_ptr().cast());
    module.add("Tensor", &class)?;
    // So that an array leaves `array + tensor` to the tensor.
    class.setattr("__array_priority__", 1000.0)?;
    add_size_descriptor(py)
}
