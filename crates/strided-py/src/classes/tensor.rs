//! The Tensor type: its constructor, and the assembly of its slots, methods and properties.

use super::class_table::{dtype_of_class, dtype_of_subclass};
use super::dtype::check_device;
use super::size::{add_size_descriptor, is_size};
use super::{operators, protocols};
use crate::abi::errors::{CallResult, Fail, type_name};
use crate::abi::heap::{
    Members, SUBCLASSABLE, check_names, leak_text, make_type, names, offset_member, slot,
};
use crate::abi::refs::arg;
use crate::abi::tensor_object::{self as object, wrap, wrap_as};
use crate::abi::{Arg, Value};
use crate::convert::args::{FromArg, NoGrad, sequence_of_ints, wrong_type};
use crate::convert::buffer;
use crate::convert::numbers::python_number;
use crate::convert::values::shared_or_cast;
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::ffi::c_void;
use strided_core::dtype::default_float;
use strided_core::layout::Dims;
use strided_core::storage::Fill;
use strided_core::{DType, Device, Tensor};

/// `Tensor(...)` and `FloatTensor(...)`: from sizes, a Size, a storage, a tensor, an array or a sequence.
pub fn construct<'py>(py: Python<'py>, dtype: DType, args: &[Arg<'_>]) -> CallResult<Value<'py>> {
    wrap(py, constructed(py, dtype, args)?)
}

fn constructed(py: Python<'_>, dtype: DType, args: &[Arg<'_>]) -> CallResult<Tensor> {
    match *args {
        [] => Ok(Tensor::new_on(Device::Cpu, &[0], dtype, Fill::Zero)?),
        [only] if is_size(only) => {
            let sizes = sequence_of_ints(only)?;
            let sizes = sizes.ok_or_else(|| Fail::Type("a Size must hold ints".into()))?;
            Ok(Tensor::new_on(Device::Cpu, &sizes, dtype, Fill::Zero)?)
        }
        [only] if !is_one_int(only) => from_one(py, dtype, only),
        _ => {
            let sizes: Dims =
                args.iter().map(|&size| isize::from_arg(size, "size")).collect::<CallResult<_>>()?;
            Ok(Tensor::new_on(Device::Cpu, &sizes, dtype, Fill::Zero)?)
        }
    }
}

/// Whether a single argument is a size: an int, or a NumPy integer. An array of rank 0 is data: unlike NumPy's scalars,
/// arrays are sequences.
fn is_one_int(object: Arg<'_>) -> bool {
    let pointer = object.as_ptr();
    // SAFETY: an `Arg` is a live object.
    unsafe {
        ffi::PyLong_Check(pointer) != 0
            || !object::is_tensor(object)
                && buffer::has_buffer(object)
                && ffi::PyIndex_Check(pointer) != 0
                && ffi::PySequence_Check(pointer) == 0
    }
}

fn from_one(py: Python<'_>, dtype: DType, only: Arg<'_>) -> CallResult<Tensor> {
    if only.is_instance_of::<PyString>() {
        return Err(wrong_type(only, "data", "sizes, numbers, an array, a storage or a Tensor"));
    }
    if python_number(only)?.is_some() {
        let number = only.str()?;
        return Err(Fail::Type(format!(
            "size must be an int, got {} {number}; use tensor({number}) for a tensor of rank 0",
            type_name(only)
        )));
    }
    shared_or_cast(py, only, dtype)
}

slots! {
    /// `tp_new` of Tensor and of subclasses.
    fn new(py, class: Class, args: Arg, kwargs: OptionalArg) -> Value, "" => {
        // SAFETY: the interpreter passed Tensor or a subclass.
        let made = unsafe { new_of_class(py, class, args, kwargs) };
        // SAFETY: the interpreter keeps the class alive during the call.
        made.map_err(|fail| fail.of_class(unsafe { arg(py, class.cast()) }))
    }
}

/// # Safety
/// `class` is Tensor or a subclass.
unsafe fn new_of_class<'py>(
    py: Python<'py>,
    class: *mut ffi::PyTypeObject,
    args: Arg<'py>,
    kwargs: Option<Arg<'py>>,
) -> CallResult<Value<'py>> {
    let args = args.cast::<PyTuple>().map_err(PyErr::from)?;
    let args: Vec<Arg<'_>> = args.iter_borrowed().collect();
    // SAFETY: the contract above: a live type.
    let mut dtype = unsafe { dtype_of_subclass(class) }.unwrap_or_else(default_float);
    if let Some(kwargs) = kwargs {
        for (name, value) in kwargs.cast::<PyDict>().map_err(PyErr::from)?.iter() {
            let (name, value) = (name.to_string(), value.as_borrowed());
            match name.as_str() {
                "dtype" => dtype = DType::from_arg(value, "dtype")?,
                "device" => check_device(value)?,
                "requires_grad" => _ = Option::<NoGrad>::from_arg(value, "requires_grad")?,
                _ => return Err(Fail::Type(format!("unknown argument '{name}'"))),
            }
        }
    }
    let tensor = constructed(py, dtype, &args)?;
    let is_plain = class == object::tensor_type() || dtype_of_class(class).is_some();
    // SAFETY: the contract above: `class` is a subtype of Tensor.
    if is_plain { wrap(py, tensor) } else { unsafe { wrap_as(py, class, tensor) } }
}

const DOC: &str = "Tensor(*args)\n--\n\n\
    A view of a storage: an offset, a shape and strides.\n\n\
    `Tensor(3, 4)` and `Tensor(Size([3, 4]))` make one of zeros in the default type; `Tensor(sequence)`,\n\
    `Tensor(array)`, `Tensor(tensor)` and `Tensor(storage)` one of those values, on the same memory if it has\n\
    the dtype. `FloatTensor`, `LongTensor` … do the same in their type.\n\n\
    >>> strided.Tensor([[1, 2, 3, 4], [5, 6, 7, 8]])\n \
     1  2  3  4\n \
     5  6  7  8\n\
    [strided.FloatTensor of size 2x4]";

/// Makes the type with these methods and properties, and adds it to the module.
pub fn register(module: &Bound<'_, PyModule>, (mut methods, mut properties): Members) -> PyResult<()> {
    let py = module.py();
    if !object::tensor_type().is_null() {
        // Tensors of the first module would not be instances of the second one's Tensor.
        return Err(PyImportError::new_err("strided is loaded already, and cannot be loaded a second time"));
    }
    methods.extend(protocols::methods());
    check_names("Tensor", names(&methods, &properties))?;
    methods.push(ffi::PyMethodDef::zeroed());
    // SAFETY: all fields may be zero, which marks the end of the list.
    properties.push(unsafe { std::mem::zeroed() });
    let mut slots = vec![
        slot(ffi::Py_tp_new, new as *mut c_void),
        slot(ffi::Py_tp_dealloc, object::dealloc as *mut c_void),
        slot(ffi::Py_tp_doc, leak_text(DOC).as_ptr().cast_mut().cast()),
        slot(ffi::Py_tp_methods, methods.leak().as_mut_ptr().cast()),
        slot(ffi::Py_tp_getset, properties.leak().as_mut_ptr().cast()),
        offset_member(c"__weaklistoffset__", object::WEAKREFS_OFFSET),
        slot(ffi::Py_bf_getbuffer, buffer::getbuffer as *mut c_void),
        slot(ffi::Py_bf_releasebuffer, buffer::releasebuffer as *mut c_void),
    ];
    slots.extend(protocols::slots());
    slots.extend(operators::slots());
    let size = size_of::<object::TensorObject>();
    // SAFETY: each slot has the function type of its number, and takes instances for a `TensorObject`.
    let class = unsafe { make_type(py, c"strided.Tensor", size, SUBCLASSABLE, None, slots)? };
    object::set_tensor_type(class.as_ptr().cast());
    module.add("Tensor", &class)?;
    // NumPy then leaves `array + tensor` to the tensor.
    class.setattr("__array_priority__", 1000.0)?;
    add_size_descriptor(py)
}
