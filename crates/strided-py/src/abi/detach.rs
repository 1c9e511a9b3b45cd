//! Letting go of the interpreter while work runs, and what a fork or a signal must know of it.

use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use strided_core::threads;

/// From so many elements on, other Python threads may run while we compute.
pub const LARGE: usize = 1 << 15;

/// Work that runs while its thread is not attached to the interpreter, forks that are under way, and those of them
/// that have seen the end of such work.
static DETACHED: AtomicUsize = AtomicUsize::new(0);
static FORKS: AtomicUsize = AtomicUsize::new(0);
static SETTLED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The detached work of this thread: a signal handler, or a finalizer, may run in the middle of it, and fork.
    static OWN: Cell<usize> = const { Cell::new(0) };
}

/// Lets other Python threads run meanwhile. A fork must not happen in the middle of such work, whose pins the child
/// would inherit with nobody to let go of them.
pub fn detached<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> R {
    detached_unless(&FORKS, py, work)
}

/// As [`detached`], for work that waits for that of others: a fork waits for them too, and they may need the
/// interpreter to come to their end.
pub fn waiting<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> R {
    detached_unless(&SETTLED, py, work)
}

/// The only place that lets go of the interpreter for work.
fn detached_unless<R: Send>(forks: &AtomicUsize, py: Python<'_>, work: impl FnOnce() -> R + Send) -> R {
    if forks.load(SeqCst) > 0 {
        return work();
    }
    DETACHED.fetch_add(1, SeqCst);
    OWN.set(OWN.get() + 1);
    py.detach(|| {
        struct Done;
        impl Drop for Done {
            fn drop(&mut self) {
                OWN.set(OWN.get() - 1);
                DETACHED.fetch_sub(1, SeqCst);
            }
        }
        let _done = Done; // also if the work panics
        threads::interruptible_call(work)
    })
}

/// Before a fork: nothing new is detached, and what is runs to its end. The wait is detached itself, because
/// work that lets go of someone else's memory attaches to do so. What this very thread is in the middle of goes on
/// afterwards, in the child as well.
#[pyfunction]
fn _before_fork(py: Python<'_>) {
    FORKS.fetch_add(1, SeqCst);
    let own = OWN.get();
    // Once more if something began before we were attached again; afterwards nothing does.
    while {
        py.detach(|| {
            while DETACHED.load(SeqCst) > own {
                std::thread::yield_now();
            }
            threads::dismiss_helpers();
        });
        DETACHED.load(SeqCst) > own
    } {}
    SETTLED.fetch_add(1, SeqCst);
}

#[pyfunction]
fn _after_fork_in_parent() {
    SETTLED.fetch_sub(1, SeqCst);
    FORKS.fetch_sub(1, SeqCst);
}

/// In the child there is one thread, and it is here.
#[pyfunction]
fn _after_fork_in_child() {
    FORKS.store(0, SeqCst);
    SETTLED.store(0, SeqCst);
    DETACHED.store(OWN.get(), SeqCst);
    threads::reset_after_fork();
}

/// Whether a signal asks a long call to end: Ctrl-C, in most cases. What its handler raised stays raised.
fn interrupted() -> bool {
    Python::attach(|py| match py.check_signals() {
        Ok(()) => false,
        Err(error) => {
            error.restore(py);
            true
        }
    })
}

/// Has Python call the functions above.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    threads::set_interrupt_check(interrupted);
    let os = module.py().import("os")?;
    if os.hasattr("register_at_fork")? {
        let hooks = pyo3::types::PyDict::new(module.py());
        hooks.set_item("before", wrap_pyfunction!(_before_fork, module)?)?;
        hooks.set_item("after_in_parent", wrap_pyfunction!(_after_fork_in_parent, module)?)?;
        hooks.set_item("after_in_child", wrap_pyfunction!(_after_fork_in_child, module)?)?;
        os.call_method("register_at_fork", (), Some(&hooks))?;
    }
    Ok(())
}

/// Computes, detached if the work is large, with tensors that nobody else can change.
pub fn with_threads<R: Send>(py: Python<'_>, size: usize, work: impl FnOnce() -> R + Send) -> R {
    if size < LARGE { work() } else { detached(py, work) }
}
