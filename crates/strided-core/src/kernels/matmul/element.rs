//! The element types of products: multiplication with addition, and how results are stored.

use crate::scalar::{Complex, Num};

/// A type that matrices are multiplied in.
pub(super) trait ProductElement: Num {
    /// The time of a multiplication with an addition, relative to float32.
    const COST: usize;
    /// Whether products with vectors are worth code for AVX-512.
    const WIDE: bool;

    /// `self * b + c`, rounded once if `FAST`, where that is an instruction.
    fn multiply_add<const FAST: bool>(self, b: Self, c: Self) -> Self;
}

macro_rules! elements {
    ($($t:ty, $cost:literal, $how:ident;)*) => { $(
        impl ProductElement for $t {
            const COST: usize = $cost;
            const WIDE: bool = elements!(@wide $how);
            #[inline(always)]
            fn multiply_add<const FAST: bool>(self, b: Self, c: Self) -> Self {
                elements!(@$how self, b, c, FAST)
            }
        }
    )* };
    (@wide fused) => { true };
    (@wide plain) => { false };
    (@fused $a:expr, $b:expr, $c:expr, $fast:expr) => { if $fast { $a.mul_add($b, $c) } else { $a * $b + $c } };
    (@plain $a:expr, $b:expr, $c:expr, $fast:expr) => { Num::add(Num::mul($a, $b), $c) };
}
elements! {
    u8, 1, plain;
    i8, 1, plain;
    u16, 1, plain;
    i16, 1, plain;
    u32, 1, plain;
    i32, 1, plain;
    u64, 4, plain;
    i64, 4, plain;
    f32, 1, fused;
    f64, 2, fused;
    Complex<f32>, 4, plain;
    Complex<f64>, 8, plain;
}

/// Writes `beta * out + alpha * value`; `out` is not read if `beta` is 0. A factor of 1 is not multiplied with: the product
/// of a complex 1 and an infinity has a NaN.
///
/// # Safety
/// `out` is the address of an element that may be written, and read if `beta` is not 0.
#[inline(always)]
pub(super) unsafe fn store<T: Num>(out: *mut T, value: T, alpha: T, beta: T) {
    let scaled = if alpha == T::ONE { value } else { alpha.mul(value) };
    // SAFETY: this function's contract.
    unsafe {
        let sum = if beta == T::ZERO {
            scaled
        } else if beta == T::ONE {
            out.read().add(scaled)
        } else {
            beta.mul(out.read()).add(scaled)
        };
        out.write(sum);
    }
}
