//! Copies of elements of one size, in the same or in reverse order.

#![allow(clippy::needless_range_loop)] // as in `kernels::loops`

use super::loops::{Function, LevelKernels};
use super::{Kernel, Pointers, Steps};
use crate::cpu::{self, Specialised, dispatch};
use std::marker::PhantomData;

/// The kernel that copies elements of `size` bytes (1, 2, 4, 8 or 16).
pub fn kernel(size: usize) -> Kernel {
    match size {
        1 => kernel_of::<u8>(),
        2 => kernel_of::<u16>(),
        4 => kernel_of::<u32>(),
        8 => kernel_of::<[u32; 2]>(), // complex64 is aligned to 4 bytes only
        _ => kernel_of::<[u64; 2]>(),
    }
}

fn kernel_of<A: Copy + 'static>() -> Kernel {
    if cpu::reference_kernels() { elementwise::<A>() } else { copy_or_reverse::<A> }
}

/// The kernel without a case for reversed elements.
#[inline]
fn elementwise<A: Copy + 'static>() -> Kernel {
    const { LevelKernels::of::<CopyElement, A, 1>() }.select()
}

/// The copy of one element, as a function for the elementwise loops.
pub struct CopyElement;
impl<A: Copy> Function<A, 1> for CopyElement {
    type Out = A;
    #[inline(always)]
    fn apply([a]: [A; 1]) -> A {
        a
    }
}

/// Copies elements. A dense input that is read backwards has loops that reverse whole registers.
///
/// # Safety
/// The contract of [`super::Kernel`], for two operands of type `A`.
unsafe fn copy_or_reverse<A: Copy + 'static>(p: &Pointers, s: &Steps, n: usize) {
    let size = size_of::<A>() as isize;
    if s[0] == size && s[1] == -size {
        dispatch(ReverseCopy::<A> { to: p[0].cast(), from: p[1].cast(), n });
    } else {
        // SAFETY: this function's contract: p[k] + i * s[k] is valid for i < n.
        unsafe { elementwise::<A>()(p, s, n) }
    }
}

/// Copies `from - i` to `to + i`, counted in elements, for `i < n`. Only `copy_or_reverse` makes one, with addresses
/// that its own contract covers.
struct ReverseCopy<A> {
    to: *mut A,
    from: *const A,
    n: usize,
}

impl<A: Copy + 'static> Specialised for ReverseCopy<A> {
    type Home = PhantomData<A>;
    const WIDE: bool = false;

    #[inline(always)]
    fn compute<const FAST: bool>(self) {
        let ReverseCopy { to, from, n } = self;
        // SAFETY: the contract of `copy_or_reverse`, which made this: `to + i` and `from - i` are valid for i < n.
        unsafe {
            let done = match size_of::<A>() {
                1 => reverse_blocks::<A, 64>(to, from, n),
                2 => reverse_blocks::<A, 32>(to, from, n),
                _ => reverse_blocks::<A, 16>(to, from, n),
            };
            for i in done..n {
                to.add(i).write(from.sub(i).read());
            }
        }
    }
}

/// Copies whole blocks of `L` elements in reverse order; returns how many elements they have.
///
/// # Safety
/// `to + i` is valid for writing and `from - i` for reading, counted in elements, for every `i < n`.
#[inline(always)]
unsafe fn reverse_blocks<A: Copy, const L: usize>(to: *mut A, from: *const A, n: usize) -> usize {
    let whole = n - n % L;
    for at in (0..whole).step_by(L) {
        // SAFETY: this function's contract; `at + L <= n`.
        unsafe {
            let block = from.sub(at + L - 1).cast::<[A; L]>().read();
            let mut reversed = block;
            for i in 0..L {
                reversed[i] = block[L - 1 - i];
            }
            to.add(at).cast::<[A; L]>().write(reversed);
        }
    }
    whole
}
