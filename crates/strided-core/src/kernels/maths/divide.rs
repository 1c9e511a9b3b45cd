//! Quotients rounded to whole numbers, and remainders. Integer results and remainders are exact.
//!
//! CPUs divide integers one at a time, in 10 to 20 cycles, but floats by the register. A float with two bits more than the
//! operands gives quotients that are exact after rounding: integers up to 16 bits are divided in float32, others below 2^51
//! in float64. The remainder of floats is exact, and takes one fused multiply-add where the quotient is below 2^24 or 2^53.

use super::function::Function2;
use super::vector_float::{VectorFloat, pick};
use crate::scalar::{DivRem, Num, divisor};

/// Division in vectors. `floor` rounds quotients down, `trunc` toward zero.
pub trait VectorDivide: DivRem {
    /// Whether these two need the exact body.
    fn is_rare(self, other: Self) -> bool;
    fn floor_quotient(self, other: Self) -> Self;
    fn trunc_quotient(self, other: Self) -> Self;
    fn floor_remainder(self, other: Self) -> Self;
    fn trunc_remainder(self, other: Self) -> Self;
}

/// Added to a float64 below 2^51, it leaves the integer in the low bits: AVX2 has no conversion between float64 and int64.
const SHIFT: f64 = 6755399441055744.0; // 1.5 * 2^52

#[inline(always)]
fn f64_to_u64(value: f64) -> u64 {
    (value + SHIFT).to_bits().wrapping_sub(SHIFT.to_bits())
}

#[inline(always)]
fn u64_to_f64(value: u64) -> f64 {
    f64::from_bits(value.wrapping_add(SHIFT.to_bits())) - SHIFT
}

/// [`f64_to_u64`] for float32.
#[inline(always)]
fn f32_to_u32(value: f32) -> u32 {
    const SHIFT: f32 = 12582912.0; // 1.5 * 2^23
    (value + SHIFT).to_bits().wrapping_sub(SHIFT.to_bits())
}

/// Per dtype: the integer `x` as a float, whether it is too large for that, and the quotient `q` as an integer. It wraps:
/// the smallest integer divided by -1 is one more than the largest.
macro_rules! integers {
    ($($t:ty: $x:ident => $float:expr, $too_large:expr; $q:ident => $whole:expr;)*) => { $(
        impl VectorDivide for $t {
            #[inline(always)]
            #[allow(unused_variables)]
            fn is_rare(self, other: Self) -> bool {
                ({ let $x = self; $too_large }) | { let $x = other; $too_large }
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
            fn floor_remainder(self, other: Self) -> Self {
                Num::sub(self, Num::mul(self.floor_quotient(other), divisor(other)))
            }
            #[inline(always)]
            fn trunc_remainder(self, other: Self) -> Self {
                Num::sub(self, Num::mul(self.trunc_quotient(other), divisor(other)))
            }
        }
    )* };
}

integers! {
    u8: x => x as f32, false; q => f32_to_u32(q) as u8;
    i8: x => x as f32, false; q => f32_to_u32(q) as i8;
    u16: x => x as f32, false; q => f32_to_u32(q) as u16;
    i16: x => x as f32, false; q => f32_to_u32(q) as i16;
    u32: x => x as f64, false; q => f64_to_u64(q) as u32;
    i32: x => x as f64, false; q => f64_to_u64(q) as i32;
    u64: x => u64_to_f64(x), x >= 1 << 51; q => f64_to_u64(q);
    i64: x => u64_to_f64(x as u64), (x.wrapping_add(1 << 51) as u64) >= 1 << 52; q => f64_to_u64(q) as i64;
}

/// The quotient of two nonnegative numbers, rounded down, and the remainder. Both are exact where the quotient is so small
/// that its ULP is at most 1.
#[inline(always)]
fn div_rem<T: VectorFloat>(a: T, b: T) -> (T, T) {
    let whole = (a / b).trunc();
    let rest = (-whole).fma(b, a);
    // A quotient just below a whole number may have been rounded up to it.
    let rounded_up = rest < T::ZERO;
    (pick(rounded_up, whole - T::ONE, whole), pick(rounded_up, rest + b, rest))
}

macro_rules! floats {
    ($($t:ty: $limit:expr;)*) => { $(
        impl VectorDivide for $t {
            /// Large quotients, infinities and NaN. The limit is a power of two, so that the product is exact.
            #[inline(always)]
            #[allow(clippy::neg_cmp_op_on_partial_ord)] // no comparison with NaN holds
            fn is_rare(self, other: Self) -> bool {
                !(self.abs() < other.abs() * $limit) | !(other.abs() < <$t>::INFINITY)
            }
            #[inline(always)]
            fn floor_quotient(self, other: Self) -> Self {
                let (whole, rest) = div_rem(self.abs(), other.abs());
                let rounded_up = whole + pick(rest > 0.0, 1.0, 0.0);
                let floor = pick((self < 0.0) == (other < 0.0), whole, -rounded_up);
                pick(floor == 0.0, (0.0 as $t).flip(self).flip(other), floor)
            }
            #[inline(always)]
            fn trunc_quotient(self, other: Self) -> Self {
                (self / other).trunc()
            }
            #[inline(always)]
            fn floor_remainder(self, other: Self) -> Self {
                let rest = self.trunc_remainder(other);
                let shifted = pick((rest < 0.0) != (other < 0.0), rest + other, rest);
                pick(rest == 0.0, rest.copysign(other), shifted)
            }
            #[inline(always)]
            fn trunc_remainder(self, other: Self) -> Self {
                div_rem(self.abs(), other.abs()).1.copysign(self)
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
        impl<T: VectorDivide> Function2<T> for $name {
            #[inline(always)]
            fn lane(a: T, b: T) -> T { a.$lane(b) }
            #[inline(always)]
            fn is_rare(a: T, b: T) -> bool { a.is_rare(b) }
            #[inline(always)]
            fn exact(a: T, b: T) -> T { a.$exact(b) }
        }
    )* };
}

divisions! {
    FloorDivide: floor_div floor_quotient;
    TruncDivide: trunc_div trunc_quotient;
    Remainder: remainder floor_remainder;
    Fmod: fmod trunc_remainder;
}
