//! The engine of `strided`: storages, layouts, tensors and the operations on them. Knows nothing of Python.
//!
//! Modules form layers, and a module uses only its own layer and lower ones; `tools/layers.py` checks this.
//!
//! | layer | modules | |
//! |---|---|---|
//! | 0 | `scalar dtype error op_table` | element types, dtypes, errors as values; ids of the operations |
//! | 1 | `cpu alloc layout threads`, then `storage` | CPU features, blocks, shapes and strides, the pool; bytes with an owner on a device |
//! | 2 | `tensor nest` | a storage with a layout and a dtype; several layouts as one loop nest |
//! | 3 | `kernels opencl` | everything that touches an element: on the CPU, on a GPU |
//! | 4 | `backend` | which code computes an operation on a device; the only caller of `kernels` and `opencl` |
//! | 5 | `ops` | rules: dtype, shape, device and output of an operation, and when it is refused |
//! | 5 | `io` | formats of files: bytes to tensors and back |
//!
//! There is no import cycle but one: `scalar`, `dtype` and `error` know each other. Within layer 1, `cpu`, `alloc`,
//! `layout` and `threads` do not use each other, and `storage` uses all of them but `cpu`.

pub mod alloc;
pub mod backend;
pub mod cpu;
pub mod dtype;
pub mod error;
pub mod io;
pub mod kernels;
pub mod layout;
pub mod nest;
pub mod op_table;
pub mod opencl;
pub mod ops;
pub mod scalar;
pub mod storage;
pub mod tensor;
pub mod threads;

pub use dtype::DType;
pub use error::{Error, Problem, Result};
pub use layout::Layout;
pub use scalar::Scalar;
pub use storage::{Device, Storage};
pub use tensor::Tensor;
