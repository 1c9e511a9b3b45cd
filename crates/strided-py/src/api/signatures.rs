//! The signatures of all rows as data: what the stubs are made from.

use super::{Rows, op_table};
use crate::abi::Value;
use crate::abi::errors::CallResult;
use crate::abi::refs::to_py;
use crate::abi::thunks::{ParamStub, RowClass, RowPlace, Signature};
use crate::classes::{
    borrow, document, dtype, generator, layout, mersenne, size, storage, t7_stream, tensor,
};
use pyo3::prelude::*;

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
                RowPlace::Method(class) => class.name(),
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
        let class = stub.class.map_or("", RowClass::name);
        let params = stub.params.into_iter().map(param_tuple).collect();
        all.push((class, stub.name, Some(params), "Tensor".into(), Vec::new(), false));
    }
    for property in &properties {
        let settable = property.set.is_some();
        all.push((
            property.class.name(),
            property.name.into(),
            None,
            property.stub.into(),
            Vec::new(),
            settable,
        ));
    }
    all.push(("Tensor", "size".into(), None, "_Count".into(), Vec::new(), false)); // the descriptor of `classes/size.rs`
    all.push(("Generator", "device".into(), None, "device".into(), Vec::new(), false));
    for (class, signatures) in [
        ("Tensor", tensor::SIGNATURES),
        ("Storage", storage::SIGNATURES),
        ("Layout", layout::SIGNATURES),
        ("Size", size::SIGNATURES),
        ("BorrowHandle", borrow::SIGNATURES),
        ("Generator", generator::SIGNATURES),
        ("_TorchGenerator", mersenne::TORCH_SIGNATURES),
        ("_LabGenerator", mersenne::LAB_SIGNATURES),
        ("_Document", document::SIGNATURES),
        ("_T7Reader", t7_stream::READER_SIGNATURES),
        ("_T7Writer", t7_stream::WRITER_SIGNATURES),
        ("dtype", dtype::DTYPE_SIGNATURES),
        ("device", dtype::DEVICE_SIGNATURES),
    ] {
        for (name, texts) in signatures {
            let overloads = texts.iter().map(|text| text.to_string()).collect();
            all.push((class, name.to_string(), None, String::new(), overloads, false));
        }
    }
    to_py(py, all)
}
