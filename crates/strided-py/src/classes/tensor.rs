//! The Tensor type: its constructor, and the assembly of its slots, methods and properties.

use super::class_table::{type_of_class, type_of_subclass};
use super::devices::Place;
use super::dtype::place_from_arg;
use super::size::{add_size_descriptor, is_size};
use super::{operators, protocols};
use crate::abi::detach::detach;
use crate::abi::errors::{CallResult, Fail, type_name};
use crate::abi::heap::{
    Members, SUBCLASSABLE, check_names, leak_text, make_type, names, offset_member, slot,
};
use crate::abi::refs::arg;
use crate::abi::storage_object::read_storage;
use crate::abi::tensor_object::{self as object, is_tensor, wrap, wrap_as};
use crate::abi::{Arg, Value};
use crate::convert::args::{FromArg, NoGrad, sequence_of_ints, wrong_type};
use crate::convert::buffer;
use crate::convert::numbers::python_number;
use crate::convert::values::{Values, moved};
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
pub fn construct<'py>(
    py: Python<'py>,
    dtype: DType,
    place: Place,
    args: &[Arg<'_>],
) -> CallResult<Value<'py>> {
    wrap(py, constructed(py, dtype, place, args)?)
}

fn constructed(py: Python<'_>, dtype: DType, place: Place, args: &[Arg<'_>]) -> CallResult<Tensor> {
    match *args {
        [] => zeros(py, place, &[0], dtype),
        [only] if is_size(only) => {
            let sizes = sequence_of_ints(only)?;
            let sizes = sizes.ok_or_else(|| Fail::Type("a Size must hold ints".into()))?;
            zeros(py, place, &sizes, dtype)
        }
        [only] if !is_one_int(only) => from_one(py, dtype, place, only),
        _ => {
            let sizes: Dims =
                args.iter().map(|&size| isize::from_arg(size, "size")).collect::<CallResult<_>>()?;
            zeros(py, place, &sizes, dtype)
        }
    }
}

fn zeros(py: Python<'_>, place: Place, shape: &[isize], dtype: DType) -> CallResult<Tensor> {
    new_on(py, place.device(None), shape, dtype, Fill::Zero)
}

/// A new tensor on a device. A driver that allocates memory may take long.
#[inline]
pub fn new_on(
    py: Python<'_>,
    device: Device,
    shape: &[isize],
    dtype: DType,
    fill: Fill,
) -> CallResult<Tensor> {
    if device == Device::Cpu {
        return Ok(Tensor::new_on(Device::Cpu, shape, dtype, fill)?);
    }
    Ok(detach(py, || Tensor::new_on(device, shape, dtype, fill))?)
}

/// Whether a single argument is a size: an int, or a NumPy integer. An array of rank 0 is data: unlike NumPy's scalars,
/// arrays are sequences.
fn is_one_int(object: Arg<'_>) -> bool {
    let pointer = object.as_ptr();
    // SAFETY: an `Arg` is a live object.
    unsafe {
        ffi::PyLong_Check(pointer) != 0
            || !is_tensor(object)
                && buffer::has_buffer(object)
                && ffi::PyIndex_Check(pointer) != 0
                && ffi::PySequence_Check(pointer) == 0
    }
}

fn from_one(py: Python<'_>, dtype: DType, place: Place, only: Arg<'_>) -> CallResult<Tensor> {
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
    let Values { tensor, .. } = Values::of(only, Some(dtype))?;
    let present = (is_tensor(only) || read_storage(only).is_some()).then_some(tensor.device());
    let device = place.device(present);
    moved(py, tensor, device, dtype)
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
    let (mut dtype, mut place) =
        unsafe { type_of_subclass(class) }.unwrap_or_else(|| (default_float(), Place::Any));
    if let Some(kwargs) = kwargs {
        for (name, value) in kwargs.cast::<PyDict>().map_err(PyErr::from)?.iter() {
            let (name, value) = (name.to_string(), value.as_borrowed());
            match name.as_str() {
                "dtype" => dtype = DType::from_arg(value, "dtype")?,
                "device" if value.is_none() => {}
                "device" => place = place_from_arg(place, value)?,
                "requires_grad" => _ = Option::<NoGrad>::from_arg(value, "requires_grad")?,
                _ => return Err(Fail::Type(format!("unknown argument '{name}'"))),
            }
        }
    }
    let tensor = constructed(py, dtype, place, &args)?;
    let is_plain = class == object::tensor_type() || type_of_class(class).is_some();
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
