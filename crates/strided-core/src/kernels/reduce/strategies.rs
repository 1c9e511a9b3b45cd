//! How each strategy brings the terms of a strip to its accumulators.
//!
//! Functions with scratch are not inlined. A stack frame of 128 KB, the largest scratch, is probed page by page when
//! the function is entered, which evicts TLB entries even if the scratch is not used.

use super::execute::PlannedReduction;
use super::plan::Strategy;
use super::reducer::{MAX_JOINED_LANES, TermLines};
use super::tree::Tree;
use super::{
    BLOCK, CHUNK, CHUNK_LEVEL, LANES, MAX_ELEMENT_BYTES, MAX_GATHERED_OUTPUTS, MAX_LANE_BYTES,
    MAX_STRIP_OUTPUTS, TRANSPOSED_ROW_BYTES,
};
use crate::kernels::scratch::Scratch;
use crate::kernels::{Pointers, transpose};
use crate::nest::for_each_run;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::null_mut;

/// Elements that pass through several stages at a time.
const STAGED_ELEMENTS: usize = 256;

impl PlannedReduction<'_> {
    /// Reduces some terms of a strip of `width` outputs into their accumulators.
    ///
    /// # Safety
    /// `at` is the address of a strip of `width` outputs, for which the contract of [`PlannedReduction::run`] holds;
    /// `terms` is not empty and within the plan's terms; `acc` has space for `width` accumulators.
    #[inline]
    pub(super) unsafe fn strip(&self, at: &Pointers, width: usize, terms: Range<usize>, acc: *mut u8) {
        // SAFETY: all of these have the contract of this function.
        unsafe {
            match self.plan.strategy {
                Strategy::Contiguous => self.contiguous(at, terms, acc),
                Strategy::Gathered => self.gathered(at, terms, acc),
                Strategy::NarrowRows => self.narrow_rows(at, width, terms, acc),
                Strategy::Rows | Strategy::FewTerms if self.plan.has_contiguous_rows() => {
                    self.joined_outputs(at, width, terms, acc, null_mut())
                }
                Strategy::Rows | Strategy::FewTerms => self.gathered_joined_outputs(at, width, terms, acc),
                Strategy::Transposed => self.transposed(at, width, terms, acc),
            }
        }
    }

    /// Reduces outputs that share rows of terms.
    ///
    /// # Safety
    /// As for `strip`. Unless rows are contiguous, `scratch` has space for [`LANES`] rows of `width` terms.
    unsafe fn joined_outputs(
        &self,
        at: &Pointers,
        width: usize,
        terms: Range<usize>,
        acc: *mut u8,
        scratch: *mut u8,
    ) {
        // SAFETY: forwarded from this function's contract; `FewTerms` is never cut into parts, so `terms` is all
        // of them.
        unsafe {
            match self.plan.strategy {
                Strategy::FewTerms => self.few_terms(at, width, acc, scratch),
                _ => self.rows(at, width, terms, acc, scratch),
            }
        }
    }

    /// Reduces outputs whose rows of terms are gathered or transposed first.
    ///
    /// # Safety
    /// As for `strip`.
    #[inline(never)]
    unsafe fn gathered_joined_outputs(&self, at: &Pointers, width: usize, terms: Range<usize>, acc: *mut u8) {
        let mut scratch = Scratch::<{ LANES * MAX_GATHERED_OUTPUTS * MAX_ELEMENT_BYTES }>::new();
        // SAFETY: forwarded from this function's contract; the plan limits such strips to MAX_GATHERED_OUTPUTS.
        unsafe { self.joined_outputs(at, width, terms, acc, scratch.start()) }
    }

    /// Applies the stages to `n` elements and writes the terms.
    ///
    /// # Safety
    /// For every `i < n`, `from + i * step` is an element of the input and `to + i * to_step` has space for a term.
    unsafe fn gather(&self, to: *mut u8, to_step: isize, from: *mut u8, step: isize, n: usize) {
        // SAFETY: forwarded from this function's contract; the stages lead from elements to terms, by that of `run`.
        unsafe {
            match self.stages {
                [only] => only.run((to, to_step), (from, step), n),
                _ => self.gather_in_stages(to, to_step, from, step, n),
            }
        }
    }

    /// [`PlannedReduction::gather`] for several stages, with scratch between them.
    ///
    /// # Safety
    /// As for `gather`.
    #[inline(never)]
    unsafe fn gather_in_stages(&self, to: *mut u8, to_step: isize, from: *mut u8, step: isize, n: usize) {
        let mut scratch = [const { Scratch::<{ STAGED_ELEMENTS * MAX_ELEMENT_BYTES }>::NEW }; 2];
        let scratch = scratch.each_mut().map(|scratch| scratch.start());
        let (last, others) = self.stages.split_last().expect("there is a stage");
        for first in (0..n).step_by(STAGED_ELEMENTS) {
            let count = STAGED_ELEMENTS.min(n - first);
            let [mut next, mut other] = scratch;
            let (mut from, mut step) = (from.wrapping_offset(first as isize * step), step);
            // SAFETY: `count` elements remain from `first` on. Each stage reads what the one before it wrote, and the
            // scratch holds STAGED_ELEMENTS elements of any dtype.
            unsafe {
                for stage in others {
                    stage.run((next, stage.size as isize), (from, step), count);
                    (from, step) = (next, stage.size as isize);
                    std::mem::swap(&mut next, &mut other);
                }
                last.run((to.offset(first as isize * to_step), to_step), (from, step), count);
            }
        }
    }

    /// [`Strategy::Contiguous`]: a chunk at a time.
    ///
    /// # Safety
    /// As for `strip`, with one output.
    unsafe fn contiguous(&self, at: &Pointers, terms: Range<usize>, acc: *mut u8) {
        let size = self.plan.term_bytes;
        let first = at[1].wrapping_add(terms.start * size);
        let mut tree = Tree::new(self.reducer, 1);
        for done in (0..terms.len()).step_by(CHUNK) {
            let n = CHUNK.min(terms.len() - done);
            let line = TermLines::one(first.wrapping_add(done * size), n, terms.start + done);
            // SAFETY: the plan says that terms are contiguous, and `n` of them remain; `acc` has space for one
            // accumulator.
            unsafe {
                (self.reducer.block)(&line, acc);
                if n == terms.len() {
                    return;
                }
                tree.push(acc, CHUNK_LEVEL);
            }
        }
        // SAFETY: chunks were pushed; `acc` has space for one accumulator.
        unsafe { tree.finish(acc) }
    }

    /// [`Strategy::Gathered`]: a block at a time. Blocks whose terms happen to be adjacent are read in place.
    ///
    /// # Safety
    /// As for `strip`, with one output.
    #[inline(never)]
    unsafe fn gathered(&self, at: &Pointers, terms: Range<usize>, acc: *mut u8) {
        let (size, step) = (self.plan.term_bytes, self.plan.inner_step());
        let adjacent = self.plan.in_place && step == size as isize;
        let mut scratch = Scratch::<{ BLOCK * MAX_ELEMENT_BYTES }>::new();
        let mut tree = Tree::new(self.reducer, 1);
        let mut block = BlockScratch { start: scratch.start(), filled: 0, first: terms.start };
        let Range { start, end } = terms;
        for_each_run(&self.plan.reduced, *at, terms, |at, n| {
            let mut done = 0;
            while done < n {
                let from = at[1].wrapping_offset(done as isize * step);
                let left = n - done;
                // SAFETY: `left` elements of this run remain from `from` on, within the reduced loops. The scratch
                // holds BLOCK terms, of which `filled` are taken; `acc` has space for one accumulator.
                unsafe {
                    // A whole chunk enters the tree as one, if the terms before it are whole chunks.
                    let whole = left >= CHUNK && (block.first - start).is_multiple_of(CHUNK);
                    let (most, level) = if whole { (CHUNK, CHUNK_LEVEL) } else { (BLOCK, 0) };
                    if adjacent && block.filled == 0 && (left >= most || block.first + left == end) {
                        let n = left.min(most);
                        (self.reducer.block)(&TermLines::one(from, n, block.first), acc);
                        tree.push(acc, level);
                        block.first += n;
                        done += n;
                    } else {
                        let n = left.min(BLOCK - block.filled);
                        let to = block.start.add(block.filled * size);
                        self.gather(to, size as isize, from, step, n);
                        block.filled += n;
                        done += n;
                        if block.filled == BLOCK {
                            block.reduce(self, &mut tree, 1, acc);
                        }
                    }
                }
            }
        });
        // SAFETY: `filled` terms are in the scratch; `acc` has space for one accumulator, and every block was pushed.
        unsafe {
            if block.filled > 0 {
                block.reduce(self, &mut tree, 1, acc);
            }
            tree.finish(acc);
        }
    }

    /// [`Strategy::Transposed`]: a block of terms of each output is transposed into scratch.
    ///
    /// # Safety
    /// As for `strip`.
    #[inline(never)]
    unsafe fn transposed(&self, at: &Pointers, width: usize, terms: Range<usize>, acc: *mut u8) {
        let (size, step) = (self.plan.term_bytes as isize, self.plan.inner_step());
        let column_step = self.plan.columns.steps[1];
        let mut scratch = Scratch::<{ BLOCK * TRANSPOSED_ROW_BYTES }>::new();
        let mut tree = Tree::new(self.reducer, width);
        let mut block = BlockScratch { start: scratch.start(), filled: 0, first: terms.start };
        for_each_run(&self.plan.reduced, *at, terms, |at, n| {
            let mut done = 0;
            while done < n {
                let from = at[1].wrapping_offset(done as isize * step);
                let n = (n - done).min(BLOCK - block.filled);
                let to = block.start.wrapping_add(block.filled * size as usize);
                let line = BLOCK as isize * size;
                // SAFETY: `n` rows of this run remain from `from` on, and have the `width` columns of the strip. The
                // scratch holds BLOCK terms for each of TRANSPOSED_ROW_BYTES / size outputs, which is the plan's width.
                unsafe {
                    if self.plan.has_contiguous_rows() {
                        transpose::tile(size as usize, to, line, from, step, width, n);
                    } else {
                        for j in 0..width as isize {
                            let column = from.wrapping_offset(j * column_step);
                            self.gather(to.offset(j * line), size, column, step, n);
                        }
                    }
                    block.filled += n;
                    if block.filled == BLOCK {
                        block.reduce(self, &mut tree, width, acc);
                    }
                }
                done += n;
            }
        });
        // SAFETY: `filled` terms of each output are in the scratch; `acc` has space for `width` accumulators.
        unsafe {
            if block.filled > 0 {
                block.reduce(self, &mut tree, width, acc);
            }
            tree.finish(acc);
        }
    }

    /// [`Strategy::NarrowRows`]: rows 32 apart belong to the same lane, so 32 rows are added as one run.
    ///
    /// # Safety
    /// As for `strip`.
    #[inline(never)]
    unsafe fn narrow_rows(&self, at: &Pointers, width: usize, terms: Range<usize>, acc: *mut u8) {
        let row_loops = self.reducer.row_loops.as_ref().expect("the plan is for a fold with lanes");
        let mut scratch = Scratch::<{ MAX_STRIP_OUTPUTS * MAX_LANE_BYTES }>::new();
        let lanes = scratch.start();
        let mut tree = Tree::new(self.reducer, width);
        let row = width * self.plan.term_bytes;
        for first in terms.clone().step_by(BLOCK) {
            let count = BLOCK.min(terms.end - first);
            let start = at[1].wrapping_add(first * row).cast_const();
            let mut runs = [start; BLOCK / LANES];
            for (i, run) in runs.iter_mut().enumerate() {
                *run = start.wrapping_add(i * LANES * row);
            }
            let (whole, rest) = (count / LANES, count % LANES);
            // SAFETY: the plan says that rows of `width` terms follow each other without gaps, and `count` of them
            // remain from `start` on. The scratch holds `width` accumulators per lane: LANES * width <=
            // MAX_STRIP_OUTPUTS.
            unsafe {
                (row_loops.add_rows)(lanes, &runs[..whole], LANES * width, true);
                if rest > 0 {
                    let tail = start.wrapping_add(whole * LANES * row);
                    (row_loops.add_rows)(lanes, &[tail], rest * width, false);
                }
                let mut half = LANES / 2;
                while half > 0 {
                    let upper = lanes.add(half * width * self.reducer.accumulator_bytes);
                    (self.reducer.merge)(lanes, upper, half * width);
                    half /= 2;
                }
                tree.push(lanes, 0);
            }
        }
        // SAFETY: blocks were pushed; `acc` has space for `width` accumulators.
        unsafe { tree.finish(acc) };
    }

    /// [`Strategy::Rows`]: collects the addresses of a block of rows, then reduces it.
    ///
    /// # Safety
    /// As for `joined_outputs`.
    #[inline(never)]
    unsafe fn rows(&self, at: &Pointers, width: usize, terms: Range<usize>, acc: *mut u8, scratch: *mut u8) {
        let step = self.plan.inner_step();
        let mut rows = [const { MaybeUninit::<*const u8>::uninit() }; BLOCK];
        let mut filled = 0;
        let mut tree = Tree::new(self.reducer, width);
        let (only_block, mut left) = (terms.len() <= BLOCK, terms.len());
        let mut in_acc = false;
        for_each_run(&self.plan.reduced, *at, terms, |at, n| {
            for i in 0..n {
                rows[filled].write(at[1].wrapping_offset(i as isize * step));
                filled += 1;
                left -= 1;
                if filled == BLOCK || left == 0 {
                    // SAFETY: the first `filled` addresses were written just now: those of rows within the reduced
                    // loops, with the columns of this strip. `acc` and `scratch` are this function's contract.
                    unsafe {
                        let rows = std::slice::from_raw_parts_mut(rows.as_mut_ptr().cast(), filled);
                        in_acc = self.block_of_rows(rows, width, (&mut tree, only_block), acc, scratch);
                    }
                    filled = 0;
                }
            }
        });
        if !in_acc {
            // SAFETY: blocks were pushed; `acc` has space for `width` accumulators.
            unsafe { tree.finish(acc) };
        }
    }

    /// Reduces a block of rows, lane by lane, for all outputs at once. Lanes are taken in bit-reversed order, so that
    /// neighbours in the tree follow each other and at most six lanes are pending. Up to 128 rows, several lanes are
    /// reduced in one call.
    ///
    /// Returns true if the result is in `acc` rather than in the tree: the block was the only one, and its lanes were
    /// reduced in one call.
    ///
    /// # Safety
    /// Each row has `width` elements; `acc` has space for `width` accumulators. Unless rows are contiguous, `scratch`
    /// has space for [`LANES`] rows of `width` terms.
    unsafe fn block_of_rows(
        &self,
        rows: &mut [*const u8],
        width: usize,
        (tree, only_block): (&mut Tree, bool),
        acc: *mut u8,
        scratch: *mut u8,
    ) -> bool {
        let row_loops = self.reducer.row_loops.as_ref().expect("the plan is for a fold with lanes");
        // Lanes without terms hold the identity: there is no need to merge them.
        let lanes = rows.len().min(LANES).next_power_of_two();
        let few_rows = rows.len() <= BLOCK / MAX_JOINED_LANES;
        // SAFETY: rows, `acc` and `scratch` are this function's contract. A call takes at most BLOCK / LANES = LANES
        // rows: those of one lane, or with few rows at most four of each of eight lanes.
        unsafe {
            let contiguous = self.make_contiguous(rows, width, scratch);
            // Half as many lanes if rows are gathered, so that the rows stay in the L1 cache.
            let joined = if contiguous { MAX_JOINED_LANES } else { MAX_JOINED_LANES / 2 };
            let joined = if few_rows { joined.min(lanes) } else { 1 };
            for first in (0..lanes).step_by(joined) {
                let mut lane_rows = [std::ptr::null::<u8>(); BLOCK / LANES];
                let mut ends = [0; MAX_JOINED_LANES + 1];
                let mut count = 0;
                for (k, end) in ends[1..].iter_mut().enumerate().take(joined) {
                    let bits = usize::BITS - lanes.ilog2();
                    let lane = if lanes == 1 { 0 } else { (first + k).reverse_bits() >> bits };
                    for &row in rows.iter().skip(lane).step_by(LANES) {
                        lane_rows[count] =
                            if contiguous { row } else { self.gather_row(row, width, scratch, count) };
                        count += 1;
                    }
                    *end = count;
                }
                if few_rows {
                    let mut by_lane = [&lane_rows[..0]; MAX_JOINED_LANES];
                    for (k, rows) in by_lane.iter_mut().enumerate().take(joined) {
                        *rows = &lane_rows[ends[k]..ends[k + 1]];
                    }
                    (row_loops.reduce_lanes)(acc, &by_lane[..joined], width);
                } else {
                    (row_loops.add_rows)(acc, &lane_rows[..count], width, true);
                }
                if only_block && joined == lanes {
                    return true;
                }
                tree.push(acc, joined.ilog2());
            }
        }
        false
    }

    /// Gathers a row of terms into line `line` of the scratch, and returns the address of that line.
    ///
    /// # Safety
    /// The row has `width` elements, and the scratch space for `line + 1` rows of `width` terms.
    unsafe fn gather_row(&self, row: *const u8, width: usize, scratch: *mut u8, line: usize) -> *const u8 {
        let size = self.plan.term_bytes;
        let to = scratch.wrapping_add(line * width * size);
        // SAFETY: forwarded from this function's contract.
        unsafe { self.gather(to, size as isize, row.cast_mut(), self.plan.columns.steps[1], width) };
        to
    }

    /// [`Strategy::FewTerms`]: a row for each term.
    ///
    /// # Safety
    /// As for `joined_outputs`, with all terms.
    #[inline(never)]
    unsafe fn few_terms(&self, at: &Pointers, width: usize, acc: *mut u8, scratch: *mut u8) {
        let step = self.plan.inner_step();
        let mut rows = [std::ptr::null::<u8>(); LANES];
        let mut filled = 0;
        for_each_run(&self.plan.reduced, *at, 0..self.plan.terms, |at, n| {
            for i in 0..n {
                rows[filled] = at[1].wrapping_offset(i as isize * step);
                filled += 1;
            }
        });
        let rows = &mut rows[..filled];
        // SAFETY: the rows are within the reduced loops and have the columns of this strip; there are at most LANES,
        // which the scratch has space for. `acc` is this function's contract.
        unsafe {
            if !self.make_contiguous(rows, width, scratch) {
                for (i, row) in rows.iter_mut().enumerate() {
                    *row = self.gather_row(*row, width, scratch, i);
                }
            }
            (self.reducer.few_terms.expect("the plan is for a fold with this loop"))(acc, rows, width);
        }
    }

    /// Makes the terms of each row contiguous if that is cheap. Rows may be contiguous already. If the terms of each
    /// output are adjacent and there are few rows, they are transposed into the scratch. Returns false if rows must be
    /// gathered.
    ///
    /// # Safety
    /// As for `block_of_rows`.
    unsafe fn make_contiguous(&self, rows: &mut [*const u8], width: usize, scratch: *mut u8) -> bool {
        let plan = &self.plan;
        let size = plan.term_bytes;
        if plan.has_contiguous_rows() || !plan.in_place {
            return plan.in_place;
        }
        if plan.single_loop_step() != Some(size as isize) || rows.len() > LANES {
            return false;
        }
        let line = (width * size) as isize;
        // SAFETY: the terms of each output are adjacent from `rows[0]` on, and outputs are a column step apart; the
        // scratch has space for LANES rows.
        unsafe { transpose::tile(size, scratch, line, rows[0], plan.columns.steps[1], rows.len(), width) };
        for (i, row) in rows.iter_mut().enumerate() {
            *row = scratch.wrapping_offset(i as isize * line);
        }
        true
    }

    /// Reduces `count` outputs with few terms each in one call. Returns false if the terms are too many, or in several
    /// loops. `output_step` is the distance in bytes between the first terms of neighbouring outputs.
    ///
    /// # Safety
    /// As for `strip`, for each of the outputs; `acc` has space for `count` accumulators.
    pub(super) unsafe fn lines(&self, at: &Pointers, output_step: isize, count: usize, acc: *mut u8) -> bool {
        let n = self.plan.terms;
        // SAFETY: forwarded from this function's contract; the terms are contiguous, or in one loop with a step.
        unsafe {
            if self.plan.strategy == Strategy::Contiguous && n <= CHUNK {
                let lines = TermLines { count, step: output_step, ..TermLines::one(at[1], n, 0) };
                (self.reducer.block)(&lines, acc);
                return true;
            }
            if let Some(step) = self.plan.single_loop_step()
                && n <= BLOCK
            {
                self.gathered_lines(at, output_step, step, count, acc);
                return true;
            }
        }
        false
    }

    /// Reduces outputs whose terms pass through stages or have gaps, as many at a time as fill a block. Where
    /// outputs follow each other with the step of their terms, they are gathered in one call.
    ///
    /// # Safety
    /// As for `lines`; an output has at most [`BLOCK`] terms, at a distance of `step` bytes.
    #[inline(never)]
    unsafe fn gathered_lines(
        &self,
        at: &Pointers,
        output_step: isize,
        step: isize,
        count: usize,
        acc: *mut u8,
    ) {
        let mut scratch = Scratch::<{ BLOCK * MAX_ELEMENT_BYTES }>::new();
        let start = scratch.start();
        let (n, size) = (self.plan.terms, self.plan.term_bytes as isize);
        for first in (0..count).step_by(BLOCK / n) {
            let count = (BLOCK / n).min(count - first);
            let from = at[1].wrapping_offset(first as isize * output_step);
            let line = n as isize * size;
            // SAFETY: `count` outputs remain from `first` on, with `n` elements each; `count * n <= BLOCK` terms fit
            // the scratch, and `acc` has space for one accumulator per output.
            unsafe {
                if output_step == n as isize * step {
                    self.gather(start, size, from, step, count * n);
                } else {
                    for i in 0..count as isize {
                        let from = from.wrapping_offset(i * output_step);
                        self.gather(start.offset(i * line), size, from, step, n);
                    }
                }
                let lines = TermLines { count, step: line, ..TermLines::one(start, n, 0) };
                (self.reducer.block)(&lines, acc.add(first * self.reducer.accumulator_bytes));
            }
        }
    }
}

/// Collects terms until they make a block: scratch for [`BLOCK`] terms of each output of a strip.
struct BlockScratch {
    start: *mut u8,
    /// Terms of each output in the scratch.
    filled: usize,
    /// Terms before those in the scratch.
    first: usize,
}

impl BlockScratch {
    /// Reduces the terms in the scratch, and pushes the result into the tree.
    ///
    /// # Safety
    /// The first `filled` terms of each of `width` outputs were written; `acc` has space for `width` accumulators.
    unsafe fn reduce(&mut self, planned: &PlannedReduction, tree: &mut Tree, width: usize, acc: *mut u8) {
        // SAFETY: forwarded from this function's contract; lines of BLOCK terms follow each other in the scratch.
        unsafe {
            let step = (BLOCK * planned.plan.term_bytes) as isize;
            let line = TermLines::one(self.start, self.filled, self.first);
            (planned.reducer.block)(&TermLines { count: width, step, ..line }, acc);
            tree.push(acc, 0);
        }
        self.first += self.filled;
        self.filled = 0;
    }
}
