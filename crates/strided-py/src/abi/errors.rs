//! The map from the engine's errors and panics to Python's exceptions.

use super::late::Late;
use super::{Arg, Object, Value};
use pyo3::exceptions::*;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};
use std::any::Any;
use std::ptr::null_mut;
use strided_core::error::{Error, Family, Problem};

/// Why a call failed, before the name of the operation is known.
pub enum Fail {
    Core(Error),
    /// An exception that Python, or code of ours that knows the operation, has made.
    Python(PyErr),
    /// An argument of a type that the call does not take: TypeError.
    Type(String),
    /// An argument of the right type with a value that the call does not take: ArgumentError.
    Value(String),
    /// IndexError
    Index(String),
    /// Memory that cannot be used in this way: StorageError.
    Storage(String),
    /// An int beyond 64 bits. A caller that knows the argument's name turns it into an `Overflow`.
    IntTooLarge,
    /// OverflowError
    Overflow(String),
}

/// The result of everything that a call does.
pub type CallResult<T> = std::result::Result<T, Fail>;

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
    /// The exception that Python code, or the C interface, has raised.
    #[cold]
    pub fn raised(py: Python<'_>) -> Fail {
        Fail::Python(PyErr::fetch(py))
    }

    /// The exception, whose message begins with the name of the operation.
    #[cold]
    pub fn into_exception(self, py: Python<'_>, op: &str) -> PyErr {
        let named = |text: String| if op.is_empty() { text } else { format!("{op}: {text}") };
        match self {
            Fail::Python(error) => error,
            Fail::Core(error) => core_exception(py, error, op),
            Fail::Type(text) => PyTypeError::new_err(named(text)),
            Fail::Value(text) => from_class(own_class(py, "ArgumentError"), named(text)),
            Fail::Index(text) => PyIndexError::new_err(named(text)),
            Fail::Storage(text) => from_class(own_class(py, "StorageError"), named(text)),
            Fail::IntTooLarge => PyOverflowError::new_err(named("an int is beyond 64 bits".into())),
            Fail::Overflow(text) => PyOverflowError::new_err(named(text)),
        }
    }

    /// The failure of a constructor, under the name of the class that was called: `FloatTensor`.
    #[cold]
    pub fn of_class(self, class: Arg<'_>) -> Fail {
        attached(class.py(), |py| {
            let name = class.cast::<PyType>().ok().and_then(|class| class.name().ok());
            let name = name.map_or_else(|| "class".into(), |name| name.to_string());
            Fail::Python(self.into_exception(py, &name))
        })
    }
}

fn core_exception(py: Python<'_>, error: Error, op: &str) -> PyErr {
    let text = if op.is_empty() { error.to_string() } else { error.message(op) };
    match error.family() {
        Family::Argument => from_class(own_class(py, "ArgumentError"), text),
        Family::Shape => from_class(own_class(py, "ShapeError"), text),
        Family::DType => from_class(own_class(py, "DTypeError"), text),
        Family::Storage => from_class(own_class(py, "StorageError"), text),
        Family::Device => from_class(own_class(py, "DeviceError"), text),
        Family::Index => PyIndexError::new_err(text),
        Family::Overflow => PyOverflowError::new_err(text),
        Family::ZeroDivision => PyZeroDivisionError::new_err(text),
        Family::DeviceMemory => from_class(own_class(py, "OutOfMemoryError"), text),
        Family::Memory => PyMemoryError::new_err(text),
        // The signal handler has raised its exception already.
        Family::Interrupt => PyErr::take(py).unwrap_or_else(|| PyKeyboardInterrupt::new_err(text)),
        Family::Format => format_exception(py, &error, text).unwrap_or_else(|error| error),
        Family::System => system_exception(py, &error, text).unwrap_or_else(|error| error),
    }
}

/// Calling OSError with an error number makes its subclass, such as FileNotFoundError.
fn system_exception(py: Python<'_>, error: &Error, text: String) -> PyResult<PyErr> {
    let Problem::System { path, code } = &*error.problem else {
        return Ok(PyOSError::new_err(text));
    };
    let reason = py.import("os")?.call_method1("strerror", (code,))?;
    let path = (!path.as_os_str().is_empty()).then_some(path.as_os_str());
    // Numbers of Windows are the fourth argument.
    let made = if cfg!(windows) {
        py.get_type::<PyOSError>().call1((0, reason, path, code))?
    } else {
        py.get_type::<PyOSError>().call1((code, reason, path))?
    };
    Ok(PyErr::from_value(made))
}

/// A FormatError with the parts of its message as attributes.
fn format_exception(py: Python<'_>, error: &Error, text: String) -> PyResult<PyErr> {
    let made = own_class(py, "FormatError")?.call1((text,))?;
    if let Problem::Format { file, offset, reason } = &*error.problem {
        made.setattr("file", file)?;
        made.setattr("offset", *offset)?;
        made.setattr("reason", reason)?;
    }
    Ok(PyErr::from_value(made))
}

fn from_class(class: PyResult<Bound<'_, PyAny>>, text: String) -> PyErr {
    match class.and_then(|class| class.call1((text,))) {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

/// Our own exception classes: name, bases, documentation. The bases are what PyTorch, NumPy or Python's buffers would
/// raise, so that code written for them catches ours.
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
        "Memory that is read-only, exported, invalidated or owned by another library, or a file that cannot be mapped.\n\n\
         >>> strided.frombuffer(b'abcd').fill_(0)\n\
         Traceback (most recent call last):\n\
         strided.StorageError: fill_: the memory is read-only",
    ),
    (
        "DeviceError",
        &["RuntimeError"],
        "Elements in the memory of a device that the host cannot access, or operands on two devices.\n\n\
         >>> strided._strided._unaddressable((2, 3), strided.float32).sum()\n\
         Traceback (most recent call last):\n\
         strided.DeviceError: sum: the memory is on test:0, where the host cannot access it; .cpu() copies it to the CPU",
    ),
    (
        "OutOfMemoryError",
        &["MemoryError", "RuntimeError"],
        "No memory left on a GPU, or more than `strided.gpu.set_per_process_memory_fraction` allows.\n\n\
         >>> issubclass(strided.OutOfMemoryError, MemoryError)\n\
         True",
    ),
    (
        "FormatError",
        &["ValueError"],
        "A file that breaks the rules of its format, or an object that a format cannot hold.\n\n\
         `file`, `offset` (in bytes, or None) and `reason` are the parts of the message.\n\n\
         >>> import io\n\
         >>> strided.load(io.BytesIO(b'no tensor'))\n\
         Traceback (most recent call last):\n\
         strided.FormatError: load: no known format: the file begins with the bytes 6e 6f 20 74 65 6e 73 6f",
    ),
];

/// One of the classes above, made when the module is imported.
fn own_class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static OBJECTS: Late<Vec<Py<PyAny>>> = Late::new();
    let make_all = || CLASSES.iter().map(|row| make_class(py, row)).collect::<PyResult<_>>();
    let at = CLASSES.iter().position(|row| row.0 == name).expect("a class of the table");
    Ok(OBJECTS.get_or_make(py, make_all)?[at].bind(py).clone())
}

fn make_class(py: Python<'_>, (name, bases, doc): &(&str, &[&str], &str)) -> PyResult<Py<PyAny>> {
    let builtins = py.import("builtins")?;
    let bases: Vec<_> = bases.iter().map(|base| builtins.getattr(*base)).collect::<PyResult<_>>()?;
    let namespace = pyo3::types::PyDict::new(py);
    namespace.set_item("__module__", "strided")?;
    namespace.set_item("__doc__", doc)?;
    let class =
        py.get_type::<PyType>().call1((PyString::new(py, name), PyTuple::new(py, bases)?, namespace))?;
    Ok(class.unbind())
}

/// Adds the exception classes to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for (name, ..) in CLASSES {
        module.add(*name, own_class(module.py(), name)?)?;
    }
    Ok(())
}

/// Runs the body of a slot or thunk. An error or a panic is raised as an exception, and `failed` is returned. The token proves
/// that the thread is attached to the interpreter; the body is generic over its lifetime, so that no object of it escapes.
#[inline(always)]
pub fn guard<R>(
    py: Python<'_>,
    op: &'static str,
    failed: R,
    body: impl FnOnce(Python<'_>) -> CallResult<R>,
) -> R {
    match catch(body, py) {
        Ok(value) => value,
        Err(fail) => {
            raise(py, fail, op);
            failed
        }
    }
}

/// Sets the exception of a failure. Cold and out of line, so that the hundreds of slots and thunks stay small.
#[cold]
#[inline(never)]
fn raise(py: Python<'_>, fail: Fail, op: &'static str) {
    attached(py, |py| fail.into_exception(py, op).restore(py));
}

/// [`guard`] for a body that returns an object.
#[inline(always)]
pub fn guard_value(
    py: Python<'_>,
    op: &'static str,
    body: impl for<'py> FnOnce(Python<'py>) -> CallResult<Value<'py>>,
) -> Object {
    guard(py, op, null_mut(), |py| body(py).map(Bound::into_ptr))
}

/// [`guard`] for a method of a PyO3 class: PyO3 raises the exception.
#[inline(always)]
pub fn guard_pyo3<R>(py: Python<'_>, op: &'static str, body: impl FnOnce() -> CallResult<R>) -> PyResult<R> {
    catch(|_| body(), py).map_err(|fail| fail.into_exception(py, op))
}

/// Turns a panic into an error: no panic may cross into Python.
#[inline(always)]
fn catch<R>(body: impl FnOnce(Python<'_>) -> CallResult<R>, py: Python<'_>) -> CallResult<R> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(py))) {
        Ok(result) => result,
        Err(panic) => Err(internal_error(panic)),
    }
}

#[cold]
#[inline(never)]
fn internal_error(panic: Box<dyn Any + Send>) -> Fail {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown");
    Fail::Python(PySystemError::new_err(format!("internal error in strided: {text}")))
}

/// Runs code that may drop references through PyO3. [`guard`] does not attach through PyO3, which is cheap, but lets PyO3
/// defer every drop until the next time a thread attaches through it. While the interpreter shuts down, PyO3 does not attach,
/// and those drops are left out.
#[cold]
pub fn attached<R>(py: Python<'_>, body: impl FnOnce(Python<'_>) -> R) -> R {
    let mut body = Some(body);
    let mut run = |py: Python<'_>| body.take().map(|body| body(py));
    Python::try_attach(&mut run).unwrap_or_else(|| run(py)).expect("run once, in either way")
}

/// The name of an object's type, for messages.
pub fn type_name(object: Arg<'_>) -> String {
    object.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string())
}
