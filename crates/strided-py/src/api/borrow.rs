//! Methods of the handle on borrowed memory.

use crate::abi::detach::detach_to_wait;
use crate::abi::errors::guard_pyo3;
use crate::abi::refs::to_py;
use crate::classes::borrow::BorrowHandle;
use crate::convert::args::{AnyArg, Instance};
use pyo3::prelude::*;

methods! { rows(py, x: Instance<BorrowHandle>):
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
    method invalidate() -> "None" => {
        // Waits for operations of other threads, which may need the interpreter to finish.
        let storage = &x.storage;
        detach_to_wait(py, || storage.invalidate())?;
        to_py(py, py.None())
    };

    /// The tensor.
    method __enter__() -> "Tensor" => {
        guard_pyo3(py, "with", || Ok(x.storage.check_valid()?))?;
        to_py(py, &x.tensor)
    };

    /// Takes the memory back. An exception of the block is the context of one that this raises.
    method __exit__(exc_type: AnyArg, exc_value: AnyArg, traceback: AnyArg) -> "None" => {
        let storage = &x.storage;
        let ended = guard_pyo3(py, "invalidate", || Ok(detach_to_wait(py, || storage.invalidate())?));
        if let Err(error) = &ended
            && !exc_value.0.is_none()
        {
            // Python does this for an exception that is raised by Python code.
            error.value(py).setattr("__context__", exc_value.0)?;
        }
        ended?;
        to_py(py, py.None())
    };
}
