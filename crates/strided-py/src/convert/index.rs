//! What stands between the brackets of `x[...]`: ints, slices, `...` and `None`, and the location that plain ints name.

use super::args::{FromArg, Ints};
use super::sequence::number;
use crate::abi::Object;
use crate::abi::errors::{Fail, Result, type_name};
use crate::abi::tensor_object::{is_tensor, tensor_of};
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;
use strided_core::Tensor;
use strided_core::layout::Index;
use strided_core::ops::copy;

pub type Indices = SmallVec<[Index; 4]>;

/// Reads what stands between the brackets, into a list of the caller's (which is too large to move about).
#[inline(always)]
pub fn read_indices(py: Python<'_>, key: Object, all: &mut Indices) -> Result<()> {
    // SAFETY: a living object; items of a tuple are borrowed from it.
    unsafe {
        if ffi::PyTuple_Check(key) == 0 {
            read_index(py, key, all)?;
        } else {
            for i in 0..ffi::PyTuple_Size(key) {
                read_index(py, ffi::PyTuple_GetItem(key, i), all)?;
            }
        }
    }
    Ok(())
}

pub fn indices(py: Python<'_>, key: Object) -> Result<Indices> {
    let mut all = Indices::new();
    read_indices(py, key, &mut all)?;
    Ok(all)
}

/// Reads one entry, and adds it right away: the result of a function would have to be moved twice.
#[inline(always)]
fn read_index(py: Python<'_>, item: Object, all: &mut Indices) -> Result<()> {
    // SAFETY: a living object, checked before it is read as what it is.
    unsafe {
        let class = ffi::Py_TYPE(item);
        if class == &raw mut ffi::PySlice_Type {
            let (mut start, mut stop, mut step) = (0, 0, 0);
            if ffi::PySlice_Unpack(item, &mut start, &mut stop, &mut step) != 0 {
                return Err(Fail::set(py));
            }
            all.push(Index::Slice { start: Some(start), stop: Some(stop), step });
        } else if item == ffi::Py_Ellipsis() {
            all.push(Index::Ellipsis);
        } else if item == ffi::Py_None() {
            all.push(Index::NewAxis);
        } else if class == &raw mut ffi::PyBool_Type || is_tensor(item) && tensor_of(item).layout().rank() > 0
        {
            return Err(no_index(py, item)); // a mask or a list of indices, not one index
        } else {
            match isize::read(py, item) {
                Ok(Some(at)) => all.push(Index::At(at)),
                Ok(None) => return Err(no_index(py, item)),
                Err(Fail::Beyond) => return Err(Fail::Index("an index is an int beyond 64 bits".into())),
                Err(fail) => return Err(fail),
            }
        }
    }
    Ok(())
}

#[cold]
fn no_index(py: Python<'_>, item: Object) -> Fail {
    Fail::Type(format!("an index must be an int, a slice, ... or None, got {}", type_name(py, item)))
}

/// The location of one element, where the key is a plain int for every dim; `None` for all other keys.
#[inline]
pub fn location(x: &Tensor, key: Object) -> Option<isize> {
    // SAFETY: a living object; the items of a tuple live as long as it.
    unsafe {
        if ffi::Py_TYPE(key) != &raw mut ffi::PyTuple_Type {
            return location_of(x, 1, |_| key);
        }
        location_of(x, ffi::PyTuple_Size(key) as usize, |dim| ffi::PyTuple_GetItem(key, dim as isize))
    }
}

/// The location at plain ints that lie inside their dims; the slow way says what is wrong with others.
#[inline]
fn location_of(x: &Tensor, count: usize, index: impl Fn(usize) -> Object) -> Option<isize> {
    let modes = x.layout().modes();
    if modes.len() != count {
        return None;
    }
    let mut location = x.layout().offset();
    for (dim, mode) in modes.iter().enumerate() {
        let index = index(dim);
        // SAFETY: a living object; an exact int runs no code when it is read, and a failed read is cleared.
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
pub fn item(py: Python<'_>, x: &Tensor, at: &[Object]) -> Result<Object> {
    if let Some(location) = location_of(x, at.len(), |dim| at[dim]) {
        return Ok(number(py, strided_core::kernels::item::get(x, location)?)?.into_ptr());
    }
    let x = x.clone(); // reading other indices may run code
    let value = match at {
        [] => copy::single_item(&x)?,
        [one] => copy::item(&x, &Ints::from_arg(py, *one, "index")?.ints)?,
        many => {
            let index: Vec<isize> =
                many.iter().map(|&i| isize::from_arg(py, i, "index")).collect::<Result<_>>()?;
            copy::item(&x, &index)?
        }
    };
    Ok(number(py, value)?.into_ptr())
}
