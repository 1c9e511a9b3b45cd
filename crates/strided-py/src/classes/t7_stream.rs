//! Objects of .t7 files one after the other, as Torch7's files read and write them: an object that occurs again, also in a
//! later call, is referred to by its number. The methods are rows of `api/t7_stream.rs`.

use crate::abi::errors::{CallResult, Fail, guard_pyo3};
use crate::convert::documents::MadeObjects;
use crate::convert::objects::DocumentBuilder;
use crate::convert::streams;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};
use strided_core::io::t7::{Encoding, ObjectReader, ObjectWriter};
use strided_core::io::{Budget, MapMode, default_limit};

/// Reads objects of a file or a buffer.
#[pyclass(name = "_T7Reader", module = "strided", frozen)]
pub struct T7Reader(Mutex<ReaderState>);

pub struct ReaderState {
    pub reader: ObjectReader,
    pub made: MadeObjects,
}

/// Writes objects.
#[pyclass(name = "_T7Writer", module = "strided", frozen)]
pub struct T7Writer(Mutex<WriterState>);

pub struct WriterState {
    pub writer: ObjectWriter,
    pub builder: DocumentBuilder,
}

fn try_lock_state<T>(mutex: &Mutex<T>) -> CallResult<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Ok(guard),
        Err(std::sync::TryLockError::Poisoned(poisoned)) => Ok(PoisonError::into_inner(poisoned)),
        Err(std::sync::TryLockError::WouldBlock) => {
            Err(Fail::Value("the file is in use by another call".into()))
        }
    }
}

#[pymethods]
impl T7Reader {
    #[new]
    #[pyo3(signature = (source, /))]
    fn new(py: Python<'_>, source: Bound<'_, PyAny>) -> PyResult<T7Reader> {
        guard_pyo3(py, "readObject", || {
            let source = streams::source(source.as_borrowed(), MapMode::Never)?;
            let reader = ObjectReader::new(source, Encoding::default(), true, Budget::new(default_limit()));
            Ok(T7Reader(Mutex::new(ReaderState { reader, made: vec![] })))
        })
    }
}

impl T7Reader {
    pub fn state(&self) -> CallResult<MutexGuard<'_, ReaderState>> {
        try_lock_state(&self.0)
    }
}

#[pymethods]
impl T7Writer {
    #[new]
    #[pyo3(signature = (unwrap = None))]
    fn new(unwrap: Option<Py<PyAny>>) -> T7Writer {
        let writer = ObjectWriter::new(Encoding::default(), true);
        T7Writer(Mutex::new(WriterState { writer, builder: DocumentBuilder::new(unwrap) }))
    }
}

impl T7Writer {
    pub fn state(&self) -> CallResult<MutexGuard<'_, WriterState>> {
        try_lock_state(&self.0)
    }
}
