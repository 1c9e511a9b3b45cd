//! The Python side: the only crate that may name a Python object.
//!
//! A call of `a + b` goes from a slot (`ops.rs`) through the reading of its operands to the engine's
//! `ops::elementwise`, `kernels::map`, the nest and the kernel. `methods.rs` says how methods are declared.

use pyo3::prelude::*;

mod args;
mod arrays;
mod buffer;
mod call;
mod dlpack;
mod dtype;
mod errors;
mod exchange;
mod heap;
mod identity;
mod layout;
mod mapped;
mod methods;
mod object;
mod ops;
mod results;
mod rows;
mod sequence;
mod size;
mod slots;
mod storage;
mod tensor;
mod typed;

#[pymodule]
fn _strided(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::register(module)?;
    dtype::register(module)?;
    size::register(module)?;
    layout::register(module)?;
    module.add_class::<storage::PyStorage>()?;
    tensor::register(module)?;
    typed::register(module)?;
    call::register(module)?;
    list_names(module)
}

/// `__all__`: every public name, for `from strided._strided import *`.
fn list_names(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let names: Vec<String> = module.dict().keys().iter().map(|name| name.to_string()).collect();
    let public: Vec<String> = names.into_iter().filter(|name| !name.starts_with('_')).collect();
    module.setattr("__all__", public)
}
