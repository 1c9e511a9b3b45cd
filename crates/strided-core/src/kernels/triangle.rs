//! Triangles of matrices: rows of which one part is kept and the other is zero, and the indices of the kept elements.

use super::generate::by_runs;
use super::split::for_each_row_range;
use super::{Pointers, copy, pair};
use crate::cpu;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::item::ScalarBytes;
use crate::layout::MAX_SPAN;
use crate::nest::{Loop, Nest, Operand, Order, walk_range};
use crate::storage::Access;
use crate::tensor::{Tensor, pin_each};
use crate::threads::Shared;
use std::ops::Range;
use std::ptr::null_mut;

/// The elements of a matrix on and below a diagonal, or on and above it.
#[derive(Clone, Copy)]
pub struct Triangle {
    rows: isize,
    columns: isize,
    diagonal: isize,
    upper: bool,
}

impl Triangle {
    /// `diagonal` is above the main one if it is positive.
    pub fn new(rows: isize, columns: isize, diagonal: isize, upper: bool) -> Triangle {
        debug_assert!((0..=MAX_SPAN).contains(&rows) && (0..=MAX_SPAN).contains(&columns));
        Triangle { rows, columns, diagonal: diagonal.clamp(-rows - 1, columns + 1), upper }
    }

    /// The same elements of the transposed matrix.
    fn transposed(self) -> Triangle {
        Triangle { rows: self.columns, columns: self.rows, diagonal: -self.diagonal, upper: !self.upper }
    }

    /// The kept columns of a row.
    fn kept(self, row: isize) -> Range<usize> {
        let columns = self.columns;
        let cut = |column: isize| column.clamp(0, columns) as usize;
        if self.upper { cut(row + self.diagonal)..cut(columns) } else { 0..cut(row + self.diagonal + 1) }
    }

    /// The number of kept elements in the rows above a row.
    fn kept_above(self, row: isize) -> i128 {
        let columns = self.columns as i128;
        // The sum of all integers below `end`, each clamped to 0 ..= columns.
        let sum_below = |end: isize| {
            let (end, inside) = (end as i128, (end as i128).clamp(0, columns));
            inside * (inside - 1) / 2 + columns * (end - inside).max(0)
        };
        let sum = |shift: isize| sum_below(row + shift) - sum_below(shift);
        if self.upper { columns * row as i128 - sum(self.diagonal) } else { sum(self.diagonal + 1) }
    }

    /// The number of kept elements.
    pub fn size(self) -> i128 {
        self.kept_above(self.rows)
    }
}

/// Copies the kept elements of the matrices `x` to `out`, and writes zeros to the others; without `x`, only the zeros. `x`
/// has the shape and dtype of `out` and does not overlap it.
pub fn keep(out: &Tensor, x: Option<&Tensor>, diagonal: isize, upper: bool) -> Result<()> {
    let rank = out.layout().rank();
    let [rows, columns] = [rank - 2, rank - 1].map(|dim| out.layout().modes()[dim]);
    let triangle = Triangle::new(rows.extent, columns.extent, diagonal, upper);
    if x.is_none() && columns.stride.abs() > rows.stride.abs() {
        // Zeros are written along the dim whose elements are closer to each other.
        let transposed = out.with_layout(out.layout().transpose(-2, -1)?);
        return keep_rows(&transposed, None, triangle.transposed());
    }
    keep_rows(out, x, triangle)
}

fn keep_rows(out: &Tensor, x: Option<&Tensor>, triangle: Triangle) -> Result<()> {
    assert!(x.is_none_or(|x| x.dtype() == out.dtype() && x.layout().same_shape(out.layout())));
    if out.size() == 0 {
        return Ok(());
    }
    let [Some(to), from] = pin_each([Some((out, Access::Write)), x.map(|x| (x, Access::Read))])? else {
        unreachable!("the output was pinned")
    };
    let size = out.dtype().size();
    let source = x.unwrap_or(out);
    let [out_rows, source_rows] = [out.layout(), source.layout()].map(|layout| layout.select(-1, 0));
    let (out_rows, source_rows) = (out_rows?, source_rows?);
    let operands = [Operand { layout: &out_rows, size }, Operand { layout: &source_rows, size }];
    let column_step = |x: &Tensor| x.layout().modes().last().map_or(0, |mode| mode.stride * size as isize);
    let body = TriangleRows {
        triangle,
        nest: Nest::new(&out_rows, &operands, Order::RowMajor),
        origins: Shared::new(pair(to.origin, from.as_ref().map_or(to.origin, |pin| pin.origin), null_mut())),
        steps: pair(column_step(out), column_step(source), 0),
        size,
        copies: x.is_some(),
    };
    let row_bytes = triangle.columns as usize * size;
    // SAFETY: both are pinned for the layouts that the nest was made of.
    for_each_row_range(out_rows.size(), row_bytes, out.size(), &|rows| unsafe { body.write(rows) })
}

/// Rows of all matrices, which threads share.
struct TriangleRows {
    triangle: Triangle,
    /// The loops over all rows, in row-major order.
    nest: Nest,
    origins: Shared<Pointers>,
    /// Bytes from column to column.
    steps: crate::nest::Steps,
    size: usize,
    copies: bool,
}

impl TriangleRows {
    /// # Safety
    /// The origins are pinned for the layouts that the nest was made of, and for all columns.
    unsafe fn write(&self, rows: Range<usize>) {
        let loops: &[Loop] = self.nest.loops();
        let mut row = rows.start as isize % self.triangle.rows;
        walk_range(loops, self.nest.start(self.origins.get()), rows, |at| {
            let kept = self.triangle.kept(row);
            let columns = self.triangle.columns as usize;
            // SAFETY: this function's contract; the ranges are parts of the columns.
            unsafe {
                if self.copies {
                    self.copy(at, kept.clone());
                }
                if kept.is_empty() {
                    self.zero(at[0], 0..columns);
                } else {
                    self.zero(at[0], 0..kept.start);
                    self.zero(at[0], kept.end..columns);
                }
            }
            row = if row + 1 == self.triangle.rows { 0 } else { row + 1 };
        });
    }

    /// # Safety
    /// The columns of the row that begins at these addresses are valid for writing and reading, and do not overlap.
    unsafe fn copy(&self, row: &Pointers, columns: Range<usize>) {
        let at = crate::nest::shifted(row, &self.steps, columns.start as isize);
        let dense = self.size as isize;
        // SAFETY: this function's contract.
        unsafe {
            if self.steps[0] == dense && self.steps[1] == dense && !cpu::reference_kernels() {
                at[0].copy_from_nonoverlapping(at[1], columns.len() * self.size);
            } else {
                copy::kernel(self.size)(&at, &self.steps, columns.len());
            }
        }
    }

    /// # Safety
    /// The columns of the row that begins at `row` are valid for writing.
    unsafe fn zero(&self, row: *mut u8, columns: Range<usize>) {
        let at = row.wrapping_offset(columns.start as isize * self.steps[0]);
        // SAFETY: this function's contract; the zero is 16 bytes, which are read with step 0.
        unsafe {
            if self.steps[0] == self.size as isize && !cpu::reference_kernels() {
                at.write_bytes(0, columns.len() * self.size);
            } else {
                let zero = ScalarBytes::EMPTY;
                let operands = pair(at, zero.address(), null_mut());
                copy::kernel(self.size)(&operands, &pair(self.steps[0], 0, 0), columns.len());
            }
        }
    }
}

/// Writes the rows (0) or the columns (1) of the kept elements of a triangle, in row-major order, to an int64 vector of
/// as many elements.
pub fn indices(out: &Tensor, triangle: Triangle, part: usize) -> Result<()> {
    assert!(out.dtype() == DType::I64 && out.size() as i128 == triangle.size());
    by_runs(out, 1, &|first: usize, n: usize, to: *mut u8| {
        let to = to.cast::<i64>();
        // The last row above which there are at most `first` kept elements.
        let (mut row, mut end) = (0, triangle.rows);
        while end - row > 1 {
            let middle = row + (end - row) / 2;
            if triangle.kept_above(middle) <= first as i128 { row = middle } else { end = middle }
        }
        let mut skipped = (first as i128 - triangle.kept_above(row)) as usize;
        let mut done = 0;
        while done < n {
            let kept = triangle.kept(row);
            let (start, count) = (kept.start + skipped, (kept.len() - skipped).min(n - done));
            for i in 0..count {
                let value = if part == 0 { row as i64 } else { (start + i) as i64 };
                // SAFETY: the contract of `RunBody`: n int64 elements, and `done + count` is at most n.
                unsafe { to.add(done + i).write(value) };
            }
            (row, skipped, done) = (row + 1, 0, done + count);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_elements_are_counted_by_a_formula() {
        for (rows, columns) in [(0, 3), (3, 0), (1, 1), (4, 7), (7, 4), (5, 5)] {
            for diagonal in -9..10 {
                for upper in [false, true] {
                    let triangle = Triangle::new(rows, columns, diagonal, upper);
                    let mut above = 0;
                    for row in 0..=rows {
                        assert_eq!(triangle.kept_above(row), above);
                        above += triangle.kept(row).len() as i128;
                    }
                }
            }
        }
    }
}
