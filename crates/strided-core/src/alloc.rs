//! Blocks of memory, aligned to a cache line.
//!
//! Small blocks are asked of the system with its own alignment and moved up to the next cache line: that
//! way they come from the allocator's per-thread cache. (An aligned request does not, and costs about 30 ns
//! more; a free list of our own needs two locked exchanges, about 15 ns.)

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// Alignment of every block.
pub const ALIGN: usize = 64;
/// Blocks up to this size are small.
pub const SMALL: usize = 4096;
/// What the system aligns to by itself; the distance to the block's start is kept right before it.
const NATURAL: usize = 16;

/// The size that a request is rounded up to. `None` above the address space.
#[inline]
pub fn rounded(bytes: usize) -> Option<usize> {
    Some(bytes.max(1).checked_add(ALIGN - 1)? & !(ALIGN - 1)).filter(|&n| n <= isize::MAX as usize - ALIGN)
}

/// A block of `size` bytes, a result of [`rounded`]. Uninitialised unless `zeroed`.
#[inline]
pub fn allocate(size: usize, zeroed: bool) -> Option<NonNull<u8>> {
    debug_assert!(size.is_multiple_of(ALIGN) && size > 0);
    // SAFETY: sizes are not zero and fit isize with their alignment (`rounded` proved it). The start lies
    // at least NATURAL and at most ALIGN bytes into what was allocated, so that the distance fits before it.
    unsafe {
        if size > SMALL {
            let layout = Layout::from_size_align_unchecked(size, ALIGN);
            return NonNull::new(if zeroed { alloc_zeroed(layout) } else { alloc(layout) });
        }
        let raw = NonNull::new(alloc(small_layout(size)))?;
        let shift = ALIGN - (raw.as_ptr() as usize & (ALIGN - 1));
        let start = raw.add(shift);
        start.sub(NATURAL).cast::<usize>().write(shift);
        if zeroed {
            start.write_bytes(0, size);
        }
        Some(start)
    }
}

/// Gives a block back.
///
/// # Safety
/// `block` came from [`allocate`] with this `size`, and nobody uses it any more.
#[inline]
pub unsafe fn release(block: NonNull<u8>, size: usize) {
    // SAFETY: the caller's promise; the layouts are those of `allocate`.
    unsafe {
        if size > SMALL {
            return dealloc(block.as_ptr(), Layout::from_size_align_unchecked(size, ALIGN));
        }
        let shift = block.sub(NATURAL).cast::<usize>().read();
        dealloc(block.sub(shift).as_ptr(), small_layout(size));
    }
}

/// What is asked of the system for a small block.
#[inline]
fn small_layout(size: usize) -> Layout {
    Layout::from_size_align(size + ALIGN, NATURAL).expect("a small size fits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_distinct() {
        let size = rounded(100).unwrap();
        assert_eq!(size, 128);
        let blocks: Vec<_> = (0..100).map(|_| allocate(size, true).unwrap()).collect();
        for (i, block) in blocks.iter().enumerate() {
            assert_eq!(block.as_ptr() as usize % ALIGN, 0);
            assert!(!blocks[..i].contains(block));
            // SAFETY: the block is ours and has `size` bytes.
            unsafe { block.as_ptr().write_bytes(0xAB, size) };
        }
        // SAFETY: each block is released once, with the size it was allocated with.
        blocks.iter().for_each(|&block| unsafe { release(block, size) });
        let again = allocate(size, true).unwrap();
        // SAFETY: as above.
        unsafe {
            assert!((0..size).all(|i| again.as_ptr().add(i).read() == 0));
            release(again, size);
        }
    }

    #[test]
    fn a_size_beyond_the_address_space_is_refused() {
        assert_eq!(rounded(usize::MAX), None);
        assert_eq!(rounded(isize::MAX as usize), None);
    }

    #[test]
    fn threads_never_share_a_block() {
        std::thread::scope(|scope| {
            for id in 0..4u8 {
                scope.spawn(move || {
                    for round in 0..2000usize {
                        let size = rounded(64 + round % 500).unwrap();
                        let block = allocate(size, false).unwrap();
                        // SAFETY: the block is ours until it is released.
                        unsafe {
                            block.as_ptr().write_bytes(id, size);
                            std::thread::yield_now();
                            assert!((0..size).all(|i| block.as_ptr().add(i).read() == id));
                            release(block, size);
                        }
                    }
                });
            }
        });
    }
}
