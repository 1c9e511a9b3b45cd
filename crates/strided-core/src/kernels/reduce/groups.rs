//! Groups: adjacent terms, one for each lane; columns of rows; and the merge of lanes.
//!
//! Loops over groups are written so that the compiler keeps all lanes in whole vector registers from beginning to
//! end. It decides from the end of a function backwards. So tails have no loop of their own (they are padded to a
//! group), and lanes go through memory before they are merged to fewer than a register holds.

use super::LANES;
use crate::cpu;
use std::mem::MaybeUninit;

/// Scratch for a group. It is aligned so that none of its registers crosses a cache line: a store that does is
/// forwarded late to the load that follows it.
#[repr(align(32))]
pub struct GroupScratch<T>(MaybeUninit<[T; LANES]>);

impl<T> GroupScratch<T> {
    pub const NEW: GroupScratch<T> = GroupScratch(MaybeUninit::uninit());
}

/// Adjacent terms in groups. A tail is copied into scratch and padded there, so that loops need no second body for it.
pub struct Groups<T> {
    terms: *const T,
    pub count: usize,
    /// Groups that are read in place.
    whole: usize,
    tail: *const [T; LANES],
}

impl<T: Copy> Groups<T> {
    /// The groups of `n` terms, padded with `identity`. `FAST` as in [`cpu::Specialised::compute`].
    ///
    /// # Safety
    /// `terms` points to `n` readable terms; they and the scratch outlive the groups.
    #[inline(always)]
    pub unsafe fn new<const FAST: bool>(
        terms: *const T,
        n: usize,
        identity: T,
        scratch: &mut GroupScratch<T>,
    ) -> Groups<T> {
        let (whole, rest) = (n / LANES, n % LANES);
        if rest > 0 {
            // SAFETY: `rest` terms remain after the whole groups; `scratch` holds a group.
            unsafe { pad::<T, FAST>(scratch.0.as_mut_ptr(), identity, terms.add(whole * LANES), rest) };
        }
        Groups { terms, count: n.div_ceil(LANES), whole, tail: cpu::opaque_pointer(scratch.0.as_ptr()) }
    }

    /// Reads group `i`.
    ///
    /// # Safety
    /// `i < self.count`.
    #[inline(always)]
    pub unsafe fn read(&self, i: usize) -> [T; LANES] {
        // SAFETY: whole groups are among the terms, and `new` wrote the tail.
        unsafe { self.at(i).cast::<[T; LANES]>().read() }
    }

    /// The address of group `i`.
    #[inline(always)]
    pub fn at(&self, i: usize) -> *const T {
        if i < self.whole { self.terms.wrapping_add(i * LANES) } else { self.tail.cast() }
    }
}

/// Writes a group of `n` terms and padding. It writes whole registers where the CPU has masked loads: a load that spans
/// several smaller stores must wait for them (store forwarding fails).
///
/// # Safety
/// `terms` points to `n` readable terms, `n < LANES`; `to` has space for a group.
#[inline(always)]
unsafe fn pad<T: Copy, const FAST: bool>(to: *mut [T; LANES], identity: T, terms: *const T, n: usize) {
    #[cfg(target_arch = "x86_64")]
    if FAST && const { size_of::<T>() <= 8 } {
        use std::arch::x86_64::{
            __m256i, _mm256_blendv_epi8, _mm256_cmpeq_epi32, _mm256_cmpgt_epi32, _mm256_loadu_si256,
            _mm256_maskload_epi32, _mm256_set1_epi32, _mm256_setr_epi32, _mm256_storeu_si256,
        };
        const WORDS: usize = size_of::<__m256i>() / 4;
        let (to, from) = (to.cast::<i32>(), terms.cast::<i32>());
        // Masks are made of 4-byte words. Smaller terms that do not fill the last word are put together in `partial`.
        let (terms_per_word, words_per_term) =
            const { (size_of::<u32>().div_ceil(size_of::<T>()), size_of::<T>().div_ceil(4)) };
        let words = n / terms_per_word * words_per_term;
        let mut partial = [identity; 4];
        for (i, term) in partial.iter_mut().enumerate().take(n % terms_per_word) {
            // SAFETY: the term's index is below `n`.
            *term = unsafe { terms.add(n / terms_per_word * terms_per_word + i).read() };
        }
        let padding = [identity; LANES];
        // SAFETY: words beyond the terms are masked out; `to` has LANES terms, which are a whole number of registers;
        // FAST says that the CPU has AVX2.
        unsafe {
            let padding = _mm256_loadu_si256(padding.as_ptr().cast());
            let partial = _mm256_set1_epi32(partial.as_ptr().cast::<i32>().read_unaligned());
            let indices = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            for at in (0..LANES / terms_per_word * words_per_term).step_by(WORDS) {
                let left = _mm256_set1_epi32(words as i32 - at as i32);
                let mask = _mm256_cmpgt_epi32(left, indices);
                let loaded = _mm256_maskload_epi32(from.wrapping_add(at), mask);
                let mut all = _mm256_blendv_epi8(padding, loaded, mask);
                if const { size_of::<T>() < 4 } {
                    all = _mm256_blendv_epi8(all, partial, _mm256_cmpeq_epi32(left, indices));
                }
                _mm256_storeu_si256(to.add(at).cast(), all);
            }
        }
        return;
    }
    // SAFETY: the contract of this function.
    unsafe {
        to.write([identity; LANES]);
        to.cast::<T>().copy_from_nonoverlapping(terms, n);
    }
}

/// Reads N terms of a row from column `at` on.
///
/// # Safety
/// The row has these terms, of type `T` and aligned for it.
#[inline(always)]
pub unsafe fn column<T: Copy, const N: usize>(row: *const u8, at: usize) -> [T; N] {
    // SAFETY: the contract of this function.
    unsafe { row.cast::<T>().add(at).cast::<[T; N]>().read() }
}

/// Merges lanes: 32 -> 16 -> 8 -> 4 -> 2 -> 1.
#[inline(always)]
pub fn merge_in_halves<A: Copy>(mut lanes: [A; LANES], merge: impl Fn(A, A) -> A) -> A {
    // Lanes of one register, or of two.
    let in_registers = const { if size_of::<A>() < 4 { LANES / size_of::<A>() } else { 8 } };
    let mut width = LANES;
    while width > in_registers {
        width /= 2;
        for j in 0..width {
            lanes[j] = merge(lanes[j], lanes[j + width]);
        }
    }
    let mut scratch = GroupScratch::<A>::NEW;
    // SAFETY: the scratch has space for all lanes; what is read was written just now.
    unsafe {
        scratch.0.as_mut_ptr().cast::<A>().copy_from_nonoverlapping(lanes.as_ptr(), in_registers);
        lanes
            .as_mut_ptr()
            .copy_from_nonoverlapping(cpu::opaque_pointer(scratch.0.as_ptr()).cast(), in_registers);
    }
    while width > 1 {
        width /= 2;
        for j in 0..width {
            lanes[j] = merge(lanes[j], lanes[j + width]);
        }
    }
    lanes[0]
}
