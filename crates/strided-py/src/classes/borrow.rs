//! The handle by which the owner of borrowed memory takes it back. Its methods are rows of `api/borrow.rs`.

use crate::abi::Value;
use crate::abi::errors::CallResult;
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
    pub storage: Storage,
    pub tensor: Py<PyAny>,
}

impl BorrowHandle {
    /// The object of a tensor on borrowed memory, and the handle.
    pub fn with_tensor(py: Python<'_>, tensor: Tensor) -> CallResult<(Value<'_>, BorrowHandle)> {
        let storage = tensor.storage().clone();
        let object = wrap(py, tensor)?;
        Ok((object.clone(), BorrowHandle { storage, tensor: object.unbind() }))
    }
}
