//! `iter(x)`: the rows of a tensor one after the other, as views.

use crate::abi::Object;
use crate::abi::errors::{Fail, Result, guard};
use crate::abi::heap::{make_type, slot};
use crate::abi::refs::give;
use crate::convert::results::view;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use strided_core::Tensor;

/// What an instance looks like in memory. It holds a tensor of its own, so that a resize during the iteration does not
/// change what is visited.
#[repr(C)]
struct IteratorObject {
    head: ffi::PyObject,
    tensor: Tensor,
    next: isize,
}

static TYPE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(null_mut());

/// A new iterator over the first dim of a tensor.
pub fn iterate(py: Python<'_>, x: &Tensor) -> Result<Object> {
    if x.layout().rank() == 0 {
        return Err(Fail::Type("a tensor of rank 0 cannot be iterated".into()));
    }
    // SAFETY: the type was made by `register`; every field behind the head is written before anyone sees the object.
    unsafe {
        let this = ffi::PyObject_New::<IteratorObject>(TYPE.load(Relaxed));
        if this.is_null() {
            return Err(Fail::set(py));
        }
        (&raw mut (*this).tensor).write(x.clone());
        (&raw mut (*this).next).write(0);
        Ok(this.cast())
    }
}

unsafe extern "C" fn next(this: Object) -> Object {
    guard("iter", null_mut(), |py| {
        // SAFETY: called by the interpreter with an iterator.
        let this = unsafe { &mut *this.cast::<IteratorObject>() };
        let layout = this.tensor.layout();
        if this.next >= layout.modes()[0].extent {
            return Ok(null_mut()); // without an exception: the end
        }
        let row = layout.first_row(this.next);
        this.next += 1;
        view(py, &this.tensor, Ok(row))
    })
}

unsafe extern "C" fn length_hint(this: Object, _: Object) -> Object {
    guard("iter", null_mut(), |py| {
        // SAFETY: called by the interpreter with an iterator.
        let this = unsafe { &*this.cast::<IteratorObject>() };
        give(py, this.tensor.layout().modes()[0].extent - this.next)
    })
}

unsafe extern "C" fn dealloc(object: Object) {
    // SAFETY: called by the interpreter with the last reference to an instance, which counts in its type.
    unsafe {
        let class = ffi::Py_TYPE(object);
        (&raw mut (*object.cast::<IteratorObject>()).tensor).drop_in_place();
        ffi::PyObject_Free(object.cast());
        ffi::Py_DECREF(class.cast());
    }
}

/// Makes the type.
pub fn register(py: Python<'_>) -> PyResult<()> {
    let methods = vec![
        ffi::PyMethodDef {
            ml_name: c"__length_hint__".as_ptr(),
            ml_meth: ffi::PyMethodDefPointer { PyCFunction: length_hint },
            ml_flags: ffi::METH_NOARGS,
            ml_doc: c"The number of rows that are left.".as_ptr(),
        },
        ffi::PyMethodDef::zeroed(),
    ];
    let slots = vec![
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_iter, ffi::PyObject_SelfIter as *mut c_void),
        slot(ffi::Py_tp_iternext, next as *mut c_void),
        slot(ffi::Py_tp_methods, methods.leak().as_mut_ptr().cast()),
    ];
    // Only `iter` makes instances. The flag is in the limited API's headers from 3.12 on, and means the same in 3.11.
    const DISALLOW_INSTANTIATION: u32 = 1 << 7;
    let size = size_of::<IteratorObject>();
    // SAFETY: the slots match their numbers, and `iterate` makes instances of that size.
    let class =
        unsafe { make_type(py, c"strided.TensorIterator", size, DISALLOW_INSTANTIATION, None, slots)? };
    TYPE.store(class.into_ptr().cast(), Relaxed); // kept for the life of the process
    Ok(())
}
