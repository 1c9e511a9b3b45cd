//! The Storage object, and its identity: one Python object per storage and dtype, for as long as anybody holds it, so
//! that `x.storage() is x.storage()`. The methods of the class are in `classes/storage.rs`.
//!
//! The table of objects holds weak references. It is locked for moments in which no Python code can run: making an
//! object, or a weak reference, may collect garbage and so come back here.

use super::Object;
use super::errors::Result;
use super::refs::bound;
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use strided_core::{DType, Storage, Tensor};

/// Bytes, and what their elements are.
#[derive(Clone)]
pub struct Run {
    pub bytes: Storage,
    pub dtype: DType,
}

impl Run {
    /// The elements as a tensor of one dim.
    pub fn whole(&self) -> Result<Tensor> {
        Ok(Tensor::from_whole_storage(self.bytes.clone(), self.dtype)?)
    }

    pub fn length(&self) -> usize {
        self.bytes.length() / self.dtype.size()
    }
}

/// The storage of a Python object, if it is one.
pub fn read(py: Python<'_>, object: Object) -> Option<Run> {
    bound(py, object).cast::<PyStorage>().ok().map(|storage| storage.get().run.clone())
}

/// A flat run of numbers of one dtype: the memory that tensors look at.
///
/// `Storage(5)` holds five zeros, `Storage(numbers)` those numbers, `Storage(storage)` and `Storage(tensor)`
/// a converted copy. `Storage(buffer)` lies on the buffer's own memory if that is contiguous and of the same
/// dtype, and is a converted copy otherwise. `Storage` has the default dtype; `FloatStorage`, `LongStorage` …
/// have their own.
///
/// A slice of a storage is a new storage with a copy of the elements. Assigning to a slice writes to the
/// storage itself. For a part that shares memory, look at it with a tensor: `FloatTensor(s)[2:4]`.
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
    pub run: Run,
    pub serial: u64,
}

impl Drop for PyStorage {
    fn drop(&mut self) {
        forget(&self.run, self.serial);
    }
}

/// The storage's own number and the dtype. A number is not used again while an object holds the storage.
type Key = (usize, DType);

struct Entry {
    /// Which object this is. Between the end of an object's weak references and its `Drop`, another object
    /// may have taken its place.
    serial: u64,
    object: Py<PyWeakrefReference>,
}

fn table() -> MutexGuard<'static, HashMap<Key, Entry>> {
    static TABLE: LazyLock<Mutex<HashMap<Key, Entry>>> = LazyLock::new(Mutex::default);
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn key(run: &Run) -> Key {
    (run.bytes.id(), run.dtype)
}

/// The Python object of a storage.
pub fn storage_object(py: Python<'_>, bytes: &Storage, dtype: DType) -> Result<Object> {
    Ok(bound_storage(py, Run { bytes: bytes.clone(), dtype })?.into_ptr())
}

/// The Python object of a storage, found or made.
pub fn bound_storage(py: Python<'_>, run: Run) -> PyResult<Bound<'_, PyAny>> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let key = key(&run);
    if let Some(found) = living(py, &table(), key) {
        return Ok(found);
    }
    let serial = NEXT.fetch_add(1, Relaxed);
    let made = Bound::new(py, PyStorage { run, serial })?.into_any();
    let entry = Entry { serial, object: PyWeakrefReference::new(&made)?.unbind() };
    let mut table = table();
    // What was just made may have run code that asked for the same storage: the first object stays.
    let (given, spare) = match living(py, &table, key) {
        Some(found) => (found, Some(entry)),
        None => (made, table.insert(key, entry)),
    };
    drop(table);
    drop(spare.map(|entry| entry.object.into_bound(py)));
    Ok(given)
}

/// The object in the table, unless it is gone or going.
fn living<'py>(py: Python<'py>, table: &HashMap<Key, Entry>, key: Key) -> Option<Bound<'py, PyAny>> {
    table.get(&key)?.object.bind(py).upgrade()
}

/// Forgets an object that ends, unless another one has taken its place.
fn forget(run: &Run, serial: u64) {
    let mut table = table();
    let own = table.get(&key(run)).is_some_and(|entry| entry.serial == serial);
    let entry = if own { table.remove(&key(run)) } else { None };
    drop(table);
    drop(entry);
}
