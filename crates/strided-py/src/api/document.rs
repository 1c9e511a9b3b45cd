//! Methods of an open file.

use crate::abi::Value;
use crate::abi::detach::{detach, detach_if_large};
use crate::abi::errors::{CallResult, Fail};
use crate::abi::refs::to_py;
use crate::abi::storage_object::{TypedStorage, storage_object};
use crate::abi::tensor_object::wrap;
use crate::classes::document::{PyDocument, add_names, comparable};
use crate::convert::args::{FromArg, Instance, UntypedArg};
use crate::convert::documents::{Hooks, ObjectMaker};
use crate::convert::file_options::{FileOptions, write_document};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;
use strided_core::DType;
use strided_core::io::{
    Capacity, Detail, FormatRow, ListedValue, Loader, OutlineRow, choose, fit, in_file, outline, value_names,
};

methods! { rows(py, x: Instance<PyDocument>):
    /// The name of the format.
    method format() -> "str" => to_py(py, x.format.name);

    /// Facts of the format, by name.
    method details() -> "dict[str, str | int]" => {
        let details = PyDict::new(py);
        for (name, detail) in &x.document.details {
            match detail {
                Detail::Text(text) => details.set_item(name, text)?,
                Detail::Number(number) => details.set_item(name, number)?,
            }
        }
        Ok(details.into_any())
    };

    /// The metadata of the file.
    method metadata() -> "dict[str, str]" => {
        let metadata = PyDict::new(py);
        for (key, value) in &x.document.metadata {
            metadata.set_item(key, value)?;
        }
        Ok(metadata.into_any())
    };

    /// Where the object ends in a file that may go on after it; None if the file ends there.
    method end() -> "int | None" => to_py(py, x.document.end);

    /// The names of all tensors and storages.
    method names() -> "list[str]" => {
        let listed = x.add_names(py, "open", x.listed())?;
        to_py(py, listed.iter().map(|listed| listed.name.as_str()).collect::<Vec<_>>())
    };

    /// For each name, the position of the first name of the same object; None for that name itself.
    method first_names() -> "list[int | None]" => {
        let listed = x.add_names(py, "open", x.listed())?;
        to_py(py, listed.iter().map(|listed| listed.first).collect::<Vec<_>>())
    };

    /// All values that are no tensors, under their names.
    method values() -> "list[tuple[str, Any]]" => to_py(py, x.add_names(py, "open", values(py, &x))?);

    /// What a file of another format would not have: kind, names and a text for each loss. Formats that are written in Python
    /// hold named tensors.
    method left_out(format: &str, target: &str, select: Option<Vec<usize>>) -> "list[tuple[str, list[str], str]]"
        => to_py(py, x.add_names(py, "convert", left_out(py, &x, format, target, select))?);

    /// Writes the object, or some of its tensors, to a file. `casts` has dtypes for entries by their positions. Returns the
    /// length of the file, and the entries of tensors that overlap.
    method convert(op: &str, target: UntypedArg, name: &str, select: Option<Vec<usize>>, casts: UntypedArg, options: UntypedArg)
        -> "tuple[int, list[tuple[str, list[str]]]]" => {
            let options = FileOptions::new(options.0)?;
            let written = (|| {
                let mut by_view = HashMap::new();
                for (index, dtype) in casts.0.cast::<PyDict>().map_err(PyErr::from)?.iter() {
                    let (view, _) = x.view_at(index.extract()?)?;
                    by_view.insert(view, DType::from_arg(dtype.as_borrowed(), "dtype")?);
                }
                let format = options.new_format()?;
                let mut chosen = choose(&x.document, x.listed()?, select.as_deref(), &by_view)
                    .map_err(|error| in_file(error, &x.name))?;
                fit(&mut chosen, format.name, format.writer()?.capacity)?;
                chosen.name = x.name.clone();
                write_document(py, target, chosen, &options)
            })();
            to_py(py, add_names(py, op, name, written)?)
        };

    /// What is known of a tensor without reading it: the items of `strided.files._file.EntryFacts`.
    method entry(index: u64) -> "Any" => Ok(crate::abi::errors::guard_pyo3(py, "open", || x.describe(py, index as usize))?);

    /// The whole object.
    method load(max_bytes: Option<u64>, hooks: Option<UntypedArg>) -> "Any" => {
        let loader = Loader::new(&x.document, true, max_bytes);
        let hooks = Hooks::new(py, hooks.map(|hooks| hooks.0.to_owned()).as_ref())?;
        let mut maker = ObjectMaker::new(py, &x.document, loader, hooks, vec![])?;
        x.add_names(py, "load", maker.make(x.document.root))
    };

    /// One tensor or storage.
    method load_entry(index: u64, max_bytes: Option<u64>) -> "Any" => {
        let (view, is_storage) = crate::abi::errors::guard_pyo3(py, "load", || x.view_at(index as usize))?;
        let size = x.document.views[view].layout.size();
        let mut loader = Loader::new(&x.document, true, max_bytes);
        let tensor = detach_if_large(py, size, || loader.separate_tensor(view)).map_err(Fail::from);
        let tensor = x.add_names(py, "load", tensor)?;
        if is_storage {
            let typed = TypedStorage { bytes: tensor.storage().clone(), dtype: tensor.dtype() };
            return Ok(storage_object(py, typed)?);
        }
        wrap(py, tensor)
    };

    /// The object as lines of a tree.
    method outline() -> "list[tuple[int, str, str, str, int | None]]" => {
        let document = &x.document;
        let rows = x.add_names(py, "open", detach(py, || outline(document)).map_err(Fail::from))?;
        let row = |row: OutlineRow| (row.depth, row.key, row.kind, row.text, row.listed);
        to_py(py, rows.into_iter().map(row).collect::<Vec<_>>())
    };
}

fn values<'py>(py: Python<'py>, x: &PyDocument) -> CallResult<Vec<(String, Value<'py>)>> {
    let values = detach(py, || value_names(&x.document))?;
    let value = |value: ListedValue| Ok((value.name, comparable(py, &x.document.nodes[value.node])?));
    values.into_iter().map(value).collect()
}

fn left_out(
    py: Python<'_>,
    x: &PyDocument,
    format: &str,
    target: &str,
    select: Option<Vec<usize>>,
) -> CallResult<Vec<(&'static str, Vec<String>, String)>> {
    let mut chosen = choose(&x.document, x.listed()?, select.as_deref(), &HashMap::new())?;
    let capacity = match FormatRow::from_name(format) {
        Some(row) => row.writer().map_err(|error| in_file(error, target))?.capacity,
        None => Capacity::NamedTensors,
    };
    let losses = detach(py, || fit(&mut chosen, format, capacity))?;
    Ok(losses.into_iter().map(|loss| (loss.kind.name(), loss.names, loss.text)).collect())
}
