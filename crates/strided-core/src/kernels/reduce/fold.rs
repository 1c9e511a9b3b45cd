//! What a reduction is: how terms become an accumulator, how two of those become one, and what it says in the end.

#![allow(clippy::needless_range_loop)] // as in `map`

use super::groups::{Groups, Room, column, halve};
use super::{BLOCK, GROUP, LANES};
use crate::dtype::DType;
use crate::scalar::Element;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A reduction of terms of one type.
pub trait Fold<T: Copy>: 'static {
    type Acc: Copy;
    type Out: Outcome;
    /// What a term costs next to an addition.
    const WEIGHT: usize = 1;
    /// Whether it is only for CPUs from [`Level::Fused`](cpu::Level) on: others cast before.
    const FUSED: bool = false;
    /// The accumulator of no term, if no term has a result.
    const NOTHING: Option<Self::Acc>;

    /// Adjacent terms, at least one and at most [`BLOCK`]; `first` counts those before them. `FAST` as in
    /// [`Task::run`].
    ///
    /// # Safety
    /// There are `n` terms at `terms`.
    unsafe fn block<const FAST: bool>(terms: *const T, n: usize, first: usize) -> Self::Acc;

    /// Adjacent terms, up to [`GROUP`]: a tree of blocks.
    ///
    /// # Safety
    /// There are `n` terms at `terms`.
    #[inline(always)]
    unsafe fn group<const FAST: bool>(terms: *const T, n: usize, first: usize) -> Self::Acc
    where
        Self: Sized,
    {
        // SAFETY: the caller's promise.
        unsafe { blocks::<Self, T, FAST>(terms, n, first) }
    }

    /// Whether `beside` is there.
    const BESIDE: bool = false;

    /// N neighbouring outputs of few terms: one row for each term, at most [`LANES`], read from a column on.
    ///
    /// # Safety
    /// There are N terms in every row, and at least one row.
    #[inline(always)]
    unsafe fn beside<C: Columns<T>, const FAST: bool, const N: usize>(
        _rows: &[*const u8],
        _at: usize,
    ) -> [Self::Acc; N] {
        unreachable!("it is not there")
    }

    /// Two neighbours, the earlier one first.
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc;

    /// The result of `n` terms, by a number that the caller of the reduction may choose.
    fn finish(acc: Self::Acc, n: usize, number: f64) -> Self::Out;

    /// The results of neighbouring outputs.
    #[inline(always)]
    fn finish_all<const FAST: bool, const N: usize>(
        acc: [Self::Acc; N],
        n: usize,
        number: f64,
    ) -> [Self::Out; N] {
        let mut results = [Self::finish(acc[0], n, number); N];
        for j in 1..N {
            results[j] = Self::finish(acc[j], n, number);
        }
        results
    }
}

/// How terms are read from rows.
pub trait Columns<T> {
    /// N terms of a row, from a column on. `FAST` as in [`Task::run`](crate::cpu::Task::run).
    ///
    /// # Safety
    /// They are there.
    unsafe fn read<const FAST: bool, const N: usize>(row: *const u8, at: usize) -> [T; N];
}

/// Columns of terms as they are.
pub struct Themselves;

impl<T: Copy> Columns<T> for Themselves {
    #[inline(always)]
    unsafe fn read<const FAST: bool, const N: usize>(row: *const u8, at: usize) -> [T; N] {
        // SAFETY: the caller's promise.
        unsafe { column(row, at) }
    }
}

/// A reduction that needs no more than one running value: terms go to [`LANES`] of them in turn, which are then
/// merged in halves.
pub trait Lanes<T: Copy>: 'static {
    type Lane: Copy;
    type Out: Outcome;
    /// As in [`Fold::FUSED`].
    const FUSED: bool = false;
    /// Changes nothing on either side of a merge.
    const IDENTITY: Self::Lane;
    /// A term that changes nothing.
    const NEUTRAL: T;
    /// The result of no term, if there is one.
    const NOTHING: Option<Self::Lane>;

    /// Whether `quick` merges as `merge` does, unless one of the terms is odd.
    const QUICK: bool = false;

    fn lane(term: T) -> Self::Lane;
    /// What neighbouring terms add. `FAST` as in [`Task::run`](crate::cpu::Task::run).
    ///
    /// # Safety
    /// They are there.
    #[inline(always)]
    unsafe fn read<const FAST: bool, const N: usize>(terms: *const T) -> [Self::Lane; N] {
        // SAFETY: the caller's promise.
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
    #[inline(always)]
    fn quick(a: Self::Lane, b: Self::Lane) -> Self::Lane {
        Self::merge(a, b)
    }
    #[inline(always)]
    fn is_odd(_: Self::Lane) -> bool {
        false
    }
    /// One that is odd, if there are such.
    const ODD: Self::Lane = Self::IDENTITY;
    fn finish(lane: Self::Lane, n: usize) -> Self::Out;
}

/// A reduction with lanes as one of blocks.
pub struct InLanes<L>(PhantomData<L>);

impl<T: Copy, L: Lanes<T>> Fold<T> for InLanes<L> {
    type Acc = L::Lane;
    type Out = L::Out;
    const FUSED: bool = L::FUSED;
    const NOTHING: Option<L::Lane> = L::NOTHING;

    #[inline(always)]
    unsafe fn block<const FAST: bool>(terms: *const T, n: usize, _first: usize) -> L::Lane {
        // SAFETY: the caller's promise.
        unsafe {
            if const { L::QUICK } {
                let (merged, odd) = in_lanes::<L, T, FAST, true>(terms, n);
                if !odd {
                    return merged;
                }
            }
            in_lanes::<L, T, FAST, false>(terms, n).0
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

/// The terms merged in lanes, and whether some that were merged quickly are odd.
///
/// # Safety
/// There are `n` terms at `terms`.
#[inline(always)]
unsafe fn in_lanes<L: Lanes<T>, T: Copy, const FAST: bool, const QUICK: bool>(
    terms: *const T,
    n: usize,
) -> (L::Lane, bool) {
    const HALF: usize = LANES / 2;
    let (mut lanes, mut odd) = ([L::IDENTITY; LANES], [L::IDENTITY; HALF]);
    let mut room = Room::NEW;
    // SAFETY: the caller's promise.
    unsafe {
        let groups = Groups::new::<FAST>(terms, n, L::NEUTRAL, &mut room);
        for i in 0..groups.count {
            let group = L::read::<FAST, LANES>(groups.at(i));
            for j in 0..LANES {
                lanes[j] = merge_as::<L, T, QUICK>(lanes[j], group[j]);
            }
            if QUICK {
                // Of two terms at once: for that there is one instruction.
                for j in 0..HALF {
                    let is_odd = L::is_odd(group[j]) | L::is_odd(group[j + HALF]);
                    odd[j] = if is_odd { L::ODD } else { odd[j] };
                }
            }
        }
    }
    let mut any = false;
    for j in 0..HALF / 2 {
        any |= L::is_odd(odd[j]) | L::is_odd(odd[j + HALF / 2]);
    }
    (halve(lanes, merge_as::<L, T, QUICK>), any)
}

#[inline(always)]
fn merge_as<L: Lanes<T>, T: Copy, const QUICK: bool>(a: L::Lane, b: L::Lane) -> L::Lane {
    if QUICK { L::quick(a, b) } else { L::merge(a, b) }
}

/// What a reduction gives: an element, or two of them.
pub trait Outcome: Copy {
    const DTYPES: [Option<DType>; 2];
    /// Writes neighbouring results, from the one of a number on.
    ///
    /// # Safety
    /// Every place has room for elements of its dtype.
    unsafe fn write<const N: usize>(results: [Self; N], places: [*mut u8; 2], at: usize);
}

impl<A: Element> Outcome for A {
    const DTYPES: [Option<DType>; 2] = [Some(A::DTYPE), None];
    #[inline(always)]
    unsafe fn write<const N: usize>(results: [A; N], [place, _]: [*mut u8; 2], at: usize) {
        // SAFETY: the caller's promise.
        unsafe { place.cast::<A>().add(at).cast::<[A; N]>().write(results) }
    }
}

impl<A: Element, B: Element> Outcome for (A, B) {
    const DTYPES: [Option<DType>; 2] = [Some(A::DTYPE), Some(B::DTYPE)];
    #[inline(always)]
    unsafe fn write<const N: usize>(results: [(A, B); N], [first, second]: [*mut u8; 2], at: usize) {
        for j in 0..N {
            // SAFETY: the caller's promise.
            unsafe {
                first.cast::<A>().add(at + j).write(results[j].0);
                second.cast::<B>().add(at + j).write(results[j].1);
            }
        }
    }
}

/// The tree of up to [`GROUP`] terms, whose type is known here: blocks follow each other closely.
#[inline(always)]
unsafe fn blocks<F: Fold<T>, T: Copy, const FAST: bool>(terms: *const T, n: usize, first: usize) -> F::Acc {
    let mut room = [const { MaybeUninit::<F::Acc>::uninit() }; GROUP / BLOCK];
    let parts = room.as_mut_ptr().cast::<F::Acc>();
    let mut count = 0;
    // SAFETY: the caller has `n` terms, at most GROUP; what is read was written before.
    unsafe {
        for at in (0..n).step_by(BLOCK) {
            let part = F::block::<FAST>(terms.add(at), BLOCK.min(n - at), first + at);
            if n <= BLOCK {
                return part;
            }
            parts.add(count).write(part);
            count += 1;
        }
        while count > 1 {
            for i in 0..count / 2 {
                parts.add(i).write(F::merge(parts.add(2 * i).read(), parts.add(2 * i + 1).read()));
            }
            // One without a partner stays as it is.
            if count % 2 == 1 {
                parts.add(count / 2).write(parts.add(count - 1).read());
            }
            count = count.div_ceil(2);
        }
        parts.read()
    }
}
