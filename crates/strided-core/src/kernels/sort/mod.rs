//! Order: sorting, selection, search and counting, on keys.
//!
//! ```text
//! keys     an element as an unsigned integer in the order of the elements: the only code that knows dtypes
//! words    a key and a position in one integer; how words are sorted
//! lines    sorts all lines, several at a time, or one long line on all threads
//! select   one element of each line by its rank, or the first k of its order, without sorting the line
//! search   where numbers belong in sorted lines; the order of rows
//! count    how often each number occurs, and how many numbers are in each bin
//! quick    Torch7's algorithms, by elements instead of keys
//! ```
//! Tensors are row-major here, and lines are along the last dim: operations copy other layouts first. NaN is larger than
//! every number, all NaNs are equal, and so are -0.0 and 0.0; equal elements keep their order. The elements that are
//! written keep their bits.
//!
//! Another thread may change the elements during a call. Results are then wrong numbers, but nothing is read or
//! written outside the tensors: places that were counted in one pass are clamped in the next.

mod count;
mod keys;
mod lines;
mod quick;
mod search;
mod select;
mod words;

pub use count::{EqualBins, count, count_in_bins};
pub use lines::{mode, sort};
pub use quick::{QuickTask, quick_lines};
pub use search::{search, sort_rows};
pub use select::{LineRank, select, select_first};

use crate::alloc::{try_collect, try_collect_ok, try_filled, try_reserve};
use crate::dtype::DType;
use crate::error::Result;
use crate::storage::Access;
use crate::tensor::{Tensor, pin_each};
use crate::threads::{self, Shared};
use keys::{KeyLine, KeyRange};
use std::ops::Range;
use std::sync::{Mutex, OnceLock};
use words::{LineResults, WordFormat};

/// The cost of sorting an element, relative to an addition.
const SORT_COST: usize = 32;
/// The passes over a line of at least this many elements are split into pieces, which threads share.
const MIN_LONG: usize = 1 << 16;
/// Elements of a piece of a long line, and the most pieces. They depend on the length only.
const MIN_ELEMENTS_PER_PIECE: usize = 1 << 15;
const MAX_PIECES: usize = 64;
/// Elements of the short lines that are one piece.
const ELEMENTS_PER_PIECE: usize = 1 << 12;

/// The tensors of a call: lines along the last dim, of `length` elements each, and results of `kept` elements for each
/// line. All tensors are row-major.
#[derive(Clone, Copy)]
pub struct OrderRequest<'a> {
    pub x: &'a Tensor,
    pub length: usize,
    pub descending: bool,
    pub kept: usize,
    /// In the dtype of `x`.
    pub values: Option<&'a Tensor>,
    /// int64.
    pub indices: Option<&'a Tensor>,
}

/// The lines of a call, pinned.
struct Lines {
    start: Shared<*mut u8>,
    length: usize,
    count: usize,
    dtype: DType,
    descending: bool,
    results: LineResults,
}

/// Pins the tensors of a request and passes their lines on, if there are any elements.
fn with_lines(request: &OrderRequest, work: impl FnOnce(&Lines) -> Result<()>) -> Result<()> {
    let OrderRequest { x, length, descending, kept, values, indices } = *request;
    if x.size() == 0 || kept == 0 {
        return Ok(());
    }
    let count = x.size() / length;
    assert!(x.layout().is_row_major() && count * length == x.size() && kept <= length);
    for result in [values, indices].into_iter().flatten() {
        assert!(result.layout().is_row_major() && result.size() == count * kept);
    }
    assert!(values.is_none_or(|values| values.dtype() == x.dtype()));
    assert!(indices.is_none_or(|indices| indices.dtype() == DType::I64));
    let pins = pin_each([
        Some((x, Access::Read)),
        values.map(|values| (values, Access::Write)),
        indices.map(|indices| (indices, Access::Write)),
    ])?;
    let origin = |at: usize| pins[at].as_ref().map_or(std::ptr::null_mut(), |pin| pin.origin);
    let results = LineResults { values: Shared::new(origin(1)), positions: Shared::new(origin(2).cast()) };
    work(&Lines { start: Shared::new(origin(0)), length, count, dtype: x.dtype(), descending, results })
}

impl Lines {
    fn line(&self, index: usize) -> KeyLine {
        let start = self.start.at(index * self.length * self.dtype.size());
        // SAFETY: `with_lines` pinned the tensor, of which this is a line.
        unsafe { KeyLine::new(start, self.length, self.dtype, self.descending) }
    }

    /// Whether positions are wanted.
    fn is_indexed(&self) -> bool {
        !self.results.positions.get().is_null()
    }

    /// Calls `work` for every line, with scratch that lines share. Threads share the lines, unless they are long.
    fn for_each(&self, work: impl Fn(usize, &KeyLine, &mut WordScratch) -> Result<()> + Sync) -> Result<()> {
        if self.are_long() {
            let mut scratch = WordScratch(Vec::new());
            return (0..self.count).try_for_each(|index| work(index, &self.line(index), &mut scratch));
        }
        let (lines, failure) = (ELEMENTS_PER_PIECE.div_ceil(self.length), Mutex::new(None));
        let shared = threads::should_parallelize((self.count * self.length).saturating_mul(SORT_COST));
        let run_piece = |i: usize| {
            let mut scratch = WordScratch(Vec::new());
            for index in i * lines..self.count.min((i + 1) * lines) {
                if let Err(error) = work(index, &self.line(index), &mut scratch) {
                    failure.lock().expect("no panic").get_or_insert(error);
                    return;
                }
            }
        };
        match self.count.div_ceil(lines) {
            1 => run_piece(0),
            pieces => threads::for_each_piece(pieces, shared, &run_piece)?,
        }
        failure.into_inner().expect("no panic").map_or(Ok(()), Err)
    }

    /// Whether the passes over each line are shared by threads: lines are long, and too few for all threads.
    fn are_long(&self) -> bool {
        self.length >= MIN_LONG && self.count < 2 * threads::limit()
    }
}

/// Scratch memory for words.
struct WordScratch(Vec<u128>);

impl WordScratch {
    /// Memory for `n` words of any type.
    fn words<W: words::SortWord>(&mut self, n: usize) -> Result<*mut W> {
        let wanted = (n * size_of::<W>()).div_ceil(size_of::<u128>());
        self.0.clear();
        try_reserve(&mut self.0, wanted)?;
        Ok(self.0.as_mut_ptr().cast())
    }
}

/// How a long line is cut into pieces.
#[derive(Clone, Copy)]
struct Pieces {
    length: usize,
    size: usize,
    count: usize,
    shared: bool,
}

impl Pieces {
    /// The pieces of a line. Threads share them if it is one of few.
    fn of(length: usize, is_long: bool) -> Pieces {
        let size = length.div_ceil(MAX_PIECES).max(MIN_ELEMENTS_PER_PIECE);
        let shared = is_long && threads::should_parallelize(length.saturating_mul(SORT_COST));
        Pieces { length, size, count: length.div_ceil(size), shared }
    }

    /// Calls `work` with the number of each piece.
    fn for_each(&self, work: impl Fn(usize) + Sync) -> Result<()> {
        if !self.shared {
            (0..self.count).for_each(work);
            return Ok(());
        }
        threads::for_each_piece(self.count, true, &work)
    }

    fn part(&self, index: usize) -> Range<usize> {
        index * self.size..self.length.min((index + 1) * self.size)
    }

    /// Calls a function of each piece, and returns the results in the order of the pieces.
    fn map<R: Send + Sync>(&self, work: impl Fn(Range<usize>) -> Result<R> + Sync) -> Result<Vec<R>> {
        let results = try_collect((0..self.count).map(|_| OnceLock::new()))?;
        self.for_each(|i| {
            let _ = results[i].set(work(self.part(i)));
        })?;
        try_collect_ok(results.into_iter().map(|result| result.into_inner().expect("every piece was run")))
    }

    /// The smallest and the largest key of a line.
    fn range(&self, line: &KeyLine) -> Result<KeyRange> {
        if self.count == 1 {
            return Ok(line.range(0..line.length));
        }
        let ranges = self.map(|part| Ok(line.range(part)))?;
        Ok(ranges.into_iter().reduce(KeyRange::merged).expect("a line has a piece"))
    }
}

/// The most significant digit of the words of a line, counted for each piece.
struct DigitCounts {
    format: WordFormat,
    /// Bits of a relative key below the digit.
    shift: u32,
    counts: Vec<Vec<u32>>,
}

impl DigitCounts {
    fn new(line: &KeyLine, pieces: &Pieces, format: WordFormat) -> Result<DigitCounts> {
        let shift = format.key_bits.saturating_sub(words::DIGIT_BITS);
        let counts = pieces.map(|part| {
            let mut counts = try_filled(words::BUCKETS, 0)?;
            line.for_each_block(part, |_, keys| {
                keys.iter().for_each(|&key| counts[digit(&format, shift, key)] += 1)
            });
            Ok(counts)
        })?;
        Ok(DigitCounts { format, shift, counts })
    }

    /// The digit of a key.
    #[inline(always)]
    fn digit(&self, key: u64) -> usize {
        digit(&self.format, self.shift, key)
    }

    /// How many words have a digit.
    fn total(&self, digit: usize) -> usize {
        self.counts.iter().map(|counts| counts[digit] as usize).sum()
    }
}

#[inline(always)]
fn digit(format: &WordFormat, shift: u32, key: u64) -> usize {
    (format.relative(key) >> shift) as usize & (words::BUCKETS - 1)
}
