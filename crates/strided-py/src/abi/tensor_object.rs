//! The Tensor object: a heap type of our own, and the only way to the tensor inside it.

use super::errors::{Fail, Result};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use strided_core::Tensor;
use strided_core::layout::Dims;

/// What an instance looks like in memory. Subclasses made in Python add their dict behind it.
#[repr(C)]
pub struct TensorObject {
    head: ffi::PyObject,
    weakrefs: *mut ffi::PyObject,
    /// The Size that was last made of the tensor's shape, or null: programs ask for the shape again and again.
    size: *mut ffi::PyObject,
    /// There, as soon as anyone can see the object.
    tensor: Option<Tensor>,
}

pub const WEAKREFS: usize = std::mem::offset_of!(TensorObject, weakrefs);

static TYPE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(null_mut());

/// The type object, once the module is made.
#[inline(always)]
pub fn tensor_type() -> *mut ffi::PyTypeObject {
    TYPE.load(Relaxed)
}

pub fn set_tensor_type(made: *mut ffi::PyTypeObject) {
    TYPE.store(made, Relaxed);
}

/// Whether an object is a tensor (also of a subclass).
#[inline(always)]
pub fn is_tensor(object: *mut ffi::PyObject) -> bool {
    // SAFETY: callers pass a living object; the type lives as long as the module.
    unsafe {
        let class = ffi::Py_TYPE(object);
        class == tensor_type() || ffi::PyType_IsSubtype(class, tensor_type()) != 0
    }
}

/// The tensor inside an object: the only access to its fields.
///
/// # Safety
/// `object` is a tensor ([`is_tensor`]). The reference must not live across anything that may run Python
/// code or let another thread run: in-place layout methods change what it points to.
#[inline(always)]
pub unsafe fn tensor_of<'a>(object: *mut ffi::PyObject) -> &'a Tensor {
    // SAFETY: the caller's promise; every finished object has a tensor.
    unsafe { (*object.cast::<TensorObject>()).tensor.as_ref().unwrap_unchecked() }
}

/// The Size of a tensor's shape: the one that was made before, or a new one from `make`.
///
/// # Safety
/// `object` is a tensor, and `make` returns a new reference to an immutable object.
#[inline(always)]
pub unsafe fn cached_size(
    object: *mut ffi::PyObject,
    make: impl FnOnce(Dims) -> Result<*mut ffi::PyObject>,
) -> Result<*mut ffi::PyObject> {
    let this = object.cast::<TensorObject>();
    // SAFETY: the contract of this function: `this` points to a finished object, and `size` is null or a living object.
    unsafe {
        if !(*this).size.is_null() {
            return Ok(ffi::Py_NewRef((*this).size));
        }
        let shape = tensor_of(object).layout().shape();
        let size = make(shape.clone())?;
        // Making an object may run other code, which may have changed the tensor or cached a Size.
        if (*this).size.is_null() && tensor_of(object).layout().shape() == shape {
            (*this).size = ffi::Py_NewRef(size);
        }
        Ok(size)
    }
}

/// Replaces the tensor inside an object.
///
/// # Safety
/// `object` is a tensor, and no reference from [`tensor_of`] is alive.
pub unsafe fn replace(object: *mut ffi::PyObject, tensor: Tensor) {
    // SAFETY: the caller's promise. The old tensor is dropped last: its owner may run Python code.
    let old = unsafe {
        let this = object.cast::<TensorObject>();
        ffi::Py_XDECREF(std::mem::replace(&mut (*this).size, null_mut()));
        (*this).tensor.replace(tensor)
    };
    drop(old);
}

/// A new object around a tensor. Memory comes from Python's own small-object allocator, which is as fast as
/// a list of spare instances (tried: 2 ns more, for the two locked exchanges that such a list needs).
#[inline(always)]
pub fn wrap(py: Python<'_>, tensor: Tensor) -> Result<*mut ffi::PyObject> {
    wrap_with(py, |slot| {
        *slot = Some(tensor);
        Ok(())
    })
}

/// A new object whose tensor is made in its place: a tensor is some hundred bytes, and moving it around
/// while it is still being written costs as much as a small operation.
#[inline(always)]
pub fn wrap_with(
    py: Python<'_>,
    make: impl FnOnce(&mut Option<Tensor>) -> Result<()>,
) -> Result<*mut ffi::PyObject> {
    // SAFETY: the type is ours and not tracked by the collector; every field behind the head is written
    // before anyone sees the object.
    unsafe {
        let this = ffi::PyObject_New::<TensorObject>(tensor_type());
        if this.is_null() {
            return Err(Fail::set(py));
        }
        (&raw mut (*this).weakrefs).write(null_mut());
        (&raw mut (*this).size).write(null_mut());
        (&raw mut (*this).tensor).write(None);
        let unfinished = Unfinished(this);
        make(&mut (*this).tensor)?;
        std::mem::forget(unfinished);
        Ok(this.cast())
    }
}

/// An object that nobody has seen yet. If making it fails, or panics, it is freed as what it is: perhaps a
/// tensor, memory, and a reference to its type.
struct Unfinished(*mut TensorObject);

impl Drop for Unfinished {
    fn drop(&mut self) {
        // SAFETY: ours alone; its tensor is there or not, and the type counted it when it was made.
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
pub unsafe fn wrap_as(
    py: Python<'_>,
    class: *mut ffi::PyTypeObject,
    tensor: Tensor,
) -> Result<*mut ffi::PyObject> {
    // SAFETY: the caller's promise; what is allocated is large enough and zeroed.
    unsafe {
        let object = ffi::PyType_GenericAlloc(class, 0);
        if object.is_null() {
            return Err(Fail::set(py));
        }
        (&raw mut (*object.cast::<TensorObject>()).tensor).write(Some(tensor));
        Ok(object)
    }
}

/// `tp_dealloc`
pub unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: called by the interpreter with the last reference to an instance. A heap type's instance
    // counts in its type, which is let go last.
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
