//! Files: the native part of `strided.files`, and raw binary.

use crate::abi::detach::detach;
use crate::abi::errors::{CallResult, Fail};
use crate::abi::refs::{call_python, new_ref, to_py};
use crate::abi::tensor_object::wrap;
use crate::abi::{Arg, Value};
use crate::classes::document::{PyDocument, named};
use crate::convert::args::{FromArg, Ints, TensorArg, UntypedArg};
use crate::convert::objects::DocumentBuilder;
use crate::convert::streams::{NewTarget, Progress, source};
use crate::convert::tensors::TextArg;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use strided_core::io::t7::{Encoding, EncodingHints};
use strided_core::io::{
    self, ByteOrder, Document, FileOutput, Format, MapMode, RawRequest, ReadOptions, WriteOptions, read_raw,
    write_raw,
};
use strided_core::{DType, Error, Layout, Tensor};

methods! { rows(py, x: TensorArg):
    /// Writes the elements to a file in row-major order, without a header: raw binary, which `strided.fromfile` reads.
    ///
    /// `f` is a path, whose file is replaced at once when all is written, or a file object. `byteorder` is 'native', 'little' or
    /// 'big'; `fsync` waits until the bytes are on the disk.
    ///
    /// >>> import io
    /// >>> f = io.BytesIO()
    /// >>> strided.tensor([1, 2], dtype=strided.int16).tofile(f, byteorder='big')
    /// >>> f.getvalue()
    /// b'\x00\x01\x00\x02'
    method tofile(f: UntypedArg, byteorder: Option<TextArg> = None; fsync: bool = False) -> "None"
        => call_python(py, "strided.files", "_tofile", (x.object(), f.0, byteorder.map(|order| order.0), fsync));

    /// The native part of `strided.files.open`. The options are those of `strided.files.open` that are not None.
    function _file_open(op: TextArg, source_: UntypedArg, name: TextArg, options: UntypedArg) -> "_Document" => {
        let opened = FileOptions::new(options.0).and_then(|options| open(py, source_, &name.0, &options));
        to_py(py, named(py, &op.0, &name.0, opened)?)
    };

    /// The native part of `strided.files.write` and `strided.save`. The options are their arguments that are not None.
    function _file_write(op: TextArg, target: UntypedArg, name: TextArg, content: UntypedArg, options: UntypedArg) -> "int" => {
        let written = FileOptions::new(options.0).and_then(|options| write(py, target, content, &options));
        to_py(py, named(py, &op.0, &name.0, written)?)
    };

    /// The native part of `strided.fromfile`.
    function _raw_read(source_: UntypedArg, name: TextArg, dtype: DType, count: Option<isize>, offset: isize, byte_order: TextArg) => {
        let read = (|| {
            let source = source(source_.0, MapMode::Never)?;
            let count = count.map(|count| to_u64("count", count)).transpose()?;
            let (offset, order) = (to_u64("offset", offset)?, order_of(&byte_order.0)?);
            Ok(detach(py, || read_raw(&*source, &RawRequest { dtype, count, offset, order }))?)
        })();
        wrap(py, named(py, "fromfile", &name.0, read)?)
    };

    /// The header of a .npy file, and the bytes of the elements that follow it.
    function _npy_header(dtype: DType, shape: Ints, fortran: bool) -> "tuple[bytes, int]" => {
        let layout = if fortran { Layout::column_major(&shape.ints)? } else { Layout::row_major(&shape.ints)? };
        let (header, _) = io::npy_header(dtype, &layout);
        to_py(py, (PyBytes::new(py, &header), layout.size() * dtype.size()))
    };

    /// The native part of `Tensor.tofile`.
    function _raw_write(input: TensorArg, target: UntypedArg, name: TextArg, byte_order: TextArg, fsync: bool) -> "int" => {
        let tensor: Tensor = (*input).clone();
        let written = order_of(&byte_order.0).and_then(|order| {
            write_to(py, target, None, fsync, |output| write_raw(&tensor, order, output))
        });
        to_py(py, named(py, "tofile", &name.0, written)?)
    };
}

fn open(
    py: Python<'_>,
    object: UntypedArg<'_>,
    name: &str,
    options: &FileOptions<'_>,
) -> CallResult<PyDocument> {
    let mode = match options.text("mmap")?.as_deref() {
        None => MapMode::Never,
        Some("r") => MapMode::ReadOnly,
        Some("c") => MapMode::CopyOnWrite,
        Some("r+") => MapMode::Shared,
        Some(other) => return Err(argument("mmap", other, "True, False, 'r', 'c' or 'r+'")),
    };
    let source = source(object.0, mode)?;
    let dtype =
        options.get("dtype")?.map(|dtype| DType::from_arg(dtype.as_borrowed(), "dtype")).transpose()?;
    let options = ReadOptions { format: options.format()?, dtype, encoding: options.encoding()? };
    let (format, document): (Format, Document) = detach(py, || io::open(source, &options))?;
    Ok(PyDocument::new(document, format, name.into()))
}

fn write(
    py: Python<'_>,
    target: UntypedArg<'_>,
    content: UntypedArg<'_>,
    options: &FileOptions<'_>,
) -> CallResult<u64> {
    let format = options.format()?.unwrap_or(Format::Safetensors);
    let hints = options.encoding()?;
    let default = Encoding::default();
    let encoding = Encoding {
        ascii: hints.ascii.unwrap_or(default.ascii),
        long_size: hints.long_size.unwrap_or(default.long_size),
        order: hints.order.unwrap_or(default.order),
    };
    let mut builder = DocumentBuilder::new(options.get("unwrap")?.map(Bound::unbind));
    builder.document.root = builder.add(&new_ref(content.0))?;
    builder.document.metadata =
        options.get("metadata")?.map_or(Ok(vec![]), |metadata| read_metadata(&metadata))?;
    let write = WriteOptions { compress: options.flag("compress")?, encoding };
    let progress = options.get("progress")?.map(Bound::unbind);
    let sync = options.flag("fsync")?;
    write_to(py, target, progress, sync, |output| io::write(&builder.document, format, &write, output))
}

/// The keyword arguments of a function of `strided.files`.
struct FileOptions<'py>(Bound<'py, PyDict>);

impl<'py> FileOptions<'py> {
    fn new(object: Arg<'py>) -> CallResult<FileOptions<'py>> {
        Ok(FileOptions(object.cast::<PyDict>().map_err(PyErr::from)?.to_owned()))
    }

    /// An option that was given, and is not None.
    fn get(&self, name: &str) -> CallResult<Option<Value<'py>>> {
        Ok(self.0.get_item(name)?.filter(|value| !value.is_none()))
    }

    fn text(&self, name: &'static str) -> CallResult<Option<String>> {
        let text =
            self.get(name)?.map(|value| TextArg::from_arg(value.as_borrowed(), name).map(|text| text.0));
        text.transpose()
    }

    fn flag(&self, name: &'static str) -> CallResult<bool> {
        self.get(name)?.map_or(Ok(false), |value| bool::from_arg(value.as_borrowed(), name))
    }

    fn format(&self) -> CallResult<Option<Format>> {
        self.text("format")?.map(|name| format_of(&name)).transpose()
    }

    /// What is known of the encoding of a .t7 file.
    fn encoding(&self) -> CallResult<EncodingHints> {
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
            Some(other) => return Err(Error::argument("", "long_size", other, "4 or 8").into()),
        };
        let order = self.text("byte_order")?.map(|order| order_of(&order)).transpose()?;
        Ok(EncodingHints { ascii, long_size, order })
    }
}

/// Writes a file, which takes its place when `write` has succeeded. Returns its length.
fn write_to(
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

fn argument(name: &'static str, got: &str, wanted: &'static str) -> Fail {
    Fail::Core(Error::argument("", name, format!("'{got}'"), wanted))
}

fn to_u64(name: &'static str, number: isize) -> CallResult<u64> {
    u64::try_from(number).map_err(|_| Error::argument("", name, number, "0 or more").into())
}

fn format_of(name: &str) -> CallResult<Format> {
    Format::from_name(name)
        .ok_or_else(|| argument("format", name, "'npy', 'npz', 'safetensors', 't7' or 'pt'"))
}

fn order_of(name: &str) -> CallResult<ByteOrder> {
    match name {
        "native" => Ok(ByteOrder::NATIVE),
        "little" => Ok(ByteOrder::Little),
        "big" => Ok(ByteOrder::Big),
        other => Err(argument("byte order", other, "'native', 'little' or 'big'")),
    }
}
