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
use crate::error::Result;
use crate::layout::{Layout, Mode};
use crate::nest::{Loop, Nest, Operand, Order, Pointers, shifted};
use crate::scalar::Element;
use crate::storage::Access;
use crate::tensor::{Tensor, pin_each};
use crate::threads;
use functions::Widened;
use scan::{CHUNK, Frame, Lanes, NARROW, Rows, Scan, WIDE, pass};
use smallvec::SmallVec;
use std::ops::Range;
use tile::{ROOM, Room, Side};

/// Lines that have so many elements are cut into lanes if there are few of them.
const LONG: usize = 16 * CHUNK;
/// Fewer lines than these are few.
const FEW: usize = 64;
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
    settled: Vec<[u64; 2]>,
}

impl Rooms {
    const NEW: Rooms = Rooms { tile: Room::NEW, spare: Room::NEW, indices: Room::NEW, settled: Vec::new() };
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
        let mut go = |index: usize, l: &Loop| at = shifted(&at, &l.steps, index as isize);
        for l in self.outer.iter().rev() {
            go(outer % l.extent, l);
            outer /= l.extent;
        }
        go(inner, &self.inner);
        at
    }

    /// Runs one function for strips of so many lines that together have all of them.
    fn each_strip<C>(
        &self,
        width: usize,
        weight: usize,
        make: impl Fn() -> C + Sync,
        work: impl Fn(&Strip, &mut Rooms, &mut C) + Sync,
    ) -> Result<()> {
        let per_run = self.inner.extent.div_ceil(width);
        let strips = self.lines() / self.inner.extent * per_run;
        let together = (PIECE / weight / (width.min(self.inner.extent) * self.length)).max(1);
        let shared = threads::worth((self.lines() * self.length).saturating_mul(weight));
        threads::run(strips.div_ceil(together), shared, &|piece| {
            let (mut rooms, mut lanes) = (Rooms::NEW, make());
            for index in piece * together..strips.min((piece + 1) * together) {
                let first = index % per_run * width;
                let at = self.line(index / per_run, first);
                let width = width.min(self.inner.extent - first);
                work(&Strip { at, lane: self.inner.steps, width, spread: 0 }, &mut rooms, &mut lanes);
            }
        })
    }

    /// Runs one function for groups of chunks that together make a range of them; the chunks of a group are equally
    /// long.
    fn each_group<C>(
        &self,
        line: &Line,
        range: Range<usize>,
        weight: usize,
        make: impl Fn() -> C + Sync,
        work: impl Fn(usize, &Strip, usize, &mut Rooms, &mut C) + Sync,
    ) -> Result<()> {
        let whole = range.end.min(self.length / CHUNK) - range.start;
        let groups = whole.div_ceil(NARROW) + (range.len() > whole) as usize;
        let together = (PIECE / weight / (NARROW * CHUNK)).max(1);
        threads::run(groups.div_ceil(together), self.shared(weight), &|piece| {
            let (mut rooms, mut lanes) = (Rooms::NEW, make());
            for group in piece * together..groups.min((piece + 1) * together) {
                let at = (group * NARROW).min(whole);
                let chunk = range.start + at;
                let (width, rows) = match whole - at {
                    0 => (1, self.length - chunk * CHUNK),
                    left => (left.min(NARROW), CHUNK),
                };
                work(chunk, &self.chunks(line, chunk, width), rows, &mut rooms, &mut lanes);
            }
        })
    }

    /// Lanes of a line's neighbouring chunks.
    fn chunks(&self, line: &Line, chunk: usize, width: usize) -> Strip {
        let mut steps = [0; OPERANDS];
        (steps[0], steps[1], steps[2]) = (self.output.step, self.input.step, self.indices.step);
        let at = shifted(&line.0, &steps, (chunk * CHUNK) as isize);
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

    /// Works on a long line, window by window: the totals of every chunk, the carries one after the other, and then what
    /// `emit` makes of the chunks and their carries. What the second reading needs is then still in a cache. Gives the
    /// carry behind the line.
    fn windows<S: Scan<K>, const K: usize>(
        &self,
        line: &Line,
        start: [S::T; K],
        emit: impl Fn(Range<usize>, &[[S::T; K]]) -> Result<()>,
    ) -> Result<[S::T; K]> {
        let chunks = self.length.div_ceil(CHUNK);
        let window = if self.shared(S::WEIGHT) { SHARED_WINDOW } else { WINDOW };
        let mut carries = vec![start; window + 1];
        let mut rooms = Rooms::NEW;
        for first in (0..chunks).step_by(window) {
            let range = first..chunks.min(first + window);
            // Totals are put where the next chunk's carry will be.
            let totals = Totals(carries.as_mut_ptr());
            let make = || Lanes::<S, K>::new(start);
            self.each_group(line, range.clone(), S::WEIGHT, make, |chunk, strip, rows, rooms, lanes| {
                let totals = &totals;
                lanes.begin_all(strip.width, |_| start);
                // SAFETY: the group's chunks are the line's; each has its own slot.
                unsafe {
                    self.pass::<S, K, false>(lanes, strip, (0, rows), chunk * CHUNK, rooms);
                    let slot = totals.0.add(chunk - first + 1);
                    (0..strip.width).for_each(|lane| slot.add(lane).write(lanes.state(lane)));
                }
            })?;
            for chunk in range.clone() {
                let at = chunk - first;
                let mut total = carries[at + 1];
                if !S::stands_alone(carries[at], total) {
                    let mut lanes = Lanes::<S, K>::new(carries[at]);
                    let rows = CHUNK.min(self.length - chunk * CHUNK);
                    let strip = self.chunks(line, chunk, 1);
                    // SAFETY: a chunk of the line.
                    unsafe {
                        self.pass::<S, K, false>(&mut lanes, &strip, (0, rows), chunk * CHUNK, &mut rooms)
                    };
                    total = lanes.state(0);
                }
                carries[at + 1] = S::end(carries[at], total);
            }
            emit(range.clone(), &carries)?;
            carries[0] = carries[range.len()];
        }
        Ok(carries[0])
    }

    /// Writes some chunks of a long line, each after its carry.
    fn emit<S: Scan<K>, const K: usize>(
        &self,
        line: &Line,
        range: Range<usize>,
        carry: impl Fn(usize) -> [S::T; K] + Sync,
    ) -> Result<()> {
        let make = || Lanes::<S, K>::new(S::START);
        self.each_group(line, range, S::WEIGHT, make, |chunk, strip, rows, rooms, lanes| {
            lanes.begin_all(strip.width, |lane| carry(chunk + lane));
            // SAFETY: the group's chunks are the line's.
            unsafe { self.pass::<S, K, true>(lanes, strip, (0, rows), chunk * CHUNK, rooms) };
        })
    }

    fn each_line(&self, mut work: impl FnMut(&Line) -> Result<()>) -> Result<()> {
        for index in 0..self.lines() {
            work(&Line(self.line(index / self.inner.extent, index % self.inner.extent)))?;
        }
        Ok(())
    }

    /// Whether several threads work on a long line.
    fn shared(&self, weight: usize) -> bool {
        threads::worth(self.length.saturating_mul(weight))
    }

    /// The same lines, with the output in place of the input.
    fn over_output(&self) -> Job {
        Job { outer: SmallVec::new(), input: self.output, ..*self }
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
        let mut memory = std::mem::take(&mut rooms.settled);
        memory.resize(memory.len().max(bytes.div_ceil(16)), [0; 2]);
        let (room, spare) = (memory.as_mut_ptr().cast::<u8>(), rooms.spare.start());
        let most = ROOM / (self.output.size.max(self.input.size).max(size) * width);
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
            return job.each_line(|line| {
                let emit = |range: Range<usize>, carries: &[[S::T; K]]| {
                    let first = range.start;
                    job.emit::<S, K>(line, range, |chunk| carries[chunk - first])
                };
                job.windows::<S, K>(line, S::START, emit).map(|_| ())
            });
        }
        let make = || Lanes::<S, K>::new(S::START);
        job.each_strip(job.width(), S::WEIGHT, make, |strip, rooms, lanes| {
            lanes.begin_all(strip.width, |_| S::START);
            // SAFETY: a strip of the job's lines.
            unsafe { job.lines_pass::<S, K, true>(lanes, strip, rooms) };
        })
    })
}

/// A function of whole lines: a pass that finds the largest element, one that sums with its help, and one that writes.
/// Where the second one may leave its terms in the output, `D` makes results of them; `C` starts from the elements.
fn run_whole<A, B, C, D>(request: &Request) -> Result<()>
where
    A: Scan<1, T: Widened<f64>>,
    B: Scan<2, E = A::E, T = f64>,
    C: Scan<2, E = A::E, T = f64>,
    D: Scan<2, E = A::E, T = f64>,
{
    let next = |[most]: [A::T; 1]| [most.wide(), 0.0];
    with_job(A::E::DTYPE, request, |job| {
        if job.is_long() {
            return job.each_line(|line| {
                let most = job.windows::<A, 1>(line, A::START, |_, _| Ok(()))?;
                let sum = job.windows::<B, 2>(line, next(most), |_, _| Ok(()))?;
                job.emit::<C, 2>(line, 0..job.length.div_ceil(CHUNK), |_| sum)
            });
        }
        // So few lines side by side that a second cache holds them from pass to pass.
        let width = (SETTLED / (job.length * size_of::<A::E>())).clamp(NARROW, job.width()) / NARROW * NARROW;
        let weight = A::WEIGHT + B::WEIGHT + D::WEIGHT;
        let make = || {
            (
                Lanes::<A, 1>::new(A::START),
                Lanes::<B, 2>::new(B::START),
                Lanes::<C, 2>::new(C::START),
                Lanes::<D, 2>::new(D::START),
            )
        };
        job.each_strip(width, weight, make, |strip, rooms, (found, sums, last, made)| {
            let work = |job: &Job, strip: &Strip, rooms: &mut Rooms| {
                let width = strip.width;
                // SAFETY: strips of the job's lines; the output's own elements may be read once they are written.
                unsafe {
                    found.begin_all(width, |_| A::START);
                    job.lines_pass::<A, 1, false>(found, strip, rooms);
                    sums.begin_all(width, |lane| next(found.carry(lane)));
                    if !job.output.is_tile(strip.lane[0]) {
                        job.lines_pass::<B, 2, false>(sums, strip, rooms);
                        last.begin_all(width, |lane| sums.carry(lane));
                        return job.lines_pass::<C, 2, true>(last, strip, rooms);
                    }
                    job.lines_pass::<B, 2, true>(sums, strip, rooms);
                    made.begin_all(width, |lane| sums.carry(lane));
                    let (mut strip, job) = (*strip, job.over_output());
                    (strip.at[1], strip.lane[1]) = (strip.at[0], strip.lane[0]);
                    job.lines_pass::<D, 2, true>(made, &strip, rooms);
                }
            };
            // SAFETY: a strip of the job's lines.
            unsafe { job.settled::<A::E>(strip, rooms, work) };
        })
    })
}
