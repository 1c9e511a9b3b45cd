//! Visits the lines of a job: strips and chunks as tasks for threads, and strips tile by tile.

use super::job::{LineJob, Strip};
use super::operand::LineOperand;
use super::tile::{LineTile, TileKernel, TileRows};
use super::{CHUNK, MAX_STAGED_BYTES, REGISTER_LANES, TASK_ELEMENTS, TILE_BYTES};
use crate::alloc::try_filled;
use crate::error::Result;
use crate::kernels::OPERANDS;
use crate::kernels::scratch::{Scratch, for_threads};
use crate::scalar::Element;
use crate::threads;
use smallvec::SmallVec;
use std::ops::Range;

/// The scratch buffers of one thread.
pub(in crate::kernels) struct LineScratch<'a> {
    tile: &'a mut Scratch<TILE_BYTES>,
    /// Elements that are transposed but not yet cast.
    staging: &'a mut Scratch<TILE_BYTES>,
    indices: &'a mut Scratch<TILE_BYTES>,
    /// For whole lines. As numbers of 16 bytes, for their alignment.
    lines: &'a mut [u128],
}

impl LineScratch<'_> {
    /// Calls `work` with buffers on the stack, and one for whole lines. Each is a variable: in a struct, the compiler would
    /// fill them with zeros.
    pub fn with<R>(lines: &mut [u128], work: impl FnOnce(&mut LineScratch) -> R) -> R {
        let mut tile = Scratch::new();
        let mut staging = Scratch::new();
        let mut indices = Scratch::new();
        work(&mut LineScratch { tile: &mut tile, staging: &mut staging, indices: &mut indices, lines })
    }

    /// The buffer for whole lines, aligned to 16. It has the `bytes` bytes that [`LineJob::for_each_strip`] was called with.
    pub fn line_buffer(&mut self, bytes: usize) -> *mut u8 {
        assert!(bytes <= size_of_val(self.lines));
        self.lines.as_mut_ptr().cast()
    }
}

impl LineJob {
    /// Calls `work` for strips of up to `width` lines that together have all lines. Threads share the strips; an
    /// element costs as much as `weight` additions. The scratch has a buffer of `line_bytes` bytes for whole lines. `make`
    /// returns the lanes' state that the strips of a task reuse.
    pub fn for_each_strip<C>(
        &self,
        width: usize,
        weight: usize,
        line_bytes: usize,
        make: impl Fn() -> C + Sync,
        work: impl Fn(&Strip, &mut LineScratch, &mut C) + Sync,
    ) -> Result<()> {
        let strips = self.strip_count(width);
        let per_task = (TASK_ELEMENTS / weight / (width.min(self.inner.extent) * self.length)).max(1);
        let (tasks, shared) = (strips.div_ceil(per_task), self.is_threaded(self.count(), weight));
        let run_task = |task: usize, lines: &mut [u128]| {
            let mut lanes = make();
            LineScratch::with(lines, |scratch| {
                for index in task * per_task..strips.min((task + 1) * per_task) {
                    work(&self.strip(width, index), scratch, &mut lanes);
                }
            })
        };
        if line_bytes == 0 {
            return threads::for_each_piece(tasks, shared, &|task| run_task(task, &mut []));
        }
        let units = line_bytes.div_ceil(size_of::<u128>());
        let mut buffers = for_threads(tasks, shared, || try_filled(units, 0))?;
        threads::for_each_piece_with(tasks, shared, &mut buffers, &|task, lines| run_task(task, lines))
    }

    /// Calls `work` for every long line, one after the other, or for bundles of up to `max_width` adjacent ones.
    pub fn for_each_bundle(
        &self,
        max_width: usize,
        mut work: impl FnMut(&Strip) -> Result<()>,
    ) -> Result<()> {
        let width = if self.has_adjacent_lines() { max_width } else { 1 };
        (0..self.strip_count(width)).try_for_each(|index| work(&self.strip(width, index)))
    }

    /// Calls `work` for groups of equally long chunks that together make a range of them: neighbouring chunks of one
    /// line, or one chunk of each line of a bundle. Threads share the groups. `work` gets the first chunk of the
    /// group, its lanes, and the length of each chunk.
    pub fn for_each_chunk_group<C>(
        &self,
        lines: &Strip,
        range: Range<usize>,
        weight: usize,
        make: impl Fn() -> C + Sync,
        work: impl Fn(usize, &Strip, usize, &mut LineScratch, &mut C) + Sync,
    ) -> Result<()> {
        let per_group = if lines.width == 1 { REGISTER_LANES } else { 1 };
        let whole = range.end.min(self.length / CHUNK) - range.start;
        let groups = whole.div_ceil(per_group) + (range.len() > whole) as usize;
        let per_task = (TASK_ELEMENTS / weight / (per_group * lines.width * CHUNK)).max(1);
        threads::for_each_piece(groups.div_ceil(per_task), self.is_threaded(lines.width, weight), &|task| {
            let mut lanes = make();
            LineScratch::with(&mut [], |scratch| {
                for group in task * per_task..groups.min((task + 1) * per_task) {
                    let done = (group * per_group).min(whole);
                    let chunk = range.start + done;
                    let (count, rows) = match whole - done {
                        0 => (1, self.length - chunk * CHUNK), // the last chunk, which is shorter
                        left => (left.min(per_group), CHUNK),
                    };
                    work(chunk, &self.chunks(lines, chunk, count), rows, scratch, &mut lanes);
                }
            })
        })
    }

    /// Runs a kernel over the first `rows` positions of a strip's lanes, tile by tile. `position` is that of the first
    /// row. Tiles begin with a chunk, if a chunk of all lanes fits a tile.
    ///
    /// # Safety
    /// Each lane of the strip has at least `rows` elements in each operand that the kernel uses.
    pub unsafe fn walk_tiles(
        &self,
        kernel: &mut dyn TileKernel,
        strip: &Strip,
        rows: usize,
        position: usize,
        scratch: &mut LineScratch,
    ) {
        let is_indexed = kernel.is_indexed();
        let element = self.max_element_bytes(kernel.element_bytes()).max(8 * is_indexed as usize);
        let (buffer, staging) = (scratch.tile.start(), scratch.staging.start());
        let (steps, width, writes) = (strip.lane_steps, strip.width, kernel.writes());
        let reads_directly = self.input.is_tile(steps[1]);
        let writes_directly = !writes || self.output.is_tile(steps[0]) && !is_indexed;
        let fit = TILE_BYTES / (element * width);
        let fit = if fit > CHUNK { fit / CHUNK * CHUNK } else { fit };
        let max_rows = if reads_directly && writes_directly { rows } else { fit };
        let mut done = 0;
        while done < rows {
            let rows = max_rows.min(rows - done);
            let at = |k: usize, side: &LineOperand| strip.at[k].wrapping_offset(done as isize * side.step);
            let (to, from, indices) = (at(0, &self.output), at(1, &self.input), at(2, &self.indices));
            let mut tile = LineTile {
                from: self.input.rows(from, steps[1], buffer, width),
                to: self.output.rows(to, steps[0], buffer, width),
                indices: TileRows::NONE,
                position: position + done,
                lane_positions: strip.lane_positions,
                rows,
                width,
            };
            // SAFETY: the lanes have rows `done..done + rows` by this function's contract; `max_rows` rows of elements
            // of any of the dtypes fit each buffer.
            unsafe {
                if !reads_directly {
                    self.input.read_tile(buffer, staging, from, steps[1], (rows, width));
                }
                if is_indexed && writes {
                    tile.indices = self.indices.rows(indices, steps[2], scratch.indices.start(), width);
                }
                kernel.run(&tile);
                if writes && !self.output.is_tile(steps[0]) {
                    self.output.write_tile(buffer, staging, to, steps[0], (rows, width));
                }
                if is_indexed && writes && !self.indices.is_tile(steps[2]) {
                    let buffer = scratch.indices.start();
                    self.indices.write_tile(buffer, staging, indices, steps[2], (rows, width));
                }
            }
            done += rows;
        }
    }

    /// Bytes of whole lines that [`LineJob::with_staged_strip`] needs for strips of up to `width` lines.
    pub fn staged_bytes<E: Element>(&self, width: usize) -> usize {
        let line = self.length * size_of::<E>();
        line * width.min(self.inner.extent).min(MAX_STAGED_BYTES / line.max(1))
    }

    /// Calls `work` for a strip of lines staged in scratch, so that kernels that pass over it several times cast and
    /// transpose it once. `work` gets the job and the strip as they are in scratch. A strip that kernels can use
    /// where it is, or that is too large to stage, is passed on as it is.
    ///
    /// # Safety
    /// The lanes of the strip are lines of this job.
    pub unsafe fn with_staged_strip<E: Element>(
        &self,
        strip: &Strip,
        scratch: &mut LineScratch,
        work: impl FnOnce(&LineJob, &Strip, &mut LineScratch),
    ) {
        let (steps, width, size) = (strip.lane_steps, strip.width, size_of::<E>());
        let bytes = self.length * width * size;
        if self.input.is_tile(steps[1]) && self.output.is_tile(steps[0]) || bytes > MAX_STAGED_BYTES {
            return work(self, strip, scratch);
        }
        let (lines, staging) = (scratch.line_buffer(bytes), scratch.staging.start());
        let owner = std::mem::take(&mut scratch.lines); // so that `work` cannot use the same buffer
        let max_rows = TILE_BYTES / (self.max_element_bytes(size) * width);
        let tiles = || (0..self.length).step_by(max_rows).map(|row| (row, max_rows.min(self.length - row)));
        let at =
            |k: usize, side: &LineOperand, row: usize| strip.at[k].wrapping_offset(row as isize * side.step);
        // SAFETY: the strip has `length` rows, because its lanes are lines of the job; `lines` holds all of them, and
        // `staging` holds `max_rows` of them.
        unsafe {
            for (row, rows) in tiles() {
                let from = at(1, &self.input, row);
                self.input.read_tile(lines.add(row * width * size), staging, from, steps[1], (rows, width));
            }
            let side = LineOperand::input(E::DTYPE, E::DTYPE, (width * size) as isize);
            let staged = LineJob { outer: SmallVec::new(), input: side, output: side, ..*self };
            let lane_steps = [size as isize; OPERANDS];
            work(&staged, &Strip { at: [lines; OPERANDS], lane_steps, ..*strip }, scratch);
            for (row, rows) in tiles() {
                let to = at(0, &self.output, row);
                self.output.write_tile(lines.add(row * width * size), staging, to, steps[0], (rows, width));
            }
        }
        scratch.lines = owner;
    }
}
