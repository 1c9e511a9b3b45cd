//! Sorts lines: many at a time, or one long line on all threads.

use super::keys::KeyLine;
use super::words::{self, BUCKETS, SortWord, WordFormat, by_word};
use super::{DigitCounts, Lines, OrderRequest, Pieces, WordScratch, with_lines};
use crate::alloc::{try_filled, try_vec};
use crate::error::Result;
use crate::storage::{Fill, Storage};
use crate::threads::{self, Shared};

/// Sorts each line of a request, whose results keep all elements.
pub fn sort(request: &OrderRequest) -> Result<()> {
    assert!(request.kept == request.length);
    with_lines(request, |lines| {
        if lines.are_long() {
            for index in 0..lines.count {
                let line = lines.line(index);
                let pieces = Pieces::of(line.length, true);
                let format = WordFormat::new(line.length, pieces.range(&line)?, lines.is_indexed());
                by_word!(format, W => sort_long::<W>(lines, index, &line, &pieces, format))?;
            }
            return Ok(());
        }
        lines.for_each(|index, line, scratch| {
            let format = WordFormat::new(line.length, line.range(0..line.length), lines.is_indexed());
            by_word!(format, W => {
                let sorted = sort_short::<W>(line, &format, scratch)?;
                // SAFETY: the results have `length` elements for each line.
                unsafe { lines.results.write(line, &format, index * line.length, sorted) };
            });
            Ok(())
        })
    })
}

/// The sorted words of a line, in scratch.
fn sort_short<'a, W: SortWord>(
    line: &KeyLine,
    format: &WordFormat,
    scratch: &'a mut WordScratch,
) -> Result<&'a mut [W]> {
    let n = line.length;
    let a = scratch.words::<W>(2 * n)?;
    // SAFETY: the scratch memory holds two times `n` words, of which `pack` writes the first half.
    unsafe {
        format.pack(line, a);
        let sorted = words::sort(a, a.add(n), n, format.position_bits, format.bits());
        Ok(std::slice::from_raw_parts_mut(sorted, n))
    }
}

/// Sorts one line: all threads distribute its words by groups of their most significant digits, and then sort the groups.
fn sort_long<W: SortWord>(
    lines: &Lines,
    index: usize,
    line: &KeyLine,
    pieces: &Pieces,
    format: WordFormat,
) -> Result<()> {
    let n = line.length;
    let digits = DigitCounts::new(line, pieces, format)?;
    // Blocks of the storage's allocator: it keeps large ones, so that their pages are not new for each call.
    let mut memory = [(); 2].map(|_| Storage::new(n * size_of::<W>(), Fill::Uninitialized));
    let mut blocks = [std::ptr::null_mut(); 2];
    for (block, storage) in blocks.iter_mut().zip(&mut memory) {
        let storage = storage.as_mut().map_err(|error| error.clone())?;
        *block = storage.exclusive_start().expect("a new storage has one handle").cast::<W>();
    }
    let [a, b] = blocks.map(Shared::new);
    let groups = digits.groups(n)?;
    let mut places = digits.places(&groups)?;
    let rows = Shared::new(places.as_mut_ptr());
    let count = groups.list.len();
    pieces.for_each(|piece| {
        // SAFETY: the places of the piece, which no other thread uses.
        let places = unsafe { std::slice::from_raw_parts_mut(rows.at(piece * count), count) };
        line.for_each_block(pieces.part(piece), |first, keys| {
            for (i, &key) in keys.iter().enumerate() {
                let place = &mut places[groups.of_digit[digits.digit(key)] as usize];
                // SAFETY: `a` holds `n` words. The place is below `n` unless another thread changed the elements.
                unsafe { a.at((*place).min(n - 1)).write(format.word(key, first + i)) };
                *place += 1;
            }
        });
    })?;
    let low = format.position_bits;
    threads::for_each_piece(groups.list.len(), pieces.shared, &|group| {
        let DigitGroup { start, end, digit_bits } = groups.list[group];
        // SAFETY: both blocks hold `n` words, and a group is a part of them that no other piece uses. The results have
        // `length` elements for each line.
        unsafe {
            let high = low + digits.shift + digit_bits;
            let sorted = words::sort(a.at(start), b.at(start), end - start, low, high);
            let sorted = std::slice::from_raw_parts(sorted, end - start);
            lines.results.write(line, &format, index * n + start, sorted);
        }
    })
}

/// The most groups of digits. Their words are written side by side, so they are not more than the TLB has entries.
const MAX_GROUPS: usize = 256;

/// Digits in groups of neighbours with about as many words each.
struct DigitGroups {
    of_digit: Vec<u8>,
    list: Vec<DigitGroup>,
}

#[derive(Clone, Copy)]
struct DigitGroup {
    /// Where the words of the group start and end.
    start: usize,
    end: usize,
    /// The lowest bits of the digits that are not the same for all digits of the group.
    digit_bits: u32,
}

impl DigitCounts {
    fn groups(&self, n: usize) -> Result<DigitGroups> {
        let mut groups = DigitGroups { of_digit: try_filled(BUCKETS, 0)?, list: try_vec(MAX_GROUPS)? };
        let (mut first, mut start, mut end) = (0, 0, 0);
        for digit in 0..BUCKETS {
            groups.of_digit[digit] = groups.list.len() as u8;
            end += self.total(digit);
            if end - start > n / MAX_GROUPS || digit == BUCKETS - 1 {
                let digit_bits = usize::BITS - (first ^ digit).leading_zeros();
                groups.list.push(DigitGroup { start, end, digit_bits });
                (first, start) = (digit + 1, end);
            }
        }
        Ok(groups)
    }

    /// Where the words of each group of each piece start, piece by piece.
    fn places(&self, groups: &DigitGroups) -> Result<Vec<usize>> {
        let count = groups.list.len();
        let mut places = try_filled(count * self.counts.len(), 0)?;
        for (places, counts) in places.chunks_exact_mut(count).zip(&self.counts) {
            let digits = groups.of_digit.iter().zip(counts);
            digits.for_each(|(&group, &count)| places[group as usize] += count as usize);
        }
        for (group, DigitGroup { start, .. }) in groups.list.iter().enumerate() {
            let mut next = *start;
            for places in places.chunks_exact_mut(count) {
                (places[group], next) = (next, next + places[group]);
            }
        }
        Ok(places)
    }
}

/// The most frequent element of each line, and its last position. The smallest of several that are equally frequent counts.
pub fn mode(request: &OrderRequest) -> Result<()> {
    assert!(request.kept == 1);
    with_lines(request, |lines| {
        lines.for_each(|index, line, scratch| {
            let format = WordFormat::new(line.length, line.range(0..line.length), true);
            by_word!(format, W => {
                let sorted = sort_short::<W>(line, &format, scratch)?;
                let runs = sorted.chunk_by(|a, b| format.key(*a) == format.key(*b));
                let longest = runs.reduce(|best, run| if run.len() > best.len() { run } else { best });
                let last = &longest.expect("a line has an element")[longest.map_or(0, |run| run.len() - 1)..];
                // SAFETY: the results have one element for each line.
                unsafe { lines.results.write(line, &format, index, last) };
            });
            Ok(())
        })
    })
}
