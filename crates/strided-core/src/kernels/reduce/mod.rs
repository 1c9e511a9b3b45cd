//! Reductions: many elements into one, by a tree that depends on their number alone.
//!
//! ```text
//! terms      0 1 2 … 1023 | 1024 …            blocks of BLOCK
//! in a block   lane j takes terms j, j+32, …    LANES running results
//! lanes      32 -> 16 -> 8 -> 4 -> 2 -> 1       merged in halves
//! blocks     ((0 1)(2 3))((4 5)…)               merged pairwise, as in a binary counter
//! ```
//! A *strip* is one output, or some that lie side by side. The terms of a strip come in one of five ways ([`ways`]):
//!
//! ```text
//! along    one output whose terms are adjacent, or gathered into a room: x.sum(1)
//! across   neighbouring outputs, row by row of terms, with lanes for each of them: x.sum(0)
//! narrow   a few neighbouring outputs without gaps: rows of all lanes at once
//! beside   neighbouring outputs with few terms, row by row of terms: x.argmax(1) of short rows
//! transposed   neighbouring outputs, whose terms are transposed around into adjacent ones: x.argmax(0)
//! ```
//! All build the same tree, and threads share strips, or parts of a strip that are whole subtrees. So the bits depend
//! neither on the CPU, nor on gaps between the elements, nor on the number of threads. Terms are taken in the order in
//! which they lie in memory, or, where the result tells a position, in row-major order. (Which of several NaNs an addition
//! gives is for the compiler to choose: results have one of their own.)

mod fold;
pub mod folds;
mod groups;
pub mod halves;
pub mod logsumexp;
mod reducer;
mod tree;
pub mod truth;
mod ways;

use reducer::Lines;
pub use reducer::Reducer;

use self::tree::Tree;
use super::item::ScalarBytes;
use super::loops::KernelPair;
use super::split::SERIAL_ELEMENTS;
use super::{Kernel, OPERANDS, Pointers, Steps, cast, pair};
use crate::cpu;
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::{Layout, Mode};
use crate::nest::{Loop, Nest, Operand, Order, for_each_run, iterations, shifted, walk_range};
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
const GROUP: usize = 64 * BLOCK;
const GROUP_LEVEL: u32 = (GROUP / BLOCK).ilog2();
/// The most outputs that are worked on side by side.
const WIDTH: usize = 1024;
/// The same where terms must be gathered: those of a lane stay in the first cache.
const GATHERED: usize = 256;
/// Bytes of a row of terms that is transposed around: a cache line.
const TURNED: usize = 64;
/// Single outputs whose accumulators are finished together.
const TOGETHER: usize = 256;
/// Results that are written at once.
const AT_ONCE: usize = 256;
/// Bytes of the widest accumulator.
const WIDEST: usize = 32;
/// Terms of a piece of work for a thread.
const PIECE: usize = GROUP;
/// Terms of a piece that cannot be interrupted.
const LONGEST: usize = 16 << 20;
/// Room for the results of parts that are kept at a time, in pairs of words.
const WAVE: usize = 1 << 18;

/// One step from elements in memory to terms: a cast or an elementwise kernel, whose second operand is a number.
#[derive(Clone, Copy)]
pub struct Stage {
    kernel: Kernel,
    /// Bytes of what it writes.
    size: usize,
    number: ScalarBytes,
}

impl Stage {
    pub fn cast(from: DType, to: DType) -> Stage {
        Stage { kernel: cast::kernel(from, to), size: to.size(), number: ScalarBytes::EMPTY }
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
    pub fn map(kernels: &KernelPair, number: ScalarBytes) -> Stage {
        Stage { kernel: kernels.kernel(), size: kernels.result().size(), number }
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
    if let (Some(Target { out, .. }), None) = (first, second)
        && out.size() == 1
        && reduction.is_short(x)
    {
        return reduction.run_short(x, out);
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
        let (out, size) = (target.out.dtype(), dtype.size());
        let cast = (dtype != out || cpu::reference_kernels()).then(|| cast::kernel(dtype, out));
        Some(Write { cast, copy: cast::kernel(dtype, dtype), size })
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
    job.terms = iterations(&job.reduced);
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
    /// Whether all that there is to do for a single output is one call: most are so.
    pub fn is_short(&self, x: &Tensor) -> bool {
        let dense = x.layout().is_row_major() && (1..=SERIAL_ELEMENTS).contains(&x.size());
        dense && self.stages.is_empty() && !cpu::reference_kernels()
    }

    /// Reduces adjacent terms to the first result, without a plan. Only if it is short.
    pub fn run_short(&self, x: &Tensor, out: &Tensor) -> Result<()> {
        assert!(self.is_short(x) && out.size() == 1);
        let mut room: Room<{ WIDEST / 16 }> = Room::uninit();
        let mut results = [const { Room::<1>::uninit() }; 2];
        let acc = room.as_mut_ptr().cast::<u8>();
        let places = results.each_mut().map(|result| result.as_mut_ptr().cast::<u8>());
        let reducer = self.reducer;
        let write = cast::kernel(reducer.gives[0].expect("it gives something"), out.dtype());
        let wanted = [Some((out, Access::Write)), Some((x, Access::Read))];
        let [Some(out), Some(from)] = pin_each(wanted)? else { unreachable!("both were asked for") };
        // SAFETY: both are pinned; the terms are adjacent, and there are rooms for the accumulator and the results.
        unsafe {
            (reducer.block)(&Lines::one(from.origin, x.size(), 0), acc);
            (reducer.finish)(acc, 1, x.size(), self.number, places);
            write(&pair(out.origin, places[0], null_mut()), &[0; OPERANDS], 1);
        }
        Ok(())
    }
}

/// How terms come to a strip.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Along,
    Across,
    Narrow,
    Beside,
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
    /// Of the outputs that are wanted.
    write: [Option<Write>; 2],
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

/// How results get to their output.
#[derive(Clone, Copy)]
struct Write {
    /// If it has another dtype.
    cast: Option<Kernel>,
    copy: Kernel,
    /// Bytes of what the reducer gives.
    size: usize,
}

/// Room for `N` terms or accumulators of 16 bytes.
type Room<const N: usize> = MaybeUninit<[[u64; 2]; N]>;

impl Job<'_> {
    /// Takes outputs side by side where their terms lie so, or where they have few of them.
    fn look_aside(&mut self) {
        let Some(&columns) = self.strips.last() else { return };
        let Some(inner) = self.reduced.last() else { return };
        let beside = columns.steps[1] != 0 && columns.steps[1].abs() < inner.steps[1].abs();
        let short = self.terms <= self.longest_beside() && columns.extent >= 16;
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
            None if self.reducer.beside.is_some() && short => (Way::Beside, GATHERED),
            _ if beside => (Way::Turned, TURNED / self.size),
            _ => return,
        };
        (self.way, self.width, self.columns) = (way, width, columns);
        *self.strips.last_mut().expect("seen above") = Loop {
            extent: columns.extent.div_ceil(width),
            steps: columns.steps.map(|step| step * width as isize),
        };
    }

    /// The most adjacent terms of outputs that are taken side by side: more of them are reduced one after the other in
    /// less time than they are transposed around in.
    fn longest_beside(&self) -> usize {
        if self.reducer.weight > 1 {
            LANES
        } else if self.in_place {
            (96 / self.size).min(16)
        } else {
            0
        }
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
        let strips = iterations(&self.strips);
        let each = self.width * self.terms.max(1) * self.reducer.weight;
        let work = strips.saturating_mul(each);
        let shared = threads::should_parallelize(work);
        if work <= SERIAL_ELEMENTS {
            // SAFETY: the caller's promise.
            unsafe { self.whole_strips(&start, 0..strips) };
            return Ok(());
        }
        let origins = Origins(start);
        let origins = &origins;
        if strips >= 16 && each <= LONGEST || each <= 2 * PIECE {
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
                walk_range(&self.strips, origins.0, strip..strip + 1, |at| {
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
        walk_range(&self.strips, origins.0, 0..strips, |at| {
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
        for_each_run(&self.strips, *start, strips, |at, n| {
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

    /// Writes results, from an address and with steps for each output: by way of a room where they are cast or do not
    /// lie side by side.
    unsafe fn finish(&self, at: &Pointers, steps: &Steps, acc: *const u8, width: usize) {
        let mut rooms = [const { Room::<AT_ONCE>::uninit() }; 2];
        for first in (0..width).step_by(AT_ONCE) {
            let (n, at) = (AT_ONCE.min(width - first), shifted(at, steps, first as isize));
            let mut places = rooms.each_mut().map(|room| room.as_mut_ptr().cast::<u8>());
            let mut casts = [None; 2];
            for (k, write) in self.write.iter().enumerate() {
                match *write {
                    Some(Write { cast: None, size, .. }) if steps[2 * k] == size as isize => {
                        places[k] = at[2 * k]
                    }
                    other => casts[k] = other,
                }
            }
            // SAFETY: the callers have `width` accumulators, and outputs at the addresses.
            unsafe {
                let acc = acc.add(first * self.reducer.bytes);
                (self.reducer.finish)(acc, n, self.terms, self.number, places);
                for (k, write) in casts.into_iter().enumerate() {
                    if let Some(Write { cast, copy, size }) = write {
                        let steps = pair(steps[2 * k], size as isize, 0);
                        cast.unwrap_or(copy)(&pair(at[2 * k], places[k], null_mut()), &steps, n);
                    }
                }
            }
        }
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
        && SERIAL_ELEMENTS <= GROUP
        && WIDTH <= BLOCK
        && TURNED * WIDEST <= 16 * WIDTH
        && TOGETHER * WIDEST <= 16 * WIDTH
);
