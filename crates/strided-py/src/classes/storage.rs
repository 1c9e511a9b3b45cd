//! The Storage class: a flat run of numbers of one dtype.

use super::class_table::dtype_of_class;
use super::dtype::Device;
use super::elementwise::contains;
use crate::abi::Object;
use crate::abi::detach::with_threads;
use crate::abi::errors::{Fail, Result, named};
use crate::abi::heap::{Members, add_members};
use crate::abi::refs::{bound, owned, python};
use crate::abi::storage_object::{PyStorage, Run, bound_storage, read};
use crate::abi::tensor_object::{is_tensor, tensor_of};
use crate::convert::args::{FromArg, python_number, wrong_type};
use crate::convert::arrays::{self, Misfit};
use crate::convert::buffer;
use crate::convert::index::indices;
use crate::convert::mapping::{self, Wanted};
use crate::convert::sequence::{from_nested, number};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PySequence, PySlice, PyString, PyTuple, PyType};
use std::ffi::c_int;
use strided_core::dtype::default_float;
use strided_core::layout::Index;
use strided_core::ops::copy;
use strided_core::ops::elementwise::OpArg;
use strided_core::storage::Fill;
use strided_core::{DType, Error, Problem, Scalar, Tensor};

/// The signatures of what is no row: the constructors and Python's protocols.
pub const SIGNATURES: &[(&str, &[&str])] = &[
    (
        "__new__",
        &[
            "(size: SupportsIndex = 0, /, *, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None) -> Self",
            "(data: _Data, /, *, dtype: _DTypeLike | None = None, device: _DeviceLike | None = None) -> Self",
        ],
    ),
    (
        "from_file",
        &[
            "(filename: _Path, shared: bool = False, size: SupportsIndex = 0, *, dtype: _DTypeLike | None = None, \
           readonly: bool = False, create: bool = False, grow: bool = False, offset: SupportsIndex = 0) -> Storage",
        ],
    ),
    ("__getitem__", &["(index: SupportsIndex, /) -> Any", "(index: slice, /) -> Storage"]),
    ("__setitem__", &["(index: SupportsIndex | slice, value: _Data, /) -> None"]),
    ("__iter__", &["() -> Iterator[Any]"]),
];

/// Adds the class with these methods and properties.
pub fn register(module: &Bound<'_, PyModule>, members: Members) -> PyResult<()> {
    module.add_class::<PyStorage>()?;
    add_members(&module.py().get_type::<PyStorage>(), members)
}

type Made<'py> = PyResult<Bound<'py, PyAny>>;
type This<'a, 'py> = &'a Bound<'py, PyStorage>;

#[pymethods]
impl PyStorage {
    #[new]
    #[classmethod]
    #[pyo3(signature = (*args, dtype = None, device = None))]
    fn new(
        class: &Bound<'_, PyType>,
        args: &Bound<'_, PyTuple>,
        dtype: Option<Bound<'_, PyAny>>,
        device: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyStorage>> {
        let py = class.py();
        named(py, "Storage", || {
            let dtype = storage_dtype(class, dtype)?;
            if let Some(device) = device {
                Device::from_arg(py, device.as_ptr(), "device")?;
            }
            let args: Vec<Object> = args.iter_borrowed().map(|arg| arg.as_ptr()).collect(); // the tuple keeps them alive
            let made = bound_storage(py, constructed(py, dtype, &args)?)?;
            Ok(made.cast_into::<PyStorage>().map_err(PyErr::from)?.unbind())
        })
    }

    /// A storage on a mapped file: the memory is the file, read when it is looked at.
    ///
    /// `size` counts elements; 0 takes all there are. `offset` counts bytes. The dtype is that of the class,
    /// unless one is given. With `shared`, what is written goes to the file, and other processes that map it
    /// see it at once; `flush` waits until it is on the disk. Without, it stays here. `readonly` refuses writing.
    /// `create` makes a file that is missing, `grow` makes one longer that is too short; without them both are
    /// errors. A private map whose offset does not suit the dtype is a copy.
    ///
    /// Nobody must make the file shorter while it is mapped: the system ends a process that touches what is
    /// no longer there.
    ///
    /// >>> import pathlib, tempfile
    /// >>> folder = tempfile.TemporaryDirectory()
    /// >>> name = pathlib.Path(folder.name, 'numbers')
    /// >>> s = strided.ShortStorage.from_file(name, shared=True, size=3, create=True)
    /// >>> s.fill_(2).flush()
    /// >>> name.read_bytes()
    /// b'\x02\x00\x02\x00\x02\x00'
    /// >>> strided.ShortStorage.from_file(name).tolist()
    /// [2, 2, 2]
    /// >>> folder.cleanup()
    #[classmethod]
    #[pyo3(signature = (filename, shared = false, size = 0, *, dtype = None, readonly = false, create = false, grow = false, offset = 0))]
    fn from_file<'py>(
        class: &Bound<'py, PyType>,
        filename: &Bound<'py, PyAny>,
        shared: bool,
        size: isize,
        dtype: Option<Bound<'py, PyAny>>,
        readonly: bool,
        create: bool,
        grow: bool,
        offset: isize,
    ) -> Made<'py> {
        let py = class.py();
        named(py, "from_file", || {
            let dtype = storage_dtype(class, dtype)?;
            let wanted = Wanted { size, offset, shared, readonly, create, grow };
            Ok(bound_storage(py, mapping::from_file(py, filename.as_ptr(), dtype, wanted)?)?)
        })
    }

    fn __len__(&self) -> usize {
        self.run.length()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> Made<'py> {
        named(py, "index", || match place(py, key)? {
            Index::At(at) => {
                let whole = self.run.whole()?;
                let at = wrapped(at, whole.size())?;
                number(py, copy::item(&whole, &[at])?)
            }
            slice => {
                let whole = self.run.whole()?;
                let part = whole.with_layout(whole.layout().index(&[slice])?);
                copied(py, &part, self.run.dtype)
            }
        })
    }

    fn __setitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        named(py, "index", || match place(py, key)? {
            Index::At(at) => {
                let value = Scalar::from_arg(py, value.as_ptr(), "value")?;
                let whole = self.run.whole()?;
                let at = wrapped(at, whole.size())?;
                Ok(strided_core::kernels::item::set(&whole, at, value)?)
            }
            slice => {
                let source = Source::read(py, value.as_ptr())?;
                let whole = self.run.whole()?;
                source.write(py, &whole.with_layout(whole.layout().index(&[slice])?))
            }
        })
    }

    fn __delitem__(&self, _key: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err("index: elements of a storage cannot be deleted; use resize_"))
    }

    fn __iter__<'py>(this: This<'_, 'py>) -> Made<'py> {
        // SAFETY: a storage is a sequence; the result is a new reference or null with an exception.
        unsafe { Bound::from_owned_ptr_or_err(this.py(), ffi::PySeqIter_New(this.as_ptr())) }
    }

    fn __contains__(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        named(py, "in", || {
            let value = Scalar::from_arg(py, value.as_ptr(), "value")?;
            contains(py, &self.run.whole()?, OpArg::Scalar(value))
        })
    }

    fn __repr__<'py>(this: This<'_, 'py>) -> Made<'py> {
        by_python(this, "strided.display.text", "storage", (this,))
    }

    unsafe fn __getbuffer__(this: This<'_, '_>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        named(this.py(), "buffer", || {
            // SAFETY: the interpreter passes a view to fill; it owns the reference that is put into it.
            unsafe {
                (*view).obj = std::ptr::null_mut();
                buffer::fill(&this.get().run.whole()?, &mut *view, flags)?;
                (*view).obj = this.clone().into_ptr();
            }
            Ok(())
        })
    }

    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: a view that `__getbuffer__` filled, released once.
        unsafe { buffer::release(view) };
    }
}

/// The dtype of a storage that a class makes.
pub fn storage_dtype(class: &Bound<'_, PyType>, dtype: Option<Bound<'_, PyAny>>) -> Result<DType> {
    let py = class.py();
    let own = dtype_of_class(class.as_ptr().cast());
    if own.is_none() && !class.is(py.get_type::<PyStorage>()) {
        return Err(Fail::Type("a subclass cannot be made; hold a storage instead of being one".into()));
    }
    match dtype {
        Some(dtype) if !dtype.is_none() => DType::from_arg(py, dtype.as_ptr(), "dtype"),
        _ => Ok(own.unwrap_or_else(default_float)),
    }
}

/// Calls a function of a Python module of ours.
fn by_python<'py>(
    this: This<'_, 'py>,
    module: &'static str,
    function: &'static str,
    args: impl pyo3::call::PyCallArgs<'py>,
) -> Made<'py> {
    named(this.py(), function, || owned(this.py(), python(this.py(), module, function, args)))
}

/// What a storage is made from: nothing, a size, or something with values.
pub fn constructed(py: Python<'_>, dtype: DType, args: &[Object]) -> Result<Run> {
    let run = |tensor: Tensor| Run { bytes: tensor.storage().clone(), dtype };
    let object = match *args {
        [] => return Ok(run(Tensor::new(&[0], dtype, Fill::Zero)?)),
        [object] => object,
        _ => return Err(Fail::Type(format!("takes at most 1 argument, got {}", args.len()))),
    };
    let has_values = is_tensor(object) || read(py, object).is_some();
    if !has_values && let Some(size) = isize::read(py, object)? {
        return Ok(run(Tensor::new(&[size], dtype, Fill::Zero)?));
    }
    let values = flat(py, object, Some(dtype))?;
    let same = values.dtype() == dtype && values.layout().is_row_major();
    if !has_values && same && values.storage().length() == values.size() * dtype.size() {
        return Ok(run(values)); // on the buffer's memory, or made from a sequence
    }
    Ok(run(with_threads(py, values.size(), || copy::to_dtype(&values, dtype))?))
}

/// The values of a storage, a tensor, an array or a sequence of numbers as one dim, in row-major order. The
/// dtype is that of values which have none yet.
pub fn flat(py: Python<'_>, data: Object, dtype: Option<DType>) -> Result<Tensor> {
    flattened(py, &shaped(py, data, dtype)?)
}

fn flattened(py: Python<'_>, values: &Tensor) -> Result<Tensor> {
    let size = values.size() as isize;
    Ok(with_threads(py, values.size(), || copy::reshape(values, &[size]))?)
}

/// The same in their own shape.
fn shaped(py: Python<'_>, data: Object, dtype: Option<DType>) -> Result<Tensor> {
    if let Some(run) = read(py, data) {
        return run.whole();
    }
    if is_tensor(data) {
        // SAFETY: it is a tensor, copied at once.
        return Ok(unsafe { tensor_of(data) }.clone());
    }
    if let Some(array) = arrays::read(py, data, Misfit::Copy)? {
        return Ok(array);
    }
    let object = bound(py, data);
    if object.cast::<PySequence>().is_err() || object.is_instance_of::<PyString>() {
        return Err(wrong_type(py, data, "source", "a sequence of numbers, an array, a Tensor or a Storage"));
    }
    let values = from_nested(py, data, dtype)?;
    if values.layout().rank() != 1 {
        let shape = values.layout().shape_text();
        return Err(Fail::Value(format!("the sequence is nested (shape {shape}); a storage is flat")));
    }
    Ok(values)
}

/// What is written to elements: one number for all, or one for each.
pub enum Source {
    Number(Scalar),
    Values(Tensor),
}

impl Source {
    fn read(py: Python<'_>, value: Object) -> Result<Source> {
        if let Some(number) = python_number(py, value)? {
            return Ok(Source::Number(number));
        }
        let values = shaped(py, value, None)?;
        match values.layout().rank() {
            0 => Ok(Source::Number(copy::single_item(&values)?)),
            _ => Ok(Source::Values(flattened(py, &values)?)),
        }
    }

    pub fn write(&self, py: Python<'_>, part: &Tensor) -> Result<()> {
        let values = match self {
            Source::Number(number) => {
                return Ok(with_threads(py, part.size(), || copy::fill(part, *number))?);
            }
            Source::Values(values) => values,
        };
        let (got, wanted) = (values.size(), part.size());
        if got != wanted {
            return Err(Error::new("", Problem::Count { what: "elements", got, wanted }).into());
        }
        Ok(with_threads(py, wanted, || copy::copy(part, values))?)
    }
}

/// What stands between the brackets: an int or a slice.
fn place(py: Python<'_>, key: &Bound<'_, PyAny>) -> Result<Index> {
    match indices(py, key.as_ptr())?.as_slice() {
        [index @ Index::At(_)] => Ok(*index),
        [slice @ Index::Slice { .. }] if key.is_instance_of::<PySlice>() => Ok(*slice),
        _ => Err(wrong_type(py, key.as_ptr(), "an index of a storage", "an int or a slice")),
    }
}

fn wrapped(at: isize, length: usize) -> Result<isize> {
    let wrapped = if at < 0 { at + length as isize } else { at };
    if (0..length as isize).contains(&wrapped) {
        Ok(wrapped)
    } else {
        Err(Fail::Index(format!("index {at} is outside a storage of {length} elements")))
    }
}

/// A new storage with the values of a tensor.
fn copied<'py>(py: Python<'py>, values: &Tensor, dtype: DType) -> Result<Bound<'py, PyAny>> {
    let made = with_threads(py, values.size(), || copy::to_dtype(values, dtype))?;
    Ok(bound_storage(py, Run { bytes: made.storage().clone(), dtype })?)
}
