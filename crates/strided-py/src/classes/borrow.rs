//! The handle by which the owner of borrowed memory takes it back.

use crate::abi::Value;
use crate::abi::detach::detach_to_wait;
use crate::abi::errors::{CallResult, named};
use crate::abi::tensor_object::wrap;
use pyo3::prelude::*;
use strided_core::{Storage, Tensor};

/// What `borrow` returns together with the tensor: it ends the use of the borrowed memory.
///
/// As a context manager it is the tensor inside the block, and invalidates it at the end.
///
/// >>> x, handle = strided.borrow(bytearray(b'abc'))
/// >>> with handle as tensor:
/// ...     print(tensor is x, tensor.sum().item())
/// True 294
/// >>> x.sum()
/// Traceback (most recent call last):
/// strided.StorageError: sum: the memory was borrowed, and its owner has invalidated it
#[pyclass(module = "strided", frozen, weakref)]
pub struct BorrowHandle {
    storage: Storage,
    tensor: Py<PyAny>,
}

/// The signatures of the methods.
pub const SIGNATURES: &[(&str, &[&str])] = &[
    ("invalidate", &["() -> None"]),
    ("__enter__", &["() -> Tensor"]),
    ("__exit__", &["(exc_type: object, exc_value: object, traceback: object, /) -> None"]),
];

impl BorrowHandle {
    /// The object of a tensor on borrowed memory, and the handle.
    pub fn with_tensor(py: Python<'_>, tensor: Tensor) -> CallResult<(Value<'_>, BorrowHandle)> {
        let storage = tensor.storage().clone();
        let object = wrap(py, tensor)?;
        Ok((object.clone(), BorrowHandle { storage, tensor: object.unbind() }))
    }
}

#[pymethods]
impl BorrowHandle {
    /// Takes the memory back: it is released to its owner, and every later use of the elements by the tensor, or by a tensor
    /// on the same storage, is an error. A second call does nothing.
    ///
    /// Waits for operations of other threads on the memory. Raises BufferError, and changes nothing, while a view of the
    /// memory is in use elsewhere: a NumPy array, a `memoryview`, a DLPack capsule; also after `__array_interface__`, whose
    /// users do not tell when they end.
    ///
    /// >>> x, handle = strided.borrow(bytearray(b'abc'))
    /// >>> view = memoryview(x)
    /// >>> handle.invalidate()
    /// Traceback (most recent call last):
    /// strided.StorageError: invalidate: the storage cannot change its memory while 1 view(s) of it are exported
    /// >>> view.release()
    /// >>> handle.invalidate()
    fn invalidate(&self, py: Python<'_>) -> PyResult<()> {
        // Waits for operations of other threads, which may need the interpreter to finish.
        named(py, "invalidate", || Ok(detach_to_wait(py, || self.storage.invalidate())?))
    }

    fn __enter__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        named(py, "with", || Ok(self.storage.check_valid()?))?;
        Ok(self.tensor.clone_ref(py))
    }

    #[pyo3(signature = (_exc_type, exc_value, _traceback, /))]
    fn __exit__(
        &self,
        py: Python<'_>,
        _exc_type: &Bound<'_, PyAny>,
        exc_value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.invalidate(py).map_err(|error| {
            if exc_value.is_none() {
                return error;
            }
            // Python does this for an exception that is raised by Python code.
            match error.value(py).setattr("__context__", exc_value) {
                Ok(()) => error,
                Err(other) => other,
            }
        })
    }
}
