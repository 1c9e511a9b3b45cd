//! The private classes of the sequential generators of Torch7 and DeepMind Lab, for the packages that offer their interfaces.

use super::generator::Seed;
use crate::abi::detach::detach_if_large;
use crate::abi::errors::{CallResult, Fail, named};
use crate::abi::refs::to_py;
use crate::abi::tensor_object::wrap;
use crate::convert::args::{FromArg, TensorArg};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;
use strided_core::ops::mersenne::{self, LAB_DEFAULT_SEED, LabGenerator, TorchDraw, TorchGenerator, entropy};
use strided_core::{Scalar, Tensor, threads};

/// How long a thread sleeps between attempts to lock a generator.
const LOCK_INTERVAL: Duration = Duration::from_micros(50);

/// Locks a generator for one call; other Python threads run while this one waits. It is locked only by threads that are
/// attached: one that waited for the interpreter with the lock would leave a locked generator to the child of a fork. The
/// handler of a signal that interrupts a draw cannot wait for it: it runs in the middle of it.
fn lock<'a, G>(py: Python<'_>, generator: &'a Mutex<G>) -> CallResult<MutexGuard<'a, G>> {
    loop {
        match generator.try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(error)) => return Ok(error.into_inner()),
            Err(TryLockError::WouldBlock) if threads::in_call() => {
                let text = "the generator is in use by the draw that a signal has interrupted";
                return Err(Fail::Value(text.into()));
            }
            Err(TryLockError::WouldBlock) => py.detach(|| std::thread::sleep(LOCK_INTERVAL)),
        }
    }
}

fn read_seed(seed: &Bound<'_, PyAny>) -> CallResult<u64> {
    Ok(Seed::from_arg(seed.as_borrowed(), "seed")?.0)
}

/// A handle of its own on the tensor of an argument, for work during which other threads may change the object.
fn own_tensor(object: &Bound<'_, PyAny>, name: &'static str) -> CallResult<Tensor> {
    Ok((*TensorArg::from_arg(object.as_borrowed(), name)?).clone())
}

fn number<'py>(py: Python<'py>, value: Scalar) -> CallResult<Bound<'py, PyAny>> {
    match value {
        Scalar::Float(value) => to_py(py, value),
        Scalar::Int(value) => to_py(py, value as i64),
        other => unreachable!("{other} is no number of Torch7"),
    }
}

/// Torch7's generator of random numbers, THGenerator: the same numbers for the same seed and the same calls.
#[pyclass(name = "_TorchGenerator", module = "strided._strided", frozen, weakref)]
pub struct PyTorchGenerator {
    state: Mutex<TorchGenerator>,
}

impl PyTorchGenerator {
    fn with(state: TorchGenerator) -> PyTorchGenerator {
        PyTorchGenerator { state: Mutex::new(state) }
    }

    /// One number of a distribution.
    fn one<'py>(&self, py: Python<'py>, op: &'static str, draw: TorchDraw) -> PyResult<Bound<'py, PyAny>> {
        named(py, op, || number(py, mersenne::draw_number(&mut *lock(py, &self.state)?, draw)?))
    }

    /// A new tensor that is drawn; `elements` is the amount of work.
    fn drawn<'py>(
        &self,
        py: Python<'py>,
        elements: usize,
        draw: impl FnOnce(&mut TorchGenerator) -> strided_core::Result<Tensor> + Send,
    ) -> CallResult<Bound<'py, PyAny>> {
        let mut state = lock(py, &self.state)?;
        let generator = &mut *state;
        let tensor = detach_if_large(py, elements, || draw(generator))?;
        wrap(py, tensor)
    }
}

#[pymethods]
impl PyTorchGenerator {
    #[new]
    #[pyo3(signature = (seed = None))]
    fn new(py: Python<'_>, seed: Option<Bound<'_, PyAny>>) -> PyResult<PyTorchGenerator> {
        named(py, "_TorchGenerator", || {
            let seed = seed.as_ref().map_or_else(|| Ok(entropy()), read_seed)?;
            Ok(PyTorchGenerator::with(TorchGenerator::new(seed)))
        })
    }

    /// Starts anew with a seed, or one from the system, and returns it.
    #[pyo3(signature = (seed = None))]
    fn seed(&self, py: Python<'_>, seed: Option<Bound<'_, PyAny>>) -> PyResult<u64> {
        named(py, "seed", || {
            let seed = seed.as_ref().map_or_else(|| Ok(entropy()), read_seed)?;
            *lock(py, &self.state)? = TorchGenerator::new(seed);
            Ok(seed)
        })
    }

    /// The seed it was started with, from 0 to 2**64 - 1.
    fn initial_seed(&self, py: Python<'_>) -> PyResult<u64> {
        named(py, "initial_seed", || Ok(lock(py, &self.state)?.initial_seed()))
    }

    /// The 5048 bytes that Torch7's getRNGState gives on x86-64.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        named(py, "state", || Ok(PyBytes::new(py, &lock(py, &self.state)?.state())))
    }

    /// Restores what `state` returned.
    fn set_state(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        named(py, "set_state", || {
            *lock(py, &self.state)? = mersenne::torch_with_state(state)?;
            Ok(())
        })
    }

    /// A generator of its own with the same state.
    fn clone(&self, py: Python<'_>) -> PyResult<PyTorchGenerator> {
        named(py, "clone", || Ok(PyTorchGenerator::with(lock(py, &self.state)?.clone())))
    }

    /// A word; from 1 to a bound; or from the first bound to the second one.
    #[pyo3(signature = (a = None, b = None))]
    fn random<'py>(&self, py: Python<'py>, a: Option<i64>, b: Option<i64>) -> PyResult<Bound<'py, PyAny>> {
        self.one(py, "random", random_draw(a, b))
    }

    /// A number from the first one on, below the second one.
    #[pyo3(signature = (a = 0.0, b = 1.0))]
    fn uniform<'py>(&self, py: Python<'py>, a: f64, b: f64) -> PyResult<Bound<'py, PyAny>> {
        self.one(py, "uniform", TorchDraw::Uniform(a, b))
    }

    /// A normal number.
    #[pyo3(signature = (mean = 0.0, std = 1.0))]
    fn normal<'py>(&self, py: Python<'py>, mean: f64, std: f64) -> PyResult<Bound<'py, PyAny>> {
        self.one(py, "normal", TorchDraw::Normal(mean, std))
    }

    /// A number whose logarithm is normal.
    #[pyo3(signature = (mean = 1.0, std = 2.0))]
    fn log_normal<'py>(&self, py: Python<'py>, mean: f64, std: f64) -> PyResult<Bound<'py, PyAny>> {
        self.one(py, "log_normal", TorchDraw::LogNormal(mean, std))
    }

    /// A number of the Cauchy distribution.
    #[pyo3(signature = (median = 0.0, sigma = 1.0))]
    fn cauchy<'py>(&self, py: Python<'py>, median: f64, sigma: f64) -> PyResult<Bound<'py, PyAny>> {
        self.one(py, "cauchy", TorchDraw::Cauchy(median, sigma))
    }

    /// A number of the exponential distribution.
    fn exponential<'py>(&self, py: Python<'py>, rate: f64) -> PyResult<Bound<'py, PyAny>> {
        self.one(py, "exponential", TorchDraw::Exponential(rate))
    }

    /// The number of trials up to the first success; `p` is the probability of a failure.
    fn geometric<'py>(&self, py: Python<'py>, p: f64) -> PyResult<Bound<'py, PyAny>> {
        self.one(py, "geometric", TorchDraw::Geometric(p))
    }

    /// 1 with probability `p`, or 0.
    #[pyo3(signature = (p = 0.5))]
    fn bernoulli<'py>(&self, py: Python<'py>, p: f64) -> PyResult<Bound<'py, PyAny>> {
        self.one(py, "bernoulli", TorchDraw::Bernoulli(p))
    }

    /// Fills a tensor with numbers of a distribution, which are drawn one after the other in row-major order.
    #[pyo3(signature = (tensor, distribution, a = None, b = None))]
    fn fill(
        &self,
        py: Python<'_>,
        tensor: &Bound<'_, PyAny>,
        distribution: &str,
        a: Option<Bound<'_, PyAny>>,
        b: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        named(py, "fill", || {
            let out = own_tensor(tensor, "tensor")?;
            let draw = named_draw(distribution, a.as_ref(), b.as_ref())?;
            let mut state = lock(py, &self.state)?;
            let generator = &mut *state;
            Ok(detach_if_large(py, out.size(), || mersenne::fill(&out, generator, draw))?)
        })
    }

    /// Fills a tensor with ones, with the probabilities that a tensor of as many elements has, and zeros.
    fn bernoulli_each(
        &self,
        py: Python<'_>,
        tensor: &Bound<'_, PyAny>,
        p: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        named(py, "bernoulli_each", || {
            let (out, p) = (own_tensor(tensor, "tensor")?, own_tensor(p, "p")?);
            let mut state = lock(py, &self.state)?;
            let generator = &mut *state;
            Ok(detach_if_large(py, out.size(), || mersenne::fill_bernoulli(&out, generator, &p))?)
        })
    }

    /// The integers below `n` in random order, as int64.
    fn randperm<'py>(&self, py: Python<'py>, n: isize) -> PyResult<Bound<'py, PyAny>> {
        named(py, "randperm", || self.drawn(py, n.max(0) as usize, |g| mersenne::permutation(n, g)))
    }

    /// Indices of categories, chosen by the weights along the last dim of a vector or matrix.
    #[pyo3(signature = (p, n, replacement = false))]
    fn multinomial<'py>(
        &self,
        py: Python<'py>,
        p: &Bound<'py, PyAny>,
        n: isize,
        replacement: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        named(py, "multinomial", || {
            let p = own_tensor(p, "p")?;
            let work = p.size().saturating_mul(n.max(0) as usize);
            self.drawn(py, work, |g| mersenne::multinomial(&p, n, replacement, g))
        })
    }

    /// The tables of the alias method for a vector of weights, as multinomialAliasSetup makes them.
    #[staticmethod]
    fn alias_setup<'py>(py: Python<'py>, p: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        named(py, "alias_setup", || {
            let (aliases, kept) = mersenne::alias_tables(&own_tensor(p, "p")?)?;
            Ok(PyTuple::new(py, [wrap(py, aliases)?, wrap(py, kept)?])?)
        })
    }

    /// `n` categories that are drawn by the tables of the alias method, as multinomialAliasDraw numbers them.
    #[pyo3(signature = (n, J, q))]
    #[allow(non_snake_case)]
    fn alias_draw<'py>(
        &self,
        py: Python<'py>,
        n: isize,
        J: &Bound<'py, PyAny>,
        q: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        named(py, "alias_draw", || {
            let (aliases, kept) = (own_tensor(J, "J")?, own_tensor(q, "q")?);
            self.drawn(py, n.max(0) as usize, |g| mersenne::draw_aliases(n, &aliases, &kept, g))
        })
    }

    /// A copy, and a pickled generator, is a generator of its own with the same state.
    fn __reduce__<'py>(this: Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let state = this.get().state(this.py())?;
        (this.get_type(), (0,), state).into_pyobject(this.py())
    }

    fn __setstate__(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        self.set_state(py, state)
    }
}

fn random_draw(a: Option<i64>, b: Option<i64>) -> TorchDraw {
    match (a, b) {
        (None, None) => TorchDraw::Random,
        (Some(bound), None) | (None, Some(bound)) => TorchDraw::RandomTo(bound),
        (Some(low), Some(high)) => TorchDraw::RandomBetween(low, high),
    }
}

/// The distribution of a name. Parameters that are not given are those of Torch7's scalar functions.
fn named_draw(
    name: &str,
    a: Option<&Bound<'_, PyAny>>,
    b: Option<&Bound<'_, PyAny>>,
) -> CallResult<TorchDraw> {
    let or =
        |given: Option<&Bound<'_, PyAny>>, default: f64| given.map_or(Ok(default), |value| value.extract());
    let integer = |given: Option<&Bound<'_, PyAny>>| given.map(|value| value.extract()).transpose();
    let needed = |given: Option<&Bound<'_, PyAny>>| match given {
        Some(value) => Ok(value.extract()?),
        None => Err(Fail::Type(format!("a, the parameter of {name}, is missing"))),
    };
    Ok(match name {
        "random" => random_draw(integer(a)?, integer(b)?),
        "uniform" => TorchDraw::Uniform(or(a, 0.0)?, or(b, 1.0)?),
        "normal" => TorchDraw::Normal(or(a, 0.0)?, or(b, 1.0)?),
        "log_normal" => TorchDraw::LogNormal(or(a, 1.0)?, or(b, 2.0)?),
        "cauchy" => TorchDraw::Cauchy(or(a, 0.0)?, or(b, 1.0)?),
        "exponential" => TorchDraw::Exponential(needed(a)?),
        "geometric" => TorchDraw::Geometric(needed(a)?),
        "bernoulli" => TorchDraw::Bernoulli(or(a, 0.5)?),
        _ => {
            return Err(Fail::Value(format!(
                "distribution is {name:?}, wanted one of random, uniform, normal, log_normal, cauchy, exponential, geometric, bernoulli"
            )));
        }
    })
}

/// DeepMind Lab's generator of random numbers: std::mt19937_64 with the distributions of libstdc++.
#[pyclass(name = "_LabGenerator", module = "strided._strided", frozen, weakref)]
pub struct PyLabGenerator {
    state: Mutex<LabGenerator>,
}

impl PyLabGenerator {
    fn with(state: LabGenerator) -> PyLabGenerator {
        PyLabGenerator { state: Mutex::new(state) }
    }
}

#[pymethods]
impl PyLabGenerator {
    #[new]
    #[pyo3(signature = (seed = None))]
    fn new(py: Python<'_>, seed: Option<Bound<'_, PyAny>>) -> PyResult<PyLabGenerator> {
        named(py, "_LabGenerator", || {
            let seed = seed.as_ref().map_or(Ok(LAB_DEFAULT_SEED), read_seed)?;
            Ok(PyLabGenerator::with(LabGenerator::new(seed)))
        })
    }

    /// Starts anew with a seed.
    fn seed(&self, py: Python<'_>, seed: &Bound<'_, PyAny>) -> PyResult<()> {
        named(py, "seed", || {
            *lock(py, &self.state)? = LabGenerator::new(read_seed(seed)?);
            Ok(())
        })
    }

    /// The next word, from 0 to 2**64 - 1.
    fn next(&self, py: Python<'_>) -> PyResult<u64> {
        named(py, "next", || Ok(lock(py, &self.state)?.next_word()))
    }

    /// An integer from `low` to `high`, as std::uniform_int_distribution draws it.
    fn uniform_int(&self, py: Python<'_>, low: u64, high: u64) -> PyResult<u64> {
        named(py, "uniform_int", || Ok(mersenne::uniform_int(&mut *lock(py, &self.state)?, low, high)?))
    }

    /// A number from `low` on, below `high`, as std::uniform_real_distribution draws it.
    fn uniform_real(&self, py: Python<'_>, low: f64, high: f64) -> PyResult<f64> {
        named(py, "uniform_real", || Ok(lock(py, &self.state)?.uniform_real(low, high)))
    }

    /// A normal number: the first one of a new std::normal_distribution.
    fn normal(&self, py: Python<'_>, mean: f64, std: f64) -> PyResult<f64> {
        named(py, "normal", || Ok(lock(py, &self.state)?.normal(mean, std)))
    }

    /// The index of a weight, as std::discrete_distribution draws it.
    fn discrete(&self, py: Python<'_>, weights: Vec<f64>) -> PyResult<usize> {
        named(py, "discrete", || Ok(mersenne::discrete(&mut *lock(py, &self.state)?, &weights)?))
    }

    /// Shuffles the elements of a tensor of one dim.
    fn shuffle(&self, py: Python<'_>, tensor: &Bound<'_, PyAny>) -> PyResult<()> {
        named(py, "shuffle", || {
            let x = own_tensor(tensor, "tensor")?;
            let mut state = lock(py, &self.state)?;
            let generator = &mut *state;
            Ok(detach_if_large(py, x.size(), || mersenne::shuffle(&x, generator))?)
        })
    }

    /// The state as bytes: 312 words and the number of those that were returned, little-endian.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        named(py, "state", || Ok(PyBytes::new(py, &lock(py, &self.state)?.state())))
    }

    /// Restores what `state` returned.
    fn set_state(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        named(py, "set_state", || {
            *lock(py, &self.state)? = mersenne::lab_with_state(state)?;
            Ok(())
        })
    }

    /// A generator of its own with the same state.
    fn clone(&self, py: Python<'_>) -> PyResult<PyLabGenerator> {
        named(py, "clone", || Ok(PyLabGenerator::with(lock(py, &self.state)?.clone())))
    }

    /// A copy, and a pickled generator, is a generator of its own with the same state.
    fn __reduce__<'py>(this: Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let state = this.get().state(this.py())?;
        (this.get_type(), (0,), state).into_pyobject(this.py())
    }

    fn __setstate__(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        self.set_state(py, state)
    }
}

/// The signatures of the methods.
pub const TORCH_SIGNATURES: &[(&str, &[&str])] = &[
    ("__new__", &["(seed: SupportsIndex | None = None) -> Self"]),
    ("seed", &["(seed: SupportsIndex | None = None) -> int"]),
    ("initial_seed", &["() -> int"]),
    ("state", &["() -> bytes"]),
    ("set_state", &["(state: bytes) -> None"]),
    ("__setstate__", &["(state: bytes, /) -> None"]),
    ("clone", &["() -> _TorchGenerator"]),
    ("random", &["(a: SupportsIndex | None = None, b: SupportsIndex | None = None) -> int"]),
    ("uniform", &["(a: SupportsFloat = 0.0, b: SupportsFloat = 1.0) -> float"]),
    ("normal", &["(mean: SupportsFloat = 0.0, std: SupportsFloat = 1.0) -> float"]),
    ("log_normal", &["(mean: SupportsFloat = 1.0, std: SupportsFloat = 2.0) -> float"]),
    ("cauchy", &["(median: SupportsFloat = 0.0, sigma: SupportsFloat = 1.0) -> float"]),
    ("exponential", &["(rate: SupportsFloat) -> float"]),
    ("geometric", &["(p: SupportsFloat) -> int"]),
    ("bernoulli", &["(p: SupportsFloat = 0.5) -> int"]),
    (
        "fill",
        &[
            "(tensor: Tensor, distribution: str, a: SupportsFloat | None = None, b: SupportsFloat | None = None) -> None",
        ],
    ),
    ("bernoulli_each", &["(tensor: Tensor, p: Tensor) -> None"]),
    ("randperm", &["(n: SupportsIndex) -> Tensor"]),
    ("multinomial", &["(p: Tensor, n: SupportsIndex, replacement: bool = False) -> Tensor"]),
    ("alias_setup", &["(p: Tensor) -> tuple[Tensor, Tensor]"]),
    ("alias_draw", &["(n: SupportsIndex, J: Tensor, q: Tensor) -> Tensor"]),
];
pub const LAB_SIGNATURES: &[(&str, &[&str])] = &[
    ("__new__", &["(seed: SupportsIndex | None = None) -> Self"]),
    ("seed", &["(seed: SupportsIndex) -> None"]),
    ("next", &["() -> int"]),
    ("uniform_int", &["(low: SupportsIndex, high: SupportsIndex) -> int"]),
    ("uniform_real", &["(low: SupportsFloat, high: SupportsFloat) -> float"]),
    ("normal", &["(mean: SupportsFloat, std: SupportsFloat) -> float"]),
    ("discrete", &["(weights: Sequence[SupportsFloat]) -> int"]),
    ("shuffle", &["(tensor: Tensor) -> None"]),
    ("state", &["() -> bytes"]),
    ("set_state", &["(state: bytes) -> None"]),
    ("__setstate__", &["(state: bytes, /) -> None"]),
    ("clone", &["() -> _LabGenerator"]),
];

/// Adds the classes.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyTorchGenerator>()?;
    module.add_class::<PyLabGenerator>()
}
