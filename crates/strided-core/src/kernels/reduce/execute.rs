//! Runs a planned reduction: strips shared among threads, and results written to their outputs.

use super::plan::{ReductionPlan, Strategy};
use super::reducer::{AccumulatorUnit, Reducer};
use super::tree::Tree;
use super::{
    BLOCK, CHUNK, MAX_ACCUMULATOR_BYTES, MAX_ELEMENT_BYTES, MAX_GATHERED_OUTPUTS, MAX_LANE_BYTES,
    MAX_STRIP_OUTPUTS, Stage, TRANSPOSED_ROW_BYTES,
};
use crate::alloc::{try_collect_ok, try_vec};
use crate::cpu;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::scratch::Scratch;
use crate::kernels::split::SERIAL_ELEMENTS;
use crate::kernels::{Kernel, OPERANDS, Pointers, Steps, cast, pair};
use crate::nest::{for_each_run, iterations, shifted, walk_range};
use crate::threads::{self, Shared};
use std::ops::Range;
use std::ptr::null_mut;

/// Single outputs that are reduced in one call, and whose results are written together.
const OUTPUTS_PER_CALL: usize = 256;
/// Results that are computed and written at a time.
const RESULTS_PER_WRITE: usize = 256;
/// Terms of a task for a thread, weighted by the cost of the fold.
const TASK_TERMS: usize = CHUNK;
/// Terms of the longest task: a call can only be interrupted between tasks.
const MAX_TASK_TERMS: usize = 16 << 20;
/// If there are at least this many strips, each is one task; fewer strips are cut into parts.
const MIN_STRIP_TASKS: usize = 16;
/// Upper limit of the accumulators of parts that are stored at a time: 4 MB.
const MAX_PARTIAL_UNITS: usize = 1 << 18;
/// Bytes for the accumulators of any strip, and of any single outputs that are reduced in one call.
const STRIP_ACCUMULATOR_BYTES: usize = MAX_STRIP_OUTPUTS * MAX_LANE_BYTES;

const _: () = assert!(
    OUTPUTS_PER_CALL * MAX_ACCUMULATOR_BYTES <= STRIP_ACCUMULATOR_BYTES
        && MAX_GATHERED_OUTPUTS * MAX_ACCUMULATOR_BYTES <= STRIP_ACCUMULATOR_BYTES
        && TRANSPOSED_ROW_BYTES * MAX_ACCUMULATOR_BYTES <= STRIP_ACCUMULATOR_BYTES
);

/// A reduction with all that is needed to run it, except for the addresses.
pub(super) struct PlannedReduction<'a> {
    pub(super) reducer: &'a Reducer,
    pub(super) parameter: f64,
    /// How elements are gathered as terms: at least one stage, which may be a plain copy.
    pub(super) stages: &'a [Stage],
    /// How each result is written; `None` if it is not wanted.
    pub(super) writes: [Option<ResultWrite>; 2],
    pub(super) plan: ReductionPlan,
}

/// How results are written to an output.
#[derive(Clone, Copy)]
pub(super) struct ResultWrite {
    /// From the reducer's dtype to that of the output.
    convert: Kernel,
    /// True if results may be written to the output directly: it has the reducer's dtype.
    same_dtype: bool,
    /// Bytes of a result in the reducer's dtype.
    size: usize,
}

impl ResultWrite {
    pub(super) fn new(from: DType, to: DType) -> ResultWrite {
        let same_dtype = from == to && !cpu::reference_kernels();
        ResultWrite { convert: cast::kernel(from, to), same_dtype, size: from.size() }
    }
}

impl PlannedReduction<'_> {
    /// Reduces everything. `start` has the addresses of the first output, input and second output.
    ///
    /// # Safety
    /// The tensors are pinned, and the plan's loops stay within them from these addresses on. The stages lead from the
    /// dtype of the elements to that of the reducer's terms.
    pub(super) unsafe fn run(&self, start: Pointers) -> Result<()> {
        let strips = iterations(&self.plan.strips);
        let strip_work = self.plan.width * self.plan.terms.max(1) * self.reducer.weight;
        let work = strips.saturating_mul(strip_work);
        let shared = threads::should_parallelize(work);
        if work <= SERIAL_ELEMENTS {
            // SAFETY: forwarded from this function's contract; all strips are in the range.
            unsafe { self.whole_strips(&start, 0..strips) };
            return Ok(());
        }
        let origins = Shared::new(start);
        if strips >= MIN_STRIP_TASKS && strip_work <= MAX_TASK_TERMS || strip_work <= 2 * TASK_TERMS {
            let per_task = (TASK_TERMS / strip_work.max(1)).max(1);
            return threads::for_each_piece(strips.div_ceil(per_task), shared, &|i| {
                let task = i * per_task..strips.min((i + 1) * per_task);
                // SAFETY: forwarded from this function's contract; each strip is in one task only.
                unsafe { self.whole_strips(&origins.get(), task) }
            });
        }
        // SAFETY: forwarded from this function's contract.
        unsafe { self.parted_strips(origins, strips, shared) }
    }

    /// Reduces few strips with many terms each. Threads share parts of `2^k` blocks, which are whole subtrees, so the
    /// tree does not depend on the threads. Parts come in waves, which bounds the accumulators that are stored.
    ///
    /// # Safety
    /// As for `run`; `strips` is the number of strips.
    unsafe fn parted_strips(&self, origins: Shared<Pointers>, strips: usize, shared: bool) -> Result<()> {
        let plan = &self.plan;
        let blocks = (TASK_TERMS / BLOCK / plan.width / self.reducer.weight).max(1);
        let level = blocks.next_power_of_two().ilog2();
        let part_terms = BLOCK << level;
        let parts = plan.terms.div_ceil(part_terms);
        let levels = level + parts.next_power_of_two().ilog2() + 1;
        let tree = |strip| Tree::with_levels(self.reducer, plan.width_of(strip), levels);
        let mut trees = try_collect_ok((0..strips).map(tree))?;
        let units = Tree::new(self.reducer, plan.width).level_units();
        let max_wave = (MAX_PARTIAL_UNITS / units / strips).clamp(1, parts);
        let mut partial = try_vec::<AccumulatorUnit>(strips * max_wave * units)?;
        let partial = Shared::new(partial.as_mut_ptr());
        let mut first = 0;
        while first < parts {
            let wave = max_wave.min(parts - first);
            threads::for_each_piece(strips * wave, shared, &|i| {
                let (strip, part) = (i / wave, first + i % wave);
                let terms = part * part_terms..plan.terms.min((part + 1) * part_terms);
                walk_range(&plan.strips, origins.get(), strip..strip + 1, |at| {
                    // SAFETY: `at` is the address of this strip, by the contract of `run`; the units from `i * units`
                    // on belong to this part alone, and hold the accumulators of the widest strip.
                    unsafe {
                        self.strip(at, plan.width_of(strip), terms.clone(), partial.at(i * units).cast())
                    }
                });
            })?;
            for (strip, tree) in trees.iter_mut().enumerate() {
                for part in 0..wave {
                    // SAFETY: the task of this part, which has ended, wrote its accumulators there.
                    unsafe { tree.push(partial.at((strip * wave + part) * units).cast(), level) };
                }
            }
            first += wave;
        }
        let mut trees = trees.iter_mut();
        walk_range(&plan.strips, origins.get(), 0..strips, |at| {
            let tree = trees.next().expect("a tree for each strip");
            // SAFETY: `at` is the address of this strip, by the contract of `run`. All parts were pushed, so the stored
            // ones are free to be overwritten; their first units hold the accumulators of the widest strip.
            unsafe {
                tree.finish(partial.get().cast());
                self.finish(at, &plan.columns.steps, partial.get().cast(), tree.width());
            }
        });
        Ok(())
    }

    /// Reduces strips one after the other. Up to [`OUTPUTS_PER_CALL`] single outputs are one call of the reducer where
    /// their terms are few, as in `x.sum(1)`, and their results are written together.
    ///
    /// # Safety
    /// As for `run`; the strips exist, and no other thread has them.
    unsafe fn whole_strips(&self, start: &Pointers, strips: Range<usize>) {
        let plan = &self.plan;
        let mut scratch = Scratch::<STRIP_ACCUMULATOR_BYTES>::new();
        let acc = scratch.start();
        let strip_steps = plan.strips.last().map_or([0; OPERANDS], |l| l.steps);
        let single = matches!(plan.strategy, Strategy::Contiguous | Strategy::Gathered);
        let mut strip = strips.start;
        for_each_run(&plan.strips, *start, strips, |at, n| {
            let mut done = 0;
            while done < n {
                let at = shifted(at, &strip_steps, done as isize);
                let (count, width, steps) = if single {
                    (OUTPUTS_PER_CALL.min(n - done), 1, &strip_steps)
                } else {
                    (1, plan.width_of(strip), &plan.columns.steps)
                };
                // SAFETY: `at` is the address of the strip, by the contract of `run`, and `count` strips follow. The
                // scratch holds the accumulators of any strip, and of OUTPUTS_PER_CALL single outputs: asserted above.
                unsafe {
                    if plan.terms == 0 {
                        (self.reducer.fill_empty)(acc, count * width);
                    } else if !(single && self.lines(&at, strip_steps[1], count, acc)) {
                        for i in 0..count {
                            let acc = acc.add(i * self.reducer.accumulator_bytes);
                            self.strip(&shifted(&at, &strip_steps, i as isize), width, 0..plan.terms, acc);
                        }
                    }
                    self.finish(&at, steps, acc, count * width);
                }
                done += count;
                strip += count;
            }
        });
    }

    /// Writes the results of `width` accumulators to outputs at an address, with steps between them. Results go
    /// straight to the output, a register at a time, unless they are cast or the output is strided: then they pass
    /// through scratch.
    ///
    /// # Safety
    /// `acc` points to `width` initialised accumulators. For every wanted result `k` and `i < width`, the address
    /// `at[2k] + i * steps[2k]` is a writable element of its output, which no other thread accesses.
    unsafe fn finish(&self, at: &Pointers, steps: &Steps, acc: *const u8, width: usize) {
        let mut scratch = [const { Scratch::<{ RESULTS_PER_WRITE * MAX_ELEMENT_BYTES }>::NEW }; 2];
        for first in (0..width).step_by(RESULTS_PER_WRITE) {
            let (n, at) = (RESULTS_PER_WRITE.min(width - first), shifted(at, steps, first as isize));
            let mut destinations = scratch.each_mut().map(|scratch| scratch.start());
            let mut indirect = [None; 2];
            for (k, write) in self.writes.iter().enumerate() {
                match *write {
                    Some(ResultWrite { same_dtype: true, size, .. }) if steps[2 * k] == size as isize => {
                        destinations[k] = at[2 * k]
                    }
                    other => indirect[k] = other,
                }
            }
            // SAFETY: `n` accumulators remain from `first` on. A destination is scratch for RESULTS_PER_WRITE
            // results, or an output whose contiguous elements are this function's contract. What is converted was
            // written by `finish`.
            unsafe {
                let acc = acc.add(first * self.reducer.accumulator_bytes);
                (self.reducer.finish)(acc, n, self.plan.terms, self.parameter, destinations);
                for (k, write) in indirect.into_iter().enumerate() {
                    if let Some(ResultWrite { convert, size, .. }) = write {
                        let steps = pair(steps[2 * k], size as isize, 0);
                        convert(&pair(at[2 * k], destinations[k], null_mut()), &steps, n);
                    }
                }
            }
        }
    }
}
