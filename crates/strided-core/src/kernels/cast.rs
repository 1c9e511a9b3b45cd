//! Casts, direct between any two dtypes, and copies.
//!
//! Integers wrap. Floats are cut toward zero; what is out of range is defined, the same on every CPU:
//! it becomes the smallest int32 (for targets up to 32 bits signed or 16 unsigned) or int64, and then
//! wraps. No conversion branches, so that loops over them become vector instructions.

// `contains` branches where `&` does not; loops have indices as in `map`.
#![allow(clippy::manual_range_contains, clippy::needless_range_loop)]

use super::loops::{Function, Kernels, each};
use super::{Kernel, copy};
use crate::cpu;
use crate::dtype::DType;
use crate::scalar::{Bool, Complex, Element};
use crate::switch;
use half::{bf16, f16};
use std::marker::PhantomData;

/// A conversion from one element type to another.
pub trait Cast<B: Element>: Copy {
    fn cast(self) -> B;

    /// Neighbours at once, on CPUs from [`Level::Fused`](cpu::Level) on: for those that have an instruction for it.
    #[inline(always)]
    fn block<const L: usize>(all: [Self; L]) -> [B; L] {
        each::<To<_>, Self, 1, L>([all])
    }
}

/// The kernel that reads `from` at operand 1 and writes `to` at operand 0.
pub fn kernel(from: DType, to: DType) -> Kernel {
    if from == to {
        return copy::kernel(from.size());
    }
    switch!(from, all, A => switch!(to, all, B => loops::<To<B>, A>(), else => unreachable!()), else => unreachable!())
}

fn loops<F: Function<A, 1>, A: Copy>() -> Kernel {
    if cpu::reference_kernels() { F::reference } else { F::fast }
}

/// A conversion as a function.
struct To<B>(PhantomData<B>);
impl<A: Cast<B>, B: Element> Function<A, 1> for To<B> {
    type Out = B;
    #[inline(always)]
    fn apply([a]: [A; 1]) -> B {
        a.cast()
    }
    #[inline(always)]
    fn block<const L: usize>([all]: [[A; L]; 1]) -> [B; L] {
        A::block(all)
    }
}

/// Integers on their way to float16, where all beyond 2^16 are infinite: so 32 bits are enough, for which there are
/// vector instructions.
trait Near {
    fn near(self) -> f32;
}
impl Near for i64 {
    #[inline(always)]
    fn near(self) -> f32 {
        self.clamp(-(1 << 17), 1 << 17) as i32 as f32
    }
}
impl Near for u64 {
    #[inline(always)]
    fn near(self) -> f32 {
        self.min(1 << 17) as i32 as f32
    }
}

macro_rules! cast {
    // Every row: how, from which types, to which types.
    ($($how:ident: $from:tt => $to:tt;)*) => { $(cast!(@from $how $from $to);)* };
    (@from $how:ident [$($from:ty),*] $to:tt) => { $(cast!(@to $how $from, $to);)* };
    (@to $how:ident $from:ty, [$($to:ty),*]) => { $(
        impl Cast<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to { cast!(@$how self, $from, $to) }
            cast!(@block $how $to);
        }
    )* };
    // float16 has instructions of its own, from float32 and to it.
    (@block via_f32 $to:ty) => {
        #[inline(always)]
        fn block<const L: usize>(all: [Self; L]) -> [$to; L] {
            Cast::<$to>::block(Cast::<f32>::block(all))
        }
    };
    (@block near $to:ty) => {
        #[inline(always)]
        fn block<const L: usize>(all: [Self; L]) -> [$to; L] {
            let mut singles = [0.0f32; L];
            for i in 0..L {
                singles[i] = all[i].near();
            }
            Cast::<$to>::block(singles)
        }
    };
    (@block $how:ident $to:ty) => {};
    (@plain $v:expr, $from:ty, $to:ty) => { $v as $to };
    (@truth $v:expr, $from:ty, $to:ty) => { Bool::new($v != <$from>::default()) };
    (@of_truth $v:expr, $from:ty, $to:ty) => { Cast::<$to>::cast($v.get() as u8) };
    (@cut32 $v:expr, $from:ty, $to:ty) => { {
        const LIMIT: $from = 2147483648.0;
        let inside = if ($v >= -LIMIT) & ($v < LIMIT) { $v } else { -LIMIT };
        // SAFETY: `inside` lies in the range of i32 by the line above.
        (unsafe { inside.to_int_unchecked::<i32>() }) as $to
    } };
    (@cut64 $v:expr, $from:ty, $to:ty) => { {
        const LIMIT: $from = 9223372036854775808.0;
        let inside = if ($v >= -LIMIT) & ($v < LIMIT) { $v } else { -LIMIT };
        // SAFETY: `inside` lies in the range of i64 by the line above.
        (unsafe { inside.to_int_unchecked::<i64>() }) as $to
    } };
    (@via_f32 $v:expr, $from:ty, $to:ty) => { Cast::<$to>::cast(Cast::<f32>::cast($v)) };
    (@via_f64 $v:expr, $from:ty, $to:ty) => { Cast::<$to>::cast($v as f64) };
    (@near $v:expr, $from:ty, $to:ty) => { Cast::<$to>::cast($v.near()) };
    // More bits than float64 has: the lowest are replaced by one that says whether any was set, so that
    // this first rounding cannot spoil the second.
    (@sticky $v:expr, $from:ty, $to:ty) => { {
        let odd = $v & !0xFFFF | ((($v & 0xFFFF) != 0) as $from) << 16;
        let exact = $v.abs_diff(0) < 1 << 53;
        Cast::<$to>::cast((if exact { $v } else { odd }) as f64)
    } };
    (@real $v:expr, $from:ty, $to:ty) => { Cast::<$to>::cast($v.re) };
    (@truth_of_parts $v:expr, $from:ty, $to:ty) => { Bool::new(($v.re != 0.0) | ($v.im != 0.0)) };
    (@complex32 $v:expr, $from:ty, $to:ty) => { Complex::new(Cast::<f32>::cast($v), 0.0) };
    (@complex64 $v:expr, $from:ty, $to:ty) => { Complex::new(Cast::<f64>::cast($v), 0.0) };
    (@itself $v:expr, $from:ty, $to:ty) => { $v };
}

cast! {
    plain: [u8, u16, u32, u64, i8, i16, i32, i64] => [u8, u16, u32, u64, i8, i16, i32, i64, f32, f64];
    plain: [f32, f64] => [f32, f64];
    cut32: [f32, f64] => [u8, u16, i8, i16, i32];
    cut64: [f32, f64] => [u32, u64, i64];
    truth: [u8, u16, u32, u64, i8, i16, i32, i64, f32, f64] => [Bool];
    of_truth: [Bool] => [u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64, Complex<f32>, Complex<f64>];
    via_f32: [u8, u16, i8, i16] => [f16, bf16];
    via_f32: [u32, i32] => [f16]; // what float32 rounds is infinite
    via_f64: [u32, i32] => [bf16];
    near: [i64, u64] => [f16];
    sticky: [u64, i64] => [bf16];
    via_f32: [f16, bf16] => [Bool, u8, u16, u32, u64, i8, i16, i32, i64, f64, Complex<f32>, Complex<f64>];
    via_f32: [f16] => [bf16];
    via_f32: [bf16] => [f16];
    real: [Complex<f32>, Complex<f64>] => [u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64];
    truth_of_parts: [Complex<f32>, Complex<f64>] => [Bool];
    complex32: [u8, u16, u32, u64, i8, i16, i32, i64, f32, f64] => [Complex<f32>];
    complex64: [u8, u16, u32, u64, i8, i16, i32, i64, f32, f64] => [Complex<f64>];
    itself: [Bool] => [Bool];
    itself: [f16] => [f16];
    itself: [bf16] => [bf16];
    itself: [Complex<f32>] => [Complex<f32>];
    itself: [Complex<f64>] => [Complex<f64>];
}

impl Cast<Complex<f64>> for Complex<f32> {
    #[inline(always)]
    fn cast(self) -> Complex<f64> {
        Complex::new(self.re as f64, self.im as f64)
    }
}

impl Cast<Complex<f32>> for Complex<f64> {
    #[inline(always)]
    fn cast(self) -> Complex<f32> {
        Complex::new(self.re as f32, self.im as f32)
    }
}

impl Cast<f32> for f16 {
    /// Moves exponent and fraction into place and rescales by a power of two, which is exact for
    /// subnormals too; only infinities and NaNs need their exponent set. NaNs become quiet, as CPUs do it.
    #[inline(always)]
    fn cast(self) -> f32 {
        let bits = self.to_bits() as u32;
        let magnitude = (bits & 0x7FFF) << 13;
        let scaled = (f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)).to_bits();
        let infinite = if magnitude >= 0x7C00 << 13 { 0x7F80_0000 } else { 0 };
        let quiet = if magnitude > 0x7C00 << 13 { 0x0040_0000 } else { 0 };
        f32::from_bits(scaled | infinite | quiet | (bits & 0x8000) << 16)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn block<const L: usize>(all: [f16; L]) -> [f32; L] {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm256_cvtph_ps, _mm256_storeu_ps};
        if !L.is_multiple_of(8) {
            return each::<To<_>, Self, 1, L>([all]);
        }
        let mut out = [0.0; L];
        for i in (0..L).step_by(8) {
            // SAFETY: eight elements from i on are in both; the level has the instruction.
            unsafe {
                let eight = _mm_loadu_si128(all.as_ptr().add(i).cast::<__m128i>());
                _mm256_storeu_ps(out.as_mut_ptr().add(i), _mm256_cvtph_ps(eight));
            }
        }
        out
    }
}

impl Cast<f16> for f32 {
    /// Rounds by adding a number so large that the sum's last bit is the result's last bit.
    #[inline(always)]
    fn cast(self) -> f16 {
        let bits = self.to_bits();
        let magnitude = bits & 0x7FFF_FFFF;
        // Clamped so that the addition below cannot overflow; 2^16 is past the largest half and becomes infinite.
        let clamped = if magnitude > 0x4780_0000 { 0x4780_0000 } else { magnitude };
        // The anchor: 2^13 above the value, and never below the anchor of the smallest normal half.
        let exponent = clamped & 0x7F80_0000;
        let floor = if exponent < 0x3880_0000 { 0x3880_0000 } else { exponent };
        let anchor = f32::from_bits(floor + (13 << 23));
        let rounded = (f32::from_bits(clamped) + anchor).to_bits() - anchor.to_bits();
        // `rounded` counts units of the last place from the anchor's binade: 10 bits of fraction, with
        // the implied bit of a normal number on top, which adds one to the exponent field.
        let half = ((floor - 0x3880_0000) >> 13) + rounded;
        let half = if half > 0x7C00 { 0x7C00 } else { half };
        let half = if magnitude > 0x7F80_0000 { 0x7E00 | (bits >> 13) & 0x3FF } else { half };
        f16::from_bits((half | (bits >> 16) & 0x8000) as u16)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn block<const L: usize>(all: [f32; L]) -> [f16; L] {
        use std::arch::x86_64::{__m128i, _mm_storeu_si128, _mm256_cvtps_ph, _mm256_loadu_ps};
        if !L.is_multiple_of(8) {
            return each::<To<_>, Self, 1, L>([all]);
        }
        let mut out = [f16::ZERO; L];
        for i in (0..L).step_by(8) {
            // SAFETY: eight elements from i on are in both; the level has the instruction. (0: to the nearest, ties to even.)
            unsafe {
                let eight = _mm256_cvtps_ph::<0>(_mm256_loadu_ps(all.as_ptr().add(i)));
                _mm_storeu_si128(out.as_mut_ptr().add(i).cast::<__m128i>(), eight);
            }
        }
        out
    }
}

impl Cast<f32> for bf16 {
    #[inline(always)]
    fn cast(self) -> f32 {
        f32::from_bits((self.to_bits() as u32) << 16)
    }
}

impl Cast<bf16> for f32 {
    #[inline(always)]
    fn cast(self) -> bf16 {
        let bits = self.to_bits();
        let rounded = bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16;
        let quiet = bits >> 16 | 0x40;
        bf16::from_bits(if bits & 0x7FFF_FFFF > 0x7F80_0000 { quiet } else { rounded } as u16)
    }
}

/// float64 to a half goes through a float32 that is rounded to odd: then the second rounding is the
/// only one that counts.
#[inline(always)]
fn round_to_odd(value: f64) -> f32 {
    let near = value as f32;
    let back = near as f64;
    let cut = near.to_bits() - (back.abs() > value.abs()) as u32;
    f32::from_bits(if (back == value) | value.is_nan() { near.to_bits() } else { cut | 1 })
}

impl Cast<f16> for f64 {
    #[inline(always)]
    fn cast(self) -> f16 {
        round_to_odd(self).cast()
    }

    #[inline(always)]
    fn block<const L: usize>(all: [f64; L]) -> [f16; L] {
        let mut singles = [0.0f32; L];
        for i in 0..L {
            singles[i] = round_to_odd(all[i]);
        }
        Cast::<f16>::block(singles)
    }
}

impl Cast<bf16> for f64 {
    #[inline(always)]
    fn cast(self) -> bf16 {
        round_to_odd(self).cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_and_its_neighbourhood_converts_as_the_half_crate_does() {
        for bits in 0..=u16::MAX {
            let half = f16::from_bits(bits);
            let wide: f32 = half.cast();
            assert!(wide.to_bits() == half.to_f32_const().to_bits() || wide.is_nan(), "{bits:#x}");
            let b: f32 = bf16::from_bits(bits).cast();
            assert!(b.to_bits() == bf16::from_bits(bits).to_f32_const().to_bits() || b.is_nan());
            let next = f16::from_bits(bits.wrapping_add(1)).to_f32_const();
            let middle = (wide as f64 + next as f64) / 2.0;
            for near in
                [wide, wide * 1.0001, middle as f32, (middle * 1.000001) as f32, (middle * 0.999999) as f32]
            {
                let (ours, theirs): (f16, f16) = (near.cast(), f16::from_f32_const(near));
                assert!(ours.to_bits() == theirs.to_bits() || near.is_nan() && ours.is_nan(), "{near}");
                let (ours, theirs): (bf16, bf16) = (near.cast(), bf16::from_f32_const(near));
                assert!(ours.to_bits() == theirs.to_bits() || near.is_nan() && ours.is_nan(), "{near}");
            }
            // The half crate drops the low bits of a float64, so here the neighbours are the judges: the
            // middle goes to the even one, and whatever is off it to the nearer one.
            if middle.is_finite() && next.is_finite() && bits & 0x7FFF != 0x7FFF {
                let even = if bits & 1 == 0 { bits } else { bits + 1 };
                let rounded = |value: f64| Cast::<f16>::cast(value).to_bits();
                assert_eq!(rounded(middle), even, "{middle:e}");
                assert_eq!(rounded(middle * (1.0 - 1e-12)), bits, "{middle:e}");
                assert_eq!(rounded(middle * (1.0 + 1e-12)), bits + 1, "{middle:e}");
            }
        }
    }

    #[test]
    fn floats_out_of_range_become_the_minimum_and_wrap() {
        for bad in [f32::NAN, f32::INFINITY, -f32::INFINITY, 3e9, -3e9] {
            assert_eq!(Cast::<i32>::cast(bad), i32::MIN);
            assert_eq!(Cast::<u8>::cast(bad), 0);
        }
        assert_eq!(Cast::<u8>::cast(300.7f64), 44);
        assert_eq!(Cast::<i8>::cast(-1.9f64), -1);
        assert_eq!(Cast::<u32>::cast(4e9f64), 4_000_000_000);
        assert_eq!(Cast::<u64>::cast(1e19f64), 1 << 63);
    }
}
