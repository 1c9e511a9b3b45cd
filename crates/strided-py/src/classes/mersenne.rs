//! The private classes of the sequential generators of Torch7 and DeepMind Lab, for the packages that offer their interfaces.
//! Their methods are rows of `api/mersenne.rs`.

use super::generator::Seed;
use crate::abi::detach::detach_if_large;
use crate::abi::errors::{CallResult, Fail, guard_pyo3};
use crate::convert::args::FromArg;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;
use strided_core::ops::mersenne::{LAB_DEFAULT_SEED, LabGenerator, TorchGenerator, entropy};
use strided_core::threads;

/// How long a thread sleeps between attempts to lock a generator.
const LOCK_INTERVAL: Duration = Duration::from_micros(50);

/// Locks a generator for one call; other Python threads run while this one waits. It is locked only by threads that are
/// attached: one that waited for the interpreter with the lock would leave a locked generator to the child of a fork. The
/// handler of a signal that interrupts a draw cannot wait for it: it runs in the middle of it.
pub fn lock<'a, G>(py: Python<'_>, generator: &'a Mutex<G>) -> CallResult<MutexGuard<'a, G>> {
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

/// Locks a generator and draws with it, detached if `elements` are many.
pub fn with_generator<G: Send, R: Send>(
    py: Python<'_>,
    generator: &Mutex<G>,
    elements: usize,
    draw: impl FnOnce(&mut G) -> strided_core::Result<R> + Send,
) -> CallResult<R> {
    let mut state = lock(py, generator)?;
    let generator = &mut *state;
    Ok(detach_if_large(py, elements, || draw(generator))?)
}

fn read_seed(seed: Option<Bound<'_, PyAny>>, default: impl FnOnce() -> u64) -> CallResult<u64> {
    seed.map_or_else(|| Ok(default()), |seed| Ok(Seed::from_arg(seed.as_borrowed(), "seed")?.0))
}

/// Torch7's generator of random numbers, THGenerator: the same numbers for the same seed and the same calls.
#[pyclass(name = "_TorchGenerator", module = "strided._strided", frozen, weakref)]
pub struct PyTorchGenerator(pub Mutex<TorchGenerator>);

#[pymethods]
impl PyTorchGenerator {
    #[new]
    #[pyo3(signature = (seed = None))]
    fn new(py: Python<'_>, seed: Option<Bound<'_, PyAny>>) -> PyResult<PyTorchGenerator> {
        let seed = guard_pyo3(py, "_TorchGenerator", || read_seed(seed, entropy))?;
        Ok(PyTorchGenerator(Mutex::new(TorchGenerator::new(seed))))
    }
}

/// DeepMind Lab's generator of random numbers: std::mt19937_64 with the distributions of libstdc++.
#[pyclass(name = "_LabGenerator", module = "strided._strided", frozen, weakref)]
pub struct PyLabGenerator(pub Mutex<LabGenerator>);

#[pymethods]
impl PyLabGenerator {
    #[new]
    #[pyo3(signature = (seed = None))]
    fn new(py: Python<'_>, seed: Option<Bound<'_, PyAny>>) -> PyResult<PyLabGenerator> {
        let seed = guard_pyo3(py, "_LabGenerator", || read_seed(seed, || LAB_DEFAULT_SEED))?;
        Ok(PyLabGenerator(Mutex::new(LabGenerator::new(seed))))
    }
}
