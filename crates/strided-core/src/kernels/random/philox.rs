//! Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011): a function from a
//! counter and a key to four words of 32 bits.
//!
//! The counter of a draw has four words: 64 bits that count blocks of four words from the offset of the draw on, the
//! stream of the generator, and the attempt, which is 0 except for words that replace rejected ones.
//!
//! Blocks are computed in groups of 64. The words of a group are the words 0 and 1 of its blocks, block by block, and then
//! their words 2 and 3. So no vector is shuffled, and a group is the same bytes as 256 words of 32 bits and as 128 words of
//! 64 bits.

/// Blocks of a group.
pub const GROUP: usize = 64;
const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// What the key advances by from round to round.
const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const LOW: u64 = 0xFFFF_FFFF;

/// The ten rounds. Each number holds a word in its lower half; the upper half has no meaning, and costs nothing: vector
/// instructions multiply the lower halves of 64-bit lanes.
#[inline(always)]
fn rounds(counter: [u64; 4], key: [u32; 2]) -> [u64; 4] {
    let ([mut a, mut b, mut c, mut d], [mut low, mut high]) = (counter, key);
    for _ in 0..10 {
        let (first, second) = ((a & LOW) * MULTIPLIERS[0], (c & LOW) * MULTIPLIERS[1]);
        (a, b, c, d) = ((second >> 32) ^ b ^ low as u64, second, (first >> 32) ^ d ^ high as u64, first);
        (low, high) = (low.wrapping_add(KEY_STEPS[0]), high.wrapping_add(KEY_STEPS[1]));
    }
    [a, b, c, d]
}

/// The words of one call, which no other draw of its generator has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw {
    pub seed: u64,
    pub stream: u32,
    /// The number of its first block.
    pub offset: u64,
}

impl Draw {
    #[inline(always)]
    fn raw(&self, block: u64, attempt: u32) -> [u64; 4] {
        let count = self.offset.wrapping_add(block);
        let key = [self.seed as u32, (self.seed >> 32) as u32];
        rounds([count, count >> 32, self.stream as u64, attempt as u64], key)
    }

    /// The four words of a block.
    pub fn block(&self, block: u64, attempt: u32) -> [u32; 4] {
        self.raw(block, attempt).map(|word| word as u32)
    }

    /// Writes the words of the first `count` blocks of a group.
    ///
    /// # Safety
    /// `to` is valid for writing the 128 numbers of a group.
    #[inline(always)]
    pub unsafe fn group(&self, group: u64, count: usize, to: *mut u64) {
        let draw = *self;
        let first = group.wrapping_mul(GROUP as u64);
        for i in 0..count {
            let [a, b, c, d] = draw.raw(first.wrapping_add(i as u64), 0);
            // SAFETY: this function's contract: `count` is at most GROUP.
            unsafe {
                to.add(i).write(((a & LOW) | (b << 32)).to_le());
                to.add(GROUP + i).write(((c & LOW) | (d << 32)).to_le());
            }
        }
    }

    /// A word of 32 bits, at its index in the draw.
    pub fn word32(&self, index: usize, attempt: u32) -> u32 {
        let (group, at) = (index / (4 * GROUP), index % (4 * GROUP));
        let (half, at) = (at / (2 * GROUP), at % (2 * GROUP));
        self.block((group * GROUP + at / 2) as u64, attempt)[2 * half + at % 2]
    }

    /// A word of 64 bits, at its index in the draw.
    pub fn word64(&self, index: usize, attempt: u32) -> u64 {
        let (group, at) = (index / (2 * GROUP), index % (2 * GROUP));
        let words = self.block((group * GROUP + at % GROUP) as u64, attempt);
        let half = 2 * (at / GROUP);
        words[half] as u64 | (words[half + 1] as u64) << 32
    }
}

/// 32 or 64 random bits.
pub trait Word: Copy {
    /// Words of a group.
    const PER_GROUP: usize = 16 * GROUP / size_of::<Self>();
}
impl Word for u32 {}
impl Word for u64 {}

/// The number of blocks whose words are the first `words` words of a group.
#[inline(always)]
pub fn blocks_of<W: Word>(words: usize) -> usize {
    words.div_ceil(8 / size_of::<W>()).min(GROUP)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of Random123 (file kat_vectors) for philox4x32 with ten rounds.
    #[test]
    fn published_vectors() {
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344u64];
        for (counter, key, expected) in [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([LOW; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (pi, [0xa409_3822, 0x299f_31d0], [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]),
        ] {
            assert_eq!(rounds(counter, key).map(|word| word as u32), expected);
        }
    }

    #[test]
    fn a_word_of_a_group_is_found_by_its_index() {
        let draw = Draw { seed: 0x1234_5678_9abc_def0, stream: 7, offset: u64::MAX - 70 };
        for group in 0..3 {
            let mut words = [0u64; 2 * GROUP];
            // SAFETY: as many numbers as a group has.
            unsafe { draw.group(group as u64, GROUP, words.as_mut_ptr()) };
            for (i, &word) in words.iter().enumerate() {
                let at = group * 2 * GROUP + i;
                assert_eq!(word, draw.word64(at, 0));
                assert_eq!(
                    [word as u32, (word >> 32) as u32],
                    [2 * at, 2 * at + 1].map(|i| draw.word32(i, 0))
                );
            }
        }
        assert_ne!(draw.word32(5, 0), draw.word32(5, 1));
        assert_eq!((blocks_of::<u32>(1), blocks_of::<u32>(5), blocks_of::<u32>(200)), (1, 3, 64));
        assert_eq!((blocks_of::<u64>(1), blocks_of::<u64>(65)), (1, 64));
    }
}
