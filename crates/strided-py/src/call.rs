//! Small helpers that method bodies share: results, the GIL, and calls into Python.

use crate::args::{Object, TensorArg};
use crate::errors::Result;
use crate::object::wrap;
use pyo3::ffi;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use strided_core::{Layout, Tensor};

/// From so many elements on, other Python threads may run while we compute.
pub const LARGE: usize = 1 << 15;

/// A view of a tensor as a new object.
#[inline(always)]
pub fn view(py: Python<'_>, x: &Tensor, layout: strided_core::Result<Layout>) -> Result<Object> {
    wrap(py, x.with_layout(layout?))
}

/// Views of a tensor as a tuple.
pub fn views(py: Python<'_>, x: &Tensor, layouts: strided_core::Result<Vec<Layout>>) -> Result<Object> {
    let layouts = layouts?;
    let x = x.clone(); // making objects may run code that changes the tensor's object
    let objects: Vec<Py<PyAny>> = layouts.into_iter().map(|l| owned(py, view(py, &x, Ok(l)))).collect::<Result<_>>()?;
    Ok(PyTuple::new(py, objects)?.into_ptr())
}

/// A new reference as an owned object.
pub fn owned(py: Python<'_>, object: Result<Object>) -> Result<Py<PyAny>> {
    // SAFETY: results of methods are new references, never null.
    object.map(|object| unsafe { Bound::from_owned_ptr(py, object) }.unbind())
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

/// Computes with tensors of their own, so that nothing can change them, while other Python threads run
/// if the work is large.
pub fn with_threads<R: Send>(py: Python<'_>, size: usize, work: impl FnOnce() -> R + Send) -> R {
    if size < LARGE { work() } else { py.detach(work) }
}

/// A new tensor computed from one.
pub fn compute(py: Python<'_>, x: &Tensor, work: impl FnOnce(&Tensor) -> strided_core::Result<Tensor> + Send) -> Result<Object> {
    let size = x.size();
    if size < LARGE {
        return wrap(py, work(x)?);
    }
    let x = x.clone();
    wrap(py, py.detach(|| work(&x))?)
}

/// Work that changes a tensor's elements and returns its object.
pub fn in_place(py: Python<'_>, x: TensorArg, work: impl FnOnce(&Tensor) -> strided_core::Result<()> + Send) -> Result<Object> {
    let size = x.size();
    if size < LARGE {
        work(&x)?;
    } else {
        let tensor = Tensor::clone(&x);
        py.detach(|| work(&tensor))?;
    }
    Ok(again(x.0))
}

/// Calls a function of a Python module of ours: for what is rare, or for people to read.
pub fn python<'py>(py: Python<'py>, module: &str, function: &str, args: impl pyo3::call::PyCallArgs<'py>) -> Result<Object> {
    Ok(py.import(module)?.getattr(function)?.call1(args)?.unbind().into_ptr())
}

/// An object as PyO3 sees it.
pub fn bound<'py>(py: Python<'py>, object: Object) -> Bound<'py, PyAny> {
    // SAFETY: callers pass a living object.
    unsafe { Bound::from_borrowed_ptr(py, object) }
}
