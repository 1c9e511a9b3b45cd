//! Heap types made from lists of slots, and the definitions of methods and properties.

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr::{null, null_mut};

/// One slot of a type: its number, and the function or data in it.
pub fn slot(number: c_int, pointer: *mut c_void) -> ffi::PyType_Slot {
    ffi::PyType_Slot { slot: number, pfunc: pointer }
}

/// A new type with instances of `size` bytes (0: as large as those of its base). It is never freed, because instances and
/// statics refer to it.
///
/// # Safety
/// The function or data of each slot has the type that Python expects for its number, and `size` is 0 or the size of the
/// struct that the functions take an instance for.
pub unsafe fn make_type<'py>(
    py: Python<'py>,
    name: &'static CStr,
    size: usize,
    flags: u32,
    base: Option<*mut ffi::PyTypeObject>,
    mut slots: Vec<ffi::PyType_Slot>,
) -> PyResult<Bound<'py, PyAny>> {
    slots.push(slot(0, null_mut()));
    let mut spec = ffi::PyType_Spec {
        name: name.as_ptr(),
        basicsize: size as c_int,
        itemsize: 0,
        flags: ffi::Py_TPFLAGS_DEFAULT as u32 | flags,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the specification is complete and its slots end with a zero; the contract above covers their contents.
    let class = unsafe {
        let class = ffi::PyType_FromSpecWithBases(&mut spec, base.map_or(null_mut(), <*mut _>::cast));
        Bound::from_owned_ptr_or_err(py, class)?
    };
    std::mem::forget(class.clone());
    Ok(class)
}

/// The flag of types that can be subclassed.
pub const SUBCLASSABLE: u32 = ffi::Py_TPFLAGS_BASETYPE as u32;

/// The definition of a method or function. Its texts are never freed.
pub fn definition(name: &str, thunk: ffi::PyCFunctionFastWithKeywords, doc: &str) -> ffi::PyMethodDef {
    let function = ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: thunk };
    method_definition(name, function, ffi::METH_FASTCALL | ffi::METH_KEYWORDS, doc)
}

/// [`definition`] of a method with no argument (`METH_NOARGS`) or one (`METH_O`).
pub fn plain_definition(name: &str, function: ffi::PyCFunction, flags: c_int, doc: &str) -> ffi::PyMethodDef {
    method_definition(name, ffi::PyMethodDefPointer { PyCFunction: function }, flags, doc)
}

fn method_definition(
    name: &str,
    function: ffi::PyMethodDefPointer,
    flags: c_int,
    doc: &str,
) -> ffi::PyMethodDef {
    let (ml_name, ml_doc) = (leak_text(name).as_ptr(), leak_text(doc).as_ptr());
    ffi::PyMethodDef { ml_name, ml_meth: function, ml_flags: flags, ml_doc }
}

/// The slot of members of a type whose instances have, at an offset, what the interpreter finds under a special name.
pub fn offset_member(name: &'static CStr, offset: usize) -> ffi::PyType_Slot {
    let (type_code, flags) = (ffi::Py_T_PYSSIZET, ffi::Py_READONLY);
    let member =
        ffi::PyMemberDef { name: name.as_ptr(), type_code, offset: offset as isize, flags, doc: null() };
    // SAFETY: all fields may be zero, which marks the end of the list.
    let members = vec![member, unsafe { std::mem::zeroed() }];
    slot(ffi::Py_tp_members, members.leak().as_mut_ptr().cast())
}

/// A C string that is never freed.
pub fn leak_text(text: &str) -> &'static CStr {
    Box::leak(CString::new(text).expect("a name or a document has no zero byte").into_boxed_c_str())
}

/// Refuses a name that is declared twice among the methods and properties of a class, or among the functions of the
/// module. One of the two rows would hide the other.
pub fn check_names<'a>(owner: &str, names: impl Iterator<Item = &'a CStr>) -> PyResult<()> {
    let mut names: Vec<&CStr> = names.collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(declared_twice(owner, &pair[0].to_string_lossy())),
    }
}

pub fn declared_twice(owner: &str, name: &str) -> PyErr {
    PyImportError::new_err(format!("{owner}.{name} is declared twice; a name has one row"))
}

/// The names of definitions.
pub fn names<'a>(
    methods: &'a [ffi::PyMethodDef],
    properties: &'a [ffi::PyGetSetDef],
) -> impl Iterator<Item = &'a CStr> {
    let methods = methods.iter().map(|method| method.ml_name);
    // SAFETY: `definition` and `thunks::property_definitions` set each name to leaked text.
    methods.chain(properties.iter().map(|property| property.name)).map(|name| unsafe { CStr::from_ptr(name) })
}

/// The methods and properties of a class, as Python's definitions.
pub type Members = (Vec<ffi::PyMethodDef>, Vec<ffi::PyGetSetDef>);

/// Gives methods and properties to a class that PyO3 made.
pub fn add_members(class: &Bound<'_, PyType>, (methods, properties): Members) -> PyResult<()> {
    let (py, owner) = (class.py(), class.name()?.to_string());
    check_names(&owner, names(&methods, &properties))?;
    let own = class.getattr("__dict__")?;
    let add = |name: &CStr, descriptor: *mut ffi::PyObject| {
        // SAFETY: `PyDescr_New…` returns a new reference, or null with an exception set.
        let descriptor = unsafe { Bound::from_owned_ptr_or_err(py, descriptor) }?;
        let name = name.to_string_lossy();
        if own.contains(&name)? {
            return Err(declared_twice(&owner, &name));
        }
        class.setattr(name.as_ref(), descriptor)
    };
    for method in methods.leak() {
        // SAFETY: the definition and its name, leaked text, are never freed.
        unsafe { add(CStr::from_ptr(method.ml_name), ffi::PyDescr_NewMethod(class.as_type_ptr(), method))? };
    }
    for property in properties.leak() {
        // SAFETY: the definition and its name, leaked text, are never freed.
        unsafe { add(CStr::from_ptr(property.name), ffi::PyDescr_NewGetSet(class.as_type_ptr(), property))? };
    }
    Ok(())
}
