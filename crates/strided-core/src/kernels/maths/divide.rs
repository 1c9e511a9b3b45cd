//! Quotients and remainders of integers. CPUs divide them one at a time, in 10 to 20 cycles; floats they divide by the
//! register, and a float that has room for the operands and two bits more gives quotients that are exact when cut.

use super::super::map::Loops;
use super::rows::Function2;
use crate::scalar::{Num, Order, divisor};

/// A number that divides.
pub trait Quotient: Order {
    const LOOPS: Loops;
    /// Whether the float has no room for it.
    fn is_beyond(self) -> bool;
    /// The quotient, down to a whole number.
    fn floor_quotient(self, other: Self) -> Self;
    /// The quotient, toward zero to a whole number.
    fn trunc_quotient(self, other: Self) -> Self;
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

/// How the integers become floats and floats integers, which wrap: the smallest divided by -1 is one more than there is.
macro_rules! quotients {
    ($($t:ty: $x:ident => $float:expr, $beyond:expr; $q:ident => $whole:expr;)*) => { $(
        impl Quotient for $t {
            const LOOPS: Loops = Loops::Heavy;
            #[inline(always)]
            #[allow(unused_variables)]
            fn is_beyond(self) -> bool { let $x = self; $beyond }
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
        }
    )* };
    (plain $($t:ty)*) => { $(
        impl Quotient for $t {
            const LOOPS: Loops = Loops::Plain;
            fn is_beyond(self) -> bool { true }
            fn floor_quotient(self, other: Self) -> Self { self.floor_div(other) }
            fn trunc_quotient(self, other: Self) -> Self { self.trunc_div(other) }
        }
    )* };
}

quotients! {
    u8: x => x as f32, false; q => short(q) as u8;
    i8: x => x as f32, false; q => short(q) as i8;
    u16: x => x as f32, false; q => short(q) as u16;
    i16: x => x as f32, false; q => short(q) as i16;
    u32: x => x as f64, false; q => narrow(q) as u32;
    i32: x => x as f64, false; q => narrow(q) as i32;
    u64: x => wide(x), x >= 1 << 51; q => narrow(q);
    i64: x => wide(x as u64), (x.wrapping_add(1 << 51) as u64) >= 1 << 52; q => narrow(q) as i64;
}
quotients! { plain f32 f64 }

macro_rules! divisions {
    ($($name:ident: $exact:ident, ($a:ident, $b:ident) => $lane:expr;)*) => { $(
        pub struct $name;
        impl<T: Quotient> Function2<T> for $name {
            const LOOPS: Loops = T::LOOPS;
            #[inline(always)]
            fn lane($a: T, $b: T) -> T { $lane }
            #[inline(always)]
            fn rare(a: T, b: T) -> bool { a.is_beyond() | b.is_beyond() }
            #[inline(always)]
            fn exact(a: T, b: T) -> T { a.$exact(b) }
        }
    )* };
}

divisions! {
    FloorDivide: floor_div, (a, b) => a.floor_quotient(b);
    TruncDivide: trunc_div, (a, b) => a.trunc_quotient(b);
    Remainder: remainder, (a, b) => Num::sub(a, Num::mul(a.floor_quotient(b), divisor(b)));
    Fmod: fmod, (a, b) => Num::sub(a, Num::mul(a.trunc_quotient(b), divisor(b)));
}
