//! Python's protocols: indexing, length, iteration, truth, conversion to numbers, text.

use crate::args::{FromArg, Object};
use crate::arrays::{self, Misfit};
use crate::call::{bound, python, view, with_threads};
use crate::errors::{Fail, Result, guard, type_name};
use crate::heap::slot;
use crate::object::{is_tensor, tensor_of, wrap};
use crate::sequence::{from_nested, number};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use strided_core::layout::Index;
use strided_core::ops::{copy, elementwise, reduce, table};
use strided_core::{DType, Scalar, Tensor};

pub type Indices = SmallVec<[Index; 4]>;

/// Reads what stands between the brackets, into a list of the caller's (which is too large to move about).
#[inline(always)]
fn read_indices(py: Python<'_>, key: Object, all: &mut Indices) -> Result<()> {
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

unsafe extern "C" fn subscript(this: Object, key: Object) -> Object {
    guard("index", null_mut(), |py| {
        let mut indices = Indices::new();
        read_indices(py, key, &mut indices)?;
        // SAFETY: `this` is a tensor; the key was read before.
        let x = unsafe { tensor_of(this) };
        view(py, x, x.layout().index(&indices))
    })
}

/// `x[i]` for C callers and iteration.
unsafe extern "C" fn sequence_item(this: Object, at: isize) -> Object {
    guard("index", null_mut(), |py| {
        if at < 0 {
            return Err(Fail::Index("the index is negative".into())); // C callers have added the length
        }
        // SAFETY: `this` is a tensor.
        let x = unsafe { tensor_of(this) };
        view(py, x, x.layout().index(&[Index::At(at)]))
    })
}

/// The location of one element, where the key is a plain int for every dim; `None` for all other keys.
#[inline]
fn location(x: &Tensor, key: Object) -> Option<isize> {
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

unsafe extern "C" fn assign_subscript(this: Object, key: Object, value: Object) -> c_int {
    guard("index", -1, |py| {
        if value.is_null() {
            return Err(Fail::Type("elements of a tensor cannot be deleted".into()));
        }
        let number = crate::args::python_number(py, value)?;
        // SAFETY: `this` is a tensor, and reading a plain key runs no code.
        let x = unsafe { tensor_of(this) };
        match (number, location(x, key)) {
            (Some(number), Some(location)) => strided_core::kernels::item::set(x, location, number)?,
            (Some(number), None) => assign_number(py, this, &indices(py, key)?, number)?,
            (None, _) => assign(py, this, &indices(py, key)?, value)?,
        }
        Ok(0)
    })
}

fn assign_number(py: Python<'_>, this: Object, indices: &[Index], number: Scalar) -> Result<()> {
    // SAFETY: `this` is a tensor; the key was read before.
    let x = unsafe { tensor_of(this) };
    let part = x.with_layout(x.layout().index(indices)?);
    Ok(with_threads(py, part.size(), || copy::fill(&part, number))?)
}

fn assign(py: Python<'_>, this: Object, indices: &[Index], value: Object) -> Result<()> {
    let source = values(py, value)?;
    // SAFETY: `this` is a tensor; the value, which may run code, was read before.
    let x = unsafe { tensor_of(this) };
    let part = x.with_layout(x.layout().index(indices)?);
    Ok(with_threads(py, part.size(), || copy::copy(&part, &source))?)
}

/// The values of a tensor, a storage, an array or a nested sequence.
pub fn values(py: Python<'_>, value: Object) -> Result<Tensor> {
    if is_tensor(value) {
        // SAFETY: it is a tensor, copied at once.
        return Ok(unsafe { tensor_of(value) }.clone());
    }
    if let Some(storage) = crate::storage::read(py, value) {
        return storage.whole();
    }
    if let Some(array) = arrays::read(py, value, Misfit::Copy)? {
        return Ok(array);
    }
    from_nested(py, value, None)
}

unsafe extern "C" fn length(this: Object) -> isize {
    // SAFETY: `this` is a tensor.
    guard("len", -1, |_| match unsafe { tensor_of(this) }.layout().modes().first() {
        Some(mode) => Ok(mode.extent),
        None => Err(Fail::Type("a tensor without dimension has no length".into())),
    })
}

unsafe extern "C" fn iterate(this: Object) -> Object {
    guard("iter", null_mut(), |_| {
        // SAFETY: `this` is a tensor.
        if unsafe { tensor_of(this) }.layout().rank() == 0 {
            return Err(Fail::Type("a tensor without dimension cannot be iterated".into()));
        }
        // SAFETY: a sequence.
        unsafe { Ok(ffi::PySeqIter_New(this)) }
    })
}

/// `value in x`: whether any element equals it.
unsafe extern "C" fn contains(this: Object, value: Object) -> c_int {
    guard("in", -1, |py| {
        let number = Scalar::from_arg(py, value, "value")?;
        // SAFETY: `this` is a tensor, copied at once.
        let x = unsafe { tensor_of(this) }.clone();
        Ok(holds(py, &x, number)? as c_int)
    })
}

/// Whether any element equals a number.
pub fn holds(py: Python<'_>, x: &Tensor, number: Scalar) -> Result<bool> {
    let found = with_threads(py, x.size(), || {
        let operands = [elementwise::Operand::Tensor(x), elementwise::Operand::Scalar(number)];
        let equal = elementwise::run(&table::OPS[table::Op::eq as usize], &operands)?;
        let all = reduce::Request::default();
        copy::single_item(&reduce::run(&reduce::SUM, &equal, &all, None)?.expect("a new tensor"))
    })?;
    Ok(found != Scalar::Int(0))
}

fn only(this: Object) -> Result<Scalar> {
    // SAFETY: slots are called with a tensor.
    Ok(copy::single_item(unsafe { tensor_of(this) })?)
}

unsafe extern "C" fn truth(this: Object) -> c_int {
    guard("bool", -1, |_| {
        // SAFETY: `this` is a tensor.
        let x = unsafe { tensor_of(this) };
        if x.size() != 1 {
            let shape = x.layout().shape_text();
            return Err(PyValueError::new_err(format!(
                "bool: a tensor of shape {shape} has no single truth value"
            ))
            .into());
        }
        Ok(match only(this)? {
            Scalar::Bool(v) => v,
            Scalar::Int(v) => v != 0,
            Scalar::Huge(v) | Scalar::Float(v) => v != 0.0,
            Scalar::Complex(v) => v.re != 0.0 || v.im != 0.0,
        } as c_int)
    })
}

unsafe extern "C" fn to_float(this: Object) -> Object {
    guard("float", null_mut(), |py| {
        let value = match only(this)? {
            Scalar::Bool(v) => v as u8 as f64,
            Scalar::Int(v) => v as f64,
            Scalar::Huge(v) | Scalar::Float(v) => v,
            Scalar::Complex(_) => {
                return Err(
                    PyTypeError::new_err("float: a complex number has no single float; use .real").into()
                );
            }
        };
        crate::call::give(py, value)
    })
}

unsafe extern "C" fn to_int(this: Object) -> Object {
    guard("int", null_mut(), |py| {
        let value = number(py, only(this)?)?;
        // Python's own rules for int(float): inf and nan are refused.
        Ok(py.get_type::<pyo3::types::PyInt>().call1((value,))?.into_ptr())
    })
}

unsafe extern "C" fn to_index(this: Object) -> Object {
    guard("index", null_mut(), |py| {
        // SAFETY: `this` is a tensor.
        let x = unsafe { tensor_of(this) };
        if !x.dtype().is_int() || x.size() != 1 {
            let (name, shape) = (x.dtype().name(), x.layout().shape_text());
            return Err(Fail::Type(format!(
                "only a tensor of one integer is an index, got {name} of shape {shape}"
            )));
        }
        Ok(number(py, only(this)?)?.into_ptr())
    })
}

unsafe extern "C" fn repr(this: Object) -> Object {
    guard("repr", null_mut(), |py| python(py, "strided.display.text", "tensor", (bound(py, this),)))
}

/// By identity, as `==` works element by element.
unsafe extern "C" fn hash(this: Object) -> ffi::Py_hash_t {
    // The low bits of an address are always the same; -1 would mean an error.
    (this as usize).rotate_right(4) as ffi::Py_hash_t & !1
}

/// All slots of this file.
pub fn slots() -> Vec<ffi::PyType_Slot> {
    vec![
        slot(ffi::Py_mp_subscript, subscript as *mut c_void),
        slot(ffi::Py_mp_ass_subscript, assign_subscript as *mut c_void),
        slot(ffi::Py_mp_length, length as *mut c_void),
        slot(ffi::Py_sq_length, length as *mut c_void),
        slot(ffi::Py_sq_item, sequence_item as *mut c_void),
        slot(ffi::Py_sq_contains, contains as *mut c_void),
        slot(ffi::Py_tp_iter, iterate as *mut c_void),
        slot(ffi::Py_nb_bool, truth as *mut c_void),
        slot(ffi::Py_nb_float, to_float as *mut c_void),
        slot(ffi::Py_nb_int, to_int as *mut c_void),
        slot(ffi::Py_nb_index, to_index as *mut c_void),
        slot(ffi::Py_tp_repr, repr as *mut c_void),
        slot(ffi::Py_tp_hash, hash as *mut c_void),
        slot(ffi::Py_tp_richcompare, crate::ops::compare as *mut c_void),
    ]
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
        [one] => copy::item(&x, &crate::args::Ints::from_arg(py, *one, "index")?.ints)?,
        many => {
            let index: Vec<isize> =
                many.iter().map(|&i| isize::from_arg(py, i, "index")).collect::<Result<_>>()?;
            copy::item(&x, &index)?
        }
    };
    Ok(number(py, value)?.into_ptr())
}

/// A tensor of a dtype, itself if it has it already.
pub fn converted(py: Python<'_>, this: Object, dtype: DType, force: bool) -> Result<Object> {
    // SAFETY: callers pass a tensor.
    let x = unsafe { tensor_of(this) };
    if x.dtype() == dtype && !force {
        return Ok(crate::call::again(this));
    }
    let x = x.clone();
    wrap(py, with_threads(py, x.size(), || copy::to_dtype(&x, dtype))?)
}
