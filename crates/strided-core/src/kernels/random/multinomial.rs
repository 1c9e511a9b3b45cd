//! Samples of categories by weight, with and without replacement.

use super::super::generate::by_runs;
use super::arithmetic::ln;
use super::continuous::{Continuous, unit};
use super::generator::Generator;
use super::philox::Draw;
use super::run::Reader;
use crate::alloc::try_vec;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::scratch::for_threads;
use crate::storage::Access;
use crate::tensor::Tensor;
use crate::threads::{self, Shared};

const SAMPLE_COST: usize = 32;

/// Why the weights of a row are not a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WeightProblem {
    /// A weight that is negative, infinite or NaN.
    Value(f64),
    /// The weights of a row are all 0, or their sum is infinite.
    Sum(f64),
    /// Without replacement: fewer weights above 0 than samples.
    TooFew(usize),
}

/// The weights of all rows: row-major float64 memory that nobody else has a handle on.
struct CategoryWeights {
    start: Shared<*mut f64>,
    rows: usize,
    categories: usize,
}

impl CategoryWeights {
    fn row(&self, row: usize) -> &[f64] {
        assert!(row < self.rows);
        // SAFETY: `start` is pinned for `rows * categories` numbers, which nobody else writes.
        unsafe { std::slice::from_raw_parts(self.start.at(row * self.categories), self.categories) }
    }

    /// Replaces each weight by the sum of those up to it. Refuses weights that are not a distribution.
    fn accumulate(&self) -> std::result::Result<(), WeightProblem> {
        for row in 0..self.rows {
            check(self.row(row), 1)?;
            let mut sum = 0.0;
            for i in 0..self.categories {
                // SAFETY: inside the row; no slice of it is used meanwhile.
                unsafe {
                    let at = self.start.at(row * self.categories + i);
                    sum += at.read();
                    at.write(sum);
                }
            }
        }
        Ok(())
    }
}

/// Refuses weights that are not a distribution, or of which fewer than `samples` are above 0.
fn check(weights: &[f64], samples: usize) -> std::result::Result<(), WeightProblem> {
    let valid = |weight: f64| (0.0..f64::INFINITY).contains(&weight);
    if let Some(&wrong) = weights.iter().find(|&&weight| !valid(weight)) {
        return Err(WeightProblem::Value(wrong));
    }
    let sum = weights.iter().fold(0.0, |sum, weight| sum + weight);
    if sum <= 0.0 || sum == f64::INFINITY {
        return Err(WeightProblem::Sum(sum));
    }
    let positive = weights.iter().filter(|&&weight| weight > 0.0).count();
    if positive < samples { Err(WeightProblem::TooFew(positive)) } else { Ok(()) }
}

type Sampled = Result<std::result::Result<(), WeightProblem>>;

/// Rows and categories of a copy of the weights, and samples of a row of the output.
fn shapes(out: &Tensor, weights: &Tensor) -> [usize; 3] {
    assert!(weights.dtype() == DType::F64 && weights.layout().is_row_major() && out.dtype() == DType::I64);
    let (rows, samples) = (weights.layout().modes()[0].extent, out.layout().modes()[1].extent);
    [rows as usize, weights.layout().modes()[1].extent as usize, samples as usize]
}

/// Fills the rows of a matrix of indices with samples of the rows of a float64 matrix of weights, which are overwritten.
pub fn with_replacement(out: &Tensor, generator: &Generator, weights: &Tensor) -> Sampled {
    let [rows, categories, samples] = shapes(out, weights);
    let pin = weights.pin(Access::Write)?;
    let sums = CategoryWeights { start: Shared::new(pin.origin.cast()), rows, categories };
    if let Err(problem) = sums.accumulate() {
        return Ok(Err(problem));
    }
    let draw = generator.take::<u64>(rows * samples);
    by_runs(out, SAMPLE_COST, &|first: usize, n: usize, to: *mut u8| {
        let mut words = Reader::new(draw);
        for i in 0..n {
            let sums = sums.row((first + i) / samples);
            let index = choose(sums, unit(words.word64(first + i)));
            // SAFETY: the contract of `RunBody`: n int64 elements.
            unsafe { to.cast::<i64>().add(i).write(index as i64) };
        }
    })?;
    Ok(Ok(()))
}

/// The first category whose running sum is above a part of the total. A category of weight 0 is never chosen: its running
/// sum is that of the one before it.
fn choose(sums: &[f64], part: f64) -> usize {
    let total = sums[sums.len() - 1];
    let index = sums.partition_point(|&sum| sum <= part * total);
    // The product may be rounded up to the total.
    if index < sums.len() { index } else { sums.partition_point(|&sum| sum < total) }
}

/// Draws without replacement, by an exponential race: each category gets an exponentially distributed time whose rate is
/// its weight. The order of arrival is a draw without replacement.
pub fn without_replacement(out: &Tensor, generator: &Generator, weights: &Tensor) -> Sampled {
    let [rows, categories, samples] = shapes(out, weights);
    let (to, pin) = (out.pin(Access::Write)?, weights.pin(Access::Write)?);
    assert!(out.layout().is_row_major());
    let weights = CategoryWeights { start: Shared::new(pin.origin.cast()), rows, categories };
    for row in 0..rows {
        if let Err(problem) = check(weights.row(row), samples) {
            return Ok(Err(problem));
        }
    }
    let shared = threads::should_parallelize(rows.saturating_mul(categories).saturating_mul(SAMPLE_COST));
    let mut scratch = for_threads(rows, shared, || try_vec(categories))?;
    let draw = generator.take::<u64>(rows * categories);
    let to = Shared::new(to.origin.cast::<i64>());
    threads::for_each_piece_with(rows, shared, &mut scratch, &|row, times| {
        earliest(weights.row(row), samples, draw, row * categories, times);
        for (i, &(_, index)) in times.iter().enumerate() {
            // SAFETY: `to` is pinned for `rows * samples` int64 elements, and this thread alone writes those of the row.
            unsafe { to.at(row * samples + i).write(index as i64) };
        }
    })?;
    Ok(Ok(()))
}

/// Finds the times and categories of the earliest `samples` events, in order. The word of the first category has the index
/// `word`. `times` has room for all categories.
fn earliest(weights: &[f64], samples: usize, draw: Draw, word: usize, times: &mut Vec<(f64, usize)>) {
    let mut words = Reader::new(draw);
    times.clear();
    for (i, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        times.push((-ln(f64::open_unit_interval(words.word64(word + i))) / weight, i));
    }
    let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if samples < times.len() {
        times.select_nth_unstable_by(samples, order);
        times.truncate(samples);
    }
    times.sort_unstable_by(order);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_of_weight_0_are_never_chosen() {
        let sums = [0.0, 1.0, 1.0, 3.0, 3.0];
        let choices = [0.0, 0.2, 1.0 / 3.0, 0.99, 1.0].map(|part| choose(&sums, part));
        assert_eq!(choices, [1, 1, 3, 3, 3]);
    }
}
