//! `FloatTensor` and the other typed classes, which construct tensors of one dtype and recognise them.
//!
//! There is one `Tensor` class with a dtype. A typed class is a nominal subclass: its metaclass answers `isinstance` by
//! dtype and device, and calling it makes a plain `Tensor`. Storages likewise.

use super::class_table::{GPU_STORAGES, GPU_TENSORS, STORAGES, TENSORS, TypedClasses, find, type_of_class};
use super::devices::Place;
use super::tensor::construct;
use crate::abi::Arg;
use crate::abi::heap::{SUBCLASSABLE, make_type, plain_definition, slot};
use crate::abi::late::Late;
use crate::abi::refs::{arg, to_py};
use crate::abi::storage_object::{PyStorage, TypedStorage, read_storage};
use crate::abi::tensor_object::tensor_type;
use crate::convert::args::{FromArg, TensorArg};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use smallvec::SmallVec;
use std::ffi::c_void;
use std::sync::atomic::Ordering::Relaxed;
use strided_core::DType;

slots! {
    /// `isinstance(x, FloatTensor)`
    fn instancecheck(py, class: Object, object: Arg) -> Value, "isinstance" => {
        let class = class.cast::<ffi::PyTypeObject>();
        let answer = if let Some((dtype, place)) = type_of_class(class) {
            if let Some(x) = TensorArg::read(object)? {
                x.dtype() == dtype && place.has(x.device()) && !is_storage_class(class)
            } else {
                let fits = |s: TypedStorage| s.dtype == dtype && place.has(s.bytes.device());
                read_storage(object).is_some_and(fits) && is_storage_class(class)
            }
        } else {
            // SAFETY: the interpreter passed a class, and keeps it alive during the call.
            unsafe { ffi::PyType_IsSubtype(ffi::Py_TYPE(object.as_ptr()), class) != 0 }
        };
        to_py(py, answer)
    }

    /// `FloatTensor(...)`: constructs the tensor without `tp_new` and `tp_init` of the class, which take longer than filling a
    /// small tensor. Keywords, subclasses and storages take that path.
    fn call(py, class: Arg, args: Object, kwargs: Object) -> Value, "" => {
        let pointer = class.as_ptr().cast();
        let plain = || find(&TENSORS, pointer).map(|dtype| (dtype, Place::Host));
        let on_gpu = || find(&GPU_TENSORS, pointer).map(|dtype| (dtype, Place::Gpu));
        if kwargs.is_null()
            && let Some((dtype, place)) = plain().or_else(on_gpu)
        {
            // SAFETY: the interpreter passed a tuple, which keeps its items alive during the call.
            let args: SmallVec<[Arg<'_>; 4]> = unsafe {
                (0..ffi::PyTuple_Size(args)).map(|i| arg(py, ffi::PyTuple_GetItem(args, i))).collect()
            };
            return construct(py, dtype, place, &args).map_err(|fail| fail.of_class(class));
        }
        // SAFETY: `type` calls classes with this slot, whose arguments are those of this one. It returns a new reference, or
        // null with an exception set.
        unsafe {
            let slot = ffi::PyType_GetSlot(&raw mut ffi::PyType_Type, ffi::Py_tp_call);
            let object = std::mem::transmute::<*mut c_void, ffi::ternaryfunc>(slot)(class.as_ptr(), args, kwargs);
            Ok(Bound::from_owned_ptr_or_err(py, object)?)
        }
    }
}

/// Makes the metaclass and the typed classes.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let doc = "Whether an object has the dtype of this class.";
    let methods = vec![
        plain_definition("__instancecheck__", instancecheck, ffi::METH_O, doc),
        ffi::PyMethodDef::zeroed(),
    ];
    let slots = vec![
        slot(ffi::Py_tp_call, call as *mut c_void),
        slot(ffi::Py_tp_methods, methods.leak().as_mut_ptr().cast()),
    ];
    let base = Some(&raw mut ffi::PyType_Type);
    // SAFETY: each slot has the type of its number; instances are as large as types.
    let meta = unsafe { make_type(py, c"strided.TypedMeta", 0, SUBCLASSABLE, base, slots)? };
    for (name, class) in make_classes(&meta, "strided", &TENSORS, &STORAGES)? {
        module.add(name.as_str(), class)?;
    }
    Ok(())
}

/// The names and the classes of `strided.gpu`, which are made when they are first asked for.
pub fn gpu_classes(py: Python<'_>) -> PyResult<Vec<(String, Py<PyAny>)>> {
    static CLASSES: Late<Vec<(String, Py<PyAny>)>> = Late::new();
    let made = CLASSES.get_or_make(py, || {
        // SAFETY: `register` made the class, which is never freed.
        let typed = unsafe { Bound::from_borrowed_ptr(py, TENSORS[0].load(Relaxed).cast()) };
        let classes = make_classes(&typed.get_type().into_any(), "strided.gpu", &GPU_TENSORS, &GPU_STORAGES)?;
        Ok(classes.into_iter().map(|(name, class)| (name, class.unbind())).collect())
    })?;
    Ok(made.iter().map(|(name, class)| (name.clone(), class.clone_ref(py))).collect())
}

fn is_storage_class(class: *mut ffi::PyTypeObject) -> bool {
    find(&STORAGES, class).or_else(|| find(&GPU_STORAGES, class)).is_some()
}

/// Makes the classes of a module, and enters them in the tables.
fn make_classes<'py>(
    meta: &Bound<'py, PyAny>,
    module: &str,
    tensors: &'static TypedClasses,
    storages: &'static TypedClasses,
) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let py = meta.py();
    // SAFETY: `tensor::register` made the tensor type, which is never freed.
    let tensor = unsafe { Bound::from_borrowed_ptr(py, tensor_type().cast()) };
    let storage = py.get_type::<PyStorage>().into_any();
    let mut made = Vec::new();
    for &dtype in DType::ALL {
        for (classes, base, word) in [(tensors, &tensor, "Tensor"), (storages, &storage, "Storage")] {
            let name = format!("{}{word}", dtype.torch_name());
            let doc = if module == "strided" {
                format!(
                    "A {word} of {dtype}: constructs one, and `isinstance` recognises it.\n\n\
                     >>> x = strided.{name}([0, 1])\n\
                     >>> x.dtype, isinstance(x, strided.{name}), isinstance(x, strided.{word})\n\
                     (strided.{dtype}, True, True)",
                    dtype = dtype.name()
                )
            } else {
                format!(
                    "A {word} of {dtype} on a GPU: constructs one, and `isinstance` recognises it.\n\n\
                     >>> strided.gpu.{name}([0, 1]).type()\n\
                     'strided.gpu.{name}'",
                    dtype = dtype.name()
                )
            };
            let namespace = PyDict::new(py);
            namespace.set_item("__module__", module)?;
            namespace.set_item("__slots__", PyTuple::empty(py))?;
            namespace.set_item("__doc__", doc)?;
            let class = meta.call1((PyString::new(py, &name), PyTuple::new(py, [base])?, namespace))?;
            classes[dtype as usize].store(class.clone().into_ptr().cast(), Relaxed); // never freed
            made.push((name, class));
        }
    }
    Ok(made)
}
