//! `round` to a number of decimals, which is an int64 operand for every dtype.

use super::loops::ElementwiseKernels;
use super::{Pointers, Steps};
use crate::cpu::{Specialised, dispatch};
use crate::dtype::DType;
use crate::scalar::{Bool, Element};
use crate::switch;
use std::marker::PhantomData;

/// The kernels that round elements of a dtype: operands are the elements and the number of decimals, a scalar.
pub fn kernels(dtype: DType) -> Option<&'static ElementwiseKernels> {
    switch!(dtype, real, T => Some(const { &kernels_of::<T>() }), else => None)
}

const fn kernels_of<T: RoundDecimals>() -> ElementwiseKernels {
    let operands = [T::DTYPE, DType::I64, T::DTYPE, T::DTYPE];
    ElementwiseKernels::mixed(fast::<T>, reference::<T>, operands, T::DTYPE)
}

/// An element that can be rounded to decimals.
trait RoundDecimals: Element {
    /// The scale that belongs to a number of decimals, computed once per loop.
    type Power: Copy;
    fn power(decimals: i64) -> Self::Power;
    /// Rounds to the nearest value with that many decimals, ties to even.
    fn round_decimals(self, power: Self::Power) -> Self;
}

/// The reference kernel. It reads the number of decimals once, for all elements.
///
/// # Safety
/// The contract of [`super::Kernel`], for an output and an input of type `T` and an int64 scalar.
#[inline(always)]
unsafe fn reference<T: RoundDecimals>(p: &Pointers, s: &Steps, n: usize) {
    if n == 0 {
        return;
    }
    // SAFETY: this function's contract: p[k] + i * s[k] is valid for i < n, and n > 0.
    unsafe {
        let power = T::power(p[2].cast::<i64>().read());
        for i in 0..n as isize {
            let value = p[1].wrapping_offset(i * s[1]).cast::<T>().read();
            p[0].wrapping_offset(i * s[0]).cast::<T>().write(value.round_decimals(power));
        }
    }
}

/// The fast kernel: compiled for this CPU's level, in blocks where operands are dense.
///
/// # Safety
/// The contract of [`super::Kernel`], for an output and an input of type `T` and an int64 scalar.
unsafe fn fast<T: RoundDecimals>(p: &Pointers, s: &Steps, n: usize) {
    dispatch(RoundLoop::<T> { p, s, n, element: PhantomData });
}

/// Makes the compiler put the code into this module: see [`Specialised::Home`].
struct RoundHome;

/// The arguments of `fast`, under its contract.
struct RoundLoop<'a, T> {
    p: &'a Pointers,
    s: &'a Steps,
    n: usize,
    element: PhantomData<T>,
}

impl<T: RoundDecimals> Specialised for RoundLoop<'_, T> {
    type Home = RoundHome;
    const WIDE: bool = false;

    #[inline(always)]
    fn compute<const FAST: bool>(self) {
        let RoundLoop { p, s, n, .. } = self;
        let size = size_of::<T>() as isize;
        let whole = if s[0] == size && s[1] == size { n - n % ROUND_BLOCK } else { 0 };
        let mut tail = *p;
        (tail[0], tail[1]) =
            (p[0].wrapping_offset(whole as isize * size), p[1].wrapping_offset(whole as isize * size));
        // SAFETY: the contract of `fast`, which made this; blocks are used for dense operands only, and the tail
        // starts after them.
        unsafe {
            blocks::<T>(p, whole);
            reference::<T>(&tail, s, n - whole);
        }
    }
}

/// Elements per block.
const ROUND_BLOCK: usize = 16;

/// Rounds dense elements. A block is read before it is written, because the output may be the input.
///
/// # Safety
/// The contract of [`super::Kernel`], for a dense output and input of type `T` and an int64 scalar; `n` is a multiple
/// of [`ROUND_BLOCK`].
#[inline(always)]
unsafe fn blocks<T: RoundDecimals>(p: &Pointers, n: usize) {
    if n == 0 {
        return;
    }
    // SAFETY: this function's contract: `at + ROUND_BLOCK <= n`, and n > 0.
    unsafe {
        let power = T::power(p[2].cast::<i64>().read());
        for at in (0..n).step_by(ROUND_BLOCK) {
            let mut block = p[1].cast::<T>().add(at).cast::<[T; ROUND_BLOCK]>().read_unaligned();
            for value in &mut block {
                *value = value.round_decimals(power);
            }
            p[0].cast::<T>().add(at).cast::<[T; ROUND_BLOCK]>().write_unaligned(block);
        }
    }
}

macro_rules! floats {
    ($($t:ident)*) => { $(
        impl RoundDecimals for $t {
            /// 10 to the magnitude of the number of decimals, and whether that number is negative.
            type Power = ($t, bool);
            #[inline(always)]
            fn power(decimals: i64) -> ($t, bool) {
                (10f64.powi(decimals.unsigned_abs().min(400) as i32) as $t, decimals < 0)
            }
            #[inline(always)]
            fn round_decimals(self, (power, negative): ($t, bool)) -> $t {
                let scaled = if negative { self / power } else { self * power };
                let rounded = scaled.round_ties_even();
                // The power may be infinite, and 0 times infinity is NaN.
                let unscaled =
                    if !negative { rounded / power } else if rounded == 0.0 { rounded } else { rounded * power };
                // A value whose scaled form overflows has no decimals to round.
                if scaled.abs() < $t::INFINITY { unscaled } else { self }
            }
        }
    )* };
}
floats! { f32 f64 }

macro_rules! integers {
    ($($t:ident)*) => { $(
        impl RoundDecimals for $t {
            /// The power of ten whose multiples are the results.
            type Power = i128;
            #[inline(always)]
            fn power(decimals: i64) -> i128 {
                10i128.pow(decimals.clamp(-21, 0).unsigned_abs() as u32)
            }
            #[inline(always)]
            fn round_decimals(self, power: i128) -> $t {
                if power == 1 {
                    return self;
                }
                let quotient = (self as i128).div_euclid(power);
                let twice_remainder = 2 * (self as i128).rem_euclid(power);
                let round_up = twice_remainder > power || twice_remainder == power && quotient % 2 != 0;
                let nearest = (quotient + round_up as i128) * power;
                // If the dtype cannot represent the nearest multiple, the result is the next one toward 0.
                (if nearest > $t::MAX.into() {
                    nearest - power
                } else if nearest < $t::MIN.into() {
                    nearest + power
                } else {
                    nearest
                }) as $t
            }
        }
    )* };
}
integers! { u8 u16 u32 u64 i8 i16 i32 i64 }

impl RoundDecimals for Bool {
    type Power = ();
    fn power(_: i64) {}
    #[inline(always)]
    fn round_decimals(self, _: ()) -> Bool {
        self
    }
}
