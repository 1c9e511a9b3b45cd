//! Scratch buffers: on the stack, and one for each thread of a call.

use crate::error::Result;
use crate::threads;
use smallvec::{SmallVec, smallvec};
use std::mem::MaybeUninit;

/// Uninitialised memory for `BYTES` bytes, aligned to a cache line and so for any element or accumulator.
#[repr(C, align(64))]
pub(super) struct Scratch<const BYTES: usize>(MaybeUninit<[u8; BYTES]>);

impl<const BYTES: usize> Scratch<BYTES> {
    /// A constant, for arrays of scratch buffers: `[const { Scratch::<4096>::NEW }; 5]`.
    pub const NEW: Self = Scratch(MaybeUninit::uninit());

    #[inline(always)]
    pub const fn new() -> Self {
        Self::NEW
    }

    /// The address of the first byte. Whoever reads a byte has written it before.
    #[inline(always)]
    pub fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// Scratch memory for the threads that share some pieces of work, for `threads::for_each_piece_with`: one for each, or fewer if memory is
/// short. It is made before anything is written, so that a call without memory for one thread changes nothing.
pub(super) fn for_threads<S>(
    pieces: usize,
    shared: bool,
    make: impl Fn() -> Result<S>,
) -> Result<SmallVec<[S; 2]>> {
    let mut all = smallvec![make()?];
    let threads = if shared { threads::limit().min(pieces) } else { 1 };
    while all.len() < threads
        && let Ok(next) = make()
    {
        all.push(next);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_buffer_starts_at_a_cache_line() {
        let mut buffers = [const { Scratch::<100>::NEW }; 3];
        for buffer in &mut buffers {
            assert_eq!(buffer.start() as usize % 64, 0);
        }
        assert_eq!(Scratch::<100>::new().start() as usize % 64, 0);
    }
}
