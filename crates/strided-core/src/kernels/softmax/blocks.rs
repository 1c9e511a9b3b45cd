//! Loads and stores of blocks of a line and of rows of lanes, also of incomplete ones.

// Loops have indices, and what they call is inlined: see `cpu::Specialised`.
#![allow(clippy::needless_range_loop)]

use super::exponential::{BLOCK, SoftmaxFloat};
use std::hint::black_box;

/// The last block of a line of `n` elements, for lines that do not end with a whole block. It ends with the line and so
/// begins with elements of the block before: a block put together from smaller stores would be slow to load, because a
/// load that spans several stores waits for them. Only a line shorter than a block is put together, with LOWEST in
/// front. The last block is loaded before anything is written, because the line may be its own output.
///
/// # Safety
/// `from` has `n` readable elements.
#[inline(always)]
pub(super) unsafe fn last_block<E: SoftmaxFloat>(from: *const E, n: usize) -> [E; BLOCK] {
    let mut block = [E::LOWEST; BLOCK];
    // SAFETY: elements `n - BLOCK..n` exist by the condition; otherwise `n` elements fit the end of the block.
    unsafe {
        if n >= BLOCK {
            return from.add(n - BLOCK).cast::<[E; BLOCK]>().read_unaligned();
        }
        copy(block.as_mut_ptr().add(BLOCK - n), from, n);
    }
    block
}

/// The block from `first` on; or `last`, if `skip` is not 0, whose first `skip` elements belong to the block before.
/// The caller hides the address of `last` from the compiler, which would otherwise blend it with every block.
///
/// # Safety
/// `from` has `first + BLOCK` readable elements if `skip` is 0, and `last` has BLOCK of them.
#[inline(always)]
pub(super) unsafe fn load_block<E: SoftmaxFloat>(
    from: *const E,
    first: usize,
    skip: usize,
    last: *const E,
) -> [E; BLOCK] {
    let address = if skip == 0 { from.wrapping_add(first) } else { last };
    // SAFETY: either address has BLOCK elements by this function's contract.
    unsafe { address.cast::<[E; BLOCK]>().read_unaligned() }
}

/// Stores the results of the block from `first` on. Those of a last, incomplete block include results of the block
/// before, which are stored again with the same bits.
///
/// # Safety
/// `to` has `n` writable elements, and `first < n`.
#[inline(always)]
pub(super) unsafe fn store_block<E: SoftmaxFloat>(to: *mut E, first: usize, n: usize, x: [E; BLOCK]) {
    // SAFETY: the stored elements end at `n` or before; of a line shorter than a block there are `n`.
    unsafe {
        if n >= BLOCK {
            return to.add(first.min(n - BLOCK)).cast::<[E; BLOCK]>().write_unaligned(x);
        }
        copy(to, black_box(x).as_ptr().add(BLOCK - n), n);
    }
}

/// Loads one element of each of `L` lanes. If `PARTIAL`, there are only `count` lanes, and the last one is repeated;
/// they are loaded one by one, because a load of all of them would wait for the stores of single ones.
///
/// # Safety
/// `from` has `L` readable elements, or `count >= 1` of them if `PARTIAL`.
#[inline(always)]
pub(super) unsafe fn load_lanes<E: SoftmaxFloat, const L: usize, const PARTIAL: bool>(
    from: *const E,
    count: usize,
) -> [E; L] {
    // SAFETY: no index is above `L - 1`, or `count - 1` if PARTIAL, and this function's contract has those elements.
    unsafe {
        if const { !PARTIAL } {
            return from.cast::<[E; L]>().read_unaligned();
        }
        let mut x = [E::LOWEST; L];
        for j in 0..L {
            x[j] = from.add(j.min(count - 1)).read();
        }
        x
    }
}

/// Stores one element of each of `L` lanes, or of the first `count` if `PARTIAL`.
///
/// # Safety
/// `to` has `L` writable elements, or `count` of them if `PARTIAL`.
#[inline(always)]
pub(super) unsafe fn store_lanes<E: SoftmaxFloat, const L: usize, const PARTIAL: bool>(
    to: *mut E,
    x: [E; L],
    count: usize,
) {
    // SAFETY: no index is above `L - 1`, or `count - 1` if PARTIAL, and this function's contract has those elements.
    unsafe {
        if const { !PARTIAL } {
            return to.cast::<[E; L]>().write_unaligned(x);
        }
        for j in 0..L {
            if j < count {
                to.add(j).write(x[j]);
            }
        }
    }
}

/// Copies a few elements.
///
/// # Safety
/// `from` has `count` readable elements and `to` as many writable ones.
#[inline(never)]
unsafe fn copy<E: SoftmaxFloat>(to: *mut E, from: *const E, count: usize) {
    for i in 0..count {
        // SAFETY: `i < count`, and both have `count` elements by this function's contract.
        unsafe { to.add(i).write(from.add(i).read()) };
    }
}
