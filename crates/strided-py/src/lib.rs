//! The Python side: the only crate that may name a Python object.
//!
//! Four layers, each of which uses only itself and those below it:
//!
//! | layer | holds |
//! |---|---|
//! | `api` | methods and functions, one row each |
//! | `classes` | Tensor, Storage, Layout, Size, dtype, with their operators and protocols |
//! | `convert` | arguments, indices, sequences, buffers, DLPack |
//! | `abi` | heap types, the memory of objects, thunks, exceptions, the interpreter's lock |
//!
//! What a layer needs of a higher one is passed to it when the module is made: the rows, for example, as tables of
//! definitions.
//!
//! A call of `a + b` enters by a slot (`classes/operators.rs`). `classes/elementwise.rs` converts its operands and calls the
//! engine: `ops::elementwise`, `backend::map`, `kernels::map` and the kernel. A nest is made only if the output is large, or if
//! strides or dtypes differ.
//! `api/methods.rs` says how methods are declared, `classes/slots.rs` how slots are.

use abi::storage_object::PyStorage;
use classes::borrow::BorrowHandle;
use classes::document::PyDocument;
use classes::dtype::{PyDType, PyDevice};
use classes::generator::{PyGenerator, default_object};
use classes::layout::PyLayout;
use classes::mersenne::{PyLabGenerator, PyTorchGenerator};
use classes::t7_stream::{T7Reader, T7Writer};
use pyo3::prelude::*;
use pyo3::types::PyCFunction;

mod abi;
mod api;
mod classes;
mod convert;

#[pymodule]
fn _strided(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let rows = api::Rows::all();
    abi::errors::register(module)?;
    abi::late::register(module.py())?;
    abi::lists::register(module.py())?;
    rows.add_class::<PyDType>(module)?;
    rows.add_class::<PyDevice>(module)?;
    classes::dtype::register(module)?;
    classes::size::register(module)?;
    rows.add_class::<PyLayout>(module)?;
    rows.add_class::<PyStorage>(module)?;
    classes::tensor::register(module, rows.members("Tensor"))?;
    classes::iterator::register(module.py())?;
    rows.add_class::<BorrowHandle>(module)?;
    rows.add_class::<PyGenerator>(module)?;
    module.add("default_generator", default_object(module.py())?)?;
    rows.add_class::<PyTorchGenerator>(module)?;
    rows.add_class::<PyLabGenerator>(module)?;
    rows.add_class::<PyDocument>(module)?;
    rows.add_class::<T7Reader>(module)?;
    rows.add_class::<T7Writer>(module)?;
    rows.register_functions(module)?;
    classes::typed::register(module)?;
    abi::detach::register(module)?;
    list_names(module)
}

/// Lists every public name in `__all__`, for `from strided._strided import *`. The package that imports them becomes
/// the module of the functions: it is what `help` and tracebacks name.
fn list_names(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let mut public = Vec::new();
    for (name, value) in module.dict() {
        let name = name.to_string();
        if !name.starts_with('_') {
            if value.is_instance_of::<PyCFunction>() {
                value.setattr("__module__", "strided")?;
            }
            public.push(name);
        }
    }
    module.setattr("__all__", public)
}
