//! Blocks of memory, aligned to a cache line: free lists by size class for small ones, the system for the rest.
//!
//! A list is taken by swapping its head for `BUSY`; whoever finds it busy goes to the system instead of
//! waiting. So there is no lock to deadlock on, in signal handlers and after `fork` too.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering::*};

/// Alignment of every block.
pub const ALIGN: usize = 64;
/// Blocks up to this size are kept in free lists.
pub const SMALL: usize = 4096;
/// Classes are multiples of a cache line, so that no block wastes more than one.
const CLASSES: usize = SMALL / ALIGN;
/// How many free blocks a class keeps.
const KEEP: usize = 64;

struct Free {
    next: *mut Free,
    /// Blocks in the list from here on.
    depth: usize,
}

const BUSY: *mut Free = std::ptr::dangling_mut::<Free>();
static LISTS: [AtomicPtr<Free>; CLASSES] = [const { AtomicPtr::new(null_mut()) }; CLASSES];

/// The size that a request is rounded up to. `None` above the address space.
#[inline]
pub fn rounded(bytes: usize) -> Option<usize> {
    Some(bytes.max(1).checked_add(ALIGN - 1)? & !(ALIGN - 1)).filter(|&n| n <= isize::MAX as usize)
}

/// A block of `size` bytes, a result of [`rounded`]. Uninitialised unless `zeroed`.
#[inline]
pub fn allocate(size: usize, zeroed: bool) -> Option<NonNull<u8>> {
    debug_assert!(size.is_multiple_of(ALIGN) && size > 0);
    if size <= SMALL
        && let Some(block) = take(&LISTS[size / ALIGN - 1])
    {
        if zeroed {
            // SAFETY: the block has `size` bytes and belongs to nobody else.
            unsafe { block.as_ptr().write_bytes(0, size) };
        }
        return Some(block);
    }
    // SAFETY: the size is not zero, and with the alignment it fits isize (`rounded` proved it).
    unsafe {
        let layout = Layout::from_size_align_unchecked(size, ALIGN);
        NonNull::new(if zeroed { alloc_zeroed(layout) } else { alloc(layout) })
    }
}

/// Gives a block back.
///
/// # Safety
/// `block` came from [`allocate`] with this `size`, and nobody uses it any more.
#[inline]
pub unsafe fn release(block: NonNull<u8>, size: usize) {
    if size <= SMALL && put(&LISTS[size / ALIGN - 1], block.cast()) {
        return;
    }
    // SAFETY: the caller's promise; the layout is the one it was allocated with.
    unsafe { dealloc(block.as_ptr(), Layout::from_size_align_unchecked(size, ALIGN)) }
}

#[inline]
fn take(list: &AtomicPtr<Free>) -> Option<NonNull<u8>> {
    let head = list.swap(BUSY, Acquire);
    if head == BUSY {
        return None;
    }
    // SAFETY: between the swap and the store the list is ours, and its blocks are initialised `Free`s.
    let next = if head.is_null() { head } else { unsafe { (*head).next } };
    list.store(next, Release);
    NonNull::new(head.cast())
}

#[inline]
fn put(list: &AtomicPtr<Free>, block: NonNull<Free>) -> bool {
    let head = list.swap(BUSY, Acquire);
    if head == BUSY {
        return false;
    }
    // SAFETY: as in `take`.
    let depth = if head.is_null() { 0 } else { unsafe { (*head).depth } };
    if depth >= KEEP {
        list.store(head, Release);
        return false;
    }
    // SAFETY: the caller of `release` gave up the block, which is larger than a `Free` and aligned for it.
    unsafe { block.write(Free { next: head, depth: depth + 1 }) };
    list.store(block.as_ptr(), Release);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_distinct_and_reused() {
        let size = rounded(100).unwrap();
        assert_eq!(size, 128);
        let blocks: Vec<_> = (0..2 * KEEP).map(|_| allocate(size, true).unwrap()).collect();
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
