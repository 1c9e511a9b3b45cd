//! The memory that a file may take.

use super::refusal;
use crate::alloc::{try_vec, usable_memory};
use crate::error::{Error, Result};

/// Without `max_bytes`, what a file describes may take this share of the memory that the process may use.
const DEFAULT_SHARE: u64 = 2;
/// The memory that is assumed where the system does not say how much there is.
const ASSUMED_MEMORY: u64 = 4 << 30;
/// After so many bytes of small allocations, it is tried whether several times as many are left. A small allocation that fails
/// ends the process; a large one only fails.
const PROBE: usize = 1 << 18;

/// The limit of a file without `max_bytes`.
pub fn default_limit() -> u64 {
    usable_memory().map_or(ASSUMED_MEMORY, |bytes| bytes as u64) / DEFAULT_SHARE
}

/// Bytes that may still be allocated.
#[derive(Clone, Debug)]
pub struct Budget {
    left: u64,
    max: u64,
    /// Bytes until the next probe.
    until_probe: usize,
}

impl Default for Budget {
    /// No limit, as for objects that are in memory already.
    fn default() -> Budget {
        Budget { left: u64::MAX, max: u64::MAX, until_probe: PROBE }
    }
}

impl Budget {
    pub fn new(max: u64) -> Budget {
        Budget { left: max, max, until_probe: PROBE }
    }

    /// Takes bytes from the budget.
    #[inline]
    pub fn spend(&mut self, bytes: usize) -> Result<()> {
        match self.left.checked_sub(bytes as u64) {
            Some(left) => self.left = left,
            None => return Err(self.exceeded()),
        }
        match self.until_probe.checked_sub(bytes) {
            Some(left) => self.until_probe = left,
            None => {
                self.until_probe = PROBE;
                probe(PROBE)?;
            }
        }
        Ok(())
    }

    /// Bytes that were taken.
    pub fn spent(&self) -> u64 {
        self.max - self.left
    }

    #[cold]
    fn exceeded(&self) -> Error {
        refusal(format!(
            "the file describes an object of more than {} bytes; max_bytes= sets another limit",
            self.max
        ))
    }
}

/// Refuses if so many bytes cannot be allocated.
fn probe(bytes: usize) -> Result<()> {
    try_vec::<u8>(8 * bytes).map(drop)
}
