//! Objects of .t7 files one after the other, as Torch7's files read and write them: an object that occurs again, also in a
//! later call, is referred to by its number.

use super::document::named;
use crate::abi::errors::{CallResult, Fail};
use crate::convert::documents::{Hooks, MadeObjects, ObjectMaker};
use crate::convert::objects::DocumentBuilder;
use crate::convert::streams::source;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, MutexGuard, PoisonError};
use strided_core::Error;
use strided_core::io::t7::{Encoding, ObjectReader, ObjectWriter};
use strided_core::io::{Budget, default_limit};
use strided_core::io::{ByteOrder, ByteTarget, FileOutput, Loader, MapMode};

/// Reads objects of a file or a buffer.
#[pyclass(name = "_T7Reader", module = "strided", frozen)]
pub struct T7Reader {
    state: Mutex<ReaderState>,
}

struct ReaderState {
    reader: ObjectReader,
    made: MadeObjects,
}

/// Writes objects.
#[pyclass(name = "_T7Writer", module = "strided", frozen)]
pub struct T7Writer {
    state: Mutex<WriterState>,
}

struct WriterState {
    writer: ObjectWriter,
    builder: DocumentBuilder,
}

/// The signatures of the methods.
pub const READER_SIGNATURES: &[(&str, &[&str])] = &[
    ("__new__", &["(source: Any, /) -> Self"]),
    (
        "read",
        &[
            "(position: int, encoding: str, long_size: int, byte_order: str, referenced: bool, hooks: Any) -> tuple[Any, int]",
        ],
    ),
];
pub const WRITER_SIGNATURES: &[(&str, &[&str])] = &[
    ("__new__", &["(unwrap: Callable[[Any], Any] | None = None) -> Self"]),
    ("write", &["(obj: Any, encoding: str, long_size: int, byte_order: str, referenced: bool) -> bytes"]),
];

fn locked<T>(mutex: &Mutex<T>) -> CallResult<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Ok(guard),
        Err(std::sync::TryLockError::Poisoned(poisoned)) => Ok(PoisonError::into_inner(poisoned)),
        Err(std::sync::TryLockError::WouldBlock) => {
            Err(Fail::Value("the file is in use by another call".into()))
        }
    }
}

/// The encoding that Torch7's files were set to.
fn encoding_of(encoding: &str, long_size: usize, byte_order: &str) -> CallResult<Encoding> {
    let ascii = match encoding {
        "ascii" => true,
        "binary" => false,
        other => return Err(Fail::Value(format!("encoding is '{other}', wanted 'binary' or 'ascii'"))),
    };
    if !matches!(long_size, 4 | 8) {
        return Err(Error::argument("long_size", long_size, "4 or 8").into());
    }
    let order = if byte_order == "big" { ByteOrder::Big } else { ByteOrder::Little };
    Ok(Encoding { ascii, long_size, order })
}

#[pymethods]
impl T7Reader {
    #[new]
    #[pyo3(signature = (source_, /))]
    fn new(py: Python<'_>, source_: Bound<'_, PyAny>) -> PyResult<T7Reader> {
        crate::abi::errors::named(py, "readObject", || {
            let source = source(source_.as_borrowed(), MapMode::Never)?;
            let reader = ObjectReader::new(source, Encoding::default(), true, Budget::new(default_limit()));
            Ok(T7Reader { state: Mutex::new(ReaderState { reader, made: vec![] }) })
        })
    }

    /// Reads the object at a position. Returns it and the position after it.
    fn read<'py>(
        &self,
        py: Python<'py>,
        position: u64,
        encoding: &str,
        long_size: usize,
        byte_order: &str,
        referenced: bool,
        hooks: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, u64)> {
        crate::abi::errors::named(py, "readObject", || {
            let mut state = locked(&self.state)?;
            let ReaderState { reader, made } = &mut *state;
            reader.set_encoding(encoding_of(encoding, long_size, byte_order)?, referenced);
            let (root, end) = named(py, "readObject", "", reader.read_object(position).map_err(Fail::from))?;
            let document = reader.document();
            let hooks = Hooks::new(py, hooks.as_ref())?;
            let loader = Loader::new(document, true, None);
            let mut maker = ObjectMaker::new(py, document, loader, hooks, std::mem::take(made))?;
            let object = maker.make(root);
            *made = maker.into_made();
            Ok((named(py, "readObject", "", object)?, end))
        })
    }
}

#[pymethods]
impl T7Writer {
    #[new]
    #[pyo3(signature = (unwrap = None))]
    fn new(unwrap: Option<Py<PyAny>>) -> T7Writer {
        let writer = ObjectWriter::new(Encoding::default(), true);
        T7Writer { state: Mutex::new(WriterState { writer, builder: DocumentBuilder::new(unwrap) }) }
    }

    /// The bytes of an object, which are to be appended to the file.
    fn write<'py>(
        &self,
        py: Python<'py>,
        obj: Bound<'py, PyAny>,
        encoding: &str,
        long_size: usize,
        byte_order: &str,
        referenced: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        crate::abi::errors::named(py, "writeObject", || {
            let mut state = locked(&self.state)?;
            let WriterState { writer, builder } = &mut *state;
            writer.encoding = encoding_of(encoding, long_size, byte_order)?;
            writer.referenced = referenced;
            let mut bytes = Collected(Vec::new());
            let mut output = FileOutput::new(&mut bytes);
            // An object that is written again in full may have changed since.
            let mut fresh = (!referenced).then(|| builder.fresh(py));
            let builder = fresh.as_mut().unwrap_or(builder);
            let root = builder.add(&obj)?;
            let written = writer.write_object(&builder.document, root, &mut output);
            let written = written.and_then(|()| output.finish()).map_err(Fail::from);
            named(py, "writeObject", "", written)?;
            Ok(PyBytes::new(py, &bytes.0))
        })
    }
}

/// Bytes in memory.
struct Collected(Vec<u8>);

impl ByteTarget for Collected {
    fn write(&mut self, bytes: &[u8]) -> strided_core::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}
