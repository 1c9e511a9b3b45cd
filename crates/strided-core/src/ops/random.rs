//! Random numbers: which dtypes and parameters a distribution accepts, and the shape and dtype of its results.

use super::compose::check_floating;
use super::compose::of_tensors;
use super::operand::Operand;
use super::table::Op;
use super::{copy, output};
use crate::backend::host_reads;
use crate::backend::random::{self, STATE_BYTES, WeightProblem};
pub use crate::backend::random::{DEFAULT_SEED, Generator};
use crate::dtype::{DType, default_float, promote};
use crate::error::{Error, Problem, Result};
use crate::layout::{self, Layout};
use crate::scalar::Scalar;
use crate::storage::{Device, Fill};
use crate::tensor::{Tensor, common_device};

/// A distribution of numbers, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// `[low, high)`.
    Uniform(f64, f64),
    /// Mean and standard deviation.
    Normal(f64, f64),
    /// Mean and standard deviation of the logarithm.
    LogNormal(f64, f64),
    /// The rate: the inverse of the mean.
    Exponential(f64),
    /// Median and scale, which is half the interquartile range.
    Cauchy(f64, f64),
    /// The probability of a success.
    Geometric(f64),
    /// The probability of 1.
    Bernoulli(f64),
    /// From the first integer to the last one.
    Integers(i128, i128),
}

/// Fills a tensor with numbers of a distribution.
pub fn fill(out: &Tensor, distribution: Distribution, generator: &Generator) -> Result<()> {
    use Distribution::*;
    check(distribution, out.dtype())?;
    out.check_writable()?;
    if out.dtype().is_complex() {
        // The parts of a complex normal number have half of its variance each.
        let parts = match distribution {
            Normal(mean, std) => Normal(mean, std * std::f64::consts::FRAC_1_SQRT_2),
            other => other,
        };
        return fill(&out.view_as_real()?, parts, generator);
    }
    match distribution {
        Uniform(low, high) => {
            random::uniform(out, generator, rounded(low, out.dtype()), rounded(high, out.dtype()))
        }
        Normal(mean, std) => random::normal(out, generator, mean, std),
        LogNormal(mean, std) => random::log_normal(out, generator, mean, std),
        Exponential(rate) => random::exponential(out, generator, rate),
        Cauchy(median, sigma) => random::cauchy(out, generator, median, sigma),
        Geometric(p) => random::geometric(out, generator, p, largest_integer(out.dtype())),
        Bernoulli(p) => random::bernoulli(out, generator, p),
        Integers(low, last) => random::integers(out, generator, low, last),
    }
}

/// A number as the dtype holds it.
fn rounded(value: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F16 => half::f16::from_f64(value).to_f64(),
        DType::BF16 => half::bf16::from_f64(value).to_f64(),
        DType::F32 => value as f32 as f64,
        _ => value,
    }
}

/// The largest float64 that is a finite number of a dtype.
fn largest_integer(dtype: DType) -> f64 {
    match dtype.largest() {
        Scalar::Float(value) => value,
        // Rounded down: float64 does not have the largest 64-bit integers.
        Scalar::Int(value) if value > 1 << 53 => ((value as u128 + 1) as f64) * (1.0 - f64::EPSILON / 2.0),
        Scalar::Int(value) => value as f64,
        other => unreachable!("{other} as the largest number of a dtype"),
    }
}

/// Refuses parameters that are out of range, and dtypes that cannot hold the numbers of a distribution.
pub fn check(distribution: Distribution, dtype: DType) -> Result<()> {
    use Distribution::*;
    let (accepted, wanted) = match distribution {
        Uniform(..) | Normal(..) => (dtype.is_float() || dtype.is_complex(), "a floating or complex dtype"),
        LogNormal(..) | Exponential(_) | Cauchy(..) => (dtype.is_float(), "a floating dtype"),
        Geometric(_) => (dtype.is_float() || dtype.is_int(), "an integer or floating dtype"),
        Bernoulli(_) | Integers(..) => (!dtype.is_complex(), "a real dtype"),
    };
    if !accepted {
        return Err(Error::dtype("dtype", dtype, wanted));
    }
    let number = |argument, value: f64, valid: bool, wanted: &str| match valid {
        true => Ok(()),
        false => Err(Error::argument(argument, Scalar::Float(value), wanted)),
    };
    let finite = |argument, value: f64| number(argument, value, value.is_finite(), "a finite number");
    let spread =
        |argument, value: f64| number(argument, value, value >= 0.0 && value.is_finite(), "0 or more");
    match distribution {
        Uniform(low, high) => {
            let (low, high) = (rounded(low, dtype.real()), rounded(high, dtype.real()));
            finite("from", low)?;
            finite("to", high)?;
            number("to", high, low <= high, &format!("at least from, which is {}", Scalar::Float(low)))?;
            let width = rounded(high - low, dtype.real());
            number("to - from", width, width.is_finite(), "a finite number of the dtype")
        }
        Normal(mean, std) | LogNormal(mean, std) => finite("mean", mean).and_then(|()| spread("std", std)),
        Exponential(rate) => number("lambd", rate, rate > 0.0 && rate.is_finite(), "a number above 0"),
        Cauchy(median, sigma) => {
            finite("median", median)?;
            number("sigma", sigma, sigma > 0.0 && sigma.is_finite(), "a number above 0")
        }
        Geometric(p) => number("p", p, p > 0.0 && p < 1.0, "a number between 0 and 1, neither included"),
        Bernoulli(p) => number("p", p, (0.0..=1.0).contains(&p), "a number from 0 to 1"),
        Integers(low, last) => check_integers(low, last, dtype),
    }
}

fn check_integers(low: i128, last: i128, dtype: DType) -> Result<()> {
    if low > last {
        return Err(Error::argument("high", last + 1, format!("more than low, which is {low}")));
    }
    let (least, most) = match dtype.int_range() {
        Some(range) => range,
        None => (-(1 << dtype.mantissa_bits()), 1 << dtype.mantissa_bits()),
    };
    for (argument, value) in [("low", low), ("high - 1", last)] {
        if !(least..=most).contains(&value) {
            let wanted = format!("{least} to {most}: the integers that {} holds", dtype.name());
            return Err(Error::argument(argument, value, wanted));
        }
    }
    Ok(())
}

/// The integers of `random_` without bounds: from 0 to the largest one; for floats, to the largest of those of which
/// they hold all.
pub fn all_integers(dtype: DType) -> Distribution {
    let last = match dtype.int_range() {
        Some((_, last)) => last,
        None => 1 << dtype.mantissa_bits(),
    };
    Distribution::Integers(0, last)
}

/// A new tensor with numbers of a distribution.
pub fn new(
    device: Device,
    shape: &[isize],
    dtype: DType,
    distribution: Distribution,
    generator: &Generator,
) -> Result<Tensor> {
    check(distribution, dtype)?;
    let out = Tensor::new_on(device, shape, dtype, Fill::Uninitialized)?;
    fill(&out, distribution, generator)?;
    Ok(out)
}

/// A row-major float64 copy of parameters, all of which must be valid.
fn parameters(
    x: &Tensor,
    argument: &'static str,
    wanted: &'static str,
    valid: fn(f64) -> bool,
) -> Result<Tensor> {
    if x.dtype().is_complex() {
        return Err(Error::dtype(argument, x.dtype(), "a real dtype"));
    }
    let copied = copy::to_dtype(x, DType::F64)?;
    match host_reads::find_invalid(&copied, valid)? {
        None => Ok(copied),
        Some(value) => {
            Err(Error::argument(argument, format!("a tensor with {}", Scalar::Float(value)), wanted))
        }
    }
}

/// Fills a tensor with ones, with the probabilities of a tensor that is expanded to it, and zeros.
pub fn bernoulli_each(out: &Tensor, p: &Tensor, argument: &'static str, generator: &Generator) -> Result<()> {
    if out.dtype().is_complex() {
        return Err(Error::dtype("dtype", out.dtype(), "a real dtype"));
    }
    common_device([out, p])?;
    out.check_writable()?;
    let p = p.with_layout(p.layout().expand(&out.layout().shape())?);
    let p = parameters(&p, argument, "probabilities from 0 to 1", |p| (0.0..=1.0).contains(&p))?;
    random::bernoulli_each(out, generator, &p)
}

/// A new tensor of ones and zeros, whose probabilities are the elements of a floating tensor.
pub fn bernoulli(p: &Tensor, generator: &Generator) -> Result<Tensor> {
    check_floating("input", p.dtype())?;
    let out =
        Tensor::with_new_memory(p.device(), p.layout().row_major_like(), p.dtype(), Fill::Uninitialized)?;
    bernoulli_each(&out, p, "input", generator)?;
    Ok(out)
}

/// A new tensor of numbers of events, whose rates are the elements of a floating tensor.
pub fn poisson(rates: &Tensor, generator: &Generator) -> Result<Tensor> {
    check_floating("input", rates.dtype())?;
    let valid = |rate: f64| rate >= 0.0 && rate.is_finite();
    let copied = parameters(rates, "input", "finite rates of 0 or more", valid)?;
    let out =
        Tensor::with_new_memory(copied.device(), copied.layout().clone(), DType::F64, Fill::Uninitialized)?;
    random::poisson(&out, generator, &copied)?;
    copy::in_dtype(&out, rates.dtype())
}

/// A new tensor of normal numbers, with means and deviations that are broadcast.
pub fn normal(mean: Operand, std: Operand, dtype: Option<DType>, generator: &Generator) -> Result<Tensor> {
    let (mut result, mut layouts) = (None, Vec::new());
    for (argument, parameter) in [("mean", mean), ("std", std)] {
        let Some(x) = parameter.tensor() else { continue };
        check_floating(argument, x.dtype())?;
        result = Some(result.map_or(Ok(x.dtype()), |dtype| promote(dtype, x.dtype()))?);
        layouts.push(x.layout());
    }
    let shape = layout::broadcast(&layouts)?;
    let dtype = dtype.or(result).unwrap_or_else(default_float);
    check_floating("dtype", dtype)?;
    let number = |parameter, other| match parameter {
        Operand::Scalar(value) => value.real(),
        Operand::Tensor(_) => other,
    };
    check(Distribution::Normal(number(mean, 0.0), number(std, 1.0)), dtype)?;
    if let Some(std) = std.tensor() {
        parameters(std, "std", "0 or more", |std| std >= 0.0)?;
    }
    // A tensor of deviations comes before the mean is added.
    let scaled_first = std.tensor().is_some();
    let inner = Distribution::Normal(if scaled_first { 0.0 } else { number(mean, 0.0) }, number(std, 1.0));
    let device = common_device([mean.tensor(), std.tensor()].into_iter().flatten())?;
    let mut out = new(device, &shape, dtype, inner, generator)?;
    if let Some(std) = std.tensor() {
        out = of_tensors(Op::mul, &out, &copy::to_dtype(std, dtype)?)?;
    }
    match mean {
        Operand::Tensor(mean) => of_tensors(Op::add, &out, &copy::to_dtype(mean, dtype)?),
        Operand::Scalar(mean) if scaled_first && mean.real() != 0.0 => {
            super::compose::with_number(Op::add, &out, mean.real())
        }
        Operand::Scalar(_) => Ok(out),
    }
}

/// The integers below `n` in random order.
pub fn permutation(device: Device, n: isize, dtype: DType, generator: &Generator) -> Result<Tensor> {
    if n < 0 {
        return Err(Error::argument("n", n, "0 or more"));
    }
    if dtype.is_complex() || dtype == DType::Bool {
        return Err(Error::dtype("dtype", dtype, "an integer or floating dtype"));
    }
    if n > 0 {
        check_integers(0, n as i128 - 1, dtype).map_err(|_| {
            Error::argument("n", n, format!("no more than the integers that {} holds", dtype.name()))
        })?;
    }
    let out = Tensor::new_on(device, &[n], DType::I64, Fill::Uninitialized)?;
    random::permutation(&out, generator)?;
    if dtype == DType::I64 { Ok(out) } else { copy::to_dtype(&out, dtype) }
}

/// Indices of categories, chosen by the weights along the last dim of a vector or matrix.
pub fn multinomial(
    weights: &Tensor,
    samples: isize,
    replacement: bool,
    generator: &Generator,
) -> Result<Tensor> {
    let rank = weights.layout().rank();
    if !(1..=2).contains(&rank) {
        return Err(Error::new(Problem::Rank { rank, wanted: "1 or 2" }));
    }
    check_floating("input", weights.dtype())?;
    let shape = weights.layout().shape();
    let categories = shape[rank - 1];
    if samples < 1 {
        return Err(Error::argument("num_samples", samples, "1 or more"));
    }
    if !replacement && samples > categories {
        let wanted = format!("at most {categories}, the number of categories, without replacement");
        return Err(Error::argument("num_samples", samples, wanted));
    }
    let rows = if rank == 2 { shape[0] } else { 1 };
    let out = Tensor::like(weights, &[rows, samples], DType::I64)?;
    let table = copy::to_dtype(&copy::reshape(weights, &[rows, categories])?, DType::F64)?;
    if rows > 0 {
        let drawn = if replacement {
            random::with_replacement(&out, generator, &table)
        } else {
            random::without_replacement(&out, generator, &table)
        };
        drawn?.map_err(|problem| wrong_weights(problem, samples))?;
    }
    let shape: &[isize] = if rank == 2 { &[rows, samples] } else { &[samples] };
    copy::reshape(&out, shape)
}

fn wrong_weights(problem: WeightProblem, samples: isize) -> Error {
    match problem {
        WeightProblem::Value(value) => {
            let got = format!("a tensor with {}", Scalar::Float(value));
            Error::argument("input", got, "finite weights of 0 or more")
        }
        WeightProblem::Sum(sum) => {
            let got = format!("weights whose sum is {}", Scalar::Float(sum));
            Error::argument("input", got, "a finite sum above 0 in each row")
        }
        WeightProblem::TooFew(positive) => {
            let wanted =
                format!("at most {positive}, the number of weights above 0 in a row, without replacement");
            Error::argument("num_samples", samples, wanted)
        }
    }
}

/// The state of a generator as a uint8 tensor.
pub fn state(generator: &Generator) -> Result<Tensor> {
    let out = Tensor::new_on(Device::Cpu, &[STATE_BYTES as isize], DType::U8, Fill::Uninitialized)?;
    random::write_bytes(&out, &generator.state())?;
    Ok(out)
}

/// Restores the state of a generator from a uint8 tensor.
pub fn set_state(generator: &Generator, state: &Tensor) -> Result<()> {
    if state.dtype() != DType::U8 {
        return Err(Error::dtype("new_state", state.dtype(), "uint8"));
    }
    if state.layout().rank() != 1 || state.size() != STATE_BYTES {
        let got = format!("a tensor of shape {}", state.layout().shape_text());
        let wanted = format!("one of shape {}, which get_state returned", STATE_BYTES);
        return Err(Error::shape("new_state", got, wanted));
    }
    generator.set_state(&host_reads::read_elements(&copy::clone(state)?)?)
}

/// Refuses an output for a result of this shape and dtype, before the result is drawn.
pub fn check_out(out: &Tensor, dtype: DType, shape: &[isize]) -> Result<()> {
    output::target("out", out, dtype, &Layout::row_major(shape)?).map(drop)
}
