//! Selection: one element of each line by its rank, or the first k of its order, without sorting the line.
//!
//! In a long line, the element of a rank is found in one pass. Two keys of a sorted sample enclose it with high probability;
//! the pass collects the words between them and counts the keys below. If the element is not between them, or there are
//! NaNs, and always for the first k elements, the line is read three times instead: for the range of its keys; to count
//! their most significant digits, from which the digit of the wanted element follows; and to collect the words with that
//! digit, or up to it. `select_nth_unstable` of the standard library, whose time is linear in the worst case, then selects
//! among the collected words.

use super::keys::{KEYS_PER_LOAD, KeyLine, KeyRange};
use super::words::{BUCKETS, SortWord, WordFormat, by_word};
use super::{DigitCounts, Lines, MIN_LONG, OrderRequest, Pieces, WordScratch, with_lines};
use crate::alloc::{try_collect, try_reserve, try_vec};
use crate::cpu::simd;
use crate::error::Result;
use crate::threads::Shared;
use std::ops::Range;

/// Which element of a line is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineRank {
    /// The element of this rank in a stable ascending sort.
    Nth(usize),
    /// The middle element, or the lower one of two; the first NaN if there is one.
    Median,
    /// The middle one of the elements that are not NaN, or the lower one of two; the first NaN if there is no other element.
    NanMedian,
}

/// Selects one element of each line.
pub fn select(request: &OrderRequest, rank: LineRank) -> Result<()> {
    assert!(request.kept == 1 && request.indices.is_some());
    with_lines(request, |lines| {
        let visit = |index: usize, line: &KeyLine, scratch: &mut WordScratch| {
            let pieces = Pieces::of(line.length, lines.are_long());
            if line.length >= MIN_LONG {
                let rank = match rank {
                    LineRank::Nth(rank) => rank,
                    LineRank::Median | LineRank::NanMedian => (line.length - 1) / 2,
                };
                if select_by_sample(lines, index, line, &pieces, rank)? {
                    return Ok(());
                }
            }
            let range = pieces.range(line)?;
            let nans = if line.is_nan(range.high) { count_nans(line, &pieces)? } else { 0 };
            let n = line.length;
            let rank = match rank {
                LineRank::Nth(rank) => rank,
                LineRank::Median if nans > 0 => n - nans,
                LineRank::Median => (n - 1) / 2,
                LineRank::NanMedian => (n - nans).saturating_sub(1) / 2,
            };
            let format = WordFormat::new(n, range, true);
            by_word!(format, W => {
                let (words, rank) = words_near_rank::<W>(line, &pieces, format, rank, false, scratch)?;
                let (_, selected, _) = words.select_nth_unstable(rank);
                // SAFETY: the results have one element for each line.
                unsafe { lines.results.write(line, &format, index, std::slice::from_ref(selected)) };
            });
            Ok(())
        };
        lines.for_each(visit)
    })
}

/// Keys of a sample.
const SAMPLE: usize = 4096;
/// How far the enclosing keys are from the expected one in the sorted sample: about three standard deviations of the
/// position of a median, the square root of `SAMPLE / 4`.
const MARGIN: usize = 100;

/// Selects the element of a rank in a long line by a sample. Returns false, and writes nothing, if the sample does not
/// enclose it, or if there is a NaN.
fn select_by_sample(
    lines: &Lines,
    index: usize,
    line: &KeyLine,
    pieces: &Pieces,
    rank: usize,
) -> Result<bool> {
    let n = line.length;
    let mut sample = try_collect((0..SAMPLE).map(|i| line.key(i * (n / SAMPLE))))?;
    sample.sort_unstable();
    let middle = (rank as u128 * SAMPLE as u128 / n as u128) as usize;
    let low = middle.checked_sub(MARGIN).map_or(0, |at| sample[at]);
    let high = sample.get(middle + MARGIN).copied().unwrap_or(u64::MAX);
    // `ambiguous`: the result is read from the line, since several bit patterns may have its key.
    let format = WordFormat::new(n, KeyRange { low, high, ambiguous: true }, true);
    by_word!(format, W => {
        let found = pieces.map(|part| Candidates::<W>::new(line, part, &format, low, high))?;
        let below: usize = found.iter().map(|piece| piece.below).sum();
        let count: usize = found.iter().map(|piece| piece.words.len()).sum();
        if found.iter().any(|piece| piece.overflowed) || rank < below || rank >= below + count {
            return Ok(false);
        }
        let mut words: Vec<W> = try_vec(count)?;
        found.iter().for_each(|piece| words.extend_from_slice(&piece.words));
        let (_, selected, _) = words.select_nth_unstable(rank - below);
        // SAFETY: the results have one element for each line.
        unsafe { lines.results.write(line, &format, index, std::slice::from_ref(selected)) };
    });
    Ok(true)
}

/// What the pass over a piece of a line finds.
struct Candidates<W> {
    /// The number of keys below the enclosing ones.
    below: usize,
    /// Whether there is a NaN, or too many keys are enclosed: the caller then counts digits instead.
    overflowed: bool,
    /// The words of the enclosed keys.
    words: Vec<W>,
}

impl<W: SortWord> Candidates<W> {
    /// Collects the words of the keys from `low` to `high`.
    fn new(
        line: &KeyLine,
        part: Range<usize>,
        format: &WordFormat,
        low: u64,
        high: u64,
    ) -> Result<Candidates<W>> {
        let mut found = Candidates { below: 0, overflowed: false, words: Vec::new() };
        let max_words = part.len() / 2;
        let (mut below, mut highest, mut reserved) = (0, 0, Ok(()));
        line.for_each_block(part, |first, keys| {
            if found.words.len() > max_words || reserved.is_err() {
                return;
            }
            (below, highest) = simd(
                #[inline(always)]
                || {
                    keys.iter().fold((below, highest), |(below, highest), &key| {
                        (below + (key < low) as u64, if key > highest { key } else { highest })
                    })
                },
            );
            let mut inside = [0u16; KEYS_PER_LOAD];
            let mut count = 0;
            for (i, &key) in keys.iter().enumerate() {
                inside[count] = i as u16;
                count += (low <= key && key <= high) as usize;
            }
            reserved = try_reserve(&mut found.words, count);
            if reserved.is_err() {
                return;
            }
            let words =
                inside[..count].iter().map(|&i| format.word::<W>(keys[i as usize], first + i as usize));
            found.words.extend(words);
        });
        reserved?;
        found.below = below as usize;
        found.overflowed = found.words.len() > max_words || line.is_nan(highest);
        Ok(found)
    }
}

/// Selects the first elements of each line's order, and sorts them.
pub fn select_first(request: &OrderRequest) -> Result<()> {
    let k = request.kept;
    with_lines(request, |lines| {
        let visit = |index: usize, line: &KeyLine, scratch: &mut WordScratch| {
            let pieces = Pieces::of(line.length, lines.are_long());
            let format = WordFormat::new(line.length, pieces.range(line)?, true);
            by_word!(format, W => {
                let (words, _) = words_near_rank::<W>(line, &pieces, format, k - 1, true, scratch)?;
                if k < words.len() {
                    words.select_nth_unstable(k - 1);
                }
                let first = &mut words[..k];
                first.sort_unstable();
                // SAFETY: the results have `kept` elements for each line.
                unsafe { lines.results.write(line, &format, index * k, first) };
            });
            Ok(())
        };
        lines.for_each(visit)
    })
}

fn count_nans(line: &KeyLine, pieces: &Pieces) -> Result<usize> {
    let counts = pieces.map(|part| {
        let mut count = 0;
        line.for_each_block(part, |_, keys| count += keys.iter().filter(|&&key| line.is_nan(key)).count());
        Ok(count)
    })?;
    // Another thread may have changed the line.
    Ok(counts.into_iter().sum::<usize>().min(line.length))
}

/// Some words of a line that include the one of a rank, and its rank among them. With `before`, they include all words of
/// lower ranks, too.
fn words_near_rank<'a, W: SortWord>(
    line: &KeyLine,
    pieces: &Pieces,
    format: WordFormat,
    rank: usize,
    before: bool,
    scratch: &'a mut WordScratch,
) -> Result<(&'a mut [W], usize)> {
    let n = line.length;
    if n < MIN_LONG {
        let words = scratch.words::<W>(n)?;
        // SAFETY: the scratch memory holds `n` words, all of which `pack` writes.
        let words = unsafe {
            format.pack(line, words);
            std::slice::from_raw_parts_mut(words, n)
        };
        return Ok((words, rank.min(n - 1)));
    }
    let digits = DigitCounts::new(line, pieces, format)?;
    let (mut digit, mut skipped) = (0, 0);
    while digit < BUCKETS - 1 && skipped + digits.total(digit) <= rank {
        skipped += digits.total(digit);
        digit += 1;
    }
    let (first, rank) = if before { (0, rank) } else { (digit, rank - skipped) };
    let mut starts = vec![0]; // one for each piece, of which there are few
    for counts in &digits.counts {
        let count: usize = counts[first..=digit].iter().map(|&count| count as usize).sum();
        starts.push(starts[starts.len() - 1] + count);
    }
    let total = starts[pieces.count];
    let words = Shared::new(scratch.words::<W>(total)?);
    pieces.for_each(|piece| {
        let (mut next, end) = (starts[piece], starts[piece + 1]);
        line.for_each_block(pieces.part(piece), |at, keys| {
            for (i, &key) in keys.iter().enumerate() {
                if (first..=digit).contains(&digits.digit(key)) && next < end {
                    // SAFETY: the scratch memory holds `total` words, and no other piece writes those up to `end`.
                    unsafe { words.at(next).write(format.word(key, at + i)) };
                    next += 1;
                }
            }
        });
        for place in next..end {
            // A word that is missing because another thread changed the elements.
            // SAFETY: the scratch memory holds `total` words, and no other piece writes those up to `end`.
            unsafe { words.at(place).write(W::of(0, format.position_bits, 0)) };
        }
    })?;
    // SAFETY: every piece has written the words from its start to its end.
    Ok((unsafe { std::slice::from_raw_parts_mut(words.at(0), total) }, rank))
}
