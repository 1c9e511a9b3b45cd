//! Copies of elements of one size, forwards and backwards.

#![allow(clippy::needless_range_loop)] // as in `map`

use super::loops::{Function, Kernels};
use super::{Kernel, Pointers, Steps};
use crate::cpu::{self, Task, dispatch};
use std::marker::PhantomData;

/// The kernel that copies elements of so many bytes.
pub fn kernel(size: usize) -> Kernel {
    match size {
        1 => kernel_of::<u8>(),
        2 => kernel_of::<u16>(),
        4 => kernel_of::<u32>(),
        8 => kernel_of::<[u32; 2]>(), // complex64 may lie at multiples of 4
        _ => kernel_of::<[u64; 2]>(),
    }
}

fn kernel_of<A: Copy + 'static>() -> Kernel {
    if cpu::reference_kernels() { <Same as Kernels<A, 1>>::reference } else { either_way::<A> }
}

/// A copy as a function.
struct Same;
impl<A: Copy> Function<A, 1> for Same {
    type Out = A;
    #[inline(always)]
    fn apply([a]: [A; 1]) -> A {
        a
    }
}

/// # Safety
/// See [`super::Kernel`].
unsafe fn either_way<A: Copy + 'static>(p: &Pointers, s: &Steps, n: usize) {
    let size = size_of::<A>() as isize;
    if s[0] == size && s[1] == -size {
        dispatch(Backwards::<A>(p[0].cast(), p[1].cast(), n));
    } else {
        // SAFETY: the caller's promise.
        unsafe { <Same as Kernels<A, 1>>::fast(p, s, n) }
    }
}

/// Writes forwards what is read backwards, from the last element on: so many of them.
struct Backwards<A>(*mut A, *const A, usize);

impl<A: Copy + 'static> Task for Backwards<A> {
    type Home = PhantomData<A>;
    const WIDE: bool = false;

    #[inline(always)]
    fn run<const FAST: bool>(self) {
        let Backwards(to, from, n) = self;
        // SAFETY: the promise of `either_way`: there are `n` elements from `to` on, and as many down from `from`.
        unsafe {
            let done = match size_of::<A>() {
                1 => blocks::<A, 64>(to, from, n),
                2 => blocks::<A, 32>(to, from, n),
                _ => blocks::<A, 16>(to, from, n),
            };
            for i in done..n {
                to.add(i).write(from.sub(i).read());
            }
        }
    }
}

/// Whole blocks; returns how many elements they have.
///
/// # Safety
/// There are `n` elements from `to` on, and as many down from `from`.
#[inline(always)]
unsafe fn blocks<A: Copy, const L: usize>(to: *mut A, from: *const A, n: usize) -> usize {
    let whole = n - n % L;
    for at in (0..whole).step_by(L) {
        // SAFETY: the caller's promise.
        unsafe {
            let block = from.sub(at + L - 1).cast::<[A; L]>().read();
            let mut transposed = block;
            for i in 0..L {
                transposed[i] = block[L - 1 - i];
            }
            to.add(at).cast::<[A; L]>().write(transposed);
        }
    }
    whole
}
