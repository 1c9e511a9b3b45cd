//! The plan of a reduction: its loops, and how terms reach their accumulators. It is made before any element is read.

use super::reducer::{REGISTER_OUTPUTS, Reducer};
use super::{LANES, MAX_GATHERED_OUTPUTS, MAX_STRIP_OUTPUTS, TRANSPOSED_ROW_BYTES};
use crate::cpu;
use crate::kernels::OPERANDS;
use crate::nest::{Loop, Nest, iterations};
use crate::threads;
use smallvec::SmallVec;

/// A loop over rows of terms pays off for at least this many neighbouring outputs.
const MIN_ROW_OUTPUTS: usize = 16;

/// How the terms of a strip reach their accumulators. In the drawings `t` is a term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Strategy {
    /// One output at a time. Its terms are contiguous and are read in place: `x.sum(1)`.
    ///
    /// ```text
    /// t t t t t t t   -> out 0
    /// t t t t t t t   -> out 1
    /// ```
    Contiguous,
    /// One output at a time. Its terms have gaps or pass through stages, and are gathered into scratch block by block:
    /// `x[:, ::2].sum(1)`, or the sum of int32 elements as int64.
    ///
    /// ```text
    /// t . t . t . t   -> t t t t   -> out 0
    /// t . t . t . t   -> t t t t   -> out 1
    /// ```
    Gathered,
    /// Neighbouring outputs together, one row of terms after the other. Row `i` goes to lane `i % 32` of every output:
    /// `x.sum(0)`. Rows are contiguous, or are gathered into scratch.
    ///
    /// ```text
    /// row  0   t t t t t …   lane 0
    /// row  1   t t t t t …   lane 1
    /// …
    /// row 32   t t t t t …   lane 0
    ///          v v v v v
    ///    out   0 1 2 3 4 …
    /// ```
    Rows,
    /// At most 32 neighbouring outputs, whose rows follow each other without gaps: `x.sum(0)` of an n x 3 matrix. The
    /// rows of all lanes are one contiguous run, so a block is 32 such runs, added to each other.
    ///
    /// ```text
    /// rows  0 … 31   t t t|t t t|t t t|…   lanes 0, 1, 2, … of all outputs
    /// rows 32 … 63   t t t|t t t|t t t|…   added to the same
    /// ```
    NarrowRows,
    /// Neighbouring outputs with at most 32 terms each, for folds without lanes: `x.argmax(1)` of ten classes. Row `i`
    /// holds the `i`-th term of every output. Terms that are adjacent in memory are transposed first.
    ///
    /// ```text
    /// row 0   t t t t t …
    /// row 1   t t t t t …
    /// …       v v v v v
    ///   out   0 1 2 3 4 …
    /// ```
    FewTerms,
    /// Neighbouring outputs, for folds without lanes or too few outputs for [`Strategy::Rows`]: `x.argmax(0)`. Blocks
    /// of terms are transposed in registers into scratch, and then reduced as contiguous ones.
    ///
    /// ```text
    /// t t t         t t t t …   -> out 0
    /// t t t   ->    t t t t …   -> out 1
    /// t t t         t t t t …   -> out 2
    /// t t t
    /// ```
    Transposed,
}

/// The loops of a reduction and the strategy for its strips.
pub(super) struct ReductionPlan {
    pub(super) strategy: Strategy,
    /// The loops over strips. Where a strip has several outputs, the last loop runs over the strips of one row of
    /// outputs.
    pub(super) strips: SmallVec<[Loop; 4]>,
    /// The loop over all outputs of such a row, across its strips.
    pub(super) columns: Loop,
    /// The loops over the terms of an output.
    pub(super) reduced: SmallVec<[Loop; 4]>,
    /// Terms per output.
    pub(super) terms: usize,
    /// Outputs per strip; the last strip of a row may have fewer.
    pub(super) width: usize,
    /// Bytes per term.
    pub(super) term_bytes: usize,
    /// True if elements are terms already: there are no stages, and the reference kernels are not in use.
    pub(super) in_place: bool,
}

impl ReductionPlan {
    /// Plans the loops of a nest whose operands are a result, the elements, and a second result.
    pub(super) fn new(nest: &Nest, reducer: &Reducer, in_place: bool) -> ReductionPlan {
        let mut plan = ReductionPlan {
            strategy: Strategy::Gathered,
            strips: SmallVec::new(),
            columns: Loop { extent: 1, steps: [0; OPERANDS] },
            reduced: SmallVec::new(),
            terms: 1,
            width: 1,
            term_bytes: reducer.terms.size(),
            in_place,
        };
        for &l in nest.loops() {
            // The output has an extent of 1 along reduced dims, and broadcasting makes its step 0 there.
            if l.steps[0] == 0 { plan.reduced.push(l) } else { plan.strips.push(l) }
        }
        plan.terms = iterations(&plan.reduced);
        if in_place && plan.single_loop_step() == Some(plan.term_bytes as isize) {
            plan.strategy = Strategy::Contiguous;
        }
        if !cpu::reference_kernels() {
            plan.join_outputs(reducer);
        }
        plan
    }

    /// Makes strips of several outputs, where their terms are neighbours in memory or few.
    fn join_outputs(&mut self, reducer: &Reducer) {
        let Some(&columns) = self.strips.last() else { return };
        let Some(inner) = self.reduced.last() else { return };
        let neighbours = columns.steps[1] != 0 && columns.steps[1].abs() < inner.steps[1].abs();
        let few_terms = self.terms <= self.max_few_terms(reducer) && columns.extent >= MIN_ROW_OUTPUTS;
        if !(neighbours || few_terms) || self.terms == 0 {
            return;
        }
        let has_lanes = reducer.row_loops.is_some();
        let contiguous = self.in_place && columns.steps[1] == self.term_bytes as isize;
        let (strategy, width) = if has_lanes && self.is_narrow(&columns) {
            (Strategy::NarrowRows, columns.extent)
        } else if has_lanes && columns.extent >= MIN_ROW_OUTPUTS && contiguous {
            // Wide strips, to read long runs of memory, but enough of them for all threads.
            let share = columns.extent.div_ceil(2 * threads::limit());
            let width = share.next_multiple_of(REGISTER_OUTPUTS);
            (Strategy::Rows, width.clamp(MAX_GATHERED_OUTPUTS, MAX_STRIP_OUTPUTS))
        } else if has_lanes && columns.extent >= MIN_ROW_OUTPUTS {
            (Strategy::Rows, MAX_GATHERED_OUTPUTS)
        } else if !has_lanes && reducer.few_terms.is_some() && few_terms {
            (Strategy::FewTerms, MAX_GATHERED_OUTPUTS)
        } else if neighbours {
            (Strategy::Transposed, TRANSPOSED_ROW_BYTES / self.term_bytes)
        } else {
            return;
        };
        (self.strategy, self.width, self.columns) = (strategy, width, columns);
        *self.strips.last_mut().expect("`columns` is a copy of it") = Loop {
            extent: columns.extent.div_ceil(width),
            steps: columns.steps.map(|step| step * width as isize),
        };
    }

    /// The number of terms per output up to which outputs are joined although the terms of each are adjacent. With more
    /// terms, one output after the other is faster than a transposition. The limit is 16 terms (12 of float64), or 32
    /// for a costly fold such as `logsumexp`. It is 0 for other folds whose terms pass through stages.
    fn max_few_terms(&self, reducer: &Reducer) -> usize {
        if reducer.weight > 1 {
            LANES
        } else if self.in_place {
            (96 / self.term_bytes).min(16)
        } else {
            0
        }
    }

    /// True if rows of terms are short and follow each other without gaps: those of all lanes are one contiguous run.
    fn is_narrow(&self, columns: &Loop) -> bool {
        let size = self.term_bytes as isize;
        let dense =
            columns.steps[1] == size && self.single_loop_step() == Some(columns.extent as isize * size);
        dense && self.in_place && columns.extent * LANES <= MAX_STRIP_OUTPUTS
    }

    /// The step in bytes between the terms of an output, if they need only one loop.
    pub(super) fn single_loop_step(&self) -> Option<isize> {
        match &self.reduced[..] {
            [only] => Some(only.steps[1]),
            _ => None,
        }
    }

    /// The step in bytes between the terms of the innermost loop; 0 if an output has one term.
    pub(super) fn inner_step(&self) -> isize {
        self.reduced.last().map_or(0, |l| l.steps[1])
    }

    /// True if rows of terms are contiguous and are read in place.
    pub(super) fn has_contiguous_rows(&self) -> bool {
        self.in_place && self.columns.steps[1] == self.term_bytes as isize
    }

    /// Number of outputs of a strip, given its number.
    pub(super) fn width_of(&self, strip: usize) -> usize {
        let (width, extent) = (self.width, self.columns.extent);
        width.min(extent - strip % extent.div_ceil(width) * width)
    }
}
