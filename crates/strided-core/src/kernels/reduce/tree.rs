//! Block results that wait for their partner.

use super::fold::Reducer;
use smallvec::SmallVec;

/// Merges the results of blocks pairwise, as the digits of a binary counter: at most one waits per level.
pub(super) struct Tree<'a> {
    reducer: &'a Reducer,
    width: usize,
    /// Level of each waiting result, lowest last.
    levels: SmallVec<[u32; 8]>,
    waiting: SmallVec<[[u64; 2]; 8]>,
}

impl<'a> Tree<'a> {
    /// Of `width` outputs side by side.
    pub(super) fn new(reducer: &'a Reducer, width: usize) -> Tree<'a> {
        Tree { reducer, width, levels: SmallVec::new(), waiting: SmallVec::new() }
    }

    fn bytes(&self) -> usize {
        self.reducer.bytes * self.width
    }

    /// The size of a waiting result, in pairs of words.
    pub(super) fn slots(&self) -> usize {
        self.bytes().div_ceil(16)
    }

    /// The address of the waiting result that has so many at and above it.
    fn top(&mut self, from_top: usize) -> *mut u8 {
        let at = (self.levels.len() - from_top) * self.slots();
        self.waiting[at..].as_mut_ptr().cast()
    }

    /// Adds the accumulators of two to the `level` blocks, or of the last ones.
    ///
    /// # Safety
    /// `results` holds `width` accumulators.
    pub(super) unsafe fn push(&mut self, results: *const u8, level: u32) {
        let (slots, bytes) = (self.slots(), self.bytes());
        self.waiting.extend(std::iter::repeat_n([0; 2], slots));
        self.levels.push(level);
        // SAFETY: the caller's promise, and the top has as much room.
        unsafe { self.top(1).copy_from_nonoverlapping(results, bytes) };
        while let [.., a, b] = self.levels[..] {
            if a != b {
                break;
            }
            self.merge_top();
            *self.levels.last_mut().expect("one is left") = a + 1;
        }
    }

    /// Merges the newest waiting result into the one before it.
    fn merge_top(&mut self) {
        let older = self.top(2);
        let newer = older.wrapping_add(16 * self.slots());
        // SAFETY: both hold `width` accumulators.
        unsafe { (self.reducer.merge)(older, newer, self.width) };
        self.levels.pop();
        let length = self.levels.len() * self.slots();
        self.waiting.truncate(length);
    }

    /// Merges what is left, newest first, and hands out the result.
    ///
    /// # Safety
    /// `out` has room for `width` accumulators; something was pushed.
    pub(super) unsafe fn finish(&mut self, out: *mut u8) {
        while self.levels.len() > 1 {
            self.merge_top();
        }
        let bytes = self.bytes();
        // SAFETY: the caller's promise.
        unsafe { out.copy_from_nonoverlapping(self.top(1), bytes) };
    }
}
