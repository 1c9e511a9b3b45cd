//! The fifteen element types and their arithmetic.
//!
//! [`Element`] is any type that a storage can hold. [`Num`] is a type that kernels compute in: float16 and bfloat16 are
//! elements but not numbers, because they are cast to `f32` block by block.

use crate::dtype::{Category, DType};
use half::{bf16, f16};
pub use num_complex::Complex;
use std::cmp::Ordering;
use std::fmt;

/// A boolean in one byte. Foreign memory may hold any byte: every non-zero one reads as true.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub struct Bool(u8);

impl Bool {
    #[inline(always)]
    pub const fn new(value: bool) -> Self {
        Bool(value as u8)
    }
    #[inline(always)]
    pub const fn get(self) -> bool {
        self.0 != 0
    }
}

impl PartialEq for Bool {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl PartialOrd for Bool {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

/// A type that a storage can hold: plain old data of which every bit pattern is valid.
pub trait Element: Copy + Send + Sync + PartialEq + 'static {
    const DTYPE: DType;
}

/// A type that kernels compute in. Integers wrap; for booleans `add` is "or" and `mul` is "and".
pub trait Num: Element {
    /// The type of a magnitude: for complex numbers, the type of one part.
    type Part: Element;
    const ZERO: Self;
    const ONE: Self;
    /// The number that changes no sum. For floats it is -0.0: a sum of negative zeros that starts from 0.0 would be 0.0.
    const SUM_IDENTITY: Self = Self::ZERO;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn neg(self) -> Self;
    fn abs(self) -> Self::Part;
    /// -1, 0 or 1; NaN for NaN; for a complex number `z / |z|`.
    fn sign(self) -> Self;
    #[inline(always)]
    fn conj(self) -> Self {
        self
    }
    #[inline(always)]
    fn is_infinite(self) -> bool {
        false
    }
    #[inline(always)]
    fn is_finite(self) -> bool {
        true
    }
    #[inline(always)]
    fn is_nonzero(self) -> bool {
        self != Self::ZERO
    }
    /// Whether the imaginary part is 0.
    #[inline(always)]
    fn is_real(self) -> bool {
        true
    }
    /// Replaces NaN and the infinities; for complex numbers part by part.
    #[inline(always)]
    fn finite_or(self, _nan: Self, _above: Self, _below: Self) -> Self {
        self
    }
}

/// A real number.
pub trait Real: Num + PartialOrd {
    /// Rounding to an integer: down, up, toward zero, to the nearest (ties to even).
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn round(self) -> Self;
    fn is_negative(self) -> bool;
    /// The larger one; NaN if either is NaN.
    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        #[allow(clippy::eq_op)]
        if self > other || self != self { self } else { other }
    }
    /// The smaller one; NaN if either is NaN.
    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        #[allow(clippy::eq_op)]
        if self < other || self != self { self } else { other }
    }
    /// The larger one; if one is NaN, the other.
    #[inline(always)]
    fn fmax(self, other: Self) -> Self {
        #[allow(clippy::eq_op)]
        if self >= other || other != other { self } else { other }
    }
    /// The smaller one; if one is NaN, the other.
    #[inline(always)]
    fn fmin(self, other: Self) -> Self {
        #[allow(clippy::eq_op)]
        if self <= other || other != other { self } else { other }
    }
}

/// The limits of a type: any other value replaces them in a maximum or minimum.
pub trait Limits: Real {
    const LOWEST: Self;
    const HIGHEST: Self;
    /// NaN, or 0 for types without NaN.
    const NAN: Self;
}

/// A number that has integer quotients and remainders. Operations refuse zero divisors of integers before they run.
pub trait DivRem: Real {
    /// The quotient, rounded down to an integer.
    fn floor_div(self, other: Self) -> Self;
    /// The quotient, rounded toward zero to an integer.
    fn trunc_div(self, other: Self) -> Self;
    /// The remainder of `floor_div`, which has the sign of the divisor.
    fn remainder(self, other: Self) -> Self;
    /// The remainder of `trunc_div`, which has the sign of the dividend.
    fn fmod(self, other: Self) -> Self;
}

/// A type closed under division.
pub trait Field: Num {
    fn div(self, other: Self) -> Self;
    fn angle(self) -> Self::Part;
    /// Whether the magnitude is below 0.5.
    fn is_small(self) -> bool;
}

/// float32 and float64.
pub trait Float: DivRem + Field {
    fn of(value: f64) -> Self;
    fn copysign(self, sign: Self) -> Self;
    /// `self * 2**exponent` for an integral exponent, rounded once.
    fn scale(self, exponent: Self) -> Self;
}

/// The floating types, including float16 and bfloat16.
pub trait NextAfter: Element {
    /// The next representable number in the direction of `to`.
    fn next_after(self, to: Self) -> Self;
}

/// Bitwise operations of booleans and integers.
pub trait Bits: Num {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn not(self) -> Self;
}

/// Integers.
pub trait Int: DivRem + Bits {
    /// Shifts left. A negative count, or one of at least the number of bits, results in 0.
    fn shift_left(self, bits: Self) -> Self;
    /// Shifts right. A negative count, or one of at least the number of bits, results in 0, or in -1 for negative
    /// numbers.
    fn shift_right(self, bits: Self) -> Self;
    /// The greatest common divisor.
    fn gcd(self, other: Self) -> Self;
    /// The least common multiple, wrapped.
    fn lcm(self, other: Self) -> Self;
}

/// The divisor, or 1 for 0. Operations refuse zero divisors before they run, but another thread may write a zero
/// after that check, and it must not cause a panic.
#[inline(always)]
pub fn divisor<T: Num>(value: T) -> T {
    if value == T::ZERO { T::ONE } else { value }
}

/// Methods that return the number itself.
macro_rules! unchanged {
    ($($method:ident)*) => { $( #[inline(always)] fn $method(self) -> Self { self } )* };
}

macro_rules! integers {
    ($($t:ident $dtype:ident $abs:expr;)*) => { $(
        impl Element for $t { const DTYPE: DType = DType::$dtype; }
        impl Num for $t {
            type Part = Self;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline(always)] fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)] fn sub(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)] fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)] fn neg(self) -> Self { self.wrapping_neg() }
            #[inline(always)] fn abs(self) -> Self { let abs: fn($t) -> $t = $abs; abs(self) }
            #[inline(always)] fn sign(self) -> Self { (self > 0) as $t - <$t as Real>::is_negative(self) as $t }
        }
        impl Real for $t {
            unchanged! { floor ceil trunc round }
            #[allow(unused_comparisons)]
            #[inline(always)] fn is_negative(self) -> bool { self < 0 }
        }
        impl Limits for $t {
            const LOWEST: Self = $t::MIN;
            const HIGHEST: Self = $t::MAX;
            const NAN: Self = 0;
        }
        impl DivRem for $t {
            #[inline(always)]
            fn floor_div(self, other: Self) -> Self {
                let other = divisor(other);
                let quotient = self.wrapping_div(other);
                let inexact = self.wrapping_rem(other) != 0;
                quotient.wrapping_sub((inexact && Real::is_negative(self) != Real::is_negative(other)) as $t)
            }
            #[inline(always)] fn trunc_div(self, other: Self) -> Self { self.wrapping_div(divisor(other)) }
            #[inline(always)]
            fn remainder(self, other: Self) -> Self {
                let other = divisor(other);
                let left = self.wrapping_rem(other);
                if left != 0 && Real::is_negative(self) != Real::is_negative(other) { left.wrapping_add(other) } else { left }
            }
            #[inline(always)] fn fmod(self, other: Self) -> Self { self.wrapping_rem(divisor(other)) }
        }
        impl Bits for $t {
            #[inline(always)] fn and(self, other: Self) -> Self { self & other }
            #[inline(always)] fn or(self, other: Self) -> Self { self | other }
            #[inline(always)] fn xor(self, other: Self) -> Self { self ^ other }
            #[inline(always)] fn not(self) -> Self { !self }
        }
        impl Int for $t {
            #[inline(always)]
            fn shift_left(self, bits: Self) -> Self {
                let inside = !Real::is_negative(bits) && (bits as u64) < $t::BITS as u64;
                if inside { self.wrapping_shl(bits as u32) } else { 0 }
            }
            #[inline(always)]
            fn shift_right(self, bits: Self) -> Self {
                let inside = !Real::is_negative(bits) && (bits as u64) < $t::BITS as u64;
                self.wrapping_shr(if inside { bits as u32 } else { $t::BITS - 1 })
                    * (inside || Real::is_negative(self)) as $t
            }
            fn gcd(self, other: Self) -> Self {
                let (mut a, mut b) = (Num::abs(self), Num::abs(other));
                while b != 0 {
                    (a, b) = (b, a.wrapping_rem(b));
                }
                Num::abs(a)
            }
            fn lcm(self, other: Self) -> Self {
                if self == 0 || other == 0 { 0 } else { Num::abs(self.wrapping_div(self.gcd(other)).wrapping_mul(other)) }
            }
        }
    )* };
}
integers! {
    u8 U8 |v| v; u16 U16 |v| v; u32 U32 |v| v; u64 U64 |v| v;
    i8 I8 i8::wrapping_abs; i16 I16 i16::wrapping_abs; i32 I32 i32::wrapping_abs; i64 I64 i64::wrapping_abs;
}

macro_rules! floats {
    ($($t:ident $dtype:ident)*) => { $(
        impl Element for $t { const DTYPE: DType = DType::$dtype; }
        impl Num for $t {
            type Part = Self;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const SUM_IDENTITY: Self = -0.0;
            #[inline(always)] fn add(self, other: Self) -> Self { self + other }
            #[inline(always)] fn sub(self, other: Self) -> Self { self - other }
            #[inline(always)] fn mul(self, other: Self) -> Self { self * other }
            #[inline(always)] fn neg(self) -> Self { -self }
            #[inline(always)] fn abs(self) -> Self { $t::abs(self) }
            #[inline(always)]
            fn sign(self) -> Self {
                // Only selections, which vectorise. Both zeros result in 0.
                let above = if self > 0.0 { 1.0 } else { 0.0 };
                let sign = if self < 0.0 { -1.0 } else { above };
                if self.is_nan() { self } else { sign }
            }
            #[inline(always)] fn is_infinite(self) -> bool { $t::abs(self) == $t::INFINITY }
            #[inline(always)] fn is_finite(self) -> bool { $t::abs(self) < $t::INFINITY }
            #[inline(always)]
            fn finite_or(self, nan: Self, above: Self, below: Self) -> Self {
                let finite = if self == $t::INFINITY { above } else { self };
                let finite = if self == $t::NEG_INFINITY { below } else { finite };
                if self.is_nan() { nan } else { finite }
            }
        }
        impl Real for $t {
            #[inline(always)] fn floor(self) -> Self { $t::floor(self) }
            #[inline(always)] fn ceil(self) -> Self { $t::ceil(self) }
            #[inline(always)] fn trunc(self) -> Self { $t::trunc(self) }
            #[inline(always)] fn round(self) -> Self { $t::round_ties_even(self) }
            #[inline(always)] fn is_negative(self) -> bool { self.is_sign_negative() }
        }
        impl Limits for $t {
            const LOWEST: Self = $t::NEG_INFINITY;
            const HIGHEST: Self = $t::INFINITY;
            const NAN: Self = $t::NAN;
        }
        impl DivRem for $t {
            fn floor_div(self, other: Self) -> Self {
                let left = self % other;
                if other == 0.0 {
                    return self / other;
                }
                let nearest = $t::round((self - left) / other);
                // The two roundings above may be off. The correction is computed exactly, or is small enough.
                let correction = $t::round(((-nearest).mul_add(other, self) - left) / other);
                let whole = if correction.is_finite() { nearest + correction } else { nearest };
                let whole = whole - (left != 0.0 && (left < 0.0) != (other < 0.0)) as u8 as $t;
                if whole == 0.0 { (0.0 as $t).copysign(self / other) } else { whole }
            }
            #[inline(always)] fn trunc_div(self, other: Self) -> Self { $t::trunc(self / other) }
            fn remainder(self, other: Self) -> Self {
                let left = self % other;
                if left == 0.0 {
                    left.copysign(other)
                } else if (left < 0.0) != (other < 0.0) {
                    left + other
                } else {
                    left
                }
            }
            fn fmod(self, other: Self) -> Self { self % other }
        }
        impl Field for $t {
            #[inline(always)] fn div(self, other: Self) -> Self { self / other }
            #[inline(always)] fn is_small(self) -> bool { $t::abs(self) < 0.5 }
            #[inline(always)]
            fn angle(self) -> Self {
                if self.is_nan() { self } else if self < 0.0 { std::f64::consts::PI as $t } else { 0.0 }
            }
        }
        impl Float for $t {
            #[inline(always)] fn of(value: f64) -> Self { value as $t }
            #[inline(always)] fn copysign(self, sign: Self) -> Self { $t::copysign(self, sign) }
            #[inline(always)] fn scale(self, exponent: Self) -> Self { scaled(self as f64, exponent as f64) as $t }
        }
    )* };
}
floats! { f32 F32 f64 F64 }

/// `value * 2**exponent` for an integral exponent, rounded once.
#[inline(always)]
fn scaled(value: f64, exponent: f64) -> f64 {
    // 2**exponent for an integer from -1022 to 1023. Adding 1.5 * 2**52 puts the integer into the low bits of the
    // float, from where a shift moves it, with the bias of 1023, into the exponent field.
    let power = |exponent: f64| f64::from_bits((exponent + (6755399441055744.0 + 1023.0)).to_bits() << 52);
    // Large exponents take several multiplications, of which only the last may round: powers above 1 are exact unless
    // they overflow, and powers below 1 stop above the subnormal range.
    let (up, down) = (1023.0, -969.0);
    let (mut value, mut left) = (value, exponent.clamp(-2200.0, 2200.0));
    for _ in 0..2 {
        let step = if left > up {
            up
        } else if left < -1022.0 {
            down
        } else {
            0.0
        };
        value *= power(step);
        left -= step;
    }
    value * power(left.clamp(-1022.0, up))
}

macro_rules! next_after {
    ($($t:ty: $bits:ident),*) => { $(
        impl NextAfter for $t {
            #[inline(always)]
            fn next_after(self, to: Self) -> Self {
                let sign: $bits = 1 << ($bits::BITS - 1);
                let (bits, toward) = (self.to_bits(), to.to_bits());
                if self.is_nan() || to.is_nan() {
                    return if self.is_nan() { self } else { to };
                }
                if self == to {
                    return to;
                }
                if bits & !sign == 0 {
                    return <$t>::from_bits(toward & sign | 1); // the smallest number of that sign
                }
                let grows = (self < to) == (bits & sign == 0); // the magnitude
                <$t>::from_bits(if grows { bits + 1 } else { bits - 1 })
            }
        }
    )* };
}
next_after! { f16: u16, bf16: u16, f32: u32, f64: u64 }

macro_rules! complexes {
    ($($t:ident $dtype:ident)*) => { $(
        impl Element for Complex<$t> { const DTYPE: DType = DType::$dtype; }
        impl Num for Complex<$t> {
            type Part = $t;
            const ZERO: Self = Complex::new(0.0, 0.0);
            const ONE: Self = Complex::new(1.0, 0.0);
            const SUM_IDENTITY: Self = Complex::new(-0.0, -0.0);
            #[inline(always)] fn add(self, other: Self) -> Self { self + other }
            #[inline(always)] fn sub(self, other: Self) -> Self { self - other }
            #[inline(always)] fn mul(self, other: Self) -> Self { self * other }
            #[inline(always)] fn neg(self) -> Self { -self }
            #[inline(always)] fn abs(self) -> $t { self.re.hypot(self.im) }
            fn sign(self) -> Self {
                if self == Self::ZERO { Self::ZERO } else { self / Num::abs(self) }
            }
            #[inline(always)] fn conj(self) -> Self { Complex::new(self.re, -self.im) }
            #[inline(always)] fn is_real(self) -> bool { self.im == 0.0 }
            #[inline(always)]
            fn finite_or(self, nan: Self, above: Self, below: Self) -> Self {
                let part = |part: $t| Num::finite_or(part, nan.re, above.re, below.re);
                Complex::new(part(self.re), part(self.im))
            }
            #[inline(always)] fn is_infinite(self) -> bool { Num::is_infinite(self.re) | Num::is_infinite(self.im) }
            #[inline(always)] fn is_finite(self) -> bool { Num::is_finite(self.re) & Num::is_finite(self.im) }
        }
        impl Field for Complex<$t> {
            // Smith's method: the textbook formula overflows where the quotient does not.
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                let (a, b, c, d) = (self.re, self.im, other.re, other.im);
                if c.abs() >= d.abs() {
                    if c == 0.0 && d == 0.0 {
                        return Complex::new(a / c.abs(), b / c.abs());
                    }
                    let ratio = d / c;
                    let scale = 1.0 / (c + d * ratio);
                    Complex::new((a + b * ratio) * scale, (b - a * ratio) * scale)
                } else {
                    let ratio = c / d;
                    let scale = 1.0 / (c * ratio + d);
                    Complex::new((a * ratio + b) * scale, (b * ratio - a) * scale)
                }
            }
            fn angle(self) -> $t { self.im.atan2(self.re) }
            #[inline(always)] fn is_small(self) -> bool { self.norm_sqr() < 0.25 }
        }
    )* };
}
complexes! { f32 C64 f64 C128 }

macro_rules! elements {
    ($($t:ident $dtype:ident)*) => { $( impl Element for $t { const DTYPE: DType = DType::$dtype; } )* };
}
elements! { Bool Bool f16 F16 bf16 BF16 }

/// Methods of two booleans that are an operator of Rust's.
macro_rules! bool_operators {
    ($($method:ident $operator:tt)*) => { $(
        #[inline(always)]
        fn $method(self, other: Self) -> Self { Bool::new(self.get() $operator other.get()) }
    )* };
}
impl Num for Bool {
    type Part = Self;
    const ZERO: Self = Bool(0);
    const ONE: Self = Bool(1);
    bool_operators! { add | sub ^ mul & }
    unchanged! { neg abs sign }
}
impl Real for Bool {
    unchanged! { floor ceil trunc round }
    #[inline(always)]
    fn is_negative(self) -> bool {
        false
    }
}
impl Limits for Bool {
    const LOWEST: Self = Bool(0);
    const HIGHEST: Self = Bool(1);
    const NAN: Self = Bool(0);
}
impl Bits for Bool {
    bool_operators! { and & or | xor ^ }
    #[inline(always)]
    fn not(self) -> Self {
        Bool::new(!self.get())
    }
}

/// A Python number, which has no dtype yet: a `bool`, `int`, `float` or `complex`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    Bool(bool),
    /// Fits `i64` or `u64`.
    Int(i128),
    /// An integer outside the range of every integer dtype, as the nearest float64, which may be infinite.
    Huge(f64),
    Float(f64),
    Complex(Complex<f64>),
}

impl Scalar {
    pub fn category(self) -> Category {
        match self {
            Scalar::Bool(_) => Category::Bool,
            Scalar::Int(_) | Scalar::Huge(_) => Category::Int,
            Scalar::Float(_) => Category::Float,
            Scalar::Complex(_) => Category::Complex,
        }
    }

    pub fn is_zero(self) -> bool {
        match self {
            Scalar::Bool(value) => !value,
            Scalar::Int(value) => value == 0,
            Scalar::Huge(_) => false,
            Scalar::Float(value) => value == 0.0,
            Scalar::Complex(value) => value.re == 0.0 && value.im == 0.0,
        }
    }

    /// The number, or its real part, as a float.
    pub fn real(self) -> f64 {
        match self {
            Scalar::Bool(value) => value as u8 as f64,
            Scalar::Int(value) => value as f64,
            Scalar::Huge(value) | Scalar::Float(value) => value,
            Scalar::Complex(value) => value.re,
        }
    }
}

impl From<i32> for Scalar {
    fn from(value: i32) -> Scalar {
        Scalar::Int(value.into())
    }
}
impl From<f64> for Scalar {
    fn from(value: f64) -> Scalar {
        Scalar::Float(value)
    }
}

/// As Python prints the number: `True`, `3`, `0.5`, `1j`, `(1+2j)`.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Scalar::Bool(v) => f.write_str(if v { "True" } else { "False" }),
            Scalar::Int(v) => write!(f, "{v}"),
            Scalar::Huge(v) | Scalar::Float(v) => {
                let text = float_text(v);
                let is_integral = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
                write!(f, "{text}{}", if is_integral { ".0" } else { "" })
            }
            Scalar::Complex(v) if v.re == 0.0 && v.re.is_sign_positive() => {
                write!(f, "{}j", float_text(v.im))
            }
            Scalar::Complex(v) => {
                let sign = if v.im.is_sign_negative() && !v.im.is_nan() { "-" } else { "+" };
                write!(f, "({}{sign}{}j)", float_text(v.re), float_text(v.im.abs()))
            }
        }
    }
}

/// The digits that Python prints, without `.0`: an exponent of two digits or more for very large and small numbers.
fn float_text(value: f64) -> String {
    let magnitude = value.abs();
    if value.is_nan() {
        return "nan".into();
    }
    if value == 0.0 || value.is_infinite() || (1e-4..1e16).contains(&magnitude) {
        return value.to_string();
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').expect("the exponent of {:e}");
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |positive| ('-', positive));
    format!("{digits}e{sign}{exponent:0>2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_in_python() {
        let complex = |re, im| Scalar::Complex(Complex::new(re, im));
        for (value, text) in [
            (Scalar::Bool(true), "True"),
            (Scalar::Int(-3), "-3"),
            (Scalar::Float(2.0), "2.0"),
            (Scalar::Float(-0.0), "-0.0"),
            (Scalar::Float(1e16), "1e+16"),
            (Scalar::Float(2.5e-5), "2.5e-05"),
            (Scalar::Float(f64::INFINITY), "inf"),
            (complex(0.0, 1.0), "1j"),
            (complex(1.0, 2.0), "(1+2j)"),
            (complex(0.5, -1e300), "(0.5-1e+300j)"),
            (complex(-0.0, 1.0), "(-0+1j)"),
            (complex(0.0, f64::NAN), "nanj"),
        ] {
            assert_eq!(value.to_string(), text);
        }
    }
}
