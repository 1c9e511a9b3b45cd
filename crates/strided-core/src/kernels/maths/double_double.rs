//! Double-double arithmetic: a number as an unevaluated sum `hi + lo`, with twice the precision at a few times the cost.

use super::vector_float::VectorFloat;

/// `hi + lo`. Normalized, |lo| is at most half an ULP of hi; most functions accept a larger one.
#[derive(Clone, Copy)]
pub struct DoubleDouble<T> {
    pub hi: T,
    pub lo: T,
}

#[inline(always)]
pub fn dd<T>(hi: T, lo: T) -> DoubleDouble<T> {
    DoubleDouble { hi, lo }
}

/// `a + b` exactly, if |a| >= |b| or a is 0 (Dekker's Fast2Sum).
#[inline(always)]
pub fn fast_two_sum<T: VectorFloat>(a: T, b: T) -> DoubleDouble<T> {
    let hi = a + b;
    dd(hi, b - (hi - a))
}

/// `a + b` exactly (Knuth's 2Sum).
#[inline(always)]
pub fn two_sum<T: VectorFloat>(a: T, b: T) -> DoubleDouble<T> {
    let hi = a + b;
    let v = hi - a;
    dd(hi, (a - (hi - v)) + (b - v))
}

/// `a * b` exactly, by fused multiply-add.
#[inline(always)]
pub fn two_product<T: VectorFloat>(a: T, b: T) -> DoubleDouble<T> {
    let hi = a * b;
    dd(hi, a.fma(b, -hi))
}

// Methods and not operators: each costs several instructions, and a formula should show that.
#[allow(clippy::should_implement_trait)]
impl<T: VectorFloat> DoubleDouble<T> {
    /// The sum, rounded.
    #[inline(always)]
    pub fn value(self) -> T {
        self.hi + self.lo
    }

    /// The same number with |lo| at most half an ULP of hi, provided that |lo| <= |hi|.
    #[inline(always)]
    pub fn normalize(self) -> DoubleDouble<T> {
        fast_two_sum(self.hi, self.lo)
    }

    #[inline(always)]
    pub fn add_scalar(self, b: T) -> DoubleDouble<T> {
        let s = two_sum(self.hi, b);
        dd(s.hi, s.lo + self.lo)
    }

    #[inline(always)]
    pub fn add(self, b: DoubleDouble<T>) -> DoubleDouble<T> {
        let s = two_sum(self.hi, b.hi);
        dd(s.hi, s.lo + (self.lo + b.lo))
    }

    #[inline(always)]
    pub fn mul(self, b: DoubleDouble<T>) -> DoubleDouble<T> {
        let p = two_product(self.hi, b.hi);
        dd(p.hi, self.hi.fma(b.lo, self.lo.fma(b.hi, p.lo)))
    }

    #[inline(always)]
    pub fn mul_scalar(self, b: T) -> DoubleDouble<T> {
        let p = two_product(self.hi, b);
        dd(p.hi, self.lo.fma(b, p.lo))
    }

    /// The product with a power of two, which is exact.
    #[inline(always)]
    pub fn mul_power(self, power: T) -> DoubleDouble<T> {
        dd(self.hi * power, self.lo * power)
    }

    #[inline(always)]
    pub fn neg(self) -> DoubleDouble<T> {
        dd(-self.hi, -self.lo)
    }

    /// The quotient, by one division whose residue corrects it.
    #[inline(always)]
    pub fn div(self, b: DoubleDouble<T>) -> DoubleDouble<T> {
        let inverse = T::ONE / b.hi;
        let q = self.hi * inverse;
        let residue = (-q).fma(b.hi, self.hi) + (-q).fma(b.lo, self.lo);
        dd(q, residue * inverse)
    }

    /// The square root. The root of 0 is 0.
    #[inline(always)]
    pub fn sqrt(self) -> DoubleDouble<T> {
        let root = self.hi.sqrt();
        let residue = (-root).fma(root, self.hi) + self.lo;
        let lo = residue / (root + root);
        dd(root, super::vector_float::pick(root > T::ZERO, lo, T::ZERO))
    }
}
