//! Methods of the sequential generators of Torch7 and DeepMind Lab.

use crate::abi::Value;
use crate::abi::errors::{CallResult, Fail};
use crate::abi::refs::to_py;
use crate::abi::tensor_object::wrap;
use crate::classes::generator::Seed;
use crate::classes::mersenne::{PyLabGenerator, PyTorchGenerator, lock, with_generator};
use crate::convert::args::{AnyArg, FromArg, Instance, TensorArg};
use crate::convert::numbers::number;
use crate::convert::results::tuple_of;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Mutex;
use strided_core::Tensor;
use strided_core::ops::mersenne::{self, LabGenerator, TorchDraw, TorchGenerator, entropy};

/// The rows of a generator: its own, and those that copy and restore its state.
macro_rules! generator_rows {
    ($rows:ident ($py:ident, $x:ident: $class:ident, $name:literal, $restored:path): $($own:tt)*) => {
        methods! { $rows($py, $x: Instance<$class>):
            $($own)*

            /// The state as bytes.
            method state() -> "bytes" => to_py($py, PyBytes::new($py, &lock($py, &$x.0)?.state()));

            /// Restores what `state` returned.
            method set_state(state: &[u8]) alias __setstate__ -> "None" => {
                *lock($py, &$x.0)? = $restored(state)?;
                to_py($py, $py.None())
            };

            /// A generator of its own with the same state.
            method clone() -> $name => {
                let state = lock($py, &$x.0)?.clone();
                to_py($py, $class(Mutex::new(state)))
            };

            /// A copy, and a pickled generator, is a generator of its own with the same state.
            method __reduce__() -> "tuple[Any, ...]" => {
                let state = PyBytes::new($py, &lock($py, &$x.0)?.state());
                to_py($py, ($x.object.get_type(), (0,), state))
            };
        }
    };
}

// Torch7's; its state is the 5048 bytes that Torch7's getRNGState gives on x86-64.
generator_rows! { torch_rows(py, x: PyTorchGenerator, "_TorchGenerator", mersenne::torch_with_state):
    /// Starts anew with a seed, or one from the system, and returns it.
    method seed(seed: Option<Seed> = None) -> "int" => {
        let seed = seed.map_or_else(entropy, |seed| seed.0);
        *lock(py, &x.0)? = TorchGenerator::new(seed);
        to_py(py, seed)
    };

    /// The seed it was started with, from 0 to 2**64 - 1.
    method initial_seed() -> "int" => to_py(py, lock(py, &x.0)?.initial_seed());

    /// A word; from 1 to a bound; or from the first bound to the second one.
    method random(a: Option<isize> = None, b: Option<isize> = None) -> "int" => one(py, &x, random_draw(a, b));

    /// A number from the first one on, below the second one.
    method uniform(a: f64 = 0.0, b: f64 = 1.0) -> "float" => one(py, &x, TorchDraw::Uniform(a, b));

    /// A normal number.
    method normal(mean: f64 = 0.0, std: f64 = 1.0) -> "float" => one(py, &x, TorchDraw::Normal(mean, std));

    /// A number whose logarithm is normal.
    method log_normal(mean: f64 = 1.0, std: f64 = 2.0) -> "float" => one(py, &x, TorchDraw::LogNormal(mean, std));

    /// A number of the Cauchy distribution.
    method cauchy(median: f64 = 0.0, sigma: f64 = 1.0) -> "float" => one(py, &x, TorchDraw::Cauchy(median, sigma));

    /// A number of the exponential distribution.
    method exponential(rate: f64) -> "float" => one(py, &x, TorchDraw::Exponential(rate));

    /// The number of trials up to the first success; `p` is the probability of a failure.
    method geometric(p: f64) -> "int" => one(py, &x, TorchDraw::Geometric(p));

    /// 1 with probability `p`, or 0.
    method bernoulli(p: f64 = 0.5) -> "int" => one(py, &x, TorchDraw::Bernoulli(p));

    /// Fills a tensor with numbers of a distribution, which are drawn one after the other in row-major order.
    method fill(tensor: TensorArg, distribution: &str, a: Option<AnyArg> = None, b: Option<AnyArg> = None) -> "None" => {
        let (out, draw) = (Tensor::clone(&tensor), named_draw(distribution, a, b)?);
        to_py(py, with_generator(py, &x.0, out.size(), |g| mersenne::fill(&out, g, draw)).map(|()| py.None())?)
    };

    /// Fills a tensor with ones, with the probabilities that a tensor of as many elements has, and zeros.
    method bernoulli_each(tensor: TensorArg, p: TensorArg) -> "None" => {
        let (out, p) = (Tensor::clone(&tensor), Tensor::clone(&p));
        to_py(py, with_generator(py, &x.0, out.size(), |g| mersenne::fill_bernoulli(&out, g, &p)).map(|()| py.None())?)
    };

    /// The integers below `n` in random order, as int64.
    method randperm(n: isize) => wrap(py, with_generator(py, &x.0, n.max(0) as usize, |g| mersenne::permutation(n, g))?);

    /// Indices of categories, chosen by the weights along the last dim of a vector or matrix.
    method multinomial(p: TensorArg, n: isize, replacement: bool = False) => {
        let p = Tensor::clone(&p);
        let work = p.size().saturating_mul(n.max(0) as usize);
        wrap(py, with_generator(py, &x.0, work, |g| mersenne::multinomial(&p, n, replacement, g))?)
    };

    /// The tables of the alias method for a vector of weights, as multinomialAliasSetup makes them.
    method alias_setup(p: TensorArg) -> "tuple[Tensor, Tensor]" => {
        let (aliases, kept) = mersenne::alias_tables(&p)?;
        tuple_of(py, vec![aliases, kept])
    };

    /// `n` categories that are drawn by the tables of the alias method, as multinomialAliasDraw numbers them.
    method alias_draw(n: isize, J: TensorArg, q: TensorArg) => {
        let (aliases, kept) = (Tensor::clone(&J), Tensor::clone(&q));
        wrap(py, with_generator(py, &x.0, n.max(0) as usize, |g| mersenne::draw_aliases(n, &aliases, &kept, g))?)
    };
}

// That of DeepMind Lab; its state is 312 words and the number of those that were returned, little-endian.
generator_rows! { lab_rows(py, x: PyLabGenerator, "_LabGenerator", mersenne::lab_with_state):
    /// Starts anew with a seed.
    method seed(seed: Seed) -> "None" => {
        *lock(py, &x.0)? = LabGenerator::new(seed.0);
        to_py(py, py.None())
    };

    /// The next word, from 0 to 2**64 - 1.
    method next() -> "int" => to_py(py, lock(py, &x.0)?.next_word());

    /// An integer from `low` to `high`, as std::uniform_int_distribution draws it.
    method uniform_int(low: u64, high: u64) -> "int" => to_py(py, mersenne::uniform_int(&mut *lock(py, &x.0)?, low, high)?);

    /// A number from `low` on, below `high`, as std::uniform_real_distribution draws it.
    method uniform_real(low: f64, high: f64) -> "float" => to_py(py, lock(py, &x.0)?.uniform_real(low, high));

    /// A normal number: the first one of a new std::normal_distribution.
    method normal(mean: f64, std: f64) -> "float" => to_py(py, lock(py, &x.0)?.normal(mean, std));

    /// The index of a weight, as std::discrete_distribution draws it.
    method discrete(weights: Vec<f64>) -> "int" => to_py(py, mersenne::discrete(&mut *lock(py, &x.0)?, &weights)?);

    /// Shuffles the elements of a tensor of one dim.
    method shuffle(tensor: TensorArg) -> "None" => {
        let tensor = Tensor::clone(&tensor);
        to_py(py, with_generator(py, &x.0, tensor.size(), |g| mersenne::shuffle(&tensor, g)).map(|()| py.None())?)
    };
}

/// One number of a distribution.
fn one<'py>(py: Python<'py>, generator: &PyTorchGenerator, draw: TorchDraw) -> CallResult<Value<'py>> {
    number(py, mersenne::draw_number(&mut *lock(py, &generator.0)?, draw)?)
}

fn random_draw(a: Option<isize>, b: Option<isize>) -> TorchDraw {
    match (a, b) {
        (None, None) => TorchDraw::Random,
        (Some(bound), None) | (None, Some(bound)) => TorchDraw::RandomTo(bound as i64),
        (Some(low), Some(high)) => TorchDraw::RandomBetween(low as i64, high as i64),
    }
}

/// The distribution of a name. Parameters that are not given are those of Torch7's scalar functions.
fn named_draw(name: &str, a: Option<AnyArg<'_>>, b: Option<AnyArg<'_>>) -> CallResult<TorchDraw> {
    let first = |default| Ok::<f64, Fail>(given("a", a)?.unwrap_or(default));
    let second = |default| Ok::<f64, Fail>(given("b", b)?.unwrap_or(default));
    let required =
        || given("a", a)?.ok_or_else(|| Fail::Type(format!("a, the parameter of {name}, is missing")));
    Ok(match name {
        "random" => random_draw(given("a", a)?, given("b", b)?),
        "uniform" => TorchDraw::Uniform(first(0.0)?, second(1.0)?),
        "normal" => TorchDraw::Normal(first(0.0)?, second(1.0)?),
        "log_normal" => TorchDraw::LogNormal(first(1.0)?, second(2.0)?),
        "cauchy" => TorchDraw::Cauchy(first(0.0)?, second(1.0)?),
        "exponential" => TorchDraw::Exponential(required()?),
        "geometric" => TorchDraw::Geometric(required()?),
        "bernoulli" => TorchDraw::Bernoulli(first(0.5)?),
        _ => {
            return Err(Fail::Value(format!(
                "distribution is {name:?}, wanted one of random, uniform, normal, log_normal, cauchy, exponential, geometric, bernoulli"
            )));
        }
    })
}

fn given<'a, T: FromArg<'a>>(name: &'static str, value: Option<AnyArg<'a>>) -> CallResult<Option<T>> {
    value.map(|value| T::from_arg(value.0, name)).transpose()
}
