//! DeepMind Lab's generator: `std::mt19937_64` of C++, with the distributions of libstdc++, whose bits it has.

use super::mersenne::Mt19937x64;
use crate::alloc::try_vec;
use crate::error::Result;
use crate::storage::Access;
use crate::tensor::Tensor;
use crate::threads::for_each_range_in_order;

/// The seed of a generator of C++ that was not given one.
pub const LAB_DEFAULT_SEED: u64 = 5489;
/// Bytes of a saved state: the words, and the number of those that were returned, little-endian.
pub const LAB_STATE_BYTES: usize = 8 * (Mt19937x64::WORDS + 1);

/// The state of Lab's random numbers.
#[derive(Clone)]
pub struct LabGenerator {
    words: Mt19937x64,
}

impl LabGenerator {
    pub fn new(seed: u64) -> LabGenerator {
        LabGenerator { words: Mt19937x64::new(seed) }
    }

    #[inline]
    pub fn next_word(&mut self) -> u64 {
        self.words.next_word()
    }

    /// An integer from `low` to `high`, which is not below it, by Lemire's method.
    pub fn uniform_int(&mut self, low: u64, high: u64) -> u64 {
        let Some(size) = (high - low).checked_add(1) else { return self.next_word() };
        let mut product = self.next_word() as u128 * size as u128;
        if (product as u64) < size {
            let threshold = size.wrapping_neg() % size;
            while (product as u64) < threshold {
                product = self.next_word() as u128 * size as u128;
            }
        }
        low.wrapping_add((product >> 64) as u64)
    }

    /// A number in [0, 1).
    fn unit(&mut self) -> f64 {
        let quotient = self.next_word() as f64 / 18_446_744_073_709_551_616.0;
        // The largest words round to 1.
        if quotient < 1.0 { quotient } else { 1.0f64.next_down() }
    }

    pub fn uniform_real(&mut self, low: f64, high: f64) -> f64 {
        self.unit() * (high - low) + low
    }

    /// A normal number by Marsaglia's polar method. The second number of each pair is lost: Lab makes a new distribution
    /// for each call.
    pub fn normal(&mut self, mean: f64, std: f64) -> f64 {
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square <= 1.0 && square != 0.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                return y * factor * std + mean;
            }
        }
    }

    /// The index of a weight. One weight needs no draw. There is at least one.
    pub fn discrete(&mut self, weights: &[f64]) -> Result<usize> {
        if weights.len() < 2 {
            return Ok(0);
        }
        let total = weights.iter().fold(0.0, |sum, weight| sum + weight);
        let mut sum = 0.0;
        let mut sums = try_vec(weights.len())?;
        for weight in weights {
            sum += weight / total;
            sums.push(sum);
        }
        sums[weights.len() - 1] = 1.0;
        let wanted = self.unit();
        Ok(lower_bound(&sums, wanted))
    }

    /// The state as bytes.
    pub fn state(&self) -> [u8; LAB_STATE_BYTES] {
        let (words, _, left) = self.words.state();
        let mut bytes = [0; LAB_STATE_BYTES];
        let numbers = words.iter().copied().chain([(Mt19937x64::WORDS + 1 - left) as u64]);
        for (bytes, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            bytes.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// The generator with a saved state; `None` if the bytes are none.
    pub fn with_state(bytes: &[u8; LAB_STATE_BYTES]) -> Option<LabGenerator> {
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[8 * at + i]));
        let used = usize::try_from(number(Mt19937x64::WORDS)).ok()?;
        let left = (Mt19937x64::WORDS + 1).checked_sub(used)?;
        let words = Mt19937x64::with_state(std::array::from_fn(number), used, left)?;
        Some(LabGenerator { words })
    }
}

/// The first position whose number is not below `wanted`. The numbers may have no order: it is where the bisection of
/// `std::lower_bound` ends.
fn lower_bound(numbers: &[f64], wanted: f64) -> usize {
    let (mut first, mut length) = (0, numbers.len());
    while length > 0 {
        let half = length / 2;
        if numbers[first + half] < wanted {
            first += half + 1;
            length -= half + 1;
        } else {
            length = half;
        }
    }
    first
}

/// Shuffles the elements of a tensor of one dim, in Lab's order of swaps: from the last one down.
pub fn shuffle_lab(x: &Tensor, generator: &mut LabGenerator) -> Result<()> {
    let &[mode] = x.layout().modes() else { unreachable!("a tensor of one dim") };
    let pin = x.pin(Access::Write)?;
    let size = x.dtype().size();
    let step = mode.stride * size as isize;
    let at = |i: usize| pin.origin.wrapping_offset(i as isize * step);
    let (n, swaps) = (x.size(), x.size().saturating_sub(1));
    for_each_range_in_order(swaps, &mut |range| {
        for i in range {
            let last = n - 1 - i;
            let other = generator.uniform_int(0, last as u64) as usize;
            // SAFETY: both are below n, and `pin` holds all elements for writing.
            unsafe { swap_bytes(at(last), at(other), size) };
        }
    })
}

/// Swaps two elements, which may be one.
///
/// # Safety
/// Both addresses are valid for reading and writing `size` bytes, at most 16.
unsafe fn swap_bytes(a: *mut u8, b: *mut u8, size: usize) {
    let mut kept = [0u8; 16];
    // SAFETY: this function's contract; `kept` has 16 bytes, and `copy` allows that both are the same element.
    unsafe {
        kept.as_mut_ptr().copy_from_nonoverlapping(a, size);
        a.copy_from(b, size);
        b.copy_from_nonoverlapping(kept.as_ptr(), size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_continues_where_it_was_taken() {
        let mut lab = LabGenerator::new(3);
        for _ in 0..700 {
            let mut copy = LabGenerator::with_state(&lab.state()).unwrap();
            assert_eq!(copy.next_word(), lab.next_word());
        }
        let mut bytes = lab.state();
        bytes[LAB_STATE_BYTES - 8..].copy_from_slice(&313u64.to_le_bytes());
        assert!(LabGenerator::with_state(&bytes).is_none());
    }

    #[test]
    fn the_largest_words_do_not_round_to_one() {
        let mut bytes = [255; LAB_STATE_BYTES];
        bytes[LAB_STATE_BYTES - 8..].copy_from_slice(&0u64.to_le_bytes());
        let mut lab = LabGenerator::with_state(&bytes).unwrap();
        assert!((0..312).all(|_| lab.uniform_real(0.0, 1.0) < 1.0));
    }
}
