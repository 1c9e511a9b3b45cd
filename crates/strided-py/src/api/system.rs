//! Settings of the engine: threads and memory.

use crate::abi::Value;
use crate::abi::detach::{detach, detached_calls, pending_forks};
use crate::abi::errors::{CallResult, Fail};
use crate::abi::refs::to_py;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use strided_core::backend::products;
use strided_core::{alloc, cpu, threads};

methods! { rows(py):
    /// The number of threads that compute: the one that was set, or `STRIDED_NUM_THREADS`, or `OMP_NUM_THREADS`, or the
    /// number of CPUs that affinity and control groups leave to this process.
    ///
    /// >>> strided.set_num_threads(2)
    /// >>> strided.get_num_threads()
    /// 2
    function get_num_threads() -> "int" => to_py(py, threads::limit());

    /// Sets the number of threads that compute, including the caller's. Results do not depend on it.
    ///
    /// >>> strided.set_num_threads(1)
    /// >>> strided.get_num_threads()
    /// 1
    function set_num_threads(num_threads: isize) -> "None" => {
        threads::set_limit(num_threads)?;
        to_py(py, py.None())
    };

    /// How the module was built and what it runs on: the system, the build, the instruction set and the kind of kernels.
    ///
    /// >>> sorted(strided._strided._build_info())
    /// ['build', 'instructions', 'kernels', 'system']
    function _build_info() -> "dict[str, str]" => build_info(py);

    /// The result of `strided.memory.stats`.
    function _memory_stats() -> "dict[str, int]" => stats(py);

    /// Computes rounds of multiply-adds of float32 or float64 in registers, on the calling thread, and returns their number:
    /// the peak that benchmarks compare products with.
    function _multiply_adds(rounds: isize, double: bool = False) -> "int" => {
        to_py(py, detach(py, || products::multiply_adds(rounds.max(0) as usize, double)))
    };

    /// The work of `strided.memory.trim`.
    function _memory_trim() -> "int" => to_py(py, detach(py, || alloc::trim(0)));

    /// Returns and sets the limit of `strided.memory.limit`.
    function _memory_limit(bytes: Option<isize> = None) -> "int" => {
        if let Some(bytes) = bytes {
            let bytes = usize::try_from(bytes)
                .map_err(|_| Fail::Value(format!("limit: bytes is {bytes}, wanted 0 or more")))?;
            detach(py, || alloc::set_limit(bytes));
        }
        to_py(py, alloc::limit())
    };

    /// For tests: the number of calls that run while their thread is detached from the interpreter.
    function _detached_calls() -> "int" => to_py(py, detached_calls());

    /// For tests: the number of forks that wait for such calls to end, or are under way.
    function _pending_forks() -> "int" => to_py(py, pending_forks());
}

fn build_info(py: Python<'_>) -> CallResult<Value<'_>> {
    let dict = PyDict::new(py);
    for (name, value) in [
        ("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
        ("build", if cfg!(debug_assertions) { "with checks" } else { "release" }.into()),
        ("instructions", cpu::level().name().into()),
        ("kernels", if cpu::reference_kernels() { "reference" } else { "fast" }.into()),
    ] {
        dict.set_item(name, value)?;
    }
    Ok(dict.into_any())
}

fn stats(py: Python<'_>) -> CallResult<Value<'_>> {
    let stats = alloc::stats();
    let dict = PyDict::new(py);
    for (name, value) in [
        ("in_use", stats.in_use),
        ("blocks", stats.blocks),
        ("peak", stats.peak),
        ("cached", stats.cached),
        ("cached_blocks", stats.cached_blocks),
        ("hits", stats.hits),
        ("misses", stats.misses),
        ("limit", stats.limit),
    ] {
        dict.set_item(name, value)?;
    }
    Ok(dict.into_any())
}
