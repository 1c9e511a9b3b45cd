//! The dtype of each typed class, such as `FloatTensor`. `typed.rs` makes the classes and enters them here.

use pyo3::ffi;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use strided_core::DType;

const DTYPES: usize = DType::ALL.len();

/// One class per dtype, in the order of `DType::ALL`.
pub type TypedClasses = [AtomicPtr<ffi::PyTypeObject>; DTYPES];

pub static TENSORS: TypedClasses = [const { AtomicPtr::new(null_mut()) }; DTYPES];
pub static STORAGES: TypedClasses = [const { AtomicPtr::new(null_mut()) }; DTYPES];

/// The dtype of a class, if it is one of these.
pub fn find(classes: &TypedClasses, class: *mut ffi::PyTypeObject) -> Option<DType> {
    DType::ALL.iter().copied().find(|&dtype| classes[dtype as usize].load(Relaxed) == class)
}

/// The dtype of a typed class.
pub fn dtype_of_class(class: *mut ffi::PyTypeObject) -> Option<DType> {
    find(&TENSORS, class).or_else(|| find(&STORAGES, class))
}

/// The dtype of a typed class or of a subclass of one.
///
/// # Safety
/// `class` is a live type.
pub unsafe fn dtype_of_subclass(class: *mut ffi::PyTypeObject) -> Option<DType> {
    dtype_of_class(class).or_else(|| {
        let inherits = |classes: &TypedClasses, dtype: DType| {
            let base = classes[dtype as usize].load(Relaxed);
            // SAFETY: the contract above, and `typed::register` entered classes that it keeps alive.
            !base.is_null() && unsafe { ffi::PyType_IsSubtype(class, base) != 0 }
        };
        DType::ALL.iter().copied().find(|&dtype| inherits(&TENSORS, dtype) || inherits(&STORAGES, dtype))
    })
}
