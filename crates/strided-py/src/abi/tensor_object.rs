//! The Tensor object: a heap type of our own, and the only access to the tensor inside it.

use super::errors::{CallResult, Fail};
use super::{Arg, Value};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use strided_core::Tensor;
use strided_core::layout::Dims;

/// An instance in memory. Subclasses made in Python add their dict after it.
#[repr(C)]
pub struct TensorObject {
    head: ffi::PyObject,
    weakrefs: *mut ffi::PyObject,
    /// The Size that was last made of the tensor's shape, or null. Programs look the shape up again and again.
    size: *mut ffi::PyObject,
    /// Set before anyone else sees the object.
    tensor: Option<Tensor>,
}

pub const WEAKREFS_OFFSET: usize = std::mem::offset_of!(TensorObject, weakrefs);

static TYPE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(null_mut());

/// The type object; null until the module is made.
#[inline(always)]
pub fn tensor_type() -> *mut ffi::PyTypeObject {
    TYPE.load(Relaxed)
}

pub fn set_tensor_type(class: *mut ffi::PyTypeObject) {
    TYPE.store(class, Relaxed);
}

/// Whether an object is a tensor, of a subclass too.
#[inline(always)]
pub fn is_tensor(object: Arg<'_>) -> bool {
    // SAFETY: an `Arg` is a live object; `heap::make_type` keeps the tensor type alive for ever.
    unsafe {
        let class = ffi::Py_TYPE(object.as_ptr());
        class == tensor_type() || ffi::PyType_IsSubtype(class, tensor_type()) != 0
    }
}

/// The tensor inside an object, for as long as the object is borrowed.
///
/// # Safety
/// `object` is a tensor ([`is_tensor`]). The reference is not used after anything that may run Python code or let
/// another thread run: in-place layout methods [`replace`] the tensor. Clone it to keep it longer.
#[inline(always)]
pub unsafe fn tensor_of<'a>(object: Arg<'a>) -> &'a Tensor {
    // SAFETY: the contract above: a tensor object, whose tensor was set when it was made.
    unsafe { (*object.as_ptr().cast::<TensorObject>()).tensor.as_ref().unwrap_unchecked() }
}

/// A handle of our own on the tensor inside an object, if it is one.
#[inline]
pub fn cloned_tensor(object: Arg<'_>) -> Option<Tensor> {
    // SAFETY: checked to be a tensor, and cloned at once.
    is_tensor(object).then(|| unsafe { tensor_of(object) }.clone())
}

/// The Size of a tensor's shape: the one that was made before, or a new one from `make`.
///
/// # Safety
/// `object` is a tensor, and `make` returns an immutable object.
#[inline(always)]
pub unsafe fn cached_size<'a>(
    object: Arg<'a>,
    make: impl FnOnce(Dims) -> CallResult<Value<'a>>,
) -> CallResult<Value<'a>> {
    let this = object.as_ptr().cast::<TensorObject>();
    // SAFETY: the contract above: `this` points to a finished object, whose `size` is null or a reference that it owns.
    unsafe {
        if !(*this).size.is_null() {
            return Ok(Bound::from_borrowed_ptr(object.py(), (*this).size));
        }
        let shape = tensor_of(object).layout().shape();
        let size = make(shape.clone())?;
        // Making an object may run Python code, which may have replaced the tensor or cached a Size.
        if (*this).size.is_null() && tensor_of(object).layout().shape() == shape {
            (*this).size = size.clone().into_ptr();
        }
        Ok(size)
    }
}

/// Replaces the tensor inside an object.
///
/// # Safety
/// `object` is a tensor, and no reference from [`tensor_of`] is used afterwards.
pub unsafe fn replace(object: Arg<'_>, tensor: Tensor) {
    // SAFETY: the contract above; the object owns the cached Size. The old tensor is dropped last: its owner may run Python
    // code.
    let old = unsafe {
        let this = object.as_ptr().cast::<TensorObject>();
        ffi::Py_XDECREF(std::mem::replace(&mut (*this).size, null_mut()));
        (*this).tensor.replace(tensor)
    };
    drop(old);
}

/// A new object around a tensor. Its memory comes from Python's small-object allocator, which is as fast as a free list
/// of instances (tried: 2 ns more, for the two locked exchanges that such a list needs).
#[inline(never)] // hundreds of thunks share it
pub fn wrap(py: Python<'_>, tensor: Tensor) -> CallResult<Value<'_>> {
    wrap_with(py, |inside| {
        *inside = Some(tensor);
        Ok(())
    })
}

/// A new object whose tensor is constructed in place: a tensor is some hundred bytes, and moving it costs as much as a
/// small operation.
#[inline(always)]
pub fn wrap_with<'py>(
    py: Python<'py>,
    construct: impl FnOnce(&mut Option<Tensor>) -> CallResult<()>,
) -> CallResult<Value<'py>> {
    // SAFETY: the type is ours and not tracked by the garbage collector; every field after the head is written before
    // anyone else sees the object, which is returned as a new reference.
    unsafe {
        let this = ffi::PyObject_New::<TensorObject>(tensor_type());
        if this.is_null() {
            return Err(Fail::raised(py));
        }
        (&raw mut (*this).weakrefs).write(null_mut());
        (&raw mut (*this).size).write(null_mut());
        (&raw mut (*this).tensor).write(None);
        let unfinished = Unfinished(this);
        construct(&mut (*this).tensor)?;
        std::mem::forget(unfinished);
        Ok(Bound::from_owned_ptr(py, this.cast()))
    }
}

/// An object that nobody else has seen yet. If its construction fails or panics, it is freed: its tensor, if there is one,
/// its memory, and its reference to the type.
struct Unfinished(*mut TensorObject);

impl Drop for Unfinished {
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        // SAFETY: `wrap_with` made the object, wrote its fields and has handed it to nobody; `PyObject_New` counted it in
        // its type.
        unsafe {
            (&raw mut (*self.0).tensor).drop_in_place();
            ffi::PyObject_Free(self.0.cast());
            ffi::Py_DECREF(tensor_type().cast());
        }
    }
}

/// A new object of a subclass.
///
/// # Safety
/// `class` is the tensor type or a subtype of it.
pub unsafe fn wrap_as<'py>(
    py: Python<'py>,
    class: *mut ffi::PyTypeObject,
    tensor: Tensor,
) -> CallResult<Value<'py>> {
    // SAFETY: the contract above: the zeroed instance begins with a `TensorObject`.
    unsafe {
        let object = Bound::from_owned_ptr_or_err(py, ffi::PyType_GenericAlloc(class, 0))?;
        (&raw mut (*object.as_ptr().cast::<TensorObject>()).tensor).write(Some(tensor));
        Ok(object)
    }
}

/// `tp_dealloc`
///
/// # Safety
/// `object` is a tensor object to which nothing refers any more.
pub unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: the interpreter calls this once, for the last reference. An instance of a heap type holds a reference to its
    // type, which is dropped last.
    unsafe {
        let class = ffi::Py_TYPE(object);
        let this = object.cast::<TensorObject>();
        if !(*this).weakrefs.is_null() {
            ffi::PyObject_ClearWeakRefs(object);
        }
        ffi::Py_XDECREF((*this).size);
        (&raw mut (*this).tensor).drop_in_place();
        if class == tensor_type() {
            ffi::PyObject_Free(object.cast());
        } else {
            let free = ffi::PyType_GetSlot(class, ffi::Py_tp_free);
            let free = std::mem::transmute::<*mut c_void, ffi::freefunc>(free);
            free(object.cast());
        }
        ffi::Py_DECREF(class.cast());
    }
}
