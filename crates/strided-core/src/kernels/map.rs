//! Elementwise loops: one function per element, applied along dense, scalar or strided operands.

use super::{Kernel, OPERANDS, Pointers, Steps};
use crate::cpu::{self, Task, dispatch};
use crate::dtype::DType;
use crate::scalar::Element;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A function of N elements of one type.
pub trait Function<A: Copy, const N: usize>: 'static {
    type Out: Copy;
    /// What an element costs next to an addition.
    const WEIGHT: usize = 1;

    /// One element: what the reference kernel computes.
    fn apply(args: [A; N]) -> Self::Out;

    /// Neighbouring elements at once. `FAST` code may use what [`dispatch`] found on this CPU, and may round
    /// differently from `apply` where the function says so.
    #[inline(always)]
    fn block<const L: usize, const FAST: bool>(args: [[A; L]; N]) -> [Self::Out; L] {
        let mut out = [const { MaybeUninit::<Self::Out>::uninit() }; L];
        for (i, slot) in out.iter_mut().enumerate() {
            let mut one = [args[0][0]; N];
            for k in 0..N {
                one[k] = args[k][i];
            }
            slot.write(Self::apply(one));
        }
        // SAFETY: every slot was written.
        unsafe { std::mem::transmute_copy(&out) }
    }
}

/// A fast kernel and the plain one, with the dtypes they are made for.
#[derive(Clone, Copy)]
pub struct Twins {
    fast: Kernel,
    reference: Kernel,
    operands: [DType; OPERANDS - 1],
    result: DType,
    weight: usize,
}

impl Twins {
    pub const fn of<F: Function<A, N, Out: Element>, A: Element, const N: usize>() -> Twins {
        const { assert!(N < OPERANDS) };
        Twins {
            fast: fast::<F, A, N>,
            reference: reference::<F, A, N>,
            operands: [A::DTYPE; OPERANDS - 1],
            result: <F::Out as Element>::DTYPE,
            weight: F::WEIGHT,
        }
    }

    /// Kernels whose operands have several dtypes; those that are not there may have any.
    pub(super) const fn mixed(
        fast: Kernel,
        reference: Kernel,
        operands: [DType; OPERANDS - 1],
        result: DType,
    ) -> Twins {
        Twins { fast, reference, operands, result, weight: 1 }
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

/// The plain kernel of a function.
///
/// # Safety
/// See [`super::Kernel`].
#[inline(always)]
pub(super) unsafe fn reference<F: Function<A, N>, A: Copy, const N: usize>(
    p: &Pointers,
    s: &Steps,
    n: usize,
) {
    for i in 0..n as isize {
        // SAFETY: the kernel's promise.
        unsafe {
            let args = std::array::from_fn(|k| p[k + 1].wrapping_offset(i * s[k + 1]).cast::<A>().read());
            p[0].wrapping_offset(i * s[0]).cast::<F::Out>().write(F::apply(args));
        }
    }
}

/// The fast kernel of a function.
///
/// # Safety
/// See [`super::Kernel`].
pub(super) unsafe fn fast<F: Function<A, N>, A: Copy, const N: usize>(p: &Pointers, s: &Steps, n: usize) {
    // Without elements the addresses may be anything, and loops read a first element before they count.
    if n > 0 {
        dispatch(Run::<F, A, N>(p, s, n, PhantomData));
    }
}

/// One innermost loop, of at least one element.
struct Run<'a, F, A, const N: usize>(&'a Pointers, &'a Steps, usize, PhantomData<(F, A)>);

impl<F: Function<A, N>, A: Copy, const N: usize> Task for Run<'_, F, A, N> {
    #[inline(always)]
    fn run<const FAST: bool>(self) {
        // SAFETY: the promise of `fast`.
        unsafe {
            // A heavy function has one loop for all: its code is large, and what a block costs to load is not.
            match size_of::<A>().max(size_of::<F::Out>()) {
                4 if const { F::WEIGHT > 1 } => self.gathered::<16, FAST>(),
                _ if const { F::WEIGHT > 1 } => self.gathered::<8, FAST>(),
                1 => self.blocks::<64, FAST>(),
                2 | 4 => self.blocks::<32, FAST>(),
                8 => self.blocks::<16, FAST>(),
                _ => self.blocks::<8, FAST>(),
            }
        }
    }
}

impl<F: Function<A, N>, A: Copy, const N: usize> Run<'_, F, A, N> {
    #[inline(always)]
    unsafe fn blocks<const L: usize, const FAST: bool>(&self) {
        let size = size_of::<A>() as isize;
        // Bit k: whether input k is one element for all. The last one or two often are: `x * 2`, `clamp`.
        let mut scalars = 0;
        let mut dense = self.1[0] == size_of::<F::Out>() as isize;
        for k in 0..N {
            scalars |= ((self.1[k + 1] == 0) as usize) << k;
            dense &= self.1[k + 1] == size || self.1[k + 1] == 0;
        }
        // SAFETY: the promise of `fast`; a scalar is read with step 0.
        unsafe {
            if dense && scalars == 0 {
                self.dense::<L, 0, FAST>()
            } else if const { N <= 2 } && dense && scalars == 1 {
                self.dense::<L, 1, FAST>()
            } else if const { N == 2 } && dense && scalars == 2 {
                self.dense::<L, 2, FAST>()
            } else if const { N == 3 } && dense && scalars == 4 {
                self.dense::<L, 4, FAST>()
            } else if const { N == 3 } && dense && scalars == 6 {
                self.dense::<L, 6, FAST>()
            } else if const { N == 4 } && dense && scalars == 8 {
                self.dense::<L, 8, FAST>()
            } else if const { N == 4 } && dense && scalars == 14 {
                self.dense::<L, 14, FAST>()
            } else {
                reference::<F, A, N>(self.0, self.1, self.2)
            }
        }
    }

    /// Dense operands, but for those in the mask. A block is read whole before it is written: so the compiler
    /// needs no proof that input and output differ, and an output that is its input costs nothing.
    #[inline(always)]
    unsafe fn dense<const L: usize, const SCALARS: usize, const FAST: bool>(&self) {
        let (p, n) = (self.0, self.2);
        let out = p[0].cast::<F::Out>();
        let mut at = 0;
        // SAFETY: the promise of `fast`; `at + width <= n` before each block. Scalars are read first.
        unsafe {
            let firsts: [A; N] = std::array::from_fn(|k| p[k + 1].cast::<A>().read());
            while at + L <= n {
                let args = self.load::<L, SCALARS>(&firsts, at);
                out.add(at).cast::<[F::Out; L]>().write_unaligned(F::block::<L, FAST>(args));
                at += L;
            }
            while at + 4 <= n {
                let args = self.load::<4, SCALARS>(&firsts, at);
                out.add(at).cast::<[F::Out; 4]>().write_unaligned(F::block::<4, FAST>(args));
                at += 4;
            }
            while at < n {
                let args = self.load::<1, SCALARS>(&firsts, at);
                out.add(at).write(F::block::<1, FAST>(args)[0]);
                at += 1;
            }
        }
    }

    #[inline(always)]
    unsafe fn load<const W: usize, const SCALARS: usize>(&self, firsts: &[A; N], at: usize) -> [[A; W]; N] {
        let mut args = [[firsts[0]; W]; N];
        for k in 0..N {
            args[k] = if SCALARS >> k & 1 == 1 {
                [firsts[k]; W]
            } else {
                // SAFETY: the callers have W elements from `at` on.
                unsafe { self.0[k + 1].cast::<A>().add(at).cast::<[A; W]>().read_unaligned() }
            };
        }
        args
    }

    /// Any steps: operands are gathered into a block, results scattered.
    #[inline(always)]
    unsafe fn gathered<const L: usize, const FAST: bool>(&self) {
        let (p, s, n) = (self.0, self.1, self.2);
        let mut done = 0;
        while done < n {
            let count = L.min(n - done);
            // SAFETY: the promise of `fast`; the slots behind `count` repeat an element that is there.
            unsafe {
                let mut args = [[p[1].cast::<A>().read(); L]; N];
                for k in 0..N {
                    let (start, step) = (p[k + 1].wrapping_offset(done as isize * s[k + 1]), s[k + 1]);
                    if step == size_of::<A>() as isize && count == L {
                        args[k] = start.cast::<[A; L]>().read_unaligned();
                    } else if step == 0 {
                        args[k] = [start.cast::<A>().read(); L];
                    } else {
                        for (i, slot) in args[k].iter_mut().enumerate() {
                            let i = i.min(count - 1) as isize;
                            *slot = start.wrapping_offset(i * step).cast::<A>().read();
                        }
                    }
                }
                let results = F::block::<L, FAST>(args);
                let out = p[0].wrapping_offset(done as isize * s[0]);
                if s[0] == size_of::<F::Out>() as isize && count == L {
                    out.cast::<[F::Out; L]>().write_unaligned(results);
                } else {
                    for (i, result) in results.iter().enumerate().take(count) {
                        out.wrapping_offset(i as isize * s[0]).cast::<F::Out>().write(*result);
                    }
                }
            }
            done += count;
        }
    }
}
