//! Methods and functions: one row of the `methods!` macro each, by what they are about, and those of the op table.

#[macro_use]
mod methods;

mod calculus;
mod conversion;
mod copying;
mod covariance;
mod create;
mod elementwise;
mod geometry;
mod op_table;
mod query;
mod reduce;
mod scans;
mod system;
mod views;

use crate::abi::thunks::{Place, Row, definitions};
use pyo3::ffi;
use pyo3::prelude::*;

/// Every row of the `methods!` macro.
pub fn all() -> Vec<Row> {
    [
        views::rows(),
        query::rows(),
        copying::rows(),
        elementwise::rows(),
        reduce::rows(),
        create::rows(),
        conversion::rows(),
        system::rows(),
        scans::rows(),
        calculus::rows(),
        geometry::rows(),
        covariance::rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The methods of Tensor.
pub fn methods(rows: &[Row]) -> Vec<ffi::PyMethodDef> {
    let mut methods = definitions(rows.iter(), Place::Method);
    methods.extend(op_table::methods());
    methods
}

/// Adds the functions to the module.
pub fn register_functions(module: &Bound<'_, PyModule>, rows: &[Row]) -> PyResult<()> {
    let mut functions = definitions(rows.iter(), Place::Function);
    functions.extend(op_table::functions());
    functions.push(ffi::PyMethodDef::zeroed());
    // SAFETY: a list that is never freed and ends with a zeroed entry.
    match unsafe { ffi::PyModule_AddFunctions(module.as_ptr(), functions.leak().as_mut_ptr()) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(module.py())),
    }
}
