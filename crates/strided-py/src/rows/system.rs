//! Settings of the engine: threads and memory.

use crate::abi::Object;
use crate::abi::detach::detached;
use crate::abi::errors::{Fail, Result};
use crate::abi::refs::give;
use crate::convert::args::TensorArg;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use strided_core::{alloc, threads};

methods! { rows(py, x: TensorArg):
    /// How many threads compute: as set, else `STRIDED_NUM_THREADS`, else `OMP_NUM_THREADS`, else as many as
    /// the CPUs that affinity and control groups leave to this process.
    ///
    /// >>> strided.set_num_threads(2)
    /// >>> strided.get_num_threads()
    /// 2
    function get_num_threads() -> "int" => give(py, threads::limit());

    /// Sets how many threads compute from now on, the caller's among them. Results do not depend on it.
    ///
    /// >>> strided.set_num_threads(1)
    /// >>> strided.get_num_threads()
    /// 1
    function set_num_threads(num_threads: isize) -> "None" => {
        threads::set_limit(num_threads)?;
        give(py, py.None())
    };

    /// What `strided.memory.stats` gives.
    function _memory_stats() -> "dict[str, int]" => stats(py);

    /// What `strided.memory.trim` does.
    function _memory_trim() -> "int" => give(py, detached(py, || alloc::trim(0)));

    /// What `strided.memory.limit` gives and sets.
    function _memory_limit(bytes: Option<isize> = None) -> "int" => {
        if let Some(bytes) = bytes {
            let bytes = usize::try_from(bytes)
                .map_err(|_| Fail::Value(format!("limit: bytes is {bytes}, wanted 0 or more")))?;
            detached(py, || alloc::set_limit(bytes));
        }
        give(py, alloc::limit())
    };
}

fn stats(py: Python<'_>) -> Result<Object> {
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
    Ok(dict.into_any().into_ptr())
}
