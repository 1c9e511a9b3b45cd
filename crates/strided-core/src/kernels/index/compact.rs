//! What a mask selects: its elements packed one after the other (`masked_select`), their indices (`nonzero`), and the way
//! back (`masked_scatter`).
//!
//! Positions are numbered in row-major order and cut into pieces. A first pass counts the true elements of each piece, so
//! that every piece knows where its results begin and threads can share the second pass. Another thread may change the
//! mask in between: a piece writes as many results as were counted, at most; results that are missing then are 0.

use super::super::split::SERIAL_ELEMENTS;
use super::{by_width, load_mask_word};
use crate::alloc::{try_collect, try_vec};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Layout;
use crate::nest::{self, Loop, Nest, OPERANDS, Operand, Order, Pointers};
use crate::storage::Access;
use crate::tensor::{Tensor, pin_all};
use crate::threads::{self, Shared};
use smallvec::{SmallVec, smallvec};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Positions of a piece.
const POSITIONS_PER_PIECE: usize = 16 << 10;
/// Results that are written together.
const RESULTS_PER_WRITE: usize = 256;

/// How many elements of a mask are true, piece by piece.
pub struct MaskCounts {
    /// The number of true elements before each piece, and at the end their total.
    starts: Vec<usize>,
}

impl MaskCounts {
    /// Counts the true elements of a bool tensor.
    pub fn new(mask: &Tensor) -> Result<MaskCounts> {
        let pieces = mask.size().div_ceil(POSITIONS_PER_PIECE);
        let counts = try_collect((0..pieces).map(|_| AtomicUsize::new(0)))?;
        let mut starts = try_vec(pieces + 1)?;
        let pin = mask.pin(Access::Read)?;
        let walk = MaskWalk::new(mask.layout(), &[Operand { layout: mask.layout(), size: 1 }], [pin.origin]);
        // SAFETY: `pin` holds the mask, the only operand of the walk.
        walk.for_each_piece(&|piece| unsafe {
            let mut count = 0;
            walk.for_each_run(piece, |p, steps, n| count += count_true(p[0], steps[0], n));
            counts[piece].store(count, Relaxed);
        })?;
        let mut total = 0;
        for count in counts {
            starts.push(total);
            total += count.into_inner();
        }
        starts.push(total);
        Ok(MaskCounts { starts })
    }

    /// The number of all true elements.
    pub fn total(&self) -> usize {
        *self.starts.last().expect("the total is always there")
    }

    /// The results of a piece.
    fn results(&self, piece: usize) -> Range<usize> {
        self.starts[piece]..self.starts[piece + 1]
    }
}

/// The positions of a mask in row-major order, with the operands that go along with it.
struct MaskWalk {
    nest: Nest,
    start: Shared<Pointers>,
    size: usize,
}

impl MaskWalk {
    fn new<const N: usize>(shape: &Layout, operands: &[Operand; N], origins: [*mut u8; N]) -> MaskWalk {
        let mut all = [null_mut(); OPERANDS];
        all[..N].copy_from_slice(&origins);
        let nest = Nest::new(shape, operands, Order::RowMajor);
        MaskWalk { start: Shared::new(nest.start(all)), nest, size: shape.size() }
    }

    /// Calls `work` for every piece, on several threads if there are many.
    fn for_each_piece(&self, work: &(dyn Fn(usize) + Sync)) -> Result<()> {
        let shared = self.size > SERIAL_ELEMENTS && threads::should_parallelize(self.size * 2);
        threads::for_each_piece(self.size.div_ceil(POSITIONS_PER_PIECE), shared, work)
    }

    /// Calls `run(addresses, steps, n)` for the parts of innermost loops that make up a piece.
    fn for_each_run(&self, piece: usize, mut run: impl FnMut(&Pointers, &[isize; OPERANDS], usize)) {
        let loops: &[Loop] = self.nest.loops();
        let range = piece * POSITIONS_PER_PIECE..((piece + 1) * POSITIONS_PER_PIECE).min(self.size);
        nest::for_each_run(loops, self.start.get(), range, |p, n| run(p, self.nest.inner_steps(), n));
    }
}

/// The number of true elements.
///
/// # Safety
/// `at + i * step` is the address of a readable byte for `i < n`.
unsafe fn count_true(at: *const u8, step: isize, n: usize) -> usize {
    if step != 1 {
        // SAFETY: this function's contract.
        return (0..n as isize).filter(|i| unsafe { at.wrapping_offset(i * step).read() } != 0).count();
    }
    let mut total = 0;
    let mut first = 0;
    while first < n {
        // So few that their number fits a byte, in which the compiler counts 16 or 32 elements at once.
        let length = (n - first).min(128);
        let mut count = 0u8;
        for i in first..first + length {
            // SAFETY: this function's contract; `i < n`.
            count += (unsafe { at.add(i).read() } != 0) as u8;
        }
        total += count as usize;
        first += length;
    }
    total
}

/// Packs the elements of `x` for which the mask is true into `out`, a row-major tensor of one dim with as many elements as
/// were counted. Mask and `x` have one shape, and `out` overlaps neither.
pub fn select(out: &Tensor, mask: &Tensor, x: &Tensor, counts: &MaskCounts) -> Result<()> {
    assert!(out.size() == counts.total() && out.layout().is_row_major() && out.dtype() == x.dtype());
    pin_all!(to: Write out, flags: Read mask, from: Read x);
    let size = x.dtype().size();
    let operands = [Operand { layout: mask.layout(), size: 1 }, Operand { layout: x.layout(), size }];
    let walk = MaskWalk::new(mask.layout(), &operands, [flags.origin, from.origin]);
    let to = Shared::new(to.origin);
    by_width!(size, W => walk.for_each_piece(&|piece| {
        let mut results = ResultBuffer::<W>::new(to.get(), counts.results(piece));
        // SAFETY: `pin_all` pinned all operands; the results of a piece are within `out`, as asserted.
        walk.for_each_run(piece, |p, s, n| unsafe {
            if s[1] == size_of::<W>() as isize {
                results.pack(p[0], s[0], n, |i| p[1].cast::<W>().add(i).read_unaligned());
            } else {
                results.pack(p[0], s[0], n, |i| p[1].wrapping_offset(i as isize * s[1]).cast::<W>().read_unaligned());
            }
        });
        results.flush();
        results.zero_missing();
    }))
}

/// Results on their way to the output: they are collected in a small buffer, so that most stores stay in the L1 cache and
/// the bounds of the output are checked once per buffer.
struct ResultBuffer<W> {
    buffer: [MaybeUninit<W>; 2 * RESULTS_PER_WRITE],
    count: usize,
    to: *mut W,
    /// How many results the piece may still write.
    left: usize,
}

impl<W: Copy> ResultBuffer<W> {
    /// For the results of a range of the output that starts at `out`.
    fn new(out: *mut u8, results: Range<usize>) -> ResultBuffer<W> {
        let to = out.cast::<W>().wrapping_add(results.start);
        ResultBuffer {
            buffer: [const { MaybeUninit::uninit() }; 2 * RESULTS_PER_WRITE],
            count: 0,
            to,
            left: results.len(),
        }
    }

    /// Adds the values of true elements. Those beyond what was counted for the piece are dropped.
    ///
    /// Every value is stored, and only the count depends on the mask: a branch would be mispredicted for half of the
    /// elements of a random mask. Eight elements that are all false are skipped.
    ///
    /// # Safety
    /// `mask + i * step` is the address of a readable byte for `i < n`. The range that was passed to `new` is within an
    /// output of elements of the size of `W`.
    #[inline(always)]
    unsafe fn pack(&mut self, mask: *const u8, step: isize, n: usize, value: impl Fn(usize) -> W) {
        let mut first = 0;
        while first < n {
            let end = n.min(first + RESULTS_PER_WRITE);
            let mut count = self.count; // at most RESULTS_PER_WRITE, so that a block fits
            let mut i = first;
            while i < end {
                // SAFETY: this function's contract; the loop stays below `n`, and `count` below `2 * RESULTS_PER_WRITE`.
                unsafe {
                    if step == 1 && i + 8 <= end && mask.add(i).cast::<[u8; 8]>().read() == [0; 8] {
                        i += 8;
                        continue;
                    }
                    let stop = end.min(i + 8);
                    while i < stop {
                        self.buffer.get_unchecked_mut(count).write(value(i));
                        count += (mask.wrapping_offset(i as isize * step).read() != 0) as usize;
                        i += 1;
                    }
                }
            }
            self.count = count;
            if count >= RESULTS_PER_WRITE {
                self.flush();
            }
            first = end;
        }
    }

    /// Writes what is in the buffer.
    fn flush(&mut self) {
        let n = self.count.min(self.left);
        // SAFETY: the first `count` values were written by `pack`, under whose contract the output has `left` elements from
        // `to` on.
        unsafe {
            self.to.cast::<u8>().copy_from_nonoverlapping(self.buffer.as_ptr().cast(), n * size_of::<W>())
        };
        self.to = self.to.wrapping_add(n);
        (self.left, self.count) = (self.left - n, 0);
    }

    /// Writes zeros for results that are missing because the mask was changed.
    fn zero_missing(&mut self) {
        // SAFETY: as in `flush`: the output has `left` elements from `to` on.
        unsafe { self.to.write_bytes(0, self.left) };
        self.left = 0;
    }
}

/// Calls `visit` with the index of every true element, in order.
///
/// # Safety
/// `at + i * step` is the address of a readable byte for `i < n`.
#[inline(always)]
unsafe fn for_each_true(at: *const u8, step: isize, n: usize, mut visit: impl FnMut(usize)) {
    let mut i = 0;
    if step == 1 {
        while i + 8 <= n {
            // SAFETY: this function's contract; `i + 8 <= n`.
            let mut word = unsafe { load_mask_word(at.add(i)) };
            while word != 0 {
                visit(i + word.trailing_zeros() as usize / 8);
                word &= word - 1;
            }
            i += 8;
        }
    }
    while i < n {
        // SAFETY: this function's contract; `i < n`.
        if unsafe { at.wrapping_offset(i as isize * step).read() } != 0 {
            visit(i);
        }
        i += 1;
    }
}

/// Writes the indices of the true elements of a mask: those of element `k` to row `k` of `out`, an int64 tensor with a
/// column for each dim of the mask and as many rows as were counted.
pub fn nonzero(out: &Tensor, mask: &Tensor, counts: &MaskCounts) -> Result<()> {
    let rank = mask.layout().rank();
    assert!(out.dtype() == DType::I64 && out.layout().rank() == 2);
    let [rows, columns] = out.layout().modes() else { unreachable!("a matrix") };
    assert!(rows.extent as usize == counts.total() && columns.extent as usize == rank);
    pin_all!(to: Write out, flags: Read mask);
    let walk = MaskWalk::new(mask.layout(), &[Operand { layout: mask.layout(), size: 1 }], [flags.origin]);
    let extents: Extents = mask.layout().modes().iter().map(|m| m.extent as usize).collect();
    let to = Shared::new(to.origin);
    let size = size_of::<i64>() as isize;
    if rank == 1 && rows.stride == 1 {
        return walk.for_each_piece(&|piece| {
            let mut results = ResultBuffer::<i64>::new(to.get(), counts.results(piece));
            let mut first = piece * POSITIONS_PER_PIECE;
            // SAFETY: `pin_all` pinned both; the results of a piece are within `out`, as asserted.
            walk.for_each_run(piece, |p, s, n| unsafe {
                results.pack(p[0], s[0], n, |i| (first + i) as i64);
                first += n;
            });
            results.flush();
            results.zero_missing();
        });
    }
    walk.for_each_piece(&|piece| {
        let results = counts.results(piece);
        let mut row = to.get().wrapping_offset(results.start as isize * rows.stride * size);
        let mut left = results.len();
        let mut position = Coordinates::new(&extents);
        let mut first = piece * POSITIONS_PER_PIECE;
        // SAFETY: `pin_all` pinned the mask, and the output, which has `left` rows from `row` on.
        walk.for_each_run(piece, |p, s, n| unsafe {
            for_each_true(p[0], s[0], n, |i| {
                if left == 0 {
                    return;
                }
                position.move_to(first + i);
                for (dim, &index) in position.index.iter().enumerate() {
                    let at = row.wrapping_offset(dim as isize * columns.stride * size);
                    at.cast::<i64>().write(index as i64);
                }
                row = row.wrapping_offset(rows.stride * size);
                left -= 1;
            });
            first += n;
        });
        // Results that are missing because the mask was changed.
        for _ in 0..left {
            for dim in 0..rank as isize {
                // SAFETY: `pin_all` pinned the output, which has `left` rows from `row` on.
                unsafe { row.wrapping_offset(dim * columns.stride * size).cast::<i64>().write(0) };
            }
            row = row.wrapping_offset(rows.stride * size);
        }
    })
}

/// A number for each dim.
type Extents = SmallVec<[usize; 8]>;

/// The index of a position along each dim. Positions that ascend within a row need no division.
struct Coordinates<'a> {
    extents: &'a [usize],
    index: Extents,
    /// The position of the first element of the present row, of the last dim.
    row: usize,
}

impl Coordinates<'_> {
    fn new(extents: &[usize]) -> Coordinates<'_> {
        Coordinates { extents, index: smallvec![0; extents.len()], row: 0 }
    }

    #[inline(always)]
    fn move_to(&mut self, position: usize) {
        let (Some(last), Some(&width)) = (self.index.last_mut(), self.extents.last()) else { return };
        let column = position.wrapping_sub(self.row);
        if column < width {
            *last = column;
            return;
        }
        let mut rest = position;
        for (index, extent) in self.index.iter_mut().zip(self.extents).rev() {
            (*index, rest) = (rest % extent, rest / extent);
        }
        self.row = position - self.index[self.index.len() - 1];
    }
}

/// Writes elements of `source`, one after the other, to the elements of `x` for which the mask is true. Source and `x`
/// have one dtype, mask and `x` one shape; the source is row-major with at least as many elements as were counted.
/// Neither it nor the mask overlaps `x`, whose elements do not overlap each other.
pub fn place(x: &Tensor, mask: &Tensor, source: &Tensor, counts: &MaskCounts) -> Result<()> {
    assert!(source.size() >= counts.total() && source.layout().is_row_major() && source.dtype() == x.dtype());
    pin_all!(to: Write x, flags: Read mask, from: Read source);
    let size = x.dtype().size();
    let operands = [Operand { layout: mask.layout(), size: 1 }, Operand { layout: x.layout(), size }];
    let walk = MaskWalk::new(mask.layout(), &operands, [flags.origin, to.origin]);
    let from = Shared::new(from.origin);
    by_width!(size, W => walk.for_each_piece(&|piece| {
        let results = counts.results(piece);
        let mut next = from.get().cast::<W>().wrapping_add(results.start);
        let mut left = results.len();
        // SAFETY: `pin_all` pinned all operands; the source has `left` elements from `next` on, as asserted.
        walk.for_each_run(piece, |p, s, n| unsafe {
            for_each_true(p[0], s[0], n, |i| {
                if left > 0 {
                    let to = p[1].wrapping_offset(i as isize * s[1]).cast::<W>();
                    to.write_unaligned(next.read_unaligned());
                    next = next.wrapping_add(1);
                    left -= 1;
                }
            });
        });
    }))
}
