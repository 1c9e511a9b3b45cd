//! `isclose`: compares two elements of any dtype, with float64 tolerances for every dtype. Integers are compared by their
//! exact difference.

use super::loops::ElementwiseKernels;
use super::{Pointers, Steps};
use crate::dtype::DType;
use crate::scalar::{Bool, Complex, Element};
use crate::switch;

/// The kernels that compare elements of a dtype: operands are the two elements, the relative and the absolute tolerance.
/// With `NAN`, NaN is close to NaN.
pub fn kernels<const NAN: bool>(dtype: DType) -> Option<&'static ElementwiseKernels> {
    switch!(dtype, any, T => Some(const { &kernels_of::<T, NAN>() }), else => None)
}

const fn kernels_of<T: Distance, const NAN: bool>() -> ElementwiseKernels {
    let operands = [T::DTYPE, T::DTYPE, DType::F64, DType::F64];
    ElementwiseKernels::mixed(kernel::<T, NAN>, kernel::<T, NAN>, operands, DType::Bool)
}

/// The kernel, which is its own reference: nothing in it depends on the CPU.
///
/// # Safety
/// The contract of [`super::Kernel`], for a `Bool` output, two inputs of type `T` and two of float64.
unsafe fn kernel<T: Distance, const NAN: bool>(p: &Pointers, s: &Steps, n: usize) {
    for i in 0..n as isize {
        // SAFETY: this function's contract: p[k] + i * s[k] is valid for i < n.
        unsafe {
            let at = |k: usize| p[k].wrapping_offset(i * s[k]);
            let (a, b) = (at(1).cast::<T>().read(), at(2).cast::<T>().read());
            let (relative, absolute) = (at(3).cast::<f64>().read(), at(4).cast::<f64>().read());
            let close = a == b
                || T::within(a, b, absolute + relative * b.magnitude())
                || NAN && a.is_nan() && b.is_nan();
            at(0).cast::<Bool>().write(Bool::new(close));
        }
    }
}

/// Elements with a distance between them.
pub trait Distance: Element {
    /// Whether the distance between two elements is finite and at most `limit`.
    fn within(a: Self, b: Self, limit: f64) -> bool;
    fn magnitude(self) -> f64;
    #[inline(always)]
    fn is_nan(self) -> bool {
        #[allow(clippy::eq_op)]
        let differs = self != self;
        differs
    }
}

macro_rules! integers {
    ($($t:ident)*) => { $(
        impl Distance for $t {
            #[inline(always)]
            fn within(a: Self, b: Self, limit: f64) -> bool {
                limit >= 0.0 && a.abs_diff(b) as u64 <= limit as u64 // beyond 2^64 the cast saturates
            }
            #[inline(always)]
            fn magnitude(self) -> f64 {
                (self as f64).abs()
            }
        }
    )* };
}
integers! { u8 u16 u32 u64 i8 i16 i32 i64 }

macro_rules! floats {
    ($($t:ident)*) => { $(
        impl Distance for $t {
            #[inline(always)]
            fn within(a: Self, b: Self, limit: f64) -> bool {
                let distance = (a as f64 - b as f64).abs();
                distance < f64::INFINITY && distance <= limit
            }
            #[inline(always)]
            fn magnitude(self) -> f64 {
                (self as f64).abs()
            }
        }
        impl Distance for Complex<$t> {
            #[inline(always)]
            fn within(a: Self, b: Self, limit: f64) -> bool {
                let distance = (a.re as f64 - b.re as f64).hypot(a.im as f64 - b.im as f64);
                distance < f64::INFINITY && distance <= limit
            }
            #[inline(always)]
            fn magnitude(self) -> f64 {
                (self.re as f64).hypot(self.im as f64)
            }
        }
    )* };
}
floats! { f32 f64 }

impl Distance for Bool {
    #[inline(always)]
    fn within(a: Self, b: Self, limit: f64) -> bool {
        (a != b) as u8 as f64 <= limit
    }
    #[inline(always)]
    fn magnitude(self) -> f64 {
        self.get() as u8 as f64
    }
}
