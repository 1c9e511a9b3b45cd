//! Buffers of a device that are not used now, by size class, and the count of what is used.

use crate::library::Handle;
use std::collections::BTreeMap;

/// The smallest size class, and the alignment of all of them.
const MIN_CLASS: usize = 256;
/// Size classes between two powers of two: at most a ninth of a buffer is not used.
const CLASSES_PER_DOUBLING: usize = 8;

/// Buffers that are not used now, and what is used.
pub struct Pool {
    pub free: BTreeMap<usize, Vec<Buffer>>,
    /// Bytes of the free buffers.
    pub cached: usize,
    /// Bytes of the buffers in use.
    pub used: usize,
    pub peak: usize,
    /// Bytes that the program may use.
    pub limit: usize,
    /// Bytes that are kept at most.
    pub max_cached: usize,
}

/// The address of a buffer's object.
pub struct Buffer(pub Handle);

// SAFETY: a handle may be used by any thread.
unsafe impl Send for Buffer {}

/// What a device's memory is used for, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    pub used: usize,
    pub peak: usize,
    pub cached: usize,
    pub limit: usize,
}

impl Pool {
    pub fn new(global_memory: usize) -> Pool {
        Pool {
            free: BTreeMap::new(),
            cached: 0,
            used: 0,
            peak: 0,
            limit: global_memory,
            max_cached: global_memory / 2,
        }
    }

    pub fn take(&mut self, class: usize) -> Option<Handle> {
        let handle = self.free.get_mut(&class)?.pop()?.0;
        self.cached -= class;
        Some(handle)
    }

    pub fn count(&mut self, class: usize) {
        self.used += class;
        self.peak = self.peak.max(self.used);
    }
}

/// The size of the buffer that serves this many bytes.
pub fn class_of(bytes: usize) -> Option<usize> {
    let bytes = bytes.max(MIN_CLASS);
    let step = (bytes.checked_next_power_of_two()? / 2 / CLASSES_PER_DOUBLING).max(MIN_CLASS);
    bytes.checked_next_multiple_of(step)
}
