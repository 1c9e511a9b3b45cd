//! Where a list keeps its items. The limited API only has a call for each item, which takes a quarter of the time of
//! `tolist`.

use super::{Object, Value};
use pyo3::ffi;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering::*};

/// The beginning of a list in memory. It is not in the limited API, but it is the same in every version that
/// [`register`] accepts: a minor version of CPython does not change it.
#[repr(C)]
struct ListObject {
    head: ffi::PyVarObject,
    items: *mut Object,
    allocated: isize,
}

/// Whether lists are `ListObject`s in this interpreter.
static IS_KNOWN: AtomicBool = AtomicBool::new(false);

/// Finds out whether this interpreter's lists are known. Builds of CPython with larger objects, such as those that trace
/// references, have larger lists.
pub fn register(py: Python<'_>) -> PyResult<()> {
    let version = py.version_info();
    let size: usize = py.get_type::<pyo3::types::PyList>().getattr("__basicsize__")?.extract()?;
    let is_cpython = py.import("sys")?.getattr("implementation")?.getattr("name")?.eq("cpython")?;
    let is_known = version.major == 3 && (11..=14).contains(&version.minor);
    IS_KNOWN.store(is_known && is_cpython && size == size_of::<ListObject>(), Relaxed);
    Ok(())
}

/// The address of a list's items, if the interpreter's lists are known. It is valid until the list changes its length.
///
/// # Safety
/// `list` is a list.
#[inline(always)]
pub unsafe fn items(list: &Value<'_>) -> Option<*mut Object> {
    // SAFETY: the contract above, and `register` found that lists have these fields.
    IS_KNOWN.load(Relaxed).then(|| unsafe { (*list.as_ptr().cast::<ListObject>()).items })
}
