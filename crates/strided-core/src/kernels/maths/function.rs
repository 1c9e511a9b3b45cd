//! A function of floats as a type: the fast body of a lane, the arguments it leaves out, the exact body, and how a block of
//! lanes is computed from them.

#![allow(clippy::needless_range_loop)] // as in `kernels::loops`

use super::super::loops::Loops;
use crate::cpu;
use std::hint::black_box;

/// A function of one float.
pub trait Function1<T: Copy>: 'static {
    const LOOPS: Loops = Loops::Heavy;
    /// The fast body: branch-free, for code compiled with fused multiply-add.
    fn lane(x: T) -> T;
    /// Whether the fast body does not serve this argument.
    fn is_rare(x: T) -> bool;
    /// Whether a result of the fast body says that it does not serve the argument.
    #[inline(always)]
    fn failed(_y: T) -> bool {
        false
    }
    /// The exact body: correctly rounded or nearly so, and fast enough without fused multiply-add.
    fn exact(x: T) -> T;

    /// A block of results. A block without rare lanes pays for one test.
    #[inline(always)]
    fn block<const L: usize>(x: [T; L]) -> [T; L] {
        let (mut y, mut any) = (x, false);
        // A loop and not a closure: see `cpu::Specialised`. A second loop for `any` would be unrolled.
        for i in 0..L {
            y[i] = Self::lane(x[i]);
            any |= Self::is_rare(x[i]) | Self::failed(y[i]);
        }
        if any { Self::patch(x, y) } else { y }
    }

    /// The block with its rare lanes replaced. `black_box` and `reload` hide from the compiler that the call takes the
    /// blocks by address: it would keep them in memory throughout, which made `sin` and `fmod` three times as slow.
    #[inline(always)]
    fn patch<const L: usize>(x: [T; L], y: [T; L]) -> [T; L] {
        reload(&patch1::<Self, T, L>(black_box(x), black_box(y)))
    }
}

/// A function of two floats.
pub trait Function2<T: Copy>: 'static {
    const LOOPS: Loops = Loops::Heavy;
    /// Whether whole blocks outside the fast range are expected. They skip the fast body.
    const OFTEN_RARE: bool = false;
    fn lane(x: T, y: T) -> T;
    fn is_rare(x: T, y: T) -> bool;
    #[inline(always)]
    fn failed(_z: T) -> bool {
        false
    }
    fn exact(x: T, y: T) -> T;

    #[inline(always)]
    fn block<const L: usize>(x: [T; L], y: [T; L]) -> [T; L] {
        let (mut z, mut any) = (x, false);
        if const { Self::OFTEN_RARE } {
            let mut all = true;
            for i in 0..L {
                all &= Self::is_rare(x[i], y[i]);
            }
            if all {
                return reload(&exact2::<Self, T, L>(black_box(x), black_box(y)));
            }
        }
        for i in 0..L {
            z[i] = Self::lane(x[i], y[i]);
            any |= Self::is_rare(x[i], y[i]) | Self::failed(z[i]);
        }
        if any { Self::patch(x, y, z) } else { z }
    }

    #[inline(always)]
    fn patch<const L: usize>(x: [T; L], y: [T; L], z: [T; L]) -> [T; L] {
        reload(&patch2::<Self, T, L>(black_box(x), black_box(y), black_box(z)))
    }
}

/// Reads a block through a pointer whose origin the compiler does not know.
#[inline(always)]
pub(super) fn reload<T: Copy, const L: usize>(block: &[T; L]) -> [T; L] {
    // SAFETY: the pointer is that of the reference `block`.
    unsafe { cpu::opaque_pointer(block).read() }
}

/// The block with its rare lanes replaced. Out of line and so compiled for the baseline: only exact bodies may be called.
#[cold]
#[inline(never)]
fn patch1<F: Function1<T> + ?Sized, T: Copy, const L: usize>(x: [T; L], mut y: [T; L]) -> [T; L] {
    for (y, &x) in y.iter_mut().zip(&x).filter(|(y, x)| F::is_rare(**x) | F::failed(**y)) {
        *y = F::exact(x);
    }
    y
}

/// See [`patch1`].
#[cold]
#[inline(never)]
fn patch2<F: Function2<T> + ?Sized, T: Copy, const L: usize>(x: [T; L], y: [T; L], mut z: [T; L]) -> [T; L] {
    for (z, (&x, &y)) in z.iter_mut().zip(x.iter().zip(&y)) {
        if F::is_rare(x, y) | F::failed(*z) {
            *z = F::exact(x, y);
        }
    }
    z
}

/// A block of exact results.
#[cold]
#[inline(never)]
fn exact2<F: Function2<T> + ?Sized, T: Copy, const L: usize>(mut x: [T; L], y: [T; L]) -> [T; L] {
    for (x, &y) in x.iter_mut().zip(&y) {
        *x = F::exact(*x, y);
    }
    x
}
