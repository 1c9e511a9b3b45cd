//! The loops of a reduction, compiled for one fold and one type of terms. Their callers see accumulators as bytes.

#![allow(clippy::needless_range_loop)] // as in `kernels::loops`

use super::fold::{Fold, FoldByLanes, FoldResult, LaneFold, PlainColumns};
use super::groups::column;
use super::{CHUNK, MAX_ACCUMULATOR_BYTES, MAX_LANE_BYTES};
use crate::cpu::{Specialised, dispatch, dispatch_or_reference};
use crate::dtype::DType;
use crate::kernels::scratch::Scratch;
use crate::scalar::Element;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Outputs whose terms and accumulators fit registers.
pub(super) const REGISTER_OUTPUTS: usize = 16;
/// Lanes that are reduced and merged in one call, before anything is written.
pub(super) const MAX_JOINED_LANES: usize = 8;

/// The unit in which accumulators are stored in arrays and on the heap: uninitialised bytes, as many as the strictest
/// alignment that an accumulator may need. [`Reducer::of`] refuses accumulators with a stricter one at compile time.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(super) struct AccumulatorUnit(MaybeUninit<[u8; 16]>);

impl AccumulatorUnit {
    pub(super) const UNINIT: AccumulatorUnit = AccumulatorUnit(MaybeUninit::uninit());

    /// Units that hold as many bytes.
    pub(super) const fn count(bytes: usize) -> usize {
        bytes.div_ceil(size_of::<AccumulatorUnit>())
    }
}

/// The loops of one fold for terms of one type.
///
/// Accumulators are passed as addresses. Each `acc` has space for one accumulator per output and is aligned for them:
/// it points to a multiple of `accumulator_bytes` within a [`Scratch`] or an array of [`AccumulatorUnit`]s.
#[derive(Clone, Copy)]
pub struct Reducer {
    /// The dtype of the terms.
    pub(super) terms: DType,
    /// The dtypes of the results.
    pub(super) results: [Option<DType>; 2],
    pub(super) accumulator_bytes: usize,
    /// What a term costs, relative to an addition.
    pub(super) weight: usize,
    /// True if zero terms have a result.
    pub(super) has_identity: bool,
    /// `block(lines, acc)`: writes the accumulator of each line. See [`block`].
    pub(super) block: unsafe fn(&TermLines, *mut u8),
    /// `merge(into, from, width)`: `into[i] = merge(into[i], from[i])`. See [`merge`].
    pub(super) merge: unsafe fn(*mut u8, *const u8, usize),
    /// `finish(acc, width, terms, parameter, destinations)`: writes results, contiguous in each destination. See
    /// [`finish`].
    pub(super) finish: unsafe fn(*const u8, usize, usize, f64, [*mut u8; 2]),
    /// `fill_empty(acc, width)`: writes the accumulators of zero terms. See [`fill_empty`].
    pub(super) fill_empty: unsafe fn(*mut u8, usize),
    /// The loops over rows of terms; only folds with lanes have them.
    pub(super) row_loops: Option<RowLoops>,
    /// `few_terms(acc, rows, width)`: reduces neighbouring outputs, given a row for each term. See [`few_terms`].
    pub(super) few_terms: Option<unsafe fn(*mut u8, &[*const u8], usize)>,
}

/// Lines of adjacent terms, at least one and at most [`CHUNK`] terms each. Each line has its own accumulator.
pub(super) struct TermLines {
    pub(super) terms: *const u8,
    /// Terms per line.
    pub(super) n: usize,
    /// The position of a line's first term among the terms of its output.
    pub(super) first: usize,
    /// Number of lines.
    pub(super) count: usize,
    /// Bytes from a line to the next.
    pub(super) step: isize,
}

impl TermLines {
    pub(super) fn one(terms: *const u8, n: usize, first: usize) -> TermLines {
        TermLines { terms, n, first, count: 1, step: 0 }
    }
}

/// The loops over rows of terms, with an accumulator for each column.
#[derive(Clone, Copy)]
pub(super) struct RowLoops {
    /// `add_rows(acc, rows, width, fresh)`: adds rows of terms, one after the other, to the accumulators, or to the
    /// identity where these are `fresh`. See [`add_rows`].
    pub(super) add_rows: unsafe fn(*mut u8, &[*const u8], usize, bool),
    /// `reduce_lanes(acc, lanes, width)`: reduces the rows of each lane, and merges the lanes pairwise. See
    /// [`reduce_lanes`].
    pub(super) reduce_lanes: unsafe fn(*mut u8, &[&[*const u8]], usize),
}

impl Reducer {
    /// The loops of a fold.
    pub const fn of<F: Fold<T>, T: Element>() -> Reducer {
        const {
            assert!(size_of::<F::Acc>() <= MAX_ACCUMULATOR_BYTES);
            // All accumulators are stored in one of these: on the stack, and in trees and partial results.
            assert!(align_of::<F::Acc>() <= align_of::<AccumulatorUnit>());
            assert!(align_of::<F::Acc>() <= align_of::<Scratch<1>>());
        };
        Reducer {
            terms: T::DTYPE,
            results: F::Out::DTYPES,
            accumulator_bytes: size_of::<F::Acc>(),
            weight: F::WEIGHT,
            has_identity: F::EMPTY_RESULT.is_some(),
            block: block::<F, T>,
            merge: merge::<F, T>,
            finish: finish::<F, T>,
            fill_empty: fill_empty::<F, T>,
            row_loops: None,
            few_terms: if F::HAS_FEW_TERMS { Some(few_terms::<F, T>) } else { None },
        }
    }

    /// The loops of a fold with lanes.
    pub const fn of_lanes<L: LaneFold<T>, T: Element>() -> Reducer {
        Reducer::with_lanes::<FoldByLanes<L>, L, T>()
    }

    /// The loops of a fold with lanes that has its own loop `F` for adjacent terms.
    pub const fn with_lanes<F: Fold<T, Acc = L::Lane>, L: LaneFold<T>, T: Element>() -> Reducer {
        const { assert!(size_of::<L::Lane>() <= MAX_LANE_BYTES) };
        let row_loops = RowLoops { add_rows: add_rows::<L, T>, reduce_lanes: reduce_lanes::<L, T> };
        Reducer { row_loops: Some(row_loops), ..Reducer::of::<F, T>() }
    }

    /// The same loops for terms of another dtype of the same size, whose bits mean the same to the fold.
    pub const fn reading(self, terms: DType) -> Reducer {
        assert!(self.terms.size() == terms.size());
        Reducer { terms, ..self }
    }

    /// The same loops for a signed integer: a fold of sums or products wraps, so that its bits do not depend on the sign.
    pub const fn signed(self, dtype: DType) -> Reducer {
        Reducer { results: [Some(dtype), None], ..self.reading(dtype) }
    }

    /// The dtype of the terms.
    pub fn terms(&self) -> DType {
        self.terms
    }

    /// The dtypes of the results.
    pub fn results(&self) -> [Option<DType>; 2] {
        self.results
    }

    /// True if zero terms have a result.
    pub fn has_identity(&self) -> bool {
        self.has_identity
    }
}

/// Runs a task with its code for this CPU. Costly folds have code of their own for the reference kernels, which
/// computes with exact functions.
#[inline(always)]
fn dispatch_fold<F: Fold<T>, T: Copy>(task: impl Specialised) {
    if const { F::WEIGHT > 1 && !F::FUSED_ONLY } { dispatch_or_reference(task) } else { dispatch(task) }
}

/// Writes the accumulator of each line of terms.
///
/// # Safety
/// Each line has `n` readable terms of type `T`; `acc` has space for `lines.count` accumulators.
unsafe fn block<F: Fold<T>, T: Copy>(lines: &TermLines, acc: *mut u8) {
    struct BlockTask<'a, F, T>(&'a TermLines, *mut u8, PhantomData<(F, T)>);
    impl<F: Fold<T>, T: Copy> Specialised for BlockTask<'_, F, T> {
        type Home = F;
        const WIDE: bool = F::WEIGHT > 1;
        const BASELINE: bool = !F::FUSED_ONLY;

        #[inline(always)]
        fn compute<const FAST: bool>(self) {
            let BlockTask(lines, acc, _) = self;
            for i in 0..lines.count {
                let terms = lines.terms.wrapping_offset(i as isize * lines.step).cast::<T>();
                // SAFETY: the contract of `block`: `n` terms in each line, and space for `count` accumulators.
                unsafe {
                    acc.cast::<F::Acc>().add(i).write(F::chunk::<FAST>(terms, lines.n, lines.first));
                }
            }
        }
    }
    debug_assert!((1..=CHUNK).contains(&lines.n));
    debug_assert!(acc.cast::<F::Acc>().is_aligned());
    dispatch_fold::<F, T>(BlockTask::<F, T>(lines, acc, PhantomData))
}

/// Merges accumulators, those of earlier terms first: `into[i] = merge(into[i], from[i])`.
///
/// # Safety
/// `into` and `from` point to `width` initialised accumulators each.
unsafe fn merge<F: Fold<T>, T: Copy>(into: *mut u8, from: *const u8, width: usize) {
    let (into, from) = (into.cast::<F::Acc>(), from.cast::<F::Acc>());
    debug_assert!(into.is_aligned() && from.is_aligned());
    for j in 0..width {
        // SAFETY: the contract of this function, for `j < width`.
        unsafe { into.add(j).write(F::merge(into.add(j).read(), from.add(j).read())) };
    }
}

/// Writes the results of outputs with `terms` terms each.
///
/// # Safety
/// `acc` points to `width` initialised accumulators; each destination of a result has space for `width` elements of its
/// dtype, contiguous and aligned.
unsafe fn finish<F: Fold<T>, T: Copy>(
    acc: *const u8,
    width: usize,
    terms: usize,
    parameter: f64,
    destinations: [*mut u8; 2],
) {
    struct FinishTask<F, T>(*const u8, usize, usize, f64, [*mut u8; 2], PhantomData<(F, T)>);
    impl<F: Fold<T>, T: Copy> Specialised for FinishTask<F, T> {
        type Home = F;
        const WIDE: bool = F::WEIGHT > 1;
        const BASELINE: bool = !F::FUSED_ONLY;

        #[inline(always)]
        fn compute<const FAST: bool>(self) {
            let FinishTask(acc, width, terms, parameter, to, _) = self;
            let whole = whole_registers::<FAST>(width);
            // SAFETY: the contract of `finish`: `width` accumulators, and space for as many results.
            unsafe {
                if const { FAST } {
                    for at in (0..whole).step_by(REGISTER_OUTPUTS) {
                        let all = column(acc, at);
                        let results = F::finish_all::<FAST, REGISTER_OUTPUTS>(all, terms, parameter);
                        F::Out::write(results, to, at);
                    }
                }
                for at in whole..width {
                    F::Out::write(F::finish_all::<FAST, 1>(column(acc, at), terms, parameter), to, at);
                }
            }
        }
    }
    debug_assert!(acc.cast::<F::Acc>().is_aligned());
    dispatch_fold::<F, T>(FinishTask::<F, T>(acc, width, terms, parameter, destinations, PhantomData))
}

/// Writes the accumulators of zero terms.
///
/// # Panics
/// If the fold has no result for zero terms: rules refuse those before.
///
/// # Safety
/// `acc` has space for `width` accumulators.
unsafe fn fill_empty<F: Fold<T>, T: Copy>(acc: *mut u8, width: usize) {
    let empty = F::EMPTY_RESULT.expect("rules refuse zero terms for folds without identity");
    for j in 0..width {
        // SAFETY: the contract of this function, for `j < width`.
        unsafe { acc.cast::<F::Acc>().add(j).write(empty) };
    }
}

/// Adds rows of terms, in their order, to the accumulators of their columns; to the identity if these are `fresh`.
///
/// # Safety
/// Each row has `width` contiguous terms of type `T`. `acc` has space for `width` accumulators, which are initialised
/// unless `fresh`.
unsafe fn add_rows<L: LaneFold<T>, T: Copy>(acc: *mut u8, rows: &[*const u8], width: usize, fresh: bool) {
    struct AddRowsTask<'a, L, T>(*mut u8, &'a [*const u8], usize, bool, PhantomData<(L, T)>);
    impl<L: LaneFold<T>, T: Copy> Specialised for AddRowsTask<'_, L, T> {
        type Home = L;
        const WIDE: bool = false;
        const BASELINE: bool = !L::FUSED_ONLY;

        #[inline(always)]
        fn compute<const FAST: bool>(self) {
            let AddRowsTask(acc, mut rows, width, mut fresh, _) = self;
            // SAFETY: the contract of `add_rows`: `width` accumulators, and as many terms in every row.
            unsafe {
                // Four rows at a time: accumulators are loaded and stored less often, and four streams of memory are
                // read. The baseline is not worth that code.
                if const { FAST } {
                    while let [a, b, c, d, rest @ ..] = rows {
                        add_n_rows::<L, T, 4, FAST>(acc, [*a, *b, *c, *d], width, fresh);
                        (rows, fresh) = (rest, false);
                    }
                    if let [a, b, rest @ ..] = rows {
                        add_n_rows::<L, T, 2, FAST>(acc, [*a, *b], width, fresh);
                        (rows, fresh) = (rest, false);
                    }
                }
                while let [a, rest @ ..] = rows {
                    add_n_rows::<L, T, 1, FAST>(acc, [*a], width, fresh);
                    (rows, fresh) = (rest, false);
                }
                if fresh {
                    for at in 0..width {
                        store(acc, at, [L::IDENTITY]);
                    }
                }
            }
        }
    }
    debug_assert!(acc.cast::<L::Lane>().is_aligned());
    dispatch(AddRowsTask::<L, T>(acc, rows, width, fresh, PhantomData))
}

/// Reduces the rows of each lane, and merges the lanes pairwise: a power of two, at most [`MAX_JOINED_LANES`].
///
/// # Safety
/// Each row has `width` contiguous terms of type `T`; `acc` has space for `width` accumulators.
unsafe fn reduce_lanes<L: LaneFold<T>, T: Copy>(acc: *mut u8, lanes: &[&[*const u8]], width: usize) {
    struct ReduceLanesTask<'a, L, T>(*mut u8, &'a [&'a [*const u8]], usize, PhantomData<(L, T)>);
    impl<L: LaneFold<T>, T: Copy> Specialised for ReduceLanesTask<'_, L, T> {
        type Home = L;
        const WIDE: bool = false;
        const BASELINE: bool = !L::FUSED_ONLY;

        #[inline(always)]
        fn compute<const FAST: bool>(self) {
            let ReduceLanesTask(acc, lanes, width, _) = self;
            // SAFETY: the contract of `reduce_lanes`: space for `width` accumulators, and as many terms in every row.
            unsafe {
                // Two registers of outputs; more where a merge takes several instructions, to make the loop worthwhile.
                match const { if is_heavy::<L, T>() { 4 } else { size_of::<L::Lane>() } } {
                    1 => write_lanes::<L, T, 64, FAST>(acc, lanes, width),
                    2 | 4 => write_lanes::<L, T, 16, FAST>(acc, lanes, width),
                    _ => write_lanes::<L, T, 8, FAST>(acc, lanes, width),
                }
            }
        }
    }
    debug_assert!(acc.cast::<L::Lane>().is_aligned());
    dispatch(ReduceLanesTask::<L, T>(acc, lanes, width, PhantomData))
}

/// Reduces neighbouring outputs, given a row for each term.
///
/// # Safety
/// There is at least one row and at most [`LANES`](super::LANES), each with `width` contiguous terms of type `T`;
/// `acc` has space for `width` accumulators.
unsafe fn few_terms<F: Fold<T>, T: Copy>(acc: *mut u8, rows: &[*const u8], width: usize) {
    struct FewTermsTask<'a, F, T>(*mut u8, &'a [*const u8], usize, PhantomData<(F, T)>);
    impl<F: Fold<T>, T: Copy> Specialised for FewTermsTask<'_, F, T> {
        type Home = F;
        const WIDE: bool = F::WEIGHT > 1;
        const BASELINE: bool = !F::FUSED_ONLY;

        #[inline(always)]
        fn compute<const FAST: bool>(self) {
            let FewTermsTask(acc, rows, width, _) = self;
            let whole = whole_registers::<FAST>(width);
            // SAFETY: the contract of `few_terms`: space for `width` accumulators, and as many terms in every row.
            unsafe {
                if const { FAST } {
                    for at in (0..whole).step_by(REGISTER_OUTPUTS) {
                        store(acc, at, F::few_terms::<PlainColumns, FAST, REGISTER_OUTPUTS>(rows, at));
                    }
                }
                for at in whole..width {
                    store(acc, at, F::few_terms::<PlainColumns, FAST, 1>(rows, at));
                }
            }
        }
    }
    debug_assert!(acc.cast::<F::Acc>().is_aligned());
    dispatch(FewTermsTask::<F, T>(acc, rows, width, PhantomData))
}

/// The outputs that are computed [`REGISTER_OUTPUTS`] at a time: none at the baseline, which is not worth that code.
#[inline(always)]
const fn whole_registers<const FAST: bool>(width: usize) -> usize {
    if FAST { width - width % REGISTER_OUTPUTS } else { 0 }
}

/// Writes N accumulators from index `at` on.
///
/// # Safety
/// `acc` has space for `at + N` accumulators of type `A`, and is aligned for them.
#[inline(always)]
unsafe fn store<A, const N: usize>(acc: *mut u8, at: usize, values: [A; N]) {
    // SAFETY: the contract of this function.
    unsafe { acc.cast::<A>().add(at).cast::<[A; N]>().write(values) }
}

/// Writes the reduced and merged lanes of all outputs, N outputs at a time. The last N outputs overlap those before
/// them where N does not divide `width`: those are computed twice, with equal results.
///
/// # Safety
/// As for [`reduce_lanes`].
#[inline(always)]
unsafe fn write_lanes<L: LaneFold<T>, T: Copy, const N: usize, const FAST: bool>(
    acc: *mut u8,
    lanes: &[&[*const u8]],
    width: usize,
) {
    // SAFETY: the contract of `reduce_lanes`; `at + N <= width`, or `at < width` where N is 1.
    unsafe {
        if !FAST || width < N {
            for at in 0..width {
                store(acc, at, merged_lanes::<L, T, 1, FAST, false>(lanes, at).0);
            }
        } else if const { FAST } {
            let mut next = 0;
            while next < width {
                let at = next.min(width - N);
                next += N;
                if const { L::HAS_FAST_MERGE } {
                    let (merged, has_nan) = merged_lanes::<L, T, N, FAST, true>(lanes, at);
                    if !has_nan {
                        store(acc, at, merged);
                        continue;
                    }
                }
                store(acc, at, merged_lanes::<L, T, N, FAST, false>(lanes, at).0);
            }
        }
    }
}

/// True if a merge is more than one instruction: that of complex numbers.
const fn is_heavy<L: LaneFold<T>, T: Copy>() -> bool {
    size_of::<L::Lane>() > align_of::<L::Lane>()
}

/// Returns N neighbouring outputs of some lanes; and true if `FAST_MERGE`, which ignores NaNs, has seen one.
///
/// # Safety
/// As for [`reduce_lanes`], with N columns from `at` on.
#[inline(always)]
unsafe fn merged_lanes<L: LaneFold<T>, T: Copy, const N: usize, const FAST: bool, const FAST_MERGE: bool>(
    lanes: &[&[*const u8]],
    at: usize,
) -> ([L::Lane; N], bool) {
    let mut nans = [L::IDENTITY; N];
    // SAFETY: the contract of this function.
    let merged = unsafe {
        match *lanes {
            // One row for each of eight lanes: no loops over rows.
            [&[a], &[b], &[c], &[d], &[e], &[f], &[g], &[h]] if const { FAST && N > 1 && !is_heavy::<L, T>() } =>
            {
                let first = merge_four::<L, T, N, FAST, FAST_MERGE>([&[a], &[b], &[c], &[d]], at, &mut nans);
                let second = merge_four::<L, T, N, FAST, FAST_MERGE>([&[e], &[f], &[g], &[h]], at, &mut nans);
                merge_arrays::<L, T, N, FAST_MERGE>(first, second)
            }
            // Eight lanes: what waits for its partner stays in registers.
            [a, b, c, d, e, f, g, h] if const { FAST && N > 1 && !is_heavy::<L, T>() } => {
                let first = merge_four::<L, T, N, FAST, FAST_MERGE>([a, b, c, d], at, &mut nans);
                let second = merge_four::<L, T, N, FAST, FAST_MERGE>([e, f, g, h], at, &mut nans);
                merge_arrays::<L, T, N, FAST_MERGE>(first, second)
            }
            _ => merge_any::<L, T, N, FAST, FAST_MERGE>(lanes, at, &mut nans),
        }
    };
    let mut has_nan = false;
    for j in 0..N {
        has_nan |= FAST_MERGE && L::is_nan(nans[j]);
    }
    (merged, has_nan)
}

/// Reduces and merges any number of lanes up to [`MAX_JOINED_LANES`].
///
/// # Safety
/// As for [`merged_lanes`].
#[inline(always)]
unsafe fn merge_any<L: LaneFold<T>, T: Copy, const N: usize, const FAST: bool, const FAST_MERGE: bool>(
    lanes: &[&[*const u8]],
    at: usize,
    nans: &mut [L::Lane; N],
) -> [L::Lane; N] {
    let mut scratch = [const { MaybeUninit::<[L::Lane; N]>::uninit() }; MAX_JOINED_LANES];
    let parts = scratch.as_mut_ptr().cast::<[L::Lane; N]>();
    let mut count = lanes.len();
    // SAFETY: the contract of `merged_lanes` for the rows; there are at most MAX_JOINED_LANES lanes, and the first
    // `count` parts are written before they are read.
    unsafe {
        for (k, rows) in lanes.iter().enumerate() {
            parts.add(k).write(reduce_lane::<L, T, N, FAST, FAST_MERGE>(rows, at, nans));
        }
        while count > 1 {
            count /= 2;
            for k in 0..count {
                let (a, b) = (parts.add(2 * k).read(), parts.add(2 * k + 1).read());
                parts.add(k).write(merge_arrays::<L, T, N, FAST_MERGE>(a, b));
            }
        }
        parts.read()
    }
}

/// Reduces and merges four lanes.
///
/// # Safety
/// As for [`merged_lanes`].
#[inline(always)]
unsafe fn merge_four<L: LaneFold<T>, T: Copy, const N: usize, const FAST: bool, const FAST_MERGE: bool>(
    [a, b, c, d]: [&[*const u8]; 4],
    at: usize,
    nans: &mut [L::Lane; N],
) -> [L::Lane; N] {
    // SAFETY: the contract of `merged_lanes`.
    unsafe {
        let a = reduce_lane::<L, T, N, FAST, FAST_MERGE>(a, at, nans);
        let b = reduce_lane::<L, T, N, FAST, FAST_MERGE>(b, at, nans);
        let ab = merge_arrays::<L, T, N, FAST_MERGE>(a, b);
        let c = reduce_lane::<L, T, N, FAST, FAST_MERGE>(c, at, nans);
        let d = reduce_lane::<L, T, N, FAST, FAST_MERGE>(d, at, nans);
        merge_arrays::<L, T, N, FAST_MERGE>(ab, merge_arrays::<L, T, N, FAST_MERGE>(c, d))
    }
}

/// Reduces N neighbouring outputs of one lane. `nans[j]` becomes NaN if `FAST_MERGE` has seen one.
///
/// # Safety
/// Each row has N contiguous terms from column `at` on.
#[inline(always)]
unsafe fn reduce_lane<L: LaneFold<T>, T: Copy, const N: usize, const FAST: bool, const FAST_MERGE: bool>(
    rows: &[*const u8],
    at: usize,
    nans: &mut [L::Lane; N],
) -> [L::Lane; N] {
    let mut merged = [L::IDENTITY; N];
    for row in rows {
        // SAFETY: the contract of this function.
        let terms = unsafe { L::read::<FAST, N>(row.cast::<T>().add(at)) };
        merged = merge_arrays::<L, T, N, FAST_MERGE>(merged, terms);
        if FAST_MERGE {
            for j in 0..N {
                nans[j] = if L::is_nan(terms[j]) { L::NAN } else { nans[j] };
            }
        }
    }
    merged
}

#[inline(always)]
fn merge_arrays<L: LaneFold<T>, T: Copy, const N: usize, const FAST_MERGE: bool>(
    mut a: [L::Lane; N],
    b: [L::Lane; N],
) -> [L::Lane; N] {
    for j in 0..N {
        a[j] = if FAST_MERGE { L::fast_merge(a[j], b[j]) } else { L::merge(a[j], b[j]) };
    }
    a
}

/// Adds the terms of N rows to accumulators, or to the identity if these are `fresh`. The last outputs may overlap
/// those before them, so they are computed before any accumulator is written.
///
/// # Safety
/// As for [`add_rows`].
#[inline(always)]
unsafe fn add_n_rows<L: LaneFold<T>, T: Copy, const N: usize, const FAST: bool>(
    acc: *mut u8,
    rows: [*const u8; N],
    width: usize,
    fresh: bool,
) {
    // SAFETY: the contract of `add_rows`; every `at` is followed by as many outputs as are computed.
    unsafe {
        if !FAST || width < REGISTER_OUTPUTS {
            for at in 0..width {
                store(acc, at, with_terms::<L, T, N, 1, FAST>(acc, rows, at, fresh));
            }
        } else if const { FAST } {
            let end = width - REGISTER_OUTPUTS;
            let last = with_terms::<L, T, N, REGISTER_OUTPUTS, FAST>(acc, rows, end, fresh);
            for at in (0..end).step_by(REGISTER_OUTPUTS) {
                store(acc, at, with_terms::<L, T, N, REGISTER_OUTPUTS, FAST>(acc, rows, at, fresh));
            }
            store(acc, end, last);
        }
    }
}

/// Returns W accumulators, or identities if these are `fresh`, merged with the terms of N rows.
///
/// # Safety
/// As for [`add_rows`], with W columns from `at` on.
#[inline(always)]
unsafe fn with_terms<L: LaneFold<T>, T: Copy, const N: usize, const W: usize, const FAST: bool>(
    acc: *const u8,
    rows: [*const u8; N],
    at: usize,
    fresh: bool,
) -> [L::Lane; W] {
    // SAFETY: the contract of this function.
    unsafe {
        let mut merged = if fresh { [L::IDENTITY; W] } else { column::<L::Lane, W>(acc, at) };
        for row in rows {
            merged = merge_arrays::<L, T, W, false>(merged, L::read::<FAST, W>(row.cast::<T>().add(at)));
        }
        merged
    }
}
