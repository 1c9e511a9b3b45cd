//! Torch7's generator: the numbers of its distributions, one after the other, and its state as bytes.
//!
//! The formulas, their order and their types are those of `THRandom.c` at commit 814ea4a, so that the bits are the same.
//! Logarithms and other functions are those of the C library, as there.

use super::mersenne::Mt19937;
use std::f64::consts::PI;

/// Bytes of a saved state: those of the struct `THGenerator` of x86-64.
pub const TORCH_STATE_BYTES: usize = 5048;
/// Where the words of the state begin.
const WORDS_AT: usize = 24;
/// Where the numbers of the last pair of normal ones begin.
const NORMAL_AT: usize = WORDS_AT + 8 * Mt19937::WORDS;

/// A distribution of Torch7, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TorchDraw {
    /// A word modulo the size of the range that Torch7 gives the dtype.
    Random,
    /// From 1 to a bound.
    RandomTo(i64),
    /// From the first bound to the second one.
    RandomBetween(i64, i64),
    /// `[low, high)`.
    Uniform(f64, f64),
    /// Mean and standard deviation.
    Normal(f64, f64),
    /// Mean and standard deviation of the logarithm.
    LogNormal(f64, f64),
    /// Median and scale, which is half the interquartile range.
    Cauchy(f64, f64),
    /// The rate: the inverse of the mean.
    Exponential(f64),
    /// The probability of a failure.
    Geometric(f64),
    /// The probability of 1.
    Bernoulli(f64),
}

/// The state of Torch7's random numbers.
#[derive(Clone)]
pub struct TorchGenerator {
    seed: u64,
    words: Mt19937,
    /// The last pair of normal numbers: the angle in turns, the uniform number of the distance from 0, and the distance.
    normal: [f64; 3],
    /// Not 0 if the second number of the pair was not returned yet.
    has_second: i32,
}

impl TorchGenerator {
    pub fn new(seed: u64) -> TorchGenerator {
        TorchGenerator { seed, words: Mt19937::new(seed as u32), normal: [0.0; 3], has_second: 0 }
    }

    /// The seed it was started with.
    pub fn initial_seed(&self) -> u64 {
        self.seed
    }

    #[inline]
    pub fn random(&mut self) -> u32 {
        self.words.next_word()
    }

    /// A number from 1 to a bound, which is above 0.
    #[inline]
    pub fn random_to(&mut self, bound: i64) -> u64 {
        self.random() as u64 % bound as u64 + 1
    }

    /// A number of a range, in the unsigned arithmetic of C: a negative number is 2^64 too large. The range does not have
    /// all 2^64 numbers.
    #[inline]
    pub fn random_between(&mut self, low: i64, high: i64) -> u64 {
        (self.random() as u64 % range_size(low, high)).wrapping_add(low as u64)
    }

    /// A number in [0, 1).
    #[inline]
    fn unit(&mut self) -> f64 {
        self.random() as f64 * (1.0 / 4_294_967_296.0)
    }

    #[inline]
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.unit() * (high - low) + low
    }

    /// A normal number by the method of Box and Muller: the cosine, and for the next call the sine.
    pub fn normal(&mut self, mean: f64, std: f64) -> f64 {
        let is_first = self.has_second == 0;
        if is_first {
            let (turns, rest) = (self.unit(), self.unit());
            self.normal = [turns, rest, (-2.0 * (1.0 - rest).ln()).sqrt()];
        }
        self.has_second = is_first as i32;
        let [turns, _, length] = self.normal;
        let angle = 2.0 * PI * turns;
        length * (if is_first { angle.cos() } else { angle.sin() }) * std + mean
    }

    pub fn log_normal(&mut self, mean: f64, std: f64) -> f64 {
        self.normal(mean, std).exp()
    }

    pub fn cauchy(&mut self, median: f64, sigma: f64) -> f64 {
        median + sigma * (PI * (self.unit() - 0.5)).tan()
    }

    pub fn exponential(&mut self, rate: f64) -> f64 {
        -1.0 / rate * (1.0 - self.unit()).ln()
    }

    /// The number of trials up to the first success. One beyond 32 bits is what the CPUs of Torch7 made of it.
    pub fn geometric(&mut self, p: f64) -> i32 {
        let failures = (1.0 - self.unit()).ln() / p.ln();
        let whole = if failures < 2_147_483_648.0 { failures as i32 } else { i32::MIN };
        whole.wrapping_add(1)
    }

    #[inline]
    pub fn bernoulli(&mut self, p: f64) -> i32 {
        (self.unit() <= p) as i32
    }

    /// The state as bytes: what Torch7's `getRNGState` returns on x86-64.
    pub fn state(&self) -> [u8; TORCH_STATE_BYTES] {
        let (words, next, left) = self.words.state();
        let mut bytes = [0; TORCH_STATE_BYTES];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &self.seed.to_le_bytes());
        put(8, &(left as i32).to_le_bytes());
        put(12, &1i32.to_le_bytes());
        put(16, &(next as u64).to_le_bytes());
        for (i, &word) in words.iter().enumerate() {
            put(WORDS_AT + 8 * i, &(word as u64).to_le_bytes());
        }
        for (i, number) in self.normal.iter().enumerate() {
            put(NORMAL_AT + 8 * i, &number.to_le_bytes());
        }
        put(NORMAL_AT + 24, &self.has_second.to_le_bytes());
        bytes
    }

    /// The generator with a saved state; `None` if the bytes are none. Torch7 accepts some states with which it would read
    /// beyond its words, or draw numbers of more than 32 bits; these are refused.
    pub fn with_state(bytes: &[u8; TORCH_STATE_BYTES]) -> Option<TorchGenerator> {
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let int = |at: usize| i32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let (left, is_seeded, next) = (int(8), int(12) == 1, long(16));
        if !is_seeded || left < 1 || left as usize > Mt19937::WORDS || next > Mt19937::WORDS as u64 {
            return None;
        }
        let mut words = [0; Mt19937::WORDS];
        for (i, word) in words.iter_mut().enumerate() {
            *word = u32::try_from(long(WORDS_AT + 8 * i)).ok()?;
        }
        Some(TorchGenerator {
            seed: long(0),
            words: Mt19937::with_state(words, next as usize, left as usize)?,
            normal: std::array::from_fn(|i| f64::from_bits(long(NORMAL_AT + 8 * i))),
            has_second: int(NORMAL_AT + 24),
        })
    }
}

/// The number of integers from `low` to `high`, modulo 2^64.
pub fn range_size(low: i64, high: i64) -> u64 {
    high.wrapping_add(1).wrapping_sub(low) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Torch7's formulas, from words of NumPy's MT19937 with the same seed.
    #[test]
    fn numbers_follow_from_the_words() {
        let mut torch = TorchGenerator::new(5489);
        assert_eq!(torch.random(), 3_499_211_612);
        assert_eq!(torch.uniform(0.0, 1.0), 581_869_302.0 / 4_294_967_296.0);
        for expected in [1.575_376_390_109_929_1, -1.059_203_927_932_523_6] {
            assert!((torch.normal(0.0, 1.0) - expected).abs() < 1e-15);
        }
        assert_eq!(torch.random(), 545_404_204);
    }

    #[test]
    fn a_state_restores_words_and_half_a_pair() {
        let mut torch = TorchGenerator::new(u64::MAX);
        for _ in 0..1500 {
            torch.normal(0.0, 1.0);
            let mut copy = TorchGenerator::with_state(&torch.state()).unwrap();
            assert_eq!(copy.initial_seed(), u64::MAX);
            assert_eq!(copy.normal(1.0, 2.0), torch.clone().normal(1.0, 2.0));
            torch.random();
        }
        assert!(TorchGenerator::with_state(&[0; TORCH_STATE_BYTES]).is_none());
    }
}
