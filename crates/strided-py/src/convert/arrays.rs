//! Arrays of other libraries, through a buffer, `__array_interface__` or `__array__`, and the `__array_interface__` of
//! tensors.

use super::args::FromArg;
use super::buffer::{self, HeldBuffer, has_buffer};
use super::exchange::{ForeignBuffer, export_permanently, release_attached};
use crate::abi::errors::{CallResult, Fail, type_name};
use crate::abi::refs::to_py;
use crate::abi::{Arg, Value};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple, PyType};
use strided_core::layout::{Dims, Layout};
use strided_core::storage::Owner;
use strided_core::{DType, Tensor};

/// What to do with memory that a tensor cannot share.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    Refuse,
    Copy,
}

/// A tensor with the values of an array, on its memory if possible; `None` if the object is not an array.
pub fn read(object: Arg<'_>, misfit: Misfit) -> CallResult<Option<Tensor>> {
    if has_buffer(object) {
        return from_buffer(object, misfit).map(Some);
    }
    if let Some(interface) = attribute(object, "__array_interface__")? {
        let (foreign, owner) = memory_of(object, &interface)?;
        // SAFETY: the protocol says that the memory exists while the object does, and `owner` holds the object;
        // `described` checked all that can be checked.
        let shared = unsafe {
            match misfit {
                Misfit::Refuse => foreign.share(owner),
                Misfit::Copy => foreign.share_or_copy(object.py(), owner),
            }
        };
        return shared.map(Some);
    }
    let Some(method) = attribute(object, "__array__")? else { return Ok(None) };
    let array = method.call0()?;
    if !has_buffer(array.as_borrowed()) {
        let (of, got) = (type_name(object), type_name(array.as_borrowed()));
        return Err(Fail::Type(format!("__array__ of {of} must give an array, got {got}")));
    }
    from_buffer(array.as_borrowed(), misfit).map(Some)
}

/// Whether an object is an array, rather than a sequence of objects.
pub fn is_array(object: Arg<'_>) -> CallResult<bool> {
    let has = |name| Ok::<bool, Fail>(attribute(object, name)?.is_some());
    Ok(has_buffer(object) || has("__array_interface__")? || has("__array__")?)
}

fn from_buffer(object: Arg<'_>, misfit: Misfit) -> CallResult<Tensor> {
    if misfit == Misfit::Copy { buffer::import_or_copy(object) } else { buffer::import(object) }
}

/// An attribute of an object, if it has it. Classes are skipped, since they have it for their instances; lists and tuples
/// too, since they have none of these, and looking costs more than a small tensor.
fn attribute<'a>(object: Arg<'a>, name: &str) -> CallResult<Option<Value<'a>>> {
    let plain = object.is_exact_instance_of::<PyList>() || object.is_exact_instance_of::<PyTuple>();
    if plain || object.is_instance_of::<PyType>() {
        return Ok(None);
    }
    Ok(object.getattr_opt(name)?)
}

/// Keeps the memory of an array interface alive: the object that has it, and the buffer that it names.
struct InterfaceOwner {
    object: Option<Py<PyAny>>,
    _buffer: Option<HeldBuffer>,
}

impl Owner for InterfaceOwner {}

impl Drop for InterfaceOwner {
    fn drop(&mut self) {
        let object = self.object.take();
        release_attached(|| drop(object));
    }
}

/// The fields of an `__array_interface__`, with a name for messages.
struct ArrayInterface<'a, 'py> {
    fields: &'a Bound<'py, PyDict>,
    of: String,
}

impl<'py> ArrayInterface<'_, 'py> {
    /// A field, unless it is missing or `None`.
    fn field(&self, name: &str) -> CallResult<Option<Bound<'py, PyAny>>> {
        Ok(self.fields.get_item(name)?.filter(|value| !value.is_none()))
    }

    fn required(&self, name: &str) -> CallResult<Bound<'py, PyAny>> {
        self.field(name)?.ok_or_else(|| Fail::Value(format!("{} has no {name}", self.of)))
    }

    #[cold]
    fn wrong(&self, name: &str, value: &Bound<'py, PyAny>, wanted: &str) -> Fail {
        let got = type_name(value.as_borrowed());
        Fail::Type(format!("{name} in {} must be {wanted}, got {got}", self.of))
    }

    fn int(&self, name: &str, value: &Bound<'py, PyAny>, wanted: &str) -> CallResult<isize> {
        match isize::read(value.as_borrowed()) {
            Ok(Some(number)) => Ok(number),
            Ok(None) => Err(self.wrong(name, value, wanted)),
            Err(Fail::IntTooLarge) => Err(Fail::Overflow(format!("{name} in {} is beyond 64 bits", self.of))),
            Err(fail) => Err(fail),
        }
    }

    fn ints(&self, name: &str, value: &Bound<'py, PyAny>) -> CallResult<Dims> {
        let wanted = "a tuple of ints";
        let Ok(tuple) = value.cast::<PyTuple>() else { return Err(self.wrong(name, value, wanted)) };
        tuple.iter().map(|item| self.int(name, &item, wanted)).collect()
    }

    /// Address and read-only flag, of data that are given as a pair.
    fn address(&self, pair: &Bound<'py, PyTuple>) -> CallResult<(usize, bool)> {
        if pair.len() != 2 {
            let got = pair.len();
            return Err(Fail::Value(format!(
                "data in {} is a tuple of {got}, wanted (address, flag)",
                self.of
            )));
        }
        let (address, readonly) = (pair.get_item(0)?, pair.get_item(1)?);
        if !address.is_instance_of::<PyInt>() {
            return Err(self.wrong("the address", &address, "an int"));
        }
        match address.extract::<usize>() {
            Ok(start) => Ok((start, readonly.is_truthy()?)),
            Err(_) => Err(Fail::Value(format!("the address in {} is {address}, which is none", self.of))),
        }
    }
}

/// The memory of an array interface. All is checked but the address, which cannot be.
fn memory_of(object: Arg<'_>, interface: &Bound<'_, PyAny>) -> CallResult<(ForeignBuffer, InterfaceOwner)> {
    let of = format!("the __array_interface__ of {}", type_name(object));
    let Ok(fields) = interface.cast::<PyDict>() else {
        return Err(Fail::Type(format!("{of} must be a dict, got {}", type_name(interface.as_borrowed()))));
    };
    let interface = ArrayInterface { fields, of };
    if let Some(version) = interface.field("version")? {
        let version = interface.int("version", &version, "an int")?;
        if version < 3 {
            return Err(Fail::Value(format!("{} has version {version}, wanted 3", interface.of)));
        }
    }
    let typestr = interface.required("typestr")?;
    let Ok(text) = typestr.cast::<PyString>() else {
        return Err(interface.wrong("typestr", &typestr, "a str"));
    };
    let text = text.to_string_lossy();
    let Some((dtype, swapped)) = dtype_of(&text) else {
        return Err(Fail::Type(format!("no dtype is stored as typestr '{text}'")));
    };
    let shape = interface.ints("shape", &interface.required("shape")?)?;
    let size = Layout::row_major(&shape)?.size(); // refuses negative extents, and too many elements
    let strides =
        interface.field("strides")?.map(|strides| interface.ints("strides", &strides)).transpose()?;
    if let Some(strides) = strides.as_ref().filter(|strides| strides.len() != shape.len()) {
        let (got, wanted, of) = (strides.len(), shape.len(), &interface.of);
        return Err(Fail::Value(format!("{of} has {got} strides for {wanted} dims")));
    }
    if interface.field("mask")?.is_some() {
        return Err(Fail::Value(format!("{} has a mask, which a tensor cannot have", interface.of)));
    }
    let origin = std::ptr::null_mut();
    let mut foreign = ForeignBuffer { origin, shape, strides, dtype, swapped, readonly: true };
    let mut owner = InterfaceOwner { object: Some(object.to_owned().unbind()), _buffer: None };
    let data = interface.required("data")?;
    if let Ok(pair) = data.cast::<PyTuple>() {
        let (address, readonly) = interface.address(pair)?;
        (foreign.origin, foreign.readonly) = (address as *mut u8, readonly);
        return Ok((foreign, owner));
    }
    if !has_buffer(data.as_borrowed()) {
        return Err(interface.wrong("data", &data, "(address, flag) or a buffer"));
    }
    let held = buffer::acquire(data.as_borrowed())?;
    let offset =
        interface.field("offset")?.map_or(Ok(0), |offset| interface.int("offset", &offset, "an int"))?;
    let length = held.contiguous_length()?;
    let (first, end) = byte_bounds(&foreign);
    if size > 0 && (offset as i128 + first < 0 || offset as i128 + end > length as i128) {
        return Err(Fail::Value(format!(
            "{} needs bytes {} to {} of a buffer of {length}",
            interface.of,
            offset as i128 + first,
            offset as i128 + end
        )));
    }
    (foreign.origin, foreign.readonly) = (held.start().wrapping_offset(offset), held.is_readonly());
    owner._buffer = Some(held);
    Ok((foreign, owner))
}

/// The first byte of the elements and the end of the last one, relative to the origin.
fn byte_bounds(foreign: &ForeignBuffer) -> (i128, i128) {
    let size = foreign.dtype.size() as i128;
    let Some(strides) = &foreign.strides else {
        return (0, foreign.shape.iter().map(|&extent| extent as i128).product::<i128>() * size);
    };
    let spans = std::iter::zip(strides, &foreign.shape).map(|(&s, &n)| s as i128 * (n as i128 - 1));
    spans.fold((0, size), |(first, end), span| (first + span.min(0), end + span.max(0)))
}

/// The dtype of a typestr such as `<f4`, and whether its elements are in the opposite byte order.
fn dtype_of(text: &str) -> Option<(DType, bool)> {
    let opposite = if cfg!(target_endian = "little") { '>' } else { '<' };
    let order = text.chars().next().filter(|order| "<>|=".contains(*order))?;
    let named = |&dtype: &DType| typestr(dtype).is_some_and(|name| name[1..] == text[1..]);
    let dtype = DType::ALL.iter().copied().find(|dtype| named(dtype))?;
    Some((dtype, order == opposite && dtype.real().size() > 1))
}

/// The typestr of a dtype; bfloat16 has none.
fn typestr(dtype: DType) -> Option<String> {
    let kind = match dtype {
        DType::Bool => 'b',
        DType::BF16 => return None,
        _ if dtype.is_complex() => 'c',
        _ if dtype.is_float() => 'f',
        _ if dtype.int_range()?.0 < 0 => 'i',
        _ => 'u',
    };
    let order = match dtype.size() {
        1 => '|',
        _ if cfg!(target_endian = "little") => '<',
        _ => '>',
    };
    Some(format!("{order}{kind}{}", dtype.size()))
}

/// The `__array_interface__` of a tensor. Consumers never say that they are done with the address, so the memory stays in
/// place from now on.
pub fn interface<'py>(py: Python<'py>, x: &Tensor) -> CallResult<Value<'py>> {
    let Some(typestr) = typestr(x.dtype()) else {
        return Err(Fail::Python(PyAttributeError::new_err(format!(
            "__array_interface__: there is no typestr for {}; use view(uint16) for the bits or float() for the values",
            x.dtype().name()
        ))));
    };
    let (layout, size) = (x.layout(), x.dtype().size() as isize);
    let address = export_permanently(x)?;
    let strides = layout.modes().iter().map(|mode| mode.stride * size);
    let fields = PyDict::new(py);
    fields.set_item("shape", PyTuple::new(py, layout.shape())?)?;
    fields.set_item("typestr", typestr)?;
    fields.set_item("data", (address, x.storage().is_readonly()))?;
    fields.set_item(
        "strides",
        match layout.is_row_major() {
            true => None,
            false => Some(PyTuple::new(py, strides.collect::<Dims>())?),
        },
    )?;
    fields.set_item("version", 3)?;
    to_py(py, fields)
}
