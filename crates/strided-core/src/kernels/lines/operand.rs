//! One operand of a `LineJob`: copies elements of any strides and dtype into tiles in scratch, and back.

use super::tile::TileRows;
use crate::dtype::DType;
use crate::kernels::{Kernel, cast, copy, pair, transpose};
use std::ptr::null_mut;

/// How the lines of an operand are stored, and how its elements are converted to those of a tile or from them.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct LineOperand {
    /// Bytes from one position of a line to the next.
    pub step: isize,
    /// Bytes per element in memory.
    pub size: usize,
    /// Bytes per element in a tile.
    tile_size: usize,
    /// Converts between the two dtypes, if they differ: to the tile's for an input, from it for an output.
    cast: Option<Kernel>,
    copy: Kernel,
}

impl LineOperand {
    pub fn input(dtype: DType, tile: DType, step: isize) -> LineOperand {
        let cast = (dtype != tile).then(|| cast::kernel(dtype, tile));
        LineOperand {
            step,
            size: dtype.size(),
            tile_size: tile.size(),
            cast,
            copy: copy::kernel(dtype.size()),
        }
    }

    pub fn output(dtype: DType, tile: DType, step: isize) -> LineOperand {
        let cast = (dtype != tile).then(|| cast::kernel(tile, dtype));
        LineOperand { cast, ..LineOperand::input(dtype, tile, step) }
    }

    /// Whether lanes that are `lane_step` bytes apart are adjacent in memory.
    pub fn is_adjacent(&self, lane_step: isize) -> bool {
        lane_step == self.size as isize
    }

    /// Whether a kernel can use the operand's memory as a tile: lanes are adjacent, and there is no cast.
    pub fn is_tile(&self, lane_step: isize) -> bool {
        self.cast.is_none() && self.is_adjacent(lane_step)
    }

    /// Whether the elements of a line are contiguous, in increasing order, and need no cast.
    pub fn is_contiguous(&self) -> bool {
        self.is_tile(self.step)
    }

    /// The rows of a tile: in the operand's memory if that can be used as one, otherwise in `scratch`.
    pub(super) fn rows(&self, memory: *mut u8, lane_step: isize, scratch: *mut u8, width: usize) -> TileRows {
        if self.is_tile(lane_step) {
            return TileRows { start: memory, step: self.step };
        }
        TileRows { start: scratch, step: (width * self.tile_size) as isize }
    }

    /// Copies a tile from memory to `tile`: its first element is at `from`, and its lanes are `lane_step` bytes apart.
    ///
    /// # Safety
    /// For each `row < rows` and `lane < width`, `from + row * self.step + lane * lane_step` is a readable element.
    /// `rows * width` elements can be written to `tile` in the tile's dtype and to `staging` in the operand's; the
    /// three do not overlap.
    pub(super) unsafe fn read_tile(
        &self,
        tile: *mut u8,
        staging: *mut u8,
        from: *mut u8,
        lane_step: isize,
        (rows, width): (usize, usize),
    ) {
        let (tile_size, size) = (self.tile_size as isize, self.size as isize);
        let convert = self.cast.unwrap_or(self.copy);
        // SAFETY: the elements at `from`, `tile` and `staging` are those of this function's contract.
        unsafe {
            if width == 1 {
                return run(convert, (tile, tile_size), (from, self.step), rows);
            }
            if !self.has_unit_stride() {
                let (rows, width) = self.merged_rows(lane_step, (rows, width));
                for row in 0..rows as isize {
                    let to = tile.wrapping_offset(row * width as isize * tile_size);
                    run(convert, (to, tile_size), (from.wrapping_offset(row * self.step), lane_step), width);
                }
                return;
            }
            // Contiguous lines are transposed in registers, before they are cast.
            let to = if self.cast.is_some() { staging } else { tile };
            let (from, to, row_step) = self.forward(from, to, rows, width);
            transpose::tile(self.size, to, row_step, from, lane_step, rows, width);
            if let Some(cast) = self.cast {
                run(cast, (tile, tile_size), (staging, size), rows * width);
            }
        }
    }

    /// Copies a tile from `tile` to memory: the reverse of `read_tile`.
    ///
    /// # Safety
    /// As for `read_tile`, with elements at `to` that are writable, and `tile` initialised.
    pub(super) unsafe fn write_tile(
        &self,
        tile: *mut u8,
        staging: *mut u8,
        to: *mut u8,
        lane_step: isize,
        (rows, width): (usize, usize),
    ) {
        let (tile_size, size) = (self.tile_size as isize, self.size as isize);
        let convert = self.cast.unwrap_or(self.copy);
        // SAFETY: the elements at `to`, `tile` and `staging` are those of this function's contract.
        unsafe {
            if width == 1 {
                return run(convert, (to, self.step), (tile, tile_size), rows);
            }
            if !self.has_unit_stride() {
                let (rows, width) = self.merged_rows(lane_step, (rows, width));
                for row in 0..rows as isize {
                    let from = tile.wrapping_offset(row * width as isize * tile_size);
                    run(convert, (to.wrapping_offset(row * self.step), lane_step), (from, tile_size), width);
                }
                return;
            }
            let mut from = tile;
            if let Some(cast) = self.cast {
                run(cast, (staging, size), (tile, tile_size), rows * width);
                from = staging;
            }
            let (to, from, row_step) = self.forward(to, from, rows, width);
            transpose::tile(self.size, to, lane_step, from, row_step, width, rows);
        }
    }

    /// Copies whole lines to `scratch`, one after the other. The first is at `from`, the next ones `line_step` bytes
    /// apart.
    ///
    /// # Safety
    /// For each `line < width` and `i < length`, `from + line * line_step + i * self.step` is a readable element.
    /// `length * width` elements of the tile's dtype can be written to `scratch`, which does not overlap them.
    pub unsafe fn read_lines(
        &self,
        scratch: *mut u8,
        from: *mut u8,
        line_step: isize,
        (length, width): (usize, usize),
    ) {
        let tile_size = self.tile_size as isize;
        let (length, width) = self.merged_lines(line_step, (length, width));
        for line in 0..width as isize {
            let to = scratch.wrapping_offset(line * length as isize * tile_size);
            let from = from.wrapping_offset(line * line_step);
            // SAFETY: line `line` at `from` and its copy in `scratch`, both by this function's contract.
            unsafe { run(self.cast.unwrap_or(self.copy), (to, tile_size), (from, self.step), length) };
        }
    }

    /// Copies whole lines from `scratch` to memory: the reverse of `read_lines`.
    ///
    /// # Safety
    /// As for `read_lines`, with elements at `to` that are writable, and `scratch` initialised.
    pub unsafe fn write_lines(
        &self,
        scratch: *mut u8,
        to: *mut u8,
        line_step: isize,
        (length, width): (usize, usize),
    ) {
        let tile_size = self.tile_size as isize;
        let (length, width) = self.merged_lines(line_step, (length, width));
        for line in 0..width as isize {
            let from = scratch.wrapping_offset(line * length as isize * tile_size);
            let to = to.wrapping_offset(line * line_step);
            // SAFETY: line `line` at `to` and its copy in `scratch`, both by this function's contract.
            unsafe { run(self.cast.unwrap_or(self.copy), (to, self.step), (from, tile_size), length) };
        }
    }

    /// Whether the elements of a line are contiguous in memory, in increasing or decreasing order.
    fn has_unit_stride(&self) -> bool {
        self.step.unsigned_abs() == self.size
    }

    /// The shape of a tile in which rows without gaps between them are merged into one, since each row costs a call.
    fn merged_rows(&self, lane_step: isize, (rows, width): (usize, usize)) -> (usize, usize) {
        let gapless = self.is_adjacent(lane_step) && self.step == (width * self.size) as isize;
        if gapless { (1, rows * width) } else { (rows, width) }
    }

    /// The length and number of lines, with lines that continue each other merged into one.
    fn merged_lines(&self, line_step: isize, (length, width): (usize, usize)) -> (usize, usize) {
        if line_step == length as isize * self.step { (length * width, 1) } else { (length, width) }
    }

    /// Addresses of the first row in memory and in scratch, and the bytes from row to row in scratch. Lines stored in
    /// decreasing order are walked from their last position on, because `transpose::tile` needs increasing addresses.
    fn forward(
        &self,
        memory: *mut u8,
        scratch: *mut u8,
        rows: usize,
        width: usize,
    ) -> (*mut u8, *mut u8, isize) {
        let (last, row_step) = (rows as isize - 1, (width * self.size) as isize);
        if self.step > 0 {
            return (memory, scratch, row_step);
        }
        (memory.wrapping_offset(last * self.step), scratch.wrapping_offset(last * row_step), -row_step)
    }
}

/// Runs a cast or copy of `n` elements between two addresses with a step each.
///
/// # Safety
/// For each `i < n`, `from.0 + i * from.1` is a readable and `to.0 + i * to.1` a writable element of the kernel's
/// dtypes.
unsafe fn run(kernel: Kernel, to: (*mut u8, isize), from: (*mut u8, isize), n: usize) {
    // SAFETY: the contract of `Kernel` for two operands is that of this function.
    unsafe { kernel(&pair(to.0, from.0, null_mut()), &pair(to.1, from.1, 0), n) }
}
