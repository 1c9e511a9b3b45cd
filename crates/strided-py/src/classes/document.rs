//! An open file: what is in it, and its tensors, loaded one by one or all at once.

use super::dtype;
use crate::abi::Value;
use crate::abi::detach::{detach, detach_if_large};
use crate::abi::errors::{CallResult, Fail};
use crate::abi::refs::to_py;
use crate::abi::storage_object::{TypedStorage, storage_object};
use crate::abi::tensor_object::wrap;
use crate::convert::documents::{Hooks, ObjectMaker};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::OnceLock;
use strided_core::io::{
    Detail, Document, Format, Listed, Loader, Node, Place, in_file, outline, position_of, tensor_names,
    why_not_mapped,
};

/// The content of a file, for `strided.files`.
#[pyclass(name = "_Document", module = "strided", frozen)]
pub struct PyDocument {
    document: Document,
    format: Format,
    /// The name of the file, for messages.
    name: String,
    listed: OnceLock<Vec<Listed>>,
}

/// The signatures of the methods.
pub const SIGNATURES: &[(&str, &[&str])] = &[
    ("format", &["() -> str"]),
    ("details", &["() -> dict[str, str | int]"]),
    ("metadata", &["() -> dict[str, str]"]),
    ("names", &["() -> list[str]"]),
    (
        "entry",
        &[
            "(index: int) -> tuple[str, dtype | None, str, tuple[int, ...], tuple[int, ...], int, int | None, int, str, int | None, str, str | None]",
        ],
    ),
    ("load", &["(max_bytes: int | None, hooks: Any) -> Any"]),
    ("load_entry", &["(index: int, max_bytes: int | None) -> Any"]),
    ("outline", &["() -> list[tuple[int, str, str, str, int | None]]"]),
];

/// Raises an error under the name of the operation that users called, and with the name of the file.
pub fn named<R>(py: Python<'_>, op: &str, file: &str, result: CallResult<R>) -> CallResult<R> {
    result.map_err(|fail| {
        let fail = match fail {
            Fail::Core(error) => Fail::Core(in_file(error, file)),
            other => other,
        };
        Fail::Python(fail.into_exception(py, op))
    })
}

impl PyDocument {
    pub fn new(document: Document, format: Format, name: String) -> PyDocument {
        PyDocument { document, format, name, listed: OnceLock::new() }
    }

    fn listed(&self) -> &[Listed] {
        self.listed.get_or_init(|| tensor_names(&self.document))
    }

    /// The view of an entry, and whether it is a storage.
    fn view_at(&self, index: usize) -> CallResult<(usize, bool)> {
        let listed = self.listed().get(index);
        match listed.map(|listed| &self.document.nodes[listed.node]) {
            Some(Node::Tensor(view)) => Ok((*view, false)),
            Some(Node::Storage(view)) => Ok((*view, true)),
            _ => Err(Fail::Index(format!("the file has no entry {index}"))),
        }
    }

    fn described<'py>(&self, py: Python<'py>, index: usize) -> CallResult<Value<'py>> {
        let (index_of_view, is_storage) = self.view_at(index)?;
        let view = &self.document.views[index_of_view];
        let blob = &self.document.blobs[view.blob];
        let known = view.element.known();
        let reason = match (known, blob.element.known()) {
            (None, _) | (_, None) => Some(format!("strided has no dtype {}", view.element.name())),
            (Some(dtype), _) => why_not_mapped(blob, dtype),
        };
        let (stored, order) = match blob.place {
            Place::Plain { order, .. } | Place::Narrow { order, .. } => ("plain", order.name()),
            Place::Deflated { order, .. } => ("deflated", order.name()),
            Place::Text { .. } => ("text", "little"),
            Place::Memory(_) => ("memory", "little"),
            Place::Deferred(_) => ("computed", "little"),
        };
        let layout = &view.layout;
        let nbytes = view.element.bytes(layout.size() as u64);
        let parts: [Value<'py>; 12] = [
            to_py(py, if is_storage { "storage" } else { "tensor" })?,
            to_py(py, known.map(|dtype| dtype::object(py, dtype)))?,
            to_py(py, view.element.name())?,
            PyTuple::new(py, layout.shape())?.into_any(),
            PyTuple::new(py, layout.stride())?.into_any(),
            to_py(py, layout.offset())?,
            to_py(py, nbytes)?,
            to_py(py, view.blob)?,
            to_py(py, stored)?,
            to_py(py, position_of(&blob.place))?,
            to_py(py, order)?,
            to_py(py, reason)?,
        ];
        Ok(PyTuple::new(py, parts)?.into_any())
    }
}

#[pymethods]
impl PyDocument {
    fn format(&self) -> &'static str {
        self.format.name()
    }

    fn details<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let details = PyDict::new(py);
        for (name, detail) in &self.document.details {
            match detail {
                Detail::Text(text) => details.set_item(name, text)?,
                Detail::Number(number) => details.set_item(name, number)?,
            }
        }
        Ok(details)
    }

    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let metadata = PyDict::new(py);
        for (key, value) in &self.document.metadata {
            metadata.set_item(key, value)?;
        }
        Ok(metadata)
    }

    /// The names of all tensors and storages.
    fn names(&self) -> Vec<&str> {
        self.listed().iter().map(|listed| listed.name.as_str()).collect()
    }

    /// What is known of a tensor without reading it.
    fn entry<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        crate::abi::errors::named(py, "open", || self.described(py, index))
    }

    /// The whole object.
    fn load<'py>(
        &self,
        py: Python<'py>,
        max_bytes: Option<u64>,
        hooks: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        crate::abi::errors::named(py, "load", || {
            let loader = Loader::new(&self.document, true, max_bytes);
            let hooks = Hooks::new(py, hooks.as_ref())?;
            let mut maker = ObjectMaker::new(py, &self.document, loader, hooks, vec![]);
            named(py, "load", &self.name, maker.make(self.document.root))
        })
    }

    /// One tensor or storage.
    fn load_entry<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        max_bytes: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        crate::abi::errors::named(py, "load", || {
            let (view, is_storage) = self.view_at(index)?;
            let size = self.document.views[view].layout.size();
            let mut loader = Loader::new(&self.document, true, max_bytes);
            let tensor = detach_if_large(py, size, || loader.separate_tensor(view)).map_err(Fail::from);
            let tensor = named(py, "load", &self.name, tensor)?;
            if is_storage {
                let typed = TypedStorage { bytes: tensor.storage().clone(), dtype: tensor.dtype() };
                return Ok(storage_object(py, typed)?);
            }
            wrap(py, tensor)
        })
    }

    /// The object as lines of a tree.
    fn outline<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let rows = detach(py, || outline(&self.document));
        let row = |row: strided_core::io::OutlineRow| {
            let tuple = (row.depth, row.key, row.kind, row.text, row.listed);
            Ok(tuple.into_pyobject(py)?.into_any())
        };
        rows.into_iter().map(row).collect()
    }
}
