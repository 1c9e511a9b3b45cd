//! The Storage class: its constructors and Python's protocols. Its methods are rows of `api/storage.rs`.

use super::class_table::type_of_class;
use super::devices::Place;
use super::dtype::place_from_arg;
use super::elementwise::contains;
use super::tensor::new_on;
use crate::abi::detach::{detach, detach_if_large, wait_for, work_on};
use crate::abi::errors::{CallResult, Fail, guard_pyo3};
use crate::abi::refs::call_python;
use crate::abi::storage_object::{PyStorage, TypedStorage, read_storage, storage_object};
use crate::abi::tensor_object::{cloned_tensor, is_tensor};
use crate::abi::{Arg, Value};
use crate::convert::args::{FromArg, wrong_type};
use crate::convert::arrays::{self, Misfit};
use crate::convert::buffer;
use crate::convert::index::basic_key;
use crate::convert::mapping::{self, FileRequest};
use crate::convert::numbers::{number, python_number};
use crate::convert::sequence::from_nested;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyString, PyTuple, PyType};
use std::ffi::c_int;
use strided_core::backend::items;
use strided_core::dtype::default_float;
use strided_core::layout::Index;
use strided_core::ops::Operand;
use strided_core::ops::copy;
use strided_core::storage::Fill;
use strided_core::{DType, Error, Problem, Scalar, Tensor};

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
        let make = || {
            let (dtype, mut place) = storage_type(class, dtype)?;
            if let Some(device) = device.filter(|device| !device.is_none()) {
                place = place_from_arg(place, device.as_borrowed())?;
            }
            let args: Vec<Arg<'_>> = args.iter_borrowed().collect();
            let object = storage_object(py, constructed(py, dtype, place, &args)?)?;
            Ok(object.cast_into::<PyStorage>().map_err(PyErr::from)?.unbind())
        };
        guard_pyo3(py, "", || make().map_err(|fail: Fail| fail.of_class(class.as_any().as_borrowed())))
    }

    /// A storage on a mapped file: the memory is the file, whose pages are read when they are first used.
    ///
    /// `size` is in elements, and 0 means the whole file; `offset` is in bytes. The dtype is that of the class,
    /// unless one is given. With `shared`, writes go to the file, and other processes that map it see them at
    /// once; `flush` waits until they are on the disk. Without it, writes stay in this process. `readonly` refuses
    /// writes. `create` makes a missing file, and `grow` extends one that is too short; without them both are
    /// errors. A private map whose offset is not aligned for the dtype is a copy.
    ///
    /// The file must not be truncated while it is mapped: the system kills a process that uses a page which no
    /// longer exists.
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
    ) -> PyResult<Value<'py>> {
        let py = class.py();
        guard_pyo3(py, "from_file", || {
            let (dtype, _) = storage_type(class, dtype)?;
            let request = FileRequest { size, offset, shared, readonly, create, grow };
            Ok(storage_object(py, mapping::from_file(filename.as_borrowed(), dtype, request)?)?)
        })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        guard_pyo3(py, "len", || self.typed.length())
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Value<'py>> {
        guard_pyo3(py, "index", || match read_key(key)? {
            Index::At(at) => {
                let whole = self.typed.to_tensor()?;
                let at = wrap_index(at, whole.size())?;
                number(py, wait_for(py, &whole, |whole| copy::item(whole, &[at]))?)
            }
            slice => {
                let whole = self.typed.to_tensor()?;
                let part = whole.with_layout(whole.layout().index(&[slice])?);
                new_storage(py, &part, self.typed.dtype)
            }
        })
    }

    fn __setitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        guard_pyo3(py, "index", || match read_key(key)? {
            Index::At(at) => {
                let value = Scalar::from_arg(value.as_borrowed(), "value")?;
                let whole = self.typed.to_tensor()?;
                let at = wrap_index(at, whole.size())?;
                Ok(wait_for(py, &whole, |whole| items::set(whole, at, value))?)
            }
            slice => {
                let source = AssignedValues::read(value.as_borrowed())?;
                let whole = self.typed.to_tensor()?;
                source.write(py, &whole.with_layout(whole.layout().index(&[slice])?))
            }
        })
    }

    fn __delitem__(&self, _key: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err("index: elements of a storage cannot be deleted; use resize_"))
    }

    fn __iter__<'py>(this: &Bound<'py, PyStorage>) -> PyResult<Value<'py>> {
        // SAFETY: a storage is a sequence; PySeqIter_New returns a new reference, or null with an exception set.
        unsafe { Bound::from_owned_ptr_or_err(this.py(), ffi::PySeqIter_New(this.as_ptr())) }
    }

    fn __contains__(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        guard_pyo3(py, "in", || {
            let value = Scalar::from_arg(value.as_borrowed(), "value")?;
            contains(py, &self.typed.to_tensor()?, Operand::Scalar(value))
        })
    }

    fn __repr__<'py>(this: &Bound<'py, PyStorage>) -> PyResult<Value<'py>> {
        guard_pyo3(this.py(), "repr", || call_python(this.py(), "strided.display.text", "storage", (this,)))
    }

    /// # Safety
    /// Only the interpreter calls this slot, with a view to fill.
    unsafe fn __getbuffer__(
        this: &Bound<'_, PyStorage>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        guard_pyo3(this.py(), "buffer", || {
            // SAFETY: the contract above; the view takes over the reference in `obj`.
            unsafe {
                (*view).obj = std::ptr::null_mut();
                buffer::fill(&this.get().typed.to_tensor()?, &mut *view, flags)?;
                (*view).obj = this.clone().into_ptr();
            }
            Ok(())
        })
    }

    /// # Safety
    /// Only the interpreter calls this slot, once for a view that `__getbuffer__` filled.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: the contract above is that of `release`.
        unsafe { buffer::release(view) };
    }
}

/// The dtype of a new storage (the one that was given, that of the class, or the default), and where the class makes it.
fn storage_type(class: &Bound<'_, PyType>, dtype: Option<Bound<'_, PyAny>>) -> CallResult<(DType, Place)> {
    let of_class = type_of_class(class.as_type_ptr());
    if of_class.is_none() && !class.is(class.py().get_type::<PyStorage>()) {
        return Err(Fail::Type("a subclass cannot be made; hold a storage instead of being one".into()));
    }
    let (own, place) = of_class.unwrap_or_else(|| (default_float(), Place::Any));
    match dtype {
        Some(dtype) if !dtype.is_none() => Ok((DType::from_arg(dtype.as_borrowed(), "dtype")?, place)),
        _ => Ok((own, place)),
    }
}

/// A new storage from no argument, a size, or an object with values.
pub fn constructed(py: Python<'_>, dtype: DType, place: Place, args: &[Arg<'_>]) -> CallResult<TypedStorage> {
    let typed = |tensor: Tensor| TypedStorage { bytes: tensor.storage().clone(), dtype };
    let object = match *args {
        [] => return Ok(typed(new_on(py, place.device(None), &[0], dtype, Fill::Zero)?)),
        [object] => object,
        _ => return Err(Fail::Type(format!("takes at most 1 argument, got {}", args.len()))),
    };
    let is_ours = is_tensor(object) || read_storage(object).is_some();
    if !is_ours && let Some(size) = isize::read(object)? {
        return Ok(typed(new_on(py, place.device(None), &[size], dtype, Fill::Zero)?));
    }
    let values = flat_values(py, object, Some(dtype))?;
    let device = place.device(is_ours.then_some(values.device()));
    if device != values.device() {
        return Ok(typed(detach(py, || copy::to_device(&values, device, dtype))?));
    }
    let fits = values.dtype() == dtype && values.layout().is_row_major();
    if !is_ours && fits && values.storage().length() == values.size() * dtype.size() {
        return Ok(typed(values)); // on the buffer's memory, or new
    }
    Ok(typed(detach_if_large(py, work_on(&values), || copy::to_dtype(&values, dtype))?))
}

/// The values of a storage, a tensor, an array or a sequence of numbers as one dim, in row-major order. The dtype is that of
/// the numbers in a sequence; other values have their own.
pub fn flat_values(py: Python<'_>, data: Arg<'_>, dtype: Option<DType>) -> CallResult<Tensor> {
    flatten(py, &shaped_values(data, dtype)?)
}

fn flatten(py: Python<'_>, values: &Tensor) -> CallResult<Tensor> {
    let size = values.size() as isize;
    Ok(detach_if_large(py, work_on(values), || copy::reshape(values, &[size]))?)
}

/// The values of an object, as for [`flat_values`], in their own shape.
fn shaped_values(data: Arg<'_>, dtype: Option<DType>) -> CallResult<Tensor> {
    if let Some(storage) = read_storage(data) {
        return storage.to_tensor();
    }
    if let Some(tensor) = cloned_tensor(data) {
        return Ok(tensor);
    }
    if let Some(array) = arrays::read(data, Misfit::Copy)? {
        return Ok(array);
    }
    // SAFETY: asks whether the type of a live object has items.
    let is_sequence = unsafe { ffi::PySequence_Check(data.as_ptr()) } != 0;
    if !is_sequence || data.is_instance_of::<PyString>() {
        return Err(wrong_type(data, "source", "a sequence of numbers, an array, a Tensor or a Storage"));
    }
    let values = from_nested(data, dtype)?;
    if values.layout().rank() != 1 {
        let shape = values.layout().shape_text();
        return Err(Fail::Value(format!("the sequence is nested (shape {shape}); a storage is flat")));
    }
    Ok(values)
}

/// The right side of an assignment: one number for all elements, or one for each.
pub enum AssignedValues {
    Number(Scalar),
    Each(Tensor),
}

impl AssignedValues {
    fn read(value: Arg<'_>) -> CallResult<AssignedValues> {
        if let Some(number) = python_number(value)? {
            return Ok(AssignedValues::Number(number));
        }
        let values = shaped_values(value, None)?;
        match values.layout().rank() {
            0 => Ok(AssignedValues::Number(wait_for(value.py(), &values, copy::single_item)?)),
            _ => Ok(AssignedValues::Each(flatten(value.py(), &values)?)),
        }
    }

    pub fn write(&self, py: Python<'_>, target: &Tensor) -> CallResult<()> {
        let values = match self {
            AssignedValues::Number(number) => {
                return Ok(detach_if_large(py, work_on(target), || copy::fill(target, *number))?);
            }
            AssignedValues::Each(values) => values,
        };
        let (got, wanted) = (values.size(), target.size());
        if got != wanted {
            return Err(Error::new(Problem::Count { what: "elements", got, wanted }).into());
        }
        Ok(detach_if_large(py, work_on(target).max(work_on(values)), || copy::copy(target, values))?)
    }
}

/// The key of `storage[key]`: an int or a slice.
fn read_key(key: &Bound<'_, PyAny>) -> CallResult<Index> {
    match basic_key(key.as_borrowed())?.as_slice() {
        [index @ Index::At(_)] => Ok(*index),
        [slice @ Index::Slice { .. }] if key.is_instance_of::<PySlice>() => Ok(*slice),
        _ => Err(wrong_type(key.as_borrowed(), "an index of a storage", "an int or a slice")),
    }
}

/// An index from the start of a storage, for one that may count from its end.
fn wrap_index(at: isize, length: usize) -> CallResult<isize> {
    let wrapped = if at < 0 { at + length as isize } else { at };
    if (0..length as isize).contains(&wrapped) {
        Ok(wrapped)
    } else {
        Err(Fail::Index(format!("index {at} is outside a storage of {length} elements")))
    }
}

/// A new storage with the values of a tensor.
pub fn new_storage<'py>(py: Python<'py>, values: &Tensor, dtype: DType) -> CallResult<Value<'py>> {
    let copy = detach_if_large(py, work_on(values), || copy::to_dtype(values, dtype))?;
    Ok(storage_object(py, TypedStorage { bytes: copy.storage().clone(), dtype })?)
}
