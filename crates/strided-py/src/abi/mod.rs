//! Where Rust meets Python's C interface: heap types, the memory of our objects, calls and their thunks, exceptions.
//!
//! The lowest layer of the binding. It knows no conversion of arguments, no class's methods and no row.

pub mod bind;
pub mod detach;
pub mod errors;
pub mod heap;
pub mod refs;
pub mod storage_object;
pub mod tensor_object;
pub mod thunks;

/// A reference to a Python object as the C interface passes it; whether it is borrowed or owned, each use says.
pub type Object = *mut pyo3::ffi::PyObject;
