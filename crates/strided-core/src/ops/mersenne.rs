//! The sequential generators of Torch7 and DeepMind Lab: which parameters they accept, and the results of draws.
//!
//! A generator is changed only if the call succeeds, or is interrupted.

use super::copy;
use crate::backend::host_reads;
use crate::backend::random::{self, range_size};
pub use crate::backend::random::{
    LAB_DEFAULT_SEED, LAB_STATE_BYTES, LabGenerator, TORCH_STATE_BYTES, TorchDraw, TorchGenerator, entropy,
};
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::scalar::Scalar;
use crate::storage::{Device, Fill};
use crate::tensor::{Tensor, common_device};

/// Refuses parameters that Torch7 refuses.
fn check(draw: TorchDraw) -> Result<()> {
    use TorchDraw::*;
    let refused = |argument, got: Scalar, wanted: &str| Err(Error::argument(argument, got, wanted));
    match draw {
        RandomTo(bound) if bound <= 0 => refused("b", Scalar::Int(bound as i128), "1 or more"),
        RandomBetween(low, high) if high < low => {
            refused("b", Scalar::Int(high as i128), &format!("at least a, which is {low}"))
        }
        // C would divide by 0.
        RandomBetween(low, high) if range_size(low, high) == 0 => {
            refused("b", Scalar::Int(high as i128), "a range of fewer than 2**64 numbers")
        }
        Normal(_, std) | LogNormal(_, std) if std.is_nan() || std <= 0.0 => {
            refused("std", Scalar::Float(std), "a number above 0")
        }
        Geometric(p) if p.is_nan() || p <= 0.0 || p >= 1.0 => {
            refused("p", Scalar::Float(p), "a number between 0 and 1, neither included")
        }
        Bernoulli(p) if !(0.0..=1.0).contains(&p) => refused("p", Scalar::Float(p), "a number from 0 to 1"),
        _ => Ok(()),
    }
}

/// One number of a distribution.
pub fn draw_number(generator: &mut TorchGenerator, draw: TorchDraw) -> Result<Scalar> {
    use TorchDraw::*;
    check(draw)?;
    Ok(match draw {
        Random => Scalar::Int(generator.random() as i128),
        RandomTo(bound) => Scalar::Int(generator.random_to(bound) as i64 as i128),
        RandomBetween(low, high) => Scalar::Int(generator.random_between(low, high) as i64 as i128),
        Uniform(low, high) => Scalar::Float(generator.uniform(low, high)),
        Normal(mean, std) => Scalar::Float(generator.normal(mean, std)),
        LogNormal(mean, std) => Scalar::Float(generator.log_normal(mean, std)),
        Cauchy(median, sigma) => Scalar::Float(generator.cauchy(median, sigma)),
        Exponential(rate) => Scalar::Float(generator.exponential(rate)),
        Geometric(p) => Scalar::Int(generator.geometric(p) as i128),
        Bernoulli(p) => Scalar::Int(generator.bernoulli(p) as i128),
    })
}

/// Fills a tensor with numbers of a distribution, in row-major order, whether its elements overlap or not. Torch7 checks a
/// parameter when it draws a number, and bounds before.
pub fn fill(out: &Tensor, generator: &mut TorchGenerator, draw: TorchDraw) -> Result<()> {
    let draw = rounded(draw, out.dtype());
    let has_bounds = matches!(draw, TorchDraw::RandomTo(_) | TorchDraw::RandomBetween(..));
    if has_bounds || out.size() > 0 {
        check(draw)?;
    }
    random::fill_torch(out, generator, draw)
}

/// The draw with parameters as Torch7's float tensors take them: those of continuous distributions are float32.
fn rounded(draw: TorchDraw, dtype: DType) -> TorchDraw {
    use TorchDraw::*;
    if dtype != DType::F32 {
        return draw;
    }
    let single = |value: f64| value as f32 as f64;
    match draw {
        Uniform(low, high) => Uniform(single(low), single(high)),
        Normal(mean, std) => Normal(single(mean), single(std)),
        LogNormal(mean, std) => LogNormal(single(mean), single(std)),
        Cauchy(median, sigma) => Cauchy(single(median), single(sigma)),
        Exponential(rate) => Exponential(single(rate)),
        other => other,
    }
}

/// Fills a tensor with ones, with the probabilities that another tensor of as many elements has, and zeros.
pub fn fill_bernoulli(out: &Tensor, generator: &mut TorchGenerator, p: &Tensor) -> Result<()> {
    check_floating("p", p)?;
    common_device([out, p])?;
    if p.size() != out.size() {
        let got = format!("a tensor of {} elements", p.size());
        return Err(Error::shape("p", got, format!("{} elements", out.size())));
    }
    let copied = copy::to_dtype(p, DType::F64)?;
    check_probabilities("p", &copied)?;
    random::bernoulli_torch(out, generator, &copied)
}

fn check_floating(argument: &'static str, x: &Tensor) -> Result<()> {
    match x.dtype() {
        DType::F32 | DType::F64 => Ok(()),
        got => Err(Error::dtype(argument, got, "float32 or float64")),
    }
}

fn check_probabilities(argument: &'static str, p: &Tensor) -> Result<()> {
    match host_reads::find_invalid(p, |p| (0.0..=1.0).contains(&p))? {
        None => Ok(()),
        Some(value) => {
            let got = format!("a tensor with {}", Scalar::Float(value));
            Err(Error::argument(argument, got, "probabilities from 0 to 1"))
        }
    }
}

/// The integers below `n` in random order, as int64.
pub fn permutation(n: isize, generator: &mut TorchGenerator) -> Result<Tensor> {
    check_positive("n", n)?;
    let out = Tensor::new_on(Device::Cpu, &[n], DType::I64, Fill::Uninitialized)?;
    random::permute_torch(&out, generator)?;
    Ok(out)
}

fn check_positive(argument: &'static str, n: isize) -> Result<()> {
    if n > 0 { Ok(()) } else { Err(Error::argument(argument, n, "1 or more")) }
}

/// Indices of categories, chosen by the weights along the last dim of a vector or matrix.
pub fn multinomial(
    weights: &Tensor,
    samples: isize,
    replacement: bool,
    generator: &mut TorchGenerator,
) -> Result<Tensor> {
    let shape = weights.layout().shape();
    let (rows, categories) = match shape[..] {
        [categories] => (1, categories),
        [rows, categories] => (rows, categories),
        _ => return Err(Error::new(Problem::Rank { rank: shape.len(), wanted: "1 or 2" })),
    };
    check_floating("p", weights)?;
    check_positive("n", samples)?;
    if !replacement && samples > categories {
        let wanted = format!("at most {categories}, the number of categories, without replacement");
        return Err(Error::argument("n", samples, wanted));
    }
    check_positive("the number of categories", categories)?;
    let out = Tensor::like(weights, &[rows, samples], DType::I64)?;
    let table = copy::to_dtype(&copy::reshape(weights, &[rows, categories])?, DType::F64)?;
    let mut drawn = generator.clone();
    if let Some(sum) = random::multinomial_torch(&out, &mut drawn, &table, replacement)? {
        let got = format!("weights whose sum is {}", Scalar::Float(sum));
        return Err(Error::argument("p", got, "a sum above 0 in each row"));
    }
    *generator = drawn;
    if shape.len() == 1 { copy::reshape(&out, &[samples]) } else { Ok(out) }
}

/// The tables of the alias method for the weights of a vector: aliases as int64, and probabilities in the dtype of the
/// weights.
pub fn alias_tables(weights: &Tensor) -> Result<(Tensor, Tensor)> {
    check_floating("p", weights)?;
    check_vector("p", weights)?;
    let numbers = host_reads::read_elements(&copy::to_dtype(weights, DType::F64)?)?;
    let round = if weights.dtype() == DType::F32 { |value| value as f32 as f64 } else { |value| value };
    match random::alias_tables(weights.device(), &numbers, round)? {
        Some((aliases, kept)) => Ok((aliases, copy::to_dtype(&kept, weights.dtype())?)),
        None => Err(Error::argument("p", "weights that leave a category nothing", "probabilities above 0")),
    }
}

fn check_vector(argument: &'static str, x: &Tensor) -> Result<()> {
    match x.layout().rank() {
        1 => Ok(()),
        _ => {
            let got = format!("a tensor of shape {}", x.layout().shape_text());
            Err(Error::shape(argument, got, "one dim"))
        }
    }
}

/// `n` categories as int64, drawn by the tables of the alias method.
pub fn draw_aliases(
    n: isize,
    aliases: &Tensor,
    kept: &Tensor,
    generator: &mut TorchGenerator,
) -> Result<Tensor> {
    if n < 0 {
        return Err(Error::argument("n", n, "0 or more"));
    }
    check_vector("J", aliases)?;
    check_vector("q", kept)?;
    check_floating("q", kept)?;
    if aliases.dtype() != DType::I64 {
        return Err(Error::dtype("J", aliases.dtype(), "int64"));
    }
    if aliases.size() == 0 || aliases.size() != kept.size() {
        let got = format!("a tensor of {} elements", kept.size());
        let wanted = format!("as many as J, which has {}, and 1 or more", aliases.size());
        return Err(Error::shape("q", got, wanted));
    }
    let device = common_device([aliases, kept])?;
    let kept = copy::to_dtype(kept, DType::F64)?;
    check_probabilities("q", &kept)?;
    let (aliases, kept) =
        (host_reads::read_elements(&copy::clone(aliases)?)?, host_reads::read_elements(&kept)?);
    let out = Tensor::new_on(device, &[n], DType::I64, Fill::Uninitialized)?;
    random::draw_aliases(&out, generator, &aliases, &kept)?;
    Ok(out)
}

/// The generator that a saved state is of.
pub fn torch_with_state(bytes: &[u8]) -> Result<TorchGenerator> {
    let Ok(state) = bytes.try_into() else { return Err(wrong_size(bytes, TORCH_STATE_BYTES)) };
    TorchGenerator::with_state(state).ok_or_else(invalid_state)
}

/// The generator that a saved state is of.
pub fn lab_with_state(bytes: &[u8]) -> Result<LabGenerator> {
    let Ok(state) = bytes.try_into() else { return Err(wrong_size(bytes, LAB_STATE_BYTES)) };
    LabGenerator::with_state(state).ok_or_else(invalid_state)
}

fn wrong_size(bytes: &[u8], wanted: usize) -> Error {
    Error::argument("state", format!("{} bytes", bytes.len()), format!("{wanted} bytes"))
}

fn invalid_state() -> Error {
    Error::argument("state", "not a state of this generator", "what state() returned")
}

/// An integer of a range.
pub fn uniform_int(generator: &mut LabGenerator, low: u64, high: u64) -> Result<u64> {
    if low > high {
        return Err(Error::argument("high", high, format!("at least low, which is {low}")));
    }
    Ok(generator.uniform_int(low, high))
}

/// The index of a weight.
pub fn discrete(generator: &mut LabGenerator, weights: &[f64]) -> Result<usize> {
    if weights.is_empty() {
        return Err(Error::argument("weights", "no number", "one or more"));
    }
    generator.discrete(weights)
}

/// Shuffles the elements of a vector.
pub fn shuffle(x: &Tensor, generator: &mut LabGenerator) -> Result<()> {
    check_vector("tensor", x)?;
    random::shuffle_lab(x, generator)
}
