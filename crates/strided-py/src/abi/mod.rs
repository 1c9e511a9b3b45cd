//! Where Rust meets Python's C interface: heap types, the memory of our objects, thunks, exceptions, the interpreter lock.
//!
//! The lowest layer of the binding: it converts no arguments and knows no class's methods.

pub mod bind;
pub mod detach;
pub mod errors;
pub mod heap;
pub mod late;
pub mod lists;
pub mod refs;
pub mod storage_object;
pub mod tensor_object;
pub mod thunks;

use pyo3::prelude::*;

/// A reference as the C interface passes it. Only slots, thunks and calls of the C interface use it.
pub type Object = *mut pyo3::ffi::PyObject;

/// A borrowed reference: an argument, or an item of one. Its owner keeps it alive for `'a`.
pub type Arg<'a> = Borrowed<'a, 'a, PyAny>;

/// A new reference: the result of a method.
pub type Value<'py> = Bound<'py, PyAny>;
