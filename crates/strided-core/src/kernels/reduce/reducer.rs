//! The loops of a reduction, made for one type: accumulators are bytes to those who call them.

#![allow(clippy::needless_range_loop)] // as in `map`

use super::GROUP;
use super::fold::{Fold, InLanes, Lanes, Outcome, Themselves};
use super::groups::column;
use crate::cpu::{self, Task, dispatch};
use crate::dtype::DType;
use crate::scalar::Element;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

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
        Reducer::with_lanes::<InLanes<L>, L, T>()
    }

    /// One with lanes that takes adjacent terms in another way.
    pub const fn with_lanes<F: Fold<T, Acc = L::Lane>, L: Lanes<T>, T: Element>() -> Reducer {
        const { assert!(size_of::<L::Lane>() <= 16 && align_of::<L::Lane>() <= 8) };
        let across = Across { absorb: absorb::<L, T>, together: together::<L, T> };
        Reducer { across: Some(across), ..Reducer::of::<F, T>() }
    }

    /// The same for terms of another dtype, whose bits mean the same to it.
    pub const fn reading(self, terms: DType) -> Reducer {
        assert!(self.terms.size() == terms.size());
        Reducer { terms, ..self }
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
        const BASELINE: bool = !F::FUSED;

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
    if const { F::WEIGHT > 1 && !F::FUSED } && cpu::reference_kernels() {
        run.run::<false>()
    } else {
        dispatch(run)
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
    struct Run<F, T>(*const u8, usize, usize, f64, [*mut u8; 2], PhantomData<(F, T)>);
    impl<F: Fold<T>, T: Copy> Task for Run<F, T> {
        type Home = F;
        const WIDE: bool = F::WEIGHT > 1;
        const BASELINE: bool = !F::FUSED;

        #[inline(always)]
        fn run<const FAST: bool>(self) {
            let Run(from, width, terms, number, places, _) = self;
            let whole = width - width % PART;
            // SAFETY: the caller of `finish` has `width` accumulators, and room for as many results.
            unsafe {
                for at in (0..whole).step_by(PART) {
                    let results = F::finish_all::<FAST, PART>(column(from, at), terms, number);
                    F::Out::write(results, places, at);
                }
                for at in whole..width {
                    F::Out::write(F::finish_all::<FAST, 1>(column(from, at), terms, number), places, at);
                }
            }
        }
    }
    let run = Run::<F, T>(from, width, terms, number, places, PhantomData);
    if const { F::WEIGHT > 1 && !F::FUSED } && cpu::reference_kernels() {
        run.run::<false>()
    } else {
        dispatch(run)
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
        const BASELINE: bool = !L::FUSED;

        #[inline(always)]
        fn run<const FAST: bool>(self) {
            let Run(acc, mut rows, width, mut fresh, _) = self;
            // SAFETY: the caller of `absorb` has `width` accumulators, and as many terms in every row.
            unsafe {
                // Several rows at once: accumulators are read and written less often, and memory has more to do.
                while let [a, b, c, d, rest @ ..] = rows {
                    each::<L, T, 4, FAST>(acc, [*a, *b, *c, *d], width, fresh);
                    (rows, fresh) = (rest, false);
                }
                if let [a, b, rest @ ..] = rows {
                    each::<L, T, 2, FAST>(acc, [*a, *b], width, fresh);
                    (rows, fresh) = (rest, false);
                }
                if let [a] = rows {
                    each::<L, T, 1, FAST>(acc, [*a], width, fresh);
                } else if fresh {
                    each::<L, T, 0, FAST>(acc, [], width, true);
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
        const BASELINE: bool = !L::FUSED;

        #[inline(always)]
        fn run<const FAST: bool>(self) {
            let Run(acc, lanes, width, _) = self;
            // SAFETY: the caller of `together` has `width` accumulators, and as many terms in every row.
            unsafe {
                // A part is two registers; those of merges that take several instructions are longer, to be worth it.
                match const { if is_heavy::<L, T>() { 4 } else { size_of::<L::Lane>() } } {
                    1 => each_part::<L, T, 64, FAST>(acc, lanes, width),
                    2 | 4 => each_part::<L, T, 16, FAST>(acc, lanes, width),
                    _ => each_part::<L, T, 8, FAST>(acc, lanes, width),
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
        const BASELINE: bool = !F::FUSED;

        #[inline(always)]
        fn run<const FAST: bool>(self) {
            let Run(acc, rows, width, _) = self;
            let whole = width - width % PART;
            // SAFETY: the caller of `beside` has `width` accumulators, and as many terms in every row.
            unsafe {
                for at in (0..whole).step_by(PART) {
                    put(acc, at, F::beside::<Themselves, FAST, PART>(rows, at));
                }
                for at in whole..width {
                    put(acc, at, F::beside::<Themselves, FAST, 1>(rows, at));
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

/// Writes the outputs of some lanes, N at a time. The last ones may share outputs with those before: they are alike.
#[inline(always)]
unsafe fn each_part<L: Lanes<T>, T: Copy, const N: usize, const FAST: bool>(
    acc: *mut u8,
    lanes: &[&[*const u8]],
    width: usize,
) {
    // SAFETY: the caller has `width` accumulators, and as many terms in every row.
    unsafe {
        if width < N {
            for at in 0..width {
                put(acc, at, merged::<L, T, 1, FAST, false>(lanes, at).0);
            }
            return;
        }
        let mut next = 0;
        while next < width {
            let at = next.min(width - N);
            next += N;
            if const { FAST && L::QUICK } {
                let (part, odd) = merged::<L, T, N, FAST, true>(lanes, at);
                if !odd {
                    put(acc, at, part);
                    continue;
                }
            }
            put(acc, at, merged::<L, T, N, FAST, false>(lanes, at).0);
        }
    }
}

/// Whether a merge is more than an instruction: those of complex numbers.
const fn is_heavy<L: Lanes<T>, T: Copy>() -> bool {
    size_of::<L::Lane>() > align_of::<L::Lane>()
}

/// N neighbouring outputs of some lanes, from the rows of each; and whether some terms that were merged quickly are odd.
#[inline(always)]
unsafe fn merged<L: Lanes<T>, T: Copy, const N: usize, const FAST: bool, const QUICK: bool>(
    lanes: &[&[*const u8]],
    at: usize,
) -> ([L::Lane; N], bool) {
    let mut odd = [L::IDENTITY; N];
    // SAFETY: the caller has N terms there in every row.
    let part = unsafe {
        match *lanes {
            // A row for each lane: no loop for it.
            [&[a], &[b], &[c], &[d], &[e], &[f], &[g], &[h]] if const { FAST && N > 1 && !is_heavy::<L, T>() } =>
            {
                let first = pairs::<L, T, N, FAST, QUICK>([&[a], &[b], &[c], &[d]], at, &mut odd);
                let second = pairs::<L, T, N, FAST, QUICK>([&[e], &[f], &[g], &[h]], at, &mut odd);
                both::<L, T, N, QUICK>(first, second)
            }
            // Whatever waits for its partner stays in registers.
            [a, b, c, d, e, f, g, h] if const { FAST && N > 1 && !is_heavy::<L, T>() } => {
                let first = pairs::<L, T, N, FAST, QUICK>([a, b, c, d], at, &mut odd);
                both::<L, T, N, QUICK>(first, pairs::<L, T, N, FAST, QUICK>([e, f, g, h], at, &mut odd))
            }
            _ => any_number::<L, T, N, FAST, QUICK>(lanes, at, &mut odd),
        }
    };
    let mut any = false;
    for j in 0..N {
        any |= QUICK && L::is_odd(odd[j]);
    }
    (part, any)
}

/// The same of up to FEW lanes.
#[inline(always)]
unsafe fn any_number<L: Lanes<T>, T: Copy, const N: usize, const FAST: bool, const QUICK: bool>(
    lanes: &[&[*const u8]],
    at: usize,
    odd: &mut [L::Lane; N],
) -> [L::Lane; N] {
    let mut room = [const { MaybeUninit::<[L::Lane; N]>::uninit() }; FEW];
    let parts = room.as_mut_ptr().cast::<[L::Lane; N]>();
    let mut count = lanes.len();
    // SAFETY: the caller has N terms there in every row, and at most FEW lanes; what is read was written before.
    unsafe {
        for (k, rows) in lanes.iter().enumerate() {
            parts.add(k).write(one::<L, T, N, FAST, QUICK>(rows, at, odd));
        }
        while count > 1 {
            count /= 2;
            for k in 0..count {
                let (a, b) = (parts.add(2 * k).read(), parts.add(2 * k + 1).read());
                parts.add(k).write(both::<L, T, N, QUICK>(a, b));
            }
        }
        parts.read()
    }
}

/// Four lanes as two that become one.
#[inline(always)]
unsafe fn pairs<L: Lanes<T>, T: Copy, const N: usize, const FAST: bool, const QUICK: bool>(
    [a, b, c, d]: [&[*const u8]; 4],
    at: usize,
    odd: &mut [L::Lane; N],
) -> [L::Lane; N] {
    // SAFETY: the caller's promise.
    unsafe {
        let first = one::<L, T, N, FAST, QUICK>(a, at, odd);
        let first = both::<L, T, N, QUICK>(first, one::<L, T, N, FAST, QUICK>(b, at, odd));
        let second = one::<L, T, N, FAST, QUICK>(c, at, odd);
        both::<L, T, N, QUICK>(first, both::<L, T, N, QUICK>(second, one::<L, T, N, FAST, QUICK>(d, at, odd)))
    }
}

/// N neighbouring outputs of a lane.
#[inline(always)]
unsafe fn one<L: Lanes<T>, T: Copy, const N: usize, const FAST: bool, const QUICK: bool>(
    rows: &[*const u8],
    at: usize,
    odd: &mut [L::Lane; N],
) -> [L::Lane; N] {
    let mut part = [L::IDENTITY; N];
    for row in rows {
        // SAFETY: the caller has N terms there in every row.
        let terms = unsafe { L::read::<FAST, N>(row.cast::<T>().add(at)) };
        part = both::<L, T, N, QUICK>(part, terms);
        if QUICK {
            for j in 0..N {
                odd[j] = if L::is_odd(terms[j]) { L::ODD } else { odd[j] };
            }
        }
    }
    part
}

#[inline(always)]
fn both<L: Lanes<T>, T: Copy, const N: usize, const QUICK: bool>(
    mut a: [L::Lane; N],
    b: [L::Lane; N],
) -> [L::Lane; N] {
    for j in 0..N {
        a[j] = if QUICK { L::quick(a[j], b[j]) } else { L::merge(a[j], b[j]) };
    }
    a
}

/// Outputs whose terms and accumulators fit registers.
const PART: usize = 16;

/// Adds terms of N rows to accumulators, or to what changes nothing. The last part may share columns with the one before
/// it: so it is made before any is written.
#[inline(always)]
unsafe fn each<L: Lanes<T>, T: Copy, const N: usize, const FAST: bool>(
    acc: *mut u8,
    rows: [*const u8; N],
    width: usize,
    fresh: bool,
) {
    // SAFETY: the caller has `width` accumulators, and as many terms in every row.
    unsafe {
        if width < PART {
            for at in 0..width {
                put(acc, at, more::<L, T, N, 1, FAST>(acc, rows, at, fresh));
            }
            return;
        }
        let end = width - PART;
        let last = more::<L, T, N, PART, FAST>(acc, rows, end, fresh);
        for at in (0..end).step_by(PART) {
            put(acc, at, more::<L, T, N, PART, FAST>(acc, rows, at, fresh));
        }
        put(acc, end, last);
    }
}

/// W accumulators with the terms of N rows.
#[inline(always)]
unsafe fn more<L: Lanes<T>, T: Copy, const N: usize, const W: usize, const FAST: bool>(
    acc: *const u8,
    rows: [*const u8; N],
    at: usize,
    fresh: bool,
) -> [L::Lane; W] {
    // SAFETY: the caller has W accumulators from there on, and as many terms in every row.
    unsafe {
        let mut part = if fresh { [L::IDENTITY; W] } else { column::<L::Lane, W>(acc, at) };
        for row in rows {
            part = both::<L, T, W, false>(part, L::read::<FAST, W>(row.cast::<T>().add(at)));
        }
        part
    }
}
