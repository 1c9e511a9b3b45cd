//! Kernels of one type and one direction under operands of several: through blocks that stay in the first
//! cache, operands are cast, tiles transposed around, and large results streamed.

use super::pack::{self, RowsAt};
use super::scratch::Scratch;
use super::split::Body;
use super::{Kernel, OPERANDS, Pointers, Steps, nontemporal, pair, transpose};
use crate::nest::{Loop, shifted};
use std::ptr::null_mut;

/// Elements per block: five operands of the widest type fill 20 KB of a small first-level cache.
const BLOCK: usize = 256;
/// Bytes of the parts of a tile that are transposed around at a time, of all operands.
const TILE: usize = 64 << 10;
/// Rows of a multiple of so many bytes would have their columns in few places of a cache: a line lies between them.
const FULL: usize = 512;
/// Bytes of a block on its way around the caches.
const STREAMED: usize = 4 << 10;
/// Bytes of the shortest run that goes around the caches: the lines at both of its ends are not whole, and writing
/// a line in two parts this way is slower than reading it first.
const LEAST: usize = 1 << 10;
/// Bytes of short rows that are worked on as one run.
const GATHERED: usize = 4 << 10;

/// Bytes from one run to the next in a room.
fn room_step(run: usize) -> usize {
    if run.is_multiple_of(FULL) { run + nontemporal::LINE } else { run }
}

/// A kernel, and how to come from the operands to what it wants.
pub struct Staged {
    pub kernel: Kernel,
    /// From an operand's dtype to the kernel's (operand 0: the way back).
    pub casts: [Option<Kernel>; OPERANDS],
    /// Bytes per element on the kernel's side.
    pub sizes: [usize; OPERANDS],
    /// Bytes per element in memory.
    pub memory: [usize; OPERANDS],
    /// Whether the kernel only copies operand 1.
    pub moves: bool,
    /// Whether the output goes around the caches.
    pub stream: bool,
}

impl Body for Staged {
    #[inline]
    fn widest(&self) -> usize {
        self.memory.into_iter().max().expect("there are operands")
    }

    #[inline]
    unsafe fn run(&self, p: &Pointers, s: &Steps, n: usize) {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            if self.stream && s[0] == self.memory[0] as isize && n * self.memory[0] >= LEAST {
                self.run_streamed(p, s, n)
            } else {
                self.run_cached(p, s, n)
            }
        }
    }

    /// Tiles are read in long runs, which the CPU follows by itself: asking for lines gains nothing, and shorter runs
    /// took 1.3 times as long. They are as wide as the room allows, for the runs that a kernel is given and those
    /// that are streamed; tiles that are only moved, and not streamed, need no room and are taller, as are those whose
    /// results are transposed.
    fn sides(&self, rows: &Loop, columns: &Loop) -> (usize, usize) {
        let size = self.widest();
        let short = 512 / size.max(8);
        if self.moves && !self.stream {
            (4 * short, short)
        } else if self.turns_results(rows, columns) {
            (TILE / (short * size), short)
        } else {
            (short, TILE / (short * size))
        }
    }

    unsafe fn tile(&self, p: &Pointers, rows: &Loop, columns: &Loop) {
        let size = |k: usize| self.memory[k] as isize;
        let across = |k: usize| columns.steps[k].abs() > size(k) && rows.steps[k].abs() == size(k);
        let transposed = (1..OPERANDS).filter(|&k| across(k));
        let streamed = self.stream && columns.extent * self.memory[0] >= LEAST;
        if self.moves && !streamed && across(1) && columns.steps[0] == size(0) {
            // SAFETY: the caller's promise.
            return unsafe { self.turn(1, p[0], rows.steps[0], p[1], rows, columns) };
        }
        if self.turns_results(rows, columns) {
            // SAFETY: as above.
            return unsafe { self.tile_of_results(p, rows, columns) };
        }
        let bytes: usize = transposed.clone().map(|k| self.memory[k]).sum();
        // Where not even a column of each fits, which takes many rows of few columns, all stay as they are.
        let most = TILE / (rows.extent * bytes).max(1);
        let width = if most == 0 { columns.extent } else { most.min(columns.extent) };
        let mut room = Scratch::<{ TILE + (TILE / FULL + OPERANDS) * nontemporal::LINE }>::new();
        for first in (0..columns.extent).step_by(width) {
            let part = Loop { extent: width.min(columns.extent - first), ..*columns };
            let (mut at, mut down, mut along) =
                (shifted(p, &columns.steps, first as isize), rows.steps, columns.steps);
            let mut taken = 0;
            for k in transposed.clone().filter(|_| most > 0) {
                let step = room_step(part.extent * self.memory[k]);
                let free = room.start().wrapping_add(taken);
                // SAFETY: the caller's promise; the room holds all the parts that are transposed, each from a line on.
                unsafe { self.turn(k, free, step as isize, at[k], rows, &part) };
                (at[k], down[k], along[k]) = (free, step as isize, size(k));
                taken = (taken + rows.extent * step).next_multiple_of(nontemporal::LINE);
            }
            // Rows of a tile are too short for the CPU to see what comes next.
            let straight =
                (1..OPERANDS).filter(|&k| self.stream && columns.steps[k] == size(k) && size(k) > 0);
            for row in 0..rows.extent as isize {
                for k in straight.clone() {
                    let next = at[k].wrapping_offset((row + 2) * down[k]);
                    for line in (0..part.extent * self.memory[k]).step_by(nontemporal::LINE) {
                        nontemporal::prefetch(next.wrapping_add(line));
                    }
                }
                // SAFETY: a row of the tile, of the caller's operands or of those that were transposed.
                unsafe { self.run(&shifted(&at, &down, row), &along, part.extent) };
            }
        }
    }

    #[inline(never)]
    unsafe fn short(&self, p: &Pointers, rows: &Loop, columns: &Loop) {
        let mut room = [const { Scratch::<GATHERED>::NEW }; OPERANDS];
        let (width, most) = (columns.extent, GATHERED / (columns.extent * self.widest()));
        let apart = |k: usize| !RowsAt::of(k, p[k], rows, columns).is_run(width);
        let (mut at, mut steps) = (*p, columns.steps);
        let inputs = (1..OPERANDS).filter(|&k| apart(k));
        for k in (0..OPERANDS).filter(|&k| apart(k)) {
            (at[k], steps[k]) = (room[k].start(), self.memory[k] as isize);
        }
        for first in (0..rows.extent).step_by(most) {
            let count = most.min(rows.extent - first);
            let here = shifted(p, &rows.steps, first as isize);
            let dense = |k: usize| RowsAt::dense(at[k], width, self.memory[k]);
            let own = |k: usize| RowsAt::of(k, here[k], rows, columns);
            // SAFETY: the caller's promise; a room has so many rows.
            unsafe {
                if self.moves {
                    pack::copy(self.memory[0], own(0), own(1), count, width);
                    continue;
                }
                // One row for all is there already, but for the first time.
                for k in inputs.clone().filter(|&k| first == 0 || rows.steps[k] != 0) {
                    pack::copy(self.memory[k], dense(k), own(k), count, width);
                }
                let mut all = here;
                (0..OPERANDS).filter(|&k| apart(k)).for_each(|k| all[k] = at[k]);
                self.run(&all, &steps, count * width);
                if apart(0) {
                    pack::copy(self.memory[0], own(0), dense(0), count, width);
                }
            }
        }
    }
}

impl Staged {
    /// Whether all inputs lie along the rows of a plane, and the output alone across: `x.t() + y.t()`. Then nothing but
    /// results is transposed around. (Those that are streamed are written in runs of columns, and runs of few rows are not
    /// worth a call each.)
    fn turns_results(&self, rows: &Loop, columns: &Loop) -> bool {
        let size = |k: usize| self.memory[k] as isize;
        let along = |k: usize| rows.steps[k] == size(k) || rows.steps[k] == 0;
        let long = rows.extent >= columns.extent.min(64);
        long && !self.moves && !self.stream && columns.steps[0] == size(0) && (1..OPERANDS).all(along)
    }

    /// A tile whose columns are computed one after the other in a room, and transposed around from there.
    ///
    /// # Safety
    /// As for `tile`, where results are transposed.
    #[inline(never)]
    unsafe fn tile_of_results(&self, p: &Pointers, rows: &Loop, columns: &Loop) {
        let mut room = Scratch::<{ TILE + (TILE / FULL + 1) * nontemporal::LINE }>::new();
        let size = self.memory[0];
        // The longest part of a column that fits.
        let height = rows.extent.min(TILE / size);
        let run = room_step(height * size);
        let width = (TILE / (height * size)).min(columns.extent);
        for row in (0..rows.extent).step_by(height) {
            let down = height.min(rows.extent - row);
            for column in (0..columns.extent).step_by(width) {
                let wide = width.min(columns.extent - column);
                let start = shifted(&shifted(p, &rows.steps, row as isize), &columns.steps, column as isize);
                let mut steps = rows.steps;
                steps[0] = size as isize;
                for i in 0..wide {
                    let mut at = shifted(&start, &columns.steps, i as isize);
                    at[0] = room.start().wrapping_add(i * run);
                    // SAFETY: a part of a column of the caller's inputs; the room holds `width` of them.
                    unsafe { self.run_cached(&at, &steps, down) };
                }
                // SAFETY: the caller's output has these rows and columns, and the room the results of all of them.
                unsafe {
                    let from = room.start().cast_const();
                    transpose::tile(size, start[0], rows.steps[0], from, run as isize, down, wide);
                }
            }
        }
    }

    /// Writes a tile of an input, whose columns are runs, as rows.
    ///
    /// # Safety
    /// There is a tile at `from`, and room for one at `to`.
    unsafe fn turn(&self, k: usize, to: *mut u8, step: isize, from: *mut u8, rows: &Loop, columns: &Loop) {
        // Rows that lie backwards are written backwards.
        let last = rows.extent as isize - 1;
        let (to, step, from) = if rows.steps[k] < 0 {
            (to.wrapping_offset(last * step), -step, from.wrapping_offset(last * rows.steps[k]))
        } else {
            (to, step, from)
        };
        let (down, along) = (rows.extent, columns.extent);
        // SAFETY: the caller's promise.
        unsafe { transpose::tile(self.memory[k], to, step, from, columns.steps[k], down, along) }
    }

    #[inline]
    unsafe fn run_cached(&self, p: &Pointers, s: &Steps, n: usize) {
        if self.casts.iter().all(Option::is_none) {
            // SAFETY: the caller's promise; no operand needs a cast.
            unsafe { (self.kernel)(p, s, n) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.run_cast(p, s, n) }
        }
    }

    unsafe fn run_cast(&self, p: &Pointers, s: &Steps, n: usize) {
        let mut room = [const { Scratch::<{ BLOCK * 16 }>::NEW }; OPERANDS];
        let (mut inner, mut steps) = (*p, *s);
        for k in 0..OPERANDS {
            if let Some(cast) = self.casts[k] {
                inner[k] = room[k].start();
                steps[k] = self.sizes[k] as isize;
                if k > 0 && s[k] == 0 {
                    // SAFETY: an input that is a scalar is cast once.
                    unsafe { cast(&pair(inner[k], p[k], null_mut()), &[0; OPERANDS], 1) };
                    steps[k] = 0;
                }
            }
        }
        let mut done = 0;
        while done < n {
            let count = BLOCK.min(n - done);
            let here = |k: usize| p[k].wrapping_offset(done as isize * s[k]);
            for k in 0..OPERANDS {
                match self.casts[k] {
                    None => inner[k] = here(k),
                    // SAFETY: `count` elements from `here` on are the caller's; the room holds BLOCK of them.
                    Some(cast) if k > 0 && s[k] != 0 => unsafe {
                        cast(&pair(inner[k], here(k), null_mut()), &pair(steps[k], s[k], 0), count)
                    },
                    Some(_) => {}
                }
            }
            // SAFETY: every operand is now either the caller's or a block of the kernel's type.
            unsafe {
                (self.kernel)(&inner, &steps, count);
                if let Some(cast) = self.casts[0] {
                    cast(&pair(here(0), inner[0], null_mut()), &pair(s[0], steps[0], 0), count);
                }
            }
            done += count;
        }
    }

    /// One run whose output is dense: computed block by block, and from there around the caches.
    unsafe fn run_streamed(&self, p: &Pointers, s: &Steps, n: usize) {
        let size = self.memory[0];
        // SAFETY: the caller's promise; the room holds a block of results.
        unsafe {
            if self.moves && s[1] == size as isize {
                return nontemporal::copy(p[0], p[1], n * size);
            }
            let mut room = Scratch::<STREAMED>::new();
            let block = STREAMED / size;
            let room = room.start();
            // The first block ends at a line, so that the others start there.
            let mut count = block - (p[0] as usize % nontemporal::LINE) / size;
            let mut done = 0;
            while done < n {
                count = count.min(n - done);
                let mut here = shifted(p, s, done as isize);
                let to = std::mem::replace(&mut here[0], room);
                self.run_cached(&here, s, count);
                nontemporal::copy(to, room, count * size);
                done += count;
                count = block;
            }
        }
    }
}
