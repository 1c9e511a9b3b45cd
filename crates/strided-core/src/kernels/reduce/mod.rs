//! Reductions: many elements into one, by a tree that depends on their number alone.
//!
//! ```text
//! terms      0 1 2 … 1023 | 1024 …            blocks of BLOCK
//! in a block   lane j takes terms j, j+32, …    LANES running results
//! lanes      32 -> 16 -> 8 -> 4 -> 2 -> 1       merged in halves
//! blocks     ((0 1)(2 3))((4 5)…)               merged pairwise, as in a binary counter
//! ```
//! A *strip* is one output, or some that lie side by side. The terms of a strip come in one of three ways:
//!
//! ```text
//! along    one output whose terms are adjacent, or gathered into a room: x.sum(1)
//! across   neighbouring outputs, row by row of terms, with lanes for each of them: x.sum(0)
//! turned   neighbouring outputs, whose terms are turned around into adjacent ones: x.argmax(0)
//! ```
//! All build the same tree, and threads share strips, or parts of a strip that are whole subtrees. So the bits depend
//! neither on the CPU, nor on gaps between the elements, nor on the number of threads. Terms are taken in the order in
//! which they lie in memory, or, where the result tells a position, in row-major order.

mod fold;
pub mod folds;
mod tree;

use fold::Lines;
pub use fold::Reducer;

use self::tree::Tree;
use super::drive::WHOLE;
use super::item::Slot;
use super::map::Twins;
use super::{Kernel, OPERANDS, Pointers, Steps, cast, pair, transpose};
use crate::cpu;
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::{Layout, Mode};
use crate::nest::{Loop, Nest, Operand, Order, runs, shifted, turns, walk_part};
use crate::storage::Access;
use crate::tensor::{Tensor, pin_each};
use crate::threads;
use smallvec::SmallVec;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::null_mut;

const LANES: usize = 32;
const BLOCK: usize = 1024;
/// Adjacent terms that are reduced in one call: some blocks.
const GROUP: usize = 16 * BLOCK;
const GROUP_LEVEL: u32 = (GROUP / BLOCK).ilog2();
/// The most outputs that are worked on side by side.
const WIDTH: usize = 1024;
/// The same where terms must be gathered: those of a lane stay in the first cache.
const GATHERED: usize = 256;
/// Bytes of a row of terms that is turned around: a cache line.
const TURNED: usize = 64;
/// Single outputs whose results are written together.
const TOGETHER: usize = 256;
/// Bytes of the widest accumulator.
const WIDEST: usize = 32;
/// Terms of a piece of work for a thread.
const PIECE: usize = 64 << 10;
/// Room for the results of parts that are kept at a time, in pairs of words.
const WAVE: usize = 1 << 18;

/// One step from elements in memory to terms: a cast or an elementwise kernel, whose second operand is a number.
#[derive(Clone, Copy)]
pub struct Stage {
    kernel: Kernel,
    /// Bytes of what it writes.
    size: usize,
    number: Slot,
}

impl Stage {
    pub fn cast(from: DType, to: DType) -> Stage {
        Stage { kernel: cast::kernel(from, to), size: to.size(), number: Slot::EMPTY }
    }

    /// From elements at an address and a step to others.
    ///
    /// # Safety
    /// See [`super::Kernel`].
    unsafe fn run(&self, to: (*mut u8, isize), from: (*mut u8, isize), n: usize) {
        let mut pointers = pair(to.0, from.0, null_mut());
        pointers[2] = self.number.address();
        // SAFETY: the caller's promise; a number is read with step 0.
        unsafe { (self.kernel)(&pointers, &pair(to.1, from.1, 0), n) }
    }

    /// A function of one operand, or of an operand and a number.
    pub fn map(twins: &Twins, number: Slot) -> Stage {
        Stage { kernel: twins.kernel(), size: twins.result().size(), number }
    }
}

/// How elements become results.
pub struct Reduction<'a> {
    pub reducer: &'a Reducer,
    /// From the elements' dtype to that of the terms; none where they are the same.
    pub stages: &'a [Stage],
    /// Whether a term's position counts, so that terms are taken in row-major order.
    pub ordered: bool,
    /// For those that end with a number of the caller's.
    pub number: f64,
}

/// Where a result goes: an output, and its layout with extents of 1 for what is reduced.
pub struct Target<'a> {
    pub out: &'a Tensor,
    pub spread: &'a Layout,
}

/// Reduces `x` into the outputs that are wanted: at least one of what the reducer gives.
pub fn run<'a>(reduction: &Reduction, x: &Tensor, targets: [Option<Target<'a>>; 2]) -> Result<()> {
    for Target { out, spread } in targets.iter().flatten() {
        let kept = |(a, b): (&Mode, &Mode)| a.extent == b.extent || a.extent == 1;
        assert!(spread.rank() == x.layout().rank());
        assert!(spread.modes().iter().zip(x.layout().modes()).all(kept));
        assert!(spread.bounds() == out.layout().bounds());
    }
    let reducer = reduction.reducer;
    let [first, second] = &targets;
    if let (Some(target), None) = (first, second)
        && reduction.is_short(x, target)
    {
        return run_short(reduction, x, target);
    }
    let view = |target: Option<&Target<'a>>| {
        let Target { out, spread } = target.expect("an output is wanted");
        Operand { layout: spread, size: out.dtype().size() }
    };
    let operands = [
        view(first.as_ref().or(second.as_ref())),
        Operand { layout: x.layout(), size: x.dtype().size() },
        view(second.as_ref().or(first.as_ref())),
    ];
    let order = if reduction.ordered { Order::RowMajor } else { Order::Free };
    let nest = Nest::new(x.layout(), &operands, order);
    let copy = [Stage::cast(x.dtype(), x.dtype())];
    let write = |k: usize| {
        let (target, dtype) = (targets[k].as_ref()?, reducer.gives[k].expect("nothing else is wanted"));
        Some((cast::kernel(dtype, target.out.dtype()), dtype.size()))
    };
    let mut job = Job {
        reducer,
        number: reduction.number,
        stages: if reduction.stages.is_empty() { &copy } else { reduction.stages },
        in_place: reduction.stages.is_empty() && !cpu::reference_kernels(),
        size: reducer.terms.size(),
        write: [write(0), write(1)],
        strips: SmallVec::new(),
        columns: Loop { extent: 1, steps: [0; OPERANDS] },
        reduced: SmallVec::new(),
        terms: 1,
        way: Way::Along,
        width: 1,
    };
    for &l in nest.loops() {
        // Extents of 1 have step 0 by broadcasting: those are the reduced loops.
        if l.steps[0] == 0 { job.reduced.push(l) } else { job.strips.push(l) }
    }
    job.terms = turns(&job.reduced);
    if !cpu::reference_kernels() {
        job.look_aside();
    }
    let wanted = |target: &Option<Target<'a>>| target.as_ref().map(|target| (target.out, Access::Write));
    let pins = pin_each([wanted(first), Some((x, Access::Read)), wanted(second)])?;
    let mut origins = [null_mut(); OPERANDS];
    for (origin, pin) in origins.iter_mut().zip(&pins) {
        *origin = pin.as_ref().map_or(null_mut(), |pin| pin.origin);
    }
    // SAFETY: all are pinned for the layouts in the nest, and stages lead to the reducer's dtype.
    unsafe { job.run(nest.start(origins)) }
}

impl Reduction<'_> {
    /// Whether all there is to do is one call: most are so.
    fn is_short(&self, x: &Tensor, target: &Target) -> bool {
        let dense = x.layout().is_dense() && target.out.size() == 1 && (1..=GROUP).contains(&x.size());
        dense && self.stages.is_empty() && !cpu::reference_kernels()
    }
}

/// Adjacent terms into one output, without a plan.
fn run_short(reduction: &Reduction, x: &Tensor, target: &Target) -> Result<()> {
    let mut room: Room<{ WIDEST / 16 }> = Room::uninit();
    let mut result: Room<1> = Room::uninit();
    let (acc, place) = (room.as_mut_ptr().cast::<u8>(), result.as_mut_ptr().cast::<u8>());
    let reducer = reduction.reducer;
    let write = cast::kernel(reducer.gives[0].expect("it gives something"), target.out.dtype());
    let wanted = [Some((target.out, Access::Write)), Some((x, Access::Read))];
    let [Some(out), Some(from)] = pin_each(wanted)? else { unreachable!("both were asked for") };
    let mut rest: Room<1> = Room::uninit();
    // SAFETY: both are pinned; the terms are adjacent, and there are rooms for the accumulator and the results.
    unsafe {
        (reducer.block)(&Lines::one(from.origin, x.size(), 0), acc);
        (reducer.finish)(acc, 1, x.size(), reduction.number, [place, rest.as_mut_ptr().cast()]);
        write(&pair(out.origin, place, null_mut()), &[0; OPERANDS], 1);
    }
    Ok(())
}

/// How terms come to a strip.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Along,
    Across,
    Narrow,
    Turned,
}

struct Job<'a> {
    reducer: &'a Reducer,
    number: f64,
    /// At least one.
    stages: &'a [Stage],
    /// Whether elements are terms already.
    in_place: bool,
    /// Bytes of a term.
    size: usize,
    /// Casts to the outputs, and the bytes of what the reducer gives.
    write: [Option<(Kernel, usize)>; 2],
    /// The loops over strips …
    strips: SmallVec<[Loop; 4]>,
    /// … over the outputs of all strips of a row of them (strips have the last of the loops above) …
    columns: Loop,
    /// … and over the terms of an output.
    reduced: SmallVec<[Loop; 4]>,
    terms: usize,
    way: Way,
    /// Outputs of a strip, at most.
    width: usize,
}

/// Room for `N` terms or accumulators of 16 bytes.
type Room<const N: usize> = MaybeUninit<[[u64; 2]; N]>;

impl Job<'_> {
    /// Takes outputs side by side where their terms lie so, or where they have few of them.
    fn look_aside(&mut self) {
        let Some(&columns) = self.strips.last() else { return };
        let Some(inner) = self.reduced.last() else { return };
        let beside = columns.steps[1] != 0 && columns.steps[1].abs() < inner.steps[1].abs();
        let short = self.terms <= LANES && columns.extent >= 16;
        if !(beside || short) || self.terms == 0 {
            return;
        }
        let (way, width) = match self.reducer.across {
            Some(_) if self.is_narrow(&columns) => (Way::Narrow, columns.extent),
            // Rows as long as a page or more, but enough of them for all threads.
            Some(_) if columns.extent >= 16 && self.in_place && columns.steps[1] == self.size as isize => {
                let share = columns.extent.div_ceil(2 * threads::limit());
                (Way::Across, share.next_multiple_of(16).clamp(GATHERED, WIDTH))
            }
            Some(_) if columns.extent >= 16 => (Way::Across, GATHERED),
            _ if beside => (Way::Turned, TURNED / self.size),
            _ => return,
        };
        (self.way, self.width, self.columns) = (way, width, columns);
        *self.strips.last_mut().expect("seen above") = Loop {
            extent: columns.extent.div_ceil(width),
            steps: columns.steps.map(|step| step * width as isize),
        };
    }

    /// Whether rows of terms are short and follow each other without gaps: then those of all lanes are one run.
    fn is_narrow(&self, columns: &Loop) -> bool {
        let size = self.size as isize;
        let [only] = &self.reduced[..] else { return false };
        let dense = columns.steps[1] == size && only.steps[1] == columns.extent as isize * size;
        dense && self.in_place && columns.extent * LANES <= WIDTH
    }

    /// Outputs of the strip of this number.
    fn width_of(&self, strip: usize) -> usize {
        let (width, extent) = (self.width, self.columns.extent);
        width.min(extent - strip % extent.div_ceil(width) * width)
    }

    /// # Safety
    /// The addresses are pinned for the loops, and stages lead from the elements to the reducer's terms.
    unsafe fn run(&self, start: Pointers) -> Result<()> {
        let strips = turns(&self.strips);
        let each = self.width * self.terms.max(1) * self.reducer.weight;
        let work = strips.saturating_mul(each);
        let shared = threads::worth(work);
        if work <= WHOLE {
            // SAFETY: the caller's promise.
            unsafe { self.whole_strips(&start, 0..strips) };
            return Ok(());
        }
        let origins = Origins(start);
        let origins = &origins;
        if strips >= 16 || each <= 2 * PIECE {
            let together = (PIECE / each.max(1)).max(1);
            return threads::run(strips.div_ceil(together), shared, &|i| {
                // SAFETY: the caller's promise; each strip is in one piece.
                unsafe { self.whole_strips(&origins.0, i * together..strips.min((i + 1) * together)) }
            });
        }
        // SAFETY: the caller's promise.
        unsafe { self.parted_strips(origins, strips, shared) }
    }

    /// Few strips with many terms: parts of them, each a subtree. In waves, so that few results are kept.
    ///
    /// # Safety
    /// As for `run`.
    unsafe fn parted_strips(&self, origins: &Origins, strips: usize, shared: bool) -> Result<()> {
        let blocks = (PIECE / BLOCK / self.width / self.reducer.weight).max(1);
        let level = blocks.next_power_of_two().ilog2();
        let part = BLOCK << level;
        let parts = self.terms.div_ceil(part);
        let mut trees: Vec<Tree> =
            (0..strips).map(|strip| Tree::new(self.reducer, self.width_of(strip))).collect();
        let slots = Tree::new(self.reducer, self.width).slots();
        let most = (WAVE / slots / strips).clamp(1, parts);
        let mut partial = vec![[0u64; 2]; strips * most * slots];
        let results = Results(partial.as_mut_ptr());
        let results = &results;
        let mut first = 0;
        while first < parts {
            let wave = most.min(parts - first);
            threads::run(strips * wave, shared, &|i| {
                let (strip, nth) = (i / wave, first + i % wave);
                let terms = nth * part..self.terms.min((nth + 1) * part);
                walk_part(&self.strips, origins.0, strip..strip + 1, |at| {
                    // SAFETY: the caller's promise; each part has a place of its own.
                    unsafe { self.strip(at, self.width_of(strip), terms.clone(), results.at(i * slots)) }
                });
            })?;
            for (i, tree) in trees.iter_mut().enumerate() {
                for nth in 0..wave {
                    // SAFETY: every part of the wave has left its accumulators at its place.
                    unsafe { tree.push(results.at((i * wave + nth) * slots), level) };
                }
            }
            first += wave;
        }
        let mut trees = trees.iter_mut();
        walk_part(&self.strips, origins.0, 0..strips, |at| {
            let tree = trees.next().expect("a tree for each strip");
            // SAFETY: the place has room for the widest strip; all terms are in the tree.
            unsafe {
                tree.finish(results.at(0));
                self.finish(at, &self.columns.steps, results.at(0), tree.width());
            }
        });
        Ok(())
    }

    /// # Safety
    /// As for `run`.
    unsafe fn whole_strips(&self, start: &Pointers, strips: Range<usize>) {
        let mut room: Room<WIDTH> = Room::uninit();
        let acc = room.as_mut_ptr().cast::<u8>();
        let beside = self.strips.last().map_or([0; OPERANDS], |l| l.steps);
        let mut strip = strips.start;
        runs(&self.strips, *start, strips, |at, n| {
            let mut done = 0;
            while done < n {
                let at = shifted(at, &beside, done as isize);
                // Single outputs end together.
                let (count, width, steps) = match self.way {
                    Way::Along => (TOGETHER.min(n - done), 1, &beside),
                    _ => (1, self.width_of(strip), &self.columns.steps),
                };
                // SAFETY: the caller's promise; the room holds as many accumulators.
                unsafe {
                    if self.terms == 0 {
                        (self.reducer.nothing)(acc, count * width);
                    } else if !(self.way == Way::Along && self.lines(&at, beside[1], count, acc)) {
                        for i in 0..count {
                            let acc = acc.add(i * self.reducer.bytes);
                            self.strip(&shifted(&at, &beside, i as isize), width, 0..self.terms, acc);
                        }
                    }
                    self.finish(&at, steps, acc, count * width);
                }
                done += count;
                strip += count;
            }
        });
    }

    /// Reduces short lines of adjacent terms at once, and says whether it could; where there are stages, those of lines
    /// that follow each other.
    ///
    /// # Safety
    /// As for `run`, for each line; there is room for as many accumulators.
    unsafe fn lines(&self, at: &Pointers, beside: isize, count: usize, acc: *mut u8) -> bool {
        let [only] = &self.reduced[..] else { return false };
        let (n, step) = (self.terms, only.steps[1]);
        // SAFETY: the caller's promise; the room holds the terms of the lines that are gathered at a time.
        unsafe {
            if self.in_place && step == self.size as isize && n <= GROUP {
                (self.reducer.block)(&Lines { count, step: beside, ..Lines::one(at[1], n, 0) }, acc);
                return true;
            }
            if n > BLOCK / 2 || beside != n as isize * step {
                return false;
            }
            let mut room: Room<BLOCK> = Room::uninit();
            let room = room.as_mut_ptr().cast::<u8>();
            for first in (0..count).step_by(BLOCK / n) {
                let count = (BLOCK / n).min(count - first);
                self.gather(
                    room,
                    self.size as isize,
                    at[1].wrapping_offset(first as isize * beside),
                    step,
                    count * n,
                );
                let lines = Lines { count, step: (n * self.size) as isize, ..Lines::one(room, n, 0) };
                (self.reducer.block)(&lines, acc.add(first * self.reducer.bytes));
            }
            true
        }
    }

    /// Writes results, from an address and with steps for each output.
    unsafe fn finish(&self, at: &Pointers, steps: &Steps, acc: *const u8, width: usize) {
        let mut rooms = [const { Room::<WIDTH>::uninit() }; 2];
        let places = rooms.each_mut().map(|room| room.as_mut_ptr().cast::<u8>());
        // SAFETY: the callers have `width` accumulators, and outputs at the addresses.
        unsafe {
            (self.reducer.finish)(acc, width, self.terms, self.number, places);
            for (k, write) in self.write.iter().enumerate() {
                if let Some((cast, size)) = write {
                    let steps = pair(steps[2 * k], *size as isize, 0);
                    cast(&pair(at[2 * k], places[k], null_mut()), &steps, width);
                }
            }
        }
    }

    /// Reduces some terms of a strip.
    #[inline]
    unsafe fn strip(&self, at: &Pointers, width: usize, terms: Range<usize>, acc: *mut u8) {
        // SAFETY: the callers pass a strip of the loops, and room for its accumulators.
        unsafe {
            match self.way {
                Way::Along => self.along(at, terms, acc),
                Way::Narrow => self.narrow(at, width, terms, acc),
                Way::Across => self.across(at, width, terms, acc),
                Way::Turned => self.turned(at, width, terms, acc),
            }
        }
    }

    /// From elements in memory to terms in a room.
    unsafe fn gather(&self, to: *mut u8, to_step: isize, from: *mut u8, step: isize, n: usize) {
        let mut rooms = [const { Room::<BLOCK>::uninit() }; 2];
        let [mut next, mut other] = rooms.each_mut().map(|room| room.as_mut_ptr().cast::<u8>());
        let (mut from, mut step) = (from, step);
        let (last, others) = self.stages.split_last().expect("there is a stage");
        // SAFETY: the callers have `n` elements, room for as many terms, and `n` is at most BLOCK.
        unsafe {
            for stage in others {
                stage.run((next, stage.size as isize), (from, step), n);
                (from, step) = (next, stage.size as isize);
                std::mem::swap(&mut next, &mut other);
            }
            last.run((to, to_step), (from, step), n);
        }
    }

    /// One output: its terms come in blocks, read in place where they are adjacent.
    unsafe fn along(&self, at: &Pointers, terms: Range<usize>, acc: *mut u8) {
        let size = self.size as isize;
        if let ([only], true) = (&self.reduced[..], self.in_place)
            && only.steps[1] == size
            && terms.len() <= GROUP
        {
            let first = at[1].wrapping_offset(terms.start as isize * size);
            // SAFETY: as below; one group is all there is.
            return unsafe { (self.reducer.block)(&Lines::one(first, terms.len(), terms.start), acc) };
        }
        let step = self.reduced.last().map_or(0, |l| l.steps[1]);
        let direct = self.in_place && step == size;
        let mut room: Room<BLOCK> = Room::uninit();
        let mut tree = Tree::new(self.reducer, 1);
        let mut blocks = Blocks { room: room.as_mut_ptr().cast(), filled: 0, first: terms.start };
        let Range { start, end } = terms;
        runs(&self.reduced, *at, terms, |at, n| {
            let mut done = 0;
            while done < n {
                let from = at[1].wrapping_offset(done as isize * step);
                let left = n - done;
                // SAFETY: every run lies within the reduced loops; the room holds BLOCK terms, `acc` a result.
                unsafe {
                    // Groups are pushed as one where those before them are whole.
                    let whole = (blocks.first - start).is_multiple_of(GROUP);
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

    /// Outputs side by side: a block of terms of each is turned around into adjacent ones.
    unsafe fn turned(&self, at: &Pointers, width: usize, terms: Range<usize>, acc: *mut u8) {
        let (size, beside) = (self.size as isize, self.columns.steps[1]);
        let step = self.reduced.last().map_or(0, |l| l.steps[1]);
        let mut room: Room<{ BLOCK * TURNED / 16 }> = Room::uninit();
        let mut tree = Tree::new(self.reducer, width);
        let mut blocks = Blocks { room: room.as_mut_ptr().cast(), filled: 0, first: terms.start };
        runs(&self.reduced, *at, terms, |at, n| {
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
    unsafe fn narrow(&self, at: &Pointers, width: usize, terms: Range<usize>, acc: *mut u8) {
        let of = self.reducer.across.as_ref().expect("asked in look_aside");
        let mut room: Room<{ WIDTH * WIDEST / 16 }> = Room::uninit();
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

    /// Outputs side by side: the rows of terms of each lane are added up for all of them. Lanes are taken in the
    /// order in which they are merged, so that few of them wait.
    unsafe fn across(&self, at: &Pointers, width: usize, terms: Range<usize>, acc: *mut u8) {
        let of = self.reducer.across.as_ref().expect("asked in look_aside");
        let (size, beside) = (self.size as isize, self.columns.steps[1]);
        let step = self.reduced.last().map_or(0, |l| l.steps[1]);
        let direct = self.in_place && beside == size;
        let mut room: Room<{ LANES * GATHERED }> = Room::uninit();
        let room = room.as_mut_ptr().cast::<u8>();
        let mut rows = [std::ptr::null::<u8>(); BLOCK];
        let mut filled = 0;
        let mut tree = Tree::new(self.reducer, width);
        let end = terms.end;
        let mut first = terms.start;
        runs(&self.reduced, *at, terms, |at, n| {
            for i in 0..n {
                rows[filled] = at[1].wrapping_offset(i as isize * step);
                filled += 1;
                first += 1;
                if filled < BLOCK && first < end {
                    continue;
                }
                let rows = &mut rows[..std::mem::take(&mut filled)];
                // Lanes without terms would change nothing.
                let lanes = rows.len().min(LANES).next_power_of_two();
                let turned = !direct
                    && self.in_place
                    && step == size
                    && self.reduced.len() == 1
                    && rows.len() <= LANES;
                if turned {
                    let line = (width * self.size) as isize;
                    // SAFETY: the rows are adjacent terms of the columns of this strip; the room has a line for each.
                    unsafe { transpose::tile(self.size, room, line, rows[0], beside, rows.len(), width) };
                    for (i, row) in rows.iter_mut().enumerate() {
                        *row = room.wrapping_offset(i as isize * line);
                    }
                }
                for k in 0..lanes {
                    let lane = if lanes == 1 { 0 } else { k.reverse_bits() >> (usize::BITS - lanes.ilog2()) };
                    let mut own = [std::ptr::null::<u8>(); BLOCK / LANES];
                    let mut count = 0;
                    for &row in rows.iter().skip(lane).step_by(LANES) {
                        own[count] = row;
                        if !direct && !turned {
                            let line = room.wrapping_add(count * width * self.size);
                            // SAFETY: the row has `width` elements, and the room a line for each row of a lane.
                            unsafe { self.gather(line, size, row.cast_mut(), beside, width) };
                            own[count] = line;
                        }
                        count += 1;
                    }
                    // SAFETY: every row has `width` terms, and `acc` room for as many accumulators.
                    unsafe {
                        (of.absorb)(acc, &own[..count], width, true);
                        tree.push(acc, 0);
                    }
                }
            }
        });
        // SAFETY: as above.
        unsafe { tree.finish(acc) };
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

/// Addresses that other threads may use: those of pinned tensors.
struct Origins(Pointers);
// SAFETY: the pins outlive the call, and pieces write to different outputs.
unsafe impl Sync for Origins {}

/// Places for the accumulators of parts.
struct Results(*mut [u64; 2]);
// SAFETY: every part writes to its own place.
unsafe impl Sync for Results {}

impl Results {
    fn at(&self, slot: usize) -> *mut u8 {
        self.0.wrapping_add(slot).cast()
    }
}

const _: () = assert!(
    BLOCK == LANES * LANES
        && WIDTH <= BLOCK
        && TURNED * WIDEST <= 16 * WIDTH
        && TOGETHER * WIDEST <= 16 * WIDTH
);
