//! Where bytes of files come from and go to: paths, buffers, and Python's file objects.

use super::buffer::{from_bytes, has_buffer};
use crate::abi::Arg;
use crate::abi::errors::{CallResult, Fail, type_name};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use std::path::PathBuf;
use std::sync::Arc;
use strided_core::error::{Error, Problem, Result};
use strided_core::io::{ByteSource, ByteTarget, FileSource, MapMode, NewFile, refusal};
use strided_core::{DType, Storage};

/// Bytes of a call of a file object.
const CALL_BYTES: usize = 1 << 24;

/// The source that an object stands for: a path, a buffer, or a tuple of a file object, a start and a length
/// (or None).
pub fn source(object: Arg<'_>, mode: MapMode) -> CallResult<Arc<dyn ByteSource>> {
    if object.is_instance_of::<PyString>() {
        let path: PathBuf = object.extract()?;
        return Ok(Arc::new(FileSource::open(&path, mode)?));
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        let (file, start, length) = tuple.extract()?;
        return Ok(Arc::new(FileObject { file, start, length }));
    }
    if has_buffer(object) {
        return Ok(Arc::new(from_bytes(object, DType::U8, -1, 0)?.storage().clone()) as Arc<Storage>);
    }
    Err(Fail::Type(format!("f is {}, wanted a path, a file object or bytes", type_name(object))))
}

/// A file object of Python that can be read from any position.
struct FileObject {
    file: Py<PyAny>,
    /// The position in the file that is 0 here.
    start: u64,
    /// `None` if the file may grow, so that it is asked each time.
    length: Option<u64>,
}

impl ByteSource for FileObject {
    fn length(&self) -> u64 {
        self.length.unwrap_or_else(|| {
            let ask = |py: Python<'_>| self.file.bind(py).call_method1("seek", (0, 2))?.extract::<u64>();
            // If the length of a file is not known, 0 stands for it; every read then fails.
            Python::try_attach(ask).and_then(PyResult::ok).unwrap_or(0).saturating_sub(self.start)
        })
    }

    fn read_at(&self, position: u64, into: &mut [u8]) -> Result<()> {
        call(|py| {
            let file = self.file.bind(py);
            file.call_method1("seek", (self.start + position,))?;
            let mut done = 0;
            while done < into.len() {
                let read = file.call_method1("read", (CALL_BYTES.min(into.len() - done),))?;
                let piece = read.cast::<PyBytes>()?.as_bytes();
                if piece.is_empty() || piece.len() > into.len() - done {
                    let class = py.get_type::<pyo3::exceptions::PyEOFError>();
                    return Err(PyErr::from_value(
                        class.call1(("the file has become shorter while it was read",))?,
                    ));
                }
                into[done..done + piece.len()].copy_from_slice(piece);
                done += piece.len();
            }
            Ok(())
        })
    }
}

/// Runs Python code in the middle of work of the engine. An exception stays set, and is what the whole call raises.
pub fn call<R>(body: impl FnOnce(Python<'_>) -> PyResult<R>) -> Result<R> {
    let attached = Python::try_attach(|py| {
        body(py).map_err(|error| {
            error.restore(py);
            Error::new(Problem::Interrupted)
        })
    });
    attached.unwrap_or_else(|| Err(refusal("Python is shutting down")))
}

/// A file that is being written, and the function that progress is reported to.
pub struct Progress<T> {
    pub target: T,
    pub callback: Option<Py<PyAny>>,
}

impl<T: ByteTarget> ByteTarget for Progress<T> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.target.write(bytes)
    }

    fn is_system_call(&self) -> bool {
        self.target.is_system_call()
    }

    fn progress(&mut self, written: u64) -> Result<()> {
        match &self.callback {
            Some(callback) => call(|py| callback.call1(py, (written,)).map(drop)),
            // An interrupt ends the writing.
            None => call(|py| py.check_signals()),
        }
    }
}

/// Where the bytes of a new file go.
pub enum NewTarget {
    Path(NewFile),
    Object(Py<PyAny>),
}

impl NewTarget {
    /// The target that an object stands for: a path, or a file object.
    pub fn new(object: Arg<'_>) -> CallResult<NewTarget> {
        if object.is_instance_of::<PyString>() {
            let path: PathBuf = object.extract()?;
            return Ok(NewTarget::Path(NewFile::create(&path)?));
        }
        if object.hasattr("write")? {
            return Ok(NewTarget::Object(object.to_owned().unbind()));
        }
        Err(Fail::Type(format!("f is {}, wanted a path or a file object", type_name(object))))
    }

    /// Completes the file.
    pub fn commit(self, sync: bool) -> Result<()> {
        match self {
            NewTarget::Path(file) => file.commit(sync),
            NewTarget::Object(_) => Ok(()),
        }
    }
}

impl ByteTarget for NewTarget {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            NewTarget::Path(file) => file.write(bytes),
            NewTarget::Object(object) if !bytes.is_empty() => call(|py| {
                let file = object.bind(py);
                for piece in bytes.chunks(CALL_BYTES) {
                    let mut rest = piece;
                    // A raw file may write less than it is given, and says how much.
                    while !rest.is_empty() {
                        let written = file.call_method1("write", (PyBytes::new(py, rest),))?;
                        // A signal may end a write early; the next one would wait without looking at it.
                        py.check_signals()?;
                        let count = written.extract::<usize>().unwrap_or(rest.len());
                        rest = &rest[count.min(rest.len())..];
                        if count == 0 {
                            return Err(pyo3::exceptions::PyBlockingIOError::new_err(
                                "the file takes no more bytes",
                            ));
                        }
                    }
                }
                Ok(())
            }),
            NewTarget::Object(_) => Ok(()),
        }
    }

    fn is_system_call(&self) -> bool {
        matches!(self, NewTarget::Path(_))
    }
}
