//! Tiles of lanes and positions: from tensors of any strides and dtypes into rooms of adjacent lanes, and back.

use super::scan::Rows;
use crate::dtype::DType;
use crate::kernels::{Kernel, cast, copy, pair, transpose};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// Bytes of a room.
pub(super) const ROOM: usize = 32 << 10;

/// Uninitialised memory for the elements of a tile.
#[repr(align(64))]
pub(super) struct Room(MaybeUninit<[u8; ROOM]>);

impl Room {
    #[inline(always)]
    pub fn new() -> Room {
        Room(MaybeUninit::uninit())
    }

    pub fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// How an operand lies in memory, seen from its lanes, and how its elements become those of a tile or come from them.
#[derive(Clone, Copy)]
pub(super) struct Side {
    /// Bytes from one position of a line to the next.
    pub step: isize,
    /// Bytes per element in memory, and in a tile.
    pub size: usize,
    tile: usize,
    /// Between the two dtypes: into the tile for an input, out of it for an output.
    cast: Option<Kernel>,
    copy: Kernel,
}

impl Side {
    pub fn input(dtype: DType, tile: DType, step: isize) -> Side {
        let cast = (dtype != tile).then(|| cast::kernel(dtype, tile));
        Side { step, size: dtype.size(), tile: tile.size(), cast, copy: copy::kernel(dtype.size()) }
    }

    pub fn output(dtype: DType, tile: DType, step: isize) -> Side {
        Side { cast: (dtype != tile).then(|| cast::kernel(tile, dtype)), ..Side::input(dtype, tile, step) }
    }

    /// Whether neighbouring lanes, so many bytes apart, are neighbours in memory.
    pub fn side_by_side(&self, lane: isize) -> bool {
        lane == self.size as isize
    }

    /// Whether a tile can be used where it lies.
    pub fn is_tile(&self, lane: isize) -> bool {
        self.cast.is_none() && self.side_by_side(lane)
    }

    /// Whether the elements of a line are neighbours in memory, in one direction or the other.
    fn runs(&self) -> bool {
        self.step.unsigned_abs() == self.size
    }

    /// Rows that follow each other without gaps as one: short ones would be a call each.
    fn joined(&self, lane: isize, (rows, width): (usize, usize)) -> (usize, usize) {
        let gapless = self.side_by_side(lane) && self.step == (width * self.size) as isize;
        if gapless { (1, rows * width) } else { (rows, width) }
    }

    /// Reads lines into `room`, one after the other: the first is at `from`, the next ones `lane` bytes apart.
    ///
    /// # Safety
    /// The elements are there, and `room` holds them as the tile's elements.
    pub unsafe fn read_along(
        &self,
        room: *mut u8,
        from: *mut u8,
        lane: isize,
        (length, width): (usize, usize),
    ) {
        let tile = self.tile as isize;
        let (length, width) = self.joined_along(lane, (length, width));
        for line in 0..width as isize {
            let to = room.wrapping_offset(line * length as isize * tile);
            let from = from.wrapping_offset(line * lane);
            // SAFETY: the caller's promise.
            unsafe { run(self.cast.unwrap_or(self.copy), (to, tile), (from, self.step), length) };
        }
    }

    /// Writes lines from `room`, as `read_along` reads them.
    ///
    /// # Safety
    /// As for `read_along`, with elements that may be written.
    pub unsafe fn write_along(
        &self,
        room: *mut u8,
        to: *mut u8,
        lane: isize,
        (length, width): (usize, usize),
    ) {
        let tile = self.tile as isize;
        let (length, width) = self.joined_along(lane, (length, width));
        for line in 0..width as isize {
            let from = room.wrapping_offset(line * length as isize * tile);
            let to = to.wrapping_offset(line * lane);
            // SAFETY: the caller's promise.
            unsafe { run(self.cast.unwrap_or(self.copy), (to, self.step), (from, tile), length) };
        }
    }

    /// Lines that follow each other as one.
    fn joined_along(&self, lane: isize, (length, width): (usize, usize)) -> (usize, usize) {
        if lane == length as isize * self.step { (length * width, 1) } else { (length, width) }
    }

    /// Reads a tile into `room`: its first element is at `from`, its lanes are `lane` bytes apart.
    ///
    /// # Safety
    /// The elements are there; `room` holds them as the tile's elements, and `spare` as the memory's.
    pub unsafe fn read(
        &self,
        room: *mut u8,
        spare: *mut u8,
        from: *mut u8,
        lane: isize,
        (rows, width): (usize, usize),
    ) {
        let (tile, size) = (self.tile as isize, self.size as isize);
        let cast = self.cast.unwrap_or(self.copy);
        // SAFETY: the caller's promise.
        unsafe {
            if width == 1 {
                return run(cast, (room, tile), (from, self.step), rows);
            }
            if !self.runs() {
                let (rows, width) = self.joined(lane, (rows, width));
                for row in 0..rows as isize {
                    let to = room.wrapping_offset(row * width as isize * tile);
                    run(cast, (to, tile), (from.wrapping_offset(row * self.step), lane), width);
                }
                return;
            }
            let to = if self.cast.is_some() { spare } else { room };
            let (from, to, step) = self.transposed(from, to, rows, width);
            transpose::tile(self.size, to, step, from, lane, rows, width);
            if let Some(cast) = self.cast {
                run(cast, (room, tile), (spare, size), rows * width);
            }
        }
    }

    /// Writes a tile from `room`, as `read` reads it.
    ///
    /// # Safety
    /// As for `read`, with elements that may be written.
    pub unsafe fn write(
        &self,
        room: *mut u8,
        spare: *mut u8,
        to: *mut u8,
        lane: isize,
        (rows, width): (usize, usize),
    ) {
        let (tile, size) = (self.tile as isize, self.size as isize);
        let cast = self.cast.unwrap_or(self.copy);
        // SAFETY: the caller's promise.
        unsafe {
            if width == 1 {
                return run(cast, (to, self.step), (room, tile), rows);
            }
            if !self.runs() {
                let (rows, width) = self.joined(lane, (rows, width));
                for row in 0..rows as isize {
                    let from = room.wrapping_offset(row * width as isize * tile);
                    run(cast, (to.wrapping_offset(row * self.step), lane), (from, tile), width);
                }
                return;
            }
            let mut from = room;
            if let Some(cast) = self.cast {
                run(cast, (spare, size), (room, tile), rows * width);
                from = spare;
            }
            let (to, from, step) = self.transposed(to, from, rows, width);
            transpose::tile(self.size, to, lane, from, step, width, rows);
        }
    }

    /// Where a run of positions starts in memory, where its first row is in a room, and the step between rows: a line
    /// that lies backwards is walked from its end.
    fn transposed(
        &self,
        memory: *mut u8,
        room: *mut u8,
        rows: usize,
        width: usize,
    ) -> (*mut u8, *mut u8, isize) {
        let (last, step) = (rows as isize - 1, (width * self.size) as isize);
        if self.step > 0 {
            return (memory, room, step);
        }
        (memory.wrapping_offset(last * self.step), room.wrapping_offset(last * step), -step)
    }

    /// The rows of a tile that is used where it lies, or of one in a room.
    pub fn rows(&self, memory: *mut u8, lane: isize, room: *mut u8, width: usize) -> Rows {
        if self.is_tile(lane) {
            return Rows { start: memory, step: self.step };
        }
        Rows { start: room, step: (width * self.tile) as isize }
    }
}

/// Runs a cast between two places with a step each.
///
/// # Safety
/// As [`Kernel`].
unsafe fn run(cast: Kernel, to: (*mut u8, isize), from: (*mut u8, isize), n: usize) {
    // SAFETY: the caller's promise.
    unsafe { cast(&pair(to.0, from.0, null_mut()), &pair(to.1, from.1, 0), n) }
}
