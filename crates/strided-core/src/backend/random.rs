//! Random numbers. Generators are plain state on the host: a counter, or the words of a Mersenne twister.

pub use crate::kernels::random::generator::{DEFAULT_SEED, STATE_BYTES, entropy};
pub use crate::kernels::random::{
    Generator, LAB_DEFAULT_SEED, LAB_STATE_BYTES, LabGenerator, TORCH_STATE_BYTES, TorchDraw, TorchGenerator,
    WeightProblem, range_size,
};

use super::not_computed;
use crate::error::Result;
use crate::kernels::random;
use crate::opencl;
use crate::storage::Device;
use crate::tensor::Tensor;

/// The result of drawing categories: the first row of weights that is not a distribution is refused.
type Sampled = Result<std::result::Result<(), WeightProblem>>;

by_device! {
    /// In `[low, high)`.
    fn uniform(out: &Tensor, generator: &Generator, low: f64, high: f64) -> Result<()>, on out.device() => random::uniform, gpu opencl::random::uniform;
    fn normal(out: &Tensor, generator: &Generator, mean: f64, std: f64) -> Result<()>, on out.device() => random::normal, gpu opencl::random::normal;
    fn log_normal(out: &Tensor, generator: &Generator, mean: f64, std: f64) -> Result<()>, on out.device() => random::log_normal, gpu opencl::random::log_normal;
    fn exponential(out: &Tensor, generator: &Generator, rate: f64) -> Result<()>, on out.device() => random::exponential, gpu opencl::random::exponential;
    fn cauchy(out: &Tensor, generator: &Generator, median: f64, sigma: f64) -> Result<()>, on out.device() => random::cauchy, gpu opencl::random::cauchy;
    /// Clamped to `most`.
    fn geometric(out: &Tensor, generator: &Generator, p: f64, most: f64) -> Result<()>, on out.device() => random::geometric;
    fn bernoulli(out: &Tensor, generator: &Generator, p: f64) -> Result<()>, on out.device() => random::bernoulli, gpu opencl::random::bernoulli;
    /// With a probability for each element.
    fn bernoulli_each(out: &Tensor, generator: &Generator, p: &Tensor) -> Result<()>, on out.device() => random::bernoulli_each, gpu opencl::random::bernoulli_each;
    fn poisson(out: &Tensor, generator: &Generator, rates: &Tensor) -> Result<()>, on out.device() => random::poisson;
    /// From `low` to `last`, both included.
    fn integers(out: &Tensor, generator: &Generator, low: i128, last: i128) -> Result<()>, on out.device() => random::integers, gpu opencl::random::integers;
    /// The integers from 0 to n - 1 in random order, for n elements.
    fn permutation(out: &Tensor, generator: &Generator) -> Result<()>, on out.device() => random::permutation, gpu opencl::random::permutation;
    /// Categories drawn by weights, with replacement.
    fn with_replacement(out: &Tensor, generator: &Generator, weights: &Tensor) -> Sampled, on out.device() => random::with_replacement;
    /// Categories drawn by weights, without replacement.
    fn without_replacement(out: &Tensor, generator: &Generator, weights: &Tensor) -> Sampled, on out.device() => random::without_replacement;
    /// Writes bytes of the host, such as the state of a generator.
    fn write_bytes(out: &Tensor, bytes: &[u8]) -> Result<()>, on out.device() => random::write_bytes;

    /// Numbers of Torch7's generator.
    fn fill_torch(out: &Tensor, generator: &mut TorchGenerator, draw: TorchDraw) -> Result<()>, on out.device() => random::fill_torch;
    fn bernoulli_torch(out: &Tensor, generator: &mut TorchGenerator, p: &Tensor) -> Result<()>, on out.device() => random::bernoulli_torch;
    fn permute_torch(out: &Tensor, generator: &mut TorchGenerator) -> Result<()>, on out.device() => random::permute_torch;
    /// The sum of the first row of weights whose sum is not above 0, if there is one.
    fn multinomial_torch(out: &Tensor, generator: &mut TorchGenerator, weights: &Tensor, replacement: bool) -> Result<Option<f64>>, on out.device() => random::multinomial_torch;
    /// Categories drawn by the alias method.
    fn draw_aliases(out: &Tensor, generator: &mut TorchGenerator, aliases: &[i64], kept: &[f64]) -> Result<()>, on out.device() => random::draw_aliases;

    /// Shuffles a vector with DeepMind Lab's generator.
    fn shuffle_lab(x: &Tensor, generator: &mut LabGenerator) -> Result<()>, on x.device() => random::shuffle_lab;
}

on_device! {
    /// The tables of the alias method for weights on the host.
    fn alias_tables(weights: &[f64], round: fn(f64) -> f64) -> Result<Option<(Tensor, Tensor)>> => random::alias_tables;
}
