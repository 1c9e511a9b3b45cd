//! An open file: what is in it, and its tensors, loaded one by one or all at once.

use super::dtype;
use crate::abi::Value;
use crate::abi::detach::{detach, detach_if_large};
use crate::abi::errors::{CallResult, Fail};
use crate::abi::refs::to_py;
use crate::abi::storage_object::{TypedStorage, storage_object};
use crate::abi::tensor_object::wrap;
use crate::convert::args::{FromArg, UntypedArg};
use crate::convert::documents::{Hooks, ObjectMaker, plain_object};
use crate::convert::file_options::{FileOptions, Written, write_document};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use std::collections::HashMap;
use std::sync::OnceLock;
use strided_core::DType;
use strided_core::io::{
    Capacity, Detail, Document, Format, FormatRow, Listed, ListedValue, Loader, Node, Place, choose, fit,
    in_file, outline, position_of, tensor_names, value_names, why_not_mapped,
};

/// The content of a file, for `strided.files`.
#[pyclass(name = "_Document", module = "strided", frozen)]
pub struct PyDocument {
    document: Document,
    format: Format,
    /// The name of the file, for messages.
    name: String,
    listed: OnceLock<strided_core::Result<Vec<Listed>>>,
}

/// The signatures of the methods.
pub const SIGNATURES: &[(&str, &[&str])] = &[
    ("format", &["() -> str"]),
    ("end", &["() -> int | None"]),
    ("details", &["() -> dict[str, str | int]"]),
    ("metadata", &["() -> dict[str, str]"]),
    ("names", &["() -> list[str]"]),
    ("entry", &["(index: int) -> Any"]),
    ("first_names", &["() -> list[int | None]"]),
    ("values", &["() -> list[tuple[str, Any]]"]),
    (
        "left_out",
        &["(format: str, target: str, select: list[int] | None) -> list[tuple[str, list[str], str]]"],
    ),
    (
        "convert",
        &[
            "(op: str, target: Any, name: str, select: list[int] | None, casts: dict[int, dtype], options: dict[str, Any]) -> tuple[int, list[tuple[str, list[str]]]]",
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

    fn listed(&self) -> CallResult<&[Listed]> {
        match self.listed.get_or_init(|| tensor_names(&self.document)) {
            Ok(listed) => Ok(listed),
            Err(error) => Err(Fail::Core(error.clone())),
        }
    }

    /// Runs a method under the names of the operation and of the file.
    fn run<'py, R>(
        &self,
        py: Python<'py>,
        op: &'static str,
        body: impl FnOnce() -> CallResult<R>,
    ) -> PyResult<R> {
        crate::abi::errors::named(py, op, || named(py, op, &self.name, body()))
    }

    /// The view of an entry, and whether it is a storage.
    fn view_at(&self, index: usize) -> CallResult<(usize, bool)> {
        let listed = self.listed()?.get(index);
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

#[pymethods]
impl PyDocument {
    fn format(&self) -> &'static str {
        self.format.name
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

    /// Where the object ends in a file that may go on after it; None if the file ends there.
    fn end(&self) -> Option<u64> {
        self.document.end
    }

    /// The names of all tensors and storages.
    fn names(&self, py: Python<'_>) -> PyResult<Vec<&str>> {
        let names = || Ok(self.listed()?.iter().map(|listed| listed.name.as_str()).collect());
        self.run(py, "open", names)
    }

    /// For each name, the position of the first name of the same object; None for that name itself.
    fn first_names(&self, py: Python<'_>) -> PyResult<Vec<Option<usize>>> {
        self.run(py, "open", || Ok(self.listed()?.iter().map(|listed| listed.first).collect()))
    }

    /// All values that are no tensors, under their names.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        self.run(py, "open", || {
            let values = detach(py, || value_names(&self.document))?;
            let value =
                |value: ListedValue| Ok((value.name, comparable(py, &self.document.nodes[value.node])?));
            values.into_iter().map(value).collect()
        })
    }

    /// What a file of another format would not have: kind, names and a text for each loss. Formats that are written in Python
    /// hold named tensors.
    fn left_out(
        &self,
        py: Python<'_>,
        format: &str,
        target: &str,
        select: Option<Vec<usize>>,
    ) -> PyResult<Vec<(&'static str, Vec<String>, String)>> {
        self.run(py, "convert", || {
            let mut chosen = choose(&self.document, self.listed()?, select.as_deref(), &HashMap::new())?;
            let capacity = match FormatRow::from_name(format) {
                Some(row) => row.writer().map_err(|error| in_file(error, target))?.capacity,
                None => Capacity::NamedTensors,
            };
            let losses = detach(py, || fit(&mut chosen, format, capacity))?;
            Ok(losses.into_iter().map(|loss| (loss.kind.name(), loss.names, loss.text)).collect())
        })
    }

    /// Writes the object, or some of its tensors, to a file. `casts` has dtypes for entries by their positions. Returns the
    /// length of the file, and the entries of tensors that overlap.
    fn convert<'py>(
        &self,
        py: Python<'py>,
        op: &str,
        target: Bound<'py, PyAny>,
        name: &str,
        select: Option<Vec<usize>>,
        casts: Bound<'py, PyDict>,
        options: Bound<'py, PyDict>,
    ) -> PyResult<Written> {
        crate::abi::errors::named(py, "convert", || {
            let options = FileOptions(options);
            let written = (|| {
                let mut by_view = HashMap::new();
                for (index, dtype) in casts.iter() {
                    let (view, _) = self.view_at(index.extract()?)?;
                    by_view.insert(view, DType::from_arg(dtype.as_borrowed(), "dtype")?);
                }
                let format = options.new_format()?;
                let mut chosen = choose(&self.document, self.listed()?, select.as_deref(), &by_view)
                    .map_err(|error| in_file(error, &self.name))?;
                fit(&mut chosen, format.name, format.writer()?.capacity)?;
                chosen.name = self.name.clone();
                write_document(py, UntypedArg(target.as_borrowed()), chosen, &options)
            })();
            named(py, op, name, written)
        })
    }

    /// What is known of a tensor without reading it: the items of `strided.files._file.Described`.
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
            let mut maker = ObjectMaker::new(py, &self.document, loader, hooks, vec![])?;
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
        self.run(py, "open", || {
            let rows = detach(py, || outline(&self.document))?;
            let row = |row: strided_core::io::OutlineRow| {
                let tuple = (row.depth, row.key, row.kind, row.text, row.listed);
                Ok(tuple.into_pyobject(py)?.into_any())
            };
            rows.into_iter().map(row).collect()
        })
    }
}

/// An object that is equal for equal values of documents. Tuples and tables without items count as lists.
fn comparable<'py>(py: Python<'py>, node: &Node) -> CallResult<Value<'py>> {
    Ok(match node {
        Node::Dict(_) => PyDict::new(py).into_any(),
        Node::Record(record) => to_py(py, (&record.class, &record.version))?,
        Node::Function(function) => PyBytes::new(py, &function.bytecode).into_any(),
        value => plain_object(py, value)?.unwrap_or_else(|| PyList::empty(py).into_any()),
    })
}
