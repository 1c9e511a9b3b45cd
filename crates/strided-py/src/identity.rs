//! One Python object per storage and dtype, for as long as anybody holds it: `x.storage() is x.storage()`.
//!
//! The table holds weak references. It is locked for moments in which no Python code can run: making an
//! object, or a weak reference, may collect garbage and so come back here.

use crate::args::Object;
use crate::errors::Result;
use crate::storage::{PyStorage, Run};
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use strided_core::{DType, Storage};

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
pub fn forget(run: &Run, serial: u64) {
    let mut table = table();
    let own = table.get(&key(run)).is_some_and(|entry| entry.serial == serial);
    let entry = if own { table.remove(&key(run)) } else { None };
    drop(table);
    drop(entry);
}
