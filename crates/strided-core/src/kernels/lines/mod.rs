//! Functions from lines to lines: a line is what lies along one dim.
//!
//! ```text
//! many lines     lanes are neighbouring lines; each goes from chunk to chunk with its carry
//! few, long ones lanes are neighbouring chunks of one line: first every chunk by itself, then all carries one after
//!                the other, then every chunk again, now with its carry. Chunks are shared by all threads
//! ```
//! Whichever way is taken, a chunk is stepped through in the same order, and carries follow each other in the same
//! order: the bits depend on the numbers in a line alone. `scan.rs` has the loop, `tile.rs` the way in and out,
//! `functions.rs` the functions.

mod functions;
mod scan;
mod tile;

pub use functions::{Function, cummax, cummin, cumprod, cumsum, log_softmax, logcumsumexp, softmax};

use super::OPERANDS;
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::{Layout, Mode};
use crate::nest::{Loop, Nest, Operand, Order, Pointers};
use crate::scalar::Element;
use crate::storage::Access;
use crate::tensor::{Tensor, pin_each};
use crate::threads;
use scan::{CHUNK, Frame, Lanes, NARROW, Rows, Scan, WIDE, pass};
use smallvec::SmallVec;
use tile::{ROOM, Room, Side};

/// Lines that have so many elements are cut into lanes if there are few of them.
const LONG: usize = 16 * CHUNK;
/// Fewer lines than these are few.
const FEW: usize = 64;
/// Elements of a thread's piece, for an operation as cheap as an addition.
const PIECE: usize = 64 << 10;

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
struct Rooms {
    tile: Room,
    spare: Room,
    indices: Room,
}

impl Job {
    fn lines(&self) -> usize {
        self.outer.iter().map(|l| l.extent).product::<usize>() * self.inner.extent
    }

    /// Whether lanes are chunks of one line. By sizes alone, as everything that decides here.
    fn is_long(&self) -> bool {
        self.length >= LONG && self.lines() < FEW
    }

    /// How many neighbouring lines make a strip: as many as are read at once, if they lie side by side.
    fn width(&self) -> usize {
        let beside = |side: &Side, k: usize| side.side_by_side(self.inner.steps[k]) as usize;
        [NARROW, FEW, WIDE][beside(&self.output, 0) + beside(&self.input, 1)]
    }

    /// The address of every operand in a line.
    fn line(&self, mut outer: usize, inner: usize) -> Pointers {
        let mut at = self.origins;
        let mut go = |index: usize, l: &Loop| {
            at.iter_mut().zip(l.steps).for_each(|(p, step)| *p = p.wrapping_offset(index as isize * step));
        };
        for l in self.outer.iter().rev() {
            go(outer % l.extent, l);
            outer /= l.extent;
        }
        go(inner, &self.inner);
        at
    }

    /// Runs one function for strips of lines that together have all of them.
    fn each_strip(&self, weight: usize, work: impl Fn(&Strip, &mut Rooms) + Sync) -> Result<()> {
        let width = self.width();
        let per_run = self.inner.extent.div_ceil(width);
        let strips = self.lines() / self.inner.extent * per_run;
        let together = (PIECE / weight / (width.min(self.inner.extent) * self.length)).max(1);
        let shared = threads::worth((self.lines() * self.length).saturating_mul(weight));
        threads::run(strips.div_ceil(together), shared, &|piece| {
            let mut rooms = Rooms { tile: Room::NEW, spare: Room::NEW, indices: Room::NEW };
            for index in piece * together..strips.min((piece + 1) * together) {
                let first = index % per_run * width;
                let at = self.line(index / per_run, first);
                let width = width.min(self.inner.extent - first);
                work(&Strip { at, lane: self.inner.steps, width, spread: 0 }, &mut rooms);
            }
        })
    }

    /// Runs one function for groups of chunks that together make a line; the chunks of a group are equally long.
    fn each_group(
        &self,
        line: Pointers,
        weight: usize,
        shared: bool,
        work: impl Fn(usize, &Strip, usize, &mut Rooms) + Sync,
    ) -> Result<()> {
        let line = Line(line);
        let whole = self.length / CHUNK;
        let groups = whole.div_ceil(NARROW) + !self.length.is_multiple_of(CHUNK) as usize;
        let together = (PIECE / weight / (NARROW * CHUNK)).max(1);
        threads::run(groups.div_ceil(together), shared, &|piece| {
            let mut rooms = Rooms { tile: Room::NEW, spare: Room::NEW, indices: Room::NEW };
            for group in piece * together..groups.min((piece + 1) * together) {
                let chunk = (group * NARROW).min(whole);
                let (width, rows) = match whole - chunk {
                    0 => (1, self.length - whole * CHUNK),
                    left => (left.min(NARROW), CHUNK),
                };
                work(chunk, &self.chunks(&line, chunk, width), rows, &mut rooms);
            }
        })
    }

    /// Lanes of a line's neighbouring chunks.
    fn chunks(&self, line: &Line, chunk: usize, width: usize) -> Strip {
        let mut steps = [0; OPERANDS];
        (steps[0], steps[1], steps[2]) = (self.output.step, self.input.step, self.indices.step);
        let mut at = line.0;
        let first = (chunk * CHUNK) as isize;
        at.iter_mut().zip(steps).for_each(|(p, step)| *p = p.wrapping_offset(first * step));
        Strip { at, lane: steps.map(|step| CHUNK as isize * step), width, spread: CHUNK }
    }

    /// Steps a strip's lanes through some rows from `row` on, tile by tile.
    ///
    /// # Safety
    /// The strip's lanes have those rows.
    unsafe fn pass<S: Scan<K>, const K: usize, const EMIT: bool>(
        &self,
        lanes: &mut Lanes<S, K>,
        strip: &Strip,
        (row, rows): (usize, usize),
        at: usize,
        rooms: &mut Rooms,
    ) {
        let widest =
            self.output.size.max(self.input.size).max(size_of::<S::E>()).max(8 * S::INDEXED as usize);
        let (tile, spare) = (rooms.tile.start(), rooms.spare.start());
        let (lane, width) = (strip.lane, strip.width);
        let in_place = self.input.is_tile(lane[1]) && (!EMIT || self.output.is_tile(lane[0]) && !S::INDEXED);
        let most = if in_place { rows } else { ROOM / (widest * width) };
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
                if S::INDEXED && EMIT {
                    frame.indices = self.indices.rows(indices, lane[2], rooms.indices.start(), width);
                }
                pass::<S, K, EMIT>(lanes, &frame);
                if EMIT && !self.output.is_tile(lane[0]) {
                    self.output.write(tile, spare, to, lane[0], (rows, width));
                }
                if S::INDEXED && EMIT && !self.indices.is_tile(lane[2]) {
                    self.indices.write(rooms.indices.start(), spare, indices, lane[2], (rows, width));
                }
            }
            done += rows;
        }
    }

    /// Steps a strip of lines from their first elements to their last ones.
    ///
    /// # Safety
    /// The strip's lanes are lines of the job.
    unsafe fn lines_pass<S: Scan<K>, const K: usize, const EMIT: bool>(
        &self,
        lanes: &mut Lanes<S, K>,
        strip: &Strip,
        rooms: &mut Rooms,
    ) {
        for first in (0..self.length).step_by(CHUNK) {
            let rows = CHUNK.min(self.length - first);
            // SAFETY: the caller's promise.
            unsafe { self.pass::<S, K, EMIT>(lanes, strip, (first, rows), first, rooms) };
            lanes.turn(strip.width);
        }
    }

    /// The carries of all chunks of a line, and behind them that of the whole line.
    fn carries<S: Scan<K>, const K: usize>(
        &self,
        line: Pointers,
        start: [S::T; K],
        shared: bool,
    ) -> Result<Vec<[S::T; K]>> {
        let chunks = self.length.div_ceil(CHUNK);
        let mut carries = Vec::new();
        carries.try_reserve_exact(chunks + 1).map_err(|_| {
            Error::new("", Problem::OutOfMemory { bytes: (chunks + 1) * size_of::<[S::T; K]>() })
        })?;
        carries.resize(chunks + 1, start);
        // Totals are put where the next chunk's carry will be.
        let totals = Totals(carries.as_mut_ptr());
        self.each_group(line, S::WEIGHT, shared, |chunk, strip, rows, rooms| {
            let totals = &totals;
            let mut lanes = Lanes::<S, K>::new(start);
            // SAFETY: the group's chunks are the line's; each has its own slot.
            unsafe {
                self.pass::<S, K, false>(&mut lanes, strip, (0, rows), chunk * CHUNK, rooms);
                (0..strip.width).for_each(|lane| totals.0.add(chunk + lane + 1).write(lanes.state(lane)));
            }
        })?;
        let mut rooms = Rooms { tile: Room::NEW, spare: Room::NEW, indices: Room::NEW };
        for chunk in 0..chunks {
            let mut total = carries[chunk + 1];
            if !S::stands_alone(total) {
                let mut lanes = Lanes::<S, K>::new(carries[chunk]);
                let rows = CHUNK.min(self.length - chunk * CHUNK);
                let strip = self.chunks(&Line(line), chunk, 1);
                // SAFETY: a chunk of the line.
                unsafe { self.pass::<S, K, false>(&mut lanes, &strip, (0, rows), chunk * CHUNK, &mut rooms) };
                total = lanes.state(0);
            }
            carries[chunk + 1] = S::end(carries[chunk], total);
        }
        Ok(carries)
    }

    /// Writes a long line: every chunk after its carry.
    fn emit<S: Scan<K>, const K: usize>(
        &self,
        line: Pointers,
        shared: bool,
        carry: impl Fn(usize) -> [S::T; K] + Sync,
    ) -> Result<()> {
        self.each_group(line, S::WEIGHT, shared, |chunk, strip, rows, rooms| {
            let mut lanes = Lanes::<S, K>::new(S::START);
            (0..strip.width).for_each(|lane| lanes.begin(lane, carry(chunk + lane)));
            // SAFETY: the group's chunks are the line's.
            unsafe { self.pass::<S, K, true>(&mut lanes, strip, (0, rows), chunk * CHUNK, rooms) };
        })
    }

    fn each_line(&self, mut work: impl FnMut(Pointers, bool) -> Result<()>) -> Result<()> {
        for index in 0..self.lines() {
            let line = self.line(index / self.inner.extent, index % self.inner.extent);
            work(line, threads::worth(self.length))?;
        }
        Ok(())
    }
}

/// The addresses of a line, for several threads.
struct Line(Pointers);
// SAFETY: as for `Job`.
unsafe impl Sync for Line {}

/// The slots of totals, of which each thread writes its own.
struct Totals<T>(*mut T);
// SAFETY: as said.
unsafe impl<T> Sync for Totals<T> {}

/// A scan: the result at each position follows from the elements up to it.
fn run_scan<S: Scan<K>, const K: usize>(request: &Request) -> Result<()> {
    with_job(S::E::DTYPE, request, |job| {
        if job.is_long() {
            return job.each_line(|line, shared| {
                let carries = job.carries::<S, K>(line, S::START, shared)?;
                job.emit::<S, K>(line, shared, |chunk| carries[chunk])
            });
        }
        job.each_strip(S::WEIGHT, |strip, rooms| {
            let mut lanes = Lanes::<S, K>::new(S::START);
            // SAFETY: a strip of the job's lines.
            unsafe { job.lines_pass::<S, K, true>(&mut lanes, strip, rooms) };
        })
    })
}

/// A function of whole lines: two passes that gather what they need, the second one knowing what the first found, and
/// one that writes.
fn run_whole<A, B, C, const K: usize>(request: &Request) -> Result<()>
where
    A: Scan<K>,
    B: Scan<K, E = A::E, T = A::T>,
    C: Scan<K, E = A::E, T = A::T>,
{
    with_job(A::E::DTYPE, request, |job| {
        if job.is_long() {
            return job.each_line(|line, shared| {
                let last = |carries: Vec<[A::T; K]>| *carries.last().expect("one more than chunks");
                let found = last(job.carries::<A, K>(line, A::START, shared)?);
                let found = last(job.carries::<B, K>(line, found, shared)?);
                job.emit::<C, K>(line, shared, |_| found)
            });
        }
        job.each_strip(A::WEIGHT + B::WEIGHT + C::WEIGHT, |strip, rooms| {
            let mut lanes = Lanes::<A, K>::new(A::START);
            // SAFETY: strips of the job's lines.
            unsafe {
                job.lines_pass::<A, K, false>(&mut lanes, strip, rooms);
                let mut lanes = Lanes::<B, K>::after(lanes.carry, strip.width);
                job.lines_pass::<B, K, false>(&mut lanes, strip, rooms);
                let mut lanes = Lanes::<C, K>::after(lanes.carry, strip.width);
                job.lines_pass::<C, K, true>(&mut lanes, strip, rooms);
            }
        })
    })
}
