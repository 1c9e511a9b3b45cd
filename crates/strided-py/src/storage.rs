//! The Storage class: a flat run of numbers of one dtype.

use crate::args::Object;
use crate::errors::Result;
use pyo3::prelude::*;
use pyo3::types::PyWeakrefMethods;
use std::collections::HashMap;
use std::sync::Mutex;
use strided_core::{DType, Storage};

/// A flat run of numbers of one dtype, which tensors look at.
#[pyclass(name = "Storage", module = "strided", frozen, subclass, weakref)]
pub struct PyStorage {
    pub bytes: Storage,
    pub dtype: DType,
}

/// The Python object of a storage.
pub fn storage_object(py: Python<'_>, bytes: &Storage, dtype: DType) -> Result<Object> {
    Ok(Py::new(py, PyStorage { bytes: bytes.clone(), dtype })?.into_ptr())
}
