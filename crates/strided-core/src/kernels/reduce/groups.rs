//! Terms by groups, one term for each lane, or by columns, and lanes that become one.
//!
//! Loops over groups are written so that the compiler keeps lanes in whole registers from beginning to end. It starts
//! from what is done last and follows that back: so tails have no code of their own, and lanes go through memory
//! before they are merged to fewer than a register holds.

use super::LANES;
use crate::cpu;
use std::mem::MaybeUninit;

/// Room for a group. None of its registers lies on two cache lines: what was written so, is read much later.
#[repr(align(32))]
pub struct Room<T>(MaybeUninit<[T; LANES]>);

impl<T> Room<T> {
    pub const NEW: Room<T> = Room(MaybeUninit::uninit());
}

/// Adjacent terms in groups. The last one, if there are too few for it, is filled up in a room.
pub struct Groups<T> {
    terms: *const T,
    pub count: usize,
    /// Groups that are read where they are.
    whole: usize,
    last: *const [T; LANES],
}

impl<T: Copy> Groups<T> {
    /// `FAST` as in [`cpu::Task::run`].
    ///
    /// # Safety
    /// There are `n` terms at `terms`; they and the room outlive the groups.
    #[inline(always)]
    pub unsafe fn new<const FAST: bool>(
        terms: *const T,
        n: usize,
        neutral: T,
        room: &mut Room<T>,
    ) -> Groups<T> {
        let (whole, rest) = (n / LANES, n % LANES);
        if rest > 0 {
            // SAFETY: the caller's promise.
            unsafe { fill::<T, FAST>(room.0.as_mut_ptr(), neutral, terms.add(whole * LANES), rest) };
        }
        Groups { terms, count: n.div_ceil(LANES), whole, last: cpu::opaque_pointer(room.0.as_ptr()) }
    }

    /// # Safety
    /// There is a group of this number.
    #[inline(always)]
    pub unsafe fn read(&self, i: usize) -> [T; LANES] {
        // SAFETY: whole groups are among the terms, and the last one was written where it is not whole.
        unsafe { self.at(i).cast::<[T; LANES]>().read() }
    }

    /// Where the terms of a group are.
    #[inline(always)]
    pub fn at(&self, i: usize) -> *const T {
        if i < self.whole { self.terms.wrapping_add(i * LANES) } else { self.last.cast() }
    }
}

/// Writes a group of some terms and others that change nothing. By whole registers, if the CPU reads parts of them:
/// what is written in smaller pieces than it is read, is read much later.
///
/// # Safety
/// There are `n` terms, fewer than a group, and room for a group.
#[inline(always)]
unsafe fn fill<T: Copy, const FAST: bool>(to: *mut [T; LANES], neutral: T, terms: *const T, n: usize) {
    #[cfg(target_arch = "x86_64")]
    if FAST && const { size_of::<T>() <= 8 } {
        use std::arch::x86_64::{
            __m256i, _mm256_blendv_epi8, _mm256_cmpeq_epi32, _mm256_cmpgt_epi32, _mm256_loadu_si256,
            _mm256_maskload_epi32, _mm256_set1_epi32, _mm256_setr_epi32, _mm256_storeu_si256,
        };
        const WORDS: usize = size_of::<__m256i>() / 4;
        let (to, from) = (to.cast::<i32>(), terms.cast::<i32>());
        // Terms of less than a word: those that fill none are put together in one.
        let (per_word, of_term) =
            const { (size_of::<u32>().div_ceil(size_of::<T>()), size_of::<T>().div_ceil(4)) };
        let words = n / per_word * of_term;
        let mut part = [neutral; 4];
        for (i, term) in part.iter_mut().enumerate().take(n % per_word) {
            // SAFETY: the caller's promise.
            *term = unsafe { terms.add(n / per_word * per_word + i).read() };
        }
        let padding = [neutral; LANES];
        // SAFETY: what is read beyond the terms is masked; the room has LANES terms, which are whole registers; the
        // level has the instructions.
        unsafe {
            let padding = _mm256_loadu_si256(padding.as_ptr().cast());
            let part = _mm256_set1_epi32(part.as_ptr().cast::<i32>().read_unaligned());
            let places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            for at in (0..LANES / per_word * of_term).step_by(WORDS) {
                let left = _mm256_set1_epi32(words as i32 - at as i32);
                let mask = _mm256_cmpgt_epi32(left, places);
                let there = _mm256_maskload_epi32(from.wrapping_add(at), mask);
                let mut all = _mm256_blendv_epi8(padding, there, mask);
                if const { size_of::<T>() < 4 } {
                    all = _mm256_blendv_epi8(all, part, _mm256_cmpeq_epi32(left, places));
                }
                _mm256_storeu_si256(to.add(at).cast(), all);
            }
        }
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        to.write([neutral; LANES]);
        to.cast::<T>().copy_from_nonoverlapping(terms, n);
    }
}

/// N terms of a row, from a column on.
///
/// # Safety
/// They are there.
#[inline(always)]
pub unsafe fn column<T: Copy, const N: usize>(row: *const u8, at: usize) -> [T; N] {
    // SAFETY: the caller's promise.
    unsafe { row.cast::<T>().add(at).cast::<[T; N]>().read() }
}

/// Merges lanes: 32 -> 16 -> 8 -> 4 -> 2 -> 1.
#[inline(always)]
pub fn halve<A: Copy>(mut lanes: [A; LANES], merge: impl Fn(A, A) -> A) -> A {
    // Lanes of a register, or of two.
    let few = const { if size_of::<A>() < 4 { LANES / size_of::<A>() } else { 8 } };
    let mut width = LANES;
    while width > few {
        width /= 2;
        for j in 0..width {
            lanes[j] = merge(lanes[j], lanes[j + width]);
        }
    }
    let mut room = Room::<A>::NEW;
    // SAFETY: there is room for all lanes; what is read was written just now.
    unsafe {
        room.0.as_mut_ptr().cast::<A>().copy_from_nonoverlapping(lanes.as_ptr(), few);
        lanes.as_mut_ptr().copy_from_nonoverlapping(cpu::opaque_pointer(room.0.as_ptr()).cast(), few);
    }
    while width > 1 {
        width /= 2;
        for j in 0..width {
            lanes[j] = merge(lanes[j], lanes[j + width]);
        }
    }
    lanes[0]
}
