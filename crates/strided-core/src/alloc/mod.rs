//! Blocks of memory, aligned to a cache line.
//!
//! | size | from | after use |
//! |---|---|---|
//! | up to 4 KB | the system's allocator, moved up to the next cache line | returned |
//! | up to 64 KB | the system's allocator, aligned | returned |
//! | up to 2 MB | the same, in size classes of an eighth of a doubling | cached for the next request of the class |
//! | above | pages of their own at a multiple of 2 MB, huge ones if the system has them | cached likewise |
//!
//! Small blocks are requested with the alignment of the system's allocator and moved up, because its per-thread cache
//! (up to 1 KB in glibc) serves such requests only: an aligned request costs about 30 ns more. Free lists of our own
//! for blocks up to 64 KB were tried and removed: each needs two locked instructions, about 15 ns, and `st.zeros(8)`
//! took the same time or less without them. (For the same reason Python's allocator, and no free list, serves the
//! objects of the binding.) Size classes begin where the system's allocator would map pages.
//!
//! Large blocks are cached because the system takes their pages back: the next block would be new pages, each to be
//! cleared and mapped before its first byte is written. The cache holds at most an eighth of the memory that the
//! process may use (`strided.memory.limit`), releases blocks after ten seconds without use, and all of them before a
//! request fails. Large zero blocks are new pages, provided when they are first touched; a cached block gets its pages
//! replaced.
//!
//! `sizes` < `system` < `cache` < this file: each uses only those before it. `vectors` is for other memory of a call.

mod cache;
mod sizes;
mod system;
mod vectors;

pub use cache::{limit, set_limit, trim};
pub use sizes::{ALIGN, MAX_SMALL_BYTES, rounded};
pub use system::usable_memory;
pub use vectors::{
    out_of_memory, try_collect, try_collect_ok, try_filled, try_push, try_push_char, try_reserve,
    try_reserve_entry, try_text, try_vec,
};

use sizes::MAX_UNCACHED_BYTES;
use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The alignment that the system's allocator has by itself. A small block stores its distance from the start of what
/// was allocated in as many bytes right before it.
const SYSTEM_ALIGN: usize = 16;

/// What `STRIDED_DEBUG=1` writes into new memory (floats read as NaN, signed integers as -1) and into freed memory.
const NEW_PATTERN: u8 = 0xFF;
const FREED_PATTERN: u8 = 0xDD;

/// Bytes in blocks above MAX_SMALL_BYTES, now and at most, and the number of such blocks.
static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static BLOCKS: AtomicUsize = AtomicUsize::new(0);

/// What the allocator has done so far. Blocks of up to 4 KB are not counted.
#[derive(Clone, Copy, Debug)]
pub struct AllocatorStats {
    /// Bytes in use, and the number of blocks they are in.
    pub in_use: usize,
    pub blocks: usize,
    /// The maximal number of bytes in use at one time.
    pub peak: usize,
    /// Bytes cached for later requests, and the number of blocks.
    pub cached: usize,
    pub cached_blocks: usize,
    /// Requests that were served from the cache, and those that were not.
    pub hits: usize,
    pub misses: usize,
    /// The maximal number of bytes to cache.
    pub limit: usize,
}

pub fn stats() -> AllocatorStats {
    let (cached, cached_blocks, hits, misses) = cache::stats();
    let (in_use, blocks, peak) = (IN_USE.load(Relaxed), BLOCKS.load(Relaxed), PEAK.load(Relaxed));
    AllocatorStats { in_use, blocks, peak, cached, cached_blocks, hits, misses, limit: limit() }
}

/// Whether new and freed memory is filled with patterns: `STRIDED_DEBUG=1`.
#[inline]
pub fn debug() -> bool {
    static DEBUG: OnceLock<bool> = OnceLock::new();
    *DEBUG.get_or_init(|| std::env::var_os("STRIDED_DEBUG").is_some_and(|v| !v.is_empty() && v != "0"))
}

/// A block of `size` bytes, which must be a result of [`rounded`]. Uninitialised unless `zeroed`.
#[inline]
pub fn allocate(size: usize, zeroed: bool) -> Option<NonNull<u8>> {
    debug_assert!(size.is_multiple_of(ALIGN) && size > 0);
    let block = if size <= MAX_SMALL_BYTES { allocate_small(size) } else { allocate_counted(size, zeroed) }?;
    // SAFETY: the block was just allocated with `size` bytes and is nobody else's.
    unsafe {
        if zeroed && size <= MAX_SMALL_BYTES {
            block.write_bytes(0, size);
        } else if !zeroed && debug() {
            block.write_bytes(NEW_PATTERN, size);
        }
    }
    Some(block)
}

#[inline]
fn allocate_small(size: usize) -> Option<NonNull<u8>> {
    // SAFETY: the size is not zero. `shift` is at least SYSTEM_ALIGN and at most ALIGN, which `small_layout` has added:
    // the block fits after it, and the distance before it.
    unsafe {
        let raw = NonNull::new(alloc(small_layout(size)))?;
        let shift = ALIGN - (raw.as_ptr() as usize & (ALIGN - 1));
        let start = raw.add(shift);
        start.sub(SYSTEM_ALIGN).cast::<usize>().write(shift);
        Some(start)
    }
}

/// A larger block, counted in the statistics.
fn allocate_counted(size: usize, zeroed: bool) -> Option<NonNull<u8>> {
    let block =
        if size > MAX_UNCACHED_BYTES { cache::take(size, zeroed) } else { system::allocate(size, zeroed) }?;
    BLOCKS.fetch_add(1, Relaxed);
    let in_use = IN_USE.fetch_add(size, Relaxed) + size;
    if in_use > PEAK.load(Relaxed) {
        PEAK.fetch_max(in_use, Relaxed);
    }
    Some(block)
}

/// Releases a block.
///
/// # Safety
/// `block` came from [`allocate`] with this `size`, and nobody uses it any more.
#[inline]
pub unsafe fn release(block: NonNull<u8>, size: usize) {
    // SAFETY: the contract of this function; `allocate` decides by the same comparisons of `size` where a block comes
    // from, and `allocate_small` stored the distance before a small one.
    unsafe {
        if debug() {
            block.write_bytes(FREED_PATTERN, size);
        }
        if size <= MAX_SMALL_BYTES {
            let shift = block.sub(SYSTEM_ALIGN).cast::<usize>().read();
            return dealloc(block.sub(shift).as_ptr(), small_layout(size));
        }
        IN_USE.fetch_sub(size, Relaxed);
        BLOCKS.fetch_sub(1, Relaxed);
        if size > MAX_UNCACHED_BYTES { cache::keep(block, size) } else { system::release(block, size) }
    }
}

/// The request to the system's allocator for a small block.
#[inline]
fn small_layout(size: usize) -> Layout {
    Layout::from_size_align(size + ALIGN, SYSTEM_ALIGN).expect("a small size fits")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One size of each kind.
    const SIZES: [usize; 4] = [100, 5000, 100_000, 3_000_000];

    #[test]
    fn blocks_are_aligned_distinct_and_zero_on_request() {
        for bytes in SIZES {
            let size = rounded(bytes).unwrap();
            assert!(size >= bytes && size <= bytes + bytes / 8 + ALIGN);
            let blocks: Vec<_> = (0..20).map(|_| allocate(size, true).unwrap()).collect();
            for (i, block) in blocks.iter().enumerate() {
                assert_eq!(block.as_ptr() as usize % ALIGN, 0);
                assert!(!blocks[..i].contains(block));
                // SAFETY: the block was allocated with `size` bytes above.
                unsafe { block.as_ptr().write_bytes(0xAB, size) };
            }
            // SAFETY: each block is released once, with the size it was allocated with.
            blocks.iter().for_each(|&block| unsafe { release(block, size) });
            // A cached block is zero again on request.
            let reused = allocate(size, true).unwrap();
            // SAFETY: the block was allocated with `size` bytes above, and is released once.
            unsafe {
                assert!((0..size).all(|i| reused.as_ptr().add(i).read() == 0));
                release(reused, size);
            }
        }
    }

    #[test]
    fn a_size_that_no_machine_has_is_refused() {
        assert_eq!(allocate(rounded(1 << 50).unwrap(), false), None);
    }

    #[test]
    fn threads_never_share_a_block() {
        std::thread::scope(|scope| {
            for id in 0..4u8 {
                scope.spawn(move || {
                    for round in 0..2000usize {
                        let size = rounded(if round % 50 == 0 { 70_000 } else { 64 + round % 500 }).unwrap();
                        let block = allocate(size, false).unwrap();
                        // SAFETY: the block was allocated with `size` bytes and is used by this thread alone until it
                        // is released.
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
