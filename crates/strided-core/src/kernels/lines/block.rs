//! Blocks of a line, and rows of lanes: how they are read and written where they are not whole.

// Loops have indices, and what they call is inlined: see `cpu::Task`.
#![allow(clippy::needless_range_loop)]

use super::exponent::{BLOCK, Exponent};
use std::hint::black_box;

/// The last block of a line that does not end with a whole one: it ends with the line, and so begins with elements of
/// the block before, or with the lowest number. No load waits for stores of other sizes that way. It is read before
/// anything is written, for the line may be its own output.
///
/// # Safety
/// So many elements are there.
#[inline(always)]
pub(super) unsafe fn last<E: Exponent>(from: *const E, n: usize) -> [E; BLOCK] {
    let mut room = [E::LOWEST; BLOCK];
    // SAFETY: the caller's promise.
    unsafe {
        if n >= BLOCK {
            return from.add(n - BLOCK).cast::<[E; BLOCK]>().read_unaligned();
        }
        copy(room.as_mut_ptr().add(BLOCK - n), from, n);
    }
    room
}

/// The elements of a block, of which the first `skip` are none of its own if it is the last one. That one lies where the
/// compiler cannot see it, or it would be mixed with every other.
///
/// # Safety
/// Whole blocks and the last one have their elements.
#[inline(always)]
pub(super) unsafe fn block<E: Exponent>(
    from: *const E,
    first: usize,
    skip: usize,
    last: *const E,
) -> [E; BLOCK] {
    let place = if skip == 0 { from.wrapping_add(first) } else { last };
    // SAFETY: the caller's promise.
    unsafe { place.cast::<[E; BLOCK]>().read_unaligned() }
}

/// Writes what was made of a block. The last one brings the elements of the block before once more, with the same bits.
///
/// # Safety
/// There is room for so many elements.
#[inline(always)]
pub(super) unsafe fn put<E: Exponent>(to: *mut E, first: usize, n: usize, x: [E; BLOCK]) {
    // SAFETY: the caller's promise.
    unsafe {
        if n >= BLOCK {
            return to.add(first.min(n - BLOCK)).cast::<[E; BLOCK]>().write_unaligned(x);
        }
        copy(to, black_box(x).as_ptr().add(BLOCK - n), n);
    }
}

/// Reads an element of L lanes; of fewer if `PART`, and that of the last one in the others. One by one, because a load
/// of all would wait for stores of each.
///
/// # Safety
/// So many elements are there, at least one.
#[inline(always)]
pub(super) unsafe fn read<E: Exponent, const L: usize, const PART: bool>(
    from: *const E,
    count: usize,
) -> [E; L] {
    // SAFETY: the caller's promise.
    unsafe {
        if const { !PART } {
            return from.cast::<[E; L]>().read_unaligned();
        }
        let mut x = [E::LOWEST; L];
        for j in 0..L {
            x[j] = from.add(j.min(count - 1)).read();
        }
        x
    }
}

/// Writes an element of L lanes, or of fewer if `PART`.
///
/// # Safety
/// There is room for so many.
#[inline(always)]
pub(super) unsafe fn write<E: Exponent, const L: usize, const PART: bool>(
    to: *mut E,
    x: [E; L],
    count: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        if const { !PART } {
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
/// The elements and their places are there.
#[inline(never)]
unsafe fn copy<E: Exponent>(to: *mut E, from: *const E, count: usize) {
    for i in 0..count {
        // SAFETY: the caller's promise.
        unsafe { to.add(i).write(from.add(i).read()) };
    }
}
