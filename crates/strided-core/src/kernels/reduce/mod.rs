//! Reductions: many elements become one, by a tree whose shape depends on their number alone.
//!
//! ```text
//! terms         0 1 2 … 1023 | 1024 …          blocks of BLOCK terms
//! in a block    lane j takes terms j, j+32, …    LANES running results
//! lanes         32 -> 16 -> 8 -> 4 -> 2 -> 1     merged in halves
//! blocks        ((0 1)(2 3))((4 5)…)             merged pairwise, as in a binary counter
//! ```
//!
//! * A *term* is an element after its stages: casts and elementwise functions, applied a block at a time in the L1
//!   cache. So `norm(3)` is `abs`, `pow` and a sum, without a loop of its own.
//! * A *fold* is the reduction itself ([`fold::Fold`]): what a block of terms becomes, how two neighbours merge, and
//!   what the result is. A result may be a pair: `max` and its position, variance and mean.
//! * A *group* is [`LANES`] adjacent terms, one for each lane. A *block* is [`BLOCK`] adjacent terms, and a *chunk*
//!   [`CHUNK`] adjacent terms, which are reduced in one call.
//! * A *strip* is one output, or up to [`MAX_STRIP_OUTPUTS`] neighbouring outputs that are computed together.
//! * A *part* is some terms of a strip that make a whole subtree: the unit of work where few outputs have many terms.
//!
//! A [`ReductionPlan`](plan::ReductionPlan) holds the loops over strips and terms, and a strategy that brings terms to
//! accumulators. Every strategy builds the same tree, and threads share strips, or parts of a strip. So the bits of a
//! result depend neither on the CPU, nor on the strides, nor on the number of threads. Terms are taken in memory order,
//! or in row-major order where the result is a position. (Which of several NaNs an addition returns is up to the
//! compiler: results carry a canonical NaN instead.)

mod execute;
mod fold;
pub mod folds;
mod groups;
pub mod halves;
pub mod logsumexp;
mod plan;
mod reducer;
mod strategies;
mod tree;
pub mod truth;

pub use reducer::Reducer;

use self::execute::{PlannedReduction, ResultWrite};
use self::plan::ReductionPlan;
use self::reducer::{AccumulatorUnit, TermLines};
use super::item::ScalarBytes;
use super::loops::ElementwiseKernels;
use super::split::SERIAL_ELEMENTS;
use super::{Kernel, OPERANDS, cast, pair};
use crate::cpu;
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::{Layout, Mode};
use crate::nest::{Nest, Operand, Order};
use crate::storage::Access;
use crate::tensor::{Tensor, pin_all, pin_each};
use std::ptr::null_mut;

/// Running results per block. Terms `j`, `j + LANES`, … go to lane `j`.
const LANES: usize = 32;
/// Terms per leaf of the tree.
const BLOCK: usize = 1024;
/// Adjacent terms that are reduced in one call. The loop over them does not prefetch: with memory in large pages,
/// prefetching took 15 to 25 % longer, whether terms came from the last-level cache or from memory.
const CHUNK: usize = 64 * BLOCK;
/// The level of a chunk in the tree, where blocks are level 0.
const CHUNK_LEVEL: u32 = (CHUNK / BLOCK).ilog2();
/// Upper limit of the outputs of a strip.
const MAX_STRIP_OUTPUTS: usize = 1024;
/// Upper limit of the outputs of a strip whose terms are gathered: the terms of a lane stay in the L1 cache.
const MAX_GATHERED_OUTPUTS: usize = 256;
/// Bytes of a row of terms that is transposed: a cache line.
const TRANSPOSED_ROW_BYTES: usize = 64;
/// Size of the largest element of any dtype: complex128.
const MAX_ELEMENT_BYTES: usize = 16;
/// Size of the largest accumulator of any fold.
const MAX_ACCUMULATOR_BYTES: usize = 32;
/// Size of the largest accumulator of a fold with lanes, of which a strip may have [`MAX_STRIP_OUTPUTS`].
const MAX_LANE_BYTES: usize = 16;

/// One step from elements in memory to terms: a cast, or an elementwise kernel whose second operand is a scalar.
#[derive(Clone, Copy)]
pub struct Stage {
    kernel: Kernel,
    /// Bytes per element of what it writes.
    size: usize,
    scalar: ScalarBytes,
}

impl Stage {
    pub fn cast(from: DType, to: DType) -> Stage {
        Stage { kernel: cast::kernel(from, to), size: to.size(), scalar: ScalarBytes::EMPTY }
    }

    /// A function of one operand, or of an operand and a scalar.
    pub fn map(kernels: &ElementwiseKernels, scalar: ScalarBytes) -> Stage {
        Stage { kernel: kernels.kernel(), size: kernels.result().size(), scalar }
    }

    /// Applies the stage to `n` elements. Operands are an address and a step in bytes.
    ///
    /// # Safety
    /// For every `i < n`, `from.0 + i * from.1` is a readable element of the stage's input dtype, and `to.0 + i * to.1`
    /// a writable one of its output dtype.
    unsafe fn run(&self, to: (*mut u8, isize), from: (*mut u8, isize), n: usize) {
        let mut pointers = pair(to.0, from.0, null_mut());
        pointers[2] = self.scalar.address();
        // SAFETY: operands 0 and 1 are this function's contract; operand 2 is the scalar, read with step 0.
        unsafe { (self.kernel)(&pointers, &pair(to.1, from.1, 0), n) }
    }
}

/// How elements become results.
pub struct Reduction<'a> {
    pub reducer: &'a Reducer,
    /// From the elements' dtype to that of the terms; empty if they are the same.
    pub stages: &'a [Stage],
    /// True if a result is a position, so that terms are taken in row-major order.
    pub ordered: bool,
    /// The parameter of folds that have one: the correction of a variance.
    pub parameter: f64,
}

/// A destination of results: an output, and its layout with extents of 1 for reduced dims.
pub struct ReductionTarget<'a> {
    pub out: &'a Tensor,
    pub keepdim_layout: &'a Layout,
}

/// Reduces `x` into one or both of the reducer's results.
///
/// # Panics
/// If there is no target, or if a target's layout is not `x`'s with extents of 1 for the reduced dims.
pub fn run<'a>(reduction: &Reduction, x: &Tensor, targets: [Option<ReductionTarget<'a>>; 2]) -> Result<()> {
    for ReductionTarget { out, keepdim_layout } in targets.iter().flatten() {
        let fits = |(a, b): (&Mode, &Mode)| a.extent == b.extent || a.extent == 1;
        assert!(keepdim_layout.rank() == x.layout().rank());
        assert!(keepdim_layout.modes().iter().zip(x.layout().modes()).all(fits));
        assert!(keepdim_layout.bounds() == out.layout().bounds());
    }
    let [first, second] = &targets;
    if let (Some(ReductionTarget { out, .. }), None) = (first, second)
        && out.size() == 1
        && reduction.is_one_call(x)
    {
        return reduction.run_one_call(x, out);
    }
    let nest = nest_of(reduction, x, &targets);
    // Terms that need no stage, but have gaps, are gathered by a copy.
    let copy = [Stage::cast(x.dtype(), x.dtype())];
    let reducer = reduction.reducer;
    let in_place = reduction.stages.is_empty() && !cpu::reference_kernels();
    let planned = PlannedReduction {
        reducer,
        parameter: reduction.parameter,
        stages: if reduction.stages.is_empty() { &copy } else { reduction.stages },
        writes: [0, 1].map(|k| {
            let out = targets[k].as_ref()?.out;
            Some(ResultWrite::new(reducer.results[k].expect("the fold has this result"), out.dtype()))
        }),
        plan: ReductionPlan::new(&nest, reducer, in_place),
    };
    let write = |target: &Option<ReductionTarget<'a>>| target.as_ref().map(|t| (t.out, Access::Write));
    let pins = pin_each([write(first), Some((x, Access::Read)), write(second)])?;
    let mut origins = [null_mut(); OPERANDS];
    for (origin, pin) in origins.iter_mut().zip(&pins) {
        *origin = pin.as_ref().map_or(null_mut(), |pin| pin.origin);
    }
    // SAFETY: `pin_each` pinned the tensors for the layouts that the nest and so the plan were made of. The
    // caller chose stages that lead from `x`'s dtype to that of the reducer's terms.
    unsafe { planned.run(nest.start(origins)) }
}

/// The loops over outputs and terms: operands are the first result, `x`, and the second result. A result that is not
/// wanted has the layout of the other one.
fn nest_of(reduction: &Reduction, x: &Tensor, [first, second]: &[Option<ReductionTarget>; 2]) -> Nest {
    fn operand<'a>(target: Option<&'a ReductionTarget>) -> Operand<'a> {
        let ReductionTarget { out, keepdim_layout } = target.expect("at least one result is wanted");
        Operand { layout: keepdim_layout, size: out.dtype().size() }
    }
    let operands = [
        operand(first.as_ref().or(second.as_ref())),
        Operand { layout: x.layout(), size: x.dtype().size() },
        operand(second.as_ref().or(first.as_ref())),
    ];
    let order = if reduction.ordered { Order::RowMajor } else { Order::Free };
    Nest::new(x.layout(), &operands, order)
}

impl Reduction<'_> {
    /// True if the whole reduction to a single output is one call of the reducer, which most are: a small tensor,
    /// row-major, whose elements are terms already. It needs neither a plan nor a nest.
    pub fn is_one_call(&self, x: &Tensor) -> bool {
        let dense = x.layout().is_row_major() && (1..=SERIAL_ELEMENTS).contains(&x.size());
        dense && self.stages.is_empty() && !cpu::reference_kernels()
    }

    /// Reduces all of `x` to the first result.
    ///
    /// # Panics
    /// If [`Reduction::is_one_call`] is false, or `out` does not have one element.
    pub fn run_one_call(&self, x: &Tensor, out: &Tensor) -> Result<()> {
        assert!(self.is_one_call(x) && out.size() == 1);
        let mut acc = [AccumulatorUnit::UNINIT; AccumulatorUnit::count(MAX_ACCUMULATOR_BYTES)];
        let mut results = [AccumulatorUnit::UNINIT; 2];
        let acc = acc.as_mut_ptr().cast::<u8>();
        let results = results.each_mut().map(|result| std::ptr::from_mut(result).cast::<u8>());
        let reducer = self.reducer;
        let write = cast::kernel(reducer.results[0].expect("every fold has a first result"), out.dtype());
        pin_all!(out: Write out, from: Read x);
        // SAFETY: `pin_all` pinned both tensors. `is_one_call` established that the terms are adjacent, at least one
        // and at most SERIAL_ELEMENTS <= CHUNK. `acc` and `results` are large and aligned enough for any accumulator
        // and element.
        unsafe {
            (reducer.block)(&TermLines::one(from.origin, x.size(), 0), acc);
            (reducer.finish)(acc, 1, x.size(), self.parameter, results);
            write(&pair(out.origin, results[0], null_mut()), &[0; OPERANDS], 1);
        }
        Ok(())
    }
}

const _: () = assert!(BLOCK == LANES * LANES && SERIAL_ELEMENTS <= CHUNK && MAX_STRIP_OUTPUTS <= BLOCK);
