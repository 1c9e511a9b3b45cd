//! Blocks of memory, aligned to a cache line.
//!
//! ```text
//! up to SMALL    the system's, moved up to the next cache line
//! up to CACHED   the system's
//! up to MAPPED   the system's, kept after use for the next request of their size class
//! above          mapped by themselves in huge pages, kept likewise
//! ```
//! Small blocks are asked of the system with its own alignment and moved up: that way they come from the
//! allocator's per-thread cache. (An aligned request does not, and costs about 30 ns more; a free list of our
//! own needs two locked exchanges, about 15 ns.) Large blocks are kept because the system takes them back:
//! the next one would be new pages, each to be cleared and mapped before the first byte is written.

mod cache;
mod system;

pub use cache::{limit, set_limit, trim};

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Alignment of every block.
pub const ALIGN: usize = 64;
/// Blocks up to this size are small.
pub const SMALL: usize = 4096;
/// Blocks above this size are kept.
const CACHED: usize = 64 << 10;
/// Blocks above this size are mapped.
const MAPPED: usize = 2 << 20;
/// What the system aligns to by itself; the distance to the block's start is kept right before it.
const NATURAL: usize = 16;

/// What `STRIDED_DEBUG=1` writes into new memory (floats read as NaN, integers as -1) and into freed memory.
const NEW: u8 = 0xFF;
const FREED: u8 = 0xDD;

/// Bytes in blocks above SMALL, now and at most, and how many such blocks there are.
static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static BLOCKS: AtomicUsize = AtomicUsize::new(0);

/// What the allocator has done so far. Blocks of up to 4 KB are not counted.
#[derive(Clone, Copy, Debug)]
pub struct Stats {
    /// Bytes in use, and the number of blocks they are in.
    pub in_use: usize,
    pub blocks: usize,
    /// The most bytes that were in use at once.
    pub peak: usize,
    /// Bytes kept for later requests, and the number of blocks.
    pub cached: usize,
    pub cached_blocks: usize,
    /// Requests that a kept block could serve, and those that it could not.
    pub hits: usize,
    pub misses: usize,
    /// The most bytes to keep.
    pub limit: usize,
}

pub fn stats() -> Stats {
    let (cached, cached_blocks, hits, misses) = cache::stats();
    let (in_use, blocks, peak) = (IN_USE.load(Relaxed), BLOCKS.load(Relaxed), PEAK.load(Relaxed));
    Stats { in_use, blocks, peak, cached, cached_blocks, hits, misses, limit: limit() }
}

/// Whether new and freed memory is filled with patterns: `STRIDED_DEBUG=1`.
#[inline]
pub fn debug() -> bool {
    static DEBUG: OnceLock<bool> = OnceLock::new();
    *DEBUG.get_or_init(|| std::env::var_os("STRIDED_DEBUG").is_some_and(|v| !v.is_empty() && v != "0"))
}

/// The size that a request is rounded up to. `None` above the address space.
#[inline]
pub fn rounded(bytes: usize) -> Option<usize> {
    if bytes > CACHED {
        return cache::class_size(bytes);
    }
    Some((bytes.max(1) + ALIGN - 1) & !(ALIGN - 1))
}

/// A block of `size` bytes, a result of [`rounded`]. Uninitialised unless `zeroed`.
#[inline]
pub fn allocate(size: usize, zeroed: bool) -> Option<NonNull<u8>> {
    debug_assert!(size.is_multiple_of(ALIGN) && size > 0);
    let block = if size <= SMALL { small(size) } else { counted(size, zeroed) }?;
    // SAFETY: the block has `size` bytes and is nobody else's.
    unsafe {
        if zeroed && size <= SMALL {
            block.write_bytes(0, size);
        } else if !zeroed && debug() {
            block.write_bytes(NEW, size);
        }
    }
    Some(block)
}

#[inline]
fn small(size: usize) -> Option<NonNull<u8>> {
    // SAFETY: the size is not zero. The start lies at least NATURAL and at most ALIGN bytes into what was
    // allocated, so that the distance fits before it.
    unsafe {
        let raw = NonNull::new(alloc(small_layout(size)))?;
        let shift = ALIGN - (raw.as_ptr() as usize & (ALIGN - 1));
        let start = raw.add(shift);
        start.sub(NATURAL).cast::<usize>().write(shift);
        Some(start)
    }
}

fn counted(size: usize, zeroed: bool) -> Option<NonNull<u8>> {
    let block = if size > CACHED { cache::take(size, zeroed) } else { plain(size, zeroed) }?;
    BLOCKS.fetch_add(1, Relaxed);
    let in_use = IN_USE.fetch_add(size, Relaxed) + size;
    if in_use > PEAK.load(Relaxed) {
        PEAK.fetch_max(in_use, Relaxed);
    }
    Some(block)
}

/// A block of the system's.
fn plain(size: usize, zeroed: bool) -> Option<NonNull<u8>> {
    let layout = Layout::from_size_align(size, ALIGN).ok()?;
    // SAFETY: the size is not zero.
    NonNull::new(unsafe { if zeroed { alloc_zeroed(layout) } else { alloc(layout) } })
}

/// Gives a block back.
///
/// # Safety
/// `block` came from [`allocate`] with this `size`, and nobody uses it any more.
#[inline]
pub unsafe fn release(block: NonNull<u8>, size: usize) {
    // SAFETY: the caller's promise; each kind of block goes back to where it came from.
    unsafe {
        if debug() {
            block.write_bytes(FREED, size);
        }
        if size <= SMALL {
            let shift = block.sub(NATURAL).cast::<usize>().read();
            return dealloc(block.sub(shift).as_ptr(), small_layout(size));
        }
        IN_USE.fetch_sub(size, Relaxed);
        BLOCKS.fetch_sub(1, Relaxed);
        if size > CACHED { cache::keep(block, size) } else { release_plain(block, size) }
    }
}

/// # Safety
/// `block` came from [`plain`] with this `size`, and nobody uses it any more.
unsafe fn release_plain(block: NonNull<u8>, size: usize) {
    // SAFETY: the caller's promise; the layout is that of `plain`.
    unsafe { dealloc(block.as_ptr(), Layout::from_size_align_unchecked(size, ALIGN)) }
}

/// What is asked of the system for a small block.
#[inline]
fn small_layout(size: usize) -> Layout {
    Layout::from_size_align(size + ALIGN, NATURAL).expect("a small size fits")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One size of each kind.
    const SIZES: [usize; 4] = [100, 5000, 100_000, 3_000_000];

    #[test]
    fn blocks_are_aligned_distinct_and_zero_where_asked() {
        for bytes in SIZES {
            let size = rounded(bytes).unwrap();
            assert!(size >= bytes && size <= bytes + bytes / 8 + ALIGN);
            let blocks: Vec<_> = (0..20).map(|_| allocate(size, true).unwrap()).collect();
            for (i, block) in blocks.iter().enumerate() {
                assert_eq!(block.as_ptr() as usize % ALIGN, 0);
                assert!(!blocks[..i].contains(block));
                // SAFETY: the block is ours and has `size` bytes.
                unsafe { block.as_ptr().write_bytes(0xAB, size) };
            }
            // SAFETY: each block is released once, with the size it was allocated with.
            blocks.iter().for_each(|&block| unsafe { release(block, size) });
            // A kept block is zero again when that is asked for.
            let again = allocate(size, true).unwrap();
            // SAFETY: as above.
            unsafe {
                assert!((0..size).all(|i| again.as_ptr().add(i).read() == 0));
                release(again, size);
            }
        }
    }

    #[test]
    fn a_size_beyond_the_address_space_is_refused() {
        for bytes in [usize::MAX, isize::MAX as usize, isize::MAX as usize - 100] {
            assert_eq!(rounded(bytes), None);
        }
        // Within it, but not to be had.
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
