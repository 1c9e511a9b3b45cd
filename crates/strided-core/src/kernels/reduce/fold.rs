//! What a reduction is: how terms become an accumulator, how two accumulators merge, and what the result is.

#![allow(clippy::needless_range_loop)] // as in `kernels::loops`

use super::groups::{GroupScratch, Groups, column, merge_in_halves};
use super::{BLOCK, CHUNK, LANES};
use crate::dtype::DType;
use crate::scalar::Element;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A reduction of terms of one type.
///
/// In all functions `FAST` has the meaning of [`Specialised::compute`](crate::cpu::Specialised::compute): the CPU has fused multiply-add.
pub trait Fold<T: Copy>: 'static {
    type Acc: Copy;
    type Out: FoldResult;
    /// What a term costs, relative to an addition.
    const WEIGHT: usize = 1;
    /// True if the fold is compiled only for [`Level::Fused`](crate::cpu::Level) and above. Other CPUs use another
    /// fold.
    const FUSED_ONLY: bool = false;
    /// The accumulator of zero terms; `None` if they have no result.
    const EMPTY_RESULT: Option<Self::Acc>;

    /// Reduces adjacent terms, at least one and at most [`BLOCK`]. `first` is the position of the first one among the
    /// terms of its output.
    ///
    /// # Safety
    /// `terms` points to `n` readable terms.
    unsafe fn block<const FAST: bool>(terms: *const T, n: usize, first: usize) -> Self::Acc;

    /// Reduces adjacent terms, at least one and at most [`CHUNK`]: a tree of blocks.
    ///
    /// # Safety
    /// `terms` points to `n` readable terms.
    #[inline(always)]
    unsafe fn chunk<const FAST: bool>(terms: *const T, n: usize, first: usize) -> Self::Acc
    where
        Self: Sized,
    {
        // SAFETY: the contract of this function.
        unsafe { tree_of_blocks::<Self, T, FAST>(terms, n, first) }
    }

    /// True if the fold has the loop `few_terms`.
    const HAS_FEW_TERMS: bool = false;

    /// Reduces N neighbouring outputs with few terms each: at most [`LANES`] rows, which hold one term of each
    /// output, read from column `at` on.
    ///
    /// # Safety
    /// There is at least one row, and each has N terms from column `at` on.
    #[inline(always)]
    unsafe fn few_terms<C: Columns<T>, const FAST: bool, const N: usize>(
        _rows: &[*const u8],
        _at: usize,
    ) -> [Self::Acc; N] {
        unreachable!("HAS_FEW_TERMS is false")
    }

    /// Merges the accumulators of neighbouring terms, the earlier ones first.
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc;

    /// The result of `n` terms. `parameter` is [`Reduction::parameter`](super::Reduction).
    fn finish(acc: Self::Acc, n: usize, parameter: f64) -> Self::Out;

    /// The results of neighbouring outputs.
    #[inline(always)]
    fn finish_all<const FAST: bool, const N: usize>(
        acc: [Self::Acc; N],
        n: usize,
        parameter: f64,
    ) -> [Self::Out; N] {
        let mut results = [Self::finish(acc[0], n, parameter); N];
        for j in 1..N {
            results[j] = Self::finish(acc[j], n, parameter);
        }
        results
    }
}

/// How terms are read from rows.
pub trait Columns<T> {
    /// Reads N terms of a row from column `at` on. `FAST` as in [`Fold`].
    ///
    /// # Safety
    /// The row has these terms.
    unsafe fn read<const FAST: bool, const N: usize>(row: *const u8, at: usize) -> [T; N];
}

/// Rows whose elements are the terms.
pub struct PlainColumns;

impl<T: Copy> Columns<T> for PlainColumns {
    #[inline(always)]
    unsafe fn read<const FAST: bool, const N: usize>(row: *const u8, at: usize) -> [T; N] {
        // SAFETY: the contract of `Columns::read`.
        unsafe { column(row, at) }
    }
}

/// A reduction whose accumulator is one running value. There are [`LANES`] of them: term `i` goes to lane `i % LANES`,
/// and lanes are merged in halves at the end. Such folds also run over rows of terms, for many neighbouring outputs at
/// once.
pub trait LaneFold<T: Copy>: 'static {
    type Lane: Copy;
    type Out: FoldResult;
    /// As in [`Fold::FUSED_ONLY`].
    const FUSED_ONLY: bool = false;
    /// Changes nothing on either side of a merge.
    const IDENTITY: Self::Lane;
    /// A term that changes nothing: tails are padded with it.
    const IDENTITY_TERM: T;
    /// The accumulator of zero terms; `None` if they have no result.
    const EMPTY_RESULT: Option<Self::Lane>;

    /// True if `fast_merge` differs from `merge`. It may be wrong where one of the terms is NaN: terms are then
    /// checked, and reduced again with `merge` if there is one.
    const HAS_FAST_MERGE: bool = false;
    /// A lane for which `is_nan` holds, if there is such a value.
    const NAN: Self::Lane = Self::IDENTITY;

    /// The value of one term.
    fn lane(term: T) -> Self::Lane;

    /// Reads the values of N adjacent terms. `FAST` as in [`Fold`].
    ///
    /// # Safety
    /// `terms` points to N readable terms.
    #[inline(always)]
    unsafe fn read<const FAST: bool, const N: usize>(terms: *const T) -> [Self::Lane; N] {
        // SAFETY: the contract of this function.
        Self::lanes(unsafe { terms.cast::<[T; N]>().read() })
    }

    #[inline(always)]
    fn lanes<const N: usize>(terms: [T; N]) -> [Self::Lane; N] {
        let mut lanes = [Self::IDENTITY; N];
        for j in 0..N {
            lanes[j] = Self::lane(terms[j]);
        }
        lanes
    }

    fn merge(a: Self::Lane, b: Self::Lane) -> Self::Lane;

    /// Merges two values neither of which is NaN.
    #[inline(always)]
    fn fast_merge(a: Self::Lane, b: Self::Lane) -> Self::Lane {
        Self::merge(a, b)
    }

    #[inline(always)]
    fn is_nan(_: Self::Lane) -> bool {
        false
    }

    /// The result of `n` terms.
    fn finish(lane: Self::Lane, n: usize) -> Self::Out;
}

/// A [`LaneFold`] as a [`Fold`].
pub struct FoldByLanes<L>(PhantomData<L>);

impl<T: Copy, L: LaneFold<T>> Fold<T> for FoldByLanes<L> {
    type Acc = L::Lane;
    type Out = L::Out;
    const FUSED_ONLY: bool = L::FUSED_ONLY;
    const EMPTY_RESULT: Option<L::Lane> = L::EMPTY_RESULT;

    #[inline(always)]
    unsafe fn block<const FAST: bool>(terms: *const T, n: usize, _first: usize) -> L::Lane {
        // SAFETY: the contract of `Fold::block`.
        unsafe {
            if const { L::HAS_FAST_MERGE } {
                let (merged, has_nan) = block_by_lanes::<L, T, FAST, true>(terms, n);
                if !has_nan {
                    return merged;
                }
            }
            block_by_lanes::<L, T, FAST, false>(terms, n).0
        }
    }

    #[inline(always)]
    fn merge(a: L::Lane, b: L::Lane) -> L::Lane {
        L::merge(a, b)
    }

    #[inline(always)]
    fn finish(lane: L::Lane, n: usize, _: f64) -> L::Out {
        L::finish(lane, n)
    }
}

/// Reduces adjacent terms in lanes. `FAST_MERGE` uses `fast_merge`, whose result is wrong if a term is NaN. The bool
/// tells whether one is, and is false without `FAST_MERGE`.
///
/// # Safety
/// `terms` points to `n` readable terms.
#[inline(always)]
unsafe fn block_by_lanes<L: LaneFold<T>, T: Copy, const FAST: bool, const FAST_MERGE: bool>(
    terms: *const T,
    n: usize,
) -> (L::Lane, bool) {
    const HALF: usize = LANES / 2;
    let (mut lanes, mut nans) = ([L::IDENTITY; LANES], [L::IDENTITY; HALF]);
    let mut scratch = GroupScratch::NEW;
    // SAFETY: the contract of this function; `groups.at(i)` points to a group for every `i < count`.
    unsafe {
        let groups = Groups::new::<FAST>(terms, n, L::IDENTITY_TERM, &mut scratch);
        for i in 0..groups.count {
            let group = L::read::<FAST, LANES>(groups.at(i));
            for j in 0..LANES {
                lanes[j] = merge_lane::<L, T, FAST_MERGE>(lanes[j], group[j]);
            }
            if FAST_MERGE {
                // One instruction tells whether one of two floats is NaN.
                for j in 0..HALF {
                    let is_nan = L::is_nan(group[j]) | L::is_nan(group[j + HALF]);
                    nans[j] = if is_nan { L::NAN } else { nans[j] };
                }
            }
        }
    }
    let mut has_nan = false;
    for j in 0..HALF / 2 {
        has_nan |= L::is_nan(nans[j]) | L::is_nan(nans[j + HALF / 2]);
    }
    (merge_in_halves(lanes, merge_lane::<L, T, FAST_MERGE>), has_nan)
}

#[inline(always)]
fn merge_lane<L: LaneFold<T>, T: Copy, const FAST_MERGE: bool>(a: L::Lane, b: L::Lane) -> L::Lane {
    if FAST_MERGE { L::fast_merge(a, b) } else { L::merge(a, b) }
}

/// What a reduction returns for an output: an element, or two of them.
pub trait FoldResult: Copy {
    const DTYPES: [Option<DType>; 2];

    /// Writes the results of N neighbouring outputs, from index `at` on.
    ///
    /// # Safety
    /// Each destination of a result has space for `at + N` elements of its dtype, and is aligned for them.
    unsafe fn write<const N: usize>(results: [Self; N], destinations: [*mut u8; 2], at: usize);
}

impl<A: Element> FoldResult for A {
    const DTYPES: [Option<DType>; 2] = [Some(A::DTYPE), None];
    #[inline(always)]
    unsafe fn write<const N: usize>(results: [A; N], [destination, _]: [*mut u8; 2], at: usize) {
        // SAFETY: the contract of `FoldResult::write`.
        unsafe { destination.cast::<A>().add(at).cast::<[A; N]>().write(results) }
    }
}

impl<A: Element, B: Element> FoldResult for (A, B) {
    const DTYPES: [Option<DType>; 2] = [Some(A::DTYPE), Some(B::DTYPE)];
    #[inline(always)]
    unsafe fn write<const N: usize>(results: [(A, B); N], [first, second]: [*mut u8; 2], at: usize) {
        for j in 0..N {
            // SAFETY: the contract of `FoldResult::write`.
            unsafe {
                first.cast::<A>().add(at + j).write(results[j].0);
                second.cast::<B>().add(at + j).write(results[j].1);
            }
        }
    }
}

/// The tree of up to [`CHUNK`] terms: the same as that of [`Tree`](super::tree::Tree), but without calls through
/// pointers between blocks.
///
/// # Safety
/// `terms` points to `n` readable terms, at least one and at most [`CHUNK`].
#[inline(always)]
unsafe fn tree_of_blocks<F: Fold<T>, T: Copy, const FAST: bool>(
    terms: *const T,
    n: usize,
    first: usize,
) -> F::Acc {
    let mut scratch = [const { MaybeUninit::<F::Acc>::uninit() }; CHUNK / BLOCK];
    let accs = scratch.as_mut_ptr().cast::<F::Acc>();
    let mut count = 0;
    // SAFETY: the contract of this function; the first `count` accumulators are written before they are read.
    unsafe {
        for at in (0..n).step_by(BLOCK) {
            let acc = F::block::<FAST>(terms.add(at), BLOCK.min(n - at), first + at);
            if n <= BLOCK {
                return acc;
            }
            accs.add(count).write(acc);
            count += 1;
        }
        while count > 1 {
            for i in 0..count / 2 {
                accs.add(i).write(F::merge(accs.add(2 * i).read(), accs.add(2 * i + 1).read()));
            }
            // An accumulator without a partner moves up unchanged.
            if count % 2 == 1 {
                accs.add(count / 2).write(accs.add(count - 1).read());
            }
            count = count.div_ceil(2);
        }
        accs.read()
    }
}
