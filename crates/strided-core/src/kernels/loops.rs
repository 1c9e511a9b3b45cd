//! Elementwise loops: one function per element, applied along dense, scalar or strided operands.

// Loops over operands and lanes have indices: iterators may be left out of line, and then nothing is vectorised.
#![allow(clippy::needless_range_loop)]

use super::{Kernel, OPERANDS, Pointers, Steps};
use crate::cpu::{self, Task, dispatch};
use crate::dtype::DType;
use crate::scalar::Element;
use std::hint::black_box;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Which loops a function is worth.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Loops {
    /// Blocks where operands are dense or scalars, elsewhere one element after the other: for what costs little.
    Light,
    /// Blocks for all, gathered and scattered where they must be: for what has large code. No code for CPUs below
    /// [`Level::Fused`](cpu::Level), which take the plain kernel.
    Heavy,
    /// The same without code of their own for the widest level: for what has the largest code.
    Bulky,
    /// The plain kernel is all there is: for branches, calls, and what CPUs have no vectors for.
    Plain,
}

impl Loops {
    /// What an element costs next to an addition.
    pub const fn weight(self) -> usize {
        match self {
            Loops::Light => 1,
            Loops::Heavy | Loops::Bulky | Loops::Plain => 8,
        }
    }
}

/// A function of N elements of one type.
pub trait Function<A: Copy, const N: usize>: 'static {
    type Out: Copy;
    const LOOPS: Loops = Loops::Light;

    /// One element: what the plain kernel computes.
    fn apply(args: [A; N]) -> Self::Out;

    /// Neighbouring elements at once, on CPUs from [`Level::Fused`](cpu::Level) on. Where the loops are heavy this may
    /// round differently from `apply`.
    #[inline(always)]
    fn block<const L: usize>(args: [[A; L]; N]) -> [Self::Out; L] {
        each::<Self, A, N, L>(args)
    }
}

/// Neighbouring elements, one after the other.
#[inline(always)]
pub fn each<F: Function<A, N> + ?Sized, A: Copy, const N: usize, const L: usize>(
    args: [[A; L]; N],
) -> [F::Out; L] {
    let mut out = [const { MaybeUninit::<F::Out>::uninit() }; L];
    for (i, slot) in out.iter_mut().enumerate() {
        let mut one = [args[0][0]; N];
        for k in 0..N {
            one[k] = args[k][i];
        }
        slot.write(F::apply(one));
    }
    // SAFETY: every slot was written.
    unsafe { std::mem::transmute_copy(&out) }
}

/// A fast kernel and the plain one, with the dtypes they are made for.
#[derive(Clone, Copy)]
pub struct KernelPair {
    fast: Kernel,
    reference: Kernel,
    operands: [DType; OPERANDS - 1],
    result: DType,
    weight: usize,
}

impl KernelPair {
    pub const fn of<F: Function<A, N, Out: Element>, A: Element, const N: usize>() -> KernelPair {
        const { assert!(N < OPERANDS) };
        KernelPair {
            fast: if matches!(F::LOOPS, Loops::Plain) { F::reference } else { F::fast },
            reference: F::reference,
            operands: [A::DTYPE; OPERANDS - 1],
            result: <F::Out as Element>::DTYPE,
            weight: F::LOOPS.weight(),
        }
    }

    /// Kernels whose operands have several dtypes; those that are not there may have any.
    pub(super) const fn mixed(
        fast: Kernel,
        reference: Kernel,
        operands: [DType; OPERANDS - 1],
        result: DType,
    ) -> KernelPair {
        KernelPair { fast, reference, operands, result, weight: 1 }
    }

    /// The dtype of each operand.
    #[inline]
    pub fn operands(&self) -> &[DType; OPERANDS - 1] {
        &self.operands
    }

    /// The dtype of what is written.
    pub fn result(&self) -> DType {
        self.result
    }

    /// What an element costs next to an addition.
    pub fn weight(&self) -> usize {
        self.weight
    }

    #[inline]
    pub(super) fn kernel(&self) -> Kernel {
        if cpu::reference_kernels() { self.reference } else { self.fast }
    }
}

/// The kernels of a function. Methods of it, so that they are compiled where it is: see [`Task::Home`].
pub(super) trait Kernels<A: Copy, const N: usize>: Function<A, N> {
    /// The plain one.
    ///
    /// # Safety
    /// See [`super::Kernel`].
    unsafe fn reference(p: &Pointers, s: &Steps, n: usize);

    /// The fast one.
    ///
    /// # Safety
    /// See [`super::Kernel`].
    unsafe fn fast(p: &Pointers, s: &Steps, n: usize);
}

impl<F: Function<A, N>, A: Copy, const N: usize> Kernels<A, N> for F {
    unsafe fn reference(p: &Pointers, s: &Steps, n: usize) {
        // SAFETY: the kernel's promise.
        unsafe { one_by_one::<F, A, N>(p, s, n) }
    }

    unsafe fn fast(p: &Pointers, s: &Steps, n: usize) {
        // Without elements the addresses may be anything, and loops read a first element before they count.
        if n > 0 {
            dispatch(Call::<F, A, N>(p, s, n, PhantomData));
        }
    }
}

/// # Safety
/// See [`super::Kernel`].
#[inline(always)]
unsafe fn one_by_one<F: Function<A, N>, A: Copy, const N: usize>(p: &Pointers, s: &Steps, n: usize) {
    for i in 0..n as isize {
        // SAFETY: the kernel's promise.
        unsafe {
            let mut args = [p[1].wrapping_offset(i * s[1]).cast::<A>().read(); N];
            for k in 1..N {
                args[k] = p[k + 1].wrapping_offset(i * s[k + 1]).cast::<A>().read();
            }
            p[0].wrapping_offset(i * s[0]).cast::<F::Out>().write(F::apply(args));
        }
    }
}

/// What `fast` was called with: at least one element.
struct Call<'a, F, A, const N: usize>(&'a Pointers, &'a Steps, usize, PhantomData<(F, A)>);

/// One innermost loop, as far as it has come.
struct Run<F, A, const N: usize> {
    at: Pointers,
    steps: Steps,
    left: usize,
    of: PhantomData<(F, A)>,
}

impl<F: Function<A, N>, A: Copy, const N: usize> Task for Call<'_, F, A, N> {
    type Home = F;
    const WIDE: bool = matches!(F::LOOPS, Loops::Heavy);

    /// Blocks of two registers of 32 bytes or one of 64: more of them are no faster, in any function.
    #[inline(always)]
    fn run<const FAST: bool>(self) {
        let run = Run::<F, A, N> { at: *self.0, steps: *self.1, left: self.2, of: PhantomData };
        // SAFETY: the promise of `fast`.
        unsafe {
            if const { !Run::<F, A, N>::HEAVY } {
                run.light::<FAST>()
            } else if const { !FAST } {
                F::reference(self.0, self.1, self.2)
            } else if const { size_of::<A>() <= 4 } {
                run.gathered::<16>()
            } else {
                run.gathered::<8>()
            }
        }
    }
}

// Conditions are `const`, so that what a function does not take is not even compiled.
impl<F: Function<A, N>, A: Copy, const N: usize> Run<F, A, N> {
    const HEAVY: bool = matches!(F::LOOPS, Loops::Heavy | Loops::Bulky);
    /// Bytes of the wider one of input and output.
    const WIDEST: usize =
        if size_of::<A>() > size_of::<F::Out>() { size_of::<A>() } else { size_of::<F::Out>() };

    /// The first of the inputs that a loop keeps in registers.
    const FIRST_FIXED: usize = if N == 1 { 0 } else { 1 };

    /// Widths that keep four registers of 32 bytes busy. `FAST` is worth code of its own for every case.
    #[inline(always)]
    unsafe fn light<const FAST: bool>(self) {
        // SAFETY: the promise of `fast`.
        unsafe {
            if const { Self::WIDEST == 1 } {
                self.blocks::<64, FAST>()
            } else if const { Self::WIDEST <= 4 } {
                self.blocks::<32, FAST>()
            } else if const { Self::WIDEST <= 8 } {
                self.blocks::<16, FAST>()
            } else {
                self.blocks::<8, FAST>()
            }
        }
    }

    #[inline(always)]
    unsafe fn blocks<const L: usize, const FAST: bool>(mut self) {
        let mut rooms = [const { MaybeUninit::uninit() }; N];
        // SAFETY: the promise of `fast`, kept by every step; `forward` proves that blocks may be read and written.
        unsafe {
            if let Some(forward) = self.spread::<L>(&mut rooms) {
                // `x * 2` is worth a loop that keeps the 2 in a register, and a cast of one element for all one cast.
                let mut fixed = const { FAST };
                for k in Self::FIRST_FIXED..N {
                    fixed &= forward[k] == 0;
                }
                if fixed {
                    self.dense::<L, true, FAST>(&forward);
                }
                self.dense::<L, false, FAST>(&forward);
                if const { FAST } {
                    self.dense::<4, false, FAST>(&forward);
                    self.dense::<1, false, FAST>(&forward);
                    return;
                }
            }
            if const { FAST } {
                one_by_one::<F, A, N>(&self.at, &self.steps, self.left)
            } else {
                F::reference(&self.at, &self.steps, self.left)
            }
        }
    }

    /// How many elements each input goes forward with every element of the output, if all of them are dense or
    /// scalars: 1 or 0. Scalars are spread over a room each, so that one loop reads them as the others.
    ///
    /// # Safety
    /// The promise of `fast`; the rooms outlive the loop.
    #[inline(always)]
    unsafe fn spread<const L: usize>(&mut self, rooms: &mut [MaybeUninit<[A; L]>; N]) -> Option<[usize; N]> {
        let mut dense = self.steps[0] == size_of::<F::Out>() as isize;
        for k in 1..=N {
            dense &= self.steps[k] == size_of::<A>() as isize || self.steps[k] == 0;
        }
        if !dense {
            return None;
        }
        let mut forward = [1; N];
        for (k, room) in rooms.iter_mut().enumerate() {
            if self.steps[k + 1] == 0 {
                forward[k] = 0;
                // SAFETY: there is at least one element.
                room.write([unsafe { self.at[k + 1].cast::<A>().read() }; L]);
                self.at[k + 1] = room.as_mut_ptr().cast();
            }
        }
        Some(forward)
    }

    /// Whole blocks. One is read before it is written: so the compiler needs no proof that input and output differ,
    /// and an output that is its input costs nothing. `FIXED` says that inputs from [`Self::FIRST_FIXED`] on are scalars.
    ///
    /// # Safety
    /// The promise of `fast`, with an element left where `FIXED`; `forward` comes from `spread`, for blocks of W or more.
    #[inline(always)]
    unsafe fn dense<const W: usize, const FIXED: bool, const FAST: bool>(&mut self, forward: &[usize; N]) {
        // SAFETY: there is at least one element where inputs are fixed.
        let first = if const { FIXED } { Some(unsafe { self.load::<1>() }) } else { None };
        while self.left >= W {
            cpu::loop_barrier();
            // SAFETY: W elements are left.
            unsafe {
                let mut args = self.load::<W>();
                if let Some(first) = first {
                    for k in Self::FIRST_FIXED..N {
                        args[k] = [first[k][0]; W];
                    }
                }
                let results = if const { FAST } { F::block(args) } else { each::<F, A, N, W>(args) };
                self.at[0].cast::<[F::Out; W]>().write_unaligned(results);
                self.at[0] = self.at[0].cast::<F::Out>().add(W).cast();
                for k in 0..N {
                    self.at[k + 1] = self.at[k + 1].cast::<A>().add(W * forward[k]).cast();
                }
            }
            self.left -= W;
        }
    }

    /// # Safety
    /// W elements of each input lie where `at` says.
    #[inline(always)]
    unsafe fn load<const W: usize>(&self) -> [[A; W]; N] {
        // SAFETY: the caller's promise.
        unsafe {
            let mut args = [self.at[1].cast::<[A; W]>().read_unaligned(); N];
            for k in 1..N {
                args[k] = self.at[k + 1].cast::<[A; W]>().read_unaligned();
            }
            args
        }
    }

    /// One loop for all steps: what is not dense, or no whole block, passes through rooms.
    ///
    /// # Safety
    /// The promise of `fast`.
    #[inline(always)]
    unsafe fn gathered<const L: usize>(mut self) {
        let mut spread = [const { MaybeUninit::uninit() }; N];
        let mut rooms = [const { MaybeUninit::<[[A; L]; ROOM]>::uninit() }; N];
        let mut results = MaybeUninit::<[[F::Out; L]; ROOM]>::uninit();
        // SAFETY: the promise of `fast`.
        let forward = unsafe { self.spread::<L>(&mut spread) };
        while self.left > 0 {
            let mut next = Self { ..self };
            let direct = forward.is_some() && self.left >= L;
            let count = self.left.min(ROOM * L);
            if !direct {
                next.left = count.next_multiple_of(L);
                for k in 0..N {
                    let room = rooms[k].as_mut_ptr().cast::<A>();
                    // SAFETY: `count` elements are left.
                    unsafe { gather(room, self.at[k + 1], self.steps[k + 1], count, next.left) };
                    next.at[k + 1] = room.cast();
                }
                next.at[0] = results.as_mut_ptr().cast();
            }
            // Hidden, or the compiler might copy the large body, for rooms.
            next.left = black_box(next.left);
            // SAFETY: every address is one of so many elements: of an operand, or of a room.
            unsafe { next.dense::<L, false, true>(&forward.unwrap_or([1; N])) };
            if direct {
                self = next;
                continue;
            }
            // SAFETY: the blocks wrote the results; `count` elements are left.
            unsafe { scatter(self.at[0], self.steps[0], results.as_ptr().cast::<F::Out>(), count) };
            for k in 0..=N {
                self.at[k] = self.at[k].wrapping_offset(count as isize * self.steps[k]);
            }
            self.left -= count;
        }
    }
}

/// Blocks of a room: several, so that the loop's constants are worth their registers.
const ROOM: usize = 4;

/// Reads elements into a room, and repeats the last until it has as many as wanted.
///
/// # Safety
/// The elements are there, at least one; the room has as many places.
#[inline(never)]
unsafe fn gather<A: Copy>(room: *mut A, from: *mut u8, step: isize, count: usize, wanted: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        for i in 0..count {
            room.add(i).write(from.wrapping_offset(i as isize * step).cast::<A>().read());
        }
        let last = room.add(count - 1).read();
        for i in count..wanted {
            room.add(i).write(last);
        }
    }
}

/// Writes elements from a room.
///
/// # Safety
/// The room has as many, and they have their places.
#[inline(never)]
unsafe fn scatter<T: Copy>(to: *mut u8, step: isize, room: *const T, count: usize) {
    for i in 0..count {
        // SAFETY: the caller's promise.
        unsafe { to.wrapping_offset(i as isize * step).cast::<T>().write(room.add(i).read()) };
    }
}
