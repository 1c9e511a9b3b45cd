//! `iter(x)`: the rows of a tensor in order, as views.

use crate::abi::errors::{CallResult, Fail};
use crate::abi::heap::{make_type, plain_definition, slot};
use crate::abi::refs::to_py;
use crate::abi::tensor_object::tensor_type;
use crate::abi::{Object, Value};
use crate::convert::args::TensorArg;
use crate::convert::results::view;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::*};

/// An instance in memory. It holds the tensor's object and looks at it again for every row: as with lists, a resize during
/// the iteration changes what is visited.
#[repr(C)]
struct IteratorObject {
    head: ffi::PyObject,
    tensor: Py<PyAny>,
    next: isize,
}

static TYPE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(null_mut());

/// A new iterator over the first dim of a tensor.
pub fn iterate<'py>(py: Python<'py>, x: TensorArg<'py>) -> CallResult<Value<'py>> {
    if x.layout().rank() == 0 {
        return Err(Fail::Type("a tensor of rank 0 cannot be iterated".into()));
    }
    let object: Bound<'py, PyAny> = x.object().to_owned();
    if object.get_type_ptr() != tensor_type() {
        // An instance of a subclass may refer to its iterator: Python's own one is tracked by the garbage collector.
        // SAFETY: a tensor is a sequence; the result is a new reference, or null with an exception set.
        return Ok(unsafe { Bound::from_owned_ptr_or_err(py, ffi::PySeqIter_New(object.as_ptr())) }?);
    }
    // SAFETY: `register` made the type, which is not tracked by the garbage collector; every field after the head is
    // written before anyone else sees the object, which is returned as a new reference.
    unsafe {
        let this = ffi::PyObject_New::<IteratorObject>(TYPE.load(Relaxed));
        if this.is_null() {
            return Err(Fail::raised(py));
        }
        (&raw mut (*this).tensor).write(object.unbind());
        (&raw mut (*this).next).write(0);
        Ok(Bound::from_owned_ptr(py, this.cast()))
    }
}

slots! {
    /// `next(iterator)`
    fn next(py, this: Object) -> Object, "iter" => {
        // SAFETY: the interpreter calls this slot with an iterator. No other reference to the fields is used while this one is.
        let this = unsafe { &mut *this.cast::<IteratorObject>() };
        // SAFETY: `iterate` was given a tensor. Nothing runs between looking at it and making the view.
        let x = unsafe { TensorArg::of_slot(this.tensor.bind_borrowed(py)) };
        match x.layout().modes().first() {
            Some(mode) if this.next < mode.extent => {
                this.next += 1;
                Ok(view(py, &x, Ok(x.layout().first_row(this.next - 1)))?.into_ptr())
            }
            _ => Ok(null_mut()), // without an exception: the end
        }
    }

    /// `operator.length_hint(iterator)`
    fn length_hint(py, this: Object, _none: Object) -> Value, "iter" => {
        // SAFETY: the interpreter calls this method with an iterator.
        let this = unsafe { &*this.cast::<IteratorObject>() };
        // SAFETY: `iterate` was given a tensor.
        let x = unsafe { TensorArg::of_slot(this.tensor.bind_borrowed(py)) };
        to_py(py, x.layout().modes().first().map_or(0, |mode| (mode.extent - this.next).max(0)))
    }
}

/// `tp_dealloc`
///
/// # Safety
/// `object` is an iterator to which nothing refers any more.
unsafe extern "C" fn dealloc(object: Object) {
    // SAFETY: the interpreter calls this once, for the last reference. An instance of a heap type holds a reference to its
    // type.
    unsafe {
        let class = ffi::Py_TYPE(object);
        (&raw mut (*object.cast::<IteratorObject>()).tensor).drop_in_place();
        ffi::PyObject_Free(object.cast());
        ffi::Py_DECREF(class.cast());
    }
}

/// Makes the type.
pub fn register(py: Python<'_>) -> PyResult<()> {
    let doc = "The number of rows that are left.";
    let methods = vec![
        plain_definition("__length_hint__", length_hint, ffi::METH_NOARGS, doc),
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
    // SAFETY: each slot has the function type of its number, and takes instances for an `IteratorObject`.
    let class =
        unsafe { make_type(py, c"strided.TensorIterator", size, DISALLOW_INSTANTIATION, None, slots)? };
    TYPE.store(class.into_ptr().cast(), Relaxed); // never freed
    Ok(())
}
