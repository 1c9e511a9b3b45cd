//! Vector registers as a trait, so that one kernel serves float32 and float64 in AVX2 and in AVX-512.
//!
//! Tiles are registers, not arrays of elements, because the compiler cannot be relied on: it vectorised arrays of 12 rows
//! by 32 columns perfectly, and those of 8 rows not at all, which took 40 times as long.

use super::element::ProductElement;
use std::arch::x86_64::*;

/// Registers of a row of a tile.
pub(super) const WIDTH: usize = 2;

/// A vector register of elements. All functions require a CPU that has its instructions.
pub(super) trait Register: Sized + Send + Sync + 'static {
    type Element: ProductElement;
    type Vector: Copy;
    /// Elements of a register.
    const LANES: usize;
    /// Columns of a tile: those of `WIDTH` registers.
    const COLUMNS: usize = WIDTH * Self::LANES;
    /// Whether the instructions are those of AVX-512.
    const WIDE: bool;

    /// # Safety
    /// The CPU has the instructions.
    unsafe fn zero() -> Self::Vector;
    /// # Safety
    /// The CPU has the instructions; `LANES` elements from `at` on are readable.
    unsafe fn load(at: *const Self::Element) -> Self::Vector;
    /// # Safety
    /// The CPU has the instructions; `LANES` elements from `at` on are writable.
    unsafe fn store(at: *mut Self::Element, vector: Self::Vector);
    /// # Safety
    /// The CPU has the instructions.
    unsafe fn splat(value: Self::Element) -> Self::Vector;
    /// # Safety
    /// The CPU has the instructions.
    unsafe fn multiply(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// # Safety
    /// The CPU has the instructions.
    unsafe fn add(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a * b + c`, rounded once.
    ///
    /// # Safety
    /// The CPU has the instructions.
    unsafe fn multiply_add(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
}

macro_rules! registers {
    ($($(#[$doc:meta])* $name:ident: $vector:ident of $element:ident, $features:literal, $wide:literal,
        $zero:ident $load:ident $store:ident $splat:ident $multiply:ident $add:ident $multiply_add:ident;)*) => { $(
        $(#[$doc])*
        pub(super) struct $name;
        impl Register for $name {
            type Element = $element;
            type Vector = $vector;
            const LANES: usize = size_of::<$vector>() / size_of::<$element>();
            const WIDE: bool = $wide;

            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn zero() -> $vector {
                $zero()
            }
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn load(at: *const $element) -> $vector {
                // SAFETY: this function's contract.
                unsafe { $load(at) }
            }
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn store(at: *mut $element, vector: $vector) {
                // SAFETY: this function's contract.
                unsafe { $store(at, vector) }
            }
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn splat(value: $element) -> $vector {
                $splat(value)
            }
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn multiply(a: $vector, b: $vector) -> $vector {
                $multiply(a, b)
            }
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn add(a: $vector, b: $vector) -> $vector {
                $add(a, b)
            }
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn multiply_add(a: $vector, b: $vector, c: $vector) -> $vector {
                $multiply_add(a, b, c)
            }
        }
    )* };
}
registers! {
    /// Eight float32.
    Single256: __m256 of f32, "avx,fma", false, _mm256_setzero_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_set1_ps
        _mm256_mul_ps _mm256_add_ps _mm256_fmadd_ps;
    /// Four float64.
    Double256: __m256d of f64, "avx,fma", false, _mm256_setzero_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_set1_pd
        _mm256_mul_pd _mm256_add_pd _mm256_fmadd_pd;
    /// Sixteen float32.
    Single512: __m512 of f32, "avx512f", true, _mm512_setzero_ps _mm512_loadu_ps _mm512_storeu_ps _mm512_set1_ps
        _mm512_mul_ps _mm512_add_ps _mm512_fmadd_ps;
    /// Eight float64.
    Double512: __m512d of f64, "avx512f", true, _mm512_setzero_pd _mm512_loadu_pd _mm512_storeu_pd _mm512_set1_pd
        _mm512_mul_pd _mm512_add_pd _mm512_fmadd_pd;
}
