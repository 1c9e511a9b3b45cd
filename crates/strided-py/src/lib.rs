//! The Python side: the only crate that may name a Python object.
//!
//! Four layers, each of which uses only itself and those below it:
//!
//! | layer | holds |
//! |---|---|
//! | `rows` | methods and functions, one row each |
//! | `classes` | Tensor, Storage, Layout, Size, dtype, with their operators and protocols |
//! | `convert` | arguments, indices, sequences, buffers, DLPack |
//! | `abi` | heap types, the memory of objects, thunks, exceptions, the interpreter's lock |
//!
//! What is higher is handed down when the module is made: the rows, for example, as tables of definitions.
//!
//! A call of `a + b` goes from a slot (`classes/operators.rs`) through the reading of its operands
//! (`classes/elementwise.rs`) to the engine's `ops::elementwise`, `kernels::map`, the nest and the kernel.
//! `rows/methods.rs` says how methods are declared.

use pyo3::prelude::*;

mod abi;
mod classes;
mod convert;
mod rows;

#[pymodule]
fn _strided(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let rows = rows::all();
    abi::errors::register(module)?;
    classes::dtype::register(module)?;
    classes::size::register(module)?;
    classes::layout::register(module, &rows)?;
    module.add_class::<abi::storage_object::PyStorage>()?;
    classes::tensor::register(module, rows::methods(&rows))?;
    rows::register_functions(module, &rows)?;
    classes::typed::register(module)?;
    abi::detach::register(module)?;
    list_names(module)
}

/// `__all__`: every public name, for `from strided._strided import *`.
fn list_names(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let names: Vec<String> = module.dict().keys().iter().map(|name| name.to_string()).collect();
    let public: Vec<String> = names.into_iter().filter(|name| !name.starts_with('_')).collect();
    module.setattr("__all__", public)
}
