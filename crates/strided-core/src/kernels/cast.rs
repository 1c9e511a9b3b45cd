//! Casts, direct between any two dtypes.
//!
//! Integers wrap. Floats are truncated toward zero. Values out of range, NaN among them, have a defined result, the
//! same on every CPU: they become the minimum of int32 (for int8, int16, int32, uint8, uint16) or of int64 (for the
//! others), and then wrap. Conversions contain no branches, so that the compiler vectorises the loops over them.
//!
//! CPUs from AVX2 on have instructions that convert between float16 and float32, eight at a time ([`Cast::block`]);
//! other CPUs use integer arithmetic, which produces the same bits.

// Ranges are tested with `&`, because `contains` would branch. Loops use indices, as in `kernels::loops`.
#![allow(clippy::manual_range_contains, clippy::needless_range_loop)]

use super::loops::{Function, LevelKernels, apply_each};
use super::{Kernel, copy};
use crate::dtype::{Category, DType, element};
use crate::scalar::{Bool, Complex, Element};
use crate::switch;
use half::{bf16, f16};
use std::marker::PhantomData;

/// A conversion from one element type to another.
pub trait Cast<B: Element>: Copy {
    fn cast(self) -> B;

    /// Converts `L` adjacent elements, on CPUs from [`Level::Fused`](cpu::Level) on. Overridden where those CPUs have
    /// an instruction for it.
    #[inline(always)]
    fn block<const L: usize>(all: [Self; L]) -> [B; L] {
        apply_each::<CastTo<_>, Self, 1, L>([all])
    }
}

/// The kernel that reads operand 1 in dtype `from` and writes operand 0 in dtype `to`.
pub fn kernel(from: DType, to: DType) -> Kernel {
    let (from, to) = same_code(from, to);
    if from == to {
        return copy::kernel(from.size());
    }
    macro_rules! casts {
        ($($A:ident => $($B:ident)*;)*) => {
            match from {
                $(DType::$A => switch!(@ to,
                    B => const { LevelKernels::of::<CastTo<B>, element::$A, 1>() }, else => unreachable!();
                    F16 BF16 F32 F64 C64 C128 $($B)*),)*
            }
        };
    }
    // Every dtype is cast to floating and complex dtypes, and to those in its row.
    let kernels = casts! {
        Bool => U8 U16 U32 U64;
        U8 => Bool U16 U32 U64;
        U16 => Bool U8 U32 U64;
        U32 => Bool U8 U16 U64;
        U64 => Bool U8 U16 U32;
        I8 => U16 U32 U64;
        I16 => U32 U64;
        I32 => U64;
        I64 => ;
        F16 => Bool U8 U16 U32 U64 I32;
        BF16 => Bool U8 U16 U32 U64 I32;
        F32 => Bool U8 U16 U32 U64 I32;
        F64 => Bool U8 U16 U32 U64 I32;
        C64 => Bool U8 U16 U32 U64 I32;
        C128 => Bool U8 U16 U32 U64 I32;
    };
    kernels.select()
}

/// The dtypes of a cast with the same bits as results, so that 146 kernels do for 210 casts. An integer that becomes as
/// wide or narrower, or a bool, is the same with and without a sign; one that becomes wider has the sign of its source.
/// Floats become int32 or int64 first: only uint32 and int32 differ.
fn same_code(from: DType, to: DType) -> (DType, DType) {
    let unsigned = |dtype| match dtype {
        DType::I8 => DType::U8,
        DType::I16 => DType::U16,
        DType::I32 => DType::U32,
        DType::I64 => DType::U64,
        dtype => dtype,
    };
    match (from.category(), to.category()) {
        (Category::Int, Category::Int) if to.size() > from.size() => (from, unsigned(to)),
        (Category::Bool | Category::Int, Category::Bool | Category::Int) => (unsigned(from), unsigned(to)),
        (_, Category::Int) if to != DType::I32 => (from, unsigned(to)),
        _ => (from, to),
    }
}

/// A conversion, as a function for the elementwise loops.
struct CastTo<B>(PhantomData<B>);
impl<A: Cast<B>, B: Element> Function<A, 1> for CastTo<B> {
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

/// 64-bit integers as float32, clamped to ±2^17, for casts to float16. float16 overflows to infinity from 2^16 on, so
/// no more range is needed; and only 32-bit integers have a vector conversion on every CPU.
trait ToClampedF32 {
    fn to_clamped_f32(self) -> f32;
}
impl ToClampedF32 for i64 {
    #[inline(always)]
    fn to_clamped_f32(self) -> f32 {
        self.clamp(-(1 << 17), 1 << 17) as i32 as f32
    }
}
impl ToClampedF32 for u64 {
    #[inline(always)]
    fn to_clamped_f32(self) -> f32 {
        self.min(1 << 17) as i32 as f32
    }
}

macro_rules! cast {
    // Each row: the conversion, the types it converts from, the types it converts to.
    ($($how:ident: $from:tt => $to:tt;)*) => { $(cast!(@from $how $from $to);)* };
    (@from $how:ident [$($from:ty),*] $to:tt) => { $(cast!(@to $how $from, $to);)* };
    (@to $how:ident $from:ty, [$($to:ty),*]) => { $(
        impl Cast<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to { cast!(@$how self, $from, $to) }
            cast!(@block $how $to);
        }
    )* };
    // The instructions for float16 convert from and to float32 only: see `Cast::block` of these two.
    (@block via_f32 $to:ty) => {
        #[inline(always)]
        fn block<const L: usize>(all: [Self; L]) -> [$to; L] {
            Cast::<$to>::block(Cast::<f32>::block(all))
        }
    };
    (@block clamped $to:ty) => {
        #[inline(always)]
        fn block<const L: usize>(all: [Self; L]) -> [$to; L] {
            let mut singles = [0.0f32; L];
            for i in 0..L {
                singles[i] = all[i].to_clamped_f32();
            }
            Cast::<$to>::block(singles)
        }
    };
    (@block $how:ident $to:ty) => {};
    (@plain $v:expr, $from:ty, $to:ty) => { $v as $to };
    (@is_nonzero $v:expr, $from:ty, $to:ty) => { Bool::new($v != <$from>::default()) };
    (@from_bool $v:expr, $from:ty, $to:ty) => { Cast::<$to>::cast($v.get() as u8) };
    (@truncate_i32 $v:expr, $from:ty, $to:ty) => { {
        const LIMIT: $from = 2147483648.0;
        let inside = if ($v >= -LIMIT) & ($v < LIMIT) { $v } else { -LIMIT };
        // SAFETY: the line above put `inside` into the range of i32, and it is no NaN.
        (unsafe { inside.to_int_unchecked::<i32>() }) as $to
    } };
    (@truncate_i64 $v:expr, $from:ty, $to:ty) => { {
        const LIMIT: $from = 9223372036854775808.0;
        let inside = if ($v >= -LIMIT) & ($v < LIMIT) { $v } else { -LIMIT };
        // SAFETY: the line above put `inside` into the range of i64, and it is no NaN.
        (unsafe { inside.to_int_unchecked::<i64>() }) as $to
    } };
    (@via_f32 $v:expr, $from:ty, $to:ty) => { Cast::<$to>::cast(Cast::<f32>::cast($v)) };
    (@via_f64 $v:expr, $from:ty, $to:ty) => { Cast::<$to>::cast($v as f64) };
    (@clamped $v:expr, $from:ty, $to:ty) => { Cast::<$to>::cast($v.to_clamped_f32()) };
    // Via float64, an integer of more than 53 bits would be rounded twice. So its low 16 bits are replaced by one
    // sticky bit, which is set if any of them was. The cast to float64 is then exact, and the cast to bfloat16 rounds as
    // if it saw all bits.
    (@sticky $v:expr, $from:ty, $to:ty) => { {
        let with_sticky_bit = $v & !0xFFFF | ((($v & 0xFFFF) != 0) as $from) << 16;
        let exact = $v.abs_diff(0) < 1 << 53;
        Cast::<$to>::cast((if exact { $v } else { with_sticky_bit }) as f64)
    } };
    (@real_part $v:expr, $from:ty, $to:ty) => { Cast::<$to>::cast($v.re) };
    (@complex_is_nonzero $v:expr, $from:ty, $to:ty) => { Bool::new(($v.re != 0.0) | ($v.im != 0.0)) };
    (@to_complex64 $v:expr, $from:ty, $to:ty) => { Complex::new(Cast::<f32>::cast($v), 0.0) };
    (@to_complex128 $v:expr, $from:ty, $to:ty) => { Complex::new(Cast::<f64>::cast($v), 0.0) };
    (@identity $v:expr, $from:ty, $to:ty) => { $v };
}

cast! {
    plain: [u8, u16, u32, u64, i8, i16, i32, i64] => [u8, u16, u32, u64, i8, i16, i32, i64, f32, f64];
    plain: [f32, f64] => [f32, f64];
    truncate_i32: [f32, f64] => [u8, u16, i8, i16, i32];
    truncate_i64: [f32, f64] => [u32, u64, i64];
    is_nonzero: [u8, u16, u32, u64, i8, i16, i32, i64, f32, f64] => [Bool];
    from_bool: [Bool] => [u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64, Complex<f32>, Complex<f64>];
    via_f32: [u8, u16, i8, i16] => [f16, bf16];
    via_f32: [u32, i32] => [f16]; // a value that float32 cannot represent exactly is infinite in float16
    via_f64: [u32, i32] => [bf16];
    clamped: [i64, u64] => [f16];
    sticky: [u64, i64] => [bf16];
    via_f32: [f16, bf16] => [Bool, u8, u16, u32, u64, i8, i16, i32, i64, f64, Complex<f32>, Complex<f64>];
    via_f32: [f16] => [bf16];
    via_f32: [bf16] => [f16];
    real_part: [Complex<f32>, Complex<f64>] => [u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64];
    complex_is_nonzero: [Complex<f32>, Complex<f64>] => [Bool];
    to_complex64: [u8, u16, u32, u64, i8, i16, i32, i64, f32, f64] => [Complex<f32>];
    to_complex128: [u8, u16, u32, u64, i8, i16, i32, i64, f32, f64] => [Complex<f64>];
    identity: [Bool] => [Bool];
    identity: [f16] => [f16];
    identity: [bf16] => [bf16];
    identity: [Complex<f32>] => [Complex<f32>];
    identity: [Complex<f64>] => [Complex<f64>];
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
    /// Shifts exponent and fraction to where float32 has them, and multiplies by 2^112 to correct the exponent bias.
    /// That is exact, for subnormals too; only infinities and NaNs need their exponent set. NaNs become quiet, as in
    /// the CPU's own conversion.
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
            return apply_each::<CastTo<_>, Self, 1, L>([all]);
        }
        let mut out = [0.0; L];
        for i in (0..L).step_by(8) {
            // SAFETY: L is a multiple of 8, so both arrays have eight elements from i on; `block` runs on CPUs from
            // `Level::Fused` on, which includes F16C.
            unsafe {
                let eight = _mm_loadu_si128(all.as_ptr().add(i).cast::<__m128i>());
                _mm256_storeu_ps(out.as_mut_ptr().add(i), _mm256_cvtph_ps(eight));
            }
        }
        out
    }
}

impl Cast<f16> for f32 {
    /// Rounds by adding a power of two, the anchor. It is so large that the last bit of the sum is the last bit of the
    /// result.
    #[inline(always)]
    fn cast(self) -> f16 {
        let bits = self.to_bits();
        let magnitude = bits & 0x7FFF_FFFF;
        // Clamped to 2^16, so that the addition below cannot overflow; that is beyond the largest float16 and becomes
        // infinite.
        let clamped = if magnitude > 0x4780_0000 { 0x4780_0000 } else { magnitude };
        // The anchor is 2^13 times the value's power of two. Subnormal results share the anchor of the smallest normal
        // float16.
        let exponent = clamped & 0x7F80_0000;
        let normal_exponent = if exponent < 0x3880_0000 { 0x3880_0000 } else { exponent };
        let anchor = f32::from_bits(normal_exponent + (13 << 23));
        let rounded = (f32::from_bits(clamped) + anchor).to_bits() - anchor.to_bits();
        // `rounded` is the value in units in the last place: 10 bits of fraction, and above them the implicit bit of a
        // normal number, which adds one to the exponent field.
        let half = ((normal_exponent - 0x3880_0000) >> 13) + rounded;
        let half = if half > 0x7C00 { 0x7C00 } else { half };
        let half = if magnitude > 0x7F80_0000 { 0x7E00 | (bits >> 13) & 0x3FF } else { half };
        f16::from_bits((half | (bits >> 16) & 0x8000) as u16)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn block<const L: usize>(all: [f32; L]) -> [f16; L] {
        use std::arch::x86_64::{__m128i, _mm_storeu_si128, _mm256_cvtps_ph, _mm256_loadu_ps};
        if !L.is_multiple_of(8) {
            return apply_each::<CastTo<_>, Self, 1, L>([all]);
        }
        let mut out = [f16::ZERO; L];
        for i in (0..L).step_by(8) {
            // SAFETY: L is a multiple of 8, so both arrays have eight elements from i on; `block` runs on CPUs from
            // `Level::Fused` on, which includes F16C. (0 rounds to nearest, ties to even.)
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

/// Rounds to odd: an inexact result is truncated, and its last bit set. A cast from float64 to a half goes through such
/// a float32, so that the result is the same as with one rounding.
#[inline(always)]
fn round_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let back = nearest as f64;
    let truncated = nearest.to_bits() - (back.abs() > value.abs()) as u32;
    f32::from_bits(if (back == value) | value.is_nan() { nearest.to_bits() } else { truncated | 1 })
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
    fn every_half_and_values_near_it_convert_as_in_the_half_crate() {
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
            // The half crate drops the low bits of a float64, so it cannot be the reference here. The midpoint of two halves
            // rounds to the even one, and a value beside the midpoint to the nearer one.
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
