//! Files: the arguments of the functions of `strided.files`, and writing a document.

use super::args::{FromArg, UntypedArg};
use super::streams::{NewTarget, Progress};
use super::tensors::TextArg;
use crate::abi::detach::detach;
use crate::abi::errors::{CallResult, Fail};
use crate::abi::{Arg, Value};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use strided_core::Error;
use strided_core::io::t7::EncodingHints;
use strided_core::io::{
    self, ByteOrder, Document, FORMATS, FileOutput, Format, FormatRow, Overlap, WriteOptions,
};

/// The length of a new file, and its entries for tensors that overlap: their names, and those of the tensors.
pub type Written = (u64, Vec<(String, Vec<String>)>);

/// Writes a document, which takes the place of the old file when it is complete.
pub fn write_document(
    py: Python<'_>,
    target: UntypedArg<'_>,
    mut document: Document,
    options: &FileOptions<'_>,
) -> CallResult<Written> {
    let (format, encoding) = (options.new_format()?, options.encoding()?.or_default());
    document.metadata = options.get("metadata")?.map_or(Ok(vec![]), |metadata| read_metadata(&metadata))?;
    let write = WriteOptions { compress: options.flag("compress")?, encoding };
    let progress = options.get("progress")?.map(Bound::unbind);
    let sync = options.flag("fsync")?;
    let mut overlaps = Vec::new();
    let length = write_to(py, target, progress, sync, |output| {
        overlaps = io::write(&document, format, &write, output)?;
        Ok(())
    })?;
    Ok((length, overlaps.into_iter().map(|Overlap { entry, names }| (entry, names)).collect()))
}

/// The keyword arguments of a function of `strided.files`.
pub struct FileOptions<'py>(pub Bound<'py, PyDict>);

impl<'py> FileOptions<'py> {
    pub fn new(object: Arg<'py>) -> CallResult<FileOptions<'py>> {
        Ok(FileOptions(object.cast::<PyDict>().map_err(PyErr::from)?.to_owned()))
    }

    /// An option that was given, and is not None.
    pub fn get(&self, name: &str) -> CallResult<Option<Value<'py>>> {
        Ok(self.0.get_item(name)?.filter(|value| !value.is_none()))
    }

    pub fn text(&self, name: &'static str) -> CallResult<Option<String>> {
        let text =
            self.get(name)?.map(|value| TextArg::from_arg(value.as_borrowed(), name).map(|text| text.0));
        text.transpose()
    }

    pub fn flag(&self, name: &'static str) -> CallResult<bool> {
        self.get(name)?.map_or(Ok(false), |value| bool::from_arg(value.as_borrowed(), name))
    }

    pub fn format(&self) -> CallResult<Option<Format>> {
        self.text("format")?.map(|name| format_of(&name)).transpose()
    }

    /// The format of a new file.
    pub fn new_format(&self) -> CallResult<Format> {
        format_of(&self.text("format")?.unwrap_or_default())
    }

    /// What is known of the encoding of a .t7 file.
    pub fn encoding(&self) -> CallResult<EncodingHints> {
        let ascii = match self.text("encoding")?.as_deref() {
            None => None,
            Some("binary") => Some(false),
            Some("ascii") => Some(true),
            Some(other) => return Err(argument("encoding", other, "'binary' or 'ascii'")),
        };
        let long_size = self.get("long_size")?.map(|size| isize::from_arg(size.as_borrowed(), "long_size"));
        let long_size = match long_size.transpose()? {
            None => None,
            Some(4) => Some(4),
            Some(8) => Some(8),
            Some(other) => return Err(Error::argument("long_size", other, "4 or 8").into()),
        };
        let order = self.text("byte_order")?.map(|order| order_of(&order)).transpose()?;
        Ok(EncodingHints { ascii, long_size, order })
    }
}

/// Writes a file, which takes its place when `write` has succeeded. Returns its length.
pub fn write_to(
    py: Python<'_>,
    target: UntypedArg<'_>,
    callback: Option<Py<PyAny>>,
    sync: bool,
    write: impl FnOnce(&mut FileOutput<'_>) -> strided_core::Result<()> + Send,
) -> CallResult<u64> {
    let mut target = Progress { target: NewTarget::new(target.0)?, callback };
    Ok(detach(py, move || {
        let mut output = FileOutput::new(&mut target);
        write(&mut output)?;
        let length = output.finish()?;
        target.target.commit(sync)?;
        Ok::<u64, Error>(length)
    })?)
}

fn read_metadata(object: &Value<'_>) -> CallResult<Vec<(String, String)>> {
    let pairs = object.cast::<PyDict>().map_err(PyErr::from)?;
    let text = |value: Value<'_>| {
        value.extract::<String>().map_err(|_| argument("metadata", "no dict of str", "str to str"))
    };
    pairs.iter().map(|(key, value)| Ok((text(key)?, text(value)?))).collect()
}

pub fn argument(name: &'static str, got: &str, wanted: impl Into<String>) -> Fail {
    Fail::Core(Error::argument(name, format!("'{got}'"), wanted))
}

fn format_of(name: &str) -> CallResult<Format> {
    FormatRow::from_name(name).ok_or_else(|| {
        let names: Vec<String> = FORMATS.iter().map(|format| format!("'{}'", format.name)).collect();
        let (last, others) = names.split_last().expect("there are formats");
        argument("format", name, format!("{} or {last}", others.join(", ")))
    })
}

pub fn order_of(name: &str) -> CallResult<ByteOrder> {
    match name {
        "native" => Ok(ByteOrder::NATIVE),
        "little" => Ok(ByteOrder::Little),
        "big" => Ok(ByteOrder::Big),
        other => Err(argument("byte order", other, "'native', 'little' or 'big'")),
    }
}
