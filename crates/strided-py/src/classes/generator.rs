//! The Generator class: the state of random numbers.

use super::dtype::{PyDevice, check_device};
use crate::abi::Arg;
use crate::abi::errors::{CallResult, Fail, named};
use crate::abi::late::Late;
use crate::abi::tensor_object::wrap;
use crate::convert::args::{FromArg, TensorArg};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use strided_core::ops::random::{DEFAULT_SEED, Generator, set_state, state};
use strided_core::{Device, Scalar};

/// A generator of random numbers, which every function and method that draws takes as `generator=`.
///
/// The numbers are those of Philox 4x32-10: a function of the seed and of a counter, by which each call is ahead of the one
/// before it. So the same seed and the same calls give the same numbers, for any number of threads and any layout of the
/// tensors. Without a seed it is the fixed one of PyTorch.
///
/// Several threads may draw from one generator: no number is drawn twice. A process that is forked has a copy of the state,
/// so that both draw the same numbers: seed one of them, or pass each a generator of `split`.
///
/// >>> g = strided.Generator(7)
/// >>> strided.rand(3, generator=g).equal(strided.rand(3, generator=strided.Generator(7)))
/// True
#[pyclass(name = "Generator", module = "strided", frozen, weakref, subclass)]
pub struct PyGenerator {
    /// `None` is the default generator.
    own: Option<Generator>,
}

impl PyGenerator {
    fn get(&self) -> &Generator {
        match &self.own {
            Some(own) => own,
            None => Generator::default_one(),
        }
    }
}

/// A seed: an int of 64 bits; negative ones count from 2**64 down.
pub struct Seed(pub u64);

impl<'a> FromArg<'a> for Seed {
    const WANTED: &'static str = "an int";
    const STUB: &'static str = "SupportsIndex";
    fn read(object: Arg<'a>) -> CallResult<Option<Seed>> {
        match Scalar::read(object)? {
            Some(Scalar::Int(seed)) => Ok(Some(Seed(seed as u64))),
            Some(Scalar::Huge(_)) => Err(Fail::Beyond),
            _ => Ok(None),
        }
    }
}

#[pymethods]
impl PyGenerator {
    #[new]
    #[pyo3(signature = (seed = None, device = None))]
    fn new(
        py: Python<'_>,
        seed: Option<Bound<'_, PyAny>>,
        device: Option<Bound<'_, PyAny>>,
    ) -> PyResult<PyGenerator> {
        named(py, "Generator", || {
            // `Generator("cpu")`, as in PyTorch, where the device comes first.
            let is_device = |object: &Bound<'_, PyAny>| {
                object.is_instance_of::<PyString>() || object.is_instance_of::<PyDevice>()
            };
            let (seed, device) = match (seed, device) {
                (Some(first), None) if is_device(&first) => (None, Some(first)),
                other => other,
            };
            if let Some(device) = device {
                check_device(device.as_borrowed())?;
            }
            let seed = seed.map_or(Ok(DEFAULT_SEED), |seed| {
                Ok::<_, Fail>(Seed::from_arg(seed.as_borrowed(), "seed")?.0)
            })?;
            Ok(PyGenerator { own: Some(Generator::new(seed)) })
        })
    }

    /// Starts anew with a seed, and returns the generator.
    ///
    /// >>> g = strided.Generator()
    /// >>> g.manual_seed(5).initial_seed()
    /// 5
    fn manual_seed<'py>(this: Bound<'py, Self>, seed: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let seed = named(this.py(), "manual_seed", || Seed::from_arg(seed.as_borrowed(), "seed"))?;
        this.get().get().set_seed(seed.0);
        Ok(this)
    }

    /// Starts anew with a seed from the system, and returns that.
    ///
    /// >>> g = strided.Generator()
    /// >>> g.seed() == g.initial_seed()
    /// True
    fn seed(&self) -> u64 {
        self.get().seed_from_entropy()
    }

    /// The seed it was started with.
    ///
    /// >>> strided.Generator(3).initial_seed()
    /// 3
    fn initial_seed(&self) -> u64 {
        self.get().seed()
    }

    /// The state as a uint8 tensor, for `set_state`.
    ///
    /// >>> g = strided.Generator(3)
    /// >>> state = g.get_state()
    /// >>> x = strided.rand(2, generator=g)
    /// >>> g.set_state(state)
    /// >>> strided.rand(2, generator=g).equal(x)
    /// True
    fn get_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        named(py, "get_state", || wrap(py, state(self.get())?))
    }

    /// Restores a state that `get_state` returned.
    ///
    /// >>> g, h = strided.Generator(3), strided.Generator()
    /// >>> h.set_state(g.get_state())
    /// >>> h.initial_seed()
    /// 3
    fn set_state(&self, py: Python<'_>, new_state: &Bound<'_, PyAny>) -> PyResult<()> {
        named(py, "set_state", || {
            let new_state = TensorArg::from_arg(new_state.as_borrowed(), "new_state")?;
            Ok(set_state(self.get(), &new_state)?)
        })
    }

    /// Several generators whose numbers are independent of each other's and of this one's, for threads and processes.
    /// Their seeds are drawn from this generator: it returns others the next time.
    ///
    /// >>> a, b = strided.Generator(3).split(2)
    /// >>> strided.rand(2, generator=a).equal(strided.rand(2, generator=b))
    /// False
    fn split<'py>(&self, py: Python<'py>, n: isize) -> PyResult<Bound<'py, PyTuple>> {
        if n < 0 {
            return named(py, "split", || Err(Fail::Value(format!("n is {n}, wanted 0 or more"))));
        }
        let generators = (0..n)
            .map(|_| Bound::new(py, PyGenerator { own: Some(self.get().split()) }))
            .collect::<PyResult<Vec<_>>>()?;
        PyTuple::new(py, generators)
    }

    /// NumPy's name of `split`.
    ///
    /// >>> len(strided.Generator(3).spawn(4))
    /// 4
    fn spawn<'py>(&self, py: Python<'py>, n: isize) -> PyResult<Bound<'py, PyTuple>> {
        self.split(py, n)
    }

    /// The device of the numbers it draws.
    ///
    /// >>> strided.Generator().device
    /// device(type='cpu')
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(Device::Cpu)
    }

    fn __repr__(&self) -> String {
        match self.own {
            Some(_) => format!("<strided.Generator with seed {}>", self.get().seed()),
            None => format!("<the default strided.Generator with seed {}>", self.get().seed()),
        }
    }

    /// A copy, and a pickled generator, is a generator of its own with the same state.
    fn __reduce__<'py>(this: Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = this.py();
        let state = PyBytes::new(py, &this.get().get().state());
        (this.get_type(), PyTuple::empty(py), state).into_pyobject(py)
    }

    fn __setstate__(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        named(py, "__setstate__", || Ok(self.get().set_state(state)?))
    }
}

/// A generator argument.
pub struct GeneratorArg<'a>(Borrowed<'a, 'a, PyGenerator>);

impl<'a> FromArg<'a> for GeneratorArg<'a> {
    const WANTED: &'static str = "a Generator";
    const STUB: &'static str = "Generator";
    fn read(object: Arg<'a>) -> CallResult<Option<GeneratorArg<'a>>> {
        Ok(object.cast::<PyGenerator>().ok().map(GeneratorArg))
    }
}

/// The generator that was passed, or the default one.
pub fn given_or_default<'b>(generator: &'b Option<GeneratorArg<'_>>) -> &'b Generator {
    match generator {
        Some(generator) => generator.0.get().get(),
        None => Generator::default_one(),
    }
}

/// The object `strided.default_generator`.
pub fn default_object(py: Python<'_>) -> PyResult<Bound<'_, PyGenerator>> {
    static OBJECT: Late<Py<PyGenerator>> = Late::new();
    let object = OBJECT.get_or_make(py, || Py::new(py, PyGenerator { own: None }))?;
    Ok(object.bind(py).clone())
}

/// The signatures of the methods.
pub const SIGNATURES: &[(&str, &[&str])] = &[
    (
        "__new__",
        &[
            "(seed: SupportsIndex | None = None, device: _DeviceLike | None = None) -> Self",
            "(device: _DeviceLike) -> Self",
        ],
    ),
    ("manual_seed", &["(seed: SupportsIndex) -> Self"]),
    ("seed", &["() -> int"]),
    ("initial_seed", &["() -> int"]),
    ("get_state", &["() -> Tensor"]),
    ("set_state", &["(new_state: Tensor) -> None"]),
    ("__setstate__", &["(state: bytes, /) -> None"]),
    ("split", &["(n: SupportsIndex) -> tuple[Generator, ...]"]),
    ("spawn", &["(n: SupportsIndex) -> tuple[Generator, ...]"]),
];

/// Adds the class and the default generator.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyGenerator>()?;
    module.add("default_generator", default_object(module.py())?)
}
