//! What a reduction is: how terms become an accumulator, how two of those become one, and what it says in the end.

use super::groups::{Groups, Room, column, halve};
use super::{BLOCK, GROUP, LANES};
use crate::cpu::{self, Task, dispatch};
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
    unsafe fn beside<const FAST: bool, const N: usize>(_rows: &[*const u8], _at: usize) -> [Self::Acc; N] {
        unreachable!("it is not there")
    }

    /// Two neighbours, the earlier one first.
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc;

    /// The result of `n` terms, by a number that the caller of the reduction may choose.
    fn finish(acc: Self::Acc, n: usize, number: f64) -> Self::Out;
}

/// A reduction that needs no more than one running value: terms go to [`LANES`] of them in turn, which are then
/// merged in halves.
pub trait Lanes<T: Copy>: 'static {
    type Lane: Copy;
    type Out: Outcome;
    /// Changes nothing on either side of a merge.
    const IDENTITY: Self::Lane;
    /// A term that changes nothing.
    const NEUTRAL: T;
    /// The result of no term, if there is one.
    const NOTHING: Option<Self::Lane>;

    /// Whether `quick` merges as `merge` does, unless one of the terms is odd.
    const QUICK: bool = false;

    fn lane(term: T) -> Self::Lane;
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
            let group = groups.read(i);
            for j in 0..LANES {
                lanes[j] = merge_as::<L, T, QUICK>(lanes[j], L::lane(group[j]));
            }
            if QUICK {
                // Of two terms at once: for that there is one instruction.
                for j in 0..HALF {
                    let is_odd = L::is_odd(L::lane(group[j])) | L::is_odd(L::lane(group[j + HALF]));
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
    /// # Safety
    /// Every place has room for an element of its dtype.
    unsafe fn write(self, places: [*mut u8; 2]);
}

impl<A: Element> Outcome for A {
    const DTYPES: [Option<DType>; 2] = [Some(A::DTYPE), None];
    #[inline(always)]
    unsafe fn write(self, [place, _]: [*mut u8; 2]) {
        // SAFETY: the caller's promise.
        unsafe { place.cast::<A>().write(self) }
    }
}

impl<A: Element, B: Element> Outcome for (A, B) {
    const DTYPES: [Option<DType>; 2] = [Some(A::DTYPE), Some(B::DTYPE)];
    #[inline(always)]
    unsafe fn write(self, [first, second]: [*mut u8; 2]) {
        // SAFETY: the caller's promise.
        unsafe {
            first.cast::<A>().write(self.0);
            second.cast::<B>().write(self.1);
        }
    }
}

/// The loops of one reduction for terms of one type. Accumulators are bytes to those who call them.
#[derive(Clone, Copy)]
pub struct Reducer {
    /// The dtype of the terms.
    pub(super) terms: DType,
    /// The dtypes of what it gives.
    pub(super) gives: [Option<DType>; 2],
    /// Bytes of an accumulator.
    pub(super) bytes: usize,
    pub(super) weight: usize,
    /// Whether no term at all has a result.
    pub(super) has_nothing: bool,
    pub(super) block: unsafe fn(&Lines, *mut u8),
    /// `into[i] = merge(into[i], from[i])`: `merge(into, from, width)`.
    pub(super) merge: unsafe fn(*mut u8, *const u8, usize),
    /// Writes results, adjacent ones per place: `finish(accumulators, width, terms, number, places)`.
    pub(super) finish: unsafe fn(*const u8, usize, usize, f64, [*mut u8; 2]),
    /// Writes the accumulators of no term.
    pub(super) nothing: unsafe fn(*mut u8, usize),
    pub(super) across: Option<Across>,
    /// Neighbouring outputs of few terms, from a row for each term: `beside(accumulators, rows, width)`.
    pub(super) beside: Option<unsafe fn(*mut u8, &[*const u8], usize)>,
}

/// Terms that are adjacent, up to [`GROUP`] of them; and more such lines, with an accumulator for each.
pub(super) struct Lines {
    pub(super) terms: *const u8,
    pub(super) n: usize,
    /// Terms before those of the first line, which count for positions.
    pub(super) first: usize,
    pub(super) count: usize,
    /// Bytes from a line to the next.
    pub(super) step: isize,
}

impl Lines {
    /// One line.
    pub(super) fn one(terms: *const u8, n: usize, first: usize) -> Lines {
        Lines { terms, n, first, count: 1, step: 0 }
    }
}

/// What is done for neighbouring outputs at once.
#[derive(Clone, Copy)]
pub(super) struct Across {
    /// Adds rows of terms, one after the other, to the accumulators, or where they are fresh to what changes nothing:
    /// `absorb(accumulators, rows, width, fresh)`.
    pub(super) absorb: unsafe fn(*mut u8, &[*const u8], usize, bool),
    /// Adds the rows of each of some lanes, and merges those: `together(accumulators, lanes, width)`.
    pub(super) together: unsafe fn(*mut u8, &[&[*const u8]], usize),
}

/// Lanes that are merged before anything is written.
pub(super) const FEW: usize = 8;

impl Reducer {
    pub const fn of<F: Fold<T>, T: Element>() -> Reducer {
        const { assert!(size_of::<F::Acc>() <= super::WIDEST && align_of::<F::Acc>() <= 16) };
        Reducer {
            terms: T::DTYPE,
            gives: F::Out::DTYPES,
            bytes: size_of::<F::Acc>(),
            weight: F::WEIGHT,
            has_nothing: F::NOTHING.is_some(),
            block: block::<F, T>,
            merge: merge::<F, T>,
            finish: finish::<F, T>,
            nothing: nothing::<F, T>,
            across: None,
            beside: if F::BESIDE { Some(beside::<F, T>) } else { None },
        }
    }

    pub const fn of_lanes<L: Lanes<T>, T: Element>() -> Reducer {
        const { assert!(size_of::<L::Lane>() <= 16 && align_of::<L::Lane>() <= 8) };
        let across = Across { absorb: absorb::<L, T>, together: together::<L, T> };
        Reducer { across: Some(across), ..Reducer::of::<InLanes<L>, T>() }
    }

    /// The dtype of the terms.
    pub fn terms(&self) -> DType {
        self.terms
    }

    /// The dtypes of what it gives.
    pub fn gives(&self) -> [Option<DType>; 2] {
        self.gives
    }

    /// Whether no term at all has a result.
    pub fn has_nothing(&self) -> bool {
        self.has_nothing
    }
}

unsafe fn block<F: Fold<T>, T: Copy>(lines: &Lines, out: *mut u8) {
    struct Run<'a, F, T>(&'a Lines, *mut u8, PhantomData<(F, T)>);
    impl<F: Fold<T>, T: Copy> Task for Run<'_, F, T> {
        type Home = F;
        const WIDE: bool = F::WEIGHT > 1;

        #[inline(always)]
        fn run<const FAST: bool>(self) {
            let Run(lines, out, _) = self;
            for i in 0..lines.count {
                let terms = lines.terms.wrapping_offset(i as isize * lines.step).cast::<T>();
                // SAFETY: the caller of `block` has `n` terms in each line, and room for as many accumulators.
                unsafe {
                    out.cast::<F::Acc>().add(i).write(F::group::<FAST>(terms, lines.n, lines.first));
                }
            }
        }
    }
    debug_assert!((1..=GROUP).contains(&lines.n));
    let run = Run::<F, T>(lines, out, PhantomData);
    if F::WEIGHT > 1 && cpu::reference_kernels() { run.run::<false>() } else { dispatch(run) }
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

unsafe fn merge<F: Fold<T>, T: Copy>(into: *mut u8, from: *const u8, width: usize) {
    let (into, from) = (into.cast::<F::Acc>(), from.cast::<F::Acc>());
    for j in 0..width {
        // SAFETY: the caller has `width` accumulators at both.
        unsafe { into.add(j).write(F::merge(into.add(j).read(), from.add(j).read())) };
    }
}

unsafe fn finish<F: Fold<T>, T: Copy>(
    from: *const u8,
    width: usize,
    terms: usize,
    number: f64,
    places: [*mut u8; 2],
) {
    for j in 0..width {
        let mut at = places;
        for (place, dtype) in at.iter_mut().zip(F::Out::DTYPES) {
            *place = place.wrapping_add(j * dtype.map_or(0, DType::size));
        }
        // SAFETY: the caller has `width` accumulators, and room for as many results.
        unsafe { F::finish(from.cast::<F::Acc>().add(j).read(), terms, number).write(at) };
    }
}

unsafe fn nothing<F: Fold<T>, T: Copy>(out: *mut u8, width: usize) {
    let nothing = F::NOTHING.expect("reductions without a result for no term are not given none");
    for j in 0..width {
        // SAFETY: the caller has room for `width` accumulators.
        unsafe { out.cast::<F::Acc>().add(j).write(nothing) };
    }
}

unsafe fn absorb<L: Lanes<T>, T: Copy>(acc: *mut u8, rows: &[*const u8], width: usize, fresh: bool) {
    struct Run<'a, L, T>(*mut u8, &'a [*const u8], usize, bool, PhantomData<(L, T)>);
    impl<L: Lanes<T>, T: Copy> Task for Run<'_, L, T> {
        type Home = L;
        const WIDE: bool = false;

        #[inline(always)]
        fn run<const FAST: bool>(self) {
            let Run(acc, mut rows, width, mut fresh, _) = self;
            let acc = acc.cast();
            // SAFETY: the caller of `absorb` has `width` accumulators, and as many terms in every row.
            unsafe {
                // Several rows at once: accumulators are read and written less often, and memory has more to do.
                while let [a, b, c, d, rest @ ..] = rows {
                    each::<L, T, 4>(acc, [a.cast(), b.cast(), c.cast(), d.cast()], width, fresh);
                    (rows, fresh) = (rest, false);
                }
                if let [a, b, rest @ ..] = rows {
                    each::<L, T, 2>(acc, [a.cast(), b.cast()], width, fresh);
                    (rows, fresh) = (rest, false);
                }
                if let [a] = rows {
                    each::<L, T, 1>(acc, [a.cast()], width, fresh);
                } else if fresh {
                    each::<L, T, 0>(acc, [], width, true);
                }
            }
        }
    }
    dispatch(Run::<L, T>(acc, rows, width, fresh, PhantomData))
}

unsafe fn together<L: Lanes<T>, T: Copy>(acc: *mut u8, lanes: &[&[*const u8]], width: usize) {
    struct Run<'a, L, T>(*mut u8, &'a [&'a [*const u8]], usize, PhantomData<(L, T)>);
    impl<L: Lanes<T>, T: Copy> Task for Run<'_, L, T> {
        type Home = L;
        const WIDE: bool = false;

        #[inline(always)]
        fn run<const FAST: bool>(self) {
            let Run(acc, lanes, width, _) = self;
            // SAFETY: the caller of `together` has `width` accumulators, and as many terms in every row.
            unsafe {
                // A part is two registers; those of merges that take several instructions are longer, to be worth it.
                match const { if is_heavy::<L, T>() { 4 } else { size_of::<L::Lane>() } } {
                    1 => each_part::<L, T, 64>(acc, lanes, width),
                    2 | 4 => each_part::<L, T, 16>(acc, lanes, width),
                    _ => each_part::<L, T, 8>(acc, lanes, width),
                }
            }
        }
    }
    dispatch(Run::<L, T>(acc, lanes, width, PhantomData))
}

unsafe fn beside<F: Fold<T>, T: Copy>(acc: *mut u8, rows: &[*const u8], width: usize) {
    struct Run<'a, F, T>(*mut u8, &'a [*const u8], usize, PhantomData<(F, T)>);
    impl<F: Fold<T>, T: Copy> Task for Run<'_, F, T> {
        type Home = F;
        const WIDE: bool = F::WEIGHT > 1;

        #[inline(always)]
        fn run<const FAST: bool>(self) {
            let Run(acc, rows, width, _) = self;
            let whole = width - width % PART;
            // SAFETY: the caller of `beside` has `width` accumulators, and as many terms in every row.
            unsafe {
                for at in (0..whole).step_by(PART) {
                    put(acc, at, F::beside::<FAST, PART>(rows, at));
                }
                for at in whole..width {
                    put(acc, at, F::beside::<FAST, 1>(rows, at));
                }
            }
        }
    }
    dispatch(Run::<F, T>(acc, rows, width, PhantomData))
}

/// Writes N accumulators, from the one of a number on.
#[inline(always)]
unsafe fn put<A, const N: usize>(acc: *mut u8, at: usize, parts: [A; N]) {
    // SAFETY: the callers have room for them.
    unsafe { acc.cast::<A>().add(at).cast::<[A; N]>().write(parts) }
}

/// Writes the outputs of some lanes, N at a time.
#[inline(always)]
unsafe fn each_part<L: Lanes<T>, T: Copy, const N: usize>(
    acc: *mut u8,
    lanes: &[&[*const u8]],
    width: usize,
) {
    let mut at = 0;
    // SAFETY: the caller has `width` accumulators, and as many terms in every row.
    unsafe {
        while at + N <= width {
            if let &[a, b, c, d, e, f, g, h] = lanes
                && const { !is_heavy::<L, T>() }
            {
                // Whatever waits for its partner stays in registers.
                let first = pairs::<L, T, N>([a, b, c, d], at);
                put(acc, at, both::<L, T, N>(first, pairs::<L, T, N>([e, f, g, h], at)));
            } else {
                put(acc, at, merged::<L, T, N>(lanes, at));
            }
            at += N;
        }
        for at in at..width {
            put(acc, at, merged::<L, T, 1>(lanes, at));
        }
    }
}

/// Whether a merge is more than an instruction: those of extremes and of complex numbers.
const fn is_heavy<L: Lanes<T>, T: Copy>() -> bool {
    L::QUICK || size_of::<L::Lane>() > align_of::<L::Lane>()
}

/// N neighbouring outputs of some lanes, from the rows of each.
#[inline(always)]
unsafe fn merged<L: Lanes<T>, T: Copy, const N: usize>(lanes: &[&[*const u8]], at: usize) -> [L::Lane; N] {
    let mut room = [const { MaybeUninit::<[L::Lane; N]>::uninit() }; FEW];
    let parts = room.as_mut_ptr().cast::<[L::Lane; N]>();
    let mut count = lanes.len();
    // SAFETY: the caller has N terms there in every row, and at most FEW lanes; what is read was written before.
    unsafe {
        for (k, rows) in lanes.iter().enumerate() {
            parts.add(k).write(one::<L, T, N>(rows, at));
        }
        while count > 1 {
            count /= 2;
            for k in 0..count {
                parts.add(k).write(both::<L, T, N>(parts.add(2 * k).read(), parts.add(2 * k + 1).read()));
            }
        }
        parts.read()
    }
}

/// Four lanes as two that become one.
#[inline(always)]
unsafe fn pairs<L: Lanes<T>, T: Copy, const N: usize>(
    [a, b, c, d]: [&[*const u8]; 4],
    at: usize,
) -> [L::Lane; N] {
    // SAFETY: the caller's promise.
    unsafe {
        let first = both::<L, T, N>(one::<L, T, N>(a, at), one::<L, T, N>(b, at));
        both::<L, T, N>(first, both::<L, T, N>(one::<L, T, N>(c, at), one::<L, T, N>(d, at)))
    }
}

/// N neighbouring outputs of a lane.
#[inline(always)]
unsafe fn one<L: Lanes<T>, T: Copy, const N: usize>(rows: &[*const u8], at: usize) -> [L::Lane; N] {
    let mut part = [L::IDENTITY; N];
    for row in rows {
        // SAFETY: the caller has N terms there in every row.
        let terms = unsafe { column::<T, N>(*row, at) };
        for j in 0..N {
            part[j] = L::merge(part[j], L::lane(terms[j]));
        }
    }
    part
}

#[inline(always)]
fn both<L: Lanes<T>, T: Copy, const N: usize>(mut a: [L::Lane; N], b: [L::Lane; N]) -> [L::Lane; N] {
    for j in 0..N {
        a[j] = L::merge(a[j], b[j]);
    }
    a
}

/// Outputs whose terms and accumulators fit registers.
const PART: usize = 16;

/// Adds terms of N rows to accumulators, or to what changes nothing.
#[inline(always)]
unsafe fn each<L: Lanes<T>, T: Copy, const N: usize>(
    acc: *mut L::Lane,
    rows: [*const T; N],
    width: usize,
    fresh: bool,
) {
    let mut at = 0;
    // SAFETY: the caller has `width` accumulators, and as many terms in every row.
    unsafe {
        while at + PART <= width {
            let mut part = [L::IDENTITY; PART];
            if !fresh {
                part = acc.add(at).cast::<[L::Lane; PART]>().read();
            }
            for row in rows {
                let terms = row.add(at).cast::<[T; PART]>().read();
                for j in 0..PART {
                    part[j] = L::merge(part[j], L::lane(terms[j]));
                }
            }
            acc.add(at).cast::<[L::Lane; PART]>().write(part);
            at += PART;
        }
        for j in at..width {
            let mut one = if fresh { L::IDENTITY } else { acc.add(j).read() };
            for row in rows {
                one = L::merge(one, L::lane(row.add(j).read()));
            }
            acc.add(j).write(one);
        }
    }
}
