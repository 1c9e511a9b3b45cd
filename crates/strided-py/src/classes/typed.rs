//! `FloatTensor` and the like: classes that construct tensors of one dtype and recognise them.
//!
//! There is one `Tensor` class with a dtype. A typed class is a subclass of it in name: its metaclass
//! answers `isinstance` by dtype, and calling it makes a plain `Tensor`. Storages likewise.

use super::class_table::{STORAGES, TENSORS, find};
use super::tensor::construct;
use crate::abi::Object;
use crate::abi::errors::{Fail, guard};
use crate::abi::heap::{SUBCLASSED, make_type, slot};
use crate::abi::refs::give;
use crate::abi::storage_object::{self, PyStorage};
use crate::abi::tensor_object::{is_tensor, tensor_of, tensor_type};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use smallvec::SmallVec;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::Relaxed;
use strided_core::DType;

/// `isinstance(x, FloatTensor)`
unsafe extern "C" fn instancecheck(class: Object, object: Object) -> Object {
    guard("isinstance", null_mut(), |py| {
        let pointer = class.cast::<ffi::PyTypeObject>();
        let answer = if let Some(dtype) = find(&TENSORS, pointer) {
            // SAFETY: the check precedes the access.
            is_tensor(object) && unsafe { tensor_of(object) }.dtype() == dtype
        } else if let Some(dtype) = find(&STORAGES, pointer) {
            storage_object::read(py, object).is_some_and(|run| run.dtype == dtype)
        } else {
            // SAFETY: both are types.
            unsafe { ffi::PyType_IsSubtype(ffi::Py_TYPE(object), pointer) != 0 }
        };
        give(py, answer)
    })
}

/// `FloatTensor(...)`: constructs the tensor without the detour through `tp_new` and `tp_init`, which takes longer than
/// filling a small tensor. Keywords, subclasses and storages take the detour.
unsafe extern "C" fn call(class: Object, args: Object, kwargs: Object) -> Object {
    guard("Tensor", null_mut(), |py| {
        if let Some(dtype) = find(&TENSORS, class.cast())
            && kwargs.is_null()
        {
            // SAFETY: the interpreter passes a tuple, whose items it keeps alive during the call.
            let item = |i| unsafe { ffi::PyTuple_GetItem(args, i) };
            // SAFETY: as above.
            let count = unsafe { ffi::PyTuple_Size(args) };
            let objects: SmallVec<[Object; 4]> = (0..count).map(item).collect();
            return construct(py, dtype, &objects);
        }
        // SAFETY: `type` calls classes with this slot; it was passed a class, a tuple, and a dict or null.
        let object = unsafe {
            let slot = ffi::PyType_GetSlot(&raw mut ffi::PyType_Type, ffi::Py_tp_call);
            std::mem::transmute::<*mut c_void, ffi::ternaryfunc>(slot)(class, args, kwargs)
        };
        if object.is_null() { Err(Fail::set(py)) } else { Ok(object) }
    })
}

/// Makes the metaclass and the typed classes.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let methods = vec![
        ffi::PyMethodDef {
            ml_name: c"__instancecheck__".as_ptr(),
            ml_meth: ffi::PyMethodDefPointer { PyCFunction: instancecheck },
            ml_flags: ffi::METH_O,
            ml_doc: c"Whether an object has the dtype of this class.".as_ptr(),
        },
        ffi::PyMethodDef::zeroed(),
    ];
    let slots = vec![
        slot(ffi::Py_tp_call, call as *mut c_void),
        slot(ffi::Py_tp_methods, methods.leak().as_mut_ptr().cast()),
    ];
    let base = Some(&raw mut ffi::PyType_Type);
    // SAFETY: the slot matches its number; instances are types.
    let meta = unsafe { make_type(py, c"strided.TypedMeta", 0, SUBCLASSED, base, slots)? };
    // SAFETY: the tensor type was made before.
    let tensor = unsafe { Bound::from_borrowed_ptr(py, tensor_type().cast()) };
    let storage = py.get_type::<PyStorage>().into_any();
    for &dtype in DType::ALL {
        for (classes, base, word) in [(&TENSORS, &tensor, "Tensor"), (&STORAGES, &storage, "Storage")] {
            let name = format!("{}{word}", dtype.torch_name());
            let doc = format!(
                "A {word} of {dtype}: constructs one, and `isinstance` knows it.\n\n\
                 >>> x = strided.{name}([0, 1])\n\
                 >>> x.dtype, isinstance(x, strided.{name}), isinstance(x, strided.{word})\n\
                 (strided.{dtype}, True, True)",
                dtype = dtype.name()
            );
            let space = PyDict::new(py);
            space.set_item("__module__", "strided")?;
            space.set_item("__slots__", PyTuple::empty(py))?;
            space.set_item("__doc__", doc)?;
            let class = meta.call1((PyString::new(py, &name), PyTuple::new(py, [base])?, space))?;
            module.add(name.as_str(), &class)?;
            classes[dtype as usize].store(class.into_ptr().cast(), Relaxed); // kept for the life of the module
        }
    }
    Ok(())
}
