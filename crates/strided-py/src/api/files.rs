//! Files: the native part of `strided.files`, and raw binary.

use crate::abi::detach::detach;
use crate::abi::errors::CallResult;
use crate::abi::refs::{call_python, new_ref, to_py};
use crate::abi::tensor_object::wrap;
use crate::classes::document::{PyDocument, add_names};
use crate::convert::args::{FromArg, Ints, TensorArg, UntypedArg};
use crate::convert::file_options::{FileOptions, argument, order_of, write_document, write_to};
use crate::convert::objects::DocumentBuilder;
use crate::convert::streams::source;
use crate::convert::tensors::TextArg;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use strided_core::io::{
    self, Capacity, FORMATS, FormatRow, MapMode, RawRequest, ReadOptions, read_raw, write_raw,
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

    /// The native part of `strided.files.open`. `options` are the keyword arguments of `open`; None means not given.
    function _file_open(op: TextArg, source_: UntypedArg, name: TextArg, options: UntypedArg) -> "_Document" => {
        let opened = FileOptions::new(options.0).and_then(|options| open(py, source_, &name.0, &options));
        to_py(py, add_names(py, &op.0, &name.0, opened)?)
    };

    /// The native part of `strided.files.write` and `strided.save`. `options` are their keyword arguments; None means not given.
    /// Returns the length of the file, and its entries for tensors that overlap: their names, and those of the tensors.
    function _file_write(op: TextArg, target: UntypedArg, name: TextArg, content: UntypedArg, options: UntypedArg) -> "tuple[int, list[tuple[str, list[str]]]]" => {
        let written = (|| {
            let options = FileOptions::new(options.0)?;
            let mut builder = DocumentBuilder::new(options.get("unwrap")?.map(Bound::unbind));
            builder.document.root = builder.add(&new_ref(content.0))?;
            write_document(py, target, builder.document, &options)
        })();
        to_py(py, add_names(py, &op.0, &name.0, written)?)
    };

    /// The formats: their names, the suffixes of their files, the arguments of `save` that are for them, and whether they hold one
    /// tensor and nothing else.
    function _file_formats() -> "list[tuple[str, list[str], list[str], bool]]" => {
        let row = |format: &'static FormatRow| {
            let holds_one = format.writer().is_ok_and(|writer| writer.capacity == Capacity::OneTensor);
            (format.name, format.suffixes, format.options, holds_one)
        };
        to_py(py, FORMATS.iter().map(row).collect::<Vec<_>>())
    };

    /// The native part of `strided.fromfile`.
    function _raw_read(source_: UntypedArg, name: TextArg, dtype: DType, count: Option<isize>, offset: isize, byte_order: TextArg) => {
        let read = (|| {
            let source = source(source_.0, MapMode::Never)?;
            let count = count.map(|count| to_u64("count", count)).transpose()?;
            let (offset, order) = (to_u64("offset", offset)?, order_of(&byte_order.0)?);
            Ok(detach(py, || read_raw(&*source, &RawRequest { dtype, count, offset, order }))?)
        })();
        wrap(py, add_names(py, "fromfile", &name.0, read)?)
    };

    /// The limit of what a file may take in memory without `max_bytes`: half of the memory there is.
    function _default_max_bytes() -> "int" => to_py(py, io::default_limit());

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
        to_py(py, add_names(py, "tofile", &name.0, written)?)
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
    let max_bytes = options.get("max_bytes")?.map(|most| isize::from_arg(most.as_borrowed(), "max_bytes"));
    let max_bytes = max_bytes.transpose()?.map(|most| to_u64("max_bytes", most)).transpose()?;
    let (format, encoding) = (options.format()?, options.encoding()?);
    let options = ReadOptions { dtype, encoding, max_bytes };
    let (format, document) = detach(py, || io::open(source, format, &options))?;
    Ok(PyDocument::new(document, format, name.into()))
}

fn to_u64(name: &'static str, number: isize) -> CallResult<u64> {
    u64::try_from(number).map_err(|_| Error::argument(name, number, "0 or more").into())
}
