//! The Generator class: the state of random numbers. Its methods are rows of `api/generator.rs`.

use super::dtype::PyDevice;
use crate::abi::Arg;
use crate::abi::errors::{CallResult, Fail, guard_pyo3};
use crate::abi::late::Late;
use crate::convert::args::{FromArg, Receiver};
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::ops::Deref;
use strided_core::ops::random::{DEFAULT_SEED, Generator};
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
    pub fn with(own: Generator) -> PyGenerator {
        PyGenerator { own: Some(own) }
    }

    fn generator(&self) -> &Generator {
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
            Some(Scalar::Huge(_)) => Err(Fail::IntTooLarge),
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
        guard_pyo3(py, "Generator", || {
            // `Generator("cpu")`, as in PyTorch, where the device comes first.
            let is_device = |object: &Bound<'_, PyAny>| {
                object.is_instance_of::<PyString>() || object.is_instance_of::<PyDevice>()
            };
            let (seed, device) = match (seed, device) {
                (Some(first), None) if is_device(&first) => (None, Some(first)),
                other => other,
            };
            if let Some(device) = device {
                // The state of a generator is on the host, whichever device draws its numbers.
                Device::from_arg(device.as_borrowed(), "device")?;
            }
            let seed = seed.map_or(Ok(DEFAULT_SEED), |seed| {
                Ok::<_, Fail>(Seed::from_arg(seed.as_borrowed(), "seed")?.0)
            })?;
            Ok(PyGenerator::with(Generator::new(seed)))
        })
    }

    fn __repr__(&self) -> String {
        match self.own {
            Some(_) => format!("<strided.Generator with seed {}>", self.generator().seed()),
            None => format!("<the default strided.Generator with seed {}>", self.generator().seed()),
        }
    }
}

/// A generator argument.
pub struct GeneratorArg<'a> {
    pub object: Arg<'a>,
    cast: Borrowed<'a, 'a, PyGenerator>,
}

impl Deref for GeneratorArg<'_> {
    type Target = Generator;
    fn deref(&self) -> &Generator {
        self.cast.get().generator()
    }
}

impl<'a> FromArg<'a> for GeneratorArg<'a> {
    const WANTED: &'static str = "a Generator";
    const STUB: &'static str = "Generator";
    fn read(object: Arg<'a>) -> CallResult<Option<GeneratorArg<'a>>> {
        Ok(object.cast::<PyGenerator>().ok().map(|cast| GeneratorArg { object, cast }))
    }
}

impl<'a> Receiver<'a> for GeneratorArg<'a> {
    const CLASS: &'static str = "Generator";
}

/// The generator that was passed, or the default one.
pub fn given_or_default<'b>(generator: &'b Option<GeneratorArg<'_>>) -> &'b Generator {
    match generator {
        Some(generator) => generator,
        None => Generator::default_one(),
    }
}

/// The object `strided.default_generator`.
pub fn default_object(py: Python<'_>) -> PyResult<Bound<'_, PyGenerator>> {
    static OBJECT: Late<Py<PyGenerator>> = Late::new();
    let object = OBJECT.get_or_make(py, || Py::new(py, PyGenerator { own: None }))?;
    Ok(object.bind(py).clone())
}
