//! The fifteen element types, and what arithmetic means on each of them.
//!
//! [`Element`] is anything a storage can hold. [`Num`] is what kernels compute in: the half-width
//! floats are elements but not numbers, because they are computed as `f32` in cast blocks.

use crate::dtype::DType;
use half::{bf16, f16};
pub use num_complex::Complex;
use std::cmp::Ordering;

/// A truth value in one byte. Foreign memory may hold any byte: every non-zero one reads as true.
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

/// A type that a storage can hold: plain old data, any bit pattern valid.
pub trait Element: Copy + Send + Sync + PartialEq + 'static {
    const DTYPE: DType;
}

/// A type that kernels compute in. Integers wrap; on truth values `add` is "or" and `mul` is "and".
pub trait Num: Element {
    /// The type of a magnitude: of one part, where the number is complex.
    type Part: Element;
    const ZERO: Self;
    const ONE: Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn neg(self) -> Self;
    fn abs(self) -> Self::Part;
}

/// A number with an order.
pub trait Real: Num + PartialOrd {}

/// A type closed under division.
pub trait Field: Num {
    fn div(self, other: Self) -> Self;
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
        }
        impl Real for $t {}
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
            #[inline(always)] fn add(self, other: Self) -> Self { self + other }
            #[inline(always)] fn sub(self, other: Self) -> Self { self - other }
            #[inline(always)] fn mul(self, other: Self) -> Self { self * other }
            #[inline(always)] fn neg(self) -> Self { -self }
            #[inline(always)] fn abs(self) -> Self { $t::abs(self) }
        }
        impl Real for $t {}
        impl Field for $t {
            #[inline(always)] fn div(self, other: Self) -> Self { self / other }
        }
    )* };
}
floats! { f32 F32 f64 F64 }

macro_rules! complexes {
    ($($t:ident $dtype:ident)*) => { $(
        impl Element for Complex<$t> { const DTYPE: DType = DType::$dtype; }
        impl Num for Complex<$t> {
            type Part = $t;
            const ZERO: Self = Complex::new(0.0, 0.0);
            const ONE: Self = Complex::new(1.0, 0.0);
            #[inline(always)] fn add(self, other: Self) -> Self { self + other }
            #[inline(always)] fn sub(self, other: Self) -> Self { self - other }
            #[inline(always)] fn mul(self, other: Self) -> Self { self * other }
            #[inline(always)] fn neg(self) -> Self { -self }
            #[inline(always)] fn abs(self) -> $t { self.re.hypot(self.im) }
        }
        impl Field for Complex<$t> {
            // Smith's method: the plain formula overflows where the quotient does not.
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
        }
    )* };
}
complexes! { f32 C64 f64 C128 }

impl Element for Bool {
    const DTYPE: DType = DType::Bool;
}
impl Element for f16 {
    const DTYPE: DType = DType::F16;
}
impl Element for bf16 {
    const DTYPE: DType = DType::BF16;
}

impl Num for Bool {
    type Part = Self;
    const ZERO: Self = Bool(0);
    const ONE: Self = Bool(1);
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Bool::new(self.get() | other.get())
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Bool::new(self.get() ^ other.get())
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Bool::new(self.get() & other.get())
    }
    #[inline(always)]
    fn neg(self) -> Self {
        self
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self
    }
}
impl Real for Bool {}

/// A number from outside, before it has a dtype: what Python's `bool`, `int`, `float`, `complex` carry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    Bool(bool),
    /// Fits `i64` or `u64`.
    Int(i128),
    /// An integer beyond every integer dtype, as the nearest float (infinite where none is near).
    Huge(f64),
    Float(f64),
    Complex(Complex<f64>),
}
