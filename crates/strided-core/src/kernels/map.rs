//! Elementwise loops: one function per element, applied along dense, scalar or strided operands.

use super::{Kernel, Pointers, Steps};
use crate::cpu::{self, simd};
use crate::dtype::DType;
use crate::scalar::Element;
use std::mem::MaybeUninit;

/// A function of one element.
pub trait Unary<A: Copy> {
    type Out: Element;
    fn apply(a: A) -> Self::Out;
}

/// A function of two elements.
pub trait Binary<A: Copy> {
    type Out: Element;
    fn apply(a: A, b: A) -> Self::Out;
}

/// A fast kernel, and the plain one that it must equal bit for bit, with the dtypes they are made for.
#[derive(Clone, Copy)]
pub struct Twins {
    fast: Kernel,
    reference: Kernel,
    operand: DType,
    result: DType,
}

impl Twins {
    pub const fn unary<F: Unary<A>, A: Element>() -> Twins {
        Twins::new::<A, F::Out>(unary::<F, A>, unary_reference::<F, A>)
    }

    pub const fn binary<F: Binary<A>, A: Element>() -> Twins {
        Twins::new::<A, F::Out>(binary::<F, A>, binary_reference::<F, A>)
    }

    const fn new<A: Element, O: Element>(fast: Kernel, reference: Kernel) -> Twins {
        Twins { fast, reference, operand: A::DTYPE, result: O::DTYPE }
    }

    /// The dtype of every operand.
    pub fn operand(&self) -> DType {
        self.operand
    }

    /// The dtype of what is written.
    pub fn result(&self) -> DType {
        self.result
    }

    #[inline]
    pub(super) fn kernel(&self) -> Kernel {
        if cpu::reference_kernels() { self.reference } else { self.fast }
    }
}

/// The kernel of a unary function.
///
/// # Safety
/// See [`super::Kernel`].
unsafe fn unary<F: Unary<A>, A: Copy>(p: &Pointers, s: &Steps, n: usize) {
    // SAFETY: the caller's promise, passed on.
    unsafe { map1(p, s, n, F::apply) }
}

/// The kernel of a binary function.
///
/// # Safety
/// See [`super::Kernel`].
unsafe fn binary<F: Binary<A>, A: Copy>(p: &Pointers, s: &Steps, n: usize) {
    let (a_size, out_size) = (size_of::<A>() as isize, size_of::<F::Out>() as isize);
    let (a, b): (*const A, *const A) = (p[1].cast(), p[2].cast());
    let out: *mut F::Out = p[0].cast();
    // SAFETY: the caller's promise; scalars are read before anything is written.
    simd(|| unsafe {
        if s[0] == out_size && s[1] == a_size && s[2] == a_size {
            runs::<_, F::Out>(out, n, Binaries::<A, F>(a, b, std::marker::PhantomData))
        } else if s[0] == out_size && s[1] == 0 && s[2] == a_size {
            let left = a.read();
            map_dense(out, b, n, |right| F::apply(left, right))
        } else if s[0] == out_size && s[1] == a_size && s[2] == 0 {
            let right = b.read();
            map_dense(out, a, n, |left| F::apply(left, right))
        } else {
            strided2::<F, A>(p, s, n)
        }
    })
}

/// The plain twin of [`unary`].
///
/// # Safety
/// See [`super::Kernel`].
unsafe fn unary_reference<F: Unary<A>, A: Copy>(p: &Pointers, s: &Steps, n: usize) {
    // SAFETY: the caller's promise, passed on.
    unsafe { strided1(p, s, n, F::apply) }
}

/// The plain twin of [`binary`].
///
/// # Safety
/// See [`super::Kernel`].
unsafe fn binary_reference<F: Binary<A>, A: Copy>(p: &Pointers, s: &Steps, n: usize) {
    // SAFETY: the caller's promise, passed on.
    unsafe { strided2::<F, A>(p, s, n) }
}

/// Applies `f` along operand 1 into operand 0: the body of unary kernels, casts and copies.
///
/// # Safety
/// See [`super::Kernel`].
#[inline(always)]
pub(super) unsafe fn map1<A: Copy, O: Copy>(p: &Pointers, s: &Steps, n: usize, f: impl Fn(A) -> O + Copy) {
    let (out, a): (*mut O, *const A) = (p[0].cast(), p[1].cast());
    if cpu::reference_kernels() {
        // SAFETY: the caller's promise.
        return unsafe { strided1(p, s, n, f) };
    }
    // SAFETY: the caller's promise.
    simd(|| unsafe {
        if s[0] == size_of::<O>() as isize && s[1] == size_of::<A>() as isize {
            map_dense(out, a, n, f)
        } else if s[0] == size_of::<O>() as isize && s[1] == 0 {
            let value = f(a.read());
            runs(out, n, Constant(value))
        } else {
            strided1(p, s, n, f)
        }
    })
}

#[inline(always)]
unsafe fn strided1<A: Copy, O: Copy>(p: &Pointers, s: &Steps, n: usize, f: impl Fn(A) -> O) {
    let (mut out, mut a) = (p[0], p[1]);
    for _ in 0..n {
        // SAFETY: the kernel's promise; addresses past the last element are computed but not used.
        unsafe { out.cast::<O>().write(f(a.cast::<A>().read())) };
        out = out.wrapping_offset(s[0]);
        a = a.wrapping_offset(s[1]);
    }
}

#[inline(always)]
unsafe fn strided2<F: Binary<A>, A: Copy>(p: &Pointers, s: &Steps, n: usize) {
    let (mut out, mut a, mut b) = (p[0], p[1], p[2]);
    for _ in 0..n {
        // SAFETY: as in `strided1`.
        unsafe { out.cast::<F::Out>().write(F::apply(a.cast::<A>().read(), b.cast::<A>().read())) };
        out = out.wrapping_offset(s[0]);
        a = a.wrapping_offset(s[1]);
        b = b.wrapping_offset(s[2]);
    }
}

/// # Safety
/// `out` and `a` are addresses of `n` adjacent elements.
#[inline(always)]
unsafe fn map_dense<A: Copy, O: Copy>(out: *mut O, a: *const A, n: usize, f: impl Fn(A) -> O + Copy) {
    // SAFETY: the caller's promise.
    unsafe { runs(out, n, Unaries(a, f)) }
}

/// Something that computes `L` neighbouring results at a time, reading all it needs before returning.
trait Source<O: Copy>: Copy {
    /// # Safety
    /// Elements `at .. at + L` of the inputs are readable.
    unsafe fn take<const L: usize>(self, at: usize) -> [O; L];
}

/// Writes dense results in blocks. A block is read whole before it is written: so the compiler needs no
/// proof that input and output differ, and an output that is its input costs nothing.
///
/// # Safety
/// `out` is the address of `n` adjacent writable elements, and `source` has `n`.
#[inline(always)]
unsafe fn runs<S: Source<O>, O: Copy>(out: *mut O, n: usize, source: S) {
    // SAFETY: the caller's promise.
    unsafe {
        match size_of::<O>() {
            1 => blocks::<S, O, 64>(out, n, source),
            2 => blocks::<S, O, 32>(out, n, source),
            4 => blocks::<S, O, 32>(out, n, source),
            8 => blocks::<S, O, 16>(out, n, source),
            _ => blocks::<S, O, 8>(out, n, source),
        }
    }
}

#[inline(always)]
unsafe fn blocks<S: Source<O>, O: Copy, const L: usize>(out: *mut O, n: usize, source: S) {
    let mut at = 0;
    // SAFETY: `at + width <= n` before each block.
    unsafe {
        while at + L <= n {
            out.add(at).cast::<[O; L]>().write_unaligned(source.take::<L>(at));
            at += L;
        }
        while at + 4 <= n {
            out.add(at).cast::<[O; 4]>().write_unaligned(source.take::<4>(at));
            at += 4;
        }
        while at < n {
            out.add(at).write(source.take::<1>(at)[0]);
            at += 1;
        }
    }
}

#[derive(Clone, Copy)]
struct Constant<O>(O);
impl<O: Copy> Source<O> for Constant<O> {
    #[inline(always)]
    unsafe fn take<const L: usize>(self, _: usize) -> [O; L] {
        [self.0; L]
    }
}

#[derive(Clone, Copy)]
struct Unaries<A, F>(*const A, F);
impl<A: Copy, O: Copy, F: Fn(A) -> O + Copy> Source<O> for Unaries<A, F> {
    #[inline(always)]
    unsafe fn take<const L: usize>(self, at: usize) -> [O; L] {
        // SAFETY: the caller's promise.
        let a = unsafe { self.0.add(at).cast::<[A; L]>().read_unaligned() };
        collect(|i| self.1(a[i]))
    }
}

struct Binaries<A, F>(*const A, *const A, std::marker::PhantomData<F>);
impl<A, F> Clone for Binaries<A, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A, F> Copy for Binaries<A, F> {}
impl<A: Copy, F: Binary<A>> Source<F::Out> for Binaries<A, F> {
    #[inline(always)]
    unsafe fn take<const L: usize>(self, at: usize) -> [F::Out; L] {
        // SAFETY: the caller's promise.
        let (a, b) = unsafe {
            (
                self.0.add(at).cast::<[A; L]>().read_unaligned(),
                self.1.add(at).cast::<[A; L]>().read_unaligned(),
            )
        };
        collect(|i| F::apply(a[i], b[i]))
    }
}

/// `[f(0), f(1), …]` as a loop that the compiler turns into vector instructions (`array::from_fn` is not).
#[inline(always)]
fn collect<O: Copy, const L: usize>(f: impl Fn(usize) -> O) -> [O; L] {
    let mut out = [const { MaybeUninit::<O>::uninit() }; L];
    for (i, slot) in out.iter_mut().enumerate() {
        slot.write(f(i));
    }
    // SAFETY: every slot was written.
    unsafe { std::mem::transmute_copy(&out) }
}
