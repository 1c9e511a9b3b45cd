//! Dtypes as values: names, sizes, categories, promotion, and the one switch from a dtype to its element type.

use crate::error::{Error, Problem, Result};
use crate::scalar::Scalar;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Categories of dtypes, in the order of promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    Bool,
    Int,
    Float,
    Complex,
}

/// The element type of each dtype.
pub mod element {
    pub use crate::scalar::Bool;
    use crate::scalar::Complex;
    pub type U8 = u8;
    pub type U16 = u16;
    pub type U32 = u32;
    pub type U64 = u64;
    pub type I8 = i8;
    pub type I16 = i16;
    pub type I32 = i32;
    pub type I64 = i64;
    pub type F16 = half::f16;
    pub type BF16 = half::bf16;
    pub type F32 = f32;
    pub type F64 = f64;
    pub type C64 = Complex<f32>;
    pub type C128 = Complex<f64>;
}

macro_rules! dtypes {
    ($($variant:ident $category:ident $bits:literal $name:literal $torch:literal;)*) => {
        /// The type of a tensor's elements.
        ///
        /// As large as a pointer, so that a tensor has no padding. Moving a tensor then takes no loads of other sizes
        /// than the stores that wrote it; such loads would wait for those stores (30 ns in a small `a + b`).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(usize)]
        pub enum DType { $($variant),* }

        struct DTypeInfo { category: Category, size: usize, name: &'static str, torch: &'static str }
        const INFO: [DTypeInfo; DType::ALL.len()] = [$(DTypeInfo {
            category: Category::$category, size: $bits / 8, name: $name, torch: $torch,
        }),*];

        impl DType {
            /// Every dtype, in the order of their numbers.
            pub const ALL: &'static [DType] = &[$(DType::$variant),*];
        }
    };
}
dtypes! {
    Bool Bool     8  "bool"       "Bool";
    U8   Int      8  "uint8"      "Byte";
    U16  Int      16 "uint16"     "UInt16";
    U32  Int      32 "uint32"     "UInt32";
    U64  Int      64 "uint64"     "UInt64";
    I8   Int      8  "int8"       "Char";
    I16  Int      16 "int16"      "Short";
    I32  Int      32 "int32"      "Int";
    I64  Int      64 "int64"      "Long";
    F16  Float    16 "float16"    "Half";
    BF16 Float    16 "bfloat16"   "BFloat16";
    F32  Float    32 "float32"    "Float";
    F64  Float    64 "float64"    "Double";
    C64  Complex  64 "complex64"  "ComplexFloat";
    C128 Complex 128 "complex128" "ComplexDouble";
}

impl DType {
    #[inline]
    const fn info(self) -> &'static DTypeInfo {
        &INFO[self as usize]
    }
    /// Bytes per element.
    #[inline]
    pub const fn size(self) -> usize {
        self.info().size
    }
    /// The alignment of elements in bytes: their size, or that of one part of a complex number.
    #[inline]
    pub const fn alignment(self) -> usize {
        match self {
            DType::C64 => 4,
            DType::C128 => 8,
            other => other.size(),
        }
    }
    /// `float32`.
    pub const fn name(self) -> &'static str {
        self.info().name
    }
    /// Torch's name, as in `FloatTensor` and `FloatStorage`.
    pub const fn torch_name(self) -> &'static str {
        self.info().torch
    }
    #[inline]
    pub const fn category(self) -> Category {
        self.info().category
    }
    pub fn is_float(self) -> bool {
        self.category() == Category::Float
    }
    pub fn is_complex(self) -> bool {
        self.category() == Category::Complex
    }
    pub fn is_int(self) -> bool {
        self.category() == Category::Int
    }
    pub fn is_signed(self) -> bool {
        !matches!(self, DType::Bool | DType::U8 | DType::U16 | DType::U32 | DType::U64)
    }
    pub fn from_name(name: &str) -> Option<DType> {
        DType::ALL.iter().copied().find(|d| d.name() == name)
    }
    pub fn from_torch_name(name: &str) -> Option<DType> {
        DType::ALL.iter().copied().find(|d| d.torch_name() == name)
    }
    /// The dtype of the parts of a complex dtype; any other dtype itself.
    pub fn real(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            other => other,
        }
    }
    /// The smallest and largest value of an integer dtype (and of bool, 0 and 1).
    pub fn int_range(self) -> Option<(i128, i128)> {
        let bits = 8 * self.size() as u32;
        match self.category() {
            Category::Bool => Some((0, 1)),
            Category::Int if self.is_signed() => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Category::Int => Some((0, (1 << bits) - 1)),
            _ => None,
        }
    }
    /// The largest number of a dtype.
    pub fn largest(self) -> Scalar {
        match self.real() {
            DType::F16 => Scalar::Float(half::f16::MAX.into()),
            DType::BF16 => Scalar::Float(half::bf16::MAX.into()),
            DType::F32 => Scalar::Float(f32::MAX.into()),
            DType::F64 => Scalar::Float(f64::MAX),
            other => Scalar::Int(other.int_range().expect("bool or an integer dtype").1),
        }
    }
    /// The lowest number of a dtype.
    pub fn lowest(self) -> Scalar {
        match self.largest() {
            Scalar::Float(value) => Scalar::Float(-value),
            _ => Scalar::Int(self.int_range().expect("bool or an integer dtype").0),
        }
    }
    /// Bits of the mantissa of a floating dtype, the leading one included: integers up to 2 to this power are exact.
    pub fn mantissa_bits(self) -> u32 {
        match self.real() {
            DType::F16 => half::f16::MANTISSA_DIGITS,
            DType::BF16 => half::bf16::MANTISSA_DIGITS,
            DType::F32 => f32::MANTISSA_DIGITS,
            DType::F64 => f64::MANTISSA_DIGITS,
            other => unreachable!("{} has no mantissa", other.name()),
        }
    }
    /// The dtype in which kernels compute: float32 for float16 and bfloat16, any other dtype itself.
    pub fn compute(self) -> DType {
        match self {
            DType::F16 | DType::BF16 => DType::F32,
            other => other,
        }
    }
}

/// The common dtype of two operands: the higher category wins, then the size. `uint64` and a signed integer have none.
#[inline]
pub fn promote(a: DType, b: DType) -> Result<DType> {
    if a == b { Ok(a) } else { promote_unequal(a, b) }
}

fn promote_unequal(a: DType, b: DType) -> Result<DType> {
    use DType::*;
    let (low, high) = if a.category() <= b.category() { (a, b) } else { (b, a) };
    if low.category() < high.category() {
        // float64 with complex64 must not lose the float's precision.
        return Ok(if low == F64 && high == C64 { C128 } else { high });
    }
    Ok(match high.category() {
        Category::Bool => Bool,
        Category::Complex => C128,
        Category::Float => {
            if a == F64 || b == F64 {
                F64
            } else {
                F32 // also float16 with bfloat16: neither holds the other
            }
        }
        Category::Int if a.is_signed() == b.is_signed() => {
            if a.size() >= b.size() {
                a
            } else {
                b
            }
        }
        Category::Int => {
            let (signed, unsigned) = if a.is_signed() { (a, b) } else { (b, a) };
            match signed.size().max(2 * unsigned.size()) {
                2 => I16,
                4 => I32,
                8 => I64,
                _ => return Err(Error::new(Problem::NoCommonDType { left: a, right: b })),
            }
        }
    })
}

static DEFAULT: AtomicU8 = AtomicU8::new(DType::F32 as u8);

/// The default floating dtype: what Python floats, `zeros(3)` and `int / int` become.
pub fn default_float() -> DType {
    DType::ALL[DEFAULT.load(Relaxed) as usize]
}

/// Sets the default floating dtype. Refuses any other dtype.
pub fn set_default_float(dtype: DType) -> Result<()> {
    if !dtype.is_float() {
        return Err(Error::dtype("dtype", dtype, "a floating dtype"));
    }
    DEFAULT.store(dtype as u8, Relaxed);
    Ok(())
}

/// The complex dtype whose parts have the given floating dtype.
pub fn complex_of(float: DType) -> DType {
    if float == DType::F64 { DType::C128 } else { DType::C64 }
}

/// The one switch from a dtype to its element type.
///
/// `switch!(dtype, class, T => expression, else => expression)` evaluates the first expression with `T` bound to the
/// element type if the dtype belongs to the class, and the second one otherwise.
///
/// | class | dtypes |
/// |---|---|
/// | `all` | every dtype |
/// | `any` | the dtypes that kernels compute in: all but float16 and bfloat16 |
/// | `num`, `counts` | `any` without bool |
/// | `real` | `any` without the complex dtypes |
/// | `order` | `real` without bool |
/// | `bits` | bool and the integers |
/// | `int` | the integers |
/// | `float` | float32, float64 |
/// | `field` | `float` and the complex dtypes |
/// | `floats` | every floating dtype, including float16 and bfloat16 |
/// | `sortable` | every dtype but the complex ones |
/// | `wide` | float64, complex128 |
#[macro_export]
macro_rules! switch {
    (@ $dtype:expr, $T:ident => $body:expr, else => $other:expr; $($V:ident)*) => {
        match $dtype {
            $($crate::dtype::DType::$V => {
                #[allow(dead_code)]
                type $T = $crate::dtype::element::$V;
                $body
            })*
            #[allow(unreachable_patterns)]
            _ => $other,
        }
    };
    ($d:expr, all, $($rest:tt)*) => { switch!(@ $d, $($rest)*; Bool U8 U16 U32 U64 I8 I16 I32 I64 F16 BF16 F32 F64 C64 C128) };
    ($d:expr, any, $($rest:tt)*) => { switch!(@ $d, $($rest)*; Bool U8 U16 U32 U64 I8 I16 I32 I64 F32 F64 C64 C128) };
    ($d:expr, num, $($rest:tt)*) => { switch!(@ $d, $($rest)*; U8 U16 U32 U64 I8 I16 I32 I64 F32 F64 C64 C128) };
    ($d:expr, counts, $($rest:tt)*) => { switch!($d, num, $($rest)*) };
    ($d:expr, real, $($rest:tt)*) => { switch!(@ $d, $($rest)*; Bool U8 U16 U32 U64 I8 I16 I32 I64 F32 F64) };
    ($d:expr, order, $($rest:tt)*) => { switch!(@ $d, $($rest)*; U8 U16 U32 U64 I8 I16 I32 I64 F32 F64) };
    ($d:expr, bits, $($rest:tt)*) => { switch!(@ $d, $($rest)*; Bool U8 U16 U32 U64 I8 I16 I32 I64) };
    ($d:expr, int, $($rest:tt)*) => { switch!(@ $d, $($rest)*; U8 U16 U32 U64 I8 I16 I32 I64) };
    ($d:expr, float, $($rest:tt)*) => { switch!(@ $d, $($rest)*; F32 F64) };
    ($d:expr, field, $($rest:tt)*) => { switch!(@ $d, $($rest)*; F32 F64 C64 C128) };
    ($d:expr, floats, $($rest:tt)*) => { switch!(@ $d, $($rest)*; F16 BF16 F32 F64) };
    ($d:expr, sortable, $($rest:tt)*) => { switch!(@ $d, $($rest)*; Bool U8 U16 U32 U64 I8 I16 I32 I64 F16 BF16 F32 F64) };
    ($d:expr, wide, $($rest:tt)*) => { switch!(@ $d, $($rest)*; F64 C128) };
}
