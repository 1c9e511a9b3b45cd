//! Numbers in two words: an unevaluated sum `hi + lo`, twice the precision at a few times the cost.

use super::real::Real;

#[derive(Clone, Copy)]
pub struct Two<T> {
    pub hi: T,
    pub lo: T,
}

#[inline(always)]
pub fn two<T>(hi: T, lo: T) -> Two<T> {
    Two { hi, lo }
}

/// `a + b` exactly, if |a| >= |b| or a is 0.
#[inline(always)]
pub fn quick_sum<T: Real>(a: T, b: T) -> Two<T> {
    let hi = a + b;
    two(hi, b - (hi - a))
}

/// `a + b` exactly.
#[inline(always)]
pub fn sum<T: Real>(a: T, b: T) -> Two<T> {
    let hi = a + b;
    let v = hi - a;
    two(hi, (a - (hi - v)) + (b - v))
}

/// `a * b` exactly.
#[inline(always)]
pub fn product<T: Real>(a: T, b: T) -> Two<T> {
    let hi = a * b;
    two(hi, a.fma(b, -hi))
}

// Named methods and not operators: each costs several instructions, and a formula should show where.
#[allow(clippy::should_implement_trait)]
impl<T: Real> Two<T> {
    /// The nearest number.
    #[inline(always)]
    pub fn value(self) -> T {
        self.hi + self.lo
    }

    /// The same with |lo| at most half an ULP of hi; |lo| must be below |hi|.
    #[inline(always)]
    pub fn normal(self) -> Two<T> {
        quick_sum(self.hi, self.lo)
    }

    #[inline(always)]
    pub fn add_word(self, b: T) -> Two<T> {
        let s = sum(self.hi, b);
        two(s.hi, s.lo + self.lo)
    }

    #[inline(always)]
    pub fn add(self, b: Two<T>) -> Two<T> {
        let s = sum(self.hi, b.hi);
        two(s.hi, s.lo + (self.lo + b.lo))
    }

    #[inline(always)]
    pub fn mul(self, b: Two<T>) -> Two<T> {
        let p = product(self.hi, b.hi);
        two(p.hi, self.hi.fma(b.lo, self.lo.fma(b.hi, p.lo)))
    }

    #[inline(always)]
    pub fn mul_word(self, b: T) -> Two<T> {
        let p = product(self.hi, b);
        two(p.hi, self.lo.fma(b, p.lo))
    }

    /// Times a power of two.
    #[inline(always)]
    pub fn times(self, power: T) -> Two<T> {
        two(self.hi * power, self.lo * power)
    }

    #[inline(always)]
    pub fn neg(self) -> Two<T> {
        two(-self.hi, -self.lo)
    }

    /// One division; the residue corrects it.
    #[inline(always)]
    pub fn div(self, b: Two<T>) -> Two<T> {
        let inverse = T::ONE / b.hi;
        let q = self.hi * inverse;
        let residue = (-q).fma(b.hi, self.hi) + (-q).fma(b.lo, self.lo);
        two(q, residue * inverse)
    }

    /// The square root; of 0 it is 0.
    #[inline(always)]
    pub fn sqrt(self) -> Two<T> {
        let root = self.hi.sqrt();
        let residue = (-root).fma(root, self.hi) + self.lo;
        let lo = residue / (root + root);
        two(root, super::real::pick(root > T::ZERO, lo, T::ZERO))
    }
}
