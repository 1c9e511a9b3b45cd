//! Storages on mapped files and in shared memory, as Python asks for them.

use crate::abi::Object;
use crate::abi::detach::{detached, waiting};
use crate::abi::errors::{Fail, Result};
use crate::abi::refs::bound;
use crate::abi::storage_object::{Run, read};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use strided_core::storage::mmap::{Map, MapKind, MapOptions};
use strided_core::{DType, Error, Layout, Problem, Storage};

/// How a file is asked for.
pub struct Wanted {
    pub size: isize,
    pub offset: isize,
    pub shared: bool,
    pub readonly: bool,
    pub create: bool,
    pub grow: bool,
}

/// Elements of a file as memory.
pub fn from_file(py: Python<'_>, filename: Object, dtype: DType, wanted: Wanted) -> Result<Run> {
    let Wanted { size, offset, shared, readonly, create, grow } = wanted;
    // Takes what `open` takes: a str, bytes, or anything with a path.
    let path: OsString = py.import("os")?.call_method1("fsdecode", (bound(py, filename),))?.extract()?;
    let size = Layout::row_major(&[size])?.size();
    let Ok(offset) = usize::try_from(offset) else {
        return Err(Error::argument("", "offset", offset, "0 or more").into());
    };
    let options = MapOptions { shared, readonly, create, grow, offset };
    let path = PathBuf::from(path);
    if shared {
        prepare(py)?;
    }
    let bytes = detached(py, || Storage::from_file(&path, dtype, size, options))?;
    Ok(Run { bytes, dtype })
}

/// Tells multiprocessing how to send shared memory, before there is any.
fn prepare(py: Python<'_>) -> Result<()> {
    py.import("strided._processes")?;
    Ok(())
}

/// Moves the bytes of a storage to memory that processes share.
pub fn share(py: Python<'_>, storage: &Storage) -> Result<()> {
    prepare(py)?;
    // Waits for operations of other threads, which may need the interpreter to come to their end.
    let storage = storage.clone();
    Ok(waiting(py, move || storage.share())?)
}

/// Writes what has changed to the file.
pub fn flush(py: Python<'_>, storage: &Storage) -> Result<()> {
    match storage.map() {
        Some((map, _)) if matches!(map.kind, MapKind::File { .. }) => Ok(detached(py, move || map.flush())?),
        _ => Err(Error::new("flush", Problem::NoFile).into()),
    }
}

/// The path of the file that a storage lies in.
pub fn filename(storage: &Storage) -> Option<OsString> {
    match &storage.map()?.0.kind {
        MapKind::File { path, .. } => Some(path.into()),
        MapKind::Anonymous(_) => None,
    }
}

/// What another process needs to find the memory of a shared storage: a file's path, offset, whether it is
/// read-only, and which file it is; or a descriptor, a position, and which memory it is.
pub fn handle<'py>(py: Python<'py>, storage: Object) -> Result<Bound<'py, PyTuple>> {
    let (map, at) = map_of(py, storage)?;
    Ok(match &map.kind {
        MapKind::File { path, offset, readonly, .. } => {
            (path.as_os_str(), *offset, *readonly, map.identity()).into_pyobject(py)?
        }
        MapKind::Anonymous(file) => (descriptor_of(file), at, map.identity()).into_pyobject(py)?,
    })
}

/// A storage on all the shared memory that is meant, if it is mapped here.
pub fn known(py: Python<'_>, identity: Object) -> Result<Option<Run>> {
    let Some(map) = Map::find(bound(py, identity).extract()?) else { return Ok(None) };
    let length = map.length();
    Ok(Some(Run { bytes: Storage::mapped(map, 0, length)?, dtype: DType::U8 }))
}

/// A part of the shared memory in which another storage lies.
pub fn part(py: Python<'_>, storage: Object, at: isize, length: isize) -> Result<Run> {
    let (Ok(at), Ok(length)) = (usize::try_from(at), usize::try_from(length)) else {
        return Err(Fail::Value(format!("{length} bytes at {at} are no part of shared memory")));
    };
    Ok(Run { bytes: Storage::mapped(map_of(py, storage)?.0, at, length)?, dtype: DType::U8 })
}

fn map_of(py: Python<'_>, storage: Object) -> Result<(Arc<Map>, usize)> {
    let map = read(py, storage).and_then(|run| run.bytes.map()).filter(|(map, _)| map.is_shared());
    map.ok_or_else(|| Fail::Value("the storage is not in shared memory".into()))
}

#[cfg(unix)]
fn descriptor_of(file: &std::fs::File) -> i32 {
    std::os::fd::AsRawFd::as_raw_fd(file)
}

#[cfg(not(unix))]
fn descriptor_of(_: &std::fs::File) -> i32 {
    -1 // there is no nameless memory here
}

/// A storage on all of the memory behind a descriptor, which stays the caller's.
#[cfg(unix)]
pub fn attach(descriptor: isize) -> Result<Run> {
    let Ok(number @ 0..) = i32::try_from(descriptor) else {
        return Err(Fail::Value(format!("{descriptor} is no file descriptor")));
    };
    // SAFETY: only borrowed for the call; the system refuses a number that is not open.
    let descriptor = unsafe { std::os::fd::BorrowedFd::borrow_raw(number) };
    Ok(Run { bytes: Storage::from_descriptor(descriptor)?, dtype: DType::U8 })
}

#[cfg(not(unix))]
pub fn attach(_: isize) -> Result<Run> {
    Err(Fail::Value("this system has no memory that is passed by descriptor".into()))
}
