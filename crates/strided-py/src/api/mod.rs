//! Methods, functions and properties: one row of a macro each, by what they are about, and the rows of the op table.

#[macro_use]
mod methods;

mod apply;
mod calculus;
mod complex;
mod contract;
mod conversion;
mod copying;
mod covariance;
mod create;
mod dtype;
mod elementwise;
mod files;
mod geometry;
mod indexing;
mod join;
mod layout;
mod masks;
mod op_table;
mod order;
mod properties;
mod query;
mod random;
mod reduce;
mod restructure;
mod scans;
mod signatures;
mod storage;
mod system;
mod views;

use crate::abi::heap::{Members, check_names, declared_twice, names};
use crate::abi::thunks::{MethodRow, PropertyRow, RowClass, RowPlace, definitions, property_definitions};
use pyo3::ffi;
use pyo3::prelude::*;

/// The rows of all classes, and those of functions.
pub struct Rows {
    pub methods: Vec<MethodRow>,
    pub properties: Vec<PropertyRow>,
}

impl Rows {
    /// Every row of the `methods!` and `properties!` macros.
    pub fn all() -> Rows {
        let methods = [
            views::rows(),
            query::rows(),
            copying::rows(),
            apply::rows(),
            elementwise::rows(),
            complex::rows(),
            reduce::rows(),
            create::rows(),
            conversion::rows(),
            system::rows(),
            files::rows(),
            scans::rows(),
            calculus::rows(),
            geometry::rows(),
            covariance::rows(),
            contract::rows(),
            contract::functions(),
            indexing::rows(),
            masks::rows(),
            join::rows(),
            restructure::rows(),
            random::rows(),
            order::rows(),
            signatures::rows(),
            storage::rows(),
            layout::rows(),
            dtype::rows(),
        ];
        let properties = [
            properties::properties(),
            complex::properties(),
            storage::properties(),
            layout::properties(),
            dtype::properties(),
            dtype::device_properties(),
        ];
        Rows {
            methods: methods.into_iter().flatten().collect(),
            properties: properties.into_iter().flatten().collect(),
        }
    }

    /// The methods and properties of a class.
    pub fn members(&self, class: RowClass) -> Members {
        let mut methods = definitions(&self.methods, RowPlace::Method(class));
        if class == RowClass::Tensor {
            methods.extend(op_table::methods());
        }
        (methods, property_definitions(&self.properties, class))
    }

    /// Adds the functions to the module, which must not have their names yet.
    pub fn register_functions(&self, module: &Bound<'_, PyModule>) -> PyResult<()> {
        let mut functions = definitions(&self.methods, RowPlace::Function);
        functions.extend(op_table::functions());
        check_names("strided", names(&functions, &[]))?;
        for name in names(&functions, &[]) {
            if module.dict().contains(name)? {
                return Err(declared_twice("strided", &name.to_string_lossy()));
            }
        }
        functions.push(ffi::PyMethodDef::zeroed());
        // SAFETY: the list is never freed, and ends with a zeroed entry.
        match unsafe { ffi::PyModule_AddFunctions(module.as_ptr(), functions.leak().as_mut_ptr()) } {
            0 => Ok(()),
            _ => Err(PyErr::fetch(module.py())),
        }
    }
}
