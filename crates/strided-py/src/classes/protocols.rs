//! Python's protocols: indexing, length, iteration, truth, conversion to numbers, text.

use super::elementwise;
use super::iterator;
use super::operators::compare;
use crate::abi::Object;
use crate::abi::detach::with_threads;
use crate::abi::errors::{Fail, Result, guard};
use crate::abi::heap::{definition, slot};
use crate::abi::refs::{bound, give, python};
use crate::abi::tensor_object::tensor_of;
use crate::convert::args::python_number;
use crate::convert::index::{Indices, indices, location, read_indices};
use crate::convert::results::view;
use crate::convert::sequence::number;
use crate::convert::values::{taken, values};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use strided_core::Scalar;
use strided_core::layout::Index;
use strided_core::ops::copy;
use strided_core::ops::elementwise::OpArg;

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

unsafe extern "C" fn assign_subscript(this: Object, key: Object, value: Object) -> c_int {
    guard("index", -1, |py| {
        if value.is_null() {
            return Err(Fail::Type("elements of a tensor cannot be deleted".into()));
        }
        let number = python_number(py, value)?;
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
    // SAFETY: `this` is a tensor, looked at once.
    let source = values(py, value, unsafe { tensor_of(this) }.dtype())?;
    // SAFETY: `this` is a tensor; the value, which may run code, was read before.
    let x = unsafe { tensor_of(this) };
    let part = x.with_layout(x.layout().index(indices)?);
    Ok(with_threads(py, part.size(), || copy::copy(&part, &source))?)
}

unsafe extern "C" fn length(this: Object) -> isize {
    // SAFETY: `this` is a tensor.
    guard("len", -1, |_| match unsafe { tensor_of(this) }.layout().modes().first() {
        Some(mode) => Ok(mode.extent),
        None => Err(Fail::Type("a tensor without dimension has no length".into())),
    })
}

unsafe extern "C" fn iterate(this: Object) -> Object {
    // SAFETY: called by the interpreter with a tensor, which is looked at once.
    guard("iter", null_mut(), |py| iterator::iterate(py, unsafe { tensor_of(this) }))
}

/// `value in x`: whether any element equals it.
unsafe extern "C" fn contains(this: Object, value: Object) -> c_int {
    guard("in", -1, |py| {
        let number = python_number(py, value)?;
        let tensor = if number.is_none() { Some(taken(py, value, None)?.tensor) } else { None };
        let value = tensor.as_ref().map(OpArg::Tensor).or(number.map(OpArg::Scalar));
        // SAFETY: `this` is a tensor, copied at once.
        let x = unsafe { tensor_of(this) }.clone();
        Ok(elementwise::contains(py, &x, value.expect("a number or a tensor"))? as c_int)
    })
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
        give(py, value)
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
        slot(ffi::Py_tp_richcompare, compare as *mut c_void),
    ]
}

/// `__array_ufunc__`: NumPy's protocol for universal functions, which is written in Python. It takes any keywords, which no
/// row can.
unsafe extern "C" fn array_ufunc(this: Object, args: *const Object, count: isize, kwnames: Object) -> Object {
    guard("__array_ufunc__", null_mut(), |py| {
        // SAFETY: the interpreter passes `count` living objects, and a value for each name after them.
        let object = |i: isize| bound(py, unsafe { *args.offset(i) });
        let positional = std::iter::once(bound(py, this)).chain((0..count).map(object));
        let keywords = PyDict::new(py);
        if !kwnames.is_null() {
            for (i, name) in bound(py, kwnames).try_iter()?.enumerate() {
                keywords.set_item(name?, object(count + i as isize))?;
            }
        }
        let positional = PyTuple::new(py, positional.collect::<Vec<_>>())?;
        let function = py.import("strided._numpy")?.getattr("array_ufunc")?;
        Ok(function.call(positional, Some(&keywords))?.into_ptr())
    })
}

/// Methods that are no rows.
pub fn methods() -> Vec<ffi::PyMethodDef> {
    let doc = "__array_ufunc__($self, ufunc, method, *inputs, **kwargs)\n--\n\n\
        NumPy's protocol for universal functions: called with tensors they return tensors.\n\n\
        >>> import numpy\n\
        >>> numpy.add(strided.tensor([1.0, 2.0]), 1).tolist()\n\
        [2.0, 3.0]";
    vec![definition("__array_ufunc__", array_ufunc, doc)]
}
