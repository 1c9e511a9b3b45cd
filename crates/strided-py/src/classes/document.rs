//! An open file: what is in it, and its tensors, loaded one by one or all at once. Its methods are rows of `api/document.rs`.

use super::dtype;
use crate::abi::Value;
use crate::abi::errors::{CallResult, Fail};
use crate::abi::refs::to_py;
use crate::convert::documents::plain_object;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use std::sync::OnceLock;
use strided_core::io::{
    Document, Format, Listed, Node, Place, in_file, position_of, tensor_names, why_not_mapped,
};

/// The content of a file, for `strided.files`.
#[pyclass(name = "_Document", module = "strided", frozen)]
pub struct PyDocument {
    pub document: Document,
    pub format: Format,
    /// The name of the file, for messages.
    pub name: String,
    listed: OnceLock<strided_core::Result<Vec<Listed>>>,
}

/// Adds the names of the operation that the user called and of the file to an error.
pub fn add_names<R>(py: Python<'_>, op: &str, file: &str, result: CallResult<R>) -> CallResult<R> {
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

    pub fn listed(&self) -> CallResult<&[Listed]> {
        match self.listed.get_or_init(|| tensor_names(&self.document)) {
            Ok(listed) => Ok(listed),
            Err(error) => Err(Fail::Core(error.clone())),
        }
    }

    /// [`add_names`] for this file.
    pub fn add_names<R>(&self, py: Python<'_>, op: &str, result: CallResult<R>) -> CallResult<R> {
        add_names(py, op, &self.name, result)
    }

    /// The view of an entry, and whether it is a storage.
    pub fn view_at(&self, index: usize) -> CallResult<(usize, bool)> {
        let listed = self.listed()?.get(index);
        match listed.map(|listed| &self.document.nodes[listed.node]) {
            Some(Node::Tensor(view)) => Ok((*view, false)),
            Some(Node::Storage(view)) => Ok((*view, true)),
            _ => Err(Fail::Index(format!("the file has no entry {index}"))),
        }
    }

    pub fn describe<'py>(&self, py: Python<'py>, index: usize) -> CallResult<Value<'py>> {
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
            Place::RowMajor { order, .. } => ("plain", order.name()),
            Place::Deflated { order, .. } => ("deflated", order.name()),
            Place::Text { .. } => ("text", "little"),
            Place::Memory(_) => ("memory", "little"),
            Place::Deferred(_) | Place::Cast(_) => ("computed", "little"),
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

/// An object to compare values of documents by: equal values give equal objects. Empty tuples and tables count as lists.
pub fn comparable<'py>(py: Python<'py>, node: &Node) -> CallResult<Value<'py>> {
    Ok(match node {
        Node::Dict(_) => PyDict::new(py).into_any(),
        Node::Record(record) => to_py(py, (&record.class, &record.version))?,
        Node::Function(function) => PyBytes::new(py, &function.bytecode).into_any(),
        value => plain_object(py, value)?.unwrap_or_else(|| PyList::empty(py).into_any()),
    })
}
