//! Releasing the interpreter lock (the GIL) while work runs, and what a fork or a signal needs to know of such work.

use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};
use strided_core::{Device, Tensor, threads};

/// From this number of elements on, other Python threads may run while we compute.
pub const MIN_DETACHED_ELEMENTS: usize = 1 << 15;

/// More work than any call on the host has. A call on a device waits, or compiles a program, however few the elements are.
pub const DEVICE_WORK: usize = usize::MAX;

/// Calls that are running while their thread is detached from the interpreter.
static DETACHED_CALLS: AtomicUsize = AtomicUsize::new(0);
/// Forks between the hook that runs before them and the one that runs after.
static PENDING_FORKS: AtomicUsize = AtomicUsize::new(0);
/// Pending forks that have waited for all detached calls to end.
static DRAINED_FORKS: AtomicUsize = AtomicUsize::new(0);

/// Imports that a fork waits for.
static IMPORTS: AtomicUsize = AtomicUsize::new(0);
/// How long a fork waits for imports. Not for ever: one may itself wait for a module that the forking thread is importing.
const IMPORT_PATIENCE: Duration = Duration::from_secs(5);

thread_local! {
    /// The detached calls of this thread: a signal handler or a finalizer may run in the middle of one, and fork.
    static CALLS_OF_THREAD: Cell<usize> = const { Cell::new(0) };
    /// The imports of this thread: a module may fork while it is imported.
    static IMPORTS_OF_THREAD: Cell<usize> = const { Cell::new(0) };
}

/// Runs an import. A fork of another thread that begins meanwhile waits for its end.
pub fn forks_wait<R>(import: impl FnOnce() -> R) -> R {
    struct EndOfImport;
    impl Drop for EndOfImport {
        fn drop(&mut self) {
            IMPORTS_OF_THREAD.set(IMPORTS_OF_THREAD.get() - 1);
            IMPORTS.fetch_sub(1, SeqCst);
        }
    }
    IMPORTS.fetch_add(1, SeqCst);
    IMPORTS_OF_THREAD.set(IMPORTS_OF_THREAD.get() + 1);
    let _end = EndOfImport; // also if it panics
    import()
}

/// Lets other Python threads run while `work` does. No fork happens meanwhile: a child would inherit the pins of such
/// work, and nothing in it would release them.
pub fn detach<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> R {
    detach_unless(&PENDING_FORKS, py, work)
}

/// [`detach`] for work that waits for other threads. They may need the interpreter to finish, so this detaches even while a
/// fork is pending, until the fork has seen them finish.
pub fn detach_to_wait<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> R {
    detach_unless(&DRAINED_FORKS, py, work)
}

/// As [`detach`] if the work is on many elements. The caller has taken its own handles on the tensors, since other threads
/// may change their objects.
pub fn detach_if_large<R: Send>(py: Python<'_>, elements: usize, work: impl FnOnce() -> R + Send) -> R {
    // One copy of the work for both cases.
    #[inline(never)]
    fn run<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
    if elements < MIN_DETACHED_ELEMENTS { run(work) } else { detach(py, || run(work)) }
}

/// The work of a call on a tensor: the number of its elements, if it is on the host.
#[inline]
pub fn work_on(x: &Tensor) -> usize {
    device_work(x.device(), x.size())
}

/// The work of a call that makes elements on a device.
#[inline]
pub fn device_work(device: Device, elements: usize) -> usize {
    if device == Device::Cpu { elements } else { DEVICE_WORK }
}

/// Reads or writes single elements of a tensor. If it is on a device, the work waits for that, so that it is detached and has a
/// handle of its own.
#[inline]
pub fn wait_for<R: Send>(py: Python<'_>, x: &Tensor, work: impl FnOnce(&Tensor) -> R + Send) -> R {
    if x.device() == Device::Cpu {
        return work(x);
    }
    let x = x.clone();
    detach(py, || work(&x))
}

/// Detaches for work that returns something.
fn detach_unless<R: Send>(forks: &AtomicUsize, py: Python<'_>, work: impl FnOnce() -> R + Send) -> R {
    let (mut work, mut result) = (Some(work), None);
    run_detached(forks, py, &mut || result = work.take().map(|work| work()));
    result.expect("the work was run, once")
}

/// Detaches and runs `work` once; runs it attached while `forks` is not 0. No other function detaches for work.
#[inline(never)]
fn run_detached(forks: &AtomicUsize, py: Python<'_>, work: &mut (dyn FnMut() + Send)) {
    if forks.load(SeqCst) > 0 {
        return work();
    }
    DETACHED_CALLS.fetch_add(1, SeqCst);
    CALLS_OF_THREAD.set(CALLS_OF_THREAD.get() + 1);
    py.detach(|| {
        struct EndOfCall;
        impl Drop for EndOfCall {
            fn drop(&mut self) {
                CALLS_OF_THREAD.set(CALLS_OF_THREAD.get() - 1);
                DETACHED_CALLS.fetch_sub(1, SeqCst);
            }
        }
        let _end = EndOfCall; // also if the work panics
        threads::interruptible_call(work)
    })
}

/// The calls that run detached now, for tests that wait until another thread's call has begun.
pub fn detached_calls() -> usize {
    DETACHED_CALLS.load(SeqCst)
}

/// The forks that have begun and not ended.
pub fn pending_forks() -> usize {
    PENDING_FORKS.load(SeqCst)
}

/// Runs before a fork: no new call detaches, and all detached calls and late imports end. The wait is detached itself, because work that
/// releases another library's memory attaches to do so. Calls of the forking thread itself, which a signal handler may
/// interrupt, are not waited for: they go on afterwards, in the child too.
#[pyfunction]
fn _before_fork(py: Python<'_>) {
    PENDING_FORKS.fetch_add(1, SeqCst);
    let own = IMPORTS_OF_THREAD.get();
    let start = Instant::now();
    while IMPORTS.load(SeqCst) > own && start.elapsed() < IMPORT_PATIENCE {
        py.detach(std::thread::yield_now);
    }
    let own = CALLS_OF_THREAD.get();
    // A call may have begun before this thread was attached again; then the wait is repeated.
    while {
        py.detach(|| {
            while DETACHED_CALLS.load(SeqCst) > own {
                std::thread::yield_now();
            }
            threads::dismiss_helpers();
        });
        DETACHED_CALLS.load(SeqCst) > own
    } {}
    DRAINED_FORKS.fetch_add(1, SeqCst);
}

#[pyfunction]
fn _after_fork_in_parent() {
    DRAINED_FORKS.fetch_sub(1, SeqCst);
    PENDING_FORKS.fetch_sub(1, SeqCst);
}

/// In the child, this thread is the only one.
#[pyfunction]
fn _after_fork_in_child() {
    PENDING_FORKS.store(0, SeqCst);
    DRAINED_FORKS.store(0, SeqCst);
    DETACHED_CALLS.store(CALLS_OF_THREAD.get(), SeqCst);
    IMPORTS.store(IMPORTS_OF_THREAD.get(), SeqCst);
    threads::reset_after_fork();
}

/// Whether a signal ends a long call: Ctrl-C, in most cases. The exception that its handler raised stays set. While the
/// interpreter shuts down, no thread can attach, and no handler runs.
fn interrupted() -> bool {
    let check = |py: Python<'_>| match py.check_signals() {
        Ok(()) => false,
        Err(error) => {
            error.restore(py);
            true
        }
    };
    Python::try_attach(check).unwrap_or(false)
}

/// Registers the hooks above with Python and the engine.
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
