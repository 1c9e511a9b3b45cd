//! New references, and calls of functions that are written in Python.

use super::errors::CallResult;
use super::{Arg, Object, Value};
use pyo3::IntoPyObjectExt;
use pyo3::ffi;
use pyo3::prelude::*;

/// A new reference to an object: what in-place methods return.
#[inline(always)]
pub fn new_ref(object: Arg<'_>) -> Value<'_> {
    object.to_owned()
}

/// A Rust value as a Python object.
pub fn to_py<'py, T: IntoPyObject<'py>>(py: Python<'py>, value: T) -> CallResult<Value<'py>> {
    Ok(value.into_bound_py_any(py)?)
}

/// Calls a function of one of our Python modules: for what is rare, or formatted for people.
pub fn call_python<'py>(
    py: Python<'py>,
    module: &str,
    function: &str,
    args: impl pyo3::call::PyCallArgs<'py>,
) -> CallResult<Value<'py>> {
    Ok(py.import(module)?.getattr(function)?.call1(args)?)
}

/// An argument that the interpreter passes to a slot.
///
/// # Safety
/// `object` is a live object, and the caller of the slot keeps it alive for `'a`.
#[inline(always)]
pub unsafe fn arg<'a>(py: Python<'a>, object: Object) -> Arg<'a> {
    // SAFETY: the contract above.
    unsafe { Borrowed::from_ptr(py, object) }
}

/// Whether an object is `None`.
#[inline(always)]
pub fn is_none(object: Arg<'_>) -> bool {
    // SAFETY: `None` is alive as long as the interpreter; only its address is used.
    object.as_ptr() == unsafe { ffi::Py_None() }
}
