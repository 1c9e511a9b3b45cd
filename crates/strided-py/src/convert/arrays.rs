//! Arrays of other libraries, whatever they offer: a buffer, `__array_interface__` or `__array__`. And the
//! `__array_interface__` of tensors.

use super::args::FromArg;
use super::buffer::{self, Held, has_buffer};
use super::exchange::{Lent, give_back};
use crate::abi::Object;
use crate::abi::errors::{Fail, Result, type_name};
use crate::abi::refs::{bound, give};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple, PyType};
use strided_core::layout::{Dims, Layout};
use strided_core::storage::{Access, Owner};
use strided_core::{DType, Tensor};

/// What to do with memory that our elements cannot lie in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    Refuse,
    Copy,
}

/// A tensor with the values of an array, on its memory where that is possible; `None` if it is no array.
pub fn read(py: Python<'_>, object: Object, misfit: Misfit) -> Result<Option<Tensor>> {
    if has_buffer(object) {
        return from_buffer(py, object, misfit).map(Some);
    }
    let object = bound(py, object);
    if let Some(interface) = offered(&object, "__array_interface__")? {
        let (lent, owner) = described(&object, &interface)?;
        // SAFETY: whoever offers an interface promises that the memory is there while the object lives; what
        // the promise says was checked.
        let shared = unsafe {
            match misfit {
                Misfit::Refuse => lent.share(owner),
                Misfit::Copy => lent.share_or_copy(py, owner),
            }
        };
        return shared.map(Some);
    }
    let Some(method) = offered(&object, "__array__")? else { return Ok(None) };
    let array = method.call0()?;
    if !has_buffer(array.as_ptr()) {
        let (of, got) = (type_name(py, object.as_ptr()), type_name(py, array.as_ptr()));
        return Err(Fail::Type(format!("__array__ of {of} must give an array, got {got}")));
    }
    from_buffer(py, array.as_ptr(), misfit).map(Some)
}

/// Whether an object is an array, and not a sequence of things of its own.
pub fn is_array(py: Python<'_>, object: Object) -> Result<bool> {
    let offers = |name| Ok::<bool, Fail>(offered(&bound(py, object), name)?.is_some());
    Ok(has_buffer(object) || offers("__array_interface__")? || offers("__array__")?)
}

fn from_buffer(py: Python<'_>, object: Object, misfit: Misfit) -> Result<Tensor> {
    if misfit == Misfit::Copy { buffer::import_or_copy(py, object) } else { buffer::import(py, object) }
}

/// An attribute of an object, if it has it. A class has it for its instances; lists and tuples have none of these, and
/// asking them would cost more than a small tensor.
fn offered<'py>(object: &Bound<'py, PyAny>, name: &str) -> Result<Option<Bound<'py, PyAny>>> {
    let plain = object.is_exact_instance_of::<PyList>() || object.is_exact_instance_of::<PyTuple>();
    if plain || object.is_instance_of::<PyType>() {
        return Ok(None);
    }
    Ok(object.getattr_opt(name)?)
}

/// Keeps the memory of an interface alive: the object that offered it, and the buffer that it named.
struct Kept {
    object: Option<Py<PyAny>>,
    _buffer: Option<Held>,
}

impl Owner for Kept {}

impl Drop for Kept {
    fn drop(&mut self) {
        let object = self.object.take();
        give_back(|| drop(object));
    }
}

/// The fields of an `__array_interface__`, with the object's name for messages.
struct Interface<'a, 'py> {
    fields: &'a Bound<'py, PyDict>,
    of: String,
}

impl<'py> Interface<'_, 'py> {
    /// A field that is there and not `None`.
    fn field(&self, name: &str) -> Result<Option<Bound<'py, PyAny>>> {
        Ok(self.fields.get_item(name)?.filter(|value| !value.is_none()))
    }

    fn required(&self, name: &str) -> Result<Bound<'py, PyAny>> {
        self.field(name)?.ok_or_else(|| Fail::Value(format!("{} has no {name}", self.of)))
    }

    #[cold]
    fn wrong(&self, name: &str, value: &Bound<'py, PyAny>, wanted: &str) -> Fail {
        let got = type_name(value.py(), value.as_ptr());
        Fail::Type(format!("{name} in {} must be {wanted}, got {got}", self.of))
    }

    fn int(&self, name: &str, value: &Bound<'py, PyAny>, wanted: &str) -> Result<isize> {
        match isize::read(value.py(), value.as_ptr()) {
            Ok(Some(number)) => Ok(number),
            Ok(None) => Err(self.wrong(name, value, wanted)),
            Err(Fail::Beyond) => Err(Fail::Overflow(format!("{name} in {} is beyond 64 bits", self.of))),
            Err(fail) => Err(fail),
        }
    }

    fn ints(&self, name: &str, value: &Bound<'py, PyAny>) -> Result<Dims> {
        let wanted = "a tuple of ints";
        let Ok(tuple) = value.cast::<PyTuple>() else { return Err(self.wrong(name, value, wanted)) };
        tuple.iter().map(|item| self.int(name, &item, wanted)).collect()
    }

    /// Address and read-only flag, where the data are given as a pair.
    fn address(&self, pair: &Bound<'py, PyTuple>) -> Result<(usize, bool)> {
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

/// What an interface says of its memory. All that can be checked is; the address itself cannot.
fn described(object: &Bound<'_, PyAny>, interface: &Bound<'_, PyAny>) -> Result<(Lent, Kept)> {
    let py = object.py();
    let of = format!("the __array_interface__ of {}", type_name(py, object.as_ptr()));
    let Ok(fields) = interface.cast::<PyDict>() else {
        return Err(Fail::Type(format!("{of} must be a dict, got {}", type_name(py, interface.as_ptr()))));
    };
    let interface = Interface { fields, of };
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
    let size = Layout::row_major(&shape)?.size(); // refuses extents below 0, and too many elements
    let strides =
        interface.field("strides")?.map(|strides| interface.ints("strides", &strides)).transpose()?;
    if let Some(strides) = strides.as_ref().filter(|strides| strides.len() != shape.len()) {
        let (got, wanted, of) = (strides.len(), shape.len(), &interface.of);
        return Err(Fail::Value(format!("{of} has {got} strides for {wanted} dims")));
    }
    if interface.field("mask")?.is_some() {
        return Err(Fail::Value(format!("{} has a mask, which a tensor cannot have", interface.of)));
    }
    let mut lent = Lent { origin: std::ptr::null_mut(), shape, strides, dtype, swapped, readonly: true };
    let mut kept = Kept { object: Some(object.clone().unbind()), _buffer: None };
    let data = interface.required("data")?;
    if let Ok(pair) = data.cast::<PyTuple>() {
        let (address, readonly) = interface.address(pair)?;
        (lent.origin, lent.readonly) = (address as *mut u8, readonly);
        return Ok((lent, kept));
    }
    if !has_buffer(data.as_ptr()) {
        return Err(interface.wrong("data", &data, "(address, flag) or a buffer"));
    }
    let held = buffer::acquire(py, data.as_ptr())?;
    let offset =
        interface.field("offset")?.map_or(Ok(0), |offset| interface.int("offset", &offset, "an int"))?;
    let length = held.contiguous_length()?;
    let (first, end) = byte_bounds(&lent);
    if size > 0 && (offset as i128 + first < 0 || offset as i128 + end > length as i128) {
        return Err(Fail::Value(format!(
            "{} needs bytes {} to {} of a buffer of {length}",
            interface.of,
            offset as i128 + first,
            offset as i128 + end
        )));
    }
    (lent.origin, lent.readonly) = (held.start().wrapping_offset(offset), held.is_readonly());
    kept._buffer = Some(held);
    Ok((lent, kept))
}

/// The first byte of elements and the end of the last one, counted from the origin.
fn byte_bounds(lent: &Lent) -> (i128, i128) {
    let size = lent.dtype.size() as i128;
    let Some(strides) = &lent.strides else {
        return (0, lent.shape.iter().map(|&extent| extent as i128).product::<i128>() * size);
    };
    let reaches = std::iter::zip(strides, &lent.shape).map(|(&s, &n)| s as i128 * (n as i128 - 1));
    reaches.fold((0, size), |(first, end), reach| (first + reach.min(0), end + reach.max(0)))
}

/// The dtype of a typestr such as `<f4`, and whether its bytes are swapped.
fn dtype_of(text: &str) -> Option<(DType, bool)> {
    let other = if cfg!(target_endian = "little") { '>' } else { '<' };
    let order = text.chars().next().filter(|order| "<>|=".contains(*order))?;
    let named = |&dtype: &DType| typestr(dtype).is_some_and(|name| name[1..] == text[1..]);
    let dtype = DType::ALL.iter().copied().find(|dtype| named(dtype))?;
    Some((dtype, order == other && dtype.real().size() > 1))
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

/// The `__array_interface__` of a tensor. It names an address that nobody gives back, so from then on the
/// memory stays where it is.
pub fn interface(py: Python<'_>, x: &Tensor) -> Result<Object> {
    let Some(typestr) = typestr(x.dtype()) else {
        return Err(Fail::Python(PyAttributeError::new_err(format!(
            "__array_interface__: there is no typestr for {}; use view(uint16) for the bits or float() for the values",
            x.dtype().name()
        ))));
    };
    drop(x.pin(Access::Read)?); // an error leaves the storage as it was
    x.storage().export_permanently();
    let (layout, size) = (x.layout(), x.dtype().size() as isize);
    let address = x.pin(Access::Read)?.origin as usize;
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
    give(py, fields)
}
