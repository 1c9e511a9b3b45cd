//! Words: a key and the position of its element in one integer, and how they are sorted.
//!
//! ```text
//! | key - smallest key of the line | position |     as few bits as the line needs: 32, 64 or 128
//! ```
//! Positions make all words different, so the order of words is the stable order of elements, by whichever algorithm.
//! Three instantiations serve all dtypes. Values alone are words without a position.
//!
//! Measured on one core of a busy machine, in ns per word, for `sort` here, the standard library's `sort_unstable`, and
//! passes of 11 bits over all words from the least significant digit on:
//!
//! | words | `sort` | `sort_unstable` | passes |
//! |---|---|---|---|
//! | 8192 words of 64 bits, keys of 32 random bits | 7 | 15 | 7 |
//! | 131072 of them | 8 | 18 | 8 |
//! | 10M of them | 10 | 37 | 33 |
//! | 10M words of 64 bits, keys of float32 with a normal distribution | 28 | 36 | 26 |
//! | 32768 words of 128 bits, keys of 64 random bits | 19 | 28 | 30 |
//! | 10M of them | 51 | 68 | 107 |
//!
//! A first pass of 11 bits over 10M words instead of 8 bits took 31 instead of 10: its buckets are more than the TLB has
//! entries. Up to [`MAX_COMPARED`] words, `sort_unstable` is as fast as counting digits.

use super::keys::{KEYS_PER_LOAD, KeyLine, KeyRange};
use crate::threads::Shared;

/// The most words that are sorted by comparisons, and the most whose keys have more than [`MAX_PASSES`] digits.
const MAX_COMPARED: usize = 1536;
const MAX_COMPARED_LONG: usize = 8 << 10;
/// The most passes from the least significant digit on.
const MAX_PASSES: u32 = 3;
/// Bytes of words whose passes stay in the L2 cache.
const CACHED_BYTES: usize = 1 << 20;
/// Bits of a digit of words in the cache, and of more words: there, more buckets than the TLB has entries are slow.
pub(super) const DIGIT_BITS: u32 = 11;
const FIRST_DIGIT_BITS: u32 = 8;
pub(super) const BUCKETS: usize = 1 << DIGIT_BITS;

pub(super) trait SortWord: Copy + Ord + Send + Sync + 'static {
    /// A word of a key and a position of `shift` bits.
    fn of(key: u64, shift: u32, position: usize) -> Self;
    fn key(self, shift: u32) -> u64;
    fn position(self, shift: u32) -> usize;
    /// The bits from `shift` on that a mask selects.
    fn digit(self, shift: u32, mask: usize) -> usize;
}

macro_rules! words {
    ($($w:ident)*) => { $(
        impl SortWord for $w {
            #[inline(always)]
            fn of(key: u64, shift: u32, position: usize) -> $w { (key as $w) << shift | position as $w }
            #[inline(always)]
            fn key(self, shift: u32) -> u64 { (self >> shift) as u64 }
            #[inline(always)]
            fn position(self, shift: u32) -> usize { (self & ((1 << shift) - 1)) as usize }
            #[inline(always)]
            fn digit(self, shift: u32, mask: usize) -> usize { (self >> shift) as usize & mask }
        }
    )* };
}
words! { u32 u64 u128 }

/// How the elements of a line become words.
#[derive(Clone, Copy)]
pub(super) struct WordFormat {
    /// The smallest key.
    base: u64,
    pub key_bits: u32,
    /// Bits of a position; 0 if words have none.
    pub position_bits: u32,
    /// Whether an element's bits may have to be read from the line.
    ambiguous: bool,
}

impl WordFormat {
    /// The format of a line with keys of this range. Words have positions if they are wanted, or needed for the values.
    pub fn new(length: usize, range: KeyRange, positions: bool) -> WordFormat {
        let bits = |largest: u64| u64::BITS - largest.leading_zeros();
        let position_bits = if positions || range.ambiguous { bits(length as u64 - 1) } else { 0 };
        let key_bits = bits(range.high - range.low).max(1);
        WordFormat { base: range.low, key_bits, position_bits, ambiguous: range.ambiguous }
    }

    pub fn bits(&self) -> u32 {
        self.key_bits + self.position_bits
    }

    /// The key that a word has for a key of the line. Wraps where another thread has changed the line.
    #[inline(always)]
    pub fn relative(&self, key: u64) -> u64 {
        key.wrapping_sub(self.base)
    }

    #[inline(always)]
    pub fn word<W: SortWord>(&self, key: u64, position: usize) -> W {
        let position = if self.position_bits == 0 { 0 } else { position };
        W::of(self.relative(key), self.position_bits, position)
    }

    /// The key of the line that a word has.
    #[inline(always)]
    pub fn key<W: SortWord>(&self, word: W) -> u64 {
        word.key(self.position_bits).wrapping_add(self.base)
    }

    /// Writes the words of a line.
    ///
    /// # Safety
    /// `to` is valid for writing as many words as the line has elements.
    pub unsafe fn pack<W: SortWord>(&self, line: &KeyLine, to: *mut W) {
        line.for_each_block(0..line.length, |first, keys| {
            for (i, &key) in keys.iter().enumerate() {
                // SAFETY: this function's contract; blocks cover the line.
                unsafe { to.add(first + i).write(self.word(key, first + i)) };
            }
        });
    }
}

/// Evaluates the body with `W` as the word of a format.
macro_rules! by_word {
    ($format:expr, $W:ident => $body:expr) => {
        match $format.bits() {
            0..=32 => by_word!(@as u32, $W => $body),
            33..=64 => by_word!(@as u64, $W => $body),
            _ => by_word!(@as u128, $W => $body),
        }
    };
    (@as $t:ident, $W:ident => $body:expr) => {{
        type $W = $t;
        $body
    }};
}
pub(super) use by_word;

/// Where the results of a line are written: values, positions, or both. Null if they are not wanted.
#[derive(Clone, Copy)]
pub(super) struct LineResults {
    pub values: Shared<*mut u8>,
    pub positions: Shared<*mut i64>,
}

impl LineResults {
    /// Writes the values and positions of sorted words to results from `at` on.
    ///
    /// # Safety
    /// The results that are wanted have as many elements from `at` on.
    pub unsafe fn write<W: SortWord>(&self, line: &KeyLine, format: &WordFormat, at: usize, words: &[W]) {
        let shift = format.position_bits;
        let mut at = at;
        for block in words.chunks(KEYS_PER_LOAD) {
            if !self.positions.get().is_null() {
                for (i, word) in block.iter().enumerate() {
                    // SAFETY: this function's contract.
                    unsafe { self.positions.at(at + i).write(word.position(shift) as i64) };
                }
            }
            if !self.values.get().is_null() {
                let mut keys = [0; KEYS_PER_LOAD];
                keys.iter_mut().zip(block).for_each(|(key, word)| *key = format.key(*word));
                let size = line.element_size();
                // SAFETY: this function's contract.
                unsafe {
                    let to = self.values.at(at * size);
                    line.store(to, &keys[..block.len()]);
                    if format.ambiguous {
                        for (i, word) in block.iter().enumerate() {
                            line.restore(to.add(i * size), keys[i], word.position(shift));
                        }
                    }
                }
            }
            at += block.len();
        }
    }
}

/// Sorts `n` words that differ only in the bits below `high`, and are in order of the bits below `low`. Returns where the
/// sorted words are: `a` or `b`. The time is linear in `n` for any words.
///
/// # Safety
/// `a` and `b` are valid for reading and writing `n` words and do not overlap; `a` holds words.
pub(super) unsafe fn sort<W: SortWord>(a: *mut W, b: *mut W, n: usize, low: u32, high: u32) -> *mut W {
    if low >= high || n < 2 {
        return a;
    }
    let in_cache = n * size_of::<W>() <= CACHED_BYTES;
    let passes = (high - low).div_ceil(DIGIT_BITS);
    // SAFETY: this function's contract, for all words or for parts of them.
    unsafe {
        if n <= if passes > MAX_PASSES { MAX_COMPARED_LONG } else { MAX_COMPARED } {
            std::slice::from_raw_parts_mut(a, n).sort_unstable();
            a
        } else if n <= u32::MAX as usize && (passes == 1 || in_cache && passes <= MAX_PASSES) {
            sort_by_digits(a, b, n, low, high)
        } else if in_cache {
            sort_by_buckets::<W, BUCKETS>(a, b, n, low, high)
        } else {
            sort_by_buckets::<W, { 1 << FIRST_DIGIT_BITS }>(a, b, n, low, high)
        }
    }
}

/// Sorts from the least significant digit on, all words in each pass. One pass before counts all digits. A digit that is the
/// same in all words is skipped.
///
/// # Safety
/// As [`sort`]; there are at most [`MAX_PASSES`] digits, and at most `u32::MAX` words.
unsafe fn sort_by_digits<W: SortWord>(mut a: *mut W, mut b: *mut W, n: usize, low: u32, high: u32) -> *mut W {
    let passes = (high - low).div_ceil(DIGIT_BITS);
    let digit_bits = (high - low).div_ceil(passes);
    let mask = (1 << digit_bits) - 1;
    let mut counts = [[0u32; BUCKETS]; MAX_PASSES as usize];
    for i in 0..n {
        // SAFETY: the contract of `sort`.
        let word = unsafe { a.add(i).read() };
        for (pass, counts) in counts[..passes as usize].iter_mut().enumerate() {
            counts[word.digit(low + pass as u32 * digit_bits, mask)] += 1;
        }
    }
    for (pass, counts) in counts[..passes as usize].iter().enumerate() {
        let mut places = [0; BUCKETS];
        let mut end = 0;
        for (place, &count) in places.iter_mut().zip(counts) {
            (*place, end) = (end, end + count as usize);
        }
        if !counts.contains(&(n as u32)) {
            // SAFETY: the contract of `sort`; every word was counted.
            unsafe { move_words(a, b, n, low + pass as u32 * digit_bits, mask, &mut places) };
            (a, b) = (b, a);
        }
    }
    a
}

/// Sorts by the most significant digit, and then each bucket of words with the same digit.
///
/// # Safety
/// As [`sort`].
#[inline(never)]
unsafe fn sort_by_buckets<W: SortWord, const N: usize>(
    a: *mut W,
    b: *mut W,
    n: usize,
    low: u32,
    high: u32,
) -> *mut W {
    let shift = high.saturating_sub(N.ilog2()).max(low);
    // SAFETY: the contract of `sort`; buckets are parts of the words.
    unsafe {
        let Some(ends) = distribute::<W, N>(a, b, n, shift, N - 1) else {
            return sort(a, b, n, low, shift);
        };
        let mut start = 0;
        for end in ends {
            let (from, to) = (b.add(start), a.add(start));
            let sorted = sort(from, to, end - start, low, shift);
            if sorted != from {
                from.copy_from_nonoverlapping(sorted, end - start);
            }
            start = end;
        }
    }
    b
}

/// Moves words from `a` to `b`, by their digits, and returns where the words of each digit end. Moves nothing if all
/// digits are equal.
///
/// # Safety
/// As [`sort`]; the mask is below `N`.
unsafe fn distribute<W: SortWord, const N: usize>(
    a: *mut W,
    b: *mut W,
    n: usize,
    shift: u32,
    mask: usize,
) -> Option<[usize; N]> {
    let mut ends = [0; N];
    for i in 0..n {
        // SAFETY: this function's contract.
        ends[unsafe { a.add(i).read() }.digit(shift, mask) & (N - 1)] += 1;
    }
    if ends.contains(&n) {
        return None;
    }
    let mut end = 0;
    for count in &mut ends {
        (*count, end) = (end, end + *count);
    }
    // SAFETY: this function's contract; every word was counted.
    unsafe { move_words(a, b, n, shift, mask, &mut ends) };
    Some(ends)
}

/// Moves words from `a` to `b`, to the next place of their digit.
///
/// # Safety
/// As [`sort`]; the mask is below `N`, and `places` has those of all words.
#[inline(always)]
unsafe fn move_words<W: SortWord, const N: usize>(
    a: *mut W,
    b: *mut W,
    n: usize,
    shift: u32,
    mask: usize,
    places: &mut [usize; N],
) {
    for i in 0..n {
        // SAFETY: this function's contract: the place is below `n`.
        unsafe {
            let word = a.add(i).read();
            let place = &mut places[word.digit(shift, mask) & (N - 1)];
            b.add(*place).write(word);
            *place += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of any key bits, of sizes around the thresholds, against the standard library's sort.
    #[test]
    fn words_are_sorted_like_by_the_standard_library() {
        fn check<W: SortWord + std::fmt::Debug>(n: usize, key_bits: u32, position_bits: u32, pattern: u32) {
            let mut state = 12345u64 + n as u64;
            let keys = (0..n as u64).map(|i| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let key = match pattern {
                    0 => state ^ state >> 29,
                    1 => i,
                    2 => n as u64 - i,
                    3 => i.min(n as u64 - i),
                    _ => 7,
                };
                key & (u64::MAX >> (64 - key_bits))
            });
            let mut a: Vec<W> = keys.enumerate().map(|(i, key)| W::of(key, position_bits, i)).collect();
            let (mut b, mut wanted) = (a.clone(), a.clone());
            wanted.sort();
            // SAFETY: both have `n` words.
            let sorted = unsafe {
                let sorted = sort(a.as_mut_ptr(), b.as_mut_ptr(), n, position_bits, position_bits + key_bits);
                std::slice::from_raw_parts(sorted, n)
            };
            assert_eq!(sorted, wanted, "{n} words of {key_bits} bits, pattern {pattern}");
        }
        for n in [0, 1, 2, MAX_COMPARED, MAX_COMPARED + 1, MAX_COMPARED_LONG, MAX_COMPARED_LONG + 1, 140_001]
        {
            for pattern in 0..5 {
                check::<u32>(n, 12, 18, pattern);
                check::<u64>(n, 32, 18, pattern);
                check::<u64>(n, 46, 18, pattern);
                check::<u128>(n, 64, 64, pattern);
            }
        }
    }
}
