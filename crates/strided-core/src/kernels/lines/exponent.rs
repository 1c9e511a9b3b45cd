//! e to the power of what an element is above the largest one of its line: at most 1.

use super::functions::{Widened, of_each};
use crate::kernels::maths::rows::Exp;
use crate::scalar::Float;

/// Elements whose exponentials are taken at once.
pub(super) const BLOCK: usize = 16;

/// What the elements of a block count, from `BLOCK - skip` on: nothing for the first `skip` of it. From a cache line
/// on, where all of them do.
#[repr(align(64))]
pub struct Shares<T>(pub [T; 2 * BLOCK]);

/// Floats whose exponentials are accumulated in float64.
pub(super) trait Exponent: Widened<f64> + Float {
    const LOWEST: Self;
    const SHARES: &'static Shares<Self>;

    /// The exponentials, times 1 / `lowered`.
    fn above<const L: usize, const FAST: bool>(x: [Self; L], most: &[Self; L]) -> [Self; L];

    /// What exponentials are multiplied with to be themselves: a power of two.
    fn lowered<const FAST: bool>() -> f64 {
        1.0
    }

    /// A factor in two words, and the element times that factor.
    fn factor(factor: f64) -> [Self; 2];
    fn times<const FAST: bool>(self, factor: [Self; 2]) -> Self;

    /// The sum of two numbers in two words, and what the element is above that sum.
    fn sum(most: Self, log: f64) -> [Self; 2];
    fn beyond(self, sum: [Self; 2]) -> Self;
}

macro_rules! shares {
    ($t:ty) => {{
        static SHARES: Shares<$t> = {
            let (mut shares, mut own) = ([0.0; 2 * BLOCK], BLOCK);
            while own < 2 * BLOCK {
                shares[own] = 1.0;
                own += 1;
            }
            Shares(shares)
        };
        &SHARES
    }};
}

/// The exponentials by the function of the op table.
#[inline(always)]
fn plain<E: Float, const L: usize, const FAST: bool>(mut x: [E; L], most: &[E; L]) -> [E; L]
where
    Exp: crate::kernels::maths::rows::Function1<E>,
{
    for j in 0..L {
        x[j] = x[j].sub(most[j]);
    }
    of_each::<Exp, E, L, FAST>(x)
}

impl Exponent for f32 {
    const LOWEST: f32 = f32::NEG_INFINITY;
    const SHARES: &'static Shares<f32> = shares!(f32);

    #[inline(always)]
    fn above<const L: usize, const FAST: bool>(mut x: [f32; L], most: &[f32; L]) -> [f32; L] {
        if const { !FAST } {
            let y = plain::<f32, L, FAST>(x, most);
            for j in 0..L {
                let (above, lost) = difference(x[j], most[j]);
                // What is far below may be infinite, and is 0 all the same.
                x[j] = if above < LEAST { y[j] } else { y[j] + y[j] * lost };
            }
            return x;
        }
        for j in 0..L {
            x[j] = raised(x[j], most[j]);
        }
        x
    }

    #[inline(always)]
    fn lowered<const FAST: bool>() -> f64 {
        if FAST { 1.0 / (1u128 << RAISED) as f64 } else { 1.0 }
    }

    // Two words take half as many instructions as float64.
    #[inline(always)]
    fn factor(factor: f64) -> [f32; 2] {
        let hi = factor as f32;
        [hi, (factor - hi as f64) as f32]
    }
    #[inline(always)]
    fn times<const FAST: bool>(self, [hi, lo]: [f32; 2]) -> f32 {
        if const { !FAST } {
            return (self as f64 * (hi as f64 + lo as f64)) as f32;
        }
        self.mul_add(hi, self * lo)
    }
    /// No digits of a small logarithm are lost.
    #[inline(always)]
    fn sum(most: f32, log: f64) -> [f32; 2] {
        let hi = (most as f64 + log) as f32;
        [hi, ((most as f64 - hi as f64) + log) as f32]
    }
    #[inline(always)]
    fn beyond(self, [hi, lo]: [f32; 2]) -> f32 {
        let (above, lost) = difference(self, hi);
        // What an infinite difference lost is NaN, which `max` leaves out: a choice would become a branch.
        above + (lost - lo).max(f32::MIN)
    }
}

impl Exponent for f64 {
    const LOWEST: f64 = f64::NEG_INFINITY;
    const SHARES: &'static Shares<f64> = shares!(f64);

    #[inline(always)]
    fn above<const L: usize, const FAST: bool>(x: [f64; L], most: &[f64; L]) -> [f64; L] {
        plain::<f64, L, FAST>(x, most)
    }
    #[inline(always)]
    fn factor(factor: f64) -> [f64; 2] {
        [factor, 0.0]
    }
    #[inline(always)]
    fn times<const FAST: bool>(self, [factor, _]: [f64; 2]) -> f64 {
        self * factor
    }
    #[inline(always)]
    fn sum(most: f64, log: f64) -> [f64; 2] {
        [most, log]
    }
    #[inline(always)]
    fn beyond(self, [most, log]: [f64; 2]) -> f64 {
        (self - most) - log
    }
}

/// float32 has the exponentials times 2 to this power: so none that counts is subnormal.
const RAISED: u32 = 64;
/// An integer in the low bits of a float, as the exponent that it and `RAISED` make.
const SHIFT: f32 = ((3 << 22) + 127 + RAISED) as f32;
/// Where e^x, divided by a number of at least 1, rounds to 0.
const LEAST: f32 = -104.0;
/// ln(2) in two words.
const LN2: [f32; 2] = [std::f32::consts::LN_2, -1.904_654_3e-9];
/// `(e^r - 1 - r - r^2 / 2) / r^3` for |r| <= ln(2) / 2, so that e^r is right to 27 bits.
const POLYNOMIAL: [f32; 4] = [0.166_664_88, 0.041_665_554, 0.008_372_256, 0.001_403_548_5];

/// The difference, and what it lost when it was rounded.
#[inline(always)]
fn difference(a: f32, b: f32) -> (f32, f32) {
    let difference = a - b;
    let back = difference - a;
    (difference, (a - (difference - back)) - (b + back))
}

/// e^(x - most) 2^RAISED, with what the difference loses when it is rounded. NaN stays.
#[inline(always)]
fn raised(x: f32, most: f32) -> f32 {
    let (above, lost) = difference(x, most);
    // What is far below may be infinite.
    let far = above < LEAST;
    let (near, lost) = (if far { LEAST } else { above }, if far { 0.0 } else { lost });
    let shifted = near.mul_add(std::f32::consts::LOG2_E, SHIFT);
    let n = shifted - SHIFT;
    let hi = n.mul_add(-LN2[0], near);
    let lo = n.mul_add(-LN2[1], lost);
    let r = hi + lo;
    let [c0, c1, c2, c3] = POLYNOMIAL;
    let square = r * r;
    let cubic = c3.mul_add(r, c2).mul_add(square, c1.mul_add(r, c0));
    let small = square.mul_add(cubic.mul_add(r, 0.5), lo);
    let one = 1.0 + hi;
    let m = one + ((hi - (one - 1.0)) + small);
    m * f32::from_bits(shifted.to_bits() << 23)
}
