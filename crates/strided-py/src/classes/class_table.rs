//! Which typed class, such as `FloatTensor`, stands for which dtype. `typed.rs` makes the classes and enters them.

use pyo3::ffi;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use strided_core::DType;

const COUNT: usize = DType::ALL.len();
pub type Classes = [AtomicPtr<ffi::PyTypeObject>; COUNT];
pub static TENSORS: Classes = [const { AtomicPtr::new(null_mut()) }; COUNT];
pub static STORAGES: Classes = [const { AtomicPtr::new(null_mut()) }; COUNT];

pub fn find(classes: &Classes, class: *mut ffi::PyTypeObject) -> Option<DType> {
    DType::ALL.iter().copied().find(|&dtype| classes[dtype as usize].load(Relaxed) == class)
}

/// The dtype of a typed class.
pub fn dtype_of_class(class: *mut ffi::PyTypeObject) -> Option<DType> {
    find(&TENSORS, class).or_else(|| find(&STORAGES, class))
}

/// The dtype of a typed class or of a subclass of one.
pub fn dtype_of_subclass(class: *mut ffi::PyTypeObject) -> Option<DType> {
    dtype_of_class(class).or_else(|| {
        let inherits = |classes: &Classes, dtype: DType| {
            let base = classes[dtype as usize].load(Relaxed);
            // SAFETY: both are types.
            !base.is_null() && unsafe { ffi::PyType_IsSubtype(class, base) != 0 }
        };
        DType::ALL.iter().copied().find(|&dtype| inherits(&TENSORS, dtype) || inherits(&STORAGES, dtype))
    })
}
