//! The key of `x[key]`: ints, slices, `...` and `None`, and the location of the element that plain ints select.

use super::args::{FromArg, Ints};
use super::buffer;
use super::numbers::number;
use crate::abi::detach::wait_for;
use crate::abi::errors::{CallResult, Fail, type_name};
use crate::abi::refs::{arg, is_none};
use crate::abi::tensor_object::is_tensor;
use crate::abi::{Arg, Value};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;
use strided_core::backend::host_reads;
use strided_core::layout::Index;
use strided_core::ops::copy;
use strided_core::{DType, Tensor};

/// The entries of a key without index tensors and masks.
pub type BasicKey = SmallVec<[Index; 4]>;

/// Reads a key into `all`, an empty list of the caller: a returned list would be moved, and it is large. Returns false if an
/// entry is an index tensor or a mask: then `keys::read_keys` reads the key.
#[inline(always)]
pub fn read_basic_key(key: Arg<'_>, all: &mut BasicKey) -> CallResult<bool> {
    // SAFETY: an `Arg` is a live object. A tuple does not change, and keeps its items alive.
    unsafe {
        if ffi::PyTuple_Check(key.as_ptr()) == 0 {
            return push_index(key, all);
        }
        for i in 0..ffi::PyTuple_Size(key.as_ptr()) {
            if !push_index(arg(key.py(), ffi::PyTuple_GetItem(key.as_ptr(), i)), all)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Reads a key, and refuses index tensors and masks.
pub fn basic_key(key: Arg<'_>) -> CallResult<BasicKey> {
    let mut all = BasicKey::new();
    if !read_basic_key(key, &mut all)? {
        let got = match key.cast::<PyTuple>() {
            Ok(tuple) => tuple.iter_borrowed().find(|entry| !is_basic(*entry)).map(type_name),
            Err(_) => Some(type_name(key)),
        };
        let got = got.unwrap_or_default();
        return Err(Fail::Type(format!("an index must be an int, a slice, ... or None, got {got}")));
    }
    Ok(all)
}

/// Reads one entry and appends it: a returned entry would be moved twice.
#[inline(always)]
fn push_index(entry: Arg<'_>, all: &mut BasicKey) -> CallResult<bool> {
    let pointer = entry.as_ptr();
    // SAFETY: an `Arg` is a live object, whose type is checked before it is read.
    unsafe {
        let class = ffi::Py_TYPE(pointer);
        if class == &raw mut ffi::PySlice_Type {
            all.push(slice(entry)?);
        } else if class == &raw mut ffi::PyLong_Type {
            all.push(Index::At(position(entry)?));
        } else if pointer == ffi::Py_Ellipsis() {
            all.push(Index::Ellipsis);
        } else if is_none(entry) {
            all.push(Index::NewAxis);
        } else if is_basic(entry) {
            all.push(read_index(entry)?);
        } else {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether an entry is an int, a slice, `...` or `None`, and neither a bool, a tensor, an array nor a sequence.
pub fn is_basic(entry: Arg<'_>) -> bool {
    let pointer = entry.as_ptr();
    // SAFETY: an `Arg` is a live object.
    unsafe {
        let class = ffi::Py_TYPE(pointer);
        class == &raw mut ffi::PySlice_Type
            || pointer == ffi::Py_Ellipsis()
            || is_none(entry)
            || class != &raw mut ffi::PyBool_Type
                && !is_tensor(entry)
                && ffi::PyIndex_Check(pointer) != 0
                && ffi::PySequence_Check(pointer) == 0
                && !is_numpy_bool(entry)
    }
}

/// NumPy's bool has `__index__`, which only raises.
#[cold]
fn is_numpy_bool(entry: Arg<'_>) -> bool {
    buffer::has_buffer(entry) && buffer::import_or_copy(entry).is_ok_and(|x| x.dtype() == DType::Bool)
}

/// Reads an entry that [`is_basic`].
#[cold]
pub fn read_index(entry: Arg<'_>) -> CallResult<Index> {
    let pointer = entry.as_ptr();
    // SAFETY: an `Arg` is a live object.
    unsafe {
        if ffi::Py_TYPE(pointer) == &raw mut ffi::PySlice_Type {
            slice(entry)
        } else if pointer == ffi::Py_Ellipsis() {
            Ok(Index::Ellipsis)
        } else if is_none(entry) {
            Ok(Index::NewAxis)
        } else {
            Ok(Index::At(position(entry)?))
        }
    }
}

/// Reads a slice.
///
/// # Safety
/// The entry is a slice.
#[inline(always)]
unsafe fn slice(entry: Arg<'_>) -> CallResult<Index> {
    let (mut start, mut stop, mut step) = (0, 0, 0);
    // SAFETY: the contract above.
    if unsafe { ffi::PySlice_Unpack(entry.as_ptr(), &mut start, &mut stop, &mut step) } != 0 {
        return Err(Fail::raised(entry.py()));
    }
    Ok(Index::Slice { start: Some(start), stop: Some(stop), step })
}

/// Reads an int.
#[inline(always)]
fn position(entry: Arg<'_>) -> CallResult<isize> {
    match isize::read(entry) {
        Ok(Some(at)) => Ok(at),
        Ok(None) => Err(no_index(entry)),
        Err(Fail::IntTooLarge) => Err(Fail::Index("an index is an int beyond 64 bits".into())),
        Err(fail) => Err(fail),
    }
}

#[cold]
pub fn no_index(entry: Arg<'_>) -> Fail {
    Fail::Type(format!(
        "an index must be an int, a slice, ..., None, a mask or an integer tensor, got {}",
        type_name(entry)
    ))
}

/// The location of one element, if the key is a plain int for every dim; `None` for all other keys.
#[inline]
pub fn location(x: &Tensor, key: Arg<'_>) -> Option<isize> {
    let pointer = key.as_ptr();
    // SAFETY: an `Arg` is a live object. A tuple does not change, and keeps its items alive; `dim` is below its size.
    unsafe {
        if ffi::Py_TYPE(pointer) != &raw mut ffi::PyTuple_Type {
            return location_of(x, 1, |_| key);
        }
        let item = |dim| arg(key.py(), ffi::PyTuple_GetItem(pointer, dim as isize));
        location_of(x, ffi::PyTuple_Size(pointer) as usize, item)
    }
}

/// The location at plain ints that are within their dims. For other keys the general path finds the error.
#[inline]
fn location_of<'a>(x: &Tensor, count: usize, index: impl Fn(usize) -> Arg<'a>) -> Option<isize> {
    let modes = x.layout().modes();
    if modes.len() != count {
        return None;
    }
    let mut location = x.layout().offset();
    for (dim, mode) in modes.iter().enumerate() {
        let index = index(dim).as_ptr();
        // SAFETY: an `Arg` is a live object. Reading an exact int runs no Python code; a failed read is cleared.
        unsafe {
            if ffi::Py_TYPE(index) != &raw mut ffi::PyLong_Type {
                return None;
            }
            let at = ffi::PyLong_AsSsize_t(index);
            if at == -1 && !ffi::PyErr_Occurred().is_null() {
                ffi::PyErr_Clear(); // beyond 64 bits
                return None;
            }
            let at = if at < 0 { at + mode.extent } else { at };
            if at < 0 || at >= mode.extent {
                return None;
            }
            location += at * mode.stride;
        }
    }
    Some(location)
}

/// `x.item(...)`: the only element, or the one at some indices, as a Python number.
#[inline]
pub fn item_at<'py>(py: Python<'py>, x: &Tensor, at: &[Arg<'_>]) -> CallResult<Value<'py>> {
    if let Some(location) = location_of(x, at.len(), |dim| at[dim]) {
        return number(py, wait_for(py, x, |x| host_reads::item(x, location))?);
    }
    let x = x.clone(); // reading other indices may run Python code that replaces the object's tensor
    let value = match at {
        [] => wait_for(py, &x, copy::single_item)?,
        [one] => {
            let index = Ints::from_arg(*one, "index")?.ints;
            wait_for(py, &x, |x| copy::item(x, &index))?
        }
        several => {
            let index: Vec<isize> =
                several.iter().map(|&i| isize::from_arg(i, "index")).collect::<CallResult<_>>()?;
            wait_for(py, &x, |x| copy::item(x, &index))?
        }
    };
    number(py, value)
}
