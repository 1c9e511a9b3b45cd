//! What is made or imported when it is first needed.
//!
//! Making an object may run Python code, and while it does, another thread may fork. So no lock of ours is held meanwhile: the
//! child would wait for its owner, which it does not have. That excludes `PyOnceLock::get_or_init` and `intern!`, which let
//! other threads run inside of their lock. `tools/layers.py` refuses them.

use super::detach::forks_wait;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use std::sync::{Mutex, PoisonError};

/// An object that is made once.
pub struct Late<T>(PyOnceLock<T>);

impl<T> Late<T> {
    pub const fn new() -> Late<T> {
        Late(PyOnceLock::new())
    }

    /// The object. Several threads may make one at the same time; the first one stays.
    pub fn get_or_make(&self, py: Python<'_>, make: impl FnOnce() -> PyResult<T>) -> PyResult<&T> {
        if self.0.get(py).is_none() {
            let made = make()?;
            let _ = self.0.set(py, made); // only moves the value: no thread can fork meanwhile
        }
        Ok(self.0.get(py).expect("set above, or before"))
    }
}

/// A module that is imported when it is first needed. A fork waits for the import: the child would inherit the lock that
/// Python holds on a module while it is imported.
pub fn import<'py>(py: Python<'py>, module: &str) -> PyResult<Bound<'py, PyModule>> {
    forks_wait(|| py.import(module))
}

/// Calls a function of one of our Python modules. Its first call imports the module, and others that it needs, such as NumPy: a
/// fork waits for that, as for [`import`].
pub fn first_call<R>(
    module: &'static str,
    function: &'static str,
    call: impl FnOnce() -> PyResult<R>,
) -> PyResult<R> {
    static CALLED: Mutex<Vec<[&str; 2]>> = Mutex::new(Vec::new());
    // Locked for the search alone, in which no Python code runs.
    let called = || CALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if called().contains(&[module, function]) {
        return call();
    }
    let result = forks_wait(call);
    if result.is_ok() && !called().contains(&[module, function]) {
        called().push([module, function]);
    }
    result
}

/// Makes what PyO3 makes late inside of a lock of its own, and what calls of ours need: when the module is imported.
pub fn register(py: Python<'_>) -> PyResult<()> {
    py.get_type::<PyType>().module()?; // the string "__module__"
    Ok(())
}
