//! Powers of floats to a number for which there is a shorter way than the logarithm.

use super::super::map::{Function, Kernels, Loops};
use super::super::{Kernel, Pointers, Steps};
use super::real::{Real, pick};
use super::rows::{Function2, Pow};

/// Runs a kernel of powers in the shorter way, if there is one.
///
/// # Safety
/// See [`Kernel`]; there is an element.
#[inline(always)]
pub(super) unsafe fn shortcut<T: Real + 'static>(p: &Pointers, s: &Steps, n: usize) -> bool
where
    Pow: Function2<T>,
{
    if s[2] != 0 {
        return false;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let Some(kernel) = kernel_of(p[2].cast::<T>().read()) else { return false };
        kernel(p, s, n);
    }
    true
}

fn kernel_of<T: Real + 'static>(exponent: T) -> Option<Kernel>
where
    Pow: Function2<T>,
{
    let kernels: [(f64, Kernel); 4] = [
        (2.0, <Square as Kernels<T, 1>>::fast),
        (3.0, <Cube as Kernels<T, 1>>::fast),
        (0.5, <Root as Kernels<T, 1>>::fast),
        (-1.0, <Inverse as Kernels<T, 1>>::fast),
    ];
    kernels.into_iter().find(|(number, _)| T::of(*number) == exponent).map(|(_, kernel)| kernel)
}

macro_rules! powers {
    ($($name:ident $loops:ident: $x:ident => $power:expr;)*) => { $(
        struct $name;
        impl<T: Real + 'static> Function<T, 1> for $name {
            type Out = T;
            const LOOPS: Loops = Loops::$loops;
            #[inline(always)]
            fn apply([$x]: [T; 1]) -> T { $power }
        }
    )* };
}

powers! {
    Square Light: x => x * x;
    Inverse Light: x => T::ONE / x;
    // Unlike the square root, a power of -0 is 0, and one of minus infinity is infinite.
    Root Light: x => pick(x < -T::MAX, T::INFINITY, x.sqrt() + T::ZERO);
}

/// In two words, since two roundings may leave 1.2 ULP.
struct Cube;
impl<T: Real + 'static> Function<T, 1> for Cube
where
    Pow: Function2<T>,
{
    type Out = T;
    const LOOPS: Loops = Loops::Heavy;

    #[inline(always)]
    fn apply([x]: [T; 1]) -> T {
        Pow::exact(x, T::of(3.0))
    }

    #[inline(always)]
    fn block<const L: usize>([mut x]: [[T; L]; 1]) -> [T; L] {
        for x in &mut x {
            let square = *x * *x;
            let cube = square * *x;
            let rest = square.fma(*x, -cube) + x.fma(*x, -square) * *x;
            let sum = cube + rest;
            *x = pick(sum.is_nan(), cube, sum); // beyond the largest number the rest is NaN, or undoes it
        }
        x
    }
}
