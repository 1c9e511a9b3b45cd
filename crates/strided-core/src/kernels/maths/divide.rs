//! Quotients that are cut to whole numbers, and what they leave.
//!
//! CPUs divide integers one at a time, in 10 to 20 cycles; floats they divide by the register, and a float that has room
//! for the operands and two bits more gives quotients that are exact when cut. Floats leave an exact remainder, which
//! one fused multiply and add finds where the quotient is short.

use super::real::{Real, pick};
use super::rows::Function2;
use crate::scalar::{DivRem, Num, divisor};

/// A number that divides. `floor` cuts quotients down, `trunc` toward zero.
pub trait Quotient: DivRem {
    /// Whether these two have to be divided in another way.
    fn is_rare(self, other: Self) -> bool;
    fn floor_quotient(self, other: Self) -> Self;
    fn trunc_quotient(self, other: Self) -> Self;
    fn floor_rest(self, other: Self) -> Self;
    fn trunc_rest(self, other: Self) -> Self;
}

/// Adding it puts a whole number into the last bits of a float64, or takes it out: AVX2 has no other way.
const SHIFT: f64 = 6755399441055744.0; // 1.5 * 2^52

#[inline(always)]
fn narrow(value: f64) -> u64 {
    (value + SHIFT).to_bits().wrapping_sub(SHIFT.to_bits())
}

#[inline(always)]
fn wide(value: u64) -> f64 {
    f64::from_bits(value.wrapping_add(SHIFT.to_bits())) - SHIFT
}

/// The same for a float32.
#[inline(always)]
fn short(value: f32) -> u32 {
    const SHIFT: f32 = 12582912.0; // 1.5 * 2^23
    (value + SHIFT).to_bits().wrapping_sub(SHIFT.to_bits())
}

/// How integers become floats, which of them are too large for it, and how floats become integers. Those wrap: the smallest
/// divided by -1 is one more than there is.
macro_rules! integers {
    ($($t:ty: $x:ident => $float:expr, $beyond:expr; $q:ident => $whole:expr;)*) => { $(
        impl Quotient for $t {
            #[inline(always)]
            #[allow(unused_variables)]
            fn is_rare(self, other: Self) -> bool {
                ({ let $x = self; $beyond }) | { let $x = other; $beyond }
            }
            #[inline(always)]
            fn floor_quotient(self, other: Self) -> Self {
                let ($q, $x) = ({ let $x = self; $float }, divisor(other));
                let $q = ($q / $float).floor();
                $whole
            }
            #[inline(always)]
            fn trunc_quotient(self, other: Self) -> Self {
                let ($q, $x) = ({ let $x = self; $float }, divisor(other));
                let $q = ($q / $float).trunc();
                $whole
            }
            #[inline(always)]
            fn floor_rest(self, other: Self) -> Self {
                Num::sub(self, Num::mul(self.floor_quotient(other), divisor(other)))
            }
            #[inline(always)]
            fn trunc_rest(self, other: Self) -> Self {
                Num::sub(self, Num::mul(self.trunc_quotient(other), divisor(other)))
            }
        }
    )* };
}

integers! {
    u8: x => x as f32, false; q => short(q) as u8;
    i8: x => x as f32, false; q => short(q) as i8;
    u16: x => x as f32, false; q => short(q) as u16;
    i16: x => x as f32, false; q => short(q) as i16;
    u32: x => x as f64, false; q => narrow(q) as u32;
    i32: x => x as f64, false; q => narrow(q) as i32;
    u64: x => wide(x), x >= 1 << 51; q => narrow(q);
    i64: x => wide(x as u64), (x.wrapping_add(1 << 51) as u64) >= 1 << 52; q => narrow(q) as i64;
}

/// The quotient of two numbers that are not negative, cut to a whole one, and what it leaves: both exact, where quotients
/// are so short that whole ones have a last bit of their own.
#[inline(always)]
fn divided<T: Real>(a: T, b: T) -> (T, T) {
    let whole = (a / b).trunc();
    let left = (-whole).fma(b, a);
    // A quotient just below a whole number may have been rounded to it.
    let over = left < T::ZERO;
    (pick(over, whole - T::ONE, whole), pick(over, left + b, left))
}

macro_rules! floats {
    ($($t:ty: $limit:expr;)*) => { $(
        impl Quotient for $t {
            /// Long quotients, and whatever is infinite or NaN. (The limit is a power of two: its product is exact.)
            #[inline(always)]
            #[allow(clippy::neg_cmp_op_on_partial_ord)] // no comparison with NaN holds
            fn is_rare(self, other: Self) -> bool {
                !(self.abs() < other.abs() * $limit) | !(other.abs() < <$t>::INFINITY)
            }
            #[inline(always)]
            fn floor_quotient(self, other: Self) -> Self {
                let (whole, left) = divided(self.abs(), other.abs());
                let down = whole + pick(left > 0.0, 1.0, 0.0);
                let floor = pick((self < 0.0) == (other < 0.0), whole, -down);
                pick(floor == 0.0, (0.0 as $t).flip(self).flip(other), floor)
            }
            #[inline(always)]
            fn trunc_quotient(self, other: Self) -> Self {
                (self / other).trunc()
            }
            #[inline(always)]
            fn floor_rest(self, other: Self) -> Self {
                let left = self.trunc_rest(other);
                let moved = pick((left < 0.0) != (other < 0.0), left + other, left);
                pick(left == 0.0, left.copysign(other), moved)
            }
            #[inline(always)]
            fn trunc_rest(self, other: Self) -> Self {
                divided(self.abs(), other.abs()).1.copysign(self)
            }
        }
    )* };
}

floats! {
    f32: 16777216.0; // 2^24
    f64: 9007199254740992.0; // 2^53
}

macro_rules! divisions {
    ($($name:ident: $exact:ident $lane:ident;)*) => { $(
        pub struct $name;
        impl<T: Quotient> Function2<T> for $name {
            #[inline(always)]
            fn lane(a: T, b: T) -> T { a.$lane(b) }
            #[inline(always)]
            fn rare(a: T, b: T) -> bool { a.is_rare(b) }
            #[inline(always)]
            fn exact(a: T, b: T) -> T { a.$exact(b) }
        }
    )* };
}

divisions! {
    FloorDivide: floor_div floor_quotient;
    TruncDivide: trunc_div trunc_quotient;
    Remainder: remainder floor_rest;
    Fmod: fmod trunc_rest;
}
