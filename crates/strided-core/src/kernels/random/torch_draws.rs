//! Tensors that are filled from Torch7's generator, one draw after the other, as `THTensorRandom.c` fills them.

use super::super::generate::{STAGED_BYTES, in_order};
use super::super::scratch::Scratch;
use super::super::{cast, pair};
use super::torch_generator::{TorchDraw, TorchGenerator};
use crate::alloc::{try_collect, try_filled, try_vec};
use crate::dtype::DType;
use crate::error::Result;
use crate::scalar::Element;
use crate::storage::{Access, Device, Fill};
use crate::tensor::Tensor;
use crate::threads::{for_each_in_order, for_each_range_in_order};
use std::ptr::null_mut;

/// Fills a tensor with numbers of a distribution.
pub fn fill_torch(out: &Tensor, generator: &mut TorchGenerator, draw: TorchDraw) -> Result<()> {
    use TorchDraw::*;
    let g = generator;
    match draw {
        Random => {
            let size = default_range(out.dtype());
            fill_each(out, || g.random() as u64 % size)
        }
        RandomTo(bound) => fill_each(out, || g.random_to(bound)),
        RandomBetween(low, high) => fill_each(out, || g.random_between(low, high)),
        Uniform(low, high) => fill_each(out, || g.uniform(low, high)),
        Normal(mean, std) => fill_each(out, || g.normal(mean, std)),
        LogNormal(mean, std) => fill_each(out, || g.log_normal(mean, std)),
        Cauchy(median, sigma) => fill_each(out, || g.cauchy(median, sigma)),
        Exponential(rate) => fill_each(out, || g.exponential(rate)),
        Geometric(p) => fill_each(out, || g.geometric(p)),
        Bernoulli(p) => fill_each(out, || g.bernoulli(p)),
    }
}

/// The number of integers from 0 on that `random` without bounds draws. A word has 32 bits: more of them do not matter.
fn default_range(dtype: DType) -> u64 {
    match dtype.int_range() {
        Some((_, last)) => (last as u64).saturating_add(1),
        None => (1 << dtype.mantissa_bits()) + 1,
    }
}

/// Fills a tensor with numbers that are drawn one after the other, converted to its dtype.
fn fill_each<T: Element>(out: &Tensor, mut next: impl FnMut() -> T) -> Result<()> {
    let size = out.dtype().size();
    let cast = cast::kernel(T::DTYPE, out.dtype());
    let steps = pair(size as isize, size_of::<T>() as isize, 0);
    let mut staged = Scratch::<STAGED_BYTES>::new();
    let staged = staged.start();
    in_order(out, &mut |n, to| {
        for first in (0..n).step_by(STAGED_BYTES / size_of::<T>()) {
            let count = (n - first).min(STAGED_BYTES / size_of::<T>());
            for i in 0..count {
                // SAFETY: the scratch holds as many numbers, and is aligned for them.
                unsafe { staged.cast::<T>().add(i).write(next()) };
            }
            // SAFETY: `count` numbers were written; the contract of `in_order`: `to` is aligned and valid for n elements.
            unsafe { cast(&pair(to.add(first * size), staged, null_mut()), &steps, count) };
        }
    })
}

/// Fills a tensor with zeros and ones, whose probabilities are the elements of a row-major float64 tensor of as many.
pub fn bernoulli_torch(out: &Tensor, generator: &mut TorchGenerator, p: &Tensor) -> Result<()> {
    assert!(p.dtype() == DType::F64 && p.layout().is_row_major() && p.size() == out.size());
    let pin = p.pin(Access::Read)?;
    let mut at = pin.origin.cast::<f64>().cast_const();
    fill_each(out, || {
        // SAFETY: `pin` holds as many probabilities as there are draws.
        let p = unsafe { at.read() };
        at = at.wrapping_add(1);
        generator.bernoulli(p)
    })
}

/// Writes the integers below the size of a row-major int64 tensor to it, in random order.
pub fn permute_torch(out: &Tensor, generator: &mut TorchGenerator) -> Result<()> {
    assert!(out.dtype() == DType::I64 && out.layout().is_row_major());
    let n = out.size();
    let pin = out.pin(Access::Write)?;
    let to = pin.origin.cast::<i64>();
    for i in 0..n {
        // SAFETY: `pin` holds n elements.
        unsafe { to.add(i).write(i as i64) };
    }
    let swaps = n.saturating_sub(1);
    for_each_range_in_order(swaps, &mut |range| {
        for i in range {
            let other = i + generator.random() as usize % (n - i);
            // SAFETY: `pin` holds n elements, and both are below n.
            unsafe { to.add(i).swap(to.add(other)) };
        }
    })
}

/// Writes categories to the rows of a row-major int64 matrix, drawn by the weights of the rows of a row-major float64
/// matrix, which has columns. Returns the sum of the first row whose sum is not above 0, if there is one.
pub fn multinomial_torch(
    out: &Tensor,
    generator: &mut TorchGenerator,
    weights: &Tensor,
    replacement: bool,
) -> Result<Option<f64>> {
    let (rows, samples) = rows_and_columns(out, DType::I64);
    let (weight_rows, categories) = rows_and_columns(weights, DType::F64);
    assert!(rows == weight_rows);
    let (pin, from) = (out.pin(Access::Write)?, weights.pin(Access::Read)?);
    let (to, from) = (pin.origin.cast::<i64>(), from.origin.cast::<f64>());
    for row in 0..rows {
        // SAFETY: `weights` is pinned, and has this row.
        let weight = |i| unsafe { from.add(row * categories + i).read() };
        let mut sums = match Cumulative::new((0..categories).map(weight))? {
            Ok(sums) => sums,
            Err(sum) => return Ok(Some(sum)),
        };
        for_each_in_order(samples, &mut |sample| {
            let category = sums.draw(generator);
            if !replacement {
                sums.remove(category);
            }
            // SAFETY: `pin` holds all rows of samples.
            unsafe { to.add(row * samples + sample).write(category as i64) };
        })?;
    }
    Ok(None)
}

fn rows_and_columns(matrix: &Tensor, dtype: DType) -> (usize, usize) {
    assert!(matrix.dtype() == dtype && matrix.layout().is_row_major());
    let &[rows, columns] = matrix.layout().modes() else { unreachable!("a matrix has two dims") };
    (rows.extent as usize, columns.extent as usize)
}

/// The sums of the probabilities up to each category.
struct Cumulative(Vec<f64>);

impl Cumulative {
    /// Fails with the sum of the weights if it is not above 0.
    fn new(weights: impl ExactSizeIterator<Item = f64>) -> Result<std::result::Result<Cumulative, f64>> {
        let mut sum = 0.0;
        let mut sums = try_collect(weights.map(|weight| {
            sum += weight;
            sum
        }))?;
        if sum.is_nan() || sum <= 0.0 {
            return Ok(Err(sum));
        }
        sums.iter_mut().for_each(|value| *value /= sum);
        Ok(Ok(Cumulative(sums)))
    }

    fn draw(&mut self, generator: &mut TorchGenerator) -> usize {
        let wanted = generator.uniform(0.0, 1.0);
        let last = self.0.len() - 1;
        self.0[last] = 1.0;
        let (mut left, mut right) = (0, self.0.len());
        while right > left {
            let middle = left + (right - left) / 2;
            if self.0[middle] < wanted { left = middle + 1 } else { right = middle }
        }
        left
    }

    /// Takes the probability of a category away, and scales the others to a sum of 1.
    fn remove(&mut self, category: usize) {
        let before = if category == 0 { 0.0 } else { self.0[category - 1] };
        let taken = self.0[category] - before;
        let rest = 1.0 - taken;
        for (i, sum) in self.0.iter_mut().enumerate() {
            *sum = (if i >= category { *sum - taken } else { *sum }) / rest;
        }
    }
}

/// The tables of the alias method, as `multinomialAliasSetup` makes them: for each category, an int64 tensor with another
/// one that it is exchanged for, and a float64 tensor with the probability that it is not. Numbers are rounded by `round`
/// where Torch7 stores them. `None` if the smallest probability is not above 0.
pub fn alias_tables(weights: &[f64], round: fn(f64) -> f64) -> Result<Option<(Tensor, Tensor)>> {
    let n = weights.len();
    let size = round(n as f64);
    let mut kept = try_collect(weights.iter().map(|weight| round(size * weight)))?;
    let mut aliases = try_filled(n, 0i64)?;
    let (mut smaller, mut larger): (Vec<usize>, Vec<usize>) = (try_vec(n)?, try_vec(n)?);
    (0..n).for_each(|i| if kept[i] < 1.0 { smaller.push(i) } else { larger.push(i) });
    while let (Some(small), Some(large)) = (smaller.last_mut(), larger.last().copied()) {
        aliases[*small] = large as i64;
        kept[large] = round(kept[large] - (1.0 - kept[*small]));
        if kept[large] < 1.0 {
            *small = large;
            larger.pop();
        } else {
            smaller.pop();
        }
    }
    let (least, most) = min_max(&kept);
    if least.is_nan() || least <= 0.0 {
        return Ok(None);
    }
    for (kept, &alias) in kept.iter_mut().zip(&aliases) {
        if most > 1.0 {
            *kept = round(*kept / most);
        }
        // Category 0 is taken for none, as in Torch7.
        if alias <= 0 {
            *kept = 1.0;
        }
    }
    Ok(Some((vector(&aliases)?, vector(&kept)?)))
}

/// The least and the largest number, as Torch7 finds them: from the last one, by comparisons that a NaN fails.
fn min_max(numbers: &[f64]) -> (f64, f64) {
    let last = numbers.last().copied().unwrap_or(f64::NAN);
    numbers.iter().fold((last, last), |(least, most), &number| match number {
        _ if number < least => (number, most),
        _ if number > most => (least, number),
        _ => (least, most),
    })
}

/// A new tensor of one dim.
fn vector<T: Element>(elements: &[T]) -> Result<Tensor> {
    let out = Tensor::new_on(Device::Cpu, &[elements.len() as isize], T::DTYPE, Fill::Uninitialized)?;
    let mut next = elements.iter();
    fill_each(&out, || *next.next().expect("one for each element of the tensor"))?;
    Ok(out)
}

/// Fills a tensor with categories that are drawn by the alias method, as `multinomialAliasDraw` numbers them. The tables
/// have one length, which is not 0, and probabilities from 0 to 1.
pub fn draw_aliases(
    out: &Tensor,
    generator: &mut TorchGenerator,
    aliases: &[i64],
    kept: &[f64],
) -> Result<()> {
    fill_each(out, || {
        let category = generator.uniform(0.0, aliases.len() as f64) as usize;
        let is_kept = generator.bernoulli(kept[category]) == 1;
        if is_kept { category as i64 } else { aliases[category].wrapping_sub(1) }
    })
}
