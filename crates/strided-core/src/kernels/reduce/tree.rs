//! The tree over blocks: results of blocks that wait for their partner.

use super::reducer::{AccumulatorUnit, Reducer};
use crate::alloc::out_of_memory;
use crate::error::Result;
use smallvec::SmallVec;

/// Merges the results of blocks pairwise, as a binary counter carries: at most one result is pending per level.
///
/// ```text
/// push of block 3:  level 0 holds block 2, level 1 holds (0 1)
///                   merge(2, 3), then merge((0 1), (2 3)): level 2 holds ((0 1)(2 3))
/// ```
pub(super) struct Tree<'a> {
    reducer: &'a Reducer,
    width: usize,
    /// Bit `k` is set if a result is pending at level `k`.
    levels: u64,
    /// The accumulators of each level, one level after the other.
    pending: SmallVec<[AccumulatorUnit; 8]>,
}

impl<'a> Tree<'a> {
    /// The trees of `width` neighbouring outputs.
    pub(super) fn new(reducer: &'a Reducer, width: usize) -> Tree<'a> {
        Tree { reducer, width, levels: 0, pending: SmallVec::new() }
    }

    /// [`Tree::new`] with memory for the results of so many levels.
    pub(super) fn with_levels(reducer: &'a Reducer, width: usize, levels: u32) -> Result<Tree<'a>> {
        let mut tree = Tree::new(reducer, width);
        let units = levels as usize * tree.level_units();
        let bytes = units * size_of::<AccumulatorUnit>();
        tree.pending.try_reserve(units).map_err(|_| out_of_memory(bytes))?;
        Ok(tree)
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    fn level_bytes(&self) -> usize {
        self.reducer.accumulator_bytes * self.width
    }

    /// Units that hold the accumulators of a level.
    pub(super) fn level_units(&self) -> usize {
        AccumulatorUnit::count(self.level_bytes())
    }

    fn pending_at(&mut self, level: u32) -> *mut u8 {
        let first = level as usize * self.level_units();
        self.pending[first..].as_mut_ptr().cast()
    }

    /// Adds the accumulators of the next `2^level` blocks, or of those that are left.
    ///
    /// # Safety
    /// `results` points to `width` initialised accumulators of the reducer.
    pub(super) unsafe fn push(&mut self, results: *const u8, mut level: u32) {
        let end = level + (self.levels >> level).trailing_ones() + 1;
        let length = end as usize * self.level_units();
        if self.pending.len() < length {
            self.pending.reserve(length - self.pending.len());
            // SAFETY: the line above reserved them, and units need not be initialised.
            unsafe { self.pending.set_len(length) };
        }
        let mut newest = results;
        // SAFETY: `results` is this function's contract. A level whose bit is set was written by an earlier push, and
        // `pending` has units for every level below `end`.
        unsafe {
            while self.levels >> level & 1 == 1 {
                let older = self.pending_at(level);
                (self.reducer.merge)(older, newest, self.width);
                self.levels &= !(1 << level);
                newest = older;
                level += 1;
            }
            self.pending_at(level).copy_from_nonoverlapping(newest, self.level_bytes());
        }
        self.levels |= 1 << level;
    }

    /// Merges what is pending, newest first, and writes the result.
    ///
    /// # Safety
    /// `out` has space for `width` accumulators of the reducer; something was pushed.
    pub(super) unsafe fn finish(&mut self, out: *mut u8) {
        let newest = self.levels.trailing_zeros();
        let mut result = self.pending_at(newest);
        // SAFETY: `out` is this function's contract. A level whose bit is set was written by `push`.
        unsafe {
            for level in newest + 1..u64::BITS - self.levels.leading_zeros() {
                if self.levels >> level & 1 == 1 {
                    let older = self.pending_at(level);
                    (self.reducer.merge)(older, result, self.width);
                    result = older;
                }
            }
            out.copy_from_nonoverlapping(result, self.level_bytes());
        }
    }
}
