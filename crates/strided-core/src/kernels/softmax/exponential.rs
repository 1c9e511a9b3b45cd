//! The arithmetic of softmax in float32 and float64: `exp(x - max)`, which is at most 1, and what results are made of.

use crate::kernels::lines::{Widened, map_lanes};
use crate::kernels::maths::functions::{Exp, Function1};
use crate::scalar::Float;

/// Elements whose exponentials are computed together.
pub(super) const BLOCK: usize = 16;

/// A sliding mask, BLOCK zeros and BLOCK ones: the factors from `BLOCK - skip` on clear the first `skip` elements of a block.
/// Those of a whole block start at a cache line.
#[repr(align(64))]
pub struct TailFactors<T>(pub [T; 2 * BLOCK]);

/// Floats whose exponentials are accumulated in float64.
pub(super) trait SoftmaxFloat: Widened<f64> + Float {
    const LOWEST: Self;
    /// The one NaN of results.
    const NAN: Self;
    const TAIL_FACTORS: &'static TailFactors<Self>;

    /// `exp(x - max)`, divided by `exp_scale`.
    fn scaled_exp<const L: usize, const FAST: bool>(x: [Self; L], max: &[Self; L]) -> [Self; L];

    /// The factor that turns `scaled_exp` into the exponential: a power of two.
    fn exp_scale<const FAST: bool>() -> f64 {
        1.0
    }

    /// Splits a factor into two numbers for `times`.
    fn split_factor(factor: f64) -> [Self; 2];
    /// The product with a factor of `split_factor`.
    fn times<const FAST: bool>(self, factor: [Self; 2]) -> Self;

    /// Splits `max + log` into two numbers for `minus`.
    fn split_sum(max: Self, log: f64) -> [Self; 2];
    /// The difference to a sum of `split_sum`.
    fn minus(self, sum: [Self; 2]) -> Self;
}

macro_rules! tail_factors {
    ($t:ty) => {{
        static FACTORS: TailFactors<$t> = {
            let (mut factors, mut i) = ([0.0; 2 * BLOCK], BLOCK);
            while i < 2 * BLOCK {
                factors[i] = 1.0;
                i += 1;
            }
            TailFactors(factors)
        };
        &FACTORS
    }};
}

/// `exp(x - max)` by the function of the op table.
#[inline(always)]
fn table_exp<E: Float, const L: usize, const FAST: bool>(mut x: [E; L], max: &[E; L]) -> [E; L]
where
    Exp: Function1<E>,
{
    for j in 0..L {
        x[j] = x[j].sub(max[j]);
    }
    map_lanes::<Exp, E, L, FAST>(x)
}

impl SoftmaxFloat for f32 {
    const LOWEST: f32 = f32::NEG_INFINITY;
    const NAN: f32 = f32::NAN;
    const TAIL_FACTORS: &'static TailFactors<f32> = tail_factors!(f32);

    #[inline(always)]
    fn scaled_exp<const L: usize, const FAST: bool>(mut x: [f32; L], max: &[f32; L]) -> [f32; L] {
        if const { !FAST } {
            let y = table_exp::<f32, L, FAST>(x, max);
            for j in 0..L {
                let (rounded, error) = difference(x[j], max[j]);
                // A difference far below 0 may be infinite, and its error NaN: its exponential is 0 all the same.
                x[j] = if rounded < MIN_EXPONENT { y[j] } else { y[j] + y[j] * error };
            }
            return x;
        }
        for j in 0..L {
            x[j] = exp_times_scale(x[j], max[j]);
        }
        x
    }

    #[inline(always)]
    fn exp_scale<const FAST: bool>() -> f64 {
        if FAST { 1.0 / (1u128 << SCALE_BITS) as f64 } else { 1.0 }
    }

    // A product with two float32 takes half as many instructions as one in float64.
    #[inline(always)]
    fn split_factor(factor: f64) -> [f32; 2] {
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
    /// The low number is `(max - hi) + log`, so that a small logarithm keeps its digits.
    #[inline(always)]
    fn split_sum(max: f32, log: f64) -> [f32; 2] {
        let hi = (max as f64 + log) as f32;
        [hi, ((max as f64 - hi as f64) + log) as f32]
    }
    #[inline(always)]
    fn minus(self, [hi, lo]: [f32; 2]) -> f32 {
        let (rounded, error) = difference(self, hi);
        // The error of an infinite difference is NaN, which `max` drops: an `if` would become a branch.
        rounded + (error - lo).max(f32::MIN)
    }
}

impl SoftmaxFloat for f64 {
    const LOWEST: f64 = f64::NEG_INFINITY;
    const NAN: f64 = f64::NAN;
    const TAIL_FACTORS: &'static TailFactors<f64> = tail_factors!(f64);

    #[inline(always)]
    fn scaled_exp<const L: usize, const FAST: bool>(x: [f64; L], max: &[f64; L]) -> [f64; L] {
        table_exp::<f64, L, FAST>(x, max)
    }
    #[inline(always)]
    fn split_factor(factor: f64) -> [f64; 2] {
        [factor, 0.0]
    }
    #[inline(always)]
    fn times<const FAST: bool>(self, [factor, _]: [f64; 2]) -> f64 {
        self * factor
    }
    #[inline(always)]
    fn split_sum(max: f64, log: f64) -> [f64; 2] {
        [max, log]
    }
    #[inline(always)]
    fn minus(self, [max, log]: [f64; 2]) -> f64 {
        (self - max) - log
    }
}

/// Exponentials in float32 are scaled by 2 to this power, so that none that affects a result is subnormal.
const SCALE_BITS: u32 = 64;
/// Added to a float, this leaves the nearest integer n in its low bits: as n + 127 + SCALE_BITS, the exponent field of
/// the scaled power of two.
const SHIFT: f32 = ((3 << 22) + 127 + SCALE_BITS) as f32;
/// Below this, exp(x) rounds to 0, also after a division by a number of at least 1.
const MIN_EXPONENT: f32 = -104.0;
/// ln(2) as a sum of two float32.
const LN2: [f32; 2] = [std::f32::consts::LN_2, -1.904_654_3e-9];
/// `(exp(r) - 1 - r - r^2 / 2) / r^3` for |r| <= ln(2) / 2, as a polynomial that makes exp(r) right to 27 bits.
const POLYNOMIAL: [f32; 4] = [0.166_664_88, 0.041_665_554, 0.008_372_256, 0.001_403_548_5];

/// `a - b`, rounded, and the rounding error: their sum is the exact difference (Knuth's two-sum).
#[inline(always)]
fn difference(a: f32, b: f32) -> (f32, f32) {
    let difference = a - b;
    let back = difference - a;
    (difference, (a - (difference - back)) - (b + back))
}

/// `exp(x - max) * 2^SCALE_BITS`, of the exact difference and not of the rounded one. NaN stays NaN.
#[inline(always)]
fn exp_times_scale(x: f32, max: f32) -> f32 {
    let (rounded, error) = difference(x, max);
    // Differences far below 0 are clamped: they may be infinite, with NaN as their error.
    let is_far = rounded < MIN_EXPONENT;
    let (near, error) = (if is_far { MIN_EXPONENT } else { rounded }, if is_far { 0.0 } else { error });
    let shifted = near.mul_add(std::f32::consts::LOG2_E, SHIFT);
    let n = shifted - SHIFT;
    let hi = n.mul_add(-LN2[0], near);
    let lo = n.mul_add(-LN2[1], error);
    let r = hi + lo;
    let [c0, c1, c2, c3] = POLYNOMIAL;
    let square = r * r;
    let cubic = c3.mul_add(r, c2).mul_add(square, c1.mul_add(r, c0));
    let small = square.mul_add(cubic.mul_add(r, 0.5), lo);
    let one = 1.0 + hi;
    let m = one + ((hi - (one - 1.0)) + small);
    m * f32::from_bits(shifted.to_bits() << 23)
}
