//! The one map from the engine's errors to Python's exceptions.

use pyo3::exceptions::*;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple, PyType};
use strided_core::error::{Error, Family, Problem};

/// Why a call failed, before it is known under which name the caller called.
pub enum Fail {
    Core(Error),
    /// An exception of its own.
    Python(PyErr),
    /// An argument of a type that the call does not take.
    Type(String),
    /// An argument of the right type whose value is no good.
    Value(String),
    Index(String),
    /// Memory that cannot be used as asked.
    Storage(String),
    /// An int beyond the machine's integers; whoever knows the argument's name says so.
    Beyond,
    Overflow(String),
}

pub type Result<T> = std::result::Result<T, Fail>;

impl From<Error> for Fail {
    fn from(error: Error) -> Fail {
        Fail::Core(error)
    }
}

impl From<PyErr> for Fail {
    fn from(error: PyErr) -> Fail {
        Fail::Python(error)
    }
}

impl Fail {
    /// The exception that Python has set already.
    #[cold]
    pub fn set(py: Python<'_>) -> Fail {
        Fail::Python(PyErr::fetch(py))
    }

    /// The exception under the name of the operation that was called.
    #[cold]
    pub fn into_exception(self, py: Python<'_>, op: &'static str) -> PyErr {
        let named = |text: String| if op.is_empty() { text } else { format!("{op}: {text}") };
        match self {
            Fail::Python(error) => error,
            Fail::Core(error) => core_exception(py, if op.is_empty() { error } else { error.named(op) }),
            Fail::Type(text) => PyTypeError::new_err(named(text)),
            Fail::Value(text) => from_class(own_class(py, "ArgumentError"), named(text)),
            Fail::Index(text) => PyIndexError::new_err(named(text)),
            Fail::Storage(text) => from_class(own_class(py, "StorageError"), named(text)),
            Fail::Beyond => PyOverflowError::new_err(named("an int is beyond 64 bits".into())),
            Fail::Overflow(text) => PyOverflowError::new_err(named(text)),
        }
    }
}

fn core_exception(py: Python<'_>, error: Error) -> PyErr {
    let text = error.to_string();
    match error.family() {
        Family::Argument => from_class(own_class(py, "ArgumentError"), text),
        Family::Shape => from_class(own_class(py, "ShapeError"), text),
        Family::DType => from_class(own_class(py, "DTypeError"), text),
        Family::Storage => from_class(own_class(py, "StorageError"), text),
        Family::Index => PyIndexError::new_err(text),
        Family::Overflow => PyOverflowError::new_err(text),
        Family::ZeroDivision => PyZeroDivisionError::new_err(text),
        Family::Memory => PyMemoryError::new_err(text),
        // Whoever asked for the interruption has raised it already.
        Family::Interrupt => PyErr::take(py).unwrap_or_else(|| PyKeyboardInterrupt::new_err(text)),
        Family::System => system_exception(py, &error).unwrap_or_else(|error| error),
    }
}

/// OSError makes the subclass of the system's number, such as FileNotFoundError.
fn system_exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let Problem::System { path, code } = &*error.problem else {
        return Ok(PyOSError::new_err(error.to_string()));
    };
    let reason = py.import("os")?.call_method1("strerror", (code,))?;
    let path = (!path.as_os_str().is_empty()).then_some(path.as_os_str());
    // Windows has numbers of its own, which come fourth.
    let made = if cfg!(windows) {
        py.get_type::<PyOSError>().call1((0, reason, path, code))?
    } else {
        py.get_type::<PyOSError>().call1((code, reason, path))?
    };
    Ok(PyErr::from_value(made))
}

fn from_class(class: PyResult<Bound<'_, PyAny>>, text: String) -> PyErr {
    match class.and_then(|class| class.call1((text,))) {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

/// Our own exception classes: name, bases, documentation. A caller may catch what PyTorch, NumPy or
/// Python's buffers would raise.
const CLASSES: &[(&str, &[&str], &str)] = &[
    (
        "ArgumentError",
        &["ValueError", "RuntimeError"],
        "An argument of the right type whose value an operation does not take.\n\n\
         >>> strided.tensor([2, 3]) ** -1\n\
         Traceback (most recent call last):\n\
         strided.ArgumentError: pow: exponent is a negative integer, wanted 0 or more",
    ),
    (
        "ShapeError",
        &["ValueError", "RuntimeError"],
        "Sizes, strides or dims that do not fit each other.\n\n\
         >>> strided.zeros(5).narrow(0, 3, 4)\n\
         Traceback (most recent call last):\n\
         strided.ShapeError: narrow: start 3 + length 4 exceeds extent 5 of dim 0 (shape 5)",
    ),
    (
        "DTypeError",
        &["TypeError", "RuntimeError"],
        "A dtype that an operation does not take or cannot make.\n\n\
         >>> strided.zeros(2, dtype=strided.int32).add_(1.5)\n\
         Traceback (most recent call last):\n\
         strided.DTypeError: add_: a float32 result cannot be stored into int32; use copy_ to cast",
    ),
    (
        "StorageError",
        &["ValueError", "RuntimeError", "BufferError"],
        "Memory that is read-only, exported or someone else's, or a file that cannot be memory.\n\n\
         >>> strided.frombuffer(b'abcd').fill_(0)\n\
         Traceback (most recent call last):\n\
         strided.StorageError: fill_: the memory is read-only",
    ),
];

fn own_class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static MADE: PyOnceLock<Vec<Py<PyAny>>> = PyOnceLock::new();
    let made =
        MADE.get_or_try_init(py, || CLASSES.iter().map(|row| make_class(py, row)).collect::<PyResult<_>>())?;
    let at = CLASSES.iter().position(|row| row.0 == name).expect("a class of the table");
    Ok(made[at].bind(py).clone())
}

fn make_class(py: Python<'_>, (name, bases, doc): &(&str, &[&str], &str)) -> PyResult<Py<PyAny>> {
    let builtins = py.import("builtins")?;
    let bases: Vec<_> = bases.iter().map(|base| builtins.getattr(*base)).collect::<PyResult<_>>()?;
    let space = pyo3::types::PyDict::new(py);
    space.set_item("__module__", "strided")?;
    space.set_item("__doc__", doc)?;
    let class = py.get_type::<PyType>().call1((PyString::new(py, name), PyTuple::new(py, bases)?, space))?;
    Ok(class.unbind())
}

/// Adds the exception classes to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for (name, ..) in CLASSES {
        module.add(*name, own_class(module.py(), name)?)?;
    }
    Ok(())
}

/// Runs the body of a slot or method: an error becomes an exception, and so does a panic.
///
/// Returns `failed` with the exception set.
#[inline(always)]
pub fn guard<R>(op: &'static str, failed: R, body: impl FnOnce(Python<'_>) -> Result<R>) -> R {
    // SAFETY: slots and methods are called by the interpreter, by a thread that is attached to it.
    let py = unsafe { Python::assume_attached() };
    match caught(body, py) {
        Ok(value) => value,
        Err(caught) => {
            attached(|py| caught.into_exception(py, op).restore(py));
            failed
        }
    }
}

/// The same for a method of a PyO3 class, which sets the exception itself.
#[inline(always)]
pub fn named<R>(py: Python<'_>, op: &'static str, body: impl FnOnce() -> Result<R>) -> PyResult<R> {
    caught(|_| body(), py).map_err(|fail| fail.into_exception(py, op))
}

/// A panic is an error of ours, not the end of the process.
#[inline(always)]
fn caught<R>(body: impl FnOnce(Python<'_>) -> Result<R>, py: Python<'_>) -> Result<R> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(py))) {
        Ok(result) => result,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown");
            Err(Fail::Python(PySystemError::new_err(format!("internal error in strided: {text}"))))
        }
    }
}

/// Runs code that may drop references through PyO3. A slot is attached without PyO3 knowing it, which is
/// cheap but makes PyO3 put off every drop until someone attaches in its own way.
#[cold]
pub fn attached<R>(body: impl FnOnce(Python<'_>) -> R) -> R {
    Python::attach(body)
}

/// The name of an object's type, for messages.
pub fn type_name(py: Python<'_>, object: *mut ffi::PyObject) -> String {
    // SAFETY: callers pass a living object.
    let object = unsafe { Borrowed::from_ptr(py, object) };
    object.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string())
}
