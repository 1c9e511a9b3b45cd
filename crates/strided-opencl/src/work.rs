//! The list of work that was enqueued and is not known to be done.

use crate::library::Handle;
use std::collections::VecDeque;

/// Work that is not known to be done, in order.
#[derive(Default)]
pub struct Pending(pub VecDeque<Work>);

/// A piece of work.
pub struct Work {
    pub event: Handle,
    pub operation: &'static str,
    /// Memory of the host that the work reads.
    pub reads: Option<Box<[u8]>>,
}

// SAFETY: an event may be used by any thread.
unsafe impl Send for Work {}
