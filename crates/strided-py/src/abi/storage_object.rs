//! The Storage object and its identity: one Python object per storage and dtype while anything refers to it, so that
//! `x.storage() is x.storage()`. Its methods are rows of `api/storage.rs`.
//!
//! The table of objects holds weak references. It is locked only while no Python code can run: making an object, or a weak
//! reference, may start a garbage collection, whose finalizers may use this table.

use super::errors::CallResult;
use super::{Arg, Value};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use strided_core::{DType, Storage, Tensor};

/// A storage, which is bytes, and the dtype of its elements.
#[derive(Clone)]
pub struct TypedStorage {
    pub bytes: Storage,
    pub dtype: DType,
}

impl TypedStorage {
    /// The elements as a tensor of one dim.
    pub fn to_tensor(&self) -> CallResult<Tensor> {
        Ok(Tensor::from_whole_storage(self.bytes.clone(), self.dtype)?)
    }

    /// The number of elements.
    pub fn length(&self) -> CallResult<usize> {
        Ok(self.bytes.valid_length()? / self.dtype.size())
    }
}

/// The storage of a Python object, if it is one.
pub fn read_storage(object: Arg<'_>) -> Option<TypedStorage> {
    object.cast::<PyStorage>().ok().map(|storage| storage.get().typed.clone())
}

/// A flat sequence of numbers of one dtype: the memory of tensors.
///
/// `Storage(5)` holds five zeros, `Storage(numbers)` those numbers, `Storage(storage)` and `Storage(tensor)`
/// a converted copy. `Storage(buffer)` shares the buffer's memory if that is contiguous and of the same
/// dtype, and is a converted copy otherwise. `Storage` has the default dtype; `FloatStorage`, `LongStorage` …
/// have their own.
///
/// A slice of a storage is a new storage with a copy of the elements. Assigning to a slice writes to the
/// storage itself. For a part that shares memory, slice a tensor on it: `FloatTensor(s)[2:4]`.
///
/// >>> s = strided.LongStorage([4, 5, 6, 2])
/// >>> s[1:3] = [50, 60]
/// >>> s
///   4
///  50
///  60
///   2
/// [strided.LongStorage of size 4]
/// >>> strided.LongTensor(s).storage() is s
/// True
#[pyclass(name = "Storage", module = "strided", frozen, subclass, weakref, sequence)]
pub struct PyStorage {
    pub typed: TypedStorage,
    serial: u64,
}

impl Drop for PyStorage {
    fn drop(&mut self) {
        forget(&self.typed, self.serial);
    }
}

/// The id of the storage, and the dtype. An id is not used again while an object holds the storage.
type StorageKey = (usize, DType);

struct KnownObject {
    /// Identifies the object. Between the end of an object's weak references and its `Drop`, another object of the same
    /// storage may have been entered.
    serial: u64,
    object: Py<PyWeakrefReference>,
}

fn table() -> MutexGuard<'static, HashMap<StorageKey, KnownObject>> {
    static TABLE: LazyLock<Mutex<HashMap<StorageKey, KnownObject>>> = LazyLock::new(Mutex::default);
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn key(typed: &TypedStorage) -> StorageKey {
    (typed.bytes.id(), typed.dtype)
}

/// The Python object of a storage: the one that exists, or a new one.
pub fn storage_object(py: Python<'_>, typed: TypedStorage) -> PyResult<Value<'_>> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let key = key(&typed);
    if let Some(found) = find_live(py, &table(), key) {
        return Ok(found);
    }
    let serial = NEXT.fetch_add(1, Relaxed);
    let new = Bound::new(py, PyStorage { typed, serial })?.into_any();
    let entry = KnownObject { serial, object: PyWeakrefReference::new(&new)?.unbind() };
    let mut table = table();
    table.try_reserve(1).map_err(|_| PyMemoryError::new_err("no memory for the table of storages"))?;
    // Making the object may have run code that made one of the same storage: the first one stays.
    let (object, replaced) = match find_live(py, &table, key) {
        Some(found) => (found, Some(entry)),
        None => (new, table.insert(key, entry)),
    };
    drop(table);
    drop(replaced.map(|entry| entry.object.into_bound(py)));
    Ok(object)
}

/// The object in the table, unless it is gone or being finalized.
fn find_live<'py>(
    py: Python<'py>,
    table: &HashMap<StorageKey, KnownObject>,
    key: StorageKey,
) -> Option<Value<'py>> {
    table.get(&key)?.object.bind(py).upgrade()
}

/// Removes an object that ends from the table, unless another one has been entered since.
fn forget(typed: &TypedStorage, serial: u64) {
    let mut table = table();
    let is_entered = table.get(&key(typed)).is_some_and(|entry| entry.serial == serial);
    let entry = if is_entered { table.remove(&key(typed)) } else { None };
    drop(table);
    drop(entry);
}
