//! Methods, functions and properties: one row of a macro each, by what they are about, and the rows of the op table.

#[macro_use]
mod methods;

mod apply;
mod borrow;
mod calculus;
mod complex;
mod contract;
mod conversion;
mod copying;
mod covariance;
mod create;
mod devices;
mod document;
mod dtype;
mod elementwise;
mod files;
mod generator;
mod geometry;
mod indexing;
mod join;
mod layout;
mod masks;
mod mersenne;
mod op_table;
mod order;
mod properties;
mod query;
mod random;
mod reduce;
mod restructure;
mod scans;
mod storage;
mod system;
mod t7_stream;
mod views;

use crate::abi::Value;
use crate::abi::errors::CallResult;
use crate::abi::heap::{Members, add_members, check_names, declared_twice, names};
use crate::abi::refs::to_py;
use crate::abi::thunks::{
    MethodRow, ParamStub, PropertyRow, RowPlace, Signature, definitions, property_definitions,
};
use pyo3::PyClass;
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
            devices::rows(),
            conversion::rows(),
            conversion::tensor_casts(),
            conversion::storage_casts(),
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
            rows(),
            storage::rows(),
            layout::rows(),
            dtype::rows(),
            borrow::rows(),
            generator::rows(),
            mersenne::torch_rows(),
            mersenne::lab_rows(),
            document::rows(),
            t7_stream::reader_rows(),
            t7_stream::writer_rows(),
        ];
        let properties = [
            properties::properties(),
            complex::properties(),
            storage::properties(),
            layout::properties(),
            dtype::properties(),
            dtype::device_properties(),
            generator::properties(),
        ];
        Rows {
            methods: methods.into_iter().flatten().collect(),
            properties: properties.into_iter().flatten().collect(),
        }
    }

    /// The methods and properties of a class.
    pub fn members(&self, class: &'static str) -> Members {
        let mut methods = definitions(&self.methods, RowPlace::Method(class));
        if class == "Tensor" {
            methods.extend(op_table::methods());
        }
        (methods, property_definitions(&self.properties, class))
    }

    /// Adds a class that PyO3 makes, with its methods and properties.
    pub fn add_class<T: PyClass>(&self, module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add_class::<T>()?;
        add_members(&module.py().get_type::<T>(), self.members(T::NAME))
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

methods! { rows(py):
    /// The signature of every method, function and property, as tuples: the class (empty for functions), the name, the
    /// parameters (None for properties and where there are overloads), the type of the result, the overloads, and whether
    /// a property can be assigned to.
    function _signatures() -> "list[tuple[str, str, list[tuple[str, list[str], str, str | None, bool, str | None]] | None, str, list[str], bool]]"
        => all(py);

    /// NumPy functions by name, and the functions that compute them when they are called with tensors.
    function _numpy_names() -> "list[tuple[str, str]]" => {
        let rows = Rows::all().methods;
        let mut names: Vec<_> =
            rows.iter().flat_map(|row| row.numpy_names.iter().map(|name| (*name, row.name))).collect();
        names.extend(op_table::numpy_names());
        to_py(py, names)
    };
}

type ParamTuple = (&'static str, Vec<&'static str>, String, Option<&'static str>, bool, Option<&'static str>);
type RowTuple = (&'static str, String, Option<Vec<ParamTuple>>, String, Vec<String>, bool);

fn param_tuple(param: ParamStub) -> ParamTuple {
    (param.name, param.aliases.to_vec(), param.stub, param.rest, param.keyword_only, param.default)
}

fn all(py: Python<'_>) -> CallResult<Value<'_>> {
    let Rows { methods, properties } = Rows::all();
    let mut all: Vec<RowTuple> = Vec::new();
    for row in &methods {
        for (place, _) in &row.thunks {
            let class = match place {
                RowPlace::Method(class) => class,
                RowPlace::Function => "",
            };
            let own = if class.is_empty() { "Tensor" } else { class };
            let params = row.params.iter().map(|param| param_tuple(ParamStub::of(param))).collect();
            let (params, result, overloads) = match row.signature {
                Signature::Returns(result) => (Some(params), result.replace("{}", own), Vec::new()),
                Signature::Overloads(texts) => {
                    (None, String::new(), texts.iter().map(|text| text.to_string()).collect())
                }
            };
            all.push((class, row.name.into(), params, result, overloads, false));
        }
    }
    for stub in op_table::stubs() {
        let params = stub.params.into_iter().map(param_tuple).collect();
        all.push((stub.class, stub.name, Some(params), "Tensor".into(), Vec::new(), false));
    }
    for property in &properties {
        let (name, result) = (property.name.into(), property.stub.into());
        all.push((property.class, name, None, result, Vec::new(), property.set.is_some()));
    }
    to_py(py, all)
}
