//! The Layout class: shape, strides and offset as a value.

use pyo3::prelude::*;
use strided_core::Layout;

/// Where the elements of a tensor lie in its storage: shape, strides and offset, without any data.
#[pyclass(name = "Layout", module = "strided", frozen)]
pub struct PyLayout(pub Layout);
