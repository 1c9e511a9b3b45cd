//! OpenCL devices: their memory, their queues of work and their programs. It knows nothing of tensors.
//!
//! Each file uses only those before it:
//!
//! | file | what it has |
//! |---|---|
//! | [`error`] | what can go wrong |
//! | [`library`] | the functions of OpenCL, loaded when first used |
//! | [`pool`], [`work`] | free buffers; work that is not known to be done |
//! | [`device`] | the devices, their properties, contexts and queues |
//! | [`memory`] | memory of a device, and page-locked memory of the host |
//! | [`program`] | programs from source text, kept on disk |
//! | [`queue`] | work: launches, transfers, waits |
//!
//! A device has one queue, which works in order: later work sees what earlier work has written, and memory that is freed may be
//! reused by later work at once. Functions that enqueue work return before it is done.

pub mod device;
pub mod error;
pub mod library;
pub mod memory;
pub mod pool;
pub mod program;
pub mod queue;
pub mod work;

pub use device::{Device, Properties, device, devices};
pub use error::{Error, Result};
pub use memory::{HostMemory, Memory};
pub use program::{Kernel, Program};
pub use queue::Arg;
