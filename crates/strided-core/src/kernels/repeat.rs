//! Rows of a tensor, each repeated a number of times of its own, and combinations of elements.

use super::generate::by_runs;
use super::split::for_each_row_range;
use crate::alloc::try_vec;
use crate::cpu;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::storage::Access;
use crate::tensor::{Tensor, pin_all};
use crate::threads::Shared;
use smallvec::SmallVec;
use std::ops::Range;

/// The running sums of counts: where the copies of each row end. Refuses negative counts and sums beyond the address
/// space. The counts are read once, since another thread may change them.
pub fn ends(counts: &Tensor) -> Result<Vec<usize>> {
    assert!(counts.dtype() == DType::I64 && counts.layout().is_row_major());
    let mut ends = try_vec(counts.size())?;
    let pin = counts.pin(Access::Read)?;
    let mut end = 0usize;
    for i in 0..counts.size() {
        // SAFETY: `pin` holds the counts, which are contiguous int64 elements: checked above.
        let count = unsafe { pin.origin.cast::<i64>().add(i).read() };
        let Ok(count) = usize::try_from(count) else {
            return Err(Error::argument("repeats", format!("{count} at position {i}"), "0 or more"));
        };
        end = end.saturating_add(count);
        ends.push(end);
    }
    Ok(ends)
}

/// Where the copies of each row end.
#[derive(Clone, Copy)]
pub enum RepeatEnds<'a> {
    /// So many copies of each row, at least one.
    Every(usize),
    At(&'a [usize]),
}

impl RepeatEnds<'_> {
    /// The row whose copies a position is among.
    fn row_at(self, position: usize) -> usize {
        match self {
            RepeatEnds::Every(count) => position / count,
            RepeatEnds::At(ends) => ends.partition_point(|&end| end <= position),
        }
    }
}

/// Copies each row of `x` along its middle dim to the rows of `out` up to its end. Both are row-major, of rank 3, of one
/// dtype, and have the same first and last extents; the last end is the middle extent of `out`.
pub fn repeat_rows(out: &Tensor, x: &Tensor, ends: RepeatEnds) -> Result<()> {
    let extents = |x: &Tensor| -> [usize; 3] {
        assert!(x.layout().is_row_major() && x.layout().rank() == 3);
        [0, 1, 2].map(|dim| x.layout().modes()[dim].extent as usize)
    };
    let ([outer, total, inner], [x_outer, rows, x_inner]) = (extents(out), extents(x));
    assert!((outer, inner) == (x_outer, x_inner) && out.dtype() == x.dtype());
    if out.size() == 0 {
        return Ok(());
    }
    assert!(match ends {
        RepeatEnds::Every(count) => rows * count == total,
        RepeatEnds::At(ends) => ends.len() == rows && ends.last() == Some(&total),
    });
    pin_all!(to: Write out, from: Read x);
    let bytes = inner * out.dtype().size();
    let job =
        RepeatJob { to: Shared::new(to.origin), from: Shared::new(from.origin), bytes, rows, total, ends };
    // SAFETY: both are pinned and have these rows: checked above.
    for_each_row_range(outer * total, bytes, out.size(), &|rows| unsafe { job.write_rows(rows) })
}

/// At least this many copies of a row of one element are written as vectors.
const MIN_VECTOR_FILL: usize = 16;

struct RepeatJob<'a> {
    to: Shared<*mut u8>,
    from: Shared<*mut u8>,
    /// Bytes of a row.
    bytes: usize,
    /// Rows of the input and of the output for one index of the first dim.
    rows: usize,
    total: usize,
    ends: RepeatEnds<'a>,
}

impl RepeatJob<'_> {
    /// Writes a range of rows of the output.
    ///
    /// # Safety
    /// The output has these rows of `bytes` contiguous bytes, and the input a row for each end, for every first index.
    unsafe fn write_rows(&self, rows: Range<usize>) {
        // SAFETY: this function's contract.
        unsafe {
            match self.bytes {
                1 => self.write_rows_of::<u8>(rows),
                2 => self.write_rows_of::<[u8; 2]>(rows),
                4 => self.write_rows_of::<[u8; 4]>(rows),
                8 => self.write_rows_of::<[u8; 8]>(rows),
                16 => self.write_rows_of::<[u8; 16]>(rows),
                bytes => self.for_each(rows, |to, from, count| {
                    for i in 0..count {
                        to.add(i * bytes).copy_from_nonoverlapping(from, bytes);
                    }
                }),
            }
        }
    }

    /// # Safety
    /// As [`Self::write_rows`]; a row has as many bytes as a `T`, which has no alignment.
    unsafe fn write_rows_of<T: Copy>(&self, rows: Range<usize>) {
        self.for_each(rows, |to, from, count| {
            // SAFETY: this function's contract: one row is read, and `count` rows are written.
            unsafe {
                let (to, value) = (to.cast::<T>(), from.cast::<T>().read_unaligned());
                if count < MIN_VECTOR_FILL {
                    for i in 0..count {
                        cpu::loop_barrier();
                        to.add(i).write_unaligned(value);
                    }
                } else {
                    for i in 0..count {
                        to.add(i).write_unaligned(value);
                    }
                }
            }
        })
    }

    /// Calls `copy(to, from, count)` for each row of the input whose copies are in the range.
    #[inline(always)]
    fn for_each(&self, rows: Range<usize>, copy: impl Fn(*mut u8, *const u8, usize)) {
        match self.ends {
            RepeatEnds::Every(count) => self.for_each_until(rows, |row| (row + 1) * count, copy),
            RepeatEnds::At(ends) => self.for_each_until(rows, |row| ends[row], copy),
        }
    }

    /// [`Self::for_each`], where `end_of` is the first position after the copies of a row.
    #[inline(always)]
    fn for_each_until(
        &self,
        rows: Range<usize>,
        end_of: impl Fn(usize) -> usize,
        copy: impl Fn(*mut u8, *const u8, usize),
    ) {
        let mut row = rows.start;
        while row < rows.end {
            let (outer, position) = (row / self.total, row % self.total);
            let mut source = self.ends.row_at(position);
            let last = rows.end.min((outer + 1) * self.total);
            while row < last {
                let end = last.min(outer * self.total + end_of(source));
                if end > row {
                    let from = (outer * self.rows + source) * self.bytes;
                    copy(self.to.at(row * self.bytes), self.from.at(from), end - row);
                    row = end;
                }
                source += 1;
            }
        }
    }
}

/// Which combinations of `length` elements of a vector of `n` elements there are.
#[derive(Clone, Copy)]
pub struct Combinations {
    pub n: usize,
    pub length: usize,
    /// Whether an element may be chosen more than once.
    pub with_replacement: bool,
}

impl Combinations {
    /// How many there are; `None` if there are too many to count.
    pub fn count(self) -> Option<u128> {
        self.count_from(0, self.length)
    }

    /// How many combinations of `length` elements there are whose smallest index is `first` or more.
    fn count_from(self, first: usize, length: usize) -> Option<u128> {
        let left = (self.n - first) as u128;
        let length = length as u128;
        let top = match self.with_replacement {
            true if length == 0 => return Some(1),
            true => (left + length).checked_sub(1)?,
            false => left,
        };
        binomial(top, length)
    }

    /// The combination at a position of the lexicographic order.
    fn at(self, mut position: u128) -> SmallVec<[usize; 8]> {
        let mut indices = SmallVec::new();
        let mut lowest = 0;
        for length in (1..=self.length).rev() {
            let all = self.count_from(lowest, length).expect("all combinations were counted");
            // The last index before which there are at most `position` combinations.
            let before = |first| all - self.count_from(first, length).expect("fewer than all");
            let (mut first, mut end) = (lowest, self.n);
            while end - first > 1 {
                let middle = first + (end - first) / 2;
                if before(middle) <= position { first = middle } else { end = middle }
            }
            position -= before(first);
            indices.push(first);
            lowest = first + !self.with_replacement as usize;
        }
        indices
    }

    /// Replaces a combination by the next one. After the last one, it is left as it is.
    fn advance(self, indices: &mut [usize]) {
        let length = indices.len();
        let limit = |at: usize| if self.with_replacement { self.n } else { self.n - (length - 1 - at) };
        if let Some(at) = (0..length).rev().find(|&at| indices[at] + 1 < limit(at)) {
            indices[at] += 1;
            for next in at + 1..length {
                indices[next] = indices[next - 1] + !self.with_replacement as usize;
            }
        }
    }
}

/// The number of ways to choose `length` of `n`; `None` if it does not fit.
fn binomial(n: u128, length: u128) -> Option<u128> {
    let Some(rest) = n.checked_sub(length) else { return Some(0) };
    let mut result = 1u128;
    for i in 1..=length.min(rest) {
        result = result.checked_mul(n - length.min(rest) + i)? / i; // exact: a product of i consecutive numbers
    }
    Some(result)
}

/// Writes the combinations of the elements of the row-major vector `x` to the rows of `out`, which is of the same dtype.
pub fn combine(out: &Tensor, x: &Tensor, rule: Combinations) -> Result<()> {
    assert!(x.layout().is_row_major() && x.size() == rule.n && out.dtype() == x.dtype());
    assert!(rule.count() == Some((out.size() / rule.length) as u128));
    let pin = x.pin(Access::Read)?;
    let (size, from) = (out.dtype().size(), Shared::new(pin.origin));
    by_runs(out, 4, &|first: usize, n: usize, to: *mut u8| {
        let (mut column, length) = (first % rule.length, rule.length);
        let mut indices = rule.at((first / length) as u128);
        for i in 0..n {
            // SAFETY: the contract of `RunBody`: n elements of `size` bytes; `x` is pinned and has these elements.
            unsafe { to.add(i * size).copy_from_nonoverlapping(from.at(indices[column] * size), size) };
            column += 1;
            if column == length {
                column = 0;
                rule.advance(&mut indices);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_can_start_at_any_position() {
        for (n, length) in [(5, 2), (6, 3), (4, 4), (7, 1), (3, 5)] {
            for with_replacement in [false, true] {
                let rule = Combinations { n, length, with_replacement };
                let count = rule.count().unwrap();
                if count == 0 {
                    continue;
                }
                let mut indices = rule.at(0);
                for position in 0..count {
                    assert_eq!(rule.at(position), indices);
                    assert!(indices.windows(2).all(|w| w[0] < w[1] || with_replacement && w[0] == w[1]));
                    rule.advance(&mut indices);
                }
            }
        }
    }

    #[test]
    fn binomials_are_exact_and_never_wrap() {
        assert_eq!(binomial(52, 5), Some(2_598_960));
        assert_eq!(binomial(52, 50), Some(1326));
        assert_eq!(binomial(3, 4), Some(0));
        assert_eq!(binomial(0, 0), Some(1));
        assert_eq!(binomial(1 << 60, 40), None);
    }
}
