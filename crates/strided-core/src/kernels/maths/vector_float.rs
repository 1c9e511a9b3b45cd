//! The operations and constants of floats that the vector functions are made of.

use super::tables::Tables;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// float32 and float64. Every method is branch-free and compiles to one or a few vector instructions.
///
/// `n + SHIFT` has the integer `n` in its low bits. So a conversion between float and integer is one addition; AVX2 has no
/// instruction for float64 and int64.
pub trait VectorFloat:
    Tables
    + Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    const ZERO: Self;
    const HALF: Self;
    const ONE: Self;
    const TWO: Self;
    const INFINITY: Self;
    const NAN: Self;
    /// The smallest normal number.
    const TINY: Self;
    const MAX: Self;
    /// Half an ULP of 1.
    const EPSILON: Self;
    /// 1.5 times 2 to the number of mantissa bits.
    const SHIFT: Self;
    /// The largest number whose e^x is finite, and one below which e^x rounds to zero.
    const EXP_MAX: Self;
    const EXP_MIN: Self;
    /// The largest number whose sinh and cosh are finite.
    const SINH_MAX: Self;
    /// The bounds of the same kind for 2^x.
    const EXP2_MAX: Self;
    const EXP2_MIN: Self;
    /// For smaller n, 2^n times a number in [1/2, 2] may be subnormal.
    const LOW_EXPONENT: Self;
    /// Beyond this, tanh rounds to 1.
    const TANH_ONE: Self;
    /// Beyond this, x + 1/x rounds to x and x*x + 1 to x*x; x*x is still finite.
    const ASINH_LARGE: Self;
    /// Up to this, pi/2 as a sum of three numbers is precise enough to reduce an argument.
    const TRIG_MAX: Self;
    /// Powers with a larger exponent are 0, 1 or infinity.
    const POW_MAX: Self;
    /// Squares, quotients and residues of numbers between 1/SAFE and SAFE neither overflow nor underflow.
    const SAFE: Self;

    fn of(value: f64) -> Self;
    /// Whether this is float32.
    const SINGLE: bool;
    fn widen(self) -> f64;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    /// The magnitude of `self` with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// `self * b + c`, rounded once. Slow without FMA instructions: only for code that is compiled with them.
    fn fma(self, b: Self, c: Self) -> Self;
    /// `self`, negated where `sign` is negative (or -0).
    fn flip(self, sign: Self) -> Self;
    /// `self * 2^n`, n = `shifted - SHIFT`; the result must be a normal number.
    fn scale(self, shifted: Self) -> Self;
    /// 2^-k for the exponent k of a normal number, limited to normal numbers.
    #[inline(always)]
    fn inverse_power(k: Self) -> Self {
        Self::power(Self::SHIFT + (-k).at_least(Self::LOW_EXPONENT))
    }

    /// An estimate of 1/sqrt(self) for a positive normal number, with an error of up to 3.5 %.
    fn rough_rsqrt(self) -> Self;
    fn trunc(self) -> Self;
    /// -0.0 where bit `bit` of n is set, else 0.0; n = `shifted - SHIFT`.
    fn bit(shifted: Self, bit: u32) -> Self;
    /// Whether n is odd; n = `shifted - SHIFT`.
    fn odd(shifted: Self) -> bool;
    /// `(m, k)` with `self = m 2^k`, m in [sqrt(1/2), sqrt(2)), for positive normal numbers.
    fn split(self) -> (Self, Self);

    #[inline(always)]
    #[allow(clippy::eq_op)] // only NaN differs from itself
    fn is_nan(self) -> bool {
        !(self == self)
    }

    /// Whether the magnitude is at least `limit`, or this is NaN.
    #[inline(always)]
    #[allow(clippy::neg_cmp_op_on_partial_ord)] // no comparison with NaN holds
    fn is_beyond(self, limit: Self) -> bool {
        !(self.abs() < limit)
    }

    /// 2^n, n = `shifted - SHIFT`, a normal number.
    #[inline(always)]
    fn power(shifted: Self) -> Self {
        Self::ONE.scale(shifted)
    }

    /// The larger one, or `self` if it is NaN. One instruction, where `f64::max` takes three.
    #[inline(always)]
    fn at_least(self, low: Self) -> Self {
        pick(self < low, low, self)
    }

    /// The smaller one, or `self` if it is NaN.
    #[inline(always)]
    fn at_most(self, high: Self) -> Self {
        pick(self > high, high, self)
    }
}

/// Selects one of two values, both of which are computed.
#[inline(always)]
pub fn pick<T>(condition: bool, yes: T, no: T) -> T {
    if condition { yes } else { no }
}

macro_rules! real {
    ($t:ty, $bits:ty, mantissa $mantissa:literal, bias $bias:literal, $($name:ident = $value:expr;)*) => {
        impl VectorFloat for $t {
            const SINGLE: bool = size_of::<$t>() == 4;
            const ZERO: $t = 0.0;
            const HALF: $t = 0.5;
            const ONE: $t = 1.0;
            const TWO: $t = 2.0;
            const INFINITY: $t = <$t>::INFINITY;
            const NAN: $t = <$t>::NAN;
            const TINY: $t = <$t>::MIN_POSITIVE;
            const MAX: $t = <$t>::MAX;
            const EPSILON: $t = <$t>::EPSILON / 2.0;
            const SHIFT: $t = (3 as $bits << ($mantissa - 1)) as $t;
            $(const $name: $t = $value;)*

            #[inline(always)]
            fn of(value: f64) -> $t {
                value as $t
            }
            #[inline(always)]
            fn widen(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn abs(self) -> $t {
                self.abs()
            }
            #[inline(always)]
            fn sqrt(self) -> $t {
                self.sqrt()
            }
            #[inline(always)]
            fn copysign(self, sign: $t) -> $t {
                <$t>::copysign(self, sign)
            }
            #[inline(always)]
            fn fma(self, b: $t, c: $t) -> $t {
                self.mul_add(b, c)
            }
            #[inline(always)]
            fn flip(self, sign: $t) -> $t {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                <$t>::from_bits(self.to_bits() ^ (sign.to_bits() & SIGN))
            }
            #[inline(always)]
            fn scale(self, shifted: $t) -> $t {
                <$t>::from_bits(self.to_bits().wrapping_add(shifted.to_bits() << $mantissa))
            }
            #[inline(always)]
            fn rough_rsqrt(self) -> $t {
                // The bits of a float are roughly a logarithm, scaled and shifted, so that an integer subtraction
                // computes -log(x)/2. The term 0.0677 balances the error of that approximation.
                const MAGIC: $bits = 3 * ((1.0 as $t).to_bits() >> 1) - ((0.0677 * (1u64 << $mantissa) as f64) as $bits);
                <$t>::from_bits(MAGIC.wrapping_sub(self.to_bits() >> 1))
            }
            #[inline(always)]
            fn trunc(self) -> $t {
                self.trunc()
            }
            #[inline(always)]
            fn bit(shifted: $t, bit: u32) -> $t {
                <$t>::from_bits((shifted.to_bits() >> bit) << (<$bits>::BITS - 1))
            }
            #[inline(always)]
            fn odd(shifted: $t) -> bool {
                shifted.to_bits() & 1 != 0
            }
            #[inline(always)]
            fn split(self) -> ($t, $t) {
                let root = (std::f64::consts::FRAC_1_SQRT_2 as $t).to_bits();
                let bias: $bits = $bias;
                // The biased exponent of self / sqrt(1/2).
                let e = self.to_bits().wrapping_sub(root).wrapping_add(bias << $mantissa) >> $mantissa;
                let m = self.to_bits().wrapping_sub(e.wrapping_sub(bias) << $mantissa);
                let two_to_mantissa = (1 as $bits << $mantissa) as $t;
                let k = <$t>::from_bits(e | two_to_mantissa.to_bits()) - (two_to_mantissa + bias as $t);
                (<$t>::from_bits(m), k)
            }
        }
    };
}

real! { f32, u32, mantissa 23, bias 127,
    EXP_MAX = 88.722_83; EXP_MIN = -104.0; SINH_MAX = 89.415_985; EXP2_MAX = 128.0; EXP2_MIN = -151.0; LOW_EXPONENT = -124.0;
    TANH_ONE = 9.5; ASINH_LARGE = 1e8; TRIG_MAX = 1e5; POW_MAX = 2e10; SAFE = 1e15;
}
real! { f64, u64, mantissa 52, bias 1023,
    EXP_MAX = 709.782_712_893_384; EXP_MIN = -746.0; SINH_MAX = 710.475_860_073_943_9; EXP2_MAX = 1024.0; EXP2_MIN = -1077.0; LOW_EXPONENT = -1020.0;
    TANH_ONE = 20.0; ASINH_LARGE = 1e17; TRIG_MAX = 1e9; POW_MAX = 4e19; SAFE = 1e130;
}
