//! Block results that wait for their partner.

use super::reducer::Reducer;
use smallvec::SmallVec;
use std::mem::MaybeUninit;

/// Merges the results of blocks pairwise, as the digits of a binary counter: at most one waits per level.
pub(super) struct Tree<'a> {
    reducer: &'a Reducer,
    width: usize,
    /// The levels at which one waits.
    levels: u64,
    /// A place for each level.
    waiting: SmallVec<[MaybeUninit<[u64; 2]>; 8]>,
}

impl<'a> Tree<'a> {
    /// Of `width` outputs side by side.
    pub(super) fn new(reducer: &'a Reducer, width: usize) -> Tree<'a> {
        Tree { reducer, width, levels: 0, waiting: SmallVec::new() }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    fn bytes(&self) -> usize {
        self.reducer.bytes * self.width
    }

    /// The size of a place, in pairs of words.
    pub(super) fn slots(&self) -> usize {
        self.bytes().div_ceil(16)
    }

    fn place(&mut self, level: u32) -> *mut u8 {
        let at = level as usize * self.slots();
        self.waiting[at..].as_mut_ptr().cast()
    }

    /// Adds the accumulators of two to the `level` blocks, or of the last ones.
    ///
    /// # Safety
    /// `results` holds `width` accumulators.
    pub(super) unsafe fn push(&mut self, results: *const u8, mut level: u32) {
        let end = level + (self.levels >> level).trailing_ones() + 1;
        let length = end as usize * self.slots();
        if self.waiting.len() < length {
            self.waiting.reserve(length - self.waiting.len());
            // SAFETY: there is room, which is written before it is read.
            unsafe { self.waiting.set_len(length) };
        }
        let mut newest = results;
        // SAFETY: every place holds `width` accumulators, and so does `results`.
        unsafe {
            while self.levels >> level & 1 == 1 {
                let older = self.place(level);
                (self.reducer.merge)(older, newest, self.width);
                self.levels &= !(1 << level);
                newest = older;
                level += 1;
            }
            self.place(level).copy_from_nonoverlapping(newest, self.bytes());
        }
        self.levels |= 1 << level;
    }

    /// Merges what is left, newest first, and hands out the result.
    ///
    /// # Safety
    /// `out` has room for `width` accumulators; something was pushed.
    pub(super) unsafe fn finish(&mut self, out: *mut u8) {
        let newest = self.levels.trailing_zeros();
        let mut result = self.place(newest);
        // SAFETY: the caller's promise, and every place that counts holds `width` accumulators.
        unsafe {
            for level in newest + 1..u64::BITS - self.levels.leading_zeros() {
                if self.levels >> level & 1 == 1 {
                    let older = self.place(level);
                    (self.reducer.merge)(older, result, self.width);
                    result = older;
                }
            }
            out.copy_from_nonoverlapping(result, self.bytes());
        }
    }
}
