//! Operands staged for a kernel of one dtype: cast block by block, transposed tile by tile, packed where rows are short,
//! and large outputs written with non-temporal stores. Scratch is small enough to stay in the caches.

use super::nontemporal::{self, CACHE_LINE};
use super::pack::{self, StridedRows};
use super::scratch::Scratch;
use super::split::NestBody;
use super::{Kernel, OPERANDS, Pointers, Steps, pair, transpose};
use crate::nest::{Loop, shifted};
use std::ptr::null_mut;

/// Elements of a block that is cast: five operands of the widest type take 20 KB of a small first-level cache.
const CAST_BLOCK: usize = 256;
/// Bytes of scratch for the parts of a tile that are transposed, of all operands.
const TILE_BYTES: usize = 64 << 10;
/// Rows of a multiple of this many bytes would have the elements of a column in few sets of a cache, where they evict
/// each other: such rows are padded by a cache line.
const CONFLICT_BYTES: usize = 512;
/// Bytes of a block that is computed in scratch, and from there written with non-temporal stores.
const STREAM_BLOCK_BYTES: usize = 4 << 10;
/// Bytes of the shortest run that is written with non-temporal stores. A run starts and ends within a cache line, and
/// writing a line in two such parts is slower than reading it first.
const MIN_STREAM_BYTES: usize = 1 << 10;
/// Bytes of scratch per operand for short rows that are packed into one run.
const PACKED_BYTES: usize = 4 << 10;

/// Bytes from one row to the next in scratch, for rows of `bytes` bytes.
fn padded_row(bytes: usize) -> usize {
    if bytes.is_multiple_of(CONFLICT_BYTES) { bytes + CACHE_LINE } else { bytes }
}

/// A kernel with the casts of its operands.
pub struct StagedKernel {
    pub kernel: Kernel,
    /// The cast from an operand's dtype to the kernel's; for operand 0, from the kernel's to the operand's.
    pub casts: [Option<Kernel>; OPERANDS],
    /// Bytes per element, as the kernel sees it.
    pub kernel_sizes: [usize; OPERANDS],
    /// Bytes per element in memory.
    pub memory_sizes: [usize; OPERANDS],
    /// Whether the kernel copies operand 1 and does nothing else.
    pub is_copy: bool,
    /// Whether the output is written with non-temporal stores.
    pub non_temporal: bool,
}

impl NestBody for StagedKernel {
    #[inline]
    fn widest_element(&self) -> usize {
        self.memory_sizes.into_iter().max().expect("there are operands")
    }

    #[inline]
    unsafe fn compute_run(&self, p: &Pointers, s: &Steps, n: usize) {
        let size = self.memory_sizes[0];
        // SAFETY: this function's contract: p[k] + i * s[k] is valid for i < n.
        unsafe {
            if self.non_temporal && s[0] == size as isize && n * size >= MIN_STREAM_BYTES {
                self.write_non_temporal(p, s, n)
            } else {
                self.call_kernel(p, s, n)
            }
        }
    }

    /// Tiles are as wide as scratch allows, so that kernels and non-temporal stores get long rows. A copy with ordinary
    /// stores needs no scratch and has taller tiles, and so has a tile whose output is transposed. Transposed operands are
    /// read in runs that the hardware prefetcher follows: software prefetch gained nothing, and shorter runs took 1.3
    /// times as long.
    fn tile_sides(&self, rows: &Loop, columns: &Loop) -> (usize, usize) {
        let size = self.widest_element();
        let short = 512 / size.max(8);
        if self.is_copy && !self.non_temporal {
            (4 * short, short)
        } else if self.transposes_output(rows, columns) {
            (TILE_BYTES / (short * size), short)
        } else {
            (short, TILE_BYTES / (short * size))
        }
    }

    /// ```text
    /// copy of x.t()      the input is transposed straight into the output
    /// x.t() + y.t()      columns are computed in scratch, and transposed into the output
    /// x + y.t()          y is transposed into scratch, then rows are computed
    /// ```
    unsafe fn compute_tile(&self, p: &Pointers, rows: &Loop, columns: &Loop) {
        let size = |k: usize| self.memory_sizes[k] as isize;
        // Contiguous along the rows loop, forwards or backwards, but not along the columns loop.
        let crosses = |k: usize| columns.steps[k].abs() > size(k) && rows.steps[k].abs() == size(k);
        let transposed = (1..OPERANDS).filter(|&k| crosses(k));
        let non_temporal = self.non_temporal && columns.extent * self.memory_sizes[0] >= MIN_STREAM_BYTES;
        if self.is_copy && !non_temporal && crosses(1) && columns.steps[0] == size(0) {
            // SAFETY: this function's contract: the tile of the input and that of the output are valid, and do not overlap.
            return unsafe { self.transpose_input(1, p[0], rows.steps[0], p[1], rows, columns) };
        }
        if self.transposes_output(rows, columns) {
            // SAFETY: this function's contract; the condition is the one that the callee needs.
            return unsafe { self.compute_tile_transposed(p, rows, columns) };
        }
        let bytes: usize = transposed.clone().map(|k| self.memory_sizes[k]).sum();
        // A tile of many rows and few columns may not fit even one column at a time: then nothing is transposed.
        let fitting_columns = TILE_BYTES / (rows.extent * bytes).max(1);
        let width = if fitting_columns == 0 { columns.extent } else { fitting_columns.min(columns.extent) };
        let mut scratch =
            Scratch::<{ TILE_BYTES + (TILE_BYTES / CONFLICT_BYTES + OPERANDS) * CACHE_LINE }>::new();
        for first in (0..columns.extent).step_by(width) {
            let part = Loop { extent: width.min(columns.extent - first), ..*columns };
            let (mut at, mut row_steps, mut column_steps) =
                (shifted(p, &columns.steps, first as isize), rows.steps, columns.steps);
            let mut used = 0;
            for k in transposed.clone().filter(|_| fitting_columns > 0) {
                let step = padded_row(part.extent * self.memory_sizes[k]);
                let free = scratch.start().wrapping_add(used);
                // SAFETY: this function's contract, for the input; `width` columns of all transposed operands fit the
                // scratch buffer, whose size includes the padding of rows and of operands.
                unsafe { self.transpose_input(k, free, step as isize, at[k], rows, &part) };
                (at[k], row_steps[k], column_steps[k]) = (free, step as isize, size(k));
                used = (used + rows.extent * step).next_multiple_of(CACHE_LINE);
            }
            // Rows of a tile are too short for the hardware prefetcher.
            let prefetched =
                (1..OPERANDS).filter(|&k| self.non_temporal && columns.steps[k] == size(k) && size(k) > 0);
            for row in 0..rows.extent as isize {
                for k in prefetched.clone() {
                    let next = at[k].wrapping_offset((row + 2) * row_steps[k]);
                    for line in (0..part.extent * self.memory_sizes[k]).step_by(CACHE_LINE) {
                        nontemporal::prefetch(next.wrapping_add(line));
                    }
                }
                // SAFETY: a row of the tile: of the operands, by this function's contract, or of their transposed copies in
                // scratch.
                unsafe { self.compute_run(&shifted(&at, &row_steps, row), &column_steps, part.extent) };
            }
        }
    }

    #[inline(never)]
    unsafe fn compute_short_rows(&self, p: &Pointers, rows: &Loop, columns: &Loop) {
        let mut scratch = [const { Scratch::<PACKED_BYTES>::NEW }; OPERANDS];
        let (width, rows_at_once) = (columns.extent, PACKED_BYTES / (columns.extent * self.widest_element()));
        let needs_packing = |k: usize| !StridedRows::of(k, p[k], rows, columns).is_one_run(width);
        let (mut at, mut steps) = (*p, columns.steps);
        let packed_inputs = (1..OPERANDS).filter(|&k| needs_packing(k));
        for k in (0..OPERANDS).filter(|&k| needs_packing(k)) {
            (at[k], steps[k]) = (scratch[k].start(), self.memory_sizes[k] as isize);
        }
        for first in (0..rows.extent).step_by(rows_at_once) {
            let count = rows_at_once.min(rows.extent - first);
            let first_row = shifted(p, &rows.steps, first as isize);
            let packed = |k: usize| StridedRows::dense(at[k], width, self.memory_sizes[k]);
            let in_memory = |k: usize| StridedRows::of(k, first_row[k], rows, columns);
            // SAFETY: this function's contract: `count` rows from `first` on are valid; scratch has capacity for
            // `rows_at_once` rows of the widest operand.
            unsafe {
                if self.is_copy {
                    pack::copy_rows(self.memory_sizes[0], in_memory(0), in_memory(1), count, width);
                    continue;
                }
                // A row that is broadcast stays in scratch from the first iteration on.
                for k in packed_inputs.clone().filter(|&k| first == 0 || rows.steps[k] != 0) {
                    pack::copy_rows(self.memory_sizes[k], packed(k), in_memory(k), count, width);
                }
                let mut operands = first_row;
                (0..OPERANDS).filter(|&k| needs_packing(k)).for_each(|k| operands[k] = at[k]);
                self.compute_run(&operands, &steps, count * width);
                if needs_packing(0) {
                    pack::copy_rows(self.memory_sizes[0], in_memory(0), packed(0), count, width);
                }
            }
        }
    }
}

impl StagedKernel {
    /// Whether a plane is computed column by column and the output transposed: all inputs are contiguous along the rows
    /// loop and the output alone along the columns loop, as in `x.t() + y.t()`. Only the output is then transposed, and
    /// inputs are read in place, in one pass. Not with non-temporal stores, which need runs of columns; nor for short
    /// columns, which are not worth a call each.
    fn transposes_output(&self, rows: &Loop, columns: &Loop) -> bool {
        let size = |k: usize| self.memory_sizes[k] as isize;
        let along_rows = |k: usize| rows.steps[k] == size(k) || rows.steps[k] == 0;
        let long = rows.extent >= columns.extent.min(64);
        long && !self.is_copy
            && !self.non_temporal
            && columns.steps[0] == size(0)
            && (1..OPERANDS).all(along_rows)
    }

    /// Computes the columns of a tile in scratch, one after the other, and transposes them into the output.
    ///
    /// # Safety
    /// As for [`NestBody::compute_tile`]; [`Self::transposes_output`] holds for these loops.
    #[inline(never)]
    unsafe fn compute_tile_transposed(&self, p: &Pointers, rows: &Loop, columns: &Loop) {
        let mut scratch = Scratch::<{ TILE_BYTES + (TILE_BYTES / CONFLICT_BYTES + 1) * CACHE_LINE }>::new();
        let size = self.memory_sizes[0];
        // Rows and columns at a time: a column as long as scratch allows, and as many of those as fit.
        let height = rows.extent.min(TILE_BYTES / size);
        let run_bytes = padded_row(height * size);
        let width = (TILE_BYTES / (height * size)).min(columns.extent);
        for first_row in (0..rows.extent).step_by(height) {
            let row_count = height.min(rows.extent - first_row);
            for first_column in (0..columns.extent).step_by(width) {
                let column_count = width.min(columns.extent - first_column);
                let start = shifted(
                    &shifted(p, &rows.steps, first_row as isize),
                    &columns.steps,
                    first_column as isize,
                );
                let mut steps = rows.steps;
                steps[0] = size as isize;
                for i in 0..column_count {
                    let mut at = shifted(&start, &columns.steps, i as isize);
                    at[0] = scratch.start().wrapping_add(i * run_bytes);
                    // SAFETY: this function's contract: `row_count` elements of a column of each input; scratch has
                    // capacity for `width` columns of `height` elements.
                    unsafe { self.call_kernel(&at, &steps, row_count) };
                }
                // SAFETY: this function's contract: the output has these rows and columns. The loop above wrote all of them
                // to scratch.
                unsafe {
                    let from = scratch.start().cast_const();
                    transpose::tile(
                        size,
                        start[0],
                        rows.steps[0],
                        from,
                        run_bytes as isize,
                        row_count,
                        column_count,
                    );
                }
            }
        }
    }

    /// Copies a tile of input `k`, which is contiguous along the rows loop, to `to`, where it is contiguous along the
    /// columns loop and its rows are `step` bytes apart.
    ///
    /// # Safety
    /// For every row `r` and column `c`: `from + r * rows.steps[k] + c * columns.steps[k]` is an element of the input,
    /// `to + r * step + c * size` is valid for writing one, and the two tiles do not overlap. `rows.steps[k]` is the size of
    /// an element or its negative.
    unsafe fn transpose_input(
        &self,
        k: usize,
        to: *mut u8,
        step: isize,
        from: *mut u8,
        rows: &Loop,
        columns: &Loop,
    ) {
        // An input that runs backwards along the rows loop is read from its last row on, and written likewise.
        let last = rows.extent as isize - 1;
        let (to, step, from) = if rows.steps[k] < 0 {
            (to.wrapping_offset(last * step), -step, from.wrapping_offset(last * rows.steps[k]))
        } else {
            (to, step, from)
        };
        let size = self.memory_sizes[k];
        // SAFETY: this function's contract; rows were reversed on both sides.
        unsafe { transpose::tile(size, to, step, from, columns.steps[k], rows.extent, columns.extent) }
    }

    /// Runs the kernel, with casts where operands need them.
    ///
    /// # Safety
    /// As for [`NestBody::compute_run`].
    #[inline]
    unsafe fn call_kernel(&self, p: &Pointers, s: &Steps, n: usize) {
        if self.casts.iter().all(Option::is_none) {
            // SAFETY: this function's contract: p[k] + i * s[k] is valid for i < n, and every operand has the kernel's dtype.
            unsafe { (self.kernel)(p, s, n) }
        } else {
            // SAFETY: this function's contract: p[k] + i * s[k] is valid for i < n.
            unsafe { self.call_with_casts(p, s, n) }
        }
    }

    /// Runs the kernel block by block; inputs are cast into scratch before it, and its results from scratch after it.
    ///
    /// # Safety
    /// As for [`NestBody::compute_run`].
    unsafe fn call_with_casts(&self, p: &Pointers, s: &Steps, n: usize) {
        let mut scratch = [const { Scratch::<{ CAST_BLOCK * 16 }>::NEW }; OPERANDS];
        let (mut inner, mut steps) = (*p, *s);
        for k in 0..OPERANDS {
            if let Some(cast) = self.casts[k] {
                inner[k] = scratch[k].start();
                steps[k] = self.kernel_sizes[k] as isize;
                if k > 0 && s[k] == 0 {
                    // SAFETY: this function's contract: the element at p[k] is valid. A scalar is cast once.
                    unsafe { cast(&pair(inner[k], p[k], null_mut()), &[0; OPERANDS], 1) };
                    steps[k] = 0;
                }
            }
        }
        let mut done = 0;
        while done < n {
            let count = CAST_BLOCK.min(n - done);
            let at = |k: usize| p[k].wrapping_offset(done as isize * s[k]);
            for k in 0..OPERANDS {
                match self.casts[k] {
                    None => inner[k] = at(k),
                    // SAFETY: `count` elements from `at` on remain; scratch has capacity for CAST_BLOCK elements.
                    Some(cast) if k > 0 && s[k] != 0 => unsafe {
                        cast(&pair(inner[k], at(k), null_mut()), &pair(steps[k], s[k], 0), count)
                    },
                    Some(_) => {}
                }
            }
            // SAFETY: each operand is `count` elements of the kernel's dtype: in memory, by this function's contract, or in
            // scratch. `count` elements of the output remain.
            unsafe {
                (self.kernel)(&inner, &steps, count);
                if let Some(cast) = self.casts[0] {
                    cast(&pair(at(0), inner[0], null_mut()), &pair(s[0], steps[0], 0), count);
                }
            }
            done += count;
        }
    }

    /// Runs the kernel into scratch, block by block, and writes each block with non-temporal stores. Kernels need no code
    /// for such stores.
    ///
    /// # Safety
    /// As for [`NestBody::compute_run`]; the output is dense, and no input overlaps it.
    unsafe fn write_non_temporal(&self, p: &Pointers, s: &Steps, n: usize) {
        let size = self.memory_sizes[0];
        // SAFETY: this function's contract: `n` elements of each operand; at most STREAM_BLOCK_BYTES of results are in scratch.
        unsafe {
            if self.is_copy && s[1] == size as isize {
                return nontemporal::copy(p[0], p[1], n * size);
            }
            let mut scratch = Scratch::<STREAM_BLOCK_BYTES>::new();
            let block = STREAM_BLOCK_BYTES / size;
            let results = scratch.start();
            // The first block is shorter, so that the others start at a cache line.
            let mut count = block - (p[0] as usize % CACHE_LINE) / size;
            let mut done = 0;
            while done < n {
                count = count.min(n - done);
                let mut at = shifted(p, s, done as isize);
                let to = std::mem::replace(&mut at[0], results);
                self.call_kernel(&at, s, count);
                nontemporal::copy(to, results, count * size);
                done += count;
                count = block;
            }
        }
    }
}
