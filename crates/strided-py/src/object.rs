//! The Tensor object: a heap type of our own, and the only way to the tensor inside it.

use crate::errors::{Fail, Result};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use strided_core::Tensor;

/// What an instance looks like in memory. Subclasses made in Python add their dict behind it.
#[repr(C)]
pub struct TensorObject {
    head: ffi::PyObject,
    weakrefs: *mut ffi::PyObject,
    tensor: Tensor,
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
    // SAFETY: the caller's promise.
    unsafe { &(*object.cast::<TensorObject>()).tensor }
}

/// Replaces the tensor inside an object.
///
/// # Safety
/// `object` is a tensor, and no reference from [`tensor_of`] is alive.
pub unsafe fn replace(object: *mut ffi::PyObject, tensor: Tensor) {
    // SAFETY: the caller's promise. The old tensor is dropped last: its owner may run Python code.
    let old = unsafe { std::mem::replace(&mut (*object.cast::<TensorObject>()).tensor, tensor) };
    drop(old);
}

/// A new object around a tensor.
#[inline]
pub fn wrap(py: Python<'_>, tensor: Tensor) -> Result<*mut ffi::PyObject> {
    if let Some(memory) = spare() {
        // SAFETY: memory of one former instance of exactly this type; `PyObject_Init` makes it an object
        // with one reference again and counts it in its type, as `tp_alloc` would.
        unsafe {
            ffi::PyObject_Init(memory.cast(), tensor_type());
            (&raw mut (*memory).weakrefs).write(null_mut());
            (&raw mut (*memory).tensor).write(tensor);
        }
        return Ok(memory.cast());
    }
    // SAFETY: the type is ours.
    unsafe { wrap_as(py, tensor_type(), tensor) }
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
        (&raw mut (*object.cast::<TensorObject>()).tensor).write(tensor);
        Ok(object)
    }
}

/// Former instances whose memory is used again. Taken whole by a swap, so that nobody waits (as in the
/// engine's free lists); a list that is being used looks empty.
struct Spares {
    count: usize,
    memory: [*mut TensorObject; SPARES],
}
const SPARES: usize = 128;
static SPARE: AtomicPtr<Spares> = AtomicPtr::new(null_mut());

/// Makes the list of spare instances.
pub fn prepare() {
    let spares = Box::new(Spares { count: 0, memory: [null_mut(); SPARES] });
    SPARE.store(Box::into_raw(spares), Release);
}

#[inline(always)]
fn spare() -> Option<*mut TensorObject> {
    let spares = SPARE.swap(null_mut(), Acquire);
    if spares.is_null() {
        return None;
    }
    // SAFETY: between the swap and the store the list is ours alone.
    let found = unsafe {
        if (*spares).count > 0 {
            (*spares).count -= 1;
            Some((&raw const (*spares).memory).cast::<*mut TensorObject>().add((*spares).count).read())
        } else {
            None
        }
    };
    SPARE.store(spares, Release);
    found
}

/// Keeps the memory of an instance; false if there is enough of it.
#[inline(always)]
fn keep(memory: *mut TensorObject) -> bool {
    let spares = SPARE.swap(null_mut(), Acquire);
    if spares.is_null() {
        return false;
    }
    // SAFETY: as in `spare`.
    let kept = unsafe {
        let room = (*spares).count < SPARES;
        if room {
            (&raw mut (*spares).memory).cast::<*mut TensorObject>().add((*spares).count).write(memory);
            (*spares).count += 1;
        }
        room
    };
    SPARE.store(spares, Release);
    kept
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
        (&raw mut (*this).tensor).drop_in_place();
        if !(class == tensor_type() && keep(this)) {
            let free: ffi::freefunc = std::mem::transmute::<*mut c_void, ffi::freefunc>(ffi::PyType_GetSlot(
                class,
                ffi::Py_tp_free,
            ));
            free(object.cast());
        }
        ffi::Py_DECREF(class.cast());
    }
}
