//! Integers of a range, and Bernoulli and geometric distributions.

use super::super::cast::Cast;
use super::super::maths::functions::{Function1, Log1p};
use super::arithmetic::ln;
use super::continuous::{Continuous, TRANSCENDENTAL_COST, unit};
use super::generator::Generator;
use super::philox::Draw;
use super::run::{Sampler, fill, of_word};
use crate::dtype::DType;
use crate::error::Result;
use crate::scalar::Element;
use crate::storage::Access;
use crate::tensor::Tensor;
use crate::threads::Shared;
use std::marker::PhantomData;

const INTEGER_COST: usize = 4;

/// Ranges up to this have so few rejected words of 32 bits (one of 256) that these are faster than words of 64 bits.
const MAX_NARROW_RANGE: u64 = 1 << 24;

/// `low + k` for k below a range, from words of 32 bits, by Lemire's method: the upper half of `word * range`. Words whose
/// lower half is one of the `2^32 % range` smallest are rejected, so that every k has the same number of words.
#[derive(Clone, Copy)]
struct Narrow<T> {
    low: u64,
    range: u64,
    rejected: u32,
    dtype: PhantomData<T>,
}

impl<T: Element> Sampler for Narrow<T>
where
    u64: Cast<T>,
{
    type Word = u32;
    type Out = T;
    #[inline(always)]
    unsafe fn fill_group(self, draw: &Draw, first: usize, words: *const u32, n: usize, out: *mut T) {
        let Narrow { low, range, rejected, .. } = self;
        let mut any = false;
        for i in 0..n {
            // SAFETY: this function's contract: n words and elements.
            unsafe {
                let product = words.add(i).read() as u64 * range;
                any |= (product as u32) < rejected;
                out.add(i).write(Cast::<T>::cast(low.wrapping_add(product >> 32)));
            }
        }
        if any {
            // SAFETY: this function's contract.
            unsafe { self.redraw(draw, first, words, n, out) };
        }
    }
}

impl<T: Element> Narrow<T>
where
    u64: Cast<T>,
{
    /// Replaces the elements whose words are rejected.
    ///
    /// # Safety
    /// `words` and `out` are valid for `n` words and elements.
    #[cold]
    #[inline(never)]
    unsafe fn redraw(self, draw: &Draw, first: usize, words: *const u32, n: usize, out: *mut T) {
        for i in 0..n {
            // SAFETY: this function's contract.
            let word = unsafe { words.add(i).read() };
            if (word as u64 * self.range) as u32 >= self.rejected {
                continue;
            }
            let k = below(draw, first + i, self.range, 1);
            // SAFETY: this function's contract.
            unsafe { out.add(i).write(Cast::<T>::cast(self.low.wrapping_add(k as u64))) };
        }
    }
}

/// A number below a range of at most 2^32, from the words of 32 bits at an index, from an attempt on.
pub fn below(draw: &Draw, index: usize, range: u64, attempt: u32) -> u32 {
    let rejected = ((1u64 << 32) % range) as u32;
    let mut attempt = attempt;
    loop {
        let product = draw.word32(index, attempt) as u64 * range;
        if product as u32 >= rejected {
            return (product >> 32) as u32;
        }
        attempt += 1;
    }
}

/// [`Narrow`] for any range, from words of 64 bits; a range of 0 stands for 2^64.
#[derive(Clone, Copy)]
struct Wide<T> {
    low: u64,
    range: u64,
    rejected: u64,
    dtype: PhantomData<T>,
}

impl<T: Element> Sampler for Wide<T>
where
    u64: Cast<T>,
{
    type Word = u64;
    type Out = T;
    #[inline(always)]
    unsafe fn fill_group(self, draw: &Draw, first: usize, words: *const u64, n: usize, out: *mut T) {
        for i in 0..n {
            // SAFETY: this function's contract: n words and elements.
            let mut word = unsafe { words.add(i).read() };
            if self.range != 0 {
                let mut product = word as u128 * self.range as u128;
                let mut attempt = 0;
                while (product as u64) < self.rejected {
                    attempt += 1;
                    product = draw.word64(first + i, attempt) as u128 * self.range as u128;
                }
                word = (product >> 64) as u64;
            }
            // SAFETY: as for the words.
            unsafe { out.add(i).write(Cast::<T>::cast(self.low.wrapping_add(word))) };
        }
    }
}

/// How integers of a range are drawn: `low + k` for k below `range`.
pub struct IntegerDraw {
    /// Whether from words of 32 bits.
    pub is_narrow: bool,
    pub low: u64,
    /// 0 stands for 2^64.
    pub range: u64,
    /// Products with a smaller lower half are rejected.
    pub rejected: u64,
}

impl IntegerDraw {
    pub fn new(low: i128, last: i128) -> IntegerDraw {
        let range = (last - low + 1) as u128;
        debug_assert!((1..=1 << 64).contains(&range));
        let is_narrow = range <= MAX_NARROW_RANGE as u128 || (range.is_power_of_two() && range <= 1 << 32);
        let (low, range) = (low as u64, range as u64);
        let rejected = match range {
            0 => 0,
            _ if is_narrow => (1u64 << 32) % range,
            _ => range.wrapping_neg() % range, // 2^64 % range
        };
        IntegerDraw { is_narrow, low, range, rejected }
    }
}

/// Fills a tensor with integers from `low` to `last`, both included and both held exactly by its dtype, which is not
/// complex.
pub fn integers(out: &Tensor, generator: &Generator, low: i128, last: i128) -> Result<()> {
    let IntegerDraw { is_narrow, low, range, rejected } = IntegerDraw::new(low, last);
    macro_rules! fill_with {
        ($Sampler:ident<$T:ty>, $rejected:ident) => {{
            let sampler = $Sampler::<$T> { low, range, rejected: $rejected, dtype: PhantomData };
            fill(out, generator, INTEGER_COST, sampler)
        }};
    }
    if !is_narrow {
        return match out.dtype() {
            DType::U32 | DType::I32 => fill_with!(Wide<u32>, rejected),
            _ => fill_with!(Wide<i64>, rejected),
        };
    }
    let rejected = rejected as u32;
    match out.dtype() {
        DType::Bool | DType::U8 | DType::I8 => fill_with!(Narrow<u8>, rejected),
        DType::U16 | DType::I16 => fill_with!(Narrow<u16>, rejected),
        DType::U32 | DType::I32 => fill_with!(Narrow<u32>, rejected),
        _ => fill_with!(Narrow<i64>, rejected), // floats are cast from it
    }
}

/// Fills a tensor with ones of a probability from 0 to 1, and zeros.
pub fn bernoulli(out: &Tensor, generator: &Generator, p: f64) -> Result<()> {
    // 53 bits of a word are compared with the probability times 2^53, rounded up.
    let bound = (p * 2f64.powi(53)).ceil() as i64;
    let sampler = of_word(
        #[inline(always)]
        move |word: u64| (((word >> 11) as i64) < bound) as u8,
    );
    fill(out, generator, INTEGER_COST, sampler)
}

/// Ones with a probability for each element.
#[derive(Clone, Copy)]
struct BernoulliEach(Shared<*mut f64>);

impl Sampler for BernoulliEach {
    type Word = u64;
    type Out = u8;
    #[inline(always)]
    unsafe fn fill_group(self, _: &Draw, first: usize, words: *const u64, n: usize, out: *mut u8) {
        for i in 0..n {
            // SAFETY: this function's contract: there are n words and elements, and as many probabilities as the draw has
            // elements.
            unsafe { out.add(i).write((unit(words.add(i).read()) < self.0.at(first + i).read()) as u8) };
        }
    }
}

/// Fills a tensor with ones, each with its own probability, and zeros. The probabilities are row-major, float64, and as many
/// as the elements.
pub fn bernoulli_each(out: &Tensor, generator: &Generator, p: &Tensor) -> Result<()> {
    assert!(p.dtype() == DType::F64 && p.layout().is_row_major() && p.size() == out.size());
    let pin = p.pin(Access::Read)?;
    fill(out, generator, INTEGER_COST, BernoulliEach(Shared::new(pin.origin.cast())))
}

/// Fills a tensor with numbers of trials up to the first success, of a probability between 0 and 1; at most `most`.
pub fn geometric(out: &Tensor, generator: &Generator, p: f64, most: f64) -> Result<()> {
    let log_failure = <Log1p as Function1<f64>>::exact(-p);
    // The inverse of the distribution function.
    let sampler = of_word(
        #[inline(always)]
        move |word: u64| {
            let trials = (ln(f64::open_unit_interval(word)) / log_failure).ceil();
            let trials = if trials < 1.0 { 1.0 } else { trials };
            if trials > most { most } else { trials }
        },
    );
    fill(out, generator, TRANSCENDENTAL_COST, sampler)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{Device, Fill};

    #[test]
    fn rejected_words_are_replaced_and_results_are_in_range() {
        for (low, last) in
            [(0, 2), (-3, 3), (0, (1 << 24) - 2), (0, 3_000_000_000), (i64::MIN as i128, i64::MAX as i128)]
        {
            let out = Tensor::new_on(Device::Cpu, &[5000], DType::I64, Fill::Zero).unwrap();
            let generator = Generator::new(3);
            integers(&out, &generator, low, last).unwrap();
            let value = |i: isize| match crate::ops::copy::item(&out, &[i]).unwrap() {
                crate::scalar::Scalar::Int(value) => value,
                other => unreachable!("{other:?}"),
            };
            let mut seen = Vec::from_iter((0..5000).map(value));
            assert!(seen.iter().all(|v| (low..=last).contains(v)), "{low} {last}");
            seen.sort_unstable();
            seen.dedup();
            assert!(seen.len() as i128 == last - low + 1 || seen.len() > 4990);
        }
        // Words that are rejected at the first attempt: 3 of 2^32 - 3 are as good as never, so a range with many is used.
        let draw = Draw { seed: 1, stream: 0, offset: 0 };
        let range = (1u64 << 31) + 1;
        let first = |i| draw.word32(i, 0) as u64 * range;
        let rejected = ((1u64 << 32) % range) as u32;
        let again = (0..1000).filter(|&i| (first(i) as u32) < rejected).count();
        assert!((400..600).contains(&again), "{again}");
        assert!((0..1000).all(|i| (below(&draw, i, range, 0) as u64) < range));
    }
}
