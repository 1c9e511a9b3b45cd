//! Random numbers.

use super::create::{device_of_out, into};
use crate::abi::Value;
use crate::abi::detach::{detach_if_large, device_work, work_on};
use crate::abi::errors::{CallResult, Fail};
use crate::abi::refs::to_py;
use crate::abi::tensor_object::wrap;
use crate::classes::devices::default_device;
use crate::classes::generator::{GeneratorArg, Seed, default_object, given_or_default};
use crate::convert::args::{AnyArg, FromArg, Ints, NoGrad, OperandArg, Rest, TensorArg, missing, wrong_type};
use crate::convert::results::{call, call_with_work, in_place, write_out};
use pyo3::prelude::*;
use strided_core::dtype::default_float;
use strided_core::ops::random::{self, Distribution, Generator};
use strided_core::ops::{Operand, OwnedOperand};
use strided_core::{DType, Device, Layout, Scalar, Tensor};

methods! { rows(py, x: TensorArg):
    /// A new tensor of numbers from 0 on and below 1, evenly distributed.
    ///
    /// >>> g = strided.Generator(0)
    /// >>> x = strided.rand(2, 3, generator=g)
    /// >>> x.shape, x.min().item() >= 0, x.max().item() < 1
    /// (strided.Size([2, 3]), True, True)
    function rand(size | shape: Rest; generator: Option<GeneratorArg> = None, out: Option<TensorArg> = None, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => draw(py, device, size.require("size")?, dtype, out, default_float, Distribution::Uniform(0.0, 1.0), &generator);

    /// A new tensor of numbers of the standard normal distribution: mean 0, variance 1. The parts of complex numbers have
    /// variance 1/2 each.
    ///
    /// >>> x = strided.randn(1000, generator=strided.Generator(0))
    /// >>> -0.1 < x.mean().item() < 0.1, 0.9 < x.std().item() < 1.1
    /// (True, True)
    function randn(size | shape: Rest; generator: Option<GeneratorArg> = None, out: Option<TensorArg> = None, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => draw(py, device, size.require("size")?, dtype, out, default_float, Distribution::Normal(0.0, 1.0), &generator);

    /// A new tensor of integers from `low` (0 unless given) on and below `high`, all with the same probability.
    ///
    /// >>> x = strided.randint(3, 5, (100,), generator=strided.Generator(0))
    /// >>> x.dtype, x.min().item(), x.max().item()
    /// (strided.int64, 3, 4)
    /// >>> strided.randint(1, size=(2,)).tolist()
    /// [0, 0]
    function randint(low: Option<AnyArg> = None, high: Option<AnyArg> = None, size | shape: Option<Ints> = None; generator: Option<GeneratorArg> = None, out: Option<TensorArg> = None, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        -> ["(high: SupportsIndex, size: _Ints, *, generator: Generator | None = None, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor", "(low: SupportsIndex, high: SupportsIndex, size: _Ints, *, generator: Generator | None = None, out: Tensor | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor"] => {
        // `randint(high, size)`: the size is in the position of `high`.
        let (high, size) = match (high, size) {
            (Some(sizes), None) => (None, Some(Ints::from_arg(sizes.0, "size")?)),
            other => other,
        };
        let range = bounds(low, high)?;
        draw(py, device, &size.ok_or_else(|| missing("size"))?.ints, dtype, out, || DType::I64, range, &generator)
    };

    /// The integers from 0 on and below `n` in random order; all orders have the same probability.
    ///
    /// >>> strided.randperm(5, generator=strided.Generator(0)).sum().item()
    /// 10
    function randperm(n: isize; generator: Option<GeneratorArg> = None, out: Option<TensorArg> = None, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None) => {
        let made = dtype.or(out.map(|out| out.dtype())).unwrap_or(DType::I64);
        let generator = given_or_default(&generator);
        if let Some(out) = out {
            random::check_out(&out, made, &[n.max(0)])?;
        }
        let device = device_of_out(device, out);
        let tensor = detach_if_large(py, device_work(device, n.max(0) as usize), || random::permutation(device, n, made, generator))?;
        into(py, out, tensor, dtype)
    };

    /// A new tensor of the size and dtype of another one, with numbers as those of `rand`.
    ///
    /// >>> strided.rand_like(strided.zeros(2, 3, dtype=strided.float64)).dtype
    /// strided.float64
    function rand_like(input: TensorArg; generator: Option<GeneratorArg> = None, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => draw(py, device.or(Some(input.device())), &input.layout().shape(), Some(dtype.unwrap_or(input.dtype())), None, default_float, Distribution::Uniform(0.0, 1.0), &generator);

    /// A new tensor of the size and dtype of another one, with numbers as those of `randn`.
    ///
    /// >>> strided.randn_like(strided.zeros(2, 3)).shape
    /// strided.Size([2, 3])
    function randn_like(input: TensorArg; generator: Option<GeneratorArg> = None, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => draw(py, device.or(Some(input.device())), &input.layout().shape(), Some(dtype.unwrap_or(input.dtype())), None, default_float, Distribution::Normal(0.0, 1.0), &generator);

    /// A new tensor of the size and dtype of another one, with integers as those of `randint`.
    ///
    /// >>> strided.randint_like(strided.zeros(2), 5, 6).tolist()
    /// [5.0, 5.0]
    function randint_like(input: TensorArg, low: Option<AnyArg> = None, high: Option<AnyArg> = None; generator: Option<GeneratorArg> = None, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        -> ["(high: SupportsIndex, *, generator: Generator | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor", "(low: SupportsIndex, high: SupportsIndex, *, generator: Generator | None = None, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None, requires_grad: Literal[False] | None = None) -> Tensor"]
        => draw(py, device.or(Some(input.device())), &input.layout().shape(), Some(dtype.unwrap_or(input.dtype())), None, default_float, bounds(low, high)?, &generator);

    /// A new tensor of normal numbers. `mean` and `std` are numbers, or tensors that are broadcast to each other; `size` is
    /// for two numbers.
    ///
    /// >>> strided.normal(strided.tensor([1.0, 2.0]), 0.0).tolist()
    /// [1.0, 2.0]
    /// >>> strided.normal(2.0, 3.0, (4,)).shape
    /// strided.Size([4])
    function normal(mean: OperandArg, std: Option<OperandArg> = None, size | shape: Option<Ints> = None; generator: Option<GeneratorArg> = None, out: Option<TensorArg> = None, dtype: Option<DType> = None, device: Option<Device> = None, requires_grad: Option<NoGrad> = None)
        => {
        let one = OwnedOperand::Scalar(Scalar::Float(1.0));
        let (mean, std) = (read_parameter(mean, "mean")?, std.map_or(Ok(one), |std| read_parameter(std, "std"))?);
        let (mean, std) = (mean.borrow(), std.borrow());
        if let (Operand::Scalar(mean), Operand::Scalar(std)) = (mean, std) {
            let size = size.ok_or_else(|| missing("size"))?;
            let distribution = Distribution::Normal(mean.real(), std.real());
            return draw(py, device, &size.ints, dtype, out, default_float, distribution, &generator);
        }
        if size.is_some() {
            return Err(Fail::Value("size is for two numbers, not for tensors".into()));
        }
        let wanted = dtype.or(out.map(|out| out.dtype()));
        let generator = given_or_default(&generator);
        let tensors = || [mean.tensor(), std.tensor()].into_iter().flatten();
        let layouts: Vec<_> = tensors().map(Tensor::layout).collect();
        if let Some(out) = out && let Ok(shape) = strided_core::layout::broadcast(&layouts) {
            random::check_out(&out, wanted.unwrap_or(out.dtype()), &shape)?;
        }
        let elements = tensors().map(work_on).max().unwrap_or(1);
        let tensor = detach_if_large(py, elements, || random::normal(mean, std, wanted, generator))?;
        into(py, out, tensor, dtype)
    };

    /// Ones and zeros: each is 1 with the probability that the element of the tensor is, or with `p`.
    ///
    /// >>> strided.tensor([0.0, 1.0, 1.0]).bernoulli().tolist()
    /// [0.0, 1.0, 1.0]
    /// >>> strided.zeros(3, dtype=strided.int8).bernoulli(1).tolist()
    /// [1, 1, 1]
    both bernoulli(p: Option<f64> = None; generator: Option<GeneratorArg> = None, out: Option<TensorArg> = None) => {
        if let Some(p) = p {
            return draw(py, Some(x.device()), &x.layout().shape(), out.is_none().then(|| x.dtype()), out, default_float, Distribution::Bernoulli(p), &generator);
        }
        let generator = given_or_default(&generator);
        let Some(out) = out else { return call(py, [x], None, |[x], _| random::bernoulli(x, generator)) };
        random::check_out(&out, x.dtype(), &x.layout().shape())?;
        let input = Tensor::clone(&x);
        let tensor = detach_if_large(py, work_on(&input), || random::bernoulli(&input, generator))?;
        into(py, Some(out), tensor, None)
    };

    /// Numbers of events of Poisson distributions, whose rates are the elements of the tensor.
    ///
    /// >>> strided.poisson(strided.tensor([0.0, 0.0])).tolist()
    /// [0.0, 0.0]
    function poisson(input: TensorArg; generator: Option<GeneratorArg> = None) => {
        let generator = given_or_default(&generator);
        call(py, [input], None, |[rates], _| random::poisson(rates, generator))
    };

    /// Indices of the elements of a vector, or of each row of a matrix, chosen with probabilities in proportion to the
    /// elements: `num_samples` of them, with or without replacement.
    ///
    /// >>> weights = strided.tensor([0.0, 10.0, 3.0, 0.0])
    /// >>> sorted(weights.multinomial(2).tolist())
    /// [1, 2]
    /// >>> weights.multinomial(5, replacement=True).shape
    /// strided.Size([5])
    both multinomial(num_samples: isize, replacement: bool = False; generator: Option<GeneratorArg> = None, out: Option<TensorArg> = None) => {
        let generator = given_or_default(&generator);
        if let Some(out) = out {
            let mut shape = x.layout().shape();
            if let Some(last) = shape.last_mut() {
                *last = num_samples.max(0);
            }
            random::check_out(&out, DType::I64, &shape)?;
        }
        let input = Tensor::clone(&x);
        let elements = work_on(&input).max(num_samples.max(0) as usize);
        let tensor = detach_if_large(py, elements, || random::multinomial(&input, num_samples, replacement, generator))?;
        into(py, out, tensor, Some(DType::I64))
    };

    /// Fills the tensor with numbers from `from_` (or `from`) on and below `to`, evenly distributed.
    ///
    /// >>> x = strided.zeros(100).uniform_(2, 3)
    /// >>> x.min().item() >= 2, x.max().item() < 3
    /// (True, True)
    method uniform_(from_ | from: f64 = 0.0, to: f64 = 1.0; generator: Option<GeneratorArg> = None)
        -> ["(from_: SupportsFloat = 0.0, to: SupportsFloat = 1.0, *, generator: Generator | None = None) -> Tensor"]
        => filled(py, x, Distribution::Uniform(from_, to), &generator);

    /// Fills the tensor with normal numbers.
    ///
    /// >>> strided.zeros(2).normal_(5, 0).tolist()
    /// [5.0, 5.0]
    method normal_(mean: f64 = 0.0, std: f64 = 1.0; generator: Option<GeneratorArg> = None)
        => filled(py, x, Distribution::Normal(mean, std), &generator);

    /// Fills the tensor with numbers whose logarithms are normal numbers of this mean and standard deviation.
    ///
    /// >>> strided.zeros(2).log_normal_(0, 0).tolist()
    /// [1.0, 1.0]
    method log_normal_(mean: f64 = 1.0, std: f64 = 2.0; generator: Option<GeneratorArg> = None)
        => filled(py, x, Distribution::LogNormal(mean, std), &generator);

    /// Fills the tensor with exponentially distributed numbers, whose mean is `1 / lambd`.
    ///
    /// >>> x = strided.zeros(1000).exponential_(2, generator=strided.Generator(0))
    /// >>> x.min().item() > 0, 0.4 < x.mean().item() < 0.6
    /// (True, True)
    method exponential_(lambd: f64 = 1.0; generator: Option<GeneratorArg> = None)
        => filled(py, x, Distribution::Exponential(lambd), &generator);

    /// Fills the tensor with numbers of a Cauchy distribution: half of them are within `sigma` of the median.
    ///
    /// >>> x = strided.zeros(1000).cauchy_(generator=strided.Generator(0))
    /// >>> 450 < (x.abs() < 1).sum().item() < 550
    /// True
    method cauchy_(median: f64 = 0.0, sigma: f64 = 1.0; generator: Option<GeneratorArg> = None)
        => filled(py, x, Distribution::Cauchy(median, sigma), &generator);

    /// Fills the tensor with numbers of trials up to the first success, which has the probability `p` in each.
    ///
    /// >>> x = strided.zeros(1000).geometric_(0.5, generator=strided.Generator(0))
    /// >>> x.min().item(), 1.8 < x.mean().item() < 2.2
    /// (1.0, True)
    method geometric_(p: f64; generator: Option<GeneratorArg> = None)
        => filled(py, x, Distribution::Geometric(p), &generator);

    /// Fills the tensor with ones of the probability `p`, or of the probabilities of a tensor, and zeros.
    ///
    /// >>> strided.zeros(2, dtype=strided.bool).bernoulli_(strided.tensor([0.0, 1.0])).tolist()
    /// [False, True]
    method bernoulli_(p: Option<OperandArg> = None; generator: Option<GeneratorArg> = None) => {
        let half = OwnedOperand::Scalar(Scalar::Float(0.5));
        let p = p.map_or(Ok(half), |p| read_parameter(p, "p"))?;
        match p {
            OwnedOperand::Scalar(p) => filled(py, x, Distribution::Bernoulli(p.real()), &generator),
            OwnedOperand::Tensor(p) => {
                let generator = given_or_default(&generator);
                in_place(py, x, |x| random::bernoulli_each(x, &p, "p", generator))
            }
        }
    };

    /// Fills the tensor with integers from `from_` (or `from`) on and below `to`: `random_(to)`, `random_(from_, to)`. Without
    /// bounds they are those from 0 to the largest of the dtype; for floats, to the largest up to which they hold all.
    ///
    /// >>> strided.zeros(3).random_(5, 6).tolist()
    /// [5.0, 5.0, 5.0]
    /// >>> 0 <= strided.zeros(1, dtype=strided.int8).random_().item() <= 127
    /// True
    method random_(from_ | from: Option<AnyArg> = None, to: Option<AnyArg> = None; generator: Option<GeneratorArg> = None)
        -> ["(*, generator: Generator | None = None) -> Tensor", "(to: SupportsIndex, *, generator: Generator | None = None) -> Tensor", "(from_: SupportsIndex, to: SupportsIndex | None, *, generator: Generator | None = None) -> Tensor"] => {
        let range = match (from_, to) {
            (None, None) => random::all_integers(x.dtype()),
            (from_, to) => bounds(from_, to)?,
        };
        filled(py, x, range, &generator)
    };

    /// Starts the default generator anew with a seed, and returns the generator.
    ///
    /// >>> _ = strided.manual_seed(3)
    /// >>> x = strided.rand(2)
    /// >>> _ = strided.manual_seed(3)
    /// >>> strided.rand(2).equal(x)
    /// True
    function manual_seed(seed: Seed) -> "Generator" => {
        Generator::default_one().set_seed(seed.0);
        to_py(py, default_object(py)?)
    };

    /// Starts the default generator anew with a seed from the system, and returns that.
    ///
    /// >>> strided.seed() == strided.initial_seed()
    /// True
    function seed() -> "int" => to_py(py, Generator::default_one().seed_from_entropy());

    /// The seed of the default generator.
    ///
    /// >>> strided.manual_seed(3).initial_seed(), strided.initial_seed()
    /// (3, 3)
    function initial_seed() -> "int" => to_py(py, Generator::default_one().seed());

    /// The state of the default generator as a uint8 tensor.
    ///
    /// >>> strided.get_rng_state().dtype
    /// strided.uint8
    function get_rng_state() => wrap(py, random::state(Generator::default_one())?);

    /// Restores a state of the default generator.
    ///
    /// >>> state = strided.get_rng_state()
    /// >>> x = strided.rand(2)
    /// >>> strided.set_rng_state(state)
    /// >>> strided.rand(2).equal(x)
    /// True
    function set_rng_state(new_state: TensorArg) -> "None" => {
        random::set_state(Generator::default_one(), &new_state)?;
        to_py(py, py.None())
    };
}

/// A new tensor with numbers of a distribution, or `out` filled with them.
fn draw<'a>(
    py: Python<'a>,
    device: Option<Device>,
    size: &[isize],
    dtype: Option<DType>,
    out: Option<TensorArg<'a>>,
    default: impl FnOnce() -> DType,
    distribution: Distribution,
    generator: &Option<GeneratorArg<'a>>,
) -> CallResult<Value<'a>> {
    let generator = given_or_default(generator);
    if let Some(out) = out {
        random::check(distribution, out.dtype())?;
        let (result, wanted) = (dtype.unwrap_or(out.dtype()), Layout::row_major(size)?);
        return write_out(py, out, result, &wanted, |out| random::fill(out, distribution, generator));
    }
    let (device, dtype) = (device.unwrap_or_else(default_device), dtype.unwrap_or_else(default));
    let elements =
        size.iter().fold(1usize, |product, &extent| product.saturating_mul(extent.max(0) as usize));
    call_with_work(py, [], device_work(device, elements), None, |[], _| {
        random::new(device, size, dtype, distribution, generator)
    })
}

/// A tensor filled with numbers of a distribution.
fn filled<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    distribution: Distribution,
    generator: &Option<GeneratorArg<'a>>,
) -> CallResult<Value<'a>> {
    let generator = given_or_default(generator);
    in_place(py, x, |x| random::fill(x, distribution, generator))
}

/// The integers from `low` on and below `high`; if only one is given, from 0 on and below that.
fn bounds(low: Option<AnyArg<'_>>, high: Option<AnyArg<'_>>) -> CallResult<Distribution> {
    let (low, high) = match (low, high) {
        (Some(high), None) => (0, integer(high, "high")?),
        (low, Some(high)) => (low.map_or(Ok(0), |low| integer(low, "low"))?, integer(high, "high")?),
        (None, None) => return Err(missing("high")),
    };
    Ok(Distribution::Integers(low, high - 1))
}

/// An integer of any size up to 64 bits.
fn integer(object: AnyArg<'_>, name: &'static str) -> CallResult<i128> {
    match Scalar::read(object.0)? {
        Some(Scalar::Int(value)) => Ok(value),
        Some(Scalar::Float(value)) if value.fract() == 0.0 && value.abs() < 2f64.powi(63) => {
            Ok(value as i128)
        }
        Some(Scalar::Huge(_)) => Err(Fail::Overflow(format!("{name} is an int beyond 64 bits"))),
        _ => Err(wrong_type(object.0, name, "an int")),
    }
}

/// A parameter of a distribution: a number, or one for each element.
fn read_parameter(object: OperandArg<'_>, name: &'static str) -> CallResult<OwnedOperand> {
    if let Some(x) = TensorArg::read(object.0)? {
        return Ok(OwnedOperand::Tensor(Tensor::clone(&x)));
    }
    Ok(OwnedOperand::Scalar(Scalar::Float(f64::from_arg(object.0, name)?)))
}
