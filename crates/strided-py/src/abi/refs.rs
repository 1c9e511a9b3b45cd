//! References: between raw objects and those of PyO3, and calls of functions that are written in Python.

use super::Object;
use super::errors::Result;
use pyo3::IntoPyObjectExt;
use pyo3::ffi;
use pyo3::prelude::*;

/// A new reference as PyO3 sees it.
pub fn owned<'py>(py: Python<'py>, object: Result<Object>) -> Result<Bound<'py, PyAny>> {
    // SAFETY: results of methods are new references, never null.
    object.map(|object| unsafe { Bound::from_owned_ptr(py, object) })
}

/// Another reference to an object: what in-place methods return.
#[inline(always)]
pub fn again(object: Object) -> Object {
    // SAFETY: callers pass a living object.
    unsafe { ffi::Py_NewRef(object) }
}

/// Hands out a Python value.
pub fn give<'py, T: IntoPyObject<'py>>(py: Python<'py>, value: T) -> Result<Object> {
    Ok(value.into_py_any(py)?.into_ptr())
}

/// Calls a function of a Python module of ours: for what is rare, or for people to read.
pub fn python<'py>(
    py: Python<'py>,
    module: &str,
    function: &str,
    args: impl pyo3::call::PyCallArgs<'py>,
) -> Result<Object> {
    Ok(py.import(module)?.getattr(function)?.call1(args)?.into_ptr())
}

/// An object as PyO3 sees it.
pub fn bound<'py>(py: Python<'py>, object: Object) -> Bound<'py, PyAny> {
    // SAFETY: callers pass a living object.
    unsafe { Bound::from_borrowed_ptr(py, object) }
}
