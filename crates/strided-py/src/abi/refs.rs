//! New references, and calls of functions that are written in Python.

use super::errors::{CallResult, Fail};
use super::{Arg, Object, Value, late};
use pyo3::IntoPyObjectExt;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ptr::null_mut;

/// A new reference to an object: what in-place methods return.
#[inline(always)]
pub fn new_ref(object: Arg<'_>) -> Value<'_> {
    object.to_owned()
}

/// A Rust value as a Python object.
pub fn to_py<'py, T: IntoPyObject<'py>>(py: Python<'py>, value: T) -> CallResult<Value<'py>> {
    Ok(value.into_bound_py_any(py)?)
}

/// A tuple of new objects. Each is put into it when it is made. No vector holds them before, and a tuple for which there is no
/// memory is a MemoryError, where PyO3 panics.
pub fn new_tuple<'py>(
    py: Python<'py>,
    items: impl ExactSizeIterator<Item = CallResult<Value<'py>>>,
) -> CallResult<Value<'py>> {
    let length = items.len() as ffi::Py_ssize_t;
    // SAFETY: the result is a new reference, or null with an exception set.
    let tuple = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyTuple_New(length))? };
    for (at, item) in items.enumerate() {
        // SAFETY: a new tuple with a place for each item. The call takes the reference over, also if it fails.
        if unsafe { ffi::PyTuple_SetItem(tuple.as_ptr(), at as ffi::Py_ssize_t, item?.into_ptr()) } < 0 {
            return Err(Fail::raised(py));
        }
    }
    Ok(tuple)
}

/// Calls a function of one of our Python modules: for what is rare, or formatted for people.
pub fn call_python<'py>(
    py: Python<'py>,
    module: &'static str,
    function: &'static str,
    args: impl pyo3::call::PyCallArgs<'py>,
) -> CallResult<Value<'py>> {
    Ok(late::first_call(module, function, || py.import(module)?.getattr(function)?.call1(args))?)
}

#[cfg(not(windows))]
unsafe extern "C" {
    /// CPython exports this function from 3.9 on. It is in the limited API from 3.12 on, where it means the same.
    fn PyObject_Vectorcall(callable: Object, args: *const Object, count: usize, kwnames: Object) -> Object;
}

/// Calls a function with one to three arguments, followed by `None`. No tuple is made of them.
#[inline]
pub fn call_with<'py>(callable: Arg<'py>, arguments: &[Option<Value<'py>>; 3]) -> CallResult<Value<'py>> {
    let py = callable.py();
    let mut stack = [null_mut(); 5];
    let mut count = 0;
    for argument in arguments.iter().map_while(Option::as_ref) {
        count += 1;
        stack[count] = argument.as_ptr();
    }
    #[cfg(not(windows))]
    // SAFETY: live objects. The flag in the count lets the function use the entry before the first argument.
    let result = unsafe {
        const MAY_USE_ENTRY_BEFORE: usize = 1 << (usize::BITS - 1);
        let arguments = stack.as_mut_ptr().add(1);
        PyObject_Vectorcall(callable.as_ptr(), arguments, count | MAY_USE_ENTRY_BEFORE, null_mut())
    };
    #[cfg(windows)]
    // SAFETY: live objects; a null ends the list of arguments. The library of the limited API has no faster function.
    let result = unsafe {
        let [_, first, second, third, end] = stack;
        ffi::PyObject_CallFunctionObjArgs(callable.as_ptr(), first, second, third, end)
    };
    // SAFETY: the result is a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_opt(py, result) }.ok_or_else(|| Fail::raised(py))
}

/// An argument that the interpreter passes to a slot.
///
/// # Safety
/// `object` is a live object, and the caller of the slot keeps it alive for `'a`.
#[inline(always)]
pub unsafe fn arg<'a>(py: Python<'a>, object: Object) -> Arg<'a> {
    // SAFETY: the contract above.
    unsafe { Borrowed::from_ptr(py, object) }
}

/// Whether an object is `None`.
#[inline(always)]
pub fn is_none(object: Arg<'_>) -> bool {
    // SAFETY: `None` is alive as long as the interpreter; only its address is used.
    object.as_ptr() == unsafe { ffi::Py_None() }
}
