//! hypot and 1 / sqrt(x).

use super::double_double::{dd, fast_two_sum, two_product};
use super::vector_float::{VectorFloat, pick};

/// Arguments whose squares overflow or underflow.
#[inline(always)]
pub fn rare_hypot<T: VectorFloat>(x: T, y: T) -> bool {
    let top = pick(x.abs() > y.abs(), x.abs(), y.abs());
    !((top < T::SAFE) & ((top > T::ONE / T::SAFE) | (top == T::ZERO)))
}

#[inline(always)]
pub fn hypot<T: VectorFloat>(x: T, y: T) -> T {
    let (a, b) = (x.abs(), y.abs());
    let (high, low) = (pick(a > b, a, b), pick(a > b, b, a));
    let (h, l) = (two_product(high, high), two_product(low, low));
    let s = fast_two_sum(h.hi, l.hi);
    dd(s.hi, s.lo + (h.lo + l.lo)).sqrt().value()
}

/// `1 - x y^2` for y near 1/sqrt(x).
#[inline(always)]
fn rsqrt_residue<T: VectorFloat>(x: T, y: T) -> T {
    (x * y).fma(-y, T::ONE)
}

/// One iteration of third order: the error becomes of the order of its cube.
#[inline(always)]
fn rsqrt_step<T: VectorFloat>(y: T, residue: T) -> T {
    (y * residue).fma(residue.fma(T::of(0.375), T::HALF), y)
}

/// 1 / sqrt(x) of a positive normal number, by iteration from an estimate by its exponent. A square root and a division
/// take longer.
#[inline(always)]
pub fn rsqrt<T: VectorFloat>(x: T) -> T {
    let mut y = x.rough_rsqrt();
    y = rsqrt_step(y, rsqrt_residue(x, y));
    if !T::SINGLE {
        y = rsqrt_step(y, rsqrt_residue(x, y));
    }
    // The last residue is exact, by the two parts of the product.
    let p = two_product(x, y);
    rsqrt_step(y, (-p.lo).fma(y, (-p.hi).fma(y, T::ONE)))
}

/// All but positive normal numbers. The bounds are a factor of two inside those: the compiler turns a test for exactly the
/// normal numbers into one of bits, and does not vectorise it.
#[inline(always)]
pub fn rare_rsqrt<T: VectorFloat>(x: T) -> bool {
    !((x > T::TINY * T::TWO) & (x < T::MAX * T::HALF))
}

/// 1 / sqrt(x) of any number.
#[inline(always)]
pub fn rsqrt_edges<T: VectorFloat>(x: T) -> T {
    let y = T::ONE / x.sqrt();
    // One step of Newton's method with the exact residue.
    let p = two_product(x, y);
    let residue = (-p.lo).fma(y, (-p.hi).fma(y, T::ONE));
    let better = (y * T::HALF).fma(residue, y);
    // The residue of 0 and infinity is NaN.
    pick(residue.is_nan(), y, better)
}
