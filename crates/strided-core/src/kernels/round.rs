//! `round` to decimals, the number of which is an int64 whatever the dtype.

use super::loops::KernelPair;
use super::{Pointers, Steps};
use crate::cpu::{Task, dispatch};
use crate::dtype::DType;
use crate::scalar::{Bool, Element};
use crate::switch;
use std::marker::PhantomData;

/// The kernels that round elements of a dtype: an operand and the number of decimals.
pub fn kernels(dtype: DType) -> Option<&'static KernelPair> {
    switch!(dtype, real, T => Some(const { &pair::<T>() }), else => None)
}

const fn pair<T: Decimal>() -> KernelPair {
    let operands = [T::DTYPE, DType::I64, T::DTYPE, T::DTYPE];
    KernelPair::mixed(fast::<T>, reference::<T>, operands, T::DTYPE)
}

/// What has decimals.
trait Decimal: Element {
    /// What rounding needs of a number of decimals.
    type Power: Copy;
    fn power(decimals: i64) -> Self::Power;
    /// The nearest number of the dtype with these decimals; the even one of two.
    fn to_decimals(self, power: Self::Power) -> Self;
}

/// The plain kernel. The number of decimals is one for all elements.
///
/// # Safety
/// See [`super::Kernel`].
#[inline(always)]
unsafe fn reference<T: Decimal>(p: &Pointers, s: &Steps, n: usize) {
    if n == 0 {
        return;
    }
    // SAFETY: the kernel's promise.
    unsafe {
        let power = T::power(p[2].cast::<i64>().read());
        for i in 0..n as isize {
            let value = p[1].wrapping_offset(i * s[1]).cast::<T>().read();
            p[0].wrapping_offset(i * s[0]).cast::<T>().write(value.to_decimals(power));
        }
    }
}

/// The same for the instructions of this CPU, in blocks where operands are dense.
///
/// # Safety
/// See [`super::Kernel`].
unsafe fn fast<T: Decimal>(p: &Pointers, s: &Steps, n: usize) {
    dispatch(Run::<T>(p, s, n, PhantomData));
}

/// Where the code is compiled.
struct ToDecimals;

/// One innermost loop.
struct Run<'a, T>(&'a Pointers, &'a Steps, usize, PhantomData<T>);

impl<T: Decimal> Task for Run<'_, T> {
    type Home = ToDecimals;
    const WIDE: bool = false;

    #[inline(always)]
    fn run<const FAST: bool>(self) {
        let Run(p, s, n, _) = self;
        let size = size_of::<T>() as isize;
        let whole = if s[0] == size && s[1] == size { n - n % BLOCK } else { 0 };
        let mut rest = *p;
        (rest[0], rest[1]) =
            (p[0].wrapping_offset(whole as isize * size), p[1].wrapping_offset(whole as isize * size));
        // SAFETY: the promise of `fast`; what is left of dense operands begins behind the blocks.
        unsafe {
            blocks::<T>(p, whole);
            reference::<T>(&rest, s, n - whole);
        }
    }
}

/// Elements per block.
const BLOCK: usize = 16;

/// Dense elements. A block is read whole before it is written, as in `map.rs`.
///
/// # Safety
/// See [`super::Kernel`]; the count is a multiple of the block.
#[inline(always)]
unsafe fn blocks<T: Decimal>(p: &Pointers, n: usize) {
    if n == 0 {
        return;
    }
    // SAFETY: the kernel's promise.
    unsafe {
        let power = T::power(p[2].cast::<i64>().read());
        for at in (0..n).step_by(BLOCK) {
            let mut block = p[1].cast::<T>().add(at).cast::<[T; BLOCK]>().read_unaligned();
            for value in &mut block {
                *value = value.to_decimals(power);
            }
            p[0].cast::<T>().add(at).cast::<[T; BLOCK]>().write_unaligned(block);
        }
    }
}

macro_rules! floats {
    ($($t:ident)*) => { $(
        impl Decimal for $t {
            /// Ten to the number of decimals without its sign, and whether that is negative.
            type Power = ($t, bool);
            #[inline(always)]
            fn power(decimals: i64) -> ($t, bool) {
                (10f64.powi(decimals.unsigned_abs().min(400) as i32) as $t, decimals < 0)
            }
            #[inline(always)]
            fn to_decimals(self, (power, negative): ($t, bool)) -> $t {
                let moved = if negative { self / power } else { self * power };
                let whole = moved.round_ties_even();
                // Nothing is left of 0 times infinity.
                let back = if !negative { whole / power } else if whole == 0.0 { whole } else { whole * power };
                // Where moving overflows there are no decimals to round.
                if moved.abs() < $t::INFINITY { back } else { self }
            }
        }
    )* };
}
floats! { f32 f64 }

macro_rules! integers {
    ($($t:ident)*) => { $(
        impl Decimal for $t {
            /// What to round to a multiple of.
            type Power = i128;
            #[inline(always)]
            fn power(decimals: i64) -> i128 {
                10i128.pow(decimals.clamp(-21, 0).unsigned_abs() as u32)
            }
            #[inline(always)]
            fn to_decimals(self, power: i128) -> $t {
                if power == 1 {
                    return self;
                }
                let below = (self as i128).div_euclid(power);
                let twice = 2 * (self as i128).rem_euclid(power);
                let up = twice > power || twice == power && below % 2 != 0;
                let nearest = (below + up as i128) * power;
                // Where the dtype does not have it, the next one on the other side.
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

impl Decimal for Bool {
    type Power = ();
    fn power(_: i64) {}
    #[inline(always)]
    fn to_decimals(self, _: ()) -> Bool {
        self
    }
}
