//! Uniform, normal, log-normal, exponential and Cauchy distributions.
//!
//! Values are computed in float64 and rounded, so that float32 needs one word of 32 bits for an element. Uniform float32
//! are computed in float32: they are multiples of a power of two.

use super::arithmetic::{cos_sin_turns, exp, ln};
use super::generator::Generator;
use super::philox::{Draw, Word};
use super::run::{Sampler, fill, of_word};
use crate::dtype::DType;
use crate::error::Result;
use crate::scalar::{Float, NextAfter};
use crate::switch;
use crate::tensor::Tensor;
use half::{bf16, f16};
use std::marker::PhantomData;

/// Costs of an element, relative to an addition.
const UNIFORM_COST: usize = 4;
pub(super) const TRANSCENDENTAL_COST: usize = 16;

/// float32 and float64, with the words that their distributions are made from.
pub trait Continuous: Float {
    type Bits: Word;
    /// A number in (0, 1): the middle of one of equal intervals. Exact.
    fn open_unit_interval(word: Self::Bits) -> f64;
}

impl Continuous for f32 {
    type Bits = u32;
    #[inline(always)]
    fn open_unit_interval(word: u32) -> f64 {
        // The random bits become the mantissa of a float in [1, 2).
        f64::from_bits(1f64.to_bits() | (word as u64) << 20) - (1.0 - 1.0 / (1u64 << 33) as f64)
    }
}

impl Continuous for f64 {
    type Bits = u64;
    #[inline(always)]
    fn open_unit_interval(word: u64) -> f64 {
        f64::from_bits(1f64.to_bits() | word >> 12) - (1.0 - f64::EPSILON / 2.0)
    }
}

/// 53 bits of a word as a number in [0, 1). Exact.
#[inline(always)]
pub fn unit(word: u64) -> f64 {
    let last = (f64::EPSILON / 2.0).to_bits() & 0u64.wrapping_sub(word >> 11 & 1);
    (f64::from_bits(1f64.to_bits() | word >> 12) - 1.0) + f64::from_bits(last)
}

/// The dtype in which a floating dtype is sampled.
macro_rules! sampled {
    ($dtype:expr, $T:ident => $body:expr) => {
        switch!($dtype.compute(), float, $T => $body, else => unreachable!("samples of {}", $dtype.name()))
    };
}

/// The largest number in `[low, high)` that a floating dtype holds; `low` if there is none.
pub fn largest_uniform(dtype: DType, low: f64, high: f64) -> f64 {
    // The largest number below the upper bound that the dtype holds.
    let below = match dtype {
        DType::F16 => f16::from_f64(high).next_after(f16::NEG_INFINITY).to_f64(),
        DType::BF16 => bf16::from_f64(high).next_after(bf16::NEG_INFINITY).to_f64(),
        DType::F32 => (high as f32).next_after(f32::NEG_INFINITY) as f64,
        _ => high.next_after(f64::NEG_INFINITY),
    };
    if below < low { low } else { below }
}

/// Fills a floating tensor with numbers in `[low, high)`, bounds that its dtype holds. If they are equal, all numbers are.
pub fn uniform(out: &Tensor, generator: &Generator, low: f64, high: f64) -> Result<()> {
    let top = largest_uniform(out.dtype(), low, high);
    // `low + u * width` for multiples u of a power of two in [0, 1), with as many bits as the dtype holds exactly.
    let bits = out.dtype().mantissa_bits();
    let unused_bits = 32u32.saturating_sub(bits);
    let scale = 2f32.powi(-(bits as i32));
    if out.dtype() == DType::F64 {
        let width = high - low;
        let sampler = of_word(
            #[inline(always)]
            move |word: u64| {
                let value = low + unit(word) * width;
                if value > top { top } else { value }
            },
        );
        return fill(out, generator, UNIFORM_COST, sampler);
    }
    let (low, width, top) = (low as f32, high as f32 - low as f32, top as f32);
    let sampler = of_word(
        #[inline(always)]
        move |word: u32| {
            let value = low + (word >> unused_bits) as i32 as f32 * scale * width;
            if value > top { top } else { value }
        },
    );
    fill(out, generator, UNIFORM_COST, sampler)
}

/// A normal distribution, or its exponential. Two words make two independent numbers, by the method of Box and Muller: those
/// at the same place in the two halves of a group.
#[derive(Clone, Copy)]
struct Normal<T, const EXP: bool> {
    mean: f64,
    std: f64,
    dtype: PhantomData<T>,
}

impl<T: Continuous, const EXP: bool> Sampler for Normal<T, EXP> {
    type Word = T::Bits;
    type Out = T;
    #[inline(always)]
    unsafe fn fill_group(self, _: &Draw, _: usize, words: *const T::Bits, n: usize, out: *mut T) {
        let half = T::Bits::PER_GROUP / 2;
        let finish = |z: f64| {
            let value = self.mean + self.std * z;
            T::of(if EXP { exp(value) } else { value })
        };
        for i in 0..n.min(half) {
            // SAFETY: this function's contract: words and output have a whole group.
            unsafe {
                let length = (-2.0 * ln(T::open_unit_interval(words.add(i).read()))).sqrt();
                let (cosine, sine) = cos_sin_turns(T::open_unit_interval(words.add(half + i).read()));
                out.add(i).write(finish(length * cosine));
                out.add(half + i).write(finish(length * sine));
            }
        }
    }
}

/// Fills a floating tensor with normally distributed numbers.
pub fn normal(out: &Tensor, generator: &Generator, mean: f64, std: f64) -> Result<()> {
    sampled!(out.dtype(), T => {
        fill(out, generator, TRANSCENDENTAL_COST, Normal::<T, false> { mean, std, dtype: PhantomData })
    })
}

/// Fills a floating tensor with numbers whose logarithms are normally distributed.
pub fn log_normal(out: &Tensor, generator: &Generator, mean: f64, std: f64) -> Result<()> {
    sampled!(out.dtype(), T => {
        fill(out, generator, TRANSCENDENTAL_COST, Normal::<T, true> { mean, std, dtype: PhantomData })
    })
}

/// Fills a floating tensor with exponentially distributed numbers of a rate (the inverse of their mean).
pub fn exponential(out: &Tensor, generator: &Generator, rate: f64) -> Result<()> {
    sampled!(out.dtype(), T => {
        let sampler = of_word(
            #[inline(always)]
            move |word| T::of(-ln(T::open_unit_interval(word)) / rate),
        );
        fill(out, generator, TRANSCENDENTAL_COST, sampler)
    })
}

/// Fills a floating tensor with numbers of a Cauchy distribution.
pub fn cauchy(out: &Tensor, generator: &Generator, median: f64, sigma: f64) -> Result<()> {
    sampled!(out.dtype(), T => {
        let sampler = of_word(
            #[inline(always)]
            move |word| {
                // The tangent of an angle between -pi/2 and pi/2.
                let (cosine, sine) = cos_sin_turns(0.5 * (T::open_unit_interval(word) - 0.5));
                T::of(median + sigma * (sine / cosine))
            },
        );
        fill(out, generator, TRANSCENDENTAL_COST, sampler)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_numbers_between_0_and_1() {
        assert_eq!(<f32 as Continuous>::open_unit_interval(0), 2f64.powi(-33));
        assert_eq!(<f32 as Continuous>::open_unit_interval(u32::MAX), 1.0 - 2f64.powi(-33));
        assert_eq!(<f64 as Continuous>::open_unit_interval(0), 2f64.powi(-53));
        assert_eq!(<f64 as Continuous>::open_unit_interval(u64::MAX), 1.0 - 2f64.powi(-53));
        for (word, bits) in [(0, 0), (u64::MAX, (1u64 << 53) - 1), (3 << 11, 3), ((5 << 40) + 77, 5 << 29)] {
            assert_eq!(unit(word), bits as f64 * 2f64.powi(-53));
        }
    }
}
