//! Selection: one element of each line by its rank, or the first k of its order, without sorting the line.
//!
//! A long line is read two times: a first pass counts the most significant digits of its keys, which tells the digit of the
//! wanted element, and a second one collects the words with that digit, or up to it. `select_nth_unstable` of the
//! standard library, whose time is linear for any words, then works on those.

use super::keys::KeyLine;
use super::words::{BUCKETS, SortWord, WordFormat, by_word};
use super::{DigitCounts, MIN_LONG, OrderRequest, Pieces, WordPointer, WordScratch, with_lines};
use crate::error::Result;

/// Which element of a line is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineRank {
    /// The element with this many smaller or earlier equal ones before it.
    Nth(usize),
    /// The lower one of two middle elements; the first NaN if there is one.
    Median,
    /// The lower one of the two middle numbers; the first NaN if there is no number.
    NanMedian,
}

/// Selects one element of each line.
pub fn select(request: &OrderRequest, rank: LineRank) -> Result<()> {
    assert!(request.kept == 1 && request.indices.is_some());
    with_lines(request, |lines| {
        let visit = |index: usize, line: &KeyLine, scratch: &mut WordScratch| {
            let pieces = Pieces::of(line.length, lines.are_long());
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
                let (words, rank) = candidates::<W>(line, &pieces, format, rank, false, scratch)?;
                let (_, selected, _) = words.select_nth_unstable(rank);
                // SAFETY: the results have one element for each line.
                unsafe { lines.results.write(line, &format, index, std::slice::from_ref(selected)) };
            });
            Ok(())
        };
        lines.for_each(visit)
    })
}

/// Selects the first elements of each line's order, and sorts them.
pub fn select_first(request: &OrderRequest) -> Result<()> {
    let k = request.kept;
    with_lines(request, |lines| {
        let visit = |index: usize, line: &KeyLine, scratch: &mut WordScratch| {
            let pieces = Pieces::of(line.length, lines.are_long());
            let format = WordFormat::new(line.length, pieces.range(line)?, true);
            by_word!(format, W => {
                let (words, _) = candidates::<W>(line, &pieces, format, k - 1, true, scratch)?;
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
        count
    })?;
    // Another thread may have changed the line.
    Ok(counts.into_iter().sum::<usize>().min(line.length))
}

/// Words among which is the one of a rank, and its rank among them. With `before`, all words before it are among them, too.
fn candidates<'a, W: SortWord>(
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
    let mut starts = vec![0];
    for counts in &digits.counts {
        let count: usize = counts[first..=digit].iter().map(|&count| count as usize).sum();
        starts.push(starts[starts.len() - 1] + count);
    }
    let total = starts[pieces.count];
    let words = WordPointer(scratch.words::<W>(total)?);
    pieces.run(|piece| {
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
