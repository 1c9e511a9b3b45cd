//! The ways in which the terms of a strip come, and the tree that they build.

use super::reducer::{FEW, Lines};
use super::tree::Tree;
use super::{BLOCK, GATHERED, GROUP, GROUP_LEVEL, Job, LANES, Room, TURNED, WIDTH, Way};
use crate::kernels::{Pointers, transpose};
use crate::nest::for_each_run;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::null_mut;

impl Job<'_> {
    /// Reduces some terms of a strip.
    #[inline]
    pub(super) unsafe fn strip(&self, at: &Pointers, width: usize, terms: Range<usize>, acc: *mut u8) {
        // SAFETY: the callers pass a strip of the loops, and room for its accumulators.
        unsafe {
            match self.way {
                Way::Along if self.is_adjacent() => self.adjacent(at, terms, acc),
                Way::Along => self.along(at, terms, acc),
                Way::Narrow => self.narrow(at, width, terms, acc),
                Way::Across | Way::Beside if self.is_straight() => {
                    self.rows(at, width, terms, acc, null_mut())
                }
                Way::Across | Way::Beside => self.gathered_rows(at, width, terms, acc),
                Way::Turned => self.transposed(at, width, terms, acc),
            }
        }
    }

    /// Whether the terms of an output follow each other in memory.
    fn is_adjacent(&self) -> bool {
        match &self.reduced[..] {
            [only] => self.in_place && only.steps[1] == self.size as isize,
            _ => false,
        }
    }

    /// Whether the terms of a row lie side by side.
    fn is_straight(&self) -> bool {
        self.in_place && self.columns.steps[1] == self.size as isize
    }

    /// Outputs side by side, with a room for rows of terms that are not.
    unsafe fn rows(&self, at: &Pointers, width: usize, terms: Range<usize>, acc: *mut u8, room: *mut u8) {
        // SAFETY: the callers' promise.
        unsafe {
            match self.way {
                Way::Beside => self.beside(at, width, acc, room),
                _ => self.across(at, width, terms, acc, room),
            }
        }
    }

    #[inline(never)]
    unsafe fn gathered_rows(&self, at: &Pointers, width: usize, terms: Range<usize>, acc: *mut u8) {
        let mut room: Room<{ LANES * GATHERED }> = Room::uninit();
        // SAFETY: as for `rows`.
        unsafe { self.rows(at, width, terms, acc, room.as_mut_ptr().cast()) }
    }

    /// From elements in memory to terms in a room.
    unsafe fn gather(&self, to: *mut u8, to_step: isize, from: *mut u8, step: isize, n: usize) {
        // SAFETY: the callers have `n` elements, room for as many terms, and `n` is at most BLOCK.
        unsafe {
            match self.stages {
                [only] => only.run((to, to_step), (from, step), n),
                _ => self.gather_in_stages(to, to_step, from, step, n),
            }
        }
    }

    /// The same by way of other rooms, some elements at a time.
    #[inline(never)]
    unsafe fn gather_in_stages(&self, to: *mut u8, to_step: isize, from: *mut u8, step: isize, n: usize) {
        let mut rooms = [const { Room::<GATHERED>::uninit() }; 2];
        let rooms = rooms.each_mut().map(|room| room.as_mut_ptr().cast::<u8>());
        let (last, others) = self.stages.split_last().expect("there is a stage");
        for first in (0..n).step_by(GATHERED) {
            let count = GATHERED.min(n - first);
            let [mut next, mut other] = rooms;
            let (mut from, mut step) = (from.wrapping_offset(first as isize * step), step);
            // SAFETY: as for `gather`.
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

    /// One output whose terms are adjacent.
    unsafe fn adjacent(&self, at: &Pointers, terms: Range<usize>, acc: *mut u8) {
        let first = at[1].wrapping_add(terms.start * self.size);
        let mut tree = Tree::new(self.reducer, 1);
        for done in (0..terms.len()).step_by(GROUP) {
            let n = GROUP.min(terms.len() - done);
            let lines = Lines::one(first.wrapping_add(done * self.size), n, terms.start + done);
            // SAFETY: the terms are there, and `acc` has room for a result.
            unsafe {
                (self.reducer.block)(&lines, acc);
                if n == terms.len() {
                    return;
                }
                tree.push(acc, GROUP_LEVEL);
            }
        }
        // SAFETY: as above.
        unsafe { tree.finish(acc) }
    }

    /// One output: its terms come in blocks, read in place where they are adjacent.
    #[inline(never)]
    unsafe fn along(&self, at: &Pointers, terms: Range<usize>, acc: *mut u8) {
        let size = self.size as isize;
        let step = self.reduced.last().map_or(0, |l| l.steps[1]);
        let direct = self.in_place && step == size;
        let mut room: Room<BLOCK> = Room::uninit();
        let mut tree = Tree::new(self.reducer, 1);
        let mut blocks = Blocks { room: room.as_mut_ptr().cast(), filled: 0, first: terms.start };
        let Range { start, end } = terms;
        for_each_run(&self.reduced, *at, terms, |at, n| {
            let mut done = 0;
            while done < n {
                let from = at[1].wrapping_offset(done as isize * step);
                let left = n - done;
                // SAFETY: every run lies within the reduced loops; the room holds BLOCK terms, `acc` a result.
                unsafe {
                    // Groups are pushed as one where those before them are whole.
                    let whole = left >= GROUP && (blocks.first - start).is_multiple_of(GROUP);
                    let (size, level) = if whole { (GROUP, GROUP_LEVEL) } else { (BLOCK, 0) };
                    if direct && blocks.filled == 0 && (left >= size || blocks.first + left == end) {
                        let n = left.min(size);
                        (self.reducer.block)(&Lines::one(from, n, blocks.first), acc);
                        tree.push(acc, level);
                        blocks.first += n;
                        done += n;
                    } else {
                        let n = left.min(BLOCK - blocks.filled);
                        self.gather(
                            blocks.room.add(blocks.filled * self.size),
                            self.size as isize,
                            from,
                            step,
                            n,
                        );
                        blocks.filled += n;
                        done += n;
                        if blocks.filled == BLOCK {
                            blocks.reduce(self, &mut tree, 1, acc);
                        }
                    }
                }
            }
        });
        // SAFETY: as above.
        unsafe {
            if blocks.filled > 0 {
                blocks.reduce(self, &mut tree, 1, acc);
            }
            tree.finish(acc);
        }
    }

    /// Outputs side by side: a block of terms of each is transposed around into adjacent ones.
    #[inline(never)]
    unsafe fn transposed(&self, at: &Pointers, width: usize, terms: Range<usize>, acc: *mut u8) {
        let (size, beside) = (self.size as isize, self.columns.steps[1]);
        let step = self.reduced.last().map_or(0, |l| l.steps[1]);
        let mut room: Room<{ BLOCK * TURNED / 16 }> = Room::uninit();
        let mut tree = Tree::new(self.reducer, width);
        let mut blocks = Blocks { room: room.as_mut_ptr().cast(), filled: 0, first: terms.start };
        for_each_run(&self.reduced, *at, terms, |at, n| {
            let mut done = 0;
            while done < n {
                let from = at[1].wrapping_offset(done as isize * step);
                let n = (n - done).min(BLOCK - blocks.filled);
                let to = blocks.room.wrapping_add(blocks.filled * self.size);
                let line = BLOCK as isize * size;
                // SAFETY: every run lies within the reduced loops and the columns of this strip; the room holds
                // BLOCK terms for each of them.
                unsafe {
                    if self.in_place && beside == size {
                        transpose::tile(self.size, to, line, from, step, width, n);
                    } else {
                        for j in 0..width as isize {
                            self.gather(to.offset(j * line), size, from.wrapping_offset(j * beside), step, n);
                        }
                    }
                    blocks.filled += n;
                    if blocks.filled == BLOCK {
                        blocks.reduce(self, &mut tree, width, acc);
                    }
                }
                done += n;
            }
        });
        // SAFETY: as above.
        unsafe {
            if blocks.filled > 0 {
                blocks.reduce(self, &mut tree, width, acc);
            }
            tree.finish(acc);
        }
    }

    /// Outputs side by side, in short rows: every 32nd row goes to the same lanes.
    #[inline(never)]
    unsafe fn narrow(&self, at: &Pointers, width: usize, terms: Range<usize>, acc: *mut u8) {
        let of = self.reducer.across.as_ref().expect("asked in look_aside");
        let mut room: Room<WIDTH> = Room::uninit();
        let lanes = room.as_mut_ptr().cast::<u8>();
        let mut tree = Tree::new(self.reducer, width);
        let row = width * self.size;
        for first in terms.clone().step_by(BLOCK) {
            let count = BLOCK.min(terms.end - first);
            let start = at[1].wrapping_add(first * row).cast_const();
            let mut runs = [start; BLOCK / LANES];
            for (i, run) in runs.iter_mut().enumerate() {
                *run = start.wrapping_add(i * LANES * row);
            }
            let (whole, rest) = (count / LANES, count % LANES);
            // SAFETY: `count` rows of `width` terms lie from `start` on; the room holds a row of accumulators per lane.
            unsafe {
                (of.absorb)(lanes, &runs[..whole], LANES * width, true);
                if rest > 0 {
                    (of.absorb)(lanes, &[start.wrapping_add(whole * LANES * row)], rest * width, false);
                }
                let mut half = LANES / 2;
                while half > 0 {
                    (self.reducer.merge)(lanes, lanes.add(half * width * self.reducer.bytes), half * width);
                    half /= 2;
                }
                tree.push(lanes, 0);
            }
        }
        // SAFETY: `acc` has room for the accumulators of the strip.
        unsafe { tree.finish(acc) };
    }

    /// Outputs side by side: rows of their terms, a block at a time.
    #[inline(never)]
    unsafe fn across(&self, at: &Pointers, width: usize, terms: Range<usize>, acc: *mut u8, room: *mut u8) {
        let step = self.reduced.last().map_or(0, |l| l.steps[1]);
        let mut rows = [const { MaybeUninit::<*const u8>::uninit() }; BLOCK];
        let mut filled = 0;
        let mut tree = Tree::new(self.reducer, width);
        let (alone, mut left) = (terms.len() <= BLOCK, terms.len());
        let mut done = false;
        for_each_run(&self.reduced, *at, terms, |at, n| {
            for i in 0..n {
                rows[filled].write(at[1].wrapping_offset(i as isize * step));
                filled += 1;
                left -= 1;
                if filled == BLOCK || left == 0 {
                    // SAFETY: so many rows were written; they lie within the reduced loops, and have the columns of
                    // this strip.
                    unsafe {
                        let rows = std::slice::from_raw_parts_mut(rows.as_mut_ptr().cast(), filled);
                        done = self.block_across(rows, width, (&mut tree, alone), acc, room);
                    }
                    filled = 0;
                }
            }
        });
        if !done {
            // SAFETY: `acc` has room for the accumulators of the strip.
            unsafe { tree.finish(acc) };
        }
    }

    /// The rows of terms of each lane are added up for all outputs. Lanes are taken in the order in which they are
    /// merged, so that few of them wait; where they have few rows, some lanes at once. Says whether those were all that a
    /// block which is `alone` has: then they are in `acc`, and not in the tree.
    unsafe fn block_across(
        &self,
        rows: &mut [*const u8],
        width: usize,
        (tree, alone): (&mut Tree, bool),
        acc: *mut u8,
        room: *mut u8,
    ) -> bool {
        let of = self.reducer.across.as_ref().expect("asked in look_aside");
        // Lanes without terms would change nothing.
        let lanes = rows.len().min(LANES).next_power_of_two();
        let few = rows.len() <= BLOCK / FEW;
        // SAFETY: the caller's rows have `width` elements; the room, if one is needed, has a line for as many as a lane
        // has, or some lanes with few; `acc` has room for `width` accumulators.
        unsafe {
            let ready = self.straight(rows, width, room);
            // What is gathered is to stay in the first cache.
            let most = if ready { FEW } else { FEW / 2 };
            let each = if few { most.min(lanes) } else { 1 };
            for first in (0..lanes).step_by(each) {
                let mut own = [std::ptr::null::<u8>(); BLOCK / LANES];
                let mut ends = [0; FEW + 1];
                let mut count = 0;
                for (k, end) in ends[1..].iter_mut().enumerate().take(each) {
                    let bits = usize::BITS - lanes.ilog2();
                    let lane = if lanes == 1 { 0 } else { (first + k).reverse_bits() >> bits };
                    for &row in rows.iter().skip(lane).step_by(LANES) {
                        own[count] = if ready { row } else { self.gather_row(row, width, room, count) };
                        count += 1;
                    }
                    *end = count;
                }
                if few {
                    let mut of_lanes = [&own[..0]; FEW];
                    for (k, rows) in of_lanes.iter_mut().enumerate().take(each) {
                        *rows = &own[ends[k]..ends[k + 1]];
                    }
                    (of.together)(acc, &of_lanes[..each], width);
                } else {
                    (of.absorb)(acc, &own[..count], width, true);
                }
                if alone && each == lanes {
                    return true;
                }
                tree.push(acc, each.ilog2());
            }
        }
        false
    }

    /// Gathers a row of terms into a line of a room, and says where that is.
    unsafe fn gather_row(&self, row: *const u8, width: usize, room: *mut u8, line: usize) -> *const u8 {
        let to = room.wrapping_add(line * width * self.size);
        // SAFETY: the callers have `width` elements in the row, and as much room in the line.
        unsafe { self.gather(to, self.size as isize, row.cast_mut(), self.columns.steps[1], width) };
        to
    }

    /// Outputs side by side, with few terms each: a row for each term.
    #[inline(never)]
    unsafe fn beside(&self, at: &Pointers, width: usize, acc: *mut u8, room: *mut u8) {
        let step = self.reduced.last().map_or(0, |l| l.steps[1]);
        let mut rows = [std::ptr::null::<u8>(); LANES];
        let mut filled = 0;
        for_each_run(&self.reduced, *at, 0..self.terms, |at, n| {
            for i in 0..n {
                rows[filled] = at[1].wrapping_offset(i as isize * step);
                filled += 1;
            }
        });
        let rows = &mut rows[..filled];
        // SAFETY: the rows have the columns of this strip; the room, if one is needed, has a line for each; `acc` has
        // their accumulators.
        unsafe {
            if !self.straight(rows, width, room) {
                for (i, row) in rows.iter_mut().enumerate() {
                    *row = self.gather_row(*row, width, room, i);
                }
            }
            (self.reducer.beside.expect("asked in look_aside"))(acc, rows, width);
        }
    }

    /// Whether rows have their terms side by side, if need be after they were transposed around into a room: where there
    /// are few, and the terms of each output lie side by side.
    unsafe fn straight(&self, rows: &mut [*const u8], width: usize, room: *mut u8) -> bool {
        let (size, beside) = (self.size as isize, self.columns.steps[1]);
        if self.is_straight() || !self.in_place {
            return self.in_place;
        }
        let [only] = &self.reduced[..] else { return false };
        if only.steps[1] != size || rows.len() > LANES {
            return false;
        }
        let line = (width * self.size) as isize;
        // SAFETY: the caller's rows are adjacent terms, and the room has a line for each.
        unsafe { transpose::tile(self.size, room, line, rows[0], beside, rows.len(), width) };
        for (i, row) in rows.iter_mut().enumerate() {
            *row = room.wrapping_offset(i as isize * line);
        }
        true
    }

    /// Reduces short lines at once, and says whether it could.
    ///
    /// # Safety
    /// As for `run`, for each line; there is room for as many accumulators.
    pub(super) unsafe fn lines(&self, at: &Pointers, beside: isize, count: usize, acc: *mut u8) -> bool {
        let n = self.terms;
        // SAFETY: the caller's promise.
        unsafe {
            if self.is_adjacent() && n <= GROUP {
                (self.reducer.block)(&Lines { count, step: beside, ..Lines::one(at[1], n, 0) }, acc);
                return true;
            }
            if let [only] = self.reduced[..]
                && n <= BLOCK
            {
                self.gathered_lines(at, beside, only.steps[1], count, acc);
                return true;
            }
        }
        false
    }

    /// Lines with stages or gaps, as many at a time as fill a block; those that follow each other are gathered as one.
    #[inline(never)]
    unsafe fn gathered_lines(&self, at: &Pointers, beside: isize, step: isize, count: usize, acc: *mut u8) {
        let mut room: Room<BLOCK> = Room::uninit();
        let room = room.as_mut_ptr().cast::<u8>();
        let (n, size) = (self.terms, self.size as isize);
        for first in (0..count).step_by(BLOCK / n) {
            let count = (BLOCK / n).min(count - first);
            let from = at[1].wrapping_offset(first as isize * beside);
            let line = n as isize * size;
            // SAFETY: as for `lines`; the room holds the terms of the lines that are gathered at a time.
            unsafe {
                if beside == n as isize * step {
                    self.gather(room, size, from, step, count * n);
                } else {
                    for i in 0..count as isize {
                        self.gather(room.offset(i * line), size, from.wrapping_offset(i * beside), step, n);
                    }
                }
                let lines = Lines { count, step: line, ..Lines::one(room, n, 0) };
                (self.reducer.block)(&lines, acc.add(first * self.reducer.bytes));
            }
        }
    }
}

/// Terms on their way into the tree: a room of BLOCK for each output of a strip.
struct Blocks {
    room: *mut u8,
    filled: usize,
    /// Terms before those in the room.
    first: usize,
}

impl Blocks {
    /// Reduces what is in the room.
    unsafe fn reduce(&mut self, job: &Job, tree: &mut Tree, width: usize, acc: *mut u8) {
        // SAFETY: the callers have filled the rooms of `width` outputs, and have room for as many accumulators.
        unsafe {
            let step = (BLOCK * job.size) as isize;
            let lines = Lines { count: width, step, ..Lines::one(self.room, self.filled, self.first) };
            (job.reducer.block)(&lines, acc);
            tree.push(acc, 0);
        }
        self.first += self.filled;
        self.filled = 0;
    }
}
