//! The engine of `strided`: storages, layouts, tensors and the operations on them. Knows nothing of Python.
//!
//! A file uses only its own room and rooms with a lower number:
//! 0 `scalar dtype error`, 1 `storage alloc layout threads cpu`, 2 `tensor nest`, 3 `kernels`, 4 `ops`.

pub mod alloc;
pub mod cpu;
pub mod dtype;
pub mod error;
pub mod kernels;
pub mod layout;
pub mod nest;
pub mod ops;
pub mod scalar;
pub mod storage;
pub mod tensor;
pub mod threads;

pub use dtype::DType;
pub use error::{Error, Problem, Result};
pub use layout::Layout;
pub use scalar::Scalar;
pub use storage::Storage;
pub use tensor::Tensor;
