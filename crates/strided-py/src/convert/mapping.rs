//! Storages on mapped files and in shared memory.

use crate::abi::Arg;
use crate::abi::detach::{detach, detach_to_wait};
use crate::abi::errors::{CallResult, Fail};
use crate::abi::late;
use crate::abi::storage_object::{TypedStorage, read_storage};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use strided_core::storage::mmap::{Map, MapKind, MapOptions};
use strided_core::{DType, Error, Layout, Problem, Storage};

/// The arguments of `from_file`.
pub struct FileRequest {
    /// In elements; 0 means all that the file has.
    pub size: isize,
    /// In bytes.
    pub offset: isize,
    pub shared: bool,
    pub readonly: bool,
    pub create: bool,
    pub grow: bool,
}

/// A storage on a mapped file.
pub fn from_file(filename: Arg<'_>, dtype: DType, request: FileRequest) -> CallResult<TypedStorage> {
    let FileRequest { size, offset, shared, readonly, create, grow } = request;
    let py = filename.py();
    // `fsdecode` takes what `open` takes: a str, bytes, or an object with a path.
    let path: OsString = py.import("os")?.call_method1("fsdecode", (filename,))?.extract()?;
    let size = Layout::row_major(&[size])?.size();
    let Ok(offset) = usize::try_from(offset) else {
        return Err(Error::argument("offset", offset, "0 or more").into());
    };
    let options = MapOptions { shared, readonly, create, grow, offset };
    let path = PathBuf::from(path);
    if shared {
        register_senders(py)?;
    }
    let bytes = detach(py, || Storage::from_file(&path, dtype, size, options))?;
    Ok(TypedStorage { bytes, dtype })
}

/// Registers the senders of shared memory with multiprocessing, before there is any.
fn register_senders(py: Python<'_>) -> CallResult<()> {
    late::import(py, "strided._processes")?;
    Ok(())
}

/// Moves the bytes of a storage to shared memory.
pub fn share(py: Python<'_>, storage: &Storage) -> CallResult<()> {
    register_senders(py)?;
    // Waits for operations of other threads, which may need the interpreter to finish.
    let storage = storage.clone();
    Ok(detach_to_wait(py, move || storage.share())?)
}

/// Writes changed pages to the file, and waits until they are on the disk.
pub fn flush(py: Python<'_>, storage: &Storage) -> CallResult<()> {
    match storage.map() {
        Some((map, _)) if matches!(map.kind, MapKind::File { .. }) => Ok(detach(py, move || map.flush())?),
        _ => Err(Error::new(Problem::NoFile).into()),
    }
}

/// The path of the file that a storage maps.
pub fn filename(storage: &Storage) -> Option<OsString> {
    match &storage.map()?.0.kind {
        MapKind::File { path, .. } => Some(path.into()),
        MapKind::Anonymous(_) => None,
    }
}

/// A tuple by which another process finds the memory of a shared storage: the path, offset, read-only flag and identity of
/// a file; or the descriptor, position and identity of shared memory.
pub fn handle(storage: Arg<'_>) -> CallResult<Bound<'_, PyTuple>> {
    let (py, (map, at)) = (storage.py(), map_of(storage)?);
    Ok(match &map.kind {
        MapKind::File { path, offset, readonly, .. } => {
            (path.as_os_str(), *offset, *readonly, map.identity()).into_pyobject(py)?
        }
        MapKind::Anonymous(file) => (descriptor_of(file), at, map.identity()).into_pyobject(py)?,
    })
}

/// A storage on the whole of some shared memory, if this process has mapped it.
pub fn find_mapped(identity: Arg<'_>) -> CallResult<Option<TypedStorage>> {
    let Some(map) = Map::find(identity.extract()?) else { return Ok(None) };
    let length = map.length();
    Ok(Some(TypedStorage { bytes: Storage::mapped(map, 0, length)?, dtype: DType::U8 }))
}

/// A storage on a part of the shared memory of another storage.
pub fn part(storage: Arg<'_>, at: isize, length: isize) -> CallResult<TypedStorage> {
    let (Ok(at), Ok(length)) = (usize::try_from(at), usize::try_from(length)) else {
        return Err(Fail::Value(format!("{length} bytes at {at} are no part of shared memory")));
    };
    Ok(TypedStorage { bytes: Storage::mapped(map_of(storage)?.0, at, length)?, dtype: DType::U8 })
}

/// The shared map of a storage, and the position of its first byte there.
fn map_of(storage: Arg<'_>) -> CallResult<(Arc<Map>, usize)> {
    let map =
        read_storage(storage).and_then(|storage| storage.bytes.map()).filter(|(map, _)| map.is_shared());
    map.ok_or_else(|| Fail::Value("the storage is not in shared memory".into()))
}

#[cfg(unix)]
fn descriptor_of(file: &std::fs::File) -> i32 {
    std::os::fd::AsRawFd::as_raw_fd(file)
}

#[cfg(not(unix))]
fn descriptor_of(_: &std::fs::File) -> i32 {
    -1 // this system has no anonymous shared memory
}

/// A storage on the whole memory of a file descriptor, which the caller keeps.
#[cfg(unix)]
pub fn attach(descriptor: isize) -> CallResult<TypedStorage> {
    let Ok(number @ 0..) = i32::try_from(descriptor) else {
        return Err(Fail::Value(format!("{descriptor} is no file descriptor")));
    };
    // SAFETY: the number is not -1, and borrowed for this call only; the system refuses one that is not open.
    let descriptor = unsafe { std::os::fd::BorrowedFd::borrow_raw(number) };
    Ok(TypedStorage { bytes: Storage::from_descriptor(descriptor)?, dtype: DType::U8 })
}

#[cfg(not(unix))]
pub fn attach(_: isize) -> CallResult<TypedStorage> {
    Err(Fail::Value("this system has no memory that is passed by descriptor".into()))
}
