//! The dtype of each typed class, such as `FloatTensor`, and where its tensors are. `typed.rs` makes the classes and enters them
//! here: those of the CPU when the module is imported, those of GPUs when `strided.gpu` is.

use super::devices::Place;
use pyo3::ffi;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use strided_core::DType;

const DTYPES: usize = DType::ALL.len();

/// One class per dtype, in the order of `DType::ALL`.
pub type TypedClasses = [AtomicPtr<ffi::PyTypeObject>; DTYPES];

pub static TENSORS: TypedClasses = [const { AtomicPtr::new(null_mut()) }; DTYPES];
pub static STORAGES: TypedClasses = [const { AtomicPtr::new(null_mut()) }; DTYPES];
pub static GPU_TENSORS: TypedClasses = [const { AtomicPtr::new(null_mut()) }; DTYPES];
pub static GPU_STORAGES: TypedClasses = [const { AtomicPtr::new(null_mut()) }; DTYPES];

/// The tables of classes, and where the memory of their instances is.
const TABLES: [(&TypedClasses, Place); 4] = [
    (&TENSORS, Place::Host),
    (&STORAGES, Place::Host),
    (&GPU_TENSORS, Place::Gpu),
    (&GPU_STORAGES, Place::Gpu),
];

/// The dtype of a class, if it is one of these.
pub fn find(classes: &TypedClasses, class: *mut ffi::PyTypeObject) -> Option<DType> {
    DType::ALL.iter().copied().find(|&dtype| classes[dtype as usize].load(Relaxed) == class)
}

/// The dtype of a typed class, and where the memory of its instances is.
pub fn type_of_class(class: *mut ffi::PyTypeObject) -> Option<(DType, Place)> {
    TABLES.iter().find_map(|&(classes, place)| Some((find(classes, class)?, place)))
}

/// [`type_of_class`] of a typed class or of a subclass of one.
///
/// # Safety
/// `class` is a live type.
pub unsafe fn type_of_subclass(class: *mut ffi::PyTypeObject) -> Option<(DType, Place)> {
    type_of_class(class).or_else(|| {
        let inherits = |classes: &TypedClasses, dtype: DType| {
            let base = classes[dtype as usize].load(Relaxed);
            // SAFETY: the contract above, and `typed::register` entered classes that it keeps alive.
            !base.is_null() && unsafe { ffi::PyType_IsSubtype(class, base) != 0 }
        };
        TABLES.iter().find_map(|&(classes, place)| {
            let dtype = DType::ALL.iter().copied().find(|&dtype| inherits(classes, dtype));
            Some((dtype?, place))
        })
    })
}
