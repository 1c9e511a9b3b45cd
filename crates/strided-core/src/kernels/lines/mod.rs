//! Functions from lines to lines: a line is what lies along one dim.
//!
//! ```text
//! many lines     lanes are neighbouring lines; each goes from chunk to chunk with its carry
//! few, long ones lanes are neighbouring chunks of one line, or one chunk of lines side by side: first every chunk by
//!                itself, then all carries one after the other, then every chunk again, now with its carry. Chunks
//!                are shared by all threads
//! ```
//! Whichever way is taken, a chunk is stepped through in the same order, and carries follow each other in the same
//! order: the bits depend on the numbers in a line alone. `scan.rs` has the loop, `tile.rs` the way in and out,
//! `functions.rs` the functions; `whole.rs` has those that need a line's sum before they write, of the exponentials in
//! `exponent.rs`, by the ways in `ways.rs`.

mod block;
mod exponent;
mod functions;
mod leap;
mod scan;
mod tile;
mod ways;
mod whole;

pub use functions::{Function, cummax, cummin, cumprod, cumsum, log_softmax, logcumsumexp, softmax};

use super::OPERANDS;
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::{Layout, Mode};
use crate::nest::{Loop, Nest, Operand, Order, Pointers, shifted};
use crate::scalar::Element;
use crate::storage::Access;
use crate::tensor::{Tensor, pin_each};
use crate::threads;
use leap::Leaps;
use scan::{Along, CHUNK, Frame, Lanes, NARROW, Rows, Scan, Scanned, WIDE, Walk};
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::ops::Range;
use tile::{ROOM, Room, Side};

/// Lines that have so many elements are cut into lanes if there are few of them.
const LONG: usize = 16 * CHUNK;
/// Elements of a piece that cannot be interrupted, for an operation as cheap as an addition.
const LONGEST: usize = 64 << 20;
/// Fewer lines than these are few.
const FEW: usize = 64;
/// So many lines side by side are walked so, and not one after the other.
const BESIDE: usize = 4;
/// Elements of a strip of short lines: what it costs to begin one is shared by them.
const SHORT: usize = 2048;
/// Elements of a thread's piece, for an operation as cheap as an addition.
const PIECE: usize = 64 << 10;

/// Chunks of a long line that are worked on before the next ones, by all threads and by one alone.
const SHARED_WINDOW: usize = 4096;
const WINDOW: usize = 4 * NARROW;
/// Bytes of lines that are kept from pass to pass.
const SETTLED: usize = 256 << 10;

/// The tensors of a call and the dim that its lines lie along.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    pub x: &'a Tensor,
    pub out: &'a Tensor,
    /// Positions, where the function has them: int64.
    pub indices: Option<&'a Tensor>,
    pub dim: usize,
}

/// The pinned operands of a call, as lines.
struct Job {
    /// Output, input and positions of the first line.
    origins: Pointers,
    /// The loops over the lines; the last one has neighbours.
    outer: SmallVec<[Loop; 4]>,
    inner: Loop,
    length: usize,
    output: Side,
    input: Side,
    indices: Side,
}
// SAFETY: the pins outlive the call, and threads write to different elements.
unsafe impl Sync for Job {}

/// Some lanes of a job: those of neighbouring lines, or of chunks.
#[derive(Clone, Copy)]
struct Strip {
    at: Pointers,
    /// Bytes from lane to lane.
    lane: [isize; OPERANDS],
    width: usize,
    /// Positions from lane to lane.
    spread: usize,
}
// SAFETY: as for `Job`.
unsafe impl Sync for Strip {}

/// The layout of a tensor's lines: all dims but one.
fn lines(layout: &Layout, dim: usize) -> Result<Layout> {
    if layout.rank() == 0 { Ok(Layout::scalar()) } else { layout.select(dim as isize, 0) }
}

/// Pins the tensors and gives their lines to `work`. Without elements there is nothing to do.
fn with_job(element: DType, request: &Request, work: impl FnOnce(&Job) -> Result<()>) -> Result<()> {
    let Request { x, out, indices, dim } = *request;
    assert!(out.layout().same_shape(x.layout()) && indices.is_none_or(|i| i.layout().same_shape(x.layout())));
    assert!(indices.is_none_or(|i| i.dtype() == DType::I64));
    if x.size() == 0 {
        return Ok(());
    }
    let mode = |t: &Tensor| t.layout().modes().get(dim).copied().unwrap_or(Mode { extent: 1, stride: 1 });
    let step = |t: &Tensor| mode(t).stride * t.dtype().size() as isize;
    let tensors = [out, x, indices.unwrap_or(out)];
    let layouts = [lines(out.layout(), dim)?, lines(x.layout(), dim)?, lines(tensors[2].layout(), dim)?];
    let operands: [Operand; 3] =
        std::array::from_fn(|k| Operand { layout: &layouts[k], size: tensors[k].dtype().size() });
    let nest = Nest::new(&layouts[0], &operands, Order::Free);
    let wanted = [
        Some((out, Access::Write)),
        Some((x, Access::Read)),
        indices.map(|indices| (indices, Access::Write)),
    ];
    let pins = pin_each(wanted)?;
    let mut origins = [std::ptr::null_mut(); OPERANDS];
    for (origin, pin) in origins.iter_mut().zip(&pins) {
        if let Some(pin) = pin {
            *origin = pin.origin;
        }
    }
    let (inner, outer) = nest.loops().split_last().expect("a nest has a loop");
    work(&Job {
        origins: nest.start(origins),
        outer: outer.into(),
        inner: *inner,
        length: mode(x).extent as usize,
        output: Side::output(out.dtype(), element, step(out)),
        input: Side::input(x.dtype(), element, step(x)),
        indices: Side::output(DType::I64, DType::I64, indices.map_or(0, step)),
    })
}

/// Rooms for one thread.
struct Rooms<'a> {
    tile: &'a mut Room,
    spare: &'a mut Room,
    indices: &'a mut Room,
    settled: Vec<[u64; 2]>,
}

impl Rooms<'_> {
    /// Works with rooms on the stack. Each by itself: next to a vector the compiler would fill them with zeros.
    fn with<R>(work: impl FnOnce(&mut Rooms) -> R) -> R {
        let mut tile = Room::new();
        let mut spare = Room::new();
        let mut indices = Room::new();
        work(&mut Rooms { tile: &mut tile, spare: &mut spare, indices: &mut indices, settled: Vec::new() })
    }

    /// Room for whole lines of so many bytes.
    fn settle(&mut self, bytes: usize) -> *mut u8 {
        self.settled.resize(self.settled.len().max(bytes.div_ceil(16)), [0; 2]);
        self.settled.as_mut_ptr().cast()
    }
}

impl Job {
    fn lines(&self) -> usize {
        self.outer.iter().map(|l| l.extent).product::<usize>() * self.inner.extent
    }

    /// Whether lines are cut at chunks and worked on by all threads: few long ones, those side by side only where there
    /// are threads (one alone walks them once); and any whose strips of `width` could not be interrupted.
    fn is_long(&self, weight: usize, width: usize) -> bool {
        let few = self.length >= LONG && self.lines() < FEW;
        let strip = width.min(self.inner.extent) * self.length;
        few && (!self.beside() || self.shared(self.lines(), weight)) || strip >= LONGEST / weight
    }

    /// Whether lines are walked along, by leaps: they have more than a chunk, all that belongs to them lies side by side,
    /// there are enough of them for the threads that share them, and none is so long that it could not be interrupted.
    fn leaps(&self, weight: usize) -> bool {
        let enough = !self.shared(self.lines(), weight) || self.lines() >= 2 * threads::limit();
        let dense = self.dense() && self.indices.is_tile(self.indices.step);
        dense && enough && (CHUNK + 1..LONGEST / weight).contains(&self.length)
    }

    /// Whether the elements of a line are neighbours, and need no cast.
    fn dense(&self) -> bool {
        self.input.is_tile(self.input.step) && self.output.is_tile(self.output.step)
    }

    /// Whether lines lie side by side, and enough of them.
    fn beside(&self) -> bool {
        let lies = |side: &Side, k: usize| side.side_by_side(self.inner.steps[k]);
        self.inner.extent >= BESIDE && lies(&self.output, 0) && lies(&self.input, 1)
    }

    /// How many neighbouring lines make a strip: as many as are read at once, if they lie side by side.
    fn width(&self) -> usize {
        let beside = |side: &Side, k: usize| side.side_by_side(self.inner.steps[k]) as usize;
        let width = [NARROW, FEW, WIDE][beside(&self.output, 0) + beside(&self.input, 1)];
        width.max((SHORT / self.length).min(WIDE) / NARROW * NARROW)
    }

    /// Bytes of an element, where it has the most.
    fn widest(&self, element: usize) -> usize {
        self.output.size.max(self.input.size).max(element)
    }

    /// Bytes from one position of each operand's lines to the next.
    fn steps(&self) -> [isize; OPERANDS] {
        let mut steps = [0; OPERANDS];
        (steps[0], steps[1], steps[2]) = (self.output.step, self.input.step, self.indices.step);
        steps
    }

    /// The address of every operand in a line.
    fn line(&self, mut outer: usize, inner: usize) -> Pointers {
        let mut at = self.origins;
        let mut go = |index: usize, l: &Loop| at = shifted(&at, &l.steps, index as isize);
        for l in self.outer.iter().rev() {
            go(outer % l.extent, l);
            outer /= l.extent;
        }
        go(inner, &self.inner);
        at
    }

    /// How many strips of so many lines have all of them.
    fn strips(&self, width: usize) -> usize {
        self.lines() / self.inner.extent * self.inner.extent.div_ceil(width)
    }

    /// One of them. Where every line is a strip of its own, its neighbours are its own elements.
    fn strip(&self, width: usize, index: usize) -> Strip {
        let per_run = self.inner.extent.div_ceil(width);
        let first = index % per_run * width;
        let at = self.line(index / per_run, first);
        let lane = if width == 1 { self.steps() } else { self.inner.steps };
        Strip { at, lane, width: width.min(self.inner.extent - first), spread: 0 }
    }

    /// Runs one function for strips of so many lines that together have all of them.
    fn each_strip<C>(
        &self,
        width: usize,
        weight: usize,
        make: impl Fn() -> C + Sync,
        work: impl Fn(&Strip, &mut Rooms, &mut C) + Sync,
    ) -> Result<()> {
        let strips = self.strips(width);
        let together = (PIECE / weight / (width.min(self.inner.extent) * self.length)).max(1);
        threads::run(strips.div_ceil(together), self.shared(self.lines(), weight), &|piece| {
            let mut lanes = make();
            Rooms::with(|rooms| {
                for index in piece * together..strips.min((piece + 1) * together) {
                    work(&self.strip(width, index), rooms, &mut lanes);
                }
            })
        })
    }

    /// Runs one function for every long line, or for so many of them that lie side by side.
    fn each_bundle(&self, most: usize, mut work: impl FnMut(&Strip) -> Result<()>) -> Result<()> {
        let width = if self.beside() { most } else { 1 };
        (0..self.strips(width)).try_for_each(|index| work(&self.strip(width, index)))
    }

    /// Runs one function for groups of chunks that together make a range of them; the chunks of a group are equally
    /// long. They are neighbours in one line, or the same of lines side by side.
    fn each_group<C>(
        &self,
        lines: &Strip,
        range: Range<usize>,
        weight: usize,
        make: impl Fn() -> C + Sync,
        work: impl Fn(usize, &Strip, usize, &mut Rooms, &mut C) + Sync,
    ) -> Result<()> {
        let most = if lines.width == 1 { NARROW } else { 1 };
        let whole = range.end.min(self.length / CHUNK) - range.start;
        let groups = whole.div_ceil(most) + (range.len() > whole) as usize;
        let together = (PIECE / weight / (most * lines.width * CHUNK)).max(1);
        threads::run(groups.div_ceil(together), self.shared(lines.width, weight), &|piece| {
            let mut lanes = make();
            Rooms::with(|rooms| {
                for group in piece * together..groups.min((piece + 1) * together) {
                    let at = (group * most).min(whole);
                    let chunk = range.start + at;
                    let (count, rows) = match whole - at {
                        0 => (1, self.length - chunk * CHUNK),
                        left => (left.min(most), CHUNK),
                    };
                    work(chunk, &self.chunks(lines, chunk, count), rows, rooms, &mut lanes);
                }
            })
        })
    }

    /// Lanes of a line's neighbouring chunks, or of one chunk of lines side by side.
    fn chunks(&self, lines: &Strip, chunk: usize, count: usize) -> Strip {
        let steps = self.steps();
        let at = shifted(&lines.at, &steps, (chunk * CHUNK) as isize);
        if lines.width > 1 {
            return Strip { at, ..*lines };
        }
        Strip { at, lane: steps.map(|step| CHUNK as isize * step), width: count, spread: CHUNK }
    }

    /// Walks over some rows of a strip's lanes from `row` on, tile by tile; tiles begin with a chunk if there are more
    /// rows than one has.
    ///
    /// # Safety
    /// The strip's lanes have those rows.
    unsafe fn walk<W: Walk>(
        &self,
        walk: &mut W,
        strip: &Strip,
        (row, rows): (usize, usize),
        at: usize,
        rooms: &mut Rooms,
    ) {
        let widest = self.widest(size_of::<W::E>()).max(8 * W::INDEXED as usize);
        let (tile, spare) = (rooms.tile.start(), rooms.spare.start());
        let (lane, width, emits) = (strip.lane, strip.width, walk.emits());
        let in_place = self.input.is_tile(lane[1]) && (!emits || self.output.is_tile(lane[0]) && !W::INDEXED);
        let fit = ROOM / (widest * width);
        let most = if in_place { rows } else { if fit > CHUNK { fit / CHUNK * CHUNK } else { fit } };
        let mut done = 0;
        while done < rows {
            let rows = most.min(rows - done);
            let here = |k: usize, side: &Side| strip.at[k].wrapping_offset((row + done) as isize * side.step);
            let (to, from, indices) = (here(0, &self.output), here(1, &self.input), here(2, &self.indices));
            let mut frame = Frame {
                from: self.input.rows(from, lane[1], tile, width),
                to: self.output.rows(to, lane[0], tile, width),
                indices: Rows::NONE,
                at: at + done,
                spread: strip.spread,
                rows,
                width,
            };
            // SAFETY: the caller's promise; `most` rows fit every room.
            unsafe {
                if !self.input.is_tile(lane[1]) {
                    self.input.read(tile, spare, from, lane[1], (rows, width));
                }
                if W::INDEXED && emits {
                    frame.indices = self.indices.rows(indices, lane[2], rooms.indices.start(), width);
                }
                walk.walk(&frame);
                if emits && !self.output.is_tile(lane[0]) {
                    self.output.write(tile, spare, to, lane[0], (rows, width));
                }
                if W::INDEXED && emits && !self.indices.is_tile(lane[2]) {
                    self.indices.write(rooms.indices.start(), spare, indices, lane[2], (rows, width));
                }
            }
            done += rows;
        }
    }

    /// Walks over the first rows of a strip's lanes. Few elements fit a register: turning them around takes longer than to step
    /// through one lane after the other.
    ///
    /// # Safety
    /// The strip's lanes have those rows.
    unsafe fn pass<S: Scan<K>, const K: usize, const EMIT: bool, const ALONE: bool>(
        &self,
        lanes: &mut Lanes<S, K>,
        strip: &Strip,
        rows: usize,
        at: usize,
        rooms: &mut Rooms,
    ) {
        let ([to, from, ..], [out, input, ..], width) = (strip.at, strip.lane, strip.width);
        // SAFETY: the caller's promise; the lanes are dense.
        unsafe {
            if const { !S::INDEXED && S::WEIGHT == 1 && size_of::<S::E>() >= if ALONE { 8 } else { 4 } }
                && self.dense()
            {
                Along::<S, K, EMIT, ALONE> { lanes, to, from, lane: [out, input], rows, width }.walk();
            } else {
                self.walk(&mut Scanned::<S, K, EMIT, ALONE>(lanes), strip, (0, rows), at, rooms);
            }
        }
    }

    /// Steps a strip of lines from their first elements to their last ones.
    ///
    /// # Safety
    /// The strip's lanes are lines of the job.
    unsafe fn lines_pass<S: Scan<K>, const K: usize>(
        &self,
        lanes: &mut Lanes<S, K>,
        strip: &Strip,
        rooms: &mut Rooms,
    ) {
        if self.length <= CHUNK {
            // SAFETY: the caller's promise.
            unsafe { self.pass::<S, K, true, true>(lanes, strip, self.length, 0, rooms) };
            return;
        }
        lanes.begin_alike(strip.width, S::START);
        for first in (0..self.length).step_by(CHUNK) {
            let rows = CHUNK.min(self.length - first);
            let here = Strip { at: shifted(&strip.at, &self.steps(), first as isize), ..*strip };
            // SAFETY: the caller's promise.
            unsafe { self.pass::<S, K, true, false>(lanes, &here, rows, first, rooms) };
            if first + rows < self.length {
                lanes.turn(strip.width);
            }
        }
    }

    /// Scans long lines, window by window: the totals of every chunk, the carries one after the other, and then the
    /// results of every chunk after its carry. What the second reading needs is then still in a cache.
    fn windows<S: Scan<K>, const K: usize>(&self, lines: &Strip) -> Result<()> {
        let (chunks, width) = (self.length.div_ceil(CHUNK), lines.width);
        let window = if self.shared(width, S::WEIGHT) { SHARED_WINDOW / width } else { WINDOW };
        let mut carries = vec![S::START; (window + 1) * width];
        let mut lanes = Lanes::<S, K>::new(S::START);
        for first in (0..chunks).step_by(window) {
            let range = first..chunks.min(first + window);
            self.totals::<S, K>(lines, range.clone(), &mut carries)?;
            for chunk in range.clone() {
                for line in 0..width {
                    let at = (chunk - first) * width + line;
                    let (carry, total) = (carries[at], carries[at + width]);
                    let total = if S::stands_alone(carry, total) {
                        total
                    } else {
                        lanes.begin(0, carry);
                        self.total(&mut lanes, &lines.lane_alone(line), chunk)
                    };
                    carries[at + width] = S::end(carry, total);
                }
            }
            self.emit::<S, K>(lines, range.clone(), &carries)?;
            carries.copy_within(range.len() * width..(range.len() + 1) * width, 0);
        }
        Ok(())
    }

    /// The totals of some chunks, each put where the next chunk's carry will be.
    fn totals<S: Scan<K>, const K: usize>(
        &self,
        lines: &Strip,
        range: Range<usize>,
        carries: &mut [[S::T; K]],
    ) -> Result<()> {
        let (first, slots) = (range.start, Slots(carries.as_mut_ptr()));
        let make = || Lanes::<S, K>::new(S::START);
        self.each_group(lines, range, S::WEIGHT, make, |chunk, strip, rows, rooms, lanes| {
            let slots = &slots;
            lanes.begin_alike(strip.width, S::START);
            // SAFETY: the group's chunks are the lines'; each has its own slot.
            unsafe {
                self.pass::<S, K, false, false>(lanes, strip, rows, chunk * CHUNK, rooms);
                let slot = slots.0.add((chunk - first + 1) * lines.width);
                (0..strip.width).for_each(|lane| slot.add(lane).write(lanes.state(lane)));
            }
        })
    }

    /// The total of one chunk of a line, which the first lane has begun.
    fn total<S: Scan<K>, const K: usize>(
        &self,
        lanes: &mut Lanes<S, K>,
        line: &Strip,
        chunk: usize,
    ) -> [S::T; K] {
        let rows = CHUNK.min(self.length - chunk * CHUNK);
        let strip = self.chunks(line, chunk, 1);
        let mut walk = Scanned::<S, K, false, false>(lanes);
        // SAFETY: a chunk of the line.
        Rooms::with(|rooms| unsafe { self.walk(&mut walk, &strip, (0, rows), chunk * CHUNK, rooms) });
        lanes.state(0)
    }

    /// Writes some chunks of long lines, each after its carry.
    fn emit<S: Scan<K>, const K: usize>(
        &self,
        lines: &Strip,
        range: Range<usize>,
        carries: &[[S::T; K]],
    ) -> Result<()> {
        let (first, make) = (range.start, || Lanes::<S, K>::new(S::START));
        self.each_group(lines, range, S::WEIGHT, make, |chunk, strip, rows, rooms, lanes| {
            lanes.begin_all(strip.width, |lane| carries[(chunk - first) * lines.width + lane]);
            // SAFETY: the group's chunks are the lines'.
            unsafe { self.pass::<S, K, true, false>(lanes, strip, rows, chunk * CHUNK, rooms) };
        })
    }

    /// Whether several threads work on so many lines.
    fn shared(&self, lines: usize, weight: usize) -> bool {
        threads::should_parallelize((lines * self.length).saturating_mul(weight))
    }

    /// Works on a strip of lines in a room, if it needs one and fits: so that several passes cast and turn it once.
    ///
    /// # Safety
    /// The strip's lanes are lines of the job.
    unsafe fn settled<E: Element>(
        &self,
        strip: &Strip,
        rooms: &mut Rooms,
        work: impl FnOnce(&Job, &Strip, &mut Rooms),
    ) {
        let (lane, width, size) = (strip.lane, strip.width, size_of::<E>());
        let bytes = self.length * width * size;
        if self.input.is_tile(lane[1]) && self.output.is_tile(lane[0]) || bytes > SETTLED {
            return work(self, strip, rooms);
        }
        let (room, spare) = (rooms.settle(bytes), rooms.spare.start());
        let memory = std::mem::take(&mut rooms.settled); // nobody else takes it meanwhile
        let most = ROOM / (self.widest(size) * width);
        let tiles = || (0..self.length).step_by(most).map(|row| (row, most.min(self.length - row)));
        let there = |k: usize, side: &Side, row: usize| strip.at[k].wrapping_offset(row as isize * side.step);
        // SAFETY: the caller's promise; the memory holds all rows, and the spare room `most` of them.
        unsafe {
            for (row, rows) in tiles() {
                let from = there(1, &self.input, row);
                self.input.read(room.add(row * width * size), spare, from, lane[1], (rows, width));
            }
            let side = Side::input(E::DTYPE, E::DTYPE, (width * size) as isize);
            let near = Job { outer: SmallVec::new(), input: side, output: side, ..*self };
            let at = [room; OPERANDS];
            work(&near, &Strip { at, lane: [size as isize; OPERANDS], ..*strip }, rooms);
            for (row, rows) in tiles() {
                let to = there(0, &self.output, row);
                self.output.write(room.add(row * width * size), spare, to, lane[0], (rows, width));
            }
        }
        rooms.settled = memory;
    }
}

impl Strip {
    /// One of the lines side by side.
    fn lane_alone(&self, lane: usize) -> Strip {
        Strip { at: shifted(&self.at, &self.lane, lane as isize), width: 1, ..*self }
    }
}

/// Slots of results, of which each thread writes its own.
struct Slots<T>(*mut T);
// SAFETY: as said.
unsafe impl<T> Sync for Slots<T> {}

/// A scan: the result at each position follows from the elements up to it.
fn run_scan<S: Scan<K>, const K: usize>(request: &Request) -> Result<()> {
    with_job(S::E::DTYPE, request, |job| {
        if S::LEAPS && job.leaps(S::WEIGHT) {
            return job.each_strip(
                1,
                S::WEIGHT,
                || (),
                |strip, _, _| {
                    // SAFETY: a line of the job, whose elements, results and positions are neighbours.
                    unsafe { Leaps::<S, K> { at: strip.at, rows: job.length, of: PhantomData }.walk() };
                },
            );
        }
        if job.is_long(S::WEIGHT, job.width()) {
            return job.each_bundle(FEW, |lines| job.windows::<S, K>(lines));
        }
        let make = || Lanes::<S, K>::new(S::START);
        job.each_strip(job.width(), S::WEIGHT, make, |strip, rooms, lanes| {
            // SAFETY: a strip of the job's lines.
            unsafe { job.lines_pass::<S, K>(lanes, strip, rooms) };
        })
    })
}
